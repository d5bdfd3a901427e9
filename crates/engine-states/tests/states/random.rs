//! The engine and the machine agree on random programs.

use crate::STATES;
use crate::{read, verify, verify_by};
use checker::Checked;
use engine_states::Counting;
use testkit::oracle::{Bounds, Observed, explore};
use testkit::random::Random;
use testkit::random::boolean::{Features, program};
use verdict::{Check, Engine, Reason};

/// How far the oracle looks.
const BOUNDS: Bounds = Bounds { states: 4_000, threads: Some(4), copies: 2, private_first: false };

/// Compares on so many programs; how many were proved, refuted, and left open.
fn compare(seed: u64, count: usize, features: Features) -> [usize; 3] {
    // More of them on request.
    let more = std::env::var("THREADPROOF_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random::new(seed);
    let mut answers = [0; 3];
    for round in 0..count * more {
        let text = program(&mut random, features);
        let program = read(&text);
        let seen = explore(&program, &Check::Assertions.property(), BOUNDS);
        for engine in [&STATES as &dyn Engine, &Counting] {
            let name = engine.name();
            // Following calls ends where the time does.
            let seconds = if features.recursion { 1.0 } else { 10.0 };
            match verify_by(engine, &program, seconds) {
                Checked::Proved(_) => {
                    assert_ne!(
                        seen,
                        Observed::Violation,
                        "{name}, round {round}: proved, but there is an error:\n{text}"
                    );
                    answers[0] += 1;
                }
                Checked::Refuted(_) => {
                    assert_ne!(
                        seen,
                        Observed::Nothing,
                        "{name}, round {round}: refuted, but there is none:\n{text}"
                    );
                    answers[1] += 1;
                }
                Checked::Unknown(reason) => {
                    let honest = features.recursion || features.others;
                    let fine = honest && !matches!(reason, Reason::Rejected(_));
                    assert!(fine, "{name}, round {round}: {reason}:\n{text}");
                    answers[2] += 1;
                }
            }
        }
    }
    answers
}

#[test]
fn plain_programs() {
    let [proved, refuted, _] = compare(1, 400, Features::default());
    assert!(proved > 50 && refuted > 50, "{proved} {refuted}");
}

#[test]
fn atomic_regions_and_locks() {
    let [proved, refuted, _] = compare(2, 400, Features { atomic: true, locks: true, ..Features::default() });
    assert!(proved > 50 && refuted > 50, "{proved} {refuted}");
}

#[test]
fn calls() {
    let [proved, refuted, _] = compare(3, 300, Features { calls: true, atomic: true, ..Features::default() });
    assert!(proved > 30 && refuted > 30, "{proved} {refuted}");
}

#[test]
fn waiting_and_broadcasting() {
    let [proved, refuted, _] = compare(4, 300, Features { waits: true, atomic: true, ..Features::default() });
    assert!(proved > 30 && refuted > 30, "{proved} {refuted}");
}

#[test]
fn variables_of_other_threads() {
    let [proved, refuted, _] = compare(5, 300, Features { others: true, ..Features::default() });
    assert!(proved > 20 && refuted > 20, "{proved} {refuted}");
}

#[test]
fn dialects() {
    let [proved, refuted, _] = compare(8, 200, Features { dialects: true, ..Features::default() });
    assert!(proved > 50 && refuted > 50, "{proved} {refuted}");
}

#[test]
fn everything_together() {
    let features = Features {
        dialects: true,
        locks: true,
        atomic: true,
        calls: true,
        waits: true,
        ..Features::default()
    };
    let [proved, refuted, _] = compare(9, 200, features);
    assert!(proved > 30 && refuted > 30, "{proved} {refuted}");
    let [proved, refuted, _] =
        compare(10, 100, Features { others: true, waits: false, calls: false, ..features });
    assert!(proved > 20 && refuted > 15, "{proved} {refuted}");
}

#[test]
fn recursion_is_never_wrong() {
    let [proved, refuted, open] = compare(6, 200, Features { recursion: true, ..Features::default() });
    assert!(proved > 100 && refuted > 100 && open < 100, "{proved} {refuted} {open}");
}

#[test]
fn recursion_with_locks_and_atomic_regions_is_never_wrong() {
    let features = Features { recursion: true, locks: true, atomic: true, ..Features::default() };
    let [proved, refuted, open] = compare(7, 200, features);
    assert!(proved > 20 && refuted > 20 && open < 100, "{proved} {refuted} {open}");
}

#[test]
fn what_is_handed_over_for_nothing_is_left_out() {
    // `h` is broadcast to others, who make nothing of it that counts.
    let text = "decl g := 0, h;
        void main() begin
          decl a := 0, b := 0;
          1: start_thread goto 2;
          2: g, a$ := T, h;
             assert(g);
        end";
    assert!(matches!(verify(&read(text), 10.0), Checked::Proved(_)));
}
