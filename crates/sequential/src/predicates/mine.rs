//! Predicates that exclude an execution that does not exist.
//!
//! What clashes in the execution is cut at each step. Between two cuts stand Horn clauses whose solution is a
//! sequence of interpolants (Henzinger, Jhala, Majumdar, McMillan: Abstractions from proofs, POPL 2004). A
//! predicate can contain the own variables of only one thread. So if several threads have relevant own
//! variables, there is one unknown formula for each of them at the cut, over the shared variables and its
//! own: this finds a solution by such predicates if there is one. If there is none, or none is found, the
//! predicates come from the parts of one formula over all variables that mention only one thread, and from
//! weakest preconditions: the contradicting conditions, propagated back to the start.

use crate::predicates::atoms::{atoms, inner_atoms, with_equations};
use crate::predicates::path::{Copied, Path};
use indexmap::{IndexMap, IndexSet};
use smt::horn::{Application, Clause, HornSystem, RelationId, Solution, solve};
use smt::{NoAnswer, Operation, Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{Budget, Exhausted, Predicate};

/// No more weakest preconditions than this are looked at, and none that are larger.
const MOST: usize = 40;
const LARGEST: usize = 24;

/// What was mined, from what says most to what says all.
pub struct Mined {
    /// Whether interpolants were not found for lack of time.
    pub out_of_time: bool,
    /// The atoms of interpolants, inequalities that make equations put together.
    pub equations: Vec<Predicate>,
    /// The atoms of interpolants.
    pub atoms: Vec<Predicate>,
    /// What clashes, step by step: the conditions and what they are before each assignment (weakest
    /// preconditions), and the values that were assigned (strongest postconditions).
    pub conditions: Vec<Predicate>,
}

/// Finds predicates. `core` are parts of the path that clash.
pub fn mine(path: &Path, core: &[(usize, usize)], budget: &Budget) -> Result<Mined, Exhausted> {
    let mut parts: BTreeMap<usize, Vec<Term>> = BTreeMap::new();
    for (position, number) in core {
        parts.entry(*position).or_default().push(path.parts[*position][*number].clone());
    }
    let parts: Vec<Vec<Term>> = parts.into_values().collect();
    let mut formulas = Vec::new();
    let mut out_of_time = false;
    for apart in [true, false] {
        match interpolants(path, &parts, apart, budget) {
            Ok(found) => {
                formulas = found;
                out_of_time = false;
                break;
            }
            // A part of the budget may be used up, or all.
            Err(NoAnswer::Exhausted(_)) => {
                budget.check(0)?;
                out_of_time = true;
            }
            Err(NoAnswer::GaveUp(_)) => {}
        }
    }
    let scoped = |atoms: &IndexSet<Term>| -> Vec<Predicate> {
        let found: IndexSet<Predicate> = atoms.iter().filter_map(|atom| predicate(path, atom)).collect();
        found.into_iter().collect()
    };
    let mut equations: IndexSet<Term> = IndexSet::new();
    let mut all: IndexSet<Term> = IndexSet::new();
    for formula in &formulas {
        let found: IndexSet<Term> = atoms(formula).into_iter().collect();
        equations.extend(with_equations(&found));
        all.extend(found);
    }
    let mut conditions: IndexSet<Term> = parts.iter().flatten().flat_map(atoms).collect();
    conditions.extend(preconditions(&parts));
    let (equations, atoms, conditions) = (scoped(&equations), scoped(&all), scoped(&conditions));
    Ok(Mined { out_of_time, equations, atoms, conditions })
}

/// An atom over copies as a predicate; `None` when it speaks of inputs or of several threads.
fn predicate(path: &Path, atom: &Term) -> Option<Predicate> {
    let mut values = IndexMap::new();
    let mut threads = BTreeSet::new();
    for variable in atom.free_variables() {
        let Copied { variable: original, thread } = path.copies.get(&variable)?;
        threads.extend(*thread);
        // Two copies of one variable: the atom is about two moments.
        if values.values().any(|known| *known == original.term()) {
            return None;
        }
        values.insert(variable, original.term());
    }
    if threads.len() > 1 || values.is_empty() {
        return None;
    }
    let scope = threads.first().map(|thread| path.templates[*thread]);
    Some(Predicate { scope, formula: atom.substitute(&values) })
}

/// Formulas at the cuts between parts. With `apart`, one for each thread that has own variables there.
fn interpolants(
    path: &Path,
    parts: &[Vec<Term>],
    apart: bool,
    budget: &Budget,
) -> Result<Vec<Term>, NoAnswer> {
    let variables: Vec<BTreeSet<Variable>> =
        parts.iter().map(|part| part.iter().flat_map(Term::free_variables).collect()).collect();
    let mut system = HornSystem::default();
    let mut before: Vec<Application> = Vec::new();
    let mut relations: Vec<RelationId> = Vec::new();
    for cut in 0..parts.len() {
        let constraint = Term::all(parts[cut].iter().cloned()).and(&path.range(&parts[cut]));
        if cut + 1 == parts.len() {
            system.clause(Clause { body: before, constraint, head: None });
            break;
        }
        let after: BTreeSet<&Variable> = variables[cut + 1..].iter().flatten().collect();
        let live: BTreeSet<Variable> =
            variables[..=cut].iter().flatten().filter(|variable| after.contains(variable)).cloned().collect();
        let owner = |variable: &Variable| path.copies.get(variable).and_then(|copied| copied.thread);
        let threads: BTreeSet<usize> = live.iter().filter_map(owner).collect();
        let groups: Vec<Option<usize>> = match (apart, threads.len()) {
            (true, 1..) => threads.into_iter().map(Some).collect(),
            _ => vec![None],
        };
        let mut heads = Vec::new();
        for group in groups {
            let mine = |variable: &&Variable| match (group, owner(variable)) {
                (None, _) | (_, None) => true,
                (Some(thread), Some(other)) => thread == other,
            };
            let parameters: Vec<Variable> = live.iter().filter(mine).cloned().collect();
            let relation = system.relation(format!("cut {cut}"), parameters.clone());
            relations.push(relation);
            heads.push(Application { relation, arguments: parameters.iter().map(Variable::term).collect() });
        }
        for head in &heads {
            let constraint = constraint.and(&path.range(&head.arguments));
            system.clause(Clause { body: before.clone(), constraint, head: Some(head.clone()) });
        }
        before = heads;
    }
    let part = budget.part(8);
    match solve(&system, &part) {
        Solution::Solved(solution) => {
            Ok(relations.into_iter().map(|relation| solution.formulas[relation].clone()).collect())
        }
        Solution::Refuted(_) => Err(NoAnswer::GaveUp("one thread's variables do not suffice".to_owned())),
        Solution::Unknown(why) => Err(why),
    }
}

/// The atoms of the conditions among the parts, and of what they are before each assignment among them.
fn preconditions(parts: &[Vec<Term>]) -> IndexSet<Term> {
    let mut found: IndexSet<Term> = IndexSet::new();
    let mut current: IndexSet<Term> = IndexSet::new();
    for part in parts.iter().rev() {
        let mut values: IndexMap<Variable, Term> = IndexMap::new();
        let mut conditions = Vec::new();
        for term in part {
            match assigned(term) {
                Some((variable, value)) => {
                    values.insert(variable, value);
                }
                None => conditions.push(term.clone()),
            }
        }
        current = current.iter().flat_map(|atom| inner_atoms(&atom.substitute(&values))).collect();
        current.extend(conditions.iter().flat_map(inner_atoms));
        current.retain(|atom| atom.size() <= LARGEST);
        current.truncate(MOST);
        found.extend(current.iter().cloned());
    }
    found.truncate(MOST);
    found
}

/// The variable that an equation gives a value.
fn assigned(term: &Term) -> Option<(Variable, Term)> {
    match (term.operation(), term.operands()) {
        (Operation::Equal, [left, right]) => Some((left.as_variable()?, right.clone())),
        (Operation::Variable(_), _) => Some((term.as_variable()?, Term::bool(true))),
        (Operation::Not, [operand]) => Some((operand.as_variable()?, Term::bool(false))),
        _ => None,
    }
}
