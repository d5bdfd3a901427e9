//! Models of library functions.

use crate::builder::Builder;
use ir::{Expr, IntType, Program, Span, TemplateId};

/// A call of a function that has no body (or whose body is to be ignored), arguments already evaluated left to right.
pub struct Call<'a> {
    /// The function's name.
    pub name: &'a str,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The type of its result; nothing for `void`.
    pub result: Option<IntType>,
    /// Where it is called.
    pub span: Span,
}

/// An argument.
pub struct Argument {
    /// Its value.
    pub value: Expr,
    /// Its type.
    pub ty: IntType,
    /// What it points to, for pointers.
    pub pointee: Option<Pointee>,
    /// The function, when the argument is directly a function name.
    pub function: Option<TemplateId>,
    /// The bytes of a string literal.
    pub text: Option<Vec<u8>>,
    /// Whether it is a null pointer constant.
    pub is_null: bool,
    /// Its value, when that is a constant.
    pub constant: Option<i128>,
}

/// What a pointer points to.
pub struct Pointee {
    /// Its bytes; 0 for `void` and incomplete types.
    pub size: u64,
    /// Its type, if it is a scalar.
    pub scalar: Option<IntType>,
    /// Its type as it is spelled.
    pub type_name: String,
    /// Whether it is `_Atomic`.
    pub atomic: bool,
}

/// What came of a call.
pub enum Outcome {
    /// Its result.
    Value(Expr),
    /// It has no result.
    Void,
    /// There is no model of this function.
    NotKnown,
}

/// What a model may change.
pub struct Context<'a> {
    /// The calling function.
    pub builder: &'a mut Builder,
    /// The program, to add objects and assumptions to.
    pub program: &'a mut Program,
}

/// Emits what a library function does, if there is a model of it.
pub fn model(_context: &mut Context<'_>, _call: &Call<'_>) -> Outcome {
    Outcome::NotKnown
}

/// Whether the model wins over a body in the file.
pub fn is_modelled(_name: &str) -> bool {
    false
}
