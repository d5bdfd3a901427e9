//! Prints programs so that reading them again gives the same program.

use crate::ast::{
    BinaryOperator, Connective, Declaration, Expr, Procedure, Program, Statement, StatementKind,
};
use std::fmt::Write;

/// The program's text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    for declaration in &program.globals {
        printer.declaration(declaration);
    }
    for procedure in &program.procedures {
        printer.procedure(procedure);
    }
    printer.text
}

struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.indent);
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let name = &declaration.name.text;
        match &declaration.initial {
            Some(value) => self.line(&format!("decl {name} := {};", expression(value))),
            None => self.line(&format!("decl {name};")),
        }
    }

    fn procedure(&mut self, procedure: &Procedure) {
        let kind = match procedure.returns {
            0 => "void".to_owned(),
            1 => "bool".to_owned(),
            many => format!("bool<{many}>"),
        };
        let parameters: Vec<&str> = procedure.parameters.iter().map(|name| name.text.as_str()).collect();
        self.line(&format!("{kind} {}({}) begin", procedure.name.text, parameters.join(", ")));
        self.indent += 1;
        for local in &procedure.locals {
            self.declaration(local);
        }
        if let Some(condition) = &procedure.enforce {
            self.line(&format!("enforce {};", expression(condition)));
        }
        self.statements(&procedure.body);
        self.indent -= 1;
        self.line("end");
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn block(&mut self, head: &str, statements: &[Statement]) {
        self.line(head);
        self.indent += 1;
        self.statements(statements);
        self.indent -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        let labels: String = statement.labels.iter().map(|label| format!("{}: ", label.text)).collect();
        let text = match &statement.kind {
            StatementKind::Skip => "skip".to_owned(),
            StatementKind::Goto(targets) => {
                let targets: Vec<&str> = targets.iter().map(|label| label.text.as_str()).collect();
                format!("goto {}", targets.join(", "))
            }
            StatementKind::Return(values) if values.is_empty() => "return".to_owned(),
            StatementKind::Return(values) => format!("return {}", list(values)),
            StatementKind::Assign { targets, values, constrain } => {
                let targets: Vec<&str> = targets.iter().map(|name| name.text.as_str()).collect();
                let constrain =
                    constrain.as_ref().map_or(String::new(), |e| format!(" constrain {}", expression(e)));
                format!("{} := {}{constrain}", targets.join(", "), list(values))
            }
            StatementKind::Constrain(condition) => format!("constrain {}", expression(condition)),
            StatementKind::Call { targets, callee, arguments } => {
                let targets: Vec<&str> = targets.iter().map(|name| name.text.as_str()).collect();
                let assign = if targets.is_empty() { "" } else { " := " };
                format!("{}{assign}{}({})", targets.join(", "), callee.text, list(arguments))
            }
            StatementKind::Assume(condition) => format!("assume {}", expression(condition)),
            StatementKind::Assert(condition) => format!("assert {}", expression(condition)),
            StatementKind::AbortIf(condition) => format!("abortif {}", expression(condition)),
            StatementKind::If(branches, otherwise) => {
                for (index, (condition, body)) in branches.iter().enumerate() {
                    let (labels, word) = if index == 0 { (labels.as_str(), "if") } else { ("", "elsif") };
                    self.block(&format!("{labels}{word} {} then", expression(condition)), body);
                }
                if !otherwise.is_empty() {
                    self.block("else", otherwise);
                }
                self.line("fi");
                return;
            }
            StatementKind::While(condition, body) => {
                self.block(&format!("{labels}while {} do", expression(condition)), body);
                self.line("od");
                return;
            }
            StatementKind::StartAt(label) => format!("start_thread goto {}", label.text),
            StatementKind::StartCall(callee, arguments) => {
                format!("start_thread {}({})", callee.text, list(arguments))
            }
            StatementKind::EndThread => "end_thread".to_owned(),
            StatementKind::AtomicBegin => "atomic_begin".to_owned(),
            StatementKind::AtomicEnd => "atomic_end".to_owned(),
            StatementKind::Lock(lock) => format!("lock {}", lock.text),
            StatementKind::Unlock(lock) => format!("unlock {}", lock.text),
            StatementKind::Wait => "wait".to_owned(),
            StatementKind::Broadcast => "broadcast".to_owned(),
            StatementKind::Print(values) => format!("print({})", list(values)),
        };
        self.line(&format!("{labels}{text};"));
    }
}

fn list(values: &[Expr]) -> String {
    let values: Vec<String> = values.iter().map(expression).collect();
    values.join(", ")
}

/// The text of an expression.
pub fn expression(expr: &Expr) -> String {
    match expr {
        Expr::Constant(true) => "T".to_owned(),
        Expr::Constant(false) => "F".to_owned(),
        Expr::Choice => "*".to_owned(),
        Expr::Variable(variable) => {
            format!("{}{}", if variable.next { "'" } else { "" }, variable.name.text)
        }
        Expr::Not(operand) => format!("!{}", operand_text(operand)),
        Expr::Many(connective, operands) => {
            let sign = match connective {
                Connective::And => " & ",
                Connective::Or => " | ",
            };
            let operands: Vec<String> = operands.iter().map(operand_text).collect();
            operands.join(sign)
        }
        Expr::Binary(operator, pair) => {
            let sign = match operator {
                BinaryOperator::Equal => "=",
                BinaryOperator::Different => "!=",
                BinaryOperator::Xor => "^",
                BinaryOperator::Implies => "=>",
            };
            format!("{} {sign} {}", operand_text(&pair.0), operand_text(&pair.1))
        }
        Expr::Conditional(three) => {
            let [a, b, c] = [&three.0, &three.1, &three.2].map(operand_text);
            format!("{a} ? {b} : {c}")
        }
        Expr::Schoose(pair) => format!("schoose[{}, {}]", expression(&pair.0), expression(&pair.1)),
    }
}

fn operand_text(expr: &Expr) -> String {
    match expr {
        Expr::Constant(_) | Expr::Choice | Expr::Variable(_) | Expr::Not(_) | Expr::Schoose(_) => {
            expression(expr)
        }
        Expr::Many(..) | Expr::Binary(..) | Expr::Conditional(_) => format!("({})", expression(expr)),
    }
}
