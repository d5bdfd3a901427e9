//! Hierarchical verification of a fixed set of threads by sequential model checking (paper 5, CoMuS).
//!
//! One thread, the *main thread*, is checked as a sequential program; between its steps the other threads, its *environment*, do anything that is not excluded yet. When the model checker finds a
//! violation that rests on a move of the environment, the environment is asked whether it can do that ([`query`]). If not, the move is excluded; if so, the states from which it can are violations
//! themselves. Questions to an environment of several threads are answered in the same way: one of them is checked, the others are its environment.
//!
//! * [`model`]: threads, what they read and write, and their hierarchy.
//! * [`build`]: the sequential programs, for the main thread (chapter 4) and for queries (chapters 6 and 7).
//! * [`query`]: algorithms 4.1 and 7.1.
//! * [`before`], [`after`]: what leads to a state along steps, and what steps lead to.
//! * [`known`]: what is known of threads without any question.
//! * [`lean`]: smaller formulas.
//! * [`questions`]: small questions to a solver.
//! * [`generalise`]: how to exclude more than was asked (sections 4.6 and 8).
//! * [`inductive`]: conditions that stay (section 8.2).
//! * [`engine`]: the engine, its proofs and its schedules.
//!
//! Over-approximates as [`transitions`] does; what comes out of it is otherwise exact.

pub mod after;
pub mod before;
pub mod build;
pub mod engine;
pub mod generalise;
pub mod inductive;
pub mod known;
pub mod lean;
pub mod model;
pub mod query;
pub mod questions;
#[cfg(test)]
mod tests;

pub use engine::Queries;
