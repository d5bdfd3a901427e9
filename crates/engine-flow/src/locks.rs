//! The effects of steps on the words of locks, and the lock claims that they may break.
//!
//! The claim to hold a lock exclusively says that its owner word (the first 4 bytes) is the thread's id; the
//! claim to hold it shared, that this is so, or that the owner word is 0 and the count (the next 4 bytes) is
//! at least the number of threads with a shared claim. The rules follow the step semantics:
//!
//! 1. A plain store that may touch the claimed words breaks the claim. So does releasing a lock without a
//!    claim to it: the semantics lets any thread release any lock.
//! 2. Releasing a lock under a claim breaks no other claim to the same address: an exclusive claim of another
//!    thread would contradict it, and for shared claims, the count decreases by one along with the claim. At
//!    another address it may still touch the words.
//! 3. Acquiring a lock continues only if the owner word is 0 (or the thread's own), so it breaks no exclusive
//!    claim of another thread to the same address. Acquiring for writing waits for a count of 0; acquiring
//!    for reading increments the count. A mutex or a spin lock ignores the count, so it breaks shared claims.

use crate::model::Model;
use crate::values::Linear;
use ir::passes::footprint::{Extent, Region};
use ir::{Expr, LockKind, TemplateId};
use verdict::HeldLock;

/// An effect of a step on the words of locks.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Writes bytes, or releases a lock that it may not hold.
    Store(Region),
    /// Acquires a lock.
    Take(LockKind, Region),
    /// Releases a lock that it certainly holds.
    GiveBack(Region),
}

impl Effect {
    /// How many bytes it touches, if that is known.
    pub fn bytes(&self) -> Option<u64> {
        let (Self::Store(region) | Self::Take(_, region) | Self::GiveBack(region)) = self;
        match region.extent {
            Extent::Bytes(bytes) => Some(bytes),
            Extent::Object => None,
        }
    }
}

/// The words that a claim is about.
pub fn lock_region(model: &Model<'_>, template: TemplateId, lock: &HeldLock) -> Region {
    let bytes = if lock.shared { 8 } else { 4 };
    match lock.base {
        Expr::Address(object, _) => Region::exact(object, lock.offset, bytes),
        _ => {
            let address = Linear { base: lock.base.clone(), offset: lock.offset };
            let address = address.expression(model.program.data_model.pointer());
            Region::at(model.points_to, template, &address, Extent::Bytes(bytes))
        }
    }
}

/// Whether an effect may break a claim about the words in a region.
pub fn breaks(effect: &Effect, lock: &HeldLock, words: &Region) -> bool {
    match effect {
        Effect::Store(region) => region.overlaps(words),
        Effect::Take(kind, region) => match region.distances(words) {
            None => true,
            Some(distances) => {
                let ignores_count = matches!(kind, LockKind::Mutex | LockKind::Spin);
                distances.iter().any(|distance| *distance != 0 || (lock.shared && ignores_count))
            }
        },
        Effect::GiveBack(region) => match region.distances(words) {
            None => true,
            Some(distances) => distances.iter().any(|distance| *distance != 0),
        },
    }
}
