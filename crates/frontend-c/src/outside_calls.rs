//! Calls of functions that no file defines and that have no model: classified by the user, or unknown except
//! for their type.

use crate::builder::Builder;
use crate::classes::FunctionClass;
use crate::function::Function;
use crate::library::{self, Argument};
use crate::link::Declared;
use crate::own_objects;
use ir::{Expr, Lhs, Op, Program};
use rucc_types::{IntKind, TypeId, TypeKind};

/// What models write to, when nothing may fail.
pub fn context_of<'a>(builder: &'a mut Builder, program: &'a mut Program) -> library::Context<'a> {
    library::Context { builder, program, failures: false }
}

/// What a pointer that an unknown function gives may be, besides one to memory of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ForeignResult {
    /// Nothing else.
    Own,
    /// One of the addresses that this call was passed, moved within its object.
    Passed,
    /// Whatever such functions were given.
    Given,
}

impl Function<'_, '_> {
    /// A function with a classification by the user.
    pub fn call_classified(
        &mut self,
        name: &str,
        class: &FunctionClass,
        arguments: Vec<Argument>,
        result: TypeId,
    ) -> Option<Expr> {
        let unit = self.unit;
        let span = self.builder.span;
        let text = format!("function '{name}' is taken to be \"{class}\", as threadproof.toml says");
        self.global.assume(text, span, false);
        let pointee = unit.pointee(result).filter(|_| unit.is_pointer(result));
        let made = pointee.map(|ty| (unit.size(ty).unwrap_or(0), unit.has_pointer(ty)));
        let (local, value) = self.result_place(result);
        let call = library::Call { name, arguments, result: unit.scalar_type(result), span };
        let mut context = library::Context {
            builder: &mut self.builder,
            program: &mut self.global.program,
            failures: false,
        };
        let (own, returns) = library::classified(&mut context, &call, class, made);
        if !returns {
            return value;
        }
        match (local, own, &value) {
            (Some(local), Some(own), _) => self.builder.set(Lhs::Local(local), own),
            (Some(local), None, _) if unit.has_pointer(result) => {
                let text = format!("function '{name}': what its result points to is not modelled");
                self.global.assume(text, span, true);
                self.builder.emit(Op::unknown(Lhs::Local(local)));
            }
            (Some(local), None, _) => self.builder.emit(Op::any(Lhs::Local(local))),
            (None, _, Some(address)) if unit.is_aggregate(result) => {
                context_of(&mut self.builder, &mut self.global.program)
                    .write_unmodelled(address, unit.size(result).unwrap_or(0));
            }
            (None, _, _) => {}
        }
        value
    }

    /// What a pointer from a function of which only the type is known may be, besides one to memory of its
    /// own.
    fn foreign_result(&mut self, arguments: &[Argument], result: TypeId) -> ForeignResult {
        let unit = self.unit;
        let Some(pointee) = unit.pointee(result).filter(|_| unit.is_pointer(result)) else {
            return ForeignResult::Given;
        };
        // The program has no object of a type that it does not know, or has only pointers to.
        if unit.is_aggregate(pointee) && unit.size(pointee).is_none() {
            return ForeignResult::Own;
        }
        if own_objects::tag(unit, pointee).is_some_and(|tag| !self.global.has_own(tag)) {
            return ForeignResult::Own;
        }
        // A text, or a table of numbers.
        let is_number = unit.scalar_type(pointee).is_some() && !unit.is_pointer(pointee);
        let is_text = unit.kind(pointee) == TypeKind::Int(IntKind::Char);
        let is_data = is_text || is_number && unit.is_const(pointee);
        let leads_nowhere = |argument: &Argument| {
            argument.pointee.as_ref().is_none_or(|pointee| {
                pointee.is_incomplete_record || pointee.scalar.is_some() && !pointee.is_pointer
            })
        };
        if is_data && arguments.iter().all(leads_nowhere) {
            ForeignResult::Passed
        } else {
            ForeignResult::Given
        }
    }

    /// A function of which only the type is known.
    pub fn call_unknown(
        &mut self,
        name: &str,
        declared: Declared,
        arguments: &[Argument],
        result: TypeId,
    ) -> Option<Expr> {
        let span = self.builder.span;
        let is_of_system = self.global.units[declared.unit].is_of_system(declared.declaration);
        let is_pure = self.global.outside.is_pure
            || self.global.units.iter().any(|unit| unit.pure_functions.iter().any(|pure| pure == name));
        // A number as wide as a pointer may be an address, and a structure may hold some.
        let bytes = self.pointer().bytes();
        let is_wide = |argument: &Argument| argument.ty.bytes() >= bytes && argument.constant.is_none();
        let reaches_memory = arguments
            .iter()
            .filter(|argument| argument.text.is_none())
            .any(|argument| argument.pointee.is_some() && !argument.is_null || !is_pure && is_wide(argument));
        let foreign = self.foreign_result(arguments, result);
        if self.unit.has_pointer(result) {
            let what = match foreign {
                ForeignResult::Own => "",
                ForeignResult::Passed => ", or to what it was passed",
                ForeignResult::Given => ", or to what such functions were given",
            };
            let text = format!(
                "unknown function '{name}': its result points to memory of its own{what}; what is there is not \
                 modelled"
            );
            self.global.assume(text, span, true);
        }
        if reaches_memory {
            self.global.assume(
                format!("unknown function '{name}' may change memory that it can reach; it is taken to change none"),
                span,
                true,
            );
        } else {
            let text = format!("unknown function '{name}': its result is arbitrary, and it changes nothing");
            self.global.unknown_calls.push((self.template, text, span, is_pure));
        }
        let passed: Vec<Expr> = arguments
            .iter()
            .filter(|argument| argument.text.is_none() && !argument.is_null && is_wide(argument))
            .map(|argument| argument.value.clone())
            .collect();
        let passed: Vec<Expr> = passed.into_iter().map(|value| self.freeze(value)).collect();
        for value in &passed {
            context_of(&mut self.builder, &mut self.global.program).make_known(value.clone());
        }
        // An execution that depends on memory that it may have changed or freed is no evidence.
        let failures = false;
        let (local, value) = self.result_place(result);
        // A number is an input of its type. The target of a pointer is not known, and neither is the result
        // of a pure function, or of one of the system, which its contract determines.
        let is_input = !is_pure && !is_of_system && !self.unit.has_pointer(result);
        self.global.gives_names |= local.is_some() && !is_input && !self.unit.has_pointer(result);
        let mut context =
            library::Context { builder: &mut self.builder, program: &mut self.global.program, failures };
        if !is_pure {
            context.lose_track();
            // A function is called for its result, or for what it does: then it may take a lock, or wait.
            if reaches_memory || local.is_none() && value.is_none() {
                context.lose_path();
            }
        }
        match (local, &value) {
            (Some(local), _) if foreign == ForeignResult::Own => context.give_own(local),
            (Some(local), _) if foreign == ForeignResult::Passed => context.give_passed(local, &passed),
            (Some(local), _) if is_input => self.builder.emit(Op::any(Lhs::Local(local))),
            (Some(local), _) => context.give_known(local),
            (None, Some(address)) if self.unit.is_aggregate(result) => {
                context.write_unmodelled(address, self.unit.size(result).unwrap_or(0));
            }
            (None, _) => {}
        }
        if self.is_noreturn(declared) {
            self.builder.emit(Op::Assume(Expr::bool(false)));
            self.builder.leave();
        }
        value
    }
}
