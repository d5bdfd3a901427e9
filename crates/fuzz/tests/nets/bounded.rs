//! A bounded run of what `cargo xtask fuzz` does without an end: random programs, every engine in turn, and
//! the portfolio.

use fuzz::{Answer, Asked, Case, Kind, examine};
use testkit::oracle::Observed;

/// How many programs of each kind are tried: a quarter of a minute's work.
const PROGRAMS: u64 = 100;
/// Wild programs about which someone was wrong once.
const ONCE_WRONG: [u64; 0] = [];

/// What was seen of programs of a kind, and how many answers there were.
#[derive(Default, Debug)]
struct Figures {
    programs: usize,
    bounded: usize,
    violated: usize,
    proved: usize,
    refuted: usize,
}

fn run(kind: Kind, once_wrong: &[u64]) -> Figures {
    let mut figures = Figures::default();
    let seeds = once_wrong.iter().map(|seed| (*seed, true));
    for (seed, all) in seeds.chain((0..PROGRAMS).map(|seed| (seed, false))) {
        let case = Case::new(kind, seed);
        let asked = |seen| if all { Asked::all(kind) } else { Asked::in_turn(&case, seed, seen) };
        let examined = examine(&case, asked, 0.1, None)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", case.text));
        let name = case.check.name();
        assert!(examined.wrong.is_empty(), "seed {seed}, {name}: {:?}\n{}", examined.wrong, case.text);
        figures.programs += 1;
        figures.bounded += usize::from(examined.seen == Observed::Bounded);
        figures.violated += usize::from(examined.seen == Observed::Violation);
        let count = |answer| examined.answers.iter().filter(|(_, other, _)| *other == answer).count();
        figures.proved += count(Answer::Proved);
        figures.refuted += count(Answer::Refuted);
    }
    figures
}

#[test]
fn wild_programs() {
    let figures = run(Kind::Wild, &ONCE_WRONG);
    let Figures { programs, bounded, violated, proved, refuted } = figures;
    assert!(3 * bounded <= programs, "most are small enough for the oracle: {figures:?}");
    assert!(violated > programs / 10 && proved > programs / 10 && refuted > programs / 10, "{figures:?}");
}

#[test]
fn wide_programs() {
    let figures = run(Kind::Wide, &[]);
    let Figures { programs, bounded, violated, proved, refuted } = figures;
    assert!(3 * bounded <= programs, "most are small enough for the oracle: {figures:?}");
    assert!(violated > programs / 10 && proved > programs / 10, "{figures:?}");
    // Those who refute are asked about a few only.
    assert!(refuted > programs / 50, "{figures:?}");
}

#[test]
fn tame_programs() {
    let figures = run(Kind::Tame, &[]);
    assert_eq!(figures.bounded, 0, "{figures:?}");
    assert!(figures.proved > 10 && figures.refuted > 10, "{figures:?}");
}

#[test]
fn boolean_programs() {
    let figures = run(Kind::Boolean, &[]);
    assert!(figures.proved > 10 && figures.refuted > 10, "{figures:?}");
}

/// Only irrelevant parts are omitted.
#[test]
fn shrinking_keeps_what_counts() {
    let case = Case::new(Kind::Wild, 1);
    let keeps = |case: &Case| case.read().is_ok() && case.text.contains("pthread_create");
    let smaller = case.shrunk(keeps);
    assert!(keeps(&smaller), "{}", smaller.text);
    assert!(smaller.text.len() < case.text.len() / 2, "{}", smaller.text);
}
