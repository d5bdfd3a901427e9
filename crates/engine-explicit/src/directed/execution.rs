//! One execution towards two accesses: threads that arrive at one of them are held there until another one
//! arrives that collides with them (race-directed scheduling: Sen, "Race directed random testing of
//! concurrent programs", PLDI 2008).
//!
//! Deviations: 1. The other threads are not picked at random at each step: one runs until it has to wait, or
//! for a while. 2. Inputs are chosen, too, and it is noted how branches rest on them ([`super::shadow`]).
//!
//! Under-approximates: what it finds is an execution of the machine.

use super::distance::{Distances, NEVER, Step};
use super::shadow::{InputNumber, Shadow, Shadows, View};
use super::{Condition, Site, Unmodelled};
use crate::inputs::Candidates;
use crate::model::Model;
use crate::random::{Random, SEEDS};
use ir::semantics::{Access, Choice, ChoiceKind, Choices, State, Stuck, ThreadIndex};
use ir::{Assignment, EdgeId, Expr, IntType, Lhs, LocationId, Op, Range, Rhs, Template, TemplateId, Value};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use verdict::{Budget, Exhausted, Trace, TraceStep, Violation};

/// Values that are tried for an input until its constraint holds.
const MOST_ATTEMPTS: usize = 48;
/// Steps between two looks at the budget.
const INTERVAL: usize = 1 << 10;
/// Turns in which nobody arrives anywhere before a thread that is held may go on.
const PATIENCE: usize = 8;
/// Conditions on inputs, and branches that were missed, that are kept of one execution.
const MOST_CONDITIONS: usize = 6_000;
const MOST_MISSED: usize = 1_500;
/// What an input is at first, where there should be enough of everything.
const GENEROUS: [Value; 4] = [16, 6, 3, 1];

/// Which way a search leads.
pub(super) struct Guide<'a, 'p> {
    pub(super) model: &'a Model<'p>,
    /// The bytes that races are looked for on.
    pub(super) range: Range,
    /// The accesses to it.
    pub(super) sites: Vec<Site>,
    /// Where they are.
    pub(super) held_at: FxHashSet<(TemplateId, LocationId)>,
    /// Both accesses that are to meet: the kind of thread, and how far it is.
    pub(super) goals: [(TemplateId, Rc<Distances>); 2],
    /// How far it is to starts of these kinds of threads.
    pub(super) starts: [Rc<Distances>; 2],
}

/// How an execution is to go.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The values of its first inputs.
    pub(super) inputs: Vec<Value>,
    /// What inputs are after these.
    pub(super) habit: Habit,
    /// Decides about what is left to chance.
    pub(super) seed: u64,
}

/// What inputs are where nothing is known of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// Enough of everything: long texts, many arguments.
    Generous,
    /// As little as possible.
    Frugal,
    /// Anything.
    Random,
}

/// An input of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub(super) value: Value,
    pub(super) ty: IntType,
    pub(super) kind: ChoiceKind,
    /// The step that asked for it.
    pub(super) step: Step,
}

/// What is kept of an execution.
pub(super) struct Record {
    pub(super) inputs: Vec<Input>,
    /// What its inputs had to satisfy, in order.
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
    /// How far it is from there.
    pub(super) distance: u32,
    /// Whether that is closer than where the execution went.
    pub(super) is_closer: bool,
}

/// What came of an execution.
pub(super) struct Executed {
    pub(super) race: Option<Trace>,
    pub(super) record: Record,
    pub(super) missed: Vec<Missed>,
    /// How far both threads were at best.
    pub(super) distance: u32,
}

/// How a step went.
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
    distance: u32,
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

    /// How far a thread is from what it is to do, taken to be at a location of its innermost procedure.
    fn distance(&self, state: &State, thread: ThreadIndex, top: LocationId) -> u32 {
        let kind = state.threads[thread].template;
        let is_live = |other: ThreadIndex| !state.threads[other].activations.is_empty();
        let mut best = NEVER;
        for (side, (goal, to)) in self.goals.iter().enumerate() {
            let is_there = (0..state.threads.len())
                .any(|other| other != thread && is_live(other) && state.threads[other].template == *goal);
            // The other one has to be started first.
            if !is_there && self.goals[1 - side].0 == kind {
                let start = self.starts[side].of_thread(state, thread, top);
                if start != NEVER {
                    return start;
                }
            }
            if *goal == kind {
                best = best.min(to.of_thread(state, thread, top));
            }
        }
        if best != NEVER {
            return best;
        }
        self.starts.iter().map(|starts| starts.of_thread(state, thread, top)).min().unwrap_or(NEVER)
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
                    false => self.starts[side].of_thread(state, thread, top).saturating_add(1_000),
                };
                best = best.min(own);
            }
            best
        };
        of_goal(0).saturating_add(of_goal(1))
    }

    /// Two threads that are about to make accesses which collide, one of them this one.
    fn collision(&self, state: &State, thread: ThreadIndex) -> Option<Violation> {
        let machine = &self.model.machine;
        if state.halted || !self.is_site(state, thread) {
            return None;
        }
        let alone = (0..state.threads.len()).find(|other| machine.is_atomic(state, *other));
        let of = |thread: ThreadIndex| -> Vec<(EdgeId, Access)> {
            let edges = machine.edges(state, thread).iter();
            let accesses = edges.flat_map(|edge| {
                machine.racing_accesses(state, thread, *edge).into_iter().map(move |access| (*edge, access))
            });
            accesses.filter(|(_, access)| machine.is_valid(state, access.address, access.size)).collect()
        };
        let mine = of(thread);
        for other in (0..state.threads.len()).filter(|other| *other != thread) {
            if !self.is_site(state, other) || alone.is_some_and(|alone| alone != thread && alone != other) {
                continue;
            }
            for (edge, access) in of(other) {
                let collides = |(_, own): &&(EdgeId, Access)| {
                    own.races_with(&access) && self.is_meant(state, own, &access)
                };
                if let Some((own, _)) = mine.iter().find(collides) {
                    let mut pair = [(thread, *own), (other, edge)];
                    pair.sort_unstable();
                    return Some(Violation::Race(pair));
                }
            }
        }
        None
    }

    /// Whether two accesses overlap on the bytes that are meant.
    fn is_meant(&self, state: &State, one: &Access, other: &Access) -> bool {
        let first = one.address.max(other.address);
        let end = |access: &Access| access.address.saturating_add(access.size);
        let size = end(one).min(end(other)).saturating_sub(first);
        self.model.machine.describe(state, first).is_some_and(|(object, offset)| {
            object == self.range.object
                && self.range.offset < offset.saturating_add(size)
                && offset < self.range.offset.saturating_add(self.range.size)
        })
    }
}

impl<'g, 'a, 'p> Execution<'g, 'a, 'p> {
    /// Runs for so many steps at most.
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
            distance: NEVER,
            held: BTreeSet::new(),
            log: Vec::new(),
        };
        let violation = execution.schedule(most, budget)?;
        execution.note_distance();
        let Self { steps, record, missed, distance, .. } = execution;
        let race = violation.map(|violation| Trace { copies: copies.to_vec(), steps, violation });
        Ok(Some(Executed { race, record, missed, distance }))
    }

    fn note_distance(&mut self) {
        self.distance = self.distance.min(self.guide.distance_of_all(&self.state));
    }

    /// Lets threads run; gives a collision.
    fn schedule(&mut self, most: usize, budget: &Budget) -> Result<Option<Violation>, Exhausted> {
        let machine = &self.guide.model.machine;
        let policy = self.plan.seed % 4;
        let turn = [400, 3_000, 60, 20_000][(self.plan.seed / 4 % 4) as usize];
        // How seldom a thread is held.
        let seldom = [1, 1, 2, 8][(self.plan.seed / 16 % 4) as usize];
        let mut waiting: BTreeSet<ThreadIndex> = BTreeSet::new();
        let (mut current, mut taken, mut turns) = (0, 0, 0);
        while self.steps.len() < most && !self.state.halted {
            if self.steps.len().is_multiple_of(INTERVAL) {
                budget.spend(INTERVAL as u64);
                budget.check(0)?;
            }
            let alone = (0..self.state.threads.len()).find(|thread| machine.is_atomic(&self.state, *thread));
            let can_run = |thread: &ThreadIndex| {
                !self.state.threads[*thread].activations.is_empty()
                    && !waiting.contains(thread)
                    && !self.held.contains(thread)
            };
            let next = match alone {
                Some(alone) => Some(alone),
                None if taken < turn && current < self.state.threads.len() && can_run(&current) => {
                    Some(current)
                }
                None => {
                    turns += usize::from(taken >= turn);
                    taken = 0;
                    let able: Vec<ThreadIndex> = (0..self.state.threads.len()).filter(can_run).collect();
                    // Where nobody else can run, or nobody arrives anywhere, one that is held goes on.
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
                Stepped::End => return Ok(None),
            }
            if self.state.halted || self.state.threads[current].activations.is_empty() {
                continue;
            }
            if self.guide.is_site(&self.state, current) {
                if let Some(violation) = self.guide.collision(&self.state, current) {
                    return Ok(Some(violation));
                }
                if alone.is_none()
                    && !machine.is_atomic(&self.state, current)
                    && self.random.below(seldom) == 0
                {
                    self.held.insert(current);
                    turns = 0;
                    self.note_distance();
                }
            }
        }
        Ok(None)
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
        if edges.len() > 1 && edges.iter().filter(|edge| self.is_enabled(thread, code, **edge)).count() > 1 {
            // What leads there first, and what is modelled of two that do; sometimes anything.
            if self.random.below(8) > 0 {
                edges.sort_by_key(|edge| {
                    let target = code.edges[*edge].target;
                    let is_signal =
                        machine.outgoing[template][target].iter().any(|next| is_signal(code, *next));
                    (self.guide.distance(&self.state, thread, target), is_signal)
                });
            } else {
                let first = self.random.below(edges.len());
                edges.rotate_left(first);
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
        // What may stop in the middle is tried on a copy.
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
                for &other in all.iter().filter(|other| **other != step.1) {
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
            }
        }
        let random = self.random.below(usize::MAX);
        for attempt in 0..MOST_ATTEMPTS {
            let mut feeder = Feeder {
                model: self.guide.model,
                plan: self.plan,
                step,
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
                Err(Stuck::Fault(_) | Stuck::Limit(_)) => return Stepped::End,
            }
            if let Some(before) = &before {
                let mut next = first;
                let view = View { machine, state: before, thread };
                ops.iter().for_each(|op| self.shadows.see(view, op, &mut next));
            }
            let choices = feeder.made.iter().map(|input| input.value).collect();
            self.record.inputs.append(&mut feeder.made);
            self.record.conditions.append(&mut self.shadows.imposed);
            self.steps.push(TraceStep { thread, edge: step.1, choices });
            self.shadows.arrive(View { machine, state: &self.state, thread });
            return Stepped::Yes;
        }
        Stepped::Waits
    }
}

/// Whether a step lets a signal arrive.
fn is_signal(code: &Template, edge: EdgeId) -> bool {
    code.edges[edge].ops.iter().any(|op| match op {
        Op::Assign(Assignment { pairs, constraint: Some(_) }) => {
            matches!(pairs.as_slice(), [(Lhs::Local(local), Rhs::Unknown)] if code.locals[*local].name == ir::names::SIGNAL)
        }
        _ => false,
    })
}

/// Whether an expression reads memory.
fn reads(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
    found
}

/// Whether a step may stop after it has changed something.
fn may_stop(ops: &[Op]) -> bool {
    match ops {
        [] => false,
        [Op::Assume(condition)] => reads(condition),
        [Op::Assign(assignment)] => assignment.constraint.is_some(),
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

/// Gives inputs to a step: those of the plan, then what is usual.
struct Feeder<'f, 'p> {
    model: &'f Model<'p>,
    plan: &'f Plan,
    step: Step,
    /// How many inputs were given before.
    given: usize,
    /// How often the step was tried with other values.
    attempt: usize,
    random: usize,
    made: Vec<Input>,
    /// How many of them were asked for by name.
    asked: usize,
}

impl Feeder<'_, '_> {
    fn usual(&self, candidates: &Candidates, choice: Choice) -> Value {
        let count = candidates.values.len().max(1);
        let of = |number: usize| candidates.values.get(number % count).copied().unwrap_or(0);
        if choice.kind == ChoiceKind::Open && self.plan.habit != Habit::Random {
            return of(self.attempt);
        }
        match self.plan.habit {
            Habit::Frugal => of(self.attempt),
            Habit::Random => of((self.random >> (self.made.len() % 8)) + self.attempt),
            Habit::Generous if choice.ty.bits == 1 => of(self.attempt),
            Habit::Generous => match GENEROUS.get(self.attempt) {
                Some(value) if choice.ty.contains(*value) => *value,
                Some(_) => of(self.attempt),
                None => of(self.attempt - GENEROUS.len()),
            },
        }
    }
}

impl Choices for Feeder<'_, '_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let inputs = &self.model.facts.inputs;
        let reuse;
        let candidates = match choice.kind {
            ChoiceKind::Open => inputs.of_type(choice.ty),
            ChoiceKind::Reuse(count) => {
                reuse = Candidates::of_reuse(count);
                &reuse
            }
            ChoiceKind::Any | ChoiceKind::Unknown => {
                self.asked += 1;
                inputs.of_edge(self.step.0, self.step.1, self.asked - 1, choice.ty)
            }
        };
        let planned = self.plan.inputs.get(self.given + self.made.len()).copied();
        let planned = planned.filter(|value| self.attempt == 0 && choice.ty.contains(*value));
        let value = match (planned, choice.kind) {
            (Some(value), _) => value,
            // New memory, unless a plan says otherwise.
            (None, ChoiceKind::Reuse(_)) => 0,
            (None, _) => self.usual(candidates, choice),
        };
        self.made.push(Input { value, ty: choice.ty, kind: choice.kind, step: self.step });
        value
    }
}

impl Record {
    /// The values that are not modelled and that the execution rests on, in order, each step once.
    pub(super) fn unmodelled(&self, model: &Model<'_>) -> Vec<Unmodelled> {
        let decisive: FxHashSet<InputNumber> =
            self.conditions.iter().flat_map(|condition| &condition.inputs).copied().collect();
        let named = self.unmodelled_where(model, |number| decisive.contains(&number));
        // What an address or a size rests on is not followed: then each may matter.
        if named.is_empty() { self.unmodelled_where(model, |_| true) } else { named }
    }

    fn unmodelled_where(&self, model: &Model<'_>, matters: impl Fn(InputNumber) -> bool) -> Vec<Unmodelled> {
        let mut found: Vec<Unmodelled> = Vec::new();
        for (number, input) in self.inputs.iter().enumerate() {
            if input.kind != ChoiceKind::Unknown {
                continue;
            }
            let code = &model.machine.program.templates[input.step.0];
            let edge = &code.edges[input.step.1];
            let mark = edge.ops.iter().find_map(|op| match op {
                Op::Assign(Assignment { pairs, constraint: Some(_) }) if input.ty == IntType::BOOL => {
                    match pairs.as_slice() {
                        [(Lhs::Local(local), Rhs::Unknown)] => Some(code.locals[*local].name.as_str()),
                        _ => None,
                    }
                }
                _ => None,
            });
            let what = match mark {
                Some(ir::names::SIGNAL) => Condition::Signal,
                Some(_) => Condition::Effects,
                None if matters(number as InputNumber) => Condition::Value(input.value),
                None => continue,
            };
            let one = Unmodelled { span: edge.span, what };
            if !found.contains(&one) {
                found.push(one);
            }
        }
        found
    }
}
