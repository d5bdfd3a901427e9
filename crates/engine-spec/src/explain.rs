//! Why a thread does not conform, for people.

use ir::{Program, Span};
use std::fmt::Write;

/// Where a thread and its abstract thread part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The function of the thread.
    pub function: String,
    /// The abstract thread; `None` when the function has none.
    pub thread: Option<String>,
    /// What does not fit.
    pub mismatch: Mismatch,
    /// The step that does it.
    pub span: Span,
    /// The states that the abstract thread may be in before it.
    pub candidates: Candidates,
    /// The variables of the specification: name, value before the step, value after it. In one execution.
    pub values: Vec<(String, String, String)>,
}

/// What does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// A step that no transition of any candidate allows.
    Step,
    /// An assertion of the program that can fail while those of all candidates hold.
    Assertion,
    /// The start condition does not hold when the second thread starts.
    Start,
}

/// Where the abstract thread may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// It has not begun: the thread is the only one.
    Alone,
    /// In one of these states.
    States(Vec<String>),
}

impl Failure {
    /// One sentence.
    pub fn sentence(&self, program: &Program) -> String {
        let place = match program.files.get(self.span.file as usize) {
            Some(file) if self.span.line > 0 => format!("{file}:{}", self.span.line),
            _ => "a step".to_owned(),
        };
        let from = match &self.candidates {
            Candidates::Alone => String::new(),
            Candidates::States(states) if self.thread.is_none() && states.len() == 1 => String::new(),
            Candidates::States(states) => format!(" in {}", states.join(" or ")),
        };
        match (&self.thread, self.mismatch) {
            (Some(thread), Mismatch::Step) => {
                format!("{place}: this step of `{}` is none that `{thread}` may take{from}", self.function)
            }
            (None, Mismatch::Step) => format!(
                "{place}: this step of `{}`, which has no abstract thread, changes a variable of the specification",
                self.function
            ),
            (Some(thread), Mismatch::Assertion) => format!(
                "{place}: this check of `{}` can fail, and no assertion of `{thread}`{from} fails then",
                self.function
            ),
            (None, Mismatch::Assertion) => {
                format!("{place}: this check of `{}`, which has no abstract thread, can fail", self.function)
            }
            (_, Mismatch::Start) => format!(
                "{place}: a thread is started here, and the start condition of the specification does not hold"
            ),
        }
    }

    /// The values, one line for each variable.
    pub fn details(&self) -> String {
        let mut out = String::new();
        for (name, before, after) in &self.values {
            let _ = match self.mismatch {
                Mismatch::Step if before != after => writeln!(out, "    {name}: {before} becomes {after}"),
                Mismatch::Step | Mismatch::Assertion => writeln!(out, "    {name}: {before}"),
                Mismatch::Start => writeln!(out, "    {name}: {after}"),
            };
        }
        out
    }

    /// All in one line.
    pub fn line(&self, program: &Program) -> String {
        let values: Vec<String> = self
            .details()
            .lines()
            .map(|line| line.trim().replacen(": ", " = ", 1).replace(" becomes ", " -> "))
            .collect();
        format!("{} ({})", self.sentence(program), values.join(", "))
    }
}
