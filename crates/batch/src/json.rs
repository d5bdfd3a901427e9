//! The results of a batch as one JSON object. Its schema is `docs/batch.schema.json`.

use crate::job::{Asked, Job};
use crate::runner;
use crate::summary::{Entry, Summary};
use serde::Serialize;

/// The format, with its version.
pub(crate) const FORMAT: &str = "threadproof batch 1";

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    tool: &'static str,
    version: &'static str,
    plan: &'a str,
    /// Whether all jobs are finished.
    complete: bool,
    summary: Summary,
    jobs: Vec<JobEntry<'a>>,
}

#[derive(Serialize)]
struct JobEntry<'a> {
    id: &'a str,
    name: &'a str,
    files: Vec<String>,
    property: String,
    options: Vec<String>,
    timeout: f64,
    memory: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    /// Whether the baseline has the same answer, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    megabytes: Option<f64>,
    cached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

/// Renders the results of a plan. `is_there`: whether a file is in the folder of the batch.
pub fn render(plan: &str, entries: &[Entry<'_>], is_there: &dyn Fn(&std::path::Path) -> bool) -> String {
    let summary = Summary::of(entries);
    let document = Document {
        format: FORMAT,
        tool: "threadproof",
        version: env!("CARGO_PKG_VERSION"),
        plan,
        complete: summary.finished == summary.jobs,
        summary,
        jobs: entries.iter().map(|entry| job_entry(entry, is_there)).collect(),
    };
    // Strings, numbers and lists always have a text.
    serde_json::to_string_pretty(&document).map_or_else(|error| error.to_string(), |text| text + "\n")
}

/// What is asked of a job.
pub(crate) fn property(asked: &Asked) -> String {
    match asked {
        Asked::Check(name) => name.clone(),
        Asked::Property(path) => path.display().to_string(),
    }
}

fn job_entry<'a>(entry: &'a Entry<'_>, is_there: &dyn Fn(&std::path::Path) -> bool) -> JobEntry<'a> {
    let Job { name, files, asked, options, limits, expected, is_cacheable: _ } = entry.job;
    let finished = entry.finished.as_ref();
    let (report, page) = runner::outputs(entry.id);
    let path =
        |path: std::path::PathBuf| finished.filter(|_| is_there(&path)).map(|_| path.display().to_string());
    JobEntry {
        id: entry.id,
        name,
        files: files.iter().map(|file| file.display().to_string()).collect(),
        property: property(asked),
        options: options.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        timeout: limits.seconds,
        memory: limits.megabytes,
        expected: expected.as_ref().map(ToString::to_string),
        standing: entry.standing().name(),
        verdict: finished.map(|finished| finished.verdict.to_string()),
        known: entry.is_known(),
        seconds: finished.map(|finished| finished.seconds),
        cpu_seconds: finished.map(|finished| finished.cpu_seconds),
        megabytes: finished.map(|finished| finished.bytes as f64 / f64::from(1 << 20)),
        cached: finished.is_some_and(|finished| finished.is_cached),
        report: path(report),
        page: path(page),
    }
}
