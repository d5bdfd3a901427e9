//! Which relations matter: those that some clauses can derive, and that a derivation of `false` can use.

use super::{Clause, HornSystem, RelationId};
use ir::IdVec;
use ir::ids::Id;

/// For each relation whether it matters, and how to interpret it where it does not.
pub(super) struct Relevance {
    /// Whether some clauses derive it, whatever their constraints.
    pub derivable: IdVec<RelationId, bool>,
    /// Whether it can be used to derive `false`.
    pub used: IdVec<RelationId, bool>,
}

impl Relevance {
    pub fn of(system: &HornSystem) -> Self {
        let no: IdVec<RelationId, bool> = system.relations.iter().map(|_| false).collect();
        let mut relevance = Self { derivable: no.clone(), used: no };
        loop {
            let mut changed = false;
            for clause in &system.clauses {
                if let Some(head) = &clause.head
                    && !relevance.derivable[head.relation]
                    && relevance.body_is_derivable(clause)
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
            for clause in &system.clauses {
                if relevance.matters(clause) {
                    for application in &clause.body {
                        changed |= !relevance.used[application.relation];
                        relevance.used[application.relation] = true;
                    }
                }
            }
            if !changed {
                return relevance;
            }
        }
    }

    fn body_is_derivable(&self, clause: &Clause) -> bool {
        !clause.constraint.is_false()
            && clause.body.iter().all(|application| self.derivable[application.relation])
    }

    /// Whether the clause may take part in a derivation of `false`.
    pub fn matters(&self, clause: &Clause) -> bool {
        self.body_is_derivable(clause) && clause.head.as_ref().is_none_or(|head| self.used[head.relation])
    }

    /// The interpretation of a relation that does not matter.
    pub fn default(&self, relation: RelationId) -> Option<bool> {
        debug_assert!(relation.index() < self.used.len());
        match (self.derivable[relation], self.used[relation]) {
            (false, _) => Some(false),
            (true, false) => Some(true),
            (true, true) => None,
        }
    }
}
