//! The directed search: finds executions of a large program in which two threads race on one memory location.
//!
//! The listing of a program has the accesses that may race. Each execution runs on the machine towards two of
//! them ([`execution`]): in some executions, arriving threads are held until they meet. In all of them,
//! accesses to all open locations are observed ([`observe`]); for two unordered accesses, another execution
//! makes them meet ([`reorder`]). If a branch that leads closer ([`distance`]) was missed because of inputs,
//! new inputs are computed ([`shadow`], [`solve`]), and the program runs again. So there is a queue of
//! branches to try: those after something new come first, then the closest; in between, other schedules are
//! tried.
//!
//! Under-approximates: finds only races, and possible races that depend on values that are not modelled. The
//! sequence of executions is deterministic.

mod distance;
mod execution;
mod feeder;
mod observe;
mod reorder;
mod shadow;
mod solve;

use distance::{Calls, Distances, Step};
use execution::{Executed, Execution, Guide, Habit, Missed, Plan, Record};
use executions::model::{Facts, Model};
use executions::shorten::{Given, shorten};
use ir::semantics::{Certainty, ChoiceKind, LimitKind, Machine};
use ir::{Callee, Count, EdgeId, LocationId, Op, Program, Range, Span, TemplateId, Value};
use observe::{Suspect, Watched};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use verdict::{Budget, Exhausted, Property, Trace, TraceStep, Violation};

/// Steps of the first executions, and of the longest ones.
const FIRST_LENGTH: usize = 20_000;
const MOST_LENGTH: usize = 2_000_000;
/// After this many executions that were cut off, the length limit doubles; then after twice as many more.
const ROUND: u64 = 12;
/// Another schedule is tried after this many executions.
const OTHER_SCHEDULE: u64 = 4;
/// The same while no thread was ever started.
const OTHER_HABIT: u64 = 16;
/// The habits and seeds of the first executions, and of the first longer ones: what one of them does not
/// reach, another may, for instance where a program waits until time has passed.
const FIRST_HABITS: [(Habit, u64); 4] =
    [(Habit::Generous, 0), (Habit::Counting, 0), (Habit::Frugal, 0), (Habit::Counting, 1)];
/// A plan of another search is tried after this many executions.
const OTHER_SEARCH: u64 = 8;
/// How often a branch is taken in one execution such that once more is something new.
const MOST_NEW: u32 = 16;
/// Steps between the arrival of a signal and the start of its handler.
const STEPS_TO_HANDLER: usize = 4;
/// How often to try to make two steps meet, where a try in vain counts as several that led to a possible
/// race: there may be a way around what that rests on.
const MOST_MEETINGS: u32 = 32;
const IN_VAIN: u32 = 8;
/// The limit on records of waiting branches, in conditions.
const MOST_WAITING: usize = 200_000;
/// The penalty for each attempt at a branch, and for a branch that leads away.
const RETRY: u64 = 30;
const AWAY: u64 = 40;
/// As many attempts at a branch after something new count as one.
const NEW_TRIES: u32 = 8;
/// The most attempts at one branch.
const MOST_RETRIES: u32 = 400;
/// How far to go back from a branch that cannot be taken, in branches.
const MOST_BACK: usize = 8;
/// An access to the location, and who makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The kind of thread.
    pub kind: TemplateId,
    /// The procedure.
    pub template: TemplateId,
    /// The step.
    pub edge: EdgeId,
}

/// A value that is not modelled and on which an execution depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unmodelled {
    /// Where.
    pub span: Span,
    /// What has to hold.
    pub what: Condition,
}

/// A condition on something that is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The value is this one.
    Value(Value),
    /// An unknown call there changes nothing on which the execution depends.
    Effects,
    /// A signal arrives whose handler is set there.
    Signal,
    /// An unmodelled value there leads to the branch that was taken.
    Branch,
}

/// A result.
#[derive(Clone, Debug)]
pub enum FoundRace {
    /// A race.
    Race(Trace),
    /// An execution that is a race if these values are as they were chosen, and the accesses that meet.
    Possible(Trace, Vec<Unmodelled>, Option<[Site; 2]>),
}

/// A program that is searched for races on single locations.
pub struct Directed<'p> {
    model: Model<'p>,
    calls: Calls,
    copies: Vec<u32>,
    /// Distances to steps, and to the starts of kinds of threads, as they are asked for.
    known: BTreeMap<Vec<Step>, Rc<Distances>>,
    starts: BTreeMap<TemplateId, Rc<Distances>>,
    /// What is started when a signal arrives.
    handlers: BTreeSet<TemplateId>,
    /// The locations that are searched, by their numbers.
    watched: Watched,
    ranges: Vec<Range>,
    /// How often it was tried to make two steps meet.
    meetings: BTreeMap<(usize, [Step; 2]), u32>,
    /// How many values that are not modelled the best execution on a location rests on.
    conditions: BTreeMap<usize, usize>,
    /// The inputs that are not modelled on which the last execution rests.
    doubts: Vec<usize>,
    /// What was found by the way.
    found: Vec<(usize, FoundRace)>,
    /// How often each branch was taken at most in one execution, for each caller; and the last plan of an
    /// execution that took one more often than others before, and its number. Searches share them.
    most: BTreeMap<(Step, Option<LocationId>), u32>,
    newest: Option<(u64, Plan)>,
    /// How many executions were cut off, in all searches.
    cut: u64,
    /// How many habits were tried with executions as long as they may be now.
    tried_habits: usize,
    /// How long those may at least be: one that led to something new took half of it.
    length: usize,
    /// The budget for shorter executions, where it is not that of the turn.
    shortening: Option<Budget>,
}

impl<'p> Directed<'p> {
    /// Prepares a lowered program.
    pub fn new(program: &'p Program) -> Result<Self, LimitKind> {
        let most = Machine::new(program)?.max_threads;
        let model = Model::new(program, Arc::new(Facts::new(program)), Property::NoRace, most, false)?;
        let copies = program.start.iter().map(|(_, count)| match count {
            Count::Exactly(copies) => *copies,
            Count::Any => 3,
        });
        Ok(Self {
            copies: copies.collect(),
            calls: Calls::of(program),
            model,
            known: BTreeMap::new(),
            starts: BTreeMap::new(),
            handlers: handlers(program),
            watched: Watched::default(),
            ranges: Vec::new(),
            meetings: BTreeMap::new(),
            conditions: BTreeMap::new(),
            doubts: Vec::new(),
            found: Vec::new(),
            most: BTreeMap::new(),
            newest: None,
            cut: 0,
            tried_habits: 0,
            length: FIRST_LENGTH,
            shortening: None,
        })
    }

    /// A search for races on some bytes by pairs of accesses, the most promising first; `None` where there
    /// are none.
    pub fn search(&mut self, range: Range, pairs: &[[Site; 2]]) -> Option<LocationSearch> {
        if pairs.is_empty() {
            return None;
        }
        self.ranges.push(range);
        let index = self.watched.add(range);
        Some(LocationSearch {
            index,
            range,
            pairs: pairs.to_vec(),
            most: BTreeMap::new(),
            threads: 1,
            shared: 0,
            waiting: BTreeMap::new(),
            weight: 0,
            tries: FxHashMap::default(),
            known: FxHashSet::default(),
            returned: FxHashSet::default(),
            runs: 0,
            number: 0,
            again: None,
            best: None,
        })
    }

    /// The results since the last call, with the numbers of the locations. Possible races on a location are
    /// returned only if they depend on fewer values than before.
    pub fn take_found(&mut self) -> Vec<(usize, FoundRace)> {
        std::mem::take(&mut self.found)
    }

    /// Lets the search make executions that it finds shorter within this budget: a turn on a location may be
    /// too short for that.
    pub fn shorten_within(&mut self, budget: &Budget) {
        self.shortening = Some(budget.clone());
    }

    /// Ends the search on a location.
    pub fn forget(&mut self, index: usize) {
        self.watched.remove(index);
    }

    /// An execution that races on a location: evidence, or possible.
    fn take(&mut self, index: usize, trace: Trace, (record, until): (&Record, usize), budget: &Budget) {
        let (model, range) = (&self.model, self.ranges[index]);
        if model.is_evidence(&trace) {
            let one = Program { races_on: Some(vec![range]), ..model.machine.program.clone() };
            let most = model.machine.max_threads;
            let narrowed = Model::new(&one, model.facts.clone(), Property::NoRace, most, false);
            let budget = self.shortening.as_ref().unwrap_or(budget);
            let shorter = narrowed.map(|narrowed| shorten(&narrowed, trace.clone(), budget));
            self.found.push((index, FoundRace::Race(shorter.unwrap_or(trace))));
            self.watched.remove(index);
            return;
        }
        let (doubts, mut unmodelled): (Vec<usize>, Vec<Unmodelled>) =
            record.unmodelled(model, until).into_iter().unzip();
        if unmodelled.is_empty() {
            let span = first_uncertain(model, &trace);
            unmodelled.extend(span.map(|span| Unmodelled { span, what: Condition::Branch }));
        }
        self.doubts.extend(doubts);
        if self.conditions.get(&index).is_none_or(|known| unmodelled.len() < *known) {
            self.conditions.insert(index, unmodelled.len());
            let sites = meeting_sites(model, &trace);
            self.found.push((index, FoundRace::Possible(trace, unmodelled, sites)));
        }
    }

    /// Makes unordered accesses meet.
    fn meet(&mut self, steps: &[TraceStep], suspects: &[Suspect], record: &Record, budget: &Budget) {
        for suspect in suspects {
            let tried = self.meetings.entry((suspect.location, suspect.steps)).or_default();
            let is_found = |(index, found): &(usize, FoundRace)| {
                *index == suspect.location && matches!(found, FoundRace::Race(_))
            };
            if *tried >= MOST_MEETINGS || self.found.iter().any(is_found) || budget.check(0).is_err() {
                continue;
            }
            let range = self.ranges[suspect.location];
            budget.spend(2 * suspect.second as u64);
            let met = reorder::meeting(&self.model, steps, suspect, range, &self.copies);
            *tried += if met.is_some() { 1 } else { IN_VAIN };
            if let Some(trace) = met {
                self.take(suspect.location, trace, (record, suspect.second), budget);
            }
        }
    }

    /// How long executions may be.
    fn most_length(&self) -> usize {
        let doubled = (self.cut / ROUND + 1).ilog2();
        (FIRST_LENGTH << doubled.min(16)).max(self.length).min(MOST_LENGTH)
    }

    fn distances_to_starts(&mut self, kind: TemplateId) -> Rc<Distances> {
        let (program, calls) = (self.model.machine.program, &self.calls);
        let make = || Rc::new(Distances::to(program, calls, &calls.starts_of(program, kind)));
        self.starts.entry(kind).or_insert_with(make).clone()
    }

    fn distances(&mut self, steps: Vec<Step>) -> Rc<Distances> {
        let (program, calls) = (self.model.machine.program, &self.calls);
        let known = self.known.entry(steps);
        let steps = known.key().clone();
        known.or_insert_with(|| Rc::new(Distances::to(program, calls, &steps))).clone()
    }
}

/// The accesses of a race at the end of an execution.
fn meeting_sites(model: &Model<'_>, trace: &Trace) -> Option<[Site; 2]> {
    let Violation::Race([one, other]) = trace.violation else { return None };
    let machine = &model.machine;
    let mut state = machine.initial(&trace.copies).ok()?;
    for step in &trace.steps {
        let mut given = Given::new(&step.choices);
        machine.advance(&mut state, step.thread, step.edge, &mut given, &mut Vec::new()).ok()?;
    }
    let site = |(thread, edge): (usize, EdgeId)| {
        let (template, _) = state.location(thread)?;
        Some(Site { kind: state.threads[thread].template, template, edge })
    };
    Some([site(one)?, site(other)?])
}

/// The first step of an execution that need not be possible for other values of what is not modelled.
fn first_uncertain(model: &Model<'_>, trace: &Trace) -> Option<Span> {
    let machine = &model.machine;
    let mut state = machine.initial(&trace.copies).ok()?;
    let mut certainty = Certainty::new(machine, state.clone());
    for step in &trace.steps {
        let (template, _) = state.location(step.thread)?;
        if certainty.step(step.thread, step.edge, &step.choices).is_err() {
            return Some(machine.program.templates[template].edges[step.edge].span);
        }
        let mut given = Given::new(&step.choices);
        machine.advance(&mut state, step.thread, step.edge, &mut given, &mut Vec::new()).ok()?;
    }
    None
}

/// What is started just after a step that lets a signal arrive.
fn handlers(program: &Program) -> BTreeSet<TemplateId> {
    let mut found = BTreeSet::new();
    for code in &program.templates {
        let mut here: Vec<LocationId> = Vec::new();
        for (id, edge) in code.edges.enumerate() {
            if execution::is_signal(code, id) {
                here.push(edge.target);
            }
        }
        for _ in 0..STEPS_TO_HANDLER {
            let next: Vec<_> = code.edges.iter().filter(|edge| here.contains(&edge.source)).collect();
            found.extend(next.iter().flat_map(|edge| &edge.ops).filter_map(|op| match op {
                Op::Spawn(Callee::Procedure(kind), ..) => Some(*kind),
                _ => None,
            }));
            let starts = |edge: &&ir::Edge| edge.ops.iter().any(|op| matches!(op, Op::Spawn(..)));
            here = next.into_iter().filter(|edge| !starts(edge)).map(|edge| edge.target).collect();
        }
    }
    found
}

/// A branch that is to be tried.
struct Job {
    /// Whether the execution did something new.
    is_new: bool,
    /// Whether it comes next, however often the branch was tried.
    is_next: bool,
    /// Its part of what is kept of the execution, in conditions.
    weight: usize,
    made: Made,
    /// The number of the branch among those that were missed.
    number: usize,
}

impl Job {
    fn missed(&self) -> &Missed {
        &self.made.missed[self.number]
    }
}

/// An execution that was made.
#[derive(Clone)]
struct Made {
    record: Rc<Record>,
    /// The branches that it missed, in order.
    missed: Rc<Vec<Missed>>,
    plan: Rc<Plan>,
    pair: usize,
}

impl Made {
    /// A branch that was missed, and the inputs before it.
    fn fingerprint(&self, missed: &Missed) -> u64 {
        let mut hasher = FxHasher::default();
        (missed.step, missed.conditions).hash(&mut hasher);
        self.record.inputs[..missed.inputs].iter().for_each(|input| input.value.hash(&mut hasher));
        hasher.finish()
    }

    /// The part of each branch in what is kept, in conditions.
    fn weight(&self) -> usize {
        1 + (self.record.conditions.len() + self.record.inputs.len()) / self.missed.len().max(1)
    }
}

/// The search for races on one location, as far as it has come.
pub struct LocationSearch {
    index: usize,
    range: Range,
    pairs: Vec<[Site; 2]>,
    /// By how promising they are, then the newest first.
    waiting: BTreeMap<(u64, Reverse<u64>), Job>,
    /// What is kept for them.
    weight: usize,
    /// How often each branch was tried.
    tries: FxHashMap<Step, u32>,
    /// Branches that were on the list, each with the inputs before it.
    known: FxHashSet<u64>,
    /// Those that came first because a branch after them could not be taken.
    returned: FxHashSet<u64>,
    runs: u64,
    number: u64,
    /// An execution that is to be made once more.
    again: Option<(Plan, usize)>,
    /// The execution that came closest.
    best: Option<(u32, Plan)>,
    /// How often each branch was taken at most in one execution, for each caller.
    most: BTreeMap<(Step, Option<LocationId>), u32>,
    /// The most threads that there were.
    threads: usize,
    /// The number of the last plan that it took from all searches.
    shared: u64,
}

impl LocationSearch {
    /// Continues, until a race on the location is found, something on others, or the budget is used up:
    /// [`Directed::take_found`] has it.
    pub fn run(&mut self, directed: &mut Directed<'_>, budget: &Budget) {
        while directed.found.is_empty() && self.once(directed, budget).is_ok() {}
    }

    /// Its number in what is found.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The bytes that it is about.
    pub fn range(&self) -> Range {
        self.range
    }

    /// How many executions were made, how far the best one was from both accesses, and how many branches wait
    /// to be tried.
    pub fn progress(&self) -> (u64, Option<u32>, usize) {
        (self.runs, self.best.as_ref().map(|(distance, _)| *distance), self.waiting.len())
    }

    /// One execution more.
    fn once(&mut self, directed: &mut Directed<'_>, budget: &Budget) -> Result<(), Exhausted> {
        budget.check(0)?;
        let is_again = self.again.is_some();
        let (plan, pair) = self.next(directed);
        self.runs += 1;
        let length = directed.most_length();
        let [one, other] = self.pairs[pair];
        let program = directed.model.machine.program;
        let sides = [one, other];
        let goals = sides.map(|site| (site.kind, directed.distances(vec![(site.template, site.edge)])));
        let starts = sides.map(|site| directed.distances_to_starts(site.kind));
        let sites: Vec<Site> = self.pairs.iter().flatten().copied().collect();
        let held_at = sites
            .iter()
            .map(|site| (site.template, program.templates[site.template].edges[site.edge].source));
        let (model, watched, range) = (&directed.model, &directed.watched, self.range);
        let wants_signals = sides.iter().any(|site| directed.handlers.contains(&site.kind));
        let held_at = held_at.collect();
        let guide = Guide { model, range, watched, held_at, sites, goals, starts, wants_signals };
        let executed = match Execution::run(&guide, &plan, &directed.copies, length, budget) {
            Ok(Some(executed)) => executed,
            Ok(None) => return Ok(()),
            Err(exhausted) => {
                // It has another chance in the next turn.
                self.again = (!is_again).then_some((plan, pair));
                return Err(exhausted);
            }
        };
        let Executed { steps, race, suspects, record, missed, taken, threads, distance } = executed;
        self.threads = self.threads.max(threads);
        let is_cut = steps.len() >= length;
        if is_cut {
            directed.cut += 1;
            if directed.most_length() > length {
                directed.tried_habits = 0;
            }
        }
        if self.best.as_ref().is_none_or(|(best, _)| distance < *best) {
            let inputs = record.inputs.iter().map(|input| input.value).collect();
            self.best = Some((distance, Plan { inputs, ..plan.clone() }));
        }
        directed.meet(&steps, &suspects, &record, budget);
        let steps_taken = steps.len();
        if let Some(violation) = race {
            let trace = Trace { copies: directed.copies.clone(), steps, violation };
            directed.take(self.index, trace, (&record, usize::MAX), budget);
        }
        let is_new = note(&mut self.most, &taken);
        if note(&mut directed.most, &taken) {
            if !is_cut {
                directed.length = directed.length.max(2 * steps_taken).min(MOST_LENGTH);
            }
            let inputs = record.inputs.iter().map(|input| input.value).collect();
            let number = directed.newest.as_ref().map_or(1, |(number, _)| number + 1);
            directed.newest = Some((number, Plan { inputs, settled: 0, ..plan.clone() }));
        }
        if !directed.doubts.is_empty() && plan.settled > 0 {
            // The branches before what was settled are needed, too.
            let inputs = record.inputs.iter().map(|input| input.value).collect();
            self.again = Some((Plan { inputs, settled: 0, ..plan.clone() }, pair));
        }
        let made = Made { record: Rc::new(record), missed: Rc::new(missed), plan: Rc::new(plan), pair };
        self.wait(is_new, &made);
        // There may be ways around what is not modelled.
        for doubt in std::mem::take(&mut directed.doubts) {
            let template = made.record.inputs[doubt].step.0;
            self.go_back(&made, (0, MOST_BACK), |missed| missed.step.0 == template && missed.inputs <= doubt);
        }
        Ok(())
    }

    /// The next plan.
    fn next(&mut self, directed: &mut Directed<'_>) -> (Plan, usize) {
        if let Some(again) = self.again.take() {
            return again;
        }
        if let Some((habit, seed)) = FIRST_HABITS.get(directed.tried_habits) {
            directed.tried_habits += 1;
            return (Plan { inputs: Vec::new(), settled: 0, habit: *habit, seed: *seed }, 0);
        }
        if self.runs % OTHER_SEARCH == 1
            && let Some((number, plan)) = &directed.newest
            && self.shared < *number
        {
            self.shared = *number;
            return (plan.clone(), self.runs as usize % self.pairs.len().max(1));
        }
        // Without other threads there is one schedule.
        let often = if self.threads > 1 { OTHER_SCHEDULE } else { OTHER_HABIT };
        if !self.runs.is_multiple_of(often) {
            while let Some(((order, number), job)) = self.waiting.pop_first() {
                self.weight -= job.weight;
                let missed = job.missed();
                let tries = self.tries.entry(missed.step).or_default();
                let now = order_of(missed, if job.is_new { *tries / NEW_TRIES } else { *tries });
                if now > order && *tries <= MOST_RETRIES && !job.is_next {
                    // It was tried in the meantime, by another path.
                    self.weight += job.weight;
                    self.waiting.insert((now, number), job);
                    continue;
                }
                *tries += 1;
                if !job.is_new && *tries > MOST_RETRIES {
                    continue;
                }
                let solved = solved(&job.made.record, missed);
                if solved.as_ref().is_none_or(|solved| !solved.is_same_way) {
                    let (template, conditions) = (missed.step.0, missed.conditions);
                    let is_before =
                        |other: &Missed| other.step.0 == template && other.conditions < conditions;
                    self.go_back(&job.made, (order, 1), is_before);
                }
                if let Some(Solved { inputs, settled, .. }) = solved {
                    return (Plan { inputs, settled, ..job.made.plan.as_ref().clone() }, job.made.pair);
                }
            }
        }
        let number = self.runs / often;
        let pair = number as usize % self.pairs.len().max(1);
        let seed = number + 1;
        match &self.best {
            Some((_, best)) if !number.is_multiple_of(3) => (Plan { seed, settled: 0, ..best.clone() }, pair),
            _ => {
                let habit = [Habit::Generous, Habit::Frugal, Habit::Counting, Habit::Random]
                    [(number / 3 % 4) as usize];
                (Plan { inputs: Vec::new(), settled: 0, habit, seed: number }, pair)
            }
        }
    }

    /// Adds missed branches to the queue.
    fn wait(&mut self, is_new: bool, made: &Made) {
        for (number, missed) in made.missed.iter().enumerate() {
            if self.known.insert(made.fingerprint(missed)) {
                let tries = if is_new { 0 } else { self.tries.get(&missed.step).copied().unwrap_or(0) };
                self.add((is_new, false), made, number, order_of(missed, tries));
            }
        }
        self.shrink();
    }

    /// The last of these branches come next that did not yet: those before a branch to which no inputs lead
    /// by the same path, or before a value that is not modelled. So the result of a comparison changes by
    /// what is compared.
    fn go_back(&mut self, made: &Made, (order, most): (u64, usize), is_before: impl Fn(&Missed) -> bool) {
        let before = made.missed.iter().enumerate().rev().filter(|(_, missed)| is_before(missed));
        let is_new = |(_, missed): &(usize, &Missed)| !self.returned.contains(&made.fingerprint(missed));
        let last: Vec<usize> =
            before.take(MOST_BACK).filter(is_new).map(|(number, _)| number).take(most).collect();
        // What is added last is the first one.
        for number in last.into_iter().rev() {
            self.returned.insert(made.fingerprint(&made.missed[number]));
            self.add((true, true), made, number, order);
        }
        self.shrink();
    }

    fn add(&mut self, (is_new, is_next): (bool, bool), made: &Made, number: usize, order: u64) {
        let job = Job { is_new, is_next, weight: made.weight(), made: made.clone(), number };
        self.number += 1;
        self.weight += job.weight;
        self.waiting.insert((order, Reverse(self.number)), job);
    }

    /// Forgets the least promising branches if there are too many.
    fn shrink(&mut self) {
        while self.weight > MOST_WAITING {
            let Some((_, job)) = self.waiting.pop_last() else { break };
            self.weight -= job.weight;
        }
    }
}

/// Takes note of how often branches were taken; says whether that is more often than before. Further
/// iterations of a loop are new only up to a limit.
fn note(
    most: &mut BTreeMap<(Step, Option<LocationId>), u32>,
    taken: &BTreeMap<(Step, Option<LocationId>), u32>,
) -> bool {
    let mut is_new = false;
    for (branch, count) in taken {
        let most = most.entry(*branch).or_default();
        is_new |= (*count).min(MOST_NEW) > *most;
        *most = (*count).min(MOST_NEW).max(*most);
    }
    is_new
}

/// How little promising a branch is that was tried so often.
fn order_of(missed: &Missed, tries: u32) -> u64 {
    let away = if missed.is_closer { 0 } else { AWAY };
    u64::from(missed.distance.min(1_000_000)) + away + RETRY * u64::from(tries)
}

/// Inputs with which a branch is taken.
struct Solved {
    inputs: Vec<Value>,
    /// How many conditions before it hold as they did.
    settled: usize,
    /// Whether the path to it stays the same.
    is_same_way: bool,
}

/// Inputs with which a branch is taken. If no inputs lead
/// there by the same path, for instance around a loop equally often, inputs that lead there by another path
/// may suffice (Yun, Lee, Xu, Jang and Kim, "QSYM", USENIX Security 2018).
fn solved(record: &Record, missed: &Missed) -> Option<Solved> {
    let values: Vec<Value> = record.inputs[..missed.inputs].iter().map(|input| input.value).collect();
    let types: Vec<_> = record.inputs[..missed.inputs].iter().map(|input| input.ty).collect();
    let inputs = record.inputs[..missed.inputs].iter();
    let unmodelled: Vec<bool> = inputs.map(|input| input.kind == ChoiceKind::Unknown).collect();
    let mut conditions = record.conditions[..missed.conditions].to_vec();
    conditions.push(missed.condition.clone());
    let problem = solve::Problem { values: &values, types: &types, unmodelled: &unmodelled, conditions };
    let (changes, is_same_way) = match problem.solve() {
        Some(changes) => (changes, true),
        None => {
            let conditions = vec![missed.condition.clone()];
            (solve::Problem { conditions, ..problem }.solve()?, false)
        }
    };
    // Up to what rests on a changed input, the path is the same.
    let is_changed =
        |condition: &Rc<shadow::Shadow>| changes.iter().any(|(input, _)| condition.inputs.contains(input));
    let settled = record.conditions[..missed.conditions].iter().position(is_changed);
    let mut inputs = values;
    let last = changes.iter().map(|(input, _)| *input as usize).max();
    for (input, value) in changes {
        *inputs.get_mut(input as usize)? = value;
    }
    if is_same_way {
        return Some(Solved { inputs, settled: missed.conditions, is_same_way });
    }
    // What is asked for after these is something else.
    inputs.truncate(last.map_or(0, |last| last + 1));
    Some(Solved { inputs, settled: settled.unwrap_or(missed.conditions), is_same_way })
}
