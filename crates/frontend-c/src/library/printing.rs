//! Output. It changes nothing, but it reads the strings that it prints, which may race. They are read at once: no one
//! sees what is printed, so it does not matter when each byte is read.
//!
//! How many characters were printed is not modelled. Deviation: what printing into memory writes is not modelled
//! (limits proofs, and no violation is believed).

use super::emit::truth;
use super::strings::scan;
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{ErrorKind, Expr, LocationId, LocationKind, Op, Rhs, Value};

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
    Entry { names: &["write", "send", "pwrite"], wins: Wins::Body, model: write },
    Entry {
        names: &["putchar", "putc", "fputc", "putchar_unlocked", "putc_unlocked", "openlog", "closelog"],
        wins: Wins::Model,
        model: |context, call| {
            read_pointees(context, call);
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry {
        names: &["sprintf", "snprintf", "vsprintf", "vsnprintf", "asprintf", "vasprintf", "strftime"],
        wins: Wins::Model,
        model: |context, call| {
            call.argument(0)?;
            context.assume(call, "what is printed into memory is not modelled", true);
            context.lose_track();
            context.answer_open(call, Rhs::Unknown)
        },
    },
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

fn print(context: &mut Context<'_>, call: &Call<'_>, format: usize, list: bool) -> Option<Answer> {
    let text = call.argument(format)?.text.as_deref();
    let uses = text.map(uses);
    let only_values = uses.as_ref().is_some_and(|uses| uses.iter().all(|used| *used == Use::Value));
    match uses {
        Some(_) if only_values => {}
        Some(uses) if !list => {
            let printed = &call.arguments[format + 1..];
            for (index, (used, argument)) in uses.iter().zip(printed).enumerate() {
                read_printed(
                    context,
                    *used,
                    argument,
                    index.checked_sub(1).and_then(|before| printed.get(before)),
                );
            }
        }
        Some(_) | None => {
            context.assume(call, "the strings that it prints are not seen to be read", true);
        }
    }
    context.answer_open(call, Rhs::Unknown)
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
            let pointer = context.settle_pointer(argument);
            context.store_through(argument, pointer, Op::unknown);
        }
    }
}

/// Reads what an argument points to: a string, or an object. Handles of streams are the library's own affair, and of what `void *` points to nobody knows the size.
pub(super) fn read_pointee(context: &mut Context<'_>, argument: &Argument) {
    let Some(pointee) = &argument.pointee else { return };
    if argument.is_always_null() || pointee.type_name.contains("FILE") {
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
            context.builder.atomic_begin();
            let size = Expr::int(Value::from(size), context.pointer());
            super::strings::read_all(context, &pointer, &size);
            context.builder.atomic_end();
            context.builder.place(done);
        }
    }
}

/// Goes to `valid` where so many bytes are in a live object, else to `done`. What is none, and is not null where it may be,
/// is an invalid access.
fn branch_on_valid(
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

/// Reads the time that a function waits for at most: its last argument.
pub(super) fn read_time(context: &mut Context<'_>, call: &Call<'_>) -> Option<()> {
    call.argument(1)?;
    read_pointee(context, call.arguments.last()?);
    Some(())
}

/// Reads what all arguments point to.
pub(super) fn read_pointees(context: &mut Context<'_>, call: &Call<'_>) {
    call.arguments.iter().for_each(|argument| read_pointee(context, argument));
}

/// Reads a string to its end. What is no string is an invalid access; where these are not looked for, it is left alone (null is
/// printed as such by glibc).
fn read_string(context: &mut Context<'_>, argument: &Argument, bound: Option<Expr>, may_be_null: bool) {
    if argument.text.is_some() {
        return;
    }
    let pointer = context.settle_pointer(argument);
    let (string, done) = (context.builder.label(), context.builder.label());
    branch_on_valid(context, &pointer, 1, may_be_null, string, done);
    context.builder.continue_at(string);
    context.builder.atomic_begin();
    scan(context, &pointer, bound.as_ref());
    context.builder.atomic_end();
    context.builder.place(done);
}

fn put_string(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let string = call.argument(0)?;
    read_string(context, string, None, false);
    context.answer_open(call, Rhs::Unknown)
}

/// Reads bytes that are written out.
pub(super) fn read_bytes(context: &mut Context<'_>, buffer: &Argument, count: Expr) {
    if buffer.text.is_some() {
        return;
    }
    let pointer = context.settle_pointer(buffer);
    context.builder.atomic_begin();
    super::strings::read_all(context, &pointer, &count);
    context.builder.atomic_end();
}

fn write(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, size) = (call.argument(1)?, call.argument(2)?);
    let size = context.settle_pointer(size);
    read_bytes(context, buffer, size);
    context.answer_open(call, Rhs::Unknown)
}

fn write_items(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (buffer, width, count) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let (width, count) = (context.settle_pointer(width), context.settle_pointer(count));
    let size = Expr::binary(ir::BinaryOp::Mul, context.pointer(), width, count);
    read_bytes(context, buffer, size);
    context.answer_open(call, Rhs::Unknown)
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
