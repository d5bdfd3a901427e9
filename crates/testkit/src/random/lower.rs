//! Programs in the common representation: one operation and at most one shared access on each edge.

use super::{ARRAY, Cell, Expression, Function, Index, Operator, Source, Statement, is_wide};
use ir::{
    BinaryOp, Callee, Count, ErrorKind, Expr, Initial, IntType, Layout, Lhs, LocalId, LocationId,
    LocationKind, LockKind, Object, ObjectId, Op, Place, Program, Span, Storage, SyncKind, Target, Targets,
    Template, TemplateId,
};

impl Source {
    /// The program in the common representation. Templates: `main`, the other threads, the helpers.
    pub fn program(&self) -> Program {
        let mut program = Program { files: vec!["random.c".into()], ..Program::default() };
        for (index, (ty, value)) in self.globals.iter().enumerate() {
            let initial = Initial::Values(vec![(0, *ty, Expr::int(*value, *ty))]);
            program.objects.push(object(format!("g{index}"), ty.bytes(), Layout::Scalar(*ty), initial));
        }
        for (index, ty) in self.arrays.iter().enumerate() {
            let element = Box::new(Layout::Scalar(*ty));
            let layout = Layout::Array { element, count: ARRAY as u64, stride: ty.bytes() };
            program.objects.push(object(
                format!("a{index}"),
                ty.bytes() * ARRAY as u64,
                layout,
                Initial::Values(vec![]),
            ));
        }
        for (index, target) in self.pointers.iter().enumerate() {
            let address = Expr::Address(ObjectId(*target as u32), 0);
            let initial = Initial::Values(vec![(0, IntType::U64, address)]);
            program.objects.push(object(format!("p{index}"), 8, Layout::Scalar(IntType::U64), initial));
        }
        for lock in 0..self.locks {
            program.objects.push(object(
                format!("m{lock}"),
                40,
                Layout::Sync(SyncKind::Mutex),
                Initial::Values(vec![]),
            ));
        }
        for (index, thread) in self.threads.iter().enumerate() {
            let mut builder =
                Builder::new(self, if index == 0 { "main".into() } else { format!("thread{index}") });
            builder.thread(index, thread);
            program.templates.push(builder.template);
        }
        for (index, helper) in self.helpers.iter().enumerate() {
            let mut builder = Builder::new(self, format!("helper{index}"));
            builder.helper(helper);
            program.templates.push(builder.template);
        }
        program.start.push((TemplateId(0), Count::Exactly(1)));
        program
    }
}

fn object(name: String, size: u64, layout: Layout, initial: Initial) -> Object {
    Object {
        name,
        storage: Storage::Static,
        size,
        align: 8,
        layout,
        initial,
        span: Span::default(),
        role: ir::ObjectRole::Program,
    }
}

struct Builder<'s> {
    source: &'s Source,
    template: Template,
    here: LocationId,
    atomic: bool,
    temporaries: usize,
}

impl<'s> Builder<'s> {
    fn new(source: &'s Source, name: String) -> Self {
        let mut template = Template { name, ..Template::default() };
        let here = template.location(LocationKind::Normal, false);
        template.entry = here;
        Self { source, template, here, atomic: false, temporaries: 0 }
    }

    fn locals(&mut self, function: &Function) {
        for local in 0..function.locals {
            self.template.local(format!("l{local}"), IntType::I32, Span::default());
        }
    }
    fn temporary(&mut self, ty: IntType) -> LocalId {
        self.temporaries += 1;
        self.template.local(format!("%{}", self.temporaries), ty, Span::default())
    }
    fn location(&mut self) -> LocationId {
        self.template.location(LocationKind::Normal, self.atomic)
    }
    fn edge(&mut self, from: LocationId, to: LocationId, ops: Vec<Op>) {
        self.template.edge(from, to, ops, Span::default());
    }
    fn emit(&mut self, op: Op) {
        let next = self.location();
        self.edge(self.here, next, vec![op]);
        self.here = next;
    }
    fn jump(&mut self, to: LocationId) {
        self.edge(self.here, to, vec![]);
    }
    fn end(&mut self, kind: LocationKind) {
        let end = self.template.location(kind, false);
        self.jump(end);
    }
    /// Two edges out of here, by a condition.
    fn branch(&mut self, condition: Expr, yes: LocationId, no: LocationId) {
        self.edge(self.here, yes, vec![Op::Assume(condition.clone())]);
        self.edge(self.here, no, vec![Op::Assume(condition.not())]);
    }
    fn set(&mut self, local: LocalId, value: Expr) {
        self.emit(Op::set(Lhs::Local(local), value));
    }

    fn thread(&mut self, index: usize, function: &Function) {
        self.locals(function);
        let others = if index == 0 { self.source.threads.len() } else { 1 };
        let handles: Vec<LocalId> = (1..others).map(|_| self.temporary(IntType::U64)).collect();
        for (other, handle) in (1..others).zip(&handles) {
            let callee = Callee::Procedure(TemplateId(other as u32));
            self.emit(Op::Spawn(callee, vec![], Some(Lhs::Local(*handle))));
        }
        self.block(&function.body);
        for handle in handles {
            self.emit(Op::Join(Expr::Local(handle), None));
        }
        if let (0, Some(finally)) = (index, &self.source.finally) {
            self.assert(finally);
        }
        // When `main` returns, so does the program.
        self.end(if index == 0 { LocationKind::Halt } else { LocationKind::End });
    }

    fn helper(&mut self, function: &Function) {
        self.locals(function);
        self.template.parameters = 1;
        let result = self.temporary(IntType::I32);
        self.template.result = Some(result);
        self.block(&function.body);
        if let Some(value) = &function.result {
            let value = self.expression(value);
            self.set(result, value);
        }
        self.end(LocationKind::End);
    }

    fn block(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Set(local, value) => {
                let value = self.expression(value);
                self.set(LocalId(*local as u32), remainder(value, 8, IntType::I32));
            }
            Statement::Store(cell, value) => {
                let ty = self.source.type_of(*cell);
                let value = self.expression(value);
                let value = if is_wide(ty) { remainder(value, 8, IntType::I32) } else { value };
                let value = if ty == IntType::I32 { value } else { Expr::cast(ty, value) };
                let place = self.place(*cell);
                self.emit(Op::set(Lhs::Memory(place), value));
            }
            Statement::Point(pointer, global) => {
                let place = Place::cell(self.pointer(*pointer), 0, IntType::U64);
                self.emit(Op::set(Lhs::Memory(place), Expr::Address(ObjectId(*global as u32), 0)));
            }
            Statement::Input(local) => {
                let input = self.temporary(IntType::BOOL);
                self.emit(Op::any(Lhs::Local(input)));
                self.set(LocalId(*local as u32), Expr::cast(IntType::I32, Expr::Local(input)));
            }
            Statement::Assume(condition) => {
                let condition = self.condition(condition);
                self.emit(Op::Assume(condition));
            }
            Statement::Assert(condition) => self.assert(condition),
            Statement::If(condition, yes, no) => {
                let condition = self.condition(condition);
                let (then, otherwise, after) = (self.location(), self.location(), self.location());
                self.branch(condition, then, otherwise);
                for (start, body) in [(then, yes), (otherwise, no)] {
                    self.here = start;
                    self.block(body);
                    self.jump(after);
                }
                self.here = after;
            }
            Statement::Repeat(times, counter, body) => self.repeat(*times, *counter, None, body),
            Statement::While(condition, times, counter, body) => {
                self.repeat(*times, *counter, Some(condition), body);
            }
            Statement::Locked(lock, body) => {
                let address = Expr::Address(self.lock(*lock), 0);
                self.emit(Op::Lock(LockKind::Mutex, address.clone()));
                self.block(body);
                self.emit(Op::Unlock(LockKind::Mutex, address));
            }
            Statement::Atomic(body) => {
                let outside = std::mem::replace(&mut self.atomic, true);
                let inside = self.location();
                self.jump(inside);
                self.here = inside;
                self.block(body);
                self.atomic = outside;
                let after = self.location();
                self.jump(after);
                self.here = after;
            }
            Statement::Call(local, helper, argument) => {
                let argument = self.expression(argument);
                let callee = Callee::Procedure(TemplateId((self.source.threads.len() + helper) as u32));
                self.emit(Op::Call(callee, vec![argument], Some(Lhs::Local(LocalId(*local as u32)))));
            }
        }
    }

    fn repeat(&mut self, times: usize, counter: usize, condition: Option<&Expression>, body: &[Statement]) {
        let counter = LocalId(counter as u32);
        self.set(counter, Expr::int(0, IntType::I32));
        let (head, inside, after) = (self.location(), self.location(), self.location());
        self.jump(head);
        self.here = head;
        let below = Expr::binary(
            BinaryOp::Lt,
            IntType::I32,
            Expr::Local(counter),
            Expr::int(times as i128, IntType::I32),
        );
        let next =
            Expr::binary(BinaryOp::Add, IntType::I32, Expr::Local(counter), Expr::int(1, IntType::I32));
        self.branch(below, inside, after);
        self.here = inside;
        if let Some(condition) = condition {
            let condition = self.condition(condition);
            let start = self.location();
            self.branch(condition, start, after);
            self.here = start;
            self.set(counter, next.clone());
        }
        self.block(body);
        if condition.is_none() {
            self.set(counter, next);
        }
        self.jump(head);
        self.here = after;
    }

    fn assert(&mut self, condition: &Expression) {
        let condition = self.condition(condition);
        let error = self.template.location(LocationKind::Error(ErrorKind::Assertion), false);
        let after = self.location();
        self.branch(condition, after, error);
        self.here = after;
    }

    /// An expression as a Boolean over locals.
    fn condition(&mut self, expression: &Expression) -> Expr {
        let value = self.expression(expression);
        match value {
            Expr::Cast(IntType::I32, inner) if matches!(*inner, Expr::Binary(op, ..) if op.is_comparison()) => {
                *inner
            }
            other => Expr::binary(BinaryOp::Ne, IntType::I32, other, Expr::int(0, IntType::I32)),
        }
    }

    /// An expression over locals, once all shared cells in it are read.
    fn expression(&mut self, expression: &Expression) -> Expr {
        match expression {
            Expression::Number(value) => Expr::int(*value, IntType::I32),
            Expression::Local(local) => Expr::Local(LocalId(*local as u32)),
            Expression::Shared(cell) => {
                let ty = self.source.type_of(*cell);
                let place = self.place(*cell);
                let local = self.temporary(ty);
                self.set(local, Expr::load(place));
                let value = Expr::Local(local);
                let value = if is_wide(ty) { remainder(value, 16, ty) } else { value };
                if ty == IntType::I32 { value } else { Expr::cast(IntType::I32, value) }
            }
            Expression::Not(operand) => {
                let operand = self.expression(operand);
                let zero = Expr::binary(BinaryOp::Eq, IntType::I32, operand, Expr::int(0, IntType::I32));
                Expr::cast(IntType::I32, zero)
            }
            Expression::Binary(operator, pair) => {
                let (left, right) = (self.expression(&pair.0), self.expression(&pair.1));
                let op = match operator {
                    Operator::Add => BinaryOp::Add,
                    Operator::Sub => BinaryOp::Sub,
                    Operator::And => BinaryOp::And,
                    Operator::Or => BinaryOp::Or,
                    Operator::Xor => BinaryOp::Xor,
                    Operator::Equal => BinaryOp::Eq,
                    Operator::Different => BinaryOp::Ne,
                    Operator::Less => BinaryOp::Lt,
                    Operator::LessOrEqual => BinaryOp::Le,
                };
                let value = Expr::binary(op, IntType::I32, left, right);
                if op.is_comparison() { Expr::cast(IntType::I32, value) } else { value }
            }
        }
    }

    /// A cell, once the pointer to it is read.
    fn place(&mut self, cell: Cell) -> Place {
        let ty = self.source.type_of(cell);
        match cell {
            Cell::Global(global) => Place::cell(ObjectId(global as u32), 0, ty),
            Cell::Element(array, Index::Fixed(index)) => {
                Place::cell(self.array(array), index as u64 * ty.bytes(), ty)
            }
            Cell::Element(array, Index::Local(local)) => {
                let object = self.array(array);
                let index = Expr::cast(IntType::U32, Expr::Local(LocalId(local as u32)));
                let index = Expr::cast(IntType::U64, remainder(index, ARRAY as i128, IntType::U32));
                let stride = Expr::int(i128::from(ty.bytes()), IntType::U64);
                let distance = Expr::binary(BinaryOp::Mul, IntType::U64, index, stride);
                let address = Expr::binary(BinaryOp::Add, IntType::U64, Expr::Address(object, 0), distance);
                let target = Target { object, first: 0, stride: ty.bytes(), count: ARRAY as u64 };
                Place { targets: Targets::Of([target].into()), ..Place::pointee(address, ty) }
            }
            Cell::Pointee(pointer) => {
                let address = self.temporary(IntType::U64);
                let place = Place::cell(self.pointer(pointer), 0, IntType::U64);
                self.set(address, Expr::load(place));
                let globals =
                    self.source.globals.iter().enumerate().filter(|(_, (ty, _))| *ty == IntType::I32);
                let target = |index| Target { object: ObjectId(index as u32), first: 0, stride: 0, count: 1 };
                let targets = globals.map(|(index, _)| target(index)).collect();
                Place { targets: Targets::Of(targets), ..Place::pointee(Expr::Local(address), ty) }
            }
        }
    }

    fn array(&self, array: usize) -> ObjectId {
        ObjectId((self.source.globals.len() + array) as u32)
    }
    fn pointer(&self, pointer: usize) -> ObjectId {
        ObjectId((self.source.globals.len() + self.source.arrays.len() + pointer) as u32)
    }
    fn lock(&self, lock: usize) -> ObjectId {
        let before = self.source.globals.len() + self.source.arrays.len() + self.source.pointers.len();
        ObjectId((before + lock) as u32)
    }
}

fn remainder(value: Expr, modulus: i128, ty: IntType) -> Expr {
    Expr::binary(BinaryOp::Rem, ty, value, Expr::int(modulus, ty))
}
