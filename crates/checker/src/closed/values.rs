//! What the value of an expression may be the address of, by what the claim says of locals and memory.
//!
//! A value holds the addresses that it is computed from, in any way but a comparison: a sum of an address and
//! a number is an address in the same object, moved by that number; a cast, and the choice between two
//! values, keep what they hold; any other operation leaves some address in the same object, so that a number
//! that is put together from parts of an address is covered. A truth value holds none. Where the claim
//! distinguishes parts from addresses, what is narrower than a pointer, and what remains of an address after
//! a multiplication, a division, a shift, or the subtraction of another pointer, is a part, and stays one.

use super::Auditor;
use super::offsets::{Move, Offsets, common_divisor};
use super::sets::{EMPTY, Place, Set};
use ir::{BinaryOp, Expr, IntType, PointerArithmetic, TemplateId, UnaryOp};

/// An address in the same object.
const SOMEWHERE: Move = Move::Times(1);

impl Auditor<'_> {
    /// The addresses that the value of an expression may be.
    pub fn value(&mut self, template: TemplateId, expr: &Expr) -> Set {
        match expr {
            Expr::Const(..) | Expr::Myself | Expr::Overflows(..) | Expr::Valid(..) => EMPTY,
            Expr::Cast(IntType::BOOL, _) | Expr::Unary(_, IntType::BOOL, _) => EMPTY,
            Expr::Local(local) => self.sets.locals[template][*local],
            Expr::Address(object, offset) => {
                self.sets.these([Place::Bytes(*object, Offsets::one((*offset).into()))])
            }
            Expr::Procedure(procedure) => self.sets.these([Place::Procedure(*procedure)]),
            Expr::Load(place) => {
                let address = self.value(template, &place.address);
                let read = self.sets.load(address, place.ty.bytes());
                self.in_type(place.ty, read)
            }
            Expr::Cast(ty, operand) => {
                let operand = self.value(template, operand);
                self.in_type(*ty, operand)
            }
            Expr::Old(operand) => self.value(template, operand),
            Expr::Unary(_, _, operand) => {
                let operand = self.value(template, operand);
                self.sets.moved(operand, SOMEWHERE)
            }
            Expr::IfThenElse(three) => {
                let arms = vec![self.value(template, &three.1), self.value(template, &three.2)];
                self.sets.union(arms)
            }
            Expr::Binary(op, ty, _) if op.is_comparison() || *ty == IntType::BOOL => EMPTY,
            Expr::Binary(op, ty, pair) => {
                let (left, right) = (self.value(template, &pair.0), self.value(template, &pair.1));
                if left == EMPTY && right == EMPTY {
                    return EMPTY;
                }
                let by = |auditor: &Self, amount: &Expr| auditor.amount(template, amount);
                let arithmetic = PointerArithmetic::of(self.pointer, *op, *ty, pair);
                let both = self.sets.union(vec![left, right]);
                let moves = match op {
                    BinaryOp::Add | BinaryOp::Sub if arithmetic == Some(PointerArithmetic::Move) => {
                        let by = by(self, &pair.1);
                        (Some(if *op == BinaryOp::Sub { by.back() } else { by }), None)
                    }
                    BinaryOp::Sub if self.tells_parts && arithmetic.is_some() => return self.sets.part(both),
                    BinaryOp::Add => (Some(by(self, &pair.1)), Some(by(self, &pair.0))),
                    // What is subtracted from an address, and that from another one, is an address again.
                    BinaryOp::Sub => (Some(by(self, &pair.1).back()), Some(SOMEWHERE)),
                    BinaryOp::Mul if self.tells_parts => return self.sets.part(both),
                    BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                        (Some(SOMEWHERE), Some(SOMEWHERE))
                    }
                    // A number of bits, or what divides, is no part of an address.
                    BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr if self.tells_parts => {
                        return self.sets.part(left);
                    }
                    BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => (Some(SOMEWHERE), None),
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => (None, None),
                };
                let left = moves.0.map_or(EMPTY, |by| self.sets.moved(left, by));
                let right = moves.1.map_or(EMPTY, |by| self.sets.moved(right, by));
                self.sets.union(vec![left, right])
            }
        }
    }

    /// What is left of a value in a type.
    fn in_type(&mut self, ty: IntType, value: Set) -> Set {
        if self.tells_parts && ty.bits < self.pointer.bits { self.sets.part(value) } else { value }
    }

    /// How far an address moves to which a number is added.
    fn amount(&self, template: TemplateId, amount: &Expr) -> Move {
        if let Expr::Const(value, _) = amount {
            // A large unsigned constant is a small negative one.
            return Move::By(IntType { signed: true, ..self.pointer }.wrap(*value));
        }
        match (self.points_to.claimed_range(template, amount), self.step(amount)) {
            (_, 0) => Move::By(0),
            (Some((least, greatest)), _) if least == greatest => Move::By(least),
            (Some((least, greatest)), step) => Move::Between { step, least, greatest },
            (None, step) => Move::Times(step),
        }
    }

    /// A number that divides all values of an expression; 0 if that is always 0. Unsigned numbers that are
    /// narrower than an address wrap around at a power of two. Wider ones do so as well, but what they then
    /// are added to leaves its object; and a signed result outside of its type is a fault.
    fn step(&self, expr: &Expr) -> i128 {
        let wrapped = |ty: IntType, step: i128| match step {
            0 => 0,
            step if ty.bits >= self.pointer.bits => step,
            step => 1 << step.trailing_zeros().min(u32::from(ty.bits)),
        };
        let step = match expr {
            Expr::Const(value, _) => value.abs(),
            Expr::Cast(IntType::BOOL, _) => 1,
            Expr::Cast(ty, operand) => wrapped(*ty, self.step(operand)),
            Expr::Unary(UnaryOp::Neg, ty, operand) => wrapped(*ty, self.step(operand)),
            Expr::IfThenElse(three) => common_divisor(self.step(&three.1), self.step(&three.2)),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), ty, pair) => {
                let (left, right) = (self.step(&pair.0), self.step(&pair.1));
                let step = match op {
                    BinaryOp::Mul => left.checked_mul(right).unwrap_or(1),
                    _ => common_divisor(left, right),
                };
                if ty.signed { step } else { wrapped(*ty, step) }
            }
            Expr::Binary(BinaryOp::Shl, ty, pair) => {
                let left = self.step(&pair.0);
                match &pair.1 {
                    Expr::Const(distance @ 0..63, _) => {
                        wrapped(*ty, left.checked_mul(1 << distance).unwrap_or(1))
                    }
                    _ => wrapped(*ty, left),
                }
            }
            _ => 1,
        };
        // Anything larger is no distance in an object.
        if step > i128::from(u64::MAX) { 1 } else { step }
    }
}
