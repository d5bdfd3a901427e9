//! The unordered accesses of an execution: vector clocks, and the last accesses to each watched word of
//! memory (Flanagan and Freund, "FastTrack", PLDI 2009). So one execution serves all locations.
//!
//! A heuristic: a suspect is run again with its first access held back ([`super::reorder`]).

use super::distance::Step;
use ir::semantics::{Access, Machine, State, ThreadIndex};
use ir::{ObjectId, Op, Range};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Suspects of one execution.
const MOST_SUSPECTS: usize = 64;
/// Words of one access that are looked at, and bytes of an atomic one.
const MOST_WORDS: u64 = 64;
const MOST_BYTES: u64 = 16;

/// The watched memory locations.
#[derive(Default)]
pub(super) struct Watched {
    by_object: BTreeMap<ObjectId, Vec<(usize, Range)>>,
    count: usize,
}

impl Watched {
    /// Adds a location, and gives its number.
    pub(super) fn add(&mut self, range: Range) -> usize {
        self.by_object.entry(range.object).or_default().push((self.count, range));
        self.count += 1;
        self.count - 1
    }

    /// Nothing more is wanted on a location.
    pub(super) fn remove(&mut self, number: usize) {
        for ranges in self.by_object.values_mut() {
            ranges.retain(|(other, _)| *other != number);
        }
    }

    /// The location that bytes belong to.
    fn at(&self, machine: &Machine<'_>, state: &State, access: &Access) -> Option<usize> {
        let (object, offset) = machine.describe(state, access.address)?;
        let overlaps = |(_, range): &&(usize, Range)| {
            range.offset < offset.saturating_add(access.size)
                && offset < range.offset.saturating_add(range.size)
        };
        self.by_object.get(&object)?.iter().find(overlaps).map(|(number, _)| *number)
    }
}

/// What a step does to order threads: the bytes that it synchronises by, and the thread that it waited for.
#[derive(Default)]
pub(super) struct Ordering {
    pub(super) bytes: Vec<u64>,
    pub(super) joined: Option<ThreadIndex>,
}

impl Ordering {
    /// That of a step that is about to be taken.
    pub(super) fn before(machine: &Machine<'_>, state: &State, thread: ThreadIndex, ops: &[Op]) -> Self {
        let mut found = Self::default();
        for op in ops {
            match op {
                Op::Lock(_, lock) | Op::Unlock(_, lock) => {
                    found.bytes.extend(machine.peek(state, thread, lock).map(|address| address as u64));
                }
                Op::Join(joined, _) => {
                    let id = machine.peek(state, thread, joined).ok();
                    found.joined = id.and_then(|id| usize::try_from(id - 1).ok());
                }
                Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Allocate { .. } | Op::Free(_) => {}
                Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => {}
            }
        }
        found
    }

    /// Adds the atomic accesses that the step made.
    pub(super) fn and(mut self, accesses: &[Access]) -> Self {
        for access in accesses.iter().filter(|access| access.atomic) {
            self.bytes.extend((access.address..).take(access.size.min(MOST_BYTES) as usize));
        }
        self
    }
}

/// Two unordered accesses, by the numbers of their steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    /// The number of the location.
    pub(super) location: usize,
    pub(super) first: usize,
    pub(super) second: usize,
    /// The steps of the program.
    pub(super) steps: [Step; 2],
}

/// An access that was made.
struct EarlierAccess {
    location: usize,
    thread: ThreadIndex,
    time: u32,
    number: usize,
    step: Step,
    access: Access,
}

type Clock = Vec<u32>;

/// What is known of an execution.
#[derive(Default)]
pub(super) struct Observer {
    clocks: Vec<Clock>,
    /// When locks and atomic bytes were last used.
    bytes: FxHashMap<u64, Clock>,
    /// The last accesses to each word, one of each thread and kind.
    words: FxHashMap<u64, Vec<EarlierAccess>>,
    known: FxHashSet<(usize, Step, Step)>,
    pub(super) suspects: Vec<Suspect>,
}

fn join(clock: &mut Clock, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

impl Observer {
    /// A thread has taken a step. While there is one thread only, everything is ordered.
    pub(super) fn after(
        &mut self,
        machine: &Machine<'_>,
        state: &State,
        (thread, step, number): (ThreadIndex, Step, usize),
        ordering: Ordering,
        accesses: &[Access],
        watched: &Watched,
    ) {
        if state.threads.len() < 2 {
            return;
        }
        let started = self.clocks.len().max(1)..state.threads.len();
        if self.clocks.is_empty() {
            self.clocks.push(vec![1]);
        }
        let mut clock = std::mem::take(&mut self.clocks[thread]);
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        if let Some(joined) = ordering.joined.and_then(|joined| self.clocks.get(joined)) {
            join(&mut clock, joined);
        }
        let Ordering { bytes, .. } = ordering.and(accesses);
        for byte in &bytes {
            if let Some(known) = self.bytes.get(byte) {
                join(&mut clock, known);
            }
        }
        for access in accesses {
            // What was just given back is known by earlier accesses.
            let earlier = || Some(self.words.get(&(access.address >> 3))?.first()?.location);
            if let Some(location) = watched.at(machine, state, access).or_else(earlier) {
                self.compare(&clock, (thread, step, number), access, location);
            }
        }
        for byte in bytes {
            join(self.bytes.entry(byte).or_default(), &clock);
        }
        for new in started {
            let mut own = clock.clone();
            own.resize(own.len().max(new + 1), 0);
            own[new] = 1;
            self.clocks.push(own);
        }
        clock[thread] += 1;
        self.clocks[thread] = clock;
    }

    /// Compares an access with earlier ones, and keeps it.
    fn compare(
        &mut self,
        clock: &Clock,
        (thread, step, number): (ThreadIndex, Step, usize),
        access: &Access,
        location: usize,
    ) {
        let time = clock[thread];
        let words = access.address >> 3..=(access.address.saturating_add(access.size.max(1)) - 1) >> 3;
        for word in words.take(MOST_WORDS as usize) {
            let past = self.words.entry(word).or_default();
            for earlier in past.iter() {
                let is_ordered = clock.get(earlier.thread).is_some_and(|known| earlier.time <= *known);
                if earlier.thread != thread
                    && !is_ordered
                    && earlier.access.races_with(access)
                    && self.suspects.len() < MOST_SUSPECTS
                    && self.known.insert((location, earlier.step, step))
                {
                    let steps = [earlier.step, step];
                    self.suspects.push(Suspect { location, first: earlier.number, second: number, steps });
                }
            }
            let new = EarlierAccess { location, thread, time, number, step, access: *access };
            let is_same = |earlier: &&mut EarlierAccess| {
                earlier.thread == thread && earlier.access.write == access.write && earlier.step == step
            };
            match past.iter_mut().find(is_same) {
                Some(earlier) => *earlier = new,
                None => past.push(new),
            }
        }
    }
}
