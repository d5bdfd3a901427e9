//! Other processes: `fork` and waiting for it.
//!
//! The parent continues with its threads. The child has a copy of the memory and one thread, the caller;
//! what it does is what the caller would do if the others never took a step again. So one execution
//! continues as the parent or as the child, with all threads: over-approximates for the child, and an
//! execution that continues as the child is no evidence once threads were started. What processes share by
//! `mmap` is noted there.

use super::emit::{atomic_place, truth};
use super::input::{between, fill_object, number_or_failure};
use super::outside::unknown_between;
use super::printing::read_pointees;
use super::{Answer, Call, Context, Entry, Wins};
use ir::{BinaryOp, Expr, IntType, Layout, Lhs, Place, Storage};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["fork"], wins: Wins::Body, model: fork },
    Entry { names: &["daemon"], wins: Wins::Body, model: daemon },
    Entry {
        names: &["wait"],
        wins: Wins::Body,
        model: |context, call| {
            status(context, call, 0)?;
            number_or_failure(context, call, 1)
        },
    },
    Entry { names: &["waitpid", "wait4"], wins: Wins::Body, model: wait_for },
    Entry {
        names: &["execl", "execlp", "execle", "execv", "execvp", "execve", "execvpe"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            super::emit::answer_int(-1)
        },
    },
    Entry {
        names: &["system"],
        wins: Wins::Body,
        model: |context, call| {
            read_pointees(context, call);
            between(context, call, -1, 0xffff)
        },
    },
];

/// The name of the object that says whether threads were started.
pub(super) const STARTED: &str = "whether threads were started";

fn started(context: &mut Context<'_>) -> Place {
    let object = context.own_object(STARTED, Storage::Static, Layout::Bytes(1), 1);
    atomic_place(Expr::Address(object, 0), IntType::U8)
}

/// Says that a thread is started. Dropped in programs that do not ask ([`super::simplify`]).
pub(super) fn note_start(context: &mut Context<'_>) {
    let started = started(context);
    context.builder.set(Lhs::Memory(started), Expr::int(1, IntType::U8));
}

/// Continues as the child.
fn become_child(context: &mut Context<'_>) {
    let started = started(context);
    let (lost, done) = (context.builder.label(), context.builder.label());
    let ty = IntType::U8;
    context.builder.branch(truth(Expr::load(started), ty), lost, done);
    context.builder.continue_at(lost);
    context.lose_path();
    context.builder.place(done);
}

fn fork(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    context.undecided_for_deadlocks();
    let ty = IntType::I32;
    // It fails, this is the child, or it has a number: which one is not modelled, as it is not that of any
    // other process.
    let result = context.builder.save(Expr::int(-1, ty), ty);
    context.perhaps(|context| {
        context.builder.set(Lhs::Local(result), Expr::int(0, ty));
        context.perhaps(|context| {
            let number = unknown_between(context, ty, 1, ty.max());
            context.builder.set(Lhs::Local(result), number);
        });
    });
    let (child, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(Expr::Local(result), ty), done, child);
    context.builder.continue_at(child);
    become_child(context);
    context.builder.place(done);
    match call.result {
        Some(_) => Some(Answer::Value(Expr::Local(result))),
        None => Some(Answer::Nothing),
    }
}

/// Continues as the child of a child, or fails.
fn daemon(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    call.argument(1)?;
    context.undecided_for_deadlocks();
    let ty = IntType::I32;
    let result = context.builder.save(Expr::int(-1, ty), ty);
    context.perhaps(|context| {
        become_child(context);
        context.builder.set(Lhs::Local(result), Expr::int(0, ty));
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// Stores how a process ended, if that is wanted.
fn status(context: &mut Context<'_>, call: &Call<'_>, index: usize) -> Option<()> {
    let target = call.argument(index)?;
    if !target.is_always_null() {
        target.pointee_size()?;
        fill_object(context, call, index)?;
    }
    Some(())
}

/// Waits for a process: gives its number, 0 if it need not have ended, or -1.
fn wait_for(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (process, options) = (call.argument(0)?, call.argument(2)?);
    status(context, call, 1)?;
    let ty = IntType::I32;
    let process = context.settle_as(process, ty);
    let may_give_up = options.constant != Some(0);
    // It fails, or the process has ended: the one that is named, or some other.
    let result = context.builder.save(Expr::int(-1, ty), ty);
    context.perhaps(|context| {
        let some = unknown_between(context, ty, 1, ty.max());
        context.builder.set(Lhs::Local(result), some);
        let (named, done) = (context.builder.label(), context.builder.label());
        let is_named = Expr::binary(BinaryOp::Lt, ty, Expr::int(0, ty), process.clone());
        context.builder.branch(is_named, named, done);
        context.builder.continue_at(named);
        context.builder.set(Lhs::Local(result), process);
        context.builder.place(done);
    });
    if may_give_up {
        context.perhaps(|context| context.builder.set(Lhs::Local(result), Expr::int(0, ty)));
    }
    let result = Expr::Local(result);
    Some(Answer::Value(result))
}
