//! Data races in whole programs with their calls: what holds at each location of each procedure, in each
//! context.
//!
//! Nothing is inlined. Facts are about one thread at one location ([`verdict::SummariesProof`] says which
//! and what they mean); they flow along edges, into callees and back ([`analysis`]), and what other threads
//! may break is taken out ([`reliability`]). Two accesses are compared only where they may touch the same
//! byte ([`races`]). So the work grows nearly with the size of the program.

pub mod analysis;
pub mod calls;
mod cells;
pub mod contexts;
pub mod engine;
pub mod equalities;
pub mod facts;
mod flows;
pub mod indices;
mod members;
pub mod model;
pub mod numbers;
pub mod once;
pub mod ownership;
mod passed;
pub mod races;
pub mod reliability;
pub mod teams;
mod transfer;
mod words;

pub use engine::{Summaries, annotate, annotate_without};
pub use races::{Location, locations};

#[cfg(test)]
mod pointer_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_lists;
