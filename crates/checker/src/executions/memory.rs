//! The content of memory in a state of the machine, where it is known.

use ir::semantics::{Bytes, Machine, STATICS, State, ThreadIndex};
use ir::{Expr, IntType, ObjectId, Storage, Value};

/// The value of a cell; `None` when it is in no live object, or was not set.
pub fn value_at(machine: &Machine<'_>, state: &State, address: u64, ty: IntType) -> Option<Value> {
    let value = machine.peek_memory(state, address, ty)?;
    let size = ty.bytes() as usize;
    let is_open = if machine.addresses.is_heap(address) {
        let next = state.heap.partition_point(|block| block.address <= address);
        let block = state.heap.get(next.checked_sub(1)?)?;
        block.bytes.is_open((address - block.address) as usize, size)
    } else if let Some((thread, offset)) = machine.addresses.stack_at(address) {
        state.threads.get(thread)?.stack.is_open(offset as usize, size)
    } else {
        state.statics.is_open((address - STATICS) as usize, size)
    };
    (!is_open).then_some(value)
}

/// The address of an object, as a thread names it; `None` when it has none, or more than one.
pub fn address_of(
    machine: &Machine<'_>,
    state: &State,
    thread: Option<ThreadIndex>,
    object: ObjectId,
) -> Option<u64> {
    let offset = machine.addresses.offset[object];
    match machine.program.objects[object].storage {
        Storage::Static => Some(offset),
        Storage::ThreadLocal => Some(machine.addresses.stack(thread?) + offset),
        Storage::Frame(template) => {
            let has = |thread: &ThreadIndex| {
                state.threads[*thread].activations.iter().any(|activation| activation.template == template)
            };
            let owner = match thread.filter(has) {
                Some(thread) => thread,
                // Another thread's: the only one that exists.
                None => {
                    let mut all = (0..state.threads.len()).filter(has);
                    all.next().filter(|_| all.next().is_none())?
                }
            };
            let mut frames =
                state.threads[owner].activations.iter().filter(|activation| activation.template == template);
            let frame = frames.next().filter(|_| frames.next().is_none())?.frame;
            Some(machine.addresses.stack(owner) + frame + offset)
        }
        Storage::Site => {
            let mut blocks = state.heap.iter().filter(|block| block.site == object);
            blocks.next().filter(|_| blocks.next().is_none()).map(|block| block.address)
        }
    }
}

/// The value of an expression for a live thread; `None` when it has none, or depends on unknown values.
pub fn value_of(machine: &Machine<'_>, state: &State, thread: ThreadIndex, expr: &Expr) -> Option<Value> {
    let mut known = true;
    expr.walk(&mut |inner| match inner {
        Expr::Load(place) => {
            let address = machine.peek(state, thread, &place.address).ok();
            let address = address.and_then(|address| u64::try_from(address).ok());
            known &= address.is_some_and(|address| value_at(machine, state, address, place.ty).is_some());
        }
        // The machine does not name these.
        Expr::Address(object, _) => known &= machine.program.objects[*object].storage != Storage::Site,
        Expr::Const(..) | Expr::Local(_) | Expr::Procedure(_) | Expr::Myself => {}
        Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => {}
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => {}
    });
    if !known {
        return None;
    }
    machine.peek(state, thread, expr).ok()
}

/// States with more bytes than this are not searched.
const MOST_BYTES: usize = 1 << 14;

/// Whether some word of memory is in a range of addresses; `None` when there is too much memory to search.
pub fn is_in_memory(state: &State, width: usize, range: &std::ops::Range<u64>) -> Option<bool> {
    let stacks = state.threads.iter().map(|thread| &thread.stack);
    let all = || {
        std::iter::once(&*state.statics)
            .chain(stacks.clone())
            .chain(state.heap.iter().map(|block| &block.bytes))
    };
    let holds = |bytes: &Bytes| {
        let mut words = (0..(bytes.len() + 1).saturating_sub(width)).step_by(width);
        words.any(|at| range.contains(&bytes.read(at, width)))
    };
    (all().map(Bytes::len).sum::<usize>() <= MOST_BYTES).then(|| all().any(holds))
}
