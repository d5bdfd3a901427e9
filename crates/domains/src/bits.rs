//! Bounds of bitwise operations on intervals.
//!
//! Least and greatest results for unsigned operands as in H. S. Warren, *Hacker's Delight*, section 4-3
//! ("propagating bounds through logical operations"). Operands of one sign are ordered like their bit
//! patterns, so intervals are cut at zero first. Over-approximates (exact for `and` and `or`).

use crate::bound::Bound;
use crate::interval::Interval;
use crate::lattice::Lattice;
use ir::Value;

/// A least and a greatest bit pattern.
type Range = (u128, u128);

/// No operand has more significant bits: those of 64 bits and a sign.
const HIGHEST: u128 = 1 << 64;

/// Applies an operation to all combinations of signs. Operands beyond 64 bits give everything.
pub(crate) fn by_sign(left: Interval, right: Interval, op: fn(Range, Range) -> Range) -> Interval {
    if left.is_bottom() || right.is_bottom() {
        return Interval::BOTTOM;
    }
    let small = Interval::between(-(1 << 64), (1 << 64) - 1);
    if !left.less_or_equal(&small) || !right.less_or_equal(&small) {
        return Interval::TOP;
    }
    let mut result = Interval::BOTTOM;
    for a in parts(left) {
        for b in parts(right) {
            let (least, greatest) = op(a, b);
            let (least, greatest) = (least as Value, greatest as Value);
            result = result.join(&Interval::new(Bound::finite(least), Bound::finite(greatest)));
        }
    }
    result
}

/// The negative and the other part of an interval, as bit patterns.
fn parts(interval: Interval) -> impl Iterator<Item = Range> {
    let negative = interval.meet(&Interval::at_most(Bound::finite(-1)));
    let other = interval.meet(&Interval::at_least(Bound::ZERO));
    [negative, other].into_iter().filter_map(|part| {
        let (lower, upper) = (part.lower().value()?, part.upper().value()?);
        Some((lower as u128, upper as u128))
    })
}

pub(crate) fn or(a: Range, b: Range) -> Range {
    (least_or(a, b), greatest_or(a, b))
}

pub(crate) fn and(a: Range, b: Range) -> Range {
    (!greatest_or(complement(a), complement(b)), !least_or(complement(a), complement(b)))
}

/// `x ^ y = (x & ~y) | (~x & y)`, where the two sides have no bit in common and so add up.
pub(crate) fn xor(a: Range, b: Range) -> Range {
    let (left, right) = (and(a, complement(b)), and(complement(a), b));
    (left.0 | right.0, greatest_or((0, left.1), (0, right.1)))
}

fn complement((least, greatest): Range) -> Range {
    (!greatest, !least)
}

fn least_or((mut a, b): Range, (mut c, d): Range) -> u128 {
    let mut bit = HIGHEST;
    while bit != 0 {
        if !a & c & bit != 0 {
            let raised = (a | bit) & bit.wrapping_neg();
            if raised <= b {
                a = raised;
                break;
            }
        } else if a & !c & bit != 0 {
            let raised = (c | bit) & bit.wrapping_neg();
            if raised <= d {
                c = raised;
                break;
            }
        }
        bit >>= 1;
    }
    a | c
}

fn greatest_or((a, mut b): Range, (c, mut d): Range) -> u128 {
    let mut bit = HIGHEST;
    while bit != 0 {
        if b & d & bit != 0 {
            let lowered = (b - bit) | (bit - 1);
            if lowered >= a {
                b = lowered;
                break;
            }
            let lowered = (d - bit) | (bit - 1);
            if lowered >= c {
                d = lowered;
                break;
            }
        }
        bit >>= 1;
    }
    b | d
}
