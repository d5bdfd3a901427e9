//! The interface of abstract domains, and the thresholds at which widening stops.

use crate::bound::Bound;
use ir::{BinaryOp, Expr, Initial, IntType, Layout, Program, Value};
use std::collections::BTreeSet;

/// A set of abstract values, each of which stands for a set of concrete ones (its *meaning*).
///
/// The laws, for all `a`, `b`, `c` (tests/laws states them as code):
///
/// 1. `a ≤ a`; if `a ≤ b` and `b ≤ c` then `a ≤ c`; if `a ≤ b` then the meaning of `a` is inside that of `b`.
/// 2. `a ≤ a.join(b)` and `b ≤ a.join(b)`; join commutes, and `a.join(a) = a`.
/// 3. The meaning of `a.meet(b)` holds all that `a` and `b` have in common, and `a.meet(b) ≤ a`, `≤ b`.
/// 4. If `a.is_bottom()` then `a` means nothing and `a ≤ b`; if `b.is_top()` then `a ≤ b`.
/// 5. `a ≤ a.widen(b)` and `b ≤ a.widen(b)`; the sequence `w₀ = a₀`, `wᵢ₊₁ = wᵢ.widen(aᵢ)` is constant after
///    finitely many steps, whatever the `aᵢ` are.
/// 6. If `b ≤ a` then `b ≤ a.narrow(b) ≤ a`, and narrowing sequences are finite too.
/// 7. `a == b` exactly if `a ≤ b` and `b ≤ a`.
pub trait Lattice: Clone + PartialEq {
    /// Whether it means nothing.
    fn is_bottom(&self) -> bool;
    /// Whether it says nothing.
    fn is_top(&self) -> bool;
    /// Whether `self` is at least as strong.
    fn less_or_equal(&self, other: &Self) -> bool;
    /// What holds of both: the union, or more.
    fn join(&self, other: &Self) -> Self;
    /// What both say together: the intersection, or more.
    fn meet(&self, other: &Self) -> Self;
    /// An upper bound that makes rising sequences finite. Bounds that give way stop at thresholds.
    fn widen(&self, next: &Self, thresholds: &Thresholds) -> Self;
    /// Something between `self` and `next`, where `next ≤ self`.
    fn narrow(&self, next: &Self) -> Self;
}

/// The values at which a bound that gives way may stop, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thresholds(Vec<Value>);

impl Thresholds {
    /// These, and the bounds of all integer types.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Self {
        let mut all: BTreeSet<Value> = values.into_iter().collect();
        all.extend([-1, 0, 1]);
        for bits in [8, 16, 32, 64] {
            for signed in [false, true] {
                let ty = IntType { bits, signed };
                all.extend([ty.min(), ty.max()]);
            }
        }
        Self(all.into_iter().collect())
    }

    /// The constants of a program with their neighbours, and the lengths of its arrays.
    ///
    /// A divisor, mask or shift distance bounds results and not variables, but costs only one more step.
    pub fn of_program(program: &Program) -> Self {
        let mut found = BTreeSet::new();
        let mut add = |value: Value| {
            for near in [value.saturating_sub(1), value, value.saturating_add(1)] {
                found.extend([near, near.saturating_neg()]);
            }
        };
        for object in program.objects.iter() {
            lengths(&object.layout, &mut add);
            if let Initial::Values(values) = &object.initial {
                for (_, _, value) in values {
                    constants(value, &mut add);
                }
            }
        }
        for template in program.templates.iter() {
            for op in template.edges.iter().flat_map(|edge| &edge.ops) {
                for expr in op.expressions() {
                    constants(expr, &mut add);
                }
            }
        }
        Self::new(found)
    }

    /// The least threshold that is not below `bound`.
    pub fn above(&self, bound: Bound) -> Bound {
        let at = self.0.partition_point(|value| Bound::finite(*value) < bound);
        self.0.get(at).map_or(Bound::PLUS_INFINITY, |value| Bound::finite(*value))
    }

    /// The greatest threshold that is not above `bound`.
    pub fn below(&self, bound: Bound) -> Bound {
        let at = self.0.partition_point(|value| Bound::finite(*value) <= bound);
        at.checked_sub(1).map_or(Bound::MINUS_INFINITY, |at| Bound::finite(self.0[at]))
    }
}

fn constants(expr: &Expr, add: &mut impl FnMut(Value)) {
    expr.walk(&mut |part| match part {
        Expr::Const(value, _) => add(*value),
        // A product of constants is what an array's size in bytes looks like.
        Expr::Binary(BinaryOp::Mul, ty, pair) => {
            if let (Expr::Const(a, _), Expr::Const(b, _)) = &**pair {
                add(ty.wrap(a.wrapping_mul(*b)));
            }
        }
        Expr::Local(_)
        | Expr::Load(_)
        | Expr::Address(..)
        | Expr::Procedure(_)
        | Expr::Myself
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Cast(..)
        | Expr::IfThenElse(_)
        | Expr::Overflows(..)
        | Expr::Valid(..)
        | Expr::Old(_) => {}
    });
}

fn lengths(layout: &Layout, add: &mut impl FnMut(Value)) {
    match layout {
        Layout::Array { element, count, .. } => {
            add(Value::from(*count));
            lengths(element, add);
        }
        Layout::Record(fields) => fields.iter().for_each(|field| lengths(&field.layout, add)),
        Layout::Scalar(_) | Layout::Sync(_) | Layout::Bytes(_) => {}
    }
}
