//! Addresses as weighted sums.
//!
//! The value of an expression is `constant + Σ factor · atom`, modulo 2 to the width of a pointer. Exact: an
//! expression whose operation is neither a sum nor a product with a constant becomes an atom as a whole.
//! Casts are ignored where they preserve the value: to at least the width of a pointer, modulo that width,
//! and to narrower types if the operand's own type fits into them. Signed arithmetic faults when it
//! overflows, so it is integer arithmetic; unsigned arithmetic is decomposed only at the width of a pointer.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::program::{Program, Template};
use crate::types::{IntType, Value};

/// A weighted sum.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    /// Atoms, each once, with factors that are not 0.
    pub terms: Vec<(Expr, Value)>,
    /// The constant.
    pub constant: Value,
}

impl PartialEq for Affine {
    /// The order of the terms does not count.
    fn eq(&self, other: &Self) -> bool {
        self.constant == other.constant
            && self.terms.len() == other.terms.len()
            && self.terms.iter().all(|term| other.terms.contains(term))
    }
}

impl Affine {
    /// The sum that is this expression's value in a template.
    pub fn of(program: &Program, template: &Template, expr: &Expr) -> Self {
        let pointer = program.data_model.pointer();
        let of = |expr: &Expr| Self::of(program, template, expr);
        let type_of = |expr: &Expr| program.type_in(template, expr);
        let atom = || Self { terms: vec![(expr.clone(), 1)], constant: 0 };
        let is_exact = |ty: IntType| ty.signed || ty.bits == pointer.bits;
        match expr {
            Expr::Const(value, _) => Self { terms: vec![], constant: signed(pointer).wrap(*value) },
            Expr::Address(object, offset) => Self {
                terms: vec![(Expr::Address(*object, 0), 1)],
                constant: signed(pointer).wrap(Value::from(*offset)),
            },
            Expr::Cast(ty, operand) => {
                let inner = of(operand);
                let fits = |ty: IntType, from: IntType| ty.contains(from.min()) && ty.contains(from.max());
                let is_kept = ty.bits >= pointer.bits || fits(*ty, type_of(operand));
                // Casts back and forth: the value is the atom's own, if it fits.
                let is_own = match inner.terms.as_slice() {
                    [(atom, 1)] => inner.constant == 0 && fits(*ty, type_of(atom)),
                    _ => false,
                };
                if *ty != IntType::BOOL && (is_kept || is_own) { inner } else { atom() }
            }
            Expr::Unary(UnaryOp::Neg, ty, operand) if is_exact(*ty) => of(operand).times(-1, pointer),
            Expr::Binary(BinaryOp::Add, ty, pair) if is_exact(*ty) => {
                of(&pair.0).plus(&of(&pair.1), 1, pointer)
            }
            Expr::Binary(BinaryOp::Sub, ty, pair) if is_exact(*ty) => {
                of(&pair.0).plus(&of(&pair.1), -1, pointer)
            }
            Expr::Binary(BinaryOp::Mul, ty, pair) if is_exact(*ty) => match (of(&pair.0), of(&pair.1)) {
                (sum, factor) | (factor, sum) if factor.terms.is_empty() => {
                    sum.times(factor.constant, pointer)
                }
                _ => atom(),
            },
            Expr::Local(_) | Expr::Load(_) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => atom(),
            Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) => atom(),
            Expr::Old(_) => atom(),
        }
    }

    fn times(mut self, factor: Value, pointer: IntType) -> Self {
        let by = |value: Value| signed(pointer).wrap(value.wrapping_mul(factor));
        self.terms.iter_mut().for_each(|(_, known)| *known = by(*known));
        self.terms.retain(|(_, known)| *known != 0);
        self.constant = by(self.constant);
        self
    }

    /// This sum plus some multiple of another.
    pub fn plus(mut self, other: &Self, factor: Value, pointer: IntType) -> Self {
        let other = other.clone().times(factor, pointer);
        for (atom, factor) in other.terms {
            match self.terms.iter_mut().find(|(known, _)| *known == atom) {
                Some((_, known)) => *known = signed(pointer).wrap(*known + factor),
                None => self.terms.push((atom, factor)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        self.constant = signed(pointer).wrap(self.constant + other.constant);
        self
    }

    /// The factor of an atom, and the sum without it; `None` when the rest also depends on the atom, as in `i
    /// - i % 2`.
    pub fn split(&self, atom: &Expr) -> Option<(Value, Self)> {
        let mut rest = self.clone();
        let factor = rest.terms.iter().find(|(known, _)| known == atom).map_or(0, |(_, factor)| *factor);
        rest.terms.retain(|(known, _)| known != atom);
        let mut depends = false;
        rest.terms.iter().for_each(|(known, _)| known.walk(&mut |inner| depends |= inner == atom));
        (!depends).then_some((factor, rest))
    }
}

fn signed(pointer: IntType) -> IntType {
    IntType { signed: true, ..pointer }
}
