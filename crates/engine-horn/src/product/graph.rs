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
use transitions::threads::{Thread, ThreadNumber, ThreadStep, Threads, literals};
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

impl Manner<'_> {
    /// The values that distinguish a node.
    fn values(&self, known: &IndexMap<Variable, Term>) -> Vec<Option<Term>> {
        self.split.iter().map(|variable| known.get(variable).cloned()).collect()
    }
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
        let mut exploration = Exploration::new(system, threads, needed, manner, budget);
        while let Some(number) = exploration.open.pop() {
            budget.check(0).map_err(NoGraph::Exhausted)?;
            exploration.expand(number)?;
        }
        Ok(exploration.graph)
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

/// The values of variables that have one value at a node.
type Constants = IndexMap<Variable, Term>;

/// A product that is being explored.
struct Exploration<'a> {
    system: &'a System<'a>,
    threads: &'a Threads,
    needed: &'a Needed,
    manner: Manner<'a>,
    /// The heads of each thread's loops, and how often it may reach one in a row.
    heads: Vec<IndexSet<LocationId>>,
    turns: Vec<usize>,
    futures: Futures<'a>,
    independence: Independence<'a>,
    graph: Graph,
    numbers: IndexMap<Node, NodeNumber>,
    /// The moves from each node, by who takes which of its steps.
    moved: Vec<Vec<(ThreadNumber, usize, usize)>>,
    /// The nodes to expand, and whether each node is among them.
    open: Vec<NodeNumber>,
    waiting: Vec<bool>,
}

impl<'a> Exploration<'a> {
    fn new(
        system: &'a System<'a>,
        threads: &'a Threads,
        needed: &'a Needed,
        manner: Manner<'a>,
        budget: &'a Budget,
    ) -> Self {
        let heads: Vec<IndexSet<LocationId>> = threads.threads.iter().map(Thread::loop_heads).collect();
        let starters = (0..threads.threads.len()).map(|thread| threads.starters(thread)).collect();
        let locations =
            threads.threads.iter().map(|thread| thread.at_start.then_some(thread.entry)).collect();
        let mut known = Constants::new();
        literals(&threads.initial, &mut known);
        let start = Node { locations, sleep: 0, first: 0, turns: 0, values: manner.values(&known) };
        Self {
            system,
            threads,
            needed,
            manner,
            turns: turns(threads, &heads),
            heads,
            futures: Futures { system, threads, starters, known: FxHashMap::default() },
            independence: Independence::new(system, threads, budget),
            graph: Graph {
                nodes: vec![start.clone()],
                constants: vec![known],
                moves: Vec::new(),
                errors: vec![false],
                awake: vec![0],
            },
            numbers: IndexMap::from([(start, 0)]),
            moved: vec![Vec::new()],
            open: vec![0],
            waiting: vec![true],
        }
    }

    /// Takes the steps of all threads that are awake at a node.
    fn expand(&mut self, number: NodeNumber) -> Result<(), NoGraph> {
        self.waiting[number] = false;
        let threads = self.threads;
        let count = threads.threads.len();
        let node = self.graph.nodes[number].clone();
        let alone = (0..count).find(|thread| {
            node.locations[*thread].is_some_and(|at| threads.is_atomic(self.system, *thread, at))
        });
        let set = match alone {
            Some(alone) => 1 << alone,
            None => persistent(self.needed, &node, &mut self.futures, &mut self.independence),
        };
        self.graph.awake[number] = set;
        let mut earlier: Vec<ThreadNumber> = Vec::new();
        for thread in preference(node.first, count) {
            let Some(location) = node.locations[thread] else { continue };
            if set & (1 << thread) == 0 || node.sleep & (1 << thread) != 0 {
                continue;
            }
            for (index, step) in threads.threads[thread].steps[location].iter().enumerate() {
                let constants = &self.graph.constants[number];
                let guard = step.guard.substitute(constants);
                if guard.is_false() {
                    continue;
                }
                let after = self.constants_after(constants, &guard, step);
                let next = self.next(&node, (thread, index, step), &earlier, &after);
                let target = self.number(next, &after)?;
                match self.moved[number].iter().find(|(who, which, _)| (*who, *which) == (thread, index)) {
                    // When less is known, a step may lead to another node than before.
                    Some((_, _, old)) => self.graph.moves[*old].target = target,
                    None => {
                        self.moved[number].push((thread, index, self.graph.moves.len()));
                        self.graph.moves.push(Move { source: number, target, thread, step: index });
                    }
                }
                self.reach(target, &after);
            }
            earlier.push(thread);
        }
        Ok(())
    }

    /// What is constant after a step whose guard holds.
    fn constants_after(&self, before: &Constants, guard: &Term, step: &ThreadStep) -> Constants {
        let mut learnt = Constants::new();
        literals(guard, &mut learnt);
        let mut known = before.clone();
        known.extend(learnt.into_iter().filter(|(v, _)| self.threads.variables.contains_key(v)));
        let mut after = known.clone();
        for (variable, value) in &step.updates {
            let value = value.substitute(&known);
            if value.is_literal() {
                after.insert(variable.clone(), value);
            } else {
                after.swap_remove(variable);
            }
        }
        after
    }

    /// The node after a step of a thread. `earlier`: the threads that come before it in the order.
    fn next(
        &mut self,
        node: &Node,
        (thread, index, step): (ThreadNumber, usize, &ThreadStep),
        earlier: &[ThreadNumber],
        after: &Constants,
    ) -> Node {
        let count = node.locations.len();
        let mut next = node.clone();
        next.locations[thread] = Some(step.target);
        for child in &step.starts {
            next.locations[*child] = Some(self.threads.threads[*child].entry);
        }
        next.sleep = 0;
        let asleep = (0..count).filter(|other| node.sleep & (1 << other) != 0);
        for other in asleep.chain(earlier.iter().copied()) {
            if let (Some(location), Some(at)) = (node.locations[thread], node.locations[other])
                && other != thread
                && self.independence.of_all_at((thread, location, index), (other, at))
            {
                next.sleep |= 1 << other;
            }
        }
        if self.manner.order == Order::RoundRobin && self.heads[thread].contains(&step.target) {
            next.turns = if thread == node.first { node.turns + 1 } else { 1 };
            next.first = thread;
            if next.turns >= self.turns[thread] {
                next.first = (thread + 1) % count;
                next.turns = 0;
            }
        }
        next.values = self.manner.values(after);
        next
    }

    /// The number of a node, which may be new.
    fn number(&mut self, node: Node, constants: &Constants) -> Result<NodeNumber, NoGraph> {
        if let Some(number) = self.numbers.get(&node) {
            return Ok(*number);
        }
        let number = self.graph.nodes.len();
        if number >= self.manner.most_nodes {
            return Err(NoGraph::TooLarge);
        }
        self.numbers.insert(node.clone(), number);
        let (thread, location) = self.needed.error;
        let is_error = node.locations[thread] == Some(location);
        self.graph.errors.push(is_error);
        self.graph.nodes.push(node);
        self.graph.awake.push(0);
        self.graph.constants.push(constants.clone());
        self.moved.push(Vec::new());
        self.waiting.push(true);
        if !is_error {
            self.open.push(number);
        }
        Ok(number)
    }

    /// A step leads to a node: where that makes less of it constant, it is expanded again.
    fn reach(&mut self, number: NodeNumber, constants: &Constants) {
        let here = &mut self.graph.constants[number];
        let size = here.len();
        here.retain(|variable, value| constants.get(variable) == Some(value));
        if here.len() < size && !self.waiting[number] && !self.graph.errors[number] {
            self.waiting[number] = true;
            self.open.push(number);
        }
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
                let interferes = |(at, index): &(LocationId, usize)| {
                    !independence.of_all_at((other, *at, *index), (member, location))
                };
                if future.iter().any(interferes) {
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
