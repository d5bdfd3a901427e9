//! Options on the command line, and variables of the library.
//!
//! `getopt` gives any option that it is asked for, as the command line is an input: a letter of the text,
//! the value of an entry of the table, `?`, or -1. What it stores in `optarg`, `optind` and `optopt` is any
//! argument of the program, and any number within bounds. Threads that use it side by side race on these
//! variables (POSIX `getopt`).
//!
//! Direction: exact, but that an option that is given is not looked for in the arguments of the program
//! again, and that any of these may be read, or moved; an execution that does so is no evidence.

use super::emit::truth;
use super::input::{any_between, any_up_to};
use super::{Answer, Call, Context, Entry, Wins};
use ir::{
    BinaryOp, DataModel, Expr, Initial, IntType, Layout, Lhs, Object, ObjectId, Op, Place, Program, Rhs,
    Span, Storage, Value,
};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["getopt"], wins: Wins::Body, model: |c, call| option(c, call, false) },
    Entry {
        names: &["getopt_long", "getopt_long_only"],
        wins: Wins::Body,
        model: |c, call| option(c, call, true),
    },
];

/// The variables that programs share with the library: their types and first values.
fn variable(name: &str, model: DataModel) -> Option<(IntType, Value)> {
    match name {
        "optarg" => Some((model.pointer(), 0)),
        "optind" | "opterr" => Some((IntType::I32, 1)),
        "optopt" => Some((IntType::I32, b'?'.into())),
        "optreset" | "daylight" => Some((IntType::I32, 0)),
        _ => None,
    }
}

/// The object of a variable of the library, if this is one: the same for all files, and for the models.
pub fn own_variable(program: &mut Program, name: &str) -> Option<ObjectId> {
    let (ty, first) = variable(name, program.data_model)?;
    let (storage, span) = (Storage::Static, Span::default());
    let is_it = |object: &Object| object.name == name && object.storage == storage && object.span == span;
    if let Some((id, _)) = program.objects.enumerate().find(|(_, object)| is_it(object)) {
        return Some(id);
    }
    let initial = Initial::Values(vec![(0, ty, Expr::int(first, ty))]);
    let (layout, size) = (Layout::Scalar(ty), ty.bytes());
    let name = name.to_owned();
    Some(program.objects.push(Object {
        name,
        storage,
        size,
        align: size,
        layout,
        initial,
        span,
        role: ir::ObjectRole::Program,
    }))
}

/// Stores a value in a variable of the library.
fn store(context: &mut Context<'_>, name: &str, value: Expr) {
    let Some(object) = own_variable(context.program, name) else { return };
    let Some((ty, _)) = variable(name, context.program.data_model) else { return };
    context.builder.set(Lhs::Memory(Place::cell(object, 0, ty)), value);
}

/// The next option.
fn option(context: &mut Context<'_>, call: &Call<'_>, has_table: bool) -> Option<Answer> {
    let (count, arguments, letters) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let table = if has_table { Some((call.argument(3)?, call.argument(4)?)) } else { None };
    let int = IntType::I32;
    let (count, array) = (context.settle_as(count, int), context.settle_pointer(arguments));
    super::printing::read_pointee(context, letters);
    // All calls use the variables, whatever they find.
    store(context, "optarg", Expr::int(0, context.pointer()));
    let result = context.builder.save(Expr::int(-1, int), int);
    let (some, done) = (context.builder.label(), context.builder.label());
    let few = Expr::binary(BinaryOp::Le, int, count.clone(), Expr::int(1, int));
    context.builder.branch(few, done, some);
    context.builder.continue_at(some);
    look_through(context, &(array.clone(), count.clone()));
    // It continues at another argument, as far as there are some.
    let index = any_up_to(context, int, 1, count.clone());
    store(context, "optind", index);
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    let found = context.builder.label();
    context.builder.alternative(Op::Assume(Expr::bool(true)), found);
    context.builder.continue_at(found);
    let arguments = (array, count);
    let (bad, short) = (context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Assume(Expr::bool(true)), bad);
    context.builder.alternative(Op::Assume(Expr::bool(true)), short);
    let long = context.builder.label();
    if table.is_some() {
        context.builder.alternative(Op::Assume(Expr::bool(true)), long);
    }
    context.builder.continue_at(bad);
    let letter = any_between(context, int, 0, 255);
    store(context, "optopt", letter);
    context.builder.set(Lhs::Local(result), Expr::int(b'?'.into(), int));
    context.builder.jump(done);
    if let Some((table, index)) = table {
        context.builder.continue_at(long);
        long_option(context, table, index, &arguments, result);
        context.builder.jump(done);
    }
    context.builder.continue_at(short);
    short_option(context, letters.text.as_deref(), &arguments, result);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Reads the arguments of the program, and perhaps moves one that is no option after the others, as GNU's
/// library does.
fn look_through(context: &mut Context<'_>, (array, count): &(Expr, Expr)) {
    let (ty, int) = (context.pointer(), IntType::I32);
    let cell = |context: &mut Context<'_>| {
        let index = context.open_value(int, Rhs::Unknown, |index| {
            let least = Expr::binary(BinaryOp::Le, int, Expr::int(1, int), index.clone());
            Some(least.and(Expr::binary(BinaryOp::Lt, int, index, count.clone())))
        });
        let width = Expr::int(Value::from(ty.bytes()), ty);
        let distance = Expr::binary(BinaryOp::Mul, ty, Expr::cast(ty, index), width);
        Place::pointee(context.sum(array.clone(), distance), ty)
    };
    context.perhaps(|context| {
        let place = cell(context);
        let text = context.builder.save(Expr::load(place), ty);
        let first = Expr::load(Place::pointee(Expr::Local(text), IntType::U8));
        context.builder.save(first, IntType::U8);
        context.perhaps(|context| {
            let place = cell(context);
            context.builder.set(Lhs::Memory(place), Expr::Local(text));
        });
    });
    let Some(errors) = own_variable(context.program, "opterr") else { return };
    context.builder.save(Expr::load(Place::cell(errors, 0, int)), int);
}

/// Whether an option has an argument of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    None,
    Required,
    Optional,
}

/// The option's own argument: any argument of the program, from any byte on.
fn store_argument(context: &mut Context<'_>, (array, count): &(Expr, Expr)) {
    let (ty, int) = (context.pointer(), IntType::I32);
    let last = Expr::binary(BinaryOp::Sub, int, count.clone(), Expr::int(1, int));
    let index = any_up_to(context, int, 1, last);
    let width = Expr::int(Value::from(ty.bytes()), ty);
    let distance = Expr::binary(BinaryOp::Mul, ty, Expr::cast(ty, index), width);
    let cell = Place::pointee(context.sum(array.clone(), distance), ty);
    let text = context.builder.save(Expr::load(cell), ty);
    // It may begin after the letter, or after a name and `=`.
    context.repeatedly(|context| {
        let byte = Expr::load(Place::pointee(Expr::Local(text), IntType::U8));
        context.builder.emit(Op::Assume(truth(byte, IntType::U8)));
        let next = context.at_offset(&Expr::Local(text), 1);
        context.builder.set(Lhs::Local(text), next);
    });
    store(context, "optarg", Expr::Local(text));
}

/// The letters that are asked for, with what else may be given, and whether each has an argument of its own.
fn asked_for(letters: &[u8]) -> Vec<(Value, Own)> {
    let end = letters.iter().position(|byte| *byte == 0).unwrap_or(letters.len());
    let letters = &letters[..end];
    let start = letters.iter().take_while(|byte| matches!(**byte, b'+' | b'-' | b':')).count();
    let mut found = Vec::new();
    let mut rest = letters[start..].iter().copied().peekable();
    while let Some(letter) = rest.next() {
        let mut own = Own::None;
        if rest.next_if_eq(&b':').is_some() {
            own = if rest.next_if_eq(&b':').is_some() { Own::Optional } else { Own::Required };
        }
        if !matches!(letter, b':' | b';') {
            found.push((Value::from(letter), own));
        }
    }
    if letters[..start].contains(&b':') {
        found.push((b':'.into(), Own::None));
    }
    if letters.first() == Some(&b'-') {
        found.push((1, Own::Required));
    }
    found
}

/// A letter that is asked for.
fn short_option(
    context: &mut Context<'_>,
    letters: Option<&[u8]>,
    arguments: &(Expr, Expr),
    result: ir::LocalId,
) {
    let int = IntType::I32;
    let Some(letters) = letters else {
        // Which letters there are, and which have arguments, is not modelled.
        let letter = super::outside::unknown_between(context, int, 0, 255);
        context.builder.set(Lhs::Local(result), letter);
        context.lose_path();
        return context.perhaps(|context| store_argument(context, arguments));
    };
    let asked = asked_for(letters);
    if asked.is_empty() {
        return context.builder.emit(Op::Assume(Expr::bool(false)));
    }
    let done = context.builder.label();
    let equals =
        |value: &Expr, letter: Value| Expr::binary(BinaryOp::Eq, int, value.clone(), Expr::int(letter, int));
    for own in [Own::None, Own::Required, Own::Optional] {
        let some: Vec<Value> =
            asked.iter().filter(|(_, kind)| *kind == own).map(|(letter, _)| *letter).collect();
        if some.is_empty() {
            continue;
        }
        let (from, way) = (context.builder.here(), context.builder.label());
        context.builder.alternative(Op::Assume(Expr::bool(true)), way);
        context.builder.continue_at(way);
        let letter = context.open_value(int, Rhs::Any, |value| {
            let none = some.iter().map(|letter| equals(&value, *letter).not()).reduce(Expr::and);
            none.map(Expr::not)
        });
        context.builder.set(Lhs::Local(result), letter);
        match own {
            Own::None => {}
            Own::Required => store_argument(context, arguments),
            Own::Optional => context.perhaps(|context| store_argument(context, arguments)),
        }
        context.builder.jump(done);
        context.builder.continue_at(from);
    }
    context.builder.leave();
    context.builder.continue_at(done);
}

/// An entry of the table: its name, whether it has an argument, where its value goes, and the value.
fn long_option(
    context: &mut Context<'_>,
    table: &super::Argument,
    index: &super::Argument,
    arguments: &(Expr, Expr),
    result: ir::LocalId,
) {
    let (ty, int) = (context.pointer(), IntType::I32);
    let width = ty.bytes();
    let table = context.settle_pointer(table);
    let target = context.settle_pointer(index);
    let entry = context.builder.save(table, ty);
    let number = context.builder.save(Expr::int(0, int), int);
    let is_entry = |context: &mut Context<'_>| {
        let name = Expr::load(Place::pointee(Expr::Local(entry), ty));
        context.builder.emit(Op::Assume(truth(name, ty)));
    };
    context.repeatedly(|context| {
        is_entry(context);
        let next = context.at_offset(&Expr::Local(entry), 4 * width);
        context.builder.set(Lhs::Local(entry), next);
        let more = Expr::binary(BinaryOp::Add, int, Expr::Local(number), Expr::int(1, int));
        context.builder.set(Lhs::Local(number), more);
    });
    is_entry(context);
    context.store_through(index, target, |lhs| Op::set(lhs, Expr::Local(number)));
    // 0: no argument of its own, 1: one, 2: perhaps one.
    let own = Expr::load(Place::pointee(context.at_offset(&Expr::Local(entry), width), int));
    let own = Expr::Local(context.builder.save(own, int));
    let (with, without) = (context.builder.label(), context.builder.label());
    let is_required = Expr::binary(BinaryOp::Eq, int, own.clone(), Expr::int(1, int));
    let is_none = Expr::binary(BinaryOp::Eq, int, own, Expr::int(0, int));
    context.builder.alternative(Op::Assume(is_none.not()), with);
    context.builder.alternative(Op::Assume(is_required.not()), without);
    context.builder.continue_at(with);
    store_argument(context, arguments);
    context.builder.place(without);
    let flag = Expr::load(Place::pointee(context.at_offset(&Expr::Local(entry), 2 * width), ty));
    let flag = Expr::Local(context.builder.save(flag, ty));
    let value = Expr::load(Place::pointee(context.at_offset(&Expr::Local(entry), 3 * width), int));
    let value = Expr::Local(context.builder.save(value, int));
    let (set, give, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.branch(truth(flag.clone(), ty), set, give);
    context.builder.continue_at(set);
    context.builder.set(Lhs::Memory(Place::pointee(flag, int)), value.clone());
    context.builder.set(Lhs::Local(result), Expr::int(0, int));
    context.builder.jump(done);
    context.builder.continue_at(give);
    context.builder.set(Lhs::Local(result), value);
    context.builder.place(done);
}
