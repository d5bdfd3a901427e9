//! `pthread_once` and `call_once`: the control word is 0 before, 1 while the routine runs, 2 afterwards.

use super::emit::{equal, int, number};
use super::{Answer, Call, Context, Entry, Wins, threads};
use ir::{Expr, IntType, Lhs, Op, SharedObject};

pub(super) const TABLE: &[Entry] =
    &[Entry { names: &["pthread_once", "call_once"], wins: Wins::Model, model: once }];

fn once(context: &mut Context<'_>, call: &Call<'_>) -> Option<Answer> {
    let (control, routine) = (call.argument(0)?, call.argument(1)?);
    if control.is_smaller_than(4) {
        return None;
    }
    let control = context.settle_pointer(control);
    let routine = threads::callee(context, routine);
    let word = context.word(&control, 0);
    let is = |value| Op::Assume(equal(IntType::U32, Expr::load(word.clone()), number(value)));
    let (from, done) = (context.waiting_here(SharedObject::Once), context.builder.label());
    context.builder.alternative(is(2), done);
    context.enter_atomic(from, is(0));
    context.leave_atomic(Op::set(Lhs::Memory(word.clone()), number(1)));
    context.builder.emit(Op::Call(routine, vec![], None));
    context.builder.emit(Op::set(Lhs::Memory(word), number(2)));
    context.builder.place(done);
    Some(Answer::Value(int(0)))
}
