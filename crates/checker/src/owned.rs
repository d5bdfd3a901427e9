//! Checks proofs by ownership ([`verdict::owned`]): the claims hold where threads start, each step leads from
//! claims to claims, and with them the property holds.
//!
//! The induction: a claim about a live object says that only copies and derived locals have its address. So
//! no step of another thread can free it or learn its address, and what a step of this thread does,
//! [`verdict::owned::after`] says. Where a claim settles a test, that test has this result in all executions,
//! so the reduced program has the same executions as the program without calls.

use crate::ProofError;
use crate::proof::check_rules;
use crate::ready::{claim, inlined, sliced};
use ir::{LocationKind, Program};
use verdict::owned::{after, excludes_leaks, implies, reduced, settled};
use verdict::{Budget, OwnedClaims, OwnedProof, Proof, Property, Views};

/// Checks a proof about a lowered program.
pub(crate) fn check(
    program: &Views,
    property: &Property,
    proof: &OwnedProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let OwnedProof { claims, rest } = proof;
    // The view for errors says what may not be proved of the program, and its points-to sets are tested.
    crate::ready::require_all_behaviours(sliced(program, false, budget)?)?;
    let base = inlined(program, budget)?;
    crate::ready::require_all_behaviours(base)?;
    check_claims(base, claims, budget)?;
    match property {
        Property::NoLeak(leak) => {
            claim(*rest == Proof::NoErrorLocation, "a proof about leaks has nothing else in it")?;
            claim(
                excludes_leaks(base, claims, *leak),
                "what is owned is freed, and no memory else is allocated",
            )
        }
        Property::NoError(_) => check_rules(&Views::from(reduced(base, claims)), property, rest, budget),
        Property::NoRace | Property::NoDeadlock => claim(false, "it is about errors and leaks"),
    }
}

/// Checks that claims hold in all reachable states.
fn check_claims(program: &Program, claims: &OwnedClaims, budget: &Budget) -> Result<(), ProofError> {
    let fits = claims.len() == program.templates.len()
        && program.templates.iter().zip(claims).all(|(code, claims)| claims.len() == code.locations.len());
    claim(fits, "there is a list of claims for each location")?;
    let are_locals = program.templates.iter().zip(claims).all(|(code, claims)| {
        let mut locals =
            claims.iter().flatten().flatten().flat_map(|memory| memory.copies.iter().chain(&memory.derived));
        locals.all(|local| (local.0 as usize) < code.locals.len())
    });
    claim(are_locals, "claims are about locals")?;
    for (code, claims) in program.templates.iter().zip(claims) {
        let at = |location: ir::LocationId| claims[location.0 as usize].as_ref();
        claim(at(code.entry).is_some_and(Vec::is_empty), "a thread owns nothing when it starts")?;
        for edge in &code.edges {
            budget.check(0).map_err(ProofError::TooExpensive)?;
            let Some(before) = at(edge.source) else { continue };
            let Some(edge) = settled(program, edge, before) else { continue };
            let Some(after) = after(program, &edge, before) else {
                return claim(false, "each step is understood");
            };
            // Nothing runs there any more.
            if matches!(code.locations[edge.target].kind, LocationKind::Error(_) | LocationKind::Halt)
                && at(edge.target).is_none()
            {
                continue;
            }
            let holds = at(edge.target).is_some_and(|claimed| implies(&after.owned, claimed, false));
            claim(holds, "a step leads from what is owned to what is owned")?;
        }
    }
    Ok(())
}
