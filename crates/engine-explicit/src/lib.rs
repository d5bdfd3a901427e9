//! Explicit-state exploration of programs: the oracle for all engines, and a bug finder in its own right.
//!
//! [`Explicit`] follows the executions of a program on the step semantics, state by state ([`search`]). It
//! refutes with a trace; it proves when all executions were followed and nothing was bounded.
//! Under-approximates until the search is complete; then exact.
//!
//! * [`engine`]: which searches run, and how they share the time with searches that only find violations
//!   ([`compact`]), random walks ([`walk`], [`crowd`]), and a coverage-guided fuzzer of handlers
//!   ([`handler_fuzzer`]).
//! * [`expand`]: steps and the partial-order reduction, with the argument that it keeps all violations.
//! * [`touches`], [`footprint`], [`guards`], [`model`]: what is known about a program before it runs.
//! * [`inputs`], [`flow`], [`guesses`], [`script`]: values that the program leaves open.
//! * [`store`], [`components`], [`liveness`]: states, and what of them is kept.
//! * [`shorten`]: shorter traces. [`doubts`]: what a violation rests on that is no evidence.
//! * [`guided`]: an execution along a schedule that another engine has found.
//! * [`directed`]: executions towards a race on one memory location of a large program.
//!
//! Threads are permuted in [`compact`] only, where nothing is proved: thread ids are stored in handles and
//! locks, and each thread has its own window of addresses, so that states which differ by a permutation are
//! not equal up to names by any simple rule.

mod bits;
mod compact;
mod components;
mod crowd;
pub mod directed;
mod doubts;
mod engine;
mod expand;
mod flow;
mod footprint;
mod graph;
mod guards;
mod guesses;
pub mod guided;
mod handler_fuzzer;
mod inputs;
mod liveness;
mod model;
mod random;
mod script;
mod search;
mod shorten;
mod store;
mod stuck;
mod touches;
mod trivial;
mod unordered;
mod walk;

pub use engine::{Explicit, Options, races_by_firings};
