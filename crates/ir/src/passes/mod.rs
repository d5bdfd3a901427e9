//! Passes: from programs to programs with the same verdict.

pub mod lower;
pub mod points_to;
pub mod sharing;
pub mod split;

pub use lower::{Lowering, lower};
pub use points_to::PointsTo;
pub use sharing::Sharing;
pub use split::split;

#[cfg(test)]
mod tests;

use crate::program::Program;

/// The program that the concrete engines and the replayer run: lowered for a property, one shared access per step.
pub fn concrete(program: &Program, lowering: Lowering) -> Program {
    lower(program, lowering)
}
