//! Choices that the compiled program makes by itself. An execution with other choices cannot be reproduced.
//!
//! 1. Where a thread of the model has several continuations that no input distinguishes: the order of
//!    evaluation, whether a weak exchange fails spuriously, whether the library can provide what is
//!    requested. The compiled program takes the first one.
//! 2. Where the schedule lets another thread run within what is one access of the compiled program: a copy of
//!    a structure, a bit-field that is put into its unit.

use crate::reproducer::Unforced;
use crate::reproducer::events::Execution;
use crate::reproducer::files::is_of_heap;
use crate::reproducer::inputs::words;
use checker::{Refutation, ReplayedViolation, WaitTarget};
use ir::semantics::{Choice, Choices};
use ir::{
    BinaryOp, Edge, EdgeId, ErrorKind, Expr, Lhs, LocalId, LocationKind, ObjectId, ObjectRole, Op, Rhs,
    SharedObject, Span, Template, TemplateId, TemplateRole, Value, Waiting,
};

/// Functions of the library that the runtime does in as many parts as the schedule has.
const IN_PARTS: [&str; 3] = ["memcpy", "memmove", "memset"];

/// Functions of the library in which an operation may leave its range.
const CHECKED_NOWHERE: [&str; 9] =
    ["abs", "labs", "llabs", "imaxabs", "__builtin_abs", "div", "ldiv", "lldiv", "imaxdiv"];

/// How the names of functions begin of which the library does not look at all that they are passed.
const UNSEEN: [&str; 7] = ["pthread_", "sem_", "cnd_", "mtx_", "tss_", "qsort", "bsearch"];

/// Gives each open value as 0.
struct Zero;

impl Choices for Zero {
    fn choose(&mut self, _: Choice) -> Value {
        0
    }
}

/// Refuses executions that take another path than the compiled program does.
pub(crate) fn check_choices(execution: &Execution<'_>) -> Result<(), Unforced> {
    let machine = &execution.machine;
    for (step, &(template, taken)) in execution.edges.iter().enumerate() {
        let (state, thread) = (&execution.states[step], execution.threads[step]);
        let code = &machine.program.templates[template];
        let can_be_taken = |edge: EdgeId| machine.step(state, thread, edge, &mut Zero).result.is_ok();
        let all = machine.edges(state, thread).iter().copied();
        let open: Vec<EdgeId> = all.filter(|&edge| edge == taken || can_be_taken(edge)).collect();
        // When waits for conditions end is what the schedule says.
        let is_wait = |edge: &EdgeId| {
            matches!(code.locations[code.edges[*edge].target].waiting, Waiting::Spurious | Waiting::Tracked)
        };
        // So is how a copy is divided.
        let is_copy =
            |edge: &EdgeId| matches!(code.edges[*edge].ops.first(), Some(Op::Copy(..) | Op::Fill(..)));
        // What goes wrong does so before the operation that would come next.
        let is_error = matches!(code.locations[code.edges[taken].target].kind, LocationKind::Error(_));
        if is_error || open.len() < 2 || open.iter().any(is_wait) || open.iter().any(is_copy) {
            continue;
        }
        let first = open.iter().find(|edge| !is_free(code, **edge)).or(open.first());
        if first != Some(&taken) {
            return Err(Unforced::Choice(execution.spans[step]));
        }
    }
    Ok(())
}

/// Refuses waits for what a thread that has ended was to do once: some libraries let another thread do it
/// then.
pub(crate) fn check_waits(refutation: &Refutation, execution: &Execution<'_>) -> Result<(), Unforced> {
    let ReplayedViolation::Deadlock(waits) = &refutation.replayed.violation else { return Ok(()) };
    let last = execution.states.last().ok_or(Unforced::Trace)?;
    let has_ended = last.threads.iter().any(|thread| thread.activations.is_empty());
    let for_once = waits.iter().find(|wait| matches!(wait.target, WaitTarget::Shared(SharedObject::Once, _)));
    match for_once {
        Some(wait) if has_ended => Err(Unforced::Choice(wait.span)),
        Some(_) | None => Ok(()),
    }
}

/// Refuses races of what runs when a thread has returned from its function, which the runtime takes to have
/// ended, and of the end of a variable's life, which no sanitiser takes for an access.
pub(crate) fn check_ends(refutation: &Refutation, execution: &Execution<'_>) -> Result<(), Unforced> {
    let ReplayedViolation::Race { accesses, cell, .. } = &refutation.replayed.violation else {
        return Ok(());
    };
    let last = execution.states.last().ok_or(Unforced::Trace)?;
    let templates = &execution.machine.program.templates;
    let is_end = |template: TemplateId| templates[template].role == TemplateRole::EndOfThread;
    let mut activations = last.threads.iter().flat_map(|thread| &thread.activations);
    if activations.any(|activation| is_end(activation.template)) {
        return Err(Unforced::Choice(accesses[0].span));
    }
    let object = &execution.machine.program.objects[cell.0];
    for access in accesses.iter().filter(|_| !is_of_heap(object)) {
        let innermost = last.threads[access.thread].activations.last().ok_or(Unforced::Trace)?;
        let mut ops = templates[innermost.template].edges[access.edge].ops.iter();
        if ops.any(|op| matches!(op, Op::Free(_))) {
            return Err(Unforced::Dead(object.name.clone()));
        }
    }
    Ok(())
}

/// Refuses races of reads into a part of a copy that the program never looks at, and such reads outside of
/// memory: the compiler drops these.
pub(crate) fn check_reads(refutation: &Refutation, execution: &Execution<'_>) -> Result<(), Unforced> {
    let last = execution.states.last().ok_or(Unforced::Trace)?;
    let program = execution.machine.program;
    let code_of = |thread: usize| {
        let innermost = last.threads[thread].activations.last().ok_or(Unforced::Trace)?;
        Ok(&program.templates[innermost.template])
    };
    let is_unread =
        |code: &ir::Template, edge: &ir::Edge| edge.ops.iter().any(|op| is_unread_copy(program, code, op));
    match &refutation.replayed.violation {
        ReplayedViolation::Race { accesses, .. } => {
            for access in accesses.iter() {
                let code = code_of(access.thread)?;
                if is_unread(code, &code.edges[access.edge]) {
                    return Err(Unforced::Unused(access.span));
                }
            }
        }
        ReplayedViolation::Error {
            kind: ErrorKind::InvalidAccess | ErrorKind::InvalidFree, span, ..
        } => {
            let Some(step) = refutation.trace.steps.last() else { return Ok(()) };
            let code = code_of(step.thread)?;
            if code.edges.iter().any(|edge| edge.span == *span && is_unread(code, edge)) {
                return Err(Unforced::Unused(*span));
            }
        }
        ReplayedViolation::Error { .. } | ReplayedViolation::Deadlock(_) | ReplayedViolation::Leak(_) => {}
    }
    Ok(())
}

/// Whether an operation reads memory into bytes of the activation's own that nothing reads.
fn is_unread_copy(program: &ir::Program, code: &ir::Template, op: &Op) -> bool {
    let Op::Assign(assignment) = op else { return false };
    let [(Lhs::Memory(place), Rhs::Value(Expr::Load(_)))] = assignment.pairs.as_slice() else { return false };
    let Some((object, offset)) = place.as_cell() else { return false };
    let is_own = matches!(program.objects[object].storage, ir::Storage::Frame(_));
    let mut loads = 0;
    let mut names = 0;
    for expr in code.edges.iter().flat_map(|edge| &edge.ops).flat_map(Op::expressions) {
        expr.walk(&mut |inner| match inner {
            Expr::Load(read) => match read.as_cell() {
                Some((other, at)) if other == object => {
                    let is_apart = at + read.ty.bytes() <= offset || offset + place.ty.bytes() <= at;
                    loads += usize::from(!is_apart);
                    // Its address is part of it.
                    names -= 1;
                }
                Some(_) | None => {}
            },
            Expr::Address(other, _) => names += i32::from(*other == object),
            _ => {}
        });
    }
    let stores = code.edges.iter().flat_map(|edge| &edge.ops).flat_map(Op::targets);
    let stores = stores.filter(|lhs| match lhs {
        Lhs::Memory(place) => place.as_cell().is_some_and(|(other, _)| other == object),
        Lhs::Local(_) => false,
    });
    is_own && loads == 0 && names == stores.count() as i32
}

/// Refuses executions that depend on which of two variables comes first in memory.
pub(crate) fn check_addresses(execution: &Execution<'_>) -> Result<(), Unforced> {
    let objects = &execution.machine.program.objects;
    let is_order = |object: ObjectId| objects[object].role == ObjectRole::AddressOrder;
    let mut touches = execution.touches.iter();
    match touches.find(|touch| is_order(touch.instance.0)) {
        Some(touch) => Err(Unforced::Address(execution.spans[touch.step])),
        None => Ok(()),
    }
}

/// Refuses operations out of their range that the compiler does not check: atomic ones, those of the library,
/// and those that it leaves out or makes narrower because all or a part of the value is thrown away.
pub(crate) fn check_overflow<'s>(
    refutation: &Refutation,
    execution: &Execution<'_>,
    line: impl Fn(Span) -> Option<&'s str>,
) -> Result<(), Unforced> {
    let ReplayedViolation::Error { kind: ErrorKind::Overflow, span, .. } = refutation.replayed.violation
    else {
        return Ok(());
    };
    let Some(&(template, edge)) = execution.edges.last() else { return Ok(()) };
    let code = &execution.machine.program.templates[template];
    let source = code.edges[edge].source;
    let is_used = |local: LocalId| {
        let mut found = code.result == Some(local) || code.exit_value == Some(local);
        for expr in code.edges.iter().flat_map(|edge| &edge.ops).flat_map(Op::expressions) {
            expr.walk(&mut |inner| found |= *inner == Expr::Local(local));
        }
        found
    };
    let is_hidden = |(target, value): &(Lhs, Rhs)| {
        let Rhs::Value(value) = value else { return false };
        let is_lost = match target {
            Lhs::Memory(place) => place.atomic,
            // Variables of the program get their values, used or not.
            Lhs::Local(local) => code.locals[*local].name.starts_with('%') && !is_used(*local),
        };
        let mut is_narrow = false;
        value.walk(&mut |inner| {
            if let Expr::Cast(to, operand) = inner
                && let Expr::Binary(_, from, _) | Expr::Unary(_, from, _) = operand.as_ref()
            {
                is_narrow |= to.bits < from.bits;
            }
        });
        is_lost || is_narrow
    };
    let of_library = line(span).is_some_and(|line| words(line).any(|word| CHECKED_NOWHERE.contains(&word)));
    let ops = code.edges.iter().filter(|edge| edge.source == source).flat_map(|edge| &edge.ops);
    let mut pairs = ops.flat_map(|op| match op {
        Op::Assign(assignment) => assignment.pairs.as_slice(),
        _ => &[],
    });
    let mut next = code.edges.iter().filter(|edge| edge.source == source).flat_map(|edge| &edge.ops);
    if of_library || next.any(stores_bits) || pairs.any(is_hidden) {
        Err(Unforced::Unchecked(span))
    } else {
        Ok(())
    }
}

/// Refuses what the compiled library does not find wrong: objects that are passed and not looked at, and
/// races on objects of its own.
pub(crate) fn check_library<'s>(
    refutation: &Refutation,
    line: impl Fn(Span) -> Option<&'s str>,
) -> Result<(), Unforced> {
    // The id that starting a thread stores is seen.
    let starts = |span: Span| line(span).is_some_and(|line| line.contains("_create"));
    let is_unseen = |span: &Span| {
        let is_unseen = |word: &str| UNSEEN.iter().any(|prefix| word.starts_with(prefix));
        line(*span).is_some_and(|line| words(line).any(is_unseen))
    };
    let found = match &refutation.replayed.violation {
        ReplayedViolation::Error {
            kind: ErrorKind::InvalidAccess | ErrorKind::InvalidFree, span, ..
        } => Some(*span).filter(is_unseen),
        ReplayedViolation::Race { accesses, .. } => {
            let mut spans = accesses.iter().map(|access| access.span);
            spans.find(|span| is_unseen(span) && !starts(*span))
        }
        ReplayedViolation::Error { .. } | ReplayedViolation::Deadlock(_) | ReplayedViolation::Leak(_) => None,
    };
    found.map_or(Ok(()), |span| Err(Unforced::Choice(span)))
}

/// Refuses schedules with an access that inline assembly makes: the compiler announces none of them.
pub(crate) fn check_assembly<'s>(
    execution: &Execution<'_>,
    turns: &[Vec<usize>],
    line: impl Fn(Span) -> Option<&'s str>,
) -> Result<(), Unforced> {
    let is_assembly =
        |span: &Span| line(*span).is_some_and(|line| words(line).any(|word| word.trim_matches('_') == "asm"));
    let mut spans = turns.iter().flatten().filter_map(|step| execution.spans.get(*step));
    spans.find(|span| is_assembly(span)).map_or(Ok(()), |span| Err(Unforced::Assembly(*span)))
}

/// Whether an edge may be taken whatever the state is, and does nothing.
fn is_free(code: &Template, edge: EdgeId) -> bool {
    match code.edges[edge].ops.first() {
        None => true,
        Some(Op::Assume(Expr::Const(value, _))) => *value != 0,
        Some(_) => false,
    }
}

/// Refuses schedules that change threads within one access of the compiled program. `turns` are the steps of
/// the events, turn by turn.
pub(crate) fn check_turns<'s>(
    execution: &Execution<'_>,
    turns: &[Vec<usize>],
    line: impl Fn(Span) -> Option<&'s str>,
) -> Result<(), Unforced> {
    let is_done_in_parts =
        |span| line(span).is_some_and(|line| words(line).any(|word| IN_PARTS.contains(&word)));
    let is_error = execution.threads.len() == execution.edges.len();
    let is_trace = |step: usize| step < execution.edges.len();
    for turn in turns {
        let Some(&last) = turn.last().filter(|step| is_trace(**step)) else { continue };
        let (thread, span) = (execution.threads[last], execution.spans[last]);
        let rest = (last + 1..execution.edges.len()).filter(|step| execution.threads[*step] == thread);
        // The thread stops within a copy.
        let is_last = rest.clone().next().is_none();
        if is_error && is_last && is_within_copy(execution, last) && !is_done_in_parts(span) {
            return Err(Unforced::Split(span));
        }
        for later in rest.take_while(|step| execution.spans[*step] == span) {
            let is_event = turns.iter().any(|turn| turn.contains(&later)) && !turn.contains(&later);
            if is_event && is_one_access(execution, last, later) && !is_done_in_parts(span) {
                return Err(Unforced::Split(span));
            }
        }
    }
    Ok(())
}

/// Whether two steps of the same expression are one access of the compiled program.
fn is_one_access(execution: &Execution<'_>, earlier: usize, later: usize) -> bool {
    let op = |step: usize| {
        let (template, edge) = execution.edges[step];
        execution.machine.program.templates[template].edges[edge].ops.iter()
    };
    (op(earlier).any(is_part_of_copy) && op(later).any(is_part_of_copy)) || op(later).any(is_bit_field)
}

/// Whether a thread that stops after a step has only a part of a copy done.
fn is_within_copy(execution: &Execution<'_>, step: usize) -> bool {
    let (template, edge) = execution.edges[step];
    let code = &execution.machine.program.templates[template];
    let Edge { target, ops, span, .. } = &code.edges[edge];
    let mut next = code.edges.iter().filter(|edge| edge.source == *target && edge.span == *span);
    ops.iter().any(is_part_of_copy) && next.any(|edge| edge.ops.iter().any(is_part_of_copy))
}

fn is_part_of_copy(op: &Op) -> bool {
    match op {
        Op::Copy(..) | Op::Fill(..) => true,
        Op::Assign(assignment) => {
            matches!(assignment.pairs.as_slice(), [(Lhs::Memory(_), Rhs::Value(Expr::Load(_)))])
        }
        _ => false,
    }
}

/// Whether it stores a value that keeps some bits of what is there: compilers do not check what they put into
/// a bit-field.
fn stores_bits(op: &Op) -> bool {
    let Op::Assign(assignment) = op else { return false };
    let [(Lhs::Memory(_), Rhs::Value(Expr::Binary(BinaryOp::Or, _, pair)))] = assignment.pairs.as_slice()
    else {
        return false;
    };
    matches!(&pair.0, Expr::Binary(BinaryOp::And, _, kept) if matches!(kept.1, Expr::Const(..)))
}

/// Whether it puts the bits of a field into its unit, in the form in which the front end writes that.
fn is_bit_field(op: &Op) -> bool {
    let Op::Assign(assignment) = op else { return false };
    let [(Lhs::Memory(_), Rhs::Value(value))] = assignment.pairs.as_slice() else { return false };
    let mut found = false;
    value.walk(&mut |inner| {
        if let Expr::Binary(BinaryOp::And, _, pair) = inner {
            found |= matches!(
                (&pair.0, &pair.1),
                (Expr::Binary(BinaryOp::Shl | BinaryOp::Or, ..), Expr::Const(..))
            );
        }
    });
    found
}
