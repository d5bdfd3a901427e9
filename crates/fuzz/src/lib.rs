//! Random programs against naive exploration: what every engine and the portfolio say of them must be true.
//! And changed proofs against broken programs ([`mutation`]).
//!
//! A [`Case`] is a program with a check, made from a seed. [`examine`](compare::examine) asks engines about
//! it and compares. Unknown is always a fair answer; a wrong verdict, evidence that the checker rejects, two
//! engines that contradict each other, and a panic are not.

pub mod case;
pub mod census;
pub mod compare;
pub mod compiled;
pub mod headers;
pub mod mutation;

pub use case::{Case, Kind};
pub use compare::{Answer, Asked, Examined, examine};
pub use compiled::Compiler;
