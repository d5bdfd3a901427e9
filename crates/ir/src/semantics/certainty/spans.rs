//! Ranges of real values, and those of operations on them. Over-approximates the values.

use crate::expr::BinaryOp;
use crate::types::{IntType, Value};

/// The range of a real value, from the least to the greatest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    /// The least one.
    pub low: Value,
    /// The greatest one.
    pub high: Value,
}

impl Span {
    /// Any truth value.
    pub const TRUTH: Self = Self { low: 0, high: 1 };

    /// One value alone.
    pub fn only(value: Value) -> Self {
        Self { low: value, high: value }
    }
    /// All values of a type.
    pub fn of(ty: IntType) -> Self {
        Self { low: ty.min(), high: ty.max() }
    }
    /// Whether it is one value.
    pub fn is_one(self) -> bool {
        self.low == self.high
    }
    /// Whether all its values are of a type.
    pub fn is_in(self, ty: IntType) -> bool {
        ty.contains(self.low) && ty.contains(self.high)
    }
    /// Exact results as values of a type: signed results must be in range, unsigned ones wrap around.
    pub fn fitted(low: Option<Value>, high: Option<Value>, ty: IntType) -> Self {
        match (low, high) {
            (Some(low), Some(high)) if (Self { low, high }).is_in(ty) => Self { low, high },
            (Some(low), Some(high)) if ty.signed && low <= ty.max() && high >= ty.min() => {
                Self { low: low.max(ty.min()), high: high.min(ty.max()) }
            }
            (_, _) => Self::of(ty),
        }
    }
}

/// The bounds of an operation's exact results, for the operations that can overflow.
pub(super) fn exact_bounds(op: BinaryOp, left: Span, right: Span) -> Option<(Value, Value)> {
    match op {
        BinaryOp::Add => Some((left.low.checked_add(right.low)?, left.high.checked_add(right.high)?)),
        BinaryOp::Sub => Some((left.low.checked_sub(right.high)?, left.high.checked_sub(right.low)?)),
        BinaryOp::Mul => {
            let mut products = Vec::new();
            for one in [left.low, left.high] {
                for other in [right.low, right.high] {
                    products.push(one.checked_mul(other)?);
                }
            }
            Some((products.iter().copied().min()?, products.iter().copied().max()?))
        }
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le => None,
    }
}

/// The range of an operation's results; `None` when it may have none for some operands.
pub(super) fn span_of(op: BinaryOp, ty: IntType, left: Span, right: Span) -> Option<Span> {
    if left.is_one() && right.is_one() {
        return Some(Span::only(0));
    }
    let truth = |always: bool, never: bool| match (always, never) {
        (true, _) => Span::only(1),
        (_, true) => Span::only(0),
        (false, false) => Span::TRUTH,
    };
    let apart = left.high < right.low || right.high < left.low;
    Some(match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let bounds = exact_bounds(op, left, right);
            Span::fitted(bounds.map(|bounds| bounds.0), bounds.map(|bounds| bounds.1), ty)
        }
        BinaryOp::Div if right.low > 0 => {
            let quotients =
                [left.low / right.low, left.low / right.high, left.high / right.low, left.high / right.high];
            let low = quotients.iter().copied().min()?;
            Span { low, high: quotients.iter().copied().max()? }
        }
        BinaryOp::Rem if right.low > 0 => {
            let most = right.high - 1;
            Span { low: if left.low < 0 { -most } else { 0 }, high: if left.high > 0 { most } else { 0 } }
        }
        BinaryOp::Div | BinaryOp::Rem => return None,
        BinaryOp::And if left.low >= 0 && right.low >= 0 => {
            let both = if ty == IntType::BOOL { left.low & right.low } else { 0 };
            Span { low: both, high: left.high.min(right.high) }
        }
        BinaryOp::Or if ty == IntType::BOOL => {
            Span { low: left.low | right.low, high: left.high | right.high }
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Span::of(ty),
        BinaryOp::Shl | BinaryOp::Shr if right.low < 0 || right.high >= Value::from(ty.bits) => return None,
        BinaryOp::Shr if right.is_one() => Span { low: left.low >> right.low, high: left.high >> right.low },
        BinaryOp::Shl | BinaryOp::Shr => Span::of(ty),
        BinaryOp::Eq => truth(false, apart),
        BinaryOp::Ne => truth(apart, false),
        BinaryOp::Lt => truth(left.high < right.low, left.low >= right.high),
        BinaryOp::Le => truth(left.high <= right.low, left.low > right.high),
    })
}
