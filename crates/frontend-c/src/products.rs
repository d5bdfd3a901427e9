//! Says where an address is moved by a product that may wrap around.
//!
//! Unsigned products wrap around, by definition, but what is known of how far pointers move takes a product
//! by a constant to be a multiple of that constant (assumption 14). For indices of arrays that is so, as
//! their product with the size of an element is one without bounds. Where the program itself multiplies, it
//! need not be: then nothing is proved. Powers of two divide the product in any case.

use ir::{Assumption, BinaryOp, Expr, IntType, Lhs, LocalId, Op, Program, Rhs, Span, Template};
use std::collections::BTreeSet;

/// The assumption.
pub const TEXT: &str = "an address is moved by an unsigned product here, which is taken not to wrap around";

/// Notes each line in which an address is moved by a local that has such a product. Where the product stands
/// in the expression itself, it was noted when that was read.
pub fn note(program: &mut Program) {
    let pointer = program.data_model.pointer();
    let mut spans: BTreeSet<Span> = BTreeSet::new();
    for code in &program.templates {
        let products = locals(code, pointer);
        for edge in &code.edges {
            let exprs = edge.ops.iter().flat_map(Op::expressions);
            if exprs.into_iter().any(|expr| is_moved(expr, pointer, &products)) {
                spans.insert(edge.span);
            }
        }
    }
    for span in spans {
        let assumption = Assumption { text: TEXT.to_owned(), span, limits_proof: true };
        if !program.assumptions.contains(&assumption) {
            program.assumptions.push(assumption);
        }
    }
}

/// The locals that hold such products, or what is computed from them.
fn locals(code: &Template, pointer: IntType) -> BTreeSet<LocalId> {
    let mut found: BTreeSet<LocalId> = BTreeSet::new();
    loop {
        let before = found.len();
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            let Op::Assign(assignment) = op else { continue };
            for (lhs, rhs) in &assignment.pairs {
                if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs)
                    && !has_address(value)
                    && is_product(value, pointer, &found)
                {
                    found.insert(*local);
                }
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn any(expr: &Expr, is_it: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= is_it(inner));
    found
}

fn has_address(expr: &Expr) -> bool {
    any(expr, &|inner| matches!(inner, Expr::Address(..)))
}

/// Whether a number has such a product in it, or is computed from one of these locals.
pub fn is_product(expr: &Expr, pointer: IntType, locals: &BTreeSet<LocalId>) -> bool {
    any(expr, &|inner| match inner {
        Expr::Local(local) => locals.contains(local),
        Expr::Binary(BinaryOp::Mul, ty, pair) if !ty.signed && ty.bits >= pointer.bits => match &**pair {
            (Expr::Const(..), Expr::Const(..)) => false,
            (Expr::Const(by, _), _) | (_, Expr::Const(by, _)) => !by.unsigned_abs().is_power_of_two(),
            _ => false,
        },
        _ => false,
    })
}

/// Whether an address in an expression is moved by such a product. What an index is multiplied by is none.
fn is_moved(expr: &Expr, pointer: IntType, locals: &BTreeSet<LocalId>) -> bool {
    any(expr, &|inner| {
        let Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ty, pair) = inner else { return false };
        let Expr::Cast(_, distance) = &pair.1 else { return false };
        let index = match &**distance {
            Expr::Binary(BinaryOp::Mul, _, scaled) if matches!(scaled.1, Expr::Const(..)) => &scaled.0,
            other => other,
        };
        ty.bits == pointer.bits && is_product(index, pointer, locals)
    })
}
