//! What comes from the system, and what is asked of it: each function reads and writes what its contract says. What it
//! writes is not modelled, so nothing that depends on it is evidence; what it returns is an input where the world outside
//! decides, and not modelled, but within its bounds, where the arguments do.
//!
//! Functions that keep their result in memory of their own (`localtime`) are not safe in several threads. Whether that is
//! a race depends on the library: such calls are accesses that keep proofs away, and are no evidence.

use super::emit::{answer_int, truth};
use super::input::{between, unmodelled_bytes, write_object};
use super::memory::allocate;
use super::printing::{read_pointee, read_pointees};
use super::{Answer, Call, Context, Entry, Wins};
use ir::{Assignment, BinaryOp, Expr, IntType, Layout, Lhs, Op, Place, Rhs, Storage, Value};

const INT_MAX: Value = 0x7fff_ffff;

pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["getrusage", "getrlimit", "timer_gettime", "getitimer"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[1], Gives::Unknown(-1, 0)),
    },
    Entry {
        names: &["uname", "sysinfo"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[0], Gives::Zero),
    },
    Entry {
        names: &["mktime", "timegm"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[0], &[0], Gives::Unmodelled),
    },
    Entry { names: &["localtime_r", "gmtime_r"], wins: Wins::Body, model: time_into },
    Entry { names: &["asctime_r", "ctime_r"], wins: Wins::Body, model: text_of_time },
    Entry { names: &["localtime", "gmtime"], wins: Wins::Body, model: |c, call| own_result(c, call, 56) },
    Entry { names: &["asctime", "ctime"], wins: Wins::Body, model: |c, call| own_result(c, call, 26) },
    Entry { names: &["setlocale"], wins: Wins::Body, model: |c, call| own_result(c, call, 64) },
    Entry { names: &["select"], wins: Wins::Body, model: |c, call| select(c, call, &[1, 2, 3, 4]) },
    Entry { names: &["pselect"], wins: Wins::Body, model: |c, call| select(c, call, &[1, 2, 3]) },
    Entry { names: &["poll", "ppoll"], wins: Wins::Body, model: poll },
    Entry {
        names: &["epoll_ctl"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[3], &[], Gives::Input(-1, 0)),
    },
    Entry { names: &["epoll_wait", "epoll_pwait"], wins: Wins::Body, model: epoll_wait },
    Entry {
        names: &["sigaction"],
        wins: Wins::Body,
        model: |context, call| {
            if !call.argument(1)?.is_always_null() {
                context.assume(call, "no signal handler ever runs", true);
                context.undecided_for_deadlocks();
            }
            // SIGKILL and SIGSTOP cannot be handled.
            let is_plain = |signal: Value| (1..32).contains(&signal) && signal != 9 && signal != 19;
            let gives = match call.argument(0)?.constant {
                Some(signal) if is_plain(signal) => Gives::Zero,
                _ => Gives::Unknown(-1, 0),
            };
            effect(context, call, &[1], &[2], gives)
        },
    },
    Entry {
        names: &["signal", "sigset", "bsd_signal"],
        wins: Wins::Body,
        model: |context, call| {
            // SIG_DFL and SIG_IGN run nothing.
            if !call.argument(1)?.constant.is_some_and(|handler| (0..=1).contains(&handler)) {
                context.assume(call, "no signal handler ever runs", true);
                context.undecided_for_deadlocks();
            }
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry {
        names: &["alarm", "ualarm"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[], Gives::Unknown(0, INT_MAX)),
    },
    Entry {
        names: &["setitimer"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[1], &[2], Gives::Unknown(-1, 0)),
    },
    // What a signal does to the process is for its handler, which is noted where it is set.
    Entry {
        names: &["raise", "kill", "pthread_kill", "tgkill", "pause", "sigsuspend"],
        wins: Wins::Body,
        model: |context, call| {
            context.undecided_for_deadlocks();
            context.lose_path();
            read_pointees(context, call);
            give(context, call, Gives::Unmodelled)
        },
    },
    Entry {
        names: &["sigwait"],
        wins: Wins::Body,
        model: |context, call| {
            call.argument(1)?;
            context.undecided_for_deadlocks();
            context.lose_path();
            effect(context, call, &[0], &[1], Gives::Unknown(0, INT_MAX))
        },
    },
    Entry {
        names: &["execl", "execlp", "execv", "execvp", "execve"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            answer_int(-1)
        },
    },
    Entry {
        names: &["system"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[0], &[], Gives::Input(-1, 0xffff)),
    },
    Entry {
        names: &["wait"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[0], Gives::Unknown(-1, INT_MAX)),
    },
    Entry {
        names: &["waitpid"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[1], Gives::Unknown(-1, INT_MAX)),
    },
    Entry {
        names: &["getsockopt"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[4], &[3, 4], Gives::Input(-1, 0)),
    },
    Entry {
        names: &["inet_pton"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[1], &[2], Gives::Unknown(-1, 1)),
    },
    Entry {
        names: &["fcntl"],
        wins: Wins::Body,
        model: |context, call| match call.argument(2) {
            Some(argument) if argument.pointee.is_some() => None,
            _ => between(context, call, -1, INT_MAX),
        },
    },
    Entry { names: &["pipe", "pipe2"], wins: Wins::Body, model: |c, call| pair(c, call, 0) },
    Entry { names: &["socketpair"], wins: Wins::Body, model: |c, call| pair(c, call, 3) },
    Entry {
        names: &["sched_getaffinity"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[2], Gives::Unknown(-1, 0)),
    },
    Entry {
        names: &["pthread_getaffinity_np"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[2], Gives::Zero),
    },
    Entry {
        names: &["gethostname"],
        wins: Wins::Body,
        model: |c, call| buffer(c, call, (0, 1), Gives::Unknown(-1, 0)),
    },
    Entry {
        names: &["pthread_getname_np"],
        wins: Wins::Body,
        model: |c, call| buffer(c, call, (1, 2), Gives::Unknown(0, INT_MAX)),
    },
    Entry {
        names: &["readlink"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointee(context, call.argument(0)?);
            let most = call.argument(2)?.constant?;
            buffer(context, call, (1, 2), Gives::Input(-1, most))
        },
    },
    Entry {
        names: &["getcwd"],
        wins: Wins::Body,
        model: |c, call| buffer_or_null(c, call, (0, 1), Doubt::None),
    },
    Entry {
        names: &["inet_ntop"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointee(context, call.argument(1)?);
            buffer_or_null(context, call, (2, 3), Doubt::Null)
        },
    },
    Entry { names: &["mmap", "mmap64"], wins: Wins::Body, model: map },
    Entry { names: &["getopt", "getopt_long", "getopt_long_only"], wins: Wins::Body, model: option },
    Entry {
        names: &["frexp", "modf"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[1], Gives::Unmodelled),
    },
    Entry { names: &["htonl", "ntohl"], wins: Wins::Body, model: |c, call| swapped(c, call, IntType::U32) },
    Entry { names: &["htons", "ntohs"], wins: Wins::Body, model: |c, call| swapped(c, call, IntType::U16) },
    Entry { names: &["isatty"], wins: Wins::Body, model: |c, call| between(c, call, 0, 1) },
    Entry {
        names: &["lseek", "ftell", "ftello"],
        wins: Wins::Body,
        model: |c, call| between(c, call, -1, i64::MAX.into()),
    },
    Entry {
        names: &["fileno", "feof", "ferror", "ungetc"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[], Gives::Unknown(-1, INT_MAX)),
    },
];

/// What a function returns.
#[derive(Clone, Copy)]
enum Gives {
    /// 0.
    Zero,
    /// Any value within bounds: the world outside decides.
    Input(Value, Value),
    /// A value within bounds that is not modelled.
    Unknown(Value, Value),
    /// A value that is not modelled.
    Unmodelled,
}

fn give(context: &mut Context<'_>, call: &Call<'_>, gives: Gives) -> Option<Answer> {
    match gives {
        Gives::Zero => answer_int(0),
        Gives::Input(low, high) => between(context, call, low, high),
        Gives::Unknown(low, high) => {
            let Some(ty) = call.result else { return Some(Answer::Nothing) };
            Some(Answer::Value(unknown_between(context, ty, low, high)))
        }
        Gives::Unmodelled => context.answer_open(call, Rhs::Unknown),
    }
}

/// A value that is not modelled, within bounds.
pub(super) fn unknown_between(context: &mut Context<'_>, ty: IntType, low: Value, high: Value) -> Expr {
    context.open_value(ty, Rhs::Unknown, |value| {
        let (low, high) = (low.max(ty.min()), high.min(ty.max()));
        let at_least = Expr::binary(BinaryOp::Le, ty, Expr::int(low, ty), value.clone());
        Some(at_least.and(Expr::binary(BinaryOp::Le, ty, value, Expr::int(high, ty))))
    })
}

/// Reads some of the objects that are passed, writes others, and returns.
fn effect(
    context: &mut Context<'_>,
    call: &Call<'_>,
    reads: &[usize],
    writes: &[usize],
    gives: Gives,
) -> Option<Answer> {
    let is_known = |index: &usize| {
        call.argument(*index)
            .is_some_and(|argument| argument.is_always_null() || argument.pointee_size().is_some())
    };
    if !writes.iter().all(is_known) || reads.iter().any(|index| call.argument(*index).is_none()) {
        return None;
    }
    for &index in reads {
        read_pointee(context, call.argument(index)?);
    }
    for &index in writes {
        write_object(context, call.argument(index)?);
    }
    give(context, call, gives)
}

/// Writes some bytes of a buffer, at most as many as an argument says.
fn fill(context: &mut Context<'_>, call: &Call<'_>, (buffer, size): (usize, usize)) -> Option<Expr> {
    let (buffer, size) = (call.argument(buffer)?, call.argument(size)?);
    let most = size.constant.filter(|most| (1..=super::input::MOST as Value).contains(most))?;
    let pointer = context.settle_pointer(buffer);
    let (ty, to) = (context.pointer(), pointer.clone());
    context.unless_null(buffer, pointer.clone(), |context| {
        let count = unknown_between(context, ty, 0, most);
        let from = unmodelled_bytes(context);
        context.builder.emit(Op::Copy(to, from, count));
    });
    Some(pointer)
}

fn buffer(context: &mut Context<'_>, call: &Call<'_>, at: (usize, usize), gives: Gives) -> Option<Answer> {
    fill(context, call, at)?;
    give(context, call, gives)
}

/// What is not certain about a pointer that may be null.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// The world outside decides whether it is.
    None,
    /// The arguments decide, and in common cases it is not.
    Null,
}

/// A pointer, or null.
fn or_null(context: &mut Context<'_>, pointer: Expr, doubt: Doubt) -> Expr {
    let ty = context.pointer();
    let result = context.builder.save(pointer, ty);
    let (failed, done) = (context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    context.builder.alternative(Op::Assume(Expr::bool(true)), failed);
    context.builder.continue_at(failed);
    if doubt == Doubt::Null {
        context.lose_path();
    }
    context.builder.set(Lhs::Local(result), Expr::int(0, ty));
    context.builder.place(done);
    Expr::Local(result)
}

fn buffer_or_null(
    context: &mut Context<'_>,
    call: &Call<'_>,
    at: (usize, usize),
    doubt: Doubt,
) -> Option<Answer> {
    // Some libraries allocate where there is no buffer.
    if !call.argument(at.0)?.is_never_null() {
        return None;
    }
    let pointer = fill(context, call, at)?;
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    Some(Answer::Value(or_null(context, pointer, doubt)))
}

fn time_into(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (time, target) = (call.argument(0)?, call.argument(1)?);
    target.pointee_size()?;
    read_pointee(context, time);
    write_object(context, target);
    let pointer = context.settle_pointer(target);
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    Some(Answer::Value(or_null(context, pointer, Doubt::Null)))
}

/// Text of a fixed length, with a final zero.
fn text_of_time(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (time, target) = (call.argument(0)?, call.argument(1)?);
    read_pointee(context, time);
    let (pointer, ty) = (context.settle_pointer(target), context.pointer());
    let from = unmodelled_bytes(context);
    context.builder.emit(Op::Copy(pointer.clone(), from, Expr::int(25, ty)));
    let last = Place::pointee(context.behind(&pointer, 25), IntType::U8);
    context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    Some(Answer::Value(or_null(context, pointer, Doubt::Null)))
}

/// A result in memory that the function keeps, or null. The access there is at an address that is not certain, so that a race
/// is no evidence.
fn own_result(context: &mut Context<'_>, call: &Call<'_>, size: u64) -> Option<Answer> {
    read_pointees(context, call);
    let name = format!("result of {}", call.name);
    let layout = Layout::Bytes(2 * size);
    let object = context.own_object(&name, Storage::Static, layout, 2 * size);
    let ty = context.pointer();
    let distance = unknown_between(context, ty, 0, Value::from(size));
    let to = context.sum(Expr::Address(object, 0), distance);
    let from = unmodelled_bytes(context);
    context.builder.emit(Op::Copy(to, from, Expr::int(Value::from(size), ty)));
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    Some(Answer::Value(or_null(context, Expr::Address(object, 0), Doubt::Null)))
}

fn select(context: &mut Context<'_>, call: &Call<'_>, writes: &[usize]) -> Option<Answer> {
    let most = call.argument(0)?.constant.filter(|most| (0..=1024).contains(most));
    let gives = match most {
        Some(most) => Gives::Input(-1, 3 * most),
        None => Gives::Unknown(-1, 3 * 1024),
    };
    effect(context, call, &[1, 2, 3, 4], writes, gives)
}

/// Of each of the entries the last two bytes are written.
fn poll(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (entries, count) = (call.argument(0)?, call.argument(1)?);
    let count = count.constant.filter(|count| (0..=64).contains(count))?;
    let (pointer, ty) = (context.settle_pointer(entries), context.pointer());
    for index in 0..count as u64 {
        for offset in [0, 2] {
            let address = context.behind(&pointer, index * 8 + offset * 2);
            context.builder.save(Expr::load(Place::pointee(address, IntType::U16)), IntType::U16);
        }
        let (to, from) = (context.behind(&pointer, index * 8 + 6), unmodelled_bytes(context));
        context.builder.emit(Op::Copy(to, from, Expr::int(2, ty)));
    }
    between(context, call, -1, count)
}

fn epoll_wait(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (events, most) = (call.argument(1)?, call.argument(2)?);
    let size = Value::from(events.pointee_size()?);
    let most = most.constant.filter(|most| (1..=64).contains(most))?;
    let (pointer, ty) = (context.settle_pointer(events), context.pointer());
    let count = context
        .open_value(ty, Rhs::Any, |value| Some(Expr::binary(BinaryOp::Le, ty, value, Expr::int(most, ty))));
    let bytes = Expr::binary(BinaryOp::Mul, ty, count.clone(), Expr::int(size, ty));
    let from = unmodelled_bytes(context);
    context.builder.emit(Op::Copy(pointer, from, bytes));
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    let result = context.builder.save(Expr::cast(IntType::I32, count.clone()), IntType::I32);
    // Nothing happened, or it failed.
    let (none, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(count, ty), done, none);
    context.builder.continue_at(none);
    let zero = Expr::int(0, IntType::I32);
    let low = Expr::binary(BinaryOp::Le, IntType::I32, Expr::int(-1, IntType::I32), Expr::Local(result));
    let constraint = Some(low.and(Expr::binary(BinaryOp::Le, IntType::I32, Expr::Local(result), zero)));
    let pairs = vec![(Lhs::Local(result), Rhs::Any)];
    context.builder.emit(Op::Assign(Assignment { pairs, constraint }));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Two numbers, unless it fails.
fn pair(context: &mut Context<'_>, call: &Call<'_>, index: usize) -> Option<Answer> {
    let pointer = context.settle_pointer(call.argument(index)?);
    let from = unmodelled_bytes(context);
    let size = Expr::int(8, context.pointer());
    context.builder.emit(Op::Copy(pointer, from, size));
    between(context, call, -1, 0)
}

/// Memory of its own; of a file, with any content.
fn map(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (address, size, flags) = (call.argument(0)?, call.argument(1)?, call.argument(3)?);
    let flags = flags.constant?;
    if !address.is_always_null() {
        return None;
    }
    let size = context.settle_pointer(size);
    let anonymous = flags & 0x20 != 0;
    if anonymous && flags & 1 != 0 {
        context.assume(call, "no other process changes shared memory", false);
    }
    let result = allocate(context, call, size, anonymous);
    Some(Answer::Value(Expr::Local(result)))
}

/// The next option on the command line. Without arguments there is none; what is done with them is not modelled.
fn option(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (count, _) = (call.argument(0)?, call.argument(2)?);
    let (ty, count) = (count.ty, context.settle(count));
    context.assume(call, super::simplify::OPTION_TEXT, true);
    let result = context.builder.save(Expr::int(-1, IntType::I32), IntType::I32);
    let (some, done) = (context.builder.label(), context.builder.label());
    let few = Expr::binary(BinaryOp::Le, ty, count, Expr::int(1, ty));
    context.builder.branch(few, done, some);
    context.builder.continue_at(some);
    context.lose_path();
    context.builder.emit(Op::unknown(Lhs::Local(result)));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The bytes in the other order.
fn swapped(context: &mut Context<'_>, call: &Call<'_>, ty: IntType) -> Option<Answer> {
    let value = call.argument(0)?;
    let value = context.settle_as(value, ty);
    let bytes = ty.bytes() as Value;
    let part = |index: Value| {
        let shift = |op, value, by| Expr::binary(op, ty, value, Expr::int(8 * by, ty));
        let down = shift(BinaryOp::Shr, value.clone(), index);
        let byte = Expr::binary(BinaryOp::And, ty, down, Expr::int(0xff, ty));
        shift(BinaryOp::Shl, byte, bytes - 1 - index)
    };
    let all = (0..bytes).map(part).reduce(|one, other| Expr::binary(BinaryOp::Or, ty, one, other));
    Some(Answer::Value(all?))
}
