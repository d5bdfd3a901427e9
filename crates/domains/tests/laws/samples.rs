//! Random values, numbers, and sets of them, with the edges of types more often than chance would have them.

use domains::{Bound, Congruence, Interval, Lattice, Number};
use ir::{IntType, Value};
use testkit::random::Random;

/// A value of a type: an end of the range, a small number, a power of two or its neighbour, or anything.
pub fn value(random: &mut Random, ty: IntType) -> Value {
    let small = random.below(7) as Value - 3;
    let raw = match random.below(6) {
        0 => ty.min() + small.abs(),
        1 => ty.max() - small.abs(),
        2 | 3 => small,
        4 => (1 << random.below(usize::from(ty.bits))) + small,
        _ => (random.below(1_i64 << 40) as Value) * (random.below(1_i64 << 40) as Value),
    };
    ty.wrap(raw)
}

/// A distance between two numbers.
fn gap(random: &mut Random) -> Value {
    match random.below(4) {
        0 => 0,
        1 => random.below(4) as Value,
        2 => random.below(300) as Value,
        _ => 1 << random.below(65),
    }
}

/// An interval around a value.
pub fn interval_around(random: &mut Random, value: Value) -> Interval {
    let lower = match random.below(10) {
        0 => Bound::MINUS_INFINITY,
        _ => Bound::finite(value - gap(random)),
    };
    let upper = match random.below(10) {
        0 => Bound::PLUS_INFINITY,
        _ => Bound::finite(value + gap(random)),
    };
    Interval::new(lower, upper)
}

/// A number with a value in it.
pub fn number_around(random: &mut Random, value: Value) -> Number {
    let modulus = random.pick(&[1, 1, 1, 2, 3, 4, 6, 8, 16, 256, 1 << 32, 0]);
    let number = Number::new(interval_around(random, value), Congruence::new(modulus, value));
    if value != 0 && random.once_in(3) { number.without(0) } else { number }
}

/// A number with a value of a type in it, cut to the type now and then.
pub fn typed_number_around(random: &mut Random, value: Value, ty: IntType) -> Number {
    let number = number_around(random, value);
    if random.once_in(2) { number.meet(&Number::of_type(ty)) } else { number }
}
