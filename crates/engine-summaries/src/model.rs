//! A program made ready for the analysis: who calls whom, what each step touches, what there is one of.
//!
//! Everything here is computed once, whatever the facts. Over-approximates calls and accesses, as far as the
//! points-to sets do; under-approximates what there is one of, and what is private.

use crate::cells;
use crate::flows::{Addresses, Flows};
use crate::indices::{elements, index_locals, number};
use crate::members::id_targets;
use crate::once::{once_objects, once_templates};
use crate::ownership::compared;
use crate::teams::{Helpers, helpers};
use crate::words;
use ir::ids::Id;
use ir::passes::PointsTo;
use ir::passes::bits::BitSet;
use ir::passes::footprint::{Extent, Region, racing_accesses};
use ir::passes::liveness::live_locals;
use ir::{
    BinaryOp, Callee, EdgeId, Expr, IdVec, LocalId, LocationId, LocationKind, LockKind, ObjectId, Op, Place,
    Program, Rhs, Storage, Target, Targets, TemplateId,
};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use verdict::{Cell, LockBase};

/// The bytes of a lock's words.
pub const WORDS: u64 = 8;

/// What family of operations a lock is used with: words of different families mean different things.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Family {
    /// A mutex.
    Mutex,
    /// A spin lock.
    Spin,
    /// A read-write lock.
    ReadWrite,
}

impl Family {
    /// The family that an operation belongs to.
    pub fn of(kind: LockKind) -> Self {
        match kind {
            LockKind::Mutex => Self::Mutex,
            LockKind::Spin => Self::Spin,
            LockKind::Read | LockKind::Write => Self::ReadWrite,
        }
    }
}

/// Targets, shared and with a number so that equal ones are compared at once.
#[derive(Clone, Debug)]
pub struct Places {
    /// Equal lists have equal numbers.
    pub number: u32,
    /// Where; `None` for anywhere.
    pub targets: Option<Arc<[Target]>>,
}

/// An access that a step makes.
#[derive(Clone, Debug)]
pub struct Access {
    /// Which operation of the edge makes it.
    pub op: usize,
    /// Its address.
    pub address: Expr,
    /// Where that may be.
    pub places: Places,
    /// How many bytes; `None` for the whole object.
    pub bytes: Option<u64>,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic, or made in an atomic region.
    pub atomic: bool,
    /// Whether it takes or gives back a lock there.
    pub is_lock: bool,
    /// Whether it is made by freeing memory.
    pub is_free: bool,
    /// The numbers of the lock targets that it may write, in rising order.
    pub locks: Arc<[u32]>,
    /// The numbers of the places for ids of threads that it may write, in rising order.
    pub ids: Arc<[u32]>,
    /// The cells that it may write, in rising order.
    pub cells: Arc<[u32]>,
    /// The numbers of the words that it may write, in rising order.
    pub words: Arc<[u32]>,
}

impl Access {
    /// The region that it touches.
    pub fn region(&self) -> Region {
        let targets = self.places.targets.clone().map_or(Targets::Any, Targets::Of);
        Region { targets, extent: self.bytes.map_or(Extent::Object, Extent::Bytes) }
    }
}

/// What is known of one procedure whatever the facts.
pub struct Procedure {
    /// The edges that start at each location.
    pub outgoing: IdVec<LocationId, Vec<EdgeId>>,
    /// Which locals may still be read.
    pub live: IdVec<LocationId, BitSet>,
    /// The place of each location in a reverse postorder.
    pub order: IdVec<LocationId, u32>,
    /// Where activations return.
    pub ends: Vec<LocationId>,
    /// The procedures that an edge may call or start: those of its last operation that does.
    pub callees: IdVec<EdgeId, Vec<TemplateId>>,
    /// What each edge accesses.
    pub accesses: IdVec<EdgeId, Vec<Access>>,
    /// Whether each local is ever assigned.
    pub assigned: BitSet,
    /// The allocation sites that each local may point into, in rising order.
    pub sites: IdVec<LocalId, Arc<[ObjectId]>>,
    /// Whether it starts or joins threads, or calls procedures that do.
    pub has_threads: bool,
    /// The locals of more than 32 bits that count something.
    pub counters: BitSet,
    /// The locals that it joins threads by.
    pub joined: BitSet,
    /// The locals whose value may be an address in an object that has a lock.
    pub named: BitSet,
}

/// Numbers of words, by what an address is counted from in a procedure.
type KnownWords = FxHashMap<(TemplateId, LockBase, u64), Arc<[u32]>>;

/// A program made ready.
pub struct Model<'p> {
    /// The program.
    pub program: &'p Program,
    /// What addresses may point to.
    pub points_to: &'p PointsTo,
    /// Its procedures.
    pub procedures: IdVec<TemplateId, Procedure>,
    /// Templates of which there is at most one activation in a run.
    pub once: IdVec<TemplateId, bool>,
    /// Objects that there is one of.
    pub single: IdVec<ObjectId, bool>,
    /// Objects that only their own thread touches.
    pub private: IdVec<ObjectId, bool>,
    /// Kinds of threads that several others start, with what they share with these.
    pub helpers: Vec<Helpers>,
    /// The templates that threads start in.
    pub kinds: Vec<TemplateId>,
    /// Where locks are taken, without repetitions.
    pub lock_targets: Vec<Target>,
    /// Where ids of threads are stored that were just started, without repetitions.
    pub id_targets: Vec<Target>,
    /// Variables in memory that count as locals.
    pub cells: Vec<Cell>,
    /// Where words are that may be the address of an object with a lock, without repetitions.
    pub word_targets: Vec<Target>,
    /// The words that claims may be about, by number, as far as that was asked.
    pub known_words: RefCell<KnownWords>,
    /// For each procedure, the words that it, or what it calls, may write, by number.
    pub overwrites: IdVec<TemplateId, BitSet>,
    /// Where lock operations are made, by family.
    pub families: Vec<(Family, Target)>,
    /// For each procedure, the locals whose numbers say which lock is meant.
    pub indices: IdVec<TemplateId, BitSet>,
    /// Allocation sites whose objects can be owned: nobody accesses them by an address that was guessed.
    pub ownable: IdVec<ObjectId, bool>,
}

/// The places of locks that are taken, with the elements that numbers distinguish; and where lock operations
/// are made, by family.
fn lock_targets(
    program: &Program,
    points_to: &PointsTo,
    indices: &IdVec<TemplateId, BitSet>,
) -> (Vec<Target>, Vec<(Family, Target)>) {
    let (mut taken, mut families) = (BTreeSet::new(), BTreeSet::new());
    for (id, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            let (Op::Lock(kind, address) | Op::Unlock(kind, address)) = op else { continue };
            let places = Region::at(points_to, id, address, Extent::Bytes(WORDS)).targets;
            let Targets::Of(places) = places else { continue };
            for target in places.iter() {
                families.insert((Family::of(*kind), *target));
                if matches!(op, Op::Lock(..)) {
                    taken.insert(*target);
                    taken.extend(elements(&indices[id], address, *target));
                }
            }
        }
    }
    (taken.into_iter().collect(), families.into_iter().collect())
}

impl<'p> Model<'p> {
    /// Makes a program ready.
    pub fn new(program: &'p Program, points_to: &'p PointsTo) -> Self {
        let callees: IdVec<TemplateId, IdVec<EdgeId, Vec<TemplateId>>> = program
            .templates
            .enumerate()
            .map(|(id, code)| code.edges.iter().map(|edge| callees(points_to, id, &edge.ops)).collect())
            .collect();
        let once = once_templates(program, points_to);
        let single = once_objects(program, &once);
        let escaping = points_to.escaping(program);
        let escaping = with_unknown_stores(program, points_to, escaping);
        let mut kinds: BTreeSet<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
        let indices = index_locals(program, &callees);
        for (id, code) in program.templates.enumerate() {
            for (edge_id, edge) in code.edges.enumerate() {
                if edge.ops.iter().any(|op| matches!(op, Op::Spawn(..))) {
                    kinds.extend(&callees[id][edge_id]);
                }
            }
        }
        let (lock_targets, families) = lock_targets(program, points_to, &indices);
        let flows = Flows::new(program, points_to, &callees, &kinds);
        let guessed = guessed(program, points_to, &flows.addresses());
        let captured = flows.captured(&guessed, None);
        let helpers = helpers(program, &callees, (&kinds, &once), (&flows, &guessed));
        let private = program.objects.enumerate().map(|(id, object)| match object.storage {
            Storage::Static => false,
            Storage::Frame(_) | Storage::ThreadLocal | Storage::Site => {
                (!escaping[id] || !captured[id]) && !guessed[id]
            }
        });
        let private = private.collect();
        let mut id_targets: Vec<Target> =
            program.templates.enumerate().flat_map(|(id, code)| id_targets(points_to, id, code)).collect();
        id_targets.sort_unstable();
        id_targets.dedup();
        let with_threads = cells::with_threads(program);
        let cells = cells::cells(program, &callees, &with_threads);
        let lockable: BTreeSet<ObjectId> = lock_targets.iter().map(|target| target.object).collect();
        let named: IdVec<TemplateId, BitSet> =
            program.templates.ids().map(|id| words::named((program, points_to), id, &lockable)).collect();
        let word_targets = words::targets((program, points_to), &named);
        let mut interner = Interner::new([&lock_targets, &id_targets, &word_targets], &cells);
        let is_open = points_to.accesses_anything(program);
        let compared = compared(program, points_to);
        let can_be_owned = |(id, object): (ObjectId, &ir::Object)| {
            object.storage == Storage::Site && !is_open && !guessed[id] && !compared[id]
        };
        let ownable = program.objects.enumerate().map(can_be_owned).collect();
        let mut procedures = IdVec::new();
        for ((id, code), callees) in program.templates.enumerate().zip(callees.iter()) {
            let accesses: IdVec<EdgeId, Vec<Access>> = code
                .edges
                .iter()
                .map(|edge| {
                    let is_atomic = code.locations[edge.source].atomic;
                    interner.accesses(points_to, id, &edge.ops, is_atomic)
                })
                .collect();
            let ends = code.locations.enumerate();
            let ends = ends.filter(|(_, described)| described.kind == LocationKind::End);
            let of_local = |local: LocalId| sites(program, points_to, id, &Expr::Local(local));
            procedures.push(Procedure {
                outgoing: code.outgoing(),
                live: live_locals(code),
                order: reverse_postorder(code),
                ends: ends.map(|(location, _)| location).collect(),
                callees: callees.clone(),
                accesses,
                assigned: assigned(code),
                has_threads: with_threads[id],
                counters: cells::counters(code),
                joined: joined(code),
                named: named[id].clone(),
                sites: code.locals.ids().map(of_local).collect(),
            });
        }
        let overwrites = IdVec::new();
        let mut model = Self {
            program,
            points_to,
            procedures,
            once,
            single,
            private,
            helpers,
            kinds: kinds.into_iter().collect(),
            lock_targets,
            id_targets,
            cells,
            word_targets,
            known_words: RefCell::default(),
            overwrites,
            families,
            indices,
            ownable,
        };
        model.overwrites = words::overwritten(&model);
        model
    }

    /// An address as a base and a constant, if it is one that locks can be named by, where some numbers are
    /// known.
    pub fn linear(
        &self,
        template: TemplateId,
        address: &Expr,
        numbers: &[(LocalId, i64)],
    ) -> Option<(LockBase, u64)> {
        let pointer = self.program.data_model.pointer();
        match address {
            Expr::Local(local) => {
                let is_wide = self.program.templates[template].locals[*local].ty.bits == pointer.bits;
                is_wide.then_some((LockBase::Local(*local), 0))
            }
            Expr::Address(object, offset) => {
                self.single[*object].then_some((LockBase::Object(*object), *offset))
            }
            Expr::Cast(ty, operand) if ty.bits == pointer.bits => {
                let from = self.program.type_of(template, operand);
                if from.bits == pointer.bits { self.linear(template, operand, numbers) } else { None }
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) if ty.bits == pointer.bits => {
                let by = |base: &Expr, constant: i128| {
                    let (base, offset) = self.linear(template, base, numbers)?;
                    Some((base, self.wrap(i128::from(offset) + constant)))
                };
                match (number(numbers, &pair.0), number(numbers, &pair.1), op) {
                    (_, Some(constant), BinaryOp::Sub) => by(&pair.0, -constant),
                    (_, Some(constant), _) => by(&pair.0, constant),
                    (Some(constant), None, BinaryOp::Add) => by(&pair.1, constant),
                    _ => None,
                }
            }
            Expr::Const(..) | Expr::Load(_) | Expr::Procedure(_) | Expr::Myself | Expr::Unary(..) => None,
            Expr::Binary(..) | Expr::Cast(..) | Expr::IfThenElse(_) | Expr::Overflows(..) => None,
            Expr::Valid(..) | Expr::Old(_) => None,
        }
    }

    /// Whether threads of two kinds never touch the same one of an object, since they are of different teams.
    pub fn are_of_two_teams(&self, object: ObjectId, one: TemplateId, other: TemplateId) -> bool {
        let mut teams = self.helpers.iter().filter(|helpers| helpers.shared[object]);
        self.program.unordered.is_empty() && teams.any(|helpers| helpers.kind != one && helpers.kind != other)
    }

    /// A number modulo 2 to the width of a pointer.
    pub fn wrap(&self, value: i128) -> u64 {
        self.program.data_model.pointer().wrap(value) as u64
    }

    /// The bytes that a lock's words may be at.
    pub fn lock_region(&self, template: TemplateId, base: LockBase, offset: u64) -> Region {
        match base {
            LockBase::Object(object) => Region::exact(object, offset, WORDS),
            LockBase::Local(local) => {
                let pointer = self.program.data_model.pointer();
                let constant = Expr::int(i128::from(offset), pointer);
                let value = match self.cell(template, local) {
                    Some(cell) => {
                        let address = Expr::Address(cell.object, cell.offset);
                        Expr::load(Place { address, ty: cell.ty, atomic: false, targets: Targets::Any })
                    }
                    None => Expr::Local(local),
                };
                let address = match offset {
                    0 => value,
                    _ => Expr::binary(BinaryOp::Add, pointer, value, constant),
                };
                Region::at(self.points_to, template, &address, Extent::Bytes(WORDS))
            }
        }
    }

    /// Whether an object is that of one allocation, or of one variable.
    pub fn is_single(&self, object: ObjectId) -> bool {
        self.single[object]
    }

    /// Whether two locals may point into a common allocated object.
    pub fn may_share(&self, template: TemplateId, one: LocalId, other: LocalId) -> bool {
        if one == other {
            return true;
        }
        let sites = &self.procedures[template].sites;
        sites[one].iter().any(|site| sites[other].binary_search(site).is_ok())
    }
}

/// The procedures that the last operation of an edge may call or start.
fn callees(points_to: &PointsTo, template: TemplateId, ops: &[Op]) -> Vec<TemplateId> {
    let mut found = BTreeSet::new();
    for op in ops {
        if let Op::Call(callee, ..) | Op::Spawn(callee, ..) = op {
            match callee {
                Callee::Procedure(callee) => {
                    found.insert(*callee);
                }
                Callee::Pointer(pointer) => found.extend(points_to.callees(template, pointer)),
            }
        }
    }
    found.into_iter().collect()
}

/// The locals that some operation assigns to.
fn assigned(code: &ir::Template) -> BitSet {
    let mut found = BitSet::new(code.locals.len());
    for lhs in code.edges.iter().flat_map(|edge| &edge.ops).flat_map(Op::targets) {
        if let ir::Lhs::Local(local) = lhs {
            found.insert(local.index());
        }
    }
    found
}

/// The locals that threads are joined by.
fn joined(code: &ir::Template) -> BitSet {
    let mut found = BitSet::new(code.locals.len());
    for op in code.edges.iter().flat_map(|edge| &edge.ops) {
        if let Op::Join(Expr::Local(local), _) = op {
            found.insert(local.index());
        }
    }
    found
}

/// The objects that an expression may point into, in rising order.
fn objects(program: &Program, points_to: &PointsTo, template: TemplateId, expr: &Expr) -> BTreeSet<ObjectId> {
    match points_to.targets(template, expr) {
        Targets::Of(targets) => targets.iter().map(|target| target.object).collect(),
        Targets::Any => program.objects.ids().collect(),
    }
}

/// The allocation sites that an expression may point into, in rising order.
fn sites(program: &Program, points_to: &PointsTo, template: TemplateId, expr: &Expr) -> Arc<[ObjectId]> {
    let is_site = |object: &ObjectId| program.objects[*object].storage == Storage::Site;
    objects(program, points_to, template, expr).into_iter().filter(is_site).collect()
}

/// The objects that escape, and those that do by the word of the checker alone: a value of which nothing is
/// known is stored where others read it.
fn with_unknown_stores(
    program: &Program,
    points_to: &PointsTo,
    mut escaping: IdVec<ObjectId, bool>,
) -> IdVec<ObjectId, bool> {
    let pointer = program.data_model.pointer();
    let mut stored: BTreeSet<ObjectId> = BTreeSet::new();
    for (id, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            let Op::Assign(assignment) = op else { continue };
            for (lhs, rhs) in &assignment.pairs {
                let (ir::Lhs::Memory(place), Rhs::Value(value)) = (lhs, rhs) else { continue };
                let is_open = |object: &ObjectId| escaping[*object];
                if place.ty.bits >= pointer.bits
                    && points_to.is_unknown(id, value)
                    && objects(program, points_to, id, &place.address).iter().any(is_open)
                {
                    stored.extend(objects(program, points_to, id, value));
                }
            }
        }
    }
    stored.into_iter().for_each(|object| escaping[object] = true);
    escaping
}

/// Whether some access may touch each of some objects.
fn touches_all(program: &Program, points_to: &PointsTo, named: &[ObjectId]) -> bool {
    let steps = program.templates.enumerate().flat_map(|(id, code)| {
        let ops = code.edges.iter().flat_map(|edge| &edge.ops);
        ops.map(move |op| (id, op))
    });
    let mut accesses = steps.flat_map(|(id, op)| racing_accesses(points_to, id, op));
    accesses.any(|access| match &access.region.targets {
        Targets::Any => true,
        Targets::Of(targets) => {
            let has = |object: &ObjectId| targets.iter().any(|target| target.object == *object);
            targets.len() >= named.len() && named.iter().all(has)
        }
    })
}

/// The objects that an input, or a bounded value that is not modelled, may turn out to be an address in.
fn guessed(program: &Program, points_to: &PointsTo, addresses: &Addresses<'_, '_>) -> IdVec<ObjectId, bool> {
    let mut guessed: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
    let mut touched: FxHashMap<Vec<ObjectId>, bool> = FxHashMap::default();
    let guessable = points_to.guessable();
    let pointer = program.data_model.pointer();
    for (id, code) in program.templates.enumerate() {
        let live = live_locals(code);
        for edge in &code.edges {
            for (index, op) in edge.ops.iter().enumerate() {
                let Op::Assign(assignment) = op else { continue };
                for (lhs, rhs) in &assignment.pairs {
                    match rhs {
                        Rhs::Any | Rhs::Unknown => {}
                        Rhs::Value(_) | Rhs::Float(..) => continue,
                    }
                    // What is never read, as of a variable that is declared without a value, is no address.
                    let (value, ty, is_read) = match lhs {
                        ir::Lhs::Local(local) => {
                            let is_read = live[edge.target].contains(local.index());
                            let is_read = is_read || edge.reads_later(index, *local);
                            (Expr::Local(*local), code.locals[*local].ty, is_read)
                        }
                        ir::Lhs::Memory(place) => (Expr::load(place.clone()), place.ty, true),
                    };
                    if !is_read || ty.bits < pointer.bits || !addresses.may_be_one(id, lhs) {
                        continue;
                    }
                    // One of which nothing is known counts where some access may be by it.
                    let named: Vec<ObjectId> = objects(program, points_to, id, &value).into_iter().collect();
                    let is_known = *rhs == Rhs::Any || !points_to.is_unknown(id, &value);
                    let counts = is_known
                        || *touched
                            .entry(named.clone())
                            .or_insert_with(|| touches_all(program, points_to, &named));
                    // If something is known of the set, the value is an input in it.
                    let is_guess = |object: &&ObjectId| counts && (!is_known || guessable[**object]);
                    named.iter().filter(is_guess).for_each(|object| guessed[*object] = true);
                }
            }
        }
    }
    guessed
}

/// Numbers of locations such that most edges lead to higher ones.
fn reverse_postorder(code: &ir::Template) -> IdVec<LocationId, u32> {
    let outgoing = code.outgoing();
    let mut order: IdVec<LocationId, u32> = code.locations.iter().map(|_| u32::MAX).collect();
    let mut seen = BitSet::new(code.locations.len());
    let mut next = code.locations.len() as u32;
    let mut path = vec![(code.entry, 0)];
    seen.insert(code.entry.index());
    while let Some((location, done)) = path.pop() {
        match outgoing[location].get(done) {
            Some(edge) => {
                path.push((location, done + 1));
                let target = code.edges[*edge].target;
                if seen.insert(target.index()) {
                    path.push((target, 0));
                }
            }
            None => {
                next = next.saturating_sub(1);
                order[location] = next;
            }
        }
    }
    order
}

/// Numbers of lock targets, of places for ids, of words, and of cells, in rising order.
type TouchedTargets = [Arc<[u32]>; 4];

/// Gives equal lists of targets equal numbers.
struct Interner<'a> {
    /// Where locks, ids of threads and words are.
    targets: [&'a [Target]; 3],
    cells: &'a [Cell],
    numbers: FxHashMap<Option<Arc<[Target]>>, u32>,
    /// The lock targets, the places for ids, the words and the cells that a write to some places may touch,
    /// by the number of the places and its bytes.
    touched: FxHashMap<(u32, Option<u64>), TouchedTargets>,
}

impl<'a> Interner<'a> {
    fn new(targets: [&'a [Target]; 3], cells: &'a [Cell]) -> Self {
        Self { targets, cells, numbers: FxHashMap::default(), touched: FxHashMap::default() }
    }

    fn places(&mut self, targets: &Targets) -> Places {
        let targets = match targets {
            Targets::Any => None,
            Targets::Of(targets) => Some(targets.clone()),
        };
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(targets.clone()).or_insert(next);
        Places { number, targets }
    }

    fn accesses(
        &mut self,
        points_to: &PointsTo,
        template: TemplateId,
        ops: &[Op],
        is_atomic: bool,
    ) -> Vec<Access> {
        let mut found = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            for access in racing_accesses(points_to, template, op) {
                let places = self.places(&access.region.targets);
                let bytes = match access.region.extent {
                    Extent::Bytes(bytes) => Some(bytes),
                    Extent::Object => None,
                };
                let [locks, ids, words, cells] = if access.write {
                    self.touched(&access.region, places.number, bytes)
                } else {
                    [Arc::from([]), Arc::from([]), Arc::from([]), Arc::from([])]
                };
                found.push(Access {
                    op: index,
                    address: access.address.clone(),
                    places,
                    bytes,
                    write: access.write,
                    atomic: access.atomic || is_atomic,
                    is_lock: matches!(op, Op::Lock(..) | Op::Unlock(..)),
                    is_free: matches!(op, Op::Free(_)),
                    locks,
                    ids,
                    cells,
                    words,
                });
            }
        }
        found
    }

    fn touched(&mut self, region: &Region, number: u32, bytes: Option<u64>) -> TouchedTargets {
        let ([lock_targets, id_targets, word_targets], cells) = (self.targets, self.cells);
        self.touched
            .entry((number, bytes))
            .or_insert_with(|| {
                let touches = |(_, target): &(usize, &Target)| {
                    let words =
                        Region { targets: Targets::Of(Arc::from([**target])), extent: Extent::Bytes(WORDS) };
                    words.overlaps(region)
                };
                let of = |targets: &'a [Target]| {
                    targets.iter().enumerate().filter(touches).map(|(index, _)| index as u32).collect()
                };
                let is_written = |(_, cell): &(usize, &Cell)| {
                    Region::exact(cell.object, cell.offset, cell.ty.bytes()).overlaps(region)
                };
                let cells = cells.iter().enumerate().filter(is_written);
                let cells = cells.map(|(index, _)| index as u32).collect();
                [of(lock_targets), of(id_targets), of(word_targets), cells]
            })
            .clone()
    }
}

/// Whether a right-hand side is chosen freely.
pub fn is_open(rhs: &Rhs) -> bool {
    match rhs {
        Rhs::Value(_) => false,
        Rhs::Any | Rhs::Unknown | Rhs::Float(..) => true,
    }
}
