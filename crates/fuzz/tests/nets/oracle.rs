//! The oracle sees the same whether or not steps that nobody else can notice come first.

use fuzz::{Case, Kind};
use portfolio::pipeline;
use testkit::oracle::{Bounds, Observed, explore};

/// How many programs are explored twice, and how many states of each.
const PROGRAMS: u64 = 150;
const STATES: usize = 6_000;

#[test]
fn private_steps_may_come_first() {
    let (mut decided, mut violated, mut larger) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let case = Case::new(Kind::Wide, seed);
        let read = case.read().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", case.text));
        let program = pipeline::prepare(&read, case.check);
        let with = |private_first| {
            let bounds = Bounds { private_first, ..Bounds::states(STATES) };
            explore(&program, &case.check.property(), bounds)
        };
        match (with(false), with(true)) {
            (Observed::Bounded, fast) => larger += u64::from(fast != Observed::Bounded),
            (naive, fast) => {
                assert_eq!(naive, fast, "seed {seed}, {}:\n{}", case.check.name(), case.text);
                decided += 1;
                violated += u64::from(naive == Observed::Violation);
            }
        }
    }
    assert!(decided > PROGRAMS / 2 && violated > PROGRAMS / 10, "{decided} decided, {violated} violated");
    assert!(larger > 0, "more programs are small enough");
}
