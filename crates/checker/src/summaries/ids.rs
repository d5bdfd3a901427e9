//! Where ids of threads are in memory: who writes there, and which kinds each context starts.
//!
//! The words of a handle that is claimed were stored by a step of [`stored_ids`], so writes elsewhere break
//! none. Over-approximates what is written and started.

use super::regions::{Region, meet};
use super::view::{Meter, Standing, View, claim};
use crate::ProofError;
use ir::{EdgeId, Expr, Lhs, LocalId, ObjectId, Op, Rhs, Target, Template, TemplateId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use verdict::Handle;

/// A step that may write where ids are.
struct IdWrite {
    target: Target,
    bytes: Option<u64>,
    standing: Standing,
}

/// The steps that may write where handles are.
pub struct IdWrites {
    by_object: BTreeMap<ObjectId, Vec<IdWrite>>,
}

impl IdWrites {
    /// Looks through all steps.
    pub fn of(view: &View<'_>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let mut by_object: BTreeMap<ObjectId, Vec<IdWrite>> = BTreeMap::new();
        for (_, context) in view.contexts() {
            let lists = context.facts.iter().flatten().flat_map(|facts| &facts.started);
            for members in lists.flat_map(|started| &started.members) {
                meter.tick()?;
                if let Some(Handle::Memory(row)) = members.handle
                    && let Some(region) = view.row_region(context.template, row)?
                {
                    region.iter().for_each(|target| {
                        by_object.entry(target.object).or_default();
                    });
                }
            }
        }
        if by_object.is_empty() {
            return Ok(Self { by_object });
        }
        let mut known = FxHashSet::default();
        for (number, context) in view.contexts() {
            let code = &view.program.templates[context.template];
            for (edge, footprint) in view.steps[context.template].enumerate() {
                meter.tick()?;
                let source = code.edges[edge].source;
                if view.facts(number, source).is_none() {
                    continue;
                }
                let standing = view.standing(number, source);
                for touch in footprint.touches.iter().filter(|touch| touch.write) {
                    if !known.insert((touch.places(), standing)) {
                        continue;
                    }
                    for target in view.id_targets(touch) {
                        if let Some(writes) = by_object.get_mut(&target.object) {
                            writes.push(IdWrite { target: *target, bytes: touch.bytes, standing });
                        }
                    }
                }
            }
        }
        Ok(Self { by_object })
    }

    /// Whether no other thread writes the words of a region while a thread stands somewhere.
    pub fn are_left_alone(&self, view: &View<'_>, region: &Region, standing: Standing) -> bool {
        let width = view.program.data_model.pointer().bytes();
        region.iter().all(|target| {
            let writes = self.by_object.get(&target.object).map_or(&[][..], Vec::as_slice);
            writes.iter().all(|write| {
                view.private[target.object]
                    || view.are_of_two_teams(target.object, standing.kind, write.standing.kind)
                    || view.are_apart(standing, write.standing).is_some()
                    || !meet(&[*target], Some(width), &[write.target], write.bytes)
            })
        })
    }
}

/// Checks that the words of all handles that are claimed are left alone by other threads.
pub fn check_handles(view: &View<'_>, writes: &IdWrites, meter: &mut Meter<'_>) -> Result<(), ProofError> {
    for (number, context) in view.contexts() {
        for (location, _) in view.program.templates[context.template].locations.enumerate() {
            let Some(facts) = view.facts(number, location) else { continue };
            for members in facts.started.iter().flat_map(|started| &started.members) {
                meter.tick()?;
                let Some(Handle::Memory(row)) = members.handle else { continue };
                let region = view.row_region(context.template, row)?;
                let standing = view.standing(number, location);
                if !region.is_some_and(|region| writes.are_left_alone(view, &region, standing)) {
                    return claim(format!("{}: handles may be overwritten", view.at(number, location)));
                }
            }
        }
    }
    Ok(())
}

/// Checks that each context lists what it starts, and where it writes ids.
pub fn check_summaries(view: &View<'_>, meter: &mut Meter<'_>) -> Result<(), ProofError> {
    let written = written_ids(view, meter)?;
    for (number, context) in view.contexts() {
        let code = &view.program.templates[context.template];
        let mut looked_at: FxHashSet<usize> = FxHashSet::default();
        for (edge, footprint) in view.steps[context.template].enumerate() {
            meter.tick()?;
            let step = &code.edges[edge];
            if view.facts(number, step.source).is_none() {
                continue;
            }
            let missing =
                |what: &str| claim(format!("{} does not list {what}", view.at(number, step.source)));
            if step.ops.iter().any(|op| matches!(op, Op::Spawn(..)))
                && !footprint.callees.iter().all(|kind| context.starts.binary_search(kind).is_ok())
            {
                return missing("a kind that it starts");
            }
            let mut here = written.get(&(context.template, edge)).into_iter().flatten();
            if !here.all(|id| context.stores.binary_search(id).is_ok()) {
                return missing("ids that it writes");
            }
            if matches!(step.ops.last(), Some(Op::Call(..))) {
                for callee in &footprint.callees {
                    let Some(called) = view.callee_context(number, edge, *callee) else {
                        return missing("a callee");
                    };
                    if !looked_at.insert(called) {
                        continue;
                    }
                    let called = &view.proof.contexts[called];
                    let starts = called.starts.iter().all(|kind| context.starts.binary_search(kind).is_ok());
                    let stores = called.stores.iter().all(|id| context.stores.binary_search(id).is_ok());
                    if !starts || !stores {
                        return missing("what a callee starts or writes");
                    }
                }
            }
        }
    }
    Ok(())
}

/// The stored ids that each step may write.
fn written_ids(
    view: &View<'_>,
    meter: &mut Meter<'_>,
) -> Result<FxHashMap<(TemplateId, EdgeId), Vec<Target>>, ProofError> {
    let width = view.program.data_model.pointer().bytes();
    let mut written: FxHashMap<(TemplateId, EdgeId), Vec<Target>> = FxHashMap::default();
    for (template, steps) in view.steps.enumerate() {
        for (edge, footprint) in steps.enumerate() {
            meter.tick()?;
            let mut here = Vec::new();
            for touch in footprint.touches.iter().filter(|touch| touch.write) {
                for target in touch.region.iter() {
                    let ids = view.stored_ids[target.object].iter();
                    here.extend(ids.filter(|id| meet(&[*target], touch.bytes, &[**id], Some(width))));
                }
            }
            if !here.is_empty() {
                here.sort_unstable();
                here.dedup();
                written.insert((template, edge), here);
            }
        }
    }
    Ok(written)
}

/// Whether some start of a template stores the id of its thread in a local.
pub fn holds_started(code: &Template, local: LocalId) -> bool {
    let mut ops = code.edges.iter().flat_map(|edge| &edge.ops);
    ops.any(|op| matches!(op, Op::Spawn(_, _, Some(Lhs::Local(id))) if *id == local))
}

/// The targets of all stores of ids of threads that were just started: by the start itself, or from a local
/// that a start of the same template stores one in.
pub fn stored_ids(view: &View<'_>) -> BTreeSet<Target> {
    let mut found = BTreeSet::new();
    for (template, code) in view.program.templates.enumerate() {
        let is_id = |rhs: &Rhs| matches!(rhs, Rhs::Value(Expr::Local(local)) if holds_started(code, *local));
        for (edge, footprint) in view.steps[template].enumerate() {
            for touch in footprint.touches.iter().filter(|touch| touch.write) {
                let stores = match &code.edges[edge].ops[touch.op] {
                    Op::Spawn(..) => true,
                    Op::Assign(assignment) => assignment.pairs.iter().any(|(_, rhs)| is_id(rhs)),
                    _ => false,
                };
                if stores {
                    found.extend(touch.region.iter().copied());
                }
            }
        }
    }
    found
}
