//! The cells that a step reads, tests and writes. Over-approximates: cells that it may write are all there.

use crate::equalities::Known;
use crate::memory::{Variable, lock_bytes};
use crate::transfer::{Scope, extent};
use ir::passes::footprint::Extent;
use ir::{EdgeId, Expr, Lhs, LocalId, Op};

/// The cells that a step looks at and changes.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    /// Tracked cells that it may write, in order.
    pub writes: Vec<Variable>,
    /// Strong cells that its assumptions read, in order.
    pub tests: Vec<Variable>,
    /// Tracked cells that it reads, if it assumes anything.
    pub guards: Vec<Variable>,
}

impl Scope<'_, '_> {
    /// The cells that an expression loads.
    pub fn loads(&self, expr: &Expr) -> Vec<Variable> {
        let mut found = Vec::new();
        self.loaded(expr, &mut found);
        found
    }

    /// The cells that a step looks at and changes.
    pub fn touches(&self, edge: EdgeId, equal: &[(LocalId, Expr)]) -> Touches {
        let mut touches = Touches::default();
        let mut known = Known::new(equal);
        let mut loaded: Vec<Variable> = Vec::new();
        let mut assumes = false;
        let ops = &self.memory.program.templates[self.template].edges[edge].ops;
        for op in ops {
            for expr in op.expressions() {
                self.loaded(expr, &mut loaded);
            }
            let condition = match op {
                Op::Assume(condition) => Some(condition),
                Op::Assign(assignment) => assignment.constraint.as_ref(),
                _ => None,
            };
            if let Some(condition) = condition {
                assumes = true;
                let mut tested = Vec::new();
                self.loaded(condition, &mut tested);
                if let Some(more) = known.expanded(condition) {
                    self.loaded(&more, &mut tested);
                }
                touches.tests.extend(
                    tested.iter().filter(|cell| self.memory.cell(**cell).is_some_and(|cell| cell.strong)),
                );
                loaded.extend(tested);
            }
            self.written(op, &mut touches.writes);
            known.follow(self, op);
        }
        if assumes {
            touches.guards = loaded;
        }
        for list in [&mut touches.writes, &mut touches.tests, &mut touches.guards] {
            list.sort_unstable();
            list.dedup();
            list.retain(|cell| self.memory.cell(*cell).is_some_and(|cell| cell.tracked));
        }
        touches
    }

    fn loaded(&self, expr: &Expr, found: &mut Vec<Variable>) {
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                found.extend(self.memory.place(self.template, &place.address, place.ty).cells());
            }
        });
    }

    pub(crate) fn written(&self, op: &Op, found: &mut Vec<Variable>) {
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                found.extend(self.memory.place(self.template, &place.address, place.ty).cells());
            }
        }
        let region = |address: &Expr, extent: Extent| self.memory.region(self.template, address, extent);
        match op {
            Op::Lock(kind, address) | Op::Unlock(kind, address) => {
                found.extend(self.memory.touched(&region(address, Extent::Bytes(lock_bytes(*kind)))));
            }
            Op::Allocate { site, .. } => found.extend(self.memory.of_object(*site)),
            Op::Fill(to, _, size) | Op::Copy(to, _, size) => {
                found.extend(self.memory.touched(&region(to, extent(size))));
            }
            Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) | Op::Free(_) | Op::Call(..) => {}
            Op::Broadcast(_) => {}
        }
    }
}
