//! Fewer locations: composes steps through locations at which no other thread runs.
//!
//! Exact: between the remaining locations, the steps are the same relation on states. A location can be
//! removed if
//! * the caller allows it: only the thread's own next step happens there (it is atomic, or the thread runs
//!   alone);
//! * no step leads from it to itself;
//! * and the number of steps does not grow much.

use crate::system::Step;
use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use smt::{Instance, Term, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// A location is removed only if that adds at most this many steps.
const MOST_MORE: usize = 6;
/// The largest formula of a step.
const LARGEST: usize = 4_000;

/// Composes two steps.
///
/// # Panics
/// If the second does not start where the first ends.
pub fn compose(first: &Step, second: &Step) -> Step {
    assert_eq!((first.template, first.target), (second.template, second.source), "steps follow one another");
    let taken: Vec<&Variable> = first.inputs.iter().collect();
    let mut replace: IndexMap<Variable, Term> = first.updates.clone();
    let mut inputs = first.inputs.clone();
    for input in &second.inputs {
        let mut fresh = input.clone();
        let mut count = 0;
        while taken.contains(&&fresh) || (count > 0 && second.inputs.contains(&fresh)) {
            count += 1;
            fresh = input.instance(Instance::Again(count));
        }
        if fresh != *input {
            replace.insert(input.clone(), fresh.term());
        }
        inputs.push(fresh);
    }
    let mut updates = first.updates.clone();
    for (variable, value) in &second.updates {
        updates.insert(variable.clone(), value.substitute(&replace));
    }
    let mut starts = first.starts.clone();
    starts.extend(second.starts.iter().map(|start| crate::Start {
        template: start.template,
        parameters: start.parameters.iter().map(|term| term.substitute(&replace)).collect(),
        id: start.id.substitute(&replace),
    }));
    Step {
        template: first.template,
        edges: first.edges.iter().chain(&second.edges).copied().collect(),
        source: first.source,
        target: second.target,
        guard: first.guard.and(&second.guard.substitute(&replace)),
        updates,
        inputs,
        starts,
    }
}

/// The steps between the remaining locations. `may_go` says which may be removed. Stops early, with more
/// locations than needed, when `stop` says so.
pub fn merge_steps(
    steps: &[Step],
    may_go: &dyn Fn(LocationId) -> bool,
    stop: &dyn Fn() -> bool,
) -> Vec<Step> {
    let mut blocks = Blocks::new(steps);
    let mut open: BTreeSet<(usize, LocationId)> = BTreeSet::new();
    let locations: Vec<LocationId> =
        blocks.entering.keys().copied().filter(|location| may_go(*location)).collect();
    let mut cost: BTreeMap<LocationId, usize> = BTreeMap::new();
    for location in locations {
        if let Some(here) = blocks.cost(location) {
            open.insert((here, location));
            cost.insert(location, here);
        }
    }
    // The cheapest first, until no more can be removed.
    while let Some((_, location)) = open.pop_first() {
        if stop() {
            break;
        }
        cost.remove(&location);
        if blocks.cost(location).is_none() || !blocks.remove(location) {
            continue;
        }
        let neighbours: BTreeSet<LocationId> = std::mem::take(&mut blocks.changed);
        for neighbour in
            neighbours.into_iter().filter(|neighbour| may_go(*neighbour) && *neighbour != location)
        {
            if let Some(old) = cost.remove(&neighbour) {
                open.remove(&(old, neighbour));
            }
            if let Some(new) = blocks.cost(neighbour) {
                open.insert((new, neighbour));
                cost.insert(neighbour, new);
            }
        }
    }
    let mut steps: Vec<Step> = blocks.steps.into_iter().flatten().collect();
    steps.sort_by_key(|step| step.source);
    steps
}

/// The locations that a step leads back to, in a depth-first walk: every cycle has one.
pub fn loop_heads(
    entry: LocationId,
    targets: impl Fn(LocationId) -> Vec<LocationId>,
) -> IndexSet<LocationId> {
    let mut heads = IndexSet::new();
    let mut on_stack: IndexSet<LocationId> = IndexSet::from([entry]);
    let mut seen: IndexSet<LocationId> = IndexSet::from([entry]);
    let mut stack = vec![(entry, targets(entry))];
    while let Some((at, open)) = stack.last_mut() {
        match open.pop() {
            Some(target) if on_stack.contains(&target) => {
                heads.insert(target);
            }
            Some(target) => {
                if seen.insert(target) {
                    on_stack.insert(target);
                    stack.push((target, targets(target)));
                }
            }
            None => {
                on_stack.swap_remove(at);
                stack.pop();
            }
        }
    }
    heads
}

/// Steps with the locations that they enter and leave.
struct Blocks {
    steps: Vec<Option<Step>>,
    entering: BTreeMap<LocationId, Vec<usize>>,
    leaving: BTreeMap<LocationId, Vec<usize>>,
    /// Locations whose steps have changed.
    changed: BTreeSet<LocationId>,
}

impl Blocks {
    fn new(steps: &[Step]) -> Self {
        let mut blocks = Self {
            steps: Vec::new(),
            entering: BTreeMap::new(),
            leaving: BTreeMap::new(),
            changed: BTreeSet::new(),
        };
        steps.iter().for_each(|step| blocks.add(step.clone()));
        blocks.changed.clear();
        blocks
    }

    fn add(&mut self, step: Step) {
        let number = self.steps.len();
        self.leaving.entry(step.source).or_default().push(number);
        self.entering.entry(step.target).or_default().push(number);
        self.changed.extend([step.source, step.target]);
        self.steps.push(Some(step));
    }

    /// The number of steps that would replace a location; `None` when it cannot be removed.
    fn cost(&self, location: LocationId) -> Option<usize> {
        let of = |steps: &BTreeMap<LocationId, Vec<usize>>| steps.get(&location).map_or(0, Vec::len);
        let (entering, leaving) = (of(&self.entering), of(&self.leaving));
        let loops = self
            .leaving
            .get(&location)
            .into_iter()
            .flatten()
            .any(|number| self.steps[*number].as_ref().is_some_and(|step| step.target == location));
        let cost = entering * leaving;
        (!loops && cost <= entering + leaving + MOST_MORE).then_some(cost)
    }

    /// Composes the steps through a location; says whether that was done.
    fn remove(&mut self, location: LocationId) -> bool {
        let of = |steps: &BTreeMap<LocationId, Vec<usize>>| steps.get(&location).cloned().unwrap_or_default();
        let (entering, leaving) = (of(&self.entering), of(&self.leaving));
        let mut joined = Vec::new();
        for first in entering.iter().filter_map(|number| self.steps[*number].as_ref()) {
            for second in leaving.iter().filter_map(|number| self.steps[*number].as_ref()) {
                let step = compose(first, second);
                if step.guard.size() > LARGEST {
                    return false;
                }
                if !step.guard.is_false() {
                    joined.push(step);
                }
            }
        }
        for number in entering.into_iter().chain(leaving) {
            if let Some(step) = self.steps[number].take() {
                self.leaving.entry(step.source).or_default().retain(|other| *other != number);
                self.entering.entry(step.target).or_default().retain(|other| *other != number);
                self.changed.extend([step.source, step.target]);
            }
        }
        joined.into_iter().for_each(|step| self.add(step));
        true
    }
}
