//! Property lowering: what must not happen becomes an error location, and nothing else is one.
//!
//! [`lower`] keeps the wanted kinds of errors; an unwanted one ends the program ([`LocationKind::Halt`]: a failing
//! assertion aborts). It splits shared accesses (see `split.rs`) and then, for accesses (`bounds`) and signed
//! arithmetic (`overflow`), adds beside an edge one edge for each way in which its operations can go wrong. Such an
//! edge does what the operations before did, assumes that all earlier checks of its operation pass, and that this
//! one fails; it is taken in exactly the states in which the operation would fault. The guards read no plain shared
//! memory: the operation reads it into a local first. Since a check and its operation are alternatives in one
//! state, interference cannot come between them.
//!
//! Exact, with these limits:
//! 1. Bounds are those of live objects. An access based on the address of a named object (`&a + index`) is checked
//!    against that object; one through a pointer, against whatever object lies there.
//! 2. `Fill` and `Copy` of a size that is not constant, through a pointer, check their first and last byte; an
//!    assumption says so.
//! 3. Freeing what was not allocated ends the execution without an error.
//! 4. Loads are made before the arithmetic that stands beside them, and a check evaluates no more than its own
//!    operands. So of several things that go wrong in one operation any may be seen; C leaves this order open.
//! 5. The constraints of assignments are not checked: they are specifications, not computations.

use super::sharing::base_object;
use super::split::{Amount, split_to};
use crate::expr::{BinaryOp, Expr, Place, UnaryOp};
use crate::ids::{IdVec, LocationId, ObjectId};
use crate::op::{Callee, Lhs, LockKind, Op, Rhs};
use crate::program::{Assumption, Edge, ErrorKind, LocationKind, Object, Program, Span, Template};
use crate::types::{IntType, Value};

/// What must not happen. Whatever is not asked for is no error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lowering {
    /// No assertion fails.
    pub assertions: bool,
    /// The error function is not called.
    pub reach_error: bool,
    /// No access lies outside of any object.
    pub bounds: bool,
    /// No signed operation leaves its range.
    pub overflow: bool,
}

impl Lowering {
    /// Whether an error of this kind is one.
    pub fn wants(self, kind: ErrorKind) -> bool {
        match kind {
            ErrorKind::ReachError => self.reach_error,
            ErrorKind::Assertion => self.assertions,
            ErrorKind::InvalidAccess => self.bounds,
            ErrorKind::Overflow => self.overflow,
        }
    }
}

/// Lowers a program for a property, and splits its shared accesses.
pub fn lower(program: &Program, lowering: Lowering) -> Program {
    let has_checks = lowering.bounds || lowering.overflow;
    let mut result = split_to(program, if has_checks { Amount::OneAccessAlone } else { Amount::OneAccess });
    select_errors(&mut result, lowering);
    if has_checks {
        let mut approximate = Vec::new();
        let Program { objects, templates, data_model, .. } = &mut result;
        for template in templates.iter_mut() {
            let checker = Checker { objects, pointer: data_model.pointer(), lowering };
            checker.run(template, &mut approximate);
        }
        for span in approximate {
            let text =
                "the bounds of a memory operation of variable size are checked at both ends only".to_owned();
            result.assumptions.push(Assumption { text, span, limits_proof: true });
        }
    }
    result
}

/// Makes error locations that are not wanted end the program.
pub fn select_errors(program: &mut Program, lowering: Lowering) {
    for location in program.templates.iter_mut().flat_map(|template| template.locations.iter_mut()) {
        if let LocationKind::Error(kind) = location.kind
            && !lowering.wants(kind)
        {
            location.kind = LocationKind::Halt;
        }
    }
}

/// A way in which an operation goes wrong.
struct Check {
    /// True exactly if it does; no fault, if all earlier checks passed.
    fails: Expr,
    kind: ErrorKind,
}

struct Checker<'a> {
    objects: &'a IdVec<ObjectId, Object>,
    pointer: IntType,
    lowering: Lowering,
}

/// The checks of one operation so far, and the conditions under which what comes next is evaluated.
#[derive(Default)]
struct Checks {
    found: Vec<Check>,
    conditions: Vec<Expr>,
    /// Whether a memory operation of variable size was checked.
    approximate: bool,
}

impl Checks {
    fn add(&mut self, kind: ErrorKind, fails: Expr) {
        let when = |fails, condition: &Expr| {
            Expr::IfThenElse(Box::new((condition.clone(), fails, Expr::bool(false))))
        };
        let fails = self.conditions.iter().rev().fold(fails, when);
        self.found.push(Check { fails, kind });
    }
}

impl Checker<'_> {
    fn run(&self, template: &mut Template, approximate: &mut Vec<Span>) {
        let mut errors: Vec<(ErrorKind, LocationId)> = Vec::new();
        let mut added: Vec<Edge> = Vec::new();
        let outgoing = template.outgoing();
        for edges in &outgoing {
            let first_added = added.len();
            for edge in edges {
                let Edge { source, ops, span, .. } = template.edges[*edge].clone();
                for (index, op) in ops.iter().enumerate() {
                    let mut checks = Checks::default();
                    self.op(op, &mut checks);
                    if checks.approximate {
                        approximate.push(span);
                    }
                    let mut before = ops[..index].to_vec();
                    for Check { fails, kind } in checks.found {
                        let target = match errors.iter().find(|(known, _)| *known == kind) {
                            Some((_, location)) => *location,
                            None => {
                                let location = template.location(LocationKind::Error(kind), false);
                                errors.push((kind, location));
                                location
                            }
                        };
                        let mut ops = before.clone();
                        ops.push(Op::Assume(fails.clone()));
                        before.push(Op::Assume(fails.not()));
                        // Both ways of a branch have the same checks.
                        if !added[first_added..]
                            .iter()
                            .any(|known| known.target == target && known.ops == ops)
                        {
                            added.push(Edge { source, target, ops, span });
                        }
                    }
                }
            }
        }
        added.into_iter().for_each(|edge| {
            template.edges.push(edge);
        });
    }

    fn op(&self, op: &Op, checks: &mut Checks) {
        match op {
            Op::Assume(operand) | Op::Join(operand, None) | Op::Free(operand) => self.expr(operand, checks),
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    if let Rhs::Value(value) = rhs {
                        self.expr(value, checks);
                    }
                    self.lhs(lhs, checks);
                }
            }
            Op::Lock(kind, address) | Op::Unlock(kind, address) => {
                self.expr(address, checks);
                let size = match kind {
                    LockKind::Spin => 4,
                    LockKind::Mutex | LockKind::Read | LockKind::Write => 8,
                };
                self.access(address, size, checks);
            }
            Op::Spawn(callee, arguments, lhs) | Op::Call(callee, arguments, lhs) => {
                if let Callee::Pointer(pointer) = callee {
                    self.expr(pointer, checks);
                }
                arguments.iter().for_each(|argument| self.expr(argument, checks));
                lhs.iter().for_each(|lhs| self.lhs(lhs, checks));
            }
            Op::Join(operand, Some(lhs)) | Op::Allocate { size: operand, result: lhs, .. } => {
                self.expr(operand, checks);
                self.lhs(lhs, checks);
            }
            Op::Broadcast(broadcast) => {
                broadcast.arguments.iter().for_each(|(_, argument)| self.expr(argument, checks));
            }
            Op::Fill(to, byte, size) => {
                [to, byte, size].into_iter().for_each(|operand| self.expr(operand, checks));
                self.range(to, size, checks);
            }
            Op::Copy(to, from, size) => {
                [to, from, size].into_iter().for_each(|operand| self.expr(operand, checks));
                self.range(from, size, checks);
                self.range(to, size, checks);
            }
        }
    }

    fn lhs(&self, lhs: &Lhs, checks: &mut Checks) {
        match lhs {
            Lhs::Local(_) => {}
            Lhs::Memory(place) => self.place(place, checks),
        }
    }

    fn place(&self, place: &Place, checks: &mut Checks) {
        self.expr(&place.address, checks);
        self.access(&place.address, place.ty.bytes(), checks);
    }

    /// Checks what an expression computes, inner parts first.
    fn expr(&self, expr: &Expr, checks: &mut Checks) {
        match expr {
            Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
            Expr::Load(place) => self.place(place, checks),
            Expr::Unary(UnaryOp::Neg, ty, operand) => {
                self.expr(operand, checks);
                self.arithmetic(BinaryOp::Sub, *ty, (Expr::Const(0, *ty), (**operand).clone()), checks);
            }
            Expr::Unary(UnaryOp::Not, _, operand) | Expr::Cast(_, operand) | Expr::Valid(operand, _) => {
                self.expr(operand, checks);
            }
            Expr::Binary(op, ty, pair) => {
                self.expr(&pair.0, checks);
                self.expr(&pair.1, checks);
                self.arithmetic(*op, *ty, (**pair).clone(), checks);
            }
            Expr::Overflows(_, _, pair) => {
                self.expr(&pair.0, checks);
                self.expr(&pair.1, checks);
            }
            Expr::IfThenElse(three) => {
                self.expr(&three.0, checks);
                checks.conditions.push(three.0.clone());
                self.expr(&three.1, checks);
                checks.conditions.pop();
                checks.conditions.push(three.0.clone().not());
                self.expr(&three.2, checks);
                checks.conditions.pop();
            }
            // Stands in constraints only.
            Expr::Old(_) => {}
        }
    }

    fn arithmetic(&self, op: BinaryOp, ty: IntType, operands: (Expr, Expr), checks: &mut Checks) {
        let can_overflow = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl => {
                ty.signed
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shr => false,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => false,
        };
        if self.lowering.overflow && can_overflow && !never_overflows(op, ty, &operands) {
            checks.add(ErrorKind::Overflow, Expr::Overflows(op, ty, Box::new(operands)));
        }
    }

    /// Checks an access of a constant size.
    fn access(&self, address: &Expr, size: u64, checks: &mut Checks) {
        if self.lowering.bounds
            && let Some(fails) = self.out_of_bounds(address, size)
        {
            checks.add(ErrorKind::InvalidAccess, fails);
        }
    }

    /// Whether an access leaves its object; nothing if it never does.
    fn out_of_bounds(&self, address: &Expr, size: u64) -> Option<Expr> {
        let Some(object) = base_object(address) else {
            return Some(Expr::Valid(Box::new(address.clone()), size).not());
        };
        let room = self.objects[object].size.checked_sub(size);
        match (address, room) {
            (Expr::Address(_, offset), Some(room)) if *offset <= room => None,
            (_, None) => Some(Expr::bool(true)),
            (_, Some(room)) => {
                let room = Expr::int(Value::from(room), self.pointer);
                Some(Expr::binary(BinaryOp::Le, self.pointer, self.offset(address), room).not())
            }
        }
    }

    /// The offset in its base object that an address lies at; it wraps.
    fn offset(&self, address: &Expr) -> Expr {
        match address {
            Expr::Address(_, offset) => Expr::int(Value::from(*offset), self.pointer),
            Expr::Binary(op, ty, pair) => Expr::binary(*op, *ty, self.offset(&pair.0), pair.1.clone()),
            other => other.clone(),
        }
    }

    /// Checks an access of a size that is computed.
    fn range(&self, address: &Expr, size: &Expr, checks: &mut Checks) {
        if !self.lowering.bounds {
            return;
        }
        if let Expr::Const(size, _) = size {
            if let Ok(size @ 1..) = u64::try_from(*size) {
                self.access(address, size, checks);
            }
            return;
        }
        let ty = self.pointer;
        let size = Expr::cast(ty, size.clone());
        let last = Expr::binary(BinaryOp::Sub, ty, size.clone(), Expr::Const(1, ty));
        let last = Expr::binary(BinaryOp::Add, ty, address.clone(), last);
        checks.conditions.push(Expr::binary(BinaryOp::Ne, ty, size, Expr::Const(0, ty)));
        self.access(address, 1, checks);
        self.access(&last, 1, checks);
        // A huge size wraps around to an address before the first one.
        let wraps = match base_object(address) {
            Some(_) => Expr::binary(BinaryOp::Lt, ty, self.offset(&last), self.offset(address)),
            None => Expr::binary(BinaryOp::Lt, ty, last, address.clone()),
        };
        checks.add(ErrorKind::InvalidAccess, wraps);
        checks.conditions.pop();
        checks.approximate |= base_object(address).is_none();
    }
}

/// Whether constants alone show that a signed operation stays in range.
fn never_overflows(op: BinaryOp, ty: IntType, operands: &(Expr, Expr)) -> bool {
    match (op, &operands.1) {
        // Only the least value divided by -1 leaves the range.
        (BinaryOp::Div | BinaryOp::Rem, Expr::Const(divisor, _)) => *divisor != -1,
        (_, Expr::Const(right, _)) => match &operands.0 {
            Expr::Const(left, _) => match op {
                BinaryOp::Add => ty.contains(left + right),
                BinaryOp::Sub => ty.contains(left - right),
                BinaryOp::Mul => ty.contains(left * right),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}
