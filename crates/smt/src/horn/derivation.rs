//! Derivations of `false`, read off the solver's proof.
//!
//! The proof says which ground facts follow from which; it does not say, in our terms, by which clause and
//! with which values of the clause's variables. A solver finds these, fact by fact, so that nothing depends
//! on the format of the proof: if a fact cannot be explained in this way, the translation fails.

use super::{Application, ClauseId, HornSystem, RelationId};
use crate::decode::decode_value;
use crate::limits::NoAnswer;
use crate::solver::{Answer, Solver};
use crate::term::{Term, Variable};
use crate::value::Value;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use verdict::Budget;
use z3::DeclKind;
use z3::ast::{Ast, Dynamic};

/// A derivation of `false`, premises before conclusions. The last step derives `false`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Derivation {
    /// The steps.
    pub steps: Vec<Step>,
}

/// A clause with values for its variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The clause.
    pub clause: ClauseId,
    /// The values of all its variables.
    pub values: BTreeMap<Variable, Value>,
    /// The arguments of its head; none where the head is `false`.
    pub arguments: Vec<Value>,
    /// For each application of its body, the step that derives it.
    pub premises: Vec<usize>,
}

/// A relation of values; no relation stands for `false`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fact {
    relation: Option<RelationId>,
    arguments: Vec<Value>,
}

/// A fact, and those that it follows from, by position.
struct Inference {
    fact: Fact,
    premises: Vec<usize>,
    /// The solver's name for the rule, so that facts by the same rule are explained by the same clause first.
    rule: Option<Dynamic>,
}

/// Reads the derivation off the proof. `names` gives the relation that each name of the solver stands for;
/// `goal` is its name for `false`.
pub(super) fn read(
    system: &HornSystem,
    proof: &Dynamic,
    names: &BTreeMap<String, RelationId>,
    goal: &str,
    budget: &Budget,
) -> Result<Derivation, NoAnswer> {
    let inferences = inferences(proof, names, goal)?;
    let mut reader =
        Reader { system, budget, solver: Solver::new(), by_rule: FxHashMap::default(), steps: vec![] };
    for inference in &inferences {
        reader.explain(&inferences, inference)?;
        if inference.fact.relation.is_none() {
            return Ok(Derivation { steps: reader.steps });
        }
    }
    Err(NoAnswer::GaveUp("the refutation does not derive false".to_owned()))
}

/// All inferences of the proof, premises first, each fact once.
fn inferences(
    proof: &Dynamic,
    names: &BTreeMap<String, RelationId>,
    goal: &str,
) -> Result<Vec<Inference>, NoAnswer> {
    let mut found: Vec<Inference> = Vec::new();
    let mut position_of: FxHashMap<Fact, usize> = FxHashMap::default();
    let mut done: FxHashMap<Dynamic, ()> = FxHashMap::default();
    let mut pending = vec![(proof.clone(), false)];
    while let Some((node, operands_done)) = pending.pop() {
        if !node.is_app() || done.contains_key(&node) {
            continue;
        }
        let children = node.children();
        if !operands_done {
            pending.push((node, true));
            pending.extend(children.into_iter().rev().map(|child| (child, false)));
            continue;
        }
        done.insert(node.clone(), ());
        if node.decl().kind() != DeclKind::PrHyperResolve {
            continue;
        }
        let Some((conclusion, before)) = children.split_last() else { continue };
        let Some(fact) = fact(conclusion, names, goal)? else { continue };
        if position_of.contains_key(&fact) {
            continue;
        }
        let mut premises = Vec::new();
        for premise in before.iter().skip(1) {
            // A proof ends with what it proves.
            let Some(proved) = premise.children().pop() else { continue };
            if let Some(proved) = self::fact(&proved, names, goal)? {
                premises.extend(position_of.get(&proved));
            }
        }
        position_of.insert(fact.clone(), found.len());
        found.push(Inference { fact, premises, rule: before.first().cloned() });
    }
    Ok(found)
}

/// The fact that a term of the solver is, if it is one of a relation of ours.
fn fact(term: &Dynamic, names: &BTreeMap<String, RelationId>, goal: &str) -> Result<Option<Fact>, NoAnswer> {
    if !term.is_app() || term.decl().kind() != DeclKind::Uninterpreted {
        return Ok(None);
    }
    let name = term.decl().name();
    if name == goal {
        return Ok(Some(Fact { relation: None, arguments: vec![] }));
    }
    let Some(relation) = names.get(&name) else { return Ok(None) };
    let arguments = term.children().iter().map(decode_value).collect::<Result<Vec<Value>, _>>();
    let arguments =
        arguments.map_err(|foreign| NoAnswer::GaveUp(format!("a value in the refutation: {}", foreign.0)))?;
    Ok(Some(Fact { relation: Some(*relation), arguments }))
}

struct Reader<'a> {
    system: &'a HornSystem,
    budget: &'a Budget,
    /// One for all: a new one costs more than most of these questions.
    solver: Solver,
    by_rule: FxHashMap<Dynamic, ClauseId>,
    /// As many as inferences were explained.
    steps: Vec<Step>,
}

impl Reader<'_> {
    /// Adds the step that derives the fact of an inference.
    fn explain(&mut self, all: &[Inference], inference: &Inference) -> Result<(), NoAnswer> {
        let system = self.system;
        let head_fits = |clause: &ClauseId| {
            system.clauses[*clause].head.as_ref().map(|head| head.relation) == inference.fact.relation
        };
        let first = inference.rule.as_ref().and_then(|rule| self.by_rule.get(rule)).copied();
        let mut candidates: Vec<ClauseId> = first.into_iter().collect();
        candidates.extend(system.clauses.enumerate().map(|(id, _)| id).filter(|id| Some(*id) != first));
        candidates.retain(head_fits);
        let everything: Vec<usize> = (0..self.steps.len()).collect();
        // The solver's premises first; where they do not fit our clauses, whatever is derived so far.
        for premises in [&inference.premises, &everything] {
            for clause in &candidates {
                if let Some(step) = self.instance(*clause, all, inference, premises)? {
                    self.steps.push(step);
                    if let Some(rule) = &inference.rule {
                        self.by_rule.insert(rule.clone(), *clause);
                    }
                    return Ok(());
                }
            }
        }
        Err(NoAnswer::GaveUp("a step of the refutation follows from no clause".to_owned()))
    }

    /// The clause with values that derive the fact from some of the premises, if there are any.
    fn instance(
        &mut self,
        id: ClauseId,
        all: &[Inference],
        inference: &Inference,
        premises: &[usize],
    ) -> Result<Option<Step>, NoAnswer> {
        let clause = &self.system.clauses[id];
        let matches = |application: &Application, premise: usize| {
            let fact = &all[premise].fact;
            if fact.relation == Some(application.relation) {
                are(&application.arguments, &fact.arguments)
            } else {
                Term::bool(false)
            }
        };
        let mut demands = vec![];
        if let Some(head) = &clause.head {
            demands.push(are(&head.arguments, &inference.fact.arguments));
        }
        for application in &clause.body {
            demands.push(Term::any(premises.iter().map(|premise| matches(application, *premise))));
        }
        let demand = Term::all(demands);
        if demand.is_false() {
            return Ok(None);
        }
        let solver = &mut self.solver;
        solver.push();
        solver.assert(&clause.constraint.and(&demand));
        let answer = solver.check(self.budget);
        solver.pop();
        match answer {
            Answer::Unsat => return Ok(None),
            Answer::Unknown(reason) => return Err(reason),
            Answer::Sat => {}
        }
        let mut used = Vec::new();
        for application in &clause.body {
            let mut chosen = None;
            for premise in premises {
                if chosen.is_none() && solver.bool_value(&matches(application, *premise))? {
                    chosen = Some(*premise);
                }
            }
            used.push(chosen.ok_or_else(|| NoAnswer::GaveUp("a model contradicts its question".to_owned()))?);
        }
        let variables: Vec<Variable> = clause.variables().into_iter().collect();
        let values = solver.values(&variables)?;
        let step = Step {
            clause: id,
            values: variables.into_iter().zip(values).collect(),
            arguments: inference.fact.arguments.clone(),
            premises: used,
        };
        Ok(Some(step))
    }
}

/// That terms have these values.
fn are(terms: &[Term], values: &[Value]) -> Term {
    Term::all(terms.iter().zip(values).map(|(term, value)| term.equals(&value.term())))
}
