//! The results of a batch as BenchExec writes them, for its `table-generator`.

use crate::job::{Asked, Verdict};
use crate::runner;
use crate::summary::{Entry, Standing};
use report::html::escape;
use std::fmt::Write;
use std::path::Path;

/// The name of the set of runs: results and logs are named after it.
pub const FILE: &str = "batch.results.xml";

/// Renders the results. Paths of files are made absolute from `here`, the folder that the plan's paths start
/// from.
pub fn render(plan: &str, entries: &[Entry<'_>], here: &Path) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<result benchmarkname=\"{}\" tool=\"Threadproof\" toolmodule=\"benchexec.tools.threadproof\" version=\"{}\">",
        escape(plan),
        env!("CARGO_PKG_VERSION")
    );
    out.push_str("  <columns>\n");
    for title in ["status", "cputime", "walltime", "memory"] {
        let _ = writeln!(out, "    <column title=\"{title}\"/>");
    }
    out.push_str("  </columns>\n");
    for entry in entries {
        run(&mut out, entry, here);
    }
    out.push_str("</result>\n");
    out
}

fn run(out: &mut String, entry: &Entry<'_>, here: &Path) {
    let job = entry.job;
    let path = |path: &Path| escape(&here.join(path).display().to_string());
    let files: Vec<String> = job.files.iter().map(|file| path(file)).collect();
    let first = files.first().map_or("", String::as_str);
    let _ = write!(out, "  <run name=\"{first}\" files=\"[{}]\"", files.join(", "));
    let _ = write!(out, " properties=\"{}\"", escape(&job.asked.name()));
    if let Asked::Property(file) = &job.asked {
        let _ = write!(out, " propertyFile=\"{}\"", path(file));
    }
    if let Some(expected) = &job.expected {
        let _ = write!(out, " expectedVerdict=\"{}\"", escape(&expected.to_string()));
    }
    let report = runner::outputs(entry.id).0;
    let _ = writeln!(out, " logfile=\"{}\">", escape(&report.display().to_string()));
    if let Some(finished) = &entry.finished {
        let status = match &finished.verdict {
            Verdict::Unknown(why) if why.contains("out of time") => "TIMEOUT".to_owned(),
            Verdict::Unknown(why) if why.contains("out of memory") => "OUT OF MEMORY".to_owned(),
            Verdict::Unknown(_) => "unknown".to_owned(),
            Verdict::Error(_) => "ERROR".to_owned(),
            verdict @ (Verdict::True | Verdict::False(_)) => verdict.to_string(),
        };
        let category = match entry.standing() {
            Standing::Right => "correct",
            Standing::Wrong => "wrong",
            Standing::Decided => "missing",
            Standing::Unknown if status == "unknown" => "unknown",
            Standing::Unknown | Standing::Error | Standing::Open => "error",
        };
        let columns = [
            ("status", status),
            ("category", category.to_owned()),
            ("cputime", format!("{:.3}s", finished.cpu_seconds)),
            ("walltime", format!("{:.3}s", finished.seconds)),
            ("memory", format!("{}B", finished.bytes)),
        ];
        for (title, value) in columns {
            let hidden = if title == "category" { " hidden=\"true\"" } else { "" };
            let _ = writeln!(out, "    <column title=\"{title}\" value=\"{}\"{hidden}/>", escape(&value));
        }
    }
    out.push_str("  </run>\n");
}
