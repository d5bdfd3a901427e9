//! Races on each shared memory location of a program, in one run: the listing that reports show.
//!
//! Variables that are accessed by name are listed at once ([`first_listing`]). Then the whole program is
//! annotated without inlining, and the checker lists what that proves ([`Listed`]); this takes seconds, even
//! for large programs. The listing is kept from then on ([`Live::list`]), so that it is reported in any case.
//! If no location is open, the annotation is a proof like any other. Otherwise the engines run as for other
//! checks; then open locations are examined one at a time, the most promising first: only races on that
//! location count ([`Program::races_on`]), and the explorer has a share of the time to find an execution.

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
    /// Decides, and passes all outcomes to [`Live`]: the check as a whole, then each further race.
    pub fn decide(&self) {
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
        if let Some(listed) = listed {
            let points_to = prepared.points_to(&self.budget.part(LISTING).within(NAMING)).ok();
            let found = SharedMemory::of(prepared, &listed.locations, points_to);
            self.live.list(&found);
            if !found.has_open() && !found.conditional {
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
        let is_open = memory.as_ref().is_some_and(SharedMemory::has_open);
        // A request for all findings includes single locations.
        let explorer = self.explorer.filter(|_| is_open);
        let open = memory.as_ref().map(|memory| self.open(prepared, memory)).unwrap_or_default();
        let mut refuter = explorer.and_then(|_| self.refuter(prepared, &open));
        let mut known = Known { start, tries, number: None, is_refuted: false };
        let steps: usize = prepared.templates.iter().map(|code| code.edges.len()).sum();
        if let (Some(refuter), Some(memory)) = (&mut refuter, &mut memory)
            && steps >= SMALL
        {
            let first = self.budget.part(FIRST_TURN);
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
                (Some(_), _) => self.budget.part(2),
                (None, Some(_)) => self.budget.part(LIMITED),
                (None, None) => self.budget.clone(),
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
            true => self.budget.part(OTHERS).within(MOST_FOR_OTHERS),
            false => self.budget.most_of(RESERVE - 1, RESERVE),
        };
        if let Some(refuter) = &mut refuter {
            self.refute(prepared, refuter, &mut memory, &budget.part(2), &mut known);
        }
        self.one_by_one(prepared, memory, explorer, &budget, &mut known);
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
        self.live.doing("races: looking for a way to the most promising locations".to_owned());
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
mod tests {
    use super::*;
    use engine_explicit::Explicit;
    use ir::passes::PointsTo;
    use ir::passes::footprint::accesses;
    use ir::{ObjectId, Target};
    use verdict::{LocationAccess, LocationStatus, Reached, SharedLocation};

    /// Both variables race, and `z` does not.
    const TEXT: &str = "#include <pthread.h>\nint x, y, z;\n\
        void *worker(void *a) { x = 1; y = 1; return 0; }\n\
        int main(void) { pthread_t t; z = 1; pthread_create(&t, 0, worker, 0); x = 2; y = 2; return 0; }\n";

    fn read() -> Program {
        let source = frontend_c::Source { name: "a.c".to_owned(), text: TEXT.into() };
        frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C")
    }

    /// Everything that is accessed by name, as if only `z` were proved race-free.
    fn list(task: Task<'_>, _: &Budget) -> Result<Listed, Reason> {
        let program = task.program;
        let points_to = PointsTo::of(program);
        let of = |object: ObjectId| {
            let mut found = Vec::new();
            for (template, code) in program.templates.enumerate() {
                for (edge, op) in
                    code.edges.enumerate().flat_map(|(id, edge)| edge.ops.iter().map(move |op| (id, op)))
                {
                    for access in accesses(&points_to, template, op) {
                        if access
                            .region
                            .objects()
                            .is_some_and(|mut objects| objects.any(|other| other == object))
                        {
                            let (write, atomic) = (access.write, access.atomic);
                            let locks = Vec::new();
                            found.push(LocationAccess {
                                template,
                                edge,
                                kind: template,
                                write,
                                atomic,
                                locks,
                            });
                        }
                    }
                }
            }
            found
        };
        let named = |name: &str| program.objects.enumerate().find(|(_, object)| object.name == name);
        let locations = ["x", "y", "z"].into_iter().filter_map(named).map(|(object, described)| {
            let status = match described.name.as_str() {
                "z" => LocationStatus::RaceFree(vec![verdict::WhyNoRace::OneThread]),
                _ => LocationStatus::Open(vec![(0, 1)]),
            };
            let cell = Target { object, first: 0, stride: 0, count: 1 };
            SharedLocation { cell, size: 4, accesses: of(object), more: 0, status }
        });
        let reached = Reached { functions: (2, 2), thread_starts: (1, 1) };
        Ok(Listed {
            refused: None,
            proof: SummariesProof::default(),
            locations: Locations { locations: locations.collect(), reached },
        })
    }

    fn statuses(memory: &SharedMemory) -> Vec<(&str, &str)> {
        memory.locations.iter().map(|found| (found.name.as_str(), found.status.name())).collect()
    }

    /// Decides, with an engine for the whole check and one for single locations.
    fn decide(lister: &Lister<'_>, answer: &dyn Fn(&Views, &Budget) -> Outcome, live: &Live) {
        let prepared = pipeline::prepare(&read(), Check::Races);
        live.begin(Check::Races);
        let (explorer, budget) = (Explicit::default(), Budget::steps_for(120.0));
        let races = Races {
            prepared: &prepared,
            lister,
            answer: Some(answer),
            explorer: Some(&explorer),
            sources: None,
            live,
            budget,
        };
        races.decide();
    }

    fn undecided() -> Outcome {
        whole(Checked::Unknown(Reason::GaveUp("not asked".to_owned())), Instant::now(), Vec::new())
    }

    #[test]
    fn one_run_finds_the_races_on_all_locations() {
        let live = Live::default();
        let explore = |program: &Views, budget: &Budget| {
            pipeline::verify_prepared(program, Check::Races, &Explicit::default(), budget, &Silent)
        };
        decide(&list, &explore, &live);
        let memory = live.memory().expect("there is a listing");
        assert_eq!(statuses(&memory), [("x", "race"), ("y", "race"), ("z", "race-free")]);
        let outcomes = live.outcomes();
        let found: Vec<(Option<&str>, bool)> = outcomes
            .iter()
            .map(|outcome| (outcome.variable.as_deref(), matches!(outcome.verdict, Checked::Refuted(_))))
            .collect();
        assert!(found[0] == (None, true) && found.len() == 2, "{found:?}");
        assert!(found[1].1 && found[1].0.is_some(), "{found:?}");
    }

    #[test]
    fn a_race_on_one_location_answers_the_whole_check() {
        let live = Live::default();
        decide(&list, &|_, _| undecided(), &live);
        let outcomes = live.outcomes();
        assert!(outcomes[0].variable.is_none() && matches!(outcomes[0].verdict, Checked::Refuted(_)));
        assert_eq!(outcomes[0].tries[0].engine, NAME);
        assert_eq!(report::Answer::of(&outcomes, &[]), report::Answer::False(Check::Races));
    }

    #[test]
    fn what_is_listed_is_kept_whatever_the_engines_do() {
        let live = Live::default();
        let interrupted = live.clone();
        let answer = |_: &Views, _: &Budget| {
            let partial = interrupted.partial(Exhausted::Time);
            let memory = partial.memory.expect("there is a listing before engines run");
            assert_eq!(statuses(&memory), [("x", "open"), ("y", "open"), ("z", "race-free")]);
            assert_eq!(partial.outcomes.len(), 1);
            undecided()
        };
        decide(&list, &answer, &live);
    }

    #[test]
    fn without_a_listing_there_is_an_answer() {
        let live = Live::default();
        let crash =
            |_: Task<'_>, _: &Budget| -> Result<Listed, Reason> { panic!("a case that was not thought of") };
        decide(&crash, &|_, _| undecided(), &live);
        let memory = live.memory().expect("what is accessed by name is listed");
        assert_eq!(statuses(&memory), [("x", "race"), ("y", "race")]);
        assert!(memory.incomplete.is_some());
        let outcomes = live.outcomes();
        let End::Unknown(Reason::Crashed(why)) = &outcomes[0].tries[0].end else { panic!("{outcomes:?}") };
        assert_eq!(why, "summaries crashed: a case that was not thought of");
    }

    /// The statuses of a program's locations with their reasons, and what is known of the whole, after a run
    /// without other engines.
    fn searched(text: &str) -> (Vec<(String, &'static str, String)>, Vec<Outcome>) {
        let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let prepared = pipeline::prepare(&program, Check::Races);
        let live = Live::default();
        live.begin(Check::Races);
        let sources = Sources::new(&program.files, &[("a.c".to_owned(), text.to_owned())], |_| None);
        let explorer = Explicit { options: engine_explicit::Options { threads: &[2], ..Default::default() } };
        Races {
            prepared: &prepared,
            lister: &by_summaries,
            answer: Some(&|_: &Views, _: &Budget| undecided()),
            explorer: Some(&explorer),
            sources: Some(&sources),
            live: &live,
            budget: Budget::steps_for(4.0),
        }
        .decide();
        let memory = live.memory().expect("there is a listing");
        let found = memory.locations.iter();
        let found = found.map(|found| (found.name.clone(), found.status.name(), found.because()));
        (found.collect(), live.outcomes())
    }

    fn program(name: &str) -> String {
        let path = format!("{}/../../tests/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).expect("it is there")
    }

    #[test]
    fn a_race_after_a_queue_of_jobs_is_found() {
        let (found, outcomes) = searched(&program("programs/listing/pool-broken.c"));
        assert!(found.iter().any(|(name, status, _)| name == "keep_alive" && *status == "race"), "{found:?}");
        assert_eq!(report::Answer::of(&outcomes, &[]), report::Answer::False(Check::Races));
    }

    /// The locations that the checker accepts as race-free, and the others.
    fn sorted_out(text: &str) -> [Vec<String>; 2] {
        let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let prepared = pipeline::prepare(&program, Check::Races);
        let task = Task { program: &prepared, property: &Property::NoRace };
        let listed = by_summaries(task, &Budget::unlimited()).expect("there is a listing");
        let memory = SharedMemory::of(&prepared, &listed.locations, None);
        assert_eq!(memory.incomplete, None);
        let of = |is_free: bool| {
            let found = memory.locations.iter();
            let found = found.filter(|found| matches!(found.status, Status::RaceFree(_)) == is_free);
            found.map(|found| found.name.clone()).collect()
        };
        [of(true), of(false)]
    }

    #[test]
    fn a_refused_claim_leaves_the_rest_of_the_listing() {
        let text = program("programs/listing/copied-part-broken.c");
        let [free, open] = sorted_out(&text);
        assert!(free.contains(&"count".to_owned()), "{free:?} {open:?}");
        assert!(open.contains(&"done".to_owned()), "{free:?} {open:?}");
        // Without the lock nothing is race-free but what threads do not share.
        let unlocked =
            text.replace("pthread_mutex_lock(&lock);", "").replace("pthread_mutex_unlock(&lock);", "");
        let [free, open] = sorted_out(&unlocked);
        assert!(!free.contains(&"count".to_owned()), "{free:?} {open:?}");
        assert!(open.iter().any(|name| name.starts_with("last")), "{free:?} {open:?}");
    }

    /// A program with many threads of one kind that access a variable in so many lines.
    fn with_accesses(count: usize, racing: usize) -> String {
        let mut text =
            "#include <pthread.h>\nint x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n".to_owned();
        text.push_str("void *worker(void *a) {\n");
        for number in 0..count {
            text.push_str(&match number < racing {
                true => format!("x = {number};\n"),
                false => format!("pthread_mutex_lock(&m); x = {number}; pthread_mutex_unlock(&m);\n"),
            });
        }
        text.push_str("return 0; }\nint main(void) { pthread_t t, u;\n");
        text.push_str("pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0); return 0; }\n");
        text
    }

    #[test]
    fn locations_with_many_accesses_name_some_and_count_the_rest() {
        for (racing, expected) in [(0, "race-free"), (1, "open"), (300, "open")] {
            let text = with_accesses(300, racing);
            let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
            let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
            let prepared = pipeline::prepare(&program, Check::Races);
            let task = Task { program: &prepared, property: &Property::NoRace };
            let listed = by_summaries(task, &Budget::unlimited()).expect("there is a listing");
            let memory = SharedMemory::of(&prepared, &listed.locations, None);
            let [found] = memory.locations.as_slice() else { panic!("{:?}", memory.locations) };
            assert_eq!(found.status.name(), expected, "{racing}");
            assert_eq!((found.accesses.len(), found.more), (128, 300 - 128), "{racing}");
            if let Status::Open(pairs) = &found.status {
                // The access without a lock is in each pair.
                let holds_none = |pair: &(usize, usize)| {
                    found.pair(*pair).is_some_and(|pair| pair.iter().any(|access| access.locks.is_empty()))
                };
                assert!(!pairs.is_empty() && pairs.iter().all(holds_none), "{racing}");
            }
        }
    }

    #[test]
    fn races_of_everyday_programs_are_found_and_nothing_else() {
        // The first ones must be found; no others race.
        let cases: [(&str, usize, &[&str]); 2] =
            [("argument", 1, &["alive"]), ("pool-start", 1, &["pool->alive", "keep_alive"])];
        for (name, required, known) in cases {
            let (found, outcomes) = searched(&program(&format!("programs/listing/{name}-broken.c")));
            let races = found.iter().filter(|(_, status, _)| *status == "race");
            let races: Vec<&str> = races.map(|(name, ..)| name.split(' ').next().unwrap_or(name)).collect();
            assert!(races.iter().all(|race| known.contains(race)), "{name}: {found:?}");
            assert!(known[..required].iter().all(|race| races.contains(race)), "{name}: {found:?}");
            assert_eq!(report::Answer::of(&outcomes, &[]), report::Answer::False(Check::Races), "{name}");
        }
    }

    #[test]
    fn what_is_possible_has_a_condition_and_is_never_a_violation() {
        let cases = [
            ("possible/condition.c", "shared", "if `umask` in a.c:11 gives 4"),
            (
                "possible/handler.c",
                "held",
                "if a signal arrives in another thread whose handler is set in a.c:12",
            ),
            (
                "possible/reload.c",
                "reload",
                "if a signal arrives in another thread whose handler is set in a.c:27",
            ),
        ];
        for (name, location, condition) in cases {
            let (found, outcomes) = searched(&program(name));
            let (_, status, because) =
                found.iter().find(|(name, _, _)| name == location).unwrap_or_else(|| panic!("{found:?}"));
            assert_eq!(*status, "possible", "{found:?}");
            assert!(because.contains(condition), "{because}");
            assert!(found.iter().all(|(_, status, _)| *status != "race"), "{found:?}");
            assert!(matches!(report::Answer::of(&outcomes, &[]), report::Answer::Unknown(_)), "{name}");
        }
    }
}
