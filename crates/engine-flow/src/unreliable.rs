//! Lock claims that another thread's step may break.
//!
//! Under the induction hypothesis that all claims hold in a state, a step of one thread preserves the claims
//! of another if its effects on lock words break none of them ([`crate::locks`]). Only steps that may be
//! taken while the other thread is at the location with the claim count: initialising a lock before any other
//! thread exists breaks nothing. A claim that may break is never made again, and the analysis starts over,
//! until none may.

use crate::coreachable::{Known, Reached, Rules};
use crate::facts::{RetractedLockClaim, is_cell_of_single};
use crate::locks::{breaks, lock_region};
use crate::model::{Model, Node};
use ir::ids::Id;
use verdict::HeldLock;

/// The claims that may break.
pub fn unreliable(
    model: &Model<'_>,
    known: &Known,
    rules: &Rules<'_, '_>,
    reached: &Reached,
) -> Vec<RetractedLockClaim> {
    // The different claims, with the locations where they are made.
    let mut claims: Vec<(RetractedLockClaim, HeldLock, Vec<Node>)> = Vec::new();
    for (node, facts) in known.facts.enumerate() {
        let template = model.nodes[node].0;
        for lock in &facts.locks {
            let template = (!is_cell_of_single(model, &lock.base)).then_some(template);
            let retracted = RetractedLockClaim { template, base: lock.base.clone(), offset: lock.offset };
            match claims.iter_mut().find(|(known, other, _)| *known == retracted && other == lock) {
                Some((_, _, nodes)) => nodes.push(node),
                None => claims.push((retracted, lock.clone(), vec![node])),
            }
        }
    }
    let mut found: Vec<RetractedLockClaim> = Vec::new();
    for (retracted, lock, nodes) in claims {
        let owner = model.nodes[nodes[0]].0;
        let words = lock_region(model, owner, &lock);
        let broken = model.nodes.ids().any(|node| {
            model.steps[node].iter().any(|step| {
                let effects = &known.effects[step.template][step.edge].effects;
                effects.iter().any(|effect| breaks(effect, &lock, &words))
                    && nodes.iter().any(|other| {
                        reached.pairs.contains(node.index(), other.index())
                            && rules.may_take(*step, *other, &reached.pairs)
                    })
            })
        });
        if broken && !found.contains(&retracted) {
            found.push(retracted);
        }
    }
    found
}
