//! Conflicting accesses that two threads may be at.
//!
//! Over-approximates the races of [`ir::semantics::Machine::race`] on the compressed program. Two accesses at
//! related locations are no race if
//! 1. they touch no common byte, by the points-to sets; or neither writes; or both are atomic;
//! 2. all bytes that they may have in common are in objects that do not escape their thread (dropped
//!    beforehand), or one of them is in a fresh object;
//! 3. both name an object of the running thread directly: each has its own;
//! 4. both threads hold a lock, one of them exclusively, at the same distance from the byte that both access:
//!    the distance between each access and its lock is known (they have the same base). If both access the
//!    same byte, both locks are at the same address, so they are one lock, and the claims contradict each
//!    other. The locks must be held at the step's source, since a race is about the state before both steps.
//! 5. both addresses depend on tickets of one counter ([`verdict::Counter`]), which are different and far
//!    enough apart;
//! 6. both are in the owned parameters of two threads of one template: different objects;
//! 7. one comes, on its edge, after an operation that acquires a lock which the other thread holds before its
//!    step, or is that operation: then the first step blocks before the access;
//! 8. both addresses depend on an index, and so do locks that both threads hold, one of them exclusively:
//!    where the accesses have a byte in common, the indices are equal, hence the locks are one
//!    ([`verdict::IndexedLock`]);
//! 9. both are of one family, or of a member and its parent ([`verdict::Family`]), and their indices separate
//!    them.

use crate::coreachable::{FirstLock, Known, Reached, first_lock, is_refused};
use crate::counters::{Equal, walk_tickets};
use crate::facts::{FactsAnalysis, is_fresh};
use crate::families::walk_parent;
use crate::model::{Model, Node, Step};
use crate::values::Linear;
use ir::ids::Id;
use ir::passes::Affine;
use ir::passes::footprint::{Extent, Region, racing_accesses};
use ir::{Expr, IdVec, LocalId, LocationId, ObjectId, Span, Storage, Targets, TemplateId};
use verdict::{Counter, Family, IndexedLock, LocalEqualities, LocationFacts, ParentFacts, TicketAddress};

/// An access that others may see.
pub struct Access {
    /// Where the thread is before it.
    pub node: Node,
    /// Where in the source.
    pub span: Span,
    region: Region,
    write: bool,
    atomic: bool,
    /// Whether it names an object of the running thread directly.
    own: bool,
    /// The lock that the step acquires before this access, or by it.
    after: Option<FirstLock>,
    /// The locks held, by their distance from the access, and whether each is shared.
    locks: Vec<(i128, bool)>,
    /// The locks held that its index determines.
    indexed: Vec<IndexedLock>,
    /// Its address in terms of families.
    seen: Vec<FamilyAddress>,
    /// The parameter whose object it is in, if that is the thread's own.
    owned_parameter: Option<LocalId>,
    /// Templates of which no thread is alive at this access.
    absent: Vec<TemplateId>,
    /// Its address in terms of counters.
    tickets: Vec<(usize, TicketAddress)>,
}

/// An address in a family's terms.
struct FamilyAddress {
    family: usize,
    address: Affine,
    /// What the parent knows before the access; `None` when it is a member's.
    parent: Option<ParentFacts>,
}

/// Two accesses that may race.
pub struct Conflict {
    /// The accesses.
    pub spans: [Span; 2],
    /// What both may touch; `None` when that is not known.
    pub objects: Vec<ObjectId>,
}

/// All accesses that others may see, at locations that are reached.
pub fn shared_accesses(
    model: &Model<'_>,
    known: &Known,
    analyses: &IdVec<TemplateId, FactsAnalysis<'_, '_>>,
    reached: &Reached,
    counters: &[Counter],
    equal: &Equal,
) -> Vec<Access> {
    let pointer = model.program.data_model.pointer();
    let signed = ir::IntType { signed: true, ..pointer };
    let mut found: Vec<Access> = Vec::new();
    for node in model.nodes.ids().filter(|node| reached.nodes.contains(node.index())) {
        for step in &model.steps[node] {
            let analysis = &analyses[step.template];
            let edge = model.edge(*step);
            let mut held = known.facts[node].locks.clone();
            let before = parent_facts(model, known, analyses, *step);
            let by_ticket = ticket_addresses(model, counters, equal, *step);
            let mut present = LocalEqualities::new(&equal[node]);
            let first = first_lock(model.program, &edge.ops);
            let mut number = 0;
            let mut place = 0;
            analysis.walk(*step, &known.facts[node], &mut |op, facts| {
                held.retain(|lock| facts.locks.contains(lock));
                let now: Vec<_> = before.iter().map(|(family, facts)| (*family, &facts[number])).collect();
                number += 1;
                for access in racing_accesses(model.points_to, step.template, op) {
                    place += 1;
                    let Some(region) = visible(model, &access.region) else { continue };
                    let key = analysis.values().key(access.address, &facts.equal);
                    if key.as_ref().is_some_and(|key| is_fresh(key, facts)) {
                        continue;
                    }
                    let locks = held.iter().filter_map(|lock| {
                        let key = key.as_ref().filter(|key| key.base == lock.base)?;
                        let apart = ir::Value::from(lock.offset) - ir::Value::from(key.offset);
                        Some((signed.wrap(apart), lock.shared))
                    });
                    let indexed = held.iter().filter_map(|lock| {
                        let address = Linear { base: lock.base.clone(), offset: lock.offset };
                        let lock = (&address.expression(pointer), lock.shared);
                        let access = key.as_ref()?.expression(pointer);
                        let is_single = |object| model.is_single(object);
                        IndexedLock::of(model.program, step.template, &access, lock, &is_single)
                    });
                    let own = matches!(access.address, Expr::Address(object, _)
                        if matches!(model.program.objects[*object].storage, Storage::Frame(_) | Storage::ThreadLocal));
                    found.push(Access {
                        node,
                        span: edge.span,
                        region,
                        write: access.write,
                        atomic: access.atomic || model.location(node).atomic,
                        own,
                        after: first.filter(|(taken, _)| number > *taken).map(|(_, lock)| lock),
                        locks: locks.collect(),
                        indexed: indexed.collect(),
                        owned_parameter: match &key {
                            Some(Linear { base: Expr::Local(local), .. }) => {
                                Some(*local).filter(|local| known.owned_parameters.contains(&(step.template, *local)))
                            }
                            _ => None,
                        },
                        absent: absent(known, &now),
                        seen: seen(model, known, analysis, (facts, &present), access.address, &now),
                        tickets: by_ticket[place - 1].clone(),
                    });
                }
                present.apply(model.points_to, step.template, op);
            });
        }
    }
    found
}

/// The addresses of all accesses of a step, as the counters see them.
fn ticket_addresses(
    model: &Model<'_>,
    counters: &[Counter],
    equal: &Equal,
    step: Step,
) -> Vec<Vec<(usize, TicketAddress)>> {
    let ops = &model.edge(step).ops;
    let count: usize = ops.iter().map(|op| racing_accesses(model.points_to, step.template, op).len()).sum();
    let mut found: Vec<Vec<(usize, TicketAddress)>> = vec![Vec::new(); count];
    for (number, counter) in counters.iter().enumerate().filter(|(_, counter)| !counter.tickets.is_empty()) {
        let mut place = 0;
        walk_tickets(model, counter, equal, step, &mut |op, state| {
            for access in racing_accesses(model.points_to, step.template, op) {
                found[place].extend(state.address(access.address).map(|address| (number, address)));
                place += 1;
            }
        });
    }
    found
}

/// What parents of families know before each operation of a step.
fn parent_facts(
    model: &Model<'_>,
    known: &Known,
    analyses: &IdVec<TemplateId, FactsAnalysis<'_, '_>>,
    step: Step,
) -> Vec<(usize, Vec<ParentFacts>)> {
    let families = known.families.iter().enumerate().filter(|(_, family)| family.parent == step.template);
    let facts = families.map(|(number, family)| {
        let mut facts = Vec::new();
        walk_parent(model, &analyses[step.template], &known.facts, family, step, &mut |here| {
            facts.push(here.clone());
        });
        (number, facts)
    });
    facts.collect()
}

/// An address in the terms of all families that it may be known in.
fn seen(
    model: &Model<'_>,
    known: &Known,
    analysis: &FactsAnalysis<'_, '_>,
    (facts, present): (&LocationFacts, &LocalEqualities),
    address: &Expr,
    parents: &[(usize, &ParentFacts)],
) -> Vec<FamilyAddress> {
    let template = analysis.values().template;
    let mut found = Vec::new();
    for (number, family) in known.families.iter().enumerate() {
        if family.template == template {
            let mut forms = present.expand(address, &|_| false);
            forms.extend(analysis.values().canonical(address, &facts.equal));
            let forms = forms.iter().filter_map(|form| family.of_member(model.program, form));
            found.extend(forms.map(|address| FamilyAddress { family: number, address, parent: None }));
        }
        if let Some((_, parent)) = parents.iter().find(|(parent, _)| *parent == number) {
            let equal: Vec<_> =
                facts.equal.iter().filter(|(local, _)| *local != family.index).cloned().collect();
            if let Some(form) = analysis.values().canonical(address, &equal)
                && present.is_unchanged(&form)
            {
                let address = Affine::of(model.program, &model.program.templates[template], &form);
                found.push(FamilyAddress { family: number, address, parent: Some((*parent).clone()) });
            }
        }
    }
    found
}

/// The part of a region that others may touch.
fn visible(model: &Model<'_>, region: &Region) -> Option<Region> {
    let region = region.clone().where_races_count(model.program);
    let Targets::Of(targets) = &region.targets else { return Some(region) };
    let seen: Vec<_> = targets.iter().filter(|target| model.escapes[target.object]).copied().collect();
    (!seen.is_empty()).then(|| Region { targets: Targets::Of(seen.into()), extent: region.extent })
}

/// The conflicts among these accesses.
pub fn conflicts(model: &Model<'_>, known: &Known, accesses: &[Access], reached: &Reached) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (index, a) in accesses.iter().enumerate() {
        for b in &accesses[index..] {
            if (a.write || b.write)
                && !(a.atomic && b.atomic)
                && !(a.own && b.own)
                && reached.pairs.contains(a.node.index(), b.node.index())
                && a.region.overlaps(&b.region)
                && !is_protected(a, b)
                && !is_protected_by_index(model, a, b)
                && !is_after_unlock(known, a, b)
                && !is_after_unlock(known, b, a)
                && !is_apart(model, known, reached, a, b)
                && !has_other_ticket(model, a, b)
            {
                let objects = match (a.region.objects(), b.region.objects()) {
                    (Some(mine), Some(theirs)) => {
                        let theirs: Vec<ObjectId> = theirs.collect();
                        mine.filter(|object| theirs.contains(object)).collect()
                    }
                    (Some(objects), None) | (None, Some(objects)) => objects.collect(),
                    (None, None) => Vec::new(),
                };
                found.push(Conflict { spans: [a.span, b.span], objects });
            }
        }
    }
    found
}

/// The families that have no members, as their parents know.
fn absent(known: &Known, parents: &[(usize, &ParentFacts)]) -> Vec<TemplateId> {
    let none = parents.iter().filter(|(_, facts)| facts.members.as_ref().is_some_and(|members| members.none));
    none.map(|(family, _)| known.families[*family].template).collect()
}

/// Whether indices of a family keep two accesses apart, or one of them is made when no thread runs that could
/// make the other.
fn is_apart(model: &Model<'_>, known: &Known, reached: &Reached, a: &Access, b: &Access) -> bool {
    let template = |access: &Access| model.nodes[access.node].0;
    if a.owned_parameter.is_some() && a.owned_parameter == b.owned_parameter && template(a) == template(b) {
        return true;
    }
    if a.absent.contains(&template(b)) || b.absent.contains(&template(a)) {
        return true;
    }
    let (Extent::Bytes(a_bytes), Extent::Bytes(b_bytes)) = (a.region.extent, b.region.extent) else {
        return false;
    };
    let mut pairs = a.seen.iter().flat_map(|mine| b.seen.iter().map(move |theirs| (mine, theirs)));
    pairs.any(|(mine, theirs)| {
        let family = &known.families[mine.family];
        let (one, other) = ((&mine.address, a_bytes), (&theirs.address, b_bytes));
        mine.family == theirs.family
            && match (&mine.parent, &theirs.parent) {
                (None, None) => {
                    arguments_hold(model, family, reached, a.node, b.node)
                        && family.are_apart(model.program, one, other)
                }
                (Some(facts), None) => family.is_apart(model.program, facts, one, other),
                (None, Some(facts)) => family.is_apart(model.program, facts, other, one),
                (Some(_), Some(_)) => false,
            }
    })
}

/// Whether tickets of one counter keep two accesses apart.
fn has_other_ticket(model: &Model<'_>, a: &Access, b: &Access) -> bool {
    let (Extent::Bytes(a_bytes), Extent::Bytes(b_bytes)) = (a.region.extent, b.region.extent) else {
        return false;
    };
    let pointer = model.program.data_model.pointer();
    let mut pairs = a.tickets.iter().flat_map(|mine| b.tickets.iter().map(move |theirs| (mine, theirs)));
    pairs.any(|((counter, mine), (other, theirs))| {
        counter == other && mine.is_apart(a_bytes, theirs, b_bytes, pointer)
    })
}

/// Whether the arguments of members at two locations are what the family says, wherever the parent is
/// meanwhile.
fn arguments_hold(model: &Model<'_>, family: &Family, reached: &Reached, a: Node, b: Node) -> bool {
    let mut locations = family.at.iter().enumerate();
    locations.all(|(location, facts)| {
        let parent = model.node(family.parent, LocationId::new(location));
        let is_there = reached.pairs.contains(parent.index(), a.index())
            && reached.pairs.contains(parent.index(), b.index());
        !is_there || facts.members.as_ref().is_some_and(|members| members.none || members.argument)
    })
}

/// Whether one access comes after a lock on its edge that the thread at the other one holds.
fn is_after_unlock(known: &Known, a: &Access, b: &Access) -> bool {
    a.after.is_some_and(|lock| is_refused(lock, &known.facts[b.node].locks))
}

/// Whether both threads hold the lock of the element that both would access.
fn is_protected_by_index(model: &Model<'_>, a: &Access, b: &Access) -> bool {
    let (Extent::Bytes(a_bytes), Extent::Bytes(b_bytes)) = (a.region.extent, b.region.extent) else {
        return false;
    };
    let mut pairs = a.indexed.iter().flat_map(|mine| b.indexed.iter().map(move |theirs| (mine, theirs)));
    pairs.any(|(mine, theirs)| mine.excludes(a_bytes, theirs, b_bytes, model.program))
}

fn is_protected(a: &Access, b: &Access) -> bool {
    if a.locks.is_empty() || b.locks.is_empty() {
        return false;
    }
    let Some(distances) = a.region.distances(&b.region) else { return false };
    distances.iter().all(|apart| {
        a.locks.iter().any(|(mine, mine_shared)| {
            b.locks
                .iter()
                .any(|(theirs, theirs_shared)| mine == &(theirs + apart) && !(*mine_shared && *theirs_shared))
        })
    })
}
