//! The result of the data side as part of a proof.

use super::flows::{FlowSearch, Origin};
use super::invariants::Annotation;
use super::setup::Subject;
use domains::{Lattice, Memory, Number, Packs, Relational, Variable};
use ir::ids::Id;
use verdict::{Bounds, Budget, CellFlows, DataProof, Exhausted, FlowSubject, PackRelation, VariablePacks};

/// A set of integers, in the form of a proof.
pub fn bounds(number: &Number) -> Bounds {
    let (interval, congruence) = (number.interval(), number.congruence());
    Bounds {
        lower: interval.lower().value(),
        upper: interval.upper().value(),
        modulus: congruence.modulus(),
        rest: congruence.remainder(),
        nonzero: number.is_nonzero(),
        addresses: number.addresses(),
    }
}

fn invariant(state: &Relational<Variable>) -> Option<Vec<(u32, Bounds)>> {
    (!state.is_bottom())
        .then(|| state.numbers.iter().map(|(variable, value)| (variable.0, bounds(value))).collect())
}

fn relations(packs: &Packs<Variable>, state: &Relational<Variable>) -> Vec<PackRelation> {
    let mut found = Vec::new();
    for (pack, octagon) in state.octagons.iter() {
        let variable = |(position, negated): (usize, bool)| (packs.variables(pack)[position].0, negated);
        for constraint in octagon.relations() {
            let Some(second) = constraint.second else { continue };
            found.push(PackRelation {
                pack: pack.0,
                first: variable(constraint.first),
                second: variable(second),
                bound: constraint.bound,
            });
        }
    }
    found
}

fn numbers(variables: &[Variable]) -> Vec<u32> {
    variables.iter().map(|variable| variable.0).collect()
}

/// The packs of a program, in the form of a proof.
fn packs(memory: &Memory<'_>) -> VariablePacks {
    let of_template = memory.program.templates.ids().map(|template| {
        let packs = memory.packs(template);
        let own = packs.ids().filter(|pack| !memory.is_shared_pack(*pack));
        own.map(|pack| numbers(packs.variables(pack))).collect()
    });
    VariablePacks {
        shared: memory.shared_packs().map(|(_, cells)| numbers(cells)).collect(),
        of_template: of_template.collect(),
    }
}

/// The annotation and the data flow under it.
pub fn evidence(
    search: &FlowSearch<'_, '_, '_>,
    annotation: &Annotation,
    followed: &[Subject],
    budget: &Budget,
) -> Result<DataProof, Exhausted> {
    let setup = search.setup;
    let mut invariants = Vec::new();
    let mut relations_found = Vec::new();
    for (node, state) in annotation.values.enumerate() {
        budget.check(0)?;
        let reached = search.reached.nodes.contains(node.index()) && !state.is_bottom();
        invariants.push(if reached { invariant(state) } else { None });
        let packs = setup.memory.packs(setup.model.nodes[node].0);
        relations_found.push(if reached { relations(packs, state) } else { Vec::new() });
    }
    let mut flows = Vec::new();
    for subject in followed {
        let mut definitions = Vec::new();
        let of_subject =
            setup.definitions.iter().enumerate().filter(|(_, definition)| definition.subject == *subject);
        for (id, definition) in of_subject {
            let reach = search.reach(Origin::Definition(id), budget)?;
            definitions.push((definition.step.template, definition.step.edge, reach));
        }
        let first = search.reach(Origin::First(*subject), budget)?;
        let subject = match subject {
            Subject::Cell(cell) => FlowSubject::Cell(cell.0),
            Subject::Pack(pack) => FlowSubject::Pack(pack.0),
        };
        flows.push(CellFlows { subject, first, definitions });
    }
    Ok(DataProof {
        invariants,
        copies: annotation.copies.iter().cloned().collect(),
        packs: packs(&setup.memory),
        relations: relations_found,
        flows,
    })
}
