//! The parser: operations and expressions.

use super::lexer::Token;
use super::local_handles;
use super::parser::{Parsed, Parser};
use super::{LOCK_KINDS, int_type, lock_word, sign, type_of};

use crate::expr::{BinaryOp, Expr, Place, Target, Targets, UnaryOp};
use crate::float::{FloatFormat, FloatOp};
use crate::ids::{Id, LocalId};
use crate::op::{Assignment, Broadcast, Callee, Lhs, LockKind, Op, Rhs};
use crate::types::{IntType, Value};

impl Parser {
    pub(super) fn op(&mut self) -> Parsed<Op> {
        let word = match self.peek() {
            Token::Word(word) => word.clone(),
            _ => return self.expected("an operation"),
        };
        match word.as_str() {
            "assume" => {
                self.advance();
                Ok(Op::Assume(self.expression()?))
            }
            "assign" => {
                self.advance();
                Ok(Op::Assign(Assignment { pairs: vec![], constraint: self.constraint()? }))
            }
            "lock" => {
                self.advance();
                Ok(Op::Lock(self.lock_kind()?, self.expression()?))
            }
            "unlock" => {
                self.advance();
                Ok(Op::Unlock(self.lock_kind()?, self.expression()?))
            }
            "free" => {
                self.advance();
                Ok(Op::Free(self.expression()?))
            }
            "fill" => {
                self.advance();
                let (to, byte, size) = self.three()?;
                Ok(Op::Fill(to, byte, size))
            }
            "copy" => {
                self.advance();
                let (to, from, size) = self.three()?;
                Ok(Op::Copy(to, from, size))
            }
            "broadcast" => self.broadcast(),
            "spawn" | "join" | "call" => self.with_result(None),
            _ => {
                let lhs = self.lhs()?;
                self.sign(":=")?;
                let started = ["spawn", "join", "call", "allocate"];
                if started.into_iter().any(|word| self.is_word(word)) {
                    return self.with_result(Some(lhs));
                }
                self.assignment(lhs)
            }
        }
    }

    /// The others are in an earlier procedure, or in this one.
    fn broadcast(&mut self) -> Parsed<Op> {
        self.advance();
        let to = self.known_template()?;
        let earlier = self.program.templates.get(to);
        if earlier.is_none() && to.index() != self.program.templates.len() {
            return self.error("the procedure of a broadcast must come before it, or be the current one");
        }
        let locals =
            earlier.map(|template| local_handles(template).into_iter().zip((0..).map(LocalId)).collect());
        let others = locals.unwrap_or_else(|| self.locals.clone());
        self.sign("(")?;
        let mut arguments = Vec::new();
        while !self.take_sign(")") {
            if !arguments.is_empty() {
                self.sign(",")?;
            }
            let own = std::mem::replace(&mut self.locals, others.clone());
            let local = self.known_local();
            self.locals = own;
            let local = local?;
            self.sign(":=")?;
            arguments.push((local, self.expression()?));
        }
        // The others' locals, and their types, count while the assignment is read.
        let own = std::mem::replace(&mut self.locals, others);
        let template = self.program.templates.get(to).cloned().map(|other| self.template.replace(other));
        let assignment = self.op();
        self.locals = own;
        if let Some(template) = template {
            self.template = template;
        }
        match assignment? {
            Op::Assign(assignment) => Ok(Op::Broadcast(Broadcast { to, arguments, assignment })),
            _ => self.error("others only assign"),
        }
    }

    /// An operation that may have a result, after the left-hand side.
    fn with_result(&mut self, result: Option<Lhs>) -> Parsed<Op> {
        if self.take_word("spawn") {
            let (callee, arguments) = self.callee()?;
            return Ok(Op::Spawn(callee, arguments, result));
        }
        if self.take_word("call") {
            let (callee, arguments) = self.callee()?;
            return Ok(Op::Call(callee, arguments, result));
        }
        if self.take_word("join") {
            return Ok(Op::Join(self.expression()?, result));
        }
        let Some(result) = result else { return self.expected("an operation") };
        self.word("allocate")?;
        let site = self.known_object()?;
        let size = self.expression()?;
        let zeroed = self.take_word("zeroed");
        Ok(Op::Allocate { site, size, zeroed, result })
    }

    /// The rest of an assignment, after the first `:=`.
    fn assignment(&mut self, first: Lhs) -> Parsed<Op> {
        let mut pairs = vec![(first, self.rhs()?)];
        while self.take_sign(",") {
            let lhs = self.lhs()?;
            self.sign(":=")?;
            pairs.push((lhs, self.rhs()?));
        }
        Ok(Op::Assign(Assignment { pairs, constraint: self.constraint()? }))
    }

    fn constraint(&mut self) -> Parsed<Option<Expr>> {
        if self.take_word("where") { Ok(Some(self.expression()?)) } else { Ok(None) }
    }

    fn rhs(&mut self) -> Parsed<Rhs> {
        if self.take_word("any") {
            Ok(Rhs::Any)
        } else if self.take_word("unknown") {
            Ok(Rhs::Unknown)
        } else if self.take_word("float") {
            self.float()
        } else {
            Ok(Rhs::Value(self.expression()?))
        }
    }

    fn float(&mut self) -> Parsed<Rhs> {
        let format = self.float_format()?;
        let plain = [
            ("add", FloatOp::Add),
            ("sub", FloatOp::Sub),
            ("mul", FloatOp::Mul),
            ("div", FloatOp::Div),
            ("neg", FloatOp::Neg),
            ("eq", FloatOp::Eq),
            ("lt", FloatOp::Lt),
            ("le", FloatOp::Le),
            ("from", FloatOp::FromInteger),
        ];
        let op = match plain.into_iter().find(|(word, _)| self.take_word(word)) {
            Some((_, op)) => op,
            None if self.take_word("integer") => FloatOp::ToInteger(self.type_name()?),
            None if self.take_word("to") => FloatOp::To(self.float_format()?),
            None => return self.expected("a floating-point operation"),
        };
        // What comes after the last operand is the next operation.
        let mut operands = Vec::new();
        while operands.len() < op.operands() && self.take_sign(";") {
            operands.push(self.expression()?);
        }
        Ok(Rhs::Float(op, format, operands))
    }

    fn float_format(&mut self) -> Parsed<FloatFormat> {
        match self.type_name()? {
            IntType::U32 => Ok(FloatFormat::Single),
            IntType::U64 => Ok(FloatFormat::Double),
            _ => self.expected("`u32` or `u64`"),
        }
    }

    fn lhs(&mut self) -> Parsed<Lhs> {
        if self.starts_place() { Ok(Lhs::Memory(self.place()?)) } else { Ok(Lhs::Local(self.known_local()?)) }
    }

    fn lock_kind(&mut self) -> Parsed<LockKind> {
        match LOCK_KINDS.into_iter().find(|kind| self.is_word(lock_word(*kind))) {
            Some(kind) => {
                self.advance();
                Ok(kind)
            }
            None => self.expected("`mutex`, `spin`, `read` or `write`"),
        }
    }

    fn callee(&mut self) -> Parsed<(Callee, Vec<Expr>)> {
        let callee = if self.take_sign("*") {
            Callee::Pointer(self.operand()?)
        } else {
            Callee::Procedure(self.known_template()?)
        };
        self.sign("(")?;
        let mut arguments = Vec::new();
        while !self.take_sign(")") {
            arguments.push(self.expression()?);
            if !self.is_sign(")") {
                self.sign(",")?;
            }
        }
        Ok((callee, arguments))
    }

    fn three(&mut self) -> Parsed<(Expr, Expr, Expr)> {
        self.sign("(")?;
        let first = self.expression()?;
        self.sign(",")?;
        let second = self.expression()?;
        self.sign(",")?;
        let third = self.expression()?;
        self.sign(")")?;
        Ok((first, second, third))
    }

    fn starts_place(&self) -> bool {
        match self.peek() {
            Token::Word(word) if word == "atomic" => true,
            Token::Word(word) => int_type(word).is_some() && matches!(self.peek_second(), Token::Sign("[")),
            Token::Number(..) | Token::Text(_) | Token::Sign(_) | Token::End => false,
        }
    }

    fn place(&mut self) -> Parsed<Place> {
        let atomic = self.take_word("atomic");
        let ty = self.type_name()?;
        self.sign("[")?;
        let address = self.expression()?;
        let mut targets = Targets::Any;
        if self.take_word("in") {
            self.sign("{")?;
            let mut found = Vec::new();
            while !self.take_sign("}") {
                found.push(self.target()?);
                if !self.is_sign("}") {
                    self.sign(",")?;
                }
            }
            targets = Targets::Of(found.into());
        }
        self.sign("]")?;
        Ok(Place { address, ty, atomic, targets })
    }

    fn target(&mut self) -> Parsed<Target> {
        let object = self.known_object()?;
        let first = if self.take_sign("+") { self.number()? } else { 0 };
        let (mut stride, mut count) = (0, 1);
        if self.take_word("by") {
            stride = self.number()?;
            self.word("times")?;
            count = if self.take_word("any") { u64::MAX } else { self.number()? };
        }
        Ok(Target { object, first, stride, count })
    }

    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let left = self.operand()?;
        match self.binary_sign() {
            Some(op) => {
                let (ty, pair) = self.right_operand(op, left)?;
                Ok(Expr::Binary(op, ty, pair))
            }
            None => Ok(left),
        }
    }

    fn binary_sign(&self) -> Option<BinaryOp> {
        BinaryOp::ALL.into_iter().find(|op| self.is_sign(sign(*op)))
    }

    /// The operator, the operation's type, and its operands.
    fn right_operand(&mut self, op: BinaryOp, left: Expr) -> Parsed<(IntType, Box<(Expr, Expr)>)> {
        self.sign(sign(op))?;
        let ty = self.operation_type()?;
        let right = self.operand()?;
        let ty = match ty {
            Some(ty) => ty,
            None => self.type_of(&left)?,
        };
        if self.binary_sign().is_some() {
            return self.error("operations have no precedence here: put one of them in parentheses");
        }
        Ok((ty, Box::new((left, right))))
    }

    /// The type after the operator, if it is given.
    fn operation_type(&mut self) -> Parsed<Option<IntType>> {
        if self.take_sign(":") { Ok(Some(self.type_name()?)) } else { Ok(None) }
    }

    fn type_of(&self, expr: &Expr) -> Parsed<IntType> {
        match type_of(self.program.data_model, self.template.as_ref(), expr) {
            Some(ty) => Ok(ty),
            None => self.error("the type of the operation before this is not known"),
        }
    }

    fn operand(&mut self) -> Parsed<Expr> {
        self.nested(Self::operand_here)
    }

    fn operand_here(&mut self) -> Parsed<Expr> {
        match self.peek() {
            Token::Number(..) => self.constant(false),
            Token::Sign("-") => {
                self.advance();
                if matches!(self.peek(), Token::Number(..)) {
                    return self.constant(true);
                }
                self.unary(UnaryOp::Neg)
            }
            Token::Sign("~") => {
                self.advance();
                self.unary(UnaryOp::Not)
            }
            Token::Sign("!") => {
                self.advance();
                Ok(Expr::unary(UnaryOp::Not, IntType::BOOL, self.operand()?))
            }
            Token::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.sign(")")?;
                Ok(inner)
            }
            Token::Sign("&") => {
                self.advance();
                if !self.take_sign("(") {
                    return Ok(Expr::Address(self.known_object()?, 0));
                }
                let object = self.known_object()?;
                self.sign("+")?;
                let offset = self.number()?;
                self.sign(")")?;
                Ok(Expr::Address(object, offset))
            }
            Token::Word(_) if self.starts_place() => Ok(Expr::load(self.place()?)),
            Token::Word(word) => {
                let word = word.clone();
                self.named(&word)
            }
            Token::Text(_) | Token::Sign(_) | Token::End => self.expected("an expression"),
        }
    }

    fn unary(&mut self, op: UnaryOp) -> Parsed<Expr> {
        let ty = self.operation_type()?;
        let operand = self.operand()?;
        let ty = match ty {
            Some(ty) => ty,
            None => self.type_of(&operand)?,
        };
        Ok(Expr::unary(op, ty, operand))
    }

    /// An expression that starts with this word.
    fn named(&mut self, word: &str) -> Parsed<Expr> {
        match word {
            "true" | "false" => {
                self.advance();
                Ok(Expr::bool(word == "true"))
            }
            "myself" => {
                self.advance();
                Ok(Expr::Myself)
            }
            "procedure" => {
                self.advance();
                Ok(Expr::Procedure(self.known_template()?))
            }
            "if" => {
                self.advance();
                Ok(Expr::IfThenElse(Box::new(self.three()?)))
            }
            "overflows" => {
                self.advance();
                self.sign("(")?;
                let left = self.operand()?;
                let Some(op) = self.binary_sign() else {
                    return self.expected("an operation on two operands");
                };
                let (ty, pair) = self.right_operand(op, left)?;
                self.sign(")")?;
                Ok(Expr::Overflows(op, ty, pair))
            }
            "valid" => {
                self.advance();
                self.sign("(")?;
                let address = self.expression()?;
                self.sign(",")?;
                let size = self.number()?;
                self.sign(")")?;
                Ok(Expr::Valid(Box::new(address), size))
            }
            "old" => {
                self.advance();
                self.sign("(")?;
                let operand = self.expression()?;
                self.sign(")")?;
                Ok(Expr::Old(Box::new(operand)))
            }
            _ => match int_type(word) {
                Some(ty) => {
                    self.advance();
                    self.sign("(")?;
                    let operand = self.expression()?;
                    self.sign(")")?;
                    Ok(Expr::cast(ty, operand))
                }
                None => Ok(Expr::Local(self.known_local()?)),
            },
        }
    }

    /// A number, after its sign.
    fn constant(&mut self, negative: bool) -> Parsed<Expr> {
        let Token::Number(magnitude, suffix) = self.peek() else { return self.expected("a number") };
        let ty = if suffix.is_empty() { Some(IntType::I32) } else { int_type(suffix) };
        let Some(ty) = ty else { return self.error(format!("`{suffix}` is no integer type")) };
        let magnitude = *magnitude;
        let value =
            if negative { 0i128.checked_sub_unsigned(magnitude) } else { Value::try_from(magnitude).ok() };
        let Some(value) = value else { return self.error("the number is too large") };
        self.advance();
        Ok(Expr::Const(value, ty))
    }
}
