//! Simplifies clauses without changing their solutions.

use indexmap::IndexMap;
use smt::horn::{Application, Clause};
use smt::visit::conjuncts;
use smt::{Answer, Operation, Solver, Term, Variable};
use std::collections::BTreeSet;
use verdict::Budget;

/// After this many queries, the solver is replaced: its learned clauses slow it down.
const QUESTIONS: usize = 100;

/// Remembers which formulas can hold.
#[derive(Default)]
pub struct Simplifier {
    known: IndexMap<Term, bool>,
    solver: Solver,
    asked: usize,
}

impl Simplifier {
    /// Removes constraints that do not restrict the relations of a clause; `None` when the clause is valid.
    pub fn simplify(&mut self, mut clause: Clause, budget: &Budget) -> Option<Clause> {
        while let Some((variable, value)) = definition(&clause) {
            clause.constraint = clause.constraint.substitute(&IndexMap::from([(variable, value)]));
        }
        let outside = outside(&clause);
        let mut parts: Vec<(BTreeSet<Variable>, Vec<Term>)> = Vec::new();
        for conjunct in conjuncts(&clause.constraint) {
            let mut variables = conjunct.free_variables();
            let mut together = vec![conjunct];
            // Conjuncts with a common variable belong together.
            let (joined, apart) = parts.into_iter().partition(|(other, _)| !other.is_disjoint(&variables));
            let joined: Vec<(BTreeSet<Variable>, Vec<Term>)> = joined;
            for (other, terms) in joined {
                variables.extend(other);
                together.extend(terms);
            }
            parts = apart;
            parts.push((variables, together));
        }
        let mut kept = Vec::new();
        for (variables, terms) in parts {
            let part = Term::all(terms);
            if !variables.is_disjoint(&outside) {
                kept.push(part);
            } else if !self.can_hold(&part, budget) {
                return None;
            }
        }
        kept.sort_unstable();
        clause.constraint = Term::all(kept);
        let trivial = clause.head.as_ref().is_some_and(|head| clause.body.contains(head));
        (!trivial && !clause.constraint.is_false()).then_some(clause)
    }

    /// Whether a formula can hold, as far as is known.
    pub fn can_hold(&mut self, formula: &Term, budget: &Budget) -> bool {
        if let Some(known) = self.known.get(formula) {
            return *known;
        }
        self.asked += 1;
        if self.asked.is_multiple_of(QUESTIONS) {
            self.solver = Solver::new();
        }
        self.solver.push();
        self.solver.assert(formula);
        let answer = !matches!(self.solver.check(budget), Answer::Unsat);
        self.solver.pop();
        self.known.insert(formula.clone(), answer);
        answer
    }
}

/// The variables that relations of a clause are about.
fn outside(clause: &Clause) -> BTreeSet<Variable> {
    let arguments = |application: &Application| application.arguments.clone();
    let all = clause.body.iter().chain(&clause.head).flat_map(arguments);
    all.flat_map(|term| term.free_variables()).collect()
}

/// A variable that only the constraint speaks of, and what it is equal to.
fn definition(clause: &Clause) -> Option<(Variable, Term)> {
    let outside = outside(clause);
    for conjunct in conjuncts(&clause.constraint) {
        if let (Operation::Equal, [one, other]) = (conjunct.operation(), conjunct.operands()) {
            for (one, other) in [(one, other), (other, one)] {
                if let Some(variable) = one.as_variable()
                    && !outside.contains(&variable)
                    && !other.free_variables().contains(&variable)
                {
                    return Some((variable, other.clone()));
                }
            }
        }
    }
    None
}
