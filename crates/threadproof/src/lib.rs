//! Threadproof: proves or refutes concurrent programs for any number of threads and schedules.
//!
//! This crate composes the others and is the only place for IO. [`command::run`] is the command line;
//! [`pipeline`] takes a program to a checked verdict.

pub mod arguments;
pub mod checking;
pub mod command;
pub mod compile_commands;
pub mod config;
pub mod diagnostic;
pub mod evidence;
pub mod features;
pub mod first_listing;
mod functions;
pub mod input;
pub mod live;
pub mod lsp;
mod manual;
pub mod nesc;
pub mod pipeline;
pub mod portfolio;
mod presenting;
pub mod property_file;
pub mod race_names;
pub mod refuting;
pub mod runs;
pub mod shared_memory;
pub mod specification;
mod terminal;
mod watchdog;
