//! The functions that build terms. Each checks the sorts of its operands, and panics with a message if one is
//! wrong; each folds constants and applies laws that make the term smaller. All laws are exact, also where an
//! operand has no value.

use crate::sort::Sort;
use crate::symbol::Name;
use crate::term::{Operation, Term, Variable};
use crate::value::{Value, apply, truncate};
use rustc_hash::FxHashSet;

/// The same operation with other operands of the same sorts.
pub(crate) fn rebuild(term: &Term, operands: Vec<Term>) -> Term {
    make(term.operation().clone(), Some(term.sort()), operands)
}

/// The term of an operation. `wanted` is the sort of the result where the operands do not determine it.
///
/// # Panics
/// If the operands are too few or too many or have the wrong sorts.
pub fn make(operation: Operation, wanted: Option<&Sort>, operands: Vec<Term>) -> Term {
    let sort = match result_sort(&operation, wanted, &operands) {
        Ok(sort) => sort,
        Err(expected) => {
            let given: Vec<String> =
                operands.iter().map(|operand| format!("{} of sort {}", operand, operand.sort())).collect();
            panic!("`{}` needs {expected}; it was given {}", operation.name(), given.join(", "));
        }
    };
    if operands.is_empty() {
        return Term::intern(operation, sort, operands);
    }
    if !matches!(sort, Sort::Array(_)) && operands.iter().all(Term::is_literal) {
        let values: Vec<Value> = operands.iter().filter_map(Term::as_literal).collect();
        if let Some(value) = apply(&operation, &sort, &values) {
            return value.term();
        }
    }
    match operation {
        Operation::Not => negate(&operands[0]),
        Operation::And => gather(Operation::And, operands),
        Operation::Or => gather(Operation::Or, operands),
        Operation::Equal => equal(operands),
        Operation::IfThenElse => choose(operands),
        Operation::Add => add(operands),
        Operation::Multiply => multiply(operands),
        Operation::Less if operands[0] == operands[1] => Term::bool(false),
        Operation::LessOrEqual if operands[0] == operands[1] => Term::bool(true),
        Operation::ZeroExtend(0) | Operation::SignExtend(0) => operands[0].clone(),
        Operation::Select => select(operands),
        other => Term::intern(other, sort, operands),
    }
}

/// The sort of an operation's result, or what operands it needs.
pub(crate) fn result_sort(
    operation: &Operation,
    wanted: Option<&Sort>,
    operands: &[Term],
) -> Result<Sort, &'static str> {
    let all = |count: usize, sort: &Sort| {
        operands.len() == count && operands.iter().all(|operand| operand.sort() == sort)
    };
    let first_width = || match operands.first().map(Term::sort) {
        Some(Sort::BitVec(width)) => Some(*width),
        _ => None,
    };
    let bits = |count: usize| {
        let width = first_width().filter(|width| all(count, &Sort::BitVec(*width)));
        width.ok_or("bit-vectors of one width")
    };
    match operation {
        Operation::Variable(_) => wanted.cloned().ok_or("a sort"),
        Operation::Bool(_) => Ok(Sort::Bool),
        Operation::Int(_) => Ok(Sort::Int),
        Operation::Bits(_) => wanted.cloned().ok_or("a sort"),
        Operation::Not if all(1, &Sort::Bool) => Ok(Sort::Bool),
        Operation::Not => Err("a Boolean"),
        Operation::And | Operation::Or if all(operands.len(), &Sort::Bool) => Ok(Sort::Bool),
        Operation::And | Operation::Or => Err("Booleans"),
        Operation::Equal if operands.len() == 2 && operands[0].sort() == operands[1].sort() => Ok(Sort::Bool),
        Operation::Equal => Err("two terms of one sort"),
        Operation::IfThenElse => match operands {
            [condition, left, right] if *condition.sort() == Sort::Bool && left.sort() == right.sort() => {
                Ok(left.sort().clone())
            }
            _ => Err("a Boolean and two terms of one sort"),
        },
        Operation::Add | Operation::Multiply if !operands.is_empty() && all(operands.len(), &Sort::Int) => {
            Ok(Sort::Int)
        }
        Operation::Divide | Operation::Modulo if all(2, &Sort::Int) => Ok(Sort::Int),
        Operation::Less | Operation::LessOrEqual if all(2, &Sort::Int) => Ok(Sort::Bool),
        Operation::Add
        | Operation::Multiply
        | Operation::Divide
        | Operation::Modulo
        | Operation::Less
        | Operation::LessOrEqual => Err("integers"),
        Operation::IntToBits(width) if all(1, &Sort::Int) => width_of(Some(*width)),
        Operation::IntToBits(_) => Err("an integer"),
        Operation::BitsToSigned | Operation::BitsToUnsigned => bits(1).map(|_| Sort::Int),
        Operation::BitNot | Operation::BitNegate => bits(1).map(Sort::BitVec),
        Operation::BitAdd
        | Operation::BitSubtract
        | Operation::BitMultiply
        | Operation::UnsignedDivide
        | Operation::SignedDivide
        | Operation::UnsignedRemainder
        | Operation::SignedRemainder
        | Operation::BitAnd
        | Operation::BitOr
        | Operation::BitXor
        | Operation::ShiftLeft
        | Operation::LogicalShiftRight
        | Operation::ArithmeticShiftRight => bits(2).map(Sort::BitVec),
        Operation::UnsignedLess
        | Operation::UnsignedLessOrEqual
        | Operation::SignedLess
        | Operation::SignedLessOrEqual => bits(2).map(|_| Sort::Bool),
        Operation::Concat => match operands {
            [high, low] if matches!((high.sort(), low.sort()), (Sort::BitVec(_), Sort::BitVec(_))) => {
                width_of(high.sort().width().checked_add(low.sort().width()))
            }
            _ => Err("two bit-vectors"),
        },
        Operation::Extract { high, low } => match first_width() {
            Some(width) if operands.len() == 1 && low <= high && *high < width => {
                width_of(Some(high - low + 1))
            }
            _ => Err("a bit-vector that has these bits"),
        },
        Operation::ZeroExtend(extra) | Operation::SignExtend(extra) => {
            bits(1).and_then(|width| width_of(width.checked_add(*extra)))
        }
        Operation::Select => match operands {
            [array, index] => match array.sort() {
                Sort::Array(pair) if pair.0 == *index.sort() => Ok(pair.1.clone()),
                _ => Err("an array and an index of its sort"),
            },
            _ => Err("an array and an index"),
        },
        Operation::Store => match operands {
            [array, index, element] => match array.sort() {
                Sort::Array(pair) if pair.0 == *index.sort() && pair.1 == *element.sort() => {
                    Ok(array.sort().clone())
                }
                _ => Err("an array, an index of its sort and an element of its sort"),
            },
            _ => Err("an array, an index and an element"),
        },
        Operation::ConstantArray => match (wanted, operands) {
            (Some(Sort::Array(pair)), [element]) if pair.1 == *element.sort() => {
                Ok(Sort::Array(pair.clone()))
            }
            _ => Err("an element of the array's sort"),
        },
    }
}

/// Bit-vectors of a width, if there are any.
fn width_of(width: Option<u32>) -> Result<Sort, &'static str> {
    let sort = width.map(Sort::BitVec).filter(Sort::is_possible);
    sort.ok_or("a result of 1 to 128 bits")
}

fn negate(operand: &Term) -> Term {
    match operand.operation() {
        Operation::Not => operand.operands()[0].clone(),
        _ => Term::intern(Operation::Not, Sort::Bool, vec![operand.clone()]),
    }
}

/// A conjunction or disjunction: without repeated or neutral operands, and a literal where one operand
/// decides.
fn gather(operation: Operation, operands: Vec<Term>) -> Term {
    let neutral = operation == Operation::And;
    let mut seen = FxHashSet::default();
    // The negated terms among the operands.
    let mut negated = FxHashSet::default();
    let mut kept = Vec::with_capacity(operands.len());
    for operand in operands {
        let contradicts = match operand.operation() {
            Operation::Bool(value) => *value != neutral,
            Operation::Not => {
                negated.insert(operand.operands()[0].clone());
                seen.contains(&operand.operands()[0])
            }
            _ => negated.contains(&operand),
        };
        if contradicts {
            return Term::bool(!neutral);
        }
        if *operand.operation() != Operation::Bool(neutral) && seen.insert(operand.clone()) {
            kept.push(operand);
        }
    }
    match kept.len() {
        0 => Term::bool(neutral),
        1 => kept.remove(0),
        _ => Term::intern(operation, Sort::Bool, kept),
    }
}

fn equal(operands: Vec<Term>) -> Term {
    let (left, right) = (&operands[0], &operands[1]);
    if left == right {
        return Term::bool(true);
    }
    match (left.operation(), right.operation()) {
        (Operation::Bool(true), _) => right.clone(),
        (Operation::Bool(false), _) => negate(right),
        (_, Operation::Bool(true)) => left.clone(),
        (_, Operation::Bool(false)) => negate(left),
        _ => Term::intern(Operation::Equal, Sort::Bool, operands),
    }
}

fn choose(operands: Vec<Term>) -> Term {
    let (condition, left, right) = (&operands[0], &operands[1], &operands[2]);
    match (condition.operation(), left.operation(), right.operation()) {
        (Operation::Bool(true), _, _) => left.clone(),
        (Operation::Bool(false), _, _) => right.clone(),
        _ if left == right => left.clone(),
        (_, Operation::Bool(true), Operation::Bool(false)) => condition.clone(),
        (_, Operation::Bool(false), Operation::Bool(true)) => negate(condition),
        _ => Term::intern(Operation::IfThenElse, left.sort().clone(), operands),
    }
}

/// The operands of an operand with the same operation, or the operand itself. Long ones are not flattened:
/// otherwise, building a sum one operand at a time would take quadratic time.
fn flattened<'a>(operation: &Operation, operand: &'a Term) -> &'a [Term] {
    if operand.operation() == operation && operand.operands().len() <= 32 {
        operand.operands()
    } else {
        std::slice::from_ref(operand)
    }
}

/// A sum without short inner sums, with at most one literal, at its end.
fn add(operands: Vec<Term>) -> Term {
    let mut literal = 0i128;
    let mut kept: Vec<Term> = Vec::with_capacity(operands.len());
    for operand in &operands {
        let inner = flattened(&Operation::Add, operand);
        for summand in inner {
            match summand.operation() {
                Operation::Int(value) => match literal.checked_add(*value) {
                    Some(sum) => literal = sum,
                    // Too large to be folded: left as it is.
                    None => return Term::intern(Operation::Add, Sort::Int, operands),
                },
                _ => kept.push(summand.clone()),
            }
        }
    }
    if literal != 0 || kept.is_empty() {
        kept.push(Term::int(literal));
    }
    if kept.len() == 1 { kept.remove(0) } else { Term::intern(Operation::Add, Sort::Int, kept) }
}

/// A product without short inner products, with at most one literal, at its beginning.
fn multiply(operands: Vec<Term>) -> Term {
    let mut literal = 1i128;
    let mut kept: Vec<Term> = Vec::with_capacity(operands.len());
    for operand in &operands {
        let inner = flattened(&Operation::Multiply, operand);
        for factor in inner {
            match factor.operation() {
                Operation::Int(value) => match literal.checked_mul(*value) {
                    Some(product) => literal = product,
                    None => return Term::intern(Operation::Multiply, Sort::Int, operands),
                },
                _ => kept.push(factor.clone()),
            }
        }
    }
    if literal == 0 || kept.is_empty() {
        return Term::int(literal);
    }
    if literal != 1 {
        kept.insert(0, Term::int(literal));
    }
    if kept.len() == 1 { kept.remove(0) } else { Term::intern(Operation::Multiply, Sort::Int, kept) }
}

/// The element of an array, computed where stores and index are literals.
fn select(operands: Vec<Term>) -> Term {
    let index = &operands[1];
    let mut array = operands[0].clone();
    let element_sort = match array.sort() {
        Sort::Array(pair) => pair.1.clone(),
        other => unreachable!("the sort of an array was checked, and is {other}"),
    };
    loop {
        match array.operation() {
            Operation::ConstantArray => return array.operands()[0].clone(),
            Operation::Store if array.operands()[1] == *index => return array.operands()[2].clone(),
            Operation::Store if array.operands()[1].is_literal() && index.is_literal() => {
                array = array.operands()[0].clone();
            }
            _ => return Term::intern(Operation::Select, element_sort, vec![array, index.clone()]),
        }
    }
}

impl Term {
    /// A truth value.
    pub fn bool(value: bool) -> Self {
        Self::intern(Operation::Bool(value), Sort::Bool, vec![])
    }
    /// An integer.
    pub fn int(value: i128) -> Self {
        Self::intern(Operation::Int(value), Sort::Int, vec![])
    }
    /// The low `width` bits of a number.
    pub fn bits(width: u32, bits: u128) -> Self {
        Self::intern(Operation::Bits(truncate(width, bits)), Sort::bit_vector(width), vec![])
    }
    /// The variable of this name and sort.
    pub fn variable(name: impl Into<Name>, sort: Sort) -> Self {
        Variable::new(name, sort).term()
    }
    /// An integer variable.
    pub fn int_variable(name: impl Into<Name>) -> Self {
        Self::variable(name, Sort::Int)
    }
    /// A Boolean variable.
    pub fn bool_variable(name: impl Into<Name>) -> Self {
        Self::variable(name, Sort::Bool)
    }
    /// An operation on one operand.
    pub fn unary(operation: Operation, operand: &Term) -> Self {
        make(operation, None, vec![operand.clone()])
    }
    /// An operation on two operands.
    pub fn binary(operation: Operation, left: &Term, right: &Term) -> Self {
        make(operation, None, vec![left.clone(), right.clone()])
    }
    /// Whether this is the literal `true`.
    pub fn is_true(&self) -> bool {
        *self.operation() == Operation::Bool(true)
    }
    /// Whether this is the literal `false`.
    pub fn is_false(&self) -> bool {
        *self.operation() == Operation::Bool(false)
    }
    /// Logical negation.
    #[allow(clippy::should_implement_trait)] // beside the other connectives, not an operator
    pub fn not(&self) -> Self {
        Self::unary(Operation::Not, self)
    }
    /// Conjunction of two.
    pub fn and(&self, other: &Term) -> Self {
        Self::binary(Operation::And, self, other)
    }
    /// Disjunction of two.
    pub fn or(&self, other: &Term) -> Self {
        Self::binary(Operation::Or, self, other)
    }
    /// Conjunction of any number.
    pub fn all(operands: impl IntoIterator<Item = Term>) -> Self {
        Self::many(Operation::And, operands)
    }
    /// Disjunction of any number.
    pub fn any(operands: impl IntoIterator<Item = Term>) -> Self {
        Self::many(Operation::Or, operands)
    }
    fn many(operation: Operation, operands: impl IntoIterator<Item = Term>) -> Self {
        let operands: Vec<Term> = operands.into_iter().collect();
        match operands.as_slice() {
            [] => Self::bool(operation == Operation::And),
            _ => make(operation, None, operands),
        }
    }
    /// Implication.
    pub fn implies(&self, other: &Term) -> Self {
        self.not().or(other)
    }
    /// Equality.
    pub fn equals(&self, other: &Term) -> Self {
        Self::binary(Operation::Equal, self, other)
    }
    /// Inequality.
    pub fn differs(&self, other: &Term) -> Self {
        self.equals(other).not()
    }
    /// `left` if this Boolean holds, else `right`.
    pub fn if_then_else(&self, left: &Term, right: &Term) -> Self {
        make(Operation::IfThenElse, None, vec![self.clone(), left.clone(), right.clone()])
    }
    /// Sum of integers.
    pub fn plus(&self, other: &Term) -> Self {
        Self::binary(Operation::Add, self, other)
    }
    /// Difference of integers.
    pub fn minus(&self, other: &Term) -> Self {
        Self::binary(Operation::Add, self, &other.negated())
    }
    /// Product of integers.
    pub fn times(&self, other: &Term) -> Self {
        Self::binary(Operation::Multiply, self, other)
    }
    /// The integer with the other sign.
    pub fn negated(&self) -> Self {
        Self::binary(Operation::Multiply, &Self::int(-1), self)
    }
    /// Sum of any number of integers.
    pub fn sum(operands: impl IntoIterator<Item = Term>) -> Self {
        let mut operands: Vec<Term> = operands.into_iter().collect();
        match operands.len() {
            0 => Self::int(0),
            1 => operands.remove(0),
            _ => make(Operation::Add, None, operands),
        }
    }
    /// Less than, on integers.
    pub fn less_than(&self, other: &Term) -> Self {
        Self::binary(Operation::Less, self, other)
    }
    /// At most, on integers.
    pub fn at_most(&self, other: &Term) -> Self {
        Self::binary(Operation::LessOrEqual, self, other)
    }
    /// Greater than, on integers.
    pub fn greater_than(&self, other: &Term) -> Self {
        other.less_than(self)
    }
    /// At least, on integers.
    pub fn at_least(&self, other: &Term) -> Self {
        other.at_most(self)
    }
    /// The element of this array at an index.
    pub fn select(&self, index: &Term) -> Self {
        Self::binary(Operation::Select, self, index)
    }
    /// This array with another element at an index.
    pub fn store(&self, index: &Term, element: &Term) -> Self {
        make(Operation::Store, None, vec![self.clone(), index.clone(), element.clone()])
    }
    /// The array of a sort with the same element everywhere.
    pub fn constant_array(sort: Sort, element: &Term) -> Self {
        make(Operation::ConstantArray, Some(&sort), vec![element.clone()])
    }
    /// Bits `low` to `high` of a bit-vector.
    pub fn extract(&self, high: u32, low: u32) -> Self {
        Self::unary(Operation::Extract { high, low }, self)
    }
}
