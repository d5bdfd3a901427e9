//! A search for races in programs whose threads are there from the start and come back to where they began: the handlers of interrupts beside a main loop.
//!
//! Such a program goes wrong after dozens of firings of its handlers, each of hundreds of steps. The other searches look at each step of each order, and do not get far. Here a move is a whole firing: a
//! handler runs from its start to its end, or the first thread runs until it does nothing new. Only where a thread is about to make an access that the property is about, it may also stay, interrupted,
//! while others fire.
//!
//! It is coverage-guided testing, where the test is a sequence of firings with their inputs. What shows something new is kept ([`novelty`]). From what is kept it goes on by firings with inputs at random; by its own last
//! firings with something changed; and by the last firings of something else that is kept, such as a message that was received there. Comparisons that fail have a go at the inputs
//! they rest on ([`patches`]), which are followed to them where the branch was never taken ([`solving`]); branches that are missed are gone to from elsewhere ([`approach`]).
//!
//! Under-approximates: finds races only. The sequence of moves is the same each time.

mod approach;
mod comparisons;
mod novelty;
mod patches;
mod places;
mod relevance;
mod solving;
mod sources;

use crate::guesses::Guesses;
use crate::model::Model;
use approach::{Cause, Missed, Target, last_moves};
use comparisons::Comparisons;
use ir::passes::Forgetting;
use ir::semantics::{Access, State, Stuck, ThreadIndex};
use ir::{Assignment, EdgeId, Expr, LocationId, Op, Range, Rhs, TemplateId};
use novelty::Novelty;
use patches::{Goal, Tried};
use places::{Place, Recipe, Run, Stop, remembered};
use relevance::Relevance;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
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
/// The part of the steps that may be spent on letting handlers fire again and again where somebody is interrupted, and how often they do.
const PRESSING: u64 = 6;
const PRESSED: usize = 24;
/// Steps between two looks at the budget.
const INTERVAL: u64 = 1 << 10;
/// About how many steps of the machine one firing takes.
const FIRING: u64 = 200;

/// The search.
pub struct Firings<'a, 'p> {
    model: &'a Model<'p>,
    copies: Vec<u32>,
    random: u64,
    comparisons: Comparisons,
    novelty: Novelty,
    relevance: Relevance,
    /// What shows something new.
    kept: Vec<Place>,
    /// What took edges that were never taken before.
    first: Vec<Place>,
    /// The moves that did.
    causes: Vec<Cause>,
    /// The newest of these, with such an edge each.
    fresh: Vec<(Place, (TemplateId, EdgeId))>,
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
    /// Places where somebody is interrupted in a way that is new.
    interrupted: Vec<Place>,
    /// The steps that were spent on these.
    pressing: u64,
    /// The accesses of the last step.
    log: Vec<Access>,
    /// A race that was found on the way to something else.
    found: Option<(Range, Trace)>,
}

/// What moves came to.
enum Fired {
    /// A race.
    Race(Range, Trace),
    /// Another move may follow.
    Stays(Place),
    /// Nothing more can happen there.
    Lost,
}

impl Fired {
    fn race(self) -> Option<(Range, Trace)> {
        match self {
            Self::Race(range, trace) => Some((range, trace)),
            Self::Stays(_) | Self::Lost => None,
        }
    }
}

/// How a step went.
enum Stepped {
    Yes,
    /// It waits.
    No,
    Lost,
}

impl<'a, 'p> Firings<'a, 'p> {
    /// A search for races on some ranges that has not begun; nothing if the program is of another kind. The seed decides about what is left to chance.
    pub fn new(model: &'a Model<'p>, copies: Vec<u32>, open: Vec<Range>, seed: u64) -> Option<Self> {
        let program = model.machine.program;
        let spawns = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
        let is_of_handlers = program.start.len() > 1
            && model.property == Property::NoRace
            && !spawns.into_iter().any(|op| matches!(op, Op::Spawn(..)));
        let state = is_of_handlers.then(|| model.machine.initial(&copies).ok())??;
        let start = Place { state, past: None };
        let forgetting = Forgetting::of(program);
        let watched: Vec<Range> = open.iter().take(MOST_WATCHED).copied().collect();
        let relevance = Relevance::of(model, &forgetting, &watched);
        Some(Self {
            model,
            copies,
            random: 0x2545_F491_4F6C_DD1D ^ seed,
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
            pressing: 0,
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

    fn below(&mut self, bound: usize) -> usize {
        below(&mut self.random, bound)
    }

    /// Goes on for about so many steps. Gives a race, and what it is on.
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
            let place = self.pick();
            let fired = match self.below(9) {
                8 => self.elsewhere(budget)?,
                0..=2 => self.wander(place, budget)?,
                3 => self.row(place, budget)?,
                4 | 5 => self.vary(&place, budget)?,
                _ => {
                    let other = self.pick();
                    let recipes = self.window(&other);
                    self.perform(place, &recipes, 0, budget)?
                }
            };
            while let Some((place, edge)) = self.fresh.pop() {
                self.newest = self.steps;
                let place = self.cleared(place, edge, budget)?;
                self.first.push(place);
            }
            let race = match fired.race().or(self.found.take()) {
                None => self.press(budget)?,
                found => found,
            };
            if race.is_some() {
                return Ok(race);
            }
        }
        Ok(None)
    }

    /// Lets each handler fire again and again where a thread is interrupted in a way that is new.
    fn press(&mut self, budget: &Budget) -> Result<Option<(Range, Trace)>, Exhausted> {
        while let Some(place) = self.interrupted.pop() {
            let before = self.steps;
            let mut templates: Vec<TemplateId> = Vec::new();
            for thread in 1..place.state.threads.len() {
                let template = place.state.threads[thread].template;
                if PRESSING * self.pressing > self.steps
                    || templates.contains(&template)
                    || !self.is_idle(&place.state, thread)
                {
                    continue;
                }
                templates.push(template);
                let (begins, inputs, stop) = (true, Vec::new(), Stop::Never);
                let recipe = Recipe { thread, begins, inputs, stop, times: PRESSED };
                if let Fired::Race(range, trace) = self.perform(place.clone(), &[recipe], 1, budget)? {
                    return Ok(Some((range, trace)));
                }
            }
            self.pressing += self.steps - before;
        }
        Ok(None)
    }

    /// A place to go on from.
    fn pick(&mut self) -> Place {
        let kind = self.below(4);
        let count = if kind < 2 { self.first.len() } else { self.kept.len() };
        let back = self.below(if kind.is_multiple_of(2) { count.min(NEWEST) } else { count });
        let places = if kind < 2 { &self.first } else { &self.kept };
        places[count - 1 - back].clone()
    }

    /// A few moves at random.
    fn wander(&mut self, mut place: Place, budget: &Budget) -> Result<Fired, Exhausted> {
        for _ in 0..1 + self.below(MOVES) {
            let Some(recipe) = self.anything(&place.state) else { return Ok(Fired::Lost) };
            match self.perform(place, &[recipe], 0, budget)? {
                Fired::Stays(next) => place = next,
                end @ (Fired::Race(..) | Fired::Lost) => return Ok(end),
            }
        }
        Ok(Fired::Stays(place))
    }

    /// One handler fires again and again.
    fn row(&mut self, place: Place, budget: &Budget) -> Result<Fired, Exhausted> {
        let Some(recipe) = self.anything(&place.state) else { return Ok(Fired::Lost) };
        let times = 1 << self.below(ROW);
        self.perform(place, &[Recipe { stop: Stop::Never, times, ..recipe }], 0, budget)
    }

    /// The last moves again, with something changed.
    fn vary(&mut self, place: &Place, budget: &Budget) -> Result<Fired, Exhausted> {
        let mut recipes = self.window(place);
        let Some(origin) = recipes.len().checked_sub(1).and_then(|last| place.moves().nth(last)) else {
            return Ok(Fired::Lost);
        };
        let origin = origin.origin();
        for _ in 0..1 + self.below(3) {
            let at = self.below(recipes.len());
            match self.below(8) {
                0 | 1 => recipes.extend(self.anything(&place.state)),
                2 => {
                    if let Some(recipe) = self.anything(&place.state) {
                        recipes.insert(at, recipe);
                    }
                }
                3 if recipes.len() > 1 => {
                    recipes.remove(at);
                }
                4 if recipes[at].times > 1 => recipes[at].times = 1 + self.below(2 * recipes[at].times),
                4 => {
                    let copies = vec![recipes[at].clone(); 1 + self.below(MOVES)];
                    recipes.splice(at..at, copies);
                }
                5 => recipes[at].stop = Stop::Sometimes,
                _ => {
                    let number = self.below(recipes[at].inputs.len());
                    let value = self.below(256) as ir::Value;
                    if let Some(input) = recipes[at].inputs.get_mut(number) {
                        *input = value;
                    }
                }
            }
        }
        self.perform(origin, &recipes, 0, budget)
    }

    /// Some of the last moves of a place, the newest last.
    fn window(&mut self, place: &Place) -> Vec<Recipe> {
        let widest = 1 + self.below(WINDOW);
        let count = 1 + self.below(widest);
        last_moves(place, count)
    }

    /// A move at random: of the first thread, of one that was interrupted, or of one of those of a template that wait to fire.
    fn anything(&mut self, state: &State) -> Option<Recipe> {
        let mut choices: Vec<(TemplateId, ThreadIndex, bool)> = Vec::new();
        for thread in 0..state.threads.len() {
            let template = state.threads[thread].template;
            let begins = self.is_idle(state, thread);
            if !begins || thread == 0 || choices.iter().all(|(other, _, idle)| *other != template || !idle) {
                choices.push((template, thread, begins));
            }
        }
        let (_, thread, begins) = *choices.get(self.below(choices.len()))?;
        Some(Recipe { thread, begins, inputs: Vec::new(), stop: Stop::Sometimes, times: 1 })
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
        let behind = (one.address + one.size).min(other.address + other.size);
        let is_on = |range: &&Range| {
            let start = machine.addresses.offset[range.object] + range.offset;
            start < behind && first < start + range.size
        };
        Some((*self.open.iter().find(is_on)?, Violation::Race(threads)))
    }

    /// Makes moves as recipes say, one after the other. What cannot be done is left out.
    fn perform(
        &mut self,
        mut place: Place,
        recipes: &[Recipe],
        depth: usize,
        budget: &Budget,
    ) -> Result<Fired, Exhausted> {
        for recipe in recipes {
            for _ in 0..recipe.times {
                let Some(thread) = self.performer(&place.state, recipe) else { break };
                let recipe = Recipe { thread, ..recipe.clone() };
                match self.fire(place, &recipe, depth, budget)? {
                    Fired::Stays(next) => place = next,
                    end @ (Fired::Race(..) | Fired::Lost) => return Ok(end),
                }
            }
        }
        Ok(Fired::Stays(place))
    }

    /// Who can do what a recipe says: its thread, or another one of the same template that waits to fire.
    fn performer(&self, state: &State, recipe: &Recipe) -> Option<ThreadIndex> {
        let thread = recipe.thread;
        // In an atomic region nobody else runs.
        let is_atomic = |thread: &ThreadIndex| self.model.machine.is_atomic(state, *thread);
        if let Some(alone) = (0..state.threads.len()).find(is_atomic) {
            return (alone == thread).then_some(thread);
        }
        if thread == 0 || self.is_idle(state, thread) == recipe.begins {
            return Some(thread);
        }
        let template = state.threads[thread].template;
        let alike =
            |other: &ThreadIndex| state.threads[*other].template == template && self.is_idle(state, *other);
        (1..state.threads.len()).filter(|_| recipe.begins).find(alike)
    }

    /// Lets a thread run: to its end, until it does nothing new, or until it gives way where it is about to make an access that counts.
    fn fire(
        &mut self,
        place: Place,
        recipe: &Recipe,
        depth: usize,
        budget: &Budget,
    ) -> Result<Fired, Exhausted> {
        let thread = recipe.thread;
        let longest = if thread == 0 { LONGEST_RUN } else { LONGEST_FIRING };
        let covered = self.novelty.covered;
        let mut run = Run::new(place, recipe);
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
            match self.step(&mut run, recipe.inputs.get(asked..).unwrap_or(&[])) {
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
                Stepped::No | Stepped::Lost => return Ok(Fired::Lost),
            }
            if self.is_watched(&run.state, thread) {
                if let Some((range, violation)) = self.race(&run.state) {
                    return Ok(Fired::Race(range, run.trace(self.copies.clone(), violation)));
                }
                if !self.model.machine.is_atomic(&run.state, thread) {
                    run.accesses += 1;
                    let here = Stop::At(run.accesses);
                    if recipe.stop == here || recipe.stop == Stop::Sometimes && self.below(3) == 0 {
                        return Ok(Fired::Stays(self.end(run, here, covered)));
                    }
                    if self.shows(&run.state, &run.origin().state) {
                        budget.spend(run.steps.len() as u64 / 4);
                        budget.look(remembered())?;
                        let place = run.clone().end(here);
                        self.interrupted.push(place.clone());
                        self.keep(place);
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
            // Where it is atomic nobody else could go on.
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
        // What changes nothing is no move.
        let start = run.origin();
        if run.state.statics == start.state.statics
            && self.without_dead(&run.state) == self.without_dead(&start.state)
        {
            return Ok(Fired::Stays(start.clone()));
        }
        Ok(Fired::Stays(self.end(run, Stop::Never, covered)))
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
    fn end(&mut self, run: Run, stop: Stop, covered: usize) -> Place {
        let new = self.shows(&run.state, &run.origin().state);
        let place = run.end(stop);
        if new && stop != Stop::Never {
            self.interrupted.push(place.clone());
        }
        if new {
            self.keep(place.clone());
        }
        if self.novelty.covered > covered {
            self.fresh.push((place.clone(), self.novelty.newest));
        }
        place
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
                let at = self.below(self.kept.len() - NEWEST);
                self.kept.remove(at);
            }
        }
    }

    fn keep(&mut self, place: Place) {
        if self.kept.len() >= MOST_KEPT {
            // The newest leads on; any other may go.
            let at = self.below(MOST_KEPT);
            self.kept.remove(at);
        }
        self.kept.push(place);
    }

    /// Lets a thread take one of its steps, if it can.
    fn step(&mut self, run: &mut Run, given: &[ir::Value]) -> Stepped {
        let (model, thread) = (self.model, run.thread);
        let Some((template, _)) = run.state.location(thread) else { return Stepped::No };
        let edges = model.machine.edges(&run.state, thread);
        let first = if edges.len() > 1 { self.below(edges.len()) } else { 0 };
        for offset in 0..edges.len() {
            let edge = edges[(first + offset) % edges.len()];
            let random = self.below(usize::MAX);
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
                Err(Stuck::Fault(_) | Stuck::Limit(_)) => return Stepped::Lost,
                // What is not modelled is no evidence; another edge may be.
                Ok(()) | Err(Stuck::Blocked) => match backup {
                    Some(state) => run.state = state,
                    None if values.made.is_empty() && !values.tainted => {}
                    None => return Stepped::Lost,
                },
            }
        }
        Stepped::No
    }
}

/// A number below a bound (xorshift).
fn below(random: &mut u64, bound: usize) -> usize {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    (*random >> 11) as usize % bound.max(1)
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
