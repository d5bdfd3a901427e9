//! Whether an execution exists for all values that are not modelled.
//!
//! [`Rhs::Unknown`] and [`Initial::NotModelled`] stand for values that the real program computes somehow. An
//! execution in which such a value was chosen is evidence only if it would be the same for every other value.
//! So the execution is run a second time, with a range for each value that contains the real one: that of its
//! type, or the one that the assignment's constraint gives. Every condition must have the same truth value
//! for all values in these ranges, every lock, thread and allocation must be the same, and every access whose
//! address depends on an unknown value must stay in its object.
//!
//! Under-approximates: an execution that is called certain is an execution of the real program. Deviations:
//! 1. Signed arithmetic on an unknown operand is assumed not to overflow (the program would be undefined).
//! 2. Unknown functions are assumed to return.

mod spans;

use self::spans::{Span, exact_bounds, span_of};
use super::eval::{Context, Fault};
use super::machine::{Machine, State, ThreadIndex};
use super::step::{Choice, Choices};
use crate::expr::{BinaryOp, Expr, Place, UnaryOp};
use crate::ids::{EdgeId, LocalId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{Initial, LocationKind, Storage};
use crate::types::{IntType, Value};
use std::collections::BTreeMap;

/// The most bytes that one operation makes uncertain.
const MOST_BYTES: u64 = 1 << 16;

/// The execution depends on a value that is not modelled, or is not possible at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uncertain;

/// A byte whose real value may differ: part of a cell with a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cell {
    start: u64,
    size: u64,
    span: Span,
}

/// Supplies the values with which a step was taken; 0 where none is given.
struct Replay<'a> {
    values: Option<&'a [Value]>,
    next: usize,
}

impl Choices for Replay<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let value = self.values.and_then(|values| values.get(self.next)).copied().unwrap_or(0);
        self.next += 1;
        choice.ty.wrap(value)
    }
}

/// The run of an execution, with the uncertain parts of its state.
#[derive(Clone)]
pub struct Certainty<'m, 'p> {
    machine: &'m Machine<'p>,
    state: State,
    /// The uncertain locals of each activation of each thread.
    locals: Vec<Vec<BTreeMap<LocalId, Span>>>,
    /// Bytes that are uncertain, and bytes that were set since all of memory became uncertain.
    bytes: BTreeMap<u64, Option<Cell>>,
    /// Whether all other bytes are uncertain.
    is_lost: bool,
    /// The uncertain results of threads that have ended.
    results: BTreeMap<ThreadIndex, Span>,
    /// Whether an access was made whose address is uncertain.
    has_vague_access: bool,
    /// Whether a value was chosen that is not modelled.
    has_doubts: bool,
}

/// One evaluation: the running thread, the state as it was, and the values that were chosen.
struct Evaluation<'e, 'm, 'p> {
    of: &'e mut Certainty<'m, 'p>,
    thread: ThreadIndex,
    state: State,
    choices: Replay<'e>,
}

impl<'m, 'p> Certainty<'m, 'p> {
    /// The beginning of an execution.
    pub fn new(machine: &'m Machine<'p>, state: State) -> Self {
        let locals = state.threads.iter().map(|_| vec![BTreeMap::new()]).collect();
        let mut this = Self {
            machine,
            state,
            locals,
            bytes: BTreeMap::new(),
            is_lost: false,
            results: BTreeMap::new(),
            has_vague_access: false,
            has_doubts: false,
        };
        for (id, object) in machine.program.objects.enumerate() {
            if object.initial == Initial::NotModelled && object.storage == Storage::Static {
                this.has_doubts = true;
                this.doubt(machine.addresses.offset[id], object.size);
            }
        }
        this
    }

    /// Whether anything was uncertain so far.
    pub fn has_doubts(&self) -> bool {
        self.has_doubts
    }

    /// Takes a step with the values that were chosen for it.
    pub fn step(&mut self, thread: ThreadIndex, edge: EdgeId, choices: &[Value]) -> Result<(), Uncertain> {
        let (template, _) = self.state.location(thread).ok_or(Uncertain)?;
        if !self.run(thread, template, edge, Some(choices))? {
            return Err(Uncertain);
        }
        self.arrive(thread, template, edge);
        Ok(())
    }

    /// Whether a thread is about to make the accesses of an edge, for all uncertain values. Nothing is
    /// chosen: open values read as 0.
    pub fn is_next(&self, thread: ThreadIndex, edge: EdgeId) -> bool {
        let mut this = Self { has_vague_access: false, ..self.clone() };
        let Some((template, _)) = this.state.location(thread) else { return false };
        this.run(thread, template, edge, None).is_ok() && !this.has_vague_access
    }

    /// Whether what each thread waits for, if it waits, is certain.
    pub fn waits_are_certain(&self) -> bool {
        (0..self.state.threads.len()).all(|thread| {
            let edges = self.machine.edges(&self.state, thread);
            edges.iter().all(|edge| self.is_next(thread, *edge))
        })
    }

    /// Whether threads that wait for ever do so for all uncertain values. If the state alone does not show
    /// it, the continuations must not depend on an uncertain value.
    pub fn deadlock_is_certain(&self) -> bool {
        let is_visible = self.machine.deadlock(&self.state).is_some();
        self.waits_are_certain() && (is_visible || !self.has_doubts)
    }

    /// Runs the operations of an edge; says whether they could all be run.
    fn run(
        &mut self,
        thread: ThreadIndex,
        template: TemplateId,
        edge: EdgeId,
        values: Option<&[Value]>,
    ) -> Result<bool, Uncertain> {
        let machine = self.machine;
        let atomic = machine.is_atomic(&self.state, thread);
        let mut next = 0;
        for op in &machine.program.templates[template].edges[edge].ops {
            let before = self.state.clone();
            let mut choices = Replay { values, next };
            let (state, log, choose) = (&mut self.state, &mut Vec::new(), &mut choices);
            let done =
                Context { machine, state, old: None, thread, choices: choose, log, atomic }.run(op, edge);
            let after = choices.next;
            let stuck =
                Evaluation { of: self, thread, state: before, choices: Replay { values, next } }.op(op);
            match (done, stuck) {
                // The effects before it blocked do not count, but the reason must be certain.
                (Err(_), Err(Doubt::Stuck)) => return Ok(false),
                (_, Err(Doubt::Stuck | Doubt::Uncertain)) => return Err(Uncertain),
                (Err(_), Ok(())) => return Ok(false),
                (Ok(()), Ok(())) => next = after,
            }
        }
        Ok(true)
    }

    /// Moves a thread to the end of an edge, as the machine does, and propagates the uncertainty of results.
    fn arrive(&mut self, thread: ThreadIndex, template: TemplateId, edge: EdgeId) {
        let program = self.machine.program;
        let step = &program.templates[template].edges[edge];
        let called = matches!(step.ops.last(), Some(Op::Call(..)));
        let activations = &self.state.threads[thread].activations;
        let mut at: Vec<_> = activations
            .iter()
            .map(|activation| (activation.template, activation.location, activation.called_by))
            .collect();
        let moved = at.len() - 1 - usize::from(called);
        at[moved].1 = step.target;
        while let Some((template, location, called_by)) = at.pop() {
            let code = &program.templates[template];
            let own = self.locals[thread].last().cloned().unwrap_or_default();
            let uncertain = |local: Option<LocalId>| local.and_then(|local| own.get(&local).copied());
            match code.locations[location].kind {
                LocationKind::Normal | LocationKind::Error(_) | LocationKind::Halt => break,
                LocationKind::Exit => {
                    self.end(thread, uncertain(code.exit_value));
                    break;
                }
                LocationKind::End => {
                    self.locals[thread].pop();
                    let Some((caller, _, _)) = at.last() else {
                        self.end(thread, uncertain(code.result));
                        break;
                    };
                    let call = called_by.and_then(|edge| program.templates[*caller].edges[edge].ops.last());
                    if let Some(Op::Call(_, _, Some(Lhs::Local(local)))) = call {
                        let ty = program.templates[*caller].locals[*local].ty;
                        let span = uncertain(code.result).map(|span| passed(span, ty));
                        self.set_local(thread, *local, span);
                    }
                }
            }
        }
        self.machine.arrive(&mut self.state, thread, template, edge);
    }
    fn end(&mut self, thread: ThreadIndex, result: Option<Span>) {
        self.locals[thread].clear();
        if let Some(span) = result {
            self.results.insert(thread, span);
        }
    }

    /// Sets the certainty of a local of the running activation.
    fn set_local(&mut self, thread: ThreadIndex, local: LocalId, span: Option<Span>) {
        let Some(own) = self.locals[thread].last_mut() else { return };
        match span.filter(|span| !span.is_one()) {
            Some(span) => own.insert(local, span),
            None => own.remove(&local),
        };
    }
    /// Makes bytes uncertain.
    fn doubt(&mut self, start: u64, size: u64) {
        for at in start..start.saturating_add(size) {
            let cell = Cell { start: at, size: 1, span: Span::of(IntType::U8) };
            self.bytes.insert(at, Some(cell));
        }
    }
    /// Sets the certainty of the bytes of a cell.
    fn set_bytes(&mut self, start: u64, size: u64, span: Option<Span>) {
        let cell = span.filter(|span| !span.is_one()).map(|span| Cell { start, size, span });
        for at in start..start.saturating_add(size) {
            self.set_byte(at, cell);
        }
    }
    fn set_byte(&mut self, at: u64, cell: Option<Cell>) {
        if cell.is_some() || self.is_lost {
            self.bytes.insert(at, cell);
        } else {
            self.bytes.remove(&at);
        }
    }
    /// The uncertainty of a byte, if any.
    fn byte(&self, at: u64) -> Option<Cell> {
        let unmentioned = || self.is_lost.then_some(Cell { start: at, size: 1, span: Span::of(IntType::U8) });
        self.bytes.get(&at).copied().unwrap_or_else(unmentioned)
    }
    fn is_certain(&self, start: u64, size: u64) -> bool {
        let all = start..start.saturating_add(size);
        if self.is_lost {
            return all.into_iter().all(|at| self.byte(at).is_none());
        }
        !self.bytes.range(all).any(|(_, cell)| cell.is_some())
    }
    /// The range of a cell, if it is uncertain.
    fn cell(&self, start: u64, ty: IntType) -> Option<Span> {
        if self.is_certain(start, ty.bytes()) {
            return None;
        }
        let whole = self.byte(start).filter(|cell| cell.start == start && cell.size == ty.bytes());
        let same = whole.filter(|cell| (start..start + ty.bytes()).all(|at| self.byte(at) == Some(*cell)));
        Some(same.map(|cell| cell.span).filter(|span| span.is_in(ty)).unwrap_or(Span::of(ty)))
    }
}

/// A value as it is passed in a type.
fn passed(span: Span, ty: IntType) -> Span {
    if span.is_in(ty) { span } else { Span::of(ty) }
}

/// Why an operation is not certain to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doubt {
    /// It certainly blocks.
    Stuck,
    /// Whether it happens, or its effect, depends on a value that is not modelled.
    Uncertain,
}

impl From<Fault> for Doubt {
    fn from(_: Fault) -> Self {
        Self::Stuck
    }
}

/// A value, and the range of the real one.
type Known = (Value, Span);

impl Evaluation<'_, '_, '_> {
    fn code(&self) -> &crate::program::Template {
        let top = self.state.threads[self.thread].activations.last().expect("only live threads evaluate");
        &self.of.machine.program.templates[top.template]
    }
    /// The machine's own value of an expression; it asks for the same choices in the same order.
    fn exact(&mut self, expr: &Expr) -> Result<Value, Doubt> {
        let (machine, thread) = (self.of.machine, self.thread);
        let (state, log, choices) = (&mut self.state, &mut Vec::new(), &mut self.choices);
        Ok(Context { machine, state, old: None, thread, choices, log, atomic: false }.eval(expr)?)
    }
    /// The value of an expression that must be certain.
    fn certain(&mut self, expr: &Expr) -> Result<Value, Doubt> {
        let (value, span) = self.eval(expr)?;
        if span.is_one() { Ok(value) } else { Err(Doubt::Uncertain) }
    }

    fn eval(&mut self, expr: &Expr) -> Result<Known, Doubt> {
        match expr {
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {
                let value = self.exact(expr)?;
                Ok((value, Span::only(value)))
            }
            Expr::Local(local) => {
                let value = self.exact(expr)?;
                let uncertain = self.of.locals[self.thread].last().and_then(|own| own.get(local).copied());
                Ok((value, uncertain.unwrap_or(Span::only(value))))
            }
            Expr::Load(place) => self.load(place),
            Expr::Unary(op, ty, operand) => {
                let (value, span) = self.eval(operand)?;
                let Span { low, high } = span;
                Ok(match op {
                    UnaryOp::Not => {
                        let (one, other) = (ty.wrap(!low), ty.wrap(!high));
                        (ty.wrap(!value), Span { low: one.min(other), high: one.max(other) })
                    }
                    UnaryOp::Neg => {
                        let value = super::apply(BinaryOp::Sub, *ty, 0, value)?;
                        let span = if span.is_one() {
                            Span::only(value)
                        } else {
                            Span::fitted(Some(-high), Some(-low), *ty)
                        };
                        (value, span)
                    }
                })
            }
            Expr::Binary(op, ty, pair) => {
                let (left, right) = (self.eval(&pair.0)?, self.eval(&pair.1)?);
                let value = super::apply(*op, *ty, left.0, right.0);
                let span = span_of(*op, *ty, left.1, right.1);
                match (value, span) {
                    (Ok(value), Some(span)) if span.is_one() => Ok((value, Span::only(value))),
                    (Ok(value), Some(span)) => Ok((value, span)),
                    (Err(_), _) if left.1.is_one() && right.1.is_one() => Err(Doubt::Stuck),
                    (_, _) => Err(Doubt::Uncertain),
                }
            }
            Expr::Cast(ty, operand) => {
                let (value, span) = self.eval(operand)?;
                if *ty == IntType::BOOL {
                    let value = Value::from(value != 0);
                    let is_definite = span.is_one() || span.low > 0 || span.high < 0;
                    return Ok((value, if is_definite { Span::only(value) } else { Span::TRUTH }));
                }
                let value = ty.wrap(value);
                Ok((value, if span.is_one() { Span::only(value) } else { passed(span, *ty) }))
            }
            Expr::IfThenElse(three) => {
                let (holds, span) = self.eval(&three.0)?;
                let (taken, other) = if holds != 0 { (&three.1, &three.2) } else { (&three.2, &three.1) };
                let (value, known) = self.eval(taken)?;
                if span.is_one() {
                    return Ok((value, known));
                }
                // The other arm would be evaluated for other values, and must not be able to fault.
                if !is_harmless(other) {
                    return Err(Doubt::Uncertain);
                }
                let ty = self.of.machine.program.type_in(self.code(), expr);
                Ok((value, Span::of(ty)))
            }
            Expr::Overflows(op, ty, pair) => {
                let (left, right) = (self.eval(&pair.0)?, self.eval(&pair.1)?);
                let value = Value::from(super::overflows(*op, *ty, left.0, right.0));
                let is_definite = left.1.is_one() && right.1.is_one()
                    || exact_bounds(*op, left.1, right.1)
                        .is_some_and(|(low, high)| ty.contains(low) && ty.contains(high));
                Ok((value, if is_definite { Span::only(value) } else { Span::TRUTH }))
            }
            Expr::Valid(pointer, 0) => {
                let (address, span) = self.eval(pointer)?;
                let value = Value::from(self.of.machine.may_be_freed(&self.state, address as u64));
                let is_definite = span.is_one() && (address == 0 || !self.of.is_lost);
                Ok((value, if is_definite { Span::only(value) } else { Span::TRUTH }))
            }
            Expr::Valid(pointer, size) => {
                let (address, span) = self.eval(pointer)?;
                let (_, root) = self.eval(super::eval::root(pointer))?;
                let state = &self.state;
                let value = {
                    let machine = self.of.machine;
                    let home = machine.object_start(state, root.low as u64);
                    let stays = home.is_none() || machine.object_start(state, address as u64) == home;
                    Value::from(stays && machine.is_valid(state, address as u64, *size))
                };
                let is_definite = root.is_one() && (span.is_one() || value == 1 && self.stays(span, *size));
                Ok((value, if is_definite { Span::only(value) } else { Span::TRUTH }))
            }
            // Occurs only in constraints of programs that model everything.
            Expr::Old(_) => Err(Doubt::Uncertain),
        }
    }

    /// Fails where others may have freed what is at an address.
    fn must_live(&self, address: u64) -> Result<(), Doubt> {
        let may_be_freed = self.of.is_lost && self.of.machine.addresses.is_heap(address);
        if may_be_freed { Err(Doubt::Uncertain) } else { Ok(()) }
    }

    /// Whether accesses at all of these addresses are in the same live object.
    fn stays(&self, addresses: Span, size: u64) -> bool {
        let (low, high) = (addresses.low as u64, addresses.high as u64);
        let machine = self.of.machine;
        let start = machine.object_start(&self.state, low);
        start.is_some()
            && machine.object_start(&self.state, high) == start
            && machine.is_valid(&self.state, low, (high - low).saturating_add(size))
    }

    fn load(&mut self, place: &Place) -> Result<Known, Doubt> {
        let (address, span) = self.eval(&place.address)?;
        self.must_live(address as u64)?;
        if !span.is_one() {
            self.of.has_vague_access = true;
            if !self.stays(span, place.ty.bytes()) {
                return Err(Doubt::Uncertain);
            }
        }
        let fixed = Expr::Const(address, self.of.machine.program.data_model.pointer());
        let value = self.exact(&Expr::Load(Box::new(Place { address: fixed, ..place.clone() })))?;
        if !span.is_one() {
            return Ok((value, Span::of(place.ty)));
        }
        let uncertain = self.of.cell(address as u64, place.ty);
        Ok((value, uncertain.unwrap_or(Span::only(value))))
    }

    /// Stores what is known of a value.
    fn store(&mut self, lhs: &Lhs, value: Span) -> Result<(), Doubt> {
        match lhs {
            Lhs::Local(local) => {
                let ty = self.code().locals[*local].ty;
                self.of.set_local(self.thread, *local, Some(passed(value, ty)).filter(|_| !value.is_one()));
            }
            Lhs::Memory(place) => {
                let (address, span) = self.eval(&place.address)?;
                self.store_at((address, span), place.ty, value)?;
            }
        }
        Ok(())
    }
    fn store_at(&mut self, (address, span): Known, ty: IntType, value: Span) -> Result<(), Doubt> {
        self.must_live(address as u64)?;
        if span.is_one() {
            let uncertain = (!value.is_one()).then(|| passed(value, ty));
            self.of.set_bytes(address as u64, ty.bytes(), uncertain);
            return Ok(());
        }
        self.write_somewhere(span, ty.bytes())
    }
    /// A write of some bytes, at an address that is not certain.
    fn write_somewhere(&mut self, addresses: Span, size: u64) -> Result<(), Doubt> {
        self.of.has_vague_access = true;
        let all = (addresses.high - addresses.low) as u64;
        if all.saturating_add(size) > MOST_BYTES || !self.stays(addresses, size) {
            return Err(Doubt::Uncertain);
        }
        self.of.doubt(addresses.low as u64, all + size);
        Ok(())
    }

    fn op(&mut self, op: &Op) -> Result<(), Doubt> {
        match op {
            Op::Assume(condition) => {
                if self.certain(condition)? == 0 {
                    return Err(Doubt::Stuck);
                }
            }
            Op::Assign(assignment) => self.assign(assignment)?,
            Op::Lock(_, address) | Op::Unlock(_, address) => {
                let address = self.certain(address)? as u64;
                let words = super::mutex_kind_offset(self.of.machine.program.data_model) + 4;
                let size = if self.of.machine.is_valid(&self.state, address, words) { words } else { 8 };
                if !self.of.is_certain(address, size) {
                    return Err(Doubt::Uncertain);
                }
            }
            Op::Spawn(callee, arguments, handle) => {
                let (template, spans) = self.passed(callee, arguments)?;
                let own = self.parameters(template, spans);
                self.of.locals.push(vec![own]);
                if let Some(handle) = handle {
                    self.store(handle, Span::only(0))?;
                }
            }
            Op::Join(thread, result) => {
                let joined = self.certain(thread)?;
                let index = usize::try_from(joined - 1).map_err(|_| Doubt::Stuck)?;
                let span = self.of.results.get(&index).copied().unwrap_or(Span::only(0));
                if let Some(result) = result {
                    self.store(result, span)?;
                }
            }
            Op::Allocate { size, result, .. } => {
                self.certain(size)?;
                self.store(result, Span::only(0))?;
            }
            Op::Free(pointer) => {
                let address = self.certain(pointer)?;
                self.must_live(address as u64)?;
            }
            Op::Fill(to, byte, size) => {
                let (to, byte, size) = (self.eval(to)?, self.eval(byte)?, self.eval(size)?);
                self.must_live(to.0 as u64)?;
                if !to.1.is_one() || !size.1.is_one() {
                    return self.write_somewhere(to.1, size.1.high as u64);
                }
                let size = size.0 as u64;
                if byte.1.is_one() {
                    self.of.set_bytes(to.0 as u64, size, None);
                } else if byte.1.is_in(IntType::U8) {
                    // Each byte has the range: in a text that is not modelled, letters may differ.
                    let start = to.0 as u64;
                    (start..start.saturating_add(size)).for_each(|at| self.of.set_bytes(at, 1, Some(byte.1)));
                } else {
                    self.of.doubt(to.0 as u64, size);
                }
            }
            Op::Copy(to, from, size) => {
                let (to, from, size) = (self.eval(to)?, self.eval(from)?, self.eval(size)?);
                self.must_live(to.0 as u64)?;
                self.must_live(from.0 as u64)?;
                if !to.1.is_one() || !from.1.is_one() || !size.1.is_one() {
                    self.of.has_vague_access = true;
                    if size.1.high > 0 && !self.stays(from.1, size.1.high as u64) {
                        return Err(Doubt::Uncertain);
                    }
                    return self.write_somewhere(to.1, size.1.high as u64);
                }
                let (to, from, size) = (to.0 as u64, from.0 as u64, size.0 as u64);
                let moved: Vec<Option<Cell>> = (0..size).map(|at| self.of.byte(from + at)).collect();
                for (at, cell) in (to..).zip(moved) {
                    let cell = cell
                        .map(|cell| Cell { start: to.wrapping_add(cell.start.wrapping_sub(from)), ..cell });
                    self.of.set_byte(at, cell);
                }
            }
            Op::Call(callee, arguments, _) => {
                let (template, spans) = self.passed(callee, arguments)?;
                let own = self.parameters(template, spans);
                self.of.locals[self.thread].push(own);
            }
            Op::Broadcast(_) => return Err(Doubt::Uncertain),
        }
        Ok(())
    }

    fn passed(&mut self, callee: &Callee, arguments: &[Expr]) -> Result<(TemplateId, Vec<Span>), Doubt> {
        let template = match callee {
            Callee::Procedure(template) => *template,
            Callee::Pointer(pointer) => {
                let address = self.certain(pointer)? as u64;
                self.of.machine.addresses.procedure_at(address).ok_or(Doubt::Stuck)?
            }
        };
        let mut spans = Vec::new();
        for argument in arguments {
            spans.push(self.eval(argument)?.1);
        }
        Ok((template, spans))
    }
    /// The uncertain parameters of an activation.
    fn parameters(&self, template: TemplateId, spans: Vec<Span>) -> BTreeMap<LocalId, Span> {
        let code = &self.of.machine.program.templates[template];
        let parameters = code.locals.enumerate().take(code.parameters).zip(spans);
        let uncertain = parameters.filter(|(_, span)| !span.is_one());
        uncertain.map(|((local, described), span)| (local, passed(span, described.ty))).collect()
    }

    fn assign(&mut self, assignment: &Assignment) -> Result<(), Doubt> {
        let mut stores = Vec::new();
        for (lhs, rhs) in &assignment.pairs {
            let ty = match lhs {
                Lhs::Local(local) => self.code().locals[*local].ty,
                Lhs::Memory(place) => place.ty,
            };
            let span = match rhs {
                Rhs::Value(value) => self.eval(value)?.1,
                Rhs::Float(op, format, operands) => {
                    let (mut values, mut is_certain) = (Vec::new(), true);
                    for operand in operands {
                        let (value, span) = self.eval(operand)?;
                        values.push(value);
                        is_certain &= span.is_one();
                    }
                    let result = op.apply(*format, &values);
                    if result.is_none() {
                        self.of.has_doubts = true;
                        self.choices.choose(Choice { ty, kind: super::ChoiceKind::Unknown });
                    }
                    match result.filter(|_| is_certain) {
                        Some(result) => Span::only(result),
                        None => Span::of(ty),
                    }
                }
                Rhs::Any => Span::only(self.choices.choose(Choice { ty, kind: super::ChoiceKind::Any })),
                Rhs::Unknown => {
                    self.of.has_doubts = true;
                    self.choices.choose(Choice { ty, kind: super::ChoiceKind::Unknown });
                    self.allowed(lhs, ty, assignment.constraint.as_ref())?
                }
            };
            let at = match lhs {
                Lhs::Local(_) => (0, Span::only(0)),
                Lhs::Memory(place) => self.eval(&place.address)?,
            };
            stores.push((lhs, ty, at, span));
        }
        for (lhs, ty, at, span) in stores {
            match lhs {
                Lhs::Local(_) => self.store(lhs, span)?,
                Lhs::Memory(_) => self.store_at(at, ty, span)?,
            }
        }
        let is_unknown = assignment.pairs.iter().any(|(_, rhs)| *rhs == Rhs::Unknown);
        match &assignment.constraint {
            Some(constraint) if !is_unknown => {
                // It refers to the new values.
                self.state = self.of.state.clone();
                if self.certain(constraint)? == 0 {
                    return Err(Doubt::Stuck);
                }
            }
            Some(_) | None => {}
        }
        Ok(())
    }

    /// The range that a constraint gives an unknown value. Other constraints are marks, see [`Rhs::Unknown`].
    fn allowed(&mut self, lhs: &Lhs, ty: IntType, constraint: Option<&Expr>) -> Result<Span, Doubt> {
        let Some(constraint) = constraint else { return Ok(Span::of(ty)) };
        let Lhs::Local(local) = lhs else { return Err(Doubt::Uncertain) };
        if *constraint == Expr::Local(*local).not() {
            self.of.bytes.clear();
            self.of.is_lost = true;
            return Ok(Span::only(0));
        }
        let mut span = Span::of(ty);
        if narrow(constraint, *local, &mut span) { Ok(span) } else { Err(Doubt::Uncertain) }
    }
}

/// Narrows a range by a conjunction of bounds on a local. Returns `false` for any other constraint.
fn narrow(constraint: &Expr, local: LocalId, span: &mut Span) -> bool {
    let Expr::Binary(op, _, pair) = constraint else { return false };
    match (op, &pair.0, &pair.1) {
        (BinaryOp::And, left, right) => narrow(left, local, span) && narrow(right, local, span),
        (BinaryOp::Le, Expr::Const(low, _), Expr::Local(bounded)) if *bounded == local => {
            span.low = span.low.max(*low);
            span.low <= span.high
        }
        (BinaryOp::Le, Expr::Local(bounded), Expr::Const(high, _)) if *bounded == local => {
            span.high = span.high.min(*high);
            span.low <= span.high
        }
        (_, _, _) => false,
    }
}

/// Whether evaluating an expression can neither fault nor choose.
fn is_harmless(expr: &Expr) -> bool {
    let mut harmless = true;
    expr.walk(&mut |inner| {
        harmless &= match inner {
            Expr::Load(_) | Expr::Old(_) => false,
            Expr::Binary(op, _, _) => {
                !matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr)
            }
            Expr::Const(..)
            | Expr::Local(_)
            | Expr::Address(..)
            | Expr::Procedure(_)
            | Expr::Myself
            | Expr::Unary(..)
            | Expr::Cast(..)
            | Expr::IfThenElse(_)
            | Expr::Overflows(..)
            | Expr::Valid(..) => true,
        }
    });
    harmless
}
