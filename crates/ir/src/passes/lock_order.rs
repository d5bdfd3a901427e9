//! The order in which a program acquires its locks, where that alone excludes deadlocks, for any number of
//! threads and any data.
//!
//! For a program that satisfies the following conditions, [`LockOrder::of`] collects which locks may be
//! acquired while which are held. If this relation has no cycle, there is no deadlock
//! ([`crate::semantics::Wait`] has the definition).
//!
//! 1. Threads wait only for locks in static objects, acquired by name, and for threads to end. No call or
//!    start goes through a pointer, there is no recursion, and no call, lock or join is in an atomic region.
//! 2. The objects of the locks are used by lock operations, and otherwise only read, or set to 0, by name; so
//!    by assumption 14 of `SOUNDNESS.md`, nothing else changes them. Their initial value is 0.
//! 3. The locks that a thread *may hold* at a location are those that it acquired on some path and has not
//!    released since. It acquires none of them again, ends with none, and holds none around a cycle.
//! 4. Exactly one thread runs from the start, and only this thread joins; it never asks for its own id, and
//!    holds no lock when it joins. So it does not wait for itself: a number that equals its id, without
//!    asking for it, was never set, and joining it is undefined ([`may_ask_for_own_id`]).
//!
//! Why these conditions suffice: a lock's word is 0 or the id of the thread that acquired it last and has not
//! released it since (2, 3: no lock is held twice, so a release always frees it); so that thread may hold it
//! at its location. Let a set of threads wait for ever, each for something that only threads of the set, or
//! ended ones, could provide. Joining threads wait for others of the set, which do not join (4: the first
//! thread cannot name itself), so some threads wait for locks. Consider the last of these locks in the order.
//! Its owner has not ended (3). It is in the set and does not join (4), so it waits for a lock that it
//! acquires while it may hold this one; that lock comes later in the order: a contradiction. And no thread
//! holds a lock while it runs for ever (3), so no thread waits for ever for one that runs.
//!
//! Under-approximates: for other programs there is no result.

use super::inline::edges_in_cycles;
use crate::expr::{Expr, Place};
use crate::ids::{IdVec, LocationId, ObjectId, TemplateId};
use crate::op::{Callee, Lhs, LockKind, Op, Rhs};
use crate::program::{Count, Initial, LocationKind, Program, Storage, Template, Waiting};
use crate::semantics::may_ask_for_own_id;

/// A lock: its static object and the offset there.
pub type StaticLock = (ObjectId, u64);

/// Which locks are acquired while which are held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockOrder {
    /// All locks.
    pub locks: Vec<StaticLock>,
    /// For each lock, a bit for each lock that is acquired while it may be held.
    later: Vec<u64>,
}

/// The locks that have bits.
const MOST_LOCKS: usize = 64;
/// The bytes of a lock that must start as 0.
const LOCK_BYTES: u64 = 8;

impl LockOrder {
    /// Analyses a program; `None` when a thread may wait in another way, or one of the conditions does not
    /// hold.
    pub fn of(program: &Program) -> Option<Self> {
        let locks = locks(program)?;
        if !starts_fit(program) || !objects_fit(program, &locks) {
            return None;
        }
        let calls = Calls::of(program)?;
        if !joins_fit(program, &calls) {
            return None;
        }
        let mut order = Self { later: vec![0; locks.len()], locks };
        let held = order.held(program);
        for (template, code) in program.templates.enumerate() {
            order.check(code, &held[template], calls.is_thread[template])?;
        }
        Some(order)
    }

    /// All locks, each before those that are acquired while it may be held; `None` when there is no such
    /// order.
    pub fn sorted(&self) -> Option<Vec<StaticLock>> {
        let mut left: Vec<usize> = (0..self.locks.len()).collect();
        let mut sorted = Vec::new();
        while !left.is_empty() {
            let is_first = |lock: &usize| !left.iter().any(|other| self.later[*other] >> lock & 1 == 1);
            let at = left.iter().position(is_first)?;
            sorted.push(self.locks[left.remove(at)]);
        }
        Some(sorted)
    }

    /// Whether each lock comes before those that are acquired while it may be held.
    pub fn is_sorted(&self, order: &[StaticLock]) -> bool {
        let place = |lock: usize| order.iter().position(|one| *one == self.locks[lock]);
        order.len() == self.locks.len()
            && (0..self.locks.len()).all(|lock| {
                (0..self.locks.len()).filter(|other| self.later[lock] >> other & 1 == 1).all(|other| {
                    matches!((place(lock), place(other)), (Some(first), Some(second)) if first < second)
                })
            })
    }

    fn bit(&self, address: &Expr) -> u64 {
        let Expr::Address(object, offset) = address else { return 0 };
        self.locks.iter().position(|lock| *lock == (*object, *offset)).map_or(0, |at| 1 << at)
    }

    /// The locks that may be held at each location.
    fn held(&self, program: &Program) -> IdVec<TemplateId, IdVec<LocationId, u64>> {
        let none = |code: &Template| code.locations.iter().map(|_| 0).collect();
        let mut held: IdVec<TemplateId, IdVec<LocationId, u64>> =
            program.templates.iter().map(none).collect();
        let mut grown = true;
        while grown {
            grown = false;
            for (template, code) in program.templates.enumerate() {
                for edge in &code.edges {
                    let mut now = held[template][edge.source];
                    for op in &edge.ops {
                        match op {
                            Op::Lock(_, address) => now |= self.bit(address),
                            Op::Unlock(_, address) => now &= !self.bit(address),
                            Op::Call(Callee::Procedure(callee), ..) => {
                                let called = &program.templates[*callee];
                                let entry = &mut held[*callee][called.entry];
                                grown |= now & !*entry != 0;
                                *entry |= now;
                                let ends = called.locations.enumerate();
                                let ends = ends.filter(|(_, one)| one.kind == LocationKind::End);
                                now = ends.fold(0, |all, (end, _)| all | held[*callee][end]);
                            }
                            Op::Assume(_)
                            | Op::Assign(_)
                            | Op::Spawn(..)
                            | Op::Join(..)
                            | Op::Allocate { .. } => {}
                            Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
                            Op::Call(Callee::Pointer(_), ..) => {}
                        }
                    }
                    let after = &mut held[template][edge.target];
                    grown |= now & !*after != 0;
                    *after |= now;
                }
            }
        }
        held
    }

    /// Checks a template, and adds the locks that it acquires.
    fn check(&mut self, code: &Template, held: &IdVec<LocationId, u64>, is_thread: bool) -> Option<()> {
        for (location, one) in code.locations.enumerate() {
            let ends_thread = match one.kind {
                LocationKind::Exit => true,
                LocationKind::End => is_thread,
                LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => false,
            };
            if ends_thread && held[location] != 0 {
                return None;
            }
        }
        let outgoing = code.outgoing();
        let in_cycle = edges_in_cycles(code);
        for (id, edge) in code.edges.enumerate() {
            if held[edge.source] != 0 && in_cycle[id] {
                return None;
            }
            let mut now = held[edge.source];
            for op in &edge.ops {
                match op {
                    Op::Lock(_, address) => {
                        let bit = self.bit(address);
                        if now & bit != 0 {
                            return None;
                        }
                        // A thread that can take another edge does not wait.
                        if outgoing[edge.source].len() == 1 {
                            for lock in 0..self.locks.len() {
                                self.later[lock] |= if now >> lock & 1 == 1 { bit } else { 0 };
                            }
                        }
                        now |= bit;
                    }
                    Op::Unlock(_, address) => now &= !self.bit(address),
                    Op::Join(..) if now != 0 => return None,
                    Op::Call(..) => now = 0,
                    Op::Join(..) | Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Allocate { .. } => {}
                    Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
                }
            }
        }
        Some(())
    }
}

/// All locks; `None` when a thread may wait for something else.
fn locks(program: &Program) -> Option<Vec<StaticLock>> {
    let mut locks: Vec<StaticLock> = Vec::new();
    for code in &program.templates {
        for edge in &code.edges {
            let source = &code.locations[edge.source];
            if matches!(source.waiting, Waiting::For(_)) {
                return None;
            }
            for op in &edge.ops {
                match op {
                    Op::Lock(LockKind::Mutex | LockKind::Spin, Expr::Address(object, offset)) => {
                        if source.atomic || program.objects[*object].storage != Storage::Static {
                            return None;
                        }
                        if !locks.contains(&(*object, *offset)) {
                            locks.push((*object, *offset));
                        }
                    }
                    Op::Lock(..) => return None,
                    Op::Call(..) | Op::Join(..) if source.atomic => return None,
                    Op::Broadcast(_) => return None,
                    Op::Call(..) | Op::Join(..) | Op::Assume(_) | Op::Assign(_) | Op::Unlock(..) => {}
                    Op::Spawn(..) | Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
                }
            }
        }
    }
    (locks.len() <= MOST_LOCKS).then_some(locks)
}

/// Whether exactly one thread runs from the start.
fn starts_fit(program: &Program) -> bool {
    let threads: u64 = program
        .start
        .iter()
        .map(|(_, count)| match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        })
        .sum();
    threads <= 1
}

/// Whether the locks start as 0 and do not overlap, and their objects are used by name only: by lock
/// operations, read, or set to 0.
fn objects_fit(program: &Program, locks: &[StaticLock]) -> bool {
    let is_lock = |object: ObjectId| locks.iter().any(|(one, _)| *one == object);
    for (object, offset) in locks {
        let Initial::Values(values) = &program.objects[*object].initial else { return false };
        let zero = |(at, ty, value): &(u64, crate::IntType, Expr)| {
            let overlaps = *at < offset + LOCK_BYTES && *offset < at + ty.bytes();
            !overlaps || matches!(value, Expr::Const(0, _))
        };
        let apart =
            |(other, at): &StaticLock| other != object || at == offset || at.abs_diff(*offset) >= LOCK_BYTES;
        if !values.iter().all(zero) || !locks.iter().all(apart) {
            return false;
        }
    }
    let mentions = |expr: &Expr| {
        let mut found = false;
        expr.walk(&mut |inner| found |= matches!(inner, Expr::Address(object, _) if is_lock(*object)));
        found
    };
    let in_initials = program.objects.iter().any(|object| match &object.initial {
        Initial::Values(values) => values.iter().any(|(_, _, value)| mentions(value)),
        Initial::Unknown | Initial::NotModelled => false,
    });
    let fits = |op: &Op| match op {
        Op::Lock(_, Expr::Address(..)) | Op::Unlock(_, Expr::Address(..)) => true,
        Op::Assign(assignment) => {
            let stores = assignment.pairs.iter().all(|(lhs, rhs)| match (lhs, rhs) {
                (Lhs::Memory(Place { address: Expr::Address(object, _), .. }), rhs) if is_lock(*object) => {
                    matches!(rhs, Rhs::Value(Expr::Const(0, _)))
                }
                (Lhs::Memory(place), _) => !escapes(&place.address, &is_lock),
                (Lhs::Local(_), _) => true,
            });
            let reads = assignment.pairs.iter().all(|(_, rhs)| match rhs {
                Rhs::Value(value) => !escapes(value, &is_lock),
                Rhs::Float(_, _, operands) => !operands.iter().any(|operand| escapes(operand, &is_lock)),
                Rhs::Any | Rhs::Unknown => true,
            });
            stores && reads && assignment.constraint.as_ref().is_none_or(|one| !escapes(one, &is_lock))
        }
        other => !other.expressions().into_iter().any(|expr| escapes(expr, &is_lock)),
    };
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    !in_initials && ops.all(fits)
}

/// Whether the address of such an object is used for anything but a read there.
fn escapes(expr: &Expr, is_lock: &impl Fn(ObjectId) -> bool) -> bool {
    match expr {
        Expr::Load(place) if matches!(place.address, Expr::Address(..)) => false,
        Expr::Address(object, _) => is_lock(*object),
        other => other.operands().into_iter().any(|operand| escapes(operand, is_lock)),
    }
}

/// The calls and the starts of threads.
struct Calls {
    /// Whether a template is started as a thread.
    is_thread: IdVec<TemplateId, bool>,
    /// Whether it may run in a thread that is started later.
    in_started: IdVec<TemplateId, bool>,
}

impl Calls {
    /// `None` when there are calls or starts through pointers, or recursion.
    fn of(program: &Program) -> Option<Self> {
        let no = || program.templates.iter().map(|_| false).collect();
        let mut found = Self { is_thread: no(), in_started: no() };
        let mut called: IdVec<TemplateId, Vec<TemplateId>> =
            program.templates.iter().map(|_| Vec::new()).collect();
        for (template, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                match op {
                    Op::Call(Callee::Procedure(callee), ..) => called[template].push(*callee),
                    Op::Spawn(Callee::Procedure(child), ..) => {
                        found.is_thread[*child] = true;
                        found.in_started[*child] = true;
                    }
                    Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..) => return None,
                    Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => {}
                    Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
                }
            }
        }
        for (template, _) in &program.start {
            found.is_thread[*template] = true;
        }
        let started = found.in_started.clone();
        for template in program.templates.ids() {
            let mut reached: IdVec<TemplateId, bool> = no();
            let mut work = called[template].clone();
            while let Some(callee) = work.pop() {
                if callee == template {
                    return None;
                }
                if !std::mem::replace(&mut reached[callee], true) {
                    work.extend(&called[callee]);
                }
            }
            for callee in program.templates.ids().filter(|callee| reached[*callee]) {
                found.in_started[callee] |= started[template];
            }
        }
        Some(found)
    }
}

/// Whether only the first thread joins, and it never asks for its own id.
fn joins_fit(program: &Program, calls: &Calls) -> bool {
    let has = |template: TemplateId, wanted: &dyn Fn(&Op) -> bool| {
        program.templates[template].edges.iter().flat_map(|edge| &edge.ops).any(wanted)
    };
    let joins = |op: &Op| matches!(op, Op::Join(..));
    let joining: Vec<TemplateId> =
        program.templates.ids().filter(|template| has(*template, &joins)).collect();
    joining.is_empty()
        || !joining.iter().any(|template| calls.in_started[*template]) && !may_ask_for_own_id(program)
}
