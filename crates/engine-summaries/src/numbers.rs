//! Integers of a procedure: what locals and addresses are, as far as that is a local, a constant and a
//! multiple of an integer.
//!
//! Under-approximates what is known.

use crate::equalities::resolve;
use crate::facts::insert;
use crate::model::Model;
use ir::ids::Id;
use ir::{BinaryOp, Expr, IntType, LocalId, ObjectId, Storage, TemplateId, UnaryOp};
use verdict::{Index, LockBase, ThreadFacts};

/// Inequalities that are kept.
const MOST_ORDER: usize = 24;
/// Constants beyond this are not looked at.
pub(crate) const LARGEST: i128 = 1 << 30;
/// Strides beyond this are not looked at.
pub const LARGEST_STRIDE: u64 = 1 << 27;

/// An address: a base and an offset, and perhaps a multiple of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linear {
    /// What it is counted from.
    pub base: LockBase,
    /// How far from there.
    pub offset: u64,
    /// The multiple, and the integer.
    pub index: Option<(u64, Index)>,
}

/// A constant as an index.
pub fn constant(plus: i128) -> Index {
    Index { local: None, plus }
}

pub(crate) fn plus(index: Index, by: i128) -> Index {
    // What is out of range is not small, and is left out.
    Index { local: index.local, plus: index.plus.saturating_add(by) }
}

pub(crate) fn is_small(index: Index) -> bool {
    let largest = if index.local.is_none() { i128::from(u64::MAX) } else { LARGEST };
    (-LARGEST..=largest).contains(&index.plus)
}

/// Sees the locals of a procedure.
#[derive(Clone, Copy)]
pub struct Numbers<'m, 'p> {
    /// The program.
    pub model: &'m Model<'p>,
    /// The procedure.
    pub template: TemplateId,
}

impl<'m> Numbers<'m, '_> {
    fn ty(self, local: LocalId) -> IntType {
        self.model.ty(self.template, local)
    }

    pub(crate) fn is_index(self, local: LocalId) -> bool {
        let ty = self.ty(local);
        let counters = &self.model.procedures[self.template].counters;
        let counts = || self.model.cell(self.template, local).is_some() || counters.contains(local.index());
        ty != IntType::BOOL && (ty.bits <= 32 || (ty.bits <= 64 && counts()))
    }

    /// Whether one integer is surely at most another.
    pub fn at_most(self, facts: &ThreadFacts, one: Index, other: Index) -> bool {
        if one.local == other.local {
            return one.plus <= other.plus;
        }
        let by_type = match (one.local, other.local) {
            (None, Some(local)) => one.plus <= self.ty(local).min() + other.plus,
            (Some(local), None) => self.ty(local).max() + one.plus <= other.plus,
            (Some(_), Some(_)) | (None, None) => false,
        };
        by_type
            || facts.order.iter().any(|(left, right)| {
                left.local == one.local
                    && right.local == other.local
                    && one.plus - left.plus + right.plus <= other.plus
            })
    }

    /// Whether an integer is surely in the range of a type.
    fn fits(self, facts: &ThreadFacts, value: Index, ty: IntType) -> bool {
        self.is_within(facts, value, (ty.min(), ty.max()))
    }

    fn is_within(self, facts: &ThreadFacts, value: Index, (lowest, highest): (i128, i128)) -> bool {
        let most = |value: Index| match value.local {
            None => value.plus <= highest,
            Some(local) => self.ty(local).max() + value.plus <= highest,
        };
        let least = |value: Index| match value.local {
            None => value.plus >= lowest,
            Some(local) => self.ty(local).min() + value.plus >= lowest,
        };
        let above = facts.order.iter().filter(|(left, _)| left.local == value.local);
        let mut above = above.map(|(left, right)| plus(*right, value.plus - left.plus));
        let under = facts.order.iter().filter(|(_, right)| right.local == value.local);
        let mut under = under.map(|(left, right)| plus(*left, value.plus - right.plus));
        (most(value) || above.any(most)) && (least(value) || under.any(least))
    }

    /// The integer that an expression is, if it is that of a local and a constant.
    pub fn value(self, facts: &ThreadFacts, expr: &Expr) -> Option<Index> {
        let found = match expr {
            Expr::Const(value, _) => constant(*value),
            Expr::Local(local) => self.is_index(*local).then_some(Index { local: Some(*local), plus: 0 })?,
            Expr::Load(place) => Index { local: Some(self.model.read(self.template, place)?), plus: 0 },
            // The checker does not follow truth values.
            Expr::Cast(IntType::BOOL, _) => return None,
            Expr::Cast(ty, operand) => {
                let value = self.value(facts, operand)?;
                self.fits(facts, value, *ty).then_some(value)?
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) => {
                let left = self.value(facts, &pair.0)?;
                let right = self.value(facts, &pair.1)?;
                let value = match (op, left.local, right.local) {
                    (BinaryOp::Add, _, None) => plus(left, right.plus),
                    (BinaryOp::Add, None, _) => plus(right, left.plus),
                    (_, _, None) => plus(left, -right.plus),
                    _ => return None,
                };
                // Signed arithmetic that leaves its range ends the program.
                (ty.signed || self.fits(facts, value, *ty)).then_some(value)?
            }
            Expr::Address(..) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => return None,
            Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) => return None,
            Expr::Old(_) => return None,
        };
        is_small(found).then_some(found)
    }

    /// An integer that an expression as wide as a pointer is equal to, modulo 2 to that width.
    fn modulo(self, facts: &ThreadFacts, expr: &Expr) -> Option<Index> {
        let width = self.model.program.data_model.pointer().bits;
        let found = match expr {
            Expr::Cast(ty, operand) if ty.bits == width => {
                let from = self.model.program.type_of(self.template, operand);
                if from.bits == width { self.modulo(facts, operand) } else { self.value(facts, operand) }
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) if ty.bits == width => {
                match (op, &pair.0, &pair.1) {
                    (BinaryOp::Add, Expr::Const(by, _), inner)
                    | (BinaryOp::Add, inner, Expr::Const(by, _)) => {
                        Some(plus(self.modulo(facts, inner)?, *by))
                    }
                    (_, inner, Expr::Const(by, _)) => Some(plus(self.modulo(facts, inner)?, -*by)),
                    _ => None,
                }
            }
            Expr::Local(_) | Expr::Load(_)
                if self.model.program.type_of(self.template, expr).bits == width =>
            {
                self.value(facts, expr)
            }
            _ => None,
        };
        found.filter(|found| is_small(*found))
    }

    fn scaled(self, facts: &ThreadFacts, expr: &Expr) -> Option<(u64, Index)> {
        let width = self.model.program.data_model.pointer().bits;
        if width != 64 {
            return None;
        }
        let stride = |value: i128| u64::try_from(value).ok().filter(|by| (1..=LARGEST_STRIDE).contains(by));
        match expr {
            Expr::Binary(BinaryOp::Mul, ty, pair) if ty.bits == width => match (&pair.0, &pair.1) {
                (Expr::Const(by, _), inner) | (inner, Expr::Const(by, _)) => {
                    Some((stride(*by)?, self.modulo(facts, inner)?))
                }
                _ => None,
            },
            Expr::Cast(ty, operand) if ty.bits == width => {
                let from = self.model.program.type_of(self.template, operand);
                if from.bits == width { self.scaled(facts, operand) } else { None }
            }
            _ => None,
        }
    }

    /// An address with at most one index. Bases are leaders of their classes.
    pub fn linear(self, facts: &ThreadFacts, expr: &Expr) -> Option<Linear> {
        let program = self.model.program;
        let width = program.data_model.pointer().bits;
        if let Some(plain) = self.model.linear(self.template, expr, &[]) {
            let (base, offset) = resolve(program, facts, plain);
            return Some(self.expand(facts, (base, offset)));
        }
        if let Expr::Address(object, offset) = expr {
            // In its own frame, an activation names one object.
            let base = LockBase::Object(*object);
            return self.is_of_frame(*object).then_some(Linear { base, offset: *offset, index: None });
        }
        let moved = |inner: &Expr, by: i128| {
            let found = self.linear(facts, inner)?;
            Some(Linear { offset: self.model.wrap(i128::from(found.offset) + by), ..found })
        };
        match expr {
            Expr::Cast(ty, operand) if ty.bits == width => {
                let from = program.type_of(self.template, operand);
                if from.bits == width { self.linear(facts, operand) } else { None }
            }
            Expr::Load(place) if place.ty.bits == width => {
                let base = LockBase::Local(self.model.read(self.template, place)?);
                Some(Linear { base, offset: 0, index: None })
            }
            Expr::Binary(BinaryOp::Add, ty, pair) if ty.bits == width => match (&pair.0, &pair.1) {
                (Expr::Const(by, _), inner) | (inner, Expr::Const(by, _)) => moved(inner, *by),
                (one, other) => {
                    let with = |base: &Expr, number: &Expr| {
                        let found = self.linear(facts, base).filter(|found| found.index.is_none())?;
                        Some(Linear { index: Some(self.scaled(facts, number)?), ..found })
                    };
                    with(one, other).or_else(|| with(other, one))
                }
            },
            Expr::Binary(BinaryOp::Sub, ty, pair) if ty.bits == width => match &pair.1 {
                Expr::Const(by, _) => moved(&pair.0, -*by),
                _ => None,
            },
            _ => None,
        }
    }

    /// An address, with what its base is placed at.
    fn expand(self, facts: &ThreadFacts, (base, offset): (LockBase, u64)) -> Linear {
        let placed = facts.placed.iter().find(|(local, _, _)| LockBase::Local(*local) == base);
        match placed {
            Some((_, row, index)) => Linear {
                base: row.base,
                offset: self.model.wrap(i128::from(row.offset) + i128::from(offset)),
                index: (row.stride > 0).then_some((row.stride, *index)),
            },
            None => Linear { base, offset, index: None },
        }
    }

    /// Whether an integer is surely less than 2 to the power of 33 in size.
    pub(crate) fn is_narrow(self, facts: &ThreadFacts, value: Index) -> bool {
        let is_by_type = match value.local {
            None => value.plus.abs() < 1 << 33,
            Some(local) => self.ty(local).bits <= 32,
        };
        is_by_type || (self.is_within(facts, value, (-(1 << 33), 1 << 33)))
    }

    /// Whether an object is in the frame of an activation of the procedure.
    pub(crate) fn is_of_frame(self, object: ObjectId) -> bool {
        self.model.program.objects[object].storage == Storage::Frame(self.template)
    }

    /// Takes note of an inequality.
    pub(crate) fn learn(self, facts: &mut ThreadFacts, one: Index, other: Index) {
        // What follows from others is not known any more when these are forgotten.
        let is_trivial = one.local == other.local;
        if !is_trivial && is_small(one) && is_small(other) && facts.order.len() < MOST_ORDER {
            insert(&mut facts.order, (one, other));
        }
        // Where the other one is forgotten, the sum still leaves the type no more than before.
        if let (Some(local), Some(bound)) = (one.local, other.local)
            && !self.ty(local).signed
            && facts.order.len() < MOST_ORDER
        {
            let most = constant(self.ty(bound).max() + other.plus);
            if most.plus < self.ty(local).max() + one.plus && is_small(one) && is_small(most) {
                insert(&mut facts.order, (one, most));
            }
        }
    }

    /// What a condition says about integers, if it holds or if it does not.
    pub fn assume(self, facts: &mut ThreadFacts, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, IntType::BOOL, inner) => self.assume(facts, inner, !holds),
            Expr::Cast(IntType::BOOL, inner)
                if self.model.program.type_of(self.template, inner) == IntType::BOOL =>
            {
                self.assume(facts, inner, holds);
            }
            Expr::Binary(BinaryOp::And, IntType::BOOL, pair) if holds => {
                self.assume(facts, &pair.0, true);
                self.assume(facts, &pair.1, true);
            }
            Expr::Binary(op, _, pair) if op.is_comparison() => {
                let (Some(left), Some(right)) = (self.value(facts, &pair.0), self.value(facts, &pair.1))
                else {
                    return;
                };
                match (op, holds) {
                    (BinaryOp::Lt, true) => self.learn(facts, plus(left, 1), right),
                    (BinaryOp::Lt, false) => self.learn(facts, right, left),
                    (BinaryOp::Le, true) => self.learn(facts, left, right),
                    (BinaryOp::Le, false) => self.learn(facts, plus(right, 1), left),
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                        self.learn(facts, left, right);
                        self.learn(facts, right, left);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
