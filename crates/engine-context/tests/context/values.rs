//! Threads whose variables have two values, all of them known: small programs, their exploration one by one,
//! and the thread of a context.

use engine_context::Thread;
use engine_context::thread::Stepped;
use ir::TemplateId;
use smt::{NoAnswer, Sort, Term, Value, Variable};
use std::collections::{BTreeSet, VecDeque};
use verdict::{AbstractState, Action, Budget};

/// What a step does. There are two shared variables and one of each thread, with values 0 and 1, and `x`,
/// whose value nobody knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Nothing.
    Skip,
    /// Continues only if a shared variable has a value.
    IfShared(usize, bool),
    /// Continues only if the thread's own variable has a value.
    IfOwn(bool),
    /// Sets a shared variable.
    Set(usize, bool),
    /// Sets a shared variable to the own one.
    Put(usize),
    /// Sets the own variable to a shared one.
    Get(usize),
    /// Accesses `x`.
    Access,
    /// Starts a thread.
    Start(TemplateId),
}

/// The code of a template.
#[derive(Clone, Debug)]
pub struct Code {
    /// Whether each location is atomic. Threads start at the first one.
    pub atomic: Vec<bool>,
    /// The location at which there is an error.
    pub error: Option<usize>,
    /// Edges.
    pub edges: Vec<(usize, Step, usize)>,
    /// Whether others know what holds before and right after steps.
    pub exact: bool,
}

/// A state: the location, unless the thread is not there yet; the shared variables; its own.
pub type Known = (Option<usize>, [bool; 2], bool);

pub fn shared(index: usize) -> Variable {
    Variable::new(["s", "t"][index], Sort::Bool)
}

impl Code {
    /// The state after a step, if it can be taken.
    fn after(&self, (_, mut values, mut own): Known, step: Step, to: usize) -> Option<Known> {
        match step {
            Step::Skip | Step::Access | Step::Start(_) => {}
            Step::IfShared(index, value) if values[index] != value => return None,
            Step::IfOwn(value) if own != value => return None,
            Step::IfShared(..) | Step::IfOwn(_) => {}
            Step::Set(index, value) => values[index] = value,
            Step::Put(index) => values[index] = own,
            Step::Get(index) => own = values[index],
        }
        Some((Some(to), values, own))
    }
    fn leaving(&self, at: usize) -> impl Iterator<Item = (Step, usize)> + '_ {
        self.edges.iter().filter(move |(from, _, _)| *from == at).map(|(_, step, to)| (*step, *to))
    }
    fn accesses(&self, at: usize) -> bool {
        self.leaving(at).any(|(step, _)| step == Step::Access)
    }
}

fn action(step: Step) -> Action {
    let mut action = Action::default();
    match step {
        Step::Skip | Step::IfOwn(_) | Step::IfShared(..) | Step::Get(_) => {}
        Step::Set(index, _) | Step::Put(index) => {
            action.havoc.insert(shared(index));
        }
        Step::Access => {}
        Step::Start(template) => action.starts.push(template),
    }
    action
}

impl Thread for Code {
    type State = Known;
    type Step = (usize, usize);

    fn before_start(&self, _: &Budget) -> Result<Vec<Known>, NoAnswer> {
        Ok(vec![(None, [false; 2], false)])
    }
    fn start_states(
        &self,
        _: Option<(&Known, TemplateId)>,
        before_start: &Known,
        _: &Budget,
    ) -> Result<Vec<Known>, NoAnswer> {
        Ok(vec![(Some(0), before_start.1, false)])
    }
    fn outside(&self, state: &Known) -> Known {
        (None, state.1, false)
    }
    fn accesses(&self, state: &Known, _: &Budget) -> Result<BTreeSet<u32>, NoAnswer> {
        Ok(state.0.filter(|at| self.accesses(*at)).map(|_| 0).into_iter().collect())
    }
    fn is_atomic(&self, state: &Known) -> bool {
        state.0.is_some_and(|at| self.atomic[at])
    }
    fn label(&self, state: &Known) -> Term {
        Term::all((0..2).map(|index| {
            let variable = shared(index).term();
            if state.1[index] { variable } else { variable.not() }
        }))
    }
    fn steps(&self, state: &Known, _: &Budget) -> Result<Vec<Stepped<Self>>, NoAnswer> {
        let Some(at) = state.0 else { return Ok(Vec::new()) };
        let next = |(step, to): (Step, usize)| {
            let mut action = action(step);
            let next = self.after(*state, step, to)?;
            if self.exact && !action.is_silent() {
                (action.guard, action.after) = (self.label(state), self.label(&next));
            }
            Some((action, (at, to), next))
        };
        Ok(self.leaving(at).filter_map(next).collect())
    }
    fn after_environment_step(
        &self,
        state: &Known,
        action: &Action,
        label: &Term,
        _: &Budget,
    ) -> Result<Vec<Known>, NoAnswer> {
        let (havoc, after) = (&action.havoc, action.after.and(label));
        let holds = |formula: &Term, values: [bool; 2]| {
            let value = |variable: &Variable| {
                (0..2).find(|index| shared(*index) == *variable).map(|index| Value::Bool(values[index]))
            };
            formula.evaluate(&value).is_ok_and(|value| value.as_bool() == Some(true))
        };
        if !holds(&action.guard, state.1) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for bits in 0..4 {
            let values = [bits & 1 == 1, bits & 2 == 2];
            let kept = (0..2).all(|index| values[index] == state.1[index] || havoc.contains(&shared(index)));
            if kept && holds(&after, values) {
                found.push((state.0, values, state.2));
            }
        }
        Ok(found)
    }
    fn is_error(&self, state: &Known) -> bool {
        state.0.is_some() && state.0 == self.error
    }
    fn conflict(
        &self,
        state: &Known,
        _: TemplateId,
        other: &AbstractState,
        _: &Budget,
    ) -> Result<Option<(u32, u32)>, NoAnswer> {
        let collide = state.0.is_some_and(|at| self.accesses(at)) && other.accesses.contains(&0);
        Ok(collide.then_some((0, 0)))
    }
}

/// Whether some execution of at most so many threads comes to an error, or to two threads that access `x`.
pub fn goes_wrong(codes: &[Code], start: &[TemplateId], most: usize) -> bool {
    type Threads = Vec<(TemplateId, usize, bool)>;
    let threads: Threads = start.iter().map(|template| (*template, 0, false)).collect();
    let mut seen: BTreeSet<([bool; 2], Threads)> = BTreeSet::new();
    let mut open = VecDeque::from([([false; 2], threads)]);
    while let Some((values, threads)) = open.pop_front() {
        if !seen.insert((values, threads.clone())) {
            continue;
        }
        let code = |thread: usize| &codes[threads[thread].0.0 as usize];
        let atomic: Vec<usize> =
            (0..threads.len()).filter(|one| code(*one).atomic[threads[*one].1]).collect();
        let movers: Vec<usize> = if atomic.is_empty() { (0..threads.len()).collect() } else { atomic };
        // While a thread is in an atomic state, its accesses collide with those of all others.
        let all: Vec<usize> = (0..threads.len()).collect();
        let accesses = |of: &[usize]| of.iter().filter(|one| code(**one).accesses(threads[**one].1)).count();
        let accesses = if accesses(&movers) > 0 { accesses(&all) } else { 0 };
        if accesses > 1 || (0..threads.len()).any(|one| code(one).error == Some(threads[one].1)) {
            return true;
        }
        for one in movers {
            let (template, at, own) = threads[one];
            for (step, to) in code(one).leaving(at) {
                let Some((_, values, own)) = code(one).after((Some(at), values, own), step, to) else {
                    continue;
                };
                let mut next = threads.clone();
                next[one] = (template, to, own);
                if let Step::Start(started) = step {
                    if next.len() == most {
                        continue;
                    }
                    next.push((started, 0, false));
                }
                next.sort_unstable();
                open.push_back((values, next));
            }
        }
    }
    false
}
