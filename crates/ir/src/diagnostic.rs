//! Errors in the input, with positions and help, for the terminal and for editors.

use std::fmt;
use std::path::Path;

/// A reason why there is nothing to verify.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The file, as the user named it; `None` when it is about the command line.
    pub file: Option<String>,
    /// From 1; 0 if not known.
    pub line: u32,
    /// From 1; 0 if not known.
    pub column: u32,
    /// What kind of problem it is.
    pub kind: Kind,
    /// What is wrong.
    pub message: String,
    /// What to do about it, if that is not obvious.
    pub help: Option<String>,
}

/// Kinds of problems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An option, or a combination of options and files.
    Usage,
    /// A file that cannot be read or written.
    File,
    /// An error in the text of a file: syntax, types, names.
    Text,
    /// A link error.
    Link,
    /// There is no entry point: the files may be only a part of a program.
    NoStart,
    /// Too large or too deeply nested.
    Limit,
    /// An internal error.
    Internal,
}

impl Diagnostic {
    /// A problem with the command line.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        let (message, help) = (message.into(), Some(help.into()));
        Self { file: None, line: 0, column: 0, kind: Kind::Usage, message, help }
    }

    /// A problem with a file as a whole.
    pub fn of_file(file: impl AsRef<Path>, kind: Kind, message: impl Into<String>) -> Self {
        Self::at(file, (0, 0), kind, message)
    }

    /// A problem at a line and column of a file.
    pub fn at(
        file: impl AsRef<Path>,
        (line, column): (u32, u32),
        kind: Kind,
        message: impl Into<String>,
    ) -> Self {
        let file = Some(file.as_ref().display().to_string());
        Self { file, line, column, kind, message: message.into(), help: None }
    }

    /// The same, with help.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The message and the help, without the position.
    pub fn text(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.message),
            None => self.message.clone(),
        }
    }
}

/// As compilers print it: `file:line:column: error: message; help`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref().unwrap_or("threadproof");
        match self.line {
            0 => write!(f, "{file}: error: {}", self.text()),
            line => write!(f, "{file}:{line}:{}: error: {}", self.column, self.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_reads_as_a_compiler_prints_it() {
        let problem = Diagnostic::at("a.c", (3, 7), Kind::Text, "expected ';'");
        assert_eq!(problem.to_string(), "a.c:3:7: error: expected ';'");
        let whole = Diagnostic::of_file("a.bp", Kind::Usage, "a Boolean program is one file");
        assert_eq!(
            whole.help("name it alone").to_string(),
            "a.bp: error: a Boolean program is one file; name it alone"
        );
        let usage = Diagnostic::usage("no file is given", "name one");
        assert_eq!(usage.to_string(), "threadproof: error: no file is given; name one");
    }
}
