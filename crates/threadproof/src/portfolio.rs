//! Several engines: proofs that are quick to find first, then exploration beside executions with formulas and Horn clauses.
//!
//! A program that was written as a Boolean one goes to `states` first, which decides it; the others get it only where that fails, for recursion or size.

use engine_explicit::Explicit;
use engine_flow::Flow;
use engine_horn::Horn;
use engine_queries::Queries;
use engine_states::States;
use engine_symbolic::Symbolic;
use ir::{Op, Program, Rhs};
use std::sync::mpsc;
use std::time::Duration;
use verdict::{Budget, Cancel, Engine, Event, Events, Reason, Silent, Task, Verdict};

/// Tries `states` on Boolean programs, then `flow` within a share of the time, then `explicit` beside `symbolic`, `horn`, `queries` and `states` with predicates, one after the other: the first answer counts. A proof of `flow` that the checker does not accept counts as none.
#[derive(Default)]
pub struct Auto {
    /// The engine that explores.
    pub explicit: Explicit,
    /// Whether the program was written as a Boolean one.
    pub boolean: bool,
}

/// The part of the time that `flow` gets.
const SHARE: u32 = 4;
/// The part of the time, then, that `symbolic` gets before `horn`, if the program has inputs. It gets what the others leave, too.
const SYMBOLIC: u32 = 10;
/// How often it is looked whether someone asked to stop.
const INTERVAL: Duration = Duration::from_millis(50);

/// Whether a program reads anything that it leaves open.
fn has_inputs(program: &Program) -> bool {
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    ops.any(|op| match op {
        Op::Assign(assignment) => assignment.pairs.iter().any(|(_, rhs)| matches!(rhs, Rhs::Any)),
        _ => false,
    })
}

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let mut unsure = None;
        if self.boolean {
            let first = budget.remaining().map_or(budget.clone(), |left| budget.within(left * 3 / 4));
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
        let first = budget.remaining().map_or(budget.clone(), |left| budget.within(left / SHARE));
        if let Verdict::Safe(proof) = Flow.verify(task, &first, events) {
            match checker::check_proof(task.program, task.property, &proof, budget) {
                Ok(()) => return Verdict::Safe(proof),
                Err(error) => {
                    events.event(Event::Phase(format!("the proof of flow is not accepted: {error}")));
                }
            }
        }
        let stop = Cancel::default();
        let share = Budget { cancel: stop.clone(), ..budget.clone() };
        std::thread::scope(|scope| {
            let (answers, answered) = mpsc::channel();
            let (share, horn) = (&share, answers.clone());
            scope.spawn(move || {
                let inputs = has_inputs(task.program);
                // What share of the time that is left each may take.
                let queries = Queries::default();
                let runs: [(&dyn Engine, u32, bool); 6] = [
                    (&Symbolic, SYMBOLIC, inputs),
                    (&Horn, 2, true),
                    (&queries, 2, true),
                    (&States, 2, !self.boolean),
                    (&Symbolic, 1, inputs),
                    (&Horn, 1, !inputs),
                ];
                let mut answer = Verdict::Unknown(Reason::Bounded("nothing was tried".to_owned()));
                for (engine, part, _) in runs.into_iter().filter(|(_, _, fits)| *fits) {
                    if matches!(answer, Verdict::Unknown(_)) {
                        let budget =
                            share.remaining().map_or(share.clone(), |left| share.within(left / part));
                        answer = engine.verify(task, &budget, &Silent);
                    }
                }
                horn.send((false, answer))
            });
            scope.spawn(move || answers.send((true, self.explicit.verify(task, share, &Silent))));
            let mut unknown = Verdict::Unknown(Reason::Bounded("no engine answered".to_owned()));
            loop {
                match answered.recv_timeout(INTERVAL) {
                    Ok((explored, answer)) => {
                        if !matches!(answer, Verdict::Unknown(_)) {
                            stop.cancel();
                            return answer;
                        }
                        // Why the engine for Boolean programs, or else exploration, gave up says more about the program.
                        if let Some(reason) = &unsure {
                            unknown = Verdict::Unknown(reason.clone());
                        } else if explored {
                            unknown = answer;
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if budget.cancel.is_cancelled() {
                            stop.cancel();
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => return unknown,
                }
            }
        })
    }
}
