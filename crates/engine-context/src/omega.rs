//! ω-CIRC (paper 1, section 5, ω-check): infers a context of few threads, and then shows that it is sound for
//! any number of threads.
//!
//! All that the automata can come to together is computed ([`environment()`]). A thread in a state of its
//! graph, whose automaton is in some state, sees one of those configurations, without itself. If then no such
//! thread is at an error, each of its steps is in the graph, each step of another one leaves it in its node,
//! and threads that it starts begin in the first node of their graph, then the automata are right for any
//! number of threads, by induction on the length of executions. Under-approximates: what is not shown may
//! hold.
//!
//! Deviations:
//! 1. The paper runs k threads from the start. Here threads are started: at most k of each template are there
//!    beside the one that is looked at.
//! 2. It asks, for each node, whether what that says is kept by each step that is possible anywhere beside
//!    it. Here the same is asked of the states of a node, for each configuration.
//! 3. Errors are looked for again: more threads may be at one.
//! 4. Where the check fails, the paper continues with a larger k. Here CIRC continues with the automata that
//!    were found.

use crate::check_sim::Pairs;
use crate::collapse::Watched;
use crate::counts::Context;
use crate::environment::environment;
use crate::infer::{Inference, Inferred, Proved};
use crate::labels::Labels;
use crate::reach::{ViewOfOthers, error};
use crate::thread::Thread;
use ir::{Count, IdVec, TemplateId};
use smt::NoAnswer;
use std::collections::{BTreeMap, BTreeSet};
use verdict::{AbstractId, Acfa, Budget};

/// Infers a context for the threads of a program: of few threads at first.
pub fn omega_infer<T: Thread>(
    threads: &IdVec<TemplateId, T>,
    start: &[(TemplateId, Count)],
    k: u32,
    watched: &Watched,
    budget: &Budget,
) -> Result<Inferred<T::State, T::Step>, NoAnswer> {
    let mut inference = Inference::new(threads, start, k, watched, budget);
    let (acfas, mut proved) = match inference.run(Some(k))? {
        Inferred::Safe(acfas, proved) => (acfas, proved),
        trace @ Inferred::Error(..) => return Ok(trace),
    };
    let check = Check { threads, start, acfas: &acfas, proved: &proved, k, budget };
    match check.run(&mut inference.labels)? {
        Some(all) => {
            for (template, moments) in all.into_iter().enumerate() {
                proved[TemplateId(template as u32)].reached.moments = moments;
            }
            Ok(Inferred::Safe(acfas, proved))
        }
        None => inference.run(None),
    }
}

/// What threads may see of the others, for each template.
type SeenOfEach<T> = Vec<Vec<ViewOfOthers<<T as Thread>::State>>>;

struct Check<'a, T: Thread> {
    threads: &'a IdVec<TemplateId, T>,
    start: &'a [(TemplateId, Count)],
    acfas: &'a IdVec<TemplateId, Acfa>,
    proved: &'a IdVec<TemplateId, Proved<T::State, T::Step>>,
    k: u32,
    budget: &'a Budget,
}

impl<T: Thread> Check<'_, T> {
    /// What threads of each template may see of the others; `None` when the automata are not shown to be
    /// right.
    fn run(&self, labels: &mut Labels) -> Result<Option<SeenOfEach<T>>, NoAnswer> {
        let context = Context { acfas: self.acfas, k: self.k, most: None };
        let start = context.start(self.start, None);
        let reachable = environment(&context, start, labels, self.budget)?;
        let mut all = Vec::new();
        for (template, thread) in self.threads.enumerate() {
            let proved = &self.proved[template];
            let Some(graph) = &proved.reached.graph else {
                if reachable.iter().any(|counts| counts.keys().any(|(other, _)| *other == template)) {
                    return Ok(None);
                }
                all.push(Vec::new());
                continue;
            };
            let mut states: BTreeMap<AbstractId, Vec<&T::State>> = BTreeMap::new();
            for (state, node) in &graph.nodes {
                states.entry(*node).or_default().push(state);
            }
            let mut seen: BTreeSet<ViewOfOthers<T::State>> = BTreeSet::new();
            let mut asked = BTreeSet::new();
            for (node, at) in Pairs::of(graph, &self.acfas[template], &proved.simulation).pairs {
                for counts in &reachable {
                    let Some(others) = context.without(counts, (template, at)) else { continue };
                    self.budget.check(seen.len() as u64 * 300).map_err(NoAnswer::Exhausted)?;
                    let holds = context.invariant(&others);
                    for state in states.get(&node).into_iter().flatten() {
                        if !labels.can_hold(&thread.label(state).and(&holds), self.budget)? {
                            continue;
                        }
                        let moment =
                            ViewOfOthers { state: (*state).clone(), at: Some(at), counts: others.clone() };
                        if asked.insert((moment.state.clone(), others.clone()))
                            && !self.is_good(&context, template, node, &moment)?
                        {
                            return Ok(None);
                        }
                        seen.insert(moment);
                    }
                }
            }
            all.push(seen.into_iter().collect());
        }
        Ok(Some(all))
    }

    /// Whether a thread is not at an error, and all that it and others do is in its graph.
    fn is_good(
        &self,
        context: &Context<'_>,
        template: TemplateId,
        node: AbstractId,
        ViewOfOthers { state, counts, .. }: &ViewOfOthers<T::State>,
    ) -> Result<bool, NoAnswer> {
        let (thread, budget) = (&self.threads[template], self.budget);
        let Some(graph) = &self.proved[template].reached.graph else { return Ok(false) };
        if error(thread, context, state, counts, budget)?.is_some() {
            return Ok(false);
        }
        if context.occupied(counts).next().is_none() {
            let steps = thread.steps(state, budget)?;
            if !steps.is_empty() && !graph.explored.contains(state) {
                return Ok(false);
            }
            for (action, _, next) in steps {
                for started in action.starts {
                    if !self.begins(template, state, &next, started)? {
                        return Ok(false);
                    }
                }
            }
        }
        for (who, edge) in context.enabled(counts, thread.is_atomic(state)) {
            let label = &self.acfas[who].states[edge.target].label;
            for next in thread.after_environment_step(state, &edge.action, label, budget)? {
                if graph.nodes.get(&next) != Some(&node) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether threads of a template that another one starts, between two of its states, begin in the first
    /// node of their graph.
    fn begins(
        &self,
        starter: TemplateId,
        before: &T::State,
        after: &T::State,
        started: TemplateId,
    ) -> Result<bool, NoAnswer> {
        let Some(graph) = &self.proved[started].reached.graph else { return Ok(false) };
        let outside = |state| self.threads[starter].outside(state);
        let (before, after) = (outside(before), outside(after));
        let states = self.threads[started].start_states(Some((&before, starter)), &after, self.budget)?;
        Ok(states.iter().all(|state| graph.nodes.get(state) == Some(&graph.acfa.start)))
    }
}
