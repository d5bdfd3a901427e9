//! Which steps of others a thread must expect (paper 1, section 5, ω-check). Over-approximates.
//!
//! All configurations that a context of any number of threads can come to are computed from its automata alone, without the data but for one
//! thing: where labels of states contradict each other, there are no threads in both. A thread in one state must expect the steps that another one can take
//! while both are there. A node of a thread's graph is *good* if its label holds behind each step that must be expected there: then the automaton is
//! right for any number of threads, whatever k it was found with.

use crate::counts::{Context, Counts, Spot, is_covered};
use crate::labels::Labels;
use domains::Amount;
use smt::{NoAnswer, Term};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use verdict::{AbstractEdge, Budget, Exhausted};

/// What a context can come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Environment {
    /// Configurations; all that can come about are covered by one of them.
    pub reachable: Vec<Counts>,
    /// The steps that a thread in a state must expect of others.
    pub expected: BTreeMap<Spot, BTreeSet<(Spot, AbstractEdge)>>,
}

impl Environment {
    /// All that a context can come to from some configuration.
    pub fn of(
        context: &Context<'_>,
        start: Counts,
        labels: &mut Labels,
        budget: &Budget,
    ) -> Result<Self, NoAnswer> {
        let mut greatest: Vec<Counts> = vec![start.clone()];
        let mut open = VecDeque::from([start]);
        let mut found = 0u64;
        while let Some(counts) = open.pop_front() {
            budget.check(found * 200).map_err(exhausted)?;
            let steps: Vec<Counts> = context
                .enabled(&counts, false)
                .filter_map(|(template, edge)| context.after(&counts, template, edge))
                .collect();
            for next in steps {
                if greatest.iter().any(|known| is_covered(&next, known)) {
                    continue;
                }
                // Threads whose labels contradict each other are not there at once.
                if !labels.can_hold(&context.invariant(&next), budget)? {
                    continue;
                }
                greatest.retain(|known| !is_covered(known, &next));
                greatest.push(next.clone());
                open.push_back(next);
                found += 1;
            }
        }
        let expected = expected(context, &greatest);
        Ok(Self { reachable: greatest, expected })
    }

    /// Whether a label keeps holding behind all steps that a thread in a state must expect.
    pub fn is_good(
        &self,
        context: &Context<'_>,
        spot: Spot,
        label: &Term,
        labels: &mut Labels,
        budget: &Budget,
    ) -> Result<bool, NoAnswer> {
        for ((template, _), edge) in self.expected.get(&spot).into_iter().flatten() {
            let behind = context.acfas[*template].states[edge.target].label.and(&edge.action.behind);
            let before = label.and(&edge.action.guard);
            if !labels.is_kept(&before, label, &edge.action.havoc, &behind, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn exhausted(limit: Exhausted) -> NoAnswer {
    NoAnswer::Exhausted(limit)
}

/// The steps that are possible while a thread is in a state: one is there, and another one where the edge begins.
fn expected(context: &Context<'_>, reachable: &[Counts]) -> BTreeMap<Spot, BTreeSet<(Spot, AbstractEdge)>> {
    let mut found: BTreeMap<Spot, BTreeSet<(Spot, AbstractEdge)>> = BTreeMap::new();
    for counts in reachable {
        for (template, edge) in context.enabled(counts, false) {
            let source = (template, edge.source);
            for (spot, amount) in counts {
                if *spot != source || *amount > Amount::ONE {
                    found.entry(*spot).or_default().insert((source, edge.clone()));
                }
            }
        }
    }
    found
}
