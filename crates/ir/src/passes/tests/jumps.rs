//! Jump threading, separate starts, and the whole way for lowered programs.

use super::generate::Shape;
use super::{assert_same, for_seeds};
use crate::passes::{
    Goal, InlineLimits, inline, remove_dead_code, resolve_calls, separate_starts, split, symbolic_of_lowered,
    thread_jumps,
};

const SHAPE: Shape = Shape { workers: 1, statements: 4, large: false, calls: true, wild: false };
const TWO: Shape = Shape { workers: 2, statements: 2, large: false, calls: true, wild: false };

#[test]
fn threading_jumps_keeps_the_verdict() {
    let (mut compared, mut changed) = (0, 0);
    for_seeds(6000..6500, SHAPE, &mut |seed, program| {
        let inlined =
            inline(&resolve_calls(&split(program)), InlineLimits::default()).expect("small").program;
        let before = remove_dead_code(&inlined);
        let after = thread_jumps(&before);
        changed += u32::from(before != after);
        compared += u32::from(assert_same(seed, &before, &after));
    });
    assert!(compared > 150, "{compared} programs were small enough");
    assert!(changed > 50, "{changed} programs had such jumps");
}

#[test]
fn separating_starts_keeps_the_verdict() {
    let (mut compared, mut changed) = (0, 0);
    for_seeds(6500..6900, TWO, &mut |seed, program| {
        let before = inline(&resolve_calls(&split(program)), InlineLimits::default()).expect("small").program;
        let after = separate_starts(&before, 10_000);
        changed += u32::from(before != after);
        compared += u32::from(assert_same(seed, &before, &after));
    });
    assert!(compared > 50, "{compared} programs were small enough");
    assert!(changed > 100, "{changed} programs start several threads");
}

#[test]
fn the_whole_way_keeps_races() {
    let mut compared = 0;
    for_seeds(7000..7300, SHAPE, &mut |seed, program| {
        let before = split(program);
        let goal = Goal { races: true, faults: true };
        let after = symbolic_of_lowered(&before, goal, InlineLimits::default()).expect("small");
        let seen = |program: &crate::Program| super::explore::observe(program, 6_000);
        if let (Some(before), Some(after)) = (seen(&before), seen(&after)) {
            assert_eq!(before.errors, after.errors, "seed {seed}");
            assert_eq!(before.races, after.races, "seed {seed}");
            compared += 1;
        }
    });
    assert!(compared > 100, "{compared} programs were small enough");
}
