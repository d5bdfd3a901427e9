//! Checks proofs of the `states` engine.
//!
//! `boolean` derives the view of the program again. Then the checker tests that the sets of thread states are
//! closed (`closed.rs`). If they contain an error, it also tests either that the configurations claimed to be
//! unreachable are closed backwards and not initial (`unreachable.rs`), or that the populations are closed
//! forwards and no error is one step away (`populations.rs`). It computes only single steps (`settling.rs`),
//! without any search. Where the proof bounds the depth of calls, no thread of the sets may call deeper.

mod closed;
mod populations;
mod settling;
mod unreachable;

use crate::ProofError;
use boolean::{Bdd, FALSE, PointId, Recursion, View, view};
use ir::Program;
use settling::Settling;
use verdict::{Budget, Property, StatesProof};

fn claim<T>(text: &str) -> Result<T, ProofError> {
    Err(ProofError::Claim(text.to_owned()))
}

/// Checks a proof.
pub(crate) fn check(
    program: &Program,
    property: &Property,
    proof: &StatesProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let Property::NoError(kinds) = property else {
        return claim("thread states say nothing of this property");
    };
    let recursion = proof.depth.map_or(Recursion::Approximated, Recursion::Unfolded);
    let mut view = View::new(program, recursion, budget).map_err(|failure| match failure {
        view::Failure::Exhausted(exhausted) => ProofError::TooExpensive(exhausted),
        view::Failure::Unsupported(what, _) => {
            ProofError::Claim(format!("the program is not Boolean: {what}"))
        }
    })?;
    let sets = sets_of(&mut view, proof)?;
    closed::check(&mut view, &sets)?;
    if view.cuts().any(|point| sets[point.0 as usize] != FALSE) {
        return claim("calls go deeper than the proof says");
    }
    let errors: Vec<PointId> = (0..view.points.len() as u32)
        .map(PointId)
        .filter(|id| {
            sets[id.0 as usize] != FALSE && view.point(*id).error.is_some_and(|kind| kinds.contains(&kind))
        })
        .collect();
    if errors.is_empty() {
        return Ok(());
    }
    if proof.unreachable.is_empty() && proof.populations.is_empty() && view.is_recursive() {
        return Err(ProofError::Violated);
    }
    let settling = Settling::new(&view, &sets, kinds, budget)?;
    if proof.populations.is_empty() {
        unreachable::check(&settling, &proof.unreachable, budget)
    } else {
        populations::check(&settling, &proof.populations, budget)
    }
}

/// Reads the sets. Each may depend only on the shared bits and on the bits that are relevant at its point.
fn sets_of(view: &mut View<'_>, proof: &StatesProof) -> Result<Vec<Bdd>, ProofError> {
    if proof.sets.len() != view.points.len() {
        return claim("there is not one set for each point");
    }
    let mut made: Vec<Bdd> = vec![boolean::FALSE, boolean::TRUE];
    // Whether a diagram depends only on shared bits.
    let mut plain: Vec<bool> = vec![true, true];
    for (level, low, high) in &proof.tests {
        let (first, second) = (*low as usize, *high as usize);
        let (Some(low), Some(high)) = (made.get(first), made.get(second)) else {
            return claim("a test comes before what it needs");
        };
        plain
            .push(level % 2 == 0 && view.is_shared(boolean::Bit(level / 2)) && plain[first] && plain[second]);
        let (low, high) = (*low, *high);
        if [low, high].into_iter().any(|part| view.bdds.node(part).level <= *level) {
            return claim("tests are not in order");
        }
        made.push(view.bdds.make(*level, low, high).map_err(ProofError::TooExpensive)?);
    }
    let mut sets = Vec::new();
    for (index, number) in proof.sets.iter().enumerate() {
        let Some(set) = made.get(*number as usize).copied() else { return claim("a set does not exist") };
        let live = &view.live[index];
        if !plain[*number as usize] {
            for level in view.bdds.support(&[set]) {
                let bit = boolean::Bit(level / 2);
                let counts = view.is_shared(bit) || live.binary_search(&bit).is_ok();
                if level % 2 == 1 || !view.is_state(bit) || !counts {
                    return claim("a set depends on more than the state of a thread");
                }
            }
        }
        sets.push(set);
    }
    Ok(sets)
}
