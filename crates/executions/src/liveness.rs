//! Locals whose value is never read again are set to 0, so that states which differ in nothing that matters
//! are equal. Exact: no expression reads a dead local ([`ir::passes::liveness`]). Where an allocation may
//! give out an address again of which some local has a copy, dead locals count, too, and are kept.

use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::passes::liveness::live_locals;
use ir::semantics::State;
use ir::{IdVec, Lhs, LocalId, LocationId, Op, Program, TemplateId};
use std::sync::Arc;

/// The live locals at each location.
pub struct Liveness {
    live: IdVec<TemplateId, IdVec<LocationId, BitSet>>,
    /// For each edge whose last operation is a call, the local that gets the result.
    results: IdVec<TemplateId, Vec<Option<LocalId>>>,
    /// Whether dead locals matter all the same ([`Program::reuses_addresses`]).
    keeps_dead: bool,
}

impl Liveness {
    /// Computes the live locals of a program.
    pub fn new(program: &Program) -> Self {
        let results = program
            .templates
            .iter()
            .map(|code| {
                code.edges
                    .iter()
                    .map(|edge| match edge.ops.last() {
                        Some(Op::Call(_, _, Some(Lhs::Local(local)))) => Some(*local),
                        _ => None,
                    })
                    .collect()
            })
            .collect();
        let live = program.templates.iter().map(live_locals).collect();
        Self { live, results, keeps_dead: program.reuses_addresses }
    }

    /// Whether the value of a local at a location may be read.
    #[inline]
    pub fn is_live(&self, template: TemplateId, location: LocationId, local: LocalId) -> bool {
        self.live[template][location].contains(local.index())
    }

    /// Sets dead locals to 0 in all threads that are not the same as in `near`.
    #[inline]
    pub fn forget_dead(&self, state: &mut State, near: Option<&State>) {
        if self.keeps_dead {
            return;
        }
        for (index, thread) in state.threads.iter_mut().enumerate() {
            if near.and_then(|near| near.threads.get(index)).is_some_and(|old| Arc::ptr_eq(old, thread)) {
                continue;
            }
            let depth = thread.activations.len();
            for at in 0..depth {
                let activation = &thread.activations[at];
                let live = &self.live[activation.template][activation.location];
                // The result of a call that runs is stored when it returns, whatever stands there now.
                let pending = thread.activations.get(at + 1).and_then(|callee| callee.called_by);
                let result = pending.and_then(|edge| self.results[activation.template][edge.index()]);
                let is_dead = |local: usize| {
                    !live.contains(local) || result.is_some_and(|result| result.index() == local)
                };
                let dead = |(local, value): (usize, &u64)| *value != 0 && is_dead(local);
                if activation.locals.iter().enumerate().any(dead) {
                    let activation = &mut Arc::make_mut(thread).activations[at];
                    for (local, value) in activation.locals.iter_mut().enumerate() {
                        if is_dead(local) {
                            *value = 0;
                        }
                    }
                }
            }
        }
    }
}
