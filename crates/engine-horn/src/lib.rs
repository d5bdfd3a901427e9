//! Proofs by Horn clauses, and executions with inputs as formulas.
//!
//! * [`product`]: a fixed set of threads, all together, under a reduction.
//! * [`modular`]: any number of threads, by what holds of every few of them.
//! * [`symbolic`]: many executions at once, by delay-bounded scheduling: finds violations only.
//! * [`equations`]: linear equations that hold of some points.

pub mod engine;
pub mod equations;
pub mod modular;
pub mod product;
pub mod symbolic;

pub use engine::Horn;
