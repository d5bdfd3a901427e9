//! Formulas over bounded integers as formulas over bit-vectors.
//!
//! The solver is slow where integers are turned into bit-vectors and back (`x ^ y` on integers). If bounds of
//! all integers of a formula follow from its conjuncts, all of them fit into bit-vectors of one width, and
//! the formula can be asked about these.
//!
//! Direction: exact for unsatisfiability. In each model of the formula each integer term has a value within
//! its interval, and so within the width; there, the operations on bit-vectors give the same values. So a
//! model of the formula gives one of the translation, and if the translation has none, neither has the
//! formula.

use crate::sort::Sort;
use crate::term::{Operation, Term};
use crate::visit::{each_conjunct, try_fold};
use rustc_hash::FxHashMap;

/// The least and the greatest value.
type Interval = (i128, i128);

/// The most conjuncts and terms that are looked at.
const MOST: usize = 4_000;
/// The greatest width.
const WIDEST: u32 = 128;
/// Beyond this, no bounds count.
const GREATEST: i128 = 1 << 120;

/// The same question about bit-vectors, if there is one: without a model of it there is none of the formula.
/// Nothing for formulas that do not mix integers and bit-vectors.
pub fn as_bits(formula: &Term) -> Option<Term> {
    let conjuncts: Vec<Term> = each_conjunct(formula).flat_map(parts).take(MOST + 1).collect();
    if conjuncts.len() > MOST {
        return None;
    }
    let bounds = bounds(&conjuncts)?;
    let mut intervals: FxHashMap<Term, Option<Interval>> = FxHashMap::default();
    let mut mixes = false;
    for conjunct in &conjuncts {
        try_fold(conjunct, &mut intervals, |term, operands: &[Option<Interval>]| {
            mixes |= matches!(
                term.operation(),
                Operation::IntToBits(_) | Operation::BitsToUnsigned | Operation::BitsToSigned
            );
            interval(term, operands, &bounds)
        })
        .ok()?;
        if intervals.len() > MOST {
            return None;
        }
    }
    if !mixes {
        return None;
    }
    // One bit for the sign.
    let bits = |value: i128| 129 - if value < 0 { value.leading_ones() } else { value.leading_zeros() };
    let width = intervals.values().flatten().map(|(low, high)| bits(*low).max(bits(*high))).max()?;
    if width > WIDEST {
        return None;
    }
    let mut known: FxHashMap<Term, Term> = FxHashMap::default();
    let mut all = Vec::new();
    for conjunct in &conjuncts {
        let translate =
            |term: &Term, operands: &[Term]| translated(term, operands, width, &intervals).ok_or(());
        all.push(try_fold(conjunct, &mut known, translate).ok()?);
    }
    for (variable, (low, high)) in &bounds {
        let Some(variable) = known.get(variable) else { continue };
        all.push(Term::binary(Operation::SignedLessOrEqual, &number(width, *low), variable));
        all.push(Term::binary(Operation::SignedLessOrEqual, variable, &number(width, *high)));
    }
    Some(Term::all(all))
}

/// The conjuncts of a formula that is no conjunction: those of a negated disjunction.
fn parts(formula: Term) -> Vec<Term> {
    let mut found = Vec::new();
    let mut pending = vec![formula];
    while let Some(formula) = pending.pop() {
        match formula.operation() {
            Operation::And => pending.extend(formula.operands().iter().cloned()),
            Operation::Not if *formula.operands()[0].operation() == Operation::Or => {
                pending.extend(formula.operands()[0].operands().iter().map(Term::not));
            }
            _ => found.push(formula),
        }
        if found.len() > MOST {
            break;
        }
    }
    found
}

fn is_variable(term: &Term) -> bool {
    *term.sort() == Sort::Int && matches!(term.operation(), Operation::Variable(_))
}

/// The bounds of integer variables that follow from conjuncts. Nothing if one has none.
fn bounds(conjuncts: &[Term]) -> Option<Vec<(Term, Interval)>> {
    let mut least: FxHashMap<Term, i128> = FxHashMap::default();
    let mut greatest: FxHashMap<Term, i128> = FxHashMap::default();
    let mut limit = |low: &Term, high: &Term, strict: bool| {
        let step = i128::from(strict);
        match (low.operation(), high.operation()) {
            (Operation::Int(low), _) if is_variable(high) => {
                let bound = low.saturating_add(step);
                least.entry(high.clone()).and_modify(|old| *old = bound.max(*old)).or_insert(bound);
            }
            (_, Operation::Int(high)) if is_variable(low) => {
                let bound = high.saturating_sub(step);
                greatest.entry(low.clone()).and_modify(|old| *old = bound.min(*old)).or_insert(bound);
            }
            _ => {}
        }
    };
    for conjunct in conjuncts {
        let (atom, holds) = match conjunct.operation() {
            Operation::Not => (&conjunct.operands()[0], false),
            _ => (conjunct, true),
        };
        let [left, right] = atom.operands() else { continue };
        match (atom.operation(), holds) {
            (Operation::LessOrEqual, true) => limit(left, right, false),
            (Operation::Less, true) => limit(left, right, true),
            (Operation::LessOrEqual, false) => limit(right, left, true),
            (Operation::Less, false) => limit(right, left, false),
            (Operation::Equal, true) => {
                limit(left, right, false);
                limit(right, left, false);
            }
            _ => {}
        }
    }
    let both = |(variable, low): (Term, i128)| {
        let high = *greatest.get(&variable)?;
        Some((variable, (low, high)))
    };
    let mut found: Vec<(Term, Interval)> = least.into_iter().filter_map(both).collect();
    // Nothing depends on the order of a hash map.
    found.sort_by_cached_key(|(variable, _)| variable.to_string());
    found.iter().all(|(_, (low, high))| low <= high && *low > -GREATEST && *high < GREATEST).then_some(found)
}

/// The interval of an integer term; `Ok(None)` for other terms, an error where there is none.
fn interval(
    term: &Term,
    operands: &[Option<Interval>],
    bounds: &[(Term, Interval)],
) -> Result<Option<Interval>, ()> {
    if matches!(term.sort(), Sort::Array(_)) {
        return Err(());
    }
    if *term.sort() != Sort::Int {
        return Ok(None);
    }
    let whole = |values: [Option<i128>; 4]| {
        let values: Option<Vec<i128>> = values.into_iter().collect();
        let values = values.ok_or(())?;
        Ok((*values.iter().min().ok_or(())?, *values.iter().max().ok_or(())?))
    };
    let given = |index: usize| operands.get(index).copied().flatten().ok_or(());
    let width = || term.operands().first().map_or(0, |operand| operand.sort().width());
    let found: Interval = match term.operation() {
        Operation::Variable(_) => {
            let at = bounds.iter().find(|(variable, _)| variable == term);
            at.map(|(_, interval)| *interval).ok_or(())?
        }
        Operation::Int(value) => (*value, *value),
        Operation::Add => {
            let mut sum = given(0)?;
            for index in 1..operands.len() {
                let (low, high) = given(index)?;
                sum = (sum.0.checked_add(low).ok_or(())?, sum.1.checked_add(high).ok_or(())?);
            }
            sum
        }
        Operation::Multiply => {
            let mut product = given(0)?;
            for index in 1..operands.len() {
                let (low, high) = given(index)?;
                product = whole([
                    product.0.checked_mul(low),
                    product.0.checked_mul(high),
                    product.1.checked_mul(low),
                    product.1.checked_mul(high),
                ])?;
                if product.0 <= -GREATEST || product.1 >= GREATEST {
                    return Err(());
                }
            }
            product
        }
        Operation::Divide | Operation::Modulo => {
            let ((low, high), (least, most)) = (given(0)?, given(1)?);
            if least < 1 {
                return Err(());
            }
            match term.operation() {
                Operation::Divide => {
                    // What is computed on the way has to fit as well.
                    let lowest = low.min(0).checked_sub(most).ok_or(())?;
                    (lowest, high.max(0))
                }
                _ => (low.min(0).max(-most), most),
            }
        }
        Operation::IfThenElse => {
            let (left, right) = (given(1)?, given(2)?);
            (left.0.min(right.0), left.1.max(right.1))
        }
        Operation::BitsToUnsigned if width() < 120 => (0, (1 << width()) - 1),
        Operation::BitsToSigned if width() < 120 => (-(1 << (width() - 1)), (1 << (width() - 1)) - 1),
        _ => return Err(()),
    };
    if found.0 <= -GREATEST || found.1 >= GREATEST { Err(()) } else { Ok(Some(found)) }
}

/// A number as a bit-vector.
fn number(width: u32, value: i128) -> Term {
    let mask = if width == 128 { u128::MAX } else { (1 << width) - 1 };
    Term::bits(width, value as u128 & mask)
}

/// The term on bit-vectors, from its operands.
fn translated(
    term: &Term,
    operands: &[Term],
    width: u32,
    intervals: &FxHashMap<Term, Option<Interval>>,
) -> Option<Term> {
    let chain = |operation: Operation| {
        let mut operands = operands.iter().cloned();
        let first = operands.next()?;
        Some(operands.fold(first, |left, right| Term::binary(operation.clone(), &left, &right)))
    };
    let is_about_integers = term.operands().first().is_some_and(|operand| *operand.sort() == Sort::Int);
    let is_never_negative =
        |index: usize| matches!(intervals.get(&term.operands()[index]), Some(Some((low, _))) if *low >= 0);
    match term.operation() {
        Operation::Variable(name) if *term.sort() == Sort::Int => {
            Some(Term::variable(name.clone(), Sort::BitVec(width)))
        }
        Operation::Int(value) => Some(number(width, *value)),
        Operation::Add => chain(Operation::BitAdd),
        Operation::Multiply => chain(Operation::BitMultiply),
        Operation::Divide if is_never_negative(0) => chain(Operation::UnsignedDivide),
        Operation::Modulo if is_never_negative(0) => chain(Operation::UnsignedRemainder),
        Operation::Divide | Operation::Modulo => {
            let (dividend, divisor) = (&operands[0], &operands[1]);
            let rest = Term::binary(Operation::SignedRemainder, dividend, divisor);
            let is_negative = Term::binary(Operation::SignedLess, &rest, &number(width, 0));
            let raised = Term::binary(Operation::BitAdd, &rest, divisor);
            let modulo = is_negative.if_then_else(&raised, &rest);
            Some(match term.operation() {
                Operation::Modulo => modulo,
                _ => {
                    let multiple = Term::binary(Operation::BitSubtract, dividend, &modulo);
                    Term::binary(Operation::SignedDivide, &multiple, divisor)
                }
            })
        }
        Operation::Less => chain(Operation::SignedLess),
        Operation::LessOrEqual => chain(Operation::SignedLessOrEqual),
        Operation::BitsToUnsigned => {
            let extra = width.checked_sub(operands[0].sort().width())?;
            Some(Term::unary(Operation::ZeroExtend(extra), &operands[0]))
        }
        Operation::BitsToSigned => {
            let extra = width.checked_sub(operands[0].sort().width())?;
            Some(Term::unary(Operation::SignExtend(extra), &operands[0]))
        }
        Operation::IntToBits(wanted) if *wanted <= width => Some(operands[0].extract(wanted - 1, 0)),
        Operation::IntToBits(wanted) => {
            Some(Term::unary(Operation::SignExtend(wanted - width), &operands[0]))
        }
        Operation::Equal if is_about_integers => Some(operands[0].equals(&operands[1])),
        Operation::IfThenElse => Some(operands[0].if_then_else(&operands[1], &operands[2])),
        Operation::Select | Operation::Store | Operation::ConstantArray => None,
        _ if term.operands().is_empty() => Some(term.clone()),
        operation => Some(crate::construct::make(operation.clone(), Some(term.sort()), operands.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use crate::{Answer, satisfiable};
    use verdict::Budget;

    fn variable(name: &str, low: i128, high: i128) -> (Term, Term) {
        let variable = Term::int_variable(name);
        let range = Term::int(low).at_most(&variable).and(&variable.at_most(&Term::int(high)));
        (variable, range)
    }

    /// Exclusive or of 32 bits, on integers.
    fn xor(left: &Term, right: &Term) -> Term {
        let bits = |term: &Term| Term::unary(Operation::IntToBits(32), term);
        let both = Term::binary(Operation::BitXor, &bits(left), &bits(right));
        Term::unary(Operation::BitsToUnsigned, &both)
    }

    #[test]
    fn a_swap_by_exclusive_or_is_decided() {
        let ((x, x_range), (y, y_range)) = (variable("x", 0, (1 << 32) - 1), variable("y", 0, (1 << 32) - 1));
        let first = xor(&x, &y);
        let second = xor(&y, &first);
        let third = xor(&first, &second);
        let wrong = Term::all([x_range, y_range, third.differs(&y).or(&second.differs(&x))]);
        assert!(as_bits(&wrong).is_some());
        assert_eq!(satisfiable(&wrong, &Budget::seconds(60.0)), Answer::Unsat);
    }

    #[test]
    fn without_bounds_there_is_no_translation() {
        let (x, range) = variable("x", 0, 255);
        let y = Term::int_variable("y");
        assert!(as_bits(&xor(&x, &y).equals(&x).and(&range)).is_none());
        assert!(as_bits(&range).is_none());
        // What holds in one case only bounds nothing.
        assert!(as_bits(&xor(&x, &y).equals(&x).and(&range.or(&y.equals(&x)))).is_none());
    }

    /// For all values of two small variables, the formula holds if and only if its translation does.
    #[test]
    fn the_translation_agrees_on_all_values() {
        let ((x, x_range), (y, y_range)) = (variable("x", -9, 8), variable("y", 1, 5));
        let ranges = x_range.and(&y_range);
        let z = x.plus(&Term::int(19));
        let back = |operation: Operation, term: &Term| {
            Term::unary(operation, &Term::unary(Operation::IntToBits(4), term))
        };
        let terms = [
            Term::binary(Operation::Divide, &x, &y),
            Term::binary(Operation::Modulo, &x, &y),
            x.times(&y).minus(&x.times(&x)),
            back(Operation::BitsToUnsigned, &x),
            back(Operation::BitsToSigned, &x.plus(&y)),
            x.less_than(&y).if_then_else(&x.negated(), &xor(&x, &y)),
            back(Operation::BitsToUnsigned, &Term::binary(Operation::Divide, &x.times(&x), &y)),
            Term::binary(Operation::Modulo, &Term::binary(Operation::Divide, &z, &y).minus(&y), &y),
        ];
        let mixed = back(Operation::BitsToUnsigned, &y).at_least(&Term::int(0));
        for term in &terms {
            for value in -12..12 {
                for compare in [Operation::Equal, Operation::Less, Operation::LessOrEqual] {
                    let claim = Term::binary(compare, term, &Term::int(value));
                    let formula = Term::all([ranges.clone(), mixed.clone(), claim]);
                    let bits = as_bits(&formula).expect("all is bounded");
                    for (x_value, y_value) in (-9..=8).flat_map(|x| (1..=5).map(move |y| (x, y))) {
                        let integers = |variable: &crate::Variable| {
                            Some(Value::Int(if variable.term() == x { x_value } else { y_value }))
                        };
                        let vectors = |variable: &crate::Variable| {
                            let is_x = variable.term().to_string() == x.to_string();
                            let value: i128 = if is_x { x_value } else { y_value };
                            let bits = variable.sort.width();
                            Some(Value::Bits(bits, value as u128 & ((1 << bits) - 1)))
                        };
                        let wanted = formula.evaluate(&integers).map_err(|error| error.0);
                        let found = bits.evaluate(&vectors).map_err(|error| error.0);
                        assert_eq!(wanted, found, "{formula} with {x_value} and {y_value}");
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_unsigned_numbers_are_decided() {
        let ((x, x_range), (y, y_range)) = (variable("x", 0, (1 << 32) - 1), variable("y", 0, (1 << 32) - 1));
        let bits = |term: &Term| Term::unary(Operation::IntToBits(32), term);
        let join = |operation: Operation| {
            Term::unary(Operation::BitsToUnsigned, &Term::binary(operation, &bits(&x), &bits(&y)))
        };
        let sum = join(Operation::BitAnd).plus(&join(Operation::BitOr));
        let wrong = Term::all([x_range, y_range, sum.differs(&x.plus(&y))]);
        assert_eq!(satisfiable(&wrong, &Budget::seconds(60.0)), Answer::Unsat);
    }
}
