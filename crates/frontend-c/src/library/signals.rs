//! Signals. A handler that is set runs in a thread of its own, once threads were started, and only by way of
//! a step that is marked as one that need not exist ([`arrive`]): so what it does is looked at, and never
//! refutes. When signals arrive and which thread they interrupt is not modelled; a program that sets a
//! handler is not proved, and the report says so.
//!
//! A handler interrupts a thread: what it accesses does not race with that thread. But with two threads or
//! more each may be the one that is interrupted, so that each other one is concurrent to the handler. Before
//! threads are started there is no such thread, and the handler waits ([`settle`]).
//!
//! `SIG_DFL` and `SIG_IGN` are nothing. What `sigaction` sets is in memory; where no function can be there,
//! its note is dropped ([`settle`]), once all of the program is known.

use super::emit::truth;
use super::input::{any_between, between, fill_object, read_object, write_object};
use super::outside::unknown_between;
use super::printing::{read_pointee, read_pointees};
use super::{Answer, Argument, Call, Context, Entry, Wins};
use crate::builder::Builder;
use ir::passes::points_to::PointsTo;
use ir::{
    Assignment, BinaryOp, Callee, EdgeId, Expr, IntType, Layout, Lhs, LocalId, LocationKind, ObjectId, Op,
    Place, Program, Rhs, Span, Storage, Template, TemplateId, Value,
};

/// What is said of a program that sets a handler.
const NO_HANDLER: &str = "when signals arrive, and what their handlers do, is not modelled exactly";
/// The name of locals with what may be a handler.
const HANDLER: &str = "%signal handler";
/// The name of the mark that says that a signal arrives ([`ir::names::SIGNAL`]), and of locals with its
/// number.
const ARRIVES: &str = ir::names::SIGNAL;
const NUMBER: &str = "%signal number";

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
            // Signal 0 only asks whether there is someone. There may be; that there is nobody is not
            // modelled, since a process that asks for itself always finds somebody.
            if call.name == "kill" && call.argument(1)?.constant == Some(0) {
                let Some(ty) = call.result else { return Some(Answer::Nothing) };
                let result = context.builder.save(Expr::int(0, ty), ty);
                context.perhaps(|context| {
                    context.lose_path();
                    context.builder.set(Lhs::Local(result), Expr::int(-1, ty));
                });
                return Some(Answer::Value(Expr::Local(result)));
            }
            context.undecided_for_deadlocks();
            context.lose_path();
            read_pointees(context, call);
            context.answer_open(call, Rhs::Unknown)
        },
    },
    Entry { names: &["sigwait"], wins: Wins::Body, model: wait },
    Entry { names: &["sigemptyset", "sigfillset"], wins: Wins::Body, model: fill_set },
    Entry { names: &["sigaddset", "sigdelset", "sigismember"], wins: Wins::Body, model: member },
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

/// The handlers that were set. `signal` may give back one of them.
pub(super) const HANDLERS: &str = "handlers of signals";

fn handlers(context: &mut Context<'_>) -> Place {
    let pointer = context.pointer();
    let object = context.own_object(HANDLERS, Storage::Static, Layout::Scalar(pointer), pointer.bytes());
    context.program.objects[object].role = ir::ObjectRole::HandedOn;
    super::emit::atomic_place(Expr::Address(object, 0), pointer)
}

/// Sets a local to what handled a signal before: a number that is not modelled, or a handler that was set.
/// The latter is no evidence.
fn give_handler(context: &mut Context<'_>, result: LocalId) {
    let pointer = context.pointer();
    context.builder.emit(Op::unknown_number(result, pointer));
    let handlers = handlers(context);
    context.perhaps(|context| {
        context.lose_path();
        context.builder.set(Lhs::Local(result), Expr::load(handlers));
    });
}

fn set(context: &mut Context<'_>, handler: Expr) {
    let handlers = handlers(context);
    let handler = context.convert(handler, handlers.ty);
    context.builder.set(Lhs::Memory(handlers), handler);
    let was_set = was_set(context);
    context.builder.set(Lhs::Memory(was_set), Expr::int(1, IntType::U8));
}

/// The number of a signal; 0 where it is not constant, which no signal has.
fn number(signal: &Argument) -> Value {
    signal.constant.unwrap_or(0)
}

/// Signals arrive or not, in two threads at most: a handler does not interrupt itself, but may run in another
/// thread.
fn arrive(context: &mut Context<'_>, handler: &Callee, number: Value) {
    let done = context.builder.label();
    for _ in 0..2 {
        let arrives = context.builder.label();
        context.builder.alternative(Op::Assume(Expr::bool(true)), arrives);
        context.builder.alternative(Op::Assume(Expr::bool(true)), done);
        context.builder.continue_at(arrives);
        let mark = context.named_local(ARRIVES, IntType::BOOL);
        let pairs = vec![(Lhs::Local(mark), Rhs::Unknown)];
        context.builder.emit(Op::Assign(Assignment { pairs, constraint: Some(Expr::Local(mark)) }));
        let passed = context.named_local(NUMBER, IntType::I32);
        context.builder.set(Lhs::Local(passed), Expr::int(number, IntType::I32));
        context.builder.emit(Op::Spawn(handler.clone(), vec![Expr::Local(passed)], None));
    }
    context.builder.place(done);
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
        let is_function = Expr::binary(BinaryOp::Lt, pointer, Expr::int(1, pointer), Expr::Local(handler));
        let (some, done) = (context.builder.label(), context.builder.label());
        context.builder.branch(is_function, some, done);
        context.builder.continue_at(some);
        context.undecided_for_deadlocks();
        set(context, Expr::Local(handler));
        let number = number(call.argument(0)?);
        arrive(context, &Callee::Pointer(Expr::Local(handler)), number);
        context.builder.place(done);
        context.assume(call, NO_HANDLER, true);
    }
    write_object(context, old);
    if can_be_handled(call.argument(0)?.constant) {
        return super::emit::answer_int(0);
    }
    Some(Answer::Value(unknown_between(context, IntType::I32, -1, 0)))
}

/// Sets what happens on a signal, and gives what happened before: the default, or nothing, as long as no
/// handler was set.
fn signal(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (number, handler) = (call.argument(0)?, call.argument(1)?);
    let ty = context.pointer();
    let is_plain = handler.constant.is_some_and(|handler| (0..=1).contains(&handler));
    let was_set = was_set(context);
    let before = Expr::Local(context.builder.save(Expr::load(was_set), IntType::U8));
    if !is_plain {
        context.assume(call, NO_HANDLER, true);
        context.undecided_for_deadlocks();
        let address = context.settle_pointer(handler);
        set(context, address);
        if let Some(function) = handler.function {
            arrive(context, &Callee::Procedure(function), self::number(number));
        }
    }
    if call.result.is_none() {
        return Some(Answer::Nothing);
    }
    if !can_be_handled(number.constant) {
        let result = context.builder.temporary(ty);
        give_handler(context, result);
        return Some(Answer::Value(Expr::Local(result)));
    }
    let result = any_between(context, ty, 0, 1);
    let result = context.builder.save(result, ty);
    let (other, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(before, IntType::U8), other, done);
    context.builder.continue_at(other);
    give_handler(context, result);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// The greatest number of a signal. A set has a bit for each, as in glibc: the first signal is the lowest bit
/// of the first byte.
const SIGNALS: Value = 64;
/// The first and the last signal that glibc keeps for itself.
const KEPT: [Value; 2] = [32, 33];

/// Makes a set of signals that has none, or all but the two that glibc keeps for itself.
fn fill_set(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    /// The bytes with the signals 32 and 33, and all their other bits.
    const OWN: [(u64, Value); 2] = [(3, 0x7f), (4, 0xfe)];
    let set = call.argument(0)?;
    let size = set.pointee_size().filter(|size| *size >= SIGNALS as u64 / 8)?;
    let (ty, to, is_full) = (IntType::U8, context.settle_pointer(set), call.name == "sigfillset");
    let all = Expr::int(if is_full { 0xff } else { 0 }, ty);
    context.builder.emit(Op::Fill(to.clone(), all, Expr::int(Value::from(size), context.pointer())));
    for (at, byte) in OWN.into_iter().filter(|_| is_full) {
        let place = Place::pointee(context.at_offset(&to, at), ty);
        context.builder.set(Lhs::Memory(place), Expr::int(byte, ty));
    }
    super::emit::answer_int(0)
}

/// The byte of a set that has the bit of a signal, and that bit.
fn bit(context: &Context<'_>, set: &Expr, signal: &Expr) -> (Place, Expr) {
    let (byte, ty) = (IntType::U8, context.pointer());
    let number = context.convert(signal.clone(), ty);
    let index = Expr::binary(BinaryOp::Sub, ty, number, Expr::int(1, ty));
    let at = Expr::binary(BinaryOp::Shr, ty, index.clone(), Expr::int(3, ty));
    let distance = Expr::cast(byte, Expr::binary(BinaryOp::And, ty, index, Expr::int(7, ty)));
    let place = Place::pointee(context.sum(set.clone(), at), byte);
    (place, Expr::binary(BinaryOp::Shl, byte, Expr::int(1, byte), distance))
}

/// Adds a signal to a set, takes one out, or says whether it is there; -1 where there is no such signal.
fn member(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (set, signal) = (call.argument(0)?, call.argument(1)?);
    set.pointee_size().filter(|size| *size >= SIGNALS as u64 / 8)?;
    let (byte, int) = (IntType::U8, IntType::I32);
    let (set, signal) = (context.settle_pointer(set), context.settle_as(signal, int));
    let result = context.builder.save(Expr::int(-1, int), int);
    let (valid, done) = (context.builder.label(), context.builder.label());
    let compare = |left, right| Expr::binary(BinaryOp::Le, int, left, right);
    let above = compare(Expr::int(1, int), signal.clone());
    let is_valid = above.and(compare(signal.clone(), Expr::int(SIGNALS, int)));
    if call.name == "sigismember" {
        context.builder.branch(is_valid, valid, done);
    } else {
        // glibc adds and takes out none of those that it keeps for itself; other libraries may.
        let (known, kept) = (context.builder.label(), context.builder.label());
        context.builder.branch(is_valid, known, done);
        context.builder.continue_at(known);
        let [first, last] = KEPT.map(|kept| Expr::int(kept, int));
        let is_kept = compare(first, signal.clone()).and(compare(signal.clone(), last));
        context.builder.branch(is_kept, kept, valid);
        context.builder.continue_at(kept);
        context.lose_path();
        context.builder.alternative(Op::Assume(Expr::bool(true)), valid);
        context.builder.alternative(Op::Assume(Expr::bool(true)), done);
        context.builder.leave();
    }
    context.builder.continue_at(valid);
    let (place, bit) = bit(context, &set, &signal);
    let bit = Expr::Local(context.builder.save(bit, byte));
    let old = Expr::Local(context.builder.save(Expr::load(place.clone()), byte));
    let is_there = Expr::binary(BinaryOp::And, byte, old.clone(), bit.clone());
    let is_there = truth(is_there, byte);
    let given = match call.name {
        "sigismember" => Expr::cast(int, is_there),
        _ => {
            let changed = match call.name {
                "sigaddset" => Expr::binary(BinaryOp::Or, byte, old, bit),
                _ => {
                    let without = Expr::binary(BinaryOp::Xor, byte, old.clone(), bit);
                    Expr::IfThenElse(Box::new((is_there, without, old)))
                }
            };
            context.builder.set(Lhs::Memory(place), changed);
            Expr::int(0, int)
        }
    };
    context.builder.set(Lhs::Local(result), given);
    context.builder.place(done);
    Some(Answer::Value(Expr::Local(result)))
}

/// Waits for a signal of a set: any of them may arrive. It fails only where the set has what is no signal,
/// which is not modelled.
fn wait(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (set, target) = (call.argument(0)?, call.argument(1)?);
    target.pointee_size()?;
    context.undecided_for_deadlocks();
    set.pointee_size().filter(|size| *size >= SIGNALS as u64 / 8)?;
    read_object(context, set);
    let (ty, byte) = (IntType::I32, IntType::U8);
    let (set, to) = (context.settle_pointer(set), context.settle_pointer(target));
    let number = context.builder.save(Expr::int(1, ty), ty);
    let number_is = |op, other| Expr::binary(op, ty, Expr::Local(number), Expr::int(other, ty));
    let (head, look, member) = (context.builder.label(), context.builder.label(), context.builder.label());
    let (next, arrived) = (context.builder.label(), context.builder.label());
    context.builder.place(head);
    // Where no signal arrives, it waits for ever.
    context.builder.emit(Op::Assume(number_is(BinaryOp::Le, SIGNALS)));
    let (place, bit) = bit(context, &set, &Expr::Local(number));
    let word = Expr::Local(context.builder.save(Expr::load(place), byte));
    let is_there = truth(Expr::binary(BinaryOp::And, byte, word, bit), byte);
    // SIGKILL and SIGSTOP never arrive.
    let may_arrive = number_is(BinaryOp::Ne, 9).and(number_is(BinaryOp::Ne, 19));
    context.builder.branch(is_there, look, next);
    context.builder.continue_at(look);
    context.builder.branch(may_arrive, member, next);
    context.builder.continue_at(member);
    context.builder.alternative(Op::Assume(Expr::bool(true)), arrived);
    context.builder.alternative(Op::Assume(Expr::bool(true)), next);
    context.builder.continue_at(next);
    context.builder.set(Lhs::Local(number), number_is(BinaryOp::Add, 1));
    context.builder.jump(head);
    context.builder.continue_at(arrived);
    context.store_through(target, to, |lhs| Op::set(lhs, Expr::Local(number)));
    let result = context.builder.save(Expr::int(0, ty), ty);
    context.perhaps(|context| {
        context.lose_path();
        let error = unknown_between(context, ty, 0, 0x7fff_ffff);
        context.builder.set(Lhs::Local(result), error);
    });
    Some(Answer::Value(Expr::Local(result)))
}

/// Whether a step runs a handler in a thread of its own.
fn runs_handler(code: &Template, op: &Op) -> bool {
    match op {
        Op::Spawn(_, arguments, None) => {
            matches!(arguments.as_slice(), [Expr::Local(local)] if code.locals[*local].name == NUMBER)
        }
        _ => false,
    }
}

/// Lets handlers wait until threads were started; where none ever is, nobody is concurrent to them, and they
/// are dropped. Comes before stores to what says so are dropped.
pub(super) fn settle_handlers(program: &mut Program) {
    let mut handlers: Vec<(TemplateId, EdgeId)> = Vec::new();
    let mut has_threads = false;
    for (id, code) in program.templates.enumerate() {
        for (edge, step) in code.edges.enumerate() {
            for op in &step.ops {
                if runs_handler(code, op) {
                    handlers.push((id, edge));
                } else {
                    has_threads |= matches!(op, Op::Spawn(..));
                }
            }
        }
    }
    let started = program.objects.enumerate().find(|(_, object)| object.name == super::processes::STARTED);
    let started = started.map(|(id, _)| id).filter(|_| has_threads);
    let mut wrappers: Vec<(Option<TemplateId>, TemplateId)> = Vec::new();
    for (template, edge) in handlers {
        let Some(started) = started else {
            program.templates[template].edges[edge].ops.clear();
            continue;
        };
        let Some(Op::Spawn(callee, ..)) = program.templates[template].edges[edge].ops.first().cloned() else {
            continue;
        };
        let known = match &callee {
            Callee::Procedure(handler) => Some(*handler),
            Callee::Pointer(_) => None,
        };
        let wrapper = match wrappers.iter().find(|(of, _)| *of == known) {
            Some((_, wrapper)) => *wrapper,
            None => {
                let wrapper = waiting_handler(program, known, started);
                wrappers.push((known, wrapper));
                wrapper
            }
        };
        if let Some(Op::Spawn(run, arguments, _)) = program.templates[template].edges[edge].ops.first_mut() {
            *run = Callee::Procedure(wrapper);
            if let Callee::Pointer(function) = callee {
                arguments.insert(0, function);
            }
        }
    }
}

/// A procedure that waits until threads were started, and calls a handler, or the one that its first
/// parameter points to.
fn waiting_handler(program: &mut Program, known: Option<TemplateId>, started: ObjectId) -> TemplateId {
    let (name, span) = match known {
        Some(template) => (program.templates[template].name.clone(), program.templates[template].span),
        None => ("(signal handler)".to_owned(), Span::default()),
    };
    let mut builder = Builder::new(&name, span);
    let callee = match known {
        Some(template) => Callee::Procedure(template),
        None => {
            let pointer = program.data_model.pointer();
            Callee::Pointer(Expr::Local(builder.template.local("function", pointer, span)))
        }
    };
    let passed = builder.template.local("signal", IntType::I32, span);
    builder.template.parameters = builder.template.locals.len();
    let place = super::emit::atomic_place(Expr::Address(started, 0), IntType::U8);
    let are_started = builder.save(Expr::load(place), IntType::U8);
    builder.emit(Op::Assume(truth(Expr::Local(are_started), IntType::U8)));
    builder.emit(Op::Call(callee, vec![Expr::Local(passed)], None));
    builder.stop(LocationKind::End);
    program.templates.push(builder.template)
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
