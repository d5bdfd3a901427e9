//! Atomic structures and unions: each access is an atomic region that copies from or to private memory.

use crate::fold;
use crate::function::Function;
use crate::memory_orders::{Order, Orders};
use ir::{BinaryOp, Expr, IntType, Lhs, Op};
use rucc_sema::{AtomicOp, ExprId};
use rucc_types::TypeId;

/// Structures with at most this many scalars are compared.
const MOST_COMPARED: usize = 16;

impl Function<'_, '_> {
    /// The address of a fresh copy of an atomic structure, read in one step.
    pub fn read_atomic_aggregate(&mut self, from: Expr, ty: TypeId) -> Expr {
        let from = self.freeze(from);
        self.note_aggregate(&from, Order::SEQUENTIAL);
        self.atomic_begin();
        let copy = Expr::Address(self.copy_to_temporary(from, ty), 0);
        self.atomic_end();
        copy
    }
    /// Stores a structure in an atomic one, in one step; returns the address of a copy of the stored value.
    pub fn write_atomic_aggregate(&mut self, to: Expr, from: Expr, ty: TypeId) -> Expr {
        let to = self.freeze(to);
        self.note_aggregate(&to, Order::SEQUENTIAL);
        let copy = Expr::Address(self.copy_to_temporary(from, ty), 0);
        self.atomic_begin();
        self.copy(to, copy.clone(), ty);
        self.atomic_end();
        copy
    }
    /// Notes an operation on a structure. With a weaker order than sequentially consistent it is not
    /// supported.
    fn note_aggregate(&mut self, address: &Expr, order: Order) {
        self.atomic_write(address, order, None);
        if self.is_open(address) {
            self.unsupported("an atomic structure in a program with weaker memory orders than seq_cst");
        }
    }

    /// An atomic builtin on a structure.
    pub fn atomic_aggregate(
        &mut self,
        id: ExprId,
        op: AtomicOp,
        orders: Orders,
        arguments: &[ExprId],
        ty: TypeId,
    ) -> Option<Expr> {
        let address = self.rvalue(*arguments.first()?);
        let address = self.freeze(address);
        self.note_aggregate(&address, orders.success);
        self.note_aggregate(&address, orders.failure);
        match op {
            AtomicOp::LoadInto => {
                let target = self.rvalue(*arguments.get(1)?);
                let target = self.freeze(target);
                self.at_expression(id);
                let copy = self.read_atomic_aggregate(address, ty);
                self.copy(target, copy, ty);
            }
            AtomicOp::Store => {
                let from = self.aggregate(*arguments.get(1)?);
                self.at_expression(id);
                self.write_atomic_aggregate(address, from, ty);
            }
            AtomicOp::ExchangeInto => {
                let from = self.aggregate(*arguments.get(1)?);
                let new = Expr::Address(self.copy_to_temporary(from, ty), 0);
                let target = self.rvalue(*arguments.get(2)?);
                let target = self.freeze(target);
                self.at_expression(id);
                self.atomic_begin();
                let old = Expr::Address(self.copy_to_temporary(address.clone(), ty), 0);
                self.copy(address, new, ty);
                self.atomic_end();
                self.copy(target, old, ty);
            }
            AtomicOp::CompareExchange => {
                let expected_at = self.rvalue(*arguments.get(1)?);
                let expected_at = self.freeze(expected_at);
                let from = self.aggregate(*arguments.get(2)?);
                let new = Expr::Address(self.copy_to_temporary(from, ty), 0);
                let expected = Expr::Address(self.copy_to_temporary(expected_at.clone(), ty), 0);
                self.at_expression(id);
                return Some(self.exchange_aggregate(&address, orders, [&expected, &expected_at, &new], ty));
            }
            AtomicOp::Load
            | AtomicOp::Fence
            | AtomicOp::SignalFence
            | AtomicOp::SwapBool
            | AtomicOp::SwapValue
            | AtomicOp::Exchange
            | AtomicOp::TestAndSet
            | AtomicOp::Fetch(_)
            | AtomicOp::Update(_) => {
                self.unsupported("this atomic operation on a structure");
                return self.unit.scalar_type(self.unit.tree[id].ty).map(|ty| Expr::int(0, ty));
            }
        }
        None
    }
    /// Compares an atomic structure with a copy of the expected one. If they are equal, stores the new one;
    /// otherwise stores the found value where the expected one came from.
    fn exchange_aggregate(
        &mut self,
        address: &Expr,
        orders: Orders,
        [expected, expected_at, new]: [&Expr; 3],
        ty: TypeId,
    ) -> Expr {
        let matched = self.builder.temporary(IntType::BOOL);
        let leaves = self.unit.leaves(ty, MOST_COMPARED).unwrap_or_default();
        let bytes: u64 = leaves.iter().map(|leaf| leaf.ty.bytes()).sum();
        if leaves.is_empty() || self.unit.size(ty) != Some(bytes) {
            self.unsupported("a comparison of atomic structures with padding, unions or many members");
            return Expr::Local(matched);
        }
        let (yes, no, done) = (self.label(), self.label(), self.label());
        self.atomic_begin();
        let found = Expr::Address(self.copy_to_temporary(address.clone(), ty), 0);
        if orders.weak {
            self.alternative(Expr::bool(true), no);
        }
        let pointer = self.pointer();
        let value = |this: &Self, base: &Expr, leaf: &crate::types::Leaf| {
            let at = fold::binary(BinaryOp::Add, pointer, base.clone(), this.address_constant(leaf.offset));
            Expr::load(this.cell(at, leaf.ty, false))
        };
        for leaf in &leaves {
            let (one, other) = (value(self, &found, leaf), value(self, expected, leaf));
            let next = self.label();
            self.branch(fold::binary(BinaryOp::Eq, leaf.ty, one, other), next, no);
            self.join(next);
        }
        self.jump(yes);
        self.join(yes);
        self.copy(address.clone(), new.clone(), ty);
        self.builder.set(Lhs::Local(matched), Expr::bool(true));
        self.jump(done);
        self.join(no);
        self.builder.emit(Op::set(Lhs::Local(matched), Expr::bool(false)));
        self.jump(done);
        self.join(done);
        self.atomic_end();
        let (failed, end) = (self.label(), self.label());
        self.branch(Expr::Local(matched), end, failed);
        self.join(failed);
        self.copy(expected_at.clone(), found, ty);
        self.jump(end);
        self.join(end);
        Expr::Local(matched)
    }
}
