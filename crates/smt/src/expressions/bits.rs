//! Operations of the program on bit-vectors.

use super::{Translated, logical, logical_unary};
use crate::sort::Sort;
use crate::term::{Operation, Term};
use ir::{BinaryOp, IntType, UnaryOp};

/// Wide enough for every distance of a shift.
const DISTANCE_WIDTH: u32 = 64;

/// The bits that a term represents: itself, or a single one.
fn vector(term: &Term) -> Term {
    match term.sort() {
        Sort::Bool => term.if_then_else(&Term::bits(1, 1), &Term::bits(1, 0)),
        _ => term.clone(),
    }
}

/// The term that represents bits of a type.
fn represent(bits: Term, ty: IntType) -> Term {
    if ty == IntType::BOOL { bits.equals(&Term::bits(1, 1)) } else { bits }
}

/// A number of a type with more or fewer bits, modulo the new size.
fn resize(bits: &Term, from: IntType, width: u32) -> Term {
    let old = u32::from(from.bits);
    if width < old {
        bits.extract(width - 1, 0)
    } else if from.signed {
        Term::unary(Operation::SignExtend(width - old), bits)
    } else {
        Term::unary(Operation::ZeroExtend(width - old), bits)
    }
}

fn constant(ty: IntType, value: i128) -> Term {
    Term::bits(u32::from(ty.bits), value as u128)
}

pub(super) fn unary(op: UnaryOp, ty: IntType, operand: &Term) -> (Term, Term) {
    let always = Term::bool(true);
    if ty == IntType::BOOL {
        return (logical_unary(op, operand), always);
    }
    match op {
        UnaryOp::Neg => {
            let defined = if ty.signed { operand.differs(&constant(ty, ty.min())) } else { always };
            (Term::unary(Operation::BitNegate, operand), defined)
        }
        UnaryOp::Not => (Term::unary(Operation::BitNot, operand), always),
    }
}

/// The distance of a shift as wide as the type, and whether it is in `0..bits`.
fn distance(ty: IntType, right: &Translated) -> (Term, Term) {
    let wide = resize(&vector(&right.value), right.ty, DISTANCE_WIDTH);
    let limit = Term::bits(DISTANCE_WIDTH, u128::from(ty.bits));
    let valid = Term::binary(Operation::UnsignedLess, &wide, &limit);
    (wide.extract(u32::from(ty.bits) - 1, 0), valid)
}

pub(super) fn binary(op: BinaryOp, ty: IntType, left: &Term, right: &Translated) -> (Term, Term) {
    let always = Term::bool(true);
    if ty == IntType::BOOL
        && let Some(result) = logical(op, left, &right.value)
    {
        return (result, always);
    }
    let (first, second) = (&vector(left), &vector(&right.value));
    let of = |unsigned: Operation, signed: Operation| {
        Term::binary(if ty.signed { signed } else { unsigned }, first, second)
    };
    let plain = |operation: Operation| Term::binary(operation, first, second);
    let no_overflow = || if ty.signed { overflows(op, ty, left, right).not() } else { Term::bool(true) };
    let nonzero = || second.differs(&constant(ty, 0));
    let shift = |operation: Operation| {
        let (by, valid) = distance(ty, right);
        (Term::binary(operation, first, &by), valid)
    };
    let (result, defined) = match op {
        BinaryOp::Add => (plain(Operation::BitAdd), no_overflow()),
        BinaryOp::Sub => (plain(Operation::BitSubtract), no_overflow()),
        BinaryOp::Mul => (plain(Operation::BitMultiply), no_overflow()),
        BinaryOp::Div => {
            (of(Operation::UnsignedDivide, Operation::SignedDivide), nonzero().and(&no_overflow()))
        }
        BinaryOp::Rem => {
            (of(Operation::UnsignedRemainder, Operation::SignedRemainder), nonzero().and(&no_overflow()))
        }
        BinaryOp::And => (plain(Operation::BitAnd), always),
        BinaryOp::Or => (plain(Operation::BitOr), always),
        BinaryOp::Xor => (plain(Operation::BitXor), always),
        BinaryOp::Shl => shift(Operation::ShiftLeft),
        BinaryOp::Shr => {
            shift(if ty.signed { Operation::ArithmeticShiftRight } else { Operation::LogicalShiftRight })
        }
        BinaryOp::Eq => return (first.equals(second), always),
        BinaryOp::Ne => return (first.differs(second), always),
        BinaryOp::Lt => return (of(Operation::UnsignedLess, Operation::SignedLess), always),
        BinaryOp::Le => return (of(Operation::UnsignedLessOrEqual, Operation::SignedLessOrEqual), always),
    };
    (represent(result, ty), defined)
}

/// Whether the exact result is out of range; the type is signed.
pub(super) fn overflows(op: BinaryOp, ty: IntType, left: &Term, right: &Translated) -> Term {
    let (first, second) = (&vector(left), &vector(&right.value));
    let width = u32::from(ty.bits);
    // With enough bits more the result is exact; it fits if it is the extension of its own low bits.
    let leaves = |operation: Operation, extra: u32| {
        let wide = |operand: &Term| Term::unary(Operation::SignExtend(extra), operand);
        let exact = Term::binary(operation, &wide(first), &wide(second));
        exact.differs(&wide(&exact.extract(width - 1, 0)))
    };
    match op {
        BinaryOp::Add => leaves(Operation::BitAdd, 1),
        BinaryOp::Sub => leaves(Operation::BitSubtract, 1),
        BinaryOp::Mul => leaves(Operation::BitMultiply, width),
        BinaryOp::Div | BinaryOp::Rem => {
            first.equals(&constant(ty, ty.min())).and(&second.equals(&constant(ty, -1)))
        }
        BinaryOp::Shl => {
            let (by, valid) = distance(ty, right);
            let shifted = Term::binary(Operation::ShiftLeft, first, &by);
            let back = Term::binary(Operation::ArithmeticShiftRight, &shifted, &by);
            valid.and(&back.differs(first))
        }
        BinaryOp::And
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
    let bits = vector(&operand.value);
    if ty == IntType::BOOL {
        return bits.differs(&constant(operand.ty, 0));
    }
    resize(&bits, operand.ty, u32::from(ty.bits))
}
