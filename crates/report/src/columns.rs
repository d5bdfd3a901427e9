//! An execution on a terminal: a column for each thread, or one for all if there is no room.

use crate::interleaving::{Interleaving, Row, Shown, place, values_after};
use crate::style::{Style, Tone, cut, padded, width, wrapped};
use ir::Program;
use ir::semantics::ThreadIndex;

/// The least width of a column; below it, there is only one column.
const NARROWEST: usize = 20;
/// Wider columns are no easier to read, unless there is only one.
const WIDEST: usize = 56;
const WIDEST_ALONE: usize = 100;

/// A line in a column.
struct CellLine {
    text: String,
    tone: Tone,
}

/// Renders an execution.
pub fn render(program: &Program, interleaving: &Interleaving, style: Style) -> String {
    let threads = interleaving.active();
    let first = interleaving.rows.first().map(|row| row.span.file);
    let several_files = interleaving.rows.iter().any(|row| Some(row.span.file) != first);
    let at = |row: &Row| place(program, row.span, several_files);
    let labels = interleaving.rows.iter().map(|row| width(&at(row))).max().unwrap_or(0).max(4);
    // Each column has a bar and two blanks before it.
    let free = style.width.saturating_sub(labels + 2);
    let room = free / threads.len().max(1);
    let table = if room >= NARROWEST + 3 {
        Table {
            style,
            labels,
            columns: threads.clone(),
            each: (room - 3).min(if threads.len() == 1 { WIDEST_ALONE } else { WIDEST }),
        }
    } else {
        let each = free.saturating_sub(3 + 4).max(12);
        Table { style, labels, columns: Vec::new(), each }
    };
    let mut out = String::new();
    table.header(&mut out, interleaving, &threads);
    let mut before = None;
    for shown in interleaving.shown() {
        match shown {
            Shown::Row(row) => {
                if before != Some(row.thread) && before.is_some() && table.columns.is_empty() {
                    table.blank(&mut out);
                }
                before = Some(row.thread);
                table.row(&mut out, row, &at(row));
            }
            Shown::Folded(rows) => {
                let thread = rows.first().map_or(0, |row| row.thread);
                let mut lines = vec![faint(format!("⋮ {} more lines", rows.len()))];
                let values = values_after(rows);
                if !values.is_empty() {
                    let texts = wrapped(&values, table.each.saturating_sub(2));
                    lines.extend(texts.into_iter().map(|text| faint(format!("  {text}"))));
                }
                table.cell(&mut out, thread, "", &lines);
            }
            Shown::Gap(rows) => {
                out.push_str(&style.paint(Tone::Faint, &format!("  … {rows} lines of all threads …")));
                out.push('\n');
            }
        }
    }
    out
}

/// A line of code on at most two lines of a column.
fn code_lines(code: &str, most: usize) -> Vec<String> {
    if width(code) <= most {
        return vec![code.to_owned()];
    }
    let parts = wrapped(code, most.saturating_sub(2));
    let first = parts[0].clone();
    let rest = parts[1..].join(" ");
    let rest = (!rest.is_empty()).then(|| format!("  {}", cut(&rest, most.saturating_sub(2))));
    [first].into_iter().chain(rest).collect()
}

fn faint(text: String) -> CellLine {
    CellLine { text, tone: Tone::Faint }
}

struct Table {
    style: Style,
    /// The width of the places.
    labels: usize,
    /// The threads that have a column each; none if there is one for all.
    columns: Vec<ThreadIndex>,
    /// The width of a column.
    each: usize,
}

impl Table {
    fn header(&self, out: &mut String, interleaving: &Interleaving, threads: &[ThreadIndex]) {
        let name = |thread: ThreadIndex| interleaving.threads.get(thread).map_or("?", String::as_str);
        if self.columns.is_empty() {
            for thread in threads {
                let text = cut(&format!("  {thread}: {}", name(*thread)), self.style.width);
                out.push_str(&self.style.paint(Tone::Thread(*thread), &text));
                out.push('\n');
            }
            return;
        }
        let mut line = padded("line", self.labels + 1);
        let mut rule = "─".repeat(self.labels + 1);
        for thread in &self.columns {
            let title = cut(&format!("thread {thread}: {}", name(*thread)), self.each);
            line.push_str(" │ ");
            line.push_str(&self.style.paint(Tone::Thread(*thread), &title));
            line.push_str(&padded("", self.each - width(&title)));
            rule.push_str("─┼─");
            rule.push_str(&"─".repeat(self.each));
        }
        out.push_str(line.trim_end());
        out.push('\n');
        out.push_str(&rule);
        out.push('\n');
    }

    fn row(&self, out: &mut String, row: &Row, place: &str) {
        let tone = Tone::Thread(row.thread);
        let code = code_lines(&row.code, self.each).into_iter();
        let mut lines: Vec<CellLine> = code.map(|text| CellLine { text, tone }).collect();
        let mut add = |sign: &str, text: &str, tone: Tone| {
            for (index, part) in wrapped(text, self.each.saturating_sub(2)).into_iter().enumerate() {
                let sign = if index == 0 { sign } else { " " };
                lines.push(CellLine { text: format!("{sign} {part}"), tone });
            }
        };
        let effects = row.effects();
        if !effects.is_empty() {
            add("▸", &effects.join(", "), Tone::Plain);
        }
        if let Some(waits) = &row.waits {
            add("‖", waits, Tone::Open);
        }
        if let Some(mark) = &row.mark {
            add("✗", mark, Tone::Bad);
        }
        if let Some(locks) = row.locks() {
            add("▪", &locks, Tone::Faint);
        }
        self.cell(out, row.thread, place, &lines);
    }

    /// Lines in the column of a thread.
    fn cell(&self, out: &mut String, thread: ThreadIndex, place: &str, lines: &[CellLine]) {
        for (index, line) in lines.iter().enumerate() {
            let label = if index == 0 { place } else { "" };
            let mut text = format!("{:1$}{label} ", "", self.labels.saturating_sub(width(label)));
            if self.columns.is_empty() {
                let number = if index == 0 { thread.to_string() } else { String::new() };
                text = format!("{}{text}│ ", self.style.paint(Tone::Thread(thread), &padded(&number, 3)));
                text.push_str(&self.style.paint(line.tone, &line.text));
            }
            for column in &self.columns {
                text.push_str(" │ ");
                if *column == thread {
                    text.push_str(&self.style.paint(line.tone, &line.text));
                    text.push_str(&padded("", self.each.saturating_sub(width(&line.text))));
                } else {
                    text.push_str(&padded("", self.each));
                }
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }

    /// A separator between the turns of two threads, if all are in one column.
    fn blank(&self, out: &mut String) {
        out.push_str(&format!("{:1$} │\n", "", self.labels + 3));
    }
}
