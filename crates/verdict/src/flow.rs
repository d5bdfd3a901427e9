//! The proof of the `flow` engine: what is known at each location, and which locations two threads can be at.
//!
//! It speaks of the program that [`ir::passes::symbolic_of_lowered`] makes of the task's program; its
//! templates, locations and locals are that program's. Everything in it is a claim; the checker tests these
//! one by one.

use crate::counters::Counter;
use crate::family::Family;
use ir::{EdgeId, Expr, LocalId, TemplateId, Value};
use serde::{Deserialize, Serialize};

/// A proof by locks held, thread creation and joining, and pairs of locations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowProof {
    /// Templates of which at most one thread ever runs, in order.
    pub unique: Vec<TemplateId>,
    /// What holds at each location of each template.
    pub facts: Vec<Vec<LocationFacts>>,
    /// The locations that a thread may be at, by number: those of the first template come first.
    pub reachable: Vec<bool>,
    /// The pairs of locations that two different threads may be at, by the same numbers.
    pub coreachable: Pairs,
    /// Parameters that point to the start of an object that no other thread of the template got.
    pub given: Vec<(TemplateId, LocalId)>,
    /// Families: threads that one thread starts, distinguished by an index.
    pub families: Vec<Family>,
    /// Counters that threads take numbers from, or count themselves in.
    pub counters: Vec<Counter>,
    /// What is known of data, if that is needed.
    pub data: Option<DataProof>,
}

/// Facts are about expressions with at most this many parts, not counting an offset; larger expressions have
/// no facts.
pub const LARGEST_FACT: usize = 24;

/// What holds whenever a thread is at a location.
///
/// Expressions are over the thread's locals, its own cells that no other thread changes, and constant
/// addresses. The address of an allocation site stands for that of its only object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationFacts {
    /// A local has the value of an expression.
    pub equal: Vec<(LocalId, Expr)>,
    /// Locks that the thread holds.
    pub locks: Vec<HeldLock>,
    /// A value is the id of the only thread of a template, which has started.
    pub threads: Vec<(Expr, TemplateId)>,
    /// A local points to an allocated object to which no memory and no other thread has a pointer.
    pub fresh: Vec<LocalId>,
    /// A local points to the start of an allocated object that was never the argument of a started thread;
    /// different such locals point to different objects.
    pub unspent: Vec<LocalId>,
}

/// A lock that a thread holds: its address is a base plus an offset, modulo 2 to the width of a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldLock {
    /// The base.
    pub base: Expr,
    /// The lock's offset from the base.
    pub offset: u64,
    /// Whether it is held at least for reading; otherwise its owner word is the thread's id.
    pub shared: bool,
}

/// A symmetric relation on numbers below a bound, one bit for each pair.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Bits")]
pub struct Pairs {
    bound: usize,
    words: Vec<u64>,
}

impl Pairs {
    /// The empty relation on numbers below a bound.
    pub fn new(bound: usize) -> Self {
        Self { bound, words: vec![0; bound * bound.div_ceil(64)] }
    }
    /// The bound.
    pub fn bound(&self) -> usize {
        self.bound
    }
    fn place(&self, a: usize, b: usize) -> (usize, u64) {
        (a * self.bound.div_ceil(64) + b / 64, 1 << (b % 64))
    }
    /// Whether two numbers are related.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        let (word, bit) = self.place(a, b);
        a < self.bound && b < self.bound && self.words[word] & bit != 0
    }
    /// Relates two numbers both ways; says whether that is new.
    pub fn insert(&mut self, a: usize, b: usize) -> bool {
        let new = !self.contains(a, b);
        for (a, b) in [(a, b), (b, a)] {
            let (word, bit) = self.place(a, b);
            self.words[word] |= bit;
        }
        new
    }
    /// Removes the pair of two numbers, both ways.
    pub fn remove(&mut self, a: usize, b: usize) {
        for (a, b) in [(a, b), (b, a)] {
            let (word, bit) = self.place(a, b);
            self.words[word] &= !bit;
        }
    }
    /// All numbers related to the given one, in order.
    pub fn related(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        set_bits(&self.words, self.bound, a)
    }
    /// The number of pairs; a number that is related to itself counts once.
    pub fn len(&self) -> usize {
        let all: usize = self.words.iter().map(|word| word.count_ones() as usize).sum();
        (all + (0..self.bound).filter(|a| self.contains(*a, *a)).count()) / 2
    }
    /// Whether nothing is related.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }
}

/// The numbers that a number is related to in a relation on numbers below a bound, in order.
fn set_bits(words: &[u64], bound: usize, a: usize) -> impl Iterator<Item = usize> + '_ {
    let width = bound.div_ceil(64);
    words[a * width..(a + 1) * width].iter().enumerate().flat_map(|(index, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(index * 64 + bit)
        })
    })
}

/// A relation as read from a file: it may have too many bits, or too few.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bits {
    bound: usize,
    words: Vec<u64>,
}

impl Bits {
    /// Whether there is exactly one bit for each pair.
    fn check(&self) -> Result<(), &'static str> {
        let width = self.bound.div_ceil(64);
        if self.bound.checked_mul(width) != Some(self.words.len()) {
            return Err("a relation with a bit for each pair");
        }
        let used = self.bound % 64;
        let mut last = self.words.chunks(width.max(1)).filter_map(|row| row.last());
        if used != 0 && last.any(|word| word >> used != 0) {
            return Err("a relation without bits for what is not there");
        }
        Ok(())
    }
}

impl TryFrom<Bits> for Pairs {
    type Error = &'static str;
    fn try_from(bits: Bits) -> Result<Self, Self::Error> {
        bits.check()?;
        let pairs = Self { bound: bits.bound, words: bits.words };
        let both_ways = (0..pairs.bound).all(|a| pairs.related(a).all(|b| pairs.contains(b, a)));
        if both_ways { Ok(pairs) } else { Err("a relation that holds both ways") }
    }
}

impl TryFrom<Bits> for Relation {
    type Error = &'static str;
    fn try_from(bits: Bits) -> Result<Self, Self::Error> {
        bits.check().map(|()| Self { bound: bits.bound, words: bits.words })
    }
}

impl FlowProof {
    /// The number of each template's first location.
    pub fn first_locations(&self) -> Vec<usize> {
        let mut next = 0;
        let first = self.facts.iter().map(|locations| {
            next += locations.len();
            next - locations.len()
        });
        first.collect()
    }
}

/// What is known of data: an invariant for each location, and where the values of shared memory may come
/// from.
///
/// Variables are numbered as in `domains::Memory`: first the cells of memory, then the locals of the current
/// template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataProof {
    /// What holds of the variables whenever a thread is at a location, by the numbers of locations. `None`
    /// when no thread is ever there.
    pub invariants: Vec<Option<Vec<(u32, Bounds)>>>,
    /// For each location, by number: locals that equal expressions whose cells no other thread writes while a
    /// thread is there.
    pub copies: Vec<Vec<(LocalId, Expr)>>,
    /// Variables that are related to each other.
    pub packs: VariablePacks,
    /// For each location, by number: relations between the variables of packs. Packs of shared cells come
    /// first, then those of the location's template.
    pub relations: Vec<Vec<PackRelation>>,
    /// Where the values of some shared cells, and of packs of them, may come from.
    pub flows: Vec<CellFlows>,
}

/// Variables that are related to each other, each pack in rising order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariablePacks {
    /// Packs of shared cells.
    pub shared: Vec<Vec<u32>>,
    /// Other packs of each template.
    pub of_template: Vec<Vec<Vec<u32>>>,
}

/// An octagon constraint: the sum of two different variables of a pack, each possibly negated, is at most a
/// bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackRelation {
    /// The number of the pack.
    pub pack: u32,
    /// The first variable.
    pub first: (u32, bool),
    /// The second one.
    pub second: (u32, bool),
    /// The bound.
    pub bound: Value,
}

/// A set of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// None is below this.
    pub lower: Option<Value>,
    /// None is above this.
    pub upper: Option<Value>,
    /// All are congruent to `rest` modulo this; 1 if nothing is known, 0 if all are equal.
    pub modulus: Value,
    /// See `modulus`.
    pub rest: Value,
    /// None is 0.
    pub nonzero: bool,
    /// If known: each is 0 or one of these addresses, numbered as in `domains::Memory`.
    pub addresses: Option<u64>,
}

/// The data flow of one shared cell, or of all cells of a pack together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellFlows {
    /// What flows.
    pub subject: FlowSubject,
    /// How far the first values reach.
    pub first: Reach,
    /// How far each definition reaches. Definitions are the steps that write one of the cells, or test it.
    pub definitions: Vec<(TemplateId, EdgeId, Reach)>,
}

/// What flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlowSubject {
    /// The value of a shared cell.
    Cell(u32),
    /// The values of the cells of a pack of shared cells, by its number.
    Pack(u32),
}

/// The locations that threads may be at while a definition is the latest for its cell.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// For a step: where the thread that took it may be. For the first value: where any thread may be.
    pub alone: Vec<bool>,
    /// For a step: where that thread and another one may be. For the first value: where two threads may be.
    pub pairs: Relation,
}

/// A relation on numbers below a bound, one bit for each pair.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Bits")]
pub struct Relation {
    bound: usize,
    words: Vec<u64>,
}

impl Relation {
    /// The empty relation on numbers below a bound.
    pub fn new(bound: usize) -> Self {
        Self { bound, words: vec![0; bound * bound.div_ceil(64)] }
    }
    /// The bound.
    pub fn bound(&self) -> usize {
        self.bound
    }
    /// Whether a number is related to another.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        let word = a * self.bound.div_ceil(64) + b / 64;
        a < self.bound && b < self.bound && self.words[word] >> (b % 64) & 1 == 1
    }
    /// Relates a number to another; says whether that is new.
    pub fn insert(&mut self, a: usize, b: usize) -> bool {
        let word = a * self.bound.div_ceil(64) + b / 64;
        let new = self.words[word] >> (b % 64) & 1 == 0;
        self.words[word] |= 1 << (b % 64);
        new
    }
    /// Removes the pair of a number and another.
    pub fn remove(&mut self, a: usize, b: usize) {
        let word = a * self.bound.div_ceil(64) + b / 64;
        self.words[word] &= !(1 << (b % 64));
    }
    /// All numbers to which a number is related, in order.
    pub fn related(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        set_bits(&self.words, self.bound, a)
    }
    /// Whether nothing is related.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }
}
