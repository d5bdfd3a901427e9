//! Graphs: what makes one an abstract reachability graph (paper 1, section 3.4), for random steps.

use crate::generate::{chosen, variables};
use engine_context::{Built, Graph, Labels};
use proptest::prelude::*;
use smt::Term;
use verdict::{AbstractState, Action, Budget};

fn state(label: Term, atomic: bool) -> AbstractState {
    AbstractState::new(label, atomic)
}

/// The label of a state that is called by a number.
fn label(name: u8) -> Term {
    let [a, b] = variables().map(|variable| variable.term());
    [a.clone(), b.clone(), a.and(&b), a.not()][usize::from(name % 4)].clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn all_steps_are_in_the_graph(steps in prop::collection::vec((0..8u8, 0..8u8, prop::option::of(0..4u8)), 0..20)) {
        let mut graph = Graph::new(0u8, state(label(0), false));
        let mut taken = Vec::new();
        for (from, to, havoc) in steps {
            if !graph.contains(&from) {
                continue;
            }
            taken.push((from, to, havoc));
            match havoc {
                Some(bits) => {
                    let action = Action { havoc: chosen(bits), ..Action::default() };
                    graph.connect(&from, action, (from, to), to, state(label(to), false));
                }
                None => graph.union(&from, to, state(label(to), false)),
            }
        }
        let Built { acfa, nodes, moves, .. } = graph.finish();
        for one in &moves {
            prop_assert!(acfa.edges.contains(&one.edge));
            prop_assert_eq!((one.edge.source, one.edge.target), (nodes[&one.step.0], nodes[&one.step.1]));
        }
        prop_assert!(acfa.is_well_formed());
        prop_assert_eq!(nodes[&0], acfa.start);
        let mut labels = Labels::default();
        for (name, node) in &nodes {
            let implied = labels.implies(&label(*name), &acfa.states[*node].label, &Budget::unlimited());
            prop_assert_eq!(implied, Ok(true));
        }
        for (from, to, havoc) in taken {
            match havoc {
                None => prop_assert_eq!(nodes[&from], nodes[&to]),
                Some(bits) => {
                    let mut leaving = acfa.leaving(nodes[&from]).iter().filter(|edge| edge.target == nodes[&to]);
                    let found = leaving.any(|edge| chosen(bits).is_subset(&edge.action.havoc));
                    prop_assert!(found);
                }
            }
        }
        // No node without a state.
        prop_assert!(acfa.states.ids().all(|node| nodes.values().any(|known| *known == node)));
    }
}

#[test]
fn a_node_is_atomic_only_if_all_its_states_are() {
    let always = |atomic: bool| state(Term::bool(true), atomic);
    let mut graph = Graph::new("start", always(false));
    graph.connect(&"start", Action::default(), (), "inside", always(true));
    graph.connect(&"nowhere", Action::default(), (), "lost", always(true));
    assert!(!graph.contains(&"lost"));
    let Built { acfa, nodes, .. } = graph.finish();
    assert!(acfa.states[nodes["inside"]].atomic && !acfa.states[nodes["start"]].atomic);
    graph.union(&"inside", "start", always(false));
    let acfa = graph.finish().acfa;
    assert_eq!(acfa.states.iter().map(|state| state.atomic).collect::<Vec<_>>(), [false]);
}
