//! Conditions: no state that they allow is lost, and what they say is found.

use crate::expressions::{World, expression, local};
use crate::samples::number_around;
use domains::{Environment, Lattice, Number, Numbers, assume, evaluate, refine};
use ir::{BinaryOp, Expr, IntType, LocalId, UnaryOp, Value};
use testkit::random::Random;

#[test]
fn allowed_states_stay() {
    for seed in 0..12_000 {
        let world = World::new(seed);
        let random = &mut Random::new(seed + (2 << 32));
        let depth = 1 + random.below(5);
        let condition = expression(random, IntType::BOOL, depth);
        let environment = world.environment(random);
        if let Ok(truth) = world.concrete(&condition) {
            let refined = assume(&condition, truth != 0, environment.clone(), &world);
            assert!(world.holds(&refined), "{condition:?} is {truth}: {environment:?} became {refined:?}");
            assert!(refined.less_or_equal(&environment), "{environment:?} became {refined:?}");
        }
    }
}

#[test]
fn wanted_values_keep_their_states() {
    for seed in 0..12_000 {
        let world = World::new(seed);
        let random = &mut Random::new(seed + (3 << 32));
        let ty = random.pick(&IntType::ALL);
        let depth = 1 + random.below(3);
        let expr = expression(random, ty, depth);
        let environment = world.environment(random);
        if let Ok(value) = world.concrete(&expr) {
            let wanted = number_around(random, value);
            let refined = refine(&expr, &wanted, environment.clone(), &world);
            assert!(
                world.holds(&refined),
                "{expr:?} = {value} in {wanted}: {environment:?} became {refined:?}"
            );
        }
    }
}

const INT: IntType = IntType::I32;
/// Two locals of type `int`, one unsigned, one `char`.
const X: u32 = 10;
const Y: u32 = 11;
const U: u32 = 12;
const C: u32 = 2;

fn int(value: Value) -> Expr {
    Expr::Const(value, INT)
}
fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, INT, left, right)
}
fn less(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Lt, left, right)
}

/// What is known of `variable` where `condition` has a truth value, given that `y` is between 0 and 10.
fn known(condition: &Expr, truth: bool, variable: u32) -> String {
    let world = World::new(0);
    let environment: Numbers<LocalId> = [(LocalId(Y), Number::between(0, 10))].into_iter().collect();
    let refined = assume(condition, truth, environment, &world);
    if refined.is_bottom() {
        return "⊥".into();
    }
    evaluate(&local(variable), &refined, &world).to_string()
}

#[test]
fn conditions_say_what_they_mean() {
    let x = || local(X);
    assert_eq!(known(&less(x(), int(5)), true, X), "[-2147483648, 4]");
    assert_eq!(known(&less(x(), int(5)), false, X), "[5, 2147483647]");
    assert_eq!(known(&less(x(), local(Y)), true, X), "[-2147483648, 9]");
    assert_eq!(known(&less(int(3), local(Y)), true, Y), "[4, 10]");
    assert_eq!(known(&binary(BinaryOp::Eq, x(), local(Y)), true, X), "[0, 10]");
    assert_eq!(known(&binary(BinaryOp::Ne, x(), int(0)), true, X), "[-2147483648, 2147483647] ≠ 0");
    assert_eq!(known(&binary(BinaryOp::Ne, int(10), local(Y)), true, Y), "[0, 9]");
    let sum = binary(BinaryOp::Add, x(), int(3));
    assert_eq!(known(&binary(BinaryOp::Le, sum, int(7)), true, X), "[-2147483648, 4]");
    let both = less(int(0), x()).and(less(x(), int(9)));
    assert_eq!(known(&both, true, X), "[1, 8]");
    let either = Expr::binary(
        BinaryOp::Or,
        IntType::BOOL,
        binary(BinaryOp::Eq, x(), int(2)),
        binary(BinaryOp::Eq, x(), int(6)),
    );
    assert_eq!(known(&either, true, X), "[2, 6] (2 mod 4)");
    // A later part helps an earlier one.
    let later = less(x(), local(Y)).and(less(local(Y), int(4)));
    assert_eq!(known(&later, true, X), "[-2147483648, 2]");
}

#[test]
fn truth_values_in_integers_are_seen_through() {
    let small = Expr::cast(INT, less(local(X), int(5)));
    let tested = binary(BinaryOp::Ne, small.clone(), int(0));
    assert_eq!(known(&tested, true, X), "[-2147483648, 4]");
    assert_eq!(known(&tested, false, X), "[5, 2147483647]");
    assert_eq!(known(&binary(BinaryOp::Eq, small.clone(), int(0)), true, X), "[5, 2147483647]");
    assert_eq!(known(&Expr::cast(IntType::BOOL, small), true, X), "[-2147483648, 4]");
    let chosen = Expr::IfThenElse(Box::new((less(local(X), int(5)), int(1), int(0))));
    assert_eq!(known(&binary(BinaryOp::Ne, chosen, int(0)), true, X), "[-2147483648, 4]");
    assert_eq!(known(&less(local(X), int(5)).not(), true, X), "[5, 2147483647]");
}

#[test]
fn conversions_and_remainders_are_undone() {
    let wide = Expr::cast(INT, local(C));
    assert_eq!(known(&less(wide, int(5)), true, C), "[-128, 4]");
    let odd = binary(BinaryOp::Ne, binary(BinaryOp::And, local(X), int(1)), int(0));
    assert_eq!(known(&odd, true, X), "[-2147483647, 2147483647] (1 mod 2)");
    let third = binary(BinaryOp::Eq, binary(BinaryOp::Rem, local(Y), int(3)), int(2));
    assert_eq!(known(&third, true, Y), "[2, 8] (2 mod 3)");
    let unsigned = |op, value| Expr::binary(op, IntType::U32, local(U), Expr::Const(value, IntType::U32));
    let before =
        Expr::binary(BinaryOp::Lt, IntType::U32, unsigned(BinaryOp::Sub, 5), Expr::Const(3, IntType::U32));
    assert_eq!(known(&before, true, U), "[5, 7]");
    let twice = binary(BinaryOp::Mul, local(X), int(2));
    assert_eq!(known(&less(twice, int(7)), true, X), "[-1073741824, 3]");
    let negative = Expr::unary(UnaryOp::Neg, INT, local(X));
    assert_eq!(known(&less(negative, int(3)), true, X), "[-2, 2147483647]");
}

#[test]
fn overflow_checks_bound_their_operands() {
    let pair = Box::new((local(X), int(1)));
    let overflows = Expr::Overflows(BinaryOp::Add, INT, pair);
    assert_eq!(known(&overflows, false, X), "[-2147483648, 2147483646]");
    assert_eq!(known(&overflows, true, X), "2147483647");
}

#[test]
fn pointers_that_are_used_are_not_null() {
    let world = World::new(0);
    let pointer = local(18);
    let valid = Expr::Valid(Box::new(pointer.clone()), 4);
    let refined = assume(&valid, true, Environment::top(), &world);
    assert!(evaluate(&pointer, &refined, &world).is_nonzero());
    let null = Expr::binary(BinaryOp::Eq, IntType::U64, pointer, Expr::Const(0, IntType::U64));
    assert!(assume(&null, true, refined.clone(), &world).is_bottom());
    let none = assume(&null, true, Environment::top(), &world);
    assert!(assume(&valid, true, none, &world).is_bottom());
}
