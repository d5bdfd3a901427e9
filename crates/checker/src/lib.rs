//! Replays traces and checks proofs. This crate sees programs and verdicts, and no engine's search.
//!
//! [`replay`] runs a trace on the step semantics and records what each step did, for reports. It refuses a
//! trace that does not end in the violation that it claims. [`check_proof`] checks the claims of a proof, one
//! proof rule at a time.

mod abstraction;
mod awaiting;
mod closed;
mod context;
mod describe;
mod examine;
mod executions;
mod flow;
mod follow;
mod future;
mod future_locks;
mod inputs;
mod modular;
mod names;
mod owned;
mod product;
mod proof;
mod queries;
mod queries_view;
mod ready;
mod replay;
mod silence;
mod spec;
mod states;
mod stuck;
mod summaries;

pub use closed::test as test_points_to;
pub use describe::{Change, cell_name};
pub use examine::{Checked, Refutation, Rejection, examine};
pub use executions::{Exception, try_listing, try_on_executions, try_points_to};
pub use flow::decide;
pub use proof::{ProofError, check_all_executions, check_proof};
pub use replay::{
    NamedAccess, ReplayError, Replayed, ReplayedLeak, ReplayedStep, ReplayedThread, ReplayedViolation,
    ReplayedWait, WaitTarget, replay,
};
pub use spec::check_conformance;
pub use summaries::{known_to_others, locations};
