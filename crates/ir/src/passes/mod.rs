//! Passes: transformations of programs that preserve the verdict.
//!
//! The header of each says what it preserves, and in which direction it approximates. The standard pipelines:
//!
//! * [`concrete`], for the explorer and the replayer: property lowering with shared-access splitting
//!   (`lower.rs`). Procedures stay: the step semantics has a call stack.
//! * [`symbolic`], for engines that reason about one control-flow automaton per thread: calls through
//!   pointers become branches ([`calls`]), procedures are inlined (`inline`), the property is lowered and
//!   shared accesses are split (`lower.rs`, `split.rs`), addresses get their targets ([`points_to`]),
//!   irrelevant code is removed ([`dead_code`], `slice.rs`), and local steps are folded into their neighbours
//!   (`compress.rs`).
//!
//! Helpers of several passes: [`sharing`] (what others may see), [`totality`] (what cannot fail),
//! [`liveness`].

pub mod addresses;
pub mod affine;
pub mod allocators;
pub mod bits;
pub mod calls;
pub mod compress;
pub mod dead_code;
pub mod footprint;
pub mod foreign;
pub mod forget;
pub mod helpers;
pub mod inline;
pub mod interrupts;
pub mod jumps;
pub mod liveness;
pub mod lock_order;
pub mod lock_words;
pub mod lower;
pub mod points_to;
mod renumber;
pub mod runner;
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
pub use calls::{callable, callable_with, is_dynamic, resolve_calls, resolve_calls_until};
pub use compress::{compress, compress_within_lines};
pub use dead_code::remove_dead_code;
pub use forget::Forgetting;
pub use inline::{InlineError, InlineLimits, Inlined, edges_in_cycles, inline};
pub use jumps::thread_jumps;
pub use lock_order::{LockOrder, StaticLock};
pub use lock_words::{lock_words, lock_words_with};
pub use lower::{Lowering, lower};
pub use points_to::PointsTo;
pub use runner::{Counted, PassLog, Runner};
pub use runs::{lipton_reduce, lipton_reduce_with};
pub use sharing::Sharing;
pub use slice::{Goal, slice, slice_with};
pub use split::split;
pub use starts::separate_starts;
pub use unique::Unique;

use crate::expr::{Expr, PointerArithmetic};
use crate::op::{Op, Rhs};
use crate::program::{Assumption, ErrorKind, LocationKind, Program, Span};
use std::time::Instant;

/// Whether a deadline has passed.
fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
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
    let program = &plain_sums(&forget_floats(program));
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

/// Like [`symbolic`], for a program that is lowered already; each start of a thread gets its own template
/// ([`starts`]).
pub fn symbolic_of_lowered(
    program: &Program,
    goal: Goal,
    limits: InlineLimits,
) -> Result<Program, InlineError> {
    let log = PassLog::default();
    let runner = Runner { deadline: limits.deadline, is_stopped: &|| false, log: &log };
    sliced(program, &annotated(program, limits, &runner)?, goal, &runner)
}

/// Like [`symbolic_of_lowered`], for listings of the source: all data stays, and each source line keeps its
/// own steps.
pub fn listed(program: &Program, limits: InlineLimits) -> Result<Program, InlineError> {
    let log = PassLog::default();
    let runner = Runner { deadline: limits.deadline, is_stopped: &|| false, log: &log };
    within_lines(&annotated(program, limits, &runner)?, &runner)
}

/// A program without calls, with points-to sets: the basis of all views.
pub struct Annotated {
    /// The program.
    pub program: Program,
    /// What addresses may point to in it.
    pub points_to: PointsTo,
    /// Whether frame objects outlive their calls.
    pub frames_outlive_calls: bool,
}

/// The form of a lowered program whose calls through pointers [`annotated`] resolves, by its points-to sets.
pub fn before_calls(program: &Program) -> Program {
    plain_sums(&forget_floats(program))
}

/// Inlines the calls of a lowered program, separates the starts of threads, and computes points-to sets.
pub fn annotated(
    program: &Program,
    limits: InlineLimits,
    runner: &Runner<'_>,
) -> Result<Annotated, InlineError> {
    let deadline = runner.deadline;
    let program = runner.pass("forget floats", || forget_floats(program))?;
    let program = runner.pass("plain sums", || plain_sums(&program))?;
    let resolved = runner
        .run("resolve calls", || resolve_calls_until(&program, deadline).ok_or(InlineError::OutOfTime))?;
    let Inlined { program: inlined, frames_outlive_calls } =
        runner.run("inline", || inline(&runner::checked("resolve calls", resolved), limits))?;
    let inlined = runner::checked("inline", inlined);
    let separated = runner.pass("separate starts", || separate_starts(&inlined, limits.edges))?;
    let mut program = runner.pass("remove dead code", || remove_dead_code(&separated))?;
    let points_to =
        runner.run("points-to", || PointsTo::until(&program, deadline).ok_or(InlineError::OutOfTime))?;
    runner.run("annotate", || {
        let done = points_to::annotate_with(&points_to, &mut program, deadline);
        done.then_some(()).ok_or(InlineError::OutOfTime)
    })?;
    let program = runner::checked("annotate", program);
    Ok(Annotated { program, points_to, frames_outlive_calls })
}

/// The view of a lowered program for engines: without code that is irrelevant to the goal, and with local
/// steps folded.
pub fn sliced(
    lowered: &Program,
    annotated: &Annotated,
    goal: Goal,
    runner: &Runner<'_>,
) -> Result<Program, InlineError> {
    let sliced = runner.run("slice", || {
        slice_with(&annotated.program, &annotated.points_to, goal, runner.deadline)
            .ok_or(InlineError::OutOfTime)
    })?;
    let mut sliced = runner::checked("slice", sliced);
    let mut locations = lowered.templates.iter().flat_map(|template| &template.locations);
    let asks_for_bounds =
        locations.any(|location| location.kind == LocationKind::Error(ErrorKind::InvalidAccess));
    if asks_for_bounds && annotated.frames_outlive_calls && frames_are_used_late(lowered, runner)? {
        let text = "objects of a function that has returned count as alive".to_owned();
        sliced.assumptions.push(Assumption { text, span: Span::default(), limits_proof: true });
    }
    let live = runner.pass("remove dead code", || remove_dead_code(&sliced))?;
    let threaded = runner.pass("thread jumps", || thread_jumps(&live))?;
    let live = runner.pass("remove dead code", || remove_dead_code(&threaded))?;
    runner.pass("compress", || compress(&live))
}

/// The view of a program for listings: all data stays, and each source line keeps its own steps.
pub fn within_lines(annotated: &Annotated, runner: &Runner<'_>) -> Result<Program, InlineError> {
    runner.pass("compress within lines", || compress_within_lines(&annotated.program))
}

/// Whether a frame object of a procedure may be used after its end; an error if time runs out.
fn frames_are_used_late(program: &Program, runner: &Runner<'_>) -> Result<bool, InlineError> {
    let points_to = runner
        .run("points-to", || PointsTo::until(program, runner.deadline).ok_or(InlineError::OutOfTime))?;
    Ok(points_to::frames_are_used_late(program, &points_to))
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

/// A program in which arithmetic on pointers is not distinguished from that on integers: engines that reason
/// about values need no more, and casts only burden them. The meaning is the same.
fn plain_sums(program: &Program) -> Program {
    let pointer = program.data_model.pointer();
    let mut result = program.clone();
    for id in program.templates.ids() {
        let template = &program.templates[id];
        let uncast = |operand: &mut Expr| {
            if let Expr::Cast(_, inner) = operand {
                let is_pointer = program.type_in(template, inner) == pointer;
                let inner = std::mem::replace(&mut **inner, Expr::Const(0, pointer));
                *operand = if is_pointer { inner } else { Expr::cast(pointer, inner) };
            }
        };
        let plain = |inner: &mut Expr| {
            let Expr::Binary(op, ty, pair) = inner else { return };
            let Some(arithmetic) = PointerArithmetic::of(pointer, *op, *ty, pair) else { return };
            uncast(&mut pair.1);
            if arithmetic == PointerArithmetic::Difference {
                uncast(&mut pair.0);
            }
        };
        for op in result.templates[id].edges.iter_mut().flat_map(|edge| &mut edge.ops) {
            op.expressions_mut().into_iter().for_each(|expr| expr.rewrite(&mut |inner| plain(inner)));
        }
    }
    result
}
