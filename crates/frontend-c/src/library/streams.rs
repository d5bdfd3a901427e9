//! Streams: what `FILE *` points to.
//!
//! A stream is an object of one byte, which says whether it was closed. All that is known of one is whether
//! it may be used: a stream that is none (null where `fopen` failed), or that was closed, is an invalid
//! access. What is read and written is in `input.rs` and `printing.rs`.

use super::emit::{atomic_place, truth};
use super::printing::branch_on_valid;
use super::{Argument, Call, Context};
use ir::{Expr, IntType, Lhs, Place};

/// Whether an argument is a stream.
pub(super) fn is_stream(argument: &Argument) -> bool {
    argument.pointee.as_ref().is_some_and(|pointee| pointee.type_name.contains("FILE"))
}

/// Uses the streams that are passed to a function, as all functions do that take one, and closes them if it
/// does.
pub(super) fn use_all(context: &mut Context<'_>, call: &Call<'_>) {
    for argument in call.arguments.iter().filter(|argument| is_stream(argument)) {
        let pointer = context.settle_pointer(argument);
        let closed = atomic_place(pointer.clone(), IntType::U8);
        let (stream, done) = (context.builder.label(), context.builder.label());
        // All output streams are meant by null.
        let may_be_null = matches!(call.name, "fflush" | "fflush_unlocked");
        branch_on_valid(context, &pointer, 1, may_be_null, stream, done);
        context.builder.continue_at(stream);
        context.invalid_access_if(truth(Expr::load(closed.clone()), IntType::U8));
        if call.name.ends_with("_unlocked") {
            let place = Place { atomic: false, ..closed.clone() };
            context.builder.set(Lhs::Memory(place.clone()), Expr::load(place));
        }
        if matches!(call.name, "fclose" | "pclose") {
            context.builder.set(Lhs::Memory(closed), Expr::int(1, IntType::U8));
        }
        context.builder.place(done);
    }
}
