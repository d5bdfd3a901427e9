//! Condition variables, and their C11 names.
//!
//! A wait gives the mutex back and takes it again: wake-ups may be spurious, so each wait may end at any
//! time, and signals need do nothing. That is all, except for the deadlock check, which must not rely on such
//! wake-ups. For it ([`ir::Waiting::Tracked`]) the first word of a condition holds a bit for each thread that
//! waits. A thread that waits properly sets its bit in the step that gives the mutex back, and continues when
//! the bit is clear. A signal clears any one bit that is set, a broadcast all. A wait may also end for no
//! reason; that is decided when it begins, which makes no difference: until it ends, signals go to others, or
//! have no effect, as if it had ended already. (Where a signal would have reached it, it waits properly.)
//!
//! Deviation: threads that are started as the 33rd or later and wait leave the deadlock check undecided.

use super::emit::{Touch, answer_cell, answer_int, clears_first, differ, equal, myself, number};
use super::mutex::{Mutex, refuse_foreign};
use super::times::{Timeout, timeout};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, Op, Place, SharedObject, UnaryOp, Value, Waiting};

/// Threads that have a bit.
const THREADS: Value = 32;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["pthread_cond_destroy", "cnd_destroy"], wins: Wins::Model, model: clears_first },
    Entry {
        names: &["pthread_cond_init", "cnd_init"],
        wins: Wins::Model,
        model: |context, call| {
            context.touch(call, 0, Touch::Clear);
            context.touch(call, 1, Touch::Read);
            wake_all(context, call)
        },
    },
    Entry {
        names: &["pthread_cond_broadcast", "cnd_broadcast"],
        wins: Wins::Model,
        model: |context, call| {
            use_atomically(context, call);
            wake_all(context, call)
        },
    },
    Entry { names: &["pthread_cond_signal", "cnd_signal"], wins: Wins::Model, model: signal },
    Entry {
        names: &["pthread_cond_wait", "cnd_wait"],
        wins: Wins::Model,
        model: |c, call| wait(c, call, None),
    },
    Entry {
        names: &["pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_timedwait"],
        wins: Wins::Model,
        model: |c, call| timeout(c, call).and_then(|timeout| wait(c, call, Some(timeout))),
    },
];

/// The word with the bits of the threads that wait; `None` when the type has no room for it.
fn waiters(context: &mut Context<'_>, condition: &Argument) -> Option<Place> {
    if condition.is_smaller_than(4) {
        return None;
    }
    let address = context.settle_pointer(condition);
    Some(context.word(&address, 0))
}

/// In the race check, changes the word atomically, as a signal or a wait does: it collides with copies, with
/// setting the condition up and with its end. No other part of that check looks at the word.
fn use_atomically(context: &mut Context<'_>, call: &Call<'_>) {
    if let Some(waiters) = call.argument(0).and_then(|condition| waiters(context, condition)) {
        context.in_races(Op::set(Lhs::Memory(waiters), number(0)));
    }
}

fn and(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::And, IntType::U32, left, right)
}

/// Nobody waits any more, or yet.
fn wake_all(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    if let Some(waiters) = waiters(context, call.argument(0)?) {
        context.for_deadlocks(|context| {
            let done = context.builder.label();
            context.mark_tracked(done);
            context.builder.alternative(Op::set(Lhs::Memory(waiters), number(0)), done);
            context.builder.continue_at(done);
        });
    }
    answer_int(0)
}

/// Wakes any one of those that wait.
fn signal(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    use_atomically(context, call);
    if let Some(waiters) = waiters(context, call.argument(0)?) {
        context.for_deadlocks(|context| {
            let (from, next) = (context.builder.here(), context.builder.label());
            let now = Expr::load(waiters.clone());
            let nobody = context.builder.label();
            context.mark_tracked(nobody);
            context.builder.alternative(Op::Assume(equal(IntType::U32, now.clone(), number(0))), nobody);
            context.builder.continue_at(nobody);
            context.builder.jump(next);
            for thread in 0..THREADS {
                let bit = number(1 << thread);
                let waits = differ(IntType::U32, and(now.clone(), bit.clone()), number(0));
                context.enter_atomic(from, Op::Assume(waits));
                let inside = context.builder.here();
                context.mark_tracked(inside);
                let others = and(now.clone(), number(IntType::U32.max() - (1 << thread)));
                context.leave_atomic(Op::set(Lhs::Memory(waiters.clone()), others));
                context.builder.jump(next);
            }
            context.builder.continue_at(next);
        });
    }
    answer_int(0)
}

fn wait(context: &mut Context<'_>, call: &Call<'_>, timeout: Option<Timeout>) -> Option<Answer> {
    let (condition, mutex) = (call.argument(0)?, call.argument(1)?);
    use_atomically(context, call);
    let waiters = waiters(context, condition);
    let mutex = Mutex::new(context, mutex);
    let cell = context.result_cell(call);
    let done = context.builder.label();
    if mutex.full {
        refuse_foreign(context, &mutex, cell, done);
    }
    if let Some(timeout) = &timeout {
        refuse_invalid(context, timeout, cell, done);
    }
    let timeout = timeout.map(|timeout| timeout.over);
    let (woken, timed_out) = (context.builder.label(), context.builder.label());
    // Ends for no reason, or, in other checks than that for deadlocks, for any.
    let spurious = context.builder.label();
    context.builder.template.locations[spurious].waiting = Waiting::Spurious;
    context.builder.alternative(mutex.unlock(), spurious);
    wait_properly(context, waiters, &mutex, woken, timeout.map(|_| timed_out));
    if let Some(timeout) = timeout {
        context.builder.continue_at(timed_out);
        context.builder.emit(mutex.lock());
        context.put(cell, timeout);
        context.builder.jump(done);
    }
    context.builder.continue_at(woken);
    context.builder.emit(mutex.lock());
    context.put(cell, 0);
    context.builder.jump(done);
    context.builder.continue_at(spurious);
    context.builder.emit(mutex.lock());
    match timeout {
        Some(timeout) => context.put_either(cell, 0, timeout),
        None => context.put(cell, 0),
    }
    context.builder.place(done);
    answer_cell(cell)
}

/// A wait until a time that is none does not begin: goes to `done`.
fn refuse_invalid(
    context: &mut Context<'_>,
    timeout: &Timeout,
    cell: Option<ir::LocalId>,
    done: ir::LocationId,
) {
    if timeout.is_invalid == Expr::bool(false) {
        return;
    }
    let (invalid, valid) = (context.builder.label(), context.builder.label());
    context.builder.branch(timeout.is_invalid.clone(), invalid, valid);
    context.builder.continue_at(invalid);
    context.put(cell, timeout.invalid);
    context.builder.jump(done);
    context.builder.continue_at(valid);
}

/// From the current location, what the deadlock check sees of a wait.
fn wait_properly(
    context: &mut Context<'_>,
    waiters: Option<Place>,
    mutex: &Mutex,
    woken: ir::LocationId,
    timed_out: Option<ir::LocationId>,
) {
    let from = context.builder.here();
    let lost = context.builder.label();
    context.mark_tracked(lost);
    let has_bit = Expr::binary(BinaryOp::Le, IntType::U32, myself(), number(THREADS));
    match waiters {
        None => context.builder.alternative(Op::Assume(Expr::bool(true)), lost),
        Some(waiters) => {
            context.builder.alternative(Op::Assume(has_bit.clone().not()), lost);
            context.enter_atomic(from, Op::Assume(has_bit));
            let inside = context.builder.here();
            context.mark_tracked(inside);
            let distance = Expr::binary(BinaryOp::Sub, IntType::U32, myself(), number(1));
            let bit = Expr::binary(BinaryOp::Shl, IntType::U32, number(1), distance);
            let bit = Expr::Local(context.builder.save(bit, IntType::U32));
            let now = Expr::load(waiters.clone());
            let with_me = Expr::binary(BinaryOp::Or, IntType::U32, now.clone(), bit.clone());
            context.builder.set(Lhs::Memory(waiters.clone()), with_me);
            context.leave_atomic(mutex.unlock());
            let is_woken = equal(IntType::U32, and(now.clone(), bit.clone()), number(0));
            match timed_out {
                None => {
                    context.waiting_here(SharedObject::Condition);
                    context.builder.alternative(Op::Assume(is_woken), woken);
                }
                Some(timed_out) => {
                    context.builder.alternative(Op::Assume(is_woken.clone()), woken);
                    let at = context.builder.here();
                    context.enter_atomic(at, Op::Assume(is_woken.not()));
                    let others = and(now, Expr::unary(UnaryOp::Not, IntType::U32, bit));
                    context.leave_atomic(Op::set(Lhs::Memory(waiters), others));
                    context.builder.jump(timed_out);
                }
            }
        }
    }
    context.builder.continue_at(lost);
    context.wait_unmodelled();
    context.builder.leave();
}
