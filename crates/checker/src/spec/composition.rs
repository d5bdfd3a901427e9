//! Checks that the composition of abstract threads does not go wrong.
//!
//! This is shown by a proof about the composition as a program, or by an invariant over the variables and the
//! numbers of threads in each state. The latter suffices if the specification does not mention ids of
//! threads: threads in the same state then have the same future.

use super::{follows, untranslatable};
use crate::ProofError;
use crate::ready::claim;
use indexmap::{IndexMap, IndexSet};
use ir::composition::compose;
use ir::specification::Specification;
use ir::{Count, Program};
use smt::{Instance, Term, Variable};
use transitions::specification::{Meaning, before, population};
use verdict::{Budget, Check, Composition};

pub(super) fn check(
    specification: &Specification,
    program: &Program,
    proof: &Composition,
    budget: &Budget,
) -> Result<(), ProofError> {
    match proof {
        Composition::Program(inner) => {
            let composition = compose(specification, program);
            crate::check_proof(&composition.into(), &Check::Assertions.property(), inner, budget)
        }
        Composition::Counting(invariant) => check_counting(specification, program, invariant, budget),
    }
}

fn check_counting(
    specification: &Specification,
    program: &Program,
    invariant: &Term,
    budget: &Budget,
) -> Result<(), ProofError> {
    claim(!specification.names_threads(), "threads are counted only where their ids do not matter")?;
    let meaning = Meaning::plain(specification);
    let in_range: Vec<Term> = meaning.ranges().map(|(_, range)| range).collect();
    let start = specification.start_condition(program);
    let mut initial = in_range.clone();
    initial.push(meaning.condition(&start).map_err(untranslatable)?);
    let mut numbers: IndexSet<Variable> = IndexSet::new();
    for (number, thread) in specification.threads.iter().enumerate() {
        let mut started = Vec::new();
        for (state, what) in thread.states.iter().enumerate() {
            let here = population(number, state, &what.name);
            if thread.initial.contains(&state) {
                initial.push(here.term().at_least(&Term::int(0)));
                started.push(here.term());
            } else {
                initial.push(here.term().equals(&Term::int(0)));
            }
            claim(numbers.insert(here), "states are different")?;
        }
        if let Count::Exactly(copies) = thread.count {
            initial.push(Term::sum(started).equals(&Term::int(i128::from(copies))));
        }
    }
    let variables: IndexSet<&Variable> = meaning.variables().collect();
    let apart = variables.iter().all(|variable| !numbers.contains(*variable));
    let known = |variable: &Variable| variables.contains(variable) || numbers.contains(variable);
    claim(apart && invariant.free_variables().iter().all(known), "only what there is is spoken of")?;
    follows(&initial, invariant, "the invariant holds at the start", budget)?;
    let mut before_step = in_range;
    before_step.push(invariant.clone());
    before_step.extend(numbers.iter().map(|number| number.term().at_least(&Term::int(0))));
    for (number, thread) in specification.threads.iter().enumerate() {
        let here = |state: usize| population(number, state, &thread.states[state].name);
        for (state, what) in thread.states.iter().enumerate() {
            let asserted = meaning.condition(&what.assertion).map_err(untranslatable)?;
            let right = here(state).term().at_least(&Term::int(1)).implies(&asserted);
            follows(&before_step, &right, "no thread is where its assertion does not hold", budget)?;
        }
        for transition in &thread.transitions {
            let after = |variable: &Variable| variable.instance(Instance::After);
            // The variables stand for old values; new values have separate names.
            let mut replace: IndexMap<Variable, Term> = IndexMap::new();
            let mut new: IndexMap<Variable, Term> = IndexMap::new();
            let mut facts = before_step.clone();
            for (variable, range) in meaning.ranges() {
                replace.insert(before(variable), variable.term());
                replace.insert(variable.clone(), after(variable).term());
                new.insert(variable.clone(), after(variable).term());
                facts.push(range.rename(|_| Some(after(variable))));
            }
            let step = meaning.transition(transition).map_err(untranslatable)?;
            facts.push(step.substitute(&replace));
            let (from, to) = (here(transition.source), here(transition.target));
            facts.push(from.term().at_least(&Term::int(1)));
            if from != to {
                new.insert(from.clone(), from.term().minus(&Term::int(1)));
                new.insert(to.clone(), to.term().plus(&Term::int(1)));
            }
            follows(&facts, &invariant.substitute(&new), "a transition keeps the invariant", budget)?;
        }
    }
    Ok(())
}
