//! Making, printing, substituting and evaluating terms; every operation means the same to us and to the
//! solver.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use smt::print::smt_lib_script;
use smt::{Answer, Operation, Solver, Sort, Term, Value, Variable};
use verdict::Budget;

fn int(name: &str) -> Term {
    Term::int_variable(name)
}

#[test]
fn equal_terms_are_one() {
    let left = int("x").plus(&Term::int(1)).less_than(&int("y"));
    let right = int("x").plus(&Term::int(1)).less_than(&int("y"));
    assert_eq!(left, right);
    assert_ne!(left, int("y").less_than(&int("x")));
    assert_ne!(int("x"), Term::bool_variable("x"));
}

#[test]
fn constants_are_folded() {
    let x = int("x");
    assert_eq!(x.plus(&Term::int(2)).minus(&Term::int(2)), x);
    assert_eq!(x.times(&Term::int(0)), Term::int(0));
    assert!(x.at_most(&x).is_true());
    let p = Term::bool_variable("p");
    assert!(p.and(&p.not()).is_false());
    assert!(p.or(&p.not()).is_true());
    assert_eq!(p.not().not(), p);
    // Too large for 128 bits: left as it is.
    let large = Term::int(i128::MAX);
    assert_eq!(*large.plus(&Term::int(1)).operation(), Operation::Add);
}

#[test]
fn terms_are_printed() {
    let (x, y) = (int("x"), int("y"));
    let formula = x.minus(&y).at_most(&Term::int(-1)).and(&x.differs(&y));
    assert_eq!(formula.to_string(), "((x - y) <= -1) && (x != y)");
    assert_eq!(formula.to_smt_lib(), "(and (<= (+ x (* (- 1) y)) (- 1)) (not (= x y)))");
    let shared = x.plus(&y);
    let twice = shared.times(&shared).equals(&Term::int(9));
    assert_eq!(
        smt_lib_script(&[twice]),
        "(declare-const x Int)\n(declare-const y Int)\n(assert (let ((?0 (+ x y))) (= (* ?0 ?0) 9)))\n(check-sat)\n"
    );
}

#[test]
fn variables_are_replaced_at_once() {
    let (x, y) = (Variable::new("x", Sort::Int), Variable::new("y", Sort::Int));
    let term = x.term().minus(&y.term());
    let swapped = [(x.clone(), y.term()), (y.clone(), x.term())].into_iter().collect();
    assert_eq!(term.substitute(&swapped), y.term().minus(&x.term()));
    assert_eq!(term.free_variables().into_iter().collect::<Vec<_>>(), [x, y]);
}

#[test]
fn deep_terms_need_no_stack() {
    let mut term = int("x");
    for step in 0..200_000 {
        term = Term::bool_variable("p").if_then_else(&term, &Term::int(step));
    }
    assert_eq!(term.size(), 400_002);
    let replacements = [(Variable::new("x", Sort::Int), Term::int(3))].into_iter().collect();
    let value = term.substitute(&replacements).evaluate(&|_| Some(Value::Bool(true)));
    assert_eq!(value, Ok(Value::Int(3)));
    assert!(!term.to_smt_lib().is_empty());
    assert!(term.to_string().ends_with('…'));
}

#[test]
#[should_panic(expected = "`+` needs integers; it was given p of sort Bool, 1 of sort Int")]
fn a_wrong_sort_is_told() {
    let _ = Term::bool_variable("p").plus(&Term::int(1));
}

/// A random term of a sort over the variables `a0`, `a1`, … of each sort.
fn terms(sort: Sort, depth: u32) -> BoxedStrategy<Term> {
    let leaf = match sort.clone() {
        Sort::Bool => prop_oneof![any::<bool>().prop_map(Term::bool), variable(Sort::Bool)].boxed(),
        Sort::Int => prop_oneof![(-20i128..20).prop_map(Term::int), variable(Sort::Int)].boxed(),
        Sort::BitVec(width) => {
            prop_oneof![any::<u128>().prop_map(move |bits| Term::bits(width, bits)), variable(sort.clone())]
                .boxed()
        }
        Sort::Array(_) => variable(sort.clone()),
    };
    if depth == 0 {
        return leaf;
    }
    let less = depth - 1;
    let two = move |sort: &Sort| (terms(sort.clone(), less), terms(sort.clone(), less));
    let choose = {
        let sort = sort.clone();
        (terms(Sort::Bool, less), terms(sort.clone(), less), terms(sort, less))
            .prop_map(|(condition, left, right)| condition.if_then_else(&left, &right))
    };
    match sort.clone() {
        Sort::Bool => prop_oneof![
            leaf,
            choose,
            terms(Sort::Bool, less).prop_map(|operand| operand.not()),
            (two(&Sort::Bool), any::<bool>()).prop_map(|((a, b), and)| if and {
                a.and(&b)
            } else {
                a.or(&b)
            }),
            (two(&Sort::Int), 0..3usize).prop_map(|((a, b), which)| {
                let operation = [Operation::Less, Operation::LessOrEqual, Operation::Equal][which].clone();
                Term::binary(operation, &a, &b)
            }),
            (two(&Sort::BitVec(8)), 0..5usize).prop_map(|((a, b), which)| {
                use Operation::*;
                let all = [UnsignedLess, UnsignedLessOrEqual, SignedLess, SignedLessOrEqual, Equal];
                Term::binary(all[which].clone(), &a, &b)
            }),
            two(&Sort::array(Sort::Int, Sort::Int)).prop_map(|(a, b)| a.equals(&b)),
        ]
        .boxed(),
        Sort::Int => prop_oneof![
            leaf,
            choose,
            (two(&Sort::Int), 0..4usize).prop_map(|((a, b), which)| {
                use Operation::*;
                Term::binary([Add, Multiply, Divide, Modulo][which].clone(), &a, &b)
            }),
            (terms(Sort::BitVec(8), less), any::<bool>()).prop_map(|(a, signed)| {
                Term::unary(if signed { Operation::BitsToSigned } else { Operation::BitsToUnsigned }, &a)
            }),
            (terms(Sort::array(Sort::Int, Sort::Int), less), terms(Sort::Int, less))
                .prop_map(|(array, index)| array.select(&index)),
        ]
        .boxed(),
        Sort::BitVec(8) => prop_oneof![
            leaf,
            choose,
            (two(&sort), 0..13usize).prop_map(|((a, b), which)| {
                use Operation::*;
                let all = [
                    BitAdd,
                    BitSubtract,
                    BitMultiply,
                    UnsignedDivide,
                    SignedDivide,
                    UnsignedRemainder,
                    SignedRemainder,
                    BitAnd,
                    BitOr,
                    BitXor,
                    ShiftLeft,
                    LogicalShiftRight,
                    ArithmeticShiftRight,
                ];
                Term::binary(all[which].clone(), &a, &b)
            }),
            (terms(sort, less), 0..6usize).prop_map(|(a, which)| match which {
                0 => Term::unary(Operation::BitNot, &a),
                1 => Term::unary(Operation::BitNegate, &a),
                2 => Term::unary(Operation::SignExtend(5), &a.extract(6, 4)),
                3 => Term::unary(Operation::ZeroExtend(5), &a.extract(2, 0)),
                4 => Term::binary(Operation::Concat, &a.extract(7, 6), &a.extract(5, 0)),
                _ => Term::binary(Operation::Concat, &a.extract(4, 0), &a.extract(7, 5)),
            }),
            terms(Sort::Int, less).prop_map(|a| Term::unary(Operation::IntToBits(8), &a)),
        ]
        .boxed(),
        Sort::Array(_) => prop_oneof![
            leaf,
            terms(Sort::Int, less).prop_map(move |element| Term::constant_array(sort.clone(), &element)),
            (terms(Sort::array(Sort::Int, Sort::Int), less), terms(Sort::Int, less), terms(Sort::Int, less))
                .prop_map(|(array, index, element)| array.store(&index, &element)),
        ]
        .boxed(),
        Sort::BitVec(_) => leaf,
    }
}

fn variable(sort: Sort) -> BoxedStrategy<Term> {
    (0..2u8).prop_map(move |number| Term::variable(format!("a{number}").as_str(), sort.clone())).boxed()
}

/// The value of a variable, made from its name and a seed.
fn value_of(variable: &Variable, seed: u64) -> Value {
    let number = u64::from(variable.name.text().as_bytes()[1]).wrapping_mul(0x9e37_79b9).wrapping_add(seed);
    match &variable.sort {
        Sort::Bool => Value::Bool(number % 2 == 0),
        Sort::Int => Value::Int(i128::from(number % 40) - 20),
        Sort::BitVec(width) => {
            let Sort::BitVec(_) = Sort::bit_vector(*width) else { unreachable!() };
            Value::Bits(*width, u128::from(number) & ((1 << width) - 1))
        }
        Sort::Array(_) => {
            let array = Term::constant_array(variable.sort.clone(), &Term::int(i128::from(number % 3)));
            let array = array.store(&Term::int(i128::from(number % 5)), &Term::int(7));
            array.evaluate(&|_| None).expect("the array is written out")
        }
    }
}

/// What we compute is what the solver computes.
#[test]
fn evaluation_agrees_with_the_solver() {
    let sorts = prop_oneof![
        Just(Sort::Bool),
        Just(Sort::Int),
        Just(Sort::BitVec(8)),
        Just(Sort::array(Sort::Int, Sort::Int))
    ];
    let strategy = (sorts.prop_flat_map(|sort| terms(sort, 3)), any::<u64>());
    let mut runner = TestRunner::new(Config::with_cases(1500));
    let outcome = runner.run(&strategy, |(term, seed)| {
        let Ok(ours) = term.evaluate(&|variable| Some(value_of(variable, seed))) else { return Ok(()) };
        let mut solver = Solver::new();
        for variable in term.free_variables() {
            let value = value_of(&variable, seed).term();
            solver.assert(&variable.term().equals(&value));
        }
        solver.assert(&term.differs(&ours.term()));
        prop_assert_eq!(solver.check(&Budget::steps_for(20.0)), Answer::Unsat);
        Ok(())
    });
    outcome.unwrap();
}
