//! Which configurations lead to an error, for any number of threads: backward coverability. Exact.
//!
//! A *configuration* is a shared state and a multiset of threads; it stands for all configurations with at
//! least these threads. Steps are monotonic: more threads can do no less (if not all threads can follow a
//! broadcast, this over-approximates; the trace is replayed in any case). Multisets over a finite set are
//! well-quasi-ordered, so the search for minimal predecessors ends.
//!
//! Pruned, since such configurations are unreachable anyway: thread states that the over-approximation
//! excludes, two threads that hold the same lock, more threads of a template than are ever started.

use crate::transitions::{LocalNumber, SharedId, Transitions};
use ir::{Count, TemplateId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use verdict::{Budget, Exhausted};

/// A configuration with the reason why it leads to an error.
#[derive(Clone, Debug)]
pub struct Element {
    /// The shared state.
    pub shared: SharedId,
    /// The threads, in order.
    pub threads: Vec<LocalNumber>,
    /// The transition that one of them takes, and the element that it leads to; `None` when it leads to the
    /// error itself.
    pub then: (u32, Option<u32>),
    /// For a transition with a broadcast: the thread before and after it, for each of the others.
    pub answers: Vec<(LocalNumber, LocalNumber)>,
}

/// What came of the search.
pub enum Covered {
    /// An initial configuration is among them: the number of the element.
    Reachable(u32),
    /// None is: the minimal ones.
    Unreachable(Vec<u32>),
}

/// The search.
pub struct Cover<'t, 'v, 'p> {
    transitions: &'t Transitions<'v, 'p>,
    /// All elements that were found.
    pub elements: Vec<Element>,
    alive: Vec<bool>,
    by_shared: FxHashMap<SharedId, Vec<u32>>,
    /// Elements to look at: those with few threads first, and those that are near the start first. They are
    /// taken in turn.
    small: BinaryHeap<Reverse<(usize, u32)>>,
    near: BinaryHeap<Reverse<(u64, u32)>>,
    done: Vec<bool>,
    /// How many transitions a thread is away from the start, at least.
    distance: Vec<u32>,
    /// Transitions that change the shared state or broadcast something, by the shared state after them.
    changing: FxHashMap<SharedId, Vec<u32>>,
    /// The others, by shared state and each thread after them.
    local: FxHashMap<(SharedId, LocalNumber), Vec<u32>>,
    /// Templates of which there are at most so many threads.
    bounded: BTreeMap<TemplateId, u32>,
    sources: FxHashMap<(u32, LocalNumber), Vec<LocalNumber>>,
    /// All threads that are possible in a shared state.
    at_shared: FxHashMap<SharedId, Vec<LocalNumber>>,
}

impl<'t, 'v, 'p> Cover<'t, 'v, 'p> {
    /// Prepares the search.
    pub fn new(transitions: &'t Transitions<'v, 'p>) -> Self {
        let (mut changing, mut local): (FxHashMap<_, Vec<u32>>, FxHashMap<_, Vec<u32>>) = Default::default();
        for (index, transition) in
            transitions.list.iter().enumerate().filter(|(_, transition)| !transition.error)
        {
            let index = index as u32;
            if transition.shared != transition.from.0 || transition.telling.is_some() {
                changing.entry(transition.shared).or_default().push(index);
                continue;
            }
            let mut after: Vec<LocalNumber> = transition.after().collect();
            after.sort_unstable();
            after.dedup();
            for number in after {
                local.entry((transition.shared, number)).or_default().push(index);
            }
        }
        let mut at_shared: FxHashMap<SharedId, Vec<LocalNumber>> = FxHashMap::default();
        if !transitions.tellings.is_empty() {
            for (shared, number) in &transitions.states {
                at_shared.entry(*shared).or_default().push(*number);
            }
        }
        Self {
            bounded: transitions.bounded_templates(),
            transitions,
            elements: Vec::new(),
            alive: Vec::new(),
            by_shared: FxHashMap::default(),
            small: BinaryHeap::new(),
            near: BinaryHeap::new(),
            done: Vec::new(),
            distance: distances(transitions),
            changing,
            local,
            sources: FxHashMap::default(),
            at_shared,
        }
    }

    /// Runs the search.
    pub fn run(&mut self, budget: &Budget) -> Result<Covered, Exhausted> {
        for (index, transition) in
            self.transitions.list.iter().enumerate().filter(|(_, transition)| transition.error)
        {
            let (shared, thread) = transition.from;
            let then = (index as u32, None);
            let element = Element { shared, threads: vec![thread], then, answers: Vec::new() };
            if let Some(found) = self.insert(element) {
                return Ok(Covered::Reachable(found));
            }
        }
        let mut rounds = 0u64;
        while let Some(index) = self.next(rounds) {
            rounds += 1;
            if rounds.is_multiple_of(16) {
                budget.check(self.elements.len() as u64 * 200)?;
            }
            if !self.alive[index as usize] || std::mem::replace(&mut self.done[index as usize], true) {
                continue;
            }
            if let Some(found) = self.expand(index, budget)? {
                return Ok(Covered::Reachable(found));
            }
        }
        let minimal = (0..self.elements.len() as u32).filter(|index| self.alive[*index as usize]);
        Ok(Covered::Unreachable(minimal.collect()))
    }

    /// The next element to look at.
    fn next(&mut self, round: u64) -> Option<u32> {
        let small = |cover: &mut Self| cover.small.pop().map(|Reverse((_, index))| index);
        let near = |cover: &mut Self| cover.near.pop().map(|Reverse((_, index))| index);
        if round.is_multiple_of(2) {
            small(self).or_else(|| near(self))
        } else {
            near(self).or_else(|| small(self))
        }
    }

    /// The predecessors of an element.
    fn expand(&mut self, index: u32, budget: &Budget) -> Result<Option<u32>, Exhausted> {
        let Element { shared, threads, .. } = self.elements[index as usize].clone();
        let mut candidates: Vec<u32> = Vec::new();
        let mut last = None;
        for thread in &threads {
            if last.replace(*thread) != Some(*thread) {
                candidates.extend(self.local.get(&(shared, *thread)).into_iter().flatten());
            }
        }
        candidates.extend(self.changing.get(&shared).into_iter().flatten());
        candidates.sort_unstable();
        candidates.dedup();
        for (count, candidate) in candidates.into_iter().enumerate() {
            if count.is_multiple_of(512) {
                budget.check(self.elements.len() as u64 * 200)?;
            }
            for element in self.before(index, candidate, budget)? {
                if let Some(found) = self.insert(element) {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// The configurations from which a transition leads to an element.
    fn before(&mut self, index: u32, candidate: u32, budget: &Budget) -> Result<Vec<Element>, Exhausted> {
        let mut rest = self.elements[index as usize].threads.clone();
        let transition = &self.transitions.list[candidate as usize];
        for after in transition.after() {
            if let Ok(at) = rest.binary_search(&after) {
                rest.remove(at);
            }
        }
        let (shared, actor) = transition.from;
        let options = match transition.telling {
            None => vec![Vec::new()],
            Some(telling) => self.before_telling(telling, shared, &rest, budget)?,
        };
        let mut found = Vec::new();
        for answers in options {
            let mut threads = match transition.telling {
                None => rest.clone(),
                Some(_) => answers.iter().map(|(before, _): &(LocalNumber, LocalNumber)| *before).collect(),
            };
            threads.push(actor);
            threads.sort_unstable();
            found.push(Element { shared, threads, then: (candidate, Some(index)), answers });
        }
        Ok(found)
    }

    /// The element at the start from which transitions lead to an error, one after the other; the last of
    /// them leads to the error itself. `None` when that is no execution, however many threads there are.
    pub fn along(&mut self, path: &[u32], budget: &Budget) -> Result<Option<u32>, Exhausted> {
        let Some((last, earlier)) = path.split_last() else { return Ok(None) };
        let (shared, thread) = self.transitions.list[*last as usize].from;
        let element = Element { shared, threads: vec![thread], then: (*last, None), answers: Vec::new() };
        // Elements, with how many transitions remain before them. Only where there was a broadcast is there
        // more than one.
        let mut work = vec![(element, earlier.len())];
        while let Some((element, left)) = work.pop() {
            if !self.is_possible(&element) {
                continue;
            }
            let index = self.elements.len() as u32;
            budget.check(u64::from(index) * 200)?;
            let at_start = left == 0 && self.start_of(&element).is_some();
            self.elements.push(element);
            if at_start {
                return Ok(Some(index));
            }
            if left > 0 {
                let found = self.before(index, earlier[left - 1], budget)?;
                work.extend(found.into_iter().map(|element| (element, left - 1)));
            }
        }
        Ok(None)
    }

    /// All states from which threads can have come to theirs by another thread's broadcast.
    fn before_telling(
        &mut self,
        telling: u32,
        shared: SharedId,
        after: &[LocalNumber],
        budget: &Budget,
    ) -> Result<Vec<Vec<(LocalNumber, LocalNumber)>>, Exhausted> {
        let mut found: Vec<Vec<(LocalNumber, LocalNumber)>> = vec![Vec::new()];
        for thread in after {
            if !self.sources.contains_key(&(telling, *thread)) {
                self.find_sources(telling, shared);
                self.sources.entry((telling, *thread)).or_default();
            }
            let sources = &self.sources[&(telling, *thread)];
            let mut more = Vec::new();
            for one in &found {
                for source in sources {
                    let mut longer = one.clone();
                    longer.push((*source, *thread));
                    more.push(longer);
                }
                budget.check(more.len() as u64 * 100)?;
            }
            found = more;
        }
        Ok(found)
    }

    fn find_sources(&mut self, telling: u32, shared: SharedId) {
        let broadcast = &self.transitions.tellings[telling as usize];
        for before in self.at_shared.get(&shared).into_iter().flatten() {
            let local = &self.transitions.locals[*before as usize];
            for answer in self.transitions.explicit.answers(
                broadcast.step,
                &broadcast.broadcast,
                broadcast.shared,
                local,
            ) {
                if let Some(after) = self.transitions.known_local(&answer.next) {
                    self.sources.entry((telling, after)).or_default().push(*before);
                }
            }
        }
    }

    /// Adds an element unless it is known to be unreachable or is covered; gives it back if it is initial.
    fn insert(&mut self, element: Element) -> Option<u32> {
        if !self.is_possible(&element) {
            return None;
        }
        let (elements, alive) = (&self.elements, &mut self.alive);
        let list = self.by_shared.entry(element.shared).or_default();
        for other in list.iter() {
            if is_part(&elements[*other as usize].threads, &element.threads) {
                return None;
            }
        }
        list.retain(|other| {
            let covered = is_part(&element.threads, &elements[*other as usize].threads);
            if covered {
                alive[*other as usize] = false;
            }
            !covered
        });
        let index = self.elements.len() as u32;
        list.push(index);
        self.alive.push(true);
        self.done.push(false);
        self.small.push(Reverse((element.threads.len(), index)));
        let away: u64 = element.threads.iter().map(|thread| u64::from(self.distance[*thread as usize])).sum();
        self.near.push(Reverse((away, index)));
        let initial = self.start_of(&element).is_some();
        self.elements.push(element);
        initial.then_some(index)
    }

    fn is_possible(&self, element: &Element) -> bool {
        let all = &self.transitions.possible;
        if !element.threads.iter().all(|thread| all.contains(&(element.shared, *thread))) {
            return false;
        }
        let explicit = &self.transitions.explicit;
        let local = |thread: &LocalNumber| &self.transitions.locals[*thread as usize];
        for lock in &explicit.view.locks {
            if element.threads.iter().filter(|thread| explicit.holds(local(thread), lock.held)).count() > 1 {
                return false;
            }
        }
        let mut atomic = 0;
        let mut counts: FxHashMap<TemplateId, u32> = FxHashMap::default();
        for thread in &element.threads {
            let point = local(thread).point;
            atomic += u32::from(explicit.view.point(point).atomic);
            let (root, _) = explicit.view.root_of(point);
            *counts.entry(root).or_default() += 1;
        }
        atomic <= 1
            && self.bounded.iter().all(|(root, most)| counts.get(root).is_none_or(|count| count <= most))
    }

    /// If an element is part of an initial configuration: which start group each of its threads is of.
    pub fn start_of(&self, element: &Element) -> Option<Vec<usize>> {
        if !self.transitions.initial.contains(&element.shared) {
            return None;
        }
        let mut left: Vec<Option<u32>> = self
            .transitions
            .start
            .iter()
            .map(|group| match group.count {
                Count::Exactly(copies) => Some(copies),
                Count::Any => None,
            })
            .collect();
        let mut found = Vec::new();
        for thread in &element.threads {
            let fits = |group: &usize| {
                left[*group] != Some(0)
                    && self.transitions.start[*group]
                        .settled
                        .iter()
                        .any(|(_, number)| *number == Some(*thread))
            };
            let unbounded = (0..left.len()).filter(fits).find(|group| left[*group].is_none());
            let group = unbounded.or_else(|| (0..left.len()).find(fits))?;
            if let Some(count) = &mut left[group] {
                *count -= 1;
            }
            found.push(group);
        }
        Some(found)
    }
}

/// For each thread, how many transitions it takes to come about, whatever the shared state.
fn distances(transitions: &Transitions<'_, '_>) -> Vec<u32> {
    let mut distance = vec![u32::MAX; transitions.locals.len()];
    let mut from: Vec<Vec<LocalNumber>> = vec![Vec::new(); transitions.locals.len()];
    for transition in transitions.list.iter().filter(|transition| !transition.error) {
        for after in transition.after() {
            from[transition.from.1 as usize].push(after);
        }
    }
    let mut work = std::collections::VecDeque::new();
    for (_, number) in transitions.start.iter().flat_map(|group| &group.settled) {
        if let Some(number) = number
            && distance[*number as usize] != 0
        {
            distance[*number as usize] = 0;
            work.push_back(*number);
        }
    }
    while let Some(at) = work.pop_front() {
        for after in &from[at as usize] {
            if distance[*after as usize] == u32::MAX {
                distance[*after as usize] = distance[at as usize] + 1;
                work.push_back(*after);
            }
        }
    }
    distance.into_iter().map(|steps| steps.min(1 << 16)).collect()
}

/// Whether all of some threads are among others; both in order.
pub fn is_part(some: &[LocalNumber], others: &[LocalNumber]) -> bool {
    let mut rest = others.iter();
    some.len() <= others.len() && some.iter().all(|thread| rest.any(|other| other == thread))
}
