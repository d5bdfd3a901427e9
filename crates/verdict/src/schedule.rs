//! Who runs when: an engine's knowledge of a violation that it found by formulas, on a transformed program
//! whose steps differ from the original's.
//!
//! A schedule is a hint, not evidence. The evidence is the [`crate::Trace`] that a search finds with its
//! help.

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
    /// The thread: those that run at the start come first, then the others in the order of their starts.
    pub thread: usize,
    /// The source positions of its steps, in order. Steps that no other thread notices may be missing.
    pub spans: Vec<Span>,
    /// The inputs that it reads, in order, each with the source position of its step.
    pub inputs: Vec<(Span, Value)>,
}

impl Schedule {
    /// Adds a step of a thread: to the last turn if it is this thread's, else to a new turn.
    pub fn push(&mut self, thread: usize, span: Span, inputs: impl IntoIterator<Item = Value>) {
        if self.turns.last().is_none_or(|turn| turn.thread != thread) {
            self.turns.push(Turn { thread, spans: Vec::new(), inputs: Vec::new() });
        }
        let Some(turn) = self.turns.last_mut() else { return };
        turn.spans.push(span);
        turn.inputs.extend(inputs.into_iter().map(|value| (span, value)));
    }
}
