//! The shared memory of the program as a table: each location with its status, and its accesses to unfold.

use super::{anchor, escape};
use crate::Report;
use crate::shared_memory::{Finding, Status, table};
use crate::sources::position;
use ir::Span;
use std::fmt::Write;

/// Renders the listing, if there is one.
pub(super) fn render(out: &mut String, report: &Report<'_>) {
    let Some(memory) = report.memory else { return };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<section id=\"memory\"><h2>Shared memory</h2>\n<p>{} {}</p>",
        escape(&table::headline(memory)),
        escape(&table::reached(memory))
    );
    if !memory.locations.is_empty() {
        out.push_str("<table class=\"memory\"><thead><tr><th>status</th><th>location</th><th>declared</th><th>because</th></tr></thead><tbody>\n");
        for finding in &memory.locations {
            row(out, report, finding, table::status(memory, finding));
        }
        out.push_str("</tbody></table>\n");
    }
    out.push_str("</section>\n");
}

fn row(out: &mut String, report: &Report<'_>, finding: &Finding, status: &str) {
    let class = match &finding.status {
        Status::Race(_) => "bad",
        Status::Possible(_) | Status::Open(_) => "open",
        Status::RaceFree(_) => "good",
    };
    let at = |span: Span| escape(&position(report.program, Span { column: 0, ..span }));
    let _ = write!(
        out,
        "<tr><td class=\"{class}\">{status}</td><td><code>{}</code></td><td>{}</td><td>{}",
        escape(&finding.name),
        at(finding.declared),
        escape(&finding.because())
    );
    let _ = write!(out, "<details><summary>{} accesses</summary><ul>", finding.accesses.len());
    for access in &finding.accesses {
        let _ = write!(
            out,
            "<li><a href=\"#line-{}\">{}</a> {}</li>",
            anchor(access.span),
            at(access.span),
            escape(&table::access(access))
        );
    }
    out.push_str("</ul></details></td></tr>\n");
}
