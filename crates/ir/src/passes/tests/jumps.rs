//! Jump threading, separate starts, and the whole pipeline for lowered programs.

use super::generate::Shape;
use super::{assert_same, for_seeds};
use crate::passes::{
    Goal, InlineLimits, Lowering, inline, lower, remove_dead_code, resolve_calls, separate_starts,
    symbolic_of_lowered, thread_jumps,
};

const SHAPE: Shape = Shape { workers: 1, statements: 4, large: false, calls: true, wild: false };
const TWO: Shape = Shape { workers: 2, statements: 2, large: false, calls: true, wild: false };

/// Every other program ends where it would go wrong.
fn lowered(seed: u64, program: &crate::Program) -> crate::Program {
    lower(program, Lowering { assertions: seed.is_multiple_of(2), reach_error: true, ..Lowering::default() })
}

#[test]
fn threading_jumps_keeps_the_verdict() {
    let (mut compared, mut changed) = (0, 0);
    for_seeds(6000..6800, SHAPE, &mut |seed, program| {
        let inlined =
            inline(&resolve_calls(&lowered(seed, program)), InlineLimits::default()).expect("small").program;
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
    for_seeds(6800..7200, TWO, &mut |seed, program| {
        let before =
            inline(&resolve_calls(&lowered(seed, program)), InlineLimits::default()).expect("small").program;
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
    for_seeds(7200..7800, SHAPE, &mut |seed, program| {
        let before = lowered(seed, program);
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

#[test]
fn a_start_is_not_led_past_the_end_of_the_program() {
    let text = "program lp64
start main 1

static g0: i32

template main() {
  local x: i32
  local a: u64
  local b: u64
  locations 5
  halt l3
  end l4
  l0 -> l1: a := spawn worker()
  l1 -> l2: b := spawn worker()
  l2 -> l3: assume x == 0
  l2 -> l4: assume !(x == 0)
}

template worker() {
  locations 2
  end l1
  l0 -> l1: i32[&g0] := 1
}
";
    let program = crate::text::parse(text).expect("this is a program");
    assert!(assert_same(0, &program, &thread_jumps(&program)));
    let after = symbolic_of_lowered(&program, Goal { races: true, faults: false }, InlineLimits::default())
        .expect("small");
    let seen = super::explore::observe(&after, 1_000).expect("small");
    assert!(!seen.races.is_empty(), "the two workers race");
}
