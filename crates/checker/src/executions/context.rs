//! Tests proofs by contexts ([`verdict::ContextProof`]).
//!
//! In each state in which no thread is in the middle of a step of the proof, each thread is at one of the
//! nodes of its location, so the formula of one of these holds. Which node it is, and what threads see of
//! others, is not tested.

use super::formulas::{is_false, value};
use super::try_watch;
use super::walk::{Moment, Outside, Watch};
use crate::ProofError;
use ir::semantics::ThreadIndex;
use ir::{LocationId, TemplateId};
use rustc_hash::FxHashSet;
use smt::{Value, Variable};
use transitions::{Scoped, System};
use verdict::{Budget, ContextProof};

/// Tests the formulas of nodes.
pub fn try_claims(
    system: &System<'_>,
    scoped: &Scoped<'_>,
    proof: &ContextProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let mut cuts: FxHashSet<(TemplateId, LocationId)> =
        scoped.program.templates.enumerate().map(|(template, code)| (template, code.entry)).collect();
    for step in &scoped.steps {
        cuts.extend([(step.template, step.source), (step.template, step.target)]);
    }
    try_watch(system.program, &mut Nodes { system, proof, cuts }, budget)
}

struct Nodes<'a, 'p> {
    system: &'a System<'p>,
    proof: &'a ContextProof,
    /// Where steps of the proof begin and end.
    cuts: FxHashSet<(TemplateId, LocationId)>,
}

impl Nodes<'_, '_> {
    /// The value of a variable for a thread: a shared one, its own, or that of the only thread of a template.
    fn value(&self, moment: &Moment<'_, '_>, thread: ThreadIndex, variable: &Variable) -> Option<Value> {
        let (system, machine, state) = (self.system, moment.machine, moment.state);
        if let Some(shared) = system.shared.iter().find(|shared| shared.variable == *variable) {
            return value(system, machine, state, None, shared);
        }
        let own_template = state.threads[thread].template;
        let only = |template: &TemplateId| system.unique.templates[*template] && *template != own_template;
        let others = system.program.templates.ids().filter(only);
        for template in [own_template].into_iter().chain(others) {
            let named =
                |own: &&transitions::StateVariable| Scoped::own_name(&own.variable, template) == *variable;
            let Some(own) = system.own[template].iter().find(named) else { continue };
            let owner = match template == own_template {
                true => thread,
                false => state.threads.iter().position(|thread| thread.template == template)?,
            };
            return value(system, machine, state, Some(owner), own);
        }
        None
    }
}

impl Watch for Nodes<'_, '_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        if !moment.places.iter().all(|place| self.cuts.contains(place)) {
            return None;
        }
        for (thread, (template, location)) in moment.places.iter().enumerate() {
            let value_of = |variable: &Variable| self.value(moment, thread, variable);
            let mut here = self
                .proof
                .nodes
                .iter()
                .filter(|node| (node.template, node.location) == (*template, *location));
            if here.all(|node| is_false(&node.formula, &value_of)) {
                let claim = format!("thread {thread} is at a node of {template}:{location}");
                return Some(Outside { claim, violation: None });
            }
        }
        None
    }

    fn price(&self, threads: usize) -> u64 {
        2 + 4 * threads as u64
    }
}
