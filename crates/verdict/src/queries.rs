//! Proofs by environment queries: one thread is checked against what is claimed of the others, and so on down a hierarchy of threads.

use ir::LocationId;
use serde::{Deserialize, Serialize};
use terms::{Instance, Sort, Symbol, Term, Variable};

/// Why no error is reached by a fixed set of threads.
///
/// Threads, variables and steps are those of the program as transitions, with mathematical integers, after threads were settled. In addition there is a variable for the
/// place of each thread ([`place`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueriesProof {
    /// Each is about some errors; together they are about all.
    pub parts: Vec<QueriesPart>,
}

/// Why some errors are not reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueriesPart {
    /// The threads that matter, by number, the main thread first. The others change nothing that these read.
    pub order: Vec<usize>,
    /// The threads and locations of the errors.
    pub errors: Vec<(usize, LocationId)>,
    /// What holds whenever the main thread is at a place and no thread is in the middle of an atomic region.
    pub main: Places,
    /// At position `k`: what is claimed of the threads behind position `k` of the order. A claim rests on those of the next position only.
    pub claims: Vec<Vec<QueriesClaim>>,
}

/// Some threads never go from one set of states to another: there is no execution of them alone, from a state that the program can reach and `before` holds of, to a state
/// that `after` holds of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueriesClaim {
    /// The states before.
    pub before: Term,
    /// The states after. May speak of the values of variables before ([`old`]).
    pub after: Term,
    /// What holds whenever the first of the threads is at a place: whatever the others did.
    pub reachable: Places,
    /// What holds whenever it is at a place since `before` held and only these threads took steps. May speak of the values at that time.
    pub moving: Places,
}

/// A formula for each place that a thread can be at. None where only this thread runs, and nothing is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// By location.
    pub at: Vec<Option<Term>>,
    /// Before it is started.
    pub before_start: Option<Term>,
}

/// The number of the place of a thread before it is started. Locations have their own numbers.
pub const BEFORE_START: i128 = -1;

/// The variable that says where a thread is.
pub fn place(thread: usize) -> Variable {
    Variable::new(Symbol::Place(thread as u32), Sort::Int)
}

/// A constant: in claims about threads behind position `position` it stands for the value of a variable when the question to the threads from there on began. A claim holds whatever its constants are.
pub fn kept(variable: &Variable, position: usize) -> Variable {
    variable.instance(Instance::Kept(position as u32))
}

/// The variable for the value that a variable had before.
pub fn old(variable: &Variable) -> Variable {
    variable.instance(Instance::Old)
}

/// The variable whose old value a variable stands for, or itself.
pub fn strip_old(variable: Variable) -> Variable {
    variable.without(Instance::Old).unwrap_or(variable)
}
