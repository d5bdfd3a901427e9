//! Checks proofs by the product of a fixed set of threads ([`verdict::ProductProof`]).
//!
//! The checker derives the program as transitions again. For each error location of each thread there is a
//! part of the proof. In a part:
//!
//! 1. The threads that are claimed to end before the error do: the thread of the error cannot reach the error
//!    while they have not ended, or one of those earlier in the list cannot reach its end. Only that thread's
//!    own steps are followed, with the values that no other thread can change.
//! 2. At each node, the threads that take steps suffice: they are all that run; or the one at an atomic
//!    location; or a persistent set: it contains a thread that must take a step before the error, and no next
//!    step of a thread in the set depends on any step that a thread outside may take before that thread has
//!    ended. Then the first step of the set on a path to the error can be taken at once.
//! 3. Each step of those of these threads that do not sleep leads to a node of the proof, or its guard is
//!    false for the known values. At that node, a thread may sleep only if it slept before or its turn came
//!    before, and its next steps are independent of this step (sleep sets).
//! 4. Known values hold at the start, and are preserved by steps.
//! 5. From each node with an invariant, along each path through nodes without one, the next invariant holds;
//!    that of the error is `false`. Each cycle has a node with an invariant ([`paths`]).
//!
//! By induction over the length of executions to the error, there is none. This rule shares only the meaning
//! of steps with the search.

mod paths;

use crate::ProofError;
use crate::names::speaks_only_of;
use crate::ready::{self, claim, missing};
use indexmap::{IndexMap, IndexSet};
use ir::{LocationId, LocationKind};
use rustc_hash::FxHashMap;
use smt::{Answer, NoAnswer, Term, Variable};
use std::collections::BTreeSet;
use transitions::threads::{ThreadStep, Threads, literals};
use transitions::{Kind, System};
use verdict::{Budget, ProductNode, ProductPart, ProductProof, Property, Views};

/// Checks a proof about a lowered program.
pub fn check(
    program: &Views,
    property: &Property,
    proof: &ProductProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let Property::NoError(kinds) = property else { return Err(ProofError::Violated) };
    let words = ready::words(program, false, budget)?;
    let system = ready::system(words, false);
    let threads = Threads::new(&system).map_err(|why| ProofError::Claim(format!("{why:?}")))?;
    for (number, thread) in threads.threads.iter().enumerate() {
        for (location, what) in words.templates[thread.template].locations.enumerate() {
            if matches!(what.kind, LocationKind::Error(kind) if kinds.contains(&kind)) {
                let covered = proof.parts.iter().any(|part| part.error == (number, location));
                claim(covered, "every error has its part")?;
            }
        }
    }
    proof.parts.iter().try_for_each(|part| {
        Part { system: &system, threads: &threads, part, budget, known: FxHashMap::default() }.check()
    })?;
    crate::executions::product::try_claims(&system, &threads, proof, budget)
}

/// A step of a thread at a location, by position.
type StepName = (usize, LocationId, usize);
type Values = IndexMap<Variable, Term>;

struct Part<'a, 'p> {
    system: &'a System<'p>,
    threads: &'a Threads,
    part: &'a ProductPart,
    budget: &'a Budget,
    /// Whether two steps are independent.
    known: FxHashMap<(StepName, StepName), bool>,
}

impl<'a> Part<'a, '_> {
    fn check(&mut self) -> Result<(), ProofError> {
        let count = self.threads.threads.len();
        claim(self.part.error.0 < count, "the thread of the error exists")?;
        self.check_ends()?;
        for node in &self.part.nodes {
            claim(node.locations.len() == count && node.first < count, "a node has a place for each thread")?;
            let all = node.locations.iter().zip(&self.threads.threads);
            let exist = all.filter_map(|(at, thread)| at.map(|at| (at, thread)));
            claim({ exist }.all(|(at, thread)| (at.0 as usize) < thread.steps.len()), "locations exist")?;
            let known = |variable: &Variable| self.threads.variables.contains_key(variable);
            node.invariant.iter().try_for_each(|formula| speaks_only_of(formula, known, "an invariant"))?;
            for (variable, value) in &node.constants {
                claim(known(variable), "constants are of variables of the program")?;
                claim(value.is_literal(), "a constant is a number or a truth value")?;
            }
            let not_there = (0..count).filter(|thread| node.locations[*thread].is_none());
            let bits = not_there.fold(0u32, |bits, thread| bits | 1 << thread);
            claim((node.awake | node.sleep) & bits == 0, "only threads that run take steps, or sleep")?;
        }
        self.check_start()?;
        let mut successors: Vec<Vec<(&'a ThreadStep, usize)>> = Vec::new();
        for number in 0..self.part.nodes.len() {
            self.budget.check(0).map_err(ProofError::TooExpensive)?;
            successors.push(self.check_node(number)?);
        }
        self.check_invariants(&successors)
    }

    fn is_error(&self, node: &ProductNode) -> bool {
        node.locations[self.part.error.0] == Some(self.part.error.1)
    }

    fn values(&self, node: &ProductNode) -> Values {
        node.constants.iter().cloned().collect()
    }

    /// Checks that a formula holds for all values of variables in their ranges.
    fn holds(&self, formula: &Term, text: &str) -> Result<(), ProofError> {
        if formula.is_true() {
            return Ok(());
        }
        let ranges =
            formula.free_variables().into_iter().filter_map(|v| self.threads.variables.get(&v).cloned());
        match smt::can_fail(&Term::all(ranges).implies(formula), self.budget) {
            Answer::Unsat => Ok(()),
            Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(ProofError::TooExpensive(limit)),
            Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => Err(ProofError::Claim(text.to_owned())),
        }
    }

    // Obligation 1.
    fn check_ends(&self) -> Result<(), ProofError> {
        for (position, needed) in self.part.ends.iter().enumerate() {
            let waiters = [self.part.error.0].into_iter().chain(self.part.ends[..position].iter().copied());
            let text = "a thread must end before the error";
            claim({ waiters }.any(|waiter| self.waits(waiter, *needed)), text)?;
        }
        Ok(())
    }

    /// Whether a thread cannot reach the error, or its end, while another has not ended.
    fn waits(&self, waiter: usize, other: usize) -> bool {
        let (Some(thread), Some(needed)) =
            (self.threads.threads.get(waiter), self.threads.threads.get(other))
        else {
            return false;
        };
        let Some(ended) = self.system.shared_of(&Kind::Ended(needed.template)) else { return false };
        if waiter == other {
            return false;
        }
        let goal = |at: LocationId| {
            if waiter == self.part.error.0 {
                at == self.part.error.1
            } else {
                self.system.is_end(thread.template, at)
            }
        };
        let others = self.threads.threads.iter().enumerate().filter(|(number, _)| *number != waiter);
        let mut written: IndexSet<&Variable> = IndexSet::new();
        for (_, other) in others {
            written.extend(other.steps.iter().flatten().flat_map(|step| step.updates.keys()));
        }
        let zero = self.system.number(0, self.system.program.data_model.pointer());
        let kept = |values: Values| -> Values {
            let own =
                values.into_iter().filter(|(variable, _)| !written.contains(variable) && variable != ended);
            own.chain([(ended.clone(), zero.clone())]).collect()
        };
        let mut first = Values::new();
        if thread.at_start {
            literals(&self.threads.initial, &mut first);
        }
        // Iterates until the known values at each location are stable.
        let mut at: Vec<Option<Values>> = vec![None; thread.steps.len()];
        at[thread.entry.0 as usize] = Some(kept(first));
        loop {
            let mut changed = false;
            for (location, steps) in thread.steps.enumerate() {
                let Some(here) = at[location.0 as usize].clone() else { continue };
                if goal(location) {
                    return false;
                }
                for step in steps.iter().filter(|step| !step.guard.substitute(&here).is_false()) {
                    let mut after = here.clone();
                    for (variable, value) in &step.updates {
                        after.insert(variable.clone(), value.substitute(&here));
                    }
                    after.retain(|_, value| value.is_literal());
                    let after = kept(after);
                    let there = &mut at[step.target.0 as usize];
                    let joined = match there.as_ref() {
                        None => after,
                        Some(old) => {
                            let same =
                                old.iter().filter(|(variable, value)| after.get(*variable) == Some(*value));
                            same.map(|(variable, value)| (variable.clone(), value.clone())).collect()
                        }
                    };
                    if there.as_ref().is_none_or(|old| old.len() != joined.len()) {
                        *there = Some(joined);
                        changed = true;
                    }
                }
            }
            if !changed {
                return true;
            }
        }
    }

    fn check_start(&self) -> Result<(), ProofError> {
        let Some(first) = self.part.nodes.first() else { return claim(false, "there is a first node") };
        let start: Vec<Option<LocationId>> =
            self.threads.threads.iter().map(|thread| thread.at_start.then_some(thread.entry)).collect();
        claim(first.locations == start && first.sleep == 0, "the first node is the start")?;
        let values = first.constants.iter().map(|(variable, value)| variable.term().equals(value));
        self.holds(&self.threads.initial.implies(&Term::all(values)), "values are known at the start")?;
        let invariant = first.invariant.clone();
        claim(invariant.is_some(), "the first node has an invariant")?;
        let invariant = invariant.unwrap_or_else(|| Term::bool(false));
        self.holds(&self.threads.initial.implies(&invariant), "the first invariant holds")
    }

    // Obligations 2, 3 and 4.
    fn check_node(&mut self, number: usize) -> Result<Vec<(&'a ThreadStep, usize)>, ProofError> {
        let (part, threads) = (self.part, self.threads);
        let node = &part.nodes[number];
        let mut found = Vec::new();
        if self.is_error(node) {
            return Ok(found);
        }
        self.check_awake(node)?;
        let here = self.values(node);
        let count = threads.threads.len();
        let mut earlier: Vec<usize> = (0..count).filter(|thread| node.sleep & (1 << thread) != 0).collect();
        for offset in 0..count {
            let thread = (node.first + offset) % count;
            let bit = 1u32 << thread;
            let Some(location) = node.locations[thread] else { continue };
            if node.awake & bit == 0 || node.sleep & bit != 0 {
                continue;
            }
            for (index, step) in threads.threads[thread].steps[location].iter().enumerate() {
                let guard = step.guard.substitute(&here);
                if guard.is_false() {
                    continue;
                }
                let mut next = node.locations.clone();
                next[thread] = Some(step.target);
                for child in &step.starts {
                    next[*child] = Some(threads.threads[*child].entry);
                }
                let mut may_sleep = 0u32;
                for other in earlier.iter().copied().filter(|other| *other != thread) {
                    if let Some(at) = node.locations[other]
                        && self.independent_of_all((thread, location, index), other, at)?
                    {
                        may_sleep |= 1 << other;
                    }
                }
                let named = node.moves.iter().find(|(who, which, _)| (*who, *which) == (thread, index));
                let target = named.and_then(|(_, _, target)| Some((*target, part.nodes.get(*target)?)));
                let Some((target, there)) = target else {
                    return Err(missing("each step leads to a node"));
                };
                claim(there.locations == next, "a step leads to the node with its locations")?;
                claim(there.sleep & !may_sleep == 0, "no thread sleeps that must not")?;
                self.check_values(step, &guard, &here, there)?;
                found.push((step, target));
            }
            earlier.push(thread);
        }
        Ok(found)
    }

    /// Checks that the known values of a node hold after a step to it.
    fn check_values(
        &self,
        step: &ThreadStep,
        guard: &Term,
        here: &Values,
        target: &ProductNode,
    ) -> Result<(), ProofError> {
        let mut equal = Values::new();
        literals(guard, &mut equal);
        for (variable, value) in &target.constants {
            let now = match step.updates.get(variable) {
                Some(update) => update.substitute(here).substitute(&equal),
                None => variable.term().substitute(here).substitute(&equal),
            };
            if now != *value {
                self.holds(&guard.implies(&now.equals(value)), "values stay known")?;
            }
        }
        Ok(())
    }

    fn check_awake(&mut self, node: &ProductNode) -> Result<(), ProofError> {
        let count = self.threads.threads.len();
        let runs = |thread: usize| node.locations[thread].is_some();
        let alone = (0..count).find(|thread| {
            node.locations[*thread].is_some_and(|at| self.threads.is_atomic(self.system, *thread, at))
        });
        if let Some(alone) = alone {
            return claim(node.awake & (1 << alone) != 0, "the thread in an atomic region takes its steps");
        }
        let outside: Vec<usize> = (0..count).filter(|thread| node.awake & (1 << thread) == 0).collect();
        if outside.iter().all(|thread| !runs(*thread)) {
            return Ok(());
        }
        let inside: Vec<(usize, LocationId)> = (0..count)
            .filter(|thread| node.awake & (1 << thread) != 0)
            .filter_map(|thread| node.locations[thread].map(|at| (thread, at)))
            .collect();
        let must_move = |(thread, at): &(usize, LocationId)| {
            *thread == self.part.error.0
                || (self.part.ends.contains(thread)
                    && !self.system.is_end(self.threads.threads[*thread].template, *at))
        };
        claim(inside.iter().any(must_move), "a thread in the set must take a step")?;
        for other in outside {
            // A thread that only threads in the set can start does nothing before one of them moves.
            let starters = self.threads.starters(other);
            let waits = |starter: &usize| runs(*starter) && node.awake & (1 << starter) != 0;
            if !runs(other) && starters.iter().all(waits) {
                continue;
            }
            let from = node.locations[other].unwrap_or(self.threads.threads[other].entry);
            for (thread, location) in &inside {
                for step in self.future(other, from, *thread) {
                    let apart = self.independent_of_all(step, *thread, *location)?;
                    claim(apart, "no thread outside of the set interferes with it")?;
                }
            }
        }
        Ok(())
    }

    /// The steps that a thread may take while another has not ended.
    fn future(&self, thread: usize, from: LocationId, other: usize) -> Vec<StepName> {
        let zero = self.system.number(0, self.system.program.data_model.pointer());
        let ended = self.system.shared_of(&Kind::Ended(self.threads.threads[other].template));
        let waiting: Values = ended.into_iter().map(|ended| (ended.clone(), zero.clone())).collect();
        let mut seen = BTreeSet::from([from]);
        let mut found = Vec::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for (index, step) in self.threads.threads[thread].steps[at].iter().enumerate() {
                if step.guard.substitute(&waiting).is_false() {
                    continue;
                }
                found.push((thread, at, index));
                if seen.insert(step.target) {
                    open.push(step.target);
                }
            }
        }
        found
    }

    fn independent_of_all(
        &mut self,
        step: StepName,
        other: usize,
        at: LocationId,
    ) -> Result<bool, ProofError> {
        for index in 0..self.threads.threads[other].steps[at].len() {
            if !self.independent(step, (other, at, index))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn independent(&mut self, one: StepName, other: StepName) -> Result<bool, ProofError> {
        if let Some(known) = self.known.get(&(one, other)) {
            return Ok(*known);
        }
        let step = |name: StepName| &self.threads.threads[name.0].steps[name.1][name.2];
        let answer = self.commute(step(one), step(other))?;
        self.known.insert((one, other), answer);
        self.known.insert((other, one), answer);
        Ok(answer)
    }

    fn commute(&self, one: &ThreadStep, other: &ThreadStep) -> Result<bool, ProofError> {
        // A step that enters an atomic region prevents others from running.
        let enters = |step: &ThreadStep| self.threads.is_atomic(self.system, step.thread, step.target);
        if (!one.starts.is_empty() && !other.starts.is_empty()) || enters(one) || enters(other) {
            return Ok(false);
        }
        let sees = |step: &ThreadStep| {
            let mut seen: BTreeSet<Variable> = step.guard.free_variables();
            step.updates.values().for_each(|value| seen.extend(value.free_variables()));
            seen.extend(step.updates.keys().cloned());
            seen
        };
        let (seen_by_one, seen_by_other) = (sees(one), sees(other));
        let apart = one.updates.keys().all(|variable| !seen_by_other.contains(variable))
            && other.updates.keys().all(|variable| !seen_by_one.contains(variable));
        if apart {
            return Ok(true);
        }
        // Both orders are possible from the same states, and have the same result.
        let both = |first: &ThreadStep, second: &ThreadStep| {
            let possible = first.guard.and(&second.guard.substitute(&first.updates));
            let mut end = first.updates.clone();
            end.extend(second.updates.iter().map(|(v, value)| (v.clone(), value.substitute(&first.updates))));
            (possible, end)
        };
        let ((possible, end), (possible_too, end_too)) = (both(one, other), both(other, one));
        let value = |end: &Values, variable: &Variable| end.get(variable).cloned().unwrap_or(variable.term());
        let written: BTreeSet<&Variable> = end.keys().chain(end_too.keys()).collect();
        let same =
            written.into_iter().map(|variable| value(&end, variable).equals(&value(&end_too, variable)));
        let formula = possible.equals(&possible_too).and(&possible.implies(&Term::all(same)));
        match self.holds(&formula, "steps commute") {
            // A timeout does not make the proof wrong.
            Err(error @ ProofError::TooExpensive(_)) => Err(error),
            found => Ok(found.is_ok()),
        }
    }
}
