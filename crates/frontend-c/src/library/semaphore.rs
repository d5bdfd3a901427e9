//! Semaphores (the first word is the value) and barriers.
//!
//! A barrier has three words: how many threads it is for, how many have arrived, and how many of the last
//! round have still to leave. The last one to arrive lets the others leave; the next round starts when all
//! have left. So a barrier can be used again at once, any number of threads may share it, and its states
//! are finitely many.

use super::emit::{Touch, answer_cell, answer_int, clears_first, differ, equal, int, number};
use super::errno::{self, EAGAIN, EINVAL, EOVERFLOW};
use super::times::timeout;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, ObjectRole, Op, Place, Rhs, SharedObject, Value};

/// The largest value of a semaphore.
const SEM_VALUE_MAX: Value = 0x7fff_ffff;
/// What one of the threads at a barrier gets.
const SERIAL_THREAD: Value = -1;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["sem_init"], wins: Wins::Model, model: init },
    Entry { names: &["sem_open"], wins: Wins::Body, model: open },
    Entry { names: &["sem_close", "sem_unlink"], wins: Wins::Body, model: close },
    Entry { names: &["sem_wait"], wins: Wins::Model, model: wait },
    Entry { names: &["sem_trywait"], wins: Wins::Model, model: |c, call| try_wait(c, call, int(EAGAIN)) },
    Entry {
        names: &["sem_timedwait", "sem_clockwait"],
        wins: Wins::Model,
        model: |c, call| timeout(c, call).and_then(|timeout| try_wait(c, call, timeout.result())),
    },
    Entry { names: &["sem_post"], wins: Wins::Model, model: post },
    Entry { names: &["sem_getvalue"], wins: Wins::Model, model: get_value },
    Entry {
        names: &[
            "sem_destroy",
            "pthread_barrierattr_init",
            "pthread_barrierattr_destroy",
            "pthread_barrierattr_setpshared",
        ],
        wins: Wins::Model,
        model: clears_first,
    },
    Entry { names: &["pthread_barrier_init"], wins: Wins::Model, model: barrier_init },
    Entry { names: &["pthread_barrier_wait"], wins: Wins::Model, model: barrier_wait },
    Entry { names: &["pthread_barrier_destroy"], wins: Wins::Model, model: barrier_destroy },
];

fn is_zero(place: &Place) -> Expr {
    equal(IntType::U32, Expr::load(place.clone()), number(0))
}
fn is_not_zero(place: &Place) -> Expr {
    differ(IntType::U32, Expr::load(place.clone()), number(0))
}
fn one_less(place: &Place) -> Op {
    let less = Expr::binary(BinaryOp::Sub, IntType::U32, Expr::load(place.clone()), number(1));
    Op::set(Lhs::Memory(place.clone()), less)
}

/// The word that holds the value, if the type has room for it.
fn value(context: &mut Context<'_>, call: &Call<'_>) -> Option<Place> {
    let semaphore = call.argument(0)?;
    if semaphore.is_smaller_than(4) {
        return None;
    }
    let address = context.settle_pointer(semaphore);
    Some(context.word(&address, 0))
}

fn init(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let start = call.argument(2)?;
    let place = Place { atomic: false, ..value(context, call)? };
    let start = context.settle_as(start, IntType::U32);
    if matches!(start, Expr::Const(0..=SEM_VALUE_MAX, _)) {
        context.builder.set(Lhs::Memory(place), start);
        return answer_int(0);
    }
    let cell = context.result_cell(call);
    let (good, bad, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let fits = Expr::binary(BinaryOp::Le, IntType::U32, start.clone(), number(SEM_VALUE_MAX));
    context.builder.branch(fits, good, bad);
    context.builder.continue_at(bad);
    errno::set(context, EINVAL);
    context.put(cell, -1);
    context.builder.jump(done);
    context.builder.continue_at(good);
    context.builder.set(Lhs::Memory(place), start);
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

/// Opens a semaphore that has a name, or gives null. One that was not made by this call has a value that is
/// not modelled.
fn open(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    /// `O_CREAT` and `O_EXCL`: there was none before.
    const NEW: Value = 0o300;
    let (name, flags) = (call.argument(0)?, call.argument(1)?);
    let is_new = flags.constant.is_some_and(|flags| flags & NEW == NEW);
    let start = call.argument(3).filter(|_| is_new);
    if is_new && start.is_none() {
        return None;
    }
    super::printing::read_pointee(context, name);
    context.assume(call, "that the same semaphore is opened again is not followed", true);
    let ty = context.pointer();
    let start = start.map(|start| context.settle_as(start, IntType::U32));
    let result = context.builder.save(Expr::int(0, ty), ty);
    context.perhaps(|context| {
        let size = Expr::int(Value::from(4 * ty.bytes()), ty);
        let made = Expr::Local(super::memory::allocate(context, call, size, true, ObjectRole::Automatic));
        let value = match start {
            Some(start) => {
                let fits = Expr::binary(BinaryOp::Le, IntType::U32, start.clone(), number(SEM_VALUE_MAX));
                context.builder.emit(Op::Assume(fits));
                start
            }
            None => super::outside::unknown_between(context, IntType::U32, 0, SEM_VALUE_MAX),
        };
        let place = context.plain_word(&made, 0);
        context.builder.set(Lhs::Memory(place), value);
        context.builder.set(Lhs::Local(result), made);
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// A semaphore or its name is of no more use.
fn close(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let closed = call.argument(0)?;
    if call.name == "sem_unlink" {
        super::printing::read_pointee(context, closed);
    }
    super::input::between(context, call, -1, 0)
}

fn wait(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let place = value(context, call)?;
    let from = context.waiting_here(SharedObject::Semaphore);
    context.enter_atomic(from, Op::Assume(is_not_zero(&place)));
    context.leave_atomic(one_less(&place));
    answer_int(0)
}

/// Trying now or waiting until a time are the same: one may be had, or there is none at some moment.
fn try_wait(context: &mut Context<'_>, call: &Call<'_>, failure: Expr) -> Option<Answer> {
    let place = value(context, call)?;
    let cell = context.result_cell(call);
    let (from, none, done) = (context.builder.here(), context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(is_zero(&place)), none);
    context.enter_atomic(from, Op::Assume(is_not_zero(&place)));
    context.leave_atomic(one_less(&place));
    context.put(cell, 0);
    context.builder.jump(done);
    context.unordered_from(from);
    context.builder.jump(none);
    context.builder.continue_at(none);
    errno::set_to(context, failure);
    context.put(cell, -1);
    context.builder.place(done);
    answer_cell(cell)
}

fn post(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let place = value(context, call)?;
    let cell = context.result_cell(call);
    let (from, full, done) = (context.builder.here(), context.builder.label(), context.builder.label());
    let is_full = equal(IntType::U32, Expr::load(place.clone()), number(SEM_VALUE_MAX));
    context.builder.alternative(Op::Assume(is_full.clone()), full);
    context.enter_atomic(from, Op::Assume(is_full.not()));
    let more = Expr::binary(BinaryOp::Add, IntType::U32, Expr::load(place.clone()), number(1));
    context.leave_atomic(Op::set(Lhs::Memory(place), more));
    context.put(cell, 0);
    context.builder.jump(done);
    if cell.is_some() {
        context.unordered_from(from);
        context.builder.jump(full);
    }
    context.builder.continue_at(full);
    errno::set(context, EOVERFLOW);
    context.put(cell, -1);
    context.builder.place(done);
    answer_cell(cell)
}

fn get_value(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let target = call.argument(1)?;
    let place = value(context, call)?;
    let pointer = context.settle_pointer(target);
    let now = context.builder.temporary(IntType::U32);
    let (from, done) = (context.builder.here(), context.builder.label());
    context.builder.alternative(Op::set(Lhs::Local(now), Expr::load(place)), done);
    context.unordered_from(from);
    let any = context.open_value(IntType::U32, Rhs::Unknown, |value| {
        Some(Expr::binary(BinaryOp::Le, IntType::U32, value, number(SEM_VALUE_MAX)))
    });
    context.builder.set(Lhs::Local(now), any);
    context.builder.place(done);
    let now = context.convert(Expr::Local(now), target.target_type().unwrap_or(IntType::I32));
    context.store_through(target, pointer, |lhs| Op::set(lhs, now));
    answer_int(0)
}

/// The words of a barrier.
struct Barrier {
    address: Expr,
}

impl Barrier {
    const THREADS: u64 = 0;
    const ARRIVED: u64 = 4;
    const LEAVING: u64 = 8;

    fn new(context: &mut Context<'_>, call: &Call<'_>) -> Option<Self> {
        let barrier = call.argument(0)?;
        (!barrier.is_smaller_than(12)).then(|| Self { address: context.settle_pointer(barrier) })
    }
}

fn barrier_init(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let threads = call.argument(2)?;
    let barrier = Barrier::new(context, call)?;
    let threads = context.settle_as(threads, IntType::U32);
    let cell = context.result_cell(call);
    let (good, bad, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(differ(IntType::U32, threads.clone(), number(0)), good, bad);
    context.builder.continue_at(bad);
    context.put(cell, EINVAL);
    context.builder.jump(done);
    context.builder.continue_at(good);
    context.touch(call, 1, Touch::Read);
    let words =
        vec![(Barrier::LEAVING, number(0)), (Barrier::ARRIVED, number(0)), (Barrier::THREADS, threads)];
    context.store_words(&barrier.address, words);
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

fn barrier_wait(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let barrier = Barrier::new(context, call)?;
    let cell = context.result_cell(call);
    let [threads, arrived, leaving] =
        [Barrier::THREADS, Barrier::ARRIVED, Barrier::LEAVING].map(|at| context.word(&barrier.address, at));
    let from = context.waiting_here(SharedObject::Barrier);
    let (last, done) = (context.builder.label(), context.builder.label());
    // All of the last round have left: arrive.
    context.enter_atomic(from, Op::Assume(is_zero(&leaving)));
    let with_me = Expr::binary(BinaryOp::Add, IntType::U32, Expr::load(arrived.clone()), number(1));
    let with_me = Expr::Local(context.builder.save(with_me, IntType::U32));
    let all = Expr::Local(context.builder.save(Expr::load(threads), IntType::U32));
    let (complete, incomplete) = (context.builder.label(), context.builder.label());
    context.builder.branch(equal(IntType::U32, with_me.clone(), all.clone()), complete, incomplete);
    context.builder.continue_at(complete);
    context.builder.set(Lhs::Memory(arrived.clone()), number(0));
    let others = Expr::binary(BinaryOp::Sub, IntType::U32, all, number(1));
    context.builder.alternative(Op::set(Lhs::Memory(leaving.clone()), others), last);
    context.builder.continue_at(incomplete);
    context.leave_atomic(Op::set(Lhs::Memory(arrived), with_me));
    // Wait for the last one, and leave.
    let waiting = context.waiting_here(SharedObject::Barrier);
    context.enter_atomic(waiting, Op::Assume(is_not_zero(&leaving)));
    context.leave_atomic(one_less(&leaving));
    context.put(cell, 0);
    context.builder.jump(done);
    context.builder.continue_at(last);
    context.put(cell, SERIAL_THREAD);
    context.builder.place(done);
    answer_cell(cell)
}

/// Waits until all have left, as glibc does, so that the memory may be given back.
fn barrier_destroy(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let barrier = Barrier::new(context, call)?;
    let leaving = context.word(&barrier.address, Barrier::LEAVING);
    context.waiting_here(SharedObject::Barrier);
    context.builder.emit(Op::Assume(is_zero(&leaving)));
    context.in_races(Op::set(Lhs::Memory(Place { atomic: false, ..leaving }), number(0)));
    Some(Answer::Value(int(0)))
}
