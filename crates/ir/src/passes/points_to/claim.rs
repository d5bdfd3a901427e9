//! Points-to sets as plain data, for whoever tests that they are closed.
//!
//! What is here is a claim: for each local, each cell of memory, the results of threads and each input the
//! places that they may hold the address of. All sets of offsets and bytes are written out, so that whoever
//! reads the claim needs none of the notions of the analysis.

use super::PointsTo;
use super::shape::{Offset, Shape, field_at};
use super::solve::{Node, Pointee};
use crate::expr::Expr;
use crate::ids::{IdVec, LocalId, ObjectId, TemplateId};
use crate::program::Program;
use crate::types::Layout;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeSet;

/// The number of a set in [`Claim::sets`].
pub type SetNumber = usize;

/// What all values of a program may be the address of.
#[derive(Clone, Debug)]
pub struct Claim {
    /// All places that occur.
    pub places: Vec<ClaimedPlace>,
    /// All sets that occur: places by their number.
    pub sets: Vec<Vec<u32>>,
    /// The set of each local.
    pub locals: IdVec<TemplateId, IdVec<LocalId, SetNumber>>,
    /// The cells of each object.
    pub cells: IdVec<ObjectId, Vec<ClaimedCell>>,
    /// What threads may give back.
    pub results: SetNumber,
    /// What each input may be, by its number.
    pub inputs: Vec<SetNumber>,
    /// The objects whose addresses are taken.
    pub taken_objects: Vec<ObjectId>,
    /// The procedures whose addresses are taken.
    pub taken_procedures: Vec<TemplateId>,
    /// Whether parts of addresses are distinguished from addresses ([`ClaimedPlace::Part`]).
    pub tells_parts: bool,
}

/// What an address may be the address of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ClaimedPlace {
    /// Any byte of the objects whose addresses are taken, and any such procedure.
    Anything,
    /// Some bytes of an object: those at `first` plus a multiple of each stride. A stride comes with the
    /// number of its multiples, from 0 on; without one, it is all multiples, below 0 too, that are in the
    /// object.
    Bytes {
        /// The object.
        object: ObjectId,
        /// The first offset.
        first: u64,
        /// The strides.
        strides: Vec<(u64, Option<u64>)>,
    },
    /// A procedure.
    Procedure(TemplateId),
    /// No address that is known, but the input with this number, or something that is a constant away from
    /// it.
    Input {
        /// The number.
        number: u32,
        /// Whether it is a constant away.
        moved: bool,
    },
    /// No address, but a number that was computed from a part of one, or from the distance of two.
    Part,
}

/// A cell of an object: bytes that hold the same addresses.
#[derive(Clone, Debug)]
pub struct ClaimedCell {
    /// Its bytes.
    pub bytes: Vec<ClaimedBytes>,
    /// What they may hold the address of.
    pub set: SetNumber,
}

/// Some bytes, again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimedBytes {
    /// The first one.
    pub first: u64,
    /// How many follow each other.
    pub length: u64,
    /// The distances to the next such bytes, with how often there are some; the greatest distance first.
    pub strides: Vec<(u64, u64)>,
}

impl PointsTo {
    /// What the analysis has found, as plain data.
    pub fn claim(&self, program: &Program) -> Claim {
        let mut sets: IndexSet<&[u32], FxBuildHasher> = IndexSet::default();
        let mut set = |node: Node| sets.insert_full(self.solver.points_to(node)).0;
        let locals = program.templates.enumerate().map(|(id, code)| {
            let first = self.first_local[id];
            code.locals.ids().map(|local| set(first + local.0)).collect()
        });
        let locals = locals.collect();
        let cells = program.objects.ids().map(|object| {
            let (first, shape) = (self.solver.first_cell[object], &self.solver.shapes[object]);
            let cells = bytes_of_cells(shape).into_iter().enumerate();
            cells.map(|(index, bytes)| ClaimedCell { bytes, set: set(first + index as Node) }).collect()
        });
        let cells = cells.collect();
        let results = set(self.solver.thread_results);
        let inputs = self.solver.inputs.iter().step_by(2).map(|node| set(*node)).collect();
        let place = |pointee: &Pointee| match *pointee {
            Pointee::Anything => ClaimedPlace::Anything,
            Pointee::Part => ClaimedPlace::Part,
            Pointee::Procedure(procedure) => ClaimedPlace::Procedure(procedure),
            Pointee::Input(number) => ClaimedPlace::Input { number: number / 2, moved: number % 2 == 1 },
            Pointee::Cell(object, offset) => {
                let (first, strides) = self.solver.shapes[object].offsets(offset);
                ClaimedPlace::Bytes { object, first, strides }
            }
        };
        Claim {
            places: self.solver.pointees.iter().map(place).collect(),
            locals,
            cells,
            results,
            inputs,
            taken_objects: self.solver.escaped_objects.clone(),
            taken_procedures: self.solver.escaped_procedures.clone(),
            tells_parts: self.tells_parts,
            sets: sets.into_iter().map(<[u32]>::to_vec).collect(),
        }
    }

    /// The least and the greatest value that an amount is claimed to have wherever a template adds it to
    /// something, modulo 2 to the width of a pointer.
    pub fn claimed_range(&self, template: TemplateId, amount: &Expr) -> Option<(i128, i128)> {
        self.amounts.get(template, amount)
    }
}

impl Shape {
    /// The offsets of a pointer, written out.
    fn offsets(&self, offset: Offset) -> (u64, Vec<(u64, Option<u64>)>) {
        match offset {
            Offset::At { at, loose } => {
                let levels = self.loose(at, loose);
                (at, levels.map(|(_, level)| (level.stride, Some(level.count))).collect())
            }
            Offset::Every { first, step } => (first, vec![(step, None)]),
        }
    }
}

/// The bytes of each cell of an object. Bytes that are in no cell are given to the first one: an access to
/// them counts as one to all cells.
fn bytes_of_cells(shape: &Shape) -> Vec<Vec<ClaimedBytes>> {
    let mut found: Vec<Vec<ClaimedBytes>> = shape.cells.iter().map(|_| Vec::new()).collect();
    let mut walk = Walk { strides: Vec::new(), cells: Vec::new(), gaps: Vec::new() };
    walk.visit(&shape.layout, 0, shape.size);
    for bytes in walk.cells {
        let index = shape.cells.binary_search_by_key(&bytes.first, |(start, _)| *start);
        found[index.unwrap_or(0)].push(bytes);
    }
    found[0].extend(walk.gaps);
    found
}

/// A walk through a layout.
struct Walk {
    /// The arrays around.
    strides: Vec<(u64, u64)>,
    cells: Vec<ClaimedBytes>,
    gaps: Vec<ClaimedBytes>,
}

impl Walk {
    fn gap(&mut self, first: u64, length: u64) {
        if length > 0 {
            self.gaps.push(ClaimedBytes { first, length, strides: self.strides.clone() });
        }
    }

    fn visit(&mut self, layout: &Layout, base: u64, size: u64) {
        match layout {
            Layout::Scalar(_) | Layout::Sync(_) | Layout::Bytes(_) => {
                let length = match layout {
                    Layout::Scalar(ty) => ty.bytes().max(1).min(size),
                    _ => size,
                };
                self.cells.push(ClaimedBytes { first: base, length, strides: self.strides.clone() });
                self.gap(base + length, size - length);
            }
            Layout::Array { element, count, stride } => {
                let bytes = stride.saturating_mul(*count);
                if bytes == 0 {
                    return self.gap(base, size);
                }
                self.strides.push((*stride, *count));
                self.visit(element, base, *stride);
                self.strides.pop();
                self.gap(base + bytes, size.saturating_sub(bytes));
            }
            Layout::Record(fields) => {
                let starts: BTreeSet<u64> = fields.iter().map(|field| field.offset).collect();
                self.gap(base, starts.first().map_or(size, |first| *first.min(&size)));
                for start in starts {
                    if let Some((start, extent, inner)) = field_at(fields, start, size) {
                        self.visit(inner, base + start, extent);
                    }
                }
            }
        }
    }
}
