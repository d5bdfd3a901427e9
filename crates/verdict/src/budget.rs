//! Limits that every engine obeys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that stops whoever looks at it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks all that hold this flag to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How long and how much.
#[derive(Clone, Debug)]
pub struct Budget {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// How many bytes the engine's own tables may take.
    pub memory: u64,
    /// Stops early.
    pub cancel: Cancel,
}

/// Which limit was hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// The deadline passed.
    Time,
    /// The tables grew too large.
    Memory,
    /// Someone asked to stop.
    Cancelled,
}

impl Budget {
    /// A budget of this much time from now on.
    pub fn seconds(seconds: f64) -> Self {
        let deadline = Instant::now().checked_add(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
        Self { deadline, ..Self::unlimited() }
    }
    /// No limits but a generous one on memory.
    pub fn unlimited() -> Self {
        Self { deadline: None, memory: 4 << 30, cancel: Cancel::default() }
    }
    /// Whether to stop, given how many bytes are in use. Cheap enough to ask every thousand steps.
    pub fn check(&self, bytes: u64) -> Result<(), Exhausted> {
        if self.cancel.is_cancelled() {
            Err(Exhausted::Cancelled)
        } else if bytes > self.memory {
            Err(Exhausted::Memory)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Err(Exhausted::Time)
        } else {
            Ok(())
        }
    }
    /// At most this much of what is left.
    pub fn within(&self, time: Duration) -> Self {
        let deadline = Instant::now().checked_add(time);
        let deadline = match (self.deadline, deadline) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { deadline, ..self.clone() }
    }
    /// The time that is left.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}
