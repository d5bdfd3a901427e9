//! What threads wait for, and whether they wait for ever.
//!
//! A thread *waits* if the only edge of its location acquires a lock that is not available, or joins a thread
//! that has not ended; or if it is at a location of [`Waiting::For`] and none of its edges can be taken. A
//! thread that is blocked anywhere else (by a failed assumption or undefined behaviour) belongs to no
//! execution: there are no claims about such states.
//!
//! A *deadlock* is a state with a set of threads that wait, each for something that only threads of the set,
//! or threads that have ended, could provide. There are two definitions:
//!
//! 1. [`Machine::deadlock`] considers the state alone. A *cycle*: each thread waits for a lock that the next
//!    one holds, or for the next one to end. (Only its owner may release a lock.) Or a *full stop*: all
//!    threads that have not ended wait.
//! 2. [`StateGraph`] considers all continuations, without steps that arrive at [`Waiting::Spurious`]: a
//!    spurious wake-up may lead to a deadlock, but no thread may rely on one. The threads that wait in a
//!    state, and take no step on any path from it, are *stuck* there, if no path ends the program. A finite
//!    graph has such a state if and only if it has a strongly connected component that no path leaves (a
//!    *bottom*) in which some thread that has not ended takes no step, and in which the program has not
//!    ended: from each state a bottom can be reached, and stuck threads stay stuck. Of the stuck threads,
//!    only those count that do not wait for a thread that takes steps: the greatest set such that each waits
//!    for a lock whose owner has ended or is in the set, for a thread in the set to end, or for an object
//!    that no thread owns. So joining a thread that runs for ever is no deadlock.
//!
//! Undecided ([`Fate::Undecided`]) are: a lock that a thread which runs for ever never releases, or may never
//! release (the holders of a lock for reading, and the thread that runs a once function, are not known); and
//! a thread that waits in an atomic region, where no other thread may run.

use super::machine::{Machine, State, ThreadIndex};
use super::step::RECURSIVE;
use crate::components::components;
use crate::expr::Expr;
use crate::ids::{EdgeId, Id};
use crate::op::{Callee, LockKind, Op};
use crate::program::{Program, SharedObject, Span, Waiting};
use crate::types::{IntType, Value};

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum WaitedFor {
    /// A lock. The owner is not known if readers hold a read-write lock, or if its words are corrupted.
    Lock {
        /// Its address.
        address: u64,
        /// The thread that holds it.
        owner: Option<ThreadIndex>,
    },
    /// The end of a thread.
    Thread(ThreadIndex),
    /// An object that no thread owns, with its address, if known.
    Shared(SharedObject, Option<u64>),
}

/// What a thread waits for, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Wait {
    /// The edge that waits; one of them, if there are several.
    pub edge: EdgeId,
    /// What it waits for.
    pub what: WaitedFor,
}

impl Wait {
    /// The thread that has to release a lock, or to end.
    pub fn owner(&self) -> Option<ThreadIndex> {
        match self.what {
            WaitedFor::Lock { owner, .. } => owner,
            WaitedFor::Thread(thread) => Some(thread),
            WaitedFor::Shared(..) => None,
        }
    }
    /// The lock, if it is one.
    pub fn lock(&self) -> Option<u64> {
        match self.what {
            WaitedFor::Lock { address, .. } => Some(address),
            WaitedFor::Thread(_) | WaitedFor::Shared(..) => None,
        }
    }
}

impl Machine<'_> {
    /// Threads that wait for ever, if the state alone shows it: a cycle, or all that have not ended.
    pub fn deadlock(&self, state: &State) -> Option<Vec<(ThreadIndex, Wait)>> {
        if state.halted {
            return None;
        }
        let waits: Vec<Option<Wait>> =
            (0..state.threads.len()).map(|index| self.waits(state, index)).collect();
        for first in 0..waits.len() {
            let mut cycle: Vec<(ThreadIndex, Wait)> = Vec::new();
            let mut at = first;
            while let Some(wait) = waits[at] {
                if let Some(start) = cycle.iter().position(|(thread, _)| *thread == at) {
                    return Some(cycle.split_off(start));
                }
                cycle.push((at, wait));
                match wait.owner() {
                    Some(owner) => at = owner,
                    None => break,
                }
            }
        }
        let live: Vec<ThreadIndex> = live(state).collect();
        let all: Vec<(ThreadIndex, Wait)> =
            live.iter().filter_map(|thread| Some((*thread, waits[*thread]?))).collect();
        let alone = live.iter().any(|thread| self.is_atomic(state, *thread));
        (!all.is_empty() && all.len() == live.len() && !alone).then_some(all)
    }

    /// What a thread waits for, if it can do nothing else.
    pub fn waits(&self, state: &State, thread: ThreadIndex) -> Option<Wait> {
        let edges = self.edges(state, thread);
        let (template, location) = state.location(thread)?;
        let code = &self.program.templates[template];
        if let Waiting::For(object) = code.locations[location].waiting {
            return self.waits_for(state, thread, edges, object);
        }
        let [edge] = edges else { return None };
        let edge = *edge;
        let (kind, address) = match code.edges[edge].ops.first()? {
            Op::Lock(kind, address) => (kind, address),
            Op::Join(joined, _) => {
                let owner = usize::try_from(self.peek(state, thread, joined).ok()? - 1).ok()?;
                let is_live = !state.threads.get(owner)?.activations.is_empty();
                let is_live = is_live && !self.is_made_up(thread, owner);
                return is_live.then_some(Wait { edge, what: WaitedFor::Thread(owner) });
            }
            _ => return None,
        };
        let address = self.peek(state, thread, address).ok()? as u64;
        let word = |offset| self.peek_memory(state, address + offset, IntType::U32);
        let owner = word(0)?;
        let me = thread as Value + 1;
        let is_free = match kind {
            LockKind::Mutex if owner == me => {
                word(super::mutex_kind_offset(self.program.data_model))? == RECURSIVE
            }
            LockKind::Mutex | LockKind::Spin | LockKind::Read => owner == 0,
            LockKind::Write => owner == 0 && word(4)? == 0,
        };
        let owner = usize::try_from(owner - 1).ok().filter(|owner| *owner < state.threads.len());
        (!is_free).then_some(Wait { edge, what: WaitedFor::Lock { address, owner } })
    }

    fn waits_for(
        &self,
        state: &State,
        thread: ThreadIndex,
        edges: &[EdgeId],
        object: SharedObject,
    ) -> Option<Wait> {
        let (template, _) = state.location(thread)?;
        let mut address = None;
        for edge in edges {
            let Op::Assume(condition) = self.program.templates[template].edges[*edge].ops.first()? else {
                return None;
            };
            if self.peek(state, thread, condition).ok()? != 0 {
                return None;
            }
            condition.walk(&mut |inner| {
                if let Expr::Load(place) = inner
                    && address.is_none()
                {
                    address = self.peek(state, thread, &place.address).ok().map(|address| address as u64);
                }
            });
        }
        Some(Wait { edge: *edges.first()?, what: WaitedFor::Shared(object, address) })
    }

    /// Whether a thread is at a location that it reached by a spurious wake-up.
    pub fn woke_for_no_reason(&self, state: &State, thread: ThreadIndex) -> bool {
        state.location(thread).is_some_and(|(template, location)| {
            self.program.templates[template].locations[location].waiting == Waiting::Spurious
        })
    }
}

fn live(state: &State) -> impl Iterator<Item = ThreadIndex> + use<'_> {
    (0..state.threads.len()).filter(|thread| !state.threads[*thread].activations.is_empty())
}

/// Whether a move certainly exists, and threads may rely on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sureness {
    /// It exists.
    Sure,
    /// A value that is not modelled was chosen on it.
    Unmodelled,
    /// It contains a spurious wake-up.
    Spurious,
}

/// A summary of some steps in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trail {
    /// A bit for each thread that took one.
    pub threads: u64,
    /// Their status.
    pub sureness: Sureness,
}

impl Default for Trail {
    /// No steps.
    fn default() -> Self {
        Self { threads: 0, sureness: Sureness::Sure }
    }
}

impl Trail {
    /// Adds one more step of a thread, which led to this state. `unmodelled`: it chose a value that is not
    /// modelled.
    #[must_use]
    pub fn then(self, machine: &Machine<'_>, state: &State, thread: ThreadIndex, unmodelled: bool) -> Self {
        let sureness = match self.sureness {
            Sureness::Spurious => Sureness::Spurious,
            Sureness::Sure | Sureness::Unmodelled if machine.woke_for_no_reason(state, thread) => {
                Sureness::Spurious
            }
            Sureness::Sure if unmodelled => Sureness::Unmodelled,
            Sureness::Sure | Sureness::Unmodelled => self.sureness,
        };
        Self { threads: self.threads | bit(thread), sureness }
    }
}

/// The bit of a thread. Graphs with more threads than there are bits are not decided.
fn bit(thread: ThreadIndex) -> u64 {
    1u64.checked_shl(thread as u32).unwrap_or(0)
}

/// One or several steps from one state of a graph to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The source.
    pub from: u32,
    /// The target.
    pub to: u32,
    /// The thread that took the first step.
    pub by: u16,
    /// All steps.
    pub trail: Trail,
}

/// The fate of the threads of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// No thread is ever stuck.
    Free,
    /// These threads are stuck in this state.
    Stuck(u32, Vec<ThreadIndex>),
    /// Not known, for this reason.
    Undecided(String),
}

/// All states of a program, or representatives of them, and the moves between them.
pub struct StateGraph<'a> {
    /// The number of states.
    pub states: u32,
    /// All moves.
    pub moves: &'a [Move],
    /// States from which not all moves are known, rising.
    pub open: &'a [u32],
}

/// Threads that have bits.
const MOST_THREADS: usize = 64;

impl StateGraph<'_> {
    /// The fate of the threads. `state`: returns the state with a number, and whether it depends on a value
    /// that is not modelled.
    ///
    /// [`Fate::Free`] is only right if no state is open.
    pub fn fate(&self, machine: &Machine<'_>, state: &mut dyn FnMut(u32) -> (State, bool)) -> Fate {
        let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); self.states as usize];
        let mut unmodelled = false;
        for (index, one) in self.moves.iter().enumerate() {
            unmodelled |= one.trail.sureness == Sureness::Unmodelled;
            if one.trail.sureness != Sureness::Spurious {
                outgoing[one.from as usize].push(index as u32);
            }
        }
        let components = components(self.states, |node| {
            outgoing[node as usize].iter().map(|index| self.moves[*index as usize].to)
        });
        let mut undecided: Option<String> = None;
        for (number, component) in components.members.iter().enumerate() {
            let inside = |node: &u32| components.of[*node as usize] == number as u32;
            let mut moved = 0;
            let mut is_bottom = true;
            for one in component.iter().flat_map(|node| &outgoing[*node as usize]) {
                let one = &self.moves[*one as usize];
                is_bottom &= inside(&one.to);
                moved |= one.trail.threads;
            }
            if !is_bottom || component.iter().any(|node| self.open.binary_search(node).is_ok()) {
                continue;
            }
            let Some(node) = component.first() else { continue };
            let (first, tainted) = state(*node);
            match stuck(machine, &first, moved) {
                Fate::Stuck(_, threads) if !tainted => return Fate::Stuck(*node, threads),
                Fate::Stuck(..) => {
                    let text = "threads wait for ever after a value that is not modelled".to_owned();
                    undecided.get_or_insert(text);
                }
                Fate::Undecided(text) => {
                    undecided.get_or_insert(text);
                }
                Fate::Free => {}
            }
        }
        if let Some(text) = undecided {
            return Fate::Undecided(text);
        }
        if unmodelled && !self.goes_on_whatever_values(machine, &outgoing, state) {
            let text = "whether a thread waits for ever depends on a value that is not modelled";
            return Fate::Undecided(text.to_owned());
        }
        Fate::Free
    }

    /// Whether each waiting thread can eventually take a step, or the program can end, for all values that
    /// are not modelled: if moves of a thread depend on such a value, all of them must lead there.
    fn goes_on_whatever_values(
        &self,
        machine: &Machine<'_>,
        outgoing: &[Vec<u32>],
        state: &mut dyn FnMut(u32) -> (State, bool),
    ) -> bool {
        let mut waiting: Vec<u64> = Vec::new();
        for node in 0..self.states {
            let (state, _) = state(node);
            if state.threads.len() > MOST_THREADS {
                return false;
            }
            let waits = |thread: &ThreadIndex| !state.halted && machine.waits(&state, *thread).is_some();
            waiting.push(live(&state).filter(waits).map(bit).fold(0, |all, bit| all | bit));
        }
        // At each state, the threads that are not yet known to be able to proceed.
        let mut grown = true;
        while grown {
            grown = false;
            for node in (0..self.states as usize).rev() {
                let before = waiting[node];
                let moves = || outgoing[node].iter().map(|index| &self.moves[*index as usize]);
                for one in moves() {
                    let after = waiting[one.to as usize] & !one.trail.threads;
                    let all: u64 = match one.trail.sureness {
                        Sureness::Sure => after,
                        Sureness::Unmodelled | Sureness::Spurious => moves()
                            .filter(|other| {
                                other.by == one.by && other.trail.sureness == Sureness::Unmodelled
                            })
                            .map(|other| waiting[other.to as usize] & !other.trail.threads)
                            .fold(0, |all, rest| all | rest),
                    };
                    waiting[node] &= all;
                }
                grown |= waiting[node] != before;
            }
        }
        waiting.iter().all(|threads| *threads == 0)
    }
}

/// The threads that are stuck in a state of a bottom, given the threads that take steps.
fn stuck(machine: &Machine<'_>, state: &State, moved: u64) -> Fate {
    if state.halted {
        return Fate::Free;
    }
    if state.threads.len() > MOST_THREADS {
        return Fate::Undecided(format!("more than {MOST_THREADS} threads are started"));
    }
    let moves = |thread: ThreadIndex| moved & bit(thread) != 0;
    let alone = (0..state.threads.len()).find(|thread| machine.is_atomic(state, *thread));
    if let Some(alone) = alone.filter(|thread| !moves(*thread)) {
        return match machine.waits(state, alone) {
            Some(_) => Fate::Undecided("a thread waits in an atomic region".to_owned()),
            None => Fate::Free,
        };
    }
    let mut set: Vec<(ThreadIndex, Wait)> = Vec::new();
    for thread in live(state).filter(|thread| !moves(*thread)) {
        // A thread that can neither move nor waits: no execution continues from here.
        let Some(wait) = machine.waits(state, thread) else { return Fate::Free };
        set.push((thread, wait));
    }
    let runners = || live(state).filter(|thread| moves(*thread));
    let mut undecided = None;
    loop {
        let members: Vec<ThreadIndex> = set.iter().map(|(thread, _)| *thread).collect();
        set.retain(|(_, wait)| {
            let counts =
                |owner: ThreadIndex| members.contains(&owner) || state.threads[owner].activations.is_empty();
            match wait.what {
                WaitedFor::Thread(owner) => counts(owner),
                WaitedFor::Lock { owner: Some(owner), .. } => {
                    if !counts(owner) {
                        undecided =
                            Some("a thread waits for ever for a lock that another, which runs on, keeps");
                    }
                    counts(owner)
                }
                WaitedFor::Lock { owner: None, .. } | WaitedFor::Shared(SharedObject::Once, _)
                    if runners().any(|thread| may_have(machine, state, thread, wait.what)) =>
                {
                    undecided =
                        Some("a thread waits for ever, while others run on that may be what it waits for");
                    false
                }
                WaitedFor::Lock { owner: None, .. } | WaitedFor::Shared(..) => true,
            }
        });
        if set.len() == members.len() {
            break;
        }
    }
    match (set.is_empty(), undecided) {
        (false, _) => Fate::Stuck(0, set.into_iter().map(|(thread, _)| thread).collect()),
        (true, Some(text)) => Fate::Undecided(text.to_owned()),
        (true, None) => Fate::Free,
    }
}

/// Whether a thread may hold a lock for reading, or run a once function: its code has such operations.
fn may_have(machine: &Machine<'_>, state: &State, thread: ThreadIndex, what: WaitedFor) -> bool {
    let program = machine.program;
    let mut reached = vec![false; program.templates.len()];
    let mut work = vec![state.threads[thread].template];
    while let Some(template) = work.pop() {
        if std::mem::replace(&mut reached[template.index()], true) {
            continue;
        }
        let code = &program.templates[template];
        for edge in &code.edges {
            let once = Waiting::For(SharedObject::Once);
            if code.locations[edge.source].waiting == once && matches!(what, WaitedFor::Shared(..)) {
                return true;
            }
            for op in &edge.ops {
                match op {
                    // Corrupted words may belong to any thread.
                    Op::Lock(..) if matches!(what, WaitedFor::Lock { .. }) => return true,
                    Op::Call(Callee::Procedure(callee), ..) => work.push(*callee),
                    Op::Call(Callee::Pointer(_), ..) => return true,
                    Op::Lock(..) | Op::Unlock(..) | Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) => {}
                    Op::Join(..) | Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
                    Op::Broadcast(_) => {}
                }
            }
        }
    }
    false
}

/// Where a thread may wait in an atomic region, in which no other thread may run. Such continuations are not
/// followed.
pub fn wait_in_atomic_region(program: &Program) -> Option<Span> {
    let mut atomic: Vec<bool> = vec![false; program.templates.len()];
    let mut grown = true;
    while grown {
        grown = false;
        for (template, code) in program.templates.enumerate() {
            let calls = code.edges.iter().flat_map(|edge| edge.ops.iter().map(move |op| (edge.source, op)));
            for (source, op) in calls.filter(|(_, op)| matches!(op, Op::Call(..))) {
                if !(atomic[template.index()] || code.locations[source].atomic) {
                    continue;
                }
                for callee in program.templates.ids() {
                    let may_be = matches!(op, Op::Call(Callee::Pointer(_), ..))
                        || matches!(op, Op::Call(Callee::Procedure(one), ..) if *one == callee);
                    grown |= may_be && !atomic[callee.index()];
                    atomic[callee.index()] |= may_be;
                }
            }
        }
    }
    program.templates.enumerate().find_map(|(template, code)| {
        let outgoing = code.outgoing();
        code.edges.iter().find_map(|edge| {
            let source = &code.locations[edge.source];
            let alone = atomic[template.index()] || source.atomic;
            let waits = match edge.ops.first() {
                Some(Op::Lock(..) | Op::Join(..)) => outgoing[edge.source].len() == 1,
                Some(_) | None => matches!(source.waiting, Waiting::For(_)),
            };
            (alone && waits).then_some(edge.span)
        })
    })
}
