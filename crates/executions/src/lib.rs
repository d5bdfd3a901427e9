//! Executions of a program, for the engines that search for them or need one as evidence.
//!
//! * [`model`]: the machine with what is known about a program before it runs, and the violation in a state.
//! * [`touches`], [`footprint`], [`guards`]: the memory that steps touch now and later, and the locks that
//!   guard it.
//! * [`inputs`], [`flow`]: candidates for values that the program leaves open. [`liveness`]: locals that are
//!   read again.
//! * [`guided`]: an execution along a schedule that an engine has found by formulas.
//! * [`shorten`]: shorter traces. [`doubts`]: the parts of a violation that are no evidence.
//!
//! It proves nothing. The search through all executions is `engine-explicit`.

mod doubts;
mod flow;
pub mod footprint;
pub mod guards;
pub mod guided;
pub mod inputs;
pub mod liveness;
pub mod model;
pub mod shorten;
pub mod touches;
