//! Conversions and operators on values, by their C types.

use crate::fold;
use crate::function::Function;
use crate::types::Class;
use ir::{
    Assignment, BinaryOp, DataModel, Expr, FloatFormat, FloatOp, IntType, Lhs, Op, Rhs, UnaryOp, Value,
};
use rucc_ast::BinaryOp as Operator;
use rucc_types::{FloatKind, TypeId, TypeKind};

impl Function<'_, '_> {
    /// Converts a value from one scalar type to another.
    pub fn convert(&mut self, value: Expr, from: TypeId, to: TypeId) -> Expr {
        match (self.unit.class(from), self.unit.class(to)) {
            (Class::Float(_), Class::Float(target)) => {
                if self.unit.types.canonical(from) == self.unit.types.canonical(to)
                    || self.unit.kind(from) == self.unit.kind(to)
                {
                    return value;
                }
                match (self.float_format(from), self.float_format(to)) {
                    (Some(format), Some(other)) => self.float(FloatOp::To(other), format, vec![value]),
                    (_, _) => self.unknown_from(target, vec![value]),
                }
            }
            (Class::Float(_), Class::Integer(target)) => match self.float_format(from) {
                Some(format) if target == IntType::BOOL => self.float_truth(format, value),
                Some(format) => self.float_to_integer(format, value, target),
                None => self.unknown_from(target, vec![value]),
            },
            (Class::Float(_), Class::Odd(target, _)) => self.unknown_from(target, vec![value]),
            (_, Class::Float(target)) => match (&value, target) {
                (Expr::Const(value, _), IntType::U32) => {
                    Expr::int(Value::from((*value as f32).to_bits()), target)
                }
                (Expr::Const(value, _), IntType::U64) if self.unit.size(to) == Some(8) => {
                    Expr::int(Value::from((*value as f64).to_bits()), target)
                }
                _ => match self.float_format(to) {
                    Some(format) => self.float(FloatOp::FromInteger, format, vec![value]),
                    None => self.unknown_from(target, vec![value]),
                },
            },
            (_, Class::Integer(target)) => self.cast(value, target),
            (_, Class::Odd(target, width)) => {
                let value = self.cast(value, target);
                normalise(value, target, width)
            }
            (_, Class::Unsupported(what)) => {
                self.unsupported(what);
                Expr::int(0, IntType::U64)
            }
            (_, Class::Void | Class::Aggregate | Class::Function) => value,
        }
    }

    /// An operator on two values. Both have the first type, except for the right operand of a shift and the
    /// integer that is added to a pointer.
    pub fn operate(
        &mut self,
        op: Operator,
        left: Expr,
        left_type: TypeId,
        right: Expr,
        right_type: TypeId,
    ) -> Expr {
        let unit = self.unit;
        match (unit.is_pointer(left_type), unit.is_pointer(right_type), op) {
            (true, false, Operator::Add | Operator::Sub) => {
                let Some(element) = unit.pointee(left_type) else { return left };
                let op = if op == Operator::Add { BinaryOp::Add } else { BinaryOp::Sub };
                return self.advance(op, left, right, element);
            }
            (false, true, Operator::Add) => {
                let Some(element) = unit.pointee(right_type) else { return right };
                return self.advance(BinaryOp::Add, right, left, element);
            }
            (true, true, Operator::Sub) => {
                let Some(element) = unit.pointee(left_type) else { return left };
                let pointer = self.pointer();
                let signed = IntType { bits: pointer.bits, signed: true };
                let bytes = match fold::binary(BinaryOp::Sub, pointer, left, right) {
                    // Both point into one object.
                    Expr::Binary(BinaryOp::Sub, ty, pair) if !has_constant(&pair) => {
                        let (left, right) = *pair;
                        let as_signed = |operand: Expr| fold::cast(operand, pointer, signed);
                        Expr::binary(BinaryOp::Sub, ty, as_signed(left), as_signed(right))
                    }
                    other => other,
                };
                let bytes = self.cast(bytes, signed);
                let size = self.size_of(element);
                let size = self.cast(size, signed);
                return match size {
                    Expr::Const(0 | 1, _) => bytes,
                    size => fold::binary(BinaryOp::Div, signed, bytes, size),
                };
            }
            _ => {}
        }
        // Whether two literals are one object is not known.
        if let (Expr::Address(one, _), Expr::Address(other, _), Operator::Eq | Operator::Ne) =
            (&left, &right, op)
            && self.global.literals.may_share(*one, *other)
        {
            return self.unknown(IntType::I32);
        }
        match unit.class(left_type) {
            Class::Integer(ty) => operation(op, ty, left, right),
            Class::Odd(ty, width) => {
                let value = operation(op, ty, left, right);
                if is_comparison(op) { value } else { normalise(value, ty, width) }
            }
            Class::Float(ty) => {
                let format = self.float_format(left_type);
                let known =
                    format.and_then(|format| self.float_operation(op, format, left.clone(), right.clone()));
                let of = if is_comparison(op) { IntType::BOOL } else { ty };
                let value = known.unwrap_or_else(|| self.unknown_from(of, vec![left, right]));
                if is_comparison(op) { self.cast(value, IntType::I32) } else { value }
            }
            Class::Unsupported(what) => {
                self.unsupported(what);
                left
            }
            Class::Void | Class::Aggregate | Class::Function => {
                self.unsupported("an operator on something that is no scalar");
                left
            }
        }
    }

    /// The value after `++` or `--` on a scalar of a type: one more, or one less.
    pub fn step(&mut self, value: Expr, ty: TypeId, is_increment: bool) -> Expr {
        let unit = self.unit;
        if let Some(element) = unit.pointee(ty) {
            let op = if is_increment { BinaryOp::Add } else { BinaryOp::Sub };
            let one = self.address_constant(1);
            return self.advance(op, value, one, element);
        }
        let op = if is_increment { BinaryOp::Add } else { BinaryOp::Sub };
        match unit.class(ty) {
            Class::Integer(IntType::BOOL) => {
                if is_increment {
                    Expr::bool(true)
                } else {
                    value.not()
                }
            }
            Class::Integer(own) => {
                // Narrow types are computed as int, where nothing overflows, and converted back.
                let wide = if own.bits < 32 { IntType::I32 } else { own };
                let value = self.cast(value, wide);
                let value = fold::binary(op, wide, value, Expr::int(1, wide));
                self.cast(value, own)
            }
            Class::Odd(own, width) => normalise(fold::binary(op, own, value, Expr::int(1, own)), own, width),
            Class::Float(own) => match self.float_format(ty) {
                Some(format) => {
                    let one = FloatOp::FromInteger.apply(format, &[1]).unwrap_or(0);
                    let op = if is_increment { FloatOp::Add } else { FloatOp::Sub };
                    self.float(op, format, vec![value, Expr::int(one, own)])
                }
                None => self.unknown_from(own, vec![value]),
            },
            Class::Unsupported(what) => {
                self.unsupported(what);
                value
            }
            Class::Void | Class::Aggregate | Class::Function => value,
        }
    }

    /// A value that is not modelled and was computed from these: it contains no address that they do not
    /// contain.
    pub fn unknown_from(&mut self, ty: IntType, operands: Vec<Expr>) -> Expr {
        if ty.bits < self.pointer().bits {
            operands.into_iter().for_each(|operand| self.discard(operand));
            return self.unknown(ty);
        }
        let operands: Vec<Expr> = operands.into_iter().map(|operand| self.freeze(operand)).collect();
        let number = self.unknown_number(ty);
        // Combined with an arbitrary number, the result is arbitrary.
        let mix = |value: Expr, operand: Expr| match operand {
            Expr::Const(..) => value,
            operand => {
                let operand = self.cast(operand, ty);
                Expr::binary(BinaryOp::Xor, ty, value, operand)
            }
        };
        operands.into_iter().fold(number, mix)
    }

    /// The format of a floating-point type, if its operations are modelled: not for types wider than 64 bits,
    /// and not where compilers may compute in a wider format, as on 32-bit processors.
    pub fn float_format(&self, ty: TypeId) -> Option<FloatFormat> {
        if self.global.program.data_model != DataModel::Lp64 {
            return None;
        }
        match self.unit.kind(ty) {
            TypeKind::Float(FloatKind::Float | FloatKind::Float32) => Some(FloatFormat::Single),
            TypeKind::Float(FloatKind::Double | FloatKind::Float64 | FloatKind::Float32x) => {
                Some(FloatFormat::Double)
            }
            _ => None,
        }
    }
    /// A fresh local with the result of an operation on floats.
    fn float(&mut self, op: FloatOp, format: FloatFormat, operands: Vec<Expr>) -> Expr {
        let operands: Vec<Expr> = operands.into_iter().map(|operand| self.freeze(operand)).collect();
        let local = self.builder.temporary(op.result(format));
        let pairs = vec![(Lhs::Local(local), Rhs::Float(op, format, operands))];
        self.builder.emit(Op::Assign(Assignment { pairs, constraint: None }));
        Expr::Local(local)
    }
    /// Truncates a float to an integer type. A value out of range is undefined (C11 6.3.1.4p1): then the
    /// result is not modelled, and the overflow check is undecided.
    fn float_to_integer(&mut self, format: FloatFormat, value: Expr, target: IntType) -> Expr {
        let value = self.freeze(value);
        let op = FloatOp::ToInteger(target);
        let is_known = match &value {
            Expr::Const(bits, _) => op.apply(format, &[*bits]).is_some(),
            _ => false,
        };
        let result = self.float(op, format, vec![value.clone()]);
        if is_known {
            return result;
        }
        let pattern = |number: Value| FloatOp::FromInteger.apply(format, &[number]);
        let number = |number: Value| pattern(number).map(|bits| Expr::int(bits, format.bits()));
        // All integers up to this are representable as floats.
        let most: Value = match format {
            FloatFormat::Single => 1 << 24,
            FloatFormat::Double => 1 << 53,
        };
        let (below, least) = (target.min() - 1, target.min());
        let low = match -below <= most {
            true => number(below).map(|below| (FloatOp::Lt, below)),
            false => number(least).map(|least| (FloatOp::Le, least)),
        };
        let (Some((op, low)), Some(above)) = (low, number(target.max() + 1)) else { return result };
        let is_above = self.float(op, format, vec![low, value.clone()]);
        let is_below = self.float(FloatOp::Lt, format, vec![value, above]);
        // Out of range the result is not modelled, so an execution that compares it is no evidence.
        let zero = fold::binary(BinaryOp::Eq, target, result.clone(), Expr::int(0, target));
        let is_out = is_above.and(is_below).not().and(zero);
        let error = ir::LocationKind::Error(ir::ErrorKind::Overflow);
        let error = self.builder.template.location(error, false);
        self.builder.alternative(Op::Assume(is_out), error);
        let next = self.builder.label();
        self.builder.place(next);
        result
    }
    /// Whether a float is not zero.
    pub fn float_truth(&mut self, format: FloatFormat, value: Expr) -> Expr {
        self.float(FloatOp::Eq, format, vec![value, Expr::int(0, format.bits())]).not()
    }
    /// An operator on two floats of a format, if it is one.
    fn float_operation(
        &mut self,
        op: Operator,
        format: FloatFormat,
        left: Expr,
        right: Expr,
    ) -> Option<Expr> {
        let (op, operands, negated) = match op {
            Operator::Add => (FloatOp::Add, vec![left, right], false),
            Operator::Sub => (FloatOp::Sub, vec![left, right], false),
            Operator::Mul => (FloatOp::Mul, vec![left, right], false),
            Operator::Div => (FloatOp::Div, vec![left, right], false),
            Operator::Lt => (FloatOp::Lt, vec![left, right], false),
            Operator::Le => (FloatOp::Le, vec![left, right], false),
            // The left one is still evaluated first.
            Operator::Gt | Operator::Ge => {
                let left = self.freeze(left);
                let op = if op == Operator::Gt { FloatOp::Lt } else { FloatOp::Le };
                (op, vec![right, left], false)
            }
            Operator::Eq => (FloatOp::Eq, vec![left, right], false),
            Operator::Ne => (FloatOp::Eq, vec![left, right], true),
            Operator::Rem
            | Operator::Shl
            | Operator::Shr
            | Operator::BitAnd
            | Operator::BitXor
            | Operator::BitOr
            | Operator::LogAnd
            | Operator::LogOr => return None,
        };
        let value = self.float(op, format, operands);
        Some(if negated { value.not() } else { value })
    }

    /// Negation and complement.
    pub fn negate(&mut self, value: Expr, ty: TypeId, op: UnaryOp) -> Expr {
        match self.unit.class(ty) {
            Class::Integer(ty) => fold::unary(op, ty, value),
            Class::Odd(ty, width) => normalise(fold::unary(op, ty, value), ty, width),
            Class::Float(own) => match self.float_format(ty) {
                Some(format) if op == UnaryOp::Neg => self.float(FloatOp::Neg, format, vec![value]),
                _ => self.unknown_from(own, vec![value]),
            },
            Class::Unsupported(what) => {
                self.unsupported(what);
                value
            }
            Class::Void | Class::Aggregate | Class::Function => value,
        }
    }
}

fn is_comparison(op: Operator) -> bool {
    matches!(op, Operator::Lt | Operator::Gt | Operator::Le | Operator::Ge | Operator::Eq | Operator::Ne)
}

/// A value modulo 2^width, in a wider type.
pub fn normalise(value: Expr, ty: IntType, width: u32) -> Expr {
    if !ty.signed {
        return fold::binary(BinaryOp::And, ty, value, Expr::int((1 << width) - 1, ty));
    }
    let unsigned = ty.unsigned();
    let unused = Expr::int(Value::from(u32::from(ty.bits) - width), unsigned);
    let high = fold::binary(BinaryOp::Shl, unsigned, fold::cast(value, ty, unsigned), unused.clone());
    fold::binary(BinaryOp::Shr, ty, fold::cast(high, unsigned, ty), unused)
}

/// An operator on two integers of a type. Comparisons give an `int`.
fn operation(op: Operator, ty: IntType, left: Expr, right: Expr) -> Expr {
    let truth = |value: Expr| fold::cast(value, IntType::BOOL, IntType::I32);
    // Operands are swapped only if that does not change the order of memory reads.
    let swaps = !fold::has_load(&left) || !fold::has_load(&right);
    match op {
        Operator::Mul => fold::binary(BinaryOp::Mul, ty, left, right),
        Operator::Div => fold::binary(BinaryOp::Div, ty, left, right),
        Operator::Rem => fold::binary(BinaryOp::Rem, ty, left, right),
        Operator::Add => fold::binary(BinaryOp::Add, ty, left, right),
        Operator::Sub => fold::binary(BinaryOp::Sub, ty, left, right),
        Operator::Shl => fold::binary(BinaryOp::Shl, ty, left, right),
        Operator::Shr => fold::binary(BinaryOp::Shr, ty, left, right),
        Operator::Lt => truth(fold::binary(BinaryOp::Lt, ty, left, right)),
        Operator::Gt if swaps => truth(fold::binary(BinaryOp::Lt, ty, right, left)),
        Operator::Gt => truth(fold::binary(BinaryOp::Le, ty, left, right).not()),
        Operator::Le => truth(fold::binary(BinaryOp::Le, ty, left, right)),
        Operator::Ge if swaps => truth(fold::binary(BinaryOp::Le, ty, right, left)),
        Operator::Ge => truth(fold::binary(BinaryOp::Lt, ty, left, right).not()),
        Operator::Eq => truth(fold::binary(BinaryOp::Eq, ty, left, right)),
        Operator::Ne => truth(fold::binary(BinaryOp::Ne, ty, left, right)),
        Operator::BitAnd => fold::binary(BinaryOp::And, ty, left, right),
        Operator::BitXor => fold::binary(BinaryOp::Xor, ty, left, right),
        Operator::BitOr => fold::binary(BinaryOp::Or, ty, left, right),
        // Both are Booleans here, and both are evaluated.
        Operator::LogAnd => fold::binary(BinaryOp::And, ty, left, right),
        Operator::LogOr => fold::binary(BinaryOp::Or, ty, left, right),
    }
}

/// Whether one of two operands is a constant.
fn has_constant(pair: &(Expr, Expr)) -> bool {
    matches!(pair.0, Expr::Const(..)) || matches!(pair.1, Expr::Const(..))
}
