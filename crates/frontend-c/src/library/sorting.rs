//! `qsort`: over-approximated by any number of comparisons and exchanges of two elements, in any order.
//!
//! Elements are exchanged byte by byte, as libraries may do it. What the order of the result is, is not modelled, so an execution through here is no evidence for a violation,
//! unless there are fewer than two elements: then nothing happens; or two: then the first thing that happens may be that the first is
//! compared with the second.

use super::emit::truth;
use super::{Answer, Call, Context, Entry, Wins, threads};
use ir::{BinaryOp, Expr, IntType, Lhs, Op, Place, Value};

pub(super) const TABLE: &[Entry] = &[Entry { names: &["qsort"], wins: Wins::Body, model: sort }];

/// The largest element that is exchanged byte by byte.
const MOST_BYTES: Value = 256;

fn sort(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (base, count, compare) = (call.argument(0)?, call.argument(1)?, call.argument(3)?);
    let bytes = call.argument(2)?.constant.filter(|bytes| (1..=MOST_BYTES).contains(bytes))?;
    // What is called through a pointer in an atomic region would not stay in it.
    if context.builder.is_atomic() && compare.function.is_none() {
        return None;
    }
    let pointer = context.pointer();
    let base = context.settle_pointer(base);
    let count = context.settle_as(count, pointer);
    let compare = threads::callee(context, compare);
    let (head, done) = (context.builder.label(), context.builder.label());
    let few = Expr::binary(BinaryOp::Lt, pointer, count.clone(), Expr::int(2, pointer));
    context.builder.alternative(Op::Assume(few.clone()), done);
    context.builder.emit(Op::Assume(few.not()));
    // Two elements are compared before anything else happens.
    let general = context.builder.label();
    let first = context.builder.temporary(IntType::BOOL);
    context.builder.emit(Op::any(Lhs::Local(first)));
    let two = Expr::binary(BinaryOp::Eq, pointer, count.clone(), Expr::int(2, pointer));
    let at_once = Expr::Local(first).and(two);
    context.builder.alternative(Op::Assume(at_once.clone().not()), general);
    context.builder.emit(Op::Assume(at_once));
    let second = context.sum(base.clone(), Expr::int(bytes, pointer));
    let order = context.builder.temporary(IntType::I32);
    let both = vec![base.clone(), second];
    context.builder.emit(Op::Call(compare.clone(), both, Some(Lhs::Local(order))));
    context.builder.place(general);
    context.lose_track();
    context.builder.place(head);
    let more = context.builder.temporary(IntType::BOOL);
    context.builder.emit(Op::any(Lhs::Local(more)));
    context.builder.alternative(Op::Assume(Expr::Local(more).not()), done);
    context.builder.emit(Op::Assume(Expr::Local(more)));
    let elements = [(), ()].map(|()| {
        let index = context.builder.temporary(pointer);
        context.builder.emit(Op::any(Lhs::Local(index)));
        let inside = Expr::binary(BinaryOp::Lt, pointer, Expr::Local(index), count.clone());
        context.builder.emit(Op::Assume(inside));
        let distance = Expr::binary(BinaryOp::Mul, pointer, Expr::Local(index), Expr::int(bytes, pointer));
        let address = context.sum(base.clone(), distance);
        Expr::Local(context.builder.save(address, pointer))
    });
    let order = context.builder.temporary(IntType::I32);
    context.builder.emit(Op::Call(compare, elements.to_vec(), Some(Lhs::Local(order))));
    let exchange = context.builder.temporary(IntType::BOOL);
    context.builder.emit(Op::any(Lhs::Local(exchange)));
    let exchanges = truth(Expr::Local(exchange), IntType::BOOL);
    context.builder.alternative(Op::Assume(exchanges.clone().not()), head);
    context.builder.emit(Op::Assume(exchanges));
    for offset in 0..bytes as u64 {
        let places = elements.each_ref().map(|element| {
            let address = context.behind(element, offset);
            Place::pointee(address, IntType::U8)
        });
        let values = places
            .each_ref()
            .map(|place| Expr::Local(context.builder.save(Expr::load(place.clone()), IntType::U8)));
        let [first, second] = places;
        let [one, other] = values;
        context.builder.set(Lhs::Memory(first), other);
        context.builder.set(Lhs::Memory(second), one);
    }
    context.builder.jump(head);
    context.builder.continue_at(done);
    Some(Answer::Nothing)
}
