//! The thread of figure 1 of paper 1: its graph without predicates (figure 2), and the context of figure 1
//! (c) under counters.

use domains::Amount;
use engine_context::{Context, Graph, Labels, Simulated, Watched, check_sim, collapse, environment};
use expect_test::expect;
use ir::{Count, IdVec, TemplateId};
use smt::{Sort, Term, Variable};
use std::collections::BTreeSet;
use verdict::{AbstractEdge, AbstractId, AbstractState, Acfa, Action, Budget};

const THREAD: TemplateId = TemplateId(0);

fn variable(name: &str) -> Variable {
    Variable::new(name, Sort::Int)
}

fn havoc(names: &[&str]) -> Action {
    Action { havoc: names.iter().map(|name| variable(name)).collect(), ..Action::default() }
}

/// Figure 2 (a): locations 1 to 7, those from 2 to 4 atomic; nothing is known of data.
fn without_predicates() -> Graph<u32, ()> {
    let state = |atomic: bool| AbstractState::new(Term::bool(true), atomic);
    let mut graph = Graph::new(1, state(false));
    for (from, written, to) in [
        (1, "", 2),
        (2, "", 3),
        (3, "", 4),
        (3, "", 5),
        (4, "state", 5),
        (5, "", 6),
        (5, "", 1),
        (6, "x", 7),
        (7, "state", 1),
    ] {
        let written: Vec<&str> = [written].into_iter().filter(|name| !name.is_empty()).collect();
        graph.connect(&from, havoc(&written), (), to, state((2..=4).contains(&to)));
    }
    graph
}

#[test]
fn the_first_context_does_not_simulate_the_thread() {
    let graph = without_predicates().finish().acfa;
    let (mut labels, budget) = (Labels::default(), Budget::steps_for(20.0));
    assert_eq!(check_sim(&graph, &Acfa::empty(), &mut labels, &budget), Simulated::No);
    // Its quotient does: with the variable of the race watched, all of the atomic block is one state.
    let watched = Watched::Only(BTreeSet::from([variable("x")]));
    let collapsed = collapse(&graph, &watched, &mut labels, &budget);
    assert!(matches!(check_sim(&graph, &collapsed.acfa, &mut labels, &budget), Simulated::Yes(_)));
    expect![[r#"
        a0 start: true
          -> a1: havoc {}
          -> a0: havoc {state}
        a1 atomic: true
          -> a2: havoc {}
          -> a2: havoc {state}
        a2: true
          -> a0: havoc {}
          -> a3: havoc {}
        a3: true
          -> a0: havoc {x}
    "#]]
    .assert_eq(&collapsed.acfa.to_string());
}

/// Figure 1 (c), with what its locations know of `state`: outside; inside where it is not 0; inside where it
/// is; about to access `x`.
fn context() -> IdVec<TemplateId, Acfa> {
    let state = variable("state").term();
    let is_zero = state.equals(&Term::int(0));
    let labels = [Term::bool(true), is_zero.not(), is_zero.clone(), state.equals(&Term::int(1))];
    let states: IdVec<AbstractId, AbstractState> = labels
        .into_iter()
        .enumerate()
        .map(|(index, label)| AbstractState::new(label, index == 1 || index == 2))
        .collect();
    let edges = [
        (0, vec![], 1),
        (0, vec![], 2),
        (1, vec![], 0),
        (2, vec!["state"], 3),
        (3, vec!["x"], 3),
        (3, vec!["state"], 0),
    ];
    let edges = edges.into_iter().map(|(source, written, target)| AbstractEdge {
        source: AbstractId(source),
        action: havoc(&written),
        target: AbstractId(target),
    });
    [Acfa::new(states, AbstractId(0), edges)].into_iter().collect()
}

/// With k = 1 there are never two threads about to access `x`, for any number of threads: the label of the
/// second contradicts the first one's.
#[test]
fn no_two_threads_of_figure_1_access_x() {
    let acfas = context();
    let (mut labels, budget) = (Labels::default(), Budget::steps_for(20.0));
    let access = (THREAD, AbstractId(3));
    let mut accessing = |acfas: &IdVec<TemplateId, Acfa>, k: u32| {
        let context = Context { acfas, k, most: None };
        let start = context.start(&[(THREAD, Count::Any)], None);
        let reachable = environment(&context, start, &mut labels, &budget).expect("there is time");
        reachable.iter().filter_map(|counts| counts.get(&access).copied()).max()
    };
    assert_eq!(accessing(&acfas, 1), Some(Amount::ONE));
    // Without the atomic block two threads find `state` to be 0.
    let mut broken = acfas.clone();
    broken[THREAD].states.iter_mut().for_each(|state| state.atomic = false);
    broken[THREAD].states[AbstractId(2)].label = Term::bool(true);
    assert_eq!(accessing(&broken, 1), Some(Amount::Many));
    // Nor does k = 0 do: then nobody knows that a thread is still there.
    assert_eq!(accessing(&acfas, 0), Some(Amount::Many));
}
