//! Random small programs, the same for the same seed.

use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, LockKind, Op, Rhs};
use crate::program::{Count, ErrorKind, Initial, LocationKind, Object, Program, Span, Storage, Template};
use crate::types::{IntType, Layout, SyncKind, Value};
use testkit::random::Random;

/// What a random program is made of.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Copies of the worker that the main thread starts.
    pub workers: u64,
    /// Statements in each body.
    pub statements: u64,
    /// Whether there are constants at the ends of the range of `int`.
    pub large: bool,
    /// Whether procedures are called, also through pointers.
    pub calls: bool,
    /// Whether array indices may leave their array.
    pub wild: bool,
}

const INT: IntType = IntType::I32;
const PTR: IntType = IntType::U64;

struct Names {
    globals: Vec<ObjectId>,
    pointer: ObjectId,
    function: ObjectId,
    array: ObjectId,
    atomic: ObjectId,
    mutex: ObjectId,
    site: ObjectId,
    helpers: Vec<TemplateId>,
}

struct Body<'a> {
    random: &'a mut Random,
    names: &'a Names,
    shape: Shape,
    template: Template,
    here: LocationId,
    atomic: bool,
    ints: Vec<LocalId>,
    pointers: Vec<LocalId>,
    /// A private array and an object whose address is taken.
    frame: [ObjectId; 2],
    depth: u32,
    line: u32,
    may_call: bool,
    is_helper: bool,
}

/// A memory object.
pub fn object(name: &str, storage: Storage, size: u64, layout: Layout) -> Object {
    let initial = Initial::Values(vec![]);
    Object {
        name: name.to_owned(),
        storage,
        size,
        align: 8,
        layout,
        initial,
        span: Span::default(),
        role: crate::program::ObjectRole::Program,
    }
}

/// An array of `count` `int`s.
pub fn ints(count: u64) -> Layout {
    Layout::Array { element: Box::new(Layout::Scalar(INT)), count, stride: 4 }
}

/// A random program.
pub fn generate(seed: u64, shape: Shape) -> Program {
    let random = &mut Random::new(seed);
    let mut program = Program { files: vec!["random".to_owned()], ..Program::default() };
    let scalar = Layout::Scalar(INT);
    let globals = (0..3)
        .map(|i| program.objects.push(object(&format!("g{i}"), Storage::Static, 4, scalar.clone())))
        .collect();
    let array = program.objects.push(object("array", Storage::Static, 12, ints(3)));
    let atomic = program.objects.push(object("atomic", Storage::Static, 4, scalar.clone()));
    let mutex = program.objects.push(object("mutex", Storage::Static, 40, Layout::Sync(SyncKind::Mutex)));
    let pointer = program.objects.push(object("pointer", Storage::Static, 8, Layout::Scalar(PTR)));
    let function = program.objects.push(object("function", Storage::Static, 8, Layout::Scalar(PTR)));
    let site = program.objects.push(object("site", Storage::Site, 4, scalar.clone()));
    let helpers = vec![TemplateId(2), TemplateId(3)];
    let names = Names { globals, pointer, function, array, atomic, mutex, site, helpers };
    program.objects[pointer].initial = Initial::Values(vec![(0, PTR, Expr::Address(names.globals[0], 0))]);
    program.objects[function].initial = Initial::Values(vec![(0, PTR, Expr::Procedure(TemplateId(2)))]);
    for (index, name) in ["main", "worker", "first", "second"].into_iter().enumerate() {
        let frame = [1, 2].map(|kind| {
            let owner = Storage::Frame(TemplateId(index as u32));
            let mut made = object(&format!("{name}.{kind}"), owner, 8, ints(2));
            if random.chance(20) {
                made.initial = Initial::Unknown;
            }
            program.objects.push(made)
        });
        let body = Body::new(name, random, &names, shape, frame, index < 2 && shape.calls);
        let template = match index {
            0 => body.main(),
            1 => body.worker(),
            _ => body.helper(index == 2),
        };
        program.templates.push(template);
    }
    program.start = vec![(TemplateId(0), Count::Exactly(1))];
    program
}

impl<'a> Body<'a> {
    fn new(
        name: &str,
        random: &'a mut Random,
        names: &'a Names,
        shape: Shape,
        frame: [ObjectId; 2],
        may_call: bool,
    ) -> Self {
        let mut template = Template { name: name.to_owned(), ..Template::default() };
        let here = template.location(LocationKind::Normal, false);
        template.entry = here;
        let ints = (0..2).map(|i| template.local(format!("i{i}"), INT, Span::default())).collect();
        let pointers = vec![template.local("p0", PTR, Span::default())];
        template.parameters = 1;
        template.result = Some(LocalId(1));
        template.exit_value = Some(LocalId(0));
        Self {
            random,
            names,
            shape,
            template,
            here,
            atomic: false,
            ints,
            pointers,
            frame,
            depth: 0,
            line: 1,
            may_call,
            is_helper: false,
        }
    }

    fn main(mut self) -> Template {
        let mut handles = Vec::new();
        for _ in 0..self.shape.workers {
            let handle = self.template.local("handle", PTR, Span::default());
            let argument = self.int(1);
            let callee = Callee::Procedure(TemplateId(1));
            let lhs = if self.random.chance(70) { Lhs::Local(handle) } else { self.pointer_lhs() };
            handles.push((handle, matches!(lhs, Lhs::Local(_))));
            self.emit(Op::Spawn(callee, vec![argument], Some(lhs)));
        }
        self.statements(self.shape.statements);
        for (handle, known) in handles {
            if known && self.random.chance(50) {
                let result = self.int_lhs();
                let result = self.random.chance(50).then_some(result);
                self.emit(Op::Join(Expr::Local(handle), result));
            }
        }
        self.end()
    }
    fn worker(mut self) -> Template {
        self.statements(self.shape.statements);
        self.end()
    }
    fn helper(mut self, may_exit: bool) -> Template {
        self.is_helper = true;
        self.statements(2);
        if may_exit && self.random.chance(20) {
            let other = self.label();
            let condition = self.condition(1);
            let exit = self.template.location(LocationKind::Exit, false);
            self.branch(condition, exit, other);
            self.here = other;
        }
        self.end()
    }
    fn end(mut self) -> Template {
        let end = self.template.location(LocationKind::End, false);
        self.edge(self.here, end, vec![]);
        self.template
    }

    fn label(&mut self) -> LocationId {
        self.template.location(LocationKind::Normal, self.atomic)
    }
    fn edge(&mut self, from: LocationId, to: LocationId, ops: Vec<Op>) {
        let span = Span { file: 0, line: self.line, column: 1 };
        self.template.edge(from, to, ops, span);
    }
    fn emit(&mut self, op: Op) {
        let next = self.label();
        self.edge(self.here, next, vec![op]);
        self.here = next;
        self.line += 1;
    }
    fn branch(&mut self, condition: Expr, yes: LocationId, no: LocationId) {
        self.edge(self.here, yes, vec![Op::Assume(condition.clone())]);
        self.edge(self.here, no, vec![Op::Assume(condition.not())]);
        self.line += 1;
    }

    fn statements(&mut self, count: u64) {
        for _ in 0..count {
            self.statement();
        }
    }
    fn statement(&mut self) {
        match self.random.below(if self.depth < 2 { 24 } else { 15 }) {
            0..=4 => {
                let (lhs, value) = (self.int_lhs(), self.int(2));
                self.emit(Op::set(lhs, value));
            }
            5 => {
                let lhs = self.int_lhs();
                let rhs = if self.random.chance(50) { Rhs::Any } else { Rhs::Unknown };
                self.emit(Op::Assign(Assignment { pairs: vec![(lhs, rhs)], constraint: None }));
            }
            6 => {
                let value = self.address();
                let lhs = self.pointer_lhs();
                // A pointer to a procedure's frame would dangle after the call.
                let dangles =
                    self.is_helper && matches!(value, Expr::Address(object, _) if object == self.frame[1]);
                let lhs = if dangles { Lhs::Local(self.pointers[0]) } else { lhs };
                self.emit(Op::set(lhs, value));
            }
            7 => self.read_modify_write(),
            8 => {
                let (condition, fine) = (self.condition(2), self.label());
                let wrong = self.template.location(LocationKind::Error(ErrorKind::Assertion), false);
                self.branch(condition, fine, wrong);
                self.here = fine;
            }
            9 => {
                let condition = self.condition(1);
                self.emit(Op::Assume(condition));
            }
            10 => {
                let (a, b) = (self.random.below(2) as usize, self.int(1));
                let pairs = vec![
                    (Lhs::Local(self.ints[a]), Rhs::Value(b)),
                    (self.int_memory(), Rhs::Value(self.int(1))),
                ];
                self.emit(Op::Assign(Assignment { pairs, constraint: None }));
            }
            11 => {
                if self.may_call {
                    self.call();
                }
            }
            12 => {
                let to = Expr::Address(self.frame[self.random.below(2) as usize], 0);
                let size = Expr::Const(8, PTR);
                let op = if self.random.chance(50) {
                    Op::Fill(to, Expr::Const(0, INT), size)
                } else {
                    Op::Copy(to, Expr::Address(self.names.array, 4), size)
                };
                self.emit(op);
            }
            13 => {
                let result = self.pointer_lhs();
                let size = Expr::Const(4, PTR);
                let zeroed = self.random.chance(70);
                self.emit(Op::Allocate { site: self.names.site, size, zeroed, result });
            }
            14 => {
                let value = Expr::Procedure(self.names.helpers[self.random.below(2) as usize]);
                self.emit(Op::set(Lhs::Memory(Place::cell(self.names.function, 0, PTR)), value));
            }
            15..=17 => self.conditional(),
            18 | 19 => self.repeat(),
            20 | 21 => self.locked(),
            _ => self.region(),
        }
    }
    fn read_modify_write(&mut self) {
        let place = Place { atomic: true, ..Place::cell(self.names.atomic, 0, INT) };
        let value = Expr::binary(BinaryOp::Add, INT, Expr::load(place.clone()), self.int(1));
        let old = self.ints[self.random.below(2) as usize];
        let mut pairs = vec![(Lhs::Memory(place.clone()), Rhs::Value(value))];
        if self.random.chance(50) {
            pairs.push((Lhs::Local(old), Rhs::Value(Expr::load(place))));
        }
        self.emit(Op::Assign(Assignment { pairs, constraint: None }));
    }
    fn call(&mut self) {
        let pointer = Expr::load(Place::cell(self.names.function, 0, PTR));
        let callee = match self.random.below(3) {
            0 => Callee::Pointer(pointer),
            1 => Callee::Procedure(self.names.helpers[0]),
            _ => Callee::Procedure(self.names.helpers[1]),
        };
        let argument = self.int(1);
        let lhs = self.random.chance(70).then(|| Lhs::Local(self.ints[self.random.below(2) as usize]));
        self.emit(Op::Call(callee, vec![argument], lhs));
    }
    fn conditional(&mut self) {
        self.depth += 1;
        let (yes, no, after, condition) = (self.label(), self.label(), self.label(), self.condition(2));
        self.branch(condition, yes, no);
        for arm in [yes, no] {
            self.here = arm;
            let count = self.random.below(2);
            self.statements(count);
            self.edge(self.here, after, vec![]);
        }
        self.here = after;
        self.depth -= 1;
    }
    fn repeat(&mut self) {
        self.depth += 1;
        let counter = self.template.local("n", INT, Span::default());
        self.emit(Op::set(Lhs::Local(counter), Expr::Const(0, INT)));
        let (head, body, after) = (self.label(), self.label(), self.label());
        self.edge(self.here, head, vec![]);
        self.here = head;
        let condition = Expr::binary(BinaryOp::Lt, INT, Expr::Local(counter), Expr::Const(2, INT));
        self.branch(condition, body, after);
        self.here = body;
        self.statement();
        let more = Expr::binary(BinaryOp::Add, INT, Expr::Local(counter), Expr::Const(1, INT));
        self.edge(self.here, head, vec![Op::set(Lhs::Local(counter), more)]);
        self.here = after;
        self.depth -= 1;
    }
    fn locked(&mut self) {
        self.depth += 1;
        let mutex = Expr::Address(self.names.mutex, 0);
        self.emit(Op::Lock(LockKind::Mutex, mutex.clone()));
        self.statement();
        self.emit(Op::Unlock(LockKind::Mutex, mutex));
        self.depth -= 1;
    }
    fn region(&mut self) {
        if self.atomic {
            return;
        }
        // A procedure that is called inside of a region would have to be atomic itself.
        let may_call = std::mem::take(&mut self.may_call);
        self.depth += 1;
        self.atomic = true;
        let inside = self.label();
        self.edge(self.here, inside, vec![]);
        self.here = inside;
        let count = 1 + self.random.below(2);
        self.statements(count);
        self.atomic = false;
        let outside = self.label();
        self.edge(self.here, outside, vec![]);
        self.here = outside;
        self.depth -= 1;
        self.may_call = may_call;
    }

    fn index(&mut self) -> Expr {
        let bound = if self.shape.wild { 4 } else { 2 };
        let index = Expr::Local(self.ints[self.random.below(2) as usize]);
        let index = Expr::binary(BinaryOp::And, INT, index, Expr::Const(bound - 1, INT));
        Expr::binary(BinaryOp::Mul, PTR, Expr::cast(PTR, index), Expr::Const(4, PTR))
    }
    /// The address of an `int`.
    fn address(&mut self) -> Expr {
        match self.random.below(4) {
            0 | 1 => Expr::Address(self.names.globals[self.random.below(3) as usize], 0),
            2 => Expr::Address(self.frame[1], 4 * self.random.below(2)),
            _ => {
                let index = self.index();
                Expr::binary(BinaryOp::Add, PTR, Expr::Address(self.names.array, 0), index)
            }
        }
    }
    fn pointer_lhs(&mut self) -> Lhs {
        if self.random.chance(50) {
            Lhs::Local(self.pointers[0])
        } else {
            Lhs::Memory(Place::cell(self.names.pointer, 0, PTR))
        }
    }
    fn int_memory(&mut self) -> Lhs {
        Lhs::Memory(self.place())
    }
    fn int_lhs(&mut self) -> Lhs {
        if self.random.chance(40) {
            Lhs::Local(self.ints[self.random.below(2) as usize])
        } else {
            self.int_memory()
        }
    }
    fn place(&mut self) -> Place {
        match self.random.below(10) {
            0..=4 => Place::cell(self.names.globals[self.random.below(3) as usize], 0, INT),
            5 => {
                let index = self.index();
                Place::pointee(
                    Expr::binary(BinaryOp::Add, PTR, Expr::Address(self.names.array, 0), index),
                    INT,
                )
            }
            6 => Place::pointee(Expr::load(Place::cell(self.names.pointer, 0, PTR)), INT),
            7 => Place::pointee(Expr::Local(self.pointers[0]), INT),
            8 => Place { atomic: true, ..Place::cell(self.names.atomic, 0, INT) },
            _ => {
                let index = self.index();
                Place::pointee(Expr::binary(BinaryOp::Add, PTR, Expr::Address(self.frame[0], 0), index), INT)
            }
        }
    }
    fn int(&mut self, depth: u32) -> Expr {
        match self.random.below(if depth == 0 { 6 } else { 10 }) {
            0 | 1 => {
                let large = [Value::from(i32::MAX), Value::from(i32::MIN)];
                let value = if self.shape.large && self.random.chance(30) {
                    large[self.random.below(2) as usize]
                } else {
                    Value::from(self.random.below(3))
                };
                Expr::Const(value, INT)
            }
            2 | 3 => Expr::Local(self.ints[self.random.below(2) as usize]),
            4 | 5 => Expr::load(self.place()),
            6..=8 => {
                let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Xor, BinaryOp::Mul]
                    [self.random.below(4) as usize];
                let (left, right) = (self.int(depth - 1), self.int(depth - 1));
                let sum = Expr::binary(op, INT, left, right);
                // Keeps the values few.
                if self.shape.large {
                    sum
                } else {
                    Expr::binary(BinaryOp::And, INT, sum, Expr::Const(3, INT))
                }
            }
            _ => Expr::IfThenElse(Box::new((
                self.condition(depth - 1),
                self.int(depth - 1),
                self.int(depth - 1),
            ))),
        }
    }
    fn condition(&mut self, depth: u32) -> Expr {
        let op = [BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le][self.random.below(4) as usize];
        let (left, right) = (self.int(depth.min(1)), self.int(0));
        let condition = Expr::binary(op, INT, left, right);
        if self.random.chance(30) { condition.not() } else { condition }
    }
}
