//! The integration tests: one binary, a module for each boundary.

mod abstraction_mutations;
mod benchexec;
mod book;
mod boolean;
mod browser;
mod command_line;
mod context;
mod context_mutations;
mod csmith;
mod decisions;
mod differential;
mod executions;
mod flow_mutations;
mod forged;
mod functions;
mod hostile;
mod library;
mod listings;
mod lsp;
mod messages;
mod modular_mutations;
mod product_mutations;
mod programs;
mod projects;
mod queries;
mod queries_figures;
mod reports;
mod reproducers;
mod spec_mutations;
mod specifications;
mod steps;
mod unsupported;
mod witnesses;
mod writing;

use std::path::{Path, PathBuf};

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the crate is in the repository")
}
