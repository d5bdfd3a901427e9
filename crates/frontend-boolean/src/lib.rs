//! Reads Boolean programs (`.bp`, `.bool`) and thread transition systems (`.tts`) and lowers them to the
//! common representation.
//!
//! [`read_program`] and [`read_system`] are the whole interface; [`parser`], [`printer`] and [`tts`] are for
//! tools and tests that work on the source form. `lower.rs` and `tts.rs` define the meaning of the dialects.

pub mod ast;
mod diagnostic;
mod expressions;
mod lexer;
mod lower;
pub mod parser;
mod passive;
pub mod printer;
mod procedure;
#[cfg(test)]
mod tests;
pub mod tts;
mod tts_lower;
mod values;

pub use diagnostic::{Position, Problem};
use ir::Diagnostic;

/// How to read a Boolean program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Reaching a label with one of these names is an error.
    pub error_labels: Vec<String>,
    /// Whether any number of threads runs `main`, or each `threadN`, after `init`.
    pub any_copies: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { error_labels: vec!["SLIC_ERROR".to_owned(), "ERROR".to_owned()], any_copies: false }
    }
}

impl Options {
    fn is_error_label(&self, label: &str) -> bool {
        self.error_labels.iter().any(|known| known == label)
    }
}

/// Reads a Boolean program.
pub fn read_program(file: &str, bytes: &[u8], options: &Options) -> Result<ir::Program, Diagnostic> {
    let located = |problem: Problem| problem.in_file(file);
    let text = text_of(bytes).map_err(located)?;
    let program = parser::parse(text).map_err(located)?;
    lower::lower(&program, file, options).map_err(located)
}

/// Reads a thread transition system. Without a target, there are no errors. Without `initial` states, a line
/// `#init …` gives them; without that line, the shared state is 0 and any number of threads is in local state
/// 0.
pub fn read_system(
    file: &str,
    bytes: &[u8],
    target: Option<(&str, &[u8])>,
    initial: Option<&str>,
) -> Result<ir::Program, Diagnostic> {
    let located = |problem: Problem| problem.in_file(file);
    let text = text_of(bytes).map_err(located)?;
    let system = tts::parse(text).map_err(located)?;
    let target = match target {
        None => None,
        Some((name, bytes)) => {
            let located = |problem: Problem| problem.in_file(name);
            let text = text_of(bytes).map_err(located)?;
            Some(tts::parse_target(text).map_err(located)?)
        }
    };
    let in_option = |problem: Problem| problem.in_file("--init");
    let initial = match initial {
        Some(text) => tts::parse_initial(text).map_err(in_option)?,
        None => system.initial.clone().unwrap_or_default(),
    };
    tts_lower::lower(&system, target.as_ref(), &initial, file).map_err(located)
}

/// The text of a file.
fn text_of(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() as u32 + 1;
        Problem::new(Position { line, column }, "the file is no text (UTF-8)")
    })
}
