//! Tries listings of shared memory: no execution has a race but on a location that is listed as open.
//!
//! Bytes that are not listed at all are claimed not to be shared, so a race on them counts as well.

use super::try_within;
use super::walk::{Effort, Moment, Outside, Watch};
use crate::ProofError;
use ir::semantics::{Access, Machine, State};
use ir::{ObjectId, Program, Target};
use std::collections::BTreeMap;
use verdict::{Budget, LocationStatus, Locations};

/// How much is done. Less than for a verdict: programs that are listed are large, and their executions long.
const EFFORT: Effort = Effort { executions: 500, steps: 10_000 };

/// Tries a listing on executions.
pub fn try_listing(program: &Program, listing: &Locations, budget: &Budget) -> Result<(), ProofError> {
    let mut open: BTreeMap<ObjectId, Vec<(Target, u64)>> = BTreeMap::new();
    for location in &listing.locations {
        match location.status {
            LocationStatus::Open(_) => {
                open.entry(location.cell.object).or_default().push((location.cell, location.size));
            }
            LocationStatus::RaceFree(_) => {}
        }
    }
    try_within(program, &mut Listed { program, open }, EFFORT, budget)
}

struct Listed<'a> {
    program: &'a Program,
    /// What may race: cells and their sizes, by object.
    open: BTreeMap<ObjectId, Vec<(Target, u64)>>,
}

impl Listed<'_> {
    /// Whether bytes at an address belong to a location that is listed as open, or to nothing that has a
    /// name.
    fn may_race(&self, machine: &Machine<'_>, state: &State, access: &Access) -> bool {
        let Some((object, offset)) = machine.describe(state, access.address) else { return true };
        let cells = self.open.get(&object).map_or(&[][..], Vec::as_slice);
        cells.iter().any(|(cell, size)| overlaps(*cell, *size, offset, access.size))
    }
}

/// Whether bytes of an object overlap a location in it.
fn overlaps(cell: Target, size: u64, offset: u64, length: u64) -> bool {
    let end = offset.saturating_add(length);
    let elements = if cell.stride == 0 { 1 } else { cell.count };
    // The last element that starts before the end of the bytes.
    let Some(before) = end.checked_sub(cell.first + 1) else { return false };
    let last = before.checked_div(cell.stride).unwrap_or(0).min(elements.saturating_sub(1));
    cell.first + last * cell.stride + size > offset
}

impl Watch for Listed<'_> {
    fn look(&mut self, moment: &Moment<'_, '_>) -> Option<Outside> {
        let Moment { machine, state, .. } = *moment;
        let counts = |access: &Access| !self.may_race(machine, state, access);
        let [one, other] = machine.race_among(state, &counts)?;
        let (object, offset) = machine.describe(state, one.2.address)?;
        let line = |thread: usize, edge| {
            let (template, _) = state.location(thread)?;
            Some(self.program.templates[template].edges[edge].span.line)
        };
        let [first, second] =
            [&one, &other].map(|(thread, edge, _)| line(*thread, *edge).unwrap_or_default());
        let name = &self.program.objects[object].name;
        let claim = format!("byte {offset} of {name} has no race (lines {first} and {second})");
        Some(Outside { claim, violation: None })
    }

    fn price(&self, threads: usize) -> u64 {
        2 * threads as u64
    }
}

#[cfg(test)]
mod tests {
    use super::overlaps;
    use ir::{ObjectId, Target};

    #[test]
    fn bytes_overlap_elements() {
        let object = ObjectId(0);
        let one = Target { object, first: 4, stride: 0, count: 1 };
        let bytes = |offset, length| overlaps(one, 4, offset, length);
        assert_eq!([bytes(0, 4), bytes(0, 5), bytes(7, 1), bytes(8, 1)], [false, true, true, false]);
        let members = Target { object, first: 8, stride: 16, count: 3 };
        let bytes = |offset, length| overlaps(members, 4, offset, length);
        assert_eq!([bytes(8, 1), bytes(12, 4), bytes(12, 13), bytes(40, 1)], [true, false, true, true]);
        assert_eq!([bytes(44, 4), bytes(56, 4), bytes(0, 100)], [false, false, true]);
    }
}
