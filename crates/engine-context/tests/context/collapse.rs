//! Quotients: they are those of the largest weak bisimulation, they simulate what they were made of, and are
//! as small as they get.

use crate::generate::{acfas, chosen};
use engine_context::{Labels, Simulated, Watched, check_sim, collapse};
use proptest::prelude::*;
use std::collections::BTreeSet;
use verdict::{AbstractId, Acfa, Action, Budget};

/// The largest weak bisimulation, by leaving out pairs: everything is watched, and labels are compared by
/// their values.
fn bisimilar(acfa: &Acfa) -> BTreeSet<(AbstractId, AbstractId)> {
    let ids: Vec<AbstractId> = acfa.states.ids().collect();
    let same = |one: AbstractId, other: AbstractId| {
        let (one, other) = (&acfa.states[one], &acfa.states[other]);
        let values =
            |bits| crate::generate::holds(&one.label, bits) == crate::generate::holds(&other.label, bits);
        one.atomic == other.atomic && one.accesses == other.accesses && (0..4).all(values)
    };
    // Weak steps: nothing, or one that can be observed, with silent ones around.
    let silent = |from: AbstractId| -> BTreeSet<AbstractId> {
        let mut found = BTreeSet::from([from]);
        loop {
            let next: Vec<AbstractId> = acfa
                .edges
                .iter()
                .filter(|edge| found.contains(&edge.source) && edge.action.is_silent())
                .filter(|edge| same(edge.source, edge.target) && !found.contains(&edge.target))
                .map(|edge| edge.target)
                .collect();
            if next.is_empty() {
                return found;
            }
            found.extend(next);
        }
    };
    let weak = |from: AbstractId| -> BTreeSet<(Option<Action>, AbstractId)> {
        let mut found: BTreeSet<(Option<Action>, AbstractId)> =
            silent(from).into_iter().map(|end| (None, end)).collect();
        for edge in acfa.edges.iter().filter(|edge| silent(from).contains(&edge.source)) {
            if !(edge.action.is_silent() && same(edge.source, edge.target)) {
                found.extend(silent(edge.target).into_iter().map(|end| (Some(edge.action.clone()), end)));
            }
        }
        found
    };
    let mut pairs: BTreeSet<(AbstractId, AbstractId)> = BTreeSet::new();
    for one in &ids {
        pairs.extend(ids.iter().filter(|other| same(*one, **other)).map(|other| (*one, *other)));
    }
    loop {
        let answered = |(one, other): &(AbstractId, AbstractId)| {
            let answers = weak(*other);
            let related = |end: AbstractId, action: &Option<Action>| {
                answers.iter().any(|(by, to)| by == action && pairs.contains(&(end, *to)))
            };
            weak(*one).iter().all(|(action, end)| related(*end, action))
        };
        let kept: BTreeSet<(AbstractId, AbstractId)> = pairs
            .iter()
            .filter(|(one, other)| answered(&(*one, *other)) && answered(&(*other, *one)))
            .copied()
            .collect();
        if kept.len() == pairs.len() {
            return kept;
        }
        pairs = kept;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn states_are_merged_exactly_if_they_are_bisimilar(acfa in acfas(6)) {
        let collapsed = collapse(&acfa, &Watched::All, &mut Labels::default(), &Budget::unlimited());
        let pairs = bisimilar(&acfa);
        for one in acfa.states.ids() {
            for other in acfa.states.ids() {
                let merged = collapsed.part_of[one] == collapsed.part_of[other];
                prop_assert_eq!(merged, pairs.contains(&(one, other)), "{} {} of\n{}", one, other, acfa);
            }
        }
    }

    #[test]
    fn a_quotient_simulates_what_it_was_made_of(acfa in acfas(7), watched in 0..4u8) {
        let (mut labels, budget) = (Labels::default(), Budget::unlimited());
        let (a, b) = (collapse(&acfa, &Watched::All, &mut labels, &budget),
            collapse(&acfa, &Watched::Only(chosen(watched)), &mut labels, &budget));
        for collapsed in [&a, &b] {
            prop_assert!(collapsed.acfa.is_well_formed());
            let Simulated::Yes(relation) = check_sim(&acfa, &collapsed.acfa, &mut labels, &budget) else {
                return Err(TestCaseError::fail(format!("{acfa}\nbecomes\n{}", collapsed.acfa)));
            };
            // By the map, each state is simulated by the one that it is part of.
            prop_assert!(acfa.states.ids().all(|state| relation[state].contains(&collapsed.part_of[state])));
            prop_assert!(collapsed.acfa.states.len() <= acfa.states.len());
        }
        // What is not watched makes no state.
        prop_assert!(b.acfa.states.len() <= a.acfa.states.len());
        // A quotient has no smaller quotient, unless edges have become one.
        let again = collapse(&a.acfa, &Watched::All, &mut labels, &budget);
        let guarded = acfa.edges.iter().any(|edge| !edge.action.guard.is_true());
        prop_assert!(guarded || again.acfa.states.len() == a.acfa.states.len());
    }
}
