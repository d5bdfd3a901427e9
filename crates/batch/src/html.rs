//! The results of a batch as one self-contained page: a table that is sorted by clicking on its columns and
//! filtered by words, with links to the page of each job.

use crate::job::Job;
use crate::runner;
use crate::summary::{Entry, Standing, Summary};
use report::html::{Page, escape};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = include_str!("html/table.css");
const SCRIPT: &str = include_str!("html/table.js");
/// The columns, and whether they are sorted as numbers.
const COLUMNS: [(&str, bool); 8] = [
    ("Task", false),
    ("Property", false),
    ("Verdict", false),
    ("Expected", false),
    ("Standing", false),
    ("Seconds", true),
    ("Processor", true),
    ("MB", true),
];

/// Renders the page. `is_there`: whether a file is in the folder of the page.
pub fn render(plan: &str, entries: &[Entry<'_>], is_there: &dyn Fn(&Path) -> bool) -> String {
    let sum = Summary::of(entries);
    let mut header = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        header,
        "<h1>threadproof: {} of {} checks</h1>\n<p class=\"faint\">{} · threadproof {}</p>\n",
        sum.finished,
        sum.jobs,
        escape(plan),
        env!("CARGO_PKG_VERSION")
    );
    let mut body = String::from("<section id=\"summary\">\n<ul class=\"counts\">\n");
    let counts = [
        ("good", sum.proved, "proved"),
        ("bad", sum.refuted, "refuted"),
        ("open", sum.unknown, "unknown"),
        ("open", sum.errors, "errors"),
        ("faint", sum.cached, "from the cache"),
    ];
    for (tone, count, what) in counts {
        let _ = writeln!(body, "<li><b class=\"{tone}\">{count}</b> {what}</li>");
    }
    body.push_str("</ul>\n");
    if sum.expected > 0 {
        let _ = writeln!(
            body,
            "<p>Expected verdicts: {} of {} right, <b class=\"{}\">{} wrong</b>; score {} of {}.</p>",
            sum.right,
            sum.expected,
            if sum.wrong > 0 { "bad" } else { "good" },
            sum.wrong,
            sum.score,
            sum.best_score
        );
    }
    let _ = writeln!(
        body,
        "<p>{:.1} s in all, {:.1} s of processor time.</p>\n</section>\n<section id=\"jobs\">\n\
         <p><label>Filter <input id=\"filter\" type=\"search\" placeholder=\"words: race unknown file.c\"></label> \
         <span id=\"shown\" class=\"faint\" role=\"status\"></span></p>\n<div class=\"scroll\" tabindex=\"0\"><table id=\"table\">\n<thead><tr>",
        sum.seconds, sum.cpu_seconds
    );
    for (title, is_number) in COLUMNS {
        let kind = if is_number { " class=\"number\"" } else { "" };
        let _ = write!(body, "<th{kind} aria-sort=\"none\"><button type=\"button\">{title}</button></th>");
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    entries.iter().for_each(|entry| row(&mut body, entry, is_there));
    body.push_str("</tbody>\n</table></div>\n</section>\n");
    let title = format!("threadproof: {} of {} checks", sum.finished, sum.jobs);
    let page = Page {
        title: &title,
        header: &header,
        body: &body,
        data: &Value::Null,
        style: STYLE,
        script: SCRIPT,
    };
    report::html::assemble(&page)
}

fn row(out: &mut String, entry: &Entry<'_>, is_there: &dyn Fn(&Path) -> bool) {
    let Job { name, asked, expected, .. } = entry.job;
    let standing = entry.standing();
    let (report, page) = runner::outputs(entry.id);
    let name = match [page, report].iter().find(|path| entry.finished.is_some() && is_there(path)) {
        Some(path) => format!("<a href=\"{}\">{}</a>", escape(&path.display().to_string()), escape(name)),
        None => escape(name),
    };
    let tone = |verdict: &crate::Verdict| match verdict {
        crate::Verdict::True => "good",
        crate::Verdict::False(_) => "bad",
        crate::Verdict::Unknown(_) | crate::Verdict::Error(_) => "open",
    };
    let verdict = entry.finished.as_ref().map_or("not run".to_owned(), |finished| {
        let cached = if finished.is_cached { " <span class=\"faint\">(cache)</span>" } else { "" };
        let (tone, text) = (tone(&finished.verdict), escape(&finished.verdict.to_string()));
        format!("<span class=\"{tone}\">{text}</span>{cached}")
    });
    let expected = expected.as_ref().map_or(String::new(), |expected| escape(&expected.to_string()));
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
    let finished = entry.finished.as_ref();
    let is_wrong = if standing == Standing::Wrong { " class=\"wrong\"" } else { "" };
    let _ = writeln!(
        out,
        "<tr{is_wrong}><td>{name}</td><td>{}</td><td>{verdict}</td><td>{expected}</td><td>{}</td>\
         <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
        escape(&asked.name()),
        standing.name(),
        number(finished.map(|finished| finished.seconds)),
        number(finished.map(|finished| finished.cpu_seconds)),
        number(finished.map(|finished| finished.bytes as f64 / f64::from(1 << 20))),
    );
}
