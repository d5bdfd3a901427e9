//! Atomic runs: in a program without data races, threads need to be switched only after the steps that
//! synchronise them (Lipton 1975).
//!
//! Preserves which errors are reached, provided that no execution has a data race; does not preserve races or
//! deadlocks. Only flags of locations change, so executions of the result are executions of the program, step
//! by step.
//!
//! A step is a *mover* under these conditions: it has at most one operation; it makes only plain accesses, at
//! addresses that are not themselves loaded from memory; it touches no bytes that lock operations use, and no
//! object whose lifetime another thread may end by returning or ending (this is no access, and so no race,
//! but the step would be invalid afterwards); and it does not free memory, since another thread may then get
//! the same address. In a race-free program, such a step `a` is a right mover: if another thread's step `b`
//! comes next, neither touches what the other writes; both were enabled in the state before, so that would be
//! a race. So `b; a` is also possible, and leads to the same state. A location becomes atomic if only movers
//! lead to it. Then between two locations that are not atomic, a thread takes movers and at most one other
//! step, which is the last. Given an execution to an error:
//!
//! 1. For each thread except the one at the error, the movers after its last other step are moved to the end
//!    and dropped: the error is reached without them. So a run that never ends does no harm.
//! 2. All other movers are moved to the right, until they are directly before the last step of their run.
//!
//! The result is an execution in which runs are not interrupted. Having fewer atomic locations would be sound
//! as well: runs then end earlier.

use super::footprint::{Extent, Region, accesses};
use super::points_to::PointsTo;
use super::sharing::base_object;
use crate::expr::Expr;
use crate::ids::{IdVec, ObjectId, TemplateId};
use crate::op::{Callee, Op};
use crate::program::{Edge, LocationKind, Object, Program, Storage, Template};
use crate::semantics::mutex_kind_offset;
use std::collections::BTreeSet;

/// Makes runs of steps atomic. For programs that have no data races.
pub fn lipton_reduce(program: &Program) -> Program {
    lipton_reduce_with(program, &PointsTo::of(program))
}

/// Like [`lipton_reduce`], given the points-to sets of the program.
pub fn lipton_reduce_with(program: &Program, points_to: &PointsTo) -> Program {
    let movers = Movers::of(program, points_to);
    let mut result = program.clone();
    for (template, code) in program.templates.enumerate() {
        // Whether each location is reached by movers only.
        let mut inside: IdVec<_, bool> = code.locations.iter().map(|_| false).collect();
        for edge in &code.edges {
            inside[edge.target] = true;
        }
        inside[code.entry] = movers.pure[template] && !movers.started.contains(&template);
        for edge in code.edges.iter().filter(|edge| !movers.is_mover(program, template, edge)) {
            inside[edge.target] = false;
        }
        for (location, inside) in inside.enumerate() {
            let target = &mut result.templates[template].locations[location];
            target.atomic |= *inside && target.kind == LocationKind::Normal;
        }
    }
    result
}

struct Movers<'a> {
    points_to: &'a PointsTo,
    /// The bytes that operations on locks use.
    locks: Vec<Region>,
    /// The objects of threads that others may reach and whose lifetime ends while others run.
    mortal: BTreeSet<ObjectId>,
    /// Procedures that consist of movers.
    pure: IdVec<TemplateId, bool>,
    /// The locations at which threads may begin.
    started: BTreeSet<TemplateId>,
}

impl<'a> Movers<'a> {
    fn of(program: &Program, points_to: &'a PointsTo) -> Self {
        let (mut locks, mut started) = (Vec::new(), BTreeSet::new());
        started.extend(program.start.iter().map(|(template, _)| *template));
        let bytes = Extent::Bytes(mutex_kind_offset(program.data_model) + 4);
        for (template, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                match op {
                    Op::Lock(_, address) | Op::Unlock(_, address) => {
                        locks.push(Region::at(points_to, template, address, bytes));
                    }
                    Op::Spawn(Callee::Procedure(callee), ..) => {
                        started.insert(*callee);
                    }
                    Op::Spawn(Callee::Pointer(_), ..) => started.extend(program.templates.ids()),
                    Op::Assume(_) | Op::Assign(_) | Op::Join(..) | Op::Allocate { .. } | Op::Free(_) => {}
                    Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => {}
                }
            }
        }
        locks.dedup();
        let pure = program.templates.iter().map(|_| true).collect();
        let mortal = mortal_objects(program, points_to);
        let mut movers = Self { points_to, locks, mortal, pure, started };
        // If a procedure is no mover, neither are its callers.
        loop {
            let impure: Vec<TemplateId> = program
                .templates
                .enumerate()
                .filter(|(template, code)| {
                    movers.pure[*template] && !movers.is_pure(program, *template, code)
                })
                .map(|(template, _)| template)
                .collect();
            if impure.is_empty() {
                return movers;
            }
            impure.into_iter().for_each(|template| movers.pure[template] = false);
        }
    }

    fn is_pure(&self, program: &Program, template: TemplateId, code: &Template) -> bool {
        let ends = |kind| match kind {
            LocationKind::Normal | LocationKind::End | LocationKind::Error(_) => false,
            LocationKind::Exit | LocationKind::Halt => true,
        };
        // A frame object may reuse the address of an earlier frame's object, to which a pointer may still
        // exist.
        let has_frame = program.objects.iter().any(|object| object.storage == Storage::Frame(template));
        !has_frame
            && !code.locations.iter().any(|location| location.atomic || ends(location.kind))
            && code.edges.iter().all(|edge| self.is_mover(program, template, edge))
    }

    fn is_mover(&self, program: &Program, template: TemplateId, edge: &Edge) -> bool {
        if program.templates[template].locations[edge.source].atomic {
            return false;
        }
        let mut touched = edge.ops.iter().flat_map(|op| accesses(self.points_to, template, op)).peekable();
        let touches = touched.peek().is_some();
        edge.ops.iter().all(|op| self.moves(op))
            && (!touches || edge.ops.len() == 1)
            && touched.all(|access| {
                !access.atomic
                    && !has_load(access.address)
                    && !self.may_end(access.address, &access.region)
                    && !self.locks.iter().any(|lock| lock.overlaps(&access.region))
            })
    }

    /// Whether an access may be to an object that another thread ends.
    fn may_end(&self, address: &Expr, region: &Region) -> bool {
        let is_own = base_object(address).is_some_and(|object| self.mortal.contains(&object));
        !is_own
            && match region.objects() {
                Some(mut objects) => objects.any(|object| self.mortal.contains(&object)),
                None => !self.mortal.is_empty(),
            }
    }

    fn moves(&self, op: &Op) -> bool {
        let asks_for_life = |expr: &&Expr| {
            let mut found = false;
            expr.walk(&mut |inner| found |= matches!(inner, Expr::Valid(..)));
            found
        };
        if op.expressions().iter().any(asks_for_life) {
            return false;
        }
        match op {
            Op::Assume(_) | Op::Assign(_) | Op::Fill(..) | Op::Copy(..) => true,
            Op::Call(Callee::Procedure(callee), ..) => self.pure[*callee],
            Op::Call(Callee::Pointer(_), ..) => false,
            Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) => false,
            Op::Allocate { .. } | Op::Free(_) | Op::Broadcast(_) => false,
        }
    }
}

/// The frame and thread objects that others may reach, and whose lifetime ends while others run; not those of
/// a `main` that ends the program when it returns.
fn mortal_objects(program: &Program, points_to: &PointsTo) -> BTreeSet<ObjectId> {
    let reaches = |template: &Template, kind: LocationKind| {
        template.edges.iter().any(|edge| template.locations[edge.target].kind == kind)
    };
    // A thread may exit in a procedure that is called, directly or not.
    let mut exits: IdVec<TemplateId, bool> =
        program.templates.iter().map(|template| reaches(template, LocationKind::Exit)).collect();
    loop {
        let may_exit = |op: &Op| match op {
            Op::Call(Callee::Procedure(callee), ..) => exits[*callee],
            Op::Call(Callee::Pointer(_), ..) => true,
            _ => false,
        };
        let calls_exit = |(template, code): &(TemplateId, &Template)| {
            !exits[*template] && code.edges.iter().flat_map(|edge| &edge.ops).any(may_exit)
        };
        let more: Vec<TemplateId> =
            program.templates.enumerate().filter(calls_exit).map(|(template, _)| template).collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|template| exits[template] = true);
    }
    let escapes = points_to.escaping(program);
    let ends = |(id, object): &(ObjectId, &Object)| {
        escapes[*id]
            && match object.storage {
                Storage::Static | Storage::Site => false,
                Storage::ThreadLocal => true,
                Storage::Frame(template) => {
                    exits[template] || reaches(&program.templates[template], LocationKind::End)
                }
            }
    };
    program.objects.enumerate().filter(ends).map(|(id, _)| id).collect()
}

fn has_load(address: &Expr) -> bool {
    let mut found = false;
    address.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
    found
}
