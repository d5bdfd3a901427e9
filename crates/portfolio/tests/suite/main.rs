//! The tests of verdicts and their evidence: one binary, a module for each engine or boundary.

mod abstraction_mutations;
mod context;
mod context_mutations;
mod decisions;
mod differential;
mod executions;
mod flow_mutations;
mod forged;
mod library;
mod modular_mutations;
mod owned;
mod product_mutations;
mod programs;
mod queries;
mod queries_figures;
mod reproducers;
mod spec_mutations;
mod specifications;
mod steps;

use std::path::{Path, PathBuf};

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the crate is in the repository")
}
