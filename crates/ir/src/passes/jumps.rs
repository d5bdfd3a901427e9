//! Jump threading: an edge skips a branch whose outcome it determines.
//!
//! Constants of locals are propagated along the edges of a template. If the constants after an edge determine
//! the outcome of the branch at its target, the edge is redirected past the branch, with the local steps in
//! between appended. So the path on which a call failed does not merge with the path on which it succeeded
//! before the result is tested. Edges whose first assumption is constantly false are removed.
//!
//! Exact, for the reasons of [`super::compress`]: the appended steps are assignments to locals that never
//! block, choose nothing, and make no access that others may see, in the same atomic region or outside of
//! any; others cannot observe when they happen. No edge is redirected to the end of a thread or of the
//! program, which others do notice. No location is added, and no operation that waits is moved.

use super::dead_code::drop_unreachable;
use super::liveness::live_locals;
use super::sharing::Sharing;
use super::totality::Totality;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::{EdgeId, Id, IdVec, LocalId, LocationId};
use crate::op::{Lhs, Op, Rhs};
use crate::program::{LocationKind, Program, Template};
use crate::types::{IntType, Value};
use std::collections::{BTreeMap, VecDeque};

/// What is known of locals.
type Constants = BTreeMap<LocalId, Value>;

/// The pass is repeated this many times at most; each round only removes branches from paths.
const MOST_ROUNDS: usize = 8;
/// The most steps that an edge is redirected past.
const MOST_STEPS: usize = 24;

/// Threads the jumps of all templates.
pub fn thread_jumps(program: &Program) -> Program {
    let mut result = program.clone();
    let sharing = Sharing::of(program);
    let totality = Totality::of(program);
    for template in result.templates.iter_mut() {
        for _ in 0..MOST_ROUNDS {
            if !(Threader { sharing: &sharing, totality: &totality }).round(template) {
                break;
            }
            drop_unreachable(template);
        }
    }
    result
}

struct Threader<'a> {
    sharing: &'a Sharing,
    totality: &'a Totality<'a>,
}

impl Threader<'_> {
    fn round(&self, template: &mut Template) -> bool {
        let constants = constants(template);
        let outgoing = template.outgoing();
        let mut changed = false;
        let mut changes: Vec<(EdgeId, LocationId, Vec<Op>)> = Vec::new();
        for (id, edge) in template.edges.enumerate() {
            let Some(Some(mut known)) = constants.get(edge.source).cloned() else { continue };
            let calls = matches!(edge.ops.last(), Some(Op::Call(..)));
            if calls || !pass_ops(&edge.ops, template, &mut known) {
                continue;
            }
            if let Some((target, more)) = self.follow(template, &outgoing, edge.target, known) {
                changes.push((id, target, more));
            }
        }
        for (id, target, more) in changes {
            template.edges[id].target = target;
            template.edges[id].ops.extend(more);
            changed = true;
        }
        let before = template.edges.len();
        let possible =
            template.edges.iter().filter(|edge| match (edge.ops.first(), constants.get(edge.source)) {
                (Some(Op::Assume(condition)), Some(Some(known))) => value(condition, known) != Some(0),
                _ => true,
            });
        template.edges = possible.cloned().collect();
        changed || template.edges.len() != before
    }

    /// The location that control reaches with these constants, past at least one branch, and the steps in
    /// between.
    fn follow(
        &self,
        template: &Template,
        outgoing: &IdVec<LocationId, Vec<EdgeId>>,
        start: LocationId,
        mut known: Constants,
    ) -> Option<(LocationId, Vec<Op>)> {
        let atomic = template.locations[start].atomic;
        let (mut at, mut ops, mut best) = (start, Vec::new(), None);
        for _ in 0..MOST_STEPS {
            // Others notice the end of a thread or of the program, so edges are not redirected there.
            if template.locations[at].kind != LocationKind::Normal || template.locations[at].atomic != atomic
            {
                break;
            }
            let Some(edge) = taken(template, &outgoing[at], &known) else { break };
            let edge = &template.edges[edge];
            if template.locations[edge.target].kind != LocationKind::Normal
                || template.locations[edge.target].atomic != atomic
                || !self.append(&edge.ops, &mut known, template, &mut ops)
            {
                break;
            }
            at = edge.target;
            if outgoing[edge.source].len() > 1 {
                best = Some((at, ops.len()));
            }
        }
        let (target, count) = best?;
        ops.truncate(count);
        // An edge that only waits stays where others can see it wait.
        (target != start).then_some((target, ops))
    }

    /// Appends local steps; returns `false` when one of the steps is not local.
    fn append(&self, steps: &[Op], known: &mut Constants, template: &Template, ops: &mut Vec<Op>) -> bool {
        for op in steps {
            match op {
                Op::Assume(condition) if value(condition, known) == Some(1) => {}
                Op::Assign(assignment) => {
                    let local = assignment.constraint.is_none()
                        && assignment.pairs.iter().all(|(lhs, _)| matches!(lhs, Lhs::Local(_)))
                        && self.sharing.accesses(op).is_empty()
                        && self.totality.always_goes_on(op)
                        && !self.totality.chooses(op);
                    if !local {
                        return false;
                    }
                    pass_ops(std::slice::from_ref(op), template, known);
                    ops.push(op.clone());
                }
                _ => return false,
            }
        }
        true
    }
}

/// The only edge that can be taken, if the constants decide that.
fn taken(template: &Template, edges: &[EdgeId], known: &Constants) -> Option<EdgeId> {
    if let [only] = edges {
        return Some(*only);
    }
    let mut found = None;
    for edge in edges {
        let Some(Op::Assume(condition)) = template.edges[*edge].ops.first() else { return None };
        match value(condition, known)? {
            0 => {}
            _ if found.is_some() => return None,
            _ => found = Some(*edge),
        }
    }
    found
}

/// The constants at each location; `None` for unreachable ones.
fn constants(template: &Template) -> IdVec<LocationId, Option<Constants>> {
    let outgoing = template.outgoing();
    // Constants of dead locals are dropped: large templates have thousands of locals, few of them live at
    // once.
    let live = live_locals(template);
    let mut found: IdVec<LocationId, Option<Constants>> = template.locations.iter().map(|_| None).collect();
    // All locals but the parameters start as 0.
    found[template.entry] = Some(
        template
            .locals
            .ids()
            .skip(template.parameters)
            .map(|local| (local, 0))
            .filter(|(local, _)| live[template.entry].contains(local.index()))
            .collect(),
    );
    let mut queue = VecDeque::from([template.entry]);
    while let Some(location) = queue.pop_front() {
        let Some(here) = found[location].clone() else { continue };
        for edge in &outgoing[location] {
            let edge = &template.edges[*edge];
            let mut known = here.clone();
            if !pass_ops(&edge.ops, template, &mut known) {
                continue;
            }
            known.retain(|local, _| live[edge.target].contains(local.index()));
            let changed = match &mut found[edge.target] {
                target @ None => {
                    *target = Some(known);
                    true
                }
                Some(target) => {
                    let before = target.len();
                    target.retain(|local, value| known.get(local) == Some(value));
                    target.len() != before
                }
            };
            if changed {
                queue.push_back(edge.target);
            }
        }
    }
    found
}

/// Updates the constants for operations; returns `false` when they cannot be executed.
fn pass_ops(ops: &[Op], template: &Template, known: &mut Constants) -> bool {
    for op in ops {
        if let Op::Assume(condition) = op {
            if value(condition, known) == Some(0) {
                return false;
            }
            continue;
        }
        let mut stores: Vec<(LocalId, Option<Value>)> = Vec::new();
        if let Op::Assign(assignment) = op {
            for (lhs, rhs) in &assignment.pairs {
                if let Lhs::Local(local) = lhs {
                    let stored = match rhs {
                        Rhs::Value(stored) => value(stored, known),
                        Rhs::Any | Rhs::Unknown | Rhs::Float(..) => None,
                    };
                    stores.push((*local, stored.map(|stored| template.locals[*local].ty.wrap(stored))));
                }
            }
        } else {
            for lhs in op.targets() {
                if let Lhs::Local(local) = lhs {
                    stores.push((*local, None));
                }
            }
        }
        for (local, stored) in stores {
            match stored {
                Some(stored) => known.insert(local, stored),
                None => known.remove(&local),
            };
        }
    }
    true
}

/// The value of an expression, if the constants decide it and it does not fault.
fn value(expr: &Expr, known: &Constants) -> Option<Value> {
    match expr {
        Expr::Const(value, _) => Some(*value),
        Expr::Local(local) => known.get(local).copied(),
        Expr::Unary(op, ty, operand) => {
            let operand = value(operand, known)?;
            match op {
                UnaryOp::Not if *ty == IntType::BOOL => Some(Value::from(operand == 0)),
                UnaryOp::Not => Some(ty.wrap(!operand)),
                UnaryOp::Neg => in_range(*ty, -operand),
            }
        }
        Expr::Binary(op, ty, pair) => {
            let (left, right) = (value(&pair.0, known)?, value(&pair.1, known)?);
            match op {
                BinaryOp::Add => in_range(*ty, left + right),
                BinaryOp::Sub => in_range(*ty, left - right),
                BinaryOp::Mul => in_range(*ty, left.checked_mul(right)?),
                BinaryOp::And => Some(left & right),
                BinaryOp::Or => Some(left | right),
                BinaryOp::Xor => Some(left ^ right),
                BinaryOp::Eq => Some(Value::from(left == right)),
                BinaryOp::Ne => Some(Value::from(left != right)),
                BinaryOp::Lt => Some(Value::from(left < right)),
                BinaryOp::Le => Some(Value::from(left <= right)),
                BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => None,
            }
        }
        Expr::Cast(IntType::BOOL, operand) => Some(Value::from(value(operand, known)? != 0)),
        Expr::Cast(ty, operand) => Some(ty.wrap(value(operand, known)?)),
        Expr::IfThenElse(three) => {
            value(if value(&three.0, known)? != 0 { &three.1 } else { &three.2 }, known)
        }
        Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
    }
}

/// A result of an operation in a type: an unsigned one wraps, a signed one faults outside of its range.
fn in_range(ty: IntType, value: Value) -> Option<Value> {
    if ty.signed { ty.contains(value).then_some(value) } else { Some(ty.wrap(value)) }
}
