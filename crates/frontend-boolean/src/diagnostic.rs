//! What is wrong with a source file, and where.

use ir::diagnostic::{Diagnostic, Kind};

/// A position in a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// A problem before the file's name is put to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub at: Position,
    /// A sentence for the user.
    pub message: String,
}

impl Problem {
    /// A problem at a position.
    pub fn new(at: Position, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
    /// With the name of its file.
    pub fn in_file(self, file: &str) -> Diagnostic {
        Diagnostic::at(file, (self.at.line, self.at.column), Kind::Text, self.message)
    }
}
