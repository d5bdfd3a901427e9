//! Which variables stand for which bytes of memory.
//!
//! [`domains::Memory`] divides memory into cells. Here
//! * a strong cell is a variable;
//! * weak cells become maps from addresses to contents, with one map for all cells that one access may touch.
//!   Different objects have different addresses, so one map for many objects loses no precision;
//! * a cell that is not tracked has no variable: a load from it may give any value.
//!
//! A variable is the thread's own if no other thread reaches its memory, else shared.
//!
//! Addresses. A single object has a fixed address: that of the machine for static objects, one of the stack's
//! or the heap's addresses for others. The objects of non-unique threads have an address that does not change
//! while the thread runs; nothing else is known of it. Allocated objects get addresses in rising order. Where
//! the steps that allocate at a site do so once each, the object's address and its end are variables that
//! never change, as if they were known before. (Nobody has the address before; until then, and if it is never
//! allocated, they say nothing.) So each execution of a machine whose objects do not overlap has a
//! counterpart here, provided that nothing depends on the numbers (assumption 4).

use crate::system::{Kind, StateVariable};
use domains::{Memory, TouchedCells};
use indexmap::IndexMap;
use ir::ids::Id;
use ir::passes::Unique;
use ir::semantics::AddressMap;
use ir::{
    EdgeId, Expr, IdVec, Initial, IntType, Lhs, ObjectId, Op, Place, Program, Storage, Target, Targets,
    TemplateId, Value,
};
use smt::expressions::{Mode, Translated};
use smt::{Sort, Symbol, Term, Variable};

/// Static objects with more elements than this have unknown initial contents.
const MOST_FIRST_VALUES: u64 = 64;
/// The bounds of objects that more steps than this may allocate are not followed.
const MOST_ALLOCATIONS: usize = 8;
/// The gap between two objects that get their address here.
const APART: u64 = 64;

/// The representation of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Representation {
    /// A variable that holds its content.
    Scalar(Variable),
    /// A map from addresses to contents, and the type in which it holds those of the cell.
    Map(Variable, IntType),
    /// Nothing.
    Nothing,
}

/// The cells of a program and their variables.
pub struct Cells<'a, 'p> {
    program: &'p Program,
    /// The cells.
    pub memory: &'a Memory<'p>,
    mode: Mode,
    /// The representation of each cell.
    representation: Vec<Representation>,
    variables: Vec<Owned>,
    /// The address of each object that has a fixed one.
    fixed: IdVec<ObjectId, Option<u64>>,
    addresses: AddressMap,
    /// The first address that an allocation may return.
    heap: u64,
    /// The steps that allocate at each site: where there are few, each is taken once at most, the address is
    /// not fixed, and nothing is freed. Otherwise none. Of the steps of a list, at most one is taken.
    allocations: IdVec<ObjectId, Vec<Vec<(TemplateId, EdgeId)>>>,
}

/// A variable, and its owner.
struct Owned {
    state: StateVariable,
    /// `None`: shared. Else the templates whose threads each have one.
    owners: Option<Vec<TemplateId>>,
}

fn all_places(program: &Program) -> impl Iterator<Item = (TemplateId, &Place)> {
    program.templates.enumerate().flat_map(|(template, code)| {
        code.edges.iter().flat_map(|edge| &edge.ops).flat_map(move |op| {
            let mut found: Vec<(TemplateId, &Place)> = Vec::new();
            for expr in op.expressions() {
                expr.walk(&mut |inner| {
                    if let Expr::Load(place) = inner {
                        found.push((template, place));
                    }
                });
            }
            for lhs in op.targets() {
                if let Lhs::Memory(place) = lhs {
                    found.push((template, place));
                }
            }
            found
        })
    })
}

impl<'a, 'p> Cells<'a, 'p> {
    /// Gives the cells of a program variables.
    pub fn new(program: &'p Program, memory: &'a Memory<'p>, unique: &Unique, mode: Mode) -> Self {
        let addresses = AddressMap::new(program);
        let (fixed, heap) = fixed_addresses(program, unique, &addresses);
        let frees = frees(program);
        let allocations = unique.allocations.enumerate().map(|(id, edges)| {
            let is_bounded = fixed[id].is_none() && !frees && edges.len() <= MOST_ALLOCATIONS;
            if is_bounded { edges.clone() } else { Vec::new() }
        });
        let allocations = allocations.collect();
        let mut cells = Self {
            program,
            memory,
            mode,
            representation: vec![Representation::Nothing; memory.count()],
            variables: Vec::new(),
            fixed,
            addresses,
            heap,
            allocations,
        };
        cells.add_scalars();
        cells.add_maps();
        cells
    }

    fn owners(&self, object: ObjectId, private: bool) -> Option<Vec<TemplateId>> {
        match self.program.objects[object].storage {
            _ if !private => None,
            Storage::Static => None,
            Storage::Frame(template) => Some(vec![template]),
            Storage::ThreadLocal | Storage::Site => Some(self.program.templates.ids().collect()),
        }
    }

    fn add_scalars(&mut self) {
        let memory = self.memory;
        for (id, cell) in memory.cells() {
            if !(cell.tracked && cell.strong) {
                continue;
            }
            let Some((object, offset)) = single_place(cell) else { continue };
            let name = self.program.objects[object].name.clone();
            let symbol = Symbol::Cell { name, object: object.0, offset };
            let variable = Variable::new(symbol, self.mode.sort(cell.ty));
            let first = self.first_value(object, offset, cell.ty);
            let state = StateVariable {
                variable: variable.clone(),
                ty: Some(cell.ty),
                kind: Kind::Cell(object, offset),
                first,
            };
            self.variables.push(Owned { state, owners: self.owners(object, cell.private) });
            self.representation[id.index()] = Representation::Scalar(variable);
        }
    }

    fn add_maps(&mut self) {
        // Cells that one access may touch share a map.
        let mut group: Vec<usize> = (0..self.memory.count()).collect();
        let weak = |cells: &Self, cell: domains::Variable| {
            cells.memory.cell(cell).is_some_and(|cell| cell.tracked)
                && cells.representation[cell.index()] == Representation::Nothing
        };
        for (template, place) in all_places(self.program) {
            let found = self.memory.place(template, &place.address, place.ty);
            if let TouchedCells::Among(cells) = &*found {
                let mut weak = cells.iter().filter(|cell| weak(self, **cell)).map(|cell| cell.index());
                if let Some(first) = weak.next() {
                    for other in weak {
                        let (from, to) = (group[other], group[first]);
                        group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
                    }
                }
            }
        }
        let mut members: IndexMap<usize, Vec<usize>> = IndexMap::new();
        for (cell, group) in group.iter().enumerate() {
            if weak(self, domains::Variable::new(cell)) {
                members.entry(*group).or_default().push(cell);
            }
        }
        for cells in members.values() {
            let of = |cell: usize| self.memory.cell(domains::Variable::new(cell)).expect("it was counted");
            let private = cells.iter().all(|cell| of(*cell).private);
            let mut owners: Option<Vec<TemplateId>> = Some(Vec::new());
            for cell in cells {
                match (self.owners(of(*cell).object, private), &mut owners) {
                    (Some(more), Some(owners)) => owners.extend(more),
                    _ => owners = None,
                }
            }
            if let Some(owners) = &mut owners {
                owners.sort_unstable();
                owners.dedup();
            }
            let objects = cells.iter().map(|cell| of(*cell).object);
            let names = objects.map(|object| self.program.objects[object].name.clone()).collect();
            let symbol = Symbol::Map { names, first: cells[0] as u32 };
            let variable = Variable::new(symbol, self.map_sort());
            // Several cells may have the same address: its content is represented in one type for all.
            let held_as = |ty: IntType| {
                let alike = cells.iter().map(|cell| of(*cell).ty).filter(|other| other.bytes() == ty.bytes());
                alike.fold(ty, domains::memory::common_type)
            };
            let types: Vec<IntType> = cells.iter().map(|cell| held_as(of(*cell).ty)).collect();
            let first = self.first_map(cells, &types);
            let state = StateVariable { variable: variable.clone(), ty: None, kind: Kind::Map, first };
            self.variables.push(Owned { state, owners });
            for (cell, ty) in cells.iter().zip(types) {
                self.representation[*cell] = Representation::Map(variable.clone(), ty);
            }
        }
    }

    /// The sort of maps. Contents are as wide as the widest type, so that one map may hold all types.
    pub fn map_sort(&self) -> Sort {
        let pointer = self.program.data_model.pointer();
        Sort::array(self.mode.sort(pointer), self.mode.sort(IntType::U64))
    }

    fn number(&self, value: i128, ty: IntType) -> Term {
        self.mode.constant(ty.wrap(value), ty)
    }

    /// The initial value of a place, if it is unique.
    fn first_value(&self, object: ObjectId, offset: u64, ty: IntType) -> Option<Term> {
        let what = &self.program.objects[object];
        let Initial::Values(values) = &what.initial else { return None };
        if what.storage == Storage::Site {
            return None;
        }
        let end = offset + ty.bytes();
        let mut touching =
            values.iter().filter(|(at, of, _)| *at < end && offset < at.saturating_add(of.bytes()));
        let Some((at, of, value)) = touching.next() else { return Some(self.number(0, ty)) };
        if touching.next().is_some() || *at != offset || of.bytes() != ty.bytes() {
            return None;
        }
        match value {
            // Read as a truth value, it says whether any bit is set.
            Expr::Const(value, _) if ty == IntType::BOOL => {
                Some(self.number(Value::from(of.wrap(*value) != 0), ty))
            }
            Expr::Const(value, _) => Some(self.number(ty.wrap(*value), ty)),
            Expr::Address(object, offset) => {
                let address = self.fixed[*object]?.checked_add(*offset)?;
                Some(self.number(ty.wrap(address.into()), ty))
            }
            Expr::Procedure(template) => {
                Some(self.number(ty.wrap(self.addresses.procedure(*template).into()), ty))
            }
            _ => None,
        }
    }

    /// The initial content of a map, if it is unique: for static memory with few elements.
    fn first_map(&self, cells: &[usize], types: &[IntType]) -> Option<Term> {
        let pointer = self.program.data_model.pointer();
        let mut values: Vec<(u64, IntType, Term)> = Vec::new();
        let mut zeros = true;
        for (cell, ty) in cells.iter().zip(types) {
            let cell = self.memory.cell(domains::Variable::new(*cell))?;
            let object = cell.object;
            let base = self.fixed[object]?;
            if self.program.objects[object].storage == Storage::Site {
                return None;
            }
            let Initial::Values(initial) = &self.program.objects[object].initial else { return None };
            zeros &= initial.is_empty();
            let Targets::Of(targets) = &cell.region.targets else { return None };
            for target in targets.iter().filter(|_| !initial.is_empty()) {
                if target.count > MOST_FIRST_VALUES {
                    return None;
                }
                for element in 0..target.count {
                    let offset = target.first + element * target.stride;
                    values.push((base + offset, *ty, self.first_value(object, offset, *ty)?));
                }
            }
        }
        let zero = self.number(0, IntType::U64);
        let empty = Term::constant_array(self.map_sort(), &zero);
        if zeros {
            return Some(empty);
        }
        let all = values.iter().fold(empty, |map, (address, ty, value)| {
            map.store(&self.number((*address).into(), pointer), &self.widen(value, *ty))
        });
        Some(all)
    }

    /// A content as maps hold it.
    pub fn widen(&self, value: &Term, ty: IntType) -> Term {
        match self.mode {
            Mode::Integers if ty != IntType::BOOL => value.clone(),
            Mode::Integers | Mode::Bits => self.mode.cast(wide(ty), &Translated::new(value.clone(), ty)),
        }
    }
    /// A content of a type from what a map holds there.
    pub fn narrow(&self, value: &Term, ty: IntType) -> Term {
        match self.mode {
            Mode::Integers if ty != IntType::BOOL => value.clone(),
            Mode::Integers | Mode::Bits => self.mode.cast(ty, &Translated::new(value.clone(), wide(ty))),
        }
    }

    /// What stands for a cell.
    pub fn of(&self, cell: domains::Variable) -> &Representation {
        &self.representation[cell.index()]
    }
    /// The shared variables.
    pub fn shared(&self) -> Vec<StateVariable> {
        let pointer = self.program.data_model.pointer();
        let heap = StateVariable {
            variable: self.heap_end(),
            ty: Some(pointer),
            kind: Kind::HeapEnd,
            first: Some(self.number(self.heap.into(), pointer)),
        };
        let shared = self.variables.iter().filter(|owned| owned.owners.is_none());
        let bounds = self.program.objects.ids().flat_map(|object| {
            (0..).zip(self.site_bounds(object)).flat_map(move |(number, [start, end])| {
                let bound = |variable: Variable, kind: Kind| StateVariable {
                    variable,
                    ty: Some(pointer),
                    kind,
                    first: None,
                };
                [bound(start, Kind::SiteStart(object, number)), bound(end, Kind::SiteEnd(object, number))]
            })
        });
        shared.map(|owned| owned.state.clone()).chain([heap]).chain(bounds).collect()
    }
    /// The own variables of a thread of a template.
    pub fn own(&self, template: TemplateId) -> Vec<StateVariable> {
        let mine = |owned: &&Owned| owned.owners.as_ref().is_some_and(|owners| owners.contains(&template));
        let pointer = self.program.data_model.pointer();
        let addresses = self.program.objects.enumerate().filter(|(id, object)| {
            self.fixed[*id].is_none()
                && match object.storage {
                    Storage::Frame(owner) => owner == template,
                    Storage::ThreadLocal => true,
                    Storage::Static | Storage::Site => false,
                }
        });
        let addresses = addresses.map(|(id, _)| StateVariable {
            variable: self.frame_address(id),
            ty: Some(pointer),
            kind: Kind::FrameAddress,
            first: None,
        });
        self.variables.iter().filter(mine).map(|owned| owned.state.clone()).chain(addresses).collect()
    }
    /// The end of the heap.
    pub fn heap_end(&self) -> Variable {
        Variable::new(Symbol::HeapEnd, self.mode.sort(self.program.data_model.pointer()))
    }
    /// The first address of what each step allocates at a site, and the one just after it. None where a step
    /// may allocate again, something is freed, or the address is fixed.
    pub fn site_bounds(&self, object: ObjectId) -> Vec<[Variable; 2]> {
        let sort = self.mode.sort(self.program.data_model.pointer());
        let name = &self.program.objects[object].name;
        let bounds = (0..self.allocations[object].len() as u32).map(|number| {
            let start = Symbol::SiteStart { name: name.clone(), object: object.0, number };
            let end = Symbol::SiteEnd { name: name.clone(), object: object.0, number };
            [Variable::new(start, sort.clone()), Variable::new(end, sort.clone())]
        });
        bounds.collect()
    }
    /// The bounds of what a step allocates at a site, if it has any.
    pub fn bounds_of_step(&self, object: ObjectId, step: (TemplateId, EdgeId)) -> Option<[Variable; 2]> {
        let number = self.allocations[object].iter().position(|list| list.contains(&step))?;
        self.site_bounds(object).into_iter().nth(number)
    }
    fn frame_address(&self, object: ObjectId) -> Variable {
        let name = self.program.objects[object].name.clone();
        Variable::new(
            Symbol::FrameAddress { name, object: object.0 },
            self.mode.sort(self.program.data_model.pointer()),
        )
    }

    /// The address of a single object.
    pub fn fixed_address(&self, object: ObjectId) -> Option<u64> {
        self.fixed[object]
    }
    /// The address of a byte of an object, for the thread that names it.
    pub fn address(&self, object: ObjectId, offset: u64) -> Term {
        let pointer = self.program.data_model.pointer();
        match self.fixed[object] {
            Some(base) => self.number(pointer.wrap(i128::from(base) + i128::from(offset)), pointer),
            None => {
                let base = self.frame_address(object).term();
                let offset = self.number(offset.into(), pointer);
                match self.mode {
                    Mode::Integers => base.plus(&offset),
                    Mode::Bits => Term::binary(smt::Operation::BitAdd, &base, &offset),
                }
            }
        }
    }
    /// The address of a procedure.
    pub fn procedure(&self, template: TemplateId) -> Term {
        self.number(self.addresses.procedure(template).into(), self.program.data_model.pointer())
    }
    /// The address of a strong cell.
    pub fn address_of_cell(&self, cell: domains::Variable) -> Option<Term> {
        let (object, offset) = single_place(self.memory.cell(cell)?)?;
        Some(self.address(object, offset))
    }
}

/// The type that maps hold contents of a type in.
fn wide(ty: IntType) -> IntType {
    if ty.signed { IntType::I64 } else { IntType::U64 }
}

/// The place of a cell that consists of one place.
pub fn single_place(cell: &domains::Cell) -> Option<(ObjectId, u64)> {
    match &cell.region.targets {
        Targets::Of(targets) => match &**targets {
            [Target { object, first, count: 1, .. }] => Some((*object, *first)),
            _ => None,
        },
        Targets::Any => None,
    }
}

/// The addresses of single objects, and where the rest of the heap starts.
fn fixed_addresses(
    program: &Program,
    unique: &Unique,
    addresses: &AddressMap,
) -> (IdVec<ObjectId, Option<u64>>, u64) {
    let mut stack = addresses.stack(0);
    let mut heap = addresses.heap(0);
    let place = |next: &mut u64, object: &ir::Object| {
        let at = next.next_multiple_of(object.align.max(16));
        *next = at.saturating_add(object.size).saturating_add(APART);
        at
    };
    let fixed = program
        .objects
        .enumerate()
        .map(|(id, object)| match object.storage {
            Storage::Static => Some(addresses.offset[id]),
            Storage::Frame(_) if unique.objects[id] => Some(place(&mut stack, object)),
            Storage::Site if unique.objects[id] => Some(place(&mut heap, object)),
            Storage::Frame(_) | Storage::ThreadLocal | Storage::Site => None,
        })
        .collect();
    (fixed, heap)
}

/// Whether a program ever frees memory.
pub fn frees(program: &Program) -> bool {
    let mut ops = program.templates.iter().flat_map(|code| code.edges.iter()).flat_map(|edge| &edge.ops);
    ops.any(|op| matches!(op, Op::Free(_)))
}
