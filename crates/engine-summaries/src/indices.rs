//! Numbers that say which lock is meant: `lock(3)`, where the procedure takes `&locks[n]`.
//!
//! Only locals are looked at that the address of a lock is computed from by a multiplication, and those that
//! such a local gets its value from. Under-approximates what is known.

use crate::model::Model;
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::{BinaryOp, EdgeId, Expr, IdVec, IntType, Lhs, LocalId, Op, Program, Rhs, Target, TemplateId, Value};
use verdict::{LockBase, ThreadFacts};

/// Rows of locks that are longer are not looked at one by one.
const MOST_LOCKS: u64 = 64;

/// The number that an expression is, by what is known of locals.
pub fn number(numbers: &[(LocalId, i64)], expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Const(value, ty) => Some(*value).filter(|value| ty.contains(*value)),
        Expr::Local(local) => {
            let at = numbers.binary_search_by_key(local, |(known, _)| *known).ok()?;
            Some(Value::from(numbers[at].1))
        }
        Expr::Cast(IntType::BOOL, _) => None,
        Expr::Cast(ty, operand) => Some(ty.wrap(number(numbers, operand)?)),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), ty, pair) => {
            let (left, right) = (number(numbers, &pair.0)?, number(numbers, &pair.1)?);
            let exact = match op {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Sub => left.checked_sub(right),
                _ => left.checked_mul(right),
            };
            if ty.signed { exact.filter(|exact| ty.contains(*exact)) } else { Some(ty.wrap(exact?)) }
        }
        Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => None,
        Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) => None,
        Expr::Old(_) => None,
    }
}

/// The number that a local gets, if it is one that is looked at.
pub fn assigned(
    model: &Model<'_>,
    (from, numbers): (TemplateId, &[(LocalId, i64)]),
    value: &Expr,
    (to, local): (TemplateId, LocalId),
) -> Option<i64> {
    if !model.indices[to].contains(local.index()) {
        return None;
    }
    let ty = model.program.templates[to].locals[local].ty;
    let value = number(numbers, value).filter(|_| model.program.type_of(from, value) == ty)?;
    i64::try_from(value).ok().filter(|_| ty.contains(value) && ty != IntType::BOOL)
}

/// Takes note of the number that a local is.
pub fn set(facts: &mut ThreadFacts, local: LocalId, value: i64) {
    match facts.numbers.binary_search_by_key(&local, |(known, _)| *known) {
        Ok(at) => facts.numbers[at].1 = value,
        Err(at) => facts.numbers.insert(at, (local, value)),
    }
}

/// The locals that an expression is computed from, but for what is read from memory.
fn locals(expr: &Expr) -> Vec<LocalId> {
    match expr {
        Expr::Local(local) => vec![*local],
        Expr::Load(_) => Vec::new(),
        _ => expr.operands().into_iter().flat_map(locals).collect(),
    }
}

/// Locals that matter for which lock is meant.
struct Used {
    /// Those that addresses of locks are computed from in any way.
    pointers: BitSet,
    /// Those that are multiplied for it, or that such get their values from.
    indices: BitSet,
    changed: bool,
}

impl Used {
    /// The address of a lock, or what becomes a part of one, is computed by an expression.
    fn by_address(&mut self, address: &Expr) {
        for local in locals(address) {
            self.changed |= self.pointers.insert(local.index());
        }
        address.walk(&mut |inner| {
            if let Expr::Binary(BinaryOp::Mul, ..) = inner {
                self.by_number(inner);
            }
        });
    }
    /// A number that says which lock is meant is computed by an expression.
    fn by_number(&mut self, number: &Expr) {
        for local in locals(number) {
            self.changed |= self.indices.insert(local.index());
        }
    }
    /// A value is used as something else is.
    fn like(&mut self, value: &Expr, (is_pointer, is_index): (bool, bool)) {
        if is_pointer {
            self.by_address(value);
        }
        if is_index {
            self.by_number(value);
        }
    }
    fn of(&self, local: usize) -> (bool, bool) {
        (self.pointers.contains(local), self.indices.contains(local))
    }
}

/// The locals whose numbers say which lock is taken or given back.
pub fn index_locals(
    program: &Program,
    callees: &IdVec<TemplateId, IdVec<EdgeId, Vec<TemplateId>>>,
) -> IdVec<TemplateId, BitSet> {
    let of = |code: &ir::Template| {
        let (pointers, indices) = (BitSet::new(code.locals.len()), BitSet::new(code.locals.len()));
        let mut used = Used { pointers, indices, changed: false };
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Lock(_, address) | Op::Unlock(_, address) = op {
                used.by_address(address);
            }
        }
        used
    };
    let mut found: IdVec<TemplateId, Used> = program.templates.iter().map(of).collect();
    while found.iter_mut().fold(false, |changed, used| changed | std::mem::take(&mut used.changed)) {
        for (id, code) in program.templates.enumerate() {
            for (number, edge) in code.edges.enumerate() {
                for op in &edge.ops {
                    match op {
                        Op::Assign(assignment) => {
                            for (lhs, rhs) in &assignment.pairs {
                                if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs) {
                                    let how = found[id].of(local.index());
                                    found[id].like(value, how);
                                }
                            }
                        }
                        Op::Call(_, arguments, _) => {
                            for callee in &callees[id][number] {
                                let parameters = program.templates[*callee].parameters;
                                for (index, argument) in arguments.iter().enumerate().take(parameters) {
                                    let how = found[*callee].of(index);
                                    found[id].like(argument, how);
                                }
                            }
                        }
                        Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) => {}
                        Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
                        Op::Broadcast(_) => {}
                    }
                }
            }
        }
    }
    found.iter_mut().map(|used| std::mem::replace(&mut used.indices, BitSet::new(0))).collect()
}

/// The single locks of a row that a step names by a number.
pub fn elements(indices: &BitSet, address: &Expr, target: Target) -> Vec<Target> {
    let used = locals(address);
    let is_row = (2..=MOST_LOCKS).contains(&target.count) && target.stride > 0;
    if !is_row || !used.iter().any(|local| indices.contains(local.index())) {
        return Vec::new();
    }
    let at = |index: u64| Target {
        object: target.object,
        first: target.first + index * target.stride,
        stride: 0,
        count: 1,
    };
    (0..target.count).map(at).collect()
}

impl Model<'_> {
    /// The only lock target that a step gives back, where a number says which one that is.
    pub fn given_back(
        &self,
        template: TemplateId,
        facts: &ThreadFacts,
        (index, address): (usize, &Expr),
    ) -> Option<u32> {
        if facts.numbers.is_empty() || index > 0 {
            return None;
        }
        let (LockBase::Object(object), offset) = self.linear(template, address, &facts.numbers)? else {
            return None;
        };
        let target = Target { object, first: offset, stride: 0, count: 1 };
        let at = self.lock_targets.binary_search(&target).ok()?;
        u32::try_from(at).ok()
    }
}
