//! Data flow of shared cells, and of packs of them, between locations (paper 4, figure 3: `mayReach`; of
//! packs, section 5.1).
//!
//! For a definition `d` of a cell or pack `x` (see [`super::setup`]), these relations hold all locations that
//! threads may be at while `d` is the latest definition of `x` by any thread:
//!
//! * ALONE(u): the thread that took `d` may be at `u`.
//! * PAIR(u, v): the thread that took `d` may be at `u` and another one at `v`.
//! * DURING(v): `d` may be taken while another thread is at `v`.
//!
//! The least relations closed under these rules, where `step` is takeable as [`crate::coreachable`] has it:
//!
//! * BASE: `d` is takeable: ALONE(target of `d`). It is takeable while another thread is at `v`: DURING(v),
//!   PAIR(target of `d`, v). Both with the entries of the threads that `d` starts.
//! * STEP: from ALONE(u), a step `u -> w` that does not define `x`: ALONE(w), and PAIR(w, entry) for each
//!   thread that it starts. From PAIR(u, v), a step of either thread that does not define `x` and is takeable
//!   while the other one is where it is. A step of the thread at `v` that starts a thread: PAIR(u, entry).
//! * A step that joins the only thread of `C` is skipped unless that thread can be at an end with `d` still
//!   the latest definition: if it is not one of the two, PAIR(u, e) must hold for an end `e` of `C`. So
//!   values that the joined thread has certainly overwritten do not survive the join; the paper cannot
//!   express this.
//!
//! The first value of a cell has no thread that took it: ALONE(v) says that a thread may be at `v` while no
//! definition of `x` was taken yet, PAIR(u, v) that two threads may. They start at the start configuration,
//! and are closed under the same rules.
//!
//! Why this covers all executions: by induction over the steps, with the projection of lemma 4.4: in each
//! state the latest definition of `x` was made by one thread (or none), and each other thread forms a pair
//! with it. Each step moves one thread, and starts threads that form pairs with the one that made the
//! definition.
//!
//! Data flows along `d -> v` if ALONE(v), or PAIR(u, v) for some `u`.

use super::setup::{DefinitionId, Setup, Subject};
use crate::coreachable::{Reached, Rules};
use crate::model::{Node, Step};
use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::{Count, TemplateId};
use std::collections::BTreeMap;
use verdict::{Budget, Exhausted, Reach, Relation};

/// The data flow so far.
#[derive(Clone)]
pub struct FlowGraph {
    /// What is followed, with the locations that the first value reaches.
    pub first: BTreeMap<Subject, BitSet>,
    /// The locations that each definition reaches; empty for those whose data flow is not tracked.
    pub reach: Vec<BitSet>,
    /// The locations at which a thread may be while another one makes the definition, if that may write.
    pub during: Vec<BitSet>,
}

impl FlowGraph {
    /// No data flow between threads.
    pub fn new(setup: &Setup<'_, '_>) -> Self {
        let nothing = BitSet::new(setup.model.nodes.len());
        let sets = vec![nothing.clone(); setup.definitions.len()];
        Self { first: BTreeMap::new(), reach: sets.clone(), during: sets }
    }
}

/// The search for data flow in one round.
pub struct FlowSearch<'s, 'a, 'p> {
    /// The fixed input of the analysis.
    pub setup: &'s Setup<'a, 'p>,
    /// The possible steps.
    pub rules: &'s Rules<'s, 'p>,
    /// Where threads may be.
    pub reached: &'s Reached,
}

/// The origin of a value.
#[derive(Clone, Copy)]
pub enum Origin {
    /// The first value.
    First(Subject),
    /// A definition.
    Definition(DefinitionId),
}

struct Spread<'x, 's, 'a, 'p> {
    search: &'x FlowSearch<'s, 'a, 'p>,
    subject: Subject,
    /// Whether the first of a pair is the thread that made the definition; if not, pairs are symmetric.
    has_owner: bool,
    alone: Vec<bool>,
    pairs: Relation,
    open_alone: Vec<Node>,
    open: Vec<(Node, Node)>,
    /// Steps that wait for a thread whose end is not known to be reached.
    blocked_alone: Vec<Step>,
    blocked: Vec<(Step, Node, bool)>,
}

impl<'s, 'a, 'p> FlowSearch<'s, 'a, 'p> {
    fn joins(&self, step: Step) -> &[TemplateId] {
        &self.setup.known.effects[step.template][step.edge].joins
    }
    fn spawns(&self, step: Step) -> &[TemplateId] {
        &self.setup.known.effects[step.template][step.edge].spawns
    }

    /// The locations at which a thread may be while another one takes a step.
    pub fn during(&self, step: Step) -> BitSet {
        let mut found = BitSet::new(self.setup.model.nodes.len());
        let source = self.setup.source(step);
        for other in self.reached.pairs.related(source.index()) {
            if self.rules.may_take(step, Node::new(other), &self.reached.pairs) {
                found.insert(other);
            }
        }
        found
    }

    /// How far a value flows.
    pub fn reach(&self, origin: Origin, budget: &Budget) -> Result<Reach, Exhausted> {
        let model = self.setup.model;
        let count = model.nodes.len();
        let (subject, has_owner) = match origin {
            Origin::First(subject) => (subject, false),
            Origin::Definition(id) => (self.setup.definitions[id].subject, true),
        };
        let mut spread = Spread {
            search: self,
            subject,
            has_owner,
            alone: vec![false; count],
            pairs: Relation::new(count),
            open_alone: Vec::new(),
            open: Vec::new(),
            blocked_alone: Vec::new(),
            blocked: Vec::new(),
        };
        match origin {
            Origin::First(_) => spread.start(),
            Origin::Definition(id) => spread.base(self.setup.definitions[id].step),
        }
        spread.run(budget)?;
        Ok(Reach { alone: spread.alone, pairs: spread.pairs })
    }

    /// The locations that a value reaches.
    pub fn targets(&self, reach: &Reach) -> BitSet {
        let count = self.setup.model.nodes.len();
        let mut found = BitSet::new(count);
        for (node, alone) in reach.alone.iter().enumerate() {
            if *alone {
                found.insert(node);
            }
            for other in reach.pairs.related(node) {
                found.insert(other);
            }
        }
        found
    }
}

impl Spread<'_, '_, '_, '_> {
    fn target(&self, step: Step) -> Node {
        self.search.setup.model.target(step)
    }

    fn start(&mut self) {
        let model = self.search.setup.model;
        let mut entries = Vec::new();
        for (template, count) in &model.program.start {
            let copies = match count {
                Count::Exactly(copies) => (*copies).min(2),
                Count::Any => 2,
            };
            entries.extend(std::iter::repeat_n(model.entry(*template), copies as usize));
        }
        for (index, entry) in entries.iter().enumerate() {
            self.add_alone(*entry);
            entries[..index].iter().for_each(|other| self.add(*entry, *other));
        }
    }

    fn base(&mut self, definition: Step) {
        let search = self.search;
        let source = search.setup.source(definition);
        let target = self.target(definition);
        if search.reached.nodes.contains(source.index())
            && search.rules.may_take_alone(definition, &search.reached.pairs)
        {
            self.add_alone(target);
            for child in search.spawns(definition) {
                self.add(target, search.setup.model.entry(*child));
            }
        }
        for other in search.reached.pairs.related(source.index()).map(Node::new) {
            if search.rules.may_take(definition, other, &search.reached.pairs) {
                self.add(target, other);
            }
        }
    }

    fn add_alone(&mut self, node: Node) {
        if self.search.reached.nodes.contains(node.index()) && !self.alone[node.index()] {
            self.alone[node.index()] = true;
            self.open_alone.push(node);
        }
    }

    fn add(&mut self, owner: Node, other: Node) {
        if !self.search.reached.pairs.contains(owner.index(), other.index()) {
            return;
        }
        if self.pairs.insert(owner.index(), other.index()) {
            self.open.push((owner, other));
            if !self.has_owner {
                self.pairs.insert(other.index(), owner.index());
            }
        }
    }

    fn run(&mut self, budget: &Budget) -> Result<(), Exhausted> {
        let mut rounds = 0u64;
        loop {
            rounds += 1;
            if rounds.is_multiple_of(4096) {
                budget.check(0)?;
            }
            if let Some(node) = self.open_alone.pop() {
                for step in &self.search.setup.model.steps[node] {
                    self.step_alone(*step);
                }
            } else if let Some((owner, other)) = self.open.pop() {
                for step in &self.search.setup.model.steps[owner] {
                    self.step(*step, other, true);
                }
                for step in &self.search.setup.model.steps[other] {
                    self.step(*step, owner, false);
                }
            } else {
                let (alone, pairs) =
                    (std::mem::take(&mut self.blocked_alone), std::mem::take(&mut self.blocked));
                alone.into_iter().for_each(|step| self.step_alone(step));
                pairs.into_iter().for_each(|(step, other, of_owner)| self.step(step, other, of_owner));
                if self.open_alone.is_empty() && self.open.is_empty() {
                    return Ok(());
                }
            }
        }
    }

    /// Whether the threads that a step joins may have ended with the value still there; `kept` are those of
    /// which it must be known.
    fn ended(&self, step: Step, kept: &[Node]) -> bool {
        let model = self.search.setup.model;
        self.search.joins(step).iter().all(|joined| {
            let of_pair = kept.iter().find(|node| model.nodes[**node].0 == *joined);
            match of_pair {
                Some(node) => model.is_end(*node),
                None => model.ends[*joined]
                    .iter()
                    .any(|end| kept.iter().all(|node| self.pairs.contains(node.index(), end.index()))),
            }
        })
    }

    fn step_alone(&mut self, step: Step) {
        let search = self.search;
        if search.setup.defines(step, self.subject)
            || !search.rules.may_take_alone(step, &search.reached.pairs)
        {
            return;
        }
        let source = search.setup.source(step);
        if !self.ended(step, &[source]) {
            self.blocked_alone.push(step);
            return;
        }
        let target = self.target(step);
        self.add_alone(target);
        let entries: Vec<Node> =
            search.spawns(step).iter().map(|child| search.setup.model.entry(*child)).collect();
        for (index, entry) in entries.iter().enumerate() {
            self.add(target, *entry);
            if !self.has_owner {
                self.add_alone(*entry);
                entries[..index].iter().for_each(|sibling| self.add(*entry, *sibling));
            }
        }
    }

    /// A step of the owner, or of the other thread, while the second of the two is at `other`.
    fn step(&mut self, step: Step, other: Node, of_owner: bool) {
        let search = self.search;
        if search.setup.defines(step, self.subject)
            || !search.rules.may_take(step, other, &search.reached.pairs)
        {
            return;
        }
        let source = search.setup.source(step);
        // What is known of a third thread is known relative to the owner; without one, to both.
        let kept = match (self.has_owner, of_owner) {
            (true, true) => vec![source],
            (true, false) => vec![other],
            (false, _) => vec![source, other],
        };
        let joins_other = search.joins(step).contains(&search.setup.model.nodes[other].0);
        let may = if joins_other { search.setup.model.is_end(other) } else { self.ended(step, &kept) };
        if !may {
            self.blocked.push((step, other, of_owner));
            return;
        }
        let target = self.target(step);
        let entries: Vec<Node> =
            search.spawns(step).iter().map(|child| search.setup.model.entry(*child)).collect();
        if of_owner {
            self.add(target, other);
            if !self.has_owner {
                entries.iter().for_each(|entry| self.add(*entry, other));
            }
        } else {
            self.add(other, target);
            entries.iter().for_each(|entry| self.add(other, *entry));
        }
    }
}
