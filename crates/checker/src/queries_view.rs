//! The threads that a proof by environment queries is about, what they read and write, and which variables
//! such a proof may contain.

use crate::ProofError;
use crate::names::speaks_only_of;
use crate::ready::claim;
use indexmap::{IndexMap, IndexSet};
use ir::TemplateId;
use smt::{Instance, Term, Variable};
use transitions::System;
use transitions::early_started::EarlyStarted;
use transitions::threads::{ThreadStep, Threads};
use verdict::queries::{BEFORE_START, Places, kept, old, place, strip_old};
use verdict::{QueriesClaim, QueriesPart};

/// A thread.
pub(crate) struct Thread {
    pub(crate) template: TemplateId,
    pub(crate) steps: Vec<Vec<ThreadStep>>,
    pub(crate) entry: usize,
    pub(crate) at_start: bool,
    /// Locations at which only this thread runs, or may as well run alone; never its first location.
    pub(crate) atomic: Vec<bool>,
    /// Its own variables.
    pub(crate) own: IndexSet<Variable>,
}

/// The threads of a program, which start early where they may.
pub(crate) struct View {
    pub(crate) threads: Vec<Thread>,
    /// What holds at the start.
    pub(crate) initial: Term,
    /// All variables, with what always holds of them.
    pub(crate) variables: IndexMap<Variable, Term>,
}

impl View {
    pub(crate) fn new(system: &System<'_>, threads: Threads) -> Result<Self, ProofError> {
        let threads = EarlyStarted::new(threads, system).threads;
        let mut variables = threads.variables.clone();
        let mut initial = vec![threads.initial.clone()];
        let mut found = Vec::new();
        let cuts = threads.cut_points(system);
        for (number, thread) in threads.threads.iter().enumerate() {
            let first = if thread.at_start { i128::from(thread.entry.0) } else { BEFORE_START };
            initial.push(place(number).term().equals(&Term::int(first)));
            variables.insert(place(number), Term::bool(true));
            found.push(Thread {
                template: thread.template,
                steps: thread.steps.iter().cloned().collect(),
                entry: thread.entry.0 as usize,
                at_start: thread.at_start,
                // Errors are visible to all threads. The initial state is a cut-point state, and so is one in
                // which a thread was just started: first locations are never such locations.
                atomic: cuts[number].iter().map(|cut| !cut).collect(),
                own: threads.own_variables(system, number),
            });
        }
        let view = Self { threads: found, initial: Term::all(initial), variables };
        view.check_own()?;
        Ok(view)
    }

    /// Only steps that start a thread write its own variables, and no step starts a thread that runs from the
    /// beginning.
    fn check_own(&self) -> Result<(), ProofError> {
        for (number, thread) in self.threads.iter().enumerate() {
            for step in thread.steps.iter().flatten() {
                for (other, owner) in self.threads.iter().enumerate().filter(|(other, _)| *other != number) {
                    let writes = step.updates.keys().any(|variable| owner.own.contains(variable));
                    let starts = step.starts.contains(&other);
                    claim(!writes || starts, "what a thread has for itself is its own")?;
                    claim(!starts || !owner.at_start, "a thread starts once")?;
                }
            }
        }
        Ok(())
    }

    /// What always holds of a variable, or of one that has its old value.
    pub(crate) fn range(&self, variable: &Variable) -> Option<Term> {
        if let Some(range) = self.variables.get(variable) {
            return Some(range.clone());
        }
        let now = variable.without(Instance::Old)?;
        self.variables.get(&now).map(|range| range.rename(|_| Some(variable.clone())))
    }

    pub(crate) fn written_by(&self, threads: &[usize]) -> IndexSet<Variable> {
        let mut found = IndexSet::new();
        for number in threads {
            found.insert(place(*number));
            for step in self.threads[*number].steps.iter().flatten() {
                found.extend(step.updates.keys().cloned());
                found.extend(step.starts.iter().map(|child| place(*child)));
            }
        }
        found
    }

    /// The variables that some threads read, including their places.
    pub(crate) fn read_by(&self, threads: &[usize]) -> IndexSet<Variable> {
        let mut found = IndexSet::new();
        for number in threads {
            found.insert(place(*number));
            for step in self.threads[*number].steps.iter().flatten() {
                found.extend(step.reads());
            }
        }
        found
    }

    /// Checks that a part contains only variables, old values where there are any, and constants.
    pub(crate) fn check_names(&self, part: &QueriesPart) -> Result<(), ProofError> {
        let old_values: IndexSet<Variable> = self.variables.keys().map(old).collect();
        let positions = 0..part.order.len();
        let kept_values: IndexSet<Variable> =
            positions.flat_map(|position| self.variables.keys().map(move |v| kept(v, position))).collect();
        let check = |formula: &Term, with_old: bool| {
            let known = |variable: &Variable| {
                self.variables.contains_key(variable)
                    || kept_values.contains(variable)
                    || (with_old && old_values.contains(variable))
            };
            speaks_only_of(formula, known, "a claim")
        };
        of_places(&part.main).try_for_each(|formula| check(formula, false))?;
        for said in part.claims.iter().flatten() {
            check(&said.before, false)?;
            check(&said.after, true)?;
            of_places(&said.reachable).try_for_each(|formula| check(formula, false))?;
            of_places(&said.moving).try_for_each(|formula| check(formula, true))?;
        }
        Ok(())
    }

    /// Checks that the order has each thread at most once, and that threads outside of it do not matter.
    pub(crate) fn check_order(&self, part: &QueriesPart) -> Result<(), ProofError> {
        let count = self.threads.len();
        let inside: IndexSet<usize> = part.order.iter().copied().collect();
        let fits = inside.len() == part.order.len() && !part.order.is_empty();
        claim(fits && inside.iter().all(|thread| *thread < count), "the order has threads of the program")?;
        claim(
            part.errors.iter().all(|(thread, _)| inside.contains(thread)),
            "threads with errors are in the order",
        )?;
        let outside: Vec<usize> = (0..count).filter(|thread| !inside.contains(thread)).collect();
        let written = self.written_by(&outside);
        claim(
            self.read_by(&part.order).is_disjoint(&written),
            "what is read is written by threads of the order",
        )?;
        let mut spoken: IndexSet<Variable> = of_places(&part.main).flat_map(Term::free_variables).collect();
        for said in part.claims.iter().flatten() {
            spoken.extend(speaks_of(said));
            let formulas = of_places(&said.reachable).chain(of_places(&said.moving));
            spoken.extend(formulas.flat_map(Term::free_variables).map(strip_old));
        }
        claim(spoken.is_disjoint(&written), "what is spoken of is written by threads of the order")
    }
}

fn of_places(places: &Places) -> impl Iterator<Item = &Term> {
    places.at.iter().chain([&places.before_start]).flatten()
}

/// The variables that a claim is about.
pub(crate) fn speaks_of(said: &QueriesClaim) -> IndexSet<Variable> {
    let named = said.before.free_variables().into_iter().chain(said.after.free_variables());
    named.map(strip_old).collect()
}
