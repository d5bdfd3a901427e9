//! `post`: a postcondition of steps, in conjuncts (paper 5, section 4.5, item 2).
//!
//! Over-approximates: values that no variable shows any more are forgotten, with all that was known of them.

use indexmap::{IndexMap, IndexSet};
use sequential::Execution;
use smt::visit::conjuncts;
use smt::{Instance, Operation, Sort, Term, Variable};

/// The facts that a formula states: its conjuncts, and those of a negated disjunction.
pub fn facts_of(formula: &Term) -> Vec<Term> {
    let split = |part: Term| match part.operation() {
        Operation::Not if *part.operands()[0].operation() == Operation::Or => {
            part.operands()[0].operands().iter().flat_map(|operand| facts_of(&operand.not())).collect()
        }
        _ => vec![part],
    };
    conjuncts(formula).into_iter().flat_map(split).collect()
}

/// α = post(π_start, φ_init): what holds of some variables after an execution from states that `initial`
/// holds of.
pub fn post(initial: &Term, execution: &Execution, variables: &IndexSet<Variable>) -> Vec<Term> {
    // The values at first have names of their own.
    let first = |variable: &Variable| variable.instance(Instance::First);
    let at_first: IndexMap<Variable, Term> =
        variables.iter().map(|variable| (variable.clone(), first(variable).term())).collect();
    let mut facts: Vec<Term> = facts_of(initial);
    facts.extend(execution.conditions.iter().flat_map(facts_of));
    let mut facts: Vec<Term> = facts.iter().map(|fact| fact.substitute(&at_first)).collect();
    for variable in variables {
        let now = execution.value(&variable.term()).substitute(&at_first);
        facts.push(variable.term().equals(&now));
    }
    // What equals a term over variables is replaced by it.
    let hidden = |variable: &Variable| !variables.contains(variable);
    loop {
        let found =
            facts.iter().enumerate().find_map(|(position, fact)| Some((position, solved(fact, &hidden)?)));
        let Some((position, (variable, value))) = found else { break };
        facts.remove(position);
        let replace = IndexMap::from([(variable, value)]);
        facts = facts.iter().map(|fact| fact.substitute(&replace)).filter(|fact| !fact.is_true()).collect();
    }
    facts.retain(|fact| !fact.free_variables().iter().any(hidden));
    let unique: IndexSet<Term> = facts.into_iter().flat_map(|fact| facts_of(&fact)).collect();
    unique.into_iter().collect()
}

/// A hidden variable that an equation gives the value of. The value may have other hidden variables inside.
fn solved(fact: &Term, hidden: &dyn Fn(&Variable) -> bool) -> Option<(Variable, Term)> {
    if *fact.operation() != Operation::Equal {
        return None;
    }
    let [left, right] = fact.operands() else { return None };
    for (one, other) in [(left, right), (right, left)] {
        if let Some(variable) = one.as_variable().filter(hidden)
            && !other.free_variables().contains(&variable)
        {
            return Some((variable, other.clone()));
        }
        // A sum with it as one of its summands.
        if *one.operation() == Operation::Add && *one.sort() == Sort::Int {
            for (position, summand) in one.operands().iter().enumerate() {
                let Some(variable) = summand.as_variable().filter(hidden) else { continue };
                let rest = one.operands().iter().enumerate().filter(|(other, _)| *other != position);
                let rest = Term::sum(rest.map(|(_, summand)| summand.clone()));
                let value = other.minus(&rest);
                if !value.free_variables().contains(&variable) {
                    return Some((variable, value));
                }
            }
        }
    }
    None
}
