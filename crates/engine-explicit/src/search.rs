//! The search: explores each thread from each stored state once; executions with few preemptions come first.
//!
//! The order is that of iterative context bounding (Musuvathi and Qadeer, PLDI 2007): work is sorted by the
//! number of preemptions that it needs, a preemption being a switch away from a thread that could have
//! continued to a new state. Deviations: 1. The levels share the time (the lowest one with work gets half of
//! it, the next a quarter, and so on), as a level may have infinitely many states. 2. Open values are tried
//! with few candidates first; more of them cost levels too. 3. Within a level, mostly the newest state comes
//! first, sometimes the oldest or one in between, so that no deep branch traps the search. When all work is
//! done, all states were followed in all orders: the order matters for speed only.

use crate::expand::{Expander, Notes, Successor, allocated};
use crate::store::{NONE, Origin, StateId, Store, Stored};
use crate::stuck::Moves;
use executions::model::Model;
use ir::semantics::{Fate, LimitKind, ThreadIndex, Trail};
use std::collections::VecDeque;
use verdict::{Budget, Exhausted, Property, Trace, TraceStep, Violation};

/// How many candidates for each open value are tried: first, later, and at last.
const TIERS: [usize; 3] = [4, 16, usize::MAX];
/// The levels that more candidates cost.
const TIER_COST: usize = 2;
/// The cost, in levels, of continuing after a value that is not modelled.
const TAINT_COST: usize = 1;

#[derive(Clone, Copy)]
enum Work {
    /// The state is new and was reached by this thread: it goes first.
    First(u16),
    /// The state was reached again, now by this thread.
    Again(u16),
    /// More candidates for the open values of this thread's steps.
    Tier(u16, u8),
    /// All threads that are left.
    Rest,
}

/// How a run of the search ended.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing is left to do.
    Done,
    /// This state is bad.
    Found(StateId, Violation),
    /// The steps that were granted are used up.
    Paused,
    /// The budget ran out.
    Stopped(Exhausted),
}

/// Executions that are all asked whether they depend on a value that is not modelled; later ones now and
/// then.
const QUESTIONS: u64 = 64;

/// A search that can be paused and resumed.
pub struct Search<'a, 'p> {
    /// How many copies of each start template run.
    pub copies: Vec<u32>,
    /// The states seen.
    pub store: Store,
    /// Whether a bad state was found that rests on a value that is not modelled.
    pub approximate: bool,
    /// How many executions were asked about that may depend on such a value.
    asked: u64,
    budget: Budget,
    /// Why it is not known whether threads wait for ever, or memory is lost, where all states are known.
    pub undecided: Option<String>,
    expander: Expander<'a, 'p>,
    levels: Vec<VecDeque<(StateId, Work)>>,
    waiting: usize,
    turn: u64,
    lottery: u64,
    breadth_first: bool,
    /// The moves between stored states, if the property is about deadlocks.
    moves: Option<Moves>,
    /// Kept between calls, so that it need not be allocated each time.
    found: Vec<Successor>,
    /// Likewise.
    from: Option<Stored>,
}

/// How many bytes of a state are stored in the time that a step stands for.
const BYTES_PER_STEP: u64 = 256;
/// How many threads of a state are looked at in the time that a step stands for: each successor asks all.
const THREADS_PER_STEP: u64 = 4;

impl<'a, 'p> Search<'a, 'p> {
    /// A search from the initial state with these copies.
    pub fn new(model: &'a Model<'p>, copies: Vec<u32>, budget: &Budget, breadth_first: bool) -> Self {
        Self {
            copies,
            store: Store::new(),
            approximate: false,
            asked: 0,
            budget: budget.clone(),
            undecided: None,
            expander: Expander::new(model, budget, TIERS[0], false),
            levels: vec![VecDeque::new()],
            waiting: 0,
            turn: 0,
            lottery: 0,
            breadth_first,
            moves: (model.property == Property::NoDeadlock).then(Moves::default),
            found: Vec::new(),
            from: None,
        }
    }
    /// What was seen during the search.
    pub fn notes(&self) -> &Notes {
        &self.expander.notes
    }
    /// The bytes that the search takes.
    pub fn bytes(&self) -> u64 {
        self.store.bytes() + self.waiting as u64 * 16 + self.moves.as_ref().map_or(0, Moves::bytes)
    }

    /// Forgets all states and all work.
    pub fn clear(&mut self) {
        self.store = Store::new();
        self.levels = vec![VecDeque::new()];
        self.waiting = 0;
        self.moves = self.moves.take().map(|_| Moves::default());
    }

    /// The fate of the threads, as far as the search has come. `all`: it is complete.
    pub fn fate(&mut self, all: bool) -> Fate {
        match &self.moves {
            Some(moves) => moves.fate(&self.expander.model.machine, &mut self.store, all),
            None => Fate::Free,
        }
    }

    /// Continues for about so many steps. `elsewhere`: bytes in use by others, for the budget.
    pub fn run(&mut self, steps: u64, elsewhere: u64) -> Outcome {
        let end = self.expander.notes.steps.saturating_add(steps);
        if self.store.len() == 0
            && let Some(outcome) = self.start()
        {
            return outcome;
        }
        while let Some((level, id, work)) = self.pop() {
            if let Some((id, violation)) = self.work(level, id, work) {
                return Outcome::Found(id, violation);
            }
            self.expander.bytes = elsewhere + self.bytes();
            if let Some(exhausted) = self.expander.stopped {
                return Outcome::Stopped(exhausted);
            }
            if self.store.is_full() {
                return Outcome::Stopped(Exhausted::Memory);
            }
            if self.expander.notes.steps >= end {
                return Outcome::Paused;
            }
        }
        Outcome::Done
    }

    fn start(&mut self) -> Option<Outcome> {
        let initial = match self.expander.model.machine.initial(&self.copies) {
            Ok(state) => state,
            Err(limit) => {
                self.note_limit(limit);
                return None;
            }
        };
        let mut found = Vec::new();
        self.expander.run_on(
            Successor { state: initial, tainted: false, steps: Vec::new(), trail: Trail::default() },
            None,
            &mut found,
        );
        for successor in found {
            let origin = Origin { parent: NONE, thread: 0, tier: 0 };
            if let Some((id, violation)) = self.add(successor, None, 0, origin) {
                return Some(Outcome::Found(id, violation));
            }
        }
        None
    }

    fn note_limit(&mut self, limit: LimitKind) {
        self.expander.notes.limits.push(limit);
    }

    fn push(&mut self, level: usize, id: StateId, work: Work) {
        let level = if self.breadth_first { 0 } else { level };
        while self.levels.len() <= level {
            self.levels.push(VecDeque::new());
        }
        self.levels[level].push_back((id, work));
        self.waiting += 1;
    }

    fn pop(&mut self) -> Option<(usize, StateId, Work)> {
        if self.waiting == 0 {
            return None;
        }
        self.waiting -= 1;
        self.turn += 1;
        let mut skip = self.turn.trailing_zeros();
        let mut chosen = 0;
        for level in (0..self.levels.len()).filter(|level| !self.levels[*level].is_empty()) {
            chosen = level;
            if skip == 0 {
                break;
            }
            skip -= 1;
        }
        let queue = &mut self.levels[chosen];
        // A fixed sequence of pseudo-random numbers: the search is the same each time.
        self.lottery = self.lottery.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let ticket = (self.lottery >> 33) as usize;
        let (id, work) = match ticket % 8 {
            _ if self.breadth_first => queue.pop_front(),
            0 => queue.pop_front(),
            1 => queue.swap_remove_back(ticket / 8 % queue.len().max(1)),
            _ => queue.pop_back(),
        }?;
        Some((chosen, id, work))
    }

    fn work(&mut self, level: usize, id: StateId, work: Work) -> Option<(StateId, Violation)> {
        if let Work::Again(thread) = work
            && self.store.is_expanded(id, thread as usize)
        {
            return None;
        }
        let mut from = self.from.take().unwrap_or_default();
        self.store.load(id, &mut from);
        let bad = self.work_on(level, id, &from, work);
        self.from = Some(from);
        bad
    }

    fn work_on(
        &mut self,
        level: usize,
        id: StateId,
        from: &Stored,
        work: Work,
    ) -> Option<(StateId, Violation)> {
        match work {
            Work::First(thread) | Work::Again(thread) => {
                let machine = &self.expander.model.machine;
                let schedulable = machine.schedulable(&from.state);
                let thread = thread as ThreadIndex;
                let mut fresh = false;
                if schedulable.contains(&thread) && !self.store.is_expanded(id, thread) {
                    if thread < 63 {
                        self.store.set_expanded(id, thread);
                    }
                    let before = self.store.len();
                    let bad = self.expand(level, id, from, thread, 0);
                    if bad.is_some() {
                        return bad;
                    }
                    fresh = self.store.len() > before;
                }
                if schedulable.iter().all(|thread| self.store.is_expanded(id, *thread)) {
                    self.store.set_all_expanded(id);
                    return None;
                }
                if matches!(work, Work::Again(_)) {
                    return None;
                }
                if fresh {
                    self.push(level + 1, id, Work::Rest);
                    return None;
                }
                self.rest(level, id, from, &schedulable)
            }
            Work::Tier(thread, tier) => self.expand(level, id, from, thread as usize, tier),
            Work::Rest => {
                let schedulable = self.expander.model.machine.schedulable(&from.state);
                self.rest(level, id, from, &schedulable)
            }
        }
    }

    fn rest(
        &mut self,
        level: usize,
        id: StateId,
        from: &Stored,
        schedulable: &[ThreadIndex],
    ) -> Option<(StateId, Violation)> {
        for &thread in schedulable {
            if self.expander.stopped.is_some() {
                return None;
            }
            if !self.store.is_expanded(id, thread) {
                let bad = self.expand(level, id, from, thread, 0);
                if bad.is_some() {
                    return bad;
                }
            }
        }
        self.store.set_all_expanded(id);
        None
    }

    fn expand(
        &mut self,
        level: usize,
        id: StateId,
        from: &Stored,
        thread: ThreadIndex,
        tier: u8,
    ) -> Option<(StateId, Violation)> {
        let mut found = std::mem::take(&mut self.found);
        self.expander.limit = TIERS[tier as usize];
        let limited = self.expander.notes.limited;
        let truncated = self.expander.successors(&from.state, from.tainted, thread, &mut found);
        if let Some(moves) = &mut self.moves {
            moves.note_missing(id, self.expander.notes.limited > limited, truncated);
        }
        // A chain stops where open values have many candidates, so that they get their own tiers.
        self.expander.limit = TIERS[0];
        if truncated {
            self.push(level + TIER_COST, id, Work::Tier(thread as u16, tier + 1));
        }
        for successor in found.drain(..) {
            let origin = Origin { parent: id, thread: thread as u16, tier };
            let bad = self.add(successor, Some(from), level, origin);
            if bad.is_some() {
                return bad;
            }
        }
        self.found = found;
        None
    }

    fn add(
        &mut self,
        mut successor: Successor,
        near: Option<&Stored>,
        level: usize,
        origin: Origin,
    ) -> Option<(StateId, Violation)> {
        let model = self.expander.model;
        model.facts.liveness.forget_dead(&mut successor.state, near.map(|near| &near.state));
        let Successor { mut state, tainted, trail, .. } = successor;
        self.budget.spend(allocated(&state) / BYTES_PER_STEP + state.threads.len() as u64 / THREADS_PER_STEP);
        let (id, new) = self.store.insert(&mut state, tainted, near, origin);
        if let Some(moves) = &mut self.moves
            && origin.parent != NONE
        {
            moves.add(origin.parent, id, origin.thread, trail);
        }
        if !new {
            if !self.store.is_expanded(id, origin.thread as usize) && id != origin.parent {
                self.push(level, id, Work::Again(origin.thread));
            }
            self.expander.recycle(state);
            return None;
        }
        if let Some(violation) = model.violation(&state) {
            let is_certain = !model.facts.is_approximate && violation != Violation::Leak;
            if is_certain || self.is_evidence(id, violation.clone()) {
                return Some((id, violation));
            }
            self.approximate = true;
        }
        if self.undecided.is_none() && model.may_leak(&state) {
            self.undecided = Some("allocated memory may be lost before the program ends".to_owned());
        }
        let turned = tainted && near.is_some_and(|near| !near.tainted);
        let level = if turned { level + TAINT_COST } else { level };
        self.push(level, id, Work::First(origin.thread));
        self.expander.recycle(state);
        None
    }

    /// Where the first violation that is no evidence chooses a value that is not modelled.
    pub fn doubt(&self) -> String {
        self.expander.model.facts.doubt.get().cloned().unwrap_or_default()
    }

    /// Whether the execution that led to a stored state does not depend on values that are not modelled.
    /// Where many do, not all are asked about.
    fn is_evidence(&mut self, id: StateId, violation: Violation) -> bool {
        self.asked += 1;
        if self.asked > QUESTIONS && !self.asked.is_power_of_two() {
            return false;
        }
        let budget = self.budget.clone();
        let trace = self.trace(id, violation, &budget);
        trace.is_some_and(|trace| self.expander.model.is_evidence(&trace))
    }

    /// The execution that led to a stored state.
    pub fn trace(&mut self, id: StateId, violation: Violation, budget: &Budget) -> Option<Trace> {
        let mut path = vec![id];
        while let Some(&last) = path.last()
            && self.store.origin(last).parent != NONE
        {
            path.push(self.store.origin(last).parent);
        }
        path.reverse();
        let model = self.expander.model;
        let mut expander = Expander::new(model, budget, TIERS[0], true);
        let mut found = Vec::new();
        let initial = model.machine.initial(&self.copies).ok()?;
        expander.run_on(
            Successor { state: initial, tainted: false, steps: Vec::new(), trail: Trail::default() },
            None,
            &mut found,
        );
        let mut steps: Vec<TraceStep> = Vec::new();
        let mut from: Option<Stored> = None;
        for &id in &path {
            let origin = self.store.origin(id);
            if let Some(from) = &from {
                found.clear();
                expander.limit = TIERS[origin.tier as usize];
                expander.successors(&from.state, from.tainted, origin.thread as usize, &mut found);
            }
            let store = &mut self.store;
            let taken = found.drain(..).find_map(|mut successor| {
                model.facts.liveness.forget_dead(&mut successor.state, None);
                let (reached, _) = store.insert(&mut successor.state, successor.tainted, None, origin);
                (reached == id).then_some(successor.steps)
            });
            steps.extend(taken?);
            from = Some(self.store.get(id));
        }
        Some(Trace { copies: self.copies.clone(), steps, violation })
    }
}
