//! Cells: variables in memory that count as further locals of each procedure
//! ([`verdict::SummariesProof::cells`]).
//!
//! A claim that speaks of a cell stands only where no other thread may write it; what the thread itself
//! writes there is a new value. Over-approximates what is written.

use super::regions::meet;
use super::view::{Meter, Standing, View, claim};
use crate::ProofError;
use ir::ids::Id;
use ir::{EdgeId, Expr, IntType, LocalId, Op, Place, Program, Storage, Target, TemplateId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use verdict::{Cell, Handle, Index, LockBase, ThreadFacts};

/// The locals of a procedure, and the cells after them.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'p> {
    /// The program.
    pub program: &'p Program,
    /// The procedure.
    pub template: TemplateId,
    /// The cells.
    pub cells: &'p [Cell],
}

impl<'p> Scope<'p> {
    fn locals(self) -> usize {
        self.program.templates[self.template].locals.len()
    }

    /// The type of a local, or of a cell.
    pub fn ty(self, local: LocalId) -> Option<IntType> {
        let own = self.program.templates[self.template].locals.get(local).map(|local| local.ty);
        own.or_else(|| self.cells.get(self.number(local)?).map(|cell| cell.ty))
    }

    /// Which cell a local stands for.
    pub fn number(self, local: LocalId) -> Option<usize> {
        local.index().checked_sub(self.locals())
    }

    /// The local that stands for a cell.
    pub fn local(self, cell: usize) -> LocalId {
        LocalId::new(self.locals() + cell)
    }

    /// The cell that a place is.
    pub fn read(self, place: &Place) -> Option<LocalId> {
        let Expr::Address(object, offset) = place.address else { return None };
        let is_it = |cell: &Cell| (cell.object, cell.offset, cell.ty) == (object, offset, place.ty);
        self.cells.iter().position(is_it).map(|cell| self.local(cell))
    }

    /// The cells that facts speak of.
    fn mentioned(self, facts: &ThreadFacts) -> BTreeSet<usize> {
        let index = |index: &Index| index.local;
        let base = |base: LockBase| match base {
            LockBase::Local(local) => Some(local),
            LockBase::Object(_) => None,
        };
        let mut locals: Vec<Option<LocalId>> = Vec::new();
        facts.order.iter().for_each(|(one, two)| locals.extend([index(one), index(two)]));
        facts.placed.iter().for_each(|(_, row, at)| locals.extend([base(row.base), index(at)]));
        for members in facts.started.iter().flat_map(|started| &started.members) {
            locals.extend(members.from.iter().chain(&members.below).map(index));
            locals.extend(members.argument.map(|row| base(row.base)));
            if let Some(Handle::Memory(row)) = members.handle {
                locals.push(base(row.base));
            }
        }
        locals.into_iter().flatten().filter_map(|local| self.number(local)).collect()
    }
}

/// Whether a cell is one of a static object.
pub fn is_well_formed(program: &Program, cell: &Cell) -> bool {
    let object = program.objects.get(cell.object);
    let end = cell.offset.checked_add(cell.ty.bytes());
    object
        .is_some_and(|object| object.storage == Storage::Static && end.is_some_and(|end| end <= object.size))
}

/// The steps that may write cells.
pub struct CellWrites {
    /// The cells that each step may write.
    by_step: FxHashMap<(TemplateId, EdgeId), Vec<u32>>,
    /// Who writes each cell.
    standing: Vec<BTreeSet<Standing>>,
}

impl CellWrites {
    /// Looks through all steps.
    pub fn of(view: &View<'_>, meter: &mut Meter<'_>) -> Result<Self, ProofError> {
        let cells = &view.proof.cells;
        let mut found =
            Self { by_step: FxHashMap::default(), standing: cells.iter().map(|_| BTreeSet::new()).collect() };
        if cells.is_empty() {
            return Ok(found);
        }
        for (template, steps) in view.steps.enumerate() {
            for (edge, footprint) in steps.enumerate() {
                meter.tick()?;
                let is_written = |cell: &Cell| {
                    let target = Target { object: cell.object, first: cell.offset, stride: 0, count: 1 };
                    let mut writes = footprint.touches.iter().filter(|touch| touch.write);
                    writes.any(|touch| meet(&touch.region, touch.bytes, &[target], Some(cell.ty.bytes())))
                };
                let written = cells.iter().enumerate().filter(|(_, cell)| is_written(cell));
                let written: Vec<u32> = written.map(|(number, _)| number as u32).collect();
                if !written.is_empty() {
                    found.by_step.insert((template, edge), written);
                }
            }
        }
        for (number, context) in view.contexts() {
            let code = &view.program.templates[context.template];
            for (edge, step) in code.edges.enumerate() {
                let Some(written) = found.by_step.get(&(context.template, edge)) else { continue };
                if view.facts(number, step.source).is_some() {
                    let standing = view.standing(number, step.source);
                    written.iter().for_each(|cell| {
                        found.standing[*cell as usize].insert(standing);
                    });
                }
            }
        }
        Ok(found)
    }

    /// Whether no other thread writes a cell while a thread stands somewhere.
    pub fn are_left_alone(&self, view: &View<'_>, cell: usize, standing: Standing) -> bool {
        self.standing[cell].iter().all(|write| view.are_apart(standing, *write).is_some())
    }

    /// The cells that a step may write.
    pub fn of_step(&self, template: TemplateId, edge: EdgeId) -> &[u32] {
        self.by_step.get(&(template, edge)).map_or(&[], Vec::as_slice)
    }
}

/// Checks that others leave alone the cells that claims speak of, and that each context lists what it writes.
pub fn check(view: &View<'_>, writes: &CellWrites, meter: &mut Meter<'_>) -> Result<(), ProofError> {
    if view.proof.cells.is_empty() {
        return Ok(());
    }
    for (number, context) in view.contexts() {
        let code = &view.program.templates[context.template];
        let scope = view.scope(context.template);
        for location in code.locations.ids() {
            meter.tick()?;
            let Some(facts) = view.facts(number, location) else { continue };
            let standing = view.standing(number, location);
            let is_open = |cell: &usize| !writes.are_left_alone(view, *cell, standing);
            if scope.mentioned(facts).iter().any(is_open) {
                return claim(format!("{}: a cell may be overwritten", view.at(number, location)));
            }
        }
        for (edge, step) in code.edges.enumerate() {
            if view.facts(number, step.source).is_none() {
                continue;
            }
            let is_listed = |cell: &u32| context.writes.binary_search(cell).is_ok();
            let mut is_complete = writes.of_step(context.template, edge).iter().all(is_listed);
            if matches!(step.ops.last(), Some(Op::Call(..))) {
                for callee in &view.steps[context.template][edge].callees {
                    let called = view.callee_context(number, edge, *callee);
                    let called = called.map(|called| &view.proof.contexts[called].writes);
                    is_complete &= called.is_some_and(|called| called.iter().all(is_listed));
                }
            }
            if !is_complete {
                return claim(format!(
                    "{} does not list a cell that it writes",
                    view.at(number, step.source)
                ));
            }
        }
    }
    Ok(())
}
