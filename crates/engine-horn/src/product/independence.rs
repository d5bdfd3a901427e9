//! Which steps of two threads commute.
//!
//! Two steps are *independent* if, from every state, taking one and then the other leads to the same states
//! as in the other order, and neither makes the other possible or impossible. Under-approximates: what is
//! found here is so.
//!
//! * A step that enters an atomic region is independent of none.
//! * If neither writes what the other reads or writes, they are independent.
//! * Else the solver is asked: with the inputs of both fixed, both orders are possible from the same states,
//!   and end in the same state.

use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use rustc_hash::FxHashMap;
use smt::{Answer, Term, Variable};
use std::time::Duration;
use transitions::System;
use transitions::threads::{ThreadNumber, ThreadStep, Threads};
use verdict::Budget;

/// The solver gets this long for one pair.
const PATIENCE: Duration = Duration::from_millis(200);

/// Answers which steps are independent, each question once.
pub struct Independence<'a> {
    system: &'a System<'a>,
    threads: &'a Threads,
    budget: &'a Budget,
    /// By thread and location of both: whether all steps there are independent.
    known: FxHashMap<[(ThreadNumber, LocationId); 2], Vec<Vec<bool>>>,
}

/// The variables that a step reads.
fn reads(step: &ThreadStep) -> IndexSet<Variable> {
    let mut found: IndexSet<Variable> = step.guard.free_variables().into_iter().collect();
    for (variable, value) in &step.updates {
        // A map with one more element is changed, and read where it is not.
        found.extend(value.free_variables());
        if value.as_variable().as_ref() == Some(variable) {
            found.swap_remove(variable);
        }
    }
    found
}

fn disjoint(a: &ThreadStep, b: &ThreadStep) -> bool {
    let writes_what_the_other_sees = |one: &ThreadStep, other: &ThreadStep| {
        let seen = reads(other);
        one.updates.keys().any(|variable| seen.contains(variable) || other.updates.contains_key(variable))
    };
    !writes_what_the_other_sees(a, b) && !writes_what_the_other_sees(b, a)
}

/// That taking `first` and then `second` is possible, and what it makes of each variable.
fn in_order(first: &ThreadStep, second: &ThreadStep) -> (Term, IndexMap<Variable, Term>) {
    let guard = first.guard.and(&second.guard.substitute(&first.updates));
    let mut updates = first.updates.clone();
    for (variable, value) in &second.updates {
        updates.insert(variable.clone(), value.substitute(&first.updates));
    }
    (guard, updates)
}

/// The formula that says that two steps commute: if it can fail they may not.
pub fn commutes(a: &ThreadStep, b: &ThreadStep) -> Term {
    let ((one, after_one), (other, after_other)) = (in_order(a, b), in_order(b, a));
    let mut same = vec![one.implies(&other), other.implies(&one)];
    for variable in after_one.keys().chain(after_other.keys()) {
        let here = |after: &IndexMap<Variable, Term>| {
            after.get(variable).cloned().unwrap_or_else(|| variable.term())
        };
        same.push(one.implies(&here(&after_one).equals(&here(&after_other))));
    }
    Term::all(same)
}

impl<'a> Independence<'a> {
    /// For the threads of a product.
    pub fn new(system: &'a System<'a>, threads: &'a Threads, budget: &'a Budget) -> Self {
        Self { system, threads, budget, known: FxHashMap::default() }
    }

    /// Whether a step (the given one of those at its location) is independent of all that another thread may
    /// do at a location.
    pub fn of_all_at(
        &mut self,
        step: (ThreadNumber, LocationId, usize),
        other: (ThreadNumber, LocationId),
    ) -> bool {
        let (thread, location, index) = step;
        let key = [(thread, location), other];
        if !self.known.contains_key(&key) {
            let table = self.table(key);
            self.known.insert(key, table);
        }
        self.known[&key][index].iter().all(|independent| *independent)
    }

    fn table(&mut self, key: [(ThreadNumber, LocationId); 2]) -> Vec<Vec<bool>> {
        let [(thread, location), (other, at)] = key;
        let mine = &self.threads.threads[thread].steps[location];
        let others = &self.threads.threads[other].steps[at];
        mine.iter().map(|a| others.iter().map(|b| self.independent(a, b)).collect()).collect()
    }

    fn independent(&self, a: &ThreadStep, b: &ThreadStep) -> bool {
        // A step that enters an atomic region prevents others from running.
        let enters = |step: &ThreadStep| self.threads.is_atomic(self.system, step.thread, step.target);
        if (!a.starts.is_empty() && !b.starts.is_empty()) || enters(a) || enters(b) {
            return false;
        }
        disjoint(a, b) || self.solver_says(a, b)
    }

    fn solver_says(&self, a: &ThreadStep, b: &ThreadStep) -> bool {
        let ranges = Term::all(self.threads.variables.values().cloned());
        let formula = ranges.implies(&commutes(a, b));
        let budget = self.budget.patient_for(PATIENCE);
        matches!(smt::can_fail(&formula, &budget), Answer::Unsat)
    }
}
