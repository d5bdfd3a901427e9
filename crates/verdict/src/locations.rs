//! What is known of races on each shared memory location of a program: the listing of a whole program.

use crate::LockFact;
use ir::{EdgeId, Target, TemplateId};

/// Every memory location that two threads may access and one may write, with what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    /// In the order of objects and offsets.
    pub locations: Vec<SharedLocation>,
    /// How much of the program is reached at all.
    pub reached: Reached,
}

/// How much of a program is reached. What is not reached is not proved of anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Procedures that some thread may enter, and all that the program has.
    pub functions: (usize, usize),
    /// Steps that start threads and may be taken, and all that the program has.
    pub thread_starts: (usize, usize),
}

/// A shared memory location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLocation {
    /// Its object and where it starts in it; a member of the elements of an array has a stride.
    pub cell: Target,
    /// How many bytes it has.
    pub size: u64,
    /// Who accesses it, without repetitions, in the order of the program.
    pub accesses: Vec<LocationAccess>,
    /// How many more accesses there are at least that are not listed: pointers of which little is known access
    /// much.
    pub more: usize,
    /// What is known.
    pub status: LocationStatus,
}

/// An access to a shared location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationAccess {
    /// The procedure.
    pub template: TemplateId,
    /// The step.
    pub edge: EdgeId,
    /// The kind of thread that makes it.
    pub kind: TemplateId,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The locks that the thread holds there; locals in them are the procedure's.
    pub locks: Vec<LockFact>,
}

/// What is known of races on a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocationStatus {
    /// No two accesses to it race, for these reasons, in rising order without repetitions.
    RaceFree(Vec<WhyNoRace>),
    /// These pairs of accesses, by their numbers in [`SharedLocation::accesses`], may race as far as is known.
    /// There are none where accesses were not compared in time.
    Open(Vec<(usize, usize)>),
}

/// Why two conflicting accesses do not race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyNoRace {
    /// Both are atomic.
    Atomic,
    /// Both hold this lock of the first access, or one at the same distance from the location.
    Lock(LockFact),
    /// Only one thread ever runs both.
    OneThread,
    /// One is made before the other's thread is started, or after it has ended.
    Order,
    /// The memory belongs to one thread.
    Private,
    /// One is made before other threads have a pointer to the memory.
    NotPublished,
}
