//! String literals, and variables that are declared constant, must not be written to (C11 6.4.5p7, 6.7.3p6).
//!
//! Before each write that may reach one, as points-to sets tell, control goes to an invalid access if it does, and goes on
//! only if it does not. Exact.

use ir::passes::PointsTo;
use ir::passes::sharing::base_object;
use ir::{
    BinaryOp, EdgeId, ErrorKind, Expr, IntType, Lhs, LocationKind, ObjectId, Op, Program, Targets,
    TemplateId, Value,
};
use std::collections::BTreeSet;

/// Checks the writes that may reach one of these objects.
pub fn protect(program: &mut Program, literals: &BTreeSet<ObjectId>) {
    if !program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops).any(|op| {
        written(op)
            .is_some_and(|address| base_object(address).is_none_or(|object| literals.contains(&object)))
    }) || !is_named(program, literals)
    {
        return;
    }
    let points_to = PointsTo::of(program);
    for id in program.templates.ids().collect::<Vec<_>>() {
        for edge in program.templates[id].edges.ids().collect::<Vec<_>>() {
            let reached = reached(program, &points_to, id, edge, literals);
            if !reached.is_empty() {
                check(program, id, edge, &reached);
            }
        }
    }
}

/// Whether code or first values speak of one of these objects.
fn is_named(program: &Program, literals: &BTreeSet<ObjectId>) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| {
        expr.walk(&mut |inner| {
            found |= matches!(inner, Expr::Address(object, _) if literals.contains(object))
        });
    };
    for object in &program.objects {
        if let ir::Initial::Values(values) = &object.initial {
            values.iter().for_each(|(_, _, value)| look(value));
        }
    }
    let ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    ops.flat_map(Op::expressions).for_each(look);
    found
}

/// The address that an operation writes to.
fn written(op: &Op) -> Option<&Expr> {
    match op {
        Op::Fill(to, ..) | Op::Copy(to, ..) => Some(to),
        _ => op.targets().into_iter().find_map(|lhs| match lhs {
            Lhs::Memory(place) => Some(&place.address),
            Lhs::Local(_) => None,
        }),
    }
}

/// The literals that an edge may write to.
fn reached(
    program: &Program,
    points_to: &PointsTo,
    template: TemplateId,
    edge: EdgeId,
    literals: &BTreeSet<ObjectId>,
) -> BTreeSet<ObjectId> {
    let [op] = program.templates[template].edges[edge].ops.as_slice() else { return BTreeSet::new() };
    let Some(address) = written(op) else { return BTreeSet::new() };
    match base_object(address) {
        Some(object) => literals.get(&object).copied().into_iter().collect(),
        None => match points_to.targets(template, address) {
            Targets::Any => literals.clone(),
            Targets::Of(targets) => {
                let objects = targets.iter().map(|target| target.object);
                objects.filter(|object| literals.contains(object)).collect()
            }
        },
    }
}

fn check(program: &mut Program, template: TemplateId, edge: EdgeId, literals: &BTreeSet<ObjectId>) {
    let ty = program.data_model.pointer();
    let sizes: Vec<(ObjectId, u64)> =
        literals.iter().map(|object| (*object, program.objects[*object].size)).collect();
    let code = &mut program.templates[template];
    let (source, span) = (code.edges[edge].source, code.edges[edge].span);
    let atomic = code.locations[source].atomic;
    let [op] = code.edges[edge].ops.as_slice() else { return };
    let Some(address) = written(op).cloned() else { return };
    let count = match op {
        Op::Fill(_, _, size) | Op::Copy(_, _, size) => Some(size.clone()),
        _ => None,
    };
    let saved = code.local("%to", ty, span);
    let (known, allowed) =
        (code.location(LocationKind::Normal, atomic), code.location(LocationKind::Normal, atomic));
    let bad = code.location(LocationKind::Error(ErrorKind::InvalidAccess), false);
    let hits = |(object, size): &(ObjectId, u64)| {
        let offset = Expr::binary(BinaryOp::Sub, ty, Expr::Local(saved), Expr::Address(*object, 0));
        Expr::binary(BinaryOp::Lt, ty, offset, Expr::int(Value::from(*size), ty))
    };
    let misses = sizes.iter().map(|literal| hits(literal).not()).reduce(Expr::and);
    let mut hit = misses.unwrap_or(Expr::bool(true)).not();
    if let Some(count) = count {
        let some = Expr::cast(IntType::BOOL, count);
        hit = Expr::IfThenElse(Box::new((some, hit, Expr::bool(false))));
    }
    code.edge(source, known, vec![Op::set(Lhs::Local(saved), address)], span);
    code.edge(known, bad, vec![Op::Assume(hit.clone())], span);
    code.edge(known, allowed, vec![Op::Assume(hit.not())], span);
    let step = &mut code.edges[edge];
    step.source = allowed;
    for op in &mut step.ops {
        match op {
            Op::Fill(to, ..) | Op::Copy(to, ..) => *to = Expr::Local(saved),
            _ => {
                if let Some(Lhs::Memory(place)) =
                    op.targets_mut().into_iter().find(|lhs| matches!(lhs, Lhs::Memory(_)))
                {
                    place.address = Expr::Local(saved);
                }
            }
        }
    }
}
