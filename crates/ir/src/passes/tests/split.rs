//! Splitting and lowering.

use super::explore::observe;
use super::generate::Shape;
use super::{LIMIT, for_seeds};
use crate::op::Op;
use crate::passes::{Lowering, Sharing, lower, split};
use crate::program::{ErrorKind, Program};
use crate::semantics::Fault;

const ONE_THREAD: Shape = Shape { workers: 0, statements: 7, large: false, calls: true, wild: false };
const TWO_THREADS: Shape = Shape { workers: 1, statements: 3, large: false, calls: true, wild: false };

/// Edges outside of atomic regions make one access, or only atomic ones.
fn assert_is_split(program: &Program) {
    let sharing = Sharing::of(program);
    for template in &program.templates {
        for edge in &template.edges {
            if template.locations[edge.source].atomic {
                continue;
            }
            let accesses: Vec<_> = edge.ops.iter().flat_map(|op| sharing.accesses(op)).collect();
            let copies = matches!(edge.ops.as_slice(), [Op::Copy(..)]);
            assert!(
                accesses.len() <= 1 + usize::from(copies) || accesses.iter().all(|access| access.atomic),
                "{:?} of {}",
                edge.ops,
                template.name
            );
        }
    }
}

#[test]
fn splitting_keeps_what_one_thread_does() {
    let mut compared = 0;
    for_seeds(0..400, ONE_THREAD, &mut |seed, program| {
        let after = split(program);
        assert_is_split(&after);
        assert_eq!(split(&after), after, "seed {seed}: splitting again changes nothing");
        let (Some(before), Some(after)) = (observe(program, LIMIT), observe(&after, LIMIT)) else { return };
        assert_eq!(before, after, "seed {seed}");
        compared += 1;
    });
    assert!(compared > 350, "{compared} programs were small enough");
}

#[test]
fn splitting_only_adds_behaviours() {
    let mut compared = 0;
    for_seeds(0..300, TWO_THREADS, &mut |seed, program| {
        let after = split(program);
        assert_is_split(&after);
        let (Some(before), Some(after)) = (observe(program, LIMIT), observe(&after, LIMIT)) else { return };
        assert!(before.errors.is_subset(&after.errors), "seed {seed}");
        assert!(before.finals.is_subset(&after.finals), "seed {seed}");
        // In an unsplit program a thread that waits for a region to end sees what the region is about to
        // undo.
        let has_region =
            program.templates.iter().any(|code| code.locations.iter().any(|location| location.atomic));
        assert!(has_region || before.races.is_subset(&after.races), "seed {seed}");
        compared += 1;
    });
    assert!(compared > 150, "{compared} programs were small enough");
}

#[test]
fn lowering_makes_faults_errors() {
    let mut found = [0, 0];
    for (shape, lowering, fault, kind) in [
        (
            Shape { large: true, statements: 3, ..TWO_THREADS },
            Lowering { overflow: true, ..Lowering::default() },
            Fault::Overflow,
            ErrorKind::Overflow,
        ),
        (
            Shape { wild: true, statements: 3, ..TWO_THREADS },
            Lowering { bounds: true, ..Lowering::default() },
            Fault::InvalidAccess,
            ErrorKind::InvalidAccess,
        ),
    ] {
        for_seeds(0..250, shape, &mut |seed, program| {
            let base = lower(program, Lowering::default());
            let lowered = lower(program, lowering);
            assert_is_split(&lowered);
            assert_eq!(split(&lowered), lowered, "seed {seed}: splitting a lowered program changes nothing");
            let (Some(before), Some(after)) = (observe(&base, LIMIT), observe(&lowered, LIMIT)) else {
                return;
            };
            assert!(before.errors.is_empty(), "nothing is an error that was not asked for");
            let (expected, found_error) = (before.faults.contains(&fault), after.errors.contains(&kind));
            // Of several things that go wrong in one operation, either may be seen.
            let other_faults = before.faults.iter().chain(&after.faults).any(|other| *other != fault);
            assert!(found_error == expected || other_faults, "seed {seed} {kind:?}");
            assert_eq!(after.errors.len(), usize::from(found_error), "seed {seed}");
            assert_eq!(before.finals, after.finals, "seed {seed}");
            assert!(before.races.is_subset(&after.races), "seed {seed}");
            assert!(before.races == after.races || !before.faults.is_empty(), "seed {seed}");
            found[usize::from(expected)] += 1;
        });
    }
    assert!(found[0] > 50 && found[1] > 50, "{found:?}");
}
