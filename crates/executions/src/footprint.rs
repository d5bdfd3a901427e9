//! The memory that each step may touch, and that a thread may touch in its whole future from a location on.
//!
//! Over-approximates if points-to information ([`ir::Targets`]) is right. Without it, a pointer is assumed to
//! stay in the object that its address starts from, or to point to an object whose address is taken. As that
//! is a guess, every executed access is compared with the prediction ([`Footprints::foresees`]); the reduced
//! search is notified of a mismatch. (If an execution makes an unforeseen access, so does one that the
//! reduced search follows: up to the first such access all commutes as claimed.)

use crate::guards::{Guards, LockNumber};
use crate::touches::{Code, Next};
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::semantics::{Machine, State, ThreadIndex};
use ir::{EdgeId, IdVec, LocationId, ObjectId, Op, Program, Storage, Template, TemplateId};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Set layout: for each object six bits, then the flags. The last two are for shared accesses that are made
/// without the lock that the object is given ([`crate::guards`]); taking that lock is no such access.
const SHARED_READ: usize = 0;
const SHARED_WRITE: usize = 1;
const OWN_READ: usize = 2;
const OWN_WRITE: usize = 3;
const LOOSE_READ: usize = 4;
const LOOSE_WRITE: usize = 5;
const STRIDE: usize = 6;

#[derive(Clone, Copy)]
enum Flag {
    Spawns,
    Joins,
    AsksLiveness,
    ChangesLiveness,
}

/// A state, as the thread sees it whose steps are in question.
#[derive(Clone, Copy)]
pub struct View<'a, 'p> {
    /// The meaning of the program.
    pub machine: &'a Machine<'p>,
    /// The state.
    pub state: &'a State,
    /// The thread.
    pub me: ThreadIndex,
    /// The lock that was asked about last, and whether the thread holds it.
    pub asked: &'a Cell<Option<(LockNumber, bool)>>,
}

/// The footprints of a program.
pub struct Footprints {
    next: IdVec<TemplateId, IdVec<LocationId, Next>>,
    /// For each location, the set of its future.
    future: IdVec<TemplateId, IdVec<LocationId, u32>>,
    sets: Vec<BitSet>,
    objects: usize,
    frame_objects: IdVec<TemplateId, Vec<ObjectId>>,
    thread_locals: Vec<ObjectId>,
    is_private_storage: IdVec<ObjectId, bool>,
    guards: Guards,
}

/// Past this many bits for all locations together, a template has one set for all of its locations.
const MOST_BITS: usize = 1 << 31;

impl Footprints {
    /// Computes the footprints of a program.
    pub fn new(program: &Program) -> Self {
        let facts = Code::new(program);
        let objects = program.objects.len();
        let thread_locals: Vec<ObjectId> = program
            .objects
            .enumerate()
            .filter(|(_, o)| o.storage == Storage::ThreadLocal)
            .map(|(id, _)| id)
            .collect();
        let is_private_storage = program
            .objects
            .iter()
            .map(|o| matches!(o.storage, Storage::Frame(_) | Storage::ThreadLocal))
            .collect();
        let next: IdVec<TemplateId, IdVec<LocationId, Next>> =
            program.templates.ids().map(|template| facts.locations(template)).collect();
        let guards = Guards::new(&facts, &next);
        let mut this = Self {
            guards,
            next,
            future: IdVec::new(),
            sets: Vec::new(),
            objects,
            frame_objects: facts.frame_objects.clone(),
            thread_locals,
            is_private_storage,
        };
        this.futures(&facts);
        this
    }

    /// What the edges at a location touch.
    #[inline]
    pub fn next(&self, template: TemplateId, location: LocationId) -> &Next {
        &self.next[template][location]
    }

    fn empty(&self) -> BitSet {
        BitSet::new(self.objects * STRIDE + 4)
    }
    fn flag(&self, flag: Flag) -> usize {
        self.objects * STRIDE + flag as usize
    }

    fn add_next(&self, set: &mut BitSet, template: TemplateId, location: LocationId) {
        let next = &self.next[template][location];
        for touch in next.fixed.iter().chain(&next.computed) {
            let is_guarded = self.guards.guard(touch.object).is_some_and(|lock| {
                self.guards.is_held(template, location, lock)
                    || touch.takes.is_some_and(|offset| self.guards.locks[lock] == (touch.object, offset))
            });
            if !touch.own && !is_guarded {
                let bit = if touch.write { LOOSE_WRITE } else { LOOSE_READ };
                set.insert(touch.object.index() * STRIDE + bit);
            }
            let bit = match (touch.own, touch.write) {
                (false, false) => SHARED_READ,
                (false, true) => SHARED_WRITE,
                (true, false) => OWN_READ,
                (true, true) => OWN_WRITE,
            };
            set.insert(touch.object.index() * STRIDE + bit);
        }
        if next.spawns {
            set.insert(self.flag(Flag::Spawns));
        }
        if next.asks_liveness {
            set.insert(self.flag(Flag::AsksLiveness));
        }
        if next.changes_liveness {
            set.insert(self.flag(Flag::ChangesLiveness));
        }
    }

    fn futures(&mut self, facts: &Code<'_>) {
        let program = facts.program;
        // What an activation does in its whole life, with all that it calls and starts.
        let mut own: Vec<BitSet> = Vec::new();
        for (template, code) in program.templates.enumerate() {
            let mut set = self.empty();
            for location in code.locations.ids() {
                self.add_next(&mut set, template, location);
            }
            self.add_frame(&mut set, template);
            if code.edges.iter().flat_map(|edge| &edge.ops).any(|op| matches!(op, Op::Join(..))) {
                set.insert(self.flag(Flag::Joins));
            }
            own.push(set);
        }
        let mut whole = own;
        let mut changed = true;
        while changed {
            changed = false;
            for (template, code) in program.templates.enumerate() {
                let mut set = whole[template.index()].clone();
                for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                    self.add_started(&mut set, op, facts, &whole);
                }
                if set != whole[template.index()] {
                    whole[template.index()] = set;
                    changed = true;
                }
            }
        }
        let locations: usize = program.templates.iter().map(|code| code.locations.len()).sum();
        let coarse = locations.saturating_mul(self.objects * STRIDE + 4) > MOST_BITS;
        let mut numbers: FxHashMap<BitSet, u32> = FxHashMap::default();
        let mut future: IdVec<TemplateId, IdVec<LocationId, u32>> = IdVec::new();
        for (template, code) in program.templates.enumerate() {
            let mut of_location: IdVec<LocationId, u32> = code.locations.iter().map(|_| u32::MAX).collect();
            if coarse {
                let number = self.number(whole[template.index()].clone(), &mut numbers);
                of_location.iter_mut().for_each(|set| *set = number);
            } else {
                let outgoing = code.outgoing();
                for component in components(code, &outgoing) {
                    // Components come after those that they lead to: a target without a set is a member.
                    let mut set = self.empty();
                    self.add_frame(&mut set, template);
                    for &location in &component {
                        self.add_next(&mut set, template, location);
                        for &edge in &outgoing[location] {
                            let step = &code.edges[edge];
                            for op in &step.ops {
                                self.add_started(&mut set, op, facts, &whole);
                                if matches!(op, Op::Join(..)) {
                                    set.insert(self.flag(Flag::Joins));
                                }
                            }
                            if let Some(later) = self.sets.get(of_location[step.target] as usize) {
                                set.union_with(later);
                            }
                        }
                    }
                    let number = self.number(set, &mut numbers);
                    for location in component {
                        of_location[location] = number;
                    }
                }
            }
            future.push(of_location);
        }
        self.future = future;
    }

    fn number(&mut self, set: BitSet, numbers: &mut FxHashMap<BitSet, u32>) -> u32 {
        if let Some(number) = numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        numbers.insert(set, number);
        number
    }

    /// An activation's objects end with it, wherever it is.
    fn add_frame(&self, set: &mut BitSet, template: TemplateId) {
        let frame = &self.frame_objects[template];
        for object in frame.iter().chain(&self.thread_locals) {
            set.insert(object.index() * STRIDE + OWN_WRITE);
        }
        if !frame.is_empty() || !self.thread_locals.is_empty() {
            set.insert(self.flag(Flag::ChangesLiveness));
        }
    }

    /// Adds what a called procedure or a started thread may do.
    fn add_started(&self, set: &mut BitSet, op: &Op, facts: &Code<'_>, whole: &[BitSet]) {
        match op {
            Op::Call(callee, ..) => {
                for template in facts.callees(callee) {
                    set.union_with(&whole[template.index()]);
                }
            }
            Op::Spawn(callee, ..) => {
                for template in facts.callees(callee) {
                    // The new thread's own instances are none that exist now.
                    let mut shared = whole[template.index()].clone();
                    for object in 0..self.objects {
                        shared.remove(object * STRIDE + OWN_READ);
                        shared.remove(object * STRIDE + OWN_WRITE);
                    }
                    set.union_with(&shared);
                }
            }
            Op::Assume(_)
            | Op::Assign(_)
            | Op::Lock(..)
            | Op::Unlock(..)
            | Op::Join(..)
            | Op::Allocate { .. } => {}
            Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
        }
    }

    /// The sets of a thread's future: one for each activation.
    fn future_of<'a>(&'a self, state: &'a State, thread: ThreadIndex) -> impl Iterator<Item = &'a BitSet> {
        let activations = state.threads[thread].activations.iter();
        activations
            .map(|activation| &self.sets[self.future[activation.template][activation.location] as usize])
    }

    /// Whether touching an object may collide with what a thread does later; also with what that thread does
    /// to its own instance of the object, if `own_too`.
    fn collides(
        &self,
        view: View<'_, '_>,
        future: &BitSet,
        object: ObjectId,
        write: bool,
        own_too: bool,
    ) -> bool {
        let at = object.index() * STRIDE;
        let own = own_too && (future.contains(at + OWN_WRITE) || (write && future.contains(at + OWN_READ)));
        let shared = future.contains(at + SHARED_WRITE) || (write && future.contains(at + SHARED_READ));
        let loose = future.contains(at + LOOSE_WRITE) || (write && future.contains(at + LOOSE_READ));
        own || (shared && (loose || !self.guards.guard(object).is_some_and(|lock| self.holds(view, lock))))
    }

    /// Whether a thread holds a lock, so that no other can take it before the thread moves (see
    /// `engine-explicit/src/expand.rs`).
    fn holds(&self, view: View<'_, '_>, lock: LockNumber) -> bool {
        match view.asked.get() {
            Some((asked, answer)) if asked == lock => answer,
            Some(_) | None => {
                let answer = self.compute_holds(view, lock);
                view.asked.set(Some((lock, answer)));
                answer
            }
        }
    }
    fn compute_holds(&self, view: View<'_, '_>, lock: LockNumber) -> bool {
        let View { machine, state, me, .. } = view;
        let (object, offset) = self.guards.locks[lock];
        let address = machine.addresses.offset[object] + offset;
        let owner = machine.peek_memory(state, address, ir::IntType::U32);
        owner == Some(me as ir::Value + 1)
            && state.threads.iter().enumerate().filter(|(other, _)| *other != me).all(|(_, other)| {
                other.activations.iter().all(|activation| {
                    let (template, location) = (activation.template, activation.location);
                    let future = &self.sets[self.future[template][location] as usize];
                    !self.guards.is_held(template, location, lock)
                        && !future.contains(object.index() * STRIDE + LOOSE_WRITE)
                })
            })
    }

    /// Whether the touches that are known without running collide with what another thread does later.
    pub fn fixed_collides(
        &self,
        view: View<'_, '_>,
        next: &Next,
        template: TemplateId,
        other: ThreadIndex,
    ) -> bool {
        let state = view.state;
        self.future_of(state, other).any(|future| {
            next.fixed.iter().any(|touch| self.collides(view, future, touch.object, touch.write, !touch.own))
                || (next.spawns
                    && (future.contains(self.flag(Flag::Spawns)) || future.contains(self.flag(Flag::Joins))))
                || (next.changes_liveness && future.contains(self.flag(Flag::AsksLiveness)))
                || (next.pops && self.popped_collides(view, next, template, future))
        })
    }

    /// Whether the objects that end with a return collide with what another thread does later.
    fn popped_collides(
        &self,
        view: View<'_, '_>,
        next: &Next,
        template: TemplateId,
        future: &BitSet,
    ) -> bool {
        let activations = &view.state.threads[view.me].activations;
        let dies = |objects: &[ObjectId]| {
            !objects.is_empty()
                && (future.contains(self.flag(Flag::AsksLiveness))
                    || objects.iter().any(|object| self.collides(view, future, *object, true, false)))
        };
        dies(&self.frame_objects[template])
            || ((next.exits || activations.len() == 1) && dies(&self.thread_locals))
            || (next.exits
                && activations.iter().any(|activation| dies(&self.frame_objects[activation.template])))
    }

    /// Whether the objects that computed addresses may lead to collide with what another thread does later.
    pub fn computed_collides(&self, view: View<'_, '_>, next: &Next, other: ThreadIndex) -> bool {
        self.future_of(view.state, other).any(|future| {
            next.computed.iter().any(|touch| self.collides(view, future, touch.object, touch.write, true))
                || (next.asks_liveness && future.contains(self.flag(Flag::ChangesLiveness)))
        })
    }

    /// Whether touching the bytes at an address collides with what another thread does later.
    pub fn address_collides(
        &self,
        view: View<'_, '_>,
        address: u64,
        write: bool,
        other: ThreadIndex,
    ) -> bool {
        let View { machine, state, .. } = view;
        let Some((object, _)) = machine.describe(state, address) else { return true };
        let owner = if self.is_private_storage[object] {
            machine.addresses.stack_at(address).map(|(thread, _)| thread)
        } else {
            None
        };
        self.future_of(state, other)
            .any(|future| self.collides(view, future, object, write, owner == Some(other)))
    }

    /// Whether a thread may change which objects are live.
    pub fn may_change_liveness(&self, state: &State, other: ThreadIndex) -> bool {
        self.future_of(state, other).any(|future| future.contains(self.flag(Flag::ChangesLiveness)))
    }

    /// Whether a step at a location was expected to touch an object.
    pub fn foresees(&self, next: &Next, object: ObjectId, write: bool) -> bool {
        let mut all = next.fixed.iter().chain(&next.computed);
        all.any(|touch| touch.object == object && (touch.write || !write))
    }
}

/// The strongly connected components of a template's graph, targets before sources.
fn components(code: &Template, outgoing: &IdVec<LocationId, Vec<EdgeId>>) -> Vec<Vec<LocationId>> {
    let targets =
        |location: u32| outgoing[LocationId(location)].iter().map(|edge| code.edges[*edge].target.0);
    let found = ir::components::components(code.locations.len() as u32, targets).members;
    found.into_iter().map(|members| members.into_iter().map(LocationId).collect()).collect()
}
