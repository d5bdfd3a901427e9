//! Which memory is private to one activation, and which accesses others may see.
//!
//! An object is *private* if it belongs to a thread or an activation and its address never becomes a value:
//! each `Address` of it is the address of an access, or the base of one (`&a + index`). Then others cannot
//! name it. Over-approximates sharing: static and allocated objects always count as shared.
//!
//! Assumption: an access computed from the address of a private object stays inside it; C gives no meaning to
//! one that does not.

use crate::expr::{BinaryOp, Expr, Place};
use crate::ids::{IdVec, ObjectId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{Initial, Program, Storage};

/// The private objects of a program.
#[derive(Clone, Debug)]
pub struct Sharing {
    private: IdVec<ObjectId, bool>,
}

/// An access to memory that others may see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedAccess {
    /// Whether it is marked as atomic.
    pub atomic: bool,
    /// Whether it changes memory.
    pub write: bool,
}

/// The object from whose address an address is computed, by additions.
pub fn base_object(address: &Expr) -> Option<ObjectId> {
    match address {
        Expr::Address(object, _) => Some(*object),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair) => base_object(&pair.0),
        _ => None,
    }
}

impl Sharing {
    /// Finds the private objects of a program.
    pub fn of(program: &Program) -> Self {
        let private = program.objects.iter().map(|object| match object.storage {
            Storage::Frame(_) | Storage::ThreadLocal => true,
            Storage::Static | Storage::Site => false,
        });
        let mut sharing = Self { private: private.collect() };
        for object in &program.objects {
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| sharing.escape(value, false));
            }
        }
        for template in &program.templates {
            template.edges.iter().flat_map(|edge| &edge.ops).for_each(|op| sharing.escape_in_op(op));
        }
        sharing
    }

    /// Whether only the owning activation (or thread) touches the object.
    pub fn is_private(&self, object: ObjectId) -> bool {
        self.private[object]
    }
    /// Whether others may touch the same cell.
    pub fn is_shared(&self, place: &Place) -> bool {
        base_object(&place.address).is_none_or(|object| !self.private[object])
    }
    /// Whether an assignment to it is an access that others may see.
    pub fn is_shared_lhs(&self, lhs: &Lhs) -> bool {
        match lhs {
            Lhs::Local(_) => false,
            Lhs::Memory(place) => self.is_shared(place),
        }
    }
    /// Whether evaluating the expression may read memory that others may change.
    pub fn reads_shared(&self, expr: &Expr) -> bool {
        let mut found = false;
        self.each_load(expr, &mut |_| found = true);
        found
    }
    /// The accesses that others may see in evaluating an expression.
    pub fn loads(&self, expr: &Expr) -> Vec<SharedAccess> {
        let mut found = Vec::new();
        self.each_load(expr, &mut |place| found.push(SharedAccess { atomic: place.atomic, write: false }));
        found
    }
    fn each_load(&self, expr: &Expr, visit: &mut dyn FnMut(&Place)) {
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner
                && self.is_shared(place)
            {
                visit(place);
            }
        });
    }
    /// The accesses of an operation that others may see, without those of lock operations to their lock.
    pub fn accesses(&self, op: &Op) -> Vec<SharedAccess> {
        let mut found: Vec<SharedAccess> =
            op.expressions().into_iter().flat_map(|expr| self.loads(expr)).collect();
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs
                && self.is_shared(place)
            {
                found.push(SharedAccess { atomic: place.atomic, write: true });
            }
        }
        match op {
            Op::Free(_) => found.push(SharedAccess { atomic: false, write: true }),
            Op::Fill(to, ..) => found.extend(self.range(to, true)),
            Op::Copy(to, from, _) => {
                found.extend(self.range(from, false));
                found.extend(self.range(to, true));
            }
            Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) => {}
            Op::Join(..) | Op::Allocate { .. } | Op::Call(..) | Op::Broadcast(_) => {}
        }
        found
    }

    /// The access of an operation on a range of bytes.
    fn range(&self, address: &Expr, write: bool) -> Option<SharedAccess> {
        let is_shared = base_object(address).is_none_or(|object| !self.private[object]);
        is_shared.then_some(SharedAccess { atomic: false, write })
    }

    fn escape_in_op(&mut self, op: &Op) {
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.escape(&place.address, true);
            }
        }
        match op {
            Op::Assume(operand) | Op::Lock(_, operand) | Op::Unlock(_, operand) => {
                self.escape(operand, false)
            }
            Op::Join(operand, _) | Op::Free(operand) | Op::Allocate { size: operand, .. } => {
                self.escape(operand, false);
            }
            Op::Assign(Assignment { pairs, constraint }) => {
                for (_, rhs) in pairs {
                    if let Rhs::Value(value) = rhs {
                        self.escape(value, false);
                    }
                }
                constraint.iter().for_each(|constraint| self.escape(constraint, false));
            }
            Op::Spawn(callee, arguments, _) | Op::Call(callee, arguments, _) => {
                if let Callee::Pointer(pointer) = callee {
                    self.escape(pointer, false);
                }
                arguments.iter().for_each(|argument| self.escape(argument, false));
            }
            Op::Broadcast(broadcast) => {
                broadcast.arguments.iter().for_each(|(_, argument)| self.escape(argument, false));
            }
            Op::Fill(to, byte, size) => {
                self.escape(to, true);
                self.escape(byte, false);
                self.escape(size, false);
            }
            Op::Copy(to, from, size) => {
                self.escape(to, true);
                self.escape(from, true);
                self.escape(size, false);
            }
        }
    }

    /// Records addresses that are used as values. The address of an access is not.
    fn escape(&mut self, expr: &Expr, is_address_of_access: bool) {
        match expr {
            Expr::Address(object, _) => self.private[*object] &= is_address_of_access,
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair) if is_address_of_access => {
                self.escape(&pair.0, true);
                self.escape(&pair.1, false);
            }
            Expr::Load(place) => self.escape(&place.address, true),
            Expr::Valid(address, _) => self.escape(address, true),
            Expr::Const(..) | Expr::Local(_) | Expr::Procedure(_) | Expr::Myself => {}
            Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Old(_) => {
                expr.operands().into_iter().for_each(|operand| self.escape(operand, false));
            }
        }
    }
}
