//! Limits on every call of the solver: a deadline, the memory of the process, and a flag that others may set.
//!
//! The solver works on the calling thread. A second thread watches the limits while it does, and interrupts
//! it when one is hit.
//!
//! An interrupt has two lasting effects. An interrupt between two queries leaves a flag on the context, and
//! while it is set, assertions are silently dropped: [`within`] clears it. And a solver that was interrupted
//! (or stopped by a limit on its steps) in the middle of a query may have lost assertions, so that it later
//! calls an unsatisfiable formula satisfiable: after a query without an answer, a solver must not be used
//! again.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use verdict::{Budget, Exhausted, Reason, SAFETY};
use z3::{Context, ContextHandle, StatisticsValue};

/// How often the limits are looked at.
const INTERVAL: Duration = Duration::from_millis(10);

/// The clock gives a question this long at least, where steps are counted.
const LEAST: Duration = Duration::from_secs(10);

/// Why a question has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoAnswer {
    /// A limit of the budget was hit.
    Exhausted(Exhausted),
    /// The solver gave up, and said this.
    GaveUp(String),
}

impl NoAnswer {
    /// Why an engine has no verdict then.
    pub fn reason(self, engine: &str) -> Reason {
        match self {
            Self::Exhausted(limit) => Reason::Exhausted(limit),
            Self::GaveUp(_) => Reason::GaveUp(format!("{engine}: {self}")),
        }
    }
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

/// The bytes of memory that the whole process holds; 0 where the system does not say.
pub fn resident_memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// What the two threads report to each other.
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

    /// Interrupts the solver when a limit is hit, again and again until it has ended: it may look away for a
    /// moment.
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
                progress.exhausted = budget.look(resident_memory()).err();
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

/// How many of the solver's own steps stand for one step of a budget.
const SOLVER_STEPS: u64 = 3;

/// How many of its own steps the solver may take within a budget; 0 is no limit.
pub(crate) fn solver_limit(budget: &Budget) -> u32 {
    let limit = |left: u64| u32::try_from(left.saturating_mul(SOLVER_STEPS)).unwrap_or(u32::MAX).max(1);
    budget.steps_left().map_or(0, limit)
}

/// How many steps the solver has taken so far in this thread's context.
fn solver_steps() -> u64 {
    match z3::Solver::new().get_statistics().value("rlimit count") {
        Some(StatisticsValue::UInt(count)) => u64::from(count),
        Some(StatisticsValue::Double(_)) | None => 0,
    }
}

/// Runs a call of the solver within a budget. The budget's memory is that of the whole process. When a limit
/// is hit the call is interrupted and its result thrown away. Where steps are counted, the solver counts its
/// own; tactics do not, and are ended by the clock.
pub(crate) fn within<T>(budget: &Budget, call: impl FnOnce() -> T) -> Result<T, NoAnswer> {
    let Some(left) = budget.remaining().filter(|_| budget.steps.is_some()) else {
        return watched(budget, call);
    };
    let mut context = Context::thread_local();
    let clock = Budget { steps: None, ..budget.clone() };
    let before = solver_steps();
    context.update_param_value("rlimit", &solver_limit(budget).to_string());
    let result = watched(&clock.within(left.saturating_mul(SAFETY).max(LEAST)), call);
    context.update_param_value("rlimit", "0");
    budget.spend(solver_steps().saturating_sub(before) / SOLVER_STEPS);
    budget.look(0).map_err(NoAnswer::Exhausted)?;
    result
}

/// Runs a call of the solver until the clock, or another limit that can be seen from outside, ends it.
fn watched<T>(budget: &Budget, call: impl FnOnce() -> T) -> Result<T, NoAnswer> {
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
        Some(limit) => {
            recover();
            Err(NoAnswer::Exhausted(limit))
        }
        None => Ok(result),
    }
}

/// Clears the mark that an interrupt may have left: the next question does. No interrupt can come any more,
/// so that what is clear stays clear.
fn recover() {
    let recovered = (0..100).any(|_| keeps_assertions());
    assert!(recovered, "the solver does not recover from an interrupt");
}

/// Whether assertions reach the solver. Asks a question to find out.
fn keeps_assertions() -> bool {
    let solver = z3::Solver::new();
    solver.push();
    let probe = z3::ast::Bool::new_const("!probe");
    solver.assert(&probe);
    solver.assert(probe.not());
    solver.check() == z3::SatResult::Unsat
}

/// Runs a computation with a context of the solver to itself, which ends with it. What it finds depends on
/// nothing that was asked before, its memory is given back, and an interrupt cannot reach what comes after it
/// (a tactic that was interrupted leaves its context cancelled).
pub(crate) fn apart<T: Send + Sync>(computation: impl FnOnce() -> T + Send + Sync) -> T {
    let outcome = z3::with_z3_config(&z3::Config::new(), || {
        // A panic must not leave the thread with the wrong context.
        catch_unwind(AssertUnwindSafe(computation)).map_err(Mutex::new)
    });
    match outcome {
        Ok(result) => result,
        Err(panic) => resume_unwind(panic.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}
