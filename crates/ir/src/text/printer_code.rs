//! The printer: operations and expressions.
//!
//! Binary operations have no precedence: an operand that is one itself is in parentheses. The type of an
//! operation is written only if it differs from that of its (left) operand.

use super::printer::{Printer, handle, put};
use super::{lock_word, sign, type_of};
use crate::expr::{BinaryOp, Expr, Place, Target, Targets, UnaryOp};
use crate::float::{FloatFormat, FloatOp};
use crate::op::{Assignment, Broadcast, Callee, Lhs, Op, Rhs};
use crate::types::{IntType, Value};
use std::fmt::Write;

impl<'p> Printer<'p> {
    pub(super) fn op(&mut self, op: &Op) {
        match op {
            Op::Assume(condition) => {
                put!(self, "assume ");
                self.expression(condition);
            }
            Op::Assign(assignment) => self.assignment(assignment),
            Op::Lock(kind, address) => {
                put!(self, "lock {} ", lock_word(*kind));
                self.expression(address);
            }
            Op::Unlock(kind, address) => {
                put!(self, "unlock {} ", lock_word(*kind));
                self.expression(address);
            }
            Op::Spawn(callee, arguments, result) => self.call("spawn", callee, arguments, result.as_ref()),
            Op::Join(thread, result) => {
                self.result(result.as_ref());
                put!(self, "join ");
                self.expression(thread);
            }
            Op::Allocate { site, size, zeroed, result } => {
                self.result(Some(result));
                put!(self, "allocate {} ", handle(&self.objects, *site));
                self.expression(size);
                if *zeroed {
                    put!(self, " zeroed");
                }
            }
            Op::Free(address) => {
                put!(self, "free ");
                self.expression(address);
            }
            Op::Fill(to, byte, size) => {
                put!(self, "fill");
                self.list([to, byte, size]);
            }
            Op::Copy(to, from, size) => {
                put!(self, "copy");
                self.list([to, from, size]);
            }
            Op::Call(callee, arguments, result) => self.call("call", callee, arguments, result.as_ref()),
            Op::Broadcast(broadcast) => self.broadcast(broadcast),
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if assignment.pairs.is_empty() {
            put!(self, "assign");
        }
        for (index, (lhs, rhs)) in assignment.pairs.iter().enumerate() {
            put!(self, "{}", if index == 0 { "" } else { ", " });
            self.result(Some(lhs));
            match rhs {
                Rhs::Value(value) => self.expression(value),
                Rhs::Any => put!(self, "any"),
                Rhs::Unknown => put!(self, "unknown"),
                Rhs::Float(op, format, operands) => self.float(*op, *format, operands),
            }
        }
        if let Some(constraint) = &assignment.constraint {
            put!(self, " where ");
            self.expression(constraint);
        }
    }

    fn float(&mut self, op: FloatOp, format: FloatFormat, operands: &[Expr]) {
        put!(self, "float {} ", format.bits());
        match op {
            FloatOp::Add => put!(self, "add"),
            FloatOp::Sub => put!(self, "sub"),
            FloatOp::Mul => put!(self, "mul"),
            FloatOp::Div => put!(self, "div"),
            FloatOp::Neg => put!(self, "neg"),
            FloatOp::Eq => put!(self, "eq"),
            FloatOp::Lt => put!(self, "lt"),
            FloatOp::Le => put!(self, "le"),
            FloatOp::FromInteger => put!(self, "from"),
            FloatOp::ToInteger(ty) => put!(self, "integer {ty}"),
            FloatOp::To(other) => put!(self, "to {}", other.bits()),
        }
        for operand in operands {
            put!(self, " ; ");
            self.expression(operand);
        }
    }

    /// Locals of the others have the names of their template.
    fn broadcast(&mut self, broadcast: &Broadcast) {
        put!(self, "broadcast {} (", handle(&self.templates, broadcast.to));
        let other = self.program.templates.get(broadcast.to);
        let names = other.map(super::local_handles).unwrap_or_default();
        for (index, (local, argument)) in broadcast.arguments.iter().enumerate() {
            put!(self, "{}{} := ", if index == 0 { "" } else { ", " }, handle(&names, *local));
            self.expression(argument);
        }
        put!(self, ") ");
        let (own_names, own) = (std::mem::replace(&mut self.locals, names), self.template);
        self.template = other;
        self.assignment(&broadcast.assignment);
        (self.locals, self.template) = (own_names, own);
    }

    fn call(&mut self, word: &str, callee: &Callee, arguments: &[Expr], result: Option<&Lhs>) {
        self.result(result);
        put!(self, "{word} ");
        match callee {
            Callee::Procedure(template) => put!(self, "{}", handle(&self.templates, *template)),
            Callee::Pointer(pointer) => {
                put!(self, "*");
                self.operand(pointer);
            }
        }
        self.list(arguments);
    }

    fn result(&mut self, lhs: Option<&Lhs>) {
        match lhs {
            None => return,
            Some(Lhs::Local(local)) => put!(self, "{}", handle(&self.locals, *local)),
            Some(Lhs::Memory(place)) => self.place(place),
        }
        put!(self, " := ");
    }

    fn list<'e>(&mut self, items: impl IntoIterator<Item = &'e Expr>) {
        put!(self, "(");
        for (index, item) in items.into_iter().enumerate() {
            put!(self, "{}", if index == 0 { "" } else { ", " });
            self.expression(item);
        }
        put!(self, ")");
    }

    fn place(&mut self, place: &Place) {
        if place.atomic {
            put!(self, "atomic ");
        }
        put!(self, "{}[", place.ty);
        self.expression(&place.address);
        match &place.targets {
            Targets::Any => {}
            Targets::Of(targets) => {
                put!(self, " in {{");
                for (index, target) in targets.iter().enumerate() {
                    put!(self, "{}", if index == 0 { "" } else { ", " });
                    self.target(target);
                }
                put!(self, "}}");
            }
        }
        put!(self, "]");
    }

    fn target(&mut self, target: &Target) {
        put!(self, "{}", handle(&self.objects, target.object));
        if target.first != 0 {
            put!(self, " + {}", target.first);
        }
        if target.stride != 0 || target.count != 1 {
            put!(self, " by {} times ", target.stride);
            if target.count == u64::MAX {
                put!(self, "any");
            } else {
                put!(self, "{}", target.count);
            }
        }
    }

    /// The type of an operation, if it differs from its operand's.
    fn unusual_type(&mut self, ty: IntType, operand: &Expr) {
        if type_of(self.program.data_model, self.template, operand) != Some(ty) {
            put!(self, ":{ty}");
        }
    }

    pub(super) fn expression(&mut self, expr: &Expr) {
        match expr {
            Expr::Binary(op, ty, pair) => self.binary(*op, *ty, pair),
            Expr::Const(value, ty) => self.constant(*value, *ty),
            Expr::Local(local) => put!(self, "{}", handle(&self.locals, *local)),
            Expr::Load(place) => self.place(place),
            Expr::Address(object, 0) => put!(self, "&{}", handle(&self.objects, *object)),
            Expr::Address(object, offset) => put!(self, "&({} + {offset})", handle(&self.objects, *object)),
            Expr::Procedure(template) => put!(self, "procedure {}", handle(&self.templates, *template)),
            Expr::Myself => put!(self, "myself"),
            Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => {
                put!(self, "!");
                self.operand(operand);
            }
            Expr::Unary(op, ty, operand) => {
                put!(self, "{}", if *op == UnaryOp::Neg { "-" } else { "~" });
                self.unusual_type(*ty, operand);
                // A minus before a number is part of the number.
                if matches!(**operand, Expr::Const(..)) {
                    put!(self, "(");
                    self.expression(operand);
                    put!(self, ")");
                } else {
                    self.operand(operand);
                }
            }
            Expr::Cast(ty, operand) => {
                put!(self, "{ty}(");
                self.expression(operand);
                put!(self, ")");
            }
            Expr::IfThenElse(three) => {
                put!(self, "if");
                self.list([&three.0, &three.1, &three.2]);
            }
            Expr::Overflows(op, ty, pair) => {
                put!(self, "overflows(");
                self.binary(*op, *ty, pair);
                put!(self, ")");
            }
            Expr::Valid(address, size) => {
                put!(self, "valid(");
                self.expression(address);
                put!(self, ", {size})");
            }
            Expr::Old(operand) => {
                put!(self, "old(");
                self.expression(operand);
                put!(self, ")");
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, ty: IntType, pair: &(Expr, Expr)) {
        self.operand(&pair.0);
        put!(self, " {}", sign(op));
        self.unusual_type(ty, &pair.0);
        put!(self, " ");
        self.operand(&pair.1);
    }

    fn operand(&mut self, expr: &Expr) {
        let parentheses = matches!(expr, Expr::Binary(..));
        put!(self, "{}", if parentheses { "(" } else { "" });
        self.expression(expr);
        put!(self, "{}", if parentheses { ")" } else { "" });
    }

    fn constant(&mut self, value: Value, ty: IntType) {
        match (ty, value) {
            (IntType::BOOL, 0) => put!(self, "false"),
            (IntType::BOOL, 1) => put!(self, "true"),
            (IntType::I32, _) => put!(self, "{value}"),
            (ty, _) => put!(self, "{value}{ty}"),
        }
    }
}
