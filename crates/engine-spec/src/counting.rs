//! Whether abstract threads together go wrong, by counting: an abstract thread has nothing of its own but its state, so all that matters is how many threads are in each state.
//!
//! The composition becomes a sequential program of one node: the variables of the specification, and for each state of each abstract thread a number of threads. A transition takes a thread from one state to another. Exact, for each fixed
//! number of threads and for any number, as long as the specification does not speak of the ids of threads. (Beyond paper 2, which composes fixed numbers.)
//!
//! Sums that no transition changes (as the place invariants of Petri nets) are found by linear algebra first, and given to the model checker as facts: numbers of threads that a variable counts are such.

use crate::conformance::{no_answer, untranslatable};
use crate::sums::unchanged_sums;
use indexmap::IndexMap;
use ir::specification::Specification;
use ir::{Count, Program};
use sequential::{Forbidden, Outcome, Step};
use smt::expressions::Untranslatable;
use smt::{Answer, Solver, Term, Value, Variable};
use std::sync::Arc;
use transitions::specification::{Meaning, before, population};
use verdict::{Budget, Reason};

/// What came of the composition.
#[derive(Clone, Debug, PartialEq)]
pub enum Counted {
    /// It does not go wrong: this always holds.
    Safe(Term),
    /// It does: so.
    Wrong(Vec<String>),
    /// It is not known.
    Unknown(Reason),
}

/// The composition as a sequential program.
struct Counting<'a> {
    specification: &'a Specification,
    program: sequential::Program,
    /// The thread and the transition of each step.
    steps: Vec<(usize, usize)>,
    /// The thread and the state of each forbidden thing.
    wrong: Vec<(usize, usize)>,
}

/// Decides the composition.
pub(crate) fn count(specification: &Specification, program: &Program, budget: &Budget) -> Counted {
    if specification.names_threads() {
        let text = "the specification speaks of the owners of locks".to_owned();
        return Counted::Unknown(Reason::Bounded(text));
    }
    let mut counting = match Counting::new(specification, program) {
        Ok(counting) => counting,
        Err(why) => return Counted::Unknown(untranslatable(why)),
    };
    let facts = match counting.facts(budget) {
        Ok(facts) => facts,
        Err(why) => return Counted::Unknown(why),
    };
    for step in &mut counting.program.steps {
        step.guard = step.guard.and(&facts);
    }
    for forbidden in &mut counting.program.forbidden {
        forbidden.formula = forbidden.formula.and(&facts);
    }
    match sequential::check(&counting.program, budget) {
        Outcome::Safe(invariants) => {
            let found = invariants.at(0).cloned().unwrap_or_else(|| Term::bool(true));
            let always = Term::all(counting.program.variables.values().cloned());
            Counted::Safe(Term::all([found, facts, always]))
        }
        Outcome::Unsafe(path) => Counted::Wrong(counting.story(&path)),
        Outcome::Unknown(why) => Counted::Unknown(no_answer(why)),
    }
}

impl<'a> Counting<'a> {
    fn new(specification: &'a Specification, program: &Program) -> Result<Self, Untranslatable> {
        let meaning = Meaning::plain(specification);
        let mut variables: IndexMap<Variable, Term> =
            meaning.ranges().map(|(variable, range)| (variable.clone(), range)).collect();
        let mut initial = vec![meaning.condition(&specification.start_condition(program))?];
        let zero = Term::int(0);
        for (number, thread) in specification.threads.iter().enumerate() {
            let mut started = Vec::new();
            for (state, what) in thread.states.iter().enumerate() {
                let here = population(number, state, &what.name);
                if thread.initial.contains(&state) {
                    started.push(here.term());
                } else {
                    initial.push(here.term().equals(&zero));
                }
                let never_less = zero.at_most(&here.term());
                variables.insert(here, never_less);
            }
            if let Count::Exactly(copies) = thread.count {
                initial.push(Term::sum(started).equals(&Term::int(copies.into())));
            }
        }
        let initial = Term::all(initial.into_iter().chain(variables.values().cloned()));
        let mut result = Self {
            specification,
            program: sequential::Program::new(variables, initial),
            steps: Vec::new(),
            wrong: Vec::new(),
        };
        let node = result.program.node("all", true);
        for (number, thread) in specification.threads.iter().enumerate() {
            let here = |state: usize| population(number, state, &thread.states[state].name);
            for (state, what) in thread.states.iter().enumerate() {
                let there = Term::int(1).at_most(&here(state).term());
                for condition in &what.assertion {
                    let fails = meaning.condition(std::slice::from_ref(condition))?.not();
                    result.program.forbidden.push(Forbidden { node, formula: there.and(&fails) });
                    result.wrong.push((number, state));
                }
            }
            for (which, transition) in thread.transitions.iter().enumerate() {
                let mut replace: IndexMap<Variable, Term> = IndexMap::new();
                let mut guard = vec![Term::int(1).at_most(&here(transition.source).term())];
                let mut updates: IndexMap<Variable, Term> = IndexMap::new();
                let mut inputs = Vec::new();
                for (position, (variable, range)) in meaning.ranges().enumerate() {
                    replace.insert(before(variable), variable.term());
                    if transition.changes.contains(&position) {
                        let name = Arc::from(format!("new {}", variable.name));
                        let input = Variable::new(name, variable.sort.clone());
                        replace.insert(variable.clone(), input.term());
                        updates.insert(variable.clone(), input.term());
                        guard.push(range.rename(|_| Some(input.clone())));
                        inputs.push(input);
                    }
                }
                // Only what changes is spoken of as new: the frame is left out, as it is what updates are.
                guard.push(meaning.condition(&transition.condition)?.substitute(&replace));
                if transition.source != transition.target {
                    let (from, to) = (here(transition.source), here(transition.target));
                    updates.insert(from.clone(), from.term().minus(&Term::int(1)));
                    updates.insert(to.clone(), to.term().plus(&Term::int(1)));
                }
                let step = Step { source: node, target: node, guard: Term::all(guard), updates, inputs };
                if !step.guard.is_false() {
                    result.program.steps.push(step);
                    result.steps.push((number, which));
                }
            }
        }
        result.put_known_values();
        Ok(result)
    }

    /// Puts values in where a guard says that an input is equal to something.
    fn put_known_values(&mut self) {
        for step in &mut self.program.steps {
            while let Some((input, value)) = known_input(step) {
                let replace = IndexMap::from([(input.clone(), value)]);
                step.guard = step.guard.substitute(&replace);
                step.updates.values_mut().for_each(|term| *term = term.substitute(&replace));
                step.inputs.retain(|other| *other != input);
            }
        }
    }

    /// Equations that hold always: sums that no step changes.
    fn facts(&self, budget: &Budget) -> Result<Term, Reason> {
        let numbers: Vec<Variable> =
            self.program.variables.keys().filter(|v| v.sort == smt::Sort::Int).cloned().collect();
        let mut changes: Vec<Vec<Option<i128>>> = Vec::new();
        for step in &self.program.steps {
            let of = |variable: &Variable| match step.updates.get(variable) {
                None => Ok(Some(0)),
                Some(value) => constant_difference(&step.guard, &value.minus(&variable.term()), budget),
            };
            changes.push(numbers.iter().map(of).collect::<Result<_, Reason>>()?);
        }
        // The first value of each, if there is one only.
        let mut first = Vec::new();
        for variable in &numbers {
            first.push(constant_difference(&self.program.initial, &variable.term(), budget)?);
        }
        let useful: Vec<usize> = (0..numbers.len())
            .filter(|number| {
                first[*number].is_some() && changes.iter().all(|change| change[*number].is_some())
            })
            .collect();
        let rows: Vec<Vec<i128>> = changes
            .iter()
            .map(|change| useful.iter().map(|number| change[*number].unwrap_or(0)).collect())
            .collect();
        let mut facts = Vec::new();
        for weights in unchanged_sums(&rows, useful.len()) {
            let parts = useful.iter().zip(&weights).filter(|(_, weight)| **weight != 0);
            let sum = Term::sum(
                parts.clone().map(|(number, weight)| numbers[*number].term().times(&Term::int(*weight))),
            );
            let value: i128 = parts.map(|(number, weight)| weight * first[*number].unwrap_or(0)).sum();
            facts.push(sum.equals(&Term::int(value)));
        }
        Ok(Term::all(facts))
    }

    /// An execution, for people.
    fn story(&self, path: &sequential::Path) -> Vec<String> {
        let values = |state: &IndexMap<Variable, Value>| {
            let shown = self.specification.variables.iter().map(|variable| {
                let value = state.iter().find(|(known, _)| *known.name == *variable.name);
                format!(
                    "{} = {}",
                    variable.name,
                    value.map_or_else(|| "?".to_owned(), |(_, v)| v.to_string())
                )
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        let mut lines = vec![format!("at first: {}", values(&path.states[0]))];
        for (step, state) in path.steps.iter().zip(&path.states[1..]) {
            let (thread, which) = self.steps[*step];
            let thread = &self.specification.threads[thread];
            let transition = &thread.transitions[which];
            lines.push(format!(
                "{}:{}: {}: {} -> {}: {}",
                self.specification.file,
                transition.span.line,
                thread.name,
                thread.states[transition.source].name,
                thread.states[transition.target].name,
                values(state)
            ));
        }
        let (thread, state) = self.wrong[path.forbidden];
        let thread = &self.specification.threads[thread];
        let state = &thread.states[state];
        lines.push(format!(
            "{}:{}: the assertion of the state {} of {} does not hold",
            self.specification.file, state.span.line, state.name, thread.name
        ));
        lines
    }
}

/// An input of a step that a conjunct of the guard says to be equal to a term without it.
fn known_input(step: &Step) -> Option<(Variable, Term)> {
    let conjuncts: Vec<Term> = match step.guard.operation() {
        smt::Operation::And => step.guard.operands().to_vec(),
        _ => vec![step.guard.clone()],
    };
    for conjunct in conjuncts {
        if let Some(input) = conjunct.as_variable().filter(|variable| step.inputs.contains(variable)) {
            return Some((input, Term::bool(true)));
        }
        if *conjunct.operation() == smt::Operation::Not
            && let Some(input) = conjunct.operands()[0].as_variable().filter(|v| step.inputs.contains(v))
        {
            return Some((input, Term::bool(false)));
        }
        if *conjunct.operation() != smt::Operation::Equal {
            continue;
        }
        let (left, right) = (&conjunct.operands()[0], &conjunct.operands()[1]);
        for (side, value) in [(left, right), (right, left)] {
            if let Some(input) = side.as_variable().filter(|variable| step.inputs.contains(variable))
                && !value.free_variables().contains(&input)
            {
                return Some((input, value.clone()));
            }
        }
    }
    None
}

/// The one value that a term has under a condition, if it has one only.
fn constant_difference(condition: &Term, term: &Term, budget: &Budget) -> Result<Option<i128>, Reason> {
    let mut solver = Solver::new();
    solver.assert(condition);
    match solver.check(budget) {
        Answer::Unsat => return Ok(Some(0)),
        Answer::Unknown(why) => return Err(no_answer(why)),
        Answer::Sat => {}
    }
    let Ok(value) = solver.int_value(term) else { return Ok(None) };
    solver.assert(&term.differs(&Term::int(value)));
    Ok((solver.check(budget) == Answer::Unsat).then_some(value))
}
