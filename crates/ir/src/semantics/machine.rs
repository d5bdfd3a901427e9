//! States, the initial state, and queries on a state.

use super::address::{AddressMap, GAP};
use super::memory::Bytes;
use crate::expr::Expr;
use crate::ids::{EdgeId, IdVec, LocationId, ObjectId, TemplateId};
use crate::program::{ErrorKind, Initial, LocationKind, ObjectRole, Program, Storage};
use crate::types::{IntType, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A thread's index in [`State::threads`]: the order of creation.
pub type ThreadIndex = usize;

/// A state of a program. Parts are shared between states that agree on them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The static objects, from [`super::address::STATICS`] on.
    pub statics: Arc<Bytes>,
    /// All threads that were ever started.
    pub threads: Vec<Arc<Thread>>,
    /// The live allocated objects, by rising address.
    pub heap: Vec<Arc<Block>>,
    /// Whether the whole program has ended.
    pub halted: bool,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Thread {
    /// The template that it was started with.
    pub template: TemplateId,
    /// Its activations, outermost first. Empty when it has ended.
    pub activations: Vec<Activation>,
    /// Its thread-local objects, then the frames of its activations.
    pub stack: Bytes,
    /// The number of bytes of its heap window that are used up.
    pub allocated: u64,
    /// What it returned, once it has ended.
    pub result: u64,
}

/// A running procedure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Activation {
    /// The procedure.
    pub template: TemplateId,
    /// The current location. While a callee runs, the location to which it returns.
    pub location: LocationId,
    /// Its locals, as bit patterns of their types, zero-extended.
    pub locals: Vec<u64>,
    /// Where its frame starts in the thread's stack.
    pub frame: u64,
    /// The edge of the caller whose last operation called it.
    pub called_by: Option<EdgeId>,
}

/// An allocated object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    /// Its first address.
    pub address: u64,
    /// Its allocation site.
    pub site: ObjectId,
    /// Its bytes.
    pub bytes: Bytes,
}

/// A bound of the concrete machine that a run hit. What happens beyond it is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitKind {
    /// More threads than [`Machine::max_threads`].
    Threads,
    /// A call stack that does not fit into its window, or is beyond [`Machine::MAX_BYTES`].
    Stack,
    /// Allocations that do not fit into their window.
    Heap,
    /// Static objects beyond [`Machine::MAX_BYTES`].
    Statics,
}

/// A program, prepared for execution.
pub struct Machine<'p> {
    /// The program.
    pub program: &'p Program,
    /// The memory map.
    pub addresses: AddressMap,
    /// The edges that start at each location of each template.
    pub outgoing: IdVec<TemplateId, IdVec<LocationId, Vec<EdgeId>>>,
    /// Starting one more thread than this hits [`LimitKind::Threads`].
    pub max_threads: usize,
    frame_objects: IdVec<TemplateId, Vec<ObjectId>>,
    thread_local_objects: Vec<ObjectId>,
    /// Whether the first thread may know its own id.
    knows_itself: bool,
    /// Whether there are atomic locations at all: states may have thousands of threads to ask.
    has_atomic_locations: bool,
}

impl<'p> Machine<'p> {
    /// The most bytes of static objects, of one thread's stack, and of one allocated object. Of long ones, a
    /// state holds only the pages that differ from the rest.
    pub const MAX_BYTES: u64 = 1 << 41;
    /// The most bytes that one step copies or fills.
    pub const MAX_COPIED: u64 = 64 << 20;

    /// Prepares a program.
    pub fn new(program: &'p Program) -> Result<Self, LimitKind> {
        let addresses = AddressMap::new(program);
        if addresses.static_size > addresses.static_limit().min(Self::MAX_BYTES) {
            return Err(LimitKind::Statics);
        }
        let largest = addresses.frame_size.iter().max().copied().unwrap_or(0);
        if addresses.thread_local_size.saturating_add(largest) > addresses.stack_limit(0).min(Self::MAX_BYTES)
        {
            return Err(LimitKind::Stack);
        }
        let mut frame_objects: IdVec<TemplateId, Vec<ObjectId>> =
            program.templates.iter().map(|_| Vec::new()).collect();
        let mut thread_local_objects = Vec::new();
        for (id, object) in program.objects.enumerate() {
            match object.storage {
                Storage::Frame(template) => frame_objects[template].push(id),
                Storage::ThreadLocal => thread_local_objects.push(id),
                Storage::Static | Storage::Site => {}
            }
        }
        Ok(Self {
            program,
            outgoing: program.templates.iter().map(|template| template.outgoing()).collect(),
            max_threads: addresses.thread_limit(),
            addresses,
            frame_objects,
            thread_local_objects,
            knows_itself: super::may_ask_for_own_id(program),
            has_atomic_locations: program
                .templates
                .iter()
                .flat_map(|code| &code.locations)
                .any(|location| location.atomic),
        })
    }

    /// Whether joining this thread would be an undefined self-join: the first thread joins itself by a number
    /// that it cannot have learned.
    pub(super) fn is_made_up(&self, thread: ThreadIndex, joined: ThreadIndex) -> bool {
        joined == thread && thread == 0 && !self.knows_itself
    }

    /// The state in which `copies[i]` threads of the i-th start template are at their entry.
    pub fn initial(&self, copies: &[u32]) -> Result<State, LimitKind> {
        let mut statics = Bytes::zeros(self.addresses.static_size as usize);
        for &id in &self.addresses.statics {
            let at = self.addresses.offset[id] - super::address::STATICS;
            self.initialise(&mut statics, at, id, 0);
        }
        let mut state =
            State { statics: Arc::new(statics), threads: Vec::new(), heap: Vec::new(), halted: false };
        for ((template, _), copies) in self.program.start.iter().zip(copies) {
            for _ in 0..*copies {
                self.start(&mut state, *template, &[])?;
            }
        }
        Ok(state)
    }

    /// Adds a thread and returns its id.
    pub(super) fn start(
        &self,
        state: &mut State,
        template: TemplateId,
        arguments: &[u64],
    ) -> Result<Value, LimitKind> {
        let index = state.threads.len();
        if index >= self.max_threads {
            return Err(LimitKind::Threads);
        }
        let mut thread =
            Thread { template, activations: Vec::new(), stack: Bytes::default(), allocated: 0, result: 0 };
        thread.stack.grow(self.addresses.thread_local_size as usize, false);
        for &id in &self.thread_local_objects {
            self.initialise(&mut thread.stack, self.addresses.offset[id], id, self.addresses.stack(index));
        }
        self.activate(&mut thread, index, template, arguments, None)?;
        state.threads.push(Arc::new(thread));
        Ok(index as Value + 1)
    }

    /// Enters a procedure.
    pub(super) fn activate(
        &self,
        thread: &mut Thread,
        index: ThreadIndex,
        template: TemplateId,
        arguments: &[u64],
        called_by: Option<EdgeId>,
    ) -> Result<(), LimitKind> {
        let code = &self.program.templates[template];
        let frame = (thread.stack.len() as u64).next_multiple_of(16);
        let end = frame + self.addresses.frame_size[template];
        if end > self.addresses.stack_limit(index).min(Self::MAX_BYTES) || thread.activations.len() >= 4096 {
            return Err(LimitKind::Stack);
        }
        thread.stack.grow(end as usize - thread.stack.len(), false);
        for &id in &self.frame_objects[template] {
            let base = self.addresses.stack(index) + frame;
            self.initialise(&mut thread.stack, frame + self.addresses.offset[id], id, base);
        }
        let mut locals = vec![0; code.locals.len()];
        let count = arguments.len().min(code.parameters);
        locals[..count].copy_from_slice(&arguments[..count]);
        for (local, ty) in locals.iter_mut().zip(code.locals.iter().map(|local| local.ty)).take(count) {
            *local = to_bits(ty.wrap(Value::from(*local)), ty);
        }
        thread.activations.push(Activation { template, location: code.entry, locals, frame, called_by });
        Ok(())
    }

    fn initialise(&self, bytes: &mut Bytes, at: u64, id: ObjectId, frame_base: u64) {
        let object = &self.program.objects[id];
        match &object.initial {
            Initial::Unknown | Initial::NotModelled => bytes.reopen(at as usize, object.size as usize),
            Initial::Values(values) => {
                for (offset, ty, value) in values {
                    let value = self.constant(value, frame_base);
                    bytes.write((at + offset) as usize, ty.bytes() as usize, to_bits(ty.wrap(value), *ty));
                }
            }
        }
    }

    /// The value of a constant expression.
    fn constant(&self, expr: &Expr, frame_base: u64) -> Value {
        match expr {
            Expr::Const(value, _) => *value,
            Expr::Address(object, offset) => {
                let base = match self.program.objects[*object].storage {
                    Storage::Static => 0,
                    Storage::Frame(_) | Storage::ThreadLocal | Storage::Site => frame_base,
                };
                Value::from(base + self.addresses.offset[*object] + offset)
            }
            Expr::Procedure(template) => Value::from(self.addresses.procedure(*template)),
            Expr::Cast(IntType::BOOL, operand) => Value::from(self.constant(operand, frame_base) != 0),
            Expr::Cast(ty, operand) => ty.wrap(self.constant(operand, frame_base)),
            other => {
                unreachable!("{other:?} is no constant initialiser; the well-formedness check rejects it")
            }
        }
    }

    /// The threads that may take the next step: the one at an atomic location if there is one, else all live
    /// ones.
    pub fn schedulable(&self, state: &State) -> Vec<ThreadIndex> {
        if state.halted {
            return Vec::new();
        }
        let live = |index: &ThreadIndex| !state.threads[*index].activations.is_empty();
        match (0..state.threads.len()).find(|index| self.is_atomic(state, *index)) {
            Some(index) => vec![index],
            None => (0..state.threads.len()).filter(live).collect(),
        }
    }

    /// Whether a thread is at an atomic location, or in a procedure that was called in an atomic region.
    pub fn is_atomic(&self, state: &State, thread: ThreadIndex) -> bool {
        let mut activations = state.threads[thread].activations.iter();
        self.has_atomic_locations
            && activations.any(|activation| {
                self.program.templates[activation.template].locations[activation.location].atomic
            })
    }

    /// The edges from the current location of a thread.
    pub fn edges(&self, state: &State, thread: ThreadIndex) -> &[EdgeId] {
        match state.location(thread) {
            Some((template, location)) => &self.outgoing[template][location],
            None => &[],
        }
    }

    /// A thread that is at an error location, and which kind.
    pub fn error(&self, state: &State) -> Option<(ThreadIndex, ErrorKind)> {
        (0..state.threads.len()).find_map(|index| {
            let (template, location) = state.location(index)?;
            match self.program.templates[template].locations[location].kind {
                LocationKind::Error(kind) => Some((index, kind)),
                LocationKind::Normal | LocationKind::End | LocationKind::Exit | LocationKind::Halt => None,
            }
        })
    }

    /// The name of the object at an address, with the offset in it, for reports.
    pub fn describe(&self, state: &State, address: u64) -> Option<(ObjectId, u64)> {
        if let Some(block) = state.block_at(address) {
            return Some((state.heap[block].site, address - state.heap[block].address));
        }
        let within = |id: ObjectId, at: u64| {
            let size = self.program.objects[id].size.max(1);
            (at..at + size).contains(&address).then(|| (id, address - at))
        };
        if let Some((thread, _)) = self.addresses.stack_at(address) {
            let base = self.addresses.stack(thread);
            let mut locals = self.thread_local_objects.iter();
            if let Some(found) = locals.find_map(|&id| within(id, base + self.addresses.offset[id])) {
                return Some(found);
            }
            return state.threads.get(thread)?.activations.iter().find_map(|activation| {
                let mut objects = self.frame_objects[activation.template].iter();
                objects.find_map(|&id| within(id, base + activation.frame + self.addresses.offset[id]))
            });
        }
        let statics = &self.addresses.statics;
        let next = statics.partition_point(|id| self.addresses.offset[*id] <= address);
        let id = *statics.get(next.checked_sub(1)?)?;
        within(id, self.addresses.offset[id])
    }

    /// Whether each copy of the open bytes at an address has a value of its own ([`ObjectRole::Open`]).
    pub(super) fn is_always_open(&self, state: &State, address: u64) -> bool {
        let object = self.describe(state, address).map(|(object, _)| object);
        object.is_some_and(|object| self.program.objects[object].role == ObjectRole::Open)
    }

    /// The start of the live object that an address is in, or just past.
    pub(super) fn object_start(&self, state: &State, address: u64) -> Option<u64> {
        let inside = |address: u64| self.describe(state, address).map(|(_, offset)| address - offset);
        inside(address).or_else(|| inside(address.checked_sub(1)?))
    }

    /// Whether all these bytes are in one live object.
    pub fn is_valid(&self, state: &State, address: u64, size: u64) -> bool {
        self.resolve(state, address, size).is_some()
    }

    /// The part of the state that holds these bytes, if they are in one live object.
    pub(super) fn resolve(&self, state: &State, address: u64, size: u64) -> Option<Part> {
        if size == 0 || address < super::address::STATICS {
            return None;
        }
        let fits = |start: u64, length: u64| {
            address >= start && address.checked_add(size).is_some_and(|end| end <= start + length)
        };
        if self.addresses.is_heap(address) {
            let index = state.block_at(address)?;
            let block = &state.heap[index];
            return fits(block.address, block.bytes.len() as u64)
                .then(|| Part::Heap(index, (address - block.address) as usize));
        }
        if let Some((thread, offset)) = self.addresses.stack_at(address) {
            let stack = &state.threads.get(thread)?.stack;
            if offset.checked_add(size).is_none_or(|end| end > stack.len() as u64) {
                return None;
            }
            let (object, at) = self.describe(state, address)?;
            return (at + size <= self.program.objects[object].size)
                .then_some(Part::Stack(thread, offset as usize));
        }
        let statics = &self.addresses.statics;
        let next = statics.partition_point(|id| self.addresses.offset[*id] <= address);
        let id = *statics.get(next.checked_sub(1)?)?;
        fits(self.addresses.offset[id], self.program.objects[id].size)
            .then(|| Part::Statics((address - super::address::STATICS) as usize))
    }
}

/// The place of some bytes in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Statics(usize),
    Stack(ThreadIndex, usize),
    Heap(usize, usize),
}

impl State {
    /// The template and location that a thread is at; `None` when it has ended.
    pub fn location(&self, thread: ThreadIndex) -> Option<(TemplateId, LocationId)> {
        let top = self.threads[thread].activations.last()?;
        Some((top.template, top.location))
    }
    /// The bytes that a part names, with the offset in them.
    pub(super) fn bytes(&self, part: Part) -> (&Bytes, usize) {
        match part {
            Part::Statics(at) => (&self.statics, at),
            Part::Stack(thread, at) => (&self.threads[thread].stack, at),
            Part::Heap(block, at) => (&self.heap[block].bytes, at),
        }
    }
    /// The bytes that a part names, to change.
    pub(super) fn bytes_mut(&mut self, part: Part) -> (&mut Bytes, usize) {
        match part {
            Part::Statics(at) => (Arc::make_mut(&mut self.statics), at),
            Part::Stack(thread, at) => (&mut Arc::make_mut(&mut self.threads[thread]).stack, at),
            Part::Heap(block, at) => (&mut Arc::make_mut(&mut self.heap[block]).bytes, at),
        }
    }
    /// All bytes of the state.
    fn all_bytes(&self) -> impl Iterator<Item = &Bytes> {
        let stacks = self.threads.iter().map(|thread| &thread.stack);
        std::iter::once(&*self.statics).chain(stacks).chain(self.heap.iter().map(|block| &block.bytes))
    }
    /// Numbers the values of the open bytes here that have no number yet, so that their copies share them.
    pub(super) fn share(&mut self, part: Part, size: usize) {
        let (bytes, at) = self.bytes(part);
        let is_new = |at: &usize| bytes.is_open(*at, 1) && bytes.shared_at(*at).is_none();
        let new: Vec<usize> = (at..at + size).filter(is_new).collect();
        if new.is_empty() {
            return;
        }
        let used: BTreeSet<u32> =
            self.all_bytes().flat_map(|bytes| bytes.shared()).map(|(_, number)| *number).collect();
        let (bytes, _) = self.bytes_mut(part);
        for (at, number) in new.into_iter().zip((0..).filter(|number| !used.contains(number))) {
            bytes.share(at, number);
        }
    }
    /// Stores values that were chosen for open bytes, here and wherever they are shared.
    pub(super) fn close(&mut self, part: Part, size: usize, bits: u64) {
        let (bytes, at) = self.bytes_mut(part);
        let chosen = bits.to_le_bytes();
        let number = |byte: usize| Some((bytes.shared_at(at + byte)?, chosen[byte]));
        let shared: Vec<(u32, u8)> = (0..size).filter_map(number).collect();
        bytes.write(at, size, bits);
        if shared.is_empty() {
            return;
        }
        let close = |bytes: &mut Bytes| {
            for (number, value) in &shared {
                let equal = bytes.shared().iter().filter(|(_, other)| other == number);
                for at in equal.map(|(at, _)| *at).collect::<Vec<_>>() {
                    bytes.write_slice(at, &[*value]);
                }
            }
        };
        if !self.statics.shared().is_empty() {
            close(Arc::make_mut(&mut self.statics));
        }
        for thread in self.threads.iter_mut().filter(|thread| !thread.stack.shared().is_empty()) {
            close(&mut Arc::make_mut(thread).stack);
        }
        for block in self.heap.iter_mut().filter(|block| !block.bytes.shared().is_empty()) {
            close(&mut Arc::make_mut(block).bytes);
        }
    }
    /// The allocated object that may hold an address.
    pub(super) fn block_at(&self, address: u64) -> Option<usize> {
        let next = self.heap.partition_point(|block| block.address <= address);
        let index = next.checked_sub(1)?;
        let block = &self.heap[index];
        (address < block.address + (block.bytes.len() as u64).max(1)).then_some(index)
    }
    /// Adds an allocated object, at a reused address or in a thread's heap window, and returns its address.
    pub(super) fn allocate(
        &mut self,
        addresses: &AddressMap,
        thread: ThreadIndex,
        site: ObjectId,
        (size, zeroed): (u64, bool),
        again: Option<u64>,
    ) -> Result<u64, LimitKind> {
        let used = self.threads[thread].allocated;
        let room = size.saturating_add(GAP).saturating_add(15) & !15;
        if used.saturating_add(room) > addresses.heap_limit(thread) || size > Machine::MAX_BYTES {
            return Err(LimitKind::Heap);
        }
        let address = again.unwrap_or(addresses.heap(thread) + used);
        if again.is_none() {
            Arc::make_mut(&mut self.threads[thread]).allocated += room;
        }
        let mut bytes = Bytes::default();
        bytes.grow(size as usize, !zeroed);
        let at = self.heap.partition_point(|block| block.address < address);
        self.heap.insert(at, Arc::new(Block { address, site, bytes }));
        Ok(address)
    }
}

/// A value as a bit pattern of its type, zero-extended.
pub(super) fn to_bits(value: Value, ty: IntType) -> u64 {
    ty.unsigned().wrap(value) as u64
}
