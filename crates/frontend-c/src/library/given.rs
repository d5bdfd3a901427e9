//! Addresses that code outside of the program knows, and what it gives back.
//!
//! A function of which nothing is known may give back addresses that were passed to it or to another such
//! function. They are stored in one object, which points-to sets know by its role ([`ObjectRole::Given`]);
//! what comes back is a number that was not computed from an address, or one of these. The latter is no
//! evidence. Texts and tables of numbers that it gives are its own, or what it was passed in the same call
//! ([`give_passed`](Context::give_passed)). Variables and functions with external linkage can be named
//! outside: a number may be the address of one ([`know`]). A pointer is taken to be none; no program with
//! such a function is proved, and its report says so. Over-approximates, for functions that change nothing
//! of the program (SOUNDNESS.md, assumptions 12 and 14).
//!
//! Of a function of the program that takes any number of arguments, those beyond its parameters are stored
//! in an object of that function; those of calls through pointers are in one for all functions. Each thread
//! has its own such objects, because a function runs in the thread that calls it: so an address that is only
//! passed in a list does not reach other threads, unless the list does. `va_start`
//! sets the first word of a list to the address of the function's object. So points-to sets follow a list
//! wherever it goes, also to code outside, and `va_arg` gives what may be in the object, or a number that
//! was not computed from an address; the former is no evidence. Only points-to sets need that: the value
//! is any. What is narrower than a pointer has a word of its own, since `va_arg` asks for the width that was
//! passed: it may hold a part of an address.

use super::Context;
use super::emit::atomic_place;
use ir::{
    Expr, Field, Initial, IntType, Layout, Lhs, LocalId, Object, ObjectId, ObjectRole, Op, Place, Program,
    Rhs, Storage, Template,
};

/// What people see the object as.
const NAME: &str = "addresses that code outside of the program knows";
/// What people see objects with the arguments of functions as, before the name of the function.
const LISTED: &str = "arguments beyond the parameters of ";
/// The same, of calls through pointers.
const LISTED_BY_POINTER: &str = "arguments beyond the parameters of functions at pointers";
/// Locals with the first word of a list.
const LIST: &str = "%list";

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
    /// Sets a local to a number that was not computed from an address. It has a local of its own, so that
    /// points-to sets tell it from addresses that the local may be set to instead.
    fn give_number(&mut self, local: LocalId, ty: IntType) {
        let number = self.builder.temporary(ty);
        self.builder.emit(Op::unknown_number(number, ty));
        self.builder.set(Lhs::Local(local), Expr::Local(number));
    }
    /// Sets a local to an address in memory that is not the program's.
    pub fn give_own(&mut self, local: LocalId) {
        let ty = self.builder.template.locals[local].ty;
        self.builder.emit(Op::unknown_number(local, ty));
    }
    /// Sets a local to such an address, or to one of some others, moved within its object.
    pub fn give_passed(&mut self, local: LocalId, passed: &[Expr]) {
        let (ty, pointer) = (self.builder.template.locals[local].ty, self.pointer());
        self.give_number(local, ty);
        for address in passed {
            self.perhaps(|context| {
                context.lose_path();
                let distance = context.builder.temporary(pointer);
                context.builder.emit(Op::unknown_number(distance, pointer));
                let address = context.convert(address.clone(), pointer);
                let moved = context.convert(context.sum(address, Expr::Local(distance)), ty);
                context.builder.set(Lhs::Local(local), moved);
            });
        }
    }
    /// Sets a local to what code outside of the program gives.
    pub fn give_known(&mut self, local: LocalId) {
        let ty = self.builder.template.locals[local].ty;
        if ty.bytes() < self.pointer().bytes() {
            return self.builder.emit(Op::unknown(Lhs::Local(local)));
        }
        self.give_number(local, ty);
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

/// The object with the arguments of a function, or of all that are called through pointers.
fn listed(context: &mut Context<'_>, function: Option<&str>) -> ObjectId {
    let pointer = context.pointer();
    let name = function.map_or_else(|| LISTED_BY_POINTER.to_owned(), |name| format!("{LISTED}'{name}'"));
    let field = |(name, offset): (&str, u64)| {
        let layout = Layout::Scalar(pointer);
        Field { name: name.to_owned(), offset, layout }
    };
    let fields = [("wide", 0), ("narrow", pointer.bytes())].map(field);
    let layout = Layout::Record(fields.into());
    let object = context.own_object(&name, Storage::ThreadLocal, layout, 2 * pointer.bytes());
    context.program.objects[object].role = ObjectRole::HandedOn;
    object
}

/// Where arguments of a type are, in an object with arguments.
fn offset_of(context: &Context<'_>, ty: IntType) -> u64 {
    let bytes = context.pointer().bytes();
    if ty.bytes() < bytes { bytes } else { 0 }
}

/// The first word of a list at an address.
fn first_word(context: &Context<'_>, list: &Expr) -> Place {
    Place::pointee(list.clone(), context.pointer())
}

/// A local for the first word of a list.
fn list_local(context: &mut Context<'_>) -> LocalId {
    let (ty, span) = (context.pointer(), context.builder.span);
    context.builder.template.local(LIST, ty, span)
}

impl Context<'_> {
    /// Says that a value is passed beyond the parameters of a function, or of one at a pointer. Dropped in
    /// programs where nothing is taken from lists ([`drop_lists`]).
    pub fn pass_in_list(&mut self, function: Option<&str>, value: Expr, ty: IntType) {
        let (object, pointer) = (listed(self, function), self.pointer());
        let place = atomic_place(Expr::Address(object, offset_of(self, ty)), pointer);
        let value = self.convert(value, pointer);
        self.builder.set(Lhs::Memory(place), value);
    }
    /// `va_start` in a function, of the list at an address.
    pub fn start_list(&mut self, function: &str, list: &Expr) {
        let (own, by_pointer) = (listed(self, Some(function)), listed(self, None));
        let pointer = self.pointer();
        for offset in [0, pointer.bytes()] {
            let place = |object| atomic_place(Expr::Address(object, offset), pointer);
            self.builder.set(Lhs::Memory(place(own)), Expr::load(place(by_pointer)));
        }
        let local = list_local(self);
        self.builder.set(Lhs::Local(local), Expr::Address(own, 0));
        let word = first_word(self, list);
        self.builder.set(Lhs::Memory(word), Expr::Local(local));
    }
    /// `va_copy` between the lists at two addresses.
    pub fn copy_list(&mut self, to: &Expr, from: &Expr) {
        let (target, source) = (first_word(self, to), first_word(self, from));
        let local = list_local(self);
        self.builder.set(Lhs::Local(local), Expr::load(source));
        self.builder.set(Lhs::Memory(target), Expr::Local(local));
    }
    /// Sets a local to what `va_arg` gives of the list at an address.
    pub fn give_listed(&mut self, result: LocalId, list: &Expr) {
        let (ty, pointer) = (self.builder.template.locals[result].ty, self.pointer());
        let offset = offset_of(self, ty);
        match offset {
            0 => self.give_number(result, ty),
            _ => self.builder.emit(Op::unknown(Lhs::Local(result))),
        }
        let word = first_word(self, list);
        self.perhaps(|context| {
            context.lose_path();
            let valid = |address: Expr| Op::Assume(Expr::Valid(Box::new(address), pointer.bytes()));
            context.builder.emit(valid(list.clone()));
            let local = list_local(context);
            context.builder.set(Lhs::Local(local), Expr::load(word));
            let address = context.sum(Expr::Local(local), Expr::int(offset.into(), pointer));
            context.builder.emit(valid(address.clone()));
            let place = atomic_place(address, pointer);
            let value = context.builder.save(Expr::load(place), pointer);
            let value = context.convert(Expr::Local(value), ty);
            context.builder.set(Lhs::Local(result), value);
        });
    }
}

/// Drops what lists hold, in a program where nothing is taken from them: neither by the program, nor by code
/// outside.
pub(super) fn drop_lists(program: &mut Program) {
    let is_list = |code: &Template, expr: &Expr| match expr {
        Expr::Local(local) => code.locals[*local].name == LIST,
        _ => false,
    };
    let is_in_list = |code: &Template, expr: &Expr| match expr {
        Expr::Binary(_, _, pair) => is_list(code, &pair.0) || is_list(code, &pair.1),
        _ => is_list(code, expr),
    };
    let is_given = |object: ObjectId| program.objects[object].role == ObjectRole::Given;
    let mut is_read = false;
    for code in &program.templates {
        for expr in code.edges.iter().flat_map(|edge| &edge.ops).flat_map(Op::expressions) {
            expr.walk(&mut |inner| match inner {
                Expr::Load(place) => is_read |= is_in_list(code, &place.address),
                Expr::Address(object, _) => is_read |= is_given(*object),
                _ => {}
            });
        }
    }
    if is_read {
        return;
    }
    let is_listed = |object: &Object| object.name.starts_with(LISTED);
    let listed: Vec<ObjectId> =
        program.objects.enumerate().filter(|(_, object)| is_listed(object)).map(|(id, _)| id).collect();
    let is_for_lists = |code: &Template, op: &Op| {
        let Op::Assign(assignment) = op else { return false };
        let [(lhs, rhs)] = assignment.pairs.as_slice() else { return false };
        let is_to = match lhs {
            Lhs::Local(local) => code.locals[*local].name == LIST,
            Lhs::Memory(place) => {
                matches!(&place.address, Expr::Address(object, _) if listed.binary_search(object).is_ok())
            }
        };
        is_to || matches!(rhs, Rhs::Value(value) if is_list(code, value))
    };
    for code in program.templates.iter_mut() {
        let mut edges = std::mem::take(&mut code.edges);
        for edge in edges.iter_mut() {
            edge.ops.retain(|op| !is_for_lists(code, op));
        }
        code.edges = edges;
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
