//! Who runs when: what an engine knows of a violation that it found by formulas, on a program with other steps than the one that the user wrote.
//!
//! A schedule is a hint, not evidence: evidence is the [`crate::Trace`] that is found with its help.

use ir::{Span, Value};

/// Runs of threads, one after the other.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Schedule {
    /// The runs, in order.
    pub turns: Vec<Turn>,
}

/// An uninterrupted run of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Who runs: those that run at the start come first, then the others in the order in which they are started.
    pub thread: usize,
    /// Where the steps are that it takes, in order. Steps that no other thread notices may be missing.
    pub spans: Vec<Span>,
    /// The inputs that it reads, in order, each with the place of its step.
    pub inputs: Vec<(Span, Value)>,
}

impl Schedule {
    /// Adds a step of a thread: to the last turn if it is the thread's, else to a new one.
    pub fn push(&mut self, thread: usize, span: Span, inputs: impl IntoIterator<Item = Value>) {
        if self.turns.last().is_none_or(|turn| turn.thread != thread) {
            self.turns.push(Turn { thread, spans: Vec::new(), inputs: Vec::new() });
        }
        let Some(turn) = self.turns.last_mut() else { return };
        turn.spans.push(span);
        turn.inputs.extend(inputs.into_iter().map(|value| (span, value)));
    }
}
