//! A number of threads: exact up to a limit k, and *many* beyond it (paper 1, section 3.4, counter
//! abstraction). Over-approximates.
//!
//! An amount stands for all numbers up to it: more threads can do no less. *Many* (ω) stands for any number;
//! one more and one less are many, too.

use std::fmt;

/// How many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Amount {
    /// This many.
    Exactly(u32),
    /// Any number.
    Many,
}

impl Amount {
    /// None.
    pub const NONE: Self = Self::Exactly(0);
    /// One.
    pub const ONE: Self = Self::Exactly(1);

    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly(one), Self::Exactly(two)) => {
                one.checked_add(two).map_or(Self::Many, Self::Exactly)
            }
            _ => Self::Many,
        }
    }
    /// One less; `None` when there is none.
    #[must_use]
    pub fn less_one(self) -> Option<Self> {
        match self {
            Self::Exactly(count) => count.checked_sub(1).map(Self::Exactly),
            Self::Many => Some(Self::Many),
        }
    }
    /// The same, with all numbers beyond k many.
    #[must_use]
    pub fn limited(self, k: u32) -> Self {
        match self {
            Self::Exactly(count) if count <= k => self,
            _ => Self::Many,
        }
    }
    /// The number, unless it is any.
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Exactly(count) => Some(count),
            Self::Many => None,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(count) => write!(f, "{count}"),
            Self::Many => f.write_str("any number"),
        }
    }
}
