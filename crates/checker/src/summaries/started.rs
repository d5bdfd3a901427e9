//! Threads by number, along one step: the lists of [`ThreadFacts::started`].
//!
//! A list says that each other thread of a kind that is alive, or each of those that this thread has started
//! itself, has a number of one of its ranges, the id that its handle says, and the argument that its row
//! says. Of its own threads nobody else starts one, so only this thread's steps count for such lists. It is
//! carried through the operations of a step in terms of the values that locals had before; a list may be
//! claimed if it covers that. Under-approximates.

use super::calls::Call;
use super::cells::Scope;
use super::integers::{Int, Integers};
use super::regions::{Region, meet};
use super::state::{Known, Stepper, Unfounded};
use super::symbols::{Anchor, Symbol, Values, mask};
use super::view::{Standing, Touch, View};
use crate::ProofError;
use ir::{BinaryOp, Expr, Lhs, LocalId, ObjectId, Op, Program, Rhs, Storage, Target, TemplateId, Value};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{Handle, Index, LockBase, Numbered, Row, Started, ThreadFacts};

/// Strides are less than this. Numbers are less than 2 to the power of 33 in size: no two multiples of a
/// stride are equal modulo 2 to the power of 64.
pub const STRIDES: u64 = 1 << 28;
/// Constants that are added to locals in numbers are at most this large.
const LARGEST: i128 = 1 << 31;

/// An address: a value, and perhaps a multiple of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linear {
    /// The value.
    pub start: Symbol,
    /// The multiple, and the integer.
    pub index: Option<(u64, Int)>,
}

/// The values `start + stride * x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownRow {
    /// The value for 0.
    pub start: Symbol,
    /// The distance of neighbours.
    pub stride: u64,
}

/// Where ids are.
#[derive(Clone, Debug)]
pub enum KnownHandle {
    /// In a local.
    Local(LocalId),
    /// In memory, with where the words may be.
    Memory(KnownRow, Region),
}

/// Threads with numbers.
#[derive(Clone, Debug)]
pub struct KnownRange {
    /// Where their ids are; all of these hold.
    pub handles: Vec<KnownHandle>,
    /// Their arguments.
    pub argument: Option<KnownRow>,
    /// All numbers are at least each of these.
    pub from: Vec<Int>,
    /// All numbers are less than each of these.
    pub below: Vec<Int>,
}

/// What values are, further, than anchors tell: rows for integers, and cells.
pub type Placed = BTreeMap<Anchor, Linear>;

/// What facts say of that.
pub fn placed(values: &Values<'_>, integers: &Integers<'_>, facts: &ThreadFacts, mask: u64) -> Placed {
    let mut found = Placed::new();
    for (local, row, index) in &facts.placed {
        let own = values.local(*local);
        let start = values.lock(row.base, row.offset).plus(own.offset.wrapping_neg(), mask);
        let index = (row.stride > 0).then(|| (row.stride, integers.index(*index)));
        if matches!(own.anchor, Anchor::Local(_)) && own.anchor != start.anchor {
            found.insert(own.anchor, Linear { start, index });
        }
    }
    found
}

/// A value, as far as it is placed.
fn expand(placed: &Placed, start: Symbol, mask: u64) -> Linear {
    match placed.get(&start.anchor) {
        Some(linear) => Linear { start: linear.start.plus(start.offset, mask), ..*linear },
        None => Linear { start, index: None },
    }
}

/// The threads that a list is about: of a kind, and whether only those that this thread has started itself.
pub type Listed = (TemplateId, bool);

/// A thread that is about to be started.
pub struct NewThread {
    lists: Vec<Listed>,
    range: KnownRange,
}

/// The value of an address.
pub fn linear(
    scope: Scope<'_>,
    values: &Values<'_>,
    integers: &Integers<'_>,
    placed: &Placed,
    expr: &Expr,
) -> Option<Linear> {
    let Scope { program, template, .. } = scope;
    let width = program.data_model.pointer().bits;
    if let Some(start) = values.eval(expr) {
        return (start.anchor != Anchor::Number).then(|| expand(placed, start, mask(program)));
    }
    let of = |expr: &Expr| linear(scope, values, integers, placed, expr);
    let constant = |expr: &Expr| values.eval(expr).filter(|value| value.anchor == Anchor::Number);
    match expr {
        Expr::Cast(ty, operand) if ty.bits == width && program.type_of(template, operand).bits == width => {
            of(operand)
        }
        Expr::Load(place) if place.ty.bits == width => {
            let start = values.local(scope.read(place)?);
            Some(expand(placed, start, mask(program)))
        }
        Expr::Binary(BinaryOp::Add, ty, pair) if ty.bits == width => {
            for (base, number) in [(&pair.0, &pair.1), (&pair.1, &pair.0)] {
                if let Some(by) = constant(number) {
                    let found = of(base)?;
                    return Some(Linear { start: found.start.plus(by.offset, mask(program)), ..found });
                }
                if let (Some(found), Some(index)) = (of(base), multiple(program, template, integers, number))
                    && found.index.is_none()
                {
                    return Some(Linear { index: Some(index), ..found });
                }
            }
            None
        }
        Expr::Binary(BinaryOp::Sub, ty, pair) if ty.bits == width => {
            let by = constant(&pair.1)?.offset.wrapping_neg();
            let found = of(&pair.0)?;
            Some(Linear { start: found.start.plus(by, mask(program)), ..found })
        }
        _ => None,
    }
}

/// A multiple of an integer, as wide as a pointer.
fn multiple(
    program: &Program,
    template: TemplateId,
    integers: &Integers<'_>,
    expr: &Expr,
) -> Option<(u64, Int)> {
    let width = program.data_model.pointer().bits;
    match expr {
        Expr::Cast(ty, operand) if ty.bits == width && program.type_of(template, operand).bits == width => {
            multiple(program, template, integers, operand)
        }
        Expr::Binary(BinaryOp::Mul, ty, pair) if ty.bits == width => {
            let (number, by) = match (&pair.0, &pair.1) {
                (Expr::Const(by, _), number) | (number, Expr::Const(by, _)) => (number, *by),
                _ => return None,
            };
            let stride = u64::try_from(by).ok().filter(|by| (1..STRIDES).contains(by))?;
            // Narrower pointers are too narrow to tell numbers apart by.
            let number =
                integers.eval_modulo(number).filter(|number| number.plus.abs() <= LARGEST && width == 64)?;
            Some((stride, number))
        }
        _ => None,
    }
}

/// A word that a step moves between a local and memory: the local, and the address as far as it is known.
type MovedWord = (LocalId, Option<Linear>);

impl KnownRange {
    /// Whether there is surely no number.
    fn is_empty(&self, integers: &Integers<'_>) -> bool {
        self.from.iter().any(|from| self.below.iter().any(|below| integers.at_most(*below, *from)))
    }

    /// Whether an integer is surely no number of these, nor so far away that it looks like one.
    pub fn is_outside(&self, integers: &Integers<'_>, number: Int) -> bool {
        let is_narrow = |bound: &Int| integers.is_narrow(*bound);
        if !(is_narrow(&number) && self.from.iter().any(is_narrow) && self.below.iter().any(is_narrow)) {
            return false;
        }
        self.below.iter().any(|below| integers.at_most(*below, number))
            || self.from.iter().any(|from| integers.at_most(number.plus(1), *from))
    }

    /// Whether an integer is surely the only number, if there is any.
    fn is_only(&self, integers: &Integers<'_>, number: Int) -> bool {
        self.from.iter().any(|from| integers.at_most(number, *from))
            && self.below.iter().any(|below| integers.at_most(*below, number.plus(1)))
    }

    /// Takes a number out.
    fn take_out(&mut self, integers: &Integers<'_>, number: Int) {
        if self.from.iter().any(|from| integers.at_most(number, *from)) {
            self.from.push(number.plus(1));
        }
        if self.below.iter().any(|below| integers.at_most(*below, number.plus(1))) {
            self.below.push(number);
        }
    }
}

impl KnownRow {
    /// The number of the element at an address: `Some(None)` where all elements are there.
    pub fn number(&self, address: &Linear, mask: u64) -> Option<Option<Int>> {
        if self.start.anchor != address.start.anchor {
            return None;
        }
        let apart = address.start.offset.wrapping_sub(self.start.offset) & mask;
        match address.index {
            Some((stride, number)) => (apart == 0 && stride == self.stride).then_some(Some(number)),
            None if self.stride == 0 => (apart == 0).then_some(None),
            None => {
                let number = i128::from(apart / self.stride);
                let is_number = apart.is_multiple_of(self.stride) && number <= LARGEST;
                is_number.then_some(Some(Int::constant(number)))
            }
        }
    }

    /// The number of the element that an address is in, and how far from its start.
    pub fn element(&self, address: &Linear, mask: u64) -> Option<(Int, u64)> {
        if self.start.anchor != address.start.anchor || self.stride == 0 {
            return None;
        }
        let apart = address.start.offset.wrapping_sub(self.start.offset) & mask;
        match address.index {
            Some((stride, number)) => (stride == self.stride && apart < stride).then_some((number, apart)),
            None => {
                let number = i128::from(apart / self.stride);
                (number <= LARGEST).then_some((Int::constant(number), apart % self.stride))
            }
        }
    }
}

impl View<'_> {
    /// Where the words of a row may be. `None` where they may be in frames that come and go, other than that
    /// of the activation.
    pub fn row_region(&self, template: TemplateId, row: Row) -> Result<Option<Region>, ProofError> {
        let plain = self.lock_region(template, row.base, row.offset)?;
        let is_own = match row.base {
            LockBase::Object(object) => self.is_of_frame(template, object),
            LockBase::Local(_) => false,
        };
        if !is_own && plain.iter().any(|target| self.comes_and_goes(target.object)) {
            return Ok(None);
        }
        let widened = plain.iter().map(|target| {
            let own = if target.count > 1 { target.stride } else { 0 };
            match ir::gcd(own, row.stride) {
                0 => *target,
                step => Target { first: target.first % step, stride: step, count: u64::MAX, ..*target },
            }
        });
        Ok(Some(widened.collect()))
    }

    /// Whether an object is in a frame, or of a thread, that there may be several of.
    fn comes_and_goes(&self, object: ObjectId) -> bool {
        match self.program.objects[object].storage {
            Storage::Frame(_) | Storage::ThreadLocal => !self.is_single(object),
            Storage::Static | Storage::Site => false,
        }
    }

    /// Whether an object is in the frame of an activation of a template: named there, it is that of the
    /// activation, and there as long as this is.
    pub fn is_of_frame(&self, template: TemplateId, object: ObjectId) -> bool {
        self.program.objects[object].storage == Storage::Frame(template)
    }
}

impl<'a> Stepper<'_, 'a> {
    /// The lists where an edge starts.
    pub fn started_at(
        &self,
        facts: &ThreadFacts,
        values: &Values<'a>,
        integers: &Integers<'a>,
        placed: &Placed,
    ) -> Result<BTreeMap<Listed, Vec<KnownRange>>, ProofError> {
        let mut found = BTreeMap::new();
        for started in &facts.started {
            let mut list = Vec::new();
            for members in &started.members {
                let row = |row: Row| self.row(values, placed, row);
                let mut handles = Vec::new();
                match members.handle {
                    Some(Handle::Local(local)) => handles.push(KnownHandle::Local(local)),
                    Some(Handle::Memory(at)) => {
                        if let Some(region) = self.view.row_region(self.template, at)? {
                            handles.push(KnownHandle::Memory(row(at), region));
                        }
                    }
                    None => {}
                }
                list.push(KnownRange {
                    handles,
                    argument: members.argument.map(row),
                    from: members.from.iter().map(|index| integers.index(*index)).collect(),
                    below: members.below.iter().map(|index| integers.index(*index)).collect(),
                });
            }
            found.insert((started.kind, started.own), list);
        }
        Ok(found)
    }

    /// The value of an address.
    pub fn linear(&self, known: &Known<'a>, expr: &Expr) -> Option<Linear> {
        let scope = self.view.scope(self.template);
        linear(scope, &known.values, &known.integers, &known.placed, expr)
    }

    /// A row, with what its base is placed at.
    pub fn row(&self, values: &Values<'_>, placed: &Placed, row: Row) -> KnownRow {
        let start = values.lock(row.base, row.offset);
        let expanded = expand(placed, start, mask(self.view.program));
        let start = if expanded.index.is_none() { expanded.start } else { start };
        KnownRow { start, stride: row.stride }
    }

    /// The placed locals of a location whose place does not follow.
    fn unfounded_places(&self, known: &Known<'a>, facts: &ThreadFacts) -> Vec<Unfounded> {
        let mask = mask(self.view.program);
        let follows = |(local, row, index): &&(LocalId, Row, Index)| {
            let is = expand(&known.placed, known.values.local(*local), mask);
            let start = self.row(&known.values, &known.placed, *row).start;
            let number = match index.local {
                Some(local) => known.values.number_of(local).map(|value| value + index.plus),
                None => Some(index.plus),
            };
            // Where the number is known, so is the address.
            let at = number.map(|number| start.plus((Value::from(row.stride) * number) as u64, mask));
            let index = (row.stride > 0).then(|| (row.stride, known.integers.index(*index)));
            is == Linear { start, index } || at.is_some_and(|start| is == Linear { start, index: None })
        };
        let open = facts.placed.iter().filter(|one| !follows(one));
        open.map(|(local, _, _)| Unfounded::Placed(*local)).collect()
    }

    /// A cell was written, perhaps with this value.
    pub fn write_cell(
        &self,
        known: &mut Known<'a>,
        cell: usize,
        (value, integer): (Option<Symbol>, Option<Int>),
    ) {
        let local = self.view.scope(self.template).local(cell);
        known.values.set(local, value);
        known.integers.set(local, integer);
    }

    /// Bytes are written: handles there are not known any more, unless it is another element of their row.
    pub fn break_handles(&self, known: &mut Known<'a>, touch: &Touch<'_>) {
        if known.started.is_empty() {
            return;
        }
        let written: Vec<Target> = self.view.id_targets(touch).copied().collect();
        if written.is_empty() {
            return;
        }
        let mask = mask(self.view.program);
        let width = self.view.program.data_model.pointer().bytes();
        let address = self.linear(known, touch.address);
        let Known { started, integers, .. } = known;
        for range in started.values_mut().flatten() {
            let is_kept = |handle: &KnownHandle| match handle {
                KnownHandle::Local(_) => true,
                KnownHandle::Memory(row, region) => {
                    let number = address.and_then(|address| row.number(&address, mask)).flatten();
                    let fits = row.stride >= width && touch.bytes.is_some_and(|bytes| bytes <= row.stride);
                    !meet(&written, touch.bytes, region, Some(width))
                        || (fits && number.is_some_and(|number| range.is_outside(integers, number)))
                }
            };
            let kept: Vec<KnownHandle> = range.handles.iter().filter(|one| is_kept(one)).cloned().collect();
            range.handles = kept;
        }
    }

    /// A local gets another value.
    pub fn forget_handle(&self, known: &mut Known<'a>, local: LocalId) {
        for range in known.started.values_mut().flatten() {
            range.handles.retain(|handle| !matches!(handle, KnownHandle::Local(held) if *held == local));
        }
    }

    /// The word at an address was read into a local, before which nothing was changed: whoever has the
    /// number of that word has this id.
    pub fn read_handle(&self, known: &mut Known<'a>, local: LocalId, address: Option<Linear>) {
        let Some(address) = address else { return };
        let mask = mask(self.view.program);
        let Known { started, integers, .. } = known;
        for list in started.values_mut() {
            let mut split = Vec::new();
            for range in list.iter_mut() {
                let rows = range.handles.iter().filter_map(|handle| match handle {
                    KnownHandle::Memory(row, _) => row.number(&address, mask),
                    KnownHandle::Local(_) => None,
                });
                let numbers: Vec<Option<Int>> = rows.collect();
                for number in numbers {
                    let mut one = range.clone();
                    one.handles.push(KnownHandle::Local(local));
                    match number {
                        None => *range = one,
                        Some(number) => {
                            one.from.push(number);
                            one.below.push(number.plus(1));
                            range.take_out(integers, number);
                            split.push(one);
                        }
                    }
                }
            }
            list.extend(split);
        }
    }

    /// The value of a local was stored at an address.
    pub fn write_handle(
        &self,
        known: &mut Known<'a>,
        local: LocalId,
        touch: &Touch<'_>,
        address: Option<Linear>,
    ) {
        let Some(address) = address else { return };
        // Of other locals, what is stored does not count among the ids that contexts list: a callee might
        // change it.
        if !super::ids::holds_started(&self.view.program.templates[self.template], local)
            || !self.may_hold_ids(&address, &touch.region)
        {
            return;
        }
        let Known { started, integers, .. } = known;
        for range in started.values_mut().flatten() {
            let holds = |handle: &KnownHandle| matches!(handle, KnownHandle::Local(held) if *held == local);
            if !range.handles.iter().any(holds) {
                continue;
            }
            let row = |stride| KnownRow { start: address.start, stride };
            let region = touch.region.clone();
            match address.index {
                // All of them have this id.
                None => range.handles.push(KnownHandle::Memory(row(0), region)),
                Some((stride, number)) => {
                    let is_free = range.argument.is_none_or(|row| row.stride == 0)
                        && range.handles.iter().all(|handle| match handle {
                            KnownHandle::Local(_) => true,
                            KnownHandle::Memory(row, _) => row.stride == 0,
                        });
                    if is_free {
                        // The rows do not depend on the number, and there is one thread with this id: it
                        // may have any number.
                        range.from = vec![number];
                        range.below = vec![number.plus(1)];
                        range.handles.push(KnownHandle::Memory(row(stride), region));
                    } else if range.is_only(integers, number) {
                        range.handles.push(KnownHandle::Memory(row(stride), region));
                    }
                }
            }
        }
    }

    /// Whether what is stored at an address stays there until somebody writes there.
    fn may_hold_ids(&self, address: &Linear, region: &Region) -> bool {
        let is_own = match address.start.anchor {
            Anchor::Object(object) => self.view.is_of_frame(self.template, object),
            Anchor::Number | Anchor::Local(_) | Anchor::Argument | Anchor::Unknown(_) => false,
        };
        is_own || !region.iter().any(|target| self.view.comes_and_goes(target.object))
    }

    /// The address that an assignment reads a word from into a local, and the like. With what was known
    /// before.
    pub fn moves(&self, known: &Known<'a>, op: &Op) -> (Option<MovedWord>, Option<MovedWord>) {
        let width = self.view.program.data_model.pointer().bits;
        let Op::Assign(assignment) = op else { return (None, None) };
        match assignment.pairs.as_slice() {
            [(Lhs::Local(local), Rhs::Value(Expr::Load(place)))]
                if place.ty.bits == width
                    && super::symbols::is_wide(self.view.program, self.template, *local) =>
            {
                (Some((*local, self.linear(known, &place.address))), None)
            }
            [(Lhs::Memory(place), Rhs::Value(Expr::Local(local)))]
                if place.ty.bits == width
                    && super::symbols::is_wide(self.view.program, self.template, *local) =>
            {
                (None, Some((*local, self.linear(known, &place.address))))
            }
            _ => (None, None),
        }
    }

    /// A thread was joined, by this value.
    pub fn join_started(&self, known: &mut Known<'a>, thread: &Expr) {
        let (program, mask) = (self.view.program, mask(self.view.program));
        let width = program.data_model.pointer().bits;
        let mut thread = thread;
        while let Expr::Cast(ty, operand) = thread
            && ty.bits == width
            && program.type_of(self.template, operand).bits == width
        {
            thread = operand;
        }
        let address = match thread {
            Expr::Load(place) if place.ty.bits == width => self.linear(known, &place.address),
            _ => None,
        };
        let joined = match thread {
            Expr::Local(local) => Some(*local),
            _ => None,
        };
        let Known { started, integers, .. } = known;
        for list in started.values_mut() {
            list.retain_mut(|range| {
                for handle in range.handles.clone() {
                    match handle {
                        KnownHandle::Local(local) if joined == Some(local) => return false,
                        KnownHandle::Local(_) => {}
                        KnownHandle::Memory(row, _) => {
                            match address.and_then(|address| row.number(&address, mask)) {
                                None => {}
                                Some(None) => return false,
                                Some(Some(number)) => range.take_out(integers, number),
                            }
                        }
                    }
                }
                true
            });
        }
    }

    /// Leaves out ranges without numbers. A kind of which nobody is left is absent.
    pub fn settle_started(&self, known: &mut Known<'a>) {
        if known.started.is_empty() {
            return;
        }
        let Known { started, integers, .. } = known;
        for list in started.values_mut() {
            list.retain(|range| !range.is_empty(integers));
        }
        let ended = started.iter().filter(|((_, own), list)| !own && list.is_empty());
        let ended: Vec<TemplateId> = ended.map(|((kind, _), _)| *kind).collect();
        for kind in ended {
            known.started.remove(&(kind, false));
            known.absent.insert(kind);
            known.absent.extend(self.ended_after(kind));
        }
    }

    /// The kinds of which no thread is alive when none of a kind is: absent wherever that ends, started by
    /// it or by one another only, and not there from the start on. The largest such set.
    fn ended_after(&self, kind: TemplateId) -> BTreeSet<TemplateId> {
        let is_first = |kind: &TemplateId| self.view.program.start.iter().any(|(start, _)| start == kind);
        let at_end = self.ends[kind].iter().flatten();
        let mut found: BTreeSet<TemplateId> = at_end.filter(|other| !is_first(other)).copied().collect();
        loop {
            let is_open = |other: &&TemplateId| {
                self.starters[**other].iter().any(|starter| *starter != kind && !found.contains(starter))
            };
            match found.iter().find(is_open).copied() {
                Some(other) => found.remove(&other),
                None => return found,
            };
        }
    }

    /// What is known of a thread that is about to be started.
    pub fn new_thread(&self, known: &Known<'a>, call: &Call<'_>) -> NewThread {
        let callees = self.view.steps[self.template][call.edge].callees.iter();
        let is_known = |list: &Listed| known.absent.contains(&list.0) || known.started.contains_key(list);
        let argument = call.arguments.first().and_then(|argument| self.linear(known, argument));
        let width = self.view.program.data_model.pointer().bits;
        let place = match call.lhs {
            Some(Lhs::Memory(place)) if place.ty.bits == width => self.linear(known, &place.address),
            _ => None,
        };
        let indexed = argument.and_then(|argument| argument.index).or(place.and_then(|place| place.index));
        let number = indexed.map_or(Int::constant(0), |(_, number)| number);
        let row = |address: Linear| match address.index {
            None => Some(KnownRow { start: address.start, stride: 0 }),
            Some((stride, index)) => (index == number).then_some(KnownRow { start: address.start, stride }),
        };
        let mut handles = Vec::new();
        if let Some(Lhs::Memory(place)) = call.lhs
            && let Some(address) = self.linear(known, &place.address).filter(|_| place.ty.bits == width)
            && let Some(row) = row(address)
        {
            let footprint = &self.view.steps[self.template][call.edge];
            let touch = footprint.touches.iter().find(|touch| touch.write && *touch.address == place.address);
            if let Some(touch) = touch
                && self.may_hold_ids(&address, &touch.region)
            {
                handles.push(KnownHandle::Memory(row, touch.region.clone()));
            }
        }
        if let Some(Lhs::Local(local)) = call.lhs
            && super::symbols::is_wide(self.view.program, self.template, *local)
        {
            handles.push(KnownHandle::Local(*local));
        }
        let range = KnownRange {
            handles,
            argument: argument.and_then(row),
            from: vec![number],
            below: vec![number.plus(1)],
        };
        let lists = callees.flat_map(|kind| [(*kind, false), (*kind, true)]).filter(is_known);
        NewThread { lists: lists.collect(), range }
    }

    /// It was started.
    pub fn add_thread(&self, known: &mut Known<'a>, new: NewThread) {
        for list in new.lists {
            known.started.entry(list).or_default().push(new.range.clone());
        }
    }

    /// Whether no thread of a kind is alive that this thread has started itself.
    pub fn has_no_own(&self, known: &Known<'a>, kind: TemplateId) -> bool {
        let is_empty = |list: &Vec<KnownRange>| list.iter().all(|range| range.is_empty(&known.integers));
        known.absent.contains(&kind) || known.started.get(&(kind, true)).is_some_and(is_empty)
    }

    /// What is known, after a call, of threads that were started before. `ends`: what holds where callees
    /// return.
    pub fn return_started(
        &self,
        known: &mut Known<'a>,
        callees: &[(TemplateId, usize)],
        ends: &[&ThreadFacts],
        during: &[Standing],
        listed: BTreeMap<Listed, Vec<KnownRange>>,
    ) {
        let contexts = &self.view.proof.contexts;
        let width = self.view.program.data_model.pointer().bytes();
        let standing = |context: usize| Standing { kind: self.kind, absent: during[context].absent };
        known.started.retain(|(kind, own), list| {
            let is_kept = callees.iter().all(|(_, context)| {
                contexts[*context].starts.binary_search(kind).is_err()
                    && (*own || !self.is_started_by_others(*kind, standing(*context)))
            });
            for range in list.iter_mut().filter(|_| is_kept) {
                range.handles.retain(|handle| match handle {
                    KnownHandle::Local(_) => true,
                    KnownHandle::Memory(_, region) => callees.iter().all(|(_, context)| {
                        !meet(&contexts[*context].stores, Some(width), region, Some(width))
                            && self.id_writes.are_left_alone(self.view, region, standing(*context))
                    }),
                });
            }
            is_kept
        });
        // What all ends list is at least as new.
        known.started.extend(listed);
        // Where callees return, the thread is the same.
        let has_none = |facts: &&ThreadFacts, kind: TemplateId| {
            facts.started.iter().any(|started| started.kind == kind && is_none(started))
        };
        for started in ends.first().into_iter().flat_map(|facts| &facts.started) {
            if is_none(started) && ends.iter().all(|facts| has_none(facts, started.kind)) {
                known.started.insert((started.kind, true), Vec::new());
            }
        }
    }

    /// Whether another thread may start one of a kind while this one stands somewhere.
    pub fn is_started_by_others(&self, kind: TemplateId, standing: Standing) -> bool {
        self.starts[kind].iter().any(|start| self.view.are_apart(standing, *start).is_none())
    }

    /// A list at a location that does not follow from what is known, or an inequality, or what is said of
    /// the argument.
    pub fn unfounded_started(&self, known: &Known<'a>, facts: &ThreadFacts) -> Vec<Unfounded> {
        let mut found = Vec::new();
        for (number, (one, two)) in facts.order.iter().enumerate() {
            let (one, two) = (known.integers.index(*one), known.integers.index(*two));
            if !known.integers.at_most(one, two) {
                found.push(Unfounded::Order(number));
            }
        }
        found.extend(unfounded_argument(&known.values, facts));
        found.extend(self.unfounded_places(known, facts));
        for started in &facts.started {
            if !self.is_listed(known, (&known.values, &known.integers, &known.placed), started) {
                found.push(Unfounded::Started((started.kind, started.own)));
            }
        }
        found
    }

    /// Whether a list follows where locals have these values, here or at the entry of a callee.
    pub fn is_listed(
        &self,
        known: &Known<'a>,
        terms: (&Values<'a>, &Integers<'a>, &Placed),
        claimed: &Started,
    ) -> bool {
        let covered =
            |range: &KnownRange| claimed.members.iter().any(|members| self.covers(terms, members, range));
        let list = known.started.get(&(claimed.kind, claimed.own));
        known.absent.contains(&claimed.kind) || list.is_some_and(|list| list.iter().all(covered))
    }

    /// Whether all threads of a range are among some that are claimed.
    fn covers(
        &self,
        (values, integers, placed): (&Values<'a>, &Integers<'a>, &Placed),
        members: &Numbered,
        range: &KnownRange,
    ) -> bool {
        if range.is_empty(integers) {
            return true;
        }
        let is_row = |row: Row, known: &KnownRow| *known == self.row(values, placed, row);
        let has_handle = match members.handle {
            None => true,
            Some(Handle::Local(local)) => range
                .handles
                .iter()
                .any(|handle| matches!(handle, KnownHandle::Local(held) if *held == local)),
            Some(Handle::Memory(row)) => range
                .handles
                .iter()
                .any(|handle| matches!(handle, KnownHandle::Memory(known, _) if is_row(row, known))),
        };
        let has_argument =
            members.argument.is_none_or(|row| range.argument.is_some_and(|known| is_row(row, &known)));
        has_handle
            && has_argument
            && members.from.iter().all(|index| {
                let index = integers.index(*index);
                range.from.iter().any(|from| integers.at_most(index, *from))
            })
            && members.below.iter().all(|index| {
                let index = integers.index(*index);
                range.below.iter().any(|below| integers.at_most(*below, index))
            })
    }
}

/// Whether a list says that no thread of its kind is alive that the thread has started itself.
pub fn is_none(started: &Started) -> bool {
    started.own && started.members.is_empty()
}

/// What is claimed of the thread's argument and does not follow.
pub fn unfounded_argument(values: &Values<'_>, facts: &ThreadFacts) -> Vec<Unfounded> {
    let differs = |(local, offset): &&(LocalId, u64)| {
        values.local(*local) != Symbol { anchor: Anchor::Argument, offset: *offset }
    };
    facts.argument.iter().filter(differs).map(|(local, _)| Unfounded::Argument(*local)).collect()
}
