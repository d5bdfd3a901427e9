//! The values of expressions in an environment, and how an engine says what a variable is.
//!
//! Over-approximates [`ir::semantics::Machine::peek`]: if the expression does not fault in a state that the
//! environment describes, its value is in the result. Bottom: it always faults.

use crate::environment::Environment;
use crate::lattice::Lattice;
use crate::number::Number;
use crate::refine::Refiner;
use ir::ids::Id;
use ir::{BinaryOp, Expr, IntType, ObjectId, Place, TemplateId};

/// An environment of the variables that a [`Resolve`] names.
pub type Numbers<V> = Environment<V, Number>;

/// What an engine knows about the expressions of a template.
pub trait Resolve {
    /// What it has values for: locals and memory cells.
    type Variable: Id;

    /// The type of an expression.
    fn type_of(&self, expr: &Expr) -> IntType;

    /// The variable that a local, a load or an [`Expr::Old`] names.
    ///
    /// It stands for exactly one concrete cell in every state, read as the expression reads it: a test of the
    /// expression is a test of the variable. A cell that stands for many (an array, an allocation site) is no
    /// such variable; its content comes from [`Resolve::load`].
    fn variable(&self, expr: &Expr) -> Option<Self::Variable>;

    /// The values of a load that names no variable: all that any of its targets can hold.
    /// The value of its address is given; the result is cut to the type of the place.
    fn load(&self, place: &Place, _address: &Number, _environment: &Numbers<Self::Variable>) -> Number {
        Number::of_type(place.ty)
    }
    /// The address of a byte of an object. Never 0; by default no more is known.
    fn address(&self, _object: ObjectId, _offset: u64) -> Number {
        Number::NONZERO
    }
    /// The address of a procedure. Never 0; by default no more is known.
    fn procedure(&self, _template: TemplateId) -> Number {
        Number::NONZERO
    }
    /// The id of the running thread. Never 0; by default no more is known.
    fn myself(&self) -> Number {
        Number::NONZERO
    }
    /// Whether bytes from a pointer on lie in a live object: a set of truth values. By default it is known of
    /// 0 only.
    fn valid(
        &self,
        _pointer: &Expr,
        _size: u64,
        _value: &Number,
        _environment: &Numbers<Self::Variable>,
    ) -> Number {
        Number::BOOLEAN
    }
    /// The value of an expression before an assignment, where that is no variable.
    fn old(&self, operand: &Expr, _environment: &Numbers<Self::Variable>) -> Number {
        Number::of_type(self.type_of(operand))
    }
}

/// The values of an expression.
pub fn evaluate<R: Resolve>(expr: &Expr, environment: &Numbers<R::Variable>, resolve: &R) -> Number {
    Refiner::new(resolve).evaluate(expr, environment)
}

impl<R: Resolve> Refiner<'_, R> {
    /// The values of an expression.
    pub(crate) fn evaluate(&self, expr: &Expr, environment: &Numbers<R::Variable>) -> Number {
        if environment.is_bottom() {
            return Number::BOTTOM;
        }
        let of_type = |value: Number| value.meet(&Number::of_type(self.resolve.type_of(expr)));
        if let Some(variable) = self.variable(expr) {
            return of_type(environment.get(variable).copied().unwrap_or(Number::TOP));
        }
        match expr {
            Expr::Const(value, _) => Number::constant(*value),
            Expr::Local(_) => of_type(Number::TOP),
            Expr::Load(place) => {
                let address = self.evaluate(&place.address, environment).without(0);
                if address.is_bottom() {
                    return Number::BOTTOM;
                }
                of_type(self.resolve.load(place, &address, environment))
            }
            Expr::Address(object, offset) => of_type(self.resolve.address(*object, *offset)),
            Expr::Procedure(template) => of_type(self.resolve.procedure(*template)),
            Expr::Myself => of_type(self.resolve.myself()),
            Expr::Unary(op, ty, operand) => Number::unary(*op, *ty, &self.evaluate(operand, environment)),
            Expr::Binary(op, ty, pair) => {
                let left = self.evaluate(&pair.0, environment);
                let right = self.evaluate(&pair.1, environment);
                self.binary(*op, *ty, pair, &left, &right)
            }
            Expr::Cast(ty, operand) => self.evaluate(operand, environment).cast(*ty),
            Expr::IfThenElse(three) => {
                let (condition, then, otherwise) = &**three;
                let value = self.evaluate(condition, environment);
                let arm = |arm: &Expr, truth: bool| {
                    let possible = if truth { value.may_hold() } else { value.may_fail() };
                    if !possible {
                        return Number::BOTTOM;
                    }
                    self.evaluate(arm, &self.assume(condition, truth, environment.clone()))
                };
                arm(then, true).join(&arm(otherwise, false))
            }
            Expr::Overflows(op, ty, pair) => {
                let left = self.evaluate(&pair.0, environment);
                let right = self.evaluate(&pair.1, environment);
                Number::overflows(*op, *ty, &left, &right)
            }
            Expr::Valid(pointer, size) => {
                let value = self.evaluate(pointer, environment);
                if value.is_bottom() {
                    return Number::BOTTOM;
                }
                if value.as_constant() == Some(0) {
                    return Number::constant(0);
                }
                if *size == 0 {
                    // Whether memory may be freed is not known.
                    return Number::BOOLEAN;
                }
                self.resolve.valid(pointer, *size, &value, environment).meet(&Number::BOOLEAN)
            }
            Expr::Old(operand) => of_type(self.resolve.old(operand, environment)),
        }
    }

    /// A binary operation, where two operands that are the same variable have the same value.
    fn binary(
        &self,
        op: BinaryOp,
        ty: IntType,
        pair: &(Expr, Expr),
        left: &Number,
        right: &Number,
    ) -> Number {
        let value = Number::binary(op, ty, left, right);
        if value.as_constant().is_some() || value.is_bottom() {
            return value;
        }
        let variable = self.variable(&pair.0);
        if variable.is_none() || variable != self.variable(&pair.1) {
            return value;
        }
        match op {
            BinaryOp::Eq | BinaryOp::Le => Number::constant(1),
            BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Sub | BinaryOp::Xor => Number::constant(0),
            BinaryOp::And | BinaryOp::Or => left.meet(right),
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => {
                value
            }
        }
    }

    /// The variable that an expression is.
    pub(crate) fn variable(&self, expr: &Expr) -> Option<R::Variable> {
        match expr {
            Expr::Local(_) | Expr::Load(_) | Expr::Old(_) => self.resolve.variable(expr),
            Expr::Const(..)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..) => None,
        }
    }
}
