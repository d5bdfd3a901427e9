//! `CheckSim` (paper 1, sections 3.4 and 4.2): whether an automaton may do all that another one does.
//!
//! A state simulates another one if its label follows from the other's, it is atomic only if the other is, and for each edge of the other there
//! is an edge of its own that may do at least as much and leads to a state that simulates the other's target. The largest such relation is computed
//! by leaving out pairs until nothing changes. Under-approximates where the solver has no answer.
//!
//! Deviations:
//! 1. An edge that does nothing may be answered by staying: shared variables do not change, and the label still holds. Quotients need this.
//! 2. Atomic states, reads and starts of threads count; the paper leaves the first two out, and has no others. Fewer atomic states, more reads: more interference.

use crate::labels::Labels;
use ir::IdVec;
use smt::NoAnswer;
use std::collections::BTreeSet;
use verdict::{AbstractEdge, AbstractId, Acfa, Budget};

/// What came of it.
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
pub fn simulate(left: &Acfa, right: &Acfa, labels: &mut Labels, budget: &Budget) -> Simulated {
    let mut unsure = None;
    let mut relation: IdVec<AbstractId, BTreeSet<AbstractId>> = IdVec::new();
    for one in left.states.iter() {
        let mut fits = BTreeSet::new();
        for (id, other) in right.states.enumerate() {
            if other.atomic && !one.atomic {
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
    loop {
        let mut changed = false;
        for state in left.states.ids() {
            let candidates: Vec<AbstractId> = relation[state].iter().copied().collect();
            for other in candidates {
                if !left.leaving(state).iter().all(|edge| is_answered(&relation, edge, other, right)) {
                    relation[state].remove(&other);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    match (relation[left.start].contains(&right.start), unsure) {
        (true, _) => Simulated::Yes(relation),
        (false, None) => Simulated::No,
        (false, Some(reason)) => Simulated::Unsure(reason),
    }
}

/// Whether a state of the right automaton has an answer to an edge of the left one.
fn is_answered(
    relation: &IdVec<AbstractId, BTreeSet<AbstractId>>,
    edge: &AbstractEdge,
    other: AbstractId,
    right: &Acfa,
) -> bool {
    let targets = &relation[edge.target];
    let stays = edge.action.is_silent() && targets.contains(&other);
    let moves =
        |answer: &AbstractEdge| edge.action.is_within(&answer.action) && targets.contains(&answer.target);
    stays || right.leaving(other).iter().any(moves)
}
