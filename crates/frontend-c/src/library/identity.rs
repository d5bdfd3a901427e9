//! What a process is told about itself and its machine: ids, limits, numbers of processors.
//!
//! A value that the process keeps is chosen once, in an object of its own; calls that change such values
//! set a flag, and what is given after that is not modelled. Each value has a range that it is always in
//! (proofs cover all of it) and one that common systems have (only these values are evidence). What may
//! change by itself at any time, such as the number of processors, is in a proof any value of the wide
//! range at each call.

use super::emit::truth;
use super::input::write_object;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{Assignment, BinaryOp, Expr, Initial, IntType, Layout, Lhs, Op, Place, Rhs, Storage, Value};

pub(super) const TABLE: &[Entry] = &[Entry {
    names: &[
        "getpid",
        "getppid",
        "getuid",
        "geteuid",
        "getgid",
        "getegid",
        "getpgrp",
        "sysconf",
        "pathconf",
        "fpathconf",
        "getdtablesize",
        "getpagesize",
        "get_nprocs",
        "get_nprocs_conf",
        "gethostid",
        "isatty",
    ],
    wins: Wins::Body,
    model: answer,
}];

/// Calls after which such a value may be another one.
const CHANGES: &[&str] = &[
    "fork",
    "daemon",
    "setuid",
    "seteuid",
    "setgid",
    "setegid",
    "setgroups",
    "initgroups",
    "setpgid",
    "setpgrp",
    "setsid",
    "setrlimit",
];

/// `_SC_PAGESIZE`, `_SC_NPROCESSORS_CONF` and `_SC_NPROCESSORS_ONLN` of glibc.
const PAGE_SIZE: Value = 30;
const PROCESSORS: [Value; 2] = [83, 84];
/// `_SC_ARG_MAX`, `_SC_CHILD_MAX` and `_SC_OPEN_MAX`: numbers of thousands everywhere, or without a limit.
const LIMITS: [Value; 3] = [0, 1, 4];

/// What is known of a value.
struct Known {
    /// The least and the greatest value that there may be.
    least: Value,
    most: Value,
    /// From the least to the greatest value that is evidence; `None` when none is.
    usual: Option<(Value, Value)>,
    /// Whether it stays the same until the process changes it.
    stays: bool,
}

fn known(call: &Call<'_>, ty: IntType) -> Known {
    let (min, max) = (ty.min(), ty.max());
    let argument = call.arguments.first().and_then(|argument| argument.constant);
    let processors = Known { least: -1, most: max, usual: Some((1, 256)), stays: false };
    let page = Known { least: 1, most: max, usual: Some((4096, 4096)), stays: false };
    match call.name {
        "getpid" | "getpgrp" => Known { least: 1, most: max, usual: Some((1, max)), stays: true },
        "getuid" | "geteuid" | "getgid" | "getegid" | "gethostid" => {
            Known { least: min, most: max, usual: Some((min, max)), stays: true }
        }
        "getpagesize" => page,
        // Files may be opened under the same number.
        "isatty" => Known { least: 0, most: 1, usual: argument.map(|_| (0, 1)), stays: false },
        "sysconf" if argument == Some(PAGE_SIZE) => page,
        "get_nprocs" | "get_nprocs_conf" => processors,
        "sysconf" if argument.is_some_and(|name| PROCESSORS.contains(&name)) => processors,
        "sysconf" if argument.is_some_and(|name| LIMITS.contains(&name)) => {
            Known { least: -1, most: max, usual: Some((4096, 1 << 20)), stays: false }
        }
        "getppid" => Known { least: 0, most: max, usual: None, stays: false },
        _ => Known { least: -1, most: max, usual: None, stays: false },
    }
}

/// The flag that says that the process has changed.
fn changed(context: &mut Context<'_>) -> Place {
    let name = "whether the process changed";
    let object = context.own_object(name, Storage::Static, Layout::Scalar(IntType::U8), 1);
    Place { atomic: true, ..Place::cell(object, 0, IntType::U8) }
}

/// Notes that a call changes what the process is told about itself.
pub(super) fn change(context: &mut Context<'_>, call: &Call<'_>) {
    if CHANGES.contains(&call.name) {
        let place = changed(context);
        context.builder.set(Lhs::Memory(place), Expr::int(1, IntType::U8));
    }
}

fn between(value: &Expr, ty: IntType, (least, most): (Value, Value)) -> Expr {
    let above = Expr::binary(BinaryOp::Le, ty, Expr::int(least, ty), value.clone());
    above.and(Expr::binary(BinaryOp::Le, ty, value.clone(), Expr::int(most, ty)))
}

/// The limits of a process, each the same until the process changes one; the first is no greater than the
/// second.
pub(super) fn limits(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (which, target) = (call.argument(0)?, call.argument(1)?);
    target.pointee_size()?;
    let ty = IntType::U64;
    let name = which.constant.filter(|_| target.pointee_size() == Some(2 * ty.bytes()));
    let (kept, open, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    match name {
        Some(_) => {
            let flag = changed(context);
            context.builder.branch(truth(Expr::load(flag), IntType::U8), open, kept);
        }
        None => context.builder.jump(open),
    }
    context.builder.continue_at(open);
    write_object(context, target);
    context.builder.jump(done);
    if let Some(name) = name {
        context.builder.continue_at(kept);
        let [now, most] = ["limit", "greatest limit"].map(|what| {
            let (name, layout) = (format!("{what} {name} of the process"), Layout::Scalar(ty));
            let object =
                context.own_object_with(&name, Storage::Static, layout, ty.bytes(), Initial::Unknown);
            Expr::Local(context.builder.save(Expr::load(Place::cell(object, 0, ty)), ty))
        });
        let is_less = Expr::binary(BinaryOp::Le, ty, now.clone(), most.clone());
        let now = Expr::IfThenElse(Box::new((is_less, now, most.clone())));
        let to = context.settle_pointer(target);
        let places = [0, ty.bytes()].map(|at| Place::pointee(context.at_offset(&to, at), ty));
        context.unless_null(target, to, |context| {
            for (place, value) in places.into_iter().zip([now, most]) {
                context.builder.set(Lhs::Memory(place), value);
            }
        });
        context.builder.jump(done);
    }
    context.builder.continue_at(done);
    super::input::between(context, call, -1, 0)
}

fn answer(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    super::printing::read_pointees(context, call);
    let Some(ty) = call.result else { return Some(Answer::Nothing) };
    let known = known(call, ty);
    let result = context.builder.temporary(ty);
    let (usual, open, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    match known.usual {
        None => context.builder.jump(open),
        Some(_) if known.stays => {
            let flag = changed(context);
            context.builder.branch(truth(Expr::load(flag), IntType::U8), open, usual);
        }
        Some(_) => {
            context.builder.alternative(Op::Assume(Expr::bool(true)), open);
            context.builder.alternative(Op::Assume(Expr::bool(true)), usual);
            context.builder.leave();
        }
    }
    context.builder.continue_at(open);
    let constraint = Some(between(&Expr::Local(result), ty, (known.least.max(ty.min()), known.most)));
    let pairs = vec![(Lhs::Local(result), Rhs::Unknown)];
    context.builder.emit(Op::Assign(Assignment { pairs, constraint }));
    context.builder.jump(done);
    if let Some(range) = known.usual {
        context.builder.continue_at(usual);
        let name = match call.arguments.first().and_then(|argument| argument.constant) {
            None => format!("what {} gives", call.name),
            Some(value) => format!("what {} {value} gives", call.name),
        };
        let layout = Layout::Scalar(ty);
        let object = context.own_object_with(&name, Storage::Static, layout, ty.bytes(), Initial::Unknown);
        context.builder.set(Lhs::Local(result), Expr::load(Place::cell(object, 0, ty)));
        // What was chosen outside of the range stands for its least value: so no execution ends here.
        let (own, least) = (Expr::Local(result), Expr::int(range.0, ty));
        let settled = Expr::IfThenElse(Box::new((between(&own, ty, range), own, least)));
        context.builder.set(Lhs::Local(result), settled);
        context.builder.jump(done);
    }
    context.builder.continue_at(done);
    Some(Answer::Value(Expr::Local(result)))
}
