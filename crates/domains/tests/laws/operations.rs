//! Abstract operations on numbers against the concrete ones.

use crate::samples::{number_around, typed_number_around, value};
use domains::{Interval, Lattice, Number};
use ir::semantics::apply;
use ir::{BinaryOp, IntType, UnaryOp, Value};
use testkit::random::Random;

fn unary(op: UnaryOp, ty: IntType, value: Value) -> Option<Value> {
    match op {
        UnaryOp::Not => Some(ty.wrap(!value)),
        UnaryOp::Neg if ty.signed => ty.contains(-value).then_some(-value),
        UnaryOp::Neg => Some(ty.wrap(-value)),
    }
}

fn cast(ty: IntType, value: Value) -> Value {
    if ty == IntType::BOOL { Value::from(value != 0) } else { ty.wrap(value) }
}

#[test]
fn results_are_in_the_abstract_result() {
    for seed in 0..60_000 {
        let random = &mut Random::new(seed);
        let ty = random.pick(&IntType::ALL);
        let op = random.pick(&BinaryOp::ALL);
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let (a, b) = (value(random, ty), value(random, if shift { IntType::I8 } else { ty }));
        let (left, right) = (typed_number_around(random, a, ty), typed_number_around(random, b, ty));
        if !left.contains(a) || !right.contains(b) {
            continue; // A distance that its type does not hold was cut off.
        }
        let result = Number::binary(op, ty, &left, &right);
        let concrete = apply(op, ty, a, b);
        if let Ok(exact) = concrete {
            assert!(
                result.contains(exact),
                "{a} {op:?} {b} = {exact}: {left} {op:?}.{ty} {right} = {result}"
            );
        }
        let overflow = Value::from(ir::semantics::overflows(op, ty, a, b));
        let result = Number::overflows(op, ty, &left, &right);
        assert!(
            result.contains(overflow),
            "{a} {op:?} {b} overflows: {left} {op:?}.{ty} {right} gives {result}"
        );
        for op in [UnaryOp::Neg, UnaryOp::Not] {
            let result = Number::unary(op, ty, &left);
            if let Some(exact) = unary(op, ty, a) {
                assert!(result.contains(exact), "{op:?}.{ty} {a} = {exact}: {left} gives {result}");
            }
        }
        let to = random.pick(&IntType::ALL);
        let result = left.cast(to);
        assert!(result.contains(cast(to, a)), "({to}) {a}: {left} gives {result}");
        let removed = random.pick(&[0, a + 1, a - 1]);
        assert_eq!(left.without(removed).contains(a), a != removed, "{left} without {removed}");
    }
}

/// All members of small sets, so that no pair is missed.
#[test]
fn small_sets_are_exhausted() {
    for seed in 0..3000 {
        let random = &mut Random::new(seed);
        let ty = random.pick(&[IntType::I8, IntType::U8, IntType::BOOL]);
        let set = |random: &mut Random| {
            let middle = value(random, ty);
            let near = Interval::between((middle - 6).max(ty.min()), (middle + 6).min(ty.max()));
            number_around(random, middle).meet(&near.into())
        };
        let (left, right) = (set(random), set(random));
        let members = |number: &Number| -> Vec<Value> {
            (ty.min()..=ty.max()).filter(|value| number.contains(*value)).collect()
        };
        for op in BinaryOp::ALL {
            let result = Number::binary(op, ty, &left, &right);
            let overflows = Number::overflows(op, ty, &left, &right);
            for a in members(&left) {
                for b in members(&right) {
                    let concrete = apply(op, ty, a, b);
                    assert!(
                        concrete.is_err() || concrete.is_ok_and(|exact| result.contains(exact)),
                        "{a} {op:?} {b}: {left} {op:?}.{ty} {right} = {result}"
                    );
                    assert!(
                        overflows.contains(Value::from(ir::semantics::overflows(op, ty, a, b))),
                        "{a} {op:?} {b} overflows: {left} {right} {overflows}"
                    );
                }
            }
        }
    }
}

/// The ends of the result are reached, where the operation is monotone or its bounds are known to be exact.
#[test]
fn bounds_are_sharp() {
    let exact = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::And, BinaryOp::Or];
    for seed in 0..4000 {
        let random = &mut Random::new(seed);
        let set = |random: &mut Random| {
            let lower = random.below(40) as Value - 20;
            Interval::between(lower, lower + random.below(8) as Value)
        };
        let (left, right) = (set(random), set(random));
        let op = random.pick(&exact);
        let mut reached = Interval::BOTTOM;
        for a in -20..30 {
            for b in -20..30 {
                if left.contains(a)
                    && right.contains(b)
                    && let Ok(result) = apply(op, IntType::I32, a, b)
                {
                    reached = reached.join(&Interval::constant(result));
                }
            }
        }
        let result = Number::binary(op, IntType::I32, &left.into(), &right.into()).interval();
        assert_eq!(result, reached, "{left} {op:?} {right}");
    }
}

#[test]
fn nothing_is_lost_at_the_edges() {
    let (int, unsigned) = (IntType::I32, IntType::U64);
    let all = Number::of_type(int);
    let one = Number::constant(1);
    assert_eq!(Number::binary(BinaryOp::Add, int, &all, &one).to_string(), "[-2147483647, 2147483647]");
    let most = Number::constant(unsigned.max());
    assert_eq!(Number::binary(BinaryOp::Add, unsigned, &most, &one), Number::constant(0));
    assert_eq!(Number::binary(BinaryOp::Mul, unsigned, &most, &most), one);
    let aligned = Number::new(Interval::between(0, 100), domains::Congruence::new(8, 0));
    assert_eq!(Number::binary(BinaryOp::And, int, &aligned, &Number::constant(7)), Number::constant(0));
    assert_eq!(aligned.to_string(), "[0, 96] (0 mod 8)");
    assert_eq!(Number::of_type(unsigned).without(0).interval().lower(), domains::Bound::finite(1));
    assert_eq!(Number::between(-3, 3).without(0).to_string(), "[-3, 3] ≠ 0");
    assert_eq!(Number::between(-3, 3).without(0).cast(IntType::BOOL), one);
}
