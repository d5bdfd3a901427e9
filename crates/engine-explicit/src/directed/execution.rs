//! One execution towards two accesses: threads that arrive at one of them are held there until another thread
//! arrives at a conflicting one (race-directed scheduling: Sen, "Race directed random testing of concurrent
//! programs", PLDI 2008).
//!
//! Deviations: 1. The other threads are not picked at random at each step: one runs until it has to wait, or
//! for a while. 2. Inputs are also chosen, and the search tracks how branches depend on them
//! ([`super::shadow`]).
//!
//! Under-approximates: the result is an execution of the machine.

use super::distance::{Distances, NEVER, Step};
use super::feeder::Feeder;
use super::observe::{Observer, Ordering, Suspect, Watched};
use super::reorder;
use super::shadow::{InputNumber, Shadow, Shadows, View};
use super::{Condition, Site, Unmodelled};
use crate::random::{Random, SEEDS};
use executions::model::Model;
use ir::semantics::{Access, ChoiceKind, State, Stuck, ThreadIndex};
use ir::{
    Assignment, EdgeId, Expr, IntType, Lhs, LocationId, LocationKind, Op, Range, Rhs, Template, TemplateId,
    Value, Waiting,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use verdict::{Budget, Exhausted, TraceStep, Violation};

/// Steps between two looks at how far the threads are.
const LOOK: usize = 1 << 7;
/// How much farther a thread counts that has yet to be started.
const NOT_STARTED: u32 = 1_000;
/// Once a thread is about to end the program, others continue for this part of the steps, and for this many.
const AFTER_END: usize = 16;
const MOST_AFTER_END: usize = 5_000;
/// Values that are tried for an input until its constraint holds.
const MOST_ATTEMPTS: usize = 48;
/// Steps between two checks of the budget.
const INTERVAL: usize = 1 << 10;
/// Turns without an arrival before a held thread may continue.
const PATIENCE: usize = 8;
/// Conditions on inputs, and branches that were missed, that are kept of one execution.
const MOST_CONDITIONS: usize = 6_000;
const MOST_MISSED: usize = 1_500;
/// The same of one branch.
const MOST_MISSED_OF_ONE: u32 = 24;
/// The goal of a search.
pub(super) struct Guide<'a, 'p> {
    pub(super) model: &'a Model<'p>,
    /// The bytes of the target location.
    pub(super) range: Range,
    /// All watched bytes, on which races may also be found.
    pub(super) watched: &'a Watched,
    /// The accesses to it.
    pub(super) sites: Vec<Site>,
    /// Where they are.
    pub(super) held_at: FxHashSet<(TemplateId, LocationId)>,
    /// Both accesses that are to meet: the kind of thread, and how far it is.
    pub(super) goals: [(TemplateId, Rc<Distances>); 2],
    /// How far it is to starts of these kinds of threads.
    pub(super) starts: [Rc<Distances>; 2],
    /// Whether a handler of a signal makes one of the accesses.
    pub(super) wants_signals: bool,
}

/// The plan of an execution.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The values of its first inputs.
    pub(super) inputs: Vec<Value>,
    /// The number of first conditions on inputs whose branches were already considered.
    pub(super) settled: usize,
    /// The style of further inputs.
    pub(super) habit: Habit,
    /// The seed for random choices.
    pub(super) seed: u64,
}

/// The style of inputs without other information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// Enough of everything: long texts, many arguments.
    Generous,
    /// As little as possible.
    Frugal,
    /// Anything.
    Random,
    /// Each number is one more than the last: time passes slowly. Texts are long, or short where the seed is
    /// odd.
    Counting,
}

/// An input of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub(super) value: Value,
    pub(super) ty: IntType,
    pub(super) kind: ChoiceKind,
    /// The step that asked for it, and its number in the execution.
    pub(super) step: Step,
    pub(super) number: usize,
}

/// The record of an execution.
pub(super) struct Record {
    pub(super) inputs: Vec<Input>,
    /// The conditions on its inputs, in order.
    pub(super) conditions: Vec<Rc<Shadow>>,
}

/// A branch that was not taken because of inputs.
pub(super) struct Missed {
    pub(super) step: Step,
    /// When it is taken.
    pub(super) condition: Rc<Shadow>,
    /// How many conditions, and inputs, there were before.
    pub(super) conditions: usize,
    pub(super) inputs: usize,
    /// The distance from there.
    pub(super) distance: u32,
    /// Whether that is closer than where the execution went.
    pub(super) is_closer: bool,
}

/// The result of an execution.
pub(super) struct Executed {
    pub(super) steps: Vec<TraceStep>,
    /// Two threads that are about to race at its end.
    pub(super) race: Option<Violation>,
    /// Unordered accesses.
    pub(super) suspects: Vec<Suspect>,
    pub(super) record: Record,
    pub(super) missed: Vec<Missed>,
    /// How often each branch that rests on inputs was taken, for each caller.
    pub(super) taken: BTreeMap<(Step, Option<LocationId>), u32>,
    /// How many threads there were.
    pub(super) threads: usize,
    /// How far both threads were at best.
    pub(super) distance: u32,
}

/// The result of a step.
enum Stepped {
    Yes,
    /// The thread has to wait.
    Waits,
    /// Nothing more can happen.
    End,
}

/// An execution, as far as it has come.
pub(super) struct Execution<'g, 'a, 'p> {
    guide: &'g Guide<'a, 'p>,
    plan: &'g Plan,
    random: Random,
    state: State,
    shadows: Shadows,
    steps: Vec<TraceStep>,
    record: Record,
    missed: Vec<Missed>,
    /// How often each branch was missed, and how often each step has asked for inputs.
    misses: FxHashMap<Step, u32>,
    asked: FxHashMap<Step, u32>,
    taken: BTreeMap<(Step, Option<LocationId>), u32>,
    distance: u32,
    observer: Observer,
    /// Threads that are held.
    held: BTreeSet<ThreadIndex>,
    log: Vec<Access>,
}

impl<'a, 'p> Guide<'a, 'p> {
    fn is_site(&self, state: &State, thread: ThreadIndex) -> bool {
        let Some(at) = state.location(thread) else { return false };
        let kind = state.threads[thread].template;
        self.held_at.contains(&at) && self.sites.iter().any(|site| site.kind == kind && site.template == at.0)
    }

    /// A thread's distance to its goal, from a location of its innermost procedure.
    fn distance(&self, state: &State, thread: ThreadIndex, top: LocationId) -> u32 {
        let kind = state.threads[thread].template;
        let is_live = |other: ThreadIndex| !state.threads[other].activations.is_empty();
        let (mut best, mut is_alone) = (NEVER, false);
        for (side, (goal, to)) in self.goals.iter().enumerate() {
            let is_there = (0..state.threads.len())
                .any(|other| other != thread && is_live(other) && state.threads[other].template == *goal);
            // The other one has to be started first.
            if !is_there && self.goals[1 - side].0 == kind {
                let start = self.starts[side].of_thread(state, thread, top);
                if start != NEVER {
                    return start.saturating_add(NOT_STARTED);
                }
                is_alone = true;
            }
            if *goal == kind {
                best = best.min(to.of_thread(state, thread, top));
            }
        }
        if best != NEVER {
            // What brings it closer is of little use until another thread starts the other one.
            return if is_alone { best.saturating_add(2 * NOT_STARTED) } else { best };
        }
        let start = self.starts.iter().map(|starts| starts.of_thread(state, thread, top)).min();
        start.unwrap_or(NEVER).saturating_add(NOT_STARTED)
    }

    /// How far all threads together are from both accesses.
    fn distance_of_all(&self, state: &State) -> u32 {
        let live = |thread: &ThreadIndex| !state.threads[*thread].activations.is_empty();
        let of_goal = |side: usize| {
            let (kind, to) = &self.goals[side];
            let mut best = NEVER / 4;
            for thread in (0..state.threads.len()).filter(live) {
                let Some((_, top)) = state.location(thread) else { continue };
                let own = match state.threads[thread].template == *kind {
                    true => to.of_thread(state, thread, top),
                    false => self.starts[side].of_thread(state, thread, top).saturating_add(NOT_STARTED),
                };
                best = best.min(own);
            }
            best
        };
        of_goal(0).saturating_add(of_goal(1))
    }

    /// Two threads that are about to make conflicting accesses, one of them this one.
    fn collision(&self, state: &State, thread: ThreadIndex) -> Option<Violation> {
        let others = (0..state.threads.len()).filter(|other| *other != thread);
        let mut there = others.filter(|other| self.is_site(state, *other));
        there.find_map(|other| reorder::collision(self.model, self.range, state, thread, other))
    }
}

impl<'g, 'a, 'p> Execution<'g, 'a, 'p> {
    /// Runs for at most this many steps.
    pub(super) fn run(
        guide: &'g Guide<'a, 'p>,
        plan: &'g Plan,
        copies: &[u32],
        most: usize,
        budget: &Budget,
    ) -> Result<Option<Executed>, Exhausted> {
        let Ok(state) = guide.model.machine.initial(copies) else { return Ok(None) };
        let mut execution = Self {
            guide,
            plan,
            random: Random::new(SEEDS[0] ^ plan.seed.wrapping_mul(SEEDS[1])),
            shadows: Shadows::new(&state),
            state,
            steps: Vec::new(),
            record: Record { inputs: Vec::new(), conditions: Vec::new() },
            missed: Vec::new(),
            misses: FxHashMap::default(),
            asked: FxHashMap::default(),
            taken: BTreeMap::new(),
            distance: NEVER,
            observer: Observer::default(),
            held: BTreeSet::new(),
            log: Vec::new(),
        };
        let race = execution.schedule(most, budget)?;
        execution.note_distance();
        let Self { steps, record, missed, taken, distance, observer, state, .. } = execution;
        let (suspects, threads) = (observer.suspects, state.threads.len());
        Ok(Some(Executed { steps, race, suspects, record, missed, taken, threads, distance }))
    }

    fn note_distance(&mut self) {
        self.distance = self.distance.min(self.guide.distance_of_all(&self.state));
    }

    /// Runs threads; returns a race.
    fn schedule(&mut self, most: usize, budget: &Budget) -> Result<Option<Violation>, Exhausted> {
        let machine = &self.guide.model.machine;
        // The first one goes its way, and is only observed.
        let mix = self.plan.seed.wrapping_mul(SEEDS[1]) >> 40;
        let policy = mix % 4;
        let turn = [400, 3_000, 60, 20_000][(mix / 4 % 4) as usize];
        // How seldom a thread is held; `None` for never.
        let seldom = [None, Some(1), None, Some(2), Some(1), Some(8)][(mix / 16 % 6) as usize];
        let mut waiting: BTreeSet<ThreadIndex> = BTreeSet::new();
        // Threads that wait for a signal, although they may wake up spuriously.
        let mut resting: BTreeSet<ThreadIndex> = BTreeSet::new();
        // Threads whose next step is undefined: it is not taken.
        let mut stopped: BTreeSet<ThreadIndex> = BTreeSet::new();
        // Threads that are about to end the program: others come first.
        let mut ending: BTreeSet<ThreadIndex> = BTreeSet::new();
        let (mut current, mut taken, mut turns) = (0, 0, 0);
        let (all, mut most) = (most, most);
        while self.steps.len() < most && !self.state.halted {
            if self.steps.len().is_multiple_of(INTERVAL) {
                budget.spend(INTERVAL as u64);
                budget.check(0)?;
            }
            if self.steps.len().is_multiple_of(LOOK) {
                self.note_distance();
            }
            let alone = (0..self.state.threads.len()).find(|thread| machine.is_atomic(&self.state, *thread));
            let can_run = |thread: &ThreadIndex| {
                !self.state.threads[*thread].activations.is_empty()
                    && !waiting.contains(thread)
                    && !stopped.contains(thread)
                    && !self.held.contains(thread)
            };
            let next = match alone {
                Some(alone) => Some(alone),
                None if taken < turn
                    && current < self.state.threads.len()
                    && can_run(&current)
                    && !resting.contains(&current)
                    && !ending.contains(&current) =>
                {
                    Some(current)
                }
                None => {
                    if taken >= turn {
                        turns += 1;
                        resting.clear();
                    }
                    taken = 0;
                    let mut able: Vec<ThreadIndex> = (0..self.state.threads.len()).filter(can_run).collect();
                    if able.iter().any(|thread| !ending.contains(thread)) {
                        able.retain(|thread| !ending.contains(thread));
                    }
                    if able.iter().any(|thread| !resting.contains(thread)) {
                        able.retain(|thread| !resting.contains(thread));
                    } else {
                        resting.clear();
                    }
                    // If no other thread can run, or none arrives, a held thread continues.
                    if (able.is_empty() || turns > PATIENCE) && !self.held.is_empty() {
                        turns = 0;
                        let number = self.random.below(self.held.len());
                        let released = self.held.iter().nth(number).copied();
                        self.held.retain(|thread| Some(*thread) != released);
                        waiting.clear();
                        released
                    } else {
                        self.pick(policy, &able, current)
                    }
                }
            };
            let Some(next) = next else { return Ok(None) };
            current = next;
            match self.step(current) {
                Stepped::Yes => {
                    taken += 1;
                    waiting.clear();
                }
                Stepped::Waits if alone.is_some() => return Ok(None),
                Stepped::Waits => {
                    waiting.insert(current);
                    continue;
                }
                Stepped::End if alone.is_some() => return Ok(None),
                Stepped::End => {
                    stopped.insert(current);
                    continue;
                }
            }
            if self.state.halted || self.state.threads[current].activations.is_empty() {
                continue;
            }
            if self.is_asleep(current) {
                resting.insert(current);
            }
            if self.is_ending(current) && ending.insert(current) {
                most = most.min(self.steps.len() + (all / AFTER_END).min(MOST_AFTER_END));
            }
            if self.guide.is_site(&self.state, current) {
                if let Some(violation) = self.guide.collision(&self.state, current) {
                    return Ok(Some(violation));
                }
                if alone.is_none()
                    && !machine.is_atomic(&self.state, current)
                    && seldom.is_some_and(|seldom| self.random.below(seldom) == 0)
                {
                    self.held.insert(current);
                    turns = 0;
                    self.note_distance();
                }
            }
        }
        Ok(None)
    }

    /// Whether a thread can continue only by a spurious wake-up.
    fn is_asleep(&self, thread: ThreadIndex) -> bool {
        let program = self.guide.model.machine.program;
        self.state.location(thread).is_some_and(|(template, location)| {
            program.templates[template].locations[location].waiting == Waiting::Spurious
        })
    }

    /// Whether a thread may end the program by its next step.
    fn is_ending(&self, thread: ThreadIndex) -> bool {
        let machine = &self.guide.model.machine;
        self.state.location(thread).is_some_and(|(template, location)| {
            let code = &machine.program.templates[template];
            let ends = |edge: &EdgeId| code.locations[code.edges[*edge].target].kind == LocationKind::Halt;
            machine.outgoing[template][location].iter().any(ends)
        })
    }

    /// Who runs next.
    fn pick(&mut self, policy: u64, able: &[ThreadIndex], current: ThreadIndex) -> Option<ThreadIndex> {
        let others: Vec<ThreadIndex> = able.iter().copied().filter(|thread| *thread != current).collect();
        let able = if others.is_empty() { able } else { others.as_slice() };
        match policy {
            0 => able.iter().find(|thread| **thread > current).or(able.first()).copied(),
            1 => able.last().copied(),
            2 => able.get(self.random.below(able.len())).copied(),
            _ => able.iter().copied().min_by_key(|thread| {
                let top = self.state.location(*thread).map_or(LocationId(0), |(_, top)| top);
                self.guide.distance(&self.state, *thread, top)
            }),
        }
    }

    /// Lets a thread take one of its steps.
    fn step(&mut self, thread: ThreadIndex) -> Stepped {
        let machine = &self.guide.model.machine;
        let Some((template, _)) = self.state.location(thread) else { return Stepped::End };
        let code = &machine.program.templates[template];
        let mut edges = machine.edges(&self.state, thread).to_vec();
        // A comparison of addresses has an alternative with any result, for proofs: it is not taken here.
        if edges.iter().any(|edge| !is_open_comparison(code, *edge)) {
            edges.retain(|edge| !is_open_comparison(code, *edge));
        }
        if edges.len() > 1 && edges.iter().filter(|edge| self.is_enabled(thread, code, **edge)).count() > 1 {
            let is_branch = |edge: &EdgeId| {
                matches!(code.edges[*edge].ops.first(), Some(Op::Assume(_)))
                    && self.is_enabled(thread, code, *edge)
            };
            let branches: Vec<EdgeId> = edges.iter().copied().filter(is_branch).collect();
            // What leads there first, of this what is modelled, then what is closer; sometimes anything. No
            // signal arrives where no handler is meant.
            let seldom = if self.plan.habit == Habit::Random { 2 } else { 8 };
            let goes_astray = self.random.below(seldom) == 0;
            let first = if goes_astray { self.random.below(edges.len()) } else { 0 };
            edges.rotate_left(first);
            let is_signal = |edge: EdgeId| {
                let target = code.edges[edge].target;
                machine.outgoing[template][target].iter().any(|next| is_signal(code, *next))
            };
            let is_lost = |edge: EdgeId| {
                let target = code.edges[edge].target;
                let after = machine.outgoing[template][target].iter().copied();
                after.chain([edge]).any(|step| is_unmodelled(code, step))
            };
            edges.sort_by_key(|edge| {
                let target = code.edges[*edge].target;
                let distance = if goes_astray { 0 } else { self.guide.distance(&self.state, thread, target) };
                let is_unwanted = is_signal(*edge) && !self.guide.wants_signals;
                (is_unwanted, distance == NEVER, is_lost(*edge), distance)
            });
            if branches.len() > 1 && self.record.conditions.len() < MOST_CONDITIONS {
                let may_be = |edge: EdgeId| self.guide.wants_signals || !is_signal(edge);
                let missed: Vec<EdgeId> = branches.iter().copied().filter(|edge| may_be(*edge)).collect();
                self.decide(thread, template, &branches, &missed, &mut edges);
            }
        }
        for &edge in &edges {
            match self.take(thread, (template, edge), &edges) {
                Stepped::Waits => {}
                done @ (Stepped::Yes | Stepped::End) => return done,
            }
        }
        Stepped::Waits
    }

    /// Takes one of several possible edges, as the plan says, and records the others. The decision counts as
    /// an input of the execution.
    fn decide(
        &mut self,
        thread: ThreadIndex,
        template: TemplateId,
        branches: &[EdgeId],
        missed: &[EdgeId],
        edges: &mut Vec<EdgeId>,
    ) {
        let number = self.record.inputs.len();
        let planned =
            self.plan.inputs.get(number).and_then(|value| branches.get(usize::try_from(*value).ok()?));
        if let Some(planned) = planned.copied() {
            edges.retain(|edge| *edge != planned);
            edges.insert(0, planned);
        }
        let Some(taken) = edges.iter().find_map(|edge| branches.iter().position(|taken| taken == edge))
        else {
            return;
        };
        let step = (template, branches[taken]);
        let (ty, kind) = (IntType::U8, ChoiceKind::Any);
        let input = Input { value: taken as Value, ty, kind, step, number: self.steps.len() };
        self.record.inputs.push(input);
        let code = &self.guide.model.machine.program.templates[template];
        let here = self.guide.distance(&self.state, thread, code.edges[branches[taken]].target);
        let is_new = self.record.conditions.len() >= self.plan.settled;
        let others =
            branches.iter().enumerate().filter(|(other, edge)| *other != taken && missed.contains(edge));
        for (other, edge) in others {
            let often = self.misses.entry((template, *edge)).or_default();
            *often += 1;
            if !is_new || *often > MOST_MISSED_OF_ONE || self.missed.len() >= MOST_MISSED {
                continue;
            }
            let distance = self.guide.distance(&self.state, thread, code.edges[*edge].target);
            self.missed.push(Missed {
                step: (template, *edge),
                condition: Shadow::is(number as InputNumber, other as Value),
                conditions: self.record.conditions.len(),
                inputs: number + 1,
                distance,
                is_closer: distance < here,
            });
        }
        self.record.conditions.push(Shadow::is(number as InputNumber, taken as Value));
        *self.taken.entry((step, None)).or_default() += 1;
    }

    /// Whether the condition that a step begins with holds, if there is one.
    fn is_enabled(&self, thread: ThreadIndex, code: &Template, edge: EdgeId) -> bool {
        match code.edges[edge].ops.first() {
            Some(Op::Assume(condition)) => {
                self.guide.model.machine.peek(&self.state, thread, condition).is_ok_and(|value| value != 0)
            }
            _ => true,
        }
    }

    /// Lets a thread take a step, one of several.
    fn take(&mut self, thread: ThreadIndex, step: Step, all: &[EdgeId]) -> Stepped {
        let machine = &self.guide.model.machine;
        let code = &machine.program.templates[step.0];
        let ops = &code.edges[step.1].ops;
        let condition = match ops.first() {
            Some(Op::Assume(condition)) => Some(condition),
            _ => None,
        };
        if let Some(condition) = condition.filter(|condition| !reads(condition)) {
            match machine.peek(&self.state, thread, condition) {
                Ok(0) => return Stepped::Waits,
                Ok(_) => {}
                Err(_) => return Stepped::End,
            }
        }
        // A step that may block in the middle is tried on a copy.
        let before = may_stop(ops).then(|| self.state.clone());
        let view = View { machine, state: &self.state, thread };
        let first = self.record.inputs.len() as InputNumber;
        if let Some(condition) = condition
            && self.missed.len() < MOST_MISSED
            && self.record.conditions.len() < MOST_CONDITIONS
        {
            let shadow = self.shadows.of(view, condition, &mut { first });
            if let Some(shadow) = shadow {
                let here = self.guide.distance(&self.state, thread, code.edges[step.1].target);
                let is_new = self.record.conditions.len() >= self.plan.settled;
                for &other in all.iter().filter(|other| is_new && **other != step.1) {
                    let often = self.misses.entry((step.0, other)).or_default();
                    *often += 1;
                    if *often > MOST_MISSED_OF_ONE {
                        continue;
                    }
                    let Some(Op::Assume(missed)) = code.edges[other].ops.first() else { continue };
                    let distance = self.guide.distance(&self.state, thread, code.edges[other].target);
                    let condition =
                        self.shadows.of(view, missed, &mut { first }).or_else(|| Shadow::negated(&shadow));
                    self.missed.extend(condition.map(|condition| Missed {
                        step: (step.0, other),
                        condition,
                        conditions: self.record.conditions.len(),
                        inputs: self.record.inputs.len(),
                        distance,
                        is_closer: distance < here,
                    }));
                }
                self.record.conditions.push(shadow);
                let activations = &self.state.threads[thread].activations;
                let caller = activations.iter().rev().nth(1).map(|caller| caller.location);
                *self.taken.entry((step, caller)).or_default() += 1;
            }
        }
        let random = self.random.below(usize::MAX);
        let number = self.steps.len();
        for attempt in 0..MOST_ATTEMPTS {
            let ordering = Ordering::before(machine, &self.state, thread, ops);
            let mut feeder = Feeder {
                model: self.guide.model,
                plan: self.plan,
                step,
                number,
                before: self.asked.get(&step).copied().unwrap_or(0),
                given: first as usize,
                attempt,
                random,
                made: Vec::new(),
                asked: 0,
            };
            self.log.clear();
            if before.is_none() {
                let mut next = first;
                let view = View { machine, state: &self.state, thread };
                ops.iter().for_each(|op| self.shadows.see(view, op, &mut next));
            }
            match machine.advance(&mut self.state, thread, step.1, &mut feeder, &mut self.log) {
                Ok(()) => {}
                Err(Stuck::Blocked) => {
                    if let Some(before) = &before {
                        self.state = before.clone();
                    }
                    // Another value may do.
                    if feeder.made.is_empty() {
                        return Stepped::Waits;
                    }
                    continue;
                }
                Err(Stuck::Fault(_) | Stuck::Limit(_)) => {
                    if let Some(before) = before {
                        self.state = before;
                    }
                    return Stepped::End;
                }
            }
            if let Some(before) = &before {
                let mut next = first;
                let view = View { machine, state: before, thread };
                ops.iter().for_each(|op| self.shadows.see(view, op, &mut next));
            }
            if !feeder.made.is_empty() {
                *self.asked.entry(step).or_default() += 1;
            }
            let choices = feeder.made.iter().map(|input| input.value).collect();
            self.record.inputs.append(&mut feeder.made);
            self.record.conditions.append(&mut self.shadows.imposed);
            self.steps.push(TraceStep { thread, edge: step.1, choices });
            self.shadows.arrive(View { machine, state: &self.state, thread });
            let (state, watched) = (&self.state, self.guide.watched);
            self.observer.after(machine, state, (thread, step, number), ordering, &self.log, watched);
            return Stepped::Yes;
        }
        Stepped::Waits
    }
}

/// Whether a step leaves the result of a comparison of addresses open: there is an exact one beside it.
fn is_open_comparison(code: &Template, edge: EdgeId) -> bool {
    match code.edges[edge].ops.as_slice() {
        [Op::Assign(Assignment { pairs, constraint: None })] => match pairs.as_slice() {
            [(Lhs::Local(local), Rhs::Unknown)] => code.locals[*local].ty == IntType::BOOL,
            _ => false,
        },
        _ => false,
    }
}

/// Whether a step lets a signal arrive.
pub(super) fn is_signal(code: &Template, edge: EdgeId) -> bool {
    mark(code, edge) == Some(ir::names::SIGNAL)
}

/// Whether a step takes a value that is not modelled.
fn is_unmodelled(code: &Template, edge: EdgeId) -> bool {
    code.edges[edge].ops.iter().any(|op| match op {
        Op::Assign(Assignment { pairs, .. }) => pairs.iter().any(|(_, rhs)| matches!(rhs, Rhs::Unknown)),
        _ => false,
    })
}

/// The name of the mark that a step leaves: after it, the execution is no evidence.
fn mark(code: &Template, edge: EdgeId) -> Option<&str> {
    code.edges[edge].ops.iter().find_map(|op| match op {
        Op::Assign(Assignment { pairs, constraint: Some(_) }) => match pairs.as_slice() {
            [(Lhs::Local(local), Rhs::Unknown)] if code.locals[*local].ty == IntType::BOOL => {
                Some(code.locals[*local].name.as_str())
            }
            _ => None,
        },
        _ => None,
    })
}

/// Whether an expression reads memory.
fn reads(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
    found
}

/// Whether a step may block or fail after it has changed something.
fn may_stop(ops: &[Op]) -> bool {
    match ops {
        [] => false,
        [Op::Assume(condition)] => reads(condition),
        [Op::Assign(assignment)] => assignment.constraint.is_some(),
        // The result is stored last, and its place may be no memory.
        [Op::Spawn(_, _, Some(Lhs::Memory(_))) | Op::Allocate { result: Lhs::Memory(_), .. }] => true,
        [
            Op::Lock(..)
            | Op::Unlock(..)
            | Op::Spawn(..)
            | Op::Join(..)
            | Op::Allocate { .. }
            | Op::Free(_)
            | Op::Fill(..)
            | Op::Copy(..)
            | Op::Call(..),
        ] => false,
        [Op::Broadcast(_)] | [_, _, ..] => true,
    }
}

impl Record {
    /// The inputs that are not modelled and on which the execution depends, in order, each step once.
    pub(super) fn unmodelled(&self, model: &Model<'_>, until: usize) -> Vec<(usize, Unmodelled)> {
        let decisive: FxHashSet<InputNumber> =
            self.conditions.iter().flat_map(|condition| &condition.inputs).copied().collect();
        let named = self.unmodelled_where(model, until, |number| decisive.contains(&number));
        // Dependencies of addresses and sizes are not tracked: so each value may matter.
        if named.is_empty() { self.unmodelled_where(model, until, |_| true) } else { named }
    }

    fn unmodelled_where(
        &self,
        model: &Model<'_>,
        until: usize,
        matters: impl Fn(InputNumber) -> bool,
    ) -> Vec<(usize, Unmodelled)> {
        let mut found: Vec<(usize, Unmodelled)> = Vec::new();
        let inputs = self.inputs.iter().enumerate().take_while(|(_, input)| input.number <= until);
        for (number, input) in inputs.filter(|(_, input)| input.kind == ChoiceKind::Unknown) {
            let code = &model.machine.program.templates[input.step.0];
            let edge = &code.edges[input.step.1];
            let mark = mark(code, input.step.1).filter(|_| input.ty == IntType::BOOL);
            let what = match mark {
                Some(ir::names::SIGNAL) => Condition::Signal,
                Some(_) => Condition::Effects,
                None if matters(number as InputNumber) => Condition::Value(input.value),
                None => continue,
            };
            let one = Unmodelled { span: edge.span, what };
            // For several values at one place, the last one counts: the others led back there.
            let is_value = |what: Condition| matches!(what, Condition::Value(_));
            found.retain(|(_, known)| {
                *known != one && !(known.span == one.span && is_value(known.what) && is_value(what))
            });
            found.push((number, one));
        }
        found
    }
}
