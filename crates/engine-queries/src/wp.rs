//! `wp`: weakest preconditions of steps (paper 5, chapter 2, and section 4.5, item 1).
//!
//! Exact, or under-approximates: where an input cannot be eliminated it gets the value that it had in an
//! execution.

use crate::model::Model;
use crate::simplify::{normal, simplify};
use indexmap::IndexMap;
use sequential::Step;
use smt::eliminate::eliminate;
use smt::{Term, Value, Variable};
use std::time::Duration;
use transitions::threads::ThreadNumber;
use verdict::Budget;
use verdict::queries::place;

/// How long one elimination may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// A step of a thread in an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Who takes it.
    pub thread: ThreadNumber,
    /// Which of its steps.
    pub step: usize,
    /// The values of inputs in an execution.
    pub inputs: IndexMap<Variable, Value>,
}

/// wp of a step: the states from which it leads to states that a formula holds of.
pub fn wp(step: &Step, formula: &Term, inputs: &IndexMap<Variable, Value>, budget: &Budget) -> Term {
    let after = formula.substitute(&step.updates);
    let whole = step.guard.and(&after);
    let read = whole.free_variables();
    let open: Vec<Variable> = step.inputs.iter().filter(|input| read.contains(*input)).cloned().collect();
    if open.is_empty() {
        return whole;
    }
    match eliminate(&whole, &open, &budget.patient_for(PATIENCE)) {
        Ok(without) if without.size() <= 4 * whole.size() => without,
        _ => {
            let values = open.iter().filter_map(|input| Some((input.clone(), inputs.get(input)?.term())));
            whole.substitute(&values.collect())
        }
    }
}

/// wp of a path: the states from which steps, one after the other, lead to states that a formula holds of.
pub fn wp_of_path(model: &Model, taken: &[Taken], formula: &Term, budget: &Budget) -> Term {
    let whole = taken.iter().rev().fold(formula.clone(), |formula, taken| {
        let step = &model.threads[taken.thread].steps[taken.step];
        let here = place(taken.thread).term().equals(&Term::int(step.source as i128));
        normal(&here.and(&wp(step, &formula, &taken.inputs, budget)))
    });
    simplify(model, &whole, budget)
}
