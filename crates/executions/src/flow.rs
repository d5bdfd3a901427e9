//! The uses of an input: only comparisons with constants, or others.
//!
//! Follows the value forward along the edges, in the local that holds it, until the local is assigned again;
//! and in every local that it is copied to unchanged (by assignment, as an argument, as a result), from there
//! on. Over-approximates the uses.

use ir::ids::Id;
use ir::{
    Callee, EdgeId, Expr, IdVec, IntType, Lhs, LocalId, LocationId, LocationKind, Op, Program, Rhs,
    TemplateId, Value,
};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// What is needed to follow values.
pub struct Flow<'p> {
    program: &'p Program,
    outgoing: IdVec<TemplateId, IdVec<LocationId, Vec<EdgeId>>>,
    /// The calls of each template by name, with the template that they are in.
    callers: IdVec<TemplateId, Vec<(TemplateId, EdgeId)>>,
    /// Whether results of threads, or of calls through pointers, go somewhere.
    asked: bool,
}

/// The uses of a value.
pub struct Uses {
    /// Whether it goes into comparisons with constants only.
    pub exact: bool,
    /// The constants.
    pub constants: BTreeSet<Value>,
}

/// A value in a local, from a location on.
type Holder = (TemplateId, LocalId, LocationId);

/// Holders looked at for one value before it is given up.
const MOST_HOLDERS: usize = 20_000;

impl<'p> Flow<'p> {
    /// Gets ready to follow values in a program.
    pub fn new(program: &'p Program) -> Self {
        let outgoing = program.templates.iter().map(|code| code.outgoing()).collect();
        let mut callers: IdVec<TemplateId, Vec<(TemplateId, EdgeId)>> =
            program.templates.iter().map(|_| Vec::new()).collect();
        let mut asked = false;
        for (template, code) in program.templates.enumerate() {
            for (edge, step) in code.edges.enumerate() {
                match step.ops.last() {
                    Some(Op::Call(Callee::Procedure(callee), _, Some(_))) => {
                        callers[*callee].push((template, edge))
                    }
                    Some(Op::Call(Callee::Pointer(_), _, Some(_)) | Op::Join(_, Some(_))) => asked = true,
                    _ => {}
                }
            }
        }
        Self { program, outgoing, callers, asked }
    }

    /// Follows the value of a local at a location. `asked`: the constraint of the operation that stores it.
    pub fn of(
        &self,
        template: TemplateId,
        local: LocalId,
        location: LocationId,
        asked: Option<&Expr>,
    ) -> Uses {
        let mut follower = Follower {
            flow: self,
            uses: Uses { exact: true, constants: BTreeSet::new() },
            seen: FxHashSet::default(),
            work: Vec::new(),
        };
        if let Some(asked) = asked {
            follower.used(template, local, asked);
        }
        follower.hold((template, local, location));
        while let Some(holder) = follower.work.pop() {
            follower.follow(holder);
            if follower.seen.len() > MOST_HOLDERS {
                follower.uses.exact = false;
            }
            if !follower.uses.exact {
                break;
            }
        }
        follower.uses
    }
}

struct Follower<'a, 'p> {
    flow: &'a Flow<'p>,
    uses: Uses,
    seen: FxHashSet<Holder>,
    work: Vec<Holder>,
}

impl Follower<'_, '_> {
    fn hold(&mut self, holder: Holder) {
        if self.seen.insert(holder) {
            self.work.push(holder);
        }
    }

    fn follow(&mut self, (template, local, location): Holder) {
        let flow = self.flow;
        let code = &flow.program.templates[template];
        match code.locations[location].kind {
            LocationKind::End if code.result == Some(local) => self.result(template, local),
            LocationKind::Exit if code.exit_value == Some(local) => self.uses.exact &= !flow.asked,
            LocationKind::Normal
            | LocationKind::End
            | LocationKind::Exit
            | LocationKind::Halt
            | LocationKind::Error(_) => {}
        }
        for &edge in &flow.outgoing[template][location] {
            let step = &code.edges[edge];
            // A copy made by one operation may be read by the next: that is not followed.
            let expressions = || step.ops.iter().flat_map(Op::expressions);
            if step.ops.len() > 1 && expressions().any(|expr| expr.mentions(local)) {
                self.uses.exact = false;
            }
            let mut overwritten = false;
            for op in &step.ops {
                if overwritten {
                    break;
                }
                self.op(template, local, op, step.target);
                overwritten = op.targets().into_iter().any(|lhs| *lhs == Lhs::Local(local));
            }
            if !overwritten {
                self.hold((template, local, step.target));
            }
        }
    }

    fn ty(&self, template: TemplateId, local: LocalId) -> IntType {
        self.flow.program.templates[template].locals[local].ty
    }

    /// Results go to callers; a thread's to whoever joins it.
    fn result(&mut self, template: TemplateId, local: LocalId) {
        let flow = self.flow;
        self.uses.exact &= !flow.asked;
        for &(caller, edge) in &flow.callers[template] {
            let step = &flow.program.templates[caller].edges[edge];
            match step.ops.last() {
                Some(Op::Call(_, _, Some(Lhs::Local(to)))) => {
                    self.copy(self.ty(template, local), (caller, *to, step.target))
                }
                _ => self.uses.exact = false,
            }
        }
    }

    fn copy(&mut self, from: IntType, to: Holder) {
        if fits(from, self.ty(to.0, to.1)) {
            self.hold(to);
        } else {
            self.uses.exact = false;
        }
    }

    /// Whether an expression has the value of the local.
    fn is_view(&self, template: TemplateId, local: LocalId, expr: &Expr) -> bool {
        match expr {
            Expr::Local(found) => *found == local,
            Expr::Cast(wide, operand) => {
                *wide != IntType::BOOL
                    && fits(self.ty(template, local), *wide)
                    && self.is_view(template, local, operand)
            }
            _ => false,
        }
    }

    /// Records comparisons in an expression; any other use of the local counts as another use.
    fn used(&mut self, template: TemplateId, local: LocalId, expr: &Expr) {
        match expr {
            Expr::Local(found) => self.uses.exact &= *found != local,
            Expr::Cast(IntType::BOOL, operand) if self.is_view(template, local, operand) => {
                self.uses.constants.insert(0);
            }
            Expr::Binary(op, _, pair) if op.is_comparison() => match &**pair {
                (view, Expr::Const(constant, _)) | (Expr::Const(constant, _), view)
                    if self.is_view(template, local, view) =>
                {
                    self.uses.constants.insert(*constant);
                }
                (left, right) => {
                    self.used(template, local, left);
                    self.used(template, local, right);
                }
            },
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
            Expr::Load(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..)
            | Expr::Old(_) => {
                for operand in expr.operands() {
                    self.used(template, local, operand);
                }
            }
        }
    }

    fn op(&mut self, template: TemplateId, local: LocalId, op: &Op, target: LocationId) {
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.used(template, local, &place.address);
            }
        }
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    match (lhs, rhs) {
                        (Lhs::Local(to), Rhs::Value(value)) if self.is_view(template, local, value) => {
                            self.copy(self.ty(template, local), (template, *to, target));
                        }
                        (_, Rhs::Value(value)) => self.used(template, local, value),
                        (_, Rhs::Float(_, _, operands)) => {
                            for operand in operands {
                                self.used(template, local, operand);
                            }
                        }
                        (_, Rhs::Any | Rhs::Unknown) => {}
                    }
                }
                if let Some(constraint) = &assignment.constraint {
                    self.used(template, local, constraint);
                }
            }
            Op::Call(Callee::Procedure(callee), arguments, _)
            | Op::Spawn(Callee::Procedure(callee), arguments, _) => {
                let code = &self.flow.program.templates[*callee];
                for (index, argument) in arguments.iter().enumerate() {
                    if !self.is_view(template, local, argument) {
                        self.used(template, local, argument);
                    } else if index < code.parameters {
                        self.copy(self.ty(template, local), (*callee, LocalId::new(index), code.entry));
                    }
                }
            }
            Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..) => {
                self.all(template, local, op)
            }
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => self.all(template, local, op),
            Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {
                self.all(template, local, op);
            }
        }
    }
    fn all(&mut self, template: TemplateId, local: LocalId, op: &Op) {
        for expr in op.expressions() {
            self.used(template, local, expr);
        }
    }
}

/// Whether all values of one type are values of another.
fn fits(narrow: IntType, wide: IntType) -> bool {
    wide.contains(narrow.min()) && wide.contains(narrow.max())
}
