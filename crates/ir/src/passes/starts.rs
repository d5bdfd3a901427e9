//! Each start of a thread gets its own copy of the template.
//!
//! After inlining, a template that several edges start is copied, with its frame objects, so that each of
//! these edges starts its own copy: "the thread that this edge starts" is then a template, and facts about
//! its argument are not mixed with those of others. Templates that may start themselves, directly or through
//! others, are not copied, and copying stops at the limits.
//!
//! Exact: a copy behaves like the original. The targets of places are dropped, as they name objects that were
//! duplicated.

use super::renumber::each_mention;
use crate::expr::{Expr, Targets};
use crate::ids::{EdgeId, IdVec, ObjectId, TemplateId};
use crate::op::{Callee, Op};
use crate::program::{Initial, Program, Storage};

/// The most copies.
const MOST_COPIES: usize = 200;

/// Gives each start of a thread its own template, while the program has at most this many edges.
pub fn separate_starts(program: &Program, most_edges: usize) -> Program {
    let mut result = program.clone();
    let recursive = recursive_starts(program);
    let mut edges: usize = program.templates.iter().map(|template| template.edges.len()).sum();
    let mut copies = 0;
    let mut taken: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
    let mut open: Vec<TemplateId> = Vec::new();
    for (template, _) in &program.start {
        if !std::mem::replace(&mut taken[*template], true) {
            open.push(*template);
        }
    }
    while let Some(template) = open.pop() {
        for (edge, index, child) in starts(&result, template) {
            // Copies are of templates that are not recursive, so they have no entry of their own there.
            if recursive.get(child).copied().unwrap_or(true) {
                if !std::mem::replace(&mut taken[child], true) {
                    open.push(child);
                }
                continue;
            }
            if !std::mem::replace(&mut taken[child], true) {
                open.push(child);
                continue;
            }
            let size = program.templates[child].edges.len();
            if copies >= MOST_COPIES || edges + size > most_edges {
                continue;
            }
            copies += 1;
            edges += size;
            let (copy, _) = copy_template(program, &mut result, child, &[]);
            taken.push(true);
            if let Op::Spawn(callee, ..) = &mut result.templates[template].edges[edge].ops[index] {
                *callee = Callee::Procedure(copy);
            }
            open.push(copy);
        }
    }
    result
}

/// The starts in a template: edge, operation, and started template.
fn starts(program: &Program, template: TemplateId) -> Vec<(EdgeId, usize, TemplateId)> {
    let mut found = Vec::new();
    for (id, edge) in program.templates[template].edges.enumerate() {
        for (index, op) in edge.ops.iter().enumerate() {
            if let Op::Spawn(Callee::Procedure(child), ..) = op {
                found.push((id, index, *child));
            }
        }
    }
    found
}

/// Templates that may start themselves, directly or through others.
fn recursive_starts(program: &Program) -> IdVec<TemplateId, bool> {
    let children: IdVec<TemplateId, Vec<TemplateId>> = program
        .templates
        .ids()
        .map(|id| starts(program, id).into_iter().map(|(_, _, child)| child).collect())
        .collect();
    program.templates.ids().map(|id| reaches_itself(&children, id)).collect()
}

/// Whether a template is among its own children, or theirs, and so on.
pub(super) fn reaches_itself(children: &IdVec<TemplateId, Vec<TemplateId>>, id: TemplateId) -> bool {
    let mut seen: IdVec<TemplateId, bool> = children.iter().map(|_| false).collect();
    let mut open = children[id].clone();
    while let Some(next) = open.pop() {
        if !std::mem::replace(&mut seen[next], true) {
            open.extend(&children[next]);
        }
    }
    seen[id]
}

/// Adds a copy of one of the original templates, with its frame objects and with copies of these allocation
/// sites. Returns it, and the new sites.
pub(super) fn copy_template(
    program: &Program,
    result: &mut Program,
    original: TemplateId,
    sites: &[ObjectId],
) -> (TemplateId, Vec<ObjectId>) {
    let copy = result.templates.push(program.templates[original].clone());
    let mut renamed: Vec<(ObjectId, ObjectId)> = Vec::new();
    for (id, object) in program.objects.enumerate() {
        if object.storage == Storage::Frame(original) {
            let mut object = object.clone();
            object.storage = Storage::Frame(copy);
            renamed.push((id, result.objects.push(object)));
        }
    }
    let frames = renamed.len();
    renamed.extend(sites.iter().map(|site| (*site, result.objects.push(program.objects[*site].clone()))));
    let new = |object: ObjectId| renamed.iter().find(|(old, _)| *old == object).map(|(_, new)| *new);
    let mut rename = |expr: &mut Expr| {
        if let Expr::Address(object, _) = expr
            && let Some(new) = new(*object)
        {
            *object = new;
        }
    };
    for (_, new) in &renamed[..frames] {
        if let Initial::Values(values) = &mut result.objects[*new].initial {
            values.iter_mut().for_each(|(_, _, value)| value.rewrite(&mut rename));
        }
    }
    for op in result.templates[copy].edges.iter_mut().flat_map(|edge| &mut edge.ops) {
        each_mention(op, &mut rename, &mut |place| place.targets = Targets::Any, &mut |_| {});
        if let Op::Allocate { site, .. } = op
            && let Some(new) = new(*site)
        {
            *site = new;
        }
    }
    (copy, renamed.split_off(frames).into_iter().map(|(_, new)| new).collect())
}
