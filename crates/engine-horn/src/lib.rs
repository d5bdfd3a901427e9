//! Proofs by Horn clauses.
//!
//! * [`product`]: a fixed set of threads, all together, under a reduction.
//! * [`modular`]: any number of threads, by what holds of every few of them.

pub mod engine;
pub mod modular;
pub mod product;

pub use engine::Horn;
