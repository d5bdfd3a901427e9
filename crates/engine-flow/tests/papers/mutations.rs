//! The checker refuses a proof in which any one bound is tightened, or any one data flow is left out.

use super::examples::{FIGURE_1, FIGURE_2, TWO_COUNTERS, parse, proof, property};
use verdict::{Bounds, Budget, DataProof, FlowProof, Proof};

fn is_accepted(program: &verdict::Views, proof: &FlowProof) -> bool {
    let proof = Proof::Flow(Box::new(proof.clone()));
    checker::check_proof(program, &property(), &proof, &Budget::unlimited()).is_ok()
}

/// All proofs that differ by one change. Relations are needed at some locations.
fn mutants(proof: &FlowProof, needed: &[usize]) -> Vec<(String, FlowProof)> {
    let data = proof.data.clone().expect("it rests on data");
    let mut found = Vec::new();
    let mut add = |what: String, data: DataProof| {
        found.push((what, FlowProof { data: Some(data), ..proof.clone() }));
    };
    for (node, known) in data.invariants.iter().enumerate() {
        let Some(known) = known else { continue };
        let mut without = data.clone();
        without.invariants[node] = None;
        add(format!("nobody at {node}"), without);
        for (index, (variable, bounds)) in known.iter().enumerate() {
            for tighter in tightened(bounds) {
                let mut changed = data.clone();
                if let Some(known) = &mut changed.invariants[node] {
                    known[index].1 = tighter;
                }
                add(format!("{variable} at {node}: {bounds:?} becomes {tighter:?}"), changed);
            }
        }
    }
    for (node, relations) in data.relations.iter().enumerate() {
        for (index, relation) in relations.iter().enumerate() {
            let mut tighter = data.clone();
            tighter.relations[node][index].bound -= 1;
            add(format!("{relation:?} at {node} is tighter"), tighter);
            if needed.contains(&node) {
                let mut without = data.clone();
                without.relations[node].remove(index);
                add(format!("no {relation:?} at {node}"), without);
            }
        }
    }
    for (index, flows) in data.flows.iter().enumerate() {
        for origin in 0..=flows.definitions.len() {
            let nodes = flows.first.alone.len();
            let here = |data: &DataProof| match origin.checked_sub(1) {
                None => data.flows[index].first.clone(),
                Some(definition) => data.flows[index].definitions[definition].2.clone(),
            };
            let put = |data: &mut DataProof, reach: verdict::Reach| match origin.checked_sub(1) {
                None => data.flows[index].first = reach,
                Some(definition) => data.flows[index].definitions[definition].2 = reach,
            };
            for node in 0..nodes {
                let reach = here(&data);
                if reach.alone[node] {
                    let (mut changed, mut less) = (data.clone(), reach.clone());
                    less.alone[node] = false;
                    put(&mut changed, less);
                    add(format!("no flow of {origin} to {node}"), changed);
                }
                for other in reach.pairs.related(node) {
                    let (mut changed, mut less) = (data.clone(), reach.clone());
                    less.pairs.remove(node, other);
                    put(&mut changed, less);
                    add(format!("no flow of {origin} to {node}, {other}"), changed);
                }
            }
        }
        // A test that is never made need not be there.
        let is_made = |definition: &usize| flows.definitions[*definition].2.alone.contains(&true);
        for definition in (0..flows.definitions.len()).filter(is_made) {
            let mut changed = data.clone();
            changed.flows[index].definitions.remove(definition);
            add(format!("no definition {definition}"), changed);
        }
    }
    found
}

fn tightened(bounds: &Bounds) -> Vec<Bounds> {
    let mut found = Vec::new();
    if let Some(lower) = bounds.lower {
        found.push(Bounds { lower: Some(lower + 1), modulus: 1, rest: 0, ..*bounds });
    }
    if let Some(upper) = bounds.upper {
        found.push(Bounds { upper: Some(upper - 1), modulus: 1, rest: 0, ..*bounds });
    }
    found
}

fn check_all(text: &str, needed: &[usize]) {
    let program = parse(text);
    let proof = proof(&program).expect("it is proved");
    assert!(is_accepted(&program, &proof));
    let mut accepted = Vec::new();
    let mutants = mutants(&proof, needed);
    assert!(mutants.len() > 20);
    for (what, mutant) in mutants {
        if is_accepted(&program, &mutant) {
            accepted.push(what);
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

#[test]
fn every_claim_of_the_proof_of_figure_1_counts() {
    check_all(FIGURE_1, &[]);
}

#[test]
fn every_claim_of_a_proof_with_relations_counts() {
    // Where a thread is about to write or compare the counters. Elsewhere the relation is true, but nothing
    // rests on it.
    check_all(TWO_COUNTERS, &[1, 2, 6]);
}

#[test]
fn every_claim_of_the_proof_of_figure_2_counts() {
    check_all(FIGURE_2, &[]);
}
