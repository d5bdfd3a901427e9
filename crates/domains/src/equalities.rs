//! Equalities between locals and expressions, through the operations of an edge.
//!
//! An equality is gained by an assignment of a value to a local, by a store of a local (or of a sum of one
//! and a constant, which can be turned around), and by an assumption of equality. It is lost when the local,
//! a local in the expression, or a cell that the expression loads may change. Loads are exact places only.
//! Then both sides are equal in every state that the operation leads to; other threads are not considered
//! here.

use crate::evaluate::Resolve;
use crate::memory::TouchedCells;
use crate::transfer::Scope;
use ir::{Assignment, BinaryOp, Expr, IntType, Lhs, LocalId, Op, Rhs};

/// Locals that are known to be equal to expressions.
#[derive(Clone, Debug, Default)]
pub struct Known {
    equal: Vec<(LocalId, Expr)>,
}

/// The largest expression that is put in the place of locals.
const MOST_NODES: usize = 60;
/// How often locals are replaced in what locals were replaced by.
const MOST_ROUNDS: usize = 8;

fn reads(expr: &Expr, local: LocalId) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= *inner == Expr::Local(local));
    found
}

fn loads(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| found |= matches!(inner, Expr::Load(_)));
    found
}

fn size(expr: &Expr) -> usize {
    let mut size = 0;
    expr.walk(&mut |_| size += 1);
    size
}

impl Known {
    /// These equalities, which hold where the step starts.
    pub fn new(equal: &[(LocalId, Expr)]) -> Self {
        Self { equal: equal.to_vec() }
    }
    /// All of them.
    pub(crate) fn into_list(self) -> Vec<(LocalId, Expr)> {
        self.equal
    }
    /// The expression with locals replaced; `None` when there is nothing to replace.
    pub(crate) fn expanded(&self, expr: &Expr) -> Option<Expr> {
        self.expanded_by(expr, MOST_ROUNDS, false)
    }
    /// The same with locals replaced as often as that goes, only once, and only by what is in memory: the
    /// first is about what was there first, the others about what is at hand.
    pub(crate) fn expansions(&self, expr: &Expr) -> Vec<Expr> {
        let mut found: Vec<Expr> = self.expanded(expr).into_iter().collect();
        for (rounds, only_loads) in [(1, false), (1, true)] {
            let more = self.expanded_by(expr, rounds, only_loads);
            found.extend(more.filter(|more| !found.contains(more)));
        }
        found
    }
    fn expanded_by(&self, expr: &Expr, rounds: usize, only_loads: bool) -> Option<Expr> {
        let mut result = expr.clone();
        let mut changed = false;
        for _ in 0..rounds {
            let mut again = false;
            self.replace(&mut result, &mut again, only_loads);
            if !again {
                break;
            }
            changed = true;
            if size(&result) > MOST_NODES {
                return None;
            }
        }
        changed.then_some(result)
    }
    fn replace(&self, expr: &mut Expr, changed: &mut bool, only_loads: bool) {
        match expr {
            Expr::Local(local) => {
                if let Some(value) = self.value(*local).filter(|value| !only_loads || loads(value)) {
                    *expr = value.clone();
                    *changed = true;
                }
            }
            // More than the value of the pointer counts: what it is computed from.
            Expr::Valid(..) | Expr::Old(_) => {}
            other => {
                let operands = other.operands_mut().into_iter();
                operands.for_each(|operand| self.replace(operand, changed, only_loads));
            }
        }
    }
    /// All that an expression is known to be equal to, itself among it: also as it is with locals replaced.
    pub(crate) fn all_of(&self, expr: &Expr) -> Vec<Expr> {
        let mut found = vec![expr.clone()];
        if let Expr::Local(local) = expr {
            found.extend(
                self.equal.iter().filter(|(known, _)| known == local).map(|(_, value)| value.clone()),
            );
        }
        found.extend(self.expanded(expr));
        found
    }
    /// What a local is equal to: rather something in memory than another local.
    fn value(&self, local: LocalId) -> Option<&Expr> {
        let mut values = self.equal.iter().filter(|(known, _)| *known == local).map(|(_, value)| value);
        let first = values.clone().next()?;
        Some(values.find(|value| loads(value)).unwrap_or(first))
    }
    fn forget(&mut self, local: LocalId) {
        self.equal.retain(|(known, value)| *known != local && !reads(value, local));
    }
    /// Follows an operation.
    pub(crate) fn follow(&mut self, scope: &Scope<'_, '_>, op: &Op) {
        let mut written = Vec::new();
        scope.written(op, &mut written);
        // What locals get, also with locals in it replaced; an assignment of several reads the values before
        // it.
        let mut copied: Vec<(LocalId, Expr)> = Vec::new();
        if let Op::Assign(Assignment { pairs, .. }) = op
            && pairs.iter().all(|(lhs, _)| matches!(lhs, Lhs::Local(_)))
        {
            for (lhs, rhs) in pairs {
                if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs) {
                    copied.extend(
                        [Some(value.clone()), self.expanded(value)]
                            .into_iter()
                            .flatten()
                            .map(|it| (*local, it)),
                    );
                }
            }
            copied.retain(|(_, value)| {
                !pairs.iter().any(|(lhs, _)| matches!(lhs, Lhs::Local(local) if reads(value, *local)))
            });
        }
        // What frees an object, or ends in a procedure, may do more than is listed.
        let unclear = matches!(op, Op::Free(_) | Op::Call(..) | Op::Broadcast(_));
        if unclear || !written.is_empty() {
            self.equal.retain(|(_, value)| {
                let loaded = scope.loads(value);
                (loaded.is_empty() || !unclear) && !loaded.iter().any(|cell| written.contains(cell))
            });
        }
        for lhs in op.targets() {
            if let Lhs::Local(local) = lhs {
                self.forget(*local);
            }
        }
        let mut learn = |local: LocalId, value: &Expr| {
            let mut whole = true;
            value.walk(&mut |inner| {
                if let Expr::Load(place) = inner {
                    let found = scope.memory.place(scope.template, &place.address, place.ty);
                    whole &= matches!(*found, TouchedCells::Exactly(_));
                }
                whole &= !matches!(inner, Expr::Old(_) | Expr::Valid(..));
            });
            if whole && !reads(value, local) && size(value) <= MOST_NODES {
                self.equal.push((local, value.clone()));
            }
        };
        copied.iter().for_each(|(local, value)| learn(*local, value));
        match op {
            Op::Assign(Assignment { pairs, .. }) => {
                if let [(Lhs::Memory(place), Rhs::Value(value))] = pairs.as_slice()
                    && let Some((local, value)) = inverse(scope, value, Expr::load(place.clone()))
                {
                    learn(local, &value);
                }
            }
            Op::Assume(Expr::Binary(BinaryOp::Eq, _, pair)) => match &**pair {
                (Expr::Local(local), value) | (value, Expr::Local(local)) => learn(*local, value),
                _ => {}
            },
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) => {}
            Op::Allocate { .. }
            | Op::Free(_)
            | Op::Fill(..)
            | Op::Copy(..)
            | Op::Call(..)
            | Op::Broadcast(_) => {}
        }
    }
}

/// The local that an expression of one is computed from, as an expression of the result: `result = local + c`
/// says `local = result - c`, also where it wraps.
fn inverse(scope: &Scope<'_, '_>, expr: &Expr, result: Expr) -> Option<(LocalId, Expr)> {
    match expr {
        Expr::Local(local) => Some((*local, result)),
        Expr::Cast(ty, operand) => {
            let from = scope.type_of(operand);
            let reversible = ty.bits == from.bits && *ty != IntType::BOOL;
            reversible.then(|| inverse(scope, operand, Expr::cast(from, result)))?
        }
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) => {
            let Expr::Const(..) = pair.1 else { return None };
            let back = if *op == BinaryOp::Add { BinaryOp::Sub } else { BinaryOp::Add };
            inverse(scope, &pair.0, Expr::binary(back, *ty, result, pair.1.clone()))
        }
        _ => None,
    }
}
