//! Passes: from programs to programs with the same verdict.

pub mod bits;
pub mod calls;
pub mod compress;
pub mod dead_code;
pub mod inline;
pub mod liveness;
pub mod lower;
pub mod points_to;
mod renumber;
pub mod sharing;
pub mod split;
#[cfg(test)]
mod tests;
pub mod totality;

pub use calls::resolve_calls;
pub use compress::compress;
pub use dead_code::remove_dead_code;
pub use inline::{InlineError, InlineLimits, inline};
pub use lower::{Lowering, lower};
pub use points_to::PointsTo;
pub use sharing::Sharing;
pub use split::split;

use crate::program::Program;

/// The program that the concrete engines and the replayer run: lowered for a property, one shared access per step.
pub fn concrete(program: &Program, lowering: Lowering) -> Program {
    lower(program, lowering)
}
