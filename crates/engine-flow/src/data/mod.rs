//! The data side (paper 4, sections 3 to 5): invariants of data for each location, under the data flow that
//! the control side leaves possible.
//!
//! * [`setup`]: the variables, and which steps define which shared cells.
//! * [`invariants`]: the annotation ι that is inductive for a data flow graph.
//! * [`copies`]: equalities between locals and shared memory.
//! * [`flows`]: which definitions may be the latest one at which location (figure 3: `mayReach`).
//! * [`knowledge`]: the consequences of ι for the control side, [`DataFacts`].
//! * [`packing`]: which variables are related to each other, if values alone do not suffice.
//! * [`coarsen`]: the loop of algorithm 1.
//! * [`evidence`]: the result as part of a proof.

pub mod coarsen;
pub mod copies;
pub mod evidence;
pub mod flows;
pub mod invariants;
pub mod knowledge;
pub mod packing;
pub mod setup;

use crate::model::{Node, Step};

/// Data invariants, as the control side uses them.
///
/// Law: if the answer is `false`, it never happens in any execution.
pub trait DataFacts {
    /// Whether a thread may be at a location.
    fn may_be_at(&self, node: Node) -> bool;
    /// Whether a step may be taken while another thread, if one is given, is at a location.
    fn may_take(&self, step: Step, other: Option<Node>) -> bool;
}

/// Knows nothing: everything may happen.
pub struct NoData;

impl DataFacts for NoData {
    fn may_be_at(&self, _: Node) -> bool {
        true
    }
    fn may_take(&self, _: Step, _: Option<Node>) -> bool {
        true
    }
}
