//! Addresses that code outside of the program knows, and what it gives back.
//!
//! A function of which nothing is known, and a list of arguments, may hold addresses that were passed to it
//! or to another such function. They are stored in one object, which points-to sets know by its role
//! ([`ObjectRole::Given`]); what comes back is a number that was not computed from an address, or one of
//! these. The latter is no evidence. Variables and functions with external linkage can be named outside, so
//! they are known from the start ([`know`]). Over-approximates, for functions that change nothing of the
//! program (SOUNDNESS.md, assumptions 12 and 14).

use super::Context;
use super::emit::atomic_place;
use ir::{Expr, Initial, IntType, Layout, Lhs, LocalId, ObjectId, ObjectRole, Op, Program, Storage};

/// What people see the object as.
const NAME: &str = "addresses that code outside of the program knows";

fn given(context: &mut Context<'_>) -> ObjectId {
    let pointer = context.pointer();
    let object = context.own_object(NAME, Storage::Static, Layout::Scalar(pointer), pointer.bytes());
    context.program.objects[object].role = ObjectRole::Given;
    object
}

impl Context<'_> {
    /// Says that a value is passed to code that may keep it. Dropped in programs where nothing comes back.
    pub fn make_known(&mut self, value: Expr) {
        let (object, pointer) = (given(self), self.pointer());
        let value = self.convert(value, pointer);
        self.builder.set(Lhs::Memory(atomic_place(Expr::Address(object, 0), pointer)), value);
    }
    /// Sets a local to what code outside of the program gives.
    pub fn give_known(&mut self, local: LocalId) {
        let ty = self.builder.template.locals[local].ty;
        if ty.bytes() < self.pointer().bytes() {
            return self.builder.emit(Op::unknown(Lhs::Local(local)));
        }
        self.builder.emit(Op::unknown_number(local, ty));
        let (object, pointer) = (given(self), self.pointer());
        self.perhaps(|context| {
            context.lose_path();
            let value =
                context.builder.save(Expr::load(atomic_place(Expr::Address(object, 0), pointer)), pointer);
            let value = context.convert(Expr::Local(value), ty);
            context.builder.set(Lhs::Local(local), value);
        });
    }
}

/// Says which addresses are known outside from the start, if anything comes back from there.
pub fn know(program: &mut Program, addresses: Vec<Expr>) {
    let Some((id, _)) = program.objects.enumerate().find(|(_, object)| object.role == ObjectRole::Given)
    else {
        return;
    };
    let mut is_read = false;
    for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
        for expr in op.expressions() {
            expr.walk(&mut |inner| is_read |= matches!(inner, Expr::Address(object, _) if *object == id));
        }
    }
    if !is_read {
        return;
    }
    let (pointer, bytes): (IntType, u64) =
        (program.data_model.pointer(), program.data_model.pointer().bytes());
    let count = addresses.len() as u64 + 1;
    let values = addresses.into_iter().zip(1..).map(|(address, index)| (index * bytes, pointer, address));
    let object = &mut program.objects[id];
    object.initial = Initial::Values(values.collect());
    object.size = bytes * count;
    object.layout = Layout::Array { element: Box::new(Layout::Scalar(pointer)), count, stride: bytes };
}
