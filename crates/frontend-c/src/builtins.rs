//! Compiler builtins: counting bits, checked arithmetic, hints, variable arguments.

use crate::fold;
use crate::function::Function;
use crate::scopes::{Allocated, BODY};
use crate::types::Class;
use ir::{BinaryOp, Expr, IntType, Lhs, LocationKind, UnaryOp, Value};
use rucc_sema::{BitCount, ExprId, ExprKind, OverflowOp};

/// The bit in the kind of a question about the size of an object that asks for the least size.
const LEAST: u8 = 2;

impl Function<'_, '_> {
    /// The value of an expression of one of the rarer kinds.
    pub fn builtin(&mut self, id: ExprId) -> Expr {
        let unit = self.unit;
        let expr = unit.tree[id];
        match expr.kind {
            ExprKind::Expect { value, hint, .. } => {
                let (value, hint) = self.pair(value, hint);
                let value = if fold::is_noticed(&hint) { self.freeze(value) } else { value };
                self.discard(hint);
                value
            }
            // Without optimisation a compiler never finds that the argument is constant.
            ExprKind::ConstantP { .. } => self.unless_found(expr.ty, 0, Some(1)),
            ExprKind::Unreachable => {
                // Undefined: the execution ends.
                self.builder.emit(ir::Op::Assume(Expr::bool(false)));
                self.builder.leave();
                self.zero(expr.ty)
            }
            ExprKind::Trap => {
                self.builder.stop(LocationKind::Halt);
                self.zero(expr.ty)
            }
            ExprKind::Prefetch { address, .. } => {
                self.effect(address);
                self.zero(expr.ty)
            }
            ExprKind::Abs { operand } => self.absolute(id, operand),
            ExprKind::ByteSwap { operand } => {
                let ty = self.scalar(expr.ty).unsigned();
                let value = self.rvalue(operand);
                let value = self.cast(value, ty);
                let value = self.freeze(value);
                let swapped = byte_swap(value, ty);
                let ty = self.scalar(expr.ty);
                self.cast(swapped, ty)
            }
            ExprKind::BitCount { operand, count } => self.count_bits(operand, count),
            ExprKind::Overflow { .. } => self.checked_arithmetic(id),
            ExprKind::Alloca { size } => {
                let size = self.rvalue(size);
                self.alloca(size)
            }
            // The size is not known without optimisation; the address is not evaluated.
            ExprKind::ObjectSize { kind, .. } => {
                let ty = self.scalar(expr.ty);
                self.unless_found(expr.ty, if kind & LEAST == 0 { ty.max() } else { 0 }, None)
            }
            ExprKind::VaStart { list } => {
                self.start_list(list);
                self.zero(expr.ty)
            }
            ExprKind::VaCopy { dst, src } => {
                let (to, from) = self.pair(dst, src);
                let (to, from) = (self.freeze(to), self.freeze(from));
                self.copy_list(&to, &from);
                self.zero(expr.ty)
            }
            ExprKind::VaEnd { .. } => {
                self.name_lists(id);
                self.zero(expr.ty)
            }
            ExprKind::VaArg { list } => self.next_argument(list, expr.ty),
            // Questions about floats.
            ExprKind::Classify { .. } | ExprKind::FpClassify { .. } | ExprKind::Sign { .. } => {
                let ty = self.scalar(expr.ty);
                let mut values = Vec::new();
                for operand in crate::facts::operands(unit, id) {
                    match unit.scalar_type(unit.tree[operand].ty) {
                        Some(_) => {
                            let value = self.rvalue(operand);
                            values.push(self.freeze(value));
                        }
                        None => self.effect(operand),
                    }
                }
                self.unknown_from(ty, values)
            }
            // A value of type void, or a function that is named and not called.
            ExprKind::Unary { operand, .. } | ExprKind::Cast(operand)
                if unit.scalar_type(expr.ty).is_none() =>
            {
                self.effect(operand);
                self.zero(expr.ty)
            }
            ExprKind::Decl(_) => self.zero(expr.ty),
            other => {
                let shown = format!("{other:?}");
                let kind = shown.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                self.unsupported(&format!("an expression of kind {kind}"));
                self.zero(expr.ty)
            }
        }
    }

    /// What naming lists of arguments does, where nothing is done with them.
    fn name_lists(&mut self, id: ExprId) {
        for list in crate::facts::operands(self.unit, id) {
            if self.emits(list) {
                self.effect(list);
            }
        }
    }

    /// The answer of a builtin about an expression that says nothing by its syntax: a compiler may or may not
    /// find more. Without optimisation it does not, so the plain answer is evidence; another one, which is
    /// from 0 to `most`, is not.
    fn unless_found(&mut self, ty: rucc_types::TypeId, plain: Value, most: Option<Value>) -> Expr {
        let ty = self.scalar(ty);
        let result = self.builder.save(Expr::int(plain, ty), ty);
        let choice = self.builder.temporary(IntType::BOOL);
        self.builder.emit(ir::Op::any(Lhs::Local(choice)));
        let (found, done) = (self.label(), self.label());
        self.branch(Expr::Local(choice), found, done);
        self.join(found);
        let constraint = most.map(|most| {
            let below = fold::binary(BinaryOp::Le, ty, Expr::Local(result), Expr::int(most, ty));
            below.and(fold::binary(BinaryOp::Le, ty, Expr::int(0, ty), Expr::Local(result)))
        });
        let pairs = vec![(Lhs::Local(result), ir::Rhs::Unknown)];
        self.builder.emit(ir::Op::Assign(ir::Assignment { pairs, constraint }));
        self.jump(done);
        self.join(done);
        Expr::Local(result)
    }

    /// Memory that lives until the function returns.
    pub fn alloca(&mut self, size: Expr) -> Expr {
        let pointer = self.pointer();
        let size = self.cast(size, pointer);
        let address = self.builder.temporary(pointer);
        let site = self.allocate("alloca", size, address);
        self.scopes.allocated.push(Allocated {
            site,
            address,
            scope: BODY,
            is_alloca: true,
            comes_again: false,
        });
        Expr::Local(address)
    }

    fn absolute(&mut self, id: ExprId, operand: ExprId) -> Expr {
        let ty = self.scalar(self.unit.tree[id].ty);
        if self.unit.is_float(self.unit.tree[id].ty) {
            let value = self.rvalue(operand);
            return self.unknown_from(ty, vec![value]);
        }
        let value = self.rvalue(operand);
        let value = self.cast(value, ty);
        let result = self.builder.save(value, ty);
        let (negative, done) = (self.label(), self.label());
        let is_negative = fold::binary(BinaryOp::Lt, ty, Expr::Local(result), Expr::int(0, ty));
        self.branch(is_negative, negative, done);
        self.join(negative);
        self.builder.set(Lhs::Local(result), Expr::unary(UnaryOp::Neg, ty, Expr::Local(result)));
        self.jump(done);
        self.join(done);
        Expr::Local(result)
    }

    fn count_bits(&mut self, operand: ExprId, count: BitCount) -> Expr {
        let own = self.scalar(self.unit.tree[operand].ty);
        let ty = own.unsigned();
        let value = self.rvalue(operand);
        let value = self.cast(value, ty);
        let value = self.freeze(value);
        let bits = Value::from(ty.bits);
        let binary = |op, left: Expr, right: Expr| fold::binary(op, ty, left, right);
        let constant = |value: Value| Expr::int(value, ty);
        let is_zero = binary(BinaryOp::Eq, value.clone(), constant(0));
        let lowest = || {
            let negated = fold::unary(UnaryOp::Neg, ty, value.clone());
            binary(BinaryOp::And, value.clone(), negated)
        };
        let result = match count {
            BitCount::Ones => ones(value, ty),
            BitCount::Parity => binary(BinaryOp::And, ones(value, ty), constant(1)),
            // The bits below the lowest one that is set.
            BitCount::Trailing => ones(binary(BinaryOp::Sub, lowest(), constant(1)), ty),
            BitCount::FirstSet => {
                let position = ones(binary(BinaryOp::Sub, lowest(), constant(1)), ty);
                let position = binary(BinaryOp::Add, position, constant(1));
                fold::if_then_else(is_zero.clone(), constant(0), position)
            }
            BitCount::Leading => {
                // All bits below the highest one that is set are set too, and counted.
                let mut smeared = value;
                let mut distance = 1;
                while distance < bits {
                    let shifted = binary(BinaryOp::Shr, smeared.clone(), constant(distance));
                    smeared = self.freeze_always(binary(BinaryOp::Or, smeared, shifted), ty);
                    distance *= 2;
                }
                binary(BinaryOp::Sub, constant(bits), ones(smeared, ty))
            }
            BitCount::RedundantSign => {
                self.unsupported("__builtin_clrsb");
                constant(0)
            }
        };
        let result = self.cast(result, IntType::I32);
        match count {
            BitCount::Ones | BitCount::Parity | BitCount::FirstSet | BitCount::RedundantSign => result,
            BitCount::Trailing | BitCount::Leading => self.unless(is_zero, result),
        }
    }

    /// A value that is not modelled where a condition holds.
    fn unless(&mut self, condition: Expr, value: Expr) -> Expr {
        if let Expr::Const(0, _) = condition {
            return value;
        }
        let ty = self.type_of(&value);
        let result = self.builder.save(value, ty);
        let (holds, done) = (self.label(), self.label());
        self.branch(condition, holds, done);
        self.join(holds);
        self.builder.emit(ir::Op::unknown(Lhs::Local(result)));
        self.jump(done);
        self.join(done);
        Expr::Local(result)
    }
    fn freeze_always(&mut self, value: Expr, ty: IntType) -> Expr {
        match value {
            Expr::Const(..) => value,
            value => Expr::Local(self.builder.save(value, ty)),
        }
    }

    /// `__builtin_add_overflow` and the like: exact arithmetic, stored modulo the width of the result.
    fn checked_arithmetic(&mut self, id: ExprId) -> Expr {
        let unit = self.unit;
        let ExprKind::Overflow { op, at, args, stores } = unit.tree[id].kind else {
            return Expr::bool(false);
        };
        let arguments: Vec<ExprId> = unit.tree[args].to_vec();
        let [left, right, third] = arguments.as_slice() else { return Expr::bool(false) };
        let third_type = unit.tree[*third].ty;
        let stored = if stores { unit.pointee(third_type).unwrap_or(third_type) } else { third_type };
        let types = [at, stored].map(|ty| match unit.class(ty) {
            Class::Integer(ty) => Some(ty),
            _ => None,
        });
        let [Some(wide), Some(narrow)] = types else {
            self.unsupported("checked arithmetic in this type");
            return Expr::bool(false);
        };
        let mut values = Vec::new();
        for &argument in [left, right] {
            let value = self.rvalue(argument);
            let value = self.cast(value, wide);
            values.push(self.freeze(value));
        }
        let address = if stores {
            let address = self.rvalue(*third);
            Some(self.freeze(address))
        } else {
            // Only its type matters, but compilers evaluate it.
            self.effect(*third);
            None
        };
        let (a, b) = (values[0].clone(), values[1].clone());
        let op = match op {
            OverflowOp::Add => BinaryOp::Add,
            OverflowOp::Sub => BinaryOp::Sub,
            OverflowOp::Mul => BinaryOp::Mul,
        };
        let unsigned = wide.unsigned();
        let wrapped =
            fold::binary(op, unsigned, self.cast(a.clone(), unsigned), self.cast(b.clone(), unsigned));
        let wrapped = self.cast(wrapped, wide);
        let wrapped = self.freeze_always(wrapped, wide);
        let left_range = if wide.signed {
            Expr::Overflows(op, wide, Box::new((a, b)))
        } else {
            match op {
                BinaryOp::Add => fold::binary(BinaryOp::Lt, wide, wrapped.clone(), a),
                BinaryOp::Sub => fold::binary(BinaryOp::Lt, wide, a, b),
                _ => {
                    // Dividing by 1 instead of 0 keeps the test total; then nothing overflows.
                    let is_zero = fold::binary(BinaryOp::Eq, wide, a.clone(), Expr::int(0, wide));
                    let divisor = fold::if_then_else(is_zero.clone(), Expr::int(1, wide), a);
                    let quotient = fold::binary(BinaryOp::Div, wide, wrapped.clone(), divisor);
                    let differs = fold::binary(BinaryOp::Ne, wide, quotient, b);
                    fold::and(is_zero.not(), differs)
                }
            }
        };
        let result = self.cast(wrapped.clone(), narrow);
        let same = self.differs(&wrapped, wide, &result, narrow);
        let failed = fold::and(left_range.not(), same.not()).not();
        let failed = self.freeze_always(failed, IntType::BOOL);
        if let Some(address) = address {
            let cell = self.cell(address, narrow, unit.is_atomic(stored));
            self.builder.set(Lhs::Memory(cell), result);
        }
        failed
    }
    /// Whether a value changed by a cast to a narrower type or one of another sign.
    fn differs(&self, value: &Expr, ty: IntType, cast: &Expr, narrow: IntType) -> Expr {
        if narrow == ty || (narrow.contains(ty.min()) && narrow.contains(ty.max())) {
            return Expr::bool(false);
        }
        if narrow.bits == ty.bits {
            // The same bits with another sign: only the highest bit matters.
            let signed = IntType { bits: ty.bits, signed: true };
            let value = self.cast(value.clone(), signed);
            return fold::binary(BinaryOp::Lt, signed, value, Expr::int(0, signed));
        }
        let back = self.cast(cast.clone(), ty);
        // Casting back gives the value again exactly if nothing was lost.
        fold::binary(BinaryOp::Ne, ty, back, value.clone())
    }
}

/// The number of bits that are set, in the type itself.
fn ones(value: Expr, ty: IntType) -> Expr {
    let bit = |index: u8| {
        let shifted = fold::binary(BinaryOp::Shr, ty, value.clone(), Expr::int(Value::from(index), ty));
        fold::binary(BinaryOp::And, ty, shifted, Expr::int(1, ty))
    };
    let mut sums: Vec<Expr> = (0..ty.bits).map(bit).collect();
    while sums.len() > 1 {
        sums = sums
            .chunks(2)
            .map(|pair| {
                let sum = pair.iter().cloned().reduce(|a, b| fold::binary(BinaryOp::Add, ty, a, b));
                sum.unwrap_or(Expr::int(0, ty))
            })
            .collect();
    }
    sums.pop().unwrap_or(Expr::int(0, ty))
}

fn byte_swap(value: Expr, ty: IntType) -> Expr {
    let bytes = ty.bytes() as Value;
    let mut result = Expr::int(0, ty);
    for index in 0..bytes {
        let down = fold::binary(BinaryOp::Shr, ty, value.clone(), Expr::int(8 * index, ty));
        let byte = fold::binary(BinaryOp::And, ty, down, Expr::int(0xff, ty));
        let up = fold::binary(BinaryOp::Shl, ty, byte, Expr::int(8 * (bytes - 1 - index), ty));
        result = if index == 0 { up } else { fold::binary(BinaryOp::Or, ty, result, up) };
    }
    result
}
