//! Programs as C text.

use super::{ARRAY, Cell, Expression, Function, Index, Operator, Source, Statement, is_wide};
use ir::IntType;
use std::fmt::Write;

const PRELUDE: &str = "#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

";

fn type_name(ty: IntType) -> &'static str {
    match (ty.bits, ty.signed) {
        (1, _) => "_Bool",
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (64, true) => "long long",
        (64, false) => "unsigned long long",
        (_, true) => "int",
        (_, false) => "unsigned int",
    }
}

impl Source {
    /// The program as C text.
    pub fn c_text(&self) -> String {
        let mut out = String::from(PRELUDE);
        // Writing to a string cannot fail.
        for (index, (ty, value)) in self.globals.iter().enumerate() {
            let _ = writeln!(out, "{} g{index} = {value};", type_name(*ty));
        }
        for (index, ty) in self.arrays.iter().enumerate() {
            let _ = writeln!(out, "{} a{index}[{ARRAY}];", type_name(*ty));
        }
        for (index, target) in self.pointers.iter().enumerate() {
            let _ = writeln!(out, "int *p{index} = &g{target};");
        }
        for lock in 0..self.locks {
            let _ = writeln!(out, "pthread_mutex_t m{lock} = PTHREAD_MUTEX_INITIALIZER;");
        }
        for (index, helper) in self.helpers.iter().enumerate() {
            let _ = writeln!(out, "\nstatic int helper{index}(int l0) {{");
            self.body(&mut out, helper, 1);
            let result = helper.result.as_ref().map_or("0".to_owned(), |result| self.expression(result));
            let _ = writeln!(out, "  return {result};\n}}");
        }
        for (index, thread) in self.threads.iter().enumerate().skip(1) {
            let _ = writeln!(out, "\nvoid *thread{index}(void *argument) {{");
            self.body(&mut out, thread, 0);
            out += "  return 0;\n}\n";
        }
        out += "\nint main(void) {\n";
        for index in 1..self.threads.len() {
            let _ = writeln!(out, "  pthread_t t{index};");
        }
        for index in 1..self.threads.len() {
            let _ = writeln!(out, "  pthread_create(&t{index}, 0, thread{index}, 0);");
        }
        if let Some(main) = self.threads.first() {
            self.body(&mut out, main, 0);
        }
        for index in 1..self.threads.len() {
            let _ = writeln!(out, "  pthread_join(t{index}, 0);");
        }
        if let Some(finally) = &self.finally {
            let _ = writeln!(out, "  assert({});", self.expression(finally));
        }
        out + "  return 0;\n}\n"
    }

    fn body(&self, out: &mut String, function: &Function, parameters: usize) {
        for local in parameters..function.locals {
            let _ = writeln!(out, "  int l{local} = 0;");
        }
        self.block(out, &function.body, 1);
    }

    fn block(&self, out: &mut String, body: &[Statement], depth: usize) {
        for statement in body {
            self.statement(out, statement, depth);
        }
    }

    fn statement(&self, out: &mut String, statement: &Statement, depth: usize) {
        let pad = "  ".repeat(depth);
        let nested = |out: &mut String, body: &[Statement]| self.block(out, body, depth + 1);
        match statement {
            Statement::Set(local, value) => {
                let _ = writeln!(out, "{pad}l{local} = ({}) % 8;", self.expression(value));
            }
            Statement::Store(cell, value) => {
                let small = if is_wide(self.type_of(*cell)) { " % 8" } else { "" };
                let _ = writeln!(out, "{pad}{} = ({}){small};", self.cell(*cell), self.expression(value));
            }
            Statement::Point(pointer, global) => {
                let _ = writeln!(out, "{pad}p{pointer} = &g{global};");
            }
            Statement::Input(local) => {
                let _ = writeln!(out, "{pad}l{local} = __VERIFIER_nondet_bool();");
            }
            Statement::Assume(condition) => {
                let _ = writeln!(out, "{pad}__VERIFIER_assume({});", self.expression(condition));
            }
            Statement::Assert(condition) => {
                let _ = writeln!(out, "{pad}assert({});", self.expression(condition));
            }
            Statement::If(condition, yes, no) => {
                let _ = writeln!(out, "{pad}if ({}) {{", self.expression(condition));
                nested(out, yes);
                if !no.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    nested(out, no);
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Statement::Repeat(times, counter, body) => {
                let _ = writeln!(out, "{pad}for (l{counter} = 0; l{counter} < {times}; l{counter}++) {{");
                nested(out, body);
                let _ = writeln!(out, "{pad}}}");
            }
            Statement::While(condition, times, counter, body) => {
                let _ = writeln!(out, "{pad}l{counter} = 0;");
                let condition = self.expression(condition);
                let _ = writeln!(out, "{pad}while (l{counter} < {times} && ({condition})) {{");
                let _ = writeln!(out, "{pad}  l{counter} = l{counter} + 1;");
                nested(out, body);
                let _ = writeln!(out, "{pad}}}");
            }
            Statement::Locked(lock, body) => {
                let _ = writeln!(out, "{pad}pthread_mutex_lock(&m{lock});");
                self.block(out, body, depth);
                let _ = writeln!(out, "{pad}pthread_mutex_unlock(&m{lock});");
            }
            Statement::Atomic(body) => {
                let _ = writeln!(out, "{pad}__VERIFIER_atomic_begin();");
                self.block(out, body, depth);
                let _ = writeln!(out, "{pad}__VERIFIER_atomic_end();");
            }
            Statement::Call(local, helper, argument) => {
                let _ = writeln!(out, "{pad}l{local} = helper{helper}({});", self.expression(argument));
            }
        }
    }

    fn cell(&self, cell: Cell) -> String {
        match cell {
            Cell::Global(global) => format!("g{global}"),
            Cell::Element(array, Index::Fixed(index)) => format!("a{array}[{index}]"),
            Cell::Element(array, Index::Local(local)) => {
                format!("a{array}[(unsigned int)l{local} % {ARRAY}u]")
            }
            Cell::Pointee(pointer) => format!("*p{pointer}"),
        }
    }

    fn expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Number(value) => value.to_string(),
            Expression::Local(local) => format!("l{local}"),
            Expression::Shared(cell) if is_wide(self.type_of(*cell)) => {
                format!("(int)({} % 16)", self.cell(*cell))
            }
            Expression::Shared(cell) => self.cell(*cell),
            Expression::Not(operand) => format!("!({})", self.expression(operand)),
            Expression::Binary(operator, pair) => {
                let sign = match operator {
                    Operator::Add => "+",
                    Operator::Sub => "-",
                    Operator::And => "&",
                    Operator::Or => "|",
                    Operator::Xor => "^",
                    Operator::Equal => "==",
                    Operator::Different => "!=",
                    Operator::Less => "<",
                    Operator::LessOrEqual => "<=",
                };
                let part = |operand: &Expression| match operand {
                    Expression::Binary(..) | Expression::Not(_) => format!("({})", self.expression(operand)),
                    Expression::Number(_) | Expression::Local(_) | Expression::Shared(_) => {
                        self.expression(operand)
                    }
                };
                format!("{} {sign} {}", part(&pair.0), part(&pair.1))
            }
        }
    }

    pub(super) fn type_of(&self, cell: Cell) -> IntType {
        match cell {
            Cell::Global(global) => self.globals[global].0,
            Cell::Element(array, _) => self.arrays[array],
            Cell::Pointee(_) => IntType::I32,
        }
    }
}
