//! The findings of a verification in the form of the protocol: diagnostics of files, facts at lines, and
//! reports about violations.

use super::address::uri_of;
use super::state::place;
use checker::Checked;
use ir::diagnostic::{Diagnostic, Kind};
use ir::{Program, Span};
use portfolio::pipeline;
use report::html::Extras;
use report::shared_memory::{Finding, Status};
use report::{Answer, Outcome, Report, SharedMemory, Sources};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use verdict::{Check, Listing};

/// Severities of the protocol.
const ERROR: u32 = 1;
const INFORMATION: u32 = 3;
const HINT: u32 = 4;
/// The most shared memory locations that are reported.
const MOST_LOCATIONS: usize = 100;

/// A diagnostic of a file.
struct FileDiagnostic {
    /// Which outcome refutes.
    violation: Option<usize>,
    diagnostic: Value,
}

/// The findings of a verification.
#[derive(Default)]
pub struct Findings {
    input: Arc<(Program, Sources)>,
    outcomes: Vec<Outcome>,
    listing: Option<Listing>,
    /// By file paths.
    diagnostics: BTreeMap<PathBuf, Vec<FileDiagnostic>>,
}

impl Findings {
    /// The findings about a program. Findings without a line are reported at the first line of the document.
    pub fn new(
        document: &Path,
        input: Arc<(Program, Sources)>,
        outcomes: Vec<Outcome>,
        listing: Option<Listing>,
        memory: Option<&SharedMemory>,
    ) -> Self {
        let mut findings = Self { input, outcomes, listing, diagnostics: BTreeMap::new() };
        for index in 0..findings.outcomes.len() {
            findings.tell(document, index);
        }
        for finding in memory.iter().flat_map(|memory| &memory.locations).take(MOST_LOCATIONS) {
            findings.tell_location(finding);
        }
        findings
    }

    /// What is open while the search for races is running. The diagnostics say in their data that they are
    /// preliminary.
    pub fn preliminary(document: &Path, input: Arc<(Program, Sources)>, memory: &SharedMemory) -> Self {
        let mut findings = Self::new(document, input, Vec::new(), None, Some(memory));
        for found in findings.diagnostics.values_mut().flatten() {
            found.diagnostic["data"] = json!({ "preliminary": true });
        }
        findings
    }

    /// Adds diagnostics for a shared memory location that may race: one at each access.
    fn tell_location(&mut self, finding: &Finding) {
        let pair = match &finding.status {
            Status::Open(pairs) => pairs.first().and_then(|pair| finding.pair(*pair)),
            Status::Possible(possible) => {
                possible.pair.and_then(|pair| finding.pair(pair)).or_else(|| finding.pair((0, 1)))
            }
            Status::Race(_) | Status::RaceFree(_) => None,
        };
        let Some(pair) = pair else { return };
        let severity = if matches!(finding.status, Status::Open(_)) { HINT } else { INFORMATION };
        let input = self.input.clone();
        let (program, sources) = (&input.0, &input.1);
        let text =
            format!("{} data race on `{}`: {}", finding.status.name(), finding.name, finding.because());
        let related: Vec<Value> = pair
            .iter()
            .filter(|access| access.span.line > 0)
            .map(|access| {
                let location = json!({
                    "uri": uri_of(&file(program, access.span)),
                    "range": range(sources, access.span),
                });
                let what = format!("{} {}, {}", access.thread, access.verb(), access.held());
                json!({ "location": location, "message": what })
            })
            .collect();
        let mut spans: Vec<Span> = Vec::new();
        for access in pair {
            if access.span.line > 0 && !spans.contains(&access.span) {
                spans.push(access.span);
            }
        }
        for span in spans {
            let code = Check::Races.property_name();
            let mut one = diagnostic(range(sources, span), severity, code, &text);
            one["relatedInformation"] = Value::Array(related.clone());
            self.add(&file(program, span), None, one);
        }
    }

    /// Findings for a program that cannot be read, or a failed verification.
    pub fn unread(document: &Path, problems: &[Diagnostic]) -> Self {
        let mut findings = Self::default();
        for problem in problems {
            let path = problem.file.as_ref().map_or_else(|| document.to_owned(), PathBuf::from);
            let (line, column) = (problem.line.max(1) - 1, problem.column.max(1) - 1);
            let range = json!({
                "start": { "line": line, "character": column },
                "end": { "line": line, "character": column + 1 },
            });
            // While editing, an incomplete program is no error.
            let severity = if problem.kind == Kind::NoStart { INFORMATION } else { ERROR };
            findings.add(&path, None, diagnostic(range, severity, "input", &problem.text()));
        }
        findings
    }

    fn add(&mut self, path: &Path, violation: Option<usize>, diagnostic: Value) {
        self.diagnostics.entry(place(path)).or_default().push(FileDiagnostic { violation, diagnostic });
    }

    /// Adds diagnostics for one outcome.
    fn tell(&mut self, document: &Path, index: usize) {
        let input = self.input.clone();
        let (program, sources) = (&input.0, &input.1);
        let mut found: Vec<(PathBuf, Option<usize>, Value)> = Vec::new();
        let outcome = &self.outcomes[index];
        let code = outcome.check.property_name();
        match &outcome.verdict {
            Checked::Proved(_) => {}
            Checked::Refuted(refutation) => {
                let complaint = report::human::complaint(refutation);
                let text: Vec<&str> = complaint.iter().map(|(text, _)| text.as_str()).collect();
                let text = text.join("; ");
                let program = &refutation.program;
                let mut spans: Vec<Span> = Vec::new();
                for (_, span) in &complaint {
                    spans.extend(span.filter(|span| span.line > 0 && !spans.contains(span)));
                }
                for span in &spans {
                    let mut one = diagnostic(range(sources, *span), ERROR, code, &text);
                    let related = complaint.iter().filter_map(|(text, at)| Some((text, (*at)?)));
                    let related: Vec<Value> = related
                        .filter(|(_, at)| at.line > 0)
                        .map(|(text, at)| {
                            let location =
                                json!({ "uri": uri_of(&file(program, at)), "range": range(sources, at) });
                            json!({ "location": location, "message": text })
                        })
                        .collect();
                    one["relatedInformation"] = Value::Array(related);
                    found.push((file(program, *span), Some(index), one));
                }
                if spans.is_empty() {
                    found.push((
                        document.to_owned(),
                        Some(index),
                        diagnostic(first_line(), ERROR, code, &text),
                    ));
                }
            }
            Checked::Unknown(reason) => {
                let lines = outcome.decisions.iter().flat_map(|decisions| &decisions.lines);
                let open: Vec<_> =
                    lines.filter(|line| line.proved < line.checks && line.span.line > 0).collect();
                for line in &open {
                    let text = format!("not proved: {}", line.why.join("; or "));
                    let one = diagnostic(range(sources, line.span), HINT, code, &text);
                    found.push((file(program, line.span), None, one));
                }
                if open.is_empty() {
                    let text = format!("{}: unknown: {reason}", outcome.check.name());
                    found.push((
                        document.to_owned(),
                        None,
                        diagnostic(first_line(), INFORMATION, code, &text),
                    ));
                }
            }
        }
        for (path, violation, diagnostic) in found {
            self.add(&path, violation, diagnostic);
        }
    }

    /// The files with diagnostics.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.diagnostics.keys().cloned().collect()
    }

    /// The diagnostics of a file.
    pub fn diagnostics(&self, path: &Path) -> Vec<Value> {
        self.diagnostics.get(path).into_iter().flatten().map(|found| found.diagnostic.clone()).collect()
    }

    /// The facts at a line, in Markdown.
    pub fn known_at(&self, path: &Path, line: u32) -> Option<String> {
        let program = &self.input.0;
        let listing = self.listing.as_ref()?;
        let here = listing.lines.iter().filter(|known| known.span.line == line);
        let here = here.filter(|known| is_file(program, known.span, path));
        let mut notes: Vec<String> = Vec::new();
        for known in here {
            for note in report::listing::notes(program, None, known) {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        if notes.is_empty() {
            return None;
        }
        // The names in it come from the program.
        let rows: Vec<String> = notes.iter().map(|note| format!("- `{}`", note.replace('`', "'"))).collect();
        Some(format!("Whenever a thread is about to run this line:\n\n{}", rows.join("\n")))
    }

    /// The violations that are reported at some lines of a file, from 0, with their diagnostics.
    pub fn violations_at(&self, path: &Path, first: u64, last: u64) -> Vec<(usize, Value)> {
        let found = self.diagnostics.get(path).into_iter().flatten();
        found
            .filter_map(|found| Some((found.violation?, found.diagnostic.clone())))
            .filter(|(_, diagnostic)| {
                diagnostic["range"]["start"]["line"]
                    .as_u64()
                    .is_some_and(|line| (first..=last).contains(&line))
            })
            .collect()
    }

    fn about<T>(&self, index: usize, render: impl FnOnce(&Report<'_>, &Outcome) -> T) -> Option<T> {
        let outcome = self.outcomes.get(index)?;
        let outcomes = std::slice::from_ref(outcome);
        let answer = Answer::of(outcomes, &[]);
        let (program, sources) = (&self.input.0, &self.input.1);
        let report = Report {
            program,
            sources,
            outcomes,
            answer: &answer,
            explain: false,
            stories: &[],
            memory: None,
            baseline: None,
        };
        Some(render(&report, outcome))
    }

    /// The report about a violation, in Markdown.
    pub fn text(&self, index: usize) -> Option<String> {
        self.about(index, |report, _| report::markdown::render(report))
    }

    /// The page about a violation.
    pub fn page(&self, index: usize) -> Option<String> {
        self.about(index, |report, outcome| {
            let lowered = pipeline::prepare(report.program, outcome.check);
            report::html::render(
                report,
                &Extras { lowered: &lowered, listing: self.listing.as_ref(), contexts: &[] },
            )
        })
    }
}

fn diagnostic(range: Value, severity: u32, code: &str, message: &str) -> Value {
    json!({ "range": range, "severity": severity, "code": code, "source": "threadproof", "message": message })
}

fn file(program: &Program, span: Span) -> PathBuf {
    PathBuf::from(program.files.get(span.file as usize).map_or("", String::as_str))
}

fn is_file(program: &Program, span: Span, path: &Path) -> bool {
    place(&file(program, span)) == path
}

fn first_line() -> Value {
    json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } })
}

/// The range from a span to the end of its line.
fn range(sources: &Sources, span: Span) -> Value {
    let text = sources.whole_line(span).unwrap_or_default();
    let units = |text: &str| text.chars().map(char::len_utf16).sum::<usize>();
    let before: String = match span.column {
        0 => text.chars().take_while(|letter| letter.is_whitespace()).collect(),
        column => text.chars().take(column as usize - 1).collect(),
    };
    let line = span.line.max(1) - 1;
    let (start, end) = (units(&before), units(text.trim_end()));
    json!({
        "start": { "line": line, "character": start },
        "end": { "line": line, "character": end.max(start + 1) },
    })
}
