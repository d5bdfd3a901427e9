//! The report for programs: one JSON object.

use crate::sources::position;
use crate::{Answer, Outcome};
use checker::{Checked, Refutation, ReplayedViolation};
use ir::Program;
use serde::Serialize;
use verdict::{Decisions, Proof};

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    version: &'static str,
    verdict: String,
    checks: Vec<CheckResult<'a>>,
    assumptions: Vec<AssumptionEntry<'a>>,
}

#[derive(Serialize)]
struct CheckResult<'a> {
    check: &'static str,
    property: &'static str,
    verdict: &'static str,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What was tried, in the order in which it ended.
    tries: Vec<TriedEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolationEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<DecisionsEntry<'a>>,
}

/// What one engine came to.
#[derive(Serialize)]
struct TriedEntry {
    engine: &'static str,
    seconds: f64,
    checking_seconds: f64,
    end: String,
}

/// What is known of each check, where the whole is not known.
#[derive(Serialize)]
struct DecisionsEntry<'a> {
    /// Whether all checks are listed, not only those that are open.
    complete: bool,
    checks: usize,
    proved: usize,
    /// What all that is proved takes for granted.
    given: Vec<AssumptionEntry<'a>>,
    lines: Vec<DecisionEntry<'a>>,
}

#[derive(Serialize)]
struct DecisionEntry<'a> {
    position: String,
    checks: usize,
    proved: usize,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    why: &'a [String],
}

#[derive(Serialize)]
struct AssumptionEntry<'a> {
    position: String,
    text: &'a str,
    limits_proof: bool,
}

#[derive(Serialize)]
struct ViolationEntry<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'a str>,
    places: Vec<PlaceEntry>,
    threads: Vec<&'a str>,
    steps: Vec<StepEntry<'a>>,
}

#[derive(Serialize)]
struct PlaceEntry {
    thread: usize,
    position: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<&'static str>,
}

#[derive(Serialize)]
struct StepEntry<'a> {
    thread: usize,
    position: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ChangeEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts: Option<usize>,
}

/// Values are text: JSON's numbers are not exact enough.
#[derive(Serialize)]
struct ChangeEntry<'a> {
    name: &'a str,
    old: Option<String>,
    new: Option<String>,
}

/// Renders all outcomes.
pub fn render(program: &Program, outcomes: &[Outcome], answer: &Answer) -> String {
    let document = Document {
        tool: "threadproof",
        version: env!("CARGO_PKG_VERSION"),
        verdict: answer.to_string(),
        checks: outcomes.iter().map(|outcome| check_result(program, outcome)).collect(),
        assumptions: assumption_entries(program, &program.assumptions),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("the document has text keys only");
    text.push('\n');
    text
}

fn assumption_entries<'a>(program: &Program, all: &'a [ir::Assumption]) -> Vec<AssumptionEntry<'a>> {
    let entry = |assumption: &'a ir::Assumption| AssumptionEntry {
        position: position(program, assumption.span),
        text: &assumption.text,
        limits_proof: assumption.limits_proof,
    };
    all.iter().map(entry).collect()
}

fn decisions_entry<'a>(program: &Program, found: &'a Decisions) -> DecisionsEntry<'a> {
    let lines = found.lines.iter().map(|line| DecisionEntry {
        position: position(program, line.span),
        checks: line.checks,
        proved: line.proved,
        why: &line.why,
    });
    DecisionsEntry {
        complete: found.complete,
        checks: found.checks(),
        proved: found.proved(),
        given: assumption_entries(program, &found.given),
        lines: lines.collect(),
    }
}

fn check_result<'a>(program: &Program, outcome: &'a Outcome) -> CheckResult<'a> {
    let (verdict, reason, states, violation) = match &outcome.verdict {
        Checked::Proved(Proof::Exhaustive { states, .. }) => ("true", None, Some(*states), None),
        Checked::Proved(
            Proof::NoErrorLocation
            | Proof::OneThread
            | Proof::Flow(_)
            | Proof::Product(_)
            | Proof::Modular(_)
            | Proof::Queries(_)
            | Proof::States(_)
            | Proof::Abstraction(_)
            | Proof::Context(_)
            | Proof::Runs(_),
        ) => ("true", None, None, None),
        Checked::Refuted(refutation) => ("false", None, None, Some(violation_entry(refutation))),
        Checked::Unknown(reason) => ("unknown", Some(reason.to_string()), None, None),
    };
    let (check, property) = (outcome.check.name(), outcome.check.property_name());
    let decisions = outcome.decisions.as_ref().map(|found| decisions_entry(program, found));
    let tries = outcome.tries.iter().map(|tried| TriedEntry {
        engine: tried.engine,
        seconds: tried.seconds,
        checking_seconds: tried.checking,
        end: tried.end.to_string(),
    });
    CheckResult {
        check,
        property,
        verdict,
        seconds: outcome.seconds,
        reason,
        tries: tries.collect(),
        states,
        violation,
        decisions,
    }
}

fn violation_entry(refutation: &Refutation) -> ViolationEntry<'_> {
    let Refutation { program, replayed, .. } = refutation;
    let (kind, variable, places) = match &replayed.violation {
        ReplayedViolation::Error { thread, span, .. } => (
            "error",
            None,
            vec![PlaceEntry { thread: *thread, position: position(program, *span), access: None }],
        ),
        ReplayedViolation::Race { name, accesses, .. } => {
            let place = |access: &checker::NamedAccess| PlaceEntry {
                thread: access.thread,
                position: position(program, access.span),
                access: Some(if access.access.write { "write" } else { "read" }),
            };
            ("race", Some(name.as_str()), accesses.iter().map(place).collect())
        }
        ReplayedViolation::Deadlock(waits) => {
            let place = |wait: &checker::ReplayedWait| PlaceEntry {
                thread: wait.thread,
                position: position(program, wait.span),
                access: None,
            };
            ("deadlock", None, waits.iter().map(place).collect())
        }
    };
    let steps = replayed.steps.iter().map(|step| StepEntry {
        thread: step.thread,
        position: position(program, step.span),
        changes: step
            .memory
            .iter()
            .chain(&step.locals)
            .map(|change| ChangeEntry {
                name: &change.name,
                old: change.old.map(|value| value.to_string()),
                new: change.new.map(|value| value.to_string()),
            })
            .collect(),
        choices: step.choices.iter().map(ToString::to_string).collect(),
        starts: step.created,
    });
    let threads = replayed.threads.iter().map(|thread| thread.name.as_str()).collect();
    ViolationEntry { kind, variable, places, threads, steps: steps.collect() }
}
