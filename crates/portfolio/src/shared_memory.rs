//! Races on each shared memory location of a program, in one run: the listing that reports show.
//!
//! Variables that are accessed by name are listed at once ([`first_listing`]). Then the whole program is
//! annotated without inlining, and the checker lists what that proves ([`Listed`]); this takes seconds, even
//! for large programs. The listing is kept from then on ([`Live::list`]), so that it is reported in any case.
//! If no location is open, the annotation is a proof like any other. Otherwise the engines run as for other
//! checks; then open locations are examined one at a time, the most promising first: only races on that
//! location count ([`Program::races_on`]), and the explorer has a share of the time to find an execution.

use crate::earlier::{self, Earlier};
use crate::first_listing;
use crate::live::Live;
use crate::nesc;
use crate::pipeline::{self, Attempted, Given, crashed};
use crate::refuting::{self, Refuter, Turn};
use checker::{Checked, Refutation, ReplayedViolation};
use ir::{Assumption, Program, Range, Storage};
use report::shared_memory::{Finding, Status};
use report::{End, Outcome, SharedMemory, Sources, Tried};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use verdict::{
    Budget, Check, Engine, Exhausted, Locations, Proof, Property, Reason, Silent, SummariesProof, Task,
    ThreadFacts, Verdict, Views,
};

/// An annotation of a whole program, and what it proves according to the checker.
pub struct Listed {
    /// The annotation.
    pub proof: SummariesProof,
    /// What it proves of each shared memory location.
    pub locations: Locations,
    /// A claim that the checker refused; it was dropped together with similar ones.
    pub refused: Option<String>,
}

/// Decides races in a program as a whole.
pub type Decider<'a> = dyn Fn(&Views, &Budget) -> Outcome + 'a;

/// Annotates a program and checks that.
pub type Lister<'a> = dyn Fn(Task<'_>, &Budget) -> Result<Listed, Reason> + Sync + 'a;

/// Annotates with procedure summaries. Where the checker refuses a claim, the objects that it takes for
/// shared are annotated again as such, and then kinds of claims that others do not need are left out: the
/// rest still counts. What is left is checked from scratch each time.
pub fn by_summaries(task: Task<'_>, budget: &Budget) -> Result<Listed, Reason> {
    let mut proof = engine_summaries::annotate(task, budget)?;
    let mut refused = None;
    for weaken in [keep_all, without_shared, without_ownership, without_locks, without_facts, without_once] {
        weaken(task, &mut proof, budget)?;
        match checker::locations(task.program, &proof, budget).map_err(Reason::from) {
            Ok(locations) => return Ok(Listed { proof, locations, refused }),
            Err(Reason::Rejected(why)) => {
                refused.get_or_insert(why);
            }
            Err(reason) => return Err(reason),
        }
    }
    Err(Reason::Rejected(refused.unwrap_or_default()))
}

fn keep_all(_: Task<'_>, _: &mut SummariesProof, _: &Budget) -> Result<(), Reason> {
    Ok(())
}

fn without_shared(task: Task<'_>, proof: &mut SummariesProof, budget: &Budget) -> Result<(), Reason> {
    let shared = checker::known_to_others(task.program, proof, budget)?;
    if !shared.is_empty() {
        *proof = engine_summaries::annotate_without(task, &shared, budget)?;
    }
    Ok(())
}

fn facts(proof: &mut SummariesProof) -> impl Iterator<Item = &mut ThreadFacts> {
    proof.contexts.iter_mut().flat_map(|context| &mut context.facts).flatten()
}

fn without_ownership(_: Task<'_>, proof: &mut SummariesProof, _: &Budget) -> Result<(), Reason> {
    facts(proof).for_each(|facts| facts.fresh.clear());
    Ok(())
}

fn without_locks(_: Task<'_>, proof: &mut SummariesProof, _: &Budget) -> Result<(), Reason> {
    facts(proof).for_each(|facts| facts.locks.clear());
    Ok(())
}

fn without_facts(_: Task<'_>, proof: &mut SummariesProof, _: &Budget) -> Result<(), Reason> {
    // What contexts give back is listed by numbers.
    facts(proof).for_each(|facts| {
        *facts = ThreadFacts { numbers: std::mem::take(&mut facts.numbers), ..ThreadFacts::default() };
    });
    proof.handles.clear();
    proof.private.clear();
    proof.distinct.clear();
    proof.alone.clear();
    proof.teams.clear();
    Ok(())
}

fn without_once(_: Task<'_>, proof: &mut SummariesProof, _: &Budget) -> Result<(), Reason> {
    proof.once.clear();
    Ok(())
}

/// The name of the engine that annotates.
pub const NAME: &str = "summaries";
/// The part of the time that the listing may take, where others are asked, too.
const LISTING: u32 = 2;
/// The part that it may take otherwise: names and reports of large programs take a while, too.
const LISTING_ALONE: (u32, u32) = (9, 10);
/// The part of that which finding better names for locks may take, and how much at most.
const NAMING: Duration = Duration::from_secs(5);
/// The fraction of the time that is reserved for the report.
const RESERVE: u32 = 20;
/// Once a race is found, this fraction of the time goes to further races, up to the maximum.
const OTHERS: u32 = 3;
const MOST_FOR_OTHERS: Duration = Duration::from_secs(30);
/// From this many steps on, a program is too large for engines that consider all of it: single locations come
/// first. In medium-sized programs, they get a short turn first.
const LARGE: usize = 600;
const SMALL: usize = 100;
const GLANCE: Duration = Duration::from_secs(1);
/// The fraction of the time that single locations then get, and the part of the first turn.
const FIRST_TURN: u32 = 3;
const FIRST_ROUND: Duration = Duration::from_secs(2);
/// The fraction of the time that engines get where no location is open and nothing can be proved.
const LIMITED: u32 = 4;
/// The least time that an exploration for a race on one location takes.
const LEAST: Duration = Duration::from_secs(2);

/// All that is needed to decide races in a program.
pub struct Races<'a> {
    /// The program, lowered for races.
    pub prepared: &'a Views,
    /// The annotating engine.
    pub lister: &'a Lister<'a>,
    /// The engine for the program as a whole; `None` when only the annotating engine runs.
    pub answer: Option<&'a Decider<'a>>,
    /// The search for races on single locations, if requested.
    pub explorer: Option<&'a dyn Engine>,
    /// The lines of the program, for messages.
    pub sources: Option<&'a Sources>,
    /// Records results.
    pub live: &'a Live,
    /// The total budget.
    pub budget: Budget,
}

impl Races<'_> {
    /// Decides, and passes all outcomes to [`Live`]: the check as a whole, then each further race. `earlier`:
    /// what is known from other runs.
    pub fn decide(&self, earlier: Earlier) {
        let start = Instant::now();
        let prepared = self.prepared;
        let task = Task { program: prepared, property: &Property::NoRace };
        // This listing exists at once, whatever happens later.
        let mut first = SharedMemory::of(prepared, &first_listing::by_name(prepared), None);
        first.incomplete = Some(first_listing::INCOMPLETE.to_owned());
        self.live.list(&first);
        let (listed, tried) = self.list(task);
        let mut tries = vec![tried];
        let mut memory = Some(first);
        let is_decided =
            earlier.answer.as_ref().is_some_and(|(verdict, _)| !matches!(verdict, Checked::Unknown(_)));
        if let Some(listed) = listed {
            let points_to = prepared.points_to(&self.budget.part(LISTING).within(NAMING)).ok();
            let found = SharedMemory::of(prepared, &listed.locations, points_to);
            self.live.list(&found);
            if !found.has_open() && !found.conditional && !is_decided {
                let given =
                    Given { engine: NAME, verdict: Verdict::Safe(Proof::Summaries(Box::new(listed.proof))) };
                let Attempted { verdict, mut tried, .. } =
                    pipeline::attempt(task, &given, &self.budget, &self.budget, &Silent);
                tried.seconds += tries[0].seconds;
                tries = vec![tried];
                if !matches!(verdict, Checked::Unknown(_)) {
                    self.live.finish(whole(verdict, start, tries));
                    return;
                }
            }
            memory = Some(found);
        }
        let mut known = Known { start, tries, number: None, is_refuted: false };
        if self.recall(task, earlier.answer, earlier.evidence, &mut memory, &mut known) {
            return;
        }
        let short =
            earlier.search.and_then(|search| Some((search.limit(memory.as_ref(), start.elapsed())?, search)));
        let searching = match &short {
            Some((limit, search)) => {
                self.note(&mut known, search.note(*limit));
                self.budget.within(*limit)
            }
            None => self.budget.clone(),
        };
        let is_open = memory.as_ref().is_some_and(SharedMemory::has_open);
        // A request for all findings includes single locations.
        let explorer = self.explorer.filter(|_| is_open);
        let open = memory.as_ref().map(|memory| self.open(prepared, memory)).unwrap_or_default();
        let mut refuter = explorer.and_then(|_| self.refuter(prepared, &open));
        let steps: usize = prepared.templates.iter().map(|code| code.edges.len()).sum();
        if let (Some(refuter), Some(memory)) = (&mut refuter, &mut memory)
            && steps >= SMALL
        {
            let first = searching.part(FIRST_TURN);
            let first = if steps >= LARGE { first } else { first.within(GLANCE) };
            self.refute(prepared, refuter, memory, &first, &mut known);
        }
        // Once there is a race, the program as a whole is decided.
        if !known.is_refuted {
            let is_listed = memory.as_ref().is_some_and(|memory| memory.incomplete.is_none()) && !is_open;
            // Without an open location, and where nothing can be proved, only a race beyond what the listing
            // takes for granted is left to find.
            let limit = prepared.limiting_assumption().filter(|_| is_listed);
            let budget = match (explorer, limit) {
                (Some(_), _) => searching.part(2),
                (None, Some(_)) => searching.part(LIMITED),
                (None, None) => searching.clone(),
            };
            let outcome = self.as_a_whole(limit, &budget, &mut known);
            match (&outcome.verdict, &mut memory) {
                (Checked::Proved(proof), Some(memory)) => memory.proved(&report::human::reason(proof)),
                (Checked::Refuted(refutation), Some(memory)) => mark(memory, refutation),
                (_, _) => {}
            }
            known.is_refuted = matches!(outcome.verdict, Checked::Refuted(_));
            let is_over = match &outcome.verdict {
                Checked::Proved(_) | Checked::Unknown(Reason::Contradiction(_) | Reason::Crashed(_)) => true,
                Checked::Refuted(_) | Checked::Unknown(_) => false,
            };
            if let Some(memory) = &memory {
                self.live.list(memory);
            }
            known.number = Some(self.live.finish(outcome));
            if is_over {
                return;
            }
        }
        let (Some(explorer), Some(mut memory)) = (explorer, memory) else { return };
        let budget = match known.is_refuted {
            true => searching.part(OTHERS).within(MOST_FOR_OTHERS),
            false => searching.most_of(RESERVE - 1, RESERVE),
        };
        if let Some(refuter) = &mut refuter {
            self.refute(prepared, refuter, &mut memory, &budget.part(2), &mut known);
        }
        self.one_by_one(prepared, memory, explorer, &budget, &mut known);
    }

    /// Uses what earlier runs found: the answer for this program, or evidence of before an edit. Returns
    /// whether nothing is left to decide.
    fn recall(
        &self,
        task: Task<'_>,
        answer: Option<(Checked, Tried)>,
        evidence: Vec<Verdict>,
        memory: &mut Option<SharedMemory>,
        known: &mut Known,
    ) -> bool {
        let is_answered = answer.is_some();
        let tested = evidence.into_iter().filter_map(|verdict| earlier::test(task, verdict, &self.budget));
        for (verdict, tried) in answer.into_iter().chain(tested) {
            match (verdict, &mut *memory) {
                (Checked::Refuted(refutation), Some(memory)) => {
                    let Some((name, is_new)) = raced(memory, &refutation) else { continue };
                    if known.is_refuted && !is_new {
                        continue;
                    }
                    mark(memory, &refutation);
                    self.live.list(memory);
                    self.report(known, &name, *refutation, tried);
                }
                (verdict, memory) => {
                    if let (Checked::Proved(proof), Some(memory)) = (&verdict, memory) {
                        memory.proved(&report::human::reason(proof));
                        self.live.list(memory);
                    }
                    let mut tries = std::mem::take(&mut known.tries);
                    tries.push(tried);
                    self.live.finish(whole(verdict, known.start, tries));
                    return true;
                }
            }
        }
        is_answered
    }

    /// Decides the program as a whole. `limit`: the assumption under which all its locations are race-free,
    /// and because of which that is no proof.
    fn as_a_whole(&self, limit: Option<&Assumption>, budget: &Budget, known: &mut Known) -> Outcome {
        let mut tries = std::mem::take(&mut known.tries);
        let limit = limit.map(|limit| Reason::NotSupported(limit.text.clone(), limit.span));
        if let Some(answer) = self.answer {
            let mut outcome = answer(self.prepared, budget);
            if let (Checked::Unknown(Reason::Exhausted(_)), Some(limit)) = (&outcome.verdict, limit) {
                outcome.verdict = Checked::Unknown(limit);
            }
            tries.append(&mut outcome.tries);
            return Outcome { seconds: known.start.elapsed().as_secs_f64(), tries, ..outcome };
        }
        let reason = match (limit, tries.first().map(|tried| &tried.end)) {
            (Some(limit), _) => limit,
            (None, Some(End::Unknown(reason))) => reason.clone(),
            (None, _) => Reason::Exhausted(Exhausted::Cancelled),
        };
        whole(Checked::Unknown(reason), known.start, tries)
    }

    /// Searches for races on single locations; `None` when the program is too large for the machine.
    fn refuter<'p>(&self, prepared: &'p Program, open: &[(Finding, Range)]) -> Option<Refuter<'p>> {
        self.live.doing("races: looking for paths to the most promising locations".to_owned());
        let made = catch_unwind(AssertUnwindSafe(|| Refuter::new(prepared, open).ok()));
        made.ok().flatten()
    }

    /// Turns of the search on all open locations, each longer than the one before.
    fn refute(
        &self,
        prepared: &Program,
        refuter: &mut Refuter<'_>,
        memory: &mut SharedMemory,
        budget: &Budget,
        known: &mut Known,
    ) {
        let budget = Budget { cancel: self.live.cancel.clone(), ..budget.clone() };
        refuter.shorten_within(&self.budget);
        for turn in 0.. {
            if refuter.is_done() || budget.look(0).is_err() {
                return;
            }
            let share = budget.within(FIRST_ROUND.saturating_mul(1 << turn.min(16)));
            let doing = |name: &str| self.live.doing(format!("races: looking for one on `{name}`"));
            let mut take = |turn: Turn| {
                match turn {
                    Turn::Possible(cell, conditions, steps) => {
                        let condition = refuting::condition(prepared, self.sources, &conditions);
                        memory.possible(cell, &condition, steps);
                    }
                    // Another engine was first.
                    Turn::Race { range, .. } if is_race(prepared, memory, range) => {}
                    Turn::Race { name, range, trace, seconds } => {
                        let program = Program { races_on: Some(vec![range]), ..prepared.clone() }.into();
                        let task = Task { program: &program, property: &Property::NoRace };
                        let given = Given { engine: refuting::NAME, verdict: Verdict::Unsafe(trace) };
                        let Attempted { verdict, mut tried, .. } =
                            pipeline::attempt(task, &given, &self.budget, &self.budget, &Silent);
                        tried.seconds += seconds;
                        match verdict {
                            Checked::Refuted(refutation) => {
                                mark(memory, &refutation);
                                self.report(known, &name, *refutation, tried);
                            }
                            // A trace that does not replay decides nothing, but is reported.
                            Checked::Unknown(_) | Checked::Proved(_) => self.note(known, tried),
                        }
                    }
                }
                self.live.list(memory);
            };
            let turned = catch_unwind(AssertUnwindSafe(|| refuter.turn(&share, &doing, &mut take)));
            if turned.is_err() {
                return;
            }
        }
    }

    /// Reports a race: the first one is the answer to the whole check.
    fn report(&self, known: &mut Known, name: &str, refutation: Refutation, tried: Tried) {
        let verdict = Checked::Refuted(Box::new(refutation));
        match known.number {
            None => {
                let mut tries = std::mem::take(&mut known.tries);
                tries.push(tried);
                known.number = Some(self.live.finish(whole(verdict, known.start, tries)));
            }
            Some(_) if known.is_refuted => {
                self.live.finish(nesc::outcome(name, verdict, Instant::now(), vec![tried]));
            }
            Some(number) => self.live.amend(number, |outcome| {
                outcome.verdict = verdict;
                outcome.decisions = None;
                outcome.seconds += tried.seconds;
                outcome.tries.push(tried);
            }),
        }
        known.is_refuted = true;
    }

    /// Records unsuccessful attempts.
    fn note(&self, known: &mut Known, tried: Tried) {
        match known.number {
            None => known.tries.push(tried),
            Some(number) => self.live.amend(number, |outcome| outcome.tries.push(tried)),
        }
    }

    /// The requested open locations, the most promising first, with their bytes.
    fn open(&self, prepared: &Program, memory: &SharedMemory) -> Vec<(Finding, Range)> {
        let is_asked = |range: &Range| {
            let asked = self.prepared.races_on.as_ref();
            asked.is_none_or(|asked| asked.iter().any(|asked| asked.object == range.object))
        };
        let open = memory.locations.iter().filter(|finding| matches!(finding.status, Status::Open(_)));
        let all = open.map(|finding| (finding.clone(), range(prepared, finding)));
        all.filter(|(_, range)| is_asked(range)).collect()
    }

    /// Annotates and checks; a failure does not stop the rest.
    fn list(&self, task: Task<'_>) -> (Option<Listed>, Tried) {
        let begun = Instant::now();
        let (started, listener) = self.live.start(NAME);
        let is_alone = self.answer.is_none() && self.explorer.is_none();
        let budget = match is_alone {
            true => self.budget.most_of(LISTING_ALONE.0, LISTING_ALONE.1),
            false => self.budget.part(LISTING),
        };
        let listed = catch_unwind(AssertUnwindSafe(|| (self.lister)(task, &budget)));
        let listed = listed.unwrap_or_else(|panic| Err(crashed(NAME, panic.as_ref())));
        let end = match &listed {
            Ok(listed) => End::Unknown(open_reason(&listed.locations, listed.refused.as_deref())),
            Err(Reason::Exhausted(Exhausted::Cancelled)) => End::Stopped,
            Err(reason) => End::Unknown(reason.clone()),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let tried = Tried { engine: NAME, started, seconds, checking: 0.0, end, rejected: Vec::new() };
        listener.end(&tried);
        (listed.ok(), tried)
    }

    /// Explores the program for races on each open location, the most promising first.
    fn one_by_one(
        &self,
        prepared: &Program,
        mut memory: SharedMemory,
        explorer: &dyn Engine,
        budget: &Budget,
        known: &mut Known,
    ) {
        let can_be_asked = |finding: &Finding| match prepared.objects[finding.cell.object].storage {
            Storage::Static | Storage::Site => true,
            Storage::Frame(_) | Storage::ThreadLocal => false,
        };
        let mut open = self.open(prepared, &memory);
        open.retain(|(finding, _)| can_be_asked(finding));
        for (index, (finding, range)) in open.iter().enumerate() {
            if budget.look(0).is_err() || self.live.cancel.is_cancelled() {
                break;
            }
            let left = budget.remaining().unwrap_or(Duration::MAX);
            let share = (left / (open.len() - index) as u32).max(LEAST.min(left));
            let share = Budget { cancel: self.live.cancel.clone(), ..budget.within(share) };
            self.live.doing(format!("races: looking for one on `{}`", finding.name));
            let program = Program { races_on: Some(vec![*range]), ..prepared.clone() }.into();
            let task = Task { program: &program, property: &Property::NoRace };
            let Attempted { verdict, tried, .. } = pipeline::attempt(task, explorer, &share, &share, &Silent);
            match verdict {
                Checked::Refuted(refutation) => {
                    mark(&mut memory, &refutation);
                    self.report(known, &finding.name, *refutation, tried);
                }
                Checked::Unknown(Reason::Approximate(condition)) => {
                    memory.possible(finding.cell, &condition, None)
                }
                Checked::Unknown(_) | Checked::Proved(_) => {}
            }
            self.live.list(&memory);
        }
    }
}

/// The results of a check, and which of them were reported.
struct Known {
    /// When it began.
    start: Instant,
    /// Attempts that were not reported yet.
    tries: Vec<Tried>,
    /// The number of the outcome of the check as a whole.
    number: Option<usize>,
    /// Whether that is a race.
    is_refuted: bool,
}

/// The bytes of a location, all elements of it.
fn range(program: &Program, finding: &Finding) -> Range {
    let object = &program.objects[finding.cell.object];
    let most = match object.storage {
        Storage::Static => object.size,
        Storage::Frame(_) | Storage::ThreadLocal | Storage::Site => u64::MAX,
    };
    let all = finding.cell.stride.saturating_mul(finding.cell.count.saturating_sub(1));
    let end = finding.cell.first.saturating_add(all).saturating_add(finding.size).min(most);
    let offset = finding.cell.first.min(end);
    Range { object: finding.cell.object, offset, size: end - offset }
}

/// Records a replayed race.
fn mark(memory: &mut SharedMemory, refutation: &Refutation) {
    if let ReplayedViolation::Race { cell: (object, offset), accesses, .. } = &refutation.replayed.violation {
        let said = report::human::complaint(refutation).into_iter().skip(1);
        let rows = report::interleaving::Interleaving::of(refutation, &Sources::default()).rows;
        let held = |thread: usize| {
            let row = rows.iter().rev().find(|row| row.thread == thread && row.mark.is_some());
            row.and_then(|row| row.locks()).map(|held| format!(", {held}")).unwrap_or_default()
        };
        let what: Vec<String> = said
            .zip(accesses.iter())
            .map(|((text, _), access)| format!("{text}{}", held(access.thread)))
            .collect();
        memory.race(*object, *offset, &format!("replayed: {}", what.join("; ")));
    }
}

/// The name of the location of a replayed race, and whether no race on it is known; `None` for another
/// violation.
fn raced(memory: &SharedMemory, refutation: &Refutation) -> Option<(String, bool)> {
    let ReplayedViolation::Race { cell: (object, offset), .. } = &refutation.replayed.violation else {
        return None;
    };
    let is_there = |finding: &&Finding| {
        let (cell, size) = (&finding.cell, u128::from(finding.size));
        let (first, offset) = (u128::from(cell.first), u128::from(*offset));
        let end = first + u128::from(cell.stride) * u128::from(cell.count.saturating_sub(1)) + size;
        cell.object == *object && (first..end).contains(&offset)
    };
    let found = memory.locations.iter().find(is_there);
    let is_new = found.is_none_or(|finding| !matches!(finding.status, Status::Race(_)));
    Some((found.map(|finding| finding.name.clone()).unwrap_or_default(), is_new))
}

/// The outcome of the check as a whole.
fn whole(verdict: Checked, start: Instant, tries: Vec<Tried>) -> Outcome {
    let seconds = start.elapsed().as_secs_f64();
    Outcome { check: Check::Races, variable: None, verdict, decisions: None, seconds, tries }
}

fn open_reason(locations: &Locations, refused: Option<&str>) -> Reason {
    let refused = refused.map(|why| format!("; claims are left out: {why}")).unwrap_or_default();
    let open =
        |location: &&verdict::SharedLocation| matches!(location.status, verdict::LocationStatus::Open(_));
    let (open, all) = (locations.locations.iter().filter(open).count(), locations.locations.len());
    if open == 0 {
        return Reason::GaveUp(format!("all {all} shared memory locations are race-free, under assumptions"));
    }
    Reason::GaveUp(format!("races on {open} of {all} shared memory locations are not excluded{refused}"))
}

/// Whether a race on a location is known.
fn is_race(prepared: &Program, memory: &SharedMemory, place: Range) -> bool {
    let of_place = |finding: &&Finding| range(prepared, finding) == place;
    memory.locations.iter().filter(of_place).any(|finding| matches!(finding.status, Status::Race(_)))
}

#[cfg(test)]
mod tests;
