//! Atomic operations: `_Atomic` objects, `__atomic_*`, `__sync_*`. Each is one indivisible step.
//!
//! All are sequentially consistent, whatever order they ask for. A weak compare-and-exchange never fails by
//! itself, as on the machines whose data models are supported.

use crate::fold;
use crate::function::Function;
use crate::places::Lvalue;
use crate::types::Class;
use ir::{Assignment, BinaryOp, Expr, IntType, Lhs, Op, Rhs, UnaryOp};
use rucc_ast::BinaryOp as Operator;
use rucc_sema::{AtomicOp, ExprId, ExprKind, Rmw};
use rucc_types::TypeId;

impl Function<'_, '_> {
    /// An operator whose signed results wrap, as those of atomic operations do.
    pub fn wrapping_operate(
        &mut self,
        op: Operator,
        left: Expr,
        left_type: TypeId,
        right: Expr,
        right_type: TypeId,
    ) -> Expr {
        let wraps = matches!(op, Operator::Add | Operator::Sub | Operator::Mul);
        match self.unit.class(left_type) {
            Class::Integer(ty) if ty.signed && wraps => {
                let op = match op {
                    Operator::Add => BinaryOp::Add,
                    Operator::Sub => BinaryOp::Sub,
                    _ => BinaryOp::Mul,
                };
                self.wrapping(op, ty, left, right)
            }
            _ => self.operate(op, left, left_type, right, right_type),
        }
    }
    fn wrapping(&self, op: BinaryOp, ty: IntType, left: Expr, right: Expr) -> Expr {
        let unsigned = ty.unsigned();
        let (left, right) = (self.cast(left, unsigned), self.cast(right, unsigned));
        self.cast(fold::binary(op, unsigned, left, right), ty)
    }
    /// `++` or `--` that wraps.
    pub fn wrapping_step(&mut self, value: Expr, ty: TypeId, is_increment: bool) -> Expr {
        match self.unit.class(ty) {
            Class::Integer(own) if own.signed => {
                let op = if is_increment { BinaryOp::Add } else { BinaryOp::Sub };
                self.wrapping(op, own, value, Expr::int(1, own))
            }
            _ => self.step(value, ty, is_increment),
        }
    }
    /// Changes an atomic object in one step. Gives its old or its new value.
    pub fn atomic_update(
        &mut self,
        place: &Lvalue,
        ty: TypeId,
        compute: impl FnOnce(&mut Self, Expr) -> Expr,
        gives_old: bool,
    ) -> Expr {
        let scalar = self.scalar(ty);
        match place {
            Lvalue::Memory { address, .. } => {
                let address = self.freeze(address.clone());
                self.update_cell(address, scalar, compute, gives_old)
            }
            Lvalue::Local(_) | Lvalue::Bits(_) => {
                let old = self.load(place, ty);
                let old = Expr::Local(self.builder.save(old, scalar));
                let new = compute(self, old.clone());
                let new = self.freeze(new);
                self.store(place, ty, new.clone());
                if gives_old { old } else { new }
            }
        }
    }
    fn update_cell(
        &mut self,
        address: Expr,
        ty: IntType,
        compute: impl FnOnce(&mut Self, Expr) -> Expr,
        gives_old: bool,
    ) -> Expr {
        let cell = self.cell(address, ty, true);
        let old = Expr::load(cell.clone());
        let new = compute(self, old.clone());
        let new = self.cast(new, ty);
        let given = if gives_old { old } else { new.clone() };
        let local = self.builder.temporary(ty);
        let pairs = vec![(Lhs::Local(local), Rhs::Value(given)), (Lhs::Memory(cell), Rhs::Value(new))];
        self.builder.emit(Op::Assign(Assignment { pairs, constraint: None }));
        Expr::Local(local)
    }

    /// A call of one of the atomic builtins. Gives its value, if it has one.
    pub fn atomic_operation(&mut self, id: ExprId) -> Option<Expr> {
        let unit = self.unit;
        let expr = unit.tree[id];
        let ExprKind::Atomic { op, args, .. } = expr.kind else { return None };
        let arguments: Vec<ExprId> = unit.tree[args].to_vec();
        if matches!(op, AtomicOp::Fence | AtomicOp::SignalFence) {
            return None;
        }
        let object = unit.pointee(unit.tree[*arguments.first()?].ty)?;
        let is_byte = op == AtomicOp::TestAndSet;
        let scalar = match unit.scalar_type(object) {
            _ if is_byte => IntType::U8,
            Some(scalar) => scalar,
            None if unit.is_aggregate(object) => {
                self.unsupported("an atomic operation on a structure");
                return unit.scalar_type(expr.ty).map(|ty| Expr::int(0, ty));
            }
            // Through `void *`, as `__atomic_clear` does: one byte.
            None => IntType::U8,
        };
        let mut values = Vec::new();
        for &argument in &arguments {
            let value = self.rvalue(argument);
            values.push(self.freeze(value));
        }
        self.at_expression(id);
        let address = self.cast(values[0].clone(), self.pointer());
        let cell = self.cell(address.clone(), scalar, true);
        let second = |this: &Self| this.cast(values.get(1).cloned().unwrap_or(Expr::int(0, scalar)), scalar);
        let value = match op {
            AtomicOp::Load => Expr::Local(self.builder.save(Expr::load(cell), scalar)),
            AtomicOp::LoadInto => {
                let value = Expr::Local(self.builder.save(Expr::load(cell), scalar));
                self.store_through(values.get(1)?, scalar, value);
                return None;
            }
            AtomicOp::Store => {
                let value = second(self);
                self.builder.set(Lhs::Memory(cell), value);
                return None;
            }
            AtomicOp::Exchange => {
                let value = second(self);
                self.update_cell(address, scalar, |_, _| value, true)
            }
            AtomicOp::ExchangeInto => {
                let value = second(self);
                let old = self.update_cell(address, scalar, |_, _| value, true);
                self.store_through(values.get(2)?, scalar, old);
                return None;
            }
            AtomicOp::TestAndSet => {
                let old = self.update_cell(address, scalar, |_, _| Expr::int(1, scalar), true);
                self.cast(old, IntType::BOOL)
            }
            AtomicOp::Fetch(op) | AtomicOp::Update(op) => {
                let gives_old = matches!(expr.kind, ExprKind::Atomic { op: AtomicOp::Fetch(_), .. });
                let value = second(self);
                let compute = |this: &mut Self, old: Expr| this.read_modify_write(op, scalar, old, value);
                self.update_cell(address, scalar, compute, gives_old)
            }
            AtomicOp::SwapBool | AtomicOp::SwapValue => {
                let expected = second(self);
                let desired = self.cast(values.get(2)?.clone(), scalar);
                let (found, matched) = self.compare_exchange(address, scalar, expected, desired);
                if op == AtomicOp::SwapBool { matched } else { found }
            }
            AtomicOp::CompareExchange => {
                let expected_at = values.get(1)?.clone();
                let desired = self.cast(values.get(2)?.clone(), scalar);
                let expected = Expr::load(self.cell(expected_at.clone(), scalar, false));
                let expected = self.freeze(expected);
                let (found, matched) = self.compare_exchange(address, scalar, expected, desired);
                let (no, done) = (self.label(), self.label());
                self.branch(matched.clone(), done, no);
                self.join(no);
                self.store_through(&expected_at, scalar, found);
                self.jump(done);
                self.join(done);
                matched
            }
            AtomicOp::Fence | AtomicOp::SignalFence => return None,
        };
        Some(match unit.scalar_type(expr.ty) {
            Some(ty) => self.cast(value, ty),
            None => value,
        })
    }
    fn store_through(&mut self, address: &Expr, ty: IntType, value: Expr) {
        let cell = self.cell(address.clone(), ty, false);
        self.builder.set(Lhs::Memory(cell), value);
    }
    fn read_modify_write(&mut self, op: Rmw, ty: IntType, old: Expr, value: Expr) -> Expr {
        let unsigned = ty.unsigned();
        let (old, value) = (self.cast(old, unsigned), self.cast(value, unsigned));
        let binary = |op, left, right| fold::binary(op, unsigned, left, right);
        let new = match op {
            Rmw::Add => binary(BinaryOp::Add, old, value),
            Rmw::Sub => binary(BinaryOp::Sub, old, value),
            Rmw::And => binary(BinaryOp::And, old, value),
            Rmw::Nand => fold::unary(UnaryOp::Not, unsigned, binary(BinaryOp::And, old, value)),
            Rmw::Or => binary(BinaryOp::Or, old, value),
            Rmw::Xor => binary(BinaryOp::Xor, old, value),
        };
        self.cast(new, ty)
    }
    /// Compares and, where equal, stores, in one atomic region. Gives what was found, and whether it was equal.
    fn compare_exchange(
        &mut self,
        address: Expr,
        ty: IntType,
        expected: Expr,
        desired: Expr,
    ) -> (Expr, Expr) {
        let cell = self.cell(address, ty, true);
        let (yes, done) = (self.label(), self.label());
        self.atomic_begin();
        let found = Expr::Local(self.builder.save(Expr::load(cell.clone()), ty));
        let equal = fold::binary(BinaryOp::Eq, ty, found.clone(), expected);
        let matched = Expr::Local(self.builder.save(equal, IntType::BOOL));
        self.branch(matched.clone(), yes, done);
        self.join(yes);
        if self.builder.is_reachable() {
            self.builder.set(Lhs::Memory(cell), desired);
        }
        self.jump(done);
        self.join(done);
        self.atomic_end();
        (found, matched)
    }
}
