//! The abstract reachability graph of a thread in a context (paper 1, algorithms 2 to 4: `Connect`, `Find`, `Union`).
//!
//! A node holds abstract states of the thread, which the caller names (a location with a formula). Steps of the thread lead from node to node. A step of the
//! context leaves the thread where it is, so the nodes before and behind it become one. The label of a node is that of one of its states or of another.
//!
//! Deviations:
//! 1. Edges between the same nodes are one only if they start the same threads.
//! 2. Nodes are found by union-find, and not merged one edge at a time.

use ir::IdVec;
use smt::Term;
use std::collections::BTreeMap;
use verdict::{AbstractEdge, AbstractId, AbstractState, Acfa, Action};

/// A graph whose states have names.
#[derive(Clone, Debug)]
pub struct Graph<Name> {
    numbers: BTreeMap<Name, usize>,
    /// The label of each state, and whether it is atomic.
    states: Vec<(Term, bool)>,
    /// Another state of the same node, or the state itself.
    parent: Vec<usize>,
    edges: Vec<(usize, Action, usize)>,
}

impl<Name: Ord + Clone> Graph<Name> {
    /// With the state that the thread starts in.
    pub fn new(start: Name, label: Term, atomic: bool) -> Self {
        let mut graph =
            Self { numbers: BTreeMap::new(), states: Vec::new(), parent: Vec::new(), edges: Vec::new() };
        graph.add(start, label, atomic);
        graph
    }

    /// The number of a state, which is added if it is new; then a node of its own (algorithm 3).
    fn add(&mut self, name: Name, label: Term, atomic: bool) -> usize {
        let next = self.states.len();
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.states.push((label, atomic));
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

    /// Adds a step of the thread (algorithm 2). The state that it comes from must be there; nothing happens otherwise.
    pub fn connect(&mut self, from: &Name, action: Action, to: Name, label: Term, atomic: bool) {
        let Some(from) = self.numbers.get(from).copied() else { return };
        let to = self.add(to, label, atomic);
        self.edges.push((from, action, to));
    }

    /// Adds a step of the context (algorithm 4): both states are in one node from now on. The first one must be there.
    pub fn unite(&mut self, from: &Name, to: Name, label: Term, atomic: bool) {
        let Some(from) = self.numbers.get(from).copied() else { return };
        let to = self.add(to, label, atomic);
        let (one, other) = (self.node(from), self.node(to));
        // The earlier state names the node, so that the order of steps does not matter.
        self.parent[one.max(other)] = one.min(other);
    }

    /// Adds a state that the thread may start in, too: it is in the first node.
    pub fn unite_with_start(&mut self, name: Name, label: Term, atomic: bool) {
        let state = self.add(name, label, atomic);
        let (one, other) = (self.node(0), self.node(state));
        self.parent[one.max(other)] = one.min(other);
    }

    /// The automaton, and the node of each state. A node is atomic if all its states are.
    pub fn finish(&self) -> (Acfa, BTreeMap<Name, AbstractId>) {
        let mut nodes: BTreeMap<usize, AbstractId> = BTreeMap::new();
        let mut states: IdVec<AbstractId, AbstractState> = IdVec::new();
        for (number, (label, atomic)) in self.states.iter().enumerate() {
            let id = *nodes
                .entry(self.node(number))
                .or_insert_with(|| states.push(AbstractState { label: Term::bool(false), atomic: true }));
            let state = &mut states[id];
            state.label = state.label.or(label);
            state.atomic &= *atomic;
        }
        let id_of = |state: usize| nodes[&self.node(state)];
        let mut merged: BTreeMap<(AbstractId, AbstractId, Vec<ir::TemplateId>), Action> = BTreeMap::new();
        for (from, action, to) in &self.edges {
            let all = merged.entry((id_of(*from), id_of(*to), action.starts.clone())).or_default();
            all.havoc.extend(action.havoc.iter().cloned());
            all.reads.extend(action.reads.iter().cloned());
            all.starts.clone_from(&action.starts);
        }
        let edges =
            merged.into_iter().map(|((source, target, _), action)| AbstractEdge { source, action, target });
        let names = self.numbers.iter().map(|(name, state)| (name.clone(), id_of(*state))).collect();
        (Acfa::new(states, id_of(0), edges), names)
    }
}

/// One automaton that may do what any of some may: their starts are one state. Nothing if there are none.
pub fn joined(acfas: &[Acfa]) -> Option<Acfa> {
    let (first, others) = acfas.split_first()?;
    let mut all = first.clone();
    for acfa in others {
        let ids: IdVec<AbstractId, AbstractId> = acfa
            .states
            .enumerate()
            .map(|(id, state)| {
                if id == acfa.start {
                    let start = &mut all.states[all.start];
                    start.label = start.label.or(&state.label);
                    start.atomic &= state.atomic;
                    all.start
                } else {
                    all.states.push(state.clone())
                }
            })
            .collect();
        let more = acfa.edges.iter().map(|edge| AbstractEdge {
            source: ids[edge.source],
            action: edge.action.clone(),
            target: ids[edge.target],
        });
        all = Acfa::new(
            all.states.clone(),
            all.start,
            all.edges.iter().cloned().chain(more).collect::<Vec<_>>(),
        );
    }
    Some(all)
}
