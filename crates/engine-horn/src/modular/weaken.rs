//! The strongest solution of clauses that is made of simple facts.
//!
//! Flanagan and Leino: Houdini, an annotation assistant (FME 2001), on Horn clauses: at first no relation holds of anything. A clause that leads to values for which a relation does not
//! hold takes from it the facts that are not so there, until no clause does. What is found makes all clauses true that have a head.

use super::facts::{Fact, Vocabulary, formula};
use ir::IdVec;
use smt::horn::{Application, Clause, ClauseId, HornSystem, Interpretation, RelationId};
use smt::{Answer, NoAnswer, Solver, Sort, Term, Value, Variable};
use std::collections::BTreeSet;
use verdict::Budget;

/// After so many questions a new solver is taken: what it has learnt is more than what it needs.
const QUESTIONS: usize = 100;

/// What holds of each relation; nothing if it never holds.
type Found = IdVec<RelationId, Option<Vec<Fact>>>;

/// Finds the strongest solution of all clauses with a head.
pub fn strongest(system: &HornSystem, budget: &Budget) -> Result<Interpretation, NoAnswer> {
    let vocabulary = Vocabulary::new(system);
    let mut found: Found = system.relations.iter().map(|_| None).collect();
    let mut uses: IdVec<RelationId, Vec<ClauseId>> = system.relations.iter().map(|_| Vec::new()).collect();
    for (id, clause) in system.clauses.enumerate() {
        for application in &clause.body {
            uses[application.relation].push(id);
        }
    }
    let mut solver = Solver::new();
    let mut asked = 0;
    let first = system.clauses.enumerate().filter(|(_, clause)| clause.body.is_empty());
    let mut open: BTreeSet<ClauseId> = first.map(|(id, _)| id).collect();
    while let Some(id) = open.pop_first() {
        let clause = &system.clauses[id];
        let Some(head) = &clause.head else { continue };
        asked += 1;
        if asked % QUESTIONS == 0 {
            solver = Solver::new();
        }
        solver.push();
        if follow(system, &vocabulary, &mut found, clause, head, &mut solver, budget)? {
            open.extend(&uses[head.relation]);
        }
        solver.pop();
    }
    let formulas = found.enumerate().map(|(relation, facts)| {
        let parameters: Vec<Term> =
            system.relations[relation].parameters.iter().map(Variable::term).collect();
        facts.as_ref().map_or(Term::bool(false), |facts| formula(facts, &parameters))
    });
    Ok(Interpretation { formulas: formulas.collect() })
}

/// Takes the facts away that a clause does not keep; says whether there were some.
fn follow(
    system: &HornSystem,
    vocabulary: &Vocabulary,
    found: &mut Found,
    clause: &Clause,
    head: &Application,
    solver: &mut Solver,
    budget: &Budget,
) -> Result<bool, NoAnswer> {
    for application in &clause.body {
        let Some(facts) = &found[application.relation] else { return Ok(false) };
        solver.assert(&formula(facts, &application.arguments));
    }
    solver.assert(&clause.constraint);
    let parameters = &system.relations[head.relation].parameters;
    let mut changed = false;
    loop {
        if let Some(facts) = &found[head.relation] {
            if facts.is_empty() {
                return Ok(changed);
            }
            solver.assert(&formula(facts, &head.arguments).not());
        }
        let values: Vec<Option<Value>> = match solver.check(budget) {
            Answer::Unsat => return Ok(changed),
            Answer::Unknown(NoAnswer::Exhausted(limit)) => return Err(NoAnswer::Exhausted(limit)),
            // Without values nothing can be said to be so.
            Answer::Unknown(NoAnswer::GaveUp(_)) => parameters.iter().map(|_| None).collect(),
            Answer::Sat => {
                let simple = |parameter: &Variable| matches!(parameter.sort, Sort::Int | Sort::Bool);
                let arguments = parameters.iter().zip(&head.arguments);
                arguments
                    .map(|(parameter, argument)| {
                        simple(parameter).then(|| solver.value(argument).ok()).flatten()
                    })
                    .collect()
            }
        };
        changed = true;
        match &mut found[head.relation] {
            None => found[head.relation] = Some(vocabulary.facts(system, head.relation, &values)),
            Some(facts) => {
                let before = facts.len();
                facts.retain(|fact| fact.holds(&values));
                if facts.len() == before {
                    facts.clear();
                }
            }
        }
    }
}
