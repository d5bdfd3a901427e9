//! Threads that start helpers, and what they share with these alone ([`verdict::SummariesProof::teams`]).
//!
//! A kind counts as one of helpers if several threads may start it: where only one thread does, what is known
//! of all threads of a kind is enough. Over-approximates what escapes from a team.

use crate::flows::{Callees, Flows};
use ir::{EdgeId, IdVec, ObjectId, Op, Program, Storage, TemplateId};
use std::collections::BTreeSet;
use verdict::Started;

/// A kind of helpers.
pub struct Helpers {
    /// The kind.
    pub kind: TemplateId,
    /// The kinds that start them.
    pub starters: BTreeSet<TemplateId>,
    /// Whether an object stays in its team.
    pub shared: IdVec<ObjectId, bool>,
}

/// The kinds of helpers, with what they share with the thread that starts them.
pub fn helpers(
    program: &Program,
    callees: &Callees,
    (kinds, once): (&BTreeSet<TemplateId>, &IdVec<TemplateId, bool>),
    (flows, guessed): (&Flows<'_>, &IdVec<ObjectId, bool>),
) -> Vec<Helpers> {
    let started: Vec<(TemplateId, BTreeSet<TemplateId>)> =
        kinds.iter().map(|kind| (*kind, started(program, callees, *kind))).collect();
    let mut found = Vec::new();
    for kind in kinds {
        let by = started.iter().filter(|(_, started)| started.contains(kind)).map(|(by, _)| *by);
        let starters: BTreeSet<TemplateId> = by.collect();
        let is_one = starters.len() == 1 && starters.iter().all(|by| once[*by]);
        if starters.is_empty() || is_one || starters.contains(kind) {
            continue;
        }
        let captured = flows.captured(guessed, Some(*kind));
        let shared = program.objects.enumerate();
        let shared =
            shared.map(|(id, object)| object.storage != Storage::Static && !captured[id] && !guessed[id]);
        found.push(Helpers { kind: *kind, starters, shared: shared.collect() });
    }
    found
}

/// The kinds of threads that threads of a kind may start.
fn started(program: &Program, callees: &Callees, kind: TemplateId) -> BTreeSet<TemplateId> {
    let mut reached = BTreeSet::new();
    let mut found = BTreeSet::new();
    let mut open = vec![kind];
    while let Some(template) = open.pop() {
        if !reached.insert(template) {
            continue;
        }
        for (edge, step) in program.templates[template].edges.enumerate() {
            let edge: EdgeId = edge;
            if step.ops.iter().any(|op| matches!(op, Op::Call(..))) {
                open.extend(&callees[template][edge]);
            }
            if step.ops.iter().any(|op| matches!(op, Op::Spawn(..))) {
                found.extend(&callees[template][edge]);
            }
        }
    }
    found
}

/// What a thread of a kind knows where it starts: it has started none.
pub fn none_started(helpers: &[Helpers], kind: TemplateId) -> Vec<Started> {
    let started = helpers.iter().filter(|helpers| helpers.starters.contains(&kind));
    started.map(|helpers| Started { kind: helpers.kind, own: true, members: Vec::new() }).collect()
}

/// Whether a list says that no thread of its kind is alive that the thread has started itself.
pub fn is_none(started: &Started) -> bool {
    started.own && started.members.is_empty()
}
