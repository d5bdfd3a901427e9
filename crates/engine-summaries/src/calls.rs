//! Calls, returns and starts of threads: what callees and new threads know at their entry, and what callers
//! know afterwards.
//!
//! Facts about values go by parameters and results: a lock is translated to what an argument, a parameter
//! or the result names it by; a local that is passed on as an argument of its own stays owned if the
//! callee's end still lists the parameter. Under-approximates what is known.

use crate::analysis::Analysis;
use crate::contexts::{Context, FollowedCall};
use crate::equalities::{self, leader};
use crate::facts::{disown, insert, meet, own};
use crate::indices;
use crate::members::from_argument;
use crate::model::WORDS;
use crate::numbers::Numbers;
use crate::ownership::{base, is_null, is_owned, leaked};
use crate::passed::Passed;
use crate::teams::{is_none, none_started};
use crate::words;
use ir::ids::Id;
use ir::passes::footprint::{Extent, Region};
use ir::{EdgeId, Expr, Lhs, LocalId, LocationId, Op, Targets, TemplateId};
use std::sync::Arc;
use verdict::{Handle, LockBase, LockFact, ThreadFacts};

/// A call in a context, at a location that is reached.
pub struct Call<'a> {
    /// The edge.
    pub edge: EdgeId,
    /// The context that it enters.
    pub callee: u32,
    /// What is known before it.
    pub facts: &'a ThreadFacts,
    /// The location after it.
    pub target: LocationId,
}

/// The kinds in both of two sorted lists.
pub fn in_both(one: &[TemplateId], other: &[TemplateId]) -> Vec<TemplateId> {
    one.iter().filter(|kind| other.binary_search(kind).is_ok()).copied().collect()
}

impl Analysis<'_, '_> {
    /// The calls in a context; starts of threads are none.
    pub(crate) fn calls_of(&self, number: u32) -> impl Iterator<Item = Call<'_>> {
        let context = &self.contexts[number as usize];
        let code = &self.model.program.templates[context.template];
        context.calls.iter().filter_map(|((edge, _), callee)| {
            let step = &code.edges[*edge];
            let facts = context.facts[step.source].as_ref()?;
            let is_call = matches!(step.ops.last(), Some(Op::Call(..)));
            is_call.then_some(Call { edge: *edge, callee: *callee, facts, target: step.target })
        })
    }

    /// Follows a call again, with all its callees: fewer facts survive it than before.
    pub(crate) fn call_from_scratch(&mut self, number: u32, edge: EdgeId) {
        let context = &mut self.contexts[number as usize];
        context.followed.remove(&edge);
        let source = self.model.program.templates[context.template].edges[edge].source;
        self.reopen(number, source);
    }

    /// The facts after a call, as far as the callees are known to return.
    pub(crate) fn call(
        &mut self,
        context: u32,
        edge: EdgeId,
        arguments: &[Expr],
        lhs: Option<&Lhs>,
        facts: &ThreadFacts,
    ) -> Option<ThreadFacts> {
        let model = self.model;
        let Context { template, kind, .. } = self.contexts[context as usize];
        let mut facts = facts.clone();
        // What is passed on other than as an argument of its own is lost.
        for argument in arguments {
            if !is_owned(model, template, argument, &facts.fresh) {
                self.transfer.publish(template, &mut facts, argument);
            }
        }
        let callees = &model.procedures[template].callees[edge];
        if let Some(followed) = self.contexts[context as usize].followed.remove(&edge)
            && followed.before == facts
        {
            return self.call_again(context, edge, (arguments, lhs), followed);
        }
        let mut after: Option<ThreadFacts> = None;
        let mut entered = Vec::new();
        for callee in callees {
            let entry = self.entry(template, *callee, arguments, &facts);
            let number = self.enter(*callee, kind, entry);
            let before = self.contexts[context as usize].calls.insert((edge, *callee), number);
            self.contexts[number as usize].callers.insert((context, edge));
            if let Some(before) = before.filter(|before| *before != number) {
                self.leave(before, (context, edge));
            }
            entered.push((number, self.contexts[number as usize].version));
            self.returns(context, edge, (*callee, number), (arguments, lhs), (&facts, &mut after));
        }
        if callees.len() > 1 {
            let followed = FollowedCall { before: facts, after: after.clone(), callees: entered };
            self.contexts[context as usize].followed.insert(edge, followed);
        }
        after
    }

    /// The same call again, with the same facts before it: only callees that have changed count, since facts
    /// only ever shrink.
    fn call_again(
        &mut self,
        context: u32,
        edge: EdgeId,
        call: (&[Expr], Option<&Lhs>),
        mut followed: FollowedCall,
    ) -> Option<ThreadFacts> {
        let FollowedCall { before, after, callees } = &mut followed;
        for (number, version) in callees {
            let callee = &self.contexts[*number as usize];
            if callee.version != *version {
                *version = callee.version;
                let callee = (callee.template, *number);
                self.returns(context, edge, callee, call, (before, after));
            }
        }
        let after = followed.after.clone();
        self.contexts[context as usize].followed.insert(edge, followed);
        after
    }

    /// What one callee of a call does: adds what is known when it has returned to what is known after the
    /// call.
    fn returns(
        &mut self,
        context: u32,
        edge: EdgeId,
        (callee, number): (TemplateId, u32),
        (arguments, lhs): (&[Expr], Option<&Lhs>),
        (before, after): (&ThreadFacts, &mut Option<ThreadFacts>),
    ) {
        if self.take_effects(context, number) {
            self.return_to_callers(context);
        }
        let Some(end) = self.end(number) else { return };
        let returned = self.returned(context, edge, (callee, number), arguments, lhs, before, &end);
        match after {
            Some(after) => {
                let template = self.contexts[context as usize].template;
                meet(self.model, template, after, &returned);
            }
            None => *after = Some(returned),
        }
    }

    /// What a callee may give back, start and store, its caller may; says whether that is more than before.
    fn take_effects(&mut self, caller: u32, callee: u32) -> bool {
        let Ok([this, callee]) = self.contexts.get_disjoint_mut([caller as usize, callee as usize]) else {
            // It calls itself.
            return false;
        };
        let started = this.starts.len();
        this.starts.extend(&callee.starts);
        let mut grew = this.starts.len() > started;
        grew |= this.releases.union_with(&callee.releases);
        grew |= this.stores.union_with(&callee.stores);
        grew |= this.writes.union_with(&callee.writes);
        grew
    }

    /// What holds where an activation in a context returns.
    pub fn end(&self, context: u32) -> Option<ThreadFacts> {
        let this = &self.contexts[context as usize];
        let mut found: Option<ThreadFacts> = None;
        for location in &self.model.procedures[this.template].ends {
            let Some(Some(facts)) = this.facts.get(*location) else { continue };
            match &mut found {
                Some(found) => {
                    meet(self.model, this.template, found, facts);
                }
                None => found = Some(facts.clone()),
            }
        }
        found
    }

    /// What a callee knows at its entry.
    fn entry(
        &self,
        template: TemplateId,
        callee: TemplateId,
        arguments: &[Expr],
        facts: &ThreadFacts,
    ) -> ThreadFacts {
        let model = self.model;
        let code = &model.program.templates[callee];
        let pointer = model.program.data_model.pointer();
        let mut entry = ThreadFacts {
            set: facts.set.clone(),
            absent: facts.absent.clone(),
            started: facts.started.iter().filter(|started| is_none(started)).cloned().collect(),
            ..ThreadFacts::default()
        };
        if model.procedures[callee].has_threads {
            let passed = Passed { model, caller: template, callee, arguments, before: facts };
            let lists = facts.started.iter().filter(|started| !is_none(started));
            lists.filter_map(|started| passed.to_callee(started)).for_each(|started| {
                insert(&mut entry.started, started);
            });
        }
        self.transfer.own_nulls(callee, &mut entry);
        let parameters = code.locals.ids().take(code.parameters);
        let wide = |local: &LocalId| code.locals[*local].ty.bits == pointer.bits;
        let passed: Vec<(LocalId, &Expr)> =
            parameters.zip(arguments).filter(|(local, _)| wide(local)).collect();
        let mut keys: Vec<(LocalId, LockBase, u64)> = Vec::new();
        for (local, argument) in &passed {
            if let Some((base, offset)) = self.transfer.key(template, facts, argument) {
                let first = keys.iter().find(|(_, other, _)| *other == base);
                if let Some((first, LockBase::Local(_), there)) = first {
                    equalities::set(model.program, &mut entry, *local, *first, offset.wrapping_sub(*there));
                }
                keys.push((*local, base, offset));
            }
            if let Some(kind) = self.transfer.thread_of(template, facts, argument) {
                insert(&mut entry.ids, (*local, kind));
            }
            if let Some(address) = self.transfer.key(template, facts, argument)
                && let Some(offset) = from_argument(model, facts, address)
            {
                insert(&mut entry.argument, (*local, offset));
            }
            if self.transfer.can_own(callee, *local) && is_owned(model, template, argument, &facts.fresh) {
                own(&mut entry, *local);
            }
        }
        for (local, argument) in code.locals.ids().take(code.parameters).zip(arguments) {
            let from = (template, facts.numbers.as_slice());
            if let Some(number) = indices::assigned(model, from, argument, (callee, local)) {
                indices::set(&mut entry, local, number);
            }
        }
        for lock in &facts.locks {
            if let LockBase::Object(_) = lock.base {
                equalities::add_lock(&mut entry, *lock);
            }
            // By a parameter, too, where that points to the object.
            if let Some((local, _, offset)) = keys.iter().find(|(_, base, _)| *base == lock.base) {
                let (leader, more) = leader(&entry, *local);
                let from = lock.offset.wrapping_sub(*offset).wrapping_add(more);
                let (base, offset) = (LockBase::Local(leader), model.wrap(i128::from(from)));
                if self.transfer.claimed(callee, base, offset).is_regular {
                    equalities::add_lock(&mut entry, LockFact { base, offset, shared: lock.shared });
                }
            }
        }
        entry
    }

    /// The facts after a call that has returned from one callee.
    #[allow(clippy::too_many_arguments)] // a call has this many parts
    fn returned(
        &self,
        context: u32,
        edge: EdgeId,
        (callee, number): (TemplateId, u32),
        arguments: &[Expr],
        lhs: Option<&Lhs>,
        facts: &ThreadFacts,
        end: &ThreadFacts,
    ) -> ThreadFacts {
        let model = self.model;
        let Context { template, ref broken, .. } = self.contexts[context as usize];
        let (caller, code) = (&model.program.templates[template], &model.program.templates[callee]);
        let mut after = facts.clone();
        after.absent.clone_from(&end.absent);
        // What the callee knows less of since others call it, too, stays as it was.
        let (starts, lost) = (&self.contexts[number as usize].starts, &self.contexts[context as usize].lost);
        let stays = |kind: &&TemplateId| !starts.contains(kind) && !lost.contains(&(edge, **kind, true));
        facts.absent.iter().filter(stays).for_each(|kind| insert(&mut after.absent, *kind));
        let passed = Passed { model, caller: template, callee, arguments, before: facts };
        let numbers = Numbers { model, template };
        for cell in 0..model.cells.len() {
            let is_written = self.contexts[number as usize].writes.contains(cell);
            if is_written || self.contexts[context as usize].lost_cells.contains(&(edge, cell as u32)) {
                numbers.forget_cell(&mut after, model.cell_local(template, cell));
            }
        }
        self.keep_started(context, edge, number, &mut after);
        for started in end.started.iter().filter(|started| !is_none(started)) {
            after.started.retain(|known| (known.kind, known.own) != (started.kind, started.own));
            passed.back(started).into_iter().for_each(|started| insert(&mut after.started, started));
        }
        for none in end.started.iter().filter(|started| is_none(started)) {
            after.started.retain(|started| !(started.own && started.kind == none.kind));
            insert(&mut after.started, none.clone());
        }
        end.set.iter().for_each(|set| insert(&mut after.set, *set));
        let locks = std::mem::take(&mut after.locks);
        let survives =
            |lock: &LockFact| self.survives(number, template, lock) && !broken.contains(&(edge, *lock));
        after.locks = locks.into_iter().filter(survives).collect();
        let Context { ref lost_words, .. } = self.contexts[context as usize];
        after.words.retain(|word| {
            !lost_words.contains(&(edge, word.base, word.offset))
                && !model.is_overwritten(callee, template, word)
        });
        for lock in self.handed_back(template, callee, arguments, facts, end) {
            equalities::add_lock(&mut after, lock);
        }
        // What the callee did not keep of its parameters.
        let assigned = &model.procedures[callee].assigned;
        let mut lost = Vec::new();
        for (parameter, argument) in code.locals.ids().take(code.parameters).zip(arguments) {
            let is_kept =
                end.fresh.binary_search(&parameter).is_ok() && !assigned.contains(parameter.index());
            if !is_kept && !is_null(argument) {
                leaked(argument, &facts.fresh, &mut lost);
            }
        }
        // Arguments that no parameter takes.
        arguments.iter().skip(code.parameters).for_each(|argument| leaked(argument, &facts.fresh, &mut lost));
        after.fresh.retain(|local| !lost.contains(local));
        disown(model, template, &mut after, lost.clone());
        if let Some(Lhs::Local(local)) = lhs {
            self.transfer.forget_local(&mut after, *local);
            let is_wide = caller.locals[*local].ty.bits == model.program.data_model.pointer().bits;
            if code.result.is_some_and(|result| !is_wide && end.fresh.binary_search(&result).is_ok()) {
                // A part of an address is not listed.
                disown(model, template, &mut after, vec![*local]);
            }
            if let Some(result) = code.result.filter(|_| is_wide) {
                if let Some((_, kind)) = end.ids.iter().find(|(known, _)| *known == result) {
                    insert(&mut after.ids, (*local, *kind));
                }
                let is_lost = lost.iter().any(|lost| model.may_share(template, *lost, *local));
                if end.fresh.binary_search(&result).is_ok()
                    && self.transfer.can_own(template, *local)
                    && !is_lost
                {
                    own(&mut after, *local);
                }
                let is_wide = code.locals[result].ty.bits == model.program.data_model.pointer().bits;
                let (leader, more) = leader(end, result);
                for lock in end.locks.iter().filter(|lock| is_wide && lock.base == LockBase::Local(leader)) {
                    let offset = model.wrap(i128::from(lock.offset.wrapping_sub(more)));
                    if self.transfer.claimed(template, LockBase::Local(*local), offset).is_regular {
                        let base = LockBase::Local(*local);
                        equalities::add_lock(&mut after, LockFact { base, offset, shared: lock.shared });
                    }
                }
            }
        }
        after
    }

    /// Leaves out what is not known any more, after a call, of threads that were started before.
    fn keep_started(&self, context: u32, edge: EdgeId, callee: u32, after: &mut ThreadFacts) {
        if after.started.is_empty() {
            return;
        }
        let Context { template, ref lost, .. } = self.contexts[context as usize];
        let Context { ref starts, ref stores, .. } = self.contexts[callee as usize];
        let absent = &after.absent;
        after.started.retain(|started| {
            !starts.contains(&started.kind)
                && (started.own
                    || (absent.binary_search(&started.kind).is_err()
                        && !lost.contains(&(edge, started.kind, true))))
        });
        let numbers = Numbers { model: self.model, template };
        for started in &mut after.started {
            let is_lost = lost.contains(&(edge, started.kind, false));
            for members in &mut started.members {
                let Some(Handle::Memory(row)) = members.handle else { continue };
                let region = numbers.region(row);
                let is_stored = stores.iter().any(|id| {
                    let target = self.model.id_targets[id];
                    let words =
                        Region { targets: Targets::Of(Arc::from([target])), extent: Extent::Bytes(WORDS) };
                    words.overlaps(&region)
                });
                if is_lost || is_stored {
                    members.handle = None;
                }
            }
        }
    }

    /// Whether a lock cannot be given back in a context.
    pub fn survives(&self, callee: u32, template: TemplateId, lock: &LockFact) -> bool {
        let releases = &self.contexts[callee as usize].releases;
        let claimed = self.transfer.claimed(template, lock.base, lock.offset);
        !claimed.locks.iter().any(|lock| releases.contains(*lock as usize))
    }

    /// The locks that are held at the end of a callee, as the caller names them. Those from the result are
    /// left out.
    pub fn handed_back(
        &self,
        template: TemplateId,
        callee: TemplateId,
        arguments: &[Expr],
        facts: &ThreadFacts,
        end: &ThreadFacts,
    ) -> Vec<LockFact> {
        let model = self.model;
        let code = &model.program.templates[callee];
        let pointer = model.program.data_model.pointer();
        let assigned = &model.procedures[callee].assigned;
        let mut found = Vec::new();
        for lock in &end.locks {
            if let LockBase::Object(_) = lock.base {
                found.push(*lock);
                continue;
            }
            let from_parameter =
                code.locals.ids().take(code.parameters).zip(arguments).find_map(|(local, argument)| {
                    let (leader, more) = leader(end, local);
                    let is_it = lock.base == LockBase::Local(leader)
                        && !assigned.contains(local.index())
                        && code.locals[local].ty.bits == pointer.bits;
                    let (base, offset) = self.transfer.key(template, facts, argument).filter(|_| is_it)?;
                    let offset = offset.wrapping_add(lock.offset).wrapping_sub(more);
                    Some((base, model.wrap(i128::from(offset))))
                });
            if let Some((base, offset)) = from_parameter
                && self.transfer.claimed(template, base, offset).is_regular
            {
                found.push(LockFact { base, offset, shared: lock.shared });
            }
        }
        found
    }

    /// A thread is started: its context is entered, and this one loses what it hands over.
    pub(crate) fn spawn(&mut self, context: u32, edge: EdgeId, arguments: &[Expr], facts: &mut ThreadFacts) {
        let model = self.model;
        let Context { template, kind, .. } = self.contexts[context as usize];
        let code = &model.program.templates[template];
        let target = code.edges[edge].target;
        for callee in &model.procedures[template].callees[edge] {
            let new = &model.program.templates[*callee];
            let started = none_started(&model.helpers, *callee);
            let mut entry = ThreadFacts { absent: facts.absent.clone(), started, ..ThreadFacts::default() };
            entry.absent.retain(|other| *other != kind);
            self.transfer.own_nulls(*callee, &mut entry);
            let pointer = model.program.data_model.pointer();
            if let Some(parameter) =
                new.locals.ids().next().filter(|_| new.parameters > 0 && !arguments.is_empty())
                && new.locals[parameter].ty.bits == pointer.bits
            {
                insert(&mut entry.argument, (parameter, 0));
            }
            if self.contexts[context as usize].starts.insert(*callee) {
                self.return_to_callers(context);
            }
            for (parameter, argument) in new.locals.ids().take(new.parameters).zip(arguments) {
                let Some(given) = base(model, template, argument, &facts.fresh) else {
                    if is_null(argument) && self.transfer.can_own(*callee, parameter) {
                        own(&mut entry, parameter);
                    }
                    continue;
                };
                let live = &model.procedures[template].live[target];
                let shares = |local: &LocalId| model.may_share(template, given, *local);
                let mut still_held = facts.fresh.iter().filter(|local| shares(local));
                let is_held = still_held.any(|local| live.contains(local.index()));
                let entered = self.contexts[context as usize].facts.get(code.entry).and_then(Option::as_ref);
                let is_callers = entered.is_some_and(|entered| {
                    let parameters = code.locals.ids().take(code.parameters);
                    parameters
                        .filter(|local| entered.fresh.binary_search(local).is_ok())
                        .any(|local| shares(&local))
                });
                let others = arguments.iter().filter(|other| *other != argument);
                let mut twice = Vec::new();
                others.for_each(|other| leaked(other, &facts.fresh, &mut twice));
                let is_twice = twice.iter().any(shares);
                if is_owned(model, template, argument, &facts.fresh)
                    && self.transfer.can_own(*callee, parameter)
                    && !is_held
                    && !is_callers
                    && !is_twice
                {
                    own(&mut entry, parameter);
                }
            }
            let number = self.enter(*callee, *callee, entry);
            self.contexts[number as usize].is_first = true;
            self.contexts[context as usize].calls.insert((edge, *callee), number);
        }
        // A new thread that owns memory may write there, whatever lock is held in it.
        for given in arguments.iter().filter_map(|argument| base(model, template, argument, &facts.fresh)) {
            let sites = &model.procedures[template].sites[given];
            let is_other = |region: &Region| {
                region
                    .objects()
                    .is_some_and(|mut objects| objects.all(|object| sites.binary_search(&object).is_err()))
            };
            facts.locks.retain(|lock| is_other(&model.lock_region(template, lock.base, lock.offset)));
            facts.words.retain(|word| is_other(&words::region(model, template, word)));
        }
        arguments.iter().for_each(|argument| self.transfer.publish(template, facts, argument));
        let started = &model.procedures[template].callees[edge];
        facts.absent.retain(|kind| !started.contains(kind));
    }

    pub(crate) fn store_id(
        &self,
        template: TemplateId,
        edge: EdgeId,
        lhs: Option<&Lhs>,
        facts: &mut ThreadFacts,
    ) {
        let Some(lhs) = lhs else { return };
        if let Lhs::Local(local) = lhs {
            self.transfer.forget_local(facts, *local);
        }
        let [kind] = self.model.procedures[template].callees[edge].as_slice() else { return };
        match lhs {
            Lhs::Local(local) => {
                let ty = self.model.program.templates[template].locals[*local].ty;
                if self.model.once[*kind] && ty.bits == self.model.program.data_model.pointer().bits {
                    insert(&mut facts.ids, (*local, *kind));
                }
            }
            Lhs::Memory(place) => {
                if let Some(handle) = self.transfer.handle_at(template, &place.address) {
                    insert(&mut facts.set, handle);
                }
            }
        }
    }
}
