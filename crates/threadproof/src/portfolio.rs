//! Several engines in turn: proofs that are quick to find first, exploration with what time is left.

use engine_explicit::Explicit;
use engine_flow::Flow;
use std::time::Instant;
use verdict::{Budget, Engine, Event, Events, Task, Verdict};

/// Tries `flow` within a share of the time, then `explicit`. A proof that the checker does not accept counts as none.
#[derive(Default)]
pub struct Auto {
    /// The engine for what is left.
    pub explicit: Explicit,
}

/// The part of the time that `flow` gets.
const SHARE: u32 = 4;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let deadline = budget.remaining().map(|left| Instant::now() + left / SHARE);
        let first = Budget { deadline: deadline.or(budget.deadline), ..budget.clone() };
        if let Verdict::Safe(proof) = Flow.verify(task, &first, events) {
            match checker::check_proof(task.program, task.property, &proof, budget) {
                Ok(()) => return Verdict::Safe(proof),
                Err(error) => {
                    events.event(Event::Phase(format!("the proof of flow is not accepted: {error}")))
                }
            }
        }
        self.explicit.verify(task, budget, events)
    }
}
