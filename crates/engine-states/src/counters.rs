//! Counter abstraction with refinement of k (paper 1, appendix A, algorithm 6). Decides: it ends with an
//! execution or a proof.
//!
//! An abstract state is a shared state and, for each thread state, how many threads are there: a number up to
//! k, or *many*. It stands for all configurations with at most these threads, so *many* is any number (the
//! paper's ω: one more and one less are ω, too). Breadth-first search finds a shortest trace to an error, or
//! a closed set of abstract states, which is the proof. After a spurious trace, k grows by one. For each k
//! this over-approximates; a safe program is proved with some k, and a trace to an error of m transitions is
//! an execution once k is as large as the number of threads that reach one thread state in m transitions
//! (lemma 2).
//!
//! Deviations:
//! 1. Whether a trace is an execution is computed, backwards from the error (`Cover::along`), and not guessed
//!    from its length: so errors are found with a smaller k.
//! 2. An abstract state that an earlier one covers is skipped. More threads can do no less, so the shortest
//!    trace remains.
//! 3. There are several templates, starts of threads, and steps that broadcast something to all others.
//!    Threads that cannot follow a broadcast are ignored, which over-approximates for any k; then the trace
//!    may be spurious, and the answer is unknown.
//! 4. Threads that hold a lock, are in an atomic region, or are the only one of their template, are counted
//!    up to 1 with any k.

use crate::cover::Cover;
use crate::transitions::{Failure, LocalNumber, SharedId, Transitions};
use domains::Amount;
use ir::Count;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use verdict::Budget;

/// How many known states are compared with a new one in a step of the budget.
const COMPARISONS_PER_STEP: u64 = 20;

/// The threads of an abstract state, in order; there are none of those that are not in it.
pub type Counts = Vec<(LocalNumber, Amount)>;

/// What the search for one k finds.
#[derive(Debug)]
pub enum Counted {
    /// Transitions to an error, from the start on; the last one leads to the error itself.
    Trace(Vec<u32>),
    /// No error, and all that is reachable is within these.
    Closed(Vec<(SharedId, Counts)>),
}

/// What came of it.
#[derive(Debug)]
pub enum Decided {
    /// The element of the cover at which an execution to an error begins.
    Reachable(u32),
    /// No error is reachable: all that is, is within these.
    Unreachable(Vec<(SharedId, Counts)>),
}

/// The abstraction.
pub struct Counters<'t, 'v, 'p> {
    transitions: &'t Transitions<'v, 'p>,
    outgoing: FxHashMap<(SharedId, LocalNumber), Vec<u32>>,
    /// Whether there is at most one thread in a state at a time.
    single: Vec<bool>,
    answers: FxHashMap<(u32, LocalNumber), Vec<LocalNumber>>,
}

/// An abstract state that was found.
struct Node {
    shared: SharedId,
    counts: Counts,
    /// The node and the transition that led to it.
    from: Option<(u32, u32)>,
}

/// The search for one k.
#[derive(Default)]
struct Search {
    nodes: Vec<Node>,
    /// Of the nodes with a shared state, those that are within no other.
    greatest: BTreeMap<SharedId, Vec<u32>>,
    work: VecDeque<u32>,
    bytes: u64,
}

/// More divisions of threads than this are too many.
const MOST_WAYS: usize = 1 << 16;

impl<'t, 'v, 'p> Counters<'t, 'v, 'p> {
    /// Prepares it.
    pub fn new(transitions: &'t Transitions<'v, 'p>) -> Self {
        let mut outgoing: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for (index, transition) in transitions.list.iter().enumerate() {
            outgoing.entry(transition.from).or_default().push(index as u32);
        }
        let explicit = &transitions.explicit;
        let bounded = transitions.bounded_templates();
        let single = transitions.locals.iter().map(|local| {
            let only = bounded.get(&explicit.view.root_of(local.point).0) == Some(&1);
            let locked = explicit.view.locks.iter().any(|lock| explicit.holds(local, lock.held));
            only || locked || explicit.view.point(local.point).atomic
        });
        Self { transitions, outgoing, single: single.collect(), answers: FxHashMap::default() }
    }

    /// Algorithm 6: counts further and further.
    pub fn decide(&mut self, cover: &mut Cover<'t, 'v, 'p>, budget: &Budget) -> Result<Decided, Failure> {
        // Lines 1 and 2.
        let mut k = 0;
        loop {
            // Line 4.
            match self.search(k, budget)? {
                // Line 5.
                Counted::Closed(states) => return Ok(Decided::Unreachable(states)),
                // Lines 6 to 10.
                Counted::Trace(path) => {
                    if let Some(element) = cover.along(&path, budget)? {
                        return Ok(Decided::Reachable(element));
                    }
                    k += 1;
                }
            }
        }
    }

    /// All reachable abstract states with threads counted up to k, or a shortest trace to an error.
    pub fn search(&mut self, k: u32, budget: &Budget) -> Result<Counted, Failure> {
        let mut search = Search::default();
        for counts in self.initial(budget)? {
            for index in 0..self.transitions.initial.len() {
                budget.check(search.bytes)?;
                let shared = self.transitions.initial[index];
                self.insert(&mut search, k, shared, counts.clone(), None, budget);
            }
        }
        while let Some(at) = search.work.pop_front() {
            budget.check(search.bytes)?;
            let Node { shared, counts, .. } = &search.nodes[at as usize];
            let (shared, counts) = (*shared, counts.clone());
            for (thread, _) in &counts {
                let count = self.outgoing.get(&(shared, *thread)).map_or(0, Vec::len);
                for index in 0..count {
                    let id = self.outgoing[&(shared, *thread)][index];
                    let transition = &self.transitions.list[id as usize];
                    if transition.error {
                        return Ok(Counted::Trace(search.find_path(at, id)));
                    }
                    for mut after in self.others(&counts, *thread, transition.telling, budget)? {
                        transition.after().for_each(|new| add(&mut after, new, Amount::ONE));
                        let after = after.into_iter().collect();
                        self.insert(&mut search, k, transition.shared, after, Some((at, id)), budget);
                    }
                }
            }
        }
        let greatest = search
            .greatest
            .into_iter()
            .flat_map(|(shared, nodes)| nodes.into_iter().map(move |node| (shared, node as usize)));
        let states = greatest.map(|(shared, node)| (shared, std::mem::take(&mut search.nodes[node].counts)));
        Ok(Counted::Closed(states.collect()))
    }

    /// The threads at the start: all greatest counts.
    fn initial(&self, budget: &Budget) -> Result<Vec<Counts>, Failure> {
        let mut all: Vec<BTreeMap<LocalNumber, Amount>> = vec![BTreeMap::new()];
        for group in &self.transitions.start {
            let mut kinds: Vec<LocalNumber> =
                group.settled.iter().filter_map(|(_, number)| *number).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let amount = match group.count {
                Count::Exactly(copies) => Amount::Exactly(copies),
                Count::Any => Amount::Many,
            };
            all = divided(&all, amount, &kinds, budget)?;
        }
        Ok(all.into_iter().map(|counts| counts.into_iter().collect()).collect())
    }

    /// The other threads after a step of one thread: all maximal counts.
    fn others(
        &mut self,
        counts: &Counts,
        actor: LocalNumber,
        telling: Option<u32>,
        budget: &Budget,
    ) -> Result<Vec<BTreeMap<LocalNumber, Amount>>, Failure> {
        let one_less = counts.iter().filter_map(|(thread, amount)| {
            let left = if *thread == actor { amount.less_one()? } else { *amount };
            (!left.is_none()).then_some((*thread, left))
        });
        let Some(telling) = telling else { return Ok(vec![one_less.collect()]) };
        let mut all = vec![BTreeMap::new()];
        for (thread, amount) in one_less {
            let transitions = self.transitions;
            let answers = self.answers.entry((telling, thread)).or_insert_with(|| {
                let broadcast = &transitions.tellings[telling as usize];
                let local = &transitions.locals[thread as usize];
                let answers = transitions.explicit.answers(
                    broadcast.step,
                    &broadcast.broadcast,
                    broadcast.shared,
                    local,
                );
                let mut next: Vec<LocalNumber> =
                    answers.iter().filter_map(|answer| transitions.known_local(&answer.next)).collect();
                next.sort_unstable();
                next.dedup();
                next
            });
            all = divided(&all, amount, answers, budget)?;
        }
        Ok(all)
    }

    /// Adds an abstract state unless it is within a known one.
    fn insert(
        &self,
        search: &mut Search,
        k: u32,
        shared: SharedId,
        mut counts: Counts,
        from: Option<(u32, u32)>,
        budget: &Budget,
    ) {
        counts.retain(|(thread, _)| self.transitions.possible.contains(&(shared, *thread)));
        for (thread, amount) in &mut counts {
            *amount = if self.single[*thread as usize] { Amount::ONE } else { amount.limited(k) };
        }
        let Search { nodes, greatest, work, bytes } = search;
        let greatest = greatest.entry(shared).or_default();
        budget.spend(greatest.len() as u64 / COMPARISONS_PER_STEP);
        if greatest.iter().any(|known| is_within(&counts, &nodes[*known as usize].counts)) {
            return;
        }
        greatest.retain(|known| !is_within(&nodes[*known as usize].counts, &counts));
        let id = nodes.len() as u32;
        greatest.push(id);
        work.push_back(id);
        *bytes += 100 + counts.len() as u64 * 12;
        nodes.push(Node { shared, counts, from });
    }
}

impl Search {
    /// The transitions to a node, and then one more.
    fn find_path(&self, node: u32, last: u32) -> Vec<u32> {
        let mut path = vec![last];
        let mut at = node;
        while let Some((before, transition)) = self.nodes[at as usize].from {
            path.push(transition);
            at = before;
        }
        path.reverse();
        path
    }
}

fn add(counts: &mut BTreeMap<LocalNumber, Amount>, thread: LocalNumber, more: Amount) {
    let amount = counts.entry(thread).or_insert(Amount::NONE);
    *amount = amount.plus(more);
}

/// All results of adding some threads, each of one of some kinds. Those that are of none are left out.
fn divided(
    to: &[BTreeMap<LocalNumber, Amount>],
    amount: Amount,
    kinds: &[LocalNumber],
    budget: &Budget,
) -> Result<Vec<BTreeMap<LocalNumber, Amount>>, Failure> {
    let mut all = to.to_vec();
    let mut left = match (amount, kinds) {
        (_, []) => return Ok(all),
        (Amount::Many, kinds) => {
            for counts in &mut all {
                kinds.iter().for_each(|kind| add(counts, *kind, Amount::Many));
            }
            return Ok(all);
        }
        (amount, [kind]) => {
            all.iter_mut().for_each(|counts| add(counts, *kind, amount));
            return Ok(all);
        }
        (Amount::Exactly(count), _) => count,
    };
    while left > 0 {
        let mut more = Vec::new();
        for counts in &all {
            for kind in kinds {
                let mut counts = counts.clone();
                add(&mut counts, *kind, Amount::ONE);
                more.push(counts);
            }
        }
        more.sort_unstable();
        more.dedup();
        budget.check(more.len() as u64 * 200)?;
        if more.len() > MOST_WAYS {
            return Err(Failure::TooLarge);
        }
        all = more;
        left -= 1;
    }
    Ok(all)
}

/// Whether there are at most as many threads of each kind as in others.
pub fn is_within(some: &Counts, others: &Counts) -> bool {
    let mut rest = others.iter();
    some.iter().all(|(thread, amount)| rest.any(|(other, most)| other == thread && amount <= most))
}
