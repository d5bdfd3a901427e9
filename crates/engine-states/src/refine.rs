//! Programs with data, by predicate abstraction and refinement (paper 3, section 3.2).
//!
//! The program as transitions, seen through predicates, is a Boolean program
//! ([`transitions::boolean_program`]); that one is decided as any other. If it has no error, neither has the
//! program. Otherwise the solver decides whether its counterexample is feasible with data (formula 14). For a
//! feasible one, the engine searches for an execution of the program; a spurious one gives new predicates
//! ([`sequential::predicates::mine`]) or, if there are none, clauses that its steps violate
//! ([`Abstractor::strengthen`]).
//!
//! Deviations:
//! 1. Counterexamples are those of the exact answer, not of the over-approximation, wherever there is an
//!    exact answer; so there are no spurious ones by interference (section 3.2, last part) that are not due
//!    to predicates.
//! 2. Predicates first, then clauses: a clause excludes a step between two abstract states, a predicate many.
//! 3. Variables of unique threads count as shared, so predicates may relate the locals of several such
//!    threads.

use crate::engine::{decide_backwards, reason};
use executions::guided::follow;
use ir::semantics::{Choice, Choices, Machine, State};
use ir::{ErrorKind, Expr, IntType, Place, Span, TemplateId, Value};
use sequential::predicates::{Abstractor, Feasibility, Path, PathStep, Vocabulary, mine, schedule};
use smt::NoAnswer;
use smt::expressions::Mode;
use std::collections::BTreeSet;
use std::time::Duration;
use transitions::{
    BooleanProgram, Scoped, System, boolean_program, prepare, require_all_behaviours, require_few_edges,
};
use verdict::{
    AbstractionProof, Budget, Engine, Event, Events, Exhausted, Fact, Literal, Moment, Predicate, Proof,
    Reason, Silent, StepAbstraction, Task, Trace, Verdict, Views,
};

/// How long thread states are tried at first.
const FIRST_SLICE: Duration = Duration::from_millis(200);
/// Answers a task.
pub fn refine(
    task: Task<'_>,
    kinds: &BTreeSet<ErrorKind>,
    explorer: &dyn Engine,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Verdict, Reason> {
    let program = prepare(task.program, false, budget).map_err(|why| why.reason("states"))?;
    require_few_edges(program, "states")?;
    let system = System::new(program, Mode::Integers);
    let scoped = Scoped::new(&system, &|| budget.check(0).is_err()).ok_or_else(|| {
        let text = "states: a program that does not start as one thread".to_owned();
        Reason::NotSupported(text, Span::default())
    })?;
    let mut search = Search {
        task,
        explorer,
        budget,
        scoped: &scoped,
        abstractor: Abstractor::new(&scoped),
        vocabulary: Vocabulary::default(),
    };
    for round in 1.. {
        budget.check(0).map_err(Reason::Exhausted)?;
        let abstraction = search.abstraction().map_err(Reason::Exhausted)?;
        events.event(Event::Phase(format!(
            "states: round {round}, {} predicates",
            search.vocabulary.predicates.len()
        )));
        match search.decide(abstraction.boolean.program.clone().into(), kinds)? {
            Verdict::Safe(inner) => {
                require_all_behaviours(program)?;
                return Ok(Verdict::Safe(Proof::Abstraction(Box::new(AbstractionProof {
                    predicates: search.vocabulary.predicates,
                    initial: abstraction.initial,
                    start: abstraction.start,
                    steps: abstraction.steps,
                    inner,
                }))));
            }
            Verdict::Unsafe(trace) => {
                if let Some(verdict) = search.learn(&abstraction, &trace)? {
                    return Ok(verdict);
                }
            }
            Verdict::Unknown(why) => return Err(why),
        }
    }
    Err(Reason::GaveUp("states: no more rounds".to_owned()))
}

/// A program seen through predicates.
struct Abstraction {
    initial: Vec<Option<bool>>,
    start: Vec<Vec<Literal>>,
    steps: Vec<StepAbstraction>,
    boolean: BooleanProgram,
}

struct Search<'a, 'p> {
    task: Task<'a>,
    explorer: &'a dyn Engine,
    budget: &'a Budget,
    scoped: &'a Scoped<'p>,
    abstractor: Abstractor<'a, 'p>,
    vocabulary: Vocabulary,
}

/// Gives a step of a trace its values.
struct Given<'t>(std::slice::Iter<'t, Value>);

impl Choices for Given<'_> {
    fn choose(&mut self, _: Choice) -> Value {
        self.0.next().copied().unwrap_or(0)
    }
}

impl Search<'_, '_> {
    /// Decides a Boolean program: by thread states and by exploration in turns, each time longer. Exploration
    /// finds errors of few threads with many locations sooner.
    fn decide(&self, program: Views, kinds: &BTreeSet<ErrorKind>) -> Result<Verdict, Reason> {
        let program = &program;
        let mut slice = FIRST_SLICE;
        let mut explorable = !program.has_broadcasts();
        // Why thread states do not suffice.
        let mut too_large = None;
        loop {
            self.budget.check(0).map_err(Reason::Exhausted)?;
            let part = if explorable { self.budget.within(slice) } else { self.budget.clone() };
            if too_large.is_none() {
                match decide_backwards(program, kinds, &part, &Silent).map_err(reason) {
                    Ok(Verdict::Unknown(Reason::Exhausted(Exhausted::Time)))
                    | Err(Reason::Exhausted(Exhausted::Time)) => {}
                    Ok(Verdict::Unknown(why)) | Err(why) => too_large = Some(why),
                    decided => return decided,
                }
            }
            if explorable {
                let task = Task { program, property: self.task.property };
                match self.explorer.verify(task, &self.budget.within(2 * slice), &Silent) {
                    Verdict::Unknown(Reason::Exhausted(Exhausted::Time)) => {}
                    Verdict::Unknown(_) => explorable = false,
                    decided => return Ok(decided),
                }
            }
            match too_large {
                Some(why) if !explorable => return Err(why),
                _ => slice *= 4,
            }
        }
    }

    fn abstraction(&mut self) -> Result<Abstraction, Exhausted> {
        let predicates = &self.vocabulary.predicates;
        let (initial, start) = self.abstractor.initial(predicates, self.budget)?;
        let mut steps = Vec::with_capacity(self.scoped.steps.len());
        for number in 0..self.scoped.steps.len() {
            steps.push(self.abstractor.step(number, predicates, self.budget)?);
        }
        let boolean = boolean_program(self.scoped, predicates, &initial, &start, &steps);
        Ok(Abstraction { initial, start, steps, boolean })
    }

    /// Learns from a counterexample of the Boolean program; a verdict if there is nothing to learn.
    fn learn(&mut self, abstraction: &Abstraction, trace: &Trace) -> Result<Option<Verdict>, Reason> {
        let steps = self.path_steps(abstraction, trace);
        let path = steps.as_ref().and_then(|steps| Path::new(self.scoped, steps));
        let (Some(steps), Some(path)) = (steps, path) else {
            return Err(Reason::GaveUp("states: a counterexample cannot be followed".to_owned()));
        };
        let core = match path.check(self.budget) {
            Feasibility::Infeasible(core) => core,
            Feasibility::Feasible(inputs) => {
                let schedule = schedule(self.scoped, &steps, &inputs);
                let found = follow(self.task.program, self.task.property, &schedule, self.budget);
                return match found {
                    Some(trace) => Ok(Some(Verdict::Unsafe(trace))),
                    None => Err(Reason::Approximate(
                        "no execution was found along a violation of the formulas".to_owned(),
                    )),
                };
            }
            Feasibility::Unknown(NoAnswer::Exhausted(limit)) => return Err(Reason::Exhausted(limit)),
            Feasibility::Unknown(why) => return Err(Reason::GaveUp(format!("states: {why}"))),
        };
        let mined = mine(&path, &core, self.budget).map_err(Reason::Exhausted)?;
        let learnt = self.add(mined.equations)?
            || self.add(mined.atoms)?
            || self.strengthen(abstraction, trace).map_err(Reason::Exhausted)?
            || self.add(mined.conditions)?;
        if learnt {
            return Ok(None);
        }
        if mined.out_of_time {
            return Err(Reason::Exhausted(Exhausted::Time));
        }
        let lines: Vec<String> = steps
            .iter()
            .map(|taken| self.scoped.span(&self.scoped.steps[taken.step]).line.to_string())
            .collect();
        Err(Reason::GaveUp(format!(
            "states: no predicates of one thread exclude an execution that does not exist (lines {})",
            lines.join(", ")
        )))
    }

    /// Adds predicates; says whether any is new.
    fn add(&mut self, predicates: Vec<Predicate>) -> Result<bool, Reason> {
        let mut new = false;
        for predicate in predicates {
            new |= self.vocabulary.add(self.scoped, predicate, self.budget).map_err(Reason::Exhausted)?;
        }
        Ok(new)
    }

    /// The steps of the program that a trace of the Boolean one stands for.
    fn path_steps(&self, abstraction: &Abstraction, trace: &Trace) -> Option<Vec<PathStep>> {
        let mut templates = vec![self.scoped.main];
        let mut steps = Vec::new();
        for taken in &trace.steps {
            let template = *templates.get(taken.thread)?;
            let Some(step) = abstraction.boolean.step(template, taken.edge) else { continue };
            templates.extend(self.scoped.steps[step].starts.iter().map(|start| start.template));
            steps.push(PathStep { thread: taken.thread, step });
        }
        Some(steps)
    }

    /// Looks for steps of a trace that the program cannot take between these abstract states, and excludes
    /// them. Says whether there are any.
    fn strengthen(&mut self, abstraction: &Abstraction, trace: &Trace) -> Result<bool, Exhausted> {
        let program = &abstraction.boolean.program;
        let Ok(machine) = Machine::new(program) else { return Ok(false) };
        let Ok(mut state) = machine.initial(&trace.copies) else { return Ok(false) };
        let mut learnt = false;
        for taken in &trace.steps {
            let template = state.threads[taken.thread].template;
            let mut given = Given(taken.choices.iter());
            let Ok(next) = machine.step(&state, taken.thread, taken.edge, &mut given).result else { break };
            if let Some(number) = abstraction.boolean.step(template, taken.edge) {
                let reader = Reader { machine: &machine, boolean: &abstraction.boolean };
                learnt |= self.strengthen_step(&reader, number, taken.thread, &state, &next)?;
            }
            state = next;
        }
        Ok(learnt)
    }

    fn strengthen_step(
        &mut self,
        reader: &Reader<'_, '_>,
        number: usize,
        thread: usize,
        before: &State,
        after: &State,
    ) -> Result<bool, Exhausted> {
        let step = &self.scoped.steps[number];
        let predicates = &self.vocabulary.predicates;
        let mut seen = Vec::new();
        for (predicate, what) in predicates.iter().enumerate() {
            if self.scoped.sees(step.template, what) {
                seen.extend(reader.literal(before, thread, predicate, Moment::Before));
                if self.scoped.changes(step, what) {
                    seen.extend(reader.literal(after, thread, predicate, Moment::After));
                }
            }
            for (which, start) in step.starts.iter().enumerate() {
                if what.scope == Some(start.template) {
                    let child = before.threads.len() + which;
                    seen.extend(reader.literal(after, child, predicate, Moment::Started(which)));
                }
            }
        }
        let mut learnt = self.abstractor.strengthen(number, None, &seen, predicates, self.budget)?;
        for other in (0..before.threads.len()).filter(|other| *other != thread) {
            let template: TemplateId = before.threads[other].template;
            let mut seen: Vec<Literal> =
                seen.iter().filter(|one| one.fact.moment == Moment::Before).copied().collect();
            let mut changed = false;
            for (predicate, what) in predicates.iter().enumerate().filter(|(_, p)| p.scope == Some(template))
            {
                seen.extend(reader.literal(before, other, predicate, Moment::OtherBefore));
                if self.scoped.changes_other(step, what) {
                    changed = true;
                    seen.extend(reader.literal(after, other, predicate, Moment::OtherAfter));
                }
            }
            if changed {
                learnt |=
                    self.abstractor.strengthen(number, Some(template), &seen, predicates, self.budget)?;
            }
        }
        Ok(learnt)
    }
}

/// Reads the bits of states of the Boolean program.
struct Reader<'m, 'p> {
    machine: &'m Machine<'p>,
    boolean: &'m BooleanProgram,
}

impl Reader<'_, '_> {
    fn literal(&self, state: &State, thread: usize, predicate: usize, moment: Moment) -> Option<Literal> {
        if state.threads.get(thread)?.activations.is_empty() {
            return None;
        }
        let value = match (self.boolean.objects[predicate], self.boolean.locals[predicate]) {
            (Some(object), _) => Expr::load(Place::cell(object, 0, IntType::BOOL)),
            (None, Some(local)) => Expr::Local(local),
            (None, None) => return None,
        };
        let value = self.machine.peek(state, thread, &value).ok()?;
        Some(Literal { fact: Fact { predicate, moment }, holds: value != 0 })
    }
}
