//! Whether a proof speaks of the program at all: what it names exists, and has the right type.
//!
//! That lists are sorted and that contexts and handles exist is checked for all proofs ([`Proof::check_form`](verdict::Proof::check_form)).

use super::symbols::{is_wide, mask};
use super::view::{Meter, claim};
use crate::ProofError;
use ir::ids::Id;
use ir::{IdVec, LocalId, ObjectId, Op, Program, Storage, TemplateId};
use verdict::{LockBase, ProcedureContext, SummariesProof, ThreadFacts};

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
        let mut locals = equal.chain(ids).chain(bases).chain(facts.fresh.iter().copied());
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
        if facts.ids.iter().any(|(_, kind)| self.proof.once.binary_search(kind).is_err()) {
            return claim("an id is that of the only thread of a kind of which there may be several");
        }
        if facts.absent.iter().any(|kind| kind.index() >= program.templates.len()) {
            return claim("an absent kind does not exist");
        }
        Ok(())
    }
}
