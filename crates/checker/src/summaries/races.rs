//! Whether two accesses race: all accesses to the same bytes, compared by what is known where they are made.
//!
//! Accesses are put together by the cell that they touch and by what counts in the comparison, so that the
//! number of comparisons does not depend on how often a cell is accessed in the same way.

use super::integers::Integers;
use super::local_values::LocalValues;
use super::locks::Locks;
use super::owned::root;
use super::regions::{Meeting, meeting};
use super::started::{KnownRange, KnownRow, Listed, is_none, linear, placed};
use super::symbols::{Anchor, Symbol, Values, mask};
use super::view::{Meter, Standing, Touch, View};
use super::words::Words;
use crate::ProofError;
use ir::{EdgeId, IdVec, LocationId, Object, ObjectId, ObjectRole, Op, Storage, Target, TemplateId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::mem::discriminant;
use verdict::{LockBase, LockFact, ThreadFacts, WhyNoRace};

/// How a lock that is held is named in comparisons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum LockName {
    /// A byte of an object that there is one of.
    Exact(ObjectId, u64),
    /// So far from the access.
    Away(u64),
    /// So far from the value of a word in an object that there is one of.
    ThroughExact(ObjectId, u64, u64),
    /// So far from the value of a word that is so far from the access.
    ThroughAway(u64, u64),
}

/// What counts when an access is compared with another one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Manner {
    /// Who makes it.
    pub standing: Standing,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Whether it is to an object that the thread owns.
    pub own: bool,
    /// The locks that are held, and whether for reading only; with the fact for people.
    locks: Vec<(LockName, bool, LockFact)>,
    /// How far the end of the access is from the thread's argument, if that is known.
    own_end: Option<u64>,
    /// The kinds of helpers of which none is alive that the thread has started itself.
    alone: Vec<TemplateId>,
    /// Kinds such that no thread of them that is alive, or that the thread has started itself, has an
    /// argument in whose element the access is: with the distance of their arguments.
    apart: Vec<(Listed, u64)>,
}

/// Where accesses are: offsets of an object, and how many bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Spot {
    /// The offsets.
    pub target: Target,
    /// The bytes at each; `None` where that is not known.
    pub bytes: Option<u64>,
}

/// A step that makes an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Source {
    /// The context.
    pub context: usize,
    /// The edge.
    pub edge: EdgeId,
}

/// All accesses of a program, by what they touch.
#[derive(Default)]
pub struct Accesses {
    /// What counts in comparisons, by number.
    pub manners: Vec<Manner>,
    /// The steps that access the same places in the same manner. Each group has one at least.
    pub groups: Vec<Vec<Source>>,
    /// For each object and each spot in it: the manners of accesses there, each with the groups of steps that
    /// make them, by number.
    pub by_object: IdVec<ObjectId, BTreeMap<Spot, BTreeMap<usize, Vec<usize>>>>,
}

/// What the steps of a group have in common.
struct GroupPlaces<'v, 'p> {
    touch: &'v Touch<'p>,
    manner: usize,
    /// The operation that writes there.
    op: Option<&'p Op>,
    /// The objects that threads of this kind may touch by it, by number, where more is known of them.
    limit: Option<usize>,
}

/// Whether all that each context does is in an atomic region.
fn atomic_contexts(view: &View<'_>) -> Vec<bool> {
    // The largest set that is closed: a context leaves it when it is entered from outside of atomic regions.
    let mut atomic: Vec<bool> = view
        .contexts()
        .map(|(number, context)| number >= view.program.start.len() && !context.facts.is_empty())
        .collect();
    loop {
        let mut changed = false;
        for (number, context) in view.contexts() {
            let code = &view.program.templates[context.template];
            for (edge, _, callee) in &context.calls {
                let Some(step) = code.edges.get(*edge) else { continue };
                let is_call = matches!(step.ops.last(), Some(Op::Call(..)));
                // While a callee runs, its caller is where it will return to.
                let inside = is_call && (atomic[number] || code.locations[step.target].atomic);
                let callee = *callee as usize;
                if !inside && atomic[callee] && view.facts(number, step.source).is_some() {
                    atomic[callee] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return atomic;
        }
    }
}

impl Accesses {
    /// Collects the accesses of all steps that are taken in some context.
    pub fn of(
        view: &View<'_>,
        (locks, words): (&Locks<'_, '_>, &Words<'_, '_>),
        meter: &mut Meter<'_>,
    ) -> Result<Self, ProofError> {
        let atomic = atomic_contexts(view);
        let mut accesses = Self {
            manners: Vec::new(),
            groups: Vec::new(),
            by_object: view.program.objects.iter().map(|_| BTreeMap::new()).collect(),
        };
        let mut numbers: FxHashMap<Manner, usize> = FxHashMap::default();
        // Points-to sets are shared, and long: those that are one list are looked through once.
        let mut known = FxHashMap::default();
        let mut places: Vec<GroupPlaces<'_, '_>> = Vec::new();
        let mut local_values = LocalValues::of(view, meter)?;
        for (number, context) in view.contexts() {
            let code = &view.program.templates[context.template];
            for (edge, footprint) in view.steps[context.template].enumerate() {
                meter.tick()?;
                let source = code.edges[edge].source;
                let Some(facts) = view.facts(number, source) else { continue };
                if footprint.touches.is_empty() {
                    continue;
                }
                let seat =
                    Seat { view, locks, words, context: number, template: context.template, source, facts };
                let in_region = atomic[number] || code.locations[source].atomic;
                let values = Values::of(view.program, context.template, facts);
                for touch in &footprint.touches {
                    let manner = seat.manner(&values, touch, in_region)?;
                    let next = accesses.manners.len();
                    let manner = *numbers.entry(manner.clone()).or_insert_with(|| {
                        accesses.manners.push(manner);
                        next
                    });
                    let op = code.edges[edge].ops.get(touch.op).filter(|_| touch.write);
                    let who = (context.template, context.kind);
                    let limit = local_values.touched(who, touch)?;
                    let key = (touch.places(), manner, op.map(discriminant), limit);
                    let group = *known.entry(key).or_insert_with(|| {
                        places.push(GroupPlaces { touch, manner, op, limit });
                        accesses.groups.push(Vec::new());
                        places.len() - 1
                    });
                    let step = Source { context: number, edge };
                    let sources = &mut accesses.groups[group];
                    if sources.last() != Some(&step) {
                        sources.push(step);
                    }
                }
            }
        }
        for (group, GroupPlaces { touch, manner, op, limit }) in places.into_iter().enumerate() {
            meter.tick()?;
            let may_touch =
                |object: ObjectId| limit.is_none_or(|limit| local_values.is_listed(limit, object));
            for target in touch.region.iter().filter(|target| counts(view, target, touch.bytes)) {
                if !may_touch(target.object) {
                    continue;
                }
                if op.is_some_and(|op| never_writes(op, &view.program.objects[target.object])) {
                    continue;
                }
                let spot = Spot { target: *target, bytes: touch.bytes };
                let spots = accesses.by_object[target.object].entry(spot).or_default();
                let groups = spots.entry(manner).or_default();
                if groups.last() != Some(&group) {
                    groups.push(group);
                }
            }
        }
        Ok(accesses)
    }
}

/// Whether an operation never writes to an object of this kind; the same for operations of one variant.
/// Assignments, fills, copies and operations on locks do not reach constants ([`ObjectRole::Constant`]). What
/// is given back and was not allocated is a fault, and no access precedes it.
fn never_writes(op: &Op, object: &Object) -> bool {
    match op {
        Op::Assign(_)
        | Op::Fill(..)
        | Op::Copy(..)
        | Op::Lock(..)
        | Op::Unlock(..)
        | Op::Spawn(..)
        | Op::Join(..)
        | Op::Call(..) => object.role == ObjectRole::Constant,
        Op::Free(_) => match object.storage {
            Storage::Static | Storage::ThreadLocal | Storage::Frame(_) => true,
            Storage::Site => false,
        },
        Op::Assume(_) | Op::Allocate { .. } | Op::Broadcast(_) => false,
    }
}

/// Whether races on some bytes count.
fn counts(view: &View<'_>, target: &Target, bytes: Option<u64>) -> bool {
    view.program.races_on.as_ref().is_none_or(|ranges| {
        ranges.iter().any(|range| {
            let counted = Target { object: range.object, first: range.offset, stride: 0, count: 1 };
            meeting(target, bytes, &counted, Some(range.size)) != Meeting::Never
        })
    })
}

/// A location whose steps are looked at.
struct Seat<'s, 'v, 'a> {
    view: &'s View<'a>,
    locks: &'s Locks<'v, 'a>,
    words: &'s Words<'v, 'a>,
    context: usize,
    template: TemplateId,
    source: LocationId,
    facts: &'a ThreadFacts,
}

impl Seat<'_, '_, '_> {
    fn manner(&self, values: &Values<'_>, touch: &Touch<'_>, in_region: bool) -> Result<Manner, ProofError> {
        let (view, facts) = (self.view, self.facts);
        // What stands after other operations of the edge may be computed from locals that they change.
        let address = if touch.op == 0 { values.eval(touch.address) } else { None };
        let own = touch.op == 0
            && !facts.fresh.is_empty()
            && root(view, self.template, touch.address)?
                .is_some_and(|local| facts.fresh.binary_search(&local).is_ok());
        let mut locks = Vec::new();
        for (number, lock) in facts.locks.iter().enumerate() {
            if !self.locks.is_usable(self.context, self.source, number) {
                continue;
            }
            if let Some((object, offset)) = self.exact(lock.base, lock.offset)? {
                locks.push((LockName::Exact(object, offset), lock.shared, *lock));
            }
            let at = values.lock(lock.base, lock.offset);
            if let Some(address) = address.filter(|address| address.anchor == at.anchor) {
                let away = at.offset.wrapping_sub(address.offset) & mask(view.program);
                locks.push((LockName::Away(away), lock.shared, *lock));
            }
            self.through_words(values, (lock, at), address, &mut locks)?;
        }
        locks.sort_unstable();
        locks.dedup();
        let standing = view.standing(self.context, self.source);
        let end = |offset: u64| offset.checked_add(touch.bytes?);
        let own_end = address.filter(|address| address.anchor == Anchor::Argument);
        let own_end = own_end.and_then(|address| end(address.offset));
        let mut apart = Vec::new();
        let is_known = touch.op == 0 && !facts.started.is_empty();
        let scope = view.scope(self.template);
        let integers = Integers::of(scope, facts);
        let placed = placed(values, &integers, facts, mask(view.program));
        let address = linear(scope, values, &integers, &placed, touch.address);
        for started in facts.started.iter().filter(|_| is_known) {
            let mut stride: Option<u64> = None;
            let mut is_apart = !started.members.is_empty();
            for members in &started.members {
                let element = members.argument.zip(address).and_then(|(row, address)| {
                    let row = KnownRow { start: values.lock(row.base, row.offset), stride: row.stride };
                    row.element(&address, mask(view.program))
                });
                let Some(((number, offset), row)) = element.zip(members.argument) else {
                    is_apart = false;
                    break;
                };
                let index = |index: &verdict::Index| integers.index(*index);
                let range = KnownRange {
                    handles: Vec::new(),
                    argument: None,
                    from: members.from.iter().map(index).collect(),
                    below: members.below.iter().map(index).collect(),
                };
                is_apart &= range.is_outside(&integers, number);
                is_apart &= end(offset).is_some_and(|end| end <= row.stride);
                is_apart &= stride.is_none_or(|stride| stride == row.stride);
                stride = Some(row.stride);
            }
            let list = (started.kind, started.own);
            apart.extend(stride.filter(|_| is_apart).map(|stride| (list, stride)));
        }
        let is_helper =
            |kind: &TemplateId| touch.region.iter().any(|target| view.helpers[target.object].contains(kind));
        let alone = facts.started.iter().filter(|started| is_none(started)).map(|started| started.kind);
        let alone = alone.filter(is_helper).collect();
        let atomic = touch.atomic || in_region;
        Ok(Manner { standing, write: touch.write, atomic, own, locks, own_end, alone, apart })
    }

    /// The names of a lock by words that hold its address, or one that is so far from it.
    fn through_words(
        &self,
        values: &Values<'_>,
        (lock, at): (&LockFact, Symbol),
        access: Option<Symbol>,
        found: &mut Vec<(LockName, bool, LockFact)>,
    ) -> Result<(), ProofError> {
        let mask = mask(self.view.program);
        for word in &self.facts.words {
            let value = values.lock(LockBase::Local(word.local), word.plus);
            if value.anchor != at.anchor || !self.words.is_usable(self.context, self.source, word)? {
                continue;
            }
            let plus = at.offset.wrapping_sub(value.offset) & mask;
            if let Some((object, offset)) = self.exact(word.base, word.offset)? {
                found.push((LockName::ThroughExact(object, offset, plus), lock.shared, *lock));
            }
            let place = values.lock(word.base, word.offset);
            if let Some(access) = access.filter(|access| access.anchor == place.anchor) {
                let away = place.offset.wrapping_sub(access.offset) & mask;
                found.push((LockName::ThroughAway(away, plus), lock.shared, *lock));
            }
        }
        Ok(())
    }

    /// The byte of a single object that an address surely is.
    fn exact(&self, base: LockBase, offset: u64) -> Result<Option<(ObjectId, u64)>, ProofError> {
        if let LockBase::Object(object) = base {
            return Ok(Some((object, offset)));
        }
        let region = self.view.lock_region(self.template, base, offset)?;
        Ok(match &region[..] {
            [Target { object, first, count: 1, .. }] if self.view.is_single(*object) => {
                Some((*object, *first))
            }
            _ => None,
        })
    }
}

/// Why two accesses at two spots of an object do not race; `Err` when they may.
pub fn why_not(
    view: &View<'_>,
    (spot, one): (&Spot, &Manner),
    (other_spot, other): (&Spot, &Manner),
    how: Meeting,
) -> Result<WhyNoRace, ()> {
    let object = spot.target.object;
    debug_assert_eq!(object, other_spot.target.object, "spots of one object are compared");
    if one.atomic && other.atomic {
        return Ok(WhyNoRace::Atomic);
    }
    if let Some(why) = view.are_apart(one.standing, other.standing) {
        return Ok(why);
    }
    if view.private[object] {
        return Ok(WhyNoRace::Private);
    }
    if (one.own || other.own) && view.program.unordered.is_empty() {
        return Ok(WhyNoRace::NotPublished);
    }
    if view.program.unordered.is_empty() {
        if one.standing.kind == other.standing.kind && view.is_alone(one.standing.kind, object) {
            return Ok(WhyNoRace::Order);
        }
        let is_within = |manner: &Manner, bytes: u64| manner.own_end.is_some_and(|end| end <= bytes);
        let distinct = view.proof.distinct.iter().find(|(kind, _)| *kind == one.standing.kind);
        if let Some((_, bytes)) = distinct.filter(|_| one.standing.kind == other.standing.kind)
            && is_within(one, *bytes)
            && is_within(other, *bytes)
        {
            return Ok(WhyNoRace::Private);
        }
        // In an object of a team, only helpers that the thread has started itself count.
        let has_helper = |one: &Manner, other: &Manner| {
            one.standing.kind != other.standing.kind && view.helpers[object].contains(&other.standing.kind)
        };
        let is_elsewhere = |one: &Manner, other: &Manner| {
            let mut lists = one.apart.iter().filter(|((kind, _), _)| *kind == other.standing.kind);
            lists.any(|((_, own), stride)| (!own || has_helper(one, other)) && is_within(other, *stride))
        };
        if is_elsewhere(one, other) || is_elsewhere(other, one) {
            return Ok(WhyNoRace::Private);
        }
        let mut teams = view.proof.teams.iter().filter(|team| {
            team.helper == one.standing.kind
                && team.helper == other.standing.kind
                && view.helpers[object].contains(&team.helper)
        });
        if teams.any(|team| is_within(one, team.apart) && is_within(other, team.apart)) {
            return Ok(WhyNoRace::Private);
        }
        if view.are_of_two_teams(object, one.standing.kind, other.standing.kind) {
            return Ok(WhyNoRace::Private);
        }
        // A thread and a helper of its team, where it has none.
        let is_alone =
            |one: &Manner, other: &Manner| has_helper(one, other) && one.alone.contains(&other.standing.kind);
        if is_alone(one, other) || is_alone(other, one) {
            return Ok(WhyNoRace::Order);
        }
    }
    for (name, shared, fact) in &one.locks {
        let fits = match name {
            LockName::Exact(..) | LockName::ThroughExact(..) => true,
            LockName::Away(_) | LockName::ThroughAway(..) => how == Meeting::SameStart,
        };
        let both = |(other_name, other_shared, _): &(LockName, bool, LockFact)| {
            other_name == name && !(*shared && *other_shared)
        };
        if fits && other.locks.iter().any(both) {
            return Ok(WhyNoRace::Lock(*fact));
        }
    }
    Err(())
}

/// Two spots of an object with manners that may race.
pub struct Pair {
    /// The first.
    pub one: (Spot, usize),
    /// The second.
    pub other: (Spot, usize),
}

/// The first two accesses that may race.
pub fn open_pair(
    view: &View<'_>,
    accesses: &Accesses,
    meter: &mut Meter<'_>,
) -> Result<Option<Pair>, ProofError> {
    for spots in accesses.by_object.iter() {
        for (index, (spot, manners)) in spots.iter().enumerate() {
            for (other_spot, other_manners) in spots.iter().skip(index) {
                meter.tick()?;
                let how = meeting(&spot.target, spot.bytes, &other_spot.target, other_spot.bytes);
                if how == Meeting::Never {
                    continue;
                }
                for one in manners.keys() {
                    for other in other_manners.keys() {
                        meter.tick()?;
                        let (first, second) = (&accesses.manners[*one], &accesses.manners[*other]);
                        if (first.write || second.write)
                            && why_not(view, (spot, first), (other_spot, second), how).is_err()
                        {
                            let (one, other) = ((*spot, *one), (*other_spot, *other));
                            return Ok(Some(Pair { one, other }));
                        }
                    }
                }
            }
        }
    }
    Ok(None)
}
