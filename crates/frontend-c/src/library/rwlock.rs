//! Read-write locks. The first word is the writer, the second counts the readers; readers do not wait for
//! writers that wait.
//!
//! As in glibc, a thread that asks for a lock that it has for writing gets `EDEADLK`. (It alone can change
//! whether it has it, so that question is a step of its own, and the lock operation stays the only way out
//! of its location.) POSIX lets it wait for ever instead, so the deadlock check is undecided where a thread
//! does so. Deviation: a thread that asks for writing what it has for reading waits forever, as in glibc.

use super::emit::{Touch, answer_cell, clears_first, differ, equal, int, myself, number};
use super::errno::{EBUSY, EDEADLK};
use super::times::{Timeout, timeout};
use super::{Answer, Call, Context, Entry, Wins};
use ir::{Expr, IntType, LocalId, LocationId, LockKind, Op};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["pthread_rwlock_init"], wins: Wins::Model, model: init },
    Entry {
        names: &["pthread_rwlock_rdlock"],
        wins: Wins::Model,
        model: |c, call| lock(c, call, LockKind::Read),
    },
    Entry {
        names: &["pthread_rwlock_wrlock"],
        wins: Wins::Model,
        model: |c, call| lock(c, call, LockKind::Write),
    },
    Entry {
        names: &["pthread_rwlock_tryrdlock"],
        wins: Wins::Model,
        model: |c, call| try_lock(c, call, LockKind::Read, None),
    },
    Entry {
        names: &["pthread_rwlock_trywrlock"],
        wins: Wins::Model,
        model: |c, call| try_lock(c, call, LockKind::Write, None),
    },
    Entry {
        names: &["pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock"],
        wins: Wins::Model,
        model: |c, call| {
            timeout(c, call).and_then(|timeout| try_lock(c, call, LockKind::Read, Some(timeout)))
        },
    },
    Entry {
        names: &["pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock"],
        wins: Wins::Model,
        model: |c, call| {
            timeout(c, call).and_then(|timeout| try_lock(c, call, LockKind::Write, Some(timeout)))
        },
    },
    Entry { names: &["pthread_rwlock_unlock"], wins: Wins::Model, model: unlock },
    Entry {
        names: &[
            "pthread_rwlock_destroy",
            "pthread_rwlockattr_init",
            "pthread_rwlockattr_destroy",
            "pthread_rwlockattr_setpshared",
        ],
        wins: Wins::Model,
        model: clears_first,
    },
    Entry { names: &["pthread_rwlockattr_setkind_np"], wins: Wins::Model, model: set_kind },
];

/// Whether readers wait for writers that wait matters for deadlocks only. The first two kinds say that they
/// do not.
fn set_kind(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    if !call.argument(1)?.constant.is_some_and(|kind| (0..2).contains(&kind)) {
        context.assume(call, "for deadlocks, read-write locks that prefer writers are not modelled", false);
        context.undecided_for_deadlocks();
    }
    context.touch(call, 0, Touch::Clear);
    Some(Answer::Value(int(0)))
}

/// The lock's address, if its type has room for two words.
fn address(context: &mut Context<'_>, call: &Call<'_>) -> Option<Expr> {
    let lock = call.argument(0)?;
    (!lock.is_smaller_than(8)).then(|| context.settle_pointer(lock))
}

fn init(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let lock = address(context, call)?;
    context.touch(call, 1, Touch::Read);
    context.store_words(&lock, vec![(0, number(0)), (4, number(0))]);
    Some(Answer::Value(int(0)))
}

fn refuse_own(context: &mut Context<'_>, lock: &Expr, cell: Option<LocalId>, done: LocationId) {
    let (mine, go_on) = (context.builder.label(), context.builder.label());
    let owner = Expr::load(context.word(lock, 0));
    context.builder.branch(equal(IntType::U32, owner, myself()), mine, go_on);
    context.builder.continue_at(mine);
    context.undecided_for_deadlocks();
    context.put(cell, EDEADLK);
    context.builder.jump(done);
    context.builder.continue_at(go_on);
}

fn lock(context: &mut Context<'_>, call: &Call<'_>, kind: LockKind) -> Option<Answer> {
    let lock = address(context, call)?;
    let cell = context.result_cell(call);
    let done = context.builder.label();
    refuse_own(context, &lock, cell, done);
    context.builder.emit(Op::Lock(kind, lock));
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

fn try_lock(
    context: &mut Context<'_>,
    call: &Call<'_>,
    kind: LockKind,
    timeout: Option<Timeout>,
) -> Option<Answer> {
    let lock = address(context, call)?;
    let cell = context.result_cell(call);
    let done = context.builder.label();
    if timeout.is_some() {
        refuse_own(context, &lock, cell, done);
    }
    let (have, held) = (context.builder.label(), context.builder.label());
    let (owner, readers) = (context.word(&lock, 0), context.word(&lock, 4));
    let is_set = |place| Op::Assume(differ(IntType::U32, Expr::load(place), number(0)));
    let from = context.builder.here();
    context.builder.alternative(Op::Lock(kind, lock), have);
    context.builder.alternative(is_set(owner), held);
    if kind == LockKind::Write {
        context.builder.alternative(is_set(readers), held);
    }
    context.unordered_from(from);
    context.builder.jump(held);
    context.builder.continue_at(held);
    match &timeout {
        Some(timeout) => context.put_timeout(cell, timeout),
        None => context.put(cell, EBUSY),
    }
    context.builder.jump(done);
    context.builder.continue_at(have);
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

fn unlock(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let lock = address(context, call)?;
    context.builder.emit(Op::Unlock(LockKind::Write, lock));
    Some(Answer::Value(int(0)))
}
