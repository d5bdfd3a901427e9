//! What is wrong with a specification, and where.

use ir::Span;
use std::fmt;

/// A reason why a specification cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The file's name.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// A sentence for the user.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: error: {}", self.file, self.line, self.column, self.message)
    }
}

/// A problem before the file's name is put to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub at: Span,
    /// A sentence for the user.
    pub message: String,
}

impl Problem {
    /// A problem at a position.
    pub fn new(at: Span, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
    /// With the name of its file.
    pub fn in_file(self, file: &str) -> Diagnostic {
        let (line, column) = (self.at.line, self.at.column);
        Diagnostic { file: file.to_owned(), line, column, message: self.message }
    }
}
