//! How many bytes `printf` and its like print: exact where the format has integers, characters and strings
//! without unusual flags; else within bounds.

use super::outside::unknown_between;
use super::strings::scan;
use super::{Argument, Context};
use ir::{BinaryOp, Expr, IntType, Value};

/// The most bytes that a number with a fraction takes without a width or a precision.
const LONGEST_FRACTION: Value = 5_000;

/// A part of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece {
    /// So many bytes as they are.
    Text(Value),
    /// An integer.
    Integer { ty: IntType, base: Value, sign: bool, width: Value },
    /// A character.
    Character { width: Value },
    /// A string, up to a number of bytes.
    String { most: Option<Value>, width: Value },
    /// Something that takes at most so many bytes.
    Other { most: Option<Value> },
}

/// The parts of a format, with one argument for each that is no text; `None` where arguments do more than
/// be printed.
fn pieces(format: &[u8], wide: u8) -> Option<Vec<Piece>> {
    let end = format.iter().position(|byte| *byte == 0).unwrap_or(format.len());
    let mut rest = format[..end].iter().copied().peekable();
    let mut found = Vec::new();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            found.push(Piece::Text(1));
            continue;
        }
        let mut flags = Vec::new();
        while let Some(flag) = rest.next_if(|byte| b"-+ 0#'I".contains(byte)) {
            flags.push(flag);
        }
        let mut number = || {
            let mut value: Option<Value> = None;
            while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
                let more = value.unwrap_or(0).saturating_mul(10).saturating_add(Value::from(digit - b'0'));
                value = Some(more.min(1 << 20));
            }
            value
        };
        let width = number().unwrap_or(0);
        let precision = match rest.next_if_eq(&b'.') {
            Some(_) => {
                let mut value: Value = 0;
                while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
                    value = value.saturating_mul(10).saturating_add(Value::from(digit - b'0')).min(1 << 20);
                }
                Some(value)
            }
            None => None,
        };
        let mut modifiers = Vec::new();
        while let Some(modifier) = rest.next_if(|byte| b"hlLqjzt".contains(byte)) {
            modifiers.push(modifier);
        }
        let bits = match modifiers.as_slice() {
            b"" => 32,
            b"h" => 16,
            b"hh" => 8,
            b"l" | b"z" | b"t" => wide,
            _ => 64,
        };
        let is_plain = modifiers.is_empty();
        let unusual = flags.iter().any(|flag| b"#'I".contains(flag));
        let sign = flags.iter().any(|flag| b"+ ".contains(flag));
        let integer = |signed: bool, base: Value| match (precision, unusual) {
            (None, false) => {
                Piece::Integer { ty: IntType { bits, signed }, base, sign: sign && signed, width }
            }
            (_, _) => Piece::Other { most: None },
        };
        found.push(match rest.next() {
            Some(b'%') if flags.is_empty() && width == 0 => Piece::Text(1),
            Some(b'd' | b'i') => integer(true, 10),
            Some(b'u') => integer(false, 10),
            Some(b'x' | b'X') => integer(false, 16),
            Some(b'o') => integer(false, 8),
            Some(b'c') if is_plain => Piece::Character { width },
            Some(b's') if is_plain => Piece::String { most: precision, width },
            Some(b'p') => Piece::Other { most: Some(width.max(2 + Value::from(wide) / 4).max(5)) },
            Some(b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A') => {
                let most = LONGEST_FRACTION + width.max(precision.unwrap_or(0));
                Piece::Other { most: Some(most) }
            }
            _ => return None,
        });
    }
    Some(found)
}

/// The number of bytes that a format prints, as an `int`; and the most, if that is known. `None` when too
/// little is known of the format to say anything. The arguments are those after the format.
pub(super) fn length(
    context: &mut Context<'_>,
    format: &[u8],
    arguments: &[Argument],
) -> Option<(Expr, Option<Value>)> {
    let pieces = pieces(format, context.pointer().bits)?;
    let ty = IntType::I32;
    let (mut text, mut open, mut most) = (0, Some(0), Some(0));
    let mut parts: Vec<Expr> = Vec::new();
    let mut is_exact = true;
    let mut arguments = arguments.iter();
    let add = |sum: Option<Value>, more: Option<Value>| sum.zip(more).map(|(sum, more)| sum + more);
    for piece in pieces {
        let (part, bound) = match piece {
            Piece::Text(bytes) => {
                text += bytes;
                continue;
            }
            Piece::Integer { ty: own, base, sign, width } => {
                let argument = arguments.next()?;
                let value = context.settle_as(argument, own);
                let bound = Value::from(own.bits).max(width) + 1;
                (padded(digits(context, value, own, base, sign), width), Some(bound))
            }
            Piece::Character { width } => {
                arguments.next()?;
                (Expr::int(width.max(1), ty), Some(width.max(1)))
            }
            Piece::String { most, width } => {
                let argument = arguments.next()?;
                let bound = most.map(|most| most.max(width));
                (padded(string(context, argument, most), width), bound)
            }
            Piece::Other { most } => {
                arguments.next()?;
                is_exact = false;
                open = add(open, most);
                continue;
            }
        };
        most = add(most, bound);
        parts.push(part);
    }
    let mut sum = Expr::int(text, ty);
    for part in parts {
        sum = Expr::binary(BinaryOp::Add, ty, sum, part);
    }
    if !is_exact {
        let high = open.unwrap_or(1 << 20).min(1 << 20);
        let rest = unknown_between(context, ty, 0, high);
        sum = Expr::binary(BinaryOp::Add, ty, sum, rest);
    }
    let most = add(add(most, open), Some(text));
    Some((Expr::Local(context.builder.save(sum, ty)), most))
}

fn padded(length: Expr, width: Value) -> Expr {
    if width == 0 {
        return length;
    }
    let ty = IntType::I32;
    let short = Expr::binary(BinaryOp::Lt, ty, length.clone(), Expr::int(width, ty));
    Expr::IfThenElse(Box::new((short, Expr::int(width, ty), length)))
}

/// How many digits a number has, and a sign.
fn digits(context: &mut Context<'_>, value: Expr, ty: IntType, base: Value, sign: bool) -> Expr {
    let int = IntType::I32;
    let value = Expr::Local(context.builder.save(value, ty));
    let mut length = Expr::int(1 + Value::from(sign), int);
    let count = |condition: Expr| Expr::cast(int, condition);
    let mut least = base;
    while ty.contains(least) {
        let bound = Expr::int(least, ty);
        let above = Expr::binary(BinaryOp::Le, ty, bound, value.clone());
        let long = match ty.contains(-least) && ty.signed {
            true => {
                let below = Expr::binary(BinaryOp::Le, ty, value.clone(), Expr::int(-least, ty));
                Expr::binary(BinaryOp::Or, IntType::BOOL, above, below)
            }
            false => above,
        };
        length = Expr::binary(BinaryOp::Add, int, length, count(long));
        least *= base;
    }
    if ty.signed && !sign {
        let negative = Expr::binary(BinaryOp::Lt, ty, value, Expr::int(0, ty));
        length = Expr::binary(BinaryOp::Add, int, length, count(negative));
    }
    Expr::Local(context.builder.save(length, int))
}

fn string(context: &mut Context<'_>, argument: &Argument, most: Option<Value>) -> Expr {
    let pointer = context.pointer();
    let length = match (&argument.text, most) {
        (Some(text), None) => {
            let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
            return Expr::int(length as Value, IntType::I32);
        }
        _ => {
            let string = context.settle_pointer(argument);
            let bound = most.map(|most| Expr::int(most, pointer));
            scan(context, &string, bound.as_ref())
        }
    };
    Expr::cast(IntType::I32, length)
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};
    use ir::IntType;

    #[test]
    fn formats_have_their_parts() {
        let integer = |ty| Piece::Integer { ty, base: 10, sign: false, width: 0 };
        assert_eq!(pieces(b"a%d", 64), Some(vec![Piece::Text(1), integer(IntType::I32)]));
        assert_eq!(pieces(b"%ld%hhu", 64), Some(vec![integer(IntType::I64), integer(IntType::U8)]));
        assert_eq!(
            pieces(b"%5.3s%%", 64),
            Some(vec![Piece::String { most: Some(3), width: 5 }, Piece::Text(1)])
        );
        assert_eq!(pieces(b"%ld", 32), Some(vec![integer(IntType::I32)]));
        assert_eq!(pieces(b"%n", 64), None);
        assert_eq!(pieces(b"%*d", 64), None);
    }
}
