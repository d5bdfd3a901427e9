//! A search for races in programs whose threads are there from the start and come back to where they began: the handlers of interrupts beside a main loop.
//!
//! Such a program goes wrong after dozens of firings of its handlers, each of hundreds of steps. The other searches look at each step of each order, and do not get far. Here a move is a whole firing: a
//! handler runs from its start to its end, or the first thread runs until it does nothing new. Only where a thread is about to make an access that the property is about, it may also stay, interrupted,
//! while others fire. Inputs are picked at random.
//!
//! What is kept is what shows something new, as in coverage-guided testing: a value of a cell that was not seen yet, or one that is less or greater than all before, with the same threads interrupted at the
//! same places. So counters that run down, and states that follow each other, lead on.
//!
//! A value that was received may be compared with one that was computed, such as a checksum. Where such a comparison fails and the bytes of one side are inputs of the last moves, these are taken back to before
//! the inputs, and the inputs become the bytes of the other side (input-to-state correspondence: Aschermann et al., NDSS 2019).
//!
//! Under-approximates: finds races only. The sequence of moves is the same each time.

use crate::model::Model;
use ir::semantics::{Choice, ChoiceKind, Choices, State, ThreadIndex};
use ir::{BinaryOp, EdgeId, Expr, Layout, LocationId, Op, Storage, TemplateId, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use verdict::{Budget, Exhausted, Property, Trace, TraceStep};

/// Steps of one firing at most, and of the first thread.
const LONGEST_FIRING: usize = 4_000;
const LONGEST_RUN: usize = 40_000;
/// Moves in a row, before another kept state is taken up.
const MOVES: usize = 6;
/// States that are kept.
const MOST_KEPT: usize = 8_000;
/// How far back inputs are looked for: steps, and inputs.
const FARTHEST: usize = 3_000;
const MOST_INPUTS: usize = 24;
/// So often inputs are changed for a comparison at once; then every second time, every third, and so on, but not less often than this.
const EAGER: usize = 64;
const SELDOM: usize = 15;
/// The last ones, of which every other beginning is.
const NEWEST: usize = 48;
/// Values of a cell that are new, for being others.
const VALUES: usize = 40;
/// Cells that are looked at.
const MOST_CELLS: usize = 3_000;
/// Elements of longer arrays are not looked at.
const LONGEST_ARRAY: u64 = 16;
/// Steps between two looks at the budget.
const INTERVAL: u64 = 1 << 10;

/// A step, and those before it.
struct Past {
    step: TraceStep,
    /// The state before it, where a move begins.
    start: Option<State>,
    before: Option<Rc<Past>>,
}

impl Drop for Past {
    /// Long pasts are taken apart one by one: the stack is short.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(past) = next {
            next = Rc::into_inner(past).and_then(|mut past| past.before.take());
        }
    }
}

/// Where an execution is, and how it came there.
#[derive(Clone)]
struct Place {
    state: State,
    past: Option<Rc<Past>>,
}

/// What was seen of a cell.
#[derive(Default)]
struct Range {
    least: u64,
    greatest: u64,
    values: Vec<u64>,
}

/// The search.
pub struct Firings<'a, 'p> {
    model: &'a Model<'p>,
    copies: Vec<u32>,
    random: u64,
    /// Offsets and sizes of cells of static objects.
    cells: Vec<(usize, usize)>,
    kept: Vec<Place>,
    /// What was seen of cells, by who is interrupted where.
    seen: FxHashMap<(u64, usize), Range>,
    /// How often inputs were changed for the comparison at a place.
    tried: FxHashMap<(TemplateId, LocationId), usize>,
    steps: u64,
}

impl<'a, 'p> Firings<'a, 'p> {
    /// A search that has not begun; nothing if the program is of another kind.
    pub fn new(model: &'a Model<'p>, copies: Vec<u32>) -> Option<Self> {
        let program = model.machine.program;
        let spawns = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
        let is_of_handlers = program.start.len() > 1
            && model.property == Property::NoRace
            && !spawns.into_iter().any(|op| matches!(op, Op::Spawn(..)));
        let initial = is_of_handlers.then(|| model.machine.initial(&copies).ok())??;
        let mut cells = Vec::new();
        for (object, what) in program.objects.enumerate() {
            if what.storage == Storage::Static {
                let start = (model.machine.addresses.offset[object] - ir::semantics::STATICS) as usize;
                add_cells(&what.layout, start, &mut cells);
            }
        }
        cells.truncate(MOST_CELLS);
        let kept = vec![Place { state: initial, past: None }];
        let random = 0x2545_F491_4F6C_DD1D;
        Some(Self {
            model,
            copies,
            random,
            cells,
            kept,
            seen: FxHashMap::default(),
            tried: FxHashMap::default(),
            steps: 0,
        })
    }

    /// A number below a bound (xorshift).
    fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % bound.max(1)
    }

    /// Goes on for about so many steps.
    pub fn run(&mut self, steps: u64, budget: &Budget) -> Result<Option<Trace>, Exhausted> {
        let end = self.steps + steps;
        while self.steps < end {
            budget.check(0)?;
            let count = self.kept.len();
            let at = match self.below(2) {
                0 => count - 1 - self.below(count.min(NEWEST)),
                _ => self.below(count),
            };
            let mut place = self.kept[at].clone();
            for _ in 0..MOVES {
                self.steps += 1;
                let Some(thread) = self.who(&place.state) else { break };
                match self.fire(&mut place, thread, budget)? {
                    Fired::Race(trace) => return Ok(Some(trace)),
                    Fired::Stays => self.keep(&place),
                    Fired::Lost => break,
                }
            }
        }
        Ok(None)
    }

    /// A thread to run: the first one, one that was interrupted, or one of those of a template that wait to fire.
    fn who(&mut self, state: &State) -> Option<ThreadIndex> {
        // In an atomic region nobody else runs.
        if let Some(alone) =
            (0..state.threads.len()).find(|thread| self.model.machine.is_atomic(state, *thread))
        {
            return Some(alone);
        }
        let mut choices: Vec<(TemplateId, ThreadIndex)> = Vec::new();
        for thread in 0..state.threads.len() {
            let template = state.threads[thread].template;
            let waits = thread > 0 && self.is_idle(state, thread);
            if !waits
                || choices.iter().all(|(other, first)| *other != template || !self.is_idle(state, *first))
            {
                choices.push((template, thread));
            }
        }
        let at = self.below(choices.len());
        choices.get(at).map(|(_, thread)| *thread)
    }

    /// Whether a thread is where it began.
    fn is_idle(&self, state: &State, thread: ThreadIndex) -> bool {
        let its = &state.threads[thread];
        let entry = self.model.machine.program.templates[its.template].entry;
        matches!(its.activations.as_slice(), [only] if only.location == entry)
    }

    /// Whether a thread is about to make an access that the property is about, where others can run.
    fn is_watched(&self, state: &State, thread: ThreadIndex) -> bool {
        let Some(next) = self.model.next(state, thread).filter(|next| !next.local) else { return false };
        let Some(ranges) = &self.model.machine.program.races_on else { return true };
        let touches = |object| ranges.iter().any(|range| range.object == object);
        next.fixed.iter().chain(&next.computed).any(|touch| touches(touch.object))
    }

    /// Lets a thread run: to its end, until it does nothing new, or until it is about to make an access that counts.
    fn fire(&mut self, place: &mut Place, thread: ThreadIndex, budget: &Budget) -> Result<Fired, Exhausted> {
        let longest = if thread == 0 { LONGEST_RUN } else { LONGEST_FIRING };
        // A state that the thread was in before, renewed at steps that are powers of two (Brent).
        let mut before = place.state.clone();
        let mut renewal = 1;
        for taken in 0..longest {
            if self.steps.is_multiple_of(INTERVAL) {
                budget.check(0)?;
            }
            if !self.step(place, thread, taken == 0) {
                // It waits for what it has interrupted, or for a lock; in an atomic region that is the end.
                let stays = taken > 0 && !self.model.machine.is_atomic(&place.state, thread);
                return Ok(if stays { Fired::Stays } else { Fired::Lost });
            }
            let state = &place.state;
            if self.is_watched(state, thread) {
                if let Some(violation) = self.model.violation(state) {
                    return Ok(Fired::Race(self.trace(place, violation)));
                }
                if !self.model.machine.is_atomic(state, thread) {
                    self.keep(place);
                    if self.below(3) == 0 {
                        return Ok(Fired::Stays);
                    }
                }
            }
            if thread > 0 && self.is_idle(&place.state, thread) {
                return Ok(Fired::Stays);
            }
            if let Some(better) = self.patched(place, thread) {
                *place = better;
            }
            let same = place.state.location(thread) == before.location(thread) && place.state == before;
            if same {
                return Ok(Fired::Stays);
            }
            if taken == renewal {
                before = place.state.clone();
                renewal *= 2;
            }
        }
        Ok(Fired::Stays)
    }

    /// The values that a thread is about to compare with each other, if they differ and neither is a constant.
    fn compared(&self, state: &State, thread: ThreadIndex) -> Option<[u64; 2]> {
        let machine = &self.model.machine;
        let (template, _) = state.location(thread)?;
        let edges = machine.edges(state, thread);
        let condition =
            match (edges.len(), machine.program.templates[template].edges[*edges.first()?].ops.first()) {
                (2.., Some(Op::Assume(condition))) => condition,
                _ => return None,
            };
        let mut found = None;
        condition.walk(&mut |inner| {
            if let Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, _, pair) = inner
                && !matches!(pair.0, Expr::Const(..))
                && !matches!(pair.1, Expr::Const(..))
            {
                found = Some(pair);
            }
        });
        let pair = found?;
        let value =
            |side: &Expr| machine.peek(state, thread, side).ok().and_then(|value| u64::try_from(value).ok());
        let (left, right) = (value(&pair.0)?, value(&pair.1)?);
        (left != right && left < 1 << 16 && right < 1 << 16).then_some([left, right])
    }

    /// The same place with other inputs, such that what is about to be compared is equal.
    fn patched(&mut self, place: &Place, thread: ThreadIndex) -> Option<Place> {
        let [left, right] = self.compared(&place.state, thread)?;
        // Less and less often: most comparisons have nothing to do with inputs.
        let tried = self.tried.entry(place.state.location(thread)?).or_default();
        *tried += 1;
        let often = *tried / EAGER;
        if self.below(1 + often.min(SELDOM)) > 0 {
            return None;
        }
        let ways =
            if self.below(2) == 0 { [(left, right), (right, left)] } else { [(right, left), (left, right)] };
        ways.into_iter().find_map(|(old, new)| {
            let better = self.with_bytes(place, old, new)?;
            self.compared(&better.state, thread).is_none().then_some(better)
        })
    }

    /// The same steps, where inputs that are the bytes of a value are the bytes of another one.
    fn with_bytes(&mut self, place: &Place, old: u64, new: u64) -> Option<Place> {
        let mut wanted: Vec<(u64, u64)> = vec![(old >> 8, new >> 8), (old & 0xff, new & 0xff)];
        if old < 1 << 8 && new < 1 << 8 {
            wanted.remove(0);
        }
        // Back to before all of these inputs, and then to the beginning of a move.
        let mut changes: Vec<(usize, usize, Value)> = Vec::new();
        let mut steps: Vec<&TraceStep> = Vec::new();
        let mut past = place.past.as_deref()?;
        let mut inputs = 0;
        let begin = loop {
            if steps.len() > FARTHEST || inputs > MOST_INPUTS {
                return None;
            }
            for (number, value) in past.step.choices.iter().enumerate().rev() {
                inputs += 1;
                if let Some(at) = wanted.iter().position(|(old, _)| Value::from(*old) == *value) {
                    let (_, new) = wanted.remove(at);
                    changes.push((steps.len(), number, Value::from(new)));
                }
            }
            steps.push(&past.step);
            if wanted.is_empty()
                && let Some(state) = &past.start
            {
                break Place { state: state.clone(), past: past.before.clone() };
            }
            past = past.before.as_deref()?;
        };
        let mut here = begin;
        for (number, step) in steps.iter().enumerate().rev() {
            let mut choices = step.choices.clone();
            for (_, choice, value) in changes.iter().filter(|(at, ..)| *at == number) {
                choices[*choice] = *value;
            }
            let mut state = here.state.clone();
            let mut given = Given { values: choices.iter(), fits: true };
            self.steps += 1;
            let result =
                self.model.machine.advance(&mut state, step.thread, step.edge, &mut given, &mut Vec::new());
            if result.is_err() || !given.fits || given.values.next().is_some() {
                return None;
            }
            let starts = number + 1 == steps.len() || steps[number + 1].thread != step.thread;
            let start = starts.then(|| here.state.clone());
            let step = TraceStep { choices, ..(*step).clone() };
            here = Place { state, past: Some(Rc::new(Past { step, start, before: here.past.take() })) };
        }
        Some(here)
    }

    /// Lets a thread take one of its steps, if it can.
    fn step(&mut self, place: &mut Place, thread: ThreadIndex, is_first: bool) -> bool {
        let machine = &self.model.machine;
        let Some((template, _)) = place.state.location(thread) else { return false };
        let edges = machine.edges(&place.state, thread);
        let first = self.below(edges.len());
        for offset in 0..edges.len() {
            let edge = edges[(first + offset) % edges.len()];
            let random = self.below(usize::MAX);
            let mut values = Picked {
                model: self.model,
                edge: (template, edge),
                random,
                made: vec![],
                asked: 0,
                tainted: false,
            };
            let mut state = place.state.clone();
            self.steps += 1;
            if machine.advance(&mut state, thread, edge, &mut values, &mut Vec::new()).is_ok() {
                if values.tainted {
                    return false;
                }
                let step = TraceStep { thread, edge, choices: values.made };
                let start = is_first.then(|| place.state.clone());
                *place =
                    Place { state, past: Some(Rc::new(Past { step, start, before: place.past.take() })) };
                return true;
            }
        }
        false
    }

    fn trace(&self, place: &Place, violation: verdict::Violation) -> Trace {
        let mut steps = Vec::new();
        let mut past = place.past.as_deref();
        while let Some(here) = past {
            steps.push(here.step.clone());
            past = here.before.as_deref();
        }
        steps.reverse();
        Trace { copies: self.copies.clone(), steps, violation }
    }

    /// Keeps a state if it shows something new.
    fn keep(&mut self, place: &Place) {
        let state = &place.state;
        let mut hasher = FxHasher::default();
        for thread in 1..state.threads.len() {
            if !self.is_idle(state, thread) {
                (state.threads[thread].template, state.location(thread)).hash(&mut hasher);
            }
        }
        if self.is_watched(state, 0) {
            state.location(0).hash(&mut hasher);
        }
        let context = hasher.finish();
        let mut new = false;
        for (index, (offset, size)) in self.cells.iter().enumerate() {
            let value = state.statics.read(*offset, *size);
            let range = self.seen.entry((context, index)).or_insert_with(|| {
                new = true;
                Range { least: value, greatest: value, values: vec![value] }
            });
            if value < range.least || value > range.greatest {
                new = true;
                (range.least, range.greatest) = (range.least.min(value), range.greatest.max(value));
            }
            if range.values.len() < VALUES && !range.values.contains(&value) {
                new = true;
                range.values.push(value);
            }
        }
        if new && self.kept.len() < MOST_KEPT {
            self.kept.push(place.clone());
        } else if new {
            // The newest leads on; any other may go.
            let at = self.below(MOST_KEPT);
            self.kept.remove(at);
            self.kept.push(place.clone());
        }
    }
}

/// What a move came to.
enum Fired {
    /// A race.
    Race(Trace),
    /// Another move may follow.
    Stays,
    /// Nothing more can happen here.
    Lost,
}

/// The cells of a layout that starts at an offset.
fn add_cells(layout: &Layout, start: usize, cells: &mut Vec<(usize, usize)>) {
    match layout {
        Layout::Scalar(ty) => cells.push((start, ty.bytes() as usize)),
        // Long arrays hold tables and messages: what is new there is seldom a stage of anything.
        Layout::Array { count, .. } if *count > LONGEST_ARRAY => {}
        Layout::Array { element, count, stride } => {
            for index in 0..*count {
                add_cells(element, start + (index * stride) as usize, cells);
            }
        }
        Layout::Record(fields) => {
            for field in fields {
                add_cells(&field.layout, start + field.offset as usize, cells);
            }
        }
        Layout::Sync(_) | Layout::Bytes(_) => {}
    }
}

/// Gives a step the values that it had before, or others in their place.
struct Given<'a> {
    values: std::slice::Iter<'a, Value>,
    fits: bool,
}

impl Choices for Given<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let value = self.values.next().copied().filter(|value| choice.ty.contains(*value));
        self.fits &= value.is_some() && choice.kind != ChoiceKind::Unknown;
        value.unwrap_or(0)
    }
}

/// Picks open values.
struct Picked<'a, 'p> {
    model: &'a Model<'p>,
    edge: (TemplateId, EdgeId),
    random: usize,
    made: Vec<Value>,
    asked: usize,
    tainted: bool,
}

/// Candidates that are picked most of the time: what a value is compared with comes first.
const LIKELY: usize = 12;

impl Choices for Picked<'_, '_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let inputs = &self.model.facts.inputs;
        let candidates = match choice.kind {
            ChoiceKind::Open => inputs.of_type(choice.ty),
            ChoiceKind::Any | ChoiceKind::Unknown => {
                self.tainted |= choice.kind == ChoiceKind::Unknown;
                self.asked += 1;
                inputs.of_edge(self.edge.0, self.edge.1, self.asked - 1, choice.ty)
            }
        };
        let all = candidates.values.len().max(1);
        let count = if self.random.is_multiple_of(4) { all } else { all.min(LIKELY) };
        self.random /= 4;
        let value = candidates.values.get(self.random % count).copied().unwrap_or(0);
        self.random /= count;
        self.made.push(value);
        value
    }
}
