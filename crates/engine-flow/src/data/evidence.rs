//! The result of the data side as part of a proof.

use super::flows::{FlowSearch, Origin};
use super::invariants::Annotation;
use domains::{Lattice, Number, Numbers, Variable};
use ir::ids::Id;
use verdict::{Bounds, Budget, CellFlows, DataProof, Exhausted};

/// A set of integers, written down.
pub fn bounds(number: &Number) -> Bounds {
    let (interval, congruence) = (number.interval(), number.congruence());
    Bounds {
        lower: interval.lower().value(),
        upper: interval.upper().value(),
        modulus: congruence.modulus(),
        rest: congruence.remainder(),
        nonzero: number.is_nonzero(),
    }
}

fn invariant(environment: &Numbers<Variable>) -> Option<Vec<(u32, Bounds)>> {
    (!environment.is_bottom())
        .then(|| environment.iter().map(|(variable, value)| (variable.0, bounds(value))).collect())
}

/// The annotation and the data flow under it.
pub fn evidence(
    search: &FlowSearch<'_, '_, '_>,
    annotation: &Annotation,
    followed: &[Variable],
    budget: &Budget,
) -> Result<DataProof, Exhausted> {
    let setup = search.setup;
    let invariants = annotation.values.enumerate().map(|(node, environment)| {
        if search.reached.nodes.contains(node.index()) { invariant(environment) } else { None }
    });
    let invariants = invariants.collect();
    let mut flows = Vec::new();
    for cell in followed {
        let mut definitions = Vec::new();
        for (id, definition) in
            setup.definitions.iter().enumerate().filter(|(_, definition)| definition.cell == *cell)
        {
            let reach = search.reach(Origin::Definition(id), budget)?;
            definitions.push((definition.step.template, definition.step.edge, reach));
        }
        flows.push(CellFlows {
            cell: cell.0,
            first: search.reach(Origin::First(*cell), budget)?,
            definitions,
        });
    }
    Ok(DataProof { invariants, copies: annotation.copies.iter().cloned().collect(), flows })
}
