//! Proofs by environment queries: one thread is checked against claims about the others, and so on down a
//! hierarchy of threads.

use ir::LocationId;
use serde::{Deserialize, Serialize};
use terms::{Instance, Sort, Symbol, Term, Variable};

/// Why no error is reached by a fixed set of threads.
///
/// Threads, variables and steps are those of the program as transitions, with mathematical integers and
/// settled threads. In addition there is a variable for the place of each thread ([`place`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueriesProof {
    /// Each part covers some errors; together they cover all.
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
    /// At position `k`: the claims about the threads after position `k` in the order. A claim relies only on
    /// those of the next position.
    pub claims: Vec<Vec<QueriesClaim>>,
}

/// A claim that some threads never get from one set of states to another: no execution of these threads alone
/// leads from a reachable state in which `before` holds to a state in which `after` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueriesClaim {
    /// The states before.
    pub before: Term,
    /// The states after. May refer to the values of variables before ([`old`]).
    pub after: Term,
    /// What holds whenever the first of the threads is at a place, whatever the others did.
    pub reachable: Places,
    /// What holds whenever it is at a place, as long as only these threads have taken steps since `before`
    /// held. May refer to the values at that time.
    pub moving: Places,
}

/// A formula for each place that a thread can be at; `None` for places where only this thread runs and
/// nothing is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// By location.
    pub at: Vec<Option<Term>>,
    /// Before it is started.
    pub before_start: Option<Term>,
}

/// The number of the place of a thread before its start. Other places have the numbers of their locations.
pub const BEFORE_START: i128 = -1;

/// The variable that says where a thread is.
pub fn place(thread: usize) -> Variable {
    Variable::new(Symbol::Place(thread as u32), Sort::Int)
}

/// A constant: in claims about threads after position `position`, it stands for the value of a variable at
/// the start of the query to these threads. A claim holds for all values of its constants.
pub fn kept(variable: &Variable, position: usize) -> Variable {
    variable.instance(Instance::Kept(position as u32))
}

/// The variable for the value that a variable had before.
pub fn old(variable: &Variable) -> Variable {
    variable.instance(Instance::Old)
}

/// The variable whose old value a variable stands for, or the variable itself.
pub fn strip_old(variable: Variable) -> Variable {
    variable.without(Instance::Old).unwrap_or(variable)
}
