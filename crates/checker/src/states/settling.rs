//! Single moves between settled configurations, one by one.
//!
//! A configuration is *settled* if no thread is at a point where it can run on its own: where its steps do
//! not involve shared bits, or in an atomic region, without starting threads or broadcasting. Every execution
//! to an error can be reordered so that threads settle at once: such steps commute with those of others, and
//! in an atomic region no other thread runs. So it suffices to consider moves between settled configurations.

use super::claim;
use crate::ProofError;
use boolean::explicit::{Explicit, Local, Shared};
use boolean::view::StepId;
use boolean::{Bdd, Bit, PointId, View};
use ir::{Callee, Count, ErrorKind, Op, TemplateId};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use verdict::Budget;

/// A thread.
pub type Thread = (u32, u128);

/// A move from one settled thread state to the next.
pub struct Transition {
    pub from: (Shared, Thread),
    pub shared: Shared,
    /// The thread and those that it started, unless they end.
    pub after: Vec<Thread>,
    /// The broadcasting step, its arguments, and the shared state after it.
    pub telling: Option<(StepId, Vec<u128>, Shared)>,
}

/// The moves from a thread state, and whether one of them reaches an error.
pub struct Moves {
    pub list: Vec<Transition>,
    pub error: bool,
}

/// The settled thread states of closed sets.
pub struct Settling<'v, 'p> {
    pub explicit: Explicit<'v, 'p>,
    settled: Vec<bool>,
    kinds: &'v BTreeSet<ErrorKind>,
    /// The thread states of the sets, at which threads are settled and can take steps.
    pub states: Vec<(Shared, Thread)>,
    possible: HashSet<(Shared, Thread)>,
    most: BTreeMap<TemplateId, u32>,
}

/// Threads of one kind at the start: the most that there can be, and their possible states.
pub type Start = (Option<u32>, BTreeSet<Thread>);

/// The result of settling: the shared state, and the thread unless it ends; or an error.
pub enum Settled {
    At(Shared, Option<Thread>),
    Error,
}

/// Why a proof with very many thread states is not accepted.
pub const TOO_LARGE: &str = "there are too many thread states";

impl<'v, 'p> Settling<'v, 'p> {
    /// Finds the thread states.
    pub fn new(
        view: &'v View<'p>,
        sets: &[Bdd],
        kinds: &'v BTreeSet<ErrorKind>,
        budget: &Budget,
    ) -> Result<Self, ProofError> {
        if view.is_recursive() {
            return claim("calls are approximated");
        }
        let Some(explicit) = Explicit::new(view) else { return claim(TOO_LARGE) };
        let mut listeners: BTreeSet<usize> = BTreeSet::new();
        for broadcast in view.steps.iter().flat_map(|step| &step.broadcast) {
            listeners.extend(broadcast.reactions.keys());
        }
        let settled = (0..view.points.len() as u32).map(|id| {
            let id = PointId(id);
            let alone = view
                .steps_at(id)
                .iter()
                .all(|step| view.step(*step).started.is_empty() && view.step(*step).broadcast.is_empty());
            let moves_on = view.is_silent(id) || (view.point(id).atomic && alone);
            !moves_on || listeners.contains(&view.point(id).activation)
        });
        let settled = settled.collect();
        let (states, possible) = (Vec::new(), HashSet::new());
        let mut settling = Self { explicit, settled, kinds, states, possible, most: most_threads(view) };
        settling.states = settling.states(sets, budget)?;
        settling.possible = settling.states.iter().copied().collect();
        Ok(settling)
    }

    /// Whether the bits and points of a shared state and threads exist.
    pub fn exist(&self, shared: Shared, threads: impl IntoIterator<Item = Thread>) -> bool {
        let fits = |bits: u128, count: usize| count >= 128 || bits >> count == 0;
        let live = &self.explicit.view.live;
        fits(shared, self.explicit.shared.len())
            && threads
                .into_iter()
                .all(|(point, bits)| live.get(point as usize).is_some_and(|live| fits(bits, live.len())))
    }

    /// Whether such a thread is possible.
    pub fn is_possible(&self, shared: Shared, thread: Thread) -> bool {
        self.possible.contains(&(shared, thread))
    }

    /// Whether these threads can exist at once, by locks, atomic regions and the numbers of threads of
    /// templates.
    pub fn are_few(&self, threads: &[Thread]) -> bool {
        let view = self.explicit.view;
        let once = |test: &dyn Fn(&Local) -> bool| {
            threads.iter().filter(|thread| test(&Self::local(**thread))).count() <= 1
        };
        let mut counts: BTreeMap<TemplateId, u32> = BTreeMap::new();
        for thread in threads {
            *counts.entry(view.root_of(PointId(thread.0)).0).or_default() += 1;
        }
        view.locks.iter().all(|lock| once(&|local| self.explicit.holds(local, lock.held)))
            && once(&|local| view.point(local.point).atomic)
            && counts.iter().all(|(template, count)| self.most.get(template).is_none_or(|most| count <= most))
    }

    /// The possible states of a thread after a move of another.
    pub fn answers(&self, transition: &Transition, other: Thread) -> Vec<Thread> {
        match &transition.telling {
            None => vec![other],
            Some((step, broadcast, after)) => {
                let shared = (transition.from.0, *after);
                let answers = self.explicit.answers(*step, broadcast, shared, &Self::local(other));
                answers.into_iter().map(|answer| Self::thread(answer.next)).collect()
            }
        }
    }

    fn local(thread: Thread) -> Local {
        Local { point: PointId(thread.0), bits: thread.1 }
    }
    fn thread(local: Local) -> Thread {
        (local.point.0, local.bits)
    }

    /// All thread states of the sets at which threads are settled and can take steps.
    fn states(&self, sets: &[Bdd], budget: &Budget) -> Result<Vec<(Shared, Thread)>, ProofError> {
        let view = self.explicit.view;
        let mut found = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            let id = PointId(index as u32);
            if !self.settled[index] || view.point(id).error.is_some() || view.steps_at(id).is_empty() {
                continue;
            }
            let mut bits: Vec<Bit> = self.explicit.shared.iter().chain(&view.live[index]).copied().collect();
            bits.sort_unstable();
            self.solutions(*set, &bits, index, (0, (id.0, 0)), &mut found)?;
            budget.check(found.len() as u64 * 400).map_err(ProofError::TooExpensive)?;
        }
        Ok(found)
    }

    fn solutions(
        &self,
        set: Bdd,
        bits: &[Bit],
        point: usize,
        (shared, thread): (Shared, Thread),
        found: &mut Vec<(Shared, Thread)>,
    ) -> Result<(), ProofError> {
        if set == boolean::FALSE {
            return Ok(());
        }
        if found.len() > 1_000_000 {
            return claim(TOO_LARGE);
        }
        let Some((bit, rest)) = bits.split_first() else {
            found.push((shared, thread));
            return Ok(());
        };
        let node = self.explicit.view.bdds.node(set);
        for value in [false, true] {
            let part = match (node.level == bit.now(), value) {
                (false, _) => set,
                (true, false) => node.low,
                (true, true) => node.high,
            };
            let mut state = (shared, thread);
            if value {
                match self.explicit.shared.binary_search(bit) {
                    Ok(position) => state.0 |= 1 << position,
                    Err(_) => {
                        let position = self.explicit.view.live[point].binary_search(bit);
                        state.1.1 |= position.map_or(0, |position| 1 << position);
                    }
                }
            }
            self.solutions(part, rest, point, state, found)?;
        }
        Ok(())
    }

    /// All results of settling a thread.
    fn settle(&self, shared: Shared, local: Local) -> Result<Vec<Settled>, ProofError> {
        let view = self.explicit.view;
        let mut seen: BTreeSet<(Shared, Local)> = BTreeSet::from([(shared, local)]);
        let mut work = vec![(shared, local)];
        let mut found = Vec::new();
        while let Some((shared, local)) = work.pop() {
            let point = view.point(local.point);
            let steps = view.steps_at(local.point);
            if let Some(kind) = point.error {
                if self.kinds.contains(&kind) {
                    found.push(Settled::Error);
                }
            } else if steps.is_empty() {
                // No other thread runs after one that stops in an atomic region.
                if !point.atomic {
                    found.push(Settled::At(shared, None));
                }
            } else if self.settled[local.point.0 as usize] {
                found.push(Settled::At(shared, Some(Self::thread(local))));
            } else {
                // It may stay here for ever, unobserved.
                if !point.atomic {
                    found.push(Settled::At(shared, None));
                }
                for one in self.explicit.moves(shared, &local) {
                    match one.next {
                        None => found.push(Settled::At(one.shared, None)),
                        Some(next) => {
                            if seen.insert((one.shared, next)) {
                                work.push((one.shared, next));
                            }
                        }
                    }
                }
                if seen.len() > 50_000 {
                    return claim(TOO_LARGE);
                }
            }
        }
        Ok(found)
    }

    /// All moves from a thread state.
    pub fn moves(&self, (shared, thread): (Shared, Thread)) -> Result<Moves, ProofError> {
        let mut found = Vec::new();
        let mut errors = false;
        for one in self.explicit.moves(shared, &Self::local(thread)) {
            let ends = match one.next {
                None => vec![Settled::At(one.shared, None)],
                Some(next) => self.settle(one.shared, next)?,
            };
            // The results for the thread and all that it starts, in all combinations.
            let mut after: Vec<(Shared, Vec<Thread>)> = Vec::new();
            let mut error = false;
            for end in ends {
                match end {
                    Settled::Error => error = true,
                    Settled::At(shared, next) => after.push((shared, next.into_iter().collect())),
                }
            }
            for kid in &one.started {
                let mut more = Vec::new();
                for end in self.settle(one.shared, *kid)? {
                    match end {
                        Settled::Error => error = true,
                        Settled::At(_, next) => more.extend(after.iter().map(|(shared, threads)| {
                            (*shared, threads.iter().copied().chain(next).collect::<Vec<Thread>>())
                        })),
                    }
                }
                after = more;
                if after.len() > 1 << 16 {
                    return claim(TOO_LARGE);
                }
            }
            errors |= error;
            for (shared_after, threads) in after {
                let telling =
                    (!one.broadcast.is_empty()).then(|| (one.step, one.broadcast.clone(), one.shared));
                found.push(Transition {
                    from: (shared, thread),
                    shared: shared_after,
                    after: threads,
                    telling,
                });
            }
        }
        Ok(Moves { list: found, error: errors })
    }

    /// The possible threads at the start, with upper bounds on their numbers.
    pub fn starts(&self) -> Result<Vec<Start>, ProofError> {
        let view = self.explicit.view;
        let mut found = Vec::new();
        for ((_, count), entry) in view.program.start.iter().zip(&view.entries) {
            let local = self.explicit.pack(*entry, &|_| false);
            let mut at = BTreeSet::new();
            for end in self.settle(0, local)? {
                match end {
                    Settled::Error => return claim("a thread starts at an error"),
                    Settled::At(_, thread) => at.extend(thread),
                }
            }
            let most = match count {
                Count::Exactly(copies) => Some(*copies),
                Count::Any => None,
            };
            found.push((most, at));
        }
        Ok(found)
    }
}

/// Templates whose threads are those of the start only, with their number.
fn most_threads(view: &View<'_>) -> BTreeMap<TemplateId, u32> {
    let program = view.program;
    let mut most: BTreeMap<TemplateId, Option<u32>> = BTreeMap::new();
    for (template, count) in &program.start {
        let entry = most.entry(*template).or_insert(Some(0));
        *entry = match (*entry, count) {
            (Some(sum), Count::Exactly(copies)) => Some(sum + copies),
            _ => None,
        };
    }
    for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
        if let Op::Spawn(Callee::Procedure(template), ..) = op {
            most.insert(*template, None);
        }
    }
    most.into_iter().filter_map(|(template, most)| Some((template, most?))).collect()
}
