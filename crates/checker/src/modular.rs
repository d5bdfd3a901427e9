//! Checks proofs by invariants of groups of threads ([`verdict::ModularProof`]).
//!
//! The checker derives the program as transitions again. Let `k` be the size of groups. The invariant of a
//! list of `k` templates is claimed for every `k` different threads of these templates, in every order,
//! whatever other threads there are. The invariant of a shorter list is claimed for all threads together, as
//! long as there are only these. By induction over executions, for every number of threads:
//!
//! 1. It holds for each group at the start.
//! 2. It holds for each group after a step of a thread. The thread is in the group, or it starts a member of
//!    it, or it is another thread. Assumed before the step are the invariants of all groups among the moving
//!    thread and those members that existed before. If these are fewer than `k`, there are either enough
//!    other threads to make `k`, or these are all threads; each case is checked.
//! 3. No step leads to an error, and no two threads are at accesses that race.
//!
//! While a thread is at an atomic location, no other one moves. A thread that the first one has not started
//! yet is not there ([`transitions::company`]). Some atomic locations have no invariant;
//! steps through them are composed. Ids of threads are known to be different ([`transitions::groups`]). This
//! rule shares only the meaning of steps with the search.

use crate::ProofError;
use crate::names::speaks_only_of;
use crate::ready::{self, claim};
use indexmap::{IndexMap, IndexSet};

use ir::{Count, Location, LocationId, LocationKind, TemplateId};
use smt::{Answer, NoAnswer, Term, Variable};
use transitions::blocks::compose;
use transitions::company::Company;
use transitions::groups::Member;
use transitions::{Step, System};
use verdict::{Budget, ModularProof, Property, Views};

/// The most composed steps through atomic locations.
const MOST_STEPS: usize = 20_000;

/// Checks a proof about a lowered program.
pub fn check(
    program: &Views,
    property: &Property,
    proof: &ModularProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let races = match property {
        Property::NoError(_) => false,
        Property::NoRace => true,
        Property::NoDeadlock | Property::NoLeak(_) => return Err(ProofError::Violated),
    };
    let system = ready::system(ready::words(program, races, budget)?, races);
    let none_is_passed = proof.passed.is_empty() || system.accesses.is_empty();
    claim(none_is_passed, "every location counts for races")?;
    let steps = paths(&system, proof)?;
    let templates = running(&system, &steps);
    // Larger groups say for themselves where the first thread is.
    let company = Company::of(&system).filter(|_| proof.size == 1);
    let check = Check { system: &system, steps, templates, company, proof, budget };
    check.form()?;
    check.start()?;
    check.steps()?;
    check.errors()?;
    check.races()?;
    crate::executions::modular::try_claims(&system, proof, budget)
}

fn number(location: LocationId) -> Term {
    Term::int(i128::from(location.0))
}

/// The steps between locations that have invariants.
fn paths(system: &System<'_>, proof: &ModularProof) -> Result<Vec<Step>, ProofError> {
    let passed: IndexSet<(TemplateId, LocationId)> = proof.passed.iter().copied().collect();
    for (template, location) in &passed {
        let code = system.program.templates.get(*template);
        let fits = code.is_some_and(|code| {
            let what = code.locations.get(*location);
            what.is_some_and(Location::runs_alone) && code.entry != *location
        });
        claim(fits, "only atomic locations are passed over")?;
    }
    let mut found = Vec::new();
    let starts = system.steps.iter().filter(|step| !passed.contains(&(step.template, step.source)));
    // A path, and the locations that it has passed.
    let mut open: Vec<(Step, Vec<LocationId>)> = starts.map(|step| (step.clone(), Vec::new())).collect();
    while let Some((step, mut seen)) = open.pop() {
        claim(found.len() + open.len() < MOST_STEPS, "there are few steps")?;
        if !passed.contains(&(step.template, step.target)) {
            found.push(step);
            continue;
        }
        claim(!seen.contains(&step.target), "no circle is passed over")?;
        seen.push(step.target);
        let next = system
            .steps
            .iter()
            .filter(|next| (next.template, next.source) == (step.template, step.target))
            .map(|next| compose(&step, next))
            .filter(|step| !step.guard.is_false());
        open.extend(next.map(|step| (step, seen.clone())));
    }
    Ok(found)
}

/// The templates that may run.
fn running(system: &System<'_>, steps: &[Step]) -> Vec<TemplateId> {
    let mut found: IndexSet<TemplateId> =
        system.program.start.iter().map(|(template, _)| *template).collect();
    let mut at = 0;
    while at < found.len() {
        let steps = steps.iter().filter(|step| step.template == found[at]);
        let more: Vec<TemplateId> =
            steps.flat_map(|step| step.starts.iter().map(|start| start.template)).collect();
        found.extend(more);
        at += 1;
    }
    found.sort_unstable();
    found.into_iter().collect()
}

struct Check<'a, 'p> {
    system: &'a System<'p>,
    steps: Vec<Step>,
    /// The templates that may run, in rising order.
    templates: Vec<TemplateId>,
    company: Option<Company>,
    proof: &'a ModularProof,
    budget: &'a Budget,
}

/// A group after a step, and how it arose.
struct GroupStep<'s> {
    /// The group.
    group: &'s [Member],
    step: &'s Step,
    mover: Member,
    /// For each thread that the step starts, its position in the group.
    children: Vec<Option<usize>>,
}

impl Check<'_, '_> {
    /// Whether no unique template occurs twice.
    fn is_possible(&self, group: &[Member]) -> bool {
        group.iter().enumerate().all(|(index, member)| {
            let again = group[..index].iter().any(|other| other.template == member.template);
            !(again && self.system.unique.templates[member.template])
        })
    }

    /// All groups of a size, with positions from a number on.
    fn groups(&self, size: usize, first: usize) -> Vec<Vec<Member>> {
        let mut found: Vec<Vec<Member>> = vec![Vec::new()];
        for position in 0..size {
            let mut longer = Vec::new();
            for group in &found {
                for template in self.templates.iter().copied() {
                    if group.last().is_none_or(|last| last.template <= template) {
                        let member = Member { template, position: first + position };
                        longer.push(group.iter().copied().chain([member]).collect());
                    }
                }
            }
            found = longer;
        }
        found.retain(|group| self.is_possible(group));
        found
    }

    /// Checks that all invariants are about possible groups, and contain only their variables: so every
    /// invariant is checked, and no unknown variable passes as a constant.
    fn form(&self) -> Result<(), ProofError> {
        for (templates, formula) in &self.proof.invariants {
            let exist = templates.iter().all(|one| self.system.program.templates.get(*one).is_some());
            claim(exist && templates.is_sorted(), "groups are of templates that exist, in rising order")?;
            let group = templates.iter().enumerate();
            let group: Vec<Member> =
                group.map(|(position, template)| Member { template: *template, position }).collect();
            let known = |variable: &Variable| {
                self.system.is_shared(variable)
                    || group.iter().any(|member| {
                        let own = &self.system.own[member.template];
                        *variable == member.location()
                            || own.iter().any(|own| *variable == member.own(&own.variable))
                    })
            };
            speaks_only_of(formula, known, "an invariant")?;
        }
        Ok(())
    }

    /// The invariant of a group in the given order; `None` when the templates are not in rising order, or
    /// there is no invariant.
    fn invariant(&self, group: &[Member]) -> Option<Term> {
        let templates: Vec<TemplateId> = group.iter().map(|member| member.template).collect();
        if !templates.is_sorted() {
            return None;
        }
        let (_, formula) = self.proof.invariants.iter().find(|(of, _)| *of == templates)?;
        let mut names: IndexMap<Variable, Term> = IndexMap::new();
        for (position, member) in group.iter().enumerate() {
            let old = Member { template: member.template, position };
            names.insert(old.location(), member.location().term());
            for own in &self.system.own[member.template] {
                names.insert(old.own(&own.variable), member.own(&own.variable).term());
            }
        }
        Some(formula.substitute(&names))
    }

    /// What holds for some threads; if they are fewer than a group, they are all threads.
    fn assume(&self, threads: &[Member]) -> Term {
        let size = threads.len().min(self.proof.size);
        let mut facts = vec![self.system.ranges(&self.system.shared), self.system.identities(threads)];
        facts.extend(threads.iter().map(|member| self.system.ranges_of(*member)));
        facts.extend(orders(threads, size).iter().filter_map(|group| self.invariant(group)));
        facts.extend(self.company.iter().map(|company| self.is_with(company, threads)));
        Term::all(facts)
    }

    /// The first thread is at no location where none of the others was started.
    fn is_with(&self, company: &Company, threads: &[Member]) -> Term {
        let mut facts = Vec::new();
        for first in threads.iter().filter(|member| member.template == company.first) {
            for other in threads.iter().filter(|member| *member != first) {
                let locations = self.system.program.templates[company.first].locations.ids();
                let alone = locations.filter(|at| !company.may_meet(*at, other.template));
                facts.extend(alone.map(|at| first.location().term().differs(&number(at))));
            }
        }
        Term::all(facts)
    }

    /// Checks that a formula is valid.
    fn holds(&self, formula: &Term, text: &str) -> Result<(), ProofError> {
        self.budget.check(0).map_err(ProofError::TooExpensive)?;
        if formula.is_true() {
            return Ok(());
        }
        match smt::can_fail(formula, self.budget) {
            Answer::Unsat => Ok(()),
            Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(ProofError::TooExpensive(limit)),
            Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => Err(ProofError::Claim(text.to_owned())),
        }
    }

    // Obligation 1.
    fn start(&self) -> Result<(), ProofError> {
        for template in &self.templates {
            let code = &self.system.program.templates[*template];
            let kind = &code.locations[code.entry].kind;
            claim(!matches!(kind, LocationKind::Error(_)), "no thread starts at an error")?;
        }
        for group in (1..=self.proof.size).flat_map(|size| self.groups(size, 0)) {
            let Some(invariant) = self.invariant(&group) else { continue };
            if group.len() < self.proof.size && !self.may_be_all_at_start(&group) {
                continue;
            }
            let Some(first) = self.system.first_group(&group) else { continue };
            let invariant = invariant.substitute(&self.entries(&group));
            self.holds(&first.implies(&invariant), "an invariant holds at the start")?;
        }
        Ok(())
    }

    /// Whether a group may be all threads at the start.
    fn may_be_all_at_start(&self, group: &[Member]) -> bool {
        let start = &self.system.program.start;
        start.iter().all(|(template, _)| {
            let mut fewest = Some(0);
            for (_, count) in start.iter().filter(|(other, _)| other == template) {
                fewest = match count {
                    Count::Exactly(copies) => fewest.map(|fewest| fewest + *copies as usize),
                    Count::Any => None,
                };
            }
            let here = group.iter().filter(|member| member.template == *template).count();
            fewest.is_none_or(|fewest| fewest == here)
        })
    }

    /// The locations of threads that start.
    fn entries(&self, group: &[Member]) -> IndexMap<Variable, Term> {
        let entry = |member: &Member| number(self.system.program.templates[member.template].entry);
        group.iter().map(|member| (member.location(), entry(member))).collect()
    }

    /// The condition that none of some threads prevents another from moving.
    fn let_move(&self, threads: &[Member], mover: Member) -> Term {
        let mut facts = Vec::new();
        for member in threads.iter().filter(|member| **member != mover) {
            for (location, what) in self.system.program.templates[member.template].locations.enumerate() {
                if what.runs_alone() {
                    facts.push(member.location().term().differs(&number(location)));
                }
            }
        }
        Term::all(facts)
    }

    /// What holds for some threads when one of them takes a step.
    fn before(&self, threads: &[Member], mover: Member, step: &Step) -> Term {
        let at = IndexMap::from([(mover.location(), number(step.source))]);
        let assumed = self.assume(threads).substitute(&at);
        Term::all([step.guard.clone(), assumed, self.let_move(threads, mover)])
    }

    fn is_error(&self, step: &Step) -> bool {
        let kind = &self.system.program.templates[step.template].locations[step.target].kind;
        matches!(kind, LocationKind::Error(_))
    }

    fn moved(&self, mover: Member, step: &Step) -> Step {
        mover.step(step, &|variable| self.system.is_shared(variable))
    }

    // Obligation 2.
    fn steps(&self) -> Result<(), ProofError> {
        for group in (1..=self.proof.size).flat_map(|size| self.groups(size, 0)) {
            let Some(invariant) = self.invariant(&group) else { continue };
            if invariant.is_true() {
                continue;
            }
            for step in self.steps.iter().filter(|step| !self.is_error(step)) {
                self.budget.check(0).map_err(ProofError::TooExpensive)?;
                let members = group.iter().filter(|member| member.template == step.template).copied();
                let other = Member { template: step.template, position: group.len() };
                for mover in members.chain([other]) {
                    let step = self.moved(mover, step);
                    for children in assignments(&group, mover, &step) {
                        let after = GroupStep { group: &group, step: &step, mover, children };
                        self.one_step(&after, &invariant)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn one_step(&self, after: &GroupStep<'_>, invariant: &Term) -> Result<(), ProofError> {
        let GroupStep { group, step, mover, children } = after;
        let size = self.proof.size;
        let inside = group.contains(mover);
        if group.len() < size && (!inside || children.iter().any(Option::is_none)) {
            // Then there would be more threads than the group.
            return Ok(());
        }
        let is_new = |member: &Member| children.contains(&Some(member.position));
        let changes = step.updates.keys().any(|variable| self.system.is_shared(variable));
        if !inside && !changes && children.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut old: Vec<Member> = group.iter().filter(|member| !is_new(member)).copied().collect();
        if !inside {
            old.push(*mover);
        }
        let mut after = step.updates.clone();
        after.insert(mover.location(), number(step.target));
        let mut facts = Vec::new();
        let mut new = Vec::new();
        for (start, position) in step.starts.iter().zip(children) {
            if let Some(position) = position {
                let child = group[*position];
                facts.push(self.system.started(child, start));
                facts.push(self.system.ranges_of(child));
                new.push(child);
            }
        }
        after.extend(self.entries(&new));
        let goal = invariant.substitute(&after);
        if goal.is_true() {
            return Ok(());
        }
        let fewest = if group.len() < size || old.len() >= size { 0..=0 } else { 0..=size - old.len() };
        for more in fewest.flat_map(|more| self.groups(more, group.len() + 1)) {
            let threads: Vec<Member> = old.iter().copied().chain(more).collect();
            let everyone: Vec<Member> = threads.iter().chain(&new).copied().collect();
            let again =
                |start: &transitions::Start| threads.iter().any(|thread| thread.template == start.template);
            let unique = |start: &&transitions::Start| self.system.unique.templates[start.template];
            if !self.is_possible(&everyone) || step.starts.iter().filter(unique).any(again) {
                continue;
            }
            let ids = self.system.identities(&everyone).substitute(&step.updates);
            let before = self.before(&threads, *mover, step);
            let formula = Term::all([before, ids, Term::all(facts.iter().cloned())]).implies(&goal);
            self.holds(&formula, "an invariant holds after a step")?;
        }
        Ok(())
    }

    // Obligation 3.
    fn errors(&self) -> Result<(), ProofError> {
        for step in self.steps.iter().filter(|step| self.is_error(step)) {
            for group in (1..=self.proof.size).flat_map(|size| self.groups(size, 0)) {
                for mover in group.iter().filter(|member| member.template == step.template) {
                    let step = self.moved(*mover, step);
                    self.holds(&self.before(&group, *mover, &step).not(), "no step leads to an error")?;
                }
            }
        }
        Ok(())
    }

    fn races(&self) -> Result<(), ProofError> {
        let shared = |variable: &Variable| self.system.is_shared(variable);
        let largest = self.proof.size.max(2);
        for group in (2..=largest).flat_map(|size| self.groups(size, 0)) {
            let assumed = self.assume(&group);
            for (number_of_one, one) in group.iter().enumerate() {
                for other in &group[number_of_one + 1..] {
                    let of = |member: &Member| {
                        let template = member.template;
                        self.system.accesses.iter().filter(move |access| access.template == template)
                    };
                    for a in of(one) {
                        self.budget.check(0).map_err(ProofError::TooExpensive)?;
                        for b in of(other) {
                            let race = a.race(*one, b, *other, &shared);
                            if race.is_false() {
                                continue;
                            }
                            let at = IndexMap::from([
                                (one.location(), number(a.source)),
                                (other.location(), number(b.source)),
                            ]);
                            let formula = race.and(&assumed.substitute(&at)).not();
                            self.holds(&formula, "no two threads are at accesses that race")?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// All ordered choices of this many threads.
fn orders(threads: &[Member], size: usize) -> Vec<Vec<Member>> {
    let mut found: Vec<Vec<Member>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = found.iter().flat_map(|order| {
            let free = threads.iter().filter(|member| !order.contains(member));
            free.map(|member| order.iter().copied().chain([*member]).collect()).collect::<Vec<Vec<Member>>>()
        });
        found = longer.collect();
    }
    found
}

/// All ways in which the threads that a step starts may be members of a group, or not.
fn assignments(group: &[Member], mover: Member, step: &Step) -> Vec<Vec<Option<usize>>> {
    let mut found: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for start in &step.starts {
        let mut longer = Vec::new();
        for chosen in &found {
            let fits = |member: &&Member| {
                member.template == start.template
                    && **member != mover
                    && !chosen.contains(&Some(member.position))
            };
            let places = group.iter().filter(fits).map(|member| Some(member.position)).chain([None]);
            longer.extend(places.map(|place| chosen.iter().copied().chain([place]).collect()));
        }
        found = longer;
    }
    found
}
