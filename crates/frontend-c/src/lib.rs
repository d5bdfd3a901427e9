//! Reads C with threads and lowers it to the common representation.

pub mod builder;
pub mod library;
