//! Threads under predicate abstraction (paper 1, section 3.4): a state is a location and the truth of
//! predicates there.
//!
//! Boolean abstraction: the states after a step are all combinations of truth values that the solver finds
//! possible, so nothing that predicates can say is lost. What a step does to a state is asked once.
//! Predicates over shared variables are tracked everywhere, so that a state decides the labels of all others.
//! Those over own variables are tracked where the thread may still read the variables (where they are live).
//!
//! Over-approximates: of the own variables of a thread that starts another one nothing is known.

use crate::thread::{Stepped, Thread};
use indexmap::IndexMap;
use ir::{ErrorKind, IdVec, LocationId, LocationKind, TemplateId};
use rustc_hash::FxHashMap;
use smt::{Answer, Instance, NoAnswer, Questions, Term, Variable};
use std::cell::RefCell;
use std::collections::BTreeSet;
use transitions::Scoped;
use verdict::{AbstractState, Action, Budget, Predicate};

/// No more predicates than this fit into a state.
pub const MOST_PREDICATES: usize = 60;

/// Where a thread is, and which predicates hold: bit by bit, 0 where a predicate is not tracked. Without a
/// location the thread is not there yet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Known {
    /// Where it is.
    pub location: Option<LocationId>,
    /// The predicates that hold.
    pub values: u64,
}

/// A thread of a template.
pub struct PredicateThread<'a, 'p> {
    scoped: &'a Scoped<'p>,
    template: TemplateId,
    predicates: &'a [Predicate],
    kinds: &'a BTreeSet<ErrorKind>,
    /// The predicates over shared variables.
    global: u64,
    /// The predicates that are tracked at each location.
    tracked: IdVec<LocationId, u64>,
    /// The shared variables that predicates speak of.
    watched: BTreeSet<Variable>,
    /// The steps from each location.
    steps: IdVec<LocationId, Vec<usize>>,
    /// The accesses at each location.
    accesses: IdVec<LocationId, BTreeSet<u32>>,
    /// Where such threads are started: the step, and which of its starts.
    sites: Vec<(usize, usize)>,
    memory: RefCell<Memory>,
    questions: RefCell<Questions>,
}

/// What was found out.
#[derive(Default)]
struct Memory {
    /// The steps from each state.
    stepped: FxHashMap<Known, Vec<(Action, usize, Known)>>,
    /// The values after a step of another thread: by what is tracked, the values before, and the step.
    after_environment_step: FxHashMap<(u64, u64, EnvironmentStep), Vec<u64>>,
    /// The values of a thread that is started: by those of shared predicates before and after that, and who
    /// starts it.
    start_states: FxHashMap<(u64, u64, TemplateId), Vec<u64>>,
    /// The accesses that can be made in a state.
    accesses: FxHashMap<Known, BTreeSet<u32>>,
    conflicts: FxHashMap<(Known, Term, u32, u32), bool>,
}

/// A step of another thread: what holds before it and after it, and the variables that it changes.
type EnvironmentStep = (Term, Term, Vec<Variable>);

/// The variable after a step of another thread.
fn next(variable: &Variable) -> Variable {
    variable.instance(Instance::Next)
}

impl<'a, 'p> PredicateThread<'a, 'p> {
    /// The threads of a template.
    pub fn new(
        scoped: &'a Scoped<'p>,
        template: TemplateId,
        predicates: &'a [Predicate],
        kinds: &'a BTreeSet<ErrorKind>,
    ) -> Self {
        let code = &scoped.program.templates[template];
        let bits = |fits: &dyn Fn(&Predicate) -> bool| {
            let found = predicates.iter().enumerate().filter(|(_, predicate)| fits(predicate));
            found.map(|(number, _)| 1u64 << number).fold(0, |all, bit| all | bit)
        };
        let mut steps: IdVec<LocationId, Vec<usize>> = code.locations.iter().map(|_| Vec::new()).collect();
        for (number, step) in scoped.steps.iter().enumerate().filter(|(_, step)| step.template == template) {
            steps[step.source].push(number);
        }
        let mut accesses: IdVec<LocationId, BTreeSet<u32>> =
            code.locations.iter().map(|_| BTreeSet::new()).collect();
        for (number, access) in scoped.accesses.iter().enumerate() {
            if access.template == template {
                accesses[access.source].insert(number as u32);
            }
        }
        let global = bits(&|predicate| predicate.scope.is_none());
        let mut sites = Vec::new();
        for (number, step) in scoped.steps.iter().enumerate() {
            let starts = step.starts.iter().enumerate().filter(|(_, start)| start.template == template);
            sites.extend(starts.map(|(which, _)| (number, which)));
        }
        let live = live(scoped, template, &steps);
        let is_own = |variable: &Variable| scoped.own[template].contains_key(variable);
        let tracked = live.iter().map(|live| {
            let is_live = |variable: &Variable| !is_own(variable) || live.contains(variable);
            global
                | bits(&|predicate| {
                    predicate.scope == Some(template)
                        && predicate.formula.free_variables().iter().all(is_live)
                })
        });
        let watched: BTreeSet<Variable> = predicates
            .iter()
            .flat_map(|predicate| predicate.formula.free_variables())
            .filter(|variable| scoped.shared.contains_key(variable))
            .collect();
        Self {
            scoped,
            template,
            predicates,
            kinds,
            global,
            tracked: tracked.collect(),
            watched,
            steps,
            accesses,
            sites,
            memory: RefCell::default(),
            questions: RefCell::default(),
        }
    }

    fn tracked(&self, state: &Known) -> u64 {
        state.location.map_or(self.global, |location| self.tracked[location])
    }

    /// That some predicates have some values.
    fn cube(&self, tracked: u64, values: u64) -> Term {
        Term::all(bits(tracked).map(|number| {
            let formula = &self.predicates[number].formula;
            if values >> number & 1 == 1 { formula.clone() } else { formula.not() }
        }))
    }

    /// What a state says of shared and own variables.
    pub fn formula(&self, state: &Known) -> Term {
        self.cube(self.tracked(state), state.values)
    }

    /// All values that formulas can have together, where a premise holds.
    fn possible(
        &self,
        premise: &Term,
        formulas: &[(usize, Term)],
        budget: &Budget,
    ) -> Result<Vec<u64>, NoAnswer> {
        let ranges = self.scoped.ranges(formulas.iter().map(|(_, formula)| formula).chain([premise]));
        self.questions.borrow_mut().ask(|solver| {
            solver.assert(premise);
            solver.assert(&ranges);
            let mut found = Vec::new();
            loop {
                match solver.check(budget) {
                    Answer::Unsat => return Ok(found),
                    Answer::Unknown(why) => return Err(why),
                    Answer::Sat => {}
                }
                let mut values = 0;
                let mut differs = Vec::new();
                for (number, formula) in formulas {
                    if solver.bool_value(formula)? {
                        values |= 1 << number;
                        differs.push(formula.not());
                    } else {
                        differs.push(formula.clone());
                    }
                }
                found.push(values);
                solver.assert(&Term::any(differs));
            }
        })
    }

    /// `post`: the states after a step.
    fn post(&self, state: &Known, number: usize, budget: &Budget) -> Result<Vec<Known>, NoAnswer> {
        let step = &self.scoped.steps[number];
        let before = self.tracked(state);
        let tracked = self.tracked[step.target];
        let mut kept = 0;
        let mut open = Vec::new();
        for number in bits(tracked) {
            let predicate = &self.predicates[number];
            if before >> number & 1 == 1 && !self.scoped.changes(step, predicate) {
                kept |= 1 << number;
            } else {
                open.push((number, predicate.formula.substitute(&step.updates)));
            }
        }
        let values = if open.is_empty() && step.guard.is_true() {
            vec![0]
        } else {
            let formulas: Vec<&Term> = open.iter().map(|(_, formula)| formula).collect();
            let premise = self.cube(before, state.values).and(&self.scoped.premise(step, formulas));
            self.possible(&premise, &open, budget)?
        };
        let location = Some(step.target);
        Ok(values
            .into_iter()
            .map(|values| Known { location, values: values | state.values & kept })
            .collect())
    }

    /// The values of a thread that is started at a site, between two states before its start.
    fn started(
        &self,
        (number, which): (usize, usize),
        before: &Known,
        before_start: &Known,
        entry: LocationId,
        budget: &Budget,
    ) -> Result<Vec<u64>, NoAnswer> {
        let step = &self.scoped.steps[number];
        let shared = step.updates.iter().filter(|(variable, _)| self.scoped.shared.contains_key(*variable));
        let mut first: IndexMap<Variable, Term> =
            shared.map(|(variable, value)| (variable.clone(), value.clone())).collect();
        first.extend(step.starts[which].first.iter().map(|(one, value)| (one.clone(), value.clone())));
        let open: Vec<(usize, Term)> = bits(self.tracked[entry] & !self.global)
            .map(|number| (number, self.predicates[number].formula.substitute(&first)))
            .collect();
        let after = self.formula(before_start).substitute(&first);
        let terms: Vec<&Term> = open.iter().map(|(_, formula)| formula).chain([&after]).collect();
        let premise = self.formula(before).and(&after).and(&self.scoped.premise(step, terms));
        let values = self.possible(&premise, &open, budget)?;
        Ok(values.into_iter().map(|values| values | before_start.values).collect())
    }

    /// What others see of a step between two states.
    fn action(&self, number: usize, from: &Known, to: &Known) -> Action {
        let step = &self.scoped.steps[number];
        let is_changed =
            |variable: &&Variable| step.updates.get(*variable).is_some_and(|value| *value != variable.term());
        let havoc: BTreeSet<Variable> = self.watched.iter().filter(is_changed).cloned().collect();
        let mut starts: Vec<TemplateId> = step.starts.iter().map(|start| start.template).collect();
        starts.sort();
        if havoc.is_empty() && starts.is_empty() {
            return Action::default();
        }
        let changed = bits(self.global)
            .filter(|number| {
                self.predicates[*number].formula.free_variables().iter().any(|one| havoc.contains(one))
            })
            .fold(0, |all, number| all | 1 << number);
        let guard = self.cube(self.global, from.values);
        Action { havoc, starts, guard, after: self.cube(changed, to.values) }
    }
}

/// The numbers of the bits of a set.
fn bits(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |number| set >> number & 1 == 1)
}

/// The own variables that a thread may still read, at each location.
fn live(
    scoped: &Scoped<'_>,
    template: TemplateId,
    steps: &IdVec<LocationId, Vec<usize>>,
) -> IdVec<LocationId, BTreeSet<Variable>> {
    let own = &scoped.own[template];
    let mut live: IdVec<LocationId, BTreeSet<Variable>> = steps.iter().map(|_| BTreeSet::new()).collect();
    for access in scoped.accesses.iter().filter(|access| access.template == template) {
        let race = scoped.race(access, access);
        live[access.source].extend(race.free_variables().into_iter().filter(|one| own.contains_key(one)));
    }
    loop {
        let mut changed = false;
        for number in steps.iter().flatten() {
            let step = &scoped.steps[*number];
            let mut read = step.guard.free_variables();
            for (variable, value) in &step.updates {
                if scoped.shared.contains_key(variable) || live[step.target].contains(variable) {
                    read.extend(value.free_variables());
                }
            }
            for value in step.starts.iter().flat_map(|start| start.first.values()) {
                read.extend(value.free_variables());
            }
            let through = live[step.target].iter().filter(|one| !step.updates.contains_key(*one));
            read.extend(through.cloned());
            let here = &mut live[step.source];
            let before = here.len();
            here.extend(read.into_iter().filter(|variable| own.contains_key(variable)));
            changed |= here.len() > before;
        }
        if !changed {
            return live;
        }
    }
}

impl Thread for PredicateThread<'_, '_> {
    type State = Known;
    type Step = usize;

    fn before_start(&self, budget: &Budget) -> Result<Vec<Known>, NoAnswer> {
        let formulas: Vec<(usize, Term)> =
            bits(self.global).map(|number| (number, self.predicates[number].formula.clone())).collect();
        let values = self.possible(&self.scoped.initial, &formulas, budget)?;
        Ok(values.into_iter().map(|values| Known { location: None, values }).collect())
    }

    fn start_states(
        &self,
        by: Option<(&Known, TemplateId)>,
        before_start: &Known,
        budget: &Budget,
    ) -> Result<Vec<Known>, NoAnswer> {
        let entry = self.scoped.program.templates[self.template].entry;
        let location = Some(entry);
        // The first thread has no own variables.
        let Some((before, who)) = by else { return Ok(vec![Known { location, ..*before_start }]) };
        let key = (before.values, before_start.values, who);
        let known = self.memory.borrow().start_states.get(&key).cloned();
        let values = match known {
            Some(known) => known,
            None => {
                let mut found = BTreeSet::new();
                for (number, which) in &self.sites {
                    if self.scoped.steps[*number].template == who {
                        found.extend(self.started((*number, *which), before, before_start, entry, budget)?);
                    }
                }
                let found: Vec<u64> = found.into_iter().collect();
                self.memory.borrow_mut().start_states.insert(key, found.clone());
                found
            }
        };
        Ok(values.into_iter().map(|values| Known { location, values }).collect())
    }

    fn outside(&self, state: &Known) -> Known {
        Known { location: None, values: state.values & self.global }
    }

    fn is_atomic(&self, state: &Known) -> bool {
        let locations = &self.scoped.program.templates[self.template].locations;
        state.location.is_some_and(|location| locations[location].runs_alone())
    }

    fn label(&self, state: &Known) -> Term {
        self.cube(self.global, state.values)
    }

    fn accesses(&self, state: &Known, budget: &Budget) -> Result<BTreeSet<u32>, NoAnswer> {
        let Some(location) = state.location else { return Ok(BTreeSet::new()) };
        if self.accesses[location].is_empty() {
            return Ok(BTreeSet::new());
        }
        if let Some(known) = self.memory.borrow().accesses.get(state) {
            return Ok(known.clone());
        }
        let mut found = BTreeSet::new();
        for number in &self.accesses[location] {
            let condition = self.scoped.condition(&self.scoped.accesses[*number as usize]);
            let premise = self.formula(state).and(&condition);
            if !self.possible(&premise, &[], budget)?.is_empty() {
                found.insert(*number);
            }
        }
        self.memory.borrow_mut().accesses.insert(*state, found.clone());
        Ok(found)
    }

    fn steps(&self, state: &Known, budget: &Budget) -> Result<Vec<Stepped<Self>>, NoAnswer> {
        let Some(location) = state.location else { return Ok(Vec::new()) };
        if let Some(known) = self.memory.borrow().stepped.get(state) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        for number in &self.steps[location] {
            for next in self.post(state, *number, budget)? {
                found.push((self.action(*number, state, &next), *number, next));
            }
        }
        self.memory.borrow_mut().stepped.insert(*state, found.clone());
        Ok(found)
    }

    fn after_environment_step(
        &self,
        state: &Known,
        action: &Action,
        label: &Term,
        budget: &Budget,
    ) -> Result<Vec<Known>, NoAnswer> {
        if action.is_silent() && action.guard.is_true() {
            return Ok(vec![*state]);
        }
        let tracked = self.tracked(state);
        let after = action.after.and(label);
        let havoc: Vec<Variable> = action.havoc.iter().cloned().collect();
        let key = (tracked, state.values, (action.guard.clone(), after.clone(), havoc));
        let known = self.memory.borrow().after_environment_step.get(&key).cloned();
        let values = match known {
            Some(known) => known,
            None => {
                let moved = |term: &Term| {
                    term.rename(|variable| action.havoc.contains(variable).then(|| next(variable)))
                };
                let mut kept = 0;
                let mut open = Vec::new();
                for number in bits(tracked) {
                    let formula = &self.predicates[number].formula;
                    if formula.free_variables().is_disjoint(&action.havoc) {
                        kept |= 1 << number;
                    } else {
                        open.push((number, moved(formula)));
                    }
                }
                let range = |variable: &Variable| {
                    self.scoped.ranges([&variable.term()]).rename(|_| Some(next(variable)))
                };
                let ranges = Term::all(action.havoc.iter().map(range));
                let premise = self.cube(tracked, state.values).and(&action.guard);
                let premise = premise.and(&moved(&after)).and(&ranges);
                let found = self.possible(&premise, &open, budget)?;
                let found: Vec<u64> = found.into_iter().map(|values| values | state.values & kept).collect();
                self.memory.borrow_mut().after_environment_step.insert(key, found.clone());
                found
            }
        };
        Ok(values.into_iter().map(|values| Known { location: state.location, values }).collect())
    }

    fn is_error(&self, state: &Known) -> bool {
        let locations = &self.scoped.program.templates[self.template].locations;
        state.location.is_some_and(|location| match locations[location].kind {
            LocationKind::Error(kind) => self.kinds.contains(&kind),
            LocationKind::Normal | LocationKind::End | LocationKind::Exit | LocationKind::Halt => false,
        })
    }

    fn conflict(
        &self,
        state: &Known,
        template: TemplateId,
        seen: &AbstractState,
        budget: &Budget,
    ) -> Result<Option<(u32, u32)>, NoAnswer> {
        for one in self.accesses(state, budget)? {
            for two in &seen.accesses {
                let key = (*state, seen.label.clone(), one, *two);
                let known = self.memory.borrow().conflicts.get(&key).copied();
                let collides = match known {
                    Some(known) => known,
                    None => {
                        let accesses = &self.scoped.accesses;
                        let race = self.scoped.race(&accesses[one as usize], &accesses[*two as usize]);
                        let collides = !race.is_false() && {
                            let premise = self.formula(state).and(&seen.label).and(&race);
                            let premise = premise.and(&self.scoped.apart(self.template, template));
                            !self.possible(&premise, &[], budget)?.is_empty()
                        };
                        self.memory.borrow_mut().conflicts.insert(key, collides);
                        collides
                    }
                };
                if collides {
                    return Ok(Some((one, *two)));
                }
            }
        }
        Ok(None)
    }
}
