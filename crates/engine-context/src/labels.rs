//! Questions about labels, each asked once.

use smt::{Answer, NoAnswer, Term, Variable, can_fail};
use std::collections::{BTreeMap, BTreeSet};
use verdict::Budget;

/// What is known of labels.
#[derive(Default)]
pub struct Labels {
    always: BTreeMap<Term, bool>,
}

impl Labels {
    /// Whether a formula always holds.
    fn holds(&mut self, formula: Term, budget: &Budget) -> Result<bool, NoAnswer> {
        if let Some(known) = self.always.get(&formula) {
            return Ok(*known);
        }
        let holds = match can_fail(&formula, budget) {
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

    /// Whether a formula keeps holding when some variables get other values such that a label holds behind that: `(∃ havoc. formula) ∧ label ⇒ formula`
    /// (paper 1, section 5: the location is good for the step).
    pub fn is_kept(
        &mut self,
        formula: &Term,
        havoc: &BTreeSet<Variable>,
        label: &Term,
        budget: &Budget,
    ) -> Result<bool, NoAnswer> {
        // The values before the step, under names that nothing else has.
        let before = formula.rename(|variable| {
            havoc
                .contains(variable)
                .then(|| Variable::new(format!("{} before the step", variable.name), variable.sort.clone()))
        });
        self.holds(before.and(label).implies(formula), budget)
    }
}
