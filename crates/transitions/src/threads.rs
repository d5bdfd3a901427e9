//! The threads of a program with a fixed set of them, with renamed variables.
//!
//! Every template is unique or started with a known number of copies, so all threads are known beforehand. A
//! step of a thread becomes a step of the product: its own variables are marked with the thread's number, and
//! a start of a thread sets the variables of that thread.

use crate::blocks::loop_heads;
use crate::constants::propagate;
use crate::system::{Kind, StateVariable, Step, System};
use indexmap::{IndexMap, IndexSet};
use ir::{Count, EdgeId, IdVec, LocationId, LocationKind, TemplateId};
use smt::{Instance, Operation, Term, Variable};

/// The number of a thread.
pub type ThreadNumber = usize;

/// The most threads that are tried.
pub const MOST_THREADS: usize = 16;

/// A step of a thread, over the variables of the product.
#[derive(Clone, Debug)]
pub struct ThreadStep {
    /// The thread that takes it.
    pub thread: ThreadNumber,
    /// The edges that it takes, in order.
    pub edges: Vec<EdgeId>,
    /// Where it starts.
    pub source: LocationId,
    /// Where it ends.
    pub target: LocationId,
    /// When it can be taken.
    pub guard: Term,
    /// The new values.
    pub updates: IndexMap<Variable, Term>,
    /// Values that may be any that the guard allows.
    pub inputs: Vec<Variable>,
    /// The threads that it starts.
    pub starts: Vec<ThreadNumber>,
}

/// A thread of the product.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its template.
    pub template: TemplateId,
    /// Whether it runs from the start.
    pub at_start: bool,
    /// Its steps, by source.
    pub steps: IdVec<LocationId, Vec<ThreadStep>>,
    /// Where it starts.
    pub entry: LocationId,
}

/// All threads.
#[derive(Clone, Debug)]
pub struct Threads {
    /// The threads.
    pub threads: Vec<Thread>,
    /// What holds at the start.
    pub initial: Term,
    /// All variables, with their invariants: they are in range.
    pub variables: IndexMap<Variable, Term>,
}

/// Why there is no product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoProduct {
    /// A template may have any number of threads.
    Unbounded,
    /// There are more threads than are worth trying.
    TooMany,
}

impl Threads {
    /// Finds the threads of a system.
    pub fn new(system: &System<'_>) -> Result<Self, NoProduct> {
        let mut numbers: Vec<(TemplateId, bool)> = Vec::new();
        let mut first_ids: Vec<Option<i128>> = Vec::new();
        for (entry, (template, count)) in system.program.start.iter().enumerate() {
            let Count::Exactly(copies) = count else { return Err(NoProduct::Unbounded) };
            let (first, _) = system.first_ids(entry);
            for copy in 0..*copies {
                numbers.push((*template, true));
                first_ids.push(first.map(|first| first + i128::from(copy)));
                if numbers.len() > MOST_THREADS {
                    return Err(NoProduct::TooMany);
                }
            }
        }
        let mut at = 0;
        while at < numbers.len() {
            let template = numbers[at].0;
            at += 1;
            for step in system.steps.iter().filter(|step| step.template == template) {
                for start in &step.starts {
                    if !system.unique.templates[start.template] {
                        return Err(NoProduct::Unbounded);
                    }
                    if numbers.iter().all(|(known, _)| *known != start.template) {
                        numbers.push((start.template, false));
                        first_ids.push(None);
                    }
                    if numbers.len() > MOST_THREADS {
                        return Err(NoProduct::TooMany);
                    }
                }
            }
        }
        let mut result = Self { threads: Vec::new(), initial: system.initial(), variables: IndexMap::new() };
        for shared in &system.shared {
            let range = system.ranges([shared]);
            result.variables.insert(shared.variable.clone(), range);
        }
        for (number, (template, at_start)) in numbers.iter().enumerate() {
            for own in &system.own[*template] {
                let range = system.ranges([own]).rename(|variable| Some(named(variable, number)));
                result.variables.insert(named(&own.variable, number), range);
            }
            if *at_start {
                let me = system.own_of(*template, &Kind::Myself);
                let id = first_ids[number].map(|id| system.number(id, system.program.data_model.pointer()));
                let id = id
                    .or_else(|| me.map(Variable::term))
                    .unwrap_or_else(|| system.number(0, system.program.data_model.pointer()));
                let entry = system.entry(*template, &[], &id);
                result.initial = result.initial.and(&own_renamed(system, *template, number, &entry));
            }
        }
        for (number, (template, at_start)) in numbers.iter().enumerate() {
            let code = &system.program.templates[*template];
            let mut steps: IdVec<LocationId, Vec<ThreadStep>> =
                code.locations.iter().map(|_| Vec::new()).collect();
            for step in system.steps.iter().filter(|step| step.template == *template) {
                steps[step.source].push(thread_step(system, &numbers, number, step));
            }
            let entry = code.entry;
            result.threads.push(Thread { template: *template, at_start: *at_start, steps, entry });
        }
        let simplified =
            (0..numbers.len()).map(|number| result.with_known_values(system, number)).collect::<Vec<_>>();
        for (thread, steps) in result.threads.iter_mut().zip(simplified) {
            thread.steps = steps;
        }
        Ok(result)
    }

    /// The steps of a thread with constants substituted, and without those that can never be taken. Considers
    /// only variables that no other thread changes while the thread runs, so the constants hold whatever the
    /// others do.
    fn with_known_values(
        &self,
        system: &System<'_>,
        number: ThreadNumber,
    ) -> IdVec<LocationId, Vec<ThreadStep>> {
        let thread = &self.threads[number];
        let own: IndexSet<Variable> =
            system.own[thread.template].iter().map(|own| named(&own.variable, number)).collect();
        let mut foreign: IndexSet<Variable> = IndexSet::new();
        for other in
            self.threads.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, other)| other)
        {
            let written = other.steps.iter().flatten().flat_map(|step| step.updates.keys());
            foreign.extend(written.filter(|variable| !own.contains(*variable)).cloned());
        }
        let mut first: IndexMap<Variable, Term> = IndexMap::new();
        if thread.at_start {
            literals(&self.initial, &mut first);
        } else {
            let literal = |own: &StateVariable| own.first.clone().filter(Term::is_literal);
            let parameters = system.program.templates[thread.template].parameters;
            let given = |own: &StateVariable| matches!(own.kind, Kind::Local(local) if (local.0 as usize) < parameters);
            let known = system.own[thread.template].iter().filter(|own| !given(own));
            first.extend(known.filter_map(|own| Some((named(&own.variable, number), literal(own)?))));
        }
        first.retain(|variable, _| !foreign.contains(variable));
        let steps = |location: LocationId| {
            let here = thread.steps[location].iter();
            here.map(|step| (&step.guard, &step.updates, step.target)).collect()
        };
        let kept = |variable: &Variable| !foreign.contains(variable);
        let known = propagate(thread.steps.len(), thread.entry, first, steps, kept);
        let simplified = thread.steps.enumerate().map(|(location, steps)| {
            let Some(here) = &known[location] else { return Vec::new() };
            let steps = steps.iter().map(|step| {
                let updates = step.updates.iter().map(|(v, value)| (v.clone(), value.substitute(here)));
                ThreadStep { guard: step.guard.substitute(here), updates: updates.collect(), ..step.clone() }
            });
            steps.filter(|step| !step.guard.is_false()).collect()
        });
        simplified.collect()
    }
}

impl Thread {
    /// Locations such that every cycle contains one.
    pub fn loop_heads(&self) -> IndexSet<LocationId> {
        loop_heads(self.entry, |at| self.steps[at].iter().map(|step| step.target).collect())
    }
}

/// The variables that a conjunction equates with a literal.
pub fn literals(formula: &Term, found: &mut IndexMap<Variable, Term>) {
    match formula.operation() {
        Operation::And => formula.operands().iter().for_each(|operand| literals(operand, found)),
        Operation::Equal => {
            if let [one, other] = formula.operands() {
                for (one, other) in [(one, other), (other, one)] {
                    if let Some(variable) = one.as_variable()
                        && other.is_literal()
                    {
                        found.insert(variable, other.clone());
                    }
                }
            }
        }
        Operation::Variable(_) | Operation::Not => {
            let (atom, value) = match formula.operation() {
                Operation::Not => (&formula.operands()[0], false),
                _ => (formula, true),
            };
            if let Some(variable) = atom.as_variable() {
                found.insert(variable, Term::bool(value));
            }
        }
        _ => {}
    }
}

/// A thread's own variable.
pub(crate) fn named(variable: &Variable, number: ThreadNumber) -> Variable {
    variable.instance(Instance::Thread(number as u32))
}

/// A term with the own variables of a template replaced by those of a thread.
fn own_renamed(system: &System<'_>, template: TemplateId, number: ThreadNumber, term: &Term) -> Term {
    term.rename(|variable| {
        let own = system.own[template].iter().any(|own| own.variable == *variable);
        own.then(|| named(variable, number))
    })
}

fn thread_step(
    system: &System<'_>,
    numbers: &[(TemplateId, bool)],
    number: ThreadNumber,
    step: &Step,
) -> ThreadStep {
    // Inputs are marked with the thread's number as well, so that steps of two copies have different inputs.
    let rename = |term: &Term| {
        term.rename(|variable| {
            let shared = system.shared.iter().any(|shared| shared.variable == *variable);
            (!shared).then(|| named(variable, number))
        })
    };
    let mut result = ThreadStep {
        thread: number,
        edges: step.edges.clone(),
        source: step.source,
        target: step.target,
        guard: rename(&step.guard),
        updates: IndexMap::new(),
        inputs: step.inputs.iter().map(|input| named(input, number)).collect(),
        starts: Vec::new(),
    };
    for (variable, value) in &step.updates {
        let own = system.own[step.template].iter().any(|own| own.variable == *variable);
        let variable = if own { named(variable, number) } else { variable.clone() };
        result.updates.insert(variable, rename(value));
    }
    for start in &step.starts {
        let Some(child) = numbers.iter().position(|(template, _)| *template == start.template) else {
            continue;
        };
        result.starts.push(child);
        let parameters = system.program.templates[start.template].parameters;
        for own in &system.own[start.template] {
            let variable = named(&own.variable, child);
            let value = match &own.kind {
                Kind::Local(local) if (local.0 as usize) < parameters => {
                    start.parameters.get(local.0 as usize).map(&rename)
                }
                Kind::Myself => Some(rename(&start.id)),
                _ => own.first.as_ref().map(|first| own_renamed(system, start.template, child, first)),
            };
            let value = value.unwrap_or_else(|| {
                let edge = step.edges.first().map_or(0, |edge| edge.0);
                let input = variable.instance(Instance::FirstByEdge(edge));
                let range = system.ranges([own]).rename(|_| Some(input.clone()));
                result.guard = result.guard.and(&range);
                result.inputs.push(input.clone());
                input.term()
            });
            result.updates.insert(variable, value);
        }
    }
    result
}

impl Threads {
    /// The threads that may start a thread.
    pub fn starters(&self, thread: ThreadNumber) -> Vec<ThreadNumber> {
        let starts = |other: &ThreadNumber| {
            self.threads[*other].steps.iter().flatten().any(|step| step.starts.contains(&thread))
        };
        (0..self.threads.len()).filter(starts).collect()
    }
    /// Whether a location of a thread is an error.
    pub fn is_error(&self, system: &System<'_>, thread: ThreadNumber, location: LocationId) -> bool {
        let template = self.threads[thread].template;
        matches!(system.program.templates[template].locations[location].kind, LocationKind::Error(_))
    }
    /// Whether only this thread runs while it is at a location.
    pub fn is_atomic(&self, system: &System<'_>, thread: ThreadNumber, location: LocationId) -> bool {
        system.program.templates[self.threads[thread].template].locations[location].runs_alone()
    }
}
