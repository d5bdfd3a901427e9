//! Random small programs with handlers: their threads behave like one processor.
//!
//! A second, simple definition of the meaning of a program with interrupts: a stack of activations, of which
//! the topmost runs.

use super::{Handler, Interrupts, run_to_completion, threads};
use crate::check::check;
use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Lhs, Op, Rhs};
use crate::passes::tests::explore::observe;
use crate::passes::tests::generate::object;
use crate::program::{Count, ErrorKind, LocationKind, Program, Span, Storage, Template};
use crate::types::{IntType, Layout, Value};
use std::collections::{BTreeSet, VecDeque};
use testkit::random::Random;

/// What a step does. Each thread has one number of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Skip,
    Set(usize, Value),
    Get(usize),
    IfOwn(Value),
    IfNotOwn(Value),
    Enable,
    Disable,
    /// Keeps the flag and clears it.
    Save,
    Restore,
}

/// A procedure: steps from location to location. It begins at the first; the last but one is its end, the
/// last an error.
#[derive(Clone, Debug)]
struct Code {
    steps: Vec<(usize, Step, usize)>,
    locations: usize,
}

struct Writer<'r> {
    random: &'r mut Random,
    steps: Vec<(usize, Step, usize)>,
    /// Jumps to the error, from here.
    fails: Vec<(usize, Value)>,
    next: usize,
}

impl Writer<'_> {
    fn emit(&mut self, step: Step) {
        self.steps.push((self.next, step, self.next + 1));
        self.next += 1;
    }
    fn statements(&mut self, count: u64, inside: bool) {
        for _ in 0..count {
            match self.random.below(if inside { 6 } else { 9 }) {
                0..=2 => {
                    let (which, value) = (self.random.below(2) as usize, 1 + self.random.below(2) as Value);
                    self.emit(Step::Set(which, value));
                }
                3 => {
                    let which = self.random.below(2) as usize;
                    self.emit(Step::Get(which));
                }
                4 => {
                    let value = self.random.below(3) as Value;
                    self.fails.push((self.next, value));
                    self.emit(Step::IfNotOwn(value));
                }
                5 => {
                    // A branch that is empty.
                    let value = self.random.below(3) as Value;
                    let from = self.next;
                    self.emit(Step::IfOwn(value));
                    self.emit(Step::Set(self.next % 2, 0));
                    self.steps.push((from, Step::IfNotOwn(value), self.next));
                }
                6 | 7 => {
                    self.emit(Step::Save);
                    let count = 1 + self.random.below(2);
                    self.statements(count, true);
                    self.emit(Step::Restore);
                }
                _ => {
                    let step = if self.random.below(2) == 0 { Step::Enable } else { Step::Disable };
                    self.emit(step);
                }
            }
        }
    }
}

fn code(random: &mut Random, is_main: bool) -> Code {
    let mut writer = Writer { random, steps: Vec::new(), fails: Vec::new(), next: 0 };
    if is_main {
        writer.emit(Step::Enable);
    }
    let count = 2 + writer.random.below(2);
    writer.statements(count, false);
    writer.emit(Step::Skip);
    let (end, error) = (writer.next, writer.next + 1);
    let mut steps = writer.steps;
    steps.extend(writer.fails.into_iter().map(|(from, value)| (from, Step::IfOwn(value), error)));
    Code { steps, locations: end + 2 }
}

const INT: IntType = IntType::I32;
const FLAG: ObjectId = ObjectId(0);

/// The procedure in the program representation.
fn template(name: &str, code: &Code) -> Template {
    let mut template = Template { name: name.to_owned(), ..Template::default() };
    let own = template.local("own", INT, Span::default());
    let saved = template.local("saved", IntType::U8, Span::default());
    for at in 0..code.locations {
        let kind = match code.locations - at {
            2 => LocationKind::End,
            1 => LocationKind::Error(ErrorKind::Assertion),
            _ => LocationKind::Normal,
        };
        template.location(kind, false);
    }
    for (from, step, to) in &code.steps {
        let ops = operation(*step, own, saved).into_iter().collect();
        template.edge(LocationId(*from as u32), LocationId(*to as u32), ops, Span::default());
    }
    template
}

fn operation(step: Step, own: LocalId, saved: LocalId) -> Option<Op> {
    let cell = |which: usize| Place::cell(ObjectId(1 + which as u32), 0, INT);
    let flag = Place { atomic: true, ..Place::cell(FLAG, 0, IntType::U8) };
    let set_flag = |value: Value| (Lhs::Memory(flag.clone()), Rhs::Value(Expr::Const(value, IntType::U8)));
    let is = |value: Value| Expr::binary(BinaryOp::Eq, INT, Expr::Local(own), Expr::Const(value, INT));
    let pairs = |pairs| Some(Op::Assign(Assignment { pairs, constraint: None }));
    match step {
        Step::Skip => None,
        Step::Set(which, value) => Some(Op::set(Lhs::Memory(cell(which)), Expr::Const(value, INT))),
        Step::Get(which) => Some(Op::set(Lhs::Local(own), Expr::load(cell(which)))),
        Step::IfOwn(value) => Some(Op::Assume(is(value))),
        Step::IfNotOwn(value) => Some(Op::Assume(is(value).not())),
        Step::Enable => pairs(vec![set_flag(128)]),
        Step::Disable => pairs(vec![set_flag(0)]),
        Step::Save => {
            let kept = (Lhs::Local(saved), Rhs::Value(Expr::load(flag.clone())));
            pairs(vec![kept, set_flag(0)])
        }
        Step::Restore => pairs(vec![(Lhs::Memory(flag.clone()), Rhs::Value(Expr::Local(saved)))]),
    }
}

/// An activation: of which procedure, where, its own number, and the flag that it keeps.
type Activation = (usize, usize, Value, bool);
/// The flag, the variables, and the activations, the topmost last.
type State = (bool, [Value; 2], Vec<Activation>);

/// The behaviour of one processor: whether an error is reached, and the variables with races. Each handler
/// has at most `most` activations.
fn processor(codes: &[Code], enables: &[bool], most: &[usize]) -> (bool, BTreeSet<usize>) {
    let mut wrong = false;
    let mut races = BTreeSet::new();
    let start: State = (false, [0; 2], vec![(0, 0, 0, false)]);
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = VecDeque::from([start]);
    while let Some((flag, values, stack)) = open.pop_front() {
        let Some(top) = stack.last().copied() else { continue };
        let leaving = |at: &Activation| {
            let at = *at;
            codes[at.0]
                .steps
                .iter()
                .filter(move |(from, _, _)| *from == at.1)
                .map(|(_, step, to)| (*step, *to))
        };
        wrong |= stack.iter().any(|at| at.1 == codes[at.0].locations - 1);
        // The interrupted code is about to take its next step, and so is the handler.
        let accesses = |at: &Activation| {
            let found = leaving(at).filter_map(|(step, _)| match step {
                Step::Set(which, _) => Some((which, true)),
                Step::Get(which) => Some((which, false)),
                _ => None,
            });
            found.collect::<Vec<_>>()
        };
        for below in &stack[..stack.len() - 1] {
            for (one, writes) in accesses(below) {
                let collides = |(two, too): &(usize, bool)| one == *two && (writes || *too);
                races.extend(accesses(&top).iter().filter(|other| collides(other)).map(|(which, _)| *which));
            }
        }
        let mut next: Vec<State> = Vec::new();
        for (step, to) in leaving(&top) {
            let (mut flag, mut values, mut now) = (flag, values, top);
            now.1 = to;
            match step {
                Step::Skip => {}
                Step::Set(which, value) => values[which] = value,
                Step::Get(which) => now.2 = values[which],
                Step::IfOwn(value) if top.2 != value => continue,
                Step::IfNotOwn(value) if top.2 == value => continue,
                Step::IfOwn(_) | Step::IfNotOwn(_) => {}
                Step::Enable => flag = true,
                Step::Disable => flag = false,
                Step::Save => (now.3, flag) = (flag, false),
                Step::Restore => flag = top.3,
            }
            let mut stack = stack.clone();
            stack.pop();
            if now.1 != codes[now.0].locations - 2 {
                stack.push(now);
            } else if now.0 > 0 {
                // A handler has ended: interrupts are enabled.
                flag = true;
            }
            next.push((flag, values, stack));
        }
        if flag {
            for handler in 1..codes.len() {
                if stack.iter().filter(|at| at.0 == handler).count() < most[handler - 1] {
                    let mut stack = stack.clone();
                    stack.push((handler, 0, 0, false));
                    next.push((enables[handler - 1], values, stack));
                }
            }
        }
        for state in next {
            if seen.insert(state.clone()) {
                open.push_back(state);
            }
        }
    }
    (wrong, races)
}

#[test]
fn threads_do_what_one_processor_does() {
    let (mut compared, mut with_races, mut with_errors, mut nested) = (0, 0, 0, 0);
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let codes: Vec<Code> = (0..3).map(|number| code(random, number == 0)).collect();
        let enables: Vec<bool> = (0..2).map(|_| random.below(3) == 0).collect();
        let mut program = Program { files: vec!["random".to_owned()], ..Program::default() };
        program.objects.push(object("flag", Storage::Static, 1, Layout::Scalar(IntType::U8)));
        for name in ["g0", "g1"] {
            program.objects.push(object(name, Storage::Static, 4, Layout::Scalar(INT)));
        }
        for (name, code) in ["main", "first", "second"].into_iter().zip(&codes) {
            program.templates.push(template(name, code));
        }
        program.start = vec![(TemplateId(0), Count::Exactly(1))];
        assert_eq!(check(&program), Ok(()), "seed {seed}");
        let handlers = enables.iter().zip(1..);
        let handlers = handlers.map(|(enables, id)| Handler { template: TemplateId(id), enables: *enables });
        let interrupts = Interrupts { flag: FLAG, enabled: 128, handlers: handlers.collect() };
        let exact = run_to_completion(&threads(&program, &interrupts));
        assert_eq!(check(&exact), Ok(()), "seed {seed}");
        let most: Vec<usize> = exact.start[1..]
            .iter()
            .map(|(_, count)| match count {
                Count::Exactly(copies) => *copies as usize,
                Count::Any => 2,
            })
            .collect();
        let Some(seen) = observe(&exact, 20_000) else { continue };
        let (wrong, races) = processor(&codes, &enables, &most);
        let name = |which: usize| (["g0", "g1"][which].to_owned(), 0);
        assert_eq!(
            seen.races,
            races.iter().map(|which| name(*which)).collect(),
            "seed {seed}: {codes:?} {enables:?}"
        );
        assert_eq!(!seen.errors.is_empty(), wrong, "seed {seed}: {codes:?} {enables:?}");
        compared += 1;
        with_races += u32::from(!races.is_empty());
        with_errors += u32::from(wrong);
        nested += u32::from(most.contains(&2));
    }
    let enough = compared > 100 && with_races > 30 && with_errors > 30 && nested > 30;
    assert!(
        enough,
        "{compared} compared, {with_races} with races, {with_errors} with errors, {nested} nested"
    );
}
