//! Expressions as Boolean functions, one for each bit of their value.

use crate::bdd::{Bdd, Bdds, FALSE, TRUE};
use crate::view::{Activation, Bit, Built, Failure, Lock};
use ir::{BinaryOp, Expr, IntType, ObjectId, Place, Program, Span, UnaryOp, Value};
use rustc_hash::FxHashMap;

/// What the values of variables are.
pub(crate) struct Scope<'a> {
    pub program: &'a Program,
    pub activation: &'a Activation,
    pub cells: &'a FxHashMap<ObjectId, Vec<Bit>>,
    pub locks: &'a [Lock],
    pub span: Span,
}

/// Values of bits that differ from their values before the step.
pub(crate) type Values = std::collections::BTreeMap<Bit, Bdd>;

pub(crate) fn unsupported<T>(what: impl Into<String>, span: Span) -> Built<T> {
    Err(Failure::Unsupported(what.into(), span))
}

impl Scope<'_> {
    /// The bits of a cell of memory.
    pub fn cell(&self, place: &Place) -> Built<&[Bit]> {
        let found = match place.as_cell() {
            Some((object, 0)) => {
                self.cells.get(&object).filter(|bits| bits.len() == usize::from(place.ty.bits))
            }
            _ => None,
        };
        match found {
            Some(bits) => Ok(bits),
            None => unsupported("memory other than finite variables", self.span),
        }
    }

    /// The bits of an expression's value, the least one first. `old`: the values before the assignment whose
    /// constraint this is.
    pub fn bits(&self, bdds: &mut Bdds, expr: &Expr, now: &Values, old: Option<&Values>) -> Built<Vec<Bdd>> {
        let read = |bdds: &mut Bdds, bits: &[Bit]| -> Built<Vec<Bdd>> {
            let mut found = Vec::with_capacity(bits.len());
            for bit in bits {
                found.push(match now.get(bit) {
                    Some(value) => *value,
                    None => bdds.variable(bit.now())?,
                });
            }
            Ok(found)
        };
        match expr {
            Expr::Const(value, ty) => Ok(constant(*value, *ty)),
            Expr::Local(local) => read(bdds, &self.activation.locals[local.0 as usize]),
            Expr::Load(place) => read(bdds, self.cell(place)?),
            Expr::Old(operand) => match old {
                Some(before) => self.bits(bdds, operand, before, None),
                None => unsupported("an old value outside of a constraint", self.span),
            },
            Expr::Unary(UnaryOp::Not, _, operand) => {
                let bits = self.bits(bdds, operand, now, old)?;
                bits.into_iter().map(|bit| Ok(bdds.not(bit)?)).collect()
            }
            Expr::Binary(op, ty, pair) => {
                if let Some(lock) = self.is_mine(*op, pair) {
                    return read(bdds, &[lock.held]);
                }
                let left = self.bits(bdds, &pair.0, now, old)?;
                let right = self.bits(bdds, &pair.1, now, old)?;
                self.binary(bdds, *op, *ty, &left, &right)
            }
            Expr::IfThenElse(three) => {
                let condition = self.bits(bdds, &three.0, now, old)?[0];
                if condition == TRUE || condition == FALSE {
                    return self.bits(bdds, if condition == TRUE { &three.1 } else { &three.2 }, now, old);
                }
                let (yes, no) = (self.bits(bdds, &three.1, now, old)?, self.bits(bdds, &three.2, now, old)?);
                yes.into_iter().zip(no).map(|(yes, no)| Ok(bdds.if_then_else(condition, yes, no)?)).collect()
            }
            Expr::Cast(ty, operand) => {
                if self.program.type_of(self.activation.template, operand).signed {
                    return unsupported("signed numbers", self.span);
                }
                let bits = self.bits(bdds, operand, now, old)?;
                if *ty == IntType::BOOL {
                    let mut any = FALSE;
                    for bit in bits {
                        any = bdds.or(any, bit)?;
                    }
                    return Ok(vec![any]);
                }
                Ok((0..usize::from(ty.bits)).map(|index| bits.get(index).copied().unwrap_or(FALSE)).collect())
            }
            Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {
                unsupported("an address as a value", self.span)
            }
            Expr::Unary(UnaryOp::Neg, ..) | Expr::Overflows(..) | Expr::Valid(..) => {
                unsupported("arithmetic", self.span)
            }
        }
    }

    /// The lock that a comparison asks about: does the thread itself hold it?
    fn is_mine(&self, op: BinaryOp, pair: &(Expr, Expr)) -> Option<&Lock> {
        let is_me = |expr: &Expr| matches!(expr, Expr::Cast(IntType::U32, inner) if **inner == Expr::Myself);
        let lock = |expr: &Expr| match expr {
            Expr::Load(place) => {
                let (object, offset) = place.as_cell()?;
                self.locks
                    .iter()
                    .find(|lock| lock.object == object && offset == 0 && place.ty == IntType::U32)
            }
            _ => None,
        };
        if op != BinaryOp::Eq {
            return None;
        }
        match pair {
            (word, me) if is_me(me) => lock(word),
            (me, word) if is_me(me) => lock(word),
            _ => None,
        }
    }

    fn binary(
        &self,
        bdds: &mut Bdds,
        op: BinaryOp,
        ty: IntType,
        left: &[Bdd],
        right: &[Bdd],
    ) -> Built<Vec<Bdd>> {
        let pairs = left.iter().copied().zip(right.iter().copied());
        match op {
            BinaryOp::And => pairs.map(|(a, b)| Ok(bdds.and(a, b)?)).collect(),
            BinaryOp::Or => pairs.map(|(a, b)| Ok(bdds.or(a, b)?)).collect(),
            BinaryOp::Xor => pairs
                .map(|(a, b)| {
                    let same = bdds.equal(a, b)?;
                    Ok(bdds.not(same)?)
                })
                .collect(),
            BinaryOp::Eq | BinaryOp::Ne => {
                // From the last bit on: those after it in the order of variables first.
                let mut all = TRUE;
                for (a, b) in pairs.rev() {
                    let same = bdds.equal(a, b)?;
                    all = bdds.and(all, same)?;
                }
                Ok(vec![if op == BinaryOp::Eq { all } else { bdds.not(all)? }])
            }
            BinaryOp::Lt | BinaryOp::Le if !ty.signed => {
                let mut less = if op == BinaryOp::Le { TRUE } else { FALSE };
                for (a, b) in pairs {
                    let (same, not) = (bdds.equal(a, b)?, bdds.not(a)?);
                    let below = bdds.and(not, b)?;
                    less = bdds.if_then_else(same, less, below)?;
                }
                Ok(vec![less])
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Lt
            | BinaryOp::Le => unsupported("arithmetic", self.span),
        }
    }
}

/// The bits of a constant.
pub(crate) fn constant(value: Value, ty: IntType) -> Vec<Bdd> {
    (0..ty.bits).map(|bit| if value >> bit & 1 == 1 { TRUE } else { FALSE }).collect()
}
