//! Comparisons that fail, and inputs that would make them succeed.
//!
//! A value that was received may be compared with one that was computed, such as a checksum, or with a
//! constant that nothing else asks for. If bytes of one side are inputs of the last moves, these moves are
//! repeated with the bytes of the other side in their place (input-to-state correspondence: Aschermann et
//! al., NDSS 2019). Values that were computed from the changed inputs, such as a checksum, are compared
//! again, and repaired in the same way.

use super::saved_state::{Move, Run, SavedState};
use executions::model::Model;
use ir::{BinaryOp, EdgeId, Expr, IdVec, LocationId, Op, TemplateId, Value};

/// How far back inputs are looked for: steps, moves, and inputs.
pub const FARTHEST: usize = 12_000;
const MOST_MOVES: usize = 128;
const MOST_INPUTS: usize = 160;
/// Inputs that are changed where none is like the value.
const NEAR: usize = 24;

/// A branch that is taken where two values stand in some relation to each other.
pub struct Comparison {
    /// The branch.
    pub edge: EdgeId,
    /// Where it is taken.
    pub condition: Expr,
    /// The values.
    pub sides: (Expr, Expr),
    /// Neither is a constant.
    pub is_of_two: bool,
    /// Which one is less matters.
    pub is_of_order: bool,
}

/// The comparisons of a program, by the locations at which they are made.
pub struct Comparisons(IdVec<TemplateId, IdVec<LocationId, Vec<Comparison>>>);

impl Comparisons {
    /// All of them.
    pub fn of(model: &Model<'_>) -> Self {
        let machine = &model.machine;
        let at = |template: TemplateId, edges: &Vec<EdgeId>| {
            if edges.len() < 2 {
                return Vec::new();
            }
            let found = edges.iter().filter_map(|edge| {
                match machine.program.templates[template].edges[*edge].ops.first() {
                    Some(Op::Assume(condition)) => comparison(*edge, condition),
                    _ => None,
                }
            });
            found.collect()
        };
        let all = machine.outgoing.enumerate();
        Self(all.map(|(id, locations)| locations.iter().map(|edges| at(id, edges)).collect()).collect())
    }

    /// Those that are made at a location.
    pub fn at(&self, template: TemplateId, location: LocationId) -> &[Comparison] {
        &self.0[template][location]
    }
}

/// The innermost comparison of a condition.
fn comparison(edge: EdgeId, condition: &Expr) -> Option<Comparison> {
    let mut found = None;
    condition.walk(&mut |inner| {
        if let Expr::Binary(op, _, pair) = inner
            && op.is_comparison()
        {
            found = Some((matches!(op, BinaryOp::Lt | BinaryOp::Le), pair));
        }
    });
    let is_constant = |side: &Expr| matches!(side, Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_));
    let (is_of_order, pair) = found.filter(|(_, pair)| !(is_constant(&pair.0) && is_constant(&pair.1)))?;
    let is_of_two = !is_constant(&pair.0) && !is_constant(&pair.1);
    let condition = condition.clone();
    Some(Comparison { edge, condition, sides: (pair.0.clone(), pair.1.clone()), is_of_two, is_of_order })
}

/// An input of one of the last moves.
struct Input {
    /// How many moves ago; 0 is the one that runs.
    ago: usize,
    /// Its place among the inputs of the move.
    number: usize,
    value: Value,
}

/// The last moves, to be made again with other inputs.
pub struct Again {
    /// The moves, the newest first.
    plan: Vec<Move>,
    /// Where each began.
    origins: Vec<SavedState>,
    /// Their inputs, the newest first.
    inputs: Vec<Input>,
}

impl Again {
    /// The last moves, up to one that runs.
    pub fn of(run: &Run) -> Self {
        let mut again =
            Self { plan: vec![run.to_move()], origins: vec![run.origin().clone()], inputs: Vec::new() };
        again.add_inputs();
        let mut steps = run.steps.len();
        for history in run.origin().moves().take(MOST_MOVES) {
            steps += history.length();
            if steps > FARTHEST || again.inputs.len() > MOST_INPUTS {
                break;
            }
            again.plan.push(history.to_move());
            again.origins.push(history.origin());
            again.add_inputs();
        }
        again
    }

    /// Adds the inputs of the move that was added last.
    fn add_inputs(&mut self) {
        let ago = self.plan.len() - 1;
        let inputs = self.plan[ago].inputs.iter().enumerate().rev();
        self.inputs.extend(inputs.map(|(number, value)| Input { ago, number, value: *value }));
    }

    /// How to go again, with some inputs changed: from where, and how. `None` when none is.
    pub fn with(&self, changes: &[(usize, Value)]) -> Option<(SavedState, Vec<Move>)> {
        let farthest = changes.iter().map(|(at, _)| self.inputs[*at].ago).max()?;
        let mut plan = self.plan[..=farthest].to_vec();
        for (at, value) in changes {
            let Input { ago, number, .. } = self.inputs[*at];
            plan[ago].inputs[number] = *value;
        }
        plan.reverse();
        Some((self.origins[farthest].clone(), plan))
    }

    /// Changes such that inputs that are the bytes of a value become the bytes of another one; or, where
    /// there are none such, of one input in the bits in which the values differ, or in any bits.
    pub fn bytes(&self, old: u64, new: u64, below: &mut dyn FnMut(usize) -> usize) -> Vec<(usize, Value)> {
        let mut wanted: Vec<(u64, u64)> = vec![(old >> 8, new >> 8), (old & 0xff, new & 0xff)];
        if old < 1 << 8 && new < 1 << 8 {
            wanted.remove(0);
        }
        let mut changes: Vec<(usize, Value)> = Vec::new();
        // What is like the value may be something else.
        let skipped = [0, 0, 0, below(self.inputs.len())][below(4)];
        for (number, input) in self.inputs.iter().enumerate().skip(skipped) {
            if let Some(at) = wanted.iter().position(|(old, _)| Value::from(*old) == input.value) {
                let (_, new) = wanted.remove(at);
                changes.push((number, Value::from(new)));
            }
        }
        let number = below(self.inputs.len().min(NEAR));
        match self.inputs.get(number).filter(|_| !wanted.is_empty()) {
            None => changes,
            Some(input) => {
                let difference = Value::from(if old >> 8 == new >> 8 { old ^ new } else { (old ^ new) >> 8 });
                let any = below(256) as Value;
                vec![(number, if below(2) == 0 { input.value ^ (difference & 0xff) } else { any })]
            }
        }
    }
}
