//! The source, annotated with facts at each line.

use crate::sources::position;
use crate::{Outcome, Sources};
use checker::Checked;
use ir::{Program, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use verdict::{Decision, Interference, KnownValue, ListedFact, ListedLine, Listing};

/// Lines between two with code are shown if they are at most this many.
const LARGEST_GAP: u32 = 3;
/// The most writes of one variable that are listed.
const MOST_WRITERS: usize = 4;
/// The longest line of facts.
const WIDTH: usize = 100;

/// Renders the lines of a program, and what is known of its checks.
pub fn render(program: &Program, sources: &Sources, listing: &Listing, outcome: &Outcome) -> String {
    let mut out = String::new();
    let lines = outcome.decisions.iter().flat_map(|decisions| &decisions.lines);
    let decisions: BTreeMap<(u32, u32), Vec<&Decision>> = lines.fold(BTreeMap::new(), |mut all, line| {
        all.entry((line.span.file, line.span.line)).or_default().push(line);
        all
    });
    let mut before: Option<&ListedLine> = None;
    for line in &listing.lines {
        heading(&mut out, program, sources, before, line);
        let known = before.filter(|before| same_function(before, line));
        for note in notes(program, known, line) {
            note_line(&mut out, &note);
        }
        for decision in decisions.get(&(line.span.file, line.span.line)).into_iter().flatten() {
            decision_notes(&mut out, decision);
        }
        source_line(&mut out, sources, line.span);
        before = Some(line);
    }
    out.push('\n');
    let check = outcome.check.name();
    let _ = match &outcome.verdict {
        Checked::Proved(_) => writeln!(out, "{check}: proved"),
        Checked::Refuted(_) => writeln!(out, "{check}: refuted"),
        Checked::Unknown(reason) => writeln!(out, "{check}: not proved: {reason}"),
    };
    out
}

pub(crate) fn same_function(a: &ListedLine, b: &ListedLine) -> bool {
    a.function == b.function && a.span.file == b.span.file
}

/// The text between the line before and this one: the function's name, lines without code, or a gap.
fn heading(
    out: &mut String,
    program: &Program,
    sources: &Sources,
    before: Option<&ListedLine>,
    line: &ListedLine,
) {
    match before {
        Some(before) if same_function(before, line) => {
            let gap = before.span.line + 1..line.span.line;
            if gap.len() as u32 > LARGEST_GAP {
                out.push_str("      ⋮\n");
                return;
            }
            for number in gap {
                let span = Span { line: number, ..line.span };
                if sources.whole_line(span).is_some_and(|text| !text.trim().is_empty()) {
                    source_line(out, sources, span);
                }
            }
        }
        Some(_) | None => {
            let at = position(program, Span { line: 0, ..line.span });
            let blank = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{blank}── {} ── {at}", line.function);
        }
    }
}

fn source_line(out: &mut String, sources: &Sources, span: Span) {
    let text = sources.whole_line(span).unwrap_or("(the source is not at hand)");
    let _ = writeln!(out, "{:5} │ {text}", span.line);
}

fn note_line(out: &mut String, note: &str) {
    let _ = writeln!(out, "      ┊   {note}");
}

/// What is new at a line.
pub fn notes(program: &Program, before: Option<&ListedLine>, line: &ListedLine) -> Vec<String> {
    if !line.reached {
        let known = before.is_some_and(|before| !before.reached);
        return if known { Vec::new() } else { vec!["no thread ever comes here".to_owned()] };
    }
    // Facts of an unreachable line are not compared with.
    let before = before.filter(|before| before.reached);
    let mut notes = wrapped(&facts(before, line));
    let held = |line: &ListedLine| -> BTreeSet<(String, bool)> { line.locks.iter().cloned().collect() };
    let (now, earlier) = (held(line), before.map(held).unwrap_or_default());
    if now != earlier {
        let name = |(name, shared): &(String, bool)| {
            format!("{name}{}", if *shared { " (for reading)" } else { "" })
        };
        let names: Vec<String> = now.iter().map(name).collect();
        notes.push(if names.is_empty() {
            "holds no lock".to_owned()
        } else {
            format!("holds {}", names.join(", "))
        });
    }
    let old = before.map(|before| before.interference.as_slice()).unwrap_or_default();
    for found in line.interference.iter().filter(|found| !old.contains(found)) {
        notes.push(interference(program, line.span, found));
    }
    notes
}

/// Facts that the line before does not have, and those of the line before that no longer hold.
fn facts(before: Option<&ListedLine>, line: &ListedLine) -> Vec<String> {
    let old = before.map(|before| before.facts.as_slice()).unwrap_or_default();
    let mut texts = Vec::new();
    for fact in line.facts.iter().filter(|fact| !old.contains(fact)) {
        let said =
            |old: &ListedFact| old.variable == fact.variable && matches!(old.known, KnownValue::Among(..));
        match &fact.known {
            KnownValue::Any if old.iter().any(said) => texts.push(format!("{}: any", fact.variable)),
            KnownValue::Any => {}
            KnownValue::Among(bounds, ty) => {
                texts.extend(verdict::known_text(&fact.variable, bounds, *ty));
            }
            KnownValue::Related(rest) => texts.push(format!("{} {rest}", fact.variable)),
        }
    }
    texts
}

/// Packs texts into as few lines as possible.
fn wrapped(texts: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + text.chars().count() < WIDTH => {
                line.push_str(&format!(", {text}"));
            }
            _ => lines.push(text.clone()),
        }
    }
    lines
}

fn interference(program: &Program, here: Span, found: &Interference) -> String {
    let writers = found.writers.iter().take(MOST_WRITERS).map(|(thread, span)| {
        let place = match span.file == here.file {
            true => format!("line {}", span.line),
            false => position(program, *span),
        };
        format!("{thread} ({place})")
    });
    let writers: Vec<String> = writers.collect();
    let more = found.writers.len().saturating_sub(MOST_WRITERS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("others may write {}: {}{more}", found.variable, writers.join(", "))
}

fn decision_notes(out: &mut String, decision: &Decision) {
    let open = decision.checks - decision.proved;
    if open == 0 {
        note_line(out, "proved");
        return;
    }
    let of = if decision.checks > 1 {
        format!(" ({open} of {} checks here)", decision.checks)
    } else {
        String::new()
    };
    for why in &decision.why {
        note_line(out, &format!("NOT PROVED{of}: {why}"));
    }
}
