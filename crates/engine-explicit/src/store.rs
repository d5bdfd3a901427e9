//! The states seen so far, compressed by components (Holzmann, "State compression in SPIN: recursive indexing and
//! compression training runs", 1997: the collapse method). Exact: two states are one entry if and only if they are
//! equal.
//!
//! Each different content of the static memory, of a thread, and of an allocated object is kept once, under a
//! number ([`crate::components`]). A state is the short vector of its components' numbers. Besides that vector, a
//! state takes 24 bytes of bookkeeping and between 11 and 22 bytes of hash table.

use crate::components::{Components, hash_words};
use ir::semantics::{Block, Bytes, State, Thread, ThreadIndex};
use std::sync::Arc;

/// The number of a stored state.
pub type StateId = u32;

/// No state.
pub const NONE: StateId = u32::MAX;

/// A state with the numbers of its components.
#[derive(Clone)]
pub struct Stored {
    /// The state; its parts are the stored ones.
    pub state: State,
    /// Whether a value that is not modelled was chosen on the way to it.
    pub tainted: bool,
    key: Vec<u32>,
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
    /// The vectors of all states, one after the other.
    words: Vec<u32>,
    /// Where each state's vector starts; one more entry for the end of the last.
    starts: Vec<u64>,
    origins: Vec<Origin>,
    /// For each state, the threads whose steps from it were taken: a bit each, the last one for all from 63 on.
    expanded: Vec<u64>,
    /// Open addressing with linear probing; a power of two of slots. The lower half of a slot is a state, the upper
    /// half comes from its hash, so that most others need not be looked at.
    slots: Vec<u64>,
}

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
            starts: vec![0],
            origins: Vec::new(),
            expanded: Vec::new(),
            slots: vec![EMPTY; 1 << 10],
        }
    }
    /// How many states there are.
    pub fn len(&self) -> usize {
        self.origins.len()
    }
    /// The bytes that the table takes.
    pub fn bytes(&self) -> u64 {
        let words = self.words.capacity() * 4 + self.slots.capacity() * 8;
        let each = self.starts.capacity() * 8 + self.origins.capacity() * 8 + self.expanded.capacity() * 8;
        (words + each) as u64 + self.statics.bytes() + self.threads.bytes() + self.blocks.bytes()
    }
    /// Adds a state, or finds it. Parts that it shares with `near` need not be looked at.
    pub fn insert(
        &mut self,
        mut state: State,
        tainted: bool,
        near: Option<&Stored>,
        origin: Origin,
    ) -> (StateId, bool, Stored) {
        let mut key = Vec::with_capacity(2 + state.threads.len() + state.heap.len());
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
        let (id, new) = self.insert_key(&key, origin);
        (id, new, Stored { state, tainted, key })
    }

    fn insert_key(&mut self, key: &[u32], origin: Origin) -> (StateId, bool) {
        if self.origins.len() * 8 >= self.slots.len() * 6 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let hash = hash_words(key.iter().map(|word| u64::from(*word)));
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                let id = self.origins.len() as StateId;
                self.slots[at] = hash & !LOW | u64::from(id);
                self.words.extend_from_slice(key);
                self.starts.push(self.words.len() as u64);
                self.origins.push(origin);
                self.expanded.push(0);
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
        for id in 0..self.origins.len() as StateId {
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
        &self.words[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
    /// A stored state.
    pub fn get(&mut self, id: StateId) -> Stored {
        let key = self.key(id).to_vec();
        let count = key[1] as usize;
        let state = State {
            statics: self.statics.get(key[0] & !(HALTED | TAINTED)),
            threads: key[2..2 + count].iter().map(|number| self.threads.get(*number)).collect(),
            heap: key[2 + count..].iter().map(|number| self.blocks.get(*number)).collect(),
            halted: key[0] & HALTED != 0,
        };
        Stored { state, tainted: key[0] & TAINTED != 0, key }
    }
    /// How a state was reached first.
    pub fn origin(&self, id: StateId) -> Origin {
        self.origins[id as usize]
    }
    /// Whether a thread's steps from a state were taken.
    pub fn is_expanded(&self, id: StateId, thread: ThreadIndex) -> bool {
        self.expanded[id as usize] >> thread.min(63) & 1 == 1
    }
    /// Notes that a thread's steps from a state were taken. Threads from 63 on are only ever noted together.
    pub fn set_expanded(&mut self, id: StateId, thread: ThreadIndex) {
        if thread < 63 {
            self.expanded[id as usize] |= 1 << thread;
        }
    }
    /// Notes that all threads' steps from a state were taken.
    pub fn set_all_expanded(&mut self, id: StateId) {
        self.expanded[id as usize] = u64::MAX;
    }
}
