//! The interface that every engine has, and what it returns.

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
    /// The program, and what is derived of it.
    pub program: &'a Views,
    /// What must not happen.
    pub property: &'a Property,
}

/// A method to answer tasks.
///
/// Law: a `Safe` verdict's proof is accepted by the checker, and an `Unsafe` verdict's trace replays. An engine that
/// cannot give that evidence answers `Unknown`. It stops soon after its budget does.
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
    /// It does not: this execution violates it.
    Unsafe(Trace),
    /// Neither is known.
    Unknown(Reason),
}

/// Why a property holds, in a form that can be checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Proof {
    /// All executions were followed to their end: nothing was bounded, and there is nothing bad among these many states.
    /// Checked by following them again, without the reductions of the search.
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
    /// No two threads can be at conflicting accesses, or no thread at an error, by locks held and the order of starts and joins.
    Flow(Box<FlowProof>),
    /// No thread can get into a bad thread state, or no configuration of threads that leads there can be reached.
    States(Box<StatesProof>),
    /// A Boolean program that does all that the program does has no error.
    Abstraction(Box<AbstractionProof>),
    /// A fixed set of threads, all together, by invariants of a reduced product.
    Product(Box<ProductProof>),
    /// Any number of threads, by invariants of every few of them.
    Modular(Box<ModularProof>),
    /// A fixed set of threads, one after the other, by what is claimed of those that come later.
    Queries(Box<QueriesProof>),
    /// Any number of threads, one in the context of the others.
    Context(Box<ContextProof>),
    /// There is no data race, and no error where threads are switched only after steps that synchronise them.
    Runs(Box<RunsProof>),
    /// Any number of threads, by what each of them may do as a specification says, and a proof about that.
    Spec(Box<SpecProof>),
    /// No two threads can be at conflicting accesses, by what holds in each procedure and context.
    Summaries(Box<SummariesProof>),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The budget ran out.
    Exhausted(Exhausted),
    /// Something in the program that is not modelled, or a kind of programs or properties that an engine is not for.
    NotSupported(String, Span),
    /// The program, or what an engine makes of it, is larger than the engine tries.
    TooLarge(String),
    /// An engine came to its end, and what it found does not suffice.
    GaveUp(String),
    /// All executions within some bound are fine; beyond it nothing is known.
    Bounded(String),
    /// A violation was found that rests on something that is not modelled.
    Approximate(String),
    /// The program does not conform to its specification, or that is wrong.
    Specification(String),
    /// A proof that says nothing: every execution that was tried ends in undefined behaviour, as here.
    Undefined(String, Span),
    /// There is no evidence for a verdict in the file that was to have it.
    NoEvidence,
    /// The evidence for a verdict was not accepted: a bug in this tool.
    Rejected(String),
    /// An engine, or the check of its evidence, came to an unexpected end: a bug in this tool.
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

/// Something worth telling while an engine runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A phase begins.
    Phase(String),
    /// How far the search has come.
    Progress {
        /// States seen so far.
        states: u64,
    },
    /// The property is not proved, but this is.
    Attempt(Box<Attempt>),
}

/// Who listens to events.
pub trait Events {
    /// Takes note of one.
    fn event(&self, event: Event);
}

/// Listens to nothing.
pub struct Silent;

impl Events for Silent {
    fn event(&self, _: Event) {}
}
