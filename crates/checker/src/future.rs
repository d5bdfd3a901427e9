//! The effects that a thread may still have from a location on: they allow the check to omit interleavings.
//!
//! Each location of each template has a set: the objects that the rest of the procedure, its callees, and the
//! threads that it starts may read or write, and whether they may start or join threads, or create or end
//! objects. Accesses of a thread to its own frame objects by name are not included: other threads see these
//! only through pointers, and steps through a pointer into another thread's stack never count as private (see
//! [`crate::proof`]).
//!
//! Over-approximates if points-to information is right; a pointer without any stays in the object that its
//! address is computed from, or points to an object whose address is taken. The check compares every step
//! that it takes with these sets, and refuses the proof if a step does more.

use crate::future_locks::{Locks, Site};
use ir::ids::Id;
use ir::{
    BinaryOp, Callee, Expr, IdVec, Initial, Layout, Lhs, Location, LocationId, LocationKind, ObjectId, Op,
    Place, Program, Storage, Targets, Template, TemplateId,
};

/// A set of effects.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Effects(Vec<u64>);

/// An effect of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Read(ObjectId),
    Write(ObjectId),
    /// Without the object's lock ([`crate::future_locks`]).
    LooseRead(ObjectId),
    /// Without the object's lock.
    LooseWrite(ObjectId),
    Spawn,
    Join,
    AskLive,
    ChangeLive,
}

impl Effect {
    fn bit(self) -> usize {
        match self {
            Self::Spawn => 0,
            Self::Join => 1,
            Self::AskLive => 2,
            Self::ChangeLive => 3,
            Self::Read(object) => 4 + 4 * object.index(),
            Self::Write(object) => 5 + 4 * object.index(),
            Self::LooseRead(object) => 6 + 4 * object.index(),
            Self::LooseWrite(object) => 7 + 4 * object.index(),
        }
    }
}

impl Effects {
    fn none(objects: usize) -> Self {
        Self(vec![0; (4 + 4 * objects).div_ceil(64)])
    }
    fn add(&mut self, effect: Effect) {
        self.0[effect.bit() / 64] |= 1 << (effect.bit() % 64);
    }
    fn add_all(&mut self, other: &Self) -> bool {
        let mut grown = false;
        for (mine, more) in self.0.iter_mut().zip(&other.0) {
            grown |= *more & !*mine != 0;
            *mine |= more;
        }
        grown
    }
    pub fn has(&self, effect: Effect) -> bool {
        self.0[effect.bit() / 64] >> (effect.bit() % 64) & 1 == 1
    }
    /// Whether an effect of another thread does not commute with one of these.
    pub fn conflicts_with(&self, effect: Effect) -> bool {
        match effect {
            Effect::Read(object) => self.has(Effect::Write(object)),
            Effect::Write(object) => self.has(Effect::Write(object)) || self.has(Effect::Read(object)),
            Effect::LooseRead(object) => self.has(Effect::LooseWrite(object)),
            Effect::LooseWrite(object) => {
                self.has(Effect::LooseWrite(object)) || self.has(Effect::LooseRead(object))
            }
            Effect::Spawn => self.has(Effect::Spawn) || self.has(Effect::Join),
            Effect::Join => false,
            Effect::AskLive => self.has(Effect::ChangeLive),
            Effect::ChangeLive => self.has(Effect::AskLive),
        }
    }
}

/// The future effects at all locations.
pub(crate) struct Futures {
    sets: IdVec<TemplateId, IdVec<LocationId, Effects>>,
    /// The frame objects of each template that pointers may lead to.
    pub frames: IdVec<TemplateId, Vec<ObjectId>>,
    /// The thread-local objects that pointers may lead to.
    pub thread_locals: Vec<ObjectId>,
    /// The locks that objects are accessed under.
    pub locks: Locks,
    /// The procedures that pointers may lead to.
    pub procedures: Vec<TemplateId>,
}

/// The most words that all sets may have.
const MOST_WORDS: usize = 1 << 26;

struct Collector<'p> {
    program: &'p Program,
    pointed: Vec<bool>,
    procedures: Vec<TemplateId>,
}

impl Futures {
    /// Computes the sets; `None` when they would be too large.
    pub fn new(program: &Program) -> Option<Self> {
        let locations: usize = program.templates.iter().map(|code| code.locations.len()).sum();
        let words = (4 + 4 * program.objects.len()).div_ceil(64);
        if locations.saturating_mul(words) > MOST_WORDS {
            return None;
        }
        let collector = Collector::new(program);
        let none = Effects::none(program.objects.len());
        let mut sets: IdVec<TemplateId, IdVec<LocationId, Effects>> = program
            .templates
            .iter()
            .map(|code| code.locations.iter().map(|_| none.clone()).collect())
            .collect();
        let mut sites: Vec<Site> = Vec::new();
        for (template, code) in program.templates.enumerate() {
            for edge in &code.edges {
                for op in edge.ops.iter().filter(|op| !matches!(op, Op::Lock(..))) {
                    collector.op(op, &mut |effect| {
                        if let Effect::Read(object) | Effect::Write(object) = effect {
                            sites.push((template, edge.source, object));
                        }
                    });
                }
            }
        }
        let locks = Locks::new(program, &collector.procedures, &sites);
        for (template, code) in program.templates.enumerate() {
            for edge in &code.edges {
                for op in &edge.ops {
                    collector.op(op, &mut |effect| {
                        let set = &mut sets[template][edge.source];
                        set.add(effect);
                        match effect {
                            Effect::Read(object) if locks.is_loose(template, edge.source, op, object) => {
                                set.add(Effect::LooseRead(object));
                            }
                            Effect::Write(object) if locks.is_loose(template, edge.source, op, object) => {
                                set.add(Effect::LooseWrite(object));
                            }
                            _ => {}
                        }
                    });
                }
            }
            // Objects of an activation end with it, at the latest with its thread.
            let owned = |storage| storage == Storage::Frame(template) || storage == Storage::ThreadLocal;
            if program.objects.iter().any(|object| owned(object.storage)) {
                sets[template].iter_mut().for_each(|set| set.add(Effect::ChangeLive));
            }
        }
        let mut grown = true;
        while grown {
            grown = false;
            for (template, code) in program.templates.enumerate() {
                for (_, edge) in code.edges.enumerate().rev() {
                    let target = sets[template][edge.target].clone();
                    grown |= sets[template][edge.source].add_all(&target);
                    for callee in edge.ops.iter().flat_map(|op| collector.callees(op)) {
                        let entered = sets[callee][program.templates[callee].entry].clone();
                        grown |= sets[template][edge.source].add_all(&entered);
                    }
                }
            }
        }
        let pointed = |storage: Storage| {
            let all = program
                .objects
                .enumerate()
                .filter(|(id, object)| object.storage == storage && collector.pointed[id.index()]);
            all.map(|(id, _)| id).collect::<Vec<_>>()
        };
        let frames = program.templates.ids().map(|template| pointed(Storage::Frame(template))).collect();
        let thread_locals = pointed(Storage::ThreadLocal);
        Some(Self { sets, frames, thread_locals, locks, procedures: collector.procedures })
    }
    pub fn at(&self, template: TemplateId, location: LocationId) -> &Effects {
        &self.sets[template][location]
    }
}

impl<'p> Collector<'p> {
    fn new(program: &'p Program) -> Self {
        let mut pointed = vec![false; program.objects.len()];
        let mut procedures = vec![false; program.templates.len()];
        let mut escape = |expr: &Expr| {
            expr.walk(&mut |inner| match inner {
                Expr::Address(object, _) => pointed[object.index()] = true,
                Expr::Procedure(template) => procedures[template.index()] = true,
                _ => {}
            });
        };
        for (_, object) in program.objects.enumerate() {
            if let Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| escape(value));
            }
        }
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            let accessed: Vec<&Expr> = match op {
                Op::Lock(_, address) | Op::Unlock(_, address) => vec![address],
                Op::Fill(to, ..) => vec![to],
                Op::Copy(to, from, _) => vec![to, from],
                _ => vec![],
            };
            for expr in op.expressions() {
                let is_place = op
                    .targets()
                    .iter()
                    .any(|lhs| matches!(lhs, Lhs::Memory(place) if std::ptr::eq(&place.address, expr)));
                leave_bases(
                    expr,
                    is_place || accessed.iter().any(|address| std::ptr::eq(*address, expr)),
                    &mut escape,
                );
            }
        }
        for (id, object) in program.objects.enumerate() {
            pointed[id.index()] |= object.storage == Storage::Site;
        }
        Self {
            program,
            pointed,
            procedures: program.templates.ids().filter(|id| procedures[id.index()]).collect(),
        }
    }

    fn callees(&self, op: &Op) -> Vec<TemplateId> {
        match op {
            Op::Call(Callee::Procedure(callee), ..) | Op::Spawn(Callee::Procedure(callee), ..) => {
                vec![*callee]
            }
            Op::Call(Callee::Pointer(_), ..) | Op::Spawn(Callee::Pointer(_), ..) => self.procedures.clone(),
            _ => vec![],
        }
    }

    fn op(&self, op: &Op, add: &mut dyn FnMut(Effect)) {
        for expr in op.expressions() {
            expr.walk(&mut |inner| match inner {
                Expr::Load(place) => self.place(place, false, add),
                Expr::Valid(..) => add(Effect::AskLive),
                _ => {}
            });
        }
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.place(place, true, add);
            }
        }
        match op {
            Op::Assume(_) | Op::Assign(_) | Op::Call(..) => {}
            Op::Lock(_, address) | Op::Unlock(_, address) => match address {
                Expr::Address(object, _) => self.direct(*object, true, add),
                _ => self.pointer(
                    address,
                    true,
                    &|object| may_hold_lock(&self.program.objects[object].layout),
                    add,
                ),
            },
            Op::Spawn(..) | Op::Broadcast(_) => add(Effect::Spawn),
            Op::Join(..) => add(Effect::Join),
            Op::Allocate { site, .. } => {
                add(Effect::Write(*site));
                add(Effect::ChangeLive);
            }
            Op::Free(_) => {
                let sites =
                    self.program.objects.enumerate().filter(|(_, object)| object.storage == Storage::Site);
                sites.for_each(|(id, _)| add(Effect::Write(id)));
                add(Effect::ChangeLive);
            }
            Op::Fill(to, ..) => self.pointer(to, true, &|_| true, add),
            Op::Copy(to, from, _) => {
                self.pointer(to, true, &|_| true, add);
                self.pointer(from, false, &|_| true, add);
            }
        }
    }

    fn place(&self, place: &Place, write: bool, add: &mut dyn FnMut(Effect)) {
        match (&place.address, &place.targets) {
            (Expr::Address(object, _), _) => self.direct(*object, write, add),
            (_, Targets::Of(targets)) => targets.iter().for_each(|target| add(effect(target.object, write))),
            (address, Targets::Any) => self.pointer(address, write, &|_| true, add),
        }
    }
    fn direct(&self, object: ObjectId, write: bool, add: &mut dyn FnMut(Effect)) {
        match self.program.objects[object].storage {
            Storage::Static | Storage::Site => add(effect(object, write)),
            Storage::Frame(_) | Storage::ThreadLocal => {}
        }
    }
    fn pointer(
        &self,
        address: &Expr,
        write: bool,
        fits: &dyn Fn(ObjectId) -> bool,
        add: &mut dyn FnMut(Effect),
    ) {
        match base(address) {
            Some(object) => self.direct(object, write, add),
            None => {
                let objects = self.program.objects.ids().filter(|id| self.pointed[id.index()] && fits(*id));
                objects.for_each(|object| add(effect(object, write)));
            }
        }
    }
}

/// Reading or writing an object.
pub(crate) fn effect(object: ObjectId, write: bool) -> Effect {
    if write { Effect::Write(object) } else { Effect::Read(object) }
}

/// The object that an address is computed from.
fn base(address: &Expr) -> Option<ObjectId> {
    match address {
        Expr::Address(object, _) => Some(*object),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair) => base(&pair.0),
        Expr::Cast(_, operand) => base(operand),
        _ => None,
    }
}

/// Visits all parts of an expression, except the bases of addresses that are only accessed.
fn leave_bases(expr: &Expr, accessed: bool, escape: &mut dyn FnMut(&Expr)) {
    match expr {
        Expr::Address(..) | Expr::Procedure(_) => {
            if !accessed {
                escape(expr);
            }
        }
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, _, pair) if accessed && base(expr).is_some() => {
            leave_bases(&pair.0, true, escape);
            leave_bases(&pair.1, false, escape);
        }
        Expr::Cast(_, operand) if accessed => leave_bases(operand, true, escape),
        Expr::Load(place) => leave_bases(&place.address, true, escape),
        other => other.operands().into_iter().for_each(|operand| leave_bases(operand, false, escape)),
    }
}

fn may_hold_lock(layout: &Layout) -> bool {
    match layout {
        Layout::Sync(_) | Layout::Bytes(_) => true,
        Layout::Array { element, .. } => may_hold_lock(element),
        Layout::Record(fields) => fields.iter().any(|field| may_hold_lock(&field.layout)),
        Layout::Scalar(_) => false,
    }
}

/// For each location, whether each local may still be read.
pub(crate) struct Needed(IdVec<TemplateId, IdVec<LocationId, Vec<bool>>>);

impl Needed {
    pub fn new(program: &Program) -> Self {
        Self(program.templates.iter().map(needed_locals).collect())
    }
    pub fn at(&self, template: TemplateId, location: LocationId) -> &[bool] {
        &self.0[template][location]
    }
}

/// For each location of a template, whether each local may still be read.
fn needed_locals(code: &Template) -> IdVec<LocationId, Vec<bool>> {
    let at_end = |location: &Location| {
        let mut locals = vec![false; code.locals.len()];
        let last = match location.kind {
            LocationKind::End => code.result,
            LocationKind::Exit => code.exit_value,
            LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => None,
        };
        if let Some(local) = last {
            locals[local.index()] = true;
        }
        locals
    };
    let mut needed: IdVec<LocationId, Vec<bool>> = code.locations.iter().map(at_end).collect();
    let mut grown = true;
    while grown {
        grown = false;
        for (_, edge) in code.edges.enumerate().rev() {
            let mut locals = needed[edge.target].clone();
            edge.ops.iter().rev().for_each(|op| before(op, &mut locals));
            for (mine, more) in needed[edge.source].iter_mut().zip(locals) {
                grown |= more && !*mine;
                *mine |= more;
            }
        }
    }
    needed
}

/// Which locals may be read from an operation on, given which may be read after it.
fn before(op: &Op, locals: &mut [bool]) {
    for lhs in op.targets() {
        if let Lhs::Local(local) = lhs {
            locals[local.index()] = false;
        }
    }
    for expr in op.expressions() {
        expr.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                locals[local.index()] = true;
            }
        });
    }
}
