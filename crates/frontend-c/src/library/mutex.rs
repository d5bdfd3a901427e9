//! Mutexes and spin locks, and their C11 names.
//!
//! A mutex is taken and given back by lock operations; what the error-checking and recursive kinds answer
//! is decided on its words. Its kind is read into a local of its own name, so that
//! [`super::simplify`](mod@super::simplify) can drop the question in programs that have normal mutexes
//! only. A type too small for a kind word (some programs declare their own) is a plain lock of one word.
//!
//! Deviation: robust mutexes do not report that their owner died (limits proofs).

use super::emit::{Touch, answer_cell, clears_first, differ, equal, int, myself, nothing_happens, number};
use super::errno::{EBUSY, EDEADLK, EINVAL, EPERM};
use super::times::{Timeout, timeout};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::semantics::mutex_kind_offset;
use ir::{BinaryOp, Expr, IntType, Lhs, LocalId, LockKind, Op, Place, Value};

/// The local that a mutex's kind is read into.
pub(super) const KIND: &str = "%mutex kind";
/// The local that the kind of new mutexes is saved in.
pub(super) const NEW_KIND: &str = "%new mutex kind";
/// As glibc numbers them; a normal one is 0.
pub(super) const RECURSIVE: Value = 1;
/// As glibc numbers them.
pub(super) const ERROR_CHECKING: Value = 2;
/// The least size of a type that has room for owner, count and kind.
const SMALLEST: u64 = 20;
/// C11's results.
const THRD_BUSY: Value = 1;
pub(super) const THRD_TIMEDOUT: Value = 4;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["pthread_mutex_init"], wins: Wins::Model, model: init },
    Entry { names: &["mtx_init"], wins: Wins::Model, model: init_c11 },
    Entry { names: &["pthread_mutex_lock", "mtx_lock"], wins: Wins::Model, model: lock_call },
    Entry {
        names: &["pthread_mutex_trylock"],
        wins: Wins::Model,
        model: |c, call| try_call(c, call, EBUSY, None),
    },
    Entry { names: &["mtx_trylock"], wins: Wins::Model, model: |c, call| try_call(c, call, THRD_BUSY, None) },
    Entry {
        names: &["pthread_mutex_timedlock", "pthread_mutex_clocklock", "mtx_timedlock"],
        wins: Wins::Model,
        model: |c, call| timeout(c, call).and_then(|timeout| try_call(c, call, 0, Some(timeout))),
    },
    Entry { names: &["pthread_mutex_unlock", "mtx_unlock"], wins: Wins::Model, model: unlock_call },
    Entry { names: &["pthread_mutexattr_init"], wins: Wins::Model, model: attribute_init },
    Entry {
        names: &["pthread_mutexattr_settype", "pthread_mutexattr_setkind_np"],
        wins: Wins::Model,
        model: attribute_set,
    },
    Entry {
        names: &["pthread_mutexattr_gettype", "pthread_mutexattr_getkind_np"],
        wins: Wins::Model,
        model: attribute_get,
    },
    Entry {
        names: &["pthread_mutexattr_setrobust", "pthread_mutexattr_setrobust_np"],
        wins: Wins::Model,
        model: |context, call| {
            context.assume(call, "no mutex reports that its owner died", true);
            context.touch(call, 0, Touch::Change);
            context.undecided_for_deadlocks();
            Some(Answer::Value(int(0)))
        },
    },
    Entry {
        names: &[
            "pthread_mutexattr_getpshared",
            "pthread_mutexattr_getrobust",
            "pthread_mutexattr_getrobust_np",
            "pthread_mutexattr_getprotocol",
            "pthread_mutexattr_getprioceiling",
            "pthread_mutex_getprioceiling",
            "pthread_condattr_getpshared",
            "pthread_condattr_getclock",
        ],
        wins: Wins::Model,
        model: |context, call| {
            let target = call.argument(1)?;
            context.touch(call, 0, Touch::Read);
            let pointer = context.settle_pointer(target);
            context.store_through(target, pointer, Op::unknown);
            Some(Answer::Value(int(0)))
        },
    },
    Entry {
        names: &[
            "pthread_mutex_destroy",
            "mtx_destroy",
            "pthread_mutexattr_destroy",
            "pthread_spin_destroy",
            "pthread_condattr_init",
            "pthread_condattr_destroy",
            "pthread_condattr_setpshared",
            "pthread_condattr_setclock",
        ],
        wins: Wins::Model,
        model: clears_first,
    },
    Entry {
        names: &[
            "pthread_mutexattr_setpshared",
            "pthread_mutexattr_setprotocol",
            "pthread_mutexattr_setprioceiling",
        ],
        wins: Wins::Model,
        model: |context, call| {
            context.touch(call, 0, Touch::Change);
            Some(Answer::Value(int(0)))
        },
    },
    Entry {
        names: &["pthread_mutex_consistent", "pthread_mutex_consistent_np"],
        wins: Wins::Model,
        model: nothing_happens,
    },
    Entry { names: &["pthread_spin_init"], wins: Wins::Model, model: spin_init },
    Entry { names: &["pthread_spin_lock"], wins: Wins::Model, model: |c, call| spin(c, call, Op::Lock) },
    Entry { names: &["pthread_spin_unlock"], wins: Wins::Model, model: |c, call| spin(c, call, Op::Unlock) },
    Entry { names: &["pthread_spin_trylock"], wins: Wins::Model, model: spin_try },
];

/// A mutex argument, made ready.
pub(super) struct Mutex {
    address: Expr,
    /// Whether it has a kind.
    pub(super) full: bool,
}

impl Mutex {
    pub(super) fn new(context: &mut Context<'_>, argument: &Argument) -> Self {
        Self { address: context.settle_pointer(argument), full: !argument.is_smaller_than(SMALLEST) }
    }
    pub(super) fn lock(&self) -> Op {
        Op::Lock(self.lock_kind(), self.address.clone())
    }
    pub(super) fn unlock(&self) -> Op {
        Op::Unlock(self.lock_kind(), self.address.clone())
    }
    fn lock_kind(&self) -> LockKind {
        if self.full { LockKind::Mutex } else { LockKind::Spin }
    }
    fn owner(&self, context: &Context<'_>) -> Expr {
        Expr::load(context.word(&self.address, 0))
    }
    fn kind_place(&self, context: &Context<'_>) -> Place {
        context.word(&self.address, mutex_kind_offset(context.program.data_model))
    }
    /// Reads the kind.
    fn kind(&self, context: &mut Context<'_>) -> Expr {
        let kind = context.named_local(KIND, IntType::U32);
        let place = self.kind_place(context);
        context.builder.set(Lhs::Local(kind), Expr::load(place));
        Expr::Local(kind)
    }
}

fn init(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (mutex, attribute) =
        (call.argument(0)?, call.arguments.get(1).filter(|attribute| !attribute.is_always_null()));
    let mutex = Mutex::new(context, mutex);
    let mut kind = number(0);
    if let Some(attribute) = attribute.filter(|attribute| !attribute.is_smaller_than(4)) {
        let pointer = context.settle_pointer(attribute);
        let local = context.builder.save(number(0), IntType::U32);
        let place = context.plain_word(&pointer, 0);
        context.unless_null(attribute, pointer, |context| {
            context.builder.set(Lhs::Local(local), Expr::load(place));
        });
        kind = Expr::Local(local);
    }
    set_up(context, &mutex, kind);
    Some(Answer::Value(int(0)))
}

fn init_c11(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (mutex, flags) = (call.argument(0)?, call.argument(1)?);
    let mutex = Mutex::new(context, mutex);
    let flags = context.settle_as(flags, IntType::U32);
    let kind = match flags {
        Expr::Const(flags, _) => number(flags & RECURSIVE),
        flags => Expr::binary(BinaryOp::And, IntType::U32, flags, number(RECURSIVE)),
    };
    let kind = save_new_kind(context, kind);
    set_up(context, &mutex, kind);
    Some(Answer::Value(int(0)))
}

fn save_new_kind(context: &mut Context<'_>, kind: Expr) -> Expr {
    let local = context.named_local(NEW_KIND, IntType::U32);
    context.builder.set(Lhs::Local(local), kind);
    Expr::Local(local)
}

fn set_up(context: &mut Context<'_>, mutex: &Mutex, kind: Expr) {
    let mut words = vec![(0, number(0))];
    if mutex.full {
        words.extend([(4, number(0)), (mutex_kind_offset(context.program.data_model), kind)]);
    }
    context.store_words(&mutex.address, words);
}

fn lock_call(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let mutex = Mutex::new(context, call.argument(0)?);
    let cell = context.result_cell(call);
    let done = context.builder.label();
    if mutex.full {
        refuse_own(context, &mutex, cell, done);
    }
    context.builder.emit(mutex.lock());
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

/// An error-checking mutex that the thread already has is not waited for: goes to `done` with `EDEADLK`.
/// Whether the thread has it is changed by no other thread, so this need not be one step with what comes
/// next.
fn refuse_own(context: &mut Context<'_>, mutex: &Mutex, cell: Option<LocalId>, done: ir::LocationId) {
    let kind = mutex.kind(context);
    let (checking, mine, go_on) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(equal(IntType::U32, kind, number(ERROR_CHECKING)), checking, go_on);
    context.builder.continue_at(checking);
    let owner = mutex.owner(context);
    context.builder.branch(equal(IntType::U32, owner, myself()), mine, go_on);
    context.builder.continue_at(mine);
    context.put(cell, EDEADLK);
    context.builder.jump(done);
    context.builder.continue_at(go_on);
}

/// Takes a mutex, or fails: with a number, or as a wait until a time does.
fn try_call(
    context: &mut Context<'_>,
    call: &Call<'_>,
    failure: Value,
    timeout: Option<Timeout>,
) -> Option<Answer> {
    let mutex = Mutex::new(context, call.argument(0)?);
    let cell = context.result_cell(call);
    let done = context.builder.label();
    if timeout.is_some() && mutex.full {
        refuse_own(context, &mutex, cell, done);
    }
    // Trying now or waiting until a time are the same: the lock is had, or it is held by someone at some
    // moment.
    let (have, from) = (context.builder.label(), context.builder.here());
    context.builder.alternative(mutex.lock(), have);
    // C17 (7.26.4.5) lets `mtx_trylock` fail for no reason, which common libraries do not do.
    let no_reason = (call.name == "mtx_trylock").then(|| context.builder.label());
    if let Some(no_reason) = no_reason {
        context.builder.alternative(Op::Assume(Expr::bool(true)), no_reason);
    }
    let owner = mutex.owner(context);
    if mutex.full {
        context.enter_atomic(from, Op::Assume(differ(IntType::U32, owner.clone(), number(0))));
        let (mine, again, held) = (context.builder.label(), context.builder.label(), context.builder.label());
        context.builder.branch(equal(IntType::U32, owner.clone(), myself()), mine, held);
        context.builder.continue_at(mine);
        let kind = mutex.kind(context);
        context.builder.branch(equal(IntType::U32, kind, number(RECURSIVE)), again, held);
        context.builder.continue_at(again);
        // It is still the thread's own, so that nobody waits here.
        context.builder.alternative(mutex.lock(), have);
        context.builder.alternative(Op::Assume(differ(IntType::U32, owner, myself())), held);
        context.builder.continue_at(held);
        context.builder.atomic_end();
    } else {
        context.builder.emit(Op::Assume(differ(IntType::U32, owner, number(0))));
    }
    let failed = context.builder.here();
    context.unordered_from(from);
    context.builder.jump(failed);
    context.builder.continue_at(failed);
    match &timeout {
        Some(timeout) => context.put_timeout(cell, timeout),
        None => context.put(cell, failure),
    }
    context.builder.jump(done);
    if let Some(no_reason) = no_reason {
        context.builder.continue_at(no_reason);
        context.lose_path();
        context.put(cell, failure);
        context.builder.jump(done);
    }
    context.builder.continue_at(have);
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

fn unlock_call(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let mutex = Mutex::new(context, call.argument(0)?);
    let cell = context.result_cell(call);
    let done = context.builder.label();
    if mutex.full {
        refuse_foreign(context, &mutex, cell, done);
    }
    context.builder.emit(mutex.unlock());
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

/// A recursive or error-checking mutex that the thread does not have is not given back: goes to `done` with
/// `EPERM`.
pub(super) fn refuse_foreign(
    context: &mut Context<'_>,
    mutex: &Mutex,
    cell: Option<LocalId>,
    done: ir::LocationId,
) {
    let kind = mutex.kind(context);
    let (asking, foreign, go_on) =
        (context.builder.label(), context.builder.label(), context.builder.label());
    let below = Expr::binary(BinaryOp::Sub, IntType::U32, kind, number(RECURSIVE));
    let asks = Expr::binary(BinaryOp::Lt, IntType::U32, below, number(ERROR_CHECKING));
    context.builder.branch(asks, asking, go_on);
    context.builder.continue_at(asking);
    let owner = mutex.owner(context);
    context.builder.branch(equal(IntType::U32, owner, myself()), go_on, foreign);
    context.builder.continue_at(foreign);
    context.put(cell, EPERM);
    context.builder.jump(done);
    context.builder.continue_at(go_on);
}

fn attribute_init(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let attribute = call.argument(0)?;
    if !attribute.is_smaller_than(4) {
        let attribute = context.settle_pointer(attribute);
        context.store_words(&attribute, vec![(0, number(0))]);
    }
    Some(Answer::Value(int(0)))
}

fn attribute_set(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (attribute, kind) = (call.argument(0)?, call.argument(1)?);
    if attribute.is_smaller_than(4) {
        return None;
    }
    let attribute = context.settle_pointer(attribute);
    let kind = context.settle_as(kind, IntType::U32);
    let kind = save_new_kind(context, kind);
    let cell = context.result_cell(call);
    let (good, bad, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(Expr::binary(BinaryOp::Lt, IntType::U32, kind.clone(), number(4)), good, bad);
    context.builder.continue_at(bad);
    context.put(cell, EINVAL);
    context.builder.jump(done);
    context.builder.continue_at(good);
    context.store_words(&attribute, vec![(0, kind)]);
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

fn attribute_get(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (attribute, target) = (call.argument(0)?, call.argument(1)?);
    if attribute.is_smaller_than(4) {
        return None;
    }
    let attribute = context.settle_pointer(attribute);
    let pointer = context.settle_pointer(target);
    let place = context.plain_word(&attribute, 0);
    let kind = Expr::Local(context.builder.save(Expr::load(place), IntType::U32));
    let kind = context.convert(kind, target.target_type().unwrap_or(IntType::I32));
    context.store_through(target, pointer, |lhs| Op::set(lhs, kind));
    Some(Answer::Value(int(0)))
}

fn spin_init(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let lock = call.argument(0)?;
    let lock = context.settle_pointer(lock);
    context.store_words(&lock, vec![(0, number(0))]);
    Some(Answer::Value(int(0)))
}

fn spin(context: &mut Context<'_>, call: &Call<'_>, op: fn(LockKind, Expr) -> Op) -> Option<Answer> {
    let lock = call.argument(0)?;
    let lock = context.settle_pointer(lock);
    context.builder.emit(op(LockKind::Spin, lock));
    Some(Answer::Value(int(0)))
}

fn spin_try(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let lock = call.argument(0)?;
    let lock = context.settle_pointer(lock);
    let cell = context.result_cell(call);
    let (have, held, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let from = context.builder.here();
    let owner = Expr::load(context.word(&lock, 0));
    context.builder.alternative(Op::Lock(LockKind::Spin, lock), have);
    context.builder.alternative(Op::Assume(differ(IntType::U32, owner, number(0))), held);
    context.unordered_from(from);
    context.builder.jump(held);
    context.builder.continue_at(held);
    context.put(cell, EBUSY);
    context.builder.jump(done);
    context.builder.continue_at(have);
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}
