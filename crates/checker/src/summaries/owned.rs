//! Objects that a thread owns: the claims about fresh locals, along one step.
//!
//! The claim of a list L of locals at a location: the object that a local of L points into is named by no
//! memory, by no other thread, and by no local of this activation outside of L, but for locals that are
//! never read again (not live). A set of locals of which that is so is carried through the operations of a
//! step; it is the largest that is known. A list may leave out some of it only if those have no allocated
//! object in common with what stays, or are not live.
//!
//! Addresses that are guessed may name any object (`escape.rs`), so sites of such are never fresh. Freed
//! addresses may be given out again ([`reused`]); sites of which a program can notice it are not fresh,
//! either. Under-approximates.

use super::view::{Meter, View, claim};
use crate::ProofError;
use ir::{
    BinaryOp, Edge, EdgeId, Expr, IdVec, IntType, Lhs, LocalId, LocationId, LocationKind, ObjectId, Op, Rhs,
    Storage, Template, TemplateId,
};
use std::collections::BTreeSet;

/// Locals that hold addresses into objects which the thread owns.
#[derive(Clone, Debug, Default)]
pub struct Owned {
    /// The locals.
    pub locals: BTreeSet<LocalId>,
    /// Locals that are surely null. They may be listed or not.
    pub null: BTreeSet<LocalId>,
}

impl Owned {
    /// A local gets another value.
    pub fn forget(&mut self, local: LocalId) {
        self.locals.remove(&local);
        self.null.remove(&local);
    }
}

/// The sites of which a program can notice that a new object has the address of one that was freed: those
/// of addresses that are compared for equality with ones of allocated memory, where a program may compare
/// one that was freed at all. Over-approximates.
///
/// For other sites all executions are the same if a new object gets a new address: whatever its address is
/// computed into is compared with no address of allocated memory, but for order and digits, and what follows
/// from these is open (`ir/src/passes/addresses`). An old copy that is equal to the new address is one of
/// memory that was freed, and an access there is undefined. So a comparison does not count after which both
/// addresses are accessed in any case ([`is_copied_next`]).
pub fn reused(view: &View<'_>, meter: &mut Meter<'_>) -> Result<IdVec<ObjectId, bool>, ProofError> {
    let program = view.program;
    let mut found: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
    if !program.reuses_addresses {
        return Ok(found);
    }
    for (template, code) in program.templates.enumerate() {
        for (edge, op) in code.edges.iter().flat_map(|edge| edge.ops.iter().map(move |op| (edge, op))) {
            meter.tick()?;
            let mut pairs = Vec::new();
            for expr in op.expressions() {
                expr.walk(&mut |inner| {
                    // Digits are narrower.
                    if let Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, ty, pair) = inner
                        && ty.bits >= program.data_model.pointer().bits
                        && ![&pair.0, &pair.1].iter().any(|operand| matches!(operand, Expr::Const(..)))
                        && !is_copied_next(code, edge, pair)
                    {
                        pairs.push(pair);
                    }
                });
            }
            for pair in pairs {
                let is_site = |object: &ObjectId| program.objects[*object].storage == Storage::Site;
                let (one, other) = (view.objects(template, &pair.0)?, view.objects(template, &pair.1)?);
                // Two addresses that are equal to one number are equal.
                let points_to = view.points_to;
                let is_foreign = |operand: &Expr| {
                    points_to.may_be_input(template, operand) || points_to.may_be_part(template, operand)
                };
                let has_site = |sites: &[ObjectId], operand: &Expr| {
                    sites.iter().any(is_site) || (program.foreign_numbers && is_foreign(operand))
                };
                if has_site(&one, &pair.0) && has_site(&other, &pair.1) {
                    one.iter().chain(other.iter()).for_each(|object| found[*object] = true);
                }
            }
        }
    }
    Ok(found)
}

/// Whether two addresses are compared by an assumption that is the whole of a step, and each next step first
/// copies from one of them to the other. If one of them is an old copy of an address that was freed, the copy
/// is undefined; otherwise it is none, and no other object has its address.
fn is_copied_next(code: &Template, edge: &Edge, pair: &(Expr, Expr)) -> bool {
    let [Op::Assume(_)] = edge.ops.as_slice() else { return false };
    let mut next = code.edges.iter().filter(|next| next.source == edge.target).peekable();
    next.peek().is_some()
        && next.all(|next| match next.ops.first() {
            Some(Op::Copy(to, from, Expr::Const(size, _))) => {
                *size > 0 && [(to, from), (from, to)].contains(&(&pair.0, &pair.1))
            }
            Some(_) | None => false,
        })
}

/// Whether a value is surely 0.
fn is_null(value: &Expr) -> bool {
    match value {
        Expr::Const(value, _) => *value == 0,
        Expr::Cast(_, operand) => is_null(operand),
        Expr::Local(_) | Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => false,
        Expr::Unary(..) | Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) => false,
        Expr::Valid(..) | Expr::Old(_) => false,
    }
}

/// The locals whose values go into the value of an expression, in any way but a comparison.
pub fn flowing(expr: &Expr, found: &mut BTreeSet<LocalId>) {
    match expr {
        Expr::Local(local) => {
            found.insert(*local);
        }
        Expr::Const(..) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => {}
        // What memory holds names no object that is owned.
        Expr::Load(_) | Expr::Overflows(..) | Expr::Valid(..) => {}
        Expr::Unary(_, _, operand) => flowing(operand, found),
        Expr::Cast(ty, operand) => {
            if *ty != IntType::BOOL {
                flowing(operand, found);
            }
        }
        Expr::Binary(op, _, pair) => {
            if !op.is_comparison() {
                flowing(&pair.0, found);
                flowing(&pair.1, found);
            }
        }
        Expr::IfThenElse(three) => {
            flowing(&three.1, found);
            flowing(&three.2, found);
        }
        Expr::Old(operand) => flowing(operand, found),
    }
}

/// The local that an address is computed from by additions of what is no address itself.
pub fn root(view: &View<'_>, template: TemplateId, expr: &Expr) -> Result<Option<LocalId>, ProofError> {
    let width = view.program.data_model.pointer().bits;
    let is_number = |expr: &Expr| match expr {
        Expr::Const(..) => Ok(true),
        other => {
            let mut locals = BTreeSet::new();
            flowing(other, &mut locals);
            let mut names_none = view.objects(template, other)?.is_empty();
            for local in locals {
                names_none &= view.objects(template, &Expr::Local(local))?.is_empty();
            }
            Ok::<bool, ProofError>(names_none)
        }
    };
    match expr {
        Expr::Local(local) => Ok(Some(*local)),
        Expr::Cast(ty, operand) => {
            let from = view.program.type_of(template, operand);
            if ty.bits == width && from.bits == width { root(view, template, operand) } else { Ok(None) }
        }
        Expr::Binary(BinaryOp::Add, ty, pair) if ty.bits == width => {
            if is_number(&pair.1)? {
                root(view, template, &pair.0)
            } else if is_number(&pair.0)? {
                root(view, template, &pair.1)
            } else {
                Ok(None)
            }
        }
        Expr::Binary(BinaryOp::Sub, ty, pair) if ty.bits == width => {
            if is_number(&pair.1)? {
                root(view, template, &pair.0)
            } else {
                Ok(None)
            }
        }
        Expr::Const(..) | Expr::Load(_) | Expr::Address(..) | Expr::Procedure(_) | Expr::Myself => Ok(None),
        Expr::Unary(..) | Expr::Binary(..) | Expr::IfThenElse(_) | Expr::Overflows(..) => Ok(None),
        Expr::Valid(..) | Expr::Old(_) => Ok(None),
    }
}

/// Sees the locals of one template.
#[derive(Clone, Copy)]
pub struct Owner<'v, 'a> {
    /// The program and the proof.
    pub view: &'v View<'a>,
    /// The template.
    pub template: TemplateId,
    /// The sites whose addresses are guessed somewhere.
    pub guessed: &'v IdVec<ObjectId, bool>,
}

impl Owner<'_, '_> {
    /// Gives up all locals that may hold an address into an object that this one names.
    pub fn leak(&self, owned: &mut Owned, local: LocalId) -> Result<(), ProofError> {
        let mut kept = BTreeSet::new();
        for other in &owned.locals {
            if !self.view.share((self.template, local), (self.template, *other))? {
                kept.insert(*other);
            }
        }
        // One whose set says that it names nothing cannot be shared, and names nothing.
        kept.remove(&local);
        owned.locals = kept;
        Ok(())
    }

    /// Gives up what goes into a value.
    pub fn leak_value(&self, owned: &mut Owned, value: &Expr) -> Result<(), ProofError> {
        let mut locals = BTreeSet::new();
        flowing(value, &mut locals);
        for local in locals {
            if owned.locals.contains(&local) {
                self.leak(owned, local)?;
            }
        }
        Ok(())
    }

    /// The owned local that a value is an address from.
    pub fn source(&self, owned: &Owned, value: &Expr) -> Result<Option<LocalId>, ProofError> {
        Ok(root(self.view, self.template, value)?.filter(|local| owned.locals.contains(local)))
    }

    fn is_wide(&self, local: LocalId) -> bool {
        super::symbols::is_wide(self.view.program, self.template, local)
    }

    /// What an operation other than a call or a start does.
    pub fn step(&self, owned: &mut Owned, op: &Op) -> Result<(), ProofError> {
        match op {
            Op::Assign(assignment) => {
                // Several at once, as an atomic update of a counter is, move nothing that is owned, or
                // nothing is kept.
                let has_leaks = assignment.pairs.len() > 1
                    && assignment.pairs.iter().any(|(_, rhs)| {
                        let mut locals = BTreeSet::new();
                        match rhs {
                            Rhs::Value(value) => flowing(value, &mut locals),
                            Rhs::Float(_, _, operands) => {
                                operands.iter().for_each(|operand| flowing(operand, &mut locals));
                            }
                            Rhs::Any | Rhs::Unknown => {}
                        }
                        locals.iter().any(|local| owned.locals.contains(local))
                    });
                let mut added: Vec<(LocalId, LocalId)> = Vec::new();
                let mut null: Vec<LocalId> = Vec::new();
                for (lhs, rhs) in &assignment.pairs {
                    if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs)
                        && is_null(value)
                    {
                        null.push(*local);
                    }
                    match (lhs, rhs) {
                        (Lhs::Local(local), Rhs::Value(value)) => match self.source(owned, value)? {
                            Some(from) if self.is_wide(*local) => added.push((*local, from)),
                            Some(_) | None => self.leak_value(owned, value)?,
                        },
                        (Lhs::Memory(_), Rhs::Value(value)) => self.leak_value(owned, value)?,
                        (_, Rhs::Float(_, _, operands)) => {
                            for operand in operands {
                                self.leak_value(owned, operand)?;
                            }
                        }
                        (_, Rhs::Any | Rhs::Unknown) => {}
                    }
                }
                // A copy of something that was given up in the same assignment is none of ours.
                added.retain(|(_, from)| owned.locals.contains(from));
                for (lhs, _) in &assignment.pairs {
                    if let Lhs::Local(local) = lhs {
                        owned.forget(*local);
                    }
                }
                owned.null.extend(null);
                owned.locals.extend(added.iter().map(|(local, _)| *local));
                if has_leaks {
                    *owned = Owned::default();
                }
            }
            Op::Allocate { site, size: _, zeroed: _, result } => match result {
                Lhs::Local(local) => {
                    owned.forget(*local);
                    let is_new = !self.guessed[*site] && !self.view.reused[*site];
                    if is_new && self.is_wide(*local) {
                        owned.locals.insert(*local);
                    }
                }
                Lhs::Memory(_) => {}
            },
            Op::Free(address) => self.leak_value(owned, address)?,
            Op::Fill(_, byte, _) => self.leak_value(owned, byte)?,
            Op::Join(_, Some(Lhs::Local(local))) => owned.forget(*local),
            Op::Join(..) | Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Copy(..) => {}
            Op::Call(..) | Op::Spawn(..) | Op::Broadcast(_) => {}
        }
        Ok(())
    }

    /// Whether a list may be claimed at a location where a set is owned: it is part of it, and what it
    /// leaves out is not live, or has nothing in common with it. Returns a local for which that is not so.
    pub fn allows(
        &self,
        owned: &Owned,
        list: &[LocalId],
        location: LocationId,
    ) -> Result<Option<LocalId>, ProofError> {
        for local in list {
            if !owned.locals.contains(local) && !owned.null.contains(local) {
                return Ok(Some(*local));
            }
            for other in owned.locals.iter().filter(|other| list.binary_search(other).is_err()) {
                if self.view.share((self.template, *local), (self.template, *other))?
                    && self.view.is_live(self.template, *other, location)
                {
                    return Ok(Some(*local));
                }
            }
        }
        Ok(None)
    }

    /// Hands objects over to a thread that is started: of the parameters with such arguments, which may be
    /// fresh at its entry, by number. Nobody here may read a copy again, and no caller may have one.
    pub fn hand_over(
        &self,
        owned: &Owned,
        arguments: &[Expr],
        entry: &[LocalId],
        (edge, is_last): (EdgeId, bool),
    ) -> Result<Vec<Option<bool>>, ProofError> {
        let code = &self.view.program.templates[self.template];
        let target = code.edges[edge].target;
        let mut given = Vec::new();
        for argument in arguments {
            let Some(local) = self.source(owned, argument)? else {
                // It names nothing that is owned, or is given up.
                given.push(None);
                continue;
            };
            let mut is_free = is_last;
            for other in &owned.locals {
                if self.view.share((self.template, local), (self.template, *other))? || *other == local {
                    is_free &= !self.view.is_live(self.template, *other, target);
                }
            }
            for parameter in entry.iter().filter(|local| (local.0 as usize) < code.parameters) {
                is_free &= !self.view.share((self.template, local), (self.template, *parameter))?;
            }
            given.push(Some(is_free));
        }
        Ok(given)
    }
}

/// Where a local of a template is live: it may be read before it is assigned, from there on.
pub fn live_locations(code: &Template, local: LocalId) -> IdVec<LocationId, bool> {
    let mut live: IdVec<LocationId, bool> = code
        .locations
        .iter()
        .map(|location| match location.kind {
            LocationKind::End => code.result == Some(local),
            LocationKind::Exit => code.exit_value == Some(local),
            LocationKind::Normal | LocationKind::Halt | LocationKind::Error(_) => false,
        })
        .collect();
    let mut passing: IdVec<LocationId, Vec<LocationId>> = code.locations.iter().map(|_| Vec::new()).collect();
    for edge in code.edges.iter() {
        match use_of(&edge.ops, local) {
            Some(true) => live[edge.source] = true,
            Some(false) => {}
            None => passing[edge.target].push(edge.source),
        }
    }
    let mut open: Vec<LocationId> =
        live.enumerate().filter(|(_, is_live)| **is_live).map(|(id, _)| id).collect();
    while let Some(location) = open.pop() {
        for source in &passing[location] {
            if !std::mem::replace(&mut live[*source], true) {
                open.push(*source);
            }
        }
    }
    live
}

/// Whether operations read a local first (`true`), assign it first (`false`), or neither.
fn use_of(ops: &[Op], local: LocalId) -> Option<bool> {
    for op in ops {
        if op.expressions().into_iter().any(|expr| expr.mentions(local)) {
            return Some(true);
        }
        if op.targets().iter().any(|lhs| matches!(lhs, Lhs::Local(assigned) if *assigned == local)) {
            return Some(false);
        }
    }
    None
}

/// Whether a parameter is never assigned.
pub fn is_constant(view: &View<'_>, template: TemplateId, parameter: LocalId) -> bool {
    let code = &view.program.templates[template];
    let mut targets = code.edges.iter().flat_map(|edge| &edge.ops).flat_map(|op| op.targets());
    (parameter.0 as usize) < code.parameters
        && !targets.any(|lhs| matches!(lhs, Lhs::Local(local) if *local == parameter))
}

/// Checks which parameters may be fresh at an entry, given which of them get an owned object
/// (`Some(true)`), might get a copy of one that is not owned (`Some(false)`), or get none.
pub fn check_entry(
    view: &View<'_>,
    callee: TemplateId,
    (arguments, given): (&[Expr], &[Option<bool>]),
    list: &[LocalId],
) -> Result<bool, ProofError> {
    let parameters = view.program.templates[callee].parameters;
    for local in list {
        // All that is no parameter is 0, and 0 may be listed.
        let index = local.0 as usize;
        let is_zero = index >= parameters || arguments.get(index).is_some_and(is_null);
        if !is_zero && given.get(index).copied().flatten() != Some(true) {
            return Ok(false);
        }
    }
    for (index, what) in given.iter().enumerate().take(parameters) {
        let Ok(index) = u32::try_from(index) else { return claim("there are too many parameters") };
        let parameter = LocalId(index);
        if what.is_some() && list.binary_search(&parameter).is_err() {
            for local in list {
                let is_live = view.is_live(callee, parameter, view.program.templates[callee].entry);
                if is_live && view.share((callee, *local), (callee, parameter))? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}
