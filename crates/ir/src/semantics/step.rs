//! One step of one thread.

use super::eval::{Context, Fault};
use super::machine::{LimitKind, Machine, State, ThreadIndex, to_bits};
use crate::ids::{EdgeId, TemplateId};
use crate::op::{Assignment, Broadcast, Callee, Lhs, LockKind, Op, Rhs};
use crate::program::{LocationKind, Range, Storage};
use crate::types::{DataModel, IntType, Value};
use std::sync::Arc;

/// The kind of a recursive mutex, as glibc numbers it.
pub(super) const RECURSIVE: Value = 1;

/// The offset of the kind in a mutex, as in glibc: 0 normal, 1 recursive, 2 error-checking.
pub fn mutex_kind_offset(model: DataModel) -> u64 {
    match model {
        DataModel::Ilp32 => 12,
        DataModel::Lp64 => 16,
    }
}

/// An access to memory that a step made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Access {
    /// The first byte.
    pub address: u64,
    /// The number of bytes.
    pub size: u64,
    /// Whether it changes them.
    pub write: bool,
    /// Whether it is a C11 atomic access, or inside an atomic region.
    pub atomic: bool,
}

impl Access {
    /// Whether two accesses of different threads at the same time are a data race.
    pub fn races_with(&self, other: &Access) -> bool {
        (self.write || other.write)
            && !(self.atomic && other.atomic)
            && self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size)
    }
}

/// A value that the program leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Its type; any value of this type is allowed.
    pub ty: IntType,
    /// Why it is open.
    pub kind: ChoiceKind,
}

/// Why a value is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceKind {
    /// An input: [`Rhs::Any`].
    Any,
    /// Uninitialised memory.
    Open,
    /// Not modelled: [`Rhs::Unknown`]. An execution with such a choice may not exist.
    Unknown,
    /// The address that an allocation returns: 0 for a new one, or one of this many reusable ones, from 1.
    Reuse(u8),
}

/// The source of open values.
pub trait Choices {
    /// A value of the choice's type.
    fn choose(&mut self, choice: Choice) -> Value;
}

/// Always chooses 0.
pub(super) struct NoChoices;

impl Choices for NoChoices {
    fn choose(&mut self, _: Choice) -> Value {
        0
    }
}

/// Why an edge cannot be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// An assumption fails, a lock is held, or a thread has not ended. Another thread may change that.
    Blocked,
    /// An operation is undefined: the execution ends.
    Fault(Fault),
    /// The step exceeds the machine's bounds. The real program continues, but the machine cannot follow it.
    Limit(LimitKind),
}

impl From<Fault> for Stuck {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
impl From<LimitKind> for Stuck {
    fn from(limit: LimitKind) -> Self {
        Self::Limit(limit)
    }
}

/// Whether the machine follows a step that copies or fills so many bytes.
fn follow(size: u64) -> Result<(), Stuck> {
    if size > Machine::MAX_COPIED { Err(LimitKind::Heap.into()) } else { Ok(()) }
}

/// The result of an attempt to take an edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The next state, or why there is none.
    pub result: Result<State, Stuck>,
    /// The accesses made, up to the point where it blocked, without those of lock operations.
    pub accesses: Vec<Access>,
}

impl Machine<'_> {
    /// Lets a thread take an edge from its current location.
    pub fn step(&self, state: &State, thread: ThreadIndex, edge: EdgeId, choices: &mut dyn Choices) -> Taken {
        let mut next = state.clone();
        let mut accesses = Vec::new();
        let result = self.advance(&mut next, thread, edge, choices, &mut accesses).map(|()| next);
        Taken { result, accesses }
    }

    /// Like [`step`](Self::step), in place. If the edge cannot be taken, the state may be left in the middle
    /// of the step. The accesses are added to the log.
    pub fn advance(
        &self,
        state: &mut State,
        thread: ThreadIndex,
        edge: EdgeId,
        choices: &mut dyn Choices,
        log: &mut Vec<Access>,
    ) -> Result<(), Stuck> {
        self.advance_seen(state, thread, edge, choices, log, |_, _| ())
    }

    /// Like [`advance`](Self::advance), but shows each operation before it runs, with the current state.
    pub fn advance_seen(
        &self,
        state: &mut State,
        thread: ThreadIndex,
        edge: EdgeId,
        choices: &mut dyn Choices,
        log: &mut Vec<Access>,
        mut see: impl FnMut(&Op, &State),
    ) -> Result<(), Stuck> {
        let (template, location) = state.location(thread).expect("a thread that has ended takes no step");
        let code = &self.program.templates[template];
        let step = &code.edges[edge];
        debug_assert_eq!(step.source, location, "an edge is taken where it starts");
        let atomic = self.is_atomic(state, thread);
        for op in &step.ops {
            see(op, state);
            let (state, choices, log) = (&mut *state, &mut *choices, &mut *log);
            Context { machine: self, state, old: None, thread, choices, log, atomic }.run(op, edge)?;
        }
        self.arrive(state, thread, template, edge);
        Ok(())
    }

    /// Whether two accesses of different threads at the same time are a data race that counts
    /// ([`Program::races_on`]).
    pub fn is_race(&self, state: &State, one: &Access, other: &Access) -> bool {
        let first = one.address.max(other.address);
        let end = |access: &Access| access.address.saturating_add(access.size);
        let common_end = end(one).min(end(other));
        let counts = |range: &Range| match self.program.objects[range.object].storage {
            Storage::Static => {
                let start = self.addresses.offset[range.object] + range.offset;
                start < common_end && first < start + range.size
            }
            // There may be several: it depends on which of them contains the bytes.
            Storage::Frame(_) | Storage::ThreadLocal | Storage::Site => {
                self.describe(state, first).is_some_and(|(object, offset)| {
                    let end = offset.saturating_add(common_end.saturating_sub(first));
                    object == range.object
                        && range.offset < end
                        && offset < range.offset.saturating_add(range.size)
                })
            }
        };
        one.races_with(other) && self.program.races_on.as_ref().is_none_or(|ranges| ranges.iter().any(counts))
    }
    /// The accesses that a thread would make by an edge. Nothing is chosen: open values read as 0.
    pub fn next_accesses(&self, state: &State, thread: ThreadIndex, edge: EdgeId) -> Vec<Access> {
        self.step(state, thread, edge, &mut NoChoices).accesses
    }
    /// The accesses that a thread would make by an edge and that count in races: those of
    /// [`next_accesses`](Self::next_accesses), and the words of each lock that it acquires or releases, as an
    /// atomic write. Waiting for a lock is no access.
    pub fn racing_accesses(&self, state: &State, thread: ThreadIndex, edge: EdgeId) -> Vec<Access> {
        let (mut next, mut log) = (state.clone(), Vec::new());
        let mut locks: Vec<(bool, Access)> = Vec::new();
        let mut see = |op: &Op, before: &State| {
            locks.iter_mut().for_each(|(done, _)| *done = true);
            if let Op::Lock(kind, lock) | Op::Unlock(kind, lock) = op
                && let Ok(address) = self.peek(before, thread, lock)
            {
                let access =
                    Access { address: address as u64, size: kind.bytes(), write: true, atomic: true };
                locks.push((false, access));
            }
        };
        let went_on = self.advance_seen(&mut next, thread, edge, &mut NoChoices, &mut log, &mut see).is_ok();
        log.extend(locks.into_iter().filter(|(done, _)| *done || went_on).map(|(_, access)| access));
        log
    }
    /// A race in a state: two threads and the conflicting accesses. Nothing is chosen: open values read as 0.
    /// An access outside of any live object does not count: the execution would end there.
    pub fn race(&self, state: &State) -> Option<[(ThreadIndex, EdgeId, Access); 2]> {
        self.race_among(state, &|_| true)
    }

    /// A race in a state between accesses that count; see [`Machine::race`].
    pub fn race_among(
        &self,
        state: &State,
        counts: &dyn Fn(&Access) -> bool,
    ) -> Option<[(ThreadIndex, EdgeId, Access); 2]> {
        if state.halted {
            return None;
        }
        let mut seen: Vec<(ThreadIndex, EdgeId, Access)> = Vec::new();
        // While a thread is in an atomic region, other threads cannot act, so races between others do not
        // count.
        let alone = (0..state.threads.len()).find(|thread| self.is_atomic(state, *thread));
        for thread in 0..state.threads.len() {
            let mine = seen.len();
            for &edge in self.edges(state, thread) {
                for access in self.racing_accesses(state, thread, edge) {
                    if !counts(&access) {
                        continue;
                    }
                    let collides = |(other_thread, other): (ThreadIndex, &Access)| {
                        alone.is_none_or(|alone| alone == thread || alone == other_thread)
                            && self.is_race(state, other, &access)
                            && self.is_valid(state, access.address, access.size)
                            && self.is_valid(state, other.address, other.size)
                    };
                    if let Some(other) =
                        seen[..mine].iter().find(|(other_thread, _, other)| collides((*other_thread, other)))
                    {
                        return Some([*other, (thread, edge, access)]);
                    }
                    seen.push((thread, edge, access));
                }
            }
        }
        None
    }

    /// Moves a thread to the end of an edge; returns from procedures, ends threads and the program.
    pub(super) fn arrive(&self, state: &mut State, index: ThreadIndex, template: TemplateId, edge: EdgeId) {
        let thread = Arc::make_mut(&mut state.threads[index]);
        let step = &self.program.templates[template].edges[edge];
        // The activation that took the edge: the top one, or the one below if the edge called a procedure.
        let called = matches!(step.ops.last(), Some(Op::Call(..)));
        let at = thread.activations.len() - 1 - usize::from(called);
        thread.activations[at].location = step.target;
        loop {
            let top = thread.activations.last().expect("a thread that takes a step is live");
            let code = &self.program.templates[top.template];
            let result = code.result.map_or(0, |local| top.locals[local.0 as usize]);
            match code.locations[top.location].kind {
                LocationKind::Normal | LocationKind::Error(_) => return,
                LocationKind::Halt => {
                    state.halted = true;
                    return;
                }
                LocationKind::Exit => {
                    let result = code.exit_value.map_or(0, |local| top.locals[local.0 as usize]);
                    thread.end(result);
                    return;
                }
                LocationKind::End => {
                    let top = thread.activations.pop().expect("there is one");
                    let Some(caller) = thread.activations.last_mut() else {
                        thread.end(result);
                        return;
                    };
                    thread.stack.shrink(top.frame as usize);
                    let call = &self.program.templates[caller.template].edges
                        [top.called_by.expect("a callee has a caller")];
                    if let Some(Op::Call(_, _, Some(Lhs::Local(local)))) = call.ops.last() {
                        let ty = self.program.templates[caller.template].locals[*local].ty;
                        let from = code.result.map_or(IntType::U64, |local| code.locals[local].ty);
                        caller.locals[local.0 as usize] =
                            to_bits(ty.wrap(from.wrap(Value::from(result))), ty);
                    }
                }
            }
        }
    }
}

impl super::machine::Thread {
    fn end(&mut self, result: u64) {
        self.activations.clear();
        self.stack = super::Bytes::default();
        self.result = result;
    }
}

impl Context<'_, '_> {
    pub(super) fn run(&mut self, op: &Op, edge: EdgeId) -> Result<(), Stuck> {
        match op {
            Op::Assume(condition) => {
                if self.eval(condition)? == 0 {
                    return Err(Stuck::Blocked);
                }
            }
            Op::Assign(assignment) => self.assign(assignment)?,
            Op::Lock(kind, address) => {
                let address = self.eval(address)? as u64;
                if !self.take(*kind, address)? {
                    return Err(Stuck::Blocked);
                }
            }
            Op::Unlock(kind, address) => {
                let address = self.eval(address)? as u64;
                self.release(*kind, address)?;
            }
            Op::Spawn(callee, arguments, handle) => {
                let template = self.callee(callee)?;
                let arguments = self.arguments(arguments)?;
                let id = self.machine.start(self.state, template, &arguments)?;
                self.store_optional(handle, id)?;
            }
            Op::Join(thread, result) => {
                let index = self.eval(thread)?;
                let index = usize::try_from(index - 1).map_err(|_| Fault::InvalidThread)?;
                if self.machine.is_made_up(self.thread, index) {
                    return Err(Fault::InvalidThread.into());
                }
                let joined = self.state.threads.get(index).ok_or(Fault::InvalidThread)?;
                if !joined.activations.is_empty() {
                    return Err(Stuck::Blocked);
                }
                let value = Value::from(joined.result);
                self.store_optional(result, value)?;
            }
            Op::Allocate { site, size, zeroed, result } => {
                let size = self.eval(size)? as u64;
                let again = self.address_again(size);
                let addresses = &self.machine.addresses;
                let address = self.state.allocate(addresses, self.thread, *site, (size, *zeroed), again)?;
                self.store(result, Value::from(address))?;
            }
            Op::Free(pointer) => {
                let address = self.eval(pointer)? as u64;
                if address != 0 {
                    let index = self.state.block_at(address).ok_or(Fault::InvalidFree)?;
                    let block = &self.state.heap[index];
                    if block.address != address {
                        return Err(Fault::InvalidFree.into());
                    }
                    let size = block.bytes.len() as u64;
                    self.record(address, size, true, false);
                    self.state.heap.remove(index);
                }
            }
            Op::Fill(to, byte, size) => {
                let (to, byte, size) =
                    (self.eval(to)? as u64, self.eval(byte)? as u8, self.eval(size)? as u64);
                if size > 0 {
                    self.record(to, size, true, false);
                    let part = self.machine.resolve(self.state, to, size).ok_or(Fault::InvalidAccess)?;
                    follow(size)?;
                    let (bytes, at) = self.state.bytes_mut(part);
                    bytes.write_slice(at, &vec![byte; size as usize]);
                }
            }
            Op::Copy(to, from, size) => {
                let (to, from, size) =
                    (self.eval(to)? as u64, self.eval(from)? as u64, self.eval(size)? as u64);
                if size > 0 {
                    self.record(from, size, false, false);
                    self.record(to, size, true, false);
                    let source = self.machine.resolve(self.state, from, size).ok_or(Fault::InvalidAccess)?;
                    let part = self.machine.resolve(self.state, to, size).ok_or(Fault::InvalidAccess)?;
                    follow(size)?;
                    let (bytes, at) = self.state.bytes(source);
                    if bytes.is_open(at, size as usize) && !self.machine.is_always_open(self.state, from) {
                        self.state.share(source, size as usize);
                    }
                    let (source, from) = self.state.bytes(source);
                    let source = source.clone();
                    let (bytes, at) = self.state.bytes_mut(part);
                    bytes.copy_from(at, &source, from, size as usize);
                }
            }
            Op::Call(callee, arguments, _) => {
                let template = self.callee(callee)?;
                let arguments = self.arguments(arguments)?;
                let thread = Arc::make_mut(&mut self.state.threads[self.thread]);
                self.machine.activate(thread, self.thread, template, &arguments, Some(edge))?;
            }
            Op::Broadcast(broadcast) => self.broadcast(broadcast)?,
        }
        Ok(())
    }

    /// The freed address that an allocation reuses; `None` for a new one.
    fn address_again(&mut self, size: u64) -> Option<u64> {
        let program = self.machine.program;
        if !program.reuses_addresses {
            return None;
        }
        let bytes = program.data_model.pointer().bytes() as usize;
        let found = self.state.reusable(&self.machine.addresses, bytes, size);
        let count = u8::try_from(found.len()).ok().filter(|count| *count > 0)?;
        let chosen = self.choices.choose(Choice { ty: IntType::U8, kind: ChoiceKind::Reuse(count) });
        usize::try_from(chosen - 1).ok().and_then(|index| found.get(index).copied())
    }

    fn broadcast(&mut self, broadcast: &Broadcast) -> Result<(), Stuck> {
        let mut arguments = Vec::new();
        for (local, argument) in &broadcast.arguments {
            arguments.push((Lhs::Local(*local), self.eval(argument)?));
        }
        for thread in 0..self.state.threads.len() {
            let innermost = self.state.threads[thread].activations.last().map(|top| top.template);
            if thread == self.thread || innermost != Some(broadcast.to) {
                continue;
            }
            let (machine, atomic) = (self.machine, self.atomic);
            let (state, choices, log) = (&mut *self.state, &mut *self.choices, &mut *self.log);
            let mut other = Context { machine, state, old: None, thread, choices, log, atomic };
            for (left, value) in &arguments {
                other.store(left, *value)?;
            }
            other.assign(&broadcast.assignment)?;
        }
        Ok(())
    }

    fn assign(&mut self, assignment: &Assignment) -> Result<(), Stuck> {
        let before = assignment.constraint.as_ref().map(|_| self.state.clone());
        if let [(lhs, rhs)] = assignment.pairs.as_slice() {
            let value = self.value(lhs, rhs)?;
            self.store(lhs, value)?;
        } else {
            let mut stores = Vec::new();
            for (lhs, rhs) in &assignment.pairs {
                let value = self.value(lhs, rhs)?;
                let address = match lhs {
                    Lhs::Local(_) => 0,
                    Lhs::Memory(place) => self.eval(&place.address)? as u64,
                };
                stores.push((lhs, address, value));
            }
            for (lhs, address, value) in stores {
                self.store_at(lhs, address, value)?;
            }
        }
        if let Some(constraint) = &assignment.constraint {
            let (machine, thread, atomic) = (self.machine, self.thread, self.atomic);
            let (state, choices, log) = (&mut *self.state, &mut *self.choices, &mut *self.log);
            let mut after = Context { machine, state, old: before.as_ref(), thread, choices, log, atomic };
            if after.eval(constraint)? == 0 {
                return Err(Stuck::Blocked);
            }
        }
        Ok(())
    }

    fn value(&mut self, lhs: &Lhs, rhs: &Rhs) -> Result<Value, Fault> {
        let kind = match rhs {
            Rhs::Value(value) => return self.eval(value),
            Rhs::Any => ChoiceKind::Any,
            Rhs::Unknown => ChoiceKind::Unknown,
            Rhs::Float(op, format, operands) => {
                let mut values = Vec::new();
                for operand in operands {
                    values.push(self.eval(operand)?);
                }
                match op.apply(*format, &values) {
                    Some(value) => return Ok(value),
                    None => ChoiceKind::Unknown,
                }
            }
        };
        let ty = match lhs {
            Lhs::Local(local) => {
                let top = self.state.threads[self.thread].activations.last().expect("only live threads run");
                self.machine.program.templates[top.template].locals[*local].ty
            }
            Lhs::Memory(place) => place.ty,
        };
        Ok(self.choices.choose(Choice { ty, kind }))
    }

    fn store(&mut self, lhs: &Lhs, value: Value) -> Result<(), Fault> {
        let address = match lhs {
            Lhs::Local(_) => 0,
            Lhs::Memory(place) => self.eval(&place.address)? as u64,
        };
        self.store_at(lhs, address, value)
    }

    fn store_at(&mut self, lhs: &Lhs, address: u64, value: Value) -> Result<(), Fault> {
        match lhs {
            Lhs::Local(local) => {
                let thread = Arc::make_mut(&mut self.state.threads[self.thread]);
                let top = thread.activations.last_mut().expect("only live threads run");
                let ty = self.machine.program.templates[top.template].locals[*local].ty;
                top.locals[local.0 as usize] = to_bits(ty.wrap(value), ty);
                Ok(())
            }
            Lhs::Memory(place) => {
                self.record(address, place.ty.bytes(), true, place.atomic);
                self.write(address, place.ty, value)
            }
        }
    }

    fn store_optional(&mut self, lhs: &Option<Lhs>, value: Value) -> Result<(), Fault> {
        match lhs {
            Some(lhs) => self.store(lhs, value),
            None => Ok(()),
        }
    }

    fn callee(&mut self, callee: &Callee) -> Result<TemplateId, Fault> {
        match callee {
            Callee::Procedure(template) => Ok(*template),
            Callee::Pointer(pointer) => {
                let address = self.eval(pointer)? as u64;
                self.machine.addresses.procedure_at(address).ok_or(Fault::InvalidCallee)
            }
        }
    }

    /// Arguments as they are passed: sign-extended to 64 bits.
    fn arguments(&mut self, arguments: &[crate::Expr]) -> Result<Vec<u64>, Fault> {
        arguments.iter().map(|argument| Ok(self.eval(argument)? as u64)).collect()
    }

    /// A word of a lock; one that was never set is 0.
    fn word(&mut self, address: u64) -> Result<Value, Fault> {
        self.machine.peek_memory(self.state, address, IntType::U32).ok_or(Fault::InvalidAccess)
    }

    /// Acquires a lock, if it is available.
    fn take(&mut self, kind: LockKind, address: u64) -> Result<bool, Fault> {
        let me = self.thread as Value + 1;
        let owner = self.word(address)?;
        match kind {
            LockKind::Mutex => {
                let again = owner == me
                    && self.word(address + mutex_kind_offset(self.machine.program.data_model))? == RECURSIVE;
                if owner != 0 && !again {
                    return Ok(false);
                }
                let count = if again { self.word(address + 4)? } else { 0 };
                self.write(address, IntType::U32, me)?;
                self.write(address + 4, IntType::U32, count + 1)?;
            }
            LockKind::Spin => {
                if owner != 0 {
                    return Ok(false);
                }
                self.write(address, IntType::U32, me)?;
            }
            LockKind::Read => {
                if owner != 0 {
                    return Ok(false);
                }
                let readers = self.word(address + 4)?;
                self.write(address + 4, IntType::U32, readers + 1)?;
            }
            LockKind::Write => {
                if owner != 0 || self.word(address + 4)? != 0 {
                    return Ok(false);
                }
                self.write(address, IntType::U32, me)?;
            }
        }
        Ok(true)
    }

    /// Releases a lock. Like common libraries, it does not check the owner.
    fn release(&mut self, kind: LockKind, address: u64) -> Result<(), Fault> {
        match kind {
            LockKind::Mutex => {
                let count = self.word(address + 4)?;
                if count > 1 {
                    return self.write(address + 4, IntType::U32, count - 1);
                }
                self.write(address, IntType::U32, 0)?;
                self.write(address + 4, IntType::U32, 0)
            }
            LockKind::Spin => self.write(address, IntType::U32, 0),
            LockKind::Read | LockKind::Write => {
                let readers = self.word(address + 4)?;
                if self.word(address)? != 0 {
                    self.write(address, IntType::U32, 0)
                } else if readers > 0 {
                    self.write(address + 4, IntType::U32, readers - 1)
                } else {
                    Ok(())
                }
            }
        }
    }
}
