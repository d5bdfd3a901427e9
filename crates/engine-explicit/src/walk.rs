//! Random walks: executions picked step by step, without a table of states. For programs whose states do not
//! fit into memory, or whose search is stuck in a corner. Finds violations only; the sequence of walks is the
//! same each time.

use crate::expand::{Expander, Successor};
use crate::random::{Random, SEEDS};
use executions::model::Model;
use ir::semantics::{ThreadIndex, Trail};
use verdict::{Budget, Exhausted, Trace};

/// Candidates for each open value.
const CANDIDATES: usize = 16;

/// Walks at random.
pub struct Walker {
    random: Random,
    /// Stored states after which a walk is given up; grows.
    length: usize,
    /// Whether the next walks follow one branch of each step, and not all to pick one at their ends: loops
    /// that inputs end are left soon that way, and long steps with many inputs are quick.
    narrow: bool,
}

impl Walker {
    /// A walker that has not yet moved.
    pub fn new() -> Self {
        Self { random: Random::new(SEEDS[0]), length: 64, narrow: false }
    }
    /// Walks again and again, for about so many steps.
    pub fn run(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        steps: u64,
        budget: &Budget,
    ) -> Result<Option<Trace>, Exhausted> {
        let mut expander = Expander::new(model, budget, CANDIDATES, true);
        expander.random = self.narrow.then(|| Random::new(1 + self.random.below(usize::MAX) as u64));
        self.narrow = !self.narrow;
        while expander.notes.steps < steps {
            let before = expander.notes.steps;
            if let Some(trace) = self.walk(&mut expander, copies) {
                return Ok(Some(trace));
            }
            if let Some(exhausted) = expander.stopped {
                return Err(exhausted);
            }
            if expander.notes.steps == before {
                return Ok(None);
            }
            self.length = (self.length + self.length / 16).min(20_000);
        }
        Ok(None)
    }

    fn walk(&mut self, expander: &mut Expander<'_, '_>, copies: &[u32]) -> Option<Trace> {
        let model = expander.model;
        let mut found = Vec::new();
        let initial = model.machine.initial(copies).ok()?;
        expander.run_on(
            Successor { state: initial, tainted: false, steps: Vec::new(), trail: Trail::default() },
            None,
            &mut found,
        );
        let mut steps = Vec::new();
        let mut last: ThreadIndex = 0;
        // How often a thread that could continue is left, in eighths.
        let restless = self.random.below(4);
        for _ in 0..self.length {
            if found.iter().any(|successor| !successor.tainted) {
                found.retain(|successor| !successor.tainted);
            }
            if found.is_empty() {
                return None;
            }
            let at = self.random.below(found.len());
            let Successor { state, steps: more, tainted, .. } = found.swap_remove(at);
            found.clear();
            steps.extend(more);
            if let Some(violation) = model.violation(&state) {
                let trace = Trace { copies: copies.to_vec(), steps, violation };
                return model.is_evidence(&trace).then_some(trace);
            }
            let mut threads = model.machine.schedulable(&state);
            if let Some(at) = threads.iter().position(|thread| *thread == last)
                && self.random.below(8) > restless
            {
                threads.swap(0, at);
            } else if !threads.is_empty() {
                let at = self.random.below(threads.len());
                threads.swap(0, at);
            }
            let start = if threads.len() > 1 { 1 + self.random.below(threads.len() - 1) } else { 0 };
            let (first, rest) = threads.split_first()?;
            let rest = rest.iter().cycle().skip(start).take(rest.len());
            for thread in std::iter::once(first).chain(rest) {
                expander.successors(&state, tainted, *thread, &mut found);
                if !found.is_empty() || expander.stopped.is_some() {
                    last = *thread;
                    break;
                }
            }
        }
        None
    }
}
