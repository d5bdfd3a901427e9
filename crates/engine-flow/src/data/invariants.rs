//! The annotation ι (paper 4, section 3.1): a set of values for each variable at each location, inductive for a data flow graph.
//!
//! Over-approximates. For locals and for cells that only their owner changes, ι is the ordinary sequential analysis along the edges. For a shared cell `x` at
//! a location `v`, two bounds hold at once, and ι is what both say:
//!
//! * A: the value is that of the latest definition of `x`, so it is one that a definition with a data flow to `v`, or the first value if it still reaches
//!   `v`, leaves behind (the paper's `IN`).
//! * B: the last step that changed `x` or the thread's location was the thread's own, which leaves its value, or another thread's write of `x` while this
//!   thread was at `v`. So the value is one that an edge to `v`, or a write that may happen while a thread is at `v`, leaves behind. A test by another
//!   thread changes nothing, so it does not count here.
//!
//! Proof that ι describes all states, by induction over the steps: a step's values are in its post-condition, since the state before is described by ι at its source. Both bounds then
//! follow from what the data flow graph contains, see [`super::flows`].
//!
//! The solution is found by a worklist with widening at loops, at entries and at definitions, and improved by a few applications of the equations
//! to all locations at once.
//!
//! Where no data flow to `v` is known yet, only B counts: in early rounds of the loop the graph is not complete. In the end it is for every location that is reached.

use super::copies::{Copies, copies};
use super::flows::FlowGraph;
use super::setup::Setup;
use crate::model::{Node, Step};
use domains::{Lattice, Number, Numbers, Variable};
use ir::ids::Id;
use ir::{Callee, IdVec, Op};
use std::collections::{BTreeMap, BTreeSet};
use verdict::{Budget, Exhausted};

/// How often a value may grow before it is widened.
const PATIENCE: u32 = 3;
/// How often a location that is no loop's head may grow before it is widened.
const LONG_PATIENCE: u32 = 60;
/// How often the result is improved.
const IMPROVEMENTS: usize = 3;

/// The annotation.
pub struct Annotation {
    /// The values at each location.
    pub values: Values,
    /// Equalities at each location, on top of those that hold whatever other threads do.
    pub copies: Copies,
    /// All equalities at each location.
    pub equal: Copies,
}

/// The values of the variables at each location.
pub type Values = IdVec<Node, Numbers<Variable>>;

/// Everything that the equations join.
struct Sides<'s, 'a, 'p> {
    setup: &'s Setup<'a, 'p>,
    /// B, as far as the thread's own edges go.
    own: IdVec<Node, Numbers<Variable>>,
    /// B, as far as other threads' writes go.
    foreign: IdVec<Node, BTreeMap<Variable, Number>>,
    /// A, for the cells whose data flow is followed.
    latest: IdVec<Node, BTreeMap<Variable, Number>>,
}

impl<'s, 'a, 'p> Sides<'s, 'a, 'p> {
    fn new(setup: &'s Setup<'a, 'p>, graph: &'s FlowGraph) -> Self {
        let nodes = setup.model.nodes.len();
        let mut sides = Self {
            setup,

            own: (0..nodes).map(|_| Numbers::bottom()).collect(),
            foreign: (0..nodes).map(|_| BTreeMap::new()).collect(),
            latest: (0..nodes).map(|_| BTreeMap::new()).collect(),
        };
        for (cell, first) in &graph.first {
            let initial = setup.memory.cell(*cell).map_or(Number::TOP, |cell| cell.initial);
            for node in 0..nodes {
                if first.contains(node) {
                    sides.latest[Node::new(node)].insert(*cell, initial);
                }
            }
        }
        // Where a data flow is known, there is no value before one has flown.
        for (id, reach) in graph.reach.iter().enumerate() {
            for node in reach.iter() {
                sides.latest[Node::new(node)].entry(setup.definitions[id].cell).or_insert(Number::BOTTOM);
            }
        }
        sides
    }

    /// What a thread of the start configuration knows at its entry.
    fn starts(&self) -> Vec<(Node, Numbers<Variable>)> {
        let start = self.setup.model.program.start.iter().map(|(template, _)| {
            let scope = self.setup.scope(*template);
            let mut environment = scope.entry(&[]);
            scope.first_values(&mut environment);
            (self.setup.model.entry(*template), environment)
        });
        start.collect()
    }

    /// ι at a location.
    fn annotation(&self, node: Node) -> Numbers<Variable> {
        let mut result = self.own[node].clone();
        for (cell, value) in &self.foreign[node] {
            if let Some(own) = result.get(*cell) {
                let both = own.join(value);
                result.set(*cell, both);
            }
        }
        for (cell, value) in &self.latest[node] {
            let both = result.get(*cell).copied().unwrap_or(Number::TOP).meet(value);
            result.set(*cell, both);
        }
        result
    }
}

/// What is left of the post-condition of a step at its target, and what the threads that it starts know.
fn contributions(
    setup: &Setup<'_, '_>,
    equal: &Copies,
    step: Step,
    before: &Numbers<Variable>,
) -> Option<Contributions> {
    let scope = setup.scope(step.template);
    let after = scope.after(step.edge, &equal[setup.source(step)], before.clone());
    if after.environment.is_bottom() {
        return None;
    }
    let mut there = after.environment.clone();
    let target = setup.model.edge(step).target;
    let dead: Vec<Variable> = there
        .iter()
        .map(|(variable, _)| variable)
        .filter(|variable| {
            setup.as_local(*variable).is_some_and(|local| !setup.is_live(step.template, target, local))
        })
        .collect();
    dead.into_iter().for_each(|variable| there.forget(variable));
    let started = after.started.iter().map(|child| {
        let mut environment = setup.scope(child.template).entry(&child.arguments);
        for cell in &setup.shared {
            if let Some(value) = after.environment.get(*cell) {
                environment.set(*cell, *value);
            }
        }
        (setup.model.entry(child.template), environment)
    });
    let value = |cell: Variable| {
        let whole = setup.memory.cell(cell).map_or(Number::TOP, |cell| Number::of_type(cell.ty));
        after.environment.get(cell).copied().unwrap_or(Number::TOP).meet(&whole)
    };
    let defined = setup.defined_by[step.template][step.edge].iter();
    Some(Contributions {
        defined: defined.map(|id| (*id, value(setup.definitions[*id].cell))).collect(),
        started: started.collect(),
        there,
    })
}

struct Contributions {
    there: Numbers<Variable>,
    started: Vec<(Node, Numbers<Variable>)>,
    defined: Vec<(usize, Number)>,
}

/// The annotation that is inductive for a data flow graph.
pub fn annotate(setup: &Setup<'_, '_>, graph: &FlowGraph, budget: &Budget) -> Result<Annotation, Exhausted> {
    let copies = copies(setup, graph);
    let all =
        copies.enumerate().map(|(node, here)| setup.fixed_equal(node).iter().chain(here).cloned().collect());
    let equal: Copies = all.collect();
    let mut found = solve(setup, graph, &equal, budget)?;
    for _ in 0..IMPROVEMENTS {
        budget.check(0)?;
        let better = improve(setup, graph, &equal, &found);
        let smaller = better.enumerate().all(|(node, value)| value.less_or_equal(&found[node]));
        if !smaller || better.enumerate().all(|(node, value)| *value == found[node]) {
            break;
        }
        let next = improve(setup, graph, &equal, &better);
        if !next.enumerate().all(|(node, value)| value.less_or_equal(&better[node])) {
            break;
        }
        found = better;
    }
    Ok(Annotation { values: found, copies, equal })
}

/// The equations, applied once to all locations.
fn improve(setup: &Setup<'_, '_>, graph: &FlowGraph, equal: &Copies, annotation: &Values) -> Values {
    let mut sides = Sides::new(setup, graph);
    for (node, environment) in sides.starts() {
        sides.own[node] = sides.own[node].join(&environment);
    }
    for (node, here) in annotation.enumerate().filter(|(_, here)| !here.is_bottom()) {
        for step in &setup.model.steps[node] {
            let Some(contributions) = contributions(setup, equal, *step, here) else { continue };
            let target = setup.model.target(*step);
            sides.own[target] = sides.own[target].join(&contributions.there);
            for (entry, environment) in contributions.started {
                sides.own[entry] = sides.own[entry].join(&environment);
            }
            for (id, value) in contributions.defined {
                let cell = setup.definitions[id].cell;
                for node in graph.reach[id].iter() {
                    let known = sides.latest[Node::new(node)].entry(cell).or_insert(Number::BOTTOM);
                    *known = known.join(&value);
                }
                for node in graph.during[id].iter() {
                    let known = sides.foreign[Node::new(node)].entry(cell).or_insert(Number::BOTTOM);
                    *known = known.join(&value);
                }
            }
        }
    }
    annotation.ids().map(|node| sides.annotation(node)).collect()
}

fn solve(
    setup: &Setup<'_, '_>,
    graph: &FlowGraph,
    equal: &Copies,
    budget: &Budget,
) -> Result<Values, Exhausted> {
    let model = setup.model;
    let mut sides = Sides::new(setup, graph);
    let heads = heads(setup);
    let mut grown: IdVec<Node, u32> = model.nodes.iter().map(|_| 0).collect();
    let mut values: Vec<(Number, u32)> = vec![(Number::BOTTOM, 0); setup.definitions.len()];
    let mut queue: BTreeSet<Node> = BTreeSet::new();
    let mut grow =
        |sides: &mut Sides<'_, '_, '_>, node: Node, with: &Numbers<Variable>, queue: &mut BTreeSet<Node>| {
            let before = &sides.own[node];
            let mut joined = before.join(with);
            if joined.less_or_equal(before) {
                return;
            }
            grown[node] += 1;
            let patience = if heads[node] { PATIENCE } else { LONG_PATIENCE };
            if grown[node] > patience {
                joined = before.widen(&joined, &setup.thresholds);
            }
            sides.own[node] = joined;
            queue.insert(node);
        };
    for (node, environment) in sides.starts() {
        grow(&mut sides, node, &environment, &mut queue);
    }
    let mut rounds = 0u64;
    while let Some(node) = queue.pop_first() {
        rounds += 1;
        if rounds.is_multiple_of(64) {
            budget.check(0)?;
        }
        let here = sides.annotation(node);
        if here.is_bottom() {
            continue;
        }
        for step in &model.steps[node] {
            let Some(contributions) = contributions(setup, equal, *step, &here) else { continue };
            grow(&mut sides, model.target(*step), &contributions.there, &mut queue);
            for (entry, environment) in contributions.started {
                grow(&mut sides, entry, &environment, &mut queue);
            }
            for (id, value) in contributions.defined {
                let (known, growth) = &mut values[id];
                let mut joined = known.join(&value);
                if joined.less_or_equal(known) {
                    continue;
                }
                *growth += 1;
                if *growth > PATIENCE {
                    joined = known.widen(&joined, &setup.thresholds);
                }
                *known = joined;
                let cell = setup.definitions[id].cell;
                for (to, set) in
                    [(&mut sides.latest, &graph.reach[id]), (&mut sides.foreign, &graph.during[id])]
                {
                    for node in set.iter().map(Node::new) {
                        let known = to[node].entry(cell).or_insert(Number::BOTTOM);
                        let more = known.join(&joined);
                        if more != *known {
                            *known = more;
                            queue.insert(node);
                        }
                    }
                }
            }
        }
    }
    Ok(model.nodes.ids().map(|node| sides.annotation(node)).collect())
}

/// Where loops are entered, and where threads start that other threads start.
fn heads(setup: &Setup<'_, '_>) -> IdVec<Node, bool> {
    let model = setup.model;
    let mut heads: IdVec<Node, bool> = model.nodes.iter().map(|_| false).collect();
    for code in model.program.templates.iter() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Spawn(Callee::Procedure(child), ..) = op {
                heads[model.entry(*child)] = true;
            }
        }
    }
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks: IdVec<Node, Mark> = model.nodes.iter().map(|_| Mark::New).collect();
    for template in model.program.templates.ids() {
        let mut stack: Vec<(Node, usize)> = vec![(model.entry(template), 0)];
        marks[model.entry(template)] = Mark::Open;
        while let Some((node, next)) = stack.last_mut() {
            let Some(step) = model.steps[*node].get(*next) else {
                marks[*node] = Mark::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            let target = model.target(*step);
            match marks[target] {
                Mark::New => {
                    marks[target] = Mark::Open;
                    stack.push((target, 0));
                }
                Mark::Open => heads[target] = true,
                Mark::Done => {}
            }
        }
    }
    heads
}
