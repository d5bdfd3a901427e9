//! States whose values are terms over inputs.

use indexmap::IndexMap;
use ir::{LocationId, TemplateId};
use smt::{Instance, Symbol, Term, Variable};
use transitions::{Kind, Start, Step, System};

/// A thread that runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Running {
    /// Its template.
    pub template: TemplateId,
    /// Where it is.
    pub location: LocationId,
    /// Where its own variables begin among the values.
    offset: usize,
}

/// Executions that are at the same places.
#[derive(Clone, Debug)]
pub struct State {
    /// The threads, in the order in which they were started.
    pub threads: Vec<Running>,
    /// The values of the shared variables, then those of each thread's own.
    pub values: Vec<Term>,
    /// When this is reached: over inputs.
    pub path: Term,
    /// Whose turn it is.
    pub turn: usize,
    /// How many delays are left.
    pub left: u32,
}

/// What states have in common that are put together: all that is known without the solver.
pub type Key = (Vec<Running>, usize, u32, Vec<Option<Term>>);

/// Makes inputs with names of their own.
#[derive(Default)]
pub struct Inputs {
    count: u32,
}

impl Inputs {
    /// An input that was not there before.
    pub fn fresh(&mut self, like: &Variable) -> Variable {
        self.count += 1;
        like.instance(Instance::At(self.count))
    }
    /// A choice that was not there before.
    pub fn choice(&mut self) -> Term {
        self.count += 1;
        Term::bool_variable(Symbol::Choice(self.count))
    }
}

impl State {
    /// Before anything has run.
    pub fn initial(system: &System<'_>, inputs: &mut Inputs, left: u32) -> Self {
        let mut state = Self { threads: vec![], values: vec![], path: Term::bool(true), turn: 0, left };
        for variable in &system.shared {
            let value = variable.first.clone().unwrap_or_else(|| inputs.fresh(&variable.variable).term());
            state.values.push(value);
        }
        let ranges = system.ranges(&system.shared);
        let values = system.shared.iter().map(|shared| shared.variable.clone()).zip(state.values.clone());
        let values: IndexMap<Variable, Term> = values.collect();
        state.values.iter_mut().for_each(|value| *value = value.substitute(&values));
        state.path = ranges.substitute(&values);
        state
    }

    /// What it has in common with those that it can be put together with.
    pub fn key(&self) -> Key {
        let known = self.values.iter().map(|value| value.is_literal().then(|| value.clone())).collect();
        (self.threads.clone(), self.turn, self.left, known)
    }

    /// The values of the variables that a thread sees.
    pub fn seen(&self, system: &System<'_>, thread: usize) -> IndexMap<Variable, Term> {
        let running = &self.threads[thread];
        let shared =
            system.shared.iter().map(|shared| shared.variable.clone()).zip(self.values.iter().cloned());
        let own = system.own[running.template].iter().map(|own| own.variable.clone());
        shared.chain(own.zip(self.values[running.offset..].iter().cloned())).collect()
    }

    /// Adds a thread. What its parameters are is said over the variables of `seen`.
    pub fn start(
        &mut self,
        system: &System<'_>,
        start: &Start,
        seen: &IndexMap<Variable, Term>,
        inputs: &mut Inputs,
    ) {
        let parameters = system.program.templates[start.template].parameters;
        let location = system.program.templates[start.template].entry;
        let offset = self.values.len();
        let mut own: IndexMap<Variable, Term> = IndexMap::new();
        for variable in &system.own[start.template] {
            let given = match &variable.kind {
                Kind::Local(local) if (local.0 as usize) < parameters => {
                    start.parameters.get(local.0 as usize).map(|value| value.substitute(seen))
                }
                Kind::Myself => Some(start.id.substitute(seen)),
                _ => variable.first.clone(),
            };
            let value = given.unwrap_or_else(|| inputs.fresh(&variable.variable).term());
            own.insert(variable.variable.clone(), value);
        }
        let before = own.clone();
        for value in own.values_mut() {
            *value = value.substitute(&before);
        }
        self.path = self.path.and(&system.ranges(&system.own[start.template]).substitute(&own));
        self.values.extend(own.into_values());
        self.threads.push(Running { template: start.template, location, offset });
    }

    /// The state after a step of a thread whose guard is part of the path already.
    pub fn after(
        &self,
        system: &System<'_>,
        thread: usize,
        step: &Step,
        seen: &IndexMap<Variable, Term>,
        inputs: &mut Inputs,
    ) -> Self {
        let mut next = self.clone();
        let running = &self.threads[thread];
        for (number, shared) in system.shared.iter().enumerate() {
            if let Some(value) = step.updates.get(&shared.variable) {
                next.values[number] = value.substitute(seen);
            }
        }
        for (number, own) in system.own[running.template].iter().enumerate() {
            if let Some(value) = step.updates.get(&own.variable) {
                next.values[running.offset + number] = value.substitute(seen);
            }
        }
        next.threads[thread].location = step.target;
        for start in &step.starts {
            next.start(system, start, seen, inputs);
        }
        next
    }

    /// Puts another state with the same key to this one: `other` says when it is that one.
    pub fn join(&mut self, state: &State, other: &Term) {
        for (mine, its) in self.values.iter_mut().zip(&state.values) {
            if mine != its {
                *mine = other.if_then_else(its, mine);
            }
        }
        self.path = other.if_then_else(&state.path, &self.path);
    }
}
