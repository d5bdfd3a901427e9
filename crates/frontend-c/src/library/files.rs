//! Files and folders: what is known of a file, walks over folders, lines of any length, devices.
//!
//! What is in the file system is an input. Walks call the program's function for each file that they find.
//! Deviation: names and lines have less than 256 bytes (or what the buffer holds), which is noted.

use super::emit::truth;
use super::input::{
    any_between, any_up_to, between, copy_input, copy_line, fill_object, number_or_failure, open_bytes,
    unmodelled_bytes, write_object, zero_or_number_or_failure,
};
use super::memory::allocate;
use super::outside::unknown_between;
use super::printing::{read_pointee, read_pointees};
use super::strings::scan;
use super::{Answer, Call, Context, Entry, Wins, threads};
use ir::{BinaryOp, Expr, IntType, Lhs, ObjectRole, Op, Place, Rhs, Value};

pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["stat", "fstat", "lstat", "stat64", "fstat64", "lstat64", "statfs", "fstatfs", "statvfs"],
        wins: Wins::Body,
        model: |c, call| status(c, call, 0, 1),
    },
    Entry {
        names: &["__xstat", "__fxstat", "__lxstat", "__xstat64", "__fxstat64", "__lxstat64"],
        wins: Wins::Body,
        model: |c, call| status(c, call, 1, 2),
    },
    Entry {
        names: &["fstatat", "fstatat64", "newfstatat"],
        wins: Wins::Body,
        model: |c, call| status(c, call, 1, 2),
    },
    Entry {
        names: &["__fxstatat", "__fxstatat64"],
        wins: Wins::Body,
        model: |c, call| status(c, call, 2, 3),
    },
    Entry { names: &["tcgetattr"], wins: Wins::Body, model: |c, call| status(c, call, 0, 1) },
    Entry { names: &["opendir", "fdopendir"], wins: Wins::Body, model: open_folder },
    Entry { names: &["readdir", "readdir64"], wins: Wins::Body, model: next_entry },
    Entry { names: &["rewinddir", "seekdir"], wins: Wins::Body, model: super::emit::nothing_happens },
    Entry { names: &["ftw", "ftw64"], wins: Wins::Body, model: |c, call| walk(c, call, false) },
    Entry { names: &["nftw", "nftw64"], wins: Wins::Body, model: |c, call| walk(c, call, true) },
    Entry { names: &["getline"], wins: Wins::Body, model: line },
    Entry { names: &["getdelim", "__getdelim"], wins: Wins::Body, model: line },
    Entry { names: &["realpath"], wins: Wins::Body, model: full_name },
    Entry { names: &["ioctl"], wins: Wins::Body, model: control },
    Entry { names: &["mkstemp", "mkstemp64", "mkostemp"], wins: Wins::Body, model: make_name },
    Entry { names: &["basename", "__xpg_basename", "dirname"], wins: Wins::Body, model: part_of_name },
    Entry { names: &["fileno", "feof", "ferror"], wins: Wins::Body, model: stream_state },
    Entry { names: &["fnmatch"], wins: Wins::Body, model: matches },
];

/// The longest name that a folder has or a walk finds, with its zero.
const NAME: u64 = 256;

/// What is known of a file.
fn status(context: &mut Context<'_>, call: &Call<'_>, path: usize, target: usize) -> Option<Answer> {
    let (path, into) = (call.argument(path)?, call.argument(target)?);
    into.pointee_size()?;
    read_pointee(context, path);
    // Sizes and times are not just any numbers: none is negative. Nor are those of a file system.
    match into.pointee_size()? {
        STATUS => {
            fill_object(context, call, target)?;
            let pointer = context.settle_pointer(into);
            context.unless_null(into, pointer.clone(), |context| {
                for at in SIZES {
                    let size = any_between(context, IntType::I64, 0, IntType::I64.max());
                    let place = Place::pointee(context.at_offset(&pointer, at), IntType::I64);
                    context.builder.set(Lhs::Memory(place), size);
                }
                let times = context.at_offset(&pointer, TIMES);
                context.write_unmodelled(&times, STATUS - TIMES);
            });
        }
        _ => write_object(context, into),
    }
    between(context, call, -1, 0)
}

/// Whether a stream is at its end, or has met an error; its number.
fn stream_state(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    call.argument(0)?;
    // What was read before decides; only a stream that is open has a number.
    let least = if call.name == "fileno" { -1 } else { 0 };
    Some(Answer::Value(unknown_between(context, IntType::I32, least, 0x7fff_ffff)))
}

/// Whether a name is one of a pattern: the arguments decide.
fn matches(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    read_pointees(context, call);
    Some(Answer::Value(unknown_between(context, IntType::I32, 0, 1)))
}

/// Where the entry is in the object of a folder.
const FOLDER_ENTRY: u64 = 16;

/// An entry of a folder: its bytes, and where its name starts.
fn entry_layout(context: &Context<'_>, is_wide: bool) -> (u64, u64) {
    let start = if context.pointer().bytes() == 8 || is_wide { 19 } else { 11 };
    ((start + NAME).next_multiple_of(8), start)
}

/// A folder: it has room for the entry that was read last. Null where there is none.
fn open_folder(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    read_pointees(context, call);
    let ty = context.pointer();
    let result = context.builder.save(Expr::int(0, ty), ty);
    let size = FOLDER_ENTRY + entry_layout(context, true).0;
    context.perhaps(|context| {
        let folder = allocate(context, call, Expr::int(Value::from(size), ty), true, ObjectRole::Automatic);
        context.builder.set(Lhs::Local(result), Expr::Local(folder));
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// The next entry of a folder, in memory of the folder, so that two threads race there; or null.
fn next_entry(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let folder = context.settle_pointer(call.argument(0)?);
    let ty = context.pointer();
    let (size, name) = entry_layout(context, call.name.ends_with("64"));
    let result = context.builder.save(Expr::int(0, ty), ty);
    context.perhaps(|context| {
        let entry = context.at_offset(&folder, FOLDER_ENTRY);
        let from = open_bytes(context);
        context.builder.emit(Op::Copy(entry.clone(), from, Expr::int(Value::from(size), ty)));
        let first = Place::pointee(context.at_offset(&entry, name), IntType::U8);
        let letter = any_between(context, IntType::U8, 1, 255);
        context.builder.set(Lhs::Memory(first), letter);
        let last = Place::pointee(context.at_offset(&entry, name + NAME - 1), IntType::U8);
        context.builder.set(Lhs::Memory(last), Expr::int(0, IntType::U8));
        context.builder.set(Lhs::Local(result), entry);
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// Bytes that hold what is known of a file, and the place of a file in a walk.
const STATUS: u64 = 144;
/// Where the sizes of a file and of its blocks, and their number, are in the former, and where times begin.
const SIZES: [u64; 3] = [48, 56, 64];
const TIMES: u64 = 72;
const PLACE: u64 = 8;

/// Calls a function for a file, and then for any number of others, until it returns another number than 0.
fn walk(context: &mut Context<'_>, call: &Call<'_>, has_place: bool) -> Option<Answer> {
    let (path, function) = (call.argument(0)?, call.argument(1)?);
    // What is called through a pointer in an atomic region would not stay in it.
    if context.builder.is_atomic() && function.function.is_none() {
        return None;
    }
    context.assume(call, "the names that it finds have less than 256 bytes", false);
    read_pointee(context, path);
    let (ty, int) = (context.pointer(), IntType::I32);
    let path = context.settle_pointer(path);
    let callee = threads::callee(context, function);
    let result = context.builder.save(Expr::int(-1, int), int);
    let (begin, visit, next) = (context.builder.label(), context.builder.label(), context.builder.label());
    let (other, done) = (context.builder.label(), context.builder.label());
    // It may fail at any time.
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    context.builder.alternative(Op::Assume(Expr::bool(true)), begin);
    context.builder.continue_at(begin);
    let number = |bytes: u64| Expr::int(Value::from(bytes), ty);
    let found =
        Expr::Local(allocate(context, call, number(NAME + STATUS + PLACE), true, ObjectRole::Automatic));
    let name = context.builder.save(path, ty);
    context.builder.place(visit);
    let (status, place) = (context.at_offset(&found, NAME), context.at_offset(&found, NAME + STATUS));
    let from = unmodelled_bytes(context);
    context.builder.emit(Op::Copy(status.clone(), from, number(STATUS + PLACE)));
    let kind = any_between(context, int, 0, if has_place { 6 } else { 3 });
    let mut passed = vec![Expr::Local(name), status, kind];
    if has_place {
        passed.push(place);
    }
    let answer = context.builder.temporary(int);
    context.builder.emit(Op::Call(callee, passed, Some(Lhs::Local(answer))));
    context.builder.set(Lhs::Local(result), Expr::Local(answer));
    context.builder.branch(truth(Expr::Local(answer), int), done, next);
    context.builder.continue_at(next);
    context.builder.alternative(Op::Assume(Expr::bool(true)), other);
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    let failed = context.builder.label();
    context.builder.alternative(Op::Assume(Expr::bool(true)), failed);
    context.builder.continue_at(failed);
    context.builder.set(Lhs::Local(result), Expr::int(-1, int));
    context.builder.jump(done);
    context.builder.continue_at(other);
    let from = open_bytes(context);
    context.builder.emit(Op::Copy(found.clone(), from, number(NAME - 1)));
    context.builder.set(Lhs::Local(name), found);
    context.builder.jump(visit);
    context.builder.continue_at(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Reads a line into the buffer that is there, or into a new one; gives its length, or -1.
fn line(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (target, size) = (call.argument(0)?, call.argument(1)?);
    let (ty, long) = (context.pointer(), IntType::I64);
    if size.target_type().is_some_and(|target| target.bytes() != ty.bytes()) {
        return None;
    }
    context.assume(call, "the lines that it reads into new memory have less than 256 bytes", false);
    let target = Place::pointee(context.settle_pointer(target), ty);
    let size = Place::pointee(context.settle_pointer(size), ty);
    let result = context.builder.save(Expr::int(-1, long), long);
    let old = Expr::Local(context.builder.save(Expr::load(target.clone()), ty));
    let room = Expr::Local(context.builder.save(Expr::load(size.clone()), ty));
    let (keep, fresh, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    let (release, make, store) = (context.builder.label(), context.builder.label(), context.builder.label());
    let buffer = context.builder.save(old.clone(), ty);
    let length = context.builder.temporary(ty);
    let fits = Expr::binary(BinaryOp::Lt, ty, Expr::int(1, ty), room.clone());
    context.builder.alternative(Op::Assume(Expr::bool(true)), done);
    context.builder.alternative(Op::Assume(truth(old.clone(), ty).and(fits)), keep);
    context.builder.alternative(Op::Assume(Expr::bool(true)), fresh);
    context.builder.continue_at(keep);
    let last = Expr::binary(BinaryOp::Sub, ty, room, Expr::int(1, ty));
    let count = any_up_to(context, ty, 1, last);
    context.builder.set(Lhs::Local(length), count);
    context.builder.jump(store);
    context.builder.continue_at(fresh);
    context.builder.branch(truth(old.clone(), ty), release, make);
    context.builder.continue_at(release);
    context.builder.emit(Op::Free(old));
    context.builder.place(make);
    let made = allocate(context, call, Expr::int(Value::from(NAME), ty), false, ObjectRole::Allocated);
    context.builder.set(Lhs::Local(buffer), Expr::Local(made));
    context.builder.set(Lhs::Memory(target), Expr::Local(made));
    context.builder.set(Lhs::Memory(size), Expr::int(Value::from(NAME), ty));
    let count = any_between(context, ty, 1, Value::from(NAME) - 1);
    context.builder.set(Lhs::Local(length), count);
    context.builder.place(store);
    copy_line(context, &Expr::Local(buffer), Expr::Local(length), None);
    let end = Place::pointee(context.sum(Expr::Local(buffer), Expr::Local(length)), IntType::U8);
    context.builder.set(Lhs::Memory(end), Expr::int(0, IntType::U8));
    context.builder.set(Lhs::Local(result), Expr::cast(long, Expr::Local(length)));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The most bytes of a full name.
const PATH: Value = 4096;

/// A full name, in the buffer that is passed or in a new one; or null.
fn full_name(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (path, buffer) = (call.argument(0)?, call.argument(1)?);
    read_pointee(context, path);
    let ty = context.pointer();
    let to = context.settle_pointer(buffer);
    let result = context.builder.save(Expr::int(0, ty), ty);
    context.perhaps(|context| {
        context.builder.set(Lhs::Local(result), to.clone());
        if !buffer.is_never_null() {
            let (make, done) = (context.builder.label(), context.builder.label());
            context.builder.branch(truth(to.clone(), ty), done, make);
            context.builder.continue_at(make);
            let made = allocate(context, call, Expr::int(PATH, ty), false, ObjectRole::Allocated);
            context.builder.set(Lhs::Local(result), Expr::Local(made));
            context.builder.place(done);
        }
        let length = any_between(context, ty, 1, PATH - 1);
        copy_input(context, &Expr::Local(result), length.clone(), Some(PATH));
        let byte = |address| Lhs::Memory(Place::pointee(address, IntType::U8));
        context.builder.set(byte(Expr::Local(result)), Expr::int(b'/'.into(), IntType::U8));
        let end = context.sum(Expr::Local(result), length);
        context.builder.set(byte(end), Expr::int(0, IntType::U8));
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// Asks a device for something, or tells it something: what is passed by address is read and may be written.
fn control(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    call.argument(1)?;
    if let Some(passed) = call.argument(2).filter(|passed| passed.pointee.is_some()) {
        let is_plain = passed.pointee.as_ref().is_some_and(|pointee| !pointee.has_pointer);
        if !is_plain || passed.pointee_size().is_none_or(|size| size > super::input::MOST) {
            return None;
        }
        read_pointee(context, passed);
        let mut failed = None;
        context.perhaps(|context| failed = Some(fill_object(context, call, 2)));
        failed??;
    }
    zero_or_number_or_failure(context, call)
}

/// Replaces the last six bytes of a name.
fn make_name(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (name, ty) = (context.settle_pointer(call.argument(0)?), context.pointer());
    let length = scan(context, &name, None);
    let start = Expr::binary(BinaryOp::Sub, ty, length.clone(), Expr::int(6, ty));
    let is_long = Expr::binary(BinaryOp::Le, ty, Expr::int(6, ty), length);
    let (long, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(is_long, long, done);
    context.builder.continue_at(long);
    for index in 0..6 {
        let letter = unknown_between(context, IntType::U8, b'0'.into(), b'z'.into());
        let at = context.sum(name.clone(), context.sum(start.clone(), Expr::int(index, ty)));
        context.builder.set(Lhs::Memory(Place::pointee(at, IntType::U8)), letter);
    }
    context.builder.place(done);
    number_or_failure(context, call, 0)
}

/// A part of a name: it points into the name, which may be changed; or, in rare cases, to a text of the
/// library.
fn part_of_name(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let name = call.argument(0)?;
    let ty = context.pointer();
    let pointer = context.settle_pointer(name);
    let result = context.builder.save(pointer.clone(), ty);
    context.unless_null(name, pointer.clone(), |context| {
        let length = scan(context, &pointer, None);
        let inside = |at: Expr| Some(Expr::binary(BinaryOp::Le, ty, at, length.clone()));
        let at = context.open_value(ty, Rhs::Unknown, inside);
        let part = context.sum(pointer.clone(), at);
        context.builder.set(Lhs::Local(result), part);
        context.perhaps(|context| {
            context.lose_path();
            let at = context.open_value(ty, Rhs::Unknown, inside);
            let end = Place::pointee(context.sum(pointer.clone(), at), IntType::U8);
            context.builder.set(Lhs::Memory(end), Expr::int(0, IntType::U8));
        });
    });
    context.perhaps(|context| {
        context.lose_path();
        let text = super::environment::text(context, call);
        context.builder.set(Lhs::Local(result), text);
    });
    Some(Answer::Value(Expr::Local(result)))
}
