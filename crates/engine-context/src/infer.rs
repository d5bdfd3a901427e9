//! The inner loop of CIRC (paper 1, algorithm 5, lines 4 to 9): a context that simulates each thread, or an
//! abstract trace to an error.
//!
//! At first threads are assumed to do nothing. Each round explores all templates in the current context; the
//! quotients of their graphs form the next one. When the assumed automaton of each template simulates its
//! graph, the property is proved, by circular reasoning: induction on the length of executions. `k` and the
//! abstraction are given; the caller decides what to do about a spurious trace.
//!
//! Deviation: there are several templates, and each is explored in turn.

use crate::check_sim::{Simulated, check_sim};
use crate::collapse::{Watched, collapse};
use crate::counts::Context;
use crate::graph::Built;
use crate::labels::Labels;
use crate::reach::{AbstractTrace, Explored, Reached, beginnings, reach_and_build};
use crate::thread::Thread;
use ir::{Count, IdVec, TemplateId};
use smt::NoAnswer;
use std::collections::BTreeSet;
use verdict::{AbstractId, Acfa, Budget};

/// Larger graphs are neither reduced nor compared: that takes too long.
const MOST_NODES: usize = 1_500;

/// The result.
#[derive(Debug)]
pub enum Inferred<State: Ord, Step> {
    /// No error: the automaton and the graph of each template.
    Safe(IdVec<TemplateId, Acfa>, IdVec<TemplateId, Proved<State, Step>>),
    /// An abstract trace to an error, of a thread of a template, in the context of these automata.
    Error(TemplateId, AbstractTrace<Step>, IdVec<TemplateId, Assumed<State, Step>>),
}

/// What is inferred of threads of this kind.
type InferredOf<T> = Inferred<<T as Thread>::State, <T as Thread>::Step>;

/// The behaviour of a template's threads.
#[derive(Debug)]
pub struct Proved<State: Ord, Step> {
    /// Their graph.
    pub reached: Reached<State, Step>,
    /// For each node of the graph, the states of the automaton that simulate it.
    pub simulation: IdVec<AbstractId, BTreeSet<AbstractId>>,
}

/// The assumption about the threads of a template.
#[derive(Debug)]
pub struct Assumed<State: Ord, Step> {
    /// The automaton.
    pub acfa: Acfa,
    /// The graph that it is a quotient of, and the state that each node of that is part of; `None` for the
    /// first.
    pub origin: Option<(Built<State, Step>, IdVec<AbstractId, AbstractId>)>,
}

/// Infers a context for the threads of a program.
pub fn infer<T: Thread>(
    threads: &IdVec<TemplateId, T>,
    start: &[(TemplateId, Count)],
    k: u32,
    watched: &Watched,
    budget: &Budget,
) -> Result<Inferred<T::State, T::Step>, NoAnswer> {
    Inference::new(threads, start, k, watched, budget).run(None)
}

/// The current assumptions.
pub(crate) struct Inference<'a, T: Thread> {
    threads: &'a IdVec<TemplateId, T>,
    start: &'a [(TemplateId, Count)],
    k: u32,
    watched: &'a Watched,
    budget: &'a Budget,
    assumed: IdVec<TemplateId, Assumed<T::State, T::Step>>,
    pub labels: Labels,
}

impl<'a, T: Thread> Inference<'a, T> {
    pub fn new(
        threads: &'a IdVec<TemplateId, T>,
        start: &'a [(TemplateId, Count)],
        k: u32,
        watched: &'a Watched,
        budget: &'a Budget,
    ) -> Self {
        // Line 4: the empty automaton.
        let assumed = threads.iter().map(|_| Assumed { acfa: Acfa::empty(), origin: None }).collect();
        Self { threads, start, k, watched, budget, assumed, labels: Labels::default() }
    }

    /// Lines 5 to 8, from the current assumptions. `most`: for a context of at most this many threads of each
    /// template.
    pub fn run(&mut self, most: Option<u32>) -> Result<Inferred<T::State, T::Step>, NoAnswer> {
        loop {
            self.budget.check(0).map_err(NoAnswer::Exhausted)?;
            if let Some(found) = self.round(most)? {
                return Ok(found);
            }
        }
    }

    /// Explores all templates in the assumed context. If they do more than that, their behaviour becomes the
    /// new assumption.
    fn round(&mut self, most: Option<u32>) -> Result<Option<InferredOf<T>>, NoAnswer> {
        let (budget, labels) = (self.budget, &mut self.labels);
        let acfas: IdVec<TemplateId, Acfa> =
            self.assumed.iter().map(|assumed| assumed.acfa.clone()).collect();
        let context = Context { acfas: &acfas, k: self.k, most };
        // Templates that are never started need not be simulated.
        let started: BTreeSet<TemplateId> =
            acfas.iter().flat_map(|acfa| &acfa.edges).flat_map(|edge| edge.action.starts.clone()).collect();
        let mut next: IdVec<TemplateId, Assumed<T::State, T::Step>> = IdVec::new();
        let mut proved: IdVec<TemplateId, Proved<T::State, T::Step>> = IdVec::new();
        let mut simulated = true;
        for (template, thread) in self.threads.enumerate() {
            // Line 7.
            let starts = beginnings(&context, self.start, template, started.contains(&template));
            let reached = match reach_and_build(thread, template, &starts, &context, labels, budget)? {
                Explored::Error(trace) => {
                    let assumed = std::mem::take(&mut self.assumed);
                    return Ok(Some(Inferred::Error(template, trace, assumed)));
                }
                Explored::Graph(reached) => reached,
            };
            let Some(graph) = &reached.graph else {
                next.push(Assumed { acfa: Acfa::empty(), origin: None });
                proved.push(Proved { reached, simulation: IdVec::new() });
                continue;
            };
            if graph.acfa.states.len() > MOST_NODES {
                return Err(NoAnswer::GaveUp(format!("a thread has more than {MOST_NODES} nodes")));
            }
            // Line 8: G ≼ A.
            let simulation = match check_sim(&graph.acfa, &acfas[template], labels, budget) {
                Simulated::Yes(simulation) => simulation,
                Simulated::No => {
                    simulated = false;
                    IdVec::new()
                }
                Simulated::Unsure(reason) => return Err(reason),
            };
            // Line 6, for the next round.
            let collapsed = collapse(&graph.acfa, self.watched, labels, budget);
            let origin = Some((graph.clone(), collapsed.part_of));
            next.push(Assumed { acfa: collapsed.acfa, origin });
            proved.push(Proved { reached, simulation });
        }
        // Line 9.
        if simulated {
            return Ok(Some(Inferred::Safe(acfas, proved)));
        }
        self.assumed = next;
        Ok(None)
    }
}
