//! The formulas that others are made of, each in one form, and a list of predicates in which none says what another says.

use crate::decide::literal;
use smt::visit::fold;
use smt::{Answer, NoAnswer, Operation, Solver, Sort, Term, Variable};
use std::collections::BTreeSet;
use transitions::Scoped;
use verdict::{Budget, Exhausted, Predicate};

/// Larger atoms are no predicates.
const LARGEST: usize = 60;

/// The atoms of a formula: what is left when conjunctions, disjunctions, negations and choices are taken apart.
pub fn atoms(formula: &Term) -> Vec<Term> {
    let mut found: BTreeSet<Term> = BTreeSet::new();
    let mut open = vec![formula.clone()];
    let mut seen = BTreeSet::new();
    while let Some(term) = open.pop() {
        if !seen.insert(term.clone()) {
            continue;
        }
        let is_boolean = term.operands().iter().all(|operand| *operand.sort() == Sort::Bool);
        match term.operation() {
            Operation::Bool(_) => {}
            Operation::Not | Operation::And | Operation::Or => open.extend(term.operands().iter().cloned()),
            Operation::Equal | Operation::IfThenElse if is_boolean => {
                open.extend(term.operands().iter().cloned())
            }
            _ => {
                found.insert(one_form(&term));
            }
        }
    }
    found.into_iter().filter(|atom| atom.size() <= LARGEST && !atom.is_literal()).collect()
}

/// An atom or its negation: comparisons are `at most`, with a number on the right if there is one.
fn one_form(atom: &Term) -> Term {
    let [left, right] = atom.operands() else { return atom.clone() };
    match (atom.operation(), left.operation(), right.operation()) {
        // n < t is not t <= n
        (Operation::Less, _, _) => one_form(&right.at_most(left)),
        // n <= t is not t <= n - 1
        (Operation::LessOrEqual, Operation::Int(number), _) => match number.checked_sub(1) {
            Some(less) => right.at_most(&Term::int(less)),
            None => atom.clone(),
        },
        (Operation::Equal, Operation::Int(_) | Operation::Bits(_), _) => right.equals(left),
        _ => atom.clone(),
    }
}

/// The atoms of a formula, with choices between numbers inside of them taken apart as well: `p ? a : b = c` has the atoms `p`, `a = c` and `b = c`.
pub fn inner_atoms(formula: &Term) -> Vec<Term> {
    let mut found: BTreeSet<Term> = BTreeSet::new();
    let mut open = atoms(formula);
    while let Some(atom) = open.pop() {
        let choice = atom.walk(|term| match term.operation() {
            Operation::IfThenElse => std::ops::ControlFlow::Break(term.clone()),
            _ => std::ops::ControlFlow::Continue(()),
        });
        let Some(choice) = choice else {
            found.insert(atom);
            continue;
        };
        if found.len() + open.len() > LARGEST {
            break;
        }
        let [condition, left, right] = choice.operands() else { continue };
        open.extend(atoms(condition));
        for way in [left, right] {
            let mut known = rustc_hash::FxHashMap::default();
            known.insert(choice.clone(), way.clone());
            let chosen = fold(&atom, &mut known, |term, operands| {
                if operands == term.operands() {
                    term.clone()
                } else {
                    smt::construct::make(term.operation().clone(), Some(term.sort()), operands.to_vec())
                }
            });
            open.extend(atoms(&chosen));
        }
    }
    found.into_iter().collect()
}

/// The predicates so far. Numbers are never given again.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// The predicates.
    pub predicates: Vec<Predicate>,
}

impl Vocabulary {
    /// Adds a predicate, unless it is always true, always false, out of all scopes, or the same as one that is there, or its opposite. Says whether it is new.
    pub fn add(
        &mut self,
        scoped: &Scoped<'_>,
        predicate: Predicate,
        budget: &Budget,
    ) -> Result<bool, Exhausted> {
        if !scoped.is_scoped(&predicate) || self.predicates.contains(&predicate) {
            return Ok(false);
        }
        let formula = &predicate.formula;
        let mut solver = Solver::new();
        let mut can = |formula: Term| match solver
            .check_assuming(&[formula.clone(), scoped.ranges([&formula])], budget)
        {
            Answer::Unsat => Ok(false),
            Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => Ok(true),
            Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(limit),
        };
        if !can(formula.clone())? || !can(formula.not())? {
            return Ok(false);
        }
        let variables: BTreeSet<Variable> = formula.free_variables();
        for known in self.predicates.iter().filter(|known| known.scope == predicate.scope) {
            if known.formula.free_variables() == variables {
                for opposite in [false, true] {
                    let same = formula.equals(&literal(&known.formula, !opposite));
                    if !can(same.not())? {
                        return Ok(false);
                    }
                }
            }
        }
        self.predicates.push(predicate);
        Ok(true)
    }
}
