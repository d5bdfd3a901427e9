//! Checks the claims about a thread and the candidates of its abstract thread, and that they suffice.

use super::{follows, is_error, untranslatable};
use crate::ProofError;
use crate::names::speaks_only_of;
use crate::ready::{claim, missing};
use indexmap::{IndexMap, IndexSet};
use ir::specification::{Specification, Thread};
use ir::{LocationId, Program, TemplateId};
use smt::{Instance, Term, Variable};
use transitions::specification::{Meaning, before, candidate};
use transitions::{Kind, Step, System};
use verdict::{Budget, Conformance};

/// The longest path through locations without formulas.
const LONGEST: usize = 20_000;

/// A thread, and what it must conform to.
pub(super) struct Checker<'a> {
    system: &'a System<'a>,
    template: TemplateId,
    thread: &'a Thread,
    meaning: Meaning<'a>,
    candidates: Vec<Variable>,
    /// The start condition, if this is the first thread.
    start: Option<Term>,
    /// What always holds.
    always: Vec<Term>,
    /// The variables that others may change, each with its range.
    global: IndexMap<Variable, Term>,
    budget: &'a Budget,
}

/// Which other threads run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// None was started.
    Alone,
    /// One was started, and cannot run yet.
    Starting,
    /// Others run.
    Together,
}

/// A symbolic state: terms for the variables, over initial variables and arbitrary values; and what holds of
/// these.
#[derive(Clone)]
struct State {
    values: IndexMap<Variable, Term>,
    facts: Vec<Term>,
    length: usize,
}

impl State {
    fn step(&mut self, step: &Step) {
        let fresh = |input: &Variable| input.instance(Instance::Moment(self.length as u32)).term();
        let mut replace = self.values.clone();
        replace.extend(step.inputs.iter().map(|input| (input.clone(), fresh(input))));
        self.facts.push(step.guard.substitute(&replace));
        let new: Vec<(Variable, Term)> = step
            .updates
            .iter()
            .map(|(variable, value)| (variable.clone(), value.substitute(&replace)))
            .collect();
        self.values.extend(new);
        self.length += 1;
    }
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        specification: &'a Specification,
        original: &Program,
        system: &'a System<'a>,
        template: TemplateId,
        thread: &'a Thread,
        is_first: bool,
        budget: &'a Budget,
    ) -> Result<Self, ProofError> {
        let meaning =
            Meaning::of_thread(specification, original, system, template).map_err(untranslatable)?;
        let start = specification.start_condition(original);
        let start = if is_first { Some(meaning.condition(&start).map_err(untranslatable)?) } else { None };
        let candidates =
            thread.states.iter().enumerate().map(|(number, state)| candidate(number, &state.name)).collect();
        let mut always: Vec<Term> = Vec::new();
        let mut global: IndexMap<Variable, Term> = IndexMap::new();
        let written: IndexSet<&Variable> = system.steps.iter().flat_map(|step| step.updates.keys()).collect();
        for (variable, range) in meaning.ranges() {
            global.insert(variable.clone(), range);
        }
        for shared in &system.shared {
            let first = shared.first.as_ref().filter(|first| first.is_literal());
            match first {
                Some(first)
                    if !global.contains_key(&shared.variable) && !written.contains(&shared.variable) =>
                {
                    // It never changes.
                    always.push(shared.variable.term().equals(first));
                }
                _ => {
                    let range = system.ranges([shared]);
                    global.entry(shared.variable.clone()).or_insert(range);
                }
            }
        }
        always.extend(global.values().cloned());
        for own in &system.own[template] {
            always.push(match own.kind {
                Kind::Myself => system.is_thread_id(&own.variable.term()),
                _ => system.ranges([own]),
            });
        }
        Ok(Self { system, template, thread, meaning, candidates, start, always, global, budget })
    }

    fn is_atomic(&self, location: LocationId) -> bool {
        self.system.program.templates[self.template].locations[location].runs_alone()
    }

    pub(super) fn check(&self, said: &Conformance) -> Result<(), ProofError> {
        let code = &self.system.program.templates[self.template];
        for all in [&said.alone, &said.starting, &said.outside, &said.inside] {
            claim(all.len() == code.locations.ids().count(), "something is said of each location")?;
            all.iter().flatten().try_for_each(|formula| {
                speaks_only_of(formula, |variable| self.is_known(variable), "what is said of a thread")
            })?;
        }
        claim(!is_error(self.system, self.template, code.entry), "a thread does not start at an error")?;
        self.check_start(said)?;
        for location in code.locations.ids() {
            let at = location.0 as usize;
            if let Some(formula) = said.alone[at].as_ref().filter(|_| self.start.is_some()) {
                self.check_steps(said, location, Phase::Alone, self.state(formula))?;
            }
            if let Some(formula) = said.starting[at].as_ref().filter(|_| self.start.is_some()) {
                self.check_steps(said, location, Phase::Starting, self.state(formula))?;
            }
            if let Some(formula) = &said.inside[at] {
                self.check_steps(said, location, Phase::Together, self.state(formula))?;
            }
            if let Some(formula) = &said.outside[at] {
                let state = self.state(formula);
                let some = Term::any(self.candidates.iter().map(Variable::term));
                follows(&state.facts, &some, "there is a candidate", self.budget)?;
                let moved = self.others_move(state)?;
                self.check_steps(said, location, Phase::Together, moved)?;
            }
        }
        Ok(())
    }

    /// Whether a variable is the thread's own, shared, one of the specification, or a candidate.
    fn is_known(&self, variable: &Variable) -> bool {
        let mut own = self.system.own[self.template].iter();
        self.system.is_shared(variable)
            || own.any(|own| own.variable == *variable)
            || self.candidates.contains(variable)
            || self.meaning.variables().any(|one| *variable == *one || *variable == before(one))
    }

    fn state(&self, formula: &Term) -> State {
        let facts = self.always.iter().cloned().chain([formula.clone()]).collect();
        State { values: IndexMap::new(), facts, length: 0 }
    }

    fn check_start(&self, said: &Conformance) -> Result<(), ProofError> {
        let system = self.system;
        let entry = system.program.templates[self.template].entry.0 as usize;
        let nothing = || missing("something holds at the start");
        if self.start.is_some() {
            let one = system.number(1, system.program.data_model.pointer());
            let facts = [system.initial(), system.entry(self.template, &[], &one)];
            let formula = said.alone[entry].as_ref().ok_or_else(nothing)?;
            return follows(&facts, formula, "what is said holds at the start", self.budget);
        }
        let me = system.own_of(self.template, &Kind::Myself).map_or_else(|| Term::int(0), Variable::term);
        let mut facts = self.always.clone();
        facts.push(system.entry(self.template, &[], &me));
        let starts = system.steps.iter().flat_map(|step| &step.starts);
        let starts: Vec<_> = starts.filter(|start| start.template == self.template).collect();
        for own in &system.own[self.template] {
            let Kind::Local(local) = own.kind else { continue };
            let given: IndexSet<Option<&Term>> =
                starts.iter().map(|start| start.parameters.get(local.0 as usize)).collect();
            if let (1, Some(Some(value))) = (given.len(), given.first())
                && value.is_literal()
            {
                facts.push(own.variable.term().equals(value));
            }
        }
        facts.extend(self.chosen().map(|(variable, value)| variable.term().equals(&value)));
        let formula = said.outside[entry].as_ref().ok_or_else(nothing)?;
        follows(&facts, formula, "what is said holds at the start", self.budget)
    }

    /// The candidates when an abstract thread starts.
    fn chosen(&self) -> impl Iterator<Item = (Variable, Term)> {
        let values = self.candidates.iter().cloned().enumerate();
        values.map(|(number, variable)| (variable, Term::bool(self.thread.initial.contains(&number))))
    }

    /// Others run.
    fn others_move(&self, mut state: State) -> Result<State, ProofError> {
        let mut new: IndexMap<Variable, Term> = IndexMap::new();
        for (variable, range) in &self.global {
            let fresh = variable.instance(Instance::Others);
            state.facts.push(range.rename(|_| Some(fresh.clone())));
            new.insert(variable.clone(), fresh.term());
        }
        for (number, what) in self.thread.states.iter().enumerate() {
            let holds = self.meaning.condition(&what.assertion).map_err(untranslatable)?.substitute(&new);
            state.facts.push(self.candidates[number].term().implies(&holds));
        }
        for variable in self.meaning.variables() {
            state.values.insert(before(variable), new[variable].clone());
        }
        state.values.extend(new);
        Ok(state)
    }

    /// Checks that the claims are preserved when the thread continues from a location.
    fn check_steps(
        &self,
        said: &Conformance,
        location: LocationId,
        phase: Phase,
        state: State,
    ) -> Result<(), ProofError> {
        let mut open = vec![(location, phase, state)];
        let mut length = 0;
        while let Some((from, phase, state)) = open.pop() {
            length += 1;
            claim(length <= LONGEST, "runs of which nothing is written down are short")?;
            let of_it = |step: &&Step| step.template == self.template && step.source == from;
            for step in self.system.steps.iter().filter(of_it) {
                let mut next = state.clone();
                next.step(step);
                if is_error(self.system, self.template, step.target) {
                    follows(&next.facts, &Term::bool(false), "an error is not reached", self.budget)?;
                    continue;
                }
                let phase = match phase {
                    Phase::Alone if step.starts.is_empty() => Phase::Alone,
                    Phase::Alone | Phase::Starting => Phase::Starting,
                    Phase::Together => Phase::Together,
                };
                if !self.arrive(said, step.target, phase, &mut next)? {
                    open.push((step.target, phase, next));
                }
            }
        }
        Ok(())
    }

    /// Checks the claim where the thread arrives. Returns `false` when there is none.
    fn arrive(
        &self,
        said: &Conformance,
        location: LocationId,
        phase: Phase,
        state: &mut State,
    ) -> Result<bool, ProofError> {
        let at = location.0 as usize;
        let formula = match (phase, self.is_atomic(location)) {
            (Phase::Alone, _) => &said.alone[at],
            (Phase::Starting, true) => &said.starting[at],
            (Phase::Together, true) => &said.inside[at],
            (Phase::Starting, false) => {
                let start = self.start.as_ref().ok_or_else(|| missing("only the first thread is alone"))?;
                let start = start.substitute(&state.values);
                follows(&state.facts, &start, "the start condition holds", self.budget)?;
                state.values.extend(self.chosen());
                &said.outside[at]
            }
            (Phase::Together, false) => {
                self.follow_candidates(state)?;
                &said.outside[at]
            }
        };
        match formula {
            Some(formula) => {
                let formula = formula.substitute(&state.values);
                follows(&state.facts, &formula, "what is said stays true", self.budget)?;
                Ok(true)
            }
            None => {
                let silent = self.is_atomic(location) || phase == Phase::Alone;
                claim(silent, "something is said where others run")?;
                Ok(false)
            }
        }
    }

    /// The step is over: the new candidates are the targets of transitions of the old ones.
    fn follow_candidates(&self, state: &mut State) -> Result<(), ProofError> {
        let mut new = Vec::new();
        for target in 0..self.candidates.len() {
            let mut cases = Vec::new();
            for source in 0..self.candidates.len() {
                let relation = self.meaning.relation(self.thread, source, target).map_err(untranslatable)?;
                cases.push(self.candidates[source].term().and(&relation).substitute(&state.values));
            }
            new.push((self.candidates[target].clone(), Term::any(cases)));
        }
        state.values.extend(new);
        Ok(())
    }
}
