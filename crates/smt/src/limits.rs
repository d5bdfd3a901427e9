//! Limits on every call of the solver: a deadline, the memory of the process, and a flag that others may set.
//!
//! The solver works on the calling thread. A second thread watches the limits while it does, and interrupts it when one is hit.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use verdict::{Budget, Exhausted};
use z3::{Context, ContextHandle};

/// How often the limits are looked at.
const INTERVAL: Duration = Duration::from_millis(10);

/// Why a question has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoAnswer {
    /// A limit of the budget was hit.
    Exhausted(Exhausted),
    /// The solver gave up, and said this.
    GaveUp(String),
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exhausted(Exhausted::Time) => f.write_str("the solver ran out of time"),
            Self::Exhausted(Exhausted::Memory) => f.write_str("the solver ran out of memory"),
            Self::Exhausted(Exhausted::Cancelled) => f.write_str("the solver was stopped"),
            Self::GaveUp(why) => write!(f, "the solver gave up: {why}"),
        }
    }
}

/// The bytes of memory that the whole process holds; 0 where the system does not tell.
pub fn resident_memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// What the two threads tell each other.
#[derive(Default)]
struct Watch {
    progress: Mutex<Progress>,
    ended: Condvar,
}

#[derive(Default)]
struct Progress {
    ended: bool,
    exhausted: Option<Exhausted>,
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Interrupts the solver when a limit is hit, again and again until it has ended: it may look away for a moment.
    fn run(&self, budget: &Budget, solver: &ContextHandle<'_>) {
        let mut progress = self.lock();
        while !progress.ended {
            let wait =
                budget.remaining().map_or(INTERVAL, |left| left.clamp(Duration::from_millis(1), INTERVAL));
            let (next, _) = self.ended.wait_timeout(progress, wait).unwrap_or_else(PoisonError::into_inner);
            progress = next;
            if progress.ended {
                return;
            }
            if progress.exhausted.is_none() {
                progress.exhausted = budget.check(resident_memory()).err();
            }
            if progress.exhausted.is_some() {
                solver.interrupt();
            }
        }
    }
}

/// Ends the watch, also when the solver's call panics.
struct EndOfWatch<'a>(&'a Watch);

impl Drop for EndOfWatch<'_> {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.ended.notify_all();
    }
}

/// Runs a call of the solver within a budget. The budget's memory is that of the whole process. When a limit is hit the call
/// is interrupted and its result thrown away.
pub(crate) fn within<T>(budget: &Budget, call: impl FnOnce() -> T) -> Result<T, NoAnswer> {
    budget.check(resident_memory()).map_err(NoAnswer::Exhausted)?;
    let context = Context::thread_local();
    let solver = context.handle();
    let watch = Watch::default();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| watch.run(budget, &solver));
        let _end = EndOfWatch(&watch);
        call()
    });
    match watch.lock().exhausted {
        Some(limit) => Err(NoAnswer::Exhausted(limit)),
        None => Ok(result),
    }
}
