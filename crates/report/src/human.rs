//! The report for people: what went wrong, how, and the verdict in the last line.

use crate::sources::position;
use crate::{Answer, End, Outcome, Sources, Tried};
use checker::{Change, Checked, Refutation, Replayed, ReplayedStep, ReplayedViolation};
use ir::semantics::ThreadIndex;
use ir::{Assumption, ErrorKind, Program, Span};
use std::fmt::Write;
use verdict::{Check, Decisions, Exhausted, Proof, Reason};

/// The most lines of an interleaving that are shown: its beginning and its end.
const MOST_LINES: usize = 120;

/// Renders all outcomes. `explain`: also what each engine tried, where there is an answer.
pub fn render(
    program: &Program,
    sources: &Sources,
    outcomes: &[Outcome],
    answer: &Answer,
    explain: bool,
) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        match &outcome.verdict {
            Checked::Proved(proof) => {
                line(&mut out, &format!("{}: proved ({}).", subject(outcome.check), reason(proof)))
            }
            Checked::Unknown(reason) => {
                line(&mut out, &format!("{}: unknown: {reason}.", subject(outcome.check)));
                if let Some(found) = &outcome.decisions {
                    decisions(&mut out, program, sources, found);
                }
            }
            Checked::Refuted(refutation) => violation(&mut out, sources, refutation),
        }
        let unknown = matches!(outcome.verdict, Checked::Unknown(_));
        if explain || (unknown && outcome.tries.len() > 1) {
            tries(&mut out, &outcome.tries);
        }
        if unknown {
            advice(&mut out, program, outcome);
        }
    }
    if !program.assumptions.is_empty() {
        line(&mut out, "\nThis takes for granted:");
        assumptions(&mut out, program, &program.assumptions);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    line(&mut out, &format!("verdict: {answer}"));
    out
}

/// What each engine tried, and what came of it.
fn tries(out: &mut String, tries: &[Tried]) {
    line(out, "  What was tried:");
    for Tried { engine, seconds, checking, end, .. } in tries {
        let checked = match end {
            End::Proved | End::Refuted => format!(", checked in {checking:.2} s"),
            End::Stopped | End::Unknown(_) => String::new(),
        };
        line(out, &format!("    {engine:<9} {seconds:7.2} s  {end}{checked}"));
    }
}

/// What the user could do about a question that is left open.
fn advice(out: &mut String, program: &Program, outcome: &Outcome) {
    let reasons = || {
        outcome.tries.iter().filter_map(|tried| match &tried.end {
            End::Unknown(reason) => Some(reason),
            End::Proved | End::Refuted | End::Stopped => None,
        })
    };
    let mut help = Vec::new();
    if let Some(hidden) = program.assumptions.iter().find(|assumption| assumption.limits_proof) {
        let place = position(program, hidden.span);
        help.push(format!("avoid, or write in plain C, what is not modelled ({place}: {})", hidden.text));
    }
    if reasons().any(|reason| matches!(reason, Reason::Exhausted(Exhausted::Time))) {
        help.push("give it more time (--timeout)".to_owned());
    }
    if reasons().any(|reason| matches!(reason, Reason::Exhausted(Exhausted::Memory))) {
        help.push("give it more memory (--memory)".to_owned());
    }
    if reasons().any(|reason| matches!(reason, Reason::Bounded(_))) {
        help.push("bound loops, inputs or the number of threads, if that is enough for you".to_owned());
    }
    if !help.is_empty() {
        line(out, "  What may help:");
        help.iter().for_each(|help| line(out, &format!("    {help}")));
    }
}

/// Assumptions, each text once, where it is first made.
fn assumptions(out: &mut String, program: &Program, all: &[Assumption]) {
    let mut seen: Vec<(&str, Span, usize)> = Vec::new();
    for assumption in all {
        match seen.iter_mut().find(|(text, ..)| *text == assumption.text) {
            Some((_, _, times)) => *times += 1,
            None => seen.push((&assumption.text, assumption.span, 1)),
        }
    }
    for (text, span, times) in seen {
        let more = if times > 1 { format!(" (and {} more times)", times - 1) } else { String::new() };
        line(out, &format!("  {}: {text}{more}", position(program, span)));
    }
}

/// The most lines that are not proved which are listed.
const MOST_OPEN: usize = 40;

/// What is known of each check: how many are proved, and why the others are not.
fn decisions(out: &mut String, program: &Program, sources: &Sources, found: &Decisions) {
    let (proved, checks) = (found.proved(), found.checks());
    if found.complete && checks == 0 {
        line(out, "  There is nothing to check in the code that may run.");
    }
    if found.complete && checks > 0 {
        let given =
            if found.given.is_empty() { "" } else { ", provided that what is taken for granted is so" };
        line(out, &format!("  {proved} of {checks} checks are proved{given}."));
    }
    let open = found.lines.iter().filter(|decision| decision.proved < decision.checks);
    for decision in open.clone().take(MOST_OPEN) {
        let of = match (decision.checks - decision.proved, decision.checks) {
            (1, 1) => String::new(),
            (open, checks) => format!(" ({open} of {checks} ways there)"),
        };
        let more = decision.why.len().saturating_sub(1);
        let more = if more > 0 { format!("; or {more} more cases") } else { String::new() };
        let why = decision.why.first().map_or("", String::as_str);
        line(out, &format!("  not proved: {}{of}: {why}{more}", position(program, decision.span)));
        if let Some(code) = sources.line(decision.span) {
            line(out, &format!("      {code}"));
        }
    }
    let more = open.count().saturating_sub(MOST_OPEN);
    if more > 0 {
        line(out, &format!("  and {more} more lines"));
    }
    let hidden: Vec<Assumption> =
        found.given.iter().filter(|given| !program.assumptions.contains(given)).cloned().collect();
    if !hidden.is_empty() {
        line(out, "  This takes for granted:");
        assumptions(out, program, &hidden);
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn subject(check: Check) -> &'static str {
    match check {
        Check::Assertions => "assertions",
        Check::ReachError => "calls of the error function",
        Check::Races => "data races",
        Check::Bounds => "invalid accesses",
        Check::Overflow => "signed overflow",
        Check::Deadlock => "lock-order deadlocks",
    }
}

fn reason(proof: &Proof) -> String {
    match proof {
        Proof::Exhaustive { states, .. } => format!("all executions were followed, {states} states"),
        Proof::NoErrorLocation => "there is nothing that could go wrong".to_owned(),
        Proof::OneThread => "there is only one thread".to_owned(),
        Proof::Product(proof) => {
            let nodes: usize = proof.parts.iter().map(|part| part.nodes.len()).sum();
            format!("by invariants of all threads together, at {nodes} combinations of locations")
        }
        Proof::Queries(proof) => {
            let claims: usize = proof.parts.iter().flat_map(|part| &part.claims).map(Vec::len).sum();
            format!("by invariants of single threads, and {claims} claims about the others")
        }
        Proof::Modular(proof) if proof.size == 1 => {
            "by an invariant of every thread, for any number of threads".to_owned()
        }
        Proof::Modular(proof) => {
            format!("by invariants of every {} threads, for any number of threads", proof.size)
        }
        Proof::Context(proof) => {
            let states: usize = proof.acfas.iter().map(|acfa| acfa.states.len()).sum();
            let predicates = proof.predicates.len();
            format!("by contexts of {states} states over {predicates} predicates, for any number of threads")
        }
        Proof::Runs(proof) => format!(
            "there is no data race, {}; and where threads are switched only behind what synchronises them: {}",
            reason(&proof.races),
            reason(&proof.errors)
        ),
        Proof::Abstraction(proof) => {
            format!(
                "by a Boolean program over {} predicates, for any number of threads",
                proof.predicates.len()
            )
        }
        Proof::Flow(proof) => {
            format!("by locks and thread order, {} pairs of locations", proof.coreachable.len())
        }
        Proof::States(proof) if !proof.populations.is_empty() => {
            format!("all that is reachable is within {} populations of threads", proof.populations.len())
        }
        Proof::States(proof) if proof.unreachable.is_empty() => {
            let points = proof.sets.iter().filter(|set| **set != 0).count();
            format!("by thread states, for any number of threads, {points} points")
        }
        Proof::States(proof) => {
            format!(
                "no thread configuration of {} that lead to an error is reachable",
                proof.unreachable.len()
            )
        }
    }
}

/// What went wrong, and the interleaving that leads there.
fn violation(out: &mut String, sources: &Sources, refutation: &Refutation) {
    let Refutation { program, replayed, .. } = refutation;
    let shown = |span: Span| sources.line(span).map(|text| format!("    {text}")).unwrap_or_default();
    match &replayed.violation {
        ReplayedViolation::Error { thread, kind, span } => {
            let what = match kind {
                ErrorKind::ReachError => "the error function is called",
                ErrorKind::Assertion => "an assertion fails",
                ErrorKind::InvalidAccess => "an access is outside of any live object",
                ErrorKind::Overflow => "a signed operation overflows",
            };
            line(out, &format!("{}: {what}, in {}", position(program, *span), name(replayed, *thread)));
            line(out, &shown(*span));
        }
        ReplayedViolation::Race { name: variable, declared, accesses } => {
            line(out, &format!("data race on `{variable}`, declared at {}", position(program, *declared)));
            for access in accesses {
                let verb = if access.access.write { "writes" } else { "reads" };
                let atomic = if access.access.atomic { " atomically" } else { "" };
                let who = name(replayed, access.thread);
                line(out, &format!("  {}: {who} {verb} it{atomic}", position(program, access.span)));
                line(out, &format!("  {}", shown(access.span)));
            }
        }
        ReplayedViolation::Deadlock(waits) => {
            line(out, "deadlock: these threads wait for one another");
            for wait in waits {
                let (who, owner) = (name(replayed, wait.thread), name(replayed, wait.owner));
                let at = position(program, wait.span);
                let what = match &wait.lock {
                    Some(lock) => format!("`{lock}`, which {owner} holds"),
                    None => format!("{owner} to end"),
                };
                line(out, &format!("  {at}: {who} waits for {what}"));
                line(out, &format!("  {}", shown(wait.span)));
            }
        }
    }
    let threads = match replayed.threads.len() {
        1 => "one thread".to_owned(),
        many => format!("{many} threads"),
    };
    line(out, &format!("\nHow it happens, with {threads}:"));
    interleaving(out, program, sources, replayed);
}

/// How a thread is called in reports.
fn name(replayed: &Replayed, thread: ThreadIndex) -> String {
    format!("thread {thread} ({})", replayed.threads.get(thread).map_or("?", |thread| thread.name.as_str()))
}

/// Consecutive steps of one thread on one line.
struct Group<'a> {
    thread: ThreadIndex,
    span: Span,
    steps: Vec<&'a ReplayedStep>,
}

fn interleaving(out: &mut String, program: &Program, sources: &Sources, replayed: &Replayed) {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for step in &replayed.steps {
        match groups.last_mut() {
            Some(group) if group.thread == step.thread && same_line(group.span, step.span) => {
                group.steps.push(step)
            }
            _ => groups.push(Group { thread: step.thread, span: step.span, steps: vec![step] }),
        }
    }
    groups.retain(|group| group.span.line > 0 || !effects(replayed, group).is_empty());
    let mut last = None;
    for (index, group) in groups.iter().enumerate() {
        if groups.len() > MOST_LINES && index == MOST_LINES / 3 {
            line(out, &format!("  … {} lines …", groups.len() - MOST_LINES));
        }
        let hidden = MOST_LINES / 3..MOST_LINES / 3 + groups.len().saturating_sub(MOST_LINES);
        if hidden.contains(&index) {
            continue;
        }
        if last != Some(group.thread) {
            line(out, &format!("  {}", name(replayed, group.thread)));
            last = Some(group.thread);
        }
        let at = position(program, Span { column: 0, ..group.span });
        // The whole path is above; here the name is enough.
        let at = at.rsplit('/').next().unwrap_or(&at);
        let code = sources.line(group.span).unwrap_or("");
        let mut text = format!("    {at:24} {code}");
        let effects = effects(replayed, group);
        if !effects.is_empty() {
            let _ = write!(
                text,
                "{:width$}  ▸ {}",
                "",
                effects.join(", "),
                width = 72usize.saturating_sub(text.chars().count())
            );
        }
        line(out, text.trim_end());
    }
}

fn same_line(a: Span, b: Span) -> bool {
    (a.file, a.line) == (b.file, b.line)
}

/// What a group of steps changed, in the user's words. Temporaries stay hidden.
fn effects(replayed: &Replayed, group: &Group<'_>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for step in &group.steps {
        if let Some(created) = step.created {
            texts.push(format!("starts {}", name(replayed, created)));
            names.push("");
        }
        let changes = step.memory.iter().chain(&step.locals).filter(|change| !change.name.starts_with('%'));
        for change in changes {
            let text = effect(change);
            match names.iter().position(|name| *name == change.name) {
                Some(index) => texts[index] = text,
                None => {
                    names.push(&change.name);
                    texts.push(text);
                }
            }
        }
    }
    texts
}

fn effect(change: &Change) -> String {
    match change.new {
        Some(value) => format!("{} = {value}", change.name),
        None => format!("{} is open", change.name),
    }
}
