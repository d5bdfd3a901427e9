//! Bytes, some of which are not yet chosen.
//!
//! Short sequences are held as they are. Of long ones, only the pages are held that differ from the rest, so
//! a program may have objects that are larger than the machine's memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A sequence of bytes. If the program leaves the initial value of a byte open, the byte is *open* until
/// something is stored in it; reading an open byte chooses its value. A copy of an open byte is open,
/// too, and the two *share* a value: choosing it for one chooses it for both.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Bytes {
    /// The bytes of a short sequence.
    run: Run,
    /// A long sequence; `run` is empty then.
    long: Option<Box<Long>>,
    /// Open bytes that share their value with others, by position, with the number of the value: those of
    /// one number, anywhere in a state, are equal.
    shared: Vec<(usize, u32)>,
}

/// Bytes that are held as they are.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Run {
    data: Vec<u8>,
    /// One bit for each byte, set while it is open. Empty when none is.
    open: Vec<u64>,
}

/// A sequence of which only some pages are held.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Long {
    size: usize,
    /// Whether the bytes of pages that are not listed are open; otherwise they are zero.
    is_open: bool,
    /// The other pages, by their number. What is beyond the sequence in the last one is like the rest.
    pages: BTreeMap<usize, Page>,
}

/// The bytes of one page of a long sequence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Page {
    /// All of them are zero.
    Zero,
    /// All of them are open.
    Open,
    /// They are these.
    Held(Arc<Run>),
}

/// The longest sequence that is held as it is.
const MOST_SHORT: usize = 1 << 24;
/// The bytes of a page.
const PAGE: usize = 1 << 16;

impl Run {
    /// Bytes, with the bit set of the open ones, which is empty when none is.
    pub fn new(data: Vec<u8>, open: Vec<u64>) -> Self {
        Self { data, open }
    }
    fn zeros(size: usize) -> Self {
        Self { data: vec![0; size], open: Vec::new() }
    }
    /// The bytes; open ones read as 0.
    pub fn data(&self) -> &[u8] {
        &self.data
    }
    /// The bit set of the open bytes; empty when none is.
    pub fn open_bits(&self) -> &[u64] {
        &self.open
    }
    fn grow(&mut self, size: usize, open: bool) {
        let from = self.data.len();
        self.data.resize(from + size, 0);
        if !self.open.is_empty() {
            self.open.resize(self.data.len().div_ceil(64), 0);
        }
        if open {
            self.reopen(from, size);
        }
    }
    fn shrink(&mut self, size: usize) {
        self.data.truncate(size);
        if !self.open.is_empty() {
            self.open.truncate(size.div_ceil(64));
            if let (Some(last), rest @ 1..) = (self.open.last_mut(), size % 64) {
                *last &= (1 << rest) - 1;
            }
            self.settle();
        }
    }
    fn reopen(&mut self, from: usize, size: usize) {
        if size == 0 {
            return;
        }
        self.open.resize(self.data.len().div_ceil(64), 0);
        for at in from..from + size {
            self.data[at] = 0;
            self.open[at / 64] |= 1 << (at % 64);
        }
    }
    fn is_open(&self, from: usize, size: usize) -> bool {
        !self.open.is_empty() && (from..from + size).any(|at| self.open[at / 64] >> (at % 64) & 1 == 1)
    }
    fn write_slice(&mut self, from: usize, bytes: &[u8]) {
        self.data[from..from + bytes.len()].copy_from_slice(bytes);
        if !self.open.is_empty() {
            for at in from..from + bytes.len() {
                self.open[at / 64] &= !(1 << (at % 64));
            }
            self.settle();
        }
    }
    fn settle(&mut self) {
        if self.open.iter().all(|word| *word == 0) {
            self.open = Vec::new();
        }
    }
    /// The first position, from the given one on and up to the shorter length, at which the two differ.
    fn first_difference(&self, other: &Self, from: usize) -> Option<usize> {
        let common = self.data.len().min(other.data.len());
        let open = |run: &Self, word: usize| run.open.get(word).copied().unwrap_or(0);
        let mut at = from;
        while at < common {
            let (word, end) = (at / 64, common.min((at / 64 + 1) * 64));
            let opened = open(self, word) ^ open(other, word);
            if opened != 0 || self.data[at..end] != other.data[at..end] {
                let differs = |at: &usize| self.data[*at] != other.data[*at] || opened >> (at % 64) & 1 == 1;
                if let Some(found) = (at..end).find(differs) {
                    return Some(found);
                }
            }
            at = end;
        }
        None
    }
}

impl Long {
    fn rest(&self) -> Page {
        if self.is_open { Page::Open } else { Page::Zero }
    }
    fn page(&self, number: usize) -> Page {
        self.pages.get(&number).cloned().unwrap_or_else(|| self.rest())
    }
    /// A page as it is.
    fn held(&self, number: usize) -> Arc<Run> {
        match self.page(number) {
            Page::Held(run) => run,
            page @ (Page::Zero | Page::Open) => {
                let mut run = Run::zeros(PAGE);
                if page == Page::Open {
                    run.reopen(0, PAGE);
                }
                Arc::new(run)
            }
        }
    }
    fn put(&mut self, number: usize, page: Page) {
        if page == self.rest() {
            self.pages.remove(&number);
        } else {
            self.pages.insert(number, page);
        }
    }
    /// The parts of a range by page: the number of the page, the range there.
    fn parts(from: usize, size: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let end = from + size;
        let pages = if size == 0 { 0..0 } else { from / PAGE..(end - 1) / PAGE + 1 };
        pages.map(move |number| {
            let start = number * PAGE;
            (number, from.max(start) - start..end.min(start + PAGE) - start)
        })
    }
    fn reopen(&mut self, from: usize, size: usize) {
        for (number, part) in Self::parts(from, size) {
            if part.len() == PAGE || self.page(number) == Page::Open {
                self.put(number, Page::Open);
            } else {
                let mut run = self.held(number);
                Arc::make_mut(&mut run).reopen(part.start, part.len());
                self.put(number, Page::Held(run));
            }
        }
    }
    fn is_open(&self, from: usize, size: usize) -> bool {
        Self::parts(from, size).any(|(number, part)| match self.pages.get(&number) {
            Some(Page::Held(run)) => run.is_open(part.start, part.len()),
            Some(Page::Open) => true,
            Some(Page::Zero) => false,
            None => self.is_open,
        })
    }
    fn read(&self, from: usize, into: &mut [u8]) {
        let mut done = 0;
        for (number, part) in Self::parts(from, into.len()) {
            let target = &mut into[done..done + part.len()];
            done += part.len();
            match self.pages.get(&number) {
                Some(Page::Held(run)) => target.copy_from_slice(&run.data[part]),
                Some(Page::Open | Page::Zero) | None => target.fill(0),
            }
        }
    }
    fn write_slice(&mut self, from: usize, bytes: &[u8]) {
        let mut done = 0;
        for (number, part) in Self::parts(from, bytes.len()) {
            let mut run = self.held(number);
            Arc::make_mut(&mut run).write_slice(part.start, &bytes[done..done + part.len()]);
            done += part.len();
            let is_zero = run.open.is_empty() && run.data.iter().all(|byte| *byte == 0);
            self.put(number, if is_zero { Page::Zero } else { Page::Held(run) });
        }
    }
}

impl Bytes {
    /// Zeros.
    pub fn zeros(size: usize) -> Self {
        let mut bytes = Self::default();
        bytes.grow(size, false);
        bytes
    }
    /// A short sequence.
    pub fn of_run(run: Run) -> Self {
        Self { run, ..Self::default() }
    }
    /// A long sequence of bytes of one kind.
    pub fn long(size: usize, is_open: bool) -> Self {
        let long = Long { size, is_open, pages: BTreeMap::new() };
        Self { long: Some(Box::new(long)), ..Self::default() }
    }
    /// Whether a sequence of this length is long.
    pub fn is_long(size: usize) -> bool {
        size > MOST_SHORT
    }
    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.long.as_ref().map_or(self.run.data.len(), |long| long.size)
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// About how much memory it takes.
    pub fn held(&self) -> usize {
        self.long.as_ref().map_or(self.run.data.len(), |long| {
            let page = |page: &Page| if matches!(page, Page::Held(_)) { PAGE } else { 64 };
            long.pages.values().map(page).sum::<usize>() + 64
        })
    }
    /// Whether what is not held of a long sequence is open.
    pub fn rest_is_open(&self) -> bool {
        self.long.as_ref().is_some_and(|long| long.is_open)
    }
    /// The pages of a long sequence that are not like the rest, by their number.
    pub fn pages(&self) -> impl ExactSizeIterator<Item = (usize, &Page)> {
        static NONE: BTreeMap<usize, Page> = BTreeMap::new();
        let pages = self.long.as_ref().map_or(&NONE, |long| &long.pages);
        pages.iter().map(|(number, page)| (*number, page))
    }
    /// Replaces a page of a long sequence.
    pub fn set_page(&mut self, number: usize, page: Page) {
        if let Some(long) = &mut self.long {
            long.put(number, page);
        }
    }
    /// The bytes of a short sequence, and nothing of a long one.
    pub fn short(&self) -> &Run {
        &self.run
    }
    /// The ranges that may hold anything but zeros and open bytes, each with some bytes around it.
    pub fn occupied(&self) -> Vec<Range<usize>> {
        match &self.long {
            None => std::iter::once(0..self.run.data.len()).collect(),
            Some(long) => {
                let held = long.pages.iter().filter(|(_, page)| matches!(page, Page::Held(_)));
                let around = |number: usize| {
                    (number * PAGE).saturating_sub(8)..((number + 1) * PAGE + 8).min(long.size)
                };
                held.map(|(number, _)| around(*number)).collect()
            }
        }
    }
    /// The open bytes that share their value with others, by position, with the number of the value.
    pub fn shared(&self) -> &[(usize, u32)] {
        &self.shared
    }
    /// The number of the value that a byte shares with others.
    pub fn shared_at(&self, at: usize) -> Option<u32> {
        let index = self.shared.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(self.shared[index].1)
    }
    /// Lets an open byte share the value with this number.
    pub fn share(&mut self, at: usize, number: u32) {
        match self.shared.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(index) => self.shared[index].1 = number,
            Err(index) => self.shared.insert(index, (at, number)),
        }
    }
    /// These bytes share no value any more.
    fn unshare(&mut self, from: usize, size: usize) {
        if !self.shared.is_empty() {
            self.shared.retain(|(at, _)| !(from..from + size).contains(at));
        }
    }
    /// The first position, from the given one on and up to the shorter length, at which the two differ.
    pub fn first_difference(&self, other: &Self, from: usize) -> Option<usize> {
        let common = self.len().min(other.len());
        match (&self.long, &other.long) {
            (None, None) => self.run.first_difference(&other.run, from),
            (Some(one), Some(two)) => {
                Long::parts(from, common.saturating_sub(from)).find_map(|(number, part)| {
                    if one.page(number) == two.page(number) {
                        return None;
                    }
                    let found = one.held(number).first_difference(&two.held(number), part.start);
                    found.filter(|at| *at < part.end).map(|at| number * PAGE + at)
                })
            }
            (Some(_), None) | (None, Some(_)) => {
                let byte = |bytes: &Self, at| (bytes.read(at, 1), bytes.is_open(at, 1));
                (from..common).find(|at| byte(self, *at) != byte(other, *at))
            }
        }
    }
    /// Adds bytes, zero, or open.
    pub fn grow(&mut self, size: usize, open: bool) {
        let from = self.len();
        let Some(after) = from.checked_add(size).filter(|after| Self::is_long(*after)) else {
            return self.run.grow(size, open);
        };
        match &mut self.long {
            Some(long) => {
                long.size = after;
                if open != long.is_open {
                    self.set_kind(from, size, open);
                }
            }
            None => {
                let short = std::mem::take(&mut self.run);
                let mut long = Long { size: after, is_open: open, pages: BTreeMap::new() };
                for (number, part) in Long::parts(0, from) {
                    let mut run = Run::zeros(PAGE);
                    if open && part.len() < PAGE {
                        run.reopen(part.len(), PAGE - part.len());
                    }
                    let start = number * PAGE;
                    run.data[part.clone()].copy_from_slice(&short.data[start..start + part.len()]);
                    for at in part.clone().filter(|at| short.is_open(start + at, 1)) {
                        run.reopen(at, 1);
                    }
                    long.pages.insert(number, Page::Held(Arc::new(run)));
                }
                self.long = Some(Box::new(long));
            }
        }
    }
    /// Makes bytes of a long sequence zero, or open.
    fn set_kind(&mut self, from: usize, size: usize, open: bool) {
        let Some(long) = &mut self.long else { return };
        if open {
            return long.reopen(from, size);
        }
        for (number, part) in Long::parts(from, size) {
            if part.len() == PAGE {
                long.put(number, Page::Zero);
            } else {
                long.write_slice(number * PAGE + part.start, &vec![0; part.len()]);
            }
        }
    }
    /// Drops all bytes from `size` on.
    pub fn shrink(&mut self, size: usize) {
        let before = self.len();
        self.unshare(size, before.saturating_sub(size));
        let Some(long) = &mut self.long else { return self.run.shrink(size) };
        if Self::is_long(size) {
            long.size = long.size.min(size);
            let last = size.div_ceil(PAGE);
            long.pages.retain(|number, _| *number < last);
            // What is left of the last page is like the rest, so that equal sequences are equal.
            let (open, after) = (long.is_open, size.next_multiple_of(PAGE) - size);
            self.set_kind(size, after, open);
            return;
        }
        let mut run = Run::zeros(size);
        long.read(0, &mut run.data);
        for at in (0..size).filter(|at| long.is_open(*at, 1)) {
            run.reopen(at, 1);
        }
        self.long = None;
        self.run = run;
    }
    /// Makes bytes open.
    pub fn reopen(&mut self, from: usize, size: usize) {
        if size == 0 {
            return;
        }
        self.unshare(from, size);
        match &mut self.long {
            Some(long) => long.reopen(from, size),
            None => self.run.reopen(from, size),
        }
    }
    /// Whether any of these bytes is open.
    pub fn is_open(&self, from: usize, size: usize) -> bool {
        match &self.long {
            Some(long) => long.is_open(from, size),
            None => self.run.is_open(from, size),
        }
    }
    /// Reads up to eight bytes, little endian, zero-extended.
    pub fn read(&self, from: usize, size: usize) -> u64 {
        let mut value = [0; 8];
        match &self.long {
            Some(long) => long.read(from, &mut value[..size]),
            None => value[..size].copy_from_slice(&self.run.data[from..from + size]),
        }
        u64::from_le_bytes(value)
    }
    /// Writes up to eight bytes, little endian.
    pub fn write(&mut self, from: usize, size: usize, value: u64) {
        self.write_slice(from, &value.to_le_bytes()[..size]);
    }
    /// Writes bytes.
    pub fn write_slice(&mut self, from: usize, bytes: &[u8]) {
        match &mut self.long {
            Some(long) => long.write_slice(from, bytes),
            None => self.run.write_slice(from, bytes),
        }
        self.unshare(from, bytes.len());
    }
    /// Copies bytes from another sequence; open bytes stay open, and share the values that their originals
    /// share.
    pub fn copy_from(&mut self, to: usize, source: &Bytes, from: usize, size: usize) {
        let mut bytes = vec![0; size];
        match &source.long {
            Some(long) => long.read(from, &mut bytes),
            None => bytes.copy_from_slice(&source.run.data[from..from + size]),
        }
        let open: Vec<usize> = (0..size).filter(|i| source.is_open(from + i, 1)).collect();
        self.write_slice(to, &bytes);
        for i in open {
            self.reopen(to + i, 1);
            if let Some(number) = source.shared_at(from + i) {
                self.share(to + i, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed sequence of numbers that look random.
    fn numbers() -> impl FnMut(usize) -> usize {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        move |below| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (state >> 33) as usize % below
        }
    }

    fn assert_same(long: &Bytes, short: &Bytes, from: usize, size: usize) {
        for at in from..from + size {
            assert_eq!(long.read(at, 1), short.read(at, 1), "byte {at}");
            assert_eq!(long.is_open(at, 1), short.is_open(at, 1), "byte {at}");
        }
    }

    /// Long sequences behave like short ones, also across the borders of pages.
    #[test]
    fn long_and_short_agree() {
        const SIZE: usize = 4 * PAGE;
        let mut number = numbers();
        for start_open in [false, true] {
            let mut long = Bytes::long(SIZE, start_open);
            let mut short = Bytes::default();
            short.grow(SIZE, start_open);
            for _ in 0..300 {
                let border = PAGE * (1 + number(3));
                let at = border - 9 + number(10);
                let size = 1 + number(8);
                match number(5) {
                    0 => [&mut long, &mut short].map(|bytes| bytes.reopen(at, size)),
                    1 => {
                        let (from, size) = (number(2) * PAGE, PAGE + number(3));
                        [&mut long, &mut short].map(|bytes| bytes.reopen(from, size))
                    }
                    2 => {
                        let to = number(SIZE - 8);
                        [&mut long, &mut short].map(|bytes| {
                            let source = bytes.clone();
                            bytes.copy_from(to, &source, at, size);
                        })
                    }
                    3 => [&mut long, &mut short].map(|bytes| bytes.write_slice(at, &[0; 8][..size])),
                    _ => {
                        let value = number(1 << 30) as u64;
                        [&mut long, &mut short].map(|bytes| bytes.write(at, size, value))
                    }
                };
                assert_eq!(long.read(at, size), short.read(at, size));
                assert_eq!(long.is_open(at, size), short.is_open(at, size));
            }
            assert_same(&long, &short, 0, SIZE);
            assert_eq!(long.first_difference(&short, 0), None);
            let changed = PAGE + 77;
            long.write(changed, 1, short.read(changed, 1) ^ 1);
            assert_eq!(long.first_difference(&short, 5), Some(changed));
            assert_eq!(short.first_difference(&long, 5), Some(changed));
        }
    }

    /// Growing past the border and back loses nothing, and equal sequences are equal.
    #[test]
    fn stacks_grow_and_shrink() {
        let mut stack = Bytes::zeros(100);
        stack.write(50, 8, 77);
        stack.reopen(60, 10);
        let before = stack.clone();
        stack.grow(MOST_SHORT, false);
        assert!(stack.long.is_some() && stack.len() == MOST_SHORT + 100);
        assert_same(&stack, &before, 0, 100);
        stack.reopen(200, 1 << 20);
        stack.write(MOST_SHORT, 8, 5);
        let kept = stack.clone();
        stack.grow(1 << 30, true);
        assert!(stack.is_open(1 << 29, 1) && stack.is_open(MOST_SHORT + 100, 1));
        stack.write(1 << 29, 4, 9);
        assert_eq!(stack.read(1 << 29, 4), 9);
        stack.shrink(MOST_SHORT + 100);
        assert_eq!(stack, kept);
        stack.grow(PAGE, false);
        assert!(!stack.is_open(MOST_SHORT + 100, PAGE));
        stack.shrink(100);
        assert_eq!(stack, before);
    }

    /// Only what differs from the rest is held, and that is what may hold addresses.
    #[test]
    fn huge_sequences_are_small() {
        let mut huge = Bytes::default();
        huge.grow(1 << 40, true);
        huge.write(1 << 39, 8, 3);
        assert!(huge.held() < 1 << 20 && huge.is_open((1 << 39) + 8, 1) && !huge.is_open(1 << 39, 8));
        let parts = huge.occupied();
        assert!(parts.len() == 1 && parts[0].contains(&(1 << 39)));
        huge.reopen(1 << 39, 8);
        assert!(huge.is_open(1 << 39, 1));
    }
}
