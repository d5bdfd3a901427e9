//! Random numbers, and random values for open choices of a program.
//!
//! Direction: each value is one that the semantics allows, and that proofs have to cover. Numbers that happen
//! to be the address of an object or of a procedure are excluded, and so are those that wrap around when
//! multiplied by the size of an element: by assumption 14 of `SOUNDNESS.md`, there are none.

use ir::ids::Id;
use ir::semantics::{AddressMap, Choice, ChoiceKind, Choices, STATICS};
use ir::{ErrorKind, Expr, IntType, Location, LocationKind, Program, TemplateId, Value};
use std::collections::BTreeSet;

/// A generator of random numbers (xorshift64*).
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    /// Any number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { ((self.draw() >> 33) % bound as u64) as usize }
    }
}

/// The most constants of a program that are tried.
const MOST_CONSTANTS: usize = 64;
/// Numbers that are as wide as a pointer are below this, so that they do not wrap around as indices.
const FAR: Value = 1 << 40;

/// The values for inputs.
pub struct Values {
    /// The constants of the program, in order.
    constants: Vec<Value>,
    /// Numbers that are addresses.
    taken: [std::ops::Range<Value>; 2],
    pointer: IntType,
    /// Whether to include the largest numbers of types as wide as a pointer: only for the overflow check.
    wide: bool,
}

impl Values {
    /// The values for a program.
    pub fn new(program: &Program, addresses: &AddressMap) -> Self {
        let mut constants: BTreeSet<Value> = BTreeSet::new();
        let edges = program.templates.iter().flat_map(|code| &code.edges);
        for expr in edges.flat_map(|edge| &edge.ops).flat_map(|op| op.expressions()) {
            expr.walk(&mut |inner| {
                if let Expr::Const(value, _) = inner
                    && constants.len() < MOST_CONSTANTS
                {
                    constants.insert(*value);
                }
            });
        }
        let procedures = TemplateId::new(0)..TemplateId::new(program.templates.len());
        let procedure = |template: TemplateId| Value::from(addresses.procedure(template));
        let statics = Value::from(STATICS);
        let overflows = |location: &Location| location.kind == LocationKind::Error(ErrorKind::Overflow);
        Self {
            constants: constants.into_iter().collect(),
            taken: [
                procedure(procedures.start)..procedure(procedures.end),
                statics..statics + Value::from(addresses.static_size) + 1,
            ],
            pointer: program.data_model.pointer(),
            wide: program.templates.iter().flat_map(|code| &code.locations).any(overflows),
        }
    }

    fn allows(&self, value: Value, ty: IntType) -> bool {
        let far = ty.bits >= self.pointer.bits && !self.wide && !(-FAR..FAR).contains(&value);
        !far && !self.taken.iter().any(|range| range.contains(&value))
    }

    /// A value of a type.
    fn pick(&self, ty: IntType, taste: Taste, random: &mut Random) -> Value {
        let constant = |random: &mut Random| match self.constants.len() {
            0 => 0,
            count => self.constants[random.below(count)],
        };
        let value = match (taste, random.below(8)) {
            (Taste::Zero, _) => 0,
            (Taste::Small, _) | (Taste::Any, 0 | 1) => random.below(4) as Value - 1,
            (Taste::Constant, _) | (Taste::Any, 2) => constant(random),
            (Taste::Any, 3 | 4) => constant(random) + random.below(3) as Value - 1,
            (Taste::Any, 5) => ty.min() + random.below(2) as Value,
            (Taste::Any, 6) => ty.max() - random.below(2) as Value,
            (Taste::Any, _) => random.draw() as Value,
        };
        let value = ty.wrap(value);
        if self.allows(value, ty) { value } else { ty.wrap(random.below(3) as Value) }
    }
}

/// The kind of values in one execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taste {
    /// All are 0.
    Zero,
    /// From -1 to 2.
    Small,
    /// Constants of the program.
    Constant,
    /// Constants of the program and their neighbours, the limits of types, or any value.
    Any,
}

/// Gives an execution its open values, and records them.
pub struct Given<'a> {
    /// Where values come from.
    pub values: &'a Values,
    /// Their kind.
    pub taste: Taste,
    /// The generator.
    pub random: &'a mut Random,
    /// The values of this step, in order.
    pub chosen: Vec<Value>,
    /// Whether one of them is not modelled.
    pub unknown: bool,
}

impl Choices for Given<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let value = match choice.kind {
            ChoiceKind::Any | ChoiceKind::Open | ChoiceKind::Unknown => {
                self.values.pick(choice.ty, self.taste, self.random)
            }
            ChoiceKind::Reuse(_) if self.taste == Taste::Zero => 0,
            ChoiceKind::Reuse(count) => self.random.below(usize::from(count) + 1) as Value,
        };
        self.unknown |= choice.kind == ChoiceKind::Unknown;
        self.chosen.push(value);
        value
    }
}
