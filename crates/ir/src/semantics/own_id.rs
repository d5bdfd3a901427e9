//! Whether the first thread can know its own id.
//!
//! It can only get its id by asking: `pthread_create` returns the ids of others. So if it never asks, a
//! number that it joins and that equals its id was never set, or was made up, and joining it is undefined
//! (POSIX, `pthread_join`: a value that does not refer to a joinable thread, or refers to the calling one).
//! If it asks, joining itself means waiting for ever, which is worth reporting.

use crate::expr::Expr;
use crate::ids::{IdVec, TemplateId};
use crate::op::{Callee, Op};
use crate::program::Program;

/// Whether a thread that runs from the start may ask for its own id. Over-approximates: a call through a
/// pointer may call everything.
pub fn may_ask_for_own_id(program: &Program) -> bool {
    let mut seen: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
    let mut open: Vec<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
    while let Some(template) = open.pop() {
        if std::mem::replace(&mut seen[template], true) {
            continue;
        }
        for op in program.templates[template].edges.iter().flat_map(|edge| &edge.ops) {
            match op {
                Op::Call(Callee::Procedure(callee), ..) => open.push(*callee),
                Op::Call(Callee::Pointer(_), ..) => open.extend(program.templates.ids()),
                Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) => {}
                Op::Join(..) | Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
                Op::Broadcast(_) => {}
            }
            let mut asks = false;
            for expr in op.expressions() {
                expr.walk(&mut |inner| asks |= matches!(inner, Expr::Myself));
            }
            if asks {
                return true;
            }
        }
    }
    false
}
