//! From a program and a check to a verdict whose evidence was checked.

use ir::Program;
use ir::passes::{self, Lowering};
use report::Outcome;
use verdict::{Budget, Check, Engine, Events, Task};

/// What must be lowered for a check.
pub fn lowering(check: Check) -> Lowering {
    Lowering {
        assertions: check == Check::Assertions,
        reach_error: matches!(check, Check::Assertions | Check::ReachError),
        bounds: check == Check::Bounds,
        overflow: check == Check::Overflow,
    }
}

/// The program that the engine and the replayer see.
pub fn prepare(program: &Program, check: Check) -> Program {
    passes::concrete(program, lowering(check))
}

/// Answers one check with checked evidence.
pub fn verify(
    program: &Program,
    check: Check,
    engine: &dyn Engine,
    budget: &Budget,
    events: &dyn Events,
) -> Outcome {
    let start = std::time::Instant::now();
    let program = prepare(program, check);
    let property = check.property();
    let verdict = engine.verify(Task { program: &program, property: &property }, budget, events);
    let verdict = checker::examine(program, &property, verdict, budget);
    Outcome { check, verdict, seconds: start.elapsed().as_secs_f64() }
}
