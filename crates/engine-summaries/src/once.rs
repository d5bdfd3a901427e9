//! What there is at most one of in a whole run: activations of a template, memory of an object.
//!
//! A template is *once* if it is started once and nothing else calls or starts it; or if it is not started,
//! all edges that call or start it are in one template that is *once*, and after none of them can one of
//! them be reached: so at most one of them is taken, at most once. A procedure that calls or starts what
//! its parameter points to, at most once, counts as its callers do that may pass the template. An object is
//! *single* if it is static, belongs to the frame of a template that is *once*, or is allocated by one
//! operation that such a template takes at most once, with the size of one element. Under-approximates.

use ir::ids::Id;
use ir::passes::PointsTo;
use ir::passes::bits::BitSet;
use ir::{Callee, Count, EdgeId, Expr, IdVec, LocalId, ObjectId, Op, Program, Storage, Template, TemplateId};
use std::collections::BTreeSet;

/// So many procedures that pass a template on are looked through.
const MOST_WRAPPERS: usize = 6;

/// The templates of which there is at most one activation.
pub fn once_templates(program: &Program, points_to: &PointsTo) -> IdVec<TemplateId, bool> {
    let mut starts: IdVec<TemplateId, u64> = program.templates.iter().map(|_| 0).collect();
    for (template, count) in &program.start {
        starts[*template] += match count {
            Count::Exactly(copies) => u64::from(*copies),
            Count::Any => 2,
        };
    }
    let makers = Makers::new(program, points_to);
    let mut makers_of: IdVec<TemplateId, Vec<Vec<(TemplateId, EdgeId)>>> = program
        .templates
        .ids()
        .map(|id| match (starts[id], makers.incoming[id].is_empty()) {
            (0 | 1, true) => vec![Vec::new()],
            (0, false) => {
                makers.sets(id, &starts).into_iter().filter(|set| at_most_one(program, set)).collect()
            }
            (_, _) => Vec::new(),
        })
        .collect();
    loop {
        let once: IdVec<TemplateId, bool> = makers_of.iter().map(|sets| !sets.is_empty()).collect();
        let mut changed = false;
        for sets in makers_of.iter_mut() {
            let before = sets.len();
            sets.retain(|set| set.first().is_none_or(|(caller, _)| once[*caller]));
            changed |= sets.len() < before;
        }
        if !changed {
            return once;
        }
    }
}

/// A step that calls or starts a template.
#[derive(Clone, Copy)]
struct Maker {
    template: TemplateId,
    edge: EdgeId,
    op: usize,
    /// The parameter of its own procedure that says which template it is, if it is one that keeps its value.
    by: Option<LocalId>,
}

/// The steps that call or start templates.
struct Makers<'p> {
    program: &'p Program,
    points_to: &'p PointsTo,
    incoming: IdVec<TemplateId, Vec<Maker>>,
}

impl<'p> Makers<'p> {
    fn new(program: &'p Program, points_to: &'p PointsTo) -> Self {
        let incoming = program.templates.iter().map(|_| Vec::new()).collect();
        let mut makers = Self { program, points_to, incoming };
        for (template, code) in program.templates.enumerate() {
            for (edge, step) in code.edges.enumerate() {
                for (op, operation) in step.ops.iter().enumerate() {
                    let (Op::Call(callee, ..) | Op::Spawn(callee, ..)) = operation else { continue };
                    let (targets, by) = match callee {
                        Callee::Procedure(target) => (vec![*target], None),
                        Callee::Pointer(pointer) => {
                            (points_to.callees(template, pointer), makers.parameter(template, pointer))
                        }
                    };
                    for target in targets {
                        makers.incoming[target].push(Maker { template, edge, op, by });
                    }
                }
            }
        }
        makers
    }

    /// The parameter that an expression is, if it is never assigned.
    fn parameter(&self, template: TemplateId, expr: &Expr) -> Option<LocalId> {
        let Expr::Local(local) = expr else { return None };
        let code = &self.program.templates[template];
        let mut targets = code.edges.iter().flat_map(|edge| &edge.ops).flat_map(Op::targets);
        let is_kept = !targets.any(|lhs| matches!(lhs, ir::Lhs::Local(set) if set == local));
        (local.index() < code.parameters && is_kept).then_some(*local)
    }

    /// Sets of steps such that each activation of a template is made by one of them, and each of them makes
    /// at most one.
    fn sets(&self, template: TemplateId, starts: &IdVec<TemplateId, u64>) -> Vec<Vec<(TemplateId, EdgeId)>> {
        let mut makers = self.incoming[template].clone();
        let mut found = Vec::new();
        for _ in 0..MOST_WRAPPERS {
            found.push(makers.iter().map(|maker| (maker.template, maker.edge)).collect());
            let templates: BTreeSet<TemplateId> = makers.iter().map(|maker| maker.template).collect();
            let Some((wrapper, parameter)) = templates.into_iter().find_map(|wrapper| {
                let here: Vec<&Maker> = makers.iter().filter(|maker| maker.template == wrapper).collect();
                let edges: Vec<EdgeId> = here.iter().map(|maker| maker.edge).collect();
                let by = here.first().and_then(|maker| maker.by)?;
                let is_one = wrapper != template
                    && starts[wrapper] == 0
                    && here.iter().all(|maker| maker.by == Some(by))
                    && alternatives(&self.program.templates[wrapper], &edges);
                is_one.then_some((wrapper, by))
            }) else {
                break;
            };
            makers.retain(|maker| maker.template != wrapper);
            for caller in &self.incoming[wrapper] {
                let step = &self.program.templates[caller.template].edges[caller.edge].ops[caller.op];
                let (Op::Call(_, arguments, _) | Op::Spawn(_, arguments, _)) = step else { continue };
                let Some(argument) = arguments.get(parameter.index()) else { return found };
                if !self.points_to.callees(caller.template, argument).contains(&template) {
                    continue;
                }
                let by = self.parameter(caller.template, argument);
                makers.push(Maker { by, ..*caller });
            }
        }
        found
    }
}

/// Whether an activation takes at most one of some edges, at most once, and they are all in one template.
fn at_most_one(program: &Program, edges: &[(TemplateId, EdgeId)]) -> bool {
    let Some((only, _)) = edges.first() else { return true };
    let in_one = edges.iter().all(|(template, _)| template == only);
    let ids: Vec<EdgeId> = edges.iter().map(|(_, edge)| *edge).collect();
    in_one && alternatives(&program.templates[*only], &ids)
}

/// Whether an activation takes at most one of some edges, at most once. An edge that is listed twice counts
/// twice.
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
