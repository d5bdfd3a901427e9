//! Backward refinement: the constraints that an expression's value puts on its variables.
//!
//! From the outside in, as in HC4 (F. Benhamou and others, *Revising hull and box consistency*, 1999): the
//! values wanted of an expression and of all but one operand bound that operand. Over-approximates: every
//! state of the environment in which the expression does not fault and has a wanted value stays in the
//! result. A state in which it faults may be dropped, since no execution continues from there.
//!
//! Effort is bounded: after some thousand steps nothing more is refined, which is sound. Without a bound,
//! conditional expressions nested in conditions would take exponential time.

use crate::bound::Bound;
use crate::congruence::Congruence;
use crate::evaluate::{Numbers, Resolve};
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::number::Number;
use ir::{BinaryOp, Expr, IntType, UnaryOp, Value};
use std::cell::Cell;

/// The steps of refinement that one condition is worth.
const EFFORT: u32 = 4000;
/// The number of passes over a condition: a later part may constrain an earlier one.
const ROUNDS: usize = 3;

/// The states of an environment in which a condition (a Boolean) has a truth value.
pub fn assume<R: Resolve>(
    condition: &Expr,
    truth: bool,
    environment: Numbers<R::Variable>,
    resolve: &R,
) -> Numbers<R::Variable> {
    let refiner = Refiner::new(resolve);
    let mut environment = environment;
    for _ in 0..ROUNDS {
        let refined = refiner.assume(condition, truth, environment.clone());
        if refined.is_same(&environment) {
            break;
        }
        environment = refined;
    }
    environment
}

/// The states of an environment in which an expression has one of the wanted values.
pub fn refine<R: Resolve>(
    expr: &Expr,
    wanted: &Number,
    environment: Numbers<R::Variable>,
    resolve: &R,
) -> Numbers<R::Variable> {
    Refiner::new(resolve).refine(expr, wanted, environment)
}

/// Evaluation and refinement for one question.
pub(crate) struct Refiner<'a, R> {
    pub resolve: &'a R,
    effort: Cell<u32>,
}

impl<'a, R: Resolve> Refiner<'a, R> {
    pub fn new(resolve: &'a R) -> Self {
        Self { resolve, effort: Cell::new(EFFORT) }
    }

    pub fn assume(
        &self,
        condition: &Expr,
        truth: bool,
        environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        let wanted = if truth { Number::NONZERO } else { Number::constant(0) };
        self.refine(condition, &wanted, environment)
    }

    pub fn refine(
        &self,
        expr: &Expr,
        wanted: &Number,
        mut environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        if environment.is_bottom() || self.effort.get() == 0 {
            return environment;
        }
        self.effort.set(self.effort.get() - 1);
        let possible = self.evaluate(expr, &environment);
        let value = possible.meet(wanted);
        if value.is_bottom() {
            return Numbers::bottom();
        }
        if let Some(variable) = self.variable(expr) {
            environment.set(variable, value);
            return environment;
        }
        match expr {
            Expr::Const(..)
            | Expr::Local(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Old(_) => environment,
            // A load that succeeds has an address.
            Expr::Load(place) => self.refine(&place.address, &Number::NONZERO, environment),
            // Both operations are their own inverse on the values of a type.
            Expr::Unary(op @ (UnaryOp::Neg | UnaryOp::Not), ty, operand) => {
                self.refine(operand, &Number::unary(*op, *ty, &value), environment)
            }
            Expr::Binary(op, ty, pair) => self.refine_binary(*op, *ty, pair, &value, environment),
            Expr::Cast(ty, operand) => self.refine_cast(*ty, operand, &value, environment),
            Expr::IfThenElse(three) => {
                let (condition, then, otherwise) = &**three;
                let first = self.assume(condition, true, environment.clone());
                let second = self.assume(condition, false, environment);
                self.refine(then, &value, first).join(&self.refine(otherwise, &value, second))
            }
            Expr::Overflows(op, ty, pair) => self.refine_overflow(*op, *ty, pair, &value, environment),
            Expr::Valid(pointer, _) => {
                if value.may_fail() {
                    return environment;
                }
                self.refine(pointer, &Number::NONZERO, environment)
            }
        }
    }

    /// Refines the first operand by values that depend on the second, then the second by the refined first.
    fn refine_both(
        &self,
        pair: &(Expr, Expr),
        environment: Numbers<R::Variable>,
        first: impl Fn(&Number, &Number) -> Number,
        second: impl Fn(&Number, &Number) -> Number,
    ) -> Numbers<R::Variable> {
        let values = |environment: &Numbers<R::Variable>| {
            (self.evaluate(&pair.0, environment), self.evaluate(&pair.1, environment))
        };
        let (left, right) = values(&environment);
        let environment = self.refine(&pair.0, &first(&left, &right), environment);
        let (left, right) = values(&environment);
        self.refine(&pair.1, &second(&left, &right), environment)
    }

    fn refine_binary(
        &self,
        op: BinaryOp,
        ty: IntType,
        pair: &(Expr, Expr),
        value: &Number,
        environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        let (add, subtract) = (BinaryOp::Add, BinaryOp::Sub);
        match op {
            // Exact in a signed type; modulo 2^bits in an unsigned one, where the inverse wraps back.
            BinaryOp::Add => self.refine_both(
                pair,
                environment,
                |_, right| Number::binary(subtract, ty, value, right),
                |left, _| Number::binary(subtract, ty, value, left),
            ),
            BinaryOp::Sub => self.refine_both(
                pair,
                environment,
                |_, right| Number::binary(add, ty, value, right),
                |left, _| Number::binary(subtract, ty, left, value),
            ),
            BinaryOp::Mul => {
                let (left, right) =
                    (self.evaluate(&pair.0, &environment), self.evaluate(&pair.1, &environment));
                let product = Number::exact(BinaryOp::Mul, &left, &right);
                if !ty.signed && !product.less_or_equal(&Number::of_type(ty)) {
                    return environment;
                }
                self.refine_product(pair, value, environment)
            }
            BinaryOp::Div => self.refine_both(
                pair,
                environment,
                |_, right| dividend(value, right),
                |_, right| right.without(0),
            ),
            BinaryOp::Rem => self.refine_both(
                pair,
                environment,
                |left, right| remainder_operand(value, left, right),
                |_, right| right.without(0),
            ),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if ty == IntType::BOOL => {
                self.refine_logical(op, pair, value, environment)
            }
            BinaryOp::And => self.refine_both(
                pair,
                environment,
                |_, right| masked(value, right),
                |left, _| masked(value, left),
            ),
            BinaryOp::Or => {
                // Of a disjunction that is zero both are; of one that is not negative neither is.
                let wanted = if value.as_constant() == Some(0) {
                    Number::constant(0)
                } else if value.interval().lower() >= Bound::ZERO {
                    Number::from(Interval::new(Bound::ZERO, value.interval().upper()))
                } else {
                    return environment;
                };
                self.refine_both(pair, environment, |_, _| wanted, |_, _| wanted)
            }
            BinaryOp::Xor => self.refine_both(
                pair,
                environment,
                |_, right| Number::binary(BinaryOp::Xor, ty, value, right),
                |left, _| Number::binary(BinaryOp::Xor, ty, value, left),
            ),
            BinaryOp::Shl => environment,
            BinaryOp::Shr => {
                self.refine_both(pair, environment, |_, right| shifted(value, right), |_, right| *right)
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => match value.as_constant() {
                Some(truth) => self.refine_comparison(op, truth != 0, pair, environment),
                None => environment,
            },
        }
    }

    /// Refines the operands of an exact product.
    fn refine_product(
        &self,
        pair: &(Expr, Expr),
        value: &Number,
        environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        self.refine_both(pair, environment, |_, right| factor(value, right), |left, _| factor(value, left))
    }

    fn refine_logical(
        &self,
        op: BinaryOp,
        pair: &(Expr, Expr),
        value: &Number,
        environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        let Some(truth) = value.as_constant().map(|truth| truth != 0) else { return environment };
        if op == BinaryOp::Xor {
            return self.refine_comparison(BinaryOp::Ne, truth, pair, environment);
        }
        if truth == (op == BinaryOp::And) {
            let environment = self.assume(&pair.0, truth, environment);
            return self.assume(&pair.1, truth, environment);
        }
        let first = self.assume(&pair.0, truth, environment.clone());
        first.join(&self.assume(&pair.1, truth, environment))
    }

    fn refine_comparison(
        &self,
        op: BinaryOp,
        truth: bool,
        pair: &(Expr, Expr),
        environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        let one = Bound::finite(1);
        let (one_less, one_more) = (one.negate(), one);
        let below = |number: &Number, by: Bound| {
            Number::from(Interval::at_most(number.interval().upper().add_up(by)))
        };
        let above = |number: &Number, by: Bound| {
            Number::from(Interval::at_least(number.interval().lower().add_down(by)))
        };
        let zero = Bound::ZERO;
        match (op, truth) {
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                self.refine_both(pair, environment, |_, right| *right, |left, _| *left)
            }
            (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => {
                let other_than = |number: &Number, other: &Number| {
                    other.as_constant().map_or(Number::TOP, |value| number.without(value))
                };
                self.refine_both(pair, environment, other_than, |left, right| other_than(right, left))
            }
            (BinaryOp::Lt, true) => self.refine_both(
                pair,
                environment,
                |_, right| below(right, one_less),
                |left, _| above(left, one_more),
            ),
            (BinaryOp::Lt, false) => self.refine_both(
                pair,
                environment,
                |_, right| above(right, zero),
                |left, _| below(left, zero),
            ),
            (BinaryOp::Le, true) => self.refine_both(
                pair,
                environment,
                |_, right| below(right, zero),
                |left, _| above(left, zero),
            ),
            (BinaryOp::Le, false) => self.refine_both(
                pair,
                environment,
                |_, right| above(right, one_more),
                |left, _| below(left, one_less),
            ),
            (
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::Shr,
                _,
            ) => environment,
        }
    }

    fn refine_cast(
        &self,
        ty: IntType,
        operand: &Expr,
        value: &Number,
        environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        let before = self.evaluate(operand, &environment);
        if before.less_or_equal(&Number::of_type(ty)) {
            return self.refine(operand, value, environment);
        }
        if ty == IntType::BOOL {
            return match value.as_constant() {
                Some(0) => self.refine(operand, &Number::constant(0), environment),
                Some(_) => self.refine(operand, &Number::NONZERO, environment),
                None => environment,
            };
        }
        let from = self.resolve.type_of(operand);
        if from.bits <= ty.bits {
            // Nothing is lost, so the inverse is a conversion too.
            return self.refine(operand, &value.wrap(from), environment);
        }
        // The low bits stay, and what is not zero afterwards was not zero before.
        let low = Congruence::new(1 << ty.bits, 0);
        let congruence = value.congruence().plus(low);
        let mut wanted = Number::new(Interval::TOP, congruence);
        if value.is_nonzero() {
            wanted = wanted.without(0);
        }
        self.refine(operand, &wanted, environment)
    }

    fn refine_overflow(
        &self,
        op: BinaryOp,
        ty: IntType,
        pair: &(Expr, Expr),
        value: &Number,
        environment: Numbers<R::Variable>,
    ) -> Numbers<R::Variable> {
        let Some(truth) = value.as_constant() else { return environment };
        let (left, right) = (self.evaluate(&pair.0, &environment), self.evaluate(&pair.1, &environment));
        let result = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => Number::exact(op, &left, &right),
            BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le => return environment,
        };
        let exact = if truth == 0 {
            result.meet(&Number::of_type(ty))
        } else {
            let above = Number::from(Interval::at_least(Bound::finite(ty.max() + 1)));
            let below = Number::from(Interval::at_most(Bound::finite(ty.min() - 1)));
            result.meet(&above).join(&result.meet(&below))
        };
        let (add, subtract) = (BinaryOp::Add, BinaryOp::Sub);
        match op {
            BinaryOp::Add => self.refine_both(
                pair,
                environment,
                |_, right| Number::exact(subtract, &exact, right),
                |left, _| Number::exact(subtract, &exact, left),
            ),
            BinaryOp::Sub => self.refine_both(
                pair,
                environment,
                |_, right| Number::exact(add, &exact, right),
                |left, _| Number::exact(subtract, left, &exact),
            ),
            _ => self.refine_product(pair, &exact, environment),
        }
    }
}

/// The possible first factors of an exact product, given the second.
fn factor(product: &Number, other: &Number) -> Number {
    let mut wanted = Number::TOP;
    if product.is_nonzero() {
        wanted = wanted.without(0);
    }
    let Some(other) = other.as_constant().filter(|other| *other != 0) else { return wanted };
    let interval = if other < 0 { product.interval().negate() } else { product.interval() };
    let Some(other) = other.checked_abs() else { return wanted };
    let quotient = Interval::new(interval.lower().divide_up(other), interval.upper().divide_down(other));
    wanted.meet(&quotient.into())
}

/// The possible dividends of a quotient, given a divisor: `quotient * divisor` and what is lost by rounding.
fn dividend(quotient: &Number, divisor: &Number) -> Number {
    let divisor = divisor.without(0).interval();
    let most = divisor.absolute().upper().add_up(Bound::finite(-1));
    let slack = Interval::new(most.negate(), most);
    quotient.interval().multiply(divisor).plus(slack).into()
}

/// The possible dividends of a remainder.
fn remainder_operand(remainder: &Number, dividend: &Number, divisor: &Number) -> Number {
    let mut wanted = Number::TOP;
    if remainder.is_nonzero() {
        wanted = wanted.without(0);
    }
    // The remainder has the sign of the dividend.
    if remainder.interval().lower() > Bound::ZERO {
        wanted = wanted.meet(&Interval::at_least(Bound::finite(1)).into());
    } else if remainder.interval().upper() < Bound::ZERO {
        wanted = wanted.meet(&Interval::at_most(Bound::finite(-1)).into());
    }
    let Some(modulus) = divisor.as_constant().filter(|modulus| *modulus != 0) else { return wanted };
    let congruence = remainder.congruence().plus(Congruence::new(modulus, 0));
    // The dividend is the remainder and a multiple of the divisor.
    wanted.meet(&Number::new(dividend.interval(), congruence))
}

/// The possible first operands of a bitwise conjunction, given the second.
fn masked(value: &Number, mask: &Number) -> Number {
    let mut wanted = Number::TOP;
    if value.is_nonzero() {
        wanted = wanted.without(0);
    }
    match mask.as_constant() {
        // A mask of low bits: the operand is known modulo a power of two.
        Some(mask) if mask > 0 && (mask & (mask + 1)) == 0 => {
            let low: Value = mask + 1;
            wanted.meet(&Number::new(Interval::TOP, value.congruence().plus(Congruence::new(low, 0))))
        }
        _ => wanted,
    }
}

/// The possible first operands of a shift to the right.
fn shifted(value: &Number, distance: &Number) -> Number {
    let Some(distance) = distance.as_constant().filter(|distance| (0..64).contains(distance)) else {
        return Number::TOP;
    };
    let power: Value = 1 << distance;
    let scaled = value.interval().multiply(Interval::constant(power));
    scaled.plus(Interval::between(0, power - 1)).into()
}
