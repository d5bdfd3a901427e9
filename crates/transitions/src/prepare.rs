//! Programs made ready for [`crate::System`]: calls inlined, what does not matter left out, locks as words.

use ir::passes::{Goal, InlineError, InlineLimits, listed, lock_words, symbolic_of_lowered};
use ir::{Callee, Count, Expr, LocationKind, Op, Program, Span, Template, TemplateId};
use std::time::Instant;

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

/// The program as one that starts as one thread: where several are there at the start, a thread of its own starts them all before any other step is taken, in their order. It comes first, and touches
/// nothing. Says the same: its steps are made while all others are where they start.
pub fn started_by_one(mut program: Program) -> Program {
    if matches!(program.start.as_slice(), [(_, Count::Exactly(1))]) {
        return program;
    }
    let mut code = Template { name: "start".to_owned(), ..Template::default() };
    let mut here = code.location(LocationKind::Normal, true);
    for (template, count) in &program.start {
        let started = &program.templates[*template];
        let span = started.span;
        let zeros = started.locals.iter().take(started.parameters).map(|local| Expr::Const(0, local.ty));
        let spawn = Op::Spawn(Callee::Procedure(*template), zeros.collect(), None);
        match count {
            Count::Any => {
                let next = code.location(LocationKind::Normal, true);
                code.edge(here, next, vec![], span);
                code.edge(next, next, vec![spawn], span);
                here = next;
            }
            Count::Exactly(copies) => {
                for _ in 0..*copies {
                    let next = code.location(LocationKind::Normal, true);
                    code.edge(here, next, vec![spawn.clone()], span);
                    here = next;
                }
            }
        }
    }
    let end = code.location(LocationKind::End, false);
    code.edge(here, end, vec![], Span::default());
    let first: TemplateId = program.templates.push(code);
    program.start = vec![(first, Count::Exactly(1))];
    program
}
