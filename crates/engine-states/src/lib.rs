//! The `states` engine: Boolean programs with unbounded thread creation (paper 3), and beyond it an exact
//! answer.
//!
//! [`reach`] computes an over-approximation of all thread states; it always ends. If there is no error in it,
//! it is the proof. Else, without recursion, [`cover`] decides whether an error can be reached: by a real
//! execution (`trace.rs`), or by a proof that no configuration that leads to one is reachable. [`counters`]
//! decides the same forwards, as a second opinion. `abstract_trace.rs` shows how the over-approximation
//! reached an error.
//!
//! Programs that are not Boolean become so by predicates, which counterexamples give (`refine.rs`).

pub mod abstract_trace;
pub mod counters;
pub mod cover;
mod engine;
pub mod reach;
mod refine;
mod trace;
pub mod transitions;

pub use engine::{Counting, States, closed_sets};
