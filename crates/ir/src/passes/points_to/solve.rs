//! The inclusion constraints and their least solution.
//!
//! A work list with difference propagation (L. O. Andersen, "Program analysis and specialization for the C
//! programming language", 1994, chapter 4). Deviations: 1. fields are cells of a [`Shape`]; 2. callees
//! through pointers are bound while the solution grows; 3. an address that is not known is one abstract
//! pointee that stands for all others, so that a set that has it needs no other; 4. cycles are looked for
//! whenever propagation has taken much longer than that takes (see [`super::cycles`]), not edge by edge.

use super::super::is_past;
use super::lists::{difference, merge};
use super::shape::{Offset, Shape, Shift};
use crate::ids::{IdVec, ObjectId, TemplateId};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Something that holds values: a local, a cell, the value of an expression.
pub type Node = u32;

/// What an address may be the address of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Pointee {
    /// Whatever has an address that was ever taken.
    Anything,
    /// A place in an object.
    Cell(ObjectId, Offset),
    /// A procedure.
    Procedure(TemplateId),
    /// No address that is known, but the input with this number: a number that may turn out to be one that it
    /// is compared with. Each input has two numbers: an even one, and the next one for what is a constant
    /// away from it.
    Input(u32),
    /// No address, but a number that was computed from a part of one, or from the distance of two: an address
    /// only if others are joined with it.
    Part,
}

/// The number of a pointee.
pub type PointeeId = u32;

/// Of one object, no more offsets than this are told apart.
const MOST_OFFSETS: u32 = 512;
/// Of a pointer with more places in one object than this, copies of memory take any place there.
const MOST_COPIED_PLACES: usize = 8;
/// Of a copy between more pairs of places than this, all cells of the objects are copied to all.
pub const MOST_COPIED_PAIRS: usize = 1024;
/// From so many cells on, an access to all cells of an object goes by way of one node.
const MANY_CELLS: usize = 4;
/// No more inputs than this are told apart.
const MOST_INPUTS: usize = 4096;

/// Cycles are looked for when propagation has taken so many times the work that looking for them takes.
const WORK_PER_COLLAPSE: u64 = 16;

/// The number of [`Pointee::Anything`].
pub const ANYTHING: PointeeId = 0;
/// The number of [`Pointee::Part`].
pub const PART: PointeeId = 1;

/// A call or start through a pointer, bound as its callees become known.
pub struct DynamicCall {
    /// The values of the arguments, as far as they may hold addresses.
    pub arguments: Vec<Option<Node>>,
    /// Where the result goes.
    pub result: Option<Node>,
    /// Whether it starts a thread.
    pub is_spawn: bool,
}

/// The nodes of a procedure that a call binds.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its parameters.
    pub parameters: Vec<Node>,
    /// Its result.
    pub result: Option<Node>,
}

/// A copy of memory.
#[derive(Clone, Copy)]
struct MemoryCopy {
    to: Node,
    from: Node,
    /// How many bytes, if that is known.
    size: Option<u64>,
    /// Where there are many places: what passes from all cells of the objects there to all cells of those
    /// here.
    all: Option<Node>,
}

#[derive(Default)]
pub(super) struct Constraints {
    pub(super) pointees: Vec<PointeeId>,
    fresh: Vec<PointeeId>,
    pub(super) copies: Vec<Node>,
    pub(super) shifts: Vec<(Node, Shift)>,
    pub(super) loads: Vec<(Node, u64)>,
    pub(super) stores: Vec<(Node, u64)>,
    /// Copies of memory to and from what this points to, by their number.
    pub(super) copies_to: Vec<usize>,
    pub(super) copies_from: Vec<usize>,
    pub(super) calls: Vec<usize>,
    /// What this is compared with.
    pub(super) compared: Vec<Node>,
    /// What is a part of this, or a distance from it.
    pub(super) parts: Vec<Node>,
    queued: bool,
}

/// The constraints, and what they have led to so far.
pub struct Solver {
    /// All pointees that occur.
    pub pointees: IndexSet<Pointee, FxBuildHasher>,
    /// The structure of each object.
    pub shapes: IdVec<ObjectId, Shape>,
    /// Whether each object is never written to
    /// ([`ObjectRole::Constant`](crate::program::ObjectRole::Constant)).
    pub constant: IdVec<ObjectId, bool>,
    /// The node of each object's first cell.
    pub first_cell: IdVec<ObjectId, Node>,
    /// What calls bind.
    pub procedures: IdVec<TemplateId, Procedure>,
    /// Gets the results of all threads.
    pub thread_results: Node,
    /// For each number of an input of a pointer's width what is compared with that. What is compared with the
    /// input is what it may be; what is compared with something that is a constant away from it lies in the
    /// object that the input may point into.
    pub(super) inputs: Vec<Node>,
    /// Whether what is computed from an input counts as near that input, whatever was added to it.
    pub(super) follows_inputs: bool,
    /// Inputs that were dropped from sets of anything.
    hidden: FxHashSet<u32>,
    /// What is compared with anything, once an input was dropped.
    compared_with_anything: Node,
    /// The objects whose addresses are taken; all of them are known before solving.
    pub escaped_objects: Vec<ObjectId>,
    /// The procedures whose addresses are taken; likewise.
    pub escaped_procedures: Vec<TemplateId>,
    /// What a load through an unknown address may read, once there is one.
    read_anywhere: Option<Node>,
    /// What a store through an unknown address may write, once there is one.
    written_anywhere: Option<Node>,
    calls: Vec<DynamicCall>,
    memory_copies: Vec<MemoryCopy>,
    pub(super) nodes: Vec<Constraints>,
    /// For each node, one that stands for it, or itself.
    pub(super) representative: Vec<Node>,
    /// Copies that are there already, between representatives.
    pub(super) known_copies: FxHashSet<(Node, Node)>,
    /// For each object, how many offsets occur.
    offsets: IdVec<ObjectId, u32>,
    /// For each object, the number of the pointee that is anywhere in it.
    anywhere: FxHashMap<ObjectId, PointeeId>,
    queue: VecDeque<Node>,
    /// How many pointees were compared since cycles were looked for.
    work: u64,
    /// For objects with accesses to all their cells at once: what is read there, and what is written.
    read_all: FxHashMap<ObjectId, Node>,
    written_all: FxHashMap<ObjectId, Node>,
    /// Where pointers point after they have moved, as far as that was asked.
    shifts: FxHashMap<(PointeeId, Shift), Arc<[PointeeId]>>,
    /// Copies of memory between two places that were made already.
    copied: FxHashSet<(PointeeId, PointeeId, Option<u64>)>,
    /// Pairs of objects between all of whose cells copies were made.
    copied_whole: FxHashSet<(ObjectId, ObjectId)>,
}

impl Solver {
    /// A solver with this many nodes and no constraints.
    pub fn new(
        (shapes, constant): (IdVec<ObjectId, Shape>, IdVec<ObjectId, bool>),
        first_cell: IdVec<ObjectId, Node>,
        procedures: IdVec<TemplateId, Procedure>,
        thread_results: Node,
        nodes: u32,
    ) -> Self {
        Self {
            pointees: IndexSet::from_iter([Pointee::Anything, Pointee::Part]),
            offsets: shapes.iter().map(|_| 0).collect(),
            shapes,
            constant,
            first_cell,
            procedures,
            thread_results,
            inputs: Vec::new(),
            follows_inputs: false,
            hidden: FxHashSet::default(),
            compared_with_anything: nodes,
            escaped_objects: Vec::new(),
            escaped_procedures: Vec::new(),
            read_anywhere: None,
            written_anywhere: None,
            calls: Vec::new(),
            memory_copies: Vec::new(),
            nodes: (0..=nodes).map(|_| Constraints::default()).collect(),
            representative: (0..=nodes).collect(),
            known_copies: FxHashSet::default(),
            anywhere: FxHashMap::default(),
            queue: VecDeque::new(),
            work: 0,
            read_all: FxHashMap::default(),
            written_all: FxHashMap::default(),
            shifts: FxHashMap::default(),
            copied: FxHashSet::default(),
            copied_whole: FxHashSet::default(),
        }
    }

    /// A fresh node.
    pub fn node(&mut self) -> Node {
        let node = self.nodes.len() as Node;
        self.nodes.push(Constraints::default());
        self.representative.push(node);
        node
    }
    /// A fresh input. When there are very many, they share a number.
    pub fn input(&mut self) -> Node {
        if let (true, [.., last, _]) = (self.inputs.len() >= 2 * MOST_INPUTS, self.inputs.as_slice()) {
            return *last;
        }
        let (node, nearby) = (self.node(), self.node());
        let number = self.inputs.len() as u32;
        self.inputs.extend([node, nearby]);
        self.shift(nearby, Shift::MultipleOf(1), node);
        self.add(node, Pointee::Input(number));
        node
    }
    /// What a node may point to, by rising number.
    pub fn points_to(&self, node: Node) -> &[PointeeId] {
        &self.nodes[self.find(node) as usize].pointees
    }
    /// The number of a pointee.
    pub fn intern(&mut self, pointee: Pointee) -> PointeeId {
        let id = self.pointees.insert_full(pointee).0 as PointeeId;
        if let Pointee::Cell(object, Offset::ANYWHERE) = pointee {
            self.anywhere.insert(object, id);
        }
        id
    }
    /// The cells that an access through a pointee may touch.
    pub fn touched(&self, pointee: Pointee, size: u64) -> Vec<Node> {
        match pointee {
            Pointee::Anything | Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => Vec::new(),
            Pointee::Cell(object, offset) => {
                let cells = self.shapes[object].touched(offset, size).into_iter();
                cells.map(|cell| self.first_cell[object] + cell as Node).collect()
            }
        }
    }
    /// Whether nothing is ever written there: a test of the address precedes what might.
    fn is_constant(&self, pointee: Pointee) -> bool {
        matches!(pointee, Pointee::Cell(object, _) if self.constant[object])
    }
    /// All cells of an object.
    fn all_cells(&self, object: ObjectId) -> Range<Node> {
        let first = self.first_cell[object];
        first..first + self.shapes[object].cells.len() as Node
    }
    /// Where a pointer may point after it has moved.
    pub fn shifted(&self, pointee: Pointee, shift: Shift) -> Vec<Pointee> {
        match pointee {
            // A procedure's address that moves may move back.
            Pointee::Anything | Pointee::Part | Pointee::Procedure(_) => vec![pointee],
            Pointee::Input(number) => match shift {
                Shift::By(0) => vec![pointee],
                Shift::By(_) => vec![Pointee::Input(number | 1)],
                Shift::MultipleOf(_) | Shift::Within { .. } if self.follows_inputs => {
                    vec![Pointee::Input(number | 1)]
                }
                Shift::MultipleOf(_) | Shift::Within { .. } => vec![],
            },
            Pointee::Cell(object, offset) => self.shapes[object]
                .shift(offset, shift)
                .into_iter()
                .map(|offset| Pointee::Cell(object, offset))
                .collect(),
        }
    }

    /// `node` may hold the address of `pointee`.
    pub fn add(&mut self, node: Node, pointee: Pointee) {
        let id = self.number(pointee);
        self.add_all(node, &[id]);
    }
    /// The number of a pointee, or of one that covers it if its object has many already.
    fn number(&mut self, pointee: Pointee) -> PointeeId {
        match pointee {
            Pointee::Cell(object, _) if !self.pointees.contains(&pointee) => {
                let offsets = &mut self.offsets[object];
                *offsets += 1;
                let is_one_more = *offsets > MOST_OFFSETS;
                self.intern(if is_one_more { Pointee::Cell(object, Offset::ANYWHERE) } else { pointee })
            }
            Pointee::Anything | Pointee::Cell(..) | Pointee::Procedure(_) => self.intern(pointee),
            Pointee::Input(_) | Pointee::Part => self.intern(pointee),
        }
    }
    /// The numbers of the places that a pointer points to after it has moved.
    fn moved(&mut self, id: PointeeId, shift: Shift) -> Arc<[PointeeId]> {
        if let Some(known) = self.shifts.get(&(id, shift)) {
            return known.clone();
        }
        let moved = self.shifted(self.pointees[id as usize], shift);
        let moved: Arc<[PointeeId]> = moved.into_iter().map(|pointee| self.number(pointee)).collect();
        self.shifts.insert((id, shift), moved.clone());
        moved
    }
    /// `to` may hold whatever `from` holds.
    pub fn copy(&mut self, from: Node, to: Node) {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.known_copies.insert((from, to)) {
            return;
        }
        self.nodes[from as usize].copies.push(to);
        let pointees = self.nodes[from as usize].pointees.clone();
        self.add_all(to, &pointees);
    }
    /// `to` may hold what `from` holds, moved.
    pub fn shift(&mut self, from: Node, shift: Shift, to: Node) {
        self.nodes[from as usize].shifts.push((to, shift));
        self.refresh(from);
    }
    /// `to` may hold a part of what `from` holds.
    pub fn part(&mut self, from: Node, to: Node) {
        self.nodes[from as usize].parts.push(to);
        self.refresh(from);
    }
    /// `to` may hold what an access of `size` bytes through `pointer` reads.
    pub fn load(&mut self, pointer: Node, size: u64, to: Node) {
        self.nodes[pointer as usize].loads.push((to, size));
        self.refresh(pointer);
    }
    /// An access of `size` bytes through `pointer` may write what `value` holds.
    pub fn store(&mut self, pointer: Node, size: u64, value: Node) {
        self.nodes[pointer as usize].stores.push((value, size));
        self.refresh(pointer);
    }
    /// Memory is copied from one pointer to another.
    pub fn copy_memory(&mut self, to: Node, from: Node, size: Option<u64>) {
        self.nodes[to as usize].copies_to.push(self.memory_copies.len());
        self.nodes[from as usize].copies_from.push(self.memory_copies.len());
        self.memory_copies.push(MemoryCopy { to, from, size, all: None });
        self.refresh(to);
        self.refresh(from);
    }
    /// Two values are compared.
    pub fn compare(&mut self, one: Node, other: Node) {
        self.nodes[one as usize].compared.push(other);
        self.nodes[other as usize].compared.push(one);
        self.refresh(one);
        self.refresh(other);
    }
    /// A call through `pointer`.
    pub fn call(&mut self, pointer: Node, call: DynamicCall) {
        self.nodes[pointer as usize].calls.push(self.calls.len());
        self.calls.push(call);
        self.refresh(pointer);
    }
    /// Binds a call to a procedure.
    pub fn bind(&mut self, callee: TemplateId, call: &DynamicCall) {
        let Procedure { parameters, result } = self.procedures[callee].clone();
        for (parameter, argument) in parameters.into_iter().zip(&call.arguments) {
            if let Some(argument) = argument {
                self.copy(*argument, parameter);
            }
        }
        if let Some(result) = result {
            if call.is_spawn {
                self.copy(result, self.thread_results);
            } else if let Some(to) = call.result {
                self.copy(result, to);
            }
        }
    }

    /// Treats all pointees of a node as new: it got a constraint.
    pub(super) fn refresh(&mut self, node: Node) {
        let constraints = &mut self.nodes[node as usize];
        if !constraints.pointees.is_empty() {
            constraints.fresh = constraints.pointees.clone();
            self.enqueue(node);
        }
    }
    fn enqueue(&mut self, node: Node) {
        if !std::mem::replace(&mut self.nodes[node as usize].queued, true) {
            self.queue.push_back(node);
        }
    }

    /// Adds pointees, given by rising number.
    pub(super) fn add_all(&mut self, node: Node, pointees: &[PointeeId]) {
        let node = self.find(node);
        let constraints = &mut self.nodes[node as usize];
        if constraints.pointees.first() == Some(&ANYTHING) {
            self.hide(pointees);
            return;
        }
        if pointees.first() == Some(&ANYTHING) {
            let dropped = std::mem::replace(&mut constraints.pointees, vec![ANYTHING]);
            constraints.fresh = vec![ANYTHING];
            self.enqueue(node);
            self.hide(&dropped);
            return;
        }
        let known = &constraints.pointees;
        self.work += 1 + (pointees.len() + known.len()) as u64;
        let is_known = |id: &PointeeId| known.binary_search(id).is_ok();
        // What points anywhere into an object points to all places in it.
        let is_covered = |id: &PointeeId| match self.pointees[*id as usize] {
            Pointee::Cell(_, Offset::ANYWHERE) => false,
            Pointee::Procedure(_) | Pointee::Anything | Pointee::Input(_) | Pointee::Part => false,
            Pointee::Cell(object, _) => self.anywhere.get(&object).is_some_and(is_known),
        };
        let mut new = difference(pointees, known);
        new.retain(|id| !is_covered(id));
        if new.is_empty() {
            return;
        }
        constraints.pointees = merge(&constraints.pointees, &new);
        constraints.fresh = merge(&constraints.fresh, &new);
        self.enqueue(node);
    }

    /// Takes note of the inputs among some pointees, which a set of anything does not name: they, or what is
    /// a constant away from them, are compared with all that such sets are compared with.
    fn hide(&mut self, pointees: &[PointeeId]) {
        for id in pointees {
            if let Pointee::Input(number) = self.pointees[*id as usize]
                && self.hidden.insert(number | 1)
            {
                self.copy(self.compared_with_anything, self.inputs[number as usize | 1]);
            }
        }
    }

    /// Lets the solution grow until all constraints hold, or until it is too late; says whether they hold.
    pub fn solve(&mut self, deadline: Option<Instant>) -> bool {
        let done = self.solve_until(deadline);
        self.shifts = FxHashMap::default();
        self.copied = FxHashSet::default();
        done
    }

    fn solve_until(&mut self, deadline: Option<Instant>) -> bool {
        let mut patience = WORK_PER_COLLAPSE;
        let mut rounds = 0u32;
        while let Some(node) = self.queue.pop_front() {
            rounds += 1;
            if rounds.is_multiple_of(256) && is_past(deadline) {
                return false;
            }
            self.nodes[node as usize].queued = false;
            if self.find(node) != node {
                continue;
            }
            if self.work > patience * (self.nodes.len() + self.known_copies.len()) as u64 {
                // Where there are no more cycles, looking for them again is of no use for a while.
                patience = if self.collapse_cycles() { WORK_PER_COLLAPSE } else { patience * 2 };
                self.work = 0;
                if self.find(node) != node {
                    // The one that stands for it is in the queue.
                    continue;
                }
            }
            let fresh = std::mem::take(&mut self.nodes[node as usize].fresh);
            for to in self.nodes[node as usize].copies.clone() {
                self.add_all(to, &fresh);
            }
            self.propagate(node, &fresh);
        }
        true
    }

    fn propagate(&mut self, node: Node, fresh: &[PointeeId]) {
        let constraints = &mut self.nodes[node as usize];
        // Constraints are added to nodes only before solving, so these lists can be taken out and put back.
        let shifts = std::mem::take(&mut constraints.shifts);
        let loads = std::mem::take(&mut constraints.loads);
        let stores = std::mem::take(&mut constraints.stores);
        let copies_to = std::mem::take(&mut constraints.copies_to);
        let copies_from = std::mem::take(&mut constraints.copies_from);
        let calls = std::mem::take(&mut constraints.calls);
        let compared = std::mem::take(&mut constraints.compared);
        let parts = std::mem::take(&mut constraints.parts);
        if !fresh.is_empty() {
            parts.iter().for_each(|to| self.add_all(*to, &[PART]));
        }
        for (to, shift) in &shifts {
            let mut moved: Vec<PointeeId> = Vec::with_capacity(fresh.len());
            for id in fresh {
                moved.extend(self.moved(*id, *shift).iter());
            }
            moved.sort_unstable();
            moved.dedup();
            self.add_all(*to, &moved);
        }
        for id in fresh {
            let pointee = self.pointees[*id as usize];
            if pointee == Pointee::Anything {
                self.access_anything(&loads, &stores, &calls);
            }
            for (to, size) in &loads {
                let cells = self.touched(pointee, *size);
                match self.of_many(pointee, &cells) {
                    Some(object) => {
                        let all = self.read_all(object);
                        self.copy(all, *to);
                    }
                    None => cells.into_iter().for_each(|cell| self.copy(cell, *to)),
                }
            }
            let written: &[(Node, u64)] = if self.is_constant(pointee) { &[] } else { &stores };
            for (value, size) in written {
                let cells = self.touched(pointee, *size);
                match self.of_many(pointee, &cells) {
                    Some(object) => {
                        let all = self.written_all(object);
                        self.copy(*value, all);
                    }
                    None => cells.into_iter().for_each(|cell| self.copy(*value, cell)),
                }
            }
            match pointee {
                Pointee::Procedure(callee) => self.bind_all(callee, &calls),
                Pointee::Input(number) => {
                    let input = self.inputs[number as usize];
                    compared.iter().for_each(|other| self.copy(*other, input));
                }
                Pointee::Anything => {
                    let all = self.compared_with_anything;
                    compared.iter().for_each(|other| self.copy(*other, all));
                }
                Pointee::Cell(..) | Pointee::Part => {}
            }
        }
        if !copies_to.is_empty() || !copies_from.is_empty() {
            let fresh = self.few_places(fresh);
            for number in &copies_to {
                self.copy_places(*number, Some(&fresh), None);
            }
            for number in &copies_from {
                self.copy_places(*number, None, Some(&fresh));
            }
        }
        let constraints = &mut self.nodes[node as usize];
        (constraints.compared, constraints.parts) = (compared, parts);
        (constraints.shifts, constraints.loads, constraints.stores) = (shifts, loads, stores);
        (constraints.copies_to, constraints.copies_from, constraints.calls) = (copies_to, copies_from, calls);
    }

    fn bind_all(&mut self, callee: TemplateId, calls: &[usize]) {
        for index in calls {
            let nothing = DynamicCall { arguments: Vec::new(), result: None, is_spawn: false };
            let call = std::mem::replace(&mut self.calls[*index], nothing);
            self.bind(callee, &call);
            self.calls[*index] = call;
        }
    }

    /// The object whose cells are all of these, if they are many.
    fn of_many(&self, pointee: Pointee, cells: &[Node]) -> Option<ObjectId> {
        match pointee {
            Pointee::Cell(object, _) => {
                let all = self.shapes[object].cells.len();
                (all >= MANY_CELLS && cells.len() == all).then_some(object)
            }
            Pointee::Anything | Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => None,
        }
    }
    /// A node that holds what all cells of an object hold.
    fn read_all(&mut self, object: ObjectId) -> Node {
        if let Some(node) = self.read_all.get(&object) {
            return *node;
        }
        let node = self.node();
        self.read_all.insert(object, node);
        self.all_cells(object).for_each(|cell| self.copy(cell, node));
        node
    }
    /// A node whose addresses all cells of an object hold.
    fn written_all(&mut self, object: ObjectId) -> Node {
        if let Some(node) = self.written_all.get(&object) {
            return *node;
        }
        let node = self.node();
        self.written_all.insert(object, node);
        self.all_cells(object).for_each(|cell| self.copy(node, cell));
        node
    }

    /// Does what accesses and calls through an unknown address may do.
    fn access_anything(&mut self, loads: &[(Node, u64)], stores: &[(Node, u64)], calls: &[usize]) {
        if !loads.is_empty() {
            let read = self.read_anywhere();
            loads.iter().for_each(|(to, _)| self.copy(read, *to));
        }
        if !stores.is_empty() {
            let written = self.written_anywhere();
            stores.iter().for_each(|(value, _)| self.copy(*value, written));
        }
        for callee in self.escaped_procedures.clone() {
            self.bind_all(callee, calls);
        }
    }
    fn read_anywhere(&mut self) -> Node {
        if let Some(node) = self.read_anywhere {
            return node;
        }
        let node = self.node();
        self.read_anywhere = Some(node);
        for object in self.escaped_objects.clone() {
            let cells = self.all_cells(object);
            cells.for_each(|cell| self.copy(cell, node));
        }
        node
    }
    fn written_anywhere(&mut self) -> Node {
        if let Some(node) = self.written_anywhere {
            return node;
        }
        let node = self.node();
        self.written_anywhere = Some(node);
        for object in self.escaped_objects.clone() {
            if !self.constant[object] {
                let cells = self.all_cells(object);
                cells.for_each(|cell| self.copy(node, cell));
            }
        }
        node
    }

    /// Copies memory to or from some new places, from or to all that are known on the other side.
    fn copy_places(&mut self, number: usize, to: Option<&[PointeeId]>, from: Option<&[PointeeId]>) {
        let copied = self.memory_copies[number];
        let mut places = |known: Option<&[PointeeId]>, node: Node| match known {
            Some(known) => known.to_vec(),
            // Connected already.
            None if copied.all.is_some() => Vec::new(),
            None => {
                let known = self.points_to(node).to_vec();
                self.few_places(&known)
            }
        };
        let (mut targets, mut sources) = (places(to, copied.to), places(from, copied.from));
        let is_many = targets.len().saturating_mul(sources.len()) > MOST_COPIED_PAIRS;
        let all = match copied.all {
            Some(all) => all,
            None if is_many => {
                let all = self.node();
                self.memory_copies[number].all = Some(all);
                (targets, sources) =
                    (self.points_to(copied.to).to_vec(), self.points_to(copied.from).to_vec());
                all
            }
            None => {
                for target in &targets {
                    sources.iter().for_each(|source| self.copy_cells(*target, *source, copied.size));
                }
                return;
            }
        };
        for source in sources {
            let read = match self.pointees[source as usize] {
                Pointee::Cell(object, _) => self.read_all(object),
                Pointee::Anything => self.read_anywhere(),
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => continue,
            };
            self.copy(read, all);
        }
        for target in targets {
            let written = match self.pointees[target as usize] {
                Pointee::Cell(object, _) if self.constant[object] => continue,
                Pointee::Cell(object, _) => self.written_all(object),
                Pointee::Anything => self.written_anywhere(),
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => continue,
            };
            self.copy(all, written);
        }
    }

    /// These places; anywhere in an object instead of many places in it.
    fn few_places(&mut self, ids: &[PointeeId]) -> Vec<PointeeId> {
        let mut counts: FxHashMap<ObjectId, usize> = FxHashMap::default();
        let pointees = ids.iter().map(|id| self.pointees[*id as usize]);
        let objects = pointees.map(|pointee| match pointee {
            Pointee::Cell(object, _) => Some(object),
            Pointee::Anything | Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => None,
        });
        let objects: Vec<Option<ObjectId>> = objects.collect();
        for object in objects.iter().flatten() {
            *counts.entry(*object).or_default() += 1;
        }
        let mut found: Vec<PointeeId> = Vec::with_capacity(ids.len());
        for (id, object) in ids.iter().zip(objects) {
            match object {
                Some(object) if counts[&object] > MOST_COPIED_PLACES => {
                    found.push(self.intern(Pointee::Cell(object, Offset::ANYWHERE)));
                }
                Some(_) => found.push(*id),
                None if *id == ANYTHING => found.push(*id),
                None => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Copies cells from one object to another, each to the cell at the same distance.
    fn copy_cells(&mut self, to: PointeeId, from: PointeeId, size: Option<u64>) {
        let pair = (self.pointees[to as usize], self.pointees[from as usize]);
        if let (Pointee::Cell(to, _), Pointee::Cell(from, _)) = pair
            && self.copied_whole.contains(&(to, from))
        {
            return;
        }
        if !self.copied.insert((to, from, size)) {
            return;
        }
        let (to, from) = pair;
        if self.is_constant(to) {
            return;
        }
        let ((to_object, to_offset), (from_object, from_offset)) = match (to, from) {
            (Pointee::Cell(to, to_offset), Pointee::Cell(from, from_offset)) => {
                ((to, to_offset), (from, from_offset))
            }
            (Pointee::Cell(object, _), Pointee::Anything) => {
                let read = self.read_anywhere();
                let cells = self.all_cells(object);
                return cells.for_each(|cell| self.copy(read, cell));
            }
            (Pointee::Anything, Pointee::Cell(object, _)) => {
                let written = self.written_anywhere();
                let cells = self.all_cells(object);
                return cells.for_each(|cell| self.copy(cell, written));
            }
            (Pointee::Anything, Pointee::Anything) => {
                let (read, written) = (self.read_anywhere(), self.written_anywhere());
                return self.copy(read, written);
            }
            (Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part, _)
            | (_, Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part) => return,
        };
        let pairs = self.shapes[to_object].copied(to_offset, &self.shapes[from_object], from_offset, size);
        let (to, from) = (self.all_cells(to_object), self.all_cells(from_object));
        match pairs {
            Some(pairs) => {
                for (target, source) in pairs {
                    self.copy(from.start + source as Node, to.start + target as Node);
                }
            }
            None => {
                self.copied_whole.insert((to_object, from_object));
                let (read, written) = (self.read_all(from_object), self.written_all(to_object));
                self.copy(read, written);
            }
        }
    }
}
