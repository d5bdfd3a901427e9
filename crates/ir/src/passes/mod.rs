//! Passes: from programs to programs with the same verdict.
//!
//! Each says in its header what it keeps, and in which direction it approximates where it does. The standard ways
//! through them:
//!
//! * [`concrete`], for the explorer and the replayer: property lowering with shared-access splitting (`lower.rs`).
//!   Procedures stay: the step semantics has a call stack.
//! * [`symbolic`], for engines that reason about one control-flow automaton per thread: calls through pointers
//!   become branches ([`calls`]), procedures are inlined (`inline`), the property is lowered and shared accesses
//!   are split (`lower.rs`, `split.rs`), addresses get their targets ([`points_to`]), what makes no difference goes
//!   ([`dead_code`], `slice.rs`), and local steps are folded into their neighbours (`compress.rs`).
//!
//! Helpers of several passes: [`sharing`] (what others may see), [`totality`] (what cannot fail), [`liveness`].

pub mod addresses;
pub mod affine;
pub mod bits;
pub mod calls;
pub mod compress;
pub mod dead_code;
pub mod footprint;
pub mod forget;
pub mod inline;
pub mod interrupts;
pub mod jumps;
pub mod liveness;
pub mod lock_order;
pub mod lock_words;
pub mod lower;
pub mod points_to;
mod renumber;
pub mod runs;
pub mod sharing;
pub mod slice;
pub mod split;
pub mod starts;
#[cfg(test)]
mod tests;
pub mod totality;
pub mod unique;

pub use affine::Affine;
pub use calls::{callable, resolve_calls, resolve_calls_until};
pub use compress::{compress, compress_within_lines};
pub use dead_code::remove_dead_code;
pub use forget::Forgetting;
pub use inline::{InlineError, InlineLimits, Inlined, edges_in_cycles, inline};
pub use jumps::thread_jumps;
pub use lock_order::{LockOrder, StaticLock};
pub use lock_words::lock_words;
pub use lower::{Lowering, lower};
pub use points_to::PointsTo;
pub use runs::atomic_runs;
pub use sharing::Sharing;
pub use slice::{Goal, slice, slice_until};
pub use split::split;
pub use starts::separate_starts;
pub use unique::Unique;

use crate::op::{Op, Rhs};
use crate::program::{Assumption, ErrorKind, LocationKind, Program, Span};
use std::time::Instant;

/// Whether a deadline is over.
fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// A pass, unless it is too late for it.
fn in_time<T>(deadline: Option<Instant>, pass: impl FnOnce() -> T) -> Result<T, InlineError> {
    if is_past(deadline) { Err(InlineError::OutOfTime) } else { Ok(pass()) }
}

/// The program that the explorer and the replayer run: lowered for a property, one shared access per step.
pub fn concrete(program: &Program, lowering: Lowering) -> Program {
    lower(program, lowering)
}

/// The program that engines with one automaton per thread work on.
pub fn symbolic(
    program: &Program,
    lowering: Lowering,
    goal: Goal,
    limits: InlineLimits,
) -> Result<Program, InlineError> {
    let program = &forget_floats(program);
    let Inlined { program: inlined, frames_outlive_calls } = inline(&resolve_calls(program), limits)?;
    let mut result = points_to::annotate(&remove_dead_code(&lower(&inlined, lowering)));
    if lowering.bounds
        && frames_outlive_calls
        && points_to::frames_are_used_late(program, &PointsTo::of(program))
    {
        let text = "objects of a function that has returned count as alive".to_owned();
        result.assumptions.push(Assumption { text, span: Span::default(), limits_proof: true });
    }
    Ok(compress(&remove_dead_code(&slice(&result, goal))))
}

/// Like [`symbolic`], for a program that is lowered already; each start of a thread gets its own template ([`starts`]).
pub fn symbolic_of_lowered(
    program: &Program,
    goal: Goal,
    limits: InlineLimits,
) -> Result<Program, InlineError> {
    let deadline = limits.deadline;
    let (mut result, frames_outlive_calls) = inlined_and_annotated(program, limits)?;
    let mut locations = program.templates.iter().flat_map(|template| &template.locations);
    let asks_for_bounds =
        locations.any(|location| location.kind == LocationKind::Error(ErrorKind::InvalidAccess));
    if asks_for_bounds && frames_outlive_calls && frames_are_used_late_until(program, deadline)? {
        let text = "objects of a function that has returned count as alive".to_owned();
        result.assumptions.push(Assumption { text, span: Span::default(), limits_proof: true });
    }
    let sliced = slice_until(&result, goal, deadline).ok_or(InlineError::OutOfTime)?;
    let sliced = in_time(deadline, || remove_dead_code(&sliced))?;
    let threaded = in_time(deadline, || thread_jumps(&sliced))?;
    let threaded = in_time(deadline, || remove_dead_code(&threaded))?;
    in_time(deadline, || compress(&threaded))
}

/// Whether a frame object of a procedure may be used after its end, unless it is too late to find out.
fn frames_are_used_late_until(program: &Program, deadline: Option<Instant>) -> Result<bool, InlineError> {
    let points_to = PointsTo::until(program, deadline).ok_or(InlineError::OutOfTime)?;
    Ok(points_to::frames_are_used_late(program, &points_to))
}

/// Like [`symbolic_of_lowered`], for listings of the source: all data stays, and each source line keeps its own steps.
pub fn listed(program: &Program, limits: InlineLimits) -> Result<Program, InlineError> {
    let (result, _) = inlined_and_annotated(program, limits)?;
    in_time(limits.deadline, || compress_within_lines(&result))
}

/// A program in which the results of floating-point operations are not modelled. Over-approximates.
fn forget_floats(program: &Program) -> Program {
    let mut result = program.clone();
    let edges = result.templates.iter_mut().flat_map(|template| template.edges.iter_mut());
    for op in edges.flat_map(|edge| &mut edge.ops) {
        let Op::Assign(assignment) = op else { continue };
        for (_, rhs) in &mut assignment.pairs {
            if matches!(rhs, Rhs::Float(..)) {
                *rhs = Rhs::Unknown;
            }
        }
    }
    result
}

/// The program without calls, with points-to sets; and whether frame objects outlive their calls.
fn inlined_and_annotated(program: &Program, limits: InlineLimits) -> Result<(Program, bool), InlineError> {
    let deadline = limits.deadline;
    let program = &forget_floats(program);
    let resolved = resolve_calls_until(program, deadline).ok_or(InlineError::OutOfTime)?;
    let Inlined { program: inlined, frames_outlive_calls } = inline(&resolved, limits)?;
    let separated = in_time(deadline, || separate_starts(&inlined, limits.edges))?;
    let lean = in_time(deadline, || remove_dead_code(&separated))?;
    let annotated = points_to::annotate_until(&lean, deadline).ok_or(InlineError::OutOfTime)?;
    Ok((annotated, frames_outlive_calls))
}
