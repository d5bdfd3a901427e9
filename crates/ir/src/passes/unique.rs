//! Uniqueness: templates with at most one thread in the whole run, and objects that exist at most once.
//!
//! * Edges are taken *once* if they are all in one unique template, none is on a cycle or leads to another of
//!   them, and each counts for one operation: so a thread takes at most one of them, at most once, and only
//!   one thread can.
//! * A template is *unique* if at most one thread of it ever runs: it is started once and never spawned, or
//!   not started, and spawned by edges that are taken once. By induction over an execution.
//! * An object is *single* if there is at most one of it in the whole run: a static one, a frame object of a
//!   unique template, or that of an allocation site with allocations on edges that are taken once, all of the
//!   size of one element (so that a valid offset in it is known exactly, not modulo the element's size).
//!
//! Under-approximates: all results are correct, but some unique templates may be missed. For programs without
//! calls.

use crate::expr::Expr;
use crate::ids::{EdgeId, IdVec, LocationId, ObjectId, TemplateId};
use crate::op::{Callee, Op};
use crate::program::{Count, Program, Storage};

/// Unique templates and single objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unique {
    /// Templates of which at most one thread ever runs.
    pub templates: IdVec<TemplateId, bool>,
    /// Objects that exist at most once.
    pub objects: IdVec<ObjectId, bool>,
    /// The edges that allocate at a site, if each does so once at most; otherwise none. Of the edges of a
    /// list, at most one is ever taken.
    pub allocations: IdVec<ObjectId, Vec<Vec<(TemplateId, EdgeId)>>>,
}

impl Unique {
    /// Analyses a program.
    pub fn of(program: &Program) -> Self {
        let templates = unique_templates(program);
        let (objects, allocations) = single_objects(program, &templates);
        Self { templates, objects, allocations }
    }

    /// Whether an edge is taken at most once in an execution.
    pub fn is_taken_once(&self, program: &Program, (template, edge): (TemplateId, EdgeId)) -> bool {
        self.templates[template] && alternatives(program, &[(template, edge)])
    }
}

fn unique_templates(program: &Program) -> IdVec<TemplateId, bool> {
    let mut starts: IdVec<TemplateId, u64> = program.templates.iter().map(|_| 0).collect();
    for (template, count) in &program.start {
        starts[*template] += match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        };
    }
    // The edges that start threads of each template.
    let mut spawns: IdVec<TemplateId, Vec<(TemplateId, EdgeId)>> =
        program.templates.iter().map(|_| Vec::new()).collect();
    let mut unknown = false;
    for (template, code) in program.templates.enumerate() {
        for (id, edge) in code.edges.enumerate() {
            for op in &edge.ops {
                match op {
                    Op::Spawn(Callee::Procedure(child), ..) => spawns[*child].push((template, id)),
                    Op::Spawn(Callee::Pointer(_), ..) => unknown = true,
                    Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) | Op::Join(..) => {}
                    Op::Allocate { .. } | Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) => {}
                    Op::Broadcast(_) => {}
                }
            }
        }
    }
    let mut unique: IdVec<TemplateId, bool> = program
        .templates
        .ids()
        .map(|id| {
            let (started, spawned) = (starts[id], &spawns[id]);
            !unknown
                && ((started == 1 && spawned.is_empty()) || (started == 0 && alternatives(program, spawned)))
        })
        .collect();
    loop {
        let parent_is_not = |id: &TemplateId| spawns[*id].first().is_some_and(|(parent, _)| !unique[*parent]);
        match program.templates.ids().find(|id| unique[*id] && parent_is_not(id)) {
            Some(id) => unique[id] = false,
            None => return unique,
        }
    }
}

/// Whether a thread takes at most one of some edges, at most once: they are all in one template, and none is
/// reachable after one of them.
fn alternatives(program: &Program, edges: &[(TemplateId, EdgeId)]) -> bool {
    let Some((only, _)) = edges.first() else { return true };
    let code = &program.templates[*only];
    let mut sources: IdVec<LocationId, bool> = code.locations.iter().map(|_| false).collect();
    let mut taken: IdVec<EdgeId, bool> = code.edges.iter().map(|_| false).collect();
    let mut open = Vec::new();
    for (template, edge) in edges {
        // Two operations on one edge count as two.
        if template != only || std::mem::replace(&mut taken[*edge], true) {
            return false;
        }
        sources[code.edges[*edge].source] = true;
        open.push(code.edges[*edge].target);
    }
    let outgoing = code.outgoing();
    let mut seen: IdVec<LocationId, bool> = code.locations.iter().map(|_| false).collect();
    while let Some(location) = open.pop() {
        if sources[location] {
            return false;
        }
        if !std::mem::replace(&mut seen[location], true) {
            open.extend(outgoing[location].iter().map(|edge| code.edges[*edge].target));
        }
    }
    true
}

/// An edge of a template.
type EdgeOf = (TemplateId, EdgeId);
/// The edges that allocate at a site, in lists of which at most one is taken.
type Allocations = Vec<Vec<EdgeOf>>;

/// Single objects, and the edges that allocate at each site, where each does so once at most.
fn single_objects(
    program: &Program,
    unique: &IdVec<TemplateId, bool>,
) -> (IdVec<ObjectId, bool>, IdVec<ObjectId, Allocations>) {
    let mut allocations: IdVec<ObjectId, Vec<(TemplateId, EdgeId)>> =
        program.objects.iter().map(|_| Vec::new()).collect();
    let mut one_element: IdVec<ObjectId, bool> = program.objects.iter().map(|_| true).collect();
    for (template, code) in program.templates.enumerate() {
        for (id, edge) in code.edges.enumerate() {
            for op in &edge.ops {
                if let Op::Allocate { site, size, .. } = op {
                    allocations[*site].push((template, id));
                    one_element[*site] &= matches!(size, Expr::Const(size, _) if *size > 0 && *size == i128::from(program.objects[*site].size));
                }
            }
        }
    }
    let allocated_once = |id: ObjectId| {
        let by_one = allocations[id].first().is_some_and(|(template, _)| unique[*template]);
        one_element[id] && by_one && alternatives(program, &allocations[id])
    };
    let single = program.objects.enumerate().map(|(id, object)| match object.storage {
        Storage::Static => true,
        Storage::Frame(template) => unique[template],
        Storage::ThreadLocal => false,
        Storage::Site => allocated_once(id),
    });
    let single = single.collect();
    let in_lists = |mut edges: Vec<EdgeOf>| {
        let count = edges.len();
        edges.sort_unstable();
        edges.dedup();
        let once = |edge: &EdgeOf| unique[edge.0] && alternatives(program, &[*edge]);
        let mut lists = Allocations::new();
        if edges.len() != count || !edges.iter().all(once) {
            return lists;
        }
        for edge in edges {
            let with = |list: &[EdgeOf]| [list, &[edge]].concat();
            let is_open = |list: &&mut Vec<EdgeOf>| {
                list.iter().all(|other| other.0 == edge.0) && alternatives(program, &with(list))
            };
            match lists.iter_mut().find(is_open) {
                Some(list) => list.push(edge),
                None => lists.push(vec![edge]),
            }
        }
        lists
    };
    (single, allocations.iter().cloned().map(in_lists).collect())
}
