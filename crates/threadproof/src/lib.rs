//! Threadproof: proves or refutes concurrent programs for any number of threads and schedules.
//!
//! This crate composes the others, and apart from `batch` is the only place for IO. [`command::run`] is the
//! command line.

pub mod arguments;
mod batching;
mod before;
mod cache;
pub mod checking;
pub mod command;
pub mod compile_commands;
pub mod config;
pub mod evidence;
mod functions;
pub mod input;
pub mod lsp;
mod manual;
mod presenting;
pub mod property_file;
mod terminal;
mod watchdog;
