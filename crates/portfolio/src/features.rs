//! Cheap features of a program, by which the portfolio chooses its order. They affect only the running time.

use ir::{Callee, Count, LocationId, Op, Program, Rhs, TemplateId};
use std::collections::{BTreeMap, BTreeSet};

/// The features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// The program reads inputs.
    pub inputs: bool,
    /// Threads are started in loops or by recursion, or any number of them runs from the start.
    pub many_threads: bool,
}

impl Features {
    /// Computes the features of a program.
    pub fn of(program: &Program) -> Self {
        let any = program.start.iter().any(|(_, count)| *count == Count::Any);
        Self { inputs: has_inputs(program), many_threads: any || starts_in_loops(program) }
    }
}

fn has_inputs(program: &Program) -> bool {
    let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
    ops.any(|op| match op {
        Op::Assign(assignment) => assignment.pairs.iter().any(|(_, rhs)| matches!(rhs, Rhs::Any)),
        _ => false,
    })
}

/// Whether some step that leads to the start of a thread lies on a cycle.
fn starts_in_loops(program: &Program) -> bool {
    // Procedures that start threads, directly or by calls.
    let mut starters: BTreeSet<TemplateId> = BTreeSet::new();
    loop {
        let before = starters.len();
        for (template, code) in program.templates.enumerate() {
            if code.edges.iter().flat_map(|edge| &edge.ops).any(|op| is_start(op, &starters)) {
                starters.insert(template);
            }
        }
        if starters.len() == before {
            break;
        }
    }
    starters.iter().any(|template| {
        let code = &program.templates[*template];
        let mut after: BTreeMap<LocationId, Vec<LocationId>> = BTreeMap::new();
        for edge in &code.edges {
            after.entry(edge.source).or_default().push(edge.target);
        }
        code.edges.iter().filter(|edge| edge.ops.iter().any(|op| is_start(op, &starters))).any(|edge| {
            let mut seen = BTreeSet::from([edge.target]);
            let mut open = vec![edge.target];
            while let Some(at) = open.pop() {
                open.extend(after.get(&at).into_iter().flatten().filter(|next| seen.insert(**next)));
            }
            seen.contains(&edge.source)
        })
    })
}

fn is_start(op: &Op, starters: &BTreeSet<TemplateId>) -> bool {
    match op {
        Op::Spawn(..) => true,
        Op::Call(Callee::Procedure(callee), ..) => starters.contains(callee),
        Op::Call(Callee::Pointer(_), ..) => !starters.is_empty(),
        _ => false,
    }
}
