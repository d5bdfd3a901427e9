//! The report as one self-contained HTML file: the source with facts in the margin, the execution as swim
//! lanes to step through, the control-flow automata, inferred contexts, and a timeline of the engines.
//!
//! All text from the program is escaped, and the page's content security policy allows only its own script,
//! by its hash.

mod automata;
mod shared_memory;
mod source;

use crate::human::{about, complaint, reason};
use crate::interleaving::{Interleaving, Row, place};
use crate::sources::position;
use crate::style::clean;
use crate::words::in_words;
use crate::{End, Outcome, Report};
use checker::{Checked, Refutation};
use ir::{Program, Span};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use verdict::Listing;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");
/// The most rows of an execution: its end.
const MOST_ROWS: usize = 2_000;

/// The contents of the page besides verdicts.
pub struct Extras<'a> {
    /// The program, lowered for the first check: its automata are shown.
    pub lowered: &'a Program,
    /// The facts at each line.
    pub listing: Option<&'a Listing>,
    /// The automata of proofs by contexts: the name of the check, and a picture.
    pub contexts: &'a [(String, String)],
}

/// Renders the page.
pub fn render(report: &Report<'_>, extras: &Extras<'_>) -> String {
    let mut body = String::new();
    let mut traces: Vec<Value> = Vec::new();
    verdicts(&mut body, report);
    for outcome in report.outcomes {
        if let Checked::Refuted(refutation) = &outcome.verdict {
            lanes(&mut body, report, refutation, &mut traces);
        }
    }
    shared_memory::render(&mut body, report);
    source::render(&mut body, report, extras);
    automata::contexts(&mut body, extras.contexts);
    let automata = automata::render(&mut body, extras.lowered);
    timeline(&mut body, report.outcomes);
    assumptions(&mut body, report);
    let has_contexts = !extras.contexts.is_empty();
    document(report, &body, has_contexts, &json!({ "traces": traces, "automata": automata }))
}

/// The whole page around its body.
fn document(report: &Report<'_>, body: &str, has_contexts: bool, data: &Value) -> String {
    let memory = report.memory.map_or("", |_| "<a href=\"#memory\">Shared memory</a>");
    let context = if has_contexts { "<a href=\"#context\">Context</a>" } else { "" };
    let files: Vec<String> = given_files(report.program).into_iter().map(escape).collect();
    let (files, verdict) = (files.join(", "), report.answer.to_string());
    let header = format!(
        "<h1>threadproof: <span class=\"{tone}\">{verdict}</span></h1>\n{words}<p class=\"faint\">{files} · threadproof {version}</p>\n\
         <nav><a href=\"#verdicts\">Verdicts</a>{memory}<a href=\"#source\">Source</a>{context}<a href=\"#automata\">Automata</a><a href=\"#timeline\">Timeline</a></nav>",
        tone = tone(report),
        verdict = escape(&verdict),
        words =
            in_words(report.outcomes).map(|words| format!("<p>{}</p>\n", escape(&words))).unwrap_or_default(),
        version = env!("CARGO_PKG_VERSION"),
    );
    let title = format!("threadproof: {verdict}");
    assemble(&Page { title: &title, header: &header, body, data, style: "", script: SCRIPT })
}

/// The parts of a page that needs nothing else.
pub struct Page<'a> {
    /// Its title, as plain text.
    pub title: &'a str,
    /// What stands at the top, as HTML.
    pub header: &'a str,
    /// The rest, as HTML.
    pub body: &'a str,
    /// What its script reads from the element `data`.
    pub data: &'a Value,
    /// Rules besides those of all pages.
    pub style: &'a str,
    /// Its script: no other one runs.
    pub script: &'a str,
}

/// Puts a page together.
pub fn assemble(page: &Page<'_>) -> String {
    let Page { title, header, body, data, style, script } = page;
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(script))
    );
    let title = escape(title);
    // No text in it can end the element.
    let data = data.to_string().replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n\
         <header>{header}</header>\n\
         <main>\n{body}</main>\n<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n"
    )
}

fn tone(report: &Report<'_>) -> &'static str {
    match report.answer {
        crate::Answer::True => "good",
        crate::Answer::False(_) => "bad",
        crate::Answer::Unknown(_) => "open",
    }
}

/// The files of the program that are no headers of the system.
fn given_files(program: &Program) -> Vec<&str> {
    let own = |name: &&str| !name.starts_with('<') && !name.starts_with("/usr/");
    program.files.iter().map(String::as_str).filter(own).collect()
}

fn verdicts(out: &mut String, report: &Report<'_>) {
    out.push_str("<section id=\"verdicts\"><h2>Verdicts</h2>\n");
    for outcome in report.outcomes {
        let subject = escape(&about(outcome));
        // Writing to a string cannot fail.
        let _ = match &outcome.verdict {
            Checked::Proved(proof) => {
                writeln!(out, "<p>{subject}: <b class=\"good\">proved</b>, {}.</p>", escape(&reason(proof)))
            }
            Checked::Refuted(refutation) => {
                let texts: Vec<String> = complaint(refutation).iter().map(|(text, _)| marked(text)).collect();
                writeln!(out, "<p>{subject}: <b class=\"bad\">violated</b>: {}.</p>", texts.join("<br>"))
            }
            Checked::Unknown(reason) => {
                writeln!(
                    out,
                    "<p>{subject}: <b class=\"open\">unknown</b>: {}.</p>",
                    escape(&reason.to_string())
                )
            }
        };
        for part in report.story(outcome.check).iter().flat_map(|story| &story.parts) {
            let _ = writeln!(out, "<p>{}:</p><ul>", escape(&part.title));
            for claim in &part.claims {
                let at = claim.span.map(|span| position(report.program, Span { column: 0, ..span }));
                let at = at.map(|at| format!("<span class=\"faint\">{}</span> ", escape(&at)));
                let _ =
                    writeln!(out, "<li>{}<code>{}</code></li>", at.unwrap_or_default(), escape(&claim.text));
            }
            out.push_str("</ul>\n");
        }
    }
    out.push_str("</section>\n");
}

/// The name of a source position in the page.
fn anchor(span: Span) -> String {
    format!("{}-{}", span.file, span.line)
}

fn lanes(out: &mut String, report: &Report<'_>, refutation: &Refutation, traces: &mut Vec<Value>) {
    let interleaving = Interleaving::of(refutation, report.sources);
    let threads = interleaving.active();
    let left_out = interleaving.rows.len().saturating_sub(MOST_ROWS);
    let rows = &interleaving.rows[left_out..];
    let first = rows.first().map(|row| row.span.file);
    let several_files = rows.iter().any(|row| Some(row.span.file) != first);
    let number = traces.len();
    let title: Vec<String> = complaint(refutation).iter().take(1).map(|(text, _)| marked(text)).collect();
    let _ = writeln!(
        out,
        "<section><h2>How it happens: {}</h2>\n<p class=\"faint\"><kbd>↓</kbd> <kbd>↑</kbd> step, <kbd>n</kbd> <kbd>p</kbd> next and last change of threads, <kbd>Home</kbd> <kbd>End</kbd>.</p>",
        title.join("")
    );
    if left_out > 0 {
        let _ = writeln!(out, "<p>The first {left_out} lines are left out.</p>");
    }
    let _ = write!(
        out,
        "<div class=\"stepper\"><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"execution\"><table class=\"lanes\" id=\"trace-{number}\"><thead><tr><th>line</th>"
    );
    for thread in &threads {
        let name = interleaving.threads.get(*thread).map_or("?", String::as_str);
        let _ = write!(out, "<th>thread {thread}: {}</th>", escape(name));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        let class = if row.mark.is_some() { " class=\"marked\"" } else { "" };
        let at = escape(&place(&refutation.program, row.span, several_files));
        let _ = write!(out, "<tr{class}><td class=\"number\">{at}</td>");
        for thread in &threads {
            let _ = write!(out, "<td>{}</td>", if *thread == row.thread { cell(row) } else { String::new() });
        }
        out.push_str("</tr>\n");
    }
    let _ = writeln!(
        out,
        "</tbody></table></div><dl class=\"values\" id=\"values-{number}\" aria-live=\"polite\"></dl></div></section>"
    );
    let entries: Vec<Value> = rows.iter().map(entry).collect();
    traces.push(json!({ "threads": interleaving.threads, "rows": entries }));
}

fn cell(row: &Row) -> String {
    let mut text = escape(&row.code);
    let mut add = |class: &str, sign: &str, what: &str| {
        let _ = write!(text, "<span class=\"{class}\">{sign} {}</span>", escape(what));
    };
    let effects = row.effects();
    if !effects.is_empty() {
        add("effect", "▸", &effects.join(", "));
    }
    if let Some(waits) = &row.waits {
        add("waits", "‖", waits);
    }
    if let Some(mark) = &row.mark {
        add("wrong", "✗", mark);
    }
    if let Some(locks) = row.locks() {
        add("held", "▪", &locks);
    }
    text
}

/// A row for the script.
fn entry(row: &Row) -> Value {
    let changes: Vec<Value> = row
        .changes
        .iter()
        .map(|change| {
            let value = change.value.map_or("anything".to_owned(), |value| value.to_string());
            json!({ "name": clean(&change.name), "own": change.own, "value": value })
        })
        .collect();
    let edge = row.last.map(|(template, edge)| json!([template.to_string(), edge.to_string()]));
    json!({ "thread": row.thread, "place": anchor(row.span), "changes": changes, "held": row.held, "edge": edge })
}

fn timeline(out: &mut String, outcomes: &[Outcome]) {
    out.push_str("<section id=\"timeline\"><h2>Engine timeline</h2>\n");
    for outcome in outcomes {
        let _ = writeln!(
            out,
            "<h3>{}: {:.2} s</h3><table class=\"timeline\"><tbody>",
            escape(&about(outcome)),
            outcome.seconds
        );
        let whole = outcome.tries.iter().map(|tried| tried.started + tried.seconds + tried.checking);
        let whole = whole.fold(outcome.seconds, f64::max).max(1e-6);
        for tried in &outcome.tries {
            let percent = |seconds: f64| 100.0 * seconds / whole;
            let class = match tried.end {
                End::Proved => "good",
                End::Refuted => "bad",
                End::Stopped => "faint",
                End::Unknown(_) => "open",
            };
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{:.2} s</td><td class=\"bars\"><div class=\"track\"><div class=\"bar\" style=\"left:{:.2}%;width:{:.2}%\"></div><div class=\"bar checking\" style=\"left:{:.2}%;width:{:.2}%\" title=\"checking the evidence\"></div></div></td><td class=\"{class}\">{}</td></tr>",
                escape(tried.engine),
                tried.seconds,
                percent(tried.started),
                percent(tried.seconds),
                percent(tried.started + tried.seconds),
                percent(tried.checking),
                escape(&tried.end.to_string()),
            );
        }
        out.push_str("</tbody></table>\n");
    }
    out.push_str("</section>\n");
}

fn assumptions(out: &mut String, report: &Report<'_>) {
    if report.program.assumptions.is_empty() {
        return;
    }
    out.push_str("<section><h2>This takes for granted</h2><ul>\n");
    for assumption in &report.program.assumptions {
        let at = escape(&position(report.program, assumption.span));
        let _ = writeln!(out, "<li><span class=\"faint\">{at}</span> {}</li>", escape(&assumption.text));
    }
    out.push_str("</ul></section>\n");
}

/// Text inside of HTML, with code where there are backticks around it.
fn marked(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    // Backticks count only in pairs.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let part = |(index, part): (usize, &&str)| match index % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Text inside of HTML, and inside of its attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Bytes in base 64, as policies write hashes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * position)) as usize & 63];
            out.push(if position <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn backticks_mark_code() {
        assert_eq!(super::marked("on `a<b>`, and `c`"), "on <code>a&lt;b&gt;</code>, and <code>c</code>");
        assert_eq!(super::marked("one ` alone"), "one ` alone");
    }

    #[test]
    fn base64_is_as_others_have_it() {
        assert_eq!(super::base64(b"Man"), "TWFu");
        assert_eq!(super::base64(b"Ma"), "TWE=");
        assert_eq!(super::base64(b"M"), "TQ==");
    }
}
