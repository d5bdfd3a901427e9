//! Programs with finitely many thread states as Boolean functions.
//!
//! [`View`] takes a program apart into control points ("points") and steps between them, each a guard and new
//! values of bits (paper 3, section 4: guard and parametric choice). [`symbolic`] applies steps to sets of
//! thread states, [`explicit`] to single ones. The `states` engine and the checker of its proofs both take
//! the meaning of a step from here; tests compare it with `ir::semantics`. The crate holds no search, and no
//! fixed point except the collection of relevant bits.

pub mod bdd;
mod build;
mod evaluate;
pub mod explicit;
mod relevance;
mod structure;
pub mod symbolic;
#[cfg(test)]
mod tests;
pub mod view;

pub use bdd::{Bdd, Bdds, FALSE, TRUE};
pub use view::{Bit, Failure, PointId, Recursion, StepId, View};
