//! Proofs by Horn clauses.
//!
//! * [`product`]: a fixed set of threads, all together, under a reduction.
//! * [`modular`]: any number of threads, by what holds of every few of them.
//! * [`equations`]: linear equations that hold of some points.

pub mod engine;
pub mod equations;
pub mod modular;
pub mod product;

pub use engine::Horn;
