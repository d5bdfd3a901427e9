//! Simulation: on values of the variables it is one; it is reflexive and transitive; and it is not there
//! where it must not be.

use crate::generate::{acfas, chosen, holds, steps};
use engine_context::{Labels, Simulated, check_sim};
use proptest::prelude::*;
use smt::Term;
use verdict::{AbstractEdge, AbstractId, Acfa, Action, Budget};

fn simulates(left: &Acfa, right: &Acfa) -> bool {
    matches!(check_sim(left, right, &mut Labels::default(), &Budget::unlimited()), Simulated::Yes(_))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Whatever a thread does by the left automaton, for all values of the variables, it may do by the right
    /// one, too.
    #[test]
    fn steps_are_answered_for_all_values(left in acfas(4), right in acfas(4)) {
        let found = check_sim(&left, &right, &mut Labels::default(), &Budget::unlimited());
        let relation = match found {
            Simulated::Yes(relation) => relation,
            Simulated::No => return Ok(()),
            Simulated::Unsure(reason) => return Err(TestCaseError::fail(format!("{reason:?}"))),
        };
        for (one, others) in relation.enumerate() {
            for other in others {
                prop_assert!(!right.states[*other].atomic || left.states[one].atomic);
                prop_assert!(left.states[one].accesses.is_subset(&right.states[*other].accesses));
                for before in (0..4).filter(|bits| holds(&left.states[one].label, *bits)) {
                    prop_assert!(holds(&right.states[*other].label, before));
                    for (edge, after) in steps(&left, one, before) {
                        let stays = before == after && relation[edge.target].contains(other);
                        let moves = steps(&right, *other, before).into_iter().any(|(answer, reached)| {
                            reached == after && relation[edge.target].contains(&answer.target)
                        });
                        prop_assert!(stays || moves, "{one} {other} {edge:?}\n{left}\n{right}");
                    }
                }
            }
        }
    }

    #[test]
    fn it_is_a_preorder(a in acfas(3), b in acfas(3), c in acfas(3)) {
        prop_assert!(simulates(&a, &a));
        if simulates(&a, &b) && simulates(&b, &c) {
            prop_assert!(simulates(&a, &c));
        }
    }

    /// More edges, larger havoc sets, weaker labels and fewer atomic states simulate more.
    #[test]
    fn weaker_automata_simulate_more(a in acfas(5), from in 0..5u32, to in 0..5u32, at in 0..5u32) {
        let count = a.states.len() as u32;
        let (from, to, at) = (AbstractId(from % count), AbstractId(to % count), AbstractId(at % count));
        let mut weaker = a.clone();
        weaker.states[at].label = Term::bool(true);
        weaker.states[to].atomic = false;
        let mut edges = weaker.edges.clone();
        edges.iter_mut().for_each(|edge| edge.action.havoc.extend(chosen(2)));
        edges.push(AbstractEdge { source: from, action: Action::default(), target: to });
        let weaker = Acfa::new(weaker.states, weaker.start, edges);
        prop_assert!(simulates(&a, &weaker), "{a}\n{weaker}");
    }
}

#[test]
fn what_a_thread_that_does_nothing_simulates() {
    let idle = Acfa::empty();
    assert!(simulates(&idle, &idle));
    let mut silent = idle.clone();
    silent.edges.push(AbstractEdge { source: idle.start, action: Action::default(), target: idle.start });
    assert!(simulates(&silent, &idle));
    for action in [
        Action { havoc: chosen(1), ..Action::default() },
        Action { starts: vec![ir::TemplateId(0)], ..Action::default() },
    ] {
        let mut busy = silent.clone();
        busy.edges[0].action = action;
        assert!(!simulates(&busy, &idle));
        assert!(!simulates(&busy, &silent));
        assert!(simulates(&busy, &busy));
    }
    let mut atomic = idle.clone();
    atomic.states[idle.start].atomic = true;
    assert!(simulates(&atomic, &idle) && !simulates(&idle, &atomic));
    let mut accessing = idle.clone();
    accessing.states[idle.start].accesses.insert(0);
    assert!(simulates(&idle, &accessing) && !simulates(&accessing, &idle));
    // What an edge takes for granted must be so.
    let [a, _] = crate::generate::variables().map(|variable| variable.term());
    let with = |guard: &Term, after: &Term| {
        let action =
            Action { havoc: chosen(1), guard: guard.clone(), after: after.clone(), ..Action::default() };
        let mut acfa = silent.clone();
        acfa.edges[0].action = action;
        acfa
    };
    let always = Term::bool(true);
    for (strong, weak) in
        [(with(&a, &always), with(&always, &always)), (with(&always, &a), with(&always, &always))]
    {
        assert!(simulates(&strong, &weak) && !simulates(&weak, &strong));
    }
}
