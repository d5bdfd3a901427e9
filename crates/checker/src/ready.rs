//! The first step of each proof rule: the view of the program that a proof is about, if anything may be
//! proved of it. Rules get programs and points-to sets here only, so all points-to sets are tested here:
//! those of the view, those that the view was derived by, and those that it is annotated with
//! ([`crate::closed`]).

use crate::ProofError;
use crate::closed;
use ir::Program;
use ir::passes::PointsTo;
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
    let view = program.sliced(races, budget).map_err(no_view)?;
    require_closed_base(program, budget)?;
    require_closed(program, view, budget)?;
    Ok(view)
}

/// The program without calls, whatever the assumptions. Its points-to sets are tested with those of
/// [`sliced`].
pub(crate) fn inlined<'v>(program: &'v Views, budget: &Budget) -> Result<&'v Program, ProofError> {
    program.inlined(budget).map_err(no_view)
}

/// The points-to sets of the lowered program.
pub(crate) fn points_to<'v>(program: &'v Views, budget: &Budget) -> Result<&'v PointsTo, ProofError> {
    let tested = program.tested(&|program, sets| closed::test(program, sets, budget), budget);
    accepted(tested.map_err(ProofError::TooExpensive)?)?;
    program.points_to(budget).map_err(ProofError::TooExpensive)
}

/// Checks the points-to sets of a view, after those by which it was derived.
fn require_closed(program: &Views, view: &Analysed, budget: &Budget) -> Result<(), ProofError> {
    let base = program.inlined(budget).map_err(no_view)?;
    let tested = view.tested(&|view, sets| closed::test_view(view, sets, base, budget), budget);
    accepted(tested.map_err(ProofError::TooExpensive)?)
}

/// Checks the points-to sets by which views are derived.
fn require_closed_base(program: &Views, budget: &Budget) -> Result<(), ProofError> {
    let tested = program.base_tested(&|program, sets| closed::test(program, sets, budget), budget);
    accepted(tested.map_err(no_view)?)
}

fn accepted(tested: &Result<(), String>) -> Result<(), ProofError> {
    tested.clone().map_err(|wrong| missing(&format!("points-to sets are closed, but: {wrong}")))
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
    sliced(program, races, budget)?;
    require_closed(program, words, budget)?;
    Ok(words)
}

/// The view for listings, which drops nothing, with locks as words.
pub(crate) fn whole_words<'v>(program: &'v Views, budget: &Budget) -> Result<&'v Analysed, ProofError> {
    let words = prepare_whole(program, budget).map_err(not_ready)?;
    require_all_behaviours(words)?;
    require_closed_base(program, budget)?;
    require_closed(program, program.listed(budget).map_err(no_view)?, budget)?;
    require_closed(program, words, budget)?;
    Ok(words)
}

/// This view as transitions.
pub(crate) fn system(words: &Analysed, races: bool) -> System<'_> {
    match races {
        true => System::with_accesses(words, Mode::Integers),
        false => System::new(words, Mode::Integers),
    }
}
