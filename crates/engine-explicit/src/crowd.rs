//! Walks through programs that start thousands of threads before anything can go wrong.
//!
//! The other searches copy a state for each step, and consider each thread: too expensive with ten thousand
//! threads. Here one state is changed in place, and only the moving thread is considered: a step costs the
//! same for any number of threads. Most of the time the first thread runs, until it has to wait; a few others
//! run for a while in between.
//!
//! What goes wrong often needs a few of these threads only, and all of them to be started before. So the
//! first thread runs alone until no more are started, and many short walks of a few threads begin there
//! ([`Crowd::walk_from_last_start`]). The search checks for races where many threads have been started and
//! none has got far ([`Crowd::gather`]).
//!
//! Some errors need many threads, but no two at once: a counter that each thread raises goes beyond its
//! bound. So some walks let each thread run to its end as soon as it is started
//! ([`Crowd::walk_one_after_another`]). There, each input of the first thread is the same candidate, so that
//! a loop that starts threads continues.
//!
//! Under-approximates: finds violations only. The sequence of walks is the same each time.

use crate::guesses::Guesses;
use crate::random::{Random, SEEDS};
use executions::model::Model;
use ir::TemplateId;
use ir::semantics::{State, Stuck, ThreadIndex};
use std::collections::BTreeMap;
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

/// How many times the steps up to the last start are taken after it, by all walks from there together.
const STEPS_FROM_LAST_START: usize = 4;
/// Steps of the shortest and the longest of these walks, as powers of two.
const LENGTHS: std::ops::Range<usize> = 6..14;
/// Threads that take part in such a walk, of each template, and in all.
const AWAKE_OF_TEMPLATE: usize = 2;
const MOST_AWAKE: usize = 8;

/// Steps of the first and of the longest walk in which threads run one after another; the length grows by
/// this factor.
const ONE_AFTER_ANOTHER: std::ops::Range<usize> = 1 << 11..1 << 21;
const GROWTH: usize = 4;
/// Candidates for the inputs of the first thread there.
const FAVOURITES: usize = 3;

/// Walks at random.
pub struct Crowd {
    random: Random,
    /// How often threads were gathered.
    gathered: usize,
    /// How often threads ran one after another.
    lined_up: usize,
    /// Which candidate each input of the first thread is, and whether those of the others are too; at random
    /// if there is none.
    favourite: Option<(usize, bool)>,
}

/// How a walk chooses who moves.
struct Pace {
    /// How many steps a thread that is not the first takes at most in a row.
    stay: usize,
    /// The first thread gives way at one in so many of its steps.
    seldom: usize,
    /// Steps of the walk.
    longest: usize,
    /// The threads that move, the first one among them; all if there is none.
    awake: Vec<ThreadIndex>,
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
        Self { random: Random::new(SEEDS[0]), gathered: 0, lined_up: 0, favourite: None }
    }

    /// One walk in which each thread runs to its end, or until it has to wait, as soon as it is started. A
    /// few in a row differ in their inputs, and then they become longer.
    pub fn walk_one_after_another(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        budget: &Budget,
    ) -> Result<Option<Trace>, Exhausted> {
        let kinds = 2 * FAVOURITES + 1;
        let (kind, round) = (self.lined_up % kinds, self.lined_up / kinds);
        self.lined_up += 1;
        let growth = GROWTH.saturating_pow(u32::try_from(round).unwrap_or(u32::MAX));
        let longest = ONE_AFTER_ANOTHER.start.saturating_mul(growth).min(ONE_AFTER_ANOTHER.end);
        self.favourite = (kind < 2 * FAVOURITES).then_some((kind / 2, kind % 2 == 1));
        let mut steps = Vec::new();
        let found = self.line_up(model, copies, longest, &mut steps, budget);
        self.favourite = None;
        // Where nothing is left open and no second thread runs, the others of this length are the same.
        if steps.iter().all(|step| step.thread == 0 && step.choices.is_empty()) {
            self.lined_up = self.lined_up.next_multiple_of(kinds);
        }
        let violation = found?;
        Ok(violation.map(|violation| Trace { copies: copies.to_vec(), steps, violation }))
    }

    /// The violation that such a walk ends in.
    fn line_up(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        longest: usize,
        steps: &mut Vec<TraceStep>,
        budget: &Budget,
    ) -> Result<Option<Violation>, Exhausted> {
        let machine = &model.machine;
        let Ok(mut state) = machine.initial(copies) else { return Ok(None) };
        // Those that have to wait, the last one on top.
        let mut waiting: Vec<ThreadIndex> = (0..state.threads.len()).rev().collect();
        let Some(mut turn) = waiting.pop() else { return Ok(None) };
        let mut tried = 0;
        while steps.len() < longest && !state.halted {
            if steps.len().is_multiple_of(INTERVAL) {
                budget.spend(INTERVAL.min(longest) as u64);
                budget.check(0)?;
            }
            let count = state.threads.len();
            match self.step(model, &mut state, turn, steps) {
                Moved::Lost => return Ok(None),
                Moved::Yes => {
                    tried = 0;
                    if model.is_wanted_error(&state, turn) {
                        return Ok(model.violation(&state));
                    }
                    if count < state.threads.len() && !machine.is_atomic(&state, turn) {
                        waiting.push(turn);
                        turn = count;
                    }
                }
                Moved::No => {
                    let has_ended = state.location(turn).is_none();
                    if machine.is_atomic(&state, turn) || tried > waiting.len() {
                        return Ok(None);
                    }
                    tried += 1;
                    let Some(next) = waiting.pop() else { return Ok(None) };
                    if !has_ended {
                        waiting.insert(0, turn);
                    }
                    turn = next;
                }
            }
        }
        Ok(None)
    }

    /// One walk.
    pub fn walk(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        budget: &Budget,
    ) -> Result<Option<Trace>, Exhausted> {
        let Ok(state) = model.machine.initial(copies) else { return Ok(None) };
        let pace = Pace {
            stay: 1 + self.random.below(12),
            seldom: 1 << (3 + self.random.below(10)),
            longest: LONGEST,
            awake: Vec::new(),
        };
        let found = self.wander(model, state, &pace, budget)?;
        Ok(found.map(|(steps, violation)| Trace { copies: copies.to_vec(), steps, violation }))
    }

    /// Short walks of a few threads, from where the first one has started all others.
    pub fn walk_from_last_start(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        budget: &Budget,
    ) -> Result<Option<Trace>, Exhausted> {
        let random = self.random.clone();
        let Some((all, _)) = self.run_first(model, copies, usize::MAX, budget)? else { return Ok(None) };
        let started = all.threads.len();
        // The same steps again.
        self.random = random;
        let Some((state, steps)) = self.run_first(model, copies, started, budget)? else { return Ok(None) };
        let mut taken = 0;
        while taken < STEPS_FROM_LAST_START * steps.len() {
            budget.check(0)?;
            let longest = 1 << (LENGTHS.start + self.random.below(LENGTHS.len()));
            taken += longest;
            let pace = Pace {
                stay: 1 + self.random.below(12),
                seldom: 1 << self.random.below(5),
                longest,
                awake: self.awake(&state),
            };
            if let Some((more, violation)) = self.wander(model, state.clone(), &pace, budget)? {
                let steps = steps.into_iter().chain(more).collect();
                return Ok(Some(Trace { copies: copies.to_vec(), steps, violation }));
            }
        }
        Ok(None)
    }

    /// Lets the first thread run alone until there are so many threads, or it cannot move. `None` if the
    /// execution is no evidence.
    fn run_first(
        &mut self,
        model: &Model<'_>,
        copies: &[u32],
        threads: usize,
        budget: &Budget,
    ) -> Result<Option<(State, Vec<TraceStep>)>, Exhausted> {
        let Ok(mut state) = model.machine.initial(copies) else { return Ok(None) };
        let mut steps: Vec<TraceStep> = Vec::new();
        while steps.len() < LONGEST && state.threads.len() < threads && !state.halted {
            if steps.len().is_multiple_of(INTERVAL) {
                budget.spend(INTERVAL as u64);
                budget.check(0)?;
            }
            match self.step(model, &mut state, 0, &mut steps) {
                Moved::Yes => {}
                Moved::No => break,
                Moved::Lost => return Ok(None),
            }
        }
        Ok(Some((state, steps)))
    }

    /// The first thread, and a few of each template.
    fn awake(&mut self, state: &State) -> Vec<ThreadIndex> {
        let mut of_template: BTreeMap<TemplateId, Vec<ThreadIndex>> = BTreeMap::new();
        for (index, thread) in state.threads.iter().enumerate().skip(1) {
            let known = of_template.entry(thread.template).or_default();
            if known.len() < AWAKE_OF_TEMPLATE {
                known.push(index);
            }
        }
        let mut others: Vec<ThreadIndex> = of_template.into_values().flatten().collect();
        while others.len() >= MOST_AWAKE {
            others.swap_remove(self.random.below(others.len()));
        }
        others.insert(0, 0);
        others
    }

    /// A walk from a state: its steps and the violation that it ends in.
    fn wander(
        &mut self,
        model: &Model<'_>,
        mut state: State,
        pace: &Pace,
        budget: &Budget,
    ) -> Result<Option<(Vec<TraceStep>, Violation)>, Exhausted> {
        let machine = &model.machine;
        let mut steps: Vec<TraceStep> = Vec::new();
        let mut turn: ThreadIndex = 0;
        let (mut stuck, mut run) = (0, 0);
        while stuck < PATIENCE && steps.len() < pace.longest && !state.halted {
            if steps.len().is_multiple_of(INTERVAL) {
                budget.spend(INTERVAL.min(pace.longest) as u64);
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
                        return Ok(Some((steps, Violation::Error { thread: turn, kind })));
                    }
                    if machine.is_atomic(&state, turn) {
                        continue;
                    }
                    let over = if turn == 0 { self.random.below(pace.seldom) == 0 } else { run >= pace.stay };
                    if over {
                        (turn, run) = (self.other(&state, pace, turn), 0);
                    }
                }
                Moved::No if machine.is_atomic(&state, turn) => return Ok(None),
                Moved::No => {
                    stuck += 1;
                    (turn, run) = (self.other(&state, pace, turn), 0);
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

    /// Who runs next: the first thread, or one of those that are awake; if all are, one of those that were
    /// started first or last, or any.
    fn other(&mut self, state: &State, pace: &Pace, turn: ThreadIndex) -> ThreadIndex {
        if !pace.awake.is_empty() {
            return pace.awake[self.random.below(pace.awake.len())];
        }
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
            // A multiple of four is about all candidates.
            let chance = match self.favourite {
                Some((candidate, of_all)) if of_all || thread == 0 => 4 * candidate,
                _ => self.random.below(usize::MAX),
            };
            let mut values = Guesses::new(model, (template, edge), chance);
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
