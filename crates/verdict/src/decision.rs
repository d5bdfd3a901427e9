//! The status of each check of a program, where the whole property is not proved.

use crate::FlowProof;
use ir::{Assumption, EdgeId, Span, TemplateId};

/// An attempt to prove a property that left some checks open.
///
/// Law: the proof is valid, except for the checks that it leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// What was proved, if it says which error locations are not reached.
    pub proof: Option<FlowProof>,
    /// What is open.
    pub open: Vec<OpenCheck>,
}

/// A check that an engine could not prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCheck {
    /// Where it is in the source.
    pub span: Span,
    /// The step to an error location, in the program that the proof speaks of; `None` for a pair of accesses.
    pub step: Option<(TemplateId, EdgeId)>,
    /// The names of the memory that both accesses of a pair may touch; `None` when that is not known.
    pub objects: Vec<String>,
    /// Why it is open, as a message.
    pub why: String,
}

/// The checks of one source line: one for each calling context of its function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Where they are.
    pub span: Span,
    /// How many there are.
    pub checks: usize,
    /// How many are proved.
    pub proved: usize,
    /// Why the others are not, without repetitions.
    pub why: Vec<String>,
}

/// The status of each check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// By source line, in order.
    pub lines: Vec<Decision>,
    /// Whether all checks are listed, not only those that are open.
    pub complete: bool,
    /// The assumptions of all that is proved, beyond those that always hold: they could hide behaviour.
    pub given: Vec<Assumption>,
}

impl Decisions {
    /// How many checks are proved.
    pub fn proved(&self) -> usize {
        self.lines.iter().map(|line| line.proved).sum()
    }
    /// How many checks there are.
    pub fn checks(&self) -> usize {
        self.lines.iter().map(|line| line.checks).sum()
    }
}
