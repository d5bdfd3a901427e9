//! Entry points other than `main`: functions that are called, then functions that run as threads.
//!
//! This file generates the code of the first thread. It calls each entry in order, starts the threads, and
//! ends; the program continues until they have ended. Arguments are those that any caller may pass, as far as
//! possible:
//! 1. An integer or a float is an input.
//! 2. A pointer that the function never mentions is null: its value does not matter.
//! 3. A pointer to data without pointers points to a separate object with arbitrary bytes. Other callers may
//!    pass something else (null, a pointer that other threads have, an element of an array), so nothing is
//!    proved.
//! 4. All other pointers are not modelled: nothing is proved, and no violation may depend on them.

use crate::facts::Uses;
use crate::function::Function;
use crate::link::Declared;
use crate::lowering::Lowering;
use crate::parse::Unit;
use crate::types::Class;
use ir::diagnostic::{Diagnostic, Kind};
use ir::{
    Callee, Count, Expr, Initial, IntType, Layout, Lhs, LocalId, Object, ObjectId, Op, Storage, Template,
    TemplateId,
};
use rucc_sema::{DeclId, DeclKind};
use rucc_types::TypeId;

/// The functions that a program starts with, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The first thread calls these, one after the other.
    pub entries: Vec<String>,
    /// Then this many threads run these.
    pub threads: Vec<(String, Count)>,
}

impl Start {
    /// Whether the program starts with its `main`.
    pub fn is_main(&self) -> bool {
        self.entries.is_empty() && self.threads.is_empty()
    }
}

/// The functions that a program starts with.
pub struct StartFunctions {
    /// What is called.
    pub entries: Vec<Declared>,
    /// What runs as threads.
    pub threads: Vec<(Declared, Count)>,
}

/// Finds the functions by name, in all files, including `static` ones.
pub fn find(units: &[Unit], start: &Start) -> Result<StartFunctions, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let entries = start.entries.iter().filter_map(|name| one(units, name, &mut problems)).collect();
    let threads = start.threads.iter();
    let threads =
        threads.filter_map(|(name, count)| Some((one(units, name, &mut problems)?, *count))).collect();
    if problems.is_empty() { Ok(StartFunctions { entries, threads }) } else { Err(problems) }
}

fn one(units: &[Unit], name: &str, problems: &mut Vec<Diagnostic>) -> Option<Declared> {
    let mut found = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        for &id in unit.tree.top_level() {
            let declaration = &unit.tree[id];
            let at = Declared { unit: index, declaration: id };
            let is_meant = declaration.kind == DeclKind::Function && declaration.body.is_some();
            if is_meant && unit.name(id) == name && !found.contains(&at) {
                found.push(at);
            }
        }
    }
    let position =
        |at: &Declared| units[at.unit].position(units[at.unit].tree.definition_span(at.declaration));
    match found.as_slice() {
        [one] => return Some(*one),
        [] => {
            let file = units.first().map_or("", |unit| unit.file.as_str());
            let message = format!(
                "no file defines the function '{name}' that --entry or --thread names; check its name, or add its file"
            );
            problems.push(Diagnostic::at(file, (1, 1), Kind::Link, message));
        }
        [first, others @ ..] => {
            let (file, line, column) = position(first);
            let others: Vec<String> = others
                .iter()
                .map(|at| {
                    let (file, line, _) = position(at);
                    format!("{file}:{line}")
                })
                .collect();
            let message = format!(
                "'{name}' that --entry or --thread names is also at {}; leave a file out",
                others.join(", ")
            );
            problems.push(Diagnostic::at(file, (line, column), Kind::Link, message));
        }
    }
    None
}

/// Generates the code of the first thread.
pub fn lower(lowering: &mut Lowering<'_>, found: &StartFunctions) -> TemplateId {
    let template =
        lowering.program.templates.push(Template { name: "main".to_owned(), ..Template::default() });
    let first = found.entries.first().or(found.threads.first().map(|(declared, _)| declared));
    let unit = first.map_or(0, |declared| declared.unit);
    let mut function = Function::new(lowering, unit, "main", template);
    if let Some(declared) = first {
        function.at_definition(*declared);
    }
    let span = function.builder.span;
    function.builder.template.span = span;
    function.constructors();
    for declared in &found.entries {
        function.start(*declared, None);
    }
    for (declared, count) in &found.threads {
        function.start(*declared, Some(*count));
    }
    function.leave_function();
    let finished = function.builder.template;
    lowering.program.templates[template] = finished;
    template
}

impl Function<'_, '_> {
    /// New edges come from where a function is defined, which may be in another file.
    fn at_definition(&mut self, declared: Declared) {
        let unit = &self.global.units[declared.unit];
        let span = unit.tree.definition_span(declared.declaration);
        self.builder.span = self.global.span(declared.unit, span);
    }

    /// Calls a function, or starts this many threads that run it.
    fn start(&mut self, declared: Declared, count: Option<Count>) {
        self.at_definition(declared);
        let template = self.global.template(declared, false);
        let callee = Callee::Procedure(template);
        match count {
            None => {
                let passed = self.arbitrary_arguments(declared);
                let result = self.result_of(declared);
                self.builder.emit(Op::Call(callee, passed, result.map(Lhs::Local)));
            }
            Some(Count::Exactly(number)) => {
                for _ in 0..number {
                    let passed = self.arbitrary_arguments(declared);
                    self.builder.emit(Op::Spawn(callee.clone(), passed, None));
                }
            }
            Some(Count::Any) => {
                let (again, another, done) = (self.label(), self.label(), self.label());
                self.builder.place(again);
                self.builder.alternative(Op::Assume(Expr::bool(true)), another);
                self.builder.alternative(Op::Assume(Expr::bool(true)), done);
                self.builder.continue_at(another);
                let passed = self.arbitrary_arguments(declared);
                self.builder.emit(Op::Spawn(callee, passed, None));
                self.builder.jump(again);
                self.builder.continue_at(done);
            }
        }
    }

    /// Where the scalar result of a function goes.
    fn result_of(&mut self, declared: Declared) -> Option<LocalId> {
        let unit = &self.global.units[declared.unit];
        let signature = unit.signature(unit.tree[declared.declaration].ty)?;
        let ty = unit.scalar_type(signature.ret)?;
        Some(self.builder.temporary(ty))
    }

    /// An argument that any caller may pass.
    fn arbitrary_arguments(&mut self, declared: Declared) -> Vec<Expr> {
        let unit = &self.global.units[declared.unit];
        let declaration = &unit.tree[declared.declaration];
        let parameters: Vec<DeclId> = unit.tree[declaration.params].to_vec();
        let uses = declaration.body.map(|body| Uses::of(unit, body)).unwrap_or_default();
        let mut passed = Vec::new();
        let result = unit.signature(declaration.ty).map(|signature| signature.ret);
        if let Some(result) = result.filter(|result| unit.is_aggregate(*result)) {
            passed.push(self.fresh_object(declared.unit, "%result", result));
        }
        for parameter in parameters {
            let ty = unit.tree[parameter].ty;
            let (function, name) = (unit.name(declared.declaration), unit.name(parameter));
            let pointee = if unit.is_aggregate(ty) { Some(ty) } else { unit.pointee(ty) };
            let Some(pointee) = pointee else {
                passed.push(self.arbitrary_scalar(declared.unit, ty));
                continue;
            };
            let is_data = match unit.class(pointee) {
                Class::Integer(_) | Class::Odd(..) | Class::Float(_) | Class::Aggregate => true,
                Class::Void | Class::Function | Class::Unsupported(_) => false,
            };
            let is_plain = is_data
                && unit.size(pointee).is_some_and(|size| size > 0)
                && !unit.has_pointer(pointee)
                && !unit.is_variable(pointee);
            let by_value = unit.is_aggregate(ty);
            if is_plain && by_value {
                passed.push(self.fresh_object(declared.unit, name, pointee));
            } else if !uses.is_mentioned(parameter) && !by_value {
                passed.push(self.address_constant(0));
            } else {
                let span = self.builder.span;
                let (text, value) = if is_plain {
                    let text = format!(
                        "the argument '{name}' of '{function}' points to an object of its own: what else callers may pass is not looked at; write a 'main' that passes it"
                    );
                    (text, self.fresh_object(declared.unit, name, pointee))
                } else {
                    let text = format!(
                        "unsupported: what the argument '{name}' of '{function}' points to; write a 'main' that passes it"
                    );
                    (text, self.unknown(self.pointer()))
                };
                self.global.assume(text, span, true);
                passed.push(value);
            }
        }
        passed
    }

    /// An input. If the type does not fill a machine type, some values would be invalid: then it is not
    /// modelled.
    fn arbitrary_scalar(&mut self, unit: usize, ty: TypeId) -> Expr {
        let (ty, exact) = match self.global.units[unit].class(ty) {
            Class::Integer(ty) | Class::Float(ty) => (ty, true),
            Class::Odd(ty, _) => (ty, false),
            // The function itself says that it is not supported.
            Class::Void | Class::Aggregate | Class::Function | Class::Unsupported(_) => (IntType::U64, false),
        };
        if !exact {
            return self.unknown(ty);
        }
        let local = self.builder.temporary(ty);
        self.builder.emit(Op::any(Lhs::Local(local)));
        Expr::Local(local)
    }

    /// The address of a new object of a type, whose bytes are arbitrary.
    fn fresh_object(&mut self, unit: usize, name: &str, ty: TypeId) -> Expr {
        let unit = &self.global.units[unit];
        let size = unit.size(ty).unwrap_or(0);
        let layout: Layout = unit.layout(ty, size);
        let site: ObjectId = self.global.program.objects.push(Object {
            name: name.to_owned(),
            storage: Storage::Site,
            size,
            align: unit.align(ty),
            layout,
            initial: Initial::Unknown,
            span: self.builder.span,
            role: ir::ObjectRole::Program,
        });
        let result = self.builder.temporary(self.pointer());
        let size = self.address_constant(size);
        self.builder.emit(Op::Allocate { site, size, zeroed: false, result: Lhs::Local(result) });
        Expr::Local(result)
    }
}
