//! Small functions that store pointers for their callers get a copy for each call.
//!
//! Points-to sets keep one set for a parameter, whoever calls. Programs link their lists through a few
//! functions (`list_add(&new->list, &head)`), and there all their lists would be one: each member would point
//! to the members of all. A small function that stores a value as wide as a pointer in memory that it reaches
//! through a parameter is copied for each call, and so is what it calls if that is like it. Functions that
//! allocate, start threads, have objects of their own or may call themselves are not copied, and copying
//! stops at limits. Calls through pointers go to the original.
//!
//! Exact: a copy behaves like the original.

use super::foreign::LARGE;
use super::starts::{copy_template, reaches_itself};
use crate::expr::Expr;
use crate::ids::{EdgeId, IdVec, TemplateId};
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::program::{Program, Storage, Template};
use rustc_hash::FxHashSet;

/// A function with more steps than this is not copied.
const MOST_STEPS: usize = 16;
/// The most copies.
const MOST_COPIES: usize = 500;

/// Copies the helpers of a large program. In others, functions are inlined.
pub fn separate_helpers(program: &mut Program) {
    let steps: usize = program.templates.iter().map(|code| code.edges.len()).sum();
    if steps >= LARGE {
        separate(program, steps / 2);
    }
}

/// Copies helpers, while no more than this many steps are added.
pub(super) fn separate(program: &mut Program, most_steps: usize) {
    let helpers = helpers(program);
    if helpers.is_empty() {
        return;
    }
    let original = program.clone();
    let addressed = program.addressed_procedures();
    let mut open: Vec<TemplateId> = program.templates.ids().filter(|id| !helpers.contains(id)).collect();
    open.extend(addressed.iter().filter(|id| helpers.contains(id)));
    open.reverse();
    let mut taken: FxHashSet<TemplateId> = addressed.into_iter().collect();
    let (mut copies, mut steps) = (0, 0);
    while let Some(caller) = open.pop() {
        for (edge, index, callee) in calls_of(&program.templates[caller], &helpers) {
            if taken.insert(callee) {
                open.push(callee);
                continue;
            }
            let size = original.templates[callee].edges.len();
            if copies >= MOST_COPIES || steps + size > most_steps {
                continue;
            }
            (copies, steps) = (copies + 1, steps + size);
            let (copy, _) = copy_template(&original, program, callee, &[]);
            if let Op::Call(callee, ..) = &mut program.templates[caller].edges[edge].ops[index] {
                *callee = Callee::Procedure(copy);
            }
            open.push(copy);
        }
    }
}

/// The templates to copy.
fn helpers(program: &Program) -> FxHashSet<TemplateId> {
    let children: IdVec<TemplateId, Vec<TemplateId>> = program.templates.iter().map(called).collect();
    let owners: FxHashSet<TemplateId> = program
        .objects
        .iter()
        .filter_map(|object| match object.storage {
            Storage::Frame(owner) => Some(owner),
            Storage::Static | Storage::ThreadLocal | Storage::Site => None,
        })
        .collect();
    let is_plain = |id: TemplateId| {
        let code = &program.templates[id];
        code.edges.len() <= MOST_STEPS
            && !owners.contains(&id)
            && !reaches_itself(&children, id)
            && code.edges.iter().flat_map(|edge| &edge.ops).all(is_plain)
    };
    let plain: FxHashSet<TemplateId> = program.templates.ids().filter(|id| is_plain(*id)).collect();
    let mut found: FxHashSet<TemplateId> = FxHashSet::default();
    loop {
        let new = program.templates.ids().filter(|id| {
            let helps = || {
                stores_pointers(program, &program.templates[*id])
                    || children[*id].iter().any(|callee| found.contains(callee))
            };
            let calls_plain = || children[*id].iter().all(|callee| found.contains(callee));
            plain.contains(id) && !found.contains(id) && calls_plain() && helps()
        });
        let new: Vec<TemplateId> = new.collect();
        if new.is_empty() {
            return found;
        }
        found.extend(new);
    }
}

/// What a template calls by name.
fn called(code: &Template) -> Vec<TemplateId> {
    let ops = code.edges.iter().flat_map(|edge| &edge.ops);
    let callees = ops.filter_map(|op| match op {
        Op::Call(Callee::Procedure(callee), ..) => Some(*callee),
        _ => None,
    });
    callees.collect()
}

/// Whether an operation may be in a helper.
fn is_plain(op: &Op) -> bool {
    match op {
        Op::Assume(_) | Op::Assign(_) | Op::Lock(..) | Op::Unlock(..) => true,
        Op::Call(Callee::Procedure(_), ..) => true,
        Op::Call(Callee::Pointer(_), ..) | Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } => false,
        Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Broadcast(_) => false,
    }
}

/// Whether a template stores values as wide as a pointer, but constants, in memory that it does not name.
fn stores_pointers(program: &Program, code: &Template) -> bool {
    let width = program.data_model.pointer().bits;
    let stores = |op: &Op| {
        let Op::Assign(assignment) = op else { return false };
        assignment.pairs.iter().any(|(lhs, rhs)| match (lhs, rhs) {
            (Lhs::Memory(place), Rhs::Value(value)) => {
                place.ty.bits == width && place.as_cell().is_none() && !matches!(value, Expr::Const(..))
            }
            (Lhs::Memory(_) | Lhs::Local(_), _) => false,
        })
    };
    code.parameters > 0 && code.edges.iter().flat_map(|edge| &edge.ops).any(stores)
}

/// The calls of some templates in a template: edge, operation, and what is called.
fn calls_of(code: &Template, callees: &FxHashSet<TemplateId>) -> Vec<(EdgeId, usize, TemplateId)> {
    let mut found = Vec::new();
    for (id, edge) in code.edges.enumerate() {
        for (index, op) in edge.ops.iter().enumerate() {
            if let Op::Call(Callee::Procedure(callee), ..) = op
                && callees.contains(callee)
            {
                found.push((id, index, *callee));
            }
        }
    }
    found
}
