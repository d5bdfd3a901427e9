//! The rules for expressions and places.

use super::{Checker, MAX_DEPTH, Where};
use crate::expr::{BinaryOp, Expr, Place, PointerArithmetic, Targets, UnaryOp};
use crate::ids::ObjectId;
use crate::program::{Storage, Template};
use crate::types::IntType;

/// The context of an expression.
#[derive(Clone, Copy)]
pub(super) struct Context<'p> {
    /// The template whose locals it may name; `None` in an initial value.
    pub template: Option<&'p Template>,
    /// Whether [`Expr::Old`] is allowed.
    pub old: bool,
    depth: usize,
}

impl<'p> Context<'p> {
    /// In an operation of a template.
    pub fn of(template: &'p Template) -> Self {
        Self { template: Some(template), old: false, depth: 0 }
    }
    /// In an initial value.
    pub fn constant() -> Self {
        Self { template: None, old: false, depth: 0 }
    }
    /// In a constraint.
    pub fn in_constraint(self) -> Self {
        Self { old: true, ..self }
    }
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

impl<'p> Checker<'p> {
    /// Checks an expression and its subexpressions. Returns its type, if it is known.
    pub(super) fn expression(&mut self, context: Context<'p>, expr: &Expr) -> Option<IntType> {
        if context.depth >= MAX_DEPTH {
            self.report(format!("an expression nests more than {MAX_DEPTH} deep"));
            return None;
        }
        let inner = context.deeper();
        let pointer = self.program.data_model.pointer();
        match expr {
            Expr::Const(value, ty) => {
                if !self.int_type(*ty) {
                    return None;
                }
                if !ty.contains(*value) {
                    self.report(format!("the constant {value} is not in the range of {ty}"));
                }
                Some(*ty)
            }
            Expr::Local(id) => {
                let local = context.template.and_then(|template| template.locals.get(*id));
                if local.is_none() {
                    self.report(format!("local {id} does not exist"));
                }
                local.map(|local| local.ty)
            }
            Expr::Load(place) => self.memory(inner, place),
            Expr::Address(object, offset) => {
                self.address(*object, *offset);
                Some(pointer)
            }
            Expr::Procedure(template) => {
                if self.program.templates.get(*template).is_none() {
                    self.report(format!("procedure {template} does not exist"));
                }
                Some(pointer)
            }
            Expr::Myself => Some(pointer),
            Expr::Unary(op, ty, operand) => {
                let name = match op {
                    UnaryOp::Neg => "the operand of a negation",
                    UnaryOp::Not => "the operand of a complement",
                };
                let known = self.int_type(*ty);
                self.expect(inner, operand, *ty, name);
                known.then_some(*ty)
            }
            Expr::Binary(op, ty, pair) => {
                let known = self.int_type(*ty);
                self.operands(inner, *op, *ty, pair);
                if op.is_comparison() { Some(IntType::BOOL) } else { known.then_some(*ty) }
            }
            Expr::Overflows(op, ty, pair) => {
                self.int_type(*ty);
                if !ty.signed {
                    self.report(format!("the overflow of an operation on {ty}, which is unsigned"));
                }
                if op.is_comparison() {
                    self.report("the overflow of a comparison");
                }
                self.operands(inner, *op, *ty, pair);
                Some(IntType::BOOL)
            }
            Expr::Cast(ty, operand) => {
                self.expression(inner, operand);
                self.int_type(*ty).then_some(*ty)
            }
            Expr::IfThenElse(three) => {
                self.expect(inner, &three.0, IntType::BOOL, "the condition of a choice");
                let yes = self.expression(inner, &three.1);
                let no = self.expression(inner, &three.2);
                if let (Some(yes), Some(no)) = (yes, no)
                    && yes != no
                {
                    self.report(format!("the arms of a choice have types {yes} and {no}"));
                }
                yes.or(no)
            }
            Expr::Valid(address, _) => {
                self.expect(inner, address, pointer, "the address of a validity test");
                Some(IntType::BOOL)
            }
            Expr::Old(operand) => {
                if !context.old {
                    self.report("an old value outside of a constraint, or inside of another old value");
                }
                self.expression(Context { old: false, ..inner }, operand)
            }
        }
    }

    fn operands(&mut self, context: Context<'p>, op: BinaryOp, ty: IntType, pair: &(Expr, Expr)) {
        match PointerArithmetic::of(self.program.data_model.pointer(), op, ty, pair) {
            None => {}
            Some(PointerArithmetic::Move) => {
                self.expect(context, &pair.0, ty, "the pointer that moves");
                self.expression(context, &pair.1);
                return;
            }
            Some(PointerArithmetic::Difference) => {
                self.expression(context, &pair.0);
                self.expression(context, &pair.1);
                return;
            }
        }
        self.expect(context, &pair.0, ty, "the left operand of an operation");
        match op {
            BinaryOp::Shl | BinaryOp::Shr => {
                self.expression(context, &pair.1);
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le => self.expect(context, &pair.1, ty, "the right operand of an operation"),
        }
    }

    /// Checks a memory cell. Returns its type, if it is valid.
    pub(super) fn memory(&mut self, context: Context<'p>, place: &Place) -> Option<IntType> {
        self.expect(context, &place.address, self.program.data_model.pointer(), "the address of a cell");
        match &place.targets {
            Targets::Any => {}
            Targets::Of(targets) => {
                for target in targets.iter() {
                    if self.program.objects.get(target.object).is_none() {
                        self.report(format!("target {} does not exist", target.object));
                    }
                    if target.count == 0 || (target.stride == 0 && target.count != 1) {
                        self.report(format!(
                            "a target has {} offsets, {} apart",
                            target.count, target.stride
                        ));
                    }
                }
            }
        }
        self.int_type(place.ty).then_some(place.ty)
    }

    fn address(&mut self, object: ObjectId, offset: u64) {
        let Some(found) = self.program.objects.get(object) else {
            return self.report(format!("object {object} does not exist"));
        };
        if offset > found.size {
            self.report(format!("offset {offset} is past the {} bytes of {}", found.size, found.name));
        }
        let allowed = match (found.storage, self.place) {
            (Storage::Static, _) => true,
            (Storage::Site, _) => {
                return self.report(format!("{} is an allocation site and has no address", found.name));
            }
            (Storage::ThreadLocal, Where::Template(_) | Where::Edge(..)) => true,
            (Storage::Frame(owner), Where::Template(user) | Where::Edge(user, _)) => owner == user,
            // An initial value is set when its object is created: it may name objects that are created at the
            // same time.
            (storage @ (Storage::ThreadLocal | Storage::Frame(_)), Where::Object(user)) => {
                self.program.objects[user].storage == storage
            }
            (Storage::ThreadLocal | Storage::Frame(_), Where::Program) => false,
        };
        if !allowed {
            self.report(format!(
                "{} cannot be named here: it belongs to another template or lifetime",
                found.name
            ));
        }
    }
}
