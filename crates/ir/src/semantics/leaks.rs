//! Which allocated memory a program has lost, or has left, where it ends.
//!
//! Memory counts if it comes from `malloc` or a similar function ([`ObjectRole::Allocated`]). It is *lost*
//! if no pointer leads to it: not from a static or thread-local variable, a variable of a function that has
//! not returned, the result of a thread, or other memory that is not lost. An address just after an object
//! leads to it, too. It is *left* if it was not given back.
//!
//! A program ends where `main` returns (then its variables are gone), where `exit` is called, and where all
//! of its threads have ended. `abort`, `_exit`, failing assertions and assumptions are no such ends.
//!
//! [`Machine::leak`] under-approximates what is lost: locals that are never read again count as pointers, as
//! do any bytes that look like one. [`Machine::may_leak`] over-approximates it, in all states and not only
//! where the program ends, if locals that are not read again are 0: results of threads, and words that are
//! not aligned, do not count as pointers. Memory that only the result of a thread leads to
//! ([`Machine::awaits_join`]) is found again where the thread is joined, if it is.

use super::machine::{Machine, State, ThreadIndex};
use super::memory::Bytes;
use crate::program::{LocationKind, ObjectRole, Waiting};

/// What must not happen to allocated memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Leak {
    /// That no pointer leads to it: the competition's `valid-memtrack`.
    Lost,
    /// That it is still allocated when the program ends: the competition's `valid-memcleanup`.
    Left,
}

/// How a program has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// The first function of this thread has returned.
    Returned(ThreadIndex),
    /// `exit` was called, or the last thread has ended.
    Other,
}

/// Which words lead to memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Roots {
    /// All that may be pointers.
    All,
    /// Those that certainly are.
    Aligned,
    /// Those that certainly are, and results of threads, which who joins them gets.
    AlignedOrResult,
}

impl Machine<'_> {
    /// Allocated memory that a program has certainly lost or left, and has ended: its index in the heap.
    pub fn leak(&self, state: &State, leak: Leak) -> Option<usize> {
        if !self.has_allocated(state) {
            return None;
        }
        let end = self.end(state)?;
        match leak {
            Leak::Lost => self.lost(state, Some(end), Roots::All),
            Leak::Left => (0..state.heap.len()).find(|block| self.is_allocated(state, *block)),
        }
    }

    /// Whether a program may have lost allocated memory, or has left some and has ended. Locals that are not
    /// read again are 0.
    pub fn may_leak(&self, state: &State, leak: Leak) -> bool {
        if !self.has_allocated(state) {
            return false;
        }
        match (leak, self.end(state)) {
            (Leak::Left, end) => end.is_some(),
            (Leak::Lost, Some(End::Other)) if state.halted => false,
            (Leak::Lost, None) if state.halted => false,
            (Leak::Lost, end) => self.lost(state, end, Roots::Aligned).is_some(),
        }
    }

    /// Whether all memory that a program may have lost, before it ends, is what results of threads lead to.
    pub fn awaits_join(&self, state: &State, leak: Leak) -> bool {
        let is_running = leak == Leak::Lost && !state.halted && self.end(state).is_none();
        is_running && self.lost(state, None, Roots::AlignedOrResult).is_none()
    }

    /// Whether an address is that of an allocated object that `free` gives back.
    pub(super) fn may_be_freed(&self, state: &State, address: u64) -> bool {
        let block = state.block_at(address).map(|block| &state.heap[block]);
        block.is_some_and(|block| {
            block.address == address && self.program.objects[block.site].role != ObjectRole::Automatic
        })
    }

    fn is_allocated(&self, state: &State, block: usize) -> bool {
        self.program.objects[state.heap[block].site].role == ObjectRole::Allocated
    }

    fn has_allocated(&self, state: &State) -> bool {
        (0..state.heap.len()).any(|block| self.is_allocated(state, block))
    }

    fn end(&self, state: &State) -> Option<End> {
        if !state.halted {
            let has_ended = state.threads.iter().all(|thread| thread.activations.is_empty());
            return has_ended.then_some(End::Other);
        }
        (0..state.threads.len()).find_map(|thread| {
            let (template, location) = state.location(thread)?;
            let location = self.program.templates[template].locations[location];
            match (location.kind, location.waiting) {
                (LocationKind::Halt, Waiting::Returned) => Some(End::Returned(thread)),
                (LocationKind::Halt, Waiting::Exited) => Some(End::Other),
                _ => None,
            }
        })
    }

    /// The first allocated object that no pointer leads to.
    fn lost(&self, state: &State, end: Option<End>, roots: Roots) -> Option<usize> {
        let width = self.program.data_model.pointer().bytes() as usize;
        let stride = match roots {
            Roots::All => 1,
            Roots::Aligned | Roots::AlignedOrResult => width,
        };
        let mut reached = vec![false; state.heap.len()];
        let mut work = Vec::new();
        let mut see = |address: u64, work: &mut Vec<usize>| {
            let just_after = || state.block_at(address.checked_sub(1)?);
            if let Some(block) = state.block_at(address).or_else(just_after)
                && !std::mem::replace(&mut reached[block], true)
            {
                work.push(block);
            }
        };
        let words = |bytes: &Bytes, size: usize| -> Vec<u64> {
            let parts = bytes.occupied().into_iter();
            let starts = parts.flat_map(|part| {
                let first = part.start.next_multiple_of(stride);
                (first..(part.end.min(size) + 1).saturating_sub(width)).step_by(stride)
            });
            starts.map(|at| bytes.read(at, width)).filter(|word| *word != 0).collect()
        };
        words(&state.statics, state.statics.len()).into_iter().for_each(|word| see(word, &mut work));
        for (index, thread) in state.threads.iter().enumerate() {
            let has_returned = end == Some(End::Returned(index));
            let own = if has_returned { self.addresses.thread_local_size as usize } else { usize::MAX };
            let size = own.min(thread.stack.len());
            words(&thread.stack, size).into_iter().for_each(|word| see(word, &mut work));
            let activations = thread.activations.iter().filter(|_| !has_returned);
            activations.flat_map(|one| &one.locals).for_each(|local| see(*local, &mut work));
            if roots != Roots::Aligned {
                see(thread.result, &mut work);
            }
        }
        while let Some(block) = work.pop() {
            let bytes = &state.heap[block].bytes;
            words(bytes, bytes.len()).into_iter().for_each(|word| see(word, &mut work));
        }
        (0..state.heap.len()).find(|block| !reached[*block] && self.is_allocated(state, *block))
    }
}
