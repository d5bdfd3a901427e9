//! Solver queries about labels, with a cache. Exact if the solver has an answer.

use smt::{Answer, NoAnswer, Operation, Questions, Term};
use std::collections::{BTreeMap, BTreeSet};
use verdict::Budget;

/// The cache.
#[derive(Default)]
pub struct Labels {
    always: BTreeMap<Term, bool>,
    questions: Questions,
}

impl Labels {
    /// Whether a formula always holds.
    fn holds(&mut self, formula: Term, budget: &Budget) -> Result<bool, NoAnswer> {
        if let Some(known) = self.always.get(&formula) {
            return Ok(*known);
        }
        let holds = match self.questions.satisfiable(&formula.not(), budget) {
            Answer::Unsat => true,
            Answer::Sat => false,
            Answer::Unknown(reason) => return Err(reason),
        };
        self.always.insert(formula, holds);
        Ok(holds)
    }

    /// Whether a label implies another.
    pub fn implies(&mut self, one: &Term, other: &Term, budget: &Budget) -> Result<bool, NoAnswer> {
        if one == other || other.is_true() || one.is_false() {
            return Ok(true);
        }
        self.holds(one.implies(other), budget)
    }

    /// Whether two labels are equivalent. If the solver has no answer, they count as different.
    pub fn are_same(&mut self, one: &Term, other: &Term, budget: &Budget) -> bool {
        let mut implies = |one: &Term, other: &Term| self.implies(one, other, budget) == Ok(true);
        implies(one, other) && implies(other, one)
    }

    /// Whether a formula can hold.
    pub fn can_hold(&mut self, formula: &Term, budget: &Budget) -> Result<bool, NoAnswer> {
        Ok(!formula.is_false() && !self.holds(formula.not(), budget)?)
    }
}

/// The most cubes that are merged.
const MOST_CUBES: usize = 400;

/// An equivalent, smaller disjunctive normal form: cubes that differ in one literal are merged.
pub fn simplified(label: &Term) -> Term {
    let parts = |term: &Term, operation: &Operation| match term.operation() == operation {
        true => term.operands().to_vec(),
        false => vec![term.clone()],
    };
    let cubes: BTreeSet<BTreeSet<Term>> = parts(label, &Operation::Or)
        .iter()
        .map(|cube| parts(cube, &Operation::And).into_iter().collect())
        .collect();
    if cubes.len() < 2 || cubes.len() > MOST_CUBES {
        return label.clone();
    }
    let mut all = cubes;
    loop {
        let mut next: BTreeSet<BTreeSet<Term>> = BTreeSet::new();
        let mut used: BTreeSet<BTreeSet<Term>> = BTreeSet::new();
        for cube in &all {
            for literal in cube {
                let mut opposite = cube.clone();
                opposite.remove(literal);
                let rest = opposite.clone();
                opposite.insert(literal.not());
                if all.contains(&opposite) {
                    used.insert(cube.clone());
                    next.insert(rest);
                }
            }
        }
        if used.is_empty() {
            break;
        }
        next.extend(all.into_iter().filter(|cube| !used.contains(cube)));
        all = next;
    }
    // A cube that is subsumed by another is dropped.
    let kept = all.iter().filter(|cube| !all.iter().any(|other| other != *cube && other.is_subset(cube)));
    Term::any(kept.map(|cube| Term::all(cube.iter().cloned())))
}
