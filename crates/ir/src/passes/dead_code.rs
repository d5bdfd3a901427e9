//! Dead code elimination.
//!
//! Removes branches on constants, unreachable locations, assignments to dead locals (if they cannot fault and
//! read no shared memory), and locals, objects and templates that nothing mentions. Exact: errors, races and
//! the content of memory stay the same. Addresses of objects may change.

use super::liveness::{live_locals, step_back};
use super::renumber;
use super::sharing::Sharing;
use super::totality::Totality;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::{Id, IdVec, LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::program::{Initial, Program, Storage, Template};
use crate::types::{IntType, Value};

/// Removes dead code.
pub fn remove_dead_code(program: &Program) -> Program {
    let mut result = program.clone();
    let sharing = Sharing::of(program);
    let totality = Totality::of(program);
    for template in result.templates.iter_mut() {
        fold_branches(template);
        drop_unreachable(template);
        while drop_dead_assignments(template, &sharing, &totality) {}
        drop_locals(template);
    }
    drop_unmentioned(&mut result);
    result
}

/// Removes edges whose assumption is constantly false, and assumptions that are constantly true.
fn fold_branches(template: &mut Template) {
    let mut edges = IdVec::new();
    for edge in &template.edges {
        let mut edge = edge.clone();
        let mut possible = true;
        edge.ops.retain_mut(|op| {
            let Op::Assume(condition) = op else { return true };
            fold(condition);
            possible &= *condition != Expr::bool(false);
            *condition != Expr::bool(true)
        });
        if possible {
            edges.push(edge);
        }
    }
    template.edges = edges;
}

/// Folds comparisons of constants, and Boolean operations on the results.
fn fold(expr: &mut Expr) {
    expr.rewrite(&mut |inner| {
        let folded = match inner {
            Expr::Binary(op, ty, pair) => match (op, &pair.0, &pair.1) {
                (BinaryOp::Eq, Expr::Const(a, _), Expr::Const(b, _)) => Some(a == b),
                (BinaryOp::Ne, Expr::Const(a, _), Expr::Const(b, _)) => Some(a != b),
                (BinaryOp::Lt, Expr::Const(a, _), Expr::Const(b, _)) => Some(a < b),
                (BinaryOp::Le, Expr::Const(a, _), Expr::Const(b, _)) => Some(a <= b),
                (BinaryOp::And, Expr::Const(a, _), Expr::Const(b, _)) if *ty == IntType::BOOL => {
                    Some(a & b != 0)
                }
                (BinaryOp::Or, Expr::Const(a, _), Expr::Const(b, _)) if *ty == IntType::BOOL => {
                    Some(a | b != 0)
                }
                _ => None,
            },
            Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => constant(operand).map(|value| value == 0),
            Expr::Cast(IntType::BOOL, operand) => constant(operand).map(|value| value != 0),
            _ => None,
        };
        if let Some(value) = folded {
            *inner = Expr::bool(value);
        } else if let Expr::Cast(ty, operand) = inner
            && let Some(value) = constant(operand)
        {
            *inner = Expr::int(value, *ty);
        }
    });
}

fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Const(value, _) => Some(*value),
        _ => None,
    }
}

/// Drops locations that no path from the entry leads to, with their edges.
pub fn drop_unreachable(template: &mut Template) {
    let outgoing = template.outgoing();
    let mut reached: IdVec<LocationId, bool> = template.locations.iter().map(|_| false).collect();
    let mut open = vec![template.entry];
    reached[template.entry] = true;
    while let Some(location) = open.pop() {
        for edge in &outgoing[location] {
            let target = template.edges[*edge].target;
            if !std::mem::replace(&mut reached[target], true) {
                open.push(target);
            }
        }
    }
    let mut numbers: IdVec<LocationId, LocationId> = IdVec::new();
    let mut locations = IdVec::new();
    for (id, location) in template.locations.enumerate() {
        numbers.push(LocationId::new(locations.len()));
        if reached[id] {
            locations.push(*location);
        }
    }
    let mut edges = IdVec::new();
    for edge in &template.edges {
        if reached[edge.source] {
            let mut edge = edge.clone();
            (edge.source, edge.target) = (numbers[edge.source], numbers[edge.target]);
            edges.push(edge);
        }
    }
    template.entry = numbers[template.entry];
    template.locations = locations;
    template.edges = edges;
}

/// Drops assignments to dead locals; says whether there were any.
fn drop_dead_assignments(template: &mut Template, sharing: &Sharing, totality: &Totality<'_>) -> bool {
    let live = live_locals(template);
    let mut changed = false;
    for edge in template.edges.iter_mut() {
        let mut after = live[edge.target].clone();
        for op in edge.ops.iter_mut().rev() {
            if let Op::Assign(assignment) = op
                && assignment.constraint.is_none()
            {
                assignment.pairs.retain(|(lhs, rhs)| {
                    let Lhs::Local(local) = lhs else { return true };
                    let without_effect = match rhs {
                        Rhs::Value(value) => totality.is_total(value) && !sharing.reads_shared(value),
                        Rhs::Any | Rhs::Unknown | Rhs::Float(..) => true,
                    };
                    let drop = !after.contains(local.index()) && without_effect;
                    changed |= drop;
                    !drop
                });
            }
            step_back(op, &mut after);
        }
        let is_empty = |op: &Op| {
            let Op::Assign(assignment) = op else { return false };
            assignment.pairs.is_empty() && assignment.constraint.is_none()
        };
        edge.ops.retain(|op| !is_empty(op));
    }
    changed
}

/// Drops locals that nothing mentions. Parameters stay.
fn drop_locals(template: &mut Template) {
    let mut keep: IdVec<LocalId, bool> =
        template.locals.ids().map(|id| id.index() < template.parameters).collect();
    for local in [template.result, template.exit_value].into_iter().flatten() {
        keep[local] = true;
    }
    for op in template.edges.iter().flat_map(|edge| &edge.ops) {
        for expr in op.expressions() {
            expr.walk(&mut |inner| {
                if let Expr::Local(local) = inner {
                    keep[*local] = true;
                }
            });
        }
        for lhs in op.targets() {
            if let Lhs::Local(local) = lhs {
                keep[*local] = true;
            }
        }
    }
    renumber::keep_locals(template, &keep);
}

/// Everything that reachable code mentions.
struct Mentioned {
    objects: IdVec<ObjectId, bool>,
    templates: IdVec<TemplateId, bool>,
    open_objects: Vec<ObjectId>,
    open_templates: Vec<TemplateId>,
}

impl Mentioned {
    fn object(&mut self, object: ObjectId) {
        if !std::mem::replace(&mut self.objects[object], true) {
            self.open_objects.push(object);
        }
    }
    fn template(&mut self, template: TemplateId) {
        if !std::mem::replace(&mut self.templates[template], true) {
            self.open_templates.push(template);
        }
    }
    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |inner| match inner {
            Expr::Address(object, _) => self.object(*object),
            Expr::Procedure(template) => self.template(*template),
            Expr::Const(..)
            | Expr::Local(_)
            | Expr::Load(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..) => {}
            Expr::Cast(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => {}
        });
    }
    fn op(&mut self, op: &Op) {
        op.expressions().into_iter().for_each(|expr| self.expr(expr));
        match op {
            Op::Spawn(Callee::Procedure(callee), ..) | Op::Call(Callee::Procedure(callee), ..) => {
                self.template(*callee)
            }
            Op::Allocate { site, .. } => self.object(*site),
            Op::Spawn(Callee::Pointer(_), ..) | Op::Call(Callee::Pointer(_), ..) => {}
            Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => {}
            Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
            Op::Broadcast(broadcast) => self.template(broadcast.to),
        }
    }
}

/// Drops templates and objects that reachable code does not mention.
fn drop_unmentioned(program: &mut Program) {
    let mut mentioned = Mentioned {
        objects: program.objects.iter().map(|_| false).collect(),
        templates: program.templates.iter().map(|_| false).collect(),
        open_objects: Vec::new(),
        open_templates: Vec::new(),
    };
    program.start.iter().for_each(|(template, _)| mentioned.template(*template));
    loop {
        if let Some(template) = mentioned.open_templates.pop() {
            let code = &program.templates[template];
            code.edges.iter().flat_map(|edge| &edge.ops).for_each(|op| mentioned.op(op));
        } else if let Some(object) = mentioned.open_objects.pop() {
            let object = &program.objects[object];
            if let Storage::Frame(template) = object.storage {
                mentioned.template(template);
            }
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| mentioned.expr(value));
            }
        } else {
            break;
        }
    }
    renumber::keep(program, &mentioned.objects, &mentioned.templates);
}
