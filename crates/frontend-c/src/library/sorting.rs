//! `qsort` and `bsearch`, each in two ways of which any may be taken.
//!
//! The first is one algorithm: an insertion sort, a binary search. C allows it, so what happens in it is
//! evidence. The second stands for all others: any number of comparisons, and of exchanges of elements, in
//! any order; what happens in it is none. At its end the array is in order, as far as the comparison says
//! so (C gives no meaning to one that contradicts itself), or what was found is what was looked for.
//!
//! Elements are exchanged in parts, as libraries may do it; large ones by copies. Indices are chosen by
//! steps, not by values: so there are finitely many.

use super::emit::truth;
use super::{Answer, Call, Context, Entry, Wins, threads};
use ir::{
    BinaryOp, Callee, Expr, Field, IntType, Layout, Lhs, LocalId, LocationId, Op, Place, Storage, Value,
};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["qsort"], wins: Wins::Body, model: sort },
    Entry { names: &["bsearch"], wins: Wins::Body, model: search },
];

/// The largest element that is exchanged part by part; larger ones are copied.
const MOST_PARTS_BYTES: Value = 256;
/// The largest element.
const MOST_BYTES: Value = 1 << 16;

/// An array, and how its elements are compared.
struct Array {
    base: Expr,
    count: Expr,
    bytes: Value,
    compare: Callee,
    pointer: IntType,
}

impl Array {
    fn of(context: &mut Context<'_>, call: &Call<'_>, first: usize) -> Option<Self> {
        let (base, count) = (call.argument(first)?, call.argument(first + 1)?);
        let (width, compare) = (call.argument(first + 2)?, call.argument(first + 3)?);
        let bytes = width.constant.filter(|bytes| (1..=MOST_BYTES).contains(bytes))?;
        // What is called through a pointer in an atomic region would not stay in it.
        if context.builder.is_atomic() && compare.function.is_none() {
            return None;
        }
        let pointer = context.pointer();
        let (base, count) = (context.settle_pointer(base), context.settle_as(count, pointer));
        // One element is compared with none, but it has to be there.
        let is_missing = Expr::Valid(Box::new(base.clone()), bytes as u64).not();
        context.invalid_access_if(truth(count.clone(), pointer).and(is_missing));
        Some(Self { base, count, bytes, compare: threads::callee(context, compare), pointer })
    }
    fn number(&self, value: Value) -> Expr {
        Expr::int(value, self.pointer)
    }
    fn binary(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::binary(op, self.pointer, left, right)
    }
    fn less(&self, left: Expr, right: Expr) -> Expr {
        self.binary(BinaryOp::Lt, left, right)
    }
    /// A fresh local with the address of an element.
    fn element(&self, context: &mut Context<'_>, index: Expr) -> Expr {
        let distance = self.binary(BinaryOp::Mul, index, self.number(self.bytes));
        let address = context.sum(self.base.clone(), distance);
        Expr::Local(context.builder.save(address, self.pointer))
    }
    /// A fresh local with the result of a comparison.
    fn compared(&self, context: &mut Context<'_>, left: Expr, right: Expr) -> Expr {
        let order = context.builder.temporary(IntType::I32);
        let call = Op::Call(self.compare.clone(), vec![left, right], Some(Lhs::Local(order)));
        context.builder.emit(call);
        Expr::Local(order)
    }
    /// Exchanges two elements by a copy of one of them.
    fn exchange_whole(&self, context: &mut Context<'_>, [first, second]: &[Expr; 2]) {
        let word = |offset| Field { name: String::new(), offset, layout: Layout::Scalar(IntType::U64) };
        let bytes = self.bytes as u64;
        let layout = match bytes % 8 {
            0 => Layout::Record((0..bytes / 8).map(|number| word(8 * number)).collect()),
            _ => Layout::Bytes(bytes),
        };
        let name = format!("the element of {bytes} bytes that the thread exchanges");
        let kept = Expr::Address(context.own_object(&name, Storage::ThreadLocal, layout, bytes), 0);
        for (to, from) in [(&kept, first), (first, second), (second, &kept)] {
            context.builder.emit(Op::Copy(to.clone(), from.clone(), self.number(self.bytes)));
        }
    }
    fn exchange(&self, context: &mut Context<'_>, elements: &[Expr; 2]) {
        if self.bytes > MOST_PARTS_BYTES {
            return self.exchange_whole(context, elements);
        }
        let parts = [IntType::U64, IntType::U32, IntType::U16, IntType::U8];
        let fits = |part: &&IntType| (self.bytes as u64).is_multiple_of(part.bytes());
        let part = *parts.iter().find(fits).unwrap_or(&IntType::U8);
        for offset in (0..self.bytes as u64).step_by(part.bytes() as usize) {
            let places = elements.each_ref().map(|element| {
                let address = context.at_offset(element, offset);
                Place::pointee(address, part)
            });
            let values = places
                .each_ref()
                .map(|place| Expr::Local(context.builder.save(Expr::load(place.clone()), part)));
            let [first, second] = places;
            let [one, other] = values;
            context.builder.set(Lhs::Memory(first), other);
            context.builder.set(Lhs::Memory(second), one);
        }
    }
    /// Some index of the array, which is not empty.
    fn some_index(&self, context: &mut Context<'_>) -> LocalId {
        let index = context.builder.save(self.number(0), self.pointer);
        let (head, done) = (context.builder.label(), context.builder.label());
        context.builder.place(head);
        context.builder.alternative(Op::Assume(Expr::bool(true)), done);
        let next = self.binary(BinaryOp::Add, Expr::Local(index), self.number(1));
        context.builder.emit(Op::Assume(self.less(next.clone(), self.count.clone())));
        context.builder.set(Lhs::Local(index), next);
        context.builder.jump(head);
        context.builder.continue_at(done);
        index
    }
}

/// Continues here, or elsewhere.
fn or_else(context: &mut Context<'_>, elsewhere: LocationId) {
    let here = context.builder.label();
    context.builder.alternative(Op::Assume(Expr::bool(true)), elsewhere);
    context.builder.alternative(Op::Assume(Expr::bool(true)), here);
    context.builder.continue_at(here);
}

fn sort(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let array = Array::of(context, call, 0)?;
    let (many, other, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let few = array.less(array.count.clone(), array.number(2));
    context.builder.branch(few, done, many);
    context.builder.continue_at(many);
    or_else(context, other);
    insert_all(context, &array, done);
    context.builder.continue_at(other);
    context.lose_path();
    sort_somehow(context, &array);
    context.builder.place(done);
    Some(Answer::Nothing)
}

/// An insertion sort.
fn insert_all(context: &mut Context<'_>, array: &Array, done: LocationId) {
    let next = context.builder.save(array.number(1), array.pointer);
    let (head, body, turn) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.branch(array.less(Expr::Local(next), array.count.clone()), body, done);
    context.builder.continue_at(body);
    let at = context.builder.save(Expr::Local(next), array.pointer);
    let (inner, compare, exchange) =
        (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(inner);
    context.builder.branch(truth(Expr::Local(at), array.pointer), compare, turn);
    context.builder.continue_at(compare);
    let before = array.binary(BinaryOp::Sub, Expr::Local(at), array.number(1));
    let elements = [array.element(context, before.clone()), array.element(context, Expr::Local(at))];
    let order = array.compared(context, elements[0].clone(), elements[1].clone());
    let above = Expr::binary(BinaryOp::Lt, IntType::I32, Expr::int(0, IntType::I32), order);
    context.builder.branch(above, exchange, turn);
    context.builder.continue_at(exchange);
    array.exchange(context, &elements);
    context.builder.set(Lhs::Local(at), before);
    context.builder.jump(inner);
    context.builder.continue_at(turn);
    let following = array.binary(BinaryOp::Add, Expr::Local(next), array.number(1));
    context.builder.set(Lhs::Local(next), following);
    context.builder.jump(head);
}

/// Any comparisons and exchanges; then each element is not above the next one.
fn sort_somehow(context: &mut Context<'_>, array: &Array) {
    let (head, sorted) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    or_else(context, sorted);
    let elements = [(), ()].map(|()| {
        let index = array.some_index(context);
        array.element(context, Expr::Local(index))
    });
    array.compared(context, elements[0].clone(), elements[1].clone());
    or_else(context, head);
    array.exchange(context, &elements);
    context.builder.jump(head);
    context.builder.continue_at(sorted);
    let at = context.builder.save(array.number(1), array.pointer);
    let (check, pair, end) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(check);
    context.builder.branch(array.less(Expr::Local(at), array.count.clone()), pair, end);
    context.builder.continue_at(pair);
    let before = array.binary(BinaryOp::Sub, Expr::Local(at), array.number(1));
    let left = array.element(context, before);
    let right = array.element(context, Expr::Local(at));
    let order = array.compared(context, left, right);
    let zero = Expr::int(0, IntType::I32);
    context.builder.emit(Op::Assume(Expr::binary(BinaryOp::Le, IntType::I32, order, zero)));
    let following = array.binary(BinaryOp::Add, Expr::Local(at), array.number(1));
    context.builder.set(Lhs::Local(at), following);
    context.builder.jump(check);
    context.builder.continue_at(end);
}

fn search(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let key = call.argument(0)?;
    let array = Array::of(context, call, 1)?;
    let key = context.settle_pointer(key);
    let result = context.builder.save(array.number(0), array.pointer);
    let (some, other, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(truth(array.count.clone(), array.pointer), some, done);
    context.builder.continue_at(some);
    or_else(context, other);
    halve(context, &array, &key, result, done);
    context.builder.continue_at(other);
    context.lose_path();
    let (head, compare) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    context.builder.alternative(Op::Assume(Expr::bool(true)), compare);
    context.builder.continue_at(compare);
    let index = array.some_index(context);
    let element = array.element(context, Expr::Local(index));
    let order = array.compared(context, key, element.clone());
    let (found, again) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(order, IntType::I32), again, found);
    context.builder.continue_at(again);
    context.builder.jump(head);
    context.builder.continue_at(found);
    context.builder.set(Lhs::Local(result), element);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// A binary search.
fn halve(context: &mut Context<'_>, array: &Array, key: &Expr, result: LocalId, done: LocationId) {
    let low = context.builder.save(array.number(0), array.pointer);
    let high = context.builder.save(array.count.clone(), array.pointer);
    let (head, body) = (context.builder.label(), context.builder.label());
    let (found, other) = (context.builder.label(), context.builder.label());
    let (left, right) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.branch(array.less(Expr::Local(low), Expr::Local(high)), body, done);
    context.builder.continue_at(body);
    let width = array.binary(BinaryOp::Sub, Expr::Local(high), Expr::Local(low));
    let half = array.binary(BinaryOp::Div, width, array.number(2));
    let middle = array.binary(BinaryOp::Add, Expr::Local(low), half);
    let middle = Expr::Local(context.builder.save(middle, array.pointer));
    let element = array.element(context, middle.clone());
    let order = array.compared(context, key.clone(), element.clone());
    context.builder.branch(truth(order.clone(), IntType::I32), other, found);
    context.builder.continue_at(found);
    context.builder.set(Lhs::Local(result), element);
    context.builder.jump(done);
    context.builder.continue_at(other);
    let below = Expr::binary(BinaryOp::Lt, IntType::I32, order, Expr::int(0, IntType::I32));
    context.builder.branch(below, left, right);
    context.builder.continue_at(left);
    context.builder.set(Lhs::Local(high), middle.clone());
    context.builder.jump(head);
    context.builder.continue_at(right);
    let next = array.binary(BinaryOp::Add, middle, array.number(1));
    context.builder.set(Lhs::Local(low), next);
    context.builder.jump(head);
}
