//! Thread-specific values: each key is an index into an array that each thread has for itself.
//!
//! Destructors run at the end of a thread, in the order of keys, as in glibc (`ending.rs`). POSIX leaves
//! the order open: nothing is said of a program with several.

use super::emit::{answer_cell, answer_int, atomic_place, number};
use super::errno::EAGAIN;
use super::{Answer, Call, Context, Entry, Wins, ending};
use ir::{BinaryOp, Expr, IntType, Layout, Lhs, ObjectId, Op, Place, Storage, Value};

/// How many keys there are: as many as POSIX promises.
pub(super) const KEYS: u64 = 128;
/// C11's result where a key cannot be had.
const THRD_ERROR: Value = 2;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["pthread_key_create"], wins: Wins::Model, model: |c, call| create(c, call, EAGAIN) },
    Entry { names: &["tss_create"], wins: Wins::Model, model: |c, call| create(c, call, THRD_ERROR) },
    Entry { names: &["pthread_key_delete", "tss_delete"], wins: Wins::Model, model: delete },
    Entry { names: &["pthread_getspecific", "tss_get"], wins: Wins::Model, model: get },
    Entry { names: &["pthread_setspecific", "tss_set"], wins: Wins::Model, model: set },
];

/// The object with the running thread's values.
pub(super) fn values(context: &mut Context<'_>) -> ObjectId {
    let pointer = context.pointer();
    let element = Box::new(Layout::Scalar(pointer));
    let layout = Layout::Array { element, count: KEYS, stride: pointer.bytes() };
    context.own_object("thread-specific values", Storage::ThreadLocal, layout, KEYS * pointer.bytes())
}

/// The running thread's cell for a key.
fn cell(context: &mut Context<'_>, call: &Call<'_>) -> Option<Place> {
    let key = call.argument(0)?;
    let pointer = context.pointer();
    let values = values(context);
    Some(match context.settle_pointer(key) {
        Expr::Const(key, _) if (0..Value::from(KEYS)).contains(&key) => {
            Place::cell(values, key as u64 * pointer.bytes(), pointer)
        }
        key => {
            let width = Expr::int(Value::from(pointer.bytes()), pointer);
            let distance = Expr::binary(BinaryOp::Mul, pointer, key, width);
            Place::pointee(context.sum(Expr::Address(values, 0), distance), pointer)
        }
    })
}

/// The number of the next key.
pub(super) fn next_key(context: &mut Context<'_>) -> Place {
    let (name, layout) = ("next key for thread-specific values", Layout::Scalar(IntType::U32));
    let next = context.own_object(name, Storage::Static, layout, IntType::U32.bytes());
    atomic_place(Expr::Address(next, 0), IntType::U32)
}

fn create(context: &mut Context<'_>, call: &Call<'_>, failure: Value) -> Option<Answer> {
    let (key, destructor) = (call.argument(0)?, call.argument(1)?);
    let destructor =
        if destructor.is_always_null() { None } else { Some(context.settle_pointer(destructor)) };
    let pointer = context.settle_pointer(key);
    let next = next_key(context);
    let cell = context.result_cell(call);
    let (from, none, done) = (context.builder.here(), context.builder.label(), context.builder.label());
    let is_left =
        Expr::binary(BinaryOp::Lt, IntType::U32, Expr::load(next.clone()), number(Value::from(KEYS)));
    context.builder.alternative(Op::Assume(is_left.clone().not()), none);
    context.enter_atomic(from, Op::Assume(is_left));
    let mine = context.builder.save(Expr::load(next.clone()), IntType::U32);
    let more = Expr::binary(BinaryOp::Add, IntType::U32, Expr::Local(mine), number(1));
    context.leave_atomic(Op::set(Lhs::Memory(next), more));
    if let Some(destructor) = destructor {
        several_destructors(context, call);
        ending::set_destructor(context, Expr::Local(mine), destructor);
    }
    let ty = key.target_type().unwrap_or(IntType::U32);
    let value = context.convert(Expr::Local(mine), ty);
    context.builder.set(Lhs::Memory(Place::pointee(pointer, ty)), value);
    context.put(cell, 0);
    context.builder.jump(done);
    context.builder.continue_at(none);
    context.put(cell, failure);
    context.builder.place(done);
    answer_cell(cell)
}

/// Two keys with destructors: POSIX leaves open which of them is called first.
fn several_destructors(context: &mut Context<'_>, call: &Call<'_>) {
    let name = "a key has a destructor";
    if context.program.objects.iter().any(|object| object.name == name) {
        context.assume(call, "the order in which destructors are called is not specified", true);
        context.lose_path();
    }
    context.own_object(name, Storage::Static, Layout::Bytes(1), 1);
}

/// No destructor is called for a key that is gone.
fn delete(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let key = context.settle_as(call.argument(0)?, IntType::U32);
    let none = Expr::int(0, context.pointer());
    ending::set_destructor(context, key, none);
    answer_int(0)
}

fn get(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let place = cell(context, call)?;
    let pointer = context.pointer();
    let value = context.builder.save(Expr::load(place), pointer);
    Some(Answer::Value(Expr::Local(value)))
}

fn set(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let value = call.argument(1)?;
    let place = cell(context, call)?;
    let value = context.settle_pointer(value);
    context.builder.set(Lhs::Memory(place), value);
    answer_int(0)
}
