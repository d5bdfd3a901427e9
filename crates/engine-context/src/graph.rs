//! The abstract reachability graph of a thread in a context (paper 1, algorithms 2 to 4: `Connect`, `Find`,
//! `Union`).
//!
//! A node holds abstract states of the thread, which the caller names (a location with a formula). Steps of
//! the thread lead from node to node. A step of the context does not move the thread, so the nodes before and
//! after it are merged. The label of a node is the disjunction of its states' labels.
//!
//! Deviations:
//! 1. Edges between the same nodes are merged only if they change the same variables, start the same threads,
//!    and have the same postcondition.
//! 2. Nodes are found by union-find, and not merged one edge at a time.

use crate::labels::simplified;
use ir::{IdVec, TemplateId};
use smt::{Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{AbstractEdge, AbstractId, AbstractState, Acfa, Action};

/// A graph whose states and steps have names.
#[derive(Clone, Debug)]
pub struct Graph<Name, Step> {
    numbers: BTreeMap<Name, usize>,
    /// The label, atomicity and accesses of each state.
    states: Vec<AbstractState>,
    /// Another state of the same node, or the state itself.
    parent: Vec<usize>,
    edges: BTreeSet<(usize, Action, usize, Step)>,
    /// The states whose steps are complete.
    explored: BTreeSet<usize>,
}

/// A step between nodes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Move<Step> {
    /// The edge between the nodes.
    pub edge: AbstractEdge,
    /// Its name.
    pub step: Step,
}

/// A graph as an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built<Name: Ord, Step> {
    /// The automaton.
    pub acfa: Acfa,
    /// The node of each state.
    pub nodes: BTreeMap<Name, AbstractId>,
    /// The steps that edges stand for.
    pub moves: Vec<Move<Step>>,
    /// The states whose steps are all there.
    pub explored: BTreeSet<Name>,
}

/// Edges that differ only in their preconditions.
type Kind = (AbstractId, AbstractId, BTreeSet<Variable>, Vec<TemplateId>, Term);

fn kind(source: AbstractId, action: &Action, target: AbstractId) -> Kind {
    (source, target, action.havoc.clone(), action.starts.clone(), action.after.clone())
}

/// Merges edges that differ only in their preconditions.
pub fn merged(edges: impl IntoIterator<Item = AbstractEdge>) -> Vec<AbstractEdge> {
    let mut guards: BTreeMap<Kind, Vec<Term>> = BTreeMap::new();
    for AbstractEdge { source, action, target } in edges {
        guards.entry(kind(source, &action, target)).or_default().push(action.guard);
    }
    let edges = guards.into_iter().map(|((source, target, havoc, starts, after), guards)| {
        let action = Action { havoc, starts, guard: simplified(&Term::any(guards)), after };
        AbstractEdge { source, action, target }
    });
    edges.collect()
}

impl<Name: Ord + Clone, Step: Ord + Clone> Graph<Name, Step> {
    /// A graph with the state in which the thread starts.
    pub fn new(start: Name, state: AbstractState) -> Self {
        let mut graph = Self {
            numbers: BTreeMap::new(),
            states: Vec::new(),
            parent: Vec::new(),
            edges: BTreeSet::new(),
            explored: BTreeSet::new(),
        };
        graph.find(start, state);
        graph
    }

    /// `Find` (algorithm 3): the number of a state. A new state is added as a separate node.
    fn find(&mut self, name: Name, state: AbstractState) -> usize {
        let next = self.states.len();
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.states.push(state);
            self.parent.push(next);
        }
        number
    }

    fn node(&self, state: usize) -> usize {
        let mut at = state;
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }

    /// Whether there is such a state.
    pub fn contains(&self, name: &Name) -> bool {
        self.numbers.contains_key(name)
    }

    /// `Connect` (algorithm 2, lines 1 to 9): adds a step of the thread. The state that it comes from must be
    /// in the graph; otherwise nothing happens.
    pub fn connect(&mut self, from: &Name, action: Action, step: Step, to: Name, state: AbstractState) {
        let Some(from) = self.numbers.get(from).copied() else { return };
        let to = self.find(to, state);
        self.edges.insert((from, action, to, step));
    }

    /// Marks the steps of a state as complete.
    pub fn complete(&mut self, state: &Name) {
        self.explored.extend(self.numbers.get(state));
    }

    /// `Union` (algorithm 4, called in line 11 of algorithm 2): adds a step of the context. Both states are
    /// in one node from now on. The first one must be in the graph.
    pub fn union(&mut self, from: &Name, to: Name, state: AbstractState) {
        let Some(from) = self.numbers.get(from).copied() else { return };
        let to = self.find(to, state);
        self.join(from, to);
    }

    /// Adds another state in which the thread may start: it is in the first node.
    pub fn union_with_start(&mut self, name: Name, state: AbstractState) {
        let state = self.find(name, state);
        self.join(0, state);
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.node(one), self.node(other));
        // The earlier state names the node, so that the order of steps does not matter.
        self.parent[one.max(other)] = one.min(other);
    }

    /// The automaton. A node is atomic if all its states are.
    pub fn finish(&self) -> Built<Name, Step> {
        let mut nodes: BTreeMap<usize, AbstractId> = BTreeMap::new();
        let mut labels: IdVec<AbstractId, Vec<Term>> = IdVec::new();
        let mut states: IdVec<AbstractId, AbstractState> = IdVec::new();
        for (number, seen) in self.states.iter().enumerate() {
            let id = *nodes.entry(self.node(number)).or_insert_with(|| {
                labels.push(Vec::new());
                states.push(AbstractState::new(Term::bool(false), true))
            });
            labels[id].push(seen.label.clone());
            states[id].atomic &= seen.atomic;
            states[id].accesses.extend(&seen.accesses);
        }
        for (id, labels) in labels.enumerate() {
            states[id].label = simplified(&Term::any(labels.iter().cloned()));
        }
        let id_of = |state: usize| nodes[&self.node(state)];
        let edge_of = |(from, action, to, _): &(usize, Action, usize, Step)| AbstractEdge {
            source: id_of(*from),
            action: action.clone(),
            target: id_of(*to),
        };
        let edges = merged(self.edges.iter().map(edge_of));
        let by_kind: BTreeMap<Kind, &AbstractEdge> =
            edges.iter().map(|edge| (kind(edge.source, &edge.action, edge.target), edge)).collect();
        let moves: BTreeSet<Move<Step>> = self
            .edges
            .iter()
            .map(|found| {
                let AbstractEdge { source, action, target } = edge_of(found);
                let edge = by_kind[&kind(source, &action, target)].clone();
                Move { edge, step: found.3.clone() }
            })
            .collect();
        let names = self.numbers.iter().map(|(name, state)| (name.clone(), id_of(*state))).collect();
        let acfa = Acfa::new(states, id_of(0), edges);
        let explored = self.numbers.iter().filter(|(_, state)| self.explored.contains(*state));
        let explored = explored.map(|(name, _)| name.clone()).collect();
        Built { acfa, nodes: names, moves: moves.into_iter().collect(), explored }
    }
}
