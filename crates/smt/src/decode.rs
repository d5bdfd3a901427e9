//! Translates the solver's terms back to ours. Terms that ours cannot express (quantifiers, functions,
//! numbers of more than 128 bits) are an error.

use crate::construct::make;
use crate::encode::Words;
use crate::sort::Sort;
use crate::term::{Operation, Term, Variable};
use crate::value::Value;
use rustc_hash::FxHashMap;
use z3::ast::{Ast, AstKind, Dynamic};
use z3::{DeclKind, SortKind};

/// What stands in the solver's term that ours cannot say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Foreign(pub String);

/// Our form of a term of the solver. A bound variable is replaced by `parameters` at its number.
pub(crate) fn decode(root: &Dynamic, parameters: &[Term], words: &Words) -> Result<Term, Foreign> {
    let mut known: FxHashMap<Dynamic, Term> = FxHashMap::default();
    let mut pending = vec![(root.clone(), false)];
    while let Some((ast, operands_done)) = pending.pop() {
        if known.contains_key(&ast) {
            continue;
        }
        let operands = if ast.is_app() { ast.children() } else { vec![] };
        if !operands_done && !operands.is_empty() {
            pending.push((ast, true));
            pending.extend(operands.into_iter().map(|operand| (operand, false)));
            continue;
        }
        let operands = operands.iter().map(|operand| known[operand].clone()).collect();
        let term = decode_node(&ast, operands, parameters, words)?;
        known.insert(ast, term);
    }
    Ok(known[root].clone())
}

/// Our form of a sort of the solver.
fn decode_sort(sort: &z3::Sort) -> Result<Sort, Foreign> {
    let foreign = || Foreign(format!("the sort {sort}"));
    match sort.kind() {
        SortKind::Bool => Ok(Sort::Bool),
        SortKind::Int => Ok(Sort::Int),
        SortKind::Bv => {
            let width = numbers(&sort.to_string()).first().copied().ok_or_else(foreign)?;
            if (1..=Sort::WIDEST).contains(&width) { Ok(Sort::BitVec(width)) } else { Err(foreign()) }
        }
        SortKind::Array => {
            let index = decode_sort(&sort.array_domain().ok_or_else(foreign)?)?;
            let element = decode_sort(&sort.array_range().ok_or_else(foreign)?)?;
            if matches!(index, Sort::Array(_)) { Err(foreign()) } else { Ok(Sort::array(index, element)) }
        }
        _ => Err(foreign()),
    }
}

/// The numbers that stand in a text, between blanks and parentheses.
fn numbers(text: &str) -> Vec<u32> {
    text.split([' ', '(', ')']).filter_map(|word| word.parse().ok()).collect()
}

fn decode_node(
    ast: &Dynamic,
    operands: Vec<Term>,
    parameters: &[Term],
    words: &Words,
) -> Result<Term, Foreign> {
    let foreign = || {
        let mut text = ast.to_string();
        if text.len() > 200 {
            text = text.chars().take(200).chain(['…']).collect();
        }
        Foreign(text)
    };
    match ast.kind() {
        AstKind::Numeral => decode_number(ast).ok_or_else(foreign),
        AstKind::Var => {
            let number = numbers(&ast.to_string()).first().copied().ok_or_else(foreign)?;
            parameters.get(number as usize).cloned().ok_or_else(foreign)
        }
        AstKind::App => {
            let kind = ast.decl().kind();
            decode_application(ast, kind, operands, words).ok_or_else(foreign)?
        }
        _ => Err(foreign()),
    }
}

/// A literal of the solver.
fn decode_number(ast: &Dynamic) -> Option<Term> {
    if let Some(int) = ast.as_int() {
        return int.as_i64().map(i128::from).or_else(|| int.as_i128()).map(Term::int);
    }
    let bits = ast.as_bv()?;
    let width = bits.get_size();
    if width > Sort::WIDEST {
        return None;
    }
    match bits.as_u64() {
        Some(value) => Some(Term::bits(width, u128::from(value))),
        // Wider ones are printed in hexadecimal or binary.
        None => {
            let text = ast.to_string();
            let value = match text.strip_prefix("#x") {
                Some(digits) => u128::from_str_radix(digits, 16),
                None => u128::from_str_radix(text.strip_prefix("#b")?, 2),
            };
            value.ok().map(|value| Term::bits(width, value))
        }
    }
}

/// The numeric parameters of the function at the root: `((_ extract 7 0) x)`.
fn function_parameters(ast: &Dynamic) -> Option<Vec<u32>> {
    let text = ast.to_string();
    let head = text.strip_prefix("((_ ")?;
    Some(numbers(&head[..head.find(')')?]))
}

/// Our form of an application, none where there is none. The inner error is that of the sort.
fn decode_application(
    ast: &Dynamic,
    kind: DeclKind,
    operands: Vec<Term>,
    words: &Words,
) -> Option<Result<Term, Foreign>> {
    // Functions that associate are given any number of operands by the solver.
    let chain = |operation: Operation| {
        let mut operands = operands.iter().cloned();
        let first = operands.next()?;
        Some(operands.fold(first, |left, right| Term::binary(operation.clone(), &left, &right)))
    };
    let plain = |operation: Operation| Some(make(operation, None, operands.clone()));
    let swapped = |operation: Operation| match operands.as_slice() {
        [left, right] => Some(Term::binary(operation, right, left)),
        _ => None,
    };
    let term = match kind {
        DeclKind::True => Some(Term::bool(true)),
        DeclKind::False => Some(Term::bool(false)),
        DeclKind::Not => plain(Operation::Not),
        DeclKind::And => Some(Term::all(operands)),
        DeclKind::Or => Some(Term::any(operands)),
        DeclKind::Implies => Some(operands.first()?.implies(operands.get(1)?)),
        DeclKind::Xor => Some(operands.first()?.differs(operands.get(1)?)),
        DeclKind::Eq | DeclKind::Iff => plain(Operation::Equal),
        DeclKind::Distinct => Some(Term::all((0..operands.len()).flat_map(|left| {
            let operands = &operands;
            (left + 1..operands.len()).map(move |right| operands[left].differs(&operands[right]))
        }))),
        DeclKind::Ite => plain(Operation::IfThenElse),
        DeclKind::Add => Some(Term::sum(operands)),
        DeclKind::Sub => operands.split_first().map(|(first, rest)| {
            Term::sum([first.clone()].into_iter().chain(rest.iter().map(Term::negated)))
        }),
        DeclKind::Uminus => Some(operands.first()?.negated()),
        DeclKind::Mul => plain(Operation::Multiply),
        DeclKind::Idiv => plain(Operation::Divide),
        DeclKind::Mod => plain(Operation::Modulo),
        DeclKind::Le => plain(Operation::LessOrEqual),
        DeclKind::Lt => plain(Operation::Less),
        DeclKind::Ge => swapped(Operation::LessOrEqual),
        DeclKind::Gt => swapped(Operation::Less),
        DeclKind::Bnot => plain(Operation::BitNot),
        DeclKind::Bneg => plain(Operation::BitNegate),
        DeclKind::Badd => chain(Operation::BitAdd),
        DeclKind::Bsub => chain(Operation::BitSubtract),
        DeclKind::Bmul => chain(Operation::BitMultiply),
        // The second of each pair is the solver's own, where the divisor is known not to be zero.
        DeclKind::Budiv | DeclKind::BudivI => plain(Operation::UnsignedDivide),
        DeclKind::Bsdiv | DeclKind::BsdivI => plain(Operation::SignedDivide),
        DeclKind::Burem | DeclKind::BuremI => plain(Operation::UnsignedRemainder),
        DeclKind::Bsrem | DeclKind::BsremI => plain(Operation::SignedRemainder),
        DeclKind::Band => chain(Operation::BitAnd),
        DeclKind::Bor => chain(Operation::BitOr),
        DeclKind::Bxor => chain(Operation::BitXor),
        DeclKind::Bshl => plain(Operation::ShiftLeft),
        DeclKind::Blshr => plain(Operation::LogicalShiftRight),
        DeclKind::Bashr => plain(Operation::ArithmeticShiftRight),
        DeclKind::Ult => plain(Operation::UnsignedLess),
        DeclKind::Uleq => plain(Operation::UnsignedLessOrEqual),
        DeclKind::Ugt => swapped(Operation::UnsignedLess),
        DeclKind::Ugeq => swapped(Operation::UnsignedLessOrEqual),
        DeclKind::Slt => plain(Operation::SignedLess),
        DeclKind::Sleq => plain(Operation::SignedLessOrEqual),
        DeclKind::Sgt => swapped(Operation::SignedLess),
        DeclKind::Sgeq => swapped(Operation::SignedLessOrEqual),
        DeclKind::Concat => chain(Operation::Concat),
        DeclKind::Extract => match function_parameters(ast)?.as_slice() {
            [high, low] => plain(Operation::Extract { high: *high, low: *low }),
            _ => None,
        },
        DeclKind::Bit2bool => {
            let bit = *function_parameters(ast)?.first()?;
            Some(operands.first()?.extract(bit, bit).equals(&Term::bits(1, 1)))
        }
        DeclKind::ZeroExt => plain(Operation::ZeroExtend(*function_parameters(ast)?.first()?)),
        DeclKind::SignExt => plain(Operation::SignExtend(*function_parameters(ast)?.first()?)),
        DeclKind::Bv2int => plain(Operation::BitsToUnsigned),
        DeclKind::Sbv2int => plain(Operation::BitsToSigned),
        DeclKind::Int2bv => match decode_sort(&ast.get_sort()) {
            Ok(sort) => plain(Operation::IntToBits(sort.width())),
            Err(error) => return Some(Err(error)),
        },
        DeclKind::Select => plain(Operation::Select),
        DeclKind::Store => plain(Operation::Store),
        DeclKind::ConstArray => match decode_sort(&ast.get_sort()) {
            Ok(sort) => Some(make(Operation::ConstantArray, Some(&sort), operands)),
            Err(error) => return Some(Err(error)),
        },
        DeclKind::Uninterpreted if operands.is_empty() => match decode_sort(&ast.get_sort()) {
            Ok(sort) => Some(Variable::new(words.name(ast.decl().name()), sort).term()),
            Err(error) => return Some(Err(error)),
        },
        _ => None,
    };
    term.map(Ok)
}

/// The value that a term of the solver stands for, if it is written out.
pub(crate) fn decode_value(ast: &Dynamic) -> Result<Value, Foreign> {
    let term = decode(ast, &[], &Words::default())?;
    term.evaluate(&|_| None).map_err(|error| Foreign(error.0))
}
