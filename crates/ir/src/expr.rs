//! Expressions: side-effect free, typed, and exact.

use crate::ids::{LocalId, ObjectId, TemplateId};
use crate::types::{IntType, Value};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A side-effect free expression. Each evaluates to a value of one [`IntType`], or faults (division by zero,
/// signed overflow, shift out of range, access outside of any live object).
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// A constant in the range of its type.
    Const(Value, IntType),
    /// A local variable of the running thread.
    Local(LocalId),
    /// The content of a memory cell.
    Load(Box<Place>),
    /// The address of a byte of an object; for a [`Frame`](crate::Storage::Frame) object, of the running
    /// thread's own.
    Address(ObjectId, u64),
    /// The address of a procedure: a pointer to a function.
    Procedure(TemplateId),
    /// The id of the running thread: a pointer-wide value, never 0, never reused.
    Myself,
    /// An operation on one operand of the given type, which is also the type of the result.
    Unary(UnaryOp, IntType, Box<Expr>),
    /// An operation on two operands of the given type (a shift's right operand may have any type). A
    /// comparison gives a Boolean, any other operation a value of the type. In a signed type a result out of
    /// range faults; in an unsigned one it wraps.
    Binary(BinaryOp, IntType, Box<(Expr, Expr)>),
    /// The operand's value modulo 2^bits, in the given type. To a Boolean: whether it is not zero.
    Cast(IntType, Box<Expr>),
    /// The second operand if the first (a Boolean) holds, else the third; only the chosen one is evaluated.
    IfThenElse(Box<(Expr, Expr, Expr)>),
    /// Whether the operation on two operands of a signed type would leave its range.
    Overflows(BinaryOp, IntType, Box<(Expr, Expr)>),
    /// Whether the given number of bytes, starting at a pointer, all lie in one live object; if the pointer
    /// is a sum or difference, in the object that its first operand points into. With 0 bytes: whether the
    /// pointer is the first address of a live allocated object, so that it may be freed.
    Valid(Box<Expr>, u64),
    /// The operand's value before the assignment; only in the constraint of an assignment.
    Old(Box<Expr>),
}

/// Operations on one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    /// Arithmetic negation.
    Neg,
    /// Bitwise complement; on a Boolean, logical negation.
    Not,
}

/// Operations on two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, rounded towards zero. A divisor of zero faults.
    Div,
    /// Remainder with the dividend's sign. A divisor of zero faults.
    Rem,
    /// Bitwise and; on Booleans, conjunction (both sides are evaluated).
    And,
    /// Bitwise or; on Booleans, disjunction (both sides are evaluated).
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift to the left; bits that do not fit are lost, in a signed type too. A distance outside of
    /// `0..bits` faults.
    Shl,
    /// Shift to the right, arithmetic in a signed type. A distance outside of `0..bits` faults.
    Shr,
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
}

/// What a sum or a difference in a pointer's type says of the objects that its operands are in, by the
/// types of its operands. One that is cast to the signed type of that width changes no value: the result
/// wraps around.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerArithmetic {
    /// The right operand alone is cast: a pointer, the left operand, moves by a *distance*. The result is
    /// in the object of the pointer, or is no address, whatever the distance was computed from.
    Move,
    /// Both operands of a difference are cast: they are pointers, into one object as C demands.
    Difference,
}

impl PointerArithmetic {
    /// What an operation of type `ty` is, where it is one on pointers; `None` for arithmetic of integers,
    /// whose result may be an address where either operand is one.
    pub fn of(pointer: IntType, op: BinaryOp, ty: IntType, pair: &(Expr, Expr)) -> Option<Self> {
        let signed = IntType { signed: true, ..pointer };
        let is_cast = |operand: &Expr| matches!(operand, Expr::Cast(to, _) if *to == signed);
        if ty != pointer || !is_cast(&pair.1) {
            return None;
        }
        match (op, is_cast(&pair.0)) {
            (BinaryOp::Add | BinaryOp::Sub, false) => Some(Self::Move),
            (BinaryOp::Sub, true) => Some(Self::Difference),
            _ => None,
        }
    }
}

impl BinaryOp {
    /// All of them: arithmetic, of which shifts are last, then comparisons.
    pub const ALL: [Self; 14] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Rem,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Shl,
        Self::Shr,
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Le,
    ];
    /// Whether the result is a Boolean whatever the operands' type.
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le)
    }
}

/// A scalar cell of memory, named by its address.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its address. [`Expr::Address`] names a cell directly; anything else is a computed address.
    pub address: Expr,
    /// How its bytes are read.
    pub ty: IntType,
    /// Whether accesses to it are atomic (C11 atomics): two atomic accesses never race.
    pub atomic: bool,
    /// What the address may point to, if known.
    pub targets: Targets,
}

/// What a computed address may point to.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Default, Serialize, Deserialize)]
pub enum Targets {
    /// Not computed: any object.
    #[default]
    Any,
    /// One of these, or nothing valid.
    Of(Arc<[Target]>),
}

/// Some bytes of one object: the offsets `first + i * stride` for `i < count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The object.
    pub object: ObjectId,
    /// The least offset.
    pub first: u64,
    /// The distance between two offsets; 0 if there is only one.
    pub stride: u64,
    /// The number of offsets; `u64::MAX` when the object's size is not known.
    pub count: u64,
}

impl Place {
    /// The plain cell at `offset` of `object`.
    pub fn cell(object: ObjectId, offset: u64, ty: IntType) -> Self {
        Self { address: Expr::Address(object, offset), ty, atomic: false, targets: Targets::Any }
    }
    /// The plain cell that a pointer points to.
    pub fn pointee(address: Expr, ty: IntType) -> Self {
        Self { address, ty, atomic: false, targets: Targets::Any }
    }
    /// The object and offset, if the address names a cell directly.
    pub fn as_cell(&self) -> Option<(ObjectId, u64)> {
        match self.address {
            Expr::Address(object, offset) => Some((object, offset)),
            _ => None,
        }
    }
}

impl Expr {
    /// The Boolean constant.
    pub fn bool(value: bool) -> Self {
        Self::Const(Value::from(value), IntType::BOOL)
    }
    /// A constant, wrapped into its type.
    pub fn int(value: Value, ty: IntType) -> Self {
        Self::Const(ty.wrap(value), ty)
    }
    /// The content of a cell.
    pub fn load(place: Place) -> Self {
        Self::Load(Box::new(place))
    }
    /// `op` on two operands of type `ty`.
    pub fn binary(op: BinaryOp, ty: IntType, left: Expr, right: Expr) -> Self {
        Self::Binary(op, ty, Box::new((left, right)))
    }
    /// `op` on one operand of type `ty`.
    pub fn unary(op: UnaryOp, ty: IntType, operand: Expr) -> Self {
        Self::Unary(op, ty, Box::new(operand))
    }
    /// The operand in type `ty`.
    pub fn cast(ty: IntType, operand: Expr) -> Self {
        Self::Cast(ty, Box::new(operand))
    }
    /// Logical negation of a Boolean.
    #[allow(clippy::should_implement_trait)] // a constructor beside the others, not an operator
    pub fn not(self) -> Self {
        match self {
            Self::Const(value, IntType::BOOL) => Self::bool(value == 0),
            Self::Unary(UnaryOp::Not, IntType::BOOL, operand) => *operand,
            other => Self::unary(UnaryOp::Not, IntType::BOOL, other),
        }
    }
    /// Conjunction of two Booleans.
    pub fn and(self, other: Expr) -> Self {
        Self::binary(BinaryOp::And, IntType::BOOL, self, other)
    }
    /// The direct operands, in order of evaluation. A load's operand is its address.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Self::Const(..) | Self::Local(_) | Self::Address(..) | Self::Procedure(_) | Self::Myself => {
                vec![]
            }
            Self::Load(place) => vec![&place.address],
            Self::Unary(_, _, a) | Self::Cast(_, a) | Self::Valid(a, _) | Self::Old(a) => vec![a],
            Self::Binary(_, _, pair) | Self::Overflows(_, _, pair) => vec![&pair.0, &pair.1],
            Self::IfThenElse(three) => vec![&three.0, &three.1, &three.2],
        }
    }
    /// The direct operands, to change.
    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Const(..) | Self::Local(_) | Self::Address(..) | Self::Procedure(_) | Self::Myself => {
                vec![]
            }
            Self::Load(place) => vec![&mut place.address],
            Self::Unary(_, _, a) | Self::Cast(_, a) | Self::Valid(a, _) | Self::Old(a) => vec![a],
            Self::Binary(_, _, pair) | Self::Overflows(_, _, pair) => vec![&mut pair.0, &mut pair.1],
            Self::IfThenElse(three) => vec![&mut three.0, &mut three.1, &mut three.2],
        }
    }
    /// Whether it contains a local.
    pub fn mentions(&self, local: LocalId) -> bool {
        *self == Self::Local(local) || self.operands().into_iter().any(|operand| operand.mentions(local))
    }
    /// For a condition that compares a word in memory with the id of the thread, as recursive locks do: the
    /// address of the word, and whether the condition holds where they are equal.
    pub fn asks_for_owner(&self) -> Option<(&Expr, bool)> {
        match self {
            Expr::Unary(UnaryOp::Not, IntType::BOOL, inner) => {
                inner.asks_for_owner().map(|(address, is_mine)| (address, !is_mine))
            }
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), IntType::U32, pair) => {
                let is_myself =
                    |expr: &Expr| matches!(expr, Expr::Cast(IntType::U32, inner) if **inner == Expr::Myself);
                let place = match &**pair {
                    (Expr::Load(place), other) | (other, Expr::Load(place)) if is_myself(other) => place,
                    _ => return None,
                };
                (place.ty == IntType::U32).then_some((&place.address, *op == BinaryOp::Eq))
            }
            Expr::Const(..) | Expr::Local(_) | Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) => None,
            Expr::Myself | Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => None,
            Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
        }
    }
    /// Calls `visit` on this expression and its subexpressions, outer ones first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for operand in self.operands() {
            operand.walk(visit);
        }
    }
    /// Rewrites this expression and its subexpressions, inner ones first.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        for operand in self.operands_mut() {
            operand.rewrite(change);
        }
        change(self);
    }
}
