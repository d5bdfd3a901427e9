//! The threads of a program, what they read and write, and their hierarchy.

use crate::post::facts_of;
use crate::simplify::normal;
use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use sequential::Step;
use smt::{Questions, Term, Variable};
use std::cell::RefCell;
use transitions::System;
use transitions::early_started::EarlyStarted;
use transitions::threads::ThreadNumber;
use verdict::queries::{BEFORE_START, place};

/// After so many questions a new solver is taken: most of what the old one has learnt is about other
/// formulas.
const QUESTIONS: usize = 200;

/// A thread of the model.
#[derive(Clone, Debug)]
pub struct ModelThread {
    /// Its steps; nodes are locations.
    pub steps: Vec<Step>,
    /// For each step its place among those of the transitions.
    pub names: Vec<(LocationId, usize)>,
    /// How many locations it has.
    pub locations: usize,
    /// Where it starts.
    pub entry: usize,
    /// Whether it runs from the beginning.
    pub at_start: bool,
    /// Locations at which only this thread runs, and that are no errors: those in atomic regions, and those
    /// that locks keep quiet ([`transitions::quiet`]). Its first location never is one.
    pub atomic: Vec<bool>,
    /// Locations that must not be reached.
    pub errors: Vec<usize>,
    /// What it has for itself.
    pub own: IndexSet<Variable>,
    /// The variables that its steps read. Places of threads are not among them.
    pub reads: IndexSet<Variable>,
    /// The variables that its steps write, the places of threads among them.
    pub writes: IndexSet<Variable>,
}

/// The threads of a program.
pub struct Model {
    /// The threads.
    pub threads: Vec<ModelThread>,
    /// What holds at the beginning: of the places of threads, too.
    pub initial: Term,
    /// All variables, with what always holds of them.
    pub variables: IndexMap<Variable, Term>,
    /// What always holds, fact by fact.
    ranges: IndexSet<Term>,
    /// For questions about formulas over the variables.
    pub questions: RefCell<Questions>,
}

impl Model {
    /// The model of threads that start early.
    pub fn new(system: &System<'_>, early: &EarlyStarted) -> Self {
        let all = &early.threads;
        let mut variables = all.variables.clone();
        let mut initial = vec![all.initial.clone()];
        let mut threads = Vec::new();
        let cuts = all.cut_points(system);
        for (number, thread) in all.threads.iter().enumerate() {
            variables.insert(place(number), Term::bool(true));
            let first = if thread.at_start { i128::from(thread.entry.0) } else { BEFORE_START };
            initial.push(place(number).term().equals(&Term::int(first)));
            let mut found = ModelThread {
                steps: Vec::new(),
                names: Vec::new(),
                locations: thread.steps.len(),
                entry: thread.entry.0 as usize,
                at_start: thread.at_start,
                // Who is at an error is seen there. At the start, or when a thread is started, others may
                // run: even if what was done before stopped in an atomic region.
                atomic: cuts[number].iter().map(|cut| !cut).collect(),
                errors: thread
                    .steps
                    .ids()
                    .filter(|at| all.is_error(system, number, *at))
                    .map(|at| at.0 as usize)
                    .collect(),
                own: all.own_variables(system, number),
                reads: IndexSet::new(),
                writes: IndexSet::new(),
            };
            for (location, steps) in thread.steps.enumerate() {
                for (index, step) in steps.iter().enumerate() {
                    let mut updates = step.updates.clone();
                    updates.insert(place(number), Term::int(i128::from(step.target.0)));
                    for child in &step.starts {
                        updates.insert(place(*child), Term::int(i128::from(all.threads[*child].entry.0)));
                    }
                    found.reads.extend(step.reads());
                    found.writes.extend(updates.keys().cloned());
                    found.names.push((location, index));
                    found.steps.push(Step {
                        source: step.source.0 as usize,
                        target: step.target.0 as usize,
                        guard: step.guard.clone(),
                        updates,
                        inputs: step.inputs.clone(),
                    });
                }
            }
            threads.push(found);
        }
        let ranges = variables.values().flat_map(|range| facts_of(&normal(range))).collect();
        Self {
            threads,
            initial: Term::all(initial),
            variables,
            ranges,
            questions: RefCell::new(Questions::renewed_after(QUESTIONS)),
        }
    }

    /// Whether a fact in normal form is one that always holds.
    pub fn is_range(&self, fact: &Term) -> bool {
        fact.is_true() || self.ranges.contains(fact)
    }

    /// What some threads write.
    pub fn written_by(&self, threads: &[ThreadNumber]) -> IndexSet<Variable> {
        threads.iter().flat_map(|thread| self.threads[*thread].writes.iter().cloned()).collect()
    }
    /// What some threads read, where they are included.
    pub fn read_by(&self, threads: &[ThreadNumber]) -> IndexSet<Variable> {
        let read = threads.iter().flat_map(|thread| self.threads[*thread].reads.iter().cloned());
        read.chain(threads.iter().map(|thread| place(*thread))).collect()
    }

    /// The threads that matter for the errors of some, in the order of the hierarchy: first the main thread,
    /// then such that others before them depend on.
    ///
    /// A thread that writes nothing that one in the list reads is not in it.
    pub fn hierarchy(&self, main: ThreadNumber, with_errors: &[ThreadNumber]) -> Vec<ThreadNumber> {
        // Depth first, the last to be finished comes first: after all threads that depend on it, where there
        // is no circle.
        let mut finished = Vec::new();
        let mut seen = vec![false; self.threads.len()];
        let roots = with_errors.iter().rev().copied().chain([main]).collect::<Vec<_>>();
        for root in roots.into_iter().rev() {
            self.finish(root, &mut seen, &mut finished);
        }
        let mut order: Vec<ThreadNumber> = finished.into_iter().rev().collect();
        order.retain(|thread| *thread != main);
        order.insert(0, main);
        order
    }

    fn finish(&self, thread: ThreadNumber, seen: &mut [bool], finished: &mut Vec<ThreadNumber>) {
        if std::mem::replace(&mut seen[thread], true) {
            return;
        }
        let reads = self.read_by(&[thread]);
        for other in (0..self.threads.len()).rev() {
            if other != thread && self.threads[other].writes.iter().any(|variable| reads.contains(variable)) {
                self.finish(other, seen, finished);
            }
        }
        finished.push(thread);
    }
}
