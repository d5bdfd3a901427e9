//! Text of terms: infix for people, SMT-LIB for machines. Both are for output only; nothing here is read
//! back.

use crate::sort::Sort;
use crate::term::{Operation, Term, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::{self, Write};
use std::ops::ControlFlow;

/// How much of a term the infix form shows. It repeats shared subterms, so a small term can have a long text.
const LONGEST_TEXT: usize = 1 << 16;

impl Operation {
    /// The name of the function in SMT-LIB, without its numeric parameters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Variable(_) => "variable",
            Self::Bool(_) | Self::Int(_) | Self::Bits(_) => "literal",
            Self::Not => "not",
            Self::And => "and",
            Self::Or => "or",
            Self::Equal => "=",
            Self::IfThenElse => "ite",
            Self::Add => "+",
            Self::Multiply => "*",
            Self::Divide => "div",
            Self::Modulo => "mod",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::BitNot => "bvnot",
            Self::BitNegate => "bvneg",
            Self::BitAdd => "bvadd",
            Self::BitSubtract => "bvsub",
            Self::BitMultiply => "bvmul",
            Self::UnsignedDivide => "bvudiv",
            Self::SignedDivide => "bvsdiv",
            Self::UnsignedRemainder => "bvurem",
            Self::SignedRemainder => "bvsrem",
            Self::BitAnd => "bvand",
            Self::BitOr => "bvor",
            Self::BitXor => "bvxor",
            Self::ShiftLeft => "bvshl",
            Self::LogicalShiftRight => "bvlshr",
            Self::ArithmeticShiftRight => "bvashr",
            Self::UnsignedLess => "bvult",
            Self::UnsignedLessOrEqual => "bvule",
            Self::SignedLess => "bvslt",
            Self::SignedLessOrEqual => "bvsle",
            Self::Concat => "concat",
            Self::Extract { .. } => "extract",
            Self::ZeroExtend(_) => "zero_extend",
            Self::SignExtend(_) => "sign_extend",
            Self::BitsToUnsigned => "ubv_to_int",
            Self::BitsToSigned => "sbv_to_int",
            Self::IntToBits(_) => "int_to_bv",
            Self::Select => "select",
            Self::Store => "store",
            Self::ConstantArray => "const",
        }
    }
    /// The infix operator, if the operation has one.
    fn infix(&self) -> Option<&'static str> {
        Some(match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Equal => "==",
            Self::Add | Self::BitAdd => "+",
            Self::BitSubtract => "-",
            Self::Multiply | Self::BitMultiply => "*",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::ShiftLeft => "<<",
            Self::Divide | Self::Modulo => return Some(self.name()),
            _ => return None,
        })
    }
}

/// What is still to be written.
enum Piece<'a> {
    Term(&'a Term, bool),
    Text(&'static str),
}

impl fmt::Display for Term {
    /// The infix form: `x + 1 <= y && !(a == b)`. Cut off with `…` where it is very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut pending = vec![Piece::Term(self, false)];
        while let Some(piece) = pending.pop() {
            if text.len() > LONGEST_TEXT {
                text.push('…');
                break;
            }
            match piece {
                Piece::Text(word) => text.push_str(word),
                Piece::Term(term, inside) => infix(&mut text, &mut pending, term, inside)?,
            }
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes a leaf, or pushes the parts of a compound term on the stack. A term `inside` another operation gets
/// parentheses.
fn infix<'a>(text: &mut String, pending: &mut Vec<Piece<'a>>, term: &'a Term, inside: bool) -> fmt::Result {
    let operands = term.operands();
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    match term.operation() {
        Operation::Variable(name) => text.push_str(name.text()),
        Operation::Bool(value) => write!(text, "{value}")?,
        Operation::Int(value) => write!(text, "{value}")?,
        Operation::Bits(bits) => write!(text, "{bits}:{}", term.sort().width())?,
        Operation::Not => match operands[0].operation() {
            Operation::Equal => {
                pieces = between("!=", operands[0].operands(), inside);
            }
            Operation::Less => {
                pieces = between(">=", operands[0].operands(), inside);
            }
            Operation::LessOrEqual => {
                pieces = between(">", operands[0].operands(), inside);
            }
            _ => pieces.extend([Piece::Text("!"), Piece::Term(&operands[0], true)]),
        },
        Operation::IfThenElse => {
            pieces.extend([
                Piece::Text("(if "),
                Piece::Term(&operands[0], false),
                Piece::Text(" then "),
                Piece::Term(&operands[1], false),
                Piece::Text(" else "),
                Piece::Term(&operands[2], false),
                Piece::Text(")"),
            ]);
        }
        Operation::Multiply if *operands[0].operation() == Operation::Int(-1) && operands.len() == 2 => {
            pieces.extend([Piece::Text("-"), Piece::Term(&operands[1], true)]);
        }
        Operation::Select => pieces.extend([
            Piece::Term(&operands[0], true),
            Piece::Text("["),
            Piece::Term(&operands[1], false),
            Piece::Text("]"),
        ]),
        Operation::Store => pieces.extend([
            Piece::Term(&operands[0], true),
            Piece::Text("["),
            Piece::Term(&operands[1], false),
            Piece::Text(" := "),
            Piece::Term(&operands[2], false),
            Piece::Text("]"),
        ]),
        operation => match operation.infix() {
            Some(sign) => pieces = between(sign, operands, inside),
            None => {
                match operation {
                    Operation::Extract { high, low } => write!(text, "extract[{high}:{low}](")?,
                    Operation::ZeroExtend(extra) | Operation::SignExtend(extra) => {
                        write!(text, "{}[{extra}](", operation.name())?;
                    }
                    Operation::IntToBits(width) => write!(text, "{}[{width}](", operation.name())?,
                    _ => write!(text, "{}(", operation.name())?,
                }
                for (position, operand) in operands.iter().enumerate() {
                    if position > 0 {
                        pieces.push(Piece::Text(", "));
                    }
                    pieces.push(Piece::Term(operand, false));
                }
                pieces.push(Piece::Text(")"));
            }
        },
    }
    pending.extend(pieces.into_iter().rev());
    Ok(())
}

/// The operands, separated by the operator.
fn between<'a>(sign: &'static str, operands: &'a [Term], inside: bool) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    if inside {
        pieces.push(Piece::Text("("));
    }
    for (position, operand) in operands.iter().enumerate() {
        let mut shown = Piece::Term(operand, true);
        if position > 0 {
            let mut sign = sign;
            // `a + -1 * b` reads better as `a - b`.
            if let (Operation::Multiply, "+", [factor, rest]) =
                (operand.operation(), sign, operand.operands())
                && *factor.operation() == Operation::Int(-1)
            {
                sign = "-";
                shown = Piece::Term(rest, true);
            }
            pieces.extend([Piece::Text(" "), Piece::Text(sign), Piece::Text(" ")]);
        }
        pieces.push(shown);
    }
    if inside {
        pieces.push(Piece::Text(")"));
    }
    pieces
}

/// A name in SMT-LIB. The two characters that cannot be quoted become `_`.
pub fn smt_lib_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
    if !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return name.to_owned();
    }
    format!("|{}|", name.replace(['|', '\\'], "_"))
}

fn smt_lib_int(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

impl Term {
    /// The term in SMT-LIB. `let` names shared subterms, so the text is about as large as the term.
    pub fn to_smt_lib(&self) -> String {
        let mut parents: FxHashMap<&Term, u32> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        let mut pending = vec![self];
        while let Some(term) = pending.pop() {
            if seen.insert(term) {
                for operand in term.operands() {
                    *parents.entry(operand).or_default() += 1;
                    pending.push(operand);
                }
            }
        }
        // Parsers cannot cope with very deep nesting, so `let` also names parts of long chains.
        let mut texts: FxHashMap<Term, (String, u32)> = FxHashMap::default();
        let mut bindings = Vec::new();
        self.walk(|term| {
            let (mut text, mut depth) = smt_lib_node(term, &texts);
            let shared = parents.get(term).is_some_and(|count| *count > 1) || depth > 100;
            if shared && !term.operands().is_empty() && term != self {
                let name = format!("?{}", bindings.len());
                bindings.push((name.clone(), std::mem::replace(&mut text, name)));
                depth = 0;
            }
            texts.insert(term.clone(), (text, depth));
            ControlFlow::<()>::Continue(())
        });
        let mut text = String::new();
        for (name, bound) in &bindings {
            let _ = write!(text, "(let (({name} {bound})) ");
        }
        text.push_str(&texts[self].0);
        text.push_str(&")".repeat(bindings.len()));
        text
    }
}

/// The text of a term from those of its operands, and how deep it is nested.
fn smt_lib_node(term: &Term, texts: &FxHashMap<Term, (String, u32)>) -> (String, u32) {
    let head = match term.operation() {
        Operation::Variable(name) => return (smt_lib_name(name.text()), 0),
        Operation::Bool(value) => return (value.to_string(), 0),
        Operation::Int(value) => return (smt_lib_int(*value), 0),
        Operation::Bits(bits) => return (format!("(_ bv{bits} {})", term.sort().width()), 0),
        Operation::Extract { high, low } => format!("(_ extract {high} {low})"),
        Operation::ZeroExtend(extra) => format!("(_ zero_extend {extra})"),
        Operation::SignExtend(extra) => format!("(_ sign_extend {extra})"),
        Operation::IntToBits(width) => format!("(_ int_to_bv {width})"),
        Operation::ConstantArray => format!("(as const {})", term.sort()),
        operation => operation.name().to_owned(),
    };
    let mut text = format!("({head}");
    let mut depth = 0;
    for operand in term.operands() {
        let (inner, inner_depth) = &texts[operand];
        text.push(' ');
        text.push_str(inner);
        depth = depth.max(inner_depth + 1);
    }
    text.push(')');
    (text, depth)
}

/// A script that declares the variables of the assertions, asserts them and asks whether they can hold
/// together.
pub fn smt_lib_script(assertions: &[Term]) -> String {
    let mut script = String::new();
    let variables: std::collections::BTreeSet<Variable> =
        assertions.iter().flat_map(Term::free_variables).collect();
    for Variable { name, sort } in &variables {
        let _ = writeln!(script, "(declare-const {} {})", smt_lib_name(name.text()), smt_lib_sort(sort));
    }
    for assertion in assertions {
        let _ = writeln!(script, "(assert {})", assertion.to_smt_lib());
    }
    script.push_str("(check-sat)\n");
    script
}

fn smt_lib_sort(sort: &Sort) -> String {
    sort.to_string()
}
