//! What an earlier report found already, so that a report says what is new.
//!
//! A finding is a violation, a check that is open, an open line, an open memory location, or something that
//! is not modelled where a check is open. Its key does not change when lines move: it holds the property, and
//! the names and the text of the lines that the finding is about. A race is known by its variable and the
//! file that declares it, whatever the accesses that were replayed: which these are may change from run to
//! run. Where several findings have the same key, they are counted.
//!
//! This compares reports, and decides nothing: verdicts stay what they are.

use crate::shared_memory::Status;
use crate::{Report, human};
use checker::{Checked, Refutation, ReplayedViolation};
use ir::{Program, Span};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the keys in SARIF logs.
pub const FINGERPRINT: &str = "threadproof/v2";
/// Where SARIF logs have the keys of what is open and has no line, and so no result.
pub const OPEN_CHECKS: &str = "openChecks";

/// The findings of an earlier report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    keys: BTreeSet<String>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub subject: Subject,
    /// What it is known by.
    pub key: String,
}

/// What a finding is about, by numbers in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An outcome with a violation.
    Violation(usize),
    /// An outcome that is unknown.
    Open(usize),
    /// A line of it.
    Line(usize, usize),
    /// A shared memory location that may race.
    Location(usize),
    /// An assumption that limits proofs.
    Unmodelled(usize),
}

impl Subject {
    /// Whether it is a violation.
    pub fn is_violation(self) -> bool {
        match self {
            Self::Violation(_) => true,
            Self::Open(_) | Self::Line(..) | Self::Location(_) | Self::Unmodelled(_) => false,
        }
    }
}

/// What is new in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// All findings, and whether each is known.
    pub findings: Vec<(Finding, bool)>,
    /// How many known findings are not there any more.
    pub gone: usize,
}

/// How the findings of a report compare with what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// There is a violation that is not known.
    NewViolation,
    /// There is something open that is not known.
    NewOpen,
    /// All is known.
    NothingNew,
}

impl News {
    /// Whether something is known already; `None` if it is no finding.
    pub fn is_known(&self, subject: Subject) -> Option<bool> {
        let mut all = self.findings.iter();
        all.find(|(finding, _)| finding.subject == subject).map(|(_, known)| *known)
    }

    /// The key of a finding.
    pub fn key(&self, subject: Subject) -> Option<&str> {
        let mut all = self.findings.iter();
        all.find(|(finding, _)| finding.subject == subject).map(|(finding, _)| finding.key.as_str())
    }

    /// The keys of what is open and has no line of its own.
    pub fn open_keys(&self) -> Vec<&str> {
        let has_no_line = |finding: &&(Finding, bool)| match finding.0.subject {
            Subject::Open(_) | Subject::Unmodelled(_) => true,
            Subject::Violation(_) | Subject::Line(..) | Subject::Location(_) => false,
        };
        self.findings.iter().filter(has_no_line).map(|(finding, _)| finding.key.as_str()).collect()
    }

    /// What is new, in a word.
    pub fn comparison(&self) -> Comparison {
        let new = || self.findings.iter().filter(|(_, known)| !known);
        match (new().next(), new().any(|(finding, _)| finding.subject.is_violation())) {
            (None, _) => Comparison::NothingNew,
            (Some(_), true) => Comparison::NewViolation,
            (Some(_), false) => Comparison::NewOpen,
        }
    }

    /// The numbers of findings that are new and known.
    pub fn counts(&self) -> (usize, usize) {
        let known = self.findings.iter().filter(|(_, known)| *known).count();
        (self.findings.len() - known, known)
    }
}

/// The parts of earlier reports that matter here: of JSON reports, and of SARIF logs.
#[derive(Deserialize)]
struct Document {
    format: Option<String>,
    findings: Option<Vec<Key>>,
    runs: Option<Vec<Run>>,
}

#[derive(Deserialize)]
struct Key {
    key: String,
}

#[derive(Deserialize)]
struct Run {
    tool: Tool,
    #[serde(default)]
    results: Vec<SarifResult>,
    #[serde(default)]
    properties: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize)]
struct Driver {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    #[serde(default)]
    partial_fingerprints: BTreeMap<String, String>,
}

impl Baseline {
    /// The findings of an earlier report, in JSON or SARIF; or why it is none.
    pub fn read(text: &str) -> Result<Self, String> {
        let document: Document =
            serde_json::from_str(text).map_err(|error| format!("it is no report: {error}"))?;
        let Document { format, findings, runs } = document;
        let mut keys = BTreeSet::new();
        match (format.as_deref(), findings, runs) {
            (Some("threadproof report 1"), Some(findings), None) => {
                keys.extend(findings.into_iter().map(|finding| finding.key));
            }
            (Some("threadproof report 1"), None, None) => {
                return Err("it is a report of a version that lists no findings".to_owned());
            }
            (None, None, Some(runs)) => {
                for run in runs.into_iter().filter(|run| run.tool.driver.name == "threadproof") {
                    for mut result in run.results {
                        keys.extend(result.partial_fingerprints.remove(FINGERPRINT));
                    }
                    let open = run.properties.get(OPEN_CHECKS).and_then(serde_json::Value::as_array);
                    let open = open.into_iter().flatten().filter_map(serde_json::Value::as_str);
                    keys.extend(open.map(str::to_owned));
                }
            }
            _ => {
                return Err("it is neither a JSON report of `threadproof verify` nor a SARIF log".to_owned());
            }
        }
        Ok(Self { keys })
    }

    /// What is new in a report.
    pub fn news(&self, report: &Report<'_>) -> News {
        let findings: Vec<(Finding, bool)> = findings(report)
            .into_iter()
            .map(|finding| {
                let is_known = self.keys.contains(&finding.key);
                (finding, is_known)
            })
            .collect();
        let there: BTreeSet<&str> = findings.iter().map(|(finding, _)| finding.key.as_str()).collect();
        let gone = self.keys.iter().filter(|key| !there.contains(key.as_str())).count();
        News { findings, gone }
    }
}

/// All findings of a report, in its order.
pub fn findings(report: &Report<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |subject: Subject, parts: &[&str]| {
        let hash = Sha256::digest(parts.join("\n"));
        let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let count = times.entry(hash.clone()).or_insert(0);
        *count += 1;
        let key = if *count == 1 { hash } else { format!("{hash}-{count}") };
        found.push(Finding { subject, key });
    };
    for (number, outcome) in report.outcomes.iter().enumerate() {
        let property = outcome.check.property_name();
        match &outcome.verdict {
            Checked::Proved(_) => {}
            Checked::Refuted(refutation) => {
                let about = violation(report, refutation);
                add(Subject::Violation(number), &["violation", property, &about]);
            }
            Checked::Unknown(_) => {
                let variable = outcome.variable.as_deref().map(unnumbered).unwrap_or_default();
                add(Subject::Open(number), &["open", property, &variable]);
                let lines = outcome.decisions.iter().flat_map(|decisions| &decisions.lines);
                for (index, line) in lines.enumerate().filter(|(_, line)| line.proved < line.checks) {
                    let text = text(report, report.program, line.span);
                    add(Subject::Line(number, index), &["line", property, &text]);
                }
            }
        }
    }
    if report.outcomes.iter().any(|outcome| matches!(outcome.verdict, Checked::Unknown(_))) {
        let mut texts: BTreeSet<&str> = BTreeSet::new();
        for (number, assumption) in report.program.assumptions.iter().enumerate() {
            if assumption.limits_proof && texts.insert(&assumption.text) {
                add(Subject::Unmodelled(number), &["unmodelled", &unnumbered(&assumption.text)]);
            }
        }
    }
    for (number, finding) in report.memory.iter().flat_map(|memory| &memory.locations).enumerate() {
        let file = file(report.program, finding.declared);
        match &finding.status {
            // It is an outcome of its own.
            Status::Race(_) | Status::RaceFree(_) => {}
            Status::Possible(_) | Status::Open(_) => {
                let (name, status) = (unnumbered(&finding.name), finding.status.name());
                add(Subject::Location(number), &["location", status, file, &name]);
            }
        }
    }
    found
}

/// What a violation is known by.
fn violation(report: &Report<'_>, refutation: &Refutation) -> String {
    let program = &refutation.program;
    let name = match &refutation.replayed.violation {
        ReplayedViolation::Race { name, declared, .. } => {
            return format!("race {} {}", file(program, *declared), unnumbered(name));
        }
        ReplayedViolation::Leak(leak) => unnumbered(&leak.name),
        ReplayedViolation::Error { .. } | ReplayedViolation::Deadlock(_) => String::new(),
    };
    let spans = human::complaint(refutation).into_iter().filter_map(|(_, span)| span);
    let mut lines: Vec<String> = spans.map(|span| text(report, program, span)).collect();
    lines.sort();
    format!("{name}\n{}", lines.join("\n"))
}

/// The text of a line, with its file.
fn text(report: &Report<'_>, program: &Program, span: Span) -> String {
    let line = report.sources.line(span).unwrap_or_default();
    format!("{} {}", file(program, span), line.trim())
}

fn file(program: &Program, span: Span) -> &str {
    program.files.get(span.file as usize).map_or("unknown", String::as_str)
}

/// A name without the numbers of lines in it, which change: `malloc in line 12`.
fn unnumbered(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once("line ") {
        out.push_str(before);
        out.push_str("line ");
        rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_both_formats_are_read() {
        let of =
            |text: &str| Baseline::read(text).map(|baseline| baseline.keys.into_iter().collect::<Vec<_>>());
        let json =
            r#"{"format": "threadproof report 1", "findings": [{"key": "b", "more": 1}, {"key": "a"}]}"#;
        assert_eq!(of(json), Ok(vec!["a".to_owned(), "b".to_owned()]));
        let sarif = r#"{"version": "2.1.0", "runs": [
            {"tool": {"driver": {"name": "threadproof"}}, "properties": {"openChecks": ["o"]}, "results": [
                {"partialFingerprints": {"threadproof/v2": "x", "threadproof/v1": "y"}}, {"level": "note"}]},
            {"tool": {"driver": {"name": "other"}}, "results": [{"partialFingerprints": {"threadproof/v2": "z"}}]}
        ]}"#;
        assert_eq!(of(sarif), Ok(vec!["o".to_owned(), "x".to_owned()]));
        for (text, why) in [
            ("", "it is no report"),
            ("{}", "neither"),
            (r#"{"format": "threadproof batch 1", "jobs": []}"#, "neither"),
            (r#"{"format": "threadproof report 1"}"#, "lists no findings"),
        ] {
            assert!(of(text).is_err_and(|error| error.contains(why)), "{text}");
        }
    }

    #[test]
    fn numbers_of_lines_are_no_part_of_names() {
        assert_eq!(unnumbered("malloc in line 12[3], line 4"), "malloc in line [3], line ");
        assert_eq!(unnumbered("table[2]"), "table[2]");
    }

    #[test]
    fn a_new_violation_counts_more_than_something_open() {
        let of = |subjects: &[(Subject, bool)]| {
            let finding = |(subject, known): &(Subject, bool)| {
                (Finding { subject: *subject, key: String::new() }, *known)
            };
            News { findings: subjects.iter().map(finding).collect(), gone: 0 }.comparison()
        };
        assert_eq!(of(&[]), Comparison::NothingNew);
        assert_eq!(of(&[(Subject::Violation(0), true)]), Comparison::NothingNew);
        let open = (Subject::Line(1, 0), false);
        assert_eq!(of(&[(Subject::Violation(0), true), open]), Comparison::NewOpen);
        assert_eq!(of(&[open, (Subject::Violation(0), false)]), Comparison::NewViolation);
    }
}
