//! `Collapse` (paper 1, section 5): the quotient of an automaton by weak bisimulation.
//!
//! The observables of a state are its label, whether it is atomic, and its next accesses; those of an edge
//! are its effect on *watched* variables, what holds before and after it, and the threads that it starts. An
//! edge is *silent* if it has no observable effect and connects states with the same observables. Two states
//! are equivalent if each observable step of one, with silent steps before and after, can be matched by the
//! other, and so on.
//!
//! The quotient simulates the given automaton, whatever is watched: edges keep all their effects, and those
//! inside a class become loops. If all variables are watched, it does no more than the given one. Otherwise
//! it may change the unwatched variables more often and sooner: it over-approximates.
//!
//! Deviations:
//! 1. A step without other observables that leads to another label is observable: the quotient is finer than
//!    necessary.
//! 2. The solver compares labels. If it has no answer, they count as different.

use crate::graph::merged;
use crate::labels::Labels;
use ir::IdVec;
use smt::Variable;
use std::collections::{BTreeMap, BTreeSet};
use verdict::{AbstractEdge, AbstractId, AbstractState, Acfa, Action, Budget};

/// A quotient.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Collapsed {
    /// The automaton.
    pub acfa: Acfa,
    /// The class of each given state.
    pub part_of: IdVec<AbstractId, AbstractId>,
}

/// The watched variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Watched {
    /// All variables.
    All,
    /// These.
    Only(BTreeSet<Variable>),
}

impl Watched {
    /// The observables of an action.
    fn observe(&self, action: &Action) -> Action {
        match self {
            Self::All => action.clone(),
            Self::Only(watched) => {
                let havoc = action.havoc.intersection(watched).cloned().collect();
                let seen = Action { havoc, ..action.clone() };
                if seen.is_silent() { Action::default() } else { seen }
            }
        }
    }
}

/// The weak bisimulation quotient of an automaton.
pub fn collapse(acfa: &Acfa, watched: &Watched, labels: &mut Labels, budget: &Budget) -> Collapsed {
    let observed = observations(acfa, labels, budget);
    let silent = |edge: &AbstractEdge| {
        watched.observe(&edge.action).is_silent() && observed[edge.source] == observed[edge.target]
    };
    // The silent closure of each state.
    let reached: IdVec<AbstractId, Vec<AbstractId>> = acfa
        .states
        .ids()
        .map(|state| {
            let mut found = BTreeSet::from([state]);
            let mut open = vec![state];
            while let Some(at) = open.pop() {
                let next = acfa.leaving(at).iter().filter(|edge| silent(edge)).map(|edge| edge.target);
                open.extend(next.filter(|target| found.insert(*target)));
            }
            found.into_iter().collect()
        })
        .collect();
    // The weak steps of each state: an observable edge between silent ones.
    let steps: IdVec<AbstractId, BTreeSet<(Action, AbstractId)>> = acfa
        .states
        .ids()
        .map(|state| {
            let edges = reached[state].iter().flat_map(|at| acfa.leaving(*at)).filter(|edge| !silent(edge));
            edges
                .flat_map(|edge| reached[edge.target].iter().map(|end| (watched.observe(&edge.action), *end)))
                .collect()
        })
        .collect();
    let mut blocks = observed.clone();
    let mut count = distinct(&blocks);
    loop {
        // Splits a block if its states can reach different blocks.
        type Signature<'a> = (u32, BTreeSet<(&'a Action, u32)>, BTreeSet<u32>);
        let mut numbers: BTreeMap<Signature<'_>, u32> = BTreeMap::new();
        let mut finer: IdVec<AbstractId, u32> = IdVec::new();
        for state in acfa.states.ids() {
            let can = steps[state].iter().map(|(action, end)| (action, blocks[*end])).collect();
            let silently = reached[state].iter().map(|end| blocks[*end]).collect();
            let next = numbers.len() as u32;
            finer.push(*numbers.entry((blocks[state], can, silently)).or_insert(next));
        }
        let now = distinct(&finer);
        blocks = finer;
        if now == count {
            return quotient(acfa, &blocks);
        }
        count = now;
    }
}

/// The observables of each state, as a number.
fn observations(acfa: &Acfa, labels: &mut Labels, budget: &Budget) -> IdVec<AbstractId, u32> {
    let mut kinds: Vec<&AbstractState> = Vec::new();
    let mut found = IdVec::new();
    for state in acfa.states.iter() {
        let known = kinds.iter().position(|kind| {
            kind.atomic == state.atomic
                && kind.accesses == state.accesses
                && labels.are_same(&kind.label, &state.label, budget)
        });
        let number = known.unwrap_or(kinds.len());
        if number == kinds.len() {
            kinds.push(state);
        }
        found.push(number as u32);
    }
    found
}

fn distinct(blocks: &IdVec<AbstractId, u32>) -> usize {
    blocks.iter().collect::<BTreeSet<_>>().len()
}

/// One state for each block, in the order in which they first come up.
fn quotient(acfa: &Acfa, blocks: &IdVec<AbstractId, u32>) -> Collapsed {
    let mut numbers: BTreeMap<u32, AbstractId> = BTreeMap::new();
    let mut states: IdVec<AbstractId, AbstractState> = IdVec::new();
    let mut part_of = IdVec::new();
    for (id, state) in acfa.states.enumerate() {
        part_of.push(*numbers.entry(blocks[id]).or_insert_with(|| states.push(state.clone())));
    }
    let edges = acfa.edges.iter().filter_map(|edge| {
        let (source, target) = (part_of[edge.source], part_of[edge.target]);
        let stays = source == target && edge.action.is_silent();
        (!stays).then(|| AbstractEdge { source, action: edge.action.clone(), target })
    });
    Collapsed { acfa: Acfa::new(states, part_of[acfa.start], merged(edges)), part_of }
}
