//! Candidates for the values that a program leaves open.
//!
//! Under-approximates, unless a list of candidates is marked exact: the value is never read, or the list
//! holds all values of the type, or the value is only ever compared with constants, so that values between
//! the same two constants behave alike. The constraint of the operation that stores it is such a comparison.

use crate::flow::{Flow, Uses};
use crate::liveness::Liveness;
use ir::semantics::{Choice, ChoiceKind};
use ir::{Edge, EdgeId, Expr, IntType, Lhs, LocalId, Op, Program, Rhs, TemplateId, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Values to try for an open value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// In the order in which to try them; 0 comes first.
    pub values: Vec<Value>,
    /// Whether every value of the type behaves like one of these.
    pub exact: bool,
}

impl Candidates {
    /// Those for an allocation that may use so many addresses again.
    pub fn of_reuse(count: u8) -> Self {
        Self { values: (0..=Value::from(count)).collect(), exact: true }
    }
}

/// The candidates at all places of a program.
pub struct Inputs {
    /// Of the inputs of each edge that has any.
    edges: FxHashMap<(TemplateId, EdgeId), Vec<Candidates>>,
    types: Vec<(IntType, Candidates)>,
}

/// Types with at most this many bits are tried with all their values.
const ENUMERATED_BITS: u8 = 8;

impl Inputs {
    /// Computes the candidates of a program.
    pub fn new(program: &Program, liveness: &Liveness) -> Self {
        let constants = constants(program);
        let all = [1, 8, 16, 32, 64].into_iter().flat_map(|bits| {
            [IntType { bits, signed: false }, IntType { bits, signed: true }]
                .into_iter()
                .filter(|ty| *ty != IntType { bits: 1, signed: true })
        });
        let types: Vec<_> = all.map(|ty| (ty, general(ty, &constants))).collect();
        let mut inputs = Self { edges: FxHashMap::default(), types };
        let flow = Flow::new(program);
        for (template, code) in program.templates.enumerate() {
            for (edge, step) in code.edges.enumerate() {
                let pairs = step.ops.iter().enumerate().flat_map(|(index, op)| match op {
                    Op::Assign(assignment) => assignment.pairs.iter().map(|pair| (index, pair)).collect(),
                    _ => Vec::new(),
                });
                let open = pairs.filter(|(_, (_, rhs))| matches!(rhs, Rhs::Any | Rhs::Unknown));
                let found: Vec<Candidates> = open
                    .map(|(index, (lhs, _))| match lhs {
                        Lhs::Local(local) if reads_later(step, index, *local) => {
                            inputs.of_type(code.locals[*local].ty).clone()
                        }
                        Lhs::Local(local)
                            if !step.reads_later(index, *local)
                                && !liveness.is_live(template, step.target, *local) =>
                        {
                            Candidates { values: vec![0], exact: true }
                        }
                        Lhs::Local(local) => {
                            let asked = match &step.ops[index] {
                                Op::Assign(assignment) => assignment.constraint.as_ref(),
                                _ => None,
                            };
                            let uses = flow.of(template, *local, step.target, asked);
                            inputs.of_local(code.locals[*local].ty, uses)
                        }
                        Lhs::Memory(place) => inputs.of_type(place.ty).clone(),
                    })
                    .collect();
                if !found.is_empty() {
                    inputs.edges.insert((template, edge), found);
                }
            }
        }
        inputs
    }
    fn of_local(&self, ty: IntType, uses: Uses) -> Candidates {
        let Uses { exact, constants } = uses;
        if exact && ty.bits > ENUMERATED_BITS {
            return representatives(ty, &constants);
        }
        let mut candidates = self.of_type(ty).clone();
        // What the value itself is compared with comes first.
        let near = constants.iter().flat_map(|constant| [*constant, constant + 1, constant - 1]);
        let mut seen = BTreeSet::new();
        let all = [0, 1].into_iter().chain(near).chain(candidates.values);
        candidates.values = all.filter(|value| ty.contains(*value) && seen.insert(*value)).collect();
        candidates
    }
    /// The candidates for any value of a type.
    #[inline]
    pub fn of_type(&self, ty: IntType) -> &Candidates {
        let found = self.types.iter().find(|(candidate, _)| *candidate == ty);
        &found.unwrap_or(&self.types[0]).1
    }
    /// The candidates for what a step asks for. `asked`: how many of its inputs were asked for before.
    #[inline]
    pub fn of_choice(
        &self,
        (template, edge): (TemplateId, EdgeId),
        asked: &mut usize,
        choice: Choice,
    ) -> Cow<'_, Candidates> {
        match choice.kind {
            ChoiceKind::Open => Cow::Borrowed(self.of_type(choice.ty)),
            ChoiceKind::Reuse(count) => Cow::Owned(Candidates::of_reuse(count)),
            ChoiceKind::Any | ChoiceKind::Unknown => {
                *asked += 1;
                Cow::Borrowed(self.of_edge(template, edge, *asked - 1, choice.ty))
            }
        }
    }
    /// The candidates for the n-th input of an edge.
    #[inline]
    pub fn of_edge(&self, template: TemplateId, edge: EdgeId, index: usize, ty: IntType) -> &Candidates {
        match self.edges.get(&(template, edge)).and_then(|found| found.get(index)) {
            Some(candidates) => candidates,
            None => self.of_type(ty),
        }
    }
}

/// Whether an operation after the given one of an edge reads a local.
fn reads_later(step: &Edge, index: usize, local: LocalId) -> bool {
    step.ops.iter().skip(index + 1).flat_map(Op::expressions).any(|expr| expr.mentions(local))
}

/// All constants in a program.
fn constants(program: &Program) -> BTreeSet<Value> {
    let mut found = BTreeSet::new();
    for template in &program.templates {
        for edge in &template.edges {
            for expr in edge.ops.iter().flat_map(Op::expressions) {
                expr.walk(&mut |inner| {
                    if let Expr::Const(value, _) = inner {
                        found.insert(*value);
                    }
                });
            }
        }
    }
    found
}

/// Values of a type that are worth a try, when nothing is known about its use.
fn general(ty: IntType, constants: &BTreeSet<Value>) -> Candidates {
    let mut values: Vec<Value> = vec![0, 1];
    if ty.bits <= ENUMERATED_BITS {
        values.extend(ty.min()..=ty.max());
    } else {
        values.extend([-1, 2]);
        for constant in constants {
            values.extend([*constant, constant - 1, constant + 1]);
        }
        values.extend([ty.max(), ty.min()]);
    }
    let mut seen = BTreeSet::new();
    values.retain(|value| ty.contains(*value) && seen.insert(*value));
    Candidates { values, exact: ty.bits <= ENUMERATED_BITS }
}

/// One value for each class of values that compare alike with all constants. 0 stands for its class.
fn representatives(ty: IntType, constants: &BTreeSet<Value>) -> Candidates {
    let mut values = vec![0];
    let mut covered: BTreeSet<(Value, Value)> = BTreeSet::new();
    // A class is named by the constants below and above it; a constant is a class of its own.
    let class = |value: Value| {
        let below = constants.range(..=value).next_back().copied().unwrap_or(ty.min() - 1);
        let above = constants.range(value..).next().copied().unwrap_or(ty.max() + 1);
        (below, above)
    };
    covered.insert(class(0));
    let near = constants.iter().flat_map(|constant| [*constant, constant + 1, constant - 1]);
    for value in [1].into_iter().chain(near).chain([ty.min(), ty.max()]) {
        if ty.contains(value) && covered.insert(class(value)) {
            values.push(value);
        }
    }
    Candidates { values, exact: true }
}
