//! Binary decision diagrams: Boolean functions in a canonical form, so that equal functions have equal names.
//!
//! Reduced and ordered, without complement edges and without garbage collection: a run of the engine ends
//! before that would pay off. Every operation may fail when the budget is used up. The cache of results is
//! lossy: evicted results are computed again.

use verdict::{Budget, Exhausted};

/// A Boolean function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bdd(pub u32);

/// The function that is always false.
pub const FALSE: Bdd = Bdd(0);
/// The function that is always true.
pub const TRUE: Bdd = Bdd(1);

/// The level of a variable: smaller ones are tested first.
pub type Level = u32;

/// A test of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The variable; [`END`] for the constants.
    pub level: Level,
    /// The function where it is false.
    pub low: Bdd,
    /// The function where it is true.
    pub high: Bdd,
}

/// The level of constants: after all variables.
pub const END: Level = u32::MAX;

/// Results of computations.
pub type Computed<T> = Result<T, Exhausted>;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Entry {
    key: (u32, u32, u32),
    operation: u32,
    result: u32,
}

#[derive(Clone, Copy)]
enum Operation {
    And = 1,
    Or,
    Not,
    Exists,
    AndExists,
    Unprime,
    Prime,
}

/// All functions that were made so far.
pub struct Bdds {
    nodes: Vec<Node>,
    /// Open addressing: positions in `nodes`, 0 if free.
    unique: Vec<u32>,
    cache: Vec<Entry>,
    /// Whether functions depend on odd levels, as far as that was asked.
    odd: rustc_hash::FxHashMap<Bdd, bool>,
    budget: Budget,
}

const FIRST_TABLE: usize = 1 << 12;
/// After how many new nodes the budget is asked.
const INTERVAL: u32 = 1 << 14;
/// The cache has at most this many entries.
const MOST_CACHE: usize = 1 << 22;

fn hash(a: u32, b: u32, c: u32) -> usize {
    let mut h = u64::from(a).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h = (h.rotate_left(23) ^ u64::from(b)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    h = (h.rotate_left(29) ^ u64::from(c)).wrapping_mul(0xA076_1D64_78BD_642F);
    (h ^ (h >> 32)) as usize
}

impl Bdds {
    /// No functions but the constants.
    pub fn new(budget: &Budget) -> Self {
        let constant = |bdd| Node { level: END, low: bdd, high: bdd };
        Self {
            nodes: vec![constant(FALSE), constant(TRUE)],
            unique: vec![0; FIRST_TABLE],
            cache: vec![Entry::default(); FIRST_TABLE],
            odd: rustc_hash::FxHashMap::default(),
            budget: budget.clone(),
        }
    }
    /// How many functions there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Never: the constants are there.
    pub fn is_empty(&self) -> bool {
        false
    }
    /// The bytes that they take.
    pub fn bytes(&self) -> u64 {
        (self.nodes.capacity() * 12 + self.unique.len() * 4 + self.cache.len() * size_of::<Entry>()) as u64
    }
    /// Whether to stop.
    pub fn check(&self) -> Computed<()> {
        self.budget.check(self.bytes())
    }
    /// The first test of a function.
    pub fn node(&self, bdd: Bdd) -> Node {
        self.nodes[bdd.0 as usize]
    }

    /// The function that tests a variable before two others.
    pub fn make(&mut self, level: Level, low: Bdd, high: Bdd) -> Computed<Bdd> {
        if low == high {
            return Ok(low);
        }
        let mask = self.unique.len() - 1;
        let mut slot = hash(level, low.0, high.0) & mask;
        loop {
            let found = self.unique[slot];
            if found == 0 {
                break;
            }
            if self.nodes[found as usize] == (Node { level, low, high }) {
                return Ok(Bdd(found));
            }
            slot = (slot + 1) & mask;
        }
        let id = self.nodes.len() as u32;
        if id.is_multiple_of(INTERVAL) {
            self.budget.spend(INTERVAL.into());
            self.check()?;
        }
        self.nodes.push(Node { level, low, high });
        self.unique[slot] = id;
        if self.nodes.len() * 2 > self.unique.len() {
            self.grow();
        }
        Ok(Bdd(id))
    }

    fn grow(&mut self) {
        let size = self.unique.len() * 2;
        self.unique = vec![0; size];
        for (id, node) in self.nodes.iter().enumerate().skip(2) {
            let mut slot = hash(node.level, node.low.0, node.high.0) & (size - 1);
            while self.unique[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.unique[slot] = id as u32;
        }
        if self.cache.len() < MOST_CACHE {
            let old = std::mem::replace(&mut self.cache, vec![Entry::default(); (size / 2).min(MOST_CACHE)]);
            for entry in old.into_iter().filter(|entry| entry.operation != 0) {
                let slot = self.slot(entry.operation, entry.key);
                self.cache[slot] = entry;
            }
        }
    }

    fn slot(&self, operation: u32, (a, b, c): (u32, u32, u32)) -> usize {
        hash(a ^ (operation << 27), b, c) & (self.cache.len() - 1)
    }
    fn known(&self, operation: Operation, a: Bdd, b: Bdd, c: Bdd) -> Option<Bdd> {
        let key = (a.0, b.0, c.0);
        let entry = self.cache[self.slot(operation as u32, key)];
        (entry.operation == operation as u32 && entry.key == key).then_some(Bdd(entry.result))
    }
    fn remember(&mut self, operation: Operation, (a, b, c): (Bdd, Bdd, Bdd), result: Bdd) {
        let key = (a.0, b.0, c.0);
        let slot = self.slot(operation as u32, key);
        self.cache[slot] = Entry { key, operation: operation as u32, result: result.0 };
    }

    /// The parts of a function where a variable, its first or none of its own, is false and true.
    fn split(&self, bdd: Bdd, level: Level) -> (Bdd, Bdd) {
        let node = self.node(bdd);
        if node.level == level { (node.low, node.high) } else { (bdd, bdd) }
    }

    /// The function that has the value of a variable.
    pub fn variable(&mut self, level: Level) -> Computed<Bdd> {
        self.make(level, FALSE, TRUE)
    }
    /// The function that is true where a variable has this value.
    pub fn literal(&mut self, level: Level, value: bool) -> Computed<Bdd> {
        if value { self.make(level, FALSE, TRUE) } else { self.make(level, TRUE, FALSE) }
    }
    /// The conjunction of variables: a set of them. In any order.
    pub fn cube(&mut self, levels: &[Level]) -> Computed<Bdd> {
        let mut sorted = levels.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.into_iter().rev().try_fold(TRUE, |cube, level| self.make(level, FALSE, cube))
    }

    /// Negation.
    pub fn not(&mut self, f: Bdd) -> Computed<Bdd> {
        if f == FALSE || f == TRUE {
            return Ok(if f == FALSE { TRUE } else { FALSE });
        }
        if let Some(known) = self.known(Operation::Not, f, f, f) {
            return Ok(known);
        }
        let Node { level, low, high } = self.node(f);
        let (low, high) = (self.not(low)?, self.not(high)?);
        let result = self.make(level, low, high)?;
        self.remember(Operation::Not, (f, f, f), result);
        Ok(result)
    }

    /// Conjunction.
    pub fn and(&mut self, f: Bdd, g: Bdd) -> Computed<Bdd> {
        self.combine(Operation::And, FALSE, TRUE, f, g)
    }
    /// Disjunction.
    pub fn or(&mut self, f: Bdd, g: Bdd) -> Computed<Bdd> {
        self.combine(Operation::Or, TRUE, FALSE, f, g)
    }
    /// Conjunction or disjunction: `decides` is the absorbing constant, `neutral` the neutral one.
    fn combine(&mut self, operation: Operation, decides: Bdd, neutral: Bdd, f: Bdd, g: Bdd) -> Computed<Bdd> {
        if f == decides || g == decides {
            return Ok(decides);
        }
        if f == neutral || f == g {
            return Ok(g);
        }
        if g == neutral {
            return Ok(f);
        }
        let (f, g) = (f.min(g), f.max(g));
        if let Some(known) = self.known(operation, f, g, f) {
            return Ok(known);
        }
        let level = self.node(f).level.min(self.node(g).level);
        let ((f0, f1), (g0, g1)) = (self.split(f, level), self.split(g, level));
        let low = self.combine(operation, decides, neutral, f0, g0)?;
        let high = self.combine(operation, decides, neutral, f1, g1)?;
        let result = self.make(level, low, high)?;
        self.remember(operation, (f, g, f), result);
        Ok(result)
    }

    /// Whether one function implies another.
    pub fn implies(&mut self, f: Bdd, g: Bdd) -> Computed<bool> {
        let negated = self.not(g)?;
        Ok(self.and(f, negated)? == FALSE)
    }
    /// `c ? f : g`.
    pub fn if_then_else(&mut self, c: Bdd, f: Bdd, g: Bdd) -> Computed<Bdd> {
        let (yes, not) = (self.and(c, f)?, self.not(c)?);
        let no = self.and(not, g)?;
        self.or(yes, no)
    }
    /// Both are true or both are false.
    pub fn equal(&mut self, f: Bdd, g: Bdd) -> Computed<Bdd> {
        let negated = self.not(g)?;
        self.if_then_else(f, g, negated)
    }

    /// The rest of a cube, without the variables above a level.
    fn below(&self, mut cube: Bdd, level: Level) -> Bdd {
        while self.node(cube).level < level {
            cube = self.node(cube).high;
        }
        cube
    }

    /// Where the function is true for some values of the variables in a cube.
    pub fn exists(&mut self, f: Bdd, cube: Bdd) -> Computed<Bdd> {
        if f == TRUE || f == FALSE {
            return Ok(f);
        }
        let level = self.node(f).level;
        let cube = self.below(cube, level);
        if cube == TRUE {
            return Ok(f);
        }
        if let Some(known) = self.known(Operation::Exists, f, cube, f) {
            return Ok(known);
        }
        let Node { low, high, .. } = self.node(f);
        let result = if self.node(cube).level == level {
            let rest = self.node(cube).high;
            let low = self.exists(low, rest)?;
            if low == TRUE {
                TRUE
            } else {
                let high = self.exists(high, rest)?;
                self.or(low, high)?
            }
        } else {
            let (low, high) = (self.exists(low, cube)?, self.exists(high, cube)?);
            self.make(level, low, high)?
        };
        self.remember(Operation::Exists, (f, cube, f), result);
        Ok(result)
    }

    /// Where both are true for some values of the variables in a cube.
    pub fn and_exists(&mut self, f: Bdd, g: Bdd, cube: Bdd) -> Computed<Bdd> {
        if f == FALSE || g == FALSE {
            return Ok(FALSE);
        }
        if f == TRUE || f == g {
            return self.exists(g, cube);
        }
        if g == TRUE {
            return self.exists(f, cube);
        }
        let (f, g) = (f.min(g), f.max(g));
        let level = self.node(f).level.min(self.node(g).level);
        let cube = self.below(cube, level);
        if cube == TRUE {
            return self.and(f, g);
        }
        if let Some(known) = self.known(Operation::AndExists, f, g, cube) {
            return Ok(known);
        }
        let ((f0, f1), (g0, g1)) = (self.split(f, level), self.split(g, level));
        let result = if self.node(cube).level == level {
            let rest = self.node(cube).high;
            let low = self.and_exists(f0, g0, rest)?;
            if low == TRUE {
                TRUE
            } else {
                let high = self.and_exists(f1, g1, rest)?;
                self.or(low, high)?
            }
        } else {
            let (low, high) = (self.and_exists(f0, g0, cube)?, self.and_exists(f1, g1, cube)?);
            self.make(level, low, high)?
        };
        self.remember(Operation::AndExists, (f, g, cube), result);
        Ok(result)
    }

    /// Renames each variable with an odd level to the even one before it. The function must not depend on
    /// both.
    pub fn unprime(&mut self, f: Bdd) -> Computed<Bdd> {
        if f == TRUE || f == FALSE {
            return Ok(f);
        }
        if let Some(known) = self.known(Operation::Unprime, f, f, f) {
            return Ok(known);
        }
        let Node { level, low, high } = self.node(f);
        let (low, high) = (self.unprime(low)?, self.unprime(high)?);
        let result = self.make(level & !1, low, high)?;
        self.remember(Operation::Unprime, (f, f, f), result);
        Ok(result)
    }

    /// Renames each variable of a cube to the odd one after it. The function must not depend on both.
    pub fn prime(&mut self, f: Bdd, cube: Bdd) -> Computed<Bdd> {
        if f == TRUE || f == FALSE {
            return Ok(f);
        }
        let level = self.node(f).level;
        let cube = self.below(cube, level);
        if cube == TRUE {
            return Ok(f);
        }
        if let Some(known) = self.known(Operation::Prime, f, cube, f) {
            return Ok(known);
        }
        let Node { low, high, .. } = self.node(f);
        let (low, high) = (self.prime(low, cube)?, self.prime(high, cube)?);
        let to = if self.node(cube).level == level { level | 1 } else { level };
        let result = self.make(to, low, high)?;
        self.remember(Operation::Prime, (f, cube, f), result);
        Ok(result)
    }

    /// The function's value for given values of its variables.
    pub fn value(&self, f: Bdd, values: &dyn Fn(Level) -> bool) -> bool {
        let mut at = f;
        while at.0 > 1 {
            let node = self.node(at);
            at = if values(node.level) { node.high } else { node.low };
        }
        at == TRUE
    }

    /// Whether a function depends on a variable with an odd level.
    pub fn has_odd(&mut self, f: Bdd) -> bool {
        if let Some(known) = self.odd.get(&f) {
            return *known;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work = vec![f];
        let mut found = false;
        while let Some(bdd) = work.pop() {
            if bdd.0 > 1 && self.odd.get(&bdd) != Some(&false) && seen.insert(bdd) {
                let node = self.node(bdd);
                if node.level % 2 == 1 {
                    found = true;
                    break;
                }
                work.extend([node.low, node.high]);
            }
        }
        self.odd.insert(f, found);
        found
    }

    /// The variables that functions depend on.
    pub fn support(&self, functions: &[Bdd]) -> std::collections::BTreeSet<Level> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work: Vec<Bdd> = functions.to_vec();
        let mut found = std::collections::BTreeSet::new();
        while let Some(bdd) = work.pop() {
            if bdd.0 > 1 && seen.insert(bdd) {
                let node = self.node(bdd);
                found.insert(node.level);
                work.extend([node.low, node.high]);
            }
        }
        found
    }
}
