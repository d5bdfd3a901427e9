//! Counters ([`verdict::Counter`]): which cells threads take numbers from, and in which they count
//! themselves.
//!
//! Candidates are cells to which some step adds a constant. Tickets are the greatest solution of a forward
//! analysis of each template; a counter has none if some step may invalidate them. Weights are guessed: 1 at
//! the entry of a thread that decrements the counter, the first value of the counter for the program's first
//! thread, and elsewhere at most what each step leaves.

use crate::coreachable::{Reached, Rules};
use crate::model::{Model, Node, Step};
use ir::ids::Id;
use ir::{
    Assignment, BinaryOp, Count, EdgeId, Expr, IdVec, Initial, Lhs, LocalId, Op, Rhs, Storage, TemplateId,
    Value,
};
use std::collections::{BTreeMap, VecDeque};
use verdict::{Counter, CounterStep};

/// The greatest weight.
const LARGEST_WEIGHT: Value = 8;

/// The equalities of locals at each node.
pub type Equal = IdVec<Node, Vec<(LocalId, Expr)>>;

/// Counters without claims.
pub fn candidates(model: &Model<'_>) -> Vec<Counter> {
    let mut found: Vec<Counter> = Vec::new();
    for op in model.program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
        let Op::Assign(Assignment { pairs, constraint: None }) = op else { continue };
        let [(Lhs::Memory(place), Rhs::Value(value))] = pairs.as_slice() else { continue };
        let (Some((object, offset)), Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..)) =
            (place.as_cell(), value)
        else {
            continue;
        };
        let is_new = !found.iter().any(|known| (known.object, known.offset) == (object, offset));
        if is_new && model.program.objects[object].storage == Storage::Static {
            let (tickets, weights) = (Vec::new(), Vec::new());
            found.push(Counter { object, offset, ty: place.ty, tickets, weights });
        }
    }
    found
}

fn follow(
    model: &Model<'_>,
    counter: &Counter,
    equal: &Equal,
    step: Step,
    tickets: BTreeMap<LocalId, Value>,
    visit: &mut dyn FnMut(&Op, &CounterStep<'_>),
) -> (Option<Value>, Option<Value>, bool, BTreeMap<LocalId, Value>) {
    let edge = model.edge(step);
    let source = model.node(step.template, edge.source);
    let mut state =
        CounterStep::new(model.program, model.points_to, step.template, counter, &equal[source], tickets);
    for op in &edge.ops {
        visit(op, &state);
        state.apply(op);
    }
    (state.now, state.at_most, state.shrinks, state.tickets)
}

/// A thread's tickets before each operation of a step.
pub fn walk_tickets(
    model: &Model<'_>,
    counter: &Counter,
    equal: &Equal,
    step: Step,
    visit: &mut dyn FnMut(&Op, &CounterStep<'_>),
) {
    let source = model.node(step.template, model.edge(step).source);
    follow(model, counter, equal, step, counter.tickets[source.index()].clone(), visit);
}

/// An upper bound on a counter before each step.
pub type Guards = IdVec<TemplateId, IdVec<EdgeId, Option<Value>>>;

/// Adds weights to a counter, if there are useful ones; also returns the bounds that each step implies.
pub fn weigh(
    model: &Model<'_>,
    counter: &mut Counter,
    equal: &Equal,
    rules: &Rules<'_, '_>,
    reached: &Reached,
) -> Option<Guards> {
    let mut changes: Vec<(Step, Option<Value>)> = Vec::new();
    let mut guards: Guards = IdVec::new();
    let mut counts_down: IdVec<TemplateId, bool> = model.program.templates.iter().map(|_| false).collect();
    for (template, code) in model.program.templates.enumerate() {
        let mut here = IdVec::new();
        for edge in code.edges.ids() {
            let step = Step { template, edge };
            let (change, at_most, ..) = follow(model, counter, equal, step, BTreeMap::new(), &mut |_, _| {});
            here.push(at_most);
            let source = model.node(template, code.edges[edge].source);
            if reached.nodes.contains(source.index()) && rules.may_take_alone(step, &reached.pairs) {
                counts_down[template] |= change.is_some_and(|change| change < 0);
                changes.push((step, change));
            }
        }
        guards.push(here);
    }
    let mut weights: Vec<Option<Value>> = model.nodes.iter().map(|_| None).collect();
    for template in model.program.templates.ids().filter(|template| counts_down[*template]) {
        weights[model.entry(template).index()] = Some(1);
    }
    for (template, count) in &model.program.start {
        let first = first_value(model, counter)?;
        let alone = *count == Count::Exactly(1) && model.program.start.len() == 1;
        weights[model.entry(*template).index()] =
            Some(if alone { first.clamp(0, LARGEST_WEIGHT) } else { 0 });
    }
    let entries: Vec<Node> = model.program.templates.ids().map(|id| model.entry(id)).collect();
    for entry in &entries {
        weights[entry.index()].get_or_insert(0);
    }
    let first = weights.clone();
    // Weights only fall, and are not below 0.
    loop {
        let mut changed = false;
        for (step, change) in &changes {
            let source = model.node(step.template, model.edge(*step).source);
            let target = model.target(*step);
            let Some(weight) = weights[source.index()] else { continue };
            let children = rules.spawns(*step).iter();
            let children: Value =
                children.map(|child| weights[model.entry(*child).index()].unwrap_or(0)).sum();
            let left = (weight + (*change)? - children).min(LARGEST_WEIGHT);
            let known = weights[target.index()];
            if left < 0 || (entries.contains(&target) && known.is_some_and(|known| left < known)) {
                return None;
            }
            if known.is_none_or(|known| left < known) {
                weights[target.index()] = Some(left);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let is_useful = guards.iter().any(|guards| guards.iter().any(Option::is_some))
        && first.iter().flatten().any(|weight| *weight > 0);
    counter.weights = weights.into_iter().map(|weight| weight.unwrap_or(0)).collect();
    is_useful.then_some(guards)
}

fn first_value(model: &Model<'_>, counter: &Counter) -> Option<Value> {
    let Initial::Values(values) = &model.program.objects[counter.object].initial else { return None };
    let found = values.iter().find(|(offset, ty, _)| {
        *offset < counter.offset + counter.ty.bytes() && counter.offset < offset + ty.bytes()
    });
    match found {
        None => Some(0),
        Some((offset, ty, Expr::Const(value, _))) if (*offset, *ty) == (counter.offset, counter.ty) => {
            Some(*value)
        }
        Some(_) => None,
    }
}

/// Adds tickets to a counter; says whether there are any.
pub fn find_tickets(
    model: &Model<'_>,
    counter: &mut Counter,
    equal: &Equal,
    rules: &Rules<'_, '_>,
    reached: &Reached,
) -> bool {
    let mut tickets: Vec<Option<BTreeMap<LocalId, Value>>> = model.nodes.iter().map(|_| None).collect();
    let mut queue = VecDeque::new();
    let mut shrinking = Vec::new();
    for template in model.program.templates.ids() {
        tickets[model.entry(template).index()] = Some(BTreeMap::new());
        queue.push_back(model.entry(template));
    }
    while let Some(node) = queue.pop_front() {
        let Some(here) = tickets[node.index()].clone() else { continue };
        for step in &model.steps[node] {
            if !reached.nodes.contains(node.index()) || !rules.may_take_alone(*step, &reached.pairs) {
                continue;
            }
            let (_, _, shrinks, after) = follow(model, counter, equal, *step, here.clone(), &mut |_, _| {});
            if shrinks && !shrinking.contains(step) {
                shrinking.push(*step);
            }
            let target = model.target(*step).index();
            let both = match &tickets[target] {
                None => after,
                Some(known) => {
                    let both =
                        known.iter().filter_map(|(local, step)| Some((*local, *step.min(after.get(local)?))));
                    both.collect()
                }
            };
            if tickets[target].as_ref() != Some(&both) {
                tickets[target] = Some(both);
                queue.push_back(Node::new(target));
            }
        }
    }
    let tickets: Vec<_> = tickets.into_iter().map(Option::unwrap_or_default).collect();
    let is_broken = shrinking.iter().any(|step| {
        let source = model.node(step.template, model.edge(*step).source);
        reached.pairs.related(source.index()).any(|other| {
            !tickets[other].is_empty() && rules.may_take(*step, Node::new(other), &reached.pairs)
        })
    });
    let has_any = !is_broken && tickets.iter().any(|tickets| !tickets.is_empty());
    if has_any {
        counter.tickets = tickets;
    }
    has_any
}
