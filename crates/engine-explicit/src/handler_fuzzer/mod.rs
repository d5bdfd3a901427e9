//! A coverage-guided fuzzer of interrupt handlers: it searches for races in programs whose threads run from
//! the start and return to their beginning, as interrupt handlers beside a main loop do.
//!
//! Such a program fails after dozens of firings of its handlers, each of hundreds of steps. The other
//! searches interleave single steps, and do not get far. Here a move is a whole firing: a handler runs from
//! its start to its end, or the first thread runs until it does nothing new. A thread that is about to make
//! an access of the property may also stay there, interrupted, while others fire.
//!
//! A test is a sequence of firings with their inputs. States that show something new are saved ([`novelty`]).
//! From a saved state, the fuzzer continues with random firings and inputs; with its own last firings,
//! mutated; and with the last firings of another saved state, such as a message that was received there. For
//! failing comparisons, it changes the inputs of the compared values ([`patches`]); if the branch was never
//! taken, it tracks these inputs exactly ([`solving`]). Untaken branches are retried from other saved states
//! ([`approach`]).
//!
//! Under-approximates: finds races only. The sequence of moves is deterministic.

mod approach;
mod comparisons;
mod novelty;
mod patches;
mod relevance;
mod saved_state;
mod solving;
mod sources;

use crate::guesses::Guesses;
use crate::random::{Random, SEEDS};
use approach::{Cause, Missed, Target, last_moves};
use comparisons::Comparisons;
use executions::model::Model;
use ir::passes::Forgetting;
use ir::semantics::{Access, State, Stuck, ThreadIndex};
use ir::{Assignment, EdgeId, Expr, LocationId, Op, Range, Rhs, TemplateId};
use novelty::Novelty;
use patches::{Goal, Tried};
use relevance::Relevance;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use saved_state::{Move, Run, SavedState, Stop, remembered};
use std::hash::{Hash, Hasher};
use verdict::{Budget, Exhausted, Property, Trace, TraceStep, Violation};

/// Steps of one firing at most, and of the first thread.
const LONGEST_FIRING: usize = 4_000;
const LONGEST_RUN: usize = 400_000;
/// Moves in a row, before another kept state is taken up. One handler alone fires up to 2 to this many times.
const MOVES: usize = 6;
const ROW: usize = 9;
/// How many moves are made again with a change, or elsewhere.
const WINDOW: usize = 32;
const LONGEST_WINDOW: usize = 16_000;
/// The part of the memory that moves may take.
const PARTS: u64 = 6;
/// Places that are kept.
const MOST_KEPT: usize = 4_000;
/// The last ones, of which every fourth beginning is.
const NEWEST: usize = 48;
/// Ranges at which threads give way at the same time, and the steps before others come.
pub const MOST_WATCHED: usize = 4;
const TURN: u64 = 4_000_000;
/// Three times of four an input is one of the first so many candidates.
const LIKELY: usize = 12;
/// The part of the steps that may be spent on letting handlers fire again and again where somebody is
/// interrupted, and how often they do.
const REFIRING: u64 = 6;
const REFIRES: usize = 24;
/// Steps between two looks at the budget.
const INTERVAL: u64 = 1 << 10;
/// About how many steps of the machine one firing takes.
const FIRING: u64 = 200;

/// The fuzzer.
pub struct HandlerFuzzer<'a, 'p> {
    model: &'a Model<'p>,
    copies: Vec<u32>,
    random: Random,
    comparisons: Comparisons,
    novelty: Novelty,
    relevance: Relevance,
    /// The novelty tracker.
    kept: Vec<SavedState>,
    /// What took edges that were never taken before.
    first: Vec<SavedState>,
    /// The moves that did.
    causes: Vec<Cause>,
    /// The newest of these, with such an edge each.
    fresh: Vec<(SavedState, (TemplateId, EdgeId))>,
    /// How often inputs were changed for the comparison at a place.
    tried: FxHashMap<(TemplateId, LocationId), Tried>,
    /// The comparison for which inputs are changed now.
    goal: Option<Goal>,
    /// The ranges of the program that races are still looked for on.
    open: Vec<Range>,
    /// Those that threads give way at now: a few, in turn.
    watched: Vec<Range>,
    /// When others come next.
    next_turn: u64,
    forgetting: Forgetting,
    /// How much was done so far, and up to when an edge was taken that was never taken before.
    steps: u64,
    newest: u64,
    /// Those of changes for comparisons that did not succeed.
    spent: u64,
    /// Those of changes of what compared values come from.
    solving: u64,
    /// How many of these are within each other.
    nested: usize,
    /// Branches that were missed, and where.
    missed: Vec<Missed>,
    noted: FxHashSet<(TemplateId, LocationId)>,
    /// What moves are to lead to.
    target: Option<Target>,
    /// Saved states with a new set of interrupted threads.
    interrupted: Vec<SavedState>,
    /// The steps that were spent on these.
    refiring: u64,
    /// The accesses of the last step.
    log: Vec<Access>,
    /// A race that was found while something else was looked for.
    found: Option<(Range, Trace)>,
}

/// The outcome of moves.
enum MoveOutcome {
    /// A race.
    Race(Range, Trace),
    /// Another move may follow, from this state.
    Continue(SavedState),
    /// Nothing more can happen there.
    DeadEnd,
}

impl MoveOutcome {
    fn race(self) -> Option<(Range, Trace)> {
        match self {
            Self::Race(range, trace) => Some((range, trace)),
            Self::Continue(_) | Self::DeadEnd => None,
        }
    }
}

/// How a step went.
enum Stepped {
    Yes,
    /// It waits.
    No,
    DeadEnd,
}

impl<'a, 'p> HandlerFuzzer<'a, 'p> {
    /// A search for races on some ranges that has not begun; `None` when the program is of another kind. The
    /// seed determines the random choices.
    pub fn new(model: &'a Model<'p>, copies: Vec<u32>, open: Vec<Range>, seed: u64) -> Option<Self> {
        let program = model.machine.program;
        let spawns = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
        let is_of_handlers = program.start.len() > 1
            && model.property == Property::NoRace
            && !spawns.into_iter().any(|op| matches!(op, Op::Spawn(..)));
        let state = is_of_handlers.then(|| model.machine.initial(&copies).ok())??;
        let start = SavedState { state, history: None };
        let forgetting = Forgetting::of(program);
        let watched: Vec<Range> = open.iter().take(MOST_WATCHED).copied().collect();
        let relevance = Relevance::of(model, &forgetting, &watched);
        Some(Self {
            model,
            copies,
            random: Random::new(SEEDS[0] ^ seed),
            comparisons: Comparisons::of(model),
            novelty: Novelty::new(model, &relevance.deciding),
            relevance,
            watched,
            next_turn: TURN,
            forgetting,
            kept: vec![start.clone()],
            first: vec![start],
            causes: Vec::new(),
            fresh: Vec::new(),
            tried: FxHashMap::default(),
            goal: None,
            open,
            steps: 0,
            newest: 0,
            spent: 0,
            solving: 0,
            nested: 0,
            missed: Vec::new(),
            noted: FxHashSet::default(),
            target: None,
            interrupted: Vec::new(),
            refiring: 0,
            log: Vec::new(),
            found: None,
        })
    }

    /// For how many steps nothing new was done.
    pub fn idle(&self) -> u64 {
        self.steps - self.newest
    }

    /// Does not look for races on a range any more.
    pub fn close(&mut self, range: Range) {
        self.open.retain(|other| *other != range);
        self.found.take_if(|(other, _)| *other == range);
        self.watch_others();
    }

    /// Lets threads give way at other accesses.
    fn watch_others(&mut self) {
        self.next_turn = self.steps + TURN;
        let count = MOST_WATCHED.min(self.open.len());
        self.open.rotate_left(count);
        self.watched = self.open.iter().take(MOST_WATCHED).copied().collect();
        self.relevance = Relevance::of(self.model, &self.forgetting, &self.watched);
        self.novelty.decide(&self.relevance.deciding);
    }

    /// Continues for about this many steps. Returns a race, and its range.
    pub fn run(&mut self, steps: u64, budget: &Budget) -> Result<Option<(Range, Trace)>, Exhausted> {
        let end = self.steps + steps;
        let most = budget.memory / PARTS;
        while self.steps < end {
            if self.steps >= self.next_turn && self.open.len() > MOST_WATCHED {
                self.watch_others();
            }
            budget.spend(FIRING);
            budget.check(remembered())?;
            self.forget(most);
            self.steps += 1;
            let saved = self.pick();
            let fired = match self.random.below(9) {
                8 => self.elsewhere(budget)?,
                0..=2 => self.wander(saved, budget)?,
                3 => self.row(saved, budget)?,
                4 | 5 => self.vary(&saved, budget)?,
                _ => {
                    let other = self.pick();
                    let plan = self.window(&other);
                    self.perform(saved, &plan, 0, budget)?
                }
            };
            while let Some((saved, edge)) = self.fresh.pop() {
                self.newest = self.steps;
                let saved = self.minimize_moves(saved, edge, budget)?;
                self.first.push(saved);
            }
            let race = match fired.race().or(self.found.take()) {
                None => self.refire_at_interruptions(budget)?,
                found => found,
            };
            if race.is_some() {
                return Ok(race);
            }
        }
        Ok(None)
    }

    /// Lets each handler fire again and again in saved states with a new set of interrupted threads.
    fn refire_at_interruptions(&mut self, budget: &Budget) -> Result<Option<(Range, Trace)>, Exhausted> {
        while let Some(saved) = self.interrupted.pop() {
            let before = self.steps;
            let mut templates: Vec<TemplateId> = Vec::new();
            for thread in 1..saved.state.threads.len() {
                let template = saved.state.threads[thread].template;
                if REFIRING * self.refiring > self.steps
                    || templates.contains(&template)
                    || !self.is_idle(&saved.state, thread)
                {
                    continue;
                }
                templates.push(template);
                let (begins, inputs, stop) = (true, Vec::new(), Stop::Never);
                let planned = Move { thread, begins, inputs, stop, times: REFIRES };
                if let MoveOutcome::Race(range, trace) = self.perform(saved.clone(), &[planned], 1, budget)? {
                    return Ok(Some((range, trace)));
                }
            }
            self.refiring += self.steps - before;
        }
        Ok(None)
    }

    /// A saved state to continue from.
    fn pick(&mut self) -> SavedState {
        let kind = self.random.below(4);
        let count = if kind < 2 { self.first.len() } else { self.kept.len() };
        let back = self.random.below(if kind.is_multiple_of(2) { count.min(NEWEST) } else { count });
        let saved_states = if kind < 2 { &self.first } else { &self.kept };
        saved_states[count - 1 - back].clone()
    }

    /// A few moves at random.
    fn wander(&mut self, mut saved: SavedState, budget: &Budget) -> Result<MoveOutcome, Exhausted> {
        for _ in 0..1 + self.random.below(MOVES) {
            let Some(planned) = self.anything(&saved.state) else { return Ok(MoveOutcome::DeadEnd) };
            match self.perform(saved, &[planned], 0, budget)? {
                MoveOutcome::Continue(next) => saved = next,
                end @ (MoveOutcome::Race(..) | MoveOutcome::DeadEnd) => return Ok(end),
            }
        }
        Ok(MoveOutcome::Continue(saved))
    }

    /// One handler fires again and again.
    fn row(&mut self, saved: SavedState, budget: &Budget) -> Result<MoveOutcome, Exhausted> {
        let Some(planned) = self.anything(&saved.state) else { return Ok(MoveOutcome::DeadEnd) };
        let times = 1 << self.random.below(ROW);
        self.perform(saved, &[Move { stop: Stop::Never, times, ..planned }], 0, budget)
    }

    /// The last moves again, with something changed.
    fn vary(&mut self, saved: &SavedState, budget: &Budget) -> Result<MoveOutcome, Exhausted> {
        let mut plan = self.window(saved);
        let Some(origin) = plan.len().checked_sub(1).and_then(|last| saved.moves().nth(last)) else {
            return Ok(MoveOutcome::DeadEnd);
        };
        let origin = origin.origin();
        for _ in 0..1 + self.random.below(3) {
            let at = self.random.below(plan.len());
            match self.random.below(8) {
                0 | 1 => plan.extend(self.anything(&saved.state)),
                2 => {
                    if let Some(planned) = self.anything(&saved.state) {
                        plan.insert(at, planned);
                    }
                }
                3 if plan.len() > 1 => {
                    plan.remove(at);
                }
                4 if plan[at].times > 1 => plan[at].times = 1 + self.random.below(2 * plan[at].times),
                4 => {
                    let copies = vec![plan[at].clone(); 1 + self.random.below(MOVES)];
                    plan.splice(at..at, copies);
                }
                5 => plan[at].stop = Stop::Sometimes,
                _ => {
                    let number = self.random.below(plan[at].inputs.len());
                    let value = self.random.below(256) as ir::Value;
                    if let Some(input) = plan[at].inputs.get_mut(number) {
                        *input = value;
                    }
                }
            }
        }
        self.perform(origin, &plan, 0, budget)
    }

    /// Some of the last moves of a place, the newest last.
    fn window(&mut self, saved: &SavedState) -> Vec<Move> {
        let widest = 1 + self.random.below(WINDOW);
        let count = 1 + self.random.below(widest);
        last_moves(saved, count)
    }

    /// A move at random: of the first thread, of one that was interrupted, or of one of those of a template
    /// that wait to fire.
    fn anything(&mut self, state: &State) -> Option<Move> {
        let mut choices: Vec<(TemplateId, ThreadIndex, bool)> = Vec::new();
        for thread in 0..state.threads.len() {
            let template = state.threads[thread].template;
            let begins = self.is_idle(state, thread);
            if !begins || thread == 0 || choices.iter().all(|(other, _, idle)| *other != template || !idle) {
                choices.push((template, thread, begins));
            }
        }
        let (_, thread, begins) = *choices.get(self.random.below(choices.len()))?;
        Some(Move { thread, begins, inputs: Vec::new(), stop: Stop::Sometimes, times: 1 })
    }

    /// Whether a thread is where it began.
    fn is_idle(&self, state: &State, thread: ThreadIndex) -> bool {
        let its = &state.threads[thread];
        let entry = self.model.machine.program.templates[its.template].entry;
        matches!(its.activations.as_slice(), [only] if only.location == entry)
    }

    /// Whether a thread is about to make an access that the property is about.
    fn is_watched(&self, state: &State, thread: ThreadIndex) -> bool {
        let Some(next) = self.model.next(state, thread).filter(|next| !next.local) else { return false };
        let touches = |object| self.watched.iter().any(|range| range.object == object);
        next.fixed.iter().chain(&next.computed).any(|touch| touches(touch.object))
    }

    /// A race on something that is still open.
    fn race(&self, state: &State) -> Option<(Range, Violation)> {
        let machine = &self.model.machine;
        let threads = self.model.race(state)?;
        let [(_, _, one), (_, _, other)] = machine.race(state)?;
        let first = one.address.max(other.address);
        let after = (one.address + one.size).min(other.address + other.size);
        let is_on = |range: &&Range| {
            let start = machine.addresses.offset[range.object] + range.offset;
            start < after && first < start + range.size
        };
        Some((*self.open.iter().find(is_on)?, Violation::Race(threads)))
    }

    /// Makes planned moves, one after the other. Those that cannot be made are left out.
    fn perform(
        &mut self,
        mut saved: SavedState,
        plan: &[Move],
        depth: usize,
        budget: &Budget,
    ) -> Result<MoveOutcome, Exhausted> {
        for planned in plan {
            for _ in 0..planned.times {
                let Some(thread) = self.performer(&saved.state, planned) else { break };
                let planned = Move { thread, ..planned.clone() };
                match self.fire(saved, &planned, depth, budget)? {
                    MoveOutcome::Continue(next) => saved = next,
                    end @ (MoveOutcome::Race(..) | MoveOutcome::DeadEnd) => return Ok(end),
                }
            }
        }
        Ok(MoveOutcome::Continue(saved))
    }

    /// Who can make a planned move: its thread, or another one of the same template that waits to fire.
    fn performer(&self, state: &State, planned: &Move) -> Option<ThreadIndex> {
        let thread = planned.thread;
        // In an atomic region no other thread runs.
        let is_atomic = |thread: &ThreadIndex| self.model.machine.is_atomic(state, *thread);
        if let Some(alone) = (0..state.threads.len()).find(is_atomic) {
            return (alone == thread).then_some(thread);
        }
        if thread == 0 || self.is_idle(state, thread) == planned.begins {
            return Some(thread);
        }
        let template = state.threads[thread].template;
        let alike =
            |other: &ThreadIndex| state.threads[*other].template == template && self.is_idle(state, *other);
        (1..state.threads.len()).filter(|_| planned.begins).find(alike)
    }

    /// Lets a thread run: to its end, until it does nothing new, or until it gives way where it is about to
    /// make an access that counts.
    fn fire(
        &mut self,
        saved: SavedState,
        planned: &Move,
        depth: usize,
        budget: &Budget,
    ) -> Result<MoveOutcome, Exhausted> {
        let thread = planned.thread;
        let longest = if thread == 0 { LONGEST_RUN } else { LONGEST_FIRING };
        let covered = self.novelty.covered;
        let mut run = Run::new(saved, planned);
        let mut asked = 0;
        // A state that the thread was in before, renewed at steps that are powers of two (Brent).
        let mut before = self.without_dead(&run.state);
        let mut renewal = 1;
        for taken in 0..longest {
            if self.steps.is_multiple_of(INTERVAL) {
                budget.check(remembered())?;
            }
            let (number, here) = (run.comparisons, run.state.location(thread));
            let is_at =
                |goal: &Goal| Some(goal.location) == here && goal.number.is_none_or(|its| its == number);
            if let Some(goal) = self.goal.as_mut().filter(|goal| is_at(goal)) {
                let value = |side: &Expr| self.model.machine.peek(&run.state, thread, side).unwrap_or(0);
                goal.see([value(&goal.sides.0), value(&goal.sides.1)]);
            }
            match self.step(&mut run, planned.inputs.get(asked..).unwrap_or(&[])) {
                Stepped::Yes => {
                    let step = run.steps.last().expect("it was taken");
                    asked += step.choices.len();
                    if let Some(target) = &mut self.target {
                        target.reached |=
                            Some(target.location) == here && target.edge.is_none_or(|edge| edge == step.edge);
                    }
                    if let Some(goal) = self.goal.as_mut().filter(|goal| is_at(goal)) {
                        goal.reached |= goal.edge == step.edge;
                    }
                }
                // It waits for what it has interrupted, or for a lock; in an atomic region that is the end.
                Stepped::No if taken > 0 && !self.model.machine.is_atomic(&run.state, thread) => break,
                Stepped::No | Stepped::DeadEnd => return Ok(MoveOutcome::DeadEnd),
            }
            if self.is_watched(&run.state, thread) {
                if let Some((range, violation)) = self.race(&run.state) {
                    return Ok(MoveOutcome::Race(range, run.trace(self.copies.clone(), violation)));
                }
                if !self.model.machine.is_atomic(&run.state, thread) {
                    run.accesses += 1;
                    let here = Stop::At(run.accesses);
                    if planned.stop == here || planned.stop == Stop::Sometimes && self.random.below(3) == 0 {
                        return Ok(MoveOutcome::Continue(self.end(run, here, covered)));
                    }
                    if self.shows(&run.state, &run.origin().state) {
                        budget.spend(run.steps.len() as u64 / 4);
                        budget.look(remembered())?;
                        let saved = run.clone().end(here);
                        self.interrupted.push(saved.clone());
                        self.keep(saved);
                    }
                }
            }
            if thread > 0 && self.is_idle(&run.state, thread) {
                break;
            }
            if let Some(better) = self.patched(&mut run, depth, budget)? {
                return Ok(better);
            }
            self.note_missed(&run, depth, budget)?;
            // Where it is atomic nobody else could continue.
            if self.model.machine.is_atomic(&run.state, thread) {
                continue;
            }
            if self.is_alike(&run.state, &before, thread) {
                break;
            }
            if taken >= renewal {
                before = self.without_dead(&run.state);
                renewal = 2 * taken;
            }
        }
        // A firing without effect is no move.
        let start = run.origin();
        if run.state.statics == start.state.statics
            && self.without_dead(&run.state) == self.without_dead(&start.state)
        {
            return Ok(MoveOutcome::Continue(start.clone()));
        }
        Ok(MoveOutcome::Continue(self.end(run, Stop::Never, covered)))
    }

    /// A state without what nobody reads.
    fn without_dead(&self, state: &State) -> State {
        let mut state = state.clone();
        self.model.facts.liveness.forget_dead(&mut state, None);
        state
    }

    /// Whether a state is, but for what nobody reads, one that a thread was in before.
    fn is_alike(&self, state: &State, before: &State, thread: ThreadIndex) -> bool {
        state.location(thread) == before.location(thread)
            && state.statics == before.statics
            && self.without_dead(state) == *before
    }

    /// The end of a move. Keeps it if it shows something new. `covered`: how many edges were taken before it.
    fn end(&mut self, run: Run, stop: Stop, covered: usize) -> SavedState {
        let new = self.shows(&run.state, &run.origin().state);
        let saved = run.end(stop);
        if new && stop != Stop::Never {
            self.interrupted.push(saved.clone());
        }
        if new {
            self.keep(saved.clone());
        }
        if self.novelty.covered > covered {
            self.fresh.push((saved.clone(), self.novelty.newest));
        }
        saved
    }

    /// Whether a state shows something new. `before`: one that it came from.
    fn shows(&mut self, state: &State, before: &State) -> bool {
        let context = self.context(state);
        let before = (context.is_none() && self.context(before).is_none()).then_some(before);
        self.novelty.shows(state, before, context)
    }

    /// Who is interrupted where, if anybody is.
    fn context(&self, state: &State) -> Option<u64> {
        let mut hasher = FxHasher::default();
        let mut interrupted = false;
        for thread in 0..state.threads.len() {
            let stays = if thread == 0 { self.is_watched(state, 0) } else { !self.is_idle(state, thread) };
            if stays {
                (state.threads[thread].template, state.location(thread)).hash(&mut hasher);
                interrupted = true;
            }
        }
        interrupted.then(|| hasher.finish())
    }

    /// Forgets places, any one of them, as long as they take too much memory.
    fn forget(&mut self, most: u64) {
        while remembered() > most && self.kept.len() > NEWEST {
            for _ in 0..(self.kept.len() - NEWEST).div_ceil(8) {
                let at = self.random.below(self.kept.len() - NEWEST);
                self.kept.remove(at);
            }
        }
    }

    fn keep(&mut self, saved: SavedState) {
        if self.kept.len() >= MOST_KEPT {
            // The newest leads on; any other may go.
            let at = self.random.below(MOST_KEPT);
            self.kept.remove(at);
        }
        self.kept.push(saved);
    }

    /// Lets a thread take one of its steps, if it can.
    fn step(&mut self, run: &mut Run, given: &[ir::Value]) -> Stepped {
        let (model, thread) = (self.model, run.thread);
        let Some((template, _)) = run.state.location(thread) else { return Stepped::No };
        let edges = model.machine.edges(&run.state, thread);
        let first = if edges.len() > 1 { self.random.below(edges.len()) } else { 0 };
        for offset in 0..edges.len() {
            let edge = edges[(first + offset) % edges.len()];
            let random = self.random.below(usize::MAX);
            let mut values =
                Guesses { likely: LIKELY, given, ..Guesses::new(model, (template, edge), random) };
            // An assumption or a lock that fails at once leaves the state as it is.
            let ops = &model.machine.program.templates[template].edges[edge].ops;
            let at_once = usize::from(matches!(ops.first(), Some(Op::Assume(_) | Op::Lock(..))));
            let backup = ops[at_once..].iter().any(may_fail).then(|| run.state.clone());
            self.steps += 1;
            self.log.clear();
            match model.machine.advance(&mut run.state, thread, edge, &mut values, &mut self.log) {
                Ok(()) if !values.tainted => {
                    self.novelty.take(template, edge);
                    run.steps.push(TraceStep { thread, edge, choices: values.made });
                    return Stepped::Yes;
                }
                Err(Stuck::Fault(_) | Stuck::Limit(_)) => return Stepped::DeadEnd,
                // An edge that is not modelled is no evidence; another edge may be.
                Ok(()) | Err(Stuck::Blocked) => match backup {
                    Some(state) => run.state = state,
                    None if values.made.is_empty() && !values.tainted => {}
                    None => return Stepped::DeadEnd,
                },
            }
        }
        Stepped::No
    }
}

/// Whether an operation may have to wait, or is not modelled.
fn may_fail(op: &Op) -> bool {
    match op {
        Op::Assume(_) | Op::Lock(..) | Op::Join(..) | Op::Broadcast(_) => true,
        Op::Assign(Assignment { pairs, constraint }) => {
            constraint.is_some() || pairs.iter().any(|(_, rhs)| *rhs == Rhs::Unknown)
        }
        Op::Unlock(..) | Op::Spawn(..) | Op::Allocate { .. } | Op::Free(_) => false,
        Op::Fill(..) | Op::Copy(..) | Op::Call(..) => false,
    }
}
