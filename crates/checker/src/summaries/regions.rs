//! Sets of bytes, as points-to sets give them: where two of them can have a byte in common.
//!
//! A region is a list of [`Target`]s, at each of which so many bytes may be touched (`None`: any byte of
//! the object). Over-approximates: what is said never to meet never does, as far as the points-to sets
//! hold.

use ir::Target;
use std::sync::Arc;

/// Where an address may be.
pub type Region = Arc<[Target]>;

/// How two accesses to one object may overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meeting {
    /// They have no byte in common.
    Never,
    /// Only where both begin at the same byte.
    SameStart,
    /// Perhaps otherwise, too.
    Otherwise,
}

/// The distance between two neighbours; 0 where there is one offset only.
fn stride(target: &Target) -> i128 {
    if target.count <= 1 { 0 } else { i128::from(target.stride) }
}

/// The greatest offset. No object is so large that a count beyond it matters.
fn last(target: &Target) -> i128 {
    i128::from(target.first) + stride(target) * i128::from(target.count.saturating_sub(1))
}

/// How bytes at one target may overlap with bytes at another.
pub fn meeting(one: &Target, bytes: Option<u64>, other: &Target, other_bytes: Option<u64>) -> Meeting {
    if one.object != other.object || one.count == 0 || other.count == 0 {
        return Meeting::Never;
    }
    let (Some(bytes), Some(other_bytes)) = (bytes, other_bytes) else { return Meeting::Otherwise };
    // How far the other one may begin after this one and still have a byte in common.
    let least = (1 - i128::from(other_bytes)).max(i128::from(other.first) - last(one));
    let most = (i128::from(bytes) - 1).min(last(other) - i128::from(one.first));
    let step = ir::gcd(stride(one), stride(other));
    let apart = i128::from(other.first) - i128::from(one.first);
    if bytes == 0 || other_bytes == 0 || least > most {
        return Meeting::Never;
    }
    if step == 0 {
        return match apart {
            0 => Meeting::SameStart,
            apart if (least..=most).contains(&apart) => Meeting::Otherwise,
            _ => Meeting::Never,
        };
    }
    let found = least + (apart - least).rem_euclid(step);
    match found {
        found if found > most => Meeting::Never,
        0 if step > most => Meeting::SameStart,
        _ => Meeting::Otherwise,
    }
}

/// Whether two regions may have a byte in common.
pub fn meet(one: &[Target], bytes: Option<u64>, other: &[Target], other_bytes: Option<u64>) -> bool {
    one.iter().any(|one| other.iter().any(|other| meeting(one, bytes, other, other_bytes) != Meeting::Never))
}

/// Whether all offsets of a target are among those of another.
pub fn is_part_of(part: &Target, whole: &Target) -> bool {
    if part.object != whole.object || part.first < whole.first || last(part) > last(whole) {
        return false;
    }
    let from = i128::from(part.first) - i128::from(whole.first);
    match stride(whole) {
        0 => from == 0 && stride(part) == 0,
        step => from % step == 0 && stride(part) % step == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::ObjectId;

    fn target(first: u64, stride: u64, count: u64) -> Target {
        Target { object: ObjectId(0), first, stride, count }
    }

    /// All pairs of small targets agree with counting out.
    #[test]
    fn meetings_are_those_of_the_offsets() {
        let offsets = |target: &Target| -> Vec<i64> {
            (0..target.count).map(|i| (target.first + i * target.stride) as i64).collect()
        };
        let mut small = Vec::new();
        for first in 0..4 {
            for (stride, count) in [(0, 1), (1, 3), (2, 3), (3, 2), (4, 3)] {
                small.push(target(first, stride, count));
            }
        }
        for (one, other) in small.iter().flat_map(|one| small.iter().map(move |other| (one, other))) {
            for (bytes, other_bytes) in [(1, 1), (2, 1), (1, 2), (4, 4), (3, 2)] {
                let mut found: Vec<i64> = Vec::new();
                for a in offsets(one) {
                    for b in offsets(other) {
                        if a < b + other_bytes as i64 && b < a + bytes as i64 {
                            found.push(b - a);
                        }
                    }
                }
                let said = meeting(one, Some(bytes), other, Some(other_bytes));
                match said {
                    Meeting::Never => assert!(found.is_empty(), "{one:?} {other:?}"),
                    Meeting::SameStart => assert!(found.iter().all(|d| *d == 0), "{one:?} {other:?}"),
                    Meeting::Otherwise => {}
                }
            }
            let inside = offsets(one).iter().all(|offset| offsets(other).contains(offset));
            assert!(!is_part_of(one, other) || inside, "{one:?} {other:?}");
        }
        assert_eq!(meeting(&target(0, 16, 9), Some(4), &target(4, 16, 9), Some(4)), Meeting::Never);
        assert_eq!(meeting(&target(0, 16, 9), Some(4), &target(0, 16, 9), Some(4)), Meeting::SameStart);
        assert_eq!(meeting(&target(0, 16, u64::MAX), Some(4), &target(0, 0, 1), Some(4)), Meeting::SameStart);
    }
}
