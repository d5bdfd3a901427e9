//! The control of a product of threads, reduced: which locations the threads may be at together, and which
//! steps matter there.
//!
//! Sleep sets (Godefroid). A node is a location for each thread, and a set of threads that sleep. At a node
//! the threads that are awake take their steps, in an order; after a step of a thread those threads sleep
//! that slept before or come earlier in the order, as long as all their next steps are independent of the
//! step taken. A thread that sleeps takes no step: what it would do is done already in another order. For
//! each execution there is one with the same steps in another order, independent ones exchanged, that ends in
//! the same state and is a path here.
//!
//! Persistent sets. Some threads must take another step before the error ([`super::needed`]): the one that
//! the error is in, and those that it waits for. At a node a set of threads with such a one in it is enough,
//! if no step that another thread may take before a thread in the set moves depends on a next step of that
//! thread (steps that wait for it to end are not taken before): the first step of the set in an execution to
//! the error can then as well be taken at once.
//!
//! Nodes from which no error can be reached in this graph are left out ([`Graph::relevant`]): a thread that
//! sleeps until another one has ended, and waits to be joined, is such a case.
//!
//! Variables that have one value only at a node are found meanwhile (conditional constant propagation), so
//! that steps that cannot be taken make no nodes. If asked to, nodes are distinguished by the values of
//! variables that have few ([`super::split`]): loops that are taken so often are then unrolled.

use super::independence::Independence;
use super::needed::Needed;
use super::turns::turns;
use indexmap::{IndexMap, IndexSet};
use ir::LocationId;
use rustc_hash::FxHashMap;
use smt::{Term, Variable};
use std::rc::Rc;
use transitions::threads::{Thread, ThreadNumber, Threads, literals};
use transitions::{Kind, System, loop_heads};
use verdict::{Budget, Exhausted};

/// In which order threads are preferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Always the same: each thread runs as long as it can.
    Sequential,
    /// A thread that has reached the head of a loop a few times ([`super::turns`]) lets the next one go
    /// first.
    RoundRobin,
}

/// Where all threads are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    /// The location of each thread; `None` when it was not started.
    pub locations: Vec<Option<LocationId>>,
    /// The threads that sleep, as bits.
    pub sleep: u32,
    /// The thread that comes first in the order.
    pub first: ThreadNumber,
    /// How often the thread that comes first has reached the head of a loop since it does.
    pub turns: usize,
    /// Values that distinguish it from others.
    pub values: Vec<Option<Term>>,
}

/// How a product is explored.
#[derive(Clone, Copy, Debug)]
pub struct Manner<'a> {
    /// In which order threads are preferred.
    pub order: Order,
    /// The variables by whose values nodes are distinguished.
    pub split: &'a IndexSet<Variable>,
    /// More nodes than this are too many.
    pub most_nodes: usize,
}

/// The number of a node.
pub type NodeNumber = usize;

/// A step from one node to another.
#[derive(Clone, Debug)]
pub struct Move {
    /// Where it starts.
    pub source: NodeNumber,
    /// Where it ends.
    pub target: NodeNumber,
    /// Who moves.
    pub thread: ThreadNumber,
    /// Which of the steps at its location.
    pub step: usize,
}

/// The reduced product.
pub struct Graph {
    /// All nodes; the first is where the program starts.
    pub nodes: Vec<Node>,
    /// The variables that have one value at each node.
    pub constants: Vec<IndexMap<Variable, Term>>,
    /// The steps.
    pub moves: Vec<Move>,
    /// Whether the thread is at the error.
    pub errors: Vec<bool>,
    /// The threads that take steps at each node, as bits.
    pub awake: Vec<u32>,
}

/// Why there is no graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoGraph {
    /// There are too many nodes.
    TooLarge,
    /// The budget ran out.
    Exhausted(Exhausted),
}

/// The threads in the order that a node prefers.
pub fn preference(first: ThreadNumber, count: usize) -> impl Iterator<Item = ThreadNumber> {
    (0..count).map(move |offset| (first + offset) % count)
}

impl Graph {
    /// Explores the product.
    pub fn new(
        system: &System<'_>,
        threads: &Threads,
        needed: &Needed,
        manner: Manner<'_>,
        budget: &Budget,
    ) -> Result<Self, NoGraph> {
        let Manner { order, split, most_nodes } = manner;
        let apart = |known: &IndexMap<Variable, Term>| -> Vec<Option<Term>> {
            split.iter().map(|variable| known.get(variable).cloned()).collect()
        };
        let count = threads.threads.len();
        let heads: Vec<IndexSet<LocationId>> = threads.threads.iter().map(Thread::loop_heads).collect();
        let turns = turns(threads, &heads);
        let starters = (0..count).map(|thread| threads.starters(thread)).collect();
        let mut futures = Futures { system, threads, starters, known: FxHashMap::default() };
        let mut independence = Independence::new(system, threads, budget);
        let locations =
            threads.threads.iter().map(|thread| thread.at_start.then_some(thread.entry)).collect();
        let mut known = IndexMap::new();
        literals(&threads.initial, &mut known);
        let start = Node { locations, sleep: 0, first: 0, turns: 0, values: apart(&known) };
        let mut graph = Self {
            nodes: vec![start.clone()],
            constants: vec![known],
            moves: Vec::new(),
            errors: vec![false],
            awake: vec![0],
        };
        let mut numbers: IndexMap<Node, NodeNumber> = IndexMap::from([(start, 0)]);
        // The moves from each node, by who takes which of its steps.
        let mut moved: Vec<Vec<(ThreadNumber, usize, usize)>> = vec![Vec::new()];
        let mut open: Vec<NodeNumber> = vec![0];
        let mut waiting = vec![true];
        while let Some(number) = open.pop() {
            waiting[number] = false;
            budget.check(0).map_err(NoGraph::Exhausted)?;
            let node = graph.nodes[number].clone();
            let alone = (0..count).find(|thread| {
                node.locations[*thread].is_some_and(|at| threads.is_atomic(system, *thread, at))
            });
            let set = match alone {
                Some(alone) => 1 << alone,
                None => persistent(needed, &node, &mut futures, &mut independence),
            };
            graph.awake[number] = set;
            let mut before: Vec<ThreadNumber> = Vec::new();
            for thread in preference(node.first, count) {
                let Some(location) = node.locations[thread] else { continue };
                if set & (1 << thread) == 0 || node.sleep & (1 << thread) != 0 {
                    continue;
                }
                let steps = &threads.threads[thread].steps[location];
                for (index, step) in steps.iter().enumerate() {
                    let constants = &graph.constants[number];
                    let guard = step.guard.substitute(constants);
                    if guard.is_false() {
                        continue;
                    }
                    let mut after = constants.clone();
                    let mut learnt = IndexMap::new();
                    literals(&guard, &mut learnt);
                    let mut more = constants.clone();
                    more.extend(learnt.into_iter().filter(|(v, _)| threads.variables.contains_key(v)));
                    after.extend(more.clone());
                    for (variable, value) in &step.updates {
                        let value = value.substitute(&more);
                        if value.is_literal() {
                            after.insert(variable.clone(), value);
                        } else {
                            after.swap_remove(variable);
                        }
                    }
                    let mut next = node.clone();
                    next.locations[thread] = Some(step.target);
                    for child in &step.starts {
                        next.locations[*child] = Some(threads.threads[*child].entry);
                    }
                    next.sleep = 0;
                    let asleep = (0..count).filter(|other| node.sleep & (1 << other) != 0);
                    for other in asleep.chain(before.iter().copied()) {
                        if let Some(at) = node.locations[other]
                            && other != thread
                            && independence.of_all_at((thread, location, index), (other, at))
                        {
                            next.sleep |= 1 << other;
                        }
                    }
                    if order == Order::RoundRobin && heads[thread].contains(&step.target) {
                        next.turns = if thread == node.first { node.turns + 1 } else { 1 };
                        next.first = thread;
                        if next.turns >= turns[thread] {
                            next.first = (thread + 1) % count;
                            next.turns = 0;
                        }
                    }
                    next.values = apart(&after);
                    let target = match numbers.get(&next) {
                        Some(target) => *target,
                        None => {
                            let target = graph.nodes.len();
                            if target >= most_nodes {
                                return Err(NoGraph::TooLarge);
                            }
                            numbers.insert(next.clone(), target);
                            graph.errors.push(next.locations[needed.error.0] == Some(needed.error.1));
                            graph.nodes.push(next);
                            graph.awake.push(0);
                            graph.constants.push(after.clone());
                            moved.push(Vec::new());
                            waiting.push(true);
                            if !graph.errors[target] {
                                open.push(target);
                            }
                            target
                        }
                    };
                    match moved[number].iter().find(|(who, which, _)| (*who, *which) == (thread, index)) {
                        // When less is known, a step may lead to another node than before.
                        Some((_, _, old)) => graph.moves[*old].target = target,
                        None => {
                            moved[number].push((thread, index, graph.moves.len()));
                            graph.moves.push(Move { source: number, target, thread, step: index });
                        }
                    }
                    let here = &mut graph.constants[target];
                    let size = here.len();
                    here.retain(|variable, value| after.get(variable) == Some(value));
                    if here.len() < size && !waiting[target] && !graph.errors[target] {
                        waiting[target] = true;
                        open.push(target);
                    }
                }
                before.push(thread);
            }
        }
        Ok(graph)
    }

    /// Whether some path leads back to where it has been.
    pub fn has_circles(&self) -> bool {
        let mut targets = vec![Vec::new(); self.nodes.len()];
        for step in &self.moves {
            targets[step.source].push(LocationId(step.target as u32));
        }
        !loop_heads(LocationId(0), |at| targets[at.0 as usize].clone()).is_empty()
    }

    /// The nodes from which an error can be reached.
    pub fn relevant(&self) -> Vec<bool> {
        let mut entering: Vec<Vec<NodeNumber>> = vec![Vec::new(); self.nodes.len()];
        for step in &self.moves {
            entering[step.target].push(step.source);
        }
        let mut relevant = self.errors.clone();
        let mut open: Vec<NodeNumber> = (0..self.nodes.len()).filter(|node| relevant[*node]).collect();
        while let Some(node) = open.pop() {
            for source in &entering[node] {
                if !relevant[*source] {
                    relevant[*source] = true;
                    open.push(*source);
                }
            }
        }
        relevant
    }
}

/// Steps of a thread: where they start, and which of those there.
type Steps = Rc<[(LocationId, usize)]>;

/// What threads may do before another one moves.
struct Futures<'a> {
    system: &'a System<'a>,
    threads: &'a Threads,
    /// Who starts each thread.
    starters: Vec<Vec<ThreadNumber>>,
    known: FxHashMap<(ThreadNumber, LocationId, ThreadNumber), Steps>,
}

impl Futures<'_> {
    /// The steps that a thread may take from a location on, while another one has not ended.
    fn of(&mut self, thread: ThreadNumber, from: LocationId, other: ThreadNumber) -> Steps {
        if let Some(known) = self.known.get(&(thread, from, other)) {
            return known.clone();
        }
        let ended = self.system.shared_of(&Kind::Ended(self.threads.threads[other].template));
        let zero = self.system.number(0, self.system.program.data_model.pointer());
        let not_ended: IndexMap<Variable, Term> =
            ended.map(|ended| (ended.clone(), zero)).into_iter().collect();
        let mut seen: IndexSet<LocationId> = IndexSet::from([from]);
        let mut found = Vec::new();
        let mut at = 0;
        while at < seen.len() {
            let location = seen[at];
            for (index, step) in self.threads.threads[thread].steps[location].iter().enumerate() {
                if !step.guard.substitute(&not_ended).is_false() {
                    found.push((location, index));
                    seen.insert(step.target);
                }
            }
            at += 1;
        }
        let found: Steps = found.into();
        self.known.insert((thread, from, other), found.clone());
        found
    }
}

/// The smallest set of threads that is enough at a node, as bits; all of them if there is no smaller one.
fn persistent(
    needed: &Needed,
    node: &Node,
    futures: &mut Futures<'_>,
    independence: &mut Independence<'_>,
) -> u32 {
    let threads = futures.threads;
    let count = threads.threads.len();
    let running = |thread: ThreadNumber| node.locations[thread].is_some();
    let all: u32 = (0..count).filter(|thread| running(*thread)).map(|thread| 1 << thread).sum();
    let mut best = all;
    for seed in preference(node.first, count) {
        let Some(at) = node.locations[seed] else { continue };
        if !needed.must_move(seed) || threads.threads[seed].steps[at].is_empty() {
            continue;
        }
        let mut set: u32 = 1 << seed;
        let mut open = vec![seed];
        'grow: while let Some(member) = open.pop() {
            let Some(location) = node.locations[member] else { continue };
            for other in (0..count).filter(|other| *other != member) {
                if set & (1 << other) != 0 {
                    continue;
                }
                // A thread that only this one starts does nothing before this one moves.
                if !running(other) && futures.starters[other] == [member] {
                    continue;
                }
                // A thread that was not started may reach all its locations.
                let from = node.locations[other].unwrap_or(threads.threads[other].entry);
                let future = futures.of(other, from, member);
                let disturbs = |(at, index): &(LocationId, usize)| {
                    !independence.of_all_at((other, *at, *index), (member, location))
                };
                if future.iter().any(disturbs) {
                    if !running(other) {
                        // Whoever starts it would have to be in the set, and what they do first: not worth
                        // the trouble.
                        set = all;
                        break 'grow;
                    }
                    set |= 1 << other;
                    open.push(other);
                }
            }
        }
        if set.count_ones() < best.count_ones() {
            best = set;
        }
        if best.count_ones() == 1 {
            break;
        }
    }
    best
}
