//! A program as Horn clauses.
//!
//! Exact. Nodes that are not reachable in the graph, and those from which no forbidden state is reachable in
//! the graph, are dropped. Nodes that need not stay and are on no cycle are removed
//! ([`transitions::merge_steps`]). A relation is over the live variables of its node.

use crate::program::{Node, Program};
use indexmap::{IndexMap, IndexSet};
use ir::{EdgeId, LocationId, TemplateId};
use smt::horn::{Application, Clause, HornSystem, RelationId};
use smt::{Term, Variable};
use transitions::merge_steps;
use verdict::Budget;

/// A program as clauses.
pub(crate) struct Encoding {
    pub(crate) system: HornSystem,
    /// The relation of each node that has one.
    pub(crate) relations: IndexMap<Node, RelationId>,
    /// The steps that each clause stands for; a number past the last step is that of something forbidden.
    pub(crate) steps: Vec<Vec<usize>>,
    /// Whether the graph leads to each node.
    pub(crate) reached: Vec<bool>,
    /// Whether the graph leads from each node to something forbidden.
    pub(crate) leads: Vec<bool>,
}

const WHOLE: TemplateId = TemplateId(0);

fn at(node: Node) -> LocationId {
    LocationId(node as u32)
}

impl Encoding {
    pub(crate) fn new(program: &Program, budget: &Budget) -> Self {
        let bad = program.nodes.len();
        let mut steps: Vec<transitions::Step> = Vec::new();
        for (number, step) in program.steps.iter().enumerate() {
            steps.push(transitions::Step {
                template: WHOLE,
                edges: vec![EdgeId(number as u32)],
                source: at(step.source),
                target: at(step.target),
                guard: step.guard.clone(),
                updates: step.updates.clone(),
                inputs: step.inputs.clone(),
                starts: Vec::new(),
            });
        }
        for (number, forbidden) in program.forbidden.iter().enumerate() {
            steps.push(transitions::Step {
                template: WHOLE,
                edges: vec![EdgeId((program.steps.len() + number) as u32)],
                source: at(forbidden.node),
                target: at(bad),
                guard: forbidden.formula.clone(),
                updates: IndexMap::new(),
                inputs: Vec::new(),
                starts: Vec::new(),
            });
        }
        steps.retain(|step| !step.guard.is_false());
        let reached = closure(bad + 1, &[program.entry], steps.iter().map(|step| (step.source, step.target)));
        let leads = closure(bad + 1, &[bad], steps.iter().map(|step| (step.target, step.source)));
        let matters = |location: LocationId| reached[location.0 as usize] && leads[location.0 as usize];
        steps.retain(|step| matters(step.source) && matters(step.target));
        let stays = |node: Node| {
            node == program.entry || node == bad || program.kept.get(node).copied().unwrap_or(true)
        };
        let merged =
            merge_steps(&steps, &|location| !stays(location.0 as usize), &|| budget.check(0).is_err());
        let mut encoding = Self {
            system: HornSystem::default(),
            relations: IndexMap::new(),
            steps: Vec::new(),
            reached: reached.clone(),
            leads: leads.clone(),
        };
        encoding.add_clauses(program, &merged, bad);
        encoding
    }

    fn add_clauses(&mut self, program: &Program, steps: &[transitions::Step], bad: Node) {
        let live = live(program, steps);
        let mut nodes: Vec<Node> = vec![program.entry];
        nodes.extend(steps.iter().flat_map(|step| [step.source.0 as usize, step.target.0 as usize]));
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes.into_iter().filter(|node| *node != bad) {
            let parameters: Vec<Variable> = live.get(&node).into_iter().flatten().cloned().collect();
            let relation = self.system.relation(program.nodes[node].clone(), parameters);
            self.relations.insert(node, relation);
        }
        let entry = self.relations[&program.entry];
        let constraint = program.initial.and(&program.ranges_of(&program.initial));
        let head = self.application(entry);
        self.system.clause(Clause { body: vec![], constraint, head: Some(head) });
        self.steps.push(Vec::new());
        for step in steps {
            let source = self.relations[&(step.source.0 as usize)];
            let head = self.relations.get(&(step.target.0 as usize)).map(|target| {
                let parameters = self.system.relations[*target].parameters.iter();
                let arguments = parameters
                    .map(|variable| step.updates.get(variable).cloned().unwrap_or_else(|| variable.term()));
                Application { relation: *target, arguments: arguments.collect() }
            });
            let body = self.application(source);
            let mentioned: IndexSet<Variable> = std::iter::once(&step.guard)
                .chain(body.arguments.iter())
                .chain(head.iter().flat_map(|head| &head.arguments))
                .flat_map(Term::free_variables)
                .collect();
            let ranges = mentioned.iter().filter_map(|variable| program.variables.get(variable).cloned());
            let constraint = step.guard.and(&Term::all(ranges));
            self.system.clause(Clause { body: vec![body], constraint, head });
            self.steps.push(step.edges.iter().map(|edge| edge.0 as usize).collect());
        }
    }

    fn application(&self, relation: RelationId) -> Application {
        let parameters = &self.system.relations[relation].parameters;
        Application { relation, arguments: parameters.iter().map(Variable::term).collect() }
    }
}

/// The nodes that can be got to from some.
fn closure(
    count: usize,
    from: &[Node],
    edges: impl Iterator<Item = (LocationId, LocationId)> + Clone,
) -> Vec<bool> {
    let mut found = vec![false; count];
    from.iter().for_each(|node| found[*node] = true);
    loop {
        let mut changed = false;
        for (source, target) in edges.clone() {
            if found[source.0 as usize] && !found[target.0 as usize] {
                found[target.0 as usize] = true;
                changed = true;
            }
        }
        if !changed {
            return found;
        }
    }
}

/// The variables that are read before they are written, from each node on.
fn live(program: &Program, steps: &[transitions::Step]) -> IndexMap<Node, IndexSet<Variable>> {
    let mut live: IndexMap<Node, IndexSet<Variable>> = IndexMap::new();
    loop {
        let mut changed = false;
        for step in steps.iter().rev() {
            let mut read = step.guard.free_variables();
            for variable in live.get(&(step.target.0 as usize)).into_iter().flatten() {
                match step.updates.get(variable) {
                    Some(value) => read.extend(value.free_variables()),
                    None => {
                        read.insert(variable.clone());
                    }
                }
            }
            let here = live.entry(step.source.0 as usize).or_default();
            for variable in read.into_iter().filter(|variable| program.variables.contains_key(variable)) {
                changed |= here.insert(variable);
            }
        }
        if !changed {
            live.values_mut().for_each(IndexSet::sort_unstable);
            return live;
        }
    }
}
