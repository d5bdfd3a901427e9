//! Graphs: what makes one an abstract reachability graph (paper 1, section 3.4), for random steps.

use crate::generate::{chosen, variables};
use engine_context::{Graph, Labels};
use proptest::prelude::*;
use smt::Term;
use verdict::{Action, Budget};

/// The label of a state that is called by a number.
fn label(name: u8) -> Term {
    let [a, b] = variables().map(|variable| variable.term());
    [a.clone(), b.clone(), a.and(&b), a.not()][usize::from(name % 4)].clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn all_steps_are_in_the_graph(steps in prop::collection::vec((0..8u8, 0..8u8, prop::option::of(0..4u8)), 0..20)) {
        let mut graph = Graph::new(0u8, label(0), false);
        let mut taken = Vec::new();
        for (from, to, havoc) in steps {
            if !graph.contains(&from) {
                continue;
            }
            taken.push((from, to, havoc));
            match havoc {
                Some(bits) => {
                    let action = Action { havoc: chosen(bits), ..Action::default() };
                    graph.connect(&from, action, to, label(to), false);
                }
                None => graph.unite(&from, to, label(to), false),
            }
        }
        let (acfa, nodes) = graph.finish();
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
    let mut graph = Graph::new("start", Term::bool(true), false);
    graph.connect(&"start", Action::default(), "inside", Term::bool(true), true);
    graph.connect(&"nowhere", Action::default(), "lost", Term::bool(true), true);
    assert!(!graph.contains(&"lost"));
    let (acfa, nodes) = graph.finish();
    assert!(acfa.states[nodes["inside"]].atomic && !acfa.states[nodes["start"]].atomic);
    graph.unite(&"inside", "start", Term::bool(true), false);
    let (acfa, _) = graph.finish();
    assert_eq!(acfa.states.iter().map(|state| state.atomic).collect::<Vec<_>>(), [false]);
}
