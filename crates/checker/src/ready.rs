//! The first step of each proof rule: the view of the program that a proof is about, if anything may be
//! proved of it.

use crate::ProofError;
use ir::Program;
use smt::expressions::Mode;
use transitions::{NotReady, System, prepare, prepare_whole};
use verdict::{Analysed, Budget, NoView, View, Views};

/// Checks a claim of a proof.
pub(crate) fn claim(holds: bool, text: &str) -> Result<(), ProofError> {
    if holds { Ok(()) } else { Err(missing(text)) }
}

/// The error for a false claim.
pub(crate) fn missing(text: &str) -> ProofError {
    ProofError::Claim(text.to_owned())
}

/// Checks that no assumption about a program may hide behaviour.
pub(crate) fn require_all_behaviours(program: &Program) -> Result<(), ProofError> {
    match program.limiting_assumption() {
        Some(assumption) => Err(ProofError::Assumption(assumption.text.clone())),
        None => Ok(()),
    }
}

fn not_ready(why: NotReady) -> ProofError {
    match why {
        NotReady::NoView(why) => no_view(why),
        NotReady::Unresolved(_) => missing("all calls and starts are resolved"),
    }
}

/// The view for errors or for races, whatever the assumptions.
pub(crate) fn sliced<'v>(program: &'v Views, races: bool, budget: &Budget) -> Result<&'v View, ProofError> {
    program.sliced(races, budget).map_err(no_view)
}

fn no_view(why: NoView) -> ProofError {
    match why {
        NoView::Exhausted(exhausted) => ProofError::TooExpensive(exhausted),
        NoView::Impossible(error) => ProofError::Claim(error.to_string()),
    }
}

/// The view for errors or for races, with locks as words.
pub(crate) fn words<'v>(
    program: &'v Views,
    races: bool,
    budget: &Budget,
) -> Result<&'v Analysed, ProofError> {
    let words = prepare(program, races, budget).map_err(not_ready)?;
    require_all_behaviours(words)?;
    Ok(words)
}

/// The view for listings, which drops nothing, with locks as words.
pub(crate) fn whole_words<'v>(program: &'v Views, budget: &Budget) -> Result<&'v Analysed, ProofError> {
    let words = prepare_whole(program, budget).map_err(not_ready)?;
    require_all_behaviours(words)?;
    Ok(words)
}

/// This view as transitions.
pub(crate) fn system(words: &Analysed, races: bool) -> System<'_> {
    match races {
        true => System::with_accesses(words, Mode::Integers),
        false => System::new(words, Mode::Integers),
    }
}
