//! No configuration that is said to be unreachable is: none is initial, and whatever leads to one has one inside itself, or is impossible.
//!
//! Impossible are threads outside of the closed sets, two threads that hold one lock or are both in an atomic region, and more threads
//! of a template than ever run. A configuration is *settled* if no thread is at a point where it can go on by itself: where its steps
//! have nothing to do with shared bits, or inside of an atomic region without starting or telling others. Every execution to an error can be
//! reordered so that threads settle at once: such steps commute with those of others, and in an atomic region nobody else runs. So it is
//! enough to look at steps between settled configurations. Steps are monotonic in the number of threads, so minimal ones are enough.

use super::claim;
use crate::ProofError;
use boolean::explicit::{Explicit, Local, Shared};
use boolean::view::StepId;
use boolean::{Bdd, Bit, PointId, View};
use ir::{Callee, Count, ErrorKind, Op, TemplateId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use verdict::{Budget, Configuration};

/// A thread.
type Thread = (u32, u128);

/// A way from one settled thread state to the next.
struct Way {
    from: (Shared, Thread),
    shared: Shared,
    /// The thread and those that it started, as far as they go on.
    behind: Vec<Thread>,
    /// The step that tells others something, what, and the shared state behind it.
    telling: Option<(StepId, Vec<u128>, Shared)>,
}

struct Test<'v, 'p> {
    explicit: Explicit<'v, 'p>,
    settled: Vec<bool>,
    kinds: &'v BTreeSet<ErrorKind>,
    possible: HashSet<(Shared, Thread)>,
    bad: HashMap<Shared, Vec<&'v [Thread]>>,
    most: BTreeMap<TemplateId, u32>,
}

/// Threads of one kind at the start: how many at most, and what they can be.
type Start = (Option<u32>, BTreeSet<Thread>);

/// How a thread settles: the shared state behind, and the thread unless it ends; or an error.
enum Settled {
    At(Shared, Option<Thread>),
    Error,
}

const TOO_LARGE: &str = "there are too many thread states";

pub(super) fn check<'v>(
    view: &'v View<'_>,
    sets: &[Bdd],
    kinds: &'v BTreeSet<ErrorKind>,
    unreachable: &'v [Configuration],
    budget: &Budget,
) -> Result<(), ProofError> {
    if view.is_recursive() {
        return claim("calls are approximated");
    }
    let Some(explicit) = Explicit::new(view) else { return claim(TOO_LARGE) };
    let mut listeners: BTreeSet<usize> = BTreeSet::new();
    for told in view.steps.iter().flat_map(|step| &step.told) {
        listeners.extend(told.reactions.keys());
    }
    let settled = (0..view.points.len() as u32).map(|id| {
        let id = PointId(id);
        let alone = view
            .steps_at(id)
            .iter()
            .all(|step| view.step(*step).started.is_empty() && view.step(*step).told.is_empty());
        let moves_on = view.is_silent(id) || (view.point(id).atomic && alone);
        !moves_on || listeners.contains(&view.point(id).activation)
    });
    let settled = settled.collect();
    let mut bad: HashMap<Shared, Vec<&[Thread]>> = HashMap::new();
    for configuration in unreachable {
        if configuration.threads.is_empty() || !configuration.threads.is_sorted() {
            return claim("a configuration is not in order");
        }
        bad.entry(configuration.shared).or_default().push(&configuration.threads);
    }
    let mut test = Test { explicit, settled, kinds, possible: HashSet::new(), bad, most: most_threads(view) };
    let states = test.states(sets, budget)?;
    test.possible.extend(&states);
    let mut into: HashMap<Shared, Vec<Way>> = HashMap::new();
    for (index, state) in states.iter().enumerate() {
        if index % 256 == 0 {
            budget.check(index as u64 * 400).map_err(ProofError::TooExpensive)?;
        }
        for way in test.ways(*state)? {
            into.entry(way.shared).or_default().push(way);
        }
    }
    let Some(initial) = test.explicit.initial_shared() else { return claim(TOO_LARGE) };
    let initial: HashSet<Shared> = initial.into_iter().collect();
    let starts = test.starts()?;
    for configuration in unreachable {
        if initial.contains(&configuration.shared) && is_initial(&starts, &configuration.threads) {
            return claim("an initial configuration is said to be unreachable");
        }
        for (index, way) in into.get(&configuration.shared).into_iter().flatten().enumerate() {
            if index % 256 == 0 {
                budget.check(0).map_err(ProofError::TooExpensive)?;
            }
            test.leads_from_bad(way, &configuration.threads, &states, budget)?;
        }
    }
    Ok(())
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

/// Whether a sorted list has all of another one.
fn has_all(list: &[Thread], wanted: &[Thread]) -> bool {
    let mut at = 0;
    wanted.iter().all(|thread| {
        while at < list.len() && list[at] < *thread {
            at += 1;
        }
        at += 1;
        list.get(at - 1) == Some(thread)
    })
}

impl Test<'_, '_> {
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

    /// All ways in which a thread settles.
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
                // Nobody runs behind one that stops in an atomic region.
                if !point.atomic {
                    found.push(Settled::At(shared, None));
                }
            } else if self.settled[local.point.0 as usize] {
                found.push(Settled::At(shared, Some(Self::thread(local))));
            } else {
                // It may stay here forever, without anyone noticing.
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

    /// All ways from a thread state. One that leads to an error must be bad itself.
    fn ways(&self, (shared, thread): (Shared, Thread)) -> Result<Vec<Way>, ProofError> {
        let mut found = Vec::new();
        for one in self.explicit.moves(shared, &Self::local(thread)) {
            let ends = match one.next {
                None => vec![Settled::At(one.shared, None)],
                Some(next) => self.settle(one.shared, next)?,
            };
            // What the thread and all that it starts come to, in all combinations.
            let mut behind: Vec<(Shared, Vec<Thread>)> = Vec::new();
            let mut error = false;
            for end in ends {
                match end {
                    Settled::Error => error = true,
                    Settled::At(shared, next) => behind.push((shared, next.into_iter().collect())),
                }
            }
            for kid in &one.started {
                let mut more = Vec::new();
                for end in self.settle(one.shared, *kid)? {
                    match end {
                        Settled::Error => error = true,
                        Settled::At(_, next) => more.extend(behind.iter().map(|(shared, threads)| {
                            (*shared, threads.iter().copied().chain(next).collect::<Vec<Thread>>())
                        })),
                    }
                }
                behind = more;
                if behind.len() > 1 << 16 {
                    return claim(TOO_LARGE);
                }
            }
            if error && !self.is_bad(shared, &[thread]) {
                return claim("a step to an error is not among the configurations");
            }
            for (behind_shared, threads) in behind {
                let telling = (!one.told.is_empty()).then(|| (one.step, one.told.clone(), one.shared));
                found.push(Way { from: (shared, thread), shared: behind_shared, behind: threads, telling });
            }
        }
        Ok(found)
    }

    /// Whether a configuration contains one that is said to be unreachable.
    fn is_bad(&self, shared: Shared, threads: &[Thread]) -> bool {
        self.bad.get(&shared).into_iter().flatten().any(|bad| has_all(threads, bad))
    }

    /// Whether there can be such threads at once.
    fn is_possible(&self, shared: Shared, threads: &[Thread]) -> bool {
        let view = self.explicit.view;
        let once = |test: &dyn Fn(&Local) -> bool| {
            threads.iter().filter(|thread| test(&Self::local(**thread))).count() <= 1
        };
        let mut counts: BTreeMap<TemplateId, u32> = BTreeMap::new();
        for thread in threads {
            *counts.entry(view.root_of(PointId(thread.0)).0).or_default() += 1;
        }
        threads.iter().all(|thread| self.possible.contains(&(shared, *thread)))
            && view.locks.iter().all(|lock| once(&|local| self.explicit.holds(local, lock.held)))
            && once(&|local| view.point(local.point).atomic)
            && counts.iter().all(|(template, count)| self.most.get(template).is_none_or(|most| count <= most))
    }

    /// Whatever leads to these threads by a way must be bad or impossible.
    fn leads_from_bad(
        &self,
        way: &Way,
        threads: &[Thread],
        states: &[(Shared, Thread)],
        budget: &Budget,
    ) -> Result<(), ProofError> {
        let mut rest = threads.to_vec();
        let mut touched = false;
        for behind in &way.behind {
            if let Some(at) = rest.iter().position(|thread| thread == behind) {
                rest.remove(at);
                touched = true;
            }
        }
        if !touched && way.telling.is_none() && way.from.0 == way.shared {
            // The configuration was there before.
            return Ok(());
        }
        let mut before: Vec<Vec<Thread>> = vec![vec![way.from.1]];
        for thread in rest {
            let sources: Vec<Thread> = match &way.telling {
                None => vec![thread],
                Some((step, told, behind)) => {
                    let shared = (way.from.0, *behind);
                    let becomes = |other: &&(Shared, Thread)| {
                        other.0 == way.from.0
                            && self
                                .explicit
                                .answers(*step, told, shared, &Self::local(other.1))
                                .iter()
                                .any(|answer| Self::thread(answer.next) == thread)
                    };
                    states.iter().filter(becomes).map(|(_, other)| *other).collect()
                }
            };
            before = before
                .iter()
                .flat_map(|list| sources.iter().map(|source| list.iter().copied().chain([*source]).collect()))
                .collect();
            budget.check(before.len() as u64 * 200).map_err(ProofError::TooExpensive)?;
        }
        for mut list in before {
            list.sort_unstable();
            if self.is_possible(way.from.0, &list) && !self.is_bad(way.from.0, &list) {
                return claim("a configuration that leads to an unreachable one is not among them");
            }
        }
        Ok(())
    }

    /// The threads that can be there at the start, with how many of them there are at most.
    fn starts(&self) -> Result<Vec<Start>, ProofError> {
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

/// Whether threads may be there at the start. May say yes where the truth is no, for threads that fit several starts.
fn is_initial(starts: &[Start], threads: &[Thread]) -> bool {
    let fits = |thread: &Thread| starts.iter().any(|(_, at)| at.contains(thread));
    // A bounded start gives no more threads than it has, of those that fit no other one.
    let too_many = starts.iter().enumerate().any(|(index, (most, at))| {
        let only_here = |thread: &&Thread| {
            at.contains(thread)
                && starts.iter().enumerate().all(|(other, (_, at))| other == index || !at.contains(thread))
        };
        let count = threads.iter().filter(only_here).count() as u64;
        most.is_some_and(|most| count > u64::from(most))
    });
    threads.iter().all(fits) && !too_many
}
