//! The source in the page, with facts in the margin.

use super::{Extras, anchor, escape, given_files};
use crate::{Report, listing};
use ir::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use verdict::{Decision, ListedLine};

/// The most lines of a file that are shown.
const MOST_LINES: usize = 20_000;

pub fn render(out: &mut String, report: &Report<'_>, extras: &Extras<'_>) {
    out.push_str("<section id=\"source\"><h2>Source</h2>\n");
    if extras.listing.is_none() {
        out.push_str("<p class=\"faint\">What is known at each line is not at hand.</p>\n");
    }
    let notes = margin(report, extras);
    for file in shown_files(report, extras) {
        let name = report.program.files.get(file as usize).map_or("?", String::as_str);
        let _ = writeln!(
            out,
            "<h3>{}</h3>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"source\"><tbody>",
            escape(name)
        );
        for (line, text) in report.sources.lines(file).take(MOST_LINES) {
            let span = Span { file, line, column: 0 };
            let _ = write!(
                out,
                "<tr id=\"line-{}\"><td class=\"number\">{line}</td><td>{}</td><td class=\"margin\">",
                anchor(span),
                escape(text)
            );
            for (class, note) in notes.get(&(file, line)).into_iter().flatten() {
                let _ = write!(out, "<div class=\"{class}\">{}</div>", escape(note));
            }
            out.push_str("</td></tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }
    out.push_str("</section>\n");
}

/// The files with code, except those of the system.
fn shown_files(report: &Report<'_>, extras: &Extras<'_>) -> BTreeSet<u32> {
    let own = given_files(report.program);
    let edges = extras.lowered.templates.iter().flat_map(|code| code.edges.iter());
    let files = edges.filter(|edge| edge.span.line > 0).map(|edge| edge.span.file);
    let is_own = |file: &u32| {
        report.program.files.get(*file as usize).is_some_and(|name| own.contains(&name.as_str()))
    };
    files.filter(is_own).collect()
}

/// The notes beside each line: kind and text.
type Margin = BTreeMap<(u32, u32), Vec<(&'static str, String)>>;

fn margin(report: &Report<'_>, extras: &Extras<'_>) -> Margin {
    let mut notes = Margin::new();
    let mut before: Option<&ListedLine> = None;
    for line in extras.listing.iter().flat_map(|listing| &listing.lines) {
        let known = before.filter(|before| listing::same_function(before, line));
        let found = listing::notes(report.program, known, line);
        let place = notes.entry((line.span.file, line.span.line)).or_default();
        place.extend(found.into_iter().map(|note| ("note", note)));
        before = Some(line);
    }
    let decisions = report.outcomes.iter().filter_map(|outcome| outcome.decisions.as_ref());
    for decision in decisions.flat_map(|decisions| &decisions.lines) {
        let Decision { span, checks, proved, why, .. } = decision;
        let place = notes.entry((span.file, span.line)).or_default();
        if proved == checks {
            place.push(("proved", "proved".to_owned()));
        } else {
            place.extend(why.iter().map(|why| ("unproved", format!("not proved: {why}"))));
        }
    }
    notes
}
