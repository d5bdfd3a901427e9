//! Checks the claims about counters ([`verdict::Counter`]).
//!
//! * Tickets: none is claimed where threads start. Each possible step leads from the tickets of its source to
//!   those of its target, with increments at least as large. A step that may decrease the counter is not
//!   possible while another thread is at a location where it has tickets.
//! * Weights: the counter's first value is at least the sum of the weights of the locations where the first
//!   threads start. Each possible step adds to the counter at least what it adds to the sum, including the
//!   weights of the entries of threads that it starts.

use super::data::Data;
use super::knowledge::Steps;
use super::pairs::Closure;
use super::view::{Node, View};
use crate::ProofError;
use crate::ready::claim;
use ir::passes::footprint::{Extent, racing_accesses};
use ir::{Count, EdgeId, Expr, Initial, LocalId, Op, Storage, Value};
use std::collections::BTreeMap;
use verdict::{Budget, Counter, CounterStep, TicketAddress};

/// The greatest weight or increment, so that sums of them stay exact.
const LARGEST: Value = 1 << 40;

/// Checks the form of the claims.
pub fn check_shape(view: &View<'_>) -> Result<(), ProofError> {
    for counter in &view.proof.counters {
        let fits = view.program.objects.get(counter.object).is_some_and(|object| {
            object.storage == Storage::Static
                && counter.offset.checked_add(counter.ty.bytes()).is_some_and(|end| end <= object.size)
        });
        let is_for_all = |length: usize| length == 0 || length == view.nodes.len();
        claim(fits, "a counter does not exist")?;
        claim(
            is_for_all(counter.tickets.len()) && is_for_all(counter.weights.len()),
            "the proof is about another program",
        )?;
        let weights = counter.weights.iter().all(|weight| (0..=LARGEST).contains(weight));
        let tickets = counter.tickets.iter().flatten().all(|(_, step)| (1..=LARGEST).contains(step));
        claim(weights && tickets, "a claim of a counter has no meaning")?;
        for (node, tickets) in counter.tickets.iter().enumerate() {
            let code = &view.program.templates[view.nodes[node].0];
            claim(tickets.keys().all(|local| code.locals.get(*local).is_some()), "a fact names nothing")?;
        }
    }
    Ok(())
}

/// The equalities that are known at a node.
pub fn equal<'x>(view: &'x View<'_>, data: Option<&'x Data<'_, '_>>, node: Node) -> &'x [(LocalId, Expr)] {
    data.map_or(&view.facts(node).equal, |data| &data.equal[node])
}

fn follow<'x>(
    view: &'x View<'_>,
    data: Option<&Data<'_, '_>>,
    counter: &'x Counter,
    (node, edge): (Node, EdgeId),
    visit: &mut dyn FnMut(&Op, &CounterStep<'_>),
) -> CounterStep<'x> {
    let template = view.nodes[node].0;
    let tickets = counter.tickets.get(node).cloned().unwrap_or_default();
    let equal = equal(view, data, node);
    let mut step = CounterStep::new(view.program, view.points_to, template, counter, equal, tickets);
    for op in &view.program.templates[template].edges[edge].ops {
        visit(op, &step);
        step.apply(op);
    }
    step
}

/// For each edge from each node, and each counter with weights: the greatest value with which the edge can be
/// taken.
pub fn guards(view: &View<'_>, data: Option<&Data<'_, '_>>) -> Vec<BTreeMap<EdgeId, Vec<(usize, Value)>>> {
    let mut found = Vec::new();
    for node in 0..view.nodes.len() {
        let mut here: BTreeMap<EdgeId, Vec<(usize, Value)>> = BTreeMap::new();
        for (number, counter) in view.proof.counters.iter().enumerate() {
            for edge in view.leaving[node].iter().filter(|_| !counter.weights.is_empty()) {
                let step = follow(view, data, counter, (node, *edge), &mut |_, _| {});
                here.entry(*edge).or_default().extend(step.at_most.map(|most| (number, most)));
            }
        }
        found.push(here);
    }
    found
}

/// Checks all claims of counters.
pub fn check_counters(
    closure: &Closure<'_, '_>,
    data: Option<&Data<'_, '_>>,
    steps: &Steps,
    budget: &Budget,
) -> Result<(), ProofError> {
    let view = closure.view;
    for counter in &view.proof.counters {
        check_start(view, counter)?;
        for (node, steps) in steps.iter().enumerate().filter(|(node, _)| view.proof.reachable[*node]) {
            budget.check(0).map_err(ProofError::TooExpensive)?;
            for (edge, outcome) in steps {
                let target = closure.target(node, *edge);
                if view.halts(target) || !closure.may_take_alone(node, *edge, outcome) {
                    continue;
                }
                let step = follow(view, data, counter, (node, *edge), &mut |_, _| {});
                if let Some(weight) = counter.weights.get(node) {
                    let Some(change) = step.now else { return claim(false, "a counter may be anything") };
                    let children = outcome.started.iter();
                    let children: Value = children.map(|child| counter.weights[view.entry(*child)]).sum();
                    claim(counter.weights[target] + children <= weight + change, "a counter is too low")?;
                }
                if counter.tickets.is_empty() {
                    continue;
                }
                for (local, least) in &counter.tickets[target] {
                    let has = step.tickets.get(local).is_some_and(|step| step >= least);
                    claim(has, "a ticket does not follow")?;
                }
                let mut others = view.proof.coreachable.related(node);
                let breaks = step.shrinks
                    && others.any(|other| {
                        !counter.tickets[other].is_empty() && closure.may_take(node, *edge, outcome, other)
                    });
                claim(!breaks, "a thread may break another one's ticket")?;
            }
        }
    }
    Ok(())
}

fn check_start(view: &View<'_>, counter: &Counter) -> Result<(), ProofError> {
    if !counter.tickets.is_empty() {
        let mut entries = view.program.templates.ids().map(|template| view.entry(template));
        let none = entries.all(|entry| counter.tickets[entry].is_empty());
        claim(none, "something is claimed where a thread starts")?;
    }
    if counter.weights.is_empty() {
        return Ok(());
    }
    let mut sum: Value = 0;
    for (template, count) in &view.program.start {
        let weight = counter.weights[view.entry(*template)];
        match count {
            Count::Exactly(copies) => sum += weight * Value::from(*copies),
            Count::Any => claim(weight == 0, "a counter is too low")?,
        }
    }
    let Initial::Values(values) = &view.program.objects[counter.object].initial else {
        return claim(false, "a counter may be anything");
    };
    let (start, end) = (counter.offset, counter.offset + counter.ty.bytes());
    let mut there =
        values.iter().filter(|(offset, ty, _)| *offset < end && start < offset.saturating_add(ty.bytes()));
    let first = match (there.next(), there.next()) {
        (None, _) => 0,
        (Some((offset, ty, Expr::Const(value, _))), None) if (*offset, *ty) == (start, counter.ty) => *value,
        _ => return claim(false, "a counter may be anything"),
    };
    claim(first >= sum, "a counter is too low")
}

/// The addresses of all accesses of an edge, in terms of tickets.
pub fn by_ticket(
    view: &View<'_>,
    data: Option<&Data<'_, '_>>,
    node: Node,
    edge: EdgeId,
) -> Vec<Vec<(usize, TicketAddress)>> {
    let template = view.nodes[node].0;
    let mut found: Vec<Vec<(usize, TicketAddress)>> = Vec::new();
    for (number, counter) in view.proof.counters.iter().enumerate() {
        let mut place = 0;
        follow(view, data, counter, (node, edge), &mut |op, step| {
            for access in racing_accesses(view.points_to, template, op) {
                found.resize(found.len().max(place + 1), Vec::new());
                found[place].extend(step.address(access.address).map(|address| (number, address)));
                place += 1;
            }
        });
    }
    found
}

/// Whether tickets of one counter separate two accesses.
pub fn have_other_tickets(
    view: &View<'_>,
    (mine, my_bytes): (&[(usize, TicketAddress)], Extent),
    (theirs, their_bytes): (&[(usize, TicketAddress)], Extent),
) -> bool {
    let (Extent::Bytes(my_bytes), Extent::Bytes(their_bytes)) = (my_bytes, their_bytes) else { return false };
    let pointer = view.program.data_model.pointer();
    mine.iter().any(|(counter, address)| {
        theirs.iter().any(|(other, their_address)| {
            counter == other && address.is_apart(my_bytes, their_address, their_bytes, pointer)
        })
    })
}
