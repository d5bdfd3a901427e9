//! Random thread transition systems, with threads that are started and steps that move all others, against
//! the machine.

use crate::{STATES, verify_by};
use checker::Checked;
use engine_states::Counting;
use ir::passes::{Lowering, lower};
use testkit::oracle::{Bounds, Observed, explore};
use testkit::random::Random;
use verdict::{Check, Engine, Reason};

/// How far the oracle looks.
const BOUNDS: Bounds = Bounds { states: 3_000, threads: Some(6), copies: 3, private_first: false };

/// A system as text, its target, and its initial states.
fn system(random: &mut Random, broadcasts: bool) -> (String, String, String) {
    let (shared, local) = (1 + random.below(3), 2 + random.below(3));
    let mut text = format!("{shared} {local}\n");
    for _ in 0..3 + random.below(7) {
        let [s, t] = [(); 2].map(|()| random.below(shared));
        let [l, m] = [(); 2].map(|()| random.below(local));
        let starts = random.below(4) == 0;
        text += &format!("{s} {l} {} {t} {m}", if starts { "+>" } else { "->" });
        if broadcasts && !starts && random.below(3) == 0 {
            for _ in 0..=random.below(2) {
                text += &format!(" {} ~> {}", random.below(local), random.below(local));
            }
        }
        text += "\n";
    }
    let threads: Vec<String> = (0..=random.below(3)).map(|_| random.below(local).to_string()).collect();
    let target = format!("{}|{}", random.below(shared), threads.join(","));
    let one: Vec<String> = (0..random.below(3)).map(|_| random.below(local).to_string()).collect();
    let initial = match random.below(3) {
        0 => format!("0|{}", if one.is_empty() { "0".to_owned() } else { one.join(",") }),
        1 => "0/0".to_owned(),
        _ => format!(
            "0|{}/{}",
            if one.is_empty() { "1".to_owned() } else { one.join(",") },
            random.below(local)
        ),
    };
    (text, target, initial)
}

fn read(text: &str, target: &str, initial: &str) -> verdict::Views {
    let target = Some(("target", target.as_bytes()));
    let program = frontend_boolean::read_system("test.tts", text.as_bytes(), target, Some(initial))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    ir::check::check(&program).unwrap_or_else(|malformed| panic!("{malformed:?}\n{text}"));
    lower(&program, Lowering { assertions: true, reach_error: true, ..Lowering::default() }).into()
}

/// Compares on so many systems; how many were proved, refuted, and left open.
fn compare(seed: u64, count: usize, broadcasts: bool) -> [usize; 3] {
    let more = std::env::var("THREADPROOF_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random::new(seed);
    let mut answers = [0; 3];
    for round in 0..count * more {
        let (text, target, initial) = system(&mut random, broadcasts);
        let program = read(&text, &target, &initial);
        let seen = explore(&program, &Check::Assertions.property(), BOUNDS);
        let place = format!("round {round}, target {target}, from {initial}:\n{text}");
        let mut said = Vec::new();
        for engine in [&STATES as &dyn Engine, &Counting] {
            let name = engine.name();
            match verify_by(engine, &program, 10.0) {
                Checked::Proved(_) => {
                    assert_ne!(seen, Observed::Violation, "{name} proves what is violated: {place}");
                    said.push(true);
                    answers[0] += 1;
                }
                Checked::Refuted(_) => {
                    assert_ne!(seen, Observed::Nothing, "{name} refutes what holds: {place}");
                    said.push(false);
                    answers[1] += 1;
                }
                Checked::Unknown(reason) => {
                    assert!(matches!(reason, Reason::Exhausted(_)), "{name}: {reason}: {place}");
                    answers[2] += 1;
                }
            }
        }
        said.dedup();
        assert!(said.len() <= 1, "the engines differ: {place}");
    }
    answers
}

#[test]
fn without_broadcasts() {
    let [proved, refuted, open] = compare(21, 300, false);
    assert!(proved > 100 && refuted > 100 && open < 30, "{proved} {refuted} {open}");
}

#[test]
fn with_broadcasts() {
    let [proved, refuted, open] = compare(22, 300, true);
    assert!(proved > 100 && refuted > 100 && open < 30, "{proved} {refuted} {open}");
}
