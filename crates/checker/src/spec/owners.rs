//! Checks that a specification compares ids of threads only with each other and with 0. Then their values do
//! not matter, and abstract threads may have other ids than threads.

use crate::ProofError;
use crate::ready::claim;
use ir::specification::Specification;
use ir::{BinaryOp, Expr, IntType, ObjectId};
use std::collections::BTreeSet;

type Cells = BTreeSet<(ObjectId, u64)>;

/// The cell that an expression reads, before or after a step.
fn cell(expr: &Expr) -> Option<(ObjectId, u64)> {
    match expr {
        Expr::Load(place) => place.as_cell(),
        Expr::Old(operand) => cell(operand),
        _ => None,
    }
}

fn is_me(expr: &Expr) -> bool {
    matches!(expr, Expr::Cast(IntType::U32, operand) if **operand == Expr::Myself)
}

/// The operands of a comparison of ids.
fn compared(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, IntType::U32, pair) => Some((&pair.0, &pair.1)),
        _ => None,
    }
}

pub(super) fn check(specification: &Specification) -> Result<(), ProofError> {
    if !specification.names_threads() {
        return Ok(());
    }
    let of_threads = specification.threads.iter().flat_map(|thread| {
        let states = thread.states.iter().flat_map(|state| &state.assertion);
        states.chain(thread.transitions.iter().flat_map(|transition| &transition.condition))
    });
    let all: Vec<&Expr> = of_threads.chain(specification.start.iter().flatten()).collect();
    let mut owners = Cells::new();
    loop {
        let mut more = Cells::new();
        for expr in &all {
            expr.walk(&mut |inner| {
                let Some((left, right)) = compared(inner) else { return };
                let is_id =
                    |side: &Expr| is_me(side) || cell(side).is_some_and(|cell| owners.contains(&cell));
                if is_id(left) || is_id(right) {
                    more.extend(cell(left).into_iter().chain(cell(right)));
                }
            });
        }
        let before = owners.len();
        owners.extend(more);
        if owners.len() == before {
            break;
        }
    }
    claim(all.iter().all(|expr| is_right(expr, &owners)), "ids of threads are only compared")
}

/// Whether ids are only compared.
fn is_right(expr: &Expr, owners: &Cells) -> bool {
    let is_id = |side: &Expr| is_me(side) || cell(side).is_some_and(|cell| owners.contains(&cell));
    if let Some((left, right)) = compared(expr)
        && (is_id(left) || is_id(right))
    {
        let fits = |side: &Expr| is_id(side) || matches!(side, Expr::Const(0, _));
        return fits(left) && fits(right);
    }
    *expr != Expr::Myself
        && !is_id(expr)
        && expr.operands().into_iter().all(|operand| is_right(operand, owners))
}
