//! Operations and expressions as compact text, much as the user would write them in C.
//!
//! For readers only: casts that change nothing are omitted, and a name may be ambiguous. The exact text form
//! is [`ir::text`].

use ir::{
    BinaryOp, Callee, Expr, IntType, Layout, Lhs, LockKind, ObjectId, Op, Place, Program, Rhs, Span,
    Template, TemplateId, UnaryOp,
};

/// An operation.
pub fn op(program: &Program, template: &Template, op: &Op) -> String {
    Text { program, template }.op(op)
}

/// An expression.
pub fn expression(program: &Program, template: &Template, expr: &Expr) -> String {
    Text { program, template }.expression(expr, 0)
}

/// A left-hand side.
pub fn left_hand_side(program: &Program, template: &Template, lhs: &Lhs) -> String {
    Text { program, template }.lhs(lhs)
}

/// A memory cell by object and offset: `x`, `a[2]`, `s.next`, or `x+3` where the layout does not name it.
pub fn cell(program: &Program, object: ObjectId, offset: u64) -> String {
    ir::names::cell(program, object, offset, false)
}

/// A position as `file:line`; empty if it is not known.
pub fn position(program: &Program, span: Span) -> String {
    match program.files.get(span.file as usize) {
        Some(file) if span.line > 0 => format!("{file}:{}", span.line),
        _ => String::new(),
    }
}

struct Text<'p> {
    program: &'p Program,
    template: &'p Template,
}

/// The precedence of operators in C.
const UNARY: u8 = 11;
const CHOICE: u8 = 1;

fn binding(op: BinaryOp, ty: IntType) -> (u8, &'static str) {
    let boolean = ty == IntType::BOOL;
    match op {
        BinaryOp::Mul => (10, "*"),
        BinaryOp::Div => (10, "/"),
        BinaryOp::Rem => (10, "%"),
        BinaryOp::Add => (9, "+"),
        BinaryOp::Sub => (9, "-"),
        BinaryOp::Shl => (8, "<<"),
        BinaryOp::Shr => (8, ">>"),
        BinaryOp::Lt => (7, "<"),
        BinaryOp::Le => (7, "<="),
        BinaryOp::Eq => (6, "=="),
        BinaryOp::Ne => (6, "!="),
        BinaryOp::And => {
            if boolean {
                (3, "&&")
            } else {
                (5, "&")
            }
        }
        BinaryOp::Xor => (4, "^"),
        BinaryOp::Or => {
            if boolean {
                (2, "||")
            } else {
                (4, "|")
            }
        }
    }
}

/// The negated comparison.
fn negated(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Eq => Some("!="),
        BinaryOp::Ne => Some("=="),
        BinaryOp::Lt => Some(">="),
        BinaryOp::Le => Some(">"),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr => None,
    }
}

fn parenthesised(text: String, inner: u8, outer: u8) -> String {
    if inner < outer { format!("({text})") } else { text }
}

impl Text<'_> {
    fn op(&self, op: &Op) -> String {
        match op {
            Op::Assume(condition) => format!("[{}]", self.expression(condition, 0)),
            Op::Assign(assignment) => {
                let pairs = assignment.pairs.iter().map(|(lhs, rhs)| match rhs {
                    Rhs::Value(value) => format!("{} = {}", self.lhs(lhs), self.expression(value, 0)),
                    Rhs::Any => format!("{} = *", self.lhs(lhs)),
                    Rhs::Unknown => format!("{} = ?", self.lhs(lhs)),
                    Rhs::Float(op, _, operands) => {
                        let operands = operands.iter().map(|operand| self.expression(operand, 0));
                        let operands = operands.collect::<Vec<_>>().join(", ");
                        format!("{} = {op:?}({operands})", self.lhs(lhs))
                    }
                });
                let mut text = pairs.collect::<Vec<_>>().join(", ");
                if let Some(constraint) = &assignment.constraint {
                    text += &format!(" with {}", self.expression(constraint, 0));
                }
                text
            }
            Op::Lock(kind, address) => format!("{}({})", lock_word(*kind, true), self.pointee(address)),
            Op::Unlock(kind, address) => format!("{}({})", lock_word(*kind, false), self.pointee(address)),
            Op::Spawn(callee, arguments, result) => {
                format!("{}spawn {}", self.result(result.as_ref()), self.call(callee, arguments))
            }
            Op::Join(thread, result) => {
                format!("{}join({})", self.result(result.as_ref()), self.expression(thread, 0))
            }
            Op::Allocate { site, size, zeroed, result } => {
                let name = self.program.objects.get(*site).map_or("", |object| object.name.as_str());
                let word = if *zeroed { "allocate_zeroed" } else { "allocate" };
                format!("{} = {word}({}) /* {name} */", self.lhs(result), self.expression(size, 0))
            }
            Op::Free(address) => format!("free({})", self.expression(address, 0)),
            Op::Fill(to, byte, size) => format!("fill({})", self.list([to, byte, size])),
            Op::Copy(to, from, size) => format!("copy({})", self.list([to, from, size])),
            Op::Broadcast(broadcast) => {
                let to =
                    self.program.templates.get(broadcast.to).map_or("", |template| template.name.as_str());
                format!("tell all others in {to}")
            }
            Op::Call(callee, arguments, result) => {
                format!("{}{}", self.result(result.as_ref()), self.call(callee, arguments))
            }
        }
    }

    fn list<'e>(&self, items: impl IntoIterator<Item = &'e Expr>) -> String {
        items.into_iter().map(|item| self.expression(item, 0)).collect::<Vec<_>>().join(", ")
    }

    fn call(&self, callee: &Callee, arguments: &[Expr]) -> String {
        let callee = match callee {
            Callee::Procedure(template) => self.procedure(*template),
            Callee::Pointer(pointer) => format!("(*{})", self.expression(pointer, UNARY)),
        };
        format!("{callee}({})", self.list(arguments))
    }

    fn procedure(&self, template: TemplateId) -> String {
        self.program.templates.get(template).map_or_else(|| template.to_string(), |found| found.name.clone())
    }

    fn result(&self, lhs: Option<&Lhs>) -> String {
        lhs.map_or_else(String::new, |lhs| format!("{} = ", self.lhs(lhs)))
    }

    fn lhs(&self, lhs: &Lhs) -> String {
        match lhs {
            Lhs::Local(local) => self.expression(&Expr::Local(*local), 0),
            Lhs::Memory(place) => self.place(place),
        }
    }

    fn place(&self, place: &Place) -> String {
        self.pointee(&place.address)
    }

    /// The memory at an address.
    fn pointee(&self, address: &Expr) -> String {
        match address {
            Expr::Address(object, offset) => cell(self.program, *object, *offset),
            Expr::Binary(BinaryOp::Add, _, pair) => match self.element(&pair.0, &pair.1) {
                Some(text) => text,
                None => format!("*({})", self.expression(address, 0)),
            },
            _ => format!("*{}", self.expression(address, UNARY)),
        }
    }

    /// `array[index]`, if an address is the sum of an array's and a multiple of its stride.
    fn element(&self, base: &Expr, distance: &Expr) -> Option<String> {
        let Expr::Address(object, offset) = base else { return None };
        let Layout::Array { stride, .. } = &self.program.objects.get(*object)?.layout else { return None };
        if *offset != 0 {
            return None;
        }
        let index = match distance {
            Expr::Binary(BinaryOp::Mul, _, pair) => match (&pair.0, &pair.1) {
                (index, Expr::Const(factor, _)) | (Expr::Const(factor, _), index)
                    if *factor == i128::from(*stride) =>
                {
                    index
                }
                _ => return None,
            },
            other if *stride == 1 => other,
            _ => return None,
        };
        Some(format!("{}[{}]", cell_name(self.program, *object), self.expression(strip(index), 0)))
    }

    /// An expression where operators that bind less tightly than `outer` need parentheses.
    fn expression(&self, expr: &Expr, outer: u8) -> String {
        match expr {
            Expr::Const(value, IntType::BOOL) => (*value != 0).to_string(),
            Expr::Const(value, _) => value.to_string(),
            Expr::Local(local) => match self.template.locals.get(*local) {
                Some(found) if !found.name.is_empty() => found.name.clone(),
                _ => local.to_string(),
            },
            Expr::Load(place) => self.place(place),
            Expr::Address(object, offset) => format!("&{}", cell(self.program, *object, *offset)),
            Expr::Procedure(template) => format!("&{}", self.procedure(*template)),
            Expr::Myself => "self()".to_owned(),
            Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => match &**operand {
                Expr::Binary(op, ty, pair) if negated(*op).is_some() => {
                    let (level, _) = binding(*op, *ty);
                    let sign = negated(*op).unwrap_or_default();
                    parenthesised(self.infix(level, sign, pair), level, outer)
                }
                other => format!("!{}", self.expression(other, UNARY)),
            },
            Expr::Unary(UnaryOp::Not, _, operand) => format!("~{}", self.expression(operand, UNARY)),
            Expr::Unary(UnaryOp::Neg, _, operand) => {
                let operand = self.expression(operand, UNARY);
                // Not `--x`.
                if operand.starts_with('-') { format!("-({operand})") } else { format!("-{operand}") }
            }
            Expr::Binary(op, ty, pair) => {
                let (level, sign) = binding(*op, *ty);
                parenthesised(self.infix(level, sign, pair), level, outer)
            }
            Expr::Cast(ty, operand) => {
                if self.keeps_value(*ty, operand) {
                    self.expression(operand, outer)
                } else {
                    format!("({ty}){}", self.expression(operand, UNARY))
                }
            }
            Expr::IfThenElse(three) => {
                let condition = self.expression(&three.0, CHOICE + 1);
                let (yes, no) = (self.expression(&three.1, 0), self.expression(&three.2, CHOICE));
                parenthesised(format!("{condition} ? {yes} : {no}"), CHOICE, outer)
            }
            Expr::Overflows(op, ty, pair) => {
                let (level, sign) = binding(*op, *ty);
                format!("overflows({})", self.infix(level, sign, pair))
            }
            Expr::Valid(address, 0) => format!("may_be_freed({})", self.expression(address, 0)),
            Expr::Valid(address, size) => format!("valid({}, {size})", self.expression(address, 0)),
            Expr::Old(operand) => format!("old({})", self.expression(operand, 0)),
        }
    }

    fn infix(&self, level: u8, sign: &str, pair: &(Expr, Expr)) -> String {
        format!("{} {sign} {}", self.expression(&pair.0, level), self.expression(&pair.1, level + 1))
    }

    /// Whether a cast changes no value of its operand.
    fn keeps_value(&self, ty: IntType, operand: &Expr) -> bool {
        let mut missing = false;
        operand.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                missing |= self.template.locals.get(*local).is_none();
            }
        });
        if missing {
            return false;
        }
        let from = self.program.type_in(self.template, operand);
        ty != IntType::BOOL && ty.contains(from.min()) && ty.contains(from.max())
    }
}

fn cell_name(program: &Program, object: ObjectId) -> String {
    match program.objects.get(object) {
        Some(found) if !found.name.is_empty() => found.name.clone(),
        _ => object.to_string(),
    }
}

/// An index without the casts to the pointer's width.
fn strip(mut expr: &Expr) -> &Expr {
    while let Expr::Cast(ty, operand) = expr {
        if ty.bits < 32 {
            break;
        }
        expr = operand;
    }
    expr
}

fn lock_word(kind: LockKind, take: bool) -> &'static str {
    match (kind, take) {
        (LockKind::Mutex | LockKind::Spin, true) => "lock",
        (LockKind::Mutex | LockKind::Spin, false) => "unlock",
        (LockKind::Read, true) => "read_lock",
        (LockKind::Read, false) => "read_unlock",
        (LockKind::Write, true) => "write_lock",
        (LockKind::Write, false) => "write_unlock",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::EdgeId;

    #[track_caller]
    fn check(op_text: &str, expected: &str) {
        let text = format!(
            "program lp64
            static x: i32 static a: [3 of i32] static s: {{ first: i32 at 0, next: [2 of {{ \"in\": u8 at 0 }}] at 4 }}
            static m: mutex size 40 site block: i32
            template main(i: i32, p: u64, b: bool, c: u8) {{ result i locations 2 l0 -> l1: {op_text} }}"
        );
        let program = ir::text::parse(&text).expect("it is a program");
        assert_eq!(ir::check::check(&program), Ok(()));
        let template = &program.templates[TemplateId(0)];
        assert_eq!(op(&program, template, &template.edges[EdgeId(0)].ops[0]), expected);
    }

    #[test]
    fn operations_look_like_c() {
        check("i32[&x] := (i + 1) * (2 - (i - 3))", "x = (i + 1) * (2 - (i - 3))");
        check("i := (i - 1) - 2", "i = i - 1 - 2");
        check("assume !(i32[&(a + 8)] < i)", "[a[2] >= i]");
        check("assume (b & !b) | (i == -(i))", "[b && !b || i == -i]");
        check("assume u64(c) < p", "[c < p]");
        check("c := u8(i)", "c = (u8)i");
        check("i := i32[&a + (u64(i) * 4u64)]", "i = a[i]");
        check("i := i32[p + 4u64]", "i = *(p + 4)");
        check("i := i32[p]", "i = *p");
        check("u8[&(s + 5)] := any", "s.next[1].in = *");
        check("i := unknown where i < old(i)", "i = ? with i < old(i)");
        check("lock mutex &m", "lock(m)");
        check("unlock read p", "read_unlock(*p)");
        check("p := spawn main(1, p, b, c)", "p = spawn main(1, p, b, c)");
        check("i := call *p(if(b, 1, 2))", "i = (*p)(b ? 1 : 2)");
        check("join p", "join(p)");
        check("p := allocate block 4u64", "p = allocate(4) /* block */");
        check("copy(p, &(x + 1), 2u64)", "copy(p, &x+1, 2)");
    }
}
