//! How often each view of a program is asked for and derived, and how often each pass runs: the example
//! `passes` of `crates/portfolio`.

use std::path::Path;

/// Programs that are measured if none are named: one that is proved at once, and one that several engines
/// try.
const FILES: [&str; 2] = ["examples/counter-any.c", "examples/handoff.c"];

/// Prints the table for some files.
pub fn passes(files: &[&str]) -> Result<(), String> {
    let known: Vec<String> =
        FILES.iter().map(|file| crate::root().join(Path::new(file)).to_string_lossy().into_owned()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let files = if files.is_empty() { &known[..] } else { files };
    let words =
        ["run", "--quiet", "--release", "--package", "threadproof-portfolio", "--example", "passes", "--"];
    crate::run("cargo", &[&words[..], files].concat())
}
