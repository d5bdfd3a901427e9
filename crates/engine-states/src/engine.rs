//! The engine: first the over-approximation, then the exact answer where that finds an error. Programs that are not Boolean go through predicates.

use crate::cover::{Cover, Covered};
use crate::reach::{Locks, Reached, reach};
use crate::refine::refine;
use crate::transitions::{Failure, Transitions};
use boolean::{Bdd, FALSE, PointId, View, view};
use ir::{ErrorKind, Program, Span};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use verdict::{
    Budget, Configuration, Engine, Event, Events, Proof, Property, Reason, StatesProof, Task, Verdict,
};

/// The engine.
#[derive(Clone, Copy, Default, Debug)]
pub struct States;

impl Engine for States {
    fn name(&self) -> &'static str {
        "states"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let Property::NoError(kinds) = task.property else {
            let what = "other properties than errors".to_owned();
            return Verdict::Unknown(Reason::Unsupported(format!("states: {what}"), Span::default()));
        };
        match decide(task.program, kinds, budget, events) {
            Ok(verdict) => verdict,
            Err(view::Failure::Exhausted(exhausted)) => Verdict::Unknown(Reason::Exhausted(exhausted)),
            // What is written for this engine alone has no other form.
            Err(view::Failure::Unsupported(what, span)) if task.program.has_broadcasts() => {
                Verdict::Unknown(Reason::Unsupported(format!("states: {what}"), span))
            }
            Err(view::Failure::Unsupported(..)) => {
                refine(task, kinds, budget, events).unwrap_or_else(Verdict::Unknown)
            }
        }
    }
}

/// Decides a Boolean program. An error if it is none.
pub(crate) fn decide(
    program: &Program,
    kinds: &BTreeSet<ErrorKind>,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Verdict, view::Failure> {
    let mut view = View::new(program, budget)?;
    Ok(answer(&mut view, kinds, budget, events).unwrap_or_else(Verdict::Unknown))
}

fn answer(
    view: &mut View<'_>,
    kinds: &BTreeSet<ErrorKind>,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Verdict, Reason> {
    events.event(Event::Phase(format!("states: {} points, {} steps", view.points.len(), view.steps.len())));
    let reached = reach(view, Locks::Exclusive).map_err(Reason::Exhausted)?;
    let errors = error_points(view, &reached, kinds);
    if errors.is_empty() {
        return Ok(Verdict::Safe(Proof::States(Box::new(proof(view, &reached.sets)))));
    }
    if view.is_recursive() {
        let text = crate::abstract_trace::describe(view, &reached, errors[0]).map_err(Reason::Exhausted)?;
        return Err(Reason::Bounded(format!(
            "states: calls of procedures that are active are approximated; {text}"
        )));
    }
    events.event(Event::Phase("states: exact".to_owned()));
    exact(view, &reached, kinds, errors[0], budget)
}

/// The error points that threads may be at.
fn error_points(view: &View<'_>, reached: &Reached, kinds: &BTreeSet<ErrorKind>) -> Vec<PointId> {
    let ids = (0..view.points.len() as u32).map(PointId);
    ids.filter(|id| {
        reached.sets[id.0 as usize] != FALSE
            && view.point(*id).error.is_some_and(|kind| kinds.contains(&kind))
    })
    .collect()
}

fn exact(
    view: &mut View<'_>,
    reached: &Reached,
    kinds: &BTreeSet<ErrorKind>,
    error: PointId,
    budget: &Budget,
) -> Result<Verdict, Reason> {
    let transitions = match Transitions::new(view, &reached.sets, kinds, budget) {
        Ok(transitions) => transitions,
        Err(Failure::Exhausted(exhausted)) => return Err(Reason::Exhausted(exhausted)),
        Err(Failure::TooLarge) => {
            let text = crate::abstract_trace::describe(view, reached, error).map_err(Reason::Exhausted)?;
            return Err(Reason::Bounded(format!(
                "states: too many thread states for an exact answer; {text}"
            )));
        }
    };
    if let Some(trace) = crate::trace::trace_of_start(&transitions) {
        return Ok(Verdict::Unsafe(trace));
    }
    let mut cover = Cover::new(&transitions);
    match cover.run(budget).map_err(Reason::Exhausted)? {
        Covered::Reachable(element) => match crate::trace::trace(&cover, &transitions, element) {
            Some(trace) => Ok(Verdict::Unsafe(trace)),
            None => {
                let text = "states: an error is reachable if threads that cannot follow what they are told are left behind";
                Err(Reason::Bounded(text.to_owned()))
            }
        },
        Covered::Unreachable(minimal) => {
            let mut proof = proof(view, &reached.sets);
            for index in minimal {
                let element = &cover.elements[index as usize];
                let local = |thread: &u32| transitions.locals[*thread as usize];
                let mut threads: Vec<(u32, u128)> = element
                    .threads
                    .iter()
                    .map(|thread| (local(thread).point.0, local(thread).bits))
                    .collect();
                threads.sort_unstable();
                proof
                    .unreachable
                    .push(Configuration { shared: transitions.shared[element.shared as usize], threads });
            }
            proof.unreachable.sort();
            Ok(Verdict::Safe(Proof::States(Box::new(proof))))
        }
    }
}

/// The sets in a form that can be handed on.
fn proof(view: &View<'_>, sets: &[Bdd]) -> StatesProof {
    let mut proof = StatesProof::default();
    let mut numbers: FxHashMap<Bdd, u32> = [(boolean::FALSE, 0), (boolean::TRUE, 1)].into_iter().collect();
    for set in sets {
        let mut work = vec![*set];
        while let Some(at) = work.last().copied() {
            if numbers.contains_key(&at) {
                work.pop();
                continue;
            }
            let node = view.bdds.node(at);
            match (numbers.get(&node.low).copied(), numbers.get(&node.high).copied()) {
                (Some(low), Some(high)) => {
                    proof.tests.push((node.level, low, high));
                    numbers.insert(at, proof.tests.len() as u32 + 1);
                    work.pop();
                }
                (low, high) => {
                    work.extend(low.is_none().then_some(node.low));
                    work.extend(high.is_none().then_some(node.high));
                }
            }
        }
        proof.sets.push(numbers[set]);
    }
    proof
}
