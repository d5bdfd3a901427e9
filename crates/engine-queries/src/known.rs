//! Facts about a thread that need no query: constants at places (paper 5, sections 4.3 and 6.1, use such an
//! analysis, too).
//!
//! Exact: considers only variables that no other thread writes. The results are claimed of the thread, as
//! their own proof, and suggested to the model checker.

use crate::model::Model;
use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use smt::{Term, Variable};
use transitions::constants::{Values, propagate};
use transitions::threads::{ThreadNumber, literals};
use verdict::QueriesClaim;
use verdict::queries::{BEFORE_START, Places, place};

/// A claim is made if it has at most so many parts: values of variables at places.
const MOST_PARTS: usize = 48;

/// What is known of the thread at a position of the hierarchy.
pub struct Known {
    thread: ThreadNumber,
    /// The values at each location; `None` where it never is.
    values: Vec<Option<Values>>,
    /// The values at first.
    first: Values,
    /// Variables that others of the hierarchy read, and that have a known value at each place.
    decided: IndexSet<Variable>,
}

fn facts(values: &Values) -> Vec<Term> {
    values.iter().map(|(variable, value)| variable.term().equals(value)).collect()
}

impl Known {
    /// Looks at the thread at a position.
    pub fn new(model: &Model, order: &[ThreadNumber], position: usize) -> Self {
        let number = order[position];
        let thread = &model.threads[number];
        let others: Vec<ThreadNumber> = (0..model.threads.len()).filter(|other| *other != number).collect();
        let written = model.written_by(&others);
        let is_own = |variable: &Variable| thread.writes.contains(variable) && !written.contains(variable);
        let mut first = IndexMap::new();
        literals(&model.initial, &mut first);
        first.retain(|variable, _| is_own(variable) && *variable != place(number));
        let steps = |location: LocationId| {
            let here = thread.steps.iter().filter(move |step| step.source == location.0 as usize);
            here.map(|step| (&step.guard, &step.updates, LocationId(step.target as u32))).collect()
        };
        let kept = |variable: &Variable| is_own(variable) && *variable != place(number);
        let values = propagate(thread.locations, LocationId(thread.entry as u32), first.clone(), steps, kept);
        let values: Vec<Option<Values>> = values.iter().cloned().collect();
        let readers: Vec<ThreadNumber> = order.iter().copied().filter(|other| *other != number).collect();
        let read = model.read_by(&readers);
        let is_decided = |variable: &&Variable| {
            read.contains(*variable) && values.iter().flatten().all(|values| values.contains_key(*variable))
        };
        let decided = first.keys().filter(is_decided).cloned().collect();
        Self { thread: number, values, first, decided }
    }

    /// What holds at each place.
    pub fn places(&self, model: &Model) -> impl Iterator<Item = Vec<Term>> {
        let before = (!model.threads[self.thread].at_start).then(|| facts(&self.first));
        self.values.iter().map(|values| values.as_ref().map(facts).unwrap_or_default()).chain(before)
    }

    /// What is claimed: where the thread is and the values of variables always fit.
    pub fn claim(&self, model: &Model) -> Option<QueriesClaim> {
        let thread = &model.threads[self.thread];
        let of = |values: &Values| {
            let decided = values.iter().filter(|(variable, _)| self.decided.contains(*variable));
            Term::all(decided.map(|(variable, value)| variable.term().equals(value)))
        };
        let here = |number: i128| place(self.thread).term().equals(&Term::int(number));
        let mut states: Vec<Term> = Vec::new();
        for (at, values) in self.values.iter().enumerate().filter(|(at, _)| !thread.atomic[*at]) {
            states.extend(values.iter().map(|values| here(at as i128).and(&of(values))));
        }
        let starts = (!thread.at_start).then(|| here(BEFORE_START).and(&of(&self.first)));
        states.extend(starts);
        if self.decided.is_empty() || states.len() * self.decided.len() > MOST_PARTS {
            return None;
        }
        // Values that nobody asks for may be why others are known.
        let all = |values: &Values| Term::all(facts(values));
        let before_start = (!thread.at_start).then(|| all(&self.first));
        let at = self.values.iter().map(|values| Some(values.as_ref().map_or(Term::bool(false), all)));
        let places = Places { at: at.collect(), before_start };
        Some(QueriesClaim {
            before: Term::bool(true),
            after: Term::any(states).not(),
            reachable: places.clone(),
            moving: places,
        })
    }
}
