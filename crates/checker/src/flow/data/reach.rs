//! Checks that the data flow in a proof is closed.
//!
//! For each cell that the proof tracks: a definition that may be taken reaches its target, together with all
//! locations that other threads may be at. From there, each step that is no definition of the cell propagates
//! it, and started threads see it. A step may be omitted only if it cannot be taken, or if it joins a thread
//! that cannot have ended while the definition is the latest, because the relation contains no end of that
//! thread's template. A pair may be omitted only if the proof does not relate it at all.

use super::Data;
use crate::ProofError;
use crate::flow::knowledge::{Outcome, Steps};
use crate::flow::pairs::Closure;
use crate::flow::view::Node;
use crate::ready::claim;
use ir::{Count, EdgeId, TemplateId};
use std::collections::BTreeSet;
use verdict::{Budget, CellFlows, Reach};

struct Spread<'x, 'v, 'a> {
    data: &'x Data<'v, 'a>,
    closure: &'x Closure<'v, 'a>,
    steps: &'x Steps,
    definitions: &'x BTreeSet<(TemplateId, EdgeId)>,
    reach: &'x Reach,
    /// Whether the first of each pair is the thread that made the definition.
    has_owner: bool,
}

/// Checks that the proof contains all possible data flow.
pub fn check_flows(
    data: &Data<'_, '_>,
    closure: &Closure<'_, '_>,
    steps: &Steps,
    budget: &Budget,
) -> Result<(), ProofError> {
    let view = data.view;
    for flows in &data.proof.flows {
        let cells = data.subject(flows)?.cells();
        let shared = cells.iter().all(|cell| data.memory.is_shared(*cell));
        claim(shared, "the data flow of something that is not shared")?;
        let definitions: BTreeSet<(TemplateId, EdgeId)> =
            flows.definitions.iter().map(|(template, edge, _)| (*template, *edge)).collect();
        claim(definitions.len() == flows.definitions.len(), "a definition stands twice")?;
        for (node, steps) in steps.iter().enumerate() {
            let template = view.nodes[node].0;
            for (edge, _) in steps {
                let touches = data.scope(template).touches(*edge, &data.equal[node]);
                let written = cells.iter().any(|cell| touches.writes.contains(cell));
                claim(!written || definitions.contains(&(template, *edge)), "a definition is missing")?;
            }
        }
        check_cell(data, closure, steps, flows, &definitions, budget)?;
    }
    Ok(())
}

fn check_cell(
    data: &Data<'_, '_>,
    closure: &Closure<'_, '_>,
    steps: &Steps,
    flows: &CellFlows,
    definitions: &BTreeSet<(TemplateId, EdgeId)>,
    budget: &Budget,
) -> Result<(), ProofError> {
    let view = data.view;
    let count = view.nodes.len();
    let fits = |reach: &Reach| reach.alone.len() == count && reach.pairs.bound() == count;
    let all = flows.definitions.iter().map(|(_, _, reach)| reach);
    claim(all.chain([&flows.first]).all(fits), "the proof is about another program")?;
    let spread = |reach, has_owner| Spread { data, closure, steps, definitions, reach, has_owner };
    let first = spread(&flows.first, false);
    let mut entries: Vec<Node> = Vec::new();
    for (template, copies) in &view.program.start {
        let copies = match copies {
            Count::Exactly(copies) => (*copies).min(2),
            Count::Any => 2,
        };
        entries.extend(std::iter::repeat_n(view.entry(*template), copies as usize));
    }
    for (index, entry) in entries.iter().enumerate() {
        first.alone(*entry)?;
        for other in &entries[..index] {
            first.pair(*entry, *other)?;
        }
    }
    first.check_steps(budget)?;
    for (template, edge, reach) in &flows.definitions {
        let spread = spread(reach, true);
        let Some(code) = view.program.templates.get(*template) else {
            return claim(false, "a definition does not exist");
        };
        let Some(step) = code.edges.get(*edge) else { return claim(false, "a definition does not exist") };
        let source = view.node(*template, step.source);
        let Some((_, outcome)) = steps[source].iter().find(|(known, _)| known == edge) else {
            return claim(false, "a definition does not exist");
        };
        let target = closure.target(source, *edge);
        if view.proof.reachable[source] && closure.may_take_alone(source, *edge, outcome) {
            spread.alone(target)?;
            for child in &outcome.started {
                spread.pair(target, view.entry(*child))?;
            }
        }
        for other in view.proof.coreachable.related(source) {
            if closure.may_take(source, *edge, outcome, other) {
                spread.pair(target, other)?;
            }
        }
        spread.check_steps(budget)?;
    }
    Ok(())
}

impl Spread<'_, '_, '_> {
    fn alone(&self, node: Node) -> Result<(), ProofError> {
        claim(self.reach.alone[node] || self.data.view.halts(node), "a data flow is missing")
    }

    fn pair(&self, owner: Node, other: Node) -> Result<(), ProofError> {
        let there = self.reach.pairs.contains(owner, other)
            && (self.has_owner || self.reach.pairs.contains(other, owner));
        // Other rules have shown that pairs which the proof does not relate are impossible.
        let impossible = !self.data.view.proof.coreachable.contains(owner, other);
        claim(there || impossible, "a data flow is missing")
    }

    /// Whether the threads that a step joins may have ended, as far as is known relative to these locations.
    fn ended(&self, outcome: &Outcome, relative: &[Node]) -> bool {
        let view = self.data.view;
        outcome.joined.iter().all(|joined| {
            if let Some(node) = relative.iter().find(|node| view.nodes[**node].0 == *joined) {
                return view.has_ended(*node);
            }
            let mut ends = view.ends(*joined);
            ends.any(|end| relative.iter().all(|node| self.reach.pairs.contains(*node, end)))
        })
    }

    /// The steps from a node that are not definitions.
    fn keeping(&self, node: Node) -> impl Iterator<Item = (EdgeId, &Outcome)> {
        let template = self.data.view.nodes[node].0;
        let steps = self.steps[node].iter();
        let keeping = steps.filter(move |(edge, _)| !self.definitions.contains(&(template, *edge)));
        keeping.map(|(edge, outcome)| (*edge, outcome))
    }

    fn check_steps(&self, budget: &Budget) -> Result<(), ProofError> {
        let view = self.data.view;
        for node in 0..view.nodes.len() {
            budget.check(0).map_err(ProofError::TooExpensive)?;
            if self.reach.alone[node] {
                for (edge, outcome) in self.keeping(node) {
                    self.check_alone(node, edge, outcome)?;
                }
            }
            for other in self.reach.pairs.related(node) {
                for (edge, outcome) in self.keeping(node) {
                    self.check_owner(node, edge, outcome, other)?;
                }
                if self.has_owner {
                    for (edge, outcome) in self.keeping(other) {
                        self.check_other(node, other, edge, outcome)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn check_alone(&self, node: Node, edge: EdgeId, outcome: &Outcome) -> Result<(), ProofError> {
        let view = self.data.view;
        if !self.closure.may_take_alone(node, edge, outcome) || !self.ended(outcome, &[node]) {
            return Ok(());
        }
        let target = self.closure.target(node, edge);
        if view.halts(target) {
            return Ok(());
        }
        self.alone(target)?;
        for (index, child) in outcome.started.iter().enumerate() {
            let entry = view.entry(*child);
            self.pair(target, entry)?;
            if !self.has_owner {
                self.alone(entry)?;
                for sibling in &outcome.started[..index] {
                    self.pair(entry, view.entry(*sibling))?;
                }
            }
        }
        Ok(())
    }

    /// A step of the first thread of a pair. Without an owner, both orders of each pair are present, so this
    /// suffices.
    fn check_owner(
        &self,
        node: Node,
        edge: EdgeId,
        outcome: &Outcome,
        other: Node,
    ) -> Result<(), ProofError> {
        let relative: &[Node] = if self.has_owner { &[node] } else { &[node, other] };
        if !self.may_step(node, edge, outcome, other, relative) {
            return Ok(());
        }
        let view = self.data.view;
        let target = self.closure.target(node, edge);
        if view.halts(target) {
            return Ok(());
        }
        self.pair(target, other)?;
        if !self.has_owner {
            for child in &outcome.started {
                self.pair(view.entry(*child), other)?;
            }
        }
        Ok(())
    }

    /// A step of the thread that did not make the definition.
    fn check_other(
        &self,
        owner: Node,
        node: Node,
        edge: EdgeId,
        outcome: &Outcome,
    ) -> Result<(), ProofError> {
        if !self.may_step(node, edge, outcome, owner, &[owner]) {
            return Ok(());
        }
        let view = self.data.view;
        let target = self.closure.target(node, edge);
        if view.halts(target) {
            return Ok(());
        }
        self.pair(owner, target)?;
        for child in &outcome.started {
            self.pair(owner, view.entry(*child))?;
        }
        Ok(())
    }

    fn may_step(&self, node: Node, edge: EdgeId, outcome: &Outcome, other: Node, relative: &[Node]) -> bool {
        let view = self.data.view;
        if !self.closure.may_take(node, edge, outcome, other) {
            return false;
        }
        if outcome.joined.contains(&view.nodes[other].0) {
            return view.has_ended(other);
        }
        self.ended(outcome, relative)
    }
}
