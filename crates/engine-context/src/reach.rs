//! `ReachAndBuild` (paper 1, algorithm 1): all that a thread does in a context, as a graph; or a way to an error. Over-approximates.
//!
//! Deviations:
//! 1. The thread need not be there at the start. Until it is, it is *unborn*, and only the context moves; a step of the context that starts a thread of its
//!    template may be its birth. All states that it may be born in are one node of the graph.
//! 2. A state that contradicts the labels of the context is not explored further: there is none, as long as the labels hold. But the step to it is in
//!    the graph. The paper leaves the step out, too (it conjoins Ψ.Γ' to what is behind it). That is circular within one step: a thread is not
//!    seen to break another one's label, since that label excludes it, and the other one's label is never weakened, since nobody is seen to break it.
//!    For the same reason what is behind a step of the context is known only by the label of the thread that takes it.

use crate::counts::{Context, Counts};
use crate::graph::Graph;
use crate::labels::Labels;
use crate::thread::Thread;
use ir::TemplateId;
use smt::NoAnswer;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use verdict::{AbstractEdge, AbstractId, Acfa, Action, Budget};

/// A step on the way to an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WayStep {
    /// Of the thread itself.
    Own(Action),
    /// Of a thread of the context.
    Other(TemplateId, AbstractEdge),
    /// Of a thread of the context, which starts the thread.
    Birth(TemplateId, AbstractEdge),
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explored<State> {
    /// No error: the graph, and the node of each state. Nothing if the thread is never started.
    Graph(Option<(Acfa, BTreeMap<State, AbstractId>)>),
    /// A way to an error.
    Way(Vec<WayStep>),
}

/// The thread and its context at some moment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Moment<State> {
    born: bool,
    state: State,
    counts: Counts,
}

/// Explores a thread of a template. `present`: whether it is there at the start of the program, `counts`: who else is.
pub fn explore<T: Thread>(
    thread: &T,
    template: TemplateId,
    present: bool,
    context: &Context<'_>,
    counts: &Counts,
    labels: &mut Labels,
    budget: &Budget,
) -> Result<Explored<T::State>, NoAnswer> {
    let mut exploration = Exploration {
        thread,
        context,
        labels,
        budget,
        seen: BTreeSet::new(),
        list: Vec::new(),
        open: VecDeque::new(),
    };
    let mut graph: Option<Graph<T::State>> = None;
    for unborn in thread.unborn() {
        let states = if present { thread.born(&unborn) } else { vec![unborn] };
        for state in states {
            if present {
                enter(&mut graph, thread, &state);
            }
            exploration.add(Moment { born: present, state, counts: counts.clone() }, None)?;
        }
    }
    while let Some(number) = exploration.open.pop_front() {
        budget.check(exploration.list.len() as u64 * 300).map_err(NoAnswer::Exhausted)?;
        let moment = exploration.list[number].0.clone();
        let Moment { born, state, counts } = &moment;
        if *born {
            let mut others = context.enabled(counts, thread.is_atomic(state));
            if thread.is_error(state) || others.any(|(_, edge)| thread.conflicts(state, &edge.action)) {
                return Ok(Explored::Way(exploration.way_to(number)));
            }
            // Not while another thread is in an atomic state.
            if !context.is_occupied(counts) {
                for (action, next) in thread.steps(state, budget)? {
                    let mut behind = counts.clone();
                    action.starts.iter().for_each(|started| context.start_one(&mut behind, *started));
                    if let Some(graph) = &mut graph {
                        let (label, atomic) = (thread.label(&next), thread.is_atomic(&next));
                        graph.connect(state, action.clone(), next.clone(), label, atomic);
                    }
                    let moment = Moment { born: true, state: next, counts: behind };
                    exploration.add(moment, Some((number, WayStep::Own(action))))?;
                }
            }
        }
        let alone = *born && thread.is_atomic(state);
        let edges: Vec<(TemplateId, AbstractEdge)> =
            context.enabled(counts, alone).map(|(who, edge)| (who, edge.clone())).collect();
        for (who, edge) in edges {
            let Some(behind) = context.after(counts, who, &edge) else { continue };
            let label = &context.acfas[who].states[edge.target].label;
            for next in thread.disturbed(state, &edge.action.havoc, label, budget)? {
                if *born && let Some(graph) = &mut graph {
                    graph.unite(state, next.clone(), thread.label(&next), thread.is_atomic(&next));
                }
                let moment = Moment { born: *born, state: next.clone(), counts: behind.clone() };
                exploration.add(moment, Some((number, WayStep::Other(who, edge.clone()))))?;
                if !*born && edge.action.starts.contains(&template) {
                    let Some(counts) = context.without_one(&behind, template) else { continue };
                    for state in thread.born(&next) {
                        enter(&mut graph, thread, &state);
                        let step = WayStep::Birth(who, edge.clone());
                        let moment = Moment { born: true, state, counts: counts.clone() };
                        exploration.add(moment, Some((number, step)))?;
                    }
                }
            }
        }
    }
    Ok(Explored::Graph(graph.map(|graph| graph.finish())))
}

/// Adds a state that the thread may begin in: all of them are one node.
fn enter<T: Thread>(graph: &mut Option<Graph<T::State>>, thread: &T, state: &T::State) {
    let (label, atomic) = (thread.label(state), thread.is_atomic(state));
    match graph {
        None => *graph = Some(Graph::new(state.clone(), label, atomic)),
        Some(graph) => graph.unite_with_start(state.clone(), label, atomic),
    }
}

/// A moment that was found, and how it came about: after which other one, by which step.
type Found<State> = (Moment<State>, Option<(usize, WayStep)>);

struct Exploration<'e, 'c, T: Thread> {
    thread: &'e T,
    context: &'e Context<'c>,
    labels: &'e mut Labels,
    budget: &'e Budget,
    seen: BTreeSet<Moment<T::State>>,
    list: Vec<Found<T::State>>,
    open: VecDeque<usize>,
}

impl<T: Thread> Exploration<'_, '_, T> {
    /// Adds a moment unless it cannot be.
    fn add(&mut self, moment: Moment<T::State>, from: Option<(usize, WayStep)>) -> Result<(), NoAnswer> {
        if !self.seen.insert(moment.clone()) {
            return Ok(());
        }
        let together = self.context.invariant(&moment.counts).and(&self.thread.label(&moment.state));
        if self.labels.can_hold(&together, self.budget)? {
            self.open.push_back(self.list.len());
            self.list.push((moment, from));
        }
        Ok(())
    }

    fn way_to(&self, number: usize) -> Vec<WayStep> {
        let mut way = Vec::new();
        let mut at = number;
        while let Some((before, step)) = &self.list[at].1 {
            way.push(step.clone());
            at = *before;
        }
        way.reverse();
        way
    }
}

/// The threads of the context beside one thread of a template, if that is there at the start.
pub fn beside(
    context: &Context<'_>,
    start: &[(TemplateId, ir::Count)],
    template: TemplateId,
) -> Option<Counts> {
    let all = context.start(start);
    let started: BTreeSet<TemplateId> = start
        .iter()
        .filter(|(_, count)| *count != ir::Count::Exactly(0))
        .map(|(template, _)| *template)
        .collect();
    if !started.contains(&template) {
        return None;
    }
    context.without_one(&all, template)
}
