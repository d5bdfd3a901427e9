//! The terms of expressions mean what `ir::semantics` says, in both modes, where they are defined and where
//! not.

use ir::semantics::Machine;
use ir::{BinaryOp, Expr, IntType, LocalId, Program, UnaryOp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use smt::expressions::{Mode, Translated};
use smt::{Answer, Solver, Term, Variable};
use std::sync::LazyLock;
use verdict::Budget;

const UNARY: [UnaryOp; 2] = [UnaryOp::Neg, UnaryOp::Not];
const ARITHMETIC: &[BinaryOp] = BinaryOp::ALL.split_at(8).0;
const COMPARISONS: &[BinaryOp] = BinaryOp::ALL.split_at(10).1;

/// Local `t` has type `IntType::ALL[t % 9]`.
fn local_type(local: LocalId) -> IntType {
    IntType::ALL[local.0 as usize % IntType::ALL.len()]
}

fn types() -> impl Strategy<Value = IntType> {
    (0..IntType::ALL.len()).prop_map(|index| IntType::ALL[index])
}

/// Values near the ends of the range and near zero, powers of two, and any.
fn values(ty: IntType) -> BoxedStrategy<i128> {
    prop_oneof![
        (0..4i128).prop_map(move |near| ty.wrap(near - 2)),
        (0..3i128).prop_map(move |near| ty.wrap(ty.max() - near)),
        (0..3i128).prop_map(move |near| ty.wrap(ty.min() + near)),
        (0..u32::from(ty.bits), -1..2i128).prop_map(move |(bit, near)| ty.wrap((1 << bit) + near)),
        any::<i128>().prop_map(move |value| ty.wrap(value)),
    ]
    .boxed()
}

fn expressions(ty: IntType, depth: u32) -> BoxedStrategy<Expr> {
    let index = IntType::ALL.iter().position(|known| *known == ty).expect("every type is known") as u32;
    let local = (0..2u32).prop_map(move |copy| Expr::Local(LocalId(index + 9 * copy)));
    let leaf = prop_oneof![local, values(ty).prop_map(move |value| Expr::Const(value, ty))].boxed();
    if depth == 0 {
        return leaf;
    }
    let less = depth - 1;
    let two = move |ty: IntType| (expressions(ty, less), expressions(ty, less));
    let mut choices = vec![
        leaf,
        (0..2usize, expressions(ty, less)).prop_map(move |(op, a)| Expr::unary(UNARY[op], ty, a)).boxed(),
        (0..8usize, two(ty)).prop_map(move |(op, (a, b))| Expr::binary(ARITHMETIC[op], ty, a, b)).boxed(),
        (any::<bool>(), expressions(ty, less), types().prop_flat_map(move |other| expressions(other, less)))
            .prop_map(move |(left, a, b)| {
                Expr::binary(if left { BinaryOp::Shl } else { BinaryOp::Shr }, ty, a, b)
            })
            .boxed(),
        types()
            .prop_flat_map(move |from| expressions(from, less))
            .prop_map(move |a| Expr::cast(ty, a))
            .boxed(),
        (expressions(IntType::BOOL, less), two(ty))
            .prop_map(|(condition, (a, b))| Expr::IfThenElse(Box::new((condition, a, b))))
            .boxed(),
    ];
    if ty == IntType::BOOL {
        choices.push(
            (0..4usize, types())
                .prop_flat_map(move |(op, of)| {
                    two(of).prop_map(move |(a, b)| Expr::binary(COMPARISONS[op], of, a, b))
                })
                .boxed(),
        );
        choices.push(
            (0..8usize, types().prop_filter("signed", |ty| ty.signed))
                .prop_flat_map(move |(op, of)| {
                    two(of).prop_map(move |(a, b)| Expr::Overflows(ARITHMETIC[op], of, Box::new((a, b))))
                })
                .boxed(),
        );
        choices.push(
            (types().prop_filter("signed", |ty| ty.signed), types())
                .prop_flat_map(move |(of, by)| {
                    (expressions(of, less), expressions(by, less))
                        .prop_map(move |(a, b)| Expr::Overflows(BinaryOp::Shl, of, Box::new((a, b))))
                })
                .boxed(),
        );
    }
    proptest::strategy::Union::new(choices).boxed()
}

fn variable(mode: Mode, local: LocalId) -> Variable {
    Variable::new(local.to_string().as_str(), mode.sort(local_type(local)))
}

fn translate(mode: Mode, expr: &Expr) -> Translated {
    let translated = mode.translate(expr, &mut |leaf| match leaf {
        Expr::Local(local) => Ok(Translated::new(variable(mode, *local).term(), local_type(*local))),
        other => panic!("no {other:?} was made"),
    });
    translated.expect("all expressions that were made have terms")
}

/// What the machine computes; its program does not matter.
fn evaluate(expr: &Expr) -> Option<i128> {
    static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
        ir::text::parse("program lp64\nstart main 1\ntemplate main() { locations 1 end l0 }\n")
            .expect("the program is well formed")
    });
    let program: &Program = &PROGRAM;
    let machine = Machine::new(program).expect("the program is small");
    let state = machine.initial(&[1]).expect("the program is small");
    machine.peek(&state, 0, expr).ok()
}

fn with_values(expr: &Expr, values: &[i128]) -> Expr {
    let mut known = expr.clone();
    known.rewrite(&mut |inner| {
        if let Expr::Local(local) = *inner {
            *inner = Expr::Const(values[local.0 as usize], local_type(local));
        }
    });
    known
}

fn agrees(mode: Mode, cases: u32, depth: u32) {
    let locals: Vec<_> = (0..18).map(|index| values(local_type(LocalId(index)))).collect();
    let strategy = (types().prop_flat_map(move |ty| expressions(ty, depth)), locals);
    let mut runner = TestRunner::new(Config { max_shrink_iters: 2000, ..Config::with_cases(cases) });
    let outcome = runner.run(&strategy, |(expr, values)| {
        let expected = evaluate(&with_values(&expr, &values));
        let translated = translate(mode, &expr);
        prop_assert_eq!(translated.value.sort().clone(), mode.sort(translated.ty));
        // With constants only, our own evaluation folds the term.
        let folded = translate(mode, &with_values(&expr, &values));
        if let Some(defined) = folded.defined.as_literal() {
            prop_assert_eq!(defined.as_bool(), Some(expected.is_some()));
        }
        if let (Some(value), Some(expected)) = (folded.value.as_literal(), expected) {
            prop_assert_eq!(mode.program_value(&value, folded.ty), Some(expected));
        }
        // With variables, the solver has the last word.
        let mut solver = Solver::new();
        let mut seen = translated.value.free_variables();
        seen.extend(translated.defined.free_variables());
        for (index, value) in values.iter().enumerate() {
            let local = LocalId(index as u32);
            let variable = variable(mode, local);
            if seen.contains(&variable) {
                solver.assert(&variable.term().equals(&mode.constant(*value, local_type(local))));
            }
        }
        let claim = match expected {
            None => translated.defined.not(),
            Some(value) => {
                let same = translated.value.equals(&mode.constant(value, translated.ty));
                translated.defined.and(&same)
            }
        };
        solver.assert(&claim.not());
        prop_assert_eq!(solver.check(&Budget::steps_for(60.0)), Answer::Unsat);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn integers_agree_on_single_operations() {
    agrees(Mode::Integers, 3000, 1);
}
#[test]
fn integers_agree_on_nested_operations() {
    agrees(Mode::Integers, 1000, 3);
}
#[test]
fn bits_agree_on_single_operations() {
    agrees(Mode::Bits, 3000, 1);
}
#[test]
fn bits_agree_on_nested_operations() {
    agrees(Mode::Bits, 1000, 3);
}

/// Every operation on every pair of values at the ends of the ranges, by folding constants.
#[test]
fn both_modes_agree_at_the_ends_of_ranges() {
    let ends = |ty: IntType| {
        let near = [ty.min(), ty.min() + 1, -2, -1, 0, 1, 2, 3, 7, 8, 15, 63, 64, ty.max() - 1, ty.max()];
        let high_bits = [ty.wrap(-8), ty.wrap(-64), ty.wrap(1 << (ty.bits - 1))];
        near.into_iter().chain(high_bits).filter(move |value| ty.contains(*value)).collect::<Vec<_>>()
    };
    let operations = ARITHMETIC.iter().chain(COMPARISONS).map(|op| (*op, false));
    let shifts = [(BinaryOp::Shl, true), (BinaryOp::Shr, true)];
    let mut folded = 0;
    for (op, is_shift) in operations.chain(shifts) {
        for ty in IntType::ALL {
            for right_ty in IntType::ALL.into_iter().filter(|right| is_shift || *right == ty) {
                for (left, right) in
                    ends(ty).into_iter().flat_map(|l| ends(right_ty).into_iter().map(move |r| (l, r)))
                {
                    let pair = (Expr::Const(left, ty), Expr::Const(right, right_ty));
                    let mut all = vec![Expr::Binary(op, ty, Box::new(pair.clone()))];
                    if ty.signed && !op.is_comparison() {
                        all.push(Expr::Overflows(op, ty, Box::new(pair)));
                    }
                    for (expr, mode) in
                        all.iter().flat_map(|expr| [(expr, Mode::Integers), (expr, Mode::Bits)])
                    {
                        let expected = evaluate(expr);
                        let term = translate(mode, expr);
                        // Products of more than 127 bits are not folded.
                        let (Some(defined), Some(value)) =
                            (term.defined.as_literal(), term.value.as_literal())
                        else {
                            assert!(expected.is_none() || op == BinaryOp::Mul, "{mode:?} {expr:?}");
                            continue;
                        };
                        folded += 1;
                        assert_eq!(defined.as_bool(), Some(expected.is_some()), "{mode:?} {expr:?}");
                        if let Some(expected) = expected {
                            assert_eq!(
                                mode.program_value(&value, term.ty),
                                Some(expected),
                                "{mode:?} {expr:?}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(folded > 50_000, "{folded}");
}

/// Sums of signed numbers stay linear: an overflow is a side condition, not a remainder.
#[test]
fn signed_sums_stay_sums() {
    let sum = Expr::binary(BinaryOp::Add, IntType::I32, Expr::Local(LocalId(5)), Expr::int(1, IntType::I32));
    let translated = translate(Mode::Integers, &sum);
    assert_eq!(translated.value.to_string(), "v5 + 1");
    assert_eq!(translated.defined.to_string(), "(-2147483648 <= (v5 + 1)) && ((v5 + 1) <= 2147483647)");
}

#[test]
fn a_range_is_said_of_variables() {
    let x = Term::int_variable("x");
    assert_eq!(Mode::Integers.range(&x, IntType::U8).to_string(), "(0 <= x) && (x <= 255)");
    assert!(Mode::Bits.range(&Term::variable("x", Mode::Bits.sort(IntType::U8)), IntType::U8).is_true());
}
