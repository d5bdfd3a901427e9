//! The tables of the five papers again, with our figures beside theirs: `cargo xtask bench paper N [SAMPLES]`
//! writes `docs/benchmarks/paper-N.md` and its plots.
//!
//! SAMPLES is the folder of real inputs (drivers, TinyOS applications, Boolean programs), which is not part
//! of the repository; papers 1 and 4 need it. A page says where and when it was measured, and what is not at
//! hand. `cargo xtask bench summary` writes the page that leads to all of them.

mod abstract_threads;
mod boppo;
mod circ;
mod comus;
mod duet;
mod page;

use super::growth;
use super::measure::Run;
pub use page::{Page, summary};
use std::path::{Path, PathBuf};

/// Writes the page of a paper.
pub fn paper(number: &str, samples: Option<&Path>) -> Result<(), String> {
    let sampled = || samples.ok_or(format!("usage: cargo xtask bench paper {number} SAMPLES"));
    match number {
        "1" => circ::circ(sampled()?),
        "2" => abstract_threads::abstract_threads(),
        "3" => boppo::boppo(),
        "4" => duet::duet(sampled()?),
        "5" => comus::comus(),
        _ => Err("usage: cargo xtask bench paper 1|2|3|4|5 [SAMPLES]".to_owned()),
    }
}

/// Writes all pages, one after the other.
pub fn all(samples: &Path) -> Result<(), String> {
    for number in ["1", "2", "3", "4", "5"] {
        paper(number, Some(samples))?;
    }
    growth::growth()
}

/// Seconds if the verdict is what it should be; else the verdict.
fn cell(run: &Run, expected: &str) -> String {
    let verdict = run.verdict();
    if verdict.starts_with(expected) { format!("{:.2}", run.seconds) } else { verdict.to_owned() }
}

/// The files of a folder with an extension, in order.
pub fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    Ok(files)
}
