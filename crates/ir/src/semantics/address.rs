//! The memory map: fixed addresses of objects.
//!
//! From low to high: an unused area (so that small integers are no addresses), procedures, static objects, a
//! stack window for each thread, a heap window for each thread. Windows make addresses independent of the
//! interleaving.

use super::memory::Bytes;
use crate::ids::{Id, IdVec, ObjectId, TemplateId};
use crate::program::{Program, Storage};
use crate::types::DataModel;

/// All fixed addresses.
#[derive(Clone, Debug)]
pub struct AddressMap {
    /// Static objects: the address. Frame objects: the offset in their template's frame.
    /// Thread-local objects: the offset in the thread's window. Sites: 0.
    pub offset: IdVec<ObjectId, u64>,
    /// The size of each template's frame.
    pub frame_size: IdVec<TemplateId, u64>,
    /// The size of a thread's thread-local objects.
    pub thread_local_size: u64,
    /// The size of all static objects.
    pub static_size: u64,
    /// Static objects by rising address, to find the object of an address.
    pub statics: Vec<ObjectId>,
    windows: Windows,
}

/// Windows of the same size, one after the other.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: u64,
    stride: u64,
}

/// The windows of threads: large ones for the first threads, smaller ones for the others.
#[derive(Clone, Copy, Debug)]
struct Windows {
    stacks: [Row; 2],
    heaps: [Row; 2],
    /// The number of threads with large windows.
    first: u64,
    threads: u64,
}

impl Windows {
    /// The thread whose window an address is in, and the offset there.
    fn at(&self, [first, others]: [Row; 2], address: u64) -> Option<(usize, u64)> {
        let (row, before, count) = match address.checked_sub(others.start) {
            Some(_) => (others, self.first, self.threads - self.first),
            None => (first, 0, self.first),
        };
        let offset = address.checked_sub(row.start)?;
        let thread = offset / row.stride;
        (thread < count).then_some(((before + thread) as usize, offset % row.stride))
    }
    fn row(&self, rows: [Row; 2], thread: u64) -> (u64, u64) {
        match thread.checked_sub(self.first) {
            None => (rows[0].start + rows[0].stride * thread, rows[0].stride),
            Some(thread) => (rows[1].start + rows[1].stride * thread, rows[1].stride),
        }
    }
}

/// The address of the first procedure.
const PROCEDURES: u64 = 0x1000;
/// The distance of two procedures.
const PROCEDURE_STRIDE: u64 = 16;
/// The address of the first static object.
pub const STATICS: u64 = 0x10_0000;
/// Bytes between two objects, so that a pointer past the end of one is not a pointer to the next.
pub const GAP: u64 = 16;

const WINDOWS_32: Windows = Windows {
    stacks: [Row { start: 0x6000_0000, stride: 0x40_0000 }, Row { start: 0x7000_0000, stride: 0xC000 }],
    heaps: [Row { start: 0xA000_0000, stride: 0x60_0000 }, Row { start: 0xB800_0000, stride: 0x1_0000 }],
    first: 64,
    threads: 1 << 14,
};
const WINDOWS_64: Windows = Windows {
    stacks: [Row { start: 1 << 44, stride: 1 << 32 }, Row { start: (1 << 44) + (1 << 40), stride: 1 << 30 }],
    heaps: [Row { start: 1 << 46, stride: 1 << 41 }, Row { start: 1 << 47, stride: 1 << 34 }],
    first: 32,
    threads: 1 << 14,
};

impl AddressMap {
    /// Lays out a program.
    pub fn new(program: &Program) -> Self {
        let windows = match program.data_model {
            DataModel::Ilp32 => WINDOWS_32,
            DataModel::Lp64 => WINDOWS_64,
        };
        let mut map = Self {
            offset: program.objects.iter().map(|_| 0).collect(),
            frame_size: program.templates.iter().map(|_| 0).collect(),
            thread_local_size: 0,
            static_size: 0,
            statics: Vec::new(),
            windows,
        };
        for (id, object) in program.objects.enumerate() {
            let end = match object.storage {
                Storage::Static => {
                    map.statics.push(id);
                    &mut map.static_size
                }
                Storage::Frame(template) => &mut map.frame_size[template],
                Storage::ThreadLocal => &mut map.thread_local_size,
                Storage::Site => continue,
            };
            let at = end.checked_next_multiple_of(object.align.max(1)).unwrap_or(u64::MAX);
            *end = at.saturating_add(object.size).saturating_add(GAP);
            map.offset[id] = at;
        }
        for &id in &map.statics {
            map.offset[id] = map.offset[id].saturating_add(STATICS);
        }
        map
    }
    /// The address of a procedure.
    pub fn procedure(&self, template: TemplateId) -> u64 {
        PROCEDURES + PROCEDURE_STRIDE * template.index() as u64
    }
    /// The procedure at an address.
    pub fn procedure_at(&self, address: u64) -> Option<TemplateId> {
        let offset = address.checked_sub(PROCEDURES)?;
        let index = (offset / PROCEDURE_STRIDE) as usize;
        (offset.is_multiple_of(PROCEDURE_STRIDE) && index < self.frame_size.len())
            .then(|| TemplateId::new(index))
    }
    /// The most bytes of static objects for which there is room.
    pub fn static_limit(&self) -> u64 {
        self.windows.stacks[0].start - STATICS
    }
    /// About how many bytes of static objects a state holds.
    pub fn held_size(&self) -> u64 {
        match usize::try_from(self.static_size).is_ok_and(|size| !Bytes::is_long(size)) {
            true => self.static_size,
            false => 1 << 20,
        }
    }
    /// Where the stack of the thread with this index starts. Its thread-local objects come first.
    pub fn stack(&self, thread: usize) -> u64 {
        self.windows.row(self.windows.stacks, thread as u64).0
    }
    /// The thread whose stack window an address is in, and the offset there.
    pub fn stack_at(&self, address: u64) -> Option<(usize, u64)> {
        self.windows.at(self.windows.stacks, address)
    }
    /// Where the heap of the thread with this index starts.
    pub fn heap(&self, thread: usize) -> u64 {
        self.windows.row(self.windows.heaps, thread as u64).0
    }
    /// The thread whose heap window an address is in, and the offset there.
    pub fn heap_at(&self, address: u64) -> Option<(usize, u64)> {
        self.windows.at(self.windows.heaps, address)
    }
    /// The bytes in a thread's stack window.
    pub fn stack_limit(&self, thread: usize) -> u64 {
        self.windows.row(self.windows.stacks, thread as u64).1
    }
    /// The bytes in a thread's heap window.
    pub fn heap_limit(&self, thread: usize) -> u64 {
        self.windows.row(self.windows.heaps, thread as u64).1
    }
    /// The most threads that have windows.
    pub fn thread_limit(&self) -> usize {
        self.windows.threads as usize
    }
    /// Whether an address is in the heap.
    pub fn is_heap(&self, address: u64) -> bool {
        address >= self.windows.heaps[0].start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two windows overlap, and each address in a stack window is recognised.
    #[test]
    fn windows_are_apart() {
        for model in [DataModel::Ilp32, DataModel::Lp64] {
            let map = AddressMap::new(&Program { data_model: model, ..Program::default() });
            let mut windows = Vec::new();
            for thread in 0..map.thread_limit() {
                let (stack, limit) = (map.stack(thread), map.stack_limit(thread));
                assert_eq!(map.stack_at(stack), Some((thread, 0)));
                assert_eq!(map.stack_at(stack + limit - 1), Some((thread, limit - 1)));
                assert!(!map.is_heap(stack + limit - 1) && map.is_heap(map.heap(thread)));
                assert_eq!(map.heap_at(map.heap(thread)), Some((thread, 0)));
                assert_eq!(map.heap_at(stack), None);
                windows.push((stack, stack + limit));
                windows.push((map.heap(thread), map.heap(thread) + map.heap_limit(thread)));
            }
            windows.sort_unstable();
            assert!(windows.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            let last = windows.last().map_or(0, |window| window.1);
            assert!(model == DataModel::Lp64 || last <= 1 << 32);
            assert_eq!(map.stack_at(map.heap(0)), None);
        }
    }
}
