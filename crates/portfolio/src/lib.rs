//! From a program and a check to a verdict whose evidence was checked.
//!
//! [`pipeline`] runs one engine and checks what it says; [`Portfolio`] runs several in parallel, and the
//! first checked answer counts. [`shared_memory`] lists the races on each shared memory location of a whole
//! program, [`nesc`] those of a program from nesC. [`earlier`] is what other runs know of a check. [`live`]
//! holds what is known at any time, so that it can be reported when time is up.
//!
//! This crate does no IO: the command line reads files and prints reports.

pub mod earlier;
mod features;
pub mod first_listing;
pub mod live;
pub mod nesc;
pub mod owned;
mod parallel;
pub mod pipeline;
pub mod race_names;
mod refuting;
pub mod runs;
pub mod shared_memory;
pub mod specification;

pub use parallel::{Portfolio, default_jobs};

/// The engine `states`, with `explicit` for the Boolean programs that it makes. Engines do not know each
/// other; here they meet.
pub const STATES: engine_states::States<'static> =
    engine_states::States { explorer: &engine_explicit::Explicit::DEFAULT };
