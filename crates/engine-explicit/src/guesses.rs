//! Values for what a program leaves open: those that are given, and candidates at random.

use executions::model::Model;
use ir::semantics::{Choice, ChoiceKind, Choices};
use ir::{EdgeId, TemplateId, Value};

/// Gives values to one step.
pub struct Guesses<'a, 'p> {
    /// Where candidates come from.
    pub model: &'a Model<'p>,
    /// The step.
    pub edge: (TemplateId, EdgeId),
    /// Where chance comes from.
    pub random: usize,
    /// Three times of four it is one of the first so many candidates: what a value is compared with comes
    /// first.
    pub likely: usize,
    /// What is taken first, as far as it fits.
    pub given: &'a [Value],
    /// What was taken.
    pub made: Vec<Value>,
    /// How many inputs were asked for.
    pub asked: usize,
    /// Whether a value was asked for that is not modelled.
    pub tainted: bool,
}

impl<'a, 'p> Guesses<'a, 'p> {
    /// For a step that has not begun.
    pub fn new(model: &'a Model<'p>, edge: (TemplateId, EdgeId), random: usize) -> Self {
        Self { model, edge, random, likely: usize::MAX, given: &[], made: vec![], asked: 0, tainted: false }
    }
}

impl Choices for Guesses<'_, '_> {
    fn choose(&mut self, choice: Choice) -> Value {
        self.tainted |= choice.kind == ChoiceKind::Unknown;
        let candidates = self.model.facts.inputs.of_choice(self.edge, &mut self.asked, choice);
        let given = self.given.get(self.made.len()).copied().filter(|value| choice.ty.contains(*value));
        let value = given.unwrap_or_else(|| {
            let all = candidates.values.len().max(1);
            let count = if self.random.is_multiple_of(4) { all } else { all.min(self.likely) };
            self.random /= 4;
            let value = candidates.values.get(self.random % count).copied().unwrap_or(0);
            self.random /= count;
            value
        });
        self.made.push(value);
        value
    }
}
