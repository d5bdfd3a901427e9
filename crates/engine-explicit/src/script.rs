//! Open values of one step, one combination after the other.

use crate::random::Random;
use executions::inputs::{Candidates, Inputs};
use ir::semantics::{Choice, ChoiceKind, Choices};
use ir::{EdgeId, TemplateId, Value};

/// Gives a step its open values, and remembers which. After a run, [`next`](Self::next) moves on to the next
/// combination. The first combination is all zeros, as the definition of races wants it.
pub struct Script<'a> {
    inputs: &'a Inputs,
    edge: (TemplateId, EdgeId),
    /// How many candidates to try for each value.
    limit: usize,
    /// Which candidate each value of the current run takes; later ones take the first.
    plan: Vec<usize>,
    made: Vec<Made>,
    /// How many inputs were asked for in this run (open memory does not count).
    asked: usize,
    /// What has shown in all runs together.
    pub seen: StepChoices,
    /// Whether the current run took a value that is not modelled.
    pub tainted: bool,
    /// For values at random: then there is one run.
    random: Option<Random>,
}

/// What a step's open values mean for the search.
#[derive(Clone, Copy, Default)]
pub struct StepChoices {
    /// Some value has more candidates than were tried.
    pub truncated: bool,
    /// The candidates of some value do not stand for all of its values.
    pub inexact: bool,
    /// Memory was given a value by being read.
    pub opened: bool,
}

struct Made {
    index: usize,
    count: usize,
    value: Value,
}

impl<'a> Script<'a> {
    /// A script for one edge.
    pub fn new(inputs: &'a Inputs, template: TemplateId, edge: EdgeId, limit: usize) -> Self {
        Self {
            inputs,
            edge: (template, edge),
            limit,
            plan: Vec::new(),
            made: Vec::new(),
            asked: 0,
            seen: StepChoices::default(),
            tainted: false,
            random: None,
        }
    }
    /// The same with one combination at random.
    pub fn at_random(self, random: Random) -> Self {
        Self { random: Some(random), ..self }
    }
    /// The values of the current run.
    pub fn values(&self) -> Vec<Value> {
        self.made.iter().map(|made| made.value).collect()
    }
    /// Whether the current run asked for any value.
    pub fn is_open(&self) -> bool {
        !self.made.is_empty()
    }
    /// Moves on to the next combination; says whether there is one.
    pub fn next(&mut self) -> bool {
        if self.random.is_some() {
            return false;
        }
        while let Some(last) = self.made.pop() {
            if last.index + 1 < last.count {
                self.plan.clear();
                self.plan.extend(self.made.iter().map(|made| made.index));
                self.plan.push(last.index + 1);
                self.made.clear();
                self.asked = 0;
                self.tainted = false;
                return true;
            }
        }
        false
    }
}

impl Choices for Script<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let reuse;
        let candidates = match choice.kind {
            ChoiceKind::Open => {
                self.seen.opened = true;
                self.inputs.of_type(choice.ty)
            }
            ChoiceKind::Reuse(count) => {
                reuse = Candidates::of_reuse(count);
                &reuse
            }
            ChoiceKind::Any | ChoiceKind::Unknown => {
                self.tainted |= choice.kind == ChoiceKind::Unknown;
                self.asked += 1;
                self.inputs.of_edge(self.edge.0, self.edge.1, self.asked - 1, choice.ty)
            }
        };
        let count = candidates.values.len().min(self.limit).max(1);
        self.seen.inexact |= !candidates.exact;
        self.seen.truncated |= candidates.values.len() > count;
        let index = match &mut self.random {
            Some(random) => random.below(count),
            None => self.plan.get(self.made.len()).copied().unwrap_or(0),
        };
        let value = candidates.values.get(index).copied().unwrap_or(0);
        self.made.push(Made { index, count, value });
        value
    }
}
