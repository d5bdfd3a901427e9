//! The current state of a run: for the status line, and for the report of an interrupted run.
//!
//! Workers record their progress here; waiting threads read it. Results so far can be reported at any time.

use crate::first_listing;
use checker::Checked;
use ir::{Draft, Program};
use report::{End, Outcome, SharedMemory, Sources, Tried};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use verdict::{Cancel, Check, Event, Events, Exhausted, Reason};

/// The progress of a run.
#[derive(Clone, Default)]
pub struct Live {
    state: Arc<Mutex<State>>,
    /// Asks all workers to stop.
    pub cancel: Cancel,
}

#[derive(Default)]
struct State {
    /// The current work before engines run.
    doing: String,
    input: Option<Arc<(Program, Sources)>>,
    /// What is known of the program before it is read to the end, if races are looked for.
    draft: Option<Draft>,
    outcomes: Vec<Outcome>,
    current: Option<Current>,
    status: Option<u8>,
    memory: Option<SharedMemory>,
    /// Counts the listings.
    listings: u64,
}

/// A check that is not decided yet.
struct Current {
    check: Check,
    since: Instant,
    tried: Vec<Ended>,
    running: Vec<Running>,
    /// The number of the next engine.
    next: usize,
}

/// The result of one engine.
struct Ended {
    engine: &'static str,
    started: f64,
    seconds: f64,
    checking: f64,
    end: End,
}

struct Running {
    number: usize,
    engine: &'static str,
    since: Instant,
    doing: String,
}

/// A running engine: listens to its events.
pub struct Listener<'a> {
    live: &'a Live,
    number: usize,
}

/// The results of an unfinished run.
pub struct Partial {
    /// The input; `None` when it was not read yet.
    pub input: Option<Arc<(Program, Sources)>>,
    /// The checks that have begun.
    pub outcomes: Vec<Outcome>,
    /// The listing of shared memory.
    pub memory: Option<SharedMemory>,
}

impl Live {
    /// A run that can be cancelled from outside.
    pub fn new(cancel: Cancel) -> Self {
        Self { cancel, ..Self::default() }
    }
    fn state(&self) -> MutexGuard<'_, State> {
        // No update can be left half-done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Work begins that is no engine.
    pub fn doing(&self, what: impl Into<String>) {
        self.state().doing = what.into();
    }
    /// A program is read whose races are looked for: its draft serves for a listing meanwhile.
    pub fn reads(&self, draft: &Draft) {
        self.state().draft = Some(draft.clone());
    }
    /// The program was read.
    pub fn read(&self, input: &Arc<(Program, Sources)>) {
        let mut state = self.state();
        state.input = Some(input.clone());
        if let Some(draft) = state.draft.take() {
            draft.take();
        }
    }
    /// A program that was not read to the end, and the listing of what its code names.
    pub fn first_listing(&self) -> Option<(Program, SharedMemory)> {
        let program = self.state().draft.take()?.take()?;
        // The program is not well-formed for sure.
        let list = || SharedMemory::of(&program, &first_listing::by_name(&program), None);
        let mut memory = catch_unwind(AssertUnwindSafe(list)).ok()?;
        memory.incomplete = Some(first_listing::UNREAD.to_owned());
        Some((program, memory))
    }
    /// A check begins.
    pub fn begin(&self, check: Check) {
        let current =
            Current { check, since: Instant::now(), tried: Vec::new(), running: Vec::new(), next: 0 };
        self.state().current = Some(current);
    }
    /// The check is finished. Returns the number of the outcome.
    pub fn finish(&self, outcome: Outcome) -> usize {
        let mut state = self.state();
        state.current = None;
        state.outcomes.push(outcome);
        state.outcomes.len() - 1
    }
    /// Updates the outcome of a finished check.
    pub fn amend(&self, number: usize, change: impl FnOnce(&mut Outcome)) {
        if let Some(outcome) = self.state().outcomes.get_mut(number) {
            change(outcome);
        }
    }
    /// Adds or updates a part of a check. Parts come in order.
    pub fn put(&self, index: usize, outcome: Outcome) {
        let outcomes = &mut self.state().outcomes;
        match outcomes.get_mut(index) {
            Some(known) => *known = outcome,
            None => outcomes.push(outcome),
        }
    }
    /// All parts of the check are finished.
    pub fn done(&self) {
        self.state().current = None;
    }
    /// The answer and the exit status are known; only the report remains.
    pub fn answered(&self, status: u8) -> u8 {
        self.state().status = Some(status);
        status
    }
    /// The exit status, if the answer is known.
    pub fn status_known(&self) -> Option<u8> {
        self.state().status
    }
    /// Takes all outcomes.
    pub fn outcomes(&self) -> Vec<Outcome> {
        std::mem::take(&mut self.state().outcomes)
    }
    /// Sets or updates the listing of shared memory.
    pub fn list(&self, memory: &SharedMemory) {
        let mut state = self.state();
        state.memory = Some(memory.merged());
        state.listings += 1;
    }
    /// The current listing and its number, if there is one with a higher number.
    pub fn listed_since(&self, number: u64) -> Option<(u64, SharedMemory)> {
        let state = self.state();
        let memory = state.memory.as_ref().filter(|_| state.listings > number)?;
        Some((state.listings, memory.clone()))
    }
    /// Takes the listing of shared memory, if there is one.
    pub fn memory(&self) -> Option<SharedMemory> {
        self.state().memory.take()
    }
    /// An engine begins. Returns the time since the check began, and a listener.
    pub fn start(&self, engine: &'static str) -> (f64, Listener<'_>) {
        let mut state = self.state();
        let Some(current) = &mut state.current else { return (0.0, Listener { live: self, number: 0 }) };
        let number = current.next;
        current.next += 1;
        let running = Running { number, engine, since: Instant::now(), doing: String::new() };
        current.running.push(running);
        (current.since.elapsed().as_secs_f64(), Listener { live: self, number })
    }

    /// The status line.
    pub fn status(&self) -> String {
        let state = self.state();
        let Some(current) = &state.current else { return state.doing.clone() };
        let engines = current.running.iter().map(|running| {
            let doing =
                if running.doing.is_empty() { String::new() } else { format!(" ({})", running.doing) };
            format!("{} {:.0} s{doing}", running.engine, running.since.elapsed().as_secs_f64())
        });
        let engines: Vec<String> = engines.collect();
        let engines = if engines.is_empty() { "preparing".to_owned() } else { engines.join(", ") };
        format!("{}: {engines}", current.check.name())
    }

    /// The results so far, if the run ends here because of a limit or a request.
    pub fn partial(&self, why: Exhausted) -> Partial {
        let mut state = self.state();
        let mut outcomes = std::mem::take(&mut state.outcomes);
        // A check that has another turn keeps what the first has found.
        let is_known =
            |check| outcomes.iter().any(|known: &Outcome| known.check == check && known.variable.is_none());
        if let Some(current) = state.current.take().filter(|current| !is_known(current.check)) {
            let reason = || Reason::Exhausted(why);
            let begun = |since: Instant| since.saturating_duration_since(current.since).as_secs_f64();
            let running = current.running.iter().map(|running| Ended {
                engine: running.engine,
                started: begun(running.since),
                seconds: running.since.elapsed().as_secs_f64(),
                checking: 0.0,
                end: End::Unknown(reason()),
            });
            let running: Vec<Ended> = running.collect();
            let tries = current.tried.into_iter().chain(running).map(|ended| Tried {
                engine: ended.engine,
                started: ended.started,
                seconds: ended.seconds,
                checking: ended.checking,
                end: ended.end,
                rejected: Vec::new(),
            });
            outcomes.push(Outcome {
                check: current.check,
                variable: None,
                verdict: Checked::Unknown(reason()),
                decisions: None,
                seconds: current.since.elapsed().as_secs_f64(),
                tries: tries.collect(),
            });
        }
        Partial { input: state.input.take(), outcomes, memory: state.memory.take() }
    }
}

impl Listener<'_> {
    /// The engine has ended.
    pub fn end(self, tried: &Tried) {
        if let Some(current) = &mut self.live.state().current {
            current.running.retain(|running| running.number != self.number);
            current.tried.push(Ended {
                engine: tried.engine,
                started: tried.started,
                seconds: tried.seconds,
                checking: tried.checking,
                end: tried.end.clone(),
            });
        }
    }
}

impl Events for Listener<'_> {
    fn event(&self, event: Event) {
        let doing = match event {
            Event::Phase(text) => text,
            Event::Progress { states } => format!("{states} states"),
            Event::Attempt(_) => return,
        };
        if let Some(current) = &mut self.live.state().current {
            let number = self.number;
            if let Some(running) = current.running.iter_mut().find(|running| running.number == number) {
                running.doing = doing;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_tried_so_far_is_known_at_any_time() {
        let live = Live::default();
        live.doing("reading a.c");
        assert_eq!(live.status(), "reading a.c");
        live.begin(Check::Races);
        let (_, flow) = live.start("flow");
        let (_, explicit) = live.start("explicit");
        explicit.event(Event::Progress { states: 12 });
        assert!(live.status().starts_with("races: flow 0 s, explicit 0 s (12 states)"), "{}", live.status());
        let end = End::Unknown(Reason::GaveUp("x".to_owned()));
        let tried =
            Tried { engine: "flow", started: 0.0, seconds: 0.5, checking: 0.0, end, rejected: Vec::new() };
        flow.end(&tried);
        let partial = live.partial(Exhausted::Cancelled);
        let ends: Vec<(&str, String)> =
            partial.outcomes[0].tries.iter().map(|tried| (tried.engine, tried.end.to_string())).collect();
        assert_eq!(ends, [("flow", "x".to_owned()), ("explicit", "interrupted".to_owned())]);
    }
    #[test]
    fn a_second_turn_that_is_not_finished_changes_nothing() {
        let live = Live::default();
        let outcome = |seconds: f64| Outcome {
            check: Check::Assertions,
            variable: None,
            verdict: Checked::Unknown(Reason::Exhausted(Exhausted::Time)),
            decisions: None,
            seconds,
            tries: Vec::new(),
        };
        live.begin(Check::Assertions);
        let number = live.finish(outcome(1.0));
        live.begin(Check::Assertions);
        live.amend(number, |known| known.seconds += 2.0);
        live.begin(Check::Assertions);
        let partial = live.partial(Exhausted::Time);
        let seconds: Vec<f64> = partial.outcomes.iter().map(|outcome| outcome.seconds).collect();
        assert_eq!(seconds, [3.0]);
    }
}
