//! Threads that are started and joined in loops: which ones of a kind may be alive, by number
//! ([`ThreadFacts::started`](verdict::ThreadFacts)).
//!
//! Only procedures that start or join threads keep such lists, and inequalities between their locals.
//! Numbers are those that handles and arguments are indexed with: `create(&t[i], f, &w[i])` starts thread
//! `i`. Under-approximates what is known.

use crate::equalities::resolve;
use crate::facts::insert;
use crate::model::{Access, Model};
use crate::numbers::{LARGEST, Linear, Numbers, constant, is_small, plus};
use ir::passes::footprint::{Extent, Region};
use ir::{Expr, LocalId, Op, Target, Targets, TemplateId};
use std::sync::Arc;
use verdict::{Handle, Index, LockBase, Numbered, Row, Started, ThreadFacts};

/// Bounds that are kept on each side of a range of numbers.
const MOST_BOUNDS: usize = 6;
/// Locals in rows that are kept.
const MOST_PLACED: usize = 16;
/// Ranges that are kept of each kind.
const MOST_MEMBERS: usize = 8;

impl Numbers<'_, '_> {
    /// A local gets a value, which was computed before.
    pub fn assign(self, facts: &mut ThreadFacts, local: LocalId, value: Option<Index>) {
        let value = value.filter(|_| self.is_index(local));
        match value {
            Some(Index { local: Some(same), plus: by }) if same == local => {
                each_index(facts, &mut |index| {
                    if index.local == Some(local) {
                        index.plus -= by;
                    }
                    is_small(*index)
                });
            }
            _ => {
                each_index(facts, &mut |index| index.local != Some(local));
                if let Some(value) = value {
                    let this = Index { local: Some(local), plus: 0 };
                    self.learn(facts, this, value);
                    self.learn(facts, value, this);
                    let also = |bounds: &mut Vec<Index>| {
                        let of_value = bounds.iter().find(|bound| bound.local == value.local);
                        let of_value = of_value.map(|bound| plus(this, bound.plus - value.plus));
                        if let Some(bound) = of_value.filter(|bound| is_small(*bound))
                            && bounds.len() < MOST_BOUNDS
                        {
                            insert(bounds, bound);
                        }
                    };
                    for members in facts.started.iter_mut().flat_map(|started| &mut started.members) {
                        also(&mut members.from);
                        also(&mut members.below);
                    }
                }
            }
        }
        facts.order.sort_unstable();
        facts.order.dedup();
        for members in facts.started.iter_mut().flat_map(|started| &mut started.members) {
            members.from.sort_unstable();
            members.below.sort_unstable();
        }
        tidy(facts);
    }

    /// A thread of one of some kinds is started. `before`: what was known then.
    pub fn start(
        self,
        facts: &mut ThreadFacts,
        before: &ThreadFacts,
        kinds: &[TemplateId],
        handle: Option<&ir::Lhs>,
        argument: Option<&Expr>,
    ) {
        let is_gone = |address: &Linear| match handle {
            Some(ir::Lhs::Local(local)) => address.base == LockBase::Local(*local),
            Some(ir::Lhs::Memory(_)) | None => false,
        };
        let argument = argument.and_then(|argument| self.linear(before, argument));
        let argument = argument.filter(|argument| !is_gone(argument));
        let (place, local) = match handle {
            Some(ir::Lhs::Memory(place)) => {
                let is_wide = place.ty.bits == self.model.program.data_model.pointer().bits;
                (self.linear(before, &place.address).filter(|_| is_wide), None)
            }
            Some(ir::Lhs::Local(local)) => (None, Some(*local)),
            None => (None, None),
        };
        let number = argument.and_then(|argument| argument.index).or(place.and_then(|place| place.index));
        let number = number.map_or(constant(0), |(_, number)| number);
        let row = |address: Linear| {
            let stride = match address.index {
                None => 0,
                Some((stride, index)) if index == number => stride,
                Some(_) => return None,
            };
            Some(Row { base: address.base, offset: address.offset, stride })
        };
        let handle = match (place.and_then(row).filter(|row| self.is_steady(*row)), local) {
            (Some(row), _) => Some(Handle::Memory(row)),
            (None, Some(local)) => Some(Handle::Local(local)),
            (None, None) => None,
        };
        let (from, below) = bounds(before, number);
        let members = Numbered { handle, argument: argument.and_then(row), from, below };
        for (kind, own) in kinds.iter().flat_map(|kind| [(*kind, false), (*kind, true)]) {
            let is_it = |started: &&Started| started.kind == kind && started.own == own;
            let known = before.started.iter().find(is_it);
            let mut list = match known {
                Some(known) => known.members.clone(),
                None if before.absent.binary_search(&kind).is_ok() && !own => Vec::new(),
                None => continue,
            };
            // What the start has written over is not known any more.
            if known.is_some() {
                match facts.started.iter().find(is_it) {
                    Some(now) => list.clone_from(&now.members),
                    None => continue,
                }
            }
            list.push(members.clone());
            facts.started.retain(|started| !is_it(&started));
            facts.started.push(Started { kind, own, members: list });
        }
        facts.started.sort_unstable();
        tidy(facts);
    }

    /// The id that a local holds is stored in memory.
    pub fn store(self, facts: &mut ThreadFacts, local: LocalId, address: Option<Linear>) {
        let Some(address) = address else { return };
        let mut started = std::mem::take(&mut facts.started);
        for members in started.iter_mut().flat_map(|started| &mut started.members) {
            if members.handle != Some(Handle::Local(local)) {
                continue;
            }
            let row = |stride| Row { base: address.base, offset: address.offset, stride };
            if !self.is_steady(row(0)) {
                continue;
            }
            match address.index {
                None => members.handle = Some(Handle::Memory(row(0))),
                Some((stride, number)) => {
                    let is_number = |bound: &Index| self.is_same(facts, *bound, number);
                    let is_below = |bound: &Index| self.is_same(facts, plus(*bound, -1), number);
                    if members.argument.is_none_or(|row| row.stride == 0) {
                        (members.from, members.below) = bounds(facts, number);
                        members.handle = Some(Handle::Memory(row(stride)));
                    } else if members.from.iter().any(is_number) && members.below.iter().any(is_below) {
                        members.handle = Some(Handle::Memory(row(stride)));
                    }
                }
            }
        }
        facts.started = started;
    }

    fn is_same(self, facts: &ThreadFacts, one: Index, other: Index) -> bool {
        self.at_most(facts, one, other) && self.at_most(facts, other, one)
    }

    /// The number that a row has at an address.
    fn number(self, row: Row, address: Linear) -> Option<Option<Index>> {
        if row.base != address.base {
            return None;
        }
        let apart = self.model.wrap(i128::from(address.offset.wrapping_sub(row.offset)));
        match address.index {
            Some((stride, number)) if stride == row.stride && apart == 0 => Some(Some(number)),
            Some(_) => None,
            None if row.stride == 0 => (apart == 0).then_some(None),
            None => {
                let number = i128::from(apart / row.stride);
                if number > LARGEST {
                    return None;
                }
                apart.is_multiple_of(row.stride).then_some(Some(constant(number)))
            }
        }
    }

    /// A word is read into a local: whoever has its number has the local's value as its id.
    pub fn load(self, facts: &mut ThreadFacts, local: LocalId, address: Option<Linear>) {
        let Some(address) = address else { return };
        let mut started = std::mem::take(&mut facts.started);
        for list in started.iter_mut().map(|started| &mut started.members) {
            let mut split = Vec::new();
            for members in list.iter_mut() {
                let Some(Handle::Memory(row)) = members.handle else { continue };
                let row = self.resolved(facts, row);
                match self.number(row, address) {
                    None => {}
                    Some(None) => members.handle = Some(Handle::Local(local)),
                    Some(Some(number)) => {
                        let mut one = members.clone();
                        if self.take_out(facts, members, number) {
                            one.handle = Some(Handle::Local(local));
                            one.from = vec![number];
                            one.below = vec![plus(number, 1)];
                            split.push(one);
                        }
                    }
                }
            }
            list.extend(split);
        }
        facts.started = started;
        tidy(facts);
    }

    /// A cell gets a value that nothing is known of.
    pub fn forget_cell(self, facts: &mut ThreadFacts, cell: LocalId) {
        if !facts.placed.is_empty() || !facts.started.is_empty() || !facts.order.is_empty() {
            forget(facts, cell);
            rebase(facts, cell, self.model.wrap(-1));
        }
    }

    /// A local that just got a value is in a row.
    pub fn place(self, facts: &mut ThreadFacts, local: LocalId, row: Row, index: Index) {
        if facts.placed.len() < MOST_PLACED {
            insert(&mut facts.placed, (local, row, index));
        }
    }

    fn resolved(self, facts: &ThreadFacts, row: Row) -> Row {
        let (base, offset) = resolve(self.model.program, facts, (row.base, row.offset));
        Row { base, offset, ..row }
    }

    /// Takes a number out of a range; says whether that is possible.
    fn take_out(self, facts: &ThreadFacts, members: &mut Numbered, number: Index) -> bool {
        let first = members.from.iter().any(|bound| self.at_most(facts, number, *bound));
        let last = members.below.iter().any(|bound| self.at_most(facts, *bound, plus(number, 1)));
        if first {
            members.from.retain(|bound| !self.at_most(facts, *bound, number));
            insert(&mut members.from, plus(number, 1));
        } else if last {
            members.below.retain(|bound| !self.at_most(facts, plus(number, 1), *bound));
            insert(&mut members.below, number);
        }
        first || last
    }

    /// A thread was joined.
    pub fn join(self, facts: &mut ThreadFacts, thread: &Expr) {
        let mut thread = thread;
        while let Expr::Cast(ty, operand) = thread {
            let width = self.model.program.data_model.pointer().bits;
            if ty.bits != width || self.model.program.type_of(self.template, operand).bits != width {
                return;
            }
            thread = operand;
        }
        match thread {
            Expr::Local(local) => {
                for list in facts.started.iter_mut().map(|started| &mut started.members) {
                    list.retain(|members| members.handle != Some(Handle::Local(*local)));
                }
            }
            Expr::Load(place) if place.ty.bits == self.model.program.data_model.pointer().bits => {
                let Some(address) = self.linear(facts, &place.address) else { return };
                let mut started = std::mem::take(&mut facts.started);
                for list in started.iter_mut().map(|started| &mut started.members) {
                    list.retain_mut(|members| {
                        let Some(Handle::Memory(row)) = members.handle else { return true };
                        match self.number(self.resolved(facts, row), address) {
                            None => true,
                            Some(None) => false,
                            Some(Some(number)) => {
                                self.take_out(facts, members, number);
                                true
                            }
                        }
                    });
                }
                facts.started = started;
            }
            _ => {}
        }
    }

    /// Leaves out members without numbers; returns the kinds of which none are left.
    pub fn ended(self, facts: &mut ThreadFacts) -> Vec<TemplateId> {
        let mut started = std::mem::take(&mut facts.started);
        let mut ended = Vec::new();
        for list in &mut started {
            list.members.retain(|members| {
                let is_none = |from: &Index| members.below.iter().any(|to| self.at_most(facts, *to, *from));
                !members.from.iter().any(is_none)
            });
            if list.members.is_empty() && !list.own {
                ended.push(list.kind);
            }
        }
        started.retain(|list| list.own || !list.members.is_empty());
        facts.started = started;
        ended.iter().for_each(|kind| insert(&mut facts.absent, *kind));
        ended
    }

    /// Whether the words of a row are in no frame that there may be several of, but for that of the
    /// activation.
    fn is_steady(self, row: Row) -> bool {
        if let LockBase::Object(object) = row.base
            && self.is_of_frame(object)
        {
            return true;
        }
        let Some(mut objects) =
            self.region(row).objects().map(|objects| objects.collect::<Vec<_>>().into_iter())
        else {
            return false;
        };
        objects.all(|object| match self.model.program.objects[object].storage {
            ir::Storage::Frame(_) | ir::Storage::ThreadLocal => self.model.single[object],
            ir::Storage::Static | ir::Storage::Site => true,
        })
    }

    /// Where the words of a row may be.
    pub fn region(self, row: Row) -> Region {
        let region = self.model.lock_region(self.template, row.base, row.offset);
        let Targets::Of(targets) = &region.targets else { return region };
        let widen = |target: &Target| {
            let own = if target.count > 1 { target.stride } else { 0 };
            match ir::gcd(own, row.stride) {
                0 => *target,
                step => {
                    let first = target.first % step;
                    Target { object: target.object, first, stride: step, count: u64::MAX }
                }
            }
        };
        let targets: Arc<[Target]> = targets.iter().map(widen).collect();
        Region { targets: Targets::Of(targets), extent: Extent::Bytes(8) }
    }

    /// Memory is written by this thread: handles there are lost, unless it is at the number of none of them;
    /// and what is known of cells there, but for `kept`.
    pub fn written(self, facts: &mut ThreadFacts, access: &Access, kept: Option<LocalId>) {
        for cell in access.cells.iter() {
            let local = self.model.cell_local(self.template, *cell as usize);
            if kept != Some(local) {
                self.forget_cell(facts, local);
            }
        }
        if access.ids.is_empty() || facts.started.is_empty() {
            return;
        }
        let address = self.linear(facts, &access.address);
        let region = access.region();
        let mut started = std::mem::take(&mut facts.started);
        for members in started.iter_mut().flat_map(|started| &mut started.members) {
            let Some(Handle::Memory(row)) = members.handle else { continue };
            if !self.region(row).overlaps(&region) {
                continue;
            }
            let row = self.resolved(facts, row);
            let number = address.and_then(|address| self.number(row, address));
            let fits = access.bytes.is_some_and(|bytes| bytes <= row.stride);
            let is_other = match number {
                Some(Some(number)) if fits => self.is_outside(facts, members, number),
                _ => false,
            };
            if !is_other {
                members.handle = None;
            }
        }
        facts.started = started;
    }

    /// Whether a number is none of some members'.
    fn is_outside(self, facts: &ThreadFacts, members: &Numbered, number: Index) -> bool {
        let is_narrow = |bound: &Index| self.is_narrow(facts, *bound);
        if !(is_narrow(&number) && members.from.iter().any(is_narrow) && members.below.iter().any(is_narrow))
        {
            return false;
        }
        members.below.iter().any(|bound| self.at_most(facts, *bound, number))
            || members.from.iter().any(|bound| self.at_most(facts, plus(number, 1), *bound))
    }

    /// The distance of neighbours and the offset from an argument, if an address is that of an argument of
    /// a number which no member has.
    pub fn apart(self, facts: &ThreadFacts, members: &[Numbered], address: &Expr) -> Option<(u64, u64)> {
        let address = self.linear(facts, address)?;
        let mut found: Option<(u64, u64)> = None;
        for one in members {
            let row = self.resolved(facts, one.argument?);
            if row.base != address.base || row.stride == 0 {
                return None;
            }
            let apart = self.model.wrap(i128::from(address.offset.wrapping_sub(row.offset)));
            let (number, offset) = match address.index {
                Some((stride, number)) if stride == row.stride && apart < stride => (number, apart),
                Some(_) => return None,
                None => {
                    let number = i128::from(apart / row.stride);
                    (constant(number), apart % row.stride)
                }
            };
            if !is_small(number) || !self.is_outside(facts, one, number) {
                return None;
            }
            let fits = found.is_none_or(|known| known == (row.stride, offset));
            found = fits.then_some((row.stride, offset));
            found?;
        }
        found
    }

    /// Keeps what both know of kinds, numbers and inequalities. Absent kinds are still those of each.
    pub fn meet(self, known: &mut ThreadFacts, other: &ThreadFacts) {
        if known.started != other.started || known.absent != other.absent {
            self.meet_started(known, other);
        }
        if known.placed != other.placed {
            known.placed.retain(|(local, row, index)| {
                let is_same = |(same, there, number): &(LocalId, Row, Index)| {
                    same == local && there == row && self.is_same(other, *index, *number)
                };
                other.placed.iter().any(is_same)
            });
        }
        if known.order != other.order {
            known.order.retain(|(one, two)| self.at_most(other, *one, *two));
        }
    }

    fn meet_started(self, known: &mut ThreadFacts, other: &ThreadFacts) {
        let mut started = Vec::new();
        let of = |facts: &ThreadFacts, (kind, own): (TemplateId, bool)| {
            let list = facts.started.iter().find(|started| (started.kind, started.own) == (kind, own));
            let none = facts.absent.binary_search(&kind).is_ok().then(Vec::new);
            list.map(|list| list.members.clone()).or(none)
        };
        let lists = known.started.iter().chain(&other.started);
        let mut lists: Vec<(TemplateId, bool)> = lists.map(|list| (list.kind, list.own)).collect();
        lists.sort_unstable();
        lists.dedup();
        for list in lists {
            let (Some(mine), Some(theirs)) = (of(known, list), of(other, list)) else { continue };
            if let Some(members) = self.cover(other, mine, &theirs) {
                started.push(Started { kind: list.0, own: list.1, members });
            }
        }
        known.started = started;
        tidy(known);
    }

    /// Numbered that both lists are among.
    fn cover(
        self,
        other: &ThreadFacts,
        mut mine: Vec<Numbered>,
        theirs: &[Numbered],
    ) -> Option<Vec<Numbered>> {
        for new in theirs {
            let same = |one: Option<Row>, two: Option<Row>| match (one, two) {
                (None, None) => true,
                (Some(one), Some(two)) => {
                    one == two
                        || (one.stride == two.stride
                            && self.resolved(other, one) == self.resolved(other, two))
                }
                (Some(_), None) | (None, Some(_)) => false,
            };
            let fits = |old: &Numbered| {
                same(old.argument, new.argument)
                    && match (old.handle, new.handle) {
                        (Some(Handle::Memory(one)), Some(Handle::Memory(two))) => same(Some(one), Some(two)),
                        (one, two) => one == two,
                    }
            };
            let is_local = |handle: Option<Handle>| matches!(handle, Some(Handle::Local(_)));
            let of_argument = |old: &Numbered| {
                let is_moved = is_local(old.handle) || is_local(new.handle);
                !is_moved && old.argument.is_some() && same(old.argument, new.argument)
            };
            let exact = mine.iter().position(fits);
            let found = exact.or_else(|| mine.iter().position(of_argument));
            match found {
                Some(at) => {
                    let old = &mut mine[at];
                    old.from
                        .retain(|bound| new.from.iter().any(|theirs| self.at_most(other, *bound, *theirs)));
                    old.below
                        .retain(|bound| new.below.iter().any(|theirs| self.at_most(other, *theirs, *bound)));
                    if exact.is_none() {
                        old.handle = None;
                    }
                    if old.from.is_empty() || old.below.is_empty() {
                        return None;
                    }
                }
                None if mine.len() < MOST_MEMBERS => {
                    mine.push(new.clone());
                }
                None => return None,
            }
        }
        Some(mine)
    }
}

/// What is known of one number: what it is at least, and what it is less than.
fn bounds(facts: &ThreadFacts, number: Index) -> (Vec<Index>, Vec<Index>) {
    let mut from = vec![number];
    let mut below = vec![plus(number, 1)];
    let add = |bounds: &mut Vec<Index>, bound: Index| {
        if bounds.len() < MOST_BOUNDS && is_small(bound) {
            insert(bounds, bound);
        }
    };
    for (left, right) in &facts.order {
        if right.local == number.local && left.local != number.local {
            add(&mut from, plus(*left, number.plus - right.plus));
        }
        if left.local == number.local && right.local != number.local {
            add(&mut below, plus(*right, number.plus - left.plus + 1));
        }
    }
    (from, below)
}

/// Applies a change to all integers; those for which it says no are left out.
fn each_index(facts: &mut ThreadFacts, change: &mut dyn FnMut(&mut Index) -> bool) {
    facts.order.retain_mut(|(one, two)| {
        let (one, two) = (change(one), change(two));
        one && two
    });
    facts.placed.retain_mut(|(_, _, index)| change(index));
    for members in facts.started.iter_mut().flat_map(|started| &mut started.members) {
        members.from.retain_mut(|bound| change(bound));
        members.below.retain_mut(|bound| change(bound));
    }
}

/// A local that may hold an id gets another value.
pub fn forget_id(facts: &mut ThreadFacts, local: LocalId) {
    for members in facts.started.iter_mut().flat_map(|started| &mut started.members) {
        if members.handle == Some(Handle::Local(local)) {
            members.handle = None;
        }
    }
    tidy(facts);
}

/// A local gets a value that nothing is known of.
pub fn forget(facts: &mut ThreadFacts, local: LocalId) {
    if facts.started.is_empty() && facts.order.is_empty() && facts.placed.is_empty() {
        return;
    }
    each_index(facts, &mut |index| index.local != Some(local));
    forget_id(facts, local);
}

/// Gives up lists that say nothing any more.
fn tidy(facts: &mut ThreadFacts) {
    let says_nothing = |members: &Numbered| {
        members.from.is_empty()
            || members.below.is_empty()
            || (members.handle.is_none() && members.argument.is_none())
    };
    facts
        .started
        .retain(|started| started.members.len() <= MOST_MEMBERS && !started.members.iter().any(says_nothing));
}

/// Forgets inequalities and bounds of locals that are not read any more, as far as there are others.
pub fn prune(facts: &mut ThreadFacts, is_live: &dyn Fn(LocalId) -> bool) {
    let is_kept = |index: &Index| index.local.is_none_or(is_live);
    facts.order.retain(|(one, two)| is_kept(one) && is_kept(two));
    facts.placed.retain(|(local, _, index)| is_live(*local) && is_kept(index));
    for members in facts.started.iter_mut().flat_map(|started| &mut started.members) {
        for bounds in [&mut members.from, &mut members.below] {
            if bounds.iter().any(is_kept) {
                bounds.retain(is_kept);
            }
        }
        if let Some(Handle::Local(local)) = members.handle
            && !is_live(local)
        {
            members.handle = None;
        }
    }
    tidy(facts);
}

/// A local loses its value: rows that are counted from it are counted from another one of its class, or
/// given up.
pub fn rebase(facts: &mut ThreadFacts, local: LocalId, mask: u64) {
    let other = facts.equal.iter().find_map(|(one, leader, by)| {
        if *one == local {
            Some((*leader, *by))
        } else if *leader == local {
            Some((*one, by.wrapping_neg()))
        } else {
            None
        }
    });
    let is_from = |base: LockBase| base == LockBase::Local(local);
    let moved = |row: Row| match other {
        _ if !is_from(row.base) => Some(row),
        Some((other, by)) => {
            let offset = row.offset.wrapping_add(by) & mask;
            Some(Row { base: LockBase::Local(other), offset, ..row })
        }
        None => None,
    };
    let places = std::mem::take(&mut facts.placed);
    let places = places.into_iter().filter_map(|(placed, row, index)| {
        let row = moved(row)?;
        if placed != local {
            return Some((placed, row, index));
        }
        // The local is the other one plus `by`.
        let (other, by) = other?;
        Some((other, Row { offset: row.offset.wrapping_sub(by) & mask, ..row }, index))
    });
    facts.placed = places.collect();
    facts.placed.sort_unstable();
    facts.placed.dedup_by_key(|(local, _, _)| *local);
    for members in facts.started.iter_mut().flat_map(|started| &mut started.members) {
        members.argument = members.argument.and_then(moved);
        members.handle = match members.handle {
            Some(Handle::Memory(row)) => moved(row).map(Handle::Memory),
            handle => handle,
        };
    }
    tidy(facts);
    if let Ok(at) = facts.argument.binary_search_by_key(&local, |(known, _)| *known) {
        let (_, offset) = facts.argument.remove(at);
        if let Some((other, by)) = other
            && facts.argument.binary_search_by_key(&other, |(known, _)| *known).is_err()
        {
            // The local is the other one plus `by`.
            insert(&mut facts.argument, (other, offset.wrapping_sub(by) & mask));
        }
    }
}

/// How far a base is from the thread's argument.
pub fn from_argument(model: &Model<'_>, facts: &ThreadFacts, (base, offset): (LockBase, u64)) -> Option<u64> {
    facts.argument.iter().find_map(|(local, by)| {
        let (other, more) = resolve(model.program, facts, (LockBase::Local(*local), 0));
        let apart = offset.wrapping_sub(more).wrapping_add(*by);
        (other == base).then_some(model.wrap(i128::from(apart)))
    })
}

/// The places where ids of threads are stored that were just started: by the start itself, or from a local
/// that a start stores one in.
pub fn id_targets(
    points_to: &ir::passes::PointsTo,
    template: TemplateId,
    code: &ir::Template,
) -> Vec<Target> {
    let ops = || code.edges.iter().flat_map(|edge| &edge.ops);
    let holds_id = |local: LocalId| {
        ops().any(|op| matches!(op, Op::Spawn(_, _, Some(ir::Lhs::Local(id))) if *id == local))
    };
    let mut found = Vec::new();
    let mut add = |address: &Expr| {
        let region = Region::at(points_to, template, address, Extent::Bytes(8));
        if let Targets::Of(targets) = region.targets {
            found.extend(targets.iter().copied());
        }
    };
    if !ops().any(|op| matches!(op, Op::Spawn(..))) {
        return found;
    }
    for op in ops() {
        match op {
            Op::Spawn(_, _, Some(ir::Lhs::Memory(place))) => add(&place.address),
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    if let (ir::Lhs::Memory(place), ir::Rhs::Value(Expr::Local(local))) = (lhs, rhs)
                        && holds_id(*local)
                    {
                        add(&place.address);
                    }
                }
            }
            _ => {}
        }
    }
    found
}
