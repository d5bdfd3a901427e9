//! Which objects of activations may be known by their address when their life is over.
//!
//! When an object of an activation of a template dies, its address may be held by: memory that does not
//! belong to frames; activations below this one and those of other threads, in locals and frame objects; what
//! the activation itself keeps beyond the object's life; arguments of threads that start, and results of
//! threads. An activation that is not above one of the object's template is of a template that is reached
//! from the code of a thread without passing the object's template. All that such holders point to they can
//! read, so what frame objects hold that are reached counts as well, whoever owns them. A template that is
//! recursive has activations of itself below it.
//!
//! Below the activation of a template that only threads are started with there is none. Other threads have
//! got the address from memory that they reach, as an argument or as a result; so what their locals hold does
//! not count by itself, unless nothing is known of it.
//!
//! Over-approximates, as far as the points-to sets do: an object that is not among the result is never used
//! after its life.

use super::PointsTo;
use super::solve::{Node, Pointee};
use crate::ids::{IdVec, LocalId, ObjectId, TemplateId};
use crate::op::{Callee, Op};
use crate::program::{Object, Program, Storage};
use std::collections::BTreeSet;

/// What may hold an address in an activation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holder {
    /// A local of the template.
    Local(LocalId),
    /// A frame object of the template.
    Object(ObjectId),
}

/// Calls and starts of a program, those through pointers too.
struct Calls {
    callees: IdVec<TemplateId, BTreeSet<TemplateId>>,
    /// The code of threads.
    entries: BTreeSet<TemplateId>,
}

impl Calls {
    fn of(program: &Program, points_to: &PointsTo) -> Self {
        let mut calls = Self {
            callees: program.templates.iter().map(|_| BTreeSet::new()).collect(),
            entries: program.start.iter().map(|(template, _)| *template).collect(),
        };
        for (id, template) in program.templates.enumerate() {
            for op in template.edges.iter().flat_map(|edge| &edge.ops) {
                let (Op::Call(callee, ..) | Op::Spawn(callee, ..)) = op else { continue };
                let found = match callee {
                    Callee::Procedure(procedure) => vec![*procedure],
                    Callee::Pointer(pointer) => points_to.callees(id, pointer),
                };
                match op {
                    Op::Spawn(..) => calls.entries.extend(found),
                    _ => calls.callees[id].extend(found),
                }
            }
        }
        calls
    }
    /// The templates that are called from some, directly or not; these are among them. What `without` calls
    /// does not count.
    fn reached(&self, from: &BTreeSet<TemplateId>, without: Option<TemplateId>) -> BTreeSet<TemplateId> {
        let mut open: Vec<TemplateId> = from.iter().copied().collect();
        let mut found = BTreeSet::new();
        while let Some(id) = open.pop() {
            if Some(id) != without && found.insert(id) {
                open.extend(&self.callees[id]);
            }
        }
        found
    }
}

/// The objects that some nodes hold the addresses of.
struct Held {
    /// Whether nothing is known of one.
    anything: bool,
    /// The objects, in order.
    objects: Vec<ObjectId>,
}

impl Held {
    fn of(points_to: &PointsTo, nodes: impl Iterator<Item = Node>) -> Self {
        Self::of_pointees(nodes.flat_map(|node| points_to.held_by(node)))
    }
    fn of_pointees(pointees: impl Iterator<Item = Pointee>) -> Self {
        let (mut anything, mut objects) = (false, BTreeSet::new());
        for pointee in pointees {
            match pointee {
                Pointee::Anything => anything = true,
                Pointee::Cell(object, _) => {
                    objects.insert(object);
                }
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
            }
        }
        Self { anything, objects: objects.into_iter().collect() }
    }
}

/// What is held by each template's locals, by each object's cells, and by what threads pass to each other.
struct Holders {
    locals: IdVec<TemplateId, Held>,
    cells: IdVec<ObjectId, Held>,
    passed: Held,
}

impl Holders {
    fn of(program: &Program, points_to: &PointsTo) -> Self {
        let locals = program.templates.enumerate().map(|(id, template)| {
            let first = points_to.first_local[id];
            Held::of(points_to, (0..template.locals.len() as Node).map(|local| first + local))
        });
        let cells = program.objects.ids().map(|object| {
            let first = points_to.solver.first_cell[object];
            let cells = points_to.solver.shapes[object].cells.len() as Node;
            Held::of(points_to, first..first + cells)
        });
        let mut passed: BTreeSet<Pointee> = points_to.held_by(points_to.solver.thread_results).collect();
        for (id, template) in program.templates.enumerate() {
            for op in template.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Spawn(_, arguments, _) = op {
                    passed.extend(arguments.iter().flat_map(|argument| points_to.eval(id, argument)));
                }
            }
        }
        Self {
            locals: locals.collect(),
            cells: cells.collect(),
            passed: Held::of_pointees(passed.into_iter()),
        }
    }
}

impl PointsTo {
    /// The objects among some, each with the template whose activations own it, that may be known by their
    /// address when their life is over. `ends_before` says of a holder of the owner whether its life ends
    /// with the object's, or before.
    pub fn outliving(
        &self,
        program: &Program,
        candidates: &[(ObjectId, TemplateId)],
        ends_before: &dyn Fn(TemplateId, ObjectId, Holder) -> bool,
    ) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::new();
        if candidates.is_empty() {
            return found;
        }
        let calls = Calls::of(program, self);
        let holders = Holders::of(program, self);
        for &(object, owner) in candidates {
            let ends_before = |holder: Holder| ends_before(owner, object, holder);
            if self.outlives(program, &calls, &holders, object, owner, &ends_before) {
                found.insert(object);
            }
        }
        found
    }

    /// For each of some templates, those that are called from its code, directly or not.
    pub fn calls(
        &self,
        program: &Program,
        templates: impl Iterator<Item = TemplateId>,
    ) -> Vec<(TemplateId, BTreeSet<TemplateId>)> {
        let calls = Calls::of(program, self);
        templates.map(|template| (template, calls.reached(&calls.callees[template], None))).collect()
    }

    fn outlives(
        &self,
        program: &Program,
        calls: &Calls,
        holders: &Holders,
        object: ObjectId,
        owner: TemplateId,
        ends_before: &dyn Fn(Holder) -> bool,
    ) -> bool {
        let is_recursive = calls.reached(&calls.callees[owner], None).contains(&owner);
        let others = match is_recursive {
            true => program.templates.ids().collect(),
            false => calls.reached(&calls.entries, Some(owner)),
        };
        let mut held: Vec<&Held> = vec![&holders.passed];
        let is_called = calls.callees.iter().any(|callees| callees.contains(&owner));
        let locals = others.iter().map(|id| &holders.locals[*id]);
        held.extend(locals.filter(|locals| is_called || locals.anything));
        let kept = program.templates[owner].locals.ids().filter(|local| !ends_before(Holder::Local(*local)));
        let own = Held::of(self, kept.map(|local| self.first_local[owner] + local.0));
        if !others.contains(&owner) {
            held.push(&own);
        }
        let mut reached: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
        let mut open: Vec<ObjectId> = Vec::new();
        for (id, described) in program.objects.enumerate() {
            let counts = match described.storage {
                Storage::Static | Storage::ThreadLocal | Storage::Site => true,
                Storage::Frame(template) => {
                    others.contains(&template) || (template == owner && !ends_before(Holder::Object(id)))
                }
            };
            if counts && id != object {
                reached[id] = true;
                open.push(id);
            }
        }
        loop {
            for held in held.drain(..) {
                if held.anything {
                    return self.solver.escaped_objects.contains(&object);
                }
                for &target in &held.objects {
                    if target == object {
                        return true;
                    }
                    if !std::mem::replace(&mut reached[target], true) {
                        open.push(target);
                    }
                }
            }
            let Some(next) = open.pop() else { return false };
            held.push(&holders.cells[next]);
        }
    }

    fn held_by(&self, node: Node) -> impl Iterator<Item = Pointee> + '_ {
        self.solver.points_to(node).iter().map(|id| self.solver.pointees[*id as usize])
    }
}

/// The templates that are called, directly or through pointers.
pub fn called(program: &Program, points_to: &PointsTo) -> BTreeSet<TemplateId> {
    Calls::of(program, points_to).callees.iter().flatten().copied().collect()
}

/// Whether a frame object of a procedure may be used after an activation of it has ended. The code of threads
/// does not count: its objects end with their thread.
pub fn frames_are_used_late(program: &Program, points_to: &PointsTo) -> bool {
    let called = called(program, points_to);
    let of_procedure = |(id, object): (ObjectId, &Object)| match object.storage {
        Storage::Frame(template) if called.contains(&template) => Some((id, template)),
        Storage::Frame(_) | Storage::Static | Storage::ThreadLocal | Storage::Site => None,
    };
    let candidates: Vec<_> = program.objects.enumerate().filter_map(of_procedure).collect();
    !points_to.outliving(program, &candidates, &|_, _, _| true).is_empty()
}
