//! Proofs by Horn clauses.
//!
//! * [`product`]: the product of a fixed set of threads, under a partial-order reduction.
//! * [`modular`]: any number of threads, by invariants of every small group of them.
//! * [`equations`]: linear equations that all of some given points satisfy.

pub mod engine;
pub mod equations;
pub mod modular;
pub mod product;

pub use engine::Horn;
