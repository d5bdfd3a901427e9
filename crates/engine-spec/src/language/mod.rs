//! Reads specifications of threads (`.tspec`): abstract threads over the global variables of a program.
//!
//! [`read`] is the whole interface; [`parser`], [`printer`] and [`ast`] are for tools and tests that work on
//! the source form. [`ir::specification`] defines the meaning of a specification; `docs/specifications.md`
//! describes the language.

pub mod ast;
mod diagnostic;
mod expressions;
mod lexer;
pub mod parser;
pub mod printer;
mod resolve;
#[cfg(test)]
mod tests;

pub use diagnostic::Problem;
use ir::Diagnostic;
use ir::Program;
use ir::specification::Specification;

/// Reads a specification of a program's threads.
pub fn read(file: &str, bytes: &[u8], program: &Program) -> Result<Specification, Vec<Diagnostic>> {
    let located = |problem: Problem| problem.in_file(file);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
        let at = ir::Span { file: 0, line, column: 1 };
        vec![located(Problem::new(at, "the file is no text (UTF-8)"))]
    })?;
    let parsed = parser::parse(text).map_err(|problem| vec![located(problem)])?;
    resolve::resolve(&parsed, file, program).map_err(|problems| problems.into_iter().map(located).collect())
}
