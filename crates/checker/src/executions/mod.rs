//! Tests proofs on executions: before a proof is accepted, its claims are evaluated along random executions
//! of the machine ([`walk`]).
//!
//! This is a safety net below the proof rules. The rules share passes, points-to sets and the meaning of
//! steps as formulas with engines, so a mistake in shared code affects both. This module shares only the
//! machine, which defines what programs mean, and for invariants the program that the proof is about.
//!
//! * The property itself, whatever the kind of proof, on the lowered program: no state is bad ([`Bad`]).
//! * The claims about all reachable states, on the program that the proof is about: `flow` ([`flow`]), groups
//!   of threads ([`modular`]), products ([`product`]), queries ([`queries`]), contexts ([`context`]),
//!   summaries ([`summaries`]). For `states` and for abstractions, the Boolean program is tested as if it
//!   were the user's. For specifications, only the property is tested.
//! * Listings of shared memory: no race except on locations that are listed as open ([`listing`]).
//! * The points-to sets that almost every rule relies on, on the lowered program ([`targets`]).
//!
//! Direction: a state that violates a claim refutes it. If no such state was met, that shows nothing. Where
//! the value of a variable is not known (an address with another number in proofs, memory that was not set),
//! claims are not tested. Executions with values that are not modelled count: proofs have to cover them.

mod alone;
pub mod context;
pub mod flow;
mod flow_objects;
mod formulas;
mod listing;
mod memory;
pub mod modular;
pub mod product;
pub mod queries;
pub(crate) mod random;
pub mod summaries;
mod targets;
mod walk;

pub use alone::try_on_executions;
pub use listing::try_listing;
pub use targets::{rests_on_points_to, try_points_to};

use crate::{ProofError, replay};
use ir::Program;
use std::fmt;
use verdict::{Budget, Proof, Property, Trace, Violation};
use walk::{Effort, Moment, Outside, ViolatingWalk, Watch, walk};

/// The fraction of the remaining time that executions may take.
const SHARE: u32 = 10;
/// The effort for the property, and again for the claims of a proof.
const EFFORT: Effort = Effort { executions: 2_000, steps: 30_000 };

/// An execution that a proof says does not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exception {
    /// The claim that does not hold at its end.
    pub claim: String,
    /// Which threads took steps at which lines.
    pub path: String,
    /// The execution, if it is a violation of the property that can be replayed.
    pub trace: Option<Trace>,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "its first state" } else { &self.path };
        write!(f, "an execution leaves it: {} ({path})", self.claim)
    }
}

/// The part of a budget that executions may take.
fn share(budget: &Budget) -> Budget {
    match budget.remaining() {
        Some(left) => budget.within(left / SHARE),
        None => budget.clone(),
    }
}

/// Tests the property: no execution violates it.
pub fn try_property(
    program: &Program,
    property: &Property,
    proof: &Proof,
    budget: &Budget,
) -> Result<(), ProofError> {
    match proof {
        // No state can be bad.
        Proof::NoErrorLocation | Proof::OneThread => return Ok(()),
        Proof::Exhaustive { .. } | Proof::Flow(_) | Proof::States(_) | Proof::Abstraction(_) => {}
        Proof::Product(_) | Proof::Modular(_) | Proof::Queries(_) | Proof::Context(_) => {}
        Proof::Runs(_) | Proof::Spec(_) | Proof::LockOrder(_) | Proof::Summaries(_) => {}
        Proof::Owned(_) => {}
    }
    let Some(found) = walk(program, EFFORT, &share(budget), &mut Bad { property }) else { return Ok(()) };
    let ViolatingWalk { outside, trace, unknown, path } = found;
    // It is evidence by itself if all its values are modelled.
    let trace = trace.filter(|trace| !unknown && replay(program, property, trace).is_ok());
    Err(ProofError::Execution(Box::new(Exception { claim: outside.claim, path, trace })))
}

/// Tests the claims of a proof about all states of its program.
fn try_watch(program: &Program, watch: &mut dyn Watch, budget: &Budget) -> Result<(), ProofError> {
    try_within(program, watch, EFFORT, budget)
}

/// The same, with this much effort.
fn try_within(
    program: &Program,
    watch: &mut dyn Watch,
    effort: Effort,
    budget: &Budget,
) -> Result<(), ProofError> {
    match walk(program, effort, &share(budget), watch) {
        Some(ViolatingWalk { outside, path, .. }) => {
            let claim = outside.claim;
            Err(ProofError::Execution(Box::new(Exception { claim, path, trace: None })))
        }
        None => Ok(()),
    }
}

/// Detects states that are bad by themselves.
struct Bad<'a> {
    property: &'a Property,
}

impl Watch for Bad<'_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        let Moment { machine, state, .. } = moment;
        let violation = match self.property {
            Property::NoError(kinds) => {
                let (thread, kind) = machine.error(state)?;
                kinds.contains(&kind).then_some(Violation::Error { thread, kind })
            }
            Property::NoRace => {
                let [one, other] = machine.race(state)?;
                Some(Violation::Race([(one.0, one.1), (other.0, other.1)]))
            }
            Property::NoDeadlock => {
                let cycle = machine.deadlock(state)?;
                Some(Violation::Deadlock(cycle.into_iter().map(|(thread, _)| thread).collect()))
            }
            Property::NoLeak(leak) => machine.leak(state, *leak).map(|_| Violation::Leak),
        };
        let claim = "the property is not violated".to_owned();
        violation.map(|violation| Outside { claim, violation: Some(violation) })
    }

    fn price(&self, threads: usize) -> u64 {
        match self.property {
            Property::NoError(_) | Property::NoLeak(_) => 0,
            Property::NoRace => 2 * threads as u64,
            Property::NoDeadlock => threads as u64 / 2,
        }
    }
}
