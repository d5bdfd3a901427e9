//! Arguments beyond the parameters of a function, and the lists that give them.
//!
//! Where the program takes arguments from lists (`va_arg`), a call of a function with any number of arguments
//! puts those beyond its parameters into objects of the caller, each into its own slot: numbers into one,
//! pointers into another, so that points-to sets tell them apart. Unsigned numbers as wide as a pointer are
//! in both, and so are pointers if the program takes such numbers: some take addresses as numbers. It passes
//! the addresses of both objects as parameters after the named ones; so does a call through a pointer of such
//! a type. `va_start` stores these addresses in the second and third word of the list (x86-64 has three),
//! `va_arg` reads what one of them points to and moves both to the next slot, and `va_copy` copies them. This
//! is exact for arguments that are scalars: what is taken with another type or beyond the last argument is
//! undefined (C11 7.16.1.1p2). A slot holds what was passed, byte by byte; what was not passed has any value.
//! A constant is in both objects, because many programs end a list of pointers with a plain 0.
//!
//! The first word still says which function the list is of: code outside of the program may take addresses
//! from it (`library/given.rs`). With ILP32, where a list has one word only, `va_arg` gives any value.

use crate::facts::Uses;
use crate::function::Function;
use crate::outside_calls::context_of;
use crate::parse::Unit;
use crate::types::Class;
use ir::{
    BinaryOp, Expr, Field, Initial, IntType, Layout, Lhs, Object, ObjectId, ObjectRole, Place, Storage,
};
use rucc_sema::{ExprId, ExprKind};
use rucc_types::TypeId;

/// The bytes of the smallest slot.
const SLOT: u64 = 8;
/// What people see the objects with the arguments of a call as.
const ARGUMENTS: [&str; 2] = ["%numbers", "%pointers"];
/// What people see the parameters with their addresses as.
const PARAMETERS: [&str; 2] = ["%list of numbers", "%list of pointers"];

/// An argument beyond the parameters of a function.
#[derive(Clone, Debug)]
pub struct Beyond {
    /// Its value.
    pub value: Expr,
    /// Whether its type is a pointer.
    pub is_pointer: bool,
}

/// Whether the program takes arguments from lists; `words`: unsigned numbers as wide as a pointer, which may
/// be addresses.
pub fn takes_arguments(units: &[Unit], words: bool) -> bool {
    let is_wanted = |unit: &Unit, id: ExprId| {
        let is_word = || match unit.class(unit.tree[id].ty) {
            Class::Integer(ty) => ty.bytes() == SLOT && !ty.signed && !unit.is_pointer(unit.tree[id].ty),
            _ => false,
        };
        matches!(unit.tree[id].kind, ExprKind::VaArg { .. }) && (!words || is_word())
    };
    units.iter().any(|unit| {
        let mut bodies: Vec<_> = unit.tree.top_level().iter().filter_map(|id| unit.tree[*id].body).collect();
        while let Some(body) = bodies.pop() {
            let uses = Uses::of(unit, body);
            if uses.expressions.iter().any(|id| is_wanted(unit, *id)) {
                return true;
            }
            bodies.extend(uses.variables.iter().filter_map(|id| unit.tree[*id].body));
        }
        false
    })
}

/// The bytes that an argument of a type takes.
fn slot(ty: IntType) -> u64 {
    ty.bytes().next_multiple_of(SLOT)
}

impl Function<'_, '_> {
    /// Whether functions of this type get the arguments beyond their parameters.
    pub fn passes_arguments(&mut self, unit: &Unit, ty: TypeId) -> bool {
        unit.signature(ty).is_some_and(|signature| signature.variadic) && self.follows_lists()
    }
    /// Whether lists say where their next argument is.
    pub fn follows_lists(&mut self) -> bool {
        self.pointer().bytes() == SLOT && self.global.takes_arguments()
    }
    /// The parameters for the arguments beyond the others.
    pub fn list_parameters(&mut self) {
        let (pointer, span) = (self.pointer(), self.builder.span);
        self.lists = Some(PARAMETERS.map(|name| self.builder.template.local(name, pointer, span)));
    }

    /// The addresses of objects that hold the arguments beyond the parameters.
    pub fn pack(&mut self, beyond: Vec<Beyond>) -> [Expr; 2] {
        let takes_words = self.global.takes_words();
        let types: Vec<IntType> = beyond.iter().map(|one| self.type_of(&one.value)).collect();
        let size: u64 = types.iter().map(|ty| slot(*ty)).sum();
        let values: Vec<Expr> = beyond.iter().map(|one| self.freeze(one.value.clone())).collect();
        [false, true].map(|pointers| {
            let (mut fields, mut stored, mut offset) = (Vec::new(), Vec::new(), 0);
            for (index, (one, own)) in beyond.iter().zip(&types).enumerate() {
                let value = &values[index];
                let is_constant = matches!(value, Expr::Const(..));
                let ty = if is_constant && pointers { self.pointer() } else { *own };
                let is_word = own.bytes() >= SLOT && !own.signed;
                let is_in_both = is_constant || if one.is_pointer { takes_words } else { is_word };
                if one.is_pointer == pointers || is_in_both {
                    fields.push(Field { name: format!("{}", index + 1), offset, layout: Layout::Scalar(ty) });
                    stored.push((offset, ty, self.cast(value.clone(), ty)));
                }
                offset += slot(*own);
            }
            if stored.is_empty() {
                return self.address_constant(0);
            }
            let object = self.arguments_object(ARGUMENTS[usize::from(pointers)], fields, size);
            for (offset, ty, value) in stored {
                self.builder.set(Lhs::Memory(Place::cell(object, offset, ty)), value);
            }
            Expr::Address(object, 0)
        })
    }
    fn arguments_object(&mut self, name: &str, fields: Vec<Field>, size: u64) -> ObjectId {
        let object = Object {
            name: name.to_owned(),
            storage: Storage::Frame(self.template),
            size,
            align: 16,
            layout: Layout::Record(fields),
            initial: Initial::Unknown,
            span: self.builder.span,
            role: ObjectRole::Program,
        };
        let id = self.global.program.objects.push(object);
        self.scopes.objects.insert(id, self.scopes.current());
        id
    }

    /// The words of a list with the addresses of its next argument among numbers and among pointers.
    fn next_words(&self, list: &Expr) -> [Place; 2] {
        let pointer = self.pointer();
        [1, 2].map(|index| {
            let distance = Expr::int((index * pointer.bytes()).into(), pointer);
            Place::pointee(Expr::binary(BinaryOp::Add, pointer, list.clone(), distance), pointer)
        })
    }
    /// `va_start` of the list at an address.
    pub fn start_list(&mut self, list: ExprId) {
        let list = self.rvalue(list);
        let list = self.freeze(list);
        let function = self.builder.template.name.clone();
        context_of(&mut self.builder, &mut self.global.program).start_list(&function, &list);
        for (word, first) in self.next_words(&list).into_iter().zip(self.lists.into_iter().flatten()) {
            self.builder.set(Lhs::Memory(word), Expr::Local(first));
        }
    }
    /// `va_copy` between lists at two addresses.
    pub fn copy_list(&mut self, to: &Expr, from: &Expr) {
        context_of(&mut self.builder, &mut self.global.program).copy_list(to, from);
        if self.follows_lists() {
            for (to, from) in self.next_words(to).into_iter().zip(self.next_words(from)) {
                let next = self.builder.save(Expr::load(from), self.pointer());
                self.builder.set(Lhs::Memory(to), Expr::Local(next));
            }
        }
    }
    /// The next argument of a list, with the type of an expression.
    pub fn next_argument(&mut self, list: ExprId, wanted: TypeId) -> Expr {
        let unit = self.unit;
        let class = unit.class(wanted);
        let (Class::Integer(ty) | Class::Odd(ty, _) | Class::Float(ty)) = class else {
            self.unsupported("a variable argument of this type");
            return self.address_constant(0);
        };
        let is_followed = self.follows_lists();
        if is_followed && matches!(class, Class::Odd(..)) {
            self.unsupported("a variable argument of this type");
        }
        if !is_followed && unit.is_pointer(wanted) {
            let span = self.builder.span;
            let text = "unsupported: a variable argument that is a pointer".to_owned();
            self.global.assume(text, span, true);
        }
        let list = self.rvalue(list);
        let list = self.freeze(list);
        let argument = self.builder.temporary(ty);
        if !is_followed {
            context_of(&mut self.builder, &mut self.global.program).give_listed(argument, &list);
            return Expr::Local(argument);
        }
        let pointer = self.pointer();
        let size = Expr::int(slot(ty).into(), pointer);
        for (word, pointers) in self.next_words(&list).into_iter().zip([false, true]) {
            let next = Expr::Local(self.builder.save(Expr::load(word.clone()), pointer));
            let after = Expr::binary(BinaryOp::Add, pointer, next.clone(), size.clone());
            self.builder.set(Lhs::Memory(word), after);
            if unit.is_pointer(wanted) == pointers {
                self.builder.set(Lhs::Local(argument), Expr::load(Place::pointee(next, ty)));
            }
        }
        Expr::Local(argument)
    }
}
