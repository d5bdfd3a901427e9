//! Locks as words.

use super::explore::observe;
use super::for_seeds;
use super::generate::Shape;
use crate::check::check;
use crate::op::Op;
use crate::passes::{InlineLimits, Lowering, inline, lock_words, lower, resolve_calls};
use crate::program::Program;
use crate::text::parse;

const SHAPE: Shape = Shape { workers: 2, statements: 2, large: false, calls: false, wild: false };

fn has_locks(program: &Program) -> bool {
    let mut ops = program.templates.iter().flat_map(|code| code.edges.iter().flat_map(|edge| &edge.ops));
    ops.any(|op| matches!(op, Op::Lock(..) | Op::Unlock(..)))
}

/// Errors, races and last values are the same. A thread that waits for a word is not one that waits for a
/// lock: deadlocks are not compared.
fn same(name: &str, before: &Program) -> bool {
    let after = lock_words(before);
    assert_eq!(check(&after), Ok(()), "{name}");
    assert!(!has_locks(&after), "{name}");
    let (Some(before), Some(after)) = (observe(before, 6_000), observe(&after, 12_000)) else { return false };
    assert_eq!(before.errors, after.errors, "{name}");
    assert_eq!(before.races, after.races, "{name}");
    assert_eq!(before.finals, after.finals, "{name}");
    true
}

#[test]
fn random_programs_keep_their_meaning() {
    let (mut compared, mut with_locks) = (0, 0);
    for_seeds(9000..9600, SHAPE, &mut |seed, program| {
        let lowered = lower(program, Lowering { reach_error: true, assertions: true, ..Lowering::default() });
        let inlined = inline(&resolve_calls(&lowered), InlineLimits::default()).expect("small").program;
        with_locks += u32::from(has_locks(&inlined));
        compared += u32::from(same(&format!("seed {seed}"), &inlined));
    });
    assert!(compared > 100, "{compared} programs were small enough");
    assert!(with_locks > 100, "{with_locks} programs had locks");
}

fn two_threads(initial: &str, code: &str) -> Program {
    let text = format!(
        "program lp64\nstart main 2\nstatic m: bytes 40 {initial} static x: i32\ntemplate main() {{\n{code}\n}}"
    );
    let program = parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(check(&program), Ok(()));
    program
}

#[test]
fn a_recursive_mutex_is_given_back_as_often_as_it_was_taken() {
    let code = "locations 7 end l6
        l0 -> l1: lock mutex &m
        l1 -> l2: lock mutex &m
        l2 -> l3: unlock mutex &m
        l3 -> l4: i32[&x] := i32[&x] + 1
        l4 -> l5: unlock mutex &m
        l5 -> l6:";
    for initial in ["", "= { 16 u32: 1u32 }"] {
        let program = two_threads(initial, code);
        assert!(same(initial, &program));
    }
    let edges = |initial| {
        lock_words(&two_threads(initial, code)).templates.iter().map(|code| code.edges.len()).sum::<usize>()
    };
    assert_eq!((edges(""), edges("= { 16 u32: 1u32 }")), (6, 10));
}

#[test]
fn readers_share_and_writers_do_not() {
    for (take, give) in [("read", "read"), ("write", "write"), ("read", "write"), ("spin", "spin")] {
        let code = format!(
            "locations 5 end l4
            l0 -> l1: lock {take} &m
            l1 -> l2: i32[&x] := i32[&x] + 1
            l2 -> l3: unlock {give} &m
            l3 -> l4:"
        );
        assert!(same(take, &two_threads("", &code)));
    }
}
