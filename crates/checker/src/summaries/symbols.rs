//! Values of pointer-wide locals as something known plus a constant, along one edge.
//!
//! What is known are the values that locals had where the edge starts, addresses of objects, and numbers.
//! All is modulo 2 to the width of a pointer. Under-approximates: two values that are written alike are
//! equal; others may be.

use ir::{BinaryOp, Expr, IntType, LocalId, ObjectId, Program, TemplateId, Value};
use std::collections::BTreeMap;
use verdict::{LockBase, ThreadFacts};

/// What a value is counted from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Anchor {
    /// 0.
    Number,
    /// What a local held where the edge starts.
    Local(LocalId),
    /// The start of an object, as this activation names it.
    Object(ObjectId),
    /// The argument that the thread was started with.
    Argument,
    /// A value that nothing is known of.
    Unknown(u32),
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Symbol {
    /// What it is counted from.
    pub anchor: Anchor,
    /// What is added, modulo 2 to the width of a pointer.
    pub offset: u64,
}

/// The bits of a pointer.
pub fn mask(program: &Program) -> u64 {
    u64::MAX >> (64 - u32::from(program.data_model.pointer().bits))
}

/// Whether a local is as wide as a pointer.
pub fn is_wide(program: &Program, template: TemplateId, local: LocalId) -> bool {
    let own = program.templates[template].locals.get(local);
    own.is_some_and(|local| local.ty.bits == program.data_model.pointer().bits)
}

/// The values of locals.
#[derive(Clone, Debug)]
pub struct Values<'p> {
    program: &'p Program,
    template: TemplateId,
    known: BTreeMap<LocalId, Symbol>,
    /// Locals whose value is known.
    numbers: BTreeMap<LocalId, Value>,
    unknown: u32,
    /// Whether the facts contradict each other, so that no thread is there.
    pub is_contradiction: bool,
}

impl<'p> Values<'p> {
    fn nothing(program: &'p Program, template: TemplateId, unknown: u32) -> Self {
        let (known, numbers) = (BTreeMap::new(), BTreeMap::new());
        Self { program, template, known, numbers, unknown, is_contradiction: false }
    }

    /// What the facts say where an edge starts.
    pub fn of(program: &'p Program, template: TemplateId, facts: &ThreadFacts) -> Self {
        let mut values = Self::nothing(program, template, 0);
        values.numbers = facts.numbers.iter().map(|(local, value)| (*local, Value::from(*value))).collect();
        // Classes of locals with constant distances: each is its leader plus a constant.
        let mut leader: BTreeMap<LocalId, (LocalId, u64)> = BTreeMap::new();
        let find = |leader: &BTreeMap<LocalId, (LocalId, u64)>, mut local: LocalId| {
            let mut offset = 0u64;
            while let Some((next, more)) = leader.get(&local) {
                offset = offset.wrapping_add(*more);
                local = *next;
            }
            (local, offset)
        };
        for (local, other, constant) in &facts.equal {
            let ((one, far), (two, near)) = (find(&leader, *local), find(&leader, *other));
            let apart = near.wrapping_add(*constant).wrapping_sub(far);
            if one != two {
                leader.insert(one, (two, apart));
            } else if apart & mask(program) != 0 {
                values.is_contradiction = true;
            }
        }
        for local in leader.keys() {
            let (root, offset) = find(&leader, *local);
            let symbol = Symbol { anchor: Anchor::Local(root), offset: offset & mask(program) };
            values.known.insert(*local, symbol);
        }
        for (local, offset) in &facts.argument {
            values.tie(*local, Anchor::Argument, *offset);
        }
        for (local, value) in &facts.numbers {
            if is_wide(program, template, *local) {
                values.tie(*local, Anchor::Number, *value as u64);
            }
        }
        values
    }

    /// A local, and all of its class, are counted from the thread's argument, or from 0.
    fn tie(&mut self, local: LocalId, to: Anchor, offset: u64) {
        let Symbol { anchor, offset: own } = self.local(local);
        let by = offset.wrapping_sub(own);
        match anchor {
            Anchor::Local(root) => {
                self.known.entry(root).or_insert(Symbol { anchor, offset: 0 });
                let mask = mask(self.program);
                for symbol in self.known.values_mut().filter(|symbol| symbol.anchor == anchor) {
                    *symbol = Symbol { anchor: to, offset: symbol.offset }.plus(by, mask);
                }
            }
            Anchor::Argument | Anchor::Number if anchor == to => {
                self.is_contradiction |= by & mask(self.program) != 0;
            }
            Anchor::Argument | Anchor::Number | Anchor::Object(_) | Anchor::Unknown(_) => {}
        }
    }

    /// The locals of a procedure that is entered with these values of its parameters; all others are 0.
    pub fn entered(program: &'p Program, template: TemplateId, parameters: Vec<Option<Symbol>>) -> Self {
        let mut values = Self::nothing(program, template, 1 << 30);
        let code = &program.templates[template];
        let mut given = parameters.into_iter();
        for local in code.locals.ids() {
            let is_parameter = (local.0 as usize) < code.parameters;
            let zero = Some(Symbol { anchor: Anchor::Number, offset: 0 });
            let value = if is_parameter { given.next().unwrap_or(zero) } else { zero };
            values.set(local, value);
        }
        values
    }

    /// The value of a local.
    pub fn local(&self, local: LocalId) -> Symbol {
        let own = Symbol { anchor: Anchor::Local(local), offset: 0 };
        self.known.get(&local).copied().unwrap_or(own)
    }

    /// Gives a local, or a cell, a value; `None` for one that is not known.
    pub fn set(&mut self, local: LocalId, value: Option<Symbol>) {
        self.numbers.remove(&local);
        let is_cell = self.program.templates[self.template].locals.get(local).is_none();
        let is_wide = is_cell || is_wide(self.program, self.template, local);
        let value = value.filter(|_| is_wide).unwrap_or_else(|| {
            self.unknown += 1;
            Symbol { anchor: Anchor::Unknown(self.unknown), offset: 0 }
        });
        self.known.insert(local, value);
    }

    /// A local that was just given a value has this number as its value.
    pub fn set_number(&mut self, local: LocalId, value: Option<Value>) {
        let ty = self.program.templates[self.template].locals[local].ty;
        if let Some(value) = value.filter(|value| ty.contains(*value)) {
            self.numbers.insert(local, value);
        }
    }

    /// The number that a local is, if that is known.
    pub fn number_of(&self, local: LocalId) -> Option<Value> {
        self.numbers.get(&local).copied()
    }

    /// The number that an expression is, if that is known. Arithmetic that leaves a signed type is none.
    pub fn number(&self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Const(value, ty) => Some(*value).filter(|value| ty.contains(*value)),
            Expr::Local(local) => self.number_of(*local),
            Expr::Cast(IntType::BOOL, _) => None,
            Expr::Cast(ty, operand) => Some(ty.wrap(self.number(operand)?)),
            Expr::Binary(op, ty, pair) => {
                let (left, right) = (self.number(&pair.0)?, self.number(&pair.1)?);
                let exact = match op {
                    BinaryOp::Add => left.checked_add(right)?,
                    BinaryOp::Sub => left.checked_sub(right)?,
                    BinaryOp::Mul => left.checked_mul(right)?,
                    _ => return None,
                };
                if ty.signed { Some(exact).filter(|exact| ty.contains(*exact)) } else { Some(ty.wrap(exact)) }
            }
            Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => None,
            Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
        }
    }

    /// The address of a lock.
    pub fn lock(&self, base: LockBase, offset: u64) -> Symbol {
        match base {
            LockBase::Object(object) => Symbol { anchor: Anchor::Object(object), offset: 0 },
            LockBase::Local(local) => self.local(local),
        }
        .plus(offset, mask(self.program))
    }

    /// The value of an expression as wide as a pointer, where it is known.
    pub fn eval(&self, expr: &Expr) -> Option<Symbol> {
        let (program, width) = (self.program, self.program.data_model.pointer().bits);
        let number = |value: Value| value as u64 & mask(program);
        if let Some(value) = self.number(expr)
            && program.type_of(self.template, expr).bits == width
        {
            return Some(Symbol { anchor: Anchor::Number, offset: number(value) });
        }
        match expr {
            Expr::Const(value, ty) => {
                (ty.bits == width).then(|| Symbol { anchor: Anchor::Number, offset: number(*value) })
            }
            Expr::Local(local) => is_wide(program, self.template, *local).then(|| self.local(*local)),
            Expr::Address(object, offset) => {
                Some(Symbol { anchor: Anchor::Object(*object), offset: *offset & mask(program) })
            }
            Expr::Cast(ty, operand) => {
                let from = program.type_of(self.template, operand);
                if ty.bits == width && from.bits == width { self.eval(operand) } else { None }
            }
            Expr::Binary(BinaryOp::Add, ty, pair) if ty.bits == width => {
                let (left, right) = (self.eval(&pair.0)?, self.eval(&pair.1)?);
                match (left.anchor, right.anchor) {
                    (_, Anchor::Number) => Some(left.plus(right.offset, mask(program))),
                    (Anchor::Number, _) => Some(right.plus(left.offset, mask(program))),
                    _ => None,
                }
            }
            Expr::Binary(BinaryOp::Sub, ty, pair) if ty.bits == width => {
                let (left, right) = (self.eval(&pair.0)?, self.eval(&pair.1)?);
                let back = right.offset.wrapping_neg();
                (right.anchor == Anchor::Number).then(|| left.plus(back, mask(program)))
            }
            Expr::Load(_) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) | Expr::Binary(..) => None,
            Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
        }
    }
}

impl Symbol {
    /// This value and a constant.
    pub fn plus(self, constant: u64, mask: u64) -> Self {
        Self { anchor: self.anchor, offset: self.offset.wrapping_add(constant) & mask }
    }
    /// How far another value is from this one, if that is known.
    pub fn distance(self, other: Self, mask: u64) -> Option<i128> {
        let apart = other.offset.wrapping_sub(self.offset) & mask;
        let half = mask / 2;
        let signed = if apart > half { i128::from(apart) - i128::from(mask) - 1 } else { i128::from(apart) };
        (self.anchor == other.anchor).then_some(signed)
    }
}
