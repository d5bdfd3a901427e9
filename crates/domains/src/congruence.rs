//! Congruences: the integers `remainder + k * modulus` (P. Granger, *Static analysis of arithmetical
//! congruences*, 1989).
//!
//! Over-approximates. Exact integers: a modulus that leaves the range of [`Value`] gives way to 1
//! (everything). Chains of rising congruences are finite, as each modulus divides the one before, so widening
//! is the join.

use crate::bound::Bound;
use ir::{IntType, Value};
use std::fmt;

/// All integers that leave a remainder. Modulus 0: one integer. Modulus 1: all. Never empty, so it is no
/// lattice of its own: [`crate::Number`] completes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Congruence {
    modulus: Value,
    /// At least 0 and below the modulus, if that is not 0.
    remainder: Value,
}

impl Congruence {
    /// All integers.
    pub const TOP: Self = Self { modulus: 1, remainder: 0 };

    /// All that are equal to `remainder` modulo `modulus`; 0 for the one integer.
    pub fn new(modulus: Value, remainder: Value) -> Self {
        match modulus.checked_abs() {
            Some(0) => Self { modulus: 0, remainder },
            // Most are of this kind, and divisions take long.
            Some(1) => Self::TOP,
            Some(modulus) => Self { modulus, remainder: remainder.rem_euclid(modulus) },
            None => Self::TOP,
        }
    }
    /// One integer.
    pub fn constant(value: Value) -> Self {
        Self { modulus: 0, remainder: value }
    }
    /// The modulus; 0 for one integer, 1 for all.
    pub fn modulus(self) -> Value {
        self.modulus
    }
    /// The remainder.
    pub fn remainder(self) -> Value {
        self.remainder
    }
    /// The one integer in it.
    pub fn as_constant(self) -> Option<Value> {
        (self.modulus == 0).then_some(self.remainder)
    }
    /// Whether `value` is in it.
    pub fn contains(self, value: Value) -> bool {
        match self.modulus {
            0 => value == self.remainder,
            1 => true,
            modulus => value.rem_euclid(modulus) == self.remainder,
        }
    }
    /// The least member that is not below `value`, if it can be represented.
    pub fn at_or_above(self, value: Value) -> Option<Value> {
        if self.modulus == 0 {
            return (value <= self.remainder).then_some(self.remainder);
        }
        let more = match self.modulus {
            1 => 0,
            modulus => self.remainder.checked_sub(value.rem_euclid(modulus))?.rem_euclid(modulus),
        };
        // Near the end of the range a bound stands for infinity, which is no member.
        value.checked_add(more).filter(|member| Bound::finite(*member).is_finite())
    }
    /// The greatest member that is not above `value`, if it can be represented.
    pub fn at_or_below(self, value: Value) -> Option<Value> {
        self.negate().at_or_above(value.checked_neg()?)?.checked_neg()
    }

    /// The negated integers.
    pub fn negate(self) -> Self {
        self.remainder.checked_neg().map_or(Self::TOP, |remainder| Self::new(self.modulus, remainder))
    }
    /// The sums.
    pub fn plus(self, other: Self) -> Self {
        let sum = self.remainder.checked_add(other.remainder);
        sum.map_or(Self::TOP, |sum| Self::new(gcd(self.modulus, other.modulus), sum))
    }
    /// The products.
    pub fn multiply(self, other: Self) -> Self {
        // (r + mk)(s + nl) = rs + r n l + s m k + m n k l
        let parts = [
            self.remainder.checked_mul(other.modulus),
            other.remainder.checked_mul(self.modulus),
            self.modulus.checked_mul(other.modulus),
        ];
        let Some(product) = self.remainder.checked_mul(other.remainder) else { return Self::TOP };
        parts
            .into_iter()
            .try_fold(0, |so_far, part| Some(gcd(so_far, part?)))
            .map_or(Self::TOP, |modulus| Self::new(modulus, product))
    }
    /// The quotients by one integer that is not 0, rounded towards zero.
    pub fn divide_by(self, divisor: Value) -> Self {
        if divisor == 0 || divisor == Value::MIN {
            return Self::TOP;
        }
        if self.modulus == 0 {
            return self.remainder.checked_div(divisor).map_or(Self::TOP, Self::constant);
        }
        let exact = self.modulus % divisor == 0 && self.remainder % divisor == 0;
        if exact { Self::new(self.modulus / divisor, self.remainder / divisor) } else { Self::TOP }
    }
    /// The remainders with the sign of the dividend.
    pub fn remainder_of(self, other: Self) -> Self {
        // A remainder is the dividend less a multiple of the divisor, all of whose values are multiples of
        // this.
        let step = gcd(other.modulus, other.remainder);
        Self::new(gcd(self.modulus, step), self.remainder)
    }
    /// The integers shifted to the right, rounding down.
    pub fn shift_right(self, distance: u32) -> Self {
        if distance > 120 {
            return Self::TOP;
        }
        if self.modulus % (1 << distance) == 0 {
            Self::new(self.modulus >> distance, self.remainder >> distance)
        } else {
            Self::TOP
        }
    }
    /// The results of a bitwise operation: the low bits that are known of both operands are known of it.
    pub fn bitwise(self, other: Self, op: impl Fn(Value, Value) -> Value) -> Self {
        let known = self.known_bits().min(other.known_bits());
        Self::new(1 << known, op(self.remainder, other.remainder))
    }
    /// The bitwise conjunctions: in addition, low bits that are 0 in one operand.
    pub fn bit_and(self, other: Self) -> Self {
        let zeros = self.zero_bits().max(other.zero_bits());
        let known = self.known_bits().min(other.known_bits());
        if zeros > known { Self::new(1 << zeros, 0) } else { self.bitwise(other, |a, b| a & b) }
    }
    /// How many low bits are the same in all members.
    fn known_bits(self) -> u32 {
        if self.modulus == 0 { 100 } else { self.modulus.trailing_zeros().min(100) }
    }
    /// How many low bits are 0 in all members.
    fn zero_bits(self) -> u32 {
        gcd(self.modulus, self.remainder).trailing_zeros().min(100)
    }
    /// The values of a type that are equal to these modulo 2^bits.
    pub fn wrap(self, ty: IntType) -> Self {
        if let Some(value) = self.as_constant() {
            return Self::constant(ty.wrap(value));
        }
        Self::new(gcd(self.modulus, 1 << ty.bits), self.remainder)
    }
    /// The members of both; `None` if there is none. One of the two if the moduli are too large to compute.
    pub fn intersect(self, other: Self) -> Option<Self> {
        match (self.as_constant(), other.as_constant()) {
            (Some(value), _) => return other.contains(value).then_some(self),
            (_, Some(value)) => return self.contains(value).then_some(other),
            (None, None) if self == Self::TOP => return Some(other),
            (None, None) if other == Self::TOP => return Some(self),
            (None, None) => {}
        }
        let (common, factor, _) = extended_gcd(self.modulus, other.modulus);
        let difference = other.remainder - self.remainder;
        if difference % common != 0 {
            return None;
        }
        let solve = || {
            let modulus = (self.modulus / common).checked_mul(other.modulus)?;
            let steps = (difference / common).checked_mul(factor)?.rem_euclid(other.modulus / common);
            Some(Self::new(modulus, self.modulus.checked_mul(steps)?.checked_add(self.remainder)?))
        };
        Some(solve().unwrap_or(if self.modulus >= other.modulus { self } else { other }))
    }
    /// Whether all members are members of the other.
    pub fn less_or_equal(self, other: Self) -> bool {
        match other.modulus {
            0 => self == other,
            1 => true,
            modulus => self.modulus % modulus == 0 && other.contains(self.remainder),
        }
    }
    /// The least congruence that holds the members of both. Rising chains are finite.
    pub fn join(self, other: Self) -> Self {
        if self == Self::TOP || other == Self::TOP {
            return Self::TOP;
        }
        let Some(difference) = self.remainder.checked_sub(other.remainder) else { return Self::TOP };
        Self::new(gcd(gcd(self.modulus, other.modulus), difference), self.remainder)
    }
}

/// The greatest common divisor; that of 0 and `a` is `a`. Not negative, unless it cannot be represented (then
/// 1).
fn gcd(a: Value, b: Value) -> Value {
    Value::try_from(ir::gcd(a.unsigned_abs(), b.unsigned_abs())).unwrap_or(1)
}

/// For positive `a` and `b`: their greatest common divisor `g`, and `x`, `y` with `a x + b y = g`.
fn extended_gcd(a: Value, b: Value) -> (Value, Value, Value) {
    let (mut old, mut new) = ((a, 1, 0), (b, 0, 1));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        let next = (old.0 - quotient * new.0, old.1 - quotient * new.1, old.2 - quotient * new.2);
        (old, new) = (new, next);
    }
    old
}

impl fmt::Display for Congruence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} mod {}", self.remainder, self.modulus)
    }
}
impl fmt::Debug for Congruence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
