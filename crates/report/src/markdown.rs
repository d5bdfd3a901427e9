//! The report in Markdown, for code review comments: the execution is a table.
//!
//! All text from the program is in `<code>`, with the special characters of Markdown and HTML escaped, so
//! that it is never interpreted.

use crate::human::{about, complaint, reason};
use crate::interleaving::{Interleaving, Row, Shown, place, values_after};
use crate::shared_memory::{Status, table};
use crate::sources::position;
use crate::style::clean;
use crate::words::in_words;
use crate::{Report, SharedMemory, Sources};
use checker::{Checked, Refutation};
use ir::Span;
use std::fmt::Write;

/// The most threads with separate columns; more do not fit on a page.
const MOST_COLUMNS: usize = 6;

/// Renders all outcomes.
pub fn render(report: &Report<'_>) -> String {
    let Report { program, sources, outcomes, answer, .. } = *report;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "## threadproof: {}\n", code(&answer.to_string()));
    if let Some(words) = in_words(outcomes) {
        let _ = writeln!(out, "{}.\n", escape(&words));
    }
    for outcome in outcomes {
        let subject = escape(&about(outcome));
        match &outcome.verdict {
            Checked::Proved(proof) => {
                let _ = writeln!(out, "### {subject}: proved\n\n{}.\n", escape(&reason(proof)));
                for part in report.story(outcome.check).iter().flat_map(|story| &story.parts) {
                    let _ = writeln!(out, "{}:\n", escape(&part.title));
                    for claim in &part.claims {
                        let at = claim.span.map(|span| position(program, Span { column: 0, ..span }));
                        let at = at.map(|at| format!("{}: ", escape(&at))).unwrap_or_default();
                        let _ = writeln!(out, "* {at}{}", code(&claim.text));
                    }
                    out.push('\n');
                }
            }
            Checked::Unknown(reason) => {
                let _ = writeln!(out, "### {subject}: unknown\n\n{}.\n", escape(&reason.to_string()));
                let open = outcome.decisions.iter().flat_map(|decisions| &decisions.lines);
                for line in open.filter(|line| line.proved < line.checks) {
                    let why = line.why.first().map_or("", String::as_str);
                    let at = escape(&position(program, line.span));
                    let _ = writeln!(out, "* not proved: {at}: {}", escape(why));
                }
                out.push('\n');
            }
            Checked::Refuted(refutation) => violation(&mut out, sources, &subject, refutation),
        }
        if !outcome.tries.is_empty() {
            out.push_str("<details><summary>What was tried</summary>\n\n| engine | seconds | what came of it |\n|---|---|---|\n");
            for tried in &outcome.tries {
                let end = escape(&tried.end.to_string());
                let _ = writeln!(out, "| {} | {:.2} | {end} |", tried.engine, tried.seconds);
            }
            out.push_str("\n</details>\n\n");
        }
    }
    if let Some(memory) = report.memory {
        shared_memory(&mut out, report, memory);
    }
    if !program.assumptions.is_empty() {
        out.push_str("This takes for granted:\n\n");
        for assumption in &program.assumptions {
            let at = escape(&position(program, assumption.span));
            let _ = writeln!(out, "* {at}: {}", escape(&assumption.text));
        }
        out.push('\n');
    }
    let _ = writeln!(out, "verdict: {}", escape(&answer.to_string()));
    out
}

/// The listing of shared memory: a table of locations that are not race-free, and the others by reason.
fn shared_memory(out: &mut String, report: &Report<'_>, memory: &SharedMemory) {
    let program = report.program;
    let at = |span: Span| escape(&position(program, Span { column: 0, ..span }));
    let _ = writeln!(
        out,
        "### shared memory\n\n{} {}\n",
        escape(&table::headline(memory)),
        escape(&table::reached(memory))
    );
    let undecided =
        || memory.locations.iter().filter(|finding| !matches!(finding.status, Status::RaceFree(_)));
    if undecided().next().is_some() {
        out.push_str("| status | location | declared | accesses |\n|---|---|---|---|\n");
    }
    for finding in undecided() {
        let pairs = table::pairs(finding, 1).into_iter().flatten();
        let mut texts: Vec<String> =
            pairs.map(|access| format!("{}: {}", at(access.span), escape(&table::access(access)))).collect();
        if texts.is_empty() {
            texts.push(escape(&finding.because()));
        }
        let (status, name) = (table::status(memory, finding), code(&finding.name));
        let _ = writeln!(out, "| {status} | {name} | {} | {} |", at(finding.declared), texts.join("<br>"));
    }
    let free = table::by_reason(memory);
    if !free.is_empty() {
        let assuming = if memory.conditional { ", assuming what could hide behaviour" } else { "" };
        let _ = writeln!(out, "\n<details><summary>race-free{assuming}</summary>\n");
        for (because, names) in free {
            let names: Vec<String> = names.into_iter().map(code).collect();
            let _ = writeln!(out, "* {}: {}", escape(&because), names.join(", "));
        }
        out.push_str("\n</details>\n");
    }
    out.push('\n');
}

fn violation(out: &mut String, sources: &Sources, subject: &str, refutation: &Refutation) {
    let _ = writeln!(out, "### {subject}: violated\n");
    for (text, span) in complaint(refutation) {
        let _ = writeln!(out, "* {}", escape(&text));
        if let Some(line) = span.and_then(|span| sources.line(span)) {
            let _ = writeln!(out, "  {}", code(line));
        }
    }
    let program = &refutation.program;
    let interleaving = Interleaving::of(refutation, sources);
    let threads = interleaving.active();
    let apart = threads.len() <= MOST_COLUMNS;
    let first = interleaving.rows.first().map(|row| row.span.file);
    let several_files = interleaving.rows.iter().any(|row| Some(row.span.file) != first);
    out.push_str("\n| line |");
    if apart {
        for thread in &threads {
            let name = interleaving.threads.get(*thread).map_or("?", String::as_str);
            let _ = write!(out, " thread {thread}: {} |", code(name));
        }
    } else {
        out.push_str(" thread | |");
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(if apart { threads.len() } else { 2 }));
    out.push('\n');
    let mut put = |place: &str, thread: usize, text: &str| {
        let _ = write!(out, "| {} |", escape(place));
        if apart {
            for column in &threads {
                let _ = write!(out, " {} |", if *column == thread { text } else { "" });
            }
        } else {
            let _ = write!(out, " {thread} | {text} |");
        }
        out.push('\n');
    };
    for shown in interleaving.shown() {
        match shown {
            Shown::Row(row) => put(&place(program, row.span, several_files), row.thread, &cell(row)),
            Shown::Folded(rows) => {
                let text = format!("⋮ {} more lines {}", rows.len(), escape(&values_after(rows)));
                put("", rows.first().map_or(0, |row| row.thread), text.trim_end());
            }
            Shown::Gap(rows) => put("⋮", 0, &format!("{rows} lines of all threads")),
        }
    }
    out.push('\n');
}

fn cell(row: &Row) -> String {
    let mut text = code(&row.code);
    let effects = row.effects();
    if !effects.is_empty() {
        let _ = write!(text, "<br>▸ {}", escape(&effects.join(", ")));
    }
    if let Some(waits) = &row.waits {
        let _ = write!(text, "<br>‖ {}", escape(waits));
    }
    if let Some(mark) = &row.mark {
        let _ = write!(text, "<br>**✗ {}**", escape(mark));
    }
    if let Some(locks) = row.locks() {
        let _ = write!(text, "<br>▪ {}", escape(&locks));
    }
    text
}

/// Escaped text.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '!' | '$' | '@' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Text of the program.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<code>{}</code>", escape(text)) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_text_is_a_command() {
        assert_eq!(super::code("a|b<c>`d`"), "<code>a&#124;b&lt;c&gt;&#96;d&#96;</code>");
        assert_eq!(super::escape("*x* [y](z)\n# t"), "&#42;x&#42; &#91;y&#93;(z) &#35; t");
    }
}
