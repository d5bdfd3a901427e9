//! What is asked and what is answered: tasks, properties, budgets, engines, verdicts, and their evidence.
//!
//! A verdict *is* its evidence: [`Verdict::Safe`] holds a proof, [`Verdict::Unsafe`] a trace,
//! [`Verdict::Unknown`] a reason. What an engine believes counts only after the checker agrees.
//! This crate does no IO and holds no search.

mod budget;
mod decision;
mod engine;
mod flow;
mod listing;
mod property;
mod states;
mod trace;

pub use budget::{Budget, Cancel, Exhausted};
pub use decision::{Attempt, Decision, Decisions, OpenCheck};
pub use engine::{Engine, Event, Events, Proof, Reason, Silent, Task, Verdict};
pub use flow::{
    Bounds, CellFlows, DataProof, FlowProof, HeldLock, LARGEST_FACT, LocationFacts, Pairs, Reach, Relation,
};
pub use listing::{Interference, KnownValue, ListedFact, ListedLine, Listing, known_text};
pub use property::{Check, Property};
pub use states::{Configuration, StatesProof};
pub use trace::{Trace, TraceStep, Violation};
