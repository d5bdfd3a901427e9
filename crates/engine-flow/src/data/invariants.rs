//! The annotation ι (paper 4, section 3.1): a set of values for each variable at each location, inductive for
//! a data flow graph.
//!
//! Over-approximates. For locals and for cells that only their owner changes, ι is the ordinary sequential
//! analysis along the edges. For a shared cell `x` at a location `v`, two bounds hold at once, and ι is their
//! meet:
//!
//! * A: the value is that of the latest definition of `x`, so it comes from a definition with a data flow to
//!   `v`, or is the first value if it still reaches `v` (the paper's `IN`).
//! * B: the last step that changed `x` or the thread's location was the thread's own, or another thread's
//!   write of `x` while this thread was at `v`. So the value comes from an edge to `v`, or from a write that
//!   may happen while a thread is at `v`. A test by another thread changes nothing, so it does not count
//!   here.
//!
//! Packs of shared cells are treated as cells are (section 5.1), with octagons for values. Other packs, of
//! locals and shared cells, have no data flow of their own: B holds of them with what a write changes, see
//! [`domains::interference`].
//!
//! Proof that ι describes all states, by induction over the steps: a step's values are in its post-condition,
//! since the state before is described by ι at its source. Both bounds then follow from what the data flow
//! graph contains, see [`super::flows`].
//!
//! The solution is found by a worklist with widening at loops, at entries and at definitions, and improved by
//! a few applications of the equations to all locations at once.
//!
//! Where no data flow to `v` is known yet, only B counts: in early rounds of the loop the graph is not
//! complete. In the end it is for every location that is reached.

use super::copies::{Copies, copies};
use super::flows::FlowGraph;
use super::setup::{DefinitionId, Setup, Subject};
use crate::model::{Node, Step};
use domains::{
    Interference, Interval, Lattice, Number, Octagon, PackId, Relational, Thresholds, Variable, Written,
};
use ir::ids::Id;
use ir::{Callee, IdVec, Op};
use std::collections::BTreeSet;
use verdict::{Budget, Exhausted};

/// How often a value may grow before it is widened.
const PATIENCE: u32 = 3;
/// How often a location that is no loop's head may grow before it is widened.
const LONG_PATIENCE: u32 = 60;
/// How often the result is improved.
const IMPROVEMENTS: usize = 3;
/// How often a result that is not inductive is weakened.
const REPAIRS: usize = 8;
/// What one round costs, where steps are counted.
const ROUND: u64 = 20;

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
pub type Values = IdVec<Node, Relational<Variable>>;

/// The values after a definition.
#[derive(Clone)]
enum AfterDefinition {
    Cell(Written),
    Pack(Octagon),
}

impl AfterDefinition {
    /// Joins the result of a step; after some rounds, widens. Says whether it grew.
    fn grow(&mut self, with: &Self, patient: bool, thresholds: &Thresholds) -> bool {
        match (self, with) {
            (Self::Cell(known), Self::Cell(with)) => {
                if with.less_or_equal(known) {
                    return false;
                }
                let both = known.join(with);
                *known = if patient { both } else { known.widen(&both, thresholds) };
                true
            }
            (Self::Pack(known), Self::Pack(with)) => {
                if with.less_or_equal(known) {
                    return false;
                }
                let both = known.join(with);
                *known = if patient { both } else { known.widen(&both, thresholds) };
                true
            }
            (Self::Cell(_), Self::Pack(_)) | (Self::Pack(_), Self::Cell(_)) => false,
        }
    }
}

/// The operands of the joins in the equations.
struct Sides<'s, 'a, 'p> {
    setup: &'s Setup<'a, 'p>,
    graph: &'s FlowGraph,
    given: Option<&'s Values>,
    /// The results of the thread's own edges.
    own: Values,
    /// The results of other threads: their writes for B, and A.
    others: IdVec<Node, Interference>,
    /// The values after each definition, and how often they grew.
    after_definitions: Vec<(AfterDefinition, u32)>,
}

impl<'s, 'a, 'p> Sides<'s, 'a, 'p> {
    fn new(setup: &'s Setup<'a, 'p>, graph: &'s FlowGraph, given: Option<&'s Values>) -> Self {
        let nodes = setup.model.nodes.len();
        let dimension =
            |pack: PackId| setup.memory.shared_packs().nth(pack.index()).map_or(0, |it| it.1.len());
        let nothing = |subject: Subject| match subject {
            Subject::Cell(_) => AfterDefinition::Cell(Written::NONE),
            Subject::Pack(pack) => AfterDefinition::Pack(Octagon::bottom(dimension(pack))),
        };
        let mut sides = Self {
            setup,
            graph,
            given,
            own: (0..nodes).map(|_| Relational::bottom()).collect(),
            others: (0..nodes).map(|_| Interference::default()).collect(),
            after_definitions: setup.definitions.iter().map(|it| (nothing(it.subject), 0)).collect(),
        };
        for (subject, first) in &graph.first {
            let initial = setup.initial(*subject);
            for node in first.iter().map(Node::new) {
                sides.others[node].add_latest_of(*subject, &initial);
            }
        }
        // Where a data flow is known, there is no value before one has flown.
        for (id, reach) in graph.reach.iter().enumerate() {
            let subject = setup.definitions[id].subject;
            for node in reach.iter().map(Node::new) {
                sides.others[node].add_latest_of(subject, &nothing(subject));
            }
        }
        sides
    }

    /// What a thread of the start configuration knows at its entry.
    fn starts(&self) -> Vec<(Node, Relational<Variable>)> {
        let start = self.setup.model.program.start.iter();
        start
            .map(|(template, _)| (self.setup.model.entry(*template), self.setup.scope(*template).start()))
            .collect()
    }

    /// ι at a location.
    fn annotation(&self, node: Node) -> Relational<Variable> {
        let template = self.setup.model.nodes[node].0;
        let memory = &self.setup.memory;
        let result = self.others[node].settle(memory, template, &self.own[node], &self.setup.thresholds);
        match self.given {
            Some(given) if !result.is_bottom() => result.meet(&given[node]).reduced(memory.packs(template)),
            _ => result,
        }
    }

    /// Propagates the values after a definition to all locations that it reaches, or at which threads are
    /// while it happens. `changed` gets the locations that changed.
    fn spread(&mut self, step: Step, grown: &[DefinitionId], mut changed: impl FnMut(Node)) {
        let setup = self.setup;
        let mut writes: Vec<(Variable, Written)> = Vec::new();
        let mut during = None;
        for id in &setup.defined_by[step.template][step.edge] {
            let definition = setup.definitions[*id];
            if let (AfterDefinition::Cell(written), Subject::Cell(cell), true) =
                (&self.after_definitions[*id].0, definition.subject, definition.writes)
            {
                writes.push((cell, *written));
                during = Some(&self.graph.during[*id]);
            }
        }
        for node in during.into_iter().flat_map(|during| during.iter().map(Node::new)) {
            if self.others[node].add_writes(&writes) {
                changed(node);
            }
        }
        for id in grown {
            let subject = setup.definitions[*id].subject;
            for node in self.graph.reach[*id].iter().map(Node::new) {
                if self.others[node].add_latest_of(subject, &self.after_definitions[*id].0) {
                    changed(node);
                }
            }
            if let (AfterDefinition::Pack(octagon), Subject::Pack(pack)) =
                (&self.after_definitions[*id].0, subject)
            {
                for node in self.graph.during[*id].iter().map(Node::new) {
                    if self.others[node].add_left(pack, octagon) {
                        changed(node);
                    }
                }
            }
        }
    }
}

/// Propagates the values after a definition to a location that it reaches.
trait AddLatest {
    fn add_latest_of(&mut self, subject: Subject, left: &AfterDefinition) -> bool;
}

impl AddLatest for Interference {
    fn add_latest_of(&mut self, subject: Subject, left: &AfterDefinition) -> bool {
        match (subject, left) {
            (Subject::Cell(cell), AfterDefinition::Cell(written)) => self.add_latest(cell, &written.value),
            (Subject::Pack(pack), AfterDefinition::Pack(octagon)) => self.add_latest_left(pack, octagon),
            (Subject::Cell(_), AfterDefinition::Pack(_)) | (Subject::Pack(_), AfterDefinition::Cell(_)) => {
                false
            }
        }
    }
}

impl Setup<'_, '_> {
    /// The first values of a subject.
    fn initial(&self, subject: Subject) -> AfterDefinition {
        let value = |cell: Variable| self.memory.cell(cell).map_or(Number::TOP, |cell| cell.initial);
        match subject {
            Subject::Cell(cell) => {
                AfterDefinition::Cell(Written { value: value(cell), shift: Interval::BOTTOM })
            }
            Subject::Pack(pack) => {
                let mut packs = self.memory.shared_packs();
                let cells = packs.nth(pack.index()).map_or(&[][..], |(_, cells)| cells);
                let values: Vec<Interval> = cells.iter().map(|cell| value(*cell).interval()).collect();
                AfterDefinition::Pack(Octagon::from_intervals(&values))
            }
        }
    }
}

/// The postcondition of a step, restricted to its target, and the facts of the threads that it starts.
fn contributions(
    setup: &Setup<'_, '_>,
    equal: &Copies,
    step: Step,
    before: &Relational<Variable>,
) -> Option<Contributions> {
    let scope = setup.scope(step.template);
    let after = scope.after(step.edge, &equal[setup.source(step)], before.clone());
    if after.environment.is_bottom() {
        return None;
    }
    let mut there = after.environment.clone();
    let target = setup.model.edge(step).target;
    let dead: Vec<Variable> = there
        .numbers
        .iter()
        .map(|(variable, _)| variable)
        .filter(|variable| {
            setup.as_local(*variable).is_some_and(|local| !setup.is_live(step.template, target, local))
        })
        .collect();
    dead.into_iter().for_each(|variable| there.forget(scope.packs(), variable));
    let started = after
        .started
        .iter()
        .map(|child| (setup.model.entry(child.template), setup.scope(child.template).started(child, &after)));
    let left = |id: &DefinitionId| match setup.definitions[*id].subject {
        Subject::Cell(cell) => {
            let whole = setup.memory.cell(cell).map_or(Number::TOP, |cell| Number::of_type(cell.ty));
            let value = after.environment.numbers.get(cell).copied().unwrap_or(Number::TOP);
            let shift = after.shifts.get(&cell).copied().unwrap_or(Interval::constant(0));
            AfterDefinition::Cell(Written { value: value.meet(&whole), shift })
        }
        Subject::Pack(pack) => AfterDefinition::Pack(after.environment.octagon(scope.packs(), pack)),
    };
    let defined = setup.defined_by[step.template][step.edge].iter();
    Some(Contributions {
        defined: defined.map(|id| (*id, left(id))).collect(),
        started: started.collect(),
        there,
    })
}

struct Contributions {
    there: Relational<Variable>,
    started: Vec<(Node, Relational<Variable>)>,
    defined: Vec<(DefinitionId, AfterDefinition)>,
}

/// The annotation that is inductive for a data flow graph. `given` is known to hold.
pub fn annotate(
    setup: &Setup<'_, '_>,
    graph: &FlowGraph,
    given: Option<&Values>,
    budget: &Budget,
) -> Result<Annotation, Exhausted> {
    let copies = copies(setup, graph);
    let all =
        copies.enumerate().map(|(node, here)| setup.fixed_equal(node).iter().chain(here).cloned().collect());
    let equal: Copies = all.collect();
    let equations = Equations { setup, graph, equal: &equal, given };
    let mut found = equations.solve(budget)?;
    let smaller = |a: &Values, b: &Values| a.enumerate().all(|(node, value)| value.less_or_equal(&b[node]));
    let mut next = equations.apply(&found);
    for _ in 0..REPAIRS {
        if smaller(&next, &found) {
            break;
        }
        budget.check(0)?;
        found = found.enumerate().map(|(node, value)| value.join(&next[node])).collect();
        next = equations.apply(&found);
    }
    if let Some(given) = given
        && !smaller(&next, &found)
    {
        // Relations that are not inductive are dropped; facts that hold without them remain.
        found = given.clone();
        next = equations.apply(&found);
    }
    for _ in 0..IMPROVEMENTS {
        budget.check(0)?;
        if !smaller(&next, &found) || smaller(&found, &next) {
            break;
        }
        let after_next = equations.apply(&next);
        if !smaller(&after_next, &next) {
            break;
        }
        found = next;
        next = after_next;
    }
    Ok(Annotation { values: found, copies, equal })
}

/// The equations of the annotation.
struct Equations<'s, 'a, 'p> {
    setup: &'s Setup<'a, 'p>,
    graph: &'s FlowGraph,
    equal: &'s Copies,
    given: Option<&'s Values>,
}

impl<'s, 'a, 'p> Equations<'s, 'a, 'p> {
    fn sides(&self) -> Sides<'s, 'a, 'p> {
        Sides::new(self.setup, self.graph, self.given)
    }

    /// The equations, applied once to all locations.
    fn apply(&self, annotation: &Values) -> Values {
        let setup = self.setup;
        let mut sides = self.sides();
        for (node, environment) in sides.starts() {
            sides.own[node] = sides.own[node].join(&environment);
        }
        for (node, here) in annotation.enumerate().filter(|(_, here)| !here.is_bottom()) {
            for step in &setup.model.steps[node] {
                let Some(contributions) = contributions(setup, self.equal, *step, here) else { continue };
                let target = setup.model.target(*step);
                sides.own[target] = sides.own[target].join(&contributions.there);
                for (entry, environment) in contributions.started {
                    sides.own[entry] = sides.own[entry].join(&environment);
                }
                let mut ids = Vec::new();
                for (id, left) in contributions.defined {
                    sides.after_definitions[id].0 = left;
                    ids.push(id);
                }
                sides.spread(*step, &ids, |_| {});
            }
        }
        annotation.ids().map(|node| sides.annotation(node)).collect()
    }

    fn solve(&self, budget: &Budget) -> Result<Values, Exhausted> {
        let setup = self.setup;
        let model = setup.model;
        let mut sides = self.sides();
        let heads = heads(setup);
        let mut grown: IdVec<Node, u32> = model.nodes.iter().map(|_| 0).collect();
        let mut queue: BTreeSet<Node> = BTreeSet::new();
        let mut grow = |sides: &mut Sides<'_, '_, '_>,
                        node: Node,
                        with: &Relational<Variable>,
                        queue: &mut BTreeSet<Node>| {
            let before = &sides.own[node];
            if with.less_or_equal(before) {
                return;
            }
            let mut joined = before.join(with);
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
                budget.spend(64 * ROUND);
                budget.check(0)?;
            }
            let here = sides.annotation(node);
            if here.is_bottom() {
                continue;
            }
            for step in &model.steps[node] {
                let Some(contributions) = contributions(setup, self.equal, *step, &here) else { continue };
                grow(&mut sides, model.target(*step), &contributions.there, &mut queue);
                for (entry, environment) in contributions.started {
                    grow(&mut sides, entry, &environment, &mut queue);
                }
                let mut ids = Vec::new();
                for (id, left) in contributions.defined {
                    let (known, growth) = &mut sides.after_definitions[id];
                    if known.grow(&left, *growth < PATIENCE, &setup.thresholds) {
                        *growth += 1;
                        ids.push(id);
                    }
                }
                if !ids.is_empty() {
                    sides.spread(*step, &ids, |node| {
                        queue.insert(node);
                    });
                }
            }
        }
        Ok(model.nodes.ids().map(|node| sides.annotation(node)).collect())
    }
}

/// Loop heads, and entries of threads that other threads start.
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
