//! What is done to a lowered program before it is seen as transitions: calls inlined, data that nothing depends on left out, steps folded, locks made words.

use ir::passes::{Goal, InlineError, InlineLimits, lock_words, symbolic_of_lowered};
use ir::{Callee, Op, Program, Span};
use std::time::Instant;

/// Why a program cannot be prepared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unprepared {
    /// The time is up.
    OutOfTime,
    /// The program is too large, or has something that cannot be inlined.
    NotInlined(String),
    /// A call or start whose target is not known.
    Unresolved(Span),
}

/// The program whose transitions say whether a lowered program reaches an error.
pub fn prepare(program: &Program, deadline: Option<Instant>) -> Result<Program, Unprepared> {
    let limits = InlineLimits { deadline, ..InlineLimits::default() };
    let goal = Goal { races: false, faults: false };
    let symbolic = symbolic_of_lowered(program, goal, limits).map_err(|error| match error {
        InlineError::OutOfTime => Unprepared::OutOfTime,
        InlineError::TooLarge { .. } | InlineError::UnknownCallee(_) | InlineError::Broadcast(_) => {
            Unprepared::NotInlined(error.to_string())
        }
    })?;
    let mut edges = symbolic.templates.iter().flat_map(|code| code.edges.iter());
    let open = |op: &Op| matches!(op, Op::Call(..) | Op::Spawn(Callee::Pointer(_), ..));
    match edges.find(|edge| edge.ops.iter().any(open)) {
        Some(edge) => Err(Unprepared::Unresolved(edge.span)),
        None => Ok(lock_words(&symbolic)),
    }
}
