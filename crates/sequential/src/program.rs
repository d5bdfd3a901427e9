//! What a sequential program is.

use indexmap::IndexMap;
use smt::{Term, Variable};

/// A place in a program, by number.
pub type Node = usize;

/// A step: if the guard holds, the state may become the one with the updates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where it starts.
    pub source: Node,
    /// Where it ends.
    pub target: Node,
    /// When it can be taken: over the variables before it, and the inputs.
    pub guard: Term,
    /// The new values of the variables that it changes: over the variables before it, and the inputs.
    pub updates: IndexMap<Variable, Term>,
    /// Values that may be any that the guard allows. Those of different steps may have the same names; none
    /// is a variable of the program.
    pub inputs: Vec<Variable>,
}

/// States that must not be reached: those at a node that a formula holds of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forbidden {
    /// Where.
    pub node: Node,
    /// Which.
    pub formula: Term,
}

/// A sequential program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// What each node is called, for people.
    pub nodes: Vec<String>,
    /// Nodes that get an invariant whatever happens. Of the others some get one.
    pub kept: Vec<bool>,
    /// The variables, with what always holds of each: it is assumed before every step.
    pub variables: IndexMap<Variable, Term>,
    /// Where the program starts.
    pub entry: Node,
    /// What holds there.
    pub initial: Term,
    /// All steps.
    pub steps: Vec<Step>,
    /// What must not happen.
    pub forbidden: Vec<Forbidden>,
}

impl Program {
    /// A program without steps.
    pub fn new(variables: IndexMap<Variable, Term>, initial: Term) -> Self {
        Self {
            nodes: Vec::new(),
            kept: Vec::new(),
            variables,
            entry: 0,
            initial,
            steps: Vec::new(),
            forbidden: Vec::new(),
        }
    }

    /// Adds a node.
    pub fn node(&mut self, name: impl Into<String>, kept: bool) -> Node {
        self.nodes.push(name.into());
        self.kept.push(kept);
        self.nodes.len() - 1
    }

    /// What always holds of the variables of a term.
    pub fn ranges_of(&self, term: &Term) -> Term {
        Term::all(
            term.free_variables().into_iter().filter_map(|variable| self.variables.get(&variable).cloned()),
        )
    }
}
