//! Programs with finitely many thread states as Boolean functions.
//!
//! [`View`] takes a program apart into control points ("points") and steps between them, each a guard and new
//! values of bits (paper 3, section 4: guard and parametric choice). [`symbolic`] applies steps to sets of
//! thread states, [`explicit`] to single ones. It is to the `states` engine and to the checker of its proofs
//! what `ir::semantics` is to all: it says what a step is. It holds no search and no fixed point but the
//! collection of what is relevant. It is tested against `ir::semantics`.

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
