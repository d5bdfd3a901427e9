//! The fixed point: facts flow along edges, into callees and back, until nothing changes.
//!
//! Facts at a location start as "no thread is here" and shrink with each path that leads there, so what is
//! found is kept by all steps when nothing changes any more. What other threads may break is taken out
//! afterwards (`reliability.rs`), and the work continues from there; facts never come back. Contexts are
//! told apart by what is known where they are entered (functional approach to interprocedural analysis: M.
//! Sharir and A. Pnueli, 1981), up to a small number for each procedure and kind of thread, and up to a large
//! one for the program: the next ones share one in which what they all know holds. Under-approximates what
//! is known.

use crate::contexts::{Context, ContextTable};
use crate::facts::{insert, meet, prune};
use crate::model::Model;
use crate::numbers::Numbers;
use crate::teams::none_started;
use crate::transfer::Transfer;
use ir::passes::bits::BitSet;
use ir::{Count, EdgeId, IdVec, LocationId, LocationKind, Op, TemplateId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use verdict::{Budget, Exhausted, ThreadFacts};

/// The analysis of a program.
pub struct Analysis<'a, 'p> {
    /// The program.
    pub model: &'a Model<'p>,
    /// What operations mean.
    pub transfer: Transfer<'a, 'p>,
    /// The contexts; those of the first threads come first.
    pub contexts: Vec<Context>,
    /// For each kind, the kinds of which no thread is left when its only thread has been joined.
    pub gained: FxHashMap<TemplateId, Vec<TemplateId>>,
    /// The kinds whose threads have arguments apart from one another, with the bytes; known at the end.
    pub apart: FxHashMap<TemplateId, u64>,
    /// The same for those that one thread has started.
    pub apart_in_teams: FxHashMap<TemplateId, u64>,
    /// The kinds of which at most one thread is alive at any time; known at the end.
    pub alone: BTreeSet<TemplateId>,
    /// The same for those that one thread has started.
    pub alone_in_teams: BTreeSet<TemplateId>,
    table: ContextTable,
    queue: VecDeque<u32>,
    queued: BTreeSet<u32>,
    budget: &'a Budget,
    edges: u64,
}

impl<'a, 'p> Analysis<'a, 'p> {
    /// Runs the analysis until nothing changes.
    pub fn run(model: &'a Model<'p>, budget: &'a Budget) -> Result<Self, Exhausted> {
        let mut analysis = Self {
            model,
            transfer: Transfer::new(model),
            contexts: Vec::new(),
            gained: FxHashMap::default(),
            apart: FxHashMap::default(),
            apart_in_teams: FxHashMap::default(),
            alone: BTreeSet::new(),
            alone_in_teams: BTreeSet::new(),
            table: ContextTable::default(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            budget,
            edges: 0,
        };
        analysis.start();
        analysis.update_gained();
        loop {
            analysis.propagate()?;
            let mut changed = analysis.update_gained();
            changed |= analysis.remove_unreliable()?;
            if !changed && analysis.queue.is_empty() {
                analysis.apart = analysis.distinct(false).into_iter().collect();
                analysis.apart_in_teams = analysis.distinct(true).into_iter().collect();
                analysis.alone = analysis.alone(false);
                analysis.alone_in_teams = analysis.alone(true);
                return Ok(analysis);
            }
        }
    }

    /// How many edges were followed.
    pub fn steps(&self) -> u64 {
        self.edges
    }

    fn start(&mut self) {
        let program = self.model.program;
        for (at, (template, count)) in program.start.iter().enumerate() {
            let others = || program.start.iter().enumerate().filter(|(other, _)| *other != at);
            let is_alone = *count == Count::Exactly(1) && others().all(|(_, (other, _))| other != template);
            let is_started = |kind: &TemplateId| others().any(|(_, (other, _))| other == kind);
            let absent = |kind: &&TemplateId| !is_started(kind) && (*kind != template || is_alone);
            let absent = self.model.kinds.iter().filter(absent).copied().collect();
            let started = none_started(&self.model.helpers, *template);
            let mut entry = ThreadFacts { absent, started, ..ThreadFacts::default() };
            self.transfer.own_nulls(*template, &mut entry);
            let context = self.context(*template, *template);
            self.contexts[context as usize].is_first = true;
            self.occupy(context);
            self.meet_at(context, program.templates[*template].entry, entry);
        }
    }

    fn context(&mut self, template: TemplateId, kind: TemplateId) -> u32 {
        self.contexts.push(Context {
            template,
            kind,
            facts: IdVec::new(),
            calls: Default::default(),
            releases: BitSet::new(self.model.lock_targets.len()),
            starts: BTreeSet::new(),
            stores: BitSet::new(self.model.id_targets.len()),
            writes: BitSet::new(self.model.cells.len()),
            callers: BTreeSet::new(),
            open: BTreeSet::new(),
            broken: BTreeSet::new(),
            lost: BTreeSet::new(),
            lost_cells: BTreeSet::new(),
            lost_words: BTreeSet::new(),
            is_first: false,
            version: 0,
            followed: FxHashMap::default(),
        });
        self.contexts.len() as u32 - 1
    }

    pub(crate) fn enter(&mut self, template: TemplateId, kind: TemplateId, mut entry: ThreadFacts) -> u32 {
        self.table.limit_numbers(template, kind, &mut entry);
        let context = match self.table.find(template, kind, &entry) {
            Ok(known) => known,
            Err(key) => {
                let new = self.context(template, kind);
                self.table.add(key, new);
                new
            }
        };
        self.occupy(context);
        self.meet_at(context, self.model.program.templates[template].entry, entry);
        context
    }

    /// Somebody enters a context: it has facts.
    fn occupy(&mut self, context: u32) {
        let this = &mut self.contexts[context as usize];
        if this.facts.is_empty() {
            let locations = &self.model.program.templates[this.template].locations;
            this.facts = locations.iter().map(|_| None).collect();
            self.table.locations += locations.len();
        }
    }

    /// Facts come to a location.
    fn meet_at(&mut self, context: u32, location: LocationId, facts: ThreadFacts) {
        let this = &mut self.contexts[context as usize];
        // A call of its own may have left it.
        if this.facts.is_empty() {
            return;
        }
        let changed = match &mut this.facts[location] {
            Some(known) => meet(self.model, this.template, known, &facts),
            none => {
                *none = Some(facts);
                true
            }
        };
        if changed {
            self.reopen(context, location);
        }
    }

    /// The edges from a location have to be followed again, or a context's callers have to be visited.
    pub fn reopen(&mut self, context: u32, location: LocationId) {
        let this = &mut self.contexts[context as usize];
        let code = &self.model.program.templates[this.template];
        if code.locations[location].kind == LocationKind::End {
            self.return_to_callers(context);
            return;
        }
        this.open.insert((self.model.procedures[this.template].order[location], location));
        self.enqueue(context);
    }

    fn enqueue(&mut self, context: u32) {
        if self.queued.insert(context) {
            self.queue.push_back(context);
        }
    }

    pub(crate) fn return_to_callers(&mut self, context: u32) {
        self.contexts[context as usize].version += 1;
        for (caller, edge) in self.contexts[context as usize].callers.clone() {
            let template = self.contexts[caller as usize].template;
            let source = self.model.program.templates[template].edges[edge].source;
            self.reopen(caller, source);
        }
    }

    /// A call enters another context than before. What nobody enters any more is forgotten: it would only
    /// cost time and memory, and make callees know less.
    pub(crate) fn leave(&mut self, context: u32, call: (u32, EdgeId)) {
        let mut left = vec![(context, call)];
        while let Some((context, call)) = left.pop() {
            let this = &mut self.contexts[context as usize];
            if !this.callers.remove(&call) || !this.callers.is_empty() || this.is_first {
                continue;
            }
            self.table.locations -= std::mem::take(&mut this.facts).len();
            this.open.clear();
            this.followed.clear();
            let calls = std::mem::take(&mut this.calls);
            left.extend(calls.into_iter().map(|((edge, _), callee)| (callee, (context, edge))));
        }
    }

    fn propagate(&mut self) -> Result<(), Exhausted> {
        while let Some(context) = self.queue.pop_front() {
            self.queued.remove(&context);
            while let Some((_, location)) = self.contexts[context as usize].open.pop_first() {
                let template = self.contexts[context as usize].template;
                for edge in &self.model.procedures[template].outgoing[location] {
                    self.edges += 1;
                    if self.edges.is_multiple_of(128) {
                        self.budget.check(0)?;
                    }
                    self.follow(context, *edge);
                }
            }
        }
        Ok(())
    }

    fn follow(&mut self, context: u32, edge: EdgeId) {
        let model = self.model;
        let template = self.contexts[context as usize].template;
        let step = &model.program.templates[template].edges[edge];
        let known = self.contexts[context as usize].facts.get(step.source);
        let Some(mut facts) = known.cloned().flatten() else { return };
        let numbers = Numbers { model, template };
        let has_threads = model.procedures[template].has_threads;
        for (index, op) in step.ops.iter().enumerate() {
            let before = facts.clone();
            if let (Op::Join(thread, _), true) = (op, has_threads) {
                numbers.join(&mut facts, thread);
            }
            self.note_releases(context, edge, (index, op), &facts);
            if self.transfer.apply(template, edge, (index, op), &mut facts).is_none() {
                return;
            }
            match op {
                Op::Call(_, arguments, lhs) => {
                    let Some(after) = self.call(context, edge, arguments, lhs.as_ref(), &facts) else {
                        return;
                    };
                    facts = after;
                }
                Op::Spawn(_, arguments, lhs) => {
                    self.spawn(context, edge, arguments, &mut facts);
                    self.transfer.writes(template, edge, index, &mut facts);
                    self.store_id(template, edge, lhs.as_ref(), &mut facts);
                    let kinds = &model.procedures[template].callees[edge];
                    numbers.start(&mut facts, &before, kinds, lhs.as_ref(), arguments.first());
                }
                Op::Join(thread, _) => {
                    // The operand is read before the result is stored.
                    let before = self.contexts[context as usize].facts.get(step.source);
                    let before = before.and_then(Option::as_ref);
                    let is_first = index == 0;
                    let joined = before.filter(|_| is_first);
                    let joined = joined.and_then(|before| self.transfer.thread_of(template, before, thread));
                    if let Some(kind) = joined {
                        insert(&mut facts.absent, kind);
                        for gained in self.gained.get(&kind).into_iter().flatten() {
                            insert(&mut facts.absent, *gained);
                        }
                    }
                }
                Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Allocate { .. } => {}
                Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => {}
            }
            if matches!(op, Op::Assume(_) | Op::Join(..)) && !facts.started.is_empty() {
                for kind in numbers.ended(&mut facts) {
                    let is_first =
                        |kind: &TemplateId| model.program.start.iter().any(|(start, _)| start == kind);
                    let gained = self.gained.get(&kind).filter(|gained| !gained.iter().any(is_first));
                    gained.into_iter().flatten().for_each(|gained| insert(&mut facts.absent, *gained));
                }
            }
        }
        prune(model, template, &mut facts, &model.procedures[template].live[step.target]);
        self.meet_at(context, step.target, facts);
    }

    /// Takes note of the locks that an operation may give back, or whose words it may change, and of the
    /// places for ids that it may write.
    fn note_releases(&mut self, context: u32, edge: EdgeId, (index, op): (usize, &Op), facts: &ThreadFacts) {
        let this = &mut self.contexts[context as usize];
        let only = match op {
            Op::Unlock(_, address) => self.model.given_back(this.template, facts, (index, address)),
            _ => None,
        };
        let takes = matches!(op, Op::Lock(..));
        let mut grew = false;
        for access in &self.model.procedures[this.template].accesses[edge] {
            if access.op == index && access.write {
                for lock in
                    access.locks.iter().filter(|lock| !takes && only.is_none_or(|only| only == **lock))
                {
                    grew |= this.releases.insert(*lock as usize);
                }
                for id in access.ids.iter() {
                    grew |= this.stores.insert(*id as usize);
                }
                for cell in access.cells.iter() {
                    grew |= this.writes.insert(*cell as usize);
                }
            }
        }
        if grew {
            self.return_to_callers(context);
        }
    }

    /// The contexts that the first threads lead to, in the order of discovery.
    pub fn reached(&self) -> Vec<u32> {
        let mut seen = BitSet::new(self.contexts.len());
        let mut found: Vec<u32> = (0..self.model.program.start.len() as u32).collect();
        found.iter().for_each(|context| {
            seen.insert(*context as usize);
        });
        let mut next = 0;
        while let Some(context) = found.get(next).copied() {
            next += 1;
            for callee in self.contexts[context as usize].calls.values() {
                if seen.insert(*callee as usize) {
                    found.push(*callee);
                }
            }
        }
        found
    }
}
