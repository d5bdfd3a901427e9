//! Replaces calls and starts through pointers by branches over the procedures that the pointer may point to.
//!
//! The pointer is saved in a local first, as the step semantics evaluates it before the arguments. In the
//! original program, a pointer to none of them faults; here no branch is taken, so the execution ends as
//! well. Exact, given the rules of C under which the points-to analysis holds.

use super::points_to::PointsTo;
use crate::expr::{BinaryOp, Expr};
use crate::ids::{EdgeId, TemplateId};
use crate::op::{Callee, Lhs, Op};
use crate::program::{LocationKind, Program, Span};
use crate::types::IntType;
use std::collections::BTreeSet;
use std::time::Instant;

/// Resolves all calls and starts through pointers.
pub fn resolve_calls(program: &Program) -> Program {
    resolve_with(program, |program| Some(PointsTo::of(program))).unwrap_or_else(|| program.clone())
}

/// Like [`resolve_calls`]; `None` when it does not finish in time.
pub fn resolve_calls_until(program: &Program, deadline: Option<Instant>) -> Option<Program> {
    resolve_with(program, |program| PointsTo::until(program, deadline))
}

fn resolve_with(program: &Program, analyse: impl Fn(&Program) -> Option<PointsTo>) -> Option<Program> {
    if !program
        .templates
        .iter()
        .flat_map(|template| &template.edges)
        .any(|edge| edge.ops.iter().any(is_dynamic))
    {
        return Some(program.clone());
    }
    let points_to = analyse(program)?;
    let mut result = program.clone();
    for (id, template) in program.templates.enumerate() {
        for (edge, _) in template.edges.enumerate() {
            if result.templates[id].edges[edge].ops.last().is_some_and(is_dynamic) {
                resolve(&mut result, id, edge, &points_to);
            }
        }
    }
    Some(result)
}

/// The templates whose code may run: those of the first threads, and all that their code calls or starts,
/// directly or through pointers.
pub fn callable(program: &Program) -> BTreeSet<TemplateId> {
    callable_with(program, &mut None)
}

/// Like [`callable`], with given points-to sets: of the program, or of an earlier form of it with the same
/// flow of addresses. If needed and not given, they are computed.
pub fn callable_with(program: &Program, points_to: &mut Option<PointsTo>) -> BTreeSet<TemplateId> {
    let mut open: Vec<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        for op in program.templates[id].edges.iter().flat_map(|edge| &edge.ops) {
            match op {
                Op::Call(Callee::Procedure(callee), ..) | Op::Spawn(Callee::Procedure(callee), ..) => {
                    open.push(*callee);
                }
                Op::Call(Callee::Pointer(pointer), ..) | Op::Spawn(Callee::Pointer(pointer), ..) => {
                    let points_to = points_to.get_or_insert_with(|| PointsTo::of(program));
                    open.extend(points_to.callees(id, pointer));
                }
                Op::Assume(_)
                | Op::Assign(_)
                | Op::Lock(..)
                | Op::Unlock(..)
                | Op::Join(..)
                | Op::Allocate { .. }
                | Op::Free(_)
                | Op::Fill(..)
                | Op::Copy(..)
                | Op::Broadcast(_) => {}
            }
        }
    }
    found
}

/// Whether an operation calls or starts through a pointer.
pub fn is_dynamic(op: &Op) -> bool {
    matches!(op, Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..))
}

fn resolve(program: &mut Program, id: TemplateId, edge: EdgeId, points_to: &PointsTo) {
    let ty = program.data_model.pointer();
    let step = program.templates[id].edges[edge].clone();
    let template = &program.templates[id];
    let atomic = template.locations[step.source].atomic;
    let mut ops = step.ops;
    let Some(Op::Call(Callee::Pointer(pointer), ..) | Op::Spawn(Callee::Pointer(pointer), ..)) = ops.last()
    else {
        return;
    };
    let pointer = pointer.clone();
    let callees: Vec<(TemplateId, Vec<IntType>, bool)> = points_to
        .callees(id, &pointer)
        .into_iter()
        .map(|callee| {
            let code = &program.templates[callee];
            let parameters = code.locals.iter().take(code.parameters).map(|local| local.ty);
            (callee, parameters.collect(), code.result.is_some())
        })
        .collect();
    let template = &mut program.templates[id];
    let saved = template.local(format!("%f{}", template.locals.len()), ty, Span::default());
    let branches = template.location(LocationKind::Normal, atomic);
    let last = ops.pop();
    ops.push(Op::set(Lhs::Local(saved), pointer));
    template.edges[edge].ops = ops;
    template.edges[edge].target = branches;
    for (callee, parameters, has_result) in &callees {
        // What is missing is 0, as on the machine.
        let missing = |arguments: &[Expr]| -> Vec<Expr> {
            let padding = parameters.iter().skip(arguments.len()).map(|ty| Expr::Const(0, *ty));
            arguments.iter().cloned().chain(padding).collect()
        };
        let mut lost = None;
        let call = match &last {
            Some(Op::Call(_, arguments, lhs)) => {
                let lhs = lhs.clone();
                let given = if *has_result {
                    lhs
                } else {
                    lost = lhs;
                    None
                };
                Op::Call(Callee::Procedure(*callee), missing(arguments), given)
            }
            Some(Op::Spawn(_, arguments, lhs)) => {
                Op::Spawn(Callee::Procedure(*callee), missing(arguments), lhs.clone())
            }
            _ => return,
        };
        let is_callee = Expr::binary(BinaryOp::Eq, ty, Expr::Local(saved), Expr::Procedure(*callee));
        let chosen = template.location(LocationKind::Normal, atomic);
        template.edge(branches, chosen, vec![Op::Assume(is_callee)], step.span);
        let target = match lost {
            Some(Lhs::Local(local)) => {
                let done = template.location(LocationKind::Normal, atomic);
                let zero = Expr::Const(0, template.locals[local].ty);
                template.edge(done, step.target, vec![Op::set(Lhs::Local(local), zero)], step.span);
                done
            }
            Some(Lhs::Memory(_)) | None => step.target,
        };
        template.edge(chosen, target, vec![call], step.span);
    }
    if callees.is_empty() {
        template.edge(branches, step.target, vec![Op::Assume(Expr::bool(false))], step.span);
    }
}
