//! Symbolic execution of one edge.
//!
//! Over-approximates, edge by edge, the meaning in [`ir::semantics`]:
//! * An undefined operation (overflow, division by zero) ends the execution: the condition that it is defined
//!   is part of the guard.
//! * An access through a pointer is to one of the cells that the points-to sets name, or invalid. If all of
//!   them are strong, the guard requires the address to be one of theirs.
//! * Loads from memory without a variable, bit operations in integer mode, and the validity of pointers into
//!   the heap have any value.
//! * Fills and copies havoc what they may touch, except for zeros that fill a strong cell.
//! * After a join of the only thread of a template, it has ended. Nothing is known after other joins.

use crate::memory::{Cells, Representation, frees};
use crate::system::{Kind, Start, Step, System};
use domains::TouchedCells;
use domains::transfer::{extent, root};
use indexmap::IndexMap;
use ir::passes::footprint::{Extent, Region};
use ir::{
    Assignment, Callee, EdgeId, Expr, IntType, Lhs, LocalId, ObjectId, Op, Place, Rhs, Storage, Targets,
    TemplateId,
};
use smt::expressions::Mode;
use smt::{Operation, Sort, Symbol, Term, Variable};

/// The step of an edge.
pub fn follow(system: &System<'_>, cells: &Cells<'_, '_>, template: TemplateId, edge: EdgeId) -> Step {
    let code = &system.program.templates[template];
    let what = &code.edges[edge];
    let mut follower = Follower::new(system, cells, template, edge);
    for op in &what.ops {
        follower.op(op);
    }
    if system.is_end(template, what.target) {
        follower.end(what.target);
    }
    let mut updates = follower.values;
    updates.retain(|variable, value| value.as_variable().as_ref() != Some(variable));
    Step {
        template,
        edges: vec![edge],
        source: what.source,
        target: what.target,
        guard: Term::all(follower.guard),
        updates,
        inputs: follower.inputs,
        starts: follower.starts,
    }
}

/// The state in the middle of an edge.
pub(crate) struct Follower<'a, 'c, 'p> {
    pub(crate) system: &'a System<'p>,
    pub(crate) cells: &'a Cells<'c, 'p>,
    pub(crate) template: TemplateId,
    pub(crate) edge: EdgeId,
    /// The guard.
    pub(crate) guard: Vec<Term>,
    /// The values of variables that were written.
    values: IndexMap<Variable, Term>,
    /// The values before the assignment whose constraint is evaluated.
    old: Option<IndexMap<Variable, Term>>,
    pub(crate) inputs: Vec<Variable>,
    starts: Vec<Start>,
}

impl<'a, 'c, 'p> Follower<'a, 'c, 'p> {
    /// The state at the start of an edge.
    pub(crate) fn new(
        system: &'a System<'p>,
        cells: &'a Cells<'c, 'p>,
        template: TemplateId,
        edge: EdgeId,
    ) -> Self {
        Self {
            system,
            cells,
            template,
            edge,
            guard: Vec::new(),
            values: IndexMap::new(),
            old: None,
            inputs: Vec::new(),
            starts: Vec::new(),
        }
    }

    fn pointer(&self) -> IntType {
        self.system.program.data_model.pointer()
    }

    /// The value of a variable here.
    fn get(&self, variable: &Variable) -> Term {
        self.values.get(variable).cloned().unwrap_or_else(|| variable.term())
    }
    fn set(&mut self, variable: &Variable, value: Term) {
        self.values.insert(variable.clone(), value);
    }

    fn new_input(&mut self, sort: Sort) -> Variable {
        let number = self.inputs.len() as u32;
        let symbol = Symbol::Input { number, template: self.template.0, edge: self.edge.0 };
        let input = Variable::new(symbol, sort);
        self.inputs.push(input.clone());
        input
    }
    /// Any value of a type.
    pub(crate) fn anything(&mut self, ty: IntType) -> Term {
        let input = self.new_input(self.system.mode.sort(ty)).term();
        self.guard.push(self.system.in_range(&input, ty));
        input
    }

    /// The value of a local.
    pub(crate) fn local(&self, local: LocalId) -> Term {
        match self.system.own_of(self.template, &Kind::Local(local)) {
            Some(variable) => self.get(variable),
            None => self.system.number(0, self.pointer()),
        }
    }
    /// The id of the thread.
    pub(crate) fn myself(&self) -> Term {
        match self.system.own_of(self.template, &Kind::Myself) {
            Some(variable) => self.get(variable),
            None => self.system.number(0, self.pointer()),
        }
    }

    pub(crate) fn op(&mut self, op: &Op) {
        match op {
            Op::Assume(condition) => {
                let holds = self.condition(condition);
                self.guard.push(holds);
            }
            Op::Assign(assignment) => self.assign(assignment),
            Op::Spawn(callee, arguments, handle) => self.spawn(callee, arguments, handle.as_ref()),
            Op::Join(thread, result) => self.join(thread, result.as_ref()),
            Op::Allocate { site, size, zeroed, result } => self.allocate(*site, size, *zeroed, result),
            Op::Fill(to, byte, size) => {
                let _ = (self.value(to), self.value(byte), self.value(size));
                let zero = matches!(byte, Expr::Const(0, _));
                self.forget(to, extent(size), zero);
            }
            Op::Copy(to, from, size) => {
                let _ = (self.value(to), self.value(from), self.value(size));
                self.forget(to, extent(size), false);
            }
            Op::Free(address) => {
                let _ = self.value(address);
            }
            // Programs with it are not inlined, so it does not occur here.
            Op::Broadcast(_) => {}
            Op::Call(_, _, result) => self.store_anything(result.as_ref()),
            // A lock that is still an operation loses its words.
            Op::Lock(_, address) | Op::Unlock(_, address) => self.forget(address, Extent::Bytes(8), false),
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let before = self.values.clone();
        let mut stores = Vec::new();
        for (lhs, rhs) in &assignment.pairs {
            let value = match rhs {
                Rhs::Value(value) => self.value(value),
                Rhs::Any | Rhs::Unknown | Rhs::Float(..) => self.anything(self.type_of_target(lhs)),
            };
            let address = match lhs {
                Lhs::Memory(place) => Some(self.value(&place.address)),
                Lhs::Local(_) => None,
            };
            stores.push((lhs, address, value));
        }
        for (lhs, address, value) in stores {
            self.store_at(lhs, address, value);
        }
        if let Some(constraint) = &assignment.constraint {
            self.old = Some(before);
            let holds = self.condition(constraint);
            self.old = None;
            self.guard.push(holds);
        }
    }

    /// A value before the assignment whose constraint is evaluated.
    pub(crate) fn before(&mut self, operand: &Expr) -> Term {
        match self.old.take() {
            Some(before) => {
                let now = std::mem::replace(&mut self.values, before);
                let value = self.value(operand);
                self.old = Some(std::mem::replace(&mut self.values, now));
                value
            }
            None => self.value(operand),
        }
    }

    fn type_of_target(&self, lhs: &Lhs) -> IntType {
        match lhs {
            Lhs::Local(local) => self.system.program.templates[self.template].locals[*local].ty,
            Lhs::Memory(place) => place.ty,
        }
    }

    fn store(&mut self, lhs: &Lhs, value: Term) {
        let address = match lhs {
            Lhs::Memory(place) => Some(self.value(&place.address)),
            Lhs::Local(_) => None,
        };
        self.store_at(lhs, address, value);
    }
    fn store_anything(&mut self, lhs: Option<&Lhs>) {
        if let Some(lhs) = lhs {
            let value = self.anything(self.type_of_target(lhs));
            self.store(lhs, value);
        }
    }

    fn store_at(&mut self, lhs: &Lhs, address: Option<Term>, value: Term) {
        match (lhs, address) {
            (Lhs::Local(local), _) => {
                if let Some(variable) = self.system.own_of(self.template, &Kind::Local(*local)).cloned() {
                    self.set(&variable, value);
                }
            }
            (Lhs::Memory(place), Some(address)) => self.write(place, &address, &value),
            (Lhs::Memory(place), None) => {
                let address = self.value(&place.address);
                self.write(place, &address, &value);
            }
        }
    }

    /// The variables that an access may touch, each strong one with its address; whether a map is among them;
    /// whether these are all.
    fn write(&mut self, place: &Place, address: &Term, value: &Term) {
        let found = self.cells.memory.place(self.template, &place.address, place.ty).into_owned();
        match &found {
            TouchedCells::Exactly(cell) => {
                if let Representation::Scalar(variable) = self.cells.of(*cell).clone() {
                    let ty = self.cells.memory.cell(*cell).map_or(place.ty, |cell| cell.ty);
                    let value = self.cast(value, place.ty, ty);
                    self.set(&variable, value);
                } else {
                    self.write_among(&[*cell], place.ty, address, value);
                }
            }
            TouchedCells::Among(cells) => self.write_among(cells, place.ty, address, value),
            TouchedCells::Parts(cells) => self.forget_cells(cells, false, None),
        }
    }

    fn write_among(&mut self, cells: &[domains::Variable], ty: IntType, address: &Term, value: &Term) {
        let mut places = Vec::new();
        let mut maps: Vec<Variable> = Vec::new();
        let mut unknown = false;
        for cell in cells {
            let of = self.cells.memory.cell(*cell).map_or(ty, |cell| cell.ty);
            match self.cells.of(*cell).clone() {
                Representation::Scalar(variable) => match self.cells.address_of_cell(*cell) {
                    Some(at) => {
                        let value = self.cast(value, ty, of);
                        let here = address.equals(&at);
                        let now = here.if_then_else(&value, &self.get(&variable));
                        self.set(&variable, now);
                        places.push(here);
                    }
                    None => {
                        let any = self.anything(of);
                        self.set(&variable, any);
                        unknown = true;
                    }
                },
                Representation::Map(variable, held_as) => {
                    if !maps.contains(&variable) {
                        let value = self.cells.widen(&self.cast(value, ty, held_as), held_as);
                        let now = self.get(&variable).store(address, &value);
                        self.set(&variable, now);
                        maps.push(variable);
                    }
                }
                Representation::Nothing => unknown = true,
            }
        }
        if maps.is_empty() && !unknown {
            self.guard.push(Term::any(places));
        }
    }

    /// The value of a load.
    pub(crate) fn read(&mut self, place: &Place) -> Term {
        let found = self.cells.memory.place(self.template, &place.address, place.ty).into_owned();
        let cells: &[domains::Variable] = match &found {
            TouchedCells::Exactly(cell) => {
                if let Representation::Scalar(variable) = self.cells.of(*cell) {
                    let ty = self.cells.memory.cell(*cell).map_or(place.ty, |cell| cell.ty);
                    // The address may still be undefined.
                    if !matches!(place.address, Expr::Address(..)) {
                        let _ = self.value(&place.address);
                    }
                    let value = self.get(variable);
                    return self.cast(&value, ty, place.ty);
                }
                std::slice::from_ref(cell)
            }
            TouchedCells::Among(cells) => cells,
            TouchedCells::Parts(_) => {
                let _ = self.value(&place.address);
                return self.anything(place.ty);
            }
        };
        let address = self.value(&place.address);
        let mut places: Vec<(Term, Term)> = Vec::new();
        let mut otherwise: Option<Term> = None;
        for cell in cells {
            let of = self.cells.memory.cell(*cell).map_or(place.ty, |cell| cell.ty);
            match self.cells.of(*cell).clone() {
                Representation::Scalar(variable) => match self.cells.address_of_cell(*cell) {
                    Some(at) => {
                        let value = self.get(&variable);
                        places.push((address.equals(&at), self.cast(&value, of, place.ty)));
                    }
                    None => otherwise = Some(self.anything(place.ty)),
                },
                Representation::Map(variable, held_as) => {
                    let held = self.cells.narrow(&self.get(&variable).select(&address), held_as);
                    // A map has contents of all sizes; this one has the cell's size.
                    self.guard.push(self.system.in_range(&held, held_as));
                    otherwise = Some(self.cast(&held, held_as, place.ty));
                }
                Representation::Nothing => otherwise = Some(self.anything(place.ty)),
            }
        }
        let last = match otherwise {
            Some(value) => value,
            None => match places.pop() {
                Some((here, value)) => {
                    let all = places.iter().map(|(here, _)| here.clone()).chain([here]);
                    self.guard.push(Term::any(all.collect::<Vec<_>>()));
                    value
                }
                // There is no possible target: the access is never valid.
                None => {
                    self.guard.push(Term::bool(false));
                    return self.anything(place.ty);
                }
            },
        };
        places.iter().rev().fold(last, |rest, (here, value)| here.if_then_else(value, &rest))
    }

    /// Havocs what may be touched from an address on.
    fn forget(&mut self, address: &Expr, extent: Extent, zero: bool) {
        let region = self.cells.memory.region(self.template, address, extent);
        let touched = self.cells.memory.touched(&region);
        self.forget_cells(&touched, zero, Some(&region));
    }

    fn forget_cells(&mut self, cells: &[domains::Variable], zero: bool, region: Option<&Region>) {
        for cell in cells {
            let Some(what) = self.cells.memory.cell(*cell) else { continue };
            let ty = what.ty;
            let inside = zero && region.is_some_and(|region| covers(region, &what.region));
            match self.cells.of(*cell).clone() {
                Representation::Scalar(variable) => {
                    let value = if inside { self.system.number(0, ty) } else { self.anything(ty) };
                    self.set(&variable, value);
                }
                Representation::Map(variable, _) => {
                    let value = self.new_input(variable.sort.clone()).term();
                    self.set(&variable, value);
                }
                Representation::Nothing => {}
            }
        }
    }

    fn allocate(&mut self, site: ObjectId, size: &Expr, zeroed: bool, result: &Lhs) {
        let pointer = self.pointer();
        let from = self.system.program.type_of(self.template, size);
        let size = self.value(size);
        let size = self.cast(&size, from, pointer);
        for cell in self.cells.memory.of_object(site).to_vec() {
            if let Representation::Scalar(variable) = self.cells.of(cell).clone() {
                let ty = self.cells.memory.cell(cell).map_or(pointer, |cell| cell.ty);
                let value = if zeroed { self.system.number(0, ty) } else { self.anything(ty) };
                self.set(&variable, value);
            }
        }
        if let Some(address) = self.cells.fixed_address(site) {
            let address = self.system.number(address.into(), pointer);
            self.store(result, address);
            return;
        }
        let end = self.cells.heap_end();
        let bounds = self.cells.bounds_of_step(site, (self.template, self.edge));
        let address = match &bounds {
            Some([start, _]) => start.term(),
            None => self.anything(pointer),
        };
        let at_least = self.at_most(&self.get(&end), &address);
        self.guard.push(at_least);
        // One more byte than its size, so that no two allocations have the same address.
        let one = self.system.number(1, pointer);
        let after = self.plus(&address, &size);
        if let Some([_, bound]) = &bounds {
            self.guard.push(bound.term().equals(&after));
        }
        let next = self.plus(&after, &one);
        // The end of memory is never reached.
        let no_wrap = match self.system.mode {
            Mode::Integers => self.system.in_range(&next, pointer),
            Mode::Bits => Term::binary(Operation::UnsignedLess, &address, &next),
        };
        self.guard.push(no_wrap);
        self.set(&end, next);
        self.store(result, address);
    }

    fn spawn(&mut self, callee: &Callee, arguments: &[Expr], handle: Option<&Lhs>) {
        let parameters: Vec<Term> = arguments.iter().map(|argument| self.value(argument)).collect();
        let Callee::Procedure(child) = callee else {
            // Calls through pointers were resolved; one that was not has no target.
            self.guard.push(Term::bool(false));
            return;
        };
        let pointer = self.pointer();
        let code = &self.system.program.templates[*child];
        let parameters = parameters
            .iter()
            .zip(arguments)
            .zip(code.locals.iter().take(code.parameters))
            .map(|((value, argument), local)| {
                let from = self.system.program.type_of(self.template, argument);
                self.cast(value, from, local.ty)
            })
            .collect();
        let one = self.system.number(1, pointer);
        let id = match self.system.shared_of(&Kind::Threads).cloned() {
            Some(threads) => {
                let id = self.plus(&self.get(&threads), &one);
                self.set(&threads, id.clone());
                id
            }
            None => self.anything(pointer),
        };
        // There are never so many threads that ids are reused.
        let fresh = self.system.is_thread_id(&id);
        self.guard.push(fresh);
        if let Some(variable) = self.system.shared_of(&Kind::ThreadId(*child)).cloned() {
            self.set(&variable, id.clone());
        }
        self.starts.push(Start { template: *child, parameters, id: id.clone() });
        if let Some(handle) = handle {
            let id = self.cast(&id, pointer, self.type_of_target(handle));
            self.store(handle, id);
        }
    }

    fn join(&mut self, thread: &Expr, result: Option<&Lhs>) {
        let pointer = self.pointer();
        let from = self.system.program.type_of(self.template, thread);
        let value = self.value(thread);
        let handle = self.cast(&value, from, pointer);
        let mut results: Vec<(Term, Term)> = Vec::new();
        for template in self.system.program.templates.ids() {
            let shared = |kind: Kind| self.system.shared_of(&kind).map(|variable| self.get(variable));
            let (Some(id), Some(ended), Some(value)) = (
                shared(Kind::ThreadId(template)),
                shared(Kind::Ended(template)),
                shared(Kind::ThreadResult(template)),
            ) else {
                continue;
            };
            let this = handle.equals(&id);
            let done = ended.equals(&self.system.number(1, pointer));
            self.guard.push(this.implies(&done));
            results.push((this, value));
        }
        if let Some(result) = result {
            let ty = self.type_of_target(result);
            let other = self.anything(ty);
            let value = results
                .iter()
                .rev()
                .fold(other, |rest, (this, value)| this.if_then_else(&self.cast(value, pointer, ty), &rest));
            self.store(result, value);
        }
    }

    /// The thread ends.
    fn end(&mut self, location: ir::LocationId) {
        let pointer = self.pointer();
        if let Some(ended) = self.system.shared_of(&Kind::Ended(self.template)).cloned() {
            let one = self.system.number(1, pointer);
            self.set(&ended, one);
        }
        if let Some(result) = self.system.shared_of(&Kind::ThreadResult(self.template)).cloned() {
            let code = &self.system.program.templates[self.template];
            let local = match code.locations[location].kind {
                ir::LocationKind::Exit => code.exit_value,
                _ => code.result,
            };
            let value = match local {
                Some(local) => {
                    let value = self.local(local);
                    self.cast(&value, code.locals[local].ty, pointer)
                }
                None => self.system.number(0, pointer),
            };
            self.set(&result, value);
        }
    }

    /// Whether some bytes from a pointer on lie in the object that its root points into.
    pub(crate) fn valid(&mut self, pointer: &Expr, bytes: u64) -> Term {
        let address = self.value(pointer);
        let root = root(pointer);
        let start = self.value(root);
        let region = self.cells.memory.region(self.template, root, Extent::Bytes(1));
        let anything = |follower: &mut Self| {
            let input = follower.new_input(Sort::Bool);
            input.term()
        };
        if bytes == 0 {
            // Whether memory may be freed is not known.
            return anything(self);
        }
        let Targets::Of(targets) = &region.targets else { return anything(self) };
        let mut objects: Vec<ObjectId> = targets.iter().map(|target| target.object).collect();
        objects.sort_unstable();
        objects.dedup();
        let ty = self.pointer();
        let mut cases = Vec::new();
        for object in objects {
            let what = &self.system.program.objects[object];
            let lives = match what.storage {
                Storage::Static => true,
                Storage::Frame(owner) => owner == self.template || self.cells.memory.lasts(object),
                Storage::ThreadLocal => false,
                Storage::Site => !frees(self.system.program),
            };
            let bounds = self.cells.site_bounds(object);
            for [first, end] in bounds.iter().map(|bounds| bounds.each_ref().map(Variable::term)) {
                let bytes = self.system.number(bytes.into(), ty);
                let last = self.minus(&end, &bytes);
                cases.push(Term::all([
                    self.at_most(&first, &start),
                    self.at_most(&start, &end),
                    self.at_most(&first, &address),
                    self.at_most(&bytes, &end),
                    self.at_most(&address, &last),
                ]));
            }
            if !bounds.is_empty() {
                continue;
            }
            let Some(base) = self.cells.fixed_address(object).filter(|_| lives) else {
                return anything(self);
            };
            let (low, high) = (i128::from(base), i128::from(base) + i128::from(what.size));
            let Some(last) = what.size.checked_sub(bytes) else { continue };
            let number = |value: i128| self.system.number(value, ty);
            cases.push(Term::all([
                self.at_most(&number(low), &start),
                self.at_most(&start, &number(high)),
                self.at_most(&number(low), &address),
                self.at_most(&address, &number(i128::from(base) + i128::from(last))),
            ]));
        }
        Term::any(cases)
    }

    fn minus(&self, a: &Term, b: &Term) -> Term {
        match self.system.mode {
            Mode::Integers => a.minus(b),
            Mode::Bits => Term::binary(Operation::BitSubtract, a, b),
        }
    }
    fn plus(&self, a: &Term, b: &Term) -> Term {
        match self.system.mode {
            Mode::Integers => a.plus(b),
            Mode::Bits => Term::binary(Operation::BitAdd, a, b),
        }
    }
    fn at_most(&self, a: &Term, b: &Term) -> Term {
        match self.system.mode {
            Mode::Integers => a.at_most(b),
            Mode::Bits => Term::binary(Operation::UnsignedLessOrEqual, a, b),
        }
    }
}

/// Whether all bytes of a place are in a region that is at one place itself.
fn covers(region: &Region, place: &Region) -> bool {
    let (Targets::Of(outer), Targets::Of(inner)) = (&region.targets, &place.targets) else { return false };
    let (Extent::Bytes(all), Extent::Bytes(bytes)) = (region.extent, place.extent) else { return false };
    match (&**outer, &**inner) {
        ([outer], [inner]) => {
            outer.count == 1
                && inner.count == 1
                && outer.object == inner.object
                && outer.first <= inner.first
                && inner.first + bytes <= outer.first + all
        }
        _ => false,
    }
}
