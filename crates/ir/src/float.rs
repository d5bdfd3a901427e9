//! Floating-point operations on the bit patterns of values: IEEE 754, rounded to nearest.

use crate::types::{IntType, Value};

/// The formats of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FloatFormat {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

/// An operation on bit patterns. A comparison gives a Boolean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FloatOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// Negation.
    Neg,
    /// Equal; NaN is equal to nothing.
    Eq,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Conversion from an integer, rounded to nearest.
    FromInteger,
    /// Conversion to an integer type, rounded towards zero; a result out of range faults.
    ToInteger(IntType),
    /// Conversion to another format, rounded to nearest.
    To(FloatFormat),
}

impl FloatFormat {
    /// The type that holds a bit pattern.
    pub fn bits(self) -> IntType {
        match self {
            Self::Single => IntType::U32,
            Self::Double => IntType::U64,
        }
    }
    /// The number that a bit pattern stands for; exact, since every number of 32 bits is one of 64 bits.
    fn number(self, bits: Value) -> f64 {
        match self {
            Self::Single => f64::from(f32::from_bits(bits as u32)),
            Self::Double => f64::from_bits(bits as u64),
        }
    }
    /// The bit pattern of the nearest number. NaN has many bit patterns; this is the machine's choice.
    fn pattern(self, number: f64) -> Value {
        match self {
            Self::Single => Value::from((number as f32).to_bits()),
            Self::Double => Value::from(number.to_bits()),
        }
    }
}

impl FloatOp {
    /// The number of operands.
    pub fn operands(self) -> usize {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Eq | Self::Lt | Self::Le => 2,
            Self::Neg | Self::FromInteger | Self::ToInteger(_) | Self::To(_) => 1,
        }
    }
    /// The type of the result.
    pub fn result(self, format: FloatFormat) -> IntType {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Neg | Self::FromInteger => format.bits(),
            Self::Eq | Self::Lt | Self::Le => IntType::BOOL,
            Self::ToInteger(ty) => ty,
            Self::To(format) => format.bits(),
        }
    }
    /// The result for operands of a format, or an integer. `None` when there is none, or when hardware
    /// differs: a conversion out of range, a NaN result.
    pub fn apply(self, format: FloatFormat, operands: &[Value]) -> Option<Value> {
        let left = operands.first().copied()?;
        let right = operands.get(1).copied().unwrap_or(0);
        let numbers = || (format.number(left), format.number(right));
        let known = |number: f64| (!number.is_nan()).then_some(number);
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div => {
                // Computing in 64 bits and rounding to 32 bits gives the result of the 32-bit operation: 53
                // >= 2 * 24 + 2.
                let (left, right) = numbers();
                let exact = match self {
                    Self::Add => left + right,
                    Self::Sub => left - right,
                    Self::Mul => left * right,
                    _ => left / right,
                };
                Some(format.pattern(known(exact)?))
            }
            Self::Neg => {
                let sign = 1 << (format.bits().bits - 1);
                Some(left ^ sign)
            }
            Self::Eq => Some(Value::from(numbers().0 == numbers().1)),
            Self::Lt => Some(Value::from(numbers().0 < numbers().1)),
            Self::Le => Some(Value::from(numbers().0 <= numbers().1)),
            Self::FromInteger => Some(match format {
                FloatFormat::Single => Value::from((left as f32).to_bits()),
                FloatFormat::Double => Value::from((left as f64).to_bits()),
            }),
            Self::ToInteger(ty) => {
                let number = known(numbers().0)?.trunc();
                // Exact: bounds of types are powers of two, or one less.
                let is_in = number >= ty.min() as f64 && number < (ty.max() + 1) as f64;
                is_in.then_some(number as Value)
            }
            Self::To(other) => Some(other.pattern(known(numbers().0)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FloatFormat, FloatOp};
    use crate::types::IntType;

    fn double(number: f64) -> i128 {
        i128::from(number.to_bits())
    }
    fn single(number: f32) -> i128 {
        i128::from(number.to_bits())
    }

    #[test]
    fn arithmetic_is_that_of_the_machine() {
        let (single_format, double_format) = (FloatFormat::Single, FloatFormat::Double);
        let mul = FloatOp::Mul.apply(double_format, &[double(0.1), double(3.0)]);
        assert_eq!(mul, Some(double(0.1 * 3.0)));
        let samples = [0.1f32, 1.0, 3.0, 16_777_216.0, 1e-40, 3.4e38, -7.25, 0.0, 1e-20];
        for left in samples {
            for right in samples {
                let of = |op: FloatOp| op.apply(single_format, &[single(left), single(right)]);
                assert_eq!(of(FloatOp::Add), Some(single(left + right)), "{left} + {right}");
                assert_eq!(of(FloatOp::Mul), Some(single(left * right)), "{left} * {right}");
                let quotient = left / right;
                assert_eq!(
                    of(FloatOp::Div),
                    (!quotient.is_nan()).then(|| single(quotient)),
                    "{left} / {right}"
                );
                assert_eq!(of(FloatOp::Lt), Some(i128::from(left < right)));
            }
        }
    }

    #[test]
    fn conversions_are_those_of_c() {
        let format = FloatFormat::Double;
        let to = |ty, number| FloatOp::ToInteger(ty).apply(format, &[double(number)]);
        assert_eq!(to(IntType::I32, -1.9), Some(-1));
        assert_eq!(to(IntType::U8, 255.9), Some(255));
        assert_eq!(to(IntType::U8, 256.0), None);
        assert_eq!(to(IntType::I64, 9_223_372_036_854_775_808.0), None);
        assert_eq!(to(IntType::I32, f64::NAN), None);
        assert_eq!(FloatOp::FromInteger.apply(format, &[-3]), Some(double(-3.0)));
        let narrow = FloatOp::To(FloatFormat::Single).apply(format, &[double(0.1)]);
        assert_eq!(narrow, Some(single(0.1)));
    }
}
