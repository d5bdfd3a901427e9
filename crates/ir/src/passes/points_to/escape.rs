//! Which objects other threads than their owner can reach.
//!
//! A pointer passes from one thread to another only through memory that both can reach, through the
//! arguments of a start, or through a thread's result. So what can be reached from static objects, such
//! arguments and results, and from there on, escapes. An object of a thread (a frame object, a thread-local
//! one, an allocated one) that does not escape is touched by the thread that owns it alone, and each thread
//! touches its own. An access at an address that nothing is known of may reach whatever has an address that
//! was ever taken. Over-approximates what escapes, as far as the points-to sets do.

use super::PointsTo;
use super::shape::Offset;
use super::solve::{Node, Pointee};
use crate::expr::Expr;
use crate::ids::{IdVec, ObjectId, TemplateId};
use crate::op::{Lhs, Op};
use crate::program::{Program, Storage};

impl PointsTo {
    /// Whether each object of the program may be reached by a thread that does not own it.
    pub fn escaping(&self, program: &Program) -> IdVec<ObjectId, bool> {
        let mut escapes: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
        let mut open: Vec<ObjectId> = Vec::new();
        for (id, object) in program.objects.enumerate() {
            if object.storage == Storage::Static {
                escapes[id] = true;
                open.push(id);
            }
        }
        let mut reach = |pointee: Pointee, open: &mut Vec<ObjectId>| {
            if let Pointee::Cell(object, _) = pointee
                && !escapes[object]
            {
                escapes[object] = true;
                open.push(object);
            }
        };
        if self.accesses_anything(program) {
            let taken = self.solver.escaped_objects.iter();
            taken.for_each(|object| reach(Pointee::Cell(*object, Offset::ANYWHERE), &mut open));
        }
        let held =
            |node: Node| self.solver.points_to(node).iter().map(|id| self.solver.pointees[*id as usize]);
        held(self.solver.thread_results).for_each(|pointee| reach(pointee, &mut open));
        for (id, template) in program.templates.enumerate() {
            for op in template.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Spawn(_, arguments, _) = op {
                    let passed = arguments.iter().flat_map(|argument| self.eval(id, argument));
                    passed.for_each(|pointee| reach(pointee, &mut open));
                }
            }
        }
        while let Some(object) = open.pop() {
            let first = self.solver.first_cell[object];
            for cell in 0..self.solver.shapes[object].cells.len() as Node {
                held(first + cell).for_each(|pointee| reach(pointee, &mut open));
            }
        }
        escapes
    }

    /// Whether nothing is known of an address.
    pub fn is_unknown(&self, template: TemplateId, address: &Expr) -> bool {
        self.is_anything(template, address)
    }

    /// Whether an operation may access memory at an address that nothing is known of.
    pub fn accesses_anything(&self, program: &Program) -> bool {
        let is_unknown = |template: TemplateId, address: &Expr| self.is_unknown(template, address);
        program.templates.enumerate().any(|(id, template)| {
            template.edges.iter().flat_map(|edge| &edge.ops).any(|op| {
                let mut found = false;
                for expr in op.expressions() {
                    expr.walk(&mut |inner| {
                        found |= matches!(inner, Expr::Load(place) if is_unknown(id, &place.address));
                    });
                }
                for lhs in op.targets() {
                    found |= matches!(lhs, Lhs::Memory(place) if is_unknown(id, &place.address));
                }
                found
                    || match op {
                        Op::Lock(_, address) | Op::Unlock(_, address) | Op::Free(address) => {
                            is_unknown(id, address)
                        }
                        Op::Fill(to, ..) => is_unknown(id, to),
                        Op::Copy(to, from, _) => is_unknown(id, to) || is_unknown(id, from),
                        Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) => false,
                        Op::Allocate { .. } | Op::Call(..) | Op::Broadcast(_) => false,
                    }
            })
        })
    }
}
