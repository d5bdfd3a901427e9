//! The proof of the `states` engine: a set of thread states that no step leads out of, and configurations that cannot be
//! reached, or populations that all that can be is within.
//!
//! It speaks of the view that `boolean::View` makes of the task's program: points and bits are that view's. All in it are claims that the
//! checker tests one by one.

use serde::{Deserialize, Serialize};

/// A proof by thread states.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatesProof {
    /// Tests of variables, as level, number where false, number where true. The first has number 2; 0 is false, 1 is true. Each uses
    /// earlier ones only.
    pub tests: Vec<(u32, u32, u32)>,
    /// For each point, the number of the test that begins its set.
    pub sets: Vec<u32>,
    /// Minimal configurations that lead to an error: none that contains one of them is reachable. Empty if no thread state of the sets is an error.
    pub unreachable: Vec<Configuration>,
    /// All that is reachable is within one of these, and none of their steps leads to an error. Empty if that is not claimed.
    pub populations: Vec<Population>,
    /// How often a procedure can be active in one thread, if calls were followed and not approximated.
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

/// A shared state, and how many threads there are at most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Population {
    /// The relevant shared bits.
    pub shared: u128,
    /// Threads, by point and local bits, in order, with how many of them there are at most; nothing stands for any number. There are none of
    /// those that are not here.
    pub threads: Vec<((u32, u128), Option<u32>)>,
}
