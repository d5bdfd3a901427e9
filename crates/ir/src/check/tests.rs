//! One test for each rule: a well-formed program, one change, and the complaint.

use super::*;
use crate::expr::{BinaryOp, Place, Target, Targets, UnaryOp};
use crate::ids::LocalId;
use crate::op::LockKind;
use crate::program::{Count, ErrorKind, Initial, Object};
use crate::types::{DataModel, Field, Layout, SyncKind};

const X: ObjectId = ObjectId(0);
const FRAME: ObjectId = ObjectId(1);
const SITE: ObjectId = ObjectId(2);
const LOCK: ObjectId = ObjectId(3);
const TLS: ObjectId = ObjectId(4);
const MAIN: TemplateId = TemplateId(0);
const HELPER: TemplateId = TemplateId(1);
const NUMBER: LocalId = LocalId(0);
const POINTER: LocalId = LocalId(1);
const FLAG: LocalId = LocalId(2);

fn object(name: &str, storage: Storage, size: u64, layout: Layout) -> Object {
    let initial = Initial::Values(vec![]);
    Object {
        name: name.into(),
        storage,
        size,
        align: 4,
        layout,
        initial,
        span: Span::default(),
        role: crate::program::ObjectRole::Program,
    }
}

/// Two templates, an object of each lifetime, a lock; one edge without operations.
fn base() -> Program {
    let mut program = Program { files: vec!["a.c".into()], ..Program::default() };
    let int = || Layout::Scalar(IntType::I32);
    program.objects.push(object("x", Storage::Static, 4, int()));
    program.objects.push(object("frame", Storage::Frame(MAIN), 4, int()));
    program.objects.push(object("site", Storage::Site, 0, Layout::Bytes(8)));
    program.objects.push(object("lock", Storage::Static, 40, Layout::Sync(SyncKind::Mutex)));
    program.objects.push(object("tls", Storage::ThreadLocal, 4, int()));
    for (name, parameters) in [("main", 0), ("helper", 1)] {
        let mut template = Template { name: name.into(), parameters, ..Template::default() };
        template.local("number", IntType::I32, Span::default());
        template.local("pointer", IntType::U64, Span::default());
        template.local("flag", IntType::BOOL, Span::default());
        let entry = template.location(LocationKind::Normal, false);
        let end = template.location(LocationKind::End, false);
        template.edge(entry, end, vec![], Span { file: 0, line: 1, column: 1 });
        template.entry = entry;
        program.templates.push(template);
    }
    program.start.push((MAIN, Count::Exactly(1)));
    program
}

fn with_ops(ops: Vec<Op>) -> Program {
    let mut program = base();
    program.templates[MAIN].edges[EdgeId(0)].ops = ops;
    program
}

#[track_caller]
fn accepts(program: &Program) {
    assert_eq!(check(program), Ok(()));
}

#[track_caller]
fn rejects(program: &Program, complaint: &str) {
    let found = check(program).expect_err("it is malformed");
    assert!(found.iter().any(|one| one.to_string().contains(complaint)), "{found:#?}");
}

#[track_caller]
fn rejects_op(op: Op, complaint: &str) {
    rejects(&with_ops(vec![op]), complaint);
}

#[track_caller]
fn rejects_value(value: Expr, complaint: &str) {
    // A condition of any type, so that the complaint is about its operands.
    rejects_op(Op::Assume(Expr::cast(IntType::BOOL, value)), complaint);
}

fn int(value: i128) -> Expr {
    Expr::Const(value, IntType::I32)
}
fn pointer(value: i128) -> Expr {
    Expr::Const(value, IntType::U64)
}
fn x() -> Place {
    Place::cell(X, 0, IntType::I32)
}

#[test]
fn well_formed() {
    accepts(&base());
    accepts(&with_ops(vec![
        Op::Assume(Expr::binary(BinaryOp::Lt, IntType::I32, Expr::Local(NUMBER), int(3))),
        Op::set(Lhs::Memory(x()), Expr::binary(BinaryOp::Shl, IntType::I32, int(1), pointer(3))),
        Op::any(Lhs::Local(FLAG)),
        Op::Lock(LockKind::Mutex, Expr::Address(LOCK, 0)),
        Op::Spawn(Callee::Procedure(HELPER), vec![int(1), pointer(2)], Some(Lhs::Local(POINTER))),
        Op::Join(Expr::Local(POINTER), Some(Lhs::Local(NUMBER))),
        Op::Allocate { site: SITE, size: pointer(8), zeroed: false, result: Lhs::Local(POINTER) },
        Op::Fill(Expr::Local(POINTER), int(1), pointer(8)),
        Op::set(
            Lhs::Memory(Place::cell(TLS, 0, IntType::I32)),
            Expr::load(Place::cell(FRAME, 0, IntType::I32)),
        ),
        Op::Call(Callee::Procedure(HELPER), vec![int(1)], None),
    ]));
}

#[test]
fn complaints_say_where() {
    let found = check(&with_ops(vec![Op::Assume(int(1))])).expect_err("it is malformed");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place, Where::Edge(MAIN, EdgeId(0)));
    let expected = "template t0 (main), edge e0: an assumed condition has type i32 instead of bool";
    assert_eq!(found[0].to_string(), expected);
}

#[test]
fn ids_and_spans() {
    let mut program = base();
    program.start.push((TemplateId(7), Count::Any));
    rejects(&program, "start template t7 does not exist");
    let mut program = base();
    program.templates[MAIN].edges[EdgeId(0)].target = LocationId(9);
    rejects(&program, "the target l9 does not exist");
    let mut program = base();
    program.templates[MAIN].edges[EdgeId(0)].source = LocationId(9);
    rejects(&program, "the source l9 does not exist");
    let mut program = base();
    program.templates[MAIN].entry = LocationId(9);
    rejects(&program, "the entry l9 does not exist");
    let mut program = base();
    program.templates[MAIN].result = Some(LocalId(9));
    rejects(&program, "the result v9 does not exist");
    let mut program = base();
    program.templates[MAIN].exit_value = Some(LocalId(9));
    rejects(&program, "the exit value v9 does not exist");
    let mut program = base();
    program.templates[MAIN].parameters = 4;
    rejects(&program, "4 parameters but only 3 locals");
    let mut program = base();
    program.templates[MAIN].span = Span { file: 1, line: 1, column: 1 };
    rejects(&program, "a span names file 1");
    rejects_value(Expr::Local(LocalId(9)), "local v9 does not exist");
    rejects_value(Expr::Address(ObjectId(9), 0), "object o9 does not exist");
    rejects_value(Expr::Procedure(TemplateId(9)), "procedure t9 does not exist");
    rejects_op(Op::any(Lhs::Local(LocalId(9))), "local v9 does not exist");
    rejects_op(Op::Call(Callee::Procedure(TemplateId(9)), vec![], None), "procedure t9 does not exist");
    let target = |object, stride, count| {
        let targets = Targets::Of([Target { object, first: 0, stride, count }].into());
        Expr::load(Place { targets, ..x() })
    };
    rejects_value(target(ObjectId(9), 0, 1), "target o9 does not exist");
    rejects_value(target(X, 0, 2), "a target has 2 offsets, 0 apart");
    accepts(&with_ops(vec![Op::set(Lhs::Local(NUMBER), target(SITE, 4, u64::MAX))]));
}

#[test]
fn types() {
    let odd = IntType { bits: 7, signed: true };
    rejects_value(Expr::Const(0, odd), "i7 is not an integer type");
    rejects_value(Expr::cast(IntType { bits: 1, signed: true }, int(0)), "i1 is not an integer type");
    rejects_value(Expr::Const(200, IntType::I8), "the constant 200 is not in the range of i8");
    rejects_value(
        Expr::unary(UnaryOp::Neg, IntType::I64, int(1)),
        "the operand of a negation has type i32 instead of i64",
    );
    let sum = |left, right| Expr::binary(BinaryOp::Add, IntType::I32, left, right);
    rejects_value(sum(pointer(1), int(1)), "the left operand of an operation has type u64");
    rejects_value(sum(int(1), pointer(1)), "the right operand of an operation has type u64");
    let choice = |c, a, b| Expr::IfThenElse(Box::new((c, a, b)));
    rejects_value(choice(int(1), int(1), int(2)), "the condition of a choice has type i32");
    rejects_value(
        choice(Expr::bool(true), int(1), pointer(2)),
        "the arms of a choice have types i32 and u64",
    );
    rejects_value(Expr::Valid(Box::new(int(1)), 4), "the address of a validity test has type i32");
    rejects_value(Expr::load(Place::pointee(int(1), IntType::I32)), "the address of a cell has type i32");
    rejects_op(Op::Assume(int(1)), "an assumed condition has type i32");
    rejects_op(
        Op::set(Lhs::Local(NUMBER), pointer(1)),
        "a value of type u64 is assigned to a left-hand side of type i32",
    );
    rejects_op(Op::Lock(LockKind::Spin, int(1)), "the address of a lock has type i32");
    rejects_op(Op::Unlock(LockKind::Spin, int(1)), "the address of a lock has type i32");
    rejects_op(Op::Join(int(1), None), "the thread to join has type i32");
    rejects_op(Op::Free(int(1)), "a freed address has type i32");
    rejects_op(Op::Fill(pointer(1), int(1), int(1)), "the size of a fill has type i32");
    rejects_op(Op::Copy(pointer(1), int(1), pointer(1)), "the address of a copy has type i32");
    let spawn = Op::Spawn(Callee::Procedure(MAIN), vec![], Some(Lhs::Local(NUMBER)));
    rejects_op(spawn, "the id of a thread has type u64 but goes to");
    rejects_op(Op::Spawn(Callee::Pointer(int(1)), vec![], None), "a pointer to a procedure has type i32");
    let mut program = with_ops(vec![Op::Free(pointer(1))]);
    program.data_model = DataModel::Ilp32;
    rejects(&program, "a freed address has type u64 instead of u32");
}

#[test]
fn operations() {
    let call = Op::Call(Callee::Procedure(HELPER), vec![int(1)], None);
    rejects(&with_ops(vec![call, Op::Assume(Expr::bool(true))]), "a call is not the last operation");
    let call = |arguments, result| Op::Call(Callee::Procedure(HELPER), arguments, result);
    rejects_op(call(vec![int(1)], Some(Lhs::Memory(x()))), "the result of a call goes to memory");
    rejects_op(call(vec![int(1)], Some(Lhs::Local(NUMBER))), "the result of helper is used, but it has none");
    rejects_op(call(vec![], None), "helper gets 0 arguments but has 1 parameters");
    rejects_op(Op::Spawn(Callee::Procedure(HELPER), vec![], None), "helper gets 0 arguments");
    let twice = |left: Lhs, right: Lhs| {
        Op::Assign(Assignment { pairs: vec![(left, Rhs::Any), (right, Rhs::Unknown)], constraint: None })
    };
    rejects_op(twice(Lhs::Local(NUMBER), Lhs::Local(NUMBER)), "sets the same cell twice");
    let byte = Place::cell(X, 3, IntType::U8);
    rejects_op(twice(Lhs::Memory(x()), Lhs::Memory(byte)), "sets the same cell twice");
    let old = |operand| Expr::Old(Box::new(operand));
    rejects_value(old(int(1)), "an old value outside of a constraint");
    let constraint =
        |e| Op::Assign(Assignment { pairs: vec![(Lhs::Local(NUMBER), Rhs::Any)], constraint: Some(e) });
    let less = |right| Expr::binary(BinaryOp::Lt, IntType::I32, Expr::Local(NUMBER), right);
    accepts(&with_ops(vec![constraint(less(old(Expr::Local(NUMBER))))]));
    rejects_op(constraint(less(old(old(int(1))))), "inside of another old value");
    rejects_op(constraint(int(1)), "the constraint of an assignment has type i32");
    let overflows = |op, ty: IntType| Expr::Overflows(op, ty, Box::new((Expr::int(1, ty), Expr::int(1, ty))));
    rejects_value(overflows(BinaryOp::Add, IntType::U32), "u32, which is unsigned");
    rejects_value(overflows(BinaryOp::Lt, IntType::I32), "the overflow of a comparison");
}

#[test]
fn memory() {
    let change = |change: &dyn Fn(&mut Object)| {
        let mut program = base();
        change(&mut program.objects[X]);
        program
    };
    rejects(&change(&|x| x.align = 3), "alignment 3 is no power of two");
    rejects(&change(&|x| x.align = 0), "alignment 0 is no power of two");
    rejects(&change(&|x| x.size = u64::MAX), "more than an object can have");
    rejects(&change(&|x| x.size = 2), "its layout takes 4 bytes but it has 2");
    rejects(&change(&|x| x.storage = Storage::Frame(TemplateId(9))), "belongs to template t9");
    let array =
        |count, stride| Layout::Array { element: Box::new(Layout::Scalar(IntType::I32)), count, stride };
    rejects(&change(&|x| x.layout = array(2, 4)), "its layout takes 8 bytes");
    rejects(&change(&|x| x.layout = array(2, 2)), "array elements of 4 bytes are 2 bytes apart");
    rejects(&change(&|x| x.layout = array(u64::MAX, 8)), "larger than any memory");
    accepts(&change(&|x| x.layout = array(0, 4)));
    let record = |second| {
        let layout = || Layout::Scalar(IntType::I16);
        let field = |name: &str, offset| Field { name: name.into(), offset, layout: layout() };
        Layout::Record(vec![field("b", second), field("a", 0)])
    };
    accepts(&change(&|x| x.layout = record(2)));
    rejects(&change(&|x| x.layout = record(1)), "members \"a\" and \"b\" overlap");
    rejects(&change(&|x| x.layout = record(4)), "its layout takes 6 bytes");
    rejects(&change(&|x| x.layout = Layout::Sync(SyncKind::Mutex)), "its layout takes 20 bytes");
    let initial =
        |offset, ty, value: Expr| change(&|x| x.initial = Initial::Values(vec![(offset, ty, value.clone())]));
    accepts(&initial(0, IntType::U32, Expr::cast(IntType::U32, Expr::Address(LOCK, 40))));
    rejects(&initial(2, IntType::I32, int(1)), "outside of its 4 bytes");
    rejects(&initial(u64::MAX, IntType::I32, int(1)), "outside of its 4 bytes");
    rejects(&initial(0, IntType::I32, Expr::Local(NUMBER)), "an initial value is not constant");
    rejects(&initial(0, IntType::I32, Expr::load(x())), "an initial value is not constant");
    rejects(&initial(0, IntType::I16, int(1)), "an initial value has type i32 instead of i16");
    rejects(
        &initial(0, IntType::U32, Expr::cast(IntType::U32, Expr::Address(FRAME, 0))),
        "cannot be named here",
    );
    rejects(
        &initial(0, IntType::U32, Expr::cast(IntType::U32, Expr::Address(TLS, 0))),
        "cannot be named here",
    );
    let mut program = base();
    program.objects[SITE].initial = Initial::Values(vec![(0, IntType::I32, int(1))]);
    rejects(&program, "an allocation site has initial values");
    rejects_value(Expr::Address(X, 5), "offset 5 is past the 4 bytes of x");
    rejects_value(Expr::Address(SITE, 0), "site is an allocation site and has no address");
    let mut program = base();
    program.templates[HELPER].edges[EdgeId(0)].ops = vec![Op::Free(Expr::Address(FRAME, 0))];
    rejects(&program, "frame cannot be named here");
    let allocate = |site| Op::Allocate { site, size: pointer(4), zeroed: true, result: Lhs::Local(POINTER) };
    rejects_op(allocate(X), "o0 is not an allocation site");
    rejects_op(allocate(ObjectId(9)), "allocation site o9 does not exist");
}

#[test]
fn control() {
    let kinds = [
        LocationKind::End,
        LocationKind::Exit,
        LocationKind::Halt,
        LocationKind::Error(ErrorKind::Assertion),
    ];
    for kind in kinds {
        let mut program = base();
        program.templates[MAIN].locations[LocationId(0)].kind = kind;
        rejects(&program, "location l0 has an outgoing edge, e0");
        rejects(&program, "the entry l0 is not a normal location");
    }
}

#[test]
fn depth() {
    let nested = |depth| {
        (1..depth).fold(Expr::Local(FLAG), |inner, _| Expr::unary(UnaryOp::Not, IntType::BOOL, inner))
    };
    accepts(&with_ops(vec![Op::Assume(nested(MAX_DEPTH))]));
    rejects_op(Op::Assume(nested(MAX_DEPTH + 1)), "an expression nests more than 500 deep");
    let mut program = base();
    let array = |element| Layout::Array { element: Box::new(element), count: 1, stride: 4 };
    program.objects[X].layout =
        (0..MAX_DEPTH).fold(Layout::Scalar(IntType::I32), |element, _| array(element));
    rejects(&program, "a layout nests more than 500 deep");
}
