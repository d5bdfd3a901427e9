//! Several engines in turn: proofs that are quick to find first, exploration with what time is left.

use engine_explicit::Explicit;
use engine_flow::Flow;
use std::time::Instant;
use verdict::{Budget, Engine, Events, Task, Verdict};

/// Tries `flow` within a share of the time, then `explicit`.
pub struct Auto;

/// The part of the time that `flow` gets.
const SHARE: u32 = 4;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let deadline = budget.remaining().map(|left| Instant::now() + left / SHARE);
        let first = Budget { deadline: deadline.or(budget.deadline), ..budget.clone() };
        match Flow.verify(task, &first, events) {
            Verdict::Unknown(_) => Explicit::default().verify(task, budget, events),
            answer @ (Verdict::Safe(_) | Verdict::Unsafe(_)) => answer,
        }
    }
}
