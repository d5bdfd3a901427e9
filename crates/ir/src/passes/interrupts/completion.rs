//! Run to completion: interrupted code takes no step before the handler has ended.
//!
//! Each step of the main procedure, and of a handler that can be interrupted, that others may notice gets a
//! last condition: no handler that can be interrupted started later and still runs. (A handler that cannot be
//! interrupted is an atomic region: no other thread takes a step anyway.) The condition comes last because
//! the accesses of a step before it blocks count for races: this is the interrupted access. Exact; runs after
//! shared accesses are split.

use super::count;
use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{IdVec, ObjectId, TemplateId};
use crate::op::{Callee, Lhs, LockKind, Op};
use crate::program::{Edge, ObjectRole, Program, Template};
use crate::types::IntType;

/// Adds the conditions. Programs without interruptible handlers stay unchanged.
pub fn run_to_completion(program: &Program) -> Program {
    let mut result = program.clone();
    let find = |role: ObjectRole| program.objects.enumerate().find(|(_, object)| object.role == role);
    let (Some((lock, _)), Some((level, _)), Some((main, _))) =
        (find(ObjectRole::Processor), find(ObjectRole::HandlerLevel), program.start.first())
    else {
        return result;
    };
    let own = Expr::load(Place { atomic: true, ..Place::cell(level, 0, IntType::U32) });
    let handlers = program.start[1..].iter().map(|(template, _)| *template);
    let handlers = handlers.filter(|template| is_nesting(&program.templates[*template], lock));
    let roots = std::iter::once((*main, Expr::int(0, IntType::U32)))
        .chain(handlers.map(|handler| (handler, own.clone())));
    for (root, level) in roots {
        let runs = Expr::binary(BinaryOp::Eq, IntType::U32, count(lock), level);
        for (id, reached) in reachable(program, root).enumerate() {
            if *reached {
                guard(&mut result.templates[id], &runs);
            }
        }
    }
    result
}

/// Whether a template is the thread of a handler that can be interrupted.
fn is_nesting(template: &Template, lock: ObjectId) -> bool {
    let is_start = |op: &Op| *op == Op::Lock(LockKind::Read, Expr::Address(lock, 0));
    template.edges.iter().flat_map(|edge| &edge.ops).any(is_start)
}

/// The templates that a thread runs. Those of the main procedure and of handlers are different ones.
fn reachable(program: &Program, root: TemplateId) -> IdVec<TemplateId, bool> {
    let mut reached: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
    let mut queue = vec![root];
    while let Some(id) = queue.pop() {
        if !std::mem::replace(&mut reached[id], true) {
            for op in program.templates[id].edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Call(Callee::Procedure(callee), ..) = op {
                    queue.push(*callee);
                }
            }
        }
    }
    reached
}

fn guard(template: &mut Template, runs: &Expr) {
    let condition = Op::Assume(runs.clone());
    let locations = &template.locations;
    for edge in template.edges.iter_mut() {
        let starts = edge.ops.iter().any(|op| matches!(op, Op::Lock(LockKind::Read, _)));
        let ends = edge.ops.iter().any(|op| matches!(op, Op::Unlock(LockKind::Read, _)));
        let notable = edge.ops.iter().any(touches_memory) || locations[edge.target].atomic;
        // Templates that several threads run get the condition once.
        let done = edge.ops.contains(&condition);
        if locations[edge.source].atomic || starts || !notable || calls(edge) || done {
            continue;
        }
        // The end of a handler changes the subject of the condition, and makes no access that could race.
        let at = if ends { 0 } else { edge.ops.len() };
        edge.ops.insert(at, condition.clone());
    }
}

fn calls(edge: &Edge) -> bool {
    matches!(edge.ops.last(), Some(Op::Call(..)))
}

fn touches_memory(op: &Op) -> bool {
    let mut loads = false;
    for expr in op.expressions() {
        expr.walk(&mut |inner| loads |= matches!(inner, Expr::Load(_)));
    }
    let stores = op.targets().into_iter().any(|lhs| matches!(lhs, Lhs::Memory(_)));
    let other = match op {
        Op::Assume(_) | Op::Assign(_) | Op::Call(..) => false,
        Op::Lock(..)
        | Op::Unlock(..)
        | Op::Spawn(..)
        | Op::Join(..)
        | Op::Allocate { .. }
        | Op::Free(_)
        | Op::Fill(..)
        | Op::Copy(..)
        | Op::Broadcast(_) => true,
    };
    loads || stores || other
}
