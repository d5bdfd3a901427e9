//! States that the fuzzer keeps, the moves that led to them, and how to make the same moves from elsewhere.

use ir::semantics::{State, ThreadIndex};
use ir::{EdgeId, Value};
use std::cell::Cell;
use std::rc::Rc;
use verdict::{Trace, TraceStep, Violation};

/// Where a thread that is about to make an access that counts gives way to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Nowhere.
    Never,
    /// At the access with this number.
    At(usize),
    /// Where chance says so.
    Sometimes,
}

/// A move: how a thread is to run.
#[derive(Clone, Debug)]
pub struct Move {
    /// Who.
    pub thread: ThreadIndex,
    /// Whether it is where it began.
    pub begins: bool,
    /// Its inputs, in the order in which it asks for them. What is missing is picked.
    pub inputs: Vec<Value>,
    /// Where it gives way.
    pub stop: Stop,
    /// How often it fires, one time after the other, with the same inputs.
    pub times: usize,
}

/// About how many bytes a thread has in a state.
const THREAD: usize = 500;

/// A move that was made, and those before it.
pub struct MoveHistory {
    thread: ThreadIndex,
    begins: bool,
    stop: Stop,
    /// The edges that it took, and what it was given on which of them.
    edges: Box<[EdgeId]>,
    given: Box<[(u32, Value)]>,
    /// The state before it.
    start: State,
    pub before: Option<Rc<MoveHistory>>,
    /// Where a handler fires again and again with the same steps, as one that counts: the first time, unless
    /// this is it, and how often it was.
    first: Option<Rc<MoveHistory>>,
    times: usize,
}

thread_local! {
    /// About how many bytes the moves of this thread's search have.
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// About how many bytes the moves have that the search of this thread remembers.
pub fn remembered() -> u64 {
    BYTES.get()
}

impl Drop for MoveHistory {
    /// Long pasts are taken apart one by one: the stack is short.
    fn drop(&mut self) {
        BYTES.set(BYTES.get() - self.bytes());
        let mut next = self.before.take();
        while let Some(history) = next {
            next = Rc::into_inner(history).and_then(|mut history| history.before.take());
        }
    }
}

/// A state that is kept, with the moves that led to it.
#[derive(Clone)]
pub struct SavedState {
    /// The state.
    pub state: State,
    /// The moves that led to it; `None` at the start.
    pub history: Option<Rc<MoveHistory>>,
}

impl SavedState {
    /// The last moves, the newest first. What is the same again and again is one.
    pub fn moves(&self) -> impl Iterator<Item = &Rc<MoveHistory>> {
        std::iter::successors(self.history.as_ref(), |history| history.first_time().before.as_ref())
    }
}

impl MoveHistory {
    fn first_time(&self) -> &Self {
        self.first.as_deref().unwrap_or(self)
    }
    /// Where it began.
    pub fn origin(&self) -> SavedState {
        let first = self.first_time();
        SavedState { state: first.start.clone(), history: first.before.clone() }
    }
    /// Where it began, the last time if it is made again and again.
    pub fn own_origin(&self) -> SavedState {
        SavedState { state: self.start.clone(), history: self.before.clone() }
    }
    /// How many steps it has, each time.
    pub fn own_length(&self) -> usize {
        self.edges.len()
    }
    /// How many steps it has.
    pub fn length(&self) -> usize {
        self.edges.len() * self.times
    }
    /// Its steps.
    pub fn steps(&self) -> impl Iterator<Item = TraceStep> {
        let mut given = self.given.iter().peekable();
        self.edges.iter().enumerate().map(move |(number, edge)| {
            let mut choices = Vec::new();
            while let Some((_, value)) = given.next_if(|(at, _)| *at as usize == number) {
                choices.push(*value);
            }
            TraceStep { thread: self.thread, edge: *edge, choices }
        })
    }
    /// About how many bytes it has. Most objects are changed by every other move, and one of the threads is.
    fn bytes(&self) -> u64 {
        let own = size_of::<Self>() + size_of_val(&*self.edges) + size_of_val(&*self.given);
        let state = self.start.statics.held() + 8 * self.start.threads.len();
        (own + state + THREAD) as u64
    }
    /// The same from elsewhere.
    pub fn to_move(&self) -> Move {
        let (thread, begins, stop, times) = (self.thread, self.begins, self.stop, self.times);
        let inputs = self.given.iter().map(|(_, value)| *value).collect();
        Move { thread, begins, inputs, stop, times }
    }
}

fn inputs(steps: &[TraceStep]) -> Vec<Value> {
    steps.iter().flat_map(|step| step.choices.iter().copied()).collect()
}

/// A move that is not at its end.
#[derive(Clone)]
pub struct Run {
    /// Who moves.
    pub thread: ThreadIndex,
    /// The state now.
    pub state: State,
    /// What the thread did.
    pub steps: Vec<TraceStep>,
    /// How often it was about to make an access that counts.
    pub accesses: usize,
    /// How often it reached a comparison.
    pub comparisons: usize,
    begins: bool,
    start: SavedState,
}

impl Run {
    /// From a place on.
    pub fn new(start: SavedState, planned: &Move) -> Self {
        let (thread, begins) = (planned.thread, planned.begins);
        Self {
            thread,
            begins,
            state: start.state.clone(),
            steps: Vec::new(),
            accesses: 0,
            comparisons: 0,
            start,
        }
    }
    /// Where it began.
    pub fn origin(&self) -> &SavedState {
        &self.start
    }
    /// The same so far, from elsewhere.
    pub fn to_move(&self) -> Move {
        let inputs = inputs(&self.steps);
        Move { thread: self.thread, begins: self.begins, inputs, stop: Stop::Sometimes, times: 1 }
    }
    /// Ends it here.
    pub fn end(self, stop: Stop) -> SavedState {
        let Self { thread, begins, state, steps, start, .. } = self;
        let is_again = |last: &&Rc<MoveHistory>| {
            let alone = stop == Stop::Never && last.stop == Stop::Never && begins && last.begins;
            let alike = last.edges.iter().copied().eq(steps.iter().map(|step| step.edge));
            alone && last.thread == thread && alike
        };
        let (first, times) = match start.history.as_ref().filter(is_again) {
            Some(last) => (Some(last.first.clone().unwrap_or(last.clone())), last.times + 1),
            None => (None, 1),
        };
        let edges = steps.iter().map(|step| step.edge).collect();
        let given = steps.iter().enumerate();
        let given = given.flat_map(|(at, step)| step.choices.iter().map(move |value| (at as u32, *value)));
        let given = given.collect();
        let (before, start) = (start.history, start.state);
        let history = MoveHistory { thread, begins, stop, edges, given, start, before, first, times };
        BYTES.set(BYTES.get() + history.bytes());
        SavedState { state, history: Some(Rc::new(history)) }
    }
    /// All that led here, to something that is wrong.
    pub fn trace(self, copies: Vec<u32>, violation: Violation) -> Trace {
        let saved = self.end(Stop::Never);
        let each = std::iter::successors(saved.history.as_ref(), |history| history.before.as_ref());
        let mut moves: Vec<&Rc<MoveHistory>> = each.collect();
        moves.reverse();
        let steps = moves.into_iter().flat_map(|history| history.steps()).collect();
        Trace { copies, steps, violation }
    }
}
