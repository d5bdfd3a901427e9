//! The report for code-scanning tools: a SARIF 2.1.0 log with one result for each violation.

use crate::Outcome;
use checker::{Checked, Refutation, ReplayedViolation};
use ir::{Program, Span};
use serde_json::{Value, json};

/// Renders all violations.
pub fn render(outcomes: &[Outcome]) -> String {
    let results: Vec<Value> = outcomes
        .iter()
        .filter_map(|outcome| match &outcome.verdict {
            Checked::Refuted(refutation) => Some(result(outcome.check.property_name(), refutation)),
            Checked::Proved(_) | Checked::Unknown(_) => None,
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

fn location(program: &Program, span: Span) -> Value {
    let file = program.files.get(span.file as usize).map_or("?", String::as_str);
    let region = match span.column {
        0 => json!({ "startLine": span.line.max(1) }),
        column => json!({ "startLine": span.line.max(1), "startColumn": column }),
    };
    json!({ "physicalLocation": { "artifactLocation": { "uri": file }, "region": region } })
}
