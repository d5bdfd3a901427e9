//! Waiting for files: `select`, `poll` and `epoll`. What happens to files is an input, within the contract.
//!
//! `poll` is exact: each entry that is looked at gets some of the events that it asks for, and the result
//! is how many got any. `select` that fails leaves its sets alone, one whose time is over (if it has a limit)
//! clears them, or one file of one set is ready; which files are ready if there are several is not modelled.
//!
//! `epoll` gives back what it was given: each registration adds a node to a list, and an event has the data
//! of any node. Direction: over-approximates, because nodes stay when a file is removed; so an execution
//! that gets an event is no evidence.

use super::emit::{atomic_place, equal};
use super::input::{any_between, between, write_object};
use super::memory::allocate;
use super::outside::unknown_between;
use super::printing::read_pointee;
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Layout, Lhs, ObjectRole, Op, Place, Rhs, Storage, Value};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["select"], wins: Wins::Body, model: |c, call| select(c, call, true) },
    Entry { names: &["pselect"], wins: Wins::Body, model: |c, call| select(c, call, false) },
    Entry { names: &["poll", "ppoll"], wins: Wins::Body, model: poll },
    Entry { names: &["epoll_ctl"], wins: Wins::Body, model: register },
    Entry { names: &["epoll_wait", "epoll_pwait"], wins: Wins::Body, model: wait },
];

/// The most files that a set has.
const FILES: Value = 1024;

/// Waits until some files of three sets are ready. On Linux, the time that is left is stored.
fn select(context: &mut Context<'_>, call: &Call<'_>, stores_time: bool) -> Option<Answer> {
    let most = call.argument(0)?.constant.filter(|most| (0..=FILES).contains(most)).unwrap_or(FILES);
    let sets: Vec<_> = (1..=3).map(|index| call.argument(index)).collect::<Option<_>>()?;
    let time = call.argument(4)?;
    let is_known = |set: &&super::Argument| set.is_always_null() || set.pointee_size().is_some();
    if !sets.iter().all(is_known) {
        return None;
    }
    for argument in sets.iter().chain([&time]) {
        read_pointee(context, argument);
    }
    if stores_time {
        write_object(context, time);
    }
    let ty = IntType::I32;
    let files = context.settle_as(call.argument(0)?, ty);
    let files = Expr::Local(context.builder.save(files, ty));
    let result = context.builder.save(Expr::int(-1, ty), ty);
    let (over, ready, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let ones: Vec<_> = sets
        .iter()
        .filter(|set| set.is_never_null() && set.pointee_size().is_some())
        .map(|set| (context.builder.label(), set))
        .collect();
    let limit = context.settle_pointer(time);
    let has_limit = Expr::cast(IntType::BOOL, limit);
    context.builder.alternative(Op::Assume(has_limit), over);
    for next in [done, ready].into_iter().chain(ones.iter().map(|(one, _)| *one)) {
        context.builder.alternative(Op::Assume(Expr::bool(true)), next);
    }
    for (one, set) in ones {
        context.builder.continue_at(one);
        only_one(context, &sets, set, &files, ready);
        context.builder.set(Lhs::Local(result), Expr::int(1, ty));
        context.builder.jump(done);
    }
    context.builder.continue_at(over);
    clear(context, &sets);
    context.builder.set(Lhs::Local(result), Expr::int(0, ty));
    context.builder.jump(done);
    context.builder.continue_at(ready);
    sets.iter().for_each(|set| write_object(context, set));
    let count = unknown_between(context, ty, 1, (3 * most).max(1));
    context.builder.set(Lhs::Local(result), count);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Clears all sets.
fn clear(context: &mut Context<'_>, sets: &[&Argument]) {
    for set in sets {
        let Some(size) = set.pointee_size().filter(|_| !set.is_always_null()) else { continue };
        let (to, size) = (context.settle_pointer(set), Expr::int(Value::from(size), context.pointer()));
        let clear = Op::Fill(to.clone(), Expr::int(0, IntType::U8), size);
        context.unless_null(set, to, |context| context.builder.emit(clear));
    }
}

/// Leaves one file in one set: any that was there, and is looked at. Goes elsewhere if it was not there.
fn only_one(
    context: &mut Context<'_>,
    sets: &[&Argument],
    set: &Argument,
    files: &Expr,
    elsewhere: ir::LocationId,
) {
    let (int, byte, pointer) = (IntType::I32, IntType::U8, context.pointer());
    let start = context.settle_pointer(set);
    let most = set.pointee_size().map_or(FILES, |size| (8 * Value::from(size)).min(FILES));
    let file = any_between(context, int, 0, most - 1);
    let eighth = Expr::binary(BinaryOp::Div, int, file.clone(), Expr::int(8, int));
    let place = Place::pointee(context.sum(start, Expr::cast(pointer, eighth)), byte);
    let rest = Expr::cast(byte, Expr::binary(BinaryOp::Rem, int, file.clone(), Expr::int(8, int)));
    let bit = Expr::binary(BinaryOp::Shl, byte, Expr::int(1, byte), rest);
    let bit = Expr::Local(context.builder.save(bit, byte));
    let here = Expr::Local(context.builder.save(Expr::load(place.clone()), byte));
    let both = Expr::binary(BinaryOp::And, byte, here, bit.clone());
    let was_there = equal(byte, both, bit.clone());
    let is_looked_at = Expr::binary(BinaryOp::Lt, int, file, files.clone());
    let some = context.builder.label();
    context.builder.branch(was_there.and(is_looked_at), some, elsewhere);
    context.builder.continue_at(some);
    clear(context, sets);
    context.builder.set(Lhs::Memory(place), bit);
}

/// Bytes of an entry of `poll`: a file, what is asked for, what happened.
const ENTRY: Value = 8;
/// What may happen without being asked for: an error, a hang-up, no such file.
const UNASKED: Value = 0x38;

fn poll(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (entries, count, time) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let (ty, int, short) = (context.pointer(), IntType::I32, IntType::U16);
    let (entries, count) = (context.settle_pointer(entries), context.settle_pointer(count));
    let has_limit = match call.name {
        "ppoll" => {
            read_pointee(context, time);
            Expr::cast(IntType::BOOL, context.settle_pointer(time))
        }
        _ => Expr::binary(BinaryOp::Le, int, Expr::int(0, int), context.settle_as(time, int)),
    };
    let has_limit = Expr::Local(context.builder.save(has_limit, IntType::BOOL));
    let result = context.builder.save(Expr::int(-1, int), int);
    let (look, over, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    context.builder.alternative(Op::Assume(Expr::bool(true)), look);
    context.builder.continue_at(look);
    context.builder.set(Lhs::Local(result), Expr::int(0, int));
    let at = context.builder.save(Expr::int(0, ty), ty);
    let (head, entry, looked) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.branch(Expr::binary(BinaryOp::Lt, ty, Expr::Local(at), count), entry, looked);
    context.builder.continue_at(entry);
    let distance = Expr::binary(BinaryOp::Mul, ty, Expr::Local(at), Expr::int(ENTRY, ty));
    let address = Expr::Local(context.builder.save(context.sum(entries, distance), ty));
    let file = Expr::load(Place::pointee(address.clone(), int));
    let file = Expr::Local(context.builder.save(file, int));
    let asked = Expr::load(Place::pointee(context.at_offset(&address, 4), short));
    let asked = Expr::Local(context.builder.save(asked, short));
    let mask = Expr::binary(BinaryOp::Or, short, asked, Expr::int(UNASKED, short));
    let happened = context.open_value(short, Rhs::Any, |_| None);
    let happened = Expr::binary(BinaryOp::And, short, happened, mask);
    let is_none = Expr::binary(BinaryOp::Lt, int, file, Expr::int(0, int));
    let happened = Expr::IfThenElse(Box::new((is_none, Expr::int(0, short), happened)));
    let happened = Expr::Local(context.builder.save(happened, short));
    let target = Place::pointee(context.at_offset(&address, 6), short);
    context.builder.set(Lhs::Memory(target), happened.clone());
    let is_ready = Expr::binary(BinaryOp::Ne, short, happened, Expr::int(0, short));
    let more = Expr::binary(BinaryOp::Add, int, Expr::Local(result), Expr::cast(int, is_ready));
    context.builder.set(Lhs::Local(result), more);
    let next = context.sum(Expr::Local(at), Expr::int(1, ty));
    context.builder.set(Lhs::Local(at), next);
    context.builder.jump(head);
    context.builder.continue_at(looked);
    // Without a limit, it waits until something happens.
    let is_any = Expr::cast(IntType::BOOL, Expr::Local(result));
    context.builder.branch(is_any, done, over);
    context.builder.continue_at(over);
    context.builder.emit(Op::Assume(has_limit));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Bytes of an event, which is packed: what happened, and eight bytes of data.
const EVENT: u64 = 12;
/// Where its data is.
const DATA: u64 = 4;

/// The first node of the list of registrations.
fn registrations(context: &mut Context<'_>) -> Place {
    let ty = context.pointer();
    let name = "registrations of epoll";
    let object = context.own_object(name, Storage::Static, Layout::Scalar(ty), ty.bytes());
    atomic_place(Expr::Address(object, 0), ty)
}

/// The words of eight bytes at an address.
fn words(context: &Context<'_>, address: &Expr) -> Vec<Expr> {
    let width = context.pointer().bytes();
    (0..8 / width).map(|index| context.at_offset(address, index * width)).collect()
}

/// Registers a file, with data to give back.
fn register(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let event = call.argument(3)?;
    if event.is_always_null() {
        return between(context, call, -1, 0);
    }
    if event.pointee_size() != Some(EVENT) {
        return None;
    }
    read_pointee(context, event);
    let ty = context.pointer();
    let address = context.settle_pointer(event);
    let list = registrations(context);
    context.unless_null(event, address.clone(), |context| {
        // A node: the next one, and the data. All of it is the library's own, so nothing there races.
        let node = allocate(context, call, Expr::int(16, ty), true, ObjectRole::Automatic);
        let node = Expr::Local(node);
        let from = context.at_offset(&address, DATA);
        let targets = words(context, &context.at_offset(&node, 8));
        for (from, to) in words(context, &from).into_iter().zip(targets) {
            let value = Expr::Local(context.builder.save(Expr::load(Place::pointee(from, ty)), ty));
            context.builder.set(Lhs::Memory(atomic_place(to, ty)), value);
        }
        context.builder.atomic_begin();
        let first = Expr::Local(context.builder.save(Expr::load(list.clone()), ty));
        context.builder.set(Lhs::Memory(atomic_place(node.clone(), ty)), first);
        context.builder.set(Lhs::Memory(list), node);
        context.builder.atomic_end();
    });
    between(context, call, -1, 0)
}

/// Waits for events: none, or some with the data of any registrations.
fn wait(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (events, most, limit) = (call.argument(1)?, call.argument(2)?, call.argument(3)?);
    if events.pointee_size() != Some(EVENT) {
        return None;
    }
    let (ty, int) = (context.pointer(), IntType::I32);
    let (events, most) = (context.settle_pointer(events), context.settle_as(most, int));
    let has_limit = Expr::binary(BinaryOp::Le, int, Expr::int(0, int), context.settle_as(limit, int));
    let result = context.builder.save(Expr::int(-1, int), int);
    let (none, some, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    // Without a time limit it does not give up.
    context.builder.alternative(Op::Assume(has_limit), none);
    context.builder.alternative(Op::Assume(Expr::bool(true)), some);
    context.builder.continue_at(none);
    context.builder.set(Lhs::Local(result), Expr::int(0, int));
    context.builder.jump(done);
    context.builder.continue_at(some);
    context.lose_path();
    context.builder.set(Lhs::Local(result), Expr::int(0, int));
    let (event, end) = (context.builder.label(), context.builder.label());
    let has_room = Expr::binary(BinaryOp::Lt, int, Expr::Local(result), most);
    context.builder.place(event);
    let room = context.builder.label();
    context.builder.branch(has_room, room, end);
    context.builder.continue_at(room);
    let index = Expr::cast(ty, Expr::Local(result));
    let distance = Expr::binary(BinaryOp::Mul, ty, index, Expr::int(EVENT.into(), ty));
    let target = Expr::Local(context.builder.save(context.sum(events, distance), ty));
    let happened = any_between(context, IntType::U32, 0, IntType::U32.max());
    context.builder.set(Lhs::Memory(Place::pointee(target.clone(), IntType::U32)), happened);
    // Any node of the list. Where there is none, nothing can have happened.
    let list = registrations(context);
    let node = context.builder.save(Expr::load(list), ty);
    context.repeatedly(|context| {
        let next = Expr::load(atomic_place(Expr::Local(node), ty));
        context.builder.set(Lhs::Local(node), next);
    });
    context.builder.emit(Op::Assume(Expr::binary(BinaryOp::Ne, ty, Expr::Local(node), Expr::int(0, ty))));
    let from = words(context, &context.at_offset(&Expr::Local(node), 8));
    let to = words(context, &context.at_offset(&target, DATA));
    for (from, to) in from.into_iter().zip(to) {
        let value = Expr::Local(context.builder.save(Expr::load(atomic_place(from, ty)), ty));
        context.builder.set(Lhs::Memory(Place::pointee(to, ty)), value);
    }
    let more = Expr::binary(BinaryOp::Add, int, Expr::Local(result), Expr::int(1, int));
    context.builder.set(Lhs::Local(result), more);
    context.builder.alternative(Op::Assume(Expr::bool(true)), end);
    context.builder.jump(event);
    context.builder.continue_at(end);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}
