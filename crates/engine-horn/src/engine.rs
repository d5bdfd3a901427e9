//! The engine: prepares a program, and tries the suitable methods.

use crate::modular::{self, Effort};
use crate::product::graph::Order;
use crate::product::{self, NoProof, Split, prove};
use executions::guided::follow;
use ir::{ErrorKind, Span};
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
    (product(Order::Sequential, Split::Nothing, Effort::Facts), 4),
    (product(Order::RoundRobin, Split::Nothing, Effort::Facts), 5),
    (Method::Modular(Effort::Facts), 8),
    (product(Order::Sequential, Split::Few, Effort::Facts), 8),
    (product(Order::RoundRobin, Split::Few, Effort::Facts), 6),
    (product(Order::RoundRobin, Split::Nothing, Effort::All), 3),
    (product(Order::Sequential, Split::Nothing, Effort::All), 3),
    (product(Order::Sequential, Split::Few, Effort::All), 3),
    (product(Order::RoundRobin, Split::Nothing, Effort::All), 2),
    (Method::Modular(Effort::All), 1),
];

/// The same where no thread has loops: all paths are one formula, whatever the order.
const METHODS_WITHOUT_LOOPS: [(Method, u32); 6] = [
    (product(Order::Sequential, Split::Nothing, Effort::Facts), 2),
    (Method::Modular(Effort::Facts), 5),
    (product(Order::Sequential, Split::Few, Effort::Facts), 4),
    (product(Order::Sequential, Split::Nothing, Effort::All), 3),
    (product(Order::Sequential, Split::Few, Effort::All), 3),
    (Method::Modular(Effort::All), 1),
];

/// Whether variables that no other thread changes mostly decide a property. They do where accesses are asked
/// about, and whether numbers stay in range; what an assertion says depends mostly on others.
fn depends_on_steady_variables(property: &Property) -> bool {
    let is_assertion = |kind: &ErrorKind| matches!(kind, ErrorKind::ReachError | ErrorKind::Assertion);
    matches!(property, Property::NoError(kinds) if !kinds.iter().any(is_assertion))
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
        if depends_on_steady_variables(task.property)
            && let Ok(proof) = modular::prove_by_steady_variables(&system, &budget.part(2))
        {
            return Verdict::Safe(Proof::Modular(Box::new(proof)));
        }
        let mut last = Reason::GaveUp("horn: nothing was tried".to_owned());
        let loops = |threads: Threads| threads.threads.iter().any(|one| !one.loop_heads().is_empty());
        let methods = match Threads::new(&system).map(loops) {
            Ok(true) => &METHODS[..],
            Ok(false) => &METHODS_WITHOUT_LOOPS[..],
            Err(_) => &METHODS[METHODS.len() - 1..],
        };
        for (method, share) in methods {
            let part = budget.part(*share);
            let method = match method {
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
