//! Checks proofs by procedure summaries ([`verdict::SummariesProof`]): whole-program race freedom, with
//! calls.
//!
//! The program is the task's own. Each claim is tested by itself; nothing is searched for.
//!
//! 1. What the proof names exists ([`form`]).
//! 2. Templates in `once` are activated once ([`once`]), objects in `private` do not escape from their
//!    thread, nor those of `teams` from their team ([`escape`]).
//! 3. Claims to hold a lock that other threads could break are left out, and contexts list what they give
//!    back ([`locks`]).
//! 4. Facts hold at the program's start, and each edge of each context leads from its facts to those of the
//!    next location, into callees, back from them, and into threads that it starts ([`edges`], [`state`],
//!    [`calls`], [`owned`]). No other thread starts one of a kind that is absent.
//! 5. No two accesses that may touch the same byte race ([`races`]). Where some may, the others are still
//!    listed ([`listing`]).
//!
//! 2 to 4 make, by induction over the steps of an execution, an invariant of all reachable states: each
//! thread is at a location that has facts, in the context that its calls lead to, and all facts hold; for
//! callers that wait, all that step 4 lets them keep. A race is a state in which two threads are about to
//! make accesses (step 5), or, where atomic accesses order nothing, two accesses without an order: starts
//! and joins order what rule 2 excludes, and locks what rule 5 does.
//!
//! Points-to sets are those of `ir`, as for other proofs (assumption 14 of `SOUNDNESS.md`).

mod apart;
mod calls;
mod cells;
mod edges;
mod escape;
mod form;
mod ids;
mod integers;
mod listing;
mod local_values;
mod locks;
mod once;
mod owned;
mod races;
mod regions;
mod started;
mod state;
mod symbols;
#[cfg(test)]
mod tests;
mod values;
mod view;
mod words;

use crate::ProofError;
use crate::executions::summaries::try_claims;
use crate::executions::{try_listing, try_points_to};
use ir::{LocationId, ObjectId, Program, Storage};
pub use owned::live_locations;
use verdict::{Budget, Locations, Property, SummariesProof, Views};
use view::{Meter, View, claim};

/// Checks a proof about a lowered program.
pub fn check(
    program: &Views,
    property: &Property,
    proof: &SummariesProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    match property {
        Property::NoRace => {}
        Property::NoError(_) | Property::NoDeadlock | Property::NoLeak(_) => {
            return claim("it is about races");
        }
    }
    with_annotation(program, proof, budget, |view, (locks, words), accesses, meter| {
        if let Some(pair) = races::open_pair(view, accesses, meter)? {
            return claim(describe(view, accesses, &pair));
        }
        try_claims(program, proof, &left_out(view, locks, words), budget)
    })
}

/// Tries the claims on executions, without the rules.
pub fn try_on_executions(
    program: &Program,
    proof: &SummariesProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    form::check(program, proof, &mut Meter::new(budget))?;
    try_claims(program, proof, &|_, _, _| false, budget)
}

/// A claim that may be left out, by its number at its location.
#[derive(Clone, Copy, Debug)]
pub enum Removable {
    /// That a lock is held.
    Lock(usize),
    /// That a word has a value.
    Word(usize),
}

/// Whether a claim is left out: by context and location.
pub type Ignored<'a> = &'a dyn Fn(usize, LocationId, Removable) -> bool;

/// Checks the claims of a proof, and says what they show of each shared memory location of a lowered
/// program. Whoever shows that to people says what the program takes for granted
/// ([`Program::assumptions`]), too.
pub fn locations(program: &Views, proof: &SummariesProof, budget: &Budget) -> Result<Locations, ProofError> {
    proof.check_form().map_err(ProofError::Form)?;
    let listing = with_annotation(program, proof, budget, |view, (locks, words), accesses, meter| {
        let listing = listing::list(view, locks, accesses, meter)?;
        try_claims(program, proof, &left_out(view, locks, words), budget)?;
        Ok(listing)
    })?;
    try_listing(program, &listing, budget)?;
    try_points_to(program, budget)?;
    Ok(listing)
}

/// The claims that are left out since others can break them.
fn left_out<'f>(
    view: &'f View<'_>,
    locks: &'f locks::Locks<'_, '_>,
    words: &'f words::Words<'_, '_>,
) -> impl Fn(usize, LocationId, Removable) -> bool + 'f {
    |context, location, removable| match removable {
        Removable::Lock(number) => !locks.is_usable(context, location, number),
        Removable::Word(number) => {
            let facts = view.facts(context, location);
            let word = facts.and_then(|facts| facts.words.get(number));
            !word.is_some_and(|word| words.is_usable(context, location, word).unwrap_or(false))
        }
    }
}

/// The objects that a proof takes for one thread's or one team's own, and that the rules let others know:
/// those in `private` and `teams` that escape, and allocated ones whose addresses are guessed. Whoever made
/// the proof may leave out what it claims of them.
pub fn known_to_others(
    program: &Views,
    proof: &SummariesProof,
    budget: &Budget,
) -> Result<Vec<ObjectId>, ProofError> {
    proof.check_form().map_err(ProofError::Form)?;
    let meter = &mut Meter::new(budget);
    form::check(program, proof, meter)?;
    let points_to = crate::ready::points_to(program, budget)?;
    let view = &View::new(program, proof, points_to, meter)?;
    let values = values::ValueFlow::of(view, meter)?;
    let guessed = escape::guessed(view, &values, meter)?;
    let escapes = escape::Escapes::of(view, &values, &guessed, meter)?;
    let from_threads = escapes.escaping(None, meter)?;
    let is_claimed = |id: ObjectId| match program.objects[id].storage {
        Storage::Site => view.private[id] || guessed[id],
        Storage::Static | Storage::Frame(_) | Storage::ThreadLocal => view.private[id],
    };
    let mut found: Vec<ObjectId> =
        program.objects.ids().filter(|id| from_threads[*id] && is_claimed(*id)).collect();
    for team in &proof.teams {
        let from_team = escapes.escaping(Some(team.helper), meter)?;
        found.extend(team.objects.iter().filter(|object| from_team[**object]));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// What says which claims are left out.
type Removed<'v, 'a> = (&'v locks::Locks<'v, 'a>, &'v words::Words<'v, 'a>);

/// Checks the claims of a proof, and hands over the accesses that may be compared by them.
fn with_annotation<T>(
    program: &Views,
    proof: &SummariesProof,
    budget: &Budget,
    then: impl FnOnce(&View<'_>, Removed<'_, '_>, &races::Accesses, &mut Meter<'_>) -> Result<T, ProofError>,
) -> Result<T, ProofError> {
    let meter = &mut Meter::new(budget);
    form::check(program, proof, meter)?;
    let points_to = crate::ready::points_to(program, budget)?;
    let mut view = View::new(program, proof, points_to, meter)?;
    let during = edges::standing_during(&mut view);
    let view = &view;
    once::check(view, meter)?;
    let values = values::ValueFlow::of(view, meter)?;
    let guessed = escape::guessed(view, &values, meter)?;
    escape::Escapes::of(view, &values, &guessed, meter)?.check(meter)?;
    let locks = locks::Locks::new(view, meter)?;
    locks::check_releases(view, meter)?;
    let id_writes = ids::IdWrites::of(view, meter)?;
    ids::check_handles(view, &id_writes, meter)?;
    ids::check_summaries(view, meter)?;
    let cell_writes = cells::CellWrites::of(view, meter)?;
    cells::check(view, &cell_writes, meter)?;
    let words = words::Words::of(view, meter)?;
    let common = edges::Common {
        locks: &locks,
        guessed: &guessed,
        id_writes: &id_writes,
        cell_writes: &cell_writes,
        words: &words,
    };
    let flaws = edges::flaws(view, &common, &during, false, meter)?;
    if let Some(flaw) = flaws.first() {
        return Err(flaw.refusal(view));
    }
    let accesses = races::Accesses::of(view, (&locks, &words), meter)?;
    then(view, (&locks, &words), &accesses, meter)
}

/// Two accesses that may race, for people.
fn describe(view: &View<'_>, accesses: &races::Accesses, pair: &races::Pair) -> String {
    let object = &view.program.objects[pair.one.0.target.object];
    let place = |(spot, manner): &(races::Spot, usize)| {
        let groups = accesses.by_object[spot.target.object].get(spot).and_then(|spots| spots.get(manner));
        let step = groups.and_then(|groups| accesses.groups[*groups.first()?].first());
        step.map_or(String::new(), |step| {
            let template = view.proof.contexts[step.context].template;
            let code = &view.program.templates[template];
            format!("{} line {}", code.name, code.edges[step.edge].span.line)
        })
    };
    format!("accesses to {} may race: {} and {}", object.name, place(&pair.one), place(&pair.other))
}
