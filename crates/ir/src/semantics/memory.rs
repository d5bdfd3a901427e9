//! Bytes, some of which are not yet chosen.

/// A sequence of bytes. If the program leaves the initial value of a byte open, the byte is *open* until
/// something is stored in it; reading an open byte chooses its value. A copy of an open byte is open,
/// too, and the two *share* a value: choosing it for one chooses it for both.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Bytes {
    data: Vec<u8>,
    /// One bit for each byte, set while it is open. Empty when none is.
    open: Vec<u64>,
    /// Open bytes that share their value with others, by position, with the number of the value: those of
    /// one number, anywhere in a state, are equal.
    shared: Vec<(usize, u32)>,
}

impl Bytes {
    /// Zeros.
    pub fn zeros(size: usize) -> Self {
        Self { data: vec![0; size], open: Vec::new(), shared: Vec::new() }
    }
    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.data.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
    /// The bytes; open ones read as 0.
    pub fn data(&self) -> &[u8] {
        &self.data
    }
    /// The bit set of the open bytes; empty when none is.
    pub fn open_bits(&self) -> &[u64] {
        &self.open
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
        let open = |bytes: &Self, word: usize| bytes.open.get(word).copied().unwrap_or(0);
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
    /// Adds bytes, zero, or open.
    pub fn grow(&mut self, size: usize, open: bool) {
        let from = self.data.len();
        self.data.resize(from + size, 0);
        if !self.open.is_empty() {
            self.open.resize(self.data.len().div_ceil(64), 0);
        }
        if open {
            self.reopen(from, size);
        }
    }
    /// Drops all bytes from `size` on.
    pub fn shrink(&mut self, size: usize) {
        self.unshare(size, self.data.len().saturating_sub(size));
        self.data.truncate(size);
        if !self.open.is_empty() {
            self.open.truncate(size.div_ceil(64));
            if let (Some(last), rest @ 1..) = (self.open.last_mut(), size % 64) {
                *last &= (1 << rest) - 1;
            }
            self.settle();
        }
    }
    /// Makes bytes open.
    pub fn reopen(&mut self, from: usize, size: usize) {
        if size == 0 {
            return;
        }
        self.unshare(from, size);
        self.open.resize(self.data.len().div_ceil(64), 0);
        for at in from..from + size {
            self.data[at] = 0;
            self.open[at / 64] |= 1 << (at % 64);
        }
    }
    /// Whether any of these bytes is open.
    pub fn is_open(&self, from: usize, size: usize) -> bool {
        !self.open.is_empty() && (from..from + size).any(|at| self.open[at / 64] >> (at % 64) & 1 == 1)
    }
    /// Reads up to eight bytes, little endian, zero-extended.
    pub fn read(&self, from: usize, size: usize) -> u64 {
        let mut value = [0; 8];
        value[..size].copy_from_slice(&self.data[from..from + size]);
        u64::from_le_bytes(value)
    }
    /// Writes up to eight bytes, little endian.
    pub fn write(&mut self, from: usize, size: usize, value: u64) {
        self.write_slice(from, &value.to_le_bytes()[..size]);
    }
    /// Writes bytes.
    pub fn write_slice(&mut self, from: usize, bytes: &[u8]) {
        self.data[from..from + bytes.len()].copy_from_slice(bytes);
        if !self.open.is_empty() {
            self.unshare(from, bytes.len());
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
    /// Copies bytes from another sequence; open bytes stay open, and share the values that their originals
    /// share.
    pub fn copy_from(&mut self, to: usize, source: &Bytes, from: usize, size: usize) {
        let bytes = source.data[from..from + size].to_vec();
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
