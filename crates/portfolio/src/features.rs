//! Cheap features of a program, by which the portfolio chooses its order. They affect only the running time.

use ir::{Callee, Count, Lhs, LocalId, LocationId, Op, Program, Rhs, TemplateId};
use std::collections::{BTreeMap, BTreeSet};

/// The features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// The program reads inputs, and something depends on them.
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

/// Whether some input is stored in memory, or in a local that is read later.
fn has_inputs(program: &Program) -> bool {
    program.templates.iter().any(|code| {
        let ops = || code.edges.iter().flat_map(|edge| &edge.ops);
        let is_read = |local: LocalId| {
            code.result == Some(local)
                || ops().any(|op| !asks_for(op, local) && op.expressions().iter().any(|e| e.mentions(local)))
        };
        let mut inputs = ops().flat_map(asked);
        inputs.any(|lhs| match lhs {
            Lhs::Local(local) => is_read(*local),
            Lhs::Memory(_) => true,
        })
    })
}

/// Where an operation stores inputs.
fn asked(op: &Op) -> impl Iterator<Item = &Lhs> {
    let pairs = match op {
        Op::Assign(assignment) => assignment.pairs.as_slice(),
        _ => &[],
    };
    pairs.iter().filter(|(_, rhs)| matches!(rhs, Rhs::Any)).map(|(lhs, _)| lhs)
}

/// Whether an operation stores an input in a local. Its constraint is no use of the input.
fn asks_for(op: &Op, local: LocalId) -> bool {
    asked(op).any(|lhs| *lhs == Lhs::Local(local))
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
        let mut behind: BTreeMap<LocationId, Vec<LocationId>> = BTreeMap::new();
        for edge in &code.edges {
            behind.entry(edge.source).or_default().push(edge.target);
        }
        code.edges.iter().filter(|edge| edge.ops.iter().any(|op| is_start(op, &starters))).any(|edge| {
            let mut seen = BTreeSet::from([edge.target]);
            let mut open = vec![edge.target];
            while let Some(at) = open.pop() {
                open.extend(behind.get(&at).into_iter().flatten().filter(|next| seen.insert(**next)));
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
