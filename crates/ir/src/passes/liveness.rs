//! Which locals may still be read.
//!
//! Backward may-analysis on one template. Over-approximates: all edges count as possible.

use super::bits::BitSet;
use crate::expr::Expr;
use crate::ids::{Id, IdVec, LocationId};
use crate::op::{Lhs, Op};
use crate::program::{LocationKind, Template};

/// The locals that are live at each location.
pub fn live_locals(template: &Template) -> IdVec<LocationId, BitSet> {
    let none = BitSet::new(template.locals.len());
    let mut live: IdVec<LocationId, BitSet> = template.locations.iter().map(|_| none.clone()).collect();
    let mut incoming: IdVec<LocationId, Vec<_>> = template.locations.iter().map(|_| Vec::new()).collect();
    for (id, edge) in template.edges.enumerate() {
        incoming[edge.target].push(id);
    }
    for (id, location) in template.locations.enumerate() {
        let kept = match location.kind {
            LocationKind::End => template.result,
            LocationKind::Exit => template.exit_value,
            LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => None,
        };
        kept.into_iter().for_each(|local| {
            live[id].insert(local.index());
        });
    }
    // Backwards from the end; later locations tend to have higher numbers.
    let mut queue: Vec<LocationId> = template.locations.ids().collect();
    let mut queued: IdVec<LocationId, bool> = template.locations.iter().map(|_| true).collect();
    while let Some(location) = queue.pop() {
        queued[location] = false;
        for edge in &incoming[location] {
            let edge = &template.edges[*edge];
            let mut before = live[location].clone();
            edge.ops.iter().rev().for_each(|op| step_back(op, &mut before));
            if live[edge.source].union_with(&before) && !std::mem::replace(&mut queued[edge.source], true) {
                queue.push(edge.source);
            }
        }
    }
    live
}

/// The locals that are live before an operation, from those that are live after it.
pub fn step_back(op: &Op, live: &mut BitSet) {
    for lhs in op.targets() {
        if let Lhs::Local(local) = lhs {
            live.remove(local.index());
        }
    }
    op.expressions().into_iter().for_each(|expr| add_read(expr, live));
}

/// Adds the locals that an expression reads.
pub fn add_read(expr: &Expr, live: &mut BitSet) {
    expr.walk(&mut |inner| {
        if let Expr::Local(local) = inner {
            live.insert(local.index());
        }
    });
}
