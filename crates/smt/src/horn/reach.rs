//! Which relations matter: those that some clauses can derive, and that a derivation of `false` can use.
//!
//! Spacer silently drops the others: its answer does not mention them.

use super::{ClauseId, HornSystem, RelationId};
use crate::limits::NoAnswer;
use crate::solver::{Answer, Solver};
use ir::IdVec;
use verdict::Budget;

/// For each relation whether it matters, and how to interpret it where it does not.
pub(super) struct Relevance {
    /// Whether the constraint of each clause can hold, as far as is known.
    possible: IdVec<ClauseId, bool>,
    /// Whether some clauses whose constraints can hold derive it.
    pub derivable: IdVec<RelationId, bool>,
    /// Whether it can be used to derive `false`.
    pub used: IdVec<RelationId, bool>,
}

impl Relevance {
    pub fn of(system: &HornSystem, budget: &Budget) -> Result<Self, NoAnswer> {
        let no: IdVec<RelationId, bool> = system.relations.iter().map(|_| false).collect();
        let mut possible = IdVec::new();
        // One solver for all: a new one costs more than most of these questions.
        let mut solver = Solver::new();
        for clause in &system.clauses {
            solver.push();
            solver.assert(&clause.constraint);
            let answer = solver.check(budget);
            solver.pop();
            possible.push(match answer {
                Answer::Unsat => false,
                Answer::Unknown(NoAnswer::Exhausted(limit)) => return Err(NoAnswer::Exhausted(limit)),
                Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => true,
            });
        }
        let mut relevance = Self { possible, derivable: no.clone(), used: no };
        loop {
            let mut changed = false;
            for (id, clause) in system.clauses.enumerate() {
                if let Some(head) = &clause.head
                    && !relevance.derivable[head.relation]
                    && relevance.body_is_derivable(system, id)
                {
                    relevance.derivable[head.relation] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        loop {
            let mut changed = false;
            for (id, clause) in system.clauses.enumerate() {
                if relevance.matters(system, id) {
                    for application in &clause.body {
                        changed |= !relevance.used[application.relation];
                        relevance.used[application.relation] = true;
                    }
                }
            }
            if !changed {
                return Ok(relevance);
            }
        }
    }

    fn body_is_derivable(&self, system: &HornSystem, clause: ClauseId) -> bool {
        let body = &system.clauses[clause].body;
        self.possible[clause] && body.iter().all(|application| self.derivable[application.relation])
    }

    /// Whether the clause may take part in a derivation of `false`.
    pub fn matters(&self, system: &HornSystem, clause: ClauseId) -> bool {
        let head = &system.clauses[clause].head;
        self.body_is_derivable(system, clause) && head.as_ref().is_none_or(|head| self.used[head.relation])
    }

    /// The interpretation of a relation that does not matter.
    pub fn default(&self, relation: RelationId) -> Option<bool> {
        match (self.derivable[relation], self.used[relation]) {
            (false, _) => Some(false),
            (true, false) => Some(true),
            (true, true) => None,
        }
    }
}
