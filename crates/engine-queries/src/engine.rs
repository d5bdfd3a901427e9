//! The engine: prepares a program, chooses main threads, and turns results into proofs and traces.

use crate::model::Model;
use crate::query::{Options, QueryOutcome, Search, places};
use crate::wp::{Taken, wp_of_path};
use executions::guided::follow;
use ir::{LocationId, Span};
use smt::expressions::Mode;
use smt::{Answer, NoAnswer, Solver, Term, Value};
use transitions::early_started::EarlyStarted;
use transitions::threads::{self, NoProduct, ThreadNumber, Threads};
use transitions::{System, prepare, require_all_behaviours, require_few_edges};
use verdict::{
    Budget, Engine, Event, Events, Proof, Property, QueriesPart, QueriesProof, Reason, Schedule, Task,
    Verdict,
};

/// The engine.
#[derive(Clone, Default, Debug)]
pub struct Queries {
    /// The name of the main thread's function; without one, each thread with an error is the main thread in
    /// turn.
    pub main_thread: Option<String>,
}

fn not_supported(text: &str) -> Verdict {
    Verdict::Unknown(Reason::NotSupported(format!("queries: {text}"), Span::default()))
}

/// What came out of one choice of a main thread.
enum Outcome {
    Proved(QueriesPart),
    Refuted(Vec<Taken>),
}

impl Engine for Queries {
    fn name(&self) -> &'static str {
        "queries"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, events: &dyn Events) -> Verdict {
        self.verify_with(&Options::default(), task, budget, events)
    }
}

impl Queries {
    /// Looks for a verdict with some options.
    pub fn verify_with(
        &self,
        options: &Options,
        task: Task<'_>,
        budget: &Budget,
        events: &dyn Events,
    ) -> Verdict {
        if !matches!(task.property, Property::NoError(_)) {
            return not_supported("only errors are looked for");
        }
        let program = match prepare(task.program, false, budget) {
            Ok(program) => program,
            Err(why) => return Verdict::Unknown(why.reason("queries")),
        };
        if let Err(reason) = require_few_edges(program, "queries") {
            return Verdict::Unknown(reason);
        }
        let system = System::new(program, Mode::Integers);
        let all = match Threads::new(&system) {
            Ok(threads) => threads,
            Err(NoProduct::Unbounded) => return not_supported("a thread may be started any number of times"),
            Err(NoProduct::TooMany) => {
                let text = format!("queries: there are more than {} threads", threads::MOST_THREADS);
                return Verdict::Unknown(Reason::TooLarge(text));
            }
        };
        let early = EarlyStarted::new(all, &system);
        let model = Model::new(&system, &early);
        let mut parts = Vec::new();
        for (main, with_errors) in self.choices(&system, &early, &model) {
            match prove(&model, main, &with_errors, options, budget, events) {
                Ok(Outcome::Proved(part)) => parts.push(part),
                Ok(Outcome::Refuted(taken)) => {
                    let schedule = schedule((&system, &early, &model), &taken, budget);
                    return match follow(task.program, task.property, &schedule, budget) {
                        Some(trace) => Verdict::Unsafe(trace),
                        None => Verdict::Unknown(Reason::Approximate(
                            "no execution was found along a violation of the formulas".to_owned(),
                        )),
                    };
                }
                Err(why) => return Verdict::Unknown(why.reason("queries")),
            }
        }
        if let Err(reason) = require_all_behaviours(program) {
            return Verdict::Unknown(reason);
        }
        Verdict::Safe(Proof::Queries(Box::new(QueriesProof { parts })))
    }
}

impl Queries {
    /// The main threads to take, each with the threads whose errors are looked for.
    fn choices(
        &self,
        system: &System<'_>,
        early: &EarlyStarted,
        model: &Model,
    ) -> Vec<(ThreadNumber, Vec<ThreadNumber>)> {
        let with_errors: Vec<ThreadNumber> = model
            .threads
            .iter()
            .enumerate()
            .filter(|(_, thread)| !thread.errors.is_empty())
            .map(|(number, _)| number)
            .collect();
        let named = self.main_thread.as_ref().and_then(|name| {
            early.threads.threads.iter().position(|thread| {
                let code = &system.program.templates[thread.template].name;
                code == name || code.split(['#', '.']).next() == Some(name)
            })
        });
        match named {
            Some(_) if with_errors.is_empty() => Vec::new(),
            Some(main) => vec![(main, with_errors)],
            None => with_errors.into_iter().map(|thread| (thread, vec![thread])).collect(),
        }
    }
}

/// Looks for a proof with a main thread that some threads' errors are not reached, or for an execution that
/// reaches one.
fn prove(
    model: &Model,
    main: ThreadNumber,
    with_errors: &[ThreadNumber],
    options: &Options,
    budget: &Budget,
    events: &dyn Events,
) -> Result<Outcome, NoAnswer> {
    let errors: Vec<(ThreadNumber, usize)> = with_errors
        .iter()
        .flat_map(|thread| model.threads[*thread].errors.iter().map(|error| (*thread, *error)))
        .collect();
    let mut search = Search::new(model, model.hierarchy(main, with_errors), budget);
    search.options = options.clone();
    let found = search.explore(0, None, &errors)?;
    let counts = search.counts();
    events.event(Event::Phase(format!(
        "queries: {} calls of the model checker ({} answered by known paths, {} by known facts), {} claims",
        search.calls,
        counts.by_path,
        counts.by_facts,
        search.claims.iter().map(Vec::len).sum::<usize>()
    )));
    Ok(match found {
        QueryOutcome::Taken(taken) => Outcome::Refuted(taken),
        QueryOutcome::Bound(_) => return Err(NoAnswer::GaveUp("an answer without a query".to_owned())),
        QueryOutcome::Safe(built, invariants) => Outcome::Proved(QueriesPart {
            main: places(&built, &invariants, true, model.threads[main].locations),
            order: search.order,
            errors: errors.into_iter().map(|(thread, at)| (thread, LocationId(at as u32))).collect(),
            claims: search.claims,
        }),
    })
}

/// Who runs when in an execution.
fn schedule(
    (system, early, model): (&System<'_>, &EarlyStarted, &Model),
    taken: &[Taken],
    budget: &Budget,
) -> Schedule {
    let mut schedule = Schedule::default();
    // The values of inputs that were read before.
    let mut solver = Solver::new();
    solver.assert(&model.initial.and(&wp_of_path(model, taken, &Term::bool(true), budget)));
    solver.assert(&Term::all(model.variables.values().cloned()));
    let is_known = solver.check(budget) == Answer::Sat;
    let all = &early.threads.threads;
    let span = |thread: ThreadNumber, edges: &[ir::EdgeId]| {
        let code = &system.program.templates[all[thread].template];
        edges.first().map(|edge| code.edges[*edge].span).unwrap_or_default()
    };
    // Those that are started early are started by what was done before.
    let started_before: Vec<ThreadNumber> =
        early.before.iter().flat_map(|step| step.starts.iter().copied()).collect();
    let mut started: Vec<ThreadNumber> =
        (0..all.len()).filter(|thread| all[*thread].at_start && !started_before.contains(thread)).collect();
    let mut done_before = 0;
    for step in &early.before {
        if let Some(name) = started.iter().position(|other| *other == step.thread) {
            let read = step.inputs.iter().flatten().filter(|_| is_known);
            let inputs: Vec<i128> = read
                .filter_map(|variable| match solver.value(&variable.term()) {
                    Ok(Value::Int(value)) => Some(value),
                    Ok(Value::Bool(value)) => Some(i128::from(value)),
                    Ok(Value::Bits(..) | Value::Array(_)) | Err(_) => None,
                })
                .collect();
            schedule.push(name, span(step.thread, &step.edges), inputs);
        }
        started.extend(step.starts.iter().copied());
        done_before += usize::from(step.stays);
    }
    let starter = early.before.first().map(|step| step.thread);
    for step in taken {
        if Some(step.thread) == starter && done_before > 0 {
            done_before -= 1;
            continue;
        }
        let (location, index) = model.threads[step.thread].names[step.step];
        let what = &all[step.thread].steps[location][index];
        if let Some(name) = started.iter().position(|other| *other == step.thread) {
            let inputs =
                what.inputs.iter().filter_map(|input| step.inputs.get(input).and_then(Value::as_int));
            schedule.push(name, span(step.thread, &what.edges), inputs);
        }
        started.extend(what.starts.iter().copied());
    }
    schedule
}
