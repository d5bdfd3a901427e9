//! Expressions as terms, at the point that an edge has reached.
//!
//! The operators are those of [`smt::expressions`]; this file handles variables, memory, addresses and the
//! validity of pointers. The condition that an expression is defined is added to the guard.

use crate::follow::Follower;
use ir::{Expr, IntType};
use smt::Term;
use smt::expressions::Translated;

impl Follower<'_, '_, '_> {
    /// The value of an expression here. Adds the condition that it is defined to the guard.
    pub(crate) fn value(&mut self, expr: &Expr) -> Term {
        let translated = self.translated(expr);
        self.guard.push(translated.defined);
        translated.value
    }

    /// The truth value of a Boolean expression here. Adds the condition that it is defined to the guard.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Term {
        self.value(expr)
    }

    fn translated(&mut self, expr: &Expr) -> Translated {
        let mode = self.system.mode;
        let ty = self.system.program.type_of(self.template, expr);
        mode.translate(expr, &mut |leaf| Ok(self.leaf(leaf))).unwrap_or_else(|_| {
            // An expression without a term may have any value.
            Translated::new(self.anything(ty), ty)
        })
    }

    /// A part of an expression that is not an operation.
    fn leaf(&mut self, expr: &Expr) -> Translated {
        let ty = self.system.program.type_of(self.template, expr);
        // The condition that a leaf is defined is needed only where the leaf is evaluated.
        let before = std::mem::take(&mut self.guard);
        let value = match expr {
            Expr::Local(local) => self.local(*local),
            Expr::Load(place) => self.read(place),
            Expr::Address(object, offset) => self.cells.address(*object, *offset),
            Expr::Procedure(template) => self.cells.procedure(*template),
            Expr::Myself => self.myself(),
            Expr::Valid(pointer, bytes) => self.valid(pointer, *bytes),
            Expr::Old(operand) => self.before(operand),
            Expr::Const(..)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..) => self.value(expr),
        };
        let defined = Term::all(std::mem::replace(&mut self.guard, before));
        Translated { value, ty, defined }
    }

    /// A value of one type as a value of another.
    pub(crate) fn cast(&self, value: &Term, from: IntType, to: IntType) -> Term {
        self.system.mode.cast(to, &Translated::new(value.clone(), from))
    }
}
