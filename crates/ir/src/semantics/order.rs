//! Happens-before along one execution, by vector clocks.
//!
//! Two accesses need not be enabled at the same time to race: they race if neither happens before the other
//! (C11 5.1.2.4 p25). If all communication between threads orders their steps, both definitions find a race
//! in the same programs. They differ for atomic accesses that impose no order
//! ([`Program::unordered`](crate::Program)).
//!
//! Direction: orders more than C11. Any two operations on one lock, or on common bytes of an atomic cell, are
//! ordered, so accesses that are unordered here are also unordered in C11. An atomic region orders only by
//! its accesses: a program whose regions mean more has no unordered bytes.

use super::machine::{Machine, State, ThreadIndex};
use super::step::Access;
use crate::ids::EdgeId;
use crate::op::Op;
use crate::program::{Range, Storage};
use std::collections::BTreeMap;

/// A vector clock: the number of steps of each thread that happened before.
type Clock = Vec<u32>;

/// An access that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PastAccess {
    /// The thread that made it.
    pub thread: ThreadIndex,
    /// The edge.
    pub edge: EdgeId,
    /// The number of the step in the execution, from 0.
    pub step: usize,
    /// The access.
    pub access: Access,
    /// The thread's own time.
    time: u32,
}

/// The happens-before relation of the execution so far.
pub struct HappensBefore<'m, 'p> {
    machine: &'m Machine<'p>,
    clocks: Vec<Clock>,
    bytes: BTreeMap<u64, Clock>,
    past: Vec<PastAccess>,
    steps: usize,
    /// Whether an operation occurred whose synchronisation partners are not known: then no more races are
    /// reported.
    is_lost: bool,
}

fn join(clock: &mut Clock, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

impl<'m, 'p> HappensBefore<'m, 'p> {
    /// Nothing has happened yet.
    pub fn new(machine: &'m Machine<'p>, initial: &State) -> Self {
        let mut clocks = vec![Clock::new(); initial.threads.len()];
        for (thread, clock) in clocks.iter_mut().enumerate() {
            clock.resize(thread + 1, 0);
            clock[thread] = 1;
        }
        Self { machine, clocks, bytes: BTreeMap::new(), past: Vec::new(), steps: 0, is_lost: false }
    }

    /// Records that a thread has taken an edge and made these accesses.
    pub fn step(
        &mut self,
        before: &State,
        (thread, edge): (ThreadIndex, EdgeId),
        accesses: &[Access],
        after: &State,
    ) {
        let machine = self.machine;
        let Some((template, _)) = before.location(thread) else { return };
        let mut clock = std::mem::take(&mut self.clocks[thread]);
        let mut shared: Vec<u64> = Vec::new();
        for op in &machine.program.templates[template].edges[edge].ops {
            match op {
                Op::Lock(_, lock) | Op::Unlock(_, lock) => match machine.peek(before, thread, lock) {
                    Ok(address) => shared.push(address as u64),
                    Err(_) => self.is_lost = true,
                },
                Op::Join(joined, _) => {
                    let index = machine.peek(before, thread, joined).ok();
                    let index = index.and_then(|id| usize::try_from(id - 1).ok());
                    match index.filter(|index| *index < self.clocks.len() && *index != thread) {
                        Some(index) => join(&mut clock, &self.clocks[index]),
                        None => self.is_lost = true,
                    }
                }
                Op::Broadcast(_) => self.is_lost = true,
                Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Allocate { .. } | Op::Free(_) => {}
                Op::Fill(..) | Op::Copy(..) | Op::Call(..) => {}
            }
        }
        let ordering = accesses.iter().filter(|access| access.atomic && !self.is_unordered(access));
        shared.extend(ordering.flat_map(|access| access.address..access.address + access.size));
        for byte in &shared {
            if let Some(known) = self.bytes.get(byte) {
                join(&mut clock, known);
            }
        }
        let time = clock[thread];
        for access in accesses {
            self.past.push(PastAccess { thread, edge, step: self.steps, access: *access, time });
        }
        for byte in shared {
            join(self.bytes.entry(byte).or_default(), &clock);
        }
        for started in before.threads.len()..after.threads.len() {
            let mut own = clock.clone();
            own.resize(own.len().max(started + 1), 0);
            own[started] = 1;
            self.clocks.push(own);
        }
        clock[thread] += 1;
        self.clocks[thread] = clock;
        self.steps += 1;
    }

    fn is_unordered(&self, access: &Access) -> bool {
        let holds = |range: &Range| {
            let start = self.machine.addresses.offset[range.object] + range.offset;
            start <= access.address && access.address + access.size <= start + range.size
        };
        self.machine.program.unordered.iter().any(holds)
    }

    /// An earlier access that races with one that a thread makes next: neither happens before the other. For
    /// static objects only, since other objects may have been freed and reused in between.
    pub fn race(&self, state: &State, thread: ThreadIndex, access: &Access) -> Option<PastAccess> {
        let machine = self.machine;
        let (object, _) = machine.describe(state, access.address)?;
        let is_static = machine.program.objects[object].storage == Storage::Static;
        if self.is_lost || access.atomic || !is_static || machine.is_atomic(state, thread) {
            return None;
        }
        let known = |other: ThreadIndex| self.clocks[thread].get(other).copied().unwrap_or(0);
        let mut past = self.past.iter().copied();
        past.find(|earlier| {
            earlier.thread != thread
                && earlier.time > known(earlier.thread)
                && machine.is_race(state, &earlier.access, access)
                && machine.is_valid(state, access.address, access.size)
        })
    }
}
