//! Runs passes: with a deadline, with statistics, and with a check of their results.
//!
//! In debug builds the well-formedness check follows every pass ([`checked`]): a pass that breaks a program
//! is caught at once.

use super::InlineError;
use crate::program::Program;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Statistics: how often something was asked for, how often it was derived, and how long that took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// How often it was asked for. For a pass, this is how often it ran.
    pub asked: u32,
    /// How often it was derived.
    pub made: u32,
    /// The total time.
    pub time: Duration,
}

/// Counts passes and the views that they derive.
#[derive(Default, Debug)]
pub struct PassLog(Mutex<BTreeMap<&'static str, Counted>>);

impl PassLog {
    fn change(&self, name: &'static str, change: impl FnOnce(&mut Counted)) {
        change(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default());
    }

    /// Records that something was asked for.
    pub fn ask(&self, name: &'static str) {
        self.change(name, |counted| counted.asked += 1);
    }

    /// Derives something, and records the time.
    pub fn time<T>(&self, name: &'static str, make: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = make();
        let time = start.elapsed();
        self.change(name, |counted| {
            counted.made += 1;
            counted.time += time;
        });
        made
    }

    /// All that was asked for, by name.
    pub fn counts(&self) -> BTreeMap<&'static str, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The runner of passes.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// The deadline for passes that may take long.
    pub deadline: Option<Instant>,
    /// Whether to give up before the next pass.
    pub is_stopped: &'a dyn Fn() -> bool,
    /// The statistics.
    pub log: &'a PassLog,
}

impl Runner<'_> {
    /// Runs a pass, unless the deadline has passed.
    pub fn run<T>(
        &self,
        name: &'static str,
        pass: impl FnOnce() -> Result<T, InlineError>,
    ) -> Result<T, InlineError> {
        if (self.is_stopped)() || super::is_past(self.deadline) {
            return Err(InlineError::OutOfTime);
        }
        self.log.ask(name);
        self.log.time(name, pass)
    }

    /// Runs a quick pass that returns a program.
    pub fn pass(&self, name: &'static str, pass: impl FnOnce() -> Program) -> Result<Program, InlineError> {
        self.run(name, || Ok(checked(name, pass())))
    }
}

/// Checks the result of a pass.
///
/// # Panics
/// In debug builds, if it is not well-formed.
pub fn checked(pass: &str, program: Program) -> Program {
    if cfg!(debug_assertions)
        && let Err(problems) = crate::check::check(&program)
    {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{pass} makes a program that is not well-formed: {}", problems.join("; "));
    }
    program
}
