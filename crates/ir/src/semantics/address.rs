//! Where things are: a fixed map from objects to addresses.
//!
//! From low to high: nothing (so that small integers are no addresses), procedures, static objects, one window
//! of stack for each thread, one window of heap for each thread. Windows make addresses independent of how
//! threads interleave.

use crate::ids::{Id, IdVec, ObjectId, TemplateId};
use crate::program::{Program, Storage};
use crate::types::DataModel;

/// The address of everything that has a fixed one.
#[derive(Clone, Debug)]
pub struct AddressMap {
    /// Static objects: the address. Frame objects: the offset in their template's frame.
    /// Thread-local objects: the offset in the thread's window. Sites: 0.
    pub offset: IdVec<ObjectId, u64>,
    /// The bytes of each template's frame.
    pub frame_size: IdVec<TemplateId, u64>,
    /// The bytes of a thread's thread-local objects.
    pub thread_local_size: u64,
    /// The bytes of all static objects.
    pub static_size: u64,
    /// Static objects by rising address, to find what an address is in.
    pub statics: Vec<ObjectId>,
    windows: Windows,
}

#[derive(Clone, Copy, Debug)]
struct Windows {
    stack: u64,
    stack_stride: u64,
    heap: u64,
    heap_stride: u64,
    threads: u64,
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
    stack: 0x6000_0000,
    stack_stride: 0x40_0000,
    heap: 0xA000_0000,
    heap_stride: 0x60_0000,
    threads: 256,
};
const WINDOWS_64: Windows =
    Windows { stack: 1 << 44, stack_stride: 1 << 32, heap: 1 << 46, heap_stride: 1 << 36, threads: 256 };

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
    /// Where the stack of the thread with this index starts. Its thread-local objects come first.
    pub fn stack(&self, thread: usize) -> u64 {
        self.windows.stack + self.windows.stack_stride * thread as u64
    }
    /// The thread whose stack window an address is in, and the offset there.
    pub fn stack_at(&self, address: u64) -> Option<(usize, u64)> {
        let offset = address.checked_sub(self.windows.stack)?;
        let thread = offset / self.windows.stack_stride;
        (thread < self.windows.threads).then_some((thread as usize, offset % self.windows.stack_stride))
    }
    /// Where the heap of the thread with this index starts.
    pub fn heap(&self, thread: usize) -> u64 {
        self.windows.heap + self.windows.heap_stride * thread as u64
    }
    /// The bytes in a thread's stack window.
    pub fn stack_limit(&self) -> u64 {
        self.windows.stack_stride
    }
    /// The bytes in a thread's heap window.
    pub fn heap_limit(&self) -> u64 {
        self.windows.heap_stride
    }
    /// The most threads that there are windows for.
    pub fn thread_limit(&self) -> usize {
        self.windows.threads as usize
    }
    /// Whether an address is in the heap.
    pub fn is_heap(&self, address: u64) -> bool {
        address >= self.windows.heap
    }
}
