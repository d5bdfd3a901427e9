//! Values as sums: signed terms and a constant, modulo 2 to the width of a pointer.
//!
//! Two sums with the same terms and constant have the same value. Terms are locals, own cells, addresses, and
//! arithmetic on sums. A sum stays valid as long as its locals and cells do not change. The address of an
//! allocation site stands for that of its only object.

use super::view::View;
use ir::passes::footprint::{Extent, Region};
use ir::{BinaryOp, Expr, IntType, LocalId, ObjectId, Place, Storage, Targets, TemplateId, Value};
use verdict::LARGEST_FACT;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub struct Sum {
    /// Terms, each with whether it is subtracted, in the order of the expression.
    pub terms: Vec<(Expr, bool)>,
    pub constant: Value,
}

/// What a thread of a template knows of its locals.
pub struct Terms<'v, 'a> {
    pub view: &'v View<'a>,
    pub template: TemplateId,
}

impl Terms<'_, '_> {
    pub fn pointer(&self) -> IntType {
        self.view.program.data_model.pointer()
    }

    /// The sum of an expression, given equalities of locals; `None` when it reads memory that others change.
    pub fn sum(&self, expr: &Expr, equal: &[(LocalId, Expr)]) -> Option<Sum> {
        let found = (size(expr) <= LARGEST_FACT).then(|| self.bounded(expr, equal, 64))??;
        let terms = self.rebuilt(&Sum { constant: 0, ..found.clone() });
        (size(&terms) <= LARGEST_FACT).then_some(found)
    }

    fn bounded(&self, expr: &Expr, equal: &[(LocalId, Expr)], depth: usize) -> Option<Sum> {
        let pointer = self.pointer();
        let depth = depth.checked_sub(1)?;
        let one = |term: Expr| Some(Sum { terms: vec![(term, false)], constant: 0 });
        let inner = |expr: &Expr| Some(self.rebuilt(&self.bounded(expr, equal, depth)?));
        match expr {
            Expr::Const(value, ty) if *ty == pointer => Some(Sum { terms: vec![], constant: *value }),
            Expr::Const(..) | Expr::Procedure(_) | Expr::Myself => one(expr.clone()),
            Expr::Local(local) => match equal.iter().find(|(known, _)| known == local) {
                // Facts refer to locals without an equality of their own, so one substitution suffices.
                Some((_, value)) => self.bounded(value, &[], depth),
                None => one(expr.clone()),
            },
            Expr::Address(object, offset) => {
                Some(Sum { terms: vec![(Expr::Address(*object, 0), false)], constant: Value::from(*offset) })
            }
            Expr::Load(place) => one(self.own_cell(place, equal)?),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) if *ty == pointer => {
                let mut left = self.bounded(&pair.0, equal, depth)?;
                let right = self.bounded(&pair.1, equal, depth)?;
                let negative = *op == BinaryOp::Sub;
                left.terms.extend(right.terms.into_iter().map(|(term, sign)| (term, sign != negative)));
                left.constant =
                    if negative { left.constant - right.constant } else { left.constant + right.constant };
                left.constant = pointer.wrap(left.constant);
                Some(left)
            }
            Expr::Cast(ty, operand) if self.view.program.type_of(self.template, operand) == *ty => {
                self.bounded(operand, equal, depth)
            }
            Expr::Cast(ty, operand) => one(Expr::cast(*ty, inner(operand)?)),
            Expr::Unary(op, ty, operand) => one(Expr::unary(*op, *ty, inner(operand)?)),
            Expr::Binary(op, ty, pair) => one(Expr::binary(*op, *ty, inner(&pair.0)?, inner(&pair.1)?)),
            Expr::IfThenElse(three) => {
                one(Expr::IfThenElse(Box::new((inner(&three.0)?, inner(&three.1)?, inner(&three.2)?))))
            }
            Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
        }
    }

    /// A sum as an expression; the same for equal sums.
    pub fn rebuilt(&self, sum: &Sum) -> Expr {
        let pointer = self.pointer();
        let constant = Expr::Const(sum.constant, pointer);
        let add = |left: Option<Expr>, (term, negative): &(Expr, bool)| match left {
            None if !negative => Some(term.clone()),
            left => {
                let op = if *negative { BinaryOp::Sub } else { BinaryOp::Add };
                Some(Expr::binary(op, pointer, left.unwrap_or(Expr::Const(0, pointer)), term.clone()))
            }
        };
        match sum.terms.iter().fold(None, add) {
            None => constant,
            Some(terms) if sum.constant == 0 => terms,
            Some(terms) => Expr::binary(BinaryOp::Add, pointer, terms, constant),
        }
    }

    /// The load of a cell that only the running thread changes.
    pub fn own_cell(&self, place: &Place, equal: &[(LocalId, Expr)]) -> Option<Expr> {
        let (object, offset) = match &place.address {
            Expr::Address(object, offset) => (*object, *offset),
            address => match self.sum(address, equal) {
                Some(Sum { terms, constant }) if matches!(terms.as_slice(), [(Expr::Address(..), false)]) => {
                    let [(Expr::Address(object, _), _)] = terms.as_slice() else { return None };
                    (*object, u64::try_from(constant).ok()?)
                }
                _ => self.only_cell(address)?,
            },
        };
        let address = Expr::Address(object, offset);
        let cell = Place { address, ty: place.ty, atomic: false, targets: Targets::Any };
        self.view.is_own(self.template, object).then(|| Expr::load(cell))
    }

    /// The one cell of a single object that a valid access through an address must be at.
    pub fn only_cell(&self, address: &Expr) -> Option<(ObjectId, u64)> {
        let region = Region::at(self.view.points_to, self.template, address, Extent::Bytes(1));
        let Targets::Of(targets) = region.targets else { return None };
        let &[target] = &*targets else { return None };
        let object = &self.view.program.objects[target.object];
        // The only object of a site has one element: all but its first offset are outside.
        let is_element = target.count == 1 || target.stride == object.size;
        let is_inside = target.first < object.size;
        (if object.storage == Storage::Site { is_element && is_inside } else { target.count == 1 })
            .then_some((target.object, target.first))
            .filter(|(object, _)| self.view.is_single(*object))
    }

    /// The key of a lock or an access.
    pub fn key(&self, address: &Expr, equal: &[(LocalId, Expr)]) -> Option<Sum> {
        match self.only_cell(address) {
            Some((object, offset)) => {
                Some(Sum { terms: vec![(Expr::Address(object, 0), false)], constant: Value::from(offset) })
            }
            None => self.sum(address, equal),
        }
    }
}

/// The number of parts of an expression.
fn size(expr: &Expr) -> usize {
    let mut parts = 0;
    expr.walk(&mut |_| parts += 1);
    parts
}
