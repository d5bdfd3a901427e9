//! Interrupts ten thousand queries by their deadline, and reports how late each ended and how much memory
//! leaked.
//!
//! `cargo run --release -p threadproof-smt --example killed_queries [COUNT]`. Fails past one second or 500
//! MiB.

use smt::limits::resident_memory;
use smt::{Answer, Operation, Solver, Sort, Term};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use verdict::Budget;

/// Three queries that take too long: cubes, factors, and pigeons.
fn questions() -> [Term; 3] {
    let int = |name: &str| Term::int_variable(name);
    let cube = |name: &str| int(name).times(&int(name)).times(&int(name));
    let cubes = Term::sum([cube("x"), cube("y"), cube("z")]).equals(&Term::int(114));
    let vector = |name: &str| Term::variable(name, Sort::bit_vector(128));
    let limit = Term::bits(128, 1 << 50);
    let below = |name: &str| Term::binary(Operation::UnsignedLess, &vector(name), &limit);
    let product = Term::binary(Operation::BitMultiply, &vector("p"), &vector("q"));
    let factors =
        Term::all([product.equals(&Term::bits(128, 0x1_0000_0f00_0000_3fed)), below("p"), below("q")]);
    let holes = 12;
    let pigeons: Vec<Term> = (0..=holes).map(|pigeon| int(&format!("pigeon{pigeon}"))).collect();
    let mut rules: Vec<Term> = pigeons
        .iter()
        .map(|pigeon| Term::int(0).at_most(pigeon).and(&pigeon.less_than(&Term::int(holes))))
        .collect();
    for (position, pigeon) in pigeons.iter().enumerate() {
        rules.extend(pigeons[..position].iter().map(|other| pigeon.differs(other)));
    }
    [cubes, factors, Term::all(rules)]
}

fn main() -> ExitCode {
    let count: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let questions = questions();
    let allowed = Duration::from_millis(3);
    let (mut latest, mut most, mut killed) = (Duration::ZERO, 0, 0);
    for round in 0..count {
        let mut solver = Solver::new();
        solver.assert(&questions[round as usize % questions.len()]);
        let started = Instant::now();
        killed +=
            u32::from(matches!(solver.check(&Budget::seconds(allowed.as_secs_f64())), Answer::Unknown(_)));
        latest = latest.max(started.elapsed().saturating_sub(allowed));
        most = most.max(resident_memory());
    }
    println!("{killed} of {count} killed, at most {latest:?} late, at most {} MiB", most >> 20);
    if killed == count && latest < Duration::from_secs(1) && most < 500 << 20 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
