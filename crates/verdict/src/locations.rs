//! The listing of a whole program: for each shared memory location, what is known of races on it.

use crate::LockFact;
use ir::{EdgeId, Target, TemplateId};

/// Every memory location that two threads may access and one may write, with what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    /// In the order of objects and offsets.
    pub locations: Vec<SharedLocation>,
    /// How much of the program is reached.
    pub reached: Reached,
}

/// How much of a program is reached. Nothing is proved about the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The number of procedures that some thread may enter, and of all procedures.
    pub functions: (usize, usize),
    /// The number of reachable steps that start threads, and of all such steps.
    pub thread_starts: (usize, usize),
}

/// A shared memory location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLocation {
    /// Its object and its offset there; a member of array elements has a stride.
    pub cell: Target,
    /// Its size in bytes.
    pub size: u64,
    /// The accesses to it, without repetitions, in program order.
    pub accesses: Vec<LocationAccess>,
    /// How many more accesses there are at least that are not listed: pointers of which little is known
    /// access much.
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
    /// These pairs of accesses, by their numbers in [`SharedLocation::accesses`], may race as far as is
    /// known. There are none where accesses were not compared in time.
    Open(Vec<(usize, usize)>),
}

/// Why two conflicting accesses do not race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyNoRace {
    /// Both are atomic.
    Atomic,
    /// Both threads hold a lock: this one, as the first access names it, or one at the same distance from the
    /// location.
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
