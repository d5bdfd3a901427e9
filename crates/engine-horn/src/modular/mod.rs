//! Proofs for any number of threads: invariants of groups, as Horn clauses.
//!
//! Beyond the papers. Over-approximates: a thread outside a group is only constrained by the relation of
//! groups in which it replaces a member.

pub mod base;
pub mod clauses;
pub mod facts;
pub mod model;
pub mod simplify;
pub mod split;
pub mod steady;
pub mod weaken;

use base::Base;
use clauses::{Clauses, Key, positioned};
use facts::Vocabulary;
use indexmap::IndexMap;
use ir::TemplateId;
use model::{IDLE, Model};
use smt::horn::{Interpretation, RelationId, Solution, solve};
use smt::{Term, Variable};
use std::collections::BTreeMap;
use steady::Steady;
use transitions::System;
use transitions::groups::Member;
use verdict::{Budget, ModularProof, Reason};
use weaken::{Language, is_safe, strengthened, strongest};

/// The effort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effort {
    /// Only simple facts are tried.
    Facts,
    /// The solver gets the remaining clauses.
    All,
}

/// The order in which sizes of groups are tried, with the effort and the fraction of the remaining time.
const ATTEMPTS: [(usize, Effort, u32); 6] = [
    (1, Effort::Facts, 4),
    (2, Effort::Facts, 2),
    (1, Effort::All, 8),
    (2, Effort::All, 2),
    (3, Effort::Facts, 2),
    (3, Effort::All, 1),
];

/// The largest size of groups.
pub const LARGEST_GROUP: usize = 3;

/// Searches for a proof, with at most the given effort.
pub fn prove(system: &System<'_>, most: Effort, budget: &Budget) -> Result<ModularProof, Reason> {
    prove_by_groups(system, LARGEST_GROUP, most, budget)
}

/// The same, by groups of at most so many threads.
pub fn prove_by_groups(
    system: &System<'_>,
    largest: usize,
    most: Effort,
    budget: &Budget,
) -> Result<ModularProof, Reason> {
    let model = Model::new(system, budget);
    let mut last = Reason::GaveUp("nothing was tried".to_owned());
    let mut facts: BTreeMap<usize, Interpretation> = BTreeMap::new();
    let mut bases: BTreeMap<usize, Base> = BTreeMap::new();
    let tried = |(size, effort, _): &(usize, Effort, u32)| *size <= largest && *effort <= most;
    for (size, effort, share) in ATTEMPTS.into_iter().filter(tried) {
        budget.check(0).map_err(Reason::Exhausted)?;
        let part = budget.part(share);
        // What is known of smaller groups; always the same for the same size, so that facts are about the
        // same relations.
        let base = bases.range(..=size).next_back().map_or(Base::default(), |(_, base)| base.clone());
        match attempt(&model, size, effort, (&base, facts.get(&size)), &part) {
            Ok(Attempt::Proved(proof)) => return Ok(proof),
            Ok(Attempt::Facts(found, formulas)) => {
                facts.insert(size, found);
                let mut next = base.clone();
                next.add(size, formulas);
                bases.insert(size, base);
                bases.insert(size + 1, next);
            }
            Err(reason) => last = reason,
        }
    }
    Err(last)
}

enum Attempt {
    Proved(ModularProof),
    /// Simple facts that hold and are not enough, by relation and by combination of locations.
    Facts(Interpretation, IndexMap<Key, Term>),
}

fn attempt(
    model: &Model<'_>,
    size: usize,
    effort: Effort,
    (base, known): (&Base, Option<&Interpretation>),
    budget: &Budget,
) -> Result<Attempt, Reason> {
    let clauses = Clauses::new(model, size, base, None, budget).map_err(|why| why.reason(size))?;
    let system = &clauses.system;
    let solution = match effort {
        Effort::Facts => {
            let facts = strongest(system, &Vocabulary::new(system), Language::Comparisons, budget)
                .map_err(|why| why.reason("horn"))?;
            if !is_safe(system, &facts, budget) {
                let of = |relation: RelationId| {
                    if clauses.used[relation] { facts.formulas[relation].clone() } else { Term::bool(true) }
                };
                let formulas = clauses.relations.iter().map(|(key, relation)| (key.clone(), of(*relation)));
                let formulas = formulas.filter(|(_, formula)| !formula.is_false()).collect();
                return Ok(Attempt::Facts(facts, formulas));
            }
            facts
        }
        Effort::All => match known {
            None => solved(solve(system, budget), size)?,
            Some(facts) => {
                let more = solved(solve(&strengthened(system, facts), budget), size)?;
                facts.and(&more)
            }
        },
    };
    Ok(Attempt::Proved(proof(model, &clauses, base, &solution)))
}

/// Searches for invariants of single threads about variables that no other thread changes ([`steady`]).
pub fn prove_by_steady_variables(system: &System<'_>, budget: &Budget) -> Result<ModularProof, Reason> {
    let model = Model::new(system, budget);
    let Some(steady) = Steady::of(&model) else {
        return Err(Reason::GaveUp("the program does not start with one thread alone".to_owned()));
    };
    let base = Base::default();
    let clauses = Clauses::new(&model, 1, &base, Some(&steady), budget).map_err(|why| why.reason(1))?;
    let system = &clauses.system;
    let facts = strongest(system, &Vocabulary::new(system), Language::Equations, budget)
        .map_err(|why| why.reason("horn"))?;
    let solution = if is_safe(system, &facts, budget) {
        facts
    } else {
        facts.and(&solved(solve(&strengthened(system, &facts), budget), 1)?)
    };
    Ok(proof(&model, &clauses, &base, &solution))
}

fn solved(solution: Solution, size: usize) -> Result<Interpretation, Reason> {
    match solution {
        Solution::Solved(solution) => Ok(solution),
        Solution::Refuted(_) => Err(Reason::GaveUp(format!(
            "what holds of every {size} threads is not enough, or there is a violation"
        ))),
        Solution::Unknown(why) => Err(why.reason("horn")),
    }
}

/// The invariants that a solution stands for.
fn proof(
    model: &Model<'_>,
    clauses: &Clauses<'_, '_>,
    base: &Base,
    solution: &Interpretation,
) -> ModularProof {
    let size = clauses.size;
    let mut cases: IndexMap<Vec<TemplateId>, Vec<Term>> = IndexMap::new();
    for (key, relation) in &clauses.relations {
        let always = Term::bool(true);
        let formula = if clauses.used[*relation] { &solution.formulas[*relation] } else { &always };
        let formula = &formula.and(&base.of(model, &positioned(key)));
        let templates: Vec<TemplateId> = key.iter().map(|(template, _)| *template).collect();
        let here = cases.entry(templates).or_default();
        if !formula.is_false() {
            let orders = arrangements(key);
            here.extend(orders.iter().map(|order| arranged(model, key, order, formula)));
        }
    }
    let constants = model.constants.iter().map(|(variable, value)| variable.term().equals(value));
    let constants = Term::all(constants);
    let mut invariants: Vec<(Vec<TemplateId>, Term)> =
        cases.into_iter().map(|(templates, cases)| (templates, constants.and(&Term::any(cases)))).collect();
    // Groups that are not listed are impossible.
    let running: Vec<TemplateId> = model.places.keys().copied().collect();
    for templates in (1..=size).flat_map(|size| clauses::multisets(&running, size)) {
        if invariants.iter().all(|(known, _)| *known != templates) {
            invariants.push((templates, Term::bool(false)));
        }
    }
    invariants.sort_by(|(one, _), (other, _)| (one.len(), one).cmp(&(other.len(), other)));
    ModularProof { size, invariants, passed: model.passed.clone() }
}

/// The orders of a group's members that keep the templates where they are and are different.
fn arrangements(key: &Key) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for position in 0..key.len() {
        let extended = found.iter().flat_map(|order| {
            let free =
                (0..key.len()).filter(|other| !order.contains(other) && key[*other].0 == key[position].0);
            free.map(|other| order.iter().copied().chain([other]).collect::<Vec<usize>>()).collect::<Vec<_>>()
        });
        found = extended.collect();
    }
    let nodes = |order: &Vec<usize>| order.iter().map(|position| key[*position]).collect::<Key>();
    let mut seen: Vec<Key> = Vec::new();
    found.retain(|order| {
        let new = !seen.contains(&nodes(order));
        seen.push(nodes(order));
        new
    });
    found
}

/// What a relation says of a group in another order: at each position stands the member that `order` gives.
fn arranged(model: &Model<'_>, key: &Key, order: &[usize], formula: &Term) -> Term {
    let mut facts = Vec::new();
    let mut replace: IndexMap<Variable, Term> = IndexMap::new();
    for (position, from) in order.iter().enumerate() {
        let (template, place) = key[*from];
        let old = Member { template, position: *from };
        let new = Member { template, position };
        let here = &model.places[&template][&place];
        for own in &here.own {
            replace.insert(old.own(&own.variable), new.own(&own.variable).term());
        }
        for (own, value) in &here.known {
            facts.push(new.own(own).term().equals(value));
        }
        let is_at = |at: &ir::LocationId| new.location().term().equals(&model::number(*at));
        let idle = model.idle.iter().filter(|(other, _)| *other == template).map(|(_, at)| is_at(at));
        let location = model.location_of(template, place);
        facts.push(if location == IDLE { Term::any(idle) } else { is_at(&location) });
        facts.push(model.condition(template, place).rename(|variable| Some(new.own(variable))));
    }
    Term::all(facts).and(&formula.substitute(&replace))
}
