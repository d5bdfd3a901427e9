//! The origins of values: repeats an execution, and tracks for each byte of memory and each local the inputs
//! from which its value was computed (dynamic data-flow analysis, as in Chen and Chen, "Angora", S&P 2018).
//!
//! Control dependencies do not count, nor do inputs of addresses. A heuristic: omissions only cost time.

use super::saved_state::{Move, MoveHistory, Run, SavedState};
use executions::model::Model;
use executions::shorten::Given;
use ir::semantics::{State, ThreadIndex};
use ir::{Assignment, Expr, IntType, Lhs, LocalId, Op, Rhs, TemplateId};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use verdict::TraceStep;

/// Values that were computed from more inputs count as computed from none: checksums are.
const MOST_SOURCES: usize = 8;
/// Moves that are looked at.
const MOST_MOVES: usize = 3_000;

/// An input of a move: the number of the move, and its place among the inputs of it.
pub(super) type Input = (usize, usize);

/// What a value was computed from.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Sources {
    /// Inputs, in order.
    pub(super) inputs: Vec<Input>,
    /// The last byte of memory that no input went to.
    pub(super) byte: Option<u64>,
    /// There are too many inputs.
    pub(super) many: bool,
}

impl Sources {
    fn add(&mut self, other: &Self) {
        self.many |= other.many;
        self.byte = self.byte.max(other.byte);
        for input in &other.inputs {
            if let Err(at) = self.inputs.binary_search(input) {
                self.inputs.insert(at, *input);
            }
        }
        self.many |= self.inputs.len() > MOST_SOURCES;
        if self.many {
            self.inputs.clear();
        }
    }
}

/// The last moves, with the one that runs.
pub(super) struct Moves<'a> {
    /// Those before it, the oldest first.
    history: Vec<Rc<MoveHistory>>,
    run: &'a Run,
}

impl<'a> Moves<'a> {
    /// Those of about the last so many steps.
    pub(super) fn of(run: &'a Run, steps: usize) -> Self {
        let mut left = steps.saturating_sub(run.steps.len());
        let each = std::iter::successors(run.origin().history.as_ref(), |history| history.before.as_ref());
        let near = each.take(MOST_MOVES).take_while(|history| {
            left = left.saturating_sub(history.own_length());
            left > 0
        });
        let mut history: Vec<Rc<MoveHistory>> = near.cloned().collect();
        history.reverse();
        Self { history, run }
    }

    /// How many steps they have.
    pub(super) fn steps(&self) -> usize {
        self.history.iter().map(|history| history.own_length()).sum::<usize>() + self.run.steps.len()
    }

    /// The number of the one that runs.
    pub(super) fn last(&self) -> usize {
        self.history.len()
    }

    /// Where a move began.
    pub(super) fn origin(&self, number: usize) -> SavedState {
        self.history.get(number).map_or_else(|| self.run.origin().clone(), |history| history.own_origin())
    }

    /// A move, to be made again.
    pub(super) fn to_move(&self, number: usize) -> Move {
        self.history
            .get(number)
            .map_or_else(|| self.run.to_move(), |history| Move { times: 1, ..history.to_move() })
    }

    /// All moves from one on, to be made again.
    pub(super) fn from(&self, number: usize) -> Vec<Move> {
        (number..=self.history.len()).map(|number| self.to_move(number)).collect()
    }

    /// Where the values of expressions come from that the thread which runs is about to evaluate, and those
    /// of all bytes of memory.
    pub(super) fn sources(&self, model: &Model<'_>, sides: [&Expr; 2]) -> Option<Flow> {
        let mut flow = Flow::default();
        let mut state = self.origin(0).state;
        for thread in &state.threads {
            let frames = thread.activations.iter().map(|frame| Frame::new(frame.template, None));
            flow.frames.push(frames.collect());
        }
        for (number, history) in self.history.iter().enumerate() {
            flow.run(model, &mut state, number, history.steps())?;
        }
        flow.run(model, &mut state, self.history.len(), self.run.steps.iter().cloned())?;
        let thread = self.run.thread;
        flow.sides = sides.map(|side| flow.of(model, &state, thread, side));
        Some(flow)
    }
}

/// An activation of a procedure.
struct Frame {
    template: TemplateId,
    locals: FxHashMap<LocalId, Sources>,
    /// Where its result goes.
    result: Option<LocalId>,
}

impl Frame {
    fn new(template: TemplateId, result: Option<LocalId>) -> Self {
        Self { template, locals: FxHashMap::default(), result }
    }
}

/// What is known in a state.
#[derive(Default)]
pub(super) struct Flow {
    memory: FxHashMap<u64, Sources>,
    /// The activations of each thread.
    frames: Vec<Vec<Frame>>,
    /// The types of inputs.
    pub(super) types: FxHashMap<Input, IntType>,
    /// Where the values that were asked about come from.
    pub(super) sides: [Sources; 2],
}

impl Flow {
    /// The inputs that reach a byte of memory.
    pub(super) fn at(&self, address: u64) -> &[Input] {
        self.memory.get(&address).map_or(&[], |sources| &sources.inputs)
    }

    /// Makes a move again.
    fn run(
        &mut self,
        model: &Model<'_>,
        state: &mut State,
        number: usize,
        steps: impl Iterator<Item = TraceStep>,
    ) -> Option<()> {
        let mut asked = 0;
        for step in steps {
            self.step(model, state, (number, asked), &step)?;
            asked += step.choices.len();
        }
        Some(())
    }

    /// Makes a step again. `first`: the number of the first input that it asks for.
    fn step(&mut self, model: &Model<'_>, state: &mut State, first: Input, step: &TraceStep) -> Option<()> {
        let thread = step.thread;
        let mut given = Given::new(&step.choices);
        let mut asked = first;
        let see = |op: &Op, state: &State| self.see(model, state, thread, op, &mut asked);
        let machine = &model.machine;
        machine.advance_seen(state, thread, step.edge, &mut given, &mut Vec::new(), see).ok()?;
        let depth = state.threads[thread].activations.len();
        while self.frames[thread].len() > depth {
            let ended = self.frames[thread].pop()?;
            let result = machine.program.templates[ended.template].result;
            let sources = result.and_then(|local| ended.locals.get(&local).cloned()).unwrap_or_default();
            if let (Some(local), Some(caller)) = (ended.result, self.frames[thread].last_mut()) {
                caller.locals.insert(local, sources);
            }
        }
        Some(())
    }

    /// Follows what an operation does that is about to be run.
    fn see(&mut self, model: &Model<'_>, state: &State, thread: ThreadIndex, op: &Op, asked: &mut Input) {
        let address = |expr: &Expr| model.machine.peek(state, thread, expr).unwrap_or(0) as u64;
        match op {
            Op::Assign(Assignment { pairs, .. }) => {
                let values: Vec<Sources> = pairs
                    .iter()
                    .map(|(lhs, rhs)| match rhs {
                        Rhs::Value(value) => self.of(model, state, thread, value),
                        Rhs::Float(_, _, operands) => {
                            let mut all = Sources::default();
                            for operand in operands {
                                all.add(&self.of(model, state, thread, operand));
                            }
                            all
                        }
                        Rhs::Any | Rhs::Unknown => {
                            let ty = match lhs {
                                Lhs::Local(local) => self.frames[thread].last().map(|frame| {
                                    model.machine.program.templates[frame.template].locals[*local].ty
                                }),
                                Lhs::Memory(place) => Some(place.ty),
                            };
                            let input = *asked;
                            self.types.extend(ty.map(|ty| (input, ty)));
                            asked.1 += 1;
                            Sources { inputs: vec![input], ..Sources::default() }
                        }
                    })
                    .collect();
                for ((lhs, _), sources) in pairs.iter().zip(values) {
                    match lhs {
                        Lhs::Local(local) => self.set_local(thread, *local, sources),
                        Lhs::Memory(place) => {
                            let start = address(&place.address);
                            (start..start + place.ty.bytes()).for_each(|at| self.set(at, sources.clone()));
                        }
                    }
                }
            }
            Op::Copy(to, from, size) => {
                let (to, from, size) = (address(to), address(from), address(size));
                let moved: Vec<Sources> = (from..from.saturating_add(size)).map(|at| self.byte(at)).collect();
                moved.into_iter().zip(to..).for_each(|(sources, at)| self.set(at, sources));
            }
            Op::Fill(to, byte, size) => {
                let (to, size) = (address(to), address(size));
                let sources = self.of(model, state, thread, byte);
                (to..to.saturating_add(size)).for_each(|at| self.set(at, sources.clone()));
            }
            Op::Call(callee, arguments, result) => {
                let template = match callee {
                    ir::Callee::Procedure(template) => Some(*template),
                    ir::Callee::Pointer(pointer) => model.machine.addresses.procedure_at(address(pointer)),
                };
                let Some(template) = template else { return };
                let result = result.as_ref().and_then(|lhs| match lhs {
                    Lhs::Local(local) => Some(*local),
                    Lhs::Memory(_) => None,
                });
                let mut frame = Frame::new(template, result);
                for (number, argument) in arguments.iter().enumerate() {
                    let sources = self.of(model, state, thread, argument);
                    frame.locals.insert(LocalId(number as u32), sources);
                }
                self.frames[thread].push(frame);
            }
            _ => {}
        }
    }

    /// What the value of an expression is computed from.
    fn of(&self, model: &Model<'_>, state: &State, thread: ThreadIndex, expr: &Expr) -> Sources {
        match expr {
            Expr::Local(local) => {
                let top = self.frames[thread].last();
                top.and_then(|frame| frame.locals.get(local)).cloned().unwrap_or_default()
            }
            Expr::Load(place) => {
                let start = model.machine.peek(state, thread, &place.address).unwrap_or(0) as u64;
                let mut found = Sources::default();
                (start..start + place.ty.bytes()).for_each(|at| found.add(&self.byte(at)));
                found
            }
            _ => {
                let mut found = Sources::default();
                for operand in expr.operands() {
                    found.add(&self.of(model, state, thread, operand));
                }
                found
            }
        }
    }

    /// What a byte is computed from.
    fn byte(&self, address: u64) -> Sources {
        let known = self.memory.get(&address).filter(|known| **known != Sources::default()).cloned();
        known.unwrap_or_else(|| Sources { byte: Some(address), ..Sources::default() })
    }

    fn set(&mut self, address: u64, sources: Sources) {
        self.memory.insert(address, sources);
    }

    fn set_local(&mut self, thread: ThreadIndex, local: LocalId, sources: Sources) {
        if let Some(frame) = self.frames[thread].last_mut() {
            if sources == Sources::default() {
                frame.locals.remove(&local);
            } else {
                frame.locals.insert(local, sources);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler_fuzzer::saved_state::Stop;
    use executions::model::Facts;
    use ir::{EdgeId, ObjectId, Program};
    use std::sync::Arc;
    use verdict::Property;

    /// Two bytes are read; the first goes through memory and a procedure.
    const PROGRAM: &str = "program ilp32
start main 1
static buffer: [2 of u8]
static result: u8
template main() {
  local byte: u8
  local twice_the_byte: u8
  locations 6
  end l5
  l0 -> l1: byte := any
  l1 -> l2: u8[&buffer] := byte
  l2 -> l3: byte := any
  l3 -> l4: twice_the_byte := call twice(u8[&buffer])
  l4 -> l5: u8[&result] := twice_the_byte ^ byte
}
template twice(given: u8) {
  local out: u8
  result out
  locations 2
  end l1
  l0 -> l1: out := given + given
}
";

    /// Runs the first thread of a program, up to a number of steps.
    fn run(model: &Model<'_>, inputs: &[ir::Value], steps: usize) -> Run {
        let state = model.machine.initial(&[1]).expect("it is small");
        let planned = Move { thread: 0, begins: true, inputs: vec![], stop: Stop::Never, times: 1 };
        let mut run = Run::new(SavedState { state, history: None }, &planned);
        let mut inputs = inputs.iter();
        for _ in 0..steps {
            let edge: EdgeId = model.machine.edges(&run.state, 0)[0];
            let (template, _) = run.state.location(0).expect("it runs");
            let ops = &model.machine.program.templates[template].edges[edge].ops;
            let asks =
                |op: &&Op| matches!(op, Op::Assign(all) if all.pairs.iter().any(|pair| pair.1 == Rhs::Any));
            let choices: Vec<ir::Value> =
                ops.iter().filter(asks).filter_map(|_| inputs.next().copied()).collect();
            let mut given = Given::new(&choices);
            model.machine.advance(&mut run.state, 0, edge, &mut given, &mut Vec::new()).expect("it can run");
            run.steps.push(TraceStep { thread: 0, edge, choices });
        }
        run
    }

    fn model(program: &Program) -> Model<'_> {
        let facts = Arc::new(Facts::new(program));
        Model::new(program, facts, Property::NoRace, 1, false).expect("it is small")
    }

    #[test]
    fn inputs_are_followed_through_memory_and_procedures() {
        let program = ir::text::parse(PROGRAM).expect("it is a program");
        let model = model(&program);
        // Up to before the last step: one of them is in the procedure.
        let run = run(&model, &[3, 5], 5);
        let last = program.templates[TemplateId(0)].edges.iter().last().expect("there are some");
        let Some(Op::Assign(assignment)) = last.ops.first() else { panic!("it is an assignment") };
        let (_, Rhs::Value(value)) = &assignment.pairs[0] else { panic!("it is of a value") };
        let byte = |offset| {
            let place = ir::Place::cell(ObjectId(0), offset, IntType::U8);
            Expr::Load(Box::new(place))
        };
        let moves = Moves::of(&run, 100);
        let flow = moves.sources(&model, [value, &byte(1)]).expect("it runs again");
        assert_eq!(flow.sides[0].inputs, [(0, 0), (0, 1)]);
        let end = model.machine.addresses.offset[ObjectId(0)] + 1;
        assert_eq!((flow.sides[1].inputs.len(), flow.sides[1].byte), (0, Some(end)));
        assert_eq!(flow.at(end - 1), [(0, 0)]);
        let flow = moves.sources(&model, [&byte(0), &byte(1)]).expect("it runs again");
        assert_eq!(flow.sides[0].inputs, [(0, 0)]);
    }
}
