//! The engine: prepares a program, and tries what fits it.

use crate::product::graph::Order;
use crate::product::{NoProof, prove};
use engine_explicit::guided::follow;
use ir::passes::Goal;
use smt::expressions::Mode;
use transitions::{NotReady, System, prepare};
use verdict::{Budget, Engine, Events, Exhausted, Proof, Property, Reason, Task, Verdict};

/// Larger programs are not tried.
const MOST_EDGES: usize = 4_000;

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Horn;

impl Engine for Horn {
    fn name(&self) -> &'static str {
        "horn"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        if !matches!(task.property, Property::NoError(_)) {
            return Verdict::Unknown(Reason::Bounded("horn: only errors are looked for".to_owned()));
        }
        let goal = Goal { races: *task.property == Property::NoRace, faults: false };
        let program = match prepare(task.program, goal, budget.deadline) {
            Ok(program) => program,
            Err(NotReady::OutOfTime) => return Verdict::Unknown(Reason::Exhausted(Exhausted::Time)),
            Err(NotReady::TooLarge(error)) => {
                return Verdict::Unknown(Reason::Bounded(format!("horn: {error}")));
            }
            Err(NotReady::Unresolved(span)) => {
                let what = "a call or start that is not resolved".to_owned();
                return Verdict::Unknown(Reason::Unsupported(what, span));
            }
        };
        if let Some(assumption) = program.assumptions.iter().find(|assumption| assumption.limits_proof) {
            return Verdict::Unknown(Reason::Unsupported(assumption.text.clone(), assumption.span));
        }
        let edges: usize = program.templates.iter().map(|code| code.edges.len()).sum();
        if edges > MOST_EDGES {
            return Verdict::Unknown(Reason::Bounded(format!(
                "horn: the program has more than {MOST_EDGES} steps"
            )));
        }
        let system = System::new(&program, Mode::Integers);
        let mut last = Reason::Bounded("horn: nothing was tried".to_owned());
        for (order, share) in [(Order::Sequential, 5), (Order::RoundRobin, 2), (Order::Sequential, 1)] {
            let part = budget.remaining().map_or(budget.clone(), |left| budget.within(left / share));
            match prove(&system, order, &part) {
                Ok(proof) => return Verdict::Safe(Proof::Product(Box::new(proof))),
                Err(NoProof::Open(reason)) => last = reason,
                Err(NoProof::Refuted(schedule)) => {
                    return match follow(task.program, task.property, &schedule, budget) {
                        Some(trace) => Verdict::Unsafe(trace),
                        None => Verdict::Unknown(Reason::Approximate(
                            "no execution was found along a violation of the formulas".to_owned(),
                        )),
                    };
                }
            }
        }
        Verdict::Unknown(last)
    }
}
