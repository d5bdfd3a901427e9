//! Which computations are total: they neither fault, nor block, nor choose.
//!
//! Under-approximates: a computation that is called total is total.

use super::sharing::base_object;
use crate::expr::{BinaryOp, Expr, Place, UnaryOp};
use crate::op::{Assignment, Lhs, Op, Rhs};
use crate::program::{Program, Storage};
use crate::types::IntType;

/// What is known of a program's memory.
pub struct Totality<'p> {
    program: &'p Program,
    /// Whether some memory is uninitialised.
    has_open_memory: bool,
    /// Whether memory is copied, with its open bytes.
    copies_memory: bool,
}

impl<'p> Totality<'p> {
    /// Analyses a program.
    pub fn of(program: &'p Program) -> Self {
        let ops = || program.templates.iter().flat_map(|template| &template.edges).flat_map(|edge| &edge.ops);
        let allocates_open = ops().any(|op| matches!(op, Op::Allocate { zeroed: false, .. }));
        let has_unknown =
            program.objects.iter().any(|object| object.initial.is_open() && object.storage != Storage::Site);
        let copies_memory = ops().any(|op| matches!(op, Op::Copy(..)));
        Self { program, has_open_memory: allocates_open || has_unknown, copies_memory }
    }

    /// Whether evaluating an expression always gives a value, without a choice.
    pub fn is_total(&self, expr: &Expr) -> bool {
        self.never_faults(expr) && !self.may_choose(expr)
    }

    /// Whether reading memory in an expression may choose a value that was open.
    pub fn may_choose(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                found |= self.is_open(place);
            }
        });
        found
    }
    fn is_open(&self, place: &Place) -> bool {
        if !self.has_open_memory {
            return false;
        }
        match base_object(&place.address) {
            Some(object) => self.copies_memory || self.program.objects[object].initial.is_open(),
            None => true,
        }
    }

    /// Whether evaluating an expression always gives a value. It may choose.
    pub fn never_faults(&self, expr: &Expr) -> bool {
        let itself = match expr {
            Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => true,
            Expr::Load(place) => self.is_inside(place),
            Expr::Unary(UnaryOp::Neg, ty, _) => !ty.signed,
            Expr::Unary(UnaryOp::Not, _, _) => true,
            Expr::Binary(op, ty, pair) => never_faults(*op, *ty, &pair.1),
            Expr::Cast(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) => true,
            // Occurs only in constraints, which are not total anyway.
            Expr::Old(_) => false,
        };
        itself && expr.operands().into_iter().all(|operand| self.never_faults(operand))
    }
    /// Whether a cell always lies in its object.
    pub fn is_inside(&self, place: &Place) -> bool {
        match place.as_cell() {
            Some((object, offset)) => {
                let size = self.program.objects[object].size;
                offset.checked_add(place.ty.bytes()).is_some_and(|end| end <= size)
            }
            None => false,
        }
    }

    /// Whether an operation always continues. It may choose.
    pub fn always_goes_on(&self, op: &Op) -> bool {
        match op {
            Op::Assume(condition) => *condition == Expr::bool(true),
            Op::Assign(Assignment { pairs, constraint }) => {
                let lhs_goes_on = |lhs: &Lhs| match lhs {
                    Lhs::Local(_) => true,
                    Lhs::Memory(place) => self.is_inside(place),
                };
                let rhs_goes_on = |rhs: &Rhs| match rhs {
                    Rhs::Value(value) => self.never_faults(value),
                    Rhs::Any | Rhs::Unknown => true,
                    Rhs::Float(..) => false,
                };
                constraint.is_none() && pairs.iter().all(|(lhs, rhs)| lhs_goes_on(lhs) && rhs_goes_on(rhs))
            }
            // Inside a named object; with a variable size, the access may leave it.
            Op::Fill(Expr::Address(object, offset), byte, Expr::Const(size, _)) => {
                let end = u64::try_from(*size).ok().and_then(|size| size.checked_add(*offset));
                self.never_faults(byte) && end.is_some_and(|end| end <= self.program.objects[*object].size)
            }
            Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } => false,
            Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => false,
        }
    }

    /// Whether an operation may choose a value.
    pub fn chooses(&self, op: &Op) -> bool {
        let assigns_any = match op {
            Op::Assign(assignment) => assignment.pairs.iter().any(|(_, rhs)| match rhs {
                Rhs::Any | Rhs::Unknown => true,
                // A result that hardware differs on is chosen.
                Rhs::Float(..) => true,
                Rhs::Value(_) => false,
            }),
            Op::Assume(_)
            | Op::Lock(..)
            | Op::Unlock(..)
            | Op::Spawn(..)
            | Op::Join(..)
            | Op::Allocate { .. } => false,
            Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) => false,
            Op::Broadcast(_) => true,
        };
        assigns_any || op.expressions().into_iter().any(|expr| self.may_choose(expr))
    }
}

fn never_faults(op: BinaryOp, ty: IntType, right: &Expr) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => !ty.signed,
        // The least value divided by -1 leaves the range.
        BinaryOp::Div | BinaryOp::Rem => {
            matches!(right, Expr::Const(divisor, _) if *divisor != 0 && *divisor != -1)
        }
        BinaryOp::Shl | BinaryOp::Shr => {
            let fits =
                matches!(right, Expr::Const(distance, _) if (0..i128::from(ty.bits)).contains(distance));
            fits && (op == BinaryOp::Shr || !ty.signed)
        }
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le => true,
    }
}
