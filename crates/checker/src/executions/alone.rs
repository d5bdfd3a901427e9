//! Tests a proof on executions only, without its proof rule: shows what this net catches by itself.

use super::{context, flow, modular, product, queries, try_property};
use crate::ready::system;
use crate::{ProofError, queries_view};
use transitions::threads::Threads;
use transitions::{Scoped, prepare};
use verdict::{Budget, Proof, Property, Views};

/// Tests a proof. A proof that passes need not hold.
pub fn try_on_executions(
    program: &Views,
    property: &Property,
    proof: &Proof,
    budget: &Budget,
) -> Result<(), ProofError> {
    try_property(program, property, proof, budget)?;
    try_claims(program, property, proof, budget)
}

fn try_claims(
    program: &Views,
    property: &Property,
    proof: &Proof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let races = *property == Property::NoRace;
    let unready = |text: &str| ProofError::Claim(text.to_owned());
    let words = || {
        let prepared = prepare(program, races, budget);
        prepared.map_err(|_| unready("the program is ready"))
    };
    let no_product = || unready("the threads are known");
    match proof {
        Proof::Flow(proof) => {
            let symbolic = crate::flow::symbolic(program, property, budget)?;
            let view = crate::flow::View::new(symbolic, proof, budget)?;
            let data = proof.data.as_ref().map(|data| crate::flow::Data::new(&view, data)).transpose()?;
            flow::try_claims(&view, data.as_ref(), budget)
        }
        Proof::Modular(proof) => modular::try_claims(&system(words()?, races), proof, budget),
        Proof::Product(proof) => {
            let words = words()?;
            let system = system(words, races);
            let threads = Threads::new(&system).map_err(|_| no_product())?;
            product::try_claims(&system, &threads, proof, budget)
        }
        Proof::Queries(proof) => {
            let words = words()?;
            let system = system(words, races);
            let threads = Threads::new(&system).map_err(|_| no_product())?;
            let view = queries_view::View::new(&system, threads)?;
            queries::try_claims(&system, &view, proof, budget)
        }
        Proof::Context(proof) => {
            let words = words()?;
            let system = system(words, races);
            let scoped = Scoped::new(&system, &|| false).ok_or_else(no_product)?;
            context::try_claims(&system, &scoped, proof, budget)
        }
        Proof::Runs(proof) => {
            try_claims(program, &Property::NoRace, &proof.races, budget)?;
            let runs = program.lipton_reduce(budget).map_err(ProofError::TooExpensive)?;
            try_claims(runs, property, &proof.errors, budget)
        }
        Proof::Summaries(proof) => crate::summaries::try_on_executions(program, proof, budget),
        // There is no invariant of states, or it is not tested.
        Proof::Exhaustive { .. } | Proof::NoErrorLocation | Proof::OneThread => Ok(()),
        Proof::States(_) | Proof::Abstraction(_) | Proof::Spec(_) | Proof::LockOrder(_) => Ok(()),
        Proof::Owned(_) => Ok(()),
    }
}
