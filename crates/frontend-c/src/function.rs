//! One function under construction: its variables, its labels, and where control is.
//!
//! Atomic regions are tracked in program order. A location belongs to one depth of nested regions; a path
//! that arrives at it with another depth is not supported.

use crate::builder::Builder;
use crate::cleanups::Cleanups;
use crate::facts::{Facts, Uses, captured};
use crate::fold;
use crate::indeterminate::PassedDeclarations;
use crate::link::Declared;
use crate::lowering::Lowering;
use crate::memory_orders::Orders;
use crate::parse::Unit;
use crate::scopes::Scopes;
use crate::site_uses::Memory;
use crate::types::Class;
use ir::{
    Expr, Initial, IntType, Lhs, LocalId, LocationId, LocationKind, Object, ObjectId, Op, Storage, TemplateId,
};
use rucc_sema::{CaseId, DeclFlags, DeclId, ExprId, LabelId, StmtId, StorageDuration};
use rucc_types::{TypeId, VlaId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where a variable is.
#[derive(Clone, Copy, Debug)]
pub enum Variable {
    /// In a local.
    Local(LocalId),
    /// In an object of the frame.
    Object(ObjectId),
    /// Where this local points to: a variable-length array.
    Pointed(LocalId),
}

/// How a function returns its result.
#[derive(Clone, Copy, Debug)]
pub enum Returns {
    /// It has none.
    Nothing,
    /// In this local.
    Scalar(LocalId),
    /// Bytes, where this local points to.
    Aggregate(LocalId, TypeId),
}

/// A function under construction.
pub struct Function<'l, 'u> {
    /// The program.
    pub global: &'l mut Lowering<'u>,
    /// The file that the function is in.
    pub unit: &'u Unit,
    /// Its index.
    pub unit_index: usize,
    /// The code so far.
    pub builder: Builder,
    /// Which template it becomes.
    pub template: TemplateId,
    /// Automatic variables.
    pub variables: FxHashMap<DeclId, Variable>,
    /// The locals of the program's variables; all other locals are set before they are used, and then do not
    /// change until the expression is done.
    pub changing: FxHashSet<LocalId>,
    /// Variables that were last assigned the address of a new allocation, for names in reports.
    pub site_holders: FxHashMap<DeclId, Memory>,
    /// What is known about expressions.
    pub facts: FxHashMap<ExprId, Facts>,
    /// What the function does with its variables.
    pub uses: Uses,
    /// Values of expressions that are evaluated once and used several times.
    pub known: FxHashMap<ExprId, Expr>,
    /// Expressions whose operands' order was settled.
    pub settled: FxHashSet<ExprId>,
    /// The element counts of variable-length arrays.
    pub lengths: FxHashMap<VlaId, LocalId>,
    /// Labels of the source.
    pub labels: FxHashMap<LabelId, LocationId>,
    /// Case labels of the switches around.
    pub cases: FxHashMap<CaseId, LocationId>,
    /// The `default` label of the innermost switch.
    pub defaults: Vec<LocationId>,
    /// Where `break` goes.
    pub breaks: Vec<LocationId>,
    /// Where `continue` goes.
    pub continues: Vec<LocationId>,
    /// The atomic depth that each label belongs to, once control was seen to go there.
    depths: FxHashMap<LocationId, u32>,
    /// The atomic depth at entry and exit.
    base_depth: u32,
    /// Whether this is `main`: returning from it ends the program.
    is_main: bool,
    /// How the result is returned.
    pub returns: Returns,
    /// The parameters with the addresses of the arguments beyond the others: numbers and pointers.
    pub lists: Option<[LocalId; 2]>,
    /// The memory orders of the next atomic operations; those of the very next one come last.
    pub said_orders: Vec<Orders>,
    /// Pointers that inline assembly computes, the edges that do so, and the messages about them.
    pub arbitrary: Vec<(LocalId, ir::EdgeId, String)>,
    /// Its blocks.
    pub scopes: Scopes,
    /// Its variables with functions that run at the end.
    pub cleanups: Cleanups,
    /// The declarations that were passed, and its jumps.
    pub passed: PassedDeclarations,
    /// The declaration that is lowered now, and the statements after it in its block.
    pub following: Vec<StmtId>,
    /// The indices of subscripts in nested arrays.
    pub indices: FxHashMap<ExprId, Expr>,
    end: LocationId,
}

impl<'l, 'u> Function<'l, 'u> {
    /// An empty function.
    pub fn new(global: &'l mut Lowering<'u>, unit_index: usize, name: &str, template: TemplateId) -> Self {
        let units: &'u [Unit] = global.units;
        let mut builder = Builder::new(name, ir::Span::default());
        let end = builder.template.location(LocationKind::End, false);
        Self {
            global,
            unit: &units[unit_index],
            unit_index,
            builder,
            template,
            variables: FxHashMap::default(),
            changing: FxHashSet::default(),
            site_holders: FxHashMap::default(),
            facts: FxHashMap::default(),
            uses: Uses::default(),
            known: FxHashMap::default(),
            settled: FxHashSet::default(),
            lengths: FxHashMap::default(),
            labels: FxHashMap::default(),
            cases: FxHashMap::default(),
            defaults: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
            depths: FxHashMap::default(),
            base_depth: 0,
            is_main: false,
            returns: Returns::Nothing,
            lists: None,
            said_orders: Vec::new(),
            arbitrary: Vec::new(),
            scopes: Scopes::default(),
            cleanups: Cleanups::default(),
            passed: PassedDeclarations::default(),
            following: Vec::new(),
            indices: FxHashMap::default(),
            end,
        }
    }

    /// Lowers a function into its template.
    pub fn lower(global: &'l mut Lowering<'u>, declared: Declared, template: TemplateId, atomic: bool) {
        let units: &'u [Unit] = global.units;
        let unit = &units[declared.unit];
        let declaration = &unit.tree[declared.declaration];
        let is_main = global.links.is_main(declared) && !atomic;
        let mut function = Self::new(global, declared.unit, unit.name(declared.declaration), template);
        let span = function.span_of(unit.tree.definition_span(declared.declaration));
        function.builder.span = span;
        function.builder.template.span = span;
        function.is_main = is_main;
        if atomic {
            let entry = function.builder.template.entry;
            function.builder.template.locations[entry].atomic = true;
            function.builder.template.locations[function.end].atomic = true;
            function.builder.set_atomic_depth(1);
            function.base_depth = 1;
        }
        match declaration.body {
            Some(body) => {
                function.uses = Uses::of(unit, body);
                function.uses.take_addresses(&captured(unit, declared.declaration));
                function.parameters(declared.declaration);
                // If it is called through a pointer or started as a thread, it becomes atomic with its first
                // step.
                if !atomic && is_atomic_by_name(unit.name(declared.declaration)) {
                    function.global.atomics.fence();
                    function.builder.template.locations[function.end].atomic = true;
                    function.atomic_begin();
                    function.base_depth = 1;
                }
                if is_main {
                    function.constructors();
                }
                function.statement(body);
                function.fall_off_the_end();
                function.forget_skipped();
            }
            None => function.stand_in(declared.declaration),
        }
        function.arbitrary_pointers();
        let finished = function.builder.template;
        function.scopes.catch_up(&finished);
        function.global.scopes.insert(template, function.scopes);
        global_template(function.global, template, finished);
    }

    /// The initial content of an object.
    pub fn initial(global: &'l mut Lowering<'u>, declared: Declared, object: ObjectId) -> Initial {
        let template = TemplateId::default();
        let mut function = Self::new(global, declared.unit, "", template);
        function.static_initialiser(declared.declaration, object)
    }

    /// The pointer type.
    pub fn pointer(&self) -> IntType {
        self.global.program.data_model.pointer()
    }
    /// The type of an expression.
    pub fn type_of(&self, expr: &Expr) -> IntType {
        self.global.program.type_in(&self.builder.template, expr)
    }
    /// A position in the program's files.
    pub fn span_of(&mut self, span: rucc_diag::Span) -> ir::Span {
        self.global.span(self.unit_index, span)
    }
    /// New edges come from this expression.
    pub fn at_expression(&mut self, id: ExprId) {
        let span = self.unit.tree.expr_span(id);
        if !span.is_dummy() {
            self.builder.span = self.span_of(span);
        }
    }
    /// New edges come from this statement.
    pub fn at_statement(&mut self, id: StmtId) {
        let span = self.unit.tree.stmt_span(id);
        if !span.is_dummy() {
            self.builder.span = self.span_of(span);
        }
    }

    /// Ends the execution here: this construct is not supported. Forbids proofs.
    pub fn unsupported(&mut self, what: &str) {
        if !self.builder.is_reachable() {
            return;
        }
        let span = self.builder.span;
        self.global.assume(format!("unsupported: {what}"), span, true);
        self.builder.emit(Op::Assume(Expr::bool(false)));
        self.builder.leave();
    }
    /// The machine type of a scalar. If there is none, the execution ends here.
    pub fn scalar(&mut self, ty: TypeId) -> IntType {
        match self.unit.class(ty) {
            Class::Integer(ty) | Class::Odd(ty, _) | Class::Float(ty) => ty,
            Class::Unsupported(what) => {
                self.unsupported(what);
                IntType::U64
            }
            Class::Void | Class::Aggregate | Class::Function => {
                self.unsupported("a scalar is needed here");
                IntType::U64
            }
        }
    }
    /// A fresh value that is not modelled.
    pub fn unknown(&mut self, ty: IntType) -> Expr {
        let local = self.builder.temporary(ty);
        self.builder.emit(Op::unknown(Lhs::Local(local)));
        Expr::Local(local)
    }
    /// A fresh value that is not modelled, and that was not computed from an address.
    pub fn unknown_number(&mut self, ty: IntType) -> Expr {
        let local = self.builder.temporary(ty);
        self.builder.emit(Op::unknown_number(local, ty));
        Expr::Local(local)
    }
    /// A cast of a value.
    pub fn cast(&self, value: Expr, to: IntType) -> Expr {
        let from = self.type_of(&value);
        fold::cast(value, from, to)
    }
    /// A pointer-wide constant.
    pub fn address_constant(&self, value: u64) -> Expr {
        Expr::int(ir::Value::from(value), self.pointer())
    }
    /// Whether a value stays the same until the end of the expression.
    pub fn is_stable(&self, value: &Expr) -> bool {
        let mut stable = true;
        value.walk(&mut |inner| {
            stable &= match inner {
                Expr::Load(_) => false,
                Expr::Local(local) => !self.changing.contains(local),
                _ => true,
            }
        });
        stable
    }
    /// Freezes a value: its current value, in a local if needed.
    pub fn freeze(&mut self, value: Expr) -> Expr {
        if self.is_stable(&value) {
            return value;
        }
        let ty = self.type_of(&value);
        Expr::Local(self.builder.save(value, ty))
    }
    /// A new object of this activation.
    pub fn frame_object(&mut self, name: &str, ty: TypeId, align: u64) -> ObjectId {
        let size = self.unit.size(ty).unwrap_or(0);
        let object = Object {
            name: name.to_owned(),
            storage: Storage::Frame(self.template),
            size,
            align: self.unit.align(ty).max(align),
            layout: self.unit.layout(ty, size),
            initial: Initial::Unknown,
            span: self.builder.span,
            role: ir::ObjectRole::Program,
        };
        let id = self.global.program.objects.push(object);
        self.scopes.objects.insert(id, self.scopes.current());
        id
    }

    /// A fresh label.
    pub fn label(&mut self) -> LocationId {
        self.builder.template.location(LocationKind::Normal, false)
    }
    /// Whether control may go from here to a label; ends the execution if it may not.
    fn reaches(&mut self, label: LocationId) -> bool {
        let depth = self.builder.atomic_depth();
        match self.depths.get(&label) {
            Some(known) if *known != depth => {
                self.unsupported("paths that differ in whether an atomic region is open meet here");
                false
            }
            Some(_) => true,
            None => {
                self.depths.insert(label, depth);
                self.builder.template.locations[label].atomic = depth > 0;
                true
            }
        }
    }
    /// Jumps to a label.
    pub fn jump(&mut self, label: LocationId) {
        if self.builder.is_reachable() && self.reaches(label) {
            self.builder.jump(label);
        }
    }
    /// Continues at a label that may also be jumped to later on.
    pub fn place(&mut self, label: LocationId) {
        self.jump(label);
        let depth = self.builder.atomic_depth();
        let depth = *self.depths.entry(label).or_insert(depth);
        self.builder.set_atomic_depth(depth);
        self.builder.template.locations[label].atomic = depth > 0;
        self.put_in_scope(label);
        self.builder.continue_at(label);
    }
    /// Continues at a label to which all jumps were made.
    pub fn join(&mut self, label: LocationId) {
        if self.builder.is_reachable() || self.depths.contains_key(&label) {
            self.place(label);
        }
    }
    /// Goes to one of two labels.
    pub fn branch(&mut self, condition: Expr, yes: LocationId, no: LocationId) {
        match condition {
            Expr::Const(0, _) => self.jump(no),
            Expr::Const(..) => self.jump(yes),
            condition => {
                if self.builder.is_reachable() && self.reaches(yes) && self.reaches(no) {
                    self.builder.branch(condition, yes, no);
                }
            }
        }
    }
    /// Adds an edge from the current location.
    pub fn alternative(&mut self, condition: Expr, to: LocationId) {
        if self.builder.is_reachable() && self.reaches(to) {
            self.builder.alternative(Op::Assume(condition), to);
        }
    }

    /// Adds an edge with an operation from the current location.
    pub fn jump_by(&mut self, op: Op, to: LocationId) {
        if self.builder.is_reachable() && self.reaches(to) {
            self.builder.alternative(op, to);
        }
    }

    /// Enters an atomic region.
    pub fn atomic_begin(&mut self) {
        self.builder.atomic_begin();
    }
    /// Leaves an atomic region of this function.
    pub fn atomic_end(&mut self) {
        if self.builder.atomic_depth() > self.base_depth {
            self.builder.atomic_end();
        } else {
            self.unsupported("an atomic region ends that was not entered in the same function");
        }
    }
    /// Leaves the function.
    pub fn leave_function(&mut self) {
        if !self.builder.is_reachable() {
            return;
        }
        if self.builder.atomic_depth() != self.base_depth {
            self.unsupported("the function returns inside an atomic region that it entered");
        } else if self.is_main {
            self.exit_program(ir::Waiting::Returned);
        } else {
            self.builder.jump(self.end);
        }
    }
    fn fall_off_the_end(&mut self) {
        if !self.builder.is_reachable() {
            return;
        }
        // In `main` this returns 0, in any other function the result must not be used.
        if let (Returns::Scalar(result), false) = (self.returns, self.is_main) {
            self.builder.emit(Op::any(Lhs::Local(result)));
        }
        self.leave_function();
    }

    fn parameters(&mut self, id: DeclId) {
        let declaration = &self.unit.tree[id];
        let Some(signature) = self.unit.signature(declaration.ty) else { return };
        let result = signature.ret;
        let is_aggregate = self.unit.is_aggregate(result);
        let pointer = self.pointer();
        let parameters: Vec<DeclId> = self.unit.tree[declaration.params].to_vec();
        let span = self.builder.span;
        let hidden = is_aggregate.then(|| self.builder.template.local("%result", pointer, span));
        let is_promoted = !signature.prototyped;
        let mut unsupported = None;
        let mut passed = Vec::new();
        for &parameter in &parameters {
            let ty = self.unit.tree[parameter].ty;
            if is_promoted && matches!(self.unit.class(ty), Class::Float(own) if own.bits == 32) {
                unsupported = Some("a parameter of type float in a definition without a prototype");
            }
            let span = self.span_of(self.unit.tree.decl_span(parameter));
            let scalar = match self.unit.class(ty) {
                Class::Integer(ty) | Class::Odd(ty, _) | Class::Float(ty) => ty,
                Class::Aggregate => pointer,
                Class::Unsupported(what) => {
                    unsupported = Some(what);
                    IntType::U64
                }
                Class::Void | Class::Function => IntType::U64,
            };
            let name = self.unit.name(parameter);
            passed.push(self.builder.template.local(name, scalar, span));
        }
        if self.passes_arguments(self.unit, declaration.ty) {
            self.list_parameters();
        }
        for variable in captured(self.unit, id) {
            if self.unit.size(self.unit.tree[variable].ty).is_none() {
                unsupported = Some("a variable of an enclosing function");
            }
            let local = self.builder.template.local(self.unit.name(variable), pointer, span);
            self.variables.insert(variable, Variable::Pointed(local));
        }
        self.builder.template.parameters = self.builder.template.locals.len();
        self.returns = match (hidden, self.unit.class(result)) {
            (Some(local), _) => Returns::Aggregate(local, result),
            (None, Class::Integer(ty) | Class::Odd(ty, _) | Class::Float(ty)) => {
                let local = self.builder.template.local("%result", ty, span);
                self.builder.template.result = Some(local);
                Returns::Scalar(local)
            }
            (None, Class::Unsupported(what)) => {
                unsupported = Some(what);
                Returns::Nothing
            }
            (None, Class::Void | Class::Aggregate | Class::Function) => Returns::Nothing,
        };
        if let Some(what) = unsupported {
            self.unsupported(what);
        }
        for (&parameter, &local) in parameters.iter().zip(&passed) {
            self.enter_parameter(parameter, local);
        }
        if self.is_main {
            self.main_parameters(&parameters, &passed);
        }
        // The sizes in a parameter's type as it was written are evaluated on entry.
        for &parameter in &parameters {
            let ty = self.unit.tree[parameter].ty;
            let written = self.unit.tree.adjusted_from(parameter).unwrap_or(ty);
            self.evaluate_lengths(written);
        }
    }
    fn enter_parameter(&mut self, parameter: DeclId, local: LocalId) {
        let ty = self.unit.tree[parameter].ty;
        let name = self.unit.name(parameter);
        let place = if self.unit.is_aggregate(ty) {
            let object = self.frame_object(name, ty, 1);
            let size = self.address_constant(self.unit.size(ty).unwrap_or(0));
            self.builder.emit(Op::Copy(Expr::Address(object, 0), Expr::Local(local), size));
            Variable::Object(object)
        } else if self.uses.is_address_taken(parameter) {
            let object = self.frame_object(name, ty, 1);
            let scalar = self.scalar(ty);
            self.builder.set(Lhs::Memory(ir::Place::cell(object, 0, scalar)), Expr::Local(local));
            Variable::Object(object)
        } else {
            self.changing.insert(local);
            Variable::Local(local)
        };
        self.variables.insert(parameter, place);
    }
    /// Whether a variable can be a local: a scalar whose address is never taken.
    pub fn is_register(&self, declaration: DeclId) -> bool {
        let variable = &self.unit.tree[declaration];
        variable.duration == StorageDuration::Automatic
            && self.unit.scalar_type(variable.ty).is_some()
            && !self.uses.is_address_taken(declaration)
    }
    /// Whether a function never returns.
    pub fn is_noreturn(&self, declared: Declared) -> bool {
        let unit = &self.global.units[declared.unit];
        unit.tree[declared.declaration].flags.contains(DeclFlags::NORETURN)
    }
}

/// Whether a function runs as one atomic region because of its name.
pub fn is_atomic_by_name(name: &str) -> bool {
    name.starts_with("__VERIFIER_atomic_")
}

fn global_template(global: &mut Lowering<'_>, id: TemplateId, template: ir::Template) {
    global.program.templates[id] = template;
}
