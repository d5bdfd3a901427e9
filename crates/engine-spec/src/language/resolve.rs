//! From the source form to a [`Specification`]: names become variables, states and functions of the program.

use crate::language::ast::{self, Expression, File, Item, Name};
use crate::language::diagnostic::Problem;
use crate::language::expressions::{Moment, Resolver};
use ir::specification::{Specification, State, Thread, Transition};
use ir::{Expr, Program};

/// Resolves a file about a program.
pub fn resolve(file: &File, name: &str, program: &Program) -> Result<Specification, Vec<Problem>> {
    let resolver = Resolver { program, shorthands: Vec::new(), variables: Vec::new() };
    let mut resolving = Resolving { resolver, problems: Vec::new() };
    let specification = resolving.file(file, name);
    if resolving.problems.is_empty() { Ok(specification) } else { Err(resolving.problems) }
}

struct Resolving<'a> {
    resolver: Resolver<'a>,
    problems: Vec<Problem>,
}

impl Resolving<'_> {
    fn complain(&mut self, name: &Name, message: impl Into<String>) {
        self.problems.push(Problem::new(name.at, message));
    }

    fn conditions(&mut self, value: &Expression, moment: Moment) -> Vec<Expr> {
        self.resolver.conditions(value, moment).unwrap_or_else(|problem| {
            self.problems.push(problem);
            Vec::new()
        })
    }

    fn file(&mut self, file: &File, name: &str) -> Specification {
        let mut always = Vec::new();
        let mut start = None;
        let mut threads: Vec<&ast::Thread> = Vec::new();
        for item in &file.items {
            match item {
                Item::Let(name, value) => {
                    if self.resolver.shorthands.iter().any(|(known, _)| *known == name.text) {
                        self.complain(name, format!("there is a shorthand `{}` already", name.text));
                    }
                    self.resolver.shorthands.push((name.text.clone(), value.clone()));
                }
                Item::Always(value) => always.push(value),
                Item::Start(value) => {
                    let conditions = self.conditions(value, Moment::State);
                    start.get_or_insert_with(Vec::new).extend(conditions);
                }
                Item::Thread(thread) => threads.push(thread),
            }
        }
        let always: Vec<Expr> =
            always.into_iter().flat_map(|value| self.conditions(value, Moment::State)).collect();
        let mut resolved: Vec<Thread> = Vec::new();
        for thread in threads {
            if resolved.iter().any(|known| known.name == thread.name.text) {
                self.complain(&thread.name, format!("there is a thread `{}` already", thread.name.text));
            }
            if let Some(known) = resolved.iter().find(|known| known.function == thread.function.text) {
                let message = format!("the thread `{}` stands for `{}` already", known.name, known.function);
                self.complain(&thread.function, message);
            }
            let found = self.thread(thread, &always);
            resolved.push(found);
        }
        Specification {
            file: name.to_owned(),
            variables: std::mem::take(&mut self.resolver.variables),
            start,
            threads: resolved,
        }
    }

    fn thread(&mut self, thread: &ast::Thread, always: &[Expr]) -> Thread {
        let function = &thread.function;
        if !self.resolver.program.templates.iter().any(|template| template.name == function.text) {
            self.complain(
                function,
                format!("the program has no function `{}` that is called", function.text),
            );
        }
        let mut common = always.to_vec();
        common.extend(thread.always.iter().flat_map(|value| self.conditions(value, Moment::State)));
        let mut states: Vec<State> = Vec::new();
        for state in &thread.states {
            if states.iter().any(|known| known.name == state.name.text) {
                self.complain(&state.name, format!("there is a state `{}` already", state.name.text));
            }
            let mut assertion = common.clone();
            if let Some(value) = &state.assertion {
                assertion.extend(self.conditions(value, Moment::State));
            }
            states.push(State { name: state.name.text.clone(), assertion, span: state.name.at });
        }
        let initial: Vec<usize> = thread
            .states
            .iter()
            .enumerate()
            .filter(|(_, state)| state.initial)
            .map(|(number, _)| number)
            .collect();
        if initial.is_empty() {
            self.complain(&thread.name, format!("the thread `{}` has no `start state`", thread.name.text));
        }
        let mut transitions = Vec::new();
        for transition in &thread.transitions {
            transitions.extend(self.transition(transition, &states));
        }
        let result = Thread {
            name: thread.name.text.clone(),
            function: function.text.clone(),
            count: thread.count,
            states,
            initial,
            transitions,
            span: thread.name.at,
        };
        for (number, state) in thread.states.iter().enumerate() {
            if !result.initial.is_empty() && !is_reachable(&result, number) {
                self.complain(&state.name, format!("no transition leads to the state `{}`", state.name.text));
            }
        }
        result
    }

    fn transition(&mut self, transition: &ast::Transition, states: &[State]) -> Option<Transition> {
        let source = self.state(&transition.source, states);
        let target = self.state(&transition.target, states);
        let mut changes = Vec::new();
        for value in &transition.changes {
            match self.resolver.variable(value) {
                Ok(variable) if changes.contains(&variable) => {
                    self.problems.push(Problem::new(value.at, "this variable is listed twice"));
                }
                Ok(variable) => changes.push(variable),
                Err(problem) => self.problems.push(problem),
            }
        }
        let condition =
            transition.condition.as_ref().map(|value| (self.conditions(value, Moment::Before), value.at));
        let (condition, at) = condition.unwrap_or((Vec::new(), transition.source.at));
        for (object, offset) in condition.iter().flat_map(new_cells) {
            let variables = &self.resolver.variables;
            let number = variables.iter().position(|known| (known.object, known.offset) == (object, offset));
            if let Some(number) = number.filter(|number| !changes.contains(number)) {
                let name = &variables[number].name;
                let message = format!("`{name}'` is mentioned, but `{name}` is not listed after `changes`");
                self.problems.push(Problem::new(at, message));
                break;
            }
        }
        let span = transition.source.at;
        Some(Transition { source: source?, target: target?, changes, condition, span })
    }

    fn state(&mut self, name: &Name, states: &[State]) -> Option<usize> {
        let found = states.iter().position(|state| state.name == name.text);
        if found.is_none() {
            self.complain(name, format!("this thread has no state `{}`", name.text));
        }
        found
    }
}

/// The cells that an expression reads as they are after a step.
fn new_cells(expr: &Expr) -> Vec<(ir::ObjectId, u64)> {
    match expr {
        Expr::Old(_) => vec![],
        Expr::Load(place) => place.as_cell().into_iter().collect(),
        other => other.operands().into_iter().flat_map(new_cells).collect(),
    }
}

fn is_reachable(thread: &Thread, state: usize) -> bool {
    let mut found = thread.initial.clone();
    let mut next = 0;
    while let Some(here) = found.get(next).copied() {
        next += 1;
        for transition in thread.transitions.iter().filter(|transition| transition.source == here) {
            if !found.contains(&transition.target) {
                found.push(transition.target);
            }
        }
    }
    found.contains(&state)
}
