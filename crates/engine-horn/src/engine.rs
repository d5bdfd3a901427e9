//! The engine: prepares a program, and tries the suitable methods.

use crate::modular::{self, Effort};
use crate::product::graph::Order;
use crate::product::{self, NoProof, Split, prove};
use executions::guided::follow;
use ir::Span;
use smt::expressions::Mode;
use transitions::threads::Threads;
use transitions::{System, prepare, require_all_behaviours, require_few_edges};
use verdict::{Budget, Engine, Events, Proof, Property, Reason, Task, Verdict};

/// A method to look for a proof.
#[derive(Clone, Copy)]
enum Method {
    /// The product, if the threads are a fixed set.
    Product(product::Method),
    /// Invariants of groups of threads.
    Modular(Effort),
}

const fn product(order: Order, split: Split, effort: Effort) -> Method {
    Method::Product(product::Method { order, split, effort })
}

/// The methods in the order in which they are tried, with their fraction of the remaining time. If the
/// threads are not a fixed set, only the last is possible.
const METHODS: [(Method, u32); 11] = [
    (product(Order::Sequential, Split::Unrolled, Effort::Facts), 3),
    (product(Order::Sequential, Split::Nothing, Effort::Facts), 6),
    (product(Order::RoundRobin, Split::Nothing, Effort::Facts), 6),
    (Method::Modular(Effort::Facts), 8),
    (product(Order::RoundRobin, Split::Nothing, Effort::All), 4),
    (product(Order::Sequential, Split::Nothing, Effort::All), 4),
    (product(Order::Sequential, Split::Few, Effort::Facts), 5),
    (product(Order::RoundRobin, Split::Few, Effort::Facts), 5),
    (product(Order::Sequential, Split::Few, Effort::All), 3),
    (product(Order::RoundRobin, Split::Nothing, Effort::All), 2),
    (Method::Modular(Effort::All), 1),
];

/// Whether a method is different from the others where threads have loops, or have none.
fn fits(method: product::Method, has_loops: bool) -> bool {
    match (method.order, method.split) {
        (_, Split::Unrolled) | (Order::RoundRobin, _) => has_loops,
        (Order::Sequential, Split::Nothing | Split::Few) => true,
    }
}

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Horn;

impl Engine for Horn {
    fn name(&self) -> &'static str {
        "horn"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        if matches!(task.property, Property::NoDeadlock) {
            let text = "horn: deadlocks are not looked for".to_owned();
            return Verdict::Unknown(Reason::NotSupported(text, Span::default()));
        }
        if let Property::NoLeak(_) = task.property {
            let text = "horn: allocated memory is not followed".to_owned();
            return Verdict::Unknown(Reason::NotSupported(text, Span::default()));
        }
        let races = *task.property == Property::NoRace;
        let program = match prepare(task.program, races, budget) {
            Ok(program) => program,
            Err(why) => return Verdict::Unknown(why.reason("horn")),
        };
        if let Err(reason) = require_all_behaviours(program).and_then(|()| require_few_edges(program, "horn"))
        {
            return Verdict::Unknown(reason);
        }
        if races {
            let system = System::with_accesses(program, Mode::Integers);
            return match modular::prove(&system, Effort::All, budget) {
                Ok(proof) => Verdict::Safe(Proof::Modular(Box::new(proof))),
                Err(reason) => Verdict::Unknown(reason),
            };
        }
        let system = System::new(program, Mode::Integers);
        let mut last = Reason::GaveUp("horn: nothing was tried".to_owned());
        let threads = Threads::new(&system).ok();
        let has_loops = threads.iter().flat_map(|all| &all.threads).any(|one| !one.loop_heads().is_empty());
        let last_method = METHODS.len() - 1;
        for (method, share) in if threads.is_some() { &METHODS[..] } else { &METHODS[last_method..] } {
            let part = budget.part(*share);
            let method = match method {
                Method::Product(method) if !fits(*method, has_loops) => continue,
                Method::Product(method) => *method,
                Method::Modular(effort) => {
                    match modular::prove(&system, *effort, &part) {
                        Ok(proof) => return Verdict::Safe(Proof::Modular(Box::new(proof))),
                        Err(reason) => last = reason,
                    }
                    continue;
                }
            };
            match prove(&system, method, &part) {
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
