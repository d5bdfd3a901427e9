//! Whether a proof speaks of the program at all: what it names exists, and has the right type.
//!
//! That lists are sorted and that contexts and handles exist is checked for all proofs
//! ([`Proof::check_form`](verdict::Proof::check_form)).

use super::cells::Scope;
use super::integers::is_index;
use super::started::STRIDES;
use super::symbols::{is_wide, mask};
use super::view::{Meter, claim};
use crate::ProofError;
use ir::ids::Id;
use ir::{IdVec, LocalId, ObjectId, Op, Program, Storage, TemplateId};
use verdict::{Handle, LockBase, ProcedureContext, Row, SummariesProof, ThreadFacts};

/// Checks all names of a proof.
pub fn check(program: &Program, proof: &SummariesProof, meter: &mut Meter<'_>) -> Result<(), ProofError> {
    if program.has_broadcasts() {
        return claim("a step changes locals of other threads");
    }
    let has_template = |template: TemplateId| template.index() < program.templates.len();
    let has_object = |object: ObjectId| object.index() < program.objects.len();
    if !proof.once.iter().all(|template| has_template(*template)) {
        return claim("a template in `once` does not exist");
    }
    for object in &proof.private {
        let is_owned = has_object(*object) && program.objects[*object].storage != Storage::Static;
        if !is_owned {
            return claim(format!("{object} is no object of a thread"));
        }
    }
    let names = Names { program, proof, single: super::once::single(program, proof) };
    let width = program.data_model.pointer().bytes();
    for handle in &proof.handles {
        if !has_object(handle.object) || !is_handle(program, proof, handle.object) {
            return claim(format!("there may be more than one {}", handle.object));
        }
        let end = handle.offset.checked_add(width);
        if end.is_none_or(|end| end > program.objects[handle.object].size) {
            return claim("a handle lies outside of its object");
        }
        if proof.once.binary_search(&handle.kind).is_err() {
            return claim("there may be more than one thread that a handle names");
        }
    }
    for (kind, bytes) in &proof.distinct {
        if !has_template(*kind) || *bytes >= super::started::STRIDES {
            return claim("a kind has arguments apart that does not exist, or too far apart");
        }
        if program.start.iter().any(|(start, _)| start == kind) {
            return claim("the program starts with threads of a kind that has arguments apart");
        }
    }
    if !proof.cells.iter().all(|cell| super::cells::is_well_formed(program, cell)) {
        return claim("a cell is in no static object");
    }
    if !proof.alone.iter().all(|kind| has_template(*kind)) {
        return claim("a kind is alone that does not exist");
    }
    for team in &proof.teams {
        let is_owned =
            |object: &ObjectId| has_object(*object) && program.objects[*object].storage != Storage::Static;
        if !has_template(team.helper) || !team.objects.iter().all(is_owned) {
            return claim("a team has helpers that do not exist, or shares what is no object of a thread");
        }
        if team.apart >= super::started::STRIDES {
            return claim("helpers have arguments too far apart");
        }
    }
    if proof.contexts.len() < program.start.len() {
        return claim("there is no context for a thread that the program starts with");
    }
    for (context, (template, _)) in proof.contexts.iter().zip(&program.start) {
        if context.template != *template || context.kind != *template {
            return claim("the first contexts are not those that the program starts with");
        }
    }
    for context in &proof.contexts {
        if !has_template(context.template) || !has_template(context.kind) {
            return claim("a context is of no template");
        }
        names.context(context, meter)?;
    }
    Ok(())
}

/// Whether handles may be in an object: it is static, or that of the only activation of a template.
fn is_handle(program: &Program, proof: &SummariesProof, object: ObjectId) -> bool {
    match program.objects[object].storage {
        Storage::Static => true,
        Storage::Frame(template) => proof.once.binary_search(&template).is_ok(),
        Storage::ThreadLocal | Storage::Site => false,
    }
}

struct Names<'a> {
    program: &'a Program,
    proof: &'a SummariesProof,
    single: IdVec<ObjectId, bool>,
}

impl Names<'_> {
    fn context(&self, context: &ProcedureContext, meter: &mut Meter<'_>) -> Result<(), ProofError> {
        let code = &self.program.templates[context.template];
        if context.facts.len() != code.locations.len() {
            return claim("a context has facts of other locations than its template");
        }
        for facts in context.facts.iter().flatten() {
            meter.tick()?;
            self.facts(context.template, facts)?;
        }
        for (edge, callee, called) in &context.calls {
            let Some(step) = code.edges.get(*edge) else { return claim("a call is by no edge") };
            let Some(called) = self.proof.contexts.get(*called as usize) else {
                return claim("a call leads to no context");
            };
            let mut calls = step.ops.iter().filter(|op| matches!(op, Op::Call(..) | Op::Spawn(..)));
            let (Some(op), None) = (calls.next(), calls.next()) else {
                return claim("a call is by an edge that does not call or start one procedure");
            };
            let kind = if matches!(op, Op::Spawn(..)) { *callee } else { context.kind };
            if called.template != *callee || called.kind != kind {
                return claim(format!("the call at {edge} leads to a context of another procedure or kind"));
            }
        }
        let has = |object: ObjectId| object.index() < self.program.objects.len();
        if !context.stores.iter().all(|target| has(target.object))
            || context.starts.iter().any(|kind| kind.index() >= self.program.templates.len())
        {
            return claim("a context starts or stores what does not exist");
        }
        if !context.releases.iter().all(|target| has(target.object)) {
            return claim("locks are given back in an object that does not exist");
        }
        Ok(())
    }

    fn facts(&self, template: TemplateId, facts: &ThreadFacts) -> Result<(), ProofError> {
        let program = self.program;
        let is_pointer = |local: LocalId| {
            local.index() < program.templates[template].locals.len() && is_wide(program, template, local)
        };
        let equal = facts.equal.iter().flat_map(|(local, other, _)| [*local, *other]);
        let ids = facts.ids.iter().map(|(local, _)| *local);
        let bases = facts.locks.iter().filter_map(|lock| match lock.base {
            LockBase::Local(local) => Some(local),
            LockBase::Object(_) => None,
        });
        let arguments = facts.argument.iter().map(|(local, _)| *local);
        let mut locals = equal.chain(ids).chain(bases).chain(facts.fresh.iter().copied()).chain(arguments);
        if let Some(local) = locals.find(|local| !is_pointer(*local)) {
            return claim(format!("{local} is no local as wide as a pointer"));
        }
        for lock in &facts.locks {
            if lock.offset > mask(program) {
                return claim("a lock is further away than addresses go");
            }
            if let LockBase::Object(object) = lock.base
                && !(object.index() < program.objects.len() && self.single[object])
            {
                return claim(format!("a lock is counted from {object}, of which there may be several"));
            }
        }
        for word in &facts.words {
            let is_named = match word.base {
                LockBase::Local(local) => is_pointer(local),
                LockBase::Object(object) => object.index() < program.objects.len() && self.single[object],
            };
            if !is_named || !is_pointer(word.local) || word.offset.max(word.plus) > mask(program) {
                return claim("a word is counted from what it cannot be counted from, or has no value");
            }
        }
        if facts.ids.iter().any(|(_, kind)| self.proof.once.binary_search(kind).is_err()) {
            return claim("an id is that of the only thread of a kind of which there may be several");
        }
        if facts.argument.iter().any(|(_, offset)| *offset > mask(program)) {
            return claim("a local is further from the argument than addresses go");
        }
        for (local, value) in &facts.numbers {
            let ty = program.templates[template].locals.get(*local).map(|local| local.ty);
            if !ty.is_some_and(|ty| ty != ir::IntType::BOOL && ty.contains(ir::Value::from(*value))) {
                return claim(format!("{local} cannot have the value {value}"));
            }
        }
        self.started(template, facts)?;
        if facts.absent.iter().any(|kind| kind.index() >= program.templates.len()) {
            return claim("an absent kind does not exist");
        }
        Ok(())
    }

    /// Checks the names of lists of threads.
    fn started(&self, template: TemplateId, facts: &ThreadFacts) -> Result<(), ProofError> {
        let program = self.program;
        let members = || facts.started.iter().flat_map(|started| &started.members);
        let order = facts.order.iter().flat_map(|(one, two)| [one, two]);
        let bounds = members().flat_map(|members| members.from.iter().chain(&members.below));
        let scope = Scope { program, template, cells: &self.proof.cells };
        let places = facts.placed.iter().map(|(_, _, index)| index);
        for index in order.chain(bounds).chain(places) {
            let is_local = |local: LocalId| scope.ty(local).is_some_and(is_index);
            let is_small = match index.local {
                None => u64::try_from(index.plus).is_ok() || i64::try_from(index.plus).is_ok(),
                Some(local) => is_local(local) && i32::try_from(index.plus).is_ok(),
            };
            if !is_small {
                return claim(format!("an integer is that of a truth value, or too large: {index:?}"));
            }
        }
        if facts.started.iter().any(|started| started.kind.index() >= program.templates.len()) {
            return claim("a kind that was started does not exist");
        }
        let is_pointer = |local: LocalId| {
            local.index() < program.templates[template].locals.len() && is_wide(program, template, local)
        };
        let width = program.data_model.pointer().bits;
        let is_row = |row: Row| {
            let is_named = match row.base {
                LockBase::Local(local) => scope.ty(local).is_some_and(|ty| ty.bits == width),
                LockBase::Object(object) => {
                    object.index() < program.objects.len()
                        && (self.single[object]
                            || program.objects[object].storage == Storage::Frame(template))
                }
            };
            let is_wide = program.data_model.pointer().bits == 64 || row.stride == 0;
            is_named && row.offset <= mask(program) && row.stride < STRIDES && is_wide
        };
        if facts.placed.iter().any(|(local, row, _)| !is_pointer(*local) || !is_row(*row)) {
            return claim("a local is placed in no row");
        }
        for members in members() {
            if members.from.is_empty() || members.below.is_empty() {
                return claim("threads are listed by numbers without bounds");
            }
            let row = match members.handle {
                Some(Handle::Memory(row)) => Some(row),
                Some(Handle::Local(local)) if !is_pointer(local) => {
                    return claim(format!("{local} is no local as wide as a pointer"));
                }
                Some(Handle::Local(_)) | None => None,
            };
            if !row.into_iter().chain(members.argument).all(is_row) {
                return claim("a row is counted from what it cannot be counted from");
            }
        }
        Ok(())
    }
}
