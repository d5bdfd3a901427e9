//! Random executions of a program on the machine, under many kinds of schedules.
//!
//! An execution has a kind of schedule (all steps random; threads that keep running, and are rarely
//! interrupted; priorities with a few changes, after PCT of Burckhardt and others, ASPLOS 2010) and a kind of
//! inputs ([`Taste`]). All choices derive from the number of the execution, so the same program has the same
//! executions. Costs are counted in steps.

use super::random::{Given, Random, Taste, Values};
use ir::semantics::{Machine, State, Stuck, ThreadIndex};
use ir::{
    Count, Edge, EdgeId, Expr, Initial, IntType, LocationId, Op, Program, Storage, TemplateId, UnaryOp,
};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use verdict::{Budget, Trace, TraceStep, Violation};

/// A state that an execution is in.
pub struct Moment<'a, 'p> {
    /// The machine.
    pub machine: &'a Machine<'p>,
    /// The state.
    pub state: &'a State,
    /// Where each thread is; for one that has ended, where it ended.
    pub places: &'a [(TemplateId, LocationId)],
    /// The number of steps so far.
    pub step: usize,
    /// The thread that took the last step.
    pub mover: Option<ThreadIndex>,
}

/// A violation in a state.
pub struct Outside {
    /// The claim that does not hold in it.
    pub claim: String,
    /// The violation of the property, if it is one.
    pub violation: Option<Violation>,
}

/// Observes each state of executions.
pub trait Watch {
    /// The violation in a state, if there is one.
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside>;
    /// The cost of an observation, in steps.
    fn price(&self, threads: usize) -> u64;
}

/// An execution to a state with a violation.
pub struct ViolatingWalk {
    /// The violation.
    pub outside: Outside,
    /// The execution, if it violates a property.
    pub trace: Option<Trace>,
    /// Whether it uses a value that is not modelled.
    pub unknown: bool,
    /// Which threads took steps at which lines.
    pub path: String,
}

/// Limits on the effort.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The most executions.
    pub executions: u64,
    /// The most steps, all together. Steps that copy much memory count more.
    pub steps: u64,
}

/// The longest execution, as a fraction of all steps: for most executions, and for every eighth.
const LONGEST_PARTS: [u64; 2] = [64, 8];
/// Stop after this many executions in a row without a new combination of locations.
const PATIENCE: u64 = 200;
/// The number of bytes that can be copied in the time of a step.
const BYTES_OF_A_STEP: u64 = 1024;
/// The most threads of each start template that allows any number.
const MOST_COPIES: usize = 3;
/// The most turns that are reported of an execution.
const MOST_TURNS: usize = 60;

/// What is known of a program before it runs.
struct Runs<'m, 'p> {
    machine: &'m Machine<'p>,
    values: Values,
    /// Whether memory may be read before it was set.
    has_open: bool,
}

/// One execution.
struct Execution<'r, 'm, 'p> {
    runs: &'r Runs<'m, 'p>,
    random: Random,
    taste: Taste,
    schedule: Schedule,
    state: State,
    places: Vec<(TemplateId, LocationId)>,
    steps: Vec<TraceStep>,
    spans: Vec<(ThreadIndex, u32)>,
    copies: Vec<u32>,
    unknown: bool,
    /// Whether there was any choice: of a schedule, a branch, or a value.
    is_open: bool,
}

/// Which thread runs next.
struct Schedule {
    kind: ScheduleKind,
    /// The thread that took the last step.
    current: ThreadIndex,
    /// The number of steps that it took in a row.
    run: u64,
    /// After this many it yields to others.
    patience: u64,
    /// Priorities by thread; the highest runs first. New threads get theirs when they are first seen.
    priorities: Vec<usize>,
}

enum ScheduleKind {
    /// The current thread keeps running with this probability, in 32nds.
    Random(usize),
    /// By priorities; after these numbers of steps the current thread gets the lowest one.
    Priorities(Vec<usize>),
    /// No preemptions; the newest, or the oldest, thread runs first.
    Newest(bool),
}

impl Schedule {
    fn new(number: u64, length: usize, random: &mut Random) -> Self {
        let kind = match number % 8 {
            0 => ScheduleKind::Newest(false),
            1 => ScheduleKind::Newest(true),
            2 => ScheduleKind::Random(0),
            3 => ScheduleKind::Random(24),
            4 => ScheduleKind::Random(30),
            changes => {
                let changes = changes as usize - 5 + random.below(2);
                ScheduleKind::Priorities((0..changes).map(|_| random.below(length)).collect())
            }
        };
        let patience = 30 + random.below(400) as u64;
        Self { kind, current: 0, run: 0, patience, priorities: Vec::new() }
    }

    /// Sorts threads by who should move first.
    fn order(&mut self, threads: &mut [ThreadIndex], step: usize, random: &mut Random) {
        let tired = self.run > self.patience;
        match &self.kind {
            ScheduleKind::Random(stay) => {
                let first = match threads.iter().position(|thread| *thread == self.current) {
                    Some(at) if !tired && random.below(32) < *stay => at,
                    Some(_) | None => random.below(threads.len()),
                };
                threads.rotate_left(first);
                if threads.len() > 2 && random.below(2) == 0 {
                    threads[1..].reverse();
                }
            }
            ScheduleKind::Priorities(changes) => {
                while self.priorities.len() <= threads.iter().copied().max().unwrap_or(0) {
                    self.priorities.push(1_000_000 + random.below(1_000_000));
                }
                if (tired || changes.contains(&step))
                    && let Some(lowest) = self.priorities.iter().min().copied()
                    && let Some(own) = self.priorities.get_mut(self.current)
                {
                    *own = lowest.saturating_sub(1);
                }
                threads.sort_by_key(|thread| std::cmp::Reverse(self.priorities[*thread]));
            }
            ScheduleKind::Newest(newest) => {
                if *newest {
                    threads.reverse();
                }
                if let Some(at) = threads.iter().position(|thread| *thread == self.current) {
                    threads[..=at].rotate_right(1);
                    if tired {
                        threads.rotate_left(1);
                    }
                }
            }
        }
    }

    fn moved(&mut self, thread: ThreadIndex) {
        self.run = if thread == self.current && self.run <= self.patience { self.run + 1 } else { 0 };
        self.current = thread;
    }
}

/// Whether an operation that blocks has changed nothing.
fn is_whole(op: &Op) -> bool {
    match op {
        Op::Assign(assignment) => assignment.pairs.len() == 1 && assignment.constraint.is_none(),
        Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => true,
        Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } | Op::Call(..) | Op::Broadcast(_) => false,
    }
}

/// Whether exactly one of two edges can be taken, wherever both start.
fn are_opposite(one: &Edge, other: &Edge) -> bool {
    let (Some(Op::Assume(one)), Some(Op::Assume(other))) = (one.ops.first(), other.ops.first()) else {
        return false;
    };
    let negates = |not: &Expr, plain: &Expr| matches!(not, Expr::Unary(UnaryOp::Not, IntType::BOOL, inner) if **inner == *plain);
    negates(one, other) || negates(other, one)
}

impl<'r, 'm, 'p> Execution<'r, 'm, 'p> {
    fn new(runs: &'r Runs<'m, 'p>, number: u64, length: usize) -> Option<Self> {
        let mut random = Random::new(number);
        let taste = match (number + number / 8) % 4 {
            0 => Taste::Any,
            1 => Taste::Small,
            2 => Taste::Constant,
            _ => Taste::Zero,
        };
        let program = runs.machine.program;
        let copies = |(_, count): &(TemplateId, Count)| match count {
            Count::Exactly(copies) => *copies,
            Count::Any => random.below(MOST_COPIES + 1) as u32,
        };
        let copies: Vec<u32> = program.start.iter().map(copies).collect();
        let state = runs.machine.initial(&copies).ok()?;
        let is_open = program.start.iter().any(|(_, count)| *count == Count::Any);
        let schedule = Schedule::new(number, length, &mut random);
        let (steps, spans, places) = (Vec::new(), Vec::new(), Vec::new());
        let mut execution = Self {
            runs,
            random,
            taste,
            schedule,
            state,
            places,
            steps,
            spans,
            copies,
            unknown: false,
            is_open,
        };
        execution.see_started();
        Some(execution)
    }

    /// Records threads that were started.
    fn see_started(&mut self) {
        for thread in self.places.len()..self.state.threads.len() {
            let template = self.state.threads[thread].template;
            let entry = (template, self.runs.machine.program.templates[template].entry);
            self.places.push(self.state.location(thread).unwrap_or(entry));
        }
    }

    /// Takes a step, and returns its cost; `None` when no thread can move.
    fn step(&mut self) -> Option<u64> {
        let machine = self.runs.machine;
        let mut threads = machine.schedulable(&self.state);
        if threads.is_empty() {
            return None;
        }
        self.is_open |= threads.len() > 1;
        self.schedule.order(&mut threads, self.steps.len(), &mut self.random);
        let mut cost = 0;
        for thread in threads {
            let Some((template, _)) = self.state.location(thread) else { continue };
            let edges = machine.edges(&self.state, thread);
            let code = &machine.program.templates[template].edges;
            match edges {
                [] | [_] => {}
                [one, other] => self.is_open |= !are_opposite(&code[*one], &code[*other]),
                [_, _, _, ..] => self.is_open = true,
            }
            let first = self.random.below(edges.len());
            for index in 0..edges.len() {
                let edge = edges[(first + index) % edges.len()];
                cost += self.price(&code[edge]);
                match self.take(thread, edge) {
                    Ok(()) => {
                        self.arrive(thread, (template, edge));
                        return Some(cost);
                    }
                    Err(Stuck::Limit(_)) => return None,
                    Err(Stuck::Blocked | Stuck::Fault(_)) => {}
                }
            }
        }
        None
    }

    /// Whether an edge that cannot be taken leaves the state as it was.
    fn is_undone(&self, edge: &Edge) -> bool {
        !self.runs.has_open && edge.ops.len() == 1 && edge.ops.iter().all(is_whole)
    }

    fn price(&self, edge: &Edge) -> u64 {
        let copied = if self.is_undone(edge) { 0 } else { self.state.statics.held() as u64 };
        1 + copied / BYTES_OF_A_STEP
    }

    /// Takes an edge, or leaves the state as it is.
    fn take(&mut self, thread: ThreadIndex, edge: EdgeId) -> Result<(), Stuck> {
        let machine = self.runs.machine;
        let Some((template, _)) = self.state.location(thread) else { return Err(Stuck::Blocked) };
        let what = &machine.program.templates[template].edges[edge];
        let before = (!self.is_undone(what)).then(|| self.state.clone());
        let mut given = Given {
            values: &self.runs.values,
            taste: self.taste,
            random: &mut self.random,
            chosen: Vec::new(),
            unknown: false,
        };
        let result = machine.advance(&mut self.state, thread, edge, &mut given, &mut Vec::new());
        let Given { chosen, unknown, .. } = given;
        self.is_open |= !chosen.is_empty();
        match result {
            Ok(()) => {
                self.unknown |= unknown;
                self.spans.push((thread, what.span.line));
                self.steps.push(TraceStep { thread, edge, choices: chosen });
                Ok(())
            }
            Err(stuck) => {
                if let Some(before) = before {
                    self.state = before;
                }
                Err(stuck)
            }
        }
    }

    fn arrive(&mut self, thread: ThreadIndex, (template, edge): (TemplateId, EdgeId)) {
        let target = self.runs.machine.program.templates[template].edges[edge].target;
        self.places[thread] = self.state.location(thread).unwrap_or((template, target));
        self.see_started();
        self.schedule.moved(thread);
    }

    /// A hash of the combination of locations.
    fn combination(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.places.hash(&mut hasher);
        hasher.finish()
    }

    /// The turns of threads, with the lines of their steps.
    fn path(&self) -> String {
        let mut turns: Vec<(ThreadIndex, Vec<u32>)> = Vec::new();
        for (thread, line) in self.spans.iter().filter(|(_, line)| *line > 0) {
            match turns.last_mut() {
                Some((last, lines)) if last == thread => {
                    if lines.last() != Some(line) {
                        lines.push(*line);
                    }
                }
                Some(_) | None => turns.push((*thread, vec![*line])),
            }
        }
        let left_out = turns.len().saturating_sub(MOST_TURNS);
        let turn = |(thread, lines): &(ThreadIndex, Vec<u32>)| {
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            format!("thread {thread} at {}", lines.join(" "))
        };
        let mut text: Vec<String> = turns[left_out..].iter().map(turn).collect();
        if left_out > 0 {
            text.insert(0, "…".to_owned());
        }
        text.join(", ")
    }

    fn found(self, outside: Outside) -> ViolatingWalk {
        let path = self.path();
        let Self { steps, copies, unknown, .. } = self;
        let trace = outside.violation.clone().map(|violation| Trace { copies, steps, violation });
        ViolatingWalk { outside, trace, unknown, path }
    }
}

/// Whether memory may be read before it was set.
fn has_open(program: &Program) -> bool {
    let unknown =
        |object: &ir::Object| matches!(object.initial, Initial::Unknown) && object.storage != Storage::Site;
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    program.objects.iter().any(unknown) || ops.any(|op| matches!(op, Op::Allocate { zeroed: false, .. }))
}

/// Runs a program repeatedly until the observer finds a violation. Stops at the limits of the effort and of
/// the budget.
pub fn walk(
    program: &Program,
    effort: Effort,
    budget: &Budget,
    watch: &mut dyn Watch,
) -> Option<ViolatingWalk> {
    let machine = Machine::new(program).ok()?;
    let values = Values::new(program, &machine.addresses);
    let runs = Runs { machine: &machine, values, has_open: has_open(program) };
    let mut left = effort.steps;
    let mut combinations: FxHashSet<u64> = FxHashSet::default();
    let (mut last_new, mut length) = (0, 16);
    for number in 0..effort.executions {
        let mut execution = Execution::new(&runs, number, length)?;
        let part = LONGEST_PARTS[usize::from(number % 8 == number / 8 % 8)];
        let mut own = left.min(effort.steps / part);
        left -= own;
        // The first state is the same in all of them.
        own = own.saturating_sub(1 + execution.state.statics.held() as u64 / BYTES_OF_A_STEP);
        loop {
            if !execution.state.halted {
                let (state, places, step) = (&execution.state, &execution.places, execution.steps.len());
                let mover = execution.steps.last().map(|step| step.thread);
                let moment = Moment { machine: &machine, state, places, step, mover };
                if let Some(outside) = watch.look(&moment) {
                    return Some(execution.found(outside));
                }
            }
            if combinations.insert(execution.combination()) {
                last_new = number;
            }
            if execution.steps.len().is_multiple_of(64) && budget.check(0).is_err() {
                return None;
            }
            let Some(cost) = execution.step() else { break };
            let cost = cost + watch.price(execution.state.threads.len());
            match own.checked_sub(cost) {
                Some(rest) => own = rest,
                None => {
                    own = 0;
                    break;
                }
            }
        }
        left += own;
        length = length.max(execution.steps.len());
        if !execution.is_open || left == 0 || number > last_new + PATIENCE {
            break;
        }
    }
    None
}
