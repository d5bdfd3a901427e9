//! The abstract meaning of [`ir::Op`]: the effect of a thread's step on an environment.
//!
//! Over-approximates: if a thread takes the edge in a state that the environment describes, the result
//! describes the state afterwards. Bottom: the edge cannot be taken.
//!
//! * An assumption refines variables. Within an edge a local may be known to be equal to an expression
//!   ([`Known`]); the condition is then assumed a second time with the expression in its place, so that a
//!   test of a copy is a test of the original. All operations of an edge are one step, so between the copy
//!   and the test only the edge's own stores can change memory, and these end the equality. Equalities may
//!   hold after the step ([`Scope::equal_after`]), as long as no thread writes what they load.
//! * A store to a strong cell replaces its content, one to weak ones adds to it; one to parts of cells loses
//!   the content.
//! * Lock operations change the words of the lock, which are lost. A started thread's id and an allocated
//!   object's address are not zero.

use crate::equalities::Known;
use crate::evaluate::{Numbers, Resolve, evaluate};
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::Linear;
use crate::memory::{Memory, TouchedCells, Variable, lock_bytes};
use crate::number::Number;
use crate::packs::{Octagons, Packs};
use crate::refine::refine;
use crate::relational::Relational;
use ir::passes::footprint::{Extent, Region};
use ir::{
    Assignment, BinaryOp, Callee, EdgeId, Expr, IntType, Lhs, LocalId, ObjectId, Op, Place, Rhs, Storage,
    Targets, TemplateId, Value,
};
use std::collections::BTreeMap;

/// The variables as a thread of a template sees them.
#[derive(Clone, Copy)]
pub struct Scope<'a, 'p> {
    /// The cells.
    pub memory: &'a Memory<'p>,
    /// The template.
    pub template: TemplateId,
    /// What was known before an assignment, while its constraint is looked at.
    pub old: Option<&'a Numbers<Variable>>,
    /// Equalities that hold where an operation is looked at.
    pub known: Option<&'a Known>,
}

impl<'a, 'p> Scope<'a, 'p> {
    /// The variables as a thread of a template sees them.
    pub fn new(memory: &'a Memory<'p>, template: TemplateId) -> Self {
        Self { memory, template, old: None, known: None }
    }
}

/// A thread that a step starts.
#[derive(Clone, Debug)]
pub struct Started {
    /// Its template.
    pub template: TemplateId,
    /// The values of its parameters.
    pub arguments: Vec<Number>,
}

/// What is known after a step.
#[derive(Clone, Debug)]
pub struct After {
    /// The variables of the thread that took it.
    pub environment: Relational<Variable>,
    /// The threads that it started.
    pub started: Vec<Started>,
    /// By how much the step changed strong cells: what is there now, minus what was there before. Those that
    /// are not in it were not written.
    pub shifts: BTreeMap<Variable, Interval>,
}

impl Resolve for Scope<'_, '_> {
    type Variable = Variable;

    fn type_of(&self, expr: &Expr) -> IntType {
        self.memory.program.type_of(self.template, expr)
    }
    fn variable(&self, expr: &Expr) -> Option<Variable> {
        match expr {
            Expr::Local(local) => Some(self.memory.local(*local)),
            Expr::Load(place) => match *self.memory.place(self.template, &place.address, place.ty) {
                TouchedCells::Exactly(cell) => {
                    self.memory.cell(cell).is_some_and(|found| found.ty == place.ty).then_some(cell)
                }
                TouchedCells::Among(_) | TouchedCells::Parts(_) => None,
            },
            _ => None,
        }
    }
    fn load(&self, place: &Place, _: &Number, environment: &Numbers<Variable>) -> Number {
        let found = self.memory.place(self.template, &place.address, place.ty);
        match &*found {
            TouchedCells::Parts(_) => Number::of_type(place.ty),
            TouchedCells::Exactly(_) | TouchedCells::Among(_) => {
                let values = found.cells().iter().map(|cell| self.content(*cell, environment).cast(place.ty));
                values.fold(Number::BOTTOM, |all, value| all.join(&value))
            }
        }
    }
    fn address(&self, object: ObjectId, offset: u64) -> Number {
        self.memory.address(object, offset)
    }
    /// Known if what the pointer is computed from is known to point into objects which live as long as the
    /// thread runs or the program does, or just after them: then a byte outside of that object is not valid,
    /// whatever lies there. All that is known of where it points is about one object, as no two touch.
    fn valid(&self, pointer: &Expr, size: u64, _: &Number, environment: &Numbers<Variable>) -> Number {
        let ty = self.memory.program.data_model.pointer();
        let root = root(pointer);
        let meant = self.known.map_or_else(|| vec![root.clone()], |known| known.all_of(root));
        let places = meant.iter().filter_map(|expr| offset_of(expr, ty));
        let valid = places.map(|(object, start)| self.valid_in(object, &start, pointer, size, environment));
        if let Some(valid) = valid.reduce(|one, other| one.meet(&other)) {
            return valid;
        }
        let value = evaluate(root, environment, self);
        let Some(addresses) = value.addresses() else { return Number::BOOLEAN };
        let null = if value.is_nonzero() { Number::BOTTOM } else { Number::constant(0) };
        self.memory.places_of(addresses).fold(null, |all, (object, offset)| {
            let start = Expr::int(offset.into(), ty);
            all.join(&self.valid_in(object, &start, pointer, size, environment))
        })
    }
    fn old(&self, operand: &Expr, _: &Numbers<Variable>) -> Number {
        match self.old {
            Some(before) => {
                let scope = Scope { old: None, ..*self };
                evaluate(operand, before, &scope)
            }
            None => Number::of_type(self.type_of(operand)),
        }
    }
}

impl Scope<'_, '_> {
    /// Whether bytes from a pointer on are in an object, if what it is computed from points into it.
    fn valid_in(
        &self,
        object: ObjectId,
        start: &Expr,
        pointer: &Expr,
        size: u64,
        environment: &Numbers<Variable>,
    ) -> Number {
        let what = &self.memory.program.objects[object];
        let lives = match what.storage {
            Storage::Static | Storage::ThreadLocal => true,
            Storage::Frame(owner) => owner == self.template || self.memory.lasts(object),
            Storage::Site => false,
        };
        let inside = Interval::between(0, what.size.into());
        let starts = evaluate(start, environment, self).interval();
        let Some(room) = what.size.checked_sub(size).filter(|_| lives && starts.less_or_equal(&inside))
        else {
            return Number::BOOLEAN;
        };
        let offset = with_root(pointer, start);
        let offset = evaluate(&offset, environment, self).interval();
        let room = Interval::between(0, room.into());
        Number::truth(!offset.meet(&room).is_bottom(), !offset.less_or_equal(&room))
    }

    /// What a cell holds.
    fn content(&self, cell: Variable, environment: &Numbers<Variable>) -> Number {
        let Some(what) = self.memory.cell(cell) else { return Number::TOP };
        environment.get(cell).copied().unwrap_or(Number::TOP).meet(&Number::of_type(what.ty))
    }

    /// What is known after a step, given what is known before it (reduced), and equalities that hold there.
    pub fn after(&self, edge: EdgeId, equal: &[(LocalId, Expr)], before: Relational<Variable>) -> After {
        let mut after = After { environment: before.clone(), started: Vec::new(), shifts: BTreeMap::new() };
        let mut known = Known::new(equal);
        for op in &self.memory.program.templates[self.template].edges[edge].ops {
            if after.environment.is_bottom() {
                after.started.clear();
                return after;
            }
            Scope { known: Some(&known), ..*self }.op(op, &known, &mut after);
            known.follow(self, op);
        }
        after.environment = after.environment.reduced_since(self.packs(), &before);
        if after.environment.is_bottom() {
            after.started.clear();
        }
        after
    }

    /// The equalities that hold after a step, given those before it. They hold on as long as no other thread
    /// writes the cells that are loaded.
    pub fn equal_after(&self, edge: EdgeId, equal: &[(LocalId, Expr)]) -> Vec<(LocalId, Expr)> {
        let mut known = Known::new(equal);
        for op in &self.memory.program.templates[self.template].edges[edge].ops {
            known.follow(self, op);
        }
        known.into_list()
    }

    /// The packs of the template.
    pub fn packs(&self) -> &Packs<Variable> {
        self.memory.packs(self.template)
    }

    fn op(&self, op: &Op, known: &Known, after: &mut After) {
        match op {
            Op::Assume(condition) => self.assume(condition, known, &mut after.environment),
            Op::Assign(assignment) => self.assign(assignment, known, after),
            Op::Lock(kind, address) | Op::Unlock(kind, address) => {
                let words = self.memory.region(self.template, address, Extent::Bytes(lock_bytes(*kind)));
                self.lose(&words, after);
            }
            Op::Spawn(callee, arguments, lhs) => {
                let value = |argument: &Expr| evaluate(argument, &after.environment.numbers, self);
                let values: Vec<Number> = arguments.iter().map(value).collect();
                if values.iter().any(Lattice::is_bottom) {
                    after.environment = Relational::bottom();
                    return;
                }
                if let Callee::Procedure(template) = callee {
                    after.started.push(Started { template: *template, arguments: values });
                }
                if let Some(lhs) = lhs {
                    self.store(lhs, &self.address_value(), after);
                }
            }
            Op::Join(_, lhs) | Op::Call(_, _, lhs) => {
                if let Some(lhs) = lhs {
                    self.store(lhs, &Number::TOP, after);
                }
            }
            Op::Allocate { site, zeroed, result, .. } => {
                for cell in self.memory.of_object(*site) {
                    let value = if *zeroed { Number::constant(0) } else { Number::TOP };
                    self.put(*cell, true, &value, after);
                }
                self.store(result, &self.address_value(), after);
            }
            // What a broadcast does to other threads is not seen here: such programs are not inlined.
            Op::Free(_) | Op::Broadcast(_) => {}
            Op::Fill(to, byte, size) => {
                let region = self.memory.region(self.template, to, extent(size));
                let byte = evaluate(byte, &after.environment.numbers, self);
                if byte.as_constant().is_some_and(|byte| byte % 256 == 0) {
                    for cell in self.memory.touched(&region) {
                        self.zero(cell, &region, after);
                    }
                } else {
                    self.lose(&region, after);
                }
            }
            Op::Copy(to, from, size) => self.copy(to, from, size, after),
        }
    }

    /// The ids of threads and the addresses of objects.
    fn address_value(&self) -> Number {
        Number::of_type(self.memory.program.data_model.pointer()).without(0)
    }

    fn assume(&self, condition: &Expr, known: &Known, environment: &mut Relational<Variable>) {
        let packs = self.packs();
        let mut now = environment.assume(packs, condition, true, self);
        let mut more = known.expansions(condition);
        for more in &more {
            now = now.assume(packs, more, true, self);
        }
        let mut decided = if more.is_empty() { condition.clone() } else { more.swap_remove(0) };
        if self.decide(&mut decided, &now.numbers) {
            now = now.assume(packs, &decided, true, self);
        }
        *environment = now;
    }

    /// Replaces comparisons of `x + a` with `x + b` by their truth, where neither sum wraps: it depends on
    /// `a` and `b` alone. Says whether there were any.
    fn decide(&self, expr: &mut Expr, environment: &Numbers<Variable>) -> bool {
        let mut changed = false;
        if matches!(expr, Expr::Valid(..) | Expr::Old(_) | Expr::Overflows(..)) || environment.is_bottom() {
            return false;
        }
        for operand in expr.operands_mut() {
            changed |= self.decide(operand, environment);
        }
        let Expr::Binary(op, _, pair) = &*expr else { return changed };
        if !op.is_comparison() {
            return changed;
        }
        let (left, a) = self.linear(&pair.0, environment);
        let (right, b) = self.linear(&pair.1, environment);
        if left.is_none() || left != right {
            return changed;
        }
        let truth = match op {
            BinaryOp::Eq => a == b,
            BinaryOp::Ne => a != b,
            BinaryOp::Lt => a < b,
            _ => a <= b,
        };
        *expr = Expr::bool(truth);
        true
    }

    /// An expression as another one plus a constant, exactly: without wrapping. Nothing and a constant if it
    /// is one.
    fn linear<'e>(&self, expr: &'e Expr, environment: &Numbers<Variable>) -> (Option<&'e Expr>, Value) {
        if let Some(value) = evaluate(expr, environment, self).as_constant() {
            return (None, value);
        }
        match expr {
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) => {
                let (left, a) = self.linear(&pair.0, environment);
                let (right, b) = self.linear(&pair.1, environment);
                let values =
                    [&pair.0, &pair.1].map(|operand| evaluate(operand, environment, self).interval());
                let (exact, constant) = match op {
                    BinaryOp::Add => (values[0].plus(values[1]), a.checked_add(b)),
                    _ => (values[0].subtract(values[1]), a.checked_sub(b)),
                };
                // A signed result out of range does not come about.
                let fits = ty.signed || exact.less_or_equal(&Interval::of_type(*ty));
                match (left, right, constant) {
                    (base, None, Some(constant)) if fits => (base, constant),
                    (None, base, Some(constant)) if fits && *op == BinaryOp::Add => (base, constant),
                    _ => (Some(expr), 0),
                }
            }
            Expr::Cast(ty, operand) if *ty != IntType::BOOL => {
                let value = evaluate(operand, environment, self);
                if value.less_or_equal(&Number::of_type(*ty)) {
                    self.linear(operand, environment)
                } else {
                    (Some(expr), 0)
                }
            }
            _ => (Some(expr), 0),
        }
    }

    fn assign(&self, Assignment { pairs, constraint }: &Assignment, known: &Known, after: &mut After) {
        let before = after.environment.clone();
        let value = |rhs: &Rhs| match rhs {
            Rhs::Value(value) => before.evaluate(self.packs(), value, self),
            Rhs::Any | Rhs::Unknown | Rhs::Float(..) => Number::TOP,
        };
        let values: Vec<Number> = pairs.iter().map(|(_, rhs)| value(rhs)).collect();
        if values.iter().any(Lattice::is_bottom) {
            after.environment = Relational::bottom();
            return;
        }
        // What is written exactly, and forms of what it gets.
        let assigned = self.forms(pairs, known, &before);
        let shifts = after.shifts.clone();
        if pairs.len() == 1 {
            for ((lhs, _), value) in pairs.iter().zip(&values) {
                self.store(lhs, value, after);
            }
        } else {
            // Addresses are those before the assignment, so a place that is computed from what is assigned is
            // not distinguished.
            for ((lhs, _), value) in pairs.iter().zip(&values) {
                self.store_parallel(lhs, value, after);
            }
        }
        if let Some(assigned) = assigned {
            for (variable, forms) in &assigned {
                let by = |form: &Linear<Variable>| {
                    let by = form.subtract(&Linear::variable(*variable))?;
                    Some(before.range(self.packs(), &by))
                };
                let now = forms.iter().filter_map(by).fold(Interval::TOP, |all, by| all.meet(&by));
                let so_far = shifts.get(variable).copied().unwrap_or(Interval::constant(0));
                if self.memory.is_shared(*variable) {
                    after.shifts.insert(*variable, so_far.plus(now));
                }
            }
            after.environment.relate_assigned(self.packs(), &before, &assigned);
        }
        if let Some(constraint) = constraint {
            let scope = Scope { old: Some(&before.numbers), ..*self };
            after.environment = after.environment.assume(self.packs(), constraint, true, &scope);
        }
    }

    /// The variables that an assignment writes, each with forms of its new value over the old ones; `None`
    /// when it may write something else, too.
    fn forms(
        &self,
        pairs: &[(Lhs, Rhs)],
        known: &Known,
        before: &Relational<Variable>,
    ) -> Option<Vec<(Variable, Vec<Linear<Variable>>)>> {
        let packs = self.packs();
        if packs.is_empty() {
            return None;
        }
        let mut assigned: Vec<(Variable, Vec<Linear<Variable>>)> = Vec::new();
        for (lhs, rhs) in pairs {
            let variable = match lhs {
                Lhs::Local(local) => self.memory.local(*local),
                Lhs::Memory(place) => self.variable(&Expr::load(place.clone()))?,
            };
            if assigned.iter().any(|(known, _)| *known == variable) {
                return None;
            }
            let forms = match rhs {
                Rhs::Value(value) => {
                    let expanded = known.expansions(value);
                    let all = expanded.iter().chain([value]);
                    all.map(|value| before.linear(packs, value, self)).collect()
                }
                Rhs::Any | Rhs::Unknown | Rhs::Float(..) => Vec::new(),
            };
            assigned.push((variable, forms));
        }
        Some(assigned)
    }

    /// Stores where the address may be computed from what was stored already.
    fn store_parallel(&self, lhs: &Lhs, value: &Number, after: &mut After) {
        match lhs {
            Lhs::Local(_) => self.store(lhs, value, after),
            Lhs::Memory(place) => self.store_at(place, value, after),
        }
    }

    fn store(&self, lhs: &Lhs, value: &Number, after: &mut After) {
        match lhs {
            Lhs::Local(local) => {
                let ty = self.memory.program.templates[self.template].locals[*local].ty;
                let value = if value.is_top() { Number::of_type(ty) } else { value.wrap(ty) };
                after.environment.put(self.packs(), self.memory.local(*local), value);
            }
            Lhs::Memory(place) => {
                // A store that continues has an address.
                if !matches!(place.address, Expr::Address(..)) {
                    let numbers = &mut after.environment.numbers;
                    *numbers = refine(&place.address, &Number::NONZERO, std::mem::take(numbers), self);
                }
                self.store_at(place, value, after);
            }
        }
    }

    fn store_at(&self, place: &Place, value: &Number, after: &mut After) {
        let value = if value.is_top() { Number::of_type(place.ty) } else { value.wrap(place.ty) };
        let found = self.memory.place(self.template, &place.address, place.ty);
        match &*found {
            TouchedCells::Exactly(cell) => self.put(*cell, true, &value, after),
            TouchedCells::Among(cells) => cells.iter().for_each(|cell| self.put(*cell, false, &value, after)),
            TouchedCells::Parts(cells) => {
                cells.iter().for_each(|cell| self.put(*cell, false, &Number::TOP, after));
            }
        }
    }

    /// Puts a value into a cell: in its place if the cell is strong and `certain`, else beside what it holds.
    fn put(&self, cell: Variable, certain: bool, value: &Number, after: &mut After) {
        let Some(what) = self.memory.cell(cell).filter(|what| what.tracked) else { return };
        let environment = &mut after.environment;
        let value = if value.is_top() { Number::of_type(what.ty) } else { value.wrap(what.ty) };
        let certain = certain && what.strong;
        let value = if certain { value } else { value.join(&self.content(cell, &environment.numbers)) };
        environment.put(self.packs(), cell, value);
        if self.memory.is_shared(cell) {
            after.shifts.insert(cell, Interval::TOP);
        }
    }

    /// Loses what is in a region.
    fn lose(&self, region: &Region, after: &mut After) {
        for cell in self.memory.touched(region) {
            self.put(cell, false, &Number::TOP, after);
        }
    }

    /// Sets bytes of a region to zero. A cell of which only a part is set may then hold anything.
    fn zero(&self, cell: Variable, region: &Region, after: &mut After) {
        let Some(what) = self.memory.cell(cell) else { return };
        let inside = match (&region.targets, region.extent, &what.region.targets) {
            (Targets::Of(all), Extent::Bytes(bytes), Targets::Of(places)) => match (&**all, &**places) {
                ([target], [place]) if target.count == 1 && target.object == place.object => {
                    let last = place.stride.saturating_mul(place.count.saturating_sub(1));
                    let end = place.first.saturating_add(last).saturating_add(what.ty.bytes());
                    Some(target.first <= place.first && end <= target.first.saturating_add(bytes))
                }
                _ => None,
            },
            (Targets::Of(_), Extent::Object, _) => None,
            _ => None,
        };
        match inside {
            Some(true) => self.put(cell, true, &Number::constant(0), after),
            _ => self.put(cell, false, &Number::TOP, after),
        }
    }

    /// Copies bytes: between exact places the content of cells that both sides have, else everything is lost.
    fn copy(&self, to: &Expr, from: &Expr, size: &Expr, after: &mut After) {
        let region = self.memory.region(self.template, to, extent(size));
        let exact = |address: &Expr| self.memory.exact_place(self.template, address);
        let before = after.environment.numbers.clone();
        for cell in self.memory.touched(&region) {
            let value = match (exact(to), exact(from), self.memory.cell(cell), extent(size)) {
                (Some((to, to_at)), Some((from, from_at)), Some(what), Extent::Bytes(bytes)) => {
                    let place = match &what.region.targets {
                        Targets::Of(places) => match &**places {
                            [place] if place.count == 1 && place.object == to && what.strong => {
                                Some(place.first)
                            }
                            _ => None,
                        },
                        Targets::Any => None,
                    };
                    place.and_then(|place| {
                        let offset = place.checked_sub(to_at)?;
                        let width = what.ty.bytes();
                        (offset.checked_add(width)? <= bytes).then_some(())?;
                        let source = self.memory.cell_at(from, from_at.checked_add(offset)?, width)?;
                        let bytes = self.memory.cell(source).map(|cell| cell.ty == IntType::BOOL);
                        (bytes == Some(what.ty == IntType::BOOL)).then_some(())?;
                        Some(self.content(source, &before).wrap(what.ty))
                    })
                }
                _ => None,
            };
            match value {
                Some(value) => self.put(cell, true, &value, after),
                None => self.put(cell, false, &Number::TOP, after),
            }
        }
    }

    /// What a thread knows where it starts: its locals and its own cells. What is known of shared cells is
    /// not part of it.
    pub fn entry(&self, arguments: &[Number]) -> Relational<Variable> {
        let mut environment = Numbers::top();
        for (id, cell) in self.memory.cells() {
            let of_another = matches!(self.memory.program.objects[cell.object].storage,
                Storage::Frame(owner) if owner != self.template);
            if cell.tracked && cell.private && !of_another {
                environment.set(id, cell.initial);
            }
        }
        let code = &self.memory.program.templates[self.template];
        for (local, what) in code.locals.enumerate() {
            let index = local.0 as usize;
            let value = match arguments.get(index).filter(|_| index < code.parameters) {
                Some(value) => value.wrap(what.ty),
                None => Number::constant(0),
            };
            environment.set(self.memory.local(local), value);
        }
        Relational { numbers: environment, octagons: Octagons::top() }
    }

    /// What a thread of the start configuration knows where it starts.
    pub fn start(&self) -> Relational<Variable> {
        let mut state = self.entry(&[]);
        for (id, cell) in self.memory.cells() {
            if cell.tracked && !cell.private {
                state.numbers.set(id, cell.initial);
            }
        }
        state.reduced(self.packs())
    }

    /// What a thread knows where it starts, if a step with this outcome starts it.
    pub fn started(&self, child: &Started, outcome: &After) -> Relational<Variable> {
        let mut state = self.entry(&child.arguments);
        for (cell, _) in self.memory.cells().filter(|(cell, _)| self.memory.is_shared(*cell)) {
            if let Some(value) = outcome.environment.numbers.get(cell) {
                state.numbers.set(cell, *value);
            }
        }
        for (pack, _) in self.memory.shared_packs() {
            if let Some(octagon) = outcome.environment.octagons.get(pack) {
                state.octagons.set(pack, octagon.clone());
            }
        }
        state.reduced(self.packs())
    }
}

/// What a pointer is computed from by adding and subtracting.
pub fn root(pointer: &Expr) -> &Expr {
    match pointer {
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair) => root(&pair.0),
        _ => pointer,
    }
}

/// The pointer with something else in the place of its root.
fn with_root(pointer: &Expr, start: &Expr) -> Expr {
    match pointer {
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), ty, pair) => {
            Expr::binary(*op, *ty, with_root(&pair.0, start), pair.1.clone())
        }
        _ => start.clone(),
    }
}

/// The object whose address a pointer is computed from by adding and subtracting, and the offset in it, which
/// wraps.
fn offset_of(pointer: &Expr, ty: IntType) -> Option<(ObjectId, Expr)> {
    match pointer {
        Expr::Address(object, offset) => Some((*object, Expr::int((*offset).into(), ty))),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), found, pair) if *found == ty => {
            let (object, offset) = offset_of(&pair.0, ty)?;
            Some((object, Expr::binary(*op, ty, offset, pair.1.clone())))
        }
        _ => None,
    }
}

/// How far an access to this many bytes reaches.
pub fn extent(size: &Expr) -> Extent {
    match size {
        Expr::Const(size, _) => u64::try_from(*size).map_or(Extent::Object, Extent::Bytes),
        _ => Extent::Object,
    }
}
