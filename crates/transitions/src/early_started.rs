//! Early starts: if a program first initialises itself and then starts its threads, these may be taken to run
//! from the beginning.
//!
//! Over-approximates: every execution of the program, without its initialisation, is an execution of the
//! result; in the result, a thread may run before its start.
//! * As long as there is only one thread, it runs alone. If its effects are simple, the result starts after
//!   them.
//! * A thread that is started in only one place, with known values, may as well run from the beginning. This
//!   is done only if the earlier steps of its starter touch nothing that others touch, so that little
//!   precision is lost.

use crate::system::System;
use crate::threads::{ThreadNumber, ThreadStep, Threads, literals};
use indexmap::{IndexMap, IndexSet};
use ir::{EdgeId, LocationId};
use smt::visit::conjuncts;
use smt::{Operation, Term, Variable};

/// The longest initialisation that is followed.
const LONGEST: usize = 1_000;
/// The most paths of the initialisation.
const MOST_PATHS: usize = 8;

/// The result: threads that run from the beginning.
#[derive(Clone, Debug)]
pub struct EarlyStarted {
    /// The threads, and how they start.
    pub threads: Threads,
    /// The steps of the initialisation, and steps that no thread notices: for schedules only.
    pub before: Vec<Before>,
}

/// A step of the initialisation.
#[derive(Clone, Debug)]
pub struct Before {
    /// The thread that takes it.
    pub thread: ThreadNumber,
    /// The edges that it takes, in order.
    pub edges: Vec<EdgeId>,
    /// The threads that it starts.
    pub starts: Vec<ThreadNumber>,
    /// For each of its inputs, the variable that holds its value.
    pub inputs: Vec<Option<Variable>>,
    /// Whether it is also a step of the result.
    pub stays: bool,
}

/// A path of the initialisation.
#[derive(Clone)]
struct SetupPath {
    location: LocationId,
    facts: Vec<Term>,
    before: Vec<Before>,
}

impl ThreadStep {
    /// The variables that the step reads.
    pub fn reads(&self) -> IndexSet<Variable> {
        let terms = self.updates.values().chain([&self.guard]);
        terms.flat_map(Term::free_variables).filter(|variable| !self.inputs.contains(variable)).collect()
    }
}

impl Threads {
    /// The own variables of a thread. After its start, only its own steps change them.
    pub fn own_variables(&self, system: &System<'_>, thread: ThreadNumber) -> IndexSet<Variable> {
        let template = self.threads[thread].template;
        system.own[template].iter().map(|own| crate::threads::named(&own.variable, thread)).collect()
    }
}

impl EarlyStarted {
    /// Starts threads early, as far as that loses little precision.
    pub fn new(threads: Threads, system: &System<'_>) -> Self {
        let mut result = Self { threads, before: Vec::new() };
        result.run_alone(system);
        result.start_early(system);
        result
    }

    /// Runs the first thread as long as it is alone.
    fn run_alone(&mut self, system: &System<'_>) {
        let mut first = self.threads.threads.iter().enumerate().filter(|(_, thread)| thread.at_start);
        let (Some((alone, thread)), None) = (first.next(), first.next()) else { return };
        let start =
            SetupPath { location: thread.entry, facts: conjuncts(&self.threads.initial), before: Vec::new() };
        let mut open = vec![start];
        let mut done: Vec<SetupPath> = Vec::new();
        let mut steps = 0;
        while let Some(path) = open.pop() {
            steps += 1;
            if steps > LONGEST || open.len() + done.len() > MOST_PATHS {
                return;
            }
            let stays = self.threads.is_error(system, alone, path.location);
            match continuations(&thread.steps[path.location], &path, alone).filter(|_| !stays) {
                Some(next) => open.extend(next),
                None => done.push(path),
            }
        }
        let Some(first) = done.first() else { return };
        if done.iter().any(|path| path.location != first.location) {
            return;
        }
        let location = first.location;
        self.before = first.before.clone();
        self.threads.initial = Term::any(done.iter().map(|path| Term::all(path.facts.iter().cloned())));
        self.threads.threads[alone].entry = location;
        self.forget_what_was_done(alone);
    }

    /// Removes the steps of a thread at locations that it no longer reaches.
    fn forget_what_was_done(&mut self, thread: ThreadNumber) {
        let thread = &mut self.threads.threads[thread];
        let mut reached: IndexSet<LocationId> = IndexSet::from([thread.entry]);
        let mut at = 0;
        while at < reached.len() {
            let targets: Vec<LocationId> = thread.steps[reached[at]].iter().map(|step| step.target).collect();
            reached.extend(targets);
            at += 1;
        }
        let done: Vec<LocationId> =
            thread.steps.ids().filter(|location| !reached.contains(location)).collect();
        done.into_iter().for_each(|location| thread.steps[location].clear());
    }

    /// Starts the threads early that the first one starts.
    fn start_early(&mut self, system: &System<'_>) {
        let Some(starter) = self.threads.threads.iter().position(|thread| thread.at_start) else { return };
        let mut location = self.threads.threads[starter].entry;
        let mut quiet = Vec::new();
        for _ in 0..LONGEST {
            // With a choice here, the thread may do something else first.
            let [step] = self.threads.threads[starter].steps[location].as_slice() else { return };
            let step = step.clone();
            let here = Before {
                thread: starter,
                edges: step.edges.clone(),
                starts: step.starts.clone(),
                inputs: vec![None; step.inputs.len()],
                stays: true,
            };
            quiet.push(here);
            for child in &step.starts {
                if !self.start_one_early(system, (starter, location), *child) {
                    return;
                }
                self.before.append(&mut quiet);
            }
            let Some(rest) = self.threads.threads[starter].steps[location].first() else { return };
            if rest.updates.keys().any(|variable| self.is_touched_by_another(starter, variable)) {
                return;
            }
            location = step.target;
        }
    }

    fn is_touched_by_another(&self, thread: ThreadNumber, variable: &Variable) -> bool {
        let others = self.threads.threads.iter().enumerate().filter(|(number, _)| *number != thread);
        let mut steps = others.flat_map(|(_, other)| other.steps.iter().flatten());
        steps.any(|step| step.updates.contains_key(variable) || step.reads().contains(variable))
    }

    /// Starts a thread early that the only step of another at a location starts; says whether that was done.
    fn start_one_early(
        &mut self,
        system: &System<'_>,
        starter: (ThreadNumber, LocationId),
        child: ThreadNumber,
    ) -> bool {
        let all = self.threads.threads.iter().flat_map(|thread| thread.steps.iter().flatten());
        let starts = all.filter(|step| step.starts.contains(&child)).count();
        if child == starter.0 || starts != 1 || self.threads.threads[child].at_start {
            return false;
        }
        let own = self.threads.own_variables(system, child);
        let step = &mut self.threads.threads[starter.0].steps[starter.1][0];
        let given = step.updates.iter().filter(|(variable, _)| own.contains(*variable));
        let facts: Vec<Term> = given.clone().map(|(variable, value)| variable.term().equals(value)).collect();
        if !{ given }.all(|(_, value)| value.is_literal()) {
            return false;
        }
        step.updates.retain(|variable, _| !own.contains(variable));
        step.starts.retain(|other| *other != child);
        self.threads.initial = Term::all([self.threads.initial.clone()].into_iter().chain(facts));
        self.threads.threads[child].at_start = true;
        true
    }
}

/// The continuations of a path of a thread that runs alone. `None` when it ends here: there is no step, a
/// step starts a thread, or its effect is not simple.
fn continuations(steps: &[ThreadStep], path: &SetupPath, thread: ThreadNumber) -> Option<Vec<SetupPath>> {
    let mut known = IndexMap::new();
    literals(&Term::all(path.facts.iter().cloned()), &mut known);
    let mut found = Vec::new();
    for step in steps {
        let guard = step.guard.substitute(&known);
        if !guard.is_false() {
            found.push(after(step, &guard, &known, path, thread)?);
        }
    }
    // A thread that blocks before it has started another stays there.
    (!steps.is_empty()).then_some(found)
}

/// What holds after a step.
fn after(
    step: &ThreadStep,
    guard: &Term,
    known: &IndexMap<Variable, Term>,
    path: &SetupPath,
    thread: ThreadNumber,
) -> Option<SetupPath> {
    if !step.starts.is_empty() {
        return None;
    }
    // An input that becomes the value of one variable stands for that variable.
    let mut stands_for: IndexMap<Variable, Term> = IndexMap::new();
    let mut new = Vec::new();
    for (variable, value) in &step.updates {
        let value = value.substitute(known);
        match value.as_variable().filter(|input| step.inputs.contains(input)) {
            Some(input) if stands_for.contains_key(&input) => return None,
            Some(input) => {
                stands_for.insert(input, variable.term());
            }
            None => new.push(variable.term().equals(&value)),
        }
    }
    new.push(guard.clone());
    // New facts refer to the old values: they hold afterwards only for unchanged variables.
    let lost = |term: &Term| {
        term.free_variables().iter().any(|variable| {
            let gone = step.inputs.contains(variable) && !stands_for.contains_key(variable);
            gone || step.updates.contains_key(variable)
        })
    };
    let values = step.updates.values().map(|value| value.substitute(known));
    if { values }.any(|value| !value.is_literal() && lost(&value)) || lost(guard) {
        return None;
    }
    let mut facts = path.facts.clone();
    let mut before = path.before.clone();
    for variable in step.updates.keys() {
        let same = facts.iter().find_map(|fact| other_name(fact, variable, &step.updates));
        if let Some(other) = &same {
            let replace = IndexMap::from([(variable.clone(), other.term())]);
            facts =
                facts.iter().map(|fact| fact.substitute(&replace)).filter(|fact| !fact.is_true()).collect();
        }
        let inputs = before.iter_mut().flat_map(|step| &mut step.inputs);
        inputs.filter(|input| input.as_ref() == Some(variable)).for_each(|input| input.clone_from(&same));
    }
    facts.retain(|fact| fact.free_variables().iter().all(|variable| !step.updates.contains_key(variable)));
    facts.extend(new.iter().flat_map(|fact| conjuncts(&fact.substitute(&stands_for))));
    facts.retain(|fact| !fact.is_true());
    let inputs = step.inputs.iter().map(|input| stands_for.get(input).and_then(Term::as_variable)).collect();
    before.push(Before { thread, edges: step.edges.clone(), starts: Vec::new(), inputs, stays: false });
    Some(SetupPath { location: step.target, facts, before })
}

/// Another, unchanged variable that is equal by some fact.
fn other_name(fact: &Term, variable: &Variable, changed: &IndexMap<Variable, Term>) -> Option<Variable> {
    let (Operation::Equal, [left, right]) = (fact.operation(), fact.operands()) else { return None };
    let names = [(left.as_variable()?, right.as_variable()?), (right.as_variable()?, left.as_variable()?)];
    names
        .into_iter()
        .find(|(one, other)| one == variable && !changed.contains_key(other))
        .map(|(_, other)| other)
}
