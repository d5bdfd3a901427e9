//! Locals that are equal up to constants: [`ThreadFacts::equal`](verdict::ThreadFacts), kept so that each
//! local is given by the *leader* of its class, and a leader has no entry. The entries are in rising order
//! of locals.

use ir::{LocalId, Program};
use verdict::{LockBase, LockFact, ThreadFacts};

fn wrap(program: &Program, value: u64) -> u64 {
    program.data_model.pointer().wrap(i128::from(value)) as u64
}

/// The leader of a local's class, and what has to be added to that.
pub fn leader(facts: &ThreadFacts, local: LocalId) -> (LocalId, u64) {
    match facts.equal.binary_search_by_key(&local, |(known, _, _)| *known) {
        Ok(at) => (facts.equal[at].1, facts.equal[at].2),
        Err(_) => (local, 0),
    }
}

/// An address given by the leader of its class.
pub fn resolve(program: &Program, facts: &ThreadFacts, (base, offset): (LockBase, u64)) -> (LockBase, u64) {
    match base {
        LockBase::Object(_) => (base, offset),
        LockBase::Local(local) => {
            let (leader, more) = leader(facts, local);
            (LockBase::Local(leader), wrap(program, offset.wrapping_add(more)))
        }
    }
}

/// Forgets the value of a local. Its class gets another leader, and locks are counted from that.
pub fn forget(program: &Program, facts: &mut ThreadFacts, local: LocalId) {
    crate::members::rebase(facts, local, wrap(program, u64::MAX));
    facts.equal.retain(|(known, _, _)| *known != local);
    let heir = facts.equal.iter().find(|(_, leader, _)| *leader == local).copied();
    crate::words::rename(facts, local, heir.map(|(heir, _, distance)| (heir, distance)), &|value| {
        wrap(program, value)
    });
    if let Some((heir, _, distance)) = heir {
        facts.equal.retain(|(known, _, _)| *known != heir);
        for (_, leader, offset) in facts.equal.iter_mut().filter(|(_, leader, _)| *leader == local) {
            *leader = heir;
            *offset = wrap(program, offset.wrapping_sub(distance));
        }
        for lock in facts.locks.iter_mut().filter(|lock| lock.base == LockBase::Local(local)) {
            lock.base = LockBase::Local(heir);
            lock.offset = wrap(program, lock.offset.wrapping_sub(distance));
        }
        facts.locks.sort_unstable();
    } else {
        facts.locks.retain(|lock| lock.base != LockBase::Local(local));
    }
}

/// A local whose value was forgotten is now that of another one plus a constant.
pub fn set(program: &Program, facts: &mut ThreadFacts, local: LocalId, other: LocalId, offset: u64) {
    let (leader, more) = leader(facts, other);
    let entry = (local, leader, wrap(program, offset.wrapping_add(more)));
    if let Err(at) = facts.equal.binary_search_by_key(&local, |(known, _, _)| *known) {
        facts.equal.insert(at, entry);
    }
}

/// Adds a lock that is held, given by leaders.
pub fn add_lock(facts: &mut ThreadFacts, lock: LockFact) {
    let is_at = |known: &LockFact| known.base == lock.base && known.offset == lock.offset;
    match facts.locks.iter_mut().find(|known| is_at(known)) {
        Some(known) => known.shared &= lock.shared,
        None => {
            facts.locks.push(lock);
            facts.locks.sort_unstable();
        }
    }
}

/// The lock at an address that is given by leaders.
pub fn lock_at(facts: &ThreadFacts, base: LockBase, offset: u64) -> Option<LockFact> {
    facts.locks.iter().find(|lock| lock.base == base && lock.offset == offset).copied()
}

/// The equalities and locks that both have.
pub fn meet(program: &Program, one: &mut ThreadFacts, other: &ThreadFacts) {
    if one.equal == other.equal {
        let theirs = |lock: &LockFact| lock_at(other, lock.base, lock.offset);
        one.locks.retain_mut(|lock| match theirs(lock) {
            Some(their) => {
                lock.shared |= their.shared;
                true
            }
            None => false,
        });
        one.words.retain(|word| other.words.binary_search(word).is_ok());
        return;
    }
    // The members of classes of both, by where they are in each.
    let mut locals: Vec<LocalId> =
        one.equal.iter().flat_map(|(local, leader, _)| [*local, *leader]).collect();
    locals.extend(one.locks.iter().filter_map(|lock| match lock.base {
        LockBase::Local(local) => Some(local),
        LockBase::Object(_) => None,
    }));
    locals.sort_unstable();
    locals.dedup();
    let mut classes: Vec<((LocalId, LocalId, u64), LocalId, u64)> = Vec::new();
    let mut result = ThreadFacts::default();
    for local in &locals {
        let ((mine, here), (theirs, there)) = (leader(one, *local), leader(other, *local));
        let key = (mine, theirs, wrap(program, here.wrapping_sub(there)));
        match classes.iter().find(|(known, _, _)| *known == key) {
            Some((_, first, offset)) => {
                result.equal.push((*local, *first, wrap(program, here.wrapping_sub(*offset))));
            }
            None => classes.push((key, *local, here)),
        }
    }
    for lock in &one.locks {
        let found = match lock.base {
            LockBase::Object(_) => {
                lock_at(other, lock.base, lock.offset).map(|their| (lock.base, lock.offset, their))
            }
            LockBase::Local(_) => locals.iter().find_map(|local| {
                let (mine, here) = leader(one, *local);
                if LockBase::Local(mine) != lock.base {
                    return None;
                }
                let from_local = wrap(program, lock.offset.wrapping_sub(here));
                let (base, offset) = resolve(program, other, (LockBase::Local(*local), from_local));
                let their = lock_at(other, base, offset)?;
                let (base, offset) = resolve(program, &result, (LockBase::Local(*local), from_local));
                Some((base, offset, their))
            }),
        };
        if let Some((base, offset, their)) = found {
            add_lock(&mut result, LockFact { base, offset, shared: lock.shared || their.shared });
        }
    }
    one.words = crate::words::meet(program, one, other, &result);
    one.equal = result.equal;
    one.locks = result.locks;
}
