//! What is wrong with a source file, and where.

use std::fmt;

/// A position in a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// A reason why a program cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The file's name.
    pub file: String,
    /// Where.
    pub at: Position,
    /// A sentence for the user.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: error: {}", self.file, self.at.line, self.at.column, self.message)
    }
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
}
