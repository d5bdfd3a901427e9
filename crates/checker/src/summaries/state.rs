//! What is known of a thread along one step: from the facts where an edge starts to those that may be
//! claimed where it ends.
//!
//! Under-approximates: what is known here holds. Operations other than calls and starts are in this file,
//! these are in `calls.rs`.

use super::cells::CellWrites;
use super::ids::IdWrites;
use super::integers::Integers;
use super::locks::Locks;
use super::owned::{Owned, Owner};
use super::regions::{Meeting, Region, is_part_of, meeting};
use super::started::{KnownRange, Linear, Listed, Placed, placed};
use super::symbols::{Anchor, Symbol, Values, mask};
use super::view::{Standing, Touch, View, claim};
use super::words::Words;
use crate::ProofError;
use ir::{
    BinaryOp, EdgeId, Expr, IdVec, IntType, Lhs, LocalId, LocationId, ObjectId, Op, Place, Rhs, Target,
    TemplateId, UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{LockBase, LockFact, ThreadFacts, Word};

/// A lock that is held.
#[derive(Clone, Debug)]
pub struct Held {
    /// Its address.
    pub address: Symbol,
    /// Where that may be.
    pub region: Region,
    /// Whether it is held for reading at least.
    pub shared: bool,
}

/// What a word in memory holds.
#[derive(Clone, Debug)]
pub struct KnownWord {
    /// Its address.
    pub address: Symbol,
    /// Where that may be.
    pub region: Region,
    /// What it holds.
    pub value: Symbol,
    /// The claim, where the edge starts.
    pub claim: Option<Word>,
}

/// What is known of a thread somewhere on an edge.
#[derive(Clone)]
pub struct Known<'p> {
    /// The values of locals.
    pub values: Values<'p>,
    /// The locks that it holds.
    pub locks: Vec<Held>,
    /// The kinds of which no other thread is alive.
    pub absent: BTreeSet<TemplateId>,
    /// The locals that hold ids of threads.
    pub ids: BTreeSet<(LocalId, TemplateId)>,
    /// The handles that it has set.
    pub set: BTreeSet<u32>,
    /// The objects that it owns.
    pub owned: Owned,
    /// The values of narrow locals.
    pub integers: Integers<'p>,
    /// What words in memory hold.
    pub words: Vec<KnownWord>,
    /// The threads of some kinds that may be alive.
    pub started: BTreeMap<Listed, Vec<KnownRange>>,
    /// Which values are in rows, or those of cells.
    pub placed: Placed,
}

/// Which claim about a location does not follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfounded {
    /// That no thread ever is there.
    Unreached,
    /// An equality, by number.
    Equal(usize),
    /// An id.
    Id(LocalId, TemplateId),
    /// A handle.
    Set(u32),
    /// A lock.
    Lock(LockFact),
    /// An absent kind.
    Absent(TemplateId),
    /// A fresh local.
    Fresh(LocalId),
    /// That a local is the thread's argument and a constant.
    Argument(LocalId),
    /// The value of a local.
    Number(LocalId),
    /// An inequality, by number.
    Order(usize),
    /// That a local is in a row.
    Placed(LocalId),
    /// A list of threads.
    Started(Listed),
    /// The value of a word, by number.
    Word(usize),
}

/// Follows the edges of one context.
pub struct Stepper<'v, 'a> {
    /// The program and the proof.
    pub view: &'v View<'a>,
    /// The context.
    pub context: usize,
    /// Its template.
    pub template: TemplateId,
    /// The kind of its threads.
    pub kind: TemplateId,
    /// What is known of locks in the whole program.
    pub locks: &'v Locks<'v, 'a>,
    /// The sites whose addresses are guessed.
    pub guessed: &'v IdVec<ObjectId, bool>,
    /// What is absent wherever each kind may end; `None` where it never ends.
    pub ends: &'v IdVec<TemplateId, Option<Vec<TemplateId>>>,
    /// The kinds that start each kind.
    pub starters: &'v IdVec<TemplateId, BTreeSet<TemplateId>>,
    /// Where each kind is started.
    pub starts: &'v IdVec<TemplateId, BTreeSet<Standing>>,
    /// The steps that may write where handles are.
    pub id_writes: &'v IdWrites,
    /// The steps that may write cells.
    pub cell_writes: &'v CellWrites,
    /// What is known of words in the whole program.
    pub words: &'v Words<'v, 'a>,
}

impl<'v, 'a> Stepper<'v, 'a> {
    /// Whoever sees what is owned.
    pub fn owner(&self) -> Owner<'v, 'a> {
        Owner { view: self.view, template: self.template, guessed: self.guessed }
    }

    /// What is known where an edge starts.
    pub fn start(&self, location: LocationId, facts: &ThreadFacts) -> Result<Known<'a>, ProofError> {
        let values = Values::of(self.view.program, self.template, facts);
        let mut locks = Vec::new();
        for (number, fact) in facts.locks.iter().enumerate() {
            if self.locks.is_usable(self.context, location, number) {
                let region = self.view.lock_region(self.template, fact.base, fact.offset)?;
                let address = values.lock(fact.base, fact.offset);
                locks.push(Held { address, region, shared: fact.shared });
            }
        }
        let mut words = Vec::new();
        for word in &facts.words {
            if self.words.is_usable(self.context, location, word)? {
                words.push(KnownWord {
                    address: values.lock(word.base, word.offset),
                    region: self.view.lock_region(self.template, word.base, word.offset)?,
                    value: values.lock(LockBase::Local(word.local), word.plus),
                    claim: Some(*word),
                });
            }
        }
        let integers = Integers::of(self.view.scope(self.template), facts);
        let placed = placed(&values, &integers, facts, mask(self.view.program));
        Ok(Known {
            words,
            started: self.started_at(facts, &values, &integers, &placed)?,
            placed,
            integers,
            values,
            locks,
            absent: facts.absent.iter().copied().collect(),
            ids: facts.ids.iter().copied().collect(),
            set: facts.set.iter().copied().collect(),
            owned: Owned { locals: facts.fresh.iter().copied().collect(), null: BTreeSet::new() },
        })
    }

    /// The only cell that a place may be.
    fn only_cell(&self, place: &Place) -> Result<Option<(ObjectId, u64)>, ProofError> {
        if place.ty.bits != self.view.program.data_model.pointer().bits {
            return Ok(None);
        }
        if let Expr::Address(object, offset) = &place.address {
            return Ok(Some((*object, *offset)));
        }
        let targets = self.view.points_to.targets(self.template, &place.address);
        Ok(match &targets {
            ir::Targets::Of(targets) => match &targets[..] {
                [Target { object, first, count: 1, .. }] => Some((*object, *first)),
                _ => None,
            },
            ir::Targets::Any => None,
        })
    }

    /// The handle that a place surely is.
    pub fn handle(&self, place: &Place) -> Result<Option<u32>, ProofError> {
        let handles = &self.view.proof.handles;
        if handles.is_empty() {
            return Ok(None);
        }
        let Some(cell) = self.only_cell(place)? else { return Ok(None) };
        let found = handles.iter().position(|handle| (handle.object, handle.offset) == cell);
        Ok(found.and_then(|found| u32::try_from(found).ok()))
    }

    /// The kinds whose only thread's id a value is. More than one only where no thread ever is.
    pub fn id_of(&self, known: &Known<'_>, value: &Expr) -> Result<Vec<TemplateId>, ProofError> {
        let width = self.view.program.data_model.pointer().bits;
        match value {
            Expr::Local(local) => {
                let of_local = known.ids.iter().filter(|(known, _)| known == local);
                Ok(of_local.map(|(_, kind)| *kind).collect())
            }
            Expr::Cast(ty, operand) => {
                let from = self.view.program.type_of(self.template, operand);
                if ty.bits == width && from.bits == width {
                    self.id_of(known, operand)
                } else {
                    Ok(Vec::new())
                }
            }
            Expr::Load(place) => {
                let handle = self.handle(place)?.filter(|handle| known.set.contains(handle));
                Ok(handle.map(|handle| self.view.proof.handles[handle as usize].kind).into_iter().collect())
            }
            Expr::Myself => Ok(Some(self.kind).filter(|kind| self.view.once[*kind]).into_iter().collect()),
            Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Unary(..) => Ok(Vec::new()),
            Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) | Expr::Valid(..) => Ok(Vec::new()),
            Expr::Old(_) => Ok(Vec::new()),
        }
    }

    /// Checks that an operation stores in the cells of handles what they say, and nothing else. `stored`:
    /// the kinds whose id goes to each left-hand side.
    fn check_handles(
        &self,
        touches: &[&Touch<'_>],
        stored: &[(&Place, Vec<TemplateId>)],
    ) -> Result<(), ProofError> {
        let width = self.view.program.data_model.pointer().bytes();
        for touch in touches.iter().filter(|touch| touch.write) {
            for handle in &self.view.proof.handles {
                let cell = Target { object: handle.object, first: handle.offset, stride: 0, count: 1 };
                for target in touch.region.iter() {
                    let fits = match meeting(target, touch.bytes, &cell, Some(width)) {
                        Meeting::Never => true,
                        Meeting::SameStart => {
                            touch.bytes == Some(width) && {
                                let mut of =
                                    stored.iter().filter(|(place, _)| place.address == *touch.address);
                                of.next().is_some_and(|(_, kinds)| kinds.contains(&handle.kind))
                                    && of.all(|(_, kinds)| kinds.contains(&handle.kind))
                            }
                        }
                        Meeting::Otherwise => false,
                    };
                    if !fits {
                        return claim("a handle is overwritten");
                    }
                }
            }
        }
        Ok(())
    }

    /// The cell that an operation stores a value in, and the value as it is before.
    fn stored_cell(
        &self,
        known: &Known<'a>,
        op: &Op,
    ) -> Option<(usize, Option<Symbol>, Option<super::integers::Int>)> {
        let Op::Assign(assignment) = op else { return None };
        let [(Lhs::Memory(place), Rhs::Value(value))] = assignment.pairs.as_slice() else { return None };
        let scope = self.view.scope(self.template);
        let cell = scope.read(place).and_then(|local| scope.number(local))?;
        let is_same = self.view.program.type_of(self.template, value) == place.ty;
        let integer = known.integers.eval(value).filter(|_| is_same);
        Some((cell, known.values.eval(value).filter(|_| is_same), integer))
    }

    /// Drops the locks whose words some bytes may be, unless these are surely apart.
    fn break_locks(&self, known: &mut Known<'_>, touch: &Touch<'_>) {
        let mask = mask(self.view.program);
        let address = known.values.eval(touch.address);
        known.locks.retain(|held| {
            let bytes = self.locks.bytes(&held.region);
            let apart = address.and_then(|address| held.address.distance(address, mask));
            if let (Some(apart), Some(size)) = (apart, touch.bytes) {
                return apart >= i128::from(bytes) || apart <= -i128::from(size);
            }
            !super::regions::meet(&touch.region, touch.bytes, &held.region, Some(bytes))
        });
    }

    /// Drops the words that some bytes may be of, unless these are surely apart.
    fn break_words(&self, known: &mut Known<'_>, touch: &Touch<'_>) {
        let mask = mask(self.view.program);
        let width = i128::from(self.view.program.data_model.pointer().bytes());
        let address = known.values.eval(touch.address);
        known.words.retain(|word| {
            let apart = address.and_then(|address| word.address.distance(address, mask));
            if let (Some(apart), Some(size)) = (apart, touch.bytes) {
                return apart >= width || apart <= -i128::from(size);
            }
            !self.words.may_meet(touch, &word.region)
        });
    }

    /// The word that an assignment loads into a local as wide as a pointer, or stores, and nothing else.
    fn moved_word(&self, known: &Known<'_>, op: &Op, touches: &[&Touch<'_>]) -> Option<MovedWord> {
        let Op::Assign(assignment) = op else { return None };
        let [(lhs, Rhs::Value(value))] = assignment.pairs.as_slice() else { return None };
        let width = self.view.program.data_model.pointer().bits;
        let mask = mask(self.view.program);
        let (place, to, write) = match lhs {
            Lhs::Local(local) => {
                let (place, plus) = loaded(value, width)?;
                (place, Some((*local, plus & mask)), false)
            }
            Lhs::Memory(place) => (place, None, true),
        };
        let is_wide = |local| super::symbols::is_wide(self.view.program, self.template, local);
        if place.ty.bits != width || !to.is_none_or(|(local, _)| is_wide(local)) {
            return None;
        }
        let address = known.values.eval(&place.address)?;
        let mut touched = touches.iter().filter(|touch| *touch.address == place.address);
        let region = touched.find(|touch| touch.write == write)?.region.clone();
        let value = match to {
            Some((_, plus)) => {
                let word = known.words.iter().find(|word| word.address == address);
                word.map(|word| word.value.plus(plus, mask))
            }
            None => known.values.eval(value),
        };
        Some(MovedWord { address, region, value, to })
    }

    /// What an operation makes of what is known. Calls and starts are elsewhere.
    pub fn step(
        &self,
        known: &mut Known<'a>,
        op: &Op,
        touches: &[&Touch<'_>],
        edge: EdgeId,
    ) -> Result<(), ProofError> {
        let mut stored: Vec<(&Place, Vec<TemplateId>)> = Vec::new();
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    if let Lhs::Memory(place) = lhs {
                        let kinds = match rhs {
                            Rhs::Value(value) => self.id_of(known, value)?,
                            Rhs::Any | Rhs::Unknown | Rhs::Float(..) => Vec::new(),
                        };
                        stored.push((place, kinds));
                    }
                }
            }
            Op::Spawn(_, _, Some(Lhs::Memory(place))) => {
                stored.push((place, self.started_kind(edge).into_iter().collect()));
            }
            Op::Join(_, Some(Lhs::Memory(place))) => stored.push((place, Vec::new())),
            Op::Allocate { result: Lhs::Memory(place), .. } => stored.push((place, Vec::new())),
            Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } | Op::Assume(_) | Op::Lock(..) => {}
            Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) => {}
            Op::Broadcast(_) => return claim("a step changes locals of other threads"),
        }
        self.check_handles(touches, &stored)?;
        let (read, written) = self.moves(known, op);
        let cell = self.stored_cell(known, op);
        let moved = self.moved_word(known, op, touches);
        for touch in touches.iter().filter(|touch| touch.write) {
            self.break_handles(known, touch);
            self.break_words(known, touch);
            if !touch.lock {
                self.break_locks(known, touch);
            }
        }
        let is_write = touches.iter().any(|touch| touch.write);
        for number in self.cell_writes.of_step(self.template, edge).iter().filter(|_| is_write) {
            let number = *number as usize;
            let value = cell.filter(|(stored, _, _)| *stored == number);
            self.write_cell(known, number, value.map_or((None, None), |(_, value, number)| (value, number)));
        }
        let mut set = Vec::new();
        for (place, kinds) in stored {
            let handle = self.handle(place)?;
            let is_kind = |handle: &u32| kinds.contains(&self.view.proof.handles[*handle as usize].kind);
            set.extend(handle.filter(is_kind));
        }
        self.owner().step(&mut known.owned, op)?;
        match op {
            Op::Assign(assignment) => {
                let mut assigned = Vec::new();
                for (lhs, rhs) in &assignment.pairs {
                    let Lhs::Local(local) = lhs else { continue };
                    let mut linear = None;
                    let (value, number, integer, id) = match rhs {
                        Rhs::Value(value) => {
                            let code = &self.view.program.templates[self.template];
                            let ty = self.view.program.type_of(self.template, value);
                            let integer = known.integers.eval(value);
                            let is_same = ty == code.locals[*local].ty;
                            let integer = integer.filter(|_| is_same);
                            let number = known.values.number(value).filter(|_| is_same);
                            linear = self.linear(known, value).filter(|_| is_same);
                            (known.values.eval(value), number, integer, self.id_of(known, value)?)
                        }
                        Rhs::Any | Rhs::Unknown | Rhs::Float(..) => (None, None, None, Vec::new()),
                    };
                    assigned.push((*local, value, number, integer, id, linear));
                }
                for (local, value, number, integer, id, linear) in assigned {
                    let value = value.or(moved.as_ref().and_then(|moved| moved.value));
                    self.assign(known, local, value, &id);
                    if let Some(linear) = linear
                        && super::symbols::is_wide(self.view.program, self.template, local)
                    {
                        self.place(known, local, linear);
                    }
                    known.values.set_number(local, number);
                    known.integers.set(local, integer);
                }
                if let Some(moved) = moved {
                    let value = match moved.to {
                        Some((local, plus)) => {
                            let less = plus.wrapping_neg();
                            Some(known.values.local(local).plus(less, mask(self.view.program)))
                        }
                        None => moved.value,
                    };
                    let MovedWord { address, region, .. } = moved;
                    known.words.extend(value.map(|value| KnownWord { address, region, value, claim: None }));
                }
                if let Some((local, address)) = read {
                    self.read_handle(known, local, address);
                }
                if let (Some((local, address)), [touch]) =
                    (written, &touches.iter().filter(|touch| touch.write).collect::<Vec<_>>()[..])
                {
                    self.write_handle(known, local, touch, address);
                }
            }
            Op::Lock(kind, address) => {
                if let Some(symbol) = known.values.eval(address) {
                    let region = touches.iter().find(|touch| touch.lock).map(|touch| touch.region.clone());
                    let shared = *kind == ir::LockKind::Read;
                    let Some(region) = region else { return claim("a lock has no address") };
                    known.locks.push(Held { address: symbol, region, shared });
                }
            }
            Op::Unlock(..) => {
                for touch in touches.iter().filter(|touch| touch.lock) {
                    self.break_locks(known, touch);
                }
            }
            Op::Join(thread, lhs) => {
                self.join_started(known, thread);
                self.settle_started(known);
                for kind in self.id_of(known, thread)? {
                    known.absent.insert(kind);
                    known.absent.extend(self.ended_with(kind));
                }
                if let Some(Lhs::Local(local)) = lhs {
                    self.assign(known, *local, None, &[]);
                }
            }
            Op::Allocate { result: Lhs::Local(local), .. } => self.assign(known, *local, None, &[]),
            Op::Assume(condition) => {
                known.integers.assume(condition, true);
                self.settle_started(known);
                if let Some((address, true)) = owner_test(condition)
                    && let Some(symbol) = known.values.eval(address)
                    && let Some(touch) = touches.iter().find(|touch| *touch.address == *address)
                    && touch.region.iter().all(|target| self.is_lock(target))
                {
                    // Its owner word is the thread's id.
                    let region = touch.region.clone();
                    known.locks.push(Held { address: symbol, region, shared: false });
                }
            }
            Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) => {}
            Op::Spawn(..) | Op::Call(..) | Op::Broadcast(_) => {}
        }
        known.set.extend(set);
        Ok(())
    }

    /// Takes note of the place of a local's value, if none is known: where a word and a cell are one, the
    /// value is named by what the word holds.
    fn place(&self, known: &mut Known<'a>, local: LocalId, at: Linear) {
        let value = known.values.local(local);
        let names_other = matches!(value.anchor, Anchor::Local(_) | Anchor::Unknown(_));
        if names_other && value.anchor != at.start.anchor {
            let start = at.start.plus(value.offset.wrapping_neg(), mask(self.view.program));
            known.placed.entry(value.anchor).or_insert(Linear { start, ..at });
        }
    }

    /// Whether some step takes a lock at each of these offsets: of other words that hold a thread's id,
    /// nobody knows who writes them.
    fn is_lock(&self, target: &Target) -> bool {
        self.view.lockable[target.object].iter().any(|(lock, _)| is_part_of(target, lock))
    }

    /// Whether an assumption says that the thread does not hold a lock that it holds.
    pub fn is_excluded(&self, known: &Known<'_>, condition: &Expr) -> bool {
        let Some((address, false)) = owner_test(condition) else { return false };
        let Some(symbol) = known.values.eval(address) else { return false };
        known.locks.iter().any(|held| held.address == symbol && !held.shared)
    }

    /// Gives a local a value.
    pub fn assign(&self, known: &mut Known<'a>, local: LocalId, value: Option<Symbol>, kinds: &[TemplateId]) {
        known.values.set(local, value);
        known.integers.set(local, None);
        self.forget_handle(known, local);
        known.ids.retain(|(other, _)| *other != local);
        if super::symbols::is_wide(self.view.program, self.template, local) {
            known.ids.extend(kinds.iter().map(|kind| (local, *kind)));
        }
    }

    /// The only kind that a step starts, if there is one of it.
    pub fn started_kind(&self, edge: EdgeId) -> Option<TemplateId> {
        match self.view.steps[self.template][edge].callees.as_slice() {
            [kind] if self.view.once[*kind] => Some(*kind),
            _ => None,
        }
    }

    /// The kinds of which no thread is alive once the only thread of a kind was joined: absent wherever
    /// that ends, and started by it or by one another only. The largest such set.
    fn ended_with(&self, joined: TemplateId) -> BTreeSet<TemplateId> {
        let mut found: BTreeSet<TemplateId> = self.ends[joined].iter().flatten().copied().collect();
        loop {
            let is_open = |kind: &TemplateId| {
                self.starters[*kind].iter().any(|starter| *starter != joined && !found.contains(starter))
            };
            match found.iter().find(|kind| is_open(kind)).copied() {
                Some(kind) => found.remove(&kind),
                None => return found,
            };
        }
    }

    /// The claims about a location that do not follow from what is known.
    pub fn unfounded(&self, known: &Known<'a>, location: LocationId) -> Result<Vec<Unfounded>, ProofError> {
        let Some(facts) = self.view.facts(self.context, location) else {
            return Ok(vec![Unfounded::Unreached]);
        };
        let mut found = Vec::new();
        let mask = mask(self.view.program);
        for (number, (local, other, constant)) in facts.equal.iter().enumerate() {
            if known.values.local(*local) != known.values.local(*other).plus(*constant, mask) {
                found.push(Unfounded::Equal(number));
            }
        }
        found.extend(unfounded_numbers(&known.values, facts));
        let is_none = |id: &&(LocalId, TemplateId)| !known.ids.contains(id);
        found.extend(facts.ids.iter().filter(is_none).map(|(local, kind)| Unfounded::Id(*local, *kind)));
        let is_unset = |handle: &&u32| !known.set.contains(handle);
        found.extend(facts.set.iter().filter(is_unset).map(|handle| Unfounded::Set(*handle)));
        for (number, lock) in facts.locks.iter().enumerate() {
            if self.locks.is_usable(self.context, location, number) && !holds(known, lock) {
                found.push(Unfounded::Lock(*lock));
            }
        }
        let is_there = |kind: &&TemplateId| !known.absent.contains(kind);
        found.extend(facts.absent.iter().filter(is_there).map(|kind| Unfounded::Absent(*kind)));
        found.extend(self.unfounded_started(known, facts));
        found.extend(self.owner().allows(&known.owned, &facts.fresh, location)?.map(Unfounded::Fresh));
        for (number, word) in facts.words.iter().enumerate() {
            let address = known.values.lock(word.base, word.offset);
            let value = known.values.lock(LockBase::Local(word.local), word.plus);
            let is_known = known.words.iter().any(|known| known.address == address && known.value == value);
            if !is_known && self.words.is_usable(self.context, location, word)? {
                found.push(Unfounded::Word(number));
            }
        }
        Ok(found)
    }
}

/// A word that an assignment moves.
struct MovedWord {
    address: Symbol,
    region: Region,
    /// What is stored there, or what the local gets, if that is known.
    value: Option<Symbol>,
    /// The local that gets it, with what is added; `None` where it is stored.
    to: Option<(LocalId, u64)>,
}

/// The place that is loaded for a value, if that is it but for a constant.
fn loaded(value: &Expr, width: u8) -> Option<(&Place, u64)> {
    match value {
        Expr::Load(place) => Some((place, 0)),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) if ty.bits == width => {
            let (sum, by) = match (&pair.0, &pair.1, op) {
                (sum, Expr::Const(by, _), BinaryOp::Sub) => (sum, (*by as u64).wrapping_neg()),
                (sum, Expr::Const(by, _), BinaryOp::Add) => (sum, *by as u64),
                (Expr::Const(by, _), sum, BinaryOp::Add) => (sum, *by as u64),
                _ => return None,
            };
            let (place, plus) = loaded(sum, width)?;
            Some((place, plus.wrapping_add(by)))
        }
        Expr::Const(..) | Expr::Local(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => None,
        Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) => None,
        Expr::Overflows(..) | Expr::Valid(..) | Expr::Old(_) => None,
    }
}

/// The address of the word that an assumption compares with the thread's own id, and whether it says that
/// they are equal.
pub fn owner_test(condition: &Expr) -> Option<(&Expr, bool)> {
    let is_me = |expr: &Expr| match expr {
        Expr::Cast(IntType::U32, operand) => **operand == Expr::Myself,
        _ => false,
    };
    match condition {
        Expr::Unary(UnaryOp::Not, IntType::BOOL, operand) => {
            owner_test(operand).map(|(address, equal)| (address, !equal))
        }
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), IntType::U32, pair) => {
            let word = match (&pair.0, &pair.1) {
                (Expr::Load(place), other) | (other, Expr::Load(place)) if is_me(other) => place,
                _ => return None,
            };
            (word.ty == IntType::U32).then_some((&word.address, *op == BinaryOp::Eq))
        }
        _ => None,
    }
}

/// The locals that are claimed to have a value and are not known to.
pub fn unfounded_numbers(values: &Values<'_>, facts: &ThreadFacts) -> Vec<Unfounded> {
    let is_other =
        |(local, value): &&(LocalId, i64)| values.number_of(*local) != Some(ir::Value::from(*value));
    facts.numbers.iter().filter(is_other).map(|(local, _)| Unfounded::Number(*local)).collect()
}

/// Whether a lock is held, at least as claimed.
pub fn holds(known: &Known<'_>, lock: &LockFact) -> bool {
    let address = known.values.lock(lock.base, lock.offset);
    // A lock whose address can only be one byte of a single object is there.
    let is_there = |held: &Held| match (lock.base, &held.region[..]) {
        (LockBase::Object(object), [Target { object: only, first, count: 1, .. }]) => {
            object == *only && lock.offset == *first
        }
        _ => false,
    };
    let is_same = |held: &Held| held.address == address || is_there(held);
    known.locks.iter().any(|held| is_same(held) && (lock.shared || !held.shared))
}

/// Whether a lock is counted from a local.
pub fn base_local(lock: &LockFact) -> Option<LocalId> {
    match lock.base {
        LockBase::Local(local) => Some(local),
        LockBase::Object(_) => None,
    }
}
