//! The proof of an inferred context: nodes of the graphs with the states of the automata that simulate them,
//! and the views of threads there.

use crate::check_sim::Pairs;
use crate::counts::Counts;
use crate::infer::Proved;
use crate::labels::simplified;
use crate::predicate_thread::{Known, PredicateThread};
use crate::reach::ViewOfOthers;
use ir::{IdVec, TemplateId};
use smt::Term;
use std::collections::{BTreeMap, BTreeSet};
use verdict::{AbstractId, Acfa, ContextEdge, ContextNode, ContextProof, ContextView, Predicate};

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
    let Pairs { pairs, steps } = Pairs::of(graph, &acfa, &proved.simulation);
    let edges: BTreeSet<(usize, usize, usize)> =
        steps.into_iter().map(|(from, number, to)| (from, graph.moves[number].step, to)).collect();
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
    let mut views: BTreeMap<(AbstractId, Option<AbstractId>, Counts), Vec<Term>> = BTreeMap::new();
    for ViewOfOthers { state, at, counts } in &proved.reached.moments {
        let key = (graph.nodes[state], *at, counts.clone());
        views.entry(key).or_default().push(thread.formula(state));
    }
    for ((node, at, counts), formulas) in views {
        let others: Vec<_> = counts.iter().map(|(spot, amount)| (*spot, amount.number())).collect();
        let formula = simplified(&Term::any(formulas));
        let here = |pair: &(AbstractId, AbstractId)| pair.0 == node && at.is_none_or(|at| at == pair.1);
        for (number, _) in pairs.iter().enumerate().filter(|(_, pair)| here(pair)) {
            proof.views.push(ContextView {
                node: first + number,
                others: others.clone(),
                formula: formula.clone(),
            });
        }
    }
}
