//! Shadow values: beside the values of an execution, how they were computed from its inputs (dynamic symbolic
//! execution: Godefroid, Klarlund and Sen, "DART", PLDI 2005).
//!
//! A heuristic: addresses count as constants, and so do terms that would be too large. The machine runs the
//! resulting execution like any other.

use ir::semantics::{Machine, State, ThreadIndex, apply, overflows};
use ir::{
    Assignment, BinaryOp, Callee, Expr, IntType, Lhs, LocalId, Op, Place, Rhs, TemplateId, UnaryOp, Value,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The largest shadow value, in nodes, and the most inputs of one.
const LARGEST: usize = 2_000;
const MOST_INPUTS: usize = 16;
/// Bytes that one copy moves with their shadows.
const MOST_COPIED: u64 = 1 << 14;

/// The number of an input of an execution, in the order in which they are asked for.
pub(super) type InputNumber = u32;

/// A value as it was computed from inputs.
#[derive(Debug)]
pub(super) struct Shadow {
    pub(super) node: Node,
    /// The inputs, in rising order.
    pub(super) inputs: Vec<InputNumber>,
    size: usize,
}

/// How a value is computed.
#[derive(Debug)]
pub(super) enum Node {
    Const(Value),
    Input(InputNumber),
    Unary(UnaryOp, IntType, Rc<Shadow>),
    Binary(BinaryOp, IntType, Rc<Shadow>, Rc<Shadow>),
    Overflows(BinaryOp, IntType, Rc<Shadow>, Rc<Shadow>),
    Cast(IntType, Rc<Shadow>),
    IfThenElse(Rc<Shadow>, Rc<Shadow>, Rc<Shadow>),
    /// A byte of a value, from the lowest.
    Byte(Rc<Shadow>, u32),
    /// A value of a type from its bytes, the lowest first.
    Bytes(IntType, Vec<Rc<Shadow>>),
}

impl Shadow {
    pub(super) fn constant(value: Value) -> Rc<Self> {
        Rc::new(Self { node: Node::Const(value), inputs: Vec::new(), size: 1 })
    }
    pub(super) fn input(number: InputNumber) -> Rc<Self> {
        Rc::new(Self { node: Node::Input(number), inputs: vec![number], size: 1 })
    }
    /// A node; `None` where it is too large, or rests on no input.
    fn of(node: Node) -> Option<Rc<Self>> {
        let mut inputs: Vec<InputNumber> = Vec::new();
        let mut size = 1;
        for operand in node.operands() {
            size += operand.size;
            inputs.extend(&operand.inputs);
        }
        inputs.sort_unstable();
        inputs.dedup();
        let is_kept = !inputs.is_empty() && inputs.len() <= MOST_INPUTS && size <= LARGEST;
        is_kept.then(|| Rc::new(Self { node, inputs, size }))
    }
    /// The condition that an input has a value.
    pub(super) fn is(number: InputNumber, value: Value) -> Rc<Self> {
        let (input, value) = (Self::input(number), Self::constant(value));
        let node = Node::Binary(BinaryOp::Eq, IntType::U8, input, value);
        Rc::new(Self { node, inputs: vec![number], size: 3 })
    }
    /// The condition that it does not hold.
    pub(super) fn negated(condition: &Rc<Self>) -> Option<Rc<Self>> {
        Self::of(Node::Unary(UnaryOp::Not, IntType::BOOL, condition.clone()))
    }
    /// Its value where inputs have these values; `None` where it has no meaning.
    pub(super) fn value(&self, inputs: &dyn Fn(InputNumber) -> Value) -> Option<Value> {
        match &self.node {
            Node::Const(value) => Some(*value),
            Node::Input(number) => Some(inputs(*number)),
            Node::Unary(op, ty, operand) => {
                let value = operand.value(inputs)?;
                match op {
                    UnaryOp::Not => Some(ty.wrap(!value)),
                    UnaryOp::Neg if ty.signed => Some(-value).filter(|value| ty.contains(*value)),
                    UnaryOp::Neg => Some(ty.wrap(-value)),
                }
            }
            Node::Binary(op, ty, left, right) => {
                apply(*op, *ty, left.value(inputs)?, right.value(inputs)?).ok()
            }
            Node::Overflows(op, ty, left, right) => {
                Some(Value::from(overflows(*op, *ty, left.value(inputs)?, right.value(inputs)?)))
            }
            Node::Cast(ty, operand) => {
                let value = operand.value(inputs)?;
                Some(if *ty == IntType::BOOL { Value::from(value != 0) } else { ty.wrap(value) })
            }
            Node::IfThenElse(condition, one, other) => {
                if condition.value(inputs)? != 0 {
                    one.value(inputs)
                } else {
                    other.value(inputs)
                }
            }
            Node::Byte(operand, number) => Some((operand.value(inputs)? >> (8 * number)) & 0xff),
            Node::Bytes(ty, bytes) => {
                let mut value = 0;
                for (number, byte) in bytes.iter().enumerate() {
                    value |= (byte.value(inputs)? & 0xff) << (8 * number);
                }
                Some(ty.wrap(value))
            }
        }
    }
    /// All constants in it.
    pub(super) fn constants(&self, found: &mut Vec<Value>) {
        if let Node::Const(value) = &self.node {
            found.push(*value);
        }
        for operand in self.node.operands() {
            operand.constants(found);
        }
    }
}

impl Node {
    fn operands(&self) -> Vec<&Rc<Shadow>> {
        match self {
            Self::Const(_) | Self::Input(_) => Vec::new(),
            Self::Unary(_, _, operand) | Self::Cast(_, operand) | Self::Byte(operand, _) => vec![operand],
            Self::Binary(_, _, left, right) | Self::Overflows(_, _, left, right) => vec![left, right],
            Self::IfThenElse(condition, one, other) => vec![condition, one, other],
            Self::Bytes(_, bytes) => bytes.iter().collect(),
        }
    }
}

/// An activation of a procedure.
struct Frame {
    template: TemplateId,
    locals: FxHashMap<LocalId, Rc<Shadow>>,
    /// Where its result goes.
    result: Option<Lhs>,
}

/// The shadows of a state.
#[derive(Default)]
pub(super) struct Shadows {
    /// Of each byte: the value that it belongs to, and its number in it.
    memory: FxHashMap<u64, (Rc<Shadow>, u32)>,
    frames: Vec<Vec<Frame>>,
    /// The shadows of the arguments of a thread that is about to start.
    arguments: Vec<Option<Rc<Shadow>>>,
    /// Conditions on inputs that the last operation imposed.
    pub(super) imposed: Vec<Rc<Shadow>>,
}

/// What an operation is looked at with.
#[derive(Clone, Copy)]
pub(super) struct View<'a, 'p> {
    pub(super) machine: &'a Machine<'p>,
    pub(super) state: &'a State,
    pub(super) thread: ThreadIndex,
}

impl View<'_, '_> {
    fn peek(&self, expr: &Expr) -> Option<Value> {
        self.machine.peek(self.state, self.thread, expr).ok()
    }
}

impl Shadows {
    /// Of a state in which threads begin.
    pub(super) fn new(state: &State) -> Self {
        let mut shadows = Self::default();
        shadows.start(state);
        shadows
    }

    /// Takes note of threads that were started.
    fn start(&mut self, state: &State) {
        for thread in &state.threads[self.frames.len()..] {
            let mut locals = FxHashMap::default();
            for (number, argument) in self.arguments.drain(..).enumerate() {
                locals.extend(argument.map(|shadow| (LocalId(number as u32), shadow)));
            }
            self.frames.push(vec![Frame { template: thread.template, locals, result: None }]);
        }
    }

    /// Follows an operation that is about to be run. `next`: the number of the next input.
    pub(super) fn see(&mut self, view: View<'_, '_>, op: &Op, next: &mut InputNumber) {
        let address = |expr: &Expr| view.peek(expr).map(|address| address as u64);
        match op {
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Broadcast(_) => {}
            Op::Assign(assignment) => self.assign(view, assignment, next),
            Op::Copy(to, from, size) => {
                let (Some(to), Some(from), Some(size)) = (address(to), address(from), address(size)) else {
                    return;
                };
                if self.memory.is_empty() || size > MOST_COPIED {
                    return;
                }
                let moved: Vec<_> =
                    (from..from.saturating_add(size)).map(|at| self.memory.get(&at).cloned()).collect();
                for (at, shadow) in (to..).zip(moved) {
                    match shadow {
                        Some(shadow) => self.memory.insert(at, shadow),
                        None => self.memory.remove(&at),
                    };
                }
            }
            Op::Fill(to, _, size) => {
                if let (Some(to), Some(size)) = (address(to), address(size)) {
                    self.clear(to, size);
                }
            }
            Op::Call(callee, arguments, result) => {
                let template = match callee {
                    Callee::Procedure(template) => Some(*template),
                    Callee::Pointer(pointer) => {
                        address(pointer).and_then(|address| view.machine.addresses.procedure_at(address))
                    }
                };
                let Some(template) = template else { return };
                let mut frame = Frame { template, locals: FxHashMap::default(), result: result.clone() };
                for (number, argument) in arguments.iter().enumerate() {
                    let shadow = self.of(view, argument, next);
                    frame.locals.extend(shadow.map(|shadow| (LocalId(number as u32), shadow)));
                }
                self.frames[view.thread].push(frame);
            }
            Op::Spawn(_, arguments, result) => {
                self.arguments = arguments.iter().map(|argument| self.of(view, argument, next)).collect();
                self.set_optional(view, result.as_ref(), None);
            }
            Op::Join(_, result) => self.set_optional(view, result.as_ref(), None),
            Op::Allocate { result, .. } => self.set(view, result, None),
        }
    }

    /// Takes note of procedures that have ended, and of threads that were started.
    pub(super) fn arrive(&mut self, view: View<'_, '_>) {
        self.start(view.state);
        let depth = view.state.threads[view.thread].activations.len();
        while self.frames[view.thread].len() > depth.max(1) {
            let Some(ended) = self.frames[view.thread].pop() else { return };
            let result = view.machine.program.templates[ended.template].result;
            let shadow = result.and_then(|local| ended.locals.get(&local).cloned());
            self.set_optional(view, ended.result.as_ref(), shadow);
        }
    }

    fn assign(&mut self, view: View<'_, '_>, assignment: &Assignment, next: &mut InputNumber) {
        let mut values = Vec::new();
        for (_, rhs) in &assignment.pairs {
            values.push(match rhs {
                Rhs::Value(value) => self.of(view, value, next),
                Rhs::Any | Rhs::Unknown => {
                    *next += 1;
                    Some(Shadow::input(*next - 1))
                }
                Rhs::Float(op, format, operands) => {
                    let known: Option<Vec<Value>> =
                        operands.iter().map(|operand| view.peek(operand)).collect();
                    // What the machine does not know is chosen.
                    let is_open = known.is_none_or(|known| op.apply(*format, &known).is_none());
                    *next += u32::from(is_open);
                    is_open.then(|| Shadow::input(*next - 1))
                }
            });
        }
        // The constraint is about the new values.
        let constraint = assignment.constraint.as_ref().filter(|_| values.iter().any(Option::is_some));
        for ((lhs, _), value) in assignment.pairs.iter().zip(values) {
            self.set(view, lhs, value);
        }
        if let Some(constraint) = constraint {
            let mut number = *next;
            let condition = self.of(view, constraint, &mut number);
            self.imposed.extend(condition);
        }
    }

    fn set_optional(&mut self, view: View<'_, '_>, lhs: Option<&Lhs>, shadow: Option<Rc<Shadow>>) {
        if let Some(lhs) = lhs {
            self.set(view, lhs, shadow);
        }
    }

    fn set(&mut self, view: View<'_, '_>, lhs: &Lhs, shadow: Option<Rc<Shadow>>) {
        match lhs {
            Lhs::Local(local) => {
                let Some(frame) = self.frames[view.thread].last_mut() else { return };
                match shadow {
                    Some(shadow) => frame.locals.insert(*local, shadow),
                    None => frame.locals.remove(local),
                };
            }
            Lhs::Memory(place) => {
                if shadow.is_none() && self.memory.is_empty() {
                    return;
                }
                if let Some(address) = view.peek(&place.address) {
                    self.store(address as u64, place.ty, shadow);
                }
            }
        }
    }

    fn store(&mut self, address: u64, ty: IntType, shadow: Option<Rc<Shadow>>) {
        match shadow {
            Some(shadow) => {
                for (number, at) in (address..address.saturating_add(ty.bytes())).enumerate() {
                    self.memory.insert(at, (shadow.clone(), number as u32));
                }
            }
            None => self.clear(address, ty.bytes()),
        }
    }

    fn clear(&mut self, address: u64, size: u64) {
        if self.memory.is_empty() {
            return;
        }
        let end = address.saturating_add(size);
        if size > self.memory.len() as u64 {
            self.memory.retain(|at, _| !(address..end).contains(at));
        } else {
            for at in address..end {
                self.memory.remove(&at);
            }
        }
    }

    fn load(&mut self, view: View<'_, '_>, place: &Place, next: &mut InputNumber) -> Option<Rc<Shadow>> {
        // The address is taken as it is; what is chosen to compute it counts.
        let _ = self.of(view, &place.address, next);
        let (address, size) = (view.peek(&place.address)? as u64, place.ty.bytes());
        if view.machine.is_open(view.state, address, size) {
            let shadow = Shadow::input(*next);
            *next += 1;
            self.store(address, place.ty, Some(shadow.clone()));
            return Some(shadow);
        }
        if self.memory.is_empty() {
            return None;
        }
        let bytes: Vec<_> =
            (address..address.saturating_add(size)).map(|at| self.memory.get(&at).cloned()).collect();
        let (first, _) = bytes.iter().flatten().next()?.clone();
        let is_whole = |(number, byte): (usize, &Option<(Rc<Shadow>, u32)>)| {
            byte.as_ref().is_some_and(|(shadow, at)| Rc::ptr_eq(shadow, &first) && *at as usize == number)
        };
        if bytes.iter().enumerate().all(is_whole) {
            // The stored value may be wider, or of another sign.
            return Shadow::of(Node::Cast(place.ty, first)).filter(|_| place.ty != IntType::BOOL);
        }
        let mut parts = Vec::new();
        for (at, byte) in (address..).zip(bytes) {
            parts.push(match byte {
                Some((shadow, number)) => Shadow::of(Node::Byte(shadow, number))?,
                None => Shadow::constant(view.machine.peek_memory(view.state, at, IntType::U8)?),
            });
        }
        Shadow::of(Node::Bytes(place.ty, parts))
    }

    /// How the value of an expression is computed from inputs; `None` when it rests on none.
    pub(super) fn of(
        &mut self,
        view: View<'_, '_>,
        expr: &Expr,
        next: &mut InputNumber,
    ) -> Option<Rc<Shadow>> {
        match expr {
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
            Expr::Local(local) => self.frames[view.thread].last()?.locals.get(local).cloned(),
            Expr::Load(place) => self.load(view, place, next),
            Expr::Unary(op, ty, operand) => {
                let operand = self.of(view, operand, next)?;
                Shadow::of(Node::Unary(*op, *ty, operand))
            }
            Expr::Cast(ty, operand) => {
                let operand = self.of(view, operand, next)?;
                Shadow::of(Node::Cast(*ty, operand))
            }
            Expr::Binary(op, ty, pair) => {
                let (left, right) = self.both(view, pair, next)?;
                Shadow::of(Node::Binary(*op, *ty, left, right))
            }
            Expr::Overflows(op, ty, pair) => {
                let (left, right) = self.both(view, pair, next)?;
                Shadow::of(Node::Overflows(*op, *ty, left, right))
            }
            Expr::IfThenElse(three) => {
                let condition = self.of(view, &three.0, next);
                let is_true = view.peek(&three.0)? != 0;
                let Some(condition) = condition else {
                    return self.of(view, if is_true { &three.1 } else { &three.2 }, next);
                };
                let mut side = |expr: &Expr| {
                    self.of(view, expr, next)
                        .unwrap_or_else(|| Shadow::constant(view.peek(expr).unwrap_or(0)))
                };
                let (one, other) = (side(&three.1), side(&three.2));
                Shadow::of(Node::IfThenElse(condition, one, other))
            }
            Expr::Valid(..) | Expr::Old(_) => None,
        }
    }

    fn both(
        &mut self,
        view: View<'_, '_>,
        pair: &(Expr, Expr),
        next: &mut InputNumber,
    ) -> Option<(Rc<Shadow>, Rc<Shadow>)> {
        let (left, right) = (self.of(view, &pair.0, next), self.of(view, &pair.1, next));
        if left.is_none() && right.is_none() {
            return None;
        }
        let constant = |expr: &Expr| view.peek(expr).map(Shadow::constant);
        Some((left.or_else(|| constant(&pair.0))?, right.or_else(|| constant(&pair.1))?))
    }
}

#[cfg(test)]
impl Shadow {
    /// Of an expression over locals, which stand for the inputs of the same numbers.
    pub(super) fn for_tests(expr: &Expr) -> Rc<Self> {
        let operands: Vec<Rc<Self>> = expr.operands().into_iter().map(Self::for_tests).collect();
        let of = |number: usize| operands[number].clone();
        let node = match expr {
            Expr::Const(value, _) => return Self::constant(*value),
            Expr::Local(local) => return Self::input(local.0),
            Expr::Unary(op, ty, _) => Node::Unary(*op, *ty, of(0)),
            Expr::Cast(ty, _) => Node::Cast(*ty, of(0)),
            Expr::Binary(op, ty, _) => Node::Binary(*op, *ty, of(0), of(1)),
            Expr::IfThenElse(_) => Node::IfThenElse(of(0), of(1), of(2)),
            other => panic!("{other:?} is not for tests"),
        };
        Self::of(node).expect("it is small and rests on inputs")
    }
}
