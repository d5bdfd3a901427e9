//! Where the objects of an execution are in the memory of the compiled program.
//!
//! Variables that live for the whole run are symbols. Allocated objects are found by the thread, the size,
//! and how many of this size the thread has allocated before. Locals are found when a thread is created:
//! its argument, or a cell of an object that was found before, points to them.

use crate::reproducer::Unforced;
use crate::reproducer::events::{Execution, Instance};
use ir::semantics::State;
use ir::{IntType, ObjectId, ObjectRole, Program, Storage};
use std::collections::BTreeMap;

/// How an object is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Binding {
    /// By this symbol.
    Symbol(String),
    /// This thread allocates it, at this step, after so many others of its size.
    Allocated { thread: usize, step: usize, rank: usize },
    /// When a thread is created, at this step, by a pointer to `target` bytes after its start.
    Pointed { step: usize, via: Via, target: u64 },
}

/// What points to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Via {
    /// The argument of the created thread.
    Argument,
    /// The cell of another object at this offset.
    Cell(Instance, u64),
}

/// The objects of some touches, each with how it is found and its size.
pub(crate) struct Objects {
    pub found: BTreeMap<Instance, (Binding, u64)>,
}

impl Objects {
    /// Finds all objects that the execution touches and that can be found.
    pub fn new(execution: &Execution<'_>) -> Self {
        let program = execution.machine.program;
        let mut objects = Self { found: BTreeMap::new() };
        for touch in &execution.touches {
            let (object, base) = touch.instance;
            let declared = &program.objects[object];
            match declared.storage {
                Storage::Static => {
                    if is_symbol(program, &declared.name) {
                        let found = Binding::Symbol(declared.name.clone());
                        objects.found.insert(touch.instance, (found, declared.size));
                    }
                }
                Storage::Site => {
                    let allocated = execution.states.iter().position(|state| block(state, base).is_some());
                    let Some(step) = allocated.and_then(|state| state.checked_sub(1)) else { continue };
                    let size = block(&execution.states[step + 1], base).unwrap_or(0);
                    let thread = execution.threads[step];
                    let is_like = |earlier: &usize| {
                        execution.threads[*earlier] == thread && allocates(execution, *earlier, size)
                    };
                    let rank = (0..step).filter(is_like).count();
                    objects.found.insert(touch.instance, (Binding::Allocated { thread, step, rank }, size));
                }
                Storage::Frame(_) | Storage::ThreadLocal => {}
            }
        }
        objects.follow_pointers(execution);
        objects
    }

    /// At each creation of a thread, what its argument and the cells of known objects point to becomes known.
    fn follow_pointers(&mut self, execution: &Execution<'_>) {
        let program = execution.machine.program;
        let pointer = program.data_model.pointer();
        for (thread, creation) in execution.creations.iter().enumerate() {
            let Some(creation) = creation else { continue };
            let state = &execution.states[creation.step + 1];
            let argument = argument(execution, thread, creation.step);
            let mut pointers: Vec<(Via, u64)> =
                argument.map(|value| (Via::Argument, value)).into_iter().collect();
            let mut looked: Vec<Instance> = Vec::new();
            loop {
                while let Some((via, value)) = pointers.pop() {
                    self.point(execution, state, creation.step, via, value);
                }
                let known: Vec<(Instance, u64)> = self
                    .found
                    .iter()
                    .filter(|(instance, _)| !looked.contains(instance))
                    .map(|(instance, (_, size))| (*instance, *size))
                    .collect();
                if known.is_empty() {
                    break;
                }
                for (instance, size) in known {
                    looked.push(instance);
                    pointers.extend(cells(execution, state, instance, size, pointer));
                }
            }
        }
    }

    /// Notes what a pointer points to, if that is a local which is not known yet.
    fn point(&mut self, execution: &Execution<'_>, state: &State, step: usize, via: Via, value: u64) {
        let Some((object, offset)) = execution.machine.describe(state, value) else { return };
        let declared = &execution.machine.program.objects[object];
        let instance = (object, value - offset);
        if matches!(declared.storage, Storage::Frame(_) | Storage::ThreadLocal) {
            let found = Binding::Pointed { step, via, target: offset };
            self.found.entry(instance).or_insert((found, declared.size));
        }
    }

    /// The step from which on an object can be recognized by its address.
    pub fn found_at(&self, instance: Instance) -> usize {
        match self.found.get(&instance) {
            Some((Binding::Symbol(_), _)) | None => 0,
            Some((Binding::Allocated { step, .. } | Binding::Pointed { step, .. }, _)) => *step,
        }
    }

    /// The object of an event, or why it cannot be found.
    pub fn of(&self, program: &Program, instance: Instance) -> Result<&(Binding, u64), Unforced> {
        let name = || program.objects[instance.0].name.clone();
        self.found.get(&instance).ok_or_else(|| Unforced::Variable(name()))
    }
}

/// Whether the name is one that the user gave, to one variable only.
fn is_symbol(program: &Program, name: &str) -> bool {
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let same =
        program.objects.iter().filter(|object| object.storage == Storage::Static && object.name == name);
    is_word && same.count() == 1
}

/// Whether a step allocates so many bytes by one of the functions that count as such.
fn allocates(execution: &Execution<'_>, step: usize, size: u64) -> bool {
    let (before, after) = (&execution.states[step], &execution.states[step + 1]);
    let is_allocated = |site: ObjectId| execution.machine.program.objects[site].role == ObjectRole::Allocated;
    let is_new = |address: u64| block(before, address).is_none();
    after.heap.len() >= before.heap.len()
        && after.heap.iter().any(|block| {
            block.bytes.len() as u64 == size && is_allocated(block.site) && is_new(block.address)
        })
}

/// The size of the block that starts at an address.
fn block(state: &State, base: u64) -> Option<u64> {
    state.heap.iter().find(|block| block.address == base).map(|block| block.bytes.len() as u64)
}

/// The pointers in an object.
fn cells(
    execution: &Execution<'_>,
    state: &State,
    instance: Instance,
    size: u64,
    pointer: IntType,
) -> Vec<(Via, u64)> {
    let offsets = (0..size.min(1 << 12) / pointer.bytes()).map(|index| index * pointer.bytes());
    let values = offsets.filter_map(|offset| {
        let value = execution.machine.peek_memory(state, instance.1 + offset, pointer)?;
        (value != 0).then_some((Via::Cell(instance, offset), value as u64))
    });
    values.collect()
}

/// The argument that a created thread got, if it is a pointer.
fn argument(execution: &Execution<'_>, thread: usize, step: usize) -> Option<u64> {
    let state = &execution.states[step + 1];
    let activation = state.threads[thread].activations.first()?;
    let program = execution.machine.program;
    (program.templates[activation.template].parameters == 1).then(|| activation.locals[0])
}
