//! Layer by layer: all states that are so many steps from the start.
//!
//! States of one layer with the same key are merged: a fresh choice says which of them it is, so nothing is
//! lost. A state that occurred in an earlier layer, with the same formulas, is not followed again.

use crate::symbolic::state::{Inputs, Key, State};
use indexmap::{IndexMap, IndexSet};
use ir::{LocationId, LocationKind, Span, TemplateId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smt::{Answer, Solver, Term, Variable};
use std::hash::{Hash, Hasher};
use std::time::Duration;
use transitions::{Start, Step, System};
use verdict::{Budget, Exhausted, Schedule};

/// Layers that are followed.
const MOST_LAYERS: usize = 4_000;
/// States of one layer; further ones are left out.
const WIDEST: usize = 400;
/// Threads.
const MOST_THREADS: usize = 24;
/// The solver gets this long to say that a branch cannot be taken.
const PATIENCE: Duration = Duration::from_millis(300);
/// Formulas with more nodes than this are not followed.
const LARGEST: usize = 60_000;

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Nothing was left to follow.
    Complete,
    /// Something was left out.
    Bounded,
    /// The budget ran out.
    Exhausted(Exhausted),
}

/// A program made ready for the search.
pub struct Layers<'a> {
    system: &'a System<'a>,
    /// The steps from each location.
    steps: IndexMap<(TemplateId, LocationId), Vec<&'a Step>>,
    heads: IndexSet<(TemplateId, LocationId)>,
    /// The threads that run from the start.
    first: Vec<Start>,
}

/// The place of a step, and its inputs; `None` when the thread gave way.
type Taken = Option<(Span, Vec<Variable>)>;

/// How a state was reached.
#[derive(Clone)]
struct Came {
    /// The place of the state before in its layer.
    from: usize,
    /// The condition for this; `None` when it is the only possibility.
    choice: Option<Term>,
    thread: usize,
    step: Taken,
}

/// A state of a layer.
struct Entry {
    state: State,
    /// The last one whose choice holds is how it was reached.
    came: Vec<Came>,
}

impl<'a> Layers<'a> {
    /// Makes a program ready; `None` when any number of threads run from the start.
    pub fn new(system: &'a System<'a>) -> Option<Self> {
        let mut steps: IndexMap<(TemplateId, LocationId), Vec<&Step>> = IndexMap::new();
        for step in &system.steps {
            steps.entry((step.template, step.source)).or_default().push(step);
        }
        let mut heads = IndexSet::new();
        for (template, code) in system.program.templates.enumerate() {
            let targets = |at: LocationId| {
                let here = steps.get(&(template, at));
                here.map_or_else(Vec::new, |steps| steps.iter().map(|step| step.target).collect())
            };
            heads.extend(transitions::loop_heads(code.entry, targets).into_iter().map(|at| (template, at)));
        }
        let pointer = system.program.data_model.pointer();
        let mut first = Vec::new();
        for (entry, (template, count)) in system.program.start.iter().enumerate() {
            let (id, _) = system.first_ids(entry);
            let ir::Count::Exactly(copies) = count else { return None };
            for copy in 0..*copies {
                let id = system.number(id? + i128::from(copy), pointer);
                first.push(Start { template: *template, parameters: vec![], id });
            }
        }
        Some(Self { system, steps, heads, first })
    }

    /// Follows executions with at most so many delays. Each violation is shown, until one is taken.
    pub fn run(&self, delays: u32, budget: &Budget, take: &mut dyn FnMut(&Schedule) -> bool) -> Ended {
        let mut search = Search {
            layers: self,
            budget,
            inputs: Inputs::default(),
            solver: Solver::new(),
            seen: FxHashSet::default(),
            past: Vec::new(),
            bounded: false,
        };
        let mut state = State::initial(self.system, &mut search.inputs, delays);
        for start in &self.first {
            state.start(self.system, start, &IndexMap::new(), &mut search.inputs);
        }
        let mut layer = vec![Entry { state, came: vec![] }];
        while !layer.is_empty() {
            if let Err(why) = budget.check(0) {
                return Ended::Exhausted(why);
            }
            if search.past.len() >= MOST_LAYERS {
                return Ended::Bounded;
            }
            layer = match search.next(layer, take) {
                Some(layer) => layer,
                None => return Ended::Bounded,
            };
        }
        if let Err(why) = budget.check(0) {
            return Ended::Exhausted(why);
        }
        if search.bounded { Ended::Bounded } else { Ended::Complete }
    }

    fn steps_of(&self, state: &State, thread: usize) -> &[&'a Step] {
        let running = &state.threads[thread];
        self.steps.get(&(running.template, running.location)).map_or(&[], Vec::as_slice)
    }

    fn is_atomic(&self, state: &State, thread: usize) -> bool {
        let running = &state.threads[thread];
        self.system.program.templates[running.template].locations[running.location].runs_alone()
    }

    /// Who comes after a thread, of those that have anything left to do.
    fn next_turn(&self, state: &State, thread: usize) -> usize {
        let count = state.threads.len();
        let mut others = (1..=count).map(|offset| (thread + offset) % count);
        others.find(|other| !self.steps_of(state, *other).is_empty()).unwrap_or(thread)
    }
}

/// A search.
struct Search<'a, 's> {
    layers: &'a Layers<'s>,
    budget: &'a Budget,
    inputs: Inputs,
    solver: Solver,
    /// States that were followed.
    seen: FxHashSet<u64>,
    /// How the states of all layers were reached.
    past: Vec<Vec<Vec<Came>>>,
    bounded: bool,
}

impl Search<'_, '_> {
    /// The layer after one; `None` when a violation was taken.
    fn next(&mut self, layer: Vec<Entry>, take: &mut dyn FnMut(&Schedule) -> bool) -> Option<Vec<Entry>> {
        let (states, came): (Vec<State>, Vec<Vec<Came>>) =
            layer.into_iter().map(|entry| (entry.state, entry.came)).unzip();
        self.past.push(came);
        let mut entries: Vec<Entry> = Vec::new();
        let mut places: FxHashMap<Key, usize> = FxHashMap::default();
        for (from, state) in states.into_iter().enumerate() {
            if self.budget.check(0).is_err() {
                return Some(Vec::new());
            }
            for (next, thread, step) in self.successors(&state) {
                if self.is_error(&next, thread) {
                    let schedule = self.schedule(&next, from, (thread, step));
                    if schedule.is_some_and(|schedule| take(&schedule)) {
                        return None;
                    }
                    continue;
                }
                let came = Came { from, choice: None, thread, step };
                match places.get(&next.key()) {
                    Some(place) => {
                        let entry = &mut entries[*place];
                        let choice = self.inputs.choice();
                        entry.state.join(&next, &choice);
                        entry.came.push(Came { choice: Some(choice), ..came });
                    }
                    None if entries.len() >= WIDEST => self.bounded = true,
                    None => {
                        places.insert(next.key(), entries.len());
                        entries.push(Entry { state: next, came: vec![came] });
                    }
                }
            }
        }
        entries.retain(|entry| self.is_new(&entry.state));
        Some(entries)
    }

    fn is_new(&mut self, state: &State) -> bool {
        let mut hasher = FxHasher::default();
        (&state.threads, &state.values, &state.path, state.turn, state.left).hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }

    fn is_error(&self, state: &State, thread: usize) -> bool {
        let running = &state.threads[thread];
        let code = &self.layers.system.program.templates[running.template];
        matches!(code.locations[running.location].kind, LocationKind::Error(_))
    }

    /// The states after one, each with who moved, and how.
    fn successors(&mut self, state: &State) -> Vec<(State, usize, Taken)> {
        let (layers, system) = (self.layers, self.layers.system);
        let alone = (0..state.threads.len()).find(|thread| layers.is_atomic(state, *thread));
        let thread = alone.unwrap_or(state.turn);
        let seen = state.seen(system, thread);
        let mut found = Vec::new();
        let mut guards = Vec::new();
        for step in layers.steps_of(state, thread) {
            let mut seen = seen.clone();
            let inputs: Vec<Variable> = step.inputs.iter().map(|input| self.inputs.fresh(input)).collect();
            seen.extend(step.inputs.iter().cloned().zip(inputs.iter().map(Variable::term)));
            let guard = step.guard.substitute(&seen);
            if guard.is_false() {
                continue;
            }
            guards.push(guard.clone());
            if state.threads.len() + step.starts.len() > MOST_THREADS || guard.size() > LARGEST {
                self.bounded = true;
                continue;
            }
            let path = state.path.and(&guard);
            if !guard.is_true() && self.cannot_be(&path) {
                continue;
            }
            let before = State { path, ..state.clone() };
            let mut next = before.after(system, thread, step, &seen, &mut self.inputs);
            if alone.is_none() && layers.heads.contains(&(step.template, step.target)) {
                next.turn = layers.next_turn(&next, thread);
            }
            let span =
                step.edges.first().map(|edge| system.program.templates[step.template].edges[*edge].span);
            found.push((next, thread, Some((span.unwrap_or_default(), inputs))));
        }
        // Whoever has nothing to do, or may have to wait, gives way for nothing.
        let delay = u32::from(!guards.is_empty() && self.is_total(state, &guards));
        let turn = layers.next_turn(state, thread);
        if alone.is_none() && delay <= state.left && turn != thread {
            found.push((State { turn, left: state.left - delay, ..state.clone() }, thread, None));
        }
        found
    }

    /// Whether one of some conditions always holds in a state.
    fn is_total(&mut self, state: &State, guards: &[Term]) -> bool {
        let any = Term::any(guards.iter().cloned());
        any.is_true() || self.cannot_be(&state.path.and(&any.not()))
    }

    fn cannot_be(&mut self, formula: &Term) -> bool {
        let within = self.budget.patient_for(PATIENCE);
        formula.is_false()
            || self.solver.check_assuming(std::slice::from_ref(formula), &within) == Answer::Unsat
    }

    /// Who runs when in an execution to a state, if there is one.
    fn schedule(&mut self, state: &State, from: usize, last: (usize, Taken)) -> Option<Schedule> {
        let mut solver = Solver::new();
        solver.assert(&state.path);
        if solver.check(self.budget) != Answer::Sat {
            return None;
        }
        let mut moves = vec![last];
        let mut place = from;
        for layer in self.past.iter().rev() {
            let arrivals = &layer[place];
            let holds = |solver: &mut Solver, came: &Came| match &came.choice {
                Some(choice) => solver.bool_value(choice).unwrap_or(false),
                None => true,
            };
            let Some(came) = arrivals.iter().rev().find(|came| holds(&mut solver, came)) else { break };
            moves.push((came.thread, came.step.clone()));
            place = came.from;
        }
        let mut schedule = Schedule::default();
        for (thread, step) in moves.into_iter().rev() {
            if let Some((span, inputs)) = step {
                // Inputs are numbers or truth values. One without a value is of no account, but keeps its
                // place.
                let mut number = |input: &Variable| {
                    let value = solver.value(&input.term()).ok()?;
                    value.as_int().or_else(|| value.as_bool().map(i128::from))
                };
                let values = inputs.iter().map(|input| number(input).unwrap_or(0));
                schedule.push(thread, span, values.collect::<Vec<_>>());
            }
        }
        Some(schedule)
    }
}
