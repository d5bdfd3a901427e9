//! Proofs by predicate abstraction: a Boolean program that does all that the program does, and why that one is right.

use crate::Proof;
use ir::TemplateId;
use serde::{Deserialize, Serialize};
use terms::Term;

/// Why no error is reached: predicates, how the steps of the program change them, and a proof about the Boolean program that they make.
///
/// Variables and steps are those of the program as transitions with variables sorted into shared and own ones, with mathematical integers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbstractionProof {
    /// The predicates.
    pub predicates: Vec<Predicate>,
    /// What is known of each predicate at the start.
    pub initial: Vec<Option<bool>>,
    /// What else holds at the start: clauses of [`Moment::Before`].
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
    /// The template whose threads each have one, over their own variables and the shared ones; `None` when it is over shared variables only.
    pub scope: Option<TemplateId>,
    /// The formula.
    pub formula: Term,
}

/// When, and for whom, a predicate is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Moment {
    /// Before the step, for the thread that takes it.
    Before,
    /// Behind the step, for the thread that took it.
    After,
    /// Behind the step, for a thread that it starts: which of those.
    Started(usize),
    /// Before the step, for another thread.
    OtherBefore,
    /// Behind the step, for another thread.
    OtherAfter,
}

/// A predicate at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Which predicate.
    pub predicate: usize,
    /// When, and for whom.
    pub moment: Moment,
}

/// That a fact holds, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// The fact.
    pub fact: Fact,
    /// Whether it holds.
    pub holds: bool,
}

/// What becomes of facts.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredicateRelation {
    /// New facts that old ones decide: each holds exactly where all literals of one of its lists do.
    pub functions: Vec<(Fact, Vec<Vec<Literal>>)>,
    /// What always holds of old and new facts: one literal of each list.
    pub clauses: Vec<Vec<Literal>>,
}

/// What a step does to predicates.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepAbstraction {
    /// To those of the thread that takes it, those over shared variables, and those of threads that it starts.
    pub own: PredicateRelation,
    /// To those of other threads, by template.
    pub others: Vec<(TemplateId, PredicateRelation)>,
}
