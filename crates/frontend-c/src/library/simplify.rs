//! What can be dropped from the models once all of a program is known. Everything is exact without it.
//!
//! 1. Programs that have normal mutexes only need not ask for a mutex's kind. Kinds come from the models
//!    (which save them in locals of one name), from initial values and from stores of constants; the latter
//!    two are found by what the kind word of a mutex could be, generously.
//! 2. Programs that do not look at `errno`, or ask whether threads were started, need not note it; those
//!    without cleanup handlers, and without destructors of thread-specific values, need not look for some
//!    at the end of a thread.
//! 3. Results that no one reads need not be set. This matters for results that are not modelled: an
//!    execution that chooses one is no evidence.

use super::mutex::{ERROR_CHECKING, KIND, NEW_KIND, RECURSIVE};
use ir::ids::Id;
use ir::semantics::mutex_kind_offset;
use ir::{
    BinaryOp, DataModel, Expr, IdVec, Initial, Lhs, LocalId, Object, ObjectId, ObjectRole, Op, Place,
    Program, Rhs, Template, UnaryOp, Value,
};

/// Drops questions that have one answer, and results that no one reads.
pub fn simplify(program: &mut Program) {
    drop_stores(program, |object| object.name == super::errno::NAME);
    super::signals::settle_handlers(program);
    drop_stores(program, |object| object.name == super::processes::STARTED);
    drop_stores(program, |object| object.name == super::lists::NAME);
    drop_stores(program, |object| object.role == ObjectRole::Given);
    super::given::drop_lists(program);
    drop_stores(program, |object| object.name == super::signals::HANDLERS);
    super::ending::settle(program);
    super::signals::settle(program);
    let kinds = Kinds::of(program);
    for template in program.templates.iter_mut() {
        if kinds.normal_only {
            answer_kinds(template);
        }
        drop_unread(template);
    }
}

/// Drops stores to an object of the models, if there is nothing else that names it.
fn drop_stores(program: &mut Program, is_it: impl Fn(&Object) -> bool) {
    let found = program.objects.enumerate().find(|(_, object)| is_it(object));
    let Some((id, _)) = found else { return };
    let is_store = |op: &Op| match op {
        Op::Assign(assignment) => matches!(
            assignment.pairs.as_slice(),
            [(Lhs::Memory(place), rhs)]
                if place.address == Expr::Address(id, 0) && reads_only(rhs, id)
        ),
        _ => false,
    };
    let names = |op: &Op| {
        let mut found = false;
        for expression in op.expressions() {
            expression.walk(&mut |inner| found |= matches!(inner, Expr::Address(object, _) if *object == id));
        }
        found
    };
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    if ops.any(|op| !is_store(op) && names(op)) {
        return;
    }
    for edge in program.templates.iter_mut().flat_map(|code| code.edges.iter_mut()) {
        edge.ops.retain(|op| !is_store(op));
    }
}

/// Whether a value is taken from locals and one object, and computing it does nothing.
fn reads_only(rhs: &Rhs, object: ObjectId) -> bool {
    match rhs {
        Rhs::Any | Rhs::Unknown => true,
        Rhs::Float(..) => false,
        Rhs::Value(value) => {
            let mut is_plain = true;
            value.walk(&mut |inner| {
                is_plain &= match inner {
                    Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) => true,
                    Expr::Myself | Expr::IfThenElse(_) | Expr::Cast(..) | Expr::Old(_) => true,
                    Expr::Load(place) => place.address == Expr::Address(object, 0),
                    Expr::Unary(..) | Expr::Binary(..) | Expr::Overflows(..) | Expr::Valid(..) => false,
                };
            });
            is_plain
        }
    }
}

/// Which kinds of mutexes there may be.
struct Kinds {
    normal_only: bool,
}

impl Kinds {
    fn of(program: &Program) -> Self {
        let in_objects = program.objects.iter().any(|object| may_hold_kind(program.data_model, object));
        let in_code = program.templates.iter().any(|template| {
            let mut ops = template.edges.iter().flat_map(|edge| &edge.ops);
            ops.any(|op| may_set_kind(program, template, op))
        });
        Self { normal_only: !in_objects && !in_code }
    }
}

fn is_special(value: Value) -> bool {
    value == RECURSIVE || value == ERROR_CHECKING
}

/// Whether an object may hold a mutex of another kind from the start: the kind word, and zeros before it.
fn may_hold_kind(model: DataModel, object: &Object) -> bool {
    let Initial::Values(values) = &object.initial else { return false };
    let kind_offset = mutex_kind_offset(model);
    let set: Vec<(u64, Value)> = values
        .iter()
        .filter_map(|(offset, _, value)| {
            // What is no plain number is some address: no kind, and not zero.
            let value = as_constant(value).unwrap_or(-1);
            (value != 0).then_some((*offset, value))
        })
        .collect();
    set.iter().any(|(offset, value)| {
        let Some(start) = offset.checked_sub(kind_offset) else { return false };
        is_special(*value) && !set.iter().any(|(other, _)| (start..*offset).contains(other))
    })
}

/// Whether an operation may give a mutex another kind.
fn may_set_kind(program: &Program, template: &Template, op: &Op) -> bool {
    let Op::Assign(assignment) = op else { return false };
    assignment.pairs.iter().any(|(lhs, rhs)| match (lhs, rhs) {
        (Lhs::Local(local), Rhs::Value(Expr::Const(kind, _))) => {
            template.locals[*local].name == NEW_KIND && is_special(*kind)
        }
        (Lhs::Local(local), _) => template.locals[*local].name == NEW_KIND,
        (Lhs::Memory(place), Rhs::Value(value)) => {
            as_constant(value).is_some_and(is_special) && may_be_kind_word(program, place)
        }
        (Lhs::Memory(_), Rhs::Any | Rhs::Unknown | Rhs::Float(..)) => false,
    })
}

/// Whether a cell may be the kind word of a mutex: a word that is far enough after the start of something.
fn may_be_kind_word(program: &Program, place: &Place) -> bool {
    fn constant_part(expr: &Expr) -> u64 {
        if let Some(value) = as_constant(expr) {
            return u64::try_from(value).unwrap_or(0);
        }
        if let Expr::Address(_, offset) = expr {
            return *offset;
        }
        if !matches!(expr, Expr::Binary(BinaryOp::Add, ..) | Expr::Cast(..)) {
            return 0;
        }
        expr.operands().into_iter().map(constant_part).fold(0, u64::saturating_add)
    }
    place.ty.bits == 32 && constant_part(&place.address) >= mutex_kind_offset(program.data_model)
}

/// Answers each question for a mutex's kind with "normal".
fn answer_kinds(template: &mut Template) {
    let kinds: Vec<LocalId> =
        template.locals.enumerate().filter(|(_, local)| local.name == KIND).map(|(id, _)| id).collect();
    if kinds.is_empty() {
        return;
    }
    let mut edges = IdVec::new();
    for mut edge in std::mem::take(&mut template.edges).iter().cloned() {
        let keep = match edge.ops.as_slice() {
            [Op::Assign(assignment)] if matches!(assignment.pairs.as_slice(), [(Lhs::Local(local), _)] if kinds.contains(local)) =>
            {
                edge.ops.clear();
                true
            }
            [Op::Assume(condition)] if mentions(condition, &kinds) => {
                match value_of_kind_test(condition, &kinds) {
                    Some(0) => false,
                    Some(_) => {
                        edge.ops.clear();
                        true
                    }
                    None => true,
                }
            }
            _ => true,
        };
        if keep {
            edges.push(edge);
        }
    }
    template.edges = edges;
}

/// The value of a number, perhaps in another type.
fn as_constant(expr: &Expr) -> Option<Value> {
    if let Expr::Cast(ty, operand) = expr {
        return as_constant(operand).map(|value| ty.wrap(value));
    }
    if let Expr::Const(value, _) = expr { Some(*value) } else { None }
}

fn mentions(expr: &Expr, kinds: &[LocalId]) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= matches!(inner, Expr::Local(local) if kinds.contains(local)));
    found
}

/// The value of a condition on a mutex's kind, where that is 0. It has the shape that the models give it.
fn value_of_kind_test(expr: &Expr, kinds: &[LocalId]) -> Option<Value> {
    if let Expr::Local(local) = expr {
        return kinds.contains(local).then_some(0);
    }
    if let Expr::Unary(UnaryOp::Not, ty, operand) = expr {
        return Some(ty.wrap(!value_of_kind_test(operand, kinds)?));
    }
    let Expr::Binary(op, ty, pair) = expr else { return as_constant(expr) };
    let (left, right) = (value_of_kind_test(&pair.0, kinds)?, value_of_kind_test(&pair.1, kinds)?);
    if op.is_comparison() {
        let holds = match op {
            BinaryOp::Eq => left == right,
            BinaryOp::Lt => left < right,
            _ => return None,
        };
        return Some(Value::from(holds));
    }
    (*op == BinaryOp::Sub).then(|| ty.wrap(left - right))
}

/// Drops assignments to locals that are never read, where computing the value does nothing.
fn drop_unread(template: &mut Template) {
    let mut read = vec![false; template.locals.len()];
    for local in template.result.iter().chain(&template.exit_value) {
        read[local.index()] = true;
    }
    let ops = template.edges.iter().flat_map(|edge| &edge.ops);
    for op in ops.filter(|op| op.as_unknown_number().is_none()) {
        for expression in op.expressions() {
            expression.walk(&mut |inner| {
                if let Expr::Local(local) = inner {
                    read[local.index()] = true;
                }
            });
        }
    }
    for edge in template.edges.iter_mut() {
        edge.ops.retain(|op| {
            if let Some(local) = op.as_unknown_number() {
                return read[local.index()];
            }
            let Op::Assign(assignment) = op else { return true };
            let ([(Lhs::Local(local), rhs)], None) = (assignment.pairs.as_slice(), &assignment.constraint)
            else {
                return true;
            };
            let idle = match rhs {
                Rhs::Any
                | Rhs::Unknown
                | Rhs::Float(..)
                | Rhs::Value(Expr::Const(..) | Expr::Local(_) | Expr::Address(..)) => true,
                Rhs::Value(_) => false,
            };
            read[local.index()] || !idle
        });
    }
}
