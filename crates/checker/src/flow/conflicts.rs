//! Checks that no related locations have conflicting accesses.
//!
//! Two accesses of different threads do not race only for one of these reasons: by the points-to sets, they
//! have no byte in common; neither writes; both are atomic; the bytes are in objects that no other thread can
//! reach; one comes after an operation on its edge that acquires a lock which the other thread holds; both
//! name an object of the running thread; both threads hold, before the step, locks at the same distance from
//! any byte that both could access, one of them exclusively (then the locks are at one address, and only one
//! thread can hold it); both threads hold, before the step, locks whose addresses the indices of the accesses
//! determine in the same way, one of them exclusively, and only equal indices give a common byte
//! ([`verdict::IndexedLock`]; then, too, the locks are at one address); indices of a family
//! ([`super::families`]) or tickets of a counter ([`super::counters`]) separate them; or one is a parent's
//! access, made when its family has no members, and the other would be a member's.

use super::counters::{by_ticket, equal, have_other_tickets};
use super::data::Data;
use super::families::{Placed, absent, are_apart, parents, placed};
use super::knowledge::{Held, claimed, follow, is_fresh};
use super::pairs::{Wanted, stands_in_the_way, wanted_lock};
use super::terms::Terms;
use super::view::{Node, View};
use crate::ProofError;
use crate::ready::claim;
use ir::passes::footprint::{Extent, Region, racing_accesses};
use ir::{Expr, IntType, LocalId, Storage, Targets, TemplateId, Value};
use verdict::{Budget, IndexedLock, LocalEqualities, TicketAddress};

struct SharedAccess {
    node: Node,
    region: Region,
    write: bool,
    atomic: bool,
    names_own: bool,
    /// The lock that its edge acquires before it.
    after: Option<Wanted>,
    /// The locks held before the step.
    held: Vec<Held>,
    /// Locks held, by their distance from the first byte.
    guards: Vec<(Value, bool)>,
    /// Locks held, by what the access's index says of their addresses.
    indexed: Vec<IndexedLock>,
    /// Its address in terms of families.
    placed: Vec<Placed>,
    /// The given parameter whose object it is in.
    given: Option<LocalId>,
    /// Templates of which no thread is alive when it is made.
    absent: Vec<TemplateId>,
    /// Its address in terms of counters.
    tickets: Vec<(usize, TicketAddress)>,
}

/// Checks that no two threads can be at conflicting accesses.
pub fn check_no_conflict(
    view: &View<'_>,
    data: Option<&Data<'_, '_>>,
    budget: &Budget,
) -> Result<(), ProofError> {
    let mut all: Vec<SharedAccess> = Vec::new();
    for node in (0..view.nodes.len()).filter(|node| view.is_inhabited(*node)) {
        collect(view, data, node, &mut all)?;
    }
    for (index, first) in all.iter().enumerate() {
        budget.check(0).map_err(ProofError::TooExpensive)?;
        for second in &all[index..] {
            let related = view.proof.coreachable.contains(first.node, second.node);
            if related && conflict(view, first, second) {
                return claim(false, "two accesses may race");
            }
        }
    }
    Ok(())
}

fn collect(
    view: &View<'_>,
    data: Option<&Data<'_, '_>>,
    node: Node,
    all: &mut Vec<SharedAccess>,
) -> Result<(), ProofError> {
    let template = view.nodes[node].0;
    let terms = Terms { view, template };
    let signed = IntType { signed: true, ..terms.pointer() };
    let known = claimed(view, node)?;
    for edge in &view.leaving[node] {
        let mut held: Vec<Held> = known.locks.clone();
        let parents = parents(view, node, *edge)?;
        let by_ticket = by_ticket(view, data, node, *edge);
        let mut present = LocalEqualities::new(equal(view, data, node));
        let wanted = wanted_lock(view.program, &view.program.templates[template].edges[*edge].ops);
        let (mut operation, mut place) = (0, 0);
        follow(view, template, *edge, known.clone(), &mut |op, now| {
            held.retain(|lock| now.locks.contains(lock));
            for access in racing_accesses(view.points_to, template, op) {
                let tickets = by_ticket.get(place).cloned().unwrap_or_default();
                place += 1;
                let mut region = access.region.where_races_count(view.program);
                if let Targets::Of(targets) = &region.targets {
                    region.targets = Targets::Of(
                        targets.iter().filter(|target| view.escapes[target.object]).copied().collect(),
                    );
                }
                let key = terms.key(access.address, &now.equal);
                if key.as_ref().is_some_and(|key| is_fresh(key, now)) {
                    continue;
                }
                let guards = held.iter().filter_map(|lock| {
                    let key = key.as_ref().filter(|key| key.terms == lock.address.terms)?;
                    Some((signed.wrap(lock.address.constant - key.constant), lock.shared))
                });
                let indexed = held.iter().filter_map(|lock| {
                    let access = terms.rebuilt(key.as_ref()?);
                    let lock = (&terms.rebuilt(&lock.address), lock.shared);
                    IndexedLock::of(view.program, template, &access, lock, &|object| view.is_single(object))
                });
                let names_own = matches!(access.address, Expr::Address(object, _)
                    if matches!(view.program.objects[*object].storage, Storage::Frame(_) | Storage::ThreadLocal));
                all.push(SharedAccess {
                    after: wanted.filter(|(number, _)| operation >= *number).map(|(_, wanted)| wanted),
                    held: known.locks.clone(),
                    node,
                    region,
                    write: access.write,
                    atomic: access.atomic || view.location(node).atomic,
                    names_own,
                    guards: guards.collect(),
                    indexed: indexed.collect(),
                    tickets,
                    given: key.as_ref().and_then(|key| match key.terms.as_slice() {
                        [(Expr::Local(local), false)] => {
                            Some(*local).filter(|local| view.proof.given.contains(&(template, *local)))
                        }
                        _ => None,
                    }),
                    absent: absent(view, &parents, operation),
                    placed: placed(view, template, (now, &present), access.address, &parents, operation),
                });
            }
            operation += 1;
            present.apply(view.points_to, template, op);
        });
    }
    Ok(())
}

fn conflict(view: &View<'_>, a: &SharedAccess, b: &SharedAccess) -> bool {
    let harmless = !(a.write || b.write) || (a.atomic && b.atomic) || (a.names_own && b.names_own);
    if harmless || !a.region.overlaps(&b.region) {
        return false;
    }
    let is_kept_out =
        |a: &SharedAccess, b: &SharedAccess| a.after.is_some_and(|wanted| stands_in_the_way(&b.held, wanted));
    if is_kept_out(a, b) || is_kept_out(b, a) {
        return false;
    }
    let template = |seen: &SharedAccess| view.nodes[seen.node].0;
    if a.given.is_some() && a.given == b.given && template(a) == template(b) {
        return false;
    }
    if a.absent.contains(&template(b)) || b.absent.contains(&template(a)) {
        return false;
    }
    let (one, other) = ((a.node, &*a.placed, a.region.extent), (b.node, &*b.placed, b.region.extent));
    let (my_tickets, their_tickets) = ((&*a.tickets, a.region.extent), (&*b.tickets, b.region.extent));
    if are_apart(view, one, other) || have_other_tickets(view, my_tickets, their_tickets) {
        return false;
    }
    if let (Extent::Bytes(mine), Extent::Bytes(theirs)) = (a.region.extent, b.region.extent) {
        let mut pairs = a.indexed.iter().flat_map(|one| b.indexed.iter().map(move |other| (one, other)));
        if pairs.any(|(one, other)| one.excludes(mine, other, theirs, view.program)) {
            return false;
        }
    }
    let Some(distances) = a.region.distances(&b.region) else { return true };
    let guarded = distances.iter().all(|apart| {
        a.guards.iter().any(|(mine, shared)| {
            b.guards.iter().any(|(theirs, also_shared)| *mine == theirs + apart && !(*shared && *also_shared))
        })
    });
    !guarded
}
