//! Witnesses in the YAML formats of the Competition on Software Verification: violation witnesses (2.2) and
//! correctness witnesses (2.1).
//!
//! A violation witness lists, in the order of the execution, where each thread takes its turns and what the
//! inputs are; the last segment holds the target, or the two targets of a data race. Thread 0 is the main
//! thread; the others are numbered in the order of creation. Positions are lines without columns: in the
//! format, this means the first suitable place on the line. A line with several statements allows nothing
//! more precise.
//!
//! A correctness witness lists the facts of the `flow` engine at lines, for global variables and parameters
//! only: these are always in scope. For facts that hold only while a mutex is free, ghost variables say
//! whether it is held. The witness itself is not checked here; that is the task of validators.

mod ghosts;

use crate::Sources;
use crate::sources::marker;
use checker::{Refutation, Replayed, ReplayedViolation};
use ghosts::Ghost;
use ir::{DataModel, Program, Span, Storage};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use verdict::{Bounds, Check, KnownValue, ListedFact, ListedLine, Listing};

/// Metadata of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The names and contents of the input files.
    pub files: Vec<(String, Vec<u8>)>,
    /// The property, as the competition writes it.
    pub specification: String,
    /// The widths of types.
    pub data_model: DataModel,
    /// The time of creation, in ISO 8601.
    pub creation_time: String,
}

/// The competition's text for the property of a check; `None` when it has none.
pub fn specification(check: Check) -> Option<&'static str> {
    match check {
        Check::Assertions | Check::ReachError => Some("CHECK( init(main()), LTL(G ! call(reach_error())) )"),
        Check::Races => Some("CHECK( init(main()), LTL(G ! data-race) )"),
        Check::Overflow => Some("CHECK( init(main()), LTL(G ! overflow) )"),
        Check::Bounds | Check::Deref => Some("CHECK( init(main()), LTL(G valid-deref) )"),
        Check::Free => Some("CHECK( init(main()), LTL(G valid-free) )"),
        Check::Memtrack => Some("CHECK( init(main()), LTL(G valid-memtrack) )"),
        Check::Memcleanup => Some("CHECK( init(main()), LTL(G valid-memcleanup) )"),
        Check::Deadlock => None,
    }
}

/// The map from source lines to the input files, whose lines may be attributed to other files (`#line`).
struct Lines<'a> {
    program: &'a Program,
    /// From the attributed file and line to the input file and the line in it.
    input: BTreeMap<(String, u32), (&'a str, u32)>,
}

impl<'a> Lines<'a> {
    fn new(program: &'a Program, task: &'a Task) -> Self {
        let mut input = BTreeMap::new();
        for (name, bytes) in &task.files {
            let (mut file, mut number) = (name.clone(), 1u32);
            for (physical, line) in (1u32..).zip(String::from_utf8_lossy(bytes).lines()) {
                if let Some((next, named)) = marker(line) {
                    (file, number) = (named.unwrap_or(file), next);
                    continue;
                }
                if !line.trim().is_empty() {
                    input.entry((file.clone(), number)).or_insert((name.as_str(), physical));
                }
                number = number.saturating_add(1);
            }
        }
        Self { program, input }
    }
    /// The input file and line of a position; `None` when it is in none.
    fn of(&self, span: Span) -> Option<(&'a str, u32)> {
        let file = self.program.files.get(span.file as usize)?;
        self.input.get(&(file.clone(), span.line)).copied()
    }
}

/// The witness of a violation; `None` when the violation is not in an input file.
pub fn violation(refutation: &Refutation, sources: &Sources, task: &Task) -> Option<String> {
    let Refutation { program, replayed, .. } = refutation;
    let mut segments = Segments { lines: Lines::new(program, task), text: String::new() };
    let mut last = 0;
    for step in &replayed.steps {
        let function = &program.templates[step.procedure].name;
        if step.thread != last && step.span.line > 0 {
            last = step.thread;
            segments.segment(&[Waypoint::passes(step.thread, step.span, function)]);
        }
        let is_input = sources.line(step.span).is_some_and(|line| line.contains("__VERIFIER_nondet_"));
        if let ([value], true) = (step.choices.as_slice(), is_input) {
            segments.segment(&[Waypoint {
                kind: "function_return",
                constraint: Some((format!("\\result == {value}"), "ext_c_expression")),
                thread: step.thread,
                span: step.span,
                function,
            }]);
        }
    }
    let function_of = |thread: usize| last_function(program, replayed, thread);
    let targets: Vec<Waypoint<'_>> = match &replayed.violation {
        ReplayedViolation::Error { thread, span, .. } => {
            vec![Waypoint::target(*thread, *span, function_of(*thread))]
        }
        ReplayedViolation::Race { accesses, .. } => accesses
            .iter()
            .map(|access| Waypoint::target(access.thread, access.span, function_of(access.thread)))
            .collect(),
        ReplayedViolation::Leak(leak) => {
            vec![Waypoint::target(leak.last, leak.end, function_of(leak.last))]
        }
        ReplayedViolation::Deadlock(waits) => waits
            .iter()
            .map(|wait| Waypoint::target(wait.thread, wait.span, function_of(wait.thread)))
            .collect(),
    };
    segments.segment(&targets).then(|| entry("violation_sequence", "2.2", task, &segments.text))
}

/// The function that a thread was in last.
fn last_function<'p>(program: &'p Program, replayed: &Replayed, thread: usize) -> &'p str {
    let last = replayed.steps.iter().rev().find(|step| step.thread == thread);
    let template = last.map_or(replayed.threads[thread].template, |step| step.procedure);
    &program.templates[template].name
}

struct Waypoint<'a> {
    kind: &'static str,
    constraint: Option<(String, &'static str)>,
    thread: usize,
    span: Span,
    function: &'a str,
}

impl<'a> Waypoint<'a> {
    /// The thread reaches this line.
    fn passes(thread: usize, span: Span, function: &'a str) -> Self {
        let constraint = Some(("1".to_owned(), "c_expression"));
        Self { kind: "assumption", constraint, thread, span, function }
    }
    fn target(thread: usize, span: Span, function: &'a str) -> Self {
        Self { kind: "target", constraint: None, thread, span, function }
    }
}

struct Segments<'a> {
    lines: Lines<'a>,
    text: String,
}

impl Segments<'_> {
    /// Writes a segment, unless one of its positions is in no input file; says whether it did.
    fn segment(&mut self, waypoints: &[Waypoint<'_>]) -> bool {
        let places: Option<Vec<_>> = waypoints.iter().map(|waypoint| self.lines.of(waypoint.span)).collect();
        let Some(places) = places else { return false };
        self.text.push_str("    - segment:\n");
        for (waypoint, (file, line)) in waypoints.iter().zip(places) {
            let _ = writeln!(
                self.text,
                "        - waypoint:\n            type: {}\n            action: follow\n            thread_id: {}",
                waypoint.kind, waypoint.thread
            );
            if let Some((value, format)) = &waypoint.constraint {
                let _ = writeln!(
                    self.text,
                    "            constraint:\n              value: {}\n              format: {format}",
                    quoted(value)
                );
            }
            location(&mut self.text, "            ", file, line, waypoint.function);
        }
        true
    }
}

fn location(out: &mut String, indent: &str, file: &str, line: u32, function: &str) {
    let _ = writeln!(
        out,
        "{indent}location:\n{indent}  file_name: {}\n{indent}  line: {line}\n{indent}  function: {}",
        quoted(file),
        quoted(function)
    );
}

/// The witness of a proof: facts at each line. Without a listing there are none.
pub fn correctness(program: &Program, listing: Option<&Listing>, task: &Task) -> String {
    let lines = Lines::new(program, task);
    let mut ghosts = ghosts::ghosts(program);
    let in_files = |ghost: &Ghost| ghost.updates.iter().all(|(span, ..)| lines.of(*span).is_some());
    ghosts.retain(in_files);
    let listed: Vec<&ListedLine> = listing.into_iter().flat_map(|listing| &listing.lines).collect();
    let reached = || listed.iter().filter(|line| line.reached);
    // What holds at a line unless a mutex is held.
    let free = |ghost: &Ghost, line: &ListedLine| -> Vec<String> {
        let names = names_in_scope(program, &line.function);
        let known = conditions(line, &names);
        let after = ghost.taken.iter().filter(|(at, _)| same_line(*at, line.span));
        let after = after.filter_map(|(_, next)| listed.iter().find(|line| same_line(line.span, *next)));
        let more = after.flat_map(|next| conditions(next, &names)).filter(|fact| !known.contains(fact));
        more.collect()
    };
    ghosts.retain(|ghost| reached().any(|line| !free(ghost, line).is_empty()));
    let mut text = String::new();
    for line in reached() {
        let Some((file, number)) = lines.of(line.span) else { continue };
        let mut facts = conditions(line, &names_in_scope(program, &line.function));
        for ghost in &ghosts {
            let free = free(ghost, line);
            if !free.is_empty() {
                facts.push(format!("({} == 1 || ({}))", ghost.name, free.join(" && ")));
            }
            if line.locks.iter().any(|(lock, shared)| *lock == ghost.mutex && !shared) {
                facts.push(format!("{} == 1", ghost.name));
            }
        }
        if facts.is_empty() {
            continue;
        }
        text.push_str("    - invariant:\n        type: location_invariant\n");
        location(&mut text, "        ", file, number, &line.function);
        let _ =
            writeln!(text, "        value: {}\n        format: c_expression", quoted(&facts.join(" && ")));
    }
    let mut out = String::new();
    if !ghosts.is_empty() {
        out.push_str(&entry("ghost_instrumentation", "2.1", task, &instrumentation(&ghosts, &lines)));
    }
    out + &entry("invariant_set", "2.1", task, &text)
}

/// The ghost variables, and where they change.
fn instrumentation(ghosts: &[Ghost], lines: &Lines<'_>) -> String {
    let mut text = String::from("    ghost_variables:\n");
    for ghost in ghosts {
        let _ = writeln!(
            text,
            "      - name: {}\n        type: int\n        scope: global\n        initial:\n          value: \"0\"\n          format: c_expression",
            quoted(&ghost.name)
        );
    }
    text.push_str("    ghost_updates:\n");
    for ghost in ghosts {
        for (span, function, value) in &ghost.updates {
            let Some((file, line)) = lines.of(*span) else { continue };
            text.push_str("      - ");
            let mut place = String::new();
            location(&mut place, "        ", file, line, function);
            text.push_str(place.trim_start());
            let _ = writeln!(
                text,
                "        updates:\n          - variable: {}\n            value: \"{value}\"\n            format: c_expression",
                quoted(&ghost.name)
            );
        }
    }
    text
}

fn same_line(one: Span, other: Span) -> bool {
    (one.file, one.line) == (other.file, other.line)
}

/// What is known at a line, as conditions of C.
fn conditions(line: &ListedLine, names: &BTreeSet<&str>) -> Vec<String> {
    line.facts.iter().filter_map(|fact| condition(fact, names)).collect()
}

/// The names that mean a global variable or a parameter everywhere in a function.
fn names_in_scope<'p>(program: &'p Program, function: &str) -> BTreeSet<&'p str> {
    let template = program.templates.iter().find(|template| template.name == function);
    let (mut names, mut hidden) = (BTreeSet::new(), BTreeSet::new());
    if let Some(template) = template {
        for (index, local) in template.locals.iter().enumerate() {
            let first = index < template.parameters && names.insert(local.name.as_str());
            if !first {
                hidden.insert(local.name.as_str());
            }
        }
    }
    for object in &program.objects {
        let first = object.storage == Storage::Static && names.insert(&object.name);
        if !first {
            hidden.insert(&object.name);
        }
    }
    names.retain(|name| !hidden.contains(name));
    names
}

/// A fact as a condition in C; `None` when it cannot be expressed with these names.
fn condition(fact: &ListedFact, names: &BTreeSet<&str>) -> Option<String> {
    let variable = &fact.variable;
    if !names.contains(variable.as_str()) {
        return None;
    }
    match &fact.known {
        KnownValue::Any | KnownValue::Related(_) => None,
        KnownValue::Among(bounds, ty) => within(variable, bounds, *ty),
    }
}

fn within(variable: &str, bounds: &Bounds, ty: ir::IntType) -> Option<String> {
    let lower = bounds.lower.filter(|lower| *lower > ty.min());
    let upper = bounds.upper.filter(|upper| *upper < ty.max());
    // Larger numbers need a suffix.
    let fits = |bound: &ir::Value| bound.unsigned_abs() <= i32::MAX as u128;
    let mut parts = Vec::new();
    match (lower.filter(fits), upper.filter(fits)) {
        (Some(lower), Some(upper)) if lower == upper => parts.push(format!("{variable} == {lower}")),
        (lower, upper) => {
            parts.extend(lower.map(|lower| format!("{lower} <= {variable}")));
            parts.extend(upper.map(|upper| format!("{variable} <= {upper}")));
        }
    }
    (!parts.is_empty()).then(|| format!("({})", parts.join(" && ")))
}

fn entry(kind: &str, version: &str, task: &Task, content: &str) -> String {
    let mut out = format!("- entry_type: {kind}\n  metadata:\n    format_version: \"{version}\"\n");
    let _ = writeln!(out, "    uuid: \"{}\"", uuid(kind, task, content));
    let _ = writeln!(out, "    creation_time: \"{}\"", task.creation_time);
    let _ = writeln!(
        out,
        "    producer:\n      name: \"Threadproof\"\n      version: \"{}\"",
        env!("CARGO_PKG_VERSION")
    );
    out.push_str("    task:\n      input_files:\n");
    for (name, _) in &task.files {
        let _ = writeln!(out, "        - {}", quoted(name));
    }
    out.push_str("      input_file_hashes:\n");
    for (name, bytes) in &task.files {
        let _ = writeln!(out, "        {}: \"{}\"", quoted(name), hex(&Sha256::digest(bytes)));
    }
    let model = match task.data_model {
        DataModel::Ilp32 => "ILP32",
        DataModel::Lp64 => "LP64",
    };
    let _ = writeln!(
        out,
        "      specification: {}\n      data_model: {model}\n      language: C",
        quoted(&task.specification)
    );
    if content.is_empty() {
        out.push_str("  content: []\n");
    } else {
        out.push_str("  content:\n");
        out.push_str(content);
    }
    out
}

/// An identifier that is the same for the same witness.
fn uuid(kind: &str, task: &Task, content: &str) -> String {
    let mut hash = Sha256::new();
    for part in [kind, &task.specification, &task.creation_time, content] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    for (name, bytes) in &task.files {
        hash.update(name.as_bytes());
        hash.update(bytes);
    }
    let digest = hash.finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    // Version 8 (custom), and the variant of RFC 9562.
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex(&bytes);
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A YAML text in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || c == '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
