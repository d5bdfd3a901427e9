//! `Refine` (paper 1, section 5): the interleaving of an abstract trace, and its trace formula.
//!
//! Threads of the context get names when they are started. A step of one is an edge of its automaton; it
//! becomes a path through the graph of which the automaton is a quotient, with the same observables as the
//! edge. If the trace moves a thread that was never started, the counters are too imprecise: k is too small.
//! Otherwise the solver decides the trace formula. If it is satisfiable, the violation is real as far as
//! formulas show; else predicates are mined from the contradiction.
//!
//! Deviations:
//! 1. The path of a thread is a shortest one; if it is infeasible, others are not tried: excluding it yields
//!    their predicates as well.
//! 2. The trace does not say when a thread of the context takes its silent steps. They are tried as late and
//!    as early as possible, for each of the first few threads.

use crate::counts::Spot;
use crate::graph::Move;
use crate::infer::Assumed;
use crate::predicate_thread::Known;
use crate::reach::{AbstractStep, AbstractTrace};
use ir::{IdVec, TemplateId};
use sequential::predicates::{PathEnd, PathStep};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use transitions::Scoped;
use verdict::{AbstractEdge, AbstractId};

/// The meaning of an abstract trace.
pub enum Interleaving {
    /// Steps of named threads, and what must hold at their end.
    Steps(NamedPath),
    /// A thread moves that was never started.
    TooFew,
    /// A thread has no path for an edge of its automaton.
    NoPath,
}

/// Steps of named threads.
pub struct NamedPath {
    /// The steps, with the number of threads that each starts, and whether it is a silent one of a thread of
    /// the context. Those are as late as can be.
    steps: Vec<(PathStep, usize, bool)>,
    /// What must hold at the end.
    pub end: Option<PathEnd>,
}

/// The most threads whose silent steps are moved in all combinations.
const MOST_MOVED: usize = 3;

impl NamedPath {
    /// The steps in different orders: silent ones late, then early, then late or early for each thread.
    pub fn orders(&self) -> Vec<Vec<PathStep>> {
        let silent = self.steps.iter().filter(|(_, _, silent)| *silent).map(|(taken, _, _)| taken.thread);
        let movable: Vec<usize> = silent.collect::<BTreeSet<_>>().into_iter().collect();
        let mut found: Vec<Vec<PathStep>> = Vec::new();
        let all: BTreeSet<usize> = movable.iter().copied().collect();
        let some = (0..1usize << movable.len().min(MOST_MOVED)).map(|chosen| {
            let early = movable.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
            early.map(|(_, thread)| *thread).collect::<BTreeSet<usize>>()
        });
        for early in [BTreeSet::new(), all].into_iter().chain(some) {
            let order = self.order(&early);
            if !found.contains(&order) {
                found.push(order);
            }
        }
        found
    }

    /// The steps with the silent ones of some threads as early as can be: right after the step of the thread
    /// before them, or the one that starts it.
    fn order(&self, early: &BTreeSet<usize>) -> Vec<PathStep> {
        let mut order: Vec<(PathStep, usize)> = Vec::new();
        for (taken, starts, silent) in &self.steps {
            let mut at = order.len();
            if *silent && early.contains(&taken.thread) {
                let last = order.iter().rposition(|(other, _)| other.thread == taken.thread);
                // The first thread is there; the others are numbered as they are started.
                let mut threads = 1;
                let start = order.iter().position(|(_, starts)| {
                    threads += starts;
                    threads > taken.thread
                });
                let start = start.filter(|_| taken.thread > 0);
                at = last.or(start).map_or(0, |at| at + 1);
            }
            order.insert(at, (*taken, *starts));
        }
        order.into_iter().map(|(taken, _)| taken).collect()
    }
}

/// What was assumed of the threads of each template.
pub type Automata = IdVec<TemplateId, Assumed<Known, usize>>;

/// A thread of the context.
struct Token {
    template: TemplateId,
    number: usize,
    /// Where it is in its automaton, and in the graph that it is a quotient of.
    state: AbstractId,
    node: AbstractId,
}

struct Threads<'a, 'p> {
    scoped: &'a Scoped<'p>,
    assumed: &'a Automata,
    tokens: Vec<Token>,
    /// How many threads were started.
    count: usize,
    steps: Vec<(PathStep, usize, bool)>,
}

/// The interleaving of an abstract trace of a thread of a template.
pub fn interleaving(scoped: &Scoped<'_>, assumed: &Automata, trace: &AbstractTrace<usize>) -> Interleaving {
    let mut threads = Threads { scoped, assumed, tokens: Vec::new(), count: 0, steps: Vec::new() };
    // The first thread is the one that the trace is about, or another one.
    let mut me = if trace.present {
        threads.count = 1;
        Some(0)
    } else {
        threads.start(scoped.main);
        None
    };
    for step in needed(scoped, assumed, trace) {
        match step {
            AbstractStep::Own(step) => {
                let Some(me) = me else { return Interleaving::NoPath };
                threads.take(me, *step, false);
            }
            AbstractStep::Other(template, edge) | AbstractStep::Start(template, edge) => {
                let first_new = threads.tokens.len();
                match threads.follow(*template, edge) {
                    Ok(()) => {}
                    Err(failed) => return failed,
                }
                if let AbstractStep::Start(..) = step {
                    // One of those that were just started is the one.
                    let found = threads.take_started(first_new, trace);
                    let Some(number) = found else { return Interleaving::NoPath };
                    me = Some(number);
                }
            }
        }
    }
    let Some(conflict) = &trace.conflict else {
        return Interleaving::Steps(NamedPath { steps: threads.steps, end: None });
    };
    let (template, state) = conflict.spot;
    let other = threads.tokens.iter().find(|token| (token.template, token.state) == (template, state));
    let (Some(me), Some(other)) = (me, other) else { return Interleaving::TooFew };
    let (one, two) = conflict.accesses;
    let accesses = &scoped.accesses;
    let condition = scoped.race(&accesses[one as usize], &accesses[two as usize]);
    let end = PathEnd { threads: [me, other.number], condition };
    Interleaving::Steps(NamedPath { steps: threads.steps, end: Some(end) })
}

/// The steps of a trace without those of others that change nothing and lead nowhere where somebody is needed
/// later.
fn needed<'t>(
    scoped: &Scoped<'_>,
    assumed: &Automata,
    trace: &'t AbstractTrace<usize>,
) -> Vec<&'t AbstractStep<usize>> {
    let mut wanted: BTreeMap<Spot, usize> = BTreeMap::new();
    if let Some(conflict) = &trace.conflict {
        wanted.insert(conflict.spot, 1);
    }
    let take = |wanted: &mut BTreeMap<Spot, usize>, spot: Spot| match wanted.get_mut(&spot) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    let mut kept = Vec::new();
    for step in trace.steps.iter().rev() {
        match step {
            AbstractStep::Own(own) => {
                for start in &scoped.steps[*own].starts {
                    take(&mut wanted, (start.template, assumed[start.template].acfa.start));
                }
            }
            AbstractStep::Other(template, edge) | AbstractStep::Start(template, edge) => {
                for started in &edge.action.starts {
                    take(&mut wanted, (*started, assumed[*started].acfa.start));
                }
                let stays = take(&mut wanted, (*template, edge.target));
                if !stays && edge.action.is_silent() {
                    continue;
                }
                *wanted.entry((*template, edge.source)).or_default() += 1;
            }
        }
        kept.push(step);
    }
    kept.reverse();
    kept
}

impl Threads<'_, '_> {
    fn start(&mut self, template: TemplateId) {
        let assumed = &self.assumed[template];
        let node = assumed.origin.as_ref().map_or(assumed.acfa.start, |(graph, _)| graph.acfa.start);
        self.tokens.push(Token { template, number: self.count, state: assumed.acfa.start, node });
        self.count += 1;
    }

    /// A thread takes a step of the program.
    fn take(&mut self, thread: usize, step: usize, silent: bool) {
        let starts = &self.scoped.steps[step].starts;
        self.steps.push((PathStep { thread, step }, starts.len(), silent));
        starts.iter().for_each(|start| self.start(start.template));
    }

    /// Removes the thread of the trace from those that were just started.
    fn take_started(&mut self, first_new: usize, trace: &AbstractTrace<usize>) -> Option<usize> {
        let template = self.template_of(trace)?;
        let at = (first_new..self.tokens.len()).find(|at| self.tokens[*at].template == template)?;
        Some(self.tokens.remove(at).number)
    }

    /// The template of the thread that a trace is about: its own steps say it, or its access.
    fn template_of(&self, trace: &AbstractTrace<usize>) -> Option<TemplateId> {
        let own = trace.steps.iter().find_map(|step| match step {
            AbstractStep::Own(step) => Some(self.scoped.steps[*step].template),
            AbstractStep::Other(..) | AbstractStep::Start(..) => None,
        });
        own.or_else(|| Some(self.scoped.accesses[trace.conflict.as_ref()?.accesses.0 as usize].template))
    }

    /// A thread of the context takes an edge of its automaton.
    fn follow(&mut self, template: TemplateId, edge: &AbstractEdge) -> Result<(), Interleaving> {
        let is_there = |token: &Token| (token.template, token.state) == (template, edge.source);
        let Some(at) = self.tokens.iter().position(is_there) else { return Err(Interleaving::TooFew) };
        let (graph, part_of) = self.assumed[template].origin.as_ref().ok_or(Interleaving::NoPath)?;
        let (path, node) =
            path(&graph.moves, part_of, self.tokens[at].node, edge).ok_or(Interleaving::NoPath)?;
        self.tokens[at].state = edge.target;
        self.tokens[at].node = node;
        let number = self.tokens[at].number;
        path.into_iter().for_each(|(step, silent)| self.take(number, step, silent));
        Ok(())
    }
}

/// A shortest path from a node that matches an edge of the quotient: silent steps, a step for the edge,
/// silent steps. Returns which are silent, and its end.
fn path(
    moves: &[Move<usize>],
    part_of: &IdVec<AbstractId, AbstractId>,
    from: AbstractId,
    edge: &AbstractEdge,
) -> Option<(Vec<(usize, bool)>, AbstractId)> {
    let is_edge = |action: &verdict::Action| {
        let wanted = &edge.action;
        action.havoc == wanted.havoc && action.starts == wanted.starts && action.after == wanted.after
    };
    // Whether the edge itself was taken; a silent one may be taken at any time.
    let first = (from, edge.action.is_silent());
    let mut seen = BTreeSet::from([first]);
    type Open = ((AbstractId, bool), Vec<(usize, bool)>);
    let mut open: VecDeque<Open> = VecDeque::from([(first, Vec::new())]);
    while let Some(((node, taken), path)) = open.pop_front() {
        if taken && part_of[node] == edge.target {
            return Some((path, node));
        }
        for Move { edge: other, step } in moves.iter().filter(|one| one.edge.source == node) {
            let mut next = Vec::new();
            if other.action.is_silent() {
                next.push((other.target, taken));
            }
            if !taken && is_edge(&other.action) {
                next.push((other.target, true));
            }
            for place in next.into_iter().filter(|place| seen.insert(*place)) {
                let silent = other.action.is_silent();
                open.push_back((place, path.iter().copied().chain([(*step, silent)]).collect()));
            }
        }
    }
    None
}
