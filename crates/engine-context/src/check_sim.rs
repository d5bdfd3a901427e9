//! `CheckSim` (paper 1, sections 3.4 and 4.2): whether an automaton simulates another.
//!
//! A state simulates another if its label follows from the other's, it is atomic only if the other is, it has
//! all accesses of the other, and each edge of the other has an answer: an edge that may do at least as much,
//! whenever the other may be taken, and leads to a state that simulates the other's target. The greatest such
//! relation is computed by removing pairs until a fixed point. Under-approximates where the solver has no
//! answer.
//!
//! Deviations:
//! 1. Staying in the state may answer an edge that does nothing: shared variables do not change, and the
//!    label still holds. Quotients need this.
//! 2. Atomic states, accesses and starts of threads count; the paper ignores the first two, and has no
//!    starts. Fewer atomic states and more accesses mean more interference.

use crate::graph::Built;
use crate::labels::Labels;
use ir::IdVec;
use smt::NoAnswer;
use std::collections::{BTreeMap, BTreeSet};
use verdict::{AbstractEdge, AbstractId, Acfa, Budget};

/// The result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Simulated {
    /// It is simulated: for each state of the left automaton, those of the right one that simulate it.
    Yes(IdVec<AbstractId, BTreeSet<AbstractId>>),
    /// It is not.
    No,
    /// The solver had no answer for some labels, and without them it is not.
    Unsure(NoAnswer),
}

/// Whether the right automaton simulates the left one.
pub fn check_sim(left: &Acfa, right: &Acfa, labels: &mut Labels, budget: &Budget) -> Simulated {
    let mut unsure = None;
    let mut relation: IdVec<AbstractId, BTreeSet<AbstractId>> = IdVec::new();
    for one in left.states.iter() {
        let mut fits = BTreeSet::new();
        for (id, other) in right.states.enumerate() {
            if (other.atomic && !one.atomic) || !one.accesses.is_subset(&other.accesses) {
                continue;
            }
            match labels.implies(&one.label, &other.label, budget) {
                Ok(true) => {
                    fits.insert(id);
                }
                Ok(false) => {}
                Err(reason) => unsure = Some(reason),
            }
        }
        relation.push(fits);
    }
    let mut answers = Answers { left, right, labels, budget, known: BTreeMap::new(), unsure };
    loop {
        let mut changed = false;
        for state in left.states.ids() {
            let candidates: Vec<AbstractId> = relation[state].iter().copied().collect();
            for other in candidates {
                if !left.leaving(state).iter().all(|edge| answers.is_answered(&relation, edge, other)) {
                    relation[state].remove(&other);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    match (relation[left.start].contains(&right.start), answers.unsure) {
        (true, _) => Simulated::Yes(relation),
        (false, None) => Simulated::No,
        (false, Some(reason)) => Simulated::Unsure(reason),
    }
}

/// Which edges answer which others.
struct Answers<'a> {
    left: &'a Acfa,
    right: &'a Acfa,
    labels: &'a mut Labels,
    budget: &'a Budget,
    known: BTreeMap<(&'a AbstractEdge, &'a AbstractEdge), bool>,
    unsure: Option<NoAnswer>,
}

impl<'a> Answers<'a> {
    /// Whether a state of the right automaton has an answer to an edge of the left one.
    fn is_answered(
        &mut self,
        relation: &IdVec<AbstractId, BTreeSet<AbstractId>>,
        edge: &'a AbstractEdge,
        other: AbstractId,
    ) -> bool {
        let targets = &relation[edge.target];
        let right = self.right;
        (edge.action.is_silent() && targets.contains(&other))
            || right
                .leaving(other)
                .iter()
                .any(|answer| targets.contains(&answer.target) && self.covers(edge, answer))
    }

    /// Whether an edge of the right automaton allows what an edge of the left does, whenever the latter may
    /// be taken.
    fn covers(&mut self, edge: &'a AbstractEdge, answer: &'a AbstractEdge) -> bool {
        if !edge.action.is_within(&answer.action) {
            return false;
        }
        if let Some(known) = self.known.get(&(edge, answer)) {
            return *known;
        }
        let before = self.left.states[edge.source].label.and(&edge.action.guard);
        let after = self.left.states[edge.target].label.and(&edge.action.after);
        let mut covers = true;
        for (has, needs) in [(before, &answer.action.guard), (after, &answer.action.after)] {
            covers = covers
                && match self.labels.implies(&has, needs, self.budget) {
                    Ok(implies) => implies,
                    Err(reason) => {
                        self.unsure = Some(reason);
                        false
                    }
                };
        }
        self.known.insert((edge, answer), covers);
        covers
    }
}

/// The nodes of a graph with the states of an automaton that simulates it: those that are reached together.
pub(crate) struct Pairs {
    /// The pairs; the first one is the start.
    pub pairs: Vec<(AbstractId, AbstractId)>,
    /// The moves: the number of the pair before, the number of the graph's move, and the pair after it.
    pub steps: BTreeSet<(usize, usize, usize)>,
}

impl Pairs {
    /// The pairs of a graph and the automaton that simulates it.
    pub fn of<Name: Ord, Step>(
        graph: &Built<Name, Step>,
        acfa: &Acfa,
        simulation: &IdVec<AbstractId, BTreeSet<AbstractId>>,
    ) -> Self {
        let first = (graph.acfa.start, acfa.start);
        let mut pairs = vec![first];
        let mut known: BTreeMap<(AbstractId, AbstractId), usize> = BTreeMap::from([(first, 0)]);
        let mut steps = BTreeSet::new();
        let mut at = 0;
        while at < pairs.len() {
            let (node, state) = pairs[at];
            let leaving = graph.moves.iter().enumerate().filter(|(_, taken)| taken.edge.source == node);
            for (number, taken) in leaving {
                let fits = &simulation[taken.edge.target];
                let stays = taken.edge.action.is_silent() && fits.contains(&state);
                let answers: BTreeSet<AbstractId> = if stays {
                    BTreeSet::from([state])
                } else {
                    let within = acfa.leaving(state).iter().filter(|answer| {
                        taken.edge.action.is_within(&answer.action) && fits.contains(&answer.target)
                    });
                    within.map(|answer| answer.target).collect()
                };
                for answer in answers {
                    let pair = (taken.edge.target, answer);
                    let next = *known.entry(pair).or_insert_with(|| {
                        pairs.push(pair);
                        pairs.len() - 1
                    });
                    steps.insert((at, number, next));
                }
            }
            at += 1;
        }
        Self { pairs, steps }
    }
}
