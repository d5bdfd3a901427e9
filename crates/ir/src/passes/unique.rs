//! What there is at most one of in the whole run: threads of a template, memory of an object.
//!
//! * A template is *unique* if at most one thread of it ever runs: it is started once and never spawned, or not started, and spawned by
//!   edges of one unique template only, none of which is on a cycle or leads to another of them. By induction over an execution: at most one such edge is taken, and
//!   at most once, by each thread, and there is one thread that could.
//! * An object is *single* if there is at most one of it in the whole run: a static one, a frame object of a unique template, or that of an
//!   allocation site with one allocation in all, in a unique template and on no cycle, of the size of one element (so that
//!   a valid offset in it is known exactly, not modulo the element's size).
//!
//! Under-approximates: what is found here is so. For programs without calls.

use super::edges_in_cycles;
use crate::expr::Expr;
use crate::ids::{EdgeId, Id, IdVec, LocationId, ObjectId, TemplateId};
use crate::op::{Callee, Op};
use crate::program::{Count, Program, Storage, Template};

/// What there is at most one of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unique {
    /// Templates of which at most one thread ever runs.
    pub templates: IdVec<TemplateId, bool>,
    /// Objects that there is at most one of.
    pub objects: IdVec<ObjectId, bool>,
}

impl Unique {
    /// Looks through a program.
    pub fn of(program: &Program) -> Self {
        let cycles: Vec<IdVec<EdgeId, bool>> = program.templates.iter().map(edges_in_cycles).collect();
        let templates = unique_templates(program, &cycles);
        let objects = single_objects(program, &cycles, &templates);
        Self { templates, objects }
    }
}

fn unique_templates(program: &Program, cycles: &[IdVec<EdgeId, bool>]) -> IdVec<TemplateId, bool> {
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
    let once = |spawns: &[(TemplateId, EdgeId)]| {
        let Some((parent, _)) = spawns.first() else { return true };
        spawns.iter().all(|(template, edge)| template == parent && !cycles[template.index()][*edge])
            && spawns.iter().enumerate().all(|(number, (_, edge))| {
                let before = |(other, (_, behind)): (usize, &(TemplateId, EdgeId))| {
                    other != number && leads_to(&program.templates[*parent], *edge, *behind)
                };
                !spawns.iter().enumerate().any(before)
            })
    };
    let mut unique: IdVec<TemplateId, bool> = program
        .templates
        .ids()
        .map(|id| {
            let (started, spawned) = (starts[id], &spawns[id]);
            !unknown && ((started == 1 && spawned.is_empty()) || (started == 0 && once(spawned)))
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

/// Whether an edge can be taken after another one by the same thread, or both are one operation after the other on one edge.
fn leads_to(code: &Template, first: EdgeId, second: EdgeId) -> bool {
    if first == second {
        return true;
    }
    let outgoing = code.outgoing();
    let mut seen: IdVec<LocationId, bool> = code.locations.iter().map(|_| false).collect();
    let mut open = vec![code.edges[first].target];
    while let Some(location) = open.pop() {
        if location == code.edges[second].source {
            return true;
        }
        if !std::mem::replace(&mut seen[location], true) {
            open.extend(outgoing[location].iter().map(|edge| code.edges[*edge].target));
        }
    }
    false
}

fn single_objects(
    program: &Program,
    cycles: &[IdVec<EdgeId, bool>],
    unique: &IdVec<TemplateId, bool>,
) -> IdVec<ObjectId, bool> {
    let mut allocations: IdVec<ObjectId, u32> = program.objects.iter().map(|_| 0).collect();
    for (template, code) in program.templates.enumerate() {
        for (id, edge) in code.edges.enumerate() {
            for op in &edge.ops {
                if let Op::Allocate { site, size, .. } = op {
                    let one_element = matches!(size, Expr::Const(size, _) if *size > 0 && *size == i128::from(program.objects[*site].size));
                    let once = unique[template] && !cycles[template.index()][id] && one_element;
                    allocations[*site] += if once { 1 } else { 2 };
                }
            }
        }
    }
    let single = program.objects.enumerate().map(|(id, object)| match object.storage {
        Storage::Static => true,
        Storage::Frame(template) => unique[template],
        Storage::ThreadLocal => false,
        Storage::Site => allocations[id] == 1,
    });
    single.collect()
}
