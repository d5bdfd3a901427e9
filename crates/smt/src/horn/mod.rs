//! Constrained Horn clauses: systems of implications with unknown relations. A solution is a formula for each
//! relation that makes all clauses true, a refutation is a derivation of `false`.
//!
//! Clauses are implicitly universal over their variables: `body relations ∧ constraint → head`.

mod check;
mod derivation;
mod reach;
mod solve;
#[cfg(test)]
mod tests;

pub use check::{Failure, check_derivation, check_interpretation};
pub use derivation::{Derivation, Step};
pub use solve::{Solution, solve};

use crate::sort::Sort;
use crate::term::{Term, Variable};
use indexmap::IndexMap;
use ir::IdVec;
use ir::ids::Id;
use std::collections::BTreeSet;
use std::fmt;

/// A relation of a [`HornSystem`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelationId(pub u32);

/// A clause of a [`HornSystem`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClauseId(pub u32);

/// How many things a system may have of a kind.
const FEW: &str = "fewer than 2^32 things of a kind";

impl Id for RelationId {
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect(FEW))
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Id for ClauseId {
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect(FEW))
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// An unknown relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    /// For people; need not be unique.
    pub name: String,
    /// What it is about. Solutions are formulas over these, which must be different.
    pub parameters: Vec<Variable>,
}

/// A relation of terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Application {
    /// The relation.
    pub relation: RelationId,
    /// One term for each parameter.
    pub arguments: Vec<Term>,
}

/// An implication, for all values of its variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Clause {
    /// Must hold, all of them.
    pub body: Vec<Application>,
    /// Must hold too: a formula without relations.
    pub constraint: Term,
    /// Holds then; nothing stands for `false`.
    pub head: Option<Application>,
}

/// A set of clauses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HornSystem {
    /// The unknown relations.
    pub relations: IdVec<RelationId, Relation>,
    /// What must hold.
    pub clauses: IdVec<ClauseId, Clause>,
}

/// A formula for each relation, over its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interpretation {
    /// The formulas.
    pub formulas: IdVec<RelationId, Term>,
}

impl Interpretation {
    /// What both say.
    pub fn and(&self, other: &Self) -> Self {
        let both = self.formulas.iter().zip(other.formulas.iter()).map(|(one, other)| one.and(other));
        Self { formulas: both.collect() }
    }
}

impl HornSystem {
    /// Adds a relation over different variables.
    ///
    /// # Panics
    /// If two parameters are the same.
    pub fn relation(&mut self, name: impl Into<String>, parameters: Vec<Variable>) -> RelationId {
        let name = name.into();
        let different: BTreeSet<&Variable> = parameters.iter().collect();
        assert_eq!(different.len(), parameters.len(), "the relation {name} has a parameter twice");
        self.relations.push(Relation { name, parameters })
    }
    /// Adds a clause.
    ///
    /// # Panics
    /// If the arguments of a relation do not fit its parameters, or the constraint is no formula.
    pub fn clause(&mut self, clause: Clause) -> ClauseId {
        for application in clause.body.iter().chain(&clause.head) {
            let relation = &self.relations[application.relation];
            let expected: Vec<&Sort> = relation.parameters.iter().map(|parameter| &parameter.sort).collect();
            let given: Vec<&Sort> = application.arguments.iter().map(Term::sort).collect();
            assert_eq!(expected, given, "the arguments of the relation {} do not fit", relation.name);
        }
        assert_eq!(*clause.constraint.sort(), Sort::Bool, "a constraint is a formula");
        self.clauses.push(clause)
    }
    /// Whether a solution of the system says that a relation holds for the given terms.
    pub fn instantiate(&self, interpretation: &Interpretation, application: &Application) -> Term {
        let parameters = &self.relations[application.relation].parameters;
        let replacements: IndexMap<Variable, Term> =
            parameters.iter().cloned().zip(application.arguments.iter().cloned()).collect();
        interpretation.formulas[application.relation].substitute(&replacements)
    }
}

impl Clause {
    /// All variables of the clause.
    pub fn variables(&self) -> BTreeSet<Variable> {
        let applications = self.body.iter().chain(&self.head);
        let arguments = applications.flat_map(|application| &application.arguments);
        arguments.chain([&self.constraint]).flat_map(Term::free_variables).collect()
    }
}

impl fmt::Display for HornSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |application: &Application| {
            let arguments: Vec<String> = application.arguments.iter().map(Term::to_string).collect();
            format!("{}({})", self.relations[application.relation].name, arguments.join(", "))
        };
        for clause in &self.clauses {
            let body: Vec<String> =
                clause.body.iter().map(show).chain([clause.constraint.to_string()]).collect();
            let head = clause.head.as_ref().map_or("false".to_owned(), show);
            writeln!(f, "{} -> {head}", body.join(" && "))?;
        }
        Ok(())
    }
}
