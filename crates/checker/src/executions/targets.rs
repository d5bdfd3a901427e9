//! Tests points-to sets: each access that an execution is about to make lies in the set of its address.
//!
//! Engines and proof rules share points-to sets, so a mistake in them affects both. The machine computes
//! addresses without points-to sets.
//!
//! An access outside of the sets is a bug of the analysis, or of the program: a pointer that leaves its
//! object, is stored, and is used where another object happens to be (assumption 14 of `SOUNDNESS.md`).
//! Either way the proof does not hold for this execution. Where freed addresses are reused, an old pointer
//! may point to a new object; nothing is proved of programs that could notice, and such programs are not
//! tested here.

use super::try_watch;
use super::walk::{Moment, Outside, Watch};
use crate::ProofError;
use ir::passes::PointsTo;
use ir::passes::footprint::{Extent, Region, racing_accesses};
use ir::semantics::Access;
use ir::{EdgeId, ObjectId, Program, Target, Targets, TemplateId};
use rustc_hash::FxHashMap;
use verdict::{Budget, Proof};

/// Whether the rule for proofs of this kind takes points-to sets for granted.
pub fn rests_on_points_to(proof: &Proof) -> bool {
    match proof {
        // Every execution is followed, and each access is compared with what was foreseen.
        Proof::Exhaustive { .. } => false,
        // Nothing is claimed of memory.
        Proof::NoErrorLocation | Proof::OneThread | Proof::States(_) => false,
        Proof::Flow(_) | Proof::Abstraction(_) | Proof::Product(_) | Proof::Modular(_) => true,
        Proof::Queries(_) | Proof::Context(_) | Proof::Runs(_) | Proof::Spec(_) => true,
        Proof::LockOrder(_) | Proof::Summaries(_) | Proof::Owned(_) => true,
    }
}

/// Tests the points-to sets of a program on its executions.
pub fn try_points_to(program: &Program, budget: &Budget) -> Result<(), ProofError> {
    if program.reuses_addresses {
        return Ok(());
    }
    let Some(points_to) = PointsTo::until(program, budget.deadline) else { return Ok(()) };
    let mut watch = InsideTargets { program, points_to, listed: FxHashMap::default() };
    try_watch(program, &mut watch, budget).map_err(|error| match error {
        ProofError::Execution(exception) => ProofError::Unforeseen(Some(exception)),
        other => other,
    })
}

struct InsideTargets<'a> {
    program: &'a Program,
    points_to: PointsTo,
    /// What each edge may touch, and whether it writes there.
    listed: FxHashMap<(TemplateId, EdgeId), Vec<(Region, bool)>>,
}

impl InsideTargets<'_> {
    fn covers(
        &mut self,
        at: (TemplateId, EdgeId),
        access: &Access,
        (object, offset): (ObjectId, u64),
    ) -> bool {
        let (template, edge) = at;
        let listed = self.listed.entry(at).or_insert_with(|| {
            let ops = self.program.templates[template].edges[edge].ops.iter();
            let accesses = ops.flat_map(|op| racing_accesses(&self.points_to, template, op));
            accesses.map(|access| (access.region, access.write)).collect()
        });
        listed.iter().any(|(region, write)| {
            *write == access.write
                && match &region.targets {
                    Targets::Any => true,
                    Targets::Of(targets) => targets.iter().any(|target| {
                        target.object == object && reaches(*target, region.extent, offset, access.size)
                    }),
                }
        })
    }
}

/// Whether bytes of an object are inside of a target.
fn reaches(target: Target, extent: Extent, offset: u64, size: u64) -> bool {
    let Extent::Bytes(bytes) = extent else { return true };
    let Some(from) = offset.checked_sub(target.first) else { return false };
    let element = from.checked_div(target.stride).map_or(0, |element| element.min(target.count - 1));
    from - element * target.stride + size <= bytes
}

impl Watch for InsideTargets<'_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        let Moment { machine, state, .. } = *moment;
        for thread in 0..state.threads.len() {
            let Some((template, _)) = state.location(thread) else { continue };
            for edge in machine.edges(state, thread) {
                for access in machine.racing_accesses(state, thread, *edge) {
                    // Invalid accesses are not tested: the execution ends there.
                    if !machine.is_valid(state, access.address, access.size) {
                        continue;
                    }
                    let Some(place) = machine.describe(state, access.address) else { continue };
                    if !self.covers((template, *edge), &access, place) {
                        let line = self.program.templates[template].edges[*edge].span.line;
                        let name = &self.program.objects[place.0].name;
                        let kind = if access.write { "write" } else { "read" };
                        let claim =
                            format!("the {kind} in line {line} does not touch byte {} of {name}", place.1);
                        return Some(Outside { claim, violation: None });
                    }
                }
            }
        }
        None
    }

    fn price(&self, threads: usize) -> u64 {
        2 * threads as u64
    }
}
