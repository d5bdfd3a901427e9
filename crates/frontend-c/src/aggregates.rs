//! Structures, unions and arrays as values: they stay in memory, and their values are represented by
//! addresses.

use crate::fold;
use crate::function::{Function, Variable};
use crate::places::Lvalue;
use ir::{BinaryOp, Expr, Lhs, ObjectId, Op, Storage};
use rucc_sema::{Conversion, DeclId, ExprId, ExprKind, StorageDuration};
use rucc_types::TypeId;
use std::ops::Range;

/// Aggregates with at most this many scalars are copied scalar by scalar, so that other threads can see a
/// partial copy.
const MOST_LEAVES: usize = 8;

impl Function<'_, '_> {
    /// The address of the bytes of an aggregate value. They stay valid until something is stored in the
    /// object that they were read from.
    pub fn aggregate(&mut self, id: ExprId) -> Expr {
        if let Some(address) = self.known.get(&id) {
            return address.clone();
        }
        let settled = self.settle_order(id);
        let address = self.aggregate_of_settled(id);
        self.unsettle(settled);
        address
    }
    fn aggregate_of_settled(&mut self, id: ExprId) -> Expr {
        let unit = self.unit;
        let expr = unit.tree[id];
        match expr.kind {
            ExprKind::Convert { kind: Conversion::Lvalue, operand } => {
                let address = self.address_of(operand);
                self.check_indices(operand);
                match unit.is_atomic(unit.tree[operand].ty) {
                    true => self.read_atomic_aggregate(address, unit.tree[operand].ty),
                    false => address,
                }
            }
            ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => self.aggregate(operand),
            ExprKind::Call { .. } => match self.call(id, true) {
                Some(address) => address,
                None => self.address_constant(0),
            },
            ExprKind::Assign { lhs, rhs, .. } => self.assign_aggregate(lhs, rhs),
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs);
                self.aggregate(rhs)
            }
            ExprKind::Cond { cond, then, otherwise } => {
                let pointer = self.pointer();
                let result = self.builder.temporary(pointer);
                let (yes, no, done) = (self.label(), self.label(), self.label());
                self.condition(cond, yes, no);
                for (label, arm) in [(yes, then), (no, otherwise)] {
                    self.join(label);
                    if self.builder.is_reachable() {
                        let address = self.aggregate(arm);
                        self.builder.set(Lhs::Local(result), address);
                        self.jump(done);
                    }
                }
                self.join(done);
                Expr::Local(result)
            }
            ExprKind::StmtExpr(body) => {
                let is_block = self.open_scope(body);
                let value = match self.statement_expression(body) {
                    Some(last) => self.aggregate(last),
                    None => self.address_constant(0),
                };
                if !is_block {
                    return value;
                }
                // The objects of the block end with it.
                let copy = self.copy_to_temporary(value, expr.ty);
                self.close_scope();
                self.scopes.objects.insert(copy, self.scopes.current());
                Expr::Address(copy, 0)
            }
            ExprKind::Atomic { .. } => match self.atomic_operation(id) {
                Some(address) => address,
                None => self.address_constant(0),
            },
            ExprKind::Decl(_)
            | ExprKind::Str(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Unary { .. } => self.address_of(id),
            _ => {
                self.unsupported("this kind of structure value");
                self.address_constant(0)
            }
        }
    }
    /// Copies an aggregate value to a fresh object of this activation.
    pub fn copy_to_temporary(&mut self, from: Expr, ty: TypeId) -> ObjectId {
        let object = self.frame_object("%copy", ty, 1);
        self.copy(Expr::Address(object, 0), from, ty);
        object
    }
    /// Whether an address names an object of this activation: then no other thread sees a partial copy.
    fn is_private(&self, address: &Expr) -> bool {
        match address {
            Expr::Address(object, _) => {
                matches!(self.global.program.objects[*object].storage, Storage::Frame(_))
            }
            _ => false,
        }
    }
    /// Copies the bytes of a type, with those that are padding.
    pub fn copy(&mut self, to: Expr, from: Expr, ty: TypeId) {
        let pointer = self.pointer();
        let leaves = self.unit.leaves(ty, MOST_LEAVES);
        match leaves {
            Some(leaves) if !(self.is_private(&to) && self.is_private(&from)) => {
                let (to, from) = (self.freeze(to), self.freeze(from));
                let mut end = 0;
                for leaf in leaves {
                    self.copy_part(&to, &from, end..leaf.offset);
                    let offset = self.address_constant(leaf.offset);
                    let target = fold::binary(BinaryOp::Add, pointer, to.clone(), offset.clone());
                    let source = fold::binary(BinaryOp::Add, pointer, from.clone(), offset);
                    let value = Expr::load(self.cell(source, leaf.ty, false));
                    self.builder.set(Lhs::Memory(self.cell(target, leaf.ty, false)), value);
                    end = leaf.offset + leaf.ty.bytes();
                }
                self.copy_part(&to, &from, end..self.unit.size(ty).unwrap_or(end));
            }
            Some(_) | None => {
                let size = self.size_of(ty);
                if size != self.address_constant(0) {
                    let (to, from) = (self.freeze(to), self.freeze(from));
                    self.builder.emit(Op::Copy(to, from, size));
                }
            }
        }
    }
    /// Copies the bytes between two offsets, if there are any.
    fn copy_part(&mut self, to: &Expr, from: &Expr, bytes: Range<u64>) {
        if bytes.is_empty() {
            return;
        }
        let (pointer, start) = (self.pointer(), self.address_constant(bytes.start));
        let at = |address: &Expr| fold::binary(BinaryOp::Add, pointer, address.clone(), start.clone());
        let size = self.address_constant(bytes.end - bytes.start);
        self.builder.emit(Op::Copy(at(to), at(from), size));
    }
    /// Assigns an aggregate; returns the address of the left-hand side.
    pub fn assign_aggregate(&mut self, lhs: ExprId, rhs: ExprId) -> Expr {
        let ty = self.unit.tree[lhs].ty;
        let (mut to, atomic) = match self.lvalue(lhs) {
            Lvalue::Memory { address, atomic } => (address, atomic),
            Lvalue::Local(_) | Lvalue::Bits(_) => {
                self.unsupported("this kind of structure assignment");
                return self.address_constant(0);
            }
        };
        self.check_indices(lhs);
        to = self.freeze(to);
        let from = self.aggregate(rhs);
        self.at_expression(lhs);
        if atomic {
            return self.write_atomic_aggregate(to, from, ty);
        }
        self.copy(to.clone(), from, ty);
        to
    }
    /// The object of a compound literal, initialised.
    pub fn compound_literal(&mut self, declaration: DeclId) -> Expr {
        let literal = &self.unit.tree[declaration];
        if literal.duration != StorageDuration::Automatic {
            return match self.variable(declaration) {
                Some(Variable::Object(object)) => Expr::Address(object, 0),
                Some(Variable::Local(_) | Variable::Pointed(_)) | None => self.address_constant(0),
            };
        }
        let object = match self.variables.get(&declaration) {
            // If it is lowered again, for another order of evaluation, it may be in another copy of its
            // block.
            Some(Variable::Object(object))
                if self.scopes.objects.get(object) == Some(&self.scopes.current()) =>
            {
                *object
            }
            Some(Variable::Object(_) | Variable::Local(_) | Variable::Pointed(_)) | None => {
                self.frame_object("(literal)", literal.ty, 1)
            }
        };
        self.variables.insert(declaration, Variable::Object(object));
        self.initialise(declaration, Expr::Address(object, 0));
        Expr::Address(object, 0)
    }
}
