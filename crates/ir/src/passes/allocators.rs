//! Functions that allocate memory for their callers get a copy for each call.
//!
//! All memory of one allocation site has its cells in common in points-to sets and proofs. Large programs
//! allocate through functions of their own (`xmalloc`), so most of their memory would be of one site. A small
//! function whose result is memory that it allocates without a type, itself or through another one like it,
//! is copied for each call, with its allocation sites; these are named by the call, and have the type that
//! the caller uses the result as. Functions that may call themselves are not copied, nor are those that start
//! threads, and copying stops at limits. Calls through pointers go to the original.
//!
//! Exact: a copy behaves like the original, and which site an object is from makes no difference to the
//! program.

use super::foreign::LARGE;
use super::starts::{copy_template, reaches_itself};
use crate::expr::Expr;
use crate::ids::{EdgeId, IdVec, LocalId, ObjectId, TemplateId};
use crate::op::{Callee, Lhs, Op, Rhs};
use crate::program::{Program, SiteUse, Span, Storage, Template};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A function with more steps than this is not copied.
const MOST_STEPS: usize = 100;
/// The most copies.
const MOST_COPIES: usize = 500;

/// What the source uses the results of calls as, by the place of the call. The sites are filled in here.
pub type CallUses = FxHashMap<Span, SiteUse>;

/// Copies the allocation functions of a large program. In others, functions are inlined.
pub fn separate_allocators(program: &mut Program, uses: &CallUses) {
    let steps: usize = program.templates.iter().map(|code| code.edges.len()).sum();
    if steps >= LARGE {
        separate(program, uses, steps);
    }
}

/// Copies allocation functions, while no more than this many steps are added.
pub(super) fn separate(program: &mut Program, uses: &CallUses, most_steps: usize) {
    let sites = own_sites(program);
    let allocators = allocators(program, &sites, uses);
    if allocators.is_empty() {
        return;
    }
    let none = FxHashSet::default();
    let is_given = |code: &Template, site: ObjectId| gives_memory(code, &[site], &none, uses);
    let given: IdVec<TemplateId, Vec<ObjectId>> = program
        .templates
        .enumerate()
        .map(|(id, code)| sites[id].iter().copied().filter(|site| is_given(code, *site)).collect())
        .collect();
    let original = program.clone();
    let mut calls: FxHashMap<TemplateId, usize> = FxHashMap::default();
    for id in program.templates.ids() {
        for (_, _, callee) in calls_of(program, id, &allocators) {
            *calls.entry(callee).or_default() += 1;
        }
    }
    let addressed = program.addressed_procedures();
    // Callers come before what they call: a copy has calls of its own.
    let mut open: Vec<TemplateId> = program.templates.ids().filter(|id| !allocators.contains(id)).collect();
    open.extend(addressed.iter().filter(|id| allocators.contains(id)));
    open.reverse();
    let mut taken: FxHashSet<TemplateId> = addressed.into_iter().collect();
    // The outermost call that an allocation function is there for.
    let mut origins: FxHashMap<TemplateId, Origin> = FxHashMap::default();
    let (mut copies, mut steps) = (0, 0);
    while let Some(caller) = open.pop() {
        for (edge, index, callee) in calls_of(program, caller, &allocators) {
            let code = &original.templates[callee];
            let span = program.templates[caller].edges[edge].span;
            let origin = match origins.get(&caller) {
                Some(origin) => Some(origin.clone()),
                None if calls[&callee] > 1 => Some(Origin { callee: code.name.clone(), span }),
                None => None,
            };
            let size = code.edges.len();
            if taken.insert(callee) {
                name_by_call(program, uses, &given[callee], origin.as_ref());
                origins.extend(origin.map(|origin| (callee, origin)));
                open.push(callee);
                continue;
            }
            if copies >= MOST_COPIES || steps + size > most_steps {
                continue;
            }
            (copies, steps) = (copies + 1, steps + size);
            let (copy, new) = copy_template(&original, program, callee, &sites[callee]);
            let is_given = |(site, _): &(&ObjectId, ObjectId)| given[callee].contains(site);
            let new: Vec<ObjectId> =
                sites[callee].iter().zip(new).filter(is_given).map(|(_, new)| new).collect();
            name_by_call(program, uses, &new, origin.as_ref());
            origins.extend(origin.map(|origin| (copy, origin)));
            if let Op::Call(callee, ..) = &mut program.templates[caller].edges[edge].ops[index] {
                *callee = Callee::Procedure(copy);
            }
            open.push(copy);
        }
    }
    program.site_uses.sort_by_key(|used| used.site);
}

/// The allocation sites that only one template allocates at, and whose type is not known, by template.
fn own_sites(program: &Program) -> IdVec<TemplateId, Vec<ObjectId>> {
    let mut users: FxHashMap<ObjectId, BTreeSet<TemplateId>> = FxHashMap::default();
    for (id, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Allocate { site, .. } = op {
                users.entry(*site).or_default().insert(id);
            }
        }
    }
    let mut found: IdVec<TemplateId, Vec<ObjectId>> = program.templates.iter().map(|_| Vec::new()).collect();
    let is_plain =
        |id: &ObjectId| program.objects[*id].storage == Storage::Site && program.site_use(*id).is_none();
    for site in program.objects.ids().filter(is_plain) {
        if let Some(users) = users.get(&site)
            && let (Some(user), 1) = (users.first(), users.len())
        {
            found[*user].push(site);
        }
    }
    found
}

/// The templates to copy.
fn allocators(
    program: &Program,
    sites: &IdVec<TemplateId, Vec<ObjectId>>,
    uses: &CallUses,
) -> FxHashSet<TemplateId> {
    let mut found: FxHashSet<TemplateId> = FxHashSet::default();
    let starts = |op: &Op| matches!(op, Op::Spawn(..));
    let is_small = |code: &Template| {
        code.edges.len() <= MOST_STEPS && !code.edges.iter().flat_map(|edge| &edge.ops).any(starts)
    };
    loop {
        let new = program.templates.enumerate().filter(|(id, code)| {
            !found.contains(id) && is_small(code) && gives_memory(code, &sites[*id], &found, uses)
        });
        let new: Vec<TemplateId> = new.map(|(id, _)| id).collect();
        if new.is_empty() {
            break;
        }
        found.extend(new);
    }
    let called = |code: &Template| {
        let ops = code.edges.iter().flat_map(|edge| &edge.ops);
        let callees = ops.filter_map(|op| match op {
            Op::Call(Callee::Procedure(callee), ..) => Some(*callee),
            _ => None,
        });
        callees.collect()
    };
    let children: IdVec<TemplateId, Vec<TemplateId>> = program.templates.iter().map(called).collect();
    found.retain(|id| !reaches_itself(&children, *id));
    found
}

/// Whether the result of a template may be memory that it allocates at one of some sites, or that one of some
/// templates gives it, where it does not say the type. Follows locals, whatever their order.
fn gives_memory(
    code: &Template,
    sites: &[ObjectId],
    allocators: &FxHashSet<TemplateId>,
    uses: &CallUses,
) -> bool {
    let Some(result) = code.result else { return false };
    let mut holders: FxHashSet<LocalId> = FxHashSet::default();
    loop {
        let before = holders.len();
        let ops = code.edges.iter().flat_map(|edge| edge.ops.iter().map(move |op| (op, edge.span)));
        for (op, span) in ops {
            match op {
                Op::Allocate { site, result: Lhs::Local(local), .. } if sites.contains(site) => {
                    holders.insert(*local);
                }
                Op::Call(Callee::Procedure(callee), _, Some(Lhs::Local(local)))
                    if allocators.contains(callee) && !uses.contains_key(&span) =>
                {
                    holders.insert(*local);
                }
                Op::Assign(assignment) => {
                    for (lhs, rhs) in &assignment.pairs {
                        if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs)
                            && holds(value, &holders)
                        {
                            holders.insert(*local);
                        }
                    }
                }
                _ => {}
            }
        }
        if holders.len() == before {
            return holders.contains(&result);
        }
    }
}

/// Whether a value is one of some locals, but for casts and choices.
fn holds(value: &Expr, holders: &FxHashSet<LocalId>) -> bool {
    match value {
        Expr::Local(local) => holders.contains(local),
        Expr::Cast(_, operand) => holds(operand, holders),
        Expr::IfThenElse(three) => holds(&three.1, holders) || holds(&three.2, holders),
        _ => false,
    }
}

/// The calls of some templates in a template: edge, operation, and what is called.
fn calls_of(
    program: &Program,
    template: TemplateId,
    callees: &FxHashSet<TemplateId>,
) -> Vec<(EdgeId, usize, TemplateId)> {
    let mut found = Vec::new();
    for (id, edge) in program.templates[template].edges.enumerate() {
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

/// A call of an allocation function.
#[derive(Clone)]
struct Origin {
    callee: String,
    span: Span,
}

/// Names allocation sites by the call that allocates there, if there are several.
fn name_by_call(program: &mut Program, uses: &CallUses, sites: &[ObjectId], call: Option<&Origin>) {
    let Some(Origin { callee, span }) = call else { return };
    for site in sites {
        let object = &mut program.objects[*site];
        object.name = format!("{callee} in line {}", span.line);
        object.span = *span;
        let used = uses.get(span).map(|used| SiteUse { site: *site, ..used.clone() });
        program.site_uses.extend(used);
    }
}
