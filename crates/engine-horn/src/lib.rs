//! Proofs by Horn clauses, and executions with inputs as formulas.
//!
//! * [`product`]: the product of a fixed set of threads, under a partial-order reduction.
//! * [`modular`]: any number of threads, by invariants of every small group of them.
//! * [`symbolic`]: symbolic execution with delay-bounded scheduling: finds violations only.
//! * [`equations`]: linear equations that all of some given points satisfy.

pub mod engine;
pub mod equations;
pub mod modular;
pub mod product;
pub mod symbolic;

pub use engine::Horn;
