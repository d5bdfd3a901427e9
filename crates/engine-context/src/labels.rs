//! Questions about labels, each asked once.

use smt::{Answer, NoAnswer, Operation, Questions, Term};
use std::collections::{BTreeMap, BTreeSet};
use verdict::Budget;

/// What is known of labels.
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

    /// Whether a label says at least what another one says.
    pub fn implies(&mut self, one: &Term, other: &Term, budget: &Budget) -> Result<bool, NoAnswer> {
        if one == other || other.is_true() || one.is_false() {
            return Ok(true);
        }
        self.holds(one.implies(other), budget)
    }

    /// Whether two labels say the same. If the solver has no answer, they count as different.
    pub fn are_same(&mut self, one: &Term, other: &Term, budget: &Budget) -> bool {
        let mut implies = |one: &Term, other: &Term| self.implies(one, other, budget) == Ok(true);
        implies(one, other) && implies(other, one)
    }

    /// Whether a formula can hold.
    pub fn can_hold(&mut self, formula: &Term, budget: &Budget) -> Result<bool, NoAnswer> {
        Ok(!formula.is_false() && !self.holds(formula.not(), budget)?)
    }
}

/// More ways than this are not put together.
const MOST_WAYS: usize = 400;

/// A disjunction of conjunctions with fewer parts that says the same: ways that differ in one literal are one without it.
pub fn simplified(label: &Term) -> Term {
    let parts = |term: &Term, operation: &Operation| match term.operation() == operation {
        true => term.operands().to_vec(),
        false => vec![term.clone()],
    };
    let ways: BTreeSet<BTreeSet<Term>> = parts(label, &Operation::Or)
        .iter()
        .map(|way| parts(way, &Operation::And).into_iter().collect())
        .collect();
    if ways.len() < 2 || ways.len() > MOST_WAYS {
        return label.clone();
    }
    let mut all = ways;
    loop {
        let mut next: BTreeSet<BTreeSet<Term>> = BTreeSet::new();
        let mut used: BTreeSet<BTreeSet<Term>> = BTreeSet::new();
        for way in &all {
            for literal in way {
                let mut opposite = way.clone();
                opposite.remove(literal);
                let rest = opposite.clone();
                opposite.insert(literal.not());
                if all.contains(&opposite) {
                    used.insert(way.clone());
                    next.insert(rest);
                }
            }
        }
        if used.is_empty() {
            break;
        }
        next.extend(all.into_iter().filter(|way| !used.contains(way)));
        all = next;
    }
    // A way that another one contains says nothing more.
    let kept = all.iter().filter(|way| !all.iter().any(|other| other != *way && other.is_subset(way)));
    Term::any(kept.map(|way| Term::all(way.iter().cloned())))
}
