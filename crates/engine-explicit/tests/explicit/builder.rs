//! A tiny language to write test programs in.

use ir::{
    BinaryOp, Callee, Count, ErrorKind, Expr, Initial, IntType, Layout, Lhs, LocalId, LocationId,
    LocationKind, LockKind, Object, ObjectId, Op, Place, Program, Span, Storage, SyncKind, Template,
    TemplateId, Value,
};

pub const INT: IntType = IntType::I32;
pub const POINTER: IntType = IntType::U64;

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    Op(Op),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    Atomic(Vec<Stmt>),
    Assert(Expr),
    Halt,
}

pub fn number(value: Value) -> Expr {
    Expr::int(value, INT)
}
pub fn local(index: u32) -> Expr {
    Expr::Local(LocalId(index))
}
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, INT, left, right)
}
pub fn equal(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Eq, left, right)
}
pub fn add(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Add, left, right)
}
pub fn set(index: u32, value: Expr) -> Stmt {
    Stmt::Op(Op::set(Lhs::Local(LocalId(index)), value))
}
pub fn input(index: u32) -> Stmt {
    Stmt::Op(Op::any(Lhs::Local(LocalId(index))))
}
pub fn unknown(index: u32) -> Stmt {
    Stmt::Op(Op::unknown(Lhs::Local(LocalId(index))))
}
pub fn read(index: u32, object: ObjectId) -> Stmt {
    set(index, Expr::load(Place::cell(object, 0, INT)))
}
pub fn write(object: ObjectId, value: Expr) -> Stmt {
    Stmt::Op(Op::set(Lhs::Memory(Place::cell(object, 0, INT)), value))
}
pub fn read_at(index: u32, pointer: Expr) -> Stmt {
    set(index, Expr::load(Place::pointee(pointer, INT)))
}
pub fn write_at(pointer: Expr, value: Expr) -> Stmt {
    Stmt::Op(Op::set(Lhs::Memory(Place::pointee(pointer, INT)), value))
}
pub fn lock(object: ObjectId) -> Stmt {
    Stmt::Op(Op::Lock(LockKind::Mutex, Expr::Address(object, 0)))
}
pub fn unlock(object: ObjectId) -> Stmt {
    Stmt::Op(Op::Unlock(LockKind::Mutex, Expr::Address(object, 0)))
}
pub fn spawn(template: TemplateId, arguments: Vec<Expr>, handle: Option<u32>) -> Stmt {
    let handle = handle.map(|index| Lhs::Local(LocalId(index)));
    Stmt::Op(Op::Spawn(Callee::Procedure(template), arguments, handle))
}
pub fn call(template: TemplateId, arguments: Vec<Expr>, result: Option<u32>) -> Stmt {
    let result = result.map(|index| Lhs::Local(LocalId(index)));
    Stmt::Op(Op::Call(Callee::Procedure(template), arguments, result))
}
pub fn join(handle: u32) -> Stmt {
    Stmt::Op(Op::Join(local(handle), None))
}
/// Adds a global integer.
pub fn global(program: &mut Program, name: &str, value: Value) -> ObjectId {
    object(
        program,
        name,
        Storage::Static,
        4,
        Layout::Scalar(INT),
        Initial::Values(vec![(0, INT, number(value))]),
    )
}
/// Adds a global mutex.
pub fn mutex(program: &mut Program, name: &str) -> ObjectId {
    object(program, name, Storage::Static, 40, Layout::Sync(SyncKind::Mutex), Initial::Values(vec![]))
}
/// Adds any object.
pub fn object(
    program: &mut Program,
    name: &str,
    storage: Storage,
    size: u64,
    layout: Layout,
    initial: Initial,
) -> ObjectId {
    let span = Span::default();
    program.objects.push(Object {
        name: name.to_owned(),
        storage,
        size,
        align: 8,
        layout,
        initial,
        span,
        role: ir::ObjectRole::Program,
    })
}

/// Adds a template. Locals are named after their types: the first `parameters` are parameters.
pub fn template(
    program: &mut Program,
    name: &str,
    locals: &[IntType],
    parameters: usize,
    body: &[Stmt],
) -> TemplateId {
    let mut template = Template { name: name.to_owned(), parameters, ..Template::default() };
    for (index, ty) in locals.iter().enumerate() {
        template.local(format!("v{index}"), *ty, Span::default());
    }
    let entry = template.location(LocationKind::Normal, false);
    template.entry = entry;
    let end = block(&mut template, entry, body, false);
    let stop = template.location(LocationKind::End, false);
    template.edge(end, stop, vec![], Span::default());
    program.templates.push(template)
}

/// Adds a template whose last local is its result.
pub fn procedure(
    program: &mut Program,
    name: &str,
    locals: &[IntType],
    parameters: usize,
    body: &[Stmt],
) -> TemplateId {
    let id = template(program, name, locals, parameters, body);
    program.templates[id].result = Some(LocalId(locals.len() as u32 - 1));
    id
}

fn block(template: &mut Template, mut at: LocationId, body: &[Stmt], atomic: bool) -> LocationId {
    for statement in body {
        let span = Span { file: 0, line: template.edges.len() as u32 + 1, column: 1 };
        let fresh = |template: &mut Template| template.location(LocationKind::Normal, atomic);
        at = match statement {
            Stmt::Op(op) => {
                let next = fresh(template);
                template.edge(at, next, vec![op.clone()], span);
                next
            }
            Stmt::If(condition, yes, no) => {
                let (then, other, next) = (fresh(template), fresh(template), fresh(template));
                template.edge(at, then, vec![Op::Assume(condition.clone())], span);
                template.edge(at, other, vec![Op::Assume(condition.clone().not())], span);
                for (start, body) in [(then, yes), (other, no)] {
                    let end = block(template, start, body, atomic);
                    template.edge(end, next, vec![], span);
                }
                next
            }
            Stmt::While(condition, body) => {
                let (inside, next) = (fresh(template), fresh(template));
                template.edge(at, inside, vec![Op::Assume(condition.clone())], span);
                template.edge(at, next, vec![Op::Assume(condition.clone().not())], span);
                let end = block(template, inside, body, atomic);
                template.edge(end, at, vec![], span);
                next
            }
            Stmt::Atomic(body) => {
                let inside = template.location(LocationKind::Normal, true);
                template.edge(at, inside, vec![], span);
                let end = block(template, inside, body, true);
                let next = fresh(template);
                template.edge(end, next, vec![], span);
                next
            }
            Stmt::Assert(condition) => {
                let (next, error) =
                    (fresh(template), template.location(LocationKind::Error(ErrorKind::Assertion), false));
                template.edge(at, next, vec![Op::Assume(condition.clone())], span);
                template.edge(at, error, vec![Op::Assume(condition.clone().not())], span);
                next
            }
            Stmt::Halt => {
                let halt = template.location(LocationKind::Halt, false);
                template.edge(at, halt, vec![], span);
                fresh(template)
            }
        };
    }
    at
}

/// Lets these templates run from the start, one copy each.
pub fn start(program: &mut Program, templates: &[TemplateId]) {
    program.start = templates.iter().map(|template| (*template, Count::Exactly(1))).collect();
}
