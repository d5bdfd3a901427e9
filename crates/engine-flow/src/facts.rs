//! Facts at each location of a thread, whatever the others do: equal values, locks held, ids of threads,
//! fresh objects.
//!
//! A forward analysis of each template on its own: the greatest solution, so facts start as "everything" and
//! shrink. Each fact is a claim about all states in which a thread is at the location
//! ([`verdict::LocationFacts`]):
//!
//! 1. `local = expression`: both sides change only by the thread's own steps (see [`crate::values`]). Lost
//!    when one does.
//! 2. The thread holds a lock: exclusively, then the lock's owner word is the thread's id; or shared, then
//!    that is so, or the owner word is 0 and the count is at least the number of threads with a shared claim.
//!    Gained by a lock operation, since it continues only if it sets these words, and by the assumption that
//!    the owner word is the thread's id. An exclusive claim is also a shared one. A step that contradicts a
//!    claim is not possible. Lost when the thread releases the lock, writes words that may be the lock's, or
//!    changes a local in its address. The effects of other threads on the words are not considered here:
//!    [`crate::unreliable`] finds the claims that others may break. Freeing an object does not change the
//!    words; lock operations on dead objects do not continue, so claims about them stay true.
//! 3. A value is the id of the only thread of a unique template: gained by the spawn, copied along.
//! 4. A local points to a *fresh* object, one that this thread allocated and that no memory cell and no other
//!    thread points to. Lost when a value that may be derived from the local by local steps is stored, passed
//!    to a thread, or freed. A value loaded from memory is no pointer to a fresh object, and neither is an
//!    input or a value that is not modelled. The derivation is flow-insensitive, so it over-approximates.
//! 5. A local points to an *unspent* object: one that this thread allocated into it and has not passed to a
//!    started thread since. If all starts of a template get unspent objects, each of its threads has its own:
//!    addresses are never reused.

use crate::locks::{Effect, breaks, lock_region};
use crate::model::{Model, Step};
use crate::values::{Linear, Values, mentions};
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::passes::liveness::live_locals;
use ir::{
    Callee, EdgeId, Expr, IdVec, Lhs, LocalId, LocationId, LocationKind, LockKind, Op, Rhs, TemplateId,
};
use std::collections::BTreeSet;
use verdict::{HeldLock, LocationFacts};

/// A retracted claim, which others may break: never made again in this template or, for the cell of a single
/// object, in any.
#[derive(Clone, PartialEq, Debug)]
pub struct RetractedLockClaim {
    /// The template; `None` for all.
    pub template: Option<TemplateId>,
    /// The lock.
    pub base: Expr,
    /// The lock.
    pub offset: u64,
}

/// The effects of an edge besides the facts after it.
#[derive(Clone, Default)]
pub struct StepEffects {
    /// Its effects on the words of locks.
    pub effects: Vec<Effect>,
    /// The unique templates whose thread it waits for.
    pub joins: Vec<TemplateId>,
    /// The templates that it starts threads of.
    pub spawns: Vec<TemplateId>,
    /// Whether it cannot be taken: it contradicts a claim, or the data invariants.
    pub impossible: bool,
}

/// The analysis of one template.
pub struct FactsAnalysis<'a, 'p> {
    model: &'a Model<'p>,
    template: TemplateId,
    values: Values<'a, 'p>,
    retracted: &'a [RetractedLockClaim],
    /// Steps that data excludes.
    pruned: &'a BTreeSet<Step>,
    /// For each local that gets allocated objects: the locals that may be derived from it.
    derived: Vec<(LocalId, BitSet)>,
}

impl<'a, 'p> FactsAnalysis<'a, 'p> {
    /// Prepares the analysis.
    pub fn new(
        model: &'a Model<'p>,
        template: TemplateId,
        retracted: &'a [RetractedLockClaim],
        pruned: &'a BTreeSet<Step>,
    ) -> Self {
        let values = Values { model, template };
        Self { model, template, values, retracted, pruned, derived: derived_locals(model, template) }
    }

    /// The canonical forms of this template.
    pub fn values(&self) -> &Values<'a, 'p> {
        &self.values
    }

    /// The facts at each location. Those of locations that no path leads to are empty.
    ///
    /// The canonical form of a lock or a value depends on other facts, so with fewer facts at a location, a
    /// different fact may hold after it. Therefore the facts at a location are recomputed from all incoming
    /// edges; after some rounds they may only shrink, which ensures termination.
    pub fn solve(&self) -> IdVec<LocationId, LocationFacts> {
        const ROUNDS_WITH_GAIN: usize = 16;
        let code = &self.model.program.templates[self.template];
        let live = live_locals(code);
        let outgoing = code.outgoing();
        let mut entering: IdVec<LocationId, Vec<EdgeId>> =
            code.locations.iter().map(|_| Vec::new()).collect();
        code.edges.enumerate().for_each(|(id, edge)| entering[edge.target].push(id));
        let mut after: IdVec<EdgeId, Option<LocationFacts>> = code.edges.iter().map(|_| None).collect();
        let mut facts: IdVec<LocationId, Option<LocationFacts>> =
            code.locations.iter().map(|_| None).collect();
        let mut rounds: IdVec<LocationId, usize> = code.locations.iter().map(|_| 0).collect();
        facts[code.entry] = Some(LocationFacts::default());
        let mut queue = std::collections::VecDeque::from([code.entry]);
        let mut queued = BitSet::new(code.locations.len());
        queued.insert(code.entry.index());
        while let Some(location) = queue.pop_front() {
            queued.remove(location.index());
            for edge in &outgoing[location] {
                let Some(here) = &facts[location] else { continue };
                let target = code.edges[*edge].target;
                after[*edge] = self.after(*edge, here.clone(), &live[target]);
                if target == code.entry {
                    continue;
                }
                let mut inputs = entering[target].iter().filter_map(|edge| after[*edge].as_ref());
                let Some(mut now) = inputs.next().cloned() else { continue };
                inputs.for_each(|input| {
                    meet(&mut now, input);
                });
                rounds[target] += 1;
                if rounds[target] > ROUNDS_WITH_GAIN
                    && let Some(before) = &facts[target]
                {
                    let mut kept = before.clone();
                    meet(&mut kept, &now);
                    now = kept;
                }
                if facts[target].as_ref() != Some(&now) {
                    facts[target] = Some(now);
                    if queued.insert(target.index()) {
                        queue.push_back(target);
                    }
                }
            }
        }
        facts.iter().map(|facts| facts.clone().unwrap_or_default()).collect()
    }

    /// The facts after an edge; `None` when it cannot be taken.
    fn after(&self, edge: EdgeId, mut here: LocationFacts, live: &BitSet) -> Option<LocationFacts> {
        let code = &self.model.program.templates[self.template];
        let mut effects = self.effects_of(Step { template: self.template, edge });
        for op in &code.edges[edge].ops {
            self.apply(op, &mut here, &mut effects);
        }
        here.equal.retain(|(local, _)| live.contains(local.index()));
        match code.locations[code.edges[edge].target].kind {
            LocationKind::Normal | LocationKind::Error(_) | LocationKind::Halt => {}
            LocationKind::End | LocationKind::Exit => here = LocationFacts::default(),
        }
        (!effects.impossible).then_some(here)
    }

    fn effects_of(&self, step: Step) -> StepEffects {
        StepEffects { impossible: self.pruned.contains(&step), ..StepEffects::default() }
    }

    /// The effects of a step, from the facts at its source; calls `visit` with the facts before each
    /// operation.
    pub fn walk(
        &self,
        step: Step,
        source: &LocationFacts,
        visit: &mut dyn FnMut(&Op, &LocationFacts),
    ) -> StepEffects {
        let mut facts = source.clone();
        let mut effects = self.effects_of(step);
        for op in &self.model.edge(step).ops {
            visit(op, &facts);
            self.apply(op, &mut facts, &mut effects);
        }
        effects
    }

    /// Updates the facts for an operation.
    fn apply(&self, op: &Op, facts: &mut LocationFacts, out: &mut StepEffects) {
        match op {
            Op::Assume(condition) => self.assume(condition, facts, out),
            Op::Assign(assignment) => {
                // A constraint can make an open value equal to anything.
                if assignment.constraint.is_some() {
                    facts.fresh.clear();
                }
                self.assign(&assignment.pairs, facts, out);
            }
            Op::Lock(kind, address) => self.lock(*kind, address, facts, out),
            Op::Unlock(kind, address) => self.unlock(*kind, address, facts, out),
            Op::Spawn(callee, arguments, lhs) => {
                arguments.iter().for_each(|argument| self.publish(argument, facts));
                arguments.iter().for_each(|argument| self.spend(argument, facts));
                if let Some(lhs) = lhs {
                    self.store(lhs, facts, out);
                }
                if let Callee::Procedure(child) = callee {
                    out.spawns.push(*child);
                    if self.model.unique[*child]
                        && let Some(holder) = lhs.as_ref().and_then(|lhs| self.holder(lhs, facts))
                    {
                        facts.threads.push((holder, *child));
                    }
                }
            }
            Op::Join(thread, lhs) => {
                if let Some(value) = self.values.canonical(thread, &facts.equal)
                    && let Some((_, joined)) = facts.threads.iter().find(|(holder, _)| *holder == value)
                {
                    out.joins.push(*joined);
                }
                if let Some(lhs) = lhs {
                    self.store(lhs, facts, out);
                }
            }
            Op::Allocate { result, .. } => {
                self.store(result, facts, out);
                if let Lhs::Local(local) = result {
                    facts.fresh.push(*local);
                    facts.unspent.push(*local);
                }
            }
            Op::Free(address) => self.publish(address, facts),
            Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => {
                if let Op::Call(_, _, Some(Lhs::Local(local))) = op {
                    self.forget_local(*local, facts);
                }
                for access in accesses(self.model.points_to, self.template, op) {
                    if access.write {
                        self.written(access.address, access.region, facts, out);
                    }
                }
            }
        }
    }

    /// The assumption that an owner word is the thread's id is the claim to hold that lock; the opposite
    /// contradicts the claim.
    fn assume(&self, condition: &Expr, facts: &mut LocationFacts, out: &mut StepEffects) {
        let Some((address, mine)) = condition.asks_for_owner() else { return };
        let Some(key) = self.values.key(address, &facts.equal) else { return };
        if mine {
            self.claim(key, false, facts);
        } else {
            let is_held =
                |lock: &HeldLock| lock.base == key.base && lock.offset == key.offset && !lock.shared;
            out.impossible |= facts.locks.iter().any(is_held);
        }
    }

    /// Adds the claim to a lock, unless others may break it.
    fn claim(&self, Linear { base, offset }: Linear, shared: bool, facts: &mut LocationFacts) {
        let everywhere = is_cell_of_single(self.model, &base);
        let retracted = self.retracted.iter().any(|retracted| {
            let applies = retracted.template == if everywhere { None } else { Some(self.template) };
            applies && retracted.base == base && retracted.offset == offset
        });
        let lock = HeldLock { base, offset, shared };
        if !retracted && !facts.locks.contains(&lock) {
            facts.locks.push(lock);
        }
    }

    fn assign(&self, pairs: &[(Lhs, Rhs)], facts: &mut LocationFacts, out: &mut StepEffects) {
        // All values are those before the assignment.
        let known = |rhs: &Rhs| match rhs {
            Rhs::Value(value) => self.values.canonical(value, &facts.equal),
            Rhs::Any | Rhs::Unknown | Rhs::Float(..) => None,
        };
        let values: Vec<Option<Expr>> = pairs.iter().map(|(_, rhs)| known(rhs)).collect();
        let thread = |value: &Option<Expr>| {
            let value = value.as_ref()?;
            Some(facts.threads.iter().find(|(holder, _)| holder == value)?.1)
        };
        let threads: Vec<Option<TemplateId>> = values.iter().map(thread).collect();
        for (lhs, rhs) in pairs {
            if let (Lhs::Memory(_), Rhs::Value(value)) = (lhs, rhs) {
                self.publish(value, facts);
            }
        }
        for (lhs, _) in pairs {
            self.store(lhs, facts, out);
        }
        if pairs.len() > 1 {
            return;
        }
        for (((lhs, _), value), thread) in pairs.iter().zip(values).zip(threads) {
            if let Some(thread) = thread
                && let Some(holder) = self.holder(lhs, facts)
            {
                facts.threads.push((holder, thread));
            }
            if let (Lhs::Local(local), Some(value)) = (lhs, value)
                && !mentions(&value, *local)
            {
                facts.equal.push((*local, value));
            }
        }
    }

    /// The value that something holds after it was assigned to, as facts write it.
    fn holder(&self, lhs: &Lhs, facts: &LocationFacts) -> Option<Expr> {
        // Ids of threads fit into 32 bits.
        match lhs {
            Lhs::Local(local) => {
                let ty = self.model.program.templates[self.template].locals[*local].ty;
                (ty.bits >= 32).then_some(Expr::Local(*local))
            }
            Lhs::Memory(place) if place.ty.bits >= 32 => self.values.stable_cell(place, &facts.equal),
            Lhs::Memory(_) => None,
        }
    }

    fn store(&self, lhs: &Lhs, facts: &mut LocationFacts, out: &mut StepEffects) {
        match lhs {
            Lhs::Local(local) => self.forget_local(*local, facts),
            Lhs::Memory(place) => {
                let extent = Extent::Bytes(place.ty.bytes());
                let region = Region::at(self.model.points_to, self.template, &place.address, extent);
                self.written(&place.address, region, facts, out);
            }
        }
    }

    fn forget_local(&self, local: LocalId, facts: &mut LocationFacts) {
        facts.equal.retain(|(known, value)| *known != local && !mentions(value, local));
        facts.locks.retain(|lock| !mentions(&lock.base, local));
        facts.threads.retain(|(holder, _)| !mentions(holder, local));
        facts.fresh.retain(|known| *known != local);
        facts.unspent.retain(|known| *known != local);
    }

    /// Removes the facts that depend on the content of a region.
    fn forget_content(&self, region: &Region, facts: &mut LocationFacts) {
        let reads = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |inner| {
                if let Expr::Load(place) = inner {
                    let extent = Extent::Bytes(place.ty.bytes());
                    let loaded = Region::at(self.model.points_to, self.template, &place.address, extent);
                    found |= loaded.overlaps(region);
                }
            });
            found
        };
        facts.equal.retain(|(_, value)| !reads(value));
        facts.threads.retain(|(holder, _)| !reads(holder));
        facts.locks.retain(|lock| !reads(&lock.base));
    }

    /// Memory was written by this thread.
    fn written(&self, address: &Expr, region: Region, facts: &mut LocationFacts, out: &mut StepEffects) {
        let pointer = self.model.program.data_model.pointer();
        let key = self.values.key(address, &facts.equal);
        self.forget_content(&region, facts);
        // A write to an object that no other thread can reach breaks no claims of others.
        let is_fresh = key.as_ref().is_some_and(|key| is_fresh(key, facts));
        let effect = Effect::Store(region);
        facts.locks.retain(|lock| {
            is_apart(pointer, lock, key.as_ref(), &effect)
                || !breaks(&effect, lock, &lock_region(self.model, self.template, lock))
        });
        if !is_fresh {
            out.effects.push(effect);
        }
    }

    /// A value leaves the thread's locals: its possible targets are no longer fresh.
    fn publish(&self, value: &Expr, facts: &mut LocationFacts) {
        let mut locals = Vec::new();
        own_locals(value, &mut locals);
        facts.fresh.retain(|fresh| {
            let derived = self.derived.iter().find(|(root, _)| root == fresh);
            derived.is_some_and(|(_, derived)| !locals.iter().any(|local| derived.contains(local.index())))
        });
    }

    /// A value becomes the argument of a thread.
    fn spend(&self, value: &Expr, facts: &mut LocationFacts) {
        if let Some(Linear { base, .. }) = self.values.linear(value, &facts.equal) {
            facts.unspent.retain(|unspent| !mentions(&base, *unspent));
        }
    }

    fn lock(&self, kind: LockKind, address: &Expr, facts: &mut LocationFacts, out: &mut StepEffects) {
        let pointer = self.model.program.data_model.pointer();
        let key = self.values.key(address, &facts.equal);
        let words = self.words(kind, address);
        self.forget_content(&words, facts);
        let effect = Effect::Take(kind, words);
        facts.locks.retain(|lock| {
            let itself = key.as_ref().is_some_and(|key| key.base == lock.base && key.offset == lock.offset);
            (itself && !lock.shared)
                || is_apart(pointer, lock, key.as_ref(), &effect)
                || !breaks(&effect, lock, &lock_region(self.model, self.template, lock))
        });
        out.effects.push(effect);
        if let Some(key) = key {
            self.claim(key, kind == LockKind::Read, facts);
        }
    }

    fn unlock(&self, kind: LockKind, address: &Expr, facts: &mut LocationFacts, out: &mut StepEffects) {
        let pointer = self.model.program.data_model.pointer();
        let key = self.values.key(address, &facts.equal);
        let is_key = |lock: &HeldLock| {
            key.as_ref().is_some_and(|key| key.base == lock.base && key.offset == lock.offset)
        };
        let region = self.words(kind, address);
        let held = facts.locks.iter().any(is_key);
        self.forget_content(&region, facts);
        let effect = Effect::Store(region.clone());
        facts.locks.retain(|lock| {
            !is_key(lock)
                && (is_apart(pointer, lock, key.as_ref(), &effect)
                    || !breaks(&effect, lock, &lock_region(self.model, self.template, lock)))
        });
        out.effects.push(if held { Effect::GiveBack(region) } else { effect });
    }

    /// The words that a lock operation changes.
    fn words(&self, kind: LockKind, address: &Expr) -> Region {
        let bytes = match kind {
            LockKind::Spin => 4,
            LockKind::Mutex | LockKind::Read | LockKind::Write => 8,
        };
        Region::at(self.model.points_to, self.template, address, Extent::Bytes(bytes))
    }
}

/// Whether a key is in an object that only this thread's locals point to.
pub fn is_fresh(key: &Linear, facts: &LocationFacts) -> bool {
    matches!(key.base, Expr::Local(local) if facts.fresh.contains(&local))
}

/// Whether a base is that of a single object, so that it means the same in all threads.
pub fn is_cell_of_single(model: &Model<'_>, base: &Expr) -> bool {
    matches!(base, Expr::Address(object, _) if model.is_single(*object))
}

/// Whether an effect at a key cannot touch a lock: both have the same base and do not overlap.
fn is_apart(pointer: ir::IntType, lock: &HeldLock, key: Option<&Linear>, effect: &Effect) -> bool {
    let Some(key) = key.filter(|key| key.base == lock.base) else { return false };
    let Some(bytes) = effect.bytes() else { return false };
    let words = 8;
    let signed = ir::IntType { signed: true, ..pointer };
    let distance = signed.wrap(ir::Value::from(key.offset) - ir::Value::from(lock.offset));
    distance >= words || distance + ir::Value::from(bytes) <= 0
}

/// The locals whose value an expression is made of, without what is loaded through them.
fn own_locals(expr: &Expr, found: &mut Vec<LocalId>) {
    match expr {
        Expr::Local(local) => found.push(*local),
        Expr::Load(_) => {}
        other => other.operands().into_iter().for_each(|operand| own_locals(operand, found)),
    }
}

/// For each local that gets allocated objects: the locals whose value may be derived from it by local steps.
fn derived_locals(model: &Model<'_>, template: TemplateId) -> Vec<(LocalId, BitSet)> {
    let code = &model.program.templates[template];
    let mut copies: Vec<(LocalId, LocalId)> = Vec::new();
    let mut roots: Vec<LocalId> = Vec::new();
    for op in code.edges.iter().flat_map(|edge| &edge.ops) {
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    if let (Lhs::Local(to), Rhs::Value(value)) = (lhs, rhs) {
                        let mut from = Vec::new();
                        own_locals(value, &mut from);
                        copies.extend(from.into_iter().map(|from| (from, *to)));
                    }
                }
            }
            Op::Allocate { result: Lhs::Local(local), .. } => roots.push(*local),
            Op::Allocate { .. } | Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) => {}
            Op::Join(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => {}
        }
    }
    roots.sort_unstable();
    roots.dedup();
    let derived = roots.into_iter().map(|root| {
        let mut set = BitSet::new(code.locals.len());
        set.insert(root.index());
        loop {
            let more: Vec<LocalId> = copies
                .iter()
                .filter(|(from, to)| set.contains(from.index()) && !set.contains(to.index()))
                .map(|(_, to)| *to)
                .collect();
            if more.is_empty() {
                return (root, set);
            }
            more.into_iter().for_each(|local| {
                set.insert(local.index());
            });
        }
    });
    derived.collect()
}

/// Keeps the facts of both; returns whether any was lost. An exclusive claim is also a shared one.
fn meet(known: &mut LocationFacts, other: &LocationFacts) -> bool {
    let sizes = |known: &LocationFacts| {
        let (equal, locks, threads) = (known.equal.len(), known.locks.len(), known.threads.len());
        (equal, locks, threads, known.fresh.len(), known.unspent.len())
    };
    let before = sizes(known);
    known.equal.retain(|fact| other.equal.contains(fact));
    let weakened = |lock: &HeldLock| HeldLock { shared: true, ..lock.clone() };
    let exclusive = |lock: &HeldLock| HeldLock { shared: false, ..lock.clone() };
    let mut changed = false;
    known.locks.retain_mut(|lock| {
        if other.locks.contains(lock) || (lock.shared && other.locks.contains(&exclusive(lock))) {
            return true;
        }
        let weaker = weakened(lock);
        let stays = other.locks.contains(&weaker);
        changed = true;
        *lock = weaker;
        stays
    });
    known.threads.retain(|fact| other.threads.contains(fact));
    known.fresh.retain(|fact| other.fresh.contains(fact));
    known.unspent.retain(|fact| other.unspent.contains(fact));
    changed || before != sizes(known)
}
