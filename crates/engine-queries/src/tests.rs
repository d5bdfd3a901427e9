//! Laws of formulas.

use crate::post::{facts_of, post};
use crate::simplify::normal;
use indexmap::{IndexMap, IndexSet};
use sequential::{Execution, Step};
use smt::{Answer, Sort, Term, Variable, can_fail};
use testkit::random::Random;
use verdict::Budget;

fn variable(name: &str) -> Variable {
    Variable::new(name, Sort::Int)
}

fn random_sum(random: &mut Random) -> Term {
    let count = 1 + random.below(4);
    Term::sum((0..count).map(|_| {
        let factor = Term::int(i128::from(random.below(7)) - 3);
        match random.below(4) {
            0 => factor,
            name => factor.times(&variable(["x", "y", "z"][name as usize - 1]).term()),
        }
    }))
}

fn random_formula(random: &mut Random, depth: u32) -> Term {
    let (left, right) = (random_sum(random), random_sum(random));
    match random.below(if depth == 0 { 3 } else { 6 }) {
        0 => left.less_than(&right),
        1 => left.at_most(&right),
        2 => left.equals(&right),
        3 => random_formula(random, depth - 1).not(),
        4 => random_formula(random, depth - 1).and(&random_formula(random, depth - 1)),
        _ => random_formula(random, depth - 1).or(&random_formula(random, depth - 1)),
    }
}

/// A formula and its normal form hold for the same values.
#[test]
fn the_normal_form_says_the_same() {
    let mut random = Random::new(7);
    for _ in 0..300 {
        let formula = random_formula(&mut random, 3);
        let normal = normal(&formula);
        let same = formula.implies(&normal).and(&normal.implies(&formula));
        assert_eq!(can_fail(&same, &Budget::steps_for(60.0)), Answer::Unsat, "{formula} is not {normal}");
    }
}

/// Twice the same summand is one; a bound is in lowest terms.
#[test]
fn the_normal_form_is_small() {
    let v = variable("v").term();
    let sum = Term::sum([v.clone(), v.clone(), Term::int(1)]);
    assert_eq!(normal(&sum.greater_than(&Term::int(31))), Term::int(16).at_most(&v));
    assert_eq!(normal(&v.plus(&Term::int(2)).equals(&v)), Term::bool(false));
}

/// What holds after steps: values that a variable shows are known, others are forgotten.
#[test]
fn what_steps_lead_to() {
    let (x, y, input) = (variable("x"), variable("y"), variable("input"));
    let mut execution = Execution::new();
    execution.step(&Step {
        source: 0,
        target: 1,
        guard: input.term().at_least(&Term::int(3)),
        updates: IndexMap::from([(x.clone(), input.term())]),
        inputs: vec![input],
    });
    execution.step(&Step {
        source: 1,
        target: 2,
        guard: Term::bool(true),
        updates: IndexMap::from([(y.clone(), y.term().plus(&x.term()))]),
        inputs: vec![],
    });
    let variables = IndexSet::from([x.clone(), y.clone()]);
    let facts = Term::all(post(&y.term().equals(&Term::int(1)), &execution, &variables));
    let wanted = y.term().equals(&x.term().plus(&Term::int(1))).and(&x.term().at_least(&Term::int(3)));
    let same = facts.implies(&wanted).and(&wanted.implies(&facts));
    assert_eq!(can_fail(&same, &Budget::steps_for(60.0)), Answer::Unsat, "{facts}");
    assert_eq!(facts_of(&facts).len(), 2);
}
