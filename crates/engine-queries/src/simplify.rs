//! Formulas in a normal form, and without what follows from the rest. Exact.
//!
//! Preconditions along many steps grow fast: they repeat the same summands, and a range condition for each
//! sum. This file merges equal summands, normalises comparisons of integers to `sum <= number` in lowest
//! terms, and drops conjuncts that follow from the others and from the ranges of the variables.

use crate::model::Model;
use crate::post::facts_of;
use indexmap::IndexMap;
use smt::construct::make;
use smt::visit::fold;
use smt::{Answer, Operation, Sort, Term};
use std::convert::identity;
use verdict::Budget;

/// With more conjuncts than this nothing is left out.
const MOST: usize = 60;

/// A sum: its summands with their factors, and a number.
#[derive(Clone, Default)]
struct Sum {
    summands: IndexMap<Term, i128>,
    number: i128,
}

impl Sum {
    /// Adds a term so many times. `None` when a number becomes too large.
    fn add(&mut self, term: &Term, factor: i128) -> Option<()> {
        match (term.operation(), term.operands()) {
            (Operation::Int(value), _) => {
                self.number = self.number.checked_add(value.checked_mul(factor)?)?;
            }
            (Operation::Add, operands) => {
                for operand in operands {
                    self.add(operand, factor)?;
                }
            }
            (Operation::Multiply, [first, rest]) => match first.operation() {
                Operation::Int(value) => self.add(rest, factor.checked_mul(*value)?)?,
                _ => self.add_once(term, factor)?,
            },
            _ => self.add_once(term, factor)?,
        }
        Some(())
    }
    fn add_once(&mut self, term: &Term, factor: i128) -> Option<()> {
        let now = self.summands.entry(term.clone()).or_insert(0);
        *now = now.checked_add(factor)?;
        Some(())
    }
    fn term(&self) -> Term {
        let parts = self.summands.iter().filter(|(_, factor)| **factor != 0);
        let parts = parts.map(|(term, factor)| Term::int(*factor).times(term));
        Term::sum(parts.chain((self.number != 0).then(|| Term::int(self.number))))
    }

    /// That the sum is at most 0.
    fn at_most_zero(mut self) -> Term {
        self.summands.retain(|_, factor| *factor != 0);
        self.summands.sort_by(|one, _, other, _| one.cmp(other));
        let divisor =
            self.summands.values().fold(0, |divisor, factor| common(divisor, factor.unsigned_abs()));
        let Some(divisor) = i128::try_from(divisor).ok().filter(|divisor| *divisor > 0) else {
            return Term::bool(self.number <= 0);
        };
        let Some(most) = self.number.checked_neg().map(|number| number.div_euclid(divisor)) else {
            return self.term().at_most(&Term::int(0));
        };
        self.summands.values_mut().for_each(|factor| *factor /= divisor);
        self.number = 0;
        // With more negative factors than positive ones it is turned around.
        if self.summands.values().filter(|factor| **factor < 0).count() * 2 > self.summands.len() {
            self.summands.values_mut().for_each(|factor| *factor = -*factor);
            return self.term().at_least(&Term::int(-most));
        }
        self.term().at_most(&Term::int(most))
    }
}

fn common(one: u128, other: u128) -> u128 {
    if other == 0 { one } else { common(other, one % other) }
}

/// `left + more <= right`.
fn compared(left: &Term, right: &Term, more: i128) -> Option<Term> {
    let mut sum = Sum { number: more, ..Sum::default() };
    sum.add(left, 1)?;
    sum.add(right, -1)?;
    Some(sum.at_most_zero())
}

/// An equal formula in normal form.
pub fn normal(formula: &Term) -> Term {
    fold(formula, &mut Default::default(), |term, operands| {
        let again = || make(term.operation().clone(), Some(term.sort()), operands.to_vec());
        match (term.operation(), operands) {
            (Operation::Less, [left, right]) => compared(left, right, 1).unwrap_or_else(again),
            (Operation::LessOrEqual, [left, right]) => compared(left, right, 0).unwrap_or_else(again),
            (Operation::Not, [operand]) => match (operand.operation(), operand.operands()) {
                (Operation::LessOrEqual, [left, right]) => compared(right, left, 1).unwrap_or_else(again),
                _ => again(),
            },
            (Operation::Equal, [left, right]) if *left.sort() == Sort::Int => {
                let mut sum = Sum::default();
                match sum.add(left, 1).and_then(|()| sum.add(right, -1)) {
                    // A variable that equals something stays such.
                    Some(()) if sum.summands.values().all(|factor| *factor == 0) => {
                        Term::bool(sum.number == 0)
                    }
                    _ => again(),
                }
            }
            (Operation::Add, _) => {
                let mut sum = Sum::default();
                operands
                    .iter()
                    .try_for_each(|operand| sum.add(operand, 1))
                    .map_or_else(again, |()| sum.term())
            }
            _ => again(),
        }
    })
}

/// An equal formula, as long as variables are in range, in normal form and without conjuncts that follow from
/// the others.
pub fn simplify(model: &Model, formula: &Term, budget: &Budget) -> Term {
    let mut facts = facts_of(&normal(formula));
    facts.dedup();
    if facts.len() < 2 || facts.len() > MOST {
        return Term::all(facts);
    }
    let mut needed = vec![true; facts.len()];
    model.questions.borrow_mut().ask(|solver| {
        let variables = facts.iter().flat_map(Term::free_variables);
        solver.assert(&Term::all(variables.filter_map(|variable| model.variables.get(&variable).cloned())));
        for number in 0..facts.len() {
            let others = (0..facts.len()).filter(|other| *other != number && needed[*other]);
            let mut question: Vec<Term> = others.map(|other| facts[other].clone()).collect();
            question.push(facts[number].not());
            needed[number] = solver.check_assuming(&question, budget) != Answer::Unsat;
        }
    });
    if !needed.iter().copied().any(identity) {
        return Term::bool(true);
    }
    Term::all(facts.into_iter().zip(needed).filter(|(_, needed)| *needed).map(|(fact, _)| fact))
}
