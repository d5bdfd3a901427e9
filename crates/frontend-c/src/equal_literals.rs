//! Equal string literals, and suffixes of longer ones, may be one object or several (C11 6.4.5p7): the result
//! of comparing their addresses is not modelled.
//!
//! Literals with equal bytes are one object here. If two compared addresses may be in literals that may be
//! one object, by points-to sets, the comparison may have either result, and no execution with it is
//! evidence. Over-approximates.

use ir::passes::PointsTo;
use ir::{
    BinaryOp, Expr, IntType, Lhs, LocationId, LocationKind, ObjectId, Op, Program, Targets, TemplateId,
    Waiting,
};
use std::collections::{BTreeMap, BTreeSet};

/// The string literals of a program.
#[derive(Default)]
pub struct Literals {
    /// The bytes of each object, and those of an element.
    texts: BTreeMap<ObjectId, (Vec<u8>, u64)>,
    /// Where each was first written: the file and the expression.
    first: BTreeMap<ObjectId, (usize, usize)>,
    /// Those that occur in several places.
    repeated: BTreeSet<ObjectId>,
}

impl Literals {
    /// Records an occurrence of a literal.
    pub fn note(&mut self, object: ObjectId, bytes: &[u8], element: u64, place: (usize, usize)) {
        let known = *self.first.entry(object).or_insert(place);
        if known != place {
            self.repeated.insert(object);
        }
        self.texts.entry(object).or_insert_with(|| (bytes.to_vec(), element));
    }

    /// Whether two literals may be one object or several.
    pub fn may_share(&self, one: ObjectId, other: ObjectId) -> bool {
        if one == other {
            return self.repeated.contains(&one);
        }
        match (self.texts.get(&one), self.texts.get(&other)) {
            (Some((one, width)), Some((other, other_width))) => {
                width == other_width && (one.ends_with(other) || other.ends_with(one))
            }
            (_, _) => false,
        }
    }

    /// Whether there are any two such literals.
    fn any_may_share(&self) -> bool {
        let reversed = |text: &Vec<u8>| text.iter().rev().copied().collect::<Vec<u8>>();
        let sorted: BTreeSet<Vec<u8>> = self.texts.values().map(|(text, _)| reversed(text)).collect();
        let mut pairs = sorted.iter().zip(sorted.iter().skip(1));
        !self.repeated.is_empty() || pairs.any(|(one, next)| next.starts_with(one))
    }

    /// Those that an address may be in.
    fn within(&self, points_to: &PointsTo, template: TemplateId, address: &Expr) -> BTreeSet<ObjectId> {
        match points_to.targets(template, address) {
            Targets::Any => self.texts.keys().copied().collect(),
            Targets::Of(targets) => {
                let objects = targets.iter().map(|target| target.object);
                objects.filter(|object| self.texts.contains_key(object)).collect()
            }
        }
    }

    /// Whether a comparison may depend on which literals are one object.
    fn decide(&self, points_to: &PointsTo, template: TemplateId, left: &Expr, right: &Expr) -> bool {
        let left = self.within(points_to, template, left);
        if left.is_empty() {
            return false;
        }
        let right = self.within(points_to, template, right);
        left.iter().any(|one| right.iter().any(|other| self.may_share(*one, *other)))
    }
}

/// Whether an expression compares two addresses for equality, none of which is a constant.
fn compared(expr: &Expr, pointer: IntType) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, ty, operands) if ty.bits == pointer.bits => {
            let (left, right) = (&operands.0, &operands.1);
            let is_constant = |expr: &Expr| matches!(expr, Expr::Const(..));
            (!is_constant(left) && !is_constant(right)).then_some((left, right))
        }
        _ => None,
    }
}

/// Leaves the results of comparisons open that depend on which literals are one object. Uses the program's
/// points-to sets if they exist; they stay valid, since the result of a comparison contains no address.
pub fn leave_open(program: &mut Program, literals: &Literals, points_to: &mut Option<PointsTo>) {
    let pointer = program.data_model.pointer();
    let has_comparison = |op: &Op| {
        let mut found = false;
        for expr in op.expressions() {
            expr.walk(&mut |inner| found |= compared(inner, pointer).is_some());
        }
        found
    };
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    if !literals.any_may_share() || !ops.any(has_comparison) {
        return;
    }
    let points_to = &*points_to.get_or_insert_with(|| PointsTo::of(program));
    for template in program.templates.ids().collect::<Vec<_>>() {
        let mut sources: BTreeSet<LocationId> = BTreeSet::new();
        for edge in &program.templates[template].edges {
            for expr in edge.ops.iter().flat_map(Op::expressions) {
                expr.walk(&mut |inner| {
                    if compared(inner, pointer)
                        .is_some_and(|(left, right)| literals.decide(points_to, template, left, right))
                    {
                        sources.insert(edge.source);
                    }
                });
            }
        }
        for source in sources {
            open_comparisons(program, points_to, literals, (template, source));
        }
    }
}

/// Makes the comparisons on the edges of a location depend on a value that is not modelled.
fn open_comparisons(
    program: &mut Program,
    points_to: &PointsTo,
    literals: &Literals,
    (template, source): (TemplateId, LocationId),
) {
    let pointer = program.data_model.pointer();
    let code = &mut program.templates[template];
    let edges: Vec<_> =
        code.edges.enumerate().filter(|(_, edge)| edge.source == source).map(|(id, _)| id).collect();
    let span = edges.first().map(|edge| code.edges[*edge].span).unwrap_or_default();
    let other = code.local("%other result", IntType::BOOL, span);
    let next = code.location(LocationKind::Normal, code.locations[source].atomic);
    if let Waiting::For(object) = code.locations[source].waiting {
        code.locations[next].waiting = Waiting::For(object);
        code.locations[source].waiting = Waiting::Nothing;
    }
    for edge in edges {
        code.edges[edge].source = next;
        for expr in code.edges[edge].ops.iter_mut().flat_map(Op::expressions_mut) {
            expr.rewrite(&mut |inner| {
                // What was changed before inside of an operand is not asked about again.
                let names = |expr: &Expr| {
                    let mut found = false;
                    expr.walk(&mut |part| found |= *part == Expr::Local(other));
                    found
                };
                if compared(inner, pointer).is_some_and(|(left, right)| {
                    names(left) || names(right) || literals.decide(points_to, template, left, right)
                }) {
                    let own = std::mem::replace(inner, Expr::bool(false));
                    *inner = Expr::binary(BinaryOp::Ne, IntType::BOOL, own, Expr::Local(other));
                }
            });
        }
    }
    code.edge(source, next, vec![Op::unknown(Lhs::Local(other))], span);
}
