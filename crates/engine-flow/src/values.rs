//! Canonical forms of values: a base and an offset.
//!
//! A value is canonical when its locals are replaced by equal expressions, constants added to an address are
//! moved to the offset, and only locals, own stable cells (see [`crate::model`]), constant addresses and
//! total arithmetic on them remain. Two equal forms have the same value as long as none of these locals and
//! cells changes. Offsets are modulo 2 to the width of a pointer, as the arithmetic of pointers is.

use crate::model::Model;
use ir::{BinaryOp, Expr, IntType, LocalId, ObjectId, Place, Targets, TemplateId, Value};
use verdict::LARGEST_FACT;

/// A value as a base and an offset.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Linear {
    /// Where the offset is counted from.
    pub base: Expr,
    /// How far it is.
    pub offset: u64,
}

impl Linear {
    /// As one expression.
    pub fn expression(&self, pointer: IntType) -> Expr {
        match (&self.base, self.offset) {
            (base, 0) => base.clone(),
            (Expr::Const(0, ty), offset) if *ty == pointer => Expr::int(Value::from(offset), pointer),
            (base, offset) => {
                let offset = Expr::int(Value::from(offset), pointer);
                Expr::binary(BinaryOp::Add, pointer, base.clone(), offset)
            }
        }
    }
    /// The parts of an expression that [`Self::expression`] made.
    fn of_canonical(expr: &Expr, pointer: IntType) -> Self {
        match expr {
            Expr::Const(value, ty) if *ty == pointer => {
                Self { base: Expr::Const(0, pointer), offset: *value as u64 }
            }
            Expr::Binary(BinaryOp::Add, ty, pair) if *ty == pointer => match &pair.1 {
                Expr::Const(offset, _) => Self { base: pair.0.clone(), offset: *offset as u64 },
                _ => Self { base: expr.clone(), offset: 0 },
            },
            other => Self { base: other.clone(), offset: 0 },
        }
    }
}

/// Puts expressions of one template into canonical form.
pub struct Values<'a, 'p> {
    /// The program.
    pub model: &'a Model<'p>,
    /// The template whose locals are meant.
    pub template: TemplateId,
}

impl Values<'_, '_> {
    fn pointer(&self) -> IntType {
        self.model.program.data_model.pointer()
    }
    fn wrap(&self, offset: u64) -> u64 {
        self.pointer().wrap(Value::from(offset)) as u64
    }

    /// The canonical form, if there is one.
    pub fn linear(&self, expr: &Expr, equal: &[(LocalId, Expr)]) -> Option<Linear> {
        let mut size = 0;
        expr.walk(&mut |_| size += 1);
        if size > LARGEST_FACT {
            return None;
        }
        let found = self.form(expr, equal)?;
        let mut size = 0;
        found.base.walk(&mut |_| size += 1);
        (size <= LARGEST_FACT).then_some(found)
    }
    /// The canonical form as one expression.
    pub fn canonical(&self, expr: &Expr, equal: &[(LocalId, Expr)]) -> Option<Expr> {
        Some(self.linear(expr, equal)?.expression(self.pointer()))
    }

    fn form(&self, expr: &Expr, equal: &[(LocalId, Expr)]) -> Option<Linear> {
        let pointer = self.pointer();
        let whole = |base: Expr| Some(Linear { base, offset: 0 });
        let inner = |expr: &Expr| Some(self.form(expr, equal)?.expression(pointer));
        match expr {
            Expr::Const(..) => Some(Linear::of_canonical(expr, pointer)),
            Expr::Local(local) => match equal.iter().find(|(known, _)| known == local) {
                Some((_, value)) => Some(Linear::of_canonical(value, pointer)),
                None => whole(expr.clone()),
            },
            Expr::Address(object, offset) => {
                Some(Linear { base: Expr::Address(*object, 0), offset: *offset })
            }
            Expr::Load(place) => whole(self.stable_cell(place, equal)?),
            Expr::Procedure(_) | Expr::Myself => whole(expr.clone()),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) if *ty == pointer => {
                let (left, right) = (self.form(&pair.0, equal)?, self.form(&pair.1, equal)?);
                let zero = Expr::Const(0, pointer);
                let offset = match op {
                    BinaryOp::Add => left.offset.wrapping_add(right.offset),
                    _ => left.offset.wrapping_sub(right.offset),
                };
                let offset = self.wrap(offset);
                let base = if right.base == zero {
                    left.base
                } else if left.base == zero && *op == BinaryOp::Add {
                    right.base
                } else {
                    Expr::binary(*op, pointer, left.base, right.base)
                };
                Some(Linear { base, offset })
            }
            Expr::Unary(op, ty, operand) => whole(Expr::unary(*op, *ty, inner(operand)?)),
            Expr::Binary(op, ty, pair) => whole(Expr::binary(*op, *ty, inner(&pair.0)?, inner(&pair.1)?)),
            Expr::Cast(ty, operand) => {
                if self.model.program.type_of(self.template, operand) == *ty {
                    return self.form(operand, equal);
                }
                whole(Expr::cast(*ty, inner(operand)?))
            }
            Expr::IfThenElse(three) => {
                let three = (inner(&three.0)?, inner(&three.1)?, inner(&three.2)?);
                whole(Expr::IfThenElse(Box::new(three)))
            }
            // What the first is about is more than a value, what the others are about is not the present.
            Expr::Valid(..) | Expr::Overflows(..) | Expr::Old(_) => None,
        }
    }

    /// The load of a cell that only the running thread changes, if the place is one.
    pub fn stable_cell(&self, place: &Place, equal: &[(LocalId, Expr)]) -> Option<Expr> {
        let (object, offset) = self.cell(&place.address, equal)?;
        self.model.is_stable(self.template, object).then(|| load_of(object, offset, place.ty))
    }

    /// The cell that an access through an address is at, if it is valid.
    fn cell(&self, address: &Expr, equal: &[(LocalId, Expr)]) -> Option<(ObjectId, u64)> {
        if let Expr::Address(object, offset) = address {
            return Some((*object, *offset));
        }
        if let Some(Linear { base: Expr::Address(object, _), offset }) = self.form(address, equal) {
            return Some((object, offset));
        }
        self.model.exact_cell(self.template, address)
    }

    /// What a lock or an access at an address is known by: the cell of a single object, or the address's
    /// form.
    pub fn key(&self, address: &Expr, equal: &[(LocalId, Expr)]) -> Option<Linear> {
        if let Some((object, offset)) = self.model.exact_cell(self.template, address) {
            return Some(Linear { base: Expr::Address(object, 0), offset });
        }
        self.linear(address, equal)
    }
}

/// The load of a cell, as facts write it.
pub fn load_of(object: ObjectId, offset: u64, ty: IntType) -> Expr {
    Expr::load(Place { address: Expr::Address(object, offset), ty, atomic: false, targets: Targets::Any })
}

/// Whether an expression reads a local.
pub fn mentions(expr: &Expr, local: LocalId) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= *inner == Expr::Local(local));
    found
}
