//! Threads: `pthread_create` and its like, and their C11 names.
//!
//! A handle is the thread's id. It is stored in the step that starts the thread; where others may see it,
//! that becomes two steps (`handles.rs`).
//!
//! A detached thread is one like any other: joining it, or a thread twice, is undefined. Where a program
//! detaches threads and joins some, the report says that the first is taken not to happen; nothing is proved
//! where both name the same variable.
//!
//! Deviations: cancellation does not happen (limits proofs); a thread that joins itself waits forever
//! (POSIX leaves it open), unless nobody can have told it its id (`ir/src/semantics/own_id.rs`). Cleanup
//! handlers of files that were preprocessed elsewhere are not run (limits proofs).

use super::emit::{Touch, answer_cell, answer_int, clears_first, equal, int, nothing_happens, truth};
use super::errno::EBUSY;
use super::printing::read_pointees;
use super::{Answer, Argument, Call, Context, Entry, Wins};
use ir::{Callee, Expr, IntType, Lhs, LocationKind, Op, Place};

/// Taken for granted where threads are detached; of interest where some are joined.
pub const NOT_JOINED: &str = "a thread that is detached is not joined, which is undefined";

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["pthread_create"], wins: Wins::Model, model: |c, call| create(c, call, 2, 3) },
    Entry { names: &["thrd_create"], wins: Wins::Model, model: |c, call| create(c, call, 1, 2) },
    Entry { names: &["pthread_join", "thrd_join"], wins: Wins::Model, model: join },
    Entry {
        names: &["pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np"],
        wins: Wins::Model,
        model: try_join,
    },
    Entry { names: &["pthread_exit", "thrd_exit"], wins: Wins::Model, model: exit },
    Entry {
        names: &["pthread_self", "thrd_current"],
        wins: Wins::Model,
        model: |_, _| Some(Answer::Value(Expr::Myself)),
    },
    Entry { names: &["pthread_equal", "thrd_equal"], wins: Wins::Model, model: same },
    Entry { names: &["pthread_cancel"], wins: Wins::Model, model: cancel },
    Entry {
        names: &["__pthread_register_cancel", "_pthread_cleanup_push", "_pthread_cleanup_push_defer"],
        wins: Wins::Model,
        model: cleanup,
    },
    Entry {
        names: &["_pthread_cleanup_pop", "_pthread_cleanup_pop_restore"],
        wins: Wins::Model,
        model: run_cleanup,
    },
    Entry {
        names: &["pthread_setcancelstate", "pthread_setcanceltype"],
        wins: Wins::Model,
        model: |context, call| {
            let before = call.argument(1)?;
            let pointer = context.settle_pointer(before);
            context.store_through(before, pointer, Op::unknown);
            answer_int(0)
        },
    },
    Entry {
        names: &["pthread_detach", "thrd_detach"],
        wins: Wins::Model,
        model: |context, call| {
            context.assume(call, NOT_JOINED, false);
            answer_int(0)
        },
    },
    Entry {
        names: &["pthread_attr_setdetachstate"],
        wins: Wins::Model,
        model: |context, call| {
            // `PTHREAD_CREATE_JOINABLE` is 0.
            if !matches!(call.argument(1)?.value, Expr::Const(0, _)) {
                context.assume(call, NOT_JOINED, false);
            }
            clears_first(context, call)
        },
    },
    Entry {
        names: &["pthread_setschedparam", "pthread_setaffinity_np", "pthread_setname_np"],
        wins: Wins::Model,
        model: |context, call| {
            read_pointees(context, call);
            answer_int(0)
        },
    },
    Entry {
        names: &[
            "pthread_testcancel",
            "pthread_setconcurrency",
            "pthread_setschedprio",
            "pthread_yield",
            "__pthread_unregister_cancel",
            "thrd_yield",
            "sched_yield",
        ],
        wins: Wins::Model,
        model: nothing_happens,
    },
    Entry {
        names: &["pthread_atfork"],
        wins: Wins::Model,
        model: |context, call| {
            if !call.arguments.iter().all(Argument::is_always_null) {
                context.assume(call, "functions registered for fork are not run", true);
            }
            answer_int(0)
        },
    },
    Entry {
        names: &["pthread_attr_setstack", "pthread_attr_setstackaddr"],
        wins: Wins::Model,
        model: |context, call| {
            context.assume(
                call,
                "that threads use memory of the program for their variables is not followed",
                true,
            );
            clears_first(context, call)
        },
    },
    Entry { names: &["pthread_attr_*"], wins: Wins::Model, model: clears_first },
    Entry {
        names: &[
            "pthread_attr_get*",
            "pthread_getschedparam",
            "pthread_getconcurrency",
            "pthread_getcpuclockid",
        ],
        wins: Wins::Model,
        model: get,
    },
];

/// The procedure that an argument names or points to.
pub(super) fn callee(context: &mut Context<'_>, argument: &Argument) -> Callee {
    match argument.function {
        Some(template) => Callee::Procedure(template),
        None => Callee::Pointer(context.settle_pointer(argument)),
    }
}

fn create(context: &mut Context<'_>, call: &Call<'_>, routine: usize, passed: usize) -> Option<Answer> {
    let has_attributes = routine == 2;
    let (handle, routine, passed) = (call.argument(0)?, call.argument(routine)?, call.argument(passed)?);
    if has_attributes {
        context.touch(call, 1, Touch::Read);
    }
    let pointer = context.pointer();
    // Programs that do not want the handle pass null, though no library allows it.
    let target = (!handle.is_always_null()).then(|| {
        let ty = handle.target_type().unwrap_or(pointer);
        (context.settle_pointer(handle), ty)
    });
    let callee = callee(context, routine);
    let passed = vec![context.settle_pointer(passed)];
    super::processes::note_start(context);
    match target {
        None => context.builder.emit(Op::Spawn(callee, passed, None)),
        Some((address, ty)) if ty.bytes() == pointer.bytes() => {
            let cell = Lhs::Memory(Place::pointee(address, pointer));
            context.builder.emit(Op::Spawn(callee, passed, Some(cell)));
        }
        // The program has a handle type of its own, of another width.
        Some((address, ty)) => {
            let id = context.builder.temporary(pointer);
            context.builder.emit(Op::Spawn(callee, passed, Some(Lhs::Local(id))));
            context.builder.set(Lhs::Memory(Place::pointee(address, ty)), Expr::cast(ty, Expr::Local(id)));
        }
    }
    Some(Answer::Value(int(0)))
}

fn join(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let thread = call.argument(0)?;
    let thread = context.settle_pointer(thread);
    join_and_store(context, call, thread);
    Some(Answer::Value(int(0)))
}

/// Waits for a thread and stores its result, unless there is no place for it.
fn join_and_store(context: &mut Context<'_>, call: &Call<'_>, thread: Expr) {
    let Some(target) = call.argument(1).filter(|target| !target.is_always_null()) else {
        return context.builder.emit(Op::Join(thread, None));
    };
    let pointer = context.settle_pointer(target);
    // C11 threads have an int as their result, whatever is at the place where it goes to.
    let ty = if call.name.starts_with("thrd_") { IntType::I32 } else { context.pointer() };
    let result = context.builder.temporary(ty);
    context.builder.emit(Op::Join(thread, Some(Lhs::Local(result))));
    let store = Op::set(Lhs::Memory(Place::pointee(pointer.clone(), ty)), Expr::Local(result));
    context.unless_null(target, pointer, |context| context.builder.emit(store));
}

/// Joins, or gives up.
fn try_join(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let thread = call.argument(0)?;
    let has_limit = call.name != "pthread_tryjoin_np";
    if has_limit {
        call.argument(2)?;
    }
    let thread = context.settle_pointer(thread);
    let cell = context.result_cell(call);
    let timeout = if has_limit { Some(super::times::timeout(context, call)?) } else { None };
    let (join, give_up, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.alternative(Op::Join(thread.clone(), None), join);
    context.builder.alternative(Op::Assume(Expr::bool(true)), give_up);
    context.builder.continue_at(give_up);
    // A thread that has done all that it does may still not have ended: only joining it says that it has.
    match &timeout {
        Some(timeout) => context.put_timeout(cell, timeout),
        None => context.put(cell, EBUSY),
    }
    context.builder.jump(done);
    context.builder.continue_at(join);
    // It has ended: joining it again does not wait.
    join_and_store(context, call, thread);
    context.put(cell, 0);
    context.builder.place(done);
    answer_cell(cell)
}

fn exit(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let value = call.argument(0)?;
    let value = context.settle_pointer(value);
    let local = match context.builder.template.exit_value {
        Some(local) => local,
        None => {
            let ty = context.pointer();
            let local = context.named_local("%exit value", ty);
            context.builder.template.exit_value = Some(local);
            local
        }
    };
    context.builder.set(Lhs::Local(local), value);
    super::ending::end(context);
    context.builder.stop(LocationKind::Exit);
    Some(Answer::Nothing)
}

fn same(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (left, right) = (call.argument(0)?, call.argument(1)?);
    let (left, right) = (context.settle_pointer(left), context.settle_pointer(right));
    Some(Answer::Value(equal(context.pointer(), left, right)))
}

fn cancel(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    context.assume(call, "no thread is ever cancelled", true);
    context.undecided_for_deadlocks();
    Some(Answer::Value(int(0)))
}

fn cleanup(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    context.assume(call, "cleanup handlers are not run when a thread exits", true);
    context.undecided_for_deadlocks();
    Some(Answer::Value(int(0)))
}

/// Leaves the scope of a cleanup handler. Whether it is run now is the last argument's choice; the handler
/// itself is in the buffer, whose inside is not modelled.
fn run_cleanup(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let run = call.argument(1)?;
    if run.constant == Some(0) {
        return Some(Answer::Nothing);
    }
    let (ty, run) = (run.ty, context.settle(run));
    let (lost, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(run, ty), lost, done);
    context.builder.continue_at(lost);
    context.lose_path();
    context.builder.place(done);
    context.assume(call, "cleanup handlers are not run", true);
    Some(Answer::Nothing)
}

/// Asks for something that is not modelled.
fn get(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    if call.name.starts_with("pthread_attr_") {
        context.touch(call, 0, Touch::Read);
    }
    for target in call.arguments.iter().skip(1) {
        super::input::write_object(context, target);
    }
    if call.arguments.is_empty() {
        let ty = call.result.unwrap_or(IntType::I32);
        return Some(Answer::Value(context.open_value(ty, ir::Rhs::Unknown, |_| None)));
    }
    Some(Answer::Value(int(0)))
}
