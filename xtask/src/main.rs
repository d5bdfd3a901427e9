//! Development tasks: `cargo xtask test` runs all checks and tests, `cargo xtask tidy` the checks on the
//! repository alone, and `cargo xtask bench` measures. `cargo xtask fuzz` compares engines with the oracle on
//! random programs, until it is stopped. `cargo xtask mutate` changes proofs at random, and checks them
//! against broken programs. `cargo xtask book` makes the book, `cargo xtask dist` a release.

mod bench;
mod book;
mod dist;
mod setup;
mod tidy;
mod trusted;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => test(),
        ["tidy"] => tidy(),
        ["setup"] => setup::install(),
        ["book"] => book::book(),
        ["dist", words @ ..] => dist::dist(words),
        ["trusted"] => trusted::trusted(false),
        ["trusted", "--files"] => trusted::trusted(true),
        ["bench", words @ ..] => bench::run(words),
        ["fuzz", words @ ..] => {
            run("cargo", &[&["run", "--quiet", "-p", "threadproof-fuzz", "--"], words].concat())
        }
        ["mutate", words @ ..] => {
            run("cargo", &[&["run", "--quiet", "-p", "threadproof-fuzz", "--", "--proofs"], words].concat())
        }
        _ => Err("usage: cargo xtask test | tidy | setup | trusted | bench | fuzz | mutate | book | dist"
            .to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository").to_owned()
}

/// Everything that must hold before a change lands.
fn test() -> Result<(), String> {
    setup::install()?;
    tidy()?;
    run("cargo", &["fmt", "--all", "--check"])?;
    // What makes the next build incremental costs time in the first one, and makes slower programs.
    let environment: &[_] = if is_built_incrementally() { &[] } else { &[("CARGO_INCREMENTAL", "0")] };
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_with("cargo", &clippy, environment)?;
    // All that fails is reported by one run. Examples are not built again (clippy has seen them), and no
    // documentation has tests (`tidy` sees to that).
    run_with("cargo", &["test", "--workspace", "--tests", "--no-fail-fast"], environment)
}

/// Whether someone has built the program here as developers do.
fn is_built_incrementally() -> bool {
    let entries = std::fs::read_dir(root().join("target/debug/incremental")).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("threadproof"))
}

fn tidy() -> Result<(), String> {
    let complaints = tidy::complaints(&root());
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    if complaints.is_empty() { Ok(()) } else { Err(format!("{} complaints", complaints.len())) }
}

/// Runs a program in the repository's root; its failure is an error.
fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    run_with(program, arguments, &[])
}

/// Runs a program in the repository's root, with more environment; its failure is an error.
fn run_with(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    eprintln!("$ {program} {}", arguments.join(" "));
    let mut command = Command::new(program);
    let status = command.args(arguments).envs(environment.iter().copied()).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} {}: {status}", arguments.join(" "))),
        Err(error) => Err(format!("{program}: {error}")),
    }
}
