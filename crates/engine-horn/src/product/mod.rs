//! Proofs for a fixed set of threads: the product of all threads, reduced, as Horn clauses.
//!
//! Beyond the papers; the reduction is that of sleep sets ([`graph`]), the clauses are those of a sequential program ([`clauses`]).
//! Over-approximates as [`transitions`] does, and is otherwise exact.

pub mod clauses;
pub mod graph;
pub mod independence;
pub mod needed;
pub mod threads;

use clauses::Clauses;
use graph::{Graph, NoGraph, Order};
use needed::Needed;
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
    let mut errors = Vec::new();
    for (number, thread) in threads.threads.iter().enumerate() {
        let locations = &system.program.templates[thread.template].locations;
        errors.extend(locations.ids().filter(|at| threads.is_error(system, number, *at)).map(|at| (number, at)));
    }
    for error in errors {
        let needed = Needed::new(system, &threads, error);
        let debug = std::env::var_os("HORN_DEBUG").is_some();
        if debug { eprintln!("{needed:?}"); }
        let graph = Graph::new(system, &threads, &needed, order, MOST_NODES, budget).map_err(|why| match why {
            NoGraph::TooLarge => Reason::Bounded(format!("the product has more than {MOST_NODES} nodes")),
            NoGraph::Exhausted(why) => Reason::Exhausted(why),
        })?;
        if debug { eprintln!("{} nodes, {} moves, {} relevant", graph.nodes.len(), graph.moves.len(), graph.relevant().iter().filter(|x| **x).count()); }
        let clauses = Clauses::new(&threads, &graph);
        if debug { eprintln!("{} relations, {} clauses", clauses.system.relations.len(), clauses.system.clauses.len()); }
        match solve(&clauses.system, budget) {
            Solution::Solved(solution) => {
                let _ = clauses.invariants(&graph, &solution);
            }
            Solution::Refuted(_) => {
                return Err(Reason::Bounded("an error is reached in the abstraction".to_owned()));
            }
            Solution::Unknown(why) => return Err(Reason::Bounded(why.to_string())),
        }
    }
    Ok(())
}
