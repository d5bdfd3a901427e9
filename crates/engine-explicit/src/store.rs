//! The states seen so far, compressed by components (Holzmann, "State compression in SPIN: recursive indexing and
//! compression training runs", 1997: the collapse method). Exact: two states are one entry if and only if they are
//! equal.
//!
//! Each different content of the static memory, of a thread, and of an allocated object is kept once, under a
//! number ([`crate::components`]). A state is the short vector of its components' numbers. Besides that vector, a
//! state takes 24 bytes of bookkeeping (30 with what the table has in reserve) and between 11 and 22 bytes of hash table.

use crate::components::{Components, hash_words};
use ir::semantics::{Block, Bytes, State, Thread, ThreadIndex};
use std::sync::Arc;

/// The number of a stored state.
pub type StateId = u32;

/// No state.
pub const NONE: StateId = u32::MAX;

/// A state with the numbers of its components.
pub struct Stored {
    /// The state; its parts are the stored ones.
    pub state: State,
    /// Whether a value that is not modelled was chosen on the way to it.
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
    /// The vectors of all states, one after the other.
    words: Vec<u32>,
    entries: Vec<Entry>,
    /// Open addressing with linear probing; a power of two of slots. The lower half of a slot is a state, the upper
    /// half comes from its hash, so that most others need not be looked at.
    slots: Vec<u64>,
    /// The vector of the state that is looked for.
    key: Vec<u32>,
}

/// What is kept of a state besides its vector. Together, as it is used together.
struct Entry {
    /// Where its vector starts; it ends where the next one starts.
    start: u64,
    /// The threads whose steps from it were taken: a bit each, the last one for all from 63 on.
    expanded: u64,
    origin: Origin,
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
            entries: Vec::new(),
            slots: vec![EMPTY; 1 << 10],
            key: Vec::new(),
        }
    }
    /// How many states there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// The bytes that the table takes.
    pub fn bytes(&self) -> u64 {
        let words = self.words.capacity() * 4 + self.slots.capacity() * 8;
        let each = self.entries.capacity() * size_of::<Entry>();
        (words + each) as u64 + self.statics.bytes() + self.threads.bytes() + self.blocks.bytes()
    }
    /// Adds a state, or finds it; says whether it is new. Parts that it shares with `near` need not be looked at.
    /// Its parts become the stored ones.
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
        if self.entries.len() * 8 >= self.slots.len() * 6 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let hash = hash_words(key.iter().map(|word| u64::from(*word)));
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                let id = self.entries.len() as StateId;
                self.slots[at] = hash & !LOW | u64::from(id);
                make_room(&mut self.entries, 1);
                make_room(&mut self.words, key.len());
                self.entries.push(Entry { start: self.words.len() as u64, expanded: 0, origin });
                self.words.extend_from_slice(key);
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
        for id in 0..self.entries.len() as StateId {
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
        let end = self.entries.get(at + 1).map_or(self.words.len(), |next| next.start as usize);
        &self.words[self.entries[at].start as usize..end]
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
    /// How a state was reached first.
    pub fn origin(&self, id: StateId) -> Origin {
        self.entries[id as usize].origin
    }
    /// Whether a thread's steps from a state were taken.
    pub fn is_expanded(&self, id: StateId, thread: ThreadIndex) -> bool {
        self.entries[id as usize].expanded >> thread.min(63) & 1 == 1
    }
    /// Notes that a thread's steps from a state were taken. Threads from 63 on are only ever noted together.
    pub fn set_expanded(&mut self, id: StateId, thread: ThreadIndex) {
        if thread < 63 {
            self.entries[id as usize].expanded |= 1 << thread;
        }
    }
    /// Notes that all threads' steps from a state were taken.
    pub fn set_all_expanded(&mut self, id: StateId) {
        self.entries[id as usize].expanded = u64::MAX;
    }
}

/// Room for so many more. Large tables grow by a quarter, so that little of them is empty.
fn make_room<T>(table: &mut Vec<T>, more: usize) {
    if table.capacity() - table.len() < more {
        let quarter = (table.len() / 4).max(1 << 10);
        table.reserve_exact(quarter.max(more));
    }
}
