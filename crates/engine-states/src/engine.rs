//! The engines: first the over-approximation, then the exact answer if that finds an error. Programs that are
//! not Boolean are abstracted by predicates.
//!
//! Where calls are recursive, the over-approximation counts them as starts of threads. If that does not
//! suffice, calls are followed up to an increasing depth: an error found in this way is real, and if no
//! thread ever calls deeper, the answer is exact.

use crate::counters::{Counters, Counts, Decided};
use crate::cover::{Cover, Covered, Element};
use crate::reach::{Locks, Reached, reach};
use crate::refine::refine;
use crate::transitions::{Failure, SharedId, Transitions};
use boolean::{Bdd, FALSE, PointId, Recursion, View, view};
use ir::{ErrorKind, Program, Span};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use verdict::{
    Budget, Configuration, Engine, Event, Events, Population, Proof, Property, Reason, StatesProof, Task,
    Verdict,
};

/// The engine that decides by backward coverability.
#[derive(Clone, Copy)]
pub struct States<'e> {
    /// Explores the Boolean programs of predicate abstraction, in turns with thread states.
    pub explorer: &'e (dyn Engine + Sync),
}

/// The engine that decides by counting (paper 1, algorithm 6).
#[derive(Clone, Copy, Default, Debug)]
pub struct Counting;

impl Engine for States<'_> {
    fn name(&self) -> &'static str {
        "states"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let Property::NoError(kinds) = task.property else { return other_property() };
        match decide(task.program, kinds, &Question { method: Method::Backwards, budget, events }) {
            // What is written for this engine alone has no other form.
            Err(view::Failure::Unsupported(..)) if !task.program.has_broadcasts() => {
                refine(task, kinds, self.explorer, budget, events).unwrap_or_else(Verdict::Unknown)
            }
            answer => answer.unwrap_or_else(|failure| Verdict::Unknown(reason(failure))),
        }
    }
}

impl Engine for Counting {
    fn name(&self) -> &'static str {
        "counters"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        let Property::NoError(kinds) = task.property else { return other_property() };
        let question = Question { method: Method::Counters, budget, events };
        decide(task.program, kinds, &question).unwrap_or_else(|failure| Verdict::Unknown(reason(failure)))
    }
}

fn other_property() -> Verdict {
    let what = "states: other properties than errors".to_owned();
    Verdict::Unknown(Reason::NotSupported(what, Span::default()))
}

/// Decides a Boolean program by backward coverability. An error if it is none.
pub(crate) fn decide_backwards(
    program: &Program,
    kinds: &BTreeSet<ErrorKind>,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Verdict, view::Failure> {
    decide(program, kinds, &Question { method: Method::Backwards, budget, events })
}

/// Why there is no verdict, where a view cannot be made or followed.
pub(crate) fn reason(failure: view::Failure) -> Reason {
    match failure {
        view::Failure::Unsupported(what, span) => Reason::NotSupported(format!("states: {what}"), span),
        view::Failure::Exhausted(exhausted) => Reason::Exhausted(exhausted),
    }
}

/// How the exact answer is found.
#[derive(Clone, Copy)]
enum Method {
    /// Backward coverability.
    Backwards,
    /// Counters up to k.
    Counters,
}

/// How to answer, and within what.
struct Question<'q> {
    method: Method,
    budget: &'q Budget,
    events: &'q dyn Events,
}

/// Procedures are followed until they are active this often, at most.
const DEEPEST: u32 = 40;
/// And only while there are no more points than these.
const MOST_POINTS: usize = 100_000;

/// Decides a Boolean program. An error if it is none.
fn decide(
    program: &Program,
    kinds: &BTreeSet<ErrorKind>,
    question: &Question<'_>,
) -> Result<Verdict, view::Failure> {
    let open = match View::new(program, Recursion::Approximated, question.budget) {
        Ok(mut view) => match of_view(&mut view, kinds, None, question) {
            Ok(Answer::Verdict(verdict)) => return Ok(verdict),
            Ok(Answer::Open(text)) if !view.is_recursive() => {
                return Ok(Verdict::Unknown(Reason::GaveUp(format!("states: {text}"))));
            }
            Ok(Answer::Open(text)) => Reason::GaveUp(format!(
                "states: calls of procedures that are active are approximated; {text}"
            )),
            Err(reason) => return Ok(Verdict::Unknown(reason)),
        },
        // Recursion may be what is not supported.
        Err(failure @ view::Failure::Unsupported(..)) => {
            let followed = View::new(program, Recursion::Unfolded(2), question.budget);
            if followed.is_ok_and(|view| view.cuts().next().is_some()) {
                reason(failure)
            } else {
                return Err(failure);
            }
        }
        Err(failure) => return Err(failure),
    };
    Ok(unfolded(program, kinds, question).unwrap_or(Verdict::Unknown(open)))
}

/// Follows calls deeper and deeper. Half of the time is left for others.
fn unfolded(program: &Program, kinds: &BTreeSet<ErrorKind>, question: &Question<'_>) -> Option<Verdict> {
    let budget = question.budget.part(2);
    let question = Question { budget: &budget, ..*question };
    for depth in 2..=DEEPEST {
        let mut view = View::new(program, Recursion::Unfolded(depth), &budget).ok()?;
        match of_view(&mut view, kinds, Some(depth), &question).ok()? {
            Answer::Verdict(verdict) => return Some(verdict),
            Answer::Open(_) if view.points.len() <= MOST_POINTS => {}
            Answer::Open(_) => return None,
        }
    }
    None
}

/// What a view says.
enum Answer {
    /// The answer for the program.
    Verdict(Verdict),
    /// None; why.
    Open(String),
}

/// Answers for a view of a program. `depth`: how deep calls are followed in it, if they are not approximated.
fn of_view(
    view: &mut View<'_>,
    kinds: &BTreeSet<ErrorKind>,
    depth: Option<u32>,
    question: &Question<'_>,
) -> Result<Answer, Reason> {
    let Question { budget, events, .. } = question;
    events.event(Event::Phase(format!("states: {} points, {} steps", view.points.len(), view.steps.len())));
    let reached = reach(view, Locks::Exclusive).map_err(Reason::Exhausted)?;
    let errors = error_points(view, &reached, kinds);
    let is_cut = view.cuts().any(|point| reached.sets[point.0 as usize] != FALSE);
    let Some(error) = errors.first() else {
        let proof = StatesProof { depth, ..closed_sets(view, &reached.sets) };
        return Ok(match is_cut {
            true => Answer::Open("calls go deeper".to_owned()),
            false => Answer::Verdict(Verdict::Safe(Proof::States(Box::new(proof)))),
        });
    };
    if view.is_recursive() {
        return abstract_trace(view, &reached, *error).map(Answer::Open);
    }
    events.event(Event::Phase("states: exact".to_owned()));
    let exact = match Transitions::new(view, &reached.sets, kinds, budget) {
        Ok(transitions) => exact(&transitions, question),
        Err(failure) => Err(failure),
    };
    match exact {
        Ok(Exact::Unsafe(verdict)) => Ok(Answer::Verdict(verdict)),
        Ok(Exact::LeftBehind) => {
            let text = "an error is reachable if threads that cannot follow a broadcast are ignored";
            Ok(Answer::Open(text.to_owned()))
        }
        Ok(Exact::Safe(_)) if is_cut => Ok(Answer::Open("calls go deeper".to_owned())),
        Ok(Exact::Safe(claims)) => {
            let sets = closed_sets(view, &reached.sets);
            let proof = StatesProof { tests: sets.tests, sets: sets.sets, depth, ..claims };
            Ok(Answer::Verdict(Verdict::Safe(Proof::States(Box::new(proof)))))
        }
        Err(Failure::Exhausted(exhausted)) => Err(Reason::Exhausted(exhausted)),
        Err(Failure::TooLarge) => {
            let text = abstract_trace(view, &reached, *error)?;
            Ok(Answer::Open(format!("too many thread states for an exact answer; {text}")))
        }
    }
}

fn abstract_trace(view: &mut View<'_>, reached: &Reached, error: PointId) -> Result<String, Reason> {
    crate::abstract_trace::describe(view, reached, error).map_err(Reason::Exhausted)
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

/// An exact answer.
enum Exact {
    /// With the trace.
    Unsafe(Verdict),
    /// With what it rests on besides the sets.
    Safe(StatesProof),
    /// An error that is reachable only if threads that cannot follow a broadcast are ignored.
    LeftBehind,
}

fn exact(transitions: &Transitions<'_, '_>, question: &Question<'_>) -> Result<Exact, Failure> {
    if let Some(trace) = crate::trace::trace_of_start(transitions) {
        return Ok(Exact::Unsafe(Verdict::Unsafe(trace)));
    }
    let mut cover = Cover::new(transitions);
    let mut proof = StatesProof::default();
    let found = match question.method {
        Method::Backwards => match cover.run(question.budget)? {
            Covered::Reachable(element) => Some(element),
            Covered::Unreachable(minimal) => {
                let elements = minimal.into_iter().map(|index| &cover.elements[index as usize]);
                proof.unreachable = elements.map(|element| configuration(transitions, element)).collect();
                proof.unreachable.sort();
                None
            }
        },
        Method::Counters => match Counters::new(transitions).decide(&mut cover, question.budget)? {
            Decided::Reachable(element) => Some(element),
            Decided::Unreachable(states) => {
                proof.populations = states.into_iter().map(|state| population(transitions, state)).collect();
                proof.populations.sort();
                None
            }
        },
    };
    Ok(match found {
        Some(element) => match crate::trace::trace(&cover, transitions, element) {
            Some(trace) => Exact::Unsafe(Verdict::Unsafe(trace)),
            None => Exact::LeftBehind,
        },
        None => Exact::Safe(proof),
    })
}

fn configuration(transitions: &Transitions<'_, '_>, element: &Element) -> Configuration {
    let threads = element.threads.iter().map(|thread| transitions.locals[*thread as usize]);
    let mut threads: Vec<(u32, u128)> = threads.map(|local| (local.point.0, local.bits)).collect();
    threads.sort_unstable();
    Configuration { shared: transitions.shared[element.shared as usize], threads }
}

fn population(transitions: &Transitions<'_, '_>, (shared, counts): (SharedId, Counts)) -> Population {
    let threads = counts.into_iter().map(|(thread, amount)| {
        let local = transitions.locals[thread as usize];
        ((local.point.0, local.bits), amount.number())
    });
    let mut threads: Vec<((u32, u128), Option<u32>)> = threads.collect();
    threads.sort_unstable();
    Population { shared: transitions.shared[shared as usize], threads }
}

/// The claim that sets of thread states are closed, in the form of a proof.
pub fn closed_sets(view: &View<'_>, sets: &[Bdd]) -> StatesProof {
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
