//! Cells of memory by number: for analyses that keep something for each local and each cell (see
//! [`addresses`](super::super::addresses)).

use super::solve::{MOST_COPIED_PAIRS, Pointee};
use super::{Node, Offset, PointsTo};
use crate::expr::Expr;
use crate::ids::{IdVec, LocalId, ObjectId, TemplateId};
use crate::op::{Callee, Op};
use crate::program::{Program, Storage};
use std::collections::BTreeSet;

/// Some bytes of a cell: from the first to the one before the last, as far as the cell goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::passes) struct CellBytes {
    /// The cell.
    pub(in crate::passes) node: Node,
    /// The first byte.
    pub(in crate::passes) from: u64,
    /// The byte after the last one.
    pub(in crate::passes) to: u64,
}

/// The cells that a copy of memory may copy between.
#[derive(Clone, Default, Debug)]
pub(in crate::passes) struct CopiedCells {
    /// From where, to where, and whether each byte comes to the same byte of its cell.
    pub(in crate::passes) pairs: Vec<(Node, Node, bool)>,
    /// From each of some cells to each of some others, to any byte.
    pub(in crate::passes) all: Vec<(Vec<Node>, Vec<Node>)>,
}

impl PointsTo {
    /// The node of a local.
    pub(in crate::passes) fn local_node(&self, template: TemplateId, local: LocalId) -> Node {
        self.first_local[template] + local.0
    }
    /// All locals and cells have nodes below this.
    pub(in crate::passes) fn nodes(&self) -> usize {
        self.solver.nodes.len()
    }
    /// What an expression may hold the address of.
    pub(in crate::passes) fn pointees(&self, template: TemplateId, expr: &Expr) -> Vec<Pointee> {
        self.eval(template, expr)
    }
    /// The objects whose address is ever taken.
    pub(in crate::passes) fn escaped_objects(&self) -> &[ObjectId] {
        &self.solver.escaped_objects
    }

    /// How many bytes the cell of each node has; 0 for what is no cell.
    pub(in crate::passes) fn lengths(&self) -> Vec<u64> {
        let mut lengths = vec![0; self.nodes()];
        for (object, first) in self.solver.first_cell.enumerate() {
            for (index, (_, length)) in self.solver.shapes[object].cells.iter().enumerate() {
                lengths[*first as usize + index] = *length;
            }
        }
        lengths
    }

    /// The bytes of cells that an access may touch.
    pub(in crate::passes) fn bytes(
        &self,
        template: TemplateId,
        address: &Expr,
        bytes: u64,
    ) -> Vec<CellBytes> {
        let mut found = Vec::new();
        for pointee in self.eval(template, address) {
            match pointee {
                Pointee::Anything => {
                    let objects = self.solver.escaped_objects.iter();
                    let cells = objects.flat_map(|object| self.object_cells(*object));
                    return cells.map(|node| CellBytes { node, from: 0, to: u64::MAX }).collect();
                }
                Pointee::Cell(object, offset) => found.extend(self.bytes_of(object, offset, bytes)),
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
    /// The bytes of cells at an exact offset of an object.
    pub(in crate::passes) fn bytes_at(&self, object: ObjectId, offset: u64, bytes: u64) -> Vec<CellBytes> {
        self.bytes_of(object, self.solver.shapes[object].at(offset), bytes)
    }
    fn bytes_of(&self, object: ObjectId, offset: Offset, bytes: u64) -> Vec<CellBytes> {
        let first = self.solver.first_cell[object];
        let touched = self.solver.shapes[object].touched_bytes(offset, bytes).into_iter();
        touched.map(|(cell, from, to)| CellBytes { node: first + cell as Node, from, to }).collect()
    }
    fn object_cells(&self, object: ObjectId) -> Vec<Node> {
        let first = self.solver.first_cell[object];
        (first..first + self.solver.shapes[object].cells.len() as Node).collect()
    }

    /// The cells that a copy of memory may copy between.
    pub(in crate::passes) fn copied_cells(
        &self,
        template: TemplateId,
        to: &Expr,
        from: &Expr,
        size: Option<u64>,
    ) -> CopiedCells {
        // `None`: wherever an address was taken.
        let places = |address: &Expr| -> Option<Vec<(ObjectId, Offset)>> {
            let mut found = Vec::new();
            for pointee in self.eval(template, address) {
                match pointee {
                    Pointee::Anything => return None,
                    Pointee::Cell(object, offset) => found.push((object, offset)),
                    Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
                }
            }
            Some(found)
        };
        let (targets, sources) = (places(to), places(from));
        let mut found = CopiedCells::default();
        let (Some(targets), Some(sources)) = (&targets, &sources) else {
            let cells = |places: &Option<Vec<(ObjectId, Offset)>>| -> Vec<Node> {
                let objects: BTreeSet<ObjectId> = match places {
                    Some(places) => places.iter().map(|(object, _)| *object).collect(),
                    None => self.solver.escaped_objects.iter().copied().collect(),
                };
                objects.into_iter().flat_map(|object| self.object_cells(object)).collect()
            };
            found.all.push((cells(&sources), cells(&targets)));
            return found;
        };
        if targets.len().saturating_mul(sources.len()) > MOST_COPIED_PAIRS {
            let cells = |places: &[(ObjectId, Offset)]| -> Vec<Node> {
                let objects: BTreeSet<ObjectId> = places.iter().map(|(object, _)| *object).collect();
                objects.into_iter().flat_map(|object| self.object_cells(object)).collect()
            };
            found.all.push((cells(sources), cells(targets)));
            return found;
        }
        let mut whole: BTreeSet<(ObjectId, ObjectId)> = BTreeSet::new();
        for (target, at) in targets {
            for (source, from) in sources {
                let shapes = &self.solver.shapes;
                let (first_to, first_from) =
                    (self.solver.first_cell[*target], self.solver.first_cell[*source]);
                let is_even = at == from && shapes[*target].is_like(&shapes[*source]);
                match shapes[*target].copied(*at, &shapes[*source], *from, size) {
                    Some(pairs) => found.pairs.extend(pairs.into_iter().map(|(to, from)| {
                        (first_from + from as Node, first_to + to as Node, is_even && to == from)
                    })),
                    None => {
                        whole.insert((*source, *target));
                    }
                }
            }
        }
        let all = whole.into_iter().map(|(from, to)| (self.object_cells(from), self.object_cells(to)));
        found.all = all.collect();
        found.pairs.sort_unstable();
        found.pairs.dedup();
        found
    }

    /// The objects whose addresses may outlive them if they are on a stack: they are in memory, are returned,
    /// or are given to a thread. Memory that goes with its thread, and that nothing points to, does not count
    /// for objects of functions that threads start with (`first`).
    pub(in crate::passes) fn kept_addresses(
        &self,
        program: &Program,
        first: &IdVec<TemplateId, bool>,
    ) -> IdVec<ObjectId, bool> {
        let mut found: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
        let pointed_to = self.pointed_to(program);
        // Nodes, and whether they go with their thread.
        let mut nodes: Vec<(Node, bool)> = Vec::new();
        for (id, object) in program.objects.enumerate() {
            let goes = match object.storage {
                Storage::Frame(_) | Storage::ThreadLocal => !pointed_to[id],
                Storage::Static | Storage::Site => false,
            };
            nodes.extend(self.object_cells(id).into_iter().map(|node| (node, goes)));
        }
        nodes.push((self.solver.thread_results, false));
        for (id, code) in program.templates.enumerate() {
            nodes.extend(code.result.map(|local| (self.local_node(id, local), false)));
            for op in code.edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Spawn(callee, ..) = op {
                    let started = match callee {
                        Callee::Procedure(template) => vec![*template],
                        Callee::Pointer(pointer) => self.callees(id, pointer),
                    };
                    let parameters = started.iter().map(|started| &self.solver.procedures[*started]);
                    let parameters = parameters.flat_map(|procedure| procedure.parameters.iter());
                    nodes.extend(parameters.map(|node| (*node, false)));
                }
            }
        }
        for (node, goes) in nodes {
            let stays = |object: ObjectId| match program.objects[object].storage {
                Storage::Frame(template) => goes && first[template],
                Storage::ThreadLocal => goes,
                Storage::Static | Storage::Site => false,
            };
            for object in self.held(node) {
                found[object] |= !stays(object);
            }
        }
        found
    }

    /// The objects that a node may hold the address of.
    fn held(&self, node: Node) -> Vec<ObjectId> {
        let mut found = Vec::new();
        for pointee in self.solver.points_to(node) {
            match self.solver.pointees[*pointee as usize] {
                Pointee::Cell(object, _) => found.push(object),
                Pointee::Anything => return self.solver.escaped_objects.clone(),
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => {}
            }
        }
        found
    }

    /// The objects that some local or some memory may hold the address of.
    fn pointed_to(&self, program: &Program) -> IdVec<ObjectId, bool> {
        let mut found: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
        let cells = program.objects.ids().flat_map(|object| self.object_cells(object));
        let locals = program
            .templates
            .enumerate()
            .flat_map(|(id, code)| code.locals.ids().map(move |local| (id, local)).collect::<Vec<_>>());
        let locals = locals.map(|(id, local)| self.local_node(id, local));
        for object in cells.chain(locals).flat_map(|node| self.held(node)).collect::<Vec<_>>() {
            found[object] = true;
        }
        found
    }
}
