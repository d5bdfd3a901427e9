//! Proofs by predicate abstraction: a Boolean program that simulates the program, and why it has no error.

use crate::Proof;
use ir::TemplateId;
use serde::{Deserialize, Serialize};
use terms::Term;

/// Why no error is reached: predicates, how the steps of the program change them, and a proof about the
/// resulting Boolean program.
///
/// Variables and steps are those of the program as transitions, with shared variables distinguished from a
/// thread's own, and with mathematical integers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbstractionProof {
    /// The predicates.
    pub predicates: Vec<Predicate>,
    /// What is known of each predicate at the start.
    pub initial: Vec<Option<bool>>,
    /// What else holds at the start: clauses over [`Moment::Before`].
    pub start: Vec<Vec<Literal>>,
    /// What each step does, by its position.
    pub steps: Vec<StepAbstraction>,
    /// Why the Boolean program has no error.
    pub inner: Proof,
}

/// A formula whose truth is a bit of the Boolean program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// The template whose threads each have an instance, over their own variables and the shared ones; `None`
    /// when the formula is over shared variables only.
    pub scope: Option<TemplateId>,
    /// The formula.
    pub formula: Term,
}

/// When, and for which thread, a predicate is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Moment {
    /// Before the step, for the thread that takes it.
    Before,
    /// After the step, for the thread that took it.
    After,
    /// After the step, for a thread that it starts, by the number of the start.
    Started(usize),
    /// Before the step, for another thread.
    OtherBefore,
    /// After the step, for another thread.
    OtherAfter,
}

/// A predicate at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Which predicate.
    pub predicate: usize,
    /// When, and for which thread.
    pub moment: Moment,
}

/// A literal: a fact or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// The fact.
    pub fact: Fact,
    /// Whether it holds.
    pub holds: bool,
}

/// How facts change.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredicateRelation {
    /// New facts that old ones determine: each holds exactly when all literals of one of its lists do.
    pub functions: Vec<(Fact, Vec<Vec<Literal>>)>,
    /// Clauses over old and new facts: one literal of each list holds.
    pub clauses: Vec<Vec<Literal>>,
}

/// The effect of a step on predicates.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepAbstraction {
    /// On those of the thread that takes it, those over shared variables, and those of threads that it
    /// starts.
    pub own: PredicateRelation,
    /// On those of other threads, by template.
    pub others: Vec<(TemplateId, PredicateRelation)>,
}
