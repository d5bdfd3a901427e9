//! Orders of a thread's locals: facts `a ≤ b + constant` about integers, where `a` and `b` are locals or 0.
//!
//! They are about integer values, without wrap-around: a sum counts only where it is known not to wrap.

use ir::{BinaryOp, Expr, IntType, LocalId, Program, Template, UnaryOp, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A local plus a constant, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The local.
    pub of: Option<LocalId>,
    /// The constant.
    pub plus: Value,
}

/// What is known of the order of locals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Order>", into = "Vec<Order>")]
pub struct Orders {
    /// The first is at most the second plus this.
    known: BTreeMap<(Option<LocalId>, Option<LocalId>), Value>,
}

/// An order in a file: the first is at most the second plus this.
type Order = (Option<LocalId>, Option<LocalId>, Value);

impl From<Vec<Order>> for Orders {
    fn from(all: Vec<Order>) -> Self {
        let mut orders = Self::default();
        all.into_iter().for_each(|(less, more, by)| orders.add(less, more, by));
        orders
    }
}

impl From<Orders> for Vec<Order> {
    fn from(orders: Orders) -> Self {
        orders.known.into_iter().map(|((less, more), by)| (less, more, by)).collect()
    }
}

/// The greatest absolute value of a bound, so that sums of a few of them stay exact.
const LARGEST: Value = 1 << 70;
/// The most orders that are kept.
const MOST: usize = 64;

impl Orders {
    /// Remembers that `less` is at most `more` plus a constant.
    pub fn add(&mut self, less: Option<LocalId>, more: Option<LocalId>, by: Value) {
        if less == more || by.abs() > LARGEST {
            return;
        }
        let is_full = self.known.len() >= MOST;
        match self.known.get_mut(&(less, more)) {
            Some(known) => *known = (*known).min(by),
            None if is_full => {}
            None => {
                self.known.insert((less, more), by);
            }
        }
    }
    /// All facts.
    pub fn iter(&self) -> impl Iterator<Item = (Option<LocalId>, Option<LocalId>, Value)> + '_ {
        self.known.iter().map(|((less, more), by)| (*less, *more, *by))
    }
    /// Keeps the facts that satisfy a condition.
    pub fn retain(&mut self, mut keep: impl FnMut(Option<LocalId>, Option<LocalId>) -> bool) {
        self.known.retain(|(less, more), _| keep(*less, *more));
    }
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The least known constant for which `less` is at most `more` plus it.
    pub fn distance(&self, less: Option<LocalId>, more: Option<LocalId>) -> Option<Value> {
        if less == more {
            return Some(0);
        }
        if let Some(by) = self.known.get(&(less, more))
            && self.known.len() == 1
        {
            return Some(*by);
        }
        // Shortest paths; as many rounds as a path can have distinct nodes.
        let mut reached: BTreeMap<Option<LocalId>, Value> = [(less, 0)].into();
        for _ in 0..8 {
            let mut better = Vec::new();
            for ((from, to), by) in &self.known {
                let Some(here) = reached.get(from) else { continue };
                let there = here + by;
                if there.abs() <= LARGEST && reached.get(to).is_none_or(|known| there < *known) {
                    better.push((*to, there));
                }
            }
            if better.is_empty() {
                break;
            }
            for (to, there) in better {
                let known = reached.entry(to).or_insert(there);
                *known = (*known).min(there);
            }
        }
        reached.get(&more).copied()
    }
    /// Whether a bound is known to be at most another.
    pub fn at_most(&self, less: Bound, more: Bound) -> bool {
        self.distance(less.of, more.of).is_some_and(|by| less.plus + by <= more.plus)
    }
    /// All bounds that are known to equal the given one, including itself.
    pub fn equal_to(&self, bound: Bound) -> Vec<Bound> {
        let mut found = vec![bound];
        let others: BTreeSet<_> = self.iter().flat_map(|(less, more, _)| [less, more]).collect();
        for of in others.into_iter().filter(|of| *of != bound.of) {
            if let (Some(up), Some(down)) = (self.distance(bound.of, of), self.distance(of, bound.of))
                && up == -down
            {
                found.push(Bound { of, plus: bound.plus + up });
            }
        }
        found
    }
    /// Whether all of the other facts follow.
    pub fn implies(&self, other: &Self) -> bool {
        other.iter().all(|(less, more, by)| self.distance(less, more).is_some_and(|known| known <= by))
    }
    /// The facts that hold in both.
    pub fn meet(&self, other: &Self) -> Self {
        let mut both = Self::default();
        for (less, more) in self.known.keys().chain(other.known.keys()) {
            if let (Some(mine), Some(theirs)) = (self.distance(*less, *more), other.distance(*less, *more)) {
                both.known.insert((*less, *more), mine.max(theirs));
            }
        }
        both
    }

    /// A local got an unknown value.
    pub fn forget(&mut self, local: LocalId) {
        let local = Some(local);
        let below: Vec<_> = self.iter().filter(|(_, more, _)| *more == local).collect();
        let above: Vec<_> = self.iter().filter(|(less, _, _)| *less == local).collect();
        self.known.retain(|(less, more), _| *less != local && *more != local);
        for (less, _, first) in &below {
            for (_, more, second) in &above {
                self.add(*less, *more, first + second);
            }
        }
    }
    /// A constant was added to a local.
    pub fn shift(&mut self, local: LocalId, by: Value) {
        let local = Some(local);
        for ((less, more), known) in &mut self.known {
            if *less == local {
                *known += by;
            } else if *more == local {
                *known -= by;
            }
        }
        self.known.retain(|_, known| known.abs() <= LARGEST);
    }
    /// A local got the value of a bound over another local.
    pub fn set(&mut self, local: LocalId, value: Bound) {
        self.forget(local);
        if value.of != Some(local) {
            self.add(Some(local), value.of, value.plus);
            self.add(value.of, Some(local), -value.plus);
        }
    }

    /// The least and the greatest value that a local can have.
    fn range(&self, code: &Template, local: LocalId) -> (Value, Value) {
        let of = |local: Option<LocalId>| match local {
            Some(local) => (code.locals[local].ty.min(), code.locals[local].ty.max()),
            None => (0, 0),
        };
        let (mut least, mut greatest) = of(Some(local));
        for (less, more, by) in self.iter() {
            if less == Some(local) {
                greatest = greatest.min(of(more).1 + by);
            } else if more == Some(local) {
                least = least.max(of(less).0 - by);
            }
        }
        (least, greatest)
    }

    /// The bound that an expression is equal to, as an integer.
    pub fn bound(&self, program: &Program, code: &Template, expr: &Expr) -> Option<Bound> {
        let within = |bound: Bound, ty: IntType| {
            let (least, greatest) = bound.of.map_or((0, 0), |local| self.range(code, local));
            (ty.contains(least + bound.plus) && ty.contains(greatest + bound.plus)).then_some(bound)
        };
        match expr {
            Expr::Const(value, _) => Some(Bound { of: None, plus: *value }),
            Expr::Local(local) => Some(Bound { of: Some(*local), plus: 0 }),
            Expr::Cast(ty, operand) if *ty != IntType::BOOL => {
                let inner = self.bound(program, code, operand)?;
                // A value within the range of the type stays as it is.
                if program.type_in(code, operand) == *ty { Some(inner) } else { within(inner, *ty) }
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) => {
                let (left, right) =
                    (self.bound(program, code, &pair.0)?, self.bound(program, code, &pair.1)?);
                let sum = match (op, left.of, right.of) {
                    (BinaryOp::Add, of, None) => Bound { of, plus: left.plus + right.plus },
                    (BinaryOp::Add, None, of) => Bound { of, plus: left.plus + right.plus },
                    (BinaryOp::Sub, of, None) => Bound { of, plus: left.plus - right.plus },
                    _ => return None,
                };
                // A signed sum that leaves its type faults; an unsigned one wraps.
                if sum.plus.abs() > LARGEST {
                    None
                } else if ty.signed {
                    Some(sum)
                } else {
                    within(sum, *ty)
                }
            }
            _ => None,
        }
    }

    /// Learns that a condition holds, or does not.
    pub fn assume(&mut self, program: &Program, code: &Template, condition: &Expr, holds: bool) {
        match condition {
            Expr::Unary(UnaryOp::Not, IntType::BOOL, inner) => self.assume(program, code, inner, !holds),
            // A truth value that was converted to a number and back.
            Expr::Cast(IntType::BOOL, inner) => match &**inner {
                Expr::Cast(_, inner) if program.type_in(code, inner) == IntType::BOOL => {
                    self.assume(program, code, inner, holds);
                }
                _ => {}
            },
            Expr::Binary(BinaryOp::And, IntType::BOOL, pair) if holds => {
                self.assume(program, code, &pair.0, true);
                self.assume(program, code, &pair.1, true);
            }
            Expr::Binary(BinaryOp::Or, IntType::BOOL, pair) if !holds => {
                self.assume(program, code, &pair.0, false);
                self.assume(program, code, &pair.1, false);
            }
            Expr::Binary(op, _, pair) if op.is_comparison() => {
                let bounds = (self.bound(program, code, &pair.0), self.bound(program, code, &pair.1));
                if let (Some(left), Some(right)) = bounds {
                    self.compare(*op, left, right, holds);
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, op: BinaryOp, left: Bound, right: Bound, holds: bool) {
        let mut less = |less: Bound, more: Bound, by: Value| {
            self.add(less.of, more.of, more.plus - less.plus - by);
        };
        match (op, holds) {
            (BinaryOp::Lt, true) => less(left, right, 1),
            (BinaryOp::Lt, false) => less(right, left, 0),
            (BinaryOp::Le, true) => less(left, right, 0),
            (BinaryOp::Le, false) => less(right, left, 1),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                less(left, right, 0);
                less(right, left, 0);
            }
            // Different, and in a known order.
            (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => {
                if self.at_most(left, right) {
                    self.add(left.of, right.of, right.plus - left.plus - 1);
                } else if self.at_most(right, left) {
                    self.add(right.of, left.of, left.plus - right.plus - 1);
                }
            }
            _ => {}
        }
    }
}
