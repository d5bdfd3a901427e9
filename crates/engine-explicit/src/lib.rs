//! Explicit-state exploration of programs: the oracle for all engines, and a bug finder in its own right.
//!
//! [`Explicit`] follows the executions of a program on the step semantics, state by state ([`search`]). It
//! refutes with a trace. It proves when it has followed all executions and no bound was hit. The search
//! under-approximates until it is complete; then it is exact.
//!
//! * [`engine`]: which searches run, and how they share the time with searches that only find violations
//!   ([`compact`]), random walks ([`walk`], [`crowd`]), and a coverage-guided fuzzer of handlers
//!   ([`handler_fuzzer`]).
//! * [`expand`]: steps and the partial-order reduction, with the argument that the reduction keeps all
//!   violations.
//! * [`guesses`], [`script`]: values that the program leaves open.
//! * [`store`], [`components`]: states, and which parts of them are kept.
//! * [`directed`]: executions towards a race on one memory location of a large program.
//!
//! What is known about a program before it runs is in [`executions`].
//!
//! Only [`compact`], which proves nothing, treats states as equal up to a permutation of threads. Thread ids
//! are stored in handles and locks, and each thread has its own window of addresses, so no simple rule says
//! when two states differ by a permutation only.

mod compact;
mod components;
mod crowd;
pub mod directed;
mod engine;
mod expand;
mod guesses;
mod handler_fuzzer;
mod random;
mod script;
mod search;
mod store;
mod stuck;
mod trivial;
mod unordered;
mod walk;

pub use engine::{Explicit, Options, races_by_firings};
