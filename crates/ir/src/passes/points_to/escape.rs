//! Which objects other threads than their owner can reach.
//!
//! A pointer passes from one thread to another only through memory that both can reach, through the arguments of a start,
//! or through a thread's result. So what can be reached from static objects, such arguments and results, and from there on,
//! escapes. An object of a thread (a frame object, a thread-local one, an allocated one) that does not escape is touched by the thread
//! that owns it alone, and each thread touches its own. Over-approximates what escapes, as far as the points-to sets do.

use super::PointsTo;
use super::solve::{Node, Pointee};
use crate::ids::{IdVec, ObjectId};
use crate::op::Op;
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
        let held =
            |node: Node| self.solver.points_to(node).iter().map(|id| self.solver.pointees[*id as usize]);
        held(self.solver.thread_results).for_each(|pointee| reach(pointee, &mut open));
        if self.solver.is_copied(self.anything) {
            held(self.anything).for_each(|pointee| reach(pointee, &mut open));
        }
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
}
