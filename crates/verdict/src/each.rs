//! Accesses at any functions of an index (`i * i`, `7 * i % 12`) that has few values: all of these are tried.

use crate::family::Span;
use crate::present::reads;
use ir::passes::Affine;
use ir::semantics::apply;
use ir::{Expr, IntType, LocalId, Program, UnaryOp, Value};

/// More values than these are not tried.
const MOST_VALUES: Value = 256;

/// Whether two accesses have no byte in common if the index, which is within these bounds, has different
/// values.
pub(crate) fn are_apart(
    program: &Program,
    (index, (least, greatest)): (LocalId, (Value, Value)),
    one: Span<'_>,
    other: Span<'_>,
) -> bool {
    if least > greatest || greatest - least >= MOST_VALUES {
        return false;
    }
    let pointer = program.data_model.pointer();
    let (Some((start, mine)), Some((other_start, theirs))) =
        (values(index, least..=greatest, one.0, pointer), values(index, least..=greatest, other.0, pointer))
    else {
        return false;
    };
    let apart = start.plus(&other_start, -1, pointer);
    let signed = IntType { signed: true, ..pointer };
    let overlap = |mine: Value, theirs: Value| {
        let distance = signed.wrap(apart.constant + mine - theirs);
        distance > -Value::from(one.1) && distance < Value::from(other.1)
    };
    let mut pairs =
        mine.iter().enumerate().flat_map(|one| theirs.iter().enumerate().map(move |other| (one, other)));
    apart.terms.is_empty()
        && pairs.all(|((number, mine), (other, theirs))| number == other || !overlap(*mine, *theirs))
}

/// The part of a sum that does not depend on the index, and the rest for each value of the index, modulo 2 to
/// the width of a pointer.
fn values(
    index: LocalId,
    range: std::ops::RangeInclusive<Value>,
    sum: &Affine,
    pointer: IntType,
) -> Option<(Affine, Vec<Value>)> {
    let (depending, constant): (Vec<_>, Vec<_>) =
        sum.terms.iter().cloned().partition(|(atom, _)| reads(atom, index));
    let start = Affine { terms: constant, constant: sum.constant };
    let at = |value: Value| {
        depending.iter().try_fold(0, |sum, (atom, factor)| {
            Some(pointer.wrap(sum + factor.checked_mul(evaluate(atom, index, value)?)?))
        })
    };
    Some((start, range.map(at).collect::<Option<_>>()?))
}

/// The value of an expression over the index alone; `None` where it reads something else or faults.
fn evaluate(expr: &Expr, index: LocalId, value: Value) -> Option<Value> {
    let of = |expr: &Expr| evaluate(expr, index, value);
    match expr {
        Expr::Const(constant, _) => Some(*constant),
        Expr::Local(local) => (*local == index).then_some(value),
        Expr::Unary(UnaryOp::Not, ty, operand) => Some(ty.wrap(!of(operand)?)),
        Expr::Unary(UnaryOp::Neg, ty, operand) => {
            let value = -of(operand)?;
            (!ty.signed || ty.contains(value)).then(|| ty.wrap(value))
        }
        Expr::Binary(op, ty, pair) => apply(*op, *ty, of(&pair.0)?, of(&pair.1)?).ok(),
        Expr::Cast(ty, operand) => {
            let value = of(operand)?;
            Some(if *ty == IntType::BOOL { Value::from(value != 0) } else { ty.wrap(value) })
        }
        Expr::IfThenElse(three) => of(if of(&three.0)? != 0 { &three.1 } else { &three.2 }),
        Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{BinaryOp, ObjectId};

    #[test]
    fn all_pairs_of_indices_are_tried() {
        let program =
            ir::text::parse("program lp64\nstatic a: bytes 800 static b: bytes 800").expect("a program");
        let (pointer, long) = (program.data_model.pointer(), IntType::I64);
        let i = LocalId(0);
        let number = |value: Value| Expr::Const(value, long);
        let binary = |op: BinaryOp, left: Expr, right: Expr| Expr::binary(op, long, left, right);
        let times = |factor: Value| {
            binary(BinaryOp::Rem, binary(BinaryOp::Mul, number(factor), Expr::Local(i)), number(12))
        };
        let at = |object: u32, index: &Expr, constant: Value| Affine {
            terms: vec![(Expr::Address(ObjectId(object), 0), 1), (index.clone(), 4)],
            constant,
        };
        let apart = |one: &Affine, other: &Affine, greatest: Value, bytes: u64| {
            are_apart(&program, (i, (0, greatest)), (one, bytes), (other, bytes))
        };
        let good = at(0, &times(7), 0);
        assert!(apart(&good, &good, 11, 4));
        // One index more, longer accesses, the next element, another object, too many indices, none.
        assert!(!apart(&good, &good, 12, 4));
        assert!(!apart(&good, &good, 11, 5));
        assert!(!apart(&good, &at(0, &times(7), 4), 11, 4));
        assert!(!apart(&good, &at(1, &times(7), 0), 11, 4));
        assert!(!apart(&good, &good, 1 << 20, 4));
        assert!(!apart(&good, &good, -1, 4));
        assert!(!apart(&at(0, &times(8), 0), &at(0, &times(8), 0), 11, 4));
        // Values that are not known: of another local, of a division by zero.
        let other = binary(BinaryOp::Add, Expr::Local(i), Expr::Local(LocalId(1)));
        let fault = binary(BinaryOp::Div, number(1), Expr::Local(i));
        for unknown in [other, fault] {
            assert!(!apart(&at(0, &unknown, 0), &at(0, &unknown, 0), 11, 4));
        }
        // Addresses wrap around.
        let far = Expr::binary(
            BinaryOp::Mul,
            pointer,
            Expr::cast(pointer, Expr::Local(i)),
            Expr::Const(1 << 61, pointer),
        );
        assert!(apart(&at(0, &far, 0), &at(0, &far, 0), 0, 4));
        assert!(!apart(&at(0, &far, 0), &at(0, &far, 0), 2, 4));
    }
}
