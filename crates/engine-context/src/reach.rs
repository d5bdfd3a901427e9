//! `ReachAndBuild` (paper 1, algorithm 1): all that a thread does in a context, as a graph; or an abstract
//! trace to an error. Over-approximates. Comments give the lines of the algorithm.
//!
//! Deviations:
//! 1. The thread need not exist at the start. Until it does, only the context moves; a step of the context
//!    that starts a thread of its template may start it. All states in which it may begin are one node of the
//!    graph.
//! 2. A state that contradicts the labels of the context is not explored further: it does not exist as long
//!    as the labels hold. But the step to it is in the graph. The paper also omits the step (it conjoins Ψ.Γ'
//!    to the state after it). That is circular within one step: a step that breaks another thread's label is
//!    never seen, since that label excludes it; and that label is never weakened, since no step is seen to
//!    break it. For the same reason, the state after a step of the context is known only by the label of the
//!    thread that takes it.
//! 3. A moment is not explored if another one with the same state covers its counts.

use crate::counts::{Context, Counts, Spot, is_covered};
use crate::graph::{Built, Graph};
use crate::labels::Labels;
use crate::thread::{Thread, seen};
use domains::Amount;
use ir::TemplateId;
use smt::NoAnswer;
use std::collections::{BTreeMap, VecDeque};
use verdict::{AbstractEdge, AbstractId, Budget};

/// A step of an abstract trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AbstractStep<Step> {
    /// Of the thread itself.
    Own(Step),
    /// Of a thread of the context.
    Other(TemplateId, AbstractEdge),
    /// Of a thread of the context, which starts the thread.
    Start(TemplateId, AbstractEdge),
}

/// Two accesses at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Where the other thread is.
    pub spot: Spot,
    /// The number of the thread's access, and of the other's.
    pub accesses: (u32, u32),
}

/// An abstract trace τ to an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbstractTrace<Step> {
    /// Whether the thread is there at the start.
    pub present: bool,
    /// The steps.
    pub steps: Vec<AbstractStep<Step>>,
    /// The race at its end; if there is none, the thread itself is at an error.
    pub conflict: Option<Conflict>,
}

/// The result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explored<State: Ord, Step> {
    /// No error.
    Graph(Reached<State, Step>),
    /// A trace to an error: the exception of line 9.
    Error(AbstractTrace<Step>),
}

/// All that a thread does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reached<State: Ord, Step> {
    /// The graph; `None` when the thread is never started.
    pub graph: Option<Built<State, Step>>,
    /// Its views of the others in each state; they cover everything that it can see.
    pub moments: Vec<ViewOfOthers<State>>,
}

/// A view of the others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ViewOfOthers<State> {
    /// Its state.
    pub state: State,
    /// The state of its automaton; `None` when that may be any that simulates it.
    pub at: Option<AbstractId>,
    /// The others.
    pub counts: Counts,
}

/// The thread and its context at some moment.
#[derive(Clone)]
struct Moment<State> {
    /// Whether the thread was there at the start.
    present: bool,
    /// Whether it was started.
    started: bool,
    state: State,
    counts: Counts,
}

/// A moment that was found, with the moment and the step that led to it.
type Found<T> = (Moment<<T as Thread>::State>, Option<(usize, AbstractStep<<T as Thread>::Step>)>);

/// Explores a thread of a template (algorithm 1). `starts`: whether it is there at the start of the program,
/// and who else is.
pub fn reach_and_build<T: Thread>(
    thread: &T,
    template: TemplateId,
    starts: &[(bool, Counts)],
    context: &Context<'_>,
    labels: &mut Labels,
    budget: &Budget,
) -> Result<Explored<T::State, T::Step>, NoAnswer> {
    // Line 2: L is `open`, Seen is `seen`, G is `graph`.
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
        for before in thread.before_start(budget)? {
            let states = if *present { thread.start_states(None, &before, budget)? } else { vec![before] };
            for state in states {
                if *present {
                    exploration.enter(&state)?;
                }
                let moment = Moment { present: *present, started: *present, state, counts: counts.clone() };
                exploration.add(moment, None)?;
            }
        }
    }
    // Lines 3 and 4.
    while let Some(number) = exploration.open.pop_front() {
        budget.check(exploration.list.len() as u64 * 300).map_err(NoAnswer::Exhausted)?;
        let moment = exploration.list[number].0.clone();
        // Lines 5 and 6 are in `add`; what was covered since then is not explored either.
        if exploration.is_superseded(&moment) {
            continue;
        }
        if moment.started {
            let Moment { state, counts, .. } = &moment;
            // Lines 7 to 9.
            if let Some(conflict) = error(thread, context, state, counts, budget)? {
                return Ok(Explored::Error(exploration.find_path(number, conflict)));
            }
            // Lines 11 to 14, for operations of the thread.
            exploration.own_steps(number, &moment)?;
        }
        // Lines 11 to 14, for operations of the context.
        exploration.other_steps(number, &moment)?;
    }
    // Line 15.
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
            Some(graph) => graph.union_with_start(state.clone(), what),
        }
        Ok(())
    }

    /// Adds a moment to the worklist (line 14) unless it is impossible or covered by another (lines 5 and 6).
    fn add(
        &mut self,
        moment: Moment<T::State>,
        from: Option<(usize, AbstractStep<T::Step>)>,
    ) -> Result<(), NoAnswer> {
        let key = (moment.started, moment.state.clone());
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
        let key = (moment.started, moment.state.clone());
        self.seen.get(&key).is_none_or(|all| !all.contains(&moment.counts))
    }

    fn own_steps(&mut self, number: usize, moment: &Moment<T::State>) -> Result<(), NoAnswer> {
        let Moment { present, state, counts, .. } = moment;
        // Not while another thread is in an atomic state.
        if self.context.occupied(counts).next().is_some() {
            return Ok(());
        }
        // Lines 11 and 12: `post` of each operation of the thread.
        for (action, step, next) in self.thread.steps(state, self.budget)? {
            let mut after = counts.clone();
            action.starts.iter().for_each(|started| self.context.start_one(&mut after, *started));
            // Line 13.
            if let Some(graph) = &mut self.graph {
                graph.connect(
                    state,
                    action,
                    step.clone(),
                    next.clone(),
                    seen(self.thread, &next, self.budget)?,
                );
            }
            let moment = Moment { present: *present, started: true, state: next, counts: after };
            self.add(moment, Some((number, AbstractStep::Own(step))))?;
        }
        if let Some(graph) = &mut self.graph {
            graph.complete(state);
        }
        Ok(())
    }

    fn other_steps(&mut self, number: usize, moment: &Moment<T::State>) -> Result<(), NoAnswer> {
        let Moment { present, started, state, counts } = moment;
        let (context, thread) = (self.context, self.thread);
        let alone = *started && thread.is_atomic(state);
        let edges: Vec<(TemplateId, &AbstractEdge)> = context.enabled(counts, alone).collect();
        for (who, edge) in edges {
            // Lines 11 and 12: `post` of each enabled edge of the context.
            let Some(after) = context.after(counts, who, edge, None) else { continue };
            let label = &context.acfas[who].states[edge.target].label;
            for next in thread.after_environment_step(state, &edge.action, label, self.budget)? {
                // Line 13: `Connect` of a context operation is `Union`.
                if *started && let Some(graph) = &mut self.graph {
                    graph.union(state, next.clone(), seen(thread, &next, self.budget)?);
                }
                let moment = Moment {
                    present: *present,
                    started: *started,
                    state: next.clone(),
                    counts: after.clone(),
                };
                self.add(moment, Some((number, AbstractStep::Other(who, edge.clone()))))?;
                if !*started && edge.action.starts.contains(&self.template) {
                    let without = Some(self.template);
                    let Some(counts) = context.after(counts, who, edge, without) else { continue };
                    for state in thread.start_states(Some((state, who)), &next, self.budget)? {
                        self.enter(&state)?;
                        let step = AbstractStep::Start(who, edge.clone());
                        let moment = Moment { present: false, started: true, state, counts: counts.clone() };
                        self.add(moment, Some((number, step)))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `FindPath` (line 8): the trace that led to a moment.
    fn find_path(&self, number: usize, conflict: Option<Conflict>) -> AbstractTrace<T::Step> {
        let mut steps = Vec::new();
        let mut at = number;
        while let Some((before, step)) = &self.list[at].1 {
            steps.push(step.clone());
            at = *before;
        }
        steps.reverse();
        AbstractTrace { present: self.list[number].0.present, steps, conflict }
    }

    fn finish(self) -> Reached<T::State, T::Step> {
        let started = self.seen.into_iter().filter(|((started, _), _)| *started);
        let moments = started
            .flat_map(|((_, state), all)| {
                all.into_iter().map(move |counts| ViewOfOthers { state: state.clone(), at: None, counts })
            })
            .collect();
        Reached { graph: self.graph.map(|graph| graph.finish()), moments }
    }
}

/// Whether a thread in a state is at an error, by itself or by a race with others.
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
        // While a thread is in an atomic state, only its own accesses race with others.
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

/// How a thread of a template may come to exist: whether it runs from the start, and which others do.
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
