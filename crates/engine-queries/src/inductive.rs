//! Inductive environment properties (paper 5, section 8.2): conditions that the threads after a position
//! never invalidate.
//!
//! They are guessed from claims that were just proved. If a claim mentions variables that those threads do
//! not write, each conjunct of α' without such a variable is a guess; if α' is true, so is the negation of
//! each conjunct of β'. A guess costs one call of the model checker, is made once, and is claimed if it is
//! right.

use crate::build::{EnvironmentQuery, spoken_of};
use crate::generalise::{claim, quickly};
use crate::post::facts_of;
use crate::query::Search;
use indexmap::IndexSet;
use smt::{NoAnswer, Term};
use verdict::QueriesClaim;

/// The conditions to look at after a claim about the threads from a position on.
pub fn guesses(search: &Search<'_>, position: usize, claim: &QueriesClaim) -> Vec<Term> {
    let written = search.model.written_by(&search.order[position..]);
    let is_theirs = |fact: &Term| {
        let variables = fact.free_variables();
        !variables.is_empty() && variables.iter().all(|variable| written.contains(variable))
    };
    let after = facts_of(&claim.after);
    let found: Vec<Term> = if claim.before.is_true() {
        after.iter().filter(|_| after.len() > 1).map(Term::not).collect()
    } else if spoken_of(claim).iter().any(|variable| !written.contains(variable)) {
        facts_of(&claim.before)
    } else {
        Vec::new()
    };
    found.into_iter().filter(is_theirs).collect()
}

/// Claims about the threads from a position on that each of some conditions stays, where it does. What was
/// looked at before is in `tried`.
pub fn inductive(
    search: &mut Search<'_>,
    position: usize,
    guesses: Vec<Term>,
    tried: &mut IndexSet<(usize, Term)>,
) -> Result<Vec<QueriesClaim>, NoAnswer> {
    let mut found = Vec::new();
    for guess in guesses {
        if !tried.insert((position, guess.clone())) {
            continue;
        }
        let query = EnvironmentQuery { alpha: vec![guess.clone()], beta: vec![guess.not()] };
        if let Some(proved) = quickly(search, position, &query)? {
            found.push(claim(search, position, &query, &proved));
        }
    }
    Ok(found)
}
