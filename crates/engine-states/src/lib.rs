//! The `states` engine: Boolean programs with unbounded thread creation (paper 3). Beyond the paper, it gives
//! an exact answer.
//!
//! [`reach`] computes an over-approximation of all thread states; it always terminates. If this set has no
//! error, it is the proof. Otherwise, if there is no recursion, [`cover`] decides whether an error is
//! reachable. Its evidence is an execution (`trace.rs`), or a proof that no configuration that leads to an
//! error is reachable. [`counters`] decides the same forwards, as a second opinion. `abstract_trace.rs` shows
//! how the over-approximation reached an error.
//!
//! Programs that are not Boolean are abstracted by predicates, which are mined from counterexamples
//! (`refine.rs`).

pub mod abstract_trace;
pub mod counters;
pub mod cover;
mod engine;
pub mod reach;
mod refine;
mod trace;
pub mod transitions;

pub use engine::{Counting, States, closed_sets};
