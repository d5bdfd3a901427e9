//! Statements and block-scope declarations.

use crate::cleanups::Around;
use crate::facts::{Uses, evaluated_operands, points_into_temporary};
use crate::fold;
use crate::function::{Function, Returns, Variable};
use crate::scopes::Allocated;
use ir::{BinaryOp, Expr, Layout, Lhs, Object, Op, Storage, Value};
use rucc_sema::{
    CaseList, Conversion, DeclId, DeclKind, ExprId, ExprKind, Linkage, Stmt, StmtId, StorageDuration,
};

/// Switches with at most this many cases test them all at once.
const MOST_PARALLEL_CASES: usize = 64;

impl Function<'_, '_> {
    /// Lowers a statement.
    pub fn statement(&mut self, id: StmtId) {
        let is_block = self.open_scope(id);
        self.statement_inside(id);
        if is_block {
            self.close_scope();
        }
    }
    fn statement_inside(&mut self, id: StmtId) {
        let unit = self.unit;
        self.at_statement(id);
        match unit.tree[id] {
            Stmt::Error | Stmt::Empty => {}
            Stmt::Expr(expr) => {
                if self.builder.is_reachable() {
                    self.full_effect(expr);
                }
            }
            Stmt::Block(list) => {
                let (entered, alive) = (self.passed.enter(), self.cleanups.count());
                let statements = &unit.tree[list];
                for (index, &inner) in statements.iter().enumerate() {
                    self.declares_before(inner, &statements[index + 1..]);
                    self.statement(inner);
                }
                self.end_block(alive);
                self.passed.leave(entered);
            }
            Stmt::Decls(list) => {
                for &declaration in &unit.tree[list] {
                    self.declaration(declaration);
                    self.clean_up_later(declaration);
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let (yes, no, done) = (self.label(), self.label(), self.label());
                if self.builder.is_reachable() {
                    self.full_condition(cond, yes, no);
                }
                self.join(yes);
                self.statement(then);
                self.jump(done);
                self.join(no);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
                self.jump(done);
                self.join(done);
            }
            // Unreachable code is skipped, unless a jump may lead into it.
            Stmt::While { .. } | Stmt::DoWhile { .. } | Stmt::For { .. }
                if !self.builder.is_reachable() && !self.has_label(id) => {}
            Stmt::While { cond, body } => {
                self.passed.open_loop();
                let (head, inside, done) = (self.label(), self.label(), self.label());
                self.place(head);
                self.full_condition(cond, inside, done);
                self.join(inside);
                self.loop_body(body, head, done);
                self.jump(head);
                self.passed.close_loop();
                self.join(done);
            }
            Stmt::DoWhile { body, cond } => {
                self.passed.open_loop();
                let (head, test, done) = (self.label(), self.label(), self.label());
                self.place(head);
                self.loop_body(body, test, done);
                self.join(test);
                if self.builder.is_reachable() {
                    self.at_expression(cond);
                    self.full_condition(cond, head, done);
                }
                self.passed.close_loop();
                self.join(done);
            }
            Stmt::For { init, cond, step, body } => {
                let (entered, alive) = (self.passed.enter(), self.cleanups.count());
                if let Some(init) = init {
                    self.declares_before(init, &[id]);
                    self.statement(init);
                }
                self.passed.open_loop();
                let (head, inside, next, done) = (self.label(), self.label(), self.label(), self.label());
                self.place(head);
                match cond {
                    Some(cond) => {
                        self.at_expression(cond);
                        self.full_condition(cond, inside, done);
                    }
                    None => self.jump(inside),
                }
                self.join(inside);
                self.loop_body(body, next, done);
                self.join(next);
                if self.builder.is_reachable() {
                    if let Some(step) = step {
                        self.at_expression(step);
                        self.full_effect(step);
                    }
                    self.jump(head);
                }
                self.passed.close_loop();
                self.join(done);
                self.end_block(alive);
                self.passed.leave(entered);
            }
            Stmt::Switch { cond, body, cases, default } => self.switch(cond, body, cases, default.is_some()),
            Stmt::Case { case, body } => {
                if let Some(label) = self.cases.get(&case).copied() {
                    self.passed.label(label);
                    self.join(label);
                    self.refuse_case();
                }
                self.statement(body);
            }
            Stmt::Default { body } => {
                if let Some(label) = self.defaults.last().copied() {
                    self.passed.label(label);
                    self.join(label);
                    self.refuse_case();
                }
                self.statement(body);
            }
            Stmt::Label { label, body } => {
                let name = unit.session.interner.resolve(unit.tree[label].name);
                if name.starts_with("__CPROVER_ASYNC_")
                    && let Stmt::Expr(expr) = unit.tree[body]
                {
                    if self.builder.is_reachable() {
                        self.spawn_statement(expr);
                    }
                    return;
                }
                let location = self.label_of(label);
                self.passed.label(location);
                self.place(location);
                self.refuse_jump();
                self.statement(body);
            }
            Stmt::Goto(label) => {
                self.refuse_jump();
                let location = self.label_of(label);
                let first = self.builder.template.edges.len();
                self.jump(location);
                self.passed.jump(first, &self.builder.template);
            }
            Stmt::IndirectGoto(target) => {
                self.refuse_jump();
                if self.builder.is_reachable() {
                    self.computed_goto(target);
                }
            }
            Stmt::Asm(asm) => self.assembly(asm),
            Stmt::Break => match self.breaks.last().copied() {
                Some(label) => {
                    self.clean_up_before_break();
                    self.jump(label);
                }
                None => self.unsupported("a break outside of a loop"),
            },
            Stmt::Continue => match self.continues.last().copied() {
                Some(label) => {
                    self.clean_up_before_continue();
                    self.jump(label);
                }
                None => self.unsupported("a continue outside of a loop"),
            },
            Stmt::Return(value) => {
                if self.builder.is_reachable() {
                    self.return_statement(value);
                }
            }
        }
    }
    /// A full expression that is evaluated for its side effects.
    fn full_effect(&mut self, id: ExprId) {
        let has_temporaries = self.open_full_expression(id);
        self.effect(id);
        if has_temporaries {
            self.close_scope();
        }
    }
    /// A full expression that is a condition.
    fn full_condition(&mut self, id: ExprId, yes: ir::LocationId, no: ir::LocationId) {
        let has_temporaries = self.open_full_expression(id);
        self.condition(id, yes, no);
        if has_temporaries {
            self.close_scope();
        }
    }
    /// The address of a label: a unique number, where no object is.
    pub fn label_address(&self, label: rucc_sema::LabelId) -> Expr {
        self.address_constant(1 + label.index() as u64)
    }
    /// Jumps to one of the labels whose address is taken. Any other value is undefined.
    fn computed_goto(&mut self, target: ExprId) {
        let value = self.rvalue(target);
        let value = self.freeze(value);
        let pointer = self.pointer();
        let nowhere = self.label();
        let mut tests = Vec::new();
        for label in self.uses.labels.clone() {
            let test = fold::binary(BinaryOp::Eq, pointer, value.clone(), self.label_address(label));
            tests.push((test, self.label_of(label)));
        }
        self.dispatch(tests, nowhere);
        self.join(nowhere);
        if self.builder.is_reachable() {
            self.builder.emit(Op::Assume(Expr::bool(false)));
            self.builder.leave();
        }
    }
    fn label_of(&mut self, label: rucc_sema::LabelId) -> ir::LocationId {
        if let Some(location) = self.labels.get(&label) {
            return *location;
        }
        let location = self.label();
        self.labels.insert(label, location);
        location
    }
    fn loop_body(&mut self, body: StmtId, next: ir::LocationId, done: ir::LocationId) {
        self.breaks.push(done);
        self.continues.push(next);
        self.cleanups.enter(Around::Loop);
        self.statement(body);
        self.cleanups.leave(Around::Loop);
        self.breaks.pop();
        self.continues.pop();
    }
    fn spawn_statement(&mut self, expr: ExprId) {
        let mut at = expr;
        while let ExprKind::Convert { kind: Conversion::Void, operand } = self.unit.tree[at].kind {
            at = operand;
        }
        self.spawn_call(at);
    }

    /// Lowers a statement expression up to its last expression, which is its value.
    pub fn statement_expression(&mut self, body: StmtId) -> Option<ExprId> {
        let unit = self.unit;
        let Stmt::Block(list) = unit.tree[body] else {
            self.statement(body);
            return None;
        };
        let statements = &unit.tree[list];
        let (&last, before) = statements.split_last()?;
        let alive = self.cleanups.count();
        for (index, &inner) in before.iter().enumerate() {
            self.declares_before(inner, &statements[index + 1..]);
            self.statement(inner);
        }
        self.end_statement_expression(alive);
        let mut at = last;
        loop {
            match unit.tree[at] {
                Stmt::Expr(expr) => {
                    self.at_statement(at);
                    return Some(expr);
                }
                Stmt::Label { label, body } => {
                    let location = self.label_of(label);
                    self.passed.label(location);
                    self.place(location);
                    at = body;
                }
                _ => {
                    self.statement(at);
                    self.end_statement_expression(alive);
                    return None;
                }
            }
        }
    }

    /// Records the code that may name the variables of a declaration: the declaration itself, and the rest of
    /// its block.
    fn declares_before(&mut self, statement: StmtId, following: &[StmtId]) {
        let mut at = statement;
        while let Stmt::Label { body, .. } | Stmt::Case { body, .. } | Stmt::Default { body } =
            self.unit.tree[at]
        {
            at = body;
        }
        if matches!(self.unit.tree[at], Stmt::Decls(_)) {
            // Initialisers may name the variables that are declared before them.
            self.following = std::iter::once(at).chain(following.iter().copied()).collect();
        }
    }

    fn return_statement(&mut self, value: Option<ExprId>) {
        let value = match value {
            None => None,
            Some(expr) => match self.returns {
                Returns::Scalar(_) if self.unit.scalar_type(self.unit.tree[expr].ty).is_some() => {
                    Some(self.rvalue(expr))
                }
                Returns::Aggregate(..) if self.unit.is_aggregate(self.unit.tree[expr].ty) => {
                    Some(self.aggregate(expr))
                }
                Returns::Nothing | Returns::Scalar(_) | Returns::Aggregate(..) => {
                    self.effect(expr);
                    None
                }
            },
        };
        self.return_value(value);
    }
    /// Leaves the function with a value.
    pub fn return_value(&mut self, value: Option<Expr>) {
        if !self.builder.is_reachable() {
            return;
        }
        match (self.returns, value) {
            (Returns::Scalar(result), Some(value)) => {
                let ty = self.builder.template.locals[result].ty;
                let value = self.cast(value, ty);
                self.builder.set(Lhs::Local(result), value);
            }
            // A caller must not use the result of a function that returns in this way.
            (Returns::Scalar(result), None) => self.builder.emit(Op::any(Lhs::Local(result))),
            (Returns::Aggregate(to, ty), Some(from)) => self.copy(Expr::Local(to), from, ty),
            (Returns::Aggregate(..), None) | (Returns::Nothing, _) => {}
        }
        self.clean_up_all();
        self.leave_function();
    }

    fn switch(&mut self, cond: ExprId, body: StmtId, cases: CaseList, has_default: bool) {
        let unit = self.unit;
        if !self.builder.is_reachable() && !self.has_label(body) {
            return;
        }
        let ty = self.scalar(unit.tree[cond].ty);
        let has_temporaries = self.open_full_expression(cond);
        let value = self.rvalue(cond);
        let value = self.cast(value, ty);
        let value = self.freeze(value);
        if has_temporaries {
            self.close_scope();
        }
        let done = self.label();
        let otherwise = if has_default { self.label() } else { done };
        let mut tests = Vec::new();
        let labels = self.case_labels(body);
        if labels.len() != unit.tree[cases].len() {
            self.unsupported("a case label inside a statement expression");
        }
        for (id, low, high) in labels {
            let label = self.label();
            self.cases.insert(id, label);
            let (low, high) = (Expr::int(low, ty), Expr::int(high, ty));
            let test = if low == high {
                fold::binary(BinaryOp::Eq, ty, value.clone(), low)
            } else {
                let above = fold::binary(BinaryOp::Le, ty, low, value.clone());
                fold::and(above, fold::binary(BinaryOp::Le, ty, value.clone(), high))
            };
            tests.push((test, label));
        }
        if self.builder.is_reachable() {
            self.dispatch(tests, otherwise);
        }
        self.breaks.push(done);
        self.defaults.push(otherwise);
        self.cleanups.enter(Around::Switch);
        self.statement(body);
        self.cleanups.leave(Around::Switch);
        self.defaults.pop();
        self.breaks.pop();
        self.jump(done);
        self.join(done);
    }
    fn dispatch(&mut self, tests: Vec<(Expr, ir::LocationId)>, otherwise: ir::LocationId) {
        let first = self.builder.template.edges.len();
        self.dispatch_by_tests(tests, otherwise);
        self.passed.jump(first, &self.builder.template);
    }
    fn dispatch_by_tests(&mut self, tests: Vec<(Expr, ir::LocationId)>, otherwise: ir::LocationId) {
        if let Some((_, label)) = tests.iter().find(|(test, _)| *test == Expr::bool(true)) {
            return self.jump(*label);
        }
        if tests.is_empty() {
            return self.jump(otherwise);
        }
        if tests.len() > MOST_PARALLEL_CASES {
            for (test, label) in tests {
                let next = self.label();
                self.branch(test, label, next);
                self.join(next);
            }
            return self.jump(otherwise);
        }
        let mut none: Vec<Expr> = tests.iter().map(|(test, _)| test.clone().not()).collect();
        for (test, label) in tests {
            if test != Expr::bool(false) {
                self.alternative(test, label);
            }
        }
        // A balanced conjunction, so that it does not become deep.
        while none.len() > 1 {
            let pairs = none.chunks(2);
            none = pairs
                .map(|pair| pair.iter().cloned().reduce(fold::and).unwrap_or(Expr::bool(true)))
                .collect();
        }
        self.alternative(none.pop().unwrap_or(Expr::bool(true)), otherwise);
        self.builder.leave();
    }
    /// The case labels in a statement, without those of switches inside it.
    fn case_labels(&self, body: StmtId) -> Vec<(rucc_sema::CaseId, Value, Value)> {
        let mut found = Vec::new();
        let mut stack = vec![body];
        while let Some(id) = stack.pop() {
            if let Stmt::Case { case, .. } = self.unit.tree[id] {
                let entry = &self.unit.tree[case];
                found.push((case, entry.low, entry.high));
            }
            if !matches!(self.unit.tree[id], Stmt::Switch { .. }) {
                stack.extend(self.parts(id).into_iter().rev());
            }
        }
        found
    }
    /// Whether control may jump into a statement.
    fn has_label(&self, statement: StmtId) -> bool {
        let mut stack = vec![statement];
        while let Some(id) = stack.pop() {
            if matches!(self.unit.tree[id], Stmt::Label { .. } | Stmt::Case { .. } | Stmt::Default { .. }) {
                return true;
            }
            stack.extend(self.parts(id));
        }
        false
    }
    /// Whether control may jump into an expression: a statement expression with a label.
    pub fn has_label_inside(&self, id: ExprId) -> bool {
        let mut stack = vec![id];
        while let Some(at) = stack.pop() {
            if let ExprKind::StmtExpr(body) = self.unit.tree[at].kind {
                let inside = Uses::of(self.unit, body).expressions;
                let bodies = inside.iter().filter_map(|inner| match self.unit.tree[*inner].kind {
                    ExprKind::StmtExpr(body) => Some(body),
                    _ => None,
                });
                if self.has_label(body) || bodies.into_iter().any(|body| self.has_label(body)) {
                    return true;
                }
            }
            stack.extend(evaluated_operands(self.unit, at));
        }
        false
    }
    /// The statements directly inside a statement.
    fn parts(&self, id: StmtId) -> Vec<StmtId> {
        let tree = &self.unit.tree;
        match tree[id] {
            Stmt::Block(list) => tree[list].to_vec(),
            Stmt::If { then, otherwise, .. } => std::iter::once(then).chain(otherwise).collect(),
            Stmt::While { body, .. }
            | Stmt::DoWhile { body, .. }
            | Stmt::For { body, .. }
            | Stmt::Switch { body, .. }
            | Stmt::Case { body, .. }
            | Stmt::Default { body }
            | Stmt::Label { body, .. } => vec![body],
            Stmt::Error
            | Stmt::Empty
            | Stmt::Expr(_)
            | Stmt::Decls(_)
            | Stmt::Goto(_)
            | Stmt::IndirectGoto(_)
            | Stmt::Asm(_)
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Return(_) => vec![],
        }
    }

    /// A block-scope declaration.
    fn declaration(&mut self, id: DeclId) {
        let unit = self.unit;
        let declaration = &unit.tree[id];
        // Names with linkage are declared here and defined elsewhere.
        if declaration.linkage != Linkage::None {
            return;
        }
        match declaration.kind {
            DeclKind::Type => {
                if self.builder.is_reachable() {
                    self.evaluate_lengths(declaration.ty);
                }
                return;
            }
            // A nested function: declaring it does nothing.
            DeclKind::Function => return,
            DeclKind::Object => {}
        }
        if declaration.duration != StorageDuration::Automatic {
            return;
        }
        let span = self.span_of(unit.tree.decl_span(id));
        self.builder.span = span;
        if self.builder.is_reachable() {
            self.evaluate_lengths(declaration.ty);
        }
        self.passed.pass(id);
        let name = unit.name(id);
        if unit.is_variable(declaration.ty) {
            return self.variable_array(id);
        }
        if self.is_register(id) {
            let scalar = self.scalar(declaration.ty);
            let local = self.builder.template.local(name, scalar, span);
            self.changing.insert(local);
            self.variables.insert(id, Variable::Local(local));
            if !self.builder.is_reachable() {
                return;
            }
            let value = declaration.init.and_then(|init| unit.tree[init].first().map(|entry| entry.value));
            match value {
                Some(value) => {
                    // `int x = x;` reads an uninitialised variable.
                    let has_temporaries = self.open_full_expression(value);
                    let (before, init) = (self.objects_so_far(), value);
                    let value = self.rvalue(init);
                    self.note_site_variable(before, init, Some(unit.name(id).to_owned()));
                    self.note_site_holder(before, init, id);
                    let value = self.cast(value, scalar);
                    self.builder.span = span;
                    self.builder.set(Lhs::Local(local), value);
                    if has_temporaries {
                        self.close_scope();
                    }
                }
                None if declaration.init.is_some() => {
                    self.builder.set(Lhs::Local(local), Expr::int(0, scalar));
                }
                None => self.builder.emit(Op::any(Lhs::Local(local))),
            }
            return;
        }
        if unit.scalar_type(declaration.ty).is_none() && !unit.is_aggregate(declaration.ty) {
            // Not supported: ends the execution here.
            self.scalar(declaration.ty);
        }
        let align = declaration.alignment.map_or(1, u64::from);
        let object = self.frame_object(name, declaration.ty, align);
        let extent = unit.tree.extent(id);
        let described = &mut self.global.program.objects[object];
        if extent > described.size {
            described.size = extent;
            described.layout = unit.layout(declaration.ty, extent);
        }
        self.variables.insert(id, Variable::Object(object));
        if self.builder.is_reachable() {
            self.forget_value(id);
            let entries = declaration.init.map_or(&[][..], |init| &unit.tree[init]);
            let mut values = entries.iter().map(|entry| entry.value);
            let with_temporaries = values.find(|value| points_into_temporary(unit, *value));
            let has_temporaries = with_temporaries.is_some_and(|value| self.open_full_expression(value));
            self.initialise(id, Expr::Address(object, 0));
            if has_temporaries {
                self.close_scope();
            }
        }
    }
    /// A variable-length array: memory with a separate allocation site.
    fn variable_array(&mut self, id: DeclId) {
        let unit = self.unit;
        let ty = unit.tree[id].ty;
        let pointer = self.pointer();
        let local = self.builder.temporary(pointer);
        self.variables.insert(id, Variable::Pointed(local));
        if !self.builder.is_reachable() {
            return;
        }
        let size = self.size_of(ty);
        let site = self.allocate(unit.name(id), size, local);
        let scope = self.scopes.current();
        self.scopes.allocated.push(Allocated {
            site,
            address: local,
            scope,
            is_alloca: false,
            comes_again: self.uses.has_labels,
        });
        if unit.tree[id].init.is_some() {
            self.unsupported("an initialiser of a variable-length array");
        }
    }
    /// Memory that lives from here on.
    pub fn allocate(&mut self, name: &str, size: Expr, result: ir::LocalId) -> ir::ObjectId {
        let site = self.global.program.objects.push(Object {
            name: name.to_owned(),
            storage: Storage::Site,
            size: 0,
            align: 16,
            layout: Layout::Bytes(0),
            initial: ir::Initial::Unknown,
            span: self.builder.span,
            role: ir::ObjectRole::Automatic,
        });
        self.builder.emit(Op::Allocate { site, size, zeroed: false, result: Lhs::Local(result) });
        site
    }
}
