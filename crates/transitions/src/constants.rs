//! Constant propagation: substitutes constants of a step's source into the step.
//!
//! Exact: considers only variables that no other thread changes while the thread runs, and only unique
//! threads. Removes steps that can never be taken. For example, the ids of threads that one thread starts in
//! a fixed order become constants, which simplifies joins.

use crate::scopes::Scoped;
use crate::threads::literals;
use indexmap::{IndexMap, IndexSet};
use ir::{IdVec, LocationId, TemplateId};
use smt::{Term, Variable};

/// Values of variables.
pub type Values = IndexMap<Variable, Term>;

/// Substitutes constants into all steps. `mine` are the own variables of the only thread of a template;
/// `None` for templates with any number of threads.
pub(crate) fn put_known_values(
    scoped: &mut Scoped<'_>,
    mine: &IdVec<TemplateId, Option<IndexSet<Variable>>>,
) {
    let mut initial = Values::new();
    literals(&scoped.initial, &mut initial);
    let mut done: IndexSet<TemplateId> = IndexSet::from([scoped.main]);
    let mut at = 0;
    while at < done.len() {
        let template = done[at];
        at += 1;
        if let Some(own) = &mine[template] {
            let entry = entry_values(scoped, template, own, &initial);
            let known = known_values(scoped, template, own, &entry);
            put(scoped, template, &known);
        }
        // Those that start others come first.
        let starts =
            scoped.steps.iter().filter(|step| step.template == template).flat_map(|step| &step.starts);
        done.extend(starts.map(|start| start.template));
    }
}

/// Whether only threads of a template change a variable, once they run.
fn is_left_alone(
    scoped: &Scoped<'_>,
    template: TemplateId,
    own: &IndexSet<Variable>,
    variable: &Variable,
) -> bool {
    own.contains(variable)
        || scoped.steps.iter().all(|step| step.template == template || !step.updates.contains_key(variable))
}

/// What is known when the thread starts.
fn entry_values(
    scoped: &Scoped<'_>,
    template: TemplateId,
    own: &IndexSet<Variable>,
    initial: &Values,
) -> Values {
    let mut entry: Values = initial
        .iter()
        .filter(|(variable, _)| is_left_alone(scoped, template, own, variable))
        .filter(|(variable, _)| template == scoped.main || !own.contains(*variable))
        .map(|(variable, value)| (variable.clone(), value.clone()))
        .collect();
    if template != scoped.main {
        let starts = |step: &&crate::ScopedStep| step.starts.iter().any(|start| start.template == template);
        let mut given: Option<Values> = None;
        for step in scoped.steps.iter().filter(starts) {
            let value =
                |variable: &Variable| step.updates.get(variable).filter(|value| value.is_literal()).cloned();
            let here: Values = own.iter().filter_map(|v| Some((v.clone(), value(v)?))).collect();
            given = Some(match given {
                None => here,
                Some(mut given) => {
                    given.retain(|variable, value| here.get(variable) == Some(value));
                    given
                }
            });
        }
        entry.extend(given.unwrap_or_default());
    }
    entry
}

/// The values at each location that is reached.
fn known_values(
    scoped: &Scoped<'_>,
    template: TemplateId,
    own: &IndexSet<Variable>,
    entry: &Values,
) -> IdVec<LocationId, Option<Values>> {
    let code = &scoped.program.templates[template];
    let mut alone: IndexMap<Variable, bool> = IndexMap::new();
    let steps = |location: LocationId| {
        let here =
            scoped.steps.iter().filter(move |step| step.template == template && step.source == location);
        here.map(|step| (&step.guard, &step.updates, step.target)).collect()
    };
    propagate(code.locations.len(), code.entry, entry.clone(), steps, |variable| {
        *alone.entry(variable.clone()).or_insert_with(|| is_left_alone(scoped, template, own, variable))
    })
}

/// The relevant parts of a step: its guard, the new values, and its target.
pub type KnownStep<'s> = (&'s Term, &'s IndexMap<Variable, Term>, LocationId);

/// Conditional constant propagation over the control of one thread: the constants at each reachable location.
/// `is_kept` selects the variables: no other thread may change them meanwhile.
pub fn propagate<'s>(
    locations: usize,
    entry: LocationId,
    first: Values,
    steps: impl Fn(LocationId) -> Vec<KnownStep<'s>>,
    mut is_kept: impl FnMut(&Variable) -> bool,
) -> IdVec<LocationId, Option<Values>> {
    let mut known: IdVec<LocationId, Option<Values>> = (0..locations).map(|_| None).collect();
    known[entry] = Some(first);
    let mut open = vec![entry];
    while let Some(location) = open.pop() {
        let here = known[location].clone().unwrap_or_default();
        for (guard, updates, target) in steps(location) {
            if guard.substitute(&here).is_false() {
                continue;
            }
            let mut after = here.clone();
            for (variable, value) in updates {
                let value = value.substitute(&here);
                if value.is_literal() && is_kept(variable) {
                    after.insert(variable.clone(), value);
                } else {
                    after.swap_remove(variable);
                }
            }
            if meet(&mut known[target], after) {
                open.push(target);
            }
        }
    }
    known
}

/// Keeps the constants that another path to a location has, too; says whether that is new.
pub fn meet(known: &mut Option<Values>, found: Values) -> bool {
    match known {
        None => {
            *known = Some(found);
            true
        }
        Some(known) => {
            let size = known.len();
            known.retain(|variable, value| found.get(variable) == Some(value));
            known.len() < size
        }
    }
}

fn put(scoped: &mut Scoped<'_>, template: TemplateId, known: &IdVec<LocationId, Option<Values>>) {
    scoped.steps.retain_mut(|step| {
        if step.template != template {
            return true;
        }
        let Some(here) = &known[step.source] else { return false };
        step.guard = step.guard.substitute(here);
        step.updates.values_mut().for_each(|value| *value = value.substitute(here));
        for start in &mut step.starts {
            start.first.values_mut().for_each(|value| *value = value.substitute(here));
        }
        !step.guard.is_false()
    });
}
