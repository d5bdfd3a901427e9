//! The steps of a program, with shared variables distinguished from a thread's own.
//!
//! Exact with respect to [`System`]. There are four transformations:
//! 1. All variables get unique names: those of a template's threads are marked with its number.
//! 2. A unique template has no own variables: its variables become shared ones that no other thread touches.
//!    The step that starts the thread sets them; before that they have some value, which is never read.
//! 3. Steps through atomic locations, at which no other thread runs, are composed ([`crate::merge_steps`]),
//!    unless an access there may be part of a race.
//! 4. Constants are substituted into steps (`constants.rs`).

use crate::accesses::Access;
use crate::blocks::merge_steps;
use crate::constants::put_known_values;
use crate::system::{Kind, StateVariable, Step, System};
use indexmap::IndexMap;
use ir::{Count, EdgeId, IdVec, LocationId, Program, Span, TemplateId};
use smt::{Instance, Sort, Term, Variable};
use std::collections::BTreeSet;
use verdict::{Fact, Moment, Predicate};

/// A thread that a step starts, of a template that any number of threads may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScopedStart {
    /// Its template.
    pub template: TemplateId,
    /// The initial values of all its own variables: over the variables before the step, and the inputs.
    pub first: IndexMap<Variable, Term>,
}

/// A step of a thread: if the guard holds, the state may become the one with the updates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScopedStep {
    /// The thread's template.
    pub template: TemplateId,
    /// The edges that it takes, in order.
    pub edges: Vec<EdgeId>,
    /// Where it starts.
    pub source: LocationId,
    /// Where it ends.
    pub target: LocationId,
    /// When it can be taken: over the variables before it, and the inputs.
    pub guard: Term,
    /// The new values of the variables that it changes: over the variables before it, and the inputs.
    pub updates: IndexMap<Variable, Term>,
    /// Values that may be any that the guard allows.
    pub inputs: Vec<Variable>,
    /// The threads that it starts, in order; those of unique templates have no initial values.
    pub starts: Vec<ScopedStart>,
}

/// A program that starts as one thread, as steps over shared and own variables.
#[derive(Clone, Debug)]
pub struct Scoped<'p> {
    /// The program.
    pub program: &'p Program,
    /// The shared variables, each with its invariant: it is in range.
    pub shared: IndexMap<Variable, Term>,
    /// The own variables of the threads of each template, in the same way.
    pub own: IdVec<TemplateId, IndexMap<Variable, Term>>,
    /// The template of the first thread.
    pub main: TemplateId,
    /// What holds at the start.
    pub initial: Term,
    /// All steps.
    pub steps: Vec<ScopedStep>,
    /// The accesses that may be part of a race, if the system has accesses. Their variables have the names of
    /// the system.
    pub accesses: Vec<Access>,
    /// The own variables of each template, by the names that accesses use.
    names: IdVec<TemplateId, BTreeSet<Variable>>,
    /// The variable that is the id of a thread, by template.
    myself: IdVec<TemplateId, Option<Variable>>,
}

/// A variable with the number of its template.
fn named(variable: &Variable, template: TemplateId) -> Variable {
    variable.instance(Instance::Thread(template.0))
}

impl<'p> Scoped<'p> {
    /// The name here of an own variable of a template's threads.
    pub fn own_name(variable: &Variable, template: TemplateId) -> Variable {
        named(variable, template)
    }

    /// Transforms a system; `None` when it does not start as one thread. Composes fewer steps when `stop`
    /// says so.
    pub fn new(system: &System<'p>, stop: &dyn Fn() -> bool) -> Option<Self> {
        let [(main, Count::Exactly(1))] = system.program.start.as_slice() else { return None };
        if !system.unique.templates[*main] {
            return None;
        }
        let mut scoped = Self {
            program: system.program,
            shared: IndexMap::new(),
            own: system.program.templates.iter().map(|_| IndexMap::new()).collect(),
            main: *main,
            initial: system.initial(),
            steps: Vec::new(),
            accesses: Vec::new(),
            names: system
                .own
                .iter()
                .map(|own| own.iter().map(|own| own.variable.clone()).collect())
                .collect(),
            myself: system.program.templates.iter().map(|_| None).collect(),
        };
        for variable in &system.shared {
            scoped.shared.insert(variable.variable.clone(), system.ranges([variable]));
        }
        for template in system.program.templates.ids() {
            for own in &system.own[template] {
                let variable = named(&own.variable, template);
                let range = match own.kind {
                    Kind::Myself => {
                        scoped.myself[template] = Some(variable.clone());
                        system.is_thread_id(&variable.term())
                    }
                    _ => system.ranges([own]).rename(|_| Some(variable.clone())),
                };
                if system.unique.templates[template] && template != *main {
                    // It is not read before the thread starts.
                    let value = if own.kind == Kind::Myself { 1 } else { 0 };
                    scoped.initial =
                        scoped.initial.and(&variable.term().equals(&constant(&variable.sort, value)));
                }
                let to = if system.unique.templates[template] {
                    &mut scoped.shared
                } else {
                    &mut scoped.own[template]
                };
                to.insert(variable, range);
            }
        }
        let id = system.number(1, system.program.data_model.pointer());
        let entry = own_renamed(system, *main, &system.entry(*main, &[], &id));
        scoped.initial = scoped.initial.and(&entry);
        scoped.accesses = racing(system, &scoped, stop);
        let accessed: BTreeSet<(TemplateId, LocationId)> =
            scoped.accesses.iter().map(|access| (access.template, access.source)).collect();
        for (template, code) in system.program.templates.enumerate() {
            let steps: Vec<Step> =
                system.steps.iter().filter(|step| step.template == template).cloned().collect();
            let may_go = |at: LocationId| {
                code.locations[at].runs_alone() && at != code.entry && !accessed.contains(&(template, at))
            };
            for step in merge_steps(&steps, &may_go, stop) {
                scoped.steps.push(scoped_step(system, &step));
            }
        }
        let mine = system.program.templates.ids().map(|template| {
            let own = system.own[template].iter().map(|own| named(&own.variable, template));
            system.unique.templates[template].then(|| own.collect())
        });
        put_known_values(&mut scoped, &mine.collect());
        Some(scoped)
    }

    /// The source position of a step.
    pub fn span(&self, step: &ScopedStep) -> Span {
        let edges = &self.program.templates[step.template].edges;
        step.edges.first().map_or(Span::default(), |edge| edges[*edge].span)
    }

    /// Whether all variables of a predicate are in its scope. The first thread has no predicates of its own:
    /// nothing would define their initial values.
    pub fn is_scoped(&self, predicate: &Predicate) -> bool {
        if predicate.scope == Some(self.main) {
            return false;
        }
        predicate.formula.free_variables().iter().all(|variable| {
            self.shared.contains_key(variable)
                || predicate.scope.is_some_and(|template| self.own[template].contains_key(variable))
        })
    }

    /// Whether a thread of a template sees a predicate.
    pub fn sees(&self, template: TemplateId, predicate: &Predicate) -> bool {
        predicate.scope.is_none_or(|scope| scope == template)
    }

    /// Whether a step may change a predicate that the thread that takes it sees.
    pub fn changes(&self, step: &ScopedStep, predicate: &Predicate) -> bool {
        predicate.formula.free_variables().iter().any(|variable| step.updates.contains_key(variable))
    }

    /// Whether a step may change a predicate of another thread.
    pub fn changes_other(&self, step: &ScopedStep, predicate: &Predicate) -> bool {
        let touched =
            |variable: &Variable| self.shared.contains_key(variable) && step.updates.contains_key(variable);
        predicate.scope.is_some() && predicate.formula.free_variables().iter().any(touched)
    }

    /// A fact as a formula over the variables before a step, its inputs, and the variables of another thread
    /// ([`other`]).
    pub fn fact(&self, step: &ScopedStep, predicates: &[Predicate], fact: Fact) -> Term {
        let formula = &predicates[fact.predicate].formula;
        let aside = |formula: &Term| {
            formula.rename(|variable| (!self.shared.contains_key(variable)).then(|| other(variable)))
        };
        match fact.moment {
            Moment::Before => formula.clone(),
            Moment::After => formula.substitute(&step.updates),
            Moment::Started(which) => {
                let mut values = self.shared_updates(step);
                if let Some(start) = step.starts.get(which) {
                    values.extend(
                        start.first.iter().map(|(variable, value)| (variable.clone(), value.clone())),
                    );
                }
                formula.substitute(&values)
            }
            Moment::OtherBefore => aside(formula),
            Moment::OtherAfter => aside(formula).substitute(&self.shared_updates(step)),
        }
    }

    fn shared_updates(&self, step: &ScopedStep) -> IndexMap<Variable, Term> {
        let shared = step.updates.iter().filter(|(variable, _)| self.shared.contains_key(*variable));
        shared.map(|(variable, value)| (variable.clone(), value.clone())).collect()
    }

    /// A term of an access with the names that variables have here.
    fn named(&self, term: &Term, template: TemplateId) -> Term {
        term.rename(|variable| self.names[template].contains(variable).then(|| named(variable, template)))
    }

    /// The condition under which an access can happen: over the shared variables and those of the thread.
    pub fn condition(&self, access: &Access) -> Term {
        self.named(&access.condition, access.template)
    }

    /// The condition under which two accesses of different threads may race: over the shared variables, the
    /// own ones of the first thread, and those of the second ([`other`]).
    pub fn race(&self, one: &Access, two: &Access) -> Term {
        one.race_between(two, &|term| self.named(term, one.template), &|term| {
            self.named(term, two.template)
                .rename(|variable| (!self.shared.contains_key(variable)).then(|| other(variable)))
        })
    }

    /// The condition that two different threads have different ids; the variables of the second are renamed
    /// ([`other`]).
    pub fn apart(&self, one: TemplateId, two: TemplateId) -> Term {
        match (&self.myself[one], &self.myself[two]) {
            (Some(here), Some(there)) => {
                let there = if self.shared.contains_key(there) { there.clone() } else { other(there) };
                here.term().differs(&there.term())
            }
            _ => Term::bool(true),
        }
    }

    /// The invariant of the variables in some terms: all are in range.
    pub fn ranges<'a>(&self, terms: impl IntoIterator<Item = &'a Term>) -> Term {
        let variables: BTreeSet<Variable> = terms.into_iter().flat_map(Term::free_variables).collect();
        let all = self.own.iter().flatten().chain(&self.shared);
        Term::all(all.flat_map(|(variable, range)| {
            let aside = other(variable);
            let here = variables.contains(variable).then(|| range.clone());
            let there = variables.contains(&aside).then(|| range.rename(|_| Some(aside.clone())));
            here.into_iter().chain(there)
        }))
    }

    /// The invariant of the variables in some terms when a step is taken: all are in range, and the id of the
    /// thread that takes the step differs from those of others.
    pub fn invariant<'a>(&self, step: &ScopedStep, terms: impl IntoIterator<Item = &'a Term>) -> Term {
        let terms: Vec<&Term> = terms.into_iter().collect();
        let variables: BTreeSet<Variable> = terms.iter().flat_map(|term| term.free_variables()).collect();
        let me = self.myself[step.template].as_ref();
        let apart = me.into_iter().flat_map(|me| {
            let others = self.myself.iter().flatten().map(other).filter(|other| variables.contains(other));
            others.map(|other| other.term().differs(&me.term()))
        });
        self.ranges(terms).and(&Term::all(apart))
    }

    /// What holds whenever a step is taken, for the variables in some terms: its guard and the invariant.
    pub fn premise<'a>(&self, step: &'a ScopedStep, terms: impl IntoIterator<Item = &'a Term>) -> Term {
        step.guard.and(&self.invariant(step, terms.into_iter().chain([&step.guard])))
    }
}

/// The accesses that may race with another. When `stop` says so, all remaining accesses are included.
fn racing(system: &System<'_>, scoped: &Scoped<'_>, stop: &dyn Fn() -> bool) -> Vec<Access> {
    let races = |one: &Access, two: &Access| {
        let the_same = one.template == two.template && system.unique.templates[one.template];
        !(the_same || scoped.race(one, two).is_false())
    };
    let found =
        system.accesses.iter().filter(|one| stop() || system.accesses.iter().any(|two| races(one, two)));
    found.cloned().collect()
}

/// The same number everywhere.
fn constant(sort: &Sort, value: i128) -> Term {
    match sort {
        Sort::Bool => Term::bool(value != 0),
        Sort::Int => Term::int(value),
        Sort::BitVec(width) => Term::bits(*width, value as u128),
        Sort::Array(pair) => Term::constant_array(sort.clone(), &constant(&pair.1, value)),
    }
}

/// The same variable of another thread.
pub fn other(variable: &Variable) -> Variable {
    variable.instance(Instance::Another)
}

/// A term with the variables of a template's threads under their new names.
fn own_renamed(system: &System<'_>, template: TemplateId, term: &Term) -> Term {
    term.rename(|variable| {
        let own = system.own[template].iter().any(|own| own.variable == *variable);
        own.then(|| named(variable, template))
    })
}

fn scoped_step(system: &System<'_>, step: &Step) -> ScopedStep {
    let rename = |term: &Term| own_renamed(system, step.template, term);
    let mut result = ScopedStep {
        template: step.template,
        edges: step.edges.clone(),
        source: step.source,
        target: step.target,
        guard: rename(&step.guard),
        updates: IndexMap::new(),
        inputs: step.inputs.clone(),
        starts: Vec::new(),
    };
    for (variable, value) in &step.updates {
        let own = system.own[step.template].iter().any(|own| own.variable == *variable);
        let variable = if own { named(variable, step.template) } else { variable.clone() };
        result.updates.insert(variable, rename(value));
    }
    for (number, start) in step.starts.iter().enumerate() {
        let first = first_values(system, start, number, &rename, &mut result);
        let unique = system.unique.templates[start.template];
        let own = if unique { IndexMap::new() } else { first.clone() };
        result.starts.push(ScopedStart { template: start.template, first: own });
        if unique {
            result.updates.extend(first);
        }
    }
    result
}

/// The initial values of all variables of a thread. An arbitrary value becomes an input of the step.
fn first_values(
    system: &System<'_>,
    start: &crate::Start,
    number: usize,
    rename: &dyn Fn(&Term) -> Term,
    step: &mut ScopedStep,
) -> IndexMap<Variable, Term> {
    let parameters = system.program.templates[start.template].parameters;
    let given = |own: &StateVariable| match &own.kind {
        Kind::Local(local) if (local.0 as usize) < parameters => {
            start.parameters.get(local.0 as usize).map(rename)
        }
        Kind::Myself => Some(rename(&start.id)),
        _ => None,
    };
    let known: IndexMap<Variable, Term> = system.own[start.template]
        .iter()
        .filter_map(|own| Some((own.variable.clone(), given(own)?)))
        .collect();
    let mut values = IndexMap::new();
    for own in &system.own[start.template] {
        let variable = named(&own.variable, start.template);
        let value = match (known.get(&own.variable), &own.first) {
            (Some(value), _) => value.clone(),
            (None, Some(first)) => first.substitute(&known),
            (None, None) => {
                let input = variable.instance(Instance::FirstOfStart(number as u32));
                step.guard = step.guard.and(&system.ranges([own]).rename(|_| Some(input.clone())));
                step.inputs.push(input.clone());
                input.term()
            }
        };
        values.insert(variable, value);
    }
    values
}
