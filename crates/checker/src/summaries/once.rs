//! What happens once: activations of templates in `once`.
//!
//! A template is activated by the program's start, and by steps that call or start it. At most one
//! activation exists in a whole run if the program starts with exactly one and no step activates it; or if
//! it starts with none, and all steps that do are in one template in `once`, on edges none of which can be
//! taken after another of them, or after itself. By induction over an execution: the second activation of
//! some template in `once` would be the first of all these, by a step of the only activation of another
//! one, which takes at most one such step.
//!
//! A step of a procedure W that calls or starts what a parameter of W points to, which W never assigns,
//! activates a template T only where W was activated with the address of T there. If no activation of W
//! takes two steps that may activate T, each activation of T has an activation of W of its own, and so a
//! step of its own that activates W with a value that may be T's address. These steps may stand for those
//! of W; again where they pass on a parameter of their own procedure.

use super::owned::is_constant;
use super::view::{Meter, View, claim};
use crate::ProofError;
use ir::{
    Callee, Count, EdgeId, Expr, IdVec, LocationId, ObjectId, Op, Program, Storage, Template, TemplateId,
};
use std::collections::BTreeMap;
use verdict::SummariesProof;

/// The objects that there is at most one of in a whole run, if the templates in `once` are right: static
/// ones, frame objects of these, and those of allocation sites that one step of such a template names,
/// which is on no cycle, with the size of one element.
pub fn single(program: &Program, proof: &SummariesProof) -> IdVec<ObjectId, bool> {
    let is_once = |template: TemplateId| proof.once.binary_search(&template).is_ok();
    let mut single: IdVec<ObjectId, bool> = program
        .objects
        .iter()
        .map(|object| match object.storage {
            Storage::Static => true,
            Storage::Frame(template) => is_once(template),
            Storage::ThreadLocal | Storage::Site => false,
        })
        .collect();
    let mut seen: IdVec<ObjectId, bool> = program.objects.iter().map(|_| false).collect();
    for (template, code) in program.templates.enumerate() {
        for (id, edge) in code.edges.enumerate() {
            for op in &edge.ops {
                let Op::Allocate { site, size, .. } = op else { continue };
                let described = &program.objects[*site];
                let whole =
                    matches!(size, Expr::Const(size, _) if *size > 0 && *size == i128::from(described.size));
                let is_first = !std::mem::replace(&mut seen[*site], true);
                let is_site = described.storage == Storage::Site;
                single[*site] = is_first && whole && is_site && is_once(template) && !is_repeated(code, id);
            }
        }
    }
    single
}

/// Whether an edge is on a cycle.
fn is_repeated(code: &Template, edge: EdgeId) -> bool {
    let outgoing = code.outgoing();
    let mut seen: IdVec<LocationId, bool> = code.locations.iter().map(|_| false).collect();
    let mut open = vec![code.edges[edge].target];
    while let Some(location) = open.pop() {
        if !std::mem::replace(&mut seen[location], true) {
            open.extend(outgoing[location].iter().map(|next| code.edges[*next].target));
        }
    }
    seen[code.edges[edge].source]
}

/// Checks that each template in `once` is activated at most once.
pub fn check(view: &View<'_>, meter: &mut Meter<'_>) -> Result<(), ProofError> {
    match repeated(view, meter)? {
        Some(template) => {
            let name = &view.program.templates[template].name;
            claim(format!("{name} may be activated more than once"))
        }
        None => Ok(()),
    }
}

/// A template in `once` that may be activated more than once.
pub fn repeated(view: &View<'_>, meter: &mut Meter<'_>) -> Result<Option<TemplateId>, ProofError> {
    let program = view.program;
    let mut started: IdVec<TemplateId, u64> = program.templates.iter().map(|_| 0).collect();
    for (template, count) in &program.start {
        started[*template] += match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        };
    }
    // The steps that activate each template, in some context that takes them.
    let mut sites: IdVec<TemplateId, Vec<(TemplateId, EdgeId)>> =
        program.templates.iter().map(|_| Vec::new()).collect();
    let mut taken: IdVec<TemplateId, IdVec<LocationId, bool>> =
        program.templates.iter().map(|code| code.locations.iter().map(|_| false).collect()).collect();
    for (number, context) in view.contexts() {
        let locations = program.templates[context.template].locations.ids();
        for location in locations.filter(|location| view.facts(number, *location).is_some()) {
            taken[context.template][location] = true;
        }
    }
    for (template, code) in program.templates.enumerate() {
        for (edge, footprint) in view.steps[template].enumerate() {
            meter.tick()?;
            if !taken[template][code.edges[edge].source] {
                continue;
            }
            let is_call = |op: &&Op| matches!(op, Op::Call(..) | Op::Spawn(..));
            let copies = code.edges[edge].ops.iter().filter(is_call).count();
            for callee in &footprint.callees {
                sites[*callee].extend(std::iter::repeat_n((template, edge), copies));
            }
        }
    }
    for template in &view.proof.once {
        let fits = match started[*template] {
            0 => {
                are_alternatives(view, &sites[*template], &taken, meter)?
                    || is_made_once(view, *template, (&sites, &started, &taken), meter)?
            }
            1 => sites[*template].is_empty(),
            _ => false,
        };
        if !fits {
            return Ok(Some(*template));
        }
    }
    Ok(None)
}

/// The steps that activate each template, how many activations the program starts with, and which locations
/// are reached.
type Activating<'c> = (
    &'c IdVec<TemplateId, Vec<(TemplateId, EdgeId)>>,
    &'c IdVec<TemplateId, u64>,
    &'c IdVec<TemplateId, IdVec<LocationId, bool>>,
);

/// How many procedures that pass a template on may stand between.
const MOST_BETWEEN: usize = 8;

/// Whether a template is activated at most once, by way of procedures that get its address as an argument.
fn is_made_once(
    view: &View<'_>,
    template: TemplateId,
    (sites, started, taken): Activating<'_>,
    meter: &mut Meter<'_>,
) -> Result<bool, ProofError> {
    // Each activation of the template has one of these steps of its own.
    let mut standing = sites[template].clone();
    // What says in a procedure that the template is meant: the callee itself, or an argument.
    let mut meant: BTreeMap<TemplateId, Vec<Expr>> = BTreeMap::new();
    for (maker, edge) in &standing {
        let ops = &view.program.templates[*maker].edges[*edge].ops;
        meant.entry(*maker).or_default().extend(ops.iter().filter_map(|op| match op {
            Op::Call(Callee::Pointer(pointer), ..) | Op::Spawn(Callee::Pointer(pointer), ..) => {
                Some(pointer.clone())
            }
            // It is named.
            Op::Call(Callee::Procedure(_), ..) | Op::Spawn(Callee::Procedure(_), ..) => {
                Some(Expr::Procedure(template))
            }
            _ => None,
        }));
    }
    for _ in 0..MOST_BETWEEN {
        meter.tick()?;
        if are_alternatives(view, &standing, taken, meter)? {
            return Ok(true);
        }
        let mut replaced = None;
        for (between, values) in &meant {
            let here: Vec<EdgeId> =
                standing.iter().filter(|(maker, _)| maker == between).map(|(_, edge)| *edge).collect();
            let Some(Expr::Local(parameter)) = values.first() else { continue };
            let is_kept = values.iter().all(|value| *value == Expr::Local(*parameter))
                && is_constant(view, *between, *parameter);
            if is_kept
                && *between != template
                && started[*between] == 0
                && takes_one(view, *between, &here, taken, meter)?
            {
                replaced = Some((*between, *parameter));
                break;
            }
        }
        let Some((between, parameter)) = replaced else { return Ok(false) };
        standing.retain(|(maker, _)| *maker != between);
        meant.remove(&between);
        let mut seen: Vec<(TemplateId, EdgeId)> = Vec::new();
        for (maker, edge) in &sites[between] {
            // An edge that is listed again has two such operations; both are looked at the first time.
            if seen.contains(&(*maker, *edge)) {
                continue;
            }
            seen.push((*maker, *edge));
            for op in &view.program.templates[*maker].edges[*edge].ops {
                let (callee, arguments) = match op {
                    Op::Call(callee, arguments, _) | Op::Spawn(callee, arguments, _) => (callee, arguments),
                    _ => continue,
                };
                let is_it = match callee {
                    Callee::Procedure(callee) => *callee == between,
                    Callee::Pointer(pointer) => view.points_to.callees(*maker, pointer).contains(&between),
                };
                let Some(argument) = arguments.get(parameter.0 as usize) else { return Ok(false) };
                if is_it && view.points_to.callees(*maker, argument).contains(&template) {
                    standing.push((*maker, *edge));
                    meant.entry(*maker).or_default().push(argument.clone());
                }
            }
        }
    }
    Ok(false)
}

/// Whether an activation of a procedure takes at most one of some edges, at most once.
fn takes_one(
    view: &View<'_>,
    template: TemplateId,
    edges: &[EdgeId],
    taken: &IdVec<TemplateId, IdVec<LocationId, bool>>,
    meter: &mut Meter<'_>,
) -> Result<bool, ProofError> {
    let code = &view.program.templates[template];
    let is_repeated = |(at, edge): (usize, &EdgeId)| edges[..at].contains(edge);
    if edges.iter().enumerate().any(is_repeated) {
        return Ok(false);
    }
    let outgoing = code.outgoing();
    let mut seen: IdVec<LocationId, bool> = code.locations.iter().map(|_| false).collect();
    let mut open: Vec<LocationId> = edges.iter().map(|edge| code.edges[*edge].target).collect();
    while let Some(location) = open.pop() {
        meter.tick()?;
        if std::mem::replace(&mut seen[location], true) || !taken[template][location] {
            continue;
        }
        if outgoing[location].iter().any(|edge| edges.contains(edge)) {
            return Ok(false);
        }
        open.extend(outgoing[location].iter().map(|edge| code.edges[*edge].target));
    }
    Ok(true)
}

/// Whether at most one of some edges is taken, at most once: all are in one template in `once`, and from
/// after them, none is reached.
fn are_alternatives(
    view: &View<'_>,
    sites: &[(TemplateId, EdgeId)],
    taken: &IdVec<TemplateId, IdVec<LocationId, bool>>,
    meter: &mut Meter<'_>,
) -> Result<bool, ProofError> {
    let Some((only, _)) = sites.first() else { return Ok(true) };
    if !view.once[*only] {
        return Ok(false);
    }
    if sites.iter().any(|(template, _)| template != only) {
        return Ok(false);
    }
    let edges: Vec<EdgeId> = sites.iter().map(|(_, edge)| *edge).collect();
    takes_one(view, *only, &edges, taken, meter)
}
