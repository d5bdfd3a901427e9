//! Runs a trace, step by step, on the step semantics. Accepts it only if it ends in the violation that it
//! claims, every step can be taken as given, and it does not depend on values that are not modelled.

use crate::describe::{Change, local_changes, memory_changes, name_of, value_at};
use crate::stuck::are_stuck;
use ir::semantics::{
    Access, Choice, ChoiceKind, Choices, HappensBefore, Leak, LimitKind, Machine, State, Stuck, ThreadIndex,
    WaitedFor,
};
use ir::{
    Count, EdgeId, ErrorKind, LocationKind, ObjectId, ObjectRole, Program, SharedObject, Span, TemplateId,
    Value,
};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use verdict::{Property, Trace, TraceStep, Violation};

/// A trace that was run, with all that a report needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// All threads, in the order of creation.
    pub threads: Vec<ReplayedThread>,
    /// What each step of the trace did.
    pub steps: Vec<ReplayedStep>,
    /// What is wrong at the end.
    pub violation: ReplayedViolation,
}

/// A thread of a replayed trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedThread {
    /// Its template.
    pub template: TemplateId,
    /// The name of the template.
    pub name: String,
    /// The thread that created it, and by which step; `None` for threads that run from the start.
    pub created_by: Option<(ThreadIndex, usize)>,
}

/// What one step did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedStep {
    /// The thread that took it.
    pub thread: ThreadIndex,
    /// The template or procedure that the thread was in.
    pub procedure: TemplateId,
    /// The edge.
    pub edge: EdgeId,
    /// Its position in the source.
    pub span: Span,
    /// The memory that it touched.
    pub accesses: Vec<NamedAccess>,
    /// The memory cells that it changed.
    pub memory: Vec<Change>,
    /// The local variables that it changed.
    pub locals: Vec<Change>,
    /// The values that were chosen for it.
    pub choices: Vec<Value>,
    /// The names of allocated memory that it gave back.
    pub freed: Vec<String>,
    /// The thread that it created.
    pub created: Option<ThreadIndex>,
    /// What the thread waits for after it, if it can do nothing else.
    pub waits: Option<ReplayedWait>,
}

/// An access to a cell with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedAccess {
    /// The thread.
    pub thread: ThreadIndex,
    /// The edge, in the procedure that the thread is in.
    pub edge: EdgeId,
    /// The position in the source.
    pub span: Span,
    /// The bytes.
    pub access: Access,
    /// Their name, if they are in a live object.
    pub name: Option<String>,
    /// The value that a read saw; `None` for a write, for anything but a scalar, and for an access that is
    /// still to come.
    pub value: Option<Value>,
}

/// What is wrong at the end of a replayed trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayedViolation {
    /// A thread is at an error location.
    Error {
        /// Who.
        thread: ThreadIndex,
        /// The kind of error.
        kind: ErrorKind,
        /// The source line of the last step of that thread.
        span: Span,
    },
    /// Two accesses race.
    Race {
        /// The name of the memory that both touch.
        name: String,
        /// Where it is declared.
        declared: Span,
        /// The object of the first byte that both touch, and the offset there.
        cell: (ObjectId, u64),
        /// The accesses.
        accesses: Box<[NamedAccess; 2]>,
    },
    /// Threads wait for ever.
    Deadlock(Vec<ReplayedWait>),
    /// The program has ended, and allocated memory is lost or left.
    Leak(ReplayedLeak),
}

/// Allocated memory that a program has lost or left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedLeak {
    /// What is wrong with it.
    pub leak: Leak,
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// The thread that allocated it.
    pub thread: ThreadIndex,
    /// Where it was allocated.
    pub allocated: Span,
    /// The last thread that took a step.
    pub last: ThreadIndex,
    /// Where the program ends.
    pub end: Span,
}

/// A thread that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedWait {
    /// Who.
    pub thread: ThreadIndex,
    /// Where in the source.
    pub span: Span,
    /// What it waits for.
    pub target: WaitTarget,
}

/// What a thread waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WaitTarget {
    /// A lock.
    Lock {
        /// Its name.
        name: String,
        /// The thread that holds it, if known.
        owner: Option<ThreadIndex>,
    },
    /// The end of a thread.
    Thread(ThreadIndex),
    /// An object that no thread owns, with its name.
    Shared(SharedObject, Option<String>),
}

/// Why a trace is no evidence. Steps count from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayError {
    /// The program cannot be run at all.
    Limit(LimitKind),
    /// The numbers of copies are not those that the program starts with.
    Copies,
    /// The thread does not exist, has ended, or cannot run now.
    NotSchedulable(usize),
    /// The edge does not start where the thread is.
    WrongEdge(usize),
    /// The edge cannot be taken.
    Stuck(usize, Stuck),
    /// A chosen value is missing, superfluous, or out of its type's range.
    Choices(usize),
    /// The trace depends on a value that is not modelled; this step is the first to choose one.
    Approximate(usize),
    /// The last state does not violate the property in the way that the trace claims.
    NoViolation,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => write!(f, "the program cannot be run: limit on {limit:?}"),
            Self::Copies => f.write_str("the program does not start with these copies"),
            Self::NotSchedulable(step) => write!(f, "step {step}: the thread may not run"),
            Self::WrongEdge(step) => write!(f, "step {step}: the edge does not start where the thread is"),
            Self::Stuck(step, stuck) => write!(f, "step {step}: the edge cannot be taken: {stuck:?}"),
            Self::Choices(step) => write!(f, "step {step}: the chosen values do not fit"),
            Self::Approximate(step) => write!(f, "step {step}: rests on a value that is not modelled"),
            Self::NoViolation => f.write_str("the last state is not bad in the way that the trace claims"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Supplies the values of a trace, and detects when they do not match.
struct Given<'a> {
    values: std::slice::Iter<'a, Value>,
    unfit: bool,
    approximate: bool,
}

impl Choices for Given<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        self.approximate |= choice.kind == ChoiceKind::Unknown;
        match self.values.next() {
            Some(value) if choice.ty.contains(*value) => *value,
            Some(_) | None => {
                self.unfit = true;
                0
            }
        }
    }
}

/// Runs a trace and checks that it violates the property as it claims.
pub fn replay(program: &Program, property: &Property, trace: &Trace) -> Result<Replayed, ReplayError> {
    let machine = Machine::new(program).map_err(ReplayError::Limit)?;
    let fits = program.start.len() == trace.copies.len()
        && program.start.iter().zip(&trace.copies).all(|((_, count), copies)| match count {
            Count::Exactly(exact) => exact == copies,
            Count::Any => true,
        });
    if !fits {
        return Err(ReplayError::Copies);
    }
    let mut state = machine.initial(&trace.copies).map_err(ReplayError::Limit)?;
    let named = |template: TemplateId, created_by| {
        let name = program.templates[template].name.clone();
        ReplayedThread { template, name, created_by }
    };
    let mut threads: Vec<ReplayedThread> =
        state.threads.iter().map(|thread| named(thread.template, None)).collect();
    let mut steps = Vec::new();
    // The thread in an atomic region. Only the moving thread, and one that it starts, can enter or leave; the
    // others, which may be thousands, are not checked again.
    let mut atomic: BTreeSet<ThreadIndex> =
        (0..state.threads.len()).filter(|thread| machine.is_atomic(&state, *thread)).collect();
    let mut order = HappensBefore::new(&machine, &state);
    let mut approximate: Option<usize> = None;
    // The state after the step, which shares with the one before what the step does not change.
    let mut next = state.clone();
    for (index, step) in trace.steps.iter().enumerate() {
        let alone = atomic.first().copied();
        let (replayed, chooses) = replay_step(&machine, (&state, &mut next), alone, index, step)?;
        if chooses {
            approximate.get_or_insert(index);
        }
        let started = state.threads.len()..next.threads.len();
        for changed in started.chain([step.thread]) {
            if machine.is_atomic(&next, changed) {
                atomic.insert(changed);
            } else {
                atomic.remove(&changed);
            }
        }
        if let Some(created) = replayed.created {
            threads.push(named(next.threads[created].template, Some((step.thread, index))));
        }
        if !program.unordered.is_empty() {
            let accesses: Vec<Access> = replayed.accesses.iter().map(|named| named.access).collect();
            order.step(&state, (step.thread, step.edge), &accesses, &next);
        }
        steps.push(replayed);
        catch_up(&mut state, &next);
    }
    let violation = violation(&machine, &state, property, &trace.violation, &steps)
        .or_else(|| match (property, &trace.violation) {
            (Property::NoRace, Violation::Race(pair)) => late_race(&machine, &state, pair, &order, &steps),
            _ => None,
        })
        .ok_or(ReplayError::NoViolation)?;
    if verdict::has_unmodelled_values(program) && !trace.is_certain(&machine) {
        return Err(ReplayError::Approximate(approximate.unwrap_or(trace.steps.len().saturating_sub(1))));
    }
    Ok(Replayed { threads, steps, violation })
}

/// Makes a state the same as the one after it. Replaces only what differs: there may be thousands of threads.
fn catch_up(state: &mut State, next: &State) {
    let State { statics, threads, heap, halted } = state;
    if !Arc::ptr_eq(statics, &next.statics) {
        *statics = next.statics.clone();
    }
    replace_changed(threads, &next.threads);
    replace_changed(heap, &next.heap);
    *halted = next.halted;
}

fn replace_changed<T>(old: &mut Vec<Arc<T>>, new: &[Arc<T>]) {
    old.truncate(new.len());
    for (old, new) in old.iter_mut().zip(new) {
        if !Arc::ptr_eq(old, new) {
            *old = new.clone();
        }
    }
    old.extend_from_slice(&new[old.len()..]);
}

fn replay_step(
    machine: &Machine<'_>,
    (state, next): (&State, &mut State),
    atomic: Option<ThreadIndex>,
    index: usize,
    step: &TraceStep,
) -> Result<(ReplayedStep, bool), ReplayError> {
    let TraceStep { thread, edge, choices } = step;
    let alive = state.threads.get(*thread).is_some_and(|thread| !thread.activations.is_empty());
    if state.halted || !alive || atomic.is_some_and(|alone| alone != *thread) {
        return Err(ReplayError::NotSchedulable(index));
    }
    if !machine.edges(state, *thread).contains(edge) {
        return Err(ReplayError::WrongEdge(index));
    }
    let (procedure, _) = state.location(*thread).ok_or(ReplayError::NotSchedulable(index))?;
    let span = machine.program.templates[procedure].edges[*edge].span;
    let mut given = Given { values: choices.iter(), unfit: false, approximate: false };
    let mut log = Vec::new();
    let taken = machine.advance(next, *thread, *edge, &mut given, &mut log);
    if given.unfit || given.values.next().is_some() {
        return Err(ReplayError::Choices(index));
    }
    taken.map_err(|stuck| ReplayError::Stuck(index, stuck))?;
    let next = &*next;
    let name = |access: &Access| {
        let found =
            name_of(machine, state, access.address).or_else(|| name_of(machine, next, access.address));
        found.map(|(_, name)| name)
    };
    let overwritten = |read: &Access| {
        let end = |access: &Access| access.address.saturating_add(access.size);
        let overlaps = |other: &&Access| other.address < end(read) && read.address < end(other);
        log.iter().filter(|access| access.write).any(|access| overlaps(&access))
    };
    let value = |access: &Access| match access.write {
        true => None,
        false if overwritten(access) => value_at(machine, state, access),
        // Uninitialised memory gets a value when it is first read.
        false => value_at(machine, next, access),
    };
    let named = |access: &Access| NamedAccess {
        thread: *thread,
        edge: *edge,
        span,
        access: *access,
        name: name(access),
        value: value(access),
    };
    let accesses = log.iter().map(named).collect();
    let replayed = ReplayedStep {
        thread: *thread,
        procedure,
        edge: *edge,
        span,
        accesses,
        memory: memory_changes(machine, state, next),
        locals: local_changes(machine.program, state, next, *thread),
        choices: choices.clone(),
        freed: freed(machine, state, next),
        created: (next.threads.len() > state.threads.len()).then_some(state.threads.len()),
        waits: wait_of(machine, next, *thread),
    };
    Ok((replayed, given.approximate))
}

/// The allocated memory of one state that is not there in the next.
fn freed(machine: &Machine<'_>, before: &State, after: &State) -> Vec<String> {
    if before.heap.len() <= after.heap.len() {
        return Vec::new();
    }
    let is_there = |address| after.heap.binary_search_by_key(&address, |block| block.address).is_ok();
    let sites = before.heap.iter().filter(|block| !is_there(block.address)).map(|block| block.site);
    let objects = sites.map(|site| &machine.program.objects[site]);
    objects.filter(|object| object.role == ObjectRole::Allocated).map(|object| object.name.clone()).collect()
}

/// The violation in a state, if it is the claimed one.
fn violation(
    machine: &Machine<'_>,
    state: &State,
    property: &Property,
    claimed: &Violation,
    steps: &[ReplayedStep],
) -> Option<ReplayedViolation> {
    match (property, claimed) {
        (Property::NoError(kinds), Violation::Error { thread, kind }) => {
            let (template, location) = (*thread < state.threads.len()).then(|| state.location(*thread))??;
            let at = machine.program.templates[template].locations[location].kind;
            if at != LocationKind::Error(*kind) || !kinds.contains(kind) {
                return None;
            }
            let last = steps.iter().rev().find(|step| step.thread == *thread);
            let span = last.map_or(machine.program.templates[template].span, |step| step.span);
            Some(ReplayedViolation::Error { thread: *thread, kind: *kind, span })
        }
        (Property::NoRace, Violation::Race(pair)) => race(machine, state, pair),
        (Property::NoDeadlock, Violation::Deadlock(cycle)) => deadlock(machine, state, cycle),
        (Property::NoLeak(leak), Violation::Leak) => replayed_leak(machine, state, *leak, steps),
        (Property::NoError(_) | Property::NoRace | Property::NoDeadlock | Property::NoLeak(_), _) => None,
    }
}

/// The allocated memory that a program has lost or left, if it has ended.
fn replayed_leak(
    machine: &Machine<'_>,
    state: &State,
    leak: Leak,
    steps: &[ReplayedStep],
) -> Option<ReplayedViolation> {
    let block = &state.heap[machine.leak(state, leak)?];
    let site = &machine.program.objects[block.site];
    let last = steps.last()?;
    let located = steps.iter().rev().find(|step| step.span.line > 0 && step.thread == last.thread);
    Some(ReplayedViolation::Leak(ReplayedLeak {
        leak,
        name: site.name.clone(),
        size: block.bytes.len() as u64,
        thread: machine.addresses.heap_at(block.address).map_or(last.thread, |(thread, _)| thread),
        allocated: site.span,
        last: last.thread,
        end: located.unwrap_or(last).span,
    }))
}

/// The accesses of one thread by one edge, in the current state.
fn accesses_by(
    machine: &Machine<'_>,
    state: &State,
    thread: ThreadIndex,
    edge: EdgeId,
) -> Option<Vec<NamedAccess>> {
    if thread >= state.threads.len() || !machine.edges(state, thread).contains(&edge) {
        return None;
    }
    let (template, _) = state.location(thread)?;
    let span = machine.program.templates[template].edges[edge].span;
    let accesses = machine.racing_accesses(state, thread, edge).into_iter();
    let valid = accesses.filter(|access| machine.is_valid(state, access.address, access.size));
    let named = valid.map(|access| {
        let name = name_of(machine, state, access.address).map(|(_, name)| name);
        NamedAccess { thread, edge, span, access, name, value: None }
    });
    Some(named.collect())
}

fn race(
    machine: &Machine<'_>,
    state: &State,
    pair: &[(ThreadIndex, EdgeId); 2],
) -> Option<ReplayedViolation> {
    let [(first, first_edge), (second, second_edge)] = *pair;
    if first == second || state.halted {
        return None;
    }
    let left = accesses_by(machine, state, first, first_edge)?;
    let right = accesses_by(machine, state, second, second_edge)?;
    let collision = left.iter().find_map(|one| {
        right
            .iter()
            .find(|other| machine.is_race(state, &one.access, &other.access))
            .map(|other| (one, other))
    });
    let (one, other) = collision?;
    collision_of(machine, state, [one.clone(), other.clone()])
}

/// A race of the next access of a thread with an earlier one that does not happen before it.
fn late_race(
    machine: &Machine<'_>,
    state: &State,
    [(first, first_edge), (second, second_edge)]: &[(ThreadIndex, EdgeId); 2],
    order: &HappensBefore<'_, '_>,
    steps: &[ReplayedStep],
) -> Option<ReplayedViolation> {
    if first == second || state.halted || machine.program.unordered.is_empty() {
        return None;
    }
    accesses_by(machine, state, *second, *second_edge)?.into_iter().find_map(|other| {
        let earlier = order.race(state, *second, &other.access)?;
        if (earlier.thread, earlier.edge) != (*first, *first_edge) {
            return None;
        }
        let one = steps[earlier.step].accesses.iter().find(|named| named.access == earlier.access)?.clone();
        collision_of(machine, state, [one, other])
    })
}

/// Two accesses that race, with the memory that both touch.
fn collision_of(
    machine: &Machine<'_>,
    state: &State,
    accesses: [NamedAccess; 2],
) -> Option<ReplayedViolation> {
    let shared = accesses[0].access.address.max(accesses[1].access.address);
    let (object, name) = name_of(machine, state, shared)?;
    let cell = machine.describe(state, shared)?;
    let declared = machine.program.objects[object].span;
    Some(ReplayedViolation::Race { name, declared, cell, accesses: Box::new(accesses) })
}

/// Threads that wait for ever: each for one of them, or because all executions from here show it.
fn deadlock(machine: &Machine<'_>, state: &State, threads: &[ThreadIndex]) -> Option<ReplayedViolation> {
    let mut waits = Vec::new();
    let mut is_closed = true;
    for (at, &thread) in threads.iter().enumerate() {
        if thread >= state.threads.len() || threads[..at].contains(&thread) {
            return None;
        }
        let wait = machine.waits(state, thread)?;
        is_closed &= wait.owner().is_some_and(|owner| threads.contains(&owner));
        waits.push(wait_of(machine, state, thread)?);
    }
    let holds = !waits.is_empty() && !state.halted;
    (holds && (is_closed || are_stuck(machine, state, threads))).then_some(ReplayedViolation::Deadlock(waits))
}

/// What a thread waits for in a state, with names.
fn wait_of(machine: &Machine<'_>, state: &State, thread: ThreadIndex) -> Option<ReplayedWait> {
    let (template, _) = state.location(thread)?;
    let wait = machine.waits(state, thread)?;
    let span = machine.program.templates[template].edges[wait.edge].span;
    let named = |address| name_of(machine, state, address).map(|(_, name)| name);
    let target = match wait.what {
        WaitedFor::Lock { address, owner } => {
            let name = named(address).unwrap_or_else(|| "a lock".to_owned());
            WaitTarget::Lock { name: name.strip_suffix(".owner").unwrap_or(&name).to_owned(), owner }
        }
        WaitedFor::Thread(thread) => WaitTarget::Thread(thread),
        WaitedFor::Shared(object, address) => WaitTarget::Shared(object, address.and_then(named)),
    };
    Some(ReplayedWait { thread, span, target })
}
