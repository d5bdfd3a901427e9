//! Branches that lead towards races: to accesses of the requested variables, and to changes of variables that
//! decide whether these accesses happen.
//!
//! A branch counts if it leads there, within its procedure or by calls, and another branch at the same place
//! does not. A heuristic: omissions only cost time.

use executions::model::Model;
use ir::ids::Id;
use ir::passes::Forgetting;
use ir::{Callee, EdgeId, IdVec, LocationId, ObjectId, Op, Range, TemplateId};
use std::collections::BTreeSet;

/// What counts.
pub struct Relevance {
    /// Which branches do.
    branches: IdVec<TemplateId, Vec<bool>>,
    /// The variables that are asked about, and those that decide.
    pub deciding: BTreeSet<ObjectId>,
}

impl Relevance {
    /// For races on some ranges.
    pub fn of(model: &Model<'_>, forgetting: &Forgetting, ranges: &[Range]) -> Self {
        let program = model.machine.program;
        let asked: BTreeSet<ObjectId> = ranges.iter().map(|range| range.object).collect();
        let mut deciding = asked.clone();
        deciding.extend(asked.iter().flat_map(|object| forgetting.candidates(*object)).flatten());
        let mut branches: IdVec<TemplateId, Vec<bool>> =
            program.templates.iter().map(|code| vec![false; code.edges.len()]).collect();
        for object in &deciding {
            mark(model, *object, asked.contains(object), &mut branches);
        }
        Self { branches, deciding }
    }

    /// Whether a branch counts.
    pub fn counts(&self, template: TemplateId, edge: EdgeId) -> bool {
        self.branches[template][edge.index()]
    }
}

/// Marks the branches that lead to accesses to an object, or to changes of it.
fn mark(model: &Model<'_>, object: ObjectId, reads: bool, branches: &mut IdVec<TemplateId, Vec<bool>>) {
    let program = model.machine.program;
    let touches = |template: TemplateId, location: LocationId| {
        let next = model.facts.footprints.next(template, location);
        next.fixed.iter().any(|touch| touch.object == object && (reads || touch.write))
    };
    let own: IdVec<TemplateId, IdVec<LocationId, bool>> = program
        .templates
        .enumerate()
        .map(|(id, code)| code.locations.ids().map(|location| touches(id, location)).collect())
        .collect();
    // Calls of procedures that lead there do, too.
    let mut leads: IdVec<TemplateId, bool> = own.iter().map(|all| all.iter().any(|one| *one)).collect();
    let calls = |op: &Op, leads: &IdVec<TemplateId, bool>| match op {
        Op::Call(Callee::Procedure(callee), ..) => leads[*callee],
        _ => false,
    };
    loop {
        let more = program.templates.enumerate().find(|(id, code)| {
            !leads[*id] && code.edges.iter().flat_map(|edge| &edge.ops).any(|op| calls(op, &leads))
        });
        let Some((id, _)) = more else { break };
        leads[id] = true;
    }
    for (id, code) in program.templates.enumerate().filter(|(id, _)| leads[*id]) {
        let mut reach = own[id].clone();
        for edge in &code.edges {
            reach[edge.source] |= edge.ops.iter().any(|op| calls(op, &leads));
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for edge in &code.edges {
                if reach[edge.target] && !std::mem::replace(&mut reach[edge.source], true) {
                    changed = true;
                }
            }
        }
        for (edge, step) in code.edges.enumerate() {
            let mut others = model.machine.outgoing[id][step.source].iter();
            branches[id][edge.index()] |=
                reach[step.target] && others.any(|other| !reach[code.edges[*other].target]);
        }
    }
}
