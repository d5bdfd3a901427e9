//! Checks that the reachable locations and the pairs are closed, and that no thread breaks another's claims.
//!
//! A step may be omitted while another thread is at some location only for one of these reasons: it
//! contradicts what its thread knows; the other thread is in an atomic region and the step is not; the step
//! waits for the other thread to end, and it has not; the step waits for a third thread, and no end of that
//! thread is related to the other's location; data invariants contradict the step's assumptions; before it
//! changes memory, the step acquires a lock that the other thread holds; the step needs a counter below the
//! sum of the weights of the two threads' locations. A pair may be omitted only if both threads are in the
//! same unique template; or both hold the same lock, one of them exclusively, at the same address of a single
//! object; or one is the parent of a family without members, and the other would be a member.

use super::counters::guards;
use super::data::Data;
use super::families::is_absent;
use super::knowledge::{Held, Knowledge, Outcome, Steps, breaks, claimed, words};
use super::terms::Terms;
use super::view::{Node, View};
use crate::ProofError;
use crate::ready::claim;
use ir::{Count, EdgeId, Expr, Lhs, LockKind, ObjectId, Op, Program, Storage, TemplateId, Value};
use std::collections::BTreeMap;
use verdict::Budget;

/// The possible steps, according to the proof.
pub struct Closure<'v, 'a> {
    pub view: &'v View<'a>,
    /// The data invariants.
    data: Option<&'v Data<'v, 'a>>,
    /// The locks at addresses that are the same for all threads.
    fixed: Vec<Vec<Held>>,
    /// The greatest counter values with which edges can be taken.
    guards: Vec<BTreeMap<EdgeId, Vec<(usize, Value)>>>,
}

impl Closure<'_, '_> {
    fn related(&self, a: Node, b: Node) -> bool {
        self.view.proof.coreachable.contains(a, b)
    }

    /// Two threads may be here: the pair must be in the proof, unless a rule excludes it.
    fn pair(&self, a: Node, b: Node) -> Result<(), ProofError> {
        let (first, second) = (self.view.nodes[a].0, self.view.nodes[b].0);
        if self.related(a, b) && self.related(b, a)
            || self.view.halts(a)
            || self.view.halts(b)
            || (first == second && self.view.is_unique(first))
            || is_absent(self.view, a, b)
            || is_absent(self.view, b, a)
        {
            return Ok(());
        }
        let excluded = self.fixed[a].iter().any(|mine| {
            self.fixed[b]
                .iter()
                .any(|theirs| mine.address == theirs.address && !(mine.shared && theirs.shared))
        });
        claim(excluded, "a pair of locations is missing")
    }

    fn single(&self, node: Node) -> Result<(), ProofError> {
        claim(self.view.proof.reachable[node] || self.view.halts(node), "a location is missing")
    }

    /// Whether a step may be taken at all.
    pub fn may_take_alone(&self, source: Node, edge: EdgeId, outcome: &Outcome) -> bool {
        let ended = |joined: &TemplateId| self.view.ends(*joined).any(|end| self.related(end, source));
        !outcome.impossible
            && outcome.joined.iter().all(ended)
            && !self.is_too_low(source, edge, None)
            && self.data.is_none_or(|data| data.may_take(source, edge, None))
    }

    /// Whether a step may be taken while another thread is at a location.
    pub fn may_take(&self, source: Node, edge: EdgeId, outcome: &Outcome, other: Node) -> bool {
        let atomic = |node: Node| self.view.location(node).runs_alone();
        if outcome.impossible || (atomic(other) && !atomic(source)) {
            return false;
        }
        let template = self.view.nodes[source].0;
        let wanted = wanted_lock(self.view.program, &self.view.program.templates[template].edges[edge].ops);
        if wanted.is_some_and(|(_, wanted)| stands_in_the_way(&self.fixed[other], wanted)) {
            return false;
        }
        let mut joined = outcome.joined.iter();
        let ended = joined.all(|joined| {
            if self.view.nodes[other].0 == *joined {
                self.view.has_ended(other)
            } else {
                self.view.ends(*joined).any(|end| self.related(end, other))
            }
        });
        ended
            && !self.is_too_low(source, edge, Some(other))
            && self.data.is_none_or(|data| data.may_take(source, edge, Some(other)))
    }

    /// Whether an edge needs a counter below the sum of the weights of its thread's location and another one.
    fn is_too_low(&self, source: Node, edge: EdgeId, other: Option<Node>) -> bool {
        self.guards[source].get(&edge).is_some_and(|found| {
            found.iter().any(|(counter, most)| {
                let weights = &self.view.proof.counters[*counter].weights;
                *most < weights[source] + other.map_or(0, |other| weights[other])
            })
        })
    }

    pub fn target(&self, node: Node, edge: EdgeId) -> Node {
        let template = self.view.nodes[node].0;
        self.view.node(template, self.view.program.templates[template].edges[edge].target)
    }
}

/// A lock in a static object that an edge acquires before it changes any memory: its kind and its address.
pub type Wanted = (LockKind, ObjectId, u64);

/// The lock that an edge acquires first, with the number of the operation.
pub fn wanted_lock(program: &Program, ops: &[Op]) -> Option<(usize, Wanted)> {
    for (number, op) in ops.iter().enumerate() {
        match op {
            Op::Assume(_) => {}
            Op::Assign(assignment)
                if assignment.pairs.iter().all(|(lhs, _)| matches!(lhs, Lhs::Local(_))) => {}
            Op::Lock(kind, Expr::Address(object, offset)) => {
                let is_static = program.objects[*object].storage == Storage::Static;
                return is_static.then_some((number, (*kind, *object, *offset)));
            }
            _ => return None,
        }
    }
    None
}

/// Whether a thread that holds these locks prevents others from acquiring one: an exclusive holder prevents
/// all, a reader prevents writers.
pub fn stands_in_the_way(held: &[Held], (kind, object, offset): Wanted) -> bool {
    let is_it = |held: &&Held| match held.address.terms.as_slice() {
        [(Expr::Address(other, base), false)] => {
            *other == object && Value::from(*base) + held.address.constant == Value::from(offset)
        }
        _ => false,
    };
    held.iter().filter(is_it).any(|held| !held.shared || kind == LockKind::Write)
}

/// Prepares the rules.
pub fn closure<'v, 'a>(
    view: &'v View<'a>,
    data: Option<&'v Data<'v, 'a>>,
) -> Result<Closure<'v, 'a>, ProofError> {
    let mut fixed = Vec::new();
    for node in 0..view.nodes.len() {
        let Knowledge { mut locks, .. } = claimed(view, node)?;
        locks.retain(|held| {
            matches!(held.address.terms.as_slice(), [(Expr::Address(object, _), false)] if view.is_single(*object))
        });
        fixed.push(locks);
    }
    Ok(Closure { view, data, fixed, guards: guards(view, data) })
}

/// Checks that the proof contains all that may happen.
pub fn check_closed(closure: &Closure<'_, '_>, steps: &Steps, budget: &Budget) -> Result<(), ProofError> {
    let view = closure.view;
    let mut entries: Vec<TemplateId> = Vec::new();
    for (template, count) in &view.program.start {
        let copies = match count {
            Count::Exactly(copies) => (*copies).min(2),
            Count::Any => 2,
        };
        entries.extend(std::iter::repeat_n(*template, copies as usize));
    }
    for (index, template) in entries.iter().enumerate() {
        closure.single(view.entry(*template))?;
        for other in &entries[..index] {
            closure.pair(view.entry(*template), view.entry(*other))?;
        }
    }
    for (source, steps) in steps.iter().enumerate() {
        budget.check(0).map_err(ProofError::TooExpensive)?;
        for (edge, outcome) in steps {
            let target = closure.target(source, *edge);
            if view.halts(target) || outcome.impossible {
                continue;
            }
            if view.proof.reachable[source] && closure.may_take_alone(source, *edge, outcome) {
                closure.single(target)?;
                for (index, child) in outcome.started.iter().enumerate() {
                    closure.single(view.entry(*child))?;
                    closure.pair(target, view.entry(*child))?;
                    for sibling in &outcome.started[..index] {
                        closure.pair(view.entry(*child), view.entry(*sibling))?;
                    }
                }
            }
            for other in view.proof.coreachable.related(source) {
                if closure.may_take(source, *edge, outcome, other) {
                    closure.pair(target, other)?;
                    for child in &outcome.started {
                        closure.pair(other, view.entry(*child))?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Checks that no step of one thread breaks a claim of another.
pub fn check_claims(closure: &Closure<'_, '_>, steps: &Steps, budget: &Budget) -> Result<(), ProofError> {
    let view = closure.view;
    let mut claims = Vec::new();
    for node in 0..view.nodes.len() {
        let terms = Terms { view, template: view.nodes[node].0 };
        let locks = claimed(view, node)?.locks;
        claims.push(locks.into_iter().map(|held| (words(&terms, &held), held)).collect::<Vec<_>>());
    }
    for (source, steps) in steps.iter().enumerate() {
        budget.check(0).map_err(ProofError::TooExpensive)?;
        for (edge, outcome) in steps.iter().filter(|(_, outcome)| !outcome.touches.is_empty()) {
            for other in view.proof.coreachable.related(source) {
                let broken = claims[other]
                    .iter()
                    .any(|(words, held)| outcome.touches.iter().any(|touch| breaks(touch, held, words)));
                if broken && closure.may_take(source, *edge, outcome, other) {
                    return claim(false, "a thread may break another one's claim to a lock");
                }
            }
        }
    }
    Ok(())
}
