//! Several engines in turn: proofs that are quick to find first, exploration with what time is left.
//!
//! A program that is Boolean (finitely many thread states, see `boolean`) goes to `states` first, which decides it; the others get it only where that
//! fails, for recursion or size.

use engine_explicit::Explicit;
use engine_flow::Flow;
use engine_states::States;
use std::time::Instant;
use verdict::{Budget, Engine, Event, Events, Task, Verdict};

/// Tries `states` on Boolean programs, then `flow` within a share of the time, then `explicit`. A proof that the checker does not accept counts as none.
#[derive(Default)]
pub struct Auto {
    /// The engine for what is left.
    pub explicit: Explicit,
    /// Whether the program was written as a Boolean one.
    pub boolean: bool,
}

/// The part of the time that `flow` gets.
const SHARE: u32 = 4;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let mut unsure = None;
        if self.boolean {
            let half = budget.remaining().map(|left| Instant::now() + left * 3 / 4);
            let first = Budget { deadline: half.or(budget.deadline), ..budget.clone() };
            match States.verify(task, &first, events) {
                Verdict::Safe(proof) => {
                    match checker::check_proof(task.program, task.property, &proof, budget) {
                        Ok(()) => return Verdict::Safe(proof),
                        Err(error) => events
                            .event(Event::Phase(format!("the proof of states is not accepted: {error}"))),
                    }
                }
                Verdict::Unsafe(trace) => match checker::replay(task.program, task.property, &trace) {
                    Ok(_) => return Verdict::Unsafe(trace),
                    Err(error) => {
                        events.event(Event::Phase(format!("the trace of states is not accepted: {error}")))
                    }
                },
                Verdict::Unknown(reason) => unsure = Some(reason),
            }
        }
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
        match (self.explicit.verify(task, budget, events), unsure) {
            // Why the engine for such programs has no answer says more.
            (Verdict::Unknown(_), Some(reason)) => Verdict::Unknown(reason),
            (verdict, _) => verdict,
        }
    }
}
