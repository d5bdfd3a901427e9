//! Decides by counting whether the composition of abstract threads goes wrong: an abstract thread has only a
//! state, so only the number of threads in each state matters.
//!
//! The composition becomes a sequential program: its variables are those of the specification, and for each
//! state of each abstract thread a number of threads. A transition takes a thread from one state to another.
//! If there is only one thread, its state is part of the node instead. If any number of threads may be in a
//! state from the start, they are not counted: there are always enough. Exact, for each fixed number of
//! threads and for any number, as long as the specification does not mention ids of threads. (Beyond paper 2,
//! which composes fixed numbers.)
//!
//! Sums that no transition changes (as the place invariants of Petri nets) are found by linear algebra first,
//! and given to the model checker as facts: numbers of threads that a variable counts are such.

use crate::conformance::{no_answer, untranslatable};
use crate::enumerate::enumerate;
use crate::sums::unchanged_sums;
use indexmap::{IndexMap, IndexSet};
use ir::specification::Specification;
use ir::{Count, Program};
use sequential::{Forbidden, Outcome, Step};
use smt::expressions::Untranslatable;
use smt::{Answer, Instance, Name, Solver, Term, Value, Variable};
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

/// More combinations of states of single threads are not distinguished.
const MOST_NODES: usize = 200;

/// The composition as a sequential program.
pub(crate) struct Counting<'a> {
    specification: &'a Specification,
    pub(crate) program: sequential::Program,
    /// The variables that are numbers of threads.
    pub(crate) counted: IndexSet<Variable>,
    /// The threads that there is one of and whose states are part of the node.
    single: Vec<usize>,
    /// Their states at each node.
    nodes: Vec<Vec<usize>>,
    /// The thread and the transition of each step.
    steps: Vec<(usize, usize)>,
    /// The thread and the state of each forbidden thing.
    wrong: Vec<(usize, usize)>,
}

/// Decides the composition.
pub(crate) fn count(specification: &Specification, program: &Program, budget: &Budget) -> Counted {
    if specification.names_threads() {
        let text = "the specification speaks of the owners of locks".to_owned();
        return Counted::Unknown(Reason::NotSupported(text, ir::Span::default()));
    }
    let mut counting = match Counting::new(specification, program) {
        Ok(counting) => counting,
        Err(why) => return Counted::Unknown(untranslatable(why)),
    };
    if let Some(invariant) = enumerate(&counting, budget) {
        return Counted::Safe(invariant);
    }
    let facts = match counting.facts(budget) {
        Ok(facts) => facts,
        Err(why) => return Counted::Unknown(why),
    };
    let facts = Term::all(facts);
    let at: Vec<Term> = (0..counting.nodes.len()).map(|node| counting.at_node(node, &facts)).collect();
    for step in &mut counting.program.steps {
        step.guard = step.guard.and(&at[step.source]);
    }
    for forbidden in &mut counting.program.forbidden {
        forbidden.formula = forbidden.formula.and(&at[forbidden.node]);
    }
    match sequential::check(&counting.program, budget) {
        Outcome::Safe(invariants) => Counted::Safe(counting.invariant(&invariants, &facts)),
        Outcome::Unsafe(path) => Counted::Wrong(counting.story(&path)),
        Outcome::Unknown(why) => Counted::Unknown(no_answer(why)),
    }
}

impl<'a> Counting<'a> {
    fn new(specification: &'a Specification, program: &Program) -> Result<Self, Untranslatable> {
        let meaning = Meaning::plain(specification);
        let variables: IndexMap<Variable, Term> =
            meaning.ranges().map(|(variable, range)| (variable.clone(), range)).collect();
        let mut initial = vec![meaning.condition(&specification.start_condition(program))?];
        initial.extend(variables.values().cloned());
        let mut result = Self {
            specification,
            program: sequential::Program::new(variables, Term::bool(true)),
            counted: IndexSet::new(),
            single: Vec::new(),
            nodes: Vec::new(),
            steps: Vec::new(),
            wrong: Vec::new(),
        };
        result.make_nodes();
        for (number, thread) in specification.threads.iter().enumerate() {
            if result.single.contains(&number) {
                continue;
            }
            let mut started = Vec::new();
            for state in 0..thread.states.len() {
                if !result.matters(number, state) {
                    continue;
                }
                let here = result.number_in(number, state);
                if thread.initial.contains(&state) {
                    started.push(here.term());
                } else {
                    initial.push(here.term().equals(&Term::int(0)));
                }
                let never_less = Term::int(0).at_most(&here.term());
                initial.push(never_less.clone());
                result.program.variables.insert(here.clone(), never_less);
                result.counted.insert(here);
            }
            if let Count::Exactly(copies) = thread.count {
                initial.push(Term::sum(started).equals(&Term::int(copies.into())));
            }
        }
        result.program.initial = Term::all(initial);
        result.make_forbidden(&meaning)?;
        for (number, thread) in specification.threads.iter().enumerate() {
            for which in 0..thread.transitions.len() {
                result.make_steps(&meaning, number, which)?;
            }
        }
        result.put_known_values();
        Ok(result)
    }

    /// One node for each combination of the states of single threads.
    fn make_nodes(&mut self) {
        self.nodes.push(Vec::new());
        for (number, thread) in self.specification.threads.iter().enumerate() {
            let states = thread.states.len();
            let fits = thread.count == Count::Exactly(1) && thread.initial.len() == 1;
            if fits && self.nodes.len() * states <= MOST_NODES {
                self.single.push(number);
                let more = |node: &Vec<usize>| {
                    (0..states).map(|state| [node.as_slice(), &[state]].concat()).collect::<Vec<_>>()
                };
                self.nodes = self.nodes.iter().flat_map(more).collect();
            }
        }
        for node in &self.nodes {
            self.program.node(format!("{node:?}"), true);
        }
        let start: Vec<usize> =
            self.single.iter().map(|thread| self.specification.threads[*thread].initial[0]).collect();
        self.program.entry = self.nodes.iter().position(|node| *node == start).unwrap_or(0);
    }

    fn number_in(&self, thread: usize, state: usize) -> Variable {
        population(thread, state, &self.specification.threads[thread].states[state].name)
    }
    /// Whether there may be as many threads in a state as one likes: then they are not counted.
    fn is_endless(&self, thread: usize, state: usize) -> bool {
        let thread = &self.specification.threads[thread];
        thread.count == Count::Any && thread.initial.contains(&state)
    }
    /// Whether it matters how many threads are in a state: one of them may continue, or something must hold
    /// while it is there that need not hold anyway.
    fn matters(&self, number: usize, state: usize) -> bool {
        let thread = &self.specification.threads[number];
        let continues = thread.transitions.iter().any(|transition| transition.source == state);
        let asserts = thread.states[state].assertion.iter().any(|condition| !self.holds_anyway(condition));
        let starts = thread.initial.contains(&state);
        !self.is_endless(number, state) && (continues || asserts || starts)
    }
    /// Whether a condition must hold anyway, as some thread may always be where it must.
    fn holds_anyway(&self, condition: &ir::Expr) -> bool {
        self.specification.threads.iter().enumerate().any(|(number, thread)| {
            let states = (0..thread.states.len()).filter(|state| self.is_endless(number, *state));
            states.into_iter().any(|state| thread.states[state].assertion.contains(condition))
        })
    }
    /// When some thread is in a state, at a node.
    fn is_there(&self, node: usize, thread: usize, state: usize) -> Term {
        match self.single.iter().position(|single| *single == thread) {
            Some(position) => Term::bool(self.nodes[node][position] == state),
            None if self.is_endless(thread, state) => Term::bool(true),
            None => Term::int(1).at_most(&self.number_in(thread, state).term()),
        }
    }

    fn make_forbidden(&mut self, meaning: &Meaning<'_>) -> Result<(), Untranslatable> {
        for (number, thread) in self.specification.threads.iter().enumerate() {
            for (state, what) in thread.states.iter().enumerate() {
                for condition in &what.assertion {
                    if self.holds_anyway(condition) && !self.is_endless(number, state) {
                        continue;
                    }
                    let fails = meaning.condition(std::slice::from_ref(condition))?.not();
                    for node in 0..self.nodes.len() {
                        let formula = self.is_there(node, number, state).and(&fails);
                        if !formula.is_false() {
                            self.program.forbidden.push(Forbidden { node, formula });
                            self.wrong.push((number, state));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn make_steps(
        &mut self,
        meaning: &Meaning<'_>,
        number: usize,
        which: usize,
    ) -> Result<(), Untranslatable> {
        let transition = &self.specification.threads[number].transitions[which];
        let mut replace: IndexMap<Variable, Term> = IndexMap::new();
        let mut guard = Vec::new();
        let mut updates: IndexMap<Variable, Term> = IndexMap::new();
        let mut inputs = Vec::new();
        for (position, (variable, range)) in meaning.ranges().enumerate() {
            replace.insert(before(variable), variable.term());
            if transition.changes.contains(&position) {
                let input = variable.instance(Instance::New);
                replace.insert(variable.clone(), input.term());
                updates.insert(variable.clone(), input.term());
                guard.push(range.rename(|_| Some(input.clone())));
                inputs.push(input);
            }
        }
        // Only what changes is spoken of as new: the frame is left out, as it is what updates are.
        guard.push(meaning.condition(&transition.condition)?.substitute(&replace));
        let is_single = self.single.iter().position(|single| *single == number);
        if transition.source != transition.target && is_single.is_none() {
            for (state, more) in [(transition.source, -1), (transition.target, 1)] {
                if self.matters(number, state) {
                    let here = self.number_in(number, state);
                    updates.insert(here.clone(), here.term().plus(&Term::int(more)));
                }
            }
        }
        for source in 0..self.nodes.len() {
            let there = self.is_there(source, number, transition.source);
            let guard = Term::all(guard.iter().cloned().chain([there]));
            let mut after = self.nodes[source].clone();
            if let Some(position) = is_single {
                after[position] = transition.target;
            }
            let target = self.nodes.iter().position(|node| *node == after).unwrap_or(source);
            if !guard.is_false() {
                let (updates, inputs) = (updates.clone(), inputs.clone());
                self.program.steps.push(Step { source, target, guard, updates, inputs });
                self.steps.push((number, which));
            }
        }
        Ok(())
    }

    /// What holds always, from what holds at each node.
    fn invariant(&self, invariants: &sequential::Invariants, facts: &Term) -> Term {
        let at = |node: usize| invariants.at(node).cloned().unwrap_or_else(|| Term::bool(true));
        self.whole(&at).and(facts)
    }

    /// That what holds at each node holds where single threads are so, and what holds anyway.
    pub(crate) fn whole(&self, at: &dyn Fn(usize) -> Term) -> Term {
        let one = |thread: usize, state: usize| self.number_in(thread, state).term().equals(&Term::int(1));
        let mut all: Vec<Term> = self.program.variables.values().cloned().collect();
        for thread in &self.single {
            let states = self.specification.threads[*thread].states.len();
            let numbers = (0..states).map(|state| self.number_in(*thread, state).term());
            all.extend(numbers.clone().map(|number| Term::int(0).at_most(&number)));
            all.push(Term::sum(numbers).equals(&Term::int(1)));
        }
        for (node, states) in self.nodes.iter().enumerate() {
            let here = self.single.iter().zip(states).map(|(thread, state)| one(*thread, *state));
            all.push(Term::all(here).implies(&at(node)));
        }
        Term::all(all)
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

    /// Equations that hold always: sums that no step changes. Over the variables, and the numbers of all
    /// threads that are counted or single.
    fn facts(&self, budget: &Budget) -> Result<Vec<Term>, Reason> {
        let numbers: Vec<Variable> =
            self.program.variables.keys().filter(|v| v.sort == smt::Sort::Int).cloned().collect();
        let indicators: Vec<(usize, usize)> = (0..self.single.len())
            .flat_map(|position| {
                let states = self.specification.threads[self.single[position]].states.len();
                (0..states).map(move |state| (position, state))
            })
            .collect();
        // What each transition does to each number, if that is always the same.
        let mut known: IndexMap<(usize, usize), Vec<Option<i128>>> = IndexMap::new();
        for (step, which) in self.program.steps.iter().zip(&self.steps) {
            if !known.contains_key(which) {
                let of = |variable: &Variable| match step.updates.get(variable) {
                    None => Ok(Some(0)),
                    Some(value) => constant_value(&step.guard, &value.minus(&variable.term()), budget),
                };
                known.insert(*which, numbers.iter().map(of).collect::<Result<_, Reason>>()?);
            }
        }
        let useful: Vec<usize> = (0..numbers.len())
            .filter(|number| known.values().all(|change| change[*number].is_some()))
            .collect();
        let is_at =
            |node: usize, (position, state): (usize, usize)| i128::from(self.nodes[node][position] == state);
        let mut rows: IndexSet<Vec<i128>> = IndexSet::new();
        for (step, which) in self.program.steps.iter().zip(&self.steps) {
            let of_numbers = useful.iter().map(|number| known[which][*number].unwrap_or(0));
            let of_nodes = indicators
                .iter()
                .map(|indicator| is_at(step.target, *indicator) - is_at(step.source, *indicator));
            rows.insert(of_numbers.chain(of_nodes).collect());
        }
        let rows: Vec<Vec<i128>> = rows.into_iter().collect();
        let mut facts = Vec::new();
        for weights in unchanged_sums(&rows, useful.len() + indicators.len()) {
            let of_numbers = useful.iter().map(|number| numbers[*number].term());
            let of_nodes = indicators
                .iter()
                .map(|(position, state)| self.number_in(self.single[*position], *state).term());
            let parts = of_numbers.chain(of_nodes).zip(&weights).filter(|(_, weight)| **weight != 0);
            let sum = Term::sum(parts.map(|(number, weight)| number.times(&Term::int(*weight))));
            let at_start = self.at_node(self.program.entry, &sum);
            if let Some(value) = constant_value(&self.program.initial, &at_start, budget)? {
                facts.push(sum.equals(&Term::int(value)));
            }
        }
        Ok(facts)
    }

    /// A term at a node, where single threads are known to be.
    fn at_node(&self, node: usize, term: &Term) -> Term {
        let mut replace = IndexMap::new();
        for (thread, at) in self.single.iter().zip(&self.nodes[node]) {
            for state in 0..self.specification.threads[*thread].states.len() {
                replace.insert(self.number_in(*thread, state), Term::int(i128::from(state == *at)));
            }
        }
        term.substitute(&replace)
    }

    /// An execution, for people.
    fn story(&self, path: &sequential::Path) -> Vec<String> {
        let values = |state: &IndexMap<Variable, Value>| {
            let shown = self.specification.variables.iter().map(|variable| {
                let name = Name::from(variable.name.as_str());
                let value = state.iter().find(|(known, _)| known.name == name);
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
    let mut conjuncts = vec![step.guard.clone()];
    while let Some(conjunct) = conjuncts.pop() {
        if *conjunct.operation() == smt::Operation::And {
            conjuncts.extend(conjunct.operands().iter().cloned());
            continue;
        }
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
fn constant_value(condition: &Term, term: &Term, budget: &Budget) -> Result<Option<i128>, Reason> {
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
