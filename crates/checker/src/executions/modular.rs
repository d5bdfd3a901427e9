//! Tests proofs by invariants of groups of threads ([`verdict::ModularProof`]).
//!
//! In each state in which no thread is at a location without invariants: the invariant of each list of
//! templates holds for all different threads of these templates; those of shorter lists hold if these are all
//! threads.

use super::formulas::{is_false, location, value};
use super::try_watch;
use super::walk::{Moment, Outside, Watch};
use crate::ProofError;
use ir::TemplateId;
use ir::semantics::ThreadIndex;
use rustc_hash::FxHashMap;
use smt::{Term, Value, Variable};
use transitions::System;
use transitions::groups::Member;
use verdict::{Budget, ModularProof};

/// Tests the invariants.
pub fn try_claims(system: &System<'_>, proof: &ModularProof, budget: &Budget) -> Result<(), ProofError> {
    let formulas = proof.invariants.iter().filter(|(_, formula)| !formula.is_true()).cloned().collect();
    try_watch(system.program, &mut Groups { system, proof, formulas }, budget)
}

struct Groups<'a, 'p> {
    system: &'a System<'p>,
    proof: &'a ModularProof,
    formulas: Vec<(Vec<TemplateId>, Term)>,
}

impl Groups<'_, '_> {
    /// The values of all variables that invariants of a group may contain.
    fn values(&self, moment: &Moment<'_, '_>, group: &[ThreadIndex]) -> FxHashMap<Variable, Value> {
        let (system, machine, state) = (self.system, moment.machine, moment.state);
        let mut known: FxHashMap<Variable, Value> = FxHashMap::default();
        for variable in &system.shared {
            known.extend(
                value(system, machine, state, None, variable).map(|value| (variable.variable.clone(), value)),
            );
        }
        for (position, thread) in group.iter().enumerate() {
            let (template, at) = moment.places[*thread];
            let member = Member { template, position };
            known.insert(member.location(), location(at));
            for variable in &system.own[template] {
                let found = value(system, machine, state, Some(*thread), variable);
                known.extend(found.map(|value| (member.own(&variable.variable), value)));
            }
        }
        known
    }
}

impl Watch for Groups<'_, '_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        if moment.places.iter().any(|place| self.proof.passed.contains(place)) {
            return None;
        }
        let threads = moment.places.len();
        for (templates, formula) in &self.formulas {
            let is_all = templates.len() < self.proof.size;
            if templates.is_empty() || (is_all && templates.len() != threads) {
                continue;
            }
            for group in groups(moment.places, templates) {
                let known = self.values(moment, &group);
                if is_false(formula, &|variable| known.get(variable).cloned()) {
                    let claim = format!("the invariant of threads {group:?} holds");
                    return Some(Outside { claim, violation: None });
                }
            }
        }
        None
    }

    fn price(&self, threads: usize) -> u64 {
        let groups = threads.saturating_pow(self.proof.size as u32).min(64);
        2 + 2 * (groups * self.formulas.len()) as u64
    }
}

/// All lists of different threads of these templates.
fn groups(places: &[(TemplateId, ir::LocationId)], templates: &[TemplateId]) -> Vec<Vec<ThreadIndex>> {
    let mut found: Vec<Vec<ThreadIndex>> = vec![Vec::new()];
    for template in templates {
        let mut longer = Vec::new();
        for group in &found {
            for (thread, (other, _)) in places.iter().enumerate() {
                if other == template && !group.contains(&thread) {
                    longer.push(group.iter().copied().chain([thread]).collect());
                }
            }
        }
        found = longer;
    }
    found
}
