//! The reduced product as Horn clauses: one relation for each remaining node, over the variables that matter
//! there.
//!
//! Nodes that are not needed to cut cycles are removed ([`transitions::merge_steps`]); variables that are
//! constant or dead at a node are no arguments of its relation.

use super::graph::{Graph, NodeNumber};
use indexmap::{IndexMap, IndexSet};
use ir::{EdgeId, LocationId, TemplateId};
use smt::horn::{Application, Clause, ClauseId, Derivation, HornSystem, RelationId};
use smt::{Term, Value, Variable};
use transitions::threads::{ThreadNumber, Threads};
use transitions::{Step, System, merge_steps};
use verdict::{Budget, Schedule};

/// The clauses of a product.
pub struct Clauses {
    /// The clauses.
    pub system: HornSystem,
    /// The relation of each node that has one.
    relations: IndexMap<NodeNumber, RelationId>,
    /// What each clause but the first stands for: moves of the graph, in order, and the inputs of all of
    /// them.
    runs: IndexMap<ClauseId, Run>,
}

/// Moves of the graph, one after the other.
struct Run {
    moves: Vec<usize>,
    inputs: Vec<Variable>,
}

const WHOLE: TemplateId = TemplateId(0);

fn at(node: NodeNumber) -> LocationId {
    LocationId(node as u32)
}

impl Clauses {
    /// Builds the clauses; a solution proves that no error is reachable.
    pub fn new(threads: &Threads, graph: &Graph, budget: &Budget) -> Self {
        let relevant = graph.relevant();
        let steps: Vec<Step> = graph
            .moves
            .iter()
            .enumerate()
            .filter(|(_, step)| relevant[step.source] && relevant[step.target])
            .map(|(number, step)| {
                let location =
                    graph.nodes[step.source].locations[step.thread].expect("who moves was started");
                let what = &threads.threads[step.thread].steps[location][step.step];
                let constants = &graph.constants[step.source];
                let updates = what.updates.iter().map(|(v, value)| (v.clone(), value.substitute(constants)));
                Step {
                    template: WHOLE,
                    // Edges of this graph: so steps that are put together say what they are made of.
                    edges: vec![EdgeId(number as u32)],
                    source: at(step.source),
                    target: at(step.target),
                    guard: what.guard.substitute(constants),
                    updates: updates.collect(),
                    inputs: what.inputs.clone(),
                    starts: Vec::new(),
                }
            })
            .collect();
        let stays = |location: LocationId| location.0 == 0 || graph.errors[location.0 as usize];
        let mut merged = merge_steps(&steps, &|location| !stays(location), &|| budget.check(0).is_err());
        // What is read in the middle of a step may have a known value where it starts.
        for step in &mut merged {
            let constants = &graph.constants[step.source.0 as usize];
            step.guard = step.guard.substitute(constants);
            step.updates.values_mut().for_each(|value| *value = value.substitute(constants));
        }
        merged.retain(|step| !step.guard.is_false());
        Self::of_steps(threads, graph, &merged)
    }

    fn of_steps(threads: &Threads, graph: &Graph, steps: &[Step]) -> Self {
        let live = live(graph, threads, steps);
        let mut clauses =
            Self { system: HornSystem::default(), relations: IndexMap::new(), runs: IndexMap::new() };
        let mut nodes: Vec<NodeNumber> = steps
            .iter()
            .flat_map(|step| [step.source.0 as usize, step.target.0 as usize])
            .chain([0])
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes.into_iter().filter(|node| !graph.errors[*node]) {
            let parameters: Vec<Variable> = live.get(&node).into_iter().flatten().cloned().collect();
            let relation = clauses.system.relation(format!("node {node}"), parameters);
            clauses.relations.insert(node, relation);
        }
        let ranges = |variables: &mut dyn Iterator<Item = Variable>| {
            Term::all(variables.filter_map(|variable| threads.variables.get(&variable).cloned()))
        };
        let start = clauses.relations[&0];
        let arguments: Vec<Term> =
            clauses.system.relations[start].parameters.iter().map(Variable::term).collect();
        let constraint = threads.initial.and(&ranges(&mut threads.initial.free_variables().into_iter()));
        clauses.system.clause(Clause {
            body: vec![],
            constraint,
            head: Some(Application { relation: start, arguments }),
        });
        for step in steps {
            let Some(source) = clauses.relations.get(&(step.source.0 as usize)).copied() else { continue };
            let parameters = clauses.system.relations[source].parameters.clone();
            let head = clauses.relations.get(&(step.target.0 as usize)).map(|target| {
                let arguments = clauses.system.relations[*target].parameters.iter().map(|variable| {
                    let value = step.updates.get(variable).cloned();
                    let constants = &graph.constants[step.source.0 as usize];
                    value.unwrap_or_else(|| variable.term().substitute(constants))
                });
                Application { relation: *target, arguments: arguments.collect() }
            });
            let mut mentioned: IndexSet<Variable> = step.guard.free_variables().into_iter().collect();
            for argument in head.iter().flat_map(|head| &head.arguments) {
                mentioned.extend(argument.free_variables());
            }
            mentioned.extend(parameters.iter().cloned());
            let constraint = step.guard.and(&ranges(&mut mentioned.into_iter()));
            let arguments = parameters.iter().map(Variable::term).collect();
            let body = vec![Application { relation: source, arguments }];
            let clause = clauses.system.clause(Clause { body, constraint, head });
            let moves = step.edges.iter().map(|edge| edge.0 as usize).collect();
            clauses.runs.insert(clause, Run { moves, inputs: step.inputs.clone() });
        }
        clauses
    }

    /// Who runs when in a derivation of an error, and with which inputs.
    pub fn schedule(
        &self,
        system: &System<'_>,
        threads: &Threads,
        graph: &Graph,
        derivation: &Derivation,
    ) -> Schedule {
        let mut schedule = Schedule::default();
        // The names of threads by the order of their starts.
        let mut started: Vec<ThreadNumber> =
            (0..threads.threads.len()).filter(|thread| threads.threads[*thread].at_start).collect();
        for step in &derivation.steps {
            let Some(run) = self.runs.get(&step.clause) else { continue };
            let mut inputs = run.inputs.iter().map(|input| step.values.get(input).and_then(Value::as_int));
            for number in &run.moves {
                let (source, thread) = (graph.moves[*number].source, graph.moves[*number].thread);
                let Some(location) = graph.nodes[source].locations[thread] else { continue };
                let what = &threads.threads[thread].steps[location][graph.moves[*number].step];
                let Some(name) = started.iter().position(|other| *other == thread) else { continue };
                let code = &system.program.templates[threads.threads[thread].template];
                let span = what.edges.first().map(|edge| code.edges[*edge].span).unwrap_or_default();
                schedule.push(name, span, inputs.by_ref().take(what.inputs.len()).flatten());
                started.extend(what.starts.iter().copied());
            }
        }
        schedule
    }

    /// The relation of a node that has one.
    pub fn relation(&self, node: NodeNumber) -> Option<RelationId> {
        self.relations.get(&node).copied()
    }
}

/// The variables that are read before they are written, from each node on, and have no known value there.
fn live(graph: &Graph, threads: &Threads, steps: &[Step]) -> IndexMap<NodeNumber, IndexSet<Variable>> {
    let mut live: IndexMap<NodeNumber, IndexSet<Variable>> = IndexMap::new();
    loop {
        let mut changed = false;
        for step in steps.iter().rev() {
            let mut read = step.guard.free_variables();
            if let Some(after) = live.get(&(step.target.0 as usize)) {
                for variable in after {
                    match step.updates.get(variable) {
                        Some(value) => read.extend(value.free_variables()),
                        None => {
                            read.insert(variable.clone());
                        }
                    }
                }
            }
            let source = step.source.0 as usize;
            let here = live.entry(source).or_default();
            for variable in read {
                if threads.variables.contains_key(&variable)
                    && !graph.constants[source].contains_key(&variable)
                {
                    changed |= here.insert(variable);
                }
            }
        }
        if !changed {
            live.values_mut().for_each(IndexSet::sort_unstable);
            return live;
        }
    }
}
