//! The parameters of `main`: any number of arguments, each any string.
//!
//! Exact: `argc` is not negative, `argv` has a pointer to each string and a null pointer after the last one.
//! They are created before `main` begins, if the program mentions them. The length of a string has the limit
//! of Linux. The target of a third parameter is not modelled (limits proofs).

use crate::function::{Function, Variable};
use ir::{
    BinaryOp, Expr, Initial, IntType, Layout, Lhs, LocalId, Object, ObjectId, Op, Place, Rhs, Storage, Value,
};
use rucc_sema::DeclId;

/// The maximum size of an argument, with its final zero (`MAX_ARG_STRLEN`).
const LONGEST: Value = 131_072;

impl Function<'_, '_> {
    /// Gives the parameters of `main` their values.
    pub fn main_parameters(&mut self, parameters: &[DeclId], passed: &[LocalId]) {
        self.builder.template.parameters = 0;
        let mut count = None;
        for (&parameter, &local) in parameters.iter().zip(passed) {
            let ty = self.unit.tree[parameter].ty;
            let mentioned = self.uses.is_mentioned(parameter);
            match count {
                None if !self.unit.is_pointer(ty) => {
                    let ty = self.scalar(ty);
                    let zero = Expr::int(0, ty);
                    let constraint = Expr::binary(BinaryOp::Le, ty, zero, Expr::Local(local));
                    let pairs = vec![(Lhs::Local(local), Rhs::Any)];
                    self.builder.emit(Op::Assign(ir::Assignment { pairs, constraint: Some(constraint) }));
                    count = Some(local);
                }
                Some(count) if parameters.get(1) == Some(&parameter) && mentioned => {
                    self.arguments_of_program(local, count);
                }
                None | Some(_) => {
                    if mentioned {
                        let name = self.unit.name(parameter);
                        let text = format!("unsupported: what '{name}' of 'main' points to");
                        let span = self.builder.span;
                        self.global.assume(text, span, true);
                        self.builder.emit(Op::unknown(Lhs::Local(local)));
                    }
                }
            }
            if self.uses.is_address_taken(parameter)
                && let Some(&Variable::Object(object)) = self.variables.get(&parameter)
            {
                let scalar = self.scalar(ty);
                self.builder.set(Lhs::Memory(Place::cell(object, 0, scalar)), Expr::Local(local));
            }
        }
    }

    /// Creates `count` strings, and an array of pointers to them.
    fn arguments_of_program(&mut self, array: LocalId, count: LocalId) {
        let pointer = self.pointer();
        let width = self.address_constant(pointer.bytes());
        let number = self.cast(Expr::Local(count), pointer);
        let plus_one = |value: Expr| Expr::binary(BinaryOp::Add, pointer, value, Expr::int(1, pointer));
        let times = |value: Expr| Expr::binary(BinaryOp::Mul, pointer, value, width.clone());
        let site = self.argument_site("argv", pointer.bytes());
        let size = times(plus_one(number.clone()));
        self.builder.emit(Op::Allocate { site, size, zeroed: true, result: Lhs::Local(array) });

        let index = self.builder.save(Expr::int(0, pointer), pointer);
        let (head, next, done) = (self.builder.label(), self.builder.label(), self.builder.label());
        self.builder.place(head);
        let more = Expr::binary(BinaryOp::Lt, pointer, Expr::Local(index), number);
        self.builder.branch(more, next, done);
        self.builder.continue_at(next);
        let length = self.builder.temporary(pointer);
        let bound = |low: Expr, high: Expr| Expr::binary(BinaryOp::Le, pointer, low, high);
        let constraint = bound(Expr::int(1, pointer), Expr::Local(length))
            .and(bound(Expr::Local(length), Expr::int(LONGEST, pointer)));
        let pairs = vec![(Lhs::Local(length), Rhs::Any)];
        self.builder.emit(Op::Assign(ir::Assignment { pairs, constraint: Some(constraint) }));
        let string = self.builder.temporary(pointer);
        let (site, size) = (self.argument_site("an argument of the program", 1), Expr::Local(length));
        self.builder.emit(Op::Allocate { site, size, zeroed: false, result: Lhs::Local(string) });
        let last = Expr::binary(BinaryOp::Sub, pointer, Expr::Local(length), Expr::int(1, pointer));
        let last = Expr::binary(BinaryOp::Add, pointer, Expr::Local(string), last);
        self.builder.set(Lhs::Memory(Place::pointee(last, IntType::U8)), Expr::int(0, IntType::U8));
        let cell = Expr::binary(BinaryOp::Add, pointer, Expr::Local(array), times(Expr::Local(index)));
        self.builder.set(Lhs::Memory(Place::pointee(cell, pointer)), Expr::Local(string));
        self.builder.set(Lhs::Local(index), plus_one(Expr::Local(index)));
        self.builder.jump(head);
        self.builder.continue_at(done);
    }

    fn argument_site(&mut self, name: &str, size: u64) -> ObjectId {
        let (layout, span) = (Layout::Bytes(size), self.builder.span);
        let (storage, initial) = (Storage::Site, Initial::Unknown);
        let name = name.to_owned();
        self.global.program.objects.push(Object {
            name,
            storage,
            size,
            align: 16,
            layout,
            initial,
            span,
            role: ir::ObjectRole::Program,
        })
    }
}
