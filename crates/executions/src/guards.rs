//! Which locks are held where, and which objects they guard.
//!
//! For each location, a set of locks: acquiring adds them, releasing removes them, and paths are intersected
//! where they meet (the textbook must-analysis). Locks are named by static object and offset; a lock at a
//! computed address is never added. Called procedures start with the locks that all their callers hold;
//! threads start with none.
//!
//! The search uses one property only, which every solution of the equations has: if a lock is in the set of
//! none of a thread's activations, then the thread has to *take* it before it reaches a location whose set
//! has it. (Follow the thread's path: a set gains a lock by an operation that takes it, or by a return to an
//! activation whose set has it.)
//!
//! Each static object is given one lock: the one that most of the accesses to it hold, if any; an object that
//! has locks in it is given the one of them that is taken most. Which lock is chosen matters for speed only.

use crate::touches::{Code, Next};
use ir::passes::bits::BitSet;
use ir::{Expr, IdVec, LocationId, LocationKind, ObjectId, Op, Program, Storage, TemplateId};

/// A lock, by its number.
pub type LockNumber = usize;

/// The locks of a program, and what they guard.
pub struct Guards {
    /// Where each lock is.
    pub locks: Vec<(ObjectId, u64)>,
    guard: IdVec<ObjectId, Option<LockNumber>>,
    held: IdVec<TemplateId, IdVec<LocationId, BitSet>>,
}

/// Past this many bits for all locations together, no lock is followed.
const MOST_BITS: usize = 1 << 28;

/// The sets while they are computed.
struct Solver<'a, 'p> {
    code: &'a Code<'p>,
    locks: Vec<(ObjectId, u64)>,
    held: IdVec<TemplateId, IdVec<LocationId, BitSet>>,
    /// What each procedure may give back, with all that it calls.
    gives: IdVec<TemplateId, BitSet>,
    /// Where each procedure returns.
    ends: IdVec<TemplateId, Vec<LocationId>>,
}

impl Guards {
    /// Looks at a program.
    pub fn new(code: &Code<'_>, next: &IdVec<TemplateId, IdVec<LocationId, Next>>) -> Self {
        let program = code.program;
        let mut locks: Vec<(ObjectId, u64)> = Vec::new();
        let mut taken: Vec<usize> = Vec::new();
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            if let Op::Lock(_, address) = op
                && let Some(lock) = fixed_lock(program, address)
            {
                match locks.iter().position(|other| *other == lock) {
                    Some(number) => taken[number] += 1,
                    None => {
                        locks.push(lock);
                        taken.push(1);
                    }
                }
            }
        }
        let locations: usize = program.templates.iter().map(|code| code.locations.len()).sum();
        if locations.saturating_mul(locks.len().next_multiple_of(64)) > MOST_BITS {
            locks.clear();
        }
        let ends = program.templates.iter().map(|code| {
            let ends = code.locations.enumerate().filter(|(_, location)| location.kind == LocationKind::End);
            ends.map(|(location, _)| location).collect()
        });
        let gives = program.templates.iter().map(|_| BitSet::new(locks.len())).collect();
        let mut solver = Solver { code, locks, held: IdVec::new(), gives, ends: ends.collect() };
        solver.solve();
        let Solver { locks, held, .. } = solver;
        let mut this = Self { locks, guard: program.objects.iter().map(|_| None).collect(), held };
        this.choose(program, &taken, next);
        this
    }

    fn choose(
        &mut self,
        program: &Program,
        taken: &[usize],
        next: &IdVec<TemplateId, IdVec<LocationId, Next>>,
    ) {
        // The first of those with the highest count.
        let best = |counts: &mut dyn Iterator<Item = (LockNumber, usize)>| {
            let most = counts.max_by_key(|(number, count)| (*count, std::cmp::Reverse(*number)));
            most.filter(|(_, count)| *count > 0).map(|(number, _)| number)
        };
        let count = self.locks.len();
        for object in program.objects.ids() {
            let mut inside =
                (0..count).filter(|lock| self.locks[*lock].0 == object).map(|lock| (lock, taken[lock]));
            self.guard[object] = best(&mut inside);
        }
        let usable: Vec<LockNumber> =
            (0..count).filter(|lock| self.guard[self.locks[*lock].0] == Some(*lock)).collect();
        if usable.is_empty() {
            return;
        }
        let mut votes: IdVec<ObjectId, Vec<usize>> = program.objects.iter().map(|_| Vec::new()).collect();
        for (template, locations) in next.enumerate() {
            for (location, next) in locations.enumerate() {
                let held = usable.iter().filter(|lock| self.is_held(template, location, **lock));
                for &lock in held {
                    for touch in next.fixed.iter().chain(&next.computed) {
                        let votes = &mut votes[touch.object];
                        votes.resize(count, 0);
                        votes[lock] += 1;
                    }
                }
            }
        }
        for (object, votes) in votes.enumerate() {
            if self.guard[object].is_none() && program.objects[object].storage == Storage::Static {
                self.guard[object] = best(&mut votes.iter().copied().enumerate());
            }
        }
    }

    /// The lock that an object is given.
    pub fn guard(&self, object: ObjectId) -> Option<LockNumber> {
        self.guard[object]
    }
    /// Whether a lock is in the set of a location.
    pub fn is_held(&self, template: TemplateId, location: LocationId, lock: LockNumber) -> bool {
        self.held[template][location].contains(lock)
    }
}

/// The lock at an address that is the same for all.
fn fixed_lock(program: &Program, address: &Expr) -> Option<(ObjectId, u64)> {
    match address {
        Expr::Address(object, offset) if program.objects[*object].storage == Storage::Static => {
            Some((*object, *offset))
        }
        _ => None,
    }
}

impl Solver<'_, '_> {
    fn number(&self, address: &Expr) -> Option<LockNumber> {
        let lock = fixed_lock(self.code.program, address)?;
        self.locks.iter().position(|other| *other == lock)
    }
    fn all(&self) -> BitSet {
        let mut all = BitSet::new(self.locks.len());
        for lock in 0..self.locks.len() {
            all.insert(lock);
        }
        all
    }

    fn solve(&mut self) {
        let program = self.code.program;
        let all = self.all();
        let mut changed = true;
        while changed {
            changed = false;
            for (template, code) in program.templates.enumerate() {
                let mut gives = self.gives[template].clone();
                for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                    match op {
                        Op::Unlock(_, address) => match self.number(address) {
                            Some(lock) => {
                                gives.insert(lock);
                            }
                            None if fixed_lock(program, address).is_some() => {}
                            None => gives = all.clone(),
                        },
                        Op::Call(callee, ..) => {
                            for callee in self.code.callees(callee) {
                                gives.union_with(&self.gives[callee]);
                            }
                        }
                        Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Spawn(..) | Op::Join(..) => {}
                        Op::Allocate { .. }
                        | Op::Free(_)
                        | Op::Fill(..)
                        | Op::Copy(..)
                        | Op::Broadcast(_) => {}
                    }
                }
                changed |= self.gives[template].union_with(&gives);
            }
        }
        self.held = program
            .templates
            .iter()
            .map(|code| code.locations.iter().map(|_| all.clone()).collect())
            .collect();
        if self.locks.is_empty() {
            return;
        }
        for (template, _) in &program.start {
            self.enter_without(*template);
        }
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            if let Op::Spawn(callee, ..) = op {
                self.code.callees(callee).into_iter().for_each(|callee| self.enter_without(callee));
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (template, code) in program.templates.enumerate() {
                for edge in &code.edges {
                    let mut held = self.held[template][edge.source].clone();
                    for op in &edge.ops {
                        changed |= self.after(op, &mut held, &all);
                    }
                    changed |= self.held[template][edge.target].intersect_with(&held);
                }
            }
        }
    }

    fn enter_without(&mut self, template: TemplateId) {
        let entry = self.code.program.templates[template].entry;
        self.held[template][entry] = BitSet::new(self.locks.len());
    }

    /// From what is held before an operation to what is held after it. Says whether a called procedure now
    /// starts with less.
    fn after(&mut self, op: &Op, held: &mut BitSet, all: &BitSet) -> bool {
        match op {
            Op::Lock(_, address) => {
                if let Some(lock) = self.number(address) {
                    held.insert(lock);
                }
            }
            Op::Unlock(_, address) => match self.number(address) {
                Some(lock) => held.remove(lock),
                None if fixed_lock(self.code.program, address).is_some() => {}
                None => held.subtract(all),
            },
            Op::Call(callee, ..) => {
                let callees = self.code.callees(callee);
                let mut changed = false;
                // What all callees hold when they return, or what is held now and none of them gives back.
                let mut result = all.clone();
                for callee in callees {
                    let code = &self.code.program.templates[callee];
                    changed |= self.held[callee][code.entry].intersect_with(held);
                    let mut kept = held.clone();
                    kept.subtract(&self.gives[callee]);
                    let mut at_end = all.clone();
                    for end in &self.ends[callee] {
                        at_end.intersect_with(&self.held[callee][*end]);
                    }
                    kept.union_with(&at_end);
                    result.intersect_with(&kept);
                }
                *held = result;
                return changed;
            }
            Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) => {}
            Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
        }
        false
    }
}
