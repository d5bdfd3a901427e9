//! Where values may get to, from variable to variable.
//!
//! Two questions are asked of each value that may be an address: may another thread get it, and may memory
//! be accessed at it? Both are answered backwards: where a holder's value may get there, so may the values
//! of all that it may have its value from. Holders are locals, the results of procedures, and the contents
//! of objects. What a procedure is passed and gives back counts at the call that passed it, so callers are
//! told apart; contents are not, and points-to sets say which are read and written.
//!
//! An object that others do not get (`escape.rs` has the old rule; an object is private by either of them):
//! by induction on the steps of a run, each address into it is in locals of its own thread that no other
//! thread gets, and in contents of objects of that thread of which the same holds. A step keeps that: it
//! gives values to holders that are followed here, to new threads and to those that join (which others get),
//! or to objects that others get. The same holds of teams in the place of threads (`escape.rs`), where what
//! is passed to a helper stays in the team. A guess equals an address without having it from anywhere, and
//! counts separately. Over-approximates.

use super::view::{Meter, View};
use crate::ProofError;
use ir::{
    Expr, IdVec, Initial, IntType, Lhs, LocalId, LocationKind, ObjectId, Op, PointerArithmetic, Rhs, Storage,
    TemplateId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What may hold an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    /// A local of a procedure.
    Local(TemplateId, LocalId),
    /// What a procedure gives back, but for its arguments.
    Result(TemplateId),
    /// What threads end with.
    Ended,
    /// The bytes of an object.
    Content(ObjectId),
    /// The bytes of one of some objects.
    OneOf(usize),
    /// The bytes of each of some objects.
    EachOf(usize),
    /// The address of an object, where it is named.
    Address(ObjectId),
    /// Some accesses.
    Accessed,
    /// Arguments of starts of threads of a kind.
    Passed(TemplateId),
    /// Arguments of starts of which no kind is known.
    PassedOn,
}

/// Where values come from, and what they are passed back by.
pub struct ValueFlow<'v, 'a> {
    view: &'v View<'a>,
    /// What each holder may have its value from.
    from: FxHashMap<Holder, Vec<Holder>>,
    /// Locals whose values may be part of what their procedure gives back.
    returned: FxHashSet<(TemplateId, LocalId)>,
    /// What expressions may be addresses of, as far as that was asked.
    named: FxHashMap<(TemplateId, Expr), Rc<[ObjectId]>>,
    /// Sets of objects, each once.
    sets: FxHashMap<Rc<[ObjectId]>, usize>,
    /// Objects of which an address outlives the activation that has it, or is there from the start.
    left: Vec<ObjectId>,
}

/// Holders of which something is so.
pub struct Reached {
    holders: FxHashSet<Holder>,
}

/// The locals, loads and addresses that an expression may have an address from. A pointer that is moved
/// stays in its object, whatever the distance is computed from.
fn origins<'e>(pointer: IntType, expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Local(_) | Expr::Address(..) | Expr::Load(_) => found.push(expr),
        Expr::Const(..) | Expr::Procedure(_) | Expr::Myself | Expr::Overflows(..) | Expr::Valid(..) => {}
        Expr::Cast(_, inner) | Expr::Unary(_, _, inner) | Expr::Old(inner) => {
            origins(pointer, inner, found);
        }
        Expr::IfThenElse(three) => {
            origins(pointer, &three.1, found);
            origins(pointer, &three.2, found);
        }
        Expr::Binary(op, ty, pair) => {
            if op.is_comparison() {
                return;
            }
            origins(pointer, &pair.0, found);
            if PointerArithmetic::of(pointer, *op, *ty, pair) != Some(PointerArithmetic::Move) {
                origins(pointer, &pair.1, found);
            }
        }
    }
}

impl<'v, 'a> ValueFlow<'v, 'a> {
    /// Follows the values of a program.
    pub fn of(view: &'v View<'a>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let mut values = Self {
            view,
            from: FxHashMap::default(),
            returned: returned(view, meter)?,
            named: FxHashMap::default(),
            sets: FxHashMap::default(),
            left: Vec::new(),
        };
        for object in view.program.objects.iter() {
            let Initial::Values(initial) = &object.initial else { continue };
            for (_, _, value) in initial {
                value.walk(&mut |inner| {
                    if let Expr::Address(named, _) = inner {
                        values.left.push(*named);
                    }
                });
            }
        }
        for (template, code) in view.program.templates.enumerate() {
            let exits = code.locations.iter().any(|location| location.kind == LocationKind::Exit);
            let ends = if super::escape::is_kind(view, template) { code.result } else { None };
            for local in ends.into_iter().chain(code.exit_value.filter(|_| exits)) {
                values.add(Holder::Ended, Holder::Local(template, local));
                values.add(Holder::Ended, Holder::Result(template));
            }
            for edge in code.edges.iter() {
                for op in &edge.ops {
                    meter.tick()?;
                    values.step(template, op, meter)?;
                    values.accesses(template, op)?;
                }
            }
        }
        Ok(values)
    }

    fn add(&mut self, to: Holder, from: Holder) {
        self.from.entry(to).or_default().push(from);
    }

    fn objects(&mut self, template: TemplateId, expr: &Expr) -> Result<Rc<[ObjectId]>, ProofError> {
        if let Some(known) = self.named.get(&(template, expr.clone())) {
            return Ok(known.clone());
        }
        let objects = self.view.objects(template, expr)?;
        self.named.insert((template, expr.clone()), objects.clone());
        Ok(objects)
    }

    fn set(&mut self, template: TemplateId, address: &Expr) -> Result<usize, ProofError> {
        let objects = self.objects(template, address)?;
        if let Some(known) = self.sets.get(&objects) {
            return Ok(*known);
        }
        let number = self.sets.len();
        for object in objects.iter() {
            self.add(Holder::Content(*object), Holder::OneOf(number));
            self.add(Holder::EachOf(number), Holder::Content(*object));
        }
        self.sets.insert(objects, number);
        Ok(number)
    }

    /// Where something is assigned.
    fn target(&mut self, template: TemplateId, lhs: &Lhs) -> Result<Holder, ProofError> {
        Ok(match lhs {
            Lhs::Local(local) => Holder::Local(template, *local),
            Lhs::Memory(place) => Holder::OneOf(self.set(template, &place.address)?),
        })
    }

    /// A holder may have its value from another that is no local.
    fn give(&mut self, to: Holder, from: Holder) {
        self.add(to, from);
        if let Holder::Local(template, local) = to
            && self.returned.contains(&(template, local))
        {
            match from {
                Holder::Address(object) if self.view.program.objects[object].storage != Storage::Site => {
                    self.left.push(object);
                }
                _ => self.add(Holder::Result(template), from),
            }
        }
    }

    /// A holder may have the value of an expression of a template.
    fn flow(&mut self, to: Holder, template: TemplateId, expr: &Expr) -> Result<(), ProofError> {
        let view = self.view;
        let is_owned = |object: &ObjectId| view.program.objects[*object].storage != Storage::Static;
        let mut found = Vec::new();
        origins(view.program.data_model.pointer(), expr, &mut found);
        if found.is_empty() || !self.objects(template, expr)?.iter().any(is_owned) {
            return Ok(());
        }
        for origin in found {
            match origin {
                Expr::Local(local) => self.add(to, Holder::Local(template, *local)),
                Expr::Address(object, _) => self.give(to, Holder::Address(*object)),
                Expr::Load(place) => {
                    let set = self.set(template, &place.address)?;
                    self.give(to, Holder::EachOf(set));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn step(&mut self, template: TemplateId, op: &Op, meter: &mut Meter<'_>) -> Result<(), ProofError> {
        match op {
            Op::Assign(assignment) => {
                for (lhs, rhs) in &assignment.pairs {
                    let to = self.target(template, lhs)?;
                    match rhs {
                        Rhs::Value(value) => self.flow(to, template, value)?,
                        Rhs::Float(_, _, operands) => {
                            for operand in operands {
                                self.flow(to, template, operand)?;
                            }
                        }
                        Rhs::Any | Rhs::Unknown => {}
                    }
                }
            }
            Op::Fill(address, byte, _) => {
                let to = Holder::OneOf(self.set(template, address)?);
                self.flow(to, template, byte)?;
            }
            Op::Copy(to, from, _) => {
                let (to, from) = (self.set(template, to)?, self.set(template, from)?);
                self.add(Holder::OneOf(to), Holder::EachOf(from));
            }
            Op::Allocate { site, result, .. } => {
                let to = self.target(template, result)?;
                self.give(to, Holder::Address(*site));
            }
            Op::Join(_, Some(lhs)) => {
                let to = self.target(template, lhs)?;
                self.give(to, Holder::Ended);
            }
            Op::Spawn(callee, arguments, _) => {
                let mut to: Vec<Holder> =
                    called(self.view, template, callee).into_iter().map(Holder::Passed).collect();
                if to.is_empty() {
                    to.push(Holder::PassedOn);
                }
                for argument in arguments {
                    for holder in &to {
                        self.flow(*holder, template, argument)?;
                    }
                }
                self.pass(template, callee, arguments, None, meter)?;
            }
            Op::Call(callee, arguments, result) => {
                let to = match result {
                    Some(lhs) => Some(self.target(template, lhs)?),
                    None => None,
                };
                self.pass(template, callee, arguments, to, meter)?;
            }
            Op::Broadcast(_) => self.left.extend(self.view.program.objects.ids()),
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) | Op::Join(_, None) => {}
        }
        Ok(())
    }

    /// Arguments are passed, and something comes back.
    fn pass(
        &mut self,
        template: TemplateId,
        callee: &ir::Callee,
        arguments: &[Expr],
        to: Option<Holder>,
        meter: &mut Meter<'_>,
    ) -> Result<(), ProofError> {
        for callee in called(self.view, template, callee) {
            for (number, argument) in arguments.iter().enumerate() {
                meter.tick()?;
                let parameter = LocalId(number as u32);
                if number >= self.view.program.templates[callee].parameters {
                    break;
                }
                self.flow(Holder::Local(callee, parameter), template, argument)?;
                if let Some(to) = to.filter(|_| self.returned.contains(&(callee, parameter))) {
                    self.flow(to, template, argument)?;
                }
            }
            if let Some(to) = to {
                self.give(to, Holder::Result(callee));
            }
        }
        Ok(())
    }

    /// The addresses that an operation accesses memory at.
    fn accesses(&mut self, template: TemplateId, op: &Op) -> Result<(), ProofError> {
        let mut addresses: Vec<&Expr> = Vec::new();
        for expr in op.expressions() {
            expr.walk(&mut |inner| {
                if let Expr::Load(place) = inner {
                    addresses.push(&place.address);
                }
            });
        }
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                addresses.push(&place.address);
            }
        }
        match op {
            Op::Lock(_, address) | Op::Unlock(_, address) | Op::Free(address) | Op::Fill(address, ..) => {
                addresses.push(address);
            }
            Op::Copy(to, from, _) => addresses.extend([to, from]),
            Op::Assume(_) | Op::Assign(_) | Op::Spawn(..) | Op::Join(..) => {}
            Op::Allocate { .. } | Op::Call(..) | Op::Broadcast(_) => {}
        }
        for address in addresses {
            self.flow(Holder::Accessed, template, address)?;
        }
        Ok(())
    }

    /// What some holders may have their values from.
    fn reached(
        &self,
        mut open: Vec<Holder>,
        are_seen: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Reached, ProofError> {
        let mut holders = FxHashSet::default();
        while let Some(holder) = open.pop() {
            meter.tick()?;
            if !holders.insert(holder) {
                continue;
            }
            open.extend(self.from.get(&holder).into_iter().flatten());
            // Who gets an object's address may read what it holds.
            if let Holder::Address(object) = holder
                && are_seen
            {
                open.push(Holder::Content(object));
            }
        }
        Ok(Reached { holders })
    }

    /// What may be the address of an access.
    pub fn accessed(&self, meter: &mut Meter<'_>) -> Result<Reached, ProofError> {
        self.reached(vec![Holder::Accessed], false, meter)
    }

    /// Whether what is assigned may be the address of an access.
    pub fn is_accessed(
        &self,
        reached: &Reached,
        template: TemplateId,
        lhs: &Lhs,
    ) -> Result<bool, ProofError> {
        let has = |holder: Holder| reached.holders.contains(&holder);
        Ok(match lhs {
            Lhs::Local(local) => {
                has(Holder::Local(template, *local))
                    || (self.returned.contains(&(template, *local)) && has(Holder::Result(template)))
            }
            Lhs::Memory(place) => {
                let objects = self.view.objects(template, &place.address)?;
                objects.iter().any(|object| has(Holder::Content(*object)))
            }
        })
    }

    /// The objects whose addresses other threads than their own may get, or guess; but for helpers of a kind,
    /// which get them from the thread that starts them.
    pub fn seen(
        &self,
        guessed: &IdVec<ObjectId, bool>,
        helper: Option<TemplateId>,
        meter: &mut Meter<'_>,
    ) -> Result<IdVec<ObjectId, bool>, ProofError> {
        let program = self.view.program;
        let is_open = |id: &ObjectId| guessed[*id] || program.objects[*id].storage == Storage::Static;
        let open = program.objects.ids().filter(is_open).chain(self.left.iter().copied());
        let others = program.templates.ids().filter(|kind| Some(*kind) != helper).map(Holder::Passed);
        let open = open.map(Holder::Address).chain([Holder::PassedOn, Holder::Ended]).chain(others);
        let reached = self.reached(open.collect(), true, meter)?;
        Ok(program.objects.ids().map(|id| reached.holders.contains(&Holder::Address(id))).collect())
    }
}

/// The procedures that a call or a start may run.
pub fn called(view: &View<'_>, template: TemplateId, callee: &ir::Callee) -> Vec<TemplateId> {
    match callee {
        ir::Callee::Procedure(callee) => vec![*callee],
        ir::Callee::Pointer(pointer) => view.points_to.callees(template, pointer).into_iter().collect(),
    }
}

/// The locals whose values may be part of what their procedure gives back.
fn returned(view: &View<'_>, meter: &mut Meter<'_>) -> Result<FxHashSet<(TemplateId, LocalId)>, ProofError> {
    let pointer = view.program.data_model.pointer();
    let mut found: FxHashSet<(TemplateId, LocalId)> = FxHashSet::default();
    let results = view.program.templates.enumerate();
    found.extend(results.filter_map(|(template, code)| Some((template, code.result?))));
    loop {
        let before = found.len();
        for (template, code) in view.program.templates.enumerate() {
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                meter.tick()?;
                let mut origin = Vec::new();
                match op {
                    Op::Assign(assignment) => {
                        for (lhs, rhs) in &assignment.pairs {
                            let Lhs::Local(local) = lhs else { continue };
                            if !found.contains(&(template, *local)) {
                                continue;
                            }
                            match rhs {
                                Rhs::Value(value) => origins(pointer, value, &mut origin),
                                Rhs::Float(_, _, operands) => {
                                    operands.iter().for_each(|value| origins(pointer, value, &mut origin));
                                }
                                Rhs::Any | Rhs::Unknown => {}
                            }
                        }
                    }
                    Op::Call(callee, arguments, Some(Lhs::Local(local)))
                        if found.contains(&(template, *local)) =>
                    {
                        for callee in called(view, template, callee) {
                            for (number, argument) in arguments.iter().enumerate() {
                                if found.contains(&(callee, LocalId(number as u32)))
                                    && number < view.program.templates[callee].parameters
                                {
                                    origins(pointer, argument, &mut origin);
                                }
                            }
                        }
                    }
                    _ => {}
                }
                for expr in origin {
                    if let Expr::Local(local) = expr {
                        found.insert((template, *local));
                    }
                }
            }
        }
        if found.len() == before {
            return Ok(found);
        }
    }
}
