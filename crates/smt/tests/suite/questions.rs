//! Satisfiability, cores, models, elimination, interpolation, and many solvers at once.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use smt::eliminate::{eliminate, simplify};
use smt::interpolate::{Interpolation, interpolate};
use smt::{Answer, Instance, Operation, Solver, Sort, Term, Value, Variable, can_fail};
use verdict::Budget;

fn int(name: &str) -> Term {
    Term::int_variable(name)
}
fn budget() -> Budget {
    Budget::steps_for(20.0)
}

#[test]
fn levels_assumptions_and_cores() {
    let (x, y) = (int("x"), int("y"));
    let mut solver = Solver::new();
    solver.assert(&x.less_than(&y));
    assert_eq!(solver.check(&budget()), Answer::Sat);
    let (low, high) = (solver.int_value(&x).unwrap(), solver.int_value(&y).unwrap());
    assert!(low < high);
    solver.push();
    solver.assert(&y.less_than(&x));
    assert_eq!(solver.check(&budget()), Answer::Unsat);
    solver.pop();
    assert_eq!(solver.check(&budget()), Answer::Sat);
    let assumptions = [x.at_least(&Term::int(0)), x.at_least(&Term::int(5)), y.at_most(&Term::int(5))];
    assert_eq!(solver.check_assuming(&assumptions, &budget()), Answer::Unsat);
    assert_eq!(solver.core(), [1, 2]);
    assert_eq!(solver.check_assuming(&assumptions[..2], &budget()), Answer::Sat);
    assert!(solver.int_value(&x).unwrap() >= 5);
}

#[test]
fn an_assumption_outlives_the_level_it_was_first_used_on() {
    let x = int("x");
    let assumptions = [x.at_least(&Term::int(5)), x.at_most(&Term::int(4))];
    let mut solver = Solver::new();
    solver.push();
    assert_eq!(solver.check_assuming(&assumptions, &budget()), Answer::Unsat);
    solver.pop();
    assert_eq!(solver.check_assuming(&assumptions, &budget()), Answer::Unsat);
    assert_eq!(solver.core(), [0, 1]);
}

#[test]
fn models_have_values_of_all_sorts() {
    let array = Term::variable("m", Sort::array(Sort::Int, Sort::BitVec(8)));
    let mut solver = Solver::new();
    solver.assert(&array.select(&Term::int(3)).equals(&Term::bits(8, 200)));
    assert_eq!(solver.check(&budget()), Answer::Sat);
    let Value::Array(value) = solver.value(&array).unwrap() else {
        panic!("an array has an array for value")
    };
    assert_eq!(*value.element(&Value::Int(3)), Value::Bits(8, 200));
    let large = int("large");
    solver.assert(&large.equals(&Term::int(i128::MAX).times(&int("large2"))));
    solver.assert(&int("large2").equals(&Term::int(i128::MAX)));
    assert_eq!(solver.check(&budget()), Answer::Sat);
    assert!(solver.value(&large).is_err());
    assert_eq!(solver.int_value(&int("large2")), Ok(i128::MAX));
}

#[test]
fn variables_are_eliminated() {
    let (x, y, z) = (int("x"), int("y"), int("z"));
    let formula = x.less_than(&y).and(&y.less_than(&z));
    let without = eliminate(&formula, &[Variable::new("y", Sort::Int)], &budget()).unwrap();
    let expected = x.plus(&Term::int(1)).less_than(&z);
    assert_eq!(can_fail(&without.equals(&expected), &budget()), Answer::Unsat);
    let even = x.equals(&y.times(&Term::int(2)));
    let without = eliminate(&even, &[Variable::new("y", Sort::Int)], &budget()).unwrap();
    let expected = Term::binary(Operation::Modulo, &x, &Term::int(2)).equals(&Term::int(0));
    assert_eq!(can_fail(&without.equals(&expected), &budget()), Answer::Unsat);
}

#[test]
fn formulas_are_simplified() {
    let (x, y) = (int("x"), int("y"));
    let formula =
        x.equals(&Term::int(3)).and(&y.at_least(&x.plus(&Term::int(1))).or(&x.at_least(&Term::int(9))));
    let simpler = simplify(&formula, &budget());
    assert!(simpler.size() <= formula.size());
    assert_eq!(can_fail(&formula.equals(&simpler), &budget()), Answer::Unsat);
}

/// A conjunction of random linear inequalities over some variables.
fn linear(names: &'static [&'static str]) -> impl Strategy<Value = Term> {
    let inequality =
        (proptest::collection::vec(-3i128..4, names.len()), -10i128..10).prop_map(|(factors, limit)| {
            let summands =
                names.iter().zip(factors).map(|(name, factor)| int(name).times(&Term::int(factor)));
            Term::sum(summands).at_most(&Term::int(limit))
        });
    proptest::collection::vec(inequality, 1..5).prop_map(Term::all)
}

#[test]
fn interpolants_are_between() {
    let mut runner = TestRunner::new(Config::with_cases(60));
    let strategy = (linear(&["a", "x", "y"]), linear(&["x", "y", "b"]));
    let outcome = runner.run(&strategy, |(first, second)| {
        match interpolate(&first, &second, &budget()) {
            Interpolation::Interpolant(between) => {
                prop_assert_eq!(can_fail(&first.implies(&between), &budget()), Answer::Unsat);
                prop_assert_eq!(can_fail(&between.and(&second).not(), &budget()), Answer::Unsat);
                for variable in between.free_variables() {
                    prop_assert!(first.free_variables().contains(&variable));
                    prop_assert!(second.free_variables().contains(&variable));
                }
            }
            Interpolation::Consistent => {
                prop_assert_eq!(can_fail(&first.and(&second).not(), &budget()), Answer::Sat);
            }
            Interpolation::Unknown(reason) => prop_assert!(false, "{}", reason),
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn elimination_is_projection() {
    let mut runner = TestRunner::new(Config::with_cases(60));
    let outcome = runner.run(&linear(&["a", "x", "y"]), |formula| {
        let a = Variable::new("a", Sort::Int);
        let without = eliminate(&formula, std::slice::from_ref(&a), &budget()).unwrap();
        prop_assert_eq!(can_fail(&formula.implies(&without), &budget()), Answer::Unsat);
        // Where the projection holds, some value of the variable makes the formula hold.
        let mut solver = Solver::new();
        solver.assert(&without);
        if solver.check(&budget()) == Answer::Sat {
            let (x, y) = (solver.value(&int("x")).unwrap().term(), solver.value(&int("y")).unwrap().term());
            let at = [(Variable::new("x", Sort::Int), x), (Variable::new("y", Sort::Int), y)];
            let there = formula.substitute(&at.into_iter().collect());
            prop_assert_eq!(smt::satisfiable(&there, &budget()), Answer::Sat);
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn many_threads_have_solvers_of_their_own() {
    let x = int("x");
    std::thread::scope(|scope| {
        for thread in 0..8i128 {
            let x = &x;
            scope.spawn(move || {
                let mut solver = Solver::new();
                for round in 0..50 {
                    solver.push();
                    solver.assert(&x.equals(&Term::int(thread * 1000 + round)));
                    assert_eq!(solver.check(&budget()), Answer::Sat);
                    assert_eq!(solver.int_value(x), Ok(thread * 1000 + round));
                    solver.pop();
                }
            });
        }
    });
}

/// A name that looks like another one, and one that looks like the solver's own, are variables of their own.
#[test]
fn names_that_look_the_same_are_different() {
    let x = Variable::new("x", Sort::Int);
    let old = x.instance(Instance::Old);
    let made_up = Variable::new("old x", Sort::Int);
    let stand_in = Variable::new("!0", Sort::Bool);
    assert_eq!(old.name.text(), made_up.name.text());
    let is = |variable: &Variable, value: i128| variable.term().equals(&Term::int(value));
    let both = is(&old, 1).and(&is(&made_up, 2));
    let mut solver = Solver::new();
    solver.assert(&both.and(&stand_in.term().not()));
    // The solver makes a stand-in for an assumption that is no literal.
    assert_eq!(solver.check_assuming(&[is(&x, 3).or(&is(&x, 4))], &budget()), Answer::Sat);
    assert_eq!(solver.int_value(&old.term()), Ok(1));
    assert_eq!(solver.int_value(&made_up.term()), Ok(2));
    assert_eq!(solver.check_assuming(&[is(&old, 2)], &budget()), Answer::Unsat);
    // What comes back is about the same variables.
    let sum = Term::sum([x.term(), old.term(), made_up.term()]);
    let left = eliminate(&is(&x, 5).and(&sum.equals(&Term::int(9))), &[x], &budget()).expect("it is small");
    assert_eq!(left.free_variables().into_iter().collect::<Vec<_>>(), {
        let mut both = vec![made_up, old];
        both.sort();
        both
    });
}
