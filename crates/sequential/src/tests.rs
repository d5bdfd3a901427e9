//! Small programs, safe and broken.

use crate::{Count, Forbidden, Memory, Outcome, Program, Step, check};
use indexmap::IndexMap;
use smt::{Answer, Term, Variable, can_fail};
use verdict::Budget;

fn variable(name: &str) -> Variable {
    Variable::new(name, smt::Sort::Int)
}

/// `x` counts by two from 0 while it is below 10, through a node that is passed over; then `x` must not be
/// `wrong`.
fn counter(wrong: i128) -> Program {
    let x = variable("x");
    let variables = IndexMap::from([(x.clone(), Term::bool(true))]);
    let mut program = Program::new(variables, x.term().equals(&Term::int(0)));
    let head = program.node("head", true);
    let middle = program.node("middle", false);
    let end = program.node("end", true);
    let step = |source, target, guard: Term, more: i128| Step {
        source,
        target,
        guard,
        updates: IndexMap::from([(x.clone(), x.term().plus(&Term::int(more)))]),
        inputs: vec![],
    };
    program.steps.push(step(head, middle, x.term().less_than(&Term::int(10)), 1));
    program.steps.push(step(middle, head, Term::bool(true), 1));
    program.steps.push(step(head, end, x.term().at_least(&Term::int(10)), 0));
    program.forbidden.push(Forbidden { node: end, formula: x.term().equals(&Term::int(wrong)) });
    program
}

#[test]
fn a_safe_loop_has_invariants() {
    let budget = Budget::steps_for(60.0);
    let program = counter(11);
    let Outcome::Safe(invariants) = check(&program, &budget) else { panic!("it is safe") };
    let at = |node: usize| invariants.at(node).expect("it is kept").clone();
    let x = variable("x");
    // Around the circle, out of it, and not into what is forbidden.
    let around = IndexMap::from([(x.clone(), x.term().plus(&Term::int(2)))]);
    let low = x.term().less_than(&Term::int(10));
    assert_eq!(can_fail(&program.initial.implies(&at(0)), &budget), Answer::Unsat);
    assert_eq!(can_fail(&at(0).and(&low).implies(&at(0).substitute(&around)), &budget), Answer::Unsat);
    assert_eq!(can_fail(&at(0).and(&low.not()).implies(&at(2)), &budget), Answer::Unsat);
    assert_eq!(can_fail(&at(2).implies(&x.term().differs(&Term::int(11))), &budget), Answer::Unsat);
    assert_eq!(invariants.at(1), None);
}

#[test]
fn a_broken_loop_has_a_path_with_values() {
    let program = counter(10);
    let Outcome::Unsafe(path) = check(&program, &Budget::steps_for(60.0)) else { panic!("it is not safe") };
    assert_eq!(path.steps, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2]);
    let values: Vec<i128> = path.states.iter().filter_map(|state| state[&variable("x")].as_int()).collect();
    assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
}

/// What is forbidden at the entry, and cannot be reached because the graph does not lead there.
#[test]
fn ends_of_the_graph() {
    let budget = Budget::steps_for(60.0);
    let mut program = counter(11);
    let far = program.node("far", true);
    program.forbidden.push(Forbidden { node: far, formula: Term::bool(true) });
    let Outcome::Safe(invariants) = check(&program, &budget) else { panic!("it is safe") };
    assert_eq!(invariants.at(far), Some(&Term::bool(false)));
    program.forbidden.push(Forbidden { node: 0, formula: variable("x").term().equals(&Term::int(0)) });
    let Outcome::Unsafe(path) = check(&program, &budget) else { panic!("it is not safe") };
    assert_eq!((path.steps.len(), path.forbidden), (0, 2));
}

/// A step with an input takes a value that leads to what is forbidden.
#[test]
fn inputs_get_values() {
    let (x, y) = (variable("x"), variable("y"));
    let variables = IndexMap::from([(x.clone(), Term::bool(true))]);
    let mut program = Program::new(variables, x.term().equals(&Term::int(0)));
    let start = program.node("start", true);
    let end = program.node("end", true);
    program.steps.push(Step {
        source: start,
        target: end,
        guard: y.term().less_than(&Term::int(100)),
        updates: IndexMap::from([(x.clone(), y.term().times(&Term::int(3)))]),
        inputs: vec![y.clone()],
    });
    program.forbidden.push(Forbidden { node: end, formula: x.term().greater_than(&Term::int(296)) });
    let Outcome::Unsafe(path) = check(&program, &Budget::steps_for(60.0)) else { panic!("it is not safe") };
    assert_eq!(path.inputs[0][&y].as_int(), Some(99));
    program.forbidden[0].formula = x.term().greater_than(&Term::int(297));
    assert!(matches!(check(&program, &Budget::steps_for(60.0)), Outcome::Safe(_)));
}

/// What was learnt counts for programs that are alike, and for no others: a memory always answers as the
/// model checker does.
#[test]
fn a_memory_answers_the_same() {
    let budget = Budget::steps_for(60.0);
    let x = variable("x");
    let mut memory = Memory::default();
    let mut counts = Vec::new();
    for (wrong, first, safe) in [
        (10, 0, false), // nothing is known
        (12, 0, true),
        (10, 0, false),  // the path is known
        (13, 0, true),   // the facts may be known
        (10, 10, false), // a known path does not lead there any more
        (11, 1, false),  // the facts do not hold any more
        (11, 0, true),
    ] {
        let mut program = counter(wrong);
        program.initial = x.term().equals(&Term::int(first));
        let found = memory.check(&program, &budget);
        match &found {
            Outcome::Safe(invariants) => {
                let end = invariants.at(2).expect("it is kept");
                assert_eq!(
                    can_fail(&end.implies(&x.term().differs(&Term::int(wrong))), &budget),
                    Answer::Unsat
                );
                let start = invariants.at(0).expect("it is kept");
                assert_eq!(can_fail(&program.initial.implies(start), &budget), Answer::Unsat);
            }
            Outcome::Unsafe(path) => {
                assert_eq!(path.states.last().and_then(|state| state[&x].as_int()), Some(wrong));
            }
            Outcome::Unknown(why) => panic!("{why}"),
        }
        assert_eq!(matches!(found, Outcome::Safe(_)), safe, "{wrong} from {first}");
        assert_eq!(matches!(check(&program, &budget), Outcome::Safe(_)), safe);
        counts.push(memory.count);
    }
    assert_eq!(counts[0], Count { by_path: 0, by_facts: 0, from_scratch: 1 });
    assert_eq!(counts[2].by_path, 1, "the same program again is answered by its path");
    assert_eq!(counts[6].by_path + counts[6].by_facts + counts[6].from_scratch, 7);
}

/// Facts that are suggested are used where they hold and are enough, and are left out one by one where they
/// do not hold.
#[test]
fn facts_can_be_suggested() {
    let budget = Budget::steps_for(60.0);
    let x = variable("x").term();
    let mut memory = Memory::default();
    memory.suggest("head", [x.at_most(&Term::int(11)), x.at_most(&Term::int(3)), x.at_least(&Term::int(0))]);
    memory.suggest("end", [x.equals(&Term::int(10)), x.at_most(&Term::int(11))]);
    let Outcome::Safe(invariants) = memory.check(&counter(12), &budget) else { panic!("it is safe") };
    assert_eq!(memory.count, Count { by_path: 0, by_facts: 1, from_scratch: 0 });
    // That it is even is not known, so neither is that it ends with 10.
    assert_eq!(invariants.at(2), Some(&x.at_most(&Term::int(11))));
    let Outcome::Unsafe(_) = memory.check(&counter(10), &budget) else { panic!("it is not safe") };
}
