//! Proofs by Horn clauses.
//!
//! * [`product`]: a fixed set of threads, all together, under a reduction.

pub mod engine;
pub mod product;

pub use engine::Horn;
