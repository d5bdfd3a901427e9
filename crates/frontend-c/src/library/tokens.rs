//! Functions that look for parts of strings, as loops over their bytes. Exact.
//!
//! `strtok` keeps its place in memory of its own, which two threads that call it race on, as they do in
//! common libraries.

use super::emit::{equal, truth};
use super::strings::{advance, byte, zero};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Layout, Lhs, LocalId, Place, Storage};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["strspn"], wins: Wins::Body, model: |c, call| count(c, call, true) },
    Entry { names: &["strcspn"], wins: Wins::Body, model: |c, call| count(c, call, false) },
    Entry { names: &["strpbrk"], wins: Wins::Body, model: first_of },
    Entry { names: &["strstr"], wins: Wins::Body, model: |c, call| find_string(c, call, false) },
    Entry { names: &["strcasestr"], wins: Wins::Body, model: |c, call| find_string(c, call, true) },
    Entry { names: &["strtok"], wins: Wins::Body, model: |c, call| token(c, call, None) },
    Entry { names: &["strtok_r"], wins: Wins::Body, model: |c, call| token(c, call, call.argument(2)) },
    Entry { names: &["strsep"], wins: Wins::Body, model: separate },
];

fn load(address: Expr, ty: IntType) -> Expr {
    Expr::load(Place::pointee(address, ty))
}

/// How many bytes at the start of a string are all in a set, or all not.
fn span(context: &mut Context<'_>, string: &Expr, set: &Expr, within: bool) -> LocalId {
    let (index, other) = (zero(context), zero(context));
    let (head, inside, look) = (context.builder.label(), context.builder.label(), context.builder.label());
    let (member, stranger, done) =
        (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    let here = byte(context, string, index);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    context.builder.branch(truth(here.clone(), IntType::U8), inside, done);
    context.builder.continue_at(inside);
    context.builder.set(Lhs::Local(other), Expr::int(0, context.pointer()));
    context.builder.place(look);
    let candidate = byte(context, set, other);
    let candidate = Expr::Local(context.builder.save(candidate, IntType::U8));
    let (compare, next) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(candidate.clone(), IntType::U8), compare, stranger);
    context.builder.continue_at(compare);
    context.builder.branch(equal(IntType::U8, candidate, here), member, next);
    context.builder.continue_at(next);
    advance(context, other);
    context.builder.jump(look);
    let (continues, stops) = if within { (member, stranger) } else { (stranger, member) };
    context.builder.continue_at(stops);
    context.builder.jump(done);
    context.builder.continue_at(continues);
    advance(context, index);
    context.builder.jump(head);
    context.builder.continue_at(done);
    index
}

fn count(context: &mut Context<'_>, call: &Call<'_>, within: bool) -> Option<Answer> {
    let (string, set) = (call.argument(0)?, call.argument(1)?);
    let (string, set) = (context.settle_pointer(string), context.settle_pointer(set));
    Some(Answer::Value(Expr::Local(span(context, &string, &set, within))))
}

/// The address of the first byte that is in a set, or null.
fn first_of(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (string, set) = (call.argument(0)?, call.argument(1)?);
    let (string, set) = (context.settle_pointer(string), context.settle_pointer(set));
    let index = span(context, &string, &set, false);
    let address = context.sum(string, Expr::Local(index));
    let result = zero(context);
    let (found, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(load(address.clone(), IntType::U8), IntType::U8), found, done);
    context.builder.continue_at(found);
    context.builder.set(Lhs::Local(result), address);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// A letter in lower case (of the C locale); other bytes as they are.
fn lower(letter: Expr) -> Expr {
    let ty = IntType::U8;
    let bound = |letter: u8| Expr::int(letter.into(), ty);
    let is_upper = Expr::binary(BinaryOp::Le, ty, bound(b'A'), letter.clone()).and(Expr::binary(
        BinaryOp::Le,
        ty,
        letter.clone(),
        bound(b'Z'),
    ));
    let small = Expr::binary(BinaryOp::Add, ty, letter.clone(), bound(b'a' - b'A'));
    Expr::IfThenElse(Box::new((is_upper, small, letter)))
}

/// The address of the first occurrence of a string in another, or null; in any case of letters, if asked for.
fn find_string(context: &mut Context<'_>, call: &Call<'_>, any_case: bool) -> Option<Answer> {
    let (string, wanted) = (call.argument(0)?, call.argument(1)?);
    let (string, wanted) = (context.settle_pointer(string), context.settle_pointer(wanted));
    let (start, other, result) = (zero(context), zero(context), zero(context));
    let (head, look, compare) = (context.builder.label(), context.builder.label(), context.builder.label());
    let (same, differs, more) = (context.builder.label(), context.builder.label(), context.builder.label());
    let (found, done) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.set(Lhs::Local(other), Expr::int(0, context.pointer()));
    context.builder.place(look);
    let candidate = byte(context, &wanted, other);
    let candidate = Expr::Local(context.builder.save(candidate, IntType::U8));
    context.builder.branch(truth(candidate.clone(), IntType::U8), compare, found);
    context.builder.continue_at(compare);
    let from = context.sum(string.clone(), Expr::Local(start));
    let here = byte(context, &from, other);
    let here = Expr::Local(context.builder.save(here, IntType::U8));
    let is_same = match any_case {
        true => equal(IntType::U8, lower(candidate), lower(here)),
        false => equal(IntType::U8, candidate, here),
    };
    context.builder.branch(is_same, same, differs);
    context.builder.continue_at(same);
    advance(context, other);
    context.builder.jump(look);
    context.builder.continue_at(differs);
    let first = byte(context, &string, start);
    context.builder.branch(truth(first, IntType::U8), more, done);
    context.builder.continue_at(more);
    advance(context, start);
    context.builder.jump(head);
    context.builder.continue_at(found);
    let address = context.sum(string, Expr::Local(start));
    context.builder.set(Lhs::Local(result), address);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The next token of a string, or null; the place where the next one begins is stored.
fn token(context: &mut Context<'_>, call: &Call<'_>, place: Option<&Argument>) -> Option<Answer> {
    let (string, set) = (call.argument(0)?, call.argument(1)?);
    let pointer = context.pointer();
    let (string, set) = (context.settle_pointer(string), context.settle_pointer(set));
    let place = match place {
        Some(place) => context.settle_pointer(place),
        None => {
            let (layout, name) = (Layout::Scalar(pointer), "place of strtok");
            Expr::Address(context.own_object(name, Storage::Static, layout, pointer.bytes()), 0)
        }
    };
    let place = Place::pointee(place, pointer);
    let at = context.builder.save(string.clone(), pointer);
    let (old, begin) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(string, pointer), begin, old);
    context.builder.continue_at(old);
    context.builder.set(Lhs::Local(at), Expr::load(place.clone()));
    context.builder.place(begin);
    let skipped = span(context, &Expr::Local(at), &set, true);
    let start = context.sum(Expr::Local(at), Expr::Local(skipped));
    let start = Expr::Local(context.builder.save(start, pointer));
    let result = zero(context);
    let (some, last, cut, done) =
        (context.builder.label(), context.builder.label(), context.builder.label(), context.builder.label());
    let none = context.builder.label();
    context.builder.branch(truth(load(start.clone(), IntType::U8), IntType::U8), some, none);
    context.builder.continue_at(none);
    context.builder.set(Lhs::Memory(place.clone()), start.clone());
    context.builder.jump(done);
    context.builder.continue_at(some);
    context.builder.set(Lhs::Local(result), start.clone());
    let length = span(context, &start, &set, false);
    let end = context.sum(start, Expr::Local(length));
    let end = Expr::Local(context.builder.save(end, pointer));
    context.builder.branch(truth(load(end.clone(), IntType::U8), IntType::U8), cut, last);
    context.builder.continue_at(last);
    context.builder.set(Lhs::Memory(place.clone()), end.clone());
    context.builder.jump(done);
    context.builder.continue_at(cut);
    let next = context.at_offset(&end, 1);
    context.builder.set(Lhs::Memory(Place::pointee(end, IntType::U8)), Expr::int(0, IntType::U8));
    context.builder.set(Lhs::Memory(place), next);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The string up to a separator, of which there need be none.
fn separate(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (place, set) = (call.argument(0)?, call.argument(1)?);
    let pointer = context.pointer();
    let (place, set) = (context.settle_pointer(place), context.settle_pointer(set));
    let place = Place::pointee(place, pointer);
    let string = Expr::Local(context.builder.save(Expr::load(place.clone()), pointer));
    let (some, last, cut, done) =
        (context.builder.label(), context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(truth(string.clone(), pointer), some, done);
    context.builder.continue_at(some);
    let length = span(context, &string, &set, false);
    let end = context.sum(string.clone(), Expr::Local(length));
    let end = Expr::Local(context.builder.save(end, pointer));
    context.builder.branch(truth(load(end.clone(), IntType::U8), IntType::U8), cut, last);
    context.builder.continue_at(last);
    context.builder.set(Lhs::Memory(place.clone()), Expr::int(0, pointer));
    context.builder.jump(done);
    context.builder.continue_at(cut);
    let next = context.at_offset(&end, 1);
    context.builder.set(Lhs::Memory(Place::pointee(end, IntType::U8)), Expr::int(0, IntType::U8));
    context.builder.set(Lhs::Memory(place), next);
    context.builder.place(done);
    Some(Answer::Value(string))
}
