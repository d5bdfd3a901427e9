//! Integers along one edge: values of locals as they were where the edge starts, plus constants, and what
//! is at most what.
//!
//! Cells count as locals. Arithmetic in a signed type is
//! exact: a step that leaves its range is none. Under-approximates.

use super::cells::Scope;
use ir::{BinaryOp, Expr, IntType, LocalId, UnaryOp, Value};
use std::collections::BTreeMap;
use verdict::{Index, ThreadFacts};

/// Integers are narrow if they are less than this in size.
const NARROW: Value = 1 << 33;
/// The first number of values that are not known where another procedure is entered or left.
const ELSEWHERE: u32 = 1 << 24;

/// What an integer is counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// 0.
    Zero,
    /// What a local was where the edge starts.
    Local(LocalId),
    /// A value of which nothing is known but its type.
    Unknown(u32, IntType),
}

/// An integer, not modulo anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Int {
    /// What it is counted from.
    pub origin: Origin,
    /// What is added.
    pub plus: i128,
}

impl Int {
    /// This integer and a constant.
    pub fn plus(self, constant: i128) -> Self {
        Self { plus: self.plus + constant, ..self }
    }
    /// A constant.
    pub fn constant(plus: i128) -> Self {
        Self { origin: Origin::Zero, plus }
    }
}

/// The values of locals, and what is at most what.
#[derive(Clone, Debug)]
pub struct Integers<'p> {
    scope: Scope<'p>,
    known: BTreeMap<LocalId, Int>,
    unknown: u32,
    /// The first is at most the second. Of values, not of locals: no assignment changes it.
    order: Vec<(Int, Int)>,
}

/// Whether the values of locals of a type are looked at.
pub fn is_index(ty: IntType) -> bool {
    ty.bits <= 64 && ty != IntType::BOOL
}

impl<'p> Integers<'p> {
    /// What the facts say where an edge starts.
    pub fn of(scope: Scope<'p>, facts: &ThreadFacts) -> Self {
        let mut found = Self { scope, known: BTreeMap::new(), unknown: 0, order: Vec::new() };
        found.order = facts.order.iter().map(|(one, two)| (found.index(*one), found.index(*two))).collect();
        found
    }

    /// The integers of a procedure where it is entered with these values of parameters and cells, in terms of
    /// these here: all other locals are 0. Where it is left (`left`, a number for each place), only
    /// parameters that keep their value are known.
    pub fn of_callee(
        &self,
        scope: Scope<'p>,
        parameters: &[Option<Int>],
        left: Option<(u32, &dyn Fn(LocalId) -> bool)>,
    ) -> Self {
        let number = left.map_or(0, |(number, _)| number + 1);
        let unknown = ELSEWHERE.saturating_mul(number + 1);
        let mut found = Self { scope, known: BTreeMap::new(), unknown, order: self.order.clone() };
        let code = &scope.program.templates[scope.template];
        for local in code.locals.ids() {
            let given = parameters.get(local.0 as usize).filter(|_| (local.0 as usize) < code.parameters);
            let value = match (given, left) {
                (given, Some((_, is_kept))) => given.copied().flatten().filter(|_| is_kept(local)),
                (Some(given), None) => *given,
                (None, None) => Some(Int::constant(0)),
            };
            found.set(local, value);
        }
        for cell in 0..scope.cells.len() {
            found.known.insert(scope.local(cell), self.local(self.scope.local(cell)));
        }
        found
    }

    /// What an index is now.
    pub fn index(&self, index: Index) -> Int {
        let base = index.local.map_or(Int::constant(0), |local| self.local(local));
        base.plus(index.plus)
    }

    fn local(&self, local: LocalId) -> Int {
        let own = Int { origin: Origin::Local(local), plus: 0 };
        self.known.get(&local).copied().unwrap_or(own)
    }

    /// Gives a local a value; `None` for one that is not known.
    pub fn set(&mut self, local: LocalId, value: Option<Int>) {
        let ty = self.ty(local);
        let value = value.filter(|_| is_index(ty)).unwrap_or_else(|| {
            self.unknown += 1;
            Int { origin: Origin::Unknown(self.unknown, ty), plus: 0 }
        });
        self.known.insert(local, value);
    }

    fn ty(&self, local: LocalId) -> IntType {
        self.scope.ty(local).unwrap_or(IntType::BOOL)
    }

    /// Whether an integer is surely less than 2 to the power of 33 in size.
    pub fn is_narrow(&self, value: Int) -> bool {
        self.is_between(value, (-NARROW, NARROW))
    }

    /// The least and the greatest value that an integer can have by the type of what it is counted from.
    fn range(&self, value: Int) -> (Value, Value) {
        match value.origin {
            Origin::Zero => (value.plus, value.plus),
            Origin::Local(local) => {
                let ty = self.ty(local);
                (ty.min() + value.plus, ty.max() + value.plus)
            }
            Origin::Unknown(_, ty) => (ty.min() + value.plus, ty.max() + value.plus),
        }
    }

    /// Whether one integer is surely at most another, by at most two inequalities.
    pub fn at_most(&self, one: Int, other: Int) -> bool {
        let mut above = self.order.iter().filter(|(left, _)| left.origin == one.origin);
        self.is_at_most(one, other)
            || above.any(|(left, right)| self.is_at_most(right.plus(one.plus - left.plus), other))
    }

    /// Whether one integer is surely at most another, by at most one inequality.
    fn is_at_most(&self, one: Int, other: Int) -> bool {
        if one.origin == other.origin {
            return one.plus <= other.plus;
        }
        self.range(one).1 <= self.range(other).0
            || self.order.iter().any(|(left, right)| {
                left.origin == one.origin
                    && right.origin == other.origin
                    && right.plus + (one.plus - left.plus) <= other.plus
            })
    }

    /// Whether a value is surely one of a type.
    fn is_of(&self, value: Int, ty: IntType) -> bool {
        self.is_between(value, (ty.min(), ty.max()))
    }

    fn is_between(&self, value: Int, (least, most): (Value, Value)) -> bool {
        let is_most = |value: Int| self.range(value).1 <= most;
        let is_least = |value: Int| self.range(value).0 >= least;
        let mut above = self.order.iter().filter(|(left, _)| left.origin == value.origin);
        let mut under = self.order.iter().filter(|(_, right)| right.origin == value.origin);
        (is_most(value) || above.any(|(left, right)| is_most(right.plus(value.plus - left.plus))))
            && (is_least(value) || under.any(|(left, right)| is_least(left.plus(value.plus - right.plus))))
    }

    /// The integer that an expression is.
    pub fn eval(&self, expr: &Expr) -> Option<Int> {
        match expr {
            Expr::Const(value, _) => Some(Int::constant(*value)),
            Expr::Local(local) => is_index(self.ty(*local)).then(|| self.local(*local)),
            Expr::Load(place) => {
                let cell = self.scope.read(place).filter(|cell| is_index(self.ty(*cell)))?;
                Some(self.local(cell))
            }
            Expr::Cast(ty, operand) => {
                let is_bool = *ty == IntType::BOOL;
                self.eval(operand).filter(|value| !is_bool && self.is_of(*value, *ty))
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) => {
                let (left, right) = (self.eval(&pair.0)?, self.eval(&pair.1)?);
                let value = match (op, left.origin, right.origin) {
                    (BinaryOp::Add, _, Origin::Zero) => left.plus(right.plus),
                    (BinaryOp::Add, Origin::Zero, _) => right.plus(left.plus),
                    (BinaryOp::Sub, _, Origin::Zero) => left.plus(-right.plus),
                    _ => return None,
                };
                (ty.signed || self.is_of(value, *ty)).then_some(value)
            }
            Expr::Address(..) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => None,
            Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) => None,
            Expr::Old(_) => None,
        }
    }

    /// An integer that is equal to an expression as wide as a pointer, modulo 2 to that width.
    pub fn eval_modulo(&self, expr: &Expr) -> Option<Int> {
        let program = self.scope.program;
        let width = program.data_model.pointer().bits;
        if program.type_of(self.scope.template, expr).bits != width {
            return None;
        }
        match expr {
            Expr::Const(value, _) => Some(Int::constant(*value)),
            Expr::Cast(_, operand) => {
                let from = program.type_of(self.scope.template, operand);
                // A narrower value is kept, or sign bits are added in front: the same, modulo.
                if from.bits == width { self.eval_modulo(operand) } else { self.eval(operand) }
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), _, pair) => {
                let (left, right) = (self.eval_modulo(&pair.0)?, self.eval_modulo(&pair.1)?);
                match (op, left.origin, right.origin) {
                    (BinaryOp::Add, _, Origin::Zero) => Some(left.plus(right.plus)),
                    (BinaryOp::Add, Origin::Zero, _) => Some(right.plus(left.plus)),
                    (BinaryOp::Sub, _, Origin::Zero) => Some(left.plus(-right.plus)),
                    _ => None,
                }
            }
            Expr::Local(_) | Expr::Load(_) => self.eval(expr),
            _ => None,
        }
    }

    /// Takes note of what a condition says, if it holds or if it does not.
    pub fn assume(&mut self, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => self.assume(operand, !holds),
            Expr::Cast(IntType::BOOL, operand)
                if self.scope.program.type_of(self.scope.template, operand) == IntType::BOOL =>
            {
                self.assume(operand, holds);
            }
            Expr::Binary(BinaryOp::And, IntType::BOOL, pair) if holds => {
                self.assume(&pair.0, true);
                self.assume(&pair.1, true);
            }
            Expr::Binary(BinaryOp::Or, IntType::BOOL, pair) if !holds => {
                self.assume(&pair.0, false);
                self.assume(&pair.1, false);
            }
            Expr::Binary(op, _, pair) => {
                let (Some(left), Some(right)) = (self.eval(&pair.0), self.eval(&pair.1)) else { return };
                match (op, holds) {
                    (BinaryOp::Lt, true) => self.order.push((left.plus(1), right)),
                    (BinaryOp::Lt, false) => self.order.push((right, left)),
                    (BinaryOp::Le, true) => self.order.push((left, right)),
                    (BinaryOp::Le, false) => self.order.push((right.plus(1), left)),
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                        self.order.push((left, right));
                        self.order.push((right, left));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
