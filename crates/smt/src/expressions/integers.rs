//! Operations of the program on mathematical integers. Operands are in the range of their type; so are
//! results that are defined.

use super::{Translated, logical, logical_unary};
use crate::sort::Sort;
use crate::term::{Operation, Term};
use ir::{BinaryOp, IntType, UnaryOp};

/// That a number is one of a type.
pub(super) fn in_range(number: &Term, ty: IntType) -> Term {
    number.at_least(&Term::int(ty.min())).and(&number.at_most(&Term::int(ty.max())))
}

/// How many values a type has.
fn modulus(ty: IntType) -> Term {
    Term::int(1 << ty.bits)
}

/// The number that a term represents: itself, or 0 or 1.
fn number(term: &Term) -> Term {
    match term.sort() {
        Sort::Bool => term.if_then_else(&Term::int(1), &Term::int(0)),
        _ => term.clone(),
    }
}

/// The term that represents a number of a type.
fn represent(number: Term, ty: IntType) -> Term {
    if ty == IntType::BOOL { number.differs(&Term::int(0)) } else { number }
}

/// The number of a type that is equal to any number modulo the type's size.
fn wrap(number: &Term, ty: IntType) -> Term {
    let low = Term::int(ty.min());
    Term::binary(Operation::Modulo, &number.minus(&low), &modulus(ty)).plus(&low)
}

/// [`wrap`] of a number that is out of range by less than the type's size: a choice of sums, which solvers
/// like better than a remainder.
fn wrap_once(number: &Term, ty: IntType, may_be_low: bool, may_be_high: bool) -> Term {
    let mut result = number.clone();
    if may_be_high {
        result = number.at_most(&Term::int(ty.max())).if_then_else(&result, &number.minus(&modulus(ty)));
    }
    if may_be_low {
        result = number.at_least(&Term::int(ty.min())).if_then_else(&result, &number.plus(&modulus(ty)));
    }
    result
}

/// `left / right` rounded towards zero, for a divisor other than zero.
fn quotient(ty: IntType, left: &Term, right: &Term) -> Term {
    let divide = |left: &Term| Term::binary(Operation::Divide, left, right);
    by_sign(ty, left, divide)
}

/// `left % right` with the sign of `left`, for a divisor other than zero.
fn remainder(ty: IntType, left: &Term, right: &Term) -> Term {
    let modulo = |left: &Term| Term::binary(Operation::Modulo, left, right);
    by_sign(ty, left, modulo)
}

/// An odd function of a number, from what it is on numbers that are not negative.
fn by_sign(ty: IntType, number: &Term, function: impl Fn(&Term) -> Term) -> Term {
    if !ty.signed {
        return function(number);
    }
    let is_negative = number.less_than(&Term::int(0));
    is_negative.if_then_else(&function(&number.negated()).negated(), &function(number))
}

/// The one result that belongs to a distance in `0..bits`.
fn by_distance(ty: IntType, distance: &Term, result: impl Fn(u32) -> Term) -> Term {
    if let Operation::Int(known) = distance.operation() {
        return result(u32::try_from(*known).unwrap_or(0).min(u32::from(ty.bits) - 1));
    }
    let last = result(u32::from(ty.bits) - 1);
    (0..u32::from(ty.bits) - 1).rev().fold(last, |rest, known| {
        distance.equals(&Term::int(i128::from(known))).if_then_else(&result(known), &rest)
    })
}

fn distance_is_valid(ty: IntType, distance: &Term) -> Term {
    distance.at_least(&Term::int(0)).and(&distance.less_than(&Term::int(i128::from(ty.bits))))
}

fn power(exponent: u32) -> Term {
    Term::int(1 << exponent)
}

pub(super) fn unary(op: UnaryOp, ty: IntType, operand: &Term) -> (Term, Term) {
    let always = Term::bool(true);
    if ty == IntType::BOOL {
        return (logical_unary(op, operand), always);
    }
    match op {
        UnaryOp::Neg if ty.signed => {
            let negated = operand.negated();
            let defined = in_range(&negated, ty);
            (negated, defined)
        }
        UnaryOp::Neg => (wrap_once(&operand.negated(), ty, true, false), always),
        // The complement is -1 - x in two's complement, and the mirror image in the range of an unsigned
        // type.
        UnaryOp::Not => (Term::int(if ty.signed { -1 } else { ty.max() }).minus(operand), always),
    }
}

pub(super) fn binary(op: BinaryOp, ty: IntType, left: &Term, right: &Term) -> (Term, Term) {
    let always = Term::bool(true);
    if ty == IntType::BOOL
        && let Some(result) = logical(op, left, right)
    {
        return (result, always);
    }
    let (left, right) = (&number(left), &number(right));
    let nonzero = || right.differs(&Term::int(0));
    let within = |result: Term| {
        let defined = in_range(&result, ty);
        (result, defined)
    };
    let (result, defined) = match op {
        BinaryOp::Add if ty.signed => within(left.plus(right)),
        BinaryOp::Sub if ty.signed => within(left.minus(right)),
        BinaryOp::Mul if ty.signed => within(left.times(right)),
        BinaryOp::Add => (wrap_once(&left.plus(right), ty, false, true), always),
        BinaryOp::Sub => (wrap_once(&left.minus(right), ty, true, false), always),
        BinaryOp::Mul => (wrap(&left.times(right), ty), always),
        BinaryOp::Div => (quotient(ty, left, right), nonzero().and(&overflows(op, ty, left, right).not())),
        BinaryOp::Rem => (remainder(ty, left, right), nonzero().and(&overflows(op, ty, left, right).not())),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => (bitwise(op, ty, left, right), always),
        BinaryOp::Shl => {
            let shifted = by_distance(ty, right, |distance| wrap(&left.times(&power(distance)), ty));
            (shifted, distance_is_valid(ty, right))
        }
        // A quotient by a power of two that leaves a positive remainder is an arithmetic shift.
        BinaryOp::Shr => {
            let shifted =
                by_distance(ty, right, |distance| Term::binary(Operation::Divide, left, &power(distance)));
            (shifted, distance_is_valid(ty, right))
        }
        BinaryOp::Eq => return (left.equals(right), always),
        BinaryOp::Ne => return (left.differs(right), always),
        BinaryOp::Lt => return (left.less_than(right), always),
        BinaryOp::Le => return (left.at_most(right), always),
    };
    (represent(result, ty), defined)
}

/// A bit operation: by arithmetic where one operand is a mask that allows it, else through bit-vectors.
fn bitwise(op: BinaryOp, ty: IntType, left: &Term, right: &Term) -> Term {
    if op == BinaryOp::And {
        for (value, mask) in [(left, right), (right, left)] {
            if let Operation::Int(mask) = mask.operation()
                && let Some(result) = masked(ty, value, *mask)
            {
                return result;
            }
        }
    }
    let to_bits = |term: &Term| Term::unary(Operation::IntToBits(u32::from(ty.bits)), term);
    let operation = match op {
        BinaryOp::And => Operation::BitAnd,
        BinaryOp::Or => Operation::BitOr,
        _ => Operation::BitXor,
    };
    let back = if ty.signed { Operation::BitsToSigned } else { Operation::BitsToUnsigned };
    Term::unary(back, &Term::binary(operation, &to_bits(left), &to_bits(right)))
}

/// `value & mask` for masks of low bits, of high bits, and of one bit.
fn masked(ty: IntType, value: &Term, mask: i128) -> Option<Term> {
    let low_bits = |size: i128| Term::binary(Operation::Modulo, value, &Term::int(size));
    if mask >= 0 && (mask + 1).count_ones() == 1 {
        return Some(low_bits(mask + 1));
    }
    // The low bits that a mask of high bits leaves out.
    let left_out = if ty.signed { -1 - mask } else { ty.max() - mask };
    if left_out >= 0 && (left_out + 1).count_ones() == 1 {
        return Some(value.minus(&low_bits(left_out + 1)));
    }
    if mask > 0 && mask.count_ones() == 1 {
        let shifted = Term::binary(Operation::Divide, value, &Term::int(mask));
        return Some(Term::binary(Operation::Modulo, &shifted, &Term::int(2)).times(&Term::int(mask)));
    }
    None
}

/// Whether the exact result is out of range; the type is signed.
pub(super) fn overflows(op: BinaryOp, ty: IntType, left: &Term, right: &Term) -> Term {
    let (left, right) = (&number(left), &number(right));
    let leaves = |result: Term| in_range(&result, ty).not();
    match op {
        BinaryOp::Add => leaves(left.plus(right)),
        BinaryOp::Sub => leaves(left.minus(right)),
        BinaryOp::Mul => leaves(left.times(right)),
        BinaryOp::Div | BinaryOp::Rem if ty.signed => {
            left.equals(&Term::int(ty.min())).and(&right.equals(&Term::int(-1)))
        }
        BinaryOp::Shl => {
            let shifted = by_distance(ty, right, |distance| left.times(&power(distance)));
            distance_is_valid(ty, right).and(&leaves(shifted))
        }
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shr
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le => Term::bool(false),
    }
}

pub(super) fn cast(ty: IntType, operand: &Translated) -> Term {
    if ty == operand.ty {
        return operand.value.clone();
    }
    let (from, value) = (operand.ty, number(&operand.value));
    if ty == IntType::BOOL {
        return represent(value, ty);
    }
    let (low, high) = (from.min() < ty.min(), from.max() > ty.max());
    if from.bits <= ty.bits { wrap_once(&value, ty, low, high) } else { wrap(&value, ty) }
}
