//! Ghost variables for correctness witnesses: whether a mutex is held, and what holds whenever it is free.
//!
//! Facts about protected data hold inside critical sections, while the facts at a line that acquires the
//! mutex must allow for another thread in the middle of a section. With a ghost variable that says whether
//! the mutex is held, the facts after the line can be stated before it: *the mutex is held, or this holds*.
//! Reason: if the mutex is free, a thread that is about to acquire it may do so at once, and acquiring it
//! changes nothing else; so the facts of `flow` after the line held before.
//!
//! A mutex gets a ghost variable only if it is used only by acquiring and releasing it, by name, on lines
//! without other mutex operations.

use ir::{Edge, Expr, Lhs, LocationId, LockKind, ObjectId, Op, Program, Rhs, Span, Storage, Template};
use std::collections::{BTreeMap, BTreeSet};

/// A mutex whose ghost variable is exact.
pub(super) struct Ghost {
    /// The mutex's source name.
    pub(super) mutex: String,
    /// The ghost variable: 1 while the mutex is held, else 0.
    pub(super) name: String,
    /// Where it changes: the place, the function, and the new value.
    pub(super) updates: Vec<(Span, String, u8)>,
    /// Lines that acquire it, each with the line that a thread is at once it holds it.
    pub(super) taken: Vec<(Span, Span)>,
}

/// The mutexes that get a ghost variable.
pub(super) fn ghosts(program: &Program) -> Vec<Ghost> {
    let mut found: BTreeMap<ObjectId, Ghost> = BTreeMap::new();
    // Other uses, and lines with more than one operation.
    let mut spoilt: BTreeSet<ObjectId> = BTreeSet::new();
    let mut lines: BTreeMap<(u32, u32), ObjectId> = BTreeMap::new();
    for template in &program.templates {
        let live = reached(template);
        for edge in template.edges.iter().filter(|edge| live.contains(&edge.source)) {
            let operation = match edge.ops.as_slice() {
                [Op::Lock(kind, address)] => Some((*kind, address, 1)),
                [Op::Unlock(kind, address)] => Some((*kind, address, 0)),
                _ => None,
            };
            let Some((kind, address, value)) = operation else {
                spoilt.extend(edge.ops.iter().flat_map(mentioned));
                continue;
            };
            // The mutex is not known.
            let Expr::Address(object, offset) = address else { return Vec::new() };
            let Some(mutex) = program.objects.get(*object) else { return Vec::new() };
            let line = (edge.span.file, edge.span.line);
            let is_whole = *offset == 0 && mutex.storage == Storage::Static;
            let plain = kind == LockKind::Mutex && is_whole && edge.span.line > 0;
            if let Some(other) = lines.insert(line, *object) {
                spoilt.extend([other, *object]);
            }
            if !plain {
                spoilt.insert(*object);
            }
            let ghost = found.entry(*object).or_insert_with(|| Ghost {
                mutex: mutex.name.clone(),
                name: fresh(program, &mutex.name),
                updates: Vec::new(),
                taken: Vec::new(),
            });
            ghost.updates.push((edge.span, template.name.clone(), value));
            if value == 1 {
                ghost.taken.extend(after(template, edge).map(|next| (edge.span, next)));
            }
        }
    }
    found.retain(|object, _| !spoilt.contains(object));
    let named = |name: &str| program.objects.iter().filter(|object| object.name == name).count();
    found.into_values().filter(|ghost| named(&ghost.mutex) == 1).collect()
}

/// The reachable locations.
fn reached(template: &Template) -> BTreeSet<LocationId> {
    let mut targets: BTreeMap<LocationId, Vec<LocationId>> = BTreeMap::new();
    for edge in template.edges.iter() {
        targets.entry(edge.source).or_default().push(edge.target);
    }
    let mut seen = BTreeSet::from([template.entry]);
    let mut open = vec![template.entry];
    while let Some(at) = open.pop() {
        let next = targets.get(&at).into_iter().flatten().copied();
        open.extend(next.filter(|target| seen.insert(*target)));
    }
    seen
}

/// The objects whose address is in an operation.
fn mentioned(op: &Op) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    for expression in op.expressions() {
        expression.walk(&mut |part| {
            if let Expr::Address(object, _) = part {
                found.insert(*object);
            }
        });
    }
    found
}

/// The line that a thread is at after a step, past the remaining private steps of the same line.
fn after(template: &Template, step: &Edge) -> Option<Span> {
    let mut at = step.target;
    let mut seen: BTreeSet<LocationId> = BTreeSet::new();
    while seen.insert(at) {
        let next: Vec<&Edge> = template.edges.iter().filter(|edge| edge.source == at).collect();
        let first = next.first()?.span;
        if next.iter().any(|edge| edge.span.line != first.line || edge.span.file != first.file) {
            return None;
        }
        if (first.file, first.line) != (step.span.file, step.span.line) {
            return (first.line > 0).then_some(first);
        }
        // A step that is always possible and that no other thread sees.
        let [only] = next.as_slice() else { return None };
        let private = |op: &Op| {
            let Op::Assign(assignment) = op else { return false };
            let local = |(lhs, _): &(Lhs, Rhs)| matches!(lhs, Lhs::Local(_));
            assignment.constraint.is_none() && assignment.pairs.iter().all(local)
        };
        if !only.ops.iter().all(private) {
            return None;
        }
        at = only.target;
    }
    None
}

/// A name that the program does not use.
fn fresh(program: &Program, mutex: &str) -> String {
    let base: String = mutex.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut name = format!("{base}_locked");
    let used = |name: &str| {
        program.objects.iter().any(|object| object.name == name)
            || program.templates.iter().any(|template| {
                template.name == name || template.locals.iter().any(|local| local.name == name)
            })
    };
    while used(&name) {
        name.push('_');
    }
    name
}
