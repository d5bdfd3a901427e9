//! Where other threads may run while a thread is at a location: [`Threads::cut_points`], for all engines and
//! checkers that know the threads of a program.
//!
//! They must not run inside an atomic region, and need not run inside a region that a lock protects (Lipton:
//! Reduction, CACM 1975). Exact for errors. A step is a *right mover* if it can be moved after any directly
//! following step of another thread. A location is *quiet* if all steps that lead to it from the last cut
//! points are right movers, including those inside atomic regions, since there is no cut point between them
//! and the location. In an execution to an error, the steps of a thread up to its next cut point can be moved
//! together, directly before the last of them. Steps at the end that lead to a quiet location can be dropped,
//! since no thread sees their effects. The first location of a thread is always a cut point, and so is an
//! error, which is visible.
//!
//! Locks are variables here. A variable is a *lock* if every step that writes it either acquires it (the step
//! requires it to be 0, and sets it to a number of the thread, which is not 0), or starts at a location where
//! the thread holds it: on every path to this location it was acquired and not written since. By induction,
//! where a thread holds a lock, the lock has the thread's number: others write it only when it is 0 or has
//! their own number. So
//! 1. after a step with which a thread holds a lock, the next step is not that of another thread that also
//!    holds it, or acquires it;
//! 2. other steps commute unless one of them writes what the other reads or writes, or starts a thread.
//!
//! The mover passes an atomic region of another thread as a whole, since it passes each of its steps.

use crate::system::System;
use crate::threads::{Thread, ThreadNumber, ThreadStep, Threads, literals};
use indexmap::{IndexMap, IndexSet};
use ir::{IdVec, LocationId};
use smt::{Operation, Term, Variable};

/// The locks that a thread holds at each of its locations; `None` when it is never there.
type Held = IdVec<LocationId, Option<IndexSet<Variable>>>;

impl Threads {
    /// For each thread and location, whether others may run while the thread is there.
    pub fn cut_points(&self, system: &System<'_>) -> Vec<IdVec<LocationId, bool>> {
        self.cut_points_where(&|thread, at| self.is_atomic(system, thread, at), &|thread, at| {
            self.is_error(system, thread, at)
        })
    }

    fn cut_points_where(
        &self,
        runs_alone: &dyn Fn(ThreadNumber, LocationId) -> bool,
        is_error: &dyn Fn(ThreadNumber, LocationId) -> bool,
    ) -> Vec<IdVec<LocationId, bool>> {
        let locks = Locks::new(self);
        let mut touching: IndexMap<Variable, Vec<&ThreadStep>> = IndexMap::new();
        for step in self.threads.iter().flat_map(|thread| thread.steps.iter().flatten()) {
            for variable in touched(step) {
                touching.entry(variable).or_default().push(step);
            }
        }
        let of_thread = |(number, thread): (ThreadNumber, &Thread)| {
            let seen_anyway = |at: LocationId| at == thread.entry || is_error(number, at);
            // Whether each location is reached, and whether a step that is no right mover was taken since the
            // last cut point.
            let mut noisy: IdVec<LocationId, Option<bool>> = thread.steps.iter().map(|_| None).collect();
            let mut open = Vec::new();
            for step in thread.steps.iter().flatten() {
                let moves = locks.is_right_mover(&touching, number, step);
                if !moves && noisy[step.target] != Some(true) {
                    open.push(step.target);
                }
                noisy[step.target] = Some(noisy[step.target].unwrap_or(false) || !moves);
            }
            while let Some(at) = open.pop() {
                if !runs_alone(number, at) || seen_anyway(at) {
                    continue;
                }
                for step in &thread.steps[at] {
                    if noisy[step.target] != Some(true) {
                        noisy[step.target] = Some(true);
                        open.push(step.target);
                    }
                }
            }
            let is_cut = |(at, noisy): (LocationId, &Option<bool>)| {
                seen_anyway(at) || !(runs_alone(number, at) || *noisy == Some(false))
            };
            noisy.enumerate().map(is_cut).collect()
        };
        self.threads.iter().enumerate().map(of_thread).collect()
    }
}

/// The variables that a step reads or writes.
fn touched(step: &ThreadStep) -> IndexSet<Variable> {
    step.reads().into_iter().chain(step.updates.keys().cloned()).collect()
}

/// The variables that a condition requires to be 0.
fn needed_to_be_zero(guard: &Term) -> Vec<Variable> {
    match (guard.operation(), guard.operands()) {
        (Operation::And, operands) => operands.iter().flat_map(needed_to_be_zero).collect(),
        (Operation::Equal, [one, other]) => [(one, other), (other, one)]
            .into_iter()
            .filter(|(_, value)| *value.operation() == Operation::Int(0))
            .filter_map(|(variable, _)| variable.as_variable())
            .collect(),
        _ => Vec::new(),
    }
}

/// The locks of a program, and where threads hold them.
struct Locks {
    held: Vec<Held>,
    /// The values of variables that never change.
    constants: IndexMap<Variable, Term>,
    locks: IndexSet<Variable>,
}

impl Locks {
    fn new(threads: &Threads) -> Self {
        let mut constants = IndexMap::new();
        literals(&threads.initial, &mut constants);
        for step in threads.threads.iter().flat_map(|thread| thread.steps.iter().flatten()) {
            step.updates.keys().for_each(|variable| {
                constants.swap_remove(variable);
            });
        }
        let mut found = Self { held: Vec::new(), constants, locks: IndexSet::new() };
        // Its number says who holds it.
        let mut numbers: IndexMap<Variable, IndexMap<i128, ThreadNumber>> = IndexMap::new();
        let mut wrong: IndexSet<Variable> = IndexSet::new();
        for (number, thread) in threads.threads.iter().enumerate() {
            for step in thread.steps.iter().flatten() {
                for (lock, value) in found.taken(step) {
                    let owner = *numbers.entry(lock.clone()).or_default().entry(value).or_insert(number);
                    if owner != number {
                        wrong.insert(lock);
                    }
                }
            }
        }
        for (lock, of_threads) in &numbers {
            let owners: IndexSet<ThreadNumber> = of_threads.values().copied().collect();
            if owners.len() == of_threads.len() && !wrong.contains(lock) {
                found.locks.insert(lock.clone());
            }
        }
        found.held = threads.threads.iter().map(|thread| found.held(thread)).collect();
        // A thread that writes it without holding it.
        for (number, thread) in threads.threads.iter().enumerate() {
            for step in thread.steps.iter().flatten() {
                let Some(held) = &found.held[number][step.source] else { continue };
                let taken: Vec<Variable> = found.taken(step).into_iter().map(|(lock, _)| lock).collect();
                let bad = step.updates.keys().filter(|v| !held.contains(*v) && !taken.contains(*v));
                wrong.extend(bad.cloned());
            }
        }
        found.locks.retain(|lock| !wrong.contains(lock));
        for held in found.held.iter_mut().flat_map(|held| held.iter_mut().flatten()) {
            held.retain(|lock| !wrong.contains(lock));
        }
        found
    }

    /// The variables that a step acquires as if they were locks, with the numbers that it sets them to.
    fn taken(&self, step: &ThreadStep) -> Vec<(Variable, i128)> {
        let value =
            |variable: &Variable| match step.updates.get(variable)?.substitute(&self.constants).operation() {
                Operation::Int(value) if *value != 0 => Some(*value),
                _ => None,
            };
        needed_to_be_zero(&step.guard)
            .into_iter()
            .filter_map(|variable| Some((variable.clone(), value(&variable)?)))
            .collect()
    }

    /// The locks that a thread holds after a step.
    fn after(&self, step: &ThreadStep, before: &IndexSet<Variable>) -> IndexSet<Variable> {
        let stay = before.iter().filter(|lock| !step.updates.contains_key(*lock)).cloned();
        let taken =
            self.taken(step).into_iter().map(|(lock, _)| lock).filter(|lock| self.locks.contains(lock));
        stay.chain(taken).collect()
    }

    fn held(&self, thread: &Thread) -> Held {
        let mut held: Held = thread.steps.iter().map(|_| None).collect();
        held[thread.entry] = Some(IndexSet::new());
        let mut open = vec![thread.entry];
        while let Some(location) = open.pop() {
            let here = held[location].clone().unwrap_or_default();
            for step in &thread.steps[location] {
                let after = self.after(step, &here);
                let there = &mut held[step.target];
                let changed = match there {
                    None => {
                        *there = Some(after);
                        true
                    }
                    Some(there) => {
                        let size = there.len();
                        there.retain(|lock| after.contains(lock));
                        there.len() < size
                    }
                };
                if changed {
                    open.push(step.target);
                }
            }
        }
        held
    }

    /// Whether a step of a thread can be moved after every directly following step of another.
    fn is_right_mover(
        &self,
        touching: &IndexMap<Variable, Vec<&ThreadStep>>,
        thread: ThreadNumber,
        step: &ThreadStep,
    ) -> bool {
        // It is never taken.
        let Some(before) = &self.held[thread][step.source] else { return true };
        if !step.starts.is_empty() {
            return false;
        }
        let held = self.after(step, before);
        let follows = |other: &ThreadStep| {
            let Some(theirs) = &self.held[other.thread][other.source] else { return false };
            let needs_free = needed_to_be_zero(&other.guard);
            !held.iter().any(|lock| theirs.contains(lock) || needs_free.contains(lock))
        };
        touched(step).iter().all(|variable| {
            let writes = step.updates.contains_key(variable);
            let others = touching.get(variable).into_iter().flatten().filter(|other| other.thread != thread);
            let mut in_the_way = others.filter(|other| writes || other.updates.contains_key(variable));
            in_the_way.all(|other| !follows(other))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{EdgeId, TemplateId};
    use smt::Sort;

    fn variable(name: &str) -> Variable {
        Variable::new(name, Sort::Int)
    }

    /// A step: what must be 0, and what gets which value.
    type Written = (Option<&'static str>, Vec<(&'static str, Term)>);

    /// A thread that takes steps one after the other.
    fn thread(number: ThreadNumber, steps: &[Written]) -> Thread {
        let step = |(at, (zero, updates)): (usize, &Written)| ThreadStep {
            thread: number,
            edges: vec![EdgeId(at as u32)],
            source: LocationId(at as u32),
            target: LocationId(at as u32 + 1),
            guard: zero.map_or(Term::bool(true), |zero| variable(zero).term().equals(&Term::int(0))),
            updates: updates.iter().map(|(name, value)| (variable(name), value.clone())).collect(),
            inputs: Vec::new(),
            starts: Vec::new(),
        };
        let mut all: IdVec<LocationId, Vec<ThreadStep>> =
            steps.iter().enumerate().map(|each| vec![step(each)]).collect();
        all.push(Vec::new());
        Thread { template: TemplateId(number as u32), at_start: true, steps: all, entry: LocationId(0) }
    }

    fn quiet(threads: Vec<Thread>) -> Vec<Vec<bool>> {
        quiet_with(threads, &[])
    }

    /// Which locations are no cut points, where the first thread is in an atomic region at some.
    fn quiet_with(threads: Vec<Thread>, atomic: &[u32]) -> Vec<Vec<bool>> {
        let initial = variable("me").term().equals(&Term::int(7));
        let threads = Threads { threads, initial, variables: IndexMap::new() };
        let cuts =
            threads.cut_points_where(&|thread, at| thread == 0 && atomic.contains(&at.0), &|_, _| false);
        cuts.into_iter().map(|cuts| cuts.iter().map(|cut| !cut).collect()).collect()
    }

    fn more(name: &str) -> Term {
        variable(name).term().plus(&Term::int(1))
    }
    fn take(lock: &'static str, number: i128) -> Written {
        (Some(lock), vec![(lock, Term::int(number))])
    }
    fn free(lock: &'static str) -> Written {
        (None, vec![(lock, Term::int(0))])
    }
    fn add(name: &'static str) -> Written {
        (None, vec![(name, more(name))])
    }

    #[test]
    fn regions_of_one_lock_are_quiet() {
        let mine: Written = (Some("m"), vec![("m", variable("me").term())]);
        let one = thread(0, &[mine, add("x"), add("x"), free("m")]);
        let other = thread(1, &[take("m", 2), add("x"), free("m")]);
        assert_eq!(
            quiet(vec![one, other]),
            [vec![false, true, true, true, false], vec![false, true, true, false]]
        );
    }

    /// After a step that a thread without the lock sees or changes, others must run. Before it, they need
    /// not.
    #[test]
    fn what_others_touch_without_the_lock_is_not_quiet() {
        let one = || thread(0, &[take("m", 1), add("x"), add("y"), free("m")]);
        let reader: Written = (None, vec![("z", variable("x").term())]);
        for other in [add("x"), reader, (Some("x"), vec![])] {
            let found = quiet(vec![one(), thread(1, &[other]), thread(2, &[take("m", 3), free("m")])]);
            assert_eq!(found[0], [false, true, false, true, false]);
        }
        // Another lock does not help.
        let other = thread(1, &[take("n", 2), add("x"), free("n"), take("m", 2), free("m")]);
        assert_eq!(quiet(vec![one(), other])[0], [false, true, false, true, false]);
    }

    /// The end of an atomic region is a cut point if others can see anything inside it.
    #[test]
    fn what_others_see_in_an_atomic_region_is_seen_after_it() {
        let one = || thread(0, &[add("x"), add("mine"), add("mine"), add("mine")]);
        let other = || thread(1, &[add("x")]);
        assert_eq!(quiet_with(vec![one(), other()], &[1, 2])[0], [false, true, true, false, true]);
        assert_eq!(quiet_with(vec![one(), other()], &[2])[0], [false, false, true, true, true]);
    }

    /// A lock that a thread reads in another way, writes without holding it, or writes with the number of
    /// another thread.
    #[test]
    fn what_is_no_lock_protects_nothing() {
        let one = || thread(0, &[take("m", 1), add("x"), free("m")]);
        let in_region = || [take("m", 2), add("x"), free("m")];
        let looks: Written = (None, vec![("z", variable("m").term())]);
        let found = quiet(vec![one(), thread(1, &in_region()), thread(2, &[looks])]);
        assert_eq!(found[0], [false, false, true, false]);
        let found = quiet(vec![one(), thread(1, &in_region()), thread(2, &[free("m")])]);
        assert_eq!(found[0], [false, false, false, false]);
        let again = [take("m", 1), add("x"), free("m")];
        assert_eq!(quiet(vec![one(), thread(1, &again)])[0], [false, false, false, false]);
    }
}
