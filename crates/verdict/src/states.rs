//! The proof of the `states` engine: a set of thread states that no step leads out of, and configurations that cannot be reached.
//!
//! It speaks of the view that `boolean::View` makes of the task's program: points and bits are that view's. All in it are claims that the
//! checker tests one by one.

/// A proof by thread states.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StatesProof {
    /// Tests of variables, as level, number where false, number where true. The first has number 2; 0 is false, 1 is true. Each uses
    /// earlier ones only.
    pub tests: Vec<(u32, u32, u32)>,
    /// For each point, the number of the test that begins its set.
    pub sets: Vec<u32>,
    /// Minimal configurations that lead to an error: none that contains one of them is reachable. Empty if no thread state of the sets is an error.
    pub unreachable: Vec<Configuration>,
}

/// A shared state and some threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Configuration {
    /// The relevant shared bits.
    pub shared: u128,
    /// The threads: point and local bits, in order.
    pub threads: Vec<(u32, u128)>,
}
