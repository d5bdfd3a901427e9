//! Locals whose value is never read again are set to 0, so that states which differ in nothing that matters
//! are equal. Exact: no expression reads a dead local (backward liveness, the textbook analysis).

use crate::bits::Bits;
use ir::ids::Id;
use ir::semantics::State;
use ir::{EdgeId, Expr, IdVec, Lhs, LocalId, LocationId, LocationKind, Op, Program, Template, TemplateId};
use std::sync::Arc;

/// The live locals at each location.
pub struct Liveness {
    live: IdVec<TemplateId, IdVec<LocationId, Bits>>,
    /// For each edge whose last operation is a call, the local that gets the result.
    results: IdVec<TemplateId, Vec<Option<LocalId>>>,
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
        Self { live: program.templates.iter().map(of_template).collect(), results }
    }

    /// Whether the value of a local at a location may be read.
    pub fn is_live(&self, template: TemplateId, location: LocationId, local: LocalId) -> bool {
        self.live[template][location].contains(local.index())
    }

    /// Sets dead locals to 0 in all threads that are not the same as in `near`.
    pub fn forget_dead(&self, state: &mut State, near: Option<&State>) {
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

fn of_template(code: &Template) -> IdVec<LocationId, Bits> {
    let bound = code.locals.len();
    let mut live: IdVec<LocationId, Bits> = code
        .locations
        .iter()
        .map(|location| {
            let mut set = Bits::new(bound);
            let kept = match location.kind {
                LocationKind::End => code.result,
                LocationKind::Exit => code.exit_value,
                LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => None,
            };
            kept.iter().for_each(|local| set.insert(local.index()));
            set
        })
        .collect();
    let mut incoming: IdVec<LocationId, Vec<EdgeId>> = code.locations.iter().map(|_| Vec::new()).collect();
    for (id, edge) in code.edges.enumerate() {
        incoming[edge.target].push(id);
    }
    let mut work: Vec<LocationId> = code.locations.ids().collect();
    while let Some(location) = work.pop() {
        for &edge in &incoming[location] {
            let edge = &code.edges[edge];
            let mut set = live[location].clone();
            for op in edge.ops.iter().rev() {
                before(op, &mut set);
            }
            if live[edge.source].union(&set) {
                work.push(edge.source);
            }
        }
    }
    live
}

/// From what is live after an operation to what is live before it.
fn before(op: &Op, live: &mut Bits) {
    for lhs in op.targets() {
        if let Lhs::Local(local) = lhs {
            live.remove(local.index());
        }
    }
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                live.insert(local.index());
            }
        });
    }
}
