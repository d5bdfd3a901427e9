//! Random walks over random objects stay in their abstract offsets; cells of large elements and texts.

use super::shape::{Offset, Shape, Shift};
use crate::program::{Initial, Object, ObjectRole, SiteUse, Span, Storage};
use crate::types::{Field, IntType, Layout};
use crate::{ObjectId, Target};
use testkit::random::Random;

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
            let step = 1 + random.below(8_u64);
            (Shift::MultipleOf(step.into()), by * i128::from(step))
        }
        _ => {
            let step = 1 + random.below(8_u64);
            let amount = by * i128::from(step);
            let (least, greatest) =
                (amount - i128::from(random.below(20)), amount + i128::from(random.below(20)));
            (Shift::Within { step, least, greatest }, amount)
        }
    }
}

#[test]
fn walks_stay_in_their_offsets() {
    let mut random = Random::new(1);
    let mut checked = 0;
    for _ in 0..4_000 {
        let (layout, size) = layout(&mut random, 3);
        let storage = if random.below(3) == 0 { Storage::Site } else { Storage::Static };
        let room = if storage == Storage::Site { size * 3 } else { size };
        let object = object(storage, layout, size);
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

/// A text of many bytes between two words.
fn large() -> (Layout, u64) {
    let text = Layout::Array { element: Box::new(Layout::Scalar(IntType::I8)), count: 5000, stride: 1 };
    let words = [(0, Layout::Scalar(IntType::U64)), (8, text), (5008, Layout::Scalar(IntType::U64))];
    let field = |(offset, layout)| Field { name: String::new(), offset, layout };
    (Layout::Record(words.map(field).into()), 5016)
}

fn object(storage: Storage, layout: Layout, size: u64) -> Object {
    let (name, initial, span) = (String::new(), Initial::Unknown, Span::default());
    Object { name, storage, size, align: 16, layout, initial, span, role: ObjectRole::Program }
}

/// Members of large elements are told apart by the type that the source uses them as, if that divides all
/// sizes, or if these are not known so well; an access across members touches each.
#[test]
fn large_elements_have_members() {
    let (layout, size) = large();
    let used = |size: u64| SiteUse {
        site: ObjectId(0),
        variable: String::new(),
        type_name: String::new(),
        layout: layout.clone(),
        size,
    };
    for (known, divisor) in [(size, size), (0, size), (0, 3 * size), (2 * size, 2 * size)] {
        let site = object(Storage::Site, Layout::Bytes(known), known);
        let shape = Shape::with_element(&site, divisor, Some(&used(size)));
        let touched = |at: u64, bytes: u64| shape.touched(shape.at(at), bytes);
        assert_eq!(touched(0, 8), [0]);
        assert_eq!(touched(5008, 8), [2]);
        assert_eq!(touched(7 * size + 5008, 8), [2]);
        assert_eq!(touched(5004, 8), [1, 2]);
        assert_eq!(touched(5012, 8), [0, 2]);
        assert_eq!(shape.touched(Offset::ANYWHERE, 1), [0, 1, 2]);
        // Sizes that are no multiple: one cell.
        let site = object(Storage::Site, Layout::Bytes(known), if known == 0 { 0 } else { known + 8 });
        let other = Shape::with_element(&site, divisor + 8, Some(&used(size)));
        assert_eq!(other.cells.len(), 1);
    }
    // Less than an element: the sizes are not known well.
    let site = object(Storage::Site, Layout::Bytes(0), 0);
    assert_eq!(Shape::with_element(&site, 8, Some(&used(size))).cells.len(), 3);
}

/// A copy takes what is between members to what is between members, and not to all of them.
#[test]
fn copies_pass_gaps() {
    let members = [(0, IntType::U64), (8, IntType::U64), (16, IntType::I32), (24, IntType::U64)];
    let field = |(offset, ty)| Field { name: String::new(), offset, layout: Layout::Scalar(ty) };
    let record = Layout::Record(members.map(field).into());
    let one = Shape::new(&object(Storage::Static, record.clone(), 32));
    let two = Layout::Array { element: Box::new(record), count: 2, stride: 32 };
    let two = Shape::new(&object(Storage::Static, two, 64));
    let pairs = two.copied(two.at(40), &one, one.at(8), None).expect("few cells");
    assert_eq!(pairs, [(0, 0), (1, 1), (2, 2), (3, 3)]);
    // Four bytes on, what was between members comes to a member.
    let moved = one.copied(one.at(12), &one, one.at(16), Some(8)).expect("few cells");
    assert_eq!(moved, [(1, 2), (2, 0)]);
}

/// A copy between structures that are laid out alike, but are in different arrays, takes each byte to the
/// cell of the same byte, also past a long text.
#[test]
fn copies_pass_long_texts() {
    let (layout, size) = large();
    let one = Shape::new(&object(Storage::Static, layout.clone(), size));
    let element = Box::new(layout);
    let many = Layout::Array { element, count: 3, stride: size };
    let many = Shape::new(&object(Storage::Static, many, 3 * size));
    for (to, at, from, from_at) in [(&many, size, &one, 0), (&one, 0, &many, 2 * size)] {
        for bytes in [Some(size), Some(3000), None] {
            let pairs = to.copied(to.at(at), from, from.at(from_at), bytes).expect("few cells");
            for byte in 0..bytes.unwrap_or(size) {
                let target = to.touched(to.at(at + byte), 1);
                let source = from.touched(from.at(from_at + byte), 1);
                assert!(pairs.contains(&(target[0], source[0])), "{byte} {pairs:?}");
            }
            assert!(!pairs.contains(&(0, 2)) && !pairs.contains(&(2, 0)), "{pairs:?}");
        }
    }
    // Moved by one byte, words overlap their neighbours.
    let moved = one.copied(one.at(1), &one, one.at(0), Some(size - 1)).expect("few cells");
    assert_eq!(moved, [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]);
}
