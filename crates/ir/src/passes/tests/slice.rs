//! Slicing, and the whole pipeline for symbolic engines.

use super::explore::observe;
use super::generate::Shape;
use super::{LIMIT, for_seeds};
use crate::check::check;
use crate::passes::{Goal, InlineLimits, Lowering, concrete, slice, split, symbolic};
use crate::program::ErrorKind;

const SHAPE: Shape = Shape { workers: 1, statements: 4, large: false, calls: true, wild: false };
const ASSERTIONS: Lowering = Lowering {
    assertions: true,
    reach_error: true,
    bounds: false,
    frees: false,
    overflow: false,
    deadlock: false,
    races: false,
};

#[test]
fn slicing_keeps_errors_and_races() {
    let (mut compared, mut smaller) = (0, 0);
    for_seeds(6000..6300, SHAPE, &mut |seed, program| {
        let before = split(program);
        for goal in [Goal { races: true, faults: true }, Goal { races: false, faults: true }] {
            let after = slice(&before, goal);
            assert_eq!(check(&after), Ok(()), "seed {seed}");
            let (Some(seen), Some(sliced)) = (observe(&before, LIMIT), observe(&after, LIMIT)) else {
                return;
            };
            assert_eq!(seen.errors, sliced.errors, "seed {seed}");
            assert_eq!(seen.deadlock, sliced.deadlock, "seed {seed}");
            assert!(!goal.races || seen.races == sliced.races, "seed {seed}");
            compared += 1;
            smaller += u32::from(after != before);
        }
    });
    assert!(compared > 200 && smaller > 100, "{smaller} of {compared} programs got smaller");
}

#[test]
fn slicing_without_faults_loses_no_error() {
    let mut compared = 0;
    for_seeds(6500..6700, Shape { large: true, statements: 3, ..SHAPE }, &mut |seed, program| {
        let before = split(program);
        let after = slice(&before, Goal { races: false, faults: false });
        let (Some(seen), Some(sliced)) = (observe(&before, LIMIT), observe(&after, LIMIT)) else { return };
        assert!(seen.errors.is_subset(&sliced.errors), "seed {seed}");
        compared += 1;
    });
    assert!(compared > 100, "{compared} programs were small enough");
}

#[test]
fn the_symbolic_pipeline_keeps_the_verdict() {
    let (mut compared, mut wrong) = (0, 0);
    let goal = Goal { races: true, faults: true };
    for_seeds(7000..7300, SHAPE, &mut |seed, program| {
        let before = concrete(program, ASSERTIONS);
        let after = symbolic(program, ASSERTIONS, goal, InlineLimits::default()).expect("small");
        assert_eq!(check(&after), Ok(()), "seed {seed}");
        let (Some(seen), Some(last)) = (observe(&before, LIMIT), observe(&after, LIMIT)) else { return };
        assert_eq!(seen.errors, last.errors, "seed {seed}");
        assert_eq!(seen.races, last.races, "seed {seed}");
        assert_eq!(seen.deadlock, last.deadlock, "seed {seed}");
        compared += 1;
        wrong += u32::from(seen.errors.contains(&ErrorKind::Assertion));
    });
    assert!(compared > 100 && wrong > 20, "{wrong} of {compared} programs are wrong");
}
