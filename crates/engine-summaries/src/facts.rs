//! Facts as a lattice: what two paths both know, and what has to be forgotten with something else.

use crate::equalities;
use crate::members;
use crate::model::Model;
use crate::numbers::Numbers;
use crate::words;
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::{LocalId, TemplateId};
use verdict::{LockBase, ThreadFacts};

/// Keeps what both know; says whether anything was lost.
pub fn meet(model: &Model<'_>, template: TemplateId, known: &mut ThreadFacts, other: &ThreadFacts) -> bool {
    if known == other {
        return false;
    }
    let before = known.clone();
    let has_places = !known.placed.is_empty();
    if has_places || !(known.started.is_empty() && other.started.is_empty() && known.order.is_empty()) {
        Numbers { model, template }.meet(known, other);
    }
    if known.argument != other.argument || known.equal != other.equal {
        known.argument.retain(|(local, offset)| {
            let found = members::from_argument(
                model,
                other,
                equalities::resolve(model.program, other, (LockBase::Local(*local), 0)),
            );
            found == Some(*offset)
        });
    }
    equalities::meet(model.program, known, other);
    known.numbers.retain(|fact| other.numbers.binary_search(fact).is_ok());
    known.ids.retain(|fact| other.ids.binary_search(fact).is_ok());
    known.set.retain(|fact| other.set.binary_search(fact).is_ok());
    known.absent.retain(|fact| other.absent.binary_search(fact).is_ok());
    if known.fresh != other.fresh {
        let both: Vec<LocalId> =
            known.fresh.iter().filter(|local| other.fresh.binary_search(local).is_ok()).copied().collect();
        let lost = known.fresh.iter().chain(&other.fresh).filter(|local| both.binary_search(local).is_err());
        let lost: Vec<LocalId> = lost.copied().collect();
        known.fresh = both;
        disown(model, template, known, lost);
    }
    *known != before
}

/// Takes out what may point to the same objects as locals that are not listed any more.
pub fn disown(model: &Model<'_>, template: TemplateId, facts: &mut ThreadFacts, lost: Vec<LocalId>) {
    let mut open = lost;
    while let Some(local) = open.pop() {
        if facts.fresh.is_empty() {
            return;
        }
        let (gone, kept): (Vec<LocalId>, Vec<LocalId>) =
            facts.fresh.iter().partition(|other| model.may_share(template, local, **other));
        facts.fresh = kept;
        open.extend(gone.into_iter().filter(|gone| *gone != local));
    }
}

/// Adds a local to the fresh ones.
pub fn own(facts: &mut ThreadFacts, local: LocalId) {
    if let Err(at) = facts.fresh.binary_search(&local) {
        facts.fresh.insert(at, local);
    }
}

/// Adds an element to a rising list.
pub fn insert<T: Ord>(list: &mut Vec<T>, item: T) {
    if let Err(at) = list.binary_search(&item) {
        list.insert(at, item);
    }
}

/// Forgets what is known of locals that are not read any more, but for those that locks are counted from,
/// and for parameters that keep their value: a caller reads these.
pub fn prune(model: &Model<'_>, template: TemplateId, facts: &mut ThreadFacts, live: &BitSet) {
    let parameters = model.program.templates[template].parameters;
    let assigned = &model.procedures[template].assigned;
    let is_callers = |local: LocalId| local.index() < parameters && !assigned.contains(local.index());
    facts.fresh.retain(|local| live.contains(local.index()) || is_callers(*local));
    facts.ids.retain(|(local, _)| live.contains(local.index()));
    facts.numbers.retain(|(local, _)| live.contains(local.index()));
    if !(facts.started.is_empty() && facts.order.is_empty() && facts.placed.is_empty()) {
        // Cells may always be read.
        let is_cell = |local: LocalId| model.cell_number(template, local).is_some();
        let is_read = |local: LocalId| is_cell(local) || is_callers(local) || live.contains(local.index());
        members::prune(facts, &is_read);
    }
    if facts.equal.is_empty() {
        words::prune(facts, &|local| live.contains(local.index()) || is_callers(local));
        return;
    }
    let dead: Vec<LocalId> = {
        let mut locals: Vec<LocalId> =
            facts.equal.iter().flat_map(|(local, leader, _)| [*local, *leader]).collect();
        locals.sort_unstable();
        locals.dedup();
        locals.into_iter().filter(|local| !live.contains(local.index())).collect()
    };
    for local in dead {
        let is_leader = facts.equal.iter().any(|(_, leader, _)| *leader == local);
        let is_member = facts.equal.binary_search_by_key(&local, |(known, _, _)| *known).is_ok();
        // A leader hands its locks on; one that is alone keeps them.
        if is_leader || is_member {
            equalities::forget(model.program, facts, local);
        }
    }
    words::prune(facts, &|local| live.contains(local.index()) || is_callers(local));
}

/// Whether a lock is counted from a local.
pub fn is_from(base: LockBase, local: LocalId) -> bool {
    base == LockBase::Local(local)
}
