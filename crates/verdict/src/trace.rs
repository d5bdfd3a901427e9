//! Executions that violate a property.

use ir::semantics::{Certainty, Machine, ThreadIndex};
use ir::{EdgeId, ErrorKind, Program, Value};
use serde::{Deserialize, Serialize};

/// An execution from an initial state to a bad one, with all that a replay needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// How many copies of each start template run.
    pub copies: Vec<u32>,
    /// The steps, in order.
    pub steps: Vec<TraceStep>,
    /// What is wrong at the end.
    pub violation: Violation,
}

impl Trace {
    /// Whether the execution exists for all values of what is not modelled.
    pub fn is_certain(&self, machine: &Machine<'_>) -> bool {
        let Ok(initial) = machine.initial(&self.copies) else { return false };
        let mut run = Certainty::new(machine, initial);
        for step in &self.steps {
            if run.step(step.thread, step.edge, &step.choices).is_err() {
                return false;
            }
        }
        match &self.violation {
            Violation::Error { .. } => true,
            // Where atomic accesses impose no order, one of the accesses may be in the past.
            Violation::Race(pair) if machine.program.unordered.is_empty() => {
                pair.iter().all(|(thread, edge)| run.is_next(*thread, *edge))
            }
            Violation::Race(_) => !run.has_doubts(),
            Violation::Deadlock(_) => run.deadlock_is_certain(),
            // A value that is not modelled may be a pointer to what seems lost.
            Violation::Leak => !run.has_doubts(),
        }
    }
}

/// Whether a program has values that are not modelled, so that traces have to be
/// [certain](Trace::is_certain).
pub fn has_unmodelled_values(program: &Program) -> bool {
    let is_unknown = |op: &ir::Op| match op {
        ir::Op::Assign(assignment) => assignment.pairs.iter().any(|(_, rhs)| match rhs {
            ir::Rhs::Unknown | ir::Rhs::Float(..) => true,
            ir::Rhs::Value(_) | ir::Rhs::Any => false,
        }),
        ir::Op::Assume(_)
        | ir::Op::Lock(..)
        | ir::Op::Unlock(..)
        | ir::Op::Spawn(..)
        | ir::Op::Join(..)
        | ir::Op::Allocate { .. }
        | ir::Op::Free(_)
        | ir::Op::Fill(..)
        | ir::Op::Copy(..)
        | ir::Op::Call(..)
        | ir::Op::Broadcast(_) => false,
    };
    program.objects.iter().any(|object| object.initial == ir::Initial::NotModelled)
        || program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops).any(is_unknown)
}

/// One step of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// The thread.
    pub thread: ThreadIndex,
    /// The edge, in the template (or procedure) that the thread is in.
    pub edge: EdgeId,
    /// The chosen values, in the order in which the step asks for them.
    pub choices: Vec<Value>,
}

/// What is wrong in a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Violation {
    /// A thread is at an error location.
    Error {
        /// The thread.
        thread: ThreadIndex,
        /// The kind of error.
        kind: ErrorKind,
    },
    /// Two threads are about to make conflicting accesses by these edges.
    Race([(ThreadIndex, EdgeId); 2]),
    /// These threads wait for one another.
    Deadlock(Vec<ThreadIndex>),
    /// The program has ended, and allocated memory is lost or left.
    Leak,
}
