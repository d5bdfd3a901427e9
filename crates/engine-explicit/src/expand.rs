//! The successors of a state by one thread.
//!
//! After a step, *private* steps are taken until there is none; only the states at the end are stored, and
//! from a stored state the steps of all threads are taken. Private steps are a partial-order reduction by
//! singleton persistent sets (Godefroid, "Partial-order methods for the verification of concurrent systems",
//! 1996, chapter 4), with bounded chains instead of a cycle proviso. Preserves every violation:
//!
//! The next steps of a thread t in a state s are private when t can move, they neither enter an atomic region
//! nor end the program, and nothing that they touch (objects, locks, the list of threads, which objects are
//! live) is touched by another thread in its whole future by a conflicting access (one of the two changes
//! it).
//!
//! Claim: if a violation is reachable from a stored state s in n steps, then a stored state reachable from s
//! in the reduced search is bad. By induction on n. If n = 0, s is bad. Else let the first step be u's, to
//! s1: the search takes it, and s1 is n-1 steps from the violation. Let the next chain step be by t. If t
//! moves later on those n-1 steps, its first move commutes to the front: it touches nothing that the steps
//! before it touch, it computes the same values, and it disables none of them, as it enters no atomic region;
//! so one step less is left. If t does not move, its step commutes with all of them and is put in front; they
//! end in a state that is bad as well: (a) t was not at an error location, as it can move; whoever is stays
//! there. (b) If t's next accesses were part of the race, they would touch what another thread touches in its
//! future: not private. A race of two others is still there, as t's step changes nothing that they read. (c)
//! A cycle of threads that wait: the same, with locks as objects that both taking and giving back change. (d)
//! Threads that are stuck stay so when t moves, and t is none of them. (For steps that may be spurious
//! wake-ups, the other choice, which t always has, is moved to the front.) So after each chain step the
//! violation is at most n-1 steps away. Chains are bounded, so they end, in a stored state, and the induction
//! continues.
//!
//! Whether threads of a stored state are stuck is seen in the graph of stored states
//! ([`ir::semantics::StateGraph`]): by the same induction, if another thread can eventually take a step, or
//! the program can end, then this is also possible along chains: a private step affects neither the steps
//! before that step nor that step itself.
//!
//! Locks ([`executions::guards`]). The argument considers the others' steps only up to t's next move. So an
//! access of another thread u that comes in its future, but not before t moves, need not be counted. Let t
//! hold the lock L in s (L's owner word says so). Assume of every other thread: (i) L is in the set of held
//! locks of none of its activations; (ii) in its future, with the threads that it starts, all that changes
//! the object of L is either taking L, or made at locations whose set has L. Then before t moves no other
//! thread changes L, nor reaches a location whose set has L: take the first that does either. To reach such
//! a location it must have taken L after s, by (i) and the property of the sets (a new thread starts with an
//! empty set); L was not changed before, so t owned it, and it could not be taken by any operation. To
//! change L at a location whose set has L, it must have come there. So accesses at locations whose set has L
//! cannot come before t moves, nor be part of a race with t's next access, and taking L cannot succeed: an
//! access of t to an object given to L collides with the others' *loose* accesses only, made elsewhere. L's
//! own object is given to L too: so even giving L back is private, unless another thread looks at the lock
//! without taking it. A thread that waits for L in a deadlock waits for t, which can move: it is in no
//! cycle. Accesses by computed addresses count at the locations where they are foreseen, as before.
//!
//! While a thread is in an atomic region, it alone may run: then taking its steps is taking all steps. Such
//! states are checked for violations as if they were stored.

use crate::random::Random;
use crate::script::Script;
use executions::model::{Model, Privacy};
use ir::Value;
use ir::semantics::{Access, Choice, Choices, LimitKind, State, Stuck, ThreadIndex, Trail};
use verdict::{Budget, Exhausted, TraceStep};

/// The number of steps between two checks of the budget.
const INTERVAL: u64 = 128;
/// The most private steps in a row before a state is stored anyway.
const LONGEST_CHAIN: u32 = 20_000;
/// States at the ends of branches of one chain.
const MOST_BRANCHES: usize = 64;
/// How many bytes the objects may take that these have allocated.
const MOST_BYTES: u64 = 256 << 20;

/// A state that is about to be stored.
#[derive(Clone)]
pub struct Successor {
    /// The state.
    pub state: State,
    /// Whether a value that is not modelled was chosen.
    pub tainted: bool,
    /// The steps, if they are recorded.
    pub steps: Vec<TraceStep>,
    /// A summary of the steps since the last stored state, for the deadlock check.
    pub trail: Trail,
}

/// Results of the expansion besides the successors.
#[derive(Clone, Default, Debug)]
pub struct Notes {
    /// Open values were tried with candidates that do not stand for all values.
    pub inexact: bool,
    /// Limits of the machine that were hit.
    pub limits: Vec<LimitKind>,
    /// A step made an unforeseen access, so the reduction may be unsound.
    pub unforeseen: bool,
    /// How often a limit was hit.
    pub limited: u64,
    /// Steps tried.
    pub steps: u64,
}

/// How many bytes a state holds of what its threads have allocated.
pub fn allocated(state: &State) -> u64 {
    state.heap.iter().map(|block| block.bytes.held() as u64).sum()
}

/// What showed when the steps of one thread were taken.
#[derive(Clone, Copy, Default)]
struct Outcome {
    /// Open values have more candidates than were tried.
    truncated: bool,
    /// Memory was given a value by being read.
    opened: bool,
    /// A limit of the machine was hit.
    limited: bool,
}

/// Computes successors.
pub struct Expander<'a, 'p> {
    /// The program with what is known about it.
    pub model: &'a Model<'p>,
    /// How many candidates to try for each open value.
    pub limit: usize,
    /// Whether to record steps.
    pub record: bool,
    /// For random walks: one of all successors is picked, and one combination of open values if some step
    /// takes it.
    pub random: Option<Random>,
    /// What was seen during the search.
    pub notes: Notes,
    /// The bytes in use elsewhere, for the budget.
    pub bytes: u64,
    /// Set when the budget has run out: then successors are missing.
    pub stopped: Option<Exhausted>,
    budget: Budget,
    /// What a step counts before the budget is asked: more if states are large.
    weight: u64,
    /// What has been counted since.
    unchecked: u64,
    accesses: Vec<Access>,
    // Kept between calls, so that a step allocates little.
    first: Vec<Successor>,
    branches: Vec<(Successor, Option<ThreadIndex>, u32)>,
    next: Vec<Successor>,
    spare: Vec<State>,
}

impl<'a, 'p> Expander<'a, 'p> {
    /// An expander without memory of the past.
    pub fn new(model: &'a Model<'p>, budget: &Budget, limit: usize, record: bool) -> Self {
        Self {
            model,
            limit,
            record,
            random: None,
            notes: Notes::default(),
            bytes: 0,
            stopped: None,
            budget: budget.clone(),
            weight: 1 + model.machine.addresses.held_size() / 4096,
            unchecked: 0,
            accesses: Vec::new(),
            first: Vec::new(),
            branches: Vec::new(),
            next: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Takes back a state that is not needed any more, for its room.
    pub fn recycle(&mut self, mut state: State) {
        if self.spare.len() < 16 {
            state.threads.clear();
            state.heap.clear();
            self.spare.push(state);
        }
    }
    fn copy(&mut self, from: &State) -> State {
        match self.spare.pop() {
            Some(mut state) => {
                state.statics.clone_from(&from.statics);
                state.threads.extend_from_slice(&from.threads);
                state.heap.extend_from_slice(&from.heap);
                state.halted = from.halted;
                state
            }
            None => from.clone(),
        }
    }

    fn tick(&mut self) {
        self.notes.steps += 1;
        self.unchecked += self.weight;
        if self.unchecked >= INTERVAL && self.stopped.is_none() {
            self.unchecked = 0;
            self.budget.spend(INTERVAL);
            self.stopped = self.budget.check(self.bytes).err();
        }
    }

    /// All states after one step of a thread, each continued through private steps. Says whether there are
    /// more candidates for open values than were tried.
    pub fn successors(
        &mut self,
        state: &State,
        tainted: bool,
        thread: ThreadIndex,
        found: &mut Vec<Successor>,
    ) -> bool {
        let mut first = std::mem::take(&mut self.first);
        let start = (tainted, Trail::default());
        let outcome = self.steps(state, start, &[], thread, &mut first);
        self.pick(&mut first);
        for successor in first.drain(..) {
            self.run_on(successor, Some(thread), found);
        }
        self.first = first;
        outcome.truncated
    }

    /// Keeps one at random, if that is asked for; rather one that rests on no value that is not modelled.
    fn pick(&mut self, found: &mut Vec<Successor>) {
        let Some(random) = &mut self.random else { return };
        if found.len() < 2 {
            return;
        }
        if found.iter().any(|successor| !successor.tainted) {
            found.retain(|successor| !successor.tainted);
        }
        let picked = found.swap_remove(random.below(found.len()));
        found.clear();
        found.push(picked);
    }

    /// The states after one step of a thread. Leaves the accesses of all its edges in `self.accesses`.
    fn steps(
        &mut self,
        from: &State,
        start: (bool, Trail),
        before: &[TraceStep],
        thread: ThreadIndex,
        found: &mut Vec<Successor>,
    ) -> Outcome {
        if let Some(random) = &mut self.random {
            let random = Random::new(1 + random.below(usize::MAX) as u64);
            let outcome = self.steps_with(from, start, before, thread, Some(random), found);
            if !found.is_empty() || outcome.limited {
                return Outcome { truncated: false, ..outcome };
            }
        }
        self.steps_with(from, start, before, thread, None, found)
    }

    fn steps_with(
        &mut self,
        from: &State,
        (tainted, trail): (bool, Trail),
        before: &[TraceStep],
        thread: ThreadIndex,
        random: Option<Random>,
        found: &mut Vec<Successor>,
    ) -> Outcome {
        let machine = &self.model.machine;
        let mut outcome = Outcome::default();
        self.accesses.clear();
        let Some((template, _)) = from.location(thread) else { return outcome };
        for &edge in machine.edges(from, thread) {
            let mut script = Script::new(&self.model.facts.inputs, template, edge, self.limit);
            if let Some(random) = &random {
                script = script.at_random(random.clone());
            }
            loop {
                self.tick();
                let mut next = self.copy(from);
                match machine.advance(&mut next, thread, edge, &mut script, &mut self.accesses) {
                    Ok(()) => {
                        let mut steps = Vec::new();
                        if self.record {
                            steps.reserve(before.len() + 1);
                            steps.extend_from_slice(before);
                            steps.push(TraceStep { thread, edge, choices: script.values() });
                        }
                        let trail = trail.then(machine, &next, thread, script.tainted);
                        found.push(Successor {
                            state: next,
                            tainted: tainted | script.tainted,
                            steps,
                            trail,
                        });
                    }
                    Err(Stuck::Limit(limit)) => {
                        outcome.limited = true;
                        self.notes.limited += 1;
                        if !self.notes.limits.contains(&limit) {
                            self.notes.limits.push(limit);
                        }
                    }
                    Err(Stuck::Blocked | Stuck::Fault(_)) => self.recycle(next),
                }
                if !script.is_open() || self.stopped.is_some() || !script.next() {
                    break;
                }
            }
            self.notes.inexact |= script.seen.inexact;
            outcome.truncated |= script.seen.truncated;
            outcome.opened |= script.seen.opened;
        }
        self.notes.unforeseen |= !self.model.is_foreseen(from, thread, &self.accesses);
        outcome
    }

    /// Continues a state through private steps; the results are to be stored.
    pub fn run_on(&mut self, start: Successor, moved: Option<ThreadIndex>, found: &mut Vec<Successor>) {
        let mut open = std::mem::take(&mut self.branches);
        let mut next = std::mem::take(&mut self.next);
        open.push((start, moved, 0));
        while let Some((mut successor, mut moved, mut length)) = open.pop() {
            if self.stopped.is_some() {
                open.clear();
                break;
            }
            let mut mark: Option<(u32, State)> = None;
            loop {
                if let Some(thread) = moved {
                    length += self.run_determined(&mut successor, thread);
                }
                let branches = open.len() + found.len();
                let full = self.stopped.is_some()
                    || length >= LONGEST_CHAIN
                    || branches >= MOST_BRANCHES
                    || branches as u64 * allocated(&successor.state) >= MOST_BYTES;
                next.clear();
                let thread = if full { None } else { self.private_steps(&successor, moved, &mut next) };
                self.pick(&mut next);
                let (Some(thread), Some(last)) = (thread, next.pop()) else {
                    found.push(successor);
                    break;
                };
                length += 1;
                moved = Some(thread);
                open.extend(next.drain(..).map(|successor| (successor, moved, length)));
                successor = last;
                // Brent's algorithm detects a chain that is a cycle: then it ends here.
                match &mut mark {
                    Some((_, marked)) if same(marked, &successor.state, thread) => length = LONGEST_CHAIN,
                    Some((at, marked)) if length >= 2 * *at => {
                        *at = length;
                        marked.clone_from(&successor.state);
                    }
                    Some(_) => {}
                    None if length >= 16 => mark = Some((length, successor.state.clone())),
                    None => {}
                }
            }
        }
        self.branches = open;
        self.next = next;
    }

    /// Takes steps of a thread in place, as long as they touch its locals only and leave nothing open. Says
    /// how many.
    fn run_determined(&mut self, successor: &mut Successor, thread: ThreadIndex) -> u32 {
        let model = self.model;
        let mut taken = 0;
        let state = &successor.state;
        let may_run = |other| other == thread || !model.machine.is_atomic(state, other);
        if !model.reduce || state.halted || !(0..state.threads.len()).all(may_run) {
            return taken;
        }
        // Shorter than the shortest circle that a chain notices, so that circles are noticed.
        'steps: while taken < 12 {
            let Some((template, location)) = successor.state.location(thread) else { return taken };
            if !model.facts.footprints.next(template, location).determined {
                return taken;
            }
            for &edge in &model.machine.outgoing[template][location] {
                self.tick();
                self.accesses.clear();
                let state = &mut successor.state;
                if model.machine.advance(state, thread, edge, &mut Zero, &mut self.accesses).is_ok() {
                    if self.record {
                        successor.steps.push(TraceStep { thread, edge, choices: Vec::new() });
                    }
                    let trail = successor.trail.then(&model.machine, &successor.state, thread, false);
                    successor.trail = trail;
                    taken += 1;
                    continue 'steps;
                }
            }
            return taken;
        }
        taken
    }

    /// Takes the private steps of some thread, or the steps of the only one that may run. Says which one, if
    /// there is such a one.
    fn private_steps(
        &mut self,
        from: &Successor,
        moved: Option<ThreadIndex>,
        found: &mut Vec<Successor>,
    ) -> Option<ThreadIndex> {
        let (model, state) = (self.model, &from.state);
        if state.halted {
            return None;
        }
        if let Some(moved) = moved
            && model.is_wanted_error(state, moved)
        {
            return None;
        }
        let count = state.threads.len();
        if let Some(alone) = (0..count).find(|thread| model.machine.is_atomic(state, *thread)) {
            if !model.reduce || model.violation(state).is_some() {
                return None;
            }
            let outcome = self.steps(state, (from.tainted, from.trail), &from.steps, alone, found);
            return (!outcome.truncated && !outcome.limited && !found.is_empty()).then_some(alone);
        }
        let others = (0..count).filter(|thread| Some(*thread) != moved);
        for thread in moved.into_iter().chain(others) {
            if self.stopped.is_some() {
                return None;
            }
            let privacy = model.privacy(state, thread);
            if privacy == Privacy::No {
                continue;
            }
            let outcome = self.steps(state, (from.tainted, from.trail), &from.steps, thread, found);
            let hidden = privacy == Privacy::Yes && !outcome.opened;
            let apart = hidden || model.is_apart(state, thread, &self.accesses, outcome.opened);
            if apart && !outcome.truncated && !outcome.limited && !found.is_empty() {
                return Some(thread);
            }
            found.clear();
        }
        None
    }
}

/// For steps that leave nothing open.
struct Zero;

impl Choices for Zero {
    fn choose(&mut self, _: Choice) -> Value {
        0
    }
}

/// Whether two states of one chain are equal; cheap if the thread is somewhere else.
fn same(marked: &State, state: &State, thread: ThreadIndex) -> bool {
    marked.threads.len() == state.threads.len()
        && marked.location(thread) == state.location(thread)
        && marked == state
}
