//! Proofs by ownership: allocated memory that only local variables of one thread lead to. No other thread,
//! and no memory, has its address, so it lives until this thread frees it. For any number of threads.
//!
//! A claim holds whenever a thread is at a location of the program without calls: there is a live object of
//! an allocation site, with some number of bytes; some locals hold its address, the *copies*; and no other
//! value is computed from the address, but perhaps in some further locals, the *derived* ones. This file says
//! what a step does to such claims ([`after`]), what they say of tests whether memory is valid ([`reduced`]),
//! and when they show that no memory is lost or left ([`excludes_leaks`]): it is freed by its owner, or, so
//! that it is not lost, its address goes to a static variable that is never written again. Engine and checker
//! share it; who finds claims, and who tests that they are closed under steps, share nothing else.
//!
//! Over-approximates: where an address goes anywhere else (to memory, to another thread, into a comparison
//! with anything but 0), the claim is given up. Rests on assumption 14 of `SOUNDNESS.md`: numbers that were
//! not computed from an address are none.

use crate::Proof;
use ir::passes::liveness::live_locals;
use ir::passes::unique::Unique;
use ir::semantics::Leak;
use ir::{
    BinaryOp, Count, Edge, Expr, Initial, IntType, Lhs, LocalId, LocationKind, ObjectId, ObjectRole, Op,
    Place, Program, Rhs, Storage, TemplateId, UnaryOp, Value, Waiting,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Allocated memory that one activation owns.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnedMemory {
    /// Where it was allocated.
    pub site: ObjectId,
    /// Its number of bytes, if that is known.
    pub size: Option<u64>,
    /// The locals that hold its address; at least one.
    pub copies: BTreeSet<LocalId>,
    /// Other locals whose values may be computed from its address.
    pub derived: BTreeSet<LocalId>,
}

/// The claims at each location of each template of the program without calls; `None` where no thread gets.
pub type OwnedClaims = Vec<Vec<Option<Vec<OwnedMemory>>>>;

/// Why a property holds: by ownership.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnedProof {
    /// What threads own, and where.
    pub claims: OwnedClaims,
    /// Of errors: why the [reduced] program has none. Of leaks: [`Proof::NoErrorLocation`], which says
    /// nothing.
    pub rest: Proof,
}

/// What a step does to claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AfterStep {
    /// What is owned afterwards.
    pub owned: Vec<OwnedMemory>,
    /// Whether all that was owned or allocated is still owned, or was freed.
    pub is_kept: bool,
}

/// How an expression uses an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// Its value says nothing of the address, except whether it is 0, or what is stored there.
    Hidden,
    /// Its value may be computed from the address.
    Carried,
    /// It compares the address with something, so that this may be the address, too.
    Compared,
}

impl OwnedMemory {
    fn knows(&self, local: LocalId) -> bool {
        self.copies.contains(&local) || self.derived.contains(&local)
    }

    /// Whether an expression is the address, in a local: it is not 0. What is computed from the address and
    /// another value may be 0 where the two are equal.
    fn is_copy(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Local(local) if self.copies.contains(local))
    }

    fn in_expr(&self, expr: &Expr) -> Use {
        let most = |operands: Vec<&Expr>| {
            operands.into_iter().map(|operand| self.in_expr(operand)).max().unwrap_or(Use::Hidden)
        };
        // What is computed from the operand shows no more than whether it is compared.
        let only_compared = |operand: &Expr| match self.in_expr(operand) {
            Use::Hidden | Use::Carried => Use::Hidden,
            Use::Compared => Use::Compared,
        };
        match expr {
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => Use::Hidden,
            Expr::Local(local) if self.knows(*local) => Use::Carried,
            Expr::Local(_) => Use::Hidden,
            Expr::Load(place) => only_compared(&place.address),
            Expr::Valid(address, _) => only_compared(address),
            Expr::Cast(IntType::BOOL, operand) if self.is_copy(operand) => Use::Hidden,
            Expr::Cast(IntType::BOOL, operand) => match self.in_expr(operand) {
                Use::Hidden => Use::Hidden,
                Use::Carried | Use::Compared => Use::Compared,
            },
            Expr::Unary(_, _, operand) | Expr::Cast(_, operand) | Expr::Old(operand) => self.in_expr(operand),
            Expr::Binary(op, _, pair) if op.is_comparison() => {
                let is_zero = |side: &Expr| matches!(side, Expr::Const(0, _));
                let asks_for_null =
                    self.is_copy(&pair.0) && is_zero(&pair.1) || is_zero(&pair.0) && self.is_copy(&pair.1);
                match most(vec![&pair.0, &pair.1]) {
                    Use::Carried if asks_for_null => Use::Hidden,
                    Use::Carried | Use::Compared => Use::Compared,
                    Use::Hidden => Use::Hidden,
                }
            }
            Expr::Binary(_, _, pair) => most(vec![&pair.0, &pair.1]),
            Expr::IfThenElse(three) => most(vec![&three.0, &three.1, &three.2]),
            Expr::Overflows(_, _, pair) => match most(vec![&pair.0, &pair.1]) {
                Use::Hidden => Use::Hidden,
                Use::Carried | Use::Compared => Use::Compared,
            },
        }
    }
}

/// Words of static objects that are written by one step alone, which is taken at most once, and whose address
/// is never taken: what they get, they keep.
#[derive(Default, Debug)]
struct Keepers(BTreeSet<(ObjectId, u64)>);

impl Keepers {
    fn of(program: &Program) -> Self {
        let pointer = program.data_model.pointer();
        let unique = Unique::of(program);
        // How often an object is named, and how often of that to read or write a place in it.
        let mut named: BTreeMap<ObjectId, i64> = BTreeMap::new();
        let mut name = |expr: &Expr, by: i64| {
            if let Expr::Address(object, _) = expr {
                *named.entry(*object).or_default() += by;
            }
        };
        let mut writes: BTreeMap<ObjectId, Vec<(u64, IntType, bool)>> = BTreeMap::new();
        for object in &program.objects {
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| value.walk(&mut |inner| name(inner, 1)));
            }
        }
        for (template, code) in program.templates.enumerate() {
            for (edge, what) in code.edges.enumerate() {
                for op in &what.ops {
                    for expr in op.expressions() {
                        expr.walk(&mut |inner| {
                            name(inner, 1);
                            if let Expr::Load(place) = inner {
                                name(&place.address, -1);
                            }
                        });
                    }
                    for lhs in op.targets() {
                        let Lhs::Memory(place) = lhs else { continue };
                        name(&place.address, -1);
                        if let Expr::Address(object, offset) = place.address {
                            let is_plain = matches!(op, Op::Assign(assignment) if assignment.pairs.len() == 1)
                                && unique.is_taken_once(program, (template, edge));
                            writes.entry(object).or_default().push((offset, place.ty, is_plain));
                        }
                    }
                }
            }
        }
        let mut found = BTreeSet::new();
        for (object, writes) in writes {
            let described = &program.objects[object];
            let is_static = described.storage == Storage::Static && described.align >= pointer.bytes();
            if !is_static || named.get(&object).is_some_and(|count| *count != 0) {
                continue;
            }
            for (offset, ty, is_plain) in &writes {
                let is_near = |other: &&(u64, IntType, bool)| {
                    other.0 < offset + ty.bytes() && *offset < other.0 + other.1.bytes()
                };
                let is_word = ty.bits == pointer.bits && offset % pointer.bytes() == 0;
                if *is_plain && is_word && writes.iter().filter(is_near).count() == 1 {
                    found.insert((object, *offset));
                }
            }
        }
        Self(found)
    }

    fn has(&self, place: &Place) -> bool {
        matches!(place.address, Expr::Address(object, offset) if self.0.contains(&(object, offset)))
    }
}

/// The claims in the middle of a step.
struct Moment<'a> {
    program: &'a Program,
    /// Where memory is not lost.
    keepers: &'a Keepers,
    owned: Vec<OwnedMemory>,
    is_kept: bool,
}

impl Moment<'_> {
    /// Gives up claims about what is used in a way.
    fn give_up(&mut self, is_used: impl Fn(&OwnedMemory) -> bool) {
        let before = self.owned.len();
        self.owned.retain(|memory| !is_used(memory));
        self.is_kept &= self.owned.len() == before;
    }

    /// An expression whose value goes to where no claim reaches.
    fn hand_over(&mut self, expr: &Expr) {
        self.give_up(|memory| memory.in_expr(expr) != Use::Hidden);
    }

    /// An address that is accessed.
    fn access(&mut self, address: &Expr) {
        self.give_up(|memory| memory.in_expr(address) == Use::Compared);
    }

    /// A local gets a value that has nothing to do with what is owned.
    fn overwrite(&mut self, local: LocalId) {
        for memory in &mut self.owned {
            memory.copies.remove(&local);
            memory.derived.remove(&local);
        }
        self.give_up(|memory| memory.copies.is_empty());
    }

    fn store(&mut self, lhs: &Lhs) {
        match lhs {
            Lhs::Local(local) => self.overwrite(*local),
            Lhs::Memory(place) => self.access(&place.address),
        }
    }

    /// Does an operation; `None` if it is not understood.
    fn run(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Assume(condition) => self.hand_over(condition),
            Op::Assign(assignment) => {
                assignment.constraint.iter().for_each(|constraint| self.hand_over(constraint));
                self.assign(&assignment.pairs);
            }
            Op::Lock(_, address) | Op::Unlock(_, address) => self.access(address),
            Op::Spawn(callee, arguments, handle) => {
                if let ir::Callee::Pointer(pointer) = callee {
                    self.hand_over(pointer);
                }
                arguments.iter().for_each(|argument| self.hand_over(argument));
                handle.iter().for_each(|lhs| self.store(lhs));
            }
            Op::Join(thread, result) => {
                self.hand_over(thread);
                result.iter().for_each(|lhs| self.store(lhs));
            }
            Op::Allocate { site, size, result, .. } => {
                self.hand_over(size);
                self.store(result);
                if self.program.objects[*site].role == ObjectRole::Allocated {
                    match result {
                        Lhs::Local(local) => self.owned.push(OwnedMemory {
                            site: *site,
                            size: constant(size).and_then(|size| u64::try_from(size).ok()),
                            copies: BTreeSet::from([*local]),
                            derived: BTreeSet::new(),
                        }),
                        Lhs::Memory(_) => self.is_kept = false,
                    }
                }
            }
            Op::Free(Expr::Local(local)) if self.owned.iter().any(|memory| memory.copies.contains(local)) => {
                self.owned.retain(|memory| !memory.copies.contains(local));
            }
            Op::Free(pointer) => self.hand_over(pointer),
            Op::Fill(to, byte, size) => {
                self.access(to);
                self.hand_over(byte);
                self.hand_over(size);
            }
            Op::Copy(to, from, size) => {
                self.access(to);
                self.access(from);
                self.hand_over(size);
            }
            Op::Call(..) | Op::Broadcast(_) => return None,
        }
        Some(())
    }

    fn assign(&mut self, pairs: &[(Lhs, Rhs)]) {
        if let [(Lhs::Memory(place), Rhs::Value(Expr::Local(local)))] = pairs
            && self.keepers.has(place)
        {
            // It is not owned any more, nor can it be lost.
            self.owned.retain(|memory| !memory.copies.contains(local));
        }
        for (lhs, rhs) in pairs {
            match (lhs, rhs) {
                (_, Rhs::Float(_, _, operands)) => {
                    operands.iter().for_each(|operand| self.hand_over(operand))
                }
                (Lhs::Local(_), Rhs::Value(value)) => self.access(value),
                (Lhs::Memory(_), Rhs::Value(value)) => self.hand_over(value),
                (_, Rhs::Any | Rhs::Unknown) => {}
            }
            if let Lhs::Memory(place) = lhs {
                self.access(&place.address);
            }
        }
        // All values are those before the assignment.
        let before = self.owned.clone();
        for (lhs, rhs) in pairs {
            let Lhs::Local(local) = lhs else { continue };
            for (memory, before) in self.owned.iter_mut().zip(&before) {
                memory.copies.remove(local);
                memory.derived.remove(local);
                let Rhs::Value(value) = rhs else { continue };
                match value {
                    Expr::Local(from) if before.copies.contains(from) => memory.copies.insert(*local),
                    value if before.in_expr(value) != Use::Hidden => memory.derived.insert(*local),
                    _ => false,
                };
            }
        }
        self.give_up(|memory| memory.copies.is_empty());
    }
}

/// What is owned after a step; `None` if the step is not understood.
pub fn after(program: &Program, edge: &Edge, before: &[OwnedMemory]) -> Option<AfterStep> {
    after_with(program, &Keepers::default(), edge, before)
}

fn after_with(
    program: &Program,
    keepers: &Keepers,
    edge: &Edge,
    before: &[OwnedMemory],
) -> Option<AfterStep> {
    let mut moment = Moment { program, keepers, owned: before.to_vec(), is_kept: true };
    edge.ops.iter().try_for_each(|op| moment.run(op))?;
    Some(AfterStep { owned: moment.owned, is_kept: moment.is_kept })
}

/// Whether claims follow from others: each is about memory of its own. `exactly`: none is left over.
pub fn implies(known: &[OwnedMemory], claimed: &[OwnedMemory], exactly: bool) -> bool {
    let mut used = vec![false; known.len()];
    let all = claimed.iter().all(|claim| {
        let follows = |memory: &OwnedMemory| {
            let mut others = memory.copies.difference(&claim.copies).chain(&memory.derived);
            claim.site == memory.site
                && (claim.size.is_none() || claim.size == memory.size)
                && !claim.copies.is_empty()
                && claim.copies.is_subset(&memory.copies)
                && others.all(|local| claim.derived.contains(local))
        };
        let found = (0..known.len()).find(|index| !used[*index] && follows(&known[*index]));
        found.map(|index| used[index] = true).is_some()
    });
    all && (!exactly || known.len() == claimed.len())
}

/// The value of an expression without variables, as far as tests of addresses need it.
fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Const(value, _) => Some(*value),
        Expr::Cast(IntType::BOOL, operand) => constant(operand).map(|value| Value::from(value != 0)),
        Expr::Cast(ty, operand) => constant(operand).map(|value| ty.wrap(value)),
        Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => {
            constant(operand).map(|value| Value::from(value == 0))
        }
        Expr::Binary(BinaryOp::And, IntType::BOOL, pair) => match (constant(&pair.0), constant(&pair.1)) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (left, right) => left.and(right),
        },
        Expr::Binary(op, ty, pair) => {
            let (left, right) = (constant(&pair.0)?, constant(&pair.1)?);
            match op {
                BinaryOp::Add if !ty.signed => Some(ty.wrap(left + right)),
                BinaryOp::Sub if !ty.signed => Some(ty.wrap(left - right)),
                BinaryOp::Le => Some(Value::from(left <= right)),
                BinaryOp::Lt => Some(Value::from(left < right)),
                BinaryOp::Eq => Some(Value::from(left == right)),
                BinaryOp::Ne => Some(Value::from(left != right)),
                _ => None,
            }
        }
        Expr::IfThenElse(three) => match constant(&three.0)? {
            0 => constant(&three.2),
            _ => constant(&three.1),
        },
        Expr::Local(_) | Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
        Expr::Unary(..) | Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
    }
}

/// The distance of an address from a local that it is computed from, and that local.
fn distance(address: &Expr, ty: IntType) -> Option<(LocalId, Expr)> {
    match address {
        Expr::Local(local) => Some((*local, Expr::int(0, ty))),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), sum, pair) if *sum == ty => {
            let (local, start) = distance(&pair.0, ty)?;
            Some((local, Expr::binary(*op, ty, start, pair.1.clone())))
        }
        _ => None,
    }
}

/// Replaces what claims say of addresses: whether they are 0, and which bytes are valid.
fn settle(expr: &mut Expr, owned: &[OwnedMemory], pointer: IntType) {
    let of = |local: LocalId| owned.iter().find(|memory| memory.copies.contains(&local));
    expr.rewrite(&mut |inner| {
        let settled = match inner {
            Expr::Valid(address, 0) => match &**address {
                Expr::Local(local) if of(*local).is_some() => Some(Expr::bool(true)),
                _ => None,
            },
            Expr::Valid(address, bytes) => distance(address, pointer).and_then(|(local, distance)| {
                let Some(room) = of(local)?.size?.checked_sub(*bytes) else { return Some(Expr::bool(false)) };
                let room = Expr::int(Value::from(room), pointer);
                Some(Expr::binary(BinaryOp::Le, pointer, distance, room))
            }),
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, pair) => match &**pair {
                (Expr::Local(local), Expr::Const(0, _)) if of(*local).is_some() => {
                    Some(Expr::bool(*op == BinaryOp::Ne))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(settled) = settled {
            *inner = settled;
        }
    });
}

/// A step in which tests of what is owned are replaced by their results; `None` if it cannot be taken.
pub fn settled(program: &Program, edge: &Edge, before: &[OwnedMemory]) -> Option<Edge> {
    let keepers = Keepers::default();
    let mut moment = Moment { program, keepers: &keepers, owned: before.to_vec(), is_kept: true };
    let mut result = edge.clone();
    for op in &mut result.ops {
        let original = op.clone();
        let pointer = program.data_model.pointer();
        op.expressions_mut().into_iter().for_each(|expr| settle(expr, &moment.owned, pointer));
        if let Op::Assume(condition) = op
            && constant(condition) == Some(0)
        {
            return None;
        }
        // What is not understood gives up all claims.
        if moment.run(&original).is_none() {
            moment.owned.clear();
        }
    }
    Some(result)
}

/// The program without calls, in which tests of what is owned are replaced by their results, and errors that
/// no step leads to are none.
pub fn reduced(program: &Program, claims: &OwnedClaims) -> Program {
    let mut result = program.clone();
    for (code, claims) in result.templates.iter_mut().zip(claims) {
        let of = |edge: &Edge| claims.get(edge.source.0 as usize).and_then(Option::as_ref);
        let edges = code.edges.iter().filter_map(|edge| settled(program, edge, of(edge)?));
        code.edges = edges.collect();
        let mut is_target = vec![false; code.locations.len()];
        code.edges.iter().for_each(|edge| is_target[edge.target.0 as usize] = true);
        for (location, is_target) in code.locations.iter_mut().zip(is_target) {
            if let (LocationKind::Error(_), false) = (location.kind, is_target) {
                location.kind = LocationKind::Halt;
            }
        }
    }
    result
}

/// Whether claims that hold show that no memory is lost, or left.
pub fn excludes_leaks(program: &Program, claims: &OwnedClaims, leak: Leak) -> bool {
    let keepers = if leak == Leak::Lost { Keepers::of(program) } else { Keepers::default() };
    let all = program.templates.enumerate().zip(claims).all(|((_, code), claims)| {
        let at = |location: ir::LocationId| claims.get(location.0 as usize).and_then(Option::as_ref);
        // A local that is not read again is no pointer of the source any more.
        let live = live_locals(code);
        let is_used = |memory: &OwnedMemory, at: ir::LocationId| {
            memory.copies.iter().any(|local| live[at].contains(local.0 as usize))
        };
        let steps = code.edges.iter().all(|edge| {
            let Some(before) = at(edge.source) else { return true };
            let Some(edge) = settled(program, edge, before) else { return true };
            let kept = after_with(program, &keepers, &edge, before).filter(|after| after.is_kept);
            let target = code.locations[edge.target];
            let may_own = match (target.kind, target.waiting) {
                (LocationKind::Normal, _) => true,
                (LocationKind::End | LocationKind::Exit, _) => false,
                (LocationKind::Halt, Waiting::Returned) => false,
                (LocationKind::Halt, Waiting::Exited) => leak == Leak::Lost,
                (LocationKind::Halt | LocationKind::Error(_), _) => true,
            };
            kept.is_some_and(|after| {
                let exactly = |claimed: &Vec<OwnedMemory>| implies(&after.owned, claimed, true);
                let is_normal = target.kind == LocationKind::Normal;
                let are_used = !is_normal || after.owned.iter().all(|memory| is_used(memory, edge.target));
                are_used && (may_own || after.owned.is_empty()) && at(edge.target).is_some_and(exactly)
            })
        });
        let entered = at(code.entry).is_none_or(Vec::is_empty);
        steps && entered
    });
    all && match leak {
        Leak::Lost => true,
        // Where one thread ends the program, others may own memory.
        Leak::Left => {
            program.templates.ids().all(|id| !allocates(program, id) || runs_first(program, id))
                && program.templates.enumerate().all(|(id, code)| {
                    let mut locations = code.locations.iter();
                    program.start == [(id, Count::Exactly(1))]
                        || !locations.any(|location| location.waiting == Waiting::Exited)
                })
        }
    }
}

fn allocates(program: &Program, template: TemplateId) -> bool {
    let mut ops = program.templates[template].edges.iter().flat_map(|edge| &edge.ops);
    ops.any(|op| match op {
        Op::Allocate { site, .. } => program.objects[*site].role == ObjectRole::Allocated,
        _ => false,
    })
}

/// Whether only the first thread runs a template: it alone can end the program while it owns memory.
fn runs_first(program: &Program, template: TemplateId) -> bool {
    let is_started = |op: &Op| match op {
        Op::Spawn(ir::Callee::Procedure(started), ..) => *started == template,
        Op::Spawn(ir::Callee::Pointer(_), ..) => true,
        _ => false,
    };
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    program.start == [(template, Count::Exactly(1))] && !ops.any(is_started)
}
