//! From a chain of configurations to an execution of the machine.
//!
//! Steps that involve no shared bits are postponed until the thread takes its next real step: until then
//! another thread may be in an atomic region.

use crate::cover::Cover;
use crate::transitions::{LocalNumber, Path, Transitions};
use boolean::explicit::{Local, Move, Shared};
use boolean::view::{Input, StepId};
use ir::{Count, ErrorKind, Value};
use verdict::{Trace, TraceStep, Violation};

/// A thread of the machine.
struct Runner {
    local: Local,
    alive: bool,
    pending: Path,
    /// Where it comes to rest after its pending steps.
    rests: Option<LocalNumber>,
}

struct Execution<'t, 'v, 'p> {
    transitions: &'t Transitions<'v, 'p>,
    shared: Shared,
    threads: Vec<Runner>,
    steps: Vec<TraceStep>,
}

/// The execution that an initial element promises; `None` when it cannot be made.
pub fn trace(cover: &Cover<'_, '_, '_>, transitions: &Transitions<'_, '_>, element: u32) -> Option<Trace> {
    let first = &cover.elements[element as usize];
    let groups = cover.start_of(first)?;
    let mut execution = Execution {
        transitions,
        shared: transitions.shared[first.shared as usize],
        threads: Vec::new(),
        steps: Vec::new(),
    };
    let view = transitions.explicit.view;
    let mut copies = Vec::new();
    for (index, group) in transitions.start.iter().enumerate() {
        let mut wanted: Vec<LocalNumber> = first
            .threads
            .iter()
            .zip(&groups)
            .filter(|(_, group)| **group == index)
            .map(|(thread, _)| *thread)
            .collect();
        let count = match group.count {
            Count::Exactly(copies) => copies,
            Count::Any => wanted.len() as u32,
        };
        copies.push(count);
        for _ in 0..count {
            let rest = wanted.pop();
            let (path, rests) = match rest {
                Some(rest) => group.settled.iter().find(|(_, number)| *number == Some(rest))?.clone(),
                None => (Vec::new(), None),
            };
            let local = transitions.explicit.pack(view.entries[index], &|_| false);
            execution.threads.push(Runner { local, alive: true, pending: path, rests });
        }
    }
    let mut at = element;
    loop {
        let element = &cover.elements[at as usize];
        let transition = &transitions.list[element.then.0 as usize];
        let actor = execution
            .threads
            .iter()
            .position(|thread| thread.alive && thread.rests == Some(transition.from.1))?;
        execution.settle(actor)?;
        let (first, rest) = transition.path.split_first()?;
        let before = execution.threads.len();
        execution.step(actor, *first, &element.answers)?;
        let mut rest = rest;
        while let Some((next, after)) = rest.split_first() {
            let atomic =
                execution.threads[actor].alive && view.point(execution.threads[actor].local.point).atomic;
            if !atomic && !transition.error {
                break;
            }
            execution.step(actor, *next, &[])?;
            rest = after;
        }
        let runner = &mut execution.threads[actor];
        (runner.pending, runner.rests) = (rest.to_vec(), transition.next);
        for (kid, (path, rests)) in transition.started.iter().enumerate() {
            let runner = execution.threads.get_mut(before + kid)?;
            (runner.pending, runner.rests) = (path.clone(), *rests);
        }
        match element.then.1 {
            Some(next) => at = next,
            None => {
                for thread in 0..execution.threads.len() {
                    if !execution.threads[thread].pending.is_empty() && execution.error().is_none() {
                        execution.settle(thread)?;
                    }
                }
                let (thread, kind) = execution.error()?;
                let violation = Violation::Error { thread, kind };
                return Some(Trace { copies, steps: execution.steps, violation });
            }
        }
    }
}

/// The execution of a thread that reaches an error from the start by itself.
pub fn trace_of_start(transitions: &Transitions<'_, '_>) -> Option<Trace> {
    let view = transitions.explicit.view;
    let found = transitions
        .start
        .iter()
        .position(|group| group.error.is_some() && group.count != Count::Exactly(0))?;
    let path = transitions.start[found].error.as_ref()?;
    let shared = transitions.shared[*transitions.initial.first()? as usize];
    let mut execution = Execution { transitions, shared, threads: Vec::new(), steps: Vec::new() };
    let mut copies = Vec::new();
    let mut actor = 0;
    for (index, group) in transitions.start.iter().enumerate() {
        if index == found {
            actor = execution.threads.len();
        }
        let count = match group.count {
            Count::Exactly(copies) => copies,
            Count::Any => u32::from(index == found),
        };
        copies.push(count);
        for _ in 0..count {
            let local = transitions.explicit.pack(view.entries[index], &|_| false);
            execution.threads.push(Runner { local, alive: true, pending: Vec::new(), rests: None });
        }
    }
    for step in path {
        execution.step(actor, *step, &[])?;
    }
    let (thread, kind) = execution.error()?;
    Some(Trace { copies, steps: execution.steps, violation: Violation::Error { thread, kind } })
}

impl Execution<'_, '_, '_> {
    fn error(&self) -> Option<(usize, ErrorKind)> {
        let view = self.transitions.explicit.view;
        self.threads.iter().enumerate().find_map(|(index, thread)| {
            let kind = view.point(thread.local.point).error.filter(|_| thread.alive)?;
            Some((index, kind))
        })
    }

    /// Makes the pending steps of a thread.
    fn settle(&mut self, thread: usize) -> Option<()> {
        for step in std::mem::take(&mut self.threads[thread].pending) {
            self.step(thread, step, &[])?;
        }
        Some(())
    }

    /// Makes one step. `answers`: how others that receive a broadcast continue.
    fn step(
        &mut self,
        actor: usize,
        (step, inputs): (StepId, u64),
        answers: &[(LocalNumber, LocalNumber)],
    ) -> Option<()> {
        let explicit = &self.transitions.explicit;
        let view = explicit.view;
        let local = self.threads[actor].local;
        let moves = explicit.moves(self.shared, &local);
        let Move { shared, next, started, broadcast, .. } =
            moves.into_iter().find(|other| other.step == step && other.inputs == inputs)?;
        let mut choices = values(&view.step(step).inputs, inputs);
        if !broadcast.is_empty() {
            choices.extend(self.tell(actor, step, &broadcast, (self.shared, shared), answers)?);
        }
        let (_, edge) = view.step(step).edge?;
        self.steps.push(TraceStep { thread: actor, edge, choices });
        self.shared = shared;
        let runner = &mut self.threads[actor];
        match next {
            Some(next) => runner.local = next,
            None => runner.alive = false,
        }
        for local in started {
            self.threads.push(Runner { local, alive: true, pending: Vec::new(), rests: None });
        }
        Some(())
    }

    /// Lets all others answer; the values that they choose, in the machine's order.
    fn tell(
        &mut self,
        actor: usize,
        step: StepId,
        broadcast: &[u128],
        shared: (Shared, Shared),
        answers: &[(LocalNumber, LocalNumber)],
    ) -> Option<Vec<Value>> {
        let transitions = self.transitions;
        let view = transitions.explicit.view;
        let mut open = answers.to_vec();
        let mut given: Vec<Option<(usize, u64)>> = Vec::new();
        for index in 0..self.threads.len() {
            let runner = &mut self.threads[index];
            if index == actor || !runner.alive {
                given.push(None);
                continue;
            }
            let options = transitions.explicit.answers(step, broadcast, shared, &runner.local);
            let wish = open
                .iter()
                .position(|(before, _)| runner.rests == Some(*before) && runner.pending.is_empty());
            let wanted = wish.map(|at| open.remove(at).1);
            let chosen = match wanted {
                Some(number) => {
                    let local = transitions.locals[number as usize];
                    runner.rests = Some(number);
                    options.into_iter().find(|answer| answer.next == local)?
                }
                None => {
                    let first = options.into_iter().next()?;
                    if runner.pending.is_empty() {
                        runner.rests = transitions.known_local(&first.next);
                    }
                    first
                }
            };
            runner.local = chosen.next;
            given.push(Some((view.point(chosen.next.point).activation, chosen.inputs)));
        }
        let mut choices = Vec::new();
        let reaction = |activation: usize| {
            view.step(step).broadcast.iter().find_map(|part| part.reactions.get(&activation))
        };
        let rounds = view
            .step(step)
            .broadcast
            .iter()
            .flat_map(|part| part.reactions.values())
            .map(|r| r.asked.len())
            .max();
        for round in 0..rounds.unwrap_or(0) {
            for (activation, inputs) in given.iter().flatten() {
                let Some(reaction) = reaction(*activation) else { continue };
                let all = values(&reaction.inputs, *inputs);
                let before: usize = reaction.asked[..round].iter().sum();
                choices.extend(all.into_iter().skip(before).take(reaction.asked[round]));
            }
        }
        Some(choices)
    }
}

/// The values of inputs, of which all bits are given.
fn values(inputs: &[Input], packed: u64) -> Vec<Value> {
    let mut at = 0;
    inputs
        .iter()
        .map(|input| {
            let width = input.bits.len();
            let value = packed >> at & ((1 << width) - 1);
            at += width;
            Value::from(value)
        })
        .collect()
}
