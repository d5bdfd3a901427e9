//! An end of an interval: an exact integer, or infinite in one direction.

use ir::Value;
use std::fmt;

/// A bound. Ordered like the integers with both infinities.
///
/// The two ends of the range of [`Value`] stand for the infinities: a finite bound beyond them cannot be
/// represented, so arithmetic that would get there gives an infinity, or for the wrong direction the last
/// finite value (see each operation). Values of IR types have at most 64 bits, so one operation on them
/// hardly ever gets there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound(Value);

impl Bound {
    /// Below all integers.
    pub const MINUS_INFINITY: Self = Self(Value::MIN);
    /// Above all integers.
    pub const PLUS_INFINITY: Self = Self(Value::MAX);
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The greatest bound that is an integer.
    const LAST: Self = Self(Value::MAX - 1);

    /// The bound at `value`.
    pub const fn finite(value: Value) -> Self {
        Self(value)
    }
    /// The integer, if it is one.
    pub fn value(self) -> Option<Value> {
        self.is_finite().then_some(self.0)
    }
    /// Whether it is an integer.
    pub fn is_finite(self) -> bool {
        self != Self::MINUS_INFINITY && self != Self::PLUS_INFINITY
    }
    fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// The sum as an upper bound: never below the exact sum. `+∞ + -∞ = +∞`.
    pub fn add_up(self, other: Self) -> Self {
        if self == Self::PLUS_INFINITY || other == Self::PLUS_INFINITY {
            Self::PLUS_INFINITY
        } else if self == Self::MINUS_INFINITY || other == Self::MINUS_INFINITY {
            Self::MINUS_INFINITY
        } else {
            Self(self.0.saturating_add(other.0)).max(Self::LAST.negate())
        }
    }
    /// The sum as a lower bound: never above the exact sum. `+∞ + -∞ = -∞`.
    pub fn add_down(self, other: Self) -> Self {
        self.negate().add_up(other.negate()).negate()
    }
    /// The product; one that is too large becomes an infinity of its sign. `0 * ∞ = 0`.
    pub fn multiply(self, other: Self) -> Self {
        if self.0 == 0 || other.0 == 0 {
            return Self::ZERO;
        }
        let spilt = if self.is_negative() == other.is_negative() {
            Self::PLUS_INFINITY
        } else {
            Self::MINUS_INFINITY
        };
        match (self.value(), other.value()) {
            (Some(a), Some(b)) => a.checked_mul(b).map_or(spilt, Self),
            _ => spilt,
        }
    }
    /// Twice as much, as an upper bound.
    pub fn double(self) -> Self {
        self.add_up(self)
    }
    /// The quotient, rounded towards zero; `other` is not zero. `x / ±∞ = 0`.
    pub fn divide(self, other: Self) -> Self {
        if !other.is_finite() || other.0 == 0 {
            return Self::ZERO;
        }
        match self.value() {
            Some(value) => value.checked_div(other.0).map_or(Self::PLUS_INFINITY, Self),
            None if other.is_negative() => self.negate(),
            None => self,
        }
    }
    /// The quotient by a positive integer, rounded down.
    pub fn divide_down(self, divisor: Value) -> Self {
        self.value().map_or(self, |value| Self(value.div_euclid(divisor.max(1))))
    }
    /// The quotient by a positive integer, rounded up.
    pub fn divide_up(self, divisor: Value) -> Self {
        self.negate().divide_down(divisor).negate()
    }
    /// Its mirror image.
    pub fn negate(self) -> Self {
        match self {
            Self::MINUS_INFINITY => Self::PLUS_INFINITY,
            Self::PLUS_INFINITY => Self::MINUS_INFINITY,
            Self(value) => Self(-value),
        }
    }
    /// The least and the greatest of some bounds between which an exact result lies: an infinity in the wrong
    /// direction, which stands for a large integer, becomes the last integer.
    pub fn hull<const N: usize>(corners: [Self; N]) -> (Self, Self) {
        let least = corners.into_iter().min().unwrap_or(Self::MINUS_INFINITY);
        let greatest = corners.into_iter().max().unwrap_or(Self::PLUS_INFINITY);
        (least.min(Self::LAST), greatest.max(Self::LAST.negate()))
    }
    /// Shifted to the right: divided by a power of two and rounded down.
    pub fn shift_right(self, distance: u32) -> Self {
        self.value().map_or(self, |value| Self(value >> distance.min(127)))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::MINUS_INFINITY => f.write_str("-∞"),
            Self::PLUS_INFINITY => f.write_str("∞"),
            Self(value) => write!(f, "{value}"),
        }
    }
}
impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
