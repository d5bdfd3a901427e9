//! Functions that users classify ([`crate::FunctionClass`]).
//!
//! What is read and written is an object of the type that the argument has, and is taken as said. Behind
//! that object there may be more of an array, and of `void *` nobody knows the size: there any part may be
//! touched, up to the end of the memory, in executions that are no evidence.

use super::emit::truth;
use super::input::{any_between, fill_object};
use super::memory::allocate;
use super::printing::read_pointee;
use super::{Argument, Call, Context, threads};
use crate::classes::{Effect, FunctionClass};
use ir::{Expr, IntType, Lhs, ObjectRole, Op, Place, Rhs, Value};

/// Bytes of memory that a function allocates where its type does not say more.
const MEMORY: u64 = 256;

/// Emits what a function does. Gives its result, if it is one that is allocated; says whether it returns.
pub fn classified(
    context: &mut Context<'_>,
    call: &Call<'_>,
    class: &FunctionClass,
    result_pointee: Option<(u64, bool)>,
) -> (Option<Expr>, bool) {
    let mut result = None;
    for effect in class.effects() {
        match *effect {
            Effect::Pure => {}
            Effect::Reads => {
                for argument in call.arguments.iter().filter(|argument| argument.text.is_none()) {
                    read_pointee(context, argument);
                    touch_rest(context, argument, false);
                }
            }
            Effect::Writes(number) => write(context, call, number - 1),
            Effect::Calls(number) => call_back(context, call, number - 1),
            Effect::Allocates => {
                if let Some((size, has_pointer)) = result_pointee {
                    result = Some(make(context, call, size, has_pointer));
                }
            }
            Effect::Ends => {
                context.builder.emit(Op::Assume(Expr::bool(false)));
                context.builder.leave();
                return (None, false);
            }
        }
    }
    (result, true)
}

/// New memory, or null.
fn make(context: &mut Context<'_>, call: &Call<'_>, size: u64, has_pointer: bool) -> Expr {
    let size = size.max(MEMORY);
    context.assume(call, &format!("the memory that it allocates has {size} bytes"), false);
    if has_pointer {
        context.assume(call, "what the pointers in its result point to is not modelled", true);
    }
    let ty = context.pointer();
    let result = context.builder.save(Expr::int(0, ty), ty);
    context.perhaps(|context| {
        let made = allocate(context, call, Expr::int(Value::from(size), ty), false, ObjectRole::Program);
        context.builder.set(Lhs::Local(result), Expr::Local(made));
    });
    Expr::Local(result)
}

/// May write what an argument points to.
fn write(context: &mut Context<'_>, call: &Call<'_>, index: usize) {
    let Some(argument) = call.argument(index) else { return };
    if argument.pointee.as_ref().is_some_and(|pointee| pointee.has_pointer) {
        context.assume(call, "which pointers it stores is not modelled", true);
    }
    if argument.pointee_size().is_some() {
        context.perhaps(|context| {
            fill_object(context, call, index);
        });
    }
    touch_rest(context, argument, true);
}

/// May touch any part of the memory from where an argument points, up to its end.
fn touch_rest(context: &mut Context<'_>, argument: &Argument, writes: bool) {
    if argument.is_always_null() || argument.pointee.is_none() || argument.text.is_some() {
        return;
    }
    let ty = context.pointer();
    let pointer = context.settle_pointer(argument);
    context.perhaps(|context| {
        context.lose_path();
        let at = context.builder.save(pointer, ty);
        context.repeatedly(|context| {
            let next = context.at_offset(&Expr::Local(at), 1);
            context.builder.set(Lhs::Local(at), next);
            context.builder.emit(Op::Assume(Expr::Valid(Box::new(Expr::Local(at)), 1)));
        });
        context.builder.emit(Op::Assume(Expr::Valid(Box::new(Expr::Local(at)), 1)));
        let place = Place::pointee(Expr::Local(at), IntType::U8);
        if writes {
            context.builder.emit(Op::any(Lhs::Memory(place)));
        } else {
            context.builder.save(Expr::load(place), IntType::U8);
        }
    });
}

/// Calls an argument any number of times. Numbers that are passed are inputs; addresses are those that the
/// function was given itself.
fn call_back(context: &mut Context<'_>, call: &Call<'_>, index: usize) {
    let Some(function) = call.argument(index) else { return };
    let callback = function.pointee.as_ref().and_then(|pointee| pointee.callback.clone());
    let is_indirect = context.builder.is_atomic() && function.function.is_none();
    let Some(callback) = callback.filter(|_| !is_indirect) else {
        return context.assume(call, "what it calls is not known", true);
    };
    let ty = context.pointer();
    let pointer = context.settle_pointer(function);
    let callee = threads::callee(context, function);
    let given: Vec<Expr> = call
        .arguments
        .iter()
        .enumerate()
        .filter(|(other, argument)| *other != index && (argument.pointee.is_some() || argument.is_null))
        .map(|(_, argument)| context.settle_pointer(argument))
        .collect();
    let (some, done) = (context.builder.label(), context.builder.label());
    context.builder.branch(truth(pointer, ty), some, done);
    context.builder.continue_at(some);
    context.repeatedly(|context| {
        let mut passed = Vec::new();
        for (parameter, is_pointer) in &callback.parameters {
            if !is_pointer {
                passed.push(context.open_value(*parameter, Rhs::Any, |_| None));
                continue;
            }
            // Any of the addresses, or memory of its own.
            let own = allocate(context, call, Expr::int(Value::from(MEMORY), ty), false, ObjectRole::Program);
            let chosen = context.builder.save(Expr::Local(own), ty);
            for address in &given {
                let is_it = any_between(context, IntType::BOOL, 0, 1);
                let value = Expr::IfThenElse(Box::new((is_it, address.clone(), Expr::Local(chosen))));
                context.builder.set(Lhs::Local(chosen), value);
            }
            passed.push(Expr::Local(chosen));
        }
        let result = callback.result.map(|ty| Lhs::Local(context.builder.temporary(ty)));
        context.builder.emit(Op::Call(callee, passed, result));
    });
    context.builder.place(done);
}
