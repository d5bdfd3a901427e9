//! String literals, and variables that are declared constant, must not be written to (C11 6.4.5p7, 6.7.3p6).
//!
//! Before each write that may reach such an object, by points-to sets, a check is added: control goes to an
//! invalid access if it does, and continues if it does not. If many objects may be reached, the check calls a
//! procedure, which exists once for the whole program: large programs have thousands of literals, and as many
//! writes that may reach most of them. Exact.
//!
//! Memory that is mapped to be read only is not compared with: an execution that may write to it is no
//! evidence, and nothing is proved.

use ir::passes::PointsTo;
use ir::passes::sharing::base_object;
use ir::{
    Assignment, BinaryOp, Callee, Edge, EdgeId, ErrorKind, Expr, IdVec, IntType, Lhs, LocalId, LocationId,
    LocationKind, ObjectId, ObjectRole, Op, Program, Rhs, Span, Targets, Template, TemplateId, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Up to this many literals are compared directly at the write.
const FEW: usize = 8;
/// The procedure that says whether an address is in a literal or in a variable that is declared constant.
const ASKED: &str = "(is a constant)";

/// Checks the writes that may reach one of these objects. Uses the program's points-to sets if they exist;
/// they stay valid, since a check does not propagate addresses.
pub fn protect(program: &mut Program, literals: &BTreeSet<ObjectId>, points_to: &mut Option<PointsTo>) {
    let exposed = exposed(program, literals, points_to);
    add_checks(program, literals, points_to);
    for literal in literals.difference(&exposed) {
        program.objects[*literal].role = ObjectRole::Constant;
    }
}

/// The literals that may be written to by operations that no check is made for: beside another one on an
/// edge, or to a second place.
fn exposed(
    program: &Program,
    literals: &BTreeSet<ObjectId>,
    points_to: &mut Option<PointsTo>,
) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    for (id, code) in program.templates.enumerate() {
        for edge in &code.edges {
            let is_checked = is_checked(code, edge);
            let addresses = edge.ops.iter().flat_map(all_written).skip(usize::from(is_checked));
            for address in addresses {
                let points_to = points_to.get_or_insert_with(|| PointsTo::of(program));
                found.extend(literals_at(points_to, id, address, literals));
            }
        }
    }
    found
}

fn add_checks(program: &mut Program, literals: &BTreeSet<ObjectId>, points_to: &mut Option<PointsTo>) {
    if !program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops).any(|op| {
        written(op)
            .is_some_and(|address| base_object(address).is_none_or(|object| literals.contains(&object)))
    }) || !is_named(program, literals)
    {
        return;
    }
    let points_to = &*points_to.get_or_insert_with(|| PointsTo::of(program));
    let mut asked: BTreeMap<bool, TemplateId> = BTreeMap::new();
    for id in program.templates.ids().collect::<Vec<_>>() {
        for edge in program.templates[id].edges.ids().collect::<Vec<_>>() {
            let reached = reached(program, points_to, id, edge, literals);
            if reached.is_empty() {
                continue;
            }
            let ask = (reached.len() > FEW).then(|| {
                let code = &program.templates[id];
                let atomic = code.locations[code.edges[edge].source].atomic;
                *asked.entry(atomic).or_insert_with(|| procedure(program, literals, atomic))
            });
            check(program, id, edge, &reached, ask);
        }
    }
}

/// Makes each execution that may have written to one of these objects one that proves no violation; says
/// whether there is a write that may reach one.
pub fn doubt_writes(
    program: &mut Program,
    objects: &BTreeSet<ObjectId>,
    points_to: &mut Option<PointsTo>,
) -> bool {
    let mut is_reached = false;
    for id in program.templates.ids().collect::<Vec<_>>() {
        for edge in program.templates[id].edges.ids().collect::<Vec<_>>() {
            let ops = program.templates[id].edges[edge].ops.clone();
            let may_hit = |address: &Expr| {
                let points_to = points_to.get_or_insert_with(|| PointsTo::of(program));
                !literals_at(points_to, id, address, objects).is_empty()
            };
            if !ops.iter().flat_map(all_written).any(may_hit) {
                continue;
            }
            is_reached = true;
            let code = &mut program.templates[id];
            let (source, span) = (code.edges[edge].source, code.edges[edge].span);
            let doubted = code.location(LocationKind::Normal, code.locations[source].atomic);
            let doubt = code.local("%doubt", IntType::BOOL, span);
            let pairs = vec![(Lhs::Local(doubt), Rhs::Unknown)];
            let op = Op::Assign(Assignment { pairs, constraint: Some(Expr::Local(doubt)) });
            code.edge(source, doubted, vec![op], span);
            code.edges[edge].source = doubted;
        }
    }
    is_reached
}

/// Whether the address in a local is in one of these objects.
fn hits(program: &Program, literals: &BTreeSet<ObjectId>, address: LocalId) -> Expr {
    let ty = program.data_model.pointer();
    let misses = literals.iter().map(|object| {
        let offset = Expr::binary(BinaryOp::Sub, ty, Expr::Local(address), Expr::Address(*object, 0));
        let size = Value::from(program.objects[*object].size);
        Expr::binary(BinaryOp::Lt, ty, offset, Expr::int(size, ty)).not()
    });
    // As a balanced tree: deeply nested expressions are refused.
    let mut misses: Vec<Expr> = misses.collect();
    while misses.len() > 1 {
        let pairs = misses.chunks(2).map(|pair| pair.iter().cloned().reduce(Expr::and));
        misses = pairs.flatten().collect();
    }
    misses.pop().unwrap_or(Expr::bool(true)).not()
}

/// Adds a procedure that says whether an address is in one of these objects: one comparison after the other.
fn procedure(program: &mut Program, literals: &BTreeSet<ObjectId>, atomic: bool) -> TemplateId {
    let (ty, span) = (program.data_model.pointer(), Span::default());
    let mut code = Template {
        name: ASKED.to_owned(),
        role: ir::TemplateRole::Function,
        locals: IdVec::default(),
        parameters: 1,
        result: None,
        exit_value: None,
        locations: IdVec::default(),
        edges: IdVec::default(),
        entry: LocationId(0),
        span,
    };
    let address = code.local("%to", ty, span);
    let result = code.local("%hit", IntType::BOOL, span);
    code.result = Some(result);
    code.entry = code.location(LocationKind::Normal, atomic);
    let end = code.location(LocationKind::End, atomic);
    let value = hits(program, literals, address);
    code.edge(code.entry, end, vec![Op::set(Lhs::Local(result), value)], span);
    program.templates.push(code)
}

/// Whether code or initial values mention one of these objects.
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

/// Whether a check is made for an edge that may write to a literal. Operations on locks keep their address,
/// so it must not depend on memory. Where a thread may also go elsewhere instead of waiting for a lock, it
/// must not choose before it knows that the lock is free; giving one back is possible at any time.
fn is_checked(code: &Template, edge: &Edge) -> bool {
    let has_load = |address: &Expr| {
        let mut found = false;
        address.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
        found
    };
    match edge.ops.as_slice() {
        [Op::Unlock(_, address)] => !has_load(address),
        [Op::Lock(_, address)] => {
            let is_alone = code.edges.iter().filter(|other| other.source == edge.source).count() == 1;
            !has_load(address) && is_alone
        }
        [_] => true,
        _ => false,
    }
}

/// The address that an operation writes to; the first one, if there are several.
fn written(op: &Op) -> Option<&Expr> {
    all_written(op).into_iter().next()
}

/// The addresses that an operation writes to.
fn all_written(op: &Op) -> Vec<&Expr> {
    match op {
        Op::Fill(to, ..) | Op::Copy(to, ..) | Op::Lock(_, to) | Op::Unlock(_, to) => vec![to],
        _ => {
            let addresses = op.targets().into_iter().filter_map(|lhs| match lhs {
                Lhs::Memory(place) => Some(&place.address),
                Lhs::Local(_) => None,
            });
            addresses.collect()
        }
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
    let code = &program.templates[template];
    let [op] = code.edges[edge].ops.as_slice() else { return BTreeSet::new() };
    let Some(address) = written(op) else { return BTreeSet::new() };
    let found = literals_at(points_to, template, address, literals);
    if found.is_empty() || is_checked(code, &code.edges[edge]) { found } else { BTreeSet::new() }
}

/// The literals that an address may be in.
fn literals_at(
    points_to: &PointsTo,
    template: TemplateId,
    address: &Expr,
    literals: &BTreeSet<ObjectId>,
) -> BTreeSet<ObjectId> {
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

fn check(
    program: &mut Program,
    template: TemplateId,
    edge: EdgeId,
    literals: &BTreeSet<ObjectId>,
    ask: Option<TemplateId>,
) {
    let ty = program.data_model.pointer();
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
    let mut known = code.location(LocationKind::Normal, atomic);
    let allowed = code.location(LocationKind::Normal, atomic);
    let bad = code.location(LocationKind::Error(ErrorKind::InvalidAccess), false);
    code.edge(source, known, vec![Op::set(Lhs::Local(saved), address)], span);
    let mut hit = match ask {
        None => hits(program, literals, saved),
        Some(procedure) => {
            let hit = code.local("%hit", IntType::BOOL, span);
            let answered = code.location(LocationKind::Normal, atomic);
            let call =
                Op::Call(Callee::Procedure(procedure), vec![Expr::Local(saved)], Some(Lhs::Local(hit)));
            code.edge(known, answered, vec![call], span);
            known = answered;
            Expr::Local(hit)
        }
    };
    if let Some(count) = count {
        let some = Expr::cast(IntType::BOOL, count);
        hit = Expr::IfThenElse(Box::new((some, hit, Expr::bool(false))));
    }
    let code = &mut program.templates[template];
    code.edge(known, bad, vec![Op::Assume(hit.clone())], span);
    code.edge(known, allowed, vec![Op::Assume(hit.not())], span);
    let step = &mut code.edges[edge];
    step.source = allowed;
    for op in &mut step.ops {
        match op {
            Op::Fill(to, ..) | Op::Copy(to, ..) => *to = Expr::Local(saved),
            Op::Lock(..) | Op::Unlock(..) => {}
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
