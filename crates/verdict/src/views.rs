//! The views of a program: what engines, checkers and reports work on, each derived once and shared.
//!
//! Views of a program that is lowered for a property differ in three ways: with or without atomic runs; for
//! errors, for races, or for listings of the source; with locks as they are or as words. The first to ask for
//! a view derives it, and others wait. A view depends on the program alone and never changes, so an engine
//! and the checker of its proofs may share one: neither can alter what the other sees. Code that does not
//! want to share makes [`Views`] of its own, as `threadproof check` does.
//!
//! If time runs out, the attempt is not kept, so another engine with more time may try again. A view that is
//! too large to be derived is so for all.

use crate::{Budget, Exhausted, Reason};
use ir::passes::runner::checked;
use ir::passes::{
    Annotated, Goal, InlineError, InlineLimits, PassLog, PointsTo, Runner, annotated, before_calls,
    is_dynamic, lipton_reduce_with, lock_words_with, sliced, within_lines,
};
use ir::{ErrorKind, LocationKind, Program};
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How often a thread that waits for a view checks its budget.
const INTERVAL: Duration = Duration::from_millis(20);

/// A value that is derived once.
struct Slot<T> {
    value: OnceLock<T>,
    /// Whether a thread is deriving it.
    busy: Mutex<bool>,
    idle: Condvar,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), busy: Mutex::new(false), idle: Condvar::new() }
    }
}

/// Ends the work on a slot, also when it panics.
struct Work<'a, T>(&'a Slot<T>);

impl<T> Drop for Work<'_, T> {
    fn drop(&mut self) {
        *self.0.busy.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.idle.notify_all();
    }
}

impl<T> Slot<T> {
    /// The value. Derives it, or waits for the thread that does.
    fn get(
        &self,
        name: &'static str,
        (log, budget): (&PassLog, &Budget),
        derive: impl FnOnce() -> Result<T, Exhausted>,
    ) -> Result<&T, Exhausted> {
        log.ask(name);
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        while *busy && self.value.get().is_none() {
            budget.look(0)?;
            (busy, _) = self.idle.wait_timeout(busy, INTERVAL).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        *busy = true;
        drop(busy);
        let _work = Work(self);
        let value = log.time(name, derive)?;
        // Nobody else derives it.
        Ok(self.value.get_or_init(|| value))
    }
}

/// Why there is no view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoView {
    /// A limit was hit before it was derived.
    Exhausted(Exhausted),
    /// The program has no such view.
    Impossible(InlineError),
}

impl NoView {
    /// The reason for an engine to have no verdict.
    pub fn reason(self, engine: &str) -> Reason {
        let error = match self {
            Self::Exhausted(exhausted) => return Reason::Exhausted(exhausted),
            Self::Impossible(error) => error,
        };
        let text = format!("{engine}: {error}");
        match error {
            InlineError::TooLarge { .. } => Reason::TooLarge(text),
            InlineError::UnknownCallee(span) | InlineError::Broadcast(span) => {
                Reason::NotSupported(text, span)
            }
            InlineError::OutOfTime => Reason::Exhausted(Exhausted::Time),
        }
    }
}

/// Tests points-to sets of a program: says what is wrong with them, or that a limit was hit before it knew.
pub type PointsToTest<'a> = dyn Fn(&Program, &PointsTo) -> Result<Result<(), String>, Exhausted> + 'a;

/// A program, and what addresses may point to in it.
pub struct Analysed {
    program: Program,
    points_to: Slot<PointsTo>,
    /// What the checker says of these sets.
    tested: Slot<Result<(), String>>,
    log: Arc<PassLog>,
}

impl Deref for Analysed {
    type Target = Program;
    fn deref(&self) -> &Program {
        &self.program
    }
}

impl Analysed {
    fn new(program: Program, log: Arc<PassLog>) -> Self {
        Self { program, points_to: Slot::default(), tested: Slot::default(), log }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What addresses may point to in it.
    pub fn points_to(&self, budget: &Budget) -> Result<&PointsTo, Exhausted> {
        self.points_to.get("view: points-to", (&self.log, budget), || {
            PointsTo::until(&self.program, budget.deadline).ok_or_else(|| why_stopped(budget))
        })
    }

    /// What a test says of these sets. They never change, so they are tested once. Only the checker asks.
    pub fn tested(&self, test: &PointsToTest<'_>, budget: &Budget) -> Result<&Result<(), String>, Exhausted> {
        self.tested
            .get("test: points-to", (&self.log, budget), || test(&self.program, self.points_to(budget)?))
    }

    /// The same, without a limit.
    pub fn points_to_whatever_it_takes(&self) -> &PointsTo {
        match self.points_to(&Budget::unlimited()) {
            Ok(points_to) => points_to,
            Err(_) => self.points_to.value.get_or_init(|| PointsTo::of(&self.program)),
        }
    }
}

impl From<Program> for Analysed {
    fn from(program: Program) -> Self {
        Self::new(program, Arc::default())
    }
}

/// A view of a program for engines: without calls, with points-to sets.
pub struct View {
    plain: Analysed,
    words: Slot<Analysed>,
}

impl Deref for View {
    type Target = Analysed;
    fn deref(&self) -> &Analysed {
        &self.plain
    }
}

impl View {
    fn new(program: Program, log: Arc<PassLog>) -> Self {
        Self { plain: Analysed::new(program, log), words: Slot::default() }
    }

    /// The same with locks as words ([`ir::passes::lock_words`]).
    pub fn words(&self, budget: &Budget) -> Result<&Analysed, Exhausted> {
        let log = &self.plain.log;
        self.words.get("view: lock words", (log, budget), || {
            let points_to = self.plain.points_to(budget)?;
            let words = log.time("lock words", || lock_words_with(&self.plain.program, points_to));
            Ok(Analysed::new(checked("lock words", words), log.clone()))
        })
    }
}

/// A program that is lowered for a property, and its views.
pub struct Views {
    lowered: Analysed,
    annotated: Slot<Result<Annotated, InlineError>>,
    /// What the checker says of the sets that views are derived by.
    tested: Slot<Result<(), String>>,
    errors: Slot<Result<View, InlineError>>,
    races: Slot<Result<View, InlineError>>,
    listed: Slot<Result<View, InlineError>>,
    atomic: Slot<Box<Views>>,
}

impl Deref for Views {
    type Target = Program;
    fn deref(&self) -> &Program {
        &self.lowered.program
    }
}

impl From<Program> for Views {
    fn from(program: Program) -> Self {
        Self::logged(program, Arc::default())
    }
}

impl Views {
    fn logged(program: Program, log: Arc<PassLog>) -> Self {
        Self {
            lowered: Analysed::new(program, log),
            annotated: Slot::default(),
            tested: Slot::default(),
            errors: Slot::default(),
            races: Slot::default(),
            listed: Slot::default(),
            atomic: Slot::default(),
        }
    }

    /// The lowered program itself.
    pub fn program(&self) -> &Program {
        &self.lowered.program
    }

    /// What addresses may point to in the lowered program.
    pub fn points_to(&self, budget: &Budget) -> Result<&PointsTo, Exhausted> {
        self.lowered.points_to(budget)
    }

    /// What a test says of the points-to sets of the lowered program. Only the checker asks.
    pub fn tested(&self, test: &PointsToTest<'_>, budget: &Budget) -> Result<&Result<(), String>, Exhausted> {
        self.lowered.tested(test, budget)
    }

    /// What a test says of the points-to sets by which views are derived from the lowered program: those by
    /// which calls are resolved, those of the program without calls, and, if bounds are checked, those of
    /// the lowered program. Only the checker asks.
    pub fn base_tested(
        &self,
        test: &PointsToTest<'_>,
        budget: &Budget,
    ) -> Result<&Result<(), String>, NoView> {
        let log = &self.lowered.log;
        let base = self.annotated(budget)?;
        let tested = self.tested.get("test: points-to of views", (log, budget), || {
            let program = &self.lowered.program;
            let mut locations = program.templates.iter().flat_map(|code| &code.locations);
            if locations.any(|location| location.kind == LocationKind::Error(ErrorKind::InvalidAccess))
                && let Err(wrong) = self.tested(test, budget)?
            {
                return Ok(Err(wrong.clone()));
            }
            let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
            if ops.any(is_dynamic) {
                let plain = before_calls(program);
                let points_to = PointsTo::until(&plain, budget.deadline);
                if let Err(wrong) = test(&plain, &points_to.ok_or_else(|| why_stopped(budget))?)? {
                    return Ok(Err(wrong));
                }
            }
            test(&base.program, &base.points_to)
        });
        tested.map_err(NoView::Exhausted)
    }

    /// The program without calls that all views are derived from, annotated with targets.
    pub fn inlined(&self, budget: &Budget) -> Result<&Program, NoView> {
        self.annotated(budget).map(|annotated| &annotated.program)
    }

    fn annotated(&self, budget: &Budget) -> Result<&Annotated, NoView> {
        let base = self.base(budget).map_err(NoView::Exhausted)?;
        base.as_ref().map_err(|error| NoView::Impossible(*error))
    }

    fn base(&self, budget: &Budget) -> Result<&Result<Annotated, InlineError>, Exhausted> {
        let log = &self.lowered.log;
        let runner = Runner { deadline: budget.deadline, is_stopped: &|| budget.look(0).is_err(), log };
        let limits = InlineLimits { deadline: budget.deadline, ..InlineLimits::default() };
        self.annotated.get("view: annotated", (log, budget), || {
            kept(annotated(&self.lowered.program, limits, &runner), budget)
        })
    }

    /// The views that were asked for so far, and those that were derived.
    pub fn log(&self) -> &PassLog {
        &self.lowered.log
    }

    /// The view for errors or for races, without irrelevant code and data
    /// ([`ir::passes::symbolic_of_lowered`]).
    pub fn sliced(&self, races: bool, budget: &Budget) -> Result<&View, NoView> {
        let (slot, name) = match races {
            true => (&self.races, "view: races"),
            false => (&self.errors, "view: errors"),
        };
        let goal = Goal { races, faults: false };
        self.derived(slot, name, budget, |annotated, runner| {
            sliced(&self.lowered.program, annotated, goal, runner)
        })
    }

    /// The view for listings: nothing is left out, and each source line keeps its own steps
    /// ([`ir::passes::listed`]).
    pub fn listed(&self, budget: &Budget) -> Result<&View, NoView> {
        self.derived(&self.listed, "view: listed", budget, within_lines)
    }

    /// The program with atomic runs ([`ir::passes::lipton_reduce`]), and its views. For programs without data
    /// races.
    pub fn lipton_reduce(&self, budget: &Budget) -> Result<&Self, Exhausted> {
        let log = &self.lowered.log;
        let views = self.atomic.get("view: atomic runs", (log, budget), || {
            let points_to = self.lowered.points_to(budget)?;
            let runs = log.time("atomic runs", || lipton_reduce_with(&self.lowered.program, points_to));
            Ok(Box::new(Self::logged(checked("atomic runs", runs), log.clone())))
        })?;
        Ok(views)
    }

    fn derived<'a>(
        &'a self,
        slot: &'a Slot<Result<View, InlineError>>,
        name: &'static str,
        budget: &Budget,
        derive: impl FnOnce(&Annotated, &Runner<'_>) -> Result<Program, InlineError>,
    ) -> Result<&'a View, NoView> {
        let log = &self.lowered.log;
        let runner = Runner { deadline: budget.deadline, is_stopped: &|| budget.look(0).is_err(), log };
        let view = slot.get(name, (log, budget), || match self.base(budget) {
            Ok(Ok(base)) => {
                let program = derive(base, &runner);
                kept(program.map(|program| View::new(program, log.clone())), budget)
            }
            Ok(Err(error)) => Ok(Err(*error)),
            Err(exhausted) => Err(exhausted),
        });
        match view {
            Ok(Ok(view)) => Ok(view),
            Ok(Err(error)) => Err(NoView::Impossible(*error)),
            Err(exhausted) => Err(NoView::Exhausted(exhausted)),
        }
    }
}

/// What is kept of an attempt: a result, or that there is none; but not that time ran out.
fn kept<T>(made: Result<T, InlineError>, budget: &Budget) -> Result<Result<T, InlineError>, Exhausted> {
    match made {
        Err(InlineError::OutOfTime) => Err(why_stopped(budget)),
        made => Ok(made),
    }
}

/// The limit that stopped a pass.
fn why_stopped(budget: &Budget) -> Exhausted {
    budget.look(0).err().unwrap_or(Exhausted::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::text::parse;

    fn views() -> Views {
        let text = "program lp64\nstart main 2\nstatic m: bytes 40 static x: i32\n\
            template main() { locations 4 end l3\n\
            l0 -> l1: lock mutex &m\n\
            l1 -> l2: i32[&x] := i32[&x] + 1\n\
            l2 -> l3: unlock mutex &m }";
        parse(text).expect("it is a program").into()
    }

    #[test]
    fn a_view_is_derived_once() {
        let views = views();
        let budget = Budget::unlimited();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for races in [false, true] {
                        let view = views.sliced(races, &budget).expect("it is small");
                        view.words(&budget).expect("no limit").points_to(&budget).expect("no limit");
                    }
                });
            }
        });
        let counts = views.log().counts();
        let of = |name: &str| counts.get(name).map(|counted| (counted.asked, counted.made));
        assert_eq!(of("view: errors"), Some((4, 1)));
        assert_eq!(of("view: races"), Some((4, 1)));
        assert_eq!(of("view: lock words"), Some((8, 2)), "one for errors, one for races");
        assert_eq!(of("inline"), Some((1, 1)), "errors and races start from the same program");
    }

    #[test]
    fn a_view_that_was_given_up_is_derived_later() {
        let views = views();
        let cancelled = Budget::unlimited();
        cancelled.cancel.cancel();
        assert_eq!(views.sliced(false, &cancelled).err(), Some(NoView::Exhausted(Exhausted::Cancelled)));
        assert!(views.sliced(false, &Budget::unlimited()).is_ok());
    }

    #[test]
    fn views_are_what_the_passes_make() {
        let views = views();
        let budget = Budget::unlimited();
        for races in [false, true] {
            let goal = Goal { races, faults: false };
            let made = ir::passes::symbolic_of_lowered(&views, goal, InlineLimits::default());
            assert_eq!(views.sliced(races, &budget).ok().map(|view| view.program()), made.as_ref().ok());
        }
        let made = ir::passes::listed(&views, InlineLimits::default());
        assert_eq!(views.listed(&budget).ok().map(|view| view.program()), made.as_ref().ok());
    }
}
