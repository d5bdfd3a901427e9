//! Consequences of smaller groups for larger ones.
//!
//! Facts that hold for every thread, or for every two, hold for the members of a larger group. They are
//! inductive by themselves, so the clauses for the larger group may assume them, and combinations of
//! locations that they exclude need no relation.

use super::clauses::{Actor, Key, subsets};
use super::model::Model;
use indexmap::IndexMap;
use smt::{Term, Variable};
use transitions::groups::Member;

/// Facts about groups of smaller sizes.
#[derive(Clone, Default, Debug)]
pub struct Base {
    /// For each size, what holds of the combinations of locations that may be reached.
    levels: Vec<(usize, IndexMap<Key, Term>)>,
}

impl Base {
    /// Adds what holds of groups of a size.
    pub fn add(&mut self, size: usize, formulas: IndexMap<Key, Term>) {
        self.levels.push((size, formulas));
    }
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// What holds of some threads that exist together. They are all there are if they are fewer than a size.
    pub fn of(&self, model: &Model<'_>, actors: &[Actor]) -> Term {
        let mut facts = Vec::new();
        for (size, formulas) in &self.levels {
            for chosen in subsets(actors.len(), actors.len().min(*size)) {
                let mut group: Vec<Actor> = chosen.iter().map(|position| actors[*position]).collect();
                group.sort_by_key(|actor| actor.node());
                let key: Key = group.iter().map(|actor| actor.node()).collect();
                let Some(formula) = formulas.get(&key) else { return Term::bool(false) };
                facts.push(renamed(model, &group, formula));
            }
        }
        Term::all(facts)
    }
}

/// A formula about a group, with the names of its members.
fn renamed(model: &Model<'_>, group: &[Actor], formula: &Term) -> Term {
    let mut names: IndexMap<Variable, Term> = IndexMap::new();
    for (position, actor) in group.iter().enumerate() {
        let old = Member { template: actor.member.template, position };
        for own in &model.places[&actor.member.template][&actor.place].own {
            names.insert(old.own(&own.variable), actor.member.own(&own.variable).term());
        }
    }
    formula.substitute(&names)
}
