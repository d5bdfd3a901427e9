//! The user's source lines, where they are at hand.

use ir::{Program, Span};

/// The texts of a program's files.
pub struct Sources {
    texts: Vec<Option<String>>,
}

impl Sources {
    /// The texts, in the order of [`Program::files`].
    pub fn new(texts: Vec<Option<String>>) -> Self {
        Self { texts }
    }
    /// The line that a span is on, trimmed.
    pub fn line(&self, span: Span) -> Option<&str> {
        let text = self.texts.get(span.file as usize)?.as_ref()?;
        text.lines().nth((span.line as usize).checked_sub(1)?).map(str::trim)
    }
}

/// `file:line:column`, or as much of it as is known.
pub fn position(program: &Program, span: Span) -> String {
    let file = program.files.get(span.file as usize).map_or("?", String::as_str);
    match (span.line, span.column) {
        (0, _) => file.to_owned(),
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}
