//! Races on each shared memory location of a program, in one run: the listing that reports show.
//!
//! First the whole program is annotated with its calls, and the checker lists what that proves ([`Listed`]): seconds, also for large
//! programs. What is known is kept from then on ([`Live::list`]), so that it is reported whatever becomes of the rest. If no
//! location is left open, the annotation is a proof like any other. Otherwise the engines run as they do for other
//! checks; and then open locations are taken one at a time, the most promising first: races on it alone count ([`Program::races_on`]), and
//! the explorer has a share of the time to find an execution.

use crate::live::Live;
use crate::nesc;
use crate::pipeline::{self, Attempted, Given, crashed};
use checker::{Checked, Refutation, ReplayedViolation};
use ir::passes::PointsTo;
use ir::{Program, Range};
use report::shared_memory::{Finding, Status};
use report::{End, Outcome, SharedMemory, Tried};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use verdict::{
    Budget, Check, Engine, Events, Exhausted, Locations, Proof, Property, Reason, Silent, SummariesProof,
    Task, Verdict,
};

/// An annotation of a whole program, and what the checker says that it proves.
pub struct Listed {
    /// The annotation.
    pub proof: SummariesProof,
    /// What it proves of each shared memory location.
    pub locations: Locations,
}

/// Annotates a program and checks that.
pub type Lister<'a> = dyn Fn(Task<'_>, &Budget) -> Result<Listed, Reason> + Sync + 'a;

/// The name of the engine that annotates.
pub const NAME: &str = "summaries";
/// The part of the time that the listing may take.
const LISTING: u32 = 3;
/// The part of that which finding better names for locks may take, and how much at most.
const NAMING: Duration = Duration::from_secs(5);
/// Programs with more steps than this are too large for engines that inline: single locations get half of the time.
const LARGE: usize = 4_000;
/// Where a race is found already, this part of the time goes to others, and no more than the most.
const OTHERS: u32 = 4;
const MOST_FOR_OTHERS: Duration = Duration::from_secs(10);
/// The least time that a search for a race on one location takes.
const LEAST: Duration = Duration::from_secs(2);

/// Everything that decides about races in a program.
pub struct Races<'a> {
    /// The program, as the front end made it.
    pub program: &'a Program,
    /// Who annotates.
    pub lister: &'a Lister<'a>,
    /// Who decides about the program as a whole.
    pub answer: &'a dyn Fn(&Program, &Budget) -> Outcome,
    /// Who looks for races on single locations, if that is asked for.
    pub explorer: Option<&'a dyn Engine>,
    /// Takes note of what is known.
    pub live: &'a Live,
    /// What all may take together.
    pub budget: Budget,
}

impl Races<'_> {
    /// Decides, and hands over all outcomes to [`Live`]: the check as a whole, then each further race.
    pub fn decide(&self) {
        let start = Instant::now();
        let prepared = pipeline::prepare(self.program, Check::Races);
        let task = Task { program: &prepared, property: &Property::NoRace };
        let (listed, tried) = self.list(task);
        let mut tries = vec![tried];
        let mut memory = None;
        if let Some(listed) = listed {
            let deadline = self.budget.part(LISTING).within(NAMING).deadline;
            let points_to = PointsTo::until(&prepared, deadline);
            let found = SharedMemory::of(&prepared, &listed.locations, points_to.as_ref());
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
        let steps: usize = prepared.templates.iter().map(|code| code.edges.len()).sum();
        let single = self.explorer.is_some() && is_open && steps > LARGE;
        let budget = if single { self.budget.part(2) } else { self.budget.clone() };
        let mut outcome = (self.answer)(self.program, &budget);
        tries.append(&mut outcome.tries);
        let outcome = Outcome { seconds: start.elapsed().as_secs_f64(), tries, ..outcome };
        let Some(mut memory) = memory else {
            self.live.finish(outcome);
            return;
        };
        let (is_refuted, budget) = match &outcome.verdict {
            Checked::Proved(proof) => {
                memory.proved(&report::human::reason(proof));
                (false, None)
            }
            Checked::Refuted(refutation) => {
                mark(&mut memory, refutation);
                (true, Some(self.budget.part(OTHERS).within(MOST_FOR_OTHERS)))
            }
            Checked::Unknown(Reason::Contradiction(_) | Reason::Crashed(_)) => (false, None),
            Checked::Unknown(_) => (false, Some(self.budget.clone())),
        };
        self.live.list(&memory);
        let number = self.live.finish(outcome);
        if let (Some(explorer), Some(budget)) = (self.explorer, budget) {
            self.one_by_one(&prepared, memory, explorer, &budget, (number, is_refuted));
        }
    }

    /// Annotates and checks; nothing that happens there stops the rest.
    fn list(&self, task: Task<'_>) -> (Option<Listed>, Tried) {
        let begun = Instant::now();
        let (started, listener) = self.live.start(NAME);
        let budget = self.budget.part(LISTING);
        let listed = catch_unwind(AssertUnwindSafe(|| (self.lister)(task, &budget)));
        let listed = listed.unwrap_or_else(|panic| Err(crashed(NAME, panic.as_ref())));
        let end = match &listed {
            Ok(listed) => End::Unknown(open_reason(&listed.locations)),
            Err(Reason::Exhausted(Exhausted::Cancelled)) => End::Stopped,
            Err(reason) => End::Unknown(reason.clone()),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let tried = Tried { engine: NAME, started, seconds, checking: 0.0, end, rejected: Vec::new() };
        listener.end(&tried);
        (listed.ok(), tried)
    }

    /// Looks for races on each open location, the most promising first. The first race is the answer to the whole check, where there is none.
    fn one_by_one(
        &self,
        prepared: &Program,
        mut memory: SharedMemory,
        explorer: &dyn Engine,
        budget: &Budget,
        (number, mut is_refuted): (usize, bool),
    ) {
        let is_asked = |range: &Range| {
            let asked = self.program.races_on.as_ref();
            asked.is_none_or(|asked| asked.iter().any(|asked| asked.object == range.object))
        };
        let open: Vec<(Finding, Range)> = memory
            .locations
            .iter()
            .filter(|finding| matches!(finding.status, Status::Open(_)) && finding.is_static)
            .map(|finding| (finding.clone(), range(prepared, finding)))
            .filter(|(_, range)| is_asked(range))
            .collect();
        for (index, (finding, range)) in open.iter().enumerate() {
            if budget.look(0).is_err() || self.live.cancel.is_cancelled() {
                break;
            }
            let left = budget.remaining().unwrap_or(Duration::MAX);
            let share = (left / (open.len() - index) as u32).max(LEAST.min(left));
            let share = Budget { cancel: self.live.cancel.clone(), ..budget.within(share) };
            self.live.doing(format!("races: looking for one on `{}`", finding.name));
            let begun = Instant::now();
            let program = Program { races_on: Some(vec![*range]), ..prepared.clone() };
            let task = Task { program: &program, property: &Property::NoRace };
            let Attempted { verdict, tried, .. } = pipeline::attempt(task, explorer, &share, &share, &Silent);
            match verdict {
                Checked::Refuted(refutation) => {
                    mark(&mut memory, &refutation);
                    let verdict = Checked::Refuted(refutation);
                    if std::mem::replace(&mut is_refuted, true) {
                        self.live.finish(nesc::outcome(&finding.name, verdict, begun, vec![tried]));
                    } else {
                        self.live.amend(number, |outcome| {
                            outcome.verdict = verdict;
                            outcome.decisions = None;
                            outcome.seconds += begun.elapsed().as_secs_f64();
                            outcome.tries.push(tried);
                        });
                    }
                }
                Checked::Unknown(Reason::Approximate(condition)) => memory.possible(finding.cell, &condition),
                Checked::Unknown(_) | Checked::Proved(_) => {}
            }
            self.live.list(&memory);
        }
    }
}

/// The bytes of a location of static storage, all elements of it.
fn range(program: &Program, finding: &Finding) -> Range {
    let size = program.objects[finding.cell.object].size;
    let all = finding.cell.stride.saturating_mul(finding.cell.count.saturating_sub(1));
    let end = finding.cell.first.saturating_add(all).saturating_add(finding.size).min(size);
    let offset = finding.cell.first.min(end);
    Range { object: finding.cell.object, offset, size: end - offset }
}

/// Takes note of a race that was replayed.
fn mark(memory: &mut SharedMemory, refutation: &Refutation) {
    if let ReplayedViolation::Race { cell: (object, offset), .. } = &refutation.replayed.violation {
        let what: Vec<String> =
            report::human::complaint(refutation).into_iter().skip(1).map(|(text, _)| text).collect();
        memory.race(*object, *offset, &format!("replayed: {}", what.join("; ")));
    }
}

/// The outcome of the check as a whole.
fn whole(verdict: Checked, start: Instant, tries: Vec<Tried>) -> Outcome {
    let seconds = start.elapsed().as_secs_f64();
    Outcome { check: Check::Races, variable: None, verdict, decisions: None, seconds, tries }
}

fn open_reason(locations: &Locations) -> Reason {
    let open =
        |location: &&verdict::SharedLocation| matches!(location.status, verdict::LocationStatus::Open(_));
    let (open, all) = (locations.locations.iter().filter(open).count(), locations.locations.len());
    Reason::Bounded(format!("races on {open} of {all} shared memory locations are not excluded"))
}

/// The annotation as an engine: it proves a program without races, or nothing.
pub struct Summaries<'a> {
    /// Who annotates.
    pub lister: &'a Lister<'a>,
}

impl Engine for Summaries<'_> {
    fn name(&self) -> &'static str {
        NAME
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        if *task.property != Property::NoRace {
            let what = "a property other than the absence of races".to_owned();
            return Verdict::Unknown(Reason::Unsupported(what, ir::Span::default()));
        }
        match (self.lister)(task, budget) {
            Ok(Listed { proof, locations }) => {
                let is_open = |location: &verdict::SharedLocation| {
                    matches!(location.status, verdict::LocationStatus::Open(_))
                };
                match locations.locations.iter().any(is_open) {
                    true => Verdict::Unknown(open_reason(&locations)),
                    false => Verdict::Safe(Proof::Summaries(Box::new(proof))),
                }
            }
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}
