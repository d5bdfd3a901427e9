//! Linear forms `c₁x₁ + … + cₙxₙ + [a, b]` over mathematical integers, and how expressions become such forms.
//!
//! As in A. Miné, *Symbolic methods to enhance the precision of numerical abstract domains* (2006), section
//! 3: what is not linear becomes an interval. Machine integers: a signed operation that leaves its range
//! faults, so the form is exact; an unsigned operation or a conversion counts only if it stays in range, or
//! leaves it by the same multiple of 2^bits in all states. Over-approximates: the value of the expression is
//! one of the form's.

use crate::evaluate::{Numbers, Resolve};
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::number::Number;
use crate::refine::Refiner;
use ir::{BinaryOp, Expr, IntType, UnaryOp, Value};
use std::collections::BTreeMap;

/// A sum of variables with factors that are not 0, and an interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear<V> {
    /// The factor of each variable.
    pub terms: BTreeMap<V, Value>,
    /// What is added.
    pub constant: Interval,
}

/// Factors beyond this make a form useless; below it, no sum of products leaves the range of [`Value`]
/// silently.
const LARGEST_FACTOR: Value = 1 << 32;
/// The most variables in a form.
const MOST_TERMS: usize = 16;

impl<V: Ord + Copy> Linear<V> {
    /// No variables.
    pub fn constant(constant: Interval) -> Self {
        Self { terms: BTreeMap::new(), constant }
    }
    /// One variable.
    pub fn variable(variable: V) -> Self {
        Self { terms: BTreeMap::from([(variable, 1)]), constant: Interval::constant(0) }
    }
    /// All factors and the interval times `factor`, if the factors stay small.
    pub fn scale(&self, factor: Value) -> Option<Self> {
        if factor == 0 {
            return Some(Self::constant(Interval::constant(0)));
        }
        let mut terms = self.terms.clone();
        for term in terms.values_mut() {
            *term = term.checked_mul(factor).filter(|term| term.abs() <= LARGEST_FACTOR)?;
        }
        Some(Self { terms, constant: self.constant.multiply(Interval::constant(factor)) })
    }
    /// The negated form.
    pub fn negate(&self) -> Self {
        let terms = self.terms.iter().map(|(variable, factor)| (*variable, -factor)).collect();
        Self { terms, constant: self.constant.negate() }
    }
    /// The sum, if it stays small.
    pub fn add(&self, other: &Self) -> Option<Self> {
        let mut sum = Self { terms: self.terms.clone(), constant: self.constant.plus(other.constant) };
        for (variable, factor) in &other.terms {
            let term = sum.terms.entry(*variable).or_insert(0);
            *term += factor;
            if term.abs() > LARGEST_FACTOR {
                return None;
            }
        }
        sum.terms.retain(|_, factor| *factor != 0);
        (sum.terms.len() <= MOST_TERMS).then_some(sum)
    }
    /// The difference, if it stays small.
    pub fn subtract(&self, other: &Self) -> Option<Self> {
        self.add(&other.negate())
    }
    /// With `amount` added.
    pub fn plus(&self, amount: Value) -> Self {
        Self { terms: self.terms.clone(), constant: self.constant.plus(Interval::constant(amount)) }
    }
    /// The variables become others or, where there is none, intervals.
    pub fn rename<W: Ord + Copy>(
        &self,
        to: impl Fn(V) -> Option<W>,
        range: impl Fn(V) -> Interval,
    ) -> Linear<W> {
        let mut renamed = Linear::constant(self.constant);
        for (variable, factor) in &self.terms {
            match to(*variable) {
                Some(other) => *renamed.terms.entry(other).or_insert(0) += factor,
                None => {
                    let part = range(*variable).multiply(Interval::constant(*factor));
                    renamed.constant = renamed.constant.plus(part);
                }
            }
        }
        renamed.terms.retain(|_, factor| *factor != 0);
        renamed
    }
    /// The values of the form, if each variable has its own range.
    pub fn range(&self, range: impl Fn(V) -> Interval) -> Interval {
        self.rename(|_| None::<V>, range).constant
    }
}

/// Turns expressions into linear forms in one state.
pub(crate) struct Linearizer<'a, R: Resolve> {
    pub refiner: Refiner<'a, R>,
    pub numbers: &'a Numbers<R::Variable>,
    /// The values of a form in the state.
    pub range: &'a dyn Fn(&Linear<R::Variable>) -> Interval,
}

impl<R: Resolve> Linearizer<'_, R> {
    /// A form that has all the values of an expression.
    pub fn linear(&self, expr: &Expr) -> Linear<R::Variable> {
        match self.terms(expr) {
            Some(form) if !form.terms.is_empty() => form,
            _ => Linear::constant(self.interval(expr)),
        }
    }

    /// A form that an expression is equal to, if it has one with variables.
    fn terms(&self, expr: &Expr) -> Option<Linear<R::Variable>> {
        if let Some(variable) = self.refiner.variable(expr) {
            return Some(Linear::variable(variable));
        }
        match expr {
            Expr::Unary(UnaryOp::Neg, ty, operand) => {
                let exact = self.interval(operand).negate();
                self.fit(*ty, self.linear(operand).negate(), exact)
            }
            Expr::Binary(op, ty, pair) => {
                let form = match op {
                    BinaryOp::Add => self.linear(&pair.0).add(&self.linear(&pair.1)),
                    BinaryOp::Sub => self.linear(&pair.0).subtract(&self.linear(&pair.1)),
                    BinaryOp::Mul => {
                        let (left, right) = (self.linear(&pair.0), self.linear(&pair.1));
                        match (as_constant(&left), as_constant(&right)) {
                            (_, Some(factor)) => left.scale(factor),
                            (Some(factor), _) => right.scale(factor),
                            (None, None) => None,
                        }
                    }
                    BinaryOp::Shl => {
                        let distance = as_constant(&self.linear(&pair.1))?;
                        let valid = (0..Value::from(ty.bits)).contains(&distance);
                        self.linear(&pair.0).scale(1 << if valid { distance } else { return None })
                    }
                    BinaryOp::Div
                    | BinaryOp::Rem
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shr
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le => None,
                };
                let exact = Number::exact(*op, &self.value(&pair.0), &self.value(&pair.1));
                if *op == BinaryOp::Shl && !exact.interval().less_or_equal(&Interval::of_type(*ty)) {
                    return None;
                }
                self.fit(*ty, form?, exact.interval())
            }
            Expr::Cast(ty, operand) => {
                let (form, exact) = (self.linear(operand), self.interval(operand));
                if *ty == IntType::BOOL {
                    let range = (self.range)(&form).meet(&exact);
                    return range.less_or_equal(&Interval::BOOLEAN).then_some(form);
                }
                self.unwrap(*ty, form, exact)
            }
            Expr::Const(..)
            | Expr::Local(_)
            | Expr::Load(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(UnaryOp::Not, ..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..)
            | Expr::Old(_) => None,
        }
    }

    fn value(&self, expr: &Expr) -> Number {
        self.refiner.evaluate(expr, self.numbers)
    }
    fn interval(&self, expr: &Expr) -> Interval {
        self.value(expr).interval()
    }

    /// An exact result as a type leaves it: signed ones did not leave the range, or the operation faulted.
    fn fit(&self, ty: IntType, form: Linear<R::Variable>, exact: Interval) -> Option<Linear<R::Variable>> {
        if ty.signed { Some(form) } else { self.unwrap(ty, form, exact) }
    }

    /// The form modulo 2^bits, if that takes away the same multiple of it in all states.
    /// What is known of the form's values besides is given.
    fn unwrap(&self, ty: IntType, form: Linear<R::Variable>, exact: Interval) -> Option<Linear<R::Variable>> {
        let range = (self.range)(&form).meet(&exact);
        let (lower, upper) = (range.lower().value()?, range.upper().value()?);
        let turns = |value: Value| Some(value.checked_sub(ty.min())?.div_euclid(1 << ty.bits));
        let least = turns(lower)?;
        if least != turns(upper)? {
            return None;
        }
        Some(form.plus(least.checked_mul(1 << ty.bits)?.checked_neg()?))
    }
}

fn as_constant<V>(form: &Linear<V>) -> Option<Value> {
    if form.terms.is_empty() { form.constant.as_constant() } else { None }
}
