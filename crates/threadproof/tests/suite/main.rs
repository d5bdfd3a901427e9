//! The integration tests: one binary, a module for each boundary.

mod baseline;
mod batch;
mod benchexec;
mod book;
mod boolean;
mod browser;
mod command_line;
mod contrib;
mod csmith;
mod edits;
mod functions;
mod hostile;
mod listings;
mod lsp;
mod messages;
mod projects;
mod reports;
mod slurm;
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
