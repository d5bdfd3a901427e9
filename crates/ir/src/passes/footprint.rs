//! Which bytes an operation may touch, by the points-to sets of its addresses.
//!
//! Over-approximates: each access that a step makes is covered by one of those given here, under the rules of
//! C on which the points-to analysis relies. The accesses of lock operations to their locks are included for
//! races only.

use super::points_to::PointsTo;
use crate::expr::{Expr, Place, Target, Targets};
use crate::ids::{ObjectId, TemplateId};
use crate::op::{Lhs, Op};
use crate::program::Program;
use crate::types::gcd;
use std::sync::Arc;

/// The extent of an access from its address on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Extent {
    /// This many bytes.
    Bytes(u64),
    /// The whole object, or an unknown number of bytes.
    Object,
}

/// Some bytes that an access may touch.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Region {
    /// Where it may start.
    pub targets: Targets,
    /// How far it reaches.
    pub extent: Extent,
}

/// An access that an operation may make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryAccess<'a> {
    /// Its address.
    pub address: &'a Expr,
    /// The targets of the address.
    pub region: Region,
    /// Whether it changes memory.
    pub write: bool,
    /// Whether it is marked as atomic.
    pub atomic: bool,
}

impl Region {
    /// Exactly these bytes.
    pub fn exact(object: ObjectId, offset: u64, bytes: u64) -> Self {
        let target = Target { object, first: offset, stride: 0, count: 1 };
        Self { targets: Targets::Of(Arc::from([target])), extent: Extent::Bytes(bytes) }
    }
    /// The region of an access to some bytes at an address.
    pub fn at(points_to: &PointsTo, template: TemplateId, address: &Expr, extent: Extent) -> Self {
        match address {
            Expr::Address(object, offset) => Self { extent, ..Self::exact(*object, *offset, 0) },
            _ => Self { targets: points_to.targets(template, address), extent },
        }
    }
    /// The part of it where races count ([`Program::races_on`]).
    pub fn where_races_count(self, program: &Program) -> Self {
        let (Some(ranges), Targets::Of(targets)) = (&program.races_on, &self.targets) else { return self };
        let counts = |target: &&Target| {
            ranges.iter().any(|range| {
                let last = target.stride.saturating_mul(target.count.saturating_sub(1));
                let end = match self.extent {
                    Extent::Bytes(bytes) => target.first.saturating_add(last).saturating_add(bytes),
                    Extent::Object => u64::MAX,
                };
                range.object == target.object
                    && target.first < range.offset.saturating_add(range.size)
                    && range.offset < end
            })
        };
        let counted: Vec<Target> = targets.iter().filter(counts).copied().collect();
        Self { targets: Targets::Of(counted.into()), extent: self.extent }
    }
    /// The objects that it may be in; `None` when that is not known.
    pub fn objects(&self) -> Option<impl Iterator<Item = ObjectId> + '_> {
        match &self.targets {
            Targets::Any => None,
            Targets::Of(targets) => Some(targets.iter().map(|target| target.object)),
        }
    }
    /// Whether the two may have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.targets, &other.targets) {
            (Targets::Any, Targets::Of(targets)) | (Targets::Of(targets), Targets::Any) => {
                !targets.is_empty()
            }
            (Targets::Any, Targets::Any) => true,
            (Targets::Of(mine), Targets::Of(theirs)) => {
                let overlap = |mine: &Target, theirs: &Target| match (self.extent, other.extent) {
                    (Extent::Object, _) | (_, Extent::Object) => true,
                    (Extent::Bytes(first), Extent::Bytes(second)) => {
                        !distances(*mine, first, *theirs, second).is_empty()
                    }
                };
                any_of_one_object(mine, theirs, overlap)
            }
        }
    }
    /// The distances from the start of this region to that of the other at which they have a byte in common,
    /// in the same object; `None` when not known.
    pub fn distances(&self, other: &Self) -> Option<Vec<i128>> {
        let (Targets::Of(mine), Targets::Of(theirs)) = (&self.targets, &other.targets) else { return None };
        let (Extent::Bytes(first), Extent::Bytes(second)) = (self.extent, other.extent) else { return None };
        let mut found = Vec::new();
        for (mine, theirs) in mine.iter().flat_map(|mine| theirs.iter().map(move |theirs| (mine, theirs))) {
            if mine.object == theirs.object {
                found.extend(distances(*mine, first, *theirs, second));
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

/// Whether a condition holds for two targets in the same object. Points-to sets are sorted by object, so each
/// target is compared only with those in its object.
fn any_of_one_object(mine: &[Target], theirs: &[Target], holds: impl Fn(&Target, &Target) -> bool) -> bool {
    if !theirs.is_sorted_by_key(|target| target.object) {
        let pairs = mine.iter().flat_map(|mine| theirs.iter().map(move |theirs| (mine, theirs)));
        return pairs.into_iter().any(|(mine, theirs)| mine.object == theirs.object && holds(mine, theirs));
    }
    mine.iter().any(|mine| {
        let from = theirs.partition_point(|theirs| theirs.object < mine.object);
        let same = theirs[from..].iter().take_while(|theirs| theirs.object == mine.object);
        same.into_iter().any(|theirs| holds(mine, theirs))
    })
}

/// The distances from `a` to `b` at which the two overlap. Where this matters, accesses have only a few
/// bytes; long ones give the distance 0 and one more, so that the distance never counts as known.
fn distances(a: Target, a_bytes: u64, b: Target, b_bytes: u64) -> Vec<i128> {
    let end = |target: Target, bytes: u64| {
        let last = target.stride.saturating_mul(target.count.saturating_sub(1));
        target.first.saturating_add(last).saturating_add(bytes)
    };
    if a_bytes == 0 || b_bytes == 0 || a.first >= end(b, b_bytes) || b.first >= end(a, a_bytes) {
        return Vec::new();
    }
    let stride = |target: Target| if target.count == 1 { 0 } else { target.stride };
    let step = i128::from(gcd(stride(a), stride(b)));
    let apart = i128::from(b.first) - i128::from(a.first);
    let (low, high) = (-i128::from(b_bytes), i128::from(a_bytes));
    if step == 0 {
        return if apart > low && apart < high { vec![apart] } else { Vec::new() };
    }
    // The least element above `low`.
    let mut at = apart + (low + 1 - apart).div_euclid(step) * step;
    if at <= low {
        at += step;
    }
    let mut found = Vec::new();
    while at < high && found.len() < 16 {
        found.push(at);
        at += step;
    }
    found
}

/// The accesses that an operation may make and that count in races: [`accesses`], and the words of a lock, as
/// an atomic write.
pub fn racing_accesses<'a>(points_to: &PointsTo, template: TemplateId, op: &'a Op) -> Vec<MemoryAccess<'a>> {
    let mut found = accesses(points_to, template, op);
    if let Op::Lock(kind, address) | Op::Unlock(kind, address) = op {
        let region = Region::at(points_to, template, address, Extent::Bytes(kind.bytes()));
        found.push(MemoryAccess { address, region, write: true, atomic: true });
    }
    found
}

/// The accesses that an operation may make.
pub fn accesses<'a>(points_to: &PointsTo, template: TemplateId, op: &'a Op) -> Vec<MemoryAccess<'a>> {
    let mut found = Vec::new();
    let of_place = |place: &'a Place, write: bool| MemoryAccess {
        address: &place.address,
        region: Region::at(points_to, template, &place.address, Extent::Bytes(place.ty.bytes())),
        write,
        atomic: place.atomic,
    };
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                found.push(of_place(place, false));
            }
        });
    }
    for lhs in op.targets() {
        if let Lhs::Memory(place) = lhs {
            found.push(of_place(place, true));
        }
    }
    let mut range = |address: &'a Expr, size: Option<&Expr>, write: bool| {
        let extent = match size {
            Some(Expr::Const(size, _)) => u64::try_from(*size).map_or(Extent::Object, Extent::Bytes),
            Some(_) | None => Extent::Object,
        };
        let region = Region::at(points_to, template, address, extent);
        found.push(MemoryAccess { address, region, write, atomic: false });
    };
    match op {
        Op::Free(address) => range(address, None, true),
        Op::Fill(to, _, size) => range(to, Some(size), true),
        Op::Copy(to, from, size) => {
            range(from, Some(size), false);
            range(to, Some(size), true);
        }
        Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) => {}
        Op::Join(..) | Op::Allocate { .. } | Op::Call(..) | Op::Broadcast(_) => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(first: u64, stride: u64, count: u64) -> Target {
        Target { object: ObjectId(0), first, stride, count }
    }

    #[test]
    fn members_of_records_in_an_array_do_not_overlap() {
        assert_eq!(distances(target(0, 16, 10), 4, target(4, 16, 10), 4), Vec::<i128>::new());
        assert_eq!(distances(target(0, 16, 10), 4, target(0, 16, 10), 4), [0]);
        assert_eq!(distances(target(0, 16, 10), 8, target(4, 16, 10), 4), [4]);
    }

    #[test]
    fn what_follows_an_array_does_not_overlap_it() {
        assert_eq!(distances(target(0, 4, 10), 4, target(40, 0, 1), 4), Vec::<i128>::new());
        assert_eq!(distances(target(0, 4, 10), 4, target(36, 0, 1), 4), [0]);
    }

    #[test]
    fn bytes_overlap_at_every_distance() {
        assert_eq!(distances(target(0, 1, 10), 2, target(0, 1, 10), 2), [-1, 0, 1]);
    }
}
