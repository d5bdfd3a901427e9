//! The strongest solution of clauses that consists of simple facts.
//!
//! Flanagan and Leino: Houdini, an annotation assistant (FME 2001), on Horn clauses: at first each relation
//! is empty. A clause that derives values outside of a relation removes the facts that these values violate,
//! until no clause does. The result satisfies all clauses that have a head. Linear equations, if requested,
//! are weakened in the same way ([`crate::equations`]).

use super::facts::{Fact, Vocabulary, formula};
use crate::equations::Equations;
use ir::IdVec;
use smt::horn::{Application, Clause, ClauseId, HornSystem, Interpretation, RelationId};
use smt::{Answer, NoAnswer, Solver, Sort, Term, Value, Variable};
use std::collections::BTreeSet;
use verdict::Budget;

/// After this many queries, the solver is replaced: its learned clauses slow it down.
const QUESTIONS: usize = 100;

/// What facts are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Comparisons of numbers with each other and with constants.
    Comparisons,
    /// These, and linear equations.
    Equations,
}

/// What holds of a relation.
struct Holds {
    facts: Vec<Fact>,
    equations: Equations,
}

impl Holds {
    fn is_nothing(&self) -> bool {
        self.facts.is_empty() && self.equations == Equations::default()
    }
    fn formula(&self, arguments: &[Term]) -> Term {
        formula(&self.facts, arguments).and(&Term::all(self.equations.terms(arguments)))
    }
}

/// What holds of each relation; `None` when it never holds.
type Found = IdVec<RelationId, Option<Holds>>;

/// Finds the strongest solution of all clauses with a head.
pub fn strongest(
    system: &HornSystem,
    vocabulary: &Vocabulary,
    language: Language,
    budget: &Budget,
) -> Result<Interpretation, NoAnswer> {
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
        if follow((system, vocabulary, language), &mut found, clause, head, &mut solver, budget)? {
            open.extend(&uses[head.relation]);
        }
        solver.pop();
    }
    let formulas = found.enumerate().map(|(relation, facts)| {
        let parameters: Vec<Term> =
            system.relations[relation].parameters.iter().map(Variable::term).collect();
        facts.as_ref().map_or(Term::bool(false), |facts| facts.formula(&parameters))
    });
    Ok(Interpretation { formulas: formulas.collect() })
}

/// What is known before a clause.
fn before(system: &HornSystem, facts: &Interpretation, clause: &Clause) -> Term {
    let known = clause.body.iter().map(|application| system.instantiate(facts, application));
    Term::all(known).and(&clause.constraint)
}

/// Whether nothing bad is possible where some facts hold.
pub fn is_safe(system: &HornSystem, facts: &Interpretation, budget: &Budget) -> bool {
    let mut bad = system.clauses.iter().filter(|clause| clause.head.is_none());
    bad.all(|clause| matches!(smt::satisfiable(&before(system, facts, clause), budget), Answer::Unsat))
}

/// The clauses where some facts are known to hold, each in its place.
pub fn strengthened(system: &HornSystem, facts: &Interpretation) -> HornSystem {
    let clauses = system
        .clauses
        .iter()
        .map(|clause| Clause { constraint: before(system, facts, clause), ..clause.clone() });
    HornSystem { relations: system.relations.clone(), clauses: clauses.collect() }
}

/// Removes the facts that a clause does not preserve; says whether there were any.
fn follow(
    (system, vocabulary, language): (&HornSystem, &Vocabulary, Language),
    found: &mut Found,
    clause: &Clause,
    head: &Application,
    solver: &mut Solver,
    budget: &Budget,
) -> Result<bool, NoAnswer> {
    for application in &clause.body {
        let Some(facts) = &found[application.relation] else { return Ok(false) };
        solver.assert(&facts.formula(&application.arguments));
    }
    solver.assert(&clause.constraint);
    let parameters = &system.relations[head.relation].parameters;
    let mut changed = false;
    loop {
        if let Some(facts) = &found[head.relation] {
            if facts.is_nothing() {
                return Ok(changed);
            }
            solver.assert(&facts.formula(&head.arguments).not());
        }
        let values: Vec<Option<Value>> = match solver.check(budget) {
            Answer::Unsat => return Ok(changed),
            Answer::Unknown(NoAnswer::Exhausted(limit)) => return Err(NoAnswer::Exhausted(limit)),
            // Without values, no fact is known to hold.
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
            None => {
                let facts = vocabulary.facts(system, head.relation, &values);
                let equations = match language {
                    Language::Comparisons => Equations::default(),
                    Language::Equations => Equations::of_point(&values),
                };
                found[head.relation] = Some(Holds { facts, equations });
            }
            Some(holds) => {
                let before = holds.facts.len();
                holds.facts.retain(|fact| fact.holds(&values));
                let fewer = holds.equations.add_point(&values);
                if holds.facts.len() == before && !fewer {
                    holds.facts.clear();
                    holds.equations.clear();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::horn::check_interpretation;

    /// Counts from 0 to 10; a second relation is reached from 5 on.
    fn counting(bad: i128) -> HornSystem {
        let x = Variable::new("x", Sort::Int);
        let mut system = HornSystem::default();
        let below = system.relation("below", vec![x.clone()]);
        let above = system.relation("above", vec![x.clone()]);
        let here = |relation, argument: Term| Application { relation, arguments: vec![argument] };
        let ten = Term::int(10);
        system.clause(Clause {
            body: vec![],
            constraint: x.term().equals(&Term::int(0)),
            head: Some(here(below, x.term())),
        });
        system.clause(Clause {
            body: vec![here(below, x.term())],
            constraint: x.term().less_than(&ten),
            head: Some(here(below, x.term().plus(&Term::int(1)))),
        });
        system.clause(Clause {
            body: vec![here(below, x.term())],
            constraint: x.term().at_least(&Term::int(5)),
            head: Some(here(above, x.term())),
        });
        system.clause(Clause {
            body: vec![here(above, x.term())],
            constraint: x.term().equals(&Term::int(bad)),
            head: None,
        });
        system
    }

    /// Two sums of the same numbers, in one loop, and a third one of both.
    fn sums(bad: i128) -> HornSystem {
        let [x, y, z, any] = ["x", "y", "z", "any"].map(|name| Variable::new(name, Sort::Int));
        let mut system = HornSystem::default();
        let sums = system.relation("sums", vec![x.clone(), y.clone(), z.clone()]);
        let here = |x: Term, y: Term, z: Term| Application { relation: sums, arguments: vec![x, y, z] };
        let zero = Term::int(0);
        system.clause(Clause {
            body: vec![],
            constraint: Term::bool(true),
            head: Some(here(zero.clone(), zero.clone(), zero)),
        });
        let (more, twice) = (any.term(), Term::int(2).times(&any.term()));
        system.clause(Clause {
            body: vec![here(x.term(), y.term(), z.term())],
            constraint: any.term().at_least(&Term::int(3)),
            head: Some(here(x.term().plus(&more), y.term().minus(&more), z.term().plus(&twice))),
        });
        system.clause(Clause {
            body: vec![here(x.term(), y.term(), z.term())],
            constraint: z.term().plus(&y.term()).equals(&x.term().plus(&Term::int(bad))),
            head: None,
        });
        system
    }

    #[test]
    fn equations_know_sums() {
        let budget = Budget::steps_for(60.0);
        for (bad, language, safe) in [
            (1, Language::Equations, true),
            (0, Language::Equations, false),
            (1, Language::Comparisons, false),
        ] {
            let system = sums(bad);
            let found =
                strongest(&system, &Vocabulary::new(&system), language, &budget).expect("there is time");
            assert_eq!(is_safe(&system, &found, &budget), safe, "{bad}: {found:?}");
            let proved = check_interpretation(&system, &found, &budget).is_ok();
            assert_eq!(proved, safe, "what is found makes the other clauses true");
        }
    }

    #[test]
    fn the_strongest_facts_keep_a_counter_in_its_bounds() {
        let budget = Budget::steps_for(60.0);
        for (bad, safe) in [(4, true), (11, true), (5, false), (10, false)] {
            let system = counting(bad);
            let found = strongest(&system, &Vocabulary::new(&system), Language::Comparisons, &budget)
                .expect("there is time");
            assert_eq!(check_interpretation(&system, &found, &budget).is_ok(), safe, "{bad}: {found:?}");
        }
    }
}
