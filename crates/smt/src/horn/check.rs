//! Checks of solutions and refutations. They share only the terms with the search; the check of refutations
//! does not even use the solver.

use super::{ClauseId, Derivation, HornSystem, Interpretation};
use crate::limits::NoAnswer;
use crate::solver::{Answer, Solver, satisfiable};
use crate::term::{Term, Variable};
use crate::value::Value;
use std::time::Duration;
use verdict::Budget;

/// How long the solver tries a clause before it uses all simplifications.
const PATIENCE: Duration = Duration::from_millis(500);

/// Why an interpretation was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The clause does not hold.
    Fails(ClauseId),
    /// Whether the clause holds is not known.
    Unknown(ClauseId, NoAnswer),
}

/// Whether all clauses hold under an interpretation.
pub fn check_interpretation(
    system: &HornSystem,
    interpretation: &Interpretation,
    budget: &Budget,
) -> Result<(), Failure> {
    // One solver for all: a new one costs more than most of these questions.
    let mut solver = Solver::new();
    for (id, clause) in system.clauses.enumerate() {
        let body = clause.body.iter().map(|application| system.instantiate(interpretation, application));
        let head = clause.head.iter().map(|head| system.instantiate(interpretation, head).not());
        let violation = Term::all(body.chain([clause.constraint.clone()]).chain(head));
        solver.push();
        solver.assert(&violation);
        let mut answer = solver.check(&budget.patient_for(PATIENCE));
        solver.pop();
        if matches!(answer, Answer::Unknown(_)) {
            answer = satisfiable(&violation, budget);
        }
        match answer {
            Answer::Unsat => {}
            Answer::Sat => return Err(Failure::Fails(id)),
            Answer::Unknown(reason) => return Err(Failure::Unknown(id, reason)),
        }
    }
    Ok(())
}

/// Whether a derivation derives `false`: each step is a clause with values that make its constraint true,
/// that fit those of the premises, and give the conclusion. The error says what is wrong.
pub fn check_derivation(system: &HornSystem, derivation: &Derivation) -> Result<(), String> {
    for (position, step) in derivation.steps.iter().enumerate() {
        let wrong = |what: &str| Err(format!("step {position} (clause {:?}): {what}", step.clause));
        if step.clause.0 as usize >= system.clauses.len() {
            return wrong("there is no such clause");
        }
        let clause = &system.clauses[step.clause];
        let value_of = |variable: &Variable| step.values.get(variable).cloned();
        let evaluate =
            |term: &Term| term.evaluate(&value_of).map_err(|error| format!("step {position}: {}", error.0));
        let fits = |terms: &[Term], values: &[Value]| -> Result<bool, String> {
            let mut same = terms.len() == values.len();
            for (term, value) in terms.iter().zip(values) {
                same = same && evaluate(term)?.same(value);
            }
            Ok(same)
        };
        if evaluate(&clause.constraint)? != Value::Bool(true) {
            return wrong("the constraint does not hold");
        }
        if clause.body.len() != step.premises.len() {
            return wrong("there are too few or too many premises");
        }
        for (application, premise) in clause.body.iter().zip(&step.premises) {
            let Some(premise) = derivation.steps[..position].get(*premise) else {
                return wrong("a premise does not come before it");
            };
            let derived = system.clauses[premise.clause].head.as_ref();
            if derived.is_none_or(|head| head.relation != application.relation) {
                return wrong("a premise is about another relation");
            }
            if !fits(&application.arguments, &premise.arguments)? {
                return wrong("a premise has other arguments");
            }
        }
        match &clause.head {
            Some(head) if !fits(&head.arguments, &step.arguments)? => {
                return wrong("the conclusion has other arguments");
            }
            _ => {}
        }
    }
    let last = derivation.steps.last().ok_or("there is no step")?;
    if system.clauses[last.clause].head.is_some() {
        return Err("the last step does not derive false".to_owned());
    }
    Ok(())
}
