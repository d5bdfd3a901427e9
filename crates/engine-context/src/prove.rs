//! The proof that an inferred context stands for: nodes of the graphs together with the states of the automata that simulate them, and what threads see there.

use crate::counts::Counts;
use crate::infer::Proved;
use crate::labels::simplified;
use crate::predicate_thread::{Known, PredicateThread};
use ir::{IdVec, TemplateId};
use smt::Term;
use std::collections::{BTreeMap, BTreeSet};
use verdict::{AbstractId, Acfa, ContextEdge, ContextNode, ContextProof, ContextView, Predicate};

/// A node of a graph and a state of the automaton that simulates it.
type Pair = (AbstractId, AbstractId);

/// Makes the proof. `lines`: where the accesses are.
pub fn proof(
    threads: &IdVec<TemplateId, PredicateThread<'_, '_>>,
    predicates: &[Predicate],
    acfas: &IdVec<TemplateId, Acfa>,
    proved: &IdVec<TemplateId, Proved<Known, usize>>,
    lines: Vec<u32>,
) -> ContextProof {
    let mut proof = ContextProof {
        predicates: predicates.to_vec(),
        lines,
        acfas: acfas.clone(),
        nodes: Vec::new(),
        edges: Vec::new(),
        views: Vec::new(),
    };
    for (template, thread) in threads.enumerate() {
        add(&mut proof, template, thread, &proved[template]);
    }
    proof
}

fn add(
    proof: &mut ContextProof,
    template: TemplateId,
    thread: &PredicateThread<'_, '_>,
    proved: &Proved<Known, usize>,
) {
    let Some(graph) = &proved.reached.graph else { return };
    let acfa = proof.acfas[template].clone();
    let mut states: BTreeMap<AbstractId, Vec<Known>> = BTreeMap::new();
    for (state, node) in &graph.nodes {
        states.entry(*node).or_default().push(*state);
    }
    // All pairs that are come to, and how.
    let mut pairs: Vec<Pair> = vec![(graph.acfa.start, acfa.start)];
    let mut known: BTreeMap<Pair, usize> = BTreeMap::from([(pairs[0], 0)]);
    let mut edges: BTreeSet<(usize, usize, usize)> = BTreeSet::new();
    let mut at = 0;
    while at < pairs.len() {
        let (node, state) = pairs[at];
        for taken in graph.moves.iter().filter(|taken| taken.edge.source == node) {
            let fits = &proved.simulation[taken.edge.target];
            let stays = taken.edge.action.is_silent() && fits.contains(&state);
            let answers: Vec<AbstractId> = if stays {
                vec![state]
            } else {
                let within = acfa.leaving(state).iter().filter(|answer| {
                    taken.edge.action.is_within(&answer.action) && fits.contains(&answer.target)
                });
                within.map(|answer| answer.target).collect::<BTreeSet<_>>().into_iter().collect()
            };
            for answer in answers {
                let pair = (taken.edge.target, answer);
                let next = *known.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    pairs.len() - 1
                });
                edges.insert((at, taken.step, next));
            }
        }
        at += 1;
    }
    let first = proof.nodes.len();
    for (node, state) in &pairs {
        let here = states.get(node).map(Vec::as_slice).unwrap_or_default();
        let Some(location) = here.first().and_then(|state| state.location) else { continue };
        let formula = simplified(&Term::any(here.iter().map(|state| thread.formula(state))));
        proof.nodes.push(ContextNode { template, location, state: *state, formula });
    }
    let numbered =
        edges.into_iter().map(|(from, step, to)| ContextEdge { from: first + from, step, to: first + to });
    proof.edges.extend(numbered);
    let mut views: BTreeMap<(AbstractId, Counts), Vec<Term>> = BTreeMap::new();
    for (state, counts) in &proved.reached.moments {
        views.entry((graph.nodes[state], counts.clone())).or_default().push(thread.formula(state));
    }
    for ((node, counts), formulas) in views {
        let others: Vec<_> = counts.iter().map(|(spot, amount)| (*spot, amount.number())).collect();
        let formula = simplified(&Term::any(formulas));
        for (number, _) in pairs.iter().enumerate().filter(|(_, pair)| pair.0 == node) {
            proof.views.push(ContextView {
                node: first + number,
                others: others.clone(),
                formula: formula.clone(),
            });
        }
    }
}
