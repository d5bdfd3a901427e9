//! The interface of every engine, and its results.

use crate::OwnedProof;
use crate::{
    AbstractionProof, Attempt, Budget, ContextProof, Exhausted, FlowProof, ModularProof, ProductProof,
    Property, QueriesProof, RunsProof, SpecProof, StatesProof, SummariesProof, Trace, Views,
};
use ir::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A question: a program, lowered for a property, with its views, and the property.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The program and its views.
    pub program: &'a Views,
    /// What must not happen.
    pub property: &'a Property,
}

/// A method that answers tasks.
///
/// Law: a `Safe` verdict's proof is accepted by the checker, and an `Unsafe` verdict's trace replays. An
/// engine that cannot give that evidence answers `Unknown`. It stops soon after its budget is exhausted.
pub trait Engine {
    /// The name in `--engine`.
    fn name(&self) -> &'static str;
    /// Answers a task.
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict;
}

/// An answer with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The property holds for every schedule, input, and number of threads.
    Safe(Proof),
    /// The property does not hold: this execution violates it.
    Unsafe(Trace),
    /// Neither is known.
    Unknown(Reason),
}

/// Why a property holds, in a form that can be checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Proof {
    /// All executions were followed to their end: no bound was hit, and none of these states is bad. The
    /// checker explores again, without the reductions of the search.
    Exhaustive {
        /// How many copies of each start template ran.
        copies: Vec<u32>,
        /// How many states the search stored.
        states: u64,
    },
    /// No code that can ever run has an error location of a forbidden kind.
    NoErrorLocation,
    /// There is never more than one thread, and a race takes two.
    OneThread,
    /// Threads wait for locks only, and take them in this order ([`ir::passes::LockOrder`]).
    LockOrder(Vec<ir::passes::StaticLock>),
    /// No two threads can be at conflicting accesses, or no thread at an error, by locks held and the order
    /// of starts and joins.
    Flow(Box<FlowProof>),
    /// No thread can get into a bad thread state, or no configuration of threads that leads there can be
    /// reached.
    States(Box<StatesProof>),
    /// A Boolean program that simulates the program has no error.
    Abstraction(Box<AbstractionProof>),
    /// A fixed set of threads, by invariants of their reduced product.
    Product(Box<ProductProof>),
    /// Any number of threads, by invariants of every small group of them.
    Modular(Box<ModularProof>),
    /// A fixed set of threads, one after the other, by claims about those that come later.
    Queries(Box<QueriesProof>),
    /// Any number of threads, one in the context of the others.
    Context(Box<ContextProof>),
    /// There is no data race, and no error when threads are switched only after steps that synchronise them.
    Runs(Box<RunsProof>),
    /// Any number of threads, by their conformance to a specification and a proof about that specification.
    Spec(Box<SpecProof>),
    /// No two threads can be at conflicting accesses, by facts for each procedure and context.
    Summaries(Box<SummariesProof>),
    /// Any number of threads, by what memory each of them owns.
    Owned(Box<OwnedProof>),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The budget ran out.
    Exhausted(Exhausted),
    /// The program contains something that is not modelled, or the engine does not handle this kind of
    /// program or property.
    NotSupported(String, Span),
    /// The program, or the engine's model of it, is larger than the engine tries.
    TooLarge(String),
    /// An engine finished, and its result does not suffice.
    GaveUp(String),
    /// All executions within some bound are fine; beyond it nothing is known.
    Bounded(String),
    /// A violation was found that rests on something that is not modelled.
    Approximate(String),
    /// The program does not conform to its specification, or the specification is wrong.
    Specification(String),
    /// A proof would be vacuous: every execution that was tried ends in undefined behaviour, as here.
    Undefined(String, Span),
    /// The evidence file has no evidence for this verdict.
    NoEvidence,
    /// The evidence for a verdict was not accepted: a bug in this tool.
    Rejected(String),
    /// An engine, or the check of its evidence, panicked: a bug in this tool.
    Crashed(String),
    /// One engine proved what another one refuted, and the checker accepted both: a bug in this tool.
    Contradiction(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted(Exhausted::Time) => f.write_str("out of time"),
            Self::Exhausted(Exhausted::Memory) => f.write_str("out of memory"),
            Self::Exhausted(Exhausted::Cancelled) => f.write_str("interrupted"),
            Self::NotSupported(what, span) => {
                let what = what.strip_prefix("unsupported: ").unwrap_or(what);
                match span.line {
                    0 => write!(f, "unsupported: {what}"),
                    line => write!(f, "unsupported, line {line}: {what}"),
                }
            }
            Self::TooLarge(what) => write!(f, "too large: {what}"),
            Self::GaveUp(why) => f.write_str(why),
            Self::Bounded(bound) => write!(f, "bounded: {bound}"),
            Self::Approximate(what) => write!(f, "not modelled exactly: {what}"),
            Self::Specification(what) => write!(f, "specification: {what}"),
            Self::Undefined(what, span) => {
                write!(f, "every execution ends in undefined behaviour, line {}: {what}", span.line)
            }
            Self::NoEvidence => f.write_str("there is no evidence for this check"),
            Self::Rejected(what) => write!(f, "evidence rejected: {what}"),
            Self::Crashed(what) | Self::Contradiction(what) => write!(f, "internal error: {what}"),
        }
    }
}

/// Progress of a running engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A phase begins.
    Phase(String),
    /// How far the search has come.
    Progress {
        /// States seen so far.
        states: u64,
    },
    /// The property is not proved, but these checks are.
    Attempt(Box<Attempt>),
}

/// A listener to events.
pub trait Events {
    /// Receives an event.
    fn event(&self, event: Event);
}

/// Ignores all events.
pub struct Silent;

impl Events for Silent {
    fn event(&self, _: Event) {}
}
