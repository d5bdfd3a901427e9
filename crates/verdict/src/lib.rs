//! Questions and answers: tasks, properties, budgets, engines, verdicts, and their evidence.
//!
//! A verdict *is* its evidence: [`Verdict::Safe`] holds a proof, [`Verdict::Unsafe`] a trace,
//! [`Verdict::Unknown`] a reason. What an engine believes counts only after the checker agrees.
//! This crate does no IO and holds no search.

mod abstraction;
mod acfa;
mod budget;
mod context;
mod counters;
mod decision;
mod each;
mod engine;
mod evidence;
mod family;
mod flow;
pub mod form;
mod indexed;
mod listing;
mod locations;
mod modular;
mod orders;
pub mod owned;
mod present;
mod product;
mod property;
pub mod queries;
mod runs;
mod schedule;
mod spec;
mod states;
mod summaries;
mod trace;
mod views;

pub use abstraction::{
    AbstractionProof, Fact, Literal, Moment, Predicate, PredicateRelation, StepAbstraction,
};
pub use acfa::{AbstractEdge, AbstractId, AbstractState, Acfa, Action};
pub use budget::{Budget, Cancel, Exhausted, SAFETY, STEPS_PER_SECOND, Steps};
pub use context::{ContextEdge, ContextNode, ContextProof, ContextView, known_name, with_source_names};
pub use counters::{Counter, CounterStep, TicketAddress};
pub use decision::{Attempt, Decision, Decisions, OpenCheck};
pub use engine::{Engine, Event, Events, Proof, Reason, Silent, Task, Verdict};
pub use evidence::{Evidence, EvidenceFile};
pub use family::{Family, Members, ParentFacts, ParentStep};
pub use flow::{
    Bounds, CellFlows, DataProof, FlowProof, FlowSubject, HeldLock, LARGEST_FACT, LocationFacts,
    PackRelation, Pairs, Reach, Relation, VariablePacks,
};
pub use form::IllFormed;
pub use indexed::IndexedLock;
pub use listing::{Interference, KnownValue, ListedFact, ListedLine, Listing, known_text};
pub use locations::{LocationAccess, LocationStatus, Locations, Reached, SharedLocation, WhyNoRace};
pub use modular::ModularProof;
pub use orders::{Bound, Orders};
pub use owned::{OwnedClaims, OwnedMemory, OwnedProof};
pub use present::LocalEqualities;
pub use product::{ProductNode, ProductPart, ProductProof};
pub use property::{Check, Property};
pub use queries::{QueriesClaim, QueriesPart, QueriesProof};
pub use runs::RunsProof;
pub use schedule::{Schedule, Turn};
pub use spec::{Composition, Conformance, SpecProof};
pub use states::{Configuration, Population, StatesProof};
pub use summaries::{
    Cell, Handle, Index, LockBase, LockFact, Numbered, ProcedureContext, Row, Started, SummariesProof, Team,
    ThreadFacts, ThreadHandle, Word,
};
pub use trace::{Trace, TraceStep, Violation, has_unmodelled_values};
pub use views::{Analysed, NoView, PointsToTest, View, Views};
