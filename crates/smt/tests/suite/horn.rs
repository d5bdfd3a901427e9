//! Random systems of Horn clauses over few values: the answer is that of counting out all facts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use smt::horn::{
    Application, Clause, HornSystem, RelationId, Solution, check_derivation, check_interpretation, solve,
};
use smt::{Operation, Sort, Term, Value, Variable};
use std::collections::BTreeSet;
use verdict::Budget;

/// How the numbers of a system are represented.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Numbers {
    Integers,
    Bits,
}

impl Numbers {
    fn sort(self) -> Sort {
        match self {
            Self::Integers => Sort::Int,
            Self::Bits => Sort::BitVec(3),
        }
    }
    fn number(self, value: u8) -> Term {
        match self {
            Self::Integers => Term::int(i128::from(value)),
            Self::Bits => Term::bits(3, u128::from(value)),
        }
    }
    fn sum(self, left: &Term, right: &Term) -> Term {
        Term::binary(if self == Self::Bits { Operation::BitAdd } else { Operation::Add }, left, right)
    }
    fn less(self, left: &Term, right: &Term) -> Term {
        Term::binary(if self == Self::Bits { Operation::UnsignedLess } else { Operation::Less }, left, right)
    }
}

/// All values that a variable takes.
const VALUES: u8 = 4;

fn variables(numbers: Numbers) -> Vec<Variable> {
    let mut all: Vec<Variable> =
        (0..3).map(|index| Variable::new(format!("v{index}").as_str(), numbers.sort())).collect();
    all.push(Variable::new("p", Sort::Bool));
    all
}

/// The parameters of the three relations: two numbers; one number and a truth value; nothing.
fn signatures(numbers: Numbers) -> [Vec<Sort>; 3] {
    [vec![numbers.sort(), numbers.sort()], vec![numbers.sort(), Sort::Bool], vec![]]
}

/// A number: a variable, a variable plus a constant, a sum, a constant.
fn number(numbers: Numbers) -> impl Strategy<Value = Term> + Clone {
    (0..3usize, 0..3usize, 0..VALUES, 0..4u8).prop_map(move |(first, second, constant, kind)| {
        let all = variables(numbers);
        match kind {
            0 => all[first].term(),
            1 => numbers.sum(&all[first].term(), &numbers.number(constant)),
            2 => numbers.sum(&all[first].term(), &all[second].term()),
            _ => numbers.number(constant),
        }
    })
}

fn truth(numbers: Numbers) -> impl Strategy<Value = Term> + Clone {
    (number(numbers), number(numbers), 0..4u8).prop_map(move |(left, right, kind)| match kind {
        0 => numbers.less(&left, &right),
        1 => left.equals(&right),
        2 => left.differs(&right),
        _ => Term::bool_variable("p"),
    })
}

fn application(numbers: Numbers) -> impl Strategy<Value = Application> {
    (0..3u32, number(numbers), number(numbers), truth(numbers)).prop_map(
        |(relation, first, second, truth)| {
            let arguments = match relation {
                0 => vec![first, second],
                1 => vec![first, truth],
                _ => vec![],
            };
            Application { relation: RelationId(relation), arguments }
        },
    )
}

fn systems(numbers: Numbers) -> impl Strategy<Value = HornSystem> {
    let clause = (
        vec(application(numbers), 0..3),
        vec(truth(numbers), 0..3),
        proptest::option::weighted(0.8, application(numbers)),
    );
    vec(clause, 3..9).prop_map(move |clauses| {
        let mut system = HornSystem::default();
        for (index, sorts) in signatures(numbers).into_iter().enumerate() {
            let parameters = sorts.into_iter().enumerate();
            let parameters =
                parameters.map(|(position, sort)| Variable::new(format!("a{position}").as_str(), sort));
            system.relation(format!("r{index}"), parameters.collect());
        }
        for (body, constraint, head) in clauses {
            let bounds = variables(numbers)[..3]
                .iter()
                .map(|variable| in_bounds(numbers, &variable.term()))
                .collect::<Vec<_>>();
            system.clause(Clause { body, constraint: Term::all(constraint.into_iter().chain(bounds)), head });
        }
        system
    })
}

fn in_bounds(numbers: Numbers, number: &Term) -> Term {
    let low = match numbers {
        Numbers::Integers => Term::int(0).at_most(number),
        Numbers::Bits => Term::bool(true),
    };
    low.and(&numbers.less(number, &numbers.number(VALUES)))
}

/// Whether `false` follows, found by adding facts until there are no more.
fn false_follows(numbers: Numbers, system: &HornSystem) -> bool {
    let all = variables(numbers);
    let mut facts: BTreeSet<(RelationId, Vec<Value>)> = BTreeSet::new();
    loop {
        let before = facts.len();
        for clause in &system.clauses {
            for choice in 0..u32::from(VALUES).pow(3) * 2 {
                let value_of = |variable: &Variable| {
                    let position = all.iter().position(|known| known == variable)? as u32;
                    if position == 3 {
                        return Some(Value::Bool(choice % 2 == 1));
                    }
                    let digit = choice / 2 / u32::from(VALUES).pow(position) % u32::from(VALUES);
                    numbers.number(digit as u8).as_literal()
                };
                let values = |application: &Application| -> (RelationId, Vec<Value>) {
                    let arguments =
                        application.arguments.iter().map(|term| term.evaluate(&value_of).unwrap());
                    (application.relation, arguments.collect())
                };
                let holds = clause.constraint.evaluate(&value_of) == Ok(Value::Bool(true))
                    && clause.body.iter().all(|application| facts.contains(&values(application)));
                match &clause.head {
                    _ if !holds => {}
                    None => return true,
                    Some(head) => {
                        facts.insert(values(head));
                    }
                }
            }
        }
        if facts.len() == before {
            return false;
        }
    }
}

fn agrees(numbers: Numbers) {
    let mut runner = TestRunner::new(Config { max_shrink_iters: 500, ..Config::with_cases(150) });
    let outcome = runner.run(&systems(numbers), |system| {
        let budget = Budget::steps_for(60.0);
        match solve(&system, &budget) {
            Solution::Solved(interpretation) => {
                prop_assert!(!false_follows(numbers, &system));
                prop_assert_eq!(check_interpretation(&system, &interpretation, &budget), Ok(()));
            }
            Solution::Refuted(derivation) => {
                prop_assert!(false_follows(numbers, &system));
                prop_assert_eq!(check_derivation(&system, &derivation), Ok(()));
            }
            Solution::Unknown(reason) => prop_assert!(false, "{}\n{}", reason, system),
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn systems_of_integers_are_decided() {
    agrees(Numbers::Integers);
}

#[test]
fn systems_of_bit_vectors_are_decided() {
    agrees(Numbers::Bits);
}
