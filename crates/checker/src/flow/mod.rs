//! Checks the proofs of the `flow` engine ([`verdict::FlowProof`]).
//!
//! The passes of `ir` derive the program that the proof is about again. Then each part of the proof is tested
//! separately, without any search.
//!
//! 1. Each template that is claimed to be unique has at most one thread ([`view`]).
//! 2. Facts hold at entries, and each step leads from the facts of its source to those of its target
//!    ([`knowledge`]).
//! 3. The claims of parents about the members of their families hold, step by step ([`families`]).
//! 4. The reachable locations and the pairs contain the entries of threads at the start, and are closed under
//!    steps and starts of threads ([`pairs`]).
//! 5. No step of one thread breaks a lock claim of another, for all related locations ([`pairs`]).
//! 6. The claims about counters hold ([`counters`]).
//! 7. Invariants of data, if there are any, are inductive, and so is the data flow that they rest on
//!    ([`data`]).
//! 8. No two related locations have conflicting accesses ([`conflicts`]), or no forbidden error location is
//!    reachable.
//!
//! By induction over the steps of an execution, 1 to 7 give an invariant of all reachable states: each thread
//! is at a reachable location, each two threads are at related ones, and all facts hold. 8 says that the
//! invariant excludes what the property forbids.

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

/// The program that proofs are about.
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
        Property::NoLeak(_) => claim(false, "the proof says nothing about allocated memory"),
    }
}

/// Checks 1 to 7: all claims hold in all reachable states. Returns the claims about data.
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
