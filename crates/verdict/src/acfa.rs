//! Abstract control flow automata (ACFAs, paper 1, section 3.3): the effects of a thread on shared variables,
//! without its other behaviour.
//!
//! A thread that is in a state satisfies the state's label, a formula over shared variables. It moves along
//! an edge by giving the variables of the edge's havoc set any values such that the label of the next state
//! holds; all other variables keep their values. While a thread is in an atomic state, only that thread
//! moves.
//!
//! Beyond the paper: an edge says what holds before and right after it, and which threads it starts. So a
//! step that tests and changes a variable needs no state in between, and what holds right after a change is
//! known even if it does not last. A state lists the accesses that a thread there may be about to make.

use ir::ids::Id;
use ir::{IdVec, TemplateId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use terms::{Term, Variable};

/// A state of an ACFA.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct AbstractId(pub u32);

impl Id for AbstractId {
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 states"))
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for AbstractId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

impl fmt::Display for AbstractId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

/// A state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbstractState {
    /// What holds of shared variables while a thread is here.
    pub label: Term,
    /// Whether no other thread moves while a thread is here.
    pub atomic: bool,
    /// The accesses that a thread here may make next and that others could race with, by number.
    pub accesses: BTreeSet<u32>,
}

impl AbstractState {
    /// A state without accesses.
    pub fn new(label: Term, atomic: bool) -> Self {
        Self { label, atomic, accesses: BTreeSet::new() }
    }
}

/// What a thread does on an edge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The shared variables that it may change.
    pub havoc: BTreeSet<Variable>,
    /// The threads that it starts, in order.
    pub starts: Vec<TemplateId>,
    /// What holds of shared variables before it.
    pub guard: Term,
    /// What holds of shared variables right after it.
    pub after: Term,
}

impl Default for Action {
    /// The action that does nothing.
    fn default() -> Self {
        let always = Term::bool(true);
        Self { havoc: BTreeSet::new(), starts: Vec::new(), guard: always.clone(), after: always }
    }
}

impl Action {
    /// Whether it is silent: no other thread can observe it.
    pub fn is_silent(&self) -> bool {
        self.havoc.is_empty() && self.starts.is_empty()
    }
    /// Whether another action may change all variables that this one may, and starts the same threads.
    /// Ignores what holds before and after.
    pub fn is_within(&self, other: &Self) -> bool {
        self.havoc.is_subset(&other.havoc) && self.starts == other.starts
    }
}

/// An edge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbstractEdge {
    /// The source.
    pub source: AbstractId,
    /// The action.
    pub action: Action,
    /// The target.
    pub target: AbstractId,
}

/// An abstract control flow automaton.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acfa {
    /// The states.
    pub states: IdVec<AbstractId, AbstractState>,
    /// Where a thread starts.
    pub start: AbstractId,
    /// The edges, in order and without repetition.
    pub edges: Vec<AbstractEdge>,
}

impl Acfa {
    /// The automaton of a thread that does nothing (the first context of paper 1, section 2.4).
    pub fn empty() -> Self {
        let states: IdVec<AbstractId, AbstractState> =
            [AbstractState::new(Term::bool(true), false)].into_iter().collect();
        Self { states, start: AbstractId(0), edges: Vec::new() }
    }

    /// Sorts the edges.
    pub fn new(
        states: IdVec<AbstractId, AbstractState>,
        start: AbstractId,
        edges: impl IntoIterator<Item = AbstractEdge>,
    ) -> Self {
        let edges: BTreeSet<AbstractEdge> = edges.into_iter().collect();
        Self { states, start, edges: edges.into_iter().collect() }
    }

    /// The edges that leave a state.
    pub fn leaving(&self, state: AbstractId) -> &[AbstractEdge] {
        let first = self.edges.partition_point(|edge| edge.source < state);
        let last = self.edges.partition_point(|edge| edge.source <= state);
        &self.edges[first..last]
    }

    /// Whether all states that it names exist, and its edges are in order.
    pub fn is_well_formed(&self) -> bool {
        let exists = |state: AbstractId| self.states.get(state).is_some();
        exists(self.start)
            && self.edges.iter().all(|edge| exists(edge.source) && exists(edge.target))
            && self.edges.is_sorted_by(|one, two| one < two)
            && self.edges.iter().all(|edge| edge.action.starts.is_sorted())
    }
}

impl fmt::Display for Acfa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, state) in self.states.enumerate() {
            let start = if id == self.start { " start" } else { "" };
            let atomic = if state.atomic { " atomic" } else { "" };
            write!(f, "{id}{start}{atomic}: {}", state.label)?;
            if !state.accesses.is_empty() {
                let numbers: Vec<String> = state.accesses.iter().map(u32::to_string).collect();
                write!(f, " accesses {{{}}}", numbers.join(", "))?;
            }
            writeln!(f)?;
            for AbstractEdge { action, target, .. } in self.leaving(id) {
                let names = |variables: &BTreeSet<Variable>| {
                    variables.iter().map(|variable| variable.name.to_string()).collect::<Vec<_>>().join(", ")
                };
                write!(f, "  -> {target}: havoc {{{}}}", names(&action.havoc))?;
                if !action.guard.is_true() {
                    write!(f, " if {}", action.guard)?;
                }
                if !action.after.is_true() {
                    write!(f, " then {}", action.after)?;
                }
                for template in &action.starts {
                    write!(f, " starts {template}")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}
