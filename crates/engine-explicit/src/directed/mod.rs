//! A directed search: for an execution in which two threads race on one memory location of a large program.
//!
//! The listing of a program knows the accesses that may race. Each execution runs on the machine towards two
//! of them ([`execution`]): threads that arrive are held until they meet. Where a branch that leads closer
//! ([`distance`]) was missed because of inputs, these are computed anew ([`shadow`], [`solve`]), and the
//! program is run again; so there is a queue of branches to be tried, the closest first, and between these
//! other schedules are tried.
//!
//! Under-approximates: finds races only, and executions that would be races but for values that are not
//! modelled. The sequence of executions is the same each time.

mod distance;
mod execution;
mod shadow;
mod solve;

use crate::model::{Facts, Model};
use crate::shorten::shorten;
use distance::{Calls, Distances, Step};
use execution::{Executed, Execution, Guide, Habit, Missed, Plan, Record};
use ir::semantics::{LimitKind, Machine};
use ir::{Count, EdgeId, Program, Range, Span, TemplateId, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use verdict::{Budget, Exhausted, Property, Trace};

/// Steps of the first executions, and of the longest ones.
const FIRST_LENGTH: usize = 20_000;
const MOST_LENGTH: usize = 2_000_000;
/// After so many executions they may be twice as long.
const ROUND: u64 = 48;
/// Every so many executions another schedule is tried.
const OTHER_SCHEDULE: u64 = 4;
/// Branches that wait to be tried.
const MOST_WAITING: usize = 4_000;
/// What each try of a branch costs the next one, and a branch that leads away.
const RETRY: u64 = 30;
const AWAY: u64 = 40;
/// Tries of one branch.
const MOST_RETRIES: u32 = 400;
/// Executions that are made once there is one that is a race but for values that are not modelled.
const MORE: u64 = 200;

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

/// A value that is not modelled, and that an execution rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unmodelled {
    /// Where.
    pub span: Span,
    /// What has to hold.
    pub what: Condition,
}

/// What has to hold of something that is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The value is this one.
    Value(Value),
    /// What happens there, of which nothing is known, changes nothing that the execution rests on.
    Effects,
    /// A signal arrives whose handler is set there.
    Signal,
}

/// What is found.
#[derive(Clone, Debug)]
pub enum Found {
    /// A race.
    Race(Trace),
    /// An execution that is a race if these values are as they were chosen.
    Possible(Trace, Vec<Unmodelled>),
}

/// A program that is searched for races on single locations.
pub struct Directed<'p> {
    model: Model<'p>,
    calls: Calls,
    copies: Vec<u32>,
    /// Distances to steps, and to the starts of kinds of threads, as they are asked for.
    known: BTreeMap<Vec<Step>, Rc<Distances>>,
    starts: BTreeMap<TemplateId, Rc<Distances>>,
}

impl<'p> Directed<'p> {
    /// Makes a lowered program ready.
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
        })
    }

    /// A search for races on some bytes by pairs of accesses, the most promising first; `None` where there
    /// are none.
    pub fn search(&mut self, range: Range, pairs: &[[Site; 2]]) -> Option<LocationSearch> {
        (!pairs.is_empty()).then(|| LocationSearch {
            range,
            pairs: pairs.to_vec(),
            waiting: BTreeMap::new(),
            tries: FxHashMap::default(),
            runs: 0,
            number: 0,
            best: None,
            possible: None,
        })
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

/// A branch that is to be tried.
struct Job {
    record: Rc<Record>,
    missed: Missed,
    plan: Rc<Plan>,
    pair: usize,
}

/// The search for races on one location, as far as it has come.
pub struct LocationSearch {
    range: Range,
    pairs: Vec<[Site; 2]>,
    /// By how promising they are, then the newest first.
    waiting: BTreeMap<(u64, Reverse<u64>), Job>,
    tries: FxHashMap<Step, u32>,
    runs: u64,
    number: u64,
    /// The execution that came closest.
    best: Option<(u32, Plan)>,
    /// One that would be a race, and when it was found.
    possible: Option<(Trace, Vec<Unmodelled>, u64)>,
}

impl LocationSearch {
    /// Goes on, until something is found or the budget is used up. What is possible is given once nothing
    /// better was found for a while, or at the end.
    pub fn run(&mut self, directed: &mut Directed<'_>, budget: &Budget) -> Option<Found> {
        let end = loop {
            match self.once(directed, budget) {
                Ok(Some(race)) => break Some(race),
                Ok(None) => {
                    let is_late = |since: u64| self.runs > since + MORE;
                    if self.possible.as_ref().is_some_and(|(_, _, since)| is_late(*since)) {
                        break None;
                    }
                }
                Err(_) => break None,
            }
        };
        match (end, self.possible.take()) {
            (Some(race), _) => Some(Found::Race(race)),
            (None, Some((trace, unmodelled, _))) => Some(Found::Possible(trace, unmodelled)),
            (None, None) => None,
        }
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
    fn once(&mut self, directed: &mut Directed<'_>, budget: &Budget) -> Result<Option<Trace>, Exhausted> {
        budget.check(0)?;
        let (plan, pair) = self.next();
        self.runs += 1;
        let length = (FIRST_LENGTH << (self.runs / ROUND).min(16)).min(MOST_LENGTH);
        let [one, other] = self.pairs[pair];
        let program = directed.model.machine.program;
        let sides = [one, other];
        let goals = sides.map(|site| (site.kind, directed.distances(vec![(site.template, site.edge)])));
        let starts = sides.map(|site| directed.distances_to_starts(site.kind));
        let sites: Vec<Site> = self.pairs.iter().flatten().copied().collect();
        let held_at = sites
            .iter()
            .map(|site| (site.template, program.templates[site.template].edges[site.edge].source));
        let model = &directed.model;
        let guide = Guide { model, range: self.range, held_at: held_at.collect(), sites, goals, starts };
        let Some(executed) = Execution::run(&guide, &plan, &directed.copies, length, budget)? else {
            return Ok(None);
        };
        let Executed { race, record, missed, distance } = executed;
        if self.best.as_ref().is_none_or(|(best, _)| distance < *best) {
            let inputs = record.inputs.iter().map(|input| input.value).collect();
            self.best = Some((distance, Plan { inputs, ..plan.clone() }));
        }
        if let Some(trace) = race {
            let one = Program { races_on: Some(vec![self.range]), ..program.clone() };
            let narrowed =
                Model::new(&one, model.facts.clone(), Property::NoRace, model.machine.max_threads, false);
            if model.is_evidence(&trace) {
                let shorter = narrowed.map(|narrowed| shorten(&narrowed, trace.clone(), budget));
                return Ok(Some(shorter.unwrap_or(trace)));
            }
            let unmodelled = record.unmodelled(model);
            let is_better = |(_, known, _): &(Trace, Vec<Unmodelled>, u64)| unmodelled.len() < known.len();
            if self.possible.as_ref().is_none_or(is_better) {
                let since = self.possible.as_ref().map_or(self.runs, |(_, _, since)| *since);
                self.possible = Some((trace, unmodelled, since));
            }
        }
        self.wait(Rc::new(record), missed, Rc::new(plan), pair);
        Ok(None)
    }

    /// What to try next.
    fn next(&mut self) -> (Plan, usize) {
        if !self.runs.is_multiple_of(OTHER_SCHEDULE) {
            while let Some((_, Job { record, missed, plan, pair })) = self.waiting.pop_first() {
                if let Some(inputs) = solved(&record, &missed) {
                    return (Plan { inputs, ..plan.as_ref().clone() }, pair);
                }
            }
        }
        let number = self.runs / OTHER_SCHEDULE;
        let pair = number as usize % self.pairs.len().max(1);
        let seed = number + 1;
        match &self.best {
            Some((_, best)) if !number.is_multiple_of(3) => (Plan { seed, ..best.clone() }, pair),
            _ => {
                let habit = [Habit::Generous, Habit::Frugal, Habit::Generous, Habit::Random]
                    [(number / 3 % 4) as usize];
                (Plan { inputs: Vec::new(), habit, seed: number }, pair)
            }
        }
    }

    /// Puts branches that were missed on the list.
    fn wait(&mut self, record: Rc<Record>, missed: Vec<Missed>, plan: Rc<Plan>, pair: usize) {
        for missed in missed {
            let tries = self.tries.entry(missed.step).or_default();
            *tries += 1;
            if *tries > MOST_RETRIES {
                continue;
            }
            let away = if missed.is_closer { 0 } else { AWAY };
            let far = u64::from(missed.distance.min(1_000_000));
            let order = far + away + RETRY * u64::from(*tries);
            self.number += 1;
            let (record, plan) = (record.clone(), plan.clone());
            self.waiting.insert((order, Reverse(self.number)), Job { record, missed, plan, pair });
        }
        while self.waiting.len() > MOST_WAITING {
            self.waiting.pop_last();
        }
    }
}

/// Inputs with which a branch is taken.
fn solved(record: &Record, missed: &Missed) -> Option<Vec<Value>> {
    let values: Vec<Value> = record.inputs[..missed.inputs].iter().map(|input| input.value).collect();
    let types: Vec<_> = record.inputs[..missed.inputs].iter().map(|input| input.ty).collect();
    let mut conditions = record.conditions[..missed.conditions].to_vec();
    conditions.push(missed.condition.clone());
    let problem = solve::Problem { values: &values, types: &types, conditions };
    let changes = problem.solve()?;
    let mut inputs = values;
    for (input, value) in changes {
        *inputs.get_mut(input as usize)? = value;
    }
    Some(inputs)
}
