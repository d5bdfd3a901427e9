//! Batches: many checks of many programs as one job, each in a process of its own.
//!
//! [`plan`] reads what is to be done, [`runner`] starts the processes and enforces their limits, [`slurm`]
//! has that done on the nodes of a cluster, [`results`] keeps what the processes answered, so that a killed
//! batch continues where it was, and [`summary`] counts. Reports are [`json`], [`html`] and [`benchexec`].
//! This crate knows nothing of verification: it sees the words of command lines, and the JSON report that a
//! process prints.

mod baseline;
pub mod benchexec;
mod definitions;
pub mod html;
pub mod job;
pub mod json;
pub mod plan;
pub mod results;
pub mod runner;
pub mod slurm;
pub mod summary;

pub use baseline::Baseline;
pub use job::{Asked, Expected, Job, Limits, Verdict, Work};
pub use plan::{Given, Plan};
pub use results::{Finished, Results};
pub use summary::{Entry, Standing, Summary};
