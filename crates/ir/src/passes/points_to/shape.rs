//! The cells of an object, and where in it a pointer may point.
//!
//! All elements of an array have their cells in common, so an object has finitely many. A pointer points to
//! an exact offset, to any element of some of the arrays around an offset, or to every offset of the object
//! with some remainder; so it has finitely many sets of offsets. Many bytes without structure are an array of
//! bytes; of a few (a union, such as a lock is one in C libraries), offsets are kept apart. Allocated
//! elements are told apart word by word; large ones, and those whose sizes are not known well, by the members
//! of the type that the source uses them as. Any division into cells is as good as another: an access touches
//! all cells that its bytes are in.
//!
//! Over-approximates for pointers that stay in their object, as C demands. Within it they may go anywhere,
//! from one member into the next: a pointer to a record is one to its first member, too, so nothing keeps a
//! pointer inside of an array but a known range of the distance. One that moves by an unknown amount may be
//! anywhere in its object, as far as the remainder allows.

use crate::ids::Id;
use crate::program::{Object, SiteUse, Storage};
use crate::types::{Field, IntType, Layout, gcd};
use crate::{ObjectId, Target};

/// Where in an object a pointer points: a set of offsets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Offset {
    /// At one offset, but for the arrays in which it may be in any element: bit `n` is set in `loose` for the
    /// `n`-th array around the offset, the outermost first. In these, `at` is in the first element.
    At {
        /// The offset.
        at: u64,
        /// The arrays in which it may be in any element.
        loose: u16,
    },
    /// At any offset of the object that is `first` more than a multiple of `step`.
    Every {
        /// Less than `step`.
        first: u64,
        /// At least 1.
        step: u64,
    },
}

impl Offset {
    /// Any offset.
    pub const ANYWHERE: Self = Self::Every { first: 0, step: 1 };
}

/// How far a pointer moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Shift {
    /// This many bytes.
    By(i128),
    /// Some multiple of this many bytes.
    MultipleOf(u128),
    /// Some multiple of `step`, from `least` to `greatest`.
    Within {
        /// What divides it; not 0.
        step: u64,
        /// The least number of bytes.
        least: i128,
        /// The greatest number of bytes.
        greatest: i128,
    },
}

/// An array that encloses an offset, or bytes without structure that do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enclosing {
    start: u64,
    pub(super) stride: u64,
    pub(super) count: u64,
    /// Whether a move by a constant leaves the offset exact.
    exact: bool,
}

impl Enclosing {
    /// The number of the element that an offset is in.
    fn element(&self, at: u64) -> u64 {
        (at - self.start) / self.stride
    }
    /// How far an offset is from the first element's place that is like it.
    fn distance(&self, at: u64) -> u64 {
        self.element(at) * self.stride
    }
    fn end(&self) -> u64 {
        self.start.saturating_add(self.stride.saturating_mul(self.count))
    }
}

/// Up to this many bytes without structure have offsets of their own.
const FEW_BYTES: u64 = 128;
/// A move by one of up to this many constants is each of them.
const FEW_MOVES: u64 = 16;
/// Up to this many elements of an array are followed out of it one by one, and this many parts of an access.
const FEW_ELEMENTS: u64 = 64;
/// The cell that bytes in no cell count for, where they are copied: an access to them is one to all cells.
const BETWEEN_CELLS: usize = 0;
/// No offset is in more arrays than this.
const MOST_LEVELS: usize = 16;

/// The structure of an object.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(super) layout: Layout,
    /// The bytes; `u64::MAX` for allocation sites, whose number of elements is not known.
    pub(super) size: u64,
    /// The offset and size of each cell, in the first elements of all arrays, by rising offset.
    pub cells: Vec<(u64, u64)>,
    /// For each cell, what divides the distances between its places in the elements of the arrays around it;
    /// 0 outside of arrays.
    strides: Vec<u64>,
    /// Whether there are bytes in no cell.
    has_gaps: bool,
}

/// Up to this many bytes of allocated memory without structure have a cell for each word.
const MOST_WORDS_BYTES: u64 = 4096;
/// The bytes of a word.
const WORD: u64 = 8;

/// The layout of an allocated element: what has no structure is told apart word by word, since what is
/// allocated without a type is most often a record.
fn by_words(layout: &Layout) -> Layout {
    match layout {
        Layout::Bytes(bytes) if (WORD + 1..=MOST_WORDS_BYTES).contains(bytes) => {
            let field = |word: u64| {
                let (offset, rest) = (word * WORD, *bytes - word * WORD);
                let layout = if rest >= WORD { Layout::Scalar(IntType::U64) } else { Layout::Bytes(rest) };
                Field { name: String::new(), offset, layout }
            };
            Layout::Record((0..bytes.div_ceil(WORD)).map(field).collect())
        }
        Layout::Bytes(_) | Layout::Scalar(_) | Layout::Array { .. } | Layout::Record(_) | Layout::Sync(_) => {
            layout.clone()
        }
    }
}

impl Shape {
    /// The structure of an object, when nothing is known of the sizes of allocations.
    #[cfg(test)]
    pub fn new(object: &Object) -> Self {
        Self::with_element(object, 0, None)
    }

    /// The structure of an object. Of an allocation site whose elements are not known: given what divides all
    /// its sizes, or 0, and the type that the source uses its memory as. That type only says which bytes are
    /// told apart: an access may touch any of them, whatever its type.
    pub fn with_element(object: &Object, divisor: u64, used: Option<&SiteUse>) -> Self {
        let bytes = if object.size == 0 { divisor } else { object.size };
        // What divides the sizes is less than an element where numbers wrap around on the way to the call.
        let is_element = |used: &&SiteUse| {
            bytes <= used.size || bytes > MOST_WORDS_BYTES && bytes.is_multiple_of(used.size)
        };
        let used = used.filter(|_| matches!(object.layout, Layout::Bytes(_))).filter(is_element);
        let (layout, size) = match object.storage {
            Storage::Site if let Some(used) = used => {
                let (element, stride) = (Box::new(by_words(&used.layout)), used.size);
                (Layout::Array { element, count: u64::MAX / stride, stride }, u64::MAX)
            }
            Storage::Site if object.size == 0 && (1..=MOST_WORDS_BYTES).contains(&divisor) => {
                let element = Box::new(by_words(&Layout::Bytes(divisor)));
                (Layout::Array { element, count: u64::MAX / divisor, stride: divisor }, u64::MAX)
            }
            Storage::Site if object.size == 0 => (Layout::Bytes(u64::MAX), u64::MAX),
            Storage::Site => {
                let element = Box::new(by_words(&object.layout));
                (Layout::Array { element, count: u64::MAX / object.size, stride: object.size }, u64::MAX)
            }
            Storage::Static | Storage::Frame(_) | Storage::ThreadLocal => {
                (object.layout.clone(), object.size)
            }
        };
        let mut shape = Self { layout, size, cells: Vec::new(), strides: Vec::new(), has_gaps: false };
        let mut cells = Vec::new();
        collect_cells(&shape.layout, 0, size, &mut cells);
        cells.sort_unstable();
        cells.dedup_by_key(|(start, _)| *start);
        if cells.is_empty() {
            cells.push((0, size));
        }
        let stride = |(start, _): &(u64, u64)| {
            shape.enclosing(*start).iter().fold(0, |step, level| gcd(step, level.stride))
        };
        shape.strides = cells.iter().map(stride).collect();
        shape.cells = cells;
        shape.has_gaps = has_gaps(&shape.layout, size);
        shape
    }

    /// An exact offset.
    pub fn at(&self, offset: u64) -> Offset {
        if offset > self.size { Offset::ANYWHERE } else { Offset::At { at: offset, loose: 0 } }
    }

    /// The indices of the cells that an access of `size` bytes may touch.
    pub fn touched(&self, offset: Offset, size: u64) -> Vec<usize> {
        let found = match offset {
            Offset::At { at, loose } => self.touched_at(at, loose, size),
            Offset::Every { first, step } => self.touched_by_step(first, step, size),
        };
        found.unwrap_or_else(|| (0..self.cells.len()).collect())
    }

    /// The cells that an access at one offset touches, part by part; `None` when that may be all of them.
    fn touched_at(&self, at: u64, loose: u16, size: u64) -> Option<Vec<usize>> {
        if at >= self.size {
            // Just after the object: nothing can be read there.
            return Some(Vec::new());
        }
        let end = at.saturating_add(size).min(self.size);
        let loose_end = self.loose(at, loose).last().map(|(_, level)| level.start + level.stride);
        if loose_end.is_some_and(|loose_end| end > loose_end) {
            return None;
        }
        let (mut found, mut next, mut parts) = (Vec::new(), at, 0);
        while next < end {
            let (start, rest) = run(&self.layout, next, self.size)?;
            found.push(self.cells.binary_search_by_key(&start, |(start, _)| *start).ok()?);
            parts += 1;
            if parts > FEW_ELEMENTS {
                return None;
            }
            next = next.saturating_add(rest);
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// The bytes of cells that an access may touch: the cell's index, and the first byte of it and the one
    /// after the last.
    pub fn touched_bytes(&self, offset: Offset, size: u64) -> Vec<(usize, u64, u64)> {
        let exact = match offset {
            Offset::At { at, loose } => self.touched_bytes_at(at, loose, size),
            Offset::Every { .. } => None,
        };
        exact.unwrap_or_else(|| {
            let cells = self.touched(offset, size).into_iter();
            cells.map(|cell| (cell, 0, self.cells[cell].1)).collect()
        })
    }

    fn touched_bytes_at(&self, at: u64, loose: u16, size: u64) -> Option<Vec<(usize, u64, u64)>> {
        if self.touched_at(at, loose, size)?.len() > 1 {
            return None;
        }
        let Some((start, rest)) = part(&self.layout, at, self.size).filter(|_| at < self.size) else {
            return Some(Vec::new());
        };
        let cell = self.cells.binary_search_by_key(&start, |(start, _)| *start).ok()?;
        let length = self.cells[cell].1;
        // Any element of an array inside of the cell.
        if self.loose(at, loose).any(|(_, level)| level.stride < length) {
            return None;
        }
        let from = length.checked_sub(rest)?;
        Some(vec![(cell, from, length.min(from.saturating_add(size)))])
    }

    fn touched_by_step(&self, first: u64, step: u64, size: u64) -> Option<Vec<usize>> {
        if self.has_gaps {
            return None;
        }
        let touches = |(start, length): (u64, u64), stride: u64| {
            let step = gcd(step, stride);
            let (start, length, step) = (i128::from(start), i128::from(length), i128::from(step));
            // The least distance from the access to a place of the cell that ends after the access's start.
            (start + length - 1 - i128::from(first)).rem_euclid(step) - length + 1 < i128::from(size)
        };
        let indices = 0..self.cells.len();
        Some(indices.filter(|index| touches(self.cells[*index], self.strides[*index])).collect())
    }

    /// Where a pointer may point after it has moved.
    pub fn shift(&self, from: Offset, shift: Shift) -> Vec<Offset> {
        match (from, shift) {
            (_, Shift::By(0) | Shift::MultipleOf(0)) => vec![from],
            (Offset::Every { first, step }, Shift::By(by)) => {
                vec![self.every(i128::from(first) + by, step)]
            }
            (Offset::At { at, loose }, Shift::By(by)) => self.shift_by(at, loose, by),
            (_, Shift::MultipleOf(step)) => vec![self.shift_by_any(from, step)],
            (Offset::Every { .. }, Shift::Within { step, .. }) => {
                vec![self.shift_by_any(from, u128::from(step))]
            }
            (Offset::At { at, loose }, Shift::Within { step, least, greatest }) => {
                self.shift_within(at, loose, step, least, greatest)
            }
        }
    }

    /// Whether two objects have the same structure.
    pub fn is_like(&self, other: &Self) -> bool {
        self.size == other.size && self.layout == other.layout
    }

    /// The pairs of cells, of this object and of another one, that a copy of memory from there to here may
    /// copy between. `None` when that may be all of them.
    pub fn copied(
        &self,
        to: Offset,
        from: &Self,
        from_offset: Offset,
        size: Option<u64>,
    ) -> Option<Vec<(usize, usize)>> {
        let Offset::At { at, loose } = from_offset else { return None };
        // Elements are copied to elements, byte for byte.
        let is_even = loose == 0 || (loose == 1 && self.whole_array().is_some());
        if to == from_offset && is_even && self.is_like(from) {
            return Some((0..self.cells.len()).map(|cell| (cell, cell)).collect());
        }
        let size = size.unwrap_or(u64::MAX).min(from.size.saturating_sub(at));
        let loose_end = from.loose(at, loose).last().map(|(_, level)| level.start + level.stride);
        if loose_end.is_some_and(|end| at.saturating_add(size) > end) {
            return None;
        }
        let (mut pairs, mut done, mut parts) = (Vec::new(), 0, 0);
        while done < size {
            let found = run(&from.layout, at + done, from.size);
            let rest = found.map_or(1, |(_, rest)| rest.min(size - done));
            let source = match found {
                Some((start, _)) => from.cells.binary_search_by_key(&start, |(start, _)| *start).ok()?,
                None => BETWEEN_CELLS,
            };
            for offset in self.shift(to, Shift::By(done.into())) {
                let targets = match offset {
                    Offset::At { at, .. } if found.is_none() && self.is_between_cells(at) => {
                        vec![BETWEEN_CELLS]
                    }
                    Offset::At { .. } | Offset::Every { .. } => self.touched(offset, rest),
                };
                pairs.extend(targets.into_iter().map(|target| (target, source)));
            }
            done += rest;
            parts += 1;
            if parts > FEW_ELEMENTS {
                return None;
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Some(pairs)
    }

    /// Whether a byte is in no cell.
    fn is_between_cells(&self, at: u64) -> bool {
        at < self.size && part(&self.layout, at, self.size).is_none()
    }

    /// The stride of the array that the object is.
    fn whole_array(&self) -> Option<u64> {
        match &self.layout {
            Layout::Array { count, stride, .. } => (*count > 1 && *stride > 0).then_some(*stride),
            Layout::Scalar(_) | Layout::Sync(_) | Layout::Bytes(_) | Layout::Record(_) => None,
        }
    }

    /// All offsets that are some number more than a multiple of `step`.
    fn every(&self, first: i128, step: u64) -> Offset {
        let first = first.rem_euclid(i128::from(step)) as u64;
        match self.whole_array() {
            Some(stride) if step.is_multiple_of(stride) => Offset::At { at: first % stride, loose: 1 },
            _ => Offset::Every { first, step },
        }
    }

    /// A pointer moves by any multiple of a number.
    fn shift_by_any(&self, from: Offset, step: u128) -> Offset {
        let step = u64::try_from(step).unwrap_or(1);
        match from {
            Offset::At { at, loose } => match self.whole_array() {
                Some(stride) if step.is_multiple_of(stride) => {
                    Offset::At { at: at % stride, loose: loose | 1 }
                }
                _ => {
                    let strides = self.loose(at, loose).map(|(_, level)| level.stride);
                    let step = strides.fold(step, gcd);
                    self.every(at.into(), step)
                }
            },
            Offset::Every { first, step: known } => self.every(first.into(), gcd(known, step)),
        }
    }

    /// A pointer moves by some multiple of `step` in a range: within one array, if the range is in it.
    fn shift_within(&self, at: u64, loose: u16, step: u64, least: i128, greatest: i128) -> Vec<Offset> {
        let levels = self.enclosing(at);
        for (depth, level) in levels.iter().enumerate().rev() {
            let element = i128::from(level.distance(at));
            let fits = element + least >= 0
                && element + greatest < i128::from(level.stride) * i128::from(level.count);
            if fits && loose >> depth & 1 == 0 && step.is_multiple_of(level.stride) {
                return vec![Offset::At { at: at - level.distance(at), loose: loose | 1 << depth }];
            }
        }
        let step_signed = i128::from(step);
        let first = least.div_euclid(step_signed) + i128::from(least.rem_euclid(step_signed) != 0);
        let last = greatest.div_euclid(step_signed);
        if last - first < i128::from(FEW_MOVES) {
            let moves = (first..=last)
                .flat_map(|times| self.shift(Offset::At { at, loose }, Shift::By(times * step_signed)));
            return sorted(moves.collect());
        }
        vec![self.shift_by_any(Offset::At { at, loose }, step.into())]
    }

    /// A pointer moves by a constant. What goes from one element of an array to another one may be in any of
    /// them, so a pointer that moves again and again has few offsets; what leaves an array is followed into
    /// what lies beside it.
    fn shift_by(&self, at: u64, loose: u16, by: i128) -> Vec<Offset> {
        let (mut at, mut loose, mut to) = (at, loose, i128::from(at) + by);
        if loose == 0 && to == i128::from(self.size) {
            return vec![self.at(self.size)];
        }
        let levels = self.enclosing(at);
        let is_loose = |depth: usize| loose >> depth & 1 == 1;
        let crossed = levels.iter().enumerate().rev().find(|(depth, level)| {
            let element = i128::from(level.start + level.distance(at));
            let moves = !(element..element + i128::from(level.stride)).contains(&to);
            let stays = (i128::from(level.start)..i128::from(level.end())).contains(&to);
            let is_whole = *depth == 0 && self.whole_array().is_some();
            moves && (stays || is_whole) && !level.exact && !is_loose(*depth)
        });
        if let Some((depth, level)) = crossed
            && (depth + 1..levels.len()).all(|inner| !is_loose(inner))
        {
            let within = (to - i128::from(level.start)).rem_euclid(i128::from(level.stride));
            (at, loose, to) = (level.start, loose | 1 << depth, i128::from(level.start) + within);
        }
        if loose == 0 {
            return match u64::try_from(to) {
                Ok(to) if to <= self.size => vec![self.at(to)],
                // On from just after the object.
                _ if at == self.size && by > 0 => Vec::new(),
                _ => vec![Offset::ANYWHERE],
            };
        }
        let loose_levels: Vec<(usize, Enclosing)> = self.loose(at, loose).collect();
        let mut found = Vec::new();
        if self.settle(to, &loose_levels, &mut found).is_none() {
            let step = loose_levels.iter().fold(0, |step, (_, level)| gcd(step, level.stride));
            return vec![self.every(to, step)];
        }
        sorted(found)
    }

    /// The offsets that are at `to` in the first elements of some arrays, or as far from it as any of their
    /// elements. `None` when there are too many. What is outside of the object is left out.
    fn settle(&self, to: i128, loose: &[(usize, Enclosing)], found: &mut Vec<Offset>) -> Option<()> {
        let Some(((_, level), outer)) = loose.split_last() else {
            if let Ok(to) = u64::try_from(to)
                && to <= self.size
            {
                found.push(self.at(to));
            }
            return Some(());
        };
        let (start, stride) = (i128::from(level.start), i128::from(level.stride));
        let (moved, within) = ((to - start).div_euclid(stride), (to - start).rem_euclid(stride));
        let mask = loose.iter().fold(0, |mask, (depth, _)| mask | 1u16 << depth);
        found.push(Offset::At { at: (start + within) as u64, loose: mask });
        let count = i128::from(level.count);
        let outside = if moved > 0 { moved.max(count)..moved + count } else { moved..(moved + count).min(0) };
        if outside.end - outside.start > i128::from(FEW_ELEMENTS) {
            return None;
        }
        for number in outside {
            self.settle(start + number * stride + within, outer, found)?;
        }
        Some(())
    }

    /// The offsets that a pointer stands for.
    pub fn target(&self, object: ObjectId, offset: Offset) -> Target {
        let (at, loose) = match offset {
            Offset::At { at, loose } => (at, loose),
            Offset::Every { first, step } => {
                let count = match self.size {
                    u64::MAX => u64::MAX,
                    size => size.saturating_sub(first).div_ceil(step).max(1),
                };
                return Target { object, first, stride: step, count };
            }
        };
        let levels: Vec<Enclosing> = self.loose(at, loose).map(|(_, level)| level).collect();
        let stride = levels.iter().fold(0, |step, level| gcd(step, level.stride));
        if stride == 0 {
            return Target { object, first: at, stride: 0, count: 1 };
        }
        let last = levels.iter().fold(0u64, |last, level| {
            last.saturating_add(level.stride.saturating_mul(level.count.saturating_sub(1)))
        });
        let is_endless = self.size == u64::MAX && loose & 1 == 1;
        Target { object, first: at, stride, count: if is_endless { u64::MAX } else { last / stride + 1 } }
    }

    /// The arrays around an offset in which it may be in any element, with their depths.
    pub(super) fn loose(&self, at: u64, loose: u16) -> impl Iterator<Item = (usize, Enclosing)> {
        let levels = self.enclosing(at).into_iter().enumerate();
        levels.filter(move |(depth, _)| loose >> depth & 1 == 1)
    }

    /// The arrays around an offset, the outermost first.
    fn enclosing(&self, at: u64) -> Vec<Enclosing> {
        let mut found = Vec::new();
        let (mut layout, mut base, mut size) = (&self.layout, 0, self.size);
        if at >= size {
            return found;
        }
        while found.len() < MOST_LEVELS {
            match layout {
                Layout::Scalar(_) | Layout::Sync(_) => return found,
                Layout::Bytes(_) => {
                    found.push(Enclosing { start: base, stride: 1, count: size, exact: size <= FEW_BYTES });
                    return found;
                }
                Layout::Array { element, count, stride } => {
                    if *stride == 0 || (at - base) / stride >= *count {
                        return found;
                    }
                    if *count > 1 {
                        found.push(Enclosing { start: base, stride: *stride, count: *count, exact: false });
                    }
                    (layout, base, size) = (element, at - (at - base) % stride, *stride);
                }
                Layout::Record(fields) => {
                    let Some((start, extent, inner)) = field_at(fields, at - base, size) else {
                        return found;
                    };
                    (layout, base, size) = (inner, base + start, extent);
                }
            }
        }
        found
    }
}

fn sorted(mut offsets: Vec<Offset>) -> Vec<Offset> {
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

/// Whether some bytes of a layout are in no cell.
fn has_gaps(layout: &Layout, size: u64) -> bool {
    match layout {
        Layout::Scalar(ty) => ty.bytes().max(1) < size,
        Layout::Sync(_) | Layout::Bytes(_) => false,
        Layout::Array { element, count, stride } => {
            stride.checked_mul(*count).is_none_or(|all| all != size && size != u64::MAX)
                || has_gaps(element, *stride)
        }
        Layout::Record(fields) => {
            fields.iter().all(|field| field.offset > 0)
                || fields.iter().any(|field| match field_at(fields, field.offset, size) {
                    Some((_, extent, inner)) => has_gaps(inner, extent),
                    None => true,
                })
        }
    }
}

/// The member at an offset: its start, the room up to the next one, and its layout.
pub(super) fn field_at(
    fields: &[crate::types::Field],
    offset: u64,
    size: u64,
) -> Option<(u64, u64, &Layout)> {
    let field = fields.iter().filter(|field| field.offset <= offset).max_by_key(|field| field.offset)?;
    let next = fields.iter().map(|other| other.offset).filter(|start| *start > field.offset).min();
    let end = next.unwrap_or(size).max(field.offset);
    Some((field.offset, end - field.offset, &field.layout))
}

/// The cell that an offset is in, by its start in the first elements of all arrays, and how many bytes of it
/// follow.
fn part(layout: &Layout, offset: u64, size: u64) -> Option<(u64, u64)> {
    match layout {
        Layout::Scalar(ty) => {
            Some((0, ty.bytes().max(1).min(size).checked_sub(offset).filter(|rest| *rest > 0)?))
        }
        Layout::Sync(_) | Layout::Bytes(_) => Some((0, size.checked_sub(offset).filter(|rest| *rest > 0)?)),
        Layout::Array { element, count, stride } => {
            let number = offset.checked_div(*stride)?;
            (number < *count).then(|| part(element, offset % stride, *stride))?
        }
        Layout::Record(fields) => {
            let (start, extent, inner) = field_at(fields, offset, size)?;
            let (cell, rest) = part(inner, offset - start, extent)?;
            Some((start + cell, rest))
        }
    }
}

/// The same as [`part`], but of an array of many scalars all bytes that follow: its elements share a cell.
fn run(layout: &Layout, offset: u64, size: u64) -> Option<(u64, u64)> {
    match layout {
        Layout::Array { element, count, stride } => {
            let number = offset.checked_div(*stride)?;
            let is_filled = matches!(**element, Layout::Scalar(ty) if ty.bytes() == *stride);
            let bytes = stride.checked_mul(*count);
            match bytes.filter(|bytes| is_filled && *count > FEW_ELEMENTS && offset < *bytes) {
                Some(bytes) => Some((0, bytes - offset)),
                None => (number < *count).then(|| run(element, offset % stride, *stride))?,
            }
        }
        Layout::Record(fields) => {
            let (start, extent, inner) = field_at(fields, offset, size)?;
            let (cell, rest) = run(inner, offset - start, extent)?;
            Some((start + cell, rest))
        }
        Layout::Scalar(_) | Layout::Sync(_) | Layout::Bytes(_) => part(layout, offset, size),
    }
}

fn collect_cells(layout: &Layout, base: u64, size: u64, found: &mut Vec<(u64, u64)>) {
    match layout {
        Layout::Scalar(ty) => found.push((base, ty.bytes().max(1).min(size))),
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
