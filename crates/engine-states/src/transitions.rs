//! Explicit transitions between thread states at *settled* points.
//!
//! A thread is not settled where its steps involve no shared bits (it may as well continue at once: they
//! commute with those of others), nor inside an atomic region (no other thread runs). So a transition is one
//! step, followed by steps until the thread is settled again, ends, or blocks. Only thread states of the
//! over-approximation count. Exact.

use boolean::explicit::{Explicit, Local, Move, Shared};
use boolean::view::StepId;
use boolean::{Bdd, Bit, PointId, View};
use ir::{Callee, Count, ErrorKind, Op, TemplateId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{Budget, Exhausted};

/// The number of a shared state.
pub type SharedId = u32;
/// The number of a thread without the shared state.
pub type LocalNumber = u32;

/// Steps of one thread with the values that they ask for.
pub type Path = Vec<(StepId, u64)>;

/// What is broadcast to other threads in the first step of a transition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Telling {
    /// The step.
    pub step: StepId,
    /// What is handed over.
    pub broadcast: Vec<u128>,
    /// The shared state before and after that step.
    pub shared: (Shared, Shared),
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The shared state and the thread before.
    pub from: (SharedId, LocalNumber),
    /// The shared state after it.
    pub shared: SharedId,
    /// The thread after it, unless it has ended or is stuck for good.
    pub next: Option<LocalNumber>,
    /// The threads that it starts: how they settle, unless they end.
    pub started: Vec<(Path, Option<LocalNumber>)>,
    /// What it broadcasts to others.
    pub telling: Option<u32>,
    /// The steps.
    pub path: Path,
    /// The thread, or one that it starts, is at an error.
    pub error: bool,
}

impl Transition {
    /// The threads after it: the one that takes it, and those that it starts.
    pub fn after(&self) -> impl Iterator<Item = LocalNumber> + '_ {
        self.next.into_iter().chain(self.started.iter().filter_map(|(_, number)| *number))
    }
}

/// Why there is no explicit form.
pub enum Failure {
    /// Too many states.
    TooLarge,
    /// The budget is used up.
    Exhausted(Exhausted),
}

impl From<Exhausted> for Failure {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

/// Where threads are at the start.
pub struct StartGroup {
    /// How many.
    pub count: Count,
    /// How they can settle.
    pub settled: Vec<(Path, Option<LocalNumber>)>,
    /// Whether one can reach an error at once.
    pub error: Option<Path>,
}

/// All transitions.
pub struct Transitions<'v, 'p> {
    /// The explicit view.
    pub explicit: Explicit<'v, 'p>,
    /// The shared states.
    pub shared: Vec<Shared>,
    shared_ids: FxHashMap<Shared, SharedId>,
    /// The threads.
    pub locals: Vec<Local>,
    local_ids: FxHashMap<Local, LocalNumber>,
    /// The possible thread states.
    pub possible: FxHashSet<(SharedId, LocalNumber)>,
    /// The same, in order.
    pub states: Vec<(SharedId, LocalNumber)>,
    /// The transitions.
    pub list: Vec<Transition>,
    /// What is broadcast.
    pub tellings: Vec<Telling>,
    /// The shared states at the start.
    pub initial: Vec<SharedId>,
    /// The threads at the start.
    pub start: Vec<StartGroup>,
    settled: Vec<bool>,
    errors: BTreeSet<ErrorKind>,
}

/// How a thread settles.
struct Settled {
    path: Path,
    shared: Shared,
    next: Option<Local>,
    error: bool,
}

/// Thread states and transitions beyond these many are too many.
const MOST_STATES: usize = 400_000;
const MOST_TRANSITIONS: usize = 3_000_000;

impl<'v, 'p> Transitions<'v, 'p> {
    /// Makes the explicit form.
    pub fn new(
        view: &'v View<'p>,
        sets: &[Bdd],
        errors: &BTreeSet<ErrorKind>,
        budget: &Budget,
    ) -> Result<Self, Failure> {
        let explicit = Explicit::new(view).ok_or(Failure::TooLarge)?;
        let listening: FxHashSet<usize> = view
            .steps
            .iter()
            .flat_map(|step| &step.broadcast)
            .flat_map(|broadcast| broadcast.reactions.keys().copied())
            .collect();
        let settled = (0..view.points.len() as u32)
            .map(|id| {
                let point = view.point(PointId(id));
                let plain = view.steps_at(PointId(id)).iter().all(|step| {
                    let step = view.step(*step);
                    step.started.is_empty() && step.broadcast.is_empty()
                });
                let continues = (point.atomic && plain) || view.is_silent(PointId(id));
                listening.contains(&point.activation) || !continues
            })
            .collect();
        let mut transitions = Self {
            explicit,
            shared: Vec::new(),
            shared_ids: FxHashMap::default(),
            locals: Vec::new(),
            local_ids: FxHashMap::default(),
            possible: FxHashSet::default(),
            states: Vec::new(),
            list: Vec::new(),
            tellings: Vec::new(),
            initial: Vec::new(),
            start: Vec::new(),
            settled,
            errors: errors.clone(),
        };
        let states = transitions.enumerate(sets, budget)?;
        transitions.expand(&states, budget)?;
        transitions.starts(budget)?;
        Ok(transitions)
    }

    fn shared_id(&mut self, shared: Shared) -> SharedId {
        let next = self.shared.len() as SharedId;
        let id = *self.shared_ids.entry(shared).or_insert(next);
        if id == next {
            self.shared.push(shared);
        }
        id
    }
    fn local_id(&mut self, local: Local) -> LocalNumber {
        let next = self.locals.len() as LocalNumber;
        let id = *self.local_ids.entry(local).or_insert(next);
        if id == next {
            self.locals.push(local);
        }
        id
    }
    /// The number of a thread, if it is known.
    pub fn known_local(&self, local: &Local) -> Option<LocalNumber> {
        self.local_ids.get(local).copied()
    }

    /// All thread states of the sets at points where threads are settled.
    fn enumerate(&mut self, sets: &[Bdd], budget: &Budget) -> Result<Vec<(Shared, Local)>, Failure> {
        let view = self.explicit.view;
        let mut found = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            let point = PointId(index as u32);
            if !self.settled[index] || view.point(point).error.is_some() || view.steps_at(point).is_empty() {
                continue;
            }
            let mut bits: Vec<Bit> = self.explicit.shared.clone();
            bits.extend(&view.live[index]);
            bits.sort_unstable();
            let mut work = vec![(*set, 0usize, 0u128, 0u128)];
            while let Some((at, next, shared, local)) = work.pop() {
                if at == boolean::FALSE {
                    continue;
                }
                if next == bits.len() {
                    found.push((shared, Local { point, bits: local }));
                    if found.len() > MOST_STATES {
                        return Err(Failure::TooLarge);
                    }
                    if found.len().is_multiple_of(4096) {
                        budget.check(found.len() as u64 * 200)?;
                    }
                    continue;
                }
                let bit = bits[next];
                let node = view.bdds.node(at);
                let (low, high) = if node.level == bit.now() { (node.low, node.high) } else { (at, at) };
                let (mut with_shared, mut with_local) = (shared, local);
                match self.explicit.shared.binary_search(&bit) {
                    Ok(position) => with_shared |= 1 << position,
                    Err(_) => {
                        if let Ok(position) = view.live[index].binary_search(&bit) {
                            with_local |= 1 << position;
                        }
                    }
                }
                work.push((high, next + 1, with_shared, with_local));
                work.push((low, next + 1, shared, local));
            }
        }
        for (shared, local) in &found {
            let state = (self.shared_id(*shared), self.local_id(*local));
            self.possible.insert(state);
            self.states.push(state);
        }
        Ok(found)
    }

    /// How a thread settles from here.
    fn settle(&self, shared: Shared, local: Local) -> Result<Vec<Settled>, Failure> {
        let view = self.explicit.view;
        let mut seen: FxHashSet<(Shared, Local)> = FxHashSet::default();
        let mut found: Vec<Settled> = Vec::new();
        // Where it may stay forever without anyone noticing.
        let mut idle: Vec<(Shared, Path)> = Vec::new();
        let mut work: Vec<(Path, Shared, Local)> = vec![(Vec::new(), shared, local)];
        while let Some((path, shared, local)) = work.pop() {
            if !seen.insert((shared, local)) {
                continue;
            }
            if seen.len() > 20_000 {
                return Err(Failure::TooLarge);
            }
            let point = view.point(local.point);
            if let Some(kind) = point.error {
                if self.errors.contains(&kind) {
                    found.push(Settled { path, shared, next: None, error: true });
                }
                continue;
            }
            if view.steps_at(local.point).is_empty() && !point.atomic {
                found.push(Settled { path, shared, next: None, error: false });
                continue;
            }
            if self.settled[local.point.0 as usize] {
                found.push(Settled { path, shared, next: Some(local), error: false });
                continue;
            }
            let moves = self.explicit.moves(shared, &local);
            if !point.atomic && idle.iter().all(|(known, _)| *known != shared) {
                idle.push((shared, path.clone()));
            }
            for Move { step, inputs, shared, next, .. } in moves {
                let mut path = path.clone();
                path.push((step, inputs));
                match next {
                    Some(next) => work.push((path, shared, next)),
                    None => found.push(Settled { path, shared, next: None, error: false }),
                }
            }
        }
        for (shared, path) in idle {
            if found.iter().all(|rest| rest.shared != shared || rest.error) {
                found.push(Settled { path, shared, next: None, error: false });
            }
        }
        Ok(found)
    }

    fn expand(&mut self, states: &[(Shared, Local)], budget: &Budget) -> Result<(), Failure> {
        let mut telling_ids: FxHashMap<Telling, u32> = FxHashMap::default();
        for (index, (shared, local)) in states.iter().enumerate() {
            if index.is_multiple_of(256) {
                budget.check(self.list.len() as u64 * 150)?;
            }
            if self.list.len() > MOST_TRANSITIONS {
                return Err(Failure::TooLarge);
            }
            let from = (self.shared_id(*shared), self.local_id(*local));
            let first = self.list.len();
            for Move { step, inputs, shared: after, next, started, broadcast } in
                self.explicit.moves(*shared, local)
            {
                let telling = if broadcast.is_empty() {
                    None
                } else {
                    let telling = Telling { step, broadcast, shared: (*shared, after) };
                    let next_id = self.tellings.len() as u32;
                    let id = *telling_ids.entry(telling.clone()).or_insert(next_id);
                    if id == next_id {
                        self.tellings.push(telling);
                    }
                    Some(id)
                };
                let rests = match next {
                    Some(next) => self.settle(after, next)?,
                    None => vec![Settled { path: Vec::new(), shared: after, next: None, error: false }],
                };
                let mut kids: Vec<Vec<(Path, Option<LocalNumber>)>> = vec![Vec::new()];
                let mut kid_error = None;
                for kid in started {
                    let mut more = Vec::new();
                    for Settled { path, next, error, .. } in self.settle(after, kid)? {
                        if error {
                            kid_error = Some(path.clone());
                        }
                        let number = next.map(|next| self.local_id(next));
                        for kids in &kids {
                            let mut kids = kids.clone();
                            kids.push((path.clone(), number));
                            more.push(kids);
                        }
                    }
                    kids = more;
                    if kids.len() > 1 << 16 {
                        return Err(Failure::TooLarge);
                    }
                }
                for rest in rests {
                    let shared = self.shared_id(rest.shared);
                    let next = rest.next.map(|next| self.local_id(next));
                    let mut path = vec![(step, inputs)];
                    path.extend(rest.path);
                    for started in &kids {
                        let known = self.list[first..].iter().any(|other| {
                            let same_kids = other.started.len() == started.len()
                                && other.started.iter().zip(started).all(|(a, b)| a.1 == b.1);
                            (other.shared, other.next, other.telling, other.error)
                                == (shared, next, telling, rest.error)
                                && same_kids
                        });
                        if !known {
                            let (path, started) = (path.clone(), started.clone());
                            self.list.push(Transition {
                                from,
                                shared,
                                next,
                                started,
                                telling,
                                path,
                                error: rest.error,
                            });
                        }
                    }
                    if let (Some(kid), false) = (&kid_error, rest.error) {
                        let started = vec![(kid.clone(), None)];
                        let path = path.clone();
                        self.list.push(Transition {
                            from,
                            shared,
                            next,
                            started,
                            telling,
                            path,
                            error: true,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn starts(&mut self, budget: &Budget) -> Result<(), Failure> {
        budget.check(0)?;
        let shared = self.explicit.initial_shared().ok_or(Failure::TooLarge)?;
        self.initial = shared.iter().map(|shared| self.shared_id(*shared)).collect();
        let view = self.explicit.view;
        for ((_, count), entry) in view.program.start.iter().zip(&view.entries) {
            let local = self.explicit.pack(*entry, &|_| false);
            let mut group = StartGroup { count: *count, settled: Vec::new(), error: None };
            // These steps have nothing to do with shared bits, so any shared state will do.
            for Settled { path, next, error, .. } in self.settle(shared[0], local)? {
                if error {
                    group.error = Some(path);
                } else {
                    let number = next.map(|next| self.local_id(next));
                    group.settled.push((path, number));
                }
            }
            self.start.push(group);
        }
        Ok(())
    }

    /// Templates whose threads only run from the start, with how many of them there are.
    pub fn bounded_templates(&self) -> BTreeMap<TemplateId, u32> {
        let program = self.explicit.view.program;
        let mut bounded: BTreeMap<TemplateId, u32> = BTreeMap::new();
        for (template, count) in &program.start {
            if let Count::Exactly(copies) = count {
                *bounded.entry(*template).or_default() += copies;
            }
        }
        let mut others: FxHashSet<TemplateId> = FxHashSet::default();
        others.extend(
            program.start.iter().filter(|(_, count)| *count == Count::Any).map(|(template, _)| *template),
        );
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            if let Op::Spawn(Callee::Procedure(template), ..) = op {
                others.insert(*template);
            }
        }
        bounded.retain(|template, _| !others.contains(template));
        bounded
    }
}
