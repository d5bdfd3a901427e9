//! Signals. A handler that is set is not run: the program is not proved then, and the report says so.
//!
//! `SIG_DFL` and `SIG_IGN` are nothing. What `sigaction` sets is in memory; where no function can be there, its note is
//! dropped ([`settle`]), once all of the program is known.

use super::emit::truth;
use super::input::{any_between, between, fill_object, read_object, write_object};
use super::outside::unknown_between;
use super::printing::{read_pointee, read_pointees};
use super::{Answer, Call, Context, Entry, Wins};
use ir::passes::points_to::PointsTo;
use ir::{Expr, IntType, Layout, Lhs, Place, Program, Rhs, Storage, Value};

/// What is said of a program that sets a handler.
const NO_HANDLER: &str = "no signal handler ever runs";
/// The name of locals with what may be a handler.
const HANDLER: &str = "%signal handler";

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["sigaction"], wins: Wins::Body, model: action },
    Entry {
        names: &["signal", "sigset", "bsd_signal", "__sysv_signal", "sysv_signal"],
        wins: Wins::Body,
        model: signal,
    },
    // What a signal does to the process is for its handler, which is noted where it is set.
    Entry {
        names: &["raise", "kill", "pthread_kill", "tgkill", "pause", "sigsuspend"],
        wins: Wins::Body,
        model: |context, call| {
            // Signal 0 only asks whether there is someone.
            if call.name == "kill" && call.argument(1)?.constant == Some(0) {
                return between(context, call, -1, 0);
            }
            context.undecided_for_deadlocks();
            context.lose_path();
            read_pointees(context, call);
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry { names: &["sigwait"], wins: Wins::Body, model: wait },
    Entry {
        names: &["sigpending"],
        wins: Wins::Body,
        model: |context, call| {
            fill_object(context, call, 0)?;
            between(context, call, -1, 0)
        },
    },
];

/// SIGKILL and SIGSTOP cannot be handled.
fn can_be_handled(signal: Option<Value>) -> bool {
    signal.is_some_and(|signal| (1..32).contains(&signal) && signal != 9 && signal != 19)
}

/// Whether a handler was set before.
fn was_set(context: &mut Context<'_>) -> Place {
    let name = "whether a signal handler was set";
    let object = context.own_object(name, Storage::Static, Layout::Bytes(1), 1);
    super::emit::atomic_place(Expr::Address(object, 0), IntType::U8)
}

fn set(context: &mut Context<'_>) {
    let was_set = was_set(context);
    context.builder.set(Lhs::Memory(was_set), Expr::int(1, IntType::U8));
}

/// Sets what happens on a signal, and stores what happened before.
fn action(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (new, old) = (call.argument(1)?, call.argument(2)?);
    if !(old.is_always_null() || old.pointee_size().is_some()) {
        return None;
    }
    read_pointee(context, new);
    if !new.is_always_null() {
        let pointer = context.pointer();
        let address = context.settle_pointer(new);
        let handler = context.named_local(HANDLER, pointer);
        context.builder.set(Lhs::Local(handler), Expr::int(0, pointer));
        let load = Expr::load(Place::pointee(address.clone(), pointer));
        context.unless_null(new, address, |context| {
            context.builder.set(Lhs::Local(handler), load);
        });
        let is_function =
            Expr::binary(ir::BinaryOp::Lt, pointer, Expr::int(1, pointer), Expr::Local(handler));
        let (some, done) = (context.builder.label(), context.builder.label());
        context.builder.branch(is_function, some, done);
        context.builder.continue_at(some);
        context.undecided_for_deadlocks();
        set(context);
        context.builder.place(done);
        context.assume(call, NO_HANDLER, true);
    }
    write_object(context, old);
    if can_be_handled(call.argument(0)?.constant) {
        return super::emit::answer_int(0);
    }
    Some(Answer::Value(unknown_between(context, IntType::I32, -1, 0)))
}

/// Sets what happens on a signal, and gives what happened before: the default, or nothing, as long as no handler was set.
fn signal(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (number, handler) = (call.argument(0)?, call.argument(1)?);
    let ty = context.pointer();
    let is_plain = handler.constant.is_some_and(|handler| (0..=1).contains(&handler));
    let was_set = was_set(context);
    let before = Expr::Local(context.builder.save(Expr::load(was_set), IntType::U8));
    if !is_plain {
        context.assume(call, NO_HANDLER, true);
        context.undecided_for_deadlocks();
        set(context);
    }
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    if !can_be_handled(number.constant) {
        return context.answer_open(call, Rhs::Unknown);
    }
    let result = any_between(context, ty, 0, 1);
    let result = context.builder.save(result, ty);
    let (other, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(before, IntType::U8), other, done);
    context.builder.continue_at(other);
    context.builder.emit(ir::Op::unknown(Lhs::Local(result)));
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Waits for a signal of a set.
fn wait(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let target = call.argument(1)?;
    target.pointee_size()?;
    context.undecided_for_deadlocks();
    read_object(context, call.argument(0)?);
    // Which signals are in the set is not modelled.
    let pointer = context.settle_pointer(target);
    let number = unknown_between(context, IntType::I32, 1, 64);
    context.store_through(target, pointer, |lhs| ir::Op::set(lhs, number));
    Some(Answer::Value(unknown_between(context, IntType::I32, 0, 0x7fff_ffff)))
}

/// Drops the notes about handlers where no function can be one.
pub(super) fn settle(program: &mut Program) {
    let suffix = format!(": {NO_HANDLER}");
    if !program.assumptions.iter().any(|assumption| assumption.text == format!("sigaction{suffix}")) {
        return;
    }
    let points_to = PointsTo::of(program);
    let mut set = Vec::new();
    let mut seen = Vec::new();
    for (id, code) in program.templates.enumerate() {
        for (local, found) in code.locals.enumerate().filter(|(_, local)| local.name == HANDLER) {
            seen.push(found.span);
            if !points_to.callees(id, &Expr::Local(local)).is_empty() {
                set.push(found.span);
            }
        }
    }
    program.assumptions.retain(|assumption| {
        let is_note = assumption.text == format!("sigaction{suffix}");
        !(is_note && seen.contains(&assumption.span) && !set.contains(&assumption.span))
    });
}
