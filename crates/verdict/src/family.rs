//! Families: threads that one thread starts in a loop, distinguished by the value of an index.
//!
//! All threads of a *family* have the same template, and one unique *parent* thread starts them. Each has an
//! index: the value of a local of the parent at the start. For each location of the parent, the proof claims
//! what holds of all *members*, the threads that have not ended ([`Members`]). This file defines how each
//! operation of the parent changes these claims. Engine and checker share it, as they share the meaning of
//! expressions.
//!
//! 1. At the parent's entry there is no member. Steps of members preserve all claims: members may end, and do
//!    not change the parent's locals. The checker tests once, for the whole program, that only the parent
//!    writes where the handles are.
//! 2. A start keeps indices distinct if all members' indices are below the new one, or all above. The
//!    argument and the handle's address must be as the family says, and the address must differ from those of
//!    other handles.
//! 3. Orders of locals ([`Orders`]) transfer bounds from one local to another. If the lower bound is not
//!    below the upper one, there is no member.
//! 4. A value that was loaded from the handle's address for some index is the handle of the member with that
//!    index, if there is one. After a join of that handle there is none, so a bound that equals this index
//!    moves by one. Starting another member invalidates the knowledge about loaded values.
//! 5. A change of a local in the family's expressions (other than the index, for which each member has its
//!    own value) invalidates these expressions, unless there is no member.
//!
//! Indices are integers: where the parent's local wraps around, its orders are dropped.

use crate::each;
use crate::orders::{Bound, Orders};
use crate::present::reads;
use ir::ids::Id;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::passes::{Affine, PointsTo};
use ir::{
    Assignment, BinaryOp, Callee, Expr, Lhs, LocalId, Op, Place, Program, Rhs, Storage, Template, TemplateId,
    UnaryOp, Value,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Threads of one template that one thread starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Their template.
    pub template: TemplateId,
    /// The only template that starts them; at most one thread runs it.
    pub parent: TemplateId,
    /// The parent's local that distinguishes them.
    pub index: LocalId,
    /// The known arguments, over the parent's locals and own cells, with a member's index in place of the
    /// index.
    pub arguments: Vec<Option<Expr>>,
    /// The address where the handle is stored, in the same form.
    pub handle: Option<Expr>,
    /// What holds at each location of the parent.
    pub at: Vec<ParentFacts>,
}

/// An access by its address and its bytes.
pub type Span<'a> = (&'a Affine, u64);

/// Rules for accesses of members and of the parent. Addresses are sums over the parent's locals, in which the
/// index stands for a member's own.
///
/// Two accesses to elements of one array do not overlap if their indices are far enough apart. An index
/// times the size of an element does not wrap around, by known bounds of the index or by its type; where it
/// is as wide as a pointer and has no known bounds, this is assumption 14. Where there are few indices, all
/// are tried.
impl Family {
    /// The address of a member's access: built from constants, contents of static objects, and known
    /// arguments.
    pub fn of_member(&self, program: &Program, address: &Expr) -> Option<Affine> {
        let mut is_known = true;
        let is_static = |object: ir::ObjectId| program.objects[object].storage == Storage::Static;
        address.walk(&mut |inner| {
            is_known &= match inner {
                Expr::Local(local) => self.arguments.get(local.index()).is_some_and(Option::is_some),
                Expr::Address(object, _) => is_static(*object),
                Expr::Load(place) => place.as_cell().is_some(),
                Expr::Myself | Expr::Old(_) | Expr::Valid(..) | Expr::Overflows(..) => false,
                Expr::Const(..) | Expr::Procedure(_) | Expr::Unary(..) | Expr::Binary(..) => true,
                Expr::Cast(..) | Expr::IfThenElse(_) => true,
            };
        });
        let mut sum = is_known.then(|| address.clone())?;
        sum.rewrite(&mut |inner| {
            if let Expr::Local(local) = inner
                && let Some(Some(argument)) = self.arguments.get(local.index())
            {
                *inner = argument.clone();
            }
        });
        Some(Affine::of(program, &program.templates[self.parent], &sum))
    }

    /// Whether accesses of two members never overlap, given that their arguments are what the family says.
    pub fn are_apart(&self, program: &Program, one: Span<'_>, other: Span<'_>) -> bool {
        self.are_apart_by_factor(program, one, other)
            || each::are_apart(program, (self.index, self.range(program)), one, other)
    }

    /// The same, by the size of an element.
    fn are_apart_by_factor(&self, program: &Program, one: Span<'_>, other: Span<'_>) -> bool {
        let atom = self.one_to_one(program, one.0);
        let (Some((factor, rest)), Some((same, other_rest))) = (one.0.split(&atom), other.0.split(&atom))
        else {
            return false;
        };
        let is_common = |(atom, _): &(Expr, Value)| !reads(atom, self.index);
        let are_common = rest.terms.iter().chain(&other_rest.terms).all(is_common);
        let spread = match atom {
            Expr::Local(_) => self.spread(program),
            _ => assumed_spread(program),
        };
        let apart = rest.plus(&other_rest, -1, program.data_model.pointer());
        factor == same
            && factor > 0
            && are_common
            && does_not_wrap(program, factor, spread)
            && apart.terms.is_empty()
            && apart.constant + factor >= Value::from(other.1)
            && apart.constant - factor + Value::from(one.1) <= 0
    }

    /// A summand that differs for different indices: the index itself, or an injective function of it.
    fn one_to_one(&self, program: &Program, sum: &Affine) -> Expr {
        let code = &program.templates[self.parent];
        let is_one_to_one = |atom: &Expr| {
            let mut inner = atom;
            loop {
                inner = match inner {
                    Expr::Local(local) => return *local == self.index,
                    Expr::Cast(ty, operand) if ty.bits >= program.type_in(code, operand).bits => operand,
                    Expr::Binary(BinaryOp::Xor, _, pair) if matches!(pair.1, Expr::Const(..)) => &pair.0,
                    Expr::Unary(UnaryOp::Not, _, operand) => operand,
                    _ => return false,
                }
            }
        };
        let found = sum.terms.iter().map(|(atom, _)| atom).find(|atom| is_one_to_one(atom));
        found.cloned().unwrap_or(Expr::Local(self.index))
    }

    /// The least and the greatest index that members may have, by what is known at the parent's locations
    /// and by the type.
    fn range(&self, program: &Program) -> (Value, Value) {
        let ty = program.templates[self.parent].locals[self.index].ty;
        let (mut least, mut greatest) = (ty.max(), ty.min());
        for facts in &self.at {
            // Where nothing is known of the members, neither are their arguments.
            let Some(members) = facts.members.as_ref().filter(|members| !members.none) else { continue };
            let below = members.below.iter();
            let below =
                below.filter_map(|below| Some(facts.orders.distance(below.of, None)? + below.plus - 1)).min();
            let above = members.above.iter();
            let above =
                above.filter_map(|above| Some(above.plus - facts.orders.distance(None, above.of)?)).max();
            least = least.min(above.unwrap_or(ty.min()).max(ty.min()));
            greatest = greatest.max(below.unwrap_or(ty.max()).min(ty.max()));
        }
        (least, greatest)
    }

    /// The greatest distance between two members' indices; if unknown, the bound of assumption 14.
    fn spread(&self, program: &Program) -> Value {
        let ty = program.templates[self.parent].locals[self.index].ty;
        let (least, greatest) = self.range(program);
        let is_bounded = greatest < ty.max() && (least > ty.min() || !ty.signed);
        let is_narrow = ty.bits < program.data_model.pointer().bits;
        if is_bounded || is_narrow { (greatest - least).max(0) } else { assumed_spread(program) }
    }

    /// Whether an access of the parent and one of any member never overlap.
    pub fn is_apart(
        &self,
        program: &Program,
        facts: &ParentFacts,
        parent: Span<'_>,
        member: Span<'_>,
    ) -> bool {
        let Some(members) = facts.members.as_ref() else { return false };
        if members.none {
            return true;
        }
        let Some((factor, rest)) = member.0.split(&Expr::Local(self.index)) else { return false };
        let there = parent.0.clone().plus(&rest, -1, program.data_model.pointer());
        let of = match there.terms.as_slice() {
            [] => None,
            [(Expr::Local(local), same)] if *same == factor => Some(*local),
            _ => return false,
        };
        // The least and the greatest value of the parent's index minus the member's.
        let least = members
            .below
            .iter()
            .filter_map(|below| Some(1 - below.plus - facts.orders.distance(below.of, of)?));
        let greatest =
            members.above.iter().filter_map(|above| Some(facts.orders.distance(of, above.of)? - above.plus));
        let is_beyond = |least: Value| factor * least + there.constant >= Value::from(member.1);
        let is_before = |greatest: Value| factor * greatest + there.constant + Value::from(parent.1) <= 0;
        members.argument
            && factor > 0
            && does_not_wrap(program, factor, assumed_spread(program))
            && (least.max().is_some_and(is_beyond) || greatest.min().is_some_and(is_before))
    }
}

/// The greatest distance between indices as wide as pointers: assumption 14.
pub(crate) fn assumed_spread(program: &Program) -> Value {
    1 << (program.data_model.pointer().bits / 2)
}

/// Whether different indices at most this far apart, times a factor, are neither equal nor nearly so modulo 2
/// to the width of a pointer.
pub(crate) fn does_not_wrap(program: &Program, factor: Value, spread: Value) -> bool {
    let all = 1 << program.data_model.pointer().bits;
    factor.checked_mul(spread + 2).is_some_and(|distance| distance <= all)
}

/// What holds while the parent is at a location.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentFacts {
    /// What holds of its locals.
    pub orders: Orders,
    /// What holds of the members, if anything.
    pub members: Option<Members>,
}

/// What holds of all members: their indices are different, and more.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Members {
    /// There is none. Then the other fields say nothing.
    pub none: bool,
    /// Their arguments are what the family says.
    pub argument: bool,
    /// Their handles are where the family says.
    pub handle: bool,
    /// Their indices are at least these.
    pub above: Vec<Bound>,
    /// Their indices are less than these.
    pub below: Vec<Bound>,
    /// A local is the handle of the member with this index, if there is one.
    pub loaded: Vec<(LocalId, Bound)>,
}

impl Members {
    /// The claims of both.
    pub fn meet(&self, other: &Self) -> Self {
        if self.none {
            return other.clone();
        }
        let mut both = self.clone();
        if !other.none {
            both.argument &= other.argument;
            both.handle &= other.handle;
            let weaker = |bound: &Bound, bounds: &[Bound], sign: Value| {
                let others = bounds.iter().filter(|other| other.of == bound.of);
                let other = others.map(|other| sign * other.plus).min()?;
                Some(Bound { plus: sign * other.max(sign * bound.plus), ..*bound })
            };
            both.above = self.above.iter().filter_map(|bound| weaker(bound, &other.above, -1)).collect();
            both.below = self.below.iter().filter_map(|bound| weaker(bound, &other.below, 1)).collect();
            both.loaded.retain(|loaded| other.loaded.contains(loaded));
        }
        both
    }
    fn is_above(&self, bound: &Bound) -> bool {
        self.above.iter().any(|known| known.of == bound.of && known.plus >= bound.plus)
    }
    fn is_below(&self, bound: &Bound) -> bool {
        self.below.iter().any(|known| known.of == bound.of && known.plus <= bound.plus)
    }
    /// The earlier claims that still follow.
    pub fn widen(&self, before: &Self) -> Self {
        let mut kept = self.meet(before);
        if !self.none && !before.none {
            kept.above = before.above.iter().filter(|bound| self.is_above(bound)).copied().collect();
            kept.below = before.below.iter().filter(|bound| self.is_below(bound)).copied().collect();
        }
        kept
    }
    /// Whether all of the other's claims follow.
    pub fn implies(&self, other: &Self) -> bool {
        self.none
            || (!other.none
                && (self.argument || !other.argument)
                && (self.handle || !other.handle)
                && other.above.iter().all(|bound| self.is_above(bound))
                && other.below.iter().all(|bound| self.is_below(bound))
                && other.loaded.iter().all(|loaded| self.loaded.contains(loaded)))
    }
}

/// The parent's program, and the normal form of its expressions.
pub struct ParentStep<'a> {
    /// The program.
    pub program: &'a Program,
    /// What addresses may point to.
    pub points_to: &'a PointsTo,
    /// The family.
    pub family: &'a Family,
    /// The normal form of an expression before the current operation, over locals and own cells only: equal
    /// values look the same. The index is kept.
    pub canonical: &'a dyn Fn(&Expr) -> Option<Expr>,
}

impl<'a> ParentStep<'a> {
    fn code(&self) -> &'a Template {
        &self.program.templates[self.family.parent]
    }
    fn affine(&self, expr: &Expr) -> Option<Affine> {
        Some(Affine::of(self.program, self.code(), &(self.canonical)(expr)?))
    }
    fn same(&self, one: &Expr, other: &Expr) -> bool {
        match (self.affine(one), self.affine(other)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        }
    }

    /// Updates the claims for an operation of the parent.
    pub fn apply(&self, op: &Op, facts: &mut ParentFacts) {
        match op {
            Op::Assume(condition) => {
                for condition in [Some(condition.clone()), (self.canonical)(condition)].iter().flatten() {
                    facts.orders.assume(self.program, self.code(), condition, true);
                }
            }
            Op::Assign(Assignment { pairs, constraint: None }) if pairs.len() == 1 => {
                if let [(Lhs::Local(local), Rhs::Value(value))] = pairs.as_slice() {
                    self.assign(*local, value, facts);
                } else {
                    self.forget_targets(op, facts);
                }
            }
            Op::Spawn(Callee::Procedure(child), arguments, lhs) if *child == self.family.template => {
                self.start(arguments, lhs.as_ref(), facts);
                self.forget_targets(op, facts);
            }
            Op::Join(thread, _) => {
                self.join(thread, facts);
                self.forget_targets(op, facts);
            }
            Op::Assign(_) | Op::Spawn(..) | Op::Allocate { .. } | Op::Call(..) => {
                self.forget_targets(op, facts);
            }
            Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
        }
        self.lose_written(op, facts);
        if let Some(members) = &mut facts.members {
            let orders = &facts.orders;
            members.none |= members
                .above
                .iter()
                .any(|above| members.below.iter().any(|below| orders.at_most(*below, *above)));
            if members.none {
                *members = Members { none: true, ..Members::default() };
            }
        }
    }

    fn forget_targets(&self, op: &Op, facts: &mut ParentFacts) {
        for lhs in op.targets() {
            if let Lhs::Local(local) = lhs {
                facts.orders.forget(*local);
                self.change(*local, None, facts);
            }
        }
    }

    /// A local changes: by a constant, or to anything.
    fn change(&self, local: LocalId, by: Option<Value>, facts: &mut ParentFacts) {
        let Some(members) = &mut facts.members else { return };
        let mentions = |expr: &Expr| local != self.family.index && reads(expr, local);
        members.argument &= !self.family.arguments.iter().flatten().any(mentions);
        members.handle &= !self.family.handle.as_ref().is_some_and(mentions);
        let moved = |bound: &Bound| match by {
            _ if bound.of != Some(local) => Some(*bound),
            Some(by) => Some(Bound { plus: bound.plus - by, ..*bound }),
            None => None,
        };
        members.above = members.above.iter().filter_map(moved).collect();
        members.below = members.below.iter().filter_map(moved).collect();
        members.loaded.retain(|(loaded, _)| *loaded != local);
        members.loaded =
            members.loaded.iter().filter_map(|(loaded, bound)| Some((*loaded, moved(bound)?))).collect();
    }

    fn assign(&self, local: LocalId, value: &Expr, facts: &mut ParentFacts) {
        let code = self.code();
        let bound_of = |expr: &Expr| facts.orders.bound(self.program, code, expr);
        let bound = bound_of(value).or_else(|| bound_of(&(self.canonical)(value)?));
        let loaded = match value {
            Expr::Load(place) => self.handle_at(place, facts),
            _ => None,
        };
        match bound {
            Some(Bound { of, plus }) if of == Some(local) => {
                facts.orders.shift(local, plus);
                self.change(local, Some(plus), facts);
            }
            Some(bound) => {
                facts.orders.set(local, bound);
                self.change(local, None, facts);
                if let Some(members) = &mut facts.members {
                    for bounds in [&mut members.above, &mut members.below] {
                        let copies = bounds.iter().filter(|known| known.of == bound.of);
                        let copies = copies
                            .map(|known| Bound { of: Some(local), plus: known.plus - bound.plus })
                            .collect();
                        add(bounds, copies);
                    }
                }
            }
            None => {
                facts.orders.forget(local);
                self.change(local, None, facts);
            }
        }
        if let (Some(members), Some(loaded)) = (&mut facts.members, loaded)
            && loaded.of != Some(local)
            && code.locals[local].ty.bits >= 32
        {
            let same = facts.orders.equal_to(loaded).into_iter().filter(|bound| bound.of != Some(local));
            members.loaded.extend(same.map(|bound| (local, bound)));
        }
    }

    /// The index of the member whose handle is at an address.
    fn handle_at(&self, place: &Place, facts: &ParentFacts) -> Option<Bound> {
        let members = facts.members.as_ref()?;
        if members.none || !members.handle || place.ty != self.program.data_model.pointer() {
            return None;
        }
        let index = Expr::Local(self.family.index);
        let (factor, rest) = self.affine(self.family.handle.as_ref()?)?.split(&index)?;
        let there = self.affine(&place.address)?.plus(&rest, -1, self.program.data_model.pointer());
        let of = match there.terms.as_slice() {
            [] => None,
            [(Expr::Local(local), of)] if *of == factor => Some(*local),
            _ => return None,
        };
        (factor != 0 && there.constant % factor == 0).then(|| Bound { of, plus: there.constant / factor })
    }

    fn start(&self, arguments: &[Expr], lhs: Option<&Lhs>, facts: &mut ParentFacts) {
        let index = Bound { of: Some(self.family.index), plus: 0 };
        let after = Bound { plus: 1, ..index };
        let argument = self.family.arguments.len() == arguments.len()
            && self
                .family
                .arguments
                .iter()
                .zip(arguments)
                .all(|(known, argument)| known.as_ref().is_none_or(|known| self.same(known, argument)));
        let handle = match (lhs, &self.family.handle) {
            (Some(Lhs::Memory(place)), Some(address)) => {
                self.same(&place.address, address) && self.is_own_place(place, address)
            }
            _ => false,
        };
        let orders = &facts.orders;
        // Any order of the index is a bound on it.
        let (mut least, mut greatest) = (vec![index], vec![after]);
        let others: BTreeSet<_> = orders.iter().flat_map(|(less, more, _)| [less, more]).collect();
        for of in others.into_iter().filter(|of| *of != index.of) {
            least.extend(orders.distance(of, index.of).map(|by| Bound { of, plus: -by }));
            greatest.extend(orders.distance(index.of, of).map(|by| Bound { of, plus: by + 1 }));
        }
        let Some(members) = &mut facts.members else { return };
        if members.none {
            let (above, below) = (least, greatest);
            *members = Members { none: false, argument, handle, above, below, loaded: Vec::new() };
            return;
        }
        let is_greatest = members.below.iter().any(|below| orders.at_most(*below, index));
        let is_least = members.above.iter().any(|above| orders.at_most(after, *above));
        members.argument &= argument;
        members.handle &= handle;
        members.above.retain(|above| orders.at_most(*above, index));
        members.below.retain(|below| orders.at_most(after, *below));
        members.loaded.clear();
        if is_greatest {
            add(&mut members.below, greatest);
        } else if is_least {
            add(&mut members.above, least);
        } else {
            facts.members = None;
        }
    }

    /// Whether different indices have different addresses for their handles.
    fn is_own_place(&self, place: &Place, address: &Expr) -> bool {
        let index = Expr::Local(self.family.index);
        let split = self.affine(address).and_then(|address| address.split(&index));
        let factor = split.map_or(0, |(factor, _)| factor);
        place.ty == self.program.data_model.pointer() && factor >= Value::from(place.ty.bytes())
    }

    fn join(&self, thread: &Expr, facts: &mut ParentFacts) {
        let indices: Vec<Bound> = match (thread, &facts.members) {
            (Expr::Load(place), _) => self.handle_at(place, facts).into_iter().collect(),
            (Expr::Local(local), Some(members)) => {
                let loaded = members.loaded.iter().filter(|(loaded, _)| loaded == local);
                loaded.map(|(_, index)| *index).collect()
            }
            _ => Vec::new(),
        };
        let Some(members) = &mut facts.members else { return };
        let orders = &facts.orders;
        for index in indices {
            let after = Bound { plus: index.plus + 1, ..index };
            if members.above.iter().any(|above| orders.at_most(index, *above)) {
                add(&mut members.above, vec![after]);
            }
            if members.below.iter().any(|below| orders.at_most(*below, after)) {
                add(&mut members.below, vec![index]);
            }
        }
    }

    /// Memory in the family's expressions may have been written.
    fn lose_written(&self, op: &Op, facts: &mut ParentFacts) {
        let Some(members) = facts.members.as_mut().filter(|members| !members.none) else { return };
        let parent = self.family.parent;
        let at =
            |address: &Expr, bytes: u64| Region::at(self.points_to, parent, address, Extent::Bytes(bytes));
        let mut written: Vec<Region> = Vec::new();
        for access in accesses(self.points_to, parent, op).into_iter().filter(|access| access.write) {
            written.push(access.region);
        }
        if let Op::Lock(_, address) | Op::Unlock(_, address) = op {
            written.push(at(address, 8));
        }
        let is_written = |region: &Region| written.iter().any(|written| written.overlaps(region));
        let loads_written = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |inner| {
                if let Expr::Load(place) = inner {
                    found |= is_written(&at(&place.address, place.ty.bytes()));
                }
            });
            found
        };
        members.argument &= !self.family.arguments.iter().flatten().any(loads_written);
        let Some(handle) = &self.family.handle else { return };
        members.handle &= !loads_written(handle);
        // The rule for starts handles the address of the new handle.
        let is_start =
            matches!(op, Op::Spawn(Callee::Procedure(child), ..) if *child == self.family.template);
        let bytes = self.program.data_model.pointer().bytes();
        members.handle &= is_start || !is_written(&at(handle, bytes));
    }
}

fn add(bounds: &mut Vec<Bound>, more: Vec<Bound>) {
    for bound in more {
        if !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }
}
