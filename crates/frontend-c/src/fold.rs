//! Constructors of expressions that fold constants. The result has exactly the meaning of the plain
//! constructors; an operation that faults is never folded.

use ir::{BinaryOp, Expr, IntType, UnaryOp, Value};

/// A cast of an expression of type `from`.
pub fn cast(expr: Expr, from: IntType, to: IntType) -> Expr {
    if from == to {
        return expr;
    }
    match expr {
        Expr::Const(value, _) if to == IntType::BOOL => Expr::bool(value != 0),
        Expr::Const(value, _) => Expr::int(value, to),
        // No object and no procedure is at address 0.
        Expr::Address(..) | Expr::Procedure(_) if to == IntType::BOOL => Expr::bool(true),
        Expr::Cast(_, inner) if to == IntType::BOOL && is_boolean(&inner) => *inner,
        // Only the low bits count, and the inner cast preserves them.
        Expr::Cast(middle, inner)
            if to != IntType::BOOL && middle != IntType::BOOL && middle.bits >= to.bits =>
        {
            match *inner {
                Expr::Const(value, _) => Expr::int(value, to),
                other => Expr::cast(to, other),
            }
        }
        other => Expr::cast(to, other),
    }
}

/// Whether an expression is syntactically a Boolean.
pub fn is_boolean(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_, ty) | Expr::Unary(_, ty, _) | Expr::Cast(ty, _) => *ty == IntType::BOOL,
        Expr::Binary(op, ty, _) => op.is_comparison() || *ty == IntType::BOOL,
        Expr::Load(place) => place.ty == IntType::BOOL,
        Expr::IfThenElse(three) => is_boolean(&three.1),
        Expr::Overflows(..) | Expr::Valid(..) => true,
        Expr::Old(operand) => is_boolean(operand),
        Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => false,
    }
}

/// An operation on two operands of a type.
pub fn binary(op: BinaryOp, ty: IntType, left: Expr, right: Expr) -> Expr {
    if let (Expr::Const(a, _), Expr::Const(b, _)) = (&left, &right)
        && let Some(value) = evaluate(op, ty, *a, *b)
    {
        return if op.is_comparison() { Expr::bool(value != 0) } else { Expr::Const(value, ty) };
    }
    match op {
        BinaryOp::Add => add(ty, left, right),
        BinaryOp::Sub => match (left, right) {
            (Expr::Address(a, x), Expr::Address(b, y)) if a == b => {
                Expr::int(Value::from(x) - Value::from(y), ty)
            }
            (left, Expr::Const(0, _)) => left,
            (left, Expr::Const(value, _)) if is_address(&left) => add(ty, left, Expr::int(-value, ty)),
            (left, right) => Expr::binary(op, ty, left, right),
        },
        BinaryOp::Mul => match (left, right) {
            (other, Expr::Const(1, _)) | (Expr::Const(1, _), other) => other,
            (left, right) => Expr::binary(op, ty, left, right),
        },
        BinaryOp::Eq | BinaryOp::Ne => compare(op, ty, left, right),
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Lt
        | BinaryOp::Le => Expr::binary(op, ty, left, right),
    }
}

fn is_address(expr: &Expr) -> bool {
    match expr {
        Expr::Address(..) => true,
        Expr::Cast(_, inner) => matches!(**inner, Expr::Address(..)),
        _ => false,
    }
}

fn add(ty: IntType, left: Expr, right: Expr) -> Expr {
    let (left, right) = if matches!(left, Expr::Const(..)) { (right, left) } else { (left, right) };
    let Expr::Const(value, _) = right else { return Expr::binary(BinaryOp::Add, ty, left, right) };
    if value == 0 {
        return left;
    }
    let signed = IntType { bits: ty.bits, signed: true }.wrap(value);
    let moved = |offset: u64| u64::try_from(Value::from(offset) + signed).ok();
    match left {
        Expr::Address(object, offset) => match moved(offset) {
            Some(offset) => Expr::Address(object, offset),
            None => Expr::binary(BinaryOp::Add, ty, Expr::Address(object, offset), right),
        },
        Expr::Cast(to, inner) if to == ty && ty.bits >= 32 => match *inner {
            // A pointer as an integer of its own width: as wide as a pointer can be, so nothing is lost.
            Expr::Address(object, offset) if moved(offset).is_some() => {
                Expr::cast(ty, Expr::Address(object, moved(offset).unwrap_or(offset)))
            }
            inner => Expr::binary(BinaryOp::Add, ty, Expr::cast(to, inner), right),
        },
        Expr::Binary(BinaryOp::Add, inner, pair) if inner == ty && !ty.signed => match *pair {
            (base, Expr::Const(first, _)) => add(ty, base, Expr::int(first + value, ty)),
            pair => {
                Expr::binary(BinaryOp::Add, ty, Expr::Binary(BinaryOp::Add, inner, Box::new(pair)), right)
            }
        },
        left => Expr::binary(BinaryOp::Add, ty, left, right),
    }
}

fn compare(op: BinaryOp, ty: IntType, left: Expr, right: Expr) -> Expr {
    let (left, right) = if matches!(left, Expr::Const(..)) { (right, left) } else { (left, right) };
    let is_equal = op == BinaryOp::Eq;
    match (&left, &right) {
        (Expr::Address(..) | Expr::Procedure(_), Expr::Const(0, _)) => return Expr::bool(!is_equal),
        (Expr::Address(a, x), Expr::Address(b, y)) if a == b => return Expr::bool((x == y) == is_equal),
        _ => {}
    }
    match (left, right) {
        (Expr::Cast(_, inner), Expr::Const(0, _)) if is_boolean(&inner) => {
            if is_equal {
                inner.not()
            } else {
                *inner
            }
        }
        (left, Expr::Const(0, IntType::BOOL)) => {
            if is_equal {
                left.not()
            } else {
                left
            }
        }
        (left, right) => Expr::binary(op, ty, left, right),
    }
}

/// An operation on one operand.
pub fn unary(op: UnaryOp, ty: IntType, operand: Expr) -> Expr {
    match (op, &operand) {
        (UnaryOp::Neg, Expr::Const(value, _)) if !ty.signed || ty.contains(-value) => Expr::int(-value, ty),
        (UnaryOp::Not, Expr::Const(value, _)) => Expr::int(!value, ty),
        (UnaryOp::Not, _) if ty == IntType::BOOL => operand.not(),
        (UnaryOp::Neg | UnaryOp::Not, _) => Expr::unary(op, ty, operand),
    }
}

/// A choice between two values.
pub fn if_then_else(condition: Expr, yes: Expr, no: Expr) -> Expr {
    match condition {
        Expr::Const(0, _) => no,
        Expr::Const(..) => yes,
        condition => Expr::IfThenElse(Box::new((condition, yes, no))),
    }
}

/// Conjunction of two Booleans that are both evaluated.
pub fn and(left: Expr, right: Expr) -> Expr {
    match (left, right) {
        (Expr::Const(0, ty), _) | (_, Expr::Const(0, ty)) => Expr::Const(0, ty),
        (Expr::Const(..), other) | (other, Expr::Const(..)) => other,
        (left, right) => left.and(right),
    }
}

/// The value of an operation on constants; `None` when it faults.
pub fn evaluate(op: BinaryOp, ty: IntType, left: Value, right: Value) -> Option<Value> {
    let fit = |value: Value| {
        if ty.contains(value) {
            Some(value)
        } else if ty.signed {
            None
        } else {
            Some(ty.wrap(value))
        }
    };
    let distance = || u32::try_from(right).ok().filter(|distance| *distance < u32::from(ty.bits));
    match op {
        BinaryOp::Add => fit(left + right),
        BinaryOp::Sub => fit(left - right),
        BinaryOp::Mul => fit(left.wrapping_mul(right)),
        BinaryOp::Div => fit(left.checked_div(right)?),
        BinaryOp::Rem => fit(left.checked_div(right)?).map(|_| left % right),
        BinaryOp::And => Some(left & right),
        BinaryOp::Or => Some(left | right),
        BinaryOp::Xor => Some(left ^ right),
        BinaryOp::Shl => fit(left << distance()?),
        BinaryOp::Shr => Some(left >> distance()?),
        BinaryOp::Eq => Some(Value::from(left == right)),
        BinaryOp::Ne => Some(Value::from(left != right)),
        BinaryOp::Lt => Some(Value::from(left < right)),
        BinaryOp::Le => Some(Value::from(left <= right)),
    }
}

/// Whether an expression is allowed as an initial value.
pub fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) => true,
        Expr::Cast(ty, inner) => *ty != IntType::BOOL && is_constant(inner),
        Expr::Local(_)
        | Expr::Load(_)
        | Expr::Myself
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::IfThenElse(_)
        | Expr::Overflows(..)
        | Expr::Valid(..)
        | Expr::Old(_) => false,
    }
}

/// Whether evaluating an expression has an observable effect even if its value is not used: it reads memory,
/// or an operation in it may be undefined.
pub fn is_noticed(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| {
        found |= match inner {
            Expr::Load(_) => true,
            Expr::Unary(UnaryOp::Neg, ty, _) => ty.signed,
            Expr::Binary(op, ty, _) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => ty.signed,
                BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => true,
                BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => false,
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => false,
            },
            Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => false,
            Expr::Unary(UnaryOp::Not, ..) | Expr::Cast(..) | Expr::IfThenElse(_) => false,
            Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => false,
        }
    });
    found
}

/// Whether an expression reads memory.
pub fn has_load(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
    found
}
