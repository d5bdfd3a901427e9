//! Candidates for the values that a program leaves open.
//!
//! Under-approximates, unless a list of candidates is marked exact.

use ir::{EdgeId, Expr, IntType, Op, Program, Rhs, TemplateId, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Values to try for an open value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// In the order in which to try them; 0 comes first.
    pub values: Vec<Value>,
    /// Whether every value of the type behaves like one of these.
    pub exact: bool,
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
    pub fn new(program: &Program) -> Self {
        let constants = constants(program);
        let all = [1, 8, 16, 32, 64].into_iter().flat_map(|bits| {
            [IntType { bits, signed: false }, IntType { bits, signed: true }]
                .into_iter()
                .filter(|ty| *ty != IntType { bits: 1, signed: true })
        });
        let types: Vec<_> = all.map(|ty| (ty, general(ty, &constants))).collect();
        let mut inputs = Self { edges: FxHashMap::default(), types };
        for (template, code) in program.templates.enumerate() {
            for (edge, step) in code.edges.enumerate() {
                let mut found = Vec::new();
                for op in &step.ops {
                    let Op::Assign(assignment) = op else { continue };
                    for (lhs, rhs) in &assignment.pairs {
                        if matches!(rhs, Rhs::Any | Rhs::Unknown) {
                            let ty = match lhs {
                                ir::Lhs::Local(local) => code.locals[*local].ty,
                                ir::Lhs::Memory(place) => place.ty,
                            };
                            found.push(inputs.of_type(ty).clone());
                        }
                    }
                }
                if !found.is_empty() {
                    inputs.edges.insert((template, edge), found);
                }
            }
        }
        inputs
    }
    /// The candidates for any value of a type.
    pub fn of_type(&self, ty: IntType) -> &Candidates {
        let found = self.types.iter().find(|(candidate, _)| *candidate == ty);
        &found.unwrap_or(&self.types[0]).1
    }
    /// The candidates for the n-th input of an edge.
    pub fn of_edge(&self, template: TemplateId, edge: EdgeId, index: usize, ty: IntType) -> &Candidates {
        match self.edges.get(&(template, edge)).and_then(|found| found.get(index)) {
            Some(candidates) => candidates,
            None => self.of_type(ty),
        }
    }
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
