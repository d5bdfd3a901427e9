//! The checks of a program, which of them are open, and why.

use crate::coreachable::Reached;
use crate::data::DataFacts;
use crate::data::coarsen::Coarsened;
use crate::data::setup::Setup;
use crate::model::{Model, Node, Step};
use crate::names::Names;
use domains::{Lattice, Number, Variable};
use ir::ids::Id;
use ir::{ErrorKind, Expr, Lhs, LocationKind, Op, Rhs, Span};
use std::collections::BTreeSet;
use verdict::OpenCheck;

/// All steps to error locations of some kinds.
pub fn checks(model: &Model<'_>, kinds: &BTreeSet<ErrorKind>) -> Vec<Step> {
    let is_error =
        |node: Node| matches!(model.location(node).kind, LocationKind::Error(kind) if kinds.contains(&kind));
    let steps = model.nodes.ids().flat_map(|node| model.steps[node].iter().copied());
    steps.filter(|step| is_error(model.target(*step))).collect()
}

/// The number of checks: the steps from one line to one error location count as one.
pub fn errors(model: &Model<'_>, steps: &[Step]) -> usize {
    let check = |step: &Step| (model.target(*step), Span { column: 0, ..model.edge(*step).span });
    steps.iter().map(check).collect::<BTreeSet<(Node, Span)>>().len()
}

/// The steps that are not excluded.
pub fn open(model: &Model<'_>, checks: &[Step], reached: &Reached, data: &dyn DataFacts) -> Vec<Step> {
    let may_be_taken = |step: &&Step| {
        let source = model.node(step.template, model.edge(**step).source);
        reached.nodes.contains(source.index())
            && reached.nodes.contains(model.target(**step).index())
            && data.may_take(**step, None)
    };
    checks.iter().filter(may_be_taken).copied().collect()
}

/// Open checks, with the facts about the variables that they depend on.
pub fn explained(setup: &Setup<'_, '_>, coarsened: &Coarsened, open: &[Step]) -> Vec<OpenCheck> {
    let names = Names::new(setup);
    let explain = |step: &Step| OpenCheck {
        span: setup.model.edge(*step).span,
        step: Some((step.template, step.edge)),
        objects: Vec::new(),
        why: why(setup, coarsened, &names, *step),
    };
    open.iter().map(explain).collect()
}

/// What is known of the variables that decide whether a step is taken, as far as the source names them.
fn why(setup: &Setup<'_, '_>, coarsened: &Coarsened, names: &Names<'_, '_, '_>, step: Step) -> String {
    let scope = setup.scope(step.template);
    let node = setup.source(step);
    let mut variables: BTreeSet<Variable> = BTreeSet::new();
    let mut open: Vec<&Expr> = Vec::new();
    let mut assigned: Vec<(ir::LocalId, &Expr)> = Vec::new();
    for op in &setup.model.edge(step).ops {
        match op {
            Op::Assume(condition) => open.push(condition),
            Op::Assign(assignment) => {
                open.extend(&assignment.constraint);
                for (lhs, rhs) in &assignment.pairs {
                    if let (Lhs::Local(local), Rhs::Value(value)) = (lhs, rhs) {
                        assigned.push((*local, value));
                    }
                }
            }
            Op::Lock(..) | Op::Unlock(..) | Op::Spawn(..) | Op::Join(..) | Op::Allocate { .. } => {}
            Op::Free(_) | Op::Fill(..) | Op::Copy(..) | Op::Call(..) | Op::Broadcast(_) => {}
        }
    }
    // A temporary stands for what it was computed from.
    let mut seen: BTreeSet<ir::LocalId> = BTreeSet::new();
    while let Some(expr) = open.pop() {
        variables.extend(scope.loads(expr));
        let mut locals = Vec::new();
        expr.walk(&mut |inner| {
            if let Expr::Local(local) = inner {
                locals.push(*local);
            }
        });
        for local in locals.into_iter().filter(|local| seen.insert(*local)) {
            if assigned.iter().all(|(known, _)| *known != local) {
                variables.insert(setup.memory.local(local));
            }
            let equal = coarsened.annotation.equal[node].iter().filter(|(known, _)| *known == local);
            open.extend(equal.map(|(_, value)| value));
            open.extend(assigned.iter().filter(|(known, _)| *known == local).map(|(_, value)| *value));
        }
    }
    let values = &coarsened.annotation.values[node];
    let (mut known, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for variable in variables {
        let Some(name) = names.variable(step.template, variable) else { continue };
        let ty = match (setup.memory.cell(variable), setup.as_local(variable)) {
            (Some(cell), _) => cell.ty,
            (None, Some(local)) => setup.model.program.templates[step.template].locals[local].ty,
            (None, None) => continue,
        };
        let value = values.numbers.get(variable).copied().unwrap_or(Number::TOP).meet(&Number::of_type(ty));
        match verdict::known_text(&name, &crate::data::evidence::bounds(&value), ty) {
            Some(text) => known.insert(text),
            None => unknown.insert(name),
        };
    }
    let list = |texts: BTreeSet<String>| texts.into_iter().collect::<Vec<_>>().join(", ");
    match (known.is_empty(), unknown.is_empty()) {
        (false, _) => format!("all that is known: {}", list(known)),
        (true, false) => format!("nothing is known of {}", list(unknown)),
        (true, true) => "what it depends on is not tracked".to_owned(),
    }
}
