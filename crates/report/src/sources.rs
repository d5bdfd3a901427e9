//! The source lines, where available.

use ir::{Program, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The most characters of a line that is put together from several.
const LONGEST: usize = 160;

/// The lines of a program's files.
#[derive(Default)]
pub struct Sources {
    /// By the numbers of [`Program::files`].
    files: Vec<BTreeMap<u32, String>>,
}

impl Sources {
    /// The lines of these files. The `given` names and texts come first; their lines may be attributed to
    /// other files (`#line`). Other files are requested by name.
    pub fn new(names: &[String], given: &[(String, String)], other: impl Fn(&str) -> Option<String>) -> Self {
        let mut found: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
        for (name, text) in given {
            read(name, text, &mut found);
        }
        let lines = names.iter().map(|name| {
            found.remove(name).unwrap_or_else(|| {
                let text = other(name).unwrap_or_default();
                (1..).zip(text.lines().map(|line| line.trim_end().to_owned())).collect()
            })
        });
        Self { files: lines.collect() }
    }
    /// The line that a span is on, trimmed.
    pub fn line(&self, span: Span) -> Option<&str> {
        self.whole_line(span).map(str::trim)
    }
    /// All lines of a file that are known, with their numbers.
    pub fn lines(&self, file: u32) -> impl Iterator<Item = (u32, &str)> {
        let lines = self.files.get(file as usize).into_iter().flatten();
        lines.map(|(number, text)| (*number, text.as_str()))
    }
    /// The line that a span is on, with its indentation.
    pub fn whole_line(&self, span: Span) -> Option<&str> {
        self.files.get(span.file as usize)?.get(&span.line).map(String::as_str)
    }
}

/// Reads a text whose lines may be attributed to other files. If several lines are attributed to the same
/// one, those that directly follow a directive count, else all.
fn read(name: &str, text: &str, found: &mut BTreeMap<String, BTreeMap<u32, String>>) {
    let mut file = name.to_owned();
    let mut number = 1u32;
    let mut follows = false;
    let mut direct: BTreeSet<(String, u32)> = BTreeSet::new();
    for line in text.lines() {
        if let Some((next, named)) = marker(line) {
            number = next;
            file = named.unwrap_or(file);
            follows = true;
            continue;
        }
        let shown = line.trim_end();
        let is_blank = shown.trim().is_empty();
        let before = found.entry(file.clone()).or_default().entry(number).or_default();
        let was_direct = direct.contains(&(file.clone(), number));
        let first = follows && !is_blank && direct.insert((file.clone(), number));
        if before.trim().is_empty() || first {
            *before = shown.to_owned();
        } else if !is_blank && before.len() < LONGEST && follows == was_direct {
            before.push_str(&format!(" {}", shown.trim()));
        }
        follows = false;
        number = number.saturating_add(1);
    }
}

/// The next line and file according to `#line 5 "file"` or `# 5 "file" 1`.
pub(crate) fn marker(line: &str) -> Option<(u32, Option<String>)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..digits].parse().ok()?;
    let name = rest[digits..].trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
    Some((number, name.map(str::to_owned)))
}

/// `file:line:column`, as far as known.
pub fn position(program: &Program, span: Span) -> String {
    let file = program.files.get(span.file as usize).map_or("?", String::as_str);
    match (span.line, span.column) {
        (0, _) => file.to_owned(),
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(sources: &Sources, file: u32, line: u32) -> Option<&str> {
        sources.line(Span { file, line, column: 0 })
    }

    #[test]
    fn lines_of_plain_files() {
        let other = |name: &str| (name == "h.h").then(|| "int x;\nint y;\n".to_owned());
        let names = ["a.c".to_owned(), "h.h".to_owned(), "gone.h".to_owned()];
        let sources = Sources::new(&names, &[("a.c".to_owned(), "one\n  two  \n".to_owned())], other);
        assert_eq!(line(&sources, 0, 2), Some("two"));
        assert_eq!(line(&sources, 1, 2), Some("int y;"));
        assert_eq!(line(&sources, 2, 1), None);
        assert_eq!(line(&sources, 0, 3), None);
    }

    #[test]
    fn lines_that_come_from_other_files() {
        let text = "first\n#line 7 \"x.c\"\nseven\n\n# 7\nagain\n# 2 \"a.i\" 2\nsecond\n";
        let names = ["a.i".to_owned(), "x.c".to_owned()];
        let sources = Sources::new(&names, &[("a.i".to_owned(), text.to_owned())], |_| None);
        assert_eq!(line(&sources, 0, 1), Some("first"));
        assert_eq!(line(&sources, 0, 2), Some("second"));
        assert_eq!(line(&sources, 1, 7), Some("seven again"));
    }
}
