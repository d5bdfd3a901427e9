//! The basis of the clauses: simplified steps of each template.
//!
//! Over-approximates the transitions:
//! 1. The number of threads is dropped; different threads still have different ids ([`Model::identities`]).
//! 2. Shared variables that never change are replaced by their value.
//! 3. Atomic regions without loops become one step, except for the race check.
//! 4. A thread that can do nothing more that matters is *idle*: all such locations are merged, without facts.
//! 5. Locations are split by what a thread has observed ([`super::split`]).
//! 6. Own variables that are constant or dead at a location are dropped there.

use super::split::{Parts, split, value};
use indexmap::{IndexMap, IndexSet};
use ir::{IntType, LocationId, LocationKind, TemplateId};
use rustc_hash::FxHashMap;
use smt::construct::make;
use smt::visit::conjuncts;
use smt::visit::fold;
use smt::{Operation, Symbol, Term, Variable};
use std::collections::{BTreeMap, BTreeSet};
use transitions::accesses::Access;
use transitions::groups::Member;
use transitions::{Kind, StateVariable, Step, System, merge_steps};
use verdict::Budget;

/// Where threads are that do nothing more that matters.
pub const IDLE: LocationId = LocationId(u32::MAX);

/// A step, and whether it leads to an error.
#[derive(Clone, Debug)]
pub struct ModelStep {
    /// The step; its locations are those that relations distinguish.
    pub step: Step,
    /// Whether it leads to an error.
    pub error: bool,
}

/// What is known where a thread may be.
#[derive(Clone, Default, Debug)]
pub struct Place {
    /// Its own variables that matter.
    pub own: Vec<StateVariable>,
    /// Own variables that have one value.
    pub known: IndexMap<Variable, Term>,
    /// What the thread may do.
    pub steps: Vec<ModelStep>,
}

/// The code of all templates.
pub struct Model<'a> {
    /// The program.
    pub system: &'a System<'a>,
    /// The shared variables that matter.
    pub shared: Vec<StateVariable>,
    /// Shared variables that never change.
    pub constants: IndexMap<Variable, Term>,
    /// What threads have for themselves that matters.
    pub own: BTreeMap<TemplateId, Vec<StateVariable>>,
    /// The places of the templates that may run.
    pub places: BTreeMap<TemplateId, BTreeMap<LocationId, Place>>,
    /// Places that are only a part of a location.
    pub parts: BTreeMap<TemplateId, Parts>,
    /// Atomic locations that were passed over.
    pub passed: Vec<(TemplateId, LocationId)>,
    /// Locations where a thread does nothing more that matters.
    pub idle: BTreeSet<(TemplateId, LocationId)>,
    /// Accesses that may race.
    pub accesses: Vec<&'a Access>,
}

impl<'a> Model<'a> {
    /// Prepares a system.
    pub fn new(system: &'a System<'a>, budget: &Budget) -> Self {
        let mut model = Self {
            system,
            shared: system.shared.iter().filter(|shared| shared.kind != Kind::Threads).cloned().collect(),
            constants: IndexMap::new(),
            own: BTreeMap::new(),
            places: BTreeMap::new(),
            parts: BTreeMap::new(),
            passed: Vec::new(),
            idle: BTreeSet::new(),
            accesses: racing(system, budget),
        };
        let mut steps = model.without_count();
        model.find_constants(&mut steps);
        model.forget_what_only_overflows(&mut steps);
        let templates = model.running(&steps);
        steps.retain(|step| templates.contains(&step.template));
        for template in templates {
            let steps: Vec<Step> = steps.iter().filter(|step| step.template == template).cloned().collect();
            let steps = model.merge(template, &steps, budget);
            let steps = model.drop_idle(template, steps);
            model.add_places(template, steps);
        }
        model
    }

    /// Whether all threads see a variable.
    pub fn is_shared(&self, variable: &Variable) -> bool {
        self.shared.iter().any(|shared| shared.variable == *variable)
    }
    /// Whether only this thread runs while it is at a place.
    pub fn is_atomic(&self, template: TemplateId, place: LocationId) -> bool {
        let location = self.location_of(template, place);
        location != IDLE && self.system.program.templates[template].locations[location].runs_alone()
    }
    /// The location that relations know a location as.
    pub fn place_of(&self, template: TemplateId, location: LocationId) -> LocationId {
        if self.idle.contains(&(template, location)) { IDLE } else { location }
    }
    fn is_error(&self, template: TemplateId, location: LocationId) -> bool {
        let kind = &self.system.program.templates[template].locations[location].kind;
        matches!(kind, LocationKind::Error(_))
    }

    /// The steps with an arbitrary number of threads, and ids that fit into the words of locks.
    fn without_count(&self) -> Vec<Step> {
        let count = self.system.shared_of(&Kind::Threads).cloned();
        let ids: BTreeSet<Variable> = self
            .system
            .program
            .templates
            .ids()
            .filter_map(|template| self.system.own_of(template, &Kind::Myself).cloned())
            .collect();
        let modulus = Term::int(1 << IntType::U32.bits);
        let small = |term: &Term| {
            fold(term, &mut FxHashMap::default(), |term, operands: &[Term]| {
                match (term.operation(), operands) {
                    (Operation::Modulo, [id, size])
                        if *size == modulus && id.as_variable().is_some_and(|id| ids.contains(&id)) =>
                    {
                        id.clone()
                    }
                    _ if operands == term.operands() => term.clone(),
                    _ => make(term.operation().clone(), Some(term.sort()), operands.to_vec()),
                }
            })
        };
        let mut steps = self.system.steps.clone();
        for step in &mut steps {
            step.guard = small(&step.guard);
            step.updates.values_mut().for_each(|value| *value = small(value));
            // The number becomes an input: one less than the id of the new thread, whatever that is.
            if let Some(count) = &count
                && step.updates.shift_remove(count).is_some()
            {
                let id = Variable::new(Symbol::NewId, count.sort.clone());
                *step = with_values(step, &IndexMap::from([(count.clone(), id.term().minus(&Term::int(1)))]));
                step.guard =
                    Term::all(conjuncts(&step.guard).into_iter().filter(|part| !is_bound_of(part, &id)));
                step.guard = step.guard.and(&id.term().at_least(&Term::int(1)));
                step.inputs.push(id);
            }
        }
        steps
    }

    /// Replaces shared variables that never change.
    fn find_constants(&mut self, steps: &mut Vec<Step>) {
        loop {
            let constant = |shared: &StateVariable| {
                let first = shared.first.clone().filter(Term::is_literal)?;
                let mut values = steps.iter().filter_map(|step| step.updates.get(&shared.variable));
                values.all(|value| *value == first).then(|| (shared.variable.clone(), first))
            };
            let found: IndexMap<Variable, Term> = self.shared.iter().filter_map(constant).collect();
            if found.is_empty() {
                return;
            }
            self.shared.retain(|shared| !found.contains_key(&shared.variable));
            for step in steps.iter_mut() {
                *step = with_values(step, &found);
                step.updates.retain(|variable, _| !found.contains_key(variable));
            }
            steps.retain(|step| !step.guard.is_false());
            self.constants.extend(found);
        }
    }

    /// Drops variables that matter only because they must not overflow.
    fn forget_what_only_overflows(&mut self, steps: &mut [Step]) {
        let mut needed: IndexSet<(Option<TemplateId>, Variable)> = IndexSet::new();
        let own: BTreeMap<TemplateId, BTreeSet<Variable>> = self
            .system
            .own
            .enumerate()
            .map(|(template, own)| (template, own.iter().map(|own| own.variable.clone()).collect()))
            .collect();
        let owner = |template: TemplateId, variable: Variable| {
            (own[&template].contains(&variable).then_some(template), variable)
        };
        let read = |template: TemplateId, term: &Term| -> Vec<(Option<TemplateId>, Variable)> {
            term.free_variables().into_iter().map(|variable| owner(template, variable)).collect()
        };
        for step in steps.iter() {
            for part in conjuncts(&step.guard).iter().filter(|part| !is_range(part)) {
                needed.extend(read(step.template, part));
            }
        }
        for access in &self.accesses {
            for term in
                conjuncts(&access.condition).iter().chain(&access.address).filter(|part| !is_range(part))
            {
                needed.extend(read(access.template, term));
            }
        }
        let mut at = 0;
        while at < needed.len() {
            let (template, variable) = needed[at].clone();
            at += 1;
            for step in steps.iter() {
                if template.is_none_or(|template| template == step.template)
                    && let Some(value) = step.updates.get(&variable)
                {
                    needed.extend(read(step.template, value));
                }
                for start in step.starts.iter().filter(|start| Some(start.template) == template) {
                    let own = self.system.own[start.template].iter().find(|own| own.variable == variable);
                    let given = match own.map(|own| &own.kind) {
                        Some(Kind::Local(local)) => start.parameters.get(local.0 as usize),
                        Some(Kind::Myself) => Some(&start.id),
                        _ => None,
                    };
                    needed.extend(given.into_iter().flat_map(|term| read(step.template, term)));
                }
            }
        }
        let inputs: Vec<BTreeSet<Variable>> =
            steps.iter().map(|step| step.inputs.iter().cloned().collect()).collect();
        for (step, inputs) in steps.iter_mut().zip(&inputs) {
            let template = step.template;
            let stays = |variable: &Variable| {
                inputs.contains(variable) || needed.contains(&owner(template, variable.clone()))
            };
            let kept =
                conjuncts(&step.guard).into_iter().filter(|part| part.free_variables().iter().all(stays));
            step.guard = Term::all(kept);
            step.updates.retain(|variable, _| stays(variable));
        }
        self.shared.retain(|shared| needed.contains(&(None, shared.variable.clone())));
        for (template, own) in self.system.own.enumerate() {
            let kept = own.iter().filter(|own| needed.contains(&(Some(template), own.variable.clone())));
            self.own.insert(template, kept.cloned().collect());
        }
    }

    /// The templates that may run.
    fn running(&self, steps: &[Step]) -> IndexSet<TemplateId> {
        let mut found: IndexSet<TemplateId> =
            self.system.program.start.iter().map(|(template, _)| *template).collect();
        let mut at = 0;
        while at < found.len() {
            let here = steps.iter().filter(|step| step.template == found[at]);
            let started: Vec<TemplateId> =
                here.flat_map(|step| step.starts.iter().map(|start| start.template)).collect();
            found.extend(started);
            at += 1;
        }
        found
    }

    fn merge(&mut self, template: TemplateId, steps: &[Step], budget: &Budget) -> Vec<Step> {
        let entry = self.system.program.templates[template].entry;
        let may_go = |location: LocationId| {
            self.is_atomic(template, location)
                && location != entry
                && !self.is_error(template, location)
                && self.system.accesses.is_empty()
        };
        let merged = merge_steps(steps, &may_go, &|| budget.check(0).is_err());
        let ends = |steps: &[Step]| -> BTreeSet<LocationId> {
            steps.iter().flat_map(|step| [step.source, step.target]).collect()
        };
        let left = ends(&merged);
        let gone = ends(steps).into_iter().filter(|location| !left.contains(location) && may_go(*location));
        let gone: Vec<LocationId> = gone.collect();
        self.passed.extend(gone.into_iter().map(|location| (template, location)));
        merged
    }

    /// Drops steps of a thread that no longer matter.
    fn drop_idle(&mut self, template: TemplateId, mut steps: Vec<Step>) -> Vec<Step> {
        let mut busy: BTreeSet<LocationId> = self
            .accesses
            .iter()
            .filter(|access| access.template == template)
            .map(|access| access.source)
            .collect();
        let matters = |step: &Step| {
            !step.starts.is_empty()
                || self.is_error(template, step.target)
                || step.updates.keys().any(|variable| self.is_shared(variable))
        };
        busy.extend(steps.iter().filter(|step| matters(step)).map(|step| step.source));
        loop {
            let more: Vec<LocationId> = steps
                .iter()
                .filter(|step| busy.contains(&step.target) && !busy.contains(&step.source))
                .map(|step| step.source)
                .collect();
            if more.is_empty() {
                break;
            }
            busy.extend(more);
        }
        let locations = self.system.program.templates[template].locations.ids();
        let is_idle = |at: &LocationId| {
            !busy.contains(at) && !self.is_error(template, *at) && !self.passed.contains(&(template, *at))
        };
        let idle: Vec<LocationId> = locations.filter(is_idle).collect();
        self.idle.extend(idle.into_iter().map(|location| (template, location)));
        steps.retain(|step| busy.contains(&step.source));
        for step in &mut steps {
            if self.idle.contains(&(template, step.target)) {
                step.target = IDLE;
            }
        }
        steps
    }

    /// Where threads of a template start.
    pub fn entry(&self, template: TemplateId) -> LocationId {
        self.place_of(template, self.system.program.templates[template].entry)
    }

    /// The location that a place is a part of.
    pub fn location_of(&self, template: TemplateId, place: LocationId) -> LocationId {
        self.parts.get(&template).and_then(|parts| parts.get(&place)).map_or(place, |(location, _)| *location)
    }
    fn parts_of(&self, template: TemplateId, location: LocationId) -> Vec<LocationId> {
        let parts = self.parts.get(&template).into_iter().flatten();
        parts.filter(|(_, (of, _))| *of == location).map(|(part, _)| *part).collect()
    }
    /// What distinguishes a place from others at its location.
    pub fn condition(&self, template: TemplateId, place: LocationId) -> Term {
        let conditions = self.parts.get(&template).and_then(|parts| parts.get(&place));
        let all = conditions.into_iter().flat_map(|(_, conditions)| conditions);
        Term::all(all.map(|(question, answer)| if *answer { question.clone() } else { question.not() }))
    }

    fn add_places(&mut self, template: TemplateId, steps: Vec<Step>) {
        let own = self.own[&template].clone();
        let live = self.live(template, &steps);
        let code = &self.system.program.templates[template];
        let next = LocationId(u32::try_from(code.locations.len()).unwrap_or(u32::MAX / 2));
        let is_own = |variable: &Variable| own.iter().any(|own| own.variable == *variable);
        let (steps, parts) = split(&steps, self.entry(template), next, &is_own, &live);
        self.parts.insert(template, parts);
        let with_errors = steps.into_iter().map(|step| {
            let location = self.location_of(template, step.target);
            let error = location != IDLE && self.is_error(template, location);
            ModelStep { step, error }
        });
        let mut found: Vec<ModelStep> = with_errors.collect();
        let known = self.known_values(template, &found);
        for step in &mut found {
            if let Some(known) = known.get(&step.step.source) {
                step.step = with_values(&step.step, known);
            }
        }
        found.retain(|step| !step.step.guard.is_false() && known.contains_key(&step.step.source));
        let steps: Vec<Step> = found.iter().map(|step| step.step.clone()).collect();
        let live = self.live(template, &steps);
        let places = known.into_iter().map(|(place, known)| {
            let live = live.get(&place);
            // Distinct ids separate the owners of a lock, so ids stay.
            let is_live = |own: &&StateVariable| {
                own.kind == Kind::Myself && place != IDLE
                    || live.is_some_and(|live| live.contains(&own.variable))
            };
            let mattering = own.iter().filter(is_live).filter(|own| !known.contains_key(&own.variable));
            let here = Place {
                own: mattering.cloned().collect(),
                known: known.clone(),
                steps: found.iter().filter(|step| step.step.source == place).cloned().collect(),
            };
            (place, here)
        });
        let places = places.collect();
        self.places.insert(template, places);
    }

    /// The own variables that have one value at each place that may be reached.
    fn known_values(
        &self,
        template: TemplateId,
        steps: &[ModelStep],
    ) -> BTreeMap<LocationId, IndexMap<Variable, Term>> {
        let parameters = self.system.program.templates[template].parameters;
        let given =
            |own: &StateVariable| matches!(own.kind, Kind::Local(local) if (local.0 as usize) < parameters);
        let first = self.own[&template]
            .iter()
            .filter(|own| !given(own))
            .filter_map(|own| Some((own.variable.clone(), own.first.clone().filter(Term::is_literal)?)));
        let mut known: BTreeMap<LocationId, IndexMap<Variable, Term>> = BTreeMap::new();
        let entry = self.entry(template);
        // What an idle thread does is not followed, so nothing is known of it.
        known.insert(entry, first.filter(|_| entry != IDLE).collect());
        let mut open = vec![entry];
        while let Some(place) = open.pop() {
            let here = known[&place].clone();
            for step in steps.iter().map(|step| &step.step).filter(|step| step.source == place) {
                if step.guard.substitute(&here).is_false() {
                    continue;
                }
                let mut after = here.clone();
                for (variable, value) in &step.updates {
                    let value = value.substitute(&here);
                    if value.is_literal() && !self.is_shared(variable) {
                        after.insert(variable.clone(), value);
                    } else {
                        after.swap_remove(variable);
                    }
                }
                if step.target == IDLE {
                    after.clear();
                }
                let part = self.parts.get(&template).and_then(|parts| parts.get(&step.target));
                for (question, answer) in part.into_iter().flat_map(|(_, conditions)| conditions) {
                    after.extend(value(question, *answer));
                }
                match known.get_mut(&step.target) {
                    None => {
                        known.insert(step.target, after);
                        open.push(step.target);
                    }
                    Some(there) => {
                        let size = there.len();
                        there.retain(|variable, value| after.get(variable) == Some(value));
                        if there.len() < size {
                            open.push(step.target);
                        }
                    }
                }
            }
        }
        known
    }

    /// The own variables that may be read from each place on.
    fn live(&self, template: TemplateId, steps: &[Step]) -> BTreeMap<LocationId, BTreeSet<Variable>> {
        let mut live: BTreeMap<LocationId, BTreeSet<Variable>> = BTreeMap::new();
        for access in self.accesses.iter().filter(|access| access.template == template) {
            let places = [self.place_of(template, access.source)].into_iter();
            for place in places.chain(self.parts_of(template, access.source)) {
                let terms = access.address.iter().chain([&access.condition]);
                live.entry(place).or_default().extend(terms.flat_map(Term::free_variables));
            }
        }
        loop {
            let mut changed = false;
            for step in steps {
                let later = live.get(&step.target).cloned().unwrap_or_default();
                let mut read = step.guard.free_variables();
                for (variable, value) in &step.updates {
                    if self.is_shared(variable) || later.contains(variable) {
                        read.extend(value.free_variables());
                    }
                }
                for start in &step.starts {
                    let terms = start.parameters.iter().chain([&start.id]);
                    read.extend(terms.flat_map(Term::free_variables));
                }
                read.extend(later.into_iter().filter(|variable| !step.updates.contains_key(variable)));
                let here = live.entry(step.source).or_default();
                let before = here.len();
                here.extend(read);
                changed |= here.len() > before;
            }
            if !changed {
                return live;
            }
        }
    }
}

/// A location's number.
pub fn number(location: LocationId) -> Term {
    Term::int(i128::from(location.0))
}

/// A step where some variables have known values.
fn with_values(step: &Step, known: &IndexMap<Variable, Term>) -> Step {
    let term = |term: &Term| term.substitute(known);
    let starts = step.starts.iter().map(|start| transitions::Start {
        template: start.template,
        parameters: start.parameters.iter().map(term).collect(),
        id: term(&start.id),
    });
    Step {
        guard: term(&step.guard),
        updates: step.updates.iter().map(|(variable, value)| (variable.clone(), term(value))).collect(),
        starts: starts.collect(),
        ..step.clone()
    }
}

/// Whether a formula says that a result does not leave one end of a signed type.
fn is_range(formula: &Term) -> bool {
    let end = |term: &Term, ends: fn(IntType) -> i128| {
        let types = [IntType::I8, IntType::I16, IntType::I32, IntType::I64];
        matches!(term.operation(), Operation::Int(value) if types.into_iter().any(|ty| ends(ty) == *value))
    };
    match (formula.operation(), formula.operands()) {
        (Operation::LessOrEqual, [low, high]) => end(low, IntType::min) || end(high, IntType::max),
        _ => false,
    }
}

/// Whether a formula is only about how large a variable is.
fn is_bound_of(formula: &Term, variable: &Variable) -> bool {
    formula.free_variables().iter().eq([variable])
}

/// The accesses that may race with another. All that were not looked at when the budget ends are among them.
fn racing<'a>(system: &'a System<'a>, budget: &Budget) -> Vec<&'a Access> {
    let shared = |variable: &Variable| system.is_shared(variable);
    let member = |access: &Access, position: usize| Member { template: access.template, position };
    let races = |a: &Access, b: &Access| {
        let the_same = a.template == b.template && system.unique.templates[a.template];
        !(the_same || a.race(member(a, 0), b, member(b, 1), &shared).is_false())
    };
    let late = || budget.check(0).is_err();
    system.accesses.iter().filter(|a| late() || system.accesses.iter().any(|b| races(a, b))).collect()
}
