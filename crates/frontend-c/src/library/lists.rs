//! Arguments of functions that take any number of them, where it is not known which are strings.
//!
//! A function of the program that takes any number of arguments may hand them on to one that prints
//! (`vfprintf`). So each address that is passed in this way may become the one that the thread remembers,
//! and what prints a list may read the string there: at any time after it was passed, hence also when it
//! really does. Direction: over-approximates, and what is read so is no evidence.

use super::printing::read_string;
use super::{Argument, Context};
use ir::{Expr, IntType, Layout, Lhs, ObjectId, Op, Place, Rhs, Storage};

/// The name of the object with the address that is remembered.
pub(super) const NAME: &str = "an address that the thread passed on";

fn remembered(context: &mut Context<'_>) -> ObjectId {
    let pointer = context.pointer();
    context.own_object(NAME, Storage::ThreadLocal, Layout::Scalar(pointer), pointer.bytes())
}

impl Context<'_> {
    /// Says that an address is passed to a function that takes any number of arguments. Dropped in programs
    /// that print no lists ([`super::simplify`]).
    pub fn pass_on(&mut self, address: Expr) {
        let pointer = self.pointer();
        let place = Place::cell(remembered(self), 0, pointer);
        let is_it = self.open_value(IntType::BOOL, Rhs::Any, |_| None);
        let value = Expr::IfThenElse(Box::new((is_it, address, Expr::load(place.clone()))));
        self.builder.set(Lhs::Memory(place), value);
    }
}

/// May read a string that was passed on.
pub(super) fn read_passed(context: &mut Context<'_>) {
    let pointer = context.pointer();
    let place = Place::cell(remembered(context), 0, pointer);
    context.perhaps(|context| {
        context.lose_path();
        let value = Expr::Local(context.builder.save(Expr::load(place), pointer));
        let (pointee, function, text) = (None, None, None);
        let passed = Argument { value, ty: pointer, pointee, function, text, is_null: false, constant: None };
        read_string(context, &passed, None, true);
    });
}

/// May read an argument as a string, or store a number there.
pub(super) fn may_print(context: &mut Context<'_>, argument: &Argument) {
    let Some(pointee) = &argument.pointee else { return };
    if argument.text.is_some() || argument.is_always_null() {
        return;
    }
    context.perhaps(|context| {
        context.lose_path();
        read_string(context, argument, None, true);
    });
    if pointee.scalar.is_some_and(|ty| ty.bits >= 16) && !pointee.is_pointer {
        let pointer = context.settle_pointer(argument);
        // What is there is not modelled even if nothing is stored: it may have been.
        context.lose_track();
        context.perhaps(|context| {
            context.lose_path();
            context.store_through(argument, pointer, Op::unknown);
        });
    }
}
