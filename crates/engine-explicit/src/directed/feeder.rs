//! The inputs of an execution: those of its plan, then defaults by its habit.

use super::distance::Step;
use super::execution::{Habit, Input, Plan};
use executions::inputs::Candidates;
use executions::model::Model;
use ir::Value;
use ir::semantics::{Choice, ChoiceKind, Choices};

/// After this many inputs of a step, its inputs change: time passes, and files end.
const PATIENT: u32 = 8;
/// Texts are made of this letter, and have one byte less than this.
const LETTER: Value = b'a' as Value;
const TEXT: u32 = 16;
/// The initial value of an input, if inputs should be plentiful.
const GENEROUS: [Value; 4] = [16, 6, 3, 1];

/// Supplies the inputs of a step: those of the plan, then defaults.
pub(super) struct Feeder<'f, 'p> {
    pub(super) model: &'f Model<'p>,
    pub(super) plan: &'f Plan,
    pub(super) step: Step,
    /// Its number in the execution.
    pub(super) number: usize,
    /// How often it has asked for inputs before.
    pub(super) before: u32,
    /// How many inputs were given before.
    pub(super) given: usize,
    /// How often the step was tried with other values.
    pub(super) attempt: usize,
    pub(super) random: usize,
    pub(super) made: Vec<Input>,
    /// How many of them were asked for by name.
    pub(super) asked: usize,
}

impl Feeder<'_, '_> {
    fn usual(&self, candidates: &Candidates, choice: Choice) -> Value {
        let count = candidates.values.len().max(1);
        let of = |number: usize| candidates.values.get(number % count).copied().unwrap_or(0);
        if choice.kind == ChoiceKind::Open && self.plan.habit != Habit::Random {
            let has_texts = match self.plan.habit {
                Habit::Generous => (self.plan.seed / 12).is_multiple_of(2),
                Habit::Counting => self.plan.seed.is_multiple_of(2),
                Habit::Frugal | Habit::Random => false,
            };
            let is_letter = has_texts && self.attempt == 0 && choice.ty.bits == 8;
            return if is_letter && self.before % TEXT < TEXT - 1 { LETTER } else { of(self.attempt) };
        }
        if self.plan.habit == Habit::Counting && self.attempt == 0 && choice.ty.bits >= 32 {
            let next = GENEROUS[0] + Value::from(self.before);
            if choice.ty.contains(next) {
                return next;
            }
        }
        if self.before >= PATIENT && self.attempt == 0 && choice.ty.bits >= 32 {
            // Large ones soon, and each time another one: what has grown may be cut off to fewer bits.
            let later = (GENEROUS[0] << ((self.before - PATIENT) / 2 % 27)) + Value::from(self.before);
            match self.before % 4 {
                1 => return 0,
                2 if choice.ty.signed => return -1,
                _ if choice.ty.contains(later) => return later,
                _ => {}
            }
        }
        match self.plan.habit {
            Habit::Frugal => of(self.attempt),
            Habit::Random => of((self.random >> (self.made.len() % 8)) + self.attempt),
            Habit::Generous | Habit::Counting if choice.ty.bits == 1 => of(self.attempt),
            Habit::Generous | Habit::Counting => match GENEROUS.get(self.attempt) {
                Some(value) if choice.ty.contains(*value) => *value,
                Some(_) => of(self.attempt),
                None => of(self.attempt - GENEROUS.len()),
            },
        }
    }
}

impl Choices for Feeder<'_, '_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let candidates = self.model.facts.inputs.of_choice(self.step, &mut self.asked, choice);
        let planned = self.plan.inputs.get(self.given + self.made.len()).copied();
        let planned = planned.filter(|value| self.attempt == 0 && choice.ty.contains(*value));
        let value = match (planned, choice.kind) {
            (Some(value), _) => value,
            // New memory, unless a plan says otherwise.
            (None, ChoiceKind::Reuse(_)) => 0,
            (None, _) => self.usual(&candidates, choice),
        };
        let (step, number) = (self.step, self.number);
        self.made.push(Input { value, ty: choice.ty, kind: choice.kind, step, number });
        value
    }
}
