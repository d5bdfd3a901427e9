//! Whether the first thread can know its own id.
//!
//! Nobody but itself tells it: `pthread_create` gives out the ids of others. So where it never asks, a number that it joins
//! and that is its id was never set, or made up, and what happens then is undefined (POSIX, `pthread_join`: a value that does not refer to a
//! joinable thread, or refers to the calling one). Where it asks, joining itself is waiting for ever, which is what one would be told.

use crate::expr::Expr;
use crate::ids::{IdVec, TemplateId};
use crate::op::{Callee, Op};
use crate::program::Program;

/// Whether a thread that is there from the start may ask for its own id. Over-approximates: whoever calls through a pointer may call everything.
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
