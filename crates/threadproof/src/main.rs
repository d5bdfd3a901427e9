//! The command line of Threadproof.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadproof::command::run(std::env::args_os())
}
