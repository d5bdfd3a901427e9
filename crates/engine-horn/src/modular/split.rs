//! Splits locations by what a thread has observed.
//!
//! A thread that reads a shared variable and later acts on it is at one location, whatever it read. If later
//! steps test whether a variable with such an observation has a certain value, the location is split in two,
//! so that facts without disjunctions suffice. Exact: a step leads to the part whose condition holds after
//! it.

use super::model::IDLE;
use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use rustc_hash::FxHashMap;
use smt::construct::make;
use smt::visit::fold;
use smt::{Operation, Sort, Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use transitions::Step;

/// A location is distinguished by at most this many conditions.
const MOST_CONDITIONS: usize = 2;

/// What stands for a part of a location: the location, and what holds there.
pub type Parts = BTreeMap<LocationId, (LocationId, Vec<(Term, bool)>)>;

/// Splits the locations of a template. New locations are numbered from `next` on.
pub fn split(
    steps: &[Step],
    entry: LocationId,
    next: LocationId,
    is_own: &dyn Fn(&Variable) -> bool,
    live: &BTreeMap<LocationId, BTreeSet<Variable>>,
) -> (Vec<Step>, Parts) {
    let seen: BTreeSet<Variable> = steps
        .iter()
        .flat_map(|step| &step.updates)
        .filter(|(variable, value)| is_own(variable) && value.free_variables().iter().any(|v| !is_own(v)))
        .map(|(variable, _)| variable.clone())
        .collect();
    let questions: IndexSet<(Variable, Term)> =
        steps.iter().flat_map(|step| questions(&step.guard)).filter(|(v, _)| seen.contains(v)).collect();
    let mut parts = Parts::new();
    let mut of: BTreeMap<LocationId, Vec<LocationId>> = BTreeMap::new();
    let mut number = next.0;
    for (location, live) in live.iter().filter(|(location, _)| **location != entry && **location != IDLE) {
        let asked: Vec<&Term> = questions
            .iter()
            .filter(|(variable, _)| live.contains(variable))
            .map(|(_, question)| question)
            .take(MOST_CONDITIONS)
            .collect();
        for answers in 0..1u32 << asked.len() {
            if asked.is_empty() {
                continue;
            }
            let conditions = asked
                .iter()
                .enumerate()
                .map(|(bit, question)| ((*question).clone(), answers >> bit & 1 == 1));
            let part = LocationId(number);
            number += 1;
            parts.insert(part, (*location, conditions.collect()));
            of.entry(*location).or_default().push(part);
        }
    }
    let mut found = Vec::new();
    for step in steps {
        for source in of.get(&step.source).cloned().unwrap_or(vec![step.source]) {
            let given: Vec<(Term, bool)> =
                parts.get(&source).map_or(Vec::new(), |(_, conditions)| conditions.clone());
            let here = under(step, &given);
            for target in of.get(&step.target).cloned().unwrap_or(vec![step.target]) {
                let wanted = parts.get(&target).into_iter().flat_map(|(_, conditions)| conditions);
                let after = wanted.map(|(question, answer)| {
                    let asked = simplified(&question.substitute(&here.updates), &given);
                    if *answer { asked } else { asked.not() }
                });
                let guard = here.guard.and(&Term::all(after));
                if !guard.is_false() {
                    found.push(Step { source, target, guard, ..here.clone() });
                }
            }
        }
    }
    (found, parts)
}

/// The questions in a formula whether one variable has one value.
fn questions(formula: &Term) -> Vec<(Variable, Term)> {
    let mut found = Vec::new();
    formula.walk(|inner| {
        match (inner.operation(), inner.operands()) {
            (Operation::Variable(_), _) if *inner.sort() == Sort::Bool => {
                found.extend(inner.as_variable().map(|variable| (variable, inner.clone())));
            }
            (Operation::Equal, [one, other]) => {
                for (one, other) in [(one, other), (other, one)] {
                    if other.is_literal() {
                        found.extend(one.as_variable().map(|variable| (variable, inner.clone())));
                    }
                }
            }
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
    found
}

/// A term where the answers to some questions are known.
fn simplified(term: &Term, answers: &[(Term, bool)]) -> Term {
    let mut known: FxHashMap<Term, Term> =
        answers.iter().map(|(question, answer)| (question.clone(), Term::bool(*answer))).collect();
    fold(term, &mut known, |term, operands: &[Term]| {
        if operands == term.operands() {
            term.clone()
        } else {
            make(term.operation().clone(), Some(term.sort()), operands.to_vec())
        }
    })
}

fn under(step: &Step, answers: &[(Term, bool)]) -> Step {
    let term = |term: &Term| simplified(term, answers);
    let updates: IndexMap<Variable, Term> =
        step.updates.iter().map(|(variable, value)| (variable.clone(), term(value))).collect();
    Step { guard: term(&step.guard), updates, ..step.clone() }
}

/// The value that a variable has if the answer to a question is known, where there is only one.
pub fn value(question: &Term, answer: bool) -> Option<(Variable, Term)> {
    match (question.operation(), question.operands()) {
        (Operation::Variable(_), _) => Some((question.as_variable()?, Term::bool(answer))),
        (Operation::Equal, [one, other]) if answer => {
            let (variable, value) = if other.is_literal() { (one, other) } else { (other, one) };
            Some((variable.as_variable()?, value.clone()))
        }
        _ => None,
    }
}
