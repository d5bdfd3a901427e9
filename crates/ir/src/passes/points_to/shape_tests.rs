//! Random walks over random objects stay in their abstract offsets.

use super::shape::{Offset, Shape, Shift};
use crate::program::{Initial, Object, Span, Storage};
use crate::types::{Field, IntType, Layout};
use crate::{ObjectId, Target};

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A layout and its size, which is a multiple of 4.
fn layout(random: &mut Random, depth: u32) -> (Layout, u64) {
    match random.below(if depth == 0 { 2 } else { 5 }) {
        0 => (Layout::Scalar(IntType::I32), 4),
        1 => {
            let size = [4, 8, 16, 160][random.below(4) as usize];
            (Layout::Bytes(size), size)
        }
        2 | 3 => {
            let (element, stride) = layout(random, depth - 1);
            let count = 1 + random.below(4);
            (Layout::Array { element: Box::new(element), count, stride }, stride * count)
        }
        _ => {
            let mut fields = Vec::new();
            let mut size = 0;
            for _ in 0..1 + random.below(3) {
                let (layout, room) = layout(random, depth - 1);
                fields.push(Field { name: String::new(), offset: size, layout });
                size += room + 4 * random.below(2);
            }
            (Layout::Record(fields), size)
        }
    }
}

fn contains(target: Target, offset: u64) -> bool {
    let Some(distance) = offset.checked_sub(target.first) else { return false };
    match target.stride {
        0 => distance == 0,
        stride => distance.is_multiple_of(stride) && distance / stride < target.count,
    }
}

/// A move: how it looks, and how far it is.
fn step(random: &mut Random) -> (Shift, i128) {
    let by = i128::from(random.below(24)) - 8;
    match random.below(4) {
        0 | 1 => (Shift::By(by), by),
        2 => {
            let step = 1 + random.below(8);
            (Shift::MultipleOf(step.into()), by * i128::from(step))
        }
        _ => {
            let step = 1 + random.below(8);
            let amount = by * i128::from(step);
            let (least, greatest) =
                (amount - i128::from(random.below(20)), amount + i128::from(random.below(20)));
            (Shift::Within { step, least, greatest }, amount)
        }
    }
}

#[test]
fn walks_stay_in_their_offsets() {
    let mut random = Random(88_172_645_463_325_252);
    let mut checked = 0;
    for _ in 0..4_000 {
        let (layout, size) = layout(&mut random, 3);
        let storage = if random.below(3) == 0 { Storage::Site } else { Storage::Static };
        let room = if storage == Storage::Site { size * 3 } else { size };
        let object = Object {
            name: String::new(),
            storage,
            size,
            align: 4,
            layout,
            initial: Initial::Unknown,
            span: Span::default(),
            role: crate::program::ObjectRole::Program,
        };
        let shape = Shape::new(&object);
        let mut at = random.below(room);
        let mut offsets: Vec<Offset> = vec![shape.at(at)];
        for _ in 0..6 {
            let (shift, by) = step(&mut random);
            let Some(to) = u64::try_from(i128::from(at) + by).ok().filter(|to| *to <= room) else { continue };
            at = to;
            offsets = offsets.iter().flat_map(|offset| shape.shift(*offset, shift)).collect();
            offsets.sort_unstable();
            offsets.dedup();
            let targets: Vec<Target> =
                offsets.iter().map(|offset| shape.target(ObjectId(0), *offset)).collect();
            assert!(
                at == room || targets.iter().any(|target| contains(*target, at)),
                "{at} after {shift:?} is not in {offsets:?} of {object:?}"
            );
            check_cells(&shape, &offsets, at, room);
            checked += 1;
        }
    }
    assert!(checked > 10_000, "{checked}");
}

/// What is written at an exact offset is read through the offsets of a walk that leads there.
fn check_cells(shape: &Shape, offsets: &[Offset], at: u64, room: u64) {
    for bytes in [1, 4, 8] {
        if at + bytes > room {
            continue;
        }
        let exact = shape.touched(shape.at(at), bytes);
        let found: Vec<usize> = offsets.iter().flat_map(|offset| shape.touched(*offset, bytes)).collect();
        // An exact access that may touch all cells is one to bytes in no cell.
        let is_gap = exact.len() == shape.cells.len() && exact.len() > 1;
        let missing = exact.iter().filter(|cell| !found.contains(cell)).count();
        assert!(missing == 0 || (is_gap && !found.is_empty()), "{offsets:?} {at} {bytes} {shape:?}");
    }
}
