//! Atomic operations: `_Atomic` objects, `__atomic_*`, `__sync_*`. Each is one indivisible step.
//!
//! `memory_orders.rs` handles weaker memory orders, `atomic_aggregates.rs` operations on structures. A weak
//! compare-and-exchange may fail spuriously.

use crate::fold;
use crate::function::Function;
use crate::memory_orders::{Order, Orders};
use crate::places::Lvalue;
use crate::types::Class;
use ir::{Assignment, BinaryOp, Expr, IntType, Lhs, LocalId, Op, Rhs, UnaryOp};
use rucc_sema::{AtomicOp, ExprId, ExprKind, Ordering, Rmw};
use rucc_types::TypeId;

impl Function<'_, '_> {
    /// Changes an atomic object in one step, by a computation in a type. Returns its old or its new value.
    pub fn atomic_update(
        &mut self,
        place: &Lvalue,
        (ty, computation): (TypeId, TypeId),
        compute: impl FnOnce(&mut Self, Expr) -> Expr,
        gives_old: bool,
    ) -> Expr {
        let scalar = self.scalar(ty);
        match place {
            Lvalue::Memory { address, .. } => {
                let address = self.freeze(address.clone());
                let is_float = |ty| matches!(self.unit.class(ty), Class::Float(_));
                if is_float(ty) || is_float(computation) {
                    self.update_in_region(address, scalar, Order::SEQUENTIAL, compute, gives_old)
                } else {
                    self.update_cell(address, scalar, Order::SEQUENTIAL, compute, gives_old)
                }
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
    /// Reads a cell, changes its value and writes it back, in one step. The computation emits nothing.
    fn update_cell(
        &mut self,
        address: Expr,
        ty: IntType,
        order: Order,
        compute: impl FnOnce(&mut Self, Expr) -> Expr,
        gives_old: bool,
    ) -> Expr {
        let cell = self.cell(address.clone(), ty, true);
        if !self.is_open(&address) {
            let old = Expr::load(cell.clone());
            let new = compute(self, old.clone());
            let new = self.cast(new, ty);
            self.atomic_read_write(&address, order, &new);
            let given = if gives_old { old } else { new.clone() };
            let local = self.builder.temporary(ty);
            let pairs = vec![(Lhs::Local(local), Rhs::Value(given)), (Lhs::Memory(cell), Rhs::Value(new))];
            self.builder.emit(Op::Assign(Assignment { pairs, constraint: None }));
            return Expr::Local(local);
        }
        self.update_in_region(address, ty, order, compute, gives_old)
    }
    /// The same in an atomic region, by a computation that may emit operations, as those on floating-point
    /// numbers do.
    fn update_in_region(
        &mut self,
        address: Expr,
        ty: IntType,
        order: Order,
        compute: impl FnOnce(&mut Self, Expr) -> Expr,
        gives_old: bool,
    ) -> Expr {
        let cell = self.cell(address.clone(), ty, true);
        self.atomic_begin();
        let old = self.builder.save(Expr::load(cell.clone()), ty);
        self.atomic_read(&address, order, old);
        let new = compute(self, Expr::Local(old));
        let new = self.cast(new, ty);
        let new = self.builder.save(new, ty);
        self.atomic_write(&address, order, Some(&Expr::Local(new)));
        self.builder.set(Lhs::Memory(cell), Expr::Local(new));
        self.atomic_end();
        Expr::Local(if gives_old { old } else { new })
    }
    /// The value of an atomic cell.
    pub fn load_cell(&mut self, address: Expr, ty: IntType, order: Order) -> Expr {
        let cell = self.cell(address.clone(), ty, true);
        let local = self.builder.save(Expr::load(cell), ty);
        self.atomic_read(&address, order, local);
        Expr::Local(local)
    }
    /// Stores a value in an atomic cell.
    pub fn store_cell(&mut self, address: Expr, ty: IntType, order: Order, value: Expr) {
        self.atomic_write(&address, order, Some(&value));
        let cell = self.cell(address, ty, true);
        self.builder.set(Lhs::Memory(cell), value);
    }
    /// The memory orders of the operation that is being lowered: those given before it, or those of the tree.
    pub fn orders(&mut self, order: Ordering) -> Orders {
        self.said_orders.pop().unwrap_or(Orders::same(match order {
            Ordering::Relaxed => Order::numbered(Some(0)),
            Ordering::Acquire => Order::numbered(Some(2)),
            Ordering::Release => Order::numbered(Some(3)),
            Ordering::AcqRel => Order::numbered(Some(4)),
            Ordering::SeqCst | Ordering::Full => Order::SEQUENTIAL,
        }))
    }

    /// A call of one of the atomic builtins. Returns its value, if it has one.
    pub fn atomic_operation(&mut self, id: ExprId) -> Option<Expr> {
        let unit = self.unit;
        let expr = unit.tree[id];
        let ExprKind::Atomic { op, order, args, older } = expr.kind else { return None };
        let arguments: Vec<ExprId> = unit.tree[args].to_vec();
        // A signal fence imposes no order between threads (C11 7.17.4.2).
        if matches!(op, AtomicOp::Fence | AtomicOp::SignalFence) {
            if op == AtomicOp::Fence {
                self.global.atomics.fence_with(order_of_fence(order));
            }
            return None;
        }
        let object = unit.pointee(unit.tree[*arguments.first()?].ty)?;
        // Only the newer builtins have memory orders.
        let orders = if older { Orders::same(self.order_of_older(order)) } else { self.orders(order) };
        let is_byte = op == AtomicOp::TestAndSet;
        let scalar = match unit.scalar_type(object) {
            _ if is_byte => IntType::U8,
            Some(scalar) => scalar,
            None if unit.is_aggregate(object) => {
                return self.atomic_aggregate(id, op, orders, &arguments, object);
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
        let second = |this: &Self| this.cast(values.get(1).cloned().unwrap_or(Expr::int(0, scalar)), scalar);
        let order = orders.success;
        let value = match op {
            AtomicOp::Load => self.load_cell(address, scalar, order),
            AtomicOp::LoadInto => {
                let value = self.load_cell(address, scalar, order);
                self.store_through(values.get(1)?, scalar, value);
                return None;
            }
            AtomicOp::Store => {
                let value = second(self);
                self.store_cell(address, scalar, order, value);
                return None;
            }
            AtomicOp::Exchange => {
                let value = second(self);
                self.update_cell(address, scalar, order, |_, _| value, true)
            }
            AtomicOp::ExchangeInto => {
                let value = second(self);
                let old = self.update_cell(address, scalar, order, |_, _| value, true);
                self.store_through(values.get(2)?, scalar, old);
                return None;
            }
            AtomicOp::TestAndSet => {
                let old = self.update_cell(address, scalar, order, |_, _| Expr::int(1, scalar), true);
                self.cast(old, IntType::BOOL)
            }
            AtomicOp::Fetch(op) | AtomicOp::Update(op) => {
                let gives_old = matches!(expr.kind, ExprKind::Atomic { op: AtomicOp::Fetch(_), .. });
                let value = second(self);
                let compute = |this: &mut Self, old: Expr| this.read_modify_write(op, scalar, old, value);
                self.update_cell(address, scalar, order, compute, gives_old)
            }
            AtomicOp::SwapBool | AtomicOp::SwapValue => {
                let expected = second(self);
                let desired = self.cast(values.get(2)?.clone(), scalar);
                let (found, matched) = self.compare_exchange(address, scalar, orders, expected, desired);
                Expr::Local(if op == AtomicOp::SwapBool { matched } else { found })
            }
            AtomicOp::CompareExchange => {
                let expected_at = values.get(1)?.clone();
                let desired = self.cast(values.get(2)?.clone(), scalar);
                let expected = Expr::load(self.cell(expected_at.clone(), scalar, false));
                let expected = self.freeze(expected);
                let (found, matched) = self.compare_exchange(address, scalar, orders, expected, desired);
                let (no, done) = (self.label(), self.label());
                self.branch(Expr::Local(matched), done, no);
                self.join(no);
                self.store_through(&expected_at, scalar, Expr::Local(found));
                self.jump(done);
                self.join(done);
                Expr::Local(matched)
            }
            AtomicOp::Fence | AtomicOp::SignalFence => return None,
        };
        Some(match unit.scalar_type(expr.ty) {
            Some(ty) => self.cast(value, ty),
            None => value,
        })
    }
    /// The order of one of the `__sync_` operations: all are full barriers, except the acquire and the
    /// release of a lock.
    fn order_of_older(&self, order: Ordering) -> Order {
        match order {
            Ordering::Acquire => Order::numbered(Some(2)),
            Ordering::Release => Order::numbered(Some(3)),
            Ordering::Relaxed | Ordering::AcqRel | Ordering::SeqCst | Ordering::Full => Order::SEQUENTIAL,
        }
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
    /// Compares and, if equal, stores, in one atomic region. Returns the found value, and whether it stored.
    fn compare_exchange(
        &mut self,
        address: Expr,
        ty: IntType,
        orders: Orders,
        expected: Expr,
        desired: Expr,
    ) -> (LocalId, LocalId) {
        let cell = self.cell(address.clone(), ty, true);
        let (yes, no, done) = (self.label(), self.label(), self.label());
        let matched = self.builder.temporary(IntType::BOOL);
        self.atomic_write(&address, orders.success, Some(&desired));
        self.atomic_begin();
        let found = self.builder.save(Expr::load(cell.clone()), ty);
        self.fail_openly(&address, orders.failure, found, no);
        self.atomic_read(&address, orders.success, found);
        if orders.weak {
            self.alternative(Expr::bool(true), no);
        }
        self.branch(fold::binary(BinaryOp::Eq, ty, Expr::Local(found), expected), yes, no);
        self.join(no);
        if self.builder.is_reachable() {
            self.builder.set(Lhs::Local(matched), Expr::bool(false));
        }
        self.jump(done);
        self.join(yes);
        if self.builder.is_reachable() {
            self.builder.set(Lhs::Local(matched), Expr::bool(true));
            self.builder.set(Lhs::Memory(cell), desired);
        }
        self.jump(done);
        self.join(done);
        self.atomic_end();
        (found, matched)
    }
}

/// The order of a fence; one that is not constant counts as the strongest.
fn order_of_fence(order: Ordering) -> Order {
    match order {
        Ordering::Relaxed => Order::numbered(Some(0)),
        Ordering::Acquire => Order::numbered(Some(2)),
        Ordering::Release => Order::numbered(Some(3)),
        Ordering::AcqRel | Ordering::SeqCst | Ordering::Full => Order::SEQUENTIAL,
    }
}
