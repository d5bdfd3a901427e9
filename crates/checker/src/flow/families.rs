//! Checks the claims about families ([`verdict::Family`]).
//!
//! For each family: its parent is unique, and no other thread starts members; parameters with a named
//! argument are never assigned, and the arguments are built from the parent's own locals and cells; only the
//! parent writes where handles are; there is no member at the parent's entry; and each step of the parent
//! leads from the facts of its source to those of its target.

use super::knowledge::{Knowledge, Steps, claimed, follow};
use super::terms::Terms;
use super::view::{Node, View, is_fact, type_of_fact};
use crate::ProofError;
use crate::ready::claim;
use ir::ids::Id;
use ir::passes::Affine;
use ir::passes::footprint::{Extent, Region, accesses};
use ir::{Callee, EdgeId, Expr, Lhs, LocalId, Op, TemplateId};
use verdict::{Bound, Family, LocalEqualities, Members, ParentFacts, ParentStep};

/// Checks all families.
pub fn check_families(view: &View<'_>, steps: &Steps) -> Result<(), ProofError> {
    for family in &view.proof.families {
        check_shape(view, family)?;
        check_starts(view, family)?;
        check_members_keep(view, family)?;
        check_parent(view, family, steps)?;
    }
    Ok(())
}

/// Checks given parameters: they are never assigned, and at each possible start the argument is an unspent
/// object, which the start spends. So of two threads of the template, the one that started later got another
/// object than the first.
pub fn check_given(view: &View<'_>, steps: &Steps) -> Result<(), ProofError> {
    for (template, local) in &view.proof.given {
        let Some(code) = view.program.templates.get(*template) else {
            return claim(false, "a template does not exist");
        };
        let started = view.program.start.iter().any(|(started, _)| started == template);
        let mut ops = code.edges.iter().flat_map(|edge| &edge.ops);
        let is_kept = !ops.any(|op| op.targets().contains(&&Lhs::Local(*local)));
        claim(local.index() < code.parameters && !started && is_kept, "an argument is not kept")?;
    }
    for (node, steps) in steps.iter().enumerate().filter(|(node, _)| view.proof.reachable[*node]) {
        let template = view.nodes[node].0;
        let terms = Terms { view, template };
        for (edge, _) in steps.iter().filter(|(_, outcome)| !outcome.impossible) {
            let mut all_unspent = true;
            follow(view, template, *edge, claimed(view, node)?, &mut |op, known| {
                let Op::Spawn(Callee::Procedure(child), arguments, _) = op else { return };
                for (_, local) in view.proof.given.iter().filter(|(given, _)| given == child) {
                    let argument = arguments.get(local.index());
                    let sum = argument.and_then(|argument| terms.sum(argument, &known.equal));
                    all_unspent &= sum.is_some_and(|sum| match sum.terms.as_slice() {
                        [(Expr::Local(local), false)] => sum.constant == 0 && known.unspent.contains(local),
                        _ => false,
                    });
                }
            });
            claim(all_unspent, "a thread may get another one's object")?;
        }
    }
    Ok(())
}

/// Checks that everything that the family names exists, and is the parent's own.
fn check_shape(view: &View<'_>, family: &Family) -> Result<(), ProofError> {
    let templates = &view.program.templates;
    let (Some(code), Some(parent)) = (templates.get(family.template), templates.get(family.parent)) else {
        return claim(false, "a template does not exist");
    };
    let exists = |local: LocalId| parent.locals.get(local).is_some();
    let is_bound = |bound: &Bound| bound.of.is_none_or(exists) && bound.plus.abs() <= 1 << 70;
    let fits = |facts: &ParentFacts| {
        facts.orders.iter().all(|(less, more, _)| less.is_none_or(exists) && more.is_none_or(exists))
            && facts.members.as_ref().is_none_or(|members| {
                members.above.iter().chain(&members.below).all(is_bound)
                    && members.loaded.iter().all(|(local, bound)| exists(*local) && is_bound(bound))
            })
    };
    claim(exists(family.index), "a local does not exist")?;
    claim(family.arguments.len() == code.parameters, "the proof is about another program")?;
    claim(family.at.len() == parent.locations.len(), "the proof is about another program")?;
    claim(family.at.iter().all(fits), "a fact names nothing")?;
    let terms = Terms { view, template: family.parent };
    for expr in family.arguments.iter().flatten().chain(&family.handle) {
        let known = is_fact(expr) && type_of_fact(view.program, family.parent, expr).is_some();
        claim(known, "a fact names nothing")?;
        claim(terms.sum(expr, &[]).is_some(), "a fact is about memory that others change")?;
    }
    Ok(())
}

/// Checks that only the parent starts members, and that there is only one parent.
fn check_starts(view: &View<'_>, family: &Family) -> Result<(), ProofError> {
    let started = view.program.start.iter().any(|(template, _)| *template == family.template);
    claim(view.is_unique(family.parent) && !started, "a family has another parent")?;
    let starts = |op: &Op| matches!(op, Op::Spawn(Callee::Procedure(child), ..) if *child == family.template);
    for (template, code) in view.program.templates.enumerate() {
        let mut ops = code.edges.iter().flat_map(|edge| &edge.ops);
        claim(template == family.parent || !ops.any(starts), "a family has another parent")?;
    }
    Ok(())
}

/// Checks that members keep their arguments, and that only the parent writes handles.
fn check_members_keep(view: &View<'_>, family: &Family) -> Result<(), ProofError> {
    for (parameter, argument) in family.arguments.iter().enumerate() {
        let local = Lhs::Local(LocalId::new(parameter));
        let mut ops = view.program.templates[family.template].edges.iter().flat_map(|edge| &edge.ops);
        let is_assigned = ops.any(|op| op.targets().contains(&&local));
        claim(argument.is_none() || !is_assigned, "an argument is not kept")?;
    }
    let Some(handle) = &family.handle else { return Ok(()) };
    let bytes = Extent::Bytes(view.program.data_model.pointer().bytes());
    let handles = Region::at(view.points_to, family.parent, handle, bytes);
    for (template, code) in view.program.templates.enumerate() {
        if template == family.parent {
            continue;
        }
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            let accesses = accesses(view.points_to, template, op);
            let mut writes = accesses.iter().filter(|access| access.write);
            let locks = match op {
                Op::Lock(_, address) | Op::Unlock(_, address) => {
                    Region::at(view.points_to, template, address, Extent::Object).overlaps(&handles)
                }
                _ => false,
            };
            let written = locks || writes.any(|access| access.region.overlaps(&handles));
            claim(!written, "another thread writes a handle")?;
        }
    }
    Ok(())
}

/// Checks that the parent's facts follow from one another.
fn check_parent(view: &View<'_>, family: &Family, steps: &Steps) -> Result<(), ProofError> {
    let code = &view.program.templates[family.parent];
    let first =
        ParentFacts { members: Some(Members { none: true, ..Members::default() }), ..ParentFacts::default() };
    implies(&first, &family.at[code.entry.index()])?;
    for (edge, what) in code.edges.enumerate() {
        let node = view.node(family.parent, what.source);
        if !view.proof.reachable[node] {
            continue;
        }
        let mut here = family.at[what.source.index()].clone();
        let mut visit = |op: &Op, known: &Knowledge| {
            with_step(view, family, known, &mut |step| step.apply(op, &mut here));
        };
        follow(view, family.parent, edge, claimed(view, node)?, &mut visit);
        let is_impossible = steps[node].iter().any(|(known, outcome)| *known == edge && outcome.impossible);
        if !is_impossible {
            implies(&here, &family.at[what.target.index()])?;
        }
    }
    Ok(())
}

fn implies(known: &ParentFacts, wanted: &ParentFacts) -> Result<(), ProofError> {
    let orders = known.orders.implies(&wanted.orders);
    claim(orders, "an order does not follow")?;
    let Some(wanted) = &wanted.members else { return Ok(()) };
    let members = known.members.as_ref().is_some_and(|known| known.implies(wanted));
    claim(members, "a fact about a family does not follow")
}

fn form(
    view: &View<'_>,
    template: TemplateId,
    known: &Knowledge,
    kept: Option<LocalId>,
    expr: &Expr,
) -> Option<Expr> {
    let terms = Terms { view, template };
    let equal: Vec<_> = known.equal.iter().filter(|(local, _)| Some(*local) != kept).cloned().collect();
    Some(terms.rebuilt(&terms.sum(expr, &equal)?))
}

fn with_step(view: &View<'_>, family: &Family, known: &Knowledge, with: &mut dyn FnMut(&ParentStep<'_>)) {
    let canonical = |expr: &Expr| form(view, family.parent, known, Some(family.index), expr);
    with(&ParentStep { program: view.program, points_to: view.points_to, family, canonical: &canonical });
}

/// An address in a family's terms.
pub struct Placed {
    family: usize,
    address: Affine,
    /// The parent's knowledge; `None` for a member's access.
    parent: Option<ParentFacts>,
}

/// The knowledge of parents before each operation of an edge.
pub fn parents(
    view: &View<'_>,
    node: Node,
    edge: EdgeId,
) -> Result<Vec<(usize, Vec<ParentFacts>)>, ProofError> {
    let (template, location) = view.nodes[node];
    let mut found = Vec::new();
    for (number, family) in view.proof.families.iter().enumerate() {
        if family.parent == template {
            let mut here = family.at[location.index()].clone();
            let mut all = Vec::new();
            follow(view, template, edge, claimed(view, node)?, &mut |op, known| {
                all.push(here.clone());
                with_step(view, family, known, &mut |step| step.apply(op, &mut here));
            });
            found.push((number, all));
        }
    }
    Ok(found)
}

/// An address in the terms of all families that can name it.
pub fn placed(
    view: &View<'_>,
    template: TemplateId,
    (known, present): (&Knowledge, &LocalEqualities),
    address: &Expr,
    parents: &[(usize, Vec<ParentFacts>)],
    operation: usize,
) -> Vec<Placed> {
    let mut found = Vec::new();
    for (number, family) in view.proof.families.iter().enumerate() {
        if family.template == template {
            let mut forms = present.expand(address, &|_| false);
            forms.extend(form(view, template, known, None, address));
            let forms = forms.iter().filter_map(|form| family.of_member(view.program, form));
            found.extend(forms.map(|address| Placed { family: number, address, parent: None }));
        }
        if let Some((_, facts)) = parents.iter().find(|(parent, _)| *parent == number)
            && let Some(form) = form(view, template, known, Some(family.index), address)
            && present.is_unchanged(&form)
        {
            let address = Affine::of(view.program, &view.program.templates[template], &form);
            found.push(Placed { family: number, address, parent: Some(facts[operation].clone()) });
        }
    }
    found
}

/// The families that have no members before an operation.
pub fn absent(view: &View<'_>, parents: &[(usize, Vec<ParentFacts>)], operation: usize) -> Vec<TemplateId> {
    let none = |facts: &ParentFacts| facts.members.as_ref().is_some_and(|members| members.none);
    let absent = parents.iter().filter(|(_, facts)| none(&facts[operation]));
    absent.map(|(family, _)| view.proof.families[*family].template).collect()
}

/// Whether indices separate two accesses of threads at these nodes.
pub fn are_apart(
    view: &View<'_>,
    (a, mine, my_bytes): (Node, &[Placed], Extent),
    (b, theirs, their_bytes): (Node, &[Placed], Extent),
) -> bool {
    let (Extent::Bytes(my_bytes), Extent::Bytes(their_bytes)) = (my_bytes, their_bytes) else { return false };
    let mut pairs = mine.iter().flat_map(|mine| theirs.iter().map(move |theirs| (mine, theirs)));
    pairs.any(|(mine, theirs)| {
        let family = &view.proof.families[mine.family];
        let (one, other) = ((&mine.address, my_bytes), (&theirs.address, their_bytes));
        if mine.family != theirs.family {
            return false;
        }
        match (&mine.parent, &theirs.parent) {
            (None, None) => has_arguments(view, family, a, b) && family.are_apart(view.program, one, other),
            (Some(facts), None) => family.is_apart(view.program, facts, one, other),
            (None, Some(facts)) => family.is_apart(view.program, facts, other, one),
            (Some(_), Some(_)) => false,
        }
    })
}

/// Whether members at two nodes have the arguments that the family names, at all locations where the parent
/// may be.
fn has_arguments(view: &View<'_>, family: &Family, a: Node, b: Node) -> bool {
    let related = |one: Node, other: Node| view.proof.coreachable.contains(one, other);
    view.program.templates[family.parent].locations.ids().all(|location| {
        let parent = view.node(family.parent, location);
        let members = family.at[location.index()].members.as_ref();
        !(related(parent, a) && related(parent, b))
            || members.is_some_and(|members| members.none || members.argument)
    })
}

/// Whether one of two threads is the parent of a family without members, and the other is a member.
pub fn is_absent(view: &View<'_>, parent: Node, other: Node) -> bool {
    let (template, location) = view.nodes[parent];
    view.proof.families.iter().any(|family| {
        family.parent == template
            && family.template == view.nodes[other].0
            && !view.has_ended(other)
            && family.at[location.index()].members.as_ref().is_some_and(|members| members.none)
    })
}
