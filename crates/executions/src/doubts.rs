//! Why a violation is no evidence: the first value in its execution that is not modelled.
//!
//! The execution exists only under this condition; reports name it.

use ir::Span;
use ir::Value;
use ir::semantics::{Choice, ChoiceKind, Choices, Machine};
use verdict::Trace;

/// Hands out the values of a trace, and notices the first that is not modelled.
struct Watching<'a> {
    values: std::slice::Iter<'a, Value>,
    is_unmodelled: bool,
}

impl Choices for Watching<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        self.is_unmodelled |= choice.kind == ChoiceKind::Unknown;
        self.values.next().copied().unwrap_or(0)
    }
}

/// Where the first value of an execution is chosen that is not modelled.
fn first_unmodelled(machine: &Machine<'_>, trace: &Trace) -> Option<Span> {
    let mut state = machine.initial(&trace.copies).ok()?;
    for step in &trace.steps {
        let (template, _) = state.location(step.thread)?;
        let span = machine.program.templates[template].edges.get(step.edge)?.span;
        let mut watching = Watching { values: step.choices.iter(), is_unmodelled: false };
        let taken = machine.step(&state, step.thread, step.edge, &mut watching);
        if watching.is_unmodelled {
            return Some(span);
        }
        state = taken.result.ok()?;
    }
    None
}

/// The place of the first value that is not modelled, with what is said about that line; empty where there is
/// none.
pub fn doubt(machine: &Machine<'_>, trace: &Trace) -> String {
    let Some(span) = first_unmodelled(machine, trace).filter(|span| span.line > 0) else {
        return String::new();
    };
    let about = machine
        .program
        .assumptions
        .iter()
        .find(|assumption| (assumption.span.file, assumption.span.line) == (span.file, span.line));
    match about {
        Some(assumption) => format!(" (line {}: {})", span.line, assumption.text),
        None => format!(" (line {})", span.line),
    }
}
