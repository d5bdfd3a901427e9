//! Calls, returns and starts of threads: what is known on both sides.
//!
//! Into a callee go the values of its arguments, and what is known of the thread as a whole. From its end
//! come back: absent kinds, handles that were set, and locks and fresh objects that the end names by a
//! parameter which is never assigned, or by the result. The caller keeps what the callee cannot change: its
//! locals, the objects that it owns and did not pass, and locks that the callee does not give back and that
//! no other thread can break during the whole call.

use super::integers::{Int, Integers};
use super::owned::{check_entry, is_constant};
use super::regions::{Region, meet};
use super::started::{KnownHandle, KnownRange, Listed, Placed, is_none};
use super::state::{Held, Known, Stepper, Unfounded, base_local, holds};
use super::symbols::{Symbol, Values};
use super::view::{Standing, View, claim};
use crate::ProofError;
use ir::{EdgeId, Expr, Lhs, LocalId, LocationKind, Op, Storage, TemplateId};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{Handle, Index, LockBase, LockFact, Row, Started, ThreadFacts};

/// Where calls lead to more ends, nothing is taken over of what these list.
const MOST_ENDS: usize = 100;

/// A step that calls or starts.
pub struct Call<'o> {
    /// The edge.
    pub edge: EdgeId,
    /// Whether it is the last operation there.
    pub is_last: bool,
    /// The arguments.
    pub arguments: &'o [Expr],
    /// Where the result, or the id, goes.
    pub lhs: &'o Option<Lhs>,
}

/// A claim that does not follow: at the entry of a context, or that there is such a context.
pub struct Broken {
    /// The context.
    pub context: usize,
    /// What is wrong.
    pub what: Unfounded,
}

impl<'v, 'a> Stepper<'v, 'a> {
    /// The arguments that are addresses into owned objects. What goes into others in another way is given up.
    fn passed(&self, known: &mut Known<'a>, arguments: &[Expr]) -> Result<Vec<Option<LocalId>>, ProofError> {
        let owner = self.owner();
        for argument in arguments {
            if owner.source(&known.owned, argument)?.is_none() {
                owner.leak_value(&mut known.owned, argument)?;
            }
        }
        arguments.iter().map(|argument| owner.source(&known.owned, argument)).collect()
    }

    fn callees(&self, edge: EdgeId) -> Result<Vec<(TemplateId, usize)>, ProofError> {
        let view = self.view;
        let mut found = Vec::new();
        for callee in &view.steps[self.template][edge].callees {
            let Some(context) = view.callee_context(self.context, edge, *callee) else {
                let source = view.program.templates[self.template].edges[edge].source;
                return claim(format!("{} leaves out a callee", view.at(self.context, source)));
            };
            found.push((*callee, context));
        }
        Ok(found)
    }

    /// Claims at the entry of a callee, or of a new thread (`new`: the kinds that are absent for it), that
    /// do not follow, but for locks and fresh locals.
    fn unfounded_at_entry(
        &self,
        known: &Known<'a>,
        (callee, context): (TemplateId, usize),
        facts: &ThreadFacts,
        arguments: &[Expr],
        new: Option<&BTreeSet<TemplateId>>,
    ) -> Result<(Vec<Unfounded>, Values<'a>), ProofError> {
        let symbols: Vec<Option<Symbol>> =
            arguments.iter().map(|argument| known.values.eval(argument)).collect();
        let mut values = Values::entered(self.view.program, callee, symbols);
        let scope = self.view.scope(callee);
        for cell in 0..scope.cells.len() {
            let value = known.values.local(self.view.scope(self.template).local(cell));
            values.set(scope.local(cell), Some(value));
        }
        let integers =
            known.integers.of_callee(scope, &self.integer_arguments(known, callee, arguments), None);
        let code = &self.view.program.templates[callee];
        for (local, argument) in code.locals.ids().take(code.parameters).zip(arguments) {
            let is_same = self.view.program.type_of(self.template, argument) == code.locals[local].ty;
            values.set_number(local, known.values.number(argument).filter(|_| is_same));
        }
        let mask = super::symbols::mask(self.view.program);
        let mut found = Vec::new();
        for (number, (local, other, constant)) in facts.equal.iter().enumerate() {
            if values.local(*local) != values.local(*other).plus(*constant, mask) {
                found.push(Unfounded::Equal(number));
            }
        }
        for (local, kind) in &facts.ids {
            let parameters = self.view.program.templates[callee].parameters;
            let argument = arguments.get(local.0 as usize).filter(|_| (local.0 as usize) < parameters);
            let ids = match argument {
                Some(argument) => self.id_of(known, argument)?,
                None => Vec::new(),
            };
            if !ids.contains(kind) {
                found.push(Unfounded::Id(*local, *kind));
            }
        }
        let follows = |(one, two): &(Index, Index)| {
            new.is_none() && integers.at_most(integers.index(*one), integers.index(*two))
        };
        let open = facts.order.iter().enumerate().filter(|(_, order)| !follows(order));
        found.extend(open.map(|(number, _)| Unfounded::Order(number)));
        found.extend(facts.placed.iter().map(|(local, _, _)| Unfounded::Placed(*local)));
        for (number, word) in facts.words.iter().enumerate() {
            if self.words.is_usable(context, code.entry, word)? {
                found.push(Unfounded::Word(number));
            }
        }
        // A new thread has started none.
        let in_frame = |started: &Started| {
            let rows = started.members.iter().flat_map(|members| {
                let handle = match members.handle {
                    Some(Handle::Memory(row)) => Some(row),
                    Some(Handle::Local(_)) | None => None,
                };
                handle.into_iter().chain(members.argument)
            });
            rows.map(|row| row.base).any(|base| match base {
                LockBase::Object(object) => self.view.is_of_frame(callee, object),
                LockBase::Local(_) => false,
            })
        };
        let terms = (&values, &integers, &known.placed);
        let is_known = |started: &Started| {
            let is_listed = || new.is_none() && !in_frame(started) && self.is_listed(known, terms, started);
            (is_none(started) && (new.is_some() || self.has_no_own(known, started.kind))) || is_listed()
        };
        let unknown = facts.started.iter().filter(|started| !is_known(started));
        found.extend(unknown.map(|started| Unfounded::Started((started.kind, started.own))));
        let absent = new.unwrap_or(&known.absent);
        found.extend(
            facts.absent.iter().filter(|kind| !absent.contains(kind)).map(|kind| Unfounded::Absent(*kind)),
        );
        Ok((found, values))
    }

    /// Follows a start. Returns what is wrong at the entry of new threads.
    pub fn spawn(&self, known: &mut Known<'a>, call: &Call<'_>) -> Result<Vec<Broken>, ProofError> {
        let view = self.view;
        let mut broken = Vec::new();
        let passed = self.passed(known, call.arguments)?;
        let entry = view.program.templates[self.template].entry;
        let here = view.facts(self.context, entry).map_or(&[][..], |facts| &facts.fresh);
        let given = self.owner().hand_over(&known.owned, call.arguments, here, (call.edge, call.is_last))?;
        self.hand_over_locks(known, &passed)?;
        let mut others = known.absent.clone();
        others.remove(&self.kind);
        for (callee, context) in self.callees(call.edge)? {
            let entry = view.program.templates[callee].entry;
            let mut add = |what: Unfounded| broken.push(Broken { context, what });
            let Some(facts) = view.facts(context, entry) else {
                add(Unfounded::Unreached);
                continue;
            };
            let (found, _) =
                self.unfounded_at_entry(known, (callee, context), facts, call.arguments, Some(&others))?;
            found.into_iter().for_each(&mut add);
            let code = &view.program.templates[callee];
            for (local, offset) in &facts.argument {
                let is_first = *local == LocalId(0) && code.parameters > 0 && !call.arguments.is_empty();
                if !is_first || *offset != 0 {
                    add(Unfounded::Argument(*local));
                }
            }
            facts.set.iter().for_each(|handle| add(Unfounded::Set(*handle)));
            facts.numbers.iter().for_each(|(local, _)| add(Unfounded::Number(*local)));
            for (number, lock) in facts.locks.iter().enumerate() {
                if self.locks.is_usable(context, entry, number) {
                    add(Unfounded::Lock(*lock));
                }
            }
            if !check_entry(view, callee, (call.arguments, &given), &facts.fresh)? {
                facts.fresh.first().into_iter().for_each(|local| add(Unfounded::Fresh(*local)));
            }
        }
        for local in passed.into_iter().flatten() {
            if known.owned.locals.contains(&local) {
                self.owner().leak(&mut known.owned, local)?;
            }
        }
        for kind in &view.steps[self.template][call.edge].callees {
            known.absent.remove(kind);
        }
        if let Some(Lhs::Local(local)) = call.lhs {
            known.owned.forget(*local);
            let kinds: Vec<TemplateId> = self.started_kind(call.edge).into_iter().collect();
            self.assign(known, *local, None, &kinds);
        }
        Ok(broken)
    }

    /// What is said of memory that a new thread may own now: it may write there, whatever lock is held in it.
    fn hand_over_locks(&self, known: &mut Known<'a>, passed: &[Option<LocalId>]) -> Result<(), ProofError> {
        for local in passed.iter().flatten() {
            let sites = self.view.sites(self.template, *local)?;
            let is_other =
                |region: &Region| region.iter().all(|target| sites.binary_search(&target.object).is_err());
            known.locks.retain(|held| is_other(&held.region));
            known.words.retain(|word| is_other(&word.region));
        }
        Ok(())
    }

    /// Follows a call, to where it returns; `None` when it never does. Returns what is wrong at the entry
    /// of callees.
    pub fn call(
        &self,
        mut known: Known<'a>,
        call: &Call<'_>,
        during: &[Standing],
    ) -> Result<(Option<Known<'a>>, Vec<Broken>), ProofError> {
        let view = self.view;
        let mut broken = Vec::new();
        let passed = self.passed(&mut known, call.arguments)?;
        let given: Vec<Option<bool>> = passed.iter().map(|local| local.map(|_| true)).collect();
        let callees = self.callees(call.edge)?;
        for (callee, context) in &callees {
            let entry = view.program.templates[*callee].entry;
            let mut add = |what: Unfounded| broken.push(Broken { context: *context, what });
            let Some(facts) = view.facts(*context, entry) else {
                add(Unfounded::Unreached);
                continue;
            };
            let (found, values) =
                self.unfounded_at_entry(&known, (*callee, *context), facts, call.arguments, None)?;
            found.into_iter().for_each(&mut add);
            super::started::unfounded_argument(&values, facts).into_iter().for_each(&mut add);
            super::state::unfounded_numbers(&values, facts).into_iter().for_each(&mut add);
            let is_unset = |handle: &&u32| !known.set.contains(handle);
            facts.set.iter().filter(is_unset).for_each(|handle| add(Unfounded::Set(*handle)));
            let inside = Known { values, ..known.clone() };
            for (number, lock) in facts.locks.iter().enumerate() {
                if self.locks.is_usable(*context, entry, number) && !holds(&inside, lock) {
                    add(Unfounded::Lock(*lock));
                }
            }
            if !check_entry(view, *callee, (call.arguments, &given), &facts.fresh)? {
                facts.fresh.first().into_iter().for_each(|local| add(Unfounded::Fresh(*local)));
            }
        }
        let returned = self.returned(known, call, &passed, &callees, during)?;
        Ok((returned, broken))
    }

    /// What is known where a call returns.
    fn returned(
        &self,
        mut known: Known<'a>,
        call: &Call<'_>,
        passed: &[Option<LocalId>],
        callees: &[(TemplateId, usize)],
        during: &[Standing],
    ) -> Result<Option<Known<'a>>, ProofError> {
        let view = self.view;
        let mut ends: Vec<(TemplateId, usize, &ThreadFacts, Vec<LockFact>)> = Vec::new();
        for (callee, context) in callees {
            for (location, facts) in view.ends(*context, LocationKind::End) {
                let usable = facts.locks.iter().enumerate();
                let usable = usable.filter(|(number, _)| self.locks.is_usable(*context, location, *number));
                ends.push((*callee, *context, facts, usable.map(|(_, lock)| *lock).collect()));
            }
        }
        let Some((first, rest)) = ends.split_first() else { return Ok(None) };
        let mut stays = std::mem::take(&mut known.absent);
        stays.retain(|kind| {
            callees.iter().all(|(_, context)| {
                let standing = Standing { kind: self.kind, absent: during[*context].absent };
                view.proof.contexts[*context].starts.binary_search(kind).is_err()
                    && !self.is_started_by_others(*kind, standing)
            })
        });
        known.absent = first.2.absent.iter().copied().collect();
        let mut set: BTreeSet<u32> = first.2.set.iter().copied().collect();
        for (_, _, facts, _) in rest {
            known.absent.retain(|kind| facts.absent.binary_search(kind).is_ok());
            set.retain(|handle| facts.set.binary_search(handle).is_ok());
        }
        known.absent.extend(stays);
        known.set.extend(set);
        let of_ends: Vec<&ThreadFacts> = ends.iter().map(|(_, _, facts, _)| *facts).collect();
        let before = known.clone();
        let scope = view.scope(self.template);
        for cell in 0..scope.cells.len() {
            let is_kept = callees.iter().all(|(_, context)| {
                let standing = Standing { kind: self.kind, absent: during[*context].absent };
                view.proof.contexts[*context].writes.binary_search(&(cell as u32)).is_err()
                    && self.cell_writes.are_left_alone(view, cell, standing)
            });
            if !is_kept {
                self.write_cell(&mut known, cell, (None, None));
            }
        }
        let listed = self.listed_at_ends(&before, &known, call, &ends)?;
        self.return_started(&mut known, callees, &of_ends, during, listed);
        let lhs = match call.lhs {
            Some(Lhs::Local(local)) => Some(*local),
            Some(Lhs::Memory(_)) => return claim("the result of a call goes to memory"),
            None => None,
        };
        // The caller's locks that stay.
        known.locks.retain(|held| {
            callees.iter().all(|(_, context)| {
                let standing = Standing { kind: self.kind, absent: during[*context].absent };
                let releases = &view.proof.contexts[*context].releases;
                !meet(&held.region, Some(4), releases, Some(4))
                    && self.locks.is_reliable(&held.region, standing, false)
            })
        });
        self.return_words(&mut known, call, callees, during)?;
        let ids = self.returned_ids(&ends);
        let mut gained: Option<Vec<Held>> = None;
        let result = lhs.and_then(|lhs| self.place_of_result(&mut known, lhs, &ids));
        for (callee, _, _, locks) in &ends {
            let carried = self.carried(&known, *callee, locks, call, lhs.zip(result))?;
            gained = Some(match gained {
                None => carried,
                Some(before) => before
                    .into_iter()
                    .filter_map(|mut held| {
                        let same = |other: &&Held| other.address == held.address;
                        let found: Vec<&Held> = carried.iter().filter(same).collect();
                        held.shared |= !found.iter().any(|other| !other.shared);
                        (!found.is_empty()).then_some(held)
                    })
                    .collect(),
            });
        }
        known.locks.extend(gained.into_iter().flatten());
        self.return_owned(&mut known, passed, &ends, lhs)?;
        Ok(Some(known))
    }

    /// The integers that parameters get.
    fn integer_arguments(
        &self,
        known: &Known<'a>,
        callee: TemplateId,
        arguments: &[Expr],
    ) -> Vec<Option<Int>> {
        let code = &self.view.program.templates[callee];
        let passed = code.locals.ids().take(code.parameters).zip(arguments);
        let of = |(local, argument): (LocalId, &Expr)| {
            let is_same = self.view.program.type_of(self.template, argument) == code.locals[local].ty;
            known.integers.eval(argument).filter(|_| is_same)
        };
        passed.map(of).collect()
    }

    /// The threads that all ends of callees list, or of which there are none, in terms of the caller: of what
    /// it passed (`before`), and of cells as they are now.
    fn listed_at_ends(
        &self,
        before: &Known<'a>,
        now: &Known<'a>,
        call: &Call<'_>,
        ends: &[(TemplateId, usize, &ThreadFacts, Vec<LockFact>)],
    ) -> Result<BTreeMap<Listed, Vec<KnownRange>>, ProofError> {
        let view = self.view;
        let mut found: BTreeMap<Listed, Vec<KnownRange>> = BTreeMap::new();
        let lists = ends.iter().flat_map(|(_, _, facts, _)| &facts.started);
        let lists: BTreeSet<Listed> = lists.map(|started| (started.kind, started.own)).collect();
        if lists.is_empty() || ends.len() > MOST_ENDS {
            return Ok(found);
        }
        for list in &lists {
            found.insert(*list, Vec::new());
        }
        for (number, (callee, _, facts, _)) in ends.iter().enumerate() {
            let symbols = call.arguments.iter().map(|argument| before.values.eval(argument)).collect();
            let mut values = Values::entered(view.program, *callee, symbols);
            let is_kept = |local: LocalId| {
                (local.0 as usize) < view.program.templates[*callee].parameters
                    && is_constant(view, *callee, local)
            };
            let scope = view.scope(*callee);
            let locals = view.program.templates[*callee].locals.ids();
            locals.filter(|local| !is_kept(*local)).for_each(|local| values.set(local, None));
            for cell in 0..scope.cells.len() {
                let value = now.values.local(view.scope(self.template).local(cell));
                values.set(scope.local(cell), Some(value));
            }
            let given = self.integer_arguments(before, *callee, call.arguments);
            let integers = now.integers.of_callee(scope, &given, Some((number as u32, &is_kept)));
            for list in &lists {
                let is_it = |started: &&Started| (started.kind, started.own) == *list;
                match facts.started.iter().find(is_it) {
                    Some(started) => {
                        let ranges = self.ranges(*callee, started, (&values, &integers, &before.placed))?;
                        if let Some(known) = found.get_mut(list) {
                            known.extend(ranges);
                        }
                    }
                    None if facts.absent.binary_search(&list.0).is_ok() => {}
                    None => {
                        found.remove(list);
                    }
                }
            }
        }
        Ok(found)
    }

    /// The threads of a list of a callee, in terms of its caller.
    fn ranges(
        &self,
        callee: TemplateId,
        started: &Started,
        (values, integers, placed): (&Values<'a>, &Integers<'a>, &Placed),
    ) -> Result<Vec<KnownRange>, ProofError> {
        let view = self.view;
        // Its frame is gone.
        let is_there = |row: &Row| match row.base {
            LockBase::Object(object) => !view.is_of_frame(callee, object),
            LockBase::Local(_) => true,
        };
        let mut found = Vec::new();
        for members in &started.members {
            let mut handles = Vec::new();
            if let Some(Handle::Memory(row)) = members.handle
                && is_there(&row)
                && let Some(region) = view.row_region(callee, row)?
                && !region.iter().any(|target| view.is_of_frame(callee, target.object))
            {
                handles.push(KnownHandle::Memory(self.row(values, placed, row), region));
            }
            found.push(KnownRange {
                handles,
                argument: members.argument.filter(is_there).map(|row| self.row(values, placed, row)),
                from: members.from.iter().map(|index| integers.index(*index)).collect(),
                below: members.below.iter().map(|index| integers.index(*index)).collect(),
            });
        }
        Ok(found)
    }

    /// Leaves out the words that a callee may write, or others meanwhile.
    fn return_words(
        &self,
        known: &mut Known<'a>,
        call: &Call<'_>,
        callees: &[(TemplateId, usize)],
        during: &[Standing],
    ) -> Result<(), ProofError> {
        let target = self.view.program.templates[self.template].edges[call.edge].target;
        let mut kept = Vec::new();
        for word in std::mem::take(&mut known.words) {
            let Some(claim) = word.claim else { continue };
            let mut is_kept = true;
            for (_, context) in callees {
                let standing = Standing { kind: self.kind, absent: during[*context].absent };
                is_kept &= !self.words.is_written(*context, &word.region)
                    && self.words.is_kept((self.template, &claim), standing, target)?;
            }
            if is_kept {
                kept.push(word);
            }
        }
        known.words = kept;
        Ok(())
    }

    /// The kinds whose id all ends have as their result.
    fn returned_ids(&self, ends: &[(TemplateId, usize, &ThreadFacts, Vec<LockFact>)]) -> Vec<TemplateId> {
        let has = |(callee, _, facts, _): &(TemplateId, usize, &ThreadFacts, Vec<LockFact>),
                   kind: TemplateId| {
            let result = self.view.program.templates[*callee].result;
            result.is_some_and(|result| facts.ids.binary_search(&(result, kind)).is_ok())
        };
        let kinds = self.view.proof.once.iter().copied();
        kinds.filter(|kind| ends.iter().all(|end| has(end, *kind))).collect()
    }

    /// Gives the result its local, and names its value.
    fn place_of_result(&self, known: &mut Known<'a>, lhs: LocalId, ids: &[TemplateId]) -> Option<Symbol> {
        self.assign(known, lhs, None, ids);
        Some(known.values.local(lhs))
            .filter(|_| super::symbols::is_wide(self.view.program, self.template, lhs))
    }

    /// The locks that a callee's end names in a way that the caller understands.
    fn carried(
        &self,
        known: &Known<'a>,
        callee: TemplateId,
        locks: &[LockFact],
        call: &Call<'_>,
        result: Option<(LocalId, Symbol)>,
    ) -> Result<Vec<Held>, ProofError> {
        let view = self.view;
        let mask = super::symbols::mask(view.program);
        let code = &view.program.templates[callee];
        let mut found = Vec::new();
        for lock in locks {
            let region: Region = view.lock_region(callee, lock.base, lock.offset)?;
            let in_frame =
                |target: &ir::Target| view.program.objects[target.object].storage == Storage::Frame(callee);
            if region.iter().any(in_frame) {
                continue;
            }
            let base = match base_local(lock) {
                None => Some(known.values.lock(lock.base, 0)),
                Some(local) if code.result == Some(local) => result.map(|(_, symbol)| symbol),
                Some(local) if is_constant(view, callee, local) => {
                    let lhs = result.map(|(lhs, _)| lhs);
                    let argument = call.arguments.get(local.0 as usize);
                    // The result's local has another value now.
                    let argument = argument.filter(|value| !lhs.is_some_and(|lhs| value.mentions(lhs)));
                    argument.and_then(|argument| known.values.eval(argument))
                }
                Some(_) => None,
            };
            if let Some(base) = base {
                let address = base.plus(lock.offset, mask);
                found.push(Held { address, region, shared: lock.shared });
            }
        }
        Ok(found)
    }

    /// The objects that are owned where a call returns.
    fn return_owned(
        &self,
        known: &mut Known<'a>,
        passed: &[Option<LocalId>],
        ends: &[(TemplateId, usize, &ThreadFacts, Vec<LockFact>)],
        lhs: Option<LocalId>,
    ) -> Result<(), ProofError> {
        let (view, owner) = (self.view, self.owner());
        // Locals that hold addresses into objects that are not owned any more.
        let mut lost: Vec<LocalId> = Vec::new();
        for (index, local) in passed.iter().enumerate() {
            let (Some(local), Ok(index)) = (local, u32::try_from(index)) else { continue };
            let is_kept = ends.iter().all(|(callee, _, facts, _)| {
                let parameter = LocalId(index);
                is_constant(view, *callee, parameter) && facts.fresh.binary_search(&parameter).is_ok()
            });
            if !is_kept {
                lost.push(*local);
            }
        }
        let before = known.owned.locals.clone();
        for local in &lost {
            if known.owned.locals.contains(local) {
                owner.leak(&mut known.owned, *local)?;
            }
        }
        let Some(lhs) = lhs else { return Ok(()) };
        known.owned.forget(lhs);
        let is_fresh = |(callee, _, facts, _): &(TemplateId, usize, &ThreadFacts, Vec<LockFact>)| {
            let result = view.program.templates[*callee].result;
            result.is_some_and(|result| facts.fresh.binary_search(&result).is_ok())
        };
        if !ends.iter().any(is_fresh) {
            return Ok(());
        }
        let mut is_owned =
            ends.iter().all(is_fresh) && super::symbols::is_wide(view.program, self.template, lhs);
        // A local that was lost may hold the same address as the result, unless the result is put there.
        for local in lost.iter().filter(|local| **local != lhs) {
            is_owned &= !view.share((self.template, *local), (self.template, lhs))?;
        }
        // So may copies of what was lost.
        for local in before.iter().filter(|local| lost.contains(&lhs) && **local != lhs) {
            is_owned &= !view.share((self.template, *local), (self.template, lhs))?;
        }
        known.owned.locals.insert(lhs);
        if !is_owned {
            owner.leak(&mut known.owned, lhs)?;
        }
        Ok(())
    }
}

/// What is absent at all locations of each context and of all that it calls.
pub fn absent_during(view: &View<'_>) -> Vec<Vec<TemplateId>> {
    let mut absent: Vec<Vec<TemplateId>> = Vec::new();
    let mut calls: Vec<Vec<usize>> = Vec::new();
    for (_, context) in view.contexts() {
        let code = &view.program.templates[context.template];
        let mut facts = context.facts.iter().flatten();
        let mut common = facts.next().map_or(Vec::new(), |facts| facts.absent.clone());
        facts.for_each(|facts| common.retain(|kind| facts.absent.binary_search(kind).is_ok()));
        absent.push(common);
        let is_call = |edge: &EdgeId| {
            code.edges.get(*edge).is_some_and(|edge| matches!(edge.ops.last(), Some(Op::Call(..))))
        };
        let called = context.calls.iter().filter(|(edge, _, _)| is_call(edge));
        calls.push(called.map(|(_, _, callee)| *callee as usize).collect());
    }
    loop {
        let mut changed = false;
        for (number, called) in calls.iter().enumerate() {
            for callee in called {
                let inner = absent[*callee].clone();
                let before = absent[number].len();
                absent[number].retain(|kind| inner.binary_search(kind).is_ok());
                changed |= absent[number].len() < before;
            }
        }
        if !changed {
            return absent;
        }
    }
}
