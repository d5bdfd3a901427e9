//! Makes two unordered accesses of an execution meet: the thread of the first is held just before it, and of
//! the other threads' steps up to the second, only those are repeated that do not happen after the first
//! (Said, Wang, Yang and Sakallah, "Generating data race witnesses", NFM 2011, without a solver).
//!
//! Under-approximates: the result ends in a state in which both threads are about to make conflicting
//! accesses.

use super::observe::{Ordering, Suspect};
use executions::model::Model;
use executions::shorten::Given;
use ir::semantics::{Access, State, ThreadIndex};
use ir::{EdgeId, Range};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use verdict::{Trace, TraceStep, Violation};

/// Takes a step as it was taken before; says what it accessed.
fn again(model: &Model<'_>, state: &mut State, step: &TraceStep, log: &mut Vec<Access>) -> bool {
    let machine = &model.machine;
    let is_alone = |other: ThreadIndex| other != step.thread && machine.is_atomic(state, other);
    let can_run = state.threads.get(step.thread).is_some_and(|thread| !thread.activations.is_empty())
        && !(0..state.threads.len()).any(is_alone)
        && machine.edges(state, step.thread).contains(&step.edge);
    if state.halted || !can_run {
        return false;
    }
    log.clear();
    let mut given = Given::new(&step.choices);
    machine.advance(state, step.thread, step.edge, &mut given, log).is_ok() && given.is_used_up()
}

/// An execution at whose end the accesses of a suspect meet.
pub(super) fn meeting(
    model: &Model<'_>,
    steps: &[TraceStep],
    suspect: &Suspect,
    range: Range,
    copies: &[u32],
) -> Option<Trace> {
    let machine = &model.machine;
    let mut state = machine.initial(copies).ok()?;
    let mut log = Vec::new();
    for step in steps.get(..suspect.first)? {
        again(model, &mut state, step, &mut log).then_some(())?;
    }
    let (held, second) = (steps.get(suspect.first)?.thread, steps.get(suspect.second)?.thread);
    if machine.is_atomic(&state, held) {
        return None;
    }
    let here = state.clone();
    // What happens after the first access. Of the rest it is noted which thread it starts.
    let mut late = BTreeSet::from([held]);
    let mut late_bytes: FxHashSet<u64> = FxHashSet::default();
    let mut kept: Vec<(usize, Option<ThreadIndex>)> = Vec::new();
    for (number, step) in steps.iter().enumerate().take(suspect.second).skip(suspect.first) {
        let (template, _) = state.location(step.thread)?;
        let ops = &machine.program.templates[template].edges[step.edge].ops;
        let ordering = Ordering::before(machine, &state, step.thread, ops);
        let count = state.threads.len();
        again(model, &mut state, step, &mut log).then_some(())?;
        let ordering = ordering.and(&log);
        let started = (count < state.threads.len()).then_some(count);
        let is_late = late.contains(&step.thread)
            || ordering.bytes.iter().any(|byte| late_bytes.contains(byte))
            || ordering.joined.is_some_and(|joined| late.contains(&joined));
        if is_late {
            late.insert(step.thread);
            late.extend(started);
            late_bytes.extend(ordering.bytes);
        } else {
            kept.push((number, started));
        }
    }
    if late.contains(&second) {
        return None;
    }
    let mut state = here;
    let mut taken: Vec<TraceStep> = steps[..suspect.first].to_vec();
    // Threads have other numbers where some are not started.
    let mut numbers: BTreeMap<ThreadIndex, ThreadIndex> =
        (0..state.threads.len()).map(|thread| (thread, thread)).collect();
    for (number, started) in kept {
        let Some(thread) = numbers.get(&steps[number].thread).copied() else { continue };
        let step = TraceStep { thread, ..steps[number].clone() };
        let before = state.threads.len();
        if !again(model, &mut state, &step, &mut log) {
            break;
        }
        if let (Some(started), true) = (started, state.threads.len() > before) {
            numbers.insert(started, before);
        }
        taken.push(step);
        let is_there = |second: &&ThreadIndex| {
            state.location(**second).is_some_and(|(template, _)| template == suspect.steps[1].0)
                && machine.edges(&state, **second).contains(&suspect.steps[1].1)
        };
        if let Some(second) = numbers.get(&second).filter(is_there)
            && let Some(violation) = collision(model, range, &state, held, *second)
        {
            return Some(Trace { copies: copies.to_vec(), steps: taken, violation });
        }
    }
    let violation = collision(model, range, &state, held, *numbers.get(&second)?)?;
    Some(Trace { copies: copies.to_vec(), steps: taken, violation })
}

/// Two threads that are about to make accesses to some bytes which collide.
pub(super) fn collision(
    model: &Model<'_>,
    range: Range,
    state: &State,
    one: ThreadIndex,
    other: ThreadIndex,
) -> Option<Violation> {
    let machine = &model.machine;
    let alone = (0..state.threads.len()).find(|thread| machine.is_atomic(state, *thread));
    if state.halted || alone.is_some_and(|alone| alone != one && alone != other) {
        return None;
    }
    let of = |thread: ThreadIndex| -> Vec<(EdgeId, Access)> {
        let edges = machine.edges(state, thread).iter();
        let accesses = edges.flat_map(|edge| {
            machine.racing_accesses(state, thread, *edge).into_iter().map(move |access| (*edge, access))
        });
        accesses.filter(|(_, access)| machine.is_valid(state, access.address, access.size)).collect()
    };
    let mine = of(one);
    for (edge, access) in if mine.is_empty() { Vec::new() } else { of(other) } {
        let collides = |(_, own): &&(EdgeId, Access)| {
            own.races_with(&access) && is_meant(model, range, state, own, &access)
        };
        if let Some((own, _)) = mine.iter().find(collides) {
            let mut pair = [(one, *own), (other, edge)];
            pair.sort_unstable();
            return Some(Violation::Race(pair));
        }
    }
    None
}

/// Whether two accesses overlap on the bytes that are meant.
fn is_meant(model: &Model<'_>, range: Range, state: &State, one: &Access, other: &Access) -> bool {
    let first = one.address.max(other.address);
    let end = |access: &Access| access.address.saturating_add(access.size);
    let size = end(one).min(end(other)).saturating_sub(first);
    model.machine.describe(state, first).is_some_and(|(object, offset)| {
        object == range.object
            && range.offset < offset.saturating_add(size)
            && offset < range.offset.saturating_add(range.size)
    })
}
