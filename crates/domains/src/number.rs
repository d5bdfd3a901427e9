//! Numbers: the reduced product of intervals, congruences, "not zero", and sets of addresses.
//!
//! Over-approximates; every operation is a valid abstraction of [`ir::semantics::apply`] and related
//! functions: if `a` is in `A` and `b` in `B`, and the concrete operation on `a` and `b` does not fault, its
//! result is in the abstract one. "Not zero" is what is known of a pointer that was tested, and of a divisor;
//! an interval says it only if zero is at its end.
//!
//! Of pointers besides: which addresses they are.
//!
//! A truth value is a number between 0 and 1, so a set of truth values is a number too.

use crate::bound::Bound;
use crate::congruence::Congruence;
use crate::interval::Interval;
use crate::lattice::{Lattice, Thresholds};
use ir::semantics::{apply, overflows};
use ir::{BinaryOp, IntType, UnaryOp, Value};
use std::fmt;

/// A set of integers.
///
/// Kept reduced: the ends of the interval are members of the congruence, and not zero if zero is excluded;
/// one integer has modulus 0; the empty set has one form.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    interval: Interval,
    congruence: Congruence,
    /// Whether zero is excluded, by whatever part.
    nonzero: bool,
    /// If known: each member is zero or one of these addresses. Nothing is said of one integer, which says it
    /// all.
    addresses: Option<Addresses>,
}

/// A set of numbered addresses. What the numbers stand for is up to whoever gives them out
/// ([`crate::Memory::address`]): different ones for different integers.
pub type Addresses = u64;

impl Number {
    /// No integer.
    pub const BOTTOM: Self =
        Self { interval: Interval::BOTTOM, congruence: Congruence::TOP, nonzero: true, addresses: None };
    /// All integers.
    pub const TOP: Self =
        Self { interval: Interval::TOP, congruence: Congruence::TOP, nonzero: false, addresses: None };
    /// All integers but zero.
    pub const NONZERO: Self = Self { nonzero: true, ..Self::TOP };
    /// Both truth values.
    pub const BOOLEAN: Self = Self { interval: Interval::BOOLEAN, ..Self::TOP };

    /// The integers of an interval that are in a congruence.
    pub fn new(interval: Interval, congruence: Congruence) -> Self {
        Self { interval, congruence, ..Self::TOP }.reduced()
    }
    /// Those that are zero, or one of some addresses.
    pub fn among(&self, addresses: Addresses) -> Self {
        self.meet(&Self { addresses: Some(addresses), ..Self::TOP })
    }
    /// The addresses that it consists of, beside zero; `None` when it may be something else.
    pub fn addresses(&self) -> Option<Addresses> {
        if self.as_constant() == Some(0) { Some(0) } else { self.addresses }
    }
    /// One integer.
    pub fn constant(value: Value) -> Self {
        Interval::constant(value).into()
    }
    /// All from `lower` to `upper`.
    pub fn between(lower: Value, upper: Value) -> Self {
        Interval::new(Bound::finite(lower), Bound::finite(upper)).into()
    }
    /// The values of a type.
    pub fn of_type(ty: IntType) -> Self {
        Interval::of_type(ty).into()
    }
    /// The set of truth values that can be.
    pub fn truth(may_hold: bool, may_fail: bool) -> Self {
        Interval::truth(may_hold, may_fail).into()
    }
    /// The least interval around it.
    pub fn interval(&self) -> Interval {
        self.interval
    }
    /// The least congruence around it.
    pub fn congruence(&self) -> Congruence {
        self.congruence
    }
    /// Whether zero is excluded.
    pub fn is_nonzero(&self) -> bool {
        self.nonzero
    }
    /// Whether it holds something other than zero: as a truth value, whether it may be true.
    pub fn may_hold(&self) -> bool {
        !self.is_bottom() && self.as_constant() != Some(0)
    }
    /// Whether it holds zero: as a truth value, whether it may be false.
    pub fn may_fail(&self) -> bool {
        !self.nonzero
    }
    /// The one integer in it.
    pub fn as_constant(&self) -> Option<Value> {
        self.interval.as_constant()
    }
    /// Whether `value` is in it.
    pub fn contains(&self, value: Value) -> bool {
        self.interval.contains(value) && self.congruence.contains(value) && !(value == 0 && self.nonzero)
    }
    /// Without `value`, if that can be said.
    pub fn without(&self, value: Value) -> Self {
        let nonzero = self.nonzero || value == 0;
        Self { interval: self.interval.without(value), nonzero, ..*self }.reduced()
    }

    fn reduced(mut self) -> Self {
        if self.addresses == Some(0) {
            self.interval = self.interval.meet(&Interval::constant(0));
        }
        self.nonzero |= !self.congruence.contains(0);
        let mut lower = self.interval.lower();
        let mut upper = self.interval.upper();
        if let Some(value) = lower.value() {
            lower = match self.first(value) {
                Ok(first) => first.map_or(lower, Bound::finite),
                Err(Empty) => return Self::BOTTOM,
            };
        }
        if let Some(value) = upper.value() {
            let mirrored = Self { congruence: self.congruence.negate(), ..self };
            upper = match mirrored.first(-value) {
                Ok(first) => first.map_or(upper, |first| Bound::finite(-first)),
                Err(Empty) => return Self::BOTTOM,
            };
        }
        self.interval = Interval::new(lower, upper);
        if let Some(value) = self.congruence.as_constant() {
            self.interval = self.interval.meet(&Interval::constant(value));
        } else if let Some(value) = self.interval.as_constant() {
            self.congruence = Congruence::constant(value);
        }
        if self.interval.is_bottom() || (self.nonzero && self.as_constant() == Some(0)) {
            return Self::BOTTOM;
        }
        self.nonzero |= !self.interval.contains(0);
        if self.as_constant().is_some() {
            self.addresses = None;
        }
        self
    }
    /// The first member of the congruence from `value` on, without an excluded zero; `None` when it is out of
    /// range.
    fn first(&self, value: Value) -> Result<Option<Value>, Empty> {
        let next = |value: Value| match self.congruence.at_or_above(value) {
            None if self.congruence.as_constant().is_some() => Err(Empty),
            found => Ok(found),
        };
        match next(value)? {
            Some(0) if self.nonzero => next(1),
            found => Ok(found),
        }
    }

    /// What a type makes of exact results: signed ones out of range have faulted, unsigned ones wrap.
    pub fn fit(&self, ty: IntType) -> Self {
        if ty.signed { self.meet(&Self::of_type(ty)) } else { self.wrap(ty) }
    }
    /// The values of a type that are equal to these modulo 2^bits.
    pub fn wrap(&self, ty: IntType) -> Self {
        if self.interval.less_or_equal(&Interval::of_type(ty)) {
            return *self;
        }
        let most: Value = (1 << ty.bits) - 1;
        let nonzero = self.nonzero && self.interval.less_or_equal(&Interval::between(-most, most));
        let (interval, congruence) = (self.interval.wrap(ty), self.congruence.wrap(ty));
        Self { interval, congruence, nonzero, addresses: None }.reduced()
    }
    /// The values after a conversion to a type.
    pub fn cast(&self, ty: IntType) -> Self {
        if ty == IntType::BOOL { Self::truth(self.may_hold(), self.may_fail()) } else { self.wrap(ty) }
    }

    /// An operation on one operand of a type.
    pub fn unary(op: UnaryOp, ty: IntType, operand: &Self) -> Self {
        let operand = operand.meet(&Self::of_type(ty));
        if operand.is_bottom() {
            return Self::BOTTOM;
        }
        match op {
            UnaryOp::Neg => operand.negate().fit(ty),
            UnaryOp::Not => {
                let minus_one = Congruence::constant(-1);
                let congruence = operand.congruence.negate().plus(minus_one);
                Self::new(operand.interval.complement(), congruence).wrap(ty)
            }
        }
    }
    /// The addresses in either.
    fn addresses_with(&self, other: &Self) -> Option<Addresses> {
        Some(self.addresses()? | other.addresses()?)
    }
    fn negate(&self) -> Self {
        let (interval, congruence) = (self.interval.negate(), self.congruence.negate());
        Self { interval, congruence, nonzero: self.nonzero, addresses: None }.reduced()
    }

    /// An operation on two operands of a type (a shift's distance may be of any type).
    pub fn binary(op: BinaryOp, ty: IntType, left: &Self, right: &Self) -> Self {
        let (left, right) = Self::operands(op, ty, left, right);
        if left.is_bottom() || right.is_bottom() {
            return Self::BOTTOM;
        }
        if let (Some(a), Some(b)) = (left.as_constant(), right.as_constant()) {
            return apply(op, ty, a, b).map_or(Self::BOTTOM, Self::constant);
        }
        match op {
            BinaryOp::Eq => Self::equal(&left, &right),
            BinaryOp::Ne => Self::from(Self::equal(&left, &right).interval.not()),
            BinaryOp::Lt => left.interval.less(right.interval).into(),
            BinaryOp::Le => left.interval.not_greater(right.interval).into(),
            // The quotient is never larger than the dividend, but for the smallest value and -1: that faults.
            BinaryOp::Div | BinaryOp::Rem => Self::exact(op, &left, &right).meet(&Self::of_type(ty)),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shr => Self::exact(op, &left, &right),
            BinaryOp::Sub => {
                let result = Self::exact(op, &left, &right).fit(ty);
                // Different values of one type differ modulo 2^bits too.
                if left.meet(&right).is_bottom() { result.without(0) } else { result }
            }
            BinaryOp::Add | BinaryOp::Mul => Self::exact(op, &left, &right).fit(ty),
            BinaryOp::Shl => Self::exact(op, &left, &right).wrap(ty),
        }
    }
    /// The operands that do not fault at once.
    fn operands(op: BinaryOp, ty: IntType, left: &Self, right: &Self) -> (Self, Self) {
        let right = match op {
            BinaryOp::Shl | BinaryOp::Shr => right.meet(&Self::between(0, Value::from(ty.bits) - 1)),
            BinaryOp::Div | BinaryOp::Rem => right.meet(&Self::of_type(ty)).without(0),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le => right.meet(&Self::of_type(ty)),
        };
        (left.meet(&Self::of_type(ty)), right)
    }
    fn equal(left: &Self, right: &Self) -> Self {
        let same = left.as_constant().is_some() && left == right;
        Self::truth(!left.meet(right).is_bottom(), !same)
    }
    /// The operation on mathematical integers. Nothing for comparisons, which have no exact result to speak
    /// of.
    pub(crate) fn exact(op: BinaryOp, left: &Self, right: &Self) -> Self {
        let (a, b) = (left.interval, right.interval);
        let (p, q) = (left.congruence, right.congruence);
        let (interval, congruence, nonzero) = match op {
            BinaryOp::Add => (a.plus(b), p.plus(q), false),
            BinaryOp::Sub => (a.subtract(b), p.plus(q.negate()), false),
            BinaryOp::Mul => (a.multiply(b), p.multiply(q), left.nonzero && right.nonzero),
            BinaryOp::Div => {
                let congruence = q.as_constant().map_or(Congruence::TOP, |divisor| p.divide_by(divisor));
                (a.divide(b), congruence, false)
            }
            BinaryOp::Rem => (a.remainder(b), p.remainder_of(q), false),
            BinaryOp::And => (a.bit_and(b), p.bit_and(q), false),
            BinaryOp::Or => (a.bit_or(b), p.bitwise(q, |x, y| x | y), left.nonzero || right.nonzero),
            BinaryOp::Xor => (a.bit_xor(b), p.bitwise(q, |x, y| x ^ y), left.meet(right).is_bottom()),
            BinaryOp::Shl => {
                let power = |distance: Value| Congruence::constant(1 << distance.clamp(0, 120));
                // Whatever the distance, the least one's power of two divides the result.
                let factor = match (q.as_constant(), b.lower().value()) {
                    (Some(distance), _) => power(distance),
                    (None, Some(least)) => Congruence::new(power(least).remainder(), 0),
                    (None, None) => Congruence::TOP,
                };
                (a.shift_left(b), p.multiply(factor), left.nonzero)
            }
            BinaryOp::Shr => {
                let congruence = match q.as_constant() {
                    Some(distance) => p.shift_right(distance.clamp(0, 127) as u32),
                    None => Congruence::TOP,
                };
                (a.shift_right(b), congruence, false)
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => {
                (Interval::BOOLEAN, Congruence::TOP, false)
            }
        };
        Self { interval, congruence, nonzero, addresses: None }.reduced()
    }

    /// Whether an operation on operands of a signed type leaves its range (see [`ir::Expr::Overflows`]).
    pub fn overflows(op: BinaryOp, ty: IntType, left: &Self, right: &Self) -> Self {
        let (whole_left, whole_right) = (*left, *right);
        if whole_left.is_bottom() || whole_right.is_bottom() {
            return Self::BOTTOM;
        }
        let (left, right) = Self::operands(op, ty, left, right);
        if left.is_bottom() || right.is_bottom() {
            return Self::constant(0);
        }
        if let (Some(a), Some(b)) = (whole_left.as_constant(), whole_right.as_constant()) {
            return Self::constant(Value::from(overflows(op, ty, a, b)));
        }
        let may_overflow = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Div => ty.signed,
            BinaryOp::Rem => ty.signed,
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shr => false,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => false,
        };
        if !may_overflow {
            return Self::constant(0);
        }
        // A remainder has no meaning where the quotient has none.
        let result = Self::exact(if op == BinaryOp::Rem { BinaryOp::Div } else { op }, &left, &right);
        let inside = result.meet(&Self::of_type(ty));
        // A division by zero or a shift by too much is another fault, which is no overflow.
        let other_fault = whole_right != right;
        Self::truth(inside != result, !inside.is_bottom() || other_fault)
    }
}

/// The sign that no member is left.
struct Empty;

impl From<Interval> for Number {
    fn from(interval: Interval) -> Self {
        Self::new(interval, Congruence::TOP)
    }
}

impl Lattice for Number {
    fn is_bottom(&self) -> bool {
        self.interval.is_bottom()
    }
    fn is_top(&self) -> bool {
        *self == Self::TOP
    }
    fn less_or_equal(&self, other: &Self) -> bool {
        self.is_bottom()
            || (self.interval.less_or_equal(&other.interval)
                && self.congruence.less_or_equal(other.congruence)
                && (self.nonzero || !other.nonzero)
                && other
                    .addresses
                    .is_none_or(|theirs| self.addresses().is_some_and(|mine| mine & !theirs == 0)))
    }
    fn join(&self, other: &Self) -> Self {
        if self.is_bottom() {
            return *other;
        }
        if other.is_bottom() || self == other {
            return *self;
        }
        Self {
            interval: self.interval.join(&other.interval),
            congruence: self.congruence.join(other.congruence),
            nonzero: self.nonzero && other.nonzero,
            addresses: self.addresses_with(other),
        }
        .reduced()
    }
    fn meet(&self, other: &Self) -> Self {
        if self == other || self.is_bottom() {
            return *self;
        }
        let Some(congruence) = self.congruence.intersect(other.congruence) else { return Self::BOTTOM };
        let interval = self.interval.meet(&other.interval);
        let addresses = match (self.addresses, other.addresses) {
            (Some(mine), Some(theirs)) => Some(mine & theirs),
            (one, other) => one.or(other),
        };
        Self { interval, congruence, nonzero: self.nonzero || other.nonzero, addresses }.reduced()
    }
    /// Reduction moves a bound inwards from its threshold only as long as the congruence stays as it is, and
    /// that rises finitely often: so the sequence is finite.
    fn widen(&self, next: &Self, thresholds: &Thresholds) -> Self {
        if self.is_bottom() {
            return *next;
        }
        if next.is_bottom() {
            return *self;
        }
        Self {
            interval: self.interval.widen(&next.interval, thresholds),
            congruence: self.congruence.join(next.congruence),
            nonzero: self.nonzero && next.nonzero,
            addresses: self.addresses_with(next),
        }
        .reduced()
    }
    /// Falling chains of congruences may be infinite, so only the first step is taken.
    fn narrow(&self, next: &Self) -> Self {
        if self.is_bottom() || next.is_bottom() {
            return Self::BOTTOM;
        }
        let congruence = if self.congruence == Congruence::TOP { next.congruence } else { self.congruence };
        let interval = self.interval.narrow(&next.interval);
        let addresses = self.addresses.or(next.addresses);
        Self { interval, congruence, nonzero: self.nonzero || next.nonzero, addresses }.reduced()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.interval)?;
        if self.congruence.modulus() > 1 {
            write!(f, " ({})", self.congruence)?;
        }
        if self.nonzero && self.interval.contains(0) && self.congruence.contains(0) {
            write!(f, " ≠ 0")?;
        }
        match self.addresses {
            Some(addresses) => write!(f, " among addresses {addresses:#x}"),
            None => Ok(()),
        }
    }
}
impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
