//! Proofs by the product of a fixed set of threads.

use ir::LocationId;
use serde::{Deserialize, Serialize};
use terms::{Term, Variable};

/// Why no error is reached by a fixed set of threads: for each error location, a reduced product of the
/// threads with invariants.
///
/// Threads, variables and steps are those of the program as transitions, with mathematical integers. Threads
/// are numbered as there.
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
    /// Threads that must end before the error.
    pub ends: Vec<usize>,
    /// Where the threads may be; the first is where the program starts.
    pub nodes: Vec<ProductNode>,
}

/// A node of the product: where all threads are, and what holds there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductNode {
    /// The location of each thread; `None` when it has not started.
    pub locations: Vec<Option<LocationId>>,
    /// The sleep set, as bits: the next steps of these threads are explored in another order.
    pub sleep: u32,
    /// The persistent set, as bits: the threads that take their steps here.
    pub awake: u32,
    /// The thread that comes first in the order of steps.
    pub first: usize,
    /// The successors: the thread, the number of its step at its location, and the node.
    pub moves: Vec<(usize, usize, usize)>,
    /// Variables with a constant value here.
    pub constants: Vec<(Variable, Term)>,
    /// What else holds; `None` when that is not stored. The checker then composes the steps through this
    /// node.
    pub invariant: Option<Term>,
}
