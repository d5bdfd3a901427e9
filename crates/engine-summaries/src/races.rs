//! Which accesses may race, given the facts: those that may touch a common byte and that no rule keeps apart.
//!
//! Accesses that are alike in all that the rules look at are compared once. They are collected for each
//! object, and there for each *cell*: the bytes of accesses to known places that overlap. Accesses to
//! places in an object that are not known count for all its cells. Over-approximates races.

use crate::analysis::Analysis;
use crate::members::from_argument;
use crate::model::Access;
use crate::numbers::Numbers;
use crate::teams::is_none;
use crate::transfer::exact_cell;
use ir::passes::footprint::{Extent, Region};
use ir::{
    BinaryOp, EdgeId, Expr, IdVec, Object, ObjectId, ObjectRole, Op, Storage, Target, Targets, TemplateId,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use verdict::{Budget, Exhausted, LockBase, LockFact, ThreadFacts};

/// A lock as another thread can name it, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CommonLock {
    /// The byte of an object that there is one of.
    Cell(ObjectId, u64, bool),
    /// So far from the access.
    Distance(u64, bool),
    /// So far from where the word points that is in an object that there is one of.
    ThroughCell(ObjectId, u64, u64, bool),
    /// So far from where the word points that is so far from the access.
    ThroughWord(u64, u64, bool),
}

impl CommonLock {
    fn is_shared(self) -> bool {
        match self {
            Self::Cell(_, _, shared) | Self::Distance(_, shared) => shared,
            Self::ThroughCell(_, _, _, shared) | Self::ThroughWord(_, _, shared) => shared,
        }
    }
    fn unshared(self) -> Self {
        match self {
            Self::Cell(object, offset, _) => Self::Cell(object, offset, false),
            Self::Distance(distance, _) => Self::Distance(distance, false),
            Self::ThroughCell(object, offset, plus, _) => Self::ThroughCell(object, offset, plus, false),
            Self::ThroughWord(distance, plus, _) => Self::ThroughWord(distance, plus, false),
        }
    }
    fn is_same(self, other: Self) -> bool {
        self.unshared() == other.unshared()
    }
}

/// The cells of locks that there is one of, as far as they were asked for.
type SingleCells = FxHashMap<(TemplateId, LockBase, u64), Option<(ObjectId, u64)>>;

/// Accesses that are alike in all that matters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Alike {
    /// The kind of the threads that make them.
    pub kind: TemplateId,
    /// Whether they write.
    pub write: bool,
    /// Whether they are atomic.
    pub atomic: bool,
    /// Whether the thread owns the object.
    pub fresh: bool,
    /// The kinds that are absent.
    pub absent: Vec<TemplateId>,
    /// The locks that are held.
    pub locks: Vec<CommonLock>,
    /// The offset of the end of the access from the thread's argument.
    pub own_end: Option<u64>,
    /// The kinds of which none is alive that the thread has started itself.
    pub alone: Vec<TemplateId>,
    /// Kinds of which no thread that is alive, or none that the thread has started itself (`true`), has an
    /// argument with these bytes: with the distance of their arguments, and the offset of the end of the
    /// access from what would be one.
    pub others: Vec<(TemplateId, bool, u64, u64)>,
}

/// Accesses that are alike, with the first one.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What they are like.
    pub alike: Alike,
    /// The procedure of the first one.
    pub template: TemplateId,
    /// The step of the first one.
    pub edge: EdgeId,
    /// The locks as they are known there.
    pub locks: Vec<LockFact>,
}

/// Some bytes that two threads may access, and one may write.
#[derive(Clone, Debug)]
pub struct Location {
    /// Where.
    pub cell: Target,
    /// How many bytes.
    pub bytes: u64,
    /// Who accesses it.
    pub samples: Vec<Sample>,
    /// The pairs of accesses that may race.
    pub open: Vec<(usize, usize)>,
}

/// An access in an object.
struct InObject {
    target: Target,
    /// `None`: the whole object, or from somewhere on.
    bytes: Option<u64>,
    sample: usize,
    /// The procedure and the step of one of them.
    step: (TemplateId, EdgeId),
}

impl InObject {
    fn is_wide(&self) -> bool {
        self.bytes.is_none_or(|bytes| bytes > 64) || (self.target.count > 1 && self.target.stride < 4)
    }
    fn region(&self) -> Region {
        region_of(self.target, self.bytes)
    }
}

fn region_of(target: Target, bytes: Option<u64>) -> Region {
    Region { targets: Targets::Of(Arc::from([target])), extent: bytes.map_or(Extent::Object, Extent::Bytes) }
}

/// All locations that two threads may access and one may write, with the pairs of accesses that may race.
pub fn locations(analysis: &Analysis<'_, '_>, budget: &Budget) -> Result<Vec<Location>, Exhausted> {
    let collected = collect(analysis, budget)?;
    let mut found = Vec::new();
    for accesses in &collected.by_object {
        budget.check(0)?;
        for (cell, bytes, members) in cells(accesses) {
            let location = compare(analysis, &collected.samples, (cell, bytes), accesses, &members);
            found.extend(location);
        }
    }
    Ok(found)
}

struct Collected {
    samples: Vec<Sample>,
    by_object: IdVec<ObjectId, Vec<InObject>>,
}

fn collect(analysis: &Analysis<'_, '_>, budget: &Budget) -> Result<Collected, Exhausted> {
    let model = analysis.model;
    let program = model.program;
    let mut numbers: FxHashMap<Alike, usize> = FxHashMap::default();
    let mut samples: Vec<Sample> = Vec::new();
    let mut known: BTreeSet<(usize, u32, Option<u64>)> = BTreeSet::new();
    let mut by_object: IdVec<ObjectId, Vec<InObject>> = program.objects.iter().map(|_| Vec::new()).collect();
    let mut single = SingleCells::default();
    for number in analysis.reached() {
        budget.check(0)?;
        let context = &analysis.contexts[number as usize];
        let code = &program.templates[context.template];
        for (edge, accesses) in model.procedures[context.template].accesses.enumerate() {
            let Some(facts) = &context.facts[code.edges[edge].source] else { continue };
            for access in accesses {
                let touches_shared = match &access.places.targets {
                    Some(targets) => targets.iter().any(|target| !model.private[target.object]),
                    None => true,
                };
                if !touches_shared {
                    continue;
                }
                let locks = common_locks(analysis, context.template, facts, access, &mut single);
                let is_first = access.op == 0;
                let end = |offset: u64| offset.checked_add(access.bytes?).filter(|_| is_first);
                let own_end = match facts.argument.is_empty() {
                    true => None,
                    false => analysis
                        .transfer
                        .key(context.template, facts, &access.address)
                        .and_then(|address| end(from_argument(model, facts, address)?)),
                };
                let seen = Numbers { model, template: context.template };
                let alone = facts.started.iter().filter(|started| is_none(started));
                let alone = alone.map(|started| started.kind).collect();
                let others = facts.started.iter().filter_map(|started| {
                    let (stride, offset) = seen.apart(facts, &started.members, &access.address)?;
                    Some((started.kind, started.own, stride, end(offset).filter(|end| *end <= stride)?))
                });
                let others = others.collect();
                let alike = Alike {
                    kind: context.kind,
                    write: access.write,
                    atomic: access.atomic,
                    fresh: analysis.is_fresh_access(context.template, facts, access),
                    absent: facts.absent.clone(),
                    locks,
                    own_end,
                    alone,
                    others,
                };
                let sample = *numbers.entry(alike.clone()).or_insert_with(|| {
                    let (template, locks) = (context.template, facts.locks.clone());
                    samples.push(Sample { alike, template, edge, locks });
                    samples.len() - 1
                });
                if !known.insert((sample, access.places.number, access.bytes)) {
                    continue;
                }
                let region = access.region().where_races_count(program);
                let targets = match &region.targets {
                    Targets::Of(targets) => targets.to_vec(),
                    Targets::Any => {
                        let anywhere = |object| Target { object, first: 0, stride: 1, count: u64::MAX };
                        program.objects.ids().map(anywhere).collect()
                    }
                };
                let op = code.edges[edge].ops.get(access.op).filter(|_| access.write);
                let counts = |target: &Target| {
                    let object = &program.objects[target.object];
                    !model.private[target.object] && op.is_none_or(|op| may_write(op, object))
                };
                for target in targets.into_iter().filter(counts) {
                    let step = (context.template, edge);
                    by_object[target.object].push(InObject { target, bytes: access.bytes, sample, step });
                }
            }
        }
    }
    Ok(Collected { samples, by_object })
}

/// Whether an operation that writes may write to an object of this kind: only allocated memory is given back,
/// and other operations do not reach constants ([`ObjectRole::Constant`]).
fn may_write(op: &Op, object: &Object) -> bool {
    match op {
        Op::Assign(_)
        | Op::Fill(..)
        | Op::Copy(..)
        | Op::Lock(..)
        | Op::Unlock(..)
        | Op::Spawn(..)
        | Op::Join(..)
        | Op::Call(..) => object.role != ObjectRole::Constant,
        Op::Free(_) => object.storage == Storage::Site,
        Op::Allocate { .. } | Op::Assume(_) | Op::Broadcast(_) => true,
    }
}

/// The locks that are held at an access, as other threads can name them.
fn common_locks(
    analysis: &Analysis<'_, '_>,
    template: TemplateId,
    facts: &ThreadFacts,
    access: &Access,
    single: &mut SingleCells,
) -> Vec<CommonLock> {
    let model = analysis.model;
    let key =
        if facts.locks.is_empty() { None } else { analysis.transfer.key(template, facts, &access.address) };
    let mut found = Vec::new();
    for lock in &facts.locks {
        let mut cell = |base: LockBase, offset: u64| {
            *single.entry((template, base, offset)).or_insert_with(|| match base {
                LockBase::Object(object) => Some((object, offset)),
                LockBase::Local(local) => {
                    let pointer = model.program.data_model.pointer();
                    let offset = Expr::int(i128::from(offset), pointer);
                    let sum = Expr::binary(BinaryOp::Add, pointer, Expr::Local(local), offset);
                    exact_cell(model, template, &sum)
                }
            })
        };
        if let Some((object, offset)) = cell(lock.base, lock.offset) {
            found.push(CommonLock::Cell(object, offset, lock.shared));
        }
        for word in facts.words.iter().filter(|word| LockBase::Local(word.local) == lock.base) {
            let plus = model.wrap(i128::from(lock.offset.wrapping_sub(word.plus)));
            if let Some((object, offset)) = cell(word.base, word.offset) {
                found.push(CommonLock::ThroughCell(object, offset, plus, lock.shared));
            }
            if let Some((_, offset)) = key.filter(|(base, _)| *base == word.base) {
                let distance = model.wrap(i128::from(word.offset.wrapping_sub(offset)));
                found.push(CommonLock::ThroughWord(distance, plus, lock.shared));
            }
        }
        if let Some((base, offset)) = key
            && base == lock.base
        {
            let distance = model.wrap(i128::from(lock.offset.wrapping_sub(offset)));
            found.push(CommonLock::Distance(distance, lock.shared));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The cells of an object: where they are, how many bytes, and which accesses touch them.
fn cells(accesses: &[InObject]) -> Vec<(Target, u64, Vec<usize>)> {
    let narrow: BTreeSet<(Target, u64)> = accesses
        .iter()
        .filter(|access| !access.is_wide())
        .filter_map(|access| Some((access.target, access.bytes?)))
        .collect();
    let mut narrow: Vec<(Target, u64)> = narrow.into_iter().collect();
    let wide: Vec<usize> = (0..accesses.len()).filter(|index| accesses[*index].is_wide()).collect();
    let region = |(target, bytes): (Target, u64)| Region {
        targets: Targets::Of(Arc::from([target])),
        extent: Extent::Bytes(bytes),
    };
    let mut found = Vec::new();
    if narrow.is_empty() {
        if let Some(first) = wide.first() {
            found.push((accesses[*first].target, accesses[*first].bytes.unwrap_or(0), wide));
        }
        return found;
    }
    while let Some(first) = narrow.first().copied() {
        let mut members = vec![first];
        narrow.remove(0);
        loop {
            let (with, without): (Vec<_>, Vec<_>) = narrow
                .iter()
                .copied()
                .partition(|other| members.iter().any(|member| region(*member).overlaps(&region(*other))));
            narrow = without;
            if with.is_empty() {
                break;
            }
            members.extend(with);
        }
        let is_member =
            |access: &InObject| access.bytes.is_some_and(|bytes| members.contains(&(access.target, bytes)));
        let mut touching: Vec<usize> = (0..accesses.len())
            .filter(|index| !accesses[*index].is_wide() && is_member(&accesses[*index]))
            .collect();
        let overlaps = |index: &usize| {
            let wide = accesses[*index].region();
            members.iter().any(|member| region(*member).overlaps(&wide))
        };
        touching.extend(wide.iter().copied().filter(overlaps));
        found.push((first.0, first.1, touching));
    }
    found
}

/// Compares the accesses to a cell. `None` when it is not shared.
fn compare(
    analysis: &Analysis<'_, '_>,
    samples: &[Sample],
    (cell, bytes): (Target, u64),
    accesses: &[InObject],
    members: &[usize],
) -> Option<Location> {
    let model = analysis.model;
    let mut used: Vec<usize> = members.iter().map(|index| accesses[*index].sample).collect();
    used.sort_unstable();
    used.dedup();
    let is_shared = used.iter().enumerate().any(|(at, one)| {
        used[at..].iter().any(|other| {
            let (one, other) = (&samples[*one].alike, &samples[*other].alike);
            (one.write || other.write) && (one.kind != other.kind || !model.once[one.kind])
        })
    });
    if !is_shared {
        return None;
    }
    // Whether accesses here overlap at equal addresses only.
    let regions: BTreeSet<(Target, Option<u64>)> =
        members.iter().map(|index| (accesses[*index].target, accesses[*index].bytes)).collect();
    let regions: Vec<Region> = regions.into_iter().map(|(target, bytes)| region_of(target, bytes)).collect();
    let is_aligned = |one: &Region| {
        let at_equal =
            |other: &Region| one.distances(other).is_some_and(|found| found.iter().all(|by| *by == 0));
        regions.iter().all(at_equal)
    };
    let is_aligned = regions.len() <= 64 && regions.iter().all(is_aligned);
    let mut open = Vec::new();
    for (at, one) in used.iter().enumerate() {
        for (after, other) in used.iter().enumerate().skip(at) {
            let (one, other) = (&samples[*one].alike, &samples[*other].alike);
            if !is_apart(analysis, one, other, is_aligned) && !are_of_team(analysis, cell.object, one, other)
            {
                open.push((at, after));
            }
        }
    }
    let example = |number: &usize| {
        let mut found = samples[*number].clone();
        if let Some(member) = members.iter().find(|index| accesses[**index].sample == *number) {
            (found.template, found.edge) = accesses[*member].step;
        }
        found
    };
    Some(Location { cell, bytes, samples: used.iter().map(example).collect(), open })
}

/// Whether two accesses to an object do not race since those of two teams do not meet there, or since the
/// thread that starts helpers has none at the time.
fn are_of_team(analysis: &Analysis<'_, '_>, object: ObjectId, one: &Alike, other: &Alike) -> bool {
    let model = analysis.model;
    let is_shared =
        |kind: TemplateId| model.helpers.iter().any(|helpers| helpers.kind == kind && helpers.shared[object]);
    let is_alone = |one: &Alike, other: &Alike| {
        let is_free = one.alone.contains(&other.kind) || is_elsewhere(one, other, true);
        one.kind != other.kind && is_free && is_shared(other.kind)
    };
    let are_one = || {
        let is_one = one.kind == other.kind && analysis.alone_in_teams.contains(&one.kind);
        is_one && is_shared(one.kind)
    };
    let are_apart = || {
        let apart = analysis.apart_in_teams.get(&one.kind).filter(|_| one.kind == other.kind);
        let is_within = |alike: &Alike, apart: u64| alike.own_end.is_some_and(|end| end <= apart);
        let are_within = apart.is_some_and(|apart| is_within(one, *apart) && is_within(other, *apart));
        are_within && is_shared(one.kind)
    };
    model.program.unordered.is_empty()
        && (model.are_of_two_teams(object, one.kind, other.kind)
            || is_alone(one, other)
            || is_alone(other, one)
            || are_one()
            || are_apart())
}

/// Whether an access is in the element of no argument of the other's kind, or of none of these threads that
/// the thread has started itself, and the other one is in that of its own.
fn is_elsewhere(one: &Alike, other: &Alike, own: bool) -> bool {
    let mut lists = one.others.iter().filter(|(kind, of_own, _, _)| *kind == other.kind && *of_own == own);
    lists.any(|(_, _, stride, _)| other.own_end.is_some_and(|end| end <= *stride))
}

/// Whether two accesses do not race.
fn is_apart(analysis: &Analysis<'_, '_>, one: &Alike, other: &Alike, is_aligned: bool) -> bool {
    let shares_lock = || {
        one.locks.iter().any(|lock| {
            other.locks.iter().any(|their| {
                let counts = match lock {
                    CommonLock::Cell(..) | CommonLock::ThroughCell(..) => true,
                    CommonLock::Distance(..) | CommonLock::ThroughWord(..) => is_aligned,
                };
                counts && lock.is_same(*their) && !(lock.is_shared() && their.is_shared())
            })
        })
    };
    let is_ordered = analysis.model.program.unordered.is_empty();
    let is_own = |one: &Alike, other: &Alike| is_elsewhere(one, other, false);
    let are_own = || {
        let apart = analysis.apart.get(&one.kind).filter(|_| one.kind == other.kind);
        let is_within = |alike: &Alike, apart: u64| alike.own_end.is_some_and(|end| end <= apart);
        apart.is_some_and(|apart| is_within(one, *apart) && is_within(other, *apart))
    };
    !(one.write || other.write)
        || (is_ordered && one.kind == other.kind && analysis.alone.contains(&one.kind))
        || (is_ordered && (is_own(one, other) || is_own(other, one) || are_own()))
        || (one.atomic && other.atomic)
        || (one.kind == other.kind && analysis.model.once[one.kind])
        || one.absent.binary_search(&other.kind).is_ok()
        || other.absent.binary_search(&one.kind).is_ok()
        || one.fresh
        || other.fresh
        || shares_lock()
}
