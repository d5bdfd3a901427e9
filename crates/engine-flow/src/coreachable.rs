//! Which locations two different threads can be at (paper 4, figure 3: `coreachable`), with thread creation,
//! joins, atomic regions and locks.
//!
//! Over-approximates. The least relation closed under these rules; `(u, v)` says that in some state one
//! thread may be at `u` and another one at `v`, where a thread that has ended counts as being at its last
//! location.
//!
//! * START: the entries of any two threads of the start configuration.
//! * STEP: from `(u, v)`, if a step `u -> w` may be taken while the other thread is at `v`: `(w, v)`, if that
//!   is consistent. The relation is symmetric.
//! * SPAWN: a thread at `u`, alone or with another one at `v`, takes a step to `w` that starts a thread of
//!   `C`: `(w, entry of C)` and `(v, entry of C)`.
//! * `u`, `v` are inconsistent if they are in the same unique template, or if the threads there hold the same
//!   lock (the same cell of a single object), one of them exclusively: their claims contradict each other; or
//!   if one is the parent of a family ([`crate::families`]) that has no member, and the other is of the
//!   family and has not ended.
//! * A step may not be taken while the other thread is at `v`
//!   - if `v` is atomic and `u` is not: then only the other thread runs;
//!   - if it joins the only thread of `C` (a fact of [`crate::facts`]): then that thread has ended. If `v` is
//!     in `C`, it must be an end. Otherwise some end of `C` must be related to `v`, since the thread of `C`
//!     is at one in that very state; and with no other thread given, to `u`;
//!   - if it assumes the opposite of a claim, or finds a counter lower than the weights of both threads
//!     ([`crate::counters`]), or if the data side says so.
//! * Nothing is reached through a location that halts the program.
//!
//! Why this covers all executions: by induction over the steps. Each step changes the place of one thread and
//! adds threads at their entry; pairs of others stay. The claims of [`crate::facts`] hold in each state that
//! is covered, if [`crate::unreliable`] finds none that another thread may break.
//!
//! Deviations from the paper: 1. pairs of locations of different templates, not one graph; 2. creation,
//! joins, atomic regions; 3. locks are facts of their own, not observable conditions.

use crate::counters::Guards;
use crate::data::DataFacts;
use crate::facts::{StepEffects, is_cell_of_single};
use crate::model::{Model, Node, Step};
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::{
    Count, EdgeId, Expr, IdVec, Lhs, LocalId, LocationId, LocationKind, LockKind, ObjectId, Op, Program,
    Storage, TemplateId, Value,
};
use std::collections::VecDeque;
use verdict::{Budget, Counter, Exhausted, Family, HeldLock, LocationFacts, Pairs};

/// The facts about each step and location, by template.
pub struct Known {
    /// The facts at each node.
    pub facts: IdVec<Node, LocationFacts>,
    /// The effects of each step.
    pub effects: IdVec<TemplateId, IdVec<EdgeId, StepEffects>>,
    /// Families of threads, with their facts.
    pub families: Vec<Family>,
    /// Owned parameters: they point to an object that no other thread of the template got.
    pub owned_parameters: Vec<(TemplateId, LocalId)>,
}

/// The result: which locations are reached, and which by two threads at once.
pub struct Reached {
    /// Locations that a thread may be at.
    pub nodes: BitSet,
    /// Pairs of locations that two threads may be at.
    pub pairs: Pairs,
}

/// A lock that a step must get: its kind, and where it is.
pub type FirstLock = (LockKind, ObjectId, u64);

/// The lock in a static object that operations acquire before they change any memory, and the number of the
/// operation that does.
pub fn first_lock(program: &Program, ops: &[Op]) -> Option<(usize, FirstLock)> {
    let changes_no_memory = |op: &&Op| match op {
        Op::Assume(_) => true,
        Op::Assign(assignment) => assignment.pairs.iter().all(|(lhs, _)| matches!(lhs, Lhs::Local(_))),
        _ => false,
    };
    let number = ops.iter().take_while(changes_no_memory).count();
    match ops.get(number)? {
        Op::Lock(kind, Expr::Address(object, offset))
            if program.objects[*object].storage == Storage::Static =>
        {
            Some((number, (*kind, *object, *offset)))
        }
        _ => None,
    }
}

/// Whether a lock is unavailable while another thread holds these.
pub fn is_refused((kind, object, offset): FirstLock, held: &[HeldLock]) -> bool {
    held.iter().any(|held| {
        let Expr::Address(other, base) = held.base else { return false };
        // A reader blocks only writers.
        (!held.shared || kind == LockKind::Write)
            && other == object
            && base.wrapping_add(held.offset) == offset
    })
}

/// The locks of single objects that a thread holds, as sets of numbers.
struct LockSets {
    exclusive: BitSet,
    all: BitSet,
}

/// The prepared rules.
pub struct Rules<'a, 'p> {
    model: &'a Model<'p>,
    known: &'a Known,
    data: &'a dyn DataFacts,
    locks: IdVec<Node, LockSets>,
    /// The templates of which no thread runs while a thread is at a node.
    absent: IdVec<Node, Vec<TemplateId>>,
    /// The steps that join each template's thread.
    joins: IdVec<TemplateId, Vec<Step>>,
    /// The weights of counters, and the bounds that steps imply.
    counters: Vec<(Vec<Value>, Guards)>,
}

impl<'a, 'p> Rules<'a, 'p> {
    /// Prepares the rules.
    pub fn new(model: &'a Model<'p>, known: &'a Known, data: &'a dyn DataFacts) -> Self {
        let mut numbers: Vec<(ir::Expr, u64)> = Vec::new();
        for lock in known.facts.iter().flat_map(|facts| &facts.locks) {
            let key = (lock.base.clone(), lock.offset);
            if is_cell_of_single(model, &lock.base) && !numbers.contains(&key) {
                numbers.push(key);
            }
        }
        let locks = known.facts.iter().map(|facts| {
            let mut sets =
                LockSets { exclusive: BitSet::new(numbers.len()), all: BitSet::new(numbers.len()) };
            for lock in &facts.locks {
                let found =
                    numbers.iter().position(|(base, offset)| *base == lock.base && *offset == lock.offset);
                if let Some(number) = found {
                    sets.all.insert(number);
                    if !lock.shared {
                        sets.exclusive.insert(number);
                    }
                }
            }
            sets
        });
        let locks = locks.collect();
        let mut joins: IdVec<TemplateId, Vec<Step>> =
            model.program.templates.iter().map(|_| Vec::new()).collect();
        for (template, effects) in known.effects.enumerate() {
            for (edge, effects) in effects.enumerate() {
                effects.joins.iter().for_each(|joined| joins[*joined].push(Step { template, edge }));
            }
        }
        let mut absent: IdVec<Node, Vec<TemplateId>> = model.nodes.iter().map(|_| Vec::new()).collect();
        for family in &known.families {
            for (location, facts) in family.at.iter().enumerate() {
                if facts.members.as_ref().is_some_and(|members| members.none) {
                    absent[model.node(family.parent, LocationId::new(location))].push(family.template);
                }
            }
        }
        Self { model, known, data, locks, absent, joins, counters: Vec::new() }
    }

    /// The same rules, with a counter that has weights.
    pub fn with_counter(mut self, counter: &Counter, guards: Guards) -> Self {
        self.counters.push((counter.weights.clone(), guards));
        self
    }

    /// Whether a counter is too low for a step to be taken, given where another thread is.
    fn is_too_low(&self, step: Step, other: Option<Node>) -> bool {
        let source = self.source(step).index();
        self.counters.iter().any(|(weights, guards)| {
            let least = weights[source] + other.map_or(0, |other| weights[other.index()]);
            guards[step.template][step.edge].is_some_and(|at_most| at_most < least)
        })
    }

    fn effects(&self, step: Step) -> &'a StepEffects {
        &self.known.effects[step.template][step.edge]
    }
    fn source(&self, step: Step) -> Node {
        self.model.node(step.template, self.model.edge(step).source)
    }

    /// The templates that a step starts threads of.
    pub fn spawns(&self, step: Step) -> &'a [TemplateId] {
        &self.effects(step).spawns
    }

    /// Whether two threads can be at these locations at all.
    pub fn is_consistent(&self, a: Node, b: Node) -> bool {
        let template = self.model.nodes[a].0;
        if template == self.model.nodes[b].0 && self.model.unique[template] {
            return false;
        }
        let is_absent = |here: Node, other: Node| {
            !self.model.is_end(other) && self.absent[here].contains(&self.model.nodes[other].0)
        };
        if is_absent(a, b) || is_absent(b, a) {
            return false;
        }
        let (a, b) = (&self.locks[a], &self.locks[b]);
        !a.exclusive.intersects(&b.all) && !b.exclusive.intersects(&a.all)
    }

    /// Whether a step may be taken while another thread is at a location.
    pub fn may_take(&self, step: Step, other: Node, pairs: &Pairs) -> bool {
        let atomic = |node| self.model.location(node).runs_alone();
        if self.effects(step).impossible || (atomic(other) && !atomic(self.source(step))) {
            return false;
        }
        let first = first_lock(self.model.program, &self.model.edge(step).ops);
        if first.is_some_and(|(_, lock)| is_refused(lock, &self.known.facts[other].locks)) {
            return false;
        }
        let joins = self.effects(step).joins.iter().all(|joined| {
            if self.model.nodes[other].0 == *joined {
                self.model.is_end(other)
            } else {
                self.model.ends[*joined].iter().any(|end| pairs.contains(end.index(), other.index()))
            }
        });
        joins && !self.is_too_low(step, Some(other)) && self.data.may_take(step, Some(other))
    }

    /// Whether a step may be taken at all.
    pub fn may_take_alone(&self, step: Step, pairs: &Pairs) -> bool {
        let source = self.source(step);
        let ended = |joined: &TemplateId| {
            self.model.ends[*joined].iter().any(|end| pairs.contains(end.index(), source.index()))
        };
        let effects = self.effects(step);
        !effects.impossible
            && effects.joins.iter().all(ended)
            && !self.is_too_low(step, None)
            && self.data.may_take(step, None)
    }

    /// The least solution.
    pub fn solve(&self, budget: &Budget) -> Result<Reached, Exhausted> {
        let count = self.model.nodes.len();
        let bytes = (count * count.div_ceil(64) * 8) as u64;
        budget.check(bytes)?;
        let mut search = Search {
            rules: self,
            reached: Reached { nodes: BitSet::new(count), pairs: Pairs::new(count) },
            singles: VecDeque::new(),
            pairs: VecDeque::new(),
        };
        search.start();
        let mut rounds = 0u64;
        loop {
            rounds += 1;
            if rounds.is_multiple_of(4096) {
                budget.check(bytes + search.pairs.len() as u64 * 8)?;
            }
            if let Some(node) = search.singles.pop_front() {
                search.single(node);
            } else if let Some((a, b)) = search.pairs.pop_front() {
                search.pair(a, b);
            } else {
                return Ok(search.reached);
            }
        }
    }
}

struct Search<'r, 'a, 'p> {
    rules: &'r Rules<'a, 'p>,
    reached: Reached,
    singles: VecDeque<Node>,
    /// Pairs to look at, each in one order.
    pairs: VecDeque<(Node, Node)>,
}

impl Search<'_, '_, '_> {
    fn start(&mut self) {
        let model = self.rules.model;
        let mut entries = Vec::new();
        for (template, count) in &model.program.start {
            let copies = match count {
                Count::Exactly(copies) => *copies,
                Count::Any => 2,
            };
            // Two threads of a kind represent any larger number.
            entries.extend(std::iter::repeat_n(model.entry(*template), copies.min(2) as usize));
        }
        for (index, entry) in entries.iter().enumerate() {
            self.reach(*entry);
            entries[..index].iter().for_each(|other| self.relate(*entry, *other));
        }
    }

    fn reach(&mut self, node: Node) {
        let halts = self.rules.model.location(node).kind == LocationKind::Halt;
        if !halts && self.rules.data.may_be_at(node) && self.reached.nodes.insert(node.index()) {
            self.singles.push_back(node);
        }
    }

    fn relate(&mut self, a: Node, b: Node) {
        let model = self.rules.model;
        let halts = |node| model.location(node).kind == LocationKind::Halt;
        if halts(a) || halts(b) || !self.rules.is_consistent(a, b) {
            return;
        }
        if self.rules.data.may_be_at(a)
            && self.rules.data.may_be_at(b)
            && self.reached.pairs.insert(a.index(), b.index())
        {
            self.pairs.push_back((a, b));
        }
    }

    fn single(&mut self, node: Node) {
        for step in &self.rules.model.steps[node] {
            self.step_alone(*step);
        }
    }

    fn step_alone(&mut self, step: Step) {
        let target = self.rules.model.target(step);
        let halts = self.rules.model.location(target).kind == LocationKind::Halt;
        if halts || !self.rules.may_take_alone(step, &self.reached.pairs) {
            return;
        }
        self.reach(target);
        let spawns = &self.rules.effects(step).spawns;
        for (index, child) in spawns.iter().enumerate() {
            let entry = self.rules.model.entry(*child);
            self.reach(entry);
            self.relate(target, entry);
            for sibling in &spawns[..index] {
                self.relate(entry, self.rules.model.entry(*sibling));
            }
        }
    }

    fn pair(&mut self, a: Node, b: Node) {
        for (mover, other) in [(a, b), (b, a)] {
            for step in &self.rules.model.steps[mover] {
                self.step(*step, other);
            }
        }
        // A thread has ended: those that join it may continue.
        for (ended, other) in [(a, b), (b, a)] {
            if !self.rules.model.is_end(ended) {
                continue;
            }
            for step in &self.rules.joins[self.rules.model.nodes[ended].0] {
                let source = self.rules.source(*step);
                if source == other && self.reached.nodes.contains(source.index()) {
                    self.step_alone(*step);
                }
                if self.reached.pairs.contains(source.index(), other.index()) {
                    self.step(*step, other);
                }
            }
        }
    }

    fn step(&mut self, step: Step, other: Node) {
        let target = self.rules.model.target(step);
        let halts = self.rules.model.location(target).kind == LocationKind::Halt;
        if halts || !self.rules.may_take(step, other, &self.reached.pairs) {
            return;
        }
        self.relate(target, other);
        for child in &self.rules.effects(step).spawns {
            self.relate(other, self.rules.model.entry(*child));
        }
    }
}
