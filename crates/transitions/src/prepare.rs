//! Programs made ready for [`crate::System`]: calls inlined, what does not matter left out, locks as words.

use ir::passes::{Goal, InlineError, InlineLimits, listed, lock_words, symbolic_of_lowered};
use ir::{Callee, Op, Program, Span};
use std::time::Instant;
use verdict::{Exhausted, Reason};

/// Engines that make formulas of all steps do not try programs with more edges than this.
pub const MOST_EDGES: usize = 4_000;

/// Whether a program has more edges than [`MOST_EDGES`].
pub fn has_too_many_edges(program: &Program) -> bool {
    program.templates.iter().map(|code| code.edges.len()).sum::<usize>() > MOST_EDGES
}

/// Why a program cannot be made ready.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotReady {
    /// The time is over.
    OutOfTime,
    /// It would grow too large, or has recursion without end.
    TooLarge(String),
    /// A call, or the start of a thread, whose target is not known.
    Unresolved(Span),
}

impl NotReady {
    /// Why an engine has no verdict then.
    pub fn reason(self, engine: &str) -> Reason {
        match self {
            Self::OutOfTime => Reason::Exhausted(Exhausted::Time),
            Self::TooLarge(why) => Reason::Bounded(format!("{engine}: {why}")),
            Self::Unresolved(span) => {
                Reason::Unsupported("a call or start that is not resolved".to_owned(), span)
            }
        }
    }
}

/// Makes a program ready. `limits_proof` among the assumptions of the result: nothing may be proved of it.
pub fn prepare(program: &Program, goal: Goal, deadline: Option<Instant>) -> Result<Program, NotReady> {
    let limits = InlineLimits { deadline, ..InlineLimits::default() };
    finish(symbolic_of_lowered(program, goal, limits))
}

/// The same, but nothing is left out, and each source line keeps its own steps.
pub fn prepare_whole(program: &Program, deadline: Option<Instant>) -> Result<Program, NotReady> {
    let limits = InlineLimits { deadline, ..InlineLimits::default() };
    finish(listed(program, limits))
}

fn finish(passed: Result<Program, InlineError>) -> Result<Program, NotReady> {
    let program = match passed {
        Ok(program) => lock_words(&program),
        Err(InlineError::OutOfTime) => return Err(NotReady::OutOfTime),
        Err(error) => return Err(NotReady::TooLarge(error.to_string())),
    };
    let mut edges = program.templates.iter().flat_map(|code| code.edges.iter());
    let open = |op: &Op| matches!(op, Op::Call(..) | Op::Spawn(Callee::Pointer(_), ..));
    match edges.find(|edge| edge.ops.iter().any(open)) {
        Some(edge) => Err(NotReady::Unresolved(edge.span)),
        None => Ok(program),
    }
}
