//! Shared variables that no other thread changes while a thread is at a place.
//!
//! What is initialised before the threads start, and what only one thread writes, needs no reasoning about
//! interference: a relation about such variables alone is kept by all steps of others, so there is one
//! relation for each place, and all clauses are linear. Of other variables nothing is known where they are
//! read. Relations are only about variables that errors may depend on ([`Steady::matters`]).
//! Over-approximates.

use super::clauses::Key;
use super::model::{IDLE, Model, ModelStep};
use ir::ids::Id;
use ir::{LocationId, TemplateId};
use smt::visit::conjuncts;
use smt::{Sort, Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use transitions::company::Company;
use transitions::{Kind, Step};

/// The variables that are steady, for the places of all templates.
#[derive(Clone, Debug)]
pub struct Steady {
    at: BTreeMap<(TemplateId, LocationId), BTreeSet<Variable>>,
    /// What errors may depend on: shared variables, and those that threads of a template have.
    matters: BTreeSet<(Option<TemplateId>, Variable)>,
}

impl Steady {
    /// Finds them; `None` where the program does not start with one thread alone.
    pub fn of(model: &Model<'_>) -> Option<Self> {
        let company = Company::of(model.system)?;
        let mut writers: BTreeMap<Variable, BTreeSet<(TemplateId, LocationId)>> = BTreeMap::new();
        for (template, places) in &model.places {
            for (at, place) in places {
                for step in &place.steps {
                    let changed =
                        step.step.updates.iter().filter(|(variable, value)| {
                            model.is_shared(variable) && **value != variable.term()
                        });
                    for (variable, _) in changed {
                        writers.entry(variable.clone()).or_default().insert((*template, *at));
                    }
                }
            }
        }
        let meets = |at: (TemplateId, LocationId), other: TemplateId| {
            let location = model.location_of(at.0, at.1);
            location == IDLE || company.may_meet(location, other)
        };
        let may_meet = |one: (TemplateId, LocationId), other: (TemplateId, LocationId)| {
            if one.0 == other.0 {
                !model.system.unique.templates[one.0]
            } else if one.0 == company.first {
                meets(one, other.0)
            } else {
                other.0 != company.first || meets(other, one.0)
            }
        };
        let mut found = Self { at: BTreeMap::new(), matters: matters(model) };
        for (template, places) in &model.places {
            for at in places.keys() {
                let here = (*template, *at);
                let is_steady = |variable: &&Variable| {
                    let writers = writers.get(variable);
                    writers.is_none_or(|writers| !writers.iter().any(|other| may_meet(here, *other)))
                };
                let steady = model.shared.iter().map(|shared| &shared.variable).filter(is_steady);
                found.at.insert(here, steady.cloned().collect());
            }
        }
        Some(found)
    }

    /// Whether no other thread changes a shared variable that matters while a thread is at each of these
    /// places.
    pub fn is_steady(&self, key: &Key, variable: &Variable) -> bool {
        self.matters(None, variable)
            && key.iter().all(|node| self.at.get(node).is_some_and(|steady| steady.contains(variable)))
    }

    /// The parts of a condition that are about what matters, and about inputs.
    pub fn what_matters(&self, model: &Model<'_>, step: &Step) -> Term {
        let matters = |variable: &Variable| {
            let own = (!model.is_shared(variable)).then_some(step.template);
            self.matters(own, variable) || step.inputs.contains(variable)
        };
        let parts = conjuncts(&step.guard).into_iter();
        Term::all(parts.filter(|part| part.free_variables().iter().all(matters)))
    }

    /// Whether an error may depend on a shared variable, or on one that threads of a template have.
    pub fn matters(&self, template: Option<TemplateId>, variable: &Variable) -> bool {
        self.matters.contains(&(template, variable.clone()))
    }
}

/// Whether a variable stands for many cells.
fn is_map(variable: &Variable) -> bool {
    !matches!(variable.sort, Sort::Int | Sort::Bool)
}

/// The variables of conditions of errors, those that they are computed from, those that a condition of some
/// step relates to these, and locals that are computed from them, such as the result of a comparison.
fn matters(model: &Model<'_>) -> BTreeSet<(Option<TemplateId>, Variable)> {
    let steps: Vec<&ModelStep> =
        model.places.values().flat_map(|places| places.values().flat_map(|place| &place.steps)).collect();
    let of = |template: TemplateId, term: &Term| -> BTreeSet<(Option<TemplateId>, Variable)> {
        let variables = term.free_variables().into_iter();
        variables.map(|variable| ((!model.is_shared(&variable)).then_some(template), variable)).collect()
    };
    let errors = steps.iter().filter(|step| step.error);
    let mut found: BTreeSet<(Option<TemplateId>, Variable)> =
        errors.flat_map(|step| of(step.step.template, &step.step.guard)).collect();
    loop {
        let before = found.len();
        for step in steps.iter().map(|step| &step.step) {
            for part in conjuncts(&step.guard) {
                let here = of(step.template, &part);
                if !here.is_disjoint(&found) && !here.iter().any(|(_, variable)| is_map(variable)) {
                    found.extend(here);
                }
            }
            for (variable, value) in &step.updates {
                let own = (!model.is_shared(variable)).then_some(step.template);
                let from = of(step.template, value);
                let is_of_map = from.iter().any(|(_, variable)| is_map(variable));
                if found.contains(&(own, variable.clone())) {
                    found.extend(from);
                } else if own.is_some() && !is_of_map && !from.is_disjoint(&found) {
                    found.insert((own, variable.clone()));
                }
            }
            for start in &step.starts {
                for own in &model.system.own[start.template] {
                    let given = match &own.kind {
                        Kind::Local(local) => start.parameters.get(local.index()),
                        Kind::Myself => Some(&start.id),
                        _ => None,
                    };
                    if found.contains(&(Some(start.template), own.variable.clone())) {
                        found.extend(given.into_iter().flat_map(|term| of(step.template, term)));
                    }
                }
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
