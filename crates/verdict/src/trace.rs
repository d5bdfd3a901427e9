//! Executions that violate a property.

use ir::semantics::ThreadIndex;
use ir::{EdgeId, ErrorKind, Value};
use serde::{Deserialize, Serialize};

/// An execution from an initial state to a bad one, exact enough to be replayed step by step.
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

/// One step of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// Who.
    pub thread: ThreadIndex,
    /// Which edge of the template (or procedure) that it is in.
    pub edge: EdgeId,
    /// The values chosen on the way, in the order in which the step asks for them.
    pub choices: Vec<Value>,
}

/// What is wrong in a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Violation {
    /// A thread is at an error location.
    Error {
        /// Which thread.
        thread: ThreadIndex,
        /// What kind of error.
        kind: ErrorKind,
    },
    /// Two threads are about to make conflicting accesses by these edges.
    Race([(ThreadIndex, EdgeId); 2]),
    /// These threads wait for one another.
    Deadlock(Vec<ThreadIndex>),
}
