//! The effects of other threads on the variables of a thread while it stays at a location, and the origins of
//! values of shared cells.
//!
//! Paper 4, section 5.1, on packs that may overlap. Over-approximates. A thread reaches a location in some
//! states; then other threads write, and it stays. At each moment:
//!
//! * A cell has the value with which the thread arrived, or one that a write stored.
//! * For a pack of shared cells: if a cell of it was written, the last such write was a step of another
//!   thread, and no cell of the pack has changed since: what that thread knows of the pack after the step
//!   holds.
//! * For any other pack: the thread's own variables do not change, and a written cell changes by an amount
//!   that the writer knows. All writes of one step happen at once.
//! * In addition, the values of each cell and of each pack of shared cells come from the latest definition
//!   (the paper's data flow graphs).
//!
//! Deviation from the paper: there, a pack has either local or global variables, and all its values come from
//! one definition.

use crate::interval::Interval;
use crate::lattice::{Lattice, Thresholds};
use crate::linear::Linear;
use crate::memory::{Memory, Variable};
use crate::number::Number;
use crate::octagon::Octagon;
use crate::packs::{Octagons, PackId};
use crate::relational::Relational;
use ir::TemplateId;
use std::collections::BTreeMap;

/// How often states are joined before they are widened.
const PATIENCE: usize = 2;
/// How often they are widened before relations are given up. Widening ends long before.
const MOST_ROUNDS: usize = 100;

/// What a write leaves in a cell: some value, which differs from the one before by some amount.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Written {
    /// The value.
    pub value: Number,
    /// The value minus the one before.
    pub shift: Interval,
}

impl Written {
    /// No write.
    pub const NONE: Self = Self { value: Number::BOTTOM, shift: Interval::BOTTOM };

    /// One or the other.
    pub fn join(&self, other: &Self) -> Self {
        Self { value: self.value.join(&other.value), shift: self.shift.join(&other.shift) }
    }
    /// Whether all that this one may leave is in the other.
    pub fn less_or_equal(&self, other: &Self) -> bool {
        self.value.less_or_equal(&other.value) && self.shift.less_or_equal(&other.shift)
    }
    /// An upper bound of both, such that chains of them end.
    pub fn widen(&self, next: &Self, thresholds: &Thresholds) -> Self {
        Self {
            value: self.value.widen(&next.value, thresholds),
            shift: self.shift.widen(&next.shift, thresholds),
        }
    }
}

/// What other threads do, and what the data flow says, at one location.
#[derive(Clone, Default, Debug)]
pub struct Interference {
    /// Cells that are written in one step, with what steps that write just these leave in them.
    writes: BTreeMap<Vec<Variable>, Vec<Written>>,
    /// What is known of packs of shared cells after a write into them.
    left: BTreeMap<PackId, Octagon>,
    /// What the latest definitions left in cells.
    latest: BTreeMap<Variable, Number>,
    /// What the latest definitions left in packs.
    latest_left: BTreeMap<PackId, Octagon>,
}

impl Interference {
    /// Other threads may write these shared cells in one step, in rising order. Says whether that is new.
    pub fn add_writes(&mut self, cells: &[(Variable, Written)]) -> bool {
        let key = cells.iter().map(|(cell, _)| *cell).collect();
        let known = self.writes.entry(key).or_insert_with(|| vec![Written::NONE; cells.len()]);
        let mut grew = false;
        for (known, (_, written)) in known.iter_mut().zip(cells) {
            if !written.less_or_equal(known) {
                *known = known.join(written);
                grew = true;
            }
        }
        grew
    }
    /// A write of another thread may leave this in a pack. Says whether that is new.
    pub fn add_left(&mut self, pack: PackId, octagon: &Octagon) -> bool {
        grow(&mut self.left, pack, octagon)
    }
    /// A cell may have its value from a definition that leaves one of these. Says whether that is new.
    pub fn add_latest(&mut self, cell: Variable, value: &Number) -> bool {
        let known = self.latest.entry(cell).or_insert(Number::BOTTOM);
        let grew = !value.less_or_equal(known);
        if grew {
            *known = known.join(value);
        }
        grew
    }
    /// A pack may have its values from a definition that leaves these. Says whether that is new.
    pub fn add_latest_left(&mut self, pack: PackId, octagon: &Octagon) -> bool {
        grow(&mut self.latest_left, pack, octagon)
    }

    /// The states in which a thread may be at the location, if it comes there in the states `own`.
    pub fn settle(
        &self,
        memory: &Memory<'_>,
        template: TemplateId,
        own: &Relational<Variable>,
        thresholds: &Thresholds,
    ) -> Relational<Variable> {
        let mut here = self.arrive(memory, template, own, own);
        if self.writes.is_empty() || memory.packs(template).is_empty() {
            return here;
        }
        for round in 0..MOST_ROUNDS {
            let next = self.arrive(memory, template, own, &here);
            if next.less_or_equal(&here) {
                return next;
            }
            let both = here.join(&next);
            here = if round < PATIENCE { both } else { here.widen(&both, thresholds) };
        }
        let plain = Relational { numbers: own.numbers.clone(), octagons: Octagons::top() };
        self.arrive(memory, template, &plain, &plain)
    }

    /// The states in which a thread may be at the location if it comes there in the states `own`, or if
    /// another thread wrote once while it was there in the states `here`.
    pub fn arrive(
        &self,
        memory: &Memory<'_>,
        template: TemplateId,
        own: &Relational<Variable>,
        here: &Relational<Variable>,
    ) -> Relational<Variable> {
        if own.is_bottom() {
            return Relational::bottom();
        }
        let packs = memory.packs(template);
        let mut state = own.clone();
        for (cells, written) in &self.writes {
            for (cell, written) in cells.iter().zip(written) {
                if let Some(known) = state.numbers.get(*cell) {
                    let both = known.join(&written.value);
                    state.numbers.set(*cell, both);
                }
            }
        }
        for pack in packs.ids() {
            let mut octagon = own.octagon(packs, pack);
            if memory.is_shared_pack(pack) {
                if let Some(left) = self.left.get(&pack) {
                    octagon = octagon.join(left);
                }
            } else if !octagon.is_top() {
                for (cells, written) in &self.writes {
                    let mut after = here.octagon(packs, pack);
                    let mut touched = false;
                    for (cell, written) in cells.iter().zip(written) {
                        let Some(position) = packs.position(pack, *cell) else { continue };
                        touched = true;
                        let mut form = Linear::variable(position);
                        form.constant = written.shift;
                        after.assign(position, &form);
                        after.restrict(position, written.value.interval());
                    }
                    if touched {
                        octagon = octagon.join(&after);
                    }
                }
            }
            state.octagons.set(pack, octagon);
        }
        for (cell, value) in &self.latest {
            let both = state.numbers.get(*cell).copied().unwrap_or(Number::TOP).meet(value);
            state.numbers.set(*cell, both);
        }
        for (pack, octagon) in &self.latest_left {
            let both = state.octagon(packs, *pack).meet(octagon);
            state.octagons.set(*pack, both);
        }
        if state.is_bottom() { Relational::bottom() } else { state.reduced(packs) }
    }
}

fn grow(known: &mut BTreeMap<PackId, Octagon>, pack: PackId, octagon: &Octagon) -> bool {
    match known.get_mut(&pack) {
        Some(known) if octagon.less_or_equal(known) => false,
        Some(known) => {
            *known = known.join(octagon);
            true
        }
        None => {
            known.insert(pack, octagon.clone());
            true
        }
    }
}
