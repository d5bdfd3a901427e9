//! Checks that the sets are closed (paper 3, definition 8): under steps of a thread in them, under starts of
//! threads, and under changes of shared bits and broadcasts by another thread in them.

use super::claim;
use crate::ProofError;
use boolean::symbolic::{Interference, Relations};
use boolean::view::StepId;
use boolean::{Bdd, Bit, FALSE, PointId, View};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

pub(super) fn check(view: &mut View<'_>, sets: &[Bdd]) -> Result<(), ProofError> {
    let within = |view: &mut View<'_>, some: Bdd, point: PointId| -> Result<bool, ProofError> {
        view.bdds.implies(some, sets[point.0 as usize]).map_err(ProofError::TooExpensive)
    };
    for (point, set) in view.initial_sets().map_err(ProofError::TooExpensive)? {
        if !within(view, set, point)? {
            return claim("a thread starts outside of the sets");
        }
    }
    let mut changes: BTreeMap<(Vec<Bit>, Option<StepId>), Bdd> = BTreeMap::new();
    for index in 0..view.steps.len() {
        let id = StepId(index as u32);
        let source = view.step(id).source;
        let set = sets[source.0 as usize];
        if set == FALSE {
            continue;
        }
        let relations: Relations = view.relations(id).map_err(ProofError::TooExpensive)?;
        if let Some(target) = view.step(id).target {
            let image = view.image(set, relations.own).map_err(ProofError::TooExpensive)?;
            if !within(view, image, target)? {
                return claim("a step leads out of the sets");
            }
        }
        for (entry, relation) in &relations.started {
            let image = view.image(set, *relation).map_err(ProofError::TooExpensive)?;
            if !within(view, image, *entry)? {
                return claim("a thread is started outside of the sets");
            }
        }
        let telling = (!view.step(id).broadcast.is_empty()).then_some(id);
        if !relations.changed.is_empty() || telling.is_some() {
            let found = view.interference(set, &relations).map_err(ProofError::TooExpensive)?;
            let all = changes.entry((relations.changed, telling)).or_insert(FALSE);
            *all = view.bdds.or(*all, found).map_err(ProofError::TooExpensive)?;
        }
    }
    let disjoint = view.disjoint_locks().map_err(ProofError::TooExpensive)?;
    for ((changed, telling), relation) in changes {
        let interference = Interference { changed, telling, relation };
        // Without a broadcast, the result for a set does not depend on its point.
        let mut known: FxHashSet<Bdd> = FxHashSet::default();
        for (index, set) in sets.iter().enumerate() {
            let point = PointId(index as u32);
            if *set == FALSE || view.point(point).atomic || (telling.is_none() && !known.insert(*set)) {
                continue;
            }
            let image = view
                .after_interference(point, *set, &interference, disjoint)
                .map_err(ProofError::TooExpensive)?;
            if !within(view, image, point)? {
                return claim("a step of another thread leads out of the sets");
            }
        }
    }
    Ok(())
}
