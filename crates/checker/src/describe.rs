//! Memory in terms of the source: names of cells, and the differences between two states.

use ir::semantics::{Access, Bytes, Machine, State, ThreadIndex, address};
use ir::{IntType, Layout, ObjectId, Program, Storage, SyncKind, Value};
use std::sync::Arc;

/// A cell or local whose value a step changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Its name in the source, such as `s.a[2]`.
    pub name: String,
    /// The value before; `None` when it was not yet chosen or the cell did not exist.
    pub old: Option<Value>,
    /// The value after; `None` when it is not yet chosen.
    pub new: Option<Value>,
}

/// A scalar cell of an object.
pub(crate) struct Cell {
    pub name: String,
    /// Where it starts in the object.
    pub offset: u64,
    pub ty: IntType,
}

/// The cell of an object that holds the byte at `offset`. `length` is the object's real size.
pub(crate) fn cell_at(program: &Program, object: ObjectId, offset: u64, length: u64) -> Cell {
    let declared = &program.objects[object];
    let element = declared.size;
    // The type that the source uses allocated memory as names its members. Only names depend on it.
    if let (Storage::Site, Some(used)) = (declared.storage, program.site_use(object)) {
        let (index, rest) = (offset / used.size, offset % used.size);
        let name = if used.variable.is_empty() { declared.name.clone() } else { used.variable.clone() };
        let several = index > 0 || length >= used.size.saturating_mul(2);
        let name = if several { format!("{name}[{index}]") } else { name };
        let mut cell = cell_in(&used.layout, name.clone(), rest);
        // A pointer gives access to the members of a structure.
        if let (false, Some(member)) = (several, cell.name.strip_prefix(&format!("{name}."))) {
            cell.name = format!("{name}->{member}");
        } else if !several && cell.name == name && !used.variable.is_empty() {
            cell.name = format!("*{name}");
        }
        cell.offset += index * used.size;
        return cell;
    }
    // In memory that was allocated without a type, only bytes have names.
    if let (Storage::Site, Layout::Bytes(_)) = (declared.storage, &declared.layout) {
        return Cell { name: format!("byte {offset} of {}", declared.name), offset, ty: IntType::U8 };
    }
    // An allocation site may have allocated an array of elements.
    if declared.storage == Storage::Site && element > 0 && length > element {
        let index = offset / element;
        let name = format!("{}[{index}]", declared.name);
        let mut cell = cell_in(&declared.layout, name, offset % element);
        cell.offset += index * element;
        return cell;
    }
    cell_in(&declared.layout, declared.name.clone(), offset)
}

/// The name of the cell of an object that holds the byte at `offset`, such as `s.a[2]`.
pub fn cell_name(program: &Program, object: ObjectId, offset: u64) -> String {
    cell_at(program, object, offset, 0).name
}

fn cell_in(layout: &Layout, name: String, offset: u64) -> Cell {
    match layout {
        Layout::Scalar(ty) if offset < ty.bytes() => Cell { name, offset: 0, ty: *ty },
        Layout::Array { element, count, stride } if *stride > 0 && offset / stride < *count => {
            let index = offset / stride;
            let mut cell = cell_in(element, format!("{name}[{index}]"), offset % stride);
            cell.offset += index * stride;
            cell
        }
        Layout::Record(fields) => match fields.iter().rev().find(|field| field.offset <= offset) {
            Some(field) => {
                let name = if field.name.is_empty() { name } else { format!("{name}.{}", field.name) };
                let mut cell = cell_in(&field.layout, name, offset - field.offset);
                cell.offset += field.offset;
                cell
            }
            None => byte(name, offset),
        },
        Layout::Sync(kind) => {
            let word = match (kind, offset / 4) {
                (_, 0) => "owner".to_owned(),
                (SyncKind::Mutex, 1) => "count".to_owned(),
                (SyncKind::ReadWrite, 1) => "readers".to_owned(),
                (_, word) => format!("word {word}"),
            };
            let name = if *kind == SyncKind::Other { name } else { format!("{name}.{word}") };
            Cell { name, offset: offset / 4 * 4, ty: IntType::U32 }
        }
        Layout::Scalar(_) | Layout::Array { .. } | Layout::Bytes(_) => byte(name, offset),
    }
}

fn byte(name: String, offset: u64) -> Cell {
    Cell { name: format!("{name}+{offset}"), offset, ty: IntType::U8 }
}

/// The name of the memory at an address, for messages.
pub(crate) fn name_of(machine: &Machine<'_>, state: &State, address: u64) -> Option<(ObjectId, String)> {
    let (object, offset) = machine.describe(state, address)?;
    Some((object, cell_at(machine.program, object, offset, length_at(state, address)).name))
}

/// The value of the bytes of an access, where they are a scalar.
pub(crate) fn value_at(machine: &Machine<'_>, state: &State, access: &Access) -> Option<Value> {
    let (object, offset) = machine.describe(state, access.address)?;
    let cell = cell_at(machine.program, object, offset, length_at(state, access.address));
    let ty = match access.size {
        size if cell.offset == offset && cell.ty.bytes() == size => cell.ty,
        1 => IntType::U8,
        2 => IntType::U16,
        4 => IntType::U32,
        8 => IntType::U64,
        _ => return None,
    };
    machine.peek_memory(state, access.address, ty)
}

/// The size of the allocated object at an address, 0 if there is none.
fn length_at(state: &State, address: u64) -> u64 {
    let block = state
        .heap
        .iter()
        .find(|block| (block.address..block.address + block.bytes.len() as u64).contains(&address));
    block.map_or(0, |block| block.bytes.len() as u64)
}

/// The cells that differ between two states.
pub(crate) fn memory_changes(machine: &Machine<'_>, before: &State, after: &State) -> Vec<Change> {
    let mut changes = Vec::new();
    if !Arc::ptr_eq(&before.statics, &after.statics) {
        let parts = (&*before.statics, &*after.statics);
        bytes_changes(machine, (before, after), parts, address::STATICS, &mut changes);
    }
    for (index, (old, new)) in before.threads.iter().zip(&after.threads).enumerate() {
        if !Arc::ptr_eq(old, new) {
            let base = machine.addresses.stack(index);
            bytes_changes(machine, (before, after), (&old.stack, &new.stack), base, &mut changes);
        }
    }
    for new in &after.heap {
        let old = before.heap.iter().find(|old| old.address == new.address);
        if let Some(old) = old.filter(|old| !Arc::ptr_eq(old, new)) {
            bytes_changes(machine, (before, after), (&old.bytes, &new.bytes), new.address, &mut changes);
        }
    }
    changes
}

fn bytes_changes(
    machine: &Machine<'_>,
    (before, after): (&State, &State),
    (old, new): (&Bytes, &Bytes),
    base: u64,
    changes: &mut Vec<Change>,
) {
    let mut at = 0;
    while let Some(different) = old.first_difference(new, at) {
        at = different;
        let address = base + at as u64;
        let Some((object, offset)) = machine.describe(after, address) else {
            at += 1;
            continue;
        };
        let cell = cell_at(machine.program, object, offset, length_at(after, address));
        let start = address - offset + cell.offset;
        let value = |state: &State, bytes: &Bytes| {
            let from = (start - base) as usize;
            let size = cell.ty.bytes() as usize;
            if from + size > bytes.len() || bytes.is_open(from, size) {
                return None;
            }
            machine.peek_memory(state, start, cell.ty)
        };
        changes.push(Change { old: value(before, old), new: value(after, new), name: cell.name });
        at = ((start - base) + cell.ty.bytes()).max(at as u64 + 1) as usize;
    }
}

/// The locals of a thread's activation that a step changed.
pub(crate) fn local_changes(
    program: &Program,
    before: &State,
    after: &State,
    thread: ThreadIndex,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let (old, new) = (&before.threads[thread].activations, &after.threads[thread].activations);
    for (old, new) in old.iter().zip(new) {
        if old.template != new.template || old.frame != new.frame {
            break;
        }
        for ((_, local), (from, to)) in
            program.templates[new.template].locals.enumerate().zip(old.locals.iter().zip(&new.locals))
        {
            if from != to {
                let value = |bits: u64| Some(local.ty.wrap(Value::from(bits)));
                changes.push(Change { name: local.name.clone(), old: value(*from), new: value(*to) });
            }
        }
    }
    changes
}
