//! Expressions: their values, their effects, and control flow by their truth.
//!
//! A value is returned as an expression that may still read memory. Code that emits operations between
//! getting a value and using it must freeze the value first.

use crate::facts::Purity;
use crate::fold;
use crate::function::Function;
use crate::places::Lvalue;
use crate::types::Class;
use ir::{Expr, IntType, Lhs, LocationId};
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Const, Conversion, ExprId, ExprKind};
use rucc_types::{IntKind, TypeId, TypeKind};

impl Function<'_, '_> {
    /// The value of a scalar expression.
    pub fn rvalue(&mut self, id: ExprId) -> Expr {
        if let Some(value) = self.known.get(&id) {
            return value.clone();
        }
        let settled = self.settle_order(id);
        let value = self.uncut_rvalue(id);
        self.unsettle(settled);
        if self.facts(id).is_cut {
            return self.freeze(value);
        }
        value
    }
    /// The values of two expressions, the first evaluated first.
    pub fn pair(&mut self, first: ExprId, second: ExprId) -> (Expr, Expr) {
        let mut left = self.rvalue(first);
        if self.emits(second) {
            left = self.freeze(left);
        }
        (left, self.rvalue(second))
    }
    /// A zero of a type.
    pub fn zero(&mut self, ty: TypeId) -> Expr {
        Expr::int(0, self.unit.scalar_type(ty).unwrap_or(IntType::U64))
    }

    fn uncut_rvalue(&mut self, id: ExprId) -> Expr {
        let unit = self.unit;
        let expr = unit.tree[id];
        match expr.kind {
            ExprKind::Const(constant) => {
                let ty = self.scalar(expr.ty);
                match unit.tree[constant] {
                    Const::Int(value) => Expr::int(value, ty),
                    Const::Float(value) => Expr::int(value.to_bits() as u64 as i128, ty),
                    Const::Complex { .. }
                    | Const::ComplexInt { .. }
                    | Const::Address(_)
                    | Const::Apart { .. } => {
                        self.unsupported("this kind of constant");
                        Expr::int(0, ty)
                    }
                }
            }
            ExprKind::LabelAddr(label) => self.label_address(label),
            ExprKind::Unary { op, operand } => self.unary(id, op, operand),
            ExprKind::Binary { op, lhs, rhs } => match op {
                BinaryOp::LogAnd | BinaryOp::LogOr => self.logical(id, op, lhs, rhs),
                _ => {
                    let (left, right) = self.pair(lhs, rhs);
                    let value = self.operate(op, left, unit.tree[lhs].ty, right, unit.tree[rhs].ty);
                    let ty = self.scalar(expr.ty);
                    self.cast(value, ty)
                }
            },
            ExprKind::Assign { op, computation, lhs, rhs } => self.assign(op, computation, lhs, rhs, true),
            ExprKind::Cond { cond, then, otherwise } => self.conditional(id, cond, then, otherwise),
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs);
                self.rvalue(rhs)
            }
            ExprKind::Cast(operand) => {
                // The lengths in the name of the type are computed with the cast (C11 6.7.6.2p5).
                self.evaluate_lengths(expr.ty);
                self.explicit_cast(id, operand)
            }
            ExprKind::Convert { kind, operand } => self.conversion(id, kind, operand),
            ExprKind::StmtExpr(body) => {
                let is_block = self.open_scope(body);
                let value = match self.statement_expression(body) {
                    Some(last) if unit.scalar_type(unit.tree[last].ty).is_some() => {
                        let value = self.rvalue(last);
                        self.freeze(value)
                    }
                    Some(last) => {
                        self.effect(last);
                        self.zero(expr.ty)
                    }
                    None => self.zero(expr.ty),
                };
                if !is_block {
                    return value;
                }
                self.close_scope();
                // A local of the enclosing block holds it: locals of the block itself have ended.
                let ty = self.type_of(&value);
                Expr::Local(self.builder.save(value, ty))
            }
            ExprKind::Call { .. } => match self.call(id, true) {
                Some(value) => value,
                None => self.zero(expr.ty),
            },
            ExprKind::Atomic { .. } => self.atomic_operation(id).unwrap_or(Expr::int(0, IntType::I32)),
            ExprKind::Decl(_)
            | ExprKind::Str(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::CompoundLiteral(_) => {
                // An lvalue whose value is needed without a conversion, which is rare.
                if unit.scalar_type(expr.ty).is_some() {
                    let place = self.lvalue(id);
                    self.load(&place, expr.ty)
                } else {
                    self.address_of(id)
                }
            }
            _ => self.builtin(id),
        }
    }

    fn unary(&mut self, id: ExprId, op: UnaryOp, operand: ExprId) -> Expr {
        let expr = self.unit.tree[id];
        match op {
            UnaryOp::Plus => self.rvalue(operand),
            UnaryOp::Minus | UnaryOp::BitNot => {
                let value = self.rvalue(operand);
                let op = if op == UnaryOp::Minus { ir::UnaryOp::Neg } else { ir::UnaryOp::Not };
                self.negate(value, expr.ty, op)
            }
            UnaryOp::Not => {
                let value = self.truth(operand);
                self.cast(value.not(), IntType::I32)
            }
            UnaryOp::Deref => {
                let place = self.lvalue(id);
                self.load(&place, expr.ty)
            }
            UnaryOp::AddrOf => self.address_of(operand),
            UnaryOp::PreInc => self.increment(operand, true, false, true),
            UnaryOp::PreDec => self.increment(operand, false, false, true),
            UnaryOp::PostInc => self.increment(operand, true, true, true),
            UnaryOp::PostDec => self.increment(operand, false, true, true),
            UnaryOp::Real | UnaryOp::Imag => {
                self.unsupported("a complex number");
                self.zero(expr.ty)
            }
        }
    }

    /// A scalar as a Boolean.
    pub fn truth(&mut self, id: ExprId) -> Expr {
        if let ExprKind::Convert { kind: Conversion::Bool, operand } = self.unit.tree[id].kind {
            return self.truth(operand);
        }
        let ty = self.unit.tree[id].ty;
        let value = self.rvalue(id);
        if self.unit.is_float(ty) {
            return match self.float_format(ty) {
                Some(format) => self.float_truth(format, value),
                None => {
                    self.discard(value);
                    self.unknown(IntType::BOOL)
                }
            };
        }
        self.cast(value, IntType::BOOL)
    }

    fn explicit_cast(&mut self, id: ExprId, operand: ExprId) -> Expr {
        let (from, to) = (self.unit.tree[operand].ty, self.unit.tree[id].ty);
        if self.unit.scalar_type(from).is_none() || self.unit.scalar_type(to).is_none() {
            self.effect(operand);
            if let Some(ty) = self.unit.scalar_type(to) {
                self.unsupported("a cast of something that is no scalar");
                return Expr::int(0, ty);
            }
            return Expr::int(0, IntType::I32);
        }
        let before = self.objects_so_far();
        let value = self.rvalue(operand);
        self.note_site_type(before, operand, to);
        self.note_fixed_address(&value, from, to);
        self.convert(value, from, to)
    }
    /// A number that is cast to a pointer to volatile is the address of a device.
    fn note_fixed_address(&mut self, value: &Expr, from: TypeId, to: TypeId) {
        let unit = self.unit;
        let is_device = unit.pointee(to).is_some_and(|pointee| unit.is_volatile(pointee));
        if let Expr::Const(number, _) = value
            && *number != 0
            && unit.is_pointer(to)
            && !unit.is_pointer(from)
            && is_device
            && self.global.nesc.is_none()
        {
            let span = self.builder.span;
            let text = format!("unsupported: memory at the fixed address {number:#x}");
            self.global.assume(text, span, true);
        }
    }

    fn conversion(&mut self, id: ExprId, kind: Conversion, operand: ExprId) -> Expr {
        let unit = self.unit;
        let expr = unit.tree[id];
        match kind {
            Conversion::Lvalue => {
                let place = self.lvalue(operand);
                self.check_indices(operand);
                let loaded = self.load(&place, unit.tree[operand].ty);
                match unit.scalar_type(expr.ty) {
                    Some(ty) => self.cast(loaded, ty),
                    None => loaded,
                }
            }
            Conversion::ArrayDecay | Conversion::FunctionDecay => self.address_of_function_or_place(operand),
            Conversion::Arithmetic | Conversion::Pointer => self.explicit_cast(id, operand),
            Conversion::Bool => {
                let value = self.truth(operand);
                let ty = self.scalar(expr.ty);
                self.cast(value, ty)
            }
            Conversion::NullPointer => {
                self.effect(operand);
                self.address_constant(0)
            }
            Conversion::Void => {
                self.effect(operand);
                Expr::int(0, IntType::I32)
            }
            Conversion::Broadcast => {
                self.unsupported("a vector");
                self.zero(expr.ty)
            }
            Conversion::Hardbool => {
                self.unsupported("a hardened Boolean");
                self.zero(expr.ty)
            }
        }
    }
    fn address_of_function_or_place(&mut self, operand: ExprId) -> Expr {
        // `*f` of a pointer to a function is the function again.
        if let ExprKind::Unary { op: UnaryOp::Deref, operand } = self.unit.tree[operand].kind {
            return self.rvalue(operand);
        }
        self.address_of(operand)
    }

    /// `&&` and `||` as a value.
    fn logical(&mut self, id: ExprId, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> Expr {
        if self.facts(lhs).purity == Purity::Total && self.facts(rhs).purity == Purity::Total {
            let (left, right) = (self.truth(lhs), self.truth(rhs));
            let value = match op {
                BinaryOp::LogAnd => fold::and(left, right),
                _ => fold::and(left.not(), right.not()).not(),
            };
            return self.cast(value, IntType::I32);
        }
        let (yes, no, done) = (self.label(), self.label(), self.label());
        let result = self.builder.temporary(IntType::BOOL);
        self.condition(id, yes, no);
        for (label, value) in [(yes, true), (no, false)] {
            self.join(label);
            if self.builder.is_reachable() {
                self.builder.set(Lhs::Local(result), Expr::bool(value));
                self.jump(done);
            }
        }
        self.join(done);
        self.cast(Expr::Local(result), IntType::I32)
    }

    fn conditional(&mut self, id: ExprId, cond: ExprId, then: ExprId, otherwise: ExprId) -> Expr {
        let unit = self.unit;
        let ty = unit.tree[id].ty;
        let Some(scalar) = unit.scalar_type(ty) else {
            self.conditional_effect(cond, then, otherwise);
            return Expr::int(0, IntType::I32);
        };
        if self.facts(id).purity == Purity::Total && !self.facts(id).is_cut {
            let condition = self.truth(cond);
            let (yes, no) = (self.rvalue(then), self.rvalue(otherwise));
            let (yes, no) = (self.cast(yes, scalar), self.cast(no, scalar));
            return fold::if_then_else(condition, yes, no);
        }
        let shared = self.evaluate_shared_operand(cond, then);
        let (yes, no, done) = (self.label(), self.label(), self.label());
        let result = self.builder.temporary(scalar);
        self.condition(cond, yes, no);
        for (label, arm) in [(yes, then), (no, otherwise)] {
            self.join(label);
            if self.builder.is_reachable() {
                let value = self.rvalue(arm);
                let value = self.cast(value, scalar);
                self.builder.set(Lhs::Local(result), value);
                self.jump(done);
            }
        }
        self.join(done);
        if let Some(shared) = shared {
            self.known.remove(&shared);
        }
        Expr::Local(result)
    }
    fn conditional_effect(&mut self, cond: ExprId, then: ExprId, otherwise: ExprId) {
        let shared = self.evaluate_shared_operand(cond, then);
        let (yes, no, done) = (self.label(), self.label(), self.label());
        self.condition(cond, yes, no);
        for (label, arm) in [(yes, then), (no, otherwise)] {
            self.join(label);
            if self.builder.is_reachable() {
                self.effect(arm);
                self.jump(done);
            }
        }
        self.join(done);
        if let Some(shared) = shared {
            self.known.remove(&shared);
        }
    }
    /// In `a ?: b` the condition and the first arm are one expression, which is evaluated once.
    pub fn evaluate_shared_operand(&mut self, cond: ExprId, then: ExprId) -> Option<ExprId> {
        let tree = &self.unit.tree;
        let ExprKind::Convert { kind: Conversion::Bool, operand: shared } = tree[cond].kind else {
            return None;
        };
        let mut at = then;
        while at != shared {
            at = match tree[at].kind {
                ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => operand,
                _ => return None,
            };
        }
        if self.known.contains_key(&shared) || self.unit.scalar_type(tree[shared].ty).is_none() {
            return None;
        }
        let value = self.rvalue(shared);
        let value = self.freeze(value);
        self.known.insert(shared, value);
        Some(shared)
    }

    /// Branches to one of two labels by the truth of an expression.
    pub fn condition(&mut self, id: ExprId, yes: LocationId, no: LocationId) {
        if self.known.contains_key(&id) {
            let value = self.truth(id);
            return self.branch(value, yes, no);
        }
        match self.unit.tree[id].kind {
            ExprKind::Convert { kind: Conversion::Bool, operand }
                if !self.unit.is_float(self.unit.tree[operand].ty) =>
            {
                self.condition(operand, yes, no);
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.condition(operand, no, yes),
            ExprKind::Binary { op: op @ (BinaryOp::LogAnd | BinaryOp::LogOr), lhs, rhs } => {
                let next = self.label();
                match op {
                    BinaryOp::LogAnd => self.condition(lhs, next, no),
                    _ => self.condition(lhs, yes, next),
                }
                self.join(next);
                if self.builder.is_reachable() {
                    self.condition(rhs, yes, no);
                }
            }
            _ => {
                let value = self.truth(id);
                self.branch(value, yes, no);
            }
        }
    }

    /// Evaluates an expression for its side effects.
    pub fn effect(&mut self, id: ExprId) {
        if self.known.contains_key(&id) {
            return;
        }
        let settled = self.settle_order(id);
        self.effect_of_settled(id);
        self.unsettle(settled);
    }
    fn effect_of_settled(&mut self, id: ExprId) {
        let unit = self.unit;
        let expr = unit.tree[id];
        match expr.kind {
            ExprKind::Convert { kind: Conversion::Void, operand } => self.effect(operand),
            ExprKind::Assign { op, computation, lhs, rhs } => {
                self.assign(op, computation, lhs, rhs, false);
            }
            ExprKind::Unary { op: UnaryOp::PreInc | UnaryOp::PostInc, operand } => {
                self.increment(operand, true, false, false);
            }
            ExprKind::Unary { op: UnaryOp::PreDec | UnaryOp::PostDec, operand } => {
                self.increment(operand, false, false, false);
            }
            ExprKind::Call { .. } => {
                self.call(id, false);
            }
            ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs);
                self.effect(rhs);
            }
            ExprKind::Cond { cond, then, otherwise } => self.conditional_effect(cond, then, otherwise),
            ExprKind::Binary { op: BinaryOp::LogAnd | BinaryOp::LogOr, .. } => {
                let done = self.label();
                self.condition(id, done, done);
                self.join(done);
            }
            ExprKind::StmtExpr(body) => {
                let is_block = self.open_scope(body);
                if let Some(last) = self.statement_expression(body) {
                    self.effect(last);
                }
                if is_block {
                    self.close_scope();
                }
            }
            ExprKind::Cast(operand) if unit.scalar_type(expr.ty).is_none() => self.effect(operand),
            ExprKind::Atomic { .. } => {
                self.atomic_operation(id);
            }
            _ => {
                if unit.scalar_type(expr.ty).is_some() {
                    let value = self.rvalue(id);
                    self.discard(value);
                } else if unit.is_aggregate(expr.ty) {
                    self.unused_aggregate(id);
                } else {
                    self.builtin(id);
                }
            }
        }
    }
    /// An unused structure: it is still read (C11 6.3.2.1p2).
    fn unused_aggregate(&mut self, id: ExprId) {
        let expr = self.unit.tree[id];
        match expr.kind {
            ExprKind::Convert { kind: Conversion::Lvalue, .. }
            | ExprKind::Decl(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Unary { op: UnaryOp::Deref, .. } => {
                let from = self.aggregate(id);
                self.copy_to_temporary(from, expr.ty);
            }
            _ => {
                self.address_of(id);
            }
        }
    }
    /// An unused value: it is still computed if that can be observed.
    pub fn discard(&mut self, value: Expr) {
        if fold::is_noticed(&value) {
            let ty = self.type_of(&value);
            self.builder.save(value, ty);
        }
    }

    /// An assignment; returns its value if it is used.
    fn assign(
        &mut self,
        op: Option<BinaryOp>,
        computation: TypeId,
        lhs: ExprId,
        rhs: ExprId,
        wanted: bool,
    ) -> Expr {
        let unit = self.unit;
        let ty = unit.tree[lhs].ty;
        if unit.is_aggregate(ty) {
            return self.assign_aggregate(lhs, rhs);
        }
        let scalar = self.scalar(ty);
        let mut place = self.lvalue(lhs);
        self.check_indices(lhs);
        if self.emits(rhs) || op.is_some() {
            place = self.freeze_lvalue(place);
        }
        let Some(op) = op else {
            self.at_expression(lhs);
            let before = self.objects_so_far();
            let value = self.rvalue(rhs);
            self.note_site_variable(before, rhs, self.short_text(lhs));
            if let Some(variable) = self.variable_of(lhs) {
                self.note_site_holder(before, rhs, variable);
            }
            let value = self.cast(value, scalar);
            return self.store_and_give(&place, ty, value, wanted);
        };
        let right_type = unit.tree[rhs].ty;
        if unit.is_atomic(ty) {
            let right = self.rvalue(rhs);
            let right = self.freeze(right);
            let compute = |this: &mut Self, old: Expr| {
                let value = this.convert(old, ty, computation);
                let value = this.operate(op, value, computation, right, right_type);
                this.convert(value, computation, ty)
            };
            return self.atomic_update(&place, (ty, computation), compute, false);
        }
        // To a call on the right-hand side, reading and writing the left one is a single evaluation (C11
        // 6.5.16.2 p3).
        let mut right = self.rvalue(rhs);
        let old = self.load(&place, ty);
        self.at_expression(lhs);
        let old = self.cast_if_bits(&place, old, scalar);
        let mut computation = computation;
        if let Some(narrower) = self.promoted_computation(op, &place, ty, computation, rhs) {
            if !matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                right = self.convert(right, computation, narrower);
            }
            computation = narrower;
        }
        let value = self.convert(old, ty, computation);
        let value = self.operate(op, value, computation, right, right_type);
        let value = self.convert(value, computation, ty);
        self.store_and_give(&place, ty, value, wanted)
    }
    /// Whether an lvalue is a bit-field of which `int` holds all values: it is promoted to `int`, whatever
    /// its declared type (C11 6.3.1.1p2).
    fn is_promoted(&self, place: &Lvalue) -> bool {
        match place {
            Lvalue::Bits(bits) => bits.width < 32,
            Lvalue::Local(_) | Lvalue::Memory { .. } => false,
        }
    }
    /// The type in which a compound assignment with such a bit-field is computed; `None` when it has none.
    fn promoted_computation(
        &mut self,
        op: BinaryOp,
        place: &Lvalue,
        ty: TypeId,
        computation: TypeId,
        rhs: ExprId,
    ) -> Option<TypeId> {
        let unit = self.unit;
        let Class::Integer(_) = unit.class(computation) else { return None };
        let (Class::Integer(left), is_left) = (unit.class(ty), self.is_promoted(place)) else { return None };
        let left = if is_left || left.bits < 32 { IntType::I32 } else { left };
        // The right operand was converted to the common type with the declared one.
        let mut at = rhs;
        while let ExprKind::Convert { kind: Conversion::Arithmetic, operand } = unit.tree[at].kind {
            at = operand;
        }
        let is_right = match unit.tree[at].kind {
            ExprKind::Convert { kind: Conversion::Lvalue, operand } => {
                self.bit_field_width(operand).is_some_and(|width| width < 32)
            }
            _ => false,
        };
        if !is_left && !is_right {
            return None;
        }
        let common = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            left
        } else {
            let Class::Integer(right) = unit.class(unit.tree[at].ty) else { return None };
            let right = if is_right || right.bits < 32 { IntType::I32 } else { right };
            let bits = left.bits.max(right.bits);
            let is_unsigned = |ty: IntType| ty.bits == bits && !ty.signed;
            IntType { bits, signed: !is_unsigned(left) && !is_unsigned(right) }
        };
        Some(unit.types.int(match (common.bits, common.signed) {
            (32, true) => IntKind::Int,
            (32, false) => IntKind::UInt,
            (64, true) => IntKind::LongLong,
            (64, false) => IntKind::ULongLong,
            _ => return None,
        }))
    }
    /// The width of a bit-field that an expression names.
    fn bit_field_width(&self, id: ExprId) -> Option<u32> {
        let ExprKind::Member { base, field, .. } = self.unit.tree[id].kind else { return None };
        let TypeKind::Record(record) = self.unit.kind(self.unit.tree[base].ty) else { return None };
        self.unit.types.record_info(record).fields.get(field as usize)?.bits
    }
    fn cast_if_bits(&self, place: &Lvalue, value: Expr, scalar: IntType) -> Expr {
        match place {
            Lvalue::Bits(_) => self.cast(value, scalar),
            Lvalue::Local(_) | Lvalue::Memory { .. } => value,
        }
    }
    /// Stores a value, and returns what a read would then give.
    fn store_and_give(&mut self, place: &Lvalue, ty: TypeId, value: Expr, wanted: bool) -> Expr {
        if !wanted {
            self.store(place, ty, value);
            return self.zero(ty);
        }
        let place = self.freeze_lvalue(place.clone());
        let value = self.freeze(value);
        self.store(&place, ty, value.clone());
        match &place {
            Lvalue::Bits(bits) => {
                let scalar = self.type_of(&value);
                let word = self.cast(value, bits.unit);
                let kept = bits.truncate(word);
                self.cast(kept, scalar)
            }
            Lvalue::Local(_) | Lvalue::Memory { .. } => value,
        }
    }

    /// `++` and `--`.
    fn increment(&mut self, operand: ExprId, is_increment: bool, gives_old: bool, wanted: bool) -> Expr {
        let ty = self.unit.tree[operand].ty;
        self.scalar(ty);
        let place = self.lvalue(operand);
        self.check_indices(operand);
        let place = self.freeze_lvalue(place);
        if self.unit.is_atomic(ty) {
            let compute = |this: &mut Self, old: Expr| this.step(old, ty, is_increment);
            return self.atomic_update(&place, (ty, ty), compute, gives_old);
        }
        let mut old = self.load(&place, ty);
        self.at_expression(operand);
        if wanted && gives_old {
            let own = self.type_of(&old);
            old = Expr::Local(self.builder.save(old, own));
        }
        let new = if self.is_promoted(&place) && self.unit.class(ty) != Class::Integer(IntType::BOOL) {
            let int = self.unit.types.int(IntKind::Int);
            let new = self.step(old.clone(), int, is_increment);
            self.convert(new, int, ty)
        } else {
            self.step(old.clone(), ty, is_increment)
        };
        if wanted && gives_old {
            self.store(&place, ty, new);
            return old;
        }
        self.store_and_give(&place, ty, new, wanted)
    }
}
