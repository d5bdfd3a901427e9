//! Functions on strings, as loops over their bytes; copies are one step each.

use super::emit::{differ, equal, truth};
use super::memory::allocate;
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{Assignment, BinaryOp, Expr, IntType, Lhs, LocalId, ObjectRole, Op, Place, Rhs};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["strlen"], wins: Wins::Model, model: |c, call| length(c, call, false) },
    Entry { names: &["strnlen"], wins: Wins::Model, model: |c, call| length(c, call, true) },
    Entry {
        names: &["strcmp", "strcoll"],
        wins: Wins::Model,
        model: |c, call| compare(c, call, false, true),
    },
    Entry { names: &["strncmp"], wins: Wins::Model, model: |c, call| compare(c, call, true, true) },
    Entry { names: &["memcmp", "bcmp"], wins: Wins::Model, model: |c, call| compare(c, call, true, false) },
    Entry { names: &["strcasecmp"], wins: Wins::Body, model: |c, call| compare(c, call, false, true) },
    Entry { names: &["strncasecmp"], wins: Wins::Body, model: |c, call| compare(c, call, true, true) },
    Entry { names: &["strcpy"], wins: Wins::Model, model: |c, call| copy(c, call, false) },
    Entry { names: &["stpcpy"], wins: Wins::Model, model: |c, call| copy(c, call, true) },
    Entry { names: &["strncpy"], wins: Wins::Model, model: copy_padded },
    Entry { names: &["strcat"], wins: Wins::Model, model: |c, call| append(c, call, false) },
    Entry { names: &["strncat"], wins: Wins::Model, model: |c, call| append(c, call, true) },
    Entry { names: &["strchr", "index"], wins: Wins::Body, model: |c, call| find(c, call, false, true) },
    Entry { names: &["strrchr", "rindex"], wins: Wins::Body, model: find_last },
    Entry { names: &["memchr"], wins: Wins::Body, model: |c, call| find(c, call, true, false) },
    Entry { names: &["strchrnul"], wins: Wins::Body, model: find_or_end },
    Entry { names: &["memrchr"], wins: Wins::Body, model: find_last_of },
    Entry { names: &["strdup"], wins: Wins::Model, model: |c, call| duplicate(c, call, false) },
    Entry { names: &["strndup"], wins: Wins::Model, model: |c, call| duplicate(c, call, true) },
];

/// The byte at an index of a string.
pub(super) fn byte(context: &Context<'_>, string: &Expr, index: LocalId) -> Expr {
    let address = context.sum(string.clone(), Expr::Local(index));
    Expr::load(Place::pointee(address, IntType::U8))
}
/// A fresh local with 0.
pub(super) fn zero(context: &mut Context<'_>) -> LocalId {
    let ty = context.pointer();
    context.builder.save(Expr::int(0, ty), ty)
}
fn plus_one(context: &Context<'_>, value: Expr) -> Expr {
    context.sum(value, Expr::int(1, context.pointer()))
}
/// Counts up.
pub(super) fn advance(context: &mut Context<'_>, index: LocalId) {
    let next = plus_one(context, Expr::Local(index));
    context.builder.set(Lhs::Local(index), next);
}
/// Continues while the index is below the limit, if there is one; else goes to `done`.
fn stop_at_limit(context: &mut Context<'_>, index: LocalId, limit: Option<&Expr>, done: ir::LocationId) {
    if let Some(limit) = limit {
        let go_on = context.builder.label();
        let ty = context.pointer();
        context.builder.branch(
            Expr::binary(BinaryOp::Lt, ty, Expr::Local(index), limit.clone()),
            go_on,
            done,
        );
        context.builder.continue_at(go_on);
    }
}

/// Counts the bytes before the final zero, up to a limit.
pub(super) fn scan(context: &mut Context<'_>, string: &Expr, limit: Option<&Expr>) -> Expr {
    let index = zero(context);
    let (head, next, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    stop_at_limit(context, index, limit, done);
    let here = byte(context, string, index);
    context.builder.branch(truth(here, IntType::U8), next, done);
    context.builder.continue_at(next);
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
    Expr::Local(index)
}

/// Reads a number of bytes.
pub(super) fn read_all(context: &mut Context<'_>, from: &Expr, count: &Expr) {
    let index = zero(context);
    let (head, done) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    stop_at_limit(context, index, Some(count), done);
    let here = byte(context, from, index);
    context.builder.save(here, IntType::U8);
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
}

/// The length of a string argument, up to a limit.
fn measure(context: &mut Context<'_>, string: &Argument, pointer: &Expr, limit: Option<&Expr>) -> Expr {
    match (&string.text, limit) {
        (Some(text), None) => {
            let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
            Expr::int(length as i128, context.pointer())
        }
        _ => scan(context, pointer, limit),
    }
}

/// The limit that an argument gives, if it is to be read at all.
fn limit(context: &mut Context<'_>, call: &Call<'_>, index: usize, limited: bool) -> Option<Option<Expr>> {
    if !limited {
        return Some(None);
    }
    let limit = call.argument(index)?;
    Some(Some(context.settle_pointer(limit)))
}

fn length(context: &mut Context<'_>, call: &Call<'_>, limited: bool) -> Option<Answer> {
    let string = call.argument(0)?;
    let limit = limit(context, call, 1, limited)?;
    let pointer = context.settle_pointer(string);
    Some(Answer::Value(measure(context, string, &pointer, limit.as_ref())))
}

fn compare(context: &mut Context<'_>, call: &Call<'_>, limited: bool, strings: bool) -> Option<Answer> {
    let (left, right) = (call.argument(0)?, call.argument(1)?);
    let limit = limit(context, call, 2, limited)?;
    let (left, right) = (context.settle_pointer(left), context.settle_pointer(right));
    let index = zero(context);
    let result = context.builder.save(Expr::int(0, IntType::I32), IntType::I32);
    let (head, done) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    stop_at_limit(context, index, limit.as_ref(), done);
    let any_case = call.name.contains("case");
    let [one, other] = [&left, &right].map(|string| {
        let here = byte(context, string, index);
        let here = Expr::Local(context.builder.save(here, IntType::U8));
        if any_case { Expr::Local(context.builder.save(small(&here), IntType::U8)) } else { here }
    });
    let (same, different) = (context.builder.label(), context.builder.label());
    let mut is_first = differ(IntType::U8, one.clone(), other.clone());
    if !strings {
        is_first = is_first.and(equal(IntType::I32, Expr::Local(result), Expr::int(0, IntType::I32)));
    }
    context.builder.branch(is_first, different, same);
    context.builder.continue_at(different);
    // Any number of the right sign.
    let zero = Expr::int(0, IntType::I32);
    let below = Expr::binary(BinaryOp::Lt, IntType::I32, Expr::Local(result), zero.clone());
    let above = Expr::binary(BinaryOp::Lt, IntType::I32, zero, Expr::Local(result));
    let is_less = Expr::binary(BinaryOp::Lt, IntType::U8, one.clone(), other);
    let constraint = Some(Expr::IfThenElse(Box::new((is_less, below, above))));
    let pairs = vec![(Lhs::Local(result), Rhs::Any)];
    context.builder.emit(Op::Assign(Assignment { pairs, constraint }));
    // Of strings nothing is read after a difference; of memory all of both is compared, and may be read.
    let next = context.builder.label();
    context.builder.jump(if strings { done } else { next });
    context.builder.continue_at(same);
    if strings {
        context.builder.branch(truth(one, IntType::U8), next, done);
    } else {
        context.builder.jump(next);
    }
    context.builder.continue_at(next);
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// A byte with a small letter in place of a capital one.
fn small(byte: &Expr) -> Expr {
    let ty = IntType::U8;
    let number = |value: u8| Expr::int(i128::from(value), ty);
    let above = Expr::binary(BinaryOp::Le, ty, number(b'A'), byte.clone());
    let is_capital = above.and(Expr::binary(BinaryOp::Le, ty, byte.clone(), number(b'Z')));
    let moved = Expr::binary(BinaryOp::Add, ty, byte.clone(), number(b'a' - b'A'));
    Expr::IfThenElse(Box::new((is_capital, moved, byte.clone())))
}

fn copy(context: &mut Context<'_>, call: &Call<'_>, gives_end: bool) -> Option<Answer> {
    let (to, string) = (call.argument(0)?, call.argument(1)?);
    let (to, from) = (context.settle_pointer(to), context.settle_pointer(string));
    let length = measure(context, string, &from, None);
    let with_end = plus_one(context, length.clone());
    context.builder.emit(Op::Copy(to.clone(), from, with_end));
    Some(Answer::Value(if gives_end { context.sum(to, length) } else { to }))
}

/// Copies at most so many bytes, and fills up with zeros.
fn copy_padded(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (to, string, most) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let (to, from) = (context.settle_pointer(to), context.settle_pointer(string));
    let most = context.settle_pointer(most);
    let length = scan(context, &from, Some(&most));
    context.builder.emit(Op::Copy(to.clone(), from, length.clone()));
    let rest = Expr::binary(BinaryOp::Sub, context.pointer(), most, length.clone());
    let after = context.sum(to.clone(), length);
    context.builder.emit(Op::Fill(after, Expr::int(0, IntType::U8), rest));
    Some(Answer::Value(to))
}

fn append(context: &mut Context<'_>, call: &Call<'_>, limited: bool) -> Option<Answer> {
    let (to, string) = (call.argument(0)?, call.argument(1)?);
    let limit = limit(context, call, 2, limited)?;
    let (to, from) = (context.settle_pointer(to), context.settle_pointer(string));
    let before = scan(context, &to, None);
    let end = context.sum(to.clone(), before);
    let length = measure(context, string, &from, limit.as_ref());
    context.builder.emit(Op::Copy(end.clone(), from, length.clone()));
    let last = Place::pointee(context.sum(end, length), IntType::U8);
    context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
    Some(Answer::Value(to))
}

/// The address of the first byte with a value, or null. The final zero of a string is one of its bytes.
fn find(context: &mut Context<'_>, call: &Call<'_>, limited: bool, strings: bool) -> Option<Answer> {
    let (string, wanted) = (call.argument(0)?, call.argument(1)?);
    let limit = limit(context, call, 2, limited)?;
    let (string, wanted) = (context.settle_pointer(string), context.settle_as(wanted, IntType::U8));
    let index = zero(context);
    let result = zero(context);
    let (head, done) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    stop_at_limit(context, index, limit.as_ref(), done);
    let here = byte(context, &string, index);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    let (found, other) = (context.builder.label(), context.builder.label());
    context.builder.branch(equal(IntType::U8, here.clone(), wanted), found, other);
    context.builder.continue_at(found);
    let address = context.sum(string, Expr::Local(index));
    context.builder.set(Lhs::Local(result), address);
    context.builder.jump(done);
    context.builder.continue_at(other);
    if strings {
        let next = context.builder.label();
        context.builder.branch(truth(here, IntType::U8), next, done);
        context.builder.continue_at(next);
    }
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The address of the first byte with a value, or of the final zero.
fn find_or_end(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (string, wanted) = (call.argument(0)?, call.argument(1)?);
    let (string, wanted) = (context.settle_pointer(string), context.settle_as(wanted, IntType::U8));
    let index = zero(context);
    let (head, next, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    let here = byte(context, &string, index);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    let continues = truth(here.clone(), IntType::U8).and(differ(IntType::U8, here, wanted));
    context.builder.branch(continues, next, done);
    context.builder.continue_at(next);
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
    Some(Answer::Value(context.sum(string, Expr::Local(index))))
}

/// The address of the last one of some bytes with a value, or null.
fn find_last_of(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (bytes, wanted, count) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let (bytes, wanted) = (context.settle_pointer(bytes), context.settle_as(wanted, IntType::U8));
    let count = context.settle_pointer(count);
    let (index, result) = (zero(context), zero(context));
    let (head, done) = (context.builder.label(), context.builder.label());
    let (found, other) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    stop_at_limit(context, index, Some(&count), done);
    let here = byte(context, &bytes, index);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    context.builder.branch(equal(IntType::U8, here, wanted), found, other);
    context.builder.continue_at(found);
    let address = context.sum(bytes, Expr::Local(index));
    context.builder.set(Lhs::Local(result), address);
    context.builder.place(other);
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
    Some(Answer::Value(Expr::Local(result)))
}

fn find_last(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (string, wanted) = (call.argument(0)?, call.argument(1)?);
    let (string, wanted) = (context.settle_pointer(string), context.settle_as(wanted, IntType::U8));
    let index = zero(context);
    let result = zero(context);
    let (head, done) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    let here = byte(context, &string, index);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    let (found, other, next) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(equal(IntType::U8, here.clone(), wanted), found, other);
    context.builder.continue_at(found);
    let address = context.sum(string, Expr::Local(index));
    context.builder.set(Lhs::Local(result), address);
    context.builder.place(other);
    context.builder.branch(truth(here, IntType::U8), next, done);
    context.builder.continue_at(next);
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
    Some(Answer::Value(Expr::Local(result)))
}

fn duplicate(context: &mut Context<'_>, call: &Call<'_>, limited: bool) -> Option<Answer> {
    let string = call.argument(0)?;
    let limit = limit(context, call, 1, limited)?;
    let from = context.settle_pointer(string);
    let length = measure(context, string, &from, limit.as_ref());
    let with_end = plus_one(context, length.clone());
    let copy = Expr::Local(allocate(context, call, with_end, false, ObjectRole::Allocated));
    context.builder.emit(Op::Copy(copy.clone(), from, length.clone()));
    let last = Place::pointee(context.sum(copy.clone(), length), IntType::U8);
    context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
    Some(Answer::Value(copy))
}
