//! Which objects may be gone while their addresses are still known, so that another object may get the same
//! address. Over-approximates.

use super::super::points_to::{Pointee, PointsTo};
use super::numbers::callees;
use crate::ids::{IdVec, ObjectId, TemplateId};
use crate::op::Op;
use crate::program::{Program, Storage};

/// Objects whose addresses may be given out again.
pub(super) struct Reused {
    /// Allocation sites whose objects may be freed before others are allocated.
    pub(super) freed: IdVec<ObjectId, bool>,
    /// Objects on stacks whose addresses may outlive them.
    pub(super) dangling: IdVec<ObjectId, bool>,
}

impl Reused {
    pub(super) fn of(program: &Program, points_to: &PointsTo, once: &IdVec<TemplateId, bool>) -> Self {
        // Functions that threads start with, and that are never called: their locals live as long as the
        // thread.
        let mut first: IdVec<TemplateId, bool> = program.templates.iter().map(|_| true).collect();
        for (id, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Call(callee, ..) = op {
                    callees(points_to, id, callee).into_iter().for_each(|id| first[id] = false);
                }
            }
        }
        let outliving = points_to.kept_addresses(program, &first);
        let dangling = program.objects.enumerate().map(|(id, object)| match object.storage {
            Storage::Static | Storage::Site => false,
            Storage::Frame(template) => outliving[id] && !once[template],
            Storage::ThreadLocal => outliving[id],
        });
        Self { freed: freed_sites(program, points_to, once), dangling: dangling.collect() }
    }

    /// Whether the address of an object may be given out again.
    pub(super) fn has(&self, object: ObjectId) -> bool {
        self.freed[object] || self.dangling[object]
    }

    /// Whether any may.
    pub(super) fn is_any(&self) -> bool {
        self.freed.iter().chain(self.dangling.iter()).any(|reused| *reused)
    }
}

/// The allocation sites whose objects may be freed, if memory may be allocated after that.
fn freed_sites(
    program: &Program,
    points_to: &PointsTo,
    once: &IdVec<TemplateId, bool>,
) -> IdVec<ObjectId, bool> {
    let mut freed: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
    if !allocates_after_free(program, points_to, once) {
        return freed;
    }
    for (id, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            let Op::Free(address) = op else { continue };
            for pointee in points_to.pointees(id, address) {
                match pointee {
                    Pointee::Cell(object, _) => {
                        freed[object] |= program.objects[object].storage == Storage::Site
                    }
                    Pointee::Anything => {
                        for object in points_to.escaped_objects() {
                            freed[*object] |= program.objects[*object].storage == Storage::Site;
                        }
                    }
                    Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
                }
            }
        }
    }
    freed
}

/// Whether some memory may be allocated after some was freed.
fn allocates_after_free(program: &Program, points_to: &PointsTo, once: &IdVec<TemplateId, bool>) -> bool {
    // What each template does, with what it calls and starts: whether it frees, whether it allocates, whether
    // it starts threads that do.
    let mut frees: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
    let mut allocates = frees.clone();
    let mut started = frees.clone();
    let mut changed = true;
    while std::mem::replace(&mut changed, false) {
        for (id, code) in program.templates.enumerate() {
            let before = (frees[id], allocates[id]);
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                match op {
                    Op::Free(_) => frees[id] = true,
                    Op::Allocate { .. } => allocates[id] = true,
                    Op::Call(callee, ..) | Op::Spawn(callee, ..) => {
                        for callee in callees(points_to, id, callee) {
                            frees[id] |= frees[callee];
                            allocates[id] |= allocates[callee];
                            started[callee] |= matches!(op, Op::Spawn(..));
                        }
                    }
                    Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => {}
                    Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
                }
            }
            changed |= before != (frees[id], allocates[id]);
        }
    }
    let is_concurrent = |does: &IdVec<TemplateId, bool>| {
        let starts = program.start.iter().any(|(template, _)| !once[*template] && does[*template]);
        starts || program.templates.ids().any(|id| started[id] && does[id])
    };
    let anywhere = |does: &IdVec<TemplateId, bool>| does.iter().any(|does| *does);
    let several = program.start.len() > 1 || is_concurrent(&frees) || is_concurrent(&allocates);
    if several {
        return anywhere(&frees) && anywhere(&allocates);
    }
    // One thread does both: whether it can allocate after it has freed.
    program.templates.enumerate().any(|(id, code)| {
        let outgoing = code.outgoing();
        let does = |op: &Op, what: &IdVec<TemplateId, bool>, itself: bool| match op {
            Op::Call(callee, ..) => callees(points_to, id, callee).into_iter().any(|callee| what[callee]),
            _ => itself,
        };
        let frees_here = |op: &Op| does(op, &frees, matches!(op, Op::Free(_)));
        let allocates_here = |op: &Op| does(op, &allocates, matches!(op, Op::Allocate { .. }));
        code.edges.iter().any(|edge| {
            if !edge.ops.iter().any(frees_here) {
                return false;
            }
            // `realloc` allocates first, in the model; it may return the same address.
            let is_same_call = code.edges.iter().any(|other| {
                other.span == edge.span && other.ops.iter().any(|op| matches!(op, Op::Allocate { .. }))
            });
            let mut seen: Vec<bool> = code.locations.iter().map(|_| false).collect();
            let mut open = vec![edge.target];
            let mut later = edge.ops.iter().any(allocates_here);
            while let Some(location) = open.pop() {
                if std::mem::replace(&mut seen[location.0 as usize], true) {
                    continue;
                }
                for next in outgoing[location].iter().map(|next| &code.edges[*next]) {
                    later |= next.ops.iter().any(allocates_here);
                    open.push(next.target);
                }
            }
            later || is_same_call
        })
    })
}
