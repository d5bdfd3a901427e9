//! Contexts are inferred: figure 1 of paper 1 and its broken variants, and random programs against all
//! executions of a few threads.

use crate::values::{Code, Known, Step, goes_wrong};
use engine_context::{Inferred, Watched, infer, omega_infer};
use expect_test::expect;
use ir::{Count, IdVec, TemplateId};
use proptest::prelude::*;
use std::collections::BTreeSet;
use verdict::Budget;

const FIRST: TemplateId = TemplateId(0);
const SECOND: TemplateId = TemplateId(1);

fn inferred(codes: &[Code], start: &[(TemplateId, Count)], k: u32) -> Inferred<Known, (usize, usize)> {
    let threads: IdVec<TemplateId, Code> = codes.iter().cloned().collect();
    infer(&threads, start, k, &Watched::Only(BTreeSet::new()), &Budget::steps_for(60.0))
        .expect("there is time")
}

fn by_omega(codes: &[Code], start: &[(TemplateId, Count)], k: u32) -> Inferred<Known, (usize, usize)> {
    let threads: IdVec<TemplateId, Code> = codes.iter().cloned().collect();
    let watched = Watched::Only(BTreeSet::new());
    omega_infer(&threads, start, k, &watched, &Budget::steps_for(60.0)).expect("there is time")
}

/// Whether the ω-check has shown it: then what threads see depends on where their automata are.
fn is_by_check(found: &Inferred<Known, (usize, usize)>) -> bool {
    let Inferred::Safe(_, proved) = found else { return false };
    proved.iter().flat_map(|proved| &proved.reached.moments).any(|moment| moment.at.is_some())
}

/// Figure 1: locations 1 to 7 are 0 to 6 here; the shared variable is `state`, the own one `old`.
fn figure_1() -> Code {
    Code {
        exact: false,
        atomic: (0..7).map(|at| (1..=3).contains(&at)).collect(),
        error: None,
        edges: vec![
            (0, Step::Skip, 1),
            (1, Step::Get(0), 2),
            (2, Step::IfShared(0, false), 3),
            (2, Step::IfShared(0, true), 4),
            (3, Step::Set(0, true), 4),
            (4, Step::IfOwn(false), 5),
            (4, Step::IfOwn(true), 0),
            (5, Step::Access, 6),
            (6, Step::Set(0, false), 0),
        ],
    }
}

#[test]
fn figure_1_has_no_race() {
    let Inferred::Safe(acfas, _) = inferred(&[figure_1()], &[(FIRST, Count::Any)], 1) else {
        panic!("a race")
    };
    expect![[r#"
        a0 start: !t
          -> a1: havoc {}
          -> a2: havoc {}
        a1 atomic: !s && !t
          -> a3: havoc {s}
        a2 atomic: s && !t
          -> a0: havoc {}
        a3: s && !t
          -> a4: havoc {}
        a4: s && !t accesses {0}
          -> a5: havoc {}
        a5: s && !t
          -> a0: havoc {s}
    "#]]
    .assert_eq(&acfas[FIRST].to_string());
    // One thread beside it is enough to find a context, and the check shows that it is one of all others.
    let found = by_omega(&[figure_1()], &[(FIRST, Count::Any)], 1);
    assert!(is_by_check(&found), "{found:?}");
    assert!(!goes_wrong(&[figure_1()], &[FIRST; 3], 3));
}

#[test]
fn figure_1_broken_has_a_race() {
    let mut not_atomic = figure_1();
    not_atomic.atomic.fill(false);
    let mut too_early = figure_1();
    too_early.edges[7].1 = Step::Set(0, false);
    too_early.edges[8].1 = Step::Access;
    for broken in [not_atomic, too_early] {
        assert!(goes_wrong(std::slice::from_ref(&broken), &[FIRST; 2], 2));
        for k in 0..3 {
            let found = inferred(std::slice::from_ref(&broken), &[(FIRST, Count::Any)], k);
            // Its own five steps to the access, and those of another thread, some of which are one.
            assert!(
                matches!(&found, Inferred::Error(_, trace, _) if trace.steps.len() >= 5),
                "{k}: {found:?}"
            );
            let found = by_omega(std::slice::from_ref(&broken), &[(FIRST, Count::Any)], k);
            assert!(
                matches!(&found, Inferred::Error(_, trace, _) if trace.steps.len() >= 5),
                "{k}: {found:?}"
            );
        }
    }
}

/// An error that needs three threads: the first enables the second, the second the third. Two threads do not
/// reach it, so the check must see that more do.
#[test]
fn few_threads_are_not_all() {
    let code = Code {
        exact: true,
        atomic: vec![false; 6],
        error: Some(3),
        edges: vec![
            (0, Step::IfShared(0, false), 1),
            (1, Step::Set(0, true), 2),
            (0, Step::IfShared(0, true), 4),
            (4, Step::Set(1, true), 5),
            (0, Step::IfShared(1, true), 3),
        ],
    };
    let wrong = |threads: usize| goes_wrong(std::slice::from_ref(&code), &vec![FIRST; threads], threads);
    assert!(!wrong(2) && wrong(3));
    for k in 0..3 {
        let found = by_omega(std::slice::from_ref(&code), &[(FIRST, Count::Any)], k);
        assert!(matches!(&found, Inferred::Error(..)), "{k}: {found:?}");
    }
}

#[test]
fn a_thread_that_is_started_later() {
    // The first sets a variable and then starts the second, which expects it.
    let first = |after: Step| Code {
        exact: false,
        atomic: vec![false; 4],
        error: None,
        edges: vec![(0, Step::Set(0, true), 1), (1, Step::Start(SECOND), 2), (2, after, 3)],
    };
    let second = Code {
        exact: false,
        atomic: vec![false; 3],
        error: Some(2),
        edges: vec![(0, Step::IfShared(0, true), 1), (0, Step::IfShared(0, false), 2)],
    };
    let start = [(FIRST, Count::Exactly(1))];
    assert!(matches!(inferred(&[first(Step::Skip), second.clone()], &start, 1), Inferred::Safe(..)));
    let broken = [first(Step::Set(0, false)), second];
    assert!(goes_wrong(&broken, &[FIRST], 3));
    assert!(matches!(inferred(&broken, &start, 1), Inferred::Error(SECOND, ..)));
}

/// A thread that can take a step only while another one is at some place, whose label that step breaks. If
/// such steps are left out because of the label, nobody sees them, and the label stays.
#[test]
fn a_step_that_breaks_the_label_of_another_thread_is_seen() {
    let first =
        Code { exact: false, atomic: vec![false], error: None, edges: vec![(0, Step::Start(SECOND), 0)] };
    let second = Code {
        exact: false,
        atomic: vec![false; 2],
        error: Some(1),
        edges: vec![(0, Step::Set(0, true), 1)],
    };
    for k in 0..3 {
        let found = inferred(&[first.clone(), second.clone()], &[(FIRST, Count::Exactly(1))], k);
        assert!(matches!(found, Inferred::Error(SECOND, ..)), "{k}: {found:?}");
    }
    // The same with one template: one thread sets `s` and stays, another one, which waits for that, sets `t`.
    let both = Code {
        exact: false,
        atomic: vec![false; 4],
        error: Some(3),
        edges: vec![(0, Step::Set(0, true), 1), (0, Step::IfShared(0, true), 2), (2, Step::Set(1, true), 3)],
    };
    assert!(goes_wrong(std::slice::from_ref(&both), &[FIRST; 2], 2));
    for k in 0..3 {
        let found = inferred(std::slice::from_ref(&both), &[(FIRST, Count::Any)], k);
        assert!(matches!(found, Inferred::Error(FIRST, ..)), "{k}: {found:?}");
    }
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Skip),
        (0..2usize, any::<bool>()).prop_map(|(index, value)| Step::IfShared(index, value)),
        any::<bool>().prop_map(Step::IfOwn),
        (0..2usize, any::<bool>()).prop_map(|(index, value)| Step::Set(index, value)),
        (0..2usize).prop_map(Step::Put),
        (0..2usize).prop_map(Step::Get),
        Just(Step::Access),
        Just(Step::Start(SECOND)),
    ]
}

prop_compose! {
    fn codes(most: usize)(
        atomic in prop::collection::vec(prop::bool::weighted(0.25), 2..=most),
        edges in prop::collection::vec((0..most, steps(), 0..most), 2..2 * most),
        error in prop::option::weighted(0.4, 1..most),
        exact in any::<bool>(),
    ) -> Code {
        let count = atomic.len();
        let mut atomic = atomic;
        atomic[0] = false;
        let edges = edges.into_iter().map(|(from, step, to)| (from % count, step, to % count)).collect();
        Code { atomic, error: error.map(|at| 1 + at % (count - 1)), edges, exact }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What is inferred to be safe is: no execution of four threads goes wrong. What goes wrong with one k
    /// does with a smaller one.
    #[test]
    fn what_is_safe_does_not_go_wrong(first in codes(5), second in codes(3), one in any::<bool>()) {
        let codes = [first, second];
        let count = if one { Count::Exactly(1) } else { Count::Any };
        let start: Vec<TemplateId> = if one { vec![FIRST] } else { vec![FIRST; 3] };
        let wrong = goes_wrong(&codes, &start, 4);
        let safe: Vec<bool> = (0..3)
            .map(|k| matches!(inferred(&codes, &[(FIRST, count)], k), Inferred::Safe(..)))
            .collect();
        prop_assert!(!wrong || safe.iter().all(|safe| !safe), "{codes:?}");
        // ω-CIRC says the same.
        for (k, safe) in (0..3).zip(safe) {
            let few = matches!(by_omega(&codes, &[(FIRST, count)], k), Inferred::Safe(..));
            prop_assert!(!(wrong && few), "{k}: {codes:?}");
            prop_assert!(few || !safe, "{k}: {codes:?}");
        }
    }
}
