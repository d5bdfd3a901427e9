//! Parts of addresses, which are no addresses.
//!
//! A value that is narrower than a pointer is at most a part of an address. So is what a multiplication, a
//! division or a shift makes of one, and the difference of two pointers is a distance. Such a number becomes
//! an address only when others are joined with it: by arithmetic, or in memory that is written part by part
//! and read as a whole. It is rarely done, but most programs keep lengths and characters in memory that is
//! not told apart from memory with pointers. If these counted as addresses, points-to sets would grow for
//! nothing.
//!
//! So a part is no address: it is [`Pointee::Part`], wherever it is stored and whatever is computed from it,
//! and it points to nothing. That is exact as long as no address that is *followed* (an access, a lock, a
//! call) may be a part, or computed from one. If one may be, the analysis is made once more without
//! distinguishing parts from addresses: then what is computed from an address is taken to be one in its
//! object. In a program whose numbers are foreign ([`Program::foreign_numbers`]), such an address is taken to
//! be none of the program's own instead, and this is one of the program's assumptions
//! ([`foreign`](super::super::foreign)).

use super::AddressSet;
use super::PointsTo;
use super::shape::Shift;
use super::solve::{PART, Pointee};
use crate::expr::Expr;
use crate::ids::TemplateId;
use crate::op::{Callee, Lhs, Op};
use crate::program::Program;
use crate::types::IntType;
use std::collections::BTreeSet;

/// What an operation makes of the addresses of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// They move.
    Moved(Shift),
    /// A part of them is left, or a distance from them.
    Part,
}

impl PointsTo {
    /// Whether the value of an expression may be a part of an address, or computed from one.
    pub fn may_be_part(&self, template: TemplateId, expr: &Expr) -> bool {
        match self.find(template, expr) {
            AddressSet::Held(_, ids) => ids.first() == Some(&PART),
            AddressSet::These(pointees) => pointees.contains(&Pointee::Part),
        }
    }

    /// Whether the program follows an address that may be one.
    pub(super) fn follows_parts(&self, program: &Program) -> bool {
        program.templates.enumerate().any(|(id, code)| {
            let ops = code.edges.iter().flat_map(|edge| &edge.ops);
            ops.flat_map(followed).any(|address| self.may_be_part(id, address))
        })
    }

    /// What is left of some addresses in a type.
    pub(super) fn narrowed(&self, ty: IntType, pointees: BTreeSet<Pointee>) -> BTreeSet<Pointee> {
        let is_cut = self.tells_parts && ty.bits < self.pointer.bits && !pointees.is_empty();
        if is_cut { [Pointee::Part].into() } else { pointees }
    }
}

/// The addresses that an operation follows: of accesses, of locks, of calls, and those that it asks about.
pub fn followed(op: &Op) -> Vec<&Expr> {
    let mut found = Vec::new();
    for expr in op.expressions() {
        expr.walk(&mut |inner| match inner {
            Expr::Load(place) => found.push(&place.address),
            Expr::Valid(address, _) => found.push(address),
            _ => {}
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
