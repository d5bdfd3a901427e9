//! A depth-first search that stores 64-bit fingerprints instead of states, and identifies states that differ
//! by a permutation of threads. Finds violations only: its completion proves nothing.
//!
//! Hash compaction: Wolper and Leroy, "Reliable hashing without collision detection", CAV 1993. Two states
//! may have the same fingerprint; then one of them is not explored. Deviations: 1. The executions on the
//! stack are real, with all their steps, so a violation comes with its trace. 2. When the table is full, or
//! all work is done, the search restarts with an empty table and other orders of threads.
//!
//! Symmetry: the fingerprint of a state combines those of its threads in sorted order, and owners in lock
//! words are named by their position in that order. If a program stores thread ids elsewhere (handles,
//! addresses in a thread's own window), different states may be identified, or equivalent ones distinguished.
//! That is acceptable here and only here: a program can observe a thread's id too easily for a proof to rely
//! on symmetry.

use crate::components::{Pack, hash_bytes, hash_words};
use crate::expand::{Expander, Successor};
use crate::random::{Random, SEEDS};
use executions::model::Model;
use ir::semantics::{Bytes, Page, State, ThreadIndex, Trail};
use ir::{Expr, Op, Storage};
use std::sync::Arc;
use verdict::{Budget, Exhausted, Trace, TraceStep};

/// Candidates for each open value.
const CANDIDATES: usize = 16;
/// States on the stack.
const DEEPEST: usize = 50_000;
/// The fraction of the memory for the table, and also for the stack.
const SHARE: u64 = 32;

/// A state on the stack.
struct Frame {
    state: State,
    prints: Prints,
    /// The steps to it from the one below.
    steps: Vec<TraceStep>,
    /// Threads whose steps are still to be taken.
    threads: Vec<ThreadIndex>,
    /// Successors that are still to be looked at.
    found: Vec<Successor>,
}

/// The fingerprints of a state's parts.
#[derive(Clone, Default)]
struct Prints {
    statics: u64,
    threads: Vec<u64>,
    heap: Vec<u64>,
}

/// The search.
pub struct Compact<'a, 'p> {
    expander: Expander<'a, 'p>,
    copies: Vec<u32>,
    stack: Vec<Frame>,
    deepest: usize,
    /// Open addressing with linear probing; 0 is an empty slot.
    slots: Vec<u64>,
    count: usize,
    most: usize,
    /// Offsets of the owner words of static locks.
    owners: Vec<usize>,
    random: Random,
    scratch: Vec<u8>,
}

impl<'a, 'p> Compact<'a, 'p> {
    /// A search that has not started.
    pub fn new(model: &'a Model<'p>, copies: Vec<u32>, budget: &Budget) -> Self {
        let machine = &model.machine;
        let program = machine.program;
        let mut owners = Vec::new();
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            if let Op::Lock(_, Expr::Address(object, offset)) = op
                && program.objects[*object].storage == Storage::Static
            {
                owners.push((machine.addresses.offset[*object] + offset - ir::semantics::STATICS) as usize);
            }
        }
        owners.sort_unstable();
        owners.dedup();
        let each = machine.addresses.held_size() + 2_000;
        let deepest = usize::try_from(budget.memory / SHARE / each).unwrap_or(usize::MAX).clamp(100, DEEPEST);
        let most = usize::try_from(budget.memory / SHARE / 8).unwrap_or(usize::MAX).max(1 << 12);
        Self {
            expander: Expander::new(model, budget, CANDIDATES, true),
            copies,
            stack: Vec::new(),
            deepest,
            slots: Vec::new(),
            count: 0,
            most: 1 << most.ilog2(),
            owners,
            random: Random::new(SEEDS[1]),
            scratch: Vec::new(),
        }
    }
    /// The bytes that the table takes.
    pub fn bytes(&self) -> u64 {
        self.slots.capacity() as u64 * 8
    }

    /// Continues for about this many steps. Restarts when all work is done.
    pub fn run(&mut self, steps: u64) -> Result<Option<Trace>, Exhausted> {
        let end = self.expander.notes.steps.saturating_add(steps);
        while self.expander.notes.steps < end {
            if self.stack.is_empty() {
                let before = self.expander.notes.steps;
                if let Some(trace) = self.start() {
                    return Ok(Some(trace));
                }
                // Nothing to run.
                if self.stack.is_empty() && self.expander.notes.steps == before {
                    return Ok(None);
                }
            }
            let trace = self.advance();
            if let Some(exhausted) = self.expander.stopped {
                return Err(exhausted);
            }
            if trace.is_some() {
                return Ok(trace);
            }
        }
        Ok(None)
    }

    fn start(&mut self) -> Option<Trace> {
        self.slots = vec![0; 1 << 10];
        self.count = 0;
        let state = self.expander.model.machine.initial(&self.copies).ok()?;
        let prints = self.prints(&state, None);
        self.stack.push(Frame {
            state: state.clone(),
            prints,
            steps: vec![],
            threads: vec![],
            found: vec![],
        });
        let mut found = Vec::new();
        self.expander.run_on(
            Successor { state, tainted: false, steps: vec![], trail: Trail::default() },
            None,
            &mut found,
        );
        self.stack.last_mut()?.found = found;
        None
    }

    /// Looks at one successor, or takes the steps of one thread, or goes back.
    fn advance(&mut self) -> Option<Trace> {
        let depth = self.stack.len();
        let top = self.stack.last_mut()?;
        if let Some(successor) = top.found.pop() {
            let is_full = self.count * 8 >= self.most * 7;
            if is_full {
                self.stack.clear();
                return None;
            }
            // An execution with a value that is not modelled is no evidence.
            if successor.tainted || depth > self.deepest {
                return None;
            }
            return self.enter(successor);
        }
        let Some(thread) = top.threads.pop() else {
            self.stack.pop();
            return None;
        };
        let mut found = std::mem::take(&mut top.found);
        self.expander.successors(&top.state, false, thread, &mut found);
        top.found = found;
        None
    }

    fn enter(&mut self, successor: Successor) -> Option<Trace> {
        let model = self.expander.model;
        let Successor { mut state, steps, .. } = successor;
        let below = self.stack.pop()?;
        model.facts.liveness.forget_dead(&mut state, Some(&below.state));
        let prints = self.prints(&state, Some(&below));
        self.stack.push(below);
        if !self.insert(self.fingerprint(&state, &prints)) {
            return None;
        }
        let violation = model.violation(&state);
        let mut threads = model.machine.schedulable(&state);
        let start = self.random.below(threads.len());
        threads.rotate_left(start);
        self.stack.push(Frame { state, prints, steps, threads, found: Vec::new() });
        let violation = violation?;
        let steps = self.stack.iter().flat_map(|frame| frame.steps.iter().cloned()).collect();
        let trace = Trace { copies: self.copies.clone(), steps, violation };
        model.is_evidence(&trace).then_some(trace)
    }

    /// The fingerprints of the parts of a state; those that it shares with the state below are known.
    fn prints(&mut self, state: &State, below: Option<&Frame>) -> Prints {
        let mut scratch = std::mem::take(&mut self.scratch);
        let statics = match below {
            Some(below) if Arc::ptr_eq(&below.state.statics, &state.statics) => below.prints.statics,
            // The owners of locks count when the whole is made.
            _ => self.statics(state, &mut scratch),
        };
        let mut of_threads = Vec::with_capacity(state.threads.len());
        for (index, thread) in state.threads.iter().enumerate() {
            let known = below
                .filter(|below| below.state.threads.get(index).is_some_and(|old| Arc::ptr_eq(old, thread)));
            of_threads.push(match known {
                Some(below) => below.prints.threads[index],
                None => print(&**thread, &mut scratch),
            });
        }
        let mut of_heap = Vec::with_capacity(state.heap.len());
        for (index, block) in state.heap.iter().enumerate() {
            let known =
                below.filter(|below| below.state.heap.get(index).is_some_and(|old| Arc::ptr_eq(old, block)));
            of_heap.push(match known {
                Some(below) => below.prints.heap[index],
                None => print(&**block, &mut scratch),
            });
        }
        self.scratch = scratch;
        Prints { statics, threads: of_threads, heap: of_heap }
    }

    fn statics(&self, state: &State, scratch: &mut Vec<u8>) -> u64 {
        scratch.clear();
        let short = state.statics.short();
        scratch.extend_from_slice(short.data());
        // Of long ones, owners of locks are not left out: that distinguishes more states.
        for (number, page) in state.statics.pages() {
            scratch.extend_from_slice(&number.to_le_bytes());
            match page {
                Page::Zero => scratch.push(0),
                Page::Open => scratch.push(1),
                Page::Held(run) => {
                    scratch.extend_from_slice(run.data());
                    scratch.extend(run.open_bits().iter().flat_map(|word| word.to_le_bytes()));
                }
            }
        }
        if Bytes::is_long(state.statics.len()) {
            return hash_bytes(scratch);
        }
        for &at in &self.owners {
            if let Some(word) = scratch.get_mut(at..at + 4) {
                word.fill(0);
            }
        }
        hash_bytes(scratch) ^ hash_words(short.open_bits().iter().copied())
    }

    fn fingerprint(&self, state: &State, prints: &Prints) -> u64 {
        let mut order: Vec<ThreadIndex> = (0..prints.threads.len()).collect();
        order.sort_by_key(|thread| prints.threads[*thread]);
        let owners = self.owners.iter().map(|at| {
            let is_there = at + 4 <= state.statics.len();
            let word = if is_there { state.statics.read(*at, 4) as u32 } else { 0 };
            let owner = (word as usize).checked_sub(1);
            let place = owner.and_then(|owner| order.iter().position(|thread| *thread == owner));
            place.map_or_else(|| u64::from(word) << 32, |place| place as u64 + 1)
        });
        let threads = order.iter().map(|thread| prints.threads[*thread]);
        let first = [prints.statics, u64::from(state.halted)];
        hash_words(first.into_iter().chain(owners).chain(threads).chain(prints.heap.iter().copied())).max(1)
    }

    /// Adds a fingerprint; says whether it is new.
    fn insert(&mut self, print: u64) -> bool {
        if self.count * 8 >= self.slots.len() * 7 {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![0; old.len() * 2];
            for print in old.into_iter().filter(|print| *print != 0) {
                let at = self.slot(print);
                self.slots[at] = print;
            }
        }
        let at = self.slot(print);
        let new = self.slots[at] == 0;
        self.slots[at] = print;
        self.count += usize::from(new);
        new
    }
    /// Where a fingerprint is, or would be.
    fn slot(&self, print: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = print as usize & mask;
        while self.slots[at] != 0 && self.slots[at] != print {
            at = (at + 1) & mask;
        }
        at
    }
}

fn print(part: &impl Pack, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
    part.pack(scratch);
    hash_bytes(scratch)
}
