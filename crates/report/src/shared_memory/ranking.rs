//! Which open locations are most likely races: those come first.
//!
//! A heuristic for the order only. It follows what lockset tools found to distinguish races from noise
//! (Engler and Ashcraft, "RacerX", SOSP 2003): accesses that hold no lock where most others do are the best
//! sign; threads of different kinds race more often than copies of one kind, which mostly have separate
//! memory; named variables are better than memory that many pointers may point to; memory of the library is
//! mostly synchronised internally.

use ir::{EdgeId, Program, SharedObject, Storage, TemplateId, Waiting};
use std::collections::BTreeMap;
use verdict::{LocationAccess, Locations, SharedLocation};

/// A step that may touch more locations than this uses an imprecise pointer.
const MANY: usize = 6;
/// The score of locations whose accesses were not compared: after all others.
const NOT_COMPARED: u32 = 1_000;

/// How many locations each step may touch.
pub(super) struct Reach(BTreeMap<(TemplateId, EdgeId), usize>);

impl Reach {
    /// Counts.
    pub(super) fn of(locations: &Locations) -> Self {
        let mut counts = BTreeMap::new();
        for location in &locations.locations {
            let mut steps: Vec<(TemplateId, EdgeId)> =
                location.accesses.iter().map(|access| (access.template, access.edge)).collect();
            steps.sort_unstable();
            steps.dedup();
            for step in steps {
                *counts.entry(step).or_insert(0) += 1;
            }
        }
        Self(counts)
    }
    /// Whether an access is through an imprecise pointer.
    fn is_wide(&self, access: &LocationAccess) -> bool {
        self.0.get(&(access.template, access.edge)).is_some_and(|count| *count > MANY)
    }
}

/// The pairs of an open location, the most promising first, and how unlikely a race on it is.
pub(super) fn rank(
    program: &Program,
    location: &SharedLocation,
    pairs: &[(usize, usize)],
    reach: &Reach,
) -> (Vec<(usize, usize)>, u32) {
    let mostly_locked = {
        let locked = location.accesses.iter().filter(|access| !access.locks.is_empty()).count();
        2 * locked > location.accesses.len()
    };
    let score =
        |(one, other): &(usize, usize)| match (location.accesses.get(*one), location.accesses.get(*other)) {
            (Some(one), Some(other)) => {
                let wide = [one, other].into_iter().filter(|access| reach.is_wide(access)).count();
                pair_score(one, other, mostly_locked) + 8 * wide as u32
            }
            (_, _) => u32::MAX / 2,
        };
    let mut sorted = pairs.to_vec();
    sorted.sort_by_cached_key(|pair| (score(pair), *pair));
    let best = sorted.first().map_or(NOT_COMPARED, score);
    (sorted, best.saturating_add(memory_score(program, location)))
}

/// How unlikely a race of two accesses is.
fn pair_score(one: &LocationAccess, other: &LocationAccess, mostly_locked: bool) -> u32 {
    let locks = match (one.locks.is_empty(), other.locks.is_empty()) {
        // One access lacks the lock that others hold.
        (true, false) | (false, true) if mostly_locked => 0,
        (true, false) | (false, true) => 1,
        (true, true) => 2,
        (false, false) => 6,
    };
    let kinds = if one.kind == other.kind { 4 } else { 0 };
    let atomic = u32::from(one.atomic || other.atomic);
    locks + kinds + atomic
}

/// How unlikely a race on a piece of memory is.
fn memory_score(program: &Program, location: &SharedLocation) -> u32 {
    let Some(object) = program.objects.get(location.cell.object) else { return 0 };
    let storage = match object.storage {
        Storage::Static => 0,
        Storage::Site => 5,
        Storage::Frame(_) => 6,
        Storage::ThreadLocal => 8,
    };
    let array = if location.cell.stride > 0 { 2 } else { 0 };
    // Touched by copies of whole objects only, mostly text.
    let bulk = if location.size == 0 || location.size > 16 { 2 } else { 0 };
    let file = program.files.get(object.span.file as usize).map_or("", String::as_str);
    let is_library = object.span.line == 0
        || file.starts_with('<')
        || file.starts_with("/usr/")
        || object.name.starts_with("__")
        // No write to a literal is allowed, so the pointer is imprecise.
        || object.name.starts_with('"')
        || object.name.contains(['(', ' ']) && object.storage == Storage::Static;
    let waits = location.accesses.iter().any(|access| is_waiting(program, access));
    storage + array + bulk + if is_library { 20 } else { 0 } + if waits { 10 } else { 0 }
}

/// Whether an access belongs to the inside of a synchronisation object.
fn is_waiting(program: &Program, access: &LocationAccess) -> bool {
    let Some(code) = program.templates.get(access.template) else { return false };
    let Some(location) = code.edges.get(access.edge).and_then(|edge| code.locations.get(edge.source)) else {
        return false;
    };
    match location.waiting {
        Waiting::For(
            SharedObject::Semaphore | SharedObject::Condition | SharedObject::Barrier | SharedObject::Once,
        ) => true,
        Waiting::Nothing | Waiting::Spurious | Waiting::Tracked | Waiting::Racing => false,
        Waiting::Returned | Waiting::Exited => false,
    }
}
