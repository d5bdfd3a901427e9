//! Errors in source files, with their positions.

use std::fmt;

/// A reason why a program cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The file's name, as line markers give it.
    pub file: String,
    /// From 1; 0 if not known.
    pub line: u32,
    /// From 1; 0 if not known.
    pub column: u32,
    /// A sentence for the user.
    pub message: String,
    /// What kind of problem it is.
    pub kind: DiagnosticKind,
}

/// Kinds of problems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosticKind {
    /// The text is not valid C: preprocessing, syntax, or types.
    Syntax,
    /// Link errors: duplicate definitions, no `main`.
    Link,
    /// Too large or too deeply nested.
    Limit,
    /// An internal error of the front end.
    Internal,
}

impl Diagnostic {
    /// A problem at a position.
    pub fn new(file: &str, line: u32, column: u32, kind: DiagnosticKind, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column, message: message.into(), kind }
    }
    /// A limit that a file exceeds.
    pub(crate) fn limit(file: &str, message: &str) -> Self {
        Self::new(file, 1, 1, DiagnosticKind::Limit, message)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: error: {}", self.file, self.message),
            line => write!(f, "{}:{line}:{}: error: {}", self.file, self.column, self.message),
        }
    }
}
