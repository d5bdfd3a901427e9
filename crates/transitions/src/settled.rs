//! Threads without their start: where a program only starts its threads at first, they are there from the beginning.
//!
//! Over-approximates: every execution of the program is one of the result, except for what was done before.
//! * As long as there is one thread, and the values that it needs are known, it runs alone: the result starts behind that.
//! * A thread that is started in one place only, with known values, may as well be there from the beginning and wait. This is done only where what its starter does before touches
//!   nothing that others do, so that little is lost.

use crate::system::System;
use crate::threads::{ThreadNumber, ThreadStep, Threads, literals};
use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use smt::{Operation, Term, Variable};

/// No run is followed longer than this.
const LONGEST: usize = 1_000;

impl Threads {
    /// The variables that a step reads.
    pub fn reads(step: &ThreadStep) -> IndexSet<Variable> {
        let terms = step.updates.values().chain([&step.guard]);
        terms.flat_map(Term::free_variables).filter(|variable| !step.inputs.contains(variable)).collect()
    }

    /// The variables that a thread has for itself. Once it was started only its own steps change them.
    pub fn own_variables(&self, system: &System<'_>, thread: ThreadNumber) -> IndexSet<Variable> {
        let template = self.threads[thread].template;
        system.own[template].iter().map(|own| crate::threads::named(&own.variable, thread)).collect()
    }

    /// Makes threads be there from the beginning, as far as that loses little.
    pub fn settle(&mut self, system: &System<'_>) {
        self.run_alone(system);
        let starter = self.threads.iter().position(|thread| thread.at_start);
        let Some(starter) = starter else { return };
        let mut location = self.threads[starter].entry;
        for _ in 0..LONGEST {
            // Who has a choice here may do something else first.
            let [step] = self.threads[starter].steps[location].as_slice() else { return };
            let step = step.clone();
            for child in step.starts.clone() {
                if !self.start_early(system, starter, location, child) {
                    return;
                }
            }
            let Some(rest) = self.threads[starter].steps[location].first() else { return };
            if rest.updates.keys().any(|variable| self.is_touched_by_another(starter, variable)) {
                return;
            }
            location = step.target;
        }
    }

    fn is_touched_by_another(&self, thread: ThreadNumber, variable: &Variable) -> bool {
        let others = self.threads.iter().enumerate().filter(|(number, _)| *number != thread);
        others.flat_map(|(_, other)| other.steps.iter().flatten()).any(|step| {
            step.updates.contains_key(variable) || Self::reads(step).contains(variable)
        })
    }

    /// Makes a thread be there from the beginning that a step at a location starts; says whether that was done.
    fn start_early(
        &mut self,
        system: &System<'_>,
        starter: ThreadNumber,
        location: LocationId,
        child: ThreadNumber,
    ) -> bool {
        let starts = self.threads.iter().flat_map(|thread| thread.steps.iter().flatten());
        if child == starter || starts.filter(|step| step.starts.contains(&child)).count() != 1 {
            return false;
        }
        let own = self.own_variables(system, child);
        let step = &self.threads[starter].steps[location][0];
        let values: Vec<(Variable, Term)> = step
            .updates
            .iter()
            .filter(|(variable, _)| own.contains(*variable))
            .map(|(variable, value)| (variable.clone(), value.clone()))
            .collect();
        if !values.iter().all(|(_, value)| value.is_literal()) {
            return false;
        }
        let facts = values.iter().map(|(variable, value)| variable.term().equals(value));
        self.initial = Term::all([self.initial.clone()].into_iter().chain(facts));
        let step = &mut self.threads[starter].steps[location][0];
        step.updates.retain(|variable, _| !own.contains(variable));
        step.starts.retain(|other| *other != child);
        self.threads[child].at_start = true;
        true
    }

    /// Lets the one thread that there is at first run as long as it is alone.
    fn run_alone(&mut self, _: &System<'_>) {
        let mut first = self.threads.iter().enumerate().filter(|(_, thread)| thread.at_start);
        let (Some((alone, _)), None) = (first.next(), first.next()) else { return };
        let mut facts: Vec<Term> = conjuncts(&self.initial);
        for _ in 0..LONGEST {
            let mut known = IndexMap::new();
            literals(&Term::all(facts.iter().cloned()), &mut known);
            let possible = self.threads[alone].steps[self.threads[alone].entry].iter();
            let mut possible = possible.filter(|step| !step.guard.substitute(&known).is_false());
            let (Some(step), None) = (possible.next(), possible.next()) else { break };
            let Some(after) = after(step, &known, &facts) else { break };
            let target = step.target;
            // A circle would not end, and what comes here again is not the first time any more.
            facts = after;
            self.threads[alone].entry = target;
        }
        self.initial = Term::all(facts);
    }
}

fn conjuncts(formula: &Term) -> Vec<Term> {
    match formula.operation() {
        Operation::And => formula.operands().iter().flat_map(conjuncts).collect(),
        _ => vec![formula.clone()],
    }
}

/// What holds after a step that must be taken, given what holds before. Nothing if that is not easy to say.
fn after(step: &ThreadStep, known: &IndexMap<Variable, Term>, facts: &[Term]) -> Option<Vec<Term>> {
    if !step.starts.is_empty() {
        return None;
    }
    // An input that becomes the value of one variable stands for that variable.
    let mut renamed: IndexMap<Variable, Term> = IndexMap::new();
    let mut new = Vec::new();
    for (variable, value) in &step.updates {
        let value = value.substitute(known);
        if value.is_literal() {
            new.push(variable.term().equals(&value));
            continue;
        }
        let input = value.as_variable().filter(|input| step.inputs.contains(input))?;
        if renamed.insert(input, variable.term()).is_some() {
            return None;
        }
    }
    let guard = step.guard.substitute(known);
    let speaks_of_the_past =
        guard.free_variables().iter().any(|variable| !renamed.contains_key(variable));
    if speaks_of_the_past {
        return None;
    }
    let kept = facts.iter().filter(|fact| {
        fact.free_variables().iter().all(|variable| !step.updates.contains_key(variable))
    });
    let mut result: Vec<Term> = kept.cloned().collect();
    result.extend(new);
    result.push(guard.substitute(&renamed));
    Some(result)
}
