//! Points-to analysis: what each address may be the address of.
//!
//! Inclusion-based, flow- and context-insensitive, field-sensitive by byte offset, with one abstract object
//! for each object of the program (see `shape.rs` and `solve.rs`). Pointers are integers here, so every value
//! counts that is computed from an address in any way but a comparison; arithmetic other than addition to it
//! and subtraction from it loses the offset but not the object. So splitting an address into parts and
//! joining them again is covered. Where that is not done, parts are no addresses (`parts.rs`).
//!
//! Over-approximates, for programs that follow these rules of C:
//! 1. Pointer arithmetic stays in its object (see `shape.rs`).
//! 2. Constants and memory that was never set hold no addresses. An input ([`Rhs::Any`](crate::Rhs::Any)) of
//!    a pointer's width holds those that it is ever compared with, in its own constraint, too. Where a sum of
//!    it and a constant is compared, or its difference with one is computed, it holds any address in the
//!    objects of those. Where numbers are foreign
//!    ([`Program::foreign_numbers`]), only comparisons count that constraints make, of whole numbers without
//!    a sign. [`Rhs::Unknown`](crate::Rhs::Unknown) of a pointer's width holds every address that was ever
//!    taken. One that a constraint keeps below something is a number, such as a length: like an input. One
//!    that is kept below a constant under 2^31 holds none. The result of a floating-point operation holds
//!    what its operands do.
//! 3. What code outside of the program gives back is memory of its own, or at an address that it was given
//!    ([`ObjectRole::Given`](crate::program::ObjectRole::Given)): in the object there, or in one that can
//!    be reached from there.
//! 4. Nothing is written to a constant ([`ObjectRole::Constant`](crate::program::ObjectRole::Constant)).

mod cells;
pub mod claim;
mod constraints;
mod cycles;
mod escape;
mod lists;
mod outlive;
mod parts;
mod ranges;
mod shape;
#[cfg(test)]
mod shape_tests;
mod solve;

pub(super) use cells::{CellBytes, CopiedCells};

use super::is_past;
use crate::expr::{Expr, Place, Target, Targets};
use crate::ids::{IdVec, ObjectId, TemplateId};
use crate::op::{Lhs, Op};
use crate::program::Program;
use crate::types::IntType;
use constraints::is_computed;
pub use outlive::{Holder, called, frames_are_used_late};
use parts::Passed;
pub(super) use parts::followed;
use ranges::Amounts;
use rustc_hash::FxHashMap;
pub(super) use shape::Offset;
use shape::Shift;
use solve::Solver;
use solve::{ANYTHING, PointeeId};
pub(super) use solve::{Node, Pointee};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What addresses may point to in one program.
pub struct PointsTo {
    solver: Solver,
    first_local: IdVec<TemplateId, Node>,
    amounts: Amounts,
    pointer: IntType,
    /// Whether parts of addresses are distinguished from addresses (`parts.rs`).
    tells_parts: bool,
    /// The node of each computed expression of a template; nothing where it never holds an address.
    values: Values,
    /// The targets of the nodes that were asked for.
    known: Mutex<FxHashMap<Node, Arc<[Target]>>>,
}

/// The node of each computed expression of each template; nothing where it never holds an address.
type Values = IdVec<TemplateId, FxHashMap<Expr, Option<Node>>>;

/// The addresses that an expression may have as its value.
enum AddressSet<'a> {
    /// Those that a node holds: pointees by their number.
    Held(Node, &'a [PointeeId]),
    /// Those that were put together.
    These(BTreeSet<Pointee>),
}

/// Fills in the targets of all computed places.
pub fn annotate(program: &Program) -> Program {
    let mut result = program.clone();
    annotate_with(&PointsTo::of(program), &mut result, None);
    result
}

/// Fills in the targets; says whether all are done.
pub(super) fn annotate_with(points_to: &PointsTo, program: &mut Program, deadline: Option<Instant>) -> bool {
    let mut edges = 0u32;
    for id in program.templates.ids().collect::<Vec<_>>() {
        for edge in program.templates[id].edges.iter_mut() {
            edges += 1;
            if edges.is_multiple_of(64) && is_past(deadline) {
                return false;
            }
            edge.ops.iter_mut().for_each(|op| points_to.annotate_op(id, op));
        }
    }
    true
}

/// A target without what lies before its object: a pointer may be moved there, and back, but nothing is
/// accessed there. Offsets before the object are those from 2^63 on.
fn from_the_start(target: Target) -> Option<Target> {
    match (target.first.cast_signed(), target.stride) {
        (0.., _) => Some(target),
        (_, 0) => None,
        (first, stride) => {
            let first = i128::from(first).rem_euclid(i128::from(stride)) as u64;
            Some(Target { first, count: u64::MAX, ..target })
        }
    }
}

impl PointsTo {
    /// Analyses a program.
    pub fn of(program: &Program) -> Self {
        Self::solved(program, None).0
    }

    /// Analyses a program; `None` when that is not done by then.
    pub fn until(program: &Program, deadline: Option<Instant>) -> Option<Self> {
        let (found, done) = Self::solved(program, deadline);
        done.then_some(found)
    }

    fn solved(program: &Program, deadline: Option<Instant>) -> (Self, bool) {
        let (found, done) = Self::with(program, Amounts::of(program, deadline), true, deadline);
        if program.foreign_numbers || !done || !found.follows_parts(program) {
            return (found, done);
        }
        Self::with(program, found.amounts, false, deadline)
    }

    fn with(
        program: &Program,
        amounts: Amounts,
        tells_parts: bool,
        deadline: Option<Instant>,
    ) -> (Self, bool) {
        let (mut solver, first_local, values) = constraints::constraints(program, &amounts, tells_parts);
        let done = solver.solve(deadline);
        let (pointer, known) = (program.data_model.pointer(), Mutex::default());
        (Self { solver, first_local, amounts, pointer, tells_parts, values, known }, done)
    }

    /// What an address that is computed in a template may point to.
    pub fn targets(&self, template: TemplateId, address: &Expr) -> Targets {
        let found = self.find(template, address);
        let AddressSet::Held(node, _) = found else { return Targets::Of(self.targets_of(&found)) };
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&node).cloned();
        let targets = known.unwrap_or_else(|| {
            let targets = self.targets_of(&found);
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(node, targets.clone());
            targets
        });
        Targets::Of(targets)
    }

    /// The places of some addresses, in order.
    fn targets_of(&self, found: &AddressSet<'_>) -> Arc<[Target]> {
        let target = |object, offset| self.solver.shapes[object].target(object, offset);
        let mut targets: Vec<Target> = Vec::new();
        for pointee in self.pointees_of(found).iter() {
            match *pointee {
                Pointee::Cell(object, offset) => {
                    targets.extend(from_the_start(target(object, offset)));
                }
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
                Pointee::Anything => {
                    targets.extend(
                        self.solver.escaped_objects.iter().map(|object| target(*object, Offset::ANYWHERE)),
                    );
                }
            }
        }
        targets.sort_unstable();
        targets.dedup();
        targets.into()
    }

    /// The procedures that a pointer may point to, in order.
    pub fn callees(&self, template: TemplateId, pointer: &Expr) -> Vec<TemplateId> {
        let mut procedures: BTreeSet<TemplateId> = BTreeSet::new();
        for pointee in self.eval(template, pointer) {
            match pointee {
                Pointee::Procedure(callee) => {
                    procedures.insert(callee);
                }
                Pointee::Cell(..) | Pointee::Input(_) | Pointee::Part => {}
                Pointee::Anything => procedures.extend(&self.solver.escaped_procedures),
            }
        }
        procedures.into_iter().collect()
    }

    /// For each object, whether some input may be an address in it: by what it is compared with (rule 2), not
    /// by what else is kept where the input is.
    pub fn guessable(&self) -> IdVec<ObjectId, bool> {
        let mut found: IdVec<ObjectId, bool> = self.solver.shapes.iter().map(|_| false).collect();
        for id in self.solver.inputs.iter().flat_map(|input| self.solver.points_to(*input)) {
            match self.solver.pointees[*id as usize] {
                Pointee::Cell(object, _) => found[object] = true,
                Pointee::Anything => {
                    self.solver.escaped_objects.iter().for_each(|object| found[*object] = true);
                }
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
            }
        }
        found
    }

    /// Whether an address may be an input, or computed from one. In programs whose numbers are foreign
    /// ([`Program::foreign_numbers`]), this covers whatever is computed from one as wide as a pointer; in
    /// others only sums with constants.
    pub fn may_be_input(&self, template: TemplateId, expr: &Expr) -> bool {
        self.eval(template, expr).iter().any(|pointee| matches!(pointee, Pointee::Input(_)))
    }

    fn annotate_op(&self, template: TemplateId, op: &mut Op) {
        for expr in op.expressions_mut() {
            expr.rewrite(&mut |inner| {
                if let Expr::Load(place) = inner {
                    self.annotate_place(template, place);
                }
            });
        }
        for lhs in op.targets_mut() {
            if let Lhs::Memory(place) = lhs {
                self.annotate_place(template, place);
            }
        }
    }
    fn annotate_place(&self, template: TemplateId, place: &mut Place) {
        if place.as_cell().is_none() {
            place.targets = self.targets(template, &place.address);
        }
    }

    /// The addresses that an expression may have as its value, each once.
    fn eval(&self, template: TemplateId, expr: &Expr) -> Vec<Pointee> {
        self.pointees_of(&self.find(template, expr)).into_owned()
    }

    /// Whether nothing is known of what an expression may have as its value.
    fn is_anything(&self, template: TemplateId, expr: &Expr) -> bool {
        match self.find(template, expr) {
            AddressSet::Held(_, ids) => ids.first() == Some(&ANYTHING),
            AddressSet::These(pointees) => pointees.contains(&Pointee::Anything),
        }
    }

    fn pointees_of(&self, found: &AddressSet<'_>) -> Cow<'static, [Pointee]> {
        match found {
            AddressSet::Held(_, ids) => ids.iter().map(|id| self.solver.pointees[*id as usize]).collect(),
            AddressSet::These(pointees) => pointees.iter().copied().collect(),
        }
    }

    /// The node that holds the value of an expression in the solution; `None` if the program has no such
    /// expression in that template.
    fn node_of(&self, template: TemplateId, expr: &Expr) -> Option<Node> {
        match expr {
            Expr::Local(local) => Some(self.first_local[template] + local.0),
            Expr::Old(operand) => self.node_of(template, operand),
            Expr::Cast(ty, operand) if ty.bits >= self.pointer.bits => self.node_of(template, operand),
            _ if is_computed(self.pointer, expr) => self.values.get(template)?.get(expr).copied().flatten(),
            _ => None,
        }
    }

    fn find(&self, template: TemplateId, expr: &Expr) -> AddressSet<'_> {
        match self.node_of(template, expr) {
            Some(node) => {
                let node = self.solver.find(node);
                AddressSet::Held(node, self.solver.points_to(node))
            }
            None => AddressSet::These(self.compute(template, expr)),
        }
    }

    /// The same for an expression without a node of its own.
    fn compute(&self, template: TemplateId, expr: &Expr) -> BTreeSet<Pointee> {
        let held =
            |node: Node| self.solver.points_to(node).iter().map(|id| self.solver.pointees[*id as usize]);
        let moved = |pointees: Vec<Pointee>, shift: Shift| -> BTreeSet<Pointee> {
            pointees.into_iter().flat_map(|pointee| self.solver.shifted(pointee, shift)).collect()
        };
        match expr {
            Expr::Const(..) | Expr::Myself | Expr::Overflows(..) | Expr::Valid(..) => BTreeSet::new(),
            Expr::Local(local) => held(self.first_local[template] + local.0).collect(),
            Expr::Load(place) => {
                let addresses = self.eval(template, &place.address);
                if addresses.contains(&Pointee::Anything) {
                    return self.narrowed(place.ty, [Pointee::Anything].into());
                }
                let cells =
                    addresses.into_iter().flat_map(|pointee| self.solver.touched(pointee, place.ty.bytes()));
                let cells: BTreeSet<Node> = cells.collect();
                self.narrowed(place.ty, cells.into_iter().flat_map(held).collect())
            }
            Expr::Address(object, offset) => {
                [Pointee::Cell(*object, self.solver.shapes[*object].at(*offset))].into()
            }
            Expr::Procedure(procedure) => [Pointee::Procedure(*procedure)].into(),
            Expr::Unary(_, ty, operand) => {
                if *ty == IntType::BOOL {
                    return BTreeSet::new();
                }
                moved(self.eval(template, operand), Shift::MultipleOf(1))
            }
            Expr::Binary(op, ty, pair) => {
                let range = |amount: &Expr| self.amounts.get(template, amount);
                let passed = constraints::flow(self.pointer, *op, *ty, pair, &range, self.tells_parts);
                let mut found = BTreeSet::new();
                for (operand, passed) in [&pair.0, &pair.1].into_iter().zip(passed) {
                    match passed {
                        Some(Passed::Moved(by)) => found.extend(moved(self.eval(template, operand), by)),
                        Some(Passed::Part) if !self.eval(template, operand).is_empty() => {
                            found.insert(Pointee::Part);
                        }
                        Some(Passed::Part) | None => {}
                    }
                }
                found
            }
            Expr::Cast(ty, operand) => {
                if *ty == IntType::BOOL {
                    return BTreeSet::new();
                }
                self.narrowed(*ty, self.eval(template, operand).into_iter().collect())
            }
            Expr::IfThenElse(three) => {
                let arms = [&three.1, &three.2];
                arms.into_iter().flat_map(|arm| self.eval(template, arm)).collect()
            }
            Expr::Old(operand) => self.eval(template, operand).into_iter().collect(),
        }
    }
}
