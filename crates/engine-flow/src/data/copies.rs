//! Equalities between locals and shared memory that no other thread can break.
//!
//! A forward analysis along the edges of each template, the greatest solution: `local = expression` holds at
//! a location if every edge to it establishes it ([`domains::Scope::equal_after`]), and no other thread may
//! write a cell that the expression loads while a thread is at the location. So a value that was read under a
//! lock is known to be current, and a test of the local is a test of the cell.
//!
//! The fewer writes there are in the data flow graph, the more equalities hold: they are computed again in
//! each round, and hold in the end by the same induction as the invariants.

use super::flows::FlowGraph;
use super::setup::{Setup, Subject};
use crate::model::Node;
use domains::Variable;
use ir::ids::Id;
use ir::{Expr, IdVec, LocalId};
use std::collections::{BTreeSet, VecDeque};

/// Equalities at each location, on top of those that hold whatever other threads do.
pub type Copies = IdVec<Node, Vec<(LocalId, Expr)>>;

/// The most equalities at a location.
const MOST: usize = 64;

/// The equalities that hold under a data flow graph.
pub fn copies(setup: &Setup<'_, '_>, graph: &FlowGraph) -> Copies {
    let model = setup.model;
    let mut written: IdVec<Node, BTreeSet<Variable>> = model.nodes.iter().map(|_| BTreeSet::new()).collect();
    for (id, during) in graph.during.iter().enumerate() {
        for node in during.iter() {
            if let Subject::Cell(cell) = setup.definitions[id].subject {
                written[Node::new(node)].insert(cell);
            }
        }
    }
    let mut found: IdVec<Node, Option<Vec<(LocalId, Expr)>>> = model.nodes.iter().map(|_| None).collect();
    let mut queue = VecDeque::new();
    for template in model.program.templates.ids() {
        found[model.entry(template)] = Some(Vec::new());
        queue.push_back(model.entry(template));
    }
    while let Some(node) = queue.pop_front() {
        for step in &model.steps[node] {
            let Some(here) = &found[node] else { continue };
            let scope = setup.scope(step.template);
            let fixed = setup.fixed_equal(node);
            let before: Vec<(LocalId, Expr)> = fixed.iter().chain(here).cloned().collect();
            let mut after = scope.equal_after(step.edge, &before);
            let target = model.target(*step);
            let location = model.edge(*step).target;
            let known = setup.fixed_equal(target);
            after.retain(|(local, value)| {
                setup.is_live(step.template, location, *local) && {
                    let loads = scope.loads(value);
                    !matches!(value, Expr::Const(..))
                        && is_present(value)
                        && !loads.iter().any(|cell| written[target].contains(cell))
                }
            });
            after.retain(|fact| !known.contains(fact));
            after.truncate(MOST);
            let changed = match &mut found[target] {
                there @ None => {
                    *there = Some(after);
                    true
                }
                Some(there) => {
                    let before = there.len();
                    there.retain(|fact| after.contains(fact));
                    there.len() != before
                }
            };
            if changed {
                queue.push_back(target);
            }
        }
    }
    found.iter().map(|found| found.clone().unwrap_or_default()).collect()
}

/// Whether an expression is only about present values: others are no facts of a proof.
fn is_present(expr: &Expr) -> bool {
    let mut is_present = true;
    expr.walk(&mut |inner| {
        is_present &= !matches!(inner, Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_));
    });
    is_present
}
