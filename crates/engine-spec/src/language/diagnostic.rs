//! What is wrong with a specification, and where.

use ir::Span;
use ir::diagnostic::{Diagnostic, Kind};

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
        Diagnostic::at(file, (self.at.line, self.at.column), Kind::Text, self.message)
    }
}
