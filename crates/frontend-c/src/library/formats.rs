//! What `printf` and its like print: exact where the format has integers, characters and strings without
//! unusual flags; else the number of bytes is within bounds, and the bytes are not modelled.

use super::outside::unknown_between;
use super::strings::scan;
use super::{Argument, Context};
use ir::{Assignment, BinaryOp, Expr, IntType, Layout, Lhs, Op, Place, Rhs, Storage, Value};

/// The most bytes that a number with a fraction takes without a width or a precision.
const LONGEST_FRACTION: Value = 5_000;
/// The most digits of a number, in base 8.
const MOST_DIGITS: Value = 22;

/// A part of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece {
    /// Bytes of the format as they are: where they begin, and how many.
    Text(usize, Value),
    /// An integer.
    Integer(Integer),
    /// A character.
    Character { width: Value, left: bool },
    /// A string, up to a number of bytes.
    String { most: Option<Value>, width: Value, left: bool },
    /// Something that takes at most so many bytes.
    Other { most: Option<Value> },
}

/// How an integer is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Integer {
    ty: IntType,
    base: Value,
    /// Whether the digits after 9 are large letters.
    upper: bool,
    /// What stands before a number that is not negative.
    sign: Option<u8>,
    /// The least number of digits.
    least: Value,
    width: Value,
    /// Whether zeros fill the width.
    zeros: bool,
    /// Whether the number is on the left.
    left: bool,
}

/// The parts of a format, with one argument for each that is no text; `None` where arguments do more than
/// be printed.
fn pieces(format: &[u8], wide: u8) -> Option<Vec<Piece>> {
    let end = format.iter().position(|byte| *byte == 0).unwrap_or(format.len());
    let format = &format[..end];
    let mut at = 0;
    let mut found = Vec::new();
    let number = |at: &mut usize| {
        let mut value: Option<Value> = None;
        while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
            let more = value.unwrap_or(0).saturating_mul(10).saturating_add(Value::from(digit - b'0'));
            value = Some(more.min(1 << 20));
            *at += 1;
        }
        value
    };
    let all_of = |at: &mut usize, set: &[u8]| {
        let start = *at;
        while format.get(*at).is_some_and(|byte| set.contains(byte)) {
            *at += 1;
        }
        &format[start..*at]
    };
    while at < format.len() {
        if format[at] != b'%' {
            add_text(&mut found, at);
            at += 1;
            continue;
        }
        at += 1;
        let flags = all_of(&mut at, b"-+ 0#'I");
        let width = number(&mut at).unwrap_or(0);
        let precision = match format.get(at) {
            Some(b'.') => {
                at += 1;
                Some(number(&mut at).unwrap_or(0))
            }
            Some(_) | None => None,
        };
        let modifiers = all_of(&mut at, b"hlLqjzt");
        let bits = match modifiers {
            b"" => 32,
            b"h" => 16,
            b"hh" => 8,
            b"l" | b"z" | b"t" => wide,
            _ => 64,
        };
        let is_plain = modifiers.is_empty();
        let has = |flag: u8| flags.contains(&flag);
        let unusual = has(b'#') || has(b'\'') || has(b'I');
        let left = has(b'-');
        let sign = if has(b'+') { Some(b'+') } else { has(b' ').then_some(b' ') };
        let conversion = format.get(at).copied();
        at += 1;
        let integer = |signed: bool, base: Value| match (precision, unusual) {
            // Without digits, zero is nothing.
            (Some(0), _) | (_, true) => Piece::Other { most: None },
            (precision, false) => Piece::Integer(Integer {
                ty: IntType { bits, signed },
                base,
                upper: conversion == Some(b'X'),
                sign: sign.filter(|_| signed),
                least: precision.unwrap_or(1),
                width,
                zeros: has(b'0') && !left && precision.is_none(),
                left,
            }),
        };
        found.push(match conversion {
            Some(b'%') if flags.is_empty() && width == 0 && precision.is_none() => {
                add_text(&mut found, at - 1);
                continue;
            }
            Some(b'd' | b'i') => integer(true, 10),
            Some(b'u') => integer(false, 10),
            Some(b'x' | b'X') => integer(false, 16),
            Some(b'o') => integer(false, 8),
            Some(b'c') if is_plain => Piece::Character { width, left },
            Some(b's') if is_plain => Piece::String { most: precision, width, left },
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

/// Adds a byte of the format to the text before it.
fn add_text(found: &mut Vec<Piece>, at: usize) {
    if let Some(Piece::Text(start, count)) = found.last_mut()
        && *start as Value + *count == at as Value
    {
        *count += 1;
        return;
    }
    found.push(Piece::Text(at, 1));
}

/// What a format prints, in order.
pub(super) struct Printed {
    parts: Vec<Part>,
    /// The number of bytes, as an `int`.
    pub(super) length: Expr,
}

/// Some bytes that are printed; how many they are is an `int`.
enum Part {
    /// Bytes of the format, from an index on.
    Text(usize, Expr),
    /// The same byte several times.
    Repeated(Expr, Expr),
    /// The last digits of a number that is not negative.
    Digits(Expr, Integer, Expr),
    /// Bytes at an address.
    Bytes(Expr, Expr),
    /// Bytes that are not modelled, at most so many.
    Open(Expr, Value),
}

impl Part {
    fn length(&self) -> &Expr {
        match self {
            Self::Text(_, length)
            | Self::Repeated(_, length)
            | Self::Digits(_, _, length)
            | Self::Bytes(_, length)
            | Self::Open(length, _) => length,
        }
    }
}

const INT: IntType = IntType::I32;

/// The number of bytes that a format prints, as an `int`. `None` when too little is known of the format to
/// say anything. The arguments are those after the format.
pub(super) fn length(context: &mut Context<'_>, format: &[u8], arguments: &[Argument]) -> Option<Expr> {
    printed(context, format, arguments).map(|printed| printed.length)
}

/// What a format prints; `None` when too little is known of it. Reads the strings that are printed.
pub(super) fn printed(context: &mut Context<'_>, format: &[u8], arguments: &[Argument]) -> Option<Printed> {
    let pieces = pieces(format, context.pointer().bits)?;
    let needed = pieces.iter().filter(|piece| !matches!(piece, Piece::Text(..))).count();
    if arguments.len() < needed {
        return None;
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut arguments = arguments.iter();
    for piece in pieces {
        match piece {
            Piece::Text(start, count) => parts.push(Part::Text(start, Expr::int(count, INT))),
            Piece::Integer(how) => integer(context, arguments.next()?, how, &mut parts),
            Piece::Character { width, left } => {
                let value = context.settle_as(arguments.next()?, IntType::U8);
                let part = Part::Repeated(value, Expr::int(1, INT));
                pad(context, vec![part], (width, left), &mut parts);
            }
            Piece::String { most, width, left } => {
                let part = string(context, arguments.next()?, most);
                pad(context, vec![part], (width, left), &mut parts);
            }
            Piece::Other { most } => {
                arguments.next()?;
                let most = most.unwrap_or(1 << 20).min(1 << 20);
                parts.push(Part::Open(unknown_between(context, INT, 0, most), most));
            }
        }
    }
    let length = total(&parts);
    let length = Expr::Local(context.builder.save(length, INT));
    Some(Printed { parts, length })
}

fn plus(left: Expr, right: Expr) -> Expr {
    match (left, right) {
        (Expr::Const(left, _), Expr::Const(right, _)) => Expr::int(left + right, INT),
        (Expr::Const(0, _), other) | (other, Expr::Const(0, _)) => other,
        (left, right) => Expr::binary(BinaryOp::Add, INT, left, right),
    }
}

fn total(parts: &[Part]) -> Expr {
    parts.iter().fold(Expr::int(0, INT), |sum, part| plus(sum, part.length().clone()))
}

/// How many bytes are missing to a width.
fn missing(context: &mut Context<'_>, length: Expr, width: Value) -> Expr {
    if let Expr::Const(length, _) = length {
        return Expr::int((width - length).max(0), INT);
    }
    let width = Expr::int(width, INT);
    let short = Expr::binary(BinaryOp::Lt, INT, length.clone(), width.clone());
    let rest = Expr::binary(BinaryOp::Sub, INT, width, length);
    let missing = Expr::IfThenElse(Box::new((short, rest, Expr::int(0, INT))));
    Expr::Local(context.builder.save(missing, INT))
}

/// Adds parts, filled with spaces on one side up to a width.
fn pad(context: &mut Context<'_>, own: Vec<Part>, (width, left): (Value, bool), parts: &mut Vec<Part>) {
    if width == 0 {
        return parts.extend(own);
    }
    let spaces = missing(context, total(&own), width);
    let spaces = Part::Repeated(Expr::int(Value::from(b' '), IntType::U8), spaces);
    match left {
        true => parts.extend(own.into_iter().chain([spaces])),
        false => parts.extend([spaces].into_iter().chain(own)),
    }
}

/// The parts of a number: its sign, zeros, digits.
fn integer(context: &mut Context<'_>, argument: &Argument, how: Integer, parts: &mut Vec<Part>) {
    let Integer { ty, sign, .. } = how;
    let byte = |byte: u8| Expr::int(Value::from(byte), IntType::U8);
    let value = context.settle_as(argument, ty);
    let value = Expr::Local(context.builder.save(value, ty));
    let mut own = Vec::new();
    let natural = IntType { signed: false, ..ty };
    let mut size = value.clone();
    if ty.signed {
        let is_negative = Expr::binary(BinaryOp::Lt, ty, value.clone(), Expr::int(0, ty));
        let is_negative = Expr::Local(context.builder.save(is_negative, IntType::BOOL));
        let cast = Expr::cast(natural, value);
        let opposite = Expr::binary(BinaryOp::Sub, natural, Expr::int(0, natural), cast.clone());
        let choice = Expr::IfThenElse(Box::new((is_negative.clone(), opposite, cast)));
        size = Expr::Local(context.builder.save(choice, natural));
        own.push(match sign {
            Some(sign) => {
                let choice = Expr::IfThenElse(Box::new((is_negative, byte(b'-'), byte(sign))));
                let sign = Expr::Local(context.builder.save(choice, IntType::U8));
                Part::Repeated(sign, Expr::int(1, INT))
            }
            None => Part::Repeated(byte(b'-'), Expr::cast(INT, is_negative)),
        });
    }
    let digits = digits(context, &size, natural, how.base);
    let zeros = match (how.zeros, how.least) {
        (true, _) => {
            let length = plus(total(&own), digits.clone());
            missing(context, length, how.width)
        }
        (false, 0 | 1) => Expr::int(0, INT),
        (false, least) => missing(context, digits.clone(), least),
    };
    if zeros != Expr::int(0, INT) {
        own.push(Part::Repeated(byte(b'0'), zeros));
    }
    own.push(Part::Digits(size, how, digits));
    let width = if how.zeros { 0 } else { how.width };
    pad(context, own, (width, how.left), parts);
}

/// How many digits a number has that is not negative.
fn digits(context: &mut Context<'_>, value: &Expr, ty: IntType, base: Value) -> Expr {
    let mut length = Expr::int(1, INT);
    let mut least = base;
    while ty.contains(least) {
        let is_longer = Expr::binary(BinaryOp::Le, ty, Expr::int(least, ty), value.clone());
        length = Expr::binary(BinaryOp::Add, INT, length, Expr::cast(INT, is_longer));
        least *= base;
    }
    Expr::Local(context.builder.save(length, INT))
}

fn string(context: &mut Context<'_>, argument: &Argument, most: Option<Value>) -> Part {
    let pointer = context.pointer();
    let string = context.settle_pointer(argument);
    if argument.text.is_none() {
        context.needs_bytes(argument, 1, false);
    }
    let length = match (&argument.text, most) {
        (Some(text), None) => {
            let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
            return Part::Bytes(string, Expr::int(length as Value, INT));
        }
        _ => {
            let bound = most.map(|most| Expr::int(most, pointer));
            scan(context, &string, bound.as_ref())
        }
    };
    Part::Bytes(string, Expr::cast(INT, length))
}

impl Printed {
    /// Stores the first bytes of what is printed: all, or as many as a limit of an address's width says,
    /// which may have a bound. `format`: where the format is.
    pub(super) fn store(
        self,
        context: &mut Context<'_>,
        to: &Expr,
        format: &Expr,
        (limit, bound): (Option<&Expr>, Option<Value>),
    ) {
        let ty = context.pointer();
        let mut at = Expr::int(0, ty);
        let last = self.parts.len().saturating_sub(1);
        for (number, part) in self.parts.into_iter().enumerate() {
            let length = match part.length() {
                Expr::Const(length, _) => Expr::int(*length, ty),
                length => Expr::Local(context.builder.save(Expr::cast(ty, length.clone()), ty)),
            };
            let next = context.sum(at.clone(), length.clone());
            let count = match limit {
                None => length,
                Some(limit) => {
                    let less = |left: &Expr, right: &Expr| {
                        Expr::binary(BinaryOp::Le, ty, left.clone(), right.clone())
                    };
                    let rest = Expr::binary(BinaryOp::Sub, ty, limit.clone(), at.clone());
                    let rest = Expr::IfThenElse(Box::new((less(&at, limit), rest, Expr::int(0, ty))));
                    let count = Expr::IfThenElse(Box::new((less(&next, limit), length, rest)));
                    Expr::Local(context.builder.save(count, ty))
                }
            };
            let target = context.sum(to.clone(), at);
            match part {
                Part::Text(start, _) => {
                    let from = context.at_offset(format, start as u64);
                    context.builder.emit(Op::Copy(target, from, count));
                }
                Part::Repeated(byte, _) => context.builder.emit(Op::Fill(target, byte, count)),
                Part::Digits(value, how, length) => {
                    let from = store_digits(context, value, how, length);
                    context.builder.emit(Op::Copy(target, from, count));
                }
                Part::Bytes(from, _) => context.builder.emit(Op::Copy(target, from, count)),
                Part::Open(_, most) => {
                    let from = super::input::unmodelled_bytes(context);
                    let most = bound.map_or(most, |bound| bound.min(most));
                    super::input::copy_repeated(context, &target, from, count, Some(most));
                }
            }
            at = match number == last {
                true => next,
                false => Expr::Local(context.builder.save(next, ty)),
            };
        }
    }
}

/// Writes the digits of a number into memory of the thread, and gives the address of the first one. Traces do
/// not show objects whose names begin like that of a temporary.
fn store_digits(context: &mut Context<'_>, value: Expr, how: Integer, length: Expr) -> Expr {
    let (byte, pointer) = (IntType::U8, context.pointer());
    let ty = IntType { signed: false, ..how.ty };
    let name = "%digits that the thread prints";
    let layout = Layout::Bytes(MOST_DIGITS as u64);
    let object = context.own_object(name, Storage::ThreadLocal, layout, MOST_DIGITS as u64);
    let mut pairs = Vec::new();
    let (mut power, mut at) = (1, MOST_DIGITS as u64);
    while ty.contains(power) {
        at -= 1;
        let quotient = match power {
            1 => value.clone(),
            power => Expr::binary(BinaryOp::Div, ty, value.clone(), Expr::int(power, ty)),
        };
        let digit = Expr::cast(byte, Expr::binary(BinaryOp::Rem, ty, quotient, Expr::int(how.base, ty)));
        let shifted = |zero: u8| {
            let zero = Expr::int(Value::from(zero), byte);
            Expr::binary(BinaryOp::Add, byte, digit.clone(), zero)
        };
        let character = match how.base {
            16 => {
                let is_small = Expr::binary(BinaryOp::Lt, byte, digit.clone(), Expr::int(10, byte));
                let letter = if how.upper { b'A' - 10 } else { b'a' - 10 };
                Expr::IfThenElse(Box::new((is_small, shifted(b'0'), shifted(letter))))
            }
            _ => shifted(b'0'),
        };
        pairs.push((Lhs::Memory(Place::cell(object, at, byte)), Rhs::Value(character)));
        power *= how.base;
    }
    context.builder.emit(Op::Assign(Assignment { pairs, constraint: None }));
    let length = Expr::cast(pointer, length);
    let start = Expr::binary(BinaryOp::Sub, pointer, Expr::int(MOST_DIGITS, pointer), length);
    context.sum(Expr::Address(object, 0), start)
}

#[cfg(test)]
mod tests {
    use super::{Integer, Piece, pieces};
    use ir::IntType;

    #[test]
    fn formats_have_their_parts() {
        let plain = Integer {
            ty: IntType::I32,
            base: 10,
            upper: false,
            sign: None,
            least: 1,
            width: 0,
            zeros: false,
            left: false,
        };
        let integer = |ty| Piece::Integer(Integer { ty, ..plain });
        assert_eq!(pieces(b"a%d", 64), Some(vec![Piece::Text(0, 1), integer(IntType::I32)]));
        assert_eq!(pieces(b"%ld%hhu", 64), Some(vec![integer(IntType::I64), integer(IntType::U8)]));
        assert_eq!(
            pieces(b"%5.3s%%", 64),
            Some(vec![Piece::String { most: Some(3), width: 5, left: false }, Piece::Text(6, 1)])
        );
        assert_eq!(pieces(b"ab%%c", 64), Some(vec![Piece::Text(0, 2), Piece::Text(3, 2)]));
        let zeros = Integer { width: 4, zeros: true, ..plain };
        assert_eq!(pieces(b"%04d", 64), Some(vec![Piece::Integer(zeros)]));
        let precise = Integer { width: 4, least: 2, ..plain };
        assert_eq!(pieces(b"%04.2d", 64), Some(vec![Piece::Integer(precise)]));
        assert_eq!(pieces(b"%ld", 32), Some(vec![integer(IntType::I32)]));
        assert_eq!(pieces(b"%.0d", 64), Some(vec![Piece::Other { most: None }]));
        assert_eq!(pieces(b"%n", 64), None);
        assert_eq!(pieces(b"%*d", 64), None);
        assert_eq!(pieces(b"%", 64), None);
    }
}
