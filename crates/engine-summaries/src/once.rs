//! What there is at most one of in a whole run: activations of a template, memory of an object.
//!
//! A template is *once* if it is started once and nothing else calls or starts it; or if it is not started, all edges that call or
//! start it are in one template that is *once*, and after none of them can one of them be reached: so at most one of them is taken, at most once.
//! An object is *single* if it is static, belongs to the frame of a template that is *once*, or is allocated by one operation
//! that such a template takes at most once, with the size of one element. Under-approximates.

use ir::ids::Id;
use ir::passes::bits::BitSet;
use ir::{Count, EdgeId, Expr, IdVec, ObjectId, Op, Program, Storage, Template, TemplateId};

/// The templates of which there is at most one activation.
pub fn once_templates(
    program: &Program,
    callees: &IdVec<TemplateId, IdVec<EdgeId, Vec<TemplateId>>>,
) -> IdVec<TemplateId, bool> {
    let mut starts: IdVec<TemplateId, u64> = program.templates.iter().map(|_| 0).collect();
    for (template, count) in &program.start {
        starts[*template] += match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        };
    }
    let mut incoming: IdVec<TemplateId, Vec<(TemplateId, EdgeId)>> =
        program.templates.iter().map(|_| Vec::new()).collect();
    for (template, code) in program.templates.enumerate() {
        for (id, edge) in code.edges.enumerate() {
            for _ in edge.ops.iter().filter(|op| matches!(op, Op::Call(..) | Op::Spawn(..))) {
                callees[template][id].iter().for_each(|callee| incoming[*callee].push((template, id)));
            }
        }
    }
    let mut once: IdVec<TemplateId, bool> = program
        .templates
        .ids()
        .map(|id| {
            let (started, edges) = (starts[id], &incoming[id]);
            (started <= 1 && edges.is_empty()) || (started == 0 && at_most_one(program, edges))
        })
        .collect();
    loop {
        let caller_is_not = |id: &TemplateId| incoming[*id].first().is_some_and(|(caller, _)| !once[*caller]);
        match program.templates.ids().find(|id| once[*id] && caller_is_not(id)) {
            Some(id) => once[id] = false,
            None => return once,
        }
    }
}

/// Whether an activation takes at most one of some edges, at most once, and they are all in one template.
fn at_most_one(program: &Program, edges: &[(TemplateId, EdgeId)]) -> bool {
    let Some((only, _)) = edges.first() else { return true };
    let in_one = edges.iter().all(|(template, _)| template == only);
    let ids: Vec<EdgeId> = edges.iter().map(|(_, edge)| *edge).collect();
    in_one && alternatives(&program.templates[*only], &ids)
}

/// Whether an activation takes at most one of some edges, at most once. An edge that is listed twice counts twice.
pub fn alternatives(code: &Template, edges: &[EdgeId]) -> bool {
    let mut sources = BitSet::new(code.locations.len());
    let mut taken = BitSet::new(code.edges.len());
    let mut open = Vec::new();
    for edge in edges {
        if !taken.insert(edge.index()) {
            return false;
        }
        sources.insert(code.edges[*edge].source.index());
        open.push(code.edges[*edge].target);
    }
    let outgoing = code.outgoing();
    let mut seen = BitSet::new(code.locations.len());
    while let Some(location) = open.pop() {
        if sources.contains(location.index()) {
            return false;
        }
        if seen.insert(location.index()) {
            open.extend(outgoing[location].iter().map(|edge| code.edges[*edge].target));
        }
    }
    true
}

/// The objects that there is at most one of.
pub fn once_objects(program: &Program, once: &IdVec<TemplateId, bool>) -> IdVec<ObjectId, bool> {
    let mut allocations: IdVec<ObjectId, Vec<(TemplateId, EdgeId, bool)>> =
        program.objects.iter().map(|_| Vec::new()).collect();
    for (template, code) in program.templates.enumerate() {
        for (id, edge) in code.edges.enumerate() {
            for op in &edge.ops {
                if let Op::Allocate { site, size, .. } = op {
                    let is_one = matches!(size, Expr::Const(size, _) if *size > 0 && *size == i128::from(program.objects[*site].size));
                    allocations[*site].push((template, id, is_one));
                }
            }
        }
    }
    let single = program.objects.enumerate().map(|(id, object)| match object.storage {
        Storage::Static => true,
        Storage::Frame(template) => once[template],
        Storage::ThreadLocal => false,
        Storage::Site => match allocations[id].as_slice() {
            [(template, edge, true)] => {
                once[*template] && alternatives(&program.templates[*template], &[*edge])
            }
            _ => false,
        },
    });
    single.collect()
}
