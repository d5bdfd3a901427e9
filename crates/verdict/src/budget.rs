//! Limits that every engine obeys.
//!
//! Time is measured by the clock, or in steps: each call to a budget is a step, and the solver counts its
//! own. A budget of steps ends at the same place on every machine, however busy it is, so a single engine
//! always gives the same answer within it. One second stands for [`STEPS_PER_SECOND`] steps, so that code
//! which takes a part of the time, or some milliseconds, works with both kinds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A flag that asks its holders to stop.
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

/// The number of steps that stand for one second: about as many as an engine takes on an idle machine.
pub const STEPS_PER_SECOND: u64 = 1_000_000;

/// The number of steps that a call to the budget stands for: the work between two calls takes some
/// microseconds.
const STEPS_PER_CHECK: u64 = 10;

/// Steps may take this many times the time that they stand for, before the clock ends them.
pub const SAFETY: u32 = 20;

/// A count of steps, and where it ends.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Shared by all parts of a budget.
    taken: Arc<AtomicU64>,
    most: u64,
}

impl Steps {
    fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken.load(Ordering::Relaxed))
    }
}

/// How long and how much.
#[derive(Clone, Debug)]
pub struct Budget {
    /// When to stop, by the clock.
    pub deadline: Option<Instant>,
    /// After how many steps to stop.
    pub steps: Option<Steps>,
    /// The memory that the engine's own tables may take, in bytes.
    pub memory: u64,
    /// Stops early.
    pub cancel: Cancel,
}

/// Which limit was hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// The deadline passed, or all steps are taken.
    Time,
    /// The tables grew too large.
    Memory,
    /// Someone asked to stop.
    Cancelled,
}

impl Budget {
    /// A budget of this much time, from now on.
    pub fn seconds(seconds: f64) -> Self {
        let deadline = Instant::now().checked_add(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
        Self { deadline, ..Self::unlimited() }
    }
    /// A budget of as many steps as an engine takes in about this many seconds, however long they take.
    pub fn steps_for(seconds: f64) -> Self {
        let most = steps_of(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
        Self { steps: Some(Steps { taken: Arc::default(), most }), ..Self::unlimited() }
    }
    /// No limits but a generous one on memory.
    pub fn unlimited() -> Self {
        Self { deadline: None, steps: None, memory: 4 << 30, cancel: Cancel::default() }
    }
    /// Whether to stop, given how many bytes are in use. Cheap enough to ask every thousand steps.
    pub fn check(&self, bytes: u64) -> Result<(), Exhausted> {
        self.spend(STEPS_PER_CHECK);
        self.look(bytes)
    }
    /// Whether to stop, for code that watches other work: this is no step.
    pub fn look(&self, bytes: u64) -> Result<(), Exhausted> {
        if self.cancel.is_cancelled() {
            Err(Exhausted::Cancelled)
        } else if bytes > self.memory {
            Err(Exhausted::Memory)
        } else if self.steps.as_ref().is_some_and(|steps| steps.left() == 0)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
        {
            Err(Exhausted::Time)
        } else {
            Ok(())
        }
    }
    /// Takes steps, if they are counted.
    pub fn spend(&self, count: u64) {
        if let Some(steps) = &self.steps {
            steps.taken.fetch_add(count, Ordering::Relaxed);
        }
    }
    /// The remaining steps, if they are counted.
    pub fn steps_left(&self) -> Option<u64> {
        self.steps.as_ref().map(Steps::left)
    }
    /// At most this much of the remaining budget.
    pub fn within(&self, time: Duration) -> Self {
        let steps = self.steps.as_ref().map(|steps| {
            let most = steps.taken.load(Ordering::Relaxed).saturating_add(steps_of(time));
            Steps { taken: steps.taken.clone(), most: most.min(steps.most) }
        });
        // Where steps are counted, they alone decide about parts: the clock is for the whole.
        let deadline = match (&steps, self.deadline, Instant::now().checked_add(time)) {
            (Some(_), whole, _) => whole,
            (None, Some(one), Some(other)) => Some(one.min(other)),
            (None, one, other) => one.or(other),
        };
        Self { deadline, steps, ..self.clone() }
    }
    /// At most about this much of the remaining budget, always counted in steps, so that results do not
    /// depend on how busy the machine is. The clock ends it only where steps take far longer than they
    /// should.
    pub fn patient_for(&self, time: Duration) -> Self {
        let counted = Steps { taken: Arc::default(), most: steps_of(time) };
        match &self.steps {
            Some(_) => self.within(time),
            None => Self { steps: Some(counted), ..self.within(time.saturating_mul(SAFETY)) },
        }
    }
    /// The remaining time, or the time that the remaining steps stand for.
    pub fn remaining(&self) -> Option<Duration> {
        match &self.steps {
            Some(steps) => Some(Duration::from_secs_f64(steps.left() as f64 / STEPS_PER_SECOND as f64)),
            None => self.remaining_by_clock(),
        }
    }
    /// The remaining time by the clock, whatever the steps.
    pub fn remaining_by_clock(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
    /// One of this many equal parts of the remaining budget; without a limit, all of it.
    pub fn part(&self, parts: u32) -> Self {
        self.most_of(1, parts)
    }
    /// The given fraction of the remaining budget; without a limit, all of it.
    pub fn most_of(&self, taken: u32, parts: u32) -> Self {
        self.remaining().map_or(self.clone(), |left| self.within(left * taken / parts.max(1)))
    }
    /// The whole remaining budget, counted separately from now on, for concurrent work. Steps that others
    /// take do not count.
    pub fn apart(&self) -> Self {
        let steps = self.steps.as_ref().map(|steps| Steps { taken: Arc::default(), most: steps.left() });
        Self { steps, ..self.clone() }
    }
    /// This much more than the remaining budget.
    pub fn longer_by(&self, time: Duration) -> Self {
        let longer = |steps: &Steps| Steps {
            taken: steps.taken.clone(),
            most: steps.most.saturating_add(steps_of(time)),
        };
        let deadline = self.deadline.and_then(|deadline| deadline.checked_add(time));
        Self { deadline, steps: self.steps.as_ref().map(longer), ..self.clone() }
    }
}

/// The steps that some time stands for.
fn steps_of(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).saturating_mul(STEPS_PER_SECOND / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a budget can be asked.
    fn questions(budget: &Budget) -> u64 {
        let mut count = 0;
        while budget.check(0).is_ok() {
            count += 1;
        }
        count
    }

    #[test]
    fn steps_end_a_budget() {
        let budget = Budget::steps_for(0.01);
        let all = budget.steps_left().expect("it has steps");
        assert_eq!(all, STEPS_PER_SECOND / 100);
        assert_eq!(questions(&budget), all.div_ceil(STEPS_PER_CHECK) - 1);
        assert_eq!(budget.check(0), Err(Exhausted::Time));
        assert_eq!(budget.remaining(), Some(Duration::ZERO));
    }

    #[test]
    fn a_part_takes_its_steps_from_the_whole() {
        let whole = Budget::steps_for(1.0);
        let part = whole.part(4);
        assert_eq!(part.remaining(), Some(Duration::from_millis(250)));
        part.spend(1_000);
        assert_eq!(whole.steps_left(), Some(STEPS_PER_SECOND - 1_000));
        questions(&part);
        assert!(whole.check(0).is_ok());
        assert!(whole.within(Duration::from_secs(100)).remaining() <= Some(Duration::from_millis(750)));
        // A budget that is counted separately takes none of them.
        let beside = whole.apart();
        questions(&beside);
        assert!(whole.check(0).is_ok());
        questions(&whole);
        assert!(whole.longer_by(Duration::from_millis(1)).check(0).is_ok());
    }

    #[test]
    fn whoever_watches_takes_no_steps() {
        let budget = Budget::steps_for(1.0);
        (0..100).for_each(|_| assert!(budget.look(0).is_ok()));
        assert_eq!(budget.steps_left(), Some(STEPS_PER_SECOND));
        assert!(Budget::seconds(0.0).check(0).is_err() && Budget::unlimited().part(3).deadline.is_none());
    }
}
