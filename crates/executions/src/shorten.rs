//! Shortens traces and reduces switches, by trial and error: any trace that still reaches a violation is
//! accepted.

use crate::model::Model;
use ir::Value;
use ir::semantics::{Choice, Choices, State, ThreadIndex};
use std::time::Duration;
use verdict::{Budget, Trace, TraceStep, Violation};

/// The longest that is spent on one trace, counted in steps: which trace is found does not depend on the
/// machine.
const PATIENCE: Duration = Duration::from_secs(2);

/// The values that a step was given; anything else does not fit.
pub struct Given<'a> {
    values: std::slice::Iter<'a, Value>,
    fits: bool,
}

impl<'a> Given<'a> {
    /// Those of a step that has not begun.
    pub fn new(values: &'a [Value]) -> Self {
        Self { values: values.iter(), fits: true }
    }

    /// Whether all were taken, and no other was asked for.
    pub fn is_used_up(&self) -> bool {
        self.fits && self.values.len() == 0
    }
}

impl Choices for Given<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let value = self.values.next().copied().filter(|value| choice.ty.contains(*value));
        self.fits &= value.is_some();
        value.unwrap_or(0)
    }
}

struct Shortener<'a, 'p> {
    model: &'a Model<'p>,
    copies: Vec<u32>,
    budget: Budget,
}

/// A trace to a violation that is no longer than the given one.
pub fn shorten(model: &Model<'_>, trace: Trace, budget: &Budget) -> Trace {
    let budget = budget.part(4).patient_for(PATIENCE);
    let shortener = Shortener { model, copies: trace.copies.clone(), budget };
    let mut best = trace.clone();
    // The shortest beginning that is bad already.
    if let Some(shorter) = shortener.run(&best.steps, true) {
        best = shorter;
    }
    while let Some(better) = shortener.without_suffixes(&best) {
        best = better;
    }
    while let Some(better) = shortener.with_fewer_switches(&best) {
        best = better;
    }
    if model.is_evidence(&best) { best } else { trace }
}

impl Shortener<'_, '_> {
    /// Runs steps; gives the trace back if they end in a violation, or, `early`, as soon as they reach one.
    fn run(&self, steps: &[TraceStep], early: bool) -> Option<Trace> {
        let machine = &self.model.machine;
        let mut state = machine.initial(&self.copies).ok()?;
        let mut log = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            if early && let Some(violation) = self.model.violation(&state) {
                return Some(self.trace(&steps[..index], violation));
            }
            if self.budget.check(0).is_err() || !self.may_run(&state, step) {
                return None;
            }
            log.clear();
            let mut given = Given::new(&step.choices);
            machine.advance(&mut state, step.thread, step.edge, &mut given, &mut log).ok()?;
            if !given.is_used_up() {
                return None;
            }
        }
        let violation = self.model.violation(&state)?;
        Some(self.trace(steps, violation))
    }

    fn trace(&self, steps: &[TraceStep], violation: Violation) -> Trace {
        Trace { copies: self.copies.clone(), steps: steps.to_vec(), violation }
    }

    fn may_run(&self, state: &State, step: &TraceStep) -> bool {
        let machine = &self.model.machine;
        !state.halted
            && step.thread < state.threads.len()
            && machine.edges(state, step.thread).contains(&step.edge)
            && (0..state.threads.len()).all(|other| other == step.thread || !machine.is_atomic(state, other))
    }

    /// Leaves out the last steps of some thread.
    fn without_suffixes(&self, trace: &Trace) -> Option<Trace> {
        let last = trace.steps.iter().map(|step| step.thread).max()?;
        for thread in (0..=last).rev() {
            let count = trace.steps.iter().filter(|step| step.thread == thread).count();
            let mut dropped = count;
            while dropped > 0 {
                let kept = keep_first(&trace.steps, thread, count - dropped);
                if let Some(shorter) = self.run(&kept, false) {
                    return Some(shorter);
                }
                dropped /= 2;
            }
        }
        None
    }

    /// Joins two runs of a thread by moving the later one forward or the earlier one back.
    fn with_fewer_switches(&self, trace: &Trace) -> Option<Trace> {
        let mut starts: Vec<usize> = vec![0];
        starts.extend(
            (1..trace.steps.len()).filter(|at| trace.steps[*at].thread != trace.steps[at - 1].thread),
        );
        starts.push(trace.steps.len());
        for first in 0..starts.len().saturating_sub(2) {
            let thread = trace.steps.get(starts[first])?.thread;
            let later = (first + 1..starts.len() - 1).find(|run| trace.steps[starts[*run]].thread == thread);
            let Some(later) = later else { continue };
            let [a, b, c, d] = [starts[first], starts[first + 1], starts[later], starts[later + 1]];
            let steps = &trace.steps;
            let forward = [&steps[..b], &steps[c..d], &steps[b..c], &steps[d..]].concat();
            let back = [&steps[..a], &steps[b..c], &steps[a..b], &steps[c..]].concat();
            for moved in [forward, back] {
                if switches(&moved) < switches(steps)
                    && let Some(better) = self.run(&moved, false)
                {
                    return Some(better);
                }
            }
        }
        None
    }
}

fn keep_first(steps: &[TraceStep], thread: ThreadIndex, mut count: usize) -> Vec<TraceStep> {
    let mut keep = |step: &&TraceStep| {
        if step.thread != thread {
            return true;
        }
        let kept = count > 0;
        count = count.saturating_sub(1);
        kept
    };
    steps.iter().filter(|step| keep(step)).cloned().collect()
}

fn switches(steps: &[TraceStep]) -> usize {
    steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}
