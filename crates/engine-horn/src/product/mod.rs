//! Proofs for a fixed set of threads: the product of all threads, reduced, as Horn clauses.
//!
//! Beyond the papers; the reduction is that of sleep sets ([`graph`]), the clauses are those of a sequential program ([`clauses`]).
//! Over-approximates as [`transitions`] does, and is otherwise exact.

pub mod clauses;
pub mod graph;
pub mod independence;
pub mod needed;

use clauses::Clauses;
use graph::{Graph, NoGraph, Order};
use ir::LocationId;
use needed::Needed;
use smt::horn::{Solution, solve};
use smt::{NoAnswer, Term};

use transitions::System;
use transitions::threads::{self, NoProduct, Threads};
use verdict::{Budget, ProductNode, ProductPart, ProductProof, Reason, Schedule};

/// More nodes than this are not tried.
pub const MOST_NODES: usize = 20_000;

/// Why there is no proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoProof {
    /// For this reason.
    Open(Reason),
    /// An execution of the transitions reaches an error in this way.
    Refuted(Schedule),
}

fn bounded(text: String) -> NoProof {
    NoProof::Open(Reason::Bounded(text))
}

/// Looks for a proof that no error is reached.
pub fn prove(system: &System<'_>, order: Order, budget: &Budget) -> Result<ProductProof, NoProof> {
    let threads = Threads::new(system).map_err(|why| {
        bounded(match why {
            NoProduct::Unbounded => "a thread may be started any number of times".to_owned(),
            NoProduct::TooMany => format!("there are more than {} threads", threads::MOST_THREADS),
        })
    })?;
    let mut parts = Vec::new();
    for (number, thread) in threads.threads.iter().enumerate() {
        let locations = &system.program.templates[thread.template].locations;
        for location in locations.ids().filter(|at| threads.is_error(system, number, *at)) {
            parts.push(prove_one(system, &threads, (number, location), order, budget)?);
        }
    }
    Ok(ProductProof { parts })
}

/// Looks for a proof that one error is not reached.
fn prove_one(
    system: &System<'_>,
    threads: &Threads,
    error: (usize, LocationId),
    order: Order,
    budget: &Budget,
) -> Result<ProductPart, NoProof> {
    let needed = Needed::new(system, threads, error);
    let graph = Graph::new(system, threads, &needed, order, MOST_NODES, budget).map_err(|why| match why {
        NoGraph::TooLarge => bounded(format!("the product has more than {MOST_NODES} nodes")),
        NoGraph::Exhausted(why) => NoProof::Open(Reason::Exhausted(why)),
    })?;
    let clauses = Clauses::new(threads, &graph, budget);
    let solution = match solve(&clauses.system, budget) {
        Solution::Solved(solution) => solution,
        Solution::Refuted(derivation) => {
            return Err(NoProof::Refuted(clauses.schedule(system, threads, &graph, &derivation)));
        }
        Solution::Unknown(NoAnswer::Exhausted(limit)) => return Err(NoProof::Open(Reason::Exhausted(limit))),
        Solution::Unknown(why) => return Err(bounded(why.to_string())),
    };
    let relevant = graph.relevant();
    let mut moves = vec![Vec::new(); graph.nodes.len()];
    for step in &graph.moves {
        moves[step.source].push((step.thread, step.step, step.target));
    }
    let nodes = graph.nodes.iter().enumerate().map(|(number, node)| ProductNode {
        locations: node.locations.clone(),
        sleep: node.sleep,
        awake: graph.awake[number],
        first: node.first,
        moves: std::mem::take(&mut moves[number]),
        constants: graph.constants[number].iter().map(|(v, value)| (v.clone(), value.clone())).collect(),
        invariant: match clauses.invariant(number, &solution) {
            _ if graph.errors[number] => Some(Term::bool(false)),
            // From here no error is reached, whatever holds.
            _ if !relevant[number] => Some(Term::bool(true)),
            invariant => invariant,
        },
    });
    Ok(ProductPart { error, ends: needed.ends.clone(), nodes: nodes.collect() })
}
