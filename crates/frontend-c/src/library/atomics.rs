//! `<stdatomic.h>`, `__atomic_*` and `__sync_*`, where they are ordinary calls on an integer or a pointer.
//!
//! Each is one step: its first access leads into an atomic region, the last one out of it. Memory orders are
//! ignored, fences do nothing. Arithmetic wraps. A weak exchange may fail for no reason, as C11 allows.
//!
//! The names of `<stdatomic.h>` yield to a body, since kernels have functions of the same names with other
//! meanings.

use super::emit::{answer_int, atomic_place, equal, nothing_happens};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, Op, Place, UnaryOp};

/// What is done to the old value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Update {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
}

/// Which value a function returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Old,
    New,
}

macro_rules! updates {
    ($($update:ident $fetch:literal $explicit:literal $c11:literal $old:literal $sync_old:literal $new:literal $sync_new:literal;)*) => {
        &[$(
            Entry { names: &[$fetch, $explicit], wins: Wins::Body, model: |c, call| update(c, call, Update::$update, Gives::Old) },
            Entry { names: &[$c11, $old, $sync_old], wins: Wins::Model, model: |c, call| update(c, call, Update::$update, Gives::Old) },
            Entry { names: &[$new, $sync_new], wins: Wins::Model, model: |c, call| update(c, call, Update::$update, Gives::New) },
        )*]
    };
}

/// Read, change, write.
pub(super) const UPDATES: &[Entry] = updates! {
    Add "atomic_fetch_add" "atomic_fetch_add_explicit" "__c11_atomic_fetch_add" "__atomic_fetch_add" "__sync_fetch_and_add" "__atomic_add_fetch" "__sync_add_and_fetch";
    Sub "atomic_fetch_sub" "atomic_fetch_sub_explicit" "__c11_atomic_fetch_sub" "__atomic_fetch_sub" "__sync_fetch_and_sub" "__atomic_sub_fetch" "__sync_sub_and_fetch";
    And "atomic_fetch_and" "atomic_fetch_and_explicit" "__c11_atomic_fetch_and" "__atomic_fetch_and" "__sync_fetch_and_and" "__atomic_and_fetch" "__sync_and_and_fetch";
    Or "atomic_fetch_or" "atomic_fetch_or_explicit" "__c11_atomic_fetch_or" "__atomic_fetch_or" "__sync_fetch_and_or" "__atomic_or_fetch" "__sync_or_and_fetch";
    Xor "atomic_fetch_xor" "atomic_fetch_xor_explicit" "__c11_atomic_fetch_xor" "__atomic_fetch_xor" "__sync_fetch_and_xor" "__atomic_xor_fetch" "__sync_xor_and_fetch";
    Nand "atomic_fetch_nand" "atomic_fetch_nand_explicit" "__c11_atomic_fetch_nand" "__atomic_fetch_nand" "__sync_fetch_and_nand" "__atomic_nand_fetch" "__sync_nand_and_fetch";
};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["atomic_load", "atomic_load_explicit"], wins: Wins::Body, model: load },
    Entry { names: &["__atomic_load_n", "__c11_atomic_load"], wins: Wins::Model, model: load },
    Entry { names: &["__atomic_load"], wins: Wins::Model, model: load_to },
    Entry { names: &["atomic_store", "atomic_store_explicit"], wins: Wins::Body, model: store },
    Entry { names: &["__atomic_store_n", "__c11_atomic_store"], wins: Wins::Model, model: store },
    Entry { names: &["__atomic_store"], wins: Wins::Model, model: store_from },
    Entry { names: &["atomic_init"], wins: Wins::Body, model: init },
    Entry { names: &["__c11_atomic_init"], wins: Wins::Model, model: init },
    Entry { names: &["atomic_exchange", "atomic_exchange_explicit"], wins: Wins::Body, model: exchange },
    Entry {
        names: &["__atomic_exchange_n", "__c11_atomic_exchange", "__sync_lock_test_and_set", "__sync_swap"],
        wins: Wins::Model,
        model: exchange,
    },
    Entry { names: &["__atomic_exchange"], wins: Wins::Model, model: exchange_to },
    Entry {
        names: &["atomic_compare_exchange_strong", "atomic_compare_exchange_strong_explicit"],
        wins: Wins::Body,
        model: |c, call| compare_exchange(c, call, false, false),
    },
    Entry {
        names: &["atomic_compare_exchange_weak", "atomic_compare_exchange_weak_explicit"],
        wins: Wins::Body,
        model: |c, call| compare_exchange(c, call, true, false),
    },
    Entry {
        names: &["__c11_atomic_compare_exchange_strong"],
        wins: Wins::Model,
        model: |c, call| compare_exchange(c, call, false, false),
    },
    Entry {
        names: &["__c11_atomic_compare_exchange_weak"],
        wins: Wins::Model,
        model: |c, call| compare_exchange(c, call, true, false),
    },
    Entry {
        names: &["__atomic_compare_exchange_n"],
        wins: Wins::Model,
        model: |c, call| compare_exchange(c, call, call.argument(3)?.constant != Some(0), false),
    },
    Entry {
        names: &["__atomic_compare_exchange"],
        wins: Wins::Model,
        model: |c, call| compare_exchange(c, call, call.argument(3)?.constant != Some(0), true),
    },
    Entry {
        names: &["__sync_bool_compare_and_swap"],
        wins: Wins::Model,
        model: |c, call| swap(c, call, true),
    },
    Entry {
        names: &["__sync_val_compare_and_swap"],
        wins: Wins::Model,
        model: |c, call| swap(c, call, false),
    },
    Entry {
        names: &["atomic_flag_test_and_set", "atomic_flag_test_and_set_explicit"],
        wins: Wins::Body,
        model: test_and_set,
    },
    Entry { names: &["__atomic_test_and_set"], wins: Wins::Model, model: test_and_set },
    Entry { names: &["atomic_flag_clear", "atomic_flag_clear_explicit"], wins: Wins::Body, model: clear },
    Entry { names: &["__atomic_clear", "__sync_lock_release"], wins: Wins::Model, model: clear },
    Entry {
        names: &["atomic_thread_fence", "atomic_signal_fence"],
        wins: Wins::Body,
        model: nothing_happens,
    },
    Entry {
        names: &[
            "__atomic_thread_fence",
            "__atomic_signal_fence",
            "__c11_atomic_thread_fence",
            "__c11_atomic_signal_fence",
            "__sync_synchronize",
        ],
        wins: Wins::Model,
        model: nothing_happens,
    },
    Entry { names: &["atomic_is_lock_free"], wins: Wins::Body, model: |_, _| answer_int(1) },
    Entry {
        names: &["__atomic_is_lock_free", "__atomic_always_lock_free", "__c11_atomic_is_lock_free"],
        wins: Wins::Model,
        model: |_, _| answer_int(1),
    },
];

/// The cell that the first argument points to. Its address is settled.
fn cell(context: &mut Context<'_>, call: &Call<'_>) -> Option<Place> {
    let pointer = call.argument(0)?;
    let ty = pointer.target_type()?;
    Some(atomic_place(context.settle_pointer(pointer), ty))
}

/// The value that a pointer argument points to, read in a type.
fn read_through(context: &mut Context<'_>, pointer: &Argument, ty: IntType) -> Expr {
    let address = context.settle_pointer(pointer);
    Expr::Local(context.builder.save(Expr::load(Place::pointee(address, ty)), ty))
}

fn load(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let place = cell(context, call)?;
    let ty = place.ty;
    Some(Answer::Value(Expr::Local(context.builder.save(Expr::load(place), ty))))
}

fn load_to(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let target = call.argument(1)?;
    let place = cell(context, call)?;
    let (ty, target) = (place.ty, context.settle_pointer(target));
    let value = context.builder.save(Expr::load(place), ty);
    context.builder.set(Lhs::Memory(Place::pointee(target, ty)), Expr::Local(value));
    Some(Answer::Nothing)
}

fn store(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let value = call.argument(1)?;
    let place = cell(context, call)?;
    let value = context.settle_as(value, place.ty);
    context.builder.set(Lhs::Memory(place), value);
    Some(Answer::Nothing)
}

fn store_from(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let source = call.argument(1)?;
    let place = cell(context, call)?;
    let value = read_through(context, source, place.ty);
    context.builder.set(Lhs::Memory(place), value);
    Some(Answer::Nothing)
}

/// Initialisation is not atomic.
fn init(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let value = call.argument(1)?;
    let place = cell(context, call)?;
    let value = context.settle_as(value, place.ty);
    context.builder.set(Lhs::Memory(Place { atomic: false, ..place }), value);
    Some(Answer::Nothing)
}

fn exchange(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let value = call.argument(1)?;
    let place = cell(context, call)?;
    let value = context.settle_as(value, place.ty);
    Some(Answer::Value(Expr::Local(context.exchange(place, |_| value))))
}

fn exchange_to(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (source, target) = (call.argument(1)?, call.argument(2)?);
    let place = cell(context, call)?;
    let (ty, target) = (place.ty, context.settle_pointer(target));
    let value = read_through(context, source, ty);
    let old = context.exchange(place, |_| value);
    context.builder.set(Lhs::Memory(Place::pointee(target, ty)), Expr::Local(old));
    Some(Answer::Nothing)
}

fn update(context: &mut Context<'_>, call: &Call<'_>, update: Update, gives: Gives) -> Option<Answer> {
    let operand = call.argument(1)?;
    // C11 moves a pointer by elements, whose size is not known here; the older functions by bytes.
    let is_pointer = call.argument(0)?.pointee.as_ref()?.type_name.trim_end().ends_with('*');
    if is_pointer && !(call.name.starts_with("__atomic") || call.name.starts_with("__sync")) {
        return None;
    }
    let place = cell(context, call)?;
    let ty = place.ty;
    let operand = context.settle_as(operand, ty);
    let wrapping = ty.unsigned();
    let new = |old: Expr| {
        let op = match update {
            Update::Add => BinaryOp::Add,
            Update::Sub => BinaryOp::Sub,
            Update::And | Update::Nand => BinaryOp::And,
            Update::Or => BinaryOp::Or,
            Update::Xor => BinaryOp::Xor,
        };
        let unsigned = |value| if wrapping == ty { value } else { Expr::cast(wrapping, value) };
        let mut value = Expr::binary(op, wrapping, unsigned(old), unsigned(operand.clone()));
        if update == Update::Nand {
            value = Expr::unary(UnaryOp::Not, wrapping, value);
        }
        if wrapping == ty { value } else { Expr::cast(ty, value) }
    };
    let old = Expr::Local(context.exchange(place, new));
    Some(Answer::Value(match gives {
        Gives::Old => old,
        Gives::New => new(old),
    }))
}

fn compare_exchange(
    context: &mut Context<'_>,
    call: &Call<'_>,
    weak: bool,
    indirect: bool,
) -> Option<Answer> {
    let (expected, desired) = (call.argument(1)?, call.argument(2)?);
    let place = cell(context, call)?;
    let ty = place.ty;
    let target = context.settle_pointer(expected);
    let expected = Expr::Local(context.builder.save(Expr::load(Place::pointee(target.clone(), ty)), ty));
    let desired = if indirect { read_through(context, desired, ty) } else { context.settle_as(desired, ty) };
    let (succeeded, done) = (context.builder.label(), context.builder.label());
    let result = context.builder.temporary(IntType::BOOL);
    let old = exchange_if_equal(context, place, &expected, desired, succeeded, weak);
    context.builder.set(Lhs::Memory(Place::pointee(target, ty)), old);
    context.builder.set(Lhs::Local(result), Expr::bool(false));
    context.builder.jump(done);
    context.builder.continue_at(succeeded);
    context.builder.set(Lhs::Local(result), Expr::bool(true));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

fn swap(context: &mut Context<'_>, call: &Call<'_>, gives_success: bool) -> Option<Answer> {
    let (expected, desired) = (call.argument(1)?, call.argument(2)?);
    let place = cell(context, call)?;
    let ty = place.ty;
    let (expected, desired) = (context.settle_as(expected, ty), context.settle_as(desired, ty));
    let done = context.builder.label();
    let old = exchange_if_equal(context, place, &expected, desired, done, false);
    context.builder.place(done);
    Some(Answer::Value(if gives_success { equal(ty, old, expected) } else { old }))
}

/// In one step, reads the cell and, if it holds `expected`, stores `desired` and goes to `succeeded`.
/// Continues after it where it does not. Returns the old value.
fn exchange_if_equal(
    context: &mut Context<'_>,
    place: Place,
    expected: &Expr,
    desired: Expr,
    succeeded: ir::LocationId,
    weak: bool,
) -> Expr {
    let ty = place.ty;
    let (from, old) = (context.builder.here(), context.builder.temporary(ty));
    context.enter_atomic(from, Op::set(Lhs::Local(old), Expr::load(place.clone())));
    let (same, other) = (context.builder.label(), context.builder.label());
    context.builder.branch(equal(ty, Expr::Local(old), expected.clone()), same, other);
    context.builder.continue_at(same);
    context.builder.alternative(Op::set(Lhs::Memory(place), desired), succeeded);
    if weak {
        context.builder.alternative(Op::Assume(Expr::bool(true)), other);
    }
    context.builder.continue_at(other);
    context.builder.atomic_end();
    Expr::Local(old)
}

fn test_and_set(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let place = flag(context, call)?;
    let old = context.exchange(place, |_| Expr::int(1, IntType::U8));
    Some(Answer::Value(Expr::cast(IntType::BOOL, Expr::Local(old))))
}

/// A flag is one byte, whatever it is pointed to as (`__atomic_test_and_set` takes `void *`).
fn flag(context: &mut Context<'_>, call: &Call<'_>) -> Option<Place> {
    let pointer = call.argument(0)?;
    Some(atomic_place(context.settle_pointer(pointer), IntType::U8))
}

fn clear(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let place = if call.name.starts_with("__sync") { cell(context, call)? } else { flag(context, call)? };
    let ty = place.ty;
    context.builder.set(Lhs::Memory(place), Expr::int(0, ty));
    Some(Answer::Nothing)
}
