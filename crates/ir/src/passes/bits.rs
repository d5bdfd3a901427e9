//! Sets of small numbers.

/// A set of numbers below a bound.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)] }
    }
    /// Whether a number is in the set.
    pub fn contains(&self, number: usize) -> bool {
        self.words[number / 64] >> (number % 64) & 1 == 1
    }
    /// Adds a number; says whether it is new.
    pub fn insert(&mut self, number: usize) -> bool {
        let new = !self.contains(number);
        self.words[number / 64] |= 1 << (number % 64);
        new
    }
    /// Removes a number.
    pub fn remove(&mut self, number: usize) {
        self.words[number / 64] &= !(1 << (number % 64));
    }
    /// All numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
    }
    /// Whether the two have a number in common.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(mine, theirs)| mine & theirs != 0)
    }
    /// Adds all numbers of another set; says whether any was new.
    pub fn union_with(&mut self, other: &Self) -> bool {
        let mut grew = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            grew |= *more & !*word != 0;
            *word |= more;
        }
        grew
    }
    /// Keeps the numbers that are in another set, too; says whether any was lost.
    pub fn intersect_with(&mut self, other: &Self) -> bool {
        let mut shrank = false;
        for (word, kept) in self.words.iter_mut().zip(&other.words) {
            shrank |= *word & !*kept != 0;
            *word &= kept;
        }
        shrank
    }
    /// Removes all numbers of another set.
    pub fn subtract(&mut self, other: &Self) {
        for (word, less) in self.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
    }
}
