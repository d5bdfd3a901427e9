//! Interrupt handlers of one processor as threads.
//!
//! The program has an object that holds the global interrupt enable flag, and procedures that are handlers.
//! Its meaning:
//!
//! * A handler may fire at any moment when the flag is set, any number of times. It runs to its end before
//!   the interrupted code continues; while the flag is set, other handlers, and the same one again, may
//!   interrupt it. When it ends, the flag is set.
//! * The program starts in its main procedure with the flag cleared.
//! * Interrupted code stays where it is, about to take its next step: if that step and the next step of the
//!   handler are conflicting accesses, that is a data race as usual. An access that is made while the flag is
//!   cleared cannot be interrupted.
//!
//! [`threads`] turns this into a program of threads, in two parts, both exact:
//!
//! 1. The flag becomes control (`flag.rs`, `build.rs`): each procedure has a copy for each value of the flag
//!    with which it is called, and each location has one for each value of the flag there. Where the flag is
//!    cleared, the location is atomic. A local that holds a saved flag is tracked as long as it is live. So a
//!    handler in which the flag is never set is one atomic region.
//! 2. Handlers in which the flag is set somewhere may themselves be interrupted; there may be any number of
//!    activations of each. They hold a read-write lock ([`PROCESSOR`]) for reading while they run, so that
//!    its count is their number, and the main procedure takes it for writing while the flag is cleared.
//!
//! `threads` does not enforce that the main procedure and an interrupted handler take no step while a handler
//! runs, except in the atomic regions of the main procedure: so it over-approximates. After shared accesses
//! are split, [`run_to_completion`] (`completion.rs`) adds this rule, as conditions on steps that others can
//! notice. Then the program is exact, with two exceptions, in which an execution is no evidence (it passes
//! [`crate::Rhs::Unknown`]): an unknown value that is stored in the flag either sets or clears it; and after
//! a call in which the flag is set, but not at its end, handlers may fire.
//!
//! Threads that the program starts itself are not supported together with handlers, and forbid proofs.

mod build;
mod completion;
mod flag;
#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

pub use completion::run_to_completion;

use crate::expr::{Expr, Place};
use crate::ids::{ObjectId, TemplateId};
use crate::op::{Callee, Lhs, LockKind, Op};
use crate::program::{
    Assumption, Count, Initial, LocationKind, Object, ObjectRole, Program, Span, Storage, Template,
};
use crate::types::{IntType, Layout, SyncKind, Value};
use build::{Builder, Role};
use flag::{Analysis, Entry};

/// The displayed name of the lock whose readers are the running interruptible handlers.
const PROCESSOR: &str = "the processor";
/// The displayed name of the thread's word that holds the number of handlers when its handler started, itself
/// included.
const LEVEL: &str = "the handler's level";

/// The input of [`threads`].
pub struct Interrupts {
    /// The object with the flag: one byte.
    pub flag: ObjectId,
    /// The flag's value when it is set; cleared it is 0.
    pub enabled: Value,
    /// The handlers.
    pub handlers: Vec<Handler>,
}

/// An interrupt handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Its procedure, which has no parameters.
    pub template: TemplateId,
    /// Whether the flag is set when it starts.
    pub enables: bool,
}

/// Turns handlers into threads and the flag into control. The first start template is the main procedure.
pub fn threads(program: &Program, interrupts: &Interrupts) -> Program {
    let resolved = super::resolve_calls(program);
    let Some(&(main, _)) = resolved.start.first() else { return resolved };
    let roots = std::iter::once(Entry::root(main, false))
        .chain(interrupts.handlers.iter().map(|handler| Entry::root(handler.template, handler.enables)));
    let roots: Vec<Entry> = roots.collect();
    let analysis = Analysis::of(&resolved, interrupts, &roots);
    let preemptible = |entry: &Entry| analysis.may_enable(entry);
    let nests = roots[1..].iter().any(preemptible);

    let mut result = Program { start: Vec::new(), ..resolved.clone() };
    let processor = nests.then(|| add_processor(&mut result));
    let mut builder = Builder::new(&resolved, &analysis, result, processor.map(|(lock, _)| lock));
    let role = if nests { Role::Main } else { Role::Masked };
    let main = builder.clone_of(&roots[0], role, None);
    let mut started = vec![(main, Count::Exactly(1))];
    for (handler, entry) in interrupts.handlers.iter().zip(&roots[1..]) {
        let again = preemptible(entry);
        let body = builder.clone_of(entry, if again { Role::Handler } else { Role::Masked }, None);
        let code = &resolved.templates[handler.template];
        let thread = match processor.filter(|_| again) {
            Some(objects) => nesting_thread(code, body, handler.enables, objects),
            None => atomic_thread(code, body),
        };
        started.push((builder.add(thread), if again { Count::Any } else { Count::Exactly(1) }));
    }
    let mut result = builder.finish();
    if let Some((lock, _)) = processor {
        hold_at_start(&mut result, main, lock);
    }
    result.start = started;
    if let Some(span) = spawns(&resolved) {
        let text = "unsupported: threads beside interrupt handlers".to_owned();
        result.assumptions.push(Assumption { text, span, limits_proof: true });
    }
    super::remove_dead_code(&result)
}

/// The lock and the word of [`PROCESSOR`] and [`LEVEL`].
fn add_processor(program: &mut Program) -> (ObjectId, ObjectId) {
    let object = |(name, role): (&str, ObjectRole), storage, size, layout| Object {
        name: name.to_owned(),
        storage,
        size,
        align: 8,
        layout,
        initial: Initial::Values(Vec::new()),
        span: Span::default(),
        role,
    };
    let lock =
        object((PROCESSOR, ObjectRole::Processor), Storage::Static, 8, Layout::Sync(SyncKind::ReadWrite));
    let level =
        object((LEVEL, ObjectRole::HandlerLevel), Storage::ThreadLocal, 4, Layout::Scalar(IntType::U32));
    (program.objects.push(lock), program.objects.push(level))
}

/// The number of running interruptible handlers.
fn count(lock: ObjectId) -> Expr {
    Expr::load(Place { atomic: true, ..Place::cell(lock, 4, IntType::U32) })
}

/// The thread of a handler in which the flag is never set.
fn atomic_thread(code: &Template, body: TemplateId) -> Template {
    let mut thread = Template { name: code.name.clone(), span: code.span, ..Template::default() };
    let idle = thread.location(LocationKind::Normal, false);
    let [before, after] = [(), ()].map(|()| thread.location(LocationKind::Normal, true));
    thread.entry = idle;
    thread.edge(idle, before, vec![], code.span);
    thread.edge(before, after, vec![Op::Call(Callee::Procedure(body), vec![], None)], code.span);
    thread.edge(after, idle, vec![], code.span);
    thread
}

/// A thread of a handler that can be interrupted.
fn nesting_thread(
    code: &Template,
    body: TemplateId,
    enables: bool,
    (lock, level): (ObjectId, ObjectId),
) -> Template {
    let mut thread = Template { name: code.name.clone(), span: code.span, ..Template::default() };
    let idle = thread.location(LocationKind::Normal, false);
    let before = thread.location(LocationKind::Normal, !enables);
    let after = thread.location(LocationKind::Normal, false);
    thread.entry = idle;
    let address = Expr::Address(lock, 0);
    let level = Lhs::Memory(Place { atomic: true, ..Place::cell(level, 0, IntType::U32) });
    let start = vec![Op::Lock(LockKind::Read, address.clone()), Op::set(level, count(lock))];
    thread.edge(idle, before, start, code.span);
    thread.edge(before, after, vec![Op::Call(Callee::Procedure(body), vec![], None)], code.span);
    thread.edge(after, idle, vec![Op::Unlock(LockKind::Read, address)], code.span);
    thread
}

/// The main procedure starts with the flag cleared: it holds the lock.
fn hold_at_start(program: &mut Program, main: TemplateId, lock: ObjectId) {
    let template = &mut program.templates[main];
    let (entry, span) = (template.entry, template.span);
    let first = template.location(LocationKind::Normal, true);
    template.edge(first, entry, vec![Op::Lock(LockKind::Write, Expr::Address(lock, 0))], span);
    template.entry = first;
}

fn spawns(program: &Program) -> Option<Span> {
    let mut edges = program.templates.iter().flat_map(|template| &template.edges);
    edges.find(|edge| edge.ops.iter().any(|op| matches!(op, Op::Spawn(..)))).map(|edge| edge.span)
}
