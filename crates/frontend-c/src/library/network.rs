//! Sockets and the names of hosts. Who is at the other end, and what comes from there, is an input.
//!
//! `getaddrinfo` makes a list of any length in memory of its own, which `freeaddrinfo` gives back; what
//! kinds of addresses are in it the hints decide, so these numbers are not modelled.

use super::emit::truth;
use super::input::{
    any_between, any_up_to, between, copy_input, number_or_failure, read, signed_size, take_bytes,
    unmodelled_bytes,
};
use super::memory::allocate;
use super::outside::unknown_between;
use super::printing::{read_bytes, read_pointee, read_pointees};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Lhs, ObjectRole, Op, Place, Rhs, Value};

pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["accept", "accept4"],
        wins: Wins::Body,
        model: |context, call| {
            store_address(context, call.argument(1)?, call.argument(2)?);
            number_or_failure(context, call, 0)
        },
    },
    Entry {
        names: &["getsockname", "getpeername"],
        wins: Wins::Body,
        model: |context, call| {
            store_address(context, call.argument(1)?, call.argument(2)?);
            between(context, call, -1, 0)
        },
    },
    Entry {
        names: &["recvfrom"],
        wins: Wins::Body,
        model: |context, call| {
            store_address(context, call.argument(4)?, call.argument(5)?);
            read(context, call, 1, 2)
        },
    },
    Entry {
        names: &["sendto"],
        wins: Wins::Body,
        model: |context, call| {
            let (buffer, size) = (call.argument(1)?, call.argument(2)?);
            let address = call.argument(4)?;
            if !address.is_always_null() {
                take_bytes(context, call, 4, 5)?;
            }
            let most = signed_size(context, size);
            let size = context.settle_pointer(size);
            read_bytes(context, buffer, size);
            Some(Answer::Value(any_up_to(context, IntType::I64, -1, most)))
        },
    },
    Entry { names: &["writev", "pwritev"], wins: Wins::Body, model: write_parts },
    Entry { names: &["getaddrinfo"], wins: Wins::Body, model: addresses },
    Entry { names: &["freeaddrinfo"], wins: Wins::Body, model: free_addresses },
    Entry { names: &["getnameinfo"], wins: Wins::Body, model: names },
    Entry {
        names: &["inet_addr", "inet_network"],
        wins: Wins::Body,
        model: |context, call| {
            let address = call.argument(0)?.text.as_deref().and_then(literal_address);
            if let (Some(address), "inet_addr", Some(ty)) = (address, call.name, call.result) {
                return Some(Answer::Value(Expr::int(Value::from(u32::from_le_bytes(address)), ty)));
            }
            read_pointees(context, call);
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry {
        names: &["inet_aton"],
        wins: Wins::Body,
        model: |context, call| {
            call.argument(1)?.pointee_size()?;
            if let Some(address) = call.argument(0)?.text.as_deref().and_then(literal_address) {
                return store_literal(context, call.argument(1)?, address);
            }
            read_pointee(context, call.argument(0)?);
            super::input::write_object(context, call.argument(1)?);
            Some(Answer::Value(unknown_between(context, IntType::I32, 0, 1)))
        },
    },
    Entry {
        names: &["if_nametoindex"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            between(context, call, 0, 0x7fff_ffff)
        },
    },
];

/// The bytes of a literal like `"127.0.0.1"`, if it is one.
pub(super) fn literal_address(text: &[u8]) -> Option<[u8; 4]> {
    let text = text.split(|byte| *byte == 0).next()?;
    let address: std::net::Ipv4Addr = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(address.octets())
}

/// Prints an address of four bytes, as in `127.0.0.1`, with a final zero. `room`: the bytes of the buffer.
pub(super) fn print_address(context: &mut Context<'_>, to: &Expr, address: &Expr, room: Value) {
    let number = |value: Expr, ty: IntType, constant: Option<Value>| Argument {
        value,
        ty,
        pointee: None,
        function: None,
        text: None,
        is_null: false,
        constant,
    };
    let mut parts = Vec::new();
    for at in 0..4 {
        if at > 0 {
            let dot = Value::from(b'.');
            parts.push(number(Expr::int(dot, IntType::I32), IntType::I32, Some(dot)));
        }
        let byte = Expr::load(Place::pointee(context.at_offset(address, at), IntType::U8));
        let byte = Expr::Local(context.builder.save(byte, IntType::U8));
        parts.push(number(Expr::cast(IntType::I32, byte), IntType::I32, None));
    }
    // Without bytes of its own, the format need not be anywhere.
    let nowhere = Expr::int(0, context.pointer());
    let Some(printed) = super::formats::printed(context, b"%u%c%u%c%u%c%u", &parts) else { return };
    let length = Expr::cast(context.pointer(), printed.length.clone());
    printed.store(context, to, &nowhere, (None, Some(room)));
    let end = Place::pointee(context.sum(to.clone(), length), IntType::U8);
    context.builder.set(Lhs::Memory(end), Expr::int(0, IntType::U8));
}

/// Stores an address, in the order of the network; gives 1.
pub(super) fn store_literal(
    context: &mut Context<'_>,
    target: &Argument,
    address: [u8; 4],
) -> Option<Answer> {
    let to = context.settle_pointer(target);
    let value = Expr::int(Value::from(u32::from_le_bytes(address)), IntType::U32);
    context.builder.set(Lhs::Memory(Place::pointee(to, IntType::U32)), value);
    Some(Answer::Value(Expr::int(1, IntType::I32)))
}

/// The most bytes of an address.
const ADDRESS: Value = 128;

/// The address that an argument is, which may be in a union of all pointers to such (with GNU's extensions).
fn address_of(context: &mut Context<'_>, argument: &Argument) -> Expr {
    let pointer = context.pointer();
    let value = context.settle_pointer(argument);
    match (&argument.pointee, argument.constant) {
        (None, None) => {
            Expr::Local(context.builder.save(Expr::load(Place::pointee(value, pointer)), pointer))
        }
        _ => value,
    }
}

/// Stores an address of a socket, as far as there is room, and its size; unless it is not wanted.
fn store_address(context: &mut Context<'_>, target: &Argument, size: &Argument) {
    if target.is_always_null() {
        return;
    }
    let (ty, word) = (context.pointer(), IntType::U32);
    let to = address_of(context, target);
    let size = Place::pointee(context.settle_pointer(size), word);
    let (some, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(to.clone(), ty), some, done);
    context.builder.continue_at(some);
    let room = Expr::Local(context.builder.save(Expr::load(size.clone()), word));
    let most = Expr::int(ADDRESS, word);
    let is_small = Expr::binary(BinaryOp::Lt, word, room.clone(), most.clone());
    let stored = any_up_to(context, word, 0, Expr::IfThenElse(Box::new((is_small, room, most))));
    copy_input(context, &to, Expr::cast(ty, stored), Some(ADDRESS));
    let real = any_between(context, word, 0, ADDRESS);
    context.builder.set(Lhs::Memory(size), real);
    context.builder.place(done);
}

/// Writes out several parts; each is an address and a size.
fn write_parts(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (parts, count) = (call.argument(1)?, call.argument(2)?);
    let ty = context.pointer();
    let width = ty.bytes();
    let (parts, count) = (context.settle_pointer(parts), context.settle_pointer(count));
    let at = context.builder.save(Expr::int(0, ty), ty);
    let (head, part, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.branch(Expr::binary(BinaryOp::Lt, ty, Expr::Local(at), count), part, done);
    context.builder.continue_at(part);
    let distance = Expr::binary(BinaryOp::Mul, ty, Expr::Local(at), Expr::int(Value::from(2 * width), ty));
    let entry = Expr::Local(context.builder.save(context.sum(parts, distance), ty));
    let base = Expr::load(Place::pointee(entry.clone(), ty));
    let base = Expr::Local(context.builder.save(base, ty));
    let size = Expr::load(Place::pointee(context.at_offset(&entry, width), ty));
    let size = Expr::Local(context.builder.save(size, ty));
    context.builder.atomic_begin();
    super::strings::read_all(context, &base, &size);
    context.builder.atomic_end();
    super::strings::advance(context, at);
    context.builder.jump(head);
    context.builder.continue_at(done);
    // How many bytes at most depends on the parts.
    context.answer_open(call, Rhs::Unknown)
}

/// The structure of an address of a host: its numbers, and where the address, the name and the next one are.
struct Host {
    address: u64,
    name: u64,
    next: u64,
    size: Value,
}

impl Host {
    fn of(context: &Context<'_>) -> Self {
        match context.pointer().bytes() {
            8 => Self { address: 24, name: 32, next: 40, size: 48 },
            _ => Self { address: 20, name: 24, next: 28, size: 32 },
        }
    }
}

/// Bytes of the numbers: flags, family, kind, protocol, size of the address.
const NUMBERS: Value = 20;

/// A list of addresses of a host, or an error.
fn addresses(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let target = call.argument(3)?;
    for index in 0..3 {
        read_pointee(context, call.argument(index)?);
    }
    let (ty, int) = (context.pointer(), IntType::I32);
    let target = Place::pointee(context.settle_pointer(target), ty);
    let host = Host::of(context);
    let error = any_between(context, int, -12, -1);
    let result = context.builder.save(error, int);
    context.perhaps(|context| {
        let first = context.builder.save(Expr::int(0, ty), ty);
        let (entry, done) = (context.builder.label(), context.builder.label());
        context.builder.place(entry);
        let node =
            Expr::Local(allocate(context, call, Expr::int(host.size, ty), false, ObjectRole::Automatic));
        let from = unmodelled_bytes(context);
        context.builder.emit(Op::Copy(node.clone(), from, Expr::int(NUMBERS, ty)));
        let address =
            Expr::Local(allocate(context, call, Expr::int(ADDRESS, ty), false, ObjectRole::Automatic));
        let cell = |context: &Context<'_>, at| Lhs::Memory(Place::pointee(context.at_offset(&node, at), ty));
        let lhs = cell(context, host.address);
        context.builder.set(lhs, address);
        let lhs = cell(context, host.name);
        context.builder.set(lhs, Expr::int(0, ty));
        context.perhaps(|context| {
            let name = super::environment::text(context, call);
            let lhs = cell(context, host.name);
            context.builder.set(lhs, name);
        });
        let lhs = cell(context, host.next);
        context.builder.set(lhs, Expr::Local(first));
        context.builder.set(Lhs::Local(first), node);
        context.builder.alternative(Op::Assume(Expr::bool(true)), done);
        context.builder.jump(entry);
        context.builder.continue_at(done);
        context.builder.set(Lhs::Memory(target), Expr::Local(first));
        context.builder.set(Lhs::Local(result), Expr::int(0, int));
    });
    Some(Answer::Value(Expr::Local(result)))
}

fn free_addresses(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let ty = context.pointer();
    let host = Host::of(context);
    let list = context.settle_pointer(call.argument(0)?);
    let node = context.builder.save(list, ty);
    let (head, entry, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.branch(truth(Expr::Local(node), ty), entry, done);
    context.builder.continue_at(entry);
    let load =
        |context: &Context<'_>, at| Expr::load(Place::pointee(context.at_offset(&Expr::Local(node), at), ty));
    let address = load(context, host.address);
    let address = context.builder.save(address, ty);
    let next = load(context, host.next);
    let next = context.builder.save(next, ty);
    context.builder.emit(Op::Free(Expr::Local(address)));
    context.builder.emit(Op::Free(Expr::Local(node)));
    context.builder.set(Lhs::Local(node), Expr::Local(next));
    context.builder.jump(head);
    context.builder.continue_at(done);
    Some(Answer::Nothing)
}

/// The names of an address and of a service, in buffers; or an error.
fn names(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    take_bytes(context, call, 0, 1)?;
    for (buffer, size) in [(2, 3), (4, 5)] {
        let (buffer, size) = (call.argument(buffer)?, call.argument(size)?);
        if buffer.is_always_null() {
            continue;
        }
        let (ty, most) = (context.pointer(), size.constant);
        let (to, size) = (context.settle_pointer(buffer), context.settle_pointer(size));
        context.unless_null(buffer, to.clone(), |context| {
            let (some, done) = (context.builder.label(), context.builder.label());
            context.builder.branch(truth(size.clone(), ty), some, done);
            context.builder.continue_at(some);
            let last = Expr::binary(BinaryOp::Sub, ty, size, Expr::int(1, ty));
            let length = any_up_to(context, ty, 0, last);
            copy_input(context, &to, length.clone(), most);
            let end = Place::pointee(context.sum(to, length), IntType::U8);
            context.builder.set(Lhs::Memory(end), Expr::int(0, IntType::U8));
            context.builder.place(done);
        });
    }
    between(context, call, -12, 0)
}
