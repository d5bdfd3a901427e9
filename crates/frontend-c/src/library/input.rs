//! What comes from outside: files, the clock, random numbers. All of it is the program's input, hence
//! arbitrary and exact.
//!
//! Input bytes are copied from an object whose bytes are open for ever; a copy keeps them open, so each is
//! chosen when the program first reads it. Input of more bytes than that object has is copied in parts.
//! Where a program can read what it wrote or put back itself, what it reads is not modelled.
//! Input into what is known to hold pointers is not modelled (limits proofs, and no violation is believed).

use super::emit::{answer_int, atomic_place, differ};
use super::printing::{read_bytes, read_pointees};
use super::times::{MOST_MICROSECONDS, MOST_NANOSECONDS, store_small_part};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, DataModel, Expr, Initial, IntType, Layout, Lhs, Object, ObjectRole, Op, Place, Program};
use ir::{Rhs, Storage, Value};

/// The most bytes of one input.
pub(super) const MOST: u64 = 4096;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["rand", "random"], wins: Wins::Body, model: random },
    Entry { names: &["drand48", "lrand48", "mrand48"], wins: Wins::Body, model: random_48 },
    Entry { names: &["srand48"], wins: Wins::Body, model: seed_48 },
    Entry { names: &["rand_r"], wins: Wins::Body, model: random_from_seed },
    Entry { names: &["srand", "srandom"], wins: Wins::Body, model: seed },
    Entry { names: &["time"], wins: Wins::Body, model: time },
    Entry { names: &["clock"], wins: Wins::Body, model: clock },
    Entry { names: &["gettid"], wins: Wins::Body, model: |c, call| c.answer_open(call, Rhs::Unknown) },
    Entry {
        names: &["gettimeofday"],
        wins: Wins::Body,
        model: |c, call| write_time(c, call, 0, MOST_MICROSECONDS, false),
    },
    Entry {
        names: &["times"],
        wins: Wins::Body,
        model: |context, call| {
            write_object(context, call.argument(0)?);
            context.answer_open(call, Rhs::Any)
        },
    },
    Entry {
        names: &["clock_gettime", "clock_getres"],
        wins: Wins::Body,
        model: |context, call| {
            // The time of day may be set back. Other clocks do not run backwards, which is modelled for one.
            let is_ordered = call.argument(0)?.constant != Some(0) || call.name != "clock_gettime";
            if call.argument(0)?.constant == Some(MONOTONIC)
                && call.name == "clock_gettime"
                && context.program.data_model == DataModel::Lp64
                && call.argument(1)?.pointee_size() == Some(16)
            {
                return ordered_time(context, call);
            }
            write_time(context, call, 1, MOST_NANOSECONDS, is_ordered)
        },
    },
    Entry {
        names: &["getchar", "getc", "fgetc", "getchar_unlocked", "getc_unlocked", "__uflow"],
        wins: Wins::Body,
        model: |context, call| match reads_itself(context.program) {
            true => unmodelled_between(context, call, -1, 255),
            false => between(context, call, -1, 255),
        },
    },
    Entry {
        names: &[
            "open",
            "open64",
            "creat",
            "openat",
            "socket",
            "dup",
            "epoll_create",
            "epoll_create1",
            "inotify_init",
            "inotify_init1",
            "inotify_add_watch",
            "timerfd_create",
            "openat64",
            "creat64",
            "posix_openpt",
            "dirfd",
            "signalfd",
        ],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            number_or_failure(context, call, 0)
        },
    },
    Entry {
        names: &["eventfd", "memfd_create"],
        wins: Wins::Body,
        model: |context, call| {
            comes_back(context.program);
            read_pointees(context, call);
            number_or_failure(context, call, 0)
        },
    },
    Entry { names: &["dup2", "dup3"], wins: Wins::Body, model: duplicate },
    // How a process ended, the group that was made: which number is not modelled.
    Entry { names: &["pclose"], wins: Wins::Body, model: |c, call| number_or_failure(c, call, 0) },
    Entry { names: &["setsid"], wins: Wins::Body, model: |c, call| number_or_failure(c, call, 1) },
    Entry {
        names: &["setpgrp"],
        wins: Wins::Body,
        model: |c, call| unmodelled_between(c, call, -1, 0x7fff_ffff),
    },
    Entry { names: &["nice"], wins: Wins::Body, model: |c, call| unmodelled_between(c, call, -20, 19) },
    Entry { names: &["umask"], wins: Wins::Body, model: |c, call| unmodelled_between(c, call, 0, 0o777) },
    // 0, or the number of an error.
    Entry {
        names: &["posix_fadvise", "posix_fallocate", "dlclose"],
        wins: Wins::Body,
        model: |c, call| {
            unmodelled_between(c, call, if call.name == "dlclose" { -0x8000_0000 } else { 0 }, 0x7fff_ffff)
        },
    },
    Entry {
        names: &["mlock", "munlock", "mlockall", "munlockall", "madvise"],
        wins: Wins::Body,
        model: |context, call| between(context, call, -1, 0),
    },
    Entry { names: &["setsockopt"], wins: Wins::Body, model: |c, call| take_bytes(c, call, 3, 4) },
    Entry { names: &["bind", "connect"], wins: Wins::Body, model: |c, call| take_bytes(c, call, 1, 2) },
    Entry {
        names: &[
            "close",
            "unlink",
            "remove",
            "rename",
            "mkdir",
            "rmdir",
            "chdir",
            "access",
            "listen",
            "shutdown",
            "fsync",
            "ftruncate",
            "truncate",
            "fseek",
            "chmod",
            "setpriority",
            "sched_setaffinity",
            "sched_setscheduler",
            "setrlimit",
            "closedir",
            "fclose",
            "fflush",
            "setenv",
            "unsetenv",
            "setpgid",
            "chown",
            "fchown",
            "lchown",
            "fchmod",
            "flock",
            "utimes",
            "utime",
            "futimes",
            "fchdir",
            "symlink",
            "link",
            "mkfifo",
            "mknod",
            "__xmknod",
            "__xmknodat",
            "fdatasync",
            "syncfs",
            "seteuid",
            "setegid",
            "setuid",
            "setgid",
            "setgroups",
            "initgroups",
            "tcsetattr",
            "tcflush",
            "tcdrain",
            "fallocate",
            "fseeko",
            "fsetpos",
            "unlinkat",
            "renameat",
            "mkdirat",
            "faccessat",
            "chroot",
            "killpg",
        ],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            between(context, call, -1, 0)
        },
    },
    Entry {
        names: &["putenv"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            if call.argument(0)?.text.is_none() {
                context.assume(
                    call,
                    "that its argument becomes a part of the environment is not followed",
                    true,
                );
            }
            between(context, call, -1, 0)
        },
    },
    Entry {
        names: &["read", "recv", "pread", "pread64"],
        wins: Wins::Body,
        model: |c, call| read(c, call, 1, 2),
    },
    Entry { names: &["getrandom"], wins: Wins::Body, model: |c, call| read(c, call, 0, 1) },
    Entry { names: &["getentropy"], wins: Wins::Body, model: fill_or_fail },
    Entry { names: &["fread", "fread_unlocked"], wins: Wins::Body, model: read_items },
    Entry { names: &["fgets", "fgets_unlocked"], wins: Wins::Body, model: read_line },
    Entry { names: &["popen"], wins: Wins::Body, model: open_handle },
    Entry {
        names: &["fopen", "fopen64", "fdopen"],
        wins: Wins::Body,
        model: |context, call| {
            // A stream for update can be read where it was written.
            if call.argument(1)?.text.as_deref().is_some_and(|mode| mode.contains(&b'+')) {
                comes_back(context.program);
            }
            open_handle(context, call)
        },
    },
    Entry {
        names: &["tmpfile", "tmpfile64"],
        wins: Wins::Body,
        model: |context, call| {
            comes_back(context.program);
            open_handle(context, call)
        },
    },
    Entry {
        names: &["fopencookie"],
        wins: Wins::Body,
        model: |context, call| {
            context.assume(call, "the functions that it is passed are not called", true);
            open_handle(context, call)
        },
    },
    Entry {
        names: &["dlopen"],
        wins: Wins::Body,
        model: |context, call| {
            context.assume(call, "what the library does that it loads is not modelled", true);
            open_handle(context, call)
        },
    },
    Entry { names: &["freopen", "freopen64"], wins: Wins::Body, model: open_again },
];

/// Any value within bounds.
pub(super) fn between(context: &mut Context<'_>, call: &Call<'_>, low: Value, high: Value) -> Option<Answer> {
    let Some(ty) = call.result else { return Some(Answer::Nothing) };
    Some(Answer::Value(any_between(context, ty, low, high)))
}

/// A value within bounds: the arguments, or what was done before, decide.
fn unmodelled_between(context: &mut Context<'_>, call: &Call<'_>, low: Value, high: Value) -> Option<Answer> {
    read_pointees(context, call);
    let Some(ty) = call.result else { return Some(Answer::Nothing) };
    Some(Answer::Value(super::outside::unknown_between(context, ty, low, high)))
}

/// A number from `least` on, or -1. Whether it fails is an input; which number the system gives is not,
/// since it depends on the numbers that are in use: a file has another number than all that are open.
pub(super) fn number_or_failure(context: &mut Context<'_>, call: &Call<'_>, least: Value) -> Option<Answer> {
    let Some(ty) = call.result else { return Some(Answer::Nothing) };
    let result = context.builder.save(Expr::int(-1, ty), ty);
    context.perhaps(|context| {
        let number = super::outside::unknown_between(context, ty, least, ty.max());
        context.builder.set(Lhs::Local(result), number);
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// The same, where 0 is always one of the numbers.
pub(super) fn zero_or_number_or_failure(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let Answer::Value(number) = number_or_failure(context, call, 0)? else { return Some(Answer::Nothing) };
    let ty = call.result?;
    let result = context.builder.save(number, ty);
    context.perhaps(|context| context.builder.set(Lhs::Local(result), Expr::int(0, ty)));
    Some(Answer::Value(Expr::Local(result)))
}

/// The number that was asked for, or -1.
fn duplicate(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let number = context.settle_as(call.argument(1)?, IntType::I32);
    let result = context.builder.save(Expr::int(-1, IntType::I32), IntType::I32);
    context.perhaps(|context| context.builder.set(Lhs::Local(result), number));
    Some(Answer::Value(Expr::Local(result)))
}

/// Fills a buffer and gives 0; or gives -1, and nothing is known of the buffer.
fn fill_or_fail(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let size = signed_size(context, call.argument(1)?);
    let Answer::Value(count) = read(context, call, 0, 1)? else { return None };
    let is_full = Expr::binary(BinaryOp::Eq, IntType::I64, count, size);
    let [zero, failed] = [0, -1].map(|value| Expr::int(value, IntType::I32));
    Some(Answer::Value(Expr::IfThenElse(Box::new((is_full, zero, failed)))))
}

pub(super) fn any_between(context: &mut Context<'_>, ty: IntType, low: Value, high: Value) -> Expr {
    context.open_value(ty, Rhs::Any, |value| {
        let at_least = |bound| Expr::binary(BinaryOp::Le, ty, Expr::int(bound, ty), value.clone());
        let at_most = |bound| Expr::binary(BinaryOp::Le, ty, value.clone(), Expr::int(bound, ty));
        match (ty.contains(low), ty.contains(high)) {
            (true, true) => Some(at_least(low).and(at_most(high))),
            (true, false) => Some(at_least(low)),
            (false, _) => None,
        }
    })
}

/// Reads some bytes, and succeeds or not.
pub(super) fn take_bytes(
    context: &mut Context<'_>,
    call: &Call<'_>,
    value: usize,
    size: usize,
) -> Option<Answer> {
    let (value, size) = (call.argument(value)?, call.argument(size)?);
    let size = context.settle_pointer(size);
    let pointer = context.pointer();
    match (&value.pointee, value.constant) {
        // With GNU's extensions, addresses of sockets are passed in a union of all pointers to such.
        (None, None) => {
            let union = context.settle_pointer(value);
            let value = Expr::load(Place::pointee(union, pointer));
            let (pointee, function, text) = (None, None, None);
            let inside =
                Argument { value, ty: pointer, pointee, function, text, is_null: false, constant: None };
            read_bytes(context, &inside, size);
        }
        _ => read_bytes(context, value, size),
    }
    between(context, call, -1, 0)
}

/// The object that is there if the program can read what it wrote or put back itself.
const READS_ITSELF: &str = "what the program reads of its own";

/// Says that the program can read what it writes or puts back itself.
pub fn comes_back(program: &mut Program) {
    if !reads_itself(program) {
        program.objects.push(Object {
            name: READS_ITSELF.to_owned(),
            storage: Storage::Static,
            size: 1,
            align: 1,
            layout: Layout::Bytes(1),
            initial: Initial::Values(vec![]),
            span: ir::Span::default(),
            role: ObjectRole::Program,
        });
    }
}

/// Whether the program can read what it wrote or put back itself, as far as it is lowered.
pub fn reads_itself(program: &Program) -> bool {
    program.objects.iter().any(|object| object.name == READS_ITSELF)
}

/// The address of bytes that are open for ever.
pub(super) fn open_bytes(context: &mut Context<'_>) -> Expr {
    if reads_itself(context.program) {
        return unmodelled_bytes(context);
    }
    always_open(context, "bytes of input", Initial::Unknown)
}

/// The address of bytes that are not modelled.
pub(super) fn unmodelled_bytes(context: &mut Context<'_>) -> Expr {
    always_open(context, "bytes that are not modelled", Initial::NotModelled)
}

fn always_open(context: &mut Context<'_>, name: &str, initial: Initial) -> Expr {
    let object = context.own_object_with(name, Storage::Static, Layout::Bytes(MOST), MOST, initial);
    context.program.objects[object].role = ObjectRole::Open;
    Expr::Address(object, 0)
}

/// Reads the object that an argument points to, without a look at its bytes: those that are open stay so.
pub(super) fn read_object(context: &mut Context<'_>, argument: &Argument) {
    let Some(size) = argument.pointee_size().filter(|size| *size <= MOST) else { return };
    let name = "what the thread has read";
    let scratch = context.own_object(name, Storage::ThreadLocal, Layout::Bytes(MOST), MOST);
    let (from, size) = (context.settle_pointer(argument), Expr::int(Value::from(size), context.pointer()));
    let copy = Op::Copy(Expr::Address(scratch, 0), from.clone(), size);
    context.unless_null(argument, from, |context| context.builder.emit(copy));
}

/// Writes bytes that are not modelled to the object that an argument points to, unless it is null.
pub(super) fn write_object(context: &mut Context<'_>, target: &Argument) {
    let Some(size) = target.pointee_size() else { return };
    let to = context.settle_pointer(target);
    context.unless_null(target, to.clone(), |context| context.write_unmodelled(&to, size));
}

impl Context<'_> {
    /// Writes bytes that are not modelled.
    pub fn write_unmodelled(&mut self, to: &Expr, size: u64) {
        let ty = self.pointer();
        for start in (0..size).step_by(MOST as usize) {
            let from = unmodelled_bytes(self);
            let count = Expr::int(Value::from((size - start).min(MOST)), ty);
            let part = self.at_offset(to, start);
            self.builder.emit(Op::Copy(part, from, count));
        }
    }
}

/// Gives up on what an input writes.
pub(super) fn not_modelled(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    context.assume(call, "what it writes to memory is not modelled", true);
    context.lose_track();
    context.answer_open(call, Rhs::Unknown)
}

/// How often a sequence of random numbers was begun, up to twice.
fn seeds(context: &mut Context<'_>) -> Place {
    let object = context.own_object("seeds of rand", Storage::Static, Layout::Bytes(1), 1);
    atomic_place(Expr::Address(object, 0), IntType::U8)
}

/// Begins a sequence of random numbers.
fn seed(context: &mut Context<'_>, _: &Call<'_>) -> Option<Answer> {
    let seeds = seeds(context);
    let ty = IntType::U8;
    context.exchange(seeds, |old| {
        let is_first = Expr::binary(BinaryOp::Eq, ty, old, Expr::int(0, ty));
        Expr::IfThenElse(Box::new((is_first, Expr::int(1, ty), Expr::int(2, ty))))
    });
    Some(Answer::Nothing)
}

/// A number of the sequence: any, for the first one; others may be the same sequence, which is not modelled.
fn random(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let ty = call.result?;
    let range = (0, 0x7fff_ffff);
    let seeds = seeds(context);
    let result = context.builder.temporary(ty);
    let (again, first, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let is_again = Expr::binary(BinaryOp::Lt, IntType::U8, Expr::int(1, IntType::U8), Expr::load(seeds));
    context.builder.branch(is_again, again, first);
    context.builder.continue_at(again);
    let value = super::outside::unknown_between(context, ty, range.0, range.1);
    context.builder.set(Lhs::Local(result), value);
    context.builder.jump(done);
    context.builder.continue_at(first);
    let value = any_between(context, ty, range.0, range.1);
    context.builder.set(Lhs::Local(result), value);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The number of 48 bits that `drand48` and its like compute the next one from; POSIX leaves the first open.
fn number_48(context: &mut Context<'_>) -> Place {
    let (name, ty) = ("number of drand48", IntType::U64);
    let layout = Layout::Scalar(ty);
    let object = context.own_object_with(name, Storage::Static, layout, ty.bytes(), Initial::Unknown);
    atomic_place(Expr::Address(object, 0), ty)
}

/// Begins a sequence with the 32 bits of a seed.
fn seed_48(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let ty = IntType::U64;
    let seed = context.settle_as(call.argument(0)?, IntType::U32);
    let high = Expr::binary(BinaryOp::Shl, ty, Expr::cast(ty, seed), Expr::int(16, ty));
    let place = number_48(context);
    context.builder.set(Lhs::Memory(place), Expr::binary(BinaryOp::Add, ty, high, Expr::int(0x330e, ty)));
    Some(Answer::Nothing)
}

/// The next number of the sequence that POSIX defines: the upper bits of it, or, as a fraction, not modelled.
fn random_48(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let ty = IntType::U64;
    let of = |op, left, right| Expr::binary(op, ty, left, Expr::int(right, ty));
    let after = |number| {
        let product = of(BinaryOp::Mul, number, 0x5_deec_e66d);
        of(BinaryOp::And, of(BinaryOp::Add, product, 0xb), (1 << 48) - 1)
    };
    let place = number_48(context);
    let before = context.exchange(place, after);
    let number = Expr::Local(context.builder.save(after(Expr::Local(before)), ty));
    Some(match call.name {
        "lrand48" => Answer::Value(of(BinaryOp::Shr, number, 17)),
        "mrand48" => {
            let high = Expr::cast(IntType::U32, of(BinaryOp::Shr, number, 16));
            Answer::Value(Expr::cast(IntType::I32, high))
        }
        _ => context.answer_number(call),
    })
}

/// A number that depends on the seed, which is changed.
fn random_from_seed(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let seed = call.argument(0)?;
    let pointer = context.settle_pointer(seed);
    context.store_through(seed, pointer, Op::unknown);
    let Some(ty) = call.result else { return Some(Answer::Nothing) };
    Some(Answer::Value(super::outside::unknown_between(context, ty, 0, 0x7fff_ffff)))
}

/// The number of the clock that cannot be set, and never runs backwards.
const MONOTONIC: Value = 1;

/// Reads a number of the library itself and, at once, lets it grow or stay; gives the new one.
fn grow(context: &mut Context<'_>, name: &str, ty: IntType) -> Expr {
    let object = context.own_object(name, Storage::Static, Layout::Scalar(ty), ty.bytes());
    let place = atomic_place(Expr::Address(object, 0), ty);
    context.builder.atomic_begin();
    let old = Expr::Local(context.builder.save(Expr::load(place.clone()), ty));
    let new = context.open_value(ty, Rhs::Any, |new| Some(Expr::binary(BinaryOp::Le, ty, old, new)));
    context.builder.set(Lhs::Memory(place), new.clone());
    context.builder.atomic_end();
    new
}

/// The time that the process has used; -1 where that is not known. Numbers of 32 bits wrap around.
fn clock(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let Some(ty) = call.result.filter(|ty| ty.bits == 64) else {
        return context.answer_open(call, Rhs::Unknown);
    };
    let result = context.builder.save(Expr::int(-1, ty), ty);
    context.perhaps(|context| {
        let used = grow(context, "time that clock gave", IntType::I64);
        context.builder.set(Lhs::Local(result), Expr::cast(ty, used));
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// Stores a time of a clock that never runs backwards.
fn ordered_time(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let target = call.argument(1)?;
    // In nanoseconds, of which there is room for 292 years.
    let now = grow(context, "time of the monotonic clock", IntType::I64);
    store_parts(context, target, now, MOST_NANOSECONDS)
}

/// Stores a time that is one number of parts of a second: its seconds, and its parts after them.
fn store_parts(context: &mut Context<'_>, target: &Argument, now: Expr, most: Value) -> Option<Answer> {
    let (ty, to) = (IntType::I64, context.settle_pointer(target));
    let second = Expr::int(most + 1, ty);
    let [seconds, rest] =
        [BinaryOp::Div, BinaryOp::Rem].map(|op| Expr::binary(op, ty, now.clone(), second.clone()));
    let (first, last) = (Place::pointee(to.clone(), ty), Place::pointee(context.at_offset(&to, 8), ty));
    context.unless_null(target, to, |context| {
        context.builder.set(Lhs::Memory(first), seconds);
        context.builder.set(Lhs::Memory(last), rest);
    });
    answer_int(0)
}

/// Stores a time. Where its clock cannot be set back, the order of times is not modelled.
fn write_time(
    context: &mut Context<'_>,
    call: &Call<'_>,
    index: usize,
    most: Value,
    is_ordered: bool,
) -> Option<Answer> {
    let target = call.argument(index)?;
    target.pointee_size()?;
    let is_wide = context.program.data_model == DataModel::Lp64 && target.pointee_size() == Some(16);
    if !is_ordered && is_wide && !target.is_always_null() {
        // One number since 1970, so that time can pass in small steps.
        let now = any_between(context, IntType::I64, 0, IntType::I64.max());
        return store_parts(context, target, now, most);
    }
    if is_ordered {
        write_object(context, target);
    } else {
        fill_object(context, call, index)?;
    }
    store_small_part(context, target, most, !is_ordered);
    answer_int(0)
}

fn time(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let target = call.argument(0)?;
    let pointer = context.settle_pointer(target);
    let ty = target.target_type().or(call.result).unwrap_or(IntType::I64);
    let now = context.open_value(ty, Rhs::Any, |_| None);
    let stored = now.clone();
    context.store_through(target, pointer, |lhs| Op::set(lhs, stored));
    Some(Answer::Value(now))
}

/// Fills the object that an argument points to, and returns 0.
pub(super) fn fill_object(context: &mut Context<'_>, call: &Call<'_>, index: usize) -> Option<Answer> {
    let target = call.argument(index)?;
    let Some(size) = target.pointee_size().filter(|size| *size <= MOST) else {
        return not_modelled(context, call);
    };
    let pointer = context.settle_pointer(target);
    let (from, size) = (open_bytes(context), Expr::int(Value::from(size), context.pointer()));
    let to = pointer.clone();
    context.unless_null(target, pointer, |context| context.builder.emit(Op::Copy(to, from, size)));
    answer_int(0)
}

/// Copies `count` bytes of input, a pointer-wide number, which is at most `most` if that is known.
pub(super) fn copy_input(context: &mut Context<'_>, to: &Expr, count: Expr, most: Option<Value>) {
    let from = open_bytes(context);
    copy_repeated(context, to, from, count, most);
}

/// Copies a line of input of `count` bytes. One byte may be any; in a longer line a new line is the last, if
/// there is one, so which bytes it has is not modelled.
pub(super) fn copy_line(context: &mut Context<'_>, to: &Expr, count: Expr, most: Option<Value>) {
    let ty = context.pointer();
    let (long, short, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let is_long = Expr::binary(BinaryOp::Lt, ty, Expr::int(1, ty), count.clone());
    context.builder.branch(is_long, long, short);
    context.builder.continue_at(short);
    copy_input(context, to, count.clone(), Some(1));
    context.builder.jump(done);
    context.builder.continue_at(long);
    let from = unmodelled_bytes(context);
    copy_repeated(context, to, from, count, most);
    context.builder.place(done);
}

/// Copies `count` bytes from an object of [`MOST`] bytes, again and again from its start.
pub(super) fn copy_repeated(
    context: &mut Context<'_>,
    to: &Expr,
    from: Expr,
    count: Expr,
    most: Option<Value>,
) {
    let ty = context.pointer();
    if most.is_some_and(|most| most <= MOST as Value) {
        return context.builder.emit(Op::Copy(to.clone(), from, count));
    }
    let at = context.builder.save(Expr::int(0, ty), ty);
    let (head, part, last) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    let rest = Expr::binary(BinaryOp::Sub, ty, count, Expr::Local(at));
    let whole = Expr::int(MOST as Value, ty);
    context.builder.branch(Expr::binary(BinaryOp::Lt, ty, whole.clone(), rest.clone()), part, last);
    context.builder.continue_at(part);
    let target = context.sum(to.clone(), Expr::Local(at));
    context.builder.emit(Op::Copy(target, from.clone(), whole.clone()));
    let next = context.sum(Expr::Local(at), whole);
    context.builder.set(Lhs::Local(at), next);
    context.builder.jump(head);
    context.builder.continue_at(last);
    let target = context.sum(to.clone(), Expr::Local(at));
    context.builder.emit(Op::Copy(target, from, rest));
}

/// Any value from a bound up to another one, which is computed from locals.
pub(super) fn any_up_to(context: &mut Context<'_>, ty: IntType, low: Value, high: Expr) -> Expr {
    if let Expr::Const(high, _) = high {
        return any_between(context, ty, low, high);
    }
    context.open_value(ty, Rhs::Any, |value| {
        let at_least = Expr::binary(BinaryOp::Le, ty, Expr::int(low, ty), value.clone());
        Some(at_least.and(Expr::binary(BinaryOp::Le, ty, value, high)))
    })
}

/// A size as a signed number of 64 bits; one that is too large for that is the largest one.
pub(super) fn signed_size(context: &mut Context<'_>, size: &Argument) -> Expr {
    let ty = IntType::I64;
    if let Some(size) = size.constant.filter(|size| ty.contains(*size) && *size >= 0) {
        return Expr::int(size, ty);
    }
    let size = context.settle_pointer(size);
    let size = Expr::Local(context.builder.save(Expr::cast(ty, size), ty));
    let is_huge = Expr::binary(BinaryOp::Lt, ty, size.clone(), Expr::int(0, ty));
    Expr::IfThenElse(Box::new((is_huge, Expr::int(ty.max(), ty), size)))
}

/// Reads some bytes and returns how many; or -1.
pub(super) fn read(context: &mut Context<'_>, call: &Call<'_>, buffer: usize, size: usize) -> Option<Answer> {
    let (buffer, size) = (call.argument(buffer)?, call.argument(size)?);
    if holds_pointers(buffer) {
        return not_modelled(context, call);
    }
    let (to, most) = (context.settle_pointer(buffer), size.constant);
    let limit = signed_size(context, size);
    let count = any_up_to(context, IntType::I64, -1, limit);
    let (some, done) = (context.builder.label(), context.builder.label());
    let failed = differ(IntType::I64, count.clone(), Expr::int(-1, IntType::I64));
    context.builder.branch(failed, some, done);
    context.builder.continue_at(some);
    let bytes = context.convert(count.clone(), context.pointer());
    copy_input(context, &to, bytes, most);
    context.builder.place(done);
    Some(Answer::Value(count))
}

/// Whether a buffer is known to be for pointers: one that comes from outside may point to anything.
fn holds_pointers(buffer: &Argument) -> bool {
    buffer.pointee.as_ref().is_some_and(|pointee| pointee.has_pointer)
}

/// Reads some items of a size and returns how many.
fn read_items(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, width, count) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    if holds_pointers(buffer) {
        return not_modelled(context, call);
    }
    let ty = context.pointer();
    let most = width.constant.zip(count.constant).and_then(|(width, count)| width.checked_mul(count));
    let to = context.settle_pointer(buffer);
    let (width, count) = (context.settle_pointer(width), context.settle_pointer(count));
    let items = any_up_to(context, ty, 0, count);
    let bytes = Expr::binary(BinaryOp::Mul, ty, items.clone(), width);
    copy_input(context, &to, bytes, most);
    Some(Answer::Value(items))
}

/// Reads a line with a final zero and returns the buffer; or null.
fn read_line(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, size) = (call.argument(0)?, call.argument(1)?);
    let most = size.constant;
    if most.is_some_and(|most| most <= 0) {
        return not_modelled(context, call);
    }
    let ty = context.pointer();
    let to = context.settle_pointer(buffer);
    let limit = context.settle_as(size, IntType::I32);
    let result = context.builder.save(Expr::int(0, ty), ty);
    let some = any_between(context, IntType::BOOL, 0, 1);
    let has_room = Expr::binary(BinaryOp::Lt, IntType::I32, Expr::int(0, IntType::I32), limit.clone());
    let (line, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(some.and(has_room), line, done);
    context.builder.continue_at(line);
    let last = match most {
        Some(most) => Expr::int(most - 1, ty),
        None => Expr::binary(BinaryOp::Sub, ty, Expr::cast(ty, limit), Expr::int(1, ty)),
    };
    let length = any_up_to(context, ty, 0, last);
    copy_line(context, &to, length.clone(), most);
    let end = Place::pointee(context.sum(to.clone(), length), IntType::U8);
    context.builder.set(Lhs::Memory(end), Expr::int(0, IntType::U8));
    context.builder.set(Lhs::Local(result), to);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The stream that is passed, or null.
fn open_again(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let stream = call.argument(2)?;
    read_pointees(context, call);
    let (ty, stream) = (context.pointer(), context.settle_pointer(stream));
    let is_open = any_between(context, IntType::BOOL, 0, 1);
    Some(Answer::Value(Expr::IfThenElse(Box::new((is_open, stream, Expr::int(0, ty))))))
}

/// A handle that the program only passes on: null, or an object that nothing else is.
fn open_handle(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    read_pointees(context, call);
    let ty = context.pointer();
    let result = context.builder.save(Expr::int(0, ty), ty);
    let some = any_between(context, IntType::BOOL, 0, 1);
    let (opened, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(some, opened, done);
    context.builder.continue_at(opened);
    let handle = super::memory::allocate(context, call, Expr::int(1, ty), true, ObjectRole::Automatic);
    context.builder.set(Lhs::Local(result), Expr::Local(handle));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}
