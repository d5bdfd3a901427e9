//! The report for code-scanning tools: a SARIF 2.1.0 log with one result for each violation, and one of kind
//! `open` for each line with a check that is neither proved nor refuted; and a note for each shared memory
//! location that may race, with both accesses.
//!
//! It has what GitHub's code scanning requires: rules with descriptions and help, addresses of files relative
//! to where the tool ran, fingerprints, and the execution as a code flow with one thread flow for each
//! thread, whose locations say in which order they happen.

use crate::baseline::{self, Subject};
use crate::interleaving::Interleaving;
use crate::shared_memory::{Finding, FoundAccess, Status, table};
use crate::{Report, human};
use checker::{Checked, Refutation};
use ir::{Program, Span};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use verdict::{Check, Decision};

/// GitHub's limit on the locations of a result.
const MOST_LOCATIONS: usize = 1000;
/// The most open memory locations that become results.
const MOST_OPEN: usize = 500;

/// Renders all violations and open checks.
pub fn render(report: &Report<'_>) -> String {
    let mut rules: Vec<Check> = Vec::new();
    for outcome in report.outcomes {
        if !rules.iter().any(|rule| rule.property_name() == outcome.check.property_name()) {
            rules.push(outcome.check);
        }
    }
    let news = report.baseline.cloned().unwrap_or_default().news(report);
    let marked = |mut result: Value, subject: Subject| {
        if let Some(key) = news.key(subject) {
            result["partialFingerprints"][baseline::FINGERPRINT] = json!(key);
        }
        if let (Some(_), Some(is_known)) = (report.baseline, news.is_known(subject)) {
            result["baselineState"] = json!(if is_known { "unchanged" } else { "new" });
        }
        result
    };
    let mut results: Vec<Value> = Vec::new();
    for (number, outcome) in report.outcomes.iter().enumerate() {
        let name = outcome.check.property_name();
        let index = rules.iter().position(|rule| rule.property_name() == name).unwrap_or(0);
        let rule = (name, index);
        match &outcome.verdict {
            Checked::Refuted(refutation) => {
                results.push(marked(result(report, rule, refutation), Subject::Violation(number)));
            }
            Checked::Proved(_) => {}
            Checked::Unknown(_) => {
                let lines = outcome.decisions.iter().flat_map(|decisions| &decisions.lines).enumerate();
                let open = lines.filter(|(_, line)| line.proved < line.checks);
                results.extend(open.map(|(index, line)| {
                    marked(open_result(report.program, rule, line), Subject::Line(number, index))
                }));
            }
        }
    }
    if let (Some(memory), Some(index)) = (report.memory, rules.iter().position(|rule| *rule == Check::Races))
    {
        let rule = (Check::Races.property_name(), index);
        let is_open = |(_, finding): &(usize, &Finding)| match &finding.status {
            Status::Race(_) | Status::RaceFree(_) => false,
            Status::Possible(_) | Status::Open(_) => true,
        };
        let open = memory.locations.iter().enumerate().filter(is_open).take(MOST_OPEN);
        results.extend(open.filter_map(|(number, finding)| {
            Some(marked(open_location(report, rule, finding)?, Subject::Location(number)))
        }));
    }
    let driver = json!({
        "name": "threadproof",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules.iter().map(|check| rule(*check)).collect::<Vec<_>>(),
    });
    let assumptions: Vec<&str> =
        report.program.assumptions.iter().map(|assumption| assumption.text.as_str()).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "verdict": report.answer.to_string(),
                "assumptions": assumptions,
                // A result has a line.
                baseline::OPEN_CHECKS: news.open_keys(),
            },
        }],
    });
    format!("{log:#}\n")
}

/// What a rule is about.
fn rule(check: Check) -> Value {
    let (name, short, help) = match check {
        Check::Assertions | Check::ReachError => (
            "ErrorReached",
            "An assertion can fail, or the error function can be called.",
            "Follow the execution thread by thread: the last location is the check that fails. Make the steps before it exclude one another, or correct the condition.",
        ),
        Check::Races => (
            "DataRace",
            "Two threads can access the same memory at the same time, and one of them writes.",
            "Hold the same lock at both accesses, make both atomic, or order them by starting and joining threads.",
        ),
        Check::Bounds => (
            "InvalidAccess",
            "An access can be outside of any live object.",
            "Check the pointer or the index before the access, and that the object still lives.",
        ),
        Check::Deref => (
            "InvalidDereference",
            "An access can be outside of any live object.",
            "Check the pointer or the index before the access, and that the object still lives.",
        ),
        Check::Free => (
            "InvalidFree",
            "Memory can be freed that was not allocated, or that was freed before.",
            "Let one owner free each object, once, by the pointer that the allocation gave.",
        ),
        Check::Memtrack => (
            "LostMemory",
            "Allocated memory can become unreachable before it is freed.",
            "Free the memory before the last pointer to it is overwritten or goes out of scope.",
        ),
        Check::Memcleanup => (
            "LeftMemory",
            "Memory can still be allocated when the program ends.",
            "Free what is allocated on all paths to the end of the program.",
        ),
        Check::Overflow => (
            "SignedOverflow",
            "A signed operation can overflow.",
            "Bound the operands, or use an unsigned or a wider type.",
        ),
        Check::Deadlock => (
            "Deadlock",
            "Threads can wait without end.",
            "Take locks in the same order in all threads, give them back on all paths, and wake all who wait.",
        ),
    };
    json!({
        "id": check.property_name(),
        "name": name,
        "shortDescription": { "text": short },
        "fullDescription": { "text": format!("{short} Threadproof looks at every schedule, and replays what it reports.") },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": "error" },
        "properties": { "tags": ["concurrency", "correctness"], "precision": "very-high", "problem.severity": "error" },
    })
}

fn result(report: &Report<'_>, (rule, index): (&str, usize), refutation: &Refutation) -> Value {
    let program = &refutation.program;
    let complaint = human::complaint(refutation);
    let mut spans = complaint.iter().filter_map(|(_, span)| *span);
    let first = spans.next().unwrap_or_default();
    let message: Vec<&str> = complaint.iter().map(|(text, _)| text.as_str()).collect();
    let related: Vec<Value> = complaint
        .iter()
        .filter_map(|(text, span)| Some((text, (*span)?)))
        .enumerate()
        .map(|(id, (text, span))| {
            let mut at = location(program, span);
            at["id"] = json!(id + 1);
            at["message"] = json!({ "text": text });
            at
        })
        .collect();
    let interleaving = Interleaving::of(refutation, report.sources);
    let known: Vec<_> = interleaving.rows.iter().filter(|row| row.span.line > 0).collect();
    let last = &known[known.len().saturating_sub(MOST_LOCATIONS)..];
    let flows = interleaving.active().into_iter().filter_map(|thread| {
        let own = last.iter().enumerate().filter(|(_, row)| row.thread == thread);
        let locations: Vec<Value> = own
            .map(|(order, row)| {
                let mut at = location(program, row.span);
                let texts: Vec<String> = row
                    .effects()
                    .into_iter()
                    .chain(row.waits.clone())
                    .chain(row.mark.clone())
                    .chain(row.locks())
                    .collect();
                let who = format!("thread {thread}");
                let text = if texts.is_empty() { who } else { format!("{who}: {}", texts.join(", ")) };
                at["message"] = json!({ "text": text });
                let importance = if row.mark.is_some() { "essential" } else { "important" };
                json!({ "location": at, "executionOrder": order + 1, "importance": importance })
            })
            .collect();
        let name = interleaving.threads.get(thread).map_or("?", String::as_str);
        let title = format!("thread {thread}: {name}");
        (!locations.is_empty()).then(
            || json!({ "id": thread.to_string(), "message": { "text": title }, "locations": locations }),
        )
    });
    let flows: Vec<Value> = flows.collect();
    let mut value = json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": format!("{}.", message.join("; ")) },
        "locations": [location(program, first)],
        "relatedLocations": related,
        "partialFingerprints": { "threadproof/v1": fingerprint(report, program, rule, &complaint) },
    });
    if !flows.is_empty() {
        value["codeFlows"] = json!([{ "threadFlows": flows }]);
    }
    value
}

/// A fingerprint that does not change when lines move: the rule, and the texts of the lines involved.
fn fingerprint(
    report: &Report<'_>,
    program: &Program,
    rule: &str,
    complaint: &[(String, Option<Span>)],
) -> String {
    let mut lines: Vec<String> = complaint
        .iter()
        .filter_map(|(_, span)| *span)
        .map(|span| format!("{} {}", file(program, span), report.sources.line(span).unwrap_or_default()))
        .collect();
    lines.sort();
    let hash = Sha256::digest(format!("{rule}\n{}", lines.join("\n")));
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn open_result(program: &Program, (rule, index): (&str, usize), line: &Decision) -> Value {
    json!({
        "ruleId": rule,
        "ruleIndex": index,
        "kind": "open",
        "level": "none",
        "message": { "text": format!("Not proved: {}.", line.why.join("; or ")) },
        "locations": [location(program, line.span)],
    })
}

/// A location that may race: a note with both accesses.
fn open_location(report: &Report<'_>, (rule, index): (&str, usize), finding: &Finding) -> Option<Value> {
    let program = report.program;
    let pairs = table::pairs(finding, 1);
    let accesses: Vec<&FoundAccess> = match pairs.first() {
        Some(pair) => pair.to_vec(),
        None => finding.accesses.iter().take(2).collect(),
    };
    let accesses: Vec<&FoundAccess> = accesses.into_iter().filter(|access| access.span.line > 0).collect();
    let first = accesses.first()?;
    let related: Vec<Value> = accesses
        .iter()
        .enumerate()
        .map(|(id, access)| {
            let mut at = location(program, access.span);
            at["id"] = json!(id + 1);
            at["message"] = json!({ "text": table::access(access) });
            at
        })
        .collect();
    let what = match &finding.status {
        Status::Possible(_) => "Possible data race",
        Status::Race(_) | Status::Open(_) | Status::RaceFree(_) => "Open whether there is a data race",
    };
    let text = format!("{what} on `{}`: {}.", finding.name, finding.because());
    let complaint: Vec<(String, Option<Span>)> =
        accesses.iter().map(|access| (String::new(), Some(access.span))).collect();
    Some(json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": "note",
        "message": { "text": text },
        "locations": [location(program, first.span)],
        "relatedLocations": related,
        "partialFingerprints": {
            "threadproof/v1": fingerprint(report, program, &format!("{rule} {}", finding.name), &complaint),
        },
    }))
}

fn file(program: &Program, span: Span) -> &str {
    program.files.get(span.file as usize).map_or("unknown", String::as_str)
}

fn location(program: &Program, span: Span) -> Value {
    let region = match span.column {
        0 => json!({ "startLine": span.line.max(1) }),
        column => json!({ "startLine": span.line.max(1), "startColumn": column }),
    };
    let uri = address(file(program, span));
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": region } })
}

/// A file name as an address.
fn address(name: &str) -> String {
    let name = name.strip_prefix("./").unwrap_or(name);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let path: String = name
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if path.starts_with('/') { format!("file://{path}") } else { path }
}

#[cfg(test)]
mod tests {
    #[test]
    fn file_names_are_addresses() {
        assert_eq!(super::address("./a b/ü.c"), "a%20b/%C3%BC.c");
        assert_eq!(super::address("/tmp/x.c"), "file:///tmp/x.c");
    }
}
