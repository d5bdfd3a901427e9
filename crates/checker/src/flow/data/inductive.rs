//! Checks that the invariants are inductive.
//!
//! From the invariants, every step is taken once. The results for each location are joined, as [`super`] and
//! [`domains::interference`] say, and must be within the invariant there.

use super::Data;
use crate::ProofError;
use crate::flow::knowledge::Steps;
use crate::flow::pairs::Closure;
use crate::flow::view::Node;
use crate::ready::claim;
use domains::{Interference, Interval, Lattice, Number, Octagon, PackId, Relational, Variable, Written};
use verdict::{Budget, CellFlows, FlowSubject, Reach};

/// Checks that the invariants are inductive.
pub fn check_inductive(
    data: &Data<'_, '_>,
    closure: &Closure<'_, '_>,
    steps: &Steps,
    budget: &Budget,
) -> Result<(), ProofError> {
    let view = data.view;
    let count = view.nodes.len();
    // The results of own steps, and the effects of other threads.
    let mut own: Vec<Relational<Variable>> = vec![Relational::bottom(); count];
    let mut others: Vec<Interference> = vec![Interference::default(); count];
    let subjects: Vec<Subject> =
        data.proof.flows.iter().map(|flows| data.subject(flows)).collect::<Result<_, _>>()?;
    for (template, _) in &view.program.start {
        let entry = view.entry(*template);
        own[entry] = own[entry].join(&data.scope(*template).start());
    }
    for (flows, subject) in data.proof.flows.iter().zip(&subjects) {
        let initial = |cell: Variable| data.memory.cell(cell).map_or(Number::TOP, |cell| cell.initial);
        let first = subject.values(initial, |_, cells| {
            let intervals: Vec<Interval> = cells.iter().map(|cell| initial(*cell).interval()).collect();
            Octagon::from_intervals(&intervals)
        });
        reached(&flows.first, |node| first.add_to(&mut others[node]));
        // A cell that no definition reaches has no value.
        let nothing = subject.values(|_| Number::BOTTOM, |_, cells| Octagon::bottom(cells.len()));
        others.iter_mut().for_each(|others| nothing.add_to(others));
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
            let scope = data.scope(template);
            let after = data.after(source, *edge);
            own[target] = own[target].join(&after.environment);
            for child in &after.started {
                let entry = view.entry(child.template);
                own[entry] = own[entry].join(&data.scope(child.template).started(child, &after));
            }
            let touches = scope.touches(*edge, &data.equal[source]);
            let written: Vec<Variable> =
                touches.writes.into_iter().filter(|cell| data.memory.is_shared(*cell)).collect();
            let value = |cell: Variable| after.environment.numbers.get(cell).copied().unwrap_or(Number::TOP);
            let left = |pack: PackId| after.environment.octagon(scope.packs(), pack);
            if !written.is_empty() {
                let shift = |cell: &Variable| after.shifts.get(cell).copied().unwrap_or(Interval::TOP);
                let writes: Vec<(Variable, Written)> = written
                    .iter()
                    .map(|cell| (*cell, Written { value: value(*cell), shift: shift(cell) }))
                    .collect();
                for other in view.proof.coreachable.related(source) {
                    if !closure.may_take(source, *edge, outcome, other) {
                        continue;
                    }
                    check_copies(data, other, &written)?;
                    others[other].add_writes(&writes);
                    for (pack, cells) in data.memory.shared_packs() {
                        if cells.iter().any(|cell| written.contains(cell)) {
                            others[other].add_left(pack, &left(pack));
                        }
                    }
                }
            }
            for (flows, subject) in data.proof.flows.iter().zip(&subjects) {
                let found = flows.definitions.iter().find(|(by, of, _)| *by == template && of == edge);
                let Some((_, _, reach)) = found else { continue };
                let values = subject.values(value, |pack, _| left(pack));
                reached(reach, |node| values.add_to(&mut others[node]));
            }
        }
    }
    for node in 0..count {
        budget.check(0).map_err(ProofError::TooExpensive)?;
        let found = others[node].arrive(&data.memory, view.nodes[node].0, &own[node], &data.invariants[node]);
        claim(found.less_or_equal(&data.invariants[node]), "an invariant does not follow")?;
    }
    Ok(())
}

/// All locations that a value reaches.
fn reached(reach: &Reach, mut at: impl FnMut(Node)) {
    for (node, alone) in reach.alone.iter().enumerate() {
        if *alone {
            at(node);
        }
        reach.pairs.related(node).for_each(&mut at);
    }
}

/// A cell or a pack whose data flow is tracked.
pub(super) enum Subject {
    Cell(Variable),
    Pack(PackId, Vec<Variable>),
}

/// Values of one.
enum Values {
    Cell(Variable, Number),
    Pack(PackId, Octagon),
}

impl Subject {
    pub(super) fn cells(self) -> Vec<Variable> {
        match self {
            Self::Cell(cell) => vec![cell],
            Self::Pack(_, cells) => cells,
        }
    }
    fn values(
        &self,
        value: impl Fn(Variable) -> Number,
        left: impl Fn(PackId, &[Variable]) -> Octagon,
    ) -> Values {
        match self {
            Self::Cell(cell) => Values::Cell(*cell, value(*cell)),
            Self::Pack(pack, cells) => Values::Pack(*pack, left(*pack, cells)),
        }
    }
}

impl Values {
    fn add_to(&self, others: &mut Interference) {
        match self {
            Self::Cell(cell, value) => others.add_latest(*cell, value),
            Self::Pack(pack, octagon) => others.add_latest_left(*pack, octagon),
        };
    }
}

impl Data<'_, '_> {
    /// The subject of a data flow.
    pub(super) fn subject(&self, flows: &CellFlows) -> Result<Subject, ProofError> {
        match flows.subject {
            FlowSubject::Cell(cell) => Ok(Subject::Cell(Variable(cell))),
            FlowSubject::Pack(pack) => {
                let found = self.memory.shared_packs().find(|(known, _)| *known == PackId(pack));
                found.map(|(pack, cells)| Subject::Pack(pack, cells.to_vec())).ok_or_else(|| {
                    ProofError::Claim("the data flow of a pack that does not exist".to_owned())
                })
            }
        }
    }
}

/// Checks that writes of another thread change nothing that an equality at a location loads.
fn check_copies(data: &Data<'_, '_>, node: Node, writes: &[Variable]) -> Result<(), ProofError> {
    let scope = data.scope(data.view.nodes[node].0);
    let broken = data.proof.copies[node]
        .iter()
        .any(|(_, value)| scope.loads(value).iter().any(|cell| writes.contains(cell)));
    claim(!broken, "another thread may break an equality")
}
