//! Walks through programs that start thousands of threads before anything can go wrong.
//!
//! The other searches copy a state for each step, and consider each thread: too expensive with ten thousand
//! threads. Here one state is changed in place, and only the moving thread is considered: a step costs the
//! same for any number of threads. Most of the time the first thread runs, until it has to wait; a few others
//! run for a while in between.
//!
//! The search checks for races where many threads have been started and none has got far ([`Crowd::gather`]).
//!
//! Under-approximates: finds violations only. The sequence of walks is the same each time.

use crate::guesses::Guesses;
use crate::random::{Random, SEEDS};
use executions::model::Model;
use ir::semantics::{State, Stuck, ThreadIndex};
use verdict::{Budget, Exhausted, Trace, TraceStep, Violation};

/// Steps of one walk.
const LONGEST: usize = 400_000;
/// Threads in a row that cannot move before a walk is abandoned.
const PATIENCE: usize = 64;
/// Steps between two checks of the budget.
const INTERVAL: usize = 1 << 12;

/// Threads that are gathered at most, and between two looks for a race.
const MOST_GATHERED: usize = 1 << 11;
const GATHERED_AT_ONCE: usize = 32;
/// Steps that each of them takes at most.
const LONGEST_LEAD: usize = 8;

/// Walks at random.
pub struct Crowd {
    random: Random,
    /// How often threads were gathered.
    gathered: usize,
}

/// The result of a step.
enum Moved {
    /// It was taken.
    Yes,
    /// It cannot be taken, and nothing has changed.
    No,
    /// It cannot be taken, and what it did cannot be undone.
    Lost,
}

impl Crowd {
    /// One that has not yet moved.
    pub fn new() -> Self {
        Self { random: Random::new(SEEDS[0]), gathered: 0 }
    }

    /// One walk.
    pub fn walk(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        budget: &Budget,
    ) -> Result<Option<Trace>, Exhausted> {
        let machine = &model.machine;
        let Ok(mut state) = machine.initial(copies) else { return Ok(None) };
        let mut steps: Vec<TraceStep> = Vec::new();
        let mut turn: ThreadIndex = 0;
        // How many steps a thread that is not the first takes at most in a row, and how seldom the first
        // gives way.
        let stay = 1 + self.random.below(12);
        let seldom = 1 << (3 + self.random.below(10));
        let (mut stuck, mut run) = (0, 0);
        while stuck < PATIENCE && steps.len() < LONGEST && !state.halted {
            if steps.len().is_multiple_of(INTERVAL) {
                budget.spend(INTERVAL as u64);
                budget.check(0)?;
            }
            match self.step(model, &mut state, turn, &mut steps) {
                Moved::Lost => return Ok(None),
                Moved::Yes => {
                    (stuck, run) = (0, run + 1);
                    if model.is_wanted_error(&state, turn) {
                        let (template, location) = state.location(turn).expect("it is at an error");
                        let kind = machine.program.templates[template].locations[location].kind;
                        let ir::LocationKind::Error(kind) = kind else { return Ok(None) };
                        let violation = Violation::Error { thread: turn, kind };
                        return Ok(Some(Trace { copies: copies.to_vec(), steps, violation }));
                    }
                    if machine.is_atomic(&state, turn) {
                        continue;
                    }
                    let over = if turn == 0 { self.random.below(seldom) == 0 } else { run >= stay };
                    if over {
                        (turn, run) = (self.other(&state, turn), 0);
                    }
                }
                Moved::No if machine.is_atomic(&state, turn) => return Ok(None),
                Moved::No => {
                    stuck += 1;
                    (turn, run) = (self.other(&state, turn), 0);
                }
            }
        }
        Ok(None)
    }

    /// Lets the first thread run alone, and each that it starts take some steps at once, a few more each
    /// time; looks for a violation where there are many, and before the program ends.
    pub fn gather(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        budget: &Budget,
    ) -> Result<Option<Trace>, Exhausted> {
        let machine = &model.machine;
        let lead = self.gathered % LONGEST_LEAD;
        self.gathered += 1;
        let Ok(mut state) = machine.initial(copies) else { return Ok(None) };
        let mut steps: Vec<TraceStep> = Vec::new();
        let mut looked_at = 0;
        while steps.len() < LONGEST && state.threads.len() < MOST_GATHERED && !state.halted {
            if steps.len().is_multiple_of(INTERVAL) {
                budget.check(0)?;
            }
            let count = state.threads.len();
            if count > looked_at && (ends_next(model, &state) || count >= looked_at + GATHERED_AT_ONCE) {
                looked_at = count;
                budget.check(0)?;
                if let Some(violation) = model.violation(&state) {
                    return Ok(Some(Trace { copies: copies.to_vec(), steps, violation }));
                }
            }
            match self.step(model, &mut state, 0, &mut steps) {
                Moved::Yes => {}
                Moved::No => {
                    let found = model.violation(&state);
                    let trace = |violation| Trace { copies: copies.to_vec(), steps, violation };
                    return Ok(found.map(trace));
                }
                Moved::Lost => return Ok(None),
            }
            for started in count..state.threads.len() {
                for _ in 0..lead {
                    let may_run = !state.halted && machine.schedulable(&state).contains(&started);
                    match may_run.then(|| self.step(model, &mut state, started, &mut steps)) {
                        Some(Moved::Yes) => {}
                        Some(Moved::Lost) => return Ok(None),
                        Some(Moved::No) | None => break,
                    }
                }
            }
        }
        Ok(None)
    }

    /// Who runs next: the first thread, or one of those that were started first or last, or any.
    fn other(&mut self, state: &State, turn: ThreadIndex) -> ThreadIndex {
        let count = state.threads.len();
        if turn != 0 && self.random.below(2) == 0 {
            return 0;
        }
        match self.random.below(4) {
            0 => self.random.below(count),
            1 => count - 1 - self.random.below(count.min(3)),
            _ => self.random.below(count.min(4)),
        }
    }

    /// Lets a thread take one of its steps, if it can.
    fn step(
        &mut self,
        model: &Model<'_>,
        state: &mut State,
        thread: ThreadIndex,
        steps: &mut Vec<TraceStep>,
    ) -> Moved {
        let machine = &model.machine;
        let Some((template, _)) = state.location(thread) else { return Moved::No };
        let edges = machine.edges(state, thread);
        let first = self.random.below(edges.len());
        for offset in 0..edges.len() {
            let edge = edges[(first + offset) % edges.len()];
            let before = (state.statics.clone(), state.threads[thread].clone(), state.threads.len());
            let heap = state.heap.clone();
            let mut log = Vec::new();
            let mut values = Guesses::new(model, (template, edge), self.random.below(usize::MAX));
            match machine.advance(state, thread, edge, &mut values, &mut log) {
                Ok(()) if !values.tainted => {
                    steps.push(TraceStep { thread, edge, choices: values.made });
                    return Moved::Yes;
                }
                // An execution with a value that is not modelled is no evidence; beyond a limit of the
                // machine, nothing is known.
                Ok(()) | Err(Stuck::Limit(_)) => return Moved::Lost,
                Err(Stuck::Blocked | Stuck::Fault(_)) => {
                    let foreign = log.iter().any(|access| {
                        let owner = machine.addresses.stack_at(access.address);
                        access.write && owner.is_some_and(|(owner, _)| owner != thread)
                    });
                    if foreign {
                        return Moved::Lost;
                    }
                    (state.statics, state.threads[thread]) = (before.0, before.1);
                    state.threads.truncate(before.2);
                    state.heap = heap;
                }
            }
        }
        Moved::No
    }
}

/// Whether the first thread may end, or end the program, by its next step.
fn ends_next(model: &Model<'_>, state: &State) -> bool {
    let Some((template, _)) = state.location(0) else { return true };
    let code = &model.machine.program.templates[template];
    let targets = model.machine.edges(state, 0).iter().map(|edge| code.edges[*edge].target);
    targets.into_iter().any(|target| match code.locations[target].kind {
        ir::LocationKind::End | ir::LocationKind::Exit | ir::LocationKind::Halt => true,
        ir::LocationKind::Normal | ir::LocationKind::Error(_) => false,
    })
}
