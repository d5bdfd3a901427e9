//! Numbers from outside that are used as addresses, in large programs that are not proved anyway.
//!
//! An input may be any number, so one that a branch compares with an address may be that address
//! ([`points_to`](super::points_to), rule 2). In a large program most such comparisons are of lengths and
//! counters, in memory that holds addresses elsewhere; then inputs become the address of nearly everything,
//! wherever such memory is used as a pointer.
//!
//! Where some assumption limits proofs already, no proof is lost by one more. So in programs of so many steps
//! that searches see little of them, [`note`] lets inputs be foreign ([`Program::foreign_inputs`]). Then an
//! input is an address of the program only if the constraint of its assignment compares it with one, as
//! addresses are compared: so the models of library functions that give back addresses say it. If an address
//! that is followed may have come from an input, that is noted as an assumption that limits proofs; listings
//! hold under it. If there is none, nothing is assumed: whether an input is an address shows only where it is
//! followed.

use super::PointsTo;
use crate::expr::Expr;
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::program::{Assumption, Program, Span};
use std::collections::BTreeSet;

/// What is taken for granted where inputs are foreign.
pub const FOREIGN: &str = "an address is followed that may have come from outside as a number: then it is taken to be none of the program's own";

/// From this many steps on, a program is large. In others, searches try the addresses that inputs are
/// compared with.
pub(super) const LARGE: usize = 1000;

/// Lets inputs be foreign in a large program with an assumption that limits proofs, and notes what that
/// assumes.
pub fn note(program: &mut Program) {
    let steps: usize = program.templates.iter().map(|code| code.edges.len()).sum();
    if steps >= LARGE && program.limiting_assumption().is_some() && has_inputs(program) {
        let_be_foreign(program);
    }
}

/// Lets inputs be foreign, and notes where they may be followed.
pub(super) fn let_be_foreign(program: &mut Program) {
    program.foreign_inputs = true;
    let points_to = PointsTo::of(program);
    let mut lines: BTreeSet<Span> = BTreeSet::new();
    for (id, code) in program.templates.enumerate() {
        for edge in &code.edges {
            let mut followed = edge.ops.iter().flat_map(addresses);
            if followed.any(|address| points_to.may_be_input(id, address)) {
                lines.insert(Span { column: 0, ..edge.span });
            }
        }
    }
    let Some(span) = lines.first().copied() else { return };
    let text = match lines.len() - 1 {
        0 => format!("here {FOREIGN}"),
        1 => format!("here, and in one other line, {FOREIGN}"),
        others => format!("here, and in {others} other lines, {FOREIGN}"),
    };
    program.assumptions.push(Assumption { text, span, limits_proof: true });
}

/// Whether some input is as wide as an address.
fn has_inputs(program: &Program) -> bool {
    let width = program.data_model.pointer().bits;
    let is_wide = |code: &crate::Template, lhs: &Lhs| match lhs {
        Lhs::Local(local) => code.locals[*local].ty.bits >= width,
        Lhs::Memory(place) => place.ty.bits >= width,
    };
    program.templates.iter().any(|code| {
        code.edges.iter().flat_map(|edge| &edge.ops).any(|op| match op {
            Op::Assign(assignment) => {
                assignment.pairs.iter().any(|(lhs, rhs)| is_open(rhs) && is_wide(code, lhs))
            }
            _ => false,
        })
    })
}

fn is_open(rhs: &Rhs) -> bool {
    matches!(rhs, Rhs::Any | Rhs::Unknown)
}

/// The addresses that an operation follows: of accesses, of locks, of calls.
fn addresses(op: &Op) -> Vec<&Expr> {
    let mut found = Vec::new();
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                found.push(&place.address);
            }
        });
    }
    found.extend(op.targets().into_iter().filter_map(|lhs| match lhs {
        Lhs::Memory(place) => Some(&place.address),
        Lhs::Local(_) => None,
    }));
    match op {
        Op::Lock(_, address) | Op::Unlock(_, address) | Op::Free(address) | Op::Fill(address, ..) => {
            found.push(address);
        }
        Op::Copy(to, from, _) => found.extend([to, from]),
        Op::Call(Callee::Pointer(pointer), ..) | Op::Spawn(Callee::Pointer(pointer), ..) => {
            found.push(pointer);
        }
        Op::Call(Callee::Procedure(_), ..) | Op::Spawn(Callee::Procedure(_), ..) => {}
        Op::Assume(_) | Op::Assign(_) | Op::Join(..) | Op::Allocate { .. } | Op::Broadcast(_) => {}
    }
    found
}
