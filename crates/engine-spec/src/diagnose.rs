//! Mistakes in a specification that the parser does not detect: parts that can never matter, and threads that
//! the program does not have.

use crate::conformance::{counts_fit, prepared, system, untranslatable};
use ir::specification::{Specification, Transition};
use ir::{Program, Span};
use smt::expressions::Untranslatable;
use smt::{Answer, Term, satisfiable};
use transitions::specification::{Meaning, before};
use verdict::{Budget, Reason, Views};

/// A mistake in a specification, with its place there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where in the specification.
    pub span: Span,
    /// A sentence for the user.
    pub message: String,
}

/// The mistakes in a specification of a program. The program is lowered for a check.
pub fn mistakes(
    specification: &Specification,
    program: &Views,
    budget: &Budget,
) -> Result<Vec<Mistake>, Reason> {
    let mut found = senseless(specification, program, budget).map_err(untranslatable)?;
    let ready = prepared(program, budget)?;
    if let Err((message, span)) = counts_fit(specification, &system(ready)) {
        found.push(Mistake { span, message });
    }
    found.sort_by_key(|mistake| mistake.span);
    Ok(found)
}

fn senseless(
    specification: &Specification,
    program: &Program,
    budget: &Budget,
) -> Result<Vec<Mistake>, Untranslatable> {
    let meaning = Meaning::plain(specification);
    let ranges: Vec<Term> = meaning.ranges().map(|(_, range)| range).collect();
    let in_range = Term::all(ranges.iter().cloned());
    let olds = Term::all(meaning.ranges().map(|(variable, range)| range.rename(|_| Some(before(variable)))));
    // That owners are spoken of is no reason to say that something cannot be.
    let holds = |conditions: &[ir::Expr]| match meaning.condition(conditions) {
        Err(_) if specification.names_threads() => Ok(Term::bool(true)),
        other => other,
    };
    let never = |formula: &Term| satisfiable(formula, budget) == Answer::Unsat;
    let start = specification.start_condition(program);
    let start = holds(&start)?.and(&in_range);
    let mut found = Vec::new();
    if never(&start) {
        let message = "the start condition never holds".to_owned();
        found.push(Mistake { span: Span { file: 0, line: 1, column: 1 }, message });
        return Ok(found);
    }
    for thread in &specification.threads {
        for (number, state) in thread.states.iter().enumerate() {
            let assertion = holds(&state.assertion)?;
            // One that never holds at all says that the thread must not get there, or that nothing is known
            // yet.
            let says_something = !never(&assertion.and(&in_range));
            if thread.initial.contains(&number) && says_something && never(&assertion.and(&start)) {
                let message = format!(
                    "the assertion of the start state `{}` does not hold at the start, whatever the variables are then",
                    state.name
                );
                found.push(Mistake { span: state.span, message });
            }
        }
        let old = |term: &Term| {
            term.rename(|variable| meaning.variables().any(|v| v == variable).then(|| before(variable)))
        };
        for Transition { source, target, changes, condition, span } in &thread.transitions {
            let (from, to) = (&thread.states[*source], &thread.states[*target]);
            let step = holds(condition)?;
            let all = Term::all([meaning.frame(changes), step, in_range.clone(), olds.clone()]);
            let asserted = old(&holds(&from.assertion)?);
            if never(&all) {
                let message = format!("no step from `{}` to `{}` can be so", from.name, to.name);
                found.push(Mistake { span: *span, message });
            } else if !never(&asserted.and(&olds)) && never(&all.and(&asserted)) {
                let message = format!(
                    "no step from `{}` to `{}` can be so where the assertion of `{}` holds",
                    from.name, to.name, from.name
                );
                found.push(Mistake { span: *span, message });
            }
        }
    }
    Ok(found)
}
