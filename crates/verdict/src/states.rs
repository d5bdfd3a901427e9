//! The proof of the `states` engine: a set of thread states that is closed under steps, and either
//! configurations that are unreachable or populations that cover all reachable configurations.
//!
//! It speaks of the view that `boolean::View` makes of the task's program: points and bits are that view's.
//! Everything in it is a claim; the checker tests these one by one.

use serde::{Deserialize, Serialize};

/// A proof by thread states.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatesProof {
    /// The nodes of decision diagrams: level, successor where false, successor where true. The first node has
    /// number 2; 0 is false, 1 is true. Each node refers to earlier ones only.
    pub tests: Vec<(u32, u32, u32)>,
    /// For each point, the root of the diagram of its set.
    pub sets: Vec<u32>,
    /// The minimal configurations that lead to an error: no configuration that contains one of them is
    /// reachable. Empty if no thread state of the sets is an error.
    pub unreachable: Vec<Configuration>,
    /// One of these covers each reachable configuration, and none of their steps leads to an error. Empty if
    /// that is not claimed.
    pub populations: Vec<Population>,
    /// How often a procedure can be active in one thread, if calls were followed exactly; `None` when they
    /// were approximated.
    pub depth: Option<u32>,
}

/// A shared state and some threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The relevant shared bits.
    pub shared: u128,
    /// The threads: point and local bits, in order.
    pub threads: Vec<(u32, u128)>,
}

/// A shared state, and upper bounds on the numbers of threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Population {
    /// The relevant shared bits.
    pub shared: u128,
    /// Threads, by point and local bits, in order, with an upper bound on their number; `None` stands for any
    /// number. There are no other threads.
    pub threads: Vec<((u32, u128), Option<u32>)>,
}
