//! What can be asked of a program.

use ir::ErrorKind;
use ir::semantics::Leak;
use std::collections::BTreeSet;

/// What an engine decides about a program: a set of bad states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// No thread reaches an error location of one of these kinds.
    NoError(BTreeSet<ErrorKind>),
    /// No two threads are at conflicting accesses (see [`ir::semantics`]).
    NoRace,
    /// No deadlock (see [`ir::semantics`]).
    NoDeadlock,
    /// No allocated memory is lost, or left where the program ends (see [`ir::semantics`]).
    NoLeak(Leak),
}

/// What a user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Check {
    /// No assertion fails and no error function is called.
    Assertions,
    /// The error function is not called: the competition's `unreach-call`. Failing assertions end the
    /// program.
    ReachError,
    /// No data race.
    Races,
    /// No access outside of any object or through a null pointer, and no invalid free.
    Bounds,
    /// No access outside of any object or through a null pointer: the competition's `valid-deref`.
    Deref,
    /// Only allocated memory is freed, and only once: the competition's `valid-free`.
    Free,
    /// No allocated memory is lost: the competition's `valid-memtrack`.
    Memtrack,
    /// No memory is still allocated where the program ends: the competition's `valid-memcleanup`.
    Memcleanup,
    /// No signed overflow.
    Overflow,
    /// No lock-order deadlock.
    Deadlock,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Assertions,
        Self::ReachError,
        Self::Races,
        Self::Bounds,
        Self::Deref,
        Self::Free,
        Self::Memtrack,
        Self::Memcleanup,
        Self::Overflow,
        Self::Deadlock,
    ];

    /// The parts of memory safety: the competition's `valid-memsafety`, and what `--check memory` stands for.
    pub const MEMORY: [Self; 3] = [Self::Deref, Self::Free, Self::Memtrack];

    /// The name of the check in `--check`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assertions => "assertions",
            Self::ReachError => "reach-error",
            Self::Races => "races",
            Self::Bounds => "bounds",
            Self::Deref => "deref",
            Self::Free => "free",
            Self::Memtrack => "memtrack",
            Self::Memcleanup => "memcleanup",
            Self::Overflow => "overflow",
            Self::Deadlock => "deadlock",
        }
    }
    /// The check with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }
    /// The competition's name of the violated property, for verdicts.
    pub fn property_name(self) -> &'static str {
        match self {
            Self::Assertions | Self::ReachError => "unreach-call",
            Self::Races => "no-data-race",
            Self::Bounds | Self::Deref => "valid-deref",
            Self::Free => "valid-free",
            Self::Memtrack => "valid-memtrack",
            Self::Memcleanup => "valid-memcleanup",
            Self::Overflow => "no-overflow",
            Self::Deadlock => "no-deadlock",
        }
    }
    /// The bad states to look for, once the program is lowered for this check.
    pub fn property(self) -> Property {
        match self {
            Self::Assertions => Property::NoError([ErrorKind::ReachError, ErrorKind::Assertion].into()),
            Self::ReachError => Property::NoError([ErrorKind::ReachError].into()),
            Self::Races => Property::NoRace,
            Self::Bounds => Property::NoError([ErrorKind::InvalidAccess, ErrorKind::InvalidFree].into()),
            Self::Deref => Property::NoError([ErrorKind::InvalidAccess].into()),
            Self::Free => Property::NoError([ErrorKind::InvalidFree].into()),
            Self::Memtrack => Property::NoLeak(Leak::Lost),
            Self::Memcleanup => Property::NoLeak(Leak::Left),
            Self::Overflow => Property::NoError([ErrorKind::Overflow].into()),
            Self::Deadlock => Property::NoDeadlock,
        }
    }
}
