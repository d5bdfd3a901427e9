//! `ReachAndBuild` (paper 1, algorithm 1): all that a thread does in a context, as a graph; or a way to an error. Over-approximates.
//!
//! Deviations:
//! 1. The thread need not be there at the start. Until it is, it is *unborn*, and only the context moves; a step of the context that starts a thread of its
//!    template may be its birth. All states that it may be born in are one node of the graph.
//! 2. A state that contradicts the labels of the context is not explored further: there is none, as long as the labels hold. But the step to it is in
//!    the graph. The paper leaves the step out, too (it conjoins Ψ.Γ' to what is behind it). That is circular within one step: a thread is not
//!    seen to break another one's label, since that label excludes it, and the other one's label is never weakened, since nobody is seen to break it.
//!    For the same reason what is behind a step of the context is known only by the label of the thread that takes it.
//! 3. A moment whose counts another one with the same state covers is not explored.

use crate::counts::{Context, Counts, Spot, is_covered};
use crate::graph::{Built, Graph};
use crate::labels::Labels;
use crate::thread::{Thread, seen};
use domains::Amount;
use ir::TemplateId;
use smt::NoAnswer;
use std::collections::{BTreeMap, VecDeque};
use verdict::{AbstractEdge, AbstractId, Budget};

/// A step on the way to an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WayStep<Step> {
    /// Of the thread itself.
    Own(Step),
    /// Of a thread of the context.
    Other(TemplateId, AbstractEdge),
    /// Of a thread of the context, which starts the thread.
    Birth(TemplateId, AbstractEdge),
}

/// Two accesses at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Where the other thread is.
    pub spot: Spot,
    /// The number of the thread's access, and of the other's.
    pub accesses: (u32, u32),
}

/// A way to an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way<Step> {
    /// Whether the thread is there at the start.
    pub present: bool,
    /// The steps.
    pub steps: Vec<WayStep<Step>>,
    /// The race at its end; if there is none, the thread itself is at an error.
    pub conflict: Option<Conflict>,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explored<State: Ord, Step> {
    /// No error.
    Graph(Reached<State, Step>),
    /// A way to an error.
    Way(Way<Step>),
}

/// All that a thread does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reached<State: Ord, Step> {
    /// The graph. Nothing if the thread is never started.
    pub graph: Option<Built<State, Step>>,
    /// What it may see of the others in each state. All that it can see is covered by one of these.
    pub moments: Vec<Seen<State>>,
}

/// What a thread may see of the others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seen<State> {
    /// Its state.
    pub state: State,
    /// The state of its automaton; nothing if that may be any that simulates it.
    pub at: Option<AbstractId>,
    /// The others.
    pub counts: Counts,
}

/// The thread and its context at some moment.
#[derive(Clone)]
struct Moment<State> {
    /// Whether the thread was there at the start.
    present: bool,
    born: bool,
    state: State,
    counts: Counts,
}

/// A moment that was found, and how it came about: after which other one, by which step.
type Found<T> = (Moment<<T as Thread>::State>, Option<(usize, WayStep<<T as Thread>::Step>)>);

/// Explores a thread of a template. `starts`: whether it is there at the start of the program, and who else is.
pub fn explore<T: Thread>(
    thread: &T,
    template: TemplateId,
    starts: &[(bool, Counts)],
    context: &Context<'_>,
    labels: &mut Labels,
    budget: &Budget,
) -> Result<Explored<T::State, T::Step>, NoAnswer> {
    let mut exploration = Exploration {
        thread,
        template,
        context,
        labels,
        budget,
        seen: BTreeMap::new(),
        list: Vec::new(),
        open: VecDeque::new(),
        graph: None,
    };
    for (present, counts) in starts {
        for unborn in thread.unborn(budget)? {
            let states = if *present { thread.born(None, &unborn, budget)? } else { vec![unborn] };
            for state in states {
                if *present {
                    exploration.enter(&state)?;
                }
                let moment = Moment { present: *present, born: *present, state, counts: counts.clone() };
                exploration.add(moment, None)?;
            }
        }
    }
    while let Some(number) = exploration.open.pop_front() {
        budget.check(exploration.list.len() as u64 * 300).map_err(NoAnswer::Exhausted)?;
        let moment = exploration.list[number].0.clone();
        if exploration.is_superseded(&moment) {
            continue;
        }
        if moment.born {
            let Moment { state, counts, .. } = &moment;
            if let Some(conflict) = error(thread, context, state, counts, budget)? {
                return Ok(Explored::Way(exploration.way_to(number, conflict)));
            }
            exploration.own_steps(number, &moment)?;
        }
        exploration.other_steps(number, &moment)?;
    }
    Ok(Explored::Graph(exploration.finish()))
}

struct Exploration<'e, 'c, T: Thread> {
    thread: &'e T,
    template: TemplateId,
    context: &'e Context<'c>,
    labels: &'e mut Labels,
    budget: &'e Budget,
    /// The greatest counts that were seen with each state.
    seen: BTreeMap<(bool, T::State), Vec<Counts>>,
    list: Vec<Found<T>>,
    open: VecDeque<usize>,
    graph: Option<Graph<T::State, T::Step>>,
}

impl<T: Thread> Exploration<'_, '_, T> {
    /// Adds a state that the thread may begin in: all of them are one node.
    fn enter(&mut self, state: &T::State) -> Result<(), NoAnswer> {
        let what = seen(self.thread, state, self.budget)?;
        match &mut self.graph {
            None => self.graph = Some(Graph::new(state.clone(), what)),
            Some(graph) => graph.unite_with_start(state.clone(), what),
        }
        Ok(())
    }

    /// Adds a moment unless it cannot be, or is covered by another one.
    fn add(
        &mut self,
        moment: Moment<T::State>,
        from: Option<(usize, WayStep<T::Step>)>,
    ) -> Result<(), NoAnswer> {
        let key = (moment.born, moment.state.clone());
        if self.seen.get(&key).is_some_and(|all| all.iter().any(|known| is_covered(&moment.counts, known))) {
            return Ok(());
        }
        let label = self.thread.label(&moment.state);
        for ((template, state), amount) in &moment.counts {
            let other = &self.context.acfas[*template].states[*state].label;
            if *amount != Amount::Many && !self.labels.can_hold(&label.and(other), self.budget)? {
                return Ok(());
            }
        }
        let known = self.seen.entry(key).or_default();
        known.retain(|known| !is_covered(known, &moment.counts));
        known.push(moment.counts.clone());
        self.open.push_back(self.list.len());
        self.list.push((moment, from));
        Ok(())
    }

    /// Whether a moment is covered by another one that came later.
    fn is_superseded(&self, moment: &Moment<T::State>) -> bool {
        let key = (moment.born, moment.state.clone());
        self.seen.get(&key).is_none_or(|all| !all.contains(&moment.counts))
    }

    fn own_steps(&mut self, number: usize, moment: &Moment<T::State>) -> Result<(), NoAnswer> {
        let Moment { present, state, counts, .. } = moment;
        // Not while another thread is in an atomic state.
        if self.context.occupied(counts).next().is_some() {
            return Ok(());
        }
        for (action, step, next) in self.thread.steps(state, self.budget)? {
            let mut behind = counts.clone();
            action.starts.iter().for_each(|started| self.context.start_one(&mut behind, *started));
            if let Some(graph) = &mut self.graph {
                graph.connect(
                    state,
                    action,
                    step.clone(),
                    next.clone(),
                    seen(self.thread, &next, self.budget)?,
                );
            }
            let moment = Moment { present: *present, born: true, state: next, counts: behind };
            self.add(moment, Some((number, WayStep::Own(step))))?;
        }
        if let Some(graph) = &mut self.graph {
            graph.complete(state);
        }
        Ok(())
    }

    fn other_steps(&mut self, number: usize, moment: &Moment<T::State>) -> Result<(), NoAnswer> {
        let Moment { present, born, state, counts } = moment;
        let (context, thread) = (self.context, self.thread);
        let alone = *born && thread.is_atomic(state);
        let edges: Vec<(TemplateId, &AbstractEdge)> = context.enabled(counts, alone).collect();
        for (who, edge) in edges {
            let Some(behind) = context.after(counts, who, edge, None) else { continue };
            let label = &context.acfas[who].states[edge.target].label;
            for next in thread.disturbed(state, &edge.action, label, self.budget)? {
                if *born && let Some(graph) = &mut self.graph {
                    graph.unite(state, next.clone(), seen(thread, &next, self.budget)?);
                }
                let moment =
                    Moment { present: *present, born: *born, state: next.clone(), counts: behind.clone() };
                self.add(moment, Some((number, WayStep::Other(who, edge.clone()))))?;
                if !*born && edge.action.starts.contains(&self.template) {
                    let without = Some(self.template);
                    let Some(counts) = context.after(counts, who, edge, without) else { continue };
                    for state in thread.born(Some((state, who)), &next, self.budget)? {
                        self.enter(&state)?;
                        let step = WayStep::Birth(who, edge.clone());
                        let moment = Moment { present: false, born: true, state, counts: counts.clone() };
                        self.add(moment, Some((number, step)))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn way_to(&self, number: usize, conflict: Option<Conflict>) -> Way<T::Step> {
        let mut steps = Vec::new();
        let mut at = number;
        while let Some((before, step)) = &self.list[at].1 {
            steps.push(step.clone());
            at = *before;
        }
        steps.reverse();
        Way { present: self.list[number].0.present, steps, conflict }
    }

    fn finish(self) -> Reached<T::State, T::Step> {
        let born = self.seen.into_iter().filter(|((born, _), _)| *born);
        let moments = born
            .flat_map(|((_, state), all)| {
                all.into_iter().map(move |counts| Seen { state: state.clone(), at: None, counts })
            })
            .collect();
        Reached { graph: self.graph.map(|graph| graph.finish()), moments }
    }
}

/// Whether a thread in a state is at an error beside some others: by itself, or by a race.
pub(crate) fn error<T: Thread>(
    thread: &T,
    context: &Context<'_>,
    state: &T::State,
    others: &Counts,
    budget: &Budget,
) -> Result<Option<Option<Conflict>>, NoAnswer> {
    if thread.is_error(state) {
        return Ok(Some(None));
    }
    let atomic: Vec<Spot> = context.occupied(others).collect();
    for spot in others.keys() {
        // While a thread is in an atomic state, only its own accesses collide with others.
        if atomic.iter().any(|other| other != spot) {
            continue;
        }
        let (template, at) = *spot;
        let other = &context.acfas[template].states[at];
        if let Some(accesses) = thread.conflict(state, template, other, budget)? {
            return Ok(Some(Some(Conflict { spot: *spot, accesses })));
        }
    }
    Ok(None)
}

/// The ways in which a thread of a template may come to be: whether it is there at the start, and who else is.
pub fn beginnings(
    context: &Context<'_>,
    start: &[(TemplateId, ir::Count)],
    template: TemplateId,
    started_later: bool,
) -> Vec<(bool, Counts)> {
    let here = start.iter().any(|(other, count)| *other == template && *count != ir::Count::Exactly(0));
    let present = here.then(|| (true, context.start(start, Some(template))));
    let later = started_later.then(|| (false, context.start(start, None)));
    present.into_iter().chain(later).collect()
}
