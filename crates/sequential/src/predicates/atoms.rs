//! Atoms of formulas in a normal form, and a list of predicates without equivalent ones.

use crate::predicates::decide::literal;
use indexmap::IndexSet;
use smt::visit::fold;
use smt::{Answer, NoAnswer, Operation, Solver, Sort, Term, Variable};
use std::collections::BTreeSet;
use transitions::Scoped;
use verdict::{Budget, Exhausted, Predicate};

/// Larger atoms are no predicates.
const LARGEST: usize = 60;

/// The atoms of a formula: the parts that remain when conjunctions, disjunctions, negations and choices are
/// taken apart.
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

/// Some atoms, with `t <= n` and `t <= n - 1` together as `t = n`: what an equation looks like when it was
/// taken apart. Says less where the two were not of one equation.
pub fn with_equations(atoms: &IndexSet<Term>) -> IndexSet<Term> {
    let bound = |atom: &Term| match (atom.operation(), atom.operands()) {
        (Operation::LessOrEqual, [term, number]) => match number.operation() {
            Operation::Int(number) => Some((term.clone(), *number)),
            _ => None,
        },
        _ => None,
    };
    let mut found = IndexSet::new();
    for atom in atoms {
        match bound(atom) {
            Some((term, number)) if atoms.contains(&term.at_most(&Term::int(number.saturating_sub(1)))) => {
                found.insert(equation(&term, number));
            }
            Some((term, number)) if atoms.contains(&term.at_most(&Term::int(number.saturating_add(1)))) => {}
            _ => {
                found.insert(atom.clone());
            }
        }
    }
    found
}

/// That a term is a number; that two terms are the same, where their difference is 0.
fn equation(term: &Term, number: i128) -> Term {
    if let (0, Operation::Add, [left, right]) = (number, term.operation(), term.operands())
        && let (Operation::Multiply, [factor, right]) = (right.operation(), right.operands())
        && *factor.operation() == Operation::Int(-1)
    {
        return left.equals(right);
    }
    term.equals(&Term::int(number))
}

/// The atoms of a formula, with choices between numbers inside of them taken apart as well: `p ? a : b = c`
/// has the atoms `p`, `a = c` and `b = c`.
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
    /// Adds a predicate, unless it is always true, always false, out of all scopes, or the same as one that
    /// is there, or its opposite. Says whether it is new.
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
