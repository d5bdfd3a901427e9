//! Intervals of exact integers, with the operations of the common representation as *valid abstractions*: if
//! `a` is in `A` and `b` in `B`, then `a op b` is in `A op B`, unless the operation faults.
//!
//! Over-approximates. The arithmetic here is that of mathematical integers; [`Interval::fit`] says what a
//! machine type makes of a result: a signed one out of range has faulted and is cut off, an unsigned one
//! wraps.

use crate::bits;
use crate::bound::Bound;
use crate::lattice::{Lattice, Thresholds};
use ir::{IntType, Value};
use std::fmt;

/// All integers from one bound to another; none if the bounds cross.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    lower: Bound,
    upper: Bound,
}

impl Interval {
    /// No integer.
    pub const BOTTOM: Self = Self { lower: Bound::PLUS_INFINITY, upper: Bound::MINUS_INFINITY };
    /// All integers.
    pub const TOP: Self = Self { lower: Bound::MINUS_INFINITY, upper: Bound::PLUS_INFINITY };
    /// Both truth values.
    pub const BOOLEAN: Self = Self::between(0, 1);

    /// From `lower` to `upper`.
    pub fn new(lower: Bound, upper: Bound) -> Self {
        let crossed = lower > upper || lower == Bound::PLUS_INFINITY || upper == Bound::MINUS_INFINITY;
        if crossed { Self::BOTTOM } else { Self { lower, upper } }
    }
    /// From `lower` to `upper`, which is not smaller.
    pub const fn between(lower: Value, upper: Value) -> Self {
        Self { lower: Bound::finite(lower), upper: Bound::finite(upper) }
    }
    /// One integer.
    pub const fn constant(value: Value) -> Self {
        Self::between(value, value)
    }
    /// This and all above.
    pub fn at_least(lower: Bound) -> Self {
        Self::new(lower, Bound::PLUS_INFINITY)
    }
    /// This and all below.
    pub fn at_most(upper: Bound) -> Self {
        Self::new(Bound::MINUS_INFINITY, upper)
    }
    /// The values of a type.
    pub fn of_type(ty: IntType) -> Self {
        Self::between(ty.min(), ty.max())
    }
    /// The least integer; above all integers if there is none.
    pub fn lower(self) -> Bound {
        self.lower
    }
    /// The greatest integer; below all integers if there is none.
    pub fn upper(self) -> Bound {
        self.upper
    }
    /// The one integer in it.
    pub fn as_constant(self) -> Option<Value> {
        if self.lower == self.upper { self.lower.value() } else { None }
    }
    /// Whether `value` is in it.
    pub fn contains(self, value: Value) -> bool {
        self.lower <= Bound::finite(value) && Bound::finite(value) <= self.upper
    }
    /// Without `value`, if that is one of its ends.
    pub fn without(self, value: Value) -> Self {
        let mut rest = self;
        if rest.lower == Bound::finite(value) {
            rest.lower = rest.lower.add_down(Bound::finite(1));
        }
        if rest.upper == Bound::finite(value) {
            rest.upper = rest.upper.add_up(Bound::finite(-1));
        }
        Self::new(rest.lower, rest.upper)
    }

    /// The negated integers.
    pub fn negate(self) -> Self {
        Self::new(self.upper.negate(), self.lower.negate())
    }
    /// The bitwise complements.
    pub fn complement(self) -> Self {
        self.negate().plus(Self::constant(-1))
    }
    /// The sums.
    pub fn plus(self, other: Self) -> Self {
        if self.is_bottom() || other.is_bottom() {
            return Self::BOTTOM;
        }
        Self::new(self.lower.add_down(other.lower), self.upper.add_up(other.upper))
    }
    /// The differences.
    pub fn subtract(self, other: Self) -> Self {
        self.plus(other.negate())
    }
    /// The products.
    pub fn multiply(self, other: Self) -> Self {
        self.corners(other, Bound::multiply)
    }
    /// The quotients by what is not zero, rounded towards zero.
    pub fn divide(self, other: Self) -> Self {
        let below = other.meet(&Self::at_most(Bound::finite(-1)));
        let above = other.meet(&Self::at_least(Bound::finite(1)));
        // Rounding towards zero is monotone on each side of zero of the divisor.
        self.corners(below, Bound::divide).join(&self.corners(above, Bound::divide))
    }
    /// The remainders by what is not zero, with the sign of the dividend.
    pub fn remainder(self, other: Self) -> Self {
        let divisor = other.absolute().meet(&Self::at_least(Bound::finite(1)));
        if self.is_bottom() || divisor.is_bottom() {
            return Self::BOTTOM;
        }
        if self.absolute().upper < divisor.lower {
            return self;
        }
        let most = divisor.upper.add_up(Bound::finite(-1));
        let lower = if self.lower >= Bound::ZERO { Bound::ZERO } else { self.lower.max(most.negate()) };
        let upper = if self.upper <= Bound::ZERO { Bound::ZERO } else { self.upper.min(most) };
        Self::new(lower, upper)
    }
    /// The absolute values.
    pub fn absolute(self) -> Self {
        let negative = self.meet(&Self::at_most(Bound::ZERO));
        self.meet(&Self::at_least(Bound::ZERO)).join(&negative.negate())
    }
    /// Shifted to the left by a distance in `0..128`; other distances do not count.
    pub fn shift_left(self, distance: Self) -> Self {
        let powers = distance.distances().map_or(Self::BOTTOM, |(least, most)| {
            // 2^126 is above all that a type of 64 bits can be shifted by.
            Self::between(1 << least.min(126), 1 << most.min(126))
        });
        self.multiply(powers)
    }
    /// Shifted to the right by a distance in `0..128`, rounding down; other distances do not count.
    pub fn shift_right(self, distance: Self) -> Self {
        let Some((least, most)) = distance.distances() else { return Self::BOTTOM };
        if self.is_bottom() {
            return Self::BOTTOM;
        }
        let ends = [self.lower, self.upper];
        let corners = ends.map(|end| [end.shift_right(least), end.shift_right(most)]);
        Self::new(corners[0][0].min(corners[0][1]), corners[1][0].max(corners[1][1]))
    }
    fn distances(self) -> Option<(u32, u32)> {
        let valid = self.meet(&Self::between(0, 127));
        Some((valid.lower.value()? as u32, valid.upper.value()? as u32))
    }
    /// The bitwise conjunctions of values of 64 bits at most.
    pub fn bit_and(self, other: Self) -> Self {
        bits::by_sign(self, other, bits::and)
    }
    /// The bitwise disjunctions of values of 64 bits at most.
    pub fn bit_or(self, other: Self) -> Self {
        bits::by_sign(self, other, bits::or)
    }
    /// The bitwise exclusive disjunctions of values of 64 bits at most.
    pub fn bit_xor(self, other: Self) -> Self {
        bits::by_sign(self, other, bits::xor)
    }
    /// Whether they are equal: a set of truth values. So for the next two.
    pub fn equal(self, other: Self) -> Self {
        let differ = self.as_constant().is_none() || self != other;
        Self::truth(!self.meet(&other).is_bottom(), !self.is_bottom() && !other.is_bottom() && differ)
    }
    /// Whether the first is less.
    pub fn less(self, other: Self) -> Self {
        if self.is_bottom() || other.is_bottom() {
            return Self::BOTTOM;
        }
        Self::truth(self.lower < other.upper, self.upper >= other.lower)
    }
    /// Whether the first is not greater.
    pub fn not_greater(self, other: Self) -> Self {
        other.less(self).not()
    }
    /// The set of truth values that can be.
    pub fn truth(may_hold: bool, may_fail: bool) -> Self {
        Self::new(Bound::finite(Value::from(!may_fail)), Bound::finite(Value::from(may_hold)))
    }
    /// The negated truth values.
    #[allow(clippy::should_implement_trait)] // beside the other operations, which take types or have no operator
    pub fn not(self) -> Self {
        Self::constant(1).subtract(self)
    }

    /// What a type makes of exact results: signed ones out of range have faulted, unsigned ones wrap.
    pub fn fit(self, ty: IntType) -> Self {
        if ty.signed { self.meet(&Self::of_type(ty)) } else { self.wrap(ty) }
    }
    /// The values of a type that are equal to these modulo 2^bits.
    pub fn wrap(self, ty: IntType) -> Self {
        let range = Self::of_type(ty);
        if self.less_or_equal(&range) {
            return self;
        }
        let (Some(lower), Some(upper)) = (self.lower.value(), self.upper.value()) else { return range };
        let short = upper.checked_sub(lower).is_some_and(|length| length < 1 << ty.bits);
        let (first, last) = (ty.wrap(lower), ty.wrap(upper));
        if short && first <= last { Self::between(first, last) } else { range }
    }
    /// The values after a conversion to a type.
    pub fn cast(self, ty: IntType) -> Self {
        if ty == IntType::BOOL { self.equal(Self::constant(0)).not() } else { self.wrap(ty) }
    }

    fn corners(self, other: Self, op: impl Fn(Bound, Bound) -> Bound) -> Self {
        if self.is_bottom() || other.is_bottom() {
            return Self::BOTTOM;
        }
        let (lower, upper) = Bound::hull([
            op(self.lower, other.lower),
            op(self.lower, other.upper),
            op(self.upper, other.lower),
            op(self.upper, other.upper),
        ]);
        Self::new(lower, upper)
    }
}

impl Lattice for Interval {
    fn is_bottom(&self) -> bool {
        self.lower > self.upper
    }
    fn is_top(&self) -> bool {
        *self == Self::TOP
    }
    fn less_or_equal(&self, other: &Self) -> bool {
        other.lower <= self.lower && self.upper <= other.upper
    }
    fn join(&self, other: &Self) -> Self {
        Self::new(self.lower.min(other.lower), self.upper.max(other.upper))
    }
    fn meet(&self, other: &Self) -> Self {
        Self::new(self.lower.max(other.lower), self.upper.min(other.upper))
    }
    fn widen(&self, next: &Self, thresholds: &Thresholds) -> Self {
        if self.is_bottom() {
            return *next;
        }
        let lower = if next.lower < self.lower { thresholds.below(next.lower) } else { self.lower };
        let upper = if next.upper > self.upper { thresholds.above(next.upper) } else { self.upper };
        Self::new(lower, upper)
    }
    fn narrow(&self, next: &Self) -> Self {
        if self.is_bottom() || next.is_bottom() {
            return Self::BOTTOM;
        }
        let lower = if is_extreme(self.lower) { next.lower.max(self.lower) } else { self.lower };
        let upper = if is_extreme(self.upper) { next.upper.min(self.upper) } else { self.upper };
        Self::new(lower, upper)
    }
}

/// Whether a bound is infinite, or the end of a type's range: where widening ends when nothing better holds.
/// There are few, so that a bound moves a few times only in a narrowing sequence.
pub(crate) fn is_extreme(bound: Bound) -> bool {
    bound
        .value()
        .is_none_or(|value| IntType::ALL.into_iter().any(|ty| value == ty.min() || value == ty.max()))
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_constant() {
            Some(value) => write!(f, "{value}"),
            None if self.is_bottom() => f.write_str("∅"),
            None => write!(f, "[{}, {}]", self.lower, self.upper),
        }
    }
}
impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
