//! Writes specifications down. Reading what was written gives the same specification, but for places.

use crate::language::ast::{Expression, File, Item, Kind, Sign, Thread, Transition};
use ir::Count;
use std::fmt::Write;

/// The text of a file.
pub fn print(file: &File) -> String {
    let mut out = String::new();
    for item in &file.items {
        // Writing to a string does not fail.
        let _ = match item {
            Item::Let(name, value) => writeln!(out, "let {} = {};", name.text, expression(value)),
            Item::Always(value) => writeln!(out, "always {};", expression(value)),
            Item::Start(value) => writeln!(out, "start {};", expression(value)),
            Item::Thread(found) => write!(out, "\n{}", thread(found)),
        };
    }
    out
}

fn thread(thread: &Thread) -> String {
    let count = match thread.count {
        Count::Any => "any".to_owned(),
        Count::Exactly(copies) => copies.to_string(),
    };
    let mut out = format!("thread {} runs {} times {count} {{\n", thread.name.text, thread.function.text);
    for value in &thread.always {
        let _ = writeln!(out, "  always {};", expression(value));
    }
    for state in &thread.states {
        let start = if state.initial { "start " } else { "" };
        let asserts = state
            .assertion
            .as_ref()
            .map(|value| format!(" asserts {}", expression(value)))
            .unwrap_or_default();
        let _ = writeln!(out, "  {start}state {}{asserts};", state.name.text);
    }
    for transition in &thread.transitions {
        let _ = writeln!(out, "  {};", transition_text(transition));
    }
    out.push_str("}\n");
    out
}

fn transition_text(transition: &Transition) -> String {
    let mut out = format!("{} -> {}", transition.source.text, transition.target.text);
    if !transition.changes.is_empty() {
        let names: Vec<String> = transition.changes.iter().map(expression).collect();
        let _ = write!(out, " changes {}", names.join(", "));
    }
    if let Some(condition) = &transition.condition {
        let _ = write!(out, ": {}", expression(condition));
    }
    out
}

/// The text of an expression.
pub fn expression(value: &Expression) -> String {
    written(value, 0)
}

/// An expression where operands of signs that bind at most so strongly need parentheses.
fn written(value: &Expression, around: u8) -> String {
    const UNARY: u8 = 12;
    const POSTFIX: u8 = 13;
    let (text, strength) = match &value.kind {
        Kind::Number(number, unsigned, longs) => {
            let suffix = format!("{}{}", if *unsigned { "u" } else { "" }, "l".repeat(usize::from(*longs)));
            (format!("{number}{suffix}"), POSTFIX)
        }
        Kind::Name(name) => (name.clone(), POSTFIX),
        Kind::Member(base, member) => (format!("{}.{member}", written(base, POSTFIX - 1)), POSTFIX),
        Kind::Element(base, index) => {
            (format!("{}[{}]", written(base, POSTFIX - 1), written(index, 0)), POSTFIX)
        }
        Kind::Primed(base) => (format!("{}'", written(base, POSTFIX - 1)), POSTFIX),
        Kind::Unary(sign, operand) => (format!("{sign}{}", written(operand, UNARY)), UNARY),
        Kind::Binary(sign, pair) => {
            let strength = sign.strength();
            let (left, right) =
                if *sign == Sign::Implies { (strength, strength - 1) } else { (strength - 1, strength) };
            let text = format!("{} {} {}", written(&pair.0, left), sign.text(), written(&pair.1, right));
            (text, strength)
        }
        Kind::Conditional(three) => {
            let text =
                format!("{} ? {} : {}", written(&three.0, 0), written(&three.1, 0), written(&three.2, 0));
            (text, 0)
        }
    };
    if strength <= around && around > 0 { format!("({text})") } else { text }
}
