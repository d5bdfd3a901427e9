//! Terms of the expressions of programs. Exact: for all values of what an expression reads, the term's value
//! is the one that `ir::semantics` computes, and the condition that goes with it says whether that computes
//! one at all.
//!
//! There are two representations of a number of the program; a Boolean is a Boolean in both.
//!
//! * [`Mode::Integers`]: an integer in the range of its type. Sums and comparisons stay linear arithmetic;
//!   unsigned wrapping is a choice between two sums, and bit operations that are no arithmetic go through
//!   bit-vectors.
//! * [`Mode::Bits`]: a bit-vector of the type's width.
//!
//! What an expression reads (locals, memory, addresses, …) is given by the caller, who must give values of
//! the right range: [`Mode::range`] says so of a variable.

mod bits;
mod integers;

use crate::sort::Sort;
use crate::term::Term;
use crate::value::{Value, signed};
use ir::{BinaryOp, Expr, IntType, UnaryOp};

/// How numbers of the program are represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// By mathematical integers.
    Integers,
    /// By bit-vectors.
    Bits,
}

/// The term of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translated {
    /// Its value, of sort [`Mode::sort`] of the type; of no importance where it is not defined.
    pub value: Term,
    /// Its type.
    pub ty: IntType,
    /// Whether it has a value: whether its evaluation ends without a fault.
    pub defined: Term,
}

/// Why an expression has no term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untranslatable(pub String);

/// Gives the term of an expression that reads something: [`Expr::Local`], [`Expr::Load`], [`Expr::Address`],
/// [`Expr::Procedure`], [`Expr::Myself`], [`Expr::Valid`] or [`Expr::Old`], with all that is inside it.
pub type Reader<'a> = dyn FnMut(&Expr) -> Result<Translated, Untranslatable> + 'a;

impl Translated {
    /// A value that is always defined.
    pub fn new(value: Term, ty: IntType) -> Self {
        Self { value, ty, defined: Term::bool(true) }
    }
}

impl Mode {
    /// The sort of the terms that represent values of a type.
    pub fn sort(self, ty: IntType) -> Sort {
        match self {
            _ if ty == IntType::BOOL => Sort::Bool,
            Self::Integers => Sort::Int,
            Self::Bits => Sort::bit_vector(u32::from(ty.bits)),
        }
    }
    /// The term of a value of a type.
    pub fn constant(self, value: ir::Value, ty: IntType) -> Term {
        match self {
            _ if ty == IntType::BOOL => Term::bool(value != 0),
            Self::Integers => Term::int(value),
            Self::Bits => Term::bits(u32::from(ty.bits), value as u128),
        }
    }
    /// That a term is in the range of the type that it represents.
    pub fn range(self, term: &Term, ty: IntType) -> Term {
        match self {
            Self::Integers if ty != IntType::BOOL => integers::in_range(term, ty),
            Self::Integers | Self::Bits => Term::bool(true),
        }
    }
    /// The program's value that a value of a term represents, if it is in the range of the type.
    pub fn program_value(self, value: &Value, ty: IntType) -> Option<ir::Value> {
        let number = match value {
            Value::Bool(truth) => ir::Value::from(*truth),
            Value::Int(number) => *number,
            Value::Bits(width, bits) if ty.signed => signed(*width, *bits),
            Value::Bits(_, bits) => ir::Value::try_from(*bits).ok()?,
            Value::Array(_) => return None,
        };
        (value.sort() == self.sort(ty) && ty.contains(number)).then_some(number)
    }
    /// The term of an expression.
    pub fn translate(self, expr: &Expr, read: &mut Reader<'_>) -> Result<Translated, Untranslatable> {
        match expr {
            Expr::Const(value, ty) => Ok(Translated::new(self.constant(*value, *ty), *ty)),
            Expr::Local(_)
            | Expr::Load(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Valid(..)
            | Expr::Old(_) => read(expr),
            Expr::Unary(op, ty, operand) => {
                let operand = self.translate(operand, read)?;
                let (value, defined) = match self {
                    Self::Integers => integers::unary(*op, *ty, &operand.value),
                    Self::Bits => bits::unary(*op, *ty, &operand.value),
                };
                Ok(Translated { value, ty: *ty, defined: operand.defined.and(&defined) })
            }
            Expr::Binary(op, ty, pair) => {
                let (left, right) = (self.translate(&pair.0, read)?, self.translate(&pair.1, read)?);
                let (value, defined) = match self {
                    Self::Integers => integers::binary(*op, *ty, &left.value, &right.value),
                    Self::Bits => bits::binary(*op, *ty, &left.value, &right),
                };
                let ty = if op.is_comparison() { IntType::BOOL } else { *ty };
                Ok(Translated { value, ty, defined: Term::all([left.defined, right.defined, defined]) })
            }
            Expr::Overflows(op, ty, pair) => {
                let (left, right) = (self.translate(&pair.0, read)?, self.translate(&pair.1, read)?);
                let value = match self {
                    _ if !ty.signed => Term::bool(false),
                    Self::Integers => integers::overflows(*op, *ty, &left.value, &right.value),
                    Self::Bits => bits::overflows(*op, *ty, &left.value, &right),
                };
                Ok(Translated { value, ty: IntType::BOOL, defined: left.defined.and(&right.defined) })
            }
            Expr::Cast(ty, operand) => {
                let operand = self.translate(operand, read)?;
                Ok(Translated { value: self.cast(*ty, &operand), ty: *ty, defined: operand.defined })
            }
            Expr::IfThenElse(three) => {
                let condition = self.translate(&three.0, read)?;
                let (yes, no) = (self.translate(&three.1, read)?, self.translate(&three.2, read)?);
                let chosen = condition.value.if_then_else(&yes.defined, &no.defined);
                Ok(Translated {
                    value: condition.value.if_then_else(&yes.value, &no.value),
                    ty: yes.ty,
                    defined: condition.defined.and(&chosen),
                })
            }
        }
    }
    /// A value as one of another type, as [`Expr::Cast`] does.
    pub fn cast(self, ty: IntType, operand: &Translated) -> Term {
        match self {
            Self::Integers => integers::cast(ty, operand),
            Self::Bits => bits::cast(ty, operand),
        }
    }
    /// The formula of a condition: that it is defined and holds.
    pub fn condition(self, expr: &Expr, read: &mut Reader<'_>) -> Result<Term, Untranslatable> {
        let translated = self.translate(expr, read)?;
        if translated.ty != IntType::BOOL {
            return Err(Untranslatable(format!("a condition of type {}", translated.ty)));
        }
        Ok(translated.defined.and(&translated.value))
    }
}

/// Operations on truth values, the same in both modes; none where they are operations on the numbers 0 and 1.
fn logical(op: BinaryOp, left: &Term, right: &Term) -> Option<Term> {
    match op {
        BinaryOp::And => Some(left.and(right)),
        BinaryOp::Or => Some(left.or(right)),
        BinaryOp::Xor | BinaryOp::Ne => Some(left.differs(right)),
        BinaryOp::Eq => Some(left.equals(right)),
        BinaryOp::Lt => Some(left.not().and(right)),
        BinaryOp::Le => Some(left.implies(right)),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr => None,
    }
}

/// Negation of a truth value as a number, and its complement.
fn logical_unary(op: UnaryOp, operand: &Term) -> Term {
    match op {
        // In a single bit, -1 is 1.
        UnaryOp::Neg => operand.clone(),
        UnaryOp::Not => operand.not(),
    }
}
