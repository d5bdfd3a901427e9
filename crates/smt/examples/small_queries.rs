//! Runs ten thousand small queries about integers on one solver, and reports the time.
//!
//! `cargo run --release -p threadproof-smt --example small_queries [COUNT]`. Fails past five seconds.

use smt::{Answer, Solver, Term};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use verdict::Budget;

fn main() -> ExitCode {
    let count: i128 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let [x, y, z] = ["x", "y", "z"].map(Term::int_variable);
    let budget = Budget::seconds(60.0);
    let started = Instant::now();
    let mut solver = Solver::new();
    solver.assert(&x.less_than(&y).and(&y.less_than(&z)));
    let mut satisfiable = 0;
    for round in 0..count {
        let limit = Term::int(round % 100);
        let distance = Term::int(round % 7);
        let answer = if round % 2 == 0 {
            solver.check_assuming(&[x.at_least(&limit), z.at_most(&limit.plus(&distance))], &budget)
        } else {
            solver.push();
            solver.assert(&x.equals(&limit).and(&z.minus(&x).at_most(&distance)));
            let answer = solver.check(&budget);
            solver.pop();
            answer
        };
        assert_eq!(answer, if round % 7 >= 2 { Answer::Sat } else { Answer::Unsat });
        if answer == Answer::Sat {
            satisfiable += 1;
            assert!(solver.int_value(&z).is_ok_and(|value| value >= round % 100 + 2));
        }
    }
    let taken = started.elapsed();
    println!("{count} questions, {satisfiable} satisfiable, {taken:?}");
    if taken < Duration::from_secs(5) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
