//! Paper 3 (BOPPO), table 4: Boolean programs with any number of threads.

use super::cell;
use super::page::Page;
use crate::bench::measure;
use crate::bench::plot::{Plot, Series};
use std::process::Command;

/// Rows of the table, and beyond: the family, n, and the paper's seconds, as it writes them, and symbolic
/// thread states.
const TABLE_4: [(&str, u32, &str, &str); 12] = [
    ("pc", 10, "<0.1", "21"),
    ("pc", 20, "<0.1", "31"),
    ("pc", 100, "0.2", "111"),
    ("pc", 1000, "8.3", "1011"),
    ("pc", 10_000, "", ""),
    ("pc", 100_000, "", ""),
    ("v", 10, "0.1", "29"),
    ("v", 20, "0.3", "49"),
    ("v", 100, "5.3", "209"),
    ("v", 1000, "3508.1", "2009"),
    ("v", 2000, "", ""),
    ("v", 5000, "", ""),
];

/// The rows whose programs are not at hand: the name, seconds, and symbolic thread states.
const APACHE: [(&str, &str, &str); 5] = [
    ("AP1", "242.7", "8009"),
    ("AP2", "269.5", "10766"),
    ("AP3", "288.9", "11422"),
    ("AP4", "155.1", "5453"),
    ("AP5", "1130.9", "43812"),
];

/// Writes the page.
pub fn boppo() -> Result<(), String> {
    let tool = measure::build()?;
    let mut page = Page::new("paper-3", "Paper 3: Boolean programs with any number of threads (table 4)");
    page.line(
        "The artificial families are made from the paper's text by `bench/art.sh`; its own programs are not at hand, nor are AP1 to AP5, which SATABS made of Apache's web server. `--engine states`, with the check of the proof, 120 s. \
         Zing and SPIN ran out of memory (1 GB) on all rows of the paper. Empty: not in the paper.\n",
    );
    page.head(&["program", "paper: seconds", "paper: thread states", "here: seconds", "here: MB"]);
    let file = std::env::temp_dir().join(format!("threadproof-art-{}.bp", std::process::id()));
    let mut series = [
        Series::theirs("ART-PC (paper)", 0),
        Series::ours("ART-PC", 0),
        Series::theirs("ART-V (paper)", 1),
        Series::ours("ART-V", 1),
    ];
    for (family, size, paper, states) in TABLE_4 {
        let script = crate::root().join("bench/art.sh");
        let output = Command::new("sh").arg(script).args([family, &size.to_string()]).output();
        let output = output.map_err(|error| format!("bench/art.sh: {error}"))?;
        std::fs::write(&file, output.stdout).map_err(|error| error.to_string())?;
        let run = measure::run_engine(&tool, "states", &["--timeout", "120"], &file)?;
        let name = format!("ART-{}-{size}", family.to_uppercase());
        page.row(&[&name, paper, states, &cell(&run, "true"), &run.megabytes.to_string()]);
        let first = if family == "pc" { 0 } else { 2 };
        let theirs: Option<f64> = paper.trim_start_matches('<').parse().ok();
        let ours = (run.verdict() == "true").then_some(run.seconds);
        for (at, seconds) in [(first, theirs), (first + 1, ours)] {
            series[at].points.extend(seconds.map(|seconds| (f64::from(size), seconds)));
        }
    }
    let _ = std::fs::remove_file(&file);
    for (name, seconds, states) in APACHE {
        page.row(&[name, seconds, states, "not at hand", ""]);
    }
    let labels = Plot { title: "Boolean programs: n assignments (PC), n variables (V)", along: "n" };
    page.plot("art", &labels, &series)?;
    page.finish()
}
