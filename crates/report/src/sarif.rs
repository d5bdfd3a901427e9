//! The report for code-scanning tools: a SARIF 2.1.0 log with one result for each violation, and one of kind `open` for each line with a
//! check that is neither proved nor refuted.

use crate::Outcome;
use checker::{Checked, Refutation, ReplayedViolation};
use ir::{Program, Span};
use serde_json::{Value, json};
use verdict::Decision;

/// Renders all violations, and what is open.
pub fn render(program: &Program, outcomes: &[Outcome]) -> String {
    let results: Vec<Value> = outcomes
        .iter()
        .flat_map(|outcome| {
            let rule = outcome.check.property_name();
            match &outcome.verdict {
                Checked::Refuted(refutation) => vec![result(rule, refutation)],
                Checked::Proved(_) => Vec::new(),
                Checked::Unknown(_) => {
                    let lines = outcome.decisions.iter().flat_map(|decisions| &decisions.lines);
                    let open = lines.filter(|line| line.proved < line.checks);
                    open.map(|line| open_result(program, rule, line)).collect()
                }
            }
        })
        .collect();
    let rules: Vec<Value> =
        outcomes.iter().map(|outcome| json!({ "id": outcome.check.property_name() })).collect();
    let driver = json!({ "name": "threadproof", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let log = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": driver }, "results": results }] });
    format!("{log:#}\n")
}

fn result(rule: &str, refutation: &Refutation) -> Value {
    let Refutation { program, replayed, .. } = refutation;
    let (message, spans) = match &replayed.violation {
        ReplayedViolation::Error { span, .. } => ("The violation can be reached.".to_owned(), vec![*span]),
        ReplayedViolation::Race { name, accesses, .. } => {
            (format!("Data race on `{name}`."), accesses.iter().map(|access| access.span).collect())
        }
        ReplayedViolation::Deadlock(waits) => {
            ("These threads wait for one another.".to_owned(), waits.iter().map(|wait| wait.span).collect())
        }
    };
    let locations: Vec<Value> = spans.iter().map(|span| location(program, *span)).collect();
    let steps: Vec<Value> = replayed
        .steps
        .iter()
        .filter(|step| step.span.line > 0)
        .map(|step| {
            let mut at = location(program, step.span);
            at["message"] = json!({ "text": format!("thread {}", step.thread) });
            json!({ "location": at })
        })
        .collect();
    json!({
        "ruleId": rule,
        "level": "error",
        "message": { "text": message },
        "locations": locations,
        "codeFlows": [{ "threadFlows": [{ "locations": steps }] }],
    })
}

fn open_result(program: &Program, rule: &str, line: &Decision) -> Value {
    json!({
        "ruleId": rule,
        "kind": "open",
        "level": "none",
        "message": { "text": format!("Not proved: {}.", line.why.join("; or ")) },
        "locations": [location(program, line.span)],
    })
}

fn location(program: &Program, span: Span) -> Value {
    let file = program.files.get(span.file as usize).map_or("?", String::as_str);
    let region = match span.column {
        0 => json!({ "startLine": span.line.max(1) }),
        column => json!({ "startLine": span.line.max(1), "startColumn": column }),
    };
    json!({ "physicalLocation": { "artifactLocation": { "uri": file }, "region": region } })
}
