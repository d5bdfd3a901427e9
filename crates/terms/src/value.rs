//! The values of terms, and the meaning of each operation on values.

use crate::sort::Sort;
use crate::term::{Operation, Term, Variable};
use crate::visit::try_fold;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;

/// The value of a term. `==` compares representations; [`Value::same`] compares arrays as functions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A bit-vector: its width, and the unsigned number that the bits stand for.
    Bits(u32, u128),
    /// An array.
    Array(Box<ArrayValue>),
}

/// An array with the same element at all but finitely many indices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArrayValue {
    /// The sort of the array.
    pub sort: Sort,
    /// The exceptions.
    pub elements: BTreeMap<Value, Value>,
    /// All other elements.
    pub default: Value,
}

/// Why a term has no value: an integer beyond 128 bits, a division of integers by zero, or a variable without
/// a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoValue(pub String);

impl Value {
    /// The integer in a value of sort `Int`.
    pub fn as_int(&self) -> Option<i128> {
        if let Self::Int(value) = self { Some(*value) } else { None }
    }
    /// The truth value in a value of sort `Bool`.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }
    /// The sort of the value.
    pub fn sort(&self) -> Sort {
        match self {
            Self::Bool(_) => Sort::Bool,
            Self::Int(_) => Sort::Int,
            Self::Bits(width, _) => Sort::BitVec(*width),
            Self::Array(array) => array.sort.clone(),
        }
    }
    /// The term that always has this value.
    pub fn term(&self) -> Term {
        match self {
            Self::Bool(value) => Term::bool(*value),
            Self::Int(value) => Term::int(*value),
            Self::Bits(width, bits) => Term::bits(*width, *bits),
            Self::Array(array) => {
                let everywhere = Term::constant_array(array.sort.clone(), &array.default.term());
                array
                    .elements
                    .iter()
                    .fold(everywhere, |rest, (index, element)| rest.store(&index.term(), &element.term()))
            }
        }
    }
    /// Whether two values are equal; arrays are equal when they have the same elements.
    pub fn same(&self, other: &Self) -> bool {
        let (Self::Array(left), Self::Array(right)) = (self, other) else { return self == other };
        let mut indices: Vec<&Value> = left.elements.keys().chain(right.elements.keys()).collect();
        indices.sort();
        indices.dedup();
        let all_known = match &left.sort {
            Sort::Array(pair) => pair.0.cardinality() == Some(indices.len() as u128),
            _ => false,
        };
        left.sort == right.sort
            && indices.iter().all(|index| left.element(index).same(right.element(index)))
            && (all_known || left.default.same(&right.default))
    }
}

impl ArrayValue {
    /// The element at an index.
    pub fn element(&self, index: &Value) -> &Value {
        self.elements.get(index).unwrap_or(&self.default)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.term(), f)
    }
}

impl Term {
    /// The value that this literal has.
    pub fn as_literal(&self) -> Option<Value> {
        match self.operation() {
            Operation::Bool(value) => Some(Value::Bool(*value)),
            Operation::Int(value) => Some(Value::Int(*value)),
            Operation::Bits(bits) => Some(Value::Bits(self.sort().width(), *bits)),
            _ => None,
        }
    }
    /// The value of the term, given values of its variables. Exact, or an error. The branch of a conditional
    /// that is not chosen needs no value, and neither do the operands after the one that decides an `and` or
    /// `or`.
    pub fn evaluate(&self, value_of: &dyn Fn(&Variable) -> Option<Value>) -> Result<Value, NoValue> {
        let mut known: FxHashMap<Term, Result<Value, NoValue>> = FxHashMap::default();
        let folded: Result<_, std::convert::Infallible> = try_fold(self, &mut known, |term, operands| {
            Ok(match term.as_variable() {
                Some(variable) => match value_of(&variable) {
                    Some(value) if value.sort() == variable.sort => Ok(value),
                    Some(value) => Err(NoValue(format!("{value} is no value of {}", variable.name))),
                    None => Err(NoValue(format!("{} has no value", variable.name))),
                },
                None => lenient(term, operands),
            })
        });
        match folded {
            Ok(result) => result,
        }
    }
}

/// The value of an operation; some operands may have no value.
fn lenient(term: &Term, operands: &[Result<Value, NoValue>]) -> Result<Value, NoValue> {
    let decides = |wanted: bool| operands.contains(&Ok(Value::Bool(wanted)));
    match term.operation() {
        Operation::And if decides(false) => return Ok(Value::Bool(false)),
        Operation::Or if decides(true) => return Ok(Value::Bool(true)),
        Operation::IfThenElse => {
            let chosen = if operands[0].clone()? == Value::Bool(true) { 1 } else { 2 };
            return operands[chosen].clone();
        }
        _ => {}
    }
    let values = operands.iter().cloned().collect::<Result<Vec<Value>, NoValue>>()?;
    apply(term.operation(), term.sort(), &values).ok_or_else(|| {
        NoValue(format!("{} of {values:?} is too large or has no meaning", term.operation().name()))
    })
}

/// The low `width` bits.
pub fn truncate(width: u32, bits: u128) -> u128 {
    if width >= 128 { bits } else { bits & ((1 << width) - 1) }
}

/// The signed number that bits stand for.
pub fn signed(width: u32, bits: u128) -> i128 {
    let unused = 128 - width;
    ((bits << unused) as i128) >> unused
}

/// The value of an operation on values, of the given sort; `None` when an integer is too large or the result
/// is undefined. The operands must have the right sorts.
pub(crate) fn apply(operation: &Operation, sort: &Sort, operands: &[Value]) -> Option<Value> {
    match operation {
        Operation::Variable(_) => None,
        Operation::Bool(value) => Some(Value::Bool(*value)),
        Operation::Int(value) => Some(Value::Int(*value)),
        Operation::Bits(bits) => Some(Value::Bits(sort.width(), *bits)),
        Operation::Not => Some(Value::Bool(!operands[0].as_bool()?)),
        Operation::And => Some(Value::Bool(operands.iter().all(|operand| *operand == Value::Bool(true)))),
        Operation::Or => Some(Value::Bool(operands.contains(&Value::Bool(true)))),
        Operation::Equal => Some(Value::Bool(operands[0].same(&operands[1]))),
        Operation::IfThenElse => Some(operands[if operands[0].as_bool()? { 1 } else { 2 }].clone()),
        Operation::Add | Operation::Multiply => {
            let mut result = operands[0].as_int()?;
            for operand in &operands[1..] {
                let operand = operand.as_int()?;
                let next = if *operation == Operation::Add {
                    result.checked_add(operand)
                } else {
                    result.checked_mul(operand)
                };
                result = next?;
            }
            Some(Value::Int(result))
        }
        Operation::Divide => operands[0].as_int()?.checked_div_euclid(operands[1].as_int()?).map(Value::Int),
        Operation::Modulo => operands[0].as_int()?.checked_rem_euclid(operands[1].as_int()?).map(Value::Int),
        Operation::Less => Some(Value::Bool(operands[0].as_int()? < operands[1].as_int()?)),
        Operation::LessOrEqual => Some(Value::Bool(operands[0].as_int()? <= operands[1].as_int()?)),
        Operation::IntToBits(width) => {
            Some(Value::Bits(*width, truncate(*width, operands[0].as_int()? as u128)))
        }
        Operation::Select => {
            let Value::Array(array) = &operands[0] else { return None };
            Some(array.element(&operands[1]).clone())
        }
        Operation::Store => {
            let Value::Array(array) = &operands[0] else { return None };
            let mut array = array.clone();
            if operands[2] == array.default {
                array.elements.remove(&operands[1]);
            } else {
                array.elements.insert(operands[1].clone(), operands[2].clone());
            }
            Some(Value::Array(array))
        }
        Operation::ConstantArray => Some(Value::Array(Box::new(ArrayValue {
            sort: sort.clone(),
            elements: BTreeMap::new(),
            default: operands[0].clone(),
        }))),
        _ => apply_to_bits(operation, operands),
    }
}

/// The operations whose operands are bit-vectors.
fn apply_to_bits(operation: &Operation, operands: &[Value]) -> Option<Value> {
    let Value::Bits(width, left) = operands[0] else { return None };
    let right = match operands.get(1) {
        Some(Value::Bits(_, bits)) => *bits,
        _ => 0,
    };
    let (left_signed, right_signed) = (signed(width, left), signed(width, right));
    let bits = |bits: u128| Some(Value::Bits(width, truncate(width, bits)));
    let truth = |value: bool| Some(Value::Bool(value));
    let distance = right.min(u128::from(width)) as u32;
    match operation {
        Operation::BitNot => bits(!left),
        Operation::BitNegate => bits(left.wrapping_neg()),
        Operation::BitAdd => bits(left.wrapping_add(right)),
        Operation::BitSubtract => bits(left.wrapping_sub(right)),
        Operation::BitMultiply => bits(left.wrapping_mul(right)),
        Operation::UnsignedDivide => bits(left.checked_div(right).unwrap_or(u128::MAX)),
        Operation::UnsignedRemainder => bits(left.checked_rem(right).unwrap_or(left)),
        Operation::SignedDivide if right == 0 => bits(if left_signed < 0 { 1 } else { u128::MAX }),
        Operation::SignedDivide => bits(left_signed.wrapping_div(right_signed) as u128),
        Operation::SignedRemainder if right == 0 => bits(left),
        Operation::SignedRemainder => bits(left_signed.wrapping_rem(right_signed) as u128),
        Operation::BitAnd => bits(left & right),
        Operation::BitOr => bits(left | right),
        Operation::BitXor => bits(left ^ right),
        Operation::ShiftLeft => bits(left.checked_shl(distance).unwrap_or(0)),
        Operation::LogicalShiftRight => bits(left.checked_shr(distance).unwrap_or(0)),
        Operation::ArithmeticShiftRight => bits((left_signed >> distance.min(127)) as u128),
        Operation::UnsignedLess => truth(left < right),
        Operation::UnsignedLessOrEqual => truth(left <= right),
        Operation::SignedLess => truth(left_signed < right_signed),
        Operation::SignedLessOrEqual => truth(left_signed <= right_signed),
        Operation::Concat => {
            let Value::Bits(low_width, _) = operands[1] else { return None };
            Some(Value::Bits(width + low_width, left.checked_shl(low_width)? | right))
        }
        Operation::Extract { high, low } => {
            let width = high - low + 1;
            Some(Value::Bits(width, truncate(width, left >> low)))
        }
        Operation::ZeroExtend(extra) => Some(Value::Bits(width + extra, left)),
        Operation::SignExtend(extra) => {
            Some(Value::Bits(width + extra, truncate(width + extra, left_signed as u128)))
        }
        Operation::BitsToUnsigned => i128::try_from(left).ok().map(Value::Int),
        Operation::BitsToSigned => Some(Value::Int(left_signed)),
        _ => None,
    }
}
