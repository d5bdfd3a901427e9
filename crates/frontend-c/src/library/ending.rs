//! What happens when a thread ends: cleanup handlers run, the last one first; then destructors of
//! thread-specific values, in the order of keys and as often as POSIX promises.
//!
//! One procedure does all that. `pthread_exit` calls it, and what threads are started with becomes a
//! procedure that calls the function and then this one ([`settle`]). Where a program has neither handlers
//! nor destructors, all of it is dropped.
//!
//! Our own `<pthread.h>` makes `pthread_cleanup_push` a call of `__threadproof_cleanup_push`. Deviation: at
//! most 64 handlers wait at a time.

use super::emit::truth;
use super::keys::{KEYS, next_key, values};
use super::{Answer, Call, Context, Entry, Wins};
use crate::builder::Builder;
use ir::{
    BinaryOp, Callee, EdgeId, Expr, IntType, Layout, Lhs, LocalId, LocationKind, ObjectId, Op, Place,
    Program, Span, Storage, TemplateId, TemplateRole, Value,
};

pub(super) const TABLE: &[Entry] = &[
    Entry { names: &["__threadproof_cleanup_push"], wins: Wins::Model, model: push },
    Entry { names: &["__threadproof_cleanup_pop"], wins: Wins::Model, model: pop },
];

/// How many cleanup handlers may wait.
const HANDLERS: u64 = 64;
/// How often destructors run at most, as glibc has it.
const ROUNDS: Value = 4;
/// The procedure's name.
const NAME: &str = "(end of a thread)";
const STACK: &str = "cleanup handlers";
const DESTRUCTORS: &str = "destructors of thread-specific values";

fn pointers(context: &mut Context<'_>, name: &str, storage: Storage, count: u64) -> ObjectId {
    let pointer = context.pointer();
    let element = Box::new(Layout::Scalar(pointer));
    let layout = Layout::Array { element, count, stride: pointer.bytes() };
    context.own_object(name, storage, layout, count * pointer.bytes())
}

/// The handlers of the running thread: each is a function and what is passed to it.
fn stack(context: &mut Context<'_>) -> ObjectId {
    pointers(context, STACK, Storage::ThreadLocal, 2 * HANDLERS)
}

/// How many there are.
fn depth(context: &mut Context<'_>) -> Place {
    let pointer = context.pointer();
    let name = "number of cleanup handlers";
    let object = context.own_object(name, Storage::ThreadLocal, Layout::Scalar(pointer), pointer.bytes());
    Place::cell(object, 0, pointer)
}

/// An element of an array of pointers.
fn element(context: &Context<'_>, array: ObjectId, index: Expr) -> Place {
    let pointer = context.pointer();
    let width = Expr::int(Value::from(pointer.bytes()), pointer);
    let distance = Expr::binary(BinaryOp::Mul, pointer, index, width);
    Place::pointee(context.sum(Expr::Address(array, 0), distance), pointer)
}

fn plus(context: &Context<'_>, value: Expr, more: Value) -> Expr {
    context.sum(value, Expr::int(more, context.pointer()))
}

fn push(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (routine, passed) = (call.argument(0)?, call.argument(1)?);
    let (routine, passed) = (context.settle_pointer(routine), context.settle_pointer(passed));
    let pointer = context.pointer();
    let (stack, depth) = (stack(context), depth(context));
    let at = Expr::Local(context.builder.save(Expr::load(depth.clone()), pointer));
    let twice = Expr::binary(BinaryOp::Mul, pointer, at.clone(), Expr::int(2, pointer));
    let (first, second) = (element(context, stack, twice.clone()), plus(context, twice, 1));
    let second = element(context, stack, second);
    context.builder.set(Lhs::Memory(first), routine);
    context.builder.set(Lhs::Memory(second), passed);
    let more = plus(context, at, 1);
    context.builder.set(Lhs::Memory(depth), more);
    Some(Answer::Nothing)
}

/// Takes the last handler away; gives the function and what is passed to it.
fn take(context: &mut Context<'_>) -> (Expr, Expr) {
    let pointer = context.pointer();
    let (stack, depth) = (stack(context), depth(context));
    let one = Expr::int(1, pointer);
    let less = Expr::binary(BinaryOp::Sub, pointer, Expr::load(depth.clone()), one);
    let at = Expr::Local(context.builder.save(less, pointer));
    context.builder.set(Lhs::Memory(depth), at.clone());
    let twice = Expr::binary(BinaryOp::Mul, pointer, at, Expr::int(2, pointer));
    let (first, second) = (element(context, stack, twice.clone()), plus(context, twice, 1));
    let second = element(context, stack, second);
    let routine = context.builder.save(Expr::load(first), pointer);
    let passed = context.builder.save(Expr::load(second), pointer);
    (Expr::Local(routine), Expr::Local(passed))
}

fn pop(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let execute = call.argument(0)?;
    let (ty, execute) = (execute.ty, context.settle(execute));
    let (routine, passed) = take(context);
    let (run, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(execute, ty), run, done);
    context.builder.continue_at(run);
    context.builder.emit(Op::Call(Callee::Pointer(routine), vec![passed], None));
    context.builder.place(done);
    Some(Answer::Nothing)
}

/// The destructor of a key.
fn destructor(context: &mut Context<'_>, key: Expr) -> Place {
    let object = pointers(context, DESTRUCTORS, Storage::Static, KEYS);
    let key = context.convert(key, context.pointer());
    Place { atomic: true, ..element(context, object, key) }
}

/// Says what destructor a key has.
pub(super) fn set_destructor(context: &mut Context<'_>, key: Expr, routine: Expr) {
    let place = destructor(context, key);
    context.builder.set(Lhs::Memory(place), routine);
}

/// Calls the procedure that runs handlers and destructors.
pub(super) fn end(context: &mut Context<'_>) {
    let template = procedure(context.program);
    context.builder.emit(Op::Call(Callee::Procedure(template), vec![], None));
}

fn find(program: &Program) -> Option<TemplateId> {
    program
        .templates
        .enumerate()
        .find(|(_, template)| template.role == TemplateRole::EndOfThread)
        .map(|(id, _)| id)
}

/// The procedure, which is made when it is first asked for.
fn procedure(program: &mut Program) -> TemplateId {
    if let Some(found) = find(program) {
        return found;
    }
    let mut builder = Builder::new(NAME, Span::default());
    builder.template.role = TemplateRole::EndOfThread;
    let mut context = Context { builder: &mut builder, program, failures: false };
    run_handlers(&mut context);
    run_destructors(&mut context);
    builder.stop(LocationKind::End);
    program.templates.push(builder.template)
}

fn run_handlers(context: &mut Context<'_>) {
    let pointer = context.pointer();
    let depth = depth(context);
    let (head, body, done) = (context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(head);
    context.builder.branch(truth(Expr::load(depth), pointer), body, done);
    context.builder.continue_at(body);
    let (routine, passed) = take(context);
    context.builder.emit(Op::Call(Callee::Pointer(routine), vec![passed], None));
    context.builder.jump(head);
    context.builder.continue_at(done);
}

fn run_destructors(context: &mut Context<'_>) {
    let pointer = context.pointer();
    let zero = Expr::int(0, pointer);
    let (round, key, again) = {
        let round = context.builder.save(zero.clone(), pointer);
        let key = context.builder.save(zero.clone(), pointer);
        (round, key, context.builder.save(Expr::bool(false), IntType::BOOL))
    };
    let below = |index: LocalId, bound: Expr| Expr::binary(BinaryOp::Lt, pointer, Expr::Local(index), bound);
    let (rounds, keys, look, has) =
        (context.builder.label(), context.builder.label(), context.builder.label(), context.builder.label());
    let (call, next, turn, done) =
        (context.builder.label(), context.builder.label(), context.builder.label(), context.builder.label());
    context.builder.place(rounds);
    context.builder.set(Lhs::Local(key), zero.clone());
    context.builder.set(Lhs::Local(again), Expr::bool(false));
    context.builder.place(keys);
    let made = next_key(context);
    let made = Expr::Local(context.builder.save(Expr::load(made), IntType::U32));
    let made = context.convert(made, pointer);
    context.builder.branch(below(key, made), look, turn);
    context.builder.continue_at(look);
    let values = values(context);
    let cell = element(context, values, Expr::Local(key));
    let value = Expr::Local(context.builder.save(Expr::load(cell.clone()), pointer));
    context.builder.branch(truth(value.clone(), pointer), has, next);
    context.builder.continue_at(has);
    let routine = destructor(context, Expr::Local(key));
    let routine = Expr::Local(context.builder.save(Expr::load(routine), pointer));
    context.builder.branch(truth(routine.clone(), pointer), call, next);
    context.builder.continue_at(call);
    context.builder.set(Lhs::Memory(cell), zero);
    context.builder.set(Lhs::Local(again), Expr::bool(true));
    context.builder.emit(Op::Call(Callee::Pointer(routine), vec![value], None));
    context.builder.place(next);
    let following = plus(context, Expr::Local(key), 1);
    context.builder.set(Lhs::Local(key), following);
    context.builder.jump(keys);
    context.builder.continue_at(turn);
    let following = plus(context, Expr::Local(round), 1);
    context.builder.set(Lhs::Local(round), following);
    let more = Expr::Local(again).and(below(round, Expr::int(ROUNDS, pointer)));
    context.builder.branch(more, rounds, done);
    context.builder.continue_at(done);
}

/// Whether code other than the procedure itself stores to an object of this name.
fn is_set(program: &Program, name: &str, own: Option<TemplateId>) -> bool {
    let Some((wanted, _)) = program.objects.enumerate().find(|(_, object)| object.name == name) else {
        return false;
    };
    let others = program.templates.enumerate().filter(|(id, _)| Some(*id) != own);
    let mut ops = others.flat_map(|(_, code)| &code.edges).flat_map(|edge| &edge.ops);
    ops.any(|op| {
        op.targets().iter().any(|lhs| match lhs {
            Lhs::Memory(place) => {
                let mut found = false;
                place.address.walk(&mut |inner| {
                    found |= matches!(inner, Expr::Address(object, _) if *object == wanted);
                });
                found
            }
            Lhs::Local(_) => false,
        })
    })
}

/// Whether threads run destructors when they end, also where no call of them is written yet ([`settle`]).
pub fn runs_destructors(program: &Program) -> bool {
    is_set(program, DESTRUCTORS, find(program))
}

/// Drops calls of the procedure that have nothing to do; adds those that are needed where functions of
/// threads return.
pub(super) fn settle(program: &mut Program) {
    let own = find(program);
    let (has_handlers, has_destructors) = (is_set(program, STACK, own), runs_destructors(program));
    if has_destructors {
        let template = procedure(program);
        wrap_threads(program, template);
        return;
    }
    if let (Some(own), false) = (own, has_handlers) {
        for edge in program.templates.iter_mut().flat_map(|code| code.edges.iter_mut()) {
            edge.ops.retain(|op| !matches!(op, Op::Call(Callee::Procedure(called), ..) if *called == own));
        }
    }
}

/// Starts each thread with a procedure that also ends it.
fn wrap_threads(program: &mut Program, ending: TemplateId) {
    let pointer = program.data_model.pointer();
    let mut wrappers: Vec<(Option<TemplateId>, TemplateId)> = Vec::new();
    let templates: Vec<TemplateId> = program.templates.ids().collect();
    for index in templates {
        let edges: Vec<EdgeId> = program.templates[index].edges.ids().collect();
        for edge in edges {
            let starts: Vec<(usize, Callee)> = program.templates[index].edges[edge]
                .ops
                .iter()
                .enumerate()
                .filter_map(|(at, op)| match op {
                    Op::Spawn(callee, _, _) => Some((at, callee.clone())),
                    _ => None,
                })
                .collect();
            for (at, callee) in starts {
                let known = match &callee {
                    Callee::Procedure(template) => Some(*template),
                    Callee::Pointer(_) => None,
                };
                let wrapper = match wrappers.iter().find(|(of, _)| *of == known) {
                    Some((_, wrapper)) => *wrapper,
                    None => {
                        let wrapper = wrapper(program, known, ending, pointer);
                        wrappers.push((known, wrapper));
                        wrapper
                    }
                };
                let ops = &mut program.templates[index].edges[edge].ops;
                if let Some(Op::Spawn(started, arguments, _)) = ops.get_mut(at) {
                    *started = Callee::Procedure(wrapper);
                    if let Callee::Pointer(function) = callee {
                        arguments.insert(0, function);
                    }
                }
            }
        }
    }
}

/// A procedure that calls the function of a thread, or the one that its first parameter points to, and ends
/// the thread.
fn wrapper(
    program: &mut Program,
    known: Option<TemplateId>,
    ending: TemplateId,
    pointer: IntType,
) -> TemplateId {
    let (name, span) = match known {
        Some(template) => (program.templates[template].name.clone(), program.templates[template].span),
        None => ("(thread)".to_owned(), Span::default()),
    };
    let mut builder = Builder::new(&name, span);
    let callee = match known {
        Some(template) => Callee::Procedure(template),
        None => Callee::Pointer(Expr::Local(builder.template.local("function", pointer, span))),
    };
    let passed = builder.template.local("argument", pointer, span);
    builder.template.parameters = builder.template.locals.len();
    let result = builder.template.local("result", pointer, span);
    builder.template.result = Some(result);
    let has_result = known.is_none_or(|template| program.templates[template].result.is_some());
    let lhs = has_result.then_some(Lhs::Local(result));
    builder.emit(Op::Call(callee, vec![Expr::Local(passed)], lhs));
    builder.emit(Op::Call(Callee::Procedure(ending), vec![], None));
    builder.stop(LocationKind::End);
    program.templates.push(builder.template)
}
