//! Regular expressions. A compiled one is opaque to programs; what matches, the arguments decide, so it is
//! not modelled.

use super::emit::truth;
use super::input::{copy_repeated, read_object, unmodelled_bytes, write_object};
use super::outside::unknown_between;
use super::printing::read_pointee;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, Place, Rhs, Value};

pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["regcomp"],
        wins: Wins::Body,
        model: |context, call| {
            let target = call.argument(0)?;
            target.pointee_size()?;
            read_pointee(context, call.argument(1)?);
            write_object(context, target);
            Some(Answer::Value(unknown_between(context, IntType::I32, 0, 0x7fff_ffff)))
        },
    },
    Entry { names: &["regexec"], wins: Wins::Body, model: execute },
    Entry {
        names: &["regfree"],
        wins: Wins::Body,
        model: |context, call| {
            call.argument(0)?.pointee_size()?;
            write_object(context, call.argument(0)?);
            Some(Answer::Nothing)
        },
    },
    Entry { names: &["regerror"], wins: Wins::Body, model: describe },
];

/// Bytes of a match: where it begins and ends.
const MATCH: Value = 8;

fn execute(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (compiled, string) = (call.argument(0)?, call.argument(1)?);
    let (count, matches) = (call.argument(2)?, call.argument(3)?);
    compiled.pointee_size()?;
    read_object(context, compiled);
    read_pointee(context, string);
    let ty = context.pointer();
    let most = count.constant.and_then(|count| count.checked_mul(MATCH));
    let (count, to) = (context.settle_pointer(count), context.settle_pointer(matches));
    let bytes = Expr::binary(BinaryOp::Mul, ty, count, Expr::int(MATCH, ty));
    if most != Some(0) {
        context.unless_null(matches, to.clone(), |context| {
            let from = unmodelled_bytes(context);
            copy_repeated(context, &to, from, bytes, most);
        });
    }
    Some(Answer::Value(unknown_between(context, IntType::I32, 0, 1)))
}

/// An error as text, in a buffer.
fn describe(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, size) = (call.argument(2)?, call.argument(3)?);
    let (ty, most) = (context.pointer(), size.constant);
    let (to, size) = (context.settle_pointer(buffer), context.settle_pointer(size));
    let (some, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(size.clone(), ty), some, done);
    context.builder.continue_at(some);
    let length =
        context.open_value(ty, Rhs::Unknown, |length| Some(Expr::binary(BinaryOp::Lt, ty, length, size)));
    let from = unmodelled_bytes(context);
    copy_repeated(context, &to, from, length.clone(), most);
    let end = Place::pointee(context.sum(to, length), IntType::U8);
    context.builder.set(Lhs::Memory(end), Expr::int(0, IntType::U8));
    context.builder.place(done);
    context.answer_open(call, Rhs::Unknown)
}
