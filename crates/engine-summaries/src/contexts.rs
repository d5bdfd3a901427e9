//! The contexts that procedures run in, and what is known in each so far.

use ir::passes::bits::BitSet;
use ir::{EdgeId, IdVec, LocationId, TemplateId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use verdict::{LockFact, Started, ThreadFacts};

/// Contexts of one procedure and kind that are kept apart; further ones share one.
pub const MOST_CONTEXTS: usize = 8;

/// Values of locals that contexts of one procedure and kind are kept apart by.
pub const MOST_NUMBERS: usize = 32;

/// No more contexts are kept apart once all of them together have this many locations: memory is limited.
pub const MOST_LOCATIONS: usize = 2_000_000;

/// A procedure in one context.
pub struct Context {
    /// The procedure.
    pub template: TemplateId,
    /// The kind of the threads that run it.
    pub kind: TemplateId,
    /// What holds at each location; only ever shrinks, while somebody enters the context. Empty while nobody
    /// does.
    pub facts: IdVec<LocationId, Option<ThreadFacts>>,
    /// The contexts of callees.
    pub calls: BTreeMap<(EdgeId, TemplateId), u32>,
    /// The lock targets that may be given back; only ever grows.
    pub releases: BitSet,
    /// The kinds that it may start threads of; only ever grows.
    pub starts: BTreeSet<TemplateId>,
    /// The places for ids that it may write; only ever grows.
    pub stores: BitSet,
    /// The cells that it may write; only ever grows.
    pub writes: BitSet,
    /// Who calls it.
    pub callers: BTreeSet<(u32, EdgeId)>,
    /// Locations whose edges have to be followed, by their order.
    pub open: BTreeSet<(u32, LocationId)>,
    /// Claims to locks that do not survive a call, since others may break them meanwhile.
    pub broken: BTreeSet<(EdgeId, LockFact)>,
    /// Lists of threads that do not survive a call, or whose handles do not (`false`), since others may
    /// break them meanwhile.
    pub lost: BTreeSet<(EdgeId, TemplateId, bool)>,
    /// Cells of which nothing known before a call survives it, since others may write them meanwhile.
    pub lost_cells: BTreeSet<(EdgeId, u32)>,
    /// Words that are not known any more after a call, since others may write them meanwhile: by their
    /// address before it.
    pub lost_words: BTreeSet<(EdgeId, verdict::LockBase, u64)>,
    /// Whether threads start here.
    pub is_first: bool,
    /// How often what callers see of it has changed.
    pub version: u32,
    /// What is known of calls with several callees, as they were followed last.
    pub followed: FxHashMap<EdgeId, FollowedCall>,
}

/// A call with several callees: what it led to when it was followed last.
pub struct FollowedCall {
    /// What held before it.
    pub before: ThreadFacts,
    /// What held after it, as far as callees returned.
    pub after: Option<ThreadFacts>,
    /// The contexts of the callees, with their versions.
    pub callees: Vec<(u32, u32)>,
}

/// The values of locals that are known.
type Values = Vec<(ir::LocalId, i64)>;

/// What tells contexts of a procedure and kind apart.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ContextKey {
    template: TemplateId,
    kind: TemplateId,
    /// The values of locals.
    numbers: Values,
    /// `None` for the context that further ones share.
    entry: Option<Box<EntryFacts>>,
}

/// What holds where a context is entered, but for values.
#[derive(Clone, PartialEq, Eq, Hash)]
struct EntryFacts {
    locks: Vec<LockFact>,
    absent: Vec<TemplateId>,
    fresh: Vec<ir::LocalId>,
    /// Threads of its own.
    started: Vec<Started>,
}

/// Finds contexts by what is known where they are entered.
#[derive(Default)]
pub struct ContextTable {
    known: FxHashMap<ContextKey, u32>,
    counts: FxHashMap<(TemplateId, TemplateId, Values), usize>,
    /// The values of locals that contexts of a procedure and kind are kept apart by.
    numbers: FxHashMap<(TemplateId, TemplateId), BTreeSet<Values>>,
    /// How many locations all contexts have that somebody enters.
    pub locations: usize,
}

impl ContextTable {
    /// The context with these facts at its entry: the number of one that is known, or the key of a new one.
    pub fn find(
        &mut self,
        template: TemplateId,
        kind: TemplateId,
        entry: &ThreadFacts,
    ) -> Result<u32, ContextKey> {
        let facts = EntryFacts {
            locks: entry.locks.clone(),
            absent: entry.absent.clone(),
            fresh: entry.fresh.clone(),
            started: entry.started.clone(),
        };
        let numbers = entry.numbers.clone();
        let key = ContextKey { template, kind, numbers: numbers.clone(), entry: Some(Box::new(facts)) };
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let count = self.counts.entry((template, kind, numbers.clone())).or_insert(0);
        if *count < MOST_CONTEXTS && self.locations < MOST_LOCATIONS {
            *count += 1;
            return Err(key);
        }
        let shared = ContextKey { template, kind, numbers, entry: None };
        match self.known.get(&shared) {
            Some(known) => Ok(*known),
            None => Err(shared),
        }
    }
    /// Forgets the values of locals at an entry if there are too many of them already.
    pub fn limit_numbers(&mut self, template: TemplateId, kind: TemplateId, entry: &mut ThreadFacts) {
        if entry.numbers.is_empty() {
            return;
        }
        let known = self.numbers.entry((template, kind)).or_default();
        if known.len() < MOST_NUMBERS {
            known.insert(entry.numbers.clone());
        } else if !known.contains(&entry.numbers) {
            entry.numbers.clear();
        }
    }
    /// Takes note of a new context.
    pub fn add(&mut self, key: ContextKey, number: u32) {
        self.known.insert(key, number);
    }
}
