//! What the data side tells the control side.

use crate::model::{Node, Step};

/// Invariants of data, as far as the control side asks for them.
///
/// Law: whatever is answered with `false` never happens in any execution.
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
