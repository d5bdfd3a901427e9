//! Calls: of functions in the files, of library models, of unknown functions, through pointers.

use crate::effects::called_function;
use crate::facts::captured;
use crate::fold;
use crate::function::{Function, Returns, Variable, is_atomic_by_name};
use crate::library::{self, Argument, Callback, Outcome, Pointee};
use crate::link::{Declared, library_name};
use crate::outside_calls::context_of;
use crate::parse::Unit;
use crate::types::Class;
use crate::variadic::Beyond;
use ir::{BinaryOp, Callee, Expr, IntType, Lhs, LocalId, Op, Place};
use rucc_sema::{Conversion, DeclId, ExprId, ExprKind};
use rucc_types::{TypeId, TypeKind};

impl Unit {
    /// What a pointer to this type points to.
    fn describe_pointee(&self, ty: TypeId) -> Pointee {
        let callback = self.signature(ty).filter(|_| !self.is_pointer(ty)).map(|signature| Callback {
            parameters: signature
                .params
                .iter()
                .map(|ty| (self.scalar_type(*ty).unwrap_or(IntType::U64), self.is_pointer(*ty)))
                .collect(),
            result: self.scalar_type(signature.ret),
        });
        Pointee {
            size: self.size(ty).unwrap_or(0),
            scalar: self.scalar_type(ty),
            type_name: self.spell(ty),
            is_incomplete_record: self.is_aggregate(ty) && self.size(ty).is_none(),
            atomic: self.is_atomic(ty),
            is_pointer: self.is_pointer(ty),
            has_pointer: self.has_pointer(ty),
            callback,
        }
    }
}

impl Function<'_, '_> {
    /// Calls a function. Returns its result, as the address of its bytes if it is an aggregate; may return
    /// none if the result is not used.
    pub fn call(&mut self, id: ExprId, wanted: bool) -> Option<Expr> {
        let unit = self.unit;
        let expr = unit.tree[id];
        let ExprKind::Call { callee, args } = expr.kind else { return None };
        let arguments: Vec<ExprId> = unit.tree[args].to_vec();
        let direct = called_function(self.unit, callee);
        let pointer = match direct {
            Some(_) => None,
            None => {
                let mut pointer = self.rvalue(callee);
                if arguments.iter().any(|argument| self.emits(*argument)) {
                    pointer = self.freeze(pointer);
                }
                Some(pointer)
            }
        };
        let values = self.arguments(&arguments);
        self.at_expression(id);
        match (direct, pointer) {
            (Some(declaration), _) => {
                let described = arguments
                    .iter()
                    .zip(&values)
                    .map(|(argument, value)| self.describe(*argument, value.clone()))
                    .collect();
                self.call_function(declaration, described, expr.ty, wanted)
            }
            (None, Some(pointer)) => {
                if self.builder.is_atomic() {
                    self.unsupported("a call through a pointer inside an atomic region");
                }
                let types = arguments.iter().map(|argument| unit.tree[*argument].ty);
                let addresses: Vec<bool> = types.clone().map(|ty| unit.is_pointer(ty)).collect();
                let numbers: Vec<Option<IntType>> =
                    types.map(|ty| Some(unit.scalar_type(ty).unwrap_or(self.pointer()))).collect();
                let signature = unit.signature(unit.tree[callee].ty);
                let parameters = signature.map_or(0, |signature| signature.params.len());
                let mut values = match signature.is_some_and(|signature| signature.variadic) {
                    true => self.pass_on(None, values, &addresses, &numbers, parameters),
                    false => values,
                };
                if signature.is_some_and(|signature| signature.variadic) && self.follows_lists() {
                    let beyond = values.split_off(parameters.min(values.len()));
                    let are_pointers = addresses.iter().skip(parameters);
                    let beyond = beyond
                        .into_iter()
                        .zip(are_pointers)
                        .map(|(value, is_pointer)| Beyond { value, is_pointer: *is_pointer });
                    let beyond = beyond.collect();
                    values.extend(self.pack(beyond));
                }
                self.emit_call(Callee::Pointer(pointer), values, expr.ty)
            }
            (None, None) => None,
        }
    }
    /// Evaluates arguments; if their order matters, it is already settled. Aggregates are copied, and their
    /// addresses passed.
    fn arguments(&mut self, arguments: &[ExprId]) -> Vec<Expr> {
        let emits: Vec<bool> = arguments.iter().map(|argument| self.emits(*argument)).collect();
        let mut values = Vec::new();
        for (index, &argument) in arguments.iter().enumerate() {
            let ty = self.unit.tree[argument].ty;
            let mut value = if self.unit.is_aggregate(ty) {
                let from = self.aggregate(argument);
                Expr::Address(self.copy_to_temporary(from, ty), 0)
            } else {
                let value = self.rvalue(argument);
                match self.unit.scalar_type(ty) {
                    Some(scalar) => self.cast(value, scalar),
                    None => value,
                }
            };
            if emits[index + 1..].contains(&true) {
                value = self.freeze(value);
            }
            values.push(value);
        }
        values
    }
    fn describe(&mut self, id: ExprId, value: Expr) -> Argument {
        let unit = self.unit;
        let tree = &unit.tree;
        let mut at = id;
        // A conversion to `void *` hides the pointed-to type; any other cast states the intended type.
        let inside = |at: ExprId| match tree[at].kind {
            ExprKind::Convert { kind: Conversion::Pointer, operand } | ExprKind::Cast(operand) => {
                Some(operand).filter(|_| unit.is_pointer(tree[operand].ty) && unit.is_pointer(tree[at].ty))
            }
            _ => None,
        };
        let says_nothing =
            |at: ExprId| unit.pointee(tree[at].ty).and_then(|ty| unit.size(ty)).is_none_or(|size| size == 0);
        while let Some(operand) = inside(at).filter(|_| says_nothing(at)) {
            at = operand;
        }
        let pointee = unit.is_pointer(tree[at].ty).then(|| unit.pointee(tree[at].ty)).flatten();
        while let Some(operand) = inside(at) {
            at = operand;
        }
        let text = match tree[at].kind {
            ExprKind::Convert { kind: Conversion::ArrayDecay, operand } => match tree[operand].kind {
                ExprKind::Str(string) => Some(tree[string].bytes(&unit.session.target)),
                _ => None,
            },
            _ => None,
        };
        let function = match &value {
            Expr::Procedure(template) => Some(*template),
            _ => None,
        };
        let constant = match &value {
            Expr::Const(value, _) => Some(*value),
            _ => None,
        };
        Argument {
            ty: self.type_of(&value),
            value,
            pointee: pointee.map(|ty| unit.describe_pointee(ty)),
            function,
            text,
            is_null: constant == Some(0) && unit.is_pointer(tree[id].ty),
            constant,
        }
    }

    /// Calls a function with the address of a variable, which is in memory.
    pub fn call_with_address(&mut self, function: DeclId, variable: DeclId) {
        let unit = self.unit;
        let value = match self.variable(variable) {
            Some(Variable::Object(object)) => Expr::Address(object, 0),
            Some(Variable::Pointed(local)) => Expr::Local(local),
            Some(Variable::Local(_)) | None => {
                self.unsupported("a variable with a cleanup function that is not in memory");
                return;
            }
        };
        let argument = Argument {
            ty: self.pointer(),
            value,
            pointee: Some(unit.describe_pointee(unit.tree[variable].ty)),
            function: None,
            text: None,
            is_null: false,
            constant: None,
        };
        let Some(signature) = unit.signature(unit.tree[function].ty) else { return };
        self.call_function(function, vec![argument], signature.ret, false);
    }
    /// Evaluates the reads of an argument now: the callee may ignore the argument.
    fn read_now(&mut self, argument: Argument) -> Argument {
        if fold::has_load(&argument.value) {
            let value = self.freeze(argument.value);
            return Argument { value, ..argument };
        }
        // Models see how it is computed.
        self.discard(argument.value.clone());
        argument
    }
    fn call_function(
        &mut self,
        declaration: DeclId,
        arguments: Vec<Argument>,
        result: TypeId,
        wanted: bool,
    ) -> Option<Expr> {
        let declared = self.global.resolve(self.unit_index, declaration);
        let unit = &self.global.units[declared.unit];
        let has_body = unit.tree[declared.declaration].body.is_some();
        let name = match has_body {
            true => unit.name(declared.declaration).to_owned(),
            false => library_name(unit, declared.declaration),
        };
        let name = name.as_str();
        if name.starts_with("__VERIFIER_atomic_") || name.starts_with("__CPROVER_atomic_") {
            self.global.atomics.fence();
        }
        match name {
            "__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin" => {
                self.atomic_begin();
                return None;
            }
            "__VERIFIER_atomic_end" | "__CPROVER_atomic_end" => {
                self.atomic_end();
                return None;
            }
            "alloca" | "__builtin_alloca" | "__builtin_alloca_with_align"
                if !has_body && !arguments.is_empty() =>
            {
                let size = arguments.into_iter().next().map(|size| self.read_now(size).value)?;
                return Some(self.alloca(size));
            }
            "__threadproof_order" | "__threadproof_orders" => {
                self.say_order(&arguments);
                arguments.into_iter().for_each(|argument| self.discard(argument.value));
                return None;
            }
            "__threadproof_generic_update" => {
                self.check_generic_update(&arguments);
                return None;
            }
            _ => {}
        }
        if let Some(value) = self.interrupt_call(name, &arguments, result) {
            return value;
        }
        if self.global.is_absent(declared, self.builder.span) {
            arguments.into_iter().for_each(|argument| self.discard(argument.value));
            self.emit_null_call(result);
            return None;
        }
        if unit.tree.is_ifunc(declared.declaration) {
            self.unsupported("a function that is chosen when the program is loaded");
            return None;
        }
        match (has_body, name.strip_prefix("__builtin_").unwrap_or(name), arguments.as_slice()) {
            (false, "exit", _) => {
                arguments.into_iter().for_each(|argument| self.discard(argument.value));
                self.exit_program(ir::Waiting::Exited);
                return None;
            }
            (false, "atexit", [handler]) => {
                self.register_at_exit(handler);
                return Some(Expr::int(0, IntType::I32));
            }
            (false, "div" | "ldiv" | "lldiv" | "imaxdiv", [left, right]) => {
                let operands = [left, right].map(|operand| (operand.value.clone(), operand.ty));
                if let Some(value) = self.quotient_and_remainder(operands, result) {
                    return Some(value);
                }
            }
            _ => {}
        }
        let arguments = if self.global.runs_body(declared) {
            arguments
        } else {
            let arguments: Vec<Argument> =
                arguments.into_iter().map(|argument| self.read_now(argument)).collect();
            self.library_order(name, &arguments);
            match self.call_model(name, arguments, result, wanted) {
                Ok(value) => return value,
                Err(arguments) => arguments,
            }
        };
        if !has_body {
            let known = self.global.outside.functions.iter().find(|(known, _)| known == name);
            if let Some((_, class)) = known {
                let class = class.clone();
                return self.call_classified(name, &class, arguments, result);
            }
            self.global.note_unknown(declared, self.builder.span);
            return self.call_unknown(name, declared, &arguments, result);
        }
        if self.global.links.is_main(declared) {
            self.unsupported("a call of 'main'");
        }
        let is_address = |argument: &Argument| argument.pointee.is_some() && argument.text.is_none();
        let addresses: Vec<bool> = arguments.iter().map(is_address).collect();
        let number = |argument: &Argument| argument.constant.is_none().then_some(argument.ty);
        let numbers: Vec<Option<IntType>> = arguments.iter().map(number).collect();
        let are_pointers: Vec<bool> = arguments.iter().map(|argument| argument.pointee.is_some()).collect();
        let values: Vec<Expr> = arguments.into_iter().map(|argument| argument.value).collect();
        let unit = &self.global.units[declared.unit];
        let parameters = unit.tree[unit.tree[declared.declaration].params].len();
        let function = Some(unit.name(declared.declaration));
        let mut values = self.pass_on(function, values, &addresses, &numbers, parameters);
        let beyond = values.split_off(parameters.min(values.len()));
        let are_pointers = are_pointers.into_iter().skip(parameters);
        let beyond = beyond.into_iter().zip(are_pointers);
        let beyond = beyond.map(|(value, is_pointer)| Beyond { value, is_pointer }).collect();
        self.call_defined(declared, values, beyond, result)
    }

    /// Records what is passed beyond the parameters of a function, or of one at a pointer: it may be taken
    /// from its list, or printed if it is an address. Of numbers that are not constant, the type is given.
    fn pass_on(
        &mut self,
        function: Option<&str>,
        values: Vec<Expr>,
        addresses: &[bool],
        numbers: &[Option<IntType>],
        parameters: usize,
    ) -> Vec<Expr> {
        let mut passed = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let ty = numbers[index].or(addresses[index].then_some(self.pointer()));
            let Some(ty) = ty.filter(|_| index >= parameters) else {
                passed.push(value);
                continue;
            };
            let value = self.freeze(value);
            let mut context = context_of(&mut self.builder, &mut self.global.program);
            context.pass_in_list(function, value.clone(), ty);
            if addresses[index] {
                context.pass_on(value.clone());
            }
            passed.push(value);
        }
        passed
    }

    fn call_defined(
        &mut self,
        declared: Declared,
        mut values: Vec<Expr>,
        beyond: Vec<Beyond>,
        result: TypeId,
    ) -> Option<Expr> {
        let unit = &self.global.units[declared.unit];
        let name = unit.name(declared.declaration);
        let parameters: Vec<DeclId> = unit.tree[unit.tree[declared.declaration].params].to_vec();
        let is_region = is_atomic_by_name(name);
        // Only `va_arg` sees arguments beyond the parameters, but they are evaluated; missing ones are
        // undefined.
        let is_packed = self.passes_arguments(unit, unit.tree[declared.declaration].ty);
        for parameter in parameters.iter().skip(values.len()) {
            let ty = unit.scalar_type(unit.tree[*parameter].ty).unwrap_or(self.pointer());
            let local = self.builder.temporary(ty);
            self.builder.emit(Op::any(Lhs::Local(local)));
            values.push(Expr::Local(local));
        }
        match is_packed {
            true => values.extend(self.pack(beyond)),
            false => beyond.into_iter().for_each(|extra| self.discard(extra.value)),
        }
        for variable in captured(unit, declared.declaration) {
            let address = match self.variable(variable) {
                Some(Variable::Object(object)) => Expr::Address(object, 0),
                Some(Variable::Pointed(local)) => Expr::Local(local),
                Some(Variable::Local(_)) | None => {
                    self.unsupported("a variable of an enclosing function");
                    self.address_constant(0)
                }
            };
            values.push(address);
        }
        if !is_region {
            let template = self.global.template(declared, self.builder.is_atomic());
            return self.emit_call(Callee::Procedure(template), values, result);
        }
        let values = values.into_iter().map(|value| self.freeze(value)).collect();
        self.atomic_begin();
        let template = self.global.template(declared, true);
        let value = self.emit_call(Callee::Procedure(template), values, result);
        self.atomic_end();
        value
    }

    /// The result of `div` and similar functions; `None` when its type is not the structure that C specifies.
    fn quotient_and_remainder(&mut self, operands: [(Expr, IntType); 2], result: TypeId) -> Option<Expr> {
        let unit = self.unit;
        let TypeKind::Record(record) = unit.kind(result) else { return None };
        let part = |name: &str| {
            let is_named = |field: &&rucc_types::Field| {
                field.name.is_some_and(|own| unit.session.interner.resolve(own) == name)
            };
            let field = unit.types.record_info(record).fields.iter().find(is_named)?;
            Some((field.offset, unit.scalar_type(field.ty)?))
        };
        let parts = [(BinaryOp::Div, part("quot")?), (BinaryOp::Rem, part("rem")?)];
        let [left, right] = operands.map(|(value, ty)| {
            let value = self.builder.save(value, ty);
            Expr::Local(value)
        });
        let (_, address) = self.result_place(result);
        let Some(Expr::Address(object, _)) = address else { return None };
        for (op, (offset, ty)) in parts {
            let (left, right) = (self.cast(left.clone(), ty), self.cast(right.clone(), ty));
            let value = Expr::binary(op, ty, left, right);
            self.builder.set(Lhs::Memory(Place::cell(object, offset, ty)), value);
        }
        address
    }
    fn emit_call(&mut self, callee: Callee, mut values: Vec<Expr>, result: TypeId) -> Option<Expr> {
        let (lhs, value) = self.result_place(result);
        if let (Some(address), true) = (&value, self.unit.is_aggregate(result)) {
            values.insert(0, address.clone());
        }
        self.builder.emit(Op::Call(callee, values, lhs.map(Lhs::Local)));
        value
    }
    /// Where the result of a call goes, and its value there.
    pub fn result_place(&mut self, result: TypeId) -> (Option<LocalId>, Option<Expr>) {
        match self.unit.class(result) {
            Class::Integer(ty) | Class::Odd(ty, _) | Class::Float(ty) => {
                let local = self.builder.temporary(ty);
                (Some(local), Some(Expr::Local(local)))
            }
            Class::Aggregate => {
                let object = self.frame_object("%result", result, 1);
                (None, Some(Expr::Address(object, 0)))
            }
            Class::Unsupported(what) => {
                self.unsupported(what);
                (None, Some(Expr::int(0, IntType::U64)))
            }
            Class::Void | Class::Function => (None, None),
        }
    }

    /// Looks for a library model; returns the arguments if there is none.
    fn call_model(
        &mut self,
        name: &str,
        arguments: Vec<Argument>,
        result: TypeId,
        wanted: bool,
    ) -> Result<Option<Expr>, Vec<Argument>> {
        let ty = self.unit.scalar_type(result).filter(|_| wanted);
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let call = library::Call { name: plain, arguments, result: ty, span: self.builder.span };
        let depth = self.builder.atomic_depth();
        let failures = self.global.outside.failures;
        let mut context =
            library::Context { builder: &mut self.builder, program: &mut self.global.program, failures };
        match library::model(&mut context, &call) {
            Outcome::Value(value) => {
                // A model leaves as many regions open as it found, unless control ends in it.
                self.builder.set_atomic_depth(depth);
                Ok(ty.map(|ty| self.cast(value, ty)))
            }
            Outcome::Void => {
                self.builder.set_atomic_depth(depth);
                Ok(ty.map(|ty| Expr::int(0, ty)))
            }
            Outcome::NotKnown => Err(call.arguments),
        }
    }

    /// The body of a function that no file defines but whose address is taken: it calls the model.
    pub fn stand_in(&mut self, declaration: DeclId) {
        let unit = self.unit;
        let Some(signature) = unit.signature(unit.tree[declaration].ty).cloned() else { return };
        let span = self.builder.span;
        let pointer = self.pointer();
        let hidden =
            unit.is_aggregate(signature.ret).then(|| self.builder.template.local("%result", pointer, span));
        let mut arguments = Vec::new();
        for (index, &parameter) in signature.params.iter().enumerate() {
            let ty = unit.scalar_type(parameter).unwrap_or(pointer);
            let local = self.builder.template.local(format!("argument {}", index + 1), ty, span);
            let pointee = unit.is_pointer(parameter).then(|| unit.pointee(parameter)).flatten();
            arguments.push(Argument {
                value: Expr::Local(local),
                ty,
                pointee: pointee.map(|ty| unit.describe_pointee(ty)),
                function: None,
                text: None,
                is_null: false,
                constant: None,
            });
        }
        self.builder.template.parameters = self.builder.template.locals.len();
        let value = self.call_function(declaration, arguments, signature.ret, true);
        self.returns = match (hidden, unit.scalar_type(signature.ret)) {
            (Some(local), _) => Returns::Aggregate(local, signature.ret),
            (None, Some(ty)) => {
                let local = self.builder.template.local("%result", ty, span);
                self.builder.template.result = Some(local);
                Returns::Scalar(local)
            }
            (None, None) => Returns::Nothing,
        };
        self.return_value(value);
    }

    /// Calls a missing function through its address, which is null.
    fn emit_null_call(&mut self, result: TypeId) {
        let null = self.address_constant(0);
        self.emit_call(Callee::Pointer(null), Vec::new(), result);
    }
    /// The address of a function.
    pub fn function_address(&mut self, declaration: DeclId) -> Expr {
        let declared = self.global.resolve(self.unit_index, declaration);
        if self.global.is_absent(declared, self.builder.span) {
            return self.address_constant(0);
        }
        if self.global.units[declared.unit].tree.is_ifunc(declared.declaration) {
            self.unsupported("a function that is chosen when the program is loaded");
        }
        if !captured(&self.global.units[declared.unit], declared.declaration).is_empty() {
            self.unsupported("the address of a nested function that uses variables of an enclosing one");
            return self.address_constant(0);
        }
        Expr::Procedure(self.global.template(declared, false))
    }

    /// Starts a thread that calls a function (`__CPROVER_ASYNC`).
    pub fn spawn_call(&mut self, id: ExprId) {
        let unit = self.unit;
        let ExprKind::Call { callee, args } = unit.tree[id].kind else {
            self.effect(id);
            return;
        };
        let arguments: Vec<ExprId> = unit.tree[args].to_vec();
        if arguments.iter().any(|argument| unit.is_aggregate(unit.tree[*argument].ty)) {
            self.unsupported("a thread that is started with a structure as argument");
        }
        if self.follows_lists() && unit.signature(unit.tree[callee].ty).is_some_and(|called| called.variadic)
        {
            self.unsupported("a thread that is started with a list of arguments");
        }
        let callee = match called_function(self.unit, callee) {
            Some(declaration) => {
                let declared = self.global.resolve(self.unit_index, declaration);
                Callee::Procedure(self.global.template(declared, false))
            }
            None => {
                let pointer = self.rvalue(callee);
                Callee::Pointer(self.freeze(pointer))
            }
        };
        let values = self.arguments(&arguments);
        self.at_expression(id);
        self.builder.emit(Op::Spawn(callee, values, None));
    }
}
