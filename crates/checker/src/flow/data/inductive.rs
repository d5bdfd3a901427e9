//! Whether the invariants are inductive.
//!
//! From the invariants, all steps are taken once. What comes out is joined for each location, in the three ways that [`super`] names, and must be inside the invariant there.

use super::Data;
use crate::ProofError;
use crate::flow::claim;
use crate::flow::knowledge::Steps;
use crate::flow::pairs::Closure;
use crate::flow::view::Node;
use domains::{Lattice, Number, Numbers, Variable};
use std::collections::{BTreeMap, BTreeSet};
use verdict::Budget;

/// Checks that the invariants are inductive.
pub fn check_inductive(
    data: &Data<'_, '_>,
    closure: &Closure<'_, '_>,
    steps: &Steps,
    budget: &Budget,
) -> Result<(), ProofError> {
    let view = data.view;
    let count = view.nodes.len();
    let followed: BTreeSet<Variable> = data.proof.flows.iter().map(|flows| Variable(flows.cell)).collect();
    // What the own steps, writes of others, and definitions leave behind.
    let mut own: Vec<Numbers<Variable>> = vec![Numbers::bottom(); count];
    let mut foreign: Vec<BTreeMap<Variable, Number>> = vec![BTreeMap::new(); count];
    let mut latest: Vec<BTreeMap<Variable, Number>> = vec![BTreeMap::new(); count];
    let add = |to: &mut BTreeMap<Variable, Number>, cell: Variable, value: &Number| {
        let known = to.entry(cell).or_insert(Number::BOTTOM);
        *known = known.join(value);
    };
    for (template, _) in &view.program.start {
        let scope = data.scope(*template);
        let mut environment = scope.entry(&[]);
        scope.first_values(&mut environment);
        let entry = view.entry(*template);
        own[entry] = own[entry].join(&environment);
    }
    for (source, steps) in steps.iter().enumerate() {
        budget.check(0).map_err(ProofError::TooExpensive)?;
        for (edge, outcome) in steps {
            let target = closure.target(source, *edge);
            // Nothing happens once the program has ended.
            if view.halts(target)
                || !view.proof.reachable[source]
                || !closure.may_take_alone(source, *edge, outcome)
            {
                continue;
            }
            let template = view.nodes[source].0;
            let after = data.after(source, *edge);
            own[target] = own[target].join(&after.environment);
            for child in &after.started {
                let mut environment = data.scope(child.template).entry(&child.arguments);
                for (cell, _) in data.memory.cells().filter(|(cell, _)| data.memory.is_shared(*cell)) {
                    if let Some(value) = after.environment.get(cell) {
                        environment.set(cell, *value);
                    }
                }
                let entry = view.entry(child.template);
                own[entry] = own[entry].join(&environment);
            }
            let touches = data.scope(template).touches(*edge, &data.equal[source]);
            let writes: Vec<Variable> =
                touches.writes.into_iter().filter(|cell| data.memory.is_shared(*cell)).collect();
            let value = |cell: Variable| after.environment.get(cell).copied().unwrap_or(Number::TOP);
            if !writes.is_empty() {
                for other in view.proof.coreachable.related(source) {
                    if closure.may_take(source, *edge, outcome, other) {
                        check_copies(data, other, &writes)?;
                        writes.iter().for_each(|cell| add(&mut foreign[other], *cell, &value(*cell)));
                    }
                }
            }
            for flows in &data.proof.flows {
                let cell = Variable(flows.cell);
                let found = flows.definitions.iter().find(|(by, of, _)| *by == template && of == edge);
                let Some((_, _, reach)) = found else { continue };
                for node in 0..count {
                    if reach.alone[node] {
                        add(&mut latest[node], cell, &value(cell));
                    }
                    for other in reach.pairs.related(node) {
                        add(&mut latest[other], cell, &value(cell));
                    }
                }
            }
        }
    }
    for flows in &data.proof.flows {
        let cell = Variable(flows.cell);
        let Some(initial) = data.memory.cell(cell).map(|cell| cell.initial) else { continue };
        for node in 0..count {
            if flows.first.alone[node] {
                add(&mut latest[node], cell, &initial);
            }
            for other in flows.first.pairs.related(node) {
                add(&mut latest[other], cell, &initial);
            }
        }
    }
    for node in 0..count {
        let mut found = own[node].clone();
        for (cell, value) in &foreign[node] {
            if let Some(mine) = found.get(*cell).copied() {
                found.set(*cell, mine.join(value));
            }
        }
        for cell in &followed {
            let value = latest[node].get(cell).copied().unwrap_or(Number::BOTTOM);
            let mine = found.get(*cell).copied().unwrap_or(Number::TOP);
            found.set(*cell, mine.meet(&value));
        }
        claim(found.less_or_equal(&data.invariants[node]), "an invariant does not follow")?;
    }
    Ok(())
}

/// Checks that writes of another thread change nothing that an equality at a location loads.
fn check_copies(data: &Data<'_, '_>, node: Node, writes: &[Variable]) -> Result<(), ProofError> {
    let scope = data.scope(data.view.nodes[node].0);
    let broken = data.proof.copies[node]
        .iter()
        .any(|(_, value)| scope.loads(value).iter().any(|cell| writes.contains(cell)));
    claim(!broken, "another thread may break an equality")
}
