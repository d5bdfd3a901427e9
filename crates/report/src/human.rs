//! The human-readable report: what went wrong, how, and the verdict in the last line.

use crate::baseline::Subject;
use crate::interleaving::{Interleaving, lock_name, name, waited_for};
use crate::shared_memory::table;
use crate::sources::position;
use crate::story::Story;
use crate::style::{Style, Tone, clean};
use crate::words;
use crate::{Answer, End, Outcome, Report, SharedMemory, Sources, Tried, columns};
use checker::{Checked, Refutation, ReplayedViolation, WaitTarget};
use ir::semantics::Leak;
use ir::{Assumption, ErrorKind, Program, Span};
use verdict::{Check, Decision, Decisions, Exhausted, Proof, Reason};

/// Renders all outcomes.
pub fn render(report: &Report<'_>, style: Style) -> String {
    let Report { program, sources, outcomes, answer, explain, .. } = *report;
    let mut out = String::new();
    let news = report.news();
    let is_known = |subject| news.as_ref().is_some_and(|news| news.is_known(subject) == Some(true));
    let has_new_location = |memory: &&SharedMemory| {
        news.is_none()
            || (0..memory.locations.len()).any(|number| {
                news.as_ref().and_then(|news| news.is_known(Subject::Location(number))) == Some(false)
            })
    };
    let shown = report.memory.filter(|memory| explain || is_worth_showing(memory)).filter(has_new_location);
    if let Some(memory) = shown.filter(|memory| memory.is_empty_claim()) {
        line(&mut out, &style.paint(Tone::Open, &table::reached(memory)));
    }
    for (number, outcome) in outcomes.iter().enumerate() {
        let subject = about(outcome);
        match &outcome.verdict {
            Checked::Refuted(refutation) if is_known(Subject::Violation(number)) => {
                let complaint = complaint(refutation).into_iter().next().map(|(text, _)| text);
                line(&mut out, &format!("{subject}: known: {}", complaint.unwrap_or_default()));
                if outcome.variable.is_none() {
                    line(
                        &mut out,
                        "  (One violation of each check is searched for: this one may hide others.)",
                    );
                }
                continue;
            }
            Checked::Unknown(_) if is_known(Subject::Open(number)) => {
                let lines = outcome.decisions.iter().flat_map(|found| &found.lines).enumerate();
                let is_new = |(index, checked): &(usize, &Decision)| {
                    checked.proved < checked.checks && !is_known(Subject::Line(number, *index))
                };
                let new: Vec<&Decision> = lines.filter(is_new).map(|(_, line)| line).collect();
                let what = if new.is_empty() { "nothing more is open" } else { "more is open" };
                line(&mut out, &format!("{subject}: unknown, as before; {what}."));
                open_lines(&mut out, program, sources, &new);
                continue;
            }
            Checked::Proved(proof) => {
                let what = if outcome.variable.is_some() { "race-free" } else { "proved" };
                let what = style.paint(Tone::Good, what);
                line(&mut out, &format!("{subject}: {what} ({}){}.", reason(proof), time(outcome)));
                if let Some(story) = report.story(outcome.check) {
                    tell(&mut out, program, sources, story, style);
                }
            }
            Checked::Unknown(reason) => {
                let unknown = style.paint(Tone::Open, "unknown");
                let reason = clean(&reason.to_string());
                line(&mut out, &format!("{subject}: {unknown}: {reason}{}.", time(outcome)));
                let memory = shown.filter(|_| outcome.check == Check::Races && outcome.variable.is_none());
                known_of(&mut out, memory);
                if let Some(found) = &outcome.decisions {
                    decisions(&mut out, program, sources, found);
                }
                advice(&mut out, program, outcome);
            }
            Checked::Refuted(refutation) => {
                if outcome.variable.is_some() {
                    line(
                        &mut out,
                        &format!("{subject}: {}{}:", style.paint(Tone::Bad, "race"), time(outcome)),
                    );
                }
                violation(&mut out, sources, refutation, style);
            }
        }
        let unknown = matches!(outcome.verdict, Checked::Unknown(_));
        if explain || (unknown && outcome.tries.len() > 1) {
            tries(&mut out, &outcome.tries);
        }
    }
    if let Some(memory) = shown {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&table::render(program, sources, memory, explain, style));
    }
    if !program.assumptions.is_empty() {
        line(&mut out, "\nThis takes for granted:");
        assumptions(&mut out, program, &program.assumptions);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if let Some(news) = &news {
        let (new, known) = news.counts();
        line(&mut out, &format!("compared with the baseline: {new} new, {known} known, {} gone", news.gone));
    }
    if let Some(words) = words::in_words(outcomes) {
        line(&mut out, &format!("in words: {words}"));
    }
    let tone = match answer {
        Answer::True => Tone::Good,
        Answer::False(_) => Tone::Bad,
        Answer::Unknown(_) => Tone::Open,
    };
    line(&mut out, &style.paint(tone, &format!("verdict: {}", clean(&answer.to_string()))));
    out
}

/// What is known of shared memory, where the whole is not.
fn known_of(out: &mut String, memory: Option<&SharedMemory>) {
    let Some(memory) = memory.filter(|memory| memory.incomplete.is_none()) else { return };
    let [races, possible, open, free] = memory.counts();
    let all = races + possible + open + free;
    if all > 0 {
        let given = if memory.conditional { ", provided that what is taken for granted is so" } else { "" };
        line(out, &format!("  {free} of {all} shared memory locations are race-free{given} (listed below)."));
    }
}

/// Whether the listing of shared memory says more than the verdicts do.
pub(crate) fn is_worth_showing(memory: &SharedMemory) -> bool {
    memory.has_open() || memory.conditional || memory.is_empty_claim() || memory.incomplete.is_some()
}

/// Why something holds, at the important lines.
fn tell(out: &mut String, program: &Program, sources: &Sources, story: &Story, style: Style) {
    for part in &story.parts {
        line(out, &format!("  {}:", part.title));
        for claim in &part.claims {
            let at = claim.span.map(|span| position(program, Span { column: 0, ..span }));
            let at = at.map(|at| format!("{}: ", clean(&at))).unwrap_or_default();
            line(out, &format!("    {at}{}", clean(&claim.text)));
            let code = claim.span.and_then(|span| sources.line(span)).map(clean);
            if let Some(code) = code.filter(|code| !code.is_empty()) {
                line(out, &style.paint(Tone::Faint, &format!("        {code}")));
            }
        }
    }
}

/// What each engine tried, and its result.
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

/// What the user could do about an open question.
fn advice(out: &mut String, program: &Program, outcome: &Outcome) {
    let reasons = || {
        outcome.tries.iter().filter_map(|tried| match &tried.end {
            End::Unknown(reason) => Some(reason),
            End::Proved | End::Refuted | End::Stopped => None,
        })
    };
    let mut help = Vec::new();
    if let Some(hidden) = program.limiting_assumption() {
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
    if reasons().any(|reason| matches!(reason, Reason::TooLarge(_))) {
        help.push("verify a smaller part: some of the files, or functions by --entry or --thread".to_owned());
    }
    if !help.is_empty() {
        line(out, "  What may help:");
        help.iter().for_each(|help| line(out, &format!("    {help}")));
    }
}

/// Assumptions, each text once, at its first position.
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
        line(out, &format!("  {}: {}{more}", place(program, span), clean(text)));
    }
}

/// The most unproved lines that are listed.
const MOST_OPEN: usize = 40;

/// The status of the checks: how many are proved, and why the others are not.
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
    let open: Vec<&Decision> =
        found.lines.iter().filter(|decision| decision.proved < decision.checks).collect();
    open_lines(out, program, sources, &open);
    let hidden: Vec<Assumption> =
        found.given.iter().filter(|given| !program.assumptions.contains(given)).cloned().collect();
    if !hidden.is_empty() {
        line(out, "  This takes for granted:");
        assumptions(out, program, &hidden);
    }
}

/// The lines whose checks are not all proved, and why.
fn open_lines(out: &mut String, program: &Program, sources: &Sources, open: &[&Decision]) {
    for decision in open.iter().take(MOST_OPEN) {
        let of = match (decision.checks - decision.proved, decision.checks) {
            (1, 1) => String::new(),
            (open, checks) => format!(" ({open} of {checks} call paths)"),
        };
        let more = match decision.why.len() {
            0 | 1 => String::new(),
            2 => "; and one more case".to_owned(),
            cases => format!("; and {} more cases", cases - 1),
        };
        let why = decision.why.first().map_or("", String::as_str);
        line(out, &format!("  not proved: {}{of}: {why}{more}", position(program, decision.span)));
        if let Some(code) = sources.line(decision.span) {
            line(out, &format!("      {}", clean(code)));
        }
    }
    let more = open.len().saturating_sub(MOST_OPEN);
    if more > 0 {
        line(out, &format!("  and {more} more lines"));
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// What an outcome is about.
pub(crate) fn about(outcome: &Outcome) -> String {
    match &outcome.variable {
        Some(variable) => format!("`{}`", clean(variable)),
        None => subject(outcome.check).to_owned(),
    }
}

/// The time of an outcome, if several are listed.
fn time(outcome: &Outcome) -> String {
    outcome.variable.as_ref().map_or_else(String::new, |_| format!(", {:.1} s", outcome.seconds))
}

fn subject(check: Check) -> &'static str {
    match check {
        Check::Assertions => "assertions",
        Check::ReachError => "calls of the error function",
        Check::Races => "data races",
        Check::Bounds | Check::Deref => "invalid accesses",
        Check::Free => "invalid frees",
        Check::Memtrack => "lost memory",
        Check::Memcleanup => "memory that is left",
        Check::Overflow => "signed overflow",
        Check::Deadlock => "deadlocks",
    }
}

/// A summary of a proof, in one line.
pub fn reason(proof: &Proof) -> String {
    match proof {
        Proof::Exhaustive { states, .. } => format!("all executions were followed, {states} states"),
        Proof::NoErrorLocation => "there is nothing that could go wrong".to_owned(),
        Proof::OneThread => "there is only one thread".to_owned(),
        Proof::LockOrder(locks) if locks.is_empty() => "no thread waits but for others to end".to_owned(),
        Proof::LockOrder(locks) => {
            format!("threads wait for {} locks only, and take them in one order", locks.len())
        }
        Proof::Product(proof) => {
            let nodes: usize = proof.parts.iter().map(|part| part.nodes.len()).sum();
            format!("by invariants of all threads together, at {nodes} combinations of locations")
        }
        Proof::Queries(proof) => {
            let claims: usize = proof.parts.iter().flat_map(|part| &part.claims).map(Vec::len).sum();
            format!("by invariants of single threads, and {claims} claims about the others")
        }
        Proof::Spec(proof) => format!(
            "by a specification: {} functions conform, and its abstract threads together do not go wrong",
            proof.threads.len()
        ),
        Proof::Owned(proof) => match &proof.rest {
            Proof::NoErrorLocation => "by what each thread owns, for any number of threads".to_owned(),
            rest => format!("by what each thread owns, and the rest {}", reason(rest)),
        },
        Proof::Summaries(proof) => format!(
            "by locks, order and ownership in {} contexts of procedures, for any number of threads",
            proof.contexts.len()
        ),
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
            "there is no data race, {}; and where threads are switched only after what synchronises them: {}",
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

/// The violation, and the interleaving that leads there.
fn violation(out: &mut String, sources: &Sources, refutation: &Refutation, style: Style) {
    let Refutation { program, replayed, .. } = refutation;
    for (index, (text, span)) in complaint(refutation).into_iter().enumerate() {
        match (index, span) {
            (0, _) => line(out, &style.paint(Tone::Bad, &text)),
            (_, _) => line(out, &format!("  {text}")),
        }
        if let Some(code) = span.and_then(|span| sources.line(span)) {
            line(out, &style.paint(Tone::Faint, &format!("      {}", clean(code))));
        }
    }
    let threads = match replayed.threads.len() {
        1 => "one thread".to_owned(),
        many => format!("{many} threads"),
    };
    line(out, &format!("\nHow it happens, with {threads}:\n"));
    out.push_str(&columns::render(program, &Interleaving::of(refutation, sources), style));
}

/// The violation, in one sentence or more, with the lines involved.
pub fn complaint(refutation: &Refutation) -> Vec<(String, Option<Span>)> {
    let Refutation { program, replayed, .. } = refutation;
    match &replayed.violation {
        ReplayedViolation::Error { thread, kind, span } => {
            let what = match kind {
                ErrorKind::ReachError => "the error function is called",
                ErrorKind::Assertion => "an assertion fails",
                ErrorKind::InvalidAccess => "an access is outside of any live object",
                ErrorKind::Overflow => "a signed operation overflows",
                ErrorKind::InvalidFree => "memory is freed that was not allocated, or was freed before",
            };
            let text = format!("{}: {what}, in {}", place(program, *span), name(replayed, *thread));
            vec![(text, Some(*span))]
        }
        ReplayedViolation::Race { name: variable, declared, accesses, .. } => {
            let of = |object: &ir::Object| object.storage == ir::Storage::Site && object.span == *declared;
            let verb = if program.objects.iter().any(of) { "allocated" } else { "declared" };
            let declared = place(program, *declared);
            let mut all = vec![(format!("data race on `{}`, {verb} at {declared}", clean(variable)), None)];
            for access in accesses.iter() {
                let verb = if access.access.write { "writes" } else { "reads" };
                let atomic = if access.access.atomic { " atomically" } else { "" };
                let who = name(replayed, access.thread);
                let text = format!("{}: {who} {verb} it{atomic}", place(program, access.span));
                all.push((text, Some(access.span)));
            }
            all
        }
        ReplayedViolation::Leak(leak) => {
            let (what, at) = match leak.leak {
                Leak::Lost => ("is lost: no pointer leads to it", "when the program ends"),
                Leak::Left => ("is never freed", "and the program ends"),
            };
            let who = name(replayed, leak.thread);
            let text = format!(
                "{}: memory of {} bytes, allocated by {who}, {what}",
                place(program, leak.allocated),
                leak.size
            );
            vec![
                (text, Some(leak.allocated)),
                (format!("{}: {at}", place(program, leak.end)), Some(leak.end)),
            ]
        }
        ReplayedViolation::Deadlock(waits) => {
            let among = |owner: &usize| waits.iter().any(|wait| wait.thread == *owner);
            let is_cycle = waits.iter().all(|wait| match &wait.target {
                WaitTarget::Lock { owner, .. } => owner.as_ref().is_some_and(among),
                WaitTarget::Thread(owner) => among(owner),
                WaitTarget::Shared(..) => false,
            });
            let what =
                if is_cycle { "these threads wait for one another" } else { "these threads wait for ever" };
            let mut all = vec![(format!("deadlock: {what}"), None)];
            for wait in waits {
                let who = name(replayed, wait.thread);
                let what = match &wait.target {
                    WaitTarget::Lock { name: lock, owner: Some(owner) } => {
                        let verb = if among(owner) { "holds" } else { "held when it ended" };
                        format!("`{}`, which {} {verb}", lock_name(lock), name(replayed, *owner))
                    }
                    WaitTarget::Lock { name: lock, owner: None } => {
                        format!("`{}`, which others have for reading", lock_name(lock))
                    }
                    WaitTarget::Thread(owner) => format!("{} to end", name(replayed, *owner)),
                    WaitTarget::Shared(object, name) => waited_for(*object, name.as_deref(), "`"),
                };
                let text = format!("{}: {who} waits for {what}", place(program, wait.span));
                all.push((text, Some(wait.span)));
            }
            all
        }
    }
}

fn place(program: &Program, span: Span) -> String {
    clean(&position(program, span))
}
