//! Numbers from strings: `strtol`, `atoi` and their like, as loops over the bytes. Exact for the locale "C".
//!
//! A base that is not constant is not modelled.

use super::emit::equal;
use super::environment::not_modelled;
use super::errno;
use super::strings::{advance, byte, zero};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, LocalId, Place, UnaryOp, Value};

/// Out of range.
const ERANGE: Value = 34;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["atoi"], wins: Wins::Body, model: |c, call| plain(c, call, IntType::I64) },
    Entry { names: &["atol", "atoll"], wins: Wins::Body, model: |c, call| plain(c, call, long(c, call)) },
    Entry {
        names: &["strtol", "strtoll", "strtoimax", "strtoul", "strtoull", "strtoumax"],
        wins: Wins::Body,
        model: |context, call| {
            let (string, end, base) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
            let is_signed = !call.name.contains("toul") && !call.name.contains("toum");
            let ty = IntType { signed: is_signed, ..long(context, call) };
            let base = base.constant.filter(|base| *base == 0 || (2..=36).contains(base));
            match base {
                Some(base) => parse(context, string, Some(end), base, ty),
                None => not_modelled(context, call),
            }
        },
    },
];

/// The type that is computed in: that of the result, or a wide one if nobody wants it.
fn long(context: &Context<'_>, call: &Call<'_>) -> IntType {
    let name = super::unversioned(call.name).unwrap_or(call.name);
    let bits = if name.ends_with('l') && !name.ends_with("ll") { context.pointer().bits } else { 64 };
    IntType { bits, signed: true }
}

fn plain(context: &mut Context<'_>, call: &Call<'_>, ty: IntType) -> Option<Answer> {
    parse(context, call.argument(0)?, None, 10, ty)
}

/// The value of a byte as a digit, or something that is none.
fn digit(here: &Expr) -> Expr {
    let ty = IntType::I32;
    let here = Expr::cast(ty, here.clone());
    let number = |value: u8| Expr::int(Value::from(value), ty);
    let within = |low: u8, high: u8| {
        let above = Expr::binary(BinaryOp::Le, ty, number(low), here.clone());
        above.and(Expr::binary(BinaryOp::Le, ty, here.clone(), number(high)))
    };
    let minus = |from: u8| Expr::binary(BinaryOp::Sub, ty, here.clone(), number(from));
    let choose = |condition, yes, no| Expr::IfThenElse(Box::new((condition, yes, no)));
    let capital = choose(within(b'A', b'Z'), minus(b'A' - 10), Expr::int(255, ty));
    let small = choose(within(b'a', b'z'), minus(b'a' - 10), capital);
    choose(within(b'0', b'9'), minus(b'0'), small)
}

pub(super) fn is_one_of(here: &Expr, bytes: &[u8]) -> Expr {
    let each = |byte: &u8| equal(IntType::U8, here.clone(), Expr::int(Value::from(*byte), IntType::U8));
    let either = |one, other| Expr::binary(BinaryOp::Or, IntType::BOOL, one, other);
    bytes.iter().map(each).reduce(either).unwrap_or(Expr::bool(false))
}

fn parse(
    context: &mut Context<'_>,
    string: &Argument,
    end: Option<&Argument>,
    base: Value,
    ty: IntType,
) -> Option<Answer> {
    let pointer = context.pointer();
    let text = context.settle_pointer(string);
    let end = end.map(|end| (end, context.settle_pointer(end)));
    let at = zero(context);
    skip_spaces(context, &text, at);
    let negative = sign(context, &text, at);
    let base = prefix(context, &text, at, base);
    let magnitude = IntType { signed: false, ..ty };
    let value = context.builder.save(Expr::int(0, magnitude), magnitude);
    let too_large = context.builder.save(Expr::bool(false), IntType::BOOL);
    let start = context.builder.save(Expr::Local(at), pointer);
    digits(context, &text, at, &base, value, too_large);
    // Without a digit nothing was read.
    let (none, some, stored) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(equal(pointer, Expr::Local(at), Expr::Local(start)), none, some);
    context.builder.continue_at(none);
    context.builder.set(Lhs::Local(at), Expr::int(0, pointer));
    context.builder.place(some);
    if let Some((argument, target)) = end {
        let after = context.sum(text, Expr::Local(at));
        let cell = Lhs::Memory(Place::pointee(target.clone(), pointer));
        context.unless_null(argument, target, |context| context.builder.set(cell, after));
    }
    context.builder.place(stored);
    Some(Answer::Value(result(context, ty, negative, value, too_large)))
}

pub(super) fn skip_spaces(context: &mut Context<'_>, text: &Expr, at: LocalId) {
    let (head, next, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    let here = byte(context, text, at);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    context.builder.branch(is_one_of(&here, b" \t\n\x0b\x0c\r"), next, done);
    context.builder.continue_at(next);
    advance(context, at);
    context.builder.jump(head);
    context.builder.continue_at(done);
}

/// Reads a sign; says whether it is that of a negative number.
pub(super) fn sign(context: &mut Context<'_>, text: &Expr, at: LocalId) -> LocalId {
    let here = byte(context, text, at);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    let negative = context.builder.save(is_one_of(&here, b"-"), IntType::BOOL);
    let (some, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(is_one_of(&here, b"+-"), some, done);
    context.builder.continue_at(some);
    advance(context, at);
    context.builder.place(done);
    negative
}

/// Reads a prefix that says the base, where one may be there; gives the base.
fn prefix(context: &mut Context<'_>, text: &Expr, at: LocalId, base: Value) -> Expr {
    let ty = IntType::I32;
    if base != 0 && base != 16 {
        return Expr::int(base, ty);
    }
    let found = context.builder.save(Expr::int(if base == 0 { 10 } else { 16 }, ty), ty);
    let (zero, letter, hex, octal) =
        (context.builder.label(), context.builder.label(), context.builder.label(), context.builder.label());
    let done = context.builder.label();
    let here = byte(context, text, at);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    context.builder.branch(is_one_of(&here, b"0"), zero, done);
    context.builder.continue_at(zero);
    let second = context.at_offset(text, 1);
    let here = byte(context, &second, at);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    context.builder.branch(is_one_of(&here, b"xX"), letter, octal);
    context.builder.continue_at(letter);
    let third = context.at_offset(text, 2);
    let here = byte(context, &third, at);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    let is_digit = Expr::binary(BinaryOp::Lt, ty, digit(&here), Expr::int(16, ty));
    context.builder.branch(is_digit, hex, octal);
    context.builder.continue_at(hex);
    context.builder.set(Lhs::Local(found), Expr::int(16, ty));
    advance(context, at);
    advance(context, at);
    context.builder.jump(done);
    context.builder.continue_at(octal);
    if base == 0 {
        context.builder.set(Lhs::Local(found), Expr::int(8, ty));
    }
    context.builder.place(done);
    Expr::Local(found)
}

/// Reads digits, and notes when there are too many.
pub(super) fn digits(
    context: &mut Context<'_>,
    text: &Expr,
    at: LocalId,
    base: &Expr,
    value: LocalId,
    too_large: LocalId,
) {
    let ty = context.builder.template.locals[value].ty;
    let (head, next, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let (add, large) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    let here = byte(context, text, at);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    let found = Expr::Local(context.builder.save(digit(&here), IntType::I32));
    let is_digit = Expr::binary(BinaryOp::Lt, IntType::I32, found.clone(), base.clone());
    context.builder.branch(is_digit, next, done);
    context.builder.continue_at(next);
    advance(context, at);
    let (found, base) = (Expr::cast(ty, found), Expr::cast(ty, base.clone()));
    let room = Expr::binary(BinaryOp::Sub, ty, Expr::int(ty.max(), ty), found.clone());
    let most = Expr::binary(BinaryOp::Div, ty, room, base.clone());
    context.builder.branch(Expr::binary(BinaryOp::Le, ty, Expr::Local(value), most), add, large);
    context.builder.continue_at(large);
    context.builder.set(Lhs::Local(too_large), Expr::bool(true));
    context.builder.jump(head);
    context.builder.continue_at(add);
    let product = Expr::binary(BinaryOp::Mul, ty, Expr::Local(value), base);
    context.builder.set(Lhs::Local(value), Expr::binary(BinaryOp::Add, ty, product, found));
    context.builder.jump(head);
    context.builder.continue_at(done);
}

/// The number that was read, or the nearest one of its type.
fn result(
    context: &mut Context<'_>,
    ty: IntType,
    negative: LocalId,
    value: LocalId,
    too_large: LocalId,
) -> Expr {
    let magnitude = IntType { signed: false, ..ty };
    let negated = |value: Expr| Expr::cast(ty, Expr::unary(UnaryOp::Neg, magnitude, value));
    let number = context.builder.temporary(ty);
    let (out, within, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let choose = |condition, yes, no| Expr::IfThenElse(Box::new((condition, yes, no)));
    let most = if ty.signed {
        // The least number has a magnitude of its own.
        let above = |most: Value| {
            Expr::binary(BinaryOp::Lt, magnitude, Expr::int(most, magnitude), Expr::Local(value))
        };
        choose(Expr::Local(negative), above(-ty.min()), above(ty.max()))
    } else {
        Expr::bool(false)
    };
    let is_out = Expr::binary(BinaryOp::Or, IntType::BOOL, Expr::Local(too_large), most);
    context.builder.branch(is_out, out, within);
    context.builder.continue_at(out);
    errno::set(context, ERANGE);
    let least = if ty.signed { Expr::int(ty.min(), ty) } else { Expr::int(ty.max(), ty) };
    let nearest = choose(Expr::Local(negative), least, Expr::int(ty.max(), ty));
    context.builder.set(Lhs::Local(number), nearest);
    context.builder.jump(done);
    context.builder.continue_at(within);
    let plain = Expr::cast(ty, Expr::Local(value));
    let signed = choose(Expr::Local(negative), negated(Expr::Local(value)), plain);
    context.builder.set(Lhs::Local(number), signed);
    context.builder.place(done);
    Expr::Local(number)
}
