//! Clauses over groups of threads.
//!
//! A relation is an invariant of `size` different threads, whatever others there are; or of all threads
//! together, as long as there are fewer. There is one for each combination of templates and locations. So,
//! with `R` over the shared variables and those of the threads:
//!
//! * *Initiation*: `R` holds of each group that there is at the start.
//! * *Consecution*: `R` of a group and a step of one of them give `R` of the group after it.
//! * *Creation*: when a thread of a group starts others, `R` holds of each group that has a new one in it.
//!   The other members are of the group of the parent (which may itself stay out). If there are as many
//!   threads as a group has, or more, every such choice is part of a whole group with the parent.
//! * *Non-interference*: `R` of a group, `R` of each group where one of them is replaced by another thread,
//!   and a step of that other thread give `R` of the group after it. Where there are fewer threads, the group
//!   is all of them, and nobody interferes.
//! * *Safety*: no step leads to an error; no two threads of a group are at accesses that race.
//!
//! Relations are symmetric in threads of one template: all positions take all roles, and a fact about threads
//! at the same place holds in every order.
//!
//! Beyond the papers; compare Hoenicke, Majumdar, Podelski: Thread modularity at many levels (POPL 2017).
//! Exact on groups, except for the information about other threads.

use super::base::Base;
use super::model::{Model, ModelStep};
use super::simplify::Simplifier;
use super::steady::Steady;
use indexmap::{IndexMap, IndexSet};
use ir::{Count, IdVec, LocationId, LocationKind, TemplateId};
use smt::horn::{Application, Clause, HornSystem, RelationId};
use smt::visit::conjuncts;
use smt::{Operation, Sort, Term, Variable};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use transitions::groups::Member;
use transitions::{Kind, StateVariable};
use verdict::{Budget, Exhausted, Reason};

/// The most clauses.
const MOST_CLAUSES: usize = 12_000;
/// The most threads that one step may start.
const MOST_STARTS: usize = 4;

/// Where the threads of a group are: templates and locations, in rising order.
pub type Key = Vec<(TemplateId, LocationId)>;

/// A thread that a clause is about.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// Its template and name.
    pub member: Member,
    /// Where it is.
    pub place: LocationId,
}

impl Actor {
    fn new(template: TemplateId, place: LocationId, position: usize) -> Self {
        Self { member: Member { template, position }, place }
    }
    /// Its template and where it is.
    pub fn node(self) -> (TemplateId, LocationId) {
        (self.member.template, self.place)
    }
}

/// Why there are no clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoClauses {
    /// There are too many.
    TooMany,
    /// A thread that starts at an error.
    ErrorAtStart,
    /// The budget ran out.
    Exhausted(Exhausted),
}

impl NoClauses {
    /// Why there is no proof by groups of a size.
    pub fn reason(self, size: usize) -> Reason {
        match self {
            Self::TooMany => Reason::TooLarge(format!("horn: too many combinations of {size} threads")),
            Self::ErrorAtStart => Reason::GaveUp("a thread starts at an error".to_owned()),
            Self::Exhausted(why) => Reason::Exhausted(why),
        }
    }
}

/// The clauses for groups of a size.
pub struct Clauses<'a, 'm> {
    model: &'m Model<'a>,
    /// How many threads a group has.
    pub size: usize,
    base: &'m Base,
    /// If relations are about steady variables only, these.
    steady: Option<&'m Steady>,
    budget: &'m Budget,
    simplifier: Simplifier,
    possible: IndexMap<Key, bool>,
    seen: IndexSet<Clause>,
    /// The relation of each combination of locations that may be reached.
    pub relations: IndexMap<Key, RelationId>,
    /// The clauses.
    pub system: HornSystem,
    /// Whether safety depends on a relation. The others may as well always hold.
    pub used: IdVec<RelationId, bool>,
}

impl<'a, 'm> Clauses<'a, 'm> {
    /// Builds the clauses; a solution proves that no violation is reachable.
    pub fn new(
        model: &'m Model<'a>,
        size: usize,
        base: &'m Base,
        steady: Option<&'m Steady>,
        budget: &'m Budget,
    ) -> Result<Self, NoClauses> {
        let mut clauses = Self {
            model,
            size,
            base,
            steady,
            budget,
            simplifier: Simplifier::default(),
            possible: IndexMap::new(),
            seen: IndexSet::new(),
            relations: IndexMap::new(),
            system: HornSystem::default(),
            used: IdVec::new(),
        };
        clauses.initiation()?;
        let mut at = 0;
        while at < clauses.relations.len() {
            let key = clauses.relations.get_index(at).expect("it is among them").0.clone();
            clauses.steps_of(&key)?;
            at += 1;
        }
        let keys: Vec<Key> = clauses.relations.keys().cloned().collect();
        // What is steady, no other thread changes.
        for key in keys.iter().filter(|key| key.len() == size && steady.is_none()) {
            clauses.interference_on(key)?;
        }
        clauses.races(&keys)?;
        clauses.keep_what_is_used();
        Ok(clauses)
    }

    /// The shared variables that a relation is about.
    fn shared_at(&self, key: &Key) -> Vec<Variable> {
        let variables = self.model.shared.iter().map(|shared| shared.variable.clone());
        let is_in = |variable: &Variable| self.steady.is_none_or(|steady| steady.is_steady(key, variable));
        variables.filter(is_in).collect()
    }

    /// The variables of a thread that a relation is about.
    fn own_at(&self, template: TemplateId, place: LocationId) -> impl Iterator<Item = &'m StateVariable> {
        let (model, steady) = (self.model, self.steady);
        let matters = move |own: &&StateVariable| {
            steady.is_none_or(|steady| steady.matters(Some(template), &own.variable))
        };
        model.places[&template][&place].own.iter().filter(matters)
    }

    /// The relation of a combination of locations; it is made if it is new.
    fn relation(&mut self, key: &Key) -> RelationId {
        if let Some(known) = self.relations.get(key) {
            return *known;
        }
        let mut parameters = self.shared_at(key);
        for (position, (template, place)) in key.iter().enumerate() {
            let member = Member { template: *template, position };
            parameters.extend(self.own_at(*template, *place).map(|own| member.own(&own.variable)));
        }
        let relation = self.system.relation(format!("{key:?}"), parameters);
        self.relations.insert(key.clone(), relation);
        relation
    }

    /// The relation of some threads as they are.
    fn application(&mut self, actors: &[Actor]) -> Application {
        let mut actors = actors.to_vec();
        actors.sort_by_key(|actor| actor.node());
        self.application_in_order(&actors, &IndexMap::new())
    }

    /// Whether threads may be at some places together, for all that is known of smaller groups.
    fn is_possible(&mut self, actors: &[Actor]) -> bool {
        if self.base.is_empty() {
            return true;
        }
        let mut key: Key = actors.iter().map(|actor| actor.node()).collect();
        key.sort_unstable();
        if let Some(known) = self.possible.get(&key) {
            return *known;
        }
        let facts = self.base.of(self.model, actors);
        let ids = self.identities(&facts.free_variables(), actors);
        let possible = self.simplifier.can_hold(&facts.and(&ids), self.budget);
        self.possible.insert(key, possible);
        possible
    }

    /// The relation of some threads where some variables have new values, once for each order of those that
    /// are at the same place; none if they cannot be there.
    fn heads(&mut self, actors: &[Actor], after: &IndexMap<Variable, Term>) -> Vec<Application> {
        if !self.is_possible(actors) {
            return Vec::new();
        }
        let mut orders: Vec<Vec<Actor>> = vec![Vec::new()];
        let mut nodes: Key = actors.iter().map(|actor| actor.node()).collect();
        nodes.sort_unstable();
        for node in &nodes {
            let longer = orders.iter().flat_map(|order| {
                let taken = |actor: &&Actor| order.iter().any(|other| other.member == actor.member);
                let free = actors.iter().filter(|actor| actor.node() == *node && !taken(actor));
                free.map(|actor| order.iter().copied().chain([*actor]).collect()).collect::<Vec<Vec<Actor>>>()
            });
            orders = longer.collect();
        }
        orders.iter().map(|order| self.application_in_order(order, after)).collect()
    }

    fn application_in_order(&mut self, actors: &[Actor], after: &IndexMap<Variable, Term>) -> Application {
        let key: Key = actors.iter().map(|actor| actor.node()).collect();
        let relation = self.relation(&key);
        let value = |variable: Variable| after.get(&variable).cloned().unwrap_or_else(|| variable.term());
        let mut arguments: Vec<Term> = self.shared_at(&key).into_iter().map(value).collect();
        for actor in actors {
            let own = self.own_at(actor.member.template, actor.place);
            arguments.extend(own.map(|own| value(actor.member.own(&own.variable))));
        }
        Application { relation, arguments }
    }

    /// Adds a clause about some threads, where they are before; the first ones of them exist already.
    fn add(
        &mut self,
        body: Vec<Application>,
        constraint: Term,
        head: Option<Application>,
        actors: &[Actor],
        exist: usize,
    ) -> Result<(), NoClauses> {
        self.budget.check(0).map_err(NoClauses::Exhausted)?;
        let known = if exist == 0 { Term::bool(true) } else { self.base.of(self.model, &actors[..exist]) };
        let mut clause = Clause { body, constraint: constraint.and(&known), head };
        // Constants of a location are no arguments of its relations.
        let mut known: IndexMap<Variable, Term> = IndexMap::new();
        for actor in actors {
            let condition = self.model.condition(actor.member.template, actor.place);
            clause.constraint =
                clause.constraint.and(&condition.rename(|variable| Some(actor.member.own(variable))));
            if let Some(place) = self.model.places[&actor.member.template].get(&actor.place) {
                let values = place.known.iter();
                known.extend(values.map(|(own, value)| (actor.member.own(own), value.clone())));
            }
        }
        // Ranges of types are added again where they matter.
        let stated = conjuncts(&clause.constraint).into_iter().filter(|part| !is_end_of_type(part));
        clause.constraint = Term::all(stated).substitute(&known);
        for argument in clause.head.iter_mut().flat_map(|head| &mut head.arguments) {
            *argument = argument.substitute(&known);
        }
        if clause.constraint.is_false() {
            return Ok(());
        }
        // Ids first, so that facts about them are not lost; ranges last, for the remaining variables.
        clause.constraint = clause.constraint.and(&self.identities(&clause.variables(), actors));
        let Some(mut clause) = self.simplifier.simplify(clause, self.budget) else { return Ok(()) };
        clause.constraint = clause.constraint.and(&self.ranges(&clause, actors));
        if clause.constraint.is_false() || !self.seen.insert(clause.clone()) {
            return Ok(());
        }
        self.system.clause(clause);
        if self.system.clauses.len() > MOST_CLAUSES { Err(NoClauses::TooMany) } else { Ok(()) }
    }

    /// That different threads have different ids.
    fn identities(&self, mentioned: &BTreeSet<Variable>, actors: &[Actor]) -> Term {
        let mut facts = Vec::new();
        let mut ids: Vec<Term> = Vec::new();
        for actor in actors {
            let id = self.model.system.own_of(actor.member.template, &Kind::Myself);
            let id = id.map(|id| actor.member.own(id)).filter(|id| mentioned.contains(id));
            if let Some(id) = id.map(|id| id.term()) {
                facts.push(id.at_least(&Term::int(1)));
                facts.extend(ids.iter().map(|other| id.differs(other)));
                ids.push(id);
            }
        }
        Term::all(facts)
    }

    /// The invariant of a clause's variables: they are in range. Omitted for signed ones where no limit of a
    /// type is near.
    fn ranges(&self, clause: &Clause, actors: &[Actor]) -> Term {
        let terms = clause.head.iter().flat_map(|head| &head.arguments).chain([&clause.constraint]);
        let at_an_end = { terms }.any(mentions_large_numbers);
        let mentioned = clause.variables();
        let range = |state: &StateVariable, variable: &Variable| match state.ty {
            Some(ty) if mentioned.contains(variable) && variable.sort == Sort::Int => {
                let value = variable.term();
                let low = if ty.signed && !at_an_end {
                    Term::bool(true)
                } else {
                    value.at_least(&Term::int(ty.min()))
                };
                let high = if at_an_end { value.at_most(&Term::int(ty.max())) } else { Term::bool(true) };
                low.and(&high)
            }
            _ => Term::bool(true),
        };
        let shared = self.model.shared.iter().map(|shared| range(shared, &shared.variable));
        let own = actors.iter().flat_map(|actor| {
            let own = self.model.own[&actor.member.template].iter();
            own.map(|own| range(own, &actor.member.own(&own.variable)))
        });
        Term::all(shared.chain(own))
    }

    fn initiation(&mut self) -> Result<(), NoClauses> {
        let program = self.model.system.program;
        for template in self.model.places.keys() {
            let code = &program.templates[*template];
            if matches!(code.locations[code.entry].kind, LocationKind::Error(_)) {
                return Err(NoClauses::ErrorAtStart);
            }
        }
        let mut templates: Vec<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
        templates.sort_unstable();
        templates.dedup();
        for group in (1..=self.size).flat_map(|size| multisets(&templates, size)) {
            let all_of_them = program.start.iter().all(|(template, _)| {
                let entries = program.start.iter().filter(|(other, _)| other == template);
                let exact = entries.map(|(_, count)| match count {
                    Count::Exactly(copies) => Some(*copies as usize),
                    Count::Any => None,
                });
                let exact: Option<usize> = exact.sum();
                exact.is_none_or(|exact| group.iter().filter(|other| *other == template).count() == exact)
            });
            if group.len() < self.size && !all_of_them {
                continue;
            }
            let actors: Vec<Actor> = group
                .iter()
                .enumerate()
                .map(|(position, template)| Actor::new(*template, self.model.entry(*template), position))
                .collect();
            let members: Vec<Member> = actors.iter().map(|actor| actor.member).collect();
            let Some(first) = self.model.system.first_group(&members) else { continue };
            for head in self.heads(&actors, &IndexMap::new()) {
                self.add(Vec::new(), first.clone(), Some(head), &actors, 0)?;
            }
        }
        Ok(())
    }

    /// Whether no thread but one is at an atomic location.
    fn may_run(&self, actors: &[Actor], mover: Member) -> bool {
        let mut others = actors.iter().filter(|actor| actor.member != mover);
        others.all(|actor| !self.model.is_atomic(actor.member.template, actor.place))
    }

    /// The steps of the members of a group.
    fn steps_of(&mut self, key: &Key) -> Result<(), NoClauses> {
        let actors = positioned(key);
        let model = self.model;
        for (mover, (template, place)) in key.iter().enumerate() {
            for step in &model.places[template][place].steps {
                self.step_of(&actors, mover, step)?;
            }
        }
        Ok(())
    }

    fn step_of(&mut self, actors: &[Actor], mover: usize, step: &ModelStep) -> Result<(), NoClauses> {
        let model = self.model;
        let member = actors[mover].member;
        let taken = member.step(&step.step, &|variable| model.is_shared(variable));
        if !self.may_run(actors, member) {
            return Ok(());
        }
        let guard = self.steady.map(|steady| steady.what_matters(model, &step.step));
        let guard = guard.map(|guard| member.term(&guard, &|variable| model.is_shared(variable)));
        let mut facts = vec![guard.unwrap_or_else(|| taken.guard.clone())];
        let body = vec![self.application(actors)];
        if step.error {
            return self.add(body, Term::all(facts), None, actors, actors.len());
        }
        if taken.starts.len() > MOST_STARTS {
            return Err(NoClauses::TooMany);
        }
        let mut after = actors.to_vec();
        after[mover].place = step.step.target;
        for (number, start) in taken.starts.iter().enumerate() {
            let again = actors.iter().any(|actor| actor.member.template == start.template);
            if again && model.system.unique.templates[start.template] {
                return Ok(());
            }
            let child = Actor::new(start.template, model.entry(start.template), actors.len() + number);
            facts.push(model.system.started(child.member, start));
            after.push(child);
        }
        let facts = Term::all(facts).substitute(&model.constants);
        let everyone: Vec<Actor> = actors.iter().chain(&after[actors.len()..]).copied().collect();
        for chosen in self.groups_after(actors.len(), after.len()) {
            let group: Vec<Actor> = chosen.iter().map(|position| after[*position]).collect();
            for head in self.heads(&group, &taken.updates) {
                self.add(body.clone(), facts.clone(), Some(head), &everyone, actors.len())?;
            }
        }
        Ok(())
    }

    /// The positions of the groups that there are after a step, given how many threads of the group there
    /// were before and are now.
    fn groups_after(&self, before: usize, now: usize) -> Vec<Vec<usize>> {
        if now <= self.size {
            return vec![(0..now).collect()];
        }
        // With fewer threads than a group before, all groups are new; else the old one, and those with a new
        // thread.
        let all = subsets(now, self.size);
        let is_new = |group: &Vec<usize>| group.iter().any(|position| *position >= before);
        let is_old =
            |group: &Vec<usize>| before == self.size && group.iter().all(|position| *position < before);
        all.into_iter().filter(|group| is_new(group) || is_old(group)).collect()
    }

    /// The interference of other threads.
    fn interference_on(&mut self, key: &Key) -> Result<(), NoClauses> {
        let model = self.model;
        let actors = positioned(key);
        for (template, places) in &model.places {
            let unique = model.system.unique.templates[*template];
            if unique && key.iter().any(|(other, _)| other == template) {
                continue;
            }
            for (place, what) in places {
                let other = Actor::new(*template, *place, key.len());
                let with_other: Vec<Vec<Actor>> = subsets(key.len(), key.len() - 1)
                    .iter()
                    .map(|rest| rest.iter().map(|position| actors[*position]).chain([other]).collect())
                    .collect();
                let known = with_other.iter().all(|group| {
                    let mut key: Key = group.iter().map(|actor| actor.node()).collect();
                    key.sort_unstable();
                    self.relations.contains_key(&key)
                });
                if !known {
                    continue;
                }
                let together: Vec<Actor> = actors.iter().copied().chain([other]).collect();
                if !self.is_possible(&together) {
                    continue;
                }
                for step in &what.steps {
                    if !step.error && step.step.updates.keys().any(|variable| model.is_shared(variable)) {
                        self.interference(&actors, other, &with_other, step)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn interference(
        &mut self,
        actors: &[Actor],
        other: Actor,
        with_other: &[Vec<Actor>],
        step: &ModelStep,
    ) -> Result<(), NoClauses> {
        let model = self.model;
        let taken = other.member.step(&step.step, &|variable| model.is_shared(variable));
        if !self.may_run(actors, other.member) {
            return Ok(());
        }
        let mut body = vec![self.application(actors)];
        for group in with_other {
            body.push(self.application(group));
        }
        let mut after = taken.updates.clone();
        after.retain(|variable, _| model.is_shared(variable));
        let head = self.application_in_order(actors, &after);
        let everyone: Vec<Actor> = actors.iter().copied().chain([other]).collect();
        self.add(body, taken.guard, Some(head), &everyone, everyone.len())
    }

    /// That no two threads are at accesses that race.
    fn races(&mut self, keys: &[Key]) -> Result<(), NoClauses> {
        if self.model.accesses.is_empty() {
            return Ok(());
        }
        let groups: Vec<Vec<Actor>> = if self.size == 1 {
            let pairs = keys.iter().enumerate().flat_map(|(number, one)| {
                keys[number..].iter().map(move |other| [one.as_slice(), other.as_slice()].concat())
            });
            let possible =
                pairs.filter(|pair| pair[0].0 != pair[1].0 || !self.model.system.unique.templates[pair[0].0]);
            possible.map(|pair| positioned(&pair)).collect()
        } else {
            keys.iter().filter(|key| key.len() > 1).map(|key| positioned(key)).collect()
        };
        for actors in groups {
            let body: Vec<Application> = if self.size == 1 {
                actors.iter().map(|actor| self.application(std::slice::from_ref(actor))).collect()
            } else {
                vec![self.application(&actors)]
            };
            for pair in subsets(actors.len(), 2) {
                let bad = self.race_of(actors[pair[0]], actors[pair[1]]);
                if !bad.is_false() {
                    self.add(body.clone(), bad, None, &actors, actors.len())?;
                }
            }
        }
        Ok(())
    }

    /// That two threads are at accesses that race.
    fn race_of(&self, one: Actor, other: Actor) -> Term {
        let model = self.model;
        let of = |actor: Actor| {
            let all = model.accesses.iter().filter(move |access| access.template == actor.member.template);
            let location = model.location_of(actor.member.template, actor.place);
            all.filter(move |access| model.place_of(access.template, access.source) == location)
        };
        let shared =
            |variable: &Variable| model.is_shared(variable) || model.constants.contains_key(variable);
        let mut races = Vec::new();
        for a in of(one) {
            for b in of(other) {
                races.push(a.race(one.member, b, other.member, &shared).substitute(&model.constants));
            }
        }
        Term::any(races)
    }

    /// Drops clauses about relations on which safety does not depend.
    fn keep_what_is_used(&mut self) {
        let mut used: IdVec<RelationId, bool> = self.system.relations.iter().map(|_| false).collect();
        loop {
            let mut changed = false;
            for clause in self.system.clauses.iter() {
                if clause.head.as_ref().is_none_or(|head| used[head.relation]) {
                    for application in &clause.body {
                        changed |= !std::mem::replace(&mut used[application.relation], true);
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let clauses = std::mem::take(&mut self.system.clauses);
        for clause in clauses.iter() {
            if clause.head.as_ref().is_none_or(|head| used[head.relation]) {
                self.system.clauses.push(clause.clone());
            }
        }
        self.used = used;
    }
}

/// Threads at some places, named by their positions.
pub fn positioned(key: &[(TemplateId, LocationId)]) -> Vec<Actor> {
    let actors = key.iter().enumerate();
    actors.map(|(position, (template, place))| Actor::new(*template, *place, position)).collect()
}

/// Whether a term has a number in it that may be the end of a type.
fn mentions_large_numbers(term: &Term) -> bool {
    let large = |value: i128| value.unsigned_abs() >= 127;
    let found = term.walk(|inner| match inner.operation() {
        Operation::Int(value) if large(*value) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_some()
}

/// Whether a formula says that a variable is not past a number that may be the end of a type.
fn is_end_of_type(formula: &Term) -> bool {
    let (Operation::LessOrEqual, [low, high]) = (formula.operation(), formula.operands()) else {
        return false;
    };
    let large = |term: &Term| term.is_literal() && mentions_large_numbers(term);
    low.as_variable().is_some() && large(high) || high.as_variable().is_some() && large(low)
}

/// All choices of so many numbers below a limit.
pub fn subsets(limit: usize, size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for last in (size - 1)..limit {
        for mut rest in subsets(last, size - 1) {
            rest.push(last);
            found.push(rest);
        }
    }
    found
}

/// All lists of so many of some things, in rising order.
pub fn multisets(of: &[TemplateId], size: usize) -> Vec<Vec<TemplateId>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (number, last) in of.iter().enumerate() {
        for mut rest in multisets(&of[..=number], size - 1) {
            rest.push(*last);
            found.push(rest);
        }
    }
    found
}
