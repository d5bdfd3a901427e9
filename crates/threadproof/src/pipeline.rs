//! From a program and a check to a verdict whose evidence was checked.

use checker::Checked;
use ir::Program;
use ir::passes::{self, Lowering};
use report::Outcome;
use std::cell::RefCell;
use std::time::Instant;
use verdict::{Budget, Check, Decisions, Engine, Event, Events, Reason, Task};

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
    passes::interrupts::run_to_completion(&passes::concrete(program, lowering(check)))
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
    let task = Task { program: &program, property: &property };
    let decider = Decider { task, budget, events, decided: RefCell::default() };
    let verdict = engine.verify(task, budget, &decider);
    let decided = decider.decided.into_inner();
    let mut verdict = checker::examine(program, &property, verdict, budget);
    let mut decisions = None;
    match (decided, &verdict) {
        (Some(Ok(found)), Checked::Unknown(_)) => decisions = Some(found),
        (Some(Err(reason @ Reason::Rejected(_))), Checked::Unknown(_)) => verdict = Checked::Unknown(reason),
        (Some(_) | None, Checked::Unknown(_) | Checked::Proved(_) | Checked::Refuted(_)) => {}
    }
    Outcome { check, variable: None, verdict, decisions, seconds: start.elapsed().as_secs_f64() }
}

/// Checks what is proved where not all is, while an engine runs.
struct Decider<'a> {
    task: Task<'a>,
    budget: &'a Budget,
    events: &'a dyn Events,
    decided: RefCell<Option<Result<Decisions, Reason>>>,
}

/// The part of the time that is left which a check of a part of the property may take.
const SHARE: u32 = 16;

impl Events for Decider<'_> {
    fn event(&self, event: Event) {
        match event {
            Event::Attempt(attempt) => {
                let deadline = self.budget.remaining().map(|left| Instant::now() + left / SHARE);
                let budget = Budget { deadline, ..self.budget.clone() };
                let decided = checker::decide(self.task.program, self.task.property, &attempt, &budget);
                *self.decided.borrow_mut() = Some(decided.map_err(Reason::from));
            }
            Event::Phase(_) | Event::Progress { .. } => self.events.event(event),
        }
    }
}
