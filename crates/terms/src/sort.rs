//! Sorts: the types of terms.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The type of a term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Sort {
    /// A truth value.
    Bool,
    /// A mathematical integer.
    Int,
    /// A bit-vector of this width, 1 to 128.
    BitVec(u32),
    /// A total map from a first sort (not an array) to a second.
    Array(Arc<(Sort, Sort)>),
}

impl Sort {
    /// The largest width of a bit-vector.
    pub const WIDEST: u32 = 128;

    /// Bit-vectors of a width.
    ///
    /// # Panics
    /// If the width is not in `1..=128`.
    pub fn bit_vector(width: u32) -> Self {
        assert!((1..=Self::WIDEST).contains(&width), "there are no bit-vectors of width {width}");
        Self::BitVec(width)
    }
    /// Arrays from `index` to `element`.
    ///
    /// # Panics
    /// If the index is an array itself.
    pub fn array(index: Self, element: Self) -> Self {
        assert!(!matches!(index, Self::Array(_)), "an array cannot be indexed by arrays");
        Self::Array(Arc::new((index, element)))
    }
    /// Whether all widths are in range, and no array is indexed by arrays.
    pub fn is_possible(&self) -> bool {
        match self {
            Self::Bool | Self::Int => true,
            Self::BitVec(width) => (1..=Self::WIDEST).contains(width),
            Self::Array(pair) => {
                !matches!(pair.0, Self::Array(_)) && pair.0.is_possible() && pair.1.is_possible()
            }
        }
    }
    /// The width of bit-vectors.
    ///
    /// # Panics
    /// If this is another sort.
    pub fn width(&self) -> u32 {
        match self {
            Self::BitVec(width) => *width,
            other => panic!("bit-vectors are expected here, not {other}"),
        }
    }
    /// The number of values of this sort; `None` when there are too many to count.
    pub fn cardinality(&self) -> Option<u128> {
        match self {
            Self::Bool => Some(2),
            Self::BitVec(width) => 1u128.checked_shl(*width),
            Self::Int | Self::Array(_) => None,
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("Bool"),
            Self::Int => f.write_str("Int"),
            Self::BitVec(width) => write!(f, "(_ BitVec {width})"),
            Self::Array(pair) => write!(f, "(Array {} {})", pair.0, pair.1),
        }
    }
}
