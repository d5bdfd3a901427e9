//! The states seen so far, compressed by components (Holzmann, "State compression in SPIN: recursive indexing
//! and compression training runs", 1997: the collapse method). Exact: two states are one entry if and only if
//! they are equal.
//!
//! Each different content of the static memory, of a thread, and of an allocated object is kept once, under a
//! number ([`crate::components`]). A state is the short vector of its components' numbers. Besides that
//! vector, a state takes 20 bytes of bookkeeping (25 with what the table has in reserve) and between 11 and
//! 22 bytes of hash table. The bookkeeping stands before the vector, as both are looked at together: memory
//! that is far away is what takes the time.

use crate::components::{Components, hash_words};
use ir::semantics::{Block, Bytes, State, Thread, ThreadIndex};
use std::sync::Arc;

/// A stored state: where it is in the table.
pub type StateId = u32;

/// No state.
pub const NONE: StateId = u32::MAX;

/// A state with the numbers of its components.
pub struct Stored {
    /// The state; its parts are the stored ones.
    pub state: State,
    /// Whether a value that is not modelled was chosen on the path to it.
    pub tainted: bool,
    key: Vec<u32>,
}

impl Default for Stored {
    /// A state without anything in it, to be filled.
    fn default() -> Self {
        let state = State { statics: Arc::default(), threads: Vec::new(), heap: Vec::new(), halted: false };
        Self { state, tainted: false, key: Vec::new() }
    }
}

/// How a stored state was reached first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// From which state.
    pub parent: StateId,
    /// By which thread's step.
    pub thread: u16,
    /// With how many candidates for open values.
    pub tier: u8,
}

/// The table of stored states.
pub struct Store {
    statics: Components<Bytes>,
    threads: Components<Thread>,
    blocks: Components<Block>,
    /// All states, one after the other: [`HEADER`] words of bookkeeping, then the vector.
    words: Vec<u32>,
    count: usize,
    /// Open addressing with linear probing; a power of two of slots. The lower half of a slot is a state, the
    /// upper half comes from its hash, so that most others need not be looked at.
    slots: Vec<u64>,
    /// The vector of the state that is looked for.
    key: Vec<u32>,
}

/// The words before a state's vector: its length, the threads whose steps from it were taken (a bit each, the
/// last one for all from 63 on; low word first), the state that it was reached from, and by which thread and
/// tier.
const HEADER: usize = 5;
const EXPANDED: usize = 1;
const PARENT: usize = 3;
const STEP: usize = 4;

/// A slot without a state.
const EMPTY: u64 = u64::MAX;
/// The bits of a slot that hold the state.
const LOW: u64 = 0xFFFF_FFFF;
/// Bits of the first word of a vector.
const HALTED: u32 = 1 << 31;
const TAINTED: u32 = 1 << 30;

impl Store {
    /// An empty table.
    pub fn new() -> Self {
        Self {
            statics: Components::new(),
            threads: Components::new(),
            blocks: Components::new(),
            words: Vec::new(),
            count: 0,
            slots: vec![EMPTY; 1 << 10],
            key: Vec::new(),
        }
    }
    /// How many states there are.
    pub fn len(&self) -> usize {
        self.count
    }
    /// Whether there may be no room for another one.
    pub fn is_full(&self) -> bool {
        self.words.len() >= (NONE / 2) as usize
    }
    /// The bytes that the table takes.
    pub fn bytes(&self) -> u64 {
        let words = self.words.capacity() * 4 + self.slots.capacity() * 8;
        words as u64 + self.statics.bytes() + self.threads.bytes() + self.blocks.bytes()
    }
    /// Adds a state, or finds it; says whether it is new. Parts that it shares with `near` need not be looked
    /// at. Its parts become the stored ones.
    pub fn insert(
        &mut self,
        state: &mut State,
        tainted: bool,
        near: Option<&Stored>,
        origin: Origin,
    ) -> (StateId, bool) {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let statics = match near {
            Some(near) if Arc::ptr_eq(&near.state.statics, &state.statics) => {
                near.key[0] & !(HALTED | TAINTED)
            }
            _ => self.statics.intern(&mut state.statics),
        };
        let flags = if state.halted { HALTED } else { 0 } | if tainted { TAINTED } else { 0 };
        key.push(statics | flags);
        key.push(state.threads.len() as u32);
        for (index, thread) in state.threads.iter_mut().enumerate() {
            key.push(match near {
                Some(near) if near.state.threads.get(index).is_some_and(|old| Arc::ptr_eq(old, thread)) => {
                    near.key[2 + index]
                }
                _ => self.threads.intern(thread),
            });
        }
        for (index, block) in state.heap.iter_mut().enumerate() {
            key.push(match near {
                Some(near) if near.state.heap.get(index).is_some_and(|old| Arc::ptr_eq(old, block)) => {
                    near.key[2 + near.state.threads.len() + index]
                }
                _ => self.blocks.intern(block),
            });
        }
        let result = self.insert_key(&key, origin);
        self.key = key;
        result
    }

    fn insert_key(&mut self, key: &[u32], origin: Origin) -> (StateId, bool) {
        if self.count * 8 >= self.slots.len() * 6 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let hash = hash_words(key.iter().map(|word| u64::from(*word)));
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                let id = self.words.len() as StateId;
                self.slots[at] = hash & !LOW | u64::from(id);
                make_room(&mut self.words, HEADER + key.len());
                let step = u32::from(origin.thread) << 8 | u32::from(origin.tier);
                self.words.extend_from_slice(&[key.len() as u32, 0, 0, origin.parent, step]);
                self.words.extend_from_slice(key);
                self.count += 1;
                return (id, true);
            }
            if (slot ^ hash) & !LOW == 0 && self.key(slot as StateId) == key {
                return (slot as StateId, false);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![EMPTY; size];
        let mut next = 0;
        while next < self.words.len() {
            let id = next as StateId;
            next += HEADER + self.words[next] as usize;
            let hash = hash_words(self.key(id).iter().map(|word| u64::from(*word)));
            let mut at = hash as usize & (size - 1);
            while slots[at] != EMPTY {
                at = (at + 1) & (size - 1);
            }
            slots[at] = hash & !LOW | u64::from(id);
        }
        self.slots = slots;
    }

    fn key(&self, id: StateId) -> &[u32] {
        let at = id as usize;
        &self.words[at + HEADER..at + HEADER + self.words[at] as usize]
    }
    /// A stored state.
    pub fn get(&mut self, id: StateId) -> Stored {
        let mut stored = Stored::default();
        self.load(id, &mut stored);
        stored
    }
    /// A stored state, in the place of another.
    pub fn load(&mut self, id: StateId, stored: &mut Stored) {
        let mut key = std::mem::take(&mut stored.key);
        key.clear();
        key.extend_from_slice(self.key(id));
        let count = key[1] as usize;
        let state = &mut stored.state;
        state.statics = self.statics.get(key[0] & !(HALTED | TAINTED));
        state.threads.clear();
        state.threads.extend(key[2..2 + count].iter().map(|number| self.threads.get(*number)));
        state.heap.clear();
        state.heap.extend(key[2 + count..].iter().map(|number| self.blocks.get(*number)));
        state.halted = key[0] & HALTED != 0;
        stored.tainted = key[0] & TAINTED != 0;
        stored.key = key;
    }
    /// All states, in the order in which they were stored.
    pub fn ids(&self) -> Vec<StateId> {
        let (mut found, mut next) = (Vec::with_capacity(self.count), 0);
        while next < self.words.len() {
            found.push(next as StateId);
            next += HEADER + self.words[next] as usize;
        }
        found
    }
    /// Whether all threads' steps from a state were taken.
    pub fn is_all_expanded(&self, id: StateId) -> bool {
        self.words[id as usize + EXPANDED..][..2] == [u32::MAX; 2]
    }
    /// How a state was reached first.
    pub fn origin(&self, id: StateId) -> Origin {
        let step = self.words[id as usize + STEP];
        Origin { parent: self.words[id as usize + PARENT], thread: (step >> 8) as u16, tier: step as u8 }
    }
    /// Whether a thread's steps from a state were taken.
    pub fn is_expanded(&self, id: StateId, thread: ThreadIndex) -> bool {
        let bit = thread.min(63);
        self.words[id as usize + EXPANDED + bit / 32] >> (bit % 32) & 1 == 1
    }
    /// Notes that a thread's steps from a state were taken. Threads from 63 on are only ever noted together.
    pub fn set_expanded(&mut self, id: StateId, thread: ThreadIndex) {
        if thread < 63 {
            self.words[id as usize + EXPANDED + thread / 32] |= 1 << (thread % 32);
        }
    }
    /// Notes that all threads' steps from a state were taken.
    pub fn set_all_expanded(&mut self, id: StateId) {
        self.words[id as usize + EXPANDED..][..2].fill(u32::MAX);
    }
}

/// Room for so many more. Large tables grow by a quarter, so that little of them is empty.
fn make_room<T>(table: &mut Vec<T>, more: usize) {
    if table.capacity() - table.len() < more {
        let quarter = (table.len() / 4).max(1 << 10);
        table.reserve_exact(quarter.max(more));
    }
}
