//! Numbers with a fraction: `strtod` and `atof` of decimal numbers without an exponent, and `difftime`.
//!
//! A number of at most 2^53 divided by a power of ten up to 10^22 is correctly rounded, since both are exact
//! (Clinger, "How to read floating point numbers accurately", PLDI 1990). Other texts are not modelled:
//! exponents, hexadecimal numbers, infinities, more digits. Nor is a point that a locale may have changed.
//! With ILP32 floats are not modelled, so no result here is.

use super::emit::equal;
use super::numbers::{digits, is_one_of, sign, skip_spaces};
use super::strings::{advance, byte, scan, zero};
use super::{Answer, Argument, Call, Context, Entry, Wins, errno};
use ir::{
    Assignment, BinaryOp, DataModel, Expr, FloatFormat, FloatOp, IntType, Lhs, LocalId, LocationId, Op,
    Place, Rhs, Value,
};

pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["strtod"],
        wins: Wins::Body,
        model: |c, call| {
            let (string, end) = (call.argument(0)?, call.argument(1)?);
            parse(c, call, string, Some(end))
        },
    },
    Entry {
        names: &["strtof", "strtold"],
        wins: Wins::Body,
        model: |context, call| {
            let (string, end) = (call.argument(0)?, call.argument(1)?);
            let text = context.settle_pointer(string);
            Some(unmodelled(context, call, &text, Some(end)))
        },
    },
    Entry {
        names: &["atof"],
        wins: Wins::Body,
        model: |c, call| {
            let string = call.argument(0)?;
            parse(c, call, string, None)
        },
    },
    Entry { names: &["difftime"], wins: Wins::Body, model: difference },
];

/// The greatest number of digits after the point, and the greatest number without it.
const MOST_DIGITS: Value = 22;
const MOST: Value = 1 << 53;

/// A fresh local with the result of an operation on doubles.
fn float(context: &mut Context<'_>, op: FloatOp, operands: Vec<Expr>) -> Expr {
    let format = FloatFormat::Double;
    let local = context.builder.temporary(op.result(format));
    let pairs = vec![(Lhs::Local(local), Rhs::Float(op, format, operands))];
    context.builder.emit(Op::Assign(Assignment { pairs, constraint: None }));
    Expr::Local(local)
}

/// Reads the text, and may give any number.
fn unmodelled(context: &mut Context<'_>, call: &Call<'_>, text: &Expr, end: Option<&Argument>) -> Answer {
    let ty = context.pointer();
    let length = scan(context, text, None);
    if let Some(end) = end.filter(|end| !end.is_always_null()) {
        let target = context.settle_pointer(end);
        let place = Place::pointee(target.clone(), ty);
        context.unless_null(end, target, |context| {
            let at =
                context.open_value(ty, Rhs::Unknown, |at| Some(Expr::binary(BinaryOp::Le, ty, at, length)));
            let rest = context.sum(text.clone(), at);
            context.builder.set(Lhs::Memory(place), rest);
        });
    }
    errno::may_be_set(context);
    context.answer_number(call)
}

/// Whether results are doubles that are modelled.
fn is_modelled(context: &Context<'_>, call: &Call<'_>) -> bool {
    context.program.data_model == DataModel::Lp64 && call.result.is_none_or(|ty| ty == IntType::U64)
}

/// Loads the byte at an index.
fn look(context: &mut Context<'_>, text: &Expr, at: LocalId) -> Expr {
    let here = byte(context, text, at);
    Expr::Local(context.builder.save(here, IntType::U8))
}

/// Goes on unless something holds; then to another place.
fn leave_if(context: &mut Context<'_>, condition: Expr, other: LocationId) {
    let next = context.builder.label();
    context.builder.branch(condition, other, next);
    context.builder.continue_at(next);
}

fn parse(
    context: &mut Context<'_>,
    call: &Call<'_>,
    string: &Argument,
    end: Option<&Argument>,
) -> Option<Answer> {
    let text = context.settle_pointer(string);
    if !is_modelled(context, call) {
        return Some(unmodelled(context, call, &text, end));
    }
    let (pointer, ty) = (context.pointer(), IntType::U64);
    let result = context.builder.save(Expr::int(0, ty), ty);
    let (other, none, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let at = zero(context);
    skip_spaces(context, &text, at);
    let negative = sign(context, &text, at);
    let value = context.builder.save(Expr::int(0, ty), ty);
    let too_large = context.builder.save(Expr::bool(false), IntType::BOOL);
    let start = context.builder.save(Expr::Local(at), pointer);
    let base = Expr::int(10, IntType::I32);
    digits(context, &text, at, &base, value, too_large);
    let count = Expr::binary(BinaryOp::Sub, pointer, Expr::Local(at), Expr::Local(start));
    let count = Expr::Local(context.builder.save(count, pointer));
    let fraction = zero(context);
    // A point counts if there is a digit on one of its sides.
    let here = look(context, &text, at);
    let (point, whole) = (context.builder.label(), context.builder.label());
    context.builder.branch(is_one_of(&here, b"."), point, whole);
    context.builder.continue_at(point);
    // The locale may have another point.
    let (usual, unusual) = (context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(Expr::bool(true)), usual);
    context.builder.alternative(Op::Assume(Expr::bool(true)), unusual);
    context.builder.continue_at(unusual);
    context.lose_path();
    context.builder.jump(whole);
    context.builder.continue_at(usual);
    let before = context.builder.save(Expr::Local(at), pointer);
    advance(context, at);
    let first = context.builder.save(Expr::Local(at), pointer);
    digits(context, &text, at, &base, value, too_large);
    let length = Expr::binary(BinaryOp::Sub, pointer, Expr::Local(at), Expr::Local(first));
    context.builder.set(Lhs::Local(fraction), length);
    let both = Expr::binary(BinaryOp::Add, pointer, count.clone(), Expr::Local(fraction));
    let (lone, some) = (context.builder.label(), context.builder.label());
    context.builder.branch(equal(pointer, both, Expr::int(0, pointer)), lone, some);
    context.builder.continue_at(lone);
    context.builder.set(Lhs::Local(at), Expr::Local(before));
    context.builder.jump(none);
    context.builder.continue_at(whole);
    let is_none = equal(pointer, count, Expr::int(0, pointer));
    leave_if(context, is_none, none);
    context.builder.place(some);
    let here = look(context, &text, at);
    let is_zero = equal(ty, Expr::Local(value), Expr::int(0, ty));
    leave_if(context, is_one_of(&here, b"eE"), other);
    leave_if(context, is_one_of(&here, b"xX").and(is_zero), other);
    leave_if(context, Expr::Local(too_large), other);
    let is_long = Expr::binary(BinaryOp::Lt, ty, Expr::int(MOST, ty), Expr::Local(value));
    leave_if(context, is_long, other);
    let most = Expr::int(MOST_DIGITS, pointer);
    leave_if(context, Expr::binary(BinaryOp::Lt, pointer, most, Expr::Local(fraction)), other);
    let number = float(context, FloatOp::FromInteger, vec![Expr::Local(value)]);
    let power = Expr::Local(context.builder.save(power_of_ten(pointer, fraction), ty));
    let number = float(context, FloatOp::Div, vec![number, power]);
    let opposite = float(context, FloatOp::Neg, vec![number.clone()]);
    let signed = Expr::IfThenElse(Box::new((Expr::Local(negative), opposite, number)));
    context.builder.set(Lhs::Local(result), signed);
    let stored = context.builder.label();
    context.builder.jump(stored);
    // No number, unless it is an infinity or none.
    context.builder.continue_at(none);
    let here = look(context, &text, at);
    leave_if(context, is_one_of(&here, b"iInN"), other);
    context.builder.set(Lhs::Local(at), Expr::int(0, pointer));
    context.builder.place(stored);
    if let Some(end) = end {
        let target = context.settle_pointer(end);
        let after = context.sum(text.clone(), Expr::Local(at));
        let cell = Lhs::Memory(Place::pointee(target.clone(), pointer));
        context.unless_null(end, target, |context| context.builder.set(cell, after));
    }
    context.builder.jump(done);
    context.builder.continue_at(other);
    if let Answer::Value(any) = unmodelled(context, call, &text, end) {
        context.builder.set(Lhs::Local(result), any);
    }
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The bits of a power of ten as a double; they are exact.
fn power_of_ten(ty: IntType, exponent: LocalId) -> Expr {
    let bits = |number: f64| Expr::int(Value::from(number.to_bits()), IntType::U64);
    let mut powers = vec![1.0_f64];
    for index in 0..MOST_DIGITS as usize {
        powers.push(powers[index] * 10.0);
    }
    let mut found = bits(powers[MOST_DIGITS as usize]);
    for (number, power) in powers.iter().enumerate().take(MOST_DIGITS as usize) {
        let is_it = equal(ty, Expr::Local(exponent), Expr::int(number as Value, ty));
        found = Expr::IfThenElse(Box::new((is_it, bits(*power), found)));
    }
    found
}

/// The seconds between two times, rounded once.
fn difference(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (end, start) = (call.argument(0)?, call.argument(1)?);
    let ty = IntType::I64;
    let (end, start) = (context.settle_as(end, ty), context.settle_as(start, ty));
    if !is_modelled(context, call) {
        return Some(context.answer_number(call));
    }
    let result = context.builder.temporary(IntType::U64);
    let (other, done) = (context.builder.label(), context.builder.label());
    let [end, start] = [end, start].map(|time| Expr::Local(context.builder.save(time, ty)));
    let is_far = Expr::Overflows(BinaryOp::Sub, ty, Box::new((end.clone(), start.clone())));
    leave_if(context, is_far, other);
    let seconds = Expr::Local(context.builder.save(Expr::binary(BinaryOp::Sub, ty, end, start), ty));
    let number = float(context, FloatOp::FromInteger, vec![seconds]);
    context.builder.set(Lhs::Local(result), number);
    context.builder.jump(done);
    context.builder.continue_at(other);
    if let Answer::Value(any) = context.answer_number(call) {
        context.builder.set(Lhs::Local(result), any);
    }
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}
