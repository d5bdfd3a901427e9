//! The values of expressions.

use super::machine::{Machine, Part, State, ThreadIndex, to_bits};
use super::step::{Access, Choices, NoChoices};
use crate::expr::{BinaryOp, Expr, Place, UnaryOp};
use crate::ids::{LocalId, ObjectId};
use crate::program::Storage;
use crate::types::{IntType, Value};
use std::ops::Deref;

/// An undefined operation: the execution ends there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A divisor of zero.
    DivisionByZero,
    /// A signed result out of range.
    Overflow,
    /// A shift distance out of range.
    Shift,
    /// An access outside of any live object.
    InvalidAccess,
    /// A call or start through a pointer to no procedure.
    InvalidCallee,
    /// A join of a number that is no thread's id.
    InvalidThread,
    /// Freeing memory that was not allocated.
    InvalidFree,
    /// Reading a truth value that is neither 0 nor 1.
    InvalidBool,
}

/// A state that expressions are evaluated in.
pub(super) trait Held: Deref<Target = State> {
    /// Whether accesses to it are logged.
    const LOGGED: bool = true;
    /// Stores the values that were chosen for open bytes.
    fn close(&mut self, part: Part, size: u64, bits: u64);
}

impl Held for &mut State {
    fn close(&mut self, part: Part, size: u64, bits: u64) {
        State::close(self, part, size as usize, bits);
    }
}

/// The state before an assignment does not change.
impl Held for &State {
    fn close(&mut self, _: Part, _: u64, _: u64) {}
}

/// A read-only state.
struct ReadOnly<'a>(&'a State);

impl Deref for ReadOnly<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        self.0
    }
}

impl Held for ReadOnly<'_> {
    const LOGGED: bool = false;
    fn close(&mut self, _: Part, _: u64, _: u64) {}
}

/// The input and output of an evaluation.
pub(super) struct Context<'a, 'p, S = &'a mut State> {
    pub machine: &'a Machine<'p>,
    pub state: S,
    /// The state before an assignment, while its constraint is evaluated.
    pub old: Option<&'a State>,
    pub thread: ThreadIndex,
    pub choices: &'a mut dyn Choices,
    /// All accesses so far.
    pub log: &'a mut Vec<Access>,
    /// Whether accesses are atomic because of where the thread is.
    pub atomic: bool,
}

impl<S: Held> Context<'_, '_, S> {
    pub fn eval(&mut self, expr: &Expr) -> Result<Value, Fault> {
        match expr {
            Expr::Const(value, _) => Ok(*value),
            Expr::Local(local) => Ok(self.machine.local(&self.state, self.thread, *local)),
            Expr::Load(place) => self.load(place),
            Expr::Address(object, offset) => {
                Ok(Value::from(self.machine.address(&self.state, self.thread, *object) + offset))
            }
            Expr::Procedure(template) => Ok(Value::from(self.machine.addresses.procedure(*template))),
            Expr::Myself => Ok(self.thread as Value + 1),
            Expr::Unary(op, ty, operand) => {
                let value = self.eval(operand)?;
                match op {
                    UnaryOp::Not => Ok(ty.wrap(!value)),
                    UnaryOp::Neg => in_range(*ty, -value),
                }
            }
            Expr::Binary(op, ty, pair) => {
                let left = self.eval(&pair.0)?;
                let right = self.eval(&pair.1)?;
                apply(*op, *ty, left, right)
            }
            Expr::Cast(ty, operand) => {
                let value = self.eval(operand)?;
                Ok(if *ty == IntType::BOOL { Value::from(value != 0) } else { ty.wrap(value) })
            }
            Expr::IfThenElse(three) => {
                if self.eval(&three.0)? != 0 {
                    self.eval(&three.1)
                } else {
                    self.eval(&three.2)
                }
            }
            Expr::Overflows(op, ty, pair) => {
                let left = self.eval(&pair.0)?;
                let right = self.eval(&pair.1)?;
                Ok(Value::from(overflows(*op, *ty, left, right)))
            }
            Expr::Valid(pointer, 0) => {
                let address = self.eval(pointer)? as u64;
                Ok(Value::from(self.machine.may_be_freed(&self.state, address)))
            }
            Expr::Valid(pointer, size) => {
                let address = self.eval(pointer)? as u64;
                let root = self.eval(root(pointer))? as u64;
                let stays = match self.machine.object_start(&self.state, root) {
                    Some(home) => self.machine.object_start(&self.state, address) == Some(home),
                    None => true,
                };
                Ok(Value::from(stays && self.machine.is_valid(&self.state, address, *size)))
            }
            Expr::Old(operand) => {
                let before = self.old.expect("Old stands in constraints only");
                let (machine, thread, atomic) = (self.machine, self.thread, self.atomic);
                let (choices, log) = (&mut *self.choices, &mut *self.log);
                Context { machine, state: before, old: None, thread, choices, log, atomic }.eval(operand)
            }
        }
    }

    fn load(&mut self, place: &Place) -> Result<Value, Fault> {
        let address = self.eval(&place.address)? as u64;
        self.record(address, place.ty.bytes(), false, place.atomic);
        self.read(address, place.ty)
    }

    /// Logs an access.
    pub fn record(&mut self, address: u64, size: u64, write: bool, atomic: bool) {
        if S::LOGGED {
            self.log.push(Access { address, size, write, atomic: atomic || self.atomic });
        }
    }

    /// Reads a cell; open bytes are chosen.
    pub fn read(&mut self, address: u64, ty: IntType) -> Result<Value, Fault> {
        let size = ty.bytes();
        let part = self.machine.resolve(&self.state, address, size).ok_or(Fault::InvalidAccess)?;
        let (bytes, at) = self.state.bytes(part);
        if bytes.is_open(at, size as usize) {
            // Bytes that have a value keep it.
            let known = (0..size as usize).filter(|byte| !bytes.is_open(at + byte, 1));
            let known: Vec<(usize, u64)> = known.map(|byte| (byte, bytes.read(at + byte, 1))).collect();
            let chosen = self.choices.choose(super::Choice { ty, kind: super::ChoiceKind::Open });
            let mut bits = to_bits(chosen, ty);
            for (byte, value) in known {
                bits = bits & !(0xff << (8 * byte)) | value << (8 * byte);
            }
            self.state.close(part, size, bits);
            return Ok(ty.wrap(Value::from(bits)));
        }
        let raw = Value::from(bytes.read(at, size as usize));
        if ty == IntType::BOOL && raw > 1 {
            return Err(Fault::InvalidBool);
        }
        Ok(ty.wrap(raw))
    }
}

impl Context<'_, '_> {
    /// Writes a cell.
    pub fn write(&mut self, address: u64, ty: IntType, value: Value) -> Result<(), Fault> {
        let part = self.machine.resolve(self.state, address, ty.bytes()).ok_or(Fault::InvalidAccess)?;
        let (bytes, at) = self.state.bytes_mut(part);
        bytes.write(at, ty.bytes() as usize, to_bits(ty.wrap(value), ty));
        Ok(())
    }
}

impl Machine<'_> {
    /// The value of a local of a thread's running procedure.
    fn local(&self, state: &State, thread: ThreadIndex, local: LocalId) -> Value {
        let top = state.threads[thread].activations.last().expect("only live threads evaluate");
        let ty = self.program.templates[top.template].locals[local].ty;
        ty.wrap(Value::from(top.locals[local.0 as usize]))
    }

    /// The address of an object, as a thread sees it.
    fn address(&self, state: &State, thread: ThreadIndex, object: ObjectId) -> u64 {
        let offset = self.addresses.offset[object];
        match self.program.objects[object].storage {
            Storage::Static => offset,
            Storage::ThreadLocal => self.addresses.stack(thread) + offset,
            Storage::Frame(_) => {
                let top = state.threads[thread].activations.last().expect("only live threads evaluate");
                self.addresses.stack(thread) + top.frame + offset
            }
            Storage::Site => {
                unreachable!("an allocation site has no address; the well-formedness check rejects it")
            }
        }
    }

    /// The value of an expression in a state, as a thread sees it; the state stays as it is, open bytes read
    /// as 0.
    pub fn peek(&self, state: &State, thread: ThreadIndex, expr: &Expr) -> Result<Value, Fault> {
        let (state, choices, log) = (ReadOnly(state), &mut NoChoices, &mut Vec::new());
        Context { machine: self, state, old: None, thread, choices, log, atomic: false }.eval(expr)
    }
    /// Whether reading these bytes chooses their value: they are in a live object, and one of them is open.
    pub fn is_open(&self, state: &State, address: u64, size: u64) -> bool {
        self.resolve(state, address, size).is_some_and(|part| {
            let (bytes, at) = state.bytes(part);
            bytes.is_open(at, size as usize)
        })
    }
    /// The value of a cell in a state, if it is in a live object and has one; open bytes read as 0.
    pub fn peek_memory(&self, state: &State, address: u64, ty: IntType) -> Option<Value> {
        let part = self.resolve(state, address, ty.bytes())?;
        let (bytes, at) = state.bytes(part);
        let raw = Value::from(bytes.read(at, ty.bytes() as usize));
        (ty != IntType::BOOL || raw <= 1).then(|| ty.wrap(raw))
    }
}

/// What an address was computed from, by adding to it or subtracting from it.
pub(super) fn root(address: &Expr) -> &Expr {
    match address {
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair) => root(&pair.0),
        _ => address,
    }
}

fn in_range(ty: IntType, value: Value) -> Result<Value, Fault> {
    if ty.contains(value) {
        Ok(value)
    } else if ty.signed {
        Err(Fault::Overflow)
    } else {
        Ok(ty.wrap(value))
    }
}

/// The value of an operation on two values of a type (a shift's distance may be of any type).
pub fn apply(op: BinaryOp, ty: IntType, left: Value, right: Value) -> Result<Value, Fault> {
    let distance = || match u32::try_from(right) {
        Ok(distance) if distance < u32::from(ty.bits) => Ok(distance),
        _ => Err(Fault::Shift),
    };
    match op {
        BinaryOp::Add => in_range(ty, left + right),
        BinaryOp::Sub => in_range(ty, left - right),
        // Exact for signed operands; for unsigned ones exact modulo 2^128, hence modulo 2^bits.
        BinaryOp::Mul => in_range(ty, left.wrapping_mul(right)),
        BinaryOp::Div if right == 0 => Err(Fault::DivisionByZero),
        BinaryOp::Div => in_range(ty, left / right),
        BinaryOp::Rem if right == 0 => Err(Fault::DivisionByZero),
        // As in C, the remainder is undefined where the quotient is.
        BinaryOp::Rem => in_range(ty, left / right).map(|_| left % right),
        BinaryOp::And => Ok(left & right),
        BinaryOp::Or => Ok(left | right),
        BinaryOp::Xor => Ok(left ^ right),
        // In C, a signed shift that loses bits is undefined; all common compilers wrap, and programs rely on
        // it.
        BinaryOp::Shl => Ok(ty.wrap(left << distance()?)),
        BinaryOp::Shr => Ok(left >> distance()?),
        BinaryOp::Eq => Ok(Value::from(left == right)),
        BinaryOp::Ne => Ok(Value::from(left != right)),
        BinaryOp::Lt => Ok(Value::from(left < right)),
        BinaryOp::Le => Ok(Value::from(left <= right)),
    }
}

/// Whether the type is signed and the exact result of the operation is out of its range.
pub fn overflows(op: BinaryOp, ty: IntType, left: Value, right: Value) -> bool {
    match apply(op, ty, left, right) {
        Ok(_) if op == BinaryOp::Shl && ty.signed => !ty.contains(left << right),
        Ok(_) => false,
        Err(fault) => fault == Fault::Overflow,
    }
}
