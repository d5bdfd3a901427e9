//! Hierarchical verification of a fixed set of threads by sequential model checking (paper 5, CoMuS).
//!
//! One thread, the *main thread*, is checked as a sequential program; between its steps the other threads,
//! its *environment*, may do anything that is not excluded yet. When the model checker finds a violation that
//! rests on a move of the environment, an environment query ([`query`]) asks whether the environment can make
//! that move. If not, the move is excluded; if so, the states from which it can are themselves treated as
//! violations. Queries to an environment of several threads are answered in the same way: one of these
//! threads is checked, the others are its environment.
//!
//! * [`model`]: threads, what they read and write, and their hierarchy.
//! * [`build`]: the sequential programs, for the main thread (chapter 4) and for queries (chapters 6 and 7).
//! * [`query`]: algorithms 4.1 and 7.1.
//! * [`wp`], [`post`]: weakest preconditions and postconditions of steps.
//! * [`known`]: facts about threads that need no query.
//! * [`simplify`]: smaller formulas.
//! * [`generalise`]: how to exclude more than was asked (sections 4.6 and 8).
//! * [`inductive`]: conditions that steps preserve (section 8.2).
//! * [`engine`]: the engine, its proofs and its schedules.
//!
//! Over-approximates as [`transitions`] does, and is exact otherwise.

pub mod build;
pub mod engine;
pub mod generalise;
pub mod inductive;
pub mod known;
pub mod model;
pub mod post;
pub mod query;
pub mod simplify;
#[cfg(test)]
mod tests;
pub mod wp;

pub use engine::Queries;
