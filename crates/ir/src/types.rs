//! Integer types, data models, and the layout of memory objects.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A mathematical integer. A value of an [`IntType`] is always in that type's range.
pub type Value = i128;

/// The greatest common divisor, by Euclid; that of 0 and a number is the number. Of numbers that are less
/// than 0 it may be less than 0, too.
pub fn gcd<N: Copy + Default + PartialEq + std::ops::Rem<Output = N>>(mut a: N, mut b: N) -> N {
    while b != N::default() {
        (a, b) = (b, a % b);
    }
    a
}

/// A machine integer type. Pointers are unsigned integers of the data model's pointer width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "AnyWidth")]
pub struct IntType {
    /// 1 (Boolean), 8, 16, 32 or 64.
    pub bits: u8,
    /// Two's complement when set. A Boolean is unsigned.
    pub signed: bool,
}

/// A type as read from a file: its width may be invalid.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnyWidth {
    bits: u8,
    signed: bool,
}

impl TryFrom<AnyWidth> for IntType {
    type Error = &'static str;
    fn try_from(AnyWidth { bits, signed }: AnyWidth) -> Result<Self, Self::Error> {
        match (bits, signed) {
            (1, false) | (8 | 16 | 32 | 64, _) => Ok(Self { bits, signed }),
            _ => Err("an integer type of 1, 8, 16, 32 or 64 bits, of 1 without a sign"),
        }
    }
}

impl IntType {
    /// The integer types of C, and the truth values.
    pub const ALL: [Self; 9] =
        [Self::BOOL, Self::I8, Self::U8, Self::I16, Self::U16, Self::I32, Self::U32, Self::I64, Self::U64];
    /// The truth values, 0 and 1; one byte in memory.
    pub const BOOL: Self = Self { bits: 1, signed: false };
    /// `signed char`.
    pub const I8: Self = Self { bits: 8, signed: true };
    /// `unsigned char`.
    pub const U8: Self = Self { bits: 8, signed: false };
    /// `short`.
    pub const I16: Self = Self { bits: 16, signed: true };
    /// `unsigned short`.
    pub const U16: Self = Self { bits: 16, signed: false };
    /// `int`.
    pub const I32: Self = Self { bits: 32, signed: true };
    /// `unsigned int`.
    pub const U32: Self = Self { bits: 32, signed: false };
    /// `long long`.
    pub const I64: Self = Self { bits: 64, signed: true };
    /// `unsigned long long`.
    pub const U64: Self = Self { bits: 64, signed: false };

    /// The size of a value in memory, in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }
    /// The smallest value.
    pub fn min(self) -> Value {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }
    /// The largest value.
    pub fn max(self) -> Value {
        if self.signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }
    /// Whether `value` is in the range of this type.
    pub fn contains(self, value: Value) -> bool {
        (self.min()..=self.max()).contains(&value)
    }
    /// The value of this type that is equal to `value` modulo 2^bits.
    pub fn wrap(self, value: Value) -> Value {
        let unused = 128 - u32::from(self.bits);
        if self.signed { (value << unused) >> unused } else { ((value as u128) << unused >> unused) as Value }
    }
    /// The same width, unsigned.
    pub fn unsigned(self) -> Self {
        Self { signed: false, ..self }
    }
}

impl fmt::Display for IntType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.signed) {
            (Self::BOOL, _) => f.write_str("bool"),
            (_, true) => write!(f, "i{}", self.bits),
            (_, false) => write!(f, "u{}", self.bits),
        }
    }
}
impl fmt::Debug for IntType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The widths of C's `long` and of pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum DataModel {
    /// 32-bit `int`, `long` and pointers.
    Ilp32,
    /// 64-bit `long` and pointers.
    #[default]
    Lp64,
}

impl DataModel {
    /// The type of a pointer value.
    pub fn pointer(self) -> IntType {
        match self {
            Self::Ilp32 => IntType::U32,
            Self::Lp64 => IntType::U64,
        }
    }
}

/// The structure of a memory object. The concrete semantics sees only bytes; a layout names the cells for
/// symbolic engines and for reports.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Layout {
    /// One integer or pointer.
    Scalar(IntType),
    /// `count` elements, `stride` bytes apart.
    Array {
        /// The layout of each element.
        element: Box<Layout>,
        /// The number of elements.
        count: u64,
        /// The distance between two neighbours, in bytes.
        stride: u64,
    },
    /// Named members that do not overlap.
    Record(Vec<Field>),
    /// A synchronisation object, which only lock operations touch.
    Sync(SyncKind),
    /// Bytes without structure: a union, a float, memory of unknown type.
    Bytes(u64),
}

/// A member of a [`Layout::Record`].
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Field {
    /// Its name; empty for an anonymous member.
    pub name: String,
    /// Its distance from the record's start, in bytes.
    pub offset: u64,
    /// Its layout.
    pub layout: Layout,
}

/// The kinds of synchronisation objects that live in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SyncKind {
    /// A mutual-exclusion lock with owner, recursion count and kind.
    Mutex,
    /// A spin lock: one word.
    Spin,
    /// A read-write lock.
    ReadWrite,
    /// Anything else that is only touched atomically (semaphore, barrier, once flag, condition).
    Other,
}
