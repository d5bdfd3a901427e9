//! All that has no effect, or an effect that is not modelled.
//!
//! Three groups: functions that change nothing that the program sees; functions whose result alone is not
//! modelled; and functions that do more (they limit proofs, and after those that write to memory no
//! violation is believed). All of them read what their arguments point to: that may race.

use super::emit::{answer_int, int, nothing_happens, truth};
use super::input::{unmodelled_bytes, write_object};
use super::memory::allocate;
use super::printing::{read_pointee, read_pointees};
use super::shared_state::ENVIRONMENT;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, ObjectRole, Op, Place, Rhs, UnaryOp};

pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: HARMLESS,
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            nothing_happens(context, call)
        },
    },
    // No signal ever ends a sleep, so what would be left of the time is not written.
    Entry { names: &["nanosleep", "thrd_sleep"], wins: Wins::Body, model: |c, call| sleep(c, call, 0) },
    Entry { names: &["clock_nanosleep"], wins: Wins::Body, model: |c, call| sleep(c, call, 2) },
    Entry {
        names: &["setbuf", "setvbuf", "setbuffer"],
        wins: Wins::Body,
        model: |context, call| match call.argument(1) {
            Some(buffer) if buffer.is_always_null() => nothing_happens(context, call),
            _ => not_modelled(context, call),
        },
    },
    Entry {
        names: &["sigprocmask", "pthread_sigmask"],
        wins: Wins::Body,
        model: |context, call| {
            let (set, old) = (call.argument(1)?, call.argument(2)?);
            read_pointee(context, set);
            write_object(context, old);
            answer_int(0)
        },
    },
    Entry {
        names: UNKNOWN_RESULT,
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            Some(context.answer_number(call))
        },
    },
    Entry { names: UNKNOWN_ROUNDED, wins: Wins::Body, model: |c, call| rounded(c, call, usize::MAX) },
    Entry { names: &["strerror", "strsignal"], wins: Wins::Body, model: message },
    Entry { names: &["getenv", "secure_getenv"], wins: Wins::Body, model: text_or_null },
    Entry {
        names: UNKNOWN_POINTER,
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            context.assume(call, "what its result points to is not modelled", true);
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry {
        names: &["timer_create", "timer_settime"],
        wins: Wins::Body,
        model: |context, call| {
            context.assume(call, "no timer ever runs a function", true);
            context.undecided_for_deadlocks();
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry {
        names: &["atexit", "at_quick_exit", "on_exit"],
        wins: Wins::Body,
        model: |context, call| {
            context.assume(call, "functions registered for the end of the program are not run", true);
            answer_int(0)
        },
    },
    Entry {
        names: &["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"],
        wins: Wins::Model,
        model: |context, call| {
            context.assume(call, "nothing ever jumps back here", true);
            answer_int(0)
        },
    },
    Entry {
        names: &["longjmp", "_longjmp", "siglongjmp", "__pthread_unwind_next"],
        wins: Wins::Model,
        model: |context, call| {
            context.assume(call, "executions that jump out of a function end there", true);
            context.builder.emit(Op::Assume(Expr::bool(false)));
            Some(Answer::Nothing)
        },
    },
    Entry {
        names: &["textdomain", "bindtextdomain", "bind_textdomain_codeset"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            if call.result.is_some() {
                context.assume(call, "what its result points to is not modelled", true);
            }
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry { names: &["gettext", "ngettext"], wins: Wins::Body, model: |c, call| translated(c, call, 0) },
    Entry {
        names: &["dgettext", "dcgettext", "dngettext", "dcngettext"],
        wins: Wins::Body,
        model: |c, call| translated(c, call, 1),
    },
    // A lock that only streams have: what it orders is not modelled.
    Entry {
        names: &["flockfile", "ftrylockfile", "funlockfile"],
        wins: Wins::Body,
        model: |context, call| {
            call.argument(0)?;
            context.undecided_for_deadlocks();
            context.lose_path();
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry { names: NOT_MODELLED, wins: Wins::Body, model: not_modelled },
    Entry { names: &["abs", "labs", "llabs"], wins: Wins::Body, model: absolute },
];

/// Functions that change nothing that the program sees, and return 0 if anything.
const HARMLESS: &[&str] = &[
    "sleep",
    "usleep",
    "setlinebuf",
    "rewind",
    "clearerr",
    "tzset",
    "sync",
    "__fpurge",
    "fpurge",
    "endpwent",
    "setpwent",
    "endgrent",
    "sethostent",
    "endhostent",
];

/// Functions whose only effect is a result that is not modelled.
const UNKNOWN_RESULT: &[&str] = &[
    "isascii",
    "toascii",
    "malloc_usable_size",
    "__sched_cpucount",
    "strverscmp",
    "wcslen",
    "ffs",
    "ffsl",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "sqrt",
    "cbrt",
    "sinf",
    "cosf",
    "tanf",
    "expf",
    "logf",
    "sqrtf",
    "log1p",
    "expm1",
    "erf",
    "erfc",
    "tgamma",
    "lgamma",
    "asinh",
    "acosh",
    "atanh",
    "sqrtl",
    "logl",
    "expl",
    "atan2f",
    "log10f",
    "log2f",
    "sched_getcpu",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "omp_get_thread_num",
    "omp_get_num_threads",
    "omp_get_max_threads",
    "omp_get_wtime",
];

/// The same, where a number that is passed may come back.
const UNKNOWN_ROUNDED: &[&str] = &[
    "pow",
    "hypot",
    "floor",
    "ceil",
    "round",
    "trunc",
    "rint",
    "nearbyint",
    "lround",
    "llround",
    "lrint",
    "fmod",
    "fabs",
    "fmin",
    "fmax",
    "fma",
    "ldexp",
    "ceilf",
    "ceill",
    "powf",
    "floorf",
    "roundf",
    "fabsf",
    "fmodf",
    "powl",
    "fabsl",
    "floorl",
    "fmaxf",
    "fminf",
    "truncf",
    "remainder",
    "copysign",
    "llrint",
];

/// Reads the time to sleep.
fn sleep(context: &mut Context<'_>, call: &Call<'_>, time: usize) -> Option<Answer> {
    let is_invalid = super::times::read(context, call.argument(time)?);
    // What it returns then; `errno` is not modelled here.
    let invalid = match call.name {
        "nanosleep" => -1,
        "thrd_sleep" => -2,
        _ => super::errno::EINVAL,
    };
    if is_invalid == Expr::bool(false) {
        return answer_int(0);
    }
    Some(Answer::Value(Expr::IfThenElse(Box::new((is_invalid, int(invalid), int(0))))))
}

/// Bytes of the texts of the environment, with the final zero.
const LONGEST_TEXT: i128 = 256;
/// Its bytes without the final zero.
const KEPT: u64 = LONGEST_TEXT as u64 - 1;

/// A text that is the caller's own: any bytes, and a zero at the end. Programs must not write to it, so
/// that others see the same object does not matter.
pub(super) fn text(context: &mut Context<'_>, call: &Call<'_>) -> Expr {
    context.assume(call, "its text has less than 256 bytes", false);
    let pointer = context.pointer();
    let result =
        Expr::Local(allocate(context, call, Expr::int(LONGEST_TEXT, pointer), false, ObjectRole::Automatic));
    let last = context.sum(result.clone(), Expr::int(LONGEST_TEXT - 1, pointer));
    let zero = Expr::int(0, IntType::U8);
    context.builder.set(Lhs::Memory(Place::pointee(last, IntType::U8)), zero);
    result
}

/// A message for people. The implementation is free to word it: how many bytes it has is an input, the same
/// for all messages, and which bytes these are is not modelled. Proofs hold for any text.
pub(super) fn message(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    /// The most bytes of one that is evidence.
    const LONGEST: i128 = 100;
    let text = text(context, call);
    let (byte, pointer) = (IntType::U8, context.pointer());
    let (usual, open, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(Expr::bool(true)), usual);
    context.builder.alternative(Op::Assume(Expr::bool(true)), open);
    context.builder.leave();
    context.builder.continue_at(open);
    context.lose_path();
    let from = unmodelled_bytes(context);
    context.builder.emit(Op::Copy(text.clone(), from, Expr::int(LONGEST_TEXT - 1, pointer)));
    context.builder.jump(done);
    context.builder.continue_at(usual);
    let (layout, initial) = (ir::Layout::Scalar(byte), ir::Initial::Unknown);
    let object = context.own_object_with("length of messages", ir::Storage::Static, layout, 1, initial);
    let length = Expr::Local(context.builder.save(Expr::load(Place::cell(object, 0, byte)), byte));
    let at_least = Expr::binary(BinaryOp::Le, byte, Expr::int(1, byte), length.clone());
    let at_most = Expr::binary(BinaryOp::Le, byte, length.clone(), Expr::int(LONGEST, byte));
    let settled = Expr::IfThenElse(Box::new((at_least.and(at_most), length, Expr::int(1, byte))));
    let length = Expr::Local(context.builder.save(Expr::cast(pointer, settled), pointer));
    let letter = super::outside::unknown_between(context, byte, 1, 255);
    context.builder.emit(Op::Fill(text.clone(), letter, length.clone()));
    let last = Place::pointee(context.sum(text.clone(), length), byte);
    context.builder.set(Lhs::Memory(last), Expr::int(0, byte));
    context.builder.jump(done);
    context.builder.continue_at(done);
    Some(Answer::Value(text))
}

/// A number that may be one of the first ones that are passed, at most so many.
pub(super) fn rounded(context: &mut Context<'_>, call: &Call<'_>, most: usize) -> Option<Answer> {
    let Some(ty) = call.result else { return Some(Answer::Nothing) };
    let numbers = call.arguments.iter().take(most);
    let passed: Vec<Expr> = numbers.map(|argument| context.settle_as(argument, ty)).collect();
    let result = context.builder.temporary(ty);
    context.builder.emit(Op::unknown_number(result, ty));
    if ty.bytes() >= context.pointer().bytes() {
        for value in passed.into_iter().filter(|value| !matches!(value, Expr::Const(..))) {
            context.perhaps(|context| {
                context.lose_path();
                context.builder.set(Lhs::Local(result), value);
            });
        }
    }
    Some(Answer::Value(Expr::Local(result)))
}

/// A text, or null where there is none.
fn text_or_null(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    read_pointees(context, call);
    let pointer = context.pointer();
    let result = context.builder.save(Expr::int(0, pointer), pointer);
    // The same for the same name, until the environment changes (which is also a race, and looked for
    // elsewhere).
    let name = call.arguments.first().and_then(|name| name.text.clone());
    let name =
        name.map(|name| name.split(|byte| *byte == 0).next().unwrap_or_default().escape_ascii().to_string());
    let there = match &name {
        Some(name) => {
            let name = format!("whether {} finds '{}'", call.name, name);
            let (layout, ty) = (ir::Layout::Bytes(1), IntType::U8);
            let object = context.own_object_with(&name, ir::Storage::Static, layout, 1, ir::Initial::Unknown);
            let there = truth(Expr::load(Place::cell(object, 0, ty)), ty);
            let there = context.builder.save(there, IntType::BOOL);
            let (changed, settled) = (context.builder.label(), context.builder.label());
            let state = context.own_object(ENVIRONMENT, ir::Storage::Static, ir::Layout::Bytes(1), 1);
            context.builder.branch(truth(Expr::load(Place::cell(state, 0, ty)), ty), changed, settled);
            context.builder.continue_at(changed);
            context.builder.emit(Op::unknown(Lhs::Local(there)));
            context.builder.jump(settled);
            context.builder.continue_at(settled);
            Expr::Local(there)
        }
        None => context.open_value(IntType::BOOL, Rhs::Unknown, |_| None),
    };
    let (some, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(there, IntType::BOOL), some, done);
    context.builder.continue_at(some);
    let found = text(context, call);
    context.builder.set(Lhs::Local(result), found.clone());
    if let Some(name) = name {
        // The same text, until the environment changes.
        let name = format!("what {} finds for '{}'", call.name, name);
        let (layout, initial) = (ir::Layout::Bytes(KEPT), ir::Initial::Unknown);
        let object = context.own_object_with(&name, ir::Storage::Static, layout, KEPT, initial);
        let (changed, settled) = (context.builder.label(), context.builder.label());
        let state = context.own_object(ENVIRONMENT, ir::Storage::Static, ir::Layout::Bytes(1), 1);
        let is_changed = truth(Expr::load(Place::cell(state, 0, IntType::U8)), IntType::U8);
        context.builder.branch(is_changed, changed, settled);
        for (label, is_changed) in [(changed, true), (settled, false)] {
            context.builder.continue_at(label);
            let from = if is_changed { unmodelled_bytes(context) } else { Expr::Address(object, 0) };
            let size = Expr::int(KEPT.into(), pointer);
            context.builder.emit(Op::Copy(found.clone(), from, size));
            context.builder.jump(done);
        }
    }
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The text that is passed, or another one: the world outside decides whether there is a translation.
fn translated(context: &mut Context<'_>, call: &Call<'_>, index: usize) -> Option<Answer> {
    let original = context.settle_pointer(call.argument(index)?);
    read_pointees(context, call);
    let pointer = context.pointer();
    let result = context.builder.save(original, pointer);
    context.perhaps(|context| {
        let text = text(context, call);
        context.builder.set(Lhs::Local(result), text);
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// Functions that return a pointer to something that is not modelled, and do nothing else.
const UNKNOWN_POINTER: &[&str] = &["localeconv", "memmem", "dlsym", "shmat", "sbrk"];

/// Functions that do something to memory, to other threads or processes, or to the control flow.
const NOT_MODELLED: &[&str] = &[
    "fesetround",
    "fesetenv",
    "feupdateenv",
    "feholdexcept",
    "erand48",
    "initstate",
    "setstate",
    "qsort_r",
    "gets",
    "pthread_getattr_np",
    "recvmsg",
    "sendmsg",
    "vfork",
    "sigwaitinfo",
    "sigtimedwait",
    "mremap",
    "shmget",
    "shmdt",
    "shmctl",
    "syscall",
    "reallocarray",
];

/// What is known of a function by its name only.
pub(super) fn not_modelled(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    /// The numbers of `gettid` on x86, with addresses of 8 and of 4 bytes.
    const GETTID: [(u64, i128); 2] = [(8, 186), (4, 224)];
    let number = call.argument(0).and_then(|argument| argument.constant);
    let asks_id = |(width, id): &(u64, i128)| *width == context.pointer().bytes() && number == Some(*id);
    if call.name == "syscall" && GETTID.iter().any(asks_id) {
        return context.answer_open(call, Rhs::Unknown);
    }
    context.assume(call, "what it does is not modelled", true);
    context.lose_path();
    match call.result {
        // A number, perhaps one that is passed: `syscall` may give back an address that it gets.
        Some(ty) if ty.signed => rounded(context, call, usize::MAX),
        Some(_) | None => context.answer_open(call, Rhs::Unknown),
    }
}

fn absolute(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let value = call.argument(0)?;
    let ty = value.ty;
    let value = context.settle(value);
    let negative = Expr::binary(BinaryOp::Lt, ty, value.clone(), Expr::int(0, ty));
    let opposite = Expr::unary(UnaryOp::Neg, ty, value.clone());
    Some(Answer::Value(Expr::IfThenElse(Box::new((negative, opposite, value)))))
}
