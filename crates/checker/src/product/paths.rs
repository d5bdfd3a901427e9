//! Checks that from each node with an invariant, along each path through nodes without one, the next
//! invariant holds.
//!
//! Few paths are followed one by one. Many become one formula: each node on a path gets a Boolean that says
//! whether the path passes it, and names for the values of variables that depend on how it was reached. If a
//! node is passed, one of the steps to it was taken, from a node that is passed, with matching values. An
//! execution along one path to a violation satisfies the formula: exactly the nodes of the path are passed,
//! and exactly its steps are taken. So if the formula is unsatisfiable, there is no such execution.

use super::{Part, ProofError, Values};
use crate::ready::claim;
use smt::{Instance, Sort, Symbol, Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use transitions::threads::ThreadStep;

/// The most paths that are followed one by one.
const FEW_PATHS: usize = 40;
/// Larger values get a name.
const LARGE: usize = 24;

/// The steps from each node, and where they lead.
pub(super) type Successors<'a> = [Vec<(&'a ThreadStep, usize)>];

/// Nodes between invariants.
struct Between {
    /// The reached nodes without an invariant, in topological order.
    order: Vec<usize>,
    /// Whether there are few paths.
    few: bool,
}

impl<'a> Part<'a, '_> {
    // Obligation 5.
    pub(super) fn check_invariants(&self, successors: &Successors<'a>) -> Result<(), ProofError> {
        for (number, node) in self.part.nodes.iter().enumerate() {
            self.budget.check(0).map_err(ProofError::TooExpensive)?;
            if self.is_error(node) {
                continue;
            }
            match &node.invariant {
                Some(invariant) if !invariant.is_false() => {
                    let between = self.between(number, successors)?;
                    if between.few {
                        self.follow_each(number, invariant, successors)?;
                    } else {
                        self.follow_all(number, invariant, &between.order, successors)?;
                    }
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// Whether steps are composed through a node.
    fn is_passed(&self, number: usize) -> bool {
        let node = &self.part.nodes[number];
        node.invariant.is_none() && !self.is_error(node)
    }

    fn between(&self, source: usize, successors: &Successors<'a>) -> Result<Between, ProofError> {
        let passed = |at: usize| {
            successors[at].iter().map(|(_, target)| *target).filter(|target| self.is_passed(*target))
        };
        let mut entering: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = vec![source];
        while let Some(at) = open.pop() {
            for target in passed(at) {
                let count = entering.entry(target).or_insert(0);
                *count += 1;
                if *count == 1 {
                    open.push(target);
                }
            }
        }
        let nodes = entering.len();
        let mut order = Vec::new();
        let mut paths: BTreeMap<usize, usize> = BTreeMap::from([(source, 1)]);
        let mut total = 0usize;
        let mut open = vec![source];
        while let Some(at) = open.pop() {
            if at != source {
                order.push(at);
            }
            let here = paths.get(&at).copied().unwrap_or(0);
            if successors[at].is_empty() {
                total = total.saturating_add(here);
            }
            for (_, target) in &successors[at] {
                if !self.is_passed(*target) {
                    total = total.saturating_add(here);
                    continue;
                }
                let there = paths.entry(*target).or_insert(0);
                *there = there.saturating_add(here);
                if let Some(count) = entering.get_mut(target) {
                    *count -= 1;
                    if *count == 0 {
                        open.push(*target);
                    }
                }
            }
        }
        claim(order.len() == nodes, "there is no circle without an invariant")?;
        Ok(Between { order, few: total <= FEW_PATHS })
    }

    fn follow_each(
        &self,
        number: usize,
        invariant: &Term,
        successors: &Successors<'a>,
    ) -> Result<(), ProofError> {
        let here = self.values(&self.part.nodes[number]);
        let before = invariant.substitute(&here);
        // Paths from the node: their ends, conditions, changes, and lengths.
        let mut open: Vec<(usize, Term, Values, usize)> = vec![(number, before, here, 0)];
        while let Some((at, condition, changes, length)) = open.pop() {
            self.budget.check(0).map_err(ProofError::TooExpensive)?;
            for (position, (step, target)) in successors[at].iter().enumerate() {
                let (guard, after) = taken(step, &changes, (length, position));
                let condition = condition.and(&guard);
                if condition.is_false() {
                    continue;
                }
                if self.is_passed(*target) {
                    open.push((*target, condition, after, length + 1));
                } else {
                    let bad = condition.and(&self.violated(*target, &after));
                    self.holds(&bad.not(), "an invariant holds after a path, and no error is reached")?;
                }
            }
        }
        Ok(())
    }

    /// The condition that a step leads to a node whose invariant does not hold.
    fn violated(&self, target: usize, after: &Values) -> Term {
        let node = &self.part.nodes[target];
        match &node.invariant {
            Some(invariant) if !self.is_error(node) => invariant.substitute(after).not(),
            Some(_) | None => Term::bool(true),
        }
    }

    fn follow_all(
        &self,
        number: usize,
        invariant: &Term,
        order: &[usize],
        successors: &Successors<'a>,
    ) -> Result<(), ProofError> {
        let read = self.read_after(order, successors);
        let start = self.values(&self.part.nodes[number]);
        let mut facts = vec![invariant.substitute(&start)];
        let mut bad = Vec::new();
        // How each node is reached: the condition, and the values.
        let mut entering: BTreeMap<usize, Vec<(Term, Values)>> = BTreeMap::new();
        for at in std::iter::once(number).chain(order.iter().copied()) {
            self.budget.check(0).map_err(ProofError::TooExpensive)?;
            let (passed, values) = if at == number {
                (Term::bool(true), start.clone())
            } else {
                let passed = Variable::new(Symbol::Passed(at as u32), Sort::Bool).term();
                let paths = entering.remove(&at).unwrap_or_default();
                let (paths, values) = self.joined(at, paths, read.get(&at));
                facts.push(passed.implies(&Term::any(paths)));
                (passed, values)
            };
            for (position, (step, target)) in successors[at].iter().enumerate() {
                let (guard, after) = taken(step, &values, (at, position));
                let condition = passed.and(&guard);
                if condition.is_false() {
                    continue;
                }
                if self.is_passed(*target) {
                    entering.entry(*target).or_default().push((condition, after));
                } else {
                    bad.push(condition.and(&self.violated(*target, &after)));
                }
            }
        }
        let violation = Term::all(facts).and(&Term::any(bad));
        self.holds(&violation.not(), "the invariants hold after all paths, and no error is reached")
    }

    /// The paths to a node, and the values there; values that are large or differ between paths get names.
    fn joined(
        &self,
        at: usize,
        paths: Vec<(Term, Values)>,
        read: Option<&BTreeSet<Variable>>,
    ) -> (Vec<Term>, Values) {
        let mut values = Values::new();
        let mut conditions: Vec<Vec<Term>> =
            paths.iter().map(|(condition, _)| vec![condition.clone()]).collect();
        let known = self.values(&self.part.nodes[at]);
        for variable in read.into_iter().flatten() {
            let of = |path: &Values| path.get(variable).cloned().unwrap_or_else(|| variable.term());
            if let Some(value) = known.get(variable) {
                values.insert(variable.clone(), value.clone());
                continue;
            }
            let first = paths.first().map_or_else(|| variable.term(), |(_, path)| of(path));
            if paths.iter().all(|(_, path)| of(path) == first) && first.size() <= LARGE {
                values.insert(variable.clone(), first);
                continue;
            }
            let name = variable.instance(Instance::At(at as u32)).term();
            for ((_, path), condition) in paths.iter().zip(&mut conditions) {
                condition.push(name.equals(&of(path)));
            }
            values.insert(variable.clone(), name);
        }
        (conditions.into_iter().map(Term::all).collect(), values)
    }

    /// The variables whose values at a node matter after it.
    fn read_after(
        &self,
        order: &[usize],
        successors: &Successors<'a>,
    ) -> BTreeMap<usize, BTreeSet<Variable>> {
        let mut read: BTreeMap<usize, BTreeSet<Variable>> = BTreeMap::new();
        for at in order.iter().rev() {
            let mut here = BTreeSet::new();
            for (step, target) in &successors[*at] {
                here.extend(step.guard.free_variables());
                let there = match &self.part.nodes[*target].invariant {
                    Some(invariant) => invariant.free_variables(),
                    None => read.get(target).cloned().unwrap_or_default(),
                };
                for variable in there {
                    match step.updates.get(&variable) {
                        Some(value) => here.extend(value.free_variables()),
                        None => {
                            here.insert(variable);
                        }
                    }
                }
            }
            here.retain(|variable| self.threads.variables.contains_key(variable));
            read.insert(*at, here);
        }
        read
    }
}

/// The condition of a step, and the values after it. Inputs of the same step in two places are different
/// inputs.
fn taken(step: &ThreadStep, values: &Values, (node, number): (usize, usize)) -> (Term, Values) {
    let fresh = |variable: &Variable| {
        let input = step.inputs.contains(variable);
        input.then(|| variable.instance(Instance::UseAt(node as u32, number as u32)))
    };
    let mut after = values.clone();
    for (variable, value) in &step.updates {
        after.insert(variable.clone(), value.rename(fresh).substitute(values));
    }
    (step.guard.rename(fresh).substitute(values), after)
}
