//! The report for programs: one JSON object. Its schema is `docs/report.schema.json`.

use crate::baseline::{self, Subject};
use crate::human;
use crate::interleaving::Interleaving;
use crate::shared_memory::{Finding, FoundAccess, Status};
use crate::sources::position;
use crate::{Outcome, Report, SharedMemory};
use checker::{Checked, Refutation, ReplayedViolation};
use ir::Program;
use serde::Serialize;
use verdict::{Check, Decisions, Proof};

#[derive(Serialize)]
struct Document<'a> {
    /// The version of the schema.
    format: &'static str,
    tool: &'static str,
    version: &'static str,
    verdict: String,
    checks: Vec<CheckResult<'a>>,
    /// Races on each shared memory location, if analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<Vec<LocationEntry<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<ReachedEntry>,
    /// Why locations may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<&'a str>,
    assumptions: Vec<AssumptionEntry<'a>>,
    /// What was found, by keys that do not change when lines move.
    findings: Vec<FindingEntry>,
}

#[derive(Serialize)]
struct FindingEntry {
    key: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'static str>,
    /// Whether it is in the baseline, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
}

/// What is known of races on one location.
#[derive(Serialize)]
struct LocationEntry<'a> {
    name: &'a str,
    declared: String,
    status: &'static str,
    because: String,
    accesses: Vec<AccessEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more_accesses: Option<usize>,
}

#[derive(Serialize)]
struct AccessEntry<'a> {
    file: &'a str,
    line: u32,
    kind: &'static str,
    thread: &'a str,
    locks: &'a [String],
}

/// How much of the program is reached.
#[derive(Serialize)]
struct ReachedEntry {
    functions: usize,
    thread_starts: usize,
    of_functions: usize,
    of_thread_starts: usize,
}

#[derive(Serialize)]
struct CheckResult<'a> {
    check: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'a str>,
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
    proof: Option<ProofEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolationEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<DecisionsEntry<'a>>,
}

/// Why a property holds.
#[derive(Serialize)]
struct ProofEntry<'a> {
    summary: String,
    /// The story of the proof, if requested.
    claims: Vec<ClaimEntry<'a>>,
}

#[derive(Serialize)]
struct ClaimEntry<'a> {
    about: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    text: &'a str,
}

/// The result of one engine.
#[derive(Serialize)]
struct TriedEntry {
    engine: &'static str,
    started: f64,
    seconds: f64,
    checking_seconds: f64,
    end: String,
}

/// The status of each check, if the whole is not known.
#[derive(Serialize)]
struct DecisionsEntry<'a> {
    /// Whether all checks are listed, not only those that are open.
    complete: bool,
    checks: usize,
    proved: usize,
    /// The assumptions of everything that is proved.
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
    /// The same execution by source lines, with the held locks and the violation.
    lines: Vec<LineEntry>,
}

#[derive(Serialize)]
struct LineEntry {
    thread: usize,
    position: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    effects: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    holds: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
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
pub fn render(report: &Report<'_>) -> String {
    let Report { program, outcomes, answer, .. } = *report;
    let document = Document {
        format: "threadproof report 1",
        tool: "threadproof",
        version: env!("CARGO_PKG_VERSION"),
        verdict: answer.to_string(),
        checks: outcomes.iter().map(|outcome| check_result(report, outcome)).collect(),
        locations: report.memory.map(|memory| location_entries(program, memory)),
        reached: report.memory.map(|memory| ReachedEntry {
            functions: memory.reached.functions.0,
            thread_starts: memory.reached.thread_starts.0,
            of_functions: memory.reached.functions.1,
            of_thread_starts: memory.reached.thread_starts.1,
        }),
        incomplete: report.memory.and_then(|memory| memory.incomplete.as_deref()),
        assumptions: assumption_entries(program, &program.assumptions),
        findings: finding_entries(report),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("the document has text keys only");
    text.push('\n');
    text
}

fn finding_entries(report: &Report<'_>) -> Vec<FindingEntry> {
    let news = report.baseline.cloned().unwrap_or_default().news(report);
    let entry = |(finding, is_known): (baseline::Finding, bool)| {
        let property = |number: usize| Some(report.outcomes[number].check.property_name());
        let (kind, property) = match finding.subject {
            Subject::Violation(number) => ("violation", property(number)),
            Subject::Open(number) => ("open check", property(number)),
            Subject::Line(number, _) => ("open line", property(number)),
            Subject::Location(_) => ("open location", Some(Check::Races.property_name())),
            Subject::Unmodelled(_) => ("not modelled", None),
        };
        FindingEntry { key: finding.key, kind, property, known: report.baseline.map(|_| is_known) }
    };
    news.findings.into_iter().map(entry).collect()
}

fn location_entries<'a>(program: &'a Program, memory: &'a SharedMemory) -> Vec<LocationEntry<'a>> {
    let limits = program.assumptions.iter().filter(|assumption| assumption.limits_proof);
    let mut texts: Vec<&str> = Vec::new();
    for assumption in limits {
        if !texts.contains(&assumption.text.as_str()) {
            texts.push(&assumption.text);
        }
    }
    let assuming = match (memory.conditional, texts.as_slice()) {
        (true, [first]) => format!("; assuming: {first}"),
        (true, [first, rest @ ..]) => {
            format!("; assuming: {first}; and {} more, see `assumptions`", rest.len())
        }
        (true, []) | (false, _) => String::new(),
    };
    let entry = |finding: &'a Finding| LocationEntry {
        name: &finding.name,
        declared: position(program, finding.declared),
        status: finding.status.name(),
        because: match &finding.status {
            Status::RaceFree(_) => finding.because() + &assuming,
            Status::Race(_) | Status::Possible(_) | Status::Open(_) => finding.because(),
        },
        accesses: finding.accesses.iter().map(|access| access_entry(program, access)).collect(),
        more_accesses: Some(finding.more).filter(|more| *more > 0),
    };
    memory.locations.iter().map(entry).collect()
}

fn access_entry<'a>(program: &'a Program, access: &'a FoundAccess) -> AccessEntry<'a> {
    AccessEntry {
        file: program.files.get(access.span.file as usize).map_or("?", String::as_str),
        line: access.span.line,
        kind: access.kind(),
        thread: &access.thread,
        locks: &access.locks,
    }
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

fn check_result<'a>(report: &Report<'a>, outcome: &'a Outcome) -> CheckResult<'a> {
    let program = report.program;
    let (verdict, reason, states, violation) = match &outcome.verdict {
        Checked::Proved(Proof::Exhaustive { states, .. }) => ("true", None, Some(*states), None),
        Checked::Proved(
            Proof::NoErrorLocation
            | Proof::OneThread
            | Proof::LockOrder(_)
            | Proof::Flow(_)
            | Proof::Product(_)
            | Proof::Modular(_)
            | Proof::Summaries(_)
            | Proof::Owned(_)
            | Proof::Queries(_)
            | Proof::Spec(_)
            | Proof::States(_)
            | Proof::Abstraction(_)
            | Proof::Context(_)
            | Proof::Runs(_),
        ) => ("true", None, None, None),
        Checked::Refuted(refutation) => ("false", None, None, Some(violation_entry(report, refutation))),
        Checked::Unknown(reason) => ("unknown", Some(reason.to_string()), None, None),
    };
    let (check, property) = (outcome.check.name(), outcome.check.property_name());
    let decisions = outcome.decisions.as_ref().map(|found| decisions_entry(program, found));
    let tries = outcome.tries.iter().map(|tried| TriedEntry {
        engine: tried.engine,
        started: tried.started,
        seconds: tried.seconds,
        checking_seconds: tried.checking,
        end: tried.end.to_string(),
    });
    let proof = match &outcome.verdict {
        Checked::Proved(proof) => {
            let parts = report.story(outcome.check).map(|story| story.parts.as_slice()).unwrap_or_default();
            let claims = parts.iter().flat_map(|part| {
                part.claims.iter().map(|claim| ClaimEntry {
                    about: &part.title,
                    position: claim.span.map(|span| position(program, span)),
                    text: &claim.text,
                })
            });
            Some(ProofEntry { summary: human::reason(proof), claims: claims.collect() })
        }
        Checked::Refuted(_) | Checked::Unknown(_) => None,
    };
    CheckResult {
        check,
        variable: outcome.variable.as_deref(),
        property,
        verdict,
        seconds: outcome.seconds,
        reason,
        tries: tries.collect(),
        states,
        proof,
        violation,
        decisions,
    }
}

fn violation_entry<'a>(report: &Report<'_>, refutation: &'a Refutation) -> ViolationEntry<'a> {
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
        ReplayedViolation::Leak(leak) => {
            let place = |thread, span| PlaceEntry { thread, position: position(program, span), access: None };
            let places = vec![place(leak.thread, leak.allocated), place(leak.last, leak.end)];
            ("leak", Some(leak.name.as_str()), places)
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
    let interleaving = Interleaving::of(refutation, report.sources);
    let lines = interleaving.rows.iter().map(|row| LineEntry {
        thread: row.thread,
        position: position(program, row.span),
        effects: row.effects(),
        holds: row.held.clone(),
        waits: row.waits.clone(),
        wrong: row.mark.clone(),
    });
    ViolationEntry { kind, variable, places, threads, steps: steps.collect(), lines: lines.collect() }
}
