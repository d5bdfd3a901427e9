//! Small programs made of model calls, run in all interleavings by a naive search over the concrete
//! semantics.

mod atomics;
mod input;
mod locks;
mod memory;
mod synchronisation;
mod table;
mod threads;
mod verifier;

use super::{Argument, Call, Context, Outcome, Pointee, model};
use crate::builder::Builder;
use ir::ids::Id;
use ir::semantics::{Choice, Choices, Machine, State, Stuck};
use ir::{
    BinaryOp, Count, ErrorKind, Expr, Initial, IntType, Layout, Lhs, LocalId, LocationKind, Object, ObjectId,
    Op, Place, Program, Span, Storage, TemplateId, Value,
};
use std::collections::{BTreeSet, HashSet};

/// The size of glibc's mutexes, and room for everything else.
const LARGE: u64 = 40;

/// A program under construction.
#[derive(Default)]
struct World {
    program: Program,
}

/// A template under construction.
struct Code<'a> {
    builder: Builder,
    program: &'a mut Program,
}

impl World {
    /// A static object of zeros.
    fn global(&mut self, name: &str, size: u64) -> ObjectId {
        self.object(name, Storage::Static, size, Initial::Values(vec![]))
    }
    /// A static object that holds a string.
    fn string(&mut self, text: &str, size: u64) -> ObjectId {
        let byte =
            |(at, byte): (usize, u8)| (at as u64, IntType::U8, Expr::int(Value::from(byte), IntType::U8));
        self.object(
            text,
            Storage::Static,
            size,
            Initial::Values(text.bytes().enumerate().map(byte).collect()),
        )
    }
    fn object(&mut self, name: &str, storage: Storage, size: u64, initial: Initial) -> ObjectId {
        let (layout, span) = (Layout::Bytes(size), Span::default());
        self.program.objects.push(Object {
            name: name.into(),
            storage,
            size,
            align: 16,
            layout,
            initial,
            span,
            role: ir::ObjectRole::Program,
        })
    }
    fn template(&mut self, name: &str, write: impl FnOnce(&mut Code<'_>)) -> TemplateId {
        self.template_with(name, 0, write)
    }
    /// A template with pointer-wide parameters, and a pointer-wide result in the next local.
    fn template_with(
        &mut self,
        name: &str,
        parameters: usize,
        write: impl FnOnce(&mut Code<'_>),
    ) -> TemplateId {
        let mut builder = Builder::new(name, Span::default());
        for _ in 0..parameters {
            builder.template.local("parameter", IntType::U64, Span::default());
        }
        builder.template.parameters = parameters;
        builder.template.result = Some(builder.template.local("result", IntType::U64, Span::default()));
        let mut code = Code { builder, program: &mut self.program };
        write(&mut code);
        code.builder.stop(LocationKind::End);
        let template = code.builder.template;
        self.program.templates.push(template)
    }
    fn start(&mut self, template: TemplateId, copies: u32) {
        self.program.start.push((template, Count::Exactly(copies)));
    }
}

impl Code<'_> {
    /// Calls a function that returns an `int`.
    fn call(&mut self, name: &str, arguments: Vec<Argument>) -> Expr {
        self.call_as(name, arguments, IntType::I32)
    }
    fn call_as(&mut self, name: &str, arguments: Vec<Argument>, ty: IntType) -> Expr {
        match self.outcome(name, arguments, Some(ty)) {
            Outcome::Value(value) => value,
            other => panic!("{name} gave {other:?}"),
        }
    }
    /// Calls a function whose result is not used.
    fn run(&mut self, name: &str, arguments: Vec<Argument>) {
        assert_eq!(self.outcome(name, arguments, None), Outcome::Void, "{name}");
    }
    fn outcome(&mut self, name: &str, arguments: Vec<Argument>, result: Option<IntType>) -> Outcome {
        let mut context = Context { builder: &mut self.builder, program: self.program, failures: false };
        model(&mut context, &Call { name, arguments, result, span: Span::default() })
    }
    /// Stores an `int`.
    fn store(&mut self, object: ObjectId, offset: u64, value: Expr) {
        self.builder.set(Lhs::Memory(Place::cell(object, offset, IntType::I32)), value);
    }
    /// Adds to an `int`, with a step in between.
    fn add(&mut self, object: ObjectId, value: Value) {
        let place = Place::cell(object, 0, IntType::I32);
        let old = self.builder.save(Expr::load(place.clone()), IntType::I32);
        let sum = Expr::binary(BinaryOp::Add, IntType::I32, Expr::Local(old), int(value));
        self.builder.set(Lhs::Memory(place), sum);
    }
    fn parameter(&self, index: usize) -> Expr {
        Expr::Local(LocalId::new(index))
    }
    /// Sets the result of the template.
    fn result(&mut self, value: Expr) {
        let local = self.builder.template.result.expect("all test templates have one");
        self.builder.set(Lhs::Local(local), value);
    }
    /// Does something where a condition holds.
    fn when(&mut self, condition: Expr, action: impl FnOnce(&mut Self)) {
        let (yes, done) = (self.builder.label(), self.builder.label());
        self.builder.branch(condition, yes, done);
        self.builder.continue_at(yes);
        action(self);
        self.builder.place(done);
    }
}

fn int(value: Value) -> Expr {
    Expr::int(value, IntType::I32)
}
fn read(object: ObjectId) -> Expr {
    Expr::load(Place::cell(object, 0, IntType::I32))
}
fn is(value: Expr, wanted: Value) -> Expr {
    Expr::binary(BinaryOp::Eq, IntType::I32, value, int(wanted))
}

/// An argument of whatever kind, to refine.
fn argument(value: Expr, ty: IntType) -> Argument {
    let constant = match value {
        Expr::Const(value, _) => Some(value),
        _ => None,
    };
    Argument { value, ty, pointee: None, function: None, text: None, is_null: false, constant }
}
fn number(value: Value) -> Argument {
    argument(int(value), IntType::I32)
}
fn size(value: Value) -> Argument {
    argument(Expr::int(value, IntType::U64), IntType::U64)
}
fn null() -> Argument {
    Argument { is_null: true, ..argument(Expr::int(0, IntType::U64), IntType::U64) }
}
fn function(template: TemplateId) -> Argument {
    Argument { function: Some(template), ..argument(Expr::Procedure(template), IntType::U64) }
}
/// A pointer to an object without structure.
fn pointer(value: Expr, size: u64) -> Argument {
    let pointee = Pointee {
        size,
        scalar: None,
        type_name: "struct".into(),
        is_incomplete_record: false,
        atomic: false,
        is_pointer: false,
        has_pointer: false,
        callback: None,
    };
    Argument { pointee: Some(pointee), ..argument(value, IntType::U64) }
}
/// A pointer to a number.
fn cell(object: ObjectId, offset: u64, ty: IntType) -> Argument {
    let pointee = Pointee {
        size: ty.bytes(),
        scalar: Some(ty),
        type_name: ty.to_string(),
        is_incomplete_record: false,
        atomic: false,
        is_pointer: false,
        has_pointer: false,
        callback: None,
    };
    Argument { pointee: Some(pointee), ..argument(Expr::Address(object, offset), IntType::U64) }
}
/// A pointer to a large synchronisation object.
fn large(object: ObjectId) -> Argument {
    pointer(Expr::Address(object, 0), LARGE)
}
/// A pointer to one word.
fn small(object: ObjectId) -> Argument {
    pointer(Expr::Address(object, 0), 4)
}

/// Chooses by the bits of a number, and counts.
struct Bits {
    bits: u32,
    asked: u32,
}

impl Choices for Bits {
    fn choose(&mut self, choice: Choice) -> Value {
        let bit = self.bits >> self.asked & 1;
        self.asked += 1;
        choice.ty.wrap(Value::from(bit))
    }
}

/// What can happen.
#[derive(Debug, Default)]
struct Runs {
    /// The watched values where all threads have ended.
    ended: BTreeSet<Vec<Value>>,
    /// The watched values where some thread waits for ever.
    blocked: BTreeSet<Vec<Value>>,
    errors: BTreeSet<ErrorKind>,
    faults: BTreeSet<String>,
    halted: bool,
    race: bool,
    deadlock: bool,
}

/// The programs whose words are watched: object, offset, type.
type Watch = (ObjectId, u64, IntType);

/// Runs a program in all ways. Fails if anything waits inside an atomic region.
fn runs(world: &World, watch: &[Watch]) -> Runs {
    check_shape(&world.program);
    let mut program = world.program.clone();
    for mark in [ir::Waiting::Tracked, ir::Waiting::Racing] {
        ir::passes::lower::select_marked(&mut program, mark, false);
    }
    let program = &program;
    let machine = Machine::new(program).expect("test programs are small");
    let copies = program.start.iter().map(|(_, count)| match count {
        Count::Exactly(copies) => *copies,
        Count::Any => 1,
    });
    let copies: Vec<u32> = copies.collect();
    let initial = machine.initial(&copies).expect("test programs are small");
    let mut runs = Runs::default();
    let mut seen: HashSet<State> = HashSet::from([initial.clone()]);
    let mut queue = vec![initial];
    while let Some(state) = queue.pop() {
        assert!(seen.len() < 300_000, "too many states");
        runs.race |= machine.race(&state).is_some();
        runs.deadlock |= machine.deadlock(&state).is_some();
        runs.halted |= state.halted;
        if let Some((_, kind)) = machine.error(&state) {
            runs.errors.insert(kind);
            continue;
        }
        let mut moved = false;
        let schedulable = machine.schedulable(&state);
        for &thread in &schedulable {
            for &edge in machine.edges(&state, thread) {
                let mut bits = 0;
                loop {
                    let mut choices = Bits { bits, asked: 0 };
                    match machine.step(&state, thread, edge, &mut choices).result {
                        Ok(next) => {
                            moved = true;
                            if seen.insert(next.clone()) {
                                queue.push(next);
                            }
                        }
                        Err(Stuck::Blocked) => {}
                        Err(Stuck::Fault(fault)) => {
                            runs.faults.insert(format!("{fault:?}"));
                        }
                        Err(Stuck::Limit(limit)) => panic!("{limit:?}"),
                    }
                    bits += 1;
                    if bits >> choices.asked != 0 {
                        break;
                    }
                }
            }
        }
        if moved || state.halted {
            continue;
        }
        let atomic = schedulable.iter().any(|thread| machine.is_atomic(&state, *thread));
        assert!(!atomic || !runs.faults.is_empty(), "a thread waits inside an atomic region");
        let value = |(object, offset, ty): &Watch| {
            machine
                .peek_memory(&state, machine.addresses.offset[*object] + offset, *ty)
                .expect("watched objects are static")
        };
        let values = watch.iter().map(value).collect();
        let over = state.threads.iter().all(|thread| thread.activations.is_empty());
        if over { &mut runs.ended } else { &mut runs.blocked }.insert(values);
    }
    runs
}

/// Each edge has one operation, and, outside of atomic regions, one access to a synchronisation object at
/// most.
fn check_shape(program: &Program) {
    for template in &program.templates {
        for edge in &template.edges {
            assert!(edge.ops.len() <= 1, "{}: {edge:?}", template.name);
            let accesses = edge.ops.iter().map(atomic_accesses).sum::<usize>();
            assert!(accesses <= 1 || template.locations[edge.source].atomic, "{}: {edge:?}", template.name);
        }
    }
}

fn atomic_accesses(op: &Op) -> usize {
    let mut count =
        op.targets().iter().filter(|lhs| matches!(lhs, Lhs::Memory(place) if place.atomic)).count();
    for expression in op.expressions() {
        expression
            .walk(&mut |inner| count += usize::from(matches!(inner, Expr::Load(place) if place.atomic)));
    }
    count
}

/// The watched values at the end, of a program that always comes to an end, without a race or an error.
/// (Pointers that functions need are checked for bounds only: some here are null.)
fn results(world: &World, watch: &[Watch]) -> BTreeSet<Vec<Value>> {
    let runs = runs(world, watch);
    let is_fine = runs.errors.iter().all(|kind| *kind == ErrorKind::InvalidAccess);
    assert!(runs.blocked.is_empty() && is_fine && runs.faults.is_empty() && !runs.race, "{runs:?}");
    runs.ended
}

/// The watched `int`s that one thread computes, all at offsets 0, 4, ... of one object.
fn compute(count: usize, write: impl FnOnce(&mut World, ObjectId)) -> Vec<Value> {
    let mut world = World::default();
    let out = world.global("out", 64);
    write(&mut world, out);
    let watch: Vec<Watch> = (0..count).map(|index| (out, 4 * index as u64, IntType::I32)).collect();
    let all = results(&world, &watch);
    assert_eq!(all.len(), 1, "{all:?}");
    all.into_iter().next().expect("there is one")
}
