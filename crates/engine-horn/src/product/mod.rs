//! Proofs for a fixed set of threads: the product of all threads, reduced, as Horn clauses.
//!
//! Beyond the papers; the reduction is that of sleep sets ([`graph`]), the clauses are those of a sequential program ([`clauses`]).
//! Over-approximates as [`transitions`] does, and is otherwise exact.

pub mod clauses;
pub mod graph;
pub mod independence;
pub mod threads;

use clauses::Clauses;
use graph::{Graph, NoGraph, Order};
use smt::horn::{Solution, solve};
use threads::{NoProduct, Threads};
use transitions::System;
use verdict::{Budget, Reason};

/// More nodes than this are not tried.
pub const MOST_NODES: usize = 20_000;

/// Looks for a proof that no error is reached.
pub fn prove(system: &System<'_>, order: Order, budget: &Budget) -> Result<(), Reason> {
    let threads = Threads::new(system).map_err(|why| {
        Reason::Bounded(match why {
            NoProduct::Unbounded => "a thread may be started any number of times".to_owned(),
            NoProduct::TooMany => format!("there are more than {} threads", threads::MOST_THREADS),
        })
    })?;
    let graph = Graph::new(system, &threads, order, MOST_NODES, budget).map_err(|why| match why {
        NoGraph::TooLarge => Reason::Bounded(format!("the product has more than {MOST_NODES} nodes")),
        NoGraph::Exhausted(why) => Reason::Exhausted(why),
    })?;
    let clauses = Clauses::new(&threads, &graph);
    match solve(&clauses.system, budget) {
        Solution::Solved(solution) => {
            let _ = clauses.invariants(&graph, &solution);
            Ok(())
        }
        Solution::Refuted(derivation) => { if std::env::var_os("HORN_DEBUG").is_some() { for step in &derivation.steps { let c = &clauses.system.clauses[step.clause]; eprintln!("{} {:?} -> {:?} {}", c.constraint, c.body.iter().map(|b| clauses.system.relations[b.relation].name.clone()).collect::<Vec<_>>(), c.head.as_ref().map(|h| clauses.system.relations[h.relation].name.clone()), step.values.iter().map(|(v, x)| format!("{}={}", v.name, x.term())).collect::<Vec<_>>().join(", ")); } } Err(Reason::Bounded("an error is reached in the abstraction".to_owned())) }
        Solution::Unknown(why) => Err(Reason::Bounded(why.to_string())),
    }
}
