//! Sets of offsets in an object, as sums of progressions, and what follows of them by arithmetic.

use ir::passes::points_to::claim::ClaimedBytes;
use std::fmt;

/// No allocation is as large as this.
pub const HUGE: i128 = 1 << 62;
/// No more parts of a set are looked at than this.
const MOST_PARTS: usize = 4096;
/// Sets that are moved are split into no more parts than this.
const FEW_PARTS: usize = 8;
/// Sets are split into no more classes than this.
const MOST_CLASSES: i128 = 64;
/// Sets with more strides than this are taken for larger ones.
const MOST_STRIDES: usize = 6;

/// The offsets `first` plus a multiple of each stride. A stride comes with the number of its multiples, from
/// 0 on; without one, it is all multiples, below 0 too. Offsets outside of the object do not count.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Offsets {
    first: i128,
    /// By falling stride, each once; none is 0, and of each there are at least two multiples. At most one
    /// has no number.
    strides: Vec<(i128, Option<i128>)>,
}

impl fmt::Display for Offsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.strides.iter().try_for_each(|(stride, count)| match count {
            Some(count) => write!(f, " + {stride} * 0..{count}"),
            None => write!(f, " + {stride} * any"),
        })
    }
}

/// How far an address moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// This many bytes.
    By(i128),
    /// Any multiple of this many bytes.
    Times(i128),
    /// A multiple of `step`, from the least to the greatest number of bytes.
    Between {
        /// What divides it, at least 1.
        step: i128,
        /// The least number of bytes.
        least: i128,
        /// The greatest number of bytes.
        greatest: i128,
    },
}

impl Move {
    /// The same in the other direction.
    pub fn back(self) -> Self {
        match self {
            Self::By(by) => Self::By(-by),
            Self::Times(step) => Self::Times(step),
            Self::Between { step, least, greatest } => {
                Self::Between { step, least: -greatest, greatest: -least }
            }
        }
    }
}

/// The greatest common divisor, 0 or more.
pub fn common_divisor(a: i128, b: i128) -> i128 {
    ir::gcd(a, b).abs()
}

impl Offsets {
    /// One offset.
    pub fn one(first: i128) -> Self {
        Self { first, strides: Vec::new() }
    }
    /// All offsets.
    pub fn all() -> Self {
        Self { first: 0, strides: vec![(1, None)] }
    }
    /// Some offsets; `None` when there are none.
    pub fn new(first: i128, strides: &[(i128, Option<i128>)]) -> Option<Self> {
        let mut offsets = Self::one(first);
        for &(stride, count) in strides {
            if count.is_some_and(|count| count <= 0) {
                return None;
            }
            offsets.add(stride, count);
        }
        Some(offsets)
    }

    /// Adds the multiples of a stride.
    fn add(&mut self, stride: i128, count: Option<i128>) {
        if stride == 0 || count == Some(1) {
            return;
        }
        let endless = self.strides.iter().position(|(_, count)| count.is_none());
        match (self.strides.iter().position(|(known, _)| *known == stride), count, endless) {
            (_, None, Some(index)) => {
                let known = self.strides.remove(index).0;
                self.add(common_divisor(known, stride), None);
            }
            (Some(index), _, _) => {
                let known = &mut self.strides[index].1;
                *known = known.zip(count).map(|(one, other)| one + other - 1);
            }
            (None, _, _) => {
                self.strides.push((stride, count));
                self.strides.sort_unstable_by_key(|(stride, _)| -stride);
            }
        }
        self.join();
        if self.strides.len() > MOST_STRIDES {
            let step = self.strides.iter().fold(0, |step, (stride, _)| common_divisor(step, *stride));
            self.strides = vec![(step, None)];
        }
    }

    /// Joins strides whose multiples fill those of a larger one.
    fn join(&mut self) {
        let mut index = self.strides.len();
        while index > 1 {
            index -= 1;
            let [(large, times), (small, count)] = [self.strides[index - 1], self.strides[index]];
            let fills = large % small == 0 && count.is_none_or(|count| count * small >= large);
            if fills {
                let joined = times.zip(count).map(|(times, count)| large / small * (times - 1) + count);
                self.strides[index - 1] = (small, joined);
                self.strides.remove(index);
                index = self.strides.len();
            }
        }
    }

    /// The offsets after a move; `None` when there are none.
    pub fn moved(&self, by: Move) -> Option<Self> {
        let mut moved = self.clone();
        match by {
            Move::By(by) => moved.first += by,
            Move::Times(step) => moved.add(step, None),
            Move::Between { step, least, greatest } => {
                let (from, to) = (-(-least).div_euclid(step), greatest.div_euclid(step));
                if from > to {
                    return None;
                }
                moved.first += from * step;
                moved.add(step, Some(to - from + 1));
            }
        }
        Some(moved)
    }

    /// How far the multiples of strides with a number reach.
    fn reach(&self) -> i128 {
        self.strides.iter().filter_map(|(stride, count)| Some(stride * ((*count)? - 1))).sum()
    }

    /// The same offsets as far as they are from 0 to `last`, or some more, with a number for each stride.
    pub fn bounded(&self, last: i128) -> Option<Self> {
        if self.strides.iter().all(|(_, count)| count.is_some()) {
            return Some(self.clone());
        }
        let reach = self.reach();
        let mut found = Self::one(self.first);
        for &(stride, count) in &self.strides {
            if count.is_some() {
                found.add(stride, count);
            } else {
                let from = (-self.first - reach).div_euclid(stride);
                let to = (last - self.first).div_euclid(stride);
                if to < from {
                    return None;
                }
                found.first += from * stride;
                found.add(stride, Some(to - from + 1));
            }
        }
        Some(found)
    }

    /// Two halves of a set that has more than one offset, and a number for each stride: of the multiples
    /// of a stride without which the set is in one of the others, or else of those that reach farthest.
    fn halves(&self, others: &[&Self], last: i128) -> Option<[Self; 2]> {
        let is_cause = |index: usize| {
            let rest = self.without(index);
            others.iter().any(|other| rest.is_within(other, last))
        };
        let reach = |index: usize| self.strides[index].0 * self.strides[index].1.map_or(0, |count| count - 1);
        let indices = 0..self.strides.len();
        let index = match self.strides.len() {
            0 | 1 => indices.last()?,
            _ => indices.max_by_key(|index| (is_cause(*index), reach(*index)))?,
        };
        let (stride, count) = self.strides[index];
        let (count, rest) = (count?, self.without(index));
        let half = count / 2;
        let mut upper = rest.clone();
        upper.first += half * stride;
        upper.add(stride, Some(count - half));
        let mut lower = rest;
        lower.add(stride, Some(half));
        Some([lower, upper])
    }

    fn without(&self, index: usize) -> Self {
        let mut rest = self.clone();
        rest.strides.remove(index);
        rest
    }

    /// Whether all offsets from 0 to `last` are among those of another set; sometimes it does not see that
    /// they are.
    fn is_within(&self, other: &Self, last: i128) -> bool {
        if let Some((step, _)) = other.strides.iter().find(|(_, count)| count.is_none()) {
            let is_whole = |distance: i128| distance % step == 0;
            return is_whole(self.first - other.first)
                && self.strides.iter().all(|(stride, _)| is_whole(*stride));
        }
        if let [(step, Some(count))] = other.strides.as_slice() {
            let is_whole = |distance: i128| distance % step == 0;
            let is_bounded = self.strides.iter().all(|(_, count)| count.is_some());
            let end = if is_bounded { self.first + self.reach() } else { last };
            return is_whole(self.first - other.first)
                && self.strides.iter().all(|(stride, _)| is_whole(*stride))
                && (other.first < *step || is_bounded && self.first >= other.first)
                && end.min(last) < other.first + step * count;
        }
        let mut rest = self.first - other.first;
        if rest < 0 {
            return false;
        }
        // How often each stride of the other set is used.
        let mut used: Vec<i128> = Vec::with_capacity(other.strides.len());
        for (stride, count) in &other.strides {
            let times = (rest / stride).min(count.unwrap_or(1) - 1);
            rest -= times * stride;
            used.push(times);
        }
        rest == 0
            && self.strides.iter().all(|&(stride, count)| {
                let Some(count) = count else { return false };
                let fitting = other.strides.iter().zip(&mut used).find(|((other, most), used)| {
                    stride % other == 0 && **used + stride / other * (count - 1) < most.unwrap_or(1)
                });
                fitting.is_some_and(|((other, _), used)| {
                    *used += stride / other * (count - 1);
                    true
                })
            })
    }

    /// Whether all offsets from 0 to `last` are in one of some other sets.
    pub fn is_in(&self, others: &[&Self], last: i128) -> bool {
        if others.iter().any(|other| self.is_within(other, last)) {
            return true;
        }
        let mut open: Vec<Self> = self.bounded(last).into_iter().collect();
        let mut looked = 0;
        while let Some(part) = open.pop() {
            looked += 1;
            if looked > MOST_PARTS {
                return false;
            }
            let is_outside = part.first > last || part.first + part.reach() < 0;
            if is_outside || others.iter().any(|other| part.is_within(other, last)) {
                continue;
            }
            match part.classes(others) {
                Some(classes) => open.extend(classes),
                None => match part.halves(others, last) {
                    Some(halves) => open.extend(halves),
                    None => return false,
                },
            }
        }
        true
    }

    /// The parts of a long set that have the same remainder by a stride of one of some other sets.
    fn classes(&self, others: &[&Self]) -> Option<Vec<Self>> {
        let index = self.strides.len().checked_sub(1)?;
        let (stride, count) = self.strides[index];
        let count = count?;
        let strides = others.iter().flat_map(|other| other.strides.iter().map(|(stride, _)| *stride));
        let fits = |larger: &i128| {
            let classes = larger / stride;
            larger % stride == 0 && (2..=MOST_CLASSES).contains(&classes) && count >= 4 * classes
        };
        let larger = strides.filter(fits).min()?;
        let (classes, rest) = (larger / stride, self.without(index));
        let class = |number: i128| {
            let mut class = rest.clone();
            class.first += number * stride;
            class.add(larger, Some((count - number + classes - 1).div_euclid(classes)));
            class
        };
        Some((0..classes).map(class).collect())
    }

    /// The same offsets without those that are outside of 0 to `last`, as far as that takes few parts.
    pub fn inside(self, last: i128) -> Vec<Self> {
        match self.strides.as_slice() {
            [] if (0..=last).contains(&self.first) => return vec![self],
            [] => return Vec::new(),
            [(stride, Some(count))] => {
                let from = (-self.first.div_euclid(*stride)).max(0);
                let to = (last - self.first).div_euclid(*stride).min(count - 1);
                let inside = Self::new(self.first + from * stride, &[(*stride, Some(to - from + 1))]);
                return inside.into_iter().collect();
            }
            strides if strides.iter().any(|(_, count)| count.is_none()) => return vec![self],
            _ => {}
        }
        let (mut found, mut open) = (Vec::new(), vec![self.clone()]);
        while let Some(part) = open.pop() {
            let end = part.first + part.reach();
            if part.first >= 0 && end <= last {
                found.push(part);
            } else if part.first <= last
                && end >= 0
                && let Some(halves) = part.halves(&[], last)
            {
                open.extend(halves);
            }
            if found.len() + open.len() > FEW_PARTS {
                return vec![self];
            }
        }
        found
    }

    /// The strides with their least and greatest multiples.
    fn terms(&self) -> impl Iterator<Item = (i128, i128, i128)> + '_ {
        self.strides.iter().map(|(stride, count)| (*stride, 0, count.unwrap_or(1) - 1))
    }
}

/// Some bytes of an object, again and again.
#[derive(Clone, Debug)]
pub struct Run {
    first: i128,
    length: i128,
    strides: Vec<(i128, i128)>,
}

impl Run {
    /// Some claimed bytes; `None` when there are none.
    pub fn new(bytes: &ClaimedBytes) -> Option<Self> {
        let strides = bytes.strides.iter().map(|(stride, count)| (i128::from(*stride), i128::from(*count)));
        let run = Self { first: bytes.first.into(), length: bytes.length.into(), strides: strides.collect() };
        let is_empty = run.strides.iter().any(|(stride, count)| *stride == 0 || *count == 0);
        (!is_empty && run.length > 0).then_some(run)
    }

    fn terms(&self) -> impl Iterator<Item = (i128, i128, i128)> + '_ {
        self.strides.iter().map(|(stride, count)| (*stride, 0, count - 1))
    }

    /// Whether an access of some bytes at one of some offsets, which are bounded, may touch these.
    pub fn is_touched(&self, at: &Offsets, bytes: i128) -> bool {
        let reach: i128 = self.strides.iter().map(|(stride, count)| stride * (count - 1)).sum();
        if at.first + at.reach() + bytes <= self.first || self.first + reach + self.length <= at.first {
            return false;
        }
        if at.strides.is_empty() && self.strides.is_empty() {
            return true;
        }
        let terms = at.terms().chain(self.terms().map(negative)).collect();
        reaches(at.first - self.first, terms, (1 - bytes, self.length - 1))
    }

    /// Whether a copy of memory may copy one of these bytes to one of others, with its last offsets.
    pub fn is_copied(
        &self,
        (from, from_last): (&Offsets, i128),
        other: &Self,
        (to, to_last): (&Offsets, i128),
        size: Option<i128>,
    ) -> bool {
        let (Some(from), Some(to)) = (from.bounded(from_last), to.bounded(to_last)) else { return false };
        // The distance of a byte from the start of the copy.
        let distance = |run: &Self, at: &Offsets| -> (i128, Vec<(i128, i128, i128)>) {
            (run.first - at.first, run.terms().chain(at.terms().map(negative)).collect())
        };
        let (mut here, mut there) = (distance(self, &from), distance(other, &to));
        let last = size.map_or(HUGE, |size| size - 1);
        let is_early = |(first, terms): &(i128, Vec<_>), length: i128| {
            reaches(*first, terms.clone(), (1 - length, last))
        };
        for ((first, terms), length) in [(&mut here, self.length), (&mut there, other.length)] {
            limit(*first, terms, (1 - length, last));
        }
        let terms = here.1.iter().copied().chain(there.1.iter().copied().map(negative)).collect();
        is_early(&here, self.length)
            && is_early(&there, other.length)
            && reaches(here.0 - there.0, terms, (1 - self.length, other.length - 1))
    }
}

fn negative((stride, least, greatest): (i128, i128, i128)) -> (i128, i128, i128) {
    (stride, -greatest, -least)
}

/// Leaves out multiples of strides with which a number is in a window for no multiples of the others.
fn limit(first: i128, terms: &mut [(i128, i128, i128)], window: (i128, i128)) {
    for index in 0..terms.len() {
        let others = terms.iter().enumerate().filter(|(other, _)| *other != index);
        let (low, high) = others.fold((0, 0), |(low, high), (_, (stride, least, greatest))| {
            (low + stride * least, high + stride * greatest)
        });
        let (stride, least, greatest) = terms[index];
        let from = (-(first + high - window.0).div_euclid(stride)).max(least);
        let to = (window.1 - first - low).div_euclid(stride).min(greatest);
        terms[index] = (stride, from, to);
    }
}

/// Whether a number plus a multiple of each of some strides is in a window. A stride comes with its least and
/// its greatest multiple. It may say so although there is none, where that takes long to find out.
fn reaches(first: i128, mut terms: Vec<(i128, i128, i128)>, window: (i128, i128)) -> bool {
    if window.0 > window.1 {
        return false;
    }
    terms.sort_unstable_by_key(|(stride, ..)| -stride);
    terms.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            (kept.1, kept.2) = (kept.1 + next.1, kept.2 + next.2);
        }
        is_same
    });
    let divisor = terms.iter().fold(0, |divisor, (stride, ..)| common_divisor(divisor, *stride));
    if divisor > 0 && window.0 + (first - window.0).rem_euclid(divisor) > window.1 {
        return false;
    }
    let mut left = MOST_PARTS;
    reaches_from(first, &terms, window, &mut left)
}

fn reaches_from(first: i128, terms: &[(i128, i128, i128)], window: (i128, i128), left: &mut usize) -> bool {
    let Some((&(stride, least, greatest), rest)) = terms.split_first() else {
        return (window.0..=window.1).contains(&first);
    };
    let (low, high) = rest.iter().fold((0, 0), |(low, high), (stride, least, greatest)| {
        (low + stride * least, high + stride * greatest)
    });
    let from = (-(first + high - window.0).div_euclid(stride)).max(least);
    let to = (window.1 - first - low).div_euclid(stride).min(greatest);
    for times in from..=to {
        if *left == 0 {
            return true;
        }
        *left -= 1;
        if reaches_from(first + times * stride, rest, window, left) {
            return true;
        }
    }
    false
}

/// Whether the bytes of some runs are all bytes from one offset to before another.
pub fn cover(mut runs: Vec<Run>, from: i128, end: i128) -> bool {
    runs.sort_by_key(|run| run.first);
    let mut at = from;
    let mut next = 0;
    while at < end {
        let Some(run) = runs.get(next) else { return false };
        if run.first > at {
            return false;
        }
        match run.strides.first().copied() {
            None => {
                at = at.max(run.first + run.length);
                next += 1;
            }
            // An array from here on, whose elements are covered if the first one is.
            Some((stride, count)) if run.first == at => {
                let is_member =
                    |run: &&Run| run.first < at + stride && run.strides.first() == Some(&(stride, count));
                let members = runs[next..]
                    .iter()
                    .filter(is_member)
                    .map(|run| Run { strides: run.strides[1..].to_vec(), ..run.clone() });
                let members: Vec<Run> = members.collect();
                let skipped = runs[next..].iter().take_while(|run| run.first < at + stride).count();
                if !cover(members, at, at + stride) {
                    return false;
                }
                at += stride * count;
                next += skipped;
            }
            Some(_) => next += 1,
        }
    }
    true
}
