//! Finds inputs that take a missed branch, by local search on shadow values (branch distances: Korel,
//! "Automated software test data generation", TSE 1990).
//!
//! A heuristic: a failure only costs a branch.

use super::shadow::{InputNumber, Node, Shadow};
use crate::random::{Random, SEEDS};
use ir::{BinaryOp, IntType, UnaryOp, Value};
use std::rc::Rc;

/// Evaluations of all conditions for one branch.
const MOST_TRIES: usize = 20_000;
/// Rounds of changes of each input, and beginnings at random.
const ROUNDS: usize = 8;
const RESTARTS: usize = 6;
/// Inputs that are changed at once, and constants that are tried.
const MOST_CHANGED: usize = 24;
const MOST_CONSTANTS: usize = 64;
/// Types with at most this many bits are tried with all their values.
const ENUMERATED_BITS: u8 = 8;
/// The distance of a condition without a numeric one.
const UNKNOWN: u128 = 1 << 32;

/// The problem: values of some inputs such that all conditions hold.
pub(super) struct Problem<'a> {
    /// The values of all inputs as they were.
    pub(super) values: &'a [Value],
    /// Their types.
    pub(super) types: &'a [IntType],
    /// Whether each is not modelled: the others are changed first.
    pub(super) unmodelled: &'a [bool],
    /// What has to hold; the last one is the branch.
    pub(super) conditions: Vec<Rc<Shadow>>,
}

impl Problem<'_> {
    /// New values of some inputs.
    pub(super) fn solve(&self) -> Option<Vec<(InputNumber, Value)>> {
        let inputs: Vec<InputNumber> = self.conditions.last()?.inputs.clone();
        let is_modelled =
            |input: &InputNumber| !self.unmodelled.get(*input as usize).copied().unwrap_or(false);
        let modelled: Vec<InputNumber> = inputs.iter().copied().filter(is_modelled).collect();
        let is_part = !modelled.is_empty() && modelled.len() < inputs.len();
        let first = if is_part { self.change(&modelled) } else { None };
        first.or_else(|| self.change(&inputs)).or_else(|| {
            // What was decided by these inputs before may have to be decided otherwise, with others.
            let mut more = inputs.clone();
            for condition in self.touched(&inputs) {
                more.extend(condition.inputs.iter().filter(|input| !inputs.contains(input)));
                more.sort_unstable();
                more.dedup();
                if more.len() > MOST_CHANGED {
                    break;
                }
            }
            if more.len() > inputs.len() { self.change(&more) } else { None }
        })
    }

    /// The conditions that rest on some inputs. The others hold as they did where nothing else is changed.
    fn touched(&self, inputs: &[InputNumber]) -> Vec<&Shadow> {
        let is_touched =
            |condition: &&Rc<Shadow>| condition.inputs.iter().any(|input| inputs.contains(input));
        self.conditions.iter().filter(is_touched).map(Rc::as_ref).collect()
    }

    /// New values of these inputs.
    fn change(&self, inputs: &[InputNumber]) -> Option<Vec<(InputNumber, Value)>> {
        let conditions = self.touched(inputs);
        let mut constants: Vec<Value> = Vec::new();
        conditions.iter().for_each(|condition| condition.constants(&mut constants));
        constants.sort_unstable();
        constants.dedup();
        constants.truncate(MOST_CONSTANTS);
        let mut search = LocalSearch {
            problem: self,
            inputs,
            conditions,
            constants,
            tries: 0,
            random: Random::new(SEEDS[1]),
        };
        let now: Vec<Value> = inputs.iter().map(|input| self.value(*input)).collect();
        let found = search.run(now)?;
        Some(inputs.iter().copied().zip(found).collect())
    }

    fn value(&self, input: InputNumber) -> Value {
        self.values.get(input as usize).copied().unwrap_or(0)
    }

    fn ty(&self, input: InputNumber) -> IntType {
        self.types.get(input as usize).copied().unwrap_or(IntType::U8)
    }
}

struct LocalSearch<'a> {
    problem: &'a Problem<'a>,
    inputs: &'a [InputNumber],
    conditions: Vec<&'a Shadow>,
    constants: Vec<Value>,
    tries: usize,
    random: Random,
}

impl LocalSearch<'_> {
    fn run(&mut self, now: Vec<Value>) -> Option<Vec<Value>> {
        for restart in 0..RESTARTS {
            let mut values = now.clone();
            if restart > 0 {
                for (place, value) in values.iter_mut().enumerate() {
                    let candidates = self.candidates(place, *value);
                    *value = candidates[self.random.below(candidates.len())];
                }
            }
            let mut cost = self.cost(&values);
            for _ in 0..ROUNDS {
                if cost == 0 {
                    return Some(values);
                }
                let before = cost;
                for (place, now) in values.clone().into_iter().enumerate() {
                    for candidate in self.candidates(place, now) {
                        let old = std::mem::replace(&mut values[place], candidate);
                        let new = self.cost(&values);
                        if new < cost {
                            cost = new;
                        } else {
                            values[place] = old;
                        }
                        if cost == 0 {
                            return Some(values);
                        }
                    }
                }
                if cost >= before || self.tries > MOST_TRIES {
                    break;
                }
            }
            if self.tries > MOST_TRIES {
                break;
            }
        }
        None
    }

    /// Values that an input may have to be, the likely ones first.
    fn candidates(&self, place: usize, now: Value) -> Vec<Value> {
        let ty = self.problem.ty(self.inputs[place]);
        if ty.bits <= ENUMERATED_BITS {
            return (ty.min()..=ty.max()).collect();
        }
        let near = self
            .constants
            .iter()
            .flat_map(|constant| [*constant, constant + 1, constant - 1, now + constant, now - constant]);
        let powers = (0..u32::from(ty.bits)).flat_map(|bit| [now + (1 << bit), now - (1 << bit)]);
        let all = near.chain([0, 1, -1, 2, 3, ty.max(), ty.min()]).chain(powers);
        let mut found: Vec<Value> = Vec::new();
        for value in all.map(|value| ty.wrap(value)) {
            if value != now && !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }

    /// How far all conditions are from holding.
    fn cost(&mut self, values: &[Value]) -> u128 {
        self.tries += 1;
        let of = |input: InputNumber| match self.inputs.binary_search(&input) {
            Ok(place) => values[place],
            Err(_) => self.problem.value(input),
        };
        let of: &dyn Fn(InputNumber) -> Value = &of;
        self.conditions
            .iter()
            .fold(0, |sum: u128, condition| sum.saturating_add(distance(condition, true, of)))
    }
}

/// How far a condition is from being true, or false; 0 where it is.
fn distance(condition: &Shadow, wanted: bool, inputs: &dyn Fn(InputNumber) -> Value) -> u128 {
    let number = |value: Value| value.unsigned_abs();
    match &condition.node {
        Node::Unary(UnaryOp::Not, IntType::BOOL, operand) => distance(operand, !wanted, inputs),
        Node::Cast(IntType::BOOL, operand) => distance(operand, wanted, inputs),
        Node::IfThenElse(choice, one, other) => match choice.value(inputs) {
            Some(0) => distance(other, wanted, inputs),
            Some(_) => distance(one, wanted, inputs),
            None => UNKNOWN,
        },
        Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), IntType::BOOL, left, right) => {
            let (left, right) = (distance(left, wanted, inputs), distance(right, wanted, inputs));
            if (*op == BinaryOp::And) == wanted { left.saturating_add(right) } else { left.min(right) }
        }
        Node::Binary(op, _, left, right) if op.is_comparison() => {
            let (Some(left), Some(right)) = (left.value(inputs), right.value(inputs)) else { return UNKNOWN };
            let equal = |is_wanted: bool| match is_wanted {
                true => number(left - right),
                false => u128::from(left == right),
            };
            let less = |left: Value, right: Value| number((left - right + 1).max(0));
            match (op, wanted) {
                (BinaryOp::Eq, wanted) => equal(wanted),
                (BinaryOp::Ne, wanted) => equal(!wanted),
                (BinaryOp::Lt, true) => less(left, right),
                (BinaryOp::Lt, false) => less(right, left + 1),
                (BinaryOp::Le, true) => less(left, right + 1),
                (BinaryOp::Le, false) => less(right, left),
                (_, _) => UNKNOWN,
            }
        }
        _ => match condition.value(inputs) {
            Some(value) if (value != 0) == wanted => 0,
            Some(value) if !wanted => number(value),
            Some(_) => 1,
            None => UNKNOWN,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{Expr, LocalId};

    /// Inputs are locals of these numbers.
    fn shadow(expr: &Expr) -> Rc<Shadow> {
        Shadow::for_tests(expr)
    }

    fn local(number: u32) -> Expr {
        Expr::Local(LocalId(number))
    }

    fn compare(op: BinaryOp, ty: IntType, left: Expr, right: Value) -> Expr {
        Expr::binary(op, ty, left, Expr::int(right, ty))
    }

    #[test]
    fn a_number_is_spelt_by_its_digits() {
        let i32 = IntType::I32;
        let digit = |number: u32| {
            Expr::binary(BinaryOp::Sub, i32, Expr::cast(i32, local(number)), Expr::int(48, i32))
        };
        let ten = Expr::binary(BinaryOp::Mul, i32, digit(0), Expr::int(10, i32));
        let number = Expr::binary(BinaryOp::Add, i32, ten, digit(1));
        let is_digit = |number: u32| {
            compare(BinaryOp::Lt, i32, digit(number), 10).and(Expr::binary(
                BinaryOp::Le,
                i32,
                Expr::int(0, i32),
                digit(number),
            ))
        };
        let conditions: Vec<Rc<Shadow>> =
            [is_digit(0), is_digit(1), compare(BinaryOp::Eq, i32, number, 42)].iter().map(shadow).collect();
        let types = &[IntType::U8, IntType::U8];
        let problem = Problem { values: &[48, 48], types, unmodelled: &[], conditions };
        assert_eq!(problem.solve(), Some(vec![(0, 52), (1, 50)]));
    }

    #[test]
    fn a_result_that_was_chosen_before_follows() {
        // A byte was compared before, and the sign of the result chosen accordingly.
        let (byte, sign) = (local(0), local(1));
        let less = Expr::binary(BinaryOp::Lt, IntType::U8, byte.clone(), Expr::int(45, IntType::U8));
        let below = compare(BinaryOp::Lt, IntType::I32, sign.clone(), 0);
        let above = Expr::binary(BinaryOp::Lt, IntType::I32, Expr::int(0, IntType::I32), sign);
        let result = Expr::IfThenElse(Box::new((less, below, above)));
        let conditions: Vec<Rc<Shadow>> =
            [result, compare(BinaryOp::Eq, IntType::U8, byte, 115)].iter().map(shadow).collect();
        let types = &[IntType::U8, IntType::I32];
        let problem = Problem { values: &[0, -1], types, unmodelled: &[], conditions };
        let found = problem.solve().expect("there are values");
        assert_eq!(found[0], (0, 115));
        assert!(found[1].1 > 0);
    }

    #[test]
    fn what_is_modelled_changes_first() {
        let ty = IntType::I32;
        let sum = Expr::binary(BinaryOp::Add, ty, local(0), local(1));
        let conditions = vec![shadow(&compare(BinaryOp::Eq, ty, sum, 7))];
        let problem = Problem { values: &[1, 1], types: &[ty, ty], unmodelled: &[true, false], conditions };
        assert_eq!(problem.solve(), Some(vec![(1, 6)]));
    }

    #[test]
    fn what_was_decided_before_stays() {
        let ty = IntType::I32;
        let conditions: Vec<Rc<Shadow>> =
            [compare(BinaryOp::Lt, ty, local(0), 5), compare(BinaryOp::Eq, ty, local(0), 7)]
                .iter()
                .map(shadow)
                .collect();
        let problem = Problem { values: &[1], types: &[ty], unmodelled: &[], conditions };
        assert_eq!(problem.solve(), None);
    }
}
