//! The variables of a program: memory cells, and the locals of the current thread.
//!
//! Memory is bytes. This module groups the bytes that loads and stores access into *cells*, each of which is
//! a variable or not tracked at all:
//!
//! * All typed accesses of the program are collected as shapes: an object, the offsets in it (by the
//!   points-to sets), and a number of bytes. Shapes with a byte in common are put into one class.
//! * A class whose members have the same size, and overlap only where they start at the same byte, is
//!   *tracked*: each of its places is always read and written as a whole. Its content is a set of integers of
//!   one type: all values that any of its places may hold. Other classes are not tracked: a load from them
//!   may give any value.
//! * A tracked class is *strong* if it is one place of one object, as the current thread sees it: at one
//!   exact offset, of a single object, or of a thread's object that no other thread reaches. A store to it
//!   replaces the content. All others are *weak*: a store adds to the content.
//! * A cell is *private* if only the steps of the thread that owns the object change it, so that each thread
//!   has its own content; else *shared*.
//!
//! The claim about a weak shared cell is about all objects of all threads. New objects come with their first
//! values: those of frames and thread-local objects are part of the content from the start, those of
//! allocations are a store at the allocation.
//!
//! Rests on the points-to sets, and so on the rules of C that these rest on (see [`ir::passes::points_to`]).

use crate::lattice::Lattice;
use crate::number::{Addresses, Number};
use crate::packs::{PackId, Packs};
use ir::ids::Id;
use ir::passes::PointsTo;
use ir::passes::footprint::{Extent, Region};
use ir::{
    Expr, IdVec, Initial, IntType, Lhs, LocalId, LockKind, ObjectId, Op, Place, Program, Rhs, Storage,
    Target, Targets, TemplateId, Value,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A cell, or a local of the thread at hand: cells come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Variable(pub u32);

impl Id for Variable {
    fn new(index: usize) -> Self {
        Self(index as u32)
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Some places of memory with one content.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The object.
    pub object: ObjectId,
    /// Where its places are.
    pub region: Region,
    /// How its content is written down.
    pub ty: IntType,
    /// Whether anything is known of its content at all.
    pub tracked: bool,
    /// Whether it is one place, so that a store replaces what was there.
    pub strong: bool,
    /// Whether only the thread that owns it changes it.
    pub private: bool,
    /// What it holds at first.
    pub initial: Number,
}

/// The cells that an access may touch.
#[derive(Clone, Debug, PartialEq)]
pub enum TouchedCells {
    /// It is exactly at this strong cell, if it is valid.
    Exactly(Variable),
    /// It is at one of these, in whole places.
    Among(Vec<Variable>),
    /// It may touch these, in part or with others that are not tracked.
    Parts(Vec<Variable>),
}

impl TouchedCells {
    /// All cells that it may touch.
    pub fn cells(&self) -> &[Variable] {
        match self {
            Self::Exactly(cell) => std::slice::from_ref(cell),
            Self::Among(cells) | Self::Parts(cells) => cells,
        }
    }
}

/// The cells of a program.
#[derive(Clone)]
pub struct Memory<'p> {
    /// The program.
    pub program: &'p Program,
    cells: Vec<Cell>,
    of_object: IdVec<ObjectId, Vec<Variable>>,
    single: IdVec<ObjectId, bool>,
    /// The objects that live as long as any thread can have their address, and any thread may.
    lasting: IdVec<ObjectId, bool>,
    /// What addresses may point to, for those that stand in the program.
    targets: IdVec<TemplateId, HashMap<Expr, Targets>>,
    /// What places are.
    found: IdVec<TemplateId, HashMap<Expr, Vec<(IntType, TouchedCells)>>>,
    points_to: &'p PointsTo,
    /// The variables of each template that are related to each other, see [`Memory::relate`].
    packs: IdVec<TemplateId, Packs<Variable>>,
    shared_packs: usize,
    /// Addresses that pointers are distinguished by: their numbers are those of the bits of [`Addresses`].
    addresses: Vec<(ObjectId, u64)>,
}

/// The bytes that a lock operation changes.
pub fn lock_bytes(kind: LockKind) -> u64 {
    match kind {
        LockKind::Spin => 4,
        LockKind::Mutex | LockKind::Read | LockKind::Write => 8,
    }
}

/// All places in an operation: those loaded from, and those stored to.
fn places(op: &Op) -> Vec<&Place> {
    let mut found = Vec::new();
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Load(place) = inner {
                found.push(&**place);
            }
        });
    }
    found.extend(op.targets().into_iter().filter_map(|lhs| match lhs {
        Lhs::Memory(place) => Some(place),
        Lhs::Local(_) => None,
    }));
    found
}

impl<'p> Memory<'p> {
    /// Sorts the memory of a program. `single` says which objects there is at most one of in the whole run;
    /// `escapes`, which ones threads may reach that do not own them.
    pub fn new(
        program: &'p Program,
        points_to: &'p PointsTo,
        escapes: &IdVec<ObjectId, bool>,
        single: IdVec<ObjectId, bool>,
    ) -> Self {
        let lasting = program.objects.enumerate().map(|(id, object)| match object.storage {
            Storage::Static => true,
            // There is one thread that has it, and when it ends, all do.
            Storage::Frame(owner) => single[id] && program.templates[owner].ends_with_program(),
            Storage::ThreadLocal | Storage::Site => false,
        });
        let mut memory = Self {
            program,
            cells: Vec::new(),
            of_object: program.objects.iter().map(|_| Vec::new()).collect(),
            lasting: lasting.collect(),
            single,
            targets: program.templates.iter().map(|_| HashMap::new()).collect(),
            found: program.templates.iter().map(|_| HashMap::new()).collect(),
            points_to,
            packs: program.templates.iter().map(|_| Packs::default()).collect(),
            shared_packs: 0,
            addresses: Vec::new(),
        };
        memory.number_addresses(escapes);
        let mut shapes: IdVec<ObjectId, BTreeMap<(Target, u64), IntType>> =
            program.objects.iter().map(|_| BTreeMap::new()).collect();
        for (template, code) in program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                for address in op.expressions() {
                    address.walk(&mut |inner| {
                        if let Expr::Load(place) = inner {
                            memory.remember(template, &place.address);
                        }
                    });
                }
                match op {
                    Op::Lock(_, address) | Op::Unlock(_, address) | Op::Fill(address, ..) => {
                        memory.remember(template, address);
                    }
                    Op::Copy(to, from, _) => {
                        memory.remember(template, to);
                        memory.remember(template, from);
                    }
                    Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) => {}
                    Op::Allocate { .. } | Op::Free(_) | Op::Call(..) | Op::Broadcast(_) => {}
                }
                for place in places(op) {
                    memory.remember(template, &place.address);
                    if let Targets::Of(targets) = memory.targets(template, &place.address) {
                        for target in targets.iter() {
                            let target = memory.exact(*target);
                            let ty =
                                shapes[target.object].entry((target, place.ty.bytes())).or_insert(place.ty);
                            *ty = common_type(*ty, place.ty);
                        }
                    }
                }
            }
        }
        for (object, shapes) in shapes.enumerate() {
            memory.classify(object, shapes, escapes[object]);
        }
        for (template, code) in program.templates.enumerate() {
            for place in code.edges.iter().flat_map(|edge| &edge.ops).flat_map(places) {
                let known = memory.found[template].get(&place.address);
                if known.is_none_or(|known| known.iter().all(|(ty, _)| *ty != place.ty)) {
                    let found = memory.look_up(template, &place.address, place.ty);
                    memory.found[template].entry(place.address.clone()).or_default().push((place.ty, found));
                }
            }
        }
        memory
    }

    /// Whether an object lives as long as any thread can have its address, whichever has it.
    pub fn lasts(&self, object: ObjectId) -> bool {
        self.lasting[object]
    }

    /// Numbers the addresses that are used as values, of objects that live as long as anybody can point to
    /// them: those that [last](Self::lasts), and those of frames that only their thread reaches. Each is
    /// inside of its object or just after it, so they are different integers.
    fn number_addresses(&mut self, escapes: &IdVec<ObjectId, bool>) {
        let mut found: BTreeSet<(ObjectId, u64)> = BTreeSet::new();
        let mut add = |expr: &Expr| {
            if let Expr::Address(object, offset) = expr {
                let what = &self.program.objects[*object];
                let lives = match what.storage {
                    Storage::Static => true,
                    Storage::Frame(_) => !escapes[*object] || self.lasting[*object],
                    Storage::ThreadLocal | Storage::Site => false,
                };
                if lives && *offset <= what.size {
                    found.insert((*object, *offset));
                }
            }
        };
        for object in &self.program.objects {
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| add(value));
            }
        }
        // An address that is only loaded from or stored to is no value.
        let mut open: Vec<&Expr> = Vec::new();
        for op in self.program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            let indirect = |expr: &&Expr| !matches!(op, Op::Spawn(..)) && matches!(expr, Expr::Address(..));
            if let Op::Assign(assignment) = op {
                open.extend(assignment.pairs.iter().filter_map(|(_, rhs)| match rhs {
                    Rhs::Value(value) => Some(value),
                    Rhs::Any | Rhs::Unknown | Rhs::Float(..) => None,
                }));
            }
            open.extend(op.expressions().into_iter().filter(|expr| !indirect(expr)));
        }
        while let Some(expr) = open.pop() {
            add(expr);
            match expr {
                Expr::Load(place) if matches!(place.address, Expr::Address(..)) => {}
                other => open.extend(other.operands()),
            }
        }
        self.addresses = found.into_iter().take(Addresses::BITS as usize).collect();
    }

    /// The address of a byte of an object.
    pub fn address(&self, object: ObjectId, offset: u64) -> Number {
        match self.addresses.binary_search(&(object, offset)) {
            Ok(number) => Number::NONZERO.among(1 << number),
            Err(_) => Number::NONZERO,
        }
    }
    /// The addresses in a set, by their objects and offsets.
    pub fn places_of(&self, addresses: Addresses) -> impl Iterator<Item = (ObjectId, u64)> {
        let places = self.addresses.iter().copied().enumerate();
        places.filter(move |(number, _)| addresses >> number & 1 == 1).map(|(_, place)| place)
    }

    /// The one object of an allocation that is made once has one element: offsets in it are exact.
    fn exact(&self, target: Target) -> Target {
        let object = &self.program.objects[target.object];
        let one = object.storage == Storage::Site
            && self.single[target.object]
            && target.stride == object.size
            && target.first < object.size;
        if one || target.count == 1 { Target { stride: 0, count: 1, ..target } } else { target }
    }

    fn remember(&mut self, template: TemplateId, address: &Expr) {
        if !matches!(address, Expr::Address(..)) && !self.targets[template].contains_key(address) {
            let targets = self.points_to.targets(template, address);
            self.targets[template].insert(address.clone(), targets);
        }
    }

    fn targets(&self, template: TemplateId, address: &Expr) -> Targets {
        match address {
            Expr::Address(object, offset) => {
                Targets::Of(Arc::from([Target { object: *object, first: *offset, stride: 0, count: 1 }]))
            }
            _ => match self.targets[template].get(address) {
                Some(targets) => targets.clone(),
                None => self.points_to.targets(template, address),
            },
        }
    }

    fn classify(&mut self, object: ObjectId, shapes: &BTreeMap<(Target, u64), IntType>, escapes: bool) {
        let shapes: Vec<(Region, Target, u64, IntType)> = shapes
            .iter()
            .map(|((target, bytes), ty)| {
                let region =
                    Region { targets: Targets::Of(Arc::from([*target])), extent: Extent::Bytes(*bytes) };
                (region, *target, *bytes, *ty)
            })
            .collect();
        let mut class: Vec<usize> = (0..shapes.len()).collect();
        let mut aligned = vec![true; shapes.len()];
        for second in 0..shapes.len() {
            for first in 0..second {
                let apart = shapes[first].0.distances(&shapes[second].0).unwrap_or_default();
                if apart.is_empty() {
                    continue;
                }
                let good = apart == [0] && shapes[first].2 == shapes[second].2;
                let (from, to) = (class[second], class[first]);
                let both = aligned[from] && aligned[to] && good;
                class.iter_mut().filter(|class| **class == from).for_each(|class| *class = to);
                aligned[to] = both;
            }
            // A shape whose own places overlap.
            let apart = shapes[second].0.distances(&shapes[second].0).unwrap_or_default();
            if apart != [0] {
                aligned[class[second]] = false;
            }
        }
        for (root, aligned) in aligned.into_iter().enumerate() {
            let members: Vec<usize> = (0..shapes.len()).filter(|member| class[*member] == root).collect();
            let Some(first) = members.first() else { continue };
            let bytes = shapes[*first].2;
            let ty = members.iter().map(|member| shapes[*member].3).reduce(common_type);
            let targets: Vec<Target> = members.iter().map(|member| shapes[*member].1).collect();
            let one_place = matches!(targets.as_slice(), [target] if target.count == 1);
            let storage = self.program.objects[object].storage;
            let private = storage != Storage::Static && !escapes;
            let own = matches!(storage, Storage::Frame(_) | Storage::ThreadLocal) && private;
            let ty = ty.unwrap_or(IntType::U8);
            let tracked = aligned && members.iter().all(|member| shapes[*member].2 == bytes);
            if tracked {
                self.add(Cell {
                    object,
                    initial: self.initial(object, &targets, ty),
                    region: Region { targets: Targets::Of(targets.into()), extent: Extent::Bytes(bytes) },
                    ty,
                    tracked,
                    strong: one_place && (self.single[object] || own),
                    private,
                });
                continue;
            }
            for member in members {
                let (region, _, _, ty) = shapes[member].clone();
                let initial = Number::of_type(ty);
                self.add(Cell { object, region, ty, tracked, strong: false, private, initial });
            }
        }
    }

    fn add(&mut self, cell: Cell) {
        let id = Variable::new(self.cells.len());
        self.of_object[cell.object].push(id);
        self.cells.push(cell);
    }

    fn initial(&self, object: ObjectId, targets: &[Target], ty: IntType) -> Number {
        let what = &self.program.objects[object];
        if what.storage == Storage::Site {
            // There is none yet; the allocation says what it holds.
            return Number::constant(0);
        }
        let Initial::Values(values) = &what.initial else { return Number::of_type(ty) };
        let shape = Region { targets: Targets::Of(targets.into()), extent: Extent::Bytes(ty.bytes()) };
        let mut result = Number::BOTTOM;
        let mut set = 0u64;
        for (offset, value_type, value) in values {
            let apart =
                shape.distances(&Region::exact(object, *offset, value_type.bytes())).unwrap_or_default();
            if apart.is_empty() {
                continue;
            }
            if apart != [0] || value_type.bytes() != ty.bytes() {
                return Number::of_type(ty);
            }
            set += 1;
            let held = match value {
                Expr::Const(value, _) if ty == IntType::BOOL => {
                    // What is read as a truth value is cut to whether any bit is set.
                    Number::constant(Value::from(value_type.wrap(*value) != 0))
                }
                Expr::Const(value, _) => Number::constant(value_type.wrap(*value)).cast(ty),
                Expr::Address(object, offset) if *value_type == self.program.data_model.pointer() => {
                    self.address(*object, *offset).meet(&Number::of_type(*value_type)).cast(ty)
                }
                Expr::Procedure(_) if *value_type == self.program.data_model.pointer() => {
                    Number::of_type(*value_type).without(0).cast(ty)
                }
                _ => Number::of_type(ty),
            };
            result = result.join(&held);
        }
        let places = targets.iter().map(|target| target.count).fold(0u64, u64::saturating_add);
        if set < places || targets.len() > 1 { result.join(&Number::constant(0)) } else { result }
    }

    /// Says which variables are to be related to each other: packs of shared cells, which all templates have
    /// under the same numbers, and those of each template. Each in rising order. Whether these are variables
    /// that can be related: cells that are one place each.
    pub fn relate(&mut self, shared: &[Vec<Variable>], of_template: &[Vec<Vec<Variable>>]) -> bool {
        let is_one = |variable: Variable, template: TemplateId| match self.cell(variable) {
            Some(cell) => cell.tracked && cell.strong,
            None => variable.index() - self.count() < self.program.templates[template].locals.len(),
        };
        let rises = |pack: &Vec<Variable>| pack.is_sorted_by(|a, b| a < b);
        let good = of_template.len() == self.program.templates.len()
            && self.program.templates.ids().zip(of_template).all(|(template, packs)| {
                let mut all = shared.iter().chain(packs);
                all.all(|pack| rises(pack) && pack.iter().all(|variable| is_one(*variable, template)))
            })
            && shared.iter().flatten().all(|variable| self.is_shared(*variable));
        if good {
            self.shared_packs = shared.len();
            let lists = of_template.iter().map(|packs| shared.iter().chain(packs).cloned());
            self.packs = lists.map(Packs::of_lists).collect();
        }
        good
    }
    /// The packs of a template.
    pub fn packs(&self, template: TemplateId) -> &Packs<Variable> {
        &self.packs[template]
    }
    /// Whether a pack is one of shared cells.
    pub fn is_shared_pack(&self, pack: PackId) -> bool {
        pack.index() < self.shared_packs
    }
    /// The packs of shared cells, with their cells.
    pub fn shared_packs(&self) -> impl Iterator<Item = (PackId, &[Variable])> {
        let packs = self.packs.iter().next();
        let ids = (0..self.shared_packs).map(PackId::new);
        ids.filter_map(move |pack| Some((pack, packs?.variables(pack))))
    }

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = (Variable, &Cell)> {
        self.cells.iter().enumerate().map(|(index, cell)| (Variable::new(index), cell))
    }
    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.cells.len()
    }
    /// The cell that a variable is; `None` when it is a local.
    pub fn cell(&self, variable: Variable) -> Option<&Cell> {
        self.cells.get(variable.index())
    }
    /// Whether a variable is a cell that other threads may change.
    pub fn is_shared(&self, variable: Variable) -> bool {
        self.cell(variable).is_some_and(|cell| cell.tracked && !cell.private)
    }
    /// The variable of a local of the thread at hand.
    pub fn local(&self, local: LocalId) -> Variable {
        Variable::new(self.cells.len() + local.index())
    }

    /// What a place is.
    pub fn place(&self, template: TemplateId, address: &Expr, ty: IntType) -> Cow<'_, TouchedCells> {
        let known = self.found[template].get(address);
        match known.and_then(|known| known.iter().find(|(known, _)| *known == ty)) {
            Some((_, found)) => Cow::Borrowed(found),
            None => Cow::Owned(self.look_up(template, address, ty)),
        }
    }

    fn look_up(&self, template: TemplateId, address: &Expr, ty: IntType) -> TouchedCells {
        let Targets::Of(targets) = self.targets(template, address) else {
            return TouchedCells::Parts((0..self.cells.len()).map(Variable::new).collect());
        };
        let targets: Vec<Target> = targets.iter().map(|target| self.exact(*target)).collect();
        let region =
            Region { targets: Targets::Of(targets.as_slice().into()), extent: Extent::Bytes(ty.bytes()) };
        let touched = self.touched(&region);
        let whole = touched.iter().all(|cell| {
            let cell = &self.cells[cell.index()];
            cell.tracked
                && cell.ty.bytes() == ty.bytes()
                && cell.region.distances(&region).is_some_and(|apart| apart == [0])
        });
        // Each place that the access may be at is one of a cell's.
        let covered = targets.iter().all(|target| {
            touched.iter().any(|cell| {
                let cell = &self.cells[cell.index()];
                match &cell.region.targets {
                    Targets::Of(members) => members.contains(target),
                    Targets::Any => false,
                }
            })
        });
        match (targets.as_slice(), touched.as_slice()) {
            _ if !whole || !covered => TouchedCells::Parts(touched),
            ([target], [only]) if target.count == 1 && self.cells[only.index()].strong => {
                TouchedCells::Exactly(*only)
            }
            _ => TouchedCells::Among(touched),
        }
    }

    /// The cells that may have a byte in common with a region.
    pub fn touched(&self, region: &Region) -> Vec<Variable> {
        let Targets::Of(targets) = &region.targets else {
            return (0..self.cells.len()).map(Variable::new).collect();
        };
        let mut found: Vec<Variable> = Vec::new();
        for target in targets.iter() {
            let one =
                Region { targets: Targets::Of(Arc::from([self.exact(*target)])), extent: region.extent };
            found.extend(
                self.of_object[target.object]
                    .iter()
                    .filter(|cell| self.cells[cell.index()].region.overlaps(&one)),
            );
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The region of an access to some bytes at an address.
    pub fn region(&self, template: TemplateId, address: &Expr, extent: Extent) -> Region {
        Region { targets: self.targets(template, address), extent }
    }

    /// The cells of an allocation site.
    pub fn of_object(&self, object: ObjectId) -> &[Variable] {
        &self.of_object[object]
    }

    /// The strong cell at exactly these bytes.
    pub fn cell_at(&self, object: ObjectId, offset: u64, bytes: u64) -> Option<Variable> {
        let at = Region::exact(object, offset, bytes);
        self.of_object[object].iter().copied().find(|id| {
            let cell = &self.cells[id.index()];
            cell.strong
                && cell.region.distances(&at).is_some_and(|apart| apart == [0])
                && cell.ty.bytes() == bytes
        })
    }

    /// The exact place that an address is, if it is one.
    pub fn exact_place(&self, template: TemplateId, address: &Expr) -> Option<(ObjectId, u64)> {
        let Targets::Of(targets) = self.targets(template, address) else { return None };
        let [target] = &*targets else { return None };
        let target = self.exact(*target);
        (target.count == 1).then_some((target.object, target.first))
    }
}

/// The type that both are written down in, of one size. A truth value among bytes is a byte.
pub fn common_type(a: IntType, b: IntType) -> IntType {
    if a == b {
        return a;
    }
    if a == IntType::BOOL || b == IntType::BOOL { IntType::U8 } else { std::cmp::min(a, b) }
}
