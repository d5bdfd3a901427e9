//! Random expressions in random states: abstract evaluation against the step semantics.

use crate::samples::{number_around, value};
use domains::{Environment, Lattice, Number, Numbers, Resolve, evaluate};
use ir::semantics::{Fault, Machine};
use ir::{
    BinaryOp, Count, Expr, Initial, IntType, Layout, LocalId, LocationKind, Object, ObjectId, Place, Program,
    Span, Storage, Template, TemplateId, UnaryOp, Value,
};
use std::sync::Arc;
use testkit::random::Random;

/// A program in one state: two locals of each type, a pointer that is null or not, a global cell, and an
/// array.
pub struct World {
    pub program: Program,
    /// The values of the locals, then of the global.
    pub values: Vec<Value>,
    pub array: [Value; 3],
}

const TEMPLATE: TemplateId = TemplateId(0);
const GLOBAL: ObjectId = ObjectId(0);
const ARRAY: ObjectId = ObjectId(1);
const CELL: IntType = IntType::I32;
/// The pointer: the last local.
const POINTER: u32 = 18;
const GLOBAL_VARIABLE: u32 = 19;
const PTR: IntType = IntType::U64;

/// A local of the world: two of each type.
pub fn local(index: u32) -> Expr {
    Expr::Local(LocalId(index))
}

impl World {
    pub fn new(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let mut template = Template { name: "t".into(), ..Template::default() };
        let mut values = Vec::new();
        for index in 0..POINTER as usize {
            let ty = IntType::ALL[index / 2];
            template.local(format!("x{index}"), ty, Span::default());
            values.push(value(random, ty));
        }
        template.local("p", PTR, Span::default());
        template.entry = template.location(LocationKind::Normal, false);
        let array = std::array::from_fn(|_| value(random, CELL));
        let object = |name: &str, count: u64, content: &[Value]| {
            let cells = content.iter().enumerate();
            let cells = cells.map(|(at, value)| (4 * at as u64, CELL, Expr::Const(*value, CELL))).collect();
            Object {
                name: name.into(),
                storage: Storage::Static,
                size: 4 * count,
                align: 4,
                layout: Layout::Array { element: Box::new(Layout::Scalar(CELL)), count, stride: 4 },
                initial: Initial::Values(cells),
                span: Span::default(),
                role: ir::ObjectRole::Program,
            }
        };
        let global = value(random, CELL);
        let objects = [object("g", 1, &[global]), object("a", 3, &array)].into_iter().collect();
        let templates = [template].into_iter().collect();
        let start = vec![(TEMPLATE, Count::Exactly(1))];
        let program = Program { objects, templates, start, ..Program::default() };
        let addresses = ir::semantics::AddressMap::new(&program);
        let pointee = addresses.offset[random.pick(&[GLOBAL, ARRAY])];
        values.push(if random.once_in(3) { 0 } else { Value::from(pointee) });
        values.push(global);
        Self { program, values, array }
    }
    /// The value of an expression, as the step semantics has it.
    pub fn concrete(&self, expr: &Expr) -> Result<Value, Fault> {
        let machine = Machine::new(&self.program).expect("a small program");
        let mut state = machine.initial(&[1]).expect("one thread");
        let thread = Arc::make_mut(&mut state.threads[0]);
        for (local, value) in thread.activations[0].locals.iter_mut().zip(&self.values) {
            *local = *value as u64;
        }
        machine.peek(&state, 0, expr)
    }
    /// An environment that holds the state.
    pub fn environment(&self, random: &mut Random) -> Numbers<LocalId> {
        let mut environment = Environment::top();
        for (index, value) in self.values.iter().enumerate() {
            if !random.once_in(6) {
                environment.set(LocalId(index as u32), number_around(random, *value));
            }
        }
        environment
    }
    pub fn holds(&self, environment: &Numbers<LocalId>) -> bool {
        let known = |(index, value): (usize, &Value)| {
            environment.get(LocalId(index as u32)).is_none_or(|number| number.contains(*value))
        };
        !environment.is_bottom() && self.values.iter().enumerate().all(known)
    }
}

impl Resolve for World {
    type Variable = LocalId;
    fn type_of(&self, expr: &Expr) -> IntType {
        self.program.type_of(TEMPLATE, expr)
    }
    fn variable(&self, expr: &Expr) -> Option<LocalId> {
        match expr {
            Expr::Local(local) => Some(*local),
            Expr::Load(place) => (place.as_cell() == Some((GLOBAL, 0))).then_some(LocalId(GLOBAL_VARIABLE)),
            _ => None,
        }
    }
    fn load(&self, _: &Place, _: &Number, environment: &Numbers<LocalId>) -> Number {
        let cells = self.array.iter().map(|value| Number::constant(*value));
        let global = environment.get(LocalId(GLOBAL_VARIABLE)).copied().unwrap_or(Number::TOP);
        cells.fold(global, |all, cell| all.join(&cell))
    }
}

/// An expression of a type.
pub fn expression(random: &mut Random, ty: IntType, depth: usize) -> Expr {
    if depth == 0 || random.once_in(6) {
        return leaf(random, ty);
    }
    match random.below(if ty == IntType::BOOL { 12 } else { 8 }) {
        0 => {
            let from = random.pick(&IntType::ALL);
            Expr::cast(ty, expression(random, from, depth - 1))
        }
        1 => Expr::unary(random.pick(&[UnaryOp::Neg, UnaryOp::Not]), ty, expression(random, ty, depth - 1)),
        2 => Expr::IfThenElse(Box::new((
            expression(random, IntType::BOOL, depth - 1),
            expression(random, ty, depth - 1),
            expression(random, ty, depth - 1),
        ))),
        8..=10 => comparison(random, depth),
        11 => match random.below(3) {
            0 => Expr::Valid(Box::new(expression(random, PTR, depth - 1)), random.below(5) as u64),
            _ => {
                let ty = random.pick(&[IntType::I8, IntType::I32, IntType::I64]);
                let pair = (expression(random, ty, depth - 1), expression(random, ty, depth - 1));
                Expr::Overflows(random.pick(&BinaryOp::ALL[..10]), ty, Box::new(pair))
            }
        },
        _ => {
            let op = random.pick(&BinaryOp::ALL[..10]);
            Expr::binary(op, ty, expression(random, ty, depth - 1), expression(random, ty, depth - 1))
        }
    }
}

fn comparison(random: &mut Random, depth: usize) -> Expr {
    let ty = random.pick(&IntType::ALL);
    let op = random.pick(&BinaryOp::ALL[10..]);
    Expr::binary(op, ty, expression(random, ty, depth - 1), expression(random, ty, depth - 1))
}

fn leaf(random: &mut Random, ty: IntType) -> Expr {
    let kind = IntType::ALL.iter().position(|known| *known == ty).expect("a type") as u32;
    match random.below(4) {
        0 => Expr::Const(value(random, ty), ty),
        1 if ty == CELL => match random.below(3) {
            0 => Expr::load(Place::cell(GLOBAL, 0, CELL)),
            1 => Expr::load(Place::pointee(local(POINTER), CELL)),
            _ => Expr::load(Place::cell(ARRAY, 4, CELL)),
        },
        1 if ty == PTR => match random.below(4) {
            0 => Expr::Myself,
            1 => Expr::Address(ARRAY, random.below(12) as u64),
            2 => Expr::Procedure(TEMPLATE),
            _ => local(POINTER),
        },
        _ => local(2 * kind + random.below(2) as u32),
    }
}

#[test]
fn values_are_in_the_abstract_value() {
    let mut defined = 0;
    for seed in 0..12_000 {
        let world = World::new(seed);
        let random = &mut Random::new(seed + (1 << 32));
        let ty = random.pick(&IntType::ALL);
        let depth = random.below(5);
        let expr = expression(random, ty, depth);
        let environment = world.environment(random);
        assert!(world.holds(&environment));
        let abstract_value = evaluate(&expr, &environment, &world);
        assert!(abstract_value.less_or_equal(&Number::of_type(ty)), "{expr:?} is no {ty}: {abstract_value}");
        if let Ok(exact) = world.concrete(&expr) {
            defined += 1;
            assert!(
                abstract_value.contains(exact),
                "{expr:?} = {exact}, not {abstract_value} in {environment:?}"
            );
        }
    }
    assert!(defined > 5000, "only {defined} expressions have a value");
}

/// Conditional expressions inside of conditions, as deep as they may be: this would not end if each level
/// doubled the work.
#[test]
fn deep_expressions_are_no_trap() {
    let world = World::new(1);
    let mut expr = local(0);
    for _ in 0..400 {
        let condition = expr.clone().and(local(1)).not();
        expr = Expr::IfThenElse(Box::new((condition, expr_or(local(0)), local(1))));
    }
    evaluate(&expr, &Environment::top(), &world);
    domains::assume(&expr, true, Environment::top(), &world);
}

fn expr_or(expr: Expr) -> Expr {
    Expr::binary(ir::BinaryOp::Or, IntType::BOOL, expr, Expr::bool(false))
}
