//! Which freed addresses an allocation may reuse.
//!
//! Only those of which an old copy exists: reuse of others cannot be observed. An address qualifies if memory
//! or a local holds it, as a whole pointer, and the new object fits there without overlapping live ones.
//! Under-approximates: real allocators may also reuse others, so programs that could notice are never proved
//! ([`Program::reuses_addresses`](crate::Program::reuses_addresses)).

use super::address::{AddressMap, GAP};
use super::machine::State;
use super::memory::Bytes;

/// The most addresses that are offered to one allocation.
const MOST_ADDRESSES: usize = 3;
/// If static objects have more bytes in total than this, they are not searched for old addresses.
const MOST_BYTES: usize = 1 << 16;

impl State {
    /// The addresses of freed memory that an allocation of `size` bytes may reuse, by rising address.
    pub(super) fn reusable(&self, addresses: &AddressMap, pointer: usize, size: u64) -> Vec<u64> {
        let mut found = Vec::new();
        let mut see = |address: u64| {
            if self.is_free_again(addresses, address, size) {
                found.push(address);
            }
        };
        let words = |bytes: &Bytes, see: &mut dyn FnMut(u64)| {
            for part in bytes.occupied() {
                let first = part.start.next_multiple_of(pointer);
                for at in (first..(part.end + 1).saturating_sub(pointer)).step_by(pointer) {
                    see(bytes.read(at, pointer));
                }
            }
        };
        if self.statics.held() <= MOST_BYTES {
            words(&self.statics, &mut see);
        }
        self.heap.iter().for_each(|block| words(&block.bytes, &mut see));
        for thread in &self.threads {
            words(&thread.stack, &mut see);
            thread.activations.iter().flat_map(|top| &top.locals).for_each(|local| see(*local));
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(MOST_ADDRESSES);
        found
    }

    /// Whether an address was allocated before, and a new object fits there.
    fn is_free_again(&self, addresses: &AddressMap, address: u64, size: u64) -> bool {
        let Some((thread, offset)) = addresses.heap_at(address) else { return false };
        let used = self.threads.get(thread).map_or(0, |thread| thread.allocated);
        let end = address.saturating_add(size).saturating_add(GAP);
        let next = self.heap.partition_point(|block| block.address < address);
        let fits_before = self.heap.get(next).is_none_or(|block| end <= block.address);
        let fits_after = next.checked_sub(1).and_then(|before| self.heap.get(before)).is_none_or(|block| {
            block.address.saturating_add(block.bytes.len() as u64).saturating_add(GAP) <= address
        });
        address.is_multiple_of(16)
            && offset.saturating_add(size).saturating_add(GAP) <= used
            && fits_before
            && fits_after
    }
}
