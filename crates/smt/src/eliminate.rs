//! Formulas without some variables, and simpler formulas.

use crate::decode::{Foreign, decode};
use crate::encode::{Encoder, Words};
use crate::limits::{NoAnswer, apart, within};
use crate::term::{Term, Variable};
use verdict::Budget;
use z3::ast::{Ast, Bool, Dynamic, exists_const};
use z3::{Goal, Tactic};

/// A formula without the given variables that holds exactly where some values of them make the given one
/// hold.
pub fn eliminate(formula: &Term, variables: &[Variable], budget: &Budget) -> Result<Term, NoAnswer> {
    apart(|| eliminate_here(formula, variables, budget))
}

fn eliminate_here(formula: &Term, variables: &[Variable], budget: &Budget) -> Result<Term, NoAnswer> {
    let mut encoder = Encoder::default();
    let body = encoder.formula(formula);
    let bound: Vec<Dynamic> = variables.iter().map(|variable| encoder.term(&variable.term())).collect();
    let bound: Vec<&dyn Ast> = bound.iter().map(|variable| variable as &dyn Ast).collect();
    let exists = exists_const(&bound, &[], &body);
    let without = apply(&exists, &["simplify", "qe-light", "qe", "simplify"], encoder.words(), budget)?;
    let left: Vec<Variable> =
        without.free_variables().into_iter().filter(|variable| variables.contains(variable)).collect();
    match left.first() {
        None => Ok(without),
        Some(variable) => Err(NoAnswer::GaveUp(format!("{} was not eliminated", variable.name))),
    }
}

/// An equivalent formula that is not larger, and smaller where contexts, constants and linear arithmetic
/// allow. The formula itself where the budget does not suffice.
pub fn simplify(formula: &Term, budget: &Budget) -> Term {
    let tactics = ["simplify", "ctx-simplify", "simplify"];
    let simplified = apart(|| {
        let mut encoder = Encoder::default();
        let encoded = encoder.formula(formula);
        apply(&encoded, &tactics, encoder.words(), budget)
    });
    match simplified {
        Ok(simpler) if simpler.size() < formula.size() => simpler,
        _ => formula.clone(),
    }
}

/// What a chain of the solver's tactics makes of a formula.
fn apply(formula: &Bool, tactics: &[&str], words: &Words, budget: &Budget) -> Result<Term, NoAnswer> {
    let goal = Goal::new(false, false, false);
    goal.assert(formula);
    let chain = tactics.iter().map(|name| Tactic::new(name)).reduce(|first, next| first.and_then(&next));
    let chain = chain.unwrap_or_else(Tactic::create_skip);
    let subgoals = within(budget, || {
        chain.apply(&goal, None).map(|result| result.list_subgoals().collect::<Vec<Goal>>())
    })?;
    let subgoals = subgoals.map_err(NoAnswer::GaveUp)?;
    let mut cases = Vec::new();
    for subgoal in subgoals {
        let mut parts = Vec::new();
        for part in subgoal.get_formulas() {
            let part = decode(&part.into(), &[], words);
            parts.push(part.map_err(|Foreign(text)| NoAnswer::GaveUp(format!("not understood: {text}")))?);
        }
        cases.push(Term::all(parts));
    }
    Ok(Term::any(cases))
}
