//! Distances from each location of a program to some of its steps, through calls.
//!
//! A heuristic: conditions are ignored, and a pointer to a procedure may point to any whose address is taken.

use ir::semantics::{State, ThreadIndex};
use ir::{Callee, EdgeId, Expr, IdVec, LocationId, LocationKind, Op, Program, Template, TemplateId};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::rc::Rc;

/// A step of a program.
pub(super) type Step = (TemplateId, EdgeId);

/// What a call costs that is not entered, and what returning from one costs.
const CALL: u32 = 5;
const RETURN: u32 = 20;

/// Infinity: the steps are not reachable.
pub(super) const NEVER: u32 = u32::MAX;

/// The call graph.
pub(super) struct Calls {
    /// The procedures that each step may enter.
    callees: IdVec<TemplateId, Vec<(EdgeId, Vec<TemplateId>)>>,
    callers: IdVec<TemplateId, BTreeSet<TemplateId>>,
    /// The edges into each location.
    incoming: IdVec<TemplateId, IdVec<LocationId, Vec<EdgeId>>>,
    /// The procedures whose address is taken.
    pointed: Vec<TemplateId>,
    /// From which locations of each procedure its end can be reached.
    returns: Rc<IdVec<TemplateId, Vec<bool>>>,
}

impl Calls {
    /// Those of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut pointed: BTreeSet<TemplateId> = BTreeSet::new();
        let mut take = |expr: &Expr| {
            expr.walk(&mut |inner| {
                if let Expr::Procedure(template) = inner {
                    pointed.insert(*template);
                }
            });
        };
        for op in program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops) {
            op.expressions().into_iter().for_each(&mut take);
        }
        for object in &program.objects {
            if let ir::Initial::Values(values) = &object.initial {
                values.iter().for_each(|(_, _, value)| take(value));
            }
        }
        let pointed: Vec<TemplateId> = pointed.into_iter().collect();
        let mut callers: IdVec<TemplateId, BTreeSet<TemplateId>> =
            program.templates.iter().map(|_| BTreeSet::new()).collect();
        let mut callees: IdVec<TemplateId, Vec<(EdgeId, Vec<TemplateId>)>> =
            program.templates.iter().map(|_| Vec::new()).collect();
        let mut incoming: IdVec<TemplateId, IdVec<LocationId, Vec<EdgeId>>> = program
            .templates
            .iter()
            .map(|code| code.locations.iter().map(|_| Vec::new()).collect())
            .collect();
        for (template, code) in program.templates.enumerate() {
            for (id, edge) in code.edges.enumerate() {
                incoming[template][edge.target].push(id);
                let Some(Op::Call(callee, arguments, _)) = edge.ops.last() else { continue };
                let entered: Vec<TemplateId> = match callee {
                    Callee::Procedure(callee) => vec![*callee],
                    Callee::Pointer(_) => {
                        let fits =
                            |callee: &&TemplateId| program.templates[**callee].parameters <= arguments.len();
                        pointed.iter().filter(fits).copied().collect()
                    }
                };
                for callee in &entered {
                    callers[*callee].insert(template);
                }
                callees[template].push((id, entered));
            }
        }
        let returns = IdVec::default();
        let mut calls = Self { callees, callers, incoming, pointed, returns: Rc::new(returns) };
        calls.returns = Rc::new(calls.find_returns(program));
        calls
    }

    /// The least fixed point: a step that only calls procedures that do not end leads nowhere.
    fn find_returns(&self, program: &Program) -> IdVec<TemplateId, Vec<bool>> {
        let of = |code: &Template| code.locations.iter().map(|_| false).collect();
        let mut found: IdVec<TemplateId, Vec<bool>> = program.templates.iter().map(of).collect();
        let mut open: BTreeSet<TemplateId> = program.templates.enumerate().map(|(id, _)| id).collect();
        while let Some(template) = open.pop_first() {
            let code = &program.templates[template];
            let entry = code.entry.0 as usize;
            let before = found[template][entry];
            let ends = code.locations.enumerate().filter(|(_, at)| at.kind == LocationKind::End);
            let mut next: Vec<LocationId> = ends.map(|(id, _)| id).collect();
            let mut reached = vec![false; code.locations.len()];
            while let Some(location) = next.pop() {
                if std::mem::replace(&mut reached[location.0 as usize], true) {
                    continue;
                }
                let steps = self.incoming[template][location].iter();
                let passes = |step: &&EdgeId| self.passes(program, &found, template, **step);
                next.extend(steps.filter(passes).map(|step| code.edges[*step].source));
            }
            let is_new = reached[entry] && !before;
            found[template] = reached;
            if is_new {
                open.extend(&self.callers[template]);
            }
        }
        found
    }

    /// Whether a step may be taken to its end.
    fn passes(
        &self,
        program: &Program,
        returns: &IdVec<TemplateId, Vec<bool>>,
        template: TemplateId,
        step: EdgeId,
    ) -> bool {
        let Ok(at) = self.callees[template].binary_search_by_key(&step, |(step, _)| *step) else {
            return true;
        };
        let (_, entered) = &self.callees[template][at];
        let ends = |callee: &TemplateId| returns[*callee][program.templates[*callee].entry.0 as usize];
        entered.is_empty() || entered.iter().any(ends)
    }

    /// The steps that may start a kind of thread.
    pub(super) fn starts_of(&self, program: &Program, kind: TemplateId) -> Vec<Step> {
        let mut found = Vec::new();
        for (template, code) in program.templates.enumerate() {
            for (id, edge) in code.edges.enumerate() {
                let starts = |op: &Op| match op {
                    Op::Spawn(Callee::Procedure(callee), _, _) => *callee == kind,
                    Op::Spawn(Callee::Pointer(_), _, _) => self.pointed.contains(&kind),
                    _ => false,
                };
                if edge.ops.iter().any(starts) {
                    found.push((template, id));
                }
            }
        }
        found
    }
}

/// Distances to some steps.
pub(super) struct Distances {
    /// From each location of each procedure that leads there; empty where none does.
    from: IdVec<TemplateId, Vec<u32>>,
    returns: Rc<IdVec<TemplateId, Vec<bool>>>,
}

impl Distances {
    /// The distances to some steps.
    pub(super) fn to(program: &Program, calls: &Calls, goals: &[Step]) -> Self {
        let goals: BTreeSet<Step> = goals.iter().copied().collect();
        let mut from: IdVec<TemplateId, Vec<u32>> = program.templates.iter().map(|_| Vec::new()).collect();
        let mut open: BTreeSet<TemplateId> = goals.iter().map(|(template, _)| *template).collect();
        while let Some(template) = open.pop_first() {
            let entry = program.templates[template].entry;
            let before = from[template].get(entry.0 as usize).copied().unwrap_or(NEVER);
            let found = within(program, calls, &goals, &from, template);
            let after = found.get(entry.0 as usize).copied().unwrap_or(NEVER);
            from[template] = found;
            if after < before {
                open.extend(&calls.callers[template]);
            }
        }
        Self { from, returns: calls.returns.clone() }
    }

    /// From a location, in its procedure and those that it calls.
    pub(super) fn at(&self, template: TemplateId, location: LocationId) -> u32 {
        self.from[template].get(location.0 as usize).copied().unwrap_or(NEVER)
    }

    /// From where a thread is, also by returning from procedures. `top`: where it is taken to be in the
    /// innermost.
    pub(super) fn of_thread(&self, state: &State, thread: ThreadIndex, top: LocationId) -> u32 {
        let activations = &state.threads[thread].activations;
        let mut returns = 0;
        let mut best = NEVER;
        for (depth, activation) in activations.iter().rev().enumerate() {
            let location = if depth == 0 { top } else { activation.location };
            best = best.min(self.at(activation.template, location).saturating_add(returns));
            if !self.returns[activation.template][location.0 as usize] {
                break;
            }
            returns += RETURN;
        }
        best
    }
}

/// The distances within one procedure, given those from the entries of others (Dijkstra, backwards).
fn within(
    program: &Program,
    calls: &Calls,
    goals: &BTreeSet<Step>,
    from: &IdVec<TemplateId, Vec<u32>>,
    template: TemplateId,
) -> Vec<u32> {
    let code = &program.templates[template];
    let mut distance: Vec<u32> = vec![NEVER; code.locations.len()];
    let mut open: BinaryHeap<(Reverse<u32>, LocationId)> = BinaryHeap::new();
    let reach = |open: &mut BinaryHeap<_>, distance: &mut Vec<u32>, location: LocationId, by: u32| {
        let known = &mut distance[location.0 as usize];
        if by < *known {
            *known = by;
            open.push((Reverse(by), location));
        }
    };
    for (_, edge) in goals.range((template, EdgeId(0))..=(template, EdgeId(u32::MAX))) {
        reach(&mut open, &mut distance, code.edges[*edge].source, 0);
    }
    for (edge, entered) in &calls.callees[template] {
        let entry = |callee: &TemplateId| {
            let entry = program.templates[*callee].entry;
            from[*callee].get(entry.0 as usize).copied().unwrap_or(NEVER)
        };
        let best = entered.iter().map(entry).min().unwrap_or(NEVER);
        if best != NEVER {
            reach(&mut open, &mut distance, code.edges[*edge].source, best.saturating_add(1));
        }
    }
    while let Some((Reverse(by), location)) = open.pop() {
        if by > distance[location.0 as usize] {
            continue;
        }
        for step in &calls.incoming[template][location] {
            if !calls.passes(program, &calls.returns, template, *step) {
                continue;
            }
            let edge = &code.edges[*step];
            let weight = if matches!(edge.ops.last(), Some(Op::Call(..))) { CALL } else { 1 };
            reach(&mut open, &mut distance, edge.source, by.saturating_add(weight));
        }
    }
    distance
}
