//! Several engines side by side: the first answer with evidence that was checked counts.
//!
//! One queue is of engines that look for violations, the other of engines that look for proofs; each engine has a share of the time that is left when its turn comes. The first job takes
//! from the first queue, all others from the second, and whoever has nothing left to do takes from the other one. One job alone takes turns. What goes first depends on a few
//! [`Features`] of the program. A proof or a trace that is not accepted counts as no answer, and is reported.

use crate::features::Features;
use crate::live::Live;
use crate::pipeline::{self, Attempted};
use crate::runs::{OnRuns, Runs};
use checker::Checked;
use engine_context::ContextInference;
use engine_explicit::Explicit;
use engine_flow::Flow;
use engine_horn::Horn;
use engine_queries::Queries;
use engine_states::States;
use engine_symbolic::Symbolic;
use ir::Program;
use report::{Outcome, Tried};
use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};
use verdict::{Budget, Cancel, Check, Decisions, Engine, Events, Exhausted, Property, Reason, Task, Verdict};

/// The engines, and how many of them run at once.
pub struct Portfolio {
    /// The engine that explores.
    pub explicit: Explicit,
    /// Whether the program was written as a Boolean one.
    pub boolean: bool,
    /// How many engines run at once.
    pub jobs: usize,
    /// Takes note of what they do.
    pub live: Live,
}

impl Default for Portfolio {
    fn default() -> Self {
        Self { explicit: Explicit::default(), boolean: false, jobs: default_jobs(), live: Live::default() }
    }
}

/// As many engines at once as there are processors, up to a few: each needs memory of its own.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4)
}

/// Deeply nested programs need a deep stack.
const STACK: usize = 512 << 20;
/// How often it is looked whether someone asked to stop.
const INTERVAL: Duration = Duration::from_millis(50);
/// Exploration shows most violations within this time.
const GLANCE: Duration = Duration::from_secs(2);

/// What a turn is for.
#[derive(Clone, Copy)]
enum Use {
    /// The question itself.
    Answer,
    /// The question itself, about the program with atomic runs where that is known to be enough.
    AnswerOnRuns,
    /// Whether there are data races: if not, runs may be atomic.
    Races,
}

/// An engine's turn.
#[derive(Clone, Copy)]
struct Turn<'a> {
    engine: &'a (dyn Engine + Sync),
    to: Use,
    /// Its share of the time that is left: all of it divided by this.
    part: u32,
    /// It takes no longer than this, either.
    most: Option<Duration>,
}

impl<'a> Turn<'a> {
    fn of(engine: &'a (dyn Engine + Sync), part: u32) -> Self {
        Self { engine, to: Use::Answer, part, most: None }
    }

    /// On the program with atomic runs.
    fn on_runs(engine: &'a (dyn Engine + Sync), part: u32) -> Self {
        Self { to: Use::AnswerOnRuns, ..Self::of(engine, part) }
    }
}

/// What is still to do.
struct Queues<'a> {
    refuters: VecDeque<Turn<'a>>,
    provers: VecDeque<Turn<'a>>,
}

impl<'a> Queues<'a> {
    fn next(&mut self, refuter: bool) -> Option<Turn<'a>> {
        let (first, other) = match refuter {
            true => (&mut self.refuters, &mut self.provers),
            false => (&mut self.provers, &mut self.refuters),
        };
        first.pop_front().or_else(|| other.pop_front())
    }

    /// For one job alone: a glance at violations, then proofs, then what is left.
    fn in_turns(mut self) -> Self {
        let mut turns = VecDeque::new();
        turns.extend(self.provers.pop_front());
        let last = self.refuters.pop_back();
        if self.refuters.is_empty() {
            turns.extend(last.map(|turn| Turn { part: 3, ..turn }));
        }
        turns.append(&mut self.refuters);
        turns.append(&mut self.provers);
        turns.extend(last);
        Self { refuters: turns, provers: VecDeque::new() }
    }
}

/// What the engines came to, so far.
#[derive(Default)]
struct Known {
    verdict: Option<Checked>,
    decisions: Option<Decisions>,
    tries: Vec<Tried>,
    /// Why each engine gave up.
    reasons: Vec<(&'static str, Reason)>,
}

impl Known {
    /// Takes note of an answer. Whether it is the first.
    fn add(&mut self, attempted: Attempted) -> bool {
        let Attempted { verdict, decisions, tried } = attempted;
        let engine = tried.engine;
        self.tries.push(tried);
        self.decisions = self.decisions.take().or(decisions);
        match verdict {
            Checked::Unknown(reason) => self.reasons.push((engine, reason)),
            Checked::Proved(_) | Checked::Refuted(_) if self.verdict.is_some() => {}
            verdict @ (Checked::Proved(_) | Checked::Refuted(_)) => {
                self.verdict = Some(verdict);
                return true;
            }
        }
        false
    }
}

/// Evidence that was not accepted comes first: it is a mistake of ours. Then what the engine says that knows such programs best.
fn why(mut reasons: Vec<(&'static str, Reason)>, best: &str) -> Reason {
    // The last word of an engine is about more than its first.
    reasons.reverse();
    let rank = |(engine, reason): &(&'static str, Reason)| match reason {
        Reason::Rejected(_) | Reason::Crashed(_) => 0,
        Reason::Exhausted(Exhausted::Cancelled) => 3,
        _ if *engine == best => 1,
        _ => 2,
    };
    let first = reasons.into_iter().min_by_key(rank);
    first.map_or(Reason::Bounded("no engine answered".to_owned()), |(_, reason)| reason)
}

/// As an engine: for those that need another one.
impl Engine for Portfolio {
    fn name(&self) -> &'static str {
        "auto"
    }
    fn verify(&self, task: Task<'_>, budget: &Budget, _: &dyn Events) -> Verdict {
        let known = self.run(task, budget);
        match known.verdict {
            Some(Checked::Proved(proof)) => Verdict::Safe(proof),
            Some(Checked::Refuted(refutation)) => Verdict::Unsafe(refutation.trace),
            Some(Checked::Unknown(reason)) => Verdict::Unknown(reason),
            None => Verdict::Unknown(why(known.reasons, self.explicit.name())),
        }
    }
}

impl Portfolio {
    /// Answers one check with checked evidence.
    pub fn verify(&self, program: &Program, check: Check, budget: &Budget) -> Outcome {
        let start = Instant::now();
        let program = pipeline::prepare(program, check);
        let property = check.property();
        let known = self.run(Task { program: &program, property: &property }, budget);
        let seconds = start.elapsed().as_secs_f64();
        let best = if self.boolean { States.name() } else { self.explicit.name() };
        let (verdict, decisions) = match known.verdict {
            Some(verdict) => (verdict, None),
            None => (Checked::Unknown(why(known.reasons, best)), known.decisions),
        };
        Outcome { check, variable: None, verdict, decisions, seconds, tries: known.tries }
    }

    fn run(&self, task: Task<'_>, budget: &Budget) -> Known {
        let queries = Queries::default();
        let errors = matches!(task.property, Property::NoError(_));
        let queues = self.queues(&queries, errors, Features::of(task.program));
        let queues = Mutex::new(if self.jobs > 1 { queues } else { queues.in_turns() });
        let runs: OnceLock<Runs> = OnceLock::new();
        let stop = Cancel::default();
        let whole = Budget { cancel: stop.clone(), ..budget.clone() };
        let mut known = Known::default();
        std::thread::scope(|scope| {
            let (answers, answered) = mpsc::channel();
            for job in 0..self.jobs.max(1) {
                let (answers, queues, whole, runs) = (answers.clone(), &queues, &whole, &runs);
                let work = move || {
                    while whole.check(0).is_ok() {
                        let next = queues.lock().unwrap_or_else(PoisonError::into_inner).next(job == 0);
                        let Some(turn) = next else { break };
                        let share = whole.remaining().map(|left| left / turn.part);
                        let time = share.into_iter().chain(turn.most).min();
                        let budget = time.map_or(whole.clone(), |time| whole.within(time));
                        let engine = match turn.to {
                            Use::Answer => OnRuns { engine: turn.engine, runs: None },
                            Use::AnswerOnRuns => OnRuns { engine: turn.engine, runs: runs.get() },
                            Use::Races => {
                                if let Some(found) = Runs::of(task, turn.engine, &budget) {
                                    let _ = runs.set(found);
                                }
                                continue;
                            }
                        };
                        let (started, listener) = self.live.start(turn.engine.name());
                        let mut attempted = pipeline::attempt(task, &engine, &budget, whole, &listener);
                        attempted.tried.started = started;
                        listener.end(&attempted.tried);
                        if answers.send(attempted).is_err() {
                            break;
                        }
                    }
                };
                // Without a thread there is one engine less; the first always runs.
                let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work.clone());
                if thread.is_err() && job == 0 {
                    work();
                }
            }
            drop(answers);
            loop {
                match answered.recv_timeout(INTERVAL) {
                    Ok(attempted) => {
                        if known.add(attempted) {
                            stop.cancel();
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        if budget.cancel.is_cancelled() {
                            stop.cancel();
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        known
    }

    /// Who runs, in which order, and how long. Some engines know errors only.
    fn queues<'a>(&'a self, queries: &'a Queries, errors: bool, features: Features) -> Queues<'a> {
        let mut refuters = VecDeque::new();
        if features.inputs && errors {
            refuters.push_back(Turn { most: Some(GLANCE), ..Turn::of(&self.explicit, 20) });
            refuters.push_back(Turn::of(&Symbolic, 10));
        }
        refuters.push_back(Turn::of(&self.explicit, 1));
        let mut provers = VecDeque::new();
        if self.boolean {
            provers.push_back(Turn::of(&States, 2));
        }
        provers.push_back(Turn::of(&Flow, 4));
        if errors {
            if !self.boolean {
                provers.push_back(Turn { to: Use::Races, ..Turn::of(&Flow, 8) });
            }
            match features.many_threads {
                true => provers.push_back(Turn::on_runs(&Horn, 2)),
                // Without runs, loops of several threads can go on side by side.
                false => provers.extend([Turn::of(&Horn, 2), Turn::on_runs(&Horn, 3)]),
            }
            match features.many_threads {
                _ if self.boolean => provers.push_back(Turn::of(queries, 2)),
                true => provers.extend([Turn::on_runs(&States, 2), Turn::on_runs(queries, 2)]),
                false => provers.extend([Turn::on_runs(queries, 2), Turn::on_runs(&States, 2)]),
            }
        }
        // Contexts know any number of threads; they are quick, or not at all.
        match errors {
            true => provers.push_back(Turn::on_runs(&ContextInference::OmegaCirc, 3)),
            false if features.many_threads => provers.push_back(Turn::of(&ContextInference::OmegaCirc, 3)),
            false => provers.extend([Turn::of(&Horn, 2), Turn::of(&ContextInference::OmegaCirc, 2)]),
        }
        let last = if features.inputs && errors { Turn::of(&Symbolic, 1) } else { Turn::on_runs(&Horn, 1) };
        provers.push_back(last);
        Queues { refuters, provers }
    }
}
