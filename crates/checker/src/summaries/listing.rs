//! What is known of each shared memory location: the listing of a whole program ([`verdict::Locations`]).
//!
//! A location is a set of bytes of an object that scalar accesses touch; those that may overlap are one location. Elements of an array are one location with a stride, as points-to sets see
//! them. Accesses to many bytes at once (copies, fills, frees) belong to each location that they meet, and make one of their own where they meet none.
//! A location is shared if two threads may access it, and one may write.

use super::locks::Locks;
use super::races::{Accesses, Source, Spot, why_not};
use super::regions::{Meeting, meeting};
use super::view::{Meter, View};
use crate::ProofError;
use ir::{ObjectId, Op, Target, TemplateId};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{LocationAccess, LocationStatus, Locations, Reached, SharedLocation, WhyNoRace};

/// Accesses of more bytes than this are no scalar ones.
const SCALAR: u64 = 16;
/// At most so many steps that make the same kind of access are listed in open pairs.
const MOST_STEPS: usize = 16;

/// Lists the shared locations of a program whose annotation was checked.
pub fn list(
    view: &View<'_>,
    locks: &Locks<'_, '_>,
    accesses: &Accesses,
    meter: &mut Meter<'_>,
) -> Result<Locations, ProofError> {
    let lister = Lister { view, locks, accesses };
    let mut locations = Vec::new();
    for (object, spots) in accesses.by_object.enumerate() {
        if view.private[object] || spots.is_empty() {
            continue;
        }
        let spots: Vec<Spot> = spots.keys().copied().collect();
        for cell in cells(view, object, &spots, meter)? {
            locations.extend(lister.location(object, &cell, meter)?);
        }
    }
    locations.sort_by_key(|location| location.cell);
    Ok(Locations { locations, reached: reached(view) })
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
    let mut whole: Vec<Spot> = Vec::new();
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
            whole.push(*spot);
        }
    }
    if !whole.is_empty() {
        let target = Target { object, first: 0, stride: 0, count: 1 };
        found.push(Cell { target, size: view.program.objects[object].size, spots: whole });
    }
    Ok(found)
}

struct Lister<'l, 'v, 'a> {
    view: &'l View<'a>,
    locks: &'l Locks<'v, 'a>,
    accesses: &'l Accesses,
}

impl Lister<'_, '_, '_> {
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

    /// A location, if it is shared.
    fn location(
        &self,
        object: ObjectId,
        cell: &Cell,
        meter: &mut Meter<'_>,
    ) -> Result<Option<SharedLocation>, ProofError> {
        let (view, spots) = (self.view, &self.accesses.by_object[object]);
        let sources = |spot: &Spot| spots.get(spot).into_iter().flatten();
        // By spot and manner; operations on locks alone make no location.
        let mut present: Vec<(Spot, usize, &Vec<Source>)> = Vec::new();
        for spot in &cell.spots {
            present.extend(sources(spot).map(|(manner, sources)| (*spot, *manner, sources)));
        }
        let is_lock = |source: &Source| {
            let template = view.proof.contexts[source.context].template;
            let ops = &view.program.templates[template].edges[source.edge].ops;
            ops.iter().any(|op| matches!(op, Op::Lock(..) | Op::Unlock(..)))
        };
        if present.iter().all(|(_, _, sources)| sources.iter().all(is_lock)) {
            return Ok(None);
        }
        let kinds: BTreeSet<TemplateId> =
            present.iter().map(|(_, manner, _)| self.accesses.manners[*manner].standing.kind).collect();
        let is_written = present.iter().any(|(_, manner, _)| self.accesses.manners[*manner].write);
        let is_shared = kinds.len() > 1 || kinds.iter().any(|kind| !view.once[*kind]);
        if !is_written || !is_shared {
            return Ok(None);
        }
        let mut listed: BTreeMap<LocationAccess, usize> = BTreeMap::new();
        for (_, manner, sources) in &present {
            for source in *sources {
                meter.tick()?;
                listed.insert(self.access(source, *manner), 0);
            }
        }
        listed.values_mut().enumerate().for_each(|(number, place)| *place = number);
        let number = |source: &Source, manner: usize| listed.get(&self.access(source, manner)).copied();
        let mut reasons: BTreeSet<WhyNoRace> = BTreeSet::new();
        let mut open: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (index, (spot, one, sources)) in present.iter().enumerate() {
            for (other_spot, other, other_sources) in present.iter().skip(index) {
                meter.tick()?;
                let how = meeting(&spot.target, spot.bytes, &other_spot.target, other_spot.bytes);
                let (first, second) = (&self.accesses.manners[*one], &self.accesses.manners[*other]);
                if how == Meeting::Never || !(first.write || second.write) {
                    continue;
                }
                match why_not(view, (spot, first), (other_spot, second), how) {
                    // No two threads.
                    Ok(WhyNoRace::OneThread) => {}
                    Ok(why) => {
                        reasons.insert(why);
                    }
                    Err(()) => {
                        for source in sources.iter().take(MOST_STEPS) {
                            for other_source in other_sources.iter().take(MOST_STEPS) {
                                let pair = (number(source, *one), number(other_source, *other));
                                if let (Some(one), Some(other)) = pair {
                                    open.insert((one.min(other), one.max(other)));
                                }
                            }
                        }
                    }
                }
            }
        }
        let status = if open.is_empty() {
            LocationStatus::RaceFree(reasons.into_iter().collect())
        } else {
            LocationStatus::Open(open.into_iter().collect())
        };
        let accesses = listed.into_keys().collect();
        Ok(Some(SharedLocation { cell: cell.target, size: cell.size, accesses, status }))
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
    Reached { functions: (functions.len(), program.templates.len()), thread_starts: (starts.len(), all) }
}
