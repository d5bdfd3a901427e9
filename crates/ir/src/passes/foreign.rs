//! Numbers that are used as addresses, in large programs that are not proved anyway.
//!
//! An input may be any number, so one that a branch compares with an address may be that address
//! ([`points_to`](super::points_to), rule 2). In a large program most such comparisons are of lengths and
//! counters, in memory that holds addresses elsewhere; then inputs become the address of nearly everything,
//! wherever such memory is used as a pointer. So do parts of addresses (`points_to/parts.rs`): a length that
//! is the difference of two pointers, or a character that was read from memory that may hold a pointer.
//!
//! Where some assumption limits proofs already, no proof is lost by one more. So in programs of so many steps
//! that searches see little of them, [`note`] lets numbers be foreign ([`Program::foreign_numbers`]). Then an
//! input is an address of the program only if the constraint of its assignment compares it with one, as
//! addresses are compared: so the models of library functions that give back addresses say it. And parts are
//! never joined to an address. If an address that is followed may have come from an input, or from parts,
//! that is noted as an assumption that limits proofs; listings hold under it. If there is none, nothing is
//! assumed: whether a number is an address shows only where it is followed.

use super::PointsTo;
use super::points_to::followed;
use crate::expr::Expr;
use crate::ids::TemplateId;
use crate::program::{Assumption, Program, Span};
use std::collections::BTreeSet;

/// What is taken for granted of inputs where numbers are foreign.
pub const FOREIGN: &str = "an address is followed that may have come from outside as a number: then it is taken to be none of the program's own";

/// What is taken for granted of parts of addresses.
pub const JOINED: &str = "an address is followed that may have been put together from parts of addresses, or from their distances: then it is taken to be none of the program's own";

/// From this many steps on, a program is large. In others, searches try the addresses that inputs are
/// compared with.
pub(super) const LARGE: usize = 1000;

/// Lets numbers be foreign in a large program with an assumption that limits proofs, and notes what that
/// assumes.
pub fn note(program: &mut Program) {
    let steps: usize = program.templates.iter().map(|code| code.edges.len()).sum();
    if steps >= LARGE && program.limiting_assumption().is_some() {
        let_be_foreign(program);
    }
}

/// Lets numbers be foreign, and notes where they may be followed.
pub(super) fn let_be_foreign(program: &mut Program) {
    program.foreign_numbers = true;
    let points_to = PointsTo::of(program);
    let inputs = lines(program, |id, address| points_to.may_be_input(id, address));
    let parts = lines(program, |id, address| points_to.may_be_part(id, address));
    for (lines, what) in [(inputs, FOREIGN), (parts, JOINED)] {
        let Some(span) = lines.first().copied() else { continue };
        let text = match lines.len() - 1 {
            0 => format!("here {what}"),
            1 => format!("here, and in one other line, {what}"),
            others => format!("here, and in {others} other lines, {what}"),
        };
        program.assumptions.push(Assumption { text, span, limits_proof: true });
    }
}

/// The lines in which some address is followed of which this holds.
fn lines(program: &Program, holds: impl Fn(TemplateId, &Expr) -> bool) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    for (id, code) in program.templates.enumerate() {
        for edge in &code.edges {
            if edge.ops.iter().flat_map(followed).any(|address| holds(id, address)) {
                found.insert(Span { column: 0, ..edge.span });
            }
        }
    }
    found
}
