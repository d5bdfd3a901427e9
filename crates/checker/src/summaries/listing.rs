//! What is known of each shared memory location: the listing of a whole program ([`verdict::Locations`]).
//!
//! A location is a set of bytes of an object that scalar accesses touch; those that may overlap are one
//! location. Elements of an array are one location with a stride, as points-to sets see them. Accesses to
//! many bytes at once (copies, fills, frees) belong to each location that they meet, and make one of their
//! own where they meet none. A location is shared if two threads may access it, and one may write.

use super::locks::Locks;
use super::races::{Accesses, Source, Spot, why_not};
use super::regions::{Meeting, meeting};
use super::view::{Meter, View};
use crate::ProofError;
use ir::{ObjectId, ObjectRole, Op, Target, TemplateId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use verdict::{LocationAccess, LocationStatus, Locations, Reached, SharedLocation, WhyNoRace};

/// Accesses of more bytes than this are no scalar ones.
const SCALAR: u64 = 16;
/// At most so many steps that make the same kind of access are listed in open pairs.
const MOST_STEPS: usize = 16;
/// About so many pairs of kinds of accesses are looked for where a location is open, and at most so many
/// pairs of steps are listed of them.
const MOST_OPEN: usize = 2_048;
const MOST_PAIRS: usize = 4_096;
/// About so many accesses are listed of a location.
const MOST_ACCESSES: usize = 128;

/// Lists the shared locations of a program whose annotation was checked. What was not compared in time is
/// open, without pairs.
pub fn list(
    view: &View<'_>,
    locks: &Locks<'_, '_>,
    accesses: &Accesses,
    meter: &mut Meter<'_>,
) -> Result<Locations, ProofError> {
    // What stands for no memory of the program is not listed.
    let is_memory = |id: ObjectId| match view.program.objects[id].role {
        ObjectRole::Given | ObjectRole::HandedOn => false,
        ObjectRole::Program | ObjectRole::Processor | ObjectRole::HandlerLevel => true,
        ObjectRole::AddressOrder | ObjectRole::Constant | ObjectRole::Open => true,
        ObjectRole::Allocated | ObjectRole::Automatic => true,
    };
    // Operations on locks alone make no location.
    let is_lock = |source: &Source| {
        let template = view.proof.contexts[source.context].template;
        let ops = &view.program.templates[template].edges[source.edge].ops;
        ops.iter().any(|op| matches!(op, Op::Lock(..) | Op::Unlock(..)))
    };
    let are_locks = accesses.groups.iter().map(|sources| sources.iter().all(is_lock)).collect();
    let mut lister = Lister { view, locks, accesses, are_locks, listed: ListedAccesses::default() };
    let objects = accesses.by_object.enumerate();
    let objects = objects.filter(|(id, spots)| !view.private[*id] && is_memory(*id) && !spots.is_empty());
    let mut objects: Vec<ObjectId> = objects.map(|(id, _)| id).collect();
    // What takes long comes last.
    let steps = |spots: &BTreeMap<usize, Vec<usize>>| {
        spots.values().flatten().map(|group| accesses.groups[*group].len()).sum::<usize>()
    };
    objects.sort_by_cached_key(|object| accesses.by_object[*object].values().map(steps).sum::<usize>());
    let mut locations = Vec::new();
    let mut is_late = false;
    for object in objects {
        let spots: Vec<Spot> = accesses.by_object[object].keys().copied().collect();
        let parts = if is_late { None } else { in_time(cells(view, object, &spots, meter))? };
        let parts = parts.unwrap_or_else(|| {
            is_late = true;
            vec![whole(view, object, spots)]
        });
        for cell in parts {
            let found = if is_late { None } else { in_time(lister.location(object, &cell, meter))? };
            locations.extend(found.unwrap_or_else(|| {
                is_late = true;
                lister.late(object, &cell)
            }));
        }
    }
    locations.sort_by_key(|location| location.cell);
    Ok(Locations { locations, reached: reached(view) })
}

/// `None` when the time is over.
fn in_time<T>(result: Result<T, ProofError>) -> Result<Option<T>, ProofError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(ProofError::TooExpensive(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Some bytes, and the accesses that may touch them.
struct Cell {
    target: Target,
    size: u64,
    spots: Vec<Spot>,
}

fn is_scalar(spot: &Spot) -> bool {
    spot.bytes.is_some_and(|bytes| bytes <= SCALAR)
}

/// The locations of an object, by the accesses to it.
fn cells(
    view: &View<'_>,
    object: ObjectId,
    spots: &[Spot],
    meter: &mut Meter<'_>,
) -> Result<Vec<Cell>, ProofError> {
    let meets = |one: &Spot, other: &Spot| {
        meeting(&one.target, one.bytes, &other.target, other.bytes) != Meeting::Never
    };
    let mut groups: Vec<Vec<Spot>> = Vec::new();
    for spot in spots.iter().filter(|spot| is_scalar(spot)) {
        let mut joined = vec![*spot];
        let mut apart = Vec::new();
        for group in groups {
            meter.tick()?;
            if group.iter().any(|other| meets(spot, other)) {
                joined.extend(group);
            } else {
                apart.push(group);
            }
        }
        apart.push(joined);
        groups = apart;
    }
    let mut found: Vec<Cell> = Vec::new();
    for group in groups {
        // The one with the most elements, then the first.
        let best = group.iter().min_by_key(|spot| (std::cmp::Reverse(spot.target.count), spot.target.first));
        let Some(best) = best else { continue };
        let size = group.iter().filter_map(|spot| spot.bytes).max().unwrap_or(0);
        found.push(Cell { target: best.target, size, spots: group.clone() });
    }
    let mut rest: Vec<Spot> = Vec::new();
    for spot in spots.iter().filter(|spot| !is_scalar(spot)) {
        let mut is_known = false;
        for cell in &mut found {
            meter.tick()?;
            if cell.spots.iter().any(|other| meets(spot, other)) {
                cell.spots.push(*spot);
                is_known = true;
            }
        }
        if !is_known {
            rest.push(*spot);
        }
    }
    if !rest.is_empty() {
        found.push(whole(view, object, rest));
    }
    Ok(found)
}

/// All bytes of an object.
fn whole(view: &View<'_>, object: ObjectId, spots: Vec<Spot>) -> Cell {
    let target = Target { object, first: 0, stride: 0, count: 1 };
    Cell { target, size: view.program.objects[object].size, spots }
}

struct Lister<'l, 'v, 'a> {
    view: &'l View<'a>,
    locks: &'l Locks<'v, 'a>,
    accesses: &'l Accesses,
    /// For each group of steps, whether all of them take or give back locks.
    are_locks: Vec<bool>,
    listed: ListedAccesses,
}

/// Accesses as they are listed, each once: an access through a pointer belongs to many locations.
#[derive(Default)]
struct ListedAccesses {
    all: Vec<LocationAccess>,
    numbers: FxHashMap<LocationAccess, usize>,
    /// The accesses of each group of steps that was looked at, in order.
    of_groups: FxHashMap<usize, Arc<[usize]>>,
    /// Their places in the location that is looked at.
    places: Vec<usize>,
}

impl ListedAccesses {
    fn number(&mut self, access: LocationAccess) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(access).or_insert_with_key(|access| {
            self.all.push(access.clone());
            next
        });
        self.places.resize(self.all.len(), 0);
        number
    }
}

/// Accesses to a location of one kind: where, how, and the steps that make them, as they are listed.
struct Present {
    spot: Spot,
    manner: usize,
    steps: Vec<usize>,
}

/// Why accesses do not race, and the pairs of them that may, by their places in a list.
type Comparison = (BTreeSet<WhyNoRace>, Vec<(usize, usize)>);

impl Lister<'_, '_, '_> {
    /// The numbers of the accesses of a group of steps as they are listed, in order.
    fn numbers(
        &mut self,
        group: usize,
        manner: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Arc<[usize]>, ProofError> {
        if let Some(known) = self.listed.of_groups.get(&group) {
            meter.tick()?;
            return Ok(known.clone());
        }
        let accesses = self.accesses;
        let mut numbers = Vec::new();
        for source in &accesses.groups[group] {
            meter.tick()?;
            let access = self.access(source, manner);
            numbers.push(self.listed.number(access));
        }
        numbers.sort_unstable();
        numbers.dedup();
        let numbers: Arc<[usize]> = numbers.into();
        self.listed.of_groups.insert(group, numbers.clone());
        Ok(numbers)
    }

    /// An access as it is listed.
    fn access(&self, source: &Source, manner: usize) -> LocationAccess {
        let view = self.view;
        let context = &view.proof.contexts[source.context];
        let at = view.program.templates[context.template].edges[source.edge].source;
        let facts = view.facts(source.context, at).into_iter().flat_map(|facts| &facts.locks).enumerate();
        let usable = facts.filter(|(number, _)| self.locks.is_usable(source.context, at, *number));
        let manner = &self.accesses.manners[manner];
        LocationAccess {
            template: context.template,
            edge: source.edge,
            kind: context.kind,
            write: manner.write,
            atomic: manner.atomic,
            locks: usable.map(|(_, lock)| *lock).collect(),
        }
    }

    /// Whether some bytes may be accessed by two threads, one of which writes.
    fn is_shared(&self, object: ObjectId, cell: &Cell) -> bool {
        let (view, accesses) = (self.view, self.accesses);
        let manners = |spot: &Spot| accesses.by_object[object].get(spot).into_iter().flatten();
        let all = || cell.spots.iter().flat_map(manners);
        if all().all(|(_, groups)| groups.iter().all(|group| self.are_locks[*group])) {
            return false;
        }
        let kinds: BTreeSet<TemplateId> =
            all().map(|(manner, _)| accesses.manners[*manner].standing.kind).collect();
        let is_written = all().any(|(manner, _)| accesses.manners[*manner].write);
        is_written && (kinds.len() > 1 || kinds.iter().any(|kind| !view.once[*kind]))
    }

    /// A location that was not looked at in time, with some of its accesses, if it is shared.
    fn late(&mut self, object: ObjectId, cell: &Cell) -> Option<SharedLocation> {
        if !self.is_shared(object, cell) {
            return None;
        }
        let spots = &self.accesses.by_object[object];
        let mut found: BTreeSet<LocationAccess> = BTreeSet::new();
        for (manner, groups) in
            cell.spots.iter().filter_map(|spot| spots.get(spot)).flatten().take(MOST_ACCESSES)
        {
            let source = groups.first().and_then(|group| self.accesses.groups[*group].first());
            found.extend(source.map(|source| self.access(source, *manner)));
        }
        let (accesses, status) = (found.into_iter().collect(), LocationStatus::Open(Vec::new()));
        Some(SharedLocation { cell: cell.target, size: cell.size, accesses, more: 0, status })
    }

    /// A location, if it is shared.
    fn location(
        &mut self,
        object: ObjectId,
        cell: &Cell,
        meter: &mut Meter<'_>,
    ) -> Result<Option<SharedLocation>, ProofError> {
        if !self.is_shared(object, cell) {
            return Ok(None);
        }
        let mut present: Vec<Present> = Vec::new();
        for spot in &cell.spots {
            for (manner, groups) in self.accesses.by_object[object].get(spot).into_iter().flatten() {
                let mut steps = Vec::new();
                for group in groups {
                    steps.extend(self.numbers(*group, *manner, meter)?.iter());
                }
                steps.sort_unstable();
                steps.dedup();
                present.push(Present { spot: *spot, manner: *manner, steps });
            }
        }
        let (reasons, open) = self.compare(&present, meter)?;
        let mut all: Vec<usize> = present.iter().flat_map(|present| &present.steps).copied().collect();
        all.sort_unstable();
        all.dedup();
        let is_open = !open.is_empty();
        let pairs = self.pairs(&present, open);
        let mut shown: Vec<usize> = pairs.iter().flat_map(|(one, other)| [*one, *other]).collect();
        shown.sort_unstable();
        shown.dedup();
        let mut others: Vec<usize> =
            all.iter().copied().filter(|step| shown.binary_search(step).is_err()).collect();
        others.sort_by_cached_key(|step| self.width(*step));
        others.truncate(MOST_ACCESSES.saturating_sub(shown.len()));
        shown.extend(others);
        let listed = &mut self.listed;
        shown.sort_by(|one, other| listed.all[*one].cmp(&listed.all[*other]));
        shown.iter().enumerate().for_each(|(place, number)| listed.places[*number] = place);
        let status = if !is_open {
            LocationStatus::RaceFree(reasons.into_iter().collect())
        } else {
            let places = pairs.iter().map(|(one, other)| (listed.places[*one], listed.places[*other]));
            let mut places: Vec<(usize, usize)> =
                places.map(|(one, other)| (one.min(other), one.max(other))).collect();
            places.sort_unstable();
            places.dedup();
            LocationStatus::Open(places)
        };
        let accesses = shown.iter().map(|number| listed.all[*number].clone()).collect();
        let more = all.len() - shown.len();
        Ok(Some(SharedLocation { cell: cell.target, size: cell.size, accesses, more, status }))
    }

    /// How many places the step of a listed access may access.
    fn width(&self, access: usize) -> usize {
        let LocationAccess { template, edge, .. } = &self.listed.all[access];
        let touches = &self.view.steps[*template][*edge].touches;
        touches.iter().map(|touch| touch.region.len()).max().unwrap_or(0)
    }

    /// Pairs of listed accesses that may race: not too many, first those through pointers of which more is
    /// known.
    fn pairs(&self, present: &[Present], mut open: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let width = |index: usize| present[index].steps.first().map_or(0, |step| self.width(*step));
        open.sort_by_cached_key(|(one, other)| (width(*one) + width(*other), *one, *other));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let mut known: FxHashSet<usize> = FxHashSet::default();
        for (one, other) in open {
            for step in present[one].steps.iter().take(MOST_STEPS) {
                for other_step in present[other].steps.iter().take(MOST_STEPS) {
                    let new = usize::from(!known.contains(step)) + usize::from(!known.contains(other_step));
                    if pairs.len() < MOST_PAIRS && known.len() + new <= MOST_ACCESSES {
                        known.extend([*step, *other_step]);
                        pairs.push((*step, *other_step));
                    }
                }
            }
        }
        pairs
    }

    /// Why accesses do not race, and the pairs of them that may, or many of these.
    fn compare(&self, present: &[Present], meter: &mut Meter<'_>) -> Result<Comparison, ProofError> {
        let mut reasons: BTreeSet<WhyNoRace> = BTreeSet::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        // Neighbours first: all kinds of accesses have a turn before many pairs are known.
        for distance in 0..present.len() {
            for (index, (one, other)) in present.iter().zip(&present[distance..]).enumerate() {
                meter.tick()?;
                let manners = &self.accesses.manners;
                let (first, second) = (&manners[one.manner], &manners[other.manner]);
                if !(first.write || second.write) {
                    continue;
                }
                let how = meeting(&one.spot.target, one.spot.bytes, &other.spot.target, other.spot.bytes);
                if how == Meeting::Never {
                    continue;
                }
                match why_not(self.view, (&one.spot, first), (&other.spot, second), how) {
                    // No two threads.
                    Ok(WhyNoRace::OneThread) => {}
                    Ok(why) => {
                        reasons.insert(why);
                    }
                    Err(()) => open.push((index, index + distance)),
                }
            }
            if open.len() >= MOST_OPEN {
                break;
            }
        }
        Ok((reasons, open))
    }
}

/// How much of the program some context reaches.
fn reached(view: &View<'_>) -> Reached {
    let program = view.program;
    let mut functions: BTreeSet<TemplateId> = BTreeSet::new();
    let mut starts: BTreeSet<(TemplateId, ir::EdgeId)> = BTreeSet::new();
    let is_start = |edge: &ir::Edge| edge.ops.iter().any(|op| matches!(op, Op::Spawn(..)));
    for (number, context) in view.contexts() {
        let code = &program.templates[context.template];
        if view.facts(number, code.entry).is_some() {
            functions.insert(context.template);
        }
        for (id, edge) in code.edges.enumerate() {
            if is_start(edge) && view.facts(number, edge.source).is_some() {
                starts.insert((context.template, id));
            }
        }
    }
    let all = program.templates.iter().flat_map(|code| &code.edges).filter(|edge| is_start(edge)).count();
    let counts = (program.functions(functions), program.functions(program.templates.ids()));
    Reached { functions: counts, thread_starts: (starts.len(), all) }
}
