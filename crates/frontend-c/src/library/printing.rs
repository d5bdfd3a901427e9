//! Output. It changes nothing, but it reads the strings that it prints, which may race, with atomic
//! accesses as well: so they are read byte by byte, and not in an atomic region, where each access would
//! count as an atomic one.
//!
//! Printing may fail, and then returns a negative number; else it returns how many bytes were printed
//! (`formats.rs`).
//!
//! Printing into memory writes the bytes that the format makes, and a zero. They are exact where the format
//! is a literal that prints integers, characters and strings; other bytes are not modelled.

use super::emit::truth;
use super::input::{any_up_to, between, copy_repeated, signed_size, unmodelled_bytes};
use super::memory::allocate;
use super::outside::unknown_between;
use super::streams::is_stream;
use super::strings::scan;
use super::{Answer, Argument, Call, Context, Entry, Wins, formats, lists};
use ir::{
    BinaryOp, ErrorKind, Expr, IntType, Lhs, LocationId, LocationKind, ObjectRole, Op, Place, Rhs, Value,
};

/// The largest `int`.
const INT_MAX: Value = 0x7fff_ffff;

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["printf", "wprintf"], wins: Wins::Model, model: |c, call| print(c, call, 0, false) },
    Entry {
        names: &["fprintf", "dprintf", "syslog"],
        wins: Wins::Model,
        model: |c, call| print(c, call, 1, false),
    },
    Entry { names: &["printk", "_printk"], wins: Wins::Body, model: |c, call| print(c, call, 0, false) },
    Entry { names: &["vprintf"], wins: Wins::Model, model: |c, call| print(c, call, 0, true) },
    Entry {
        names: &["vfprintf", "vdprintf", "vsyslog"],
        wins: Wins::Model,
        model: |c, call| print(c, call, 1, true),
    },
    Entry { names: &["__printf_chk"], wins: Wins::Model, model: |c, call| print(c, call, 1, false) },
    Entry { names: &["__fprintf_chk"], wins: Wins::Model, model: |c, call| print(c, call, 2, false) },
    Entry { names: &["__vprintf_chk"], wins: Wins::Model, model: |c, call| print(c, call, 1, true) },
    Entry { names: &["__vfprintf_chk"], wins: Wins::Model, model: |c, call| print(c, call, 2, true) },
    Entry { names: &["puts", "perror", "fputs", "fputs_unlocked"], wins: Wins::Model, model: put_string },
    Entry { names: &["fwrite", "fwrite_unlocked"], wins: Wins::Model, model: write_items },
    Entry { names: &["write", "send", "pwrite", "pwrite64"], wins: Wins::Body, model: write },
    Entry {
        names: &["putchar", "putc", "fputc", "putchar_unlocked", "putc_unlocked"],
        wins: Wins::Model,
        model: put_character,
    },
    Entry {
        names: &["openlog", "closelog"],
        wins: Wins::Model,
        model: |context, call| {
            read_pointees(context, call);
            Some(Answer::Nothing)
        },
    },
    Entry {
        names: &["sprintf"],
        wins: Wins::Model,
        model: |c, call| print_into(c, call, None, (0, 1), false),
    },
    Entry {
        names: &["snprintf"],
        wins: Wins::Model,
        model: |c, call| print_into(c, call, Some(1), (0, 2), false),
    },
    Entry {
        names: &["__sprintf_chk"],
        wins: Wins::Model,
        model: |c, call| print_into(c, call, None, (0, 3), false),
    },
    Entry {
        names: &["__snprintf_chk"],
        wins: Wins::Model,
        model: |c, call| print_into(c, call, Some(1), (0, 4), false),
    },
    Entry {
        names: &["vsprintf"],
        wins: Wins::Model,
        model: |c, call| print_into(c, call, None, (0, 1), true),
    },
    Entry {
        names: &["vsnprintf"],
        wins: Wins::Model,
        model: |c, call| print_into(c, call, Some(1), (0, 2), true),
    },
    Entry {
        names: &["__vsnprintf_chk"],
        wins: Wins::Model,
        model: |c, call| print_into(c, call, Some(1), (0, 4), true),
    },
    Entry { names: &["asprintf"], wins: Wins::Model, model: |c, call| print_anew(c, call, false) },
    Entry { names: &["vasprintf"], wins: Wins::Model, model: |c, call| print_anew(c, call, true) },
    Entry { names: &["warn", "warnx"], wins: Wins::Body, model: |c, call| print(c, call, 0, false) },
    Entry { names: &["strftime"], wins: Wins::Model, model: print_time },
];

/// What a format does with its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// Prints the value.
    Value,
    /// Prints the string that it points to.
    String,
    /// The same, up to a number of bytes.
    Bounded(Value),
    /// The same, up to the number of bytes that the argument before it says.
    BoundedByArgument,
    /// Stores a number there.
    Count,
}

/// What a format does with its arguments, in order.
fn uses(format: &[u8]) -> Vec<Use> {
    let mut found = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        let mut bound = None;
        let mut bounded_by_argument = false;
        while let Some(byte) =
            rest.next_if(|byte| !byte.is_ascii_alphabetic() && *byte != b'%' || b"hlLqjzt".contains(byte))
        {
            match byte {
                b'*' => {
                    found.push(Use::Value);
                    bounded_by_argument = bound.is_some();
                }
                b'.' => bound = Some(0),
                b'0'..=b'9' => {
                    bound = bound
                        .map(|bound: Value| bound.saturating_mul(10).saturating_add(Value::from(byte - b'0')))
                }
                _ => {}
            }
        }
        found.extend(match (rest.next(), bound) {
            (None | Some(b'%' | b'm'), _) => None,
            (Some(b's' | b'S'), _) if bounded_by_argument => Some(Use::BoundedByArgument),
            (Some(b's' | b'S'), Some(bound)) => Some(Use::Bounded(bound)),
            (Some(b's' | b'S'), None) => Some(Use::String),
            (Some(b'n'), _) => Some(Use::Count),
            (Some(_), _) => Some(Use::Value),
        });
    }
    found
}

/// Reads what a format prints, and the format itself, where it is no literal.
fn read_printed_by(context: &mut Context<'_>, call: &Call<'_>, format: usize, list: bool) -> Option<()> {
    let argument = call.argument(format)?;
    let uses = argument.text.as_deref().map(uses);
    if uses.is_none() {
        read_string(context, argument, None, false);
    }
    let only_values = uses.as_ref().is_some_and(|uses| uses.iter().all(|used| *used == Use::Value));
    match uses {
        _ if list && only_values => {}
        _ if list => lists::read_passed(context),
        Some(uses) => {
            check_count(context, call, &uses, format + 1);
            read_arguments(context, &uses, call.arguments.get(format + 1..)?);
        }
        // Any of the arguments may be a string that is printed, or a place for the number of bytes so far.
        None => {
            for argument in call.arguments.get(format + 1..)? {
                lists::may_print(context, argument);
            }
        }
    }
    Some(())
}

fn print(context: &mut Context<'_>, call: &Call<'_>, format: usize, list: bool) -> Option<Answer> {
    let text = call.argument(format)?.text.as_deref();
    read_printed_by(context, call, format, list)?;
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    let known = match (text, list) {
        (Some(text), false) => formats::length(context, text, &call.arguments[format + 1..]),
        (_, _) => None,
    };
    let length = match known {
        Some(length) => length,
        None => unknown_between(context, IntType::I32, 0, INT_MAX),
    };
    Some(Answer::Value(or_failure(context, length)))
}

/// An `int`, or a negative number: output may fail.
fn or_failure(context: &mut Context<'_>, value: Expr) -> Expr {
    let ty = IntType::I32;
    let result = context.builder.save(value, ty);
    let (failed, done) = (context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    context.builder.alternative(Op::Assume(Expr::bool(true)), failed);
    context.builder.continue_at(failed);
    context.builder.set(Lhs::Local(result), Expr::int(-1, ty));
    context.builder.place(done);
    Expr::Local(result)
}

/// A character as it was written, or -1.
fn put_character(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let character = call.argument(0)?;
    let value = context.settle_as(character, IntType::U8);
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    let value = Expr::cast(IntType::I32, value);
    Some(Answer::Value(or_failure(context, value)))
}

/// Whether there are as many arguments as a format asks for. Where they are too few, anything may be printed.
fn check_count(context: &mut Context<'_>, call: &Call<'_>, uses: &[Use], first: usize) {
    if call.arguments.len().saturating_sub(first) < uses.len() {
        context.assume(call, "there are fewer arguments than the format asks for", true);
    }
}

/// Reads the strings that a format prints.
fn read_arguments(context: &mut Context<'_>, uses: &[Use], printed: &[Argument]) {
    for (index, (used, argument)) in uses.iter().zip(printed).enumerate() {
        let before = index.checked_sub(1).and_then(|before| printed.get(before));
        read_printed(context, *used, argument, before);
    }
}

/// Prints into a buffer, of which the size may be passed, too.
fn print_into(
    context: &mut Context<'_>,
    call: &Call<'_>,
    size: Option<usize>,
    (buffer, format): (usize, usize),
    list: bool,
) -> Option<Answer> {
    let buffer = call.argument(buffer)?;
    let size = match size {
        Some(size) => Some(call.argument(size)?),
        None => None,
    };
    call.argument(format)?;
    let to = context.settle_pointer(buffer);
    let limit = size.map(|size| context.settle_pointer(size));
    let text = text_of(context, call, format, list)?;
    let most = size.and_then(|size| size.constant);
    Some(Answer::Value(store_text(context, &to, limit, text, most)))
}

/// A text that is printed into memory.
enum Text {
    /// What a format prints, and the format's address.
    Exact(formats::Printed, Expr),
    /// Bytes that are not modelled, as many as an `int` says.
    Open(Expr),
}

impl Text {
    /// The number of bytes, as an `int`.
    fn length(&self) -> Expr {
        match self {
            Self::Exact(printed, _) => printed.length.clone(),
            Self::Open(length) => length.clone(),
        }
    }
}

/// The text that a format makes. Reads what is printed.
fn text_of(context: &mut Context<'_>, call: &Call<'_>, format: usize, list: bool) -> Option<Text> {
    let argument = call.argument(format)?;
    if let Some(text) = argument.text.as_deref().filter(|_| !list)
        && let Some(printed) = formats::printed(context, text, &call.arguments[format + 1..])
    {
        return Some(Text::Exact(printed, context.settle_pointer(argument)));
    }
    read_printed_by(context, call, format, list)?;
    Some(Text::Open(unknown_between(context, IntType::I32, 0, INT_MAX)))
}

/// Stores a text and a final zero, as far as there is room; gives the length of the whole text.
fn store_text(
    context: &mut Context<'_>,
    to: &Expr,
    limit: Option<Expr>,
    text: Text,
    most: Option<Value>,
) -> Expr {
    let ty = context.pointer();
    let done = context.builder.label();
    let result = text.length();
    let length = Expr::cast(ty, result.clone());
    let mut room = None;
    let stored = match limit {
        None => length,
        Some(limit) => {
            let some = context.builder.label();
            context.builder.branch(truth(limit.clone(), ty), some, done);
            context.builder.continue_at(some);
            let last = Expr::binary(BinaryOp::Sub, ty, limit, Expr::int(1, ty));
            let last = room.insert(Expr::Local(context.builder.save(last, ty))).clone();
            let short = Expr::binary(BinaryOp::Lt, ty, length.clone(), last.clone());
            Expr::IfThenElse(Box::new((short, length, last)))
        }
    };
    let stored = Expr::Local(context.builder.save(stored, ty));
    match text {
        Text::Exact(printed, format) => printed.store(context, to, &format, (room.as_ref(), most)),
        Text::Open(_) => copy_unmodelled(context, to, stored.clone(), most),
    }
    let last = Place::pointee(context.sum(to.clone(), stored), IntType::U8);
    context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
    context.builder.place(done);
    result
}

/// Stores bytes that are not modelled.
fn copy_unmodelled(context: &mut Context<'_>, to: &Expr, count: Expr, most: Option<Value>) {
    let from = unmodelled_bytes(context);
    copy_repeated(context, to, from, count, most);
}

/// Prints into memory that it allocates.
fn print_anew(context: &mut Context<'_>, call: &Call<'_>, list: bool) -> Option<Answer> {
    let target = context.settle_pointer(call.argument(0)?);
    let text = text_of(context, call, 1, list)?;
    let ty = context.pointer();
    let size = context.sum(Expr::cast(ty, text.length()), Expr::int(1, ty));
    let made = Expr::Local(allocate(context, call, size, false, ObjectRole::Allocated));
    let length = store_text(context, &made, None, text, None);
    context.builder.set(Lhs::Memory(Place::pointee(target, ty)), made);
    Some(Answer::Value(length))
}

/// A time as text; nothing is returned that does not fit.
fn print_time(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, size, time) = (call.argument(0)?, call.argument(1)?, call.argument(3)?);
    let most = size.constant;
    let (to, size) = (context.settle_pointer(buffer), context.settle_pointer(size));
    read_pointee(context, call.argument(2)?);
    read_pointee(context, time);
    let ty = context.pointer();
    let length = match most.filter(|most| *most > 0) {
        Some(most) => unknown_between(context, ty, 0, most - 1),
        None => {
            context.open_value(ty, Rhs::Unknown, |length| Some(Expr::binary(BinaryOp::Lt, ty, length, size)))
        }
    };
    copy_unmodelled(context, &to, length.clone(), most);
    let last = Place::pointee(context.sum(to, length.clone()), IntType::U8);
    context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
    Some(Answer::Value(length))
}

fn read_printed(context: &mut Context<'_>, used: Use, argument: &Argument, before: Option<&Argument>) {
    match used {
        Use::Value => {}
        Use::String => read_string(context, argument, None, false),
        Use::Bounded(bound) => {
            let bound = Expr::int(bound, context.pointer());
            read_string(context, argument, Some(bound), false);
        }
        Use::BoundedByArgument => {
            let bound = before.map(|before| context.settle_pointer(before));
            read_string(context, argument, bound, false);
        }
        Use::Count => {
            context.needs_object(argument, false);
            let pointer = context.settle_pointer(argument);
            context.store_through(argument, pointer, Op::unknown);
        }
    }
}

/// Reads what an argument points to: a string, or an object. Handles of streams are the library's own
/// affair, and of what `void *` points to nobody knows the size.
pub(super) fn read_pointee(context: &mut Context<'_>, argument: &Argument) {
    let Some(pointee) = &argument.pointee else { return };
    if argument.is_always_null() || is_stream(argument) {
        return;
    }
    match pointee.size {
        0 => {}
        1 if pointee.scalar.is_some() => read_string(context, argument, None, true),
        size => {
            let pointer = context.settle_pointer(argument);
            let (object, done) = (context.builder.label(), context.builder.label());
            branch_on_valid(context, &pointer, size, true, object, done);
            context.builder.continue_at(object);
            let size = Expr::int(Value::from(size), context.pointer());
            super::strings::read_all(context, &pointer, &size);
            context.builder.place(done);
        }
    }
}

/// Goes to `valid` where so many bytes are in a live object, else to `done`. What is none, and is not null
/// where it may be, is an invalid access.
pub(super) fn branch_on_valid(
    context: &mut Context<'_>,
    pointer: &Expr,
    size: u64,
    may_be_null: bool,
    valid: LocationId,
    done: LocationId,
) {
    let is_valid = Expr::Valid(Box::new(pointer.clone()), size);
    let none = context.builder.label();
    context.builder.branch(is_valid, valid, none);
    context.builder.continue_at(none);
    let is_wrong = match may_be_null {
        true => truth(pointer.clone(), context.pointer()),
        false => Expr::bool(true),
    };
    let error = LocationKind::Error(ErrorKind::InvalidAccess);
    let error = context.builder.template.location(error, false);
    context.builder.alternative(Op::Assume(is_wrong), error);
    context.builder.jump(done);
}

/// Reads what all arguments point to.
pub(super) fn read_pointees(context: &mut Context<'_>, call: &Call<'_>) {
    call.arguments.iter().for_each(|argument| read_pointee(context, argument));
}

/// Reads a string to its end. What is no string is an invalid access; where these are not looked for, it is
/// left alone (null is printed as such by glibc).
pub(super) fn read_string(
    context: &mut Context<'_>,
    argument: &Argument,
    bound: Option<Expr>,
    may_be_null: bool,
) {
    if argument.text.is_some() {
        return;
    }
    let pointer = context.settle_pointer(argument);
    let (string, done) = (context.builder.label(), context.builder.label());
    branch_on_valid(context, &pointer, 1, may_be_null, string, done);
    context.builder.continue_at(string);
    scan(context, &pointer, bound.as_ref());
    context.builder.place(done);
}

fn put_string(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let string = call.argument(0)?;
    read_string(context, string, None, call.name == "perror");
    between(context, call, -1, INT_MAX)
}

/// Reads bytes that are written out.
pub(super) fn read_bytes(context: &mut Context<'_>, buffer: &Argument, count: Expr) {
    if let Some(text) = &buffer.text {
        // Nobody writes to a literal, but it has an end.
        let size = Expr::int(text.len() as i128, context.pointer());
        let is_beyond = Expr::binary(BinaryOp::Lt, context.pointer(), size, count);
        return context.invalid_access_if(is_beyond);
    }
    let pointer = context.settle_pointer(buffer);
    super::strings::read_all(context, &pointer, &count);
}

fn write(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, size) = (call.argument(1)?, call.argument(2)?);
    let most = signed_size(context, size);
    let size = context.settle_pointer(size);
    read_bytes(context, buffer, size);
    Some(Answer::Value(any_up_to(context, IntType::I64, -1, most)))
}

fn write_items(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, width, count) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let (width, count) = (context.settle_pointer(width), context.settle_pointer(count));
    let size = Expr::binary(BinaryOp::Mul, context.pointer(), width, count.clone());
    read_bytes(context, buffer, size);
    let ty = context.pointer();
    Some(Answer::Value(any_up_to(context, ty, 0, count)))
}

#[cfg(test)]
mod tests {
    use super::{Use, uses};

    #[test]
    fn formats_say_what_they_read() {
        assert_eq!(uses(b"plain 100%%\n"), vec![]);
        assert_eq!(uses(b"%d %5lu %-8s|%n"), vec![Use::Value, Use::Value, Use::String, Use::Count]);
        assert_eq!(
            uses(b"%.12s %.*s %*d"),
            vec![Use::Bounded(12), Use::Value, Use::BoundedByArgument, Use::Value, Use::Value]
        );
        assert_eq!(uses(b"%"), vec![]);
        assert_eq!(uses(b"%l"), vec![]);
    }
}
