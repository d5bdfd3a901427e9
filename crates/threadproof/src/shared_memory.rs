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
use ir::{Program, Range, Storage};
use report::shared_memory::{Finding, Status};
use report::{End, Outcome, SharedMemory, Tried};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use verdict::{
    Budget, Check, Engine, Exhausted, Locations, Proof, Property, Reason, Silent, SummariesProof, Task,
    ThreadFacts, Verdict,
};

/// An annotation of a whole program, and what the checker says that it proves.
pub struct Listed {
    /// The annotation.
    pub proof: SummariesProof,
    /// What it proves of each shared memory location.
    pub locations: Locations,
    /// A claim that the checker refused, and that is left out with all like it.
    pub refused: Option<String>,
}

/// Decides about races in a program as a whole.
pub type Decider<'a> = dyn Fn(&Program, &Budget) -> Outcome + 'a;

/// Annotates a program and checks that.
pub type Lister<'a> = dyn Fn(Task<'_>, &Budget) -> Result<Listed, Reason> + Sync + 'a;

/// Annotates with procedure summaries. Where the checker refuses a claim, kinds of claims that others do not need are left
/// out, so that the rest still counts.
pub fn by_summaries(task: Task<'_>, budget: &Budget) -> Result<Listed, Reason> {
    let mut proof = engine_summaries::annotate(task, budget)?;
    let mut refused = None;
    for weaken in [keep_all, without_ownership, without_locks, without_facts] {
        weaken(&mut proof);
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

fn keep_all(_: &mut SummariesProof) {}

fn facts(proof: &mut SummariesProof) -> impl Iterator<Item = &mut ThreadFacts> {
    proof.contexts.iter_mut().flat_map(|context| &mut context.facts).flatten()
}

fn without_ownership(proof: &mut SummariesProof) {
    facts(proof).for_each(|facts| facts.fresh.clear());
}

fn without_locks(proof: &mut SummariesProof) {
    facts(proof).for_each(|facts| facts.locks.clear());
}

fn without_facts(proof: &mut SummariesProof) {
    facts(proof).for_each(|facts| *facts = ThreadFacts::default());
    proof.handles.clear();
}

/// The name of the engine that annotates.
pub const NAME: &str = "summaries";
/// The part of the time that the listing may take.
const LISTING: u32 = 3;
/// The part of that which finding better names for locks may take, and how much at most.
const NAMING: Duration = Duration::from_secs(5);
/// The part of the time that is kept for the report.
const RESERVE: u32 = 20;
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
    /// Who decides about the program as a whole; `None` if nobody but the one who annotates is asked.
    pub answer: Option<&'a Decider<'a>>,
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
        // Whoever wants all findings wants them on single locations, too.
        let single = self.explorer.is_some() && is_open;
        let budget = if single { self.budget.part(2) } else { self.budget.clone() };
        let outcome = match self.answer {
            Some(answer) => {
                let mut outcome = answer(self.program, &budget);
                tries.append(&mut outcome.tries);
                Outcome { seconds: start.elapsed().as_secs_f64(), tries, ..outcome }
            }
            None => {
                let limit = prepared.assumptions.iter().find(|assumption| assumption.limits_proof);
                let reason = match (limit, tries.first().map(|tried| &tried.end)) {
                    (Some(limit), _) if !is_open && memory.is_some() => {
                        Reason::Unsupported(limit.text.clone(), limit.span)
                    }
                    (_, Some(End::Unknown(reason))) => reason.clone(),
                    (_, _) => Reason::Exhausted(Exhausted::Cancelled),
                };
                whole(Checked::Unknown(reason), start, tries)
            }
        };
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
            Checked::Unknown(_) => (false, Some(self.budget.most_of(RESERVE - 1, RESERVE))),
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
            Ok(listed) => End::Unknown(open_reason(&listed.locations, listed.refused.as_deref())),
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
        let can_be_asked = |finding: &&Finding| match prepared.objects[finding.cell.object].storage {
            Storage::Static | Storage::Site => true,
            Storage::Frame(_) | Storage::ThreadLocal => false,
        };
        let is_asked = |range: &Range| {
            let asked = self.program.races_on.as_ref();
            asked.is_none_or(|asked| asked.iter().any(|asked| asked.object == range.object))
        };
        let open: Vec<(Finding, Range)> = memory
            .locations
            .iter()
            .filter(|finding| matches!(finding.status, Status::Open(_)))
            .filter(can_be_asked)
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

fn open_reason(locations: &Locations, refused: Option<&str>) -> Reason {
    let refused = refused.map(|why| format!("; claims are left out: {why}")).unwrap_or_default();
    let open =
        |location: &&verdict::SharedLocation| matches!(location.status, verdict::LocationStatus::Open(_));
    let (open, all) = (locations.locations.iter().filter(open).count(), locations.locations.len());
    if open == 0 {
        return Reason::Bounded(format!(
            "all {all} shared memory locations are race-free, under assumptions"
        ));
    }
    Reason::Bounded(format!("races on {open} of {all} shared memory locations are not excluded{refused}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_explicit::Explicit;
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

    /// Everything that is accessed by name, as if nothing were proved but about `z`.
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
            SharedLocation { cell, size: 4, accesses: of(object), status }
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
    fn decide(lister: &Lister<'_>, answer: &dyn Fn(&Program, &Budget) -> Outcome, live: &Live) {
        let program = read();
        live.begin(Check::Races);
        let (explorer, budget) = (Explicit::default(), Budget::steps_for(120.0));
        let races = Races {
            program: &program,
            lister,
            answer: Some(answer),
            explorer: Some(&explorer),
            live,
            budget,
        };
        races.decide();
    }

    fn undecided() -> Outcome {
        whole(Checked::Unknown(Reason::Bounded("not asked".to_owned())), Instant::now(), Vec::new())
    }

    #[test]
    fn one_run_finds_the_races_on_all_locations() {
        let live = Live::default();
        let explore = |program: &Program, budget: &Budget| {
            pipeline::verify(program, Check::Races, &Explicit::default(), budget, &Silent)
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
        let answer = |_: &Program, _: &Budget| {
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
        assert_eq!(live.memory(), None);
        let outcomes = live.outcomes();
        assert_eq!(outcomes.len(), 1);
        let End::Unknown(Reason::Crashed(why)) = &outcomes[0].tries[0].end else { panic!("{outcomes:?}") };
        assert_eq!(why, "summaries crashed: a case that was not thought of");
    }
}
