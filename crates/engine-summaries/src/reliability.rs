//! What other threads may break: takes out the claims that are not reliable, by the rules in
//! [`verdict::summaries`](verdict::SummariesProof).
//!
//! Only contexts count that some thread may be in. Over-approximates what is broken.

use crate::analysis::Analysis;
use crate::calls::{Call, in_both};
use crate::model::{Access, WORDS};
use crate::numbers::{LARGEST_STRIDE, Numbers};
use crate::ownership::base;
use crate::teams::is_none;
use ir::passes::footprint::Region;
use ir::{Count, EdgeId, LocationId, LocationKind, Op, TemplateId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use verdict::{Exhausted, Handle, LockBase, LockFact, Row, Started, ThreadFacts};

/// A step that starts a thread.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Start {
    /// Of this kind.
    kind: TemplateId,
    /// By a thread of this kind.
    by: TemplateId,
    /// The kinds that are absent there.
    absent: Vec<TemplateId>,
}

/// A step that may change the words of a lock that others hold.
struct Breaking {
    by: TemplateId,
    absent: Rc<Vec<TemplateId>>,
    region: Rc<Region>,
    /// The lock targets that it may touch.
    locks: std::sync::Arc<[u32]>,
    /// Whether its address comes from a fresh local.
    is_fresh: bool,
}

/// A location where a thread holds a lock, as far as reliability depends on it.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Holder {
    template: TemplateId,
    kind: TemplateId,
    base: LockBase,
    offset: u64,
    absent: Vec<TemplateId>,
    /// Whether the lock is in an object that the thread owns.
    is_fresh: bool,
}

/// Whether no other thread starts one of a kind meanwhile. `own`: the kind of this one, and whether there
/// is one of it.
fn is_left_alone(
    starts: &BTreeSet<Start>,
    kind: TemplateId,
    own: (TemplateId, bool),
    absent: &[TemplateId],
) -> bool {
    starts.iter().filter(|start| start.kind == kind).all(|start| {
        absent.binary_search(&start.by).is_ok()
            || start.absent.binary_search(&own.0).is_ok()
            || (start.by == own.0 && own.1)
    })
}

impl Analysis<'_, '_> {
    /// Computes again which kinds have no threads left when the only thread of a kind has been joined; says
    /// whether there are fewer than before.
    pub fn update_gained(&mut self) -> bool {
        let is_first = self.gained.is_empty();
        let reached = self.reached();
        let mut ends: FxHashMap<TemplateId, Vec<TemplateId>> = FxHashMap::default();
        let mut starts: Vec<(TemplateId, TemplateId)> = Vec::new();
        for number in &reached {
            let context = &self.contexts[*number as usize];
            let code = &self.model.program.templates[context.template];
            for (location, described) in code.locations.enumerate() {
                let Some(facts) = &context.facts[location] else { continue };
                let ends_thread = match described.kind {
                    LocationKind::End => context.template == context.kind,
                    LocationKind::Exit => true,
                    LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => false,
                };
                if ends_thread {
                    let known = ends.entry(context.kind).or_insert_with(|| self.model.kinds.clone());
                    known.retain(|kind| facts.absent.binary_search(kind).is_ok());
                }
            }
            starts.extend(self.starts_of(*number).into_iter().map(|start| (start.kind, start.by)));
        }
        let mut changed = false;
        for joined in &self.model.kinds {
            // A kind of which no thread ever ends is never joined, and shows nothing.
            let unknown = if is_first { self.model.kinds.clone() } else { Vec::new() };
            let mut gained = ends.get(joined).cloned().unwrap_or(unknown);
            loop {
                let is_started_by_others = |kind: &TemplateId| {
                    starts.iter().any(|(started, by)| {
                        started == kind && by != joined && gained.binary_search(by).is_err()
                    })
                };
                let kept: Vec<TemplateId> =
                    gained.iter().filter(|kind| !is_started_by_others(kind)).copied().collect();
                if kept.len() == gained.len() {
                    break;
                }
                gained = kept;
            }
            if self.gained.get(joined) != Some(&gained) {
                changed = true;
                self.gained.insert(*joined, gained);
            }
        }
        if changed {
            self.reopen_joins(&reached);
        }
        changed
    }

    fn reopen_joins(&mut self, reached: &[u32]) {
        for number in reached {
            let context = &self.contexts[*number as usize];
            let code = &self.model.program.templates[context.template];
            let joins = code.edges.iter().filter(|edge| edge.ops.iter().any(|op| matches!(op, Op::Join(..))));
            let mut sources: BTreeSet<LocationId> =
                joins.map(|edge| edge.source).filter(|source| context.facts[*source].is_some()).collect();
            // A list may come to its end anywhere.
            let listed = context.facts.enumerate();
            let listed =
                listed.filter(|(_, facts)| facts.as_ref().is_some_and(|facts| !facts.started.is_empty()));
            sources.extend(listed.map(|(location, _)| location));
            sources.into_iter().for_each(|source| self.reopen(*number, source));
        }
    }

    /// The steps in reached contexts that start threads.
    fn starts(&self, reached: &[u32]) -> BTreeSet<Start> {
        reached.iter().flat_map(|number| self.starts_of(*number)).collect()
    }

    fn starts_of(&self, number: u32) -> Vec<Start> {
        let context = &self.contexts[number as usize];
        let code = &self.model.program.templates[context.template];
        let mut found = Vec::new();
        for (id, edge) in code.edges.enumerate() {
            let Some(facts) = &context.facts[edge.source] else { continue };
            if edge.ops.iter().any(|op| matches!(op, Op::Spawn(..))) {
                for kind in &self.model.procedures[context.template].callees[id] {
                    found.push(Start { kind: *kind, by: context.kind, absent: facts.absent.clone() });
                }
            }
        }
        found
    }

    /// Takes out claims that others may break; says whether there were any.
    pub fn remove_unreliable(&mut self) -> Result<bool, Exhausted> {
        let reached = self.reached();
        let absent = self.remove_present(&reached) | self.remove_present_after_calls(&reached);
        // Locks depend on who is absent: first come to rest there.
        if absent {
            return Ok(true);
        }
        if self.remove_broken_handles(&reached) | self.remove_broken_cells(&reached) {
            return Ok(true);
        }
        if self.remove_broken_words(&reached) {
            return Ok(true);
        }
        self.remove_broken_locks(&reached)
    }

    /// Takes out handles that others may write, and lists that do not survive calls; says whether there
    /// were any.
    fn remove_broken_handles(&mut self, reached: &[u32]) -> bool {
        let has_lists = |number: &u32| {
            let facts = &self.contexts[*number as usize].facts;
            facts.iter().flatten().any(|facts| !facts.started.is_empty())
        };
        if !reached.iter().any(has_lists) {
            return false;
        }
        let starts = self.starts(reached);
        let writes = self.writes_of_ids(reached);
        let throughout = self.throughout(reached);
        let mut changed: Vec<(u32, LocationId, Vec<Started>)> = Vec::new();
        let mut lost: Vec<(u32, EdgeId, TemplateId, bool)> = Vec::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let numbers = Numbers { model: self.model, template: context.template };
            let is_written = |row: Row, absent: &[TemplateId]| {
                let region = numbers.region(row);
                let is_once = self.model.once[context.kind];
                writes.iter().any(|step| {
                    !((step.by == context.kind && is_once)
                        || absent.binary_search(&step.by).is_ok()
                        || step.absent.binary_search(&context.kind).is_ok()
                        || !step.region.overlaps(&region)
                        || self.is_kept_apart(&step.region, &region, Some((context.kind, step.by))))
                })
            };
            for (location, facts) in context.facts.enumerate() {
                let Some(facts) = facts else { continue };
                let mut kept = facts.started.clone();
                for members in kept.iter_mut().flat_map(|started| &mut started.members) {
                    if let Some(Handle::Memory(row)) = members.handle
                        && is_written(row, &facts.absent)
                    {
                        members.handle = None;
                    }
                }
                if kept != facts.started {
                    changed.push((*number, location, kept));
                }
            }
            for Call { edge, callee, facts, .. } in self.calls_of(*number) {
                let absent = in_both(&throughout[callee as usize], &facts.absent);
                for started in &facts.started {
                    let own = (context.kind, self.model.once[context.kind]);
                    let is_kept = started.own || is_left_alone(&starts, started.kind, own, &absent);
                    let rows = started.members.iter().filter_map(|members| match members.handle {
                        Some(Handle::Memory(row)) => Some(row),
                        Some(Handle::Local(_)) | None => None,
                    });
                    let mut rows = rows.filter(|_| is_kept);
                    if !is_kept {
                        lost.push((*number, edge, started.kind, true));
                    } else if rows.any(|row| is_written(row, &absent)) {
                        lost.push((*number, edge, started.kind, false));
                    }
                }
            }
        }
        lost.retain(|(number, edge, kind, whole)| {
            !self.contexts[*number as usize].lost.contains(&(*edge, *kind, *whole))
        });
        let is_changed = !changed.is_empty() || !lost.is_empty();
        for (number, location, kept) in changed {
            if let Some(facts) = &mut self.contexts[number as usize].facts[location] {
                facts.started = kept;
            }
            self.reopen(number, location);
        }
        for (number, edge, kind, whole) in lost {
            self.contexts[number as usize].lost.insert((edge, kind, whole));
            self.call_from_scratch(number, edge);
        }
        is_changed
    }

    /// Takes out what is known of cells that others may write; says whether there was any.
    fn remove_broken_cells(&mut self, reached: &[u32]) -> bool {
        if self.model.cells.is_empty() {
            return false;
        }
        let mut writes: BTreeSet<(u32, TemplateId, &Vec<TemplateId>)> = BTreeSet::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let code = &self.model.program.templates[context.template];
            for (id, edge) in code.edges.enumerate() {
                let Some(facts) = &context.facts[edge.source] else { continue };
                let accesses = self.model.procedures[context.template].accesses[id].iter();
                for cell in accesses.flat_map(|access| access.cells.iter()) {
                    writes.insert((*cell, context.kind, &facts.absent));
                }
            }
        }
        let is_written = |cell: usize, kind: TemplateId, absent: &[TemplateId]| {
            writes.iter().filter(|(written, _, _)| *written as usize == cell).any(|(_, by, there)| {
                !((*by == kind && self.model.once[kind])
                    || absent.binary_search(by).is_ok()
                    || there.binary_search(&kind).is_ok())
            })
        };
        let throughout = self.throughout(reached);
        let mut changed: Vec<(u32, LocationId, ThreadFacts)> = Vec::new();
        let mut lost: Vec<(u32, EdgeId, u32)> = Vec::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let numbers = Numbers { model: self.model, template: context.template };
            for (location, facts) in context.facts.enumerate() {
                let Some(facts) = facts else { continue };
                let mentioned = self.model.mentioned(context.template, facts);
                let broken: Vec<usize> = mentioned
                    .into_iter()
                    .filter(|cell| is_written(*cell, context.kind, &facts.absent))
                    .collect();
                if !broken.is_empty() {
                    let mut facts = facts.clone();
                    broken.iter().for_each(|cell| {
                        numbers.forget_cell(&mut facts, self.model.cell_local(context.template, *cell));
                    });
                    changed.push((*number, location, facts));
                }
            }
            for Call { edge, callee, facts, .. } in self.calls_of(*number) {
                let absent = in_both(&throughout[callee as usize], &facts.absent);
                let mentioned = self.model.mentioned(context.template, facts).into_iter();
                let broken = mentioned.filter(|cell| is_written(*cell, context.kind, &absent));
                let broken = broken.map(|cell| (*number, edge, cell as u32));
                lost.extend(broken.filter(|(_, edge, cell)| !context.lost_cells.contains(&(*edge, *cell))));
            }
        }
        let is_changed = !changed.is_empty() || !lost.is_empty();
        for (number, location, facts) in changed {
            self.contexts[number as usize].facts[location] = Some(facts);
            self.reopen(number, location);
        }
        for (number, edge, cell) in lost {
            self.contexts[number as usize].lost_cells.insert((edge, cell));
            self.call_from_scratch(number, edge);
        }
        is_changed
    }

    /// The steps in reached contexts that may write where ids of threads are.
    fn writes_of_ids(&self, reached: &[u32]) -> Vec<Breaking> {
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let code = &self.model.program.templates[context.template];
            for (id, edge) in code.edges.enumerate() {
                let Some(facts) = &context.facts[edge.source] else { continue };
                let accesses = &self.model.procedures[context.template].accesses[id];
                for access in accesses.iter().filter(|access| access.write && !access.ids.is_empty()) {
                    let is_fresh = self.is_fresh_access(context.template, facts, access);
                    let (places, bytes) = (access.places.number, access.bytes);
                    if known.insert((context.kind, facts.absent.clone(), places, bytes, is_fresh)) {
                        found.push(Breaking {
                            by: context.kind,
                            absent: Rc::new(facts.absent.clone()),
                            region: Rc::new(access.region()),
                            locks: access.locks.clone(),
                            is_fresh,
                        });
                    }
                }
            }
        }
        found
    }

    /// The kinds whose threads, or those of them that one thread has started (`own`), have arguments apart
    /// from one another, with the bytes.
    pub fn distinct(&self, own: bool) -> Vec<(TemplateId, u64)> {
        let model = self.model;
        let mut found: BTreeMap<TemplateId, Option<u64>> = BTreeMap::new();
        for number in self.reached() {
            let context = &self.contexts[number as usize];
            let code = &model.program.templates[context.template];
            for (id, edge) in code.edges.enumerate() {
                let Some(facts) = &context.facts[edge.source] else { continue };
                let Some(Op::Spawn(_, arguments, _)) = edge.ops.first() else {
                    if edge.ops.iter().any(|op| matches!(op, Op::Spawn(..))) {
                        let started = &model.procedures[context.template].callees[id];
                        started.iter().for_each(|kind| {
                            found.insert(*kind, None);
                        });
                    }
                    continue;
                };
                for kind in &model.procedures[context.template].callees[id] {
                    let list =
                        facts.started.iter().find(|started| started.kind == *kind && started.own == own);
                    let numbers = Numbers { model, template: context.template };
                    let apart = match (list, arguments.first()) {
                        _ if *kind == context.kind => None,
                        (None, _) => facts.absent.binary_search(kind).is_ok().then_some(LARGEST_STRIDE),
                        (Some(list), _) if list.members.is_empty() => Some(LARGEST_STRIDE),
                        (Some(list), Some(argument)) => {
                            let apart = numbers.apart(facts, &list.members, argument);
                            apart.filter(|(_, offset)| *offset == 0).map(|(stride, _)| stride)
                        }
                        (Some(_), None) => None,
                    };
                    let entry = found.entry(*kind).or_insert(Some(LARGEST_STRIDE));
                    *entry = entry.and_then(|known| Some(known.min(apart?)));
                }
            }
        }
        for (kind, _) in model.program.start.iter().filter(|_| !own) {
            found.remove(kind);
        }
        found.into_iter().filter_map(|(kind, apart)| Some((kind, apart?))).collect()
    }

    /// The kinds of which at most one thread, or one of those that one thread has started (`own`), is alive
    /// at any time: each is started where there is none.
    pub fn alone(&self, own: bool) -> BTreeSet<TemplateId> {
        let model = self.model;
        let mut found: BTreeSet<TemplateId> = model.kinds.iter().copied().collect();
        for number in self.reached() {
            let context = &self.contexts[number as usize];
            let code = &model.program.templates[context.template];
            for (id, edge) in code.edges.enumerate() {
                let Some(facts) = &context.facts[edge.source] else { continue };
                let is_start = |op: &Op| matches!(op, Op::Spawn(..));
                if !edge.ops.iter().any(is_start) {
                    continue;
                }
                let is_first = edge.ops.first().is_some_and(is_start) && !edge.ops[1..].iter().any(is_start);
                for kind in &model.procedures[context.template].callees[id] {
                    let is_none = |started: &Started| started.kind == *kind && is_none(started);
                    let is_absent = facts.absent.binary_search(kind).is_ok();
                    let fits = is_absent || (own && facts.started.iter().any(is_none));
                    if !is_first || !fits || *kind == context.kind {
                        found.remove(kind);
                    }
                }
            }
        }
        let copies = |kind: TemplateId| {
            let of_kind = model.program.start.iter().filter(move |(template, _)| *template == kind);
            of_kind.map(|(_, count)| match count {
                Count::Exactly(copies) => u64::from(*copies),
                Count::Any => 2,
            })
        };
        found.retain(|kind| own || copies(*kind).sum::<u64>() <= 1);
        found
    }

    fn remove_present(&mut self, reached: &[u32]) -> bool {
        let starts = self.starts(reached);
        let mut known: FxHashMap<(TemplateId, Vec<TemplateId>), Vec<TemplateId>> = FxHashMap::default();
        let mut changed = Vec::new();
        for number in reached {
            let context = &mut self.contexts[*number as usize];
            let own = context.kind;
            let is_once = self.model.once[own];
            for location in context.facts.ids() {
                let Some(facts) = &mut context.facts[location] else { continue };
                let reduced = known.entry((own, facts.absent.clone())).or_insert_with(|| {
                    let mut absent = facts.absent.clone();
                    loop {
                        let is_kept =
                            |kind: &TemplateId| is_left_alone(&starts, *kind, (own, is_once), &absent);
                        let kept: Vec<TemplateId> =
                            absent.iter().filter(|kind| is_kept(kind)).copied().collect();
                        if kept.len() == absent.len() {
                            return absent;
                        }
                        absent = kept;
                    }
                });
                if reduced.len() != facts.absent.len() {
                    facts.absent.clone_from(reduced);
                    changed.push((*number, location));
                }
                let listed = facts.started.len();
                let absent = &facts.absent;
                // Nobody else starts a thread's own.
                facts.started.retain(|started| {
                    started.own || is_left_alone(&starts, started.kind, (own, is_once), absent)
                });
                if facts.started.len() != listed {
                    changed.push((*number, location));
                }
            }
        }
        changed.iter().for_each(|(number, location)| self.reopen(*number, *location));
        !changed.is_empty()
    }

    /// Takes out kinds that are absent before a call, and that others may start meanwhile; says whether there
    /// were any.
    fn remove_present_after_calls(&mut self, reached: &[u32]) -> bool {
        let starts = self.starts(reached);
        let throughout = self.throughout(reached);
        let mut lost: Vec<(u32, EdgeId, TemplateId)> = Vec::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let own = (context.kind, self.model.once[context.kind]);
            for Call { edge, callee, facts, .. } in self.calls_of(*number) {
                let during = &throughout[callee as usize];
                let callee = &self.contexts[callee as usize];
                let is_open = |kind: &&TemplateId| {
                    during.binary_search(kind).is_err()
                        && !callee.starts.contains(kind)
                        && !context.lost.contains(&(edge, **kind, true))
                };
                let absent = in_both(during, &facts.absent);
                let is_started = |kind: &&TemplateId| !is_left_alone(&starts, **kind, own, &absent);
                let kinds = facts.absent.iter().filter(is_open).filter(is_started);
                lost.extend(kinds.map(|kind| (*number, edge, *kind)));
            }
        }
        let is_changed = !lost.is_empty();
        for (number, edge, kind) in lost {
            self.contexts[number as usize].lost.insert((edge, kind, true));
            self.call_from_scratch(number, edge);
        }
        is_changed
    }

    /// The steps in reached contexts that may change the words of locks other than by taking them, or by
    /// giving back what is held.
    fn breaking(&self, reached: &[u32]) -> Vec<Breaking> {
        let mut found = Vec::new();
        let mut regions: FxHashMap<(u32, Option<u64>), Rc<Region>> = FxHashMap::default();
        let mut known = BTreeSet::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            let code = &self.model.program.templates[context.template];
            for (id, edge) in code.edges.enumerate() {
                let accesses = &self.model.procedures[context.template].accesses[id];
                if !accesses.iter().any(|access| access.write && !access.locks.is_empty()) {
                    continue;
                }
                let Some(facts) = &context.facts[edge.source] else { continue };
                for access in accesses.iter().filter(|access| access.write && !access.locks.is_empty()) {
                    let is_harmless = match &edge.ops[access.op] {
                        Op::Lock(..) => access.is_lock,
                        Op::Unlock(_, address) => {
                            let held = self.transfer.key(context.template, facts, address);
                            held.is_some_and(|(base, offset)| {
                                crate::equalities::lock_at(facts, base, offset).is_some()
                            })
                        }
                        Op::Free(_) => !self.model.program.reuses_addresses,
                        Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) => false,
                        Op::Allocate { .. } | Op::Fill(..) | Op::Copy(..) | Op::Call(..) => false,
                        Op::Broadcast(_) => false,
                    };
                    if is_harmless {
                        continue;
                    }
                    let is_fresh = self.is_fresh_access(context.template, facts, access);
                    let (number, bytes) = (access.places.number, access.bytes);
                    let only = match &edge.ops[access.op] {
                        Op::Unlock(_, address) => {
                            self.model.given_back(context.template, facts, (access.op, address))
                        }
                        _ => None,
                    };
                    if !known.insert((context.kind, facts.absent.clone(), number, bytes, is_fresh, only)) {
                        continue;
                    }
                    let region = match only {
                        Some(lock) => {
                            let target = self.model.lock_targets[lock as usize];
                            Rc::new(Region::exact(target.object, target.first, WORDS))
                        }
                        None => {
                            let region = regions.entry((number, bytes));
                            region.or_insert_with(|| Rc::new(access.region())).clone()
                        }
                    };
                    let locks = only.map_or_else(|| access.locks.clone(), |lock| [lock].into());
                    let absent = Rc::new(facts.absent.clone());
                    found.push(Breaking { by: context.kind, absent, region, locks, is_fresh });
                }
            }
        }
        found
    }

    /// Whether an access is at an address that is computed from a fresh local.
    pub fn is_fresh_access(&self, template: TemplateId, facts: &ThreadFacts, access: &Access) -> bool {
        let program = self.model.program;
        program.unordered.is_empty()
            && !access.is_lock
            && base(self.model, template, &access.address, &facts.fresh).is_some()
    }

    fn is_reliable(&self, holder: &Holder, breaking: &[Vec<Rc<Breaking>>]) -> bool {
        let claimed = self.transfer.claimed(holder.template, holder.base, holder.offset);
        let model = self.model;
        claimed.locks.iter().flat_map(|lock| &breaking[*lock as usize]).all(|step| {
            (step.by == holder.kind && model.once[holder.kind])
                || holder.absent.binary_search(&step.by).is_ok()
                || step.absent.binary_search(&holder.kind).is_ok()
                || step.is_fresh
                || (holder.is_fresh && model.program.unordered.is_empty())
                || !step.region.overlaps(&claimed.region)
                || self.is_kept_apart(&step.region, &claimed.region, None)
        })
    }

    /// Whether all bytes that two regions may have in common are in private objects, or in some that two
    /// kinds do not share.
    fn is_kept_apart(&self, one: &Region, other: &Region, kinds: Option<(TemplateId, TemplateId)>) -> bool {
        let (Some(mine), Some(theirs)) = (one.objects(), other.objects()) else { return false };
        let theirs: BTreeSet<_> = theirs.collect();
        mine.filter(|object| theirs.contains(object)).all(|object| {
            let are_apart = |(one, other)| self.model.are_of_two_teams(object, one, other);
            self.model.private[object] || kinds.is_some_and(are_apart)
        })
    }

    fn remove_broken_locks(&mut self, reached: &[u32]) -> Result<bool, Exhausted> {
        let mut by_lock: Vec<Vec<Rc<Breaking>>> =
            self.model.lock_targets.iter().map(|_| Vec::new()).collect();
        for step in self.breaking(reached) {
            let step = Rc::new(step);
            step.locks.iter().for_each(|lock| by_lock[*lock as usize].push(step.clone()));
        }
        let mut known: FxHashMap<Holder, bool> = FxHashMap::default();
        let mut broken: Vec<(u32, LocationId, Vec<LockFact>)> = Vec::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            for (location, facts) in context.facts.enumerate() {
                let Some(facts) = facts else { continue };
                let mut gone = Vec::new();
                for lock in &facts.locks {
                    let is_fresh = matches!(lock.base, LockBase::Local(local) if facts.fresh.binary_search(&local).is_ok());
                    let holder = Holder {
                        template: context.template,
                        kind: context.kind,
                        base: lock.base,
                        offset: lock.offset,
                        absent: facts.absent.clone(),
                        is_fresh,
                    };
                    let is_reliable = match known.get(&holder) {
                        Some(known) => *known,
                        None => {
                            let found = self.is_reliable(&holder, &by_lock);
                            known.insert(holder, found);
                            found
                        }
                    };
                    if !is_reliable {
                        gone.push(*lock);
                    }
                }
                if !gone.is_empty() {
                    broken.push((*number, location, gone));
                }
            }
        }
        let calls = self.broken_during_calls(reached, &by_lock);
        let changed = !broken.is_empty() || !calls.is_empty();
        for (number, location, gone) in broken {
            if let Some(facts) = &mut self.contexts[number as usize].facts[location] {
                facts.locks.retain(|lock| !gone.contains(lock));
            }
            self.reopen(number, location);
        }
        for (number, edge, lock) in calls {
            self.contexts[number as usize].broken.insert((edge, lock));
            self.call_from_scratch(number, edge);
        }
        Ok(changed)
    }

    /// The claims that survive a call without being known at the callee's end, and that others may break
    /// meanwhile.
    fn broken_during_calls(
        &self,
        reached: &[u32],
        by_lock: &[Vec<Rc<Breaking>>],
    ) -> Vec<(u32, EdgeId, LockFact)> {
        let throughout = self.throughout(reached);
        let mut found = Vec::new();
        for number in reached {
            let context = &self.contexts[*number as usize];
            for Call { edge, callee, facts, target } in self.calls_of(*number) {
                let kept = context.facts[target].as_ref();
                for lock in &facts.locks {
                    let survives = kept.is_some() && self.survives(callee, context.template, lock);
                    if !survives || context.broken.contains(&(edge, *lock)) {
                        continue;
                    }
                    let absent = in_both(&throughout[callee as usize], &facts.absent);
                    let holder = Holder {
                        template: context.template,
                        kind: context.kind,
                        base: lock.base,
                        offset: lock.offset,
                        absent,
                        is_fresh: false,
                    };
                    if !self.is_reliable(&holder, by_lock) {
                        found.push((*number, edge, *lock));
                    }
                }
            }
        }
        found
    }

    /// The kinds that are absent at all locations of each context, and of those that it calls.
    pub(crate) fn throughout(&self, reached: &[u32]) -> Vec<Vec<TemplateId>> {
        let mut found: Vec<Vec<TemplateId>> =
            self.contexts.iter().map(|_| self.model.kinds.clone()).collect();
        for number in reached {
            for facts in self.contexts[*number as usize].facts.iter().flatten() {
                found[*number as usize].retain(|kind| facts.absent.binary_search(kind).is_ok());
            }
        }
        loop {
            let mut changed = false;
            for number in reached {
                let context = &self.contexts[*number as usize];
                let code = &self.model.program.templates[context.template];
                for ((edge, _), callee) in &context.calls {
                    if matches!(code.edges[*edge].ops.last(), Some(Op::Call(..))) {
                        let inner = found[*callee as usize].clone();
                        let outer = &mut found[*number as usize];
                        let before = outer.len();
                        outer.retain(|kind| inner.binary_search(kind).is_ok());
                        changed |= outer.len() != before;
                    }
                }
            }
            if !changed {
                return found;
            }
        }
    }
}
