//! Proofs by the product of a fixed set of threads.

use ir::LocationId;
use serde::{Deserialize, Serialize};
use terms::{Term, Variable};

/// Why no error is reached by a fixed set of threads: for each error location, a reduced product of the threads with invariants.
///
/// Threads, variables and steps are those of the program as transitions, with mathematical integers. Threads are numbered as they are found there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductProof {
    /// One part for each error location of each thread.
    pub parts: Vec<ProductPart>,
}

/// Why one error is not reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductPart {
    /// The thread and the location of the error.
    pub error: (usize, LocationId),
    /// Threads that must end before it.
    pub ends: Vec<usize>,
    /// Where the threads may be; the first is where the program starts.
    pub nodes: Vec<ProductNode>,
}

/// Where all threads are, and what holds there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductNode {
    /// The location of each thread; `None` when it was not started.
    pub locations: Vec<Option<LocationId>>,
    /// The threads that sleep, as bits: what they would do next is done in another order.
    pub sleep: u32,
    /// The threads that take their steps here, as bits.
    pub awake: u32,
    /// The thread that comes first in the order of steps.
    pub first: usize,
    /// Where steps lead to: the thread, which of its steps at its location, and the node.
    pub moves: Vec<(usize, usize, usize)>,
    /// Variables that have one value here.
    pub constants: Vec<(Variable, Term)>,
    /// What else holds; `None` when that is not written down: then all steps from here are followed on.
    pub invariant: Option<Term>,
}
