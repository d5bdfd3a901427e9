//! Fewer locations: steps through a location at which nobody else runs are put together.
//!
//! Exact: the steps between the locations that stay are the same, as a relation on states. A location can go if
//! * the caller allows it: nothing happens at it but the thread's own next step (it is atomic, or the thread runs alone);
//! * no step leads from it to itself;
//! * and the number of steps does not grow much.

use crate::system::Step;
use indexmap::IndexMap;
use ir::{LocationId, TemplateId};
use smt::{Term, Variable};
use std::sync::Arc;

/// A location goes only if it adds at most this many steps.
const MOST_MORE: usize = 6;
/// No formula of a step becomes larger than this.
const LARGEST: usize = 4_000;

/// Takes two steps one after the other.
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
            fresh = Variable::new(Arc::from(format!("{}'{count}", input.name)), input.sort.clone());
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

/// The steps of a template between the locations that stay. `may_go` says which may not.
pub fn merge_steps(
    steps: &[Step],
    template: TemplateId,
    may_go: &dyn Fn(LocationId) -> bool,
) -> Vec<Step> {
    let mut steps: Vec<Step> = steps.iter().filter(|step| step.template == template).cloned().collect();
    let mut locations: Vec<LocationId> = steps.iter().flat_map(|step| [step.source, step.target]).collect();
    locations.sort_unstable();
    locations.dedup();
    locations.retain(|location| may_go(*location));
    // The cheapest first, until nothing more can go.
    loop {
        let mut best: Option<(usize, LocationId)> = None;
        for location in &locations {
            let entering = steps.iter().filter(|step| step.target == *location).count();
            let leaving = steps.iter().filter(|step| step.source == *location).count();
            let loops = steps.iter().any(|step| step.source == *location && step.target == *location);
            if loops || entering * leaving > entering + leaving + MOST_MORE {
                continue;
            }
            let cost = entering * leaving;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, *location));
            }
        }
        let Some((_, gone)) = best else { return steps };
        locations.retain(|location| *location != gone);
        let (entering, rest): (Vec<Step>, Vec<Step>) = steps.iter().cloned().partition(|step| step.target == gone);
        let (leaving, rest): (Vec<Step>, Vec<Step>) = rest.into_iter().partition(|step| step.source == gone);
        let mut joined = Vec::new();
        for first in &entering {
            for second in &leaving {
                let step = compose(first, second);
                if !step.guard.is_false() {
                    joined.push(step);
                }
            }
        }
        if joined.iter().any(|step| step.guard.size() > LARGEST) {
            continue;
        }
        steps = rest.into_iter().chain(joined).collect();
        steps.sort_by_key(|step| step.source);
    }
}
