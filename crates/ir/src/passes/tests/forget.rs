//! Forgetting variables loses no race on those that are kept.

use super::LIMIT;
use super::explore::observe_choosing;
use super::generate::{Shape, generate};
use crate::check::check;
use crate::ids::TemplateId;
use crate::passes::{Forgetting, Goal, InlineLimits, split, symbolic_of_lowered};
use crate::program::{Count, Program, Range};
use std::collections::BTreeSet;

/// Threads are there from the start, as interrupt handlers are: others are not made smaller.
const SHAPE: Shape = Shape { workers: 0, statements: 4, large: false, calls: true, wild: false };

/// The races, by object and offset; `None` when there are too many states. What is open may be any small
/// number, and for pointers any global variable.
fn races(program: &Program) -> Option<BTreeSet<(String, u64)>> {
    Some(observe_choosing(program, 3 * LIMIT, &[0, 1, 2, 3], true)?.races)
}

/// The offsets of those on an object.
fn on(races: &BTreeSet<(String, u64)>, object: &str) -> BTreeSet<u64> {
    races.iter().filter(|(name, _)| name == object).map(|(_, offset)| *offset).collect()
}

#[test]
fn forgetting_loses_no_race() {
    let (mut kept_races, mut compared, mut through_pointers) = (0, 0, 0);
    for seed in 0..200 {
        let mut program = generate(seed, SHAPE);
        program.start = vec![(TemplateId(0), Count::Exactly(1)), (TemplateId(1), Count::Exactly(1))];
        let before = split(&program);
        let forgetting = Forgetting::of(&before);
        let Some(all) = races(&before) else { continue };
        for name in ["g0", "g1", "array"] {
            let (object, size) = before
                .objects
                .enumerate()
                .find(|(_, object)| object.name == name)
                .map(|(id, object)| (id, object.size))
                .expect("it is there");
            let wanted = on(&all, name);
            for kept in forgetting.candidates(object) {
                let range = Range { object, offset: 0, size };
                let Some(after) = forgetting.keep(&kept, range) else { continue };
                assert_eq!(check(&after), Ok(()), "seed {seed}");
                // What engines see of it: addresses are found again there.
                let goal = Goal { races: true, faults: true };
                let seen = symbolic_of_lowered(&after, goal, InlineLimits::default()).expect("small");
                for result in [&after, &seen] {
                    let Some(found) = races(result) else { continue };
                    let found = on(&found, name);
                    assert!(wanted.is_subset(&found), "seed {seed}, {name}, {kept:?}: {wanted:?} {found:?}");
                    compared += 1;
                    kept_races += u32::from(!wanted.is_empty());
                }
                through_pointers += u32::from(kept.iter().any(|one| before.objects[*one].name == "pointer"));
            }
        }
    }
    assert!(
        compared > 300 && kept_races > 50 && through_pointers > 5,
        "{compared} compared, {kept_races} with races, {through_pointers} with a pointer"
    );
}
