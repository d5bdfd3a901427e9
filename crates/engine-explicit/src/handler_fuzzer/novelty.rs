//! Novelty, as in coverage-guided testing: an edge that was never taken, or a new value of a cell, or a new
//! minimum or maximum, with the same threads interrupted at the same places. So counters that run down, and
//! successive states of a protocol, guide the search. While a thread is interrupted, only variables that
//! decide races count, with each combination of their values.

use executions::model::Model;
use ir::semantics::{STATICS, State};
use ir::{EdgeId, IdVec, Layout, ObjectId, Storage, TemplateId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

/// Values of a cell that are new, for being others: where nobody is interrupted, and elsewhere.
const VALUES: [usize; 2] = [40, 6];
/// Cells that are looked at.
const MOST_CELLS: usize = 3_000;
/// Elements of longer arrays are not looked at: they hold tables and messages, and what is new there is
/// seldom a stage of anything.
const LONGEST_ARRAY: u64 = 16;

/// Cells with more values are not part of combinations.
const FEW: usize = 12;
/// Combinations that are new.
const MOST_COMBINATIONS: usize = 4_000;

/// A cell of a static object.
struct Cell {
    object: ObjectId,
    offset: usize,
    size: usize,
}

/// What was seen of a cell.
struct Range {
    least: u64,
    greatest: u64,
    values: Vec<u64>,
}

/// What was seen so far.
pub struct Novelty {
    /// In the order of their addresses.
    cells: Vec<Cell>,
    /// Those that decide about races.
    deciding: Vec<usize>,
    /// Combinations of values of cells that decide.
    combinations: FxHashSet<u64>,
    /// What was seen of cells, by who is interrupted where.
    seen: FxHashMap<(u64, usize), Range>,
    /// How often edges were taken.
    taken: IdVec<TemplateId, Vec<u32>>,
    /// How many edges were taken.
    pub covered: usize,
    /// The last one that was taken for the first time.
    pub newest: (TemplateId, EdgeId),
}

impl Novelty {
    /// Nothing yet.
    pub fn new(model: &Model<'_>, deciding: &BTreeSet<ObjectId>) -> Self {
        let program = model.machine.program;
        let mut cells = Vec::new();
        for (object, what) in program.objects.enumerate() {
            if what.storage == Storage::Static {
                let start = (model.machine.addresses.offset[object] - STATICS) as usize;
                let mut found = Vec::new();
                add_cells(&what.layout, start, &mut found);
                cells.extend(found.into_iter().map(|(offset, size)| Cell { object, offset, size }));
            }
        }
        cells.truncate(MOST_CELLS);
        cells.sort_by_key(|cell| cell.offset);
        let taken = program.templates.iter().map(|code| vec![0; code.edges.len()]).collect();
        let (seen, combinations) = (FxHashMap::default(), FxHashSet::default());
        let newest = (TemplateId(0), EdgeId(0));
        let mut novelty = Self { cells, deciding: Vec::new(), combinations, seen, taken, covered: 0, newest };
        novelty.decide(deciding);
        novelty
    }

    /// Says which variables decide about races.
    pub fn decide(&mut self, deciding: &BTreeSet<ObjectId>) {
        let decides = |index: &usize| deciding.contains(&self.cells[*index].object);
        self.deciding = (0..self.cells.len()).filter(decides).collect();
    }

    /// How often an edge was taken.
    pub fn times(&self, template: TemplateId, edge: EdgeId) -> u32 {
        self.taken[template][edge.0 as usize]
    }

    /// Takes note of an edge that is taken.
    pub fn take(&mut self, template: TemplateId, edge: EdgeId) {
        let times = &mut self.taken[template][edge.0 as usize];
        if *times == 0 {
            self.covered += 1;
            self.newest = (template, edge);
        }
        *times = times.saturating_add(1);
    }

    /// Takes note of a state. `context`: who is interrupted where, if anybody is. `before`: one that was
    /// taken note of in the same context, if any. Whether it shows something new.
    pub fn shows(&mut self, state: &State, before: Option<&State>, context: Option<u64>) -> bool {
        let mut new = false;
        let mut hasher = FxHasher::default();
        context.hash(&mut hasher);
        for at in 0..self.deciding.len() {
            let index = self.deciding[at];
            let (value, values) = self.look(index, state, context, &mut new);
            if values <= FEW {
                (index, value).hash(&mut hasher);
            }
        }
        match before {
            _ if context.is_some() => {}
            None => (0..self.cells.len()).for_each(|index| _ = self.look(index, state, context, &mut new)),
            Some(before) => {
                let mut from = 0;
                while let Some(at) = state.statics.first_difference(&before.statics, from) {
                    let index = self.cells.partition_point(|cell| cell.offset + cell.size <= at);
                    let Some(cell) = self.cells.get(index) else { break };
                    from = cell.offset;
                    if cell.offset <= at {
                        from += cell.size;
                        self.look(index, state, context, &mut new);
                    }
                }
            }
        }
        new | (self.combinations.len() < MOST_COMBINATIONS && self.combinations.insert(hasher.finish()))
    }

    /// Takes note of the value of a cell. Gives it, and how many there were.
    fn look(&mut self, index: usize, state: &State, context: Option<u64>, new: &mut bool) -> (u64, usize) {
        let most = VALUES[usize::from(context.is_some())];
        let cell = &self.cells[index];
        let value = state.statics.read(cell.offset, cell.size);
        let range = self.seen.entry((context.unwrap_or(0), index)).or_insert_with(|| {
            *new = true;
            Range { least: value, greatest: value, values: vec![value] }
        });
        if value < range.least || value > range.greatest {
            *new = true;
            (range.least, range.greatest) = (range.least.min(value), range.greatest.max(value));
        }
        if range.values.len() < most && !range.values.contains(&value) {
            *new = true;
            range.values.push(value);
        }
        (value, range.values.len())
    }
}

/// The cells of a layout that starts at an offset.
fn add_cells(layout: &Layout, start: usize, cells: &mut Vec<(usize, usize)>) {
    match layout {
        Layout::Scalar(ty) => cells.push((start, ty.bytes() as usize)),
        Layout::Array { count, .. } if *count > LONGEST_ARRAY => {}
        Layout::Array { element, count, stride } => {
            for index in 0..*count {
                add_cells(element, start + (index * stride) as usize, cells);
            }
        }
        Layout::Record(fields) => {
            for field in fields {
                add_cells(&field.layout, start + field.offset as usize, cells);
            }
        }
        Layout::Sync(_) | Layout::Bytes(_) => {}
    }
}
