//! Compares every engine and the portfolio with naive exploration, on random programs; and holds mutated
//! proofs against broken programs ([`mutation`]).
//!
//! A [`Case`] is a program with a check, made from a seed. [`examine`](compare::examine) runs engines on it
//! and compares their verdicts. `unknown` is always allowed. A failure is a wrong verdict, evidence that the
//! checker rejects, two engines that contradict each other, or a panic.

pub mod case;
pub mod census;
pub mod compare;
pub mod compiled;
pub mod headers;
pub mod mutation;

pub use case::{Case, Kind};
pub use compare::{Answer, Asked, Examined, examine};
pub use compiled::Compiler;
