//! Which threads must end before an error can be reached.
//!
//! A thread *waits* at a step if its guard holds only when another thread has ended. Values that a thread has
//! for itself are followed through its own steps (constant propagation; what other threads write is not
//! known), so that the ids that it waits for are known. A thread is needed for an error in another one if
//! every path of that one to the error has a step that waits for it, and so on from there.
//!
//! Under-approximates: a thread that is found here must end before the error.

use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use smt::{Term, Variable};
use transitions::constants::meet;
use transitions::threads::{ThreadNumber, ThreadStep, Threads, literals};
use transitions::{Kind, System};

/// What must happen before an error.
#[derive(Clone, Debug)]
pub struct Needed {
    /// The thread and location of the error.
    pub error: (ThreadNumber, LocationId),
    /// The threads that must end before it.
    pub ends: Vec<ThreadNumber>,
}

impl Needed {
    /// Whether a thread that has not ended, and is not at the error, must take a step before the error.
    pub fn must_move(&self, thread: ThreadNumber) -> bool {
        thread == self.error.0 || self.ends.contains(&thread)
    }

    /// Looks for the threads that must end before an error.
    pub fn new(system: &System<'_>, threads: &Threads, error: (ThreadNumber, LocationId)) -> Self {
        let mut result = Self { error, ends: Vec::new() };
        let mut open = vec![(error.0, vec![error.1])];
        while let Some((thread, goals)) = open.pop() {
            for other in (0..threads.threads.len()).filter(|other| *other != thread) {
                if result.ends.contains(&other) || other == error.0 {
                    continue;
                }
                if must_wait(system, threads, thread, &goals, other) {
                    result.ends.push(other);
                    let template = threads.threads[other].template;
                    let code = &system.program.templates[template];
                    let ends = code.locations.ids().filter(|at| system.is_end(template, *at)).collect();
                    open.push((other, ends));
                }
            }
        }
        result
    }
}

/// Whether a thread reaches none of some locations unless another has ended.
fn must_wait(
    system: &System<'_>,
    threads: &Threads,
    thread: ThreadNumber,
    goals: &[LocationId],
    other: ThreadNumber,
) -> bool {
    let Some(ended) = system.shared_of(&Kind::Ended(threads.threads[other].template)).cloned() else {
        return false;
    };
    // What another thread may change is not known, except that this one has not ended.
    let mut foreign: IndexSet<Variable> = IndexSet::new();
    for one in threads.threads.iter().enumerate().filter(|(number, _)| *number != thread).map(|(_, one)| one)
    {
        foreign.extend(one.steps.iter().flatten().flat_map(|step| step.updates.keys().cloned()));
    }
    foreign.swap_remove(&ended);
    let code = &threads.threads[thread];
    let mut known: Vec<Option<IndexMap<Variable, Term>>> = vec![None; code.steps.len()];
    let mut first = IndexMap::new();
    if code.at_start {
        literals(&threads.initial, &mut first);
        first.retain(|variable, _| !foreign.contains(variable));
    }
    let not_ended = system.number(0, system.program.data_model.pointer());
    first.insert(ended.clone(), not_ended.clone());
    known[code.entry.0 as usize] = Some(first);
    let mut open = vec![code.entry];
    while let Some(location) = open.pop() {
        if goals.contains(&location) {
            return false;
        }
        let here = known[location.0 as usize].clone().expect("it was reached");
        for step in &code.steps[location] {
            if step.guard.substitute(&here).is_false() {
                continue;
            }
            let after = after(step, &here, &foreign, (&ended, &not_ended));
            if meet(&mut known[step.target.0 as usize], after) {
                open.push(step.target);
            }
        }
    }
    true
}

fn after(
    step: &ThreadStep,
    here: &IndexMap<Variable, Term>,
    foreign: &IndexSet<Variable>,
    ended: (&Variable, &Term),
) -> IndexMap<Variable, Term> {
    let mut after = here.clone();
    for (variable, value) in &step.updates {
        let value = value.substitute(here);
        if value.is_literal() && !foreign.contains(variable) {
            after.insert(variable.clone(), value);
        } else {
            after.swap_remove(variable);
        }
    }
    after.insert(ended.0.clone(), ended.1.clone());
    after
}
