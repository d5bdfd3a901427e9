//! Systems with known solutions and refutations.

use super::*;
use crate::value::Value;
use verdict::Budget;

fn x() -> Variable {
    Variable::new("x", Sort::Int)
}
fn y() -> Variable {
    Variable::new("y", Sort::Int)
}

/// `x` and `y` count up by 1 and 2 while `x < 10`; it is wrong when `y` reaches `limit`.
fn counting(limit: i128) -> HornSystem {
    let (x, y) = (x().term(), y().term());
    let mut system = HornSystem::default();
    let invariant = system.relation("invariant", vec![self::x(), self::y()]);
    let state =
        |x: &Term, y: &Term| Application { relation: invariant, arguments: vec![x.clone(), y.clone()] };
    system.clause(Clause {
        body: vec![],
        constraint: x.equals(&Term::int(0)).and(&y.equals(&Term::int(0))),
        head: Some(state(&x, &y)),
    });
    system.clause(Clause {
        body: vec![state(&x, &y)],
        constraint: x.less_than(&Term::int(10)),
        head: Some(state(&x.plus(&Term::int(1)), &y.plus(&Term::int(2)))),
    });
    system.clause(Clause {
        body: vec![state(&x, &y)],
        constraint: y.at_least(&Term::int(limit)),
        head: None,
    });
    system
}

#[test]
fn an_invariant_is_found() {
    let system = counting(21);
    let Solution::Solved(solution) = solve(&system, &Budget::steps_for(20.0)) else { panic!("not solved") };
    assert_eq!(check_interpretation(&system, &solution, &Budget::steps_for(20.0)), Ok(()));
    let trivial = Interpretation { formulas: [Term::bool(true)].into_iter().collect() };
    assert_eq!(
        check_interpretation(&system, &trivial, &Budget::steps_for(20.0)),
        Err(Failure::Fails(ClauseId(2)))
    );
}

#[test]
fn a_derivation_is_found() {
    let system = counting(20);
    let Solution::Refuted(mut derivation) = solve(&system, &Budget::steps_for(20.0)) else {
        panic!("not refuted")
    };
    assert_eq!(derivation.steps.len(), 12);
    assert_eq!(derivation.steps[10].arguments, [Value::Int(10), Value::Int(20)]);
    assert_eq!(check_derivation(&system, &derivation), Ok(()));
    derivation.steps[3].arguments[0] = Value::Int(7);
    assert!(check_derivation(&system, &derivation).is_err());
}

/// Fibonacci numbers by a clause with two premises.
#[test]
fn a_derivation_may_branch() {
    let int = |name: &str| Variable::new(name, Sort::Int);
    let mut system = HornSystem::default();
    let fib = system.relation("fib", vec![int("n"), int("f")]);
    let is = |n: &Term, f: &Term| Application { relation: fib, arguments: vec![n.clone(), f.clone()] };
    let (n, a, b) = (int("n").term(), int("a").term(), int("b").term());
    system.clause(Clause {
        body: vec![],
        constraint: n.at_least(&Term::int(0)).and(&n.at_most(&Term::int(1))),
        head: Some(is(&n, &n)),
    });
    system.clause(Clause {
        body: vec![is(&n, &a), is(&n.plus(&Term::int(1)), &b)],
        constraint: n.at_least(&Term::int(0)),
        head: Some(is(&n.plus(&Term::int(2)), &a.plus(&b))),
    });
    system.clause(Clause {
        body: vec![is(&n, &a)],
        constraint: n.equals(&Term::int(8)).and(&a.equals(&Term::int(21))),
        head: None,
    });
    let Solution::Refuted(derivation) = solve(&system, &Budget::steps_for(20.0)) else {
        panic!("not refuted")
    };
    assert_eq!(check_derivation(&system, &derivation), Ok(()));
    assert!(derivation.steps.iter().any(|step| step.premises.len() == 2));
}

#[test]
fn what_cannot_be_derived_or_used_is_interpreted_too() {
    let mut system = counting(21);
    let never = system.relation("never", vec![x()]);
    let unused = system.relation("unused", vec![x()]);
    let x = x().term();
    let of = |relation| Application { relation, arguments: vec![x.clone()] };
    system.clause(Clause { body: vec![of(never)], constraint: Term::bool(true), head: Some(of(unused)) });
    system.clause(Clause { body: vec![of(never)], constraint: Term::bool(true), head: None });
    system.clause(Clause { body: vec![], constraint: x.equals(&Term::int(3)), head: Some(of(unused)) });
    let Solution::Solved(solution) = solve(&system, &Budget::steps_for(20.0)) else { panic!("not solved") };
    assert_eq!(check_interpretation(&system, &solution, &Budget::steps_for(20.0)), Ok(()));
    assert!(solution.formulas[never].is_false());
}
