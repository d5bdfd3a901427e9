//! The cells of an object, and where in it a pointer may point.
//!
//! All elements of an array count as its first one, so an object has finitely many cells and a pointer finitely many
//! offsets. An offset in that sense is *collapsed*. Many bytes without structure are an array of bytes; of a few (a union, such as a lock is one in
//! C libraries), offsets are kept apart. A pointer that moves by an unknown amount inside of them stays inside of them.
//!
//! Over-approximates for pointers that stay in their object, as C demands. A pointer that moves by a multiple of its
//! array's stride stays in the array; one that moves otherwise by an unknown amount may be anywhere in its object.

use crate::ids::Id;
use crate::program::{Object, Storage};
use crate::types::Layout;
use crate::{ObjectId, Target};

/// Where in an object a pointer points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Offset {
    /// At a collapsed offset.
    At(u64),
    /// At any offset.
    Anywhere,
}

/// How far a pointer moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    /// This many bytes.
    By(i128),
    /// Some multiple of this many bytes.
    MultipleOf(u128),
}

/// An array that encloses a collapsed offset.
#[derive(Clone, Copy, Debug)]
struct Enclosing {
    start: u64,
    stride: u64,
    count: u64,
}

/// Up to this many bytes without structure have offsets of their own.
const FEW_BYTES: u64 = 128;

/// The structure of an object.
#[derive(Clone, Debug)]
pub struct Shape {
    layout: Layout,
    /// The bytes; `u64::MAX` for allocation sites, whose number of elements is not known.
    size: u64,
    /// The collapsed offset and size of each cell, by rising offset.
    pub cells: Vec<(u64, u64)>,
}

impl Shape {
    /// The structure of an object.
    pub fn new(object: &Object) -> Self {
        let (layout, size) = match object.storage {
            Storage::Site if object.size == 0 => (Layout::Bytes(u64::MAX), u64::MAX),
            Storage::Site => {
                let element = Box::new(object.layout.clone());
                (Layout::Array { element, count: u64::MAX / object.size, stride: object.size }, u64::MAX)
            }
            Storage::Static | Storage::Frame(_) | Storage::ThreadLocal => {
                (object.layout.clone(), object.size)
            }
        };
        let mut shape = Self { layout, size, cells: Vec::new() };
        let mut cells = Vec::new();
        collect_cells(&shape.layout, 0, size, &mut cells);
        cells.sort_unstable();
        cells.dedup_by_key(|(start, _)| *start);
        if cells.is_empty() {
            cells.push((0, size));
        }
        shape.cells = cells;
        shape
    }

    /// A concrete offset, collapsed.
    pub fn at(&self, offset: u64) -> Offset {
        if offset > self.size {
            return Offset::Anywhere;
        }
        Offset::At(collapse(&self.layout, offset, self.size))
    }

    /// The indices of the cells that an access of `size` bytes may touch.
    pub fn touched(&self, offset: Offset, size: u64) -> std::ops::Range<usize> {
        let all = 0..self.cells.len();
        let Offset::At(at) = offset else { return all };
        if at >= self.size {
            // Just behind the object: nothing can be read there.
            return 0..0;
        }
        let next = self.cells.partition_point(|(start, _)| *start <= at);
        let Some(first) = next.checked_sub(1) else { return all };
        let (start, length) = self.cells[first];
        if at.saturating_add(size) <= start.saturating_add(length) {
            return first..next;
        }
        if !self.enclosing(at).is_empty() || at >= start.saturating_add(length) {
            return all;
        }
        let end = self.cells.partition_point(|(start, _)| *start < at.saturating_add(size));
        first..end
    }

    /// Where a pointer may point after it has moved.
    pub fn shift(&self, from: Offset, shift: Shift) -> Vec<Offset> {
        let Offset::At(at) = from else { return vec![Offset::Anywhere] };
        let arrays = self.enclosing(at);
        match (shift, arrays.last()) {
            (Shift::By(0) | Shift::MultipleOf(0), _) => vec![from],
            (Shift::By(by), None) => vec![self.exact(at, by).unwrap_or(Offset::Anywhere)],
            (Shift::By(by), Some(inner)) => self.shift_in_array(at, by, *inner, arrays.len()),
            (Shift::MultipleOf(step), _) => {
                let stays = arrays.iter().any(|array| step.is_multiple_of(u128::from(array.stride)));
                let Some((start, size)) = self.few_bytes(at) else {
                    return vec![if stays { from } else { Offset::Anywhere }];
                };
                let same = |offset: &u64| u128::from(offset.abs_diff(at)).is_multiple_of(step);
                (start..start + size).filter(same).map(Offset::At).collect()
            }
        }
    }

    /// Whether a collapsed offset stands for several.
    pub fn is_in_array(&self, at: u64) -> bool {
        !self.enclosing(at).is_empty()
    }
    /// Whether two objects have the same structure.
    pub fn is_like(&self, other: &Self) -> bool {
        self.size == other.size && self.layout == other.layout
    }

    fn exact(&self, at: u64, by: i128) -> Option<Offset> {
        let offset = u64::try_from(i128::from(at) + by).ok()?;
        (offset <= self.size).then(|| self.at(offset))
    }

    /// A pointer into an array moves by a constant: within its element, to another element, or from the first
    /// elements out of the array (a pointer to a record is one to its first member, and members lead to records).
    fn shift_in_array(&self, at: u64, by: i128, inner: Enclosing, depth: usize) -> Vec<Offset> {
        let Enclosing { start, stride, count } = inner;
        let within = i128::from(at - start) + by;
        if (0..i128::from(stride)).contains(&within) {
            return vec![self.exact(at, by).unwrap_or(Offset::Anywhere)];
        }
        let residue = within.rem_euclid(i128::from(stride)) as u64;
        let mut found = vec![self.at(start + residue)];
        found.extend(self.exact(at, by));
        if by < 0 {
            let below = (-within).unsigned_abs().div_ceil(u128::from(stride)).min(u128::from(count));
            if below > 64 || (depth > 1 && i128::from(at) + by < 0) {
                return vec![Offset::Anywhere];
            }
            for element in 0..below as i128 {
                let before = i128::from(at) + by + element * i128::from(stride);
                if (0..i128::from(start)).contains(&before) {
                    found.push(self.at(before as u64));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The offsets that a pointer stands for.
    pub fn target(&self, object: ObjectId, offset: Offset) -> Target {
        let Offset::At(first) = offset else {
            return Target { object, first: 0, stride: 1, count: self.size };
        };
        let arrays = self.enclosing(first);
        let stride = arrays.iter().fold(0, |gcd, array| greatest_common_divisor(gcd, array.stride));
        if stride == 0 {
            return Target { object, first, stride: 0, count: 1 };
        }
        let last = arrays.iter().fold(0u64, |last, array| {
            last.saturating_add(array.stride.saturating_mul(array.count.saturating_sub(1)))
        });
        let count = if self.size == u64::MAX { u64::MAX } else { last / stride + 1 };
        Target { object, first, stride, count }
    }

    /// The few bytes without structure that an offset is in: where they start, and how many there are.
    fn few_bytes(&self, at: u64) -> Option<(u64, u64)> {
        let (mut layout, mut base, mut size) = (&self.layout, 0, self.size);
        if at >= size {
            return None;
        }
        loop {
            match layout {
                Layout::Scalar(_) | Layout::Sync(_) => return None,
                Layout::Bytes(_) => return (size <= FEW_BYTES).then_some((base, size)),
                Layout::Array { element, count, stride } => {
                    if *stride == 0 || *count == 0 || at - base >= *stride {
                        return None;
                    }
                    (layout, size) = (element, *stride);
                }
                Layout::Record(fields) => {
                    let (start, extent, inner) = field_at(fields, at - base, size)?;
                    (layout, base, size) = (inner, base + start, extent);
                }
            }
        }
    }

    fn enclosing(&self, at: u64) -> Vec<Enclosing> {
        let mut found = Vec::new();
        let (mut layout, mut base, mut size) = (&self.layout, 0, self.size);
        if at >= size {
            return found;
        }
        loop {
            match layout {
                Layout::Scalar(_) | Layout::Sync(_) => return found,
                Layout::Bytes(_) if size <= FEW_BYTES => return found,
                Layout::Bytes(_) => {
                    found.push(Enclosing { start: base, stride: 1, count: size });
                    return found;
                }
                Layout::Array { element, count, stride } => {
                    if *stride == 0 || *count == 0 || at - base >= *stride {
                        return found;
                    }
                    if *count > 1 {
                        found.push(Enclosing { start: base, stride: *stride, count: *count });
                    }
                    (layout, size) = (element, *stride);
                }
                Layout::Record(fields) => {
                    let Some((start, extent, inner)) = field_at(fields, at - base, size) else {
                        return found;
                    };
                    (layout, base, size) = (inner, base + start, extent);
                }
            }
        }
    }
}

/// The greatest common divisor; 0 divides by all.
pub fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The member at an offset: its start, the room up to the next one, and its layout.
fn field_at(fields: &[crate::types::Field], offset: u64, size: u64) -> Option<(u64, u64, &Layout)> {
    let field = fields.iter().filter(|field| field.offset <= offset).max_by_key(|field| field.offset)?;
    let next = fields.iter().map(|other| other.offset).filter(|start| *start > field.offset).min();
    let end = next.unwrap_or(size).max(field.offset);
    Some((field.offset, end - field.offset, &field.layout))
}

fn collapse(layout: &Layout, offset: u64, size: u64) -> u64 {
    if offset >= size {
        return offset;
    }
    match layout {
        Layout::Scalar(_) | Layout::Sync(_) => offset,
        Layout::Bytes(_) if size <= FEW_BYTES => offset,
        Layout::Bytes(_) => 0,
        Layout::Array { element, count, stride } => {
            if *stride == 0 || offset / stride >= *count {
                return offset;
            }
            collapse(element, offset % stride, *stride)
        }
        Layout::Record(fields) => match field_at(fields, offset, size) {
            Some((start, extent, inner)) => start + collapse(inner, offset - start, extent),
            None => offset,
        },
    }
}

fn collect_cells(layout: &Layout, base: u64, size: u64, found: &mut Vec<(u64, u64)>) {
    match layout {
        Layout::Scalar(ty) => found.push((base, ty.bytes().max(1))),
        Layout::Sync(_) | Layout::Bytes(_) => found.push((base, size)),
        Layout::Array { element, stride, .. } => collect_cells(element, base, *stride, found),
        Layout::Record(fields) => {
            for field in fields {
                if let Some((start, extent, inner)) = field_at(fields, field.offset, size) {
                    collect_cells(inner, base + start, extent, found);
                }
            }
        }
    }
}

/// Numbers of things that are laid out one after the other.
pub fn first_numbers<I: Id>(sizes: impl Iterator<Item = usize>) -> (crate::IdVec<I, u32>, u32) {
    let mut next = 0u32;
    let firsts = sizes
        .map(|size| {
            let first = next;
            next += size as u32;
            first
        })
        .collect();
    (firsts, next)
}
