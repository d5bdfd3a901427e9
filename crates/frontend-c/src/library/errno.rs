//! `errno`: one number for each thread. Functions of threads, strings and numbers leave it alone, or set it
//! as they say. After functions that the world outside may let fail, it is what it was, or an input; after
//! all others it is not modelled. Where a program does not look at it, all that is dropped
//! ([`super::simplify`]).

use super::emit::int;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{Expr, IntType, Layout, Lhs, ObjectId, Op, Place, Rhs, Storage, Value};

/// Operation not permitted: not the owner.
pub(super) const EPERM: Value = 1;
/// Try again: a semaphore is 0, or there are too many keys.
pub(super) const EAGAIN: Value = 11;
/// Busy: a lock is held.
pub(super) const EBUSY: Value = 16;
/// Invalid argument.
pub(super) const EINVAL: Value = 22;
/// Would wait for itself.
pub(super) const EDEADLK: Value = 35;
/// Too large for its type.
pub(super) const EOVERFLOW: Value = 75;
/// Gave up waiting.
pub(super) const ETIMEDOUT: Value = 110;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["__errno_location", "__error", "_errno"], wins: Wins::Model, model: location },
    // Why the name of a host was not found: the world outside decides.
    Entry {
        names: &["__h_errno_location"],
        wins: Wins::Model,
        model: |context, _| {
            let (name, layout) = ("h_errno of the thread", Layout::Scalar(IntType::I32));
            let object = context.own_object(name, Storage::ThreadLocal, layout, 4);
            context.builder.emit(Op::any(Lhs::Memory(Place::cell(object, 0, IntType::I32))));
            Some(Answer::Value(Expr::Address(object, 0)))
        },
    },
];

/// The object's name.
pub(super) const NAME: &str = "errno of the thread";

fn location(context: &mut Context<'_>, _: &Call<'_>) -> Option<Answer> {
    Some(Answer::Value(Expr::Address(object(context), 0)))
}

fn object(context: &mut Context<'_>) -> ObjectId {
    context.own_object(NAME, Storage::ThreadLocal, Layout::Scalar(IntType::I32), 4)
}

/// Sets it.
pub(super) fn set(context: &mut Context<'_>, value: Value) {
    set_to(context, int(value));
}

/// Sets it to an `int` that is computed from locals.
pub(super) fn set_to(context: &mut Context<'_>, value: Expr) {
    let place = Place::cell(object(context), 0, IntType::I32);
    context.builder.emit(Op::set(Lhs::Memory(place), value));
}

/// Says that a function may have set it to any error: the world outside decides. The numbers of all errors
/// fit in a byte. Where it was 0 and still is, the function must have succeeded, which is not looked at: such
/// an execution is no evidence.
pub(super) fn is_input(context: &mut Context<'_>) {
    let place = Place::cell(object(context), 0, IntType::I32);
    let error = context.open_value(IntType::U8, Rhs::Any, |_| None);
    let not_modelled = context.open_value(IntType::I32, Rhs::Unknown, |_| None);
    let before = Expr::load(place.clone());
    let is_set = |value: &Expr| Expr::cast(IntType::BOOL, value.clone());
    let kept = Expr::IfThenElse(Box::new((is_set(&before), before, not_modelled)));
    let value = Expr::IfThenElse(Box::new((is_set(&error), Expr::cast(IntType::I32, error), kept)));
    context.builder.emit(Op::set(Lhs::Memory(place), value));
}

/// Says that a function may have set it to something that is not modelled.
pub(super) fn may_be_set(context: &mut Context<'_>) {
    let place = Place::cell(object(context), 0, IntType::I32);
    context.builder.emit(Op::unknown(Lhs::Memory(place)));
}
