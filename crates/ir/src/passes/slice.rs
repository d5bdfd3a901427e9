//! Slicing: removes assignments whose value is irrelevant.
//!
//! Data dependence only, flow-insensitive: a local or an object is *relevant* if a condition, an address, a
//! lock, a start, a join, or an assignment to something relevant reads it. All control flow stays, so
//! reachable locations stay reachable by the same path. Assignments to irrelevant variables are removed,
//! unless the goal needs their access or their fault; then their value becomes 0. [`super::dead_code`]
//! removes the remains.
//!
//! Exact for errors if [`Goal::faults`] is set, and for races if [`Goal::races`] is. Without `faults` it
//! over-approximates: an execution that ends at a fault may continue. The final content of memory is not
//! preserved.

use super::bits::BitSet;
use super::is_past;
use super::points_to::PointsTo;
use super::sharing::Sharing;
use super::totality::Totality;
use crate::expr::{Expr, Place, Targets};
use crate::ids::{Id, IdVec, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::Program;
use crate::types::IntType;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

/// What to preserve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Goal {
    /// Races: keeps every access that others may see, where races count.
    pub races: bool,
    /// Ends of executions: keeps everything that may fault.
    pub faults: bool,
}

/// Slices a program.
pub fn slice(program: &Program, goal: Goal) -> Program {
    slice_with(program, &PointsTo::of(program), goal, None).unwrap_or_else(|| program.clone())
}

/// Like [`slice`], given the points-to sets of the program; `None` when it does not finish in time.
pub fn slice_with(
    program: &Program,
    points_to: &PointsTo,
    goal: Goal,
    deadline: Option<Instant>,
) -> Option<Program> {
    let mut slicer = Slicer {
        program,
        goal,
        sharing: Sharing::of(program),
        totality: Totality::of(program),
        points_to,
        known_targets: RefCell::default(),
        objects: BitSet::new(program.objects.len()),
        locals: program.templates.iter().map(|template| BitSet::new(template.locals.len())).collect(),
        grew: false,
    };
    slicer.keep_results();
    loop {
        slicer.grew = false;
        for (id, template) in program.templates.enumerate() {
            for (number, edge) in template.edges.enumerate() {
                if number.index().is_multiple_of(64) && is_past(deadline) {
                    return None;
                }
                edge.ops.iter().for_each(|op| slicer.visit(id, op));
            }
        }
        if !slicer.grew {
            break;
        }
    }
    let mut result = program.clone();
    for (id, template) in program.templates.enumerate() {
        for edge in template.edges.ids() {
            let ops = &mut result.templates[id].edges[edge].ops;
            ops.retain_mut(|op| slicer.reduce(id, op));
        }
    }
    Some(result)
}

/// How to treat an assignment to one left-hand side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    /// The access stays, with another value.
    StaysEmpty,
    Goes,
}

type KnownTargets = FxHashMap<(TemplateId, Expr), Rc<[ObjectId]>>;

struct Slicer<'p> {
    program: &'p Program,
    goal: Goal,
    sharing: Sharing,
    totality: Totality<'p>,
    points_to: &'p PointsTo,
    /// The objects that addresses may point to; a cache.
    known_targets: RefCell<KnownTargets>,
    objects: BitSet,
    locals: IdVec<TemplateId, BitSet>,
    grew: bool,
}

impl Slicer<'_> {
    /// Results that are used count as read.
    fn keep_results(&mut self) {
        let mut ops =
            self.program.templates.iter().flat_map(|template| &template.edges).flat_map(|edge| &edge.ops);
        if ops.any(|op| matches!(op, Op::Join(_, Some(_)) | Op::Call(_, _, Some(_)))) {
            for (id, template) in self.program.templates.enumerate() {
                for local in [template.result, template.exit_value].into_iter().flatten() {
                    self.locals[id].insert(local.index());
                }
            }
        }
    }

    /// Marks what an operation needs.
    fn visit(&mut self, template: TemplateId, op: &Op) {
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs
                && !matches!(op, Op::Assign(_))
            {
                self.read(template, &place.address);
            }
        }
        match op {
            Op::Assume(operand)
            | Op::Join(operand, _)
            | Op::Free(operand)
            | Op::Allocate { size: operand, .. } => {
                self.read(template, operand);
            }
            Op::Lock(_, lock) | Op::Unlock(_, lock) => {
                self.read(template, lock);
                self.mark_targets(template, lock);
            }
            Op::Assign(assignment) => self.visit_assignment(template, assignment),
            Op::Spawn(callee, arguments, _) | Op::Call(callee, arguments, _) => {
                if let Callee::Pointer(pointer) = callee {
                    self.read(template, pointer);
                }
                for (index, argument) in arguments.iter().enumerate() {
                    if self.needs_argument(callee, index, argument) {
                        self.read(template, argument);
                    }
                }
            }
            Op::Broadcast(broadcast) => {
                broadcast.arguments.iter().for_each(|(_, argument)| self.read(template, argument));
            }
            Op::Fill(to, byte, size) => {
                if self.keeps_range(template, to, op) {
                    [to, byte, size].into_iter().for_each(|operand| self.read(template, operand));
                }
            }
            Op::Copy(to, from, size) => {
                if self.keeps_range(template, to, op) {
                    [to, from, size].into_iter().for_each(|operand| self.read(template, operand));
                    self.mark_targets(template, from);
                }
            }
        }
    }

    fn visit_assignment(&mut self, template: TemplateId, assignment: &Assignment) {
        for pair in &assignment.pairs {
            let fate = self.fate(template, assignment, pair);
            if fate == Fate::Goes {
                continue;
            }
            if let Lhs::Memory(place) = &pair.0 {
                self.read(template, &place.address);
            }
            if fate == Fate::Stays
                && let Rhs::Value(value) = &pair.1
            {
                self.read(template, value);
            }
        }
        if let Some(constraint) = &assignment.constraint {
            self.read(template, constraint);
        }
    }

    fn fate(&self, template: TemplateId, assignment: &Assignment, (lhs, rhs): &(Lhs, Rhs)) -> Fate {
        let is_relevant = match lhs {
            Lhs::Local(local) => self.locals[template].contains(local.index()),
            Lhs::Memory(place) => self.is_relevant(template, place),
        };
        if is_relevant || assignment.constraint.is_some() {
            return Fate::Stays;
        }
        let value_matters = match rhs {
            Rhs::Value(value) => {
                self.is_seen_reading(template, value)
                    || (self.goal.faults && !self.totality.never_faults(value))
            }
            Rhs::Any | Rhs::Unknown | Rhs::Float(..) => false,
        };
        if value_matters {
            return Fate::Stays;
        }
        let store_matters = match lhs {
            Lhs::Local(_) => false,
            Lhs::Memory(place) => {
                (self.goal.races && self.sharing.is_shared(place) && self.counts(template, &place.address))
                    || self.is_seen_reading(template, &place.address)
                    || (self.goal.faults && !self.totality.is_inside(place))
            }
        };
        if store_matters { Fate::StaysEmpty } else { Fate::Goes }
    }

    /// Whether an argument's value matters to the callee, or its evaluation to the goal.
    fn needs_argument(&self, callee: &Callee, index: usize, argument: &Expr) -> bool {
        let matters = match callee {
            Callee::Pointer(_) => true,
            Callee::Procedure(callee) => {
                index < self.program.templates[*callee].parameters && self.locals[*callee].contains(index)
            }
        };
        matters
            || (self.goal.races && self.sharing.reads_shared(argument))
            || (self.goal.faults && !self.totality.never_faults(argument))
    }

    fn keeps_range(&self, template: TemplateId, to: &Expr, op: &Op) -> bool {
        (self.goal.races && !self.sharing.accesses(op).is_empty())
            || (self.goal.faults && !self.totality.always_goes_on(op))
            || self.any_target(template, to, &mut |object| self.objects.contains(object.index()))
    }

    /// Whether the goal needs an access of an expression.
    fn is_seen_reading(&self, template: TemplateId, expr: &Expr) -> bool {
        if !self.goal.races || !self.sharing.reads_shared(expr) {
            return false;
        }
        let mut seen = false;
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                seen |= self.sharing.is_shared(place) && self.counts(template, &place.address);
            }
        });
        seen
    }
    /// Whether races count on what an address may point to.
    fn counts(&self, template: TemplateId, address: &Expr) -> bool {
        self.program.races_on.is_none()
            || self.any_target(template, address, &mut |object| self.program.counts_races_on(object))
    }

    /// Marks all that an expression reads, and the objects that it reads from.
    fn read(&mut self, template: TemplateId, expr: &Expr) {
        let mut loaded: Vec<&Place> = Vec::new();
        expr.walk(&mut |inner| match inner {
            Expr::Local(local) => self.grew |= self.locals[template].insert(local.index()),
            Expr::Load(place) => loaded.push(place),
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => {}
            Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) | Expr::Overflows(..) => {}
            Expr::Valid(..) | Expr::Old(_) => {}
        });
        for place in loaded {
            self.mark_targets(template, &place.address);
        }
    }

    fn mark_targets(&mut self, template: TemplateId, address: &Expr) {
        let mut found = Vec::new();
        self.any_target(template, address, &mut |object| {
            found.push(object);
            false
        });
        for object in found {
            self.grew |= self.objects.insert(object.index());
        }
    }

    fn is_relevant(&self, template: TemplateId, place: &Place) -> bool {
        self.any_target(template, &place.address, &mut |object| self.objects.contains(object.index()))
    }

    /// Whether the test holds for an object that an address may point to.
    fn any_target(
        &self,
        template: TemplateId,
        address: &Expr,
        test: &mut dyn FnMut(ObjectId) -> bool,
    ) -> bool {
        if let Expr::Address(object, _) = address {
            return test(*object);
        }
        let key = (template, address.clone());
        let known = self.known_targets.borrow().get(&key).cloned();
        let targets = known.unwrap_or_else(|| {
            let objects: Rc<[ObjectId]> = match self.points_to.targets(template, address) {
                Targets::Of(targets) => targets.iter().map(|target| target.object).collect(),
                Targets::Any => self.program.objects.ids().collect(),
            };
            self.known_targets.borrow_mut().insert(key, objects.clone());
            objects
        });
        targets.iter().any(|object| test(*object))
    }

    /// Removes irrelevant parts; says whether anything remains.
    fn reduce(&self, template: TemplateId, op: &mut Op) -> bool {
        match op {
            Op::Assign(assignment) => {
                let fates: Vec<Fate> =
                    assignment.pairs.iter().map(|pair| self.fate(template, assignment, pair)).collect();
                let mut fates = fates.into_iter();
                assignment.pairs.retain_mut(|(lhs, rhs)| match fates.next() {
                    Some(Fate::Goes) => false,
                    Some(Fate::StaysEmpty) => {
                        let ty = match lhs {
                            Lhs::Local(local) => self.program.templates[template].locals[*local].ty,
                            Lhs::Memory(place) => place.ty,
                        };
                        *rhs = Rhs::Value(Expr::Const(0, ty));
                        true
                    }
                    Some(Fate::Stays) | None => true,
                });
                !assignment.pairs.is_empty() || assignment.constraint.is_some()
            }
            Op::Fill(to, ..) | Op::Copy(to, ..) => {
                let to = to.clone();
                self.keeps_range(template, &to, op)
            }
            Op::Spawn(callee, arguments, _) | Op::Call(callee, arguments, _) => {
                for (index, argument) in arguments.iter_mut().enumerate() {
                    if !self.needs_argument(callee, index, argument) {
                        let ty: IntType = self.program.type_of(template, argument);
                        *argument = Expr::Const(0, ty);
                    }
                }
                true
            }
            Op::Assume(_)
            | Op::Lock(..)
            | Op::Unlock(..)
            | Op::Join(..)
            | Op::Allocate { .. }
            | Op::Free(_)
            | Op::Broadcast(_) => true,
        }
    }
}
