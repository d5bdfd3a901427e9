//! What comes from the system, and what is asked of it: each function reads and writes what its contract
//! says. What it writes is not modelled, so nothing that depends on it is evidence; what it returns is an
//! input where the world outside decides, and not modelled, but within its bounds, where the arguments do.

use super::emit::answer_int;
use super::input::{
    between, comes_back, number_or_failure, unmodelled_bytes, write_object, zero_or_number_or_failure,
};
use super::memory::allocate;
use super::printing::read_pointee;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, ObjectRole, Op, Place, Rhs, Value};

const INT_MAX: Value = 0x7fff_ffff;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["getrlimit", "getrlimit64"], wins: Wins::Body, model: super::identity::limits },
    Entry {
        names: &["getrusage", "timer_gettime", "getitimer"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[1], Gives::Input(-1, 0)),
    },
    Entry {
        names: &["uname", "sysinfo"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[], &[0], Gives::Zero),
    },
    Entry {
        names: &["mktime", "timegm"],
        wins: Wins::Body,
        model: |c, call| effect(c, call, &[0], &[0], Gives::Number),
    },
    Entry { names: &["localtime_r", "gmtime_r"], wins: Wins::Body, model: time_into },
    Entry { names: &["asctime_r", "ctime_r"], wins: Wins::Body, model: text_of_time },
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
    Entry { names: &["getsockopt"], wins: Wins::Body, model: socket_option },
    Entry {
        names: &["inet_pton"],
        wins: Wins::Body,
        model: |c, call| {
            /// The Internet's addresses of four bytes.
            const AF_INET: Value = 2;
            let (family, text, target) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
            let address = text.text.as_deref().and_then(super::network::literal_address);
            match address.filter(|_| family.constant == Some(AF_INET)) {
                Some(address) => super::network::store_literal(c, target, address),
                None => effect(c, call, &[1], &[2], Gives::Unknown(-1, 1)),
            }
        },
    },
    Entry {
        names: &["fcntl"],
        wins: Wins::Body,
        model: |context, call| match call.argument(2) {
            // A lock on a part of a file.
            Some(argument) if argument.pointee.as_ref().is_some_and(|pointee| !pointee.has_pointer) => {
                argument.pointee_size()?;
                read_pointee(context, argument);
                context.perhaps(|context| write_object(context, argument));
                between(context, call, -1, 0)
            }
            Some(argument) if argument.pointee.is_some() => None,
            // A copy of a file's number is another one.
            _ if matches!(call.argument(1)?.constant, None | Some(0 | 1030)) => {
                number_or_failure(context, call, 0)
            }
            _ => zero_or_number_or_failure(context, call),
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
            /// The Internet's addresses of four bytes, and the bytes of their longest text.
            const AF_INET: Value = 2;
            const LONGEST: Value = 16;
            let (family, address, size) = (call.argument(0)?, call.argument(1)?, call.argument(3)?);
            if family.constant == Some(AF_INET) && size.constant.is_some_and(|size| size >= LONGEST) {
                let address = context.settle_pointer(address);
                let to = context.settle_pointer(call.argument(2)?);
                super::network::print_address(context, &to, &address, LONGEST);
                return Some(Answer::Value(to));
            }
            read_pointee(context, call.argument(1)?);
            buffer_or_null(context, call, (2, 3), Doubt::Null)
        },
    },
    Entry { names: &["mmap", "mmap64"], wins: Wins::Body, model: map },
    Entry { names: &["prctl"], wins: Wins::Body, model: control_process },
    Entry { names: &["strerror_r"], wins: Wins::Body, model: text_of_error },
    Entry { names: &["strptime"], wins: Wins::Body, model: time_of_text },
    Entry { names: &["munmap"], wins: Wins::Body, model: unmap },
    Entry { names: &["mprotect"], wins: Wins::Body, model: protect },
    Entry { names: &["msync"], wins: Wins::Body, model: |c, call| between(c, call, -1, 0) },
    Entry {
        names: &["frexp", "modf"],
        wins: Wins::Body,
        model: |c, call| {
            effect(c, call, &[], &[1], Gives::Zero)?;
            super::environment::rounded(c, call, 1)
        },
    },
    Entry { names: &["htonl", "ntohl"], wins: Wins::Body, model: |c, call| swapped(c, call, IntType::U32) },
    Entry { names: &["htons", "ntohs"], wins: Wins::Body, model: |c, call| swapped(c, call, IntType::U16) },
    Entry {
        names: &["lseek", "lseek64", "ftell", "ftello"],
        wins: Wins::Body,
        model: |c, call| number_or_failure(c, call, 0),
    },
    Entry {
        names: &["ungetc"],
        wins: Wins::Body,
        model: |context, call| {
            comes_back(context.program);
            effect(context, call, &[], &[], Gives::Unknown(-1, INT_MAX))
        },
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
    /// A value that is not modelled, and that was not computed from an address.
    Number,
}

fn give(context: &mut Context<'_>, call: &Call<'_>, gives: Gives) -> Option<Answer> {
    match gives {
        Gives::Zero => answer_int(0),
        Gives::Input(low, high) => between(context, call, low, high),
        Gives::Unknown(low, high) => {
            let Some(ty) = call.result else { return Some(Answer::Nothing) };
            Some(Answer::Value(unknown_between(context, ty, low, high)))
        }
        Gives::Number => Some(context.answer_number(call)),
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

/// An option of a socket. Whether there was an error, and which, is an input.
fn socket_option(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    /// `SOL_SOCKET` and `SO_ERROR` of Linux, and the greatest number of an error.
    const ERROR: [Option<Value>; 2] = [Some(1), Some(4)];
    const MOST: Value = 133;
    let [level, option, target, size] = [1, 2, 3, 4].map(|index| call.argument(index));
    let (target, size) = (target?, size?);
    let asked = [level?.constant, option?.constant];
    let is_int = target.pointee_size() == Some(4) && size.pointee_size() == Some(4);
    if asked != ERROR || !is_int {
        return effect(context, call, &[4], &[3, 4], Gives::Input(-1, 0));
    }
    read_pointee(context, size);
    let result = super::input::any_between(context, IntType::I32, -1, 0);
    let result = context.builder.save(result, IntType::I32);
    let (usual, open, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let to = context.settle_pointer(target);
    let room = Place::pointee(context.settle_pointer(size), IntType::I32);
    let fits = Expr::binary(BinaryOp::Eq, IntType::I32, Expr::load(room), Expr::int(4, IntType::I32));
    let fits = Expr::Local(context.builder.save(fits, IntType::BOOL));
    let succeeds = Expr::binary(BinaryOp::Eq, IntType::I32, Expr::Local(result), Expr::int(0, IntType::I32));
    context.builder.branch(fits.and(succeeds), usual, open);
    context.builder.continue_at(open);
    write_object(context, target);
    write_object(context, size);
    context.builder.jump(done);
    context.builder.continue_at(usual);
    let error = super::input::any_between(context, IntType::I32, 0, MOST);
    context.store_through(target, to, |lhs| Op::set(lhs, error));
    context.builder.jump(done);
    context.builder.continue_at(done);
    Some(Answer::Value(Expr::Local(result)))
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
    let last = Place::pointee(context.at_offset(&pointer, 25), IntType::U8);
    context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    Some(Answer::Value(or_null(context, pointer, Doubt::Null)))
}

/// Two numbers, unless it fails.
fn pair(context: &mut Context<'_>, call: &Call<'_>, index: usize) -> Option<Answer> {
    let pointer = context.settle_pointer(call.argument(index)?);
    comes_back(context.program);
    let from = unmodelled_bytes(context);
    let size = Expr::int(8, context.pointer());
    context.builder.emit(Op::Copy(pointer, from, size));
    between(context, call, -1, 0)
}

/// Memory of its own; of a file, with any content.
fn map(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (address, size, access) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let flags = call.argument(3)?.constant?;
    if !address.is_always_null() {
        return None;
    }
    match access.constant.map(|access| access & READ_AND_WRITE) {
        Some(READ_AND_WRITE) => {}
        Some(1) => context.assume(call, READ_ONLY, false),
        _ => restrict(context, call),
    }
    let size = context.settle_pointer(size);
    let anonymous = flags & 0x20 != 0;
    if flags & 1 != 0 {
        context.assume(call, "other processes may change shared memory, which is not followed", true);
    }
    let result = allocate(context, call, size, anonymous, ObjectRole::Automatic);
    Some(Answer::Value(Expr::Local(result)))
}

/// The bits of `PROT_READ` and `PROT_WRITE`.
const READ_AND_WRITE: Value = 3;
/// What is said of memory that is mapped to be read.
pub const READ_ONLY: &str = "memory is mapped to be read only; writes to it are not followed";

/// Allows less than all accesses to memory: ones that are not allowed end the program, which is not followed.
fn restrict(context: &mut Context<'_>, call: &Call<'_>) {
    context.assume(call, "not all accesses to memory are allowed, which is not followed", true);
    context.lose_path();
}

/// Changes which accesses to memory are allowed.
fn protect(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    if call.argument(2)?.constant.map(|access| access & READ_AND_WRITE) != Some(READ_AND_WRITE) {
        restrict(context, call);
    }
    between(context, call, -1, 0)
}

/// Asks the system to treat the process or thread in another way: its name and its death are of no interest
/// here.
fn control_process(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    /// To give the thread a name, to get a signal at the parent's death, to be dumped or not.
    const HARMLESS: [Value; 3] = [15, 1, 4];
    let what = call.argument(0)?.constant.filter(|what| HARMLESS.contains(what))?;
    if let Some(name) = call.argument(1).filter(|_| what == HARMLESS[0]) {
        read_pointee(context, name);
    }
    between(context, call, -1, 0)
}

/// The text of an error in a buffer, as far as there is room; GNU's form gives the buffer, or a text of its
/// own.
fn text_of_error(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, size) = (call.argument(1)?, call.argument(2)?);
    let (ty, most) = (context.pointer(), size.constant);
    let (to, size) = (context.settle_pointer(buffer), context.settle_pointer(size));
    let length =
        context.open_value(ty, Rhs::Unknown, |length| Some(Expr::binary(BinaryOp::Le, ty, length, size)));
    let from = unmodelled_bytes(context);
    super::input::copy_repeated(context, &to, from, length, most);
    match call.result {
        Some(result) if result.bytes() == ty.bytes() && result != IntType::I32 => {
            let text = super::environment::text(context, call);
            let result = context.builder.save(to, ty);
            context.perhaps(|context| {
                context.lose_path();
                context.builder.set(Lhs::Local(result), text);
            });
            Some(Answer::Value(Expr::Local(result)))
        }
        _ => Some(Answer::Value(unknown_between(context, IntType::I32, 0, INT_MAX))),
    }
}

/// A time from a text: gives where the text was left, or null.
fn time_of_text(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (text, format, target) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    target.pointee_size()?;
    read_pointee(context, format);
    let (ty, start) = (context.pointer(), context.settle_pointer(text));
    let length = super::strings::scan(context, &start, None);
    write_object(context, target);
    let at = context.open_value(ty, Rhs::Unknown, |at| Some(Expr::binary(BinaryOp::Le, ty, at, length)));
    let end = context.sum(start, at);
    Some(Answer::Value(or_null(context, end, Doubt::Null)))
}

/// Gives back a mapping. Where it is part of one only, the rest stays; which it is, is not modelled.
fn unmap(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let address = context.settle_pointer(call.argument(0)?);
    context.perhaps(|context| {
        context.lose_path();
        context.builder.emit(Op::Free(address));
    });
    between(context, call, -1, 0)
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
