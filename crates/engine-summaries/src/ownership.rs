//! Which uses of a local make the object that it points to known to others.

use crate::model::Model;
use ir::passes::PointsTo;
use ir::{
    BinaryOp, EdgeId, Expr, IdVec, IntType, LocalId, ObjectId, Op, Program, Storage, Targets, TemplateId,
};

/// The allocation sites whose addresses are compared with those of allocated memory, in a program that may
/// compare freed addresses. Only there it can tell whether a new object has the address of one that was
/// freed. Over-approximates.
pub fn compared(program: &Program, points_to: &PointsTo) -> IdVec<ObjectId, bool> {
    let mut found: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
    if !program.reuses_addresses {
        return found;
    }
    let width = program.data_model.pointer().bits;
    let is_site = |object: &ObjectId| program.objects[*object].storage == Storage::Site;
    let sites = |template: TemplateId, operand: &Expr| -> Vec<ObjectId> {
        match points_to.targets(template, operand) {
            Targets::Of(targets) => targets.iter().map(|target| target.object).filter(is_site).collect(),
            Targets::Any => program.objects.ids().filter(is_site).collect(),
        }
    };
    for (template, code) in program.templates.enumerate() {
        let outgoing = code.outgoing();
        let compares = code.edges.iter().flat_map(|edge| edge.ops.iter().map(move |op| (edge, op)));
        for (edge, expr) in
            compares.flat_map(|(edge, op)| op.expressions().into_iter().map(move |e| (edge, e)))
        {
            // An old copy of an address that is accessed next in any case tells nothing: that is undefined.
            let is_copied = |pair: &(Expr, Expr)| {
                let next = &outgoing[edge.target];
                let is_copy = |next: &EdgeId| match code.edges[*next].ops.first() {
                    Some(Op::Copy(to, from, Expr::Const(1.., _))) => {
                        (*to == pair.0 && *from == pair.1) || (*to == pair.1 && *from == pair.0)
                    }
                    Some(_) | None => false,
                };
                matches!(edge.ops[..], [Op::Assume(_)]) && !next.is_empty() && next.iter().all(is_copy)
            };
            expr.walk(&mut |inner| {
                let Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, ty, pair) = inner else { return };
                // What is narrower shows digits.
                if is_copied(pair)
                    || ty.bits < width
                    || matches!(pair.0, Expr::Const(..))
                    || matches!(pair.1, Expr::Const(..))
                {
                    return;
                }
                let (one, other) = (sites(template, &pair.0), sites(template, &pair.1));
                let has_site = |sites: &[ObjectId], operand: &Expr| {
                    let is_foreign = || {
                        points_to.may_be_input(template, operand) || points_to.may_be_part(template, operand)
                    };
                    !sites.is_empty() || (program.foreign_numbers && is_foreign())
                };
                if has_site(&one, &pair.0) && has_site(&other, &pair.1) {
                    one.into_iter().chain(other).for_each(|site| found[site] = true);
                }
            });
        }
    }
    found
}

/// The local that an address is computed from by additions, if it is among some. What is added holds no
/// addresses, so the sum stays in the object.
pub fn base(model: &Model<'_>, template: TemplateId, address: &Expr, listed: &[LocalId]) -> Option<LocalId> {
    if listed.is_empty() {
        return None;
    }
    let pointer = model.program.data_model.pointer();
    let base = |expr: &Expr| base(model, template, expr, listed);
    let is_number = |expr: &Expr| match expr {
        Expr::Const(..) => true,
        _ => match model.points_to.targets(template, expr) {
            Targets::Of(targets) => targets.is_empty(),
            Targets::Any => false,
        },
    };
    match address {
        Expr::Local(local) => listed.binary_search(local).is_ok().then_some(*local),
        Expr::Cast(ty, operand) if ty.bits == pointer.bits => {
            let is_wide = model.program.type_of(template, operand).bits == pointer.bits;
            if is_wide { base(operand) } else { None }
        }
        Expr::Binary(BinaryOp::Add, ty, pair) if ty.bits == pointer.bits => {
            let left = base(&pair.0).filter(|_| is_number(&pair.1));
            left.or_else(|| base(&pair.1).filter(|_| is_number(&pair.0)))
        }
        Expr::Binary(BinaryOp::Sub, ty, pair) if ty.bits == pointer.bits => {
            base(&pair.0).filter(|_| is_number(&pair.1))
        }
        Expr::Const(..) | Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
        Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => None,
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
    }
}

/// The listed locals whose value may be part of an expression's value. What is compared, and what an
/// address is computed from that memory is read at, is not.
pub fn leaked(expr: &Expr, listed: &[LocalId], found: &mut Vec<LocalId>) {
    match expr {
        Expr::Local(local) => {
            if listed.binary_search(local).is_ok() {
                found.push(*local);
            }
        }
        Expr::Load(_) | Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Cast(IntType::BOOL, _) => {}
        Expr::Binary(op, ty, _) if op.is_comparison() || *ty == IntType::BOOL => {}
        Expr::Unary(_, IntType::BOOL, _) => {}
        Expr::IfThenElse(three) => {
            leaked(&three.1, listed, found);
            leaked(&three.2, listed, found);
        }
        Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::Old(_) => {
            expr.operands().into_iter().for_each(|operand| leaked(operand, listed, found));
        }
    }
}

/// Whether an expression's value is null, or an address into the object of a single listed local, with no
/// other listed local in it.
pub fn is_owned(model: &Model<'_>, template: TemplateId, expr: &Expr, listed: &[LocalId]) -> bool {
    if is_null(expr) {
        return true;
    }
    let Some(base) = base(model, template, expr, listed) else { return false };
    let mut found = Vec::new();
    leaked(expr, listed, &mut found);
    found == [base]
}

/// Whether an expression is the constant 0.
pub fn is_null(expr: &Expr) -> bool {
    match expr {
        Expr::Const(value, _) => *value == 0,
        Expr::Cast(_, operand) => is_null(operand),
        Expr::Local(_) | Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => false,
        Expr::Unary(..) | Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) => false,
        Expr::Valid(..) | Expr::Old(_) => false,
    }
}
