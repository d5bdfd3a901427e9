//! The order of a few static objects as an input.
//!
//! Where a program compares addresses in two or three static objects with `<` or `<=`, say to take locks in
//! one order, the comparison gets its result from variables that hold any order of these objects, and
//! always the same one. So proofs hold for all orders, and violations are found for each. Exact, given that
//! nothing else depends on the numbers of addresses: then each order is that of some places in memory.
//!
//! For three objects, `0 < 2` is given by `0 < 1` and `1 < 2` where these agree; all six orders are left,
//! and no other.

use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{ObjectId, TemplateId};
use crate::program::{Initial, Object, Program, Span, Storage};
use crate::types::{IntType, Layout};
use indexmap::IndexMap;

/// How an address may be in some static objects: where in each of them, if that is one of a few offsets.
pub(super) type Whereabouts = Vec<(ObjectId, Option<Vec<u64>>)>;

/// A comparison of addresses in different static objects.
pub(super) struct Comparison {
    pub(super) template: TemplateId,
    /// [`BinaryOp::Lt`] or [`BinaryOp::Le`].
    pub(super) expr: Expr,
    pub(super) operands: [Whereabouts; 2],
    pub(super) span: Span,
}

/// Objects whose order is one input.
const MOST_OBJECTS: usize = 3;

/// Gives comparisons their result from new variables; says whether that is done for all of them. If not,
/// nothing is.
pub(super) fn settle(program: &mut Program, comparisons: &[Comparison]) -> bool {
    let mut groups: Vec<Vec<ObjectId>> = Vec::new();
    for comparison in comparisons {
        let mut all: Vec<ObjectId> =
            comparison.operands.iter().flatten().map(|(object, _)| *object).collect();
        groups.retain(|group| {
            let joins = group.iter().any(|object| all.contains(object));
            if joins {
                all.extend(group);
            }
            !joins
        });
        all.sort_unstable();
        all.dedup();
        groups.push(all);
    }
    if groups.iter().any(|group| group.len() > MOST_OBJECTS) {
        return false;
    }
    let mut orders: IndexMap<ObjectId, Order> = IndexMap::new();
    for group in groups {
        let order = Order::new(program, group);
        for object in order.objects.clone() {
            orders.insert(object, order.clone());
        }
    }
    for comparison in comparisons {
        let first = comparison.operands[0].first().and_then(|(object, _)| orders.get(object));
        let Some(order) = first else { return false };
        let settled = order.settled(program, comparison);
        for edge in program.templates[comparison.template].edges.iter_mut() {
            for expr in edge.ops.iter_mut().flat_map(crate::Op::expressions_mut) {
                expr.rewrite(&mut |inner| {
                    if *inner == comparison.expr {
                        *inner = settled.clone();
                    }
                });
            }
        }
    }
    true
}

/// Some objects, and the variables that hold their order: for two of them whether the first comes first.
#[derive(Clone)]
struct Order {
    objects: Vec<ObjectId>,
    variables: Vec<((usize, usize), ObjectId)>,
}

impl Order {
    fn new(program: &mut Program, objects: Vec<ObjectId>) -> Self {
        let mut variables = Vec::new();
        for first in 0..objects.len() {
            for second in first + 1..objects.len() {
                let [one, other] = [first, second].map(|index| program.objects[objects[index]].name.clone());
                let variable = program.objects.push(Object {
                    name: format!("&{one} < &{other}"),
                    storage: Storage::Static,
                    size: 1,
                    align: 1,
                    layout: Layout::Scalar(IntType::BOOL),
                    initial: Initial::Unknown,
                    span: Span::default(),
                    role: crate::program::ObjectRole::AddressOrder,
                });
                variables.push(((first, second), variable));
            }
        }
        Self { objects, variables }
    }

    fn variable(&self, first: usize, second: usize) -> Expr {
        let found = self.variables.iter().find(|(pair, _)| *pair == (first, second));
        found.map_or(Expr::bool(true), |(_, object)| Expr::load(Place::cell(*object, 0, IntType::BOOL)))
    }
    /// Whether an object comes before another one.
    fn is_before(&self, first: usize, second: usize) -> Expr {
        match (first, second) {
            (first, second) if first > second => self.is_before(second, first).not(),
            (0, 2) => {
                let [one, other] = [self.variable(0, 1), self.variable(1, 2)];
                let agree = Expr::binary(BinaryOp::Eq, IntType::BOOL, one.clone(), other);
                Expr::IfThenElse(Box::new((agree, one, self.variable(0, 2))))
            }
            (first, second) => self.variable(first, second),
        }
    }

    /// The comparison, with the order of different objects from the variables.
    fn settled(&self, program: &Program, comparison: &Comparison) -> Expr {
        let Expr::Binary(_, _, operands) = &comparison.expr else { return comparison.expr.clone() };
        let mut result = comparison.expr.clone();
        for (left, offsets) in &comparison.operands[0] {
            for (right, others) in &comparison.operands[1] {
                let index = |object: &ObjectId| self.objects.iter().position(|other| other == object);
                let (Some(first), Some(second)) = (index(left), index(right)) else { continue };
                if first != second {
                    let here = is_in(program, &operands.0, *left, offsets.as_deref());
                    let there = is_in(program, &operands.1, *right, others.as_deref());
                    let order = self.is_before(first, second);
                    result = Expr::IfThenElse(Box::new((here.and(there), order, result)));
                }
            }
        }
        result
    }
}

/// Whether an address is in an object, or just after it.
fn is_in(program: &Program, address: &Expr, object: ObjectId, offsets: Option<&[u64]>) -> Expr {
    let pointer = program.data_model.pointer();
    let or = |one: Expr, other: Expr| Expr::binary(BinaryOp::Or, IntType::BOOL, one, other);
    let at =
        |offset: &u64| Expr::binary(BinaryOp::Eq, pointer, address.clone(), Expr::Address(object, *offset));
    match offsets {
        Some(offsets) => offsets.iter().map(at).reduce(or).unwrap_or(Expr::bool(false)),
        None => {
            let distance = Expr::binary(BinaryOp::Sub, pointer, address.clone(), Expr::Address(object, 0));
            let size = Expr::int(program.objects[object].size.into(), pointer);
            Expr::binary(BinaryOp::Le, pointer, distance, size)
        }
    }
}
