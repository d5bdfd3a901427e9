//! Checks the proofs of the `flow` engine ([`verdict::FlowProof`]).
//!
//! The program that the proof speaks of is made again, by the passes of `ir`. Then each part of the proof is tested on its own; nothing is searched for.
//!
//! 1. At most one thread runs of each template that is called unique ([`view`]).
//! 2. Facts hold at entries, and each step from a location with its facts leads to the facts of the next one ([`knowledge`]).
//! 3. What the parents of families claim of their members holds, step by step ([`families`]).
//! 4. The reachable locations and the pairs contain where threads start, and are closed under steps of one thread and starts of others ([`pairs`]).
//! 5. No step of one thread breaks another one's claim to hold a lock, for all related locations ([`pairs`]).
//! 6. What is claimed of counters holds ([`counters`]).
//! 7. Invariants of data, if there are any, are inductive, and so is the data flow that they rest on ([`data`]).
//! 8. No two related locations have conflicting accesses ([`conflicts`]), or no forbidden error location is reachable.
//!
//! 1 to 7 make, by induction over the steps of an execution, an invariant of all reachable states: each thread is at a reachable location, each two
//! threads at related ones, and all facts hold. 8 says that the invariant excludes what the property forbids.

mod conflicts;
mod counters;
mod data;
mod decide;
mod families;
mod knowledge;
mod pairs;
mod terms;
mod view;
#[cfg(test)]
mod view_tests;

use crate::ProofError;
use crate::ready::{claim, require_all_behaviours, sliced};
pub use data::Data;
pub use decide::decide;
use ir::LocationKind;
use verdict::{Analysed, Budget, FlowProof, Property, Views};
pub use view::View;

/// Checks a proof about a lowered program.
pub fn check(
    program: &Views,
    property: &Property,
    proof: &FlowProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let view = symbolic(program, property, budget)?;
    require_all_behaviours(view)?;
    check_symbolic(view, property, proof, budget)
}

/// The program that proofs speak of.
pub(crate) fn symbolic<'v>(
    program: &'v Views,
    property: &Property,
    budget: &Budget,
) -> Result<&'v verdict::View, ProofError> {
    sliced(program, *property == Property::NoRace, budget)
}

/// Checks a proof about an inlined program.
fn check_symbolic(
    program: &Analysed,
    property: &Property,
    proof: &FlowProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let view = View::new(program, proof, budget)?;
    let data = check_invariant(&view, proof, budget)?;
    match property {
        Property::NoRace => conflicts::check_no_conflict(&view, data.as_ref(), budget),
        Property::NoError(kinds) => {
            let bad = (0..view.nodes.len()).any(|node| {
                view.is_inhabited(node)
                    && matches!(view.location(node).kind, LocationKind::Error(kind) if kinds.contains(&kind))
            });
            claim(!bad, "an error location is reachable")
        }
        Property::NoDeadlock => claim(false, "the proof says nothing about deadlocks"),
    }
}

/// Checks 1 to 7: that what the proof says holds in all reachable states. Returns what it says of data.
fn check_invariant<'v, 'a>(
    view: &'v View<'a>,
    proof: &'a FlowProof,
    budget: &Budget,
) -> Result<Option<Data<'v, 'a>>, ProofError> {
    counters::check_shape(view)?;
    let data = proof.data.as_ref().map(|data| Data::new(view, data)).transpose()?;
    let steps = knowledge::check_facts(view, data.as_ref())?;
    families::check_families(view, &steps)?;
    families::check_given(view, &steps)?;
    let closure = pairs::closure(view, data.as_ref())?;
    pairs::check_closed(&closure, &steps, budget)?;
    pairs::check_claims(&closure, &steps, budget)?;
    counters::check_counters(&closure, data.as_ref(), &steps, budget)?;
    if let Some(data) = &data {
        data::check_flows(data, &closure, &steps, budget)?;
        data::check_inductive(data, &closure, &steps, budget)?;
    }
    crate::executions::flow::try_claims(view, data.as_ref(), budget)?;
    Ok(data)
}
