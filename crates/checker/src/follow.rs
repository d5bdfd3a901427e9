//! Follows all executions, without storing the states between private steps ([`crate::proof`] has the
//! argument).

use crate::future::{Effect, Futures, Needed, effect};
use crate::inputs::Inputs;
use crate::proof::{Odometer, ProofError, refused};
use crate::stuck::Graph;
use ir::semantics::{Access, Block, Bytes, Machine, State, Stuck, Thread, ThreadIndex, Trail};
use ir::{Callee, Expr, IntType, LocationKind, ObjectId, Op, Program, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use verdict::{Budget, Exhausted, Property};

/// The most private steps in a row before a state is stored anyway.
const LONGEST: u32 = 20_000;
/// The most branches of private steps before states are stored anyway.
const BRANCHINGS: u32 = 64;

/// The states seen, each as the numbers of its parts.
#[derive(Default)]
struct SeenStates {
    statics: FxHashMap<Arc<Bytes>, u32>,
    threads: FxHashMap<Arc<Thread>, u32>,
    blocks: FxHashMap<Arc<Block>, u32>,
    states: FxHashMap<Box<[u32]>, u32>,
    bytes: u64,
}

impl SeenStates {
    /// Adds a state; returns its number, and whether it is new.
    fn add(&mut self, state: &State) -> (u32, bool) {
        let mut key = Vec::with_capacity(3 + state.threads.len() + state.heap.len());
        key.push(u32::from(state.halted));
        key.push(state.threads.len() as u32);
        key.push(number(&mut self.statics, &state.statics, state.statics.held(), &mut self.bytes));
        for thread in &state.threads {
            let size = 300
                + thread.stack.held()
                + thread.activations.iter().map(|a| 80 + 8 * a.locals.len()).sum::<usize>();
            key.push(number(&mut self.threads, thread, size, &mut self.bytes));
        }
        for block in &state.heap {
            key.push(number(&mut self.blocks, block, 150 + block.bytes.held(), &mut self.bytes));
        }
        let size = key.len() as u64 * 4 + 32;
        let fresh = self.states.len() as u32;
        let found = *self.states.entry(key.into()).or_insert(fresh);
        self.bytes += if found == fresh { size } else { 0 };
        (found, found == fresh)
    }
}

fn number<T: Eq + std::hash::Hash>(
    numbers: &mut FxHashMap<Arc<T>, u32>,
    item: &Arc<T>,
    size: usize,
    bytes: &mut u64,
) -> u32 {
    let fresh = numbers.len() as u32;
    match numbers.get(item) {
        Some(number) => *number,
        None => {
            *bytes += size as u64;
            numbers.insert(item.clone(), fresh);
            fresh
        }
    }
}

struct Follower<'a, 'p> {
    machine: Machine<'p>,
    property: &'a Property,
    inputs: Inputs,
    futures: Futures,
    needed: Needed,
    budget: &'a Budget,
    seen: SeenStates,
    graph: Graph,
    steps: u64,
}

/// How a state is reached from the last stored state: the number of that state and the thread that moved,
/// unless it is the start; and all steps.
#[derive(Clone, Copy)]
struct Path {
    from: Option<(u32, ThreadIndex)>,
    trail: Trail,
}

/// What the steps of one thread did.
#[derive(Default)]
struct Taken {
    /// The next states, and whether a value that is not modelled was chosen.
    next: Vec<(State, bool)>,
    accesses: Vec<Access>,
    /// Reading gave memory a value.
    opened: bool,
}

/// Follows all executions of a program.
pub(crate) fn follow_all(
    program: &Program,
    property: &Property,
    copies: &[u32],
    budget: &Budget,
) -> Result<(), ProofError> {
    let machine = Machine::new(program).map_err(ProofError::Limit)?;
    let futures = Futures::new(program).ok_or(ProofError::TooExpensive(Exhausted::Memory))?;
    let (inputs, needed) = (Inputs::new(program), Needed::new(program));
    let initial = machine.initial(copies).map_err(ProofError::Limit)?;
    let seen = SeenStates::default();
    let graph = Graph::new(property);
    let mut follower = Follower { machine, property, inputs, futures, needed, budget, seen, graph, steps: 0 };
    let mut open = Vec::new();
    follower.run_on(initial, Path { from: None, trail: Trail::default() }, &mut open)?;
    while let Some((number, state)) = open.pop() {
        for thread in follower.machine.schedulable(&state) {
            for (next, unmodelled) in follower.take(&state, thread)?.next {
                let trail = Trail::default().then(&follower.machine, &next, thread, unmodelled);
                follower.run_on(next, Path { from: Some((number, thread)), trail }, &mut open)?;
            }
        }
    }
    follower.graph.check(&follower.machine)
}

impl Follower<'_, '_> {
    /// Takes all steps of a thread.
    fn take(&mut self, state: &State, thread: ThreadIndex) -> Result<Taken, ProofError> {
        let mut taken = Taken::default();
        let Some((template, location)) = state.location(thread) else { return Ok(taken) };
        for &edge in self.machine.edges(state, thread) {
            let mut odometer = Odometer::new(&self.inputs, (template, edge));
            loop {
                self.steps += 1;
                if self.steps.is_multiple_of(512) {
                    self.budget
                        .check(self.seen.bytes + self.graph.bytes())
                        .map_err(ProofError::TooExpensive)?;
                }
                let mut next = state.clone();
                match self.machine.advance(&mut next, thread, edge, &mut odometer, &mut taken.accesses) {
                    Ok(()) => taken.next.push((next, odometer.unmodelled)),
                    Err(Stuck::Limit(limit)) => return Err(ProofError::Limit(limit)),
                    Err(Stuck::Blocked | Stuck::Fault(_)) => {}
                }
                if odometer.endless {
                    return Err(ProofError::Input(template, edge));
                }
                if !odometer.turn() {
                    break;
                }
            }
            taken.opened |= odometer.opened;
        }
        for edge in self.machine.edges(state, thread) {
            for op in &self.machine.program.templates[template].edges[*edge].ops {
                let (Op::Call(Callee::Pointer(pointer), ..) | Op::Spawn(Callee::Pointer(pointer), ..)) = op
                else {
                    continue;
                };
                let address = self.machine.peek(state, thread, pointer).ok();
                let entered = address.and_then(|address| self.machine.addresses.procedure_at(address as u64));
                if entered.is_some_and(|entered| !self.futures.procedures.contains(&entered)) {
                    return Err(ProofError::Unforeseen(None));
                }
            }
        }
        let expected = self.futures.at(template, location);
        let mut touched: Vec<(u64, bool)> =
            taken.accesses.iter().map(|access| (access.address, access.write)).collect();
        touched.extend(self.locks(state, thread).into_iter().flatten().map(|address| (address, true)));
        for (address, write) in touched {
            let foreseen = match self.machine.describe(state, address) {
                _ if self.is_own(state, address, thread) => true,
                Some((object, _)) => {
                    expected.has(effect(object, write)) || expected.has(effect(object, true))
                }
                None => self.is_lasting(address),
            };
            if !foreseen {
                return Err(ProofError::Unforeseen(None));
            }
        }
        Ok(taken)
    }

    /// Runs a state through private steps, and stores the results. Puts new states on `open`.
    fn run_on(&mut self, start: State, path: Path, open: &mut Vec<(u32, State)>) -> Result<(), ProofError> {
        let mut work = vec![(start, path.trail, 0)];
        let mut mark: Option<State> = None;
        let mut branchings = 0;
        while let Some((state, trail, length)) = work.pop() {
            let path = Path { trail, ..path };
            if length > 0 && mark.as_ref() == Some(&state) {
                self.store(state, path, open)?;
                continue;
            }
            if u32::is_power_of_two(length) && length >= 16 {
                mark = Some(state.clone());
            }
            let run_on = length < LONGEST && branchings < BRANCHINGS;
            let next = if run_on { self.private(&state)? } else { Vec::new() };
            branchings += u32::from(next.len() > 1);
            if next.is_empty() {
                self.store(state, path, open)?;
            }
            for (state, thread, unmodelled) in next {
                let trail = trail.then(&self.machine, &state, thread, unmodelled);
                work.push((state, trail, length + 1));
            }
        }
        Ok(())
    }

    fn store(
        &mut self,
        mut state: State,
        path: Path,
        open: &mut Vec<(u32, State)>,
    ) -> Result<(), ProofError> {
        self.forget(&mut state);
        let (number, new) = self.seen.add(&state);
        if let Some((from, thread)) = path.from {
            self.graph.add(from, number, thread, path.trail);
        }
        if new {
            if let Some(error) = refused(&self.machine, self.property, &state) {
                return Err(error);
            }
            self.graph.state(&state);
            open.push((number, state));
        }
        Ok(())
    }

    /// Sets locals that are not read again to 0.
    fn forget(&self, state: &mut State) {
        for thread in &mut state.threads {
            for at in 0..thread.activations.len() {
                let activation = &thread.activations[at];
                let needed = self.needed.at(activation.template, activation.location);
                if activation.locals.iter().zip(needed).any(|(value, needed)| *value != 0 && !needed) {
                    let activation = &mut Arc::make_mut(thread).activations[at];
                    for (value, needed) in activation.locals.iter_mut().zip(needed) {
                        *value *= u64::from(*needed);
                    }
                }
            }
        }
    }

    /// The states after the private steps of some thread, or of the only one that can run; none if there is
    /// no such thread.
    fn private(&mut self, state: &State) -> Result<Vec<(State, ThreadIndex, bool)>, ProofError> {
        let by = |thread: ThreadIndex, taken: Taken| {
            taken.next.into_iter().map(|(state, unmodelled)| (state, thread, unmodelled)).collect()
        };
        if state.halted {
            return Ok(Vec::new());
        }
        let count = state.threads.len();
        if let Some(thread) = (0..count).find(|thread| self.machine.is_atomic(state, *thread)) {
            if let Some(error) = refused(&self.machine, self.property, state) {
                return Err(error);
            }
            return Ok(by(thread, self.take(state, thread)?));
        }
        for thread in 0..count {
            if self.may_be_private(state, thread) {
                let taken = self.take(state, thread)?;
                if !taken.next.is_empty() && self.is_private(state, thread, &taken) {
                    return Ok(by(thread, taken));
                }
            }
        }
        Ok(Vec::new())
    }

    /// The conditions that need no execution of the steps: they enter no atomic region, and do not end the
    /// program.
    fn may_be_private(&self, state: &State, thread: ThreadIndex) -> bool {
        let program = self.machine.program;
        let Some((template, _)) = state.location(thread) else { return false };
        let edges = self.machine.edges(state, thread);
        !edges.is_empty()
            && edges.iter().all(|edge| {
                let edge = &program.templates[template].edges[*edge];
                let target = &program.templates[template].locations[edge.target];
                let enters_atomic = edge.ops.iter().any(|op| match op {
                    Op::Call(Callee::Procedure(callee), ..) | Op::Spawn(Callee::Procedure(callee), ..) => {
                        let entry = &program.templates[*callee].locations[program.templates[*callee].entry];
                        entry.atomic || entry.kind == LocationKind::Halt
                    }
                    Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..) => true,
                    _ => false,
                });
                !target.atomic && target.kind != LocationKind::Halt && !enters_atomic
            })
    }

    /// Whether an access of a thread at an address concerns no other thread: in its own stack, or where there
    /// is no object yet.
    fn is_own(&self, state: &State, address: u64, thread: ThreadIndex) -> bool {
        let addresses = &self.machine.addresses;
        let heap = addresses.heap(thread);
        match addresses.stack_at(address) {
            Some((owner, _)) => owner == thread,
            None => {
                let mine = (heap..heap + addresses.heap_limit(thread)).contains(&address);
                mine && self.machine.describe(state, address).is_none()
            }
        }
    }

    /// Whether an address is neither in a stack nor in the heap, so that no lifetime begins or ends there.
    fn is_lasting(&self, address: u64) -> bool {
        !self.machine.addresses.is_heap(address) && self.machine.addresses.stack_at(address).is_none()
    }

    /// The addresses of the locks that a thread's next steps acquire or release; `None` for an address that
    /// is not known.
    fn locks(&self, state: &State, thread: ThreadIndex) -> Vec<Option<u64>> {
        let Some((template, _)) = state.location(thread) else { return Vec::new() };
        let edges = self.machine.edges(state, thread).iter();
        let ops = edges.flat_map(|edge| &self.machine.program.templates[template].edges[*edge].ops);
        let locks = ops.filter_map(|op| match op {
            Op::Lock(_, address) | Op::Unlock(_, address) => {
                Some(self.machine.peek(state, thread, address).ok().map(|address| address as u64))
            }
            _ => None,
        });
        locks.collect()
    }

    /// Whether these steps are independent of all that other threads may do.
    fn is_private(&self, state: &State, thread: ThreadIndex, taken: &Taken) -> bool {
        let Some(effects) = self.effects(state, thread, taken) else { return false };
        (0..state.threads.len()).filter(|other| *other != thread).all(|other| {
            state.threads[other].activations.iter().all(|activation| {
                let future = self.futures.at(activation.template, activation.location);
                !effects.iter().any(|effect| {
                    future.conflicts_with(*effect)
                        && match effect {
                            Effect::Read(object) if self.is_locked(state, thread, *object) => {
                                future.conflicts_with(Effect::LooseRead(*object))
                            }
                            Effect::Write(object) if self.is_locked(state, thread, *object) => {
                                future.conflicts_with(Effect::LooseWrite(*object))
                            }
                            _ => true,
                        }
                })
            })
        })
    }

    /// Whether a thread holds the lock of an object, and no other can have that lock before the thread moves.
    fn is_locked(&self, state: &State, thread: ThreadIndex, object: ObjectId) -> bool {
        let locks = &self.futures.locks;
        let Some((number, (home, offset))) = locks.of(object) else { return false };
        let address = self.machine.addresses.offset[home] + offset;
        let owner = self.machine.peek_memory(state, address, IntType::U32);
        let cannot_have = |other: ThreadIndex| {
            state.threads[other].activations.iter().all(|activation| {
                let (template, location) = (activation.template, activation.location);
                let future = self.futures.at(template, location);
                locks.may_lack(number, template, location) && !future.has(Effect::LooseWrite(home))
            })
        };
        owner == Some(thread as Value + 1)
            && (0..state.threads.len()).all(|other| other == thread || cannot_have(other))
    }

    /// What a thread's next steps do that others may notice; `None` when that includes another thread's
    /// stack.
    fn effects(&self, state: &State, thread: ThreadIndex, taken: &Taken) -> Option<Vec<Effect>> {
        let program = self.machine.program;
        let (template, _) = state.location(thread)?;
        let mut effects = Vec::new();
        let mut touched: Vec<(u64, bool)> =
            taken.accesses.iter().map(|access| (access.address, access.write || taken.opened)).collect();
        for lock in self.locks(state, thread) {
            touched.push((lock?, true));
        }
        for (address, write) in touched {
            let (object, _) = self.machine.describe(state, address)?;
            if self.machine.addresses.stack_at(address).is_some_and(|(owner, _)| owner != thread) {
                return None;
            }
            effects.push(effect(object, write));
        }
        let ends = |template| self.futures.frames[template].iter().map(|object| Effect::Write(*object));
        for edge in self.machine.edges(state, thread) {
            let edge = &program.templates[template].edges[*edge];
            for op in &edge.ops {
                match op {
                    Op::Assume(_)
                    | Op::Assign(_)
                    | Op::Lock(..)
                    | Op::Unlock(..)
                    | Op::Fill(..)
                    | Op::Copy(..) => {}
                    // Programs with it were refused before.
                    Op::Broadcast(_) => return None,
                    Op::Join(..) => effects.push(Effect::Join),
                    Op::Free(_) => effects.push(Effect::ChangeLive),
                    Op::Allocate { site, .. } => effects.extend([Effect::Write(*site), Effect::ChangeLive]),
                    Op::Spawn(callee, ..) | Op::Call(callee, ..) => {
                        if matches!(op, Op::Spawn(..)) {
                            effects.push(Effect::Spawn);
                        }
                        let Callee::Procedure(callee) = callee else { return None };
                        effects.extend(ends(*callee));
                        if program.objects.iter().any(|object| object.storage == ir::Storage::Frame(*callee))
                        {
                            effects.push(Effect::ChangeLive);
                        }
                    }
                }
                for expr in op.expressions() {
                    self.questions(state, thread, expr, &mut effects)?;
                }
            }
            match program.templates[template].locations[edge.target].kind {
                LocationKind::End | LocationKind::Exit => {
                    // All activations, and the thread-local objects: more than ends, unless the thread does.
                    let activations = &state.threads[thread].activations;
                    effects.extend(activations.iter().flat_map(|activation| ends(activation.template)));
                    effects.extend(self.futures.thread_locals.iter().map(|object| Effect::Write(*object)));
                    if !state.threads[thread].stack.is_empty() {
                        effects.push(Effect::ChangeLive);
                    }
                }
                LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => {}
            }
        }
        Some(effects)
    }

    /// Tests of liveness of objects, in an expression.
    fn questions(
        &self,
        state: &State,
        thread: ThreadIndex,
        expr: &Expr,
        effects: &mut Vec<Effect>,
    ) -> Option<()> {
        let mut known = Some(());
        expr.walk(&mut |inner| {
            if let Expr::Valid(address, _) = inner {
                match self.machine.peek(state, thread, address) {
                    Ok(address) if self.is_lasting(address as u64) => {}
                    Ok(_) => effects.push(Effect::AskLive),
                    Err(_) => known = None,
                }
            }
        });
        known
    }
}
