//! Paths through a program, followed symbolically.

use crate::program::{Node, Program, Step};
use indexmap::IndexMap;
use smt::{Answer, Instance, NoAnswer, Solver, Term, Value, Variable};
use verdict::Budget;

/// A path to something forbidden.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// The steps, by number.
    pub steps: Vec<usize>,
    /// Which of the forbidden things is at its end.
    pub forbidden: usize,
    /// For each step the values of its inputs, in one execution along the path.
    pub inputs: Vec<IndexMap<Variable, Value>>,
    /// The values of the variables that matter, before each step and at the end.
    pub states: Vec<IndexMap<Variable, Value>>,
}

/// A path followed symbolically from a node: the values of variables in terms of those that they had at
/// first, and of the inputs.
#[derive(Clone, Debug)]
pub struct Execution {
    /// What the variables that were changed are now; the others are what they were.
    pub values: IndexMap<Variable, Term>,
    /// What each step needs, in order.
    pub conditions: Vec<Term>,
    /// For each step the variables that stand for its inputs.
    pub inputs: Vec<IndexMap<Variable, Variable>>,
}

impl Default for Execution {
    fn default() -> Self {
        Self::new()
    }
}

impl Execution {
    /// No step was taken.
    pub fn new() -> Self {
        Self { values: IndexMap::new(), conditions: Vec::new(), inputs: Vec::new() }
    }

    /// A term over the variables as it is now.
    pub fn value(&self, term: &Term) -> Term {
        term.substitute(&self.values)
    }

    /// Takes a step.
    pub fn step(&mut self, step: &Step) {
        let number = self.inputs.len();
        let fresh: IndexMap<Variable, Variable> = step
            .inputs
            .iter()
            .map(|input| (input.clone(), input.instance(Instance::InputAt(number as u32))))
            .collect();
        let mut replace = self.values.clone();
        replace.extend(fresh.iter().map(|(input, fresh)| (input.clone(), fresh.term())));
        self.conditions.push(step.guard.substitute(&replace));
        let new: Vec<(Variable, Term)> = step
            .updates
            .iter()
            .map(|(variable, value)| (variable.clone(), value.substitute(&replace)))
            .collect();
        self.values.extend(new);
        self.inputs.push(fresh);
    }
}

/// Follows steps to something forbidden; `None` when no execution does.
pub(crate) fn realise(
    program: &Program,
    steps: &[usize],
    forbidden: usize,
    budget: &Budget,
) -> Result<Option<Path>, NoAnswer> {
    let mut execution = Execution::new();
    let mut node: Node = program.entry;
    let mut snapshots = vec![execution.values.clone()];
    for number in steps {
        let step = &program.steps[*number];
        if step.source != node {
            return Err(NoAnswer::GaveUp("the steps of a path do not follow one another".to_owned()));
        }
        execution.step(step);
        snapshots.push(execution.values.clone());
        node = step.target;
    }
    let end = &program.forbidden[forbidden];
    if end.node != node {
        return Err(NoAnswer::GaveUp("a path ends at the wrong node".to_owned()));
    }
    let mut solver = Solver::new();
    let ranges = program.variables.values().cloned();
    let conditions = execution.conditions.iter().cloned();
    solver.assert(&Term::all([program.initial.clone()].into_iter().chain(ranges).chain(conditions)));
    solver.assert(&execution.value(&end.formula));
    match solver.check(budget) {
        Answer::Unsat => return Ok(None),
        Answer::Unknown(why) => return Err(why),
        Answer::Sat => {}
    }
    let mut inputs = Vec::new();
    for of_step in &execution.inputs {
        let mut values = IndexMap::new();
        for (input, fresh) in of_step {
            values.insert(input.clone(), solver.value(&fresh.term())?);
        }
        inputs.push(values);
    }
    let mut states = Vec::new();
    for snapshot in &snapshots {
        let mut values = IndexMap::new();
        for variable in program.variables.keys() {
            let value = snapshot.get(variable).cloned().unwrap_or_else(|| variable.term());
            values.insert(variable.clone(), solver.value(&value)?);
        }
        states.push(values);
    }
    Ok(Some(Path { steps: steps.to_vec(), forbidden, inputs, states }))
}
