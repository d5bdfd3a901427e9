//! Expressions as terms, in integer arithmetic.
//!
//! A value of a type is an integer in the type's range; a truth value is 0 or 1. Results of signed operations that leave the range have no meaning: that they do not
//! is part of the guard. Unsigned ones wrap. Exact, except for operations on bits with operands that are not constants, shifts by a distance
//! that is not a constant: these may give anything within bounds that always hold.

use crate::follow::Follower;
use ir::{BinaryOp, Expr, IntType, UnaryOp, Value};
use smt::{Operation, Term};

/// 2 to the power of a width.
fn power(bits: u32) -> Term {
    Term::int(1i128 << bits)
}

fn truth(condition: &Term) -> Term {
    condition.if_then_else(&Term::int(1), &Term::int(0))
}

fn literal(term: &Term) -> Option<i128> {
    match term.operation() {
        Operation::Int(value) => Some(*value),
        _ => None,
    }
}

/// The quotient rounded towards zero, for a divisor that is not zero.
fn quotient(a: &Term, b: &Term) -> Term {
    let zero = Term::int(0);
    let divide = |a: &Term, b: &Term| Term::binary(Operation::Divide, a, b);
    // `div` leaves a remainder of at least 0, so it rounds towards zero for a dividend of at least 0.
    zero.at_most(a).if_then_else(&divide(a, b), &divide(&a.negated(), b).negated())
}

impl Follower<'_, '_, '_> {
    fn type_of(&self, expr: &Expr) -> IntType {
        self.system.program.type_of(self.template, expr)
    }

    /// The value of an expression here. What its meaning needs is added to the guard.
    pub(crate) fn value(&mut self, expr: &Expr) -> Term {
        match expr {
            Expr::Const(value, ty) => Term::int(ty.wrap(*value)),
            Expr::Local(local) => self.local(*local),
            Expr::Load(place) => self.read(place),
            Expr::Address(object, offset) => self.cells.address(*object, *offset),
            Expr::Procedure(template) => self.cells.procedure(*template),
            Expr::Myself => self.myself(),
            Expr::Unary(UnaryOp::Not, IntType::BOOL, _) => truth(&self.condition(expr)),
            Expr::Unary(op, ty, operand) => {
                let operand = self.value(operand);
                self.unary(*op, *ty, &operand)
            }
            Expr::Binary(op, ty, pair) => {
                if op.is_comparison() || *ty == IntType::BOOL {
                    return truth(&self.condition(expr));
                }
                let (left, right) = (self.value(&pair.0), self.value(&pair.1));
                self.binary(*op, *ty, &left, &right)
            }
            Expr::Cast(ty, operand) => {
                let from = self.type_of(operand);
                let value = self.value(operand);
                self.cast(&value, from, *ty)
            }
            Expr::IfThenElse(three) => {
                let condition = self.condition(&three.0);
                let mut ways = [Term::int(0), Term::int(0)];
                for (way, (taken, branch)) in
                    ways.iter_mut().zip([(condition.clone(), &three.1), (condition.not(), &three.2)])
                {
                    let before = std::mem::take(&mut self.guard);
                    *way = self.value(branch);
                    let needed = std::mem::replace(&mut self.guard, before);
                    self.guard.push(taken.implies(&Term::all(needed)));
                }
                condition.if_then_else(&ways[0], &ways[1])
            }
            Expr::Overflows(..) | Expr::Valid(..) => truth(&self.condition(expr)),
            Expr::Old(operand) => self.before(operand),
        }
    }

    /// The truth of a Boolean expression here. What its meaning needs is added to the guard.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Term {
        match expr {
            Expr::Const(value, _) => Term::bool(*value != 0),
            Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => self.condition(operand).not(),
            Expr::Binary(op, ty, pair) if op.is_comparison() => {
                if *ty == IntType::BOOL && matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                    let (left, right) = (self.condition(&pair.0), self.condition(&pair.1));
                    let equal = left.equals(&right);
                    return if *op == BinaryOp::Eq { equal } else { equal.not() };
                }
                let (left, right) = (self.value(&pair.0), self.value(&pair.1));
                match op {
                    BinaryOp::Eq => left.equals(&right),
                    BinaryOp::Ne => left.differs(&right),
                    BinaryOp::Lt => left.less_than(&right),
                    _ => left.at_most(&right),
                }
            }
            Expr::Binary(op, IntType::BOOL, pair)
                if matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) =>
            {
                let (left, right) = (self.condition(&pair.0), self.condition(&pair.1));
                match op {
                    BinaryOp::And => left.and(&right),
                    BinaryOp::Or => left.or(&right),
                    _ => left.differs(&right),
                }
            }
            Expr::Cast(IntType::BOOL, operand) => match self.type_of(operand) {
                IntType::BOOL => self.condition(operand),
                _ => self.value(operand).differs(&Term::int(0)),
            },
            Expr::Overflows(op, ty, pair) => {
                let (left, right) = (self.value(&pair.0), self.value(&pair.1));
                self.overflows(*op, *ty, &left, &right)
            }
            Expr::Valid(pointer, bytes) => self.valid(pointer, *bytes),
            Expr::Binary(_, IntType::BOOL, pair) => {
                // Arithmetic on truth values wraps modulo 2.
                let (left, right) = (self.value(&pair.0), self.value(&pair.1));
                let _ = (left, right);
                self.anything(IntType::BOOL).differs(&Term::int(0))
            }
            Expr::Old(operand) => self.before(operand).differs(&Term::int(0)),
            Expr::Local(_)
            | Expr::Load(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_) => self.value(expr).differs(&Term::int(0)),
        }
    }

    fn overflows(&mut self, op: BinaryOp, ty: IntType, left: &Term, right: &Term) -> Term {
        let exact = match op {
            BinaryOp::Add => left.plus(right),
            BinaryOp::Sub => left.minus(right),
            BinaryOp::Mul => left.times(right),
            BinaryOp::Div | BinaryOp::Rem => {
                return left.equals(&Term::int(ty.min())).and(&right.equals(&Term::int(-1)));
            }
            _ => return self.anything(IntType::BOOL).differs(&Term::int(0)),
        };
        self.system.in_range(&exact, ty).not()
    }

    fn unary(&mut self, op: UnaryOp, ty: IntType, operand: &Term) -> Term {
        match (op, ty.signed) {
            (UnaryOp::Neg, true) => self.defined(operand.negated(), ty),
            (UnaryOp::Neg, false) => {
                let zero = Term::int(0);
                operand.equals(&zero).if_then_else(&zero, &power(ty.bits.into()).minus(operand))
            }
            (UnaryOp::Not, true) => operand.negated().minus(&Term::int(1)),
            (UnaryOp::Not, false) => Term::int(ty.max()).minus(operand),
        }
    }

    /// A result that must be in range.
    fn defined(&mut self, result: Term, ty: IntType) -> Term {
        self.guard.push(self.system.in_range(&result, ty));
        result
    }

    /// A result modulo 2^bits, given that it is at most one range away.
    fn wrap_once(&self, result: &Term, ty: IntType) -> Term {
        let (low, high) = (Term::int(ty.min()), Term::int(ty.max()));
        let all = power(ty.bits.into());
        let below = result.less_than(&low).if_then_else(&result.plus(&all), result);
        high.less_than(result).if_then_else(&result.minus(&all), &below)
    }

    /// Any integer modulo 2^bits.
    fn wrap(&self, result: &Term, ty: IntType) -> Term {
        let rest = Term::binary(Operation::Modulo, result, &power(ty.bits.into()));
        if ty.signed { self.wrap_once(&rest, ty) } else { rest }
    }

    fn binary(&mut self, op: BinaryOp, ty: IntType, left: &Term, right: &Term) -> Term {
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let result = if op == BinaryOp::Add { left.plus(right) } else { left.minus(right) };
                if ty.signed { self.defined(result, ty) } else { self.wrap_once(&result, ty) }
            }
            BinaryOp::Mul => {
                let result = left.times(right);
                if ty.signed { self.defined(result, ty) } else { self.wrap(&result, ty) }
            }
            BinaryOp::Div | BinaryOp::Rem => {
                self.guard.push(right.differs(&Term::int(0)));
                let quotient = quotient(left, right);
                let quotient = if ty.signed { self.defined(quotient, ty) } else { quotient };
                if op == BinaryOp::Div { quotient } else { left.minus(&quotient.times(right)) }
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => self.bits(op, ty, left, right),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, ty, left, right),
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => {
                // Comparisons are conditions.
                self.anything(IntType::BOOL)
            }
        }
    }

    fn shift(&mut self, op: BinaryOp, ty: IntType, left: &Term, right: &Term) -> Term {
        let inside = Term::int(0).at_most(right).and(&right.less_than(&Term::int(ty.bits.into())));
        self.guard.push(inside);
        match literal(right).and_then(|distance| u32::try_from(distance).ok()) {
            Some(distance) if distance < u32::from(ty.bits) => match op {
                BinaryOp::Shl => self.wrap(&left.times(&power(distance)), ty),
                _ => Term::binary(Operation::Divide, left, &power(distance)),
            },
            _ => {
                let result = self.anything(ty);
                if op == BinaryOp::Shr && !ty.signed {
                    self.guard.push(result.at_most(left));
                }
                result
            }
        }
    }

    /// Operations on bits: exact for constants, and for masks of low bits.
    fn bits(&mut self, op: BinaryOp, ty: IntType, left: &Term, right: &Term) -> Term {
        if let (Some(a), Some(b)) = (literal(left), literal(right)) {
            let result: Value = match op {
                BinaryOp::And => a & b,
                BinaryOp::Or => a | b,
                _ => a ^ b,
            };
            return Term::int(ty.wrap(result));
        }
        for (mask, other) in [(left, right), (right, left)] {
            if op == BinaryOp::And
                && let Some(mask) = literal(mask)
                && mask >= 0
                && (mask & (mask + 1)) == 0
            {
                return Term::binary(Operation::Modulo, other, &Term::int(mask + 1));
            }
            if op != BinaryOp::And && literal(mask) == Some(0) {
                return other.clone();
            }
        }
        let result = self.anything(ty);
        let zero = Term::int(0);
        let both = zero.at_most(left).and(&zero.at_most(right));
        let bounds = match op {
            BinaryOp::And => Term::all([zero.at_most(&result), result.at_most(left), result.at_most(right)]),
            BinaryOp::Or => Term::all([
                left.at_most(&result),
                right.at_most(&result),
                result.at_most(&left.plus(right)),
            ]),
            _ => Term::all([zero.at_most(&result), result.at_most(&left.plus(right))]),
        };
        self.guard.push(both.implies(&bounds));
        result
    }

    /// A value of one type as a value of another.
    pub(crate) fn cast(&self, value: &Term, from: IntType, to: IntType) -> Term {
        if to.contains(from.min()) && to.contains(from.max()) {
            return value.clone();
        }
        if to == IntType::BOOL {
            return truth(&value.differs(&Term::int(0)));
        }
        if from.bits <= to.bits { self.wrap_once(value, to) } else { self.wrap(value, to) }
    }

    /// A number that is not negative in a wider or narrower type.
    pub(crate) fn resize(&self, value: &Term, _: IntType) -> Term {
        value.clone()
    }
}
