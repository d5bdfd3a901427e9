//! Executions of threads as formulas over copies of all variables (paper 3, formula 14): the locations and
//! who moves are given, the data is open.
//!
//! Exact: the conjunction of all parts can hold if and only if there is an execution of the steps in this
//! order.

use indexmap::IndexMap;
use ir::TemplateId;
use smt::visit::conjuncts;
use smt::{Answer, Instance, NoAnswer, Solver, Term, Value, Variable};
use std::collections::BTreeSet;
use transitions::Scoped;
use transitions::scopes::other;
use verdict::{Budget, Exhausted, Schedule};

/// A step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStep {
    /// Who takes it: the first thread is 0, the others are numbered as they are started.
    pub thread: usize,
    /// Which of the program's steps.
    pub step: usize,
}

/// What must hold of two threads after the last step.
#[derive(Clone, PartialEq, Debug)]
pub struct PathEnd {
    /// The two threads.
    pub threads: [usize; 2],
    /// A formula over the shared variables, the own ones of the first thread, and those of the second under
    /// the names of another's ([`transitions::scopes::other`]).
    pub condition: Term,
}

/// An end of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Its beginning.
    First,
    /// Its end.
    Last,
}

/// What a copy of a variable stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copied {
    /// The variable.
    pub variable: Variable,
    /// The thread whose own variable it is.
    pub thread: Option<usize>,
}

/// An execution as formulas.
#[derive(Clone, Debug)]
pub struct Path {
    /// What must hold: at the start, then of each step.
    pub parts: Vec<Vec<Term>>,
    /// What the copies of variables stand for; those of inputs are not here.
    pub copies: IndexMap<Variable, Copied>,
    /// What always holds of copies: that they are in range.
    pub ranges: IndexMap<Variable, Term>,
    /// The copies of the inputs of each step.
    pub inputs: Vec<Vec<Variable>>,
    /// The template of each thread.
    pub templates: Vec<TemplateId>,
}

/// Whether an execution exists.
#[derive(Clone, PartialEq, Debug)]
pub enum Feasibility {
    /// It does, with these inputs of each step.
    Feasible(Vec<Vec<Option<Value>>>),
    /// It does not: these parts of it clash, by position and number.
    Infeasible(Vec<(usize, usize)>),
    /// Not known.
    Unknown(NoAnswer),
}

/// The latest copies of all variables.
struct Now<'a, 'p> {
    scoped: &'a Scoped<'p>,
    version: IndexMap<(Option<usize>, Variable), Variable>,
    copies: IndexMap<Variable, Copied>,
    ranges: IndexMap<Variable, Term>,
}

impl Now<'_, '_> {
    fn fresh(&mut self, thread: Option<usize>, variable: &Variable) -> Variable {
        let number = self.copies.len() as u32;
        let copy = variable.instance(match thread {
            Some(thread) => Instance::VersionOf(thread as u32, number),
            None => Instance::Version(number),
        });
        let range = self.scoped.ranges([&variable.term()]).rename(|_| Some(copy.clone()));
        self.ranges.insert(copy.clone(), range);
        self.copies.insert(copy.clone(), Copied { variable: variable.clone(), thread });
        self.version.insert((thread, variable.clone()), copy.clone());
        copy
    }
    fn owner(&self, thread: usize, template: TemplateId, variable: &Variable) -> Option<Option<usize>> {
        if self.scoped.shared.contains_key(variable) {
            Some(None)
        } else {
            self.scoped.own[template].contains_key(variable).then_some(Some(thread))
        }
    }
    fn current(&mut self, thread: Option<usize>, variable: &Variable) -> Variable {
        match self.version.get(&(thread, variable.clone())) {
            Some(copy) => copy.clone(),
            None => self.fresh(thread, variable),
        }
    }
    /// A term as a thread sees it now; what is no variable of the state is an input of the step at this
    /// position.
    fn read(&mut self, position: usize, thread: usize, template: TemplateId, term: &Term) -> Term {
        let mut values = IndexMap::new();
        for variable in term.free_variables() {
            let copy = match self.owner(thread, template, &variable) {
                Some(owner) => self.current(owner, &variable),
                None => input(&variable, position),
            };
            values.insert(variable, copy.term());
        }
        term.substitute(&values)
    }
}

fn input(variable: &Variable, position: usize) -> Variable {
    variable.instance(Instance::AtStep(position as u32))
}

impl Path {
    /// The formulas of an execution; `None` when a thread moves that does not exist.
    pub fn new(scoped: &Scoped<'_>, steps: &[PathStep]) -> Option<Self> {
        Self::with_end(scoped, steps, None)
    }

    /// The same, with something that must hold at its end.
    pub fn with_end(scoped: &Scoped<'_>, steps: &[PathStep], end: Option<&PathEnd>) -> Option<Self> {
        let mut now =
            Now { scoped, version: IndexMap::new(), copies: IndexMap::new(), ranges: IndexMap::new() };
        let mut templates = vec![scoped.main];
        let initial = now.read(0, 0, scoped.main, &scoped.initial);
        let mut path = Self {
            parts: vec![conjuncts(&initial)],
            copies: IndexMap::new(),
            ranges: IndexMap::new(),
            inputs: Vec::new(),
            templates: Vec::new(),
        };
        for (position, taken) in steps.iter().enumerate() {
            let template = *templates.get(taken.thread)?;
            let step = scoped.steps.get(taken.step).filter(|step| step.template == template)?;
            let guard = now.read(position, taken.thread, template, &step.guard);
            let mut part = conjuncts(&guard);
            let mut values: Vec<(Option<usize>, Variable, Term)> = Vec::new();
            for (variable, value) in &step.updates {
                let owner = now.owner(taken.thread, template, variable).unwrap_or(None);
                values.push((owner, variable.clone(), now.read(position, taken.thread, template, value)));
            }
            for start in &step.starts {
                let child = templates.len();
                templates.push(start.template);
                for (variable, value) in &start.first {
                    values.push((
                        Some(child),
                        variable.clone(),
                        now.read(position, taken.thread, template, value),
                    ));
                }
            }
            for (owner, variable, value) in values {
                let copy = now.fresh(owner, &variable);
                part.push(copy.term().equals(&value));
            }
            path.parts.push(part);
            path.inputs.push(step.inputs.iter().map(|variable| input(variable, position)).collect());
        }
        if let Some(PathEnd { threads: [one, two], condition }) = end {
            let (first, second) = (*templates.get(*one)?, *templates.get(*two)?);
            let theirs: IndexMap<Variable, Variable> =
                scoped.own[second].keys().map(|variable| (other(variable), variable.clone())).collect();
            let mut values = IndexMap::new();
            for variable in condition.free_variables() {
                let copy = match theirs.get(&variable) {
                    Some(original) => Some(now.current(Some(*two), original)),
                    None => now.owner(*one, first, &variable).map(|owner| now.current(owner, &variable)),
                };
                let copy = copy.unwrap_or_else(|| input(&variable, steps.len()));
                values.insert(variable, copy.term());
            }
            path.parts.push(conjuncts(&condition.substitute(&values)));
        }
        path.copies = now.copies;
        path.ranges = now.ranges;
        path.templates = templates;
        Some(path)
    }

    /// What always holds of the variables of some terms.
    pub fn range<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> Term {
        let variables: BTreeSet<Variable> = terms.into_iter().flat_map(Term::free_variables).collect();
        Term::all(variables.iter().filter_map(|variable| self.ranges.get(variable).cloned()))
    }

    /// Whether the execution exists. If not, what clashes is at its end as far as possible.
    pub fn check(&self, budget: &Budget) -> Feasibility {
        self.check_from(End::Last, budget)
    }

    /// The same; what clashes is at one end of the execution as far as possible.
    pub fn check_from(&self, side: End, budget: &Budget) -> Feasibility {
        let mut names: Vec<(usize, usize)> = Vec::new();
        let mut terms: Vec<Term> = Vec::new();
        for (position, part) in self.parts.iter().enumerate() {
            for (number, term) in part.iter().enumerate() {
                names.push((position, number));
                terms.push(term.clone());
            }
        }
        if side == End::First {
            names.reverse();
            terms.reverse();
        }
        let mut solver = Solver::new();
        solver.assert(&self.range(&terms));
        match solver.check_assuming(&terms, budget) {
            Answer::Unknown(why) => Feasibility::Unknown(why),
            Answer::Sat => {
                let values = self
                    .inputs
                    .iter()
                    .map(|inputs| inputs.iter().map(|input| solver.value(&input.term()).ok()).collect());
                Feasibility::Feasible(values.collect())
            }
            Answer::Unsat => match smaller(&mut solver, &terms, budget) {
                Ok(core) => {
                    let mut core: Vec<(usize, usize)> = core.into_iter().map(|at| names[at]).collect();
                    core.sort_unstable();
                    Feasibility::Infeasible(core)
                }
                Err(limit) => Feasibility::Unknown(NoAnswer::Exhausted(limit)),
            },
        }
    }
}

/// The schedule of an execution that exists, with its inputs.
pub fn schedule(scoped: &Scoped<'_>, steps: &[PathStep], inputs: &[Vec<Option<Value>>]) -> Schedule {
    let mut schedule = Schedule::default();
    for (taken, inputs) in steps.iter().zip(inputs) {
        let span = scoped.span(&scoped.steps[taken.step]);
        let number = |value: &Value| value.as_int().or_else(|| value.as_bool().map(i128::from));
        schedule.push(taken.thread, span, inputs.iter().flatten().filter_map(number));
    }
    schedule
}

/// Which of some terms clash, by position; `None` when they do not, or it is not known.
fn clash(
    solver: &mut Solver,
    terms: &[Term],
    chosen: &[usize],
    budget: &Budget,
) -> Result<Option<Vec<usize>>, Exhausted> {
    let assumed: Vec<Term> = chosen.iter().map(|position| terms[*position].clone()).collect();
    match solver.check_assuming(&assumed, budget) {
        Answer::Unsat => Ok(Some(solver.core().iter().map(|position| chosen[*position]).collect())),
        Answer::Sat | Answer::Unknown(NoAnswer::GaveUp(_)) => Ok(None),
        Answer::Unknown(NoAnswer::Exhausted(limit)) => Err(limit),
    }
}

/// Clashing terms of which none can go. The first ones go first: what does not depend on how an execution
/// began holds for others, too.
fn smaller(solver: &mut Solver, terms: &[Term], budget: &Budget) -> Result<Vec<usize>, Exhausted> {
    // The shortest end that is impossible, by halves.
    let (mut low, mut high) = (0, terms.len());
    let mut core: Vec<usize> = (0..terms.len()).collect();
    while low + 1 < high {
        let middle = low.midpoint(high);
        let end: Vec<usize> = (middle..terms.len()).collect();
        match clash(solver, terms, &end, budget)? {
            Some(found) => {
                core = found;
                low = middle;
            }
            None => high = middle,
        }
    }
    if core.len() == terms.len() {
        core = clash(solver, terms, &core, budget)?.unwrap_or(core);
    }
    let mut at = 0;
    while at < core.len() {
        let fewer: Vec<usize> = core.iter().enumerate().filter(|(p, _)| *p != at).map(|(_, c)| *c).collect();
        match clash(solver, terms, &fewer, budget)? {
            Some(found) => {
                at = found.iter().filter(|position| **position < core[at]).count();
                core = found;
            }
            None => at += 1,
        }
    }
    Ok(core)
}
