//! Sets of places by number, and memory as the claim divides it.
//!
//! Each set and each place is kept once. What was found out about sets is kept as well, so each question is
//! answered once, however often the program asks it.

use super::offsets::{HUGE, Move, Offsets, Run, cover};
use indexmap::IndexSet;
use ir::passes::points_to::claim::{Claim, ClaimedPlace};
use ir::{Expr, IdVec, Initial, Lhs, LocalId, ObjectId, ObjectRole, Op, Program, Rhs, Storage, TemplateId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// What an address may be the address of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// Any byte of an object whose address is taken, and any such procedure.
    Anything,
    /// Some bytes of an object.
    Bytes(ObjectId, Offsets),
    /// A procedure.
    Procedure(TemplateId),
    /// What the input with this number is; or, if it is moved, something that is a constant away from it.
    Input(u32, bool),
    /// No address, but a number that was computed from a part of one, or from the distance of two.
    Part,
}

/// The number of a place.
type PlaceId = u32;
/// The number of a set.
pub type Set = usize;

/// The set without places.
pub const EMPTY: Set = 0;
/// The number of [`Place::Anything`].
const ANYTHING: PlaceId = 0;

/// A cell of an object.
pub struct Cell {
    /// Its bytes.
    runs: Vec<Run>,
    /// What they may hold the address of.
    pub set: Set,
}

impl Cell {
    /// Whether an access of some bytes at one of some offsets, which are bounded, may touch it.
    fn is_touched(&self, at: &Offsets, bytes: u64) -> bool {
        self.runs.iter().any(|run| run.is_touched(at, bytes.into()))
    }
}

/// The sets of a claim, and those that are made of them.
pub struct Sets<'p> {
    program: &'p Program,
    places: IndexSet<Place, FxBuildHasher>,
    sets: IndexSet<Vec<PlaceId>, FxBuildHasher>,
    /// The set of each local.
    pub locals: IdVec<TemplateId, IdVec<LocalId, Set>>,
    /// The cells of each object.
    cells: IdVec<ObjectId, Vec<Cell>>,
    /// What threads give back.
    pub results: Set,
    /// What each input may be.
    pub inputs: Vec<Set>,
    /// Whether each object's address is taken.
    taken: IdVec<ObjectId, bool>,
    /// The procedures whose addresses are taken.
    pub taken_procedures: Vec<TemplateId>,
    /// Inputs that are in sets of anything, and not named there.
    hidden: FxHashSet<u32>,
    subsets: FxHashMap<(Set, Set), bool>,
    by_object: FxHashMap<Set, FxHashMap<ObjectId, Vec<PlaceId>>>,
    moves: FxHashMap<(Set, Move), Set>,
    moved_places: FxHashMap<(PlaceId, Move), Vec<PlaceId>>,
    unions: FxHashMap<Vec<Set>, Set>,
    loads: FxHashMap<(Set, u64), Set>,
    loads_at: FxHashMap<(PlaceId, u64), Set>,
    stores: FxHashSet<(Set, u64, Set)>,
    stores_at: FxHashSet<(PlaceId, u64, Set)>,
    read_anywhere: Option<Set>,
}

impl<'p> Sets<'p> {
    /// Reads a claim about a program; an error says what is wrong with its form.
    pub fn of(program: &'p Program, claim: &Claim) -> Result<Self, String> {
        let mut sets = Self {
            program,
            places: IndexSet::from_iter([Place::Anything]),
            sets: IndexSet::from_iter([Vec::new()]),
            locals: IdVec::new(),
            cells: IdVec::new(),
            results: EMPTY,
            inputs: Vec::new(),
            taken: program.objects.iter().map(|_| false).collect(),
            taken_procedures: claim.taken_procedures.clone(),
            hidden: FxHashSet::default(),
            subsets: FxHashMap::default(),
            by_object: FxHashMap::default(),
            moves: FxHashMap::default(),
            moved_places: FxHashMap::default(),
            unions: FxHashMap::default(),
            loads: FxHashMap::default(),
            loads_at: FxHashMap::default(),
            stores: FxHashSet::default(),
            stores_at: FxHashSet::default(),
            read_anywhere: None,
        };
        claim.taken_objects.iter().for_each(|object| sets.taken[*object] = true);
        let places: Vec<Vec<PlaceId>> = claim.places.iter().map(|place| sets.claimed(place)).collect();
        let named = claim.sets.iter().map(|ids| {
            let ids = ids.iter().flat_map(|id| places.get(*id as usize).into_iter().flatten().copied());
            sets.intern(ids.collect())
        });
        let named: Vec<Set> = named.collect();
        let set = |number: usize| named.get(number).copied().ok_or("a set is missing");
        let of_template = |locals: &IdVec<LocalId, usize>| locals.iter().map(|number| set(*number)).collect();
        sets.locals = claim.locals.iter().map(of_template).collect::<Result<_, _>>()?;
        sets.results = set(claim.results)?;
        sets.inputs = claim.inputs.iter().map(|number| set(*number)).collect::<Result<_, _>>()?;
        for cells in &claim.cells {
            let cell = |cell: &ir::passes::points_to::claim::ClaimedCell| {
                Ok(Cell { runs: cell.bytes.iter().filter_map(Run::new).collect(), set: set(cell.set)? })
            };
            sets.cells.push(cells.iter().map(cell).collect::<Result<_, &str>>()?);
        }
        let fits = sets.locals.len() == program.templates.len()
            && program.templates.iter().zip(&sets.locals).all(|(code, sets)| code.locals.len() == sets.len())
            && sets.cells.len() == program.objects.len();
        if !fits {
            return Err("it is about another program".to_owned());
        }
        for (id, object) in program.objects.enumerate() {
            let runs = sets.cells[id].iter().flat_map(|cell| cell.runs.iter().cloned()).collect();
            if !cover(runs, 0, sets.end(id)) {
                return Err(format!("bytes of {} are in no cell", object.name));
            }
        }
        let taken = taken_objects(program);
        match program.objects.enumerate().find(|(id, _)| taken.contains(id) && !sets.taken[*id]) {
            Some((_, object)) => Err(format!("the address of {} is taken", object.name)),
            None => Ok(sets),
        }
    }

    /// The numbers of a claimed place. One in any element of an array that is its whole object stands for
    /// the end of that object, too.
    fn claimed(&mut self, place: &ClaimedPlace) -> Vec<PlaceId> {
        let mut found = Vec::new();
        match place {
            ClaimedPlace::Anything => found.push(Place::Anything),
            ClaimedPlace::Part => found.push(Place::Part),
            ClaimedPlace::Procedure(procedure) => found.push(Place::Procedure(*procedure)),
            ClaimedPlace::Input { number, moved } => found.push(Place::Input(*number, *moved)),
            ClaimedPlace::Bytes { object, first, strides } => {
                let strides =
                    strides.iter().map(|(stride, count)| (i128::from(*stride), count.map(i128::from)));
                let strides: Vec<_> = strides.collect();
                let end = self.end(*object);
                let is_whole = |&(stride, count): &(i128, Option<i128>)| {
                    count.is_some_and(|count| *first == 0 && stride * count == end)
                };
                if strides.iter().any(is_whole) {
                    found.push(Place::Bytes(*object, Offsets::one(end)));
                }
                let offsets = Offsets::new((*first).into(), &strides);
                found.extend(offsets.map(|offsets| Place::Bytes(*object, offsets)));
            }
        }
        found.into_iter().map(|place| self.places.insert_full(place).0 as PlaceId).collect()
    }

    /// The offset just past an object.
    pub fn end(&self, object: ObjectId) -> i128 {
        let described = &self.program.objects[object];
        match described.storage {
            Storage::Site => HUGE,
            Storage::Static | Storage::Frame(_) | Storage::ThreadLocal => described.size.into(),
        }
    }
    /// Whether nothing is ever written to an object.
    fn is_constant(&self, object: ObjectId) -> bool {
        self.program.objects[object].role == ObjectRole::Constant
    }
    /// The objects whose addresses are taken.
    pub fn taken(&self) -> Vec<ObjectId> {
        self.taken.ids().filter(|object| self.taken[*object]).collect()
    }
    /// The places of a set.
    pub fn places(&self, set: Set) -> impl Iterator<Item = &Place> {
        self.sets[set].iter().map(|id| &self.places[*id as usize])
    }
    /// Whether a set has all addresses that are taken.
    pub fn has_anything(&self, set: Set) -> bool {
        self.sets[set].first() == Some(&ANYTHING)
    }
    /// What is left of some addresses if only parts of them are kept, or distances between them.
    pub fn part(&mut self, set: Set) -> Set {
        if set == EMPTY { EMPTY } else { self.these([Place::Part]) }
    }
    /// Whether a set has parts of addresses, and not all addresses that are taken: what is joined from parts
    /// of an address is an address that is taken.
    pub fn has_part(&self, set: Set) -> bool {
        !self.has_anything(set) && self.places(set).any(|place| *place == Place::Part)
    }
    /// The inputs that are in a set, with whether they are moved.
    pub fn inputs_in(&self, set: Set) -> Vec<(u32, bool)> {
        let numbers = self.places(set).filter_map(|place| match place {
            Place::Input(number, moved) => Some((*number, *moved)),
            Place::Anything | Place::Bytes(..) | Place::Procedure(_) | Place::Part => None,
        });
        numbers.collect()
    }
    /// Inputs that are in sets of anything, and not named there.
    pub fn hidden(&self) -> Vec<u32> {
        let mut hidden: Vec<u32> = self.hidden.iter().copied().collect();
        hidden.sort_unstable();
        hidden
    }

    fn intern(&mut self, mut ids: Vec<PlaceId>) -> Set {
        ids.sort_unstable();
        ids.dedup();
        self.sets.insert_full(ids).0
    }
    /// The set of some places.
    pub fn these(&mut self, places: impl IntoIterator<Item = Place>) -> Set {
        let ids = places.into_iter().map(|place| self.places.insert_full(place).0 as PlaceId);
        let ids = ids.collect();
        self.intern(ids)
    }
    /// All places of some sets.
    pub fn union(&mut self, mut sets: Vec<Set>) -> Set {
        sets.sort_unstable();
        sets.dedup();
        sets.retain(|set| *set != EMPTY);
        match sets.as_slice() {
            [] => return EMPTY,
            [one] => return *one,
            _ => {}
        }
        if let Some(known) = self.unions.get(&sets) {
            return *known;
        }
        let ids = sets.iter().flat_map(|set| self.sets[*set].iter().copied()).collect();
        let union = self.intern(ids);
        self.unions.insert(sets, union);
        union
    }

    /// Whether all places of a set are in another one.
    pub fn is_subset(&mut self, set: Set, other: Set) -> bool {
        if set == other || set == EMPTY {
            return true;
        }
        if let Some(known) = self.subsets.get(&(set, other)) {
            return *known;
        }
        let ids: Vec<PlaceId> = {
            let other = &self.sets[other];
            let missing = self.sets[set].iter().filter(|id| other.binary_search(id).is_err());
            missing.copied().collect()
        };
        let is_subset = ids.into_iter().all(|id| self.is_covered(id, other));
        self.subsets.insert((set, other), is_subset);
        is_subset
    }

    /// The first place of a set that is not in another one, for people.
    pub fn missing(&mut self, set: Set, other: Set) -> String {
        let ids = self.sets[set].clone();
        let missing = ids
            .into_iter()
            .find(|id| self.sets[other].binary_search(id).is_err() && !self.is_covered(*id, other));
        missing.map_or(String::new(), |id| self.describe(&self.places[id as usize]))
    }

    /// A place, for people.
    pub fn describe(&self, place: &Place) -> String {
        match place {
            Place::Anything => "anything".to_owned(),
            Place::Bytes(object, offsets) => format!("{} at {offsets}", self.program.objects[*object].name),
            Place::Procedure(procedure) => self.program.templates[*procedure].name.clone(),
            Place::Input(number, _) => format!("input {number}"),
            Place::Part => "a part of an address".to_owned(),
        }
    }

    fn is_covered(&mut self, id: PlaceId, by: Set) -> bool {
        let is_anything = self.has_anything(by);
        match &self.places[id as usize] {
            Place::Anything => false,
            Place::Part => is_anything,
            Place::Procedure(procedure) => is_anything && self.taken_procedures.contains(procedure),
            Place::Input(number, _) => {
                if is_anything {
                    self.hidden.insert(*number);
                }
                is_anything
            }
            Place::Bytes(object, offsets) => {
                let object = *object;
                if is_anything && self.taken[object] {
                    return true;
                }
                if !self.by_object.contains_key(&by) {
                    let mut found: FxHashMap<ObjectId, Vec<PlaceId>> = FxHashMap::default();
                    for id in &self.sets[by] {
                        if let Place::Bytes(object, _) = &self.places[*id as usize] {
                            found.entry(*object).or_default().push(*id);
                        }
                    }
                    self.by_object.insert(by, found);
                }
                let others = self.by_object[&by].get(&object).map_or(&[][..], Vec::as_slice);
                let others = others.iter().filter_map(|id| match &self.places[*id as usize] {
                    Place::Bytes(_, offsets) => Some(offsets),
                    Place::Anything | Place::Procedure(_) | Place::Input(..) | Place::Part => None,
                });
                offsets.is_in(&others.collect::<Vec<_>>(), self.end(object))
            }
        }
    }

    /// What addresses are after a move. An address stays in its object, and that of a procedure is one that
    /// may move back; an input that moves by what is no constant holds no address any more.
    pub fn moved(&mut self, set: Set, by: Move) -> Set {
        if set == EMPTY || by == Move::By(0) {
            return set;
        }
        if let Some(known) = self.moves.get(&(set, by)) {
            return *known;
        }
        let ids = self.sets[set].clone();
        let moved: Vec<PlaceId> = ids.into_iter().flat_map(|id| self.moved_place(id, by)).collect();
        let moved = self.intern(moved);
        self.moves.insert((set, by), moved);
        moved
    }

    fn moved_place(&mut self, id: PlaceId, by: Move) -> Vec<PlaceId> {
        if let Some(known) = self.moved_places.get(&(id, by)) {
            return known.clone();
        }
        let moved: Vec<PlaceId> = match &self.places[id as usize] {
            Place::Anything | Place::Part | Place::Procedure(_) => vec![id],
            Place::Input(..) if !matches!(by, Move::By(_)) && !self.program.foreign_numbers => Vec::new(),
            Place::Input(number, _) => {
                vec![self.places.insert_full(Place::Input(*number, true)).0 as PlaceId]
            }
            Place::Bytes(object, offsets) => {
                let (object, moved) = (*object, offsets.moved(by));
                let inside = moved.map_or(Vec::new(), |moved| moved.inside(self.end(object)));
                let places = inside.into_iter().map(|offsets| Place::Bytes(object, offsets));
                places.map(|place| self.places.insert_full(place).0 as PlaceId).collect()
            }
        };
        self.moved_places.insert((id, by), moved.clone());
        moved
    }

    /// What an access of some bytes reads.
    pub fn load(&mut self, address: Set, bytes: u64) -> Set {
        if let Some(known) = self.loads.get(&(address, bytes)) {
            return *known;
        }
        let ids = self.sets[address].clone();
        let read: Vec<Set> = ids.into_iter().map(|id| self.load_at(id, bytes)).collect();
        let read = self.union(read);
        self.loads.insert((address, bytes), read);
        read
    }

    fn load_at(&mut self, id: PlaceId, bytes: u64) -> Set {
        if let Some(known) = self.loads_at.get(&(id, bytes)) {
            return *known;
        }
        let read = match &self.places[id as usize] {
            Place::Anything => self.read_anywhere(),
            Place::Procedure(_) | Place::Input(..) | Place::Part => EMPTY,
            Place::Bytes(object, offsets) => {
                let mut read: Vec<Set> = Vec::new();
                if let Some(at) = offsets.bounded(self.end(*object)) {
                    for cell in &self.cells[*object] {
                        if cell.set != EMPTY && !read.contains(&cell.set) && cell.is_touched(&at, bytes) {
                            read.push(cell.set);
                        }
                    }
                }
                self.union(read)
            }
        };
        self.loads_at.insert((id, bytes), read);
        read
    }

    fn read_anywhere(&mut self) -> Set {
        if let Some(known) = self.read_anywhere {
            return known;
        }
        let taken = self.taken();
        let all = taken.iter().flat_map(|object| self.cells[*object].iter().map(|cell| cell.set)).collect();
        let all = self.union(all);
        self.read_anywhere = Some(all);
        all
    }

    /// Whether memory has room for a value that an access writes: all cells that it may touch have its
    /// places.
    pub fn fits(&mut self, address: Set, bytes: u64, value: Set) -> bool {
        if value == EMPTY || self.stores.contains(&(address, bytes, value)) {
            return true;
        }
        let ids = self.sets[address].clone();
        let fits = ids.into_iter().all(|id| self.fits_at(id, bytes, value));
        if fits {
            self.stores.insert((address, bytes, value));
        }
        fits
    }

    fn fits_at(&mut self, id: PlaceId, bytes: u64, value: Set) -> bool {
        if self.stores_at.contains(&(id, bytes, value)) {
            return true;
        }
        let fits = match self.places[id as usize].clone() {
            Place::Procedure(_) | Place::Input(..) | Place::Part => true,
            Place::Anything => self
                .taken()
                .into_iter()
                .all(|object| self.is_constant(object) || self.all_cells_have(object, value)),
            Place::Bytes(object, _) if self.is_constant(object) => true,
            Place::Bytes(object, offsets) => self.has_room(object, &offsets, bytes, value),
        };
        if fits {
            self.stores_at.insert((id, bytes, value));
        }
        fits
    }

    /// Whether all cells that are touched at some offsets of an object have the places of a value.
    pub fn has_room(&mut self, object: ObjectId, offsets: &Offsets, bytes: u64, value: Set) -> bool {
        let Some(at) = offsets.bounded(self.end(object)) else { return true };
        (0..self.cells[object].len()).all(|index| {
            let cell = self.cells[object][index].set;
            self.is_subset(value, cell) || !self.cells[object][index].is_touched(&at, bytes)
        })
    }

    /// Whether all cells of an object may hold some addresses.
    pub fn all_cells_have(&mut self, object: ObjectId, value: Set) -> bool {
        (0..self.cells[object].len()).all(|index| {
            let cell = self.cells[object][index].set;
            self.is_subset(value, cell)
        })
    }

    /// What all cells of an object hold.
    pub fn content(&mut self, object: ObjectId) -> Set {
        let sets = self.cells[object].iter().map(|cell| cell.set).collect();
        self.union(sets)
    }

    /// Whether memory has room for what is copied from some addresses to others.
    pub fn can_copy(&mut self, to: Set, from: Set, size: Option<u64>) -> bool {
        let objects = |sets: &Self, set: Set| -> Vec<(ObjectId, Offsets)> {
            let places = sets.places(set).flat_map(|place| match place {
                Place::Anything => sets.taken().into_iter().map(|object| (object, Offsets::all())).collect(),
                Place::Bytes(object, offsets) => vec![(*object, offsets.clone())],
                Place::Procedure(_) | Place::Input(..) | Place::Part => Vec::new(),
            });
            places.collect()
        };
        let (targets, sources) = (objects(self, to), objects(self, from));
        let contents = sources.iter().map(|(object, _)| self.content(*object)).collect();
        let all = self.union(contents);
        targets.iter().all(|(target, at)| {
            self.is_constant(*target)
                || self.all_cells_have(*target, all)
                || sources.iter().all(|(source, from)| self.can_copy_at((*target, at), (*source, from), size))
        })
    }

    fn can_copy_at(
        &mut self,
        (target, to): (ObjectId, &Offsets),
        (source, from): (ObjectId, &Offsets),
        size: Option<u64>,
    ) -> bool {
        let (to_end, from_end) = (self.end(target), self.end(source));
        (0..self.cells[source].len()).all(|read| {
            (0..self.cells[target].len()).all(|written| {
                let value = self.cells[source][read].set;
                let cell = self.cells[target][written].set;
                self.is_subset(value, cell) || {
                    let (here, there) = (&self.cells[source][read], &self.cells[target][written]);
                    !here.runs.iter().any(|run| {
                        let size = size.map(i128::from);
                        there
                            .runs
                            .iter()
                            .any(|other| run.is_copied((from, from_end), other, (to, to_end), size))
                    })
                }
            })
        })
    }
}

/// The objects whose addresses a program takes: those of which an address is a value somewhere, and not only
/// the place of an access, and those that are allocated.
fn taken_objects(program: &Program) -> FxHashSet<ObjectId> {
    fn look(expr: &Expr, found: &mut FxHashSet<ObjectId>) {
        match expr {
            Expr::Address(object, _) => {
                found.insert(*object);
            }
            Expr::Load(place) if place.as_cell().is_some() => {}
            _ => expr.operands().into_iter().for_each(|operand| look(operand, found)),
        }
    }
    let mut found = FxHashSet::default();
    for object in &program.objects {
        if let Initial::Values(values) = &object.initial {
            values.iter().for_each(|(_, _, value)| look(value, &mut found));
        }
    }
    for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
        let is_access =
            matches!(op, Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Fill(..) | Op::Copy(..));
        let places: Vec<&Expr> = op
            .targets()
            .into_iter()
            .filter_map(|lhs| match lhs {
                Lhs::Memory(place) => Some(&place.address),
                Lhs::Local(_) => None,
            })
            .collect();
        for expr in op.expressions() {
            let is_place = is_access || places.iter().any(|place| std::ptr::eq(*place, expr));
            if !(is_place && matches!(expr, Expr::Address(..))) {
                look(expr, &mut found);
            }
        }
        if let Op::Allocate { site, .. } = op {
            found.insert(*site);
        }
        if let Op::Broadcast(broadcast) = op {
            let values = broadcast.assignment.pairs.iter().filter_map(|(_, rhs)| match rhs {
                Rhs::Value(value) => Some(value),
                Rhs::Any | Rhs::Unknown | Rhs::Float(..) => None,
            });
            values.for_each(|value| look(value, &mut found));
        }
    }
    found
}
